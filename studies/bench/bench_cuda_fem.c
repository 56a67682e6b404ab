// SPDX-License-Identifier: MIT
// Part of yawara bench cuda: inner steps of fem bodies of linear tets on a GPU, compared with the
// processor to the bit.
#include <math.h>
#include <stdio.h>

#include "bench/bench.h"
#include "yawara/extend/timer.h"
#include "yawara/extend/vec.h"
#include "yawara/fem.h"

#define MAX_LEVEL 3
#define TETS_PER_CELL (6 * 848)

typedef struct fem_case {
  const char* name;  // its number of tets
  int32_t cells[3];
  int32_t steps;  // timed
  bench_bar bar;
  bool is_quick;
} fem_case;

static const fem_case cases[] = {
    {"122112", {4, 3, 2}, 2000, BAR_NONE, true},
    {"1099008", {6, 6, 6}, 1000, BAR_NONE, false},
    {"10318464", {13, 12, 13}, 400, BAR_AT_LEAST, false},
};

static yw_model* make_model(const fem_case* c, yw_error* error) {
  const yw_aabb box = {
      {0, 0, 0}, {0.1f * (float)c->cells[0], 0.1f * (float)c->cells[1], 0.1f * (float)c->cells[2]}};
  yw_tet_mesh mesh = {0};
  yw_model* model = NULL;
  if (yw_tet_mesh_lattice(NULL, box, c->cells, YW_LATTICE_SIX, &mesh) < 0) return NULL;
  yw_fem_def def = yw_default_fem_def();
  def.mesh = &mesh;
  def.max_level = MAX_LEVEL;
  def.max_bytes = 1e11;
  def.params.refine = YW_FEM_REFINE_FINEST;
  def.params.check_interval = 1e3f;  // refinement is the processor's
  def.params.sleep_speed = 0.0f;
  if (yw_model_create_fem(NULL, &def, &model, error) < 0) model = NULL;
  yw_tet_mesh_free(&mesh);
  return model;
}

// A body that spins in free flight.
static yw_world* make_world(const bench_run* run, yw_model* model, yw_device_kind device,
                            yw_body_id* body, yw_error* error) {
  yw_world_def def = yw_default_world_def();
  def.threads = run->threads;
  def.simd = run->simd;
  def.device = (uint8_t)device;
  yw_world* world = NULL;
  if (yw_world_create(&def, &world) < 0) return NULL;
  yw_body_def body_def = yw_default_body_def();
  body_def.model = model;
  body_def.angular_velocity = yw_v3(1.0f, 2.0f, 0.5f);
  if (yw_body_create(world, &body_def, body, error) >= 0) return world;
  yw_world_destroy(world);
  return NULL;
}

// Seconds of one substep of so many inner steps; negative: failed.
static double time_steps(yw_world* world, float h, int32_t steps) {
  double start = yw_seconds();
  yw_status status = yw_world_step(world, h * ((float)steps - 0.5f), 1, NULL);
  return status < 0 ? -1.0 : yw_seconds() - start;
}

static bool measure_worlds(const bench_run* run, const fem_case* c, yw_world* here, yw_world* there,
                           yw_body_id body) {
  yw_fem_statistics statistics;
  if (time_steps(here, 1e-7f, 1) < 0.0 || time_steps(there, 1e-7f, 1) < 0.0) return false;
  if (time_steps(here, 1e-3f, 1) < 0.0 || time_steps(there, 1e-3f, 1) < 0.0) return false;
  if (yw_body_fem_statistics(here, body, &statistics) < 0) return false;
  float h = statistics.time_step;
  double brief_here = time_steps(here, h, 8), long_here = time_steps(here, h, 24);
  double brief = time_steps(there, h, 8), all = time_steps(there, h, 24);
  if (brief_here < 0.0 || long_here < 0.0 || brief < 0.0 || all < 0.0) return false;
  if (yw_world_hash(here) != yw_world_hash(there)) {
    fprintf(stderr, "fem %s: the GPU gives other bits than the processor\n", c->name);
    return false;
  }
  double best_short = INFINITY, best_long = INFINITY;
  for (int32_t r = 0; r < bench_repetitions(run, 3, 1); ++r) {
    best_short = fmin(best_short, time_steps(there, h, c->steps / 4));
    best_long = fmin(best_long, time_steps(there, h, c->steps));
  }
  double seconds = (best_long - best_short) / (c->steps - c->steps / 4);
  double tets = (double)c->cells[0] * c->cells[1] * c->cells[2] * TETS_PER_CELL;
  char name[64];
  snprintf(name, sizeof name, "fem %s, inner steps", c->name);
  bench_row row = {.name = name,
                   .threads = run->threads,
                   .value = 1e-9 * tets / seconds,
                   .unit = "Gtets/s",
                   .against = "processor",
                   .ratio = (long_here - brief_here) / 16.0 / seconds,
                   .bar = c->bar,
                   .bar_value = 4.0};
  bench_print(run, &row);
  return true;
}

static bool measure_case(const bench_run* run, const fem_case* c) {
  yw_error error = {0};
  yw_model* model = make_model(c, &error);
  if (!model) return false;
  yw_body_id a, b;
  yw_world* here = make_world(run, model, YW_DEVICE_CPU, &a, &error);
  yw_world* there = make_world(run, model, YW_DEVICE_CUDA, &b, &error);
  bool good = here && there && measure_worlds(run, c, here, there, a);
  if (!there && error.message[0]) fprintf(stderr, "%s\n", error.message);
  yw_world_destroy(here);
  yw_world_destroy(there);
  yw_model_release(model);
  return good;
}

bool bench_cuda_fem(const bench_run* run) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (run->quick && !cases[i].is_quick) continue;
    if (!measure_case(run, &cases[i])) return false;
  }
  return true;
}
