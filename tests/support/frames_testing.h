// SPDX-License-Identifier: MIT
// Bars of frames regions in double, for tests.
#ifndef YW_TESTS_SUPPORT_FRAMES_TESTING_H
#define YW_TESTS_SUPPORT_FRAMES_TESTING_H

#include "methods/frames/static.h"
#include "support/testing.h"
#include "yawara/extend/vec.h"
#include "yawara/frames.h"

#define BAR_LENGTH 5.0
#define BAR_YOUNG 1e6

/// A bar of 5 x 1 x 1 m along x, its axis at y = z = 0.
typedef struct frames_bar {
  int n;
  yw_tet_mesh mesh;
  int32_t* cells;
  frames_regions regions;
  size_t count;
  double *x, *forces, *reactions;
  bool* fixed;
  double poisson;
} frames_bar;

static inline yw_frames_def bar_def(const frames_bar* bar, yw_frames_kind kind) {
  yw_frames_def def = yw_default_frames_def();
  def.mesh = &bar->mesh;
  def.kind = kind;
  def.cells = bar->cells;
  def.num_cells = 5 * bar->n * bar->n * bar->n;
  def.youngs_modulus = (float)BAR_YOUNG;
  def.poissons_ratio = (float)bar->poisson;
  return def;
}

/// jitter: fraction of a cell by which inner vertices are moved at random.
static inline void bar_make(frames_bar* bar, int n, yw_frames_kind kind, double poisson,
                            yw_lattice_cut cut, double jitter) {
  *bar = (frames_bar){.n = n, .poisson = poisson};
  const int32_t cells[3] = {5 * n, n, n};
  yw_aabb box = {{0, -0.5f, -0.5f}, {(float)BAR_LENGTH, 0.5f, 0.5f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, cut, &bar->mesh), 0);
  bar->count = (size_t)bar->mesh.num_vertices;
  bar->cells = malloc(sizeof(int32_t) * 8 * (size_t)(5 * n * n * n));
  yw_lattice_cells(cells, bar->cells);
  test_random random = {7};
  for (size_t i = 0; i < bar->count; ++i) {
    float* p = &bar->mesh.positions[i].x;
    const float lower[3] = {0, -0.5f, -0.5f}, upper[3] = {(float)BAR_LENGTH, 0.5f, 0.5f};
    for (int k = 0; k < 3; ++k) {
      float move = (float)(jitter / n * test_random_in(&random, -1, 1));
      if (p[k] > lower[k] + 0.01f && p[k] < upper[k] - 0.01f) p[k] += move;
    }
  }
  yw_frames_def def = bar_def(bar, kind);
  yw_error error = {0};
  if (yw_frames_regions_create(NULL, &def, 0.0, &bar->regions, &error) < 0) {
    fail_msg("%s", error.message);
  }
  bar->x = malloc(sizeof(double) * 3 * bar->count);
  bar->forces = calloc(3 * bar->count, sizeof(double));
  bar->reactions = calloc(3 * bar->count, sizeof(double));
  bar->fixed = calloc(3 * bar->count, sizeof(bool));
  for (size_t i = 0; i < bar->count; ++i) {
    const float* p = &bar->mesh.positions[i].x;
    for (size_t k = 0; k < 3; ++k) bar->x[3 * i + k] = (double)p[k];
  }
}

static inline void bar_free(frames_bar* bar) {
  yw_frames_regions_free(&bar->regions);
  yw_tet_mesh_free(&bar->mesh);
  free(bar->cells);
  free(bar->x);
  free(bar->forces);
  free(bar->reactions);
  free(bar->fixed);
}

static inline bool bar_near(double a, double b) { return fabs(a - b) < 1e-4; }

/// The vertex at a position of the rest pose.
static inline size_t bar_vertex(const frames_bar* bar, double x, double y, double z) {
  for (size_t i = 0; i < bar->count; ++i) {
    yw_vec3 p = bar->mesh.positions[i];
    if (bar_near(p.x, x) && bar_near(p.y, y) && bar_near(p.z, z)) return i;
  }
  fail_msg("no vertex at (%g, %g, %g)", x, y, z);
  return 0;
}

/// Consistent nodal forces of a traction on the end x = `at` of a lattice bar; traction gives the
/// force per area at (y, z).
static inline void bar_load(frames_bar* bar, double at, void (*traction)(double, double, double*),
                            double scale) {
  double h = 1.0 / bar->n;
  static const double node[3] = {0.1127016653792583, 0.5, 0.8872983346207417};
  static const double weight[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  for (size_t i = 0; i < bar->count; ++i) {
    yw_vec3 p = bar->mesh.positions[i];
    if (!bar_near(p.x, at)) continue;
    for (int side = 0; side < 4; ++side) {
      double dy = side & 1 ? h : -h, dz = side & 2 ? h : -h;
      if (fabs(p.y + dy) > 0.5001 || fabs(p.z + dz) > 0.5001) continue;
      for (int q = 0; q < 9; ++q) {
        double a = node[q % 3], b = node[q / 3], t[3] = {0};
        traction(p.y + a * dy, p.z + b * dz, t);
        double share = scale * weight[q % 3] * weight[q / 3] * h * h * (1 - a) * (1 - b);
        for (size_t k = 0; k < 3; ++k) bar->forces[3 * i + k] += share * t[k];
      }
    }
  }
}

static inline frames_static_report bar_solve(frames_bar* bar, double tolerance) {
  frames_load load = {.fixed = bar->fixed, .forces = bar->forces, .tolerance = tolerance};
  frames_static_report report;
  yw_error error = {0};
  if (yw_frames_static(&bar->regions, &load, bar->x, bar->reactions, &report, &error) < 0) {
    fail_msg("%s", error.message);
  }
  return report;
}

#endif
