// SPDX-License-Identifier: MIT
// The bunny of scenes/papers/saida2017/fig13.json on its rods, without a world around it.
#include "bench/plastic_rods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/obstacles.h"
#include "methods/plastic/body.h"
#include "methods/plastic/plastic.h"
#include "reference/clock.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/stream.h"

#define SPACING 0.0277f
#define STEP 5e-4f
// After these, the rods are halfway through it.
#define STEPS_BEFORE 60
#define STEPS_TIMED 4

typedef struct ball {
  yw_vec3 a, b;  // a capsule, or a sphere if both are equal
  float radius;
} ball;

static const ball bunny_parts[] = {
    {{-0.12f, 0.35f, 0}, {-0.12f, 0.35f, 0}, 0.36f},
    {{0.26f, 0.68f, 0}, {0.26f, 0.68f, 0}, 0.26f},
    {{0.44f, 0.62f, 0}, {0.44f, 0.62f, 0}, 0.13f},
    {{0.18f, 0.84f, 0.13f}, {0, 1.15f, 0.22f}, 0.105f},
    {{0.18f, 0.84f, -0.13f}, {0, 1.15f, -0.22f}, 0.105f},
    {{-0.18f, 0.13f, 0.24f}, {0.12f, 0.12f, 0.28f}, 0.12f},
    {{-0.18f, 0.13f, -0.24f}, {0.12f, 0.12f, -0.28f}, 0.12f},
    {{0.24f, 0.12f, 0.12f}, {0.36f, 0.11f, 0.14f}, 0.11f},
    {{0.24f, 0.12f, -0.12f}, {0.36f, 0.11f, -0.14f}, 0.11f},
    {{-0.5f, 0.26f, 0}, {-0.5f, 0.26f, 0}, 0.12f},
};
static const ball rods[] = {
    {{-0.5f, 0, -1.2f}, {-0.5f, 0, 1.2f}, 0.05f},
    {{0, 0, -1.2f}, {0, 0, 1.2f}, 0.05f},
    {{0.5f, 0, -1.2f}, {0.5f, 0, 1.2f}, 0.05f},
};

struct plastic_rods {
  plastic_model* model;
  plastic_body* body;
  yw_particles particles;
  yw_shape* rods;
  yw_obstacle obstacle;
  yw_obstacle_set set;
  yw_method_report report;
  unsigned char* saved;
  size_t saved_size;
};

static yw_shape* make_union(const ball* balls, int32_t count, float smooth) {
  yw_shape *shapes[16] = {NULL}, *all = NULL;
  for (int32_t i = 0; i < count; ++i) {
    const ball* b = &balls[i];
    if (yw_distance(b->a, b->b) > 0.0f) {
      yw_shape_capsule(NULL, b->a, b->b, b->radius, &shapes[i]);
    } else {
      yw_shape* sphere = NULL;
      yw_transform put = YW_TRANSFORM_IDENTITY;
      put.position = b->a;
      yw_shape_sphere(NULL, b->radius, &sphere);
      if (sphere) yw_shape_transform(NULL, sphere, put, &shapes[i]);
      yw_shape_release(sphere);
    }
  }
  bool good = true;
  for (int32_t i = 0; i < count; ++i) good = good && shapes[i];
  if (good) yw_shape_union(NULL, count, shapes, smooth, &all);
  for (int32_t i = 0; i < count; ++i) yw_shape_release(shapes[i]);
  return all;
}

static bool make_body(plastic_rods* r) {
  yw_shape* bunny = make_union(bunny_parts, sizeof bunny_parts / sizeof *bunny_parts, 0.12f);
  r->rods = make_union(rods, sizeof rods / sizeof *rods, 0.0f);
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = bunny;
  part.transform.position = (yw_vec3){0.1f, 0.12f, 0};
  part.velocity = (yw_vec3){0, -14, 0};
  part.material.youngs_modulus = 1.2e6f;
  part.material.poissons_ratio = 0.25f;
  part.material.flow = YW_FLOW_BOX;
  part.material.theta_s = 0.1f;
  part.material.theta_c = 0.75f;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = SPACING;
  def.parts = &part;
  def.num_parts = 1;
  def.params.time_step = STEP;
  void *model = NULL, *state = NULL;
  bool good =
      bunny && r->rods && yw_plastic_model_create(NULL, &def, NULL, 2.0f, &model, NULL) >= 0;
  r->model = model;
  good = good && yw_plastic_method.body_create(model, NULL, &state, &r->particles, NULL) >= 0;
  r->body = state;
  yw_shape_release(bunny);
  const yw_transform pose = YW_TRANSFORM_IDENTITY;
  r->obstacle = (yw_obstacle){.shape = r->rods, .begin = pose, .end = pose, .friction = 0.2f};
  if (good) r->obstacle.bounds = yw_obstacle_bounds(r->rods, pose, pose);
  r->set = (yw_obstacle_set){&r->obstacle, 1, STEP, {0, -9.81f, 0}};
  return good;
}

static bool step(plastic_rods* r, yw_simd simd, yw_tasks* tasks) {
  yw_step_ctx ctx = {.h = STEP,
                     .gravity = r->set.gravity,
                     .simd = yw_simd_resolve(simd),
                     .tasks = tasks,
                     .collide = yw_obstacles_collide,
                     .is_clear = yw_obstacles_clear,
                     .probe = yw_obstacles_probe,
                     .obstacles = &r->set,
                     .friction = 0.2f,
                     .report = &r->report,
                     .timing = true};
  return yw_plastic_method.advance(r->body, &r->particles, &ctx) >= 0;
}

// Particles, then the body.
static bool save(plastic_rods* r) {
  size_t bytes = (size_t)r->particles.count * sizeof(yw_vec4);
  yw_writer counter = {0};
  yw_plastic_method.save(r->body, &counter);
  r->saved_size = counter.size;
  r->saved = malloc(2 * bytes + counter.size);
  if (!r->saved) return false;
  memcpy(r->saved, r->particles.pos, bytes);
  memcpy(r->saved + bytes, r->particles.vel, bytes);
  yw_writer writer = {.data = r->saved + 2 * bytes, .capacity = counter.size};
  yw_plastic_method.save(r->body, &writer);
  return !writer.overflow;
}

static bool restore(plastic_rods* r) {
  size_t bytes = (size_t)r->particles.count * sizeof(yw_vec4);
  memcpy(r->particles.pos, r->saved, bytes);
  memcpy(r->particles.vel, r->saved + bytes, bytes);
  yw_reader reader = {.data = r->saved + 2 * bytes, .size = r->saved_size};
  yw_plastic_method.load(r->body, &reader);
  return !reader.failed;
}

plastic_rods* plastic_rods_create(yw_tasks* tasks) {
  plastic_rods* r = YW_NEW(NULL, plastic_rods);
  if (!r) return NULL;
  bool good = make_body(r);
  for (int i = 0; good && i < STEPS_BEFORE; ++i) good = step(r, YW_SIMD_AUTO, tasks);
  if (good && save(r)) return r;
  plastic_rods_destroy(r);
  return NULL;
}

void plastic_rods_destroy(plastic_rods* r) {
  if (!r) return;
  if (r->body) yw_plastic_method.body_destroy(r->body, &r->particles);
  yw_plastic_model_destroy(r->model);
  yw_shape_release(r->rods);
  free(r->saved);
  yw_mem_free(NULL, r);
}

plastic_rods_times plastic_rods_measure(plastic_rods* r, yw_simd simd, yw_tasks* tasks) {
  plastic_rods_times t = {.ms = INFINITY, .masters = r->particles.count};
  if (!restore(r)) return t;
  for (int k = 0; k < PLASTIC_NUM_TIMES; ++k) r->body->seconds[k] = 0.0;
  double start = bench_seconds(!tasks);
  for (int i = 0; i < STEPS_TIMED; ++i) {
    if (!step(r, simd, tasks)) return t;
    t.iterations += (double)r->body->iterations / STEPS_TIMED;
  }
  t.ms = 1e3 * (bench_seconds(!tasks) - start) / STEPS_TIMED;
  for (int k = 0; k < PLASTIC_NUM_TIMES; ++k) {
    t.phases_ms[k] = 1e3 * r->body->seconds[k] / STEPS_TIMED;
  }
  return t;
}
