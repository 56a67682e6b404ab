// SPDX-License-Identifier: MIT
// yawara bench rods: milliseconds per step of hanging coils and sheets of oriented particles.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "console/options.h"
#include "math/small/trig.h"
#include "reference/clock.h"
#include "yawara/slender.h"

// Steps that are timed together, of a body that starts to swing.
#define STEPS 30
#define PER_TURN 16

typedef struct rods_case {
  const char* name;
  int32_t size;  // points of a coil, or squares along a sheet
  bool is_sheet;
  yw_slender_solver solver;
  int32_t usual, quick;  // repetitions; quick 0: skipped
} rods_case;

static const rods_case cases[] = {
    {"coil 225", 225, false, YW_SLENDER_IMPLICIT, 5, 1},
    {"coil 1000", 1000, false, YW_SLENDER_IMPLICIT, 3, 1},
    {"coil 4000", 4000, false, YW_SLENDER_IMPLICIT, 2, 0},
    {"coil 225, second order", 225, false, YW_SLENDER_BDF2, 5, 1},
    {"coil 225, extended", 225, false, YW_SLENDER_EXTENDED, 5, 1},
    {"sheet 289", 16, true, YW_SLENDER_IMPLICIT, 5, 1},
    {"sheet 1089", 32, true, YW_SLENDER_IMPLICIT, 3, 1},
    {"sheet 4225", 64, true, YW_SLENDER_IMPLICIT, 2, 0},
    {"sheet 1089, second order", 32, true, YW_SLENDER_BDF2, 3, 0},
    {"sheet 1089, extended", 32, true, YW_SLENDER_EXTENDED, 3, 0},
};
enum { NUM_CASES = sizeof cases / sizeof cases[0] };

// Plastic spring: 16 particles a turn, 8 mm wire, 16 cm wide.
static yw_model* make_coil(const rods_case* c) {
  yw_vec3* points = malloc(sizeof *points * (size_t)c->size);
  if (!points) return NULL;
  for (int32_t i = 0; i < c->size; ++i) {
    float angle = 6.2831853f / PER_TURN * (float)(i % PER_TURN);
    points[i] =
        (yw_vec3){0.08f * yw_cosf(angle), -0.02f / PER_TURN * (float)i, 0.08f * yw_sinf(angle)};
  }
  yw_rod_def def = yw_default_rod_def();
  def.points = points;
  def.num_points = c->size;
  def.radius = 0.004f;
  def.youngs_modulus = 2e8f;
  def.params.solver = c->solver;
  yw_model* model = NULL;
  yw_model_create_rod(NULL, &def, &model, NULL);
  free(points);
  return model;
}

// Rubber, 1 m x 1 m x 3 mm.
static yw_model* make_sheet(const rods_case* c) {
  int32_t n = c->size;
  yw_tri_mesh mesh;
  if (yw_tri_mesh_create(NULL, (n + 1) * (n + 1), 2 * n * n, &mesh) < 0) return NULL;
  for (int32_t i = 0; i < mesh.num_vertices; ++i) {
    mesh.positions[i] =
        (yw_vec3){(float)(i % (n + 1)) / (float)n, 0, (float)(i / (n + 1)) / (float)n};
  }
  int32_t* out = mesh.triangles;
  for (int32_t i = 0; i < n * n; ++i) {
    int32_t a = i % n + i / n * (n + 1), b = a + 1, d = a + n + 1, e = d + 1;
    const int32_t one[6] = {a, d, b, b, d, e}, two[6] = {a, d, e, a, e, b};
    for (int k = 0; k < 6; ++k) *out++ = (i % n + i / n) % 2 ? two[k] : one[k];
  }
  yw_sheet_def def = yw_default_sheet_def();
  def.mesh = &mesh;
  def.thickness = 0.003f;
  def.poissons_ratio = 0.45f;
  def.params.solver = c->solver;
  yw_model* model = NULL;
  yw_model_create_sheet(NULL, &def, &model, NULL);
  yw_tri_mesh_free(&mesh);
  return model;
}

// Seconds per step, hanging from the first particle (coils: clamped) or from two corners.
static double measure_once(const bench_run* run, const rods_case* c, yw_model* model,
                           int32_t threads) {
  yw_world_def def = yw_default_world_def();
  def.threads = threads;
  def.simd = run->simd;
  yw_world* world = NULL;
  if (yw_world_create(&def, &world) < 0) return NAN;
  yw_body_def body_def = yw_default_body_def();
  body_def.model = model;
  yw_pin_def pin = yw_default_pin_def();
  const int32_t corners[2] = {0, c->size};
  yw_pin_id pin_id;
  double seconds = NAN;
  if (yw_body_create(world, &body_def, &pin.body, NULL) >= 0) {
    pin.vertices = corners;
    pin.num_vertices = c->is_sheet ? 2 : 1;
    pin.clamp = !c->is_sheet;
    if (yw_pin_create(world, &pin, &pin_id, NULL) >= 0) {
      double start = bench_seconds(threads == 1);
      for (int i = 0; i < STEPS; ++i) yw_world_step(world, 1.0f / 60.0f, 1, NULL);
      seconds = (bench_seconds(threads == 1) - start) / STEPS;
    }
  }
  yw_world_destroy(world);
  return seconds;
}

static bool measure(const bench_run* run, const rods_case* c) {
  yw_model* model = c->is_sheet ? make_sheet(c) : make_coil(c);
  if (!model) return false;
  double one = INFINITY, many = INFINITY;
  int32_t repetitions = bench_repetitions(run, c->usual, c->quick);
  for (int32_t r = 0; r < repetitions; ++r) {
    one = fmin(one, measure_once(run, c, model, 1));
    if (run->threads > 1) many = fmin(many, measure_once(run, c, model, run->threads));
  }
  yw_model_release(model);
  bench_row row = {.name = c->name, .threads = 1, .value = 1e3 * one, .unit = "ms/step"};
  bench_print(run, &row);
  if (run->threads > 1) {
    row.threads = run->threads;
    row.value = 1e3 * many;
    row.against = "1 thread";
    row.ratio = one / many;
    bench_print(run, &row);
  }
  return isfinite(one);
}

int bench_rods(const bench_run* run) {
  for (int i = 0; i < NUM_CASES; ++i) {
    if (run->quick && cases[i].quick == 0) continue;
    if (measure(run, &cases[i])) continue;
    fprintf(stderr, "yawara: out of memory\n");
    return EXIT_FAILED;
  }
  return EXIT_DONE;
}
