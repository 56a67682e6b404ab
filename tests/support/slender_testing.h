// SPDX-License-Identifier: MIT
// Rods and sheets for tests: straight and coiled rods, flat plates, statics in double.
#ifndef YW_TESTS_SUPPORT_SLENDER_TESTING_H
#define YW_TESTS_SUPPORT_SLENDER_TESTING_H

#include "methods/slender/slender.h"
#include "support/testing.h"

/// A model with a pose in double.
typedef struct slender_case {
  slender_model* model;
  slender_pose pose;
  bool *held, *clamped;
  double* loads;
} slender_case;

static inline void case_of(slender_case* c, slender_model* model) {
  size_t n = (size_t)model->num_particles;
  *c = (slender_case){.model = model};
  c->pose.x = malloc(sizeof(double) * 3 * n);
  c->pose.q = malloc(sizeof(yw_turn) * n);
  c->held = calloc(n, sizeof(bool));
  c->clamped = calloc(n, sizeof(bool));
  c->loads = calloc(6 * n, sizeof(double));
  for (size_t p = 0; p < n; ++p) {
    for (size_t k = 0; k < 3; ++k) c->pose.x[3 * p + k] = (double)(&model->rest[p].x)[k];
    c->pose.q[p] = YW_TURN_NONE;
  }
}

static inline void case_free(slender_case* c) {
  yw_slender_model_destroy(c->model);
  free(c->pose.x);
  free(c->pose.q);
  free(c->held);
  free(c->clamped);
  free(c->loads);
}

static inline void case_solve(slender_case* c) {
  yw_error error = {0};
  yw_status status =
      yw_slender_static(c->model, c->held, c->clamped, c->loads, 1e-11, &c->pose, &error);
  if (status < 0) fail_msg("%s", error.message);
}

static inline slender_model* rod_model_of(const yw_rod_def* def) {
  void* model = NULL;
  yw_error error = {0};
  if (yw_rod_model_create(NULL, def, &model, &error) < 0) fail_msg("%s", error.message);
  return model;
}

static inline slender_model* sheet_model_of(const yw_sheet_def* def) {
  void* model = NULL;
  yw_error error = {0};
  if (yw_sheet_model_create(NULL, def, &model, &error) < 0) fail_msg("%s", error.message);
  return model;
}

/// A sheet from a mesh, which is freed.
static inline slender_model* sheet_from(yw_tri_mesh mesh, float thickness, float young) {
  yw_sheet_def def = yw_default_sheet_def();
  def.mesh = &mesh;
  def.thickness = thickness;
  def.youngs_modulus = young;
  slender_model* model = sheet_model_of(&def);
  yw_tri_mesh_free(&mesh);
  return model;
}

/// n points from the origin along x.
static inline yw_vec3* straight_points(int n, double length) {
  yw_vec3* points = malloc(sizeof(yw_vec3) * (size_t)n);
  for (int i = 0; i < n; ++i) {
    points[i] = (yw_vec3){(float)(n > 1 ? length * i / (n - 1) : 0.0), 0, 0};
  }
  return points;
}

/// How the squares of a plate are split into triangles.
typedef enum plate_cut { PLATE_SAME, PLATE_MIRRORED, PLATE_JITTERED } plate_cut;

/// A plate of a x b in the plane y = 0 (normal +y), nx by nz squares; vertex (i, j) is i + j (nx +
/// 1).
static inline yw_tri_mesh plate_mesh(double a, double b, int nx, int nz, plate_cut cut) {
  yw_tri_mesh mesh;
  assert_int_equal(yw_tri_mesh_create(NULL, (nx + 1) * (nz + 1), 2 * nx * nz, &mesh), 0);
  test_random random = {9};
  for (int j = 0; j <= nz; ++j) {
    for (int i = 0; i <= nx; ++i) {
      double x = a * i / nx, z = b * j / nz;
      if (cut == PLATE_JITTERED && i > 0 && i < nx && j > 0 && j < nz) {
        x += 0.2 * a / nx * test_random_in(&random, -1, 1);
        z += 0.2 * b / nz * test_random_in(&random, -1, 1);
      }
      mesh.positions[i + j * (nx + 1)] = (yw_vec3){(float)x, 0, (float)z};
    }
  }
  int32_t* out = mesh.triangles;
  for (int j = 0; j < nz; ++j) {
    for (int i = 0; i < nx; ++i) {
      int32_t v = i + j * (nx + 1), w = v + nx + 1;
      bool other = cut != PLATE_SAME && (i + j) % 2;
      const int32_t one[6] = {v, w, v + 1, v + 1, w, w + 1},
                    two[6] = {v, w, w + 1, v, w + 1, v + 1};
      for (int k = 0; k < 6; ++k) *out++ = other ? two[k] : one[k];
    }
  }
  return mesh;
}

#endif
