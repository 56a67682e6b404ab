// SPDX-License-Identifier: MIT
// A tiny method that tests the method interface: spheres that fly freely and collide with obstacles
// and each other. Every |period| calls of settle, one sphere is added (period > 0) or removed (<
// 0). `ribbon_method` also shows a surface that depends on an orientation and the positions.
#ifndef YW_TESTS_SUPPORT_GRAINS_H
#define YW_TESTS_SUPPORT_GRAINS_H

#include "model/model.h"
#include "support/testing.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/method.h"
#include "yawara/yawara.h"

typedef struct grain_model {
  int32_t count, capacity;
  yw_vec3* rest;
  float radius, mass;
  int32_t period;
} grain_model;

typedef struct grain_state {
  const grain_model* model;
  yw_allocator mem;
  float* radius;
  yw_vec4* old_pos;
  yw_quat turn;
  yw_vec3 spin;
  uint64_t version;
  uint32_t settles;
  int32_t known_count;  // at the last invalidate
} grain_state;

static void grain_model_destroy(void* model) {
  free(((grain_model*)model)->rest);
  free(model);
}

static uint64_t grain_model_hash(const void* model) {
  const grain_model* m = model;
  return yw_hash_bytes(YW_HASH_SEED, m->rest, sizeof(yw_vec3) * (size_t)m->count);
}

static int32_t grain_model_num_particles(const void* model) {
  return ((const grain_model*)model)->count;
}

static yw_status grain_body_create(const void* model, const yw_allocator* mem, void** out,
                                   yw_particles* p, yw_error* error) {
  const grain_model* m = model;
  grain_state* s = YW_NEW(mem, grain_state);
  if (!s || !yw_particles_create(mem, m->capacity, p)) return yw_fail_memory(error, "grains");
  *out = s;
  p->count = m->count;
  *s = (grain_state){.model = m,
                     .mem = *mem,
                     .radius = YW_NEW_ARRAY(mem, float, p->capacity),
                     .old_pos = YW_NEW_ARRAY(mem, yw_vec4, p->capacity),
                     .turn = {0, 0, 0, 1},
                     .version = 1};
  for (int32_t i = 0; i < p->capacity; ++i) s->radius[i] = m->radius;
  for (int32_t i = 0; i < m->count; ++i) {
    p->pos[i] = yw_v4(m->rest[i]);
    p->mass[i] = m->mass;
    p->inv_mass[i] = 1.0f / m->mass;
  }
  return YW_OK;
}

static void grain_body_destroy(void* state, yw_particles* p) {
  grain_state* s = state;
  yw_allocator mem = s->mem;
  yw_mem_free(&mem, s->radius);
  yw_mem_free(&mem, s->old_pos);
  yw_particles_free(&mem, p);
  yw_mem_free(&mem, s);
}

static yw_status grain_advance(void* state, yw_particles* p, const yw_step_ctx* ctx) {
  grain_state* s = state;
  memcpy(s->old_pos, p->pos, sizeof(yw_vec4) * (size_t)p->count);
  for (int32_t i = 0; i < p->count; ++i) {
    if (p->inv_mass[i] == 0.0f) continue;
    p->vel[i] = yw_v4(yw_mad(yw_xyz(p->vel[i]), ctx->h, ctx->gravity));
    p->pos[i] = yw_v4(yw_mad(yw_xyz(p->pos[i]), ctx->h, yw_xyz(p->vel[i])));
  }
  ctx->collide(ctx, p, s->old_pos, s->radius, 0.0f, ctx->h);
  for (int32_t i = 0; i < ctx->num_holds; ++i) {
    const yw_hold* hold = &ctx->holds[i];
    p->pos[hold->particle] = yw_v4(hold->end);
    p->vel[hold->particle] = yw_v4(yw_scale(yw_sub(hold->end, hold->begin), 1.0f / ctx->h));
  }
  return YW_OK;
}

static yw_status grain_settle(void* state, yw_particles* p, const yw_step_ctx* ctx) {
  (void)ctx;
  grain_state* s = state;
  int32_t period = s->model->period;
  ++s->settles;
  if (period > 0 && s->settles % (uint32_t)period == 0 && p->count < s->model->capacity) {
    int32_t i = p->count++;
    p->pos[i] = yw_v4(yw_v3(0, 1.0f + 0.1f * (float)i, 0));
    p->vel[i] = yw_v4(yw_v3(0, 0, 1));
    p->mass[i] = s->model->mass * (float)(i + 1);
    p->inv_mass[i] = 1.0f / p->mass[i];
    ++s->version;
  }
  if (period < 0 && s->settles % (uint32_t)-period == 0 && p->count > 1) {
    int32_t i = --p->count;
    p->pos[i] = p->vel[i] = (yw_vec4){0, 0, 0, 0};
    p->mass[i] = p->inv_mass[i] = 0.0f;
    ++s->version;
  }
  return YW_OK;
}

static void grain_invalidate(void* state, const yw_particles* p) {
  ((grain_state*)state)->known_count = p->count;
}

static yw_contact_geometry grain_contact_geometry(const void* state) {
  const grain_state* s = state;
  return (yw_contact_geometry){.radius = s->radius};
}

static uint64_t grain_topology_version(const void* state) {
  return ((const grain_state*)state)->version;
}

static void grain_save(const void* state, yw_writer* writer) {
  const grain_state* s = state;
  yw_write_u32(writer, s->settles);
  yw_write_u64(writer, s->version);
  yw_write_f32(writer, &s->turn.x, 4);
  yw_write_f32(writer, &s->spin.x, 3);
}

static void grain_load(void* state, yw_reader* reader) {
  grain_state* s = state;
  s->settles = yw_read_u32(reader);
  s->version = yw_read_u64(reader);
  yw_read_f32(reader, &s->turn.x, 4);
  yw_read_f32(reader, &s->spin.x, 3);
}

static void grain_place(void* state, const yw_particles* p, yw_quat rotation, yw_vec3 spin) {
  (void)p;
  grain_state* s = state;
  s->turn = rotation;
  s->spin = spin;
}

static int32_t grain_num_fields(const void* state) {
  (void)state;
  return 2;
}

static yw_field_info grain_field_info(const void* state, int32_t field) {
  (void)state;
  return field == 0 ? (yw_field_info){"number", "", false} : (yw_field_info){"height", "m", false};
}

static void grain_field_values(const void* state, const yw_particles* p, int32_t field,
                               float* out) {
  (void)state;
  for (int32_t i = 0; i < p->count; ++i) out[i] = field == 0 ? (float)i : p->pos[i].y;
}

// Two triangles per pair of neighbours; every particle has two vertices along the rotated x axis.
static yw_status ribbon_model_surface(const void* model, const yw_allocator* mem,
                                      yw_tri_mesh* out) {
  const grain_model* m = model;
  yw_status status = yw_tri_mesh_create(mem, 2 * m->count, 2 * (m->count - 1), out);
  if (status < 0) return status;
  for (int32_t i = 0; i < m->count; ++i) {
    out->positions[2 * i] = yw_add(m->rest[i], yw_v3(m->radius, 0, 0));
    out->positions[2 * i + 1] = yw_sub(m->rest[i], yw_v3(m->radius, 0, 0));
  }
  for (int32_t i = 0; i + 1 < m->count; ++i) {
    int32_t quad[6] = {0, 1, 2, 2, 1, 3};
    for (int k = 0; k < 6; ++k) out->triangles[6 * i + k] = 2 * i + quad[k];
  }
  return YW_OK;
}

static void ribbon_surface_positions(const void* state, const yw_particles* p, yw_vec3* out) {
  const grain_state* s = state;
  yw_vec3 side = yw_rotate(s->turn, yw_v3(s->model->radius, 0, 0));
  for (int32_t i = 0; i < p->count; ++i) {
    out[2 * i] = yw_add(yw_xyz(p->pos[i]), side);
    out[2 * i + 1] = yw_sub(yw_xyz(p->pos[i]), side);
  }
}

#define GRAIN_HOOKS                                                                             \
  .model_destroy = grain_model_destroy, .model_hash = grain_model_hash,                         \
  .model_num_particles = grain_model_num_particles, .body_create = grain_body_create,           \
  .body_destroy = grain_body_destroy, .advance = grain_advance, .invalidate = grain_invalidate, \
  .contact_geometry = grain_contact_geometry, .topology_version = grain_topology_version,       \
  .save = grain_save, .load = grain_load, .place = grain_place, .num_fields = grain_num_fields, \
  .field_info = grain_field_info, .field_values = grain_field_values

static const yw_method grain_method = {.name = "grains", GRAIN_HOOKS, .settle = grain_settle};
static const yw_method ribbon_method = {.name = "ribbon",
                                        GRAIN_HOOKS,
                                        .model_surface = ribbon_model_surface,
                                        .surface_positions = ribbon_surface_positions};

/// The rest positions are copied.
static inline yw_model* make_grains(const yw_method* method, int32_t count, int32_t capacity,
                                    const yw_vec3* rest, float radius, float mass, int32_t period) {
  grain_model* data = malloc(sizeof *data);
  *data = (grain_model){count, capacity, NULL, radius, mass, period};
  data->rest = malloc(sizeof(yw_vec3) * (size_t)(count > 0 ? count : 1));
  memcpy(data->rest, rest, sizeof(yw_vec3) * (size_t)count);
  yw_model* model = NULL;
  yw_error error = {0};
  assert_int_equal(yw_model_create_custom(NULL, method, data, NULL, &model, &error), YW_OK);
  return model;
}

#endif
