// SPDX-License-Identifier: MIT
#include "bench/match_bench.h"

#include <string.h>

#include "bench/match_state.h"
#include "contact/obstacles.h"
#include "methods/match/match.h"
#include "reference/clock.h"
#include "reference/match_reference.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/stream.h"
#include "yawara/extend/vec.h"
#include "yawara/pose.h"

#define CELL 0.1f
#define FRICTION 0.4f
// Falls for 15 substeps, then is pressed into the floor and wobbles, so that all phases have work.
#define SETTLE_STEPS 48
#define DROP 0.02f

static const yw_vec3 gravity = {0, -9.81f, 0};

static bool make_examples(match_bench* b, int32_t count) {
  static const yw_deform_kind kinds[MATCH_BENCH_MAX_EXAMPLES] = {YW_DEFORM_TWIST, YW_DEFORM_S_BEND,
                                                                 YW_DEFORM_BEND, YW_DEFORM_SQUASH};
  static const float amounts[MATCH_BENCH_MAX_EXAMPLES] = {1.2f, 0.7f, 1.0f, 0.3f};
  for (int32_t k = 0; k < count; ++k) {
    yw_deform deform = yw_default_deform(kinds[k]);
    deform.amount = amounts[k];
    b->examples[k] = YW_NEW_ARRAY(NULL, yw_vec3, (size_t)b->mesh.num_vertices);
    if (!b->examples[k] || yw_deform_apply(&deform, b->mesh.num_vertices, b->mesh.positions,
                                           b->examples[k], NULL) < 0) {
      return false;
    }
  }
  return true;
}

static bool make_body(match_bench* b, const match_bench_def* def) {
  yw_aabb box = {
      {0, 0, 0},
      {CELL * (float)def->cells[0], CELL * (float)def->cells[1], CELL * (float)def->cells[2]}};
  if (yw_tet_mesh_lattice(NULL, box, def->cells, YW_LATTICE_FIVE, &b->mesh) < 0) return false;
  if (!make_examples(b, def->num_examples)) return false;
  b->def = (yw_match_def){
      .mesh = &b->mesh,
      .density = 1000.0f,
      .num_examples = def->num_examples,
      .examples = (const yw_vec3* const*)b->examples,
      .grouping = def->grouping,
      .params = {.alpha = 0.8f, .beta = 0.95f, .damping = 2.0f},
  };
  return yw_match_model_create(NULL, &b->def, 0.0, &b->model, NULL) >= 0 &&
         yw_match_method.body_create(b->model, NULL, &b->state, &b->particles, NULL) >= 0;
}

static bool make_floor(match_bench* b) {
  const yw_transform still = YW_TRANSFORM_IDENTITY;
  if (yw_shape_plane(NULL, (yw_vec3){0, 1, 0}, 0.0f, &b->floor) < 0) return false;
  b->obstacle = (yw_obstacle){.shape = b->floor, .begin = still, .end = still};
  b->obstacle.friction = FRICTION;
  b->obstacle.bounds = yw_obstacle_bounds(b->floor, still, still);
  b->set =
      (yw_obstacle_set){.items = &b->obstacle, .count = 1, .h = MATCH_BENCH_H, .gravity = gravity};
  b->ctx = (yw_step_ctx){.h = MATCH_BENCH_H,
                         .gravity = gravity,
                         .simd = yw_simd_resolve(YW_SIMD_AUTO),
                         .collide = yw_obstacles_collide,
                         .is_clear = yw_obstacles_clear,
                         .obstacles = &b->set,
                         .friction = FRICTION,
                         .report = &b->report};
  return true;
}

void match_bench_start(const match_bench* b, yw_vec3* out) {
  yw_quat tilt = yw_quat_normalize((yw_quat){0.04f, 0.02f, 0.06f, 1.0f});
  float lowest = INFINITY;
  for (int32_t v = 0; v < b->mesh.num_vertices; ++v) {
    out[v] = yw_rotate(tilt, b->mesh.positions[v]);
    lowest = fminf(lowest, out[v].y);
  }
  for (int32_t v = 0; v < b->mesh.num_vertices; ++v) out[v].y += DROP - lowest;
}

static void advance(match_bench* b, int32_t steps) {
  for (int32_t s = 0; s < steps; ++s) {
    yw_match_method.advance(b->state, &b->particles, &b->ctx);
  }
}

// Lets the box fall and saves its state, in the library's layout and in the order of the mesh.
static bool drop(match_bench* b) {
  size_t n = (size_t)b->mesh.num_vertices;
  const int32_t* order = yw_match_method.particle_of_vertex(b->state);
  b->start_pos = YW_NEW_ARRAY(NULL, yw_vec3, n);
  b->start_vel = YW_NEW_ARRAY(NULL, yw_vec3, n);
  b->saved_pos = YW_NEW_ARRAY(NULL, yw_vec4, (size_t)b->particles.capacity);
  b->saved_vel = YW_NEW_ARRAY(NULL, yw_vec4, (size_t)b->particles.capacity);
  if (!b->start_pos || !b->start_vel || !b->saved_pos || !b->saved_vel) return false;
  match_bench_start(b, b->start_pos);
  for (size_t v = 0; v < n; ++v) b->particles.pos[order[v]] = yw_v4(b->start_pos[v]);
  yw_match_method.invalidate(b->state, &b->particles);
  yw_match_params params = b->def.params, falling = params;
  if (b->same_state) falling.beta = 0.0f;
  yw_match_set_params(b->state, &falling);
  advance(b, SETTLE_STEPS);
  yw_match_set_params(b->state, &params);

  yw_writer count = {0};
  yw_match_method.save(b->state, &count);
  b->saved_size = count.size;
  b->saved_state = YW_NEW_ARRAY(NULL, unsigned char, count.size);
  if (!b->saved_state) return false;
  yw_writer writer = {.data = b->saved_state, .capacity = count.size};
  yw_match_method.save(b->state, &writer);
  memcpy(b->saved_pos, b->particles.pos, (size_t)b->particles.capacity * sizeof(yw_vec4));
  memcpy(b->saved_vel, b->particles.vel, (size_t)b->particles.capacity * sizeof(yw_vec4));
  for (size_t v = 0; v < n; ++v) {
    b->start_pos[v] = yw_xyz(b->particles.pos[order[v]]);
    b->start_vel[v] = yw_xyz(b->particles.vel[order[v]]);
  }
  return true;
}

match_bench* match_bench_create(const match_bench_def* def) {
  match_bench* b = YW_NEW(NULL, match_bench);
  if (!b) return NULL;
  b->same_state = def->same_state;
  bool made = make_body(b, def) && make_floor(b) && drop(b);
  if (made && def->reference) b->reference = reference_create(&b->def, false);
  if (made && (b->reference || !def->reference)) return b;
  match_bench_destroy(b);
  return NULL;
}

void match_bench_destroy(match_bench* b) {
  if (!b) return;
  if (b->state) yw_match_method.body_destroy(b->state, &b->particles);
  if (b->model) yw_match_method.model_destroy(b->model);
  yw_shape_release(b->floor);
  reference_destroy(b->reference);
  yw_tet_mesh_free(&b->mesh);
  for (int k = 0; k < MATCH_BENCH_MAX_EXAMPLES; ++k) yw_mem_free(NULL, b->examples[k]);
  void* const arrays[] = {b->start_pos, b->start_vel, b->saved_pos, b->saved_vel, b->saved_state};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(NULL, arrays[i]);
  yw_mem_free(NULL, b);
}

const yw_tet_mesh* match_bench_mesh(const match_bench* b) { return &b->mesh; }
const yw_match_def* match_bench_model_def(const match_bench* b) { return &b->def; }

// Steps are timed in groups of a fraction of a millisecond, a few groups at a time: short enough to
// fit between the time slices of other processes.
typedef struct sampling {
  int32_t groups, steps;  // steps in a group
} sampling;

static sampling sampling_of(const match_bench* b, int32_t particle_steps) {
  int32_t steps = particle_steps / b->mesh.num_vertices;
  return steps < 1 ? (sampling){2, 1} : (sampling){8, steps};
}

static void restore(match_bench* b) {
  yw_reader reader = {.data = b->saved_state, .size = b->saved_size};
  yw_match_method.load(b->state, &reader);
  memcpy(b->particles.pos, b->saved_pos, (size_t)b->particles.capacity * sizeof(yw_vec4));
  memcpy(b->particles.vel, b->saved_vel, (size_t)b->particles.capacity * sizeof(yw_vec4));
}

match_bench_times match_bench_library(match_bench* b, yw_simd simd, yw_tasks* tasks, bool phases) {
  restore(b);
  b->ctx.simd = yw_simd_resolve(simd);
  b->ctx.tasks = tasks;
  b->ctx.timing = phases;
  advance(b, 1);  // wakes the threads, warms the caches
  match_bench_times best = {INFINITY, INFINITY, INFINITY, INFINITY};
  bool own_clock = !tasks && !phases;  // the step times its phases by wall clock
  sampling sample = sampling_of(b, 6000);
  for (int32_t g = 0; g < sample.groups; ++g) {
    if (b->same_state) restore(b);
    b->report = (yw_method_report){0};
    double start = bench_seconds(own_clock);
    advance(b, sample.steps);
    double each = 1e6 / sample.steps, total = each * (bench_seconds(own_clock) - start);
    double projection = each * b->report.seconds_adapt;
    double contact = each * b->report.seconds_contact;
    best.total = fmin(best.total, total);
    best.matching = fmin(best.matching, total - projection - contact);
    best.projection = fmin(best.projection, projection);
    best.contact = fmin(best.contact, contact);
  }
  return best;
}

double match_bench_reference(match_bench* b) {
  size_t bytes = (size_t)b->mesh.num_vertices * sizeof(yw_vec3);
  memcpy(reference_positions(b->reference), b->start_pos, bytes);
  memcpy(reference_velocities(b->reference), b->start_vel, bytes);
  const reference_step_def def = {.h = MATCH_BENCH_H, .gravity = gravity, .friction = FRICTION};
  reference_step(b->reference, &def);
  double best = INFINITY;
  sampling sample = sampling_of(b, 1000);
  for (int32_t g = 0; g < sample.groups; ++g) {
    double start = bench_seconds(true);
    for (int32_t s = 0; s < sample.steps; ++s) reference_step(b->reference, &def);
    best = fmin(best, 1e6 / sample.steps * (bench_seconds(true) - start));
  }
  return best;
}
