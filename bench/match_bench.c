// SPDX-License-Identifier: MIT
#include "match_bench.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/timer.h"
#include "contact/obstacles.h"
#include "geometry/deform.h"
#include "match/match.h"
#include "match_reference.h"

#define H (1.0f / 240.0f)
#define CELL 0.1f

typedef struct bench {
  yw_tet_mesh mesh;
  yw_vec3* examples[4];
  yw_match_def def;
  void* model;
  void* state;
  yw_particles particles;
  yw_tasks* tasks;
  yw_shape* floor;
  reference_body* reference;
} bench;

static bool make_examples(bench* b, int32_t count) {
  static const yw_deform_kind kinds[4] = {YW_DEFORM_TWIST, YW_DEFORM_S_BEND, YW_DEFORM_BEND,
                                          YW_DEFORM_SQUASH};
  static const float amounts[4] = {1.2f, 0.7f, 1.0f, 0.3f};
  for (int32_t k = 0; k < count; ++k) {
    yw_deform deform = yw_default_deform(kinds[k]);
    deform.amount = amounts[k];
    b->examples[k] = malloc((size_t)b->mesh.num_vertices * sizeof(yw_vec3));
    if (!b->examples[k] || yw_deform_apply(&deform, b->mesh.num_vertices, b->mesh.positions,
                                           b->examples[k], NULL) < 0) {
      return false;
    }
  }
  return true;
}

static bool make_body(bench* b, const match_bench_def* def) {
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
  if (yw_match_model_create(NULL, &b->def, &b->model, NULL) < 0) return false;
  if (yw_match_method.body_create(b->model, NULL, &b->state, &b->particles, NULL) < 0) return false;
  b->tasks = def->threads > 1 ? yw_tasks_create(NULL, def->threads) : NULL;
  if (def->reference) b->reference = reference_create(&b->def);
  return yw_shape_plane(NULL, (yw_vec3){0, 1, 0}, 0.0f, &b->floor) >= 0 &&
         (b->reference || !def->reference);
}

static void free_body(bench* b) {
  if (b->state) yw_match_method.body_destroy(b->state, &b->particles);
  if (b->model) yw_match_method.model_destroy(b->model);
  yw_tasks_destroy(b->tasks);
  yw_shape_release(b->floor);
  reference_destroy(b->reference);
  yw_tet_mesh_free(&b->mesh);
  for (int k = 0; k < 4; ++k) free(b->examples[k]);
}

// One thread is timed by its own clock, so that other work on the machine counts only as far as it
// takes caches and bandwidth.
static double seconds_of(int32_t threads) {
  if (threads > 1) return yw_seconds();
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Tilted and above the floor, so that the drop excites everything.
static void place(bench* b) {
  const int32_t* order = yw_match_method.particle_of_vertex(b->state);
  yw_quat tilt = yw_quat_normalize((yw_quat){0.1f, 0.05f, 0.2f, 1.0f});
  for (int32_t v = 0; v < b->mesh.num_vertices; ++v) {
    yw_vec3 x = yw_add(yw_rotate(tilt, b->mesh.positions[v]), (yw_vec3){0, 0.2f, 0});
    b->particles.pos[order[v]] = yw_v4(x);
    b->particles.vel[order[v]] = (yw_vec4){0};
    if (b->reference) {
      reference_positions(b->reference)[v] = x;
      reference_velocities(b->reference)[v] = (yw_vec3){0, 0, 0};
    }
  }
  yw_match_method.invalidate(b->state, &b->particles);
}

bool match_bench(const match_bench_def* def, match_bench_result* out) {
  bench b = {0};
  *out = (match_bench_result){0};
  if (!make_body(&b, def)) {
    free_body(&b);
    return false;
  }
  place(&b);
  const yw_transform still = YW_TRANSFORM_IDENTITY;
  const yw_vec3 gravity = {0, -9.81f, 0};
  yw_obstacle obstacle = {.shape = b.floor, .begin = still, .end = still, .friction = 0.4f};
  obstacle.bounds = yw_obstacle_bounds(b.floor, still, still);
  yw_obstacle_set set = {.items = &obstacle, .count = 1, .h = H, .gravity = gravity};
  yw_method_report report = {0};
  yw_step_ctx ctx = {.h = H,
                     .gravity = gravity,
                     .simd = yw_simd_resolve(def->simd),
                     .tasks = b.tasks,
                     .timing = true,
                     .collide = yw_obstacles_collide,
                     .is_clear = yw_obstacles_clear,
                     .obstacles = &set,
                     .friction = 0.4f,
                     .report = &report};
  reference_step_def reference_def = {.h = H, .gravity = gravity, .friction = 0.4f};

  // About 2 ms of work per round.
  int32_t n = b.mesh.num_vertices, steps = 50000 / n < 2 ? 2 : 50000 / n;
  int32_t reference_steps = steps / 8 < 1 ? 1 : steps / 8;
  out->num_particles = n;
  out->step = out->project = out->contact = out->reference = INFINITY;
  for (int32_t round = 0; round < def->repeats; ++round) {
    report = (yw_method_report){0};
    double start = seconds_of(def->threads);
    for (int32_t s = 0; s < steps; ++s) yw_match_method.advance(b.state, &b.particles, &ctx);
    double seconds = seconds_of(def->threads) - start;
    out->step = fmin(out->step, 1e6 * seconds / steps);
    out->project = fmin(out->project, 1e6 * report.seconds_project / steps);
    out->contact = fmin(out->contact, 1e6 * report.seconds_contact / steps);
    if (!b.reference) continue;
    start = seconds_of(1);
    for (int32_t s = 0; s < reference_steps; ++s) reference_step(b.reference, &reference_def);
    seconds = seconds_of(1) - start;
    out->reference = fmin(out->reference, 1e6 * seconds / reference_steps);
  }
  if (!b.reference) out->reference = 0.0;
  free_body(&b);
  return true;
}
