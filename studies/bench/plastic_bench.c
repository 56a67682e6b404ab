// SPDX-License-Identifier: MIT
#include "bench/plastic_bench.h"

#include <math.h>
#include <stdlib.h>

#include "methods/plastic/body.h"
#include "methods/plastic/plastic.h"
#include "reference/clock.h"
#include "reference/plastic_reference.h"
#include "yawara/extend/memory.h"

#define SPACING 0.0625f
#define STEP 1e-3f

struct plastic_bench {
  plastic_model* model;
  plastic_body* body;
  yw_particles particles;
  yw_method_report report;
  plastic_reference* reference;
  double bytes;
};

// Counts what is allocated.
static void* counting_alloc(void* context, size_t size, size_t align) {
  *(double*)context += (double)size;
  return aligned_alloc(align < 64 ? 64 : align, (size + 63) / 64 * 64);
}

static void counting_release(void* context, void* pointer) {
  (void)context;
  free(pointer);
}

static bool make_body(plastic_bench* b, const plastic_bench_def* def) {
  yw_allocator mem = {counting_alloc, counting_release, &b->bytes};
  yw_shape* cube = NULL;
  float half = 0.5f * SPACING * (float)def->side;
  yw_plastic_part* parts = calloc((size_t)def->cubes, sizeof *parts);
  yw_shape_box(NULL, (yw_vec3){half, half, half}, &cube);
  for (int32_t i = 0; parts && i < def->cubes; ++i) {
    parts[i] = yw_default_plastic_part();
    parts[i].shape = cube;
    // Off the lattice of cells, and each slightly different.
    float at = def->apart * (float)i;
    parts[i].transform.position = (yw_vec3){at, 0.7f * at, 0.4f * at};
  }
  yw_plastic_def model_def = yw_default_plastic_def();
  model_def.spacing = SPACING;
  model_def.parts = parts;
  model_def.num_parts = def->cubes;
  model_def.params.time_step = STEP;
  model_def.memory_limit = 1e11;
  void *model = NULL, *state = NULL;
  bool good =
      parts && cube && yw_plastic_model_create(&mem, &model_def, NULL, 2.0f, &model, NULL) >= 0;
  b->model = model;
  good = good && yw_plastic_method.body_create(model, &mem, &state, &b->particles, NULL) >= 0;
  b->body = state;
  yw_shape_release(cube);
  free(parts);
  if (good) b->body->fixed_iterations = def->iterations;
  return good;
}

// Every cube rotates faster towards its top. Large cubes are as fast at their edges as small ones,
// so that neighbour lists last equally long.
static void twist(plastic_bench* b, int32_t side) {
  for (int32_t m = 0; m < b->particles.count; ++m) {
    const plastic_part* part = b->model->parts;
    while (m >= part->first + part->count) ++part;
    yw_vec3 r = yw_sub(b->model->masters[m], part->center);
    float turn = 64.0f * r.y / (SPACING * (float)(side * side));
    b->particles.vel[m] = (yw_vec4){turn * r.z, 0.0f, -turn * r.x, 0.0f};
  }
}

static bool make_reference(plastic_bench* b, int32_t iterations) {
  plastic_body* body = b->body;
  plastic_reference* r = plastic_reference_create(body->num_masters, body->num_slaves);
  b->reference = r;
  if (!r) return false;
  r->spacing = (double)SPACING;
  r->dt = (double)STEP;
  r->iterations = iterations;
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    for (int k = 0; k < 3; ++k) r->slaves[s][k] = (double)(&body->slave_pos[s].x)[k];
  }
  for (int32_t m = 0; m < body->num_masters; ++m) {
    const plastic_material_block* material = yw_plastic_material_of(b->model, m);
    int l = m % YW_LANES;
    r->masters[m] = (reference_master){.mass = (double)b->particles.mass[m],
                                       .volume = (double)material->volume[l],
                                       .mu = (double)material->mu[l],
                                       .lambda = (double)material->lambda[l],
                                       .low = -INFINITY,
                                       .high = INFINITY,
                                       .det_p = 1.0,
                                       .f = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int k = 0; k < 3; ++k) {
      r->masters[m].x[k] = (double)(&b->particles.pos[m].x)[k];
      r->masters[m].v[k] = (double)(&b->particles.vel[m].x)[k];
    }
  }
  return true;
}

plastic_bench* plastic_bench_create(const plastic_bench_def* def) {
  plastic_bench* b = YW_NEW(NULL, plastic_bench);
  if (!b) return NULL;
  bool good = make_body(b, def);
  if (good) twist(b, def->side);
  if (good && def->reference) good = make_reference(b, def->iterations);
  // Warms up lists, caches and threads.
  if (good) plastic_bench_library(b, YW_SIMD_AUTO, NULL, 1);
  if (good) return b;
  plastic_bench_destroy(b);
  return NULL;
}

void plastic_bench_destroy(plastic_bench* b) {
  if (!b) return;
  if (b->body) yw_plastic_method.body_destroy(b->body, &b->particles);
  yw_plastic_model_destroy(b->model);
  plastic_reference_destroy(b->reference);
  yw_mem_free(NULL, b);
}

int32_t plastic_bench_masters(const plastic_bench* b) { return b->particles.count; }

double plastic_bench_bytes(const plastic_bench* b) { return b->bytes; }

double plastic_bench_iteration_bytes(const plastic_bench* b) {
  const plastic_body* body = b->body;
  const plastic_work_block* work = body->work;
  double pairs = 4.0 * (double)body->four_start[body->num_masters];
  double pair = (double)(sizeof *body->share + sizeof *body->local_column);
  double tangent = (double)(sizeof work->center + sizeof work->right + sizeof work->diagonal +
                            sizeof work->shear + sizeof body->state->u) /
                   YW_LANES;
  double master = tangent + (double)sizeof *body->four_start;
  // Parts are written by the pass over masters and read by that over slaves.
  double local = (double)(sizeof *body->local_slave + sizeof *body->part_at) +
                 2.0 * (double)sizeof *body->parts;
  // Courses are read by both passes.
  double slave = 3.0 * (double)sizeof *body->course + 6.0 * (double)sizeof *body->solved +
                 (double)(sizeof *body->inverse + sizeof *body->touches + sizeof *body->part_start);
  return pairs * pair + body->num_masters * master + body->num_locals * local +
         body->num_slaves * slave;
}

plastic_bench_times plastic_bench_library(plastic_bench* b, yw_simd simd, yw_tasks* tasks,
                                          int32_t steps) {
  yw_step_ctx ctx = {
      .h = STEP, .simd = yw_simd_resolve(simd), .tasks = tasks, .report = &b->report};
  plastic_bench_times best = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
  for (int32_t i = 0; i < steps; ++i) {
    ctx.timing = true;
    for (int k = 0; k < PLASTIC_NUM_TIMES; ++k) b->body->seconds[k] = 0.0;
    double start = bench_seconds(!tasks);
    if (yw_plastic_method.advance(b->body, &b->particles, &ctx) < 0) return best;
    best.total = fmin(best.total, 1e6 * (bench_seconds(!tasks) - start));
    const double* s = b->body->seconds;
    best.neighbours = fmin(best.neighbours, 1e6 * s[PLASTIC_NEIGHBOURS]);
    best.weights = fmin(best.weights, 1e6 * s[PLASTIC_WEIGHTS]);
    best.solve = fmin(best.solve, 1e6 * s[PLASTIC_SOLVE]);
    best.rest = fmin(best.rest, 1e6 * (s[PLASTIC_MATERIAL] + s[PLASTIC_CONTACT] +
                                       s[PLASTIC_MOTION] + s[PLASTIC_SLAVES]));
  }
  return best;
}

double plastic_bench_reference(plastic_bench* b, int32_t steps) {
  double best = INFINITY;
  for (int32_t i = 0; b->reference && i < steps; ++i) {
    double start = bench_seconds(true);
    if (!plastic_reference_step(b->reference)) return INFINITY;
    best = fmin(best, 1e6 * (bench_seconds(true) - start));
  }
  return best;
}
