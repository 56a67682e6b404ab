// SPDX-License-Identifier: MIT
#include "bench/frames_bench.h"

#include <math.h>
#include <string.h>

#include "reference/clock.h"
#include "reference/frames_reference.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"
#include "yawara/frames.h"

#define CELL 0.1f
#define SETTLE_STEPS 12
#define TOLERANCE 1e-3

struct frames_bench {
  yw_tet_mesh mesh;
  int32_t* cells;
  bool* held;
  yw_frames_def def;
  void *model, *state;
  yw_particles particles;
  yw_hold* holds;
  yw_step_ctx ctx;
  yw_method_report report;
  double model_seconds, body_seconds;
  // The state that every measurement starts from.
  yw_vec4 *saved_pos, *saved_vel;
  unsigned char* saved_state;
  size_t saved_size;
  frames_reference* reference;
};

static bool make_body(frames_bench* b, const frames_bench_def* def) {
  yw_aabb box = {{0, 0, 0}, {0, 0, 0}};
  float* upper = &box.upper.x;
  int32_t num_cells = def->cells[0] * def->cells[1] * def->cells[2];
  for (int k = 0; k < 3; ++k) upper[k] = CELL * (float)def->cells[k];
  if (yw_tet_mesh_lattice(NULL, box, def->cells, YW_LATTICE_FIVE, &b->mesh) < 0) return false;
  b->cells = YW_NEW_ARRAY(NULL, int32_t, 8 * (size_t)num_cells);
  b->held = YW_NEW_ARRAY(NULL, bool, b->mesh.num_vertices);
  b->holds = YW_NEW_ARRAY(NULL, yw_hold, b->mesh.num_vertices);
  if (!b->cells || !b->held || !b->holds) return false;
  yw_lattice_cells(def->cells, b->cells);
  b->def = yw_default_frames_def();
  b->def.mesh = &b->mesh;
  b->def.kind = def->kind;
  b->def.cells = b->cells;
  b->def.num_cells = num_cells;
  b->def.youngs_modulus = def->youngs_modulus;
  b->def.poissons_ratio = def->poissons_ratio;
  b->def.params.solver = def->solver;
  b->def.params.tolerance = (float)TOLERANCE;
  double start = bench_seconds(true);
  if (yw_frames_model_create(NULL, &b->def, &b->model, NULL) < 0) return false;
  double made = bench_seconds(true);
  b->model_seconds = made - start;
  bool good = yw_frames_method.body_create(b->model, NULL, &b->state, &b->particles, NULL) >= 0;
  b->body_seconds = bench_seconds(true) - made;
  return good;
}

// Clamps the end at x = 0.
static void clamp(frames_bench* b) {
  const int32_t* order = yw_frames_method.particle_of_vertex(b->state);
  int32_t count = 0;
  for (int32_t v = 0; v < b->mesh.num_vertices; ++v) {
    yw_vec3 p = b->mesh.positions[v];
    b->held[v] = p.x < 0.5f * CELL;
    if (!b->held[v]) continue;
    b->holds[count++] = (yw_hold){.particle = order[v], .begin = p, .end = p};
    b->particles.inv_mass[order[v]] = 0.0f;
  }
  b->ctx = (yw_step_ctx){.h = FRAMES_BENCH_H,
                         .gravity = {0, -9.81f, 0},
                         .simd = yw_simd_resolve(YW_SIMD_AUTO),
                         .holds = b->holds,
                         .num_holds = count,
                         .report = &b->report};
}

static void advance(frames_bench* b, int32_t steps) {
  for (int32_t s = 0; s < steps; ++s) {
    yw_frames_method.advance(b->state, &b->particles, &b->ctx);
  }
}

// Lets the bar swing for a while and saves its state.
static bool settle(frames_bench* b) {
  size_t n = (size_t)b->particles.capacity;
  b->saved_pos = YW_NEW_ARRAY(NULL, yw_vec4, n);
  b->saved_vel = YW_NEW_ARRAY(NULL, yw_vec4, n);
  b->ctx.timing = true;
  advance(b, 1);
  b->body_seconds += yw_frames_effort_of(b->state).seconds[YW_FRAMES_SET_UP];
  b->ctx.timing = false;
  advance(b, SETTLE_STEPS);
  yw_writer count = {0};
  yw_frames_method.save(b->state, &count);
  b->saved_size = count.size;
  b->saved_state = YW_NEW_ARRAY(NULL, unsigned char, count.size);
  if (!b->saved_pos || !b->saved_vel || !b->saved_state) return false;
  yw_writer writer = {.data = b->saved_state, .capacity = count.size};
  yw_frames_method.save(b->state, &writer);
  memcpy(b->saved_pos, b->particles.pos, n * sizeof(yw_vec4));
  memcpy(b->saved_vel, b->particles.vel, n * sizeof(yw_vec4));
  return true;
}

frames_bench* frames_bench_create(const frames_bench_def* def) {
  frames_bench* b = YW_NEW(NULL, frames_bench);
  if (!b) return NULL;
  bool made = make_body(b, def);
  if (made) clamp(b);
  made = made && settle(b);
  if (made && def->reference) b->reference = frames_reference_create(&b->def, b->held);
  if (made && (b->reference || !def->reference)) return b;
  frames_bench_destroy(b);
  return NULL;
}

void frames_bench_destroy(frames_bench* b) {
  if (!b) return;
  if (b->state) yw_frames_method.body_destroy(b->state, &b->particles);
  if (b->model) yw_frames_method.model_destroy(b->model);
  frames_reference_destroy(b->reference);
  yw_tet_mesh_free(&b->mesh);
  void* const arrays[] = {b->cells, b->held, b->holds, b->saved_pos, b->saved_vel, b->saved_state};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) yw_mem_free(NULL, arrays[i]);
  yw_mem_free(NULL, b);
}

int32_t frames_bench_particles(const frames_bench* b) { return b->mesh.num_vertices; }
double frames_bench_model_seconds(const frames_bench* b) { return b->model_seconds; }
double frames_bench_body_seconds(const frames_bench* b) { return b->body_seconds; }
int32_t frames_bench_sweeps(const frames_bench* b) {
  return b->def.params.substeps * b->def.params.sweeps;
}

static void restore(frames_bench* b) {
  size_t bytes = (size_t)b->particles.capacity * sizeof(yw_vec4);
  yw_reader reader = {.data = b->saved_state, .size = b->saved_size};
  yw_frames_method.load(b->state, &reader);
  memcpy(b->particles.pos, b->saved_pos, bytes);
  memcpy(b->particles.vel, b->saved_vel, bytes);
}

frames_bench_times frames_bench_library(frames_bench* b, yw_simd simd, yw_tasks* tasks,
                                        bool parts) {
  restore(b);
  b->ctx.simd = yw_simd_resolve(simd);
  b->ctx.tasks = tasks;
  b->ctx.timing = parts;
  advance(b, 1);  // wakes the threads, warms the caches
  bool own_clock = !tasks && !parts;
  frames_bench_times best = {.total = INFINITY};
  int32_t groups = b->mesh.num_vertices < 20000 ? 4 : 1;
  for (int32_t g = 0; g < groups; ++g) {
    double start = bench_seconds(own_clock);
    advance(b, 1);
    double total = bench_seconds(own_clock) - start;
    if (total >= best.total) continue;
    yw_frames_effort effort = yw_frames_effort_of(b->state);
    best.total = total;
    best.iterations = effort.iterations;
    memcpy(best.parts, effort.seconds, sizeof best.parts);
  }
  return best;
}

double frames_bench_reference(frames_bench* b) {
  const int32_t* order = yw_frames_method.particle_of_vertex(b->state);
  double *x = frames_reference_positions(b->reference),
         *v = frames_reference_velocities(b->reference);
  for (int32_t i = 0; i < b->mesh.num_vertices; ++i) {
    yw_vec4 p = b->saved_pos[order[i]], u = b->saved_vel[order[i]];
    x[3 * i] = (double)p.x, x[3 * i + 1] = (double)p.y, x[3 * i + 2] = (double)p.z;
    v[3 * i] = (double)u.x, v[3 * i + 1] = (double)u.y, v[3 * i + 2] = (double)u.z;
  }
  double start = bench_seconds(true);
  frames_reference_step(b->reference, (double)FRAMES_BENCH_H, b->ctx.gravity, TOLERANCE);
  return bench_seconds(true) - start;
}
