// SPDX-License-Identifier: MIT
// A custom method: ropes of balls at fixed distances, after Jakobsen 2001, "Advanced Character
// Physics". One hangs on a nail and falls over a bar; the program prints where it comes to rest.
//
// A method is a table of functions (yawara/extend/method.h) that work on rest data, which bodies
// share, and on the state of a body. The world does the rest: pins, obstacles, contact with other
// bodies (of any method), snapshots, fields.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <yawara/extend/error.h>
#include <yawara/extend/hash.h>
#include <yawara/extend/memory.h>
#include <yawara/extend/method.h>
#include <yawara/yawara.h>

#define SWEEPS 40      // over the links, per substep
#define AIR_DRAG 0.4f  // 1/s

// Rest data -----------------------------------------------------------------------------------

typedef struct rope_model {
  yw_allocator mem;
  int32_t count;
  float length;  // m, of a link
  float radius;  // m, of a ball
  float mass;    // kg, of a ball
  yw_vec3* rest;
} rope_model;

static void model_destroy(void* data) {
  rope_model* model = data;
  yw_allocator mem = model->mem;
  yw_mem_free(&mem, model->rest);
  yw_mem_free(&mem, model);
}

// Covers everything that a step depends on: a snapshot of one rope is not loaded into another.
static uint64_t model_hash(const void* data) {
  const rope_model* model = data;
  const float numbers[3] = {model->length, model->radius, model->mass};
  uint64_t hash = yw_hash_u64(YW_HASH_SEED, (uint64_t)model->count);
  return yw_hash_bytes(hash, numbers, sizeof numbers);
}

static int32_t model_num_particles(const void* data) { return ((const rope_model*)data)->count; }

static const yw_vec3* model_points(const void* data) { return ((const rope_model*)data)->rest; }

// State ---------------------------------------------------------------------------------------

typedef struct rope_body {
  yw_allocator mem;
  const rope_model* model;
  yw_vec4* old_pos;  // at the start of the substep
  float* radius;     // per ball, for contact
} rope_body;

static void body_destroy(void* state, yw_particles* particles) {
  rope_body* body = state;
  yw_allocator mem = body->mem;
  yw_mem_free(&mem, body->old_pos);
  yw_mem_free(&mem, body->radius);
  yw_mem_free(&mem, body);
  yw_particles_free(&mem, particles);
}

static yw_status body_create(const void* data, const yw_allocator* mem, void** state,
                             yw_particles* particles, yw_error* error) {
  const rope_model* model = data;
  *particles = (yw_particles){0};
  *state = NULL;
  rope_body* body = YW_NEW(mem, rope_body);
  if (!body) return yw_fail_memory(error, "a rope");
  *body = (rope_body){.mem = yw_mem_or_default(mem),
                      .model = model,
                      .old_pos = YW_NEW_ARRAY(mem, yw_vec4, model->count),
                      .radius = YW_NEW_ARRAY(mem, float, model->count)};
  if (!body->old_pos || !body->radius || !yw_particles_create(mem, model->count, particles)) {
    body_destroy(body, particles);
    return yw_fail_memory(error, "a rope");
  }
  for (int32_t i = 0; i < model->count; ++i) {
    particles->pos[i] = yw_v4(model->rest[i]);
    particles->mass[i] = model->mass;
    particles->inv_mass[i] = 1.0f / model->mass;
    body->radius[i] = model->radius;
  }
  *state = body;
  return YW_OK;
}

// The step ------------------------------------------------------------------------------------

// Restores the length of a link; the lighter end moves more, held balls (1/m = 0) stay.
static void keep_length(yw_particles* p, int32_t i, float length) {
  yw_vec3 a = yw_xyz(p->pos[i]), b = yw_xyz(p->pos[i + 1]), between = yw_sub(b, a);
  float weight = p->inv_mass[i] + p->inv_mass[i + 1], now = yw_length(between);
  if (weight == 0.0f || now == 0.0f) return;
  yw_vec3 move = yw_scale(between, (now - length) / (now * weight));
  p->pos[i] = yw_v4(yw_mad(a, p->inv_mass[i], move));
  p->pos[i + 1] = yw_v4(yw_mad(b, -p->inv_mass[i + 1], move));
}

static yw_status advance(void* state, yw_particles* p, const yw_step_ctx* ctx) {
  rope_body* body = state;
  float h = ctx->h, keep = 1.0f / (1.0f + AIR_DRAG * h);
  memcpy(body->old_pos, p->pos, sizeof *p->pos * (size_t)p->count);
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 v = yw_scale(yw_mad(yw_xyz(p->vel[i]), h, ctx->gravity), keep);
    if (p->inv_mass[i] > 0.0f) p->pos[i] = yw_v4(yw_mad(yw_xyz(p->pos[i]), h, v));
  }
  for (int32_t i = 0; i < ctx->num_holds; ++i) {  // pins
    p->pos[ctx->holds[i].particle] = yw_v4(ctx->holds[i].end);
  }
  for (int sweep = 0; sweep < SWEEPS; ++sweep) {
    for (int32_t i = 0; i + 1 < p->count; ++i) keep_length(p, i, body->model->length);
  }
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 moved = yw_sub(yw_xyz(p->pos[i]), yw_xyz(body->old_pos[i]));
    p->vel[i] = yw_v4(yw_scale(moved, 1.0f / h));
  }
  ctx->collide(ctx, p, body->old_pos, body->radius, 0.0f, h);  // obstacles, with friction
  return YW_OK;
}

// Only positions and velocities last from step to step, and the world takes care of them.
static void invalidate(void* state, const yw_particles* particles) { (void)state, (void)particles; }
static void save(const void* state, yw_writer* writer) { (void)state, (void)writer; }
static void load(void* state, yw_reader* reader) { (void)state, (void)reader; }

static yw_contact_geometry contact_geometry(const void* state) {
  return (yw_contact_geometry){.radius = ((const rope_body*)state)->radius};
}

static const yw_method rope_method = {.name = "rope",
                                      .model_destroy = model_destroy,
                                      .model_hash = model_hash,
                                      .model_num_particles = model_num_particles,
                                      .model_points = model_points,
                                      .body_create = body_create,
                                      .body_destroy = body_destroy,
                                      .advance = advance,
                                      .invalidate = invalidate,
                                      .contact_geometry = contact_geometry,
                                      .save = save,
                                      .load = load};

// A rope of `count` balls along x, from the origin.
static yw_status rope_create(int32_t count, float length, yw_model** out, yw_error* error) {
  rope_model* model = YW_NEW(NULL, rope_model);
  if (!model) return yw_fail_memory(error, "a rope");
  *model = (rope_model){.count = count, .length = length, .radius = 0.4f * length, .mass = 0.01f};
  model->rest = YW_NEW_ARRAY(NULL, yw_vec3, count);
  if (!model->rest) {
    model_destroy(model);
    return yw_fail_memory(error, "a rope");
  }
  for (int32_t i = 0; i < count; ++i) model->rest[i].x = (float)i * length;
  return yw_model_create_custom(NULL, &rope_method, model, NULL, out, error);
}

// Use ----------------------------------------------------------------------------------------

static int give_up(const char* what, const yw_error* error) {
  fprintf(stderr, "%s: %s\n", what, error->message);
  return 1;
}

int main(void) {
  const int32_t count = 60, first = 0;
  const float length = 0.02f, bar_height = -0.25f;
  yw_error error = {0};
  yw_model* model = NULL;
  if (rope_create(count, length, &model, &error) < 0) return give_up("rope", &error);

  yw_world_def world_def = yw_default_world_def();
  yw_world* world = NULL;
  if (yw_world_create(&world_def, &world) < 0) return 1;
  yw_shape* bar = NULL;
  yw_shape_capsule(NULL, (yw_vec3){0.4f, bar_height, -1}, (yw_vec3){0.4f, bar_height, 1}, 0.05f,
                   &bar);
  yw_obstacle_def bar_def = yw_default_obstacle_def();
  bar_def.shape = bar;
  yw_obstacle_id bar_id;
  if (yw_obstacle_create(world, &bar_def, &bar_id, &error) < 0) return give_up("bar", &error);
  yw_shape_release(bar);

  yw_body_def body_def = yw_default_body_def();
  body_def.model = model;
  yw_body_id rope;
  if (yw_body_create(world, &body_def, &rope, &error) < 0) return give_up("body", &error);
  yw_model_release(model);
  yw_pin_def nail = yw_default_pin_def();
  nail.body = rope;
  nail.vertices = &first;
  nail.num_vertices = 1;
  yw_pin_id nail_id;
  if (yw_pin_create(world, &nail, &nail_id, &error) < 0) return give_up("nail", &error);

  for (int frame = 0; frame < 600; ++frame) {
    if (yw_world_step(world, 1.0f / 60.0f, 4, NULL) < 0) return 1;
  }
  const yw_vec3* x = yw_body_positions(world, rope, NULL);
  float nearest = INFINITY, longest = 0.0f;
  for (int32_t i = 0; i < count; ++i) {
    nearest = fminf(nearest, yw_length(yw_v3(x[i].x - 0.4f, x[i].y - bar_height, 0.0f)));
    if (i > 0) longest = fmaxf(longest, yw_distance(x[i - 1], x[i]));
  }
  printf("end at (%.3f, %.3f) m; longest link %.4f m; %.4f m from the axis of the bar\n",
         (double)x[count - 1].x, (double)x[count - 1].y, (double)longest, (double)nearest);
  yw_world_destroy(world);
  // The rope lies on the bar (radii 0.05 m and 0.008 m), and its links have kept their length.
  return fabsf(nearest - 0.058f) < 0.001f && longest < 1.05f * length ? 0 : 1;
}
