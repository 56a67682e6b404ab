// SPDX-License-Identifier: MIT
// Display data of bodies besides their shape: the method's fields and cells, in mesh order.
#include <string.h>

#include "world/world.h"

// What all bodies have, after the fields of their method.
enum { SPEED, VELOCITY_X, VELOCITY_Y, VELOCITY_Z, NUM_COMMON };
static const yw_field_info common_fields[NUM_COMMON] = {
    [SPEED] = {.name = "speed", .unit = "m/s"},
    [VELOCITY_X] = {.name = "vx", .unit = "m/s"},
    [VELOCITY_Y] = {.name = "vy", .unit = "m/s"},
    [VELOCITY_Z] = {.name = "vz", .unit = "m/s"},
};

static int32_t num_method_fields(const yw_body* body) {
  const yw_method* method = body->model->method;
  return method->num_fields ? method->num_fields(body->state) : 0;
}

int32_t yw_body_num_fields(const yw_world* world, yw_body_id id) {
  const yw_body* body = yw_world_find_body(world, id);
  return body ? num_method_fields(body) + NUM_COMMON : 0;
}

yw_field_info yw_body_field_info(const yw_world* world, yw_body_id id, int32_t field) {
  const yw_body* body = yw_world_find_body(world, id);
  if (!body || field < 0 || field >= num_method_fields(body) + NUM_COMMON) {
    return (yw_field_info){0};
  }
  int32_t common = field - num_method_fields(body);
  return common >= 0 ? common_fields[common] : body->model->method->field_info(body->state, field);
}

const char* yw_body_field_meaning(const yw_world* world, yw_body_id id, int32_t field) {
  const yw_body* body = yw_world_find_body(world, id);
  if (!body || field < 0 || field >= num_method_fields(body)) return "";
  const yw_method* method = body->model->method;
  return method->field_meaning ? method->field_meaning(body->state, field) : "";
}

int32_t yw_body_find_field(const yw_world* world, yw_body_id id, const char* name) {
  int32_t count = yw_body_num_fields(world, id);
  for (int32_t i = 0; name && i < count; ++i) {
    if (strcmp(yw_body_field_info(world, id, i).name, name) == 0) return i;
  }
  return -1;
}

// Reorders values from particle order to mesh order.
static yw_status to_mesh_order(const yw_world* world, const yw_body* body, float* values) {
  const int32_t* table = yw_body_vertex_table(body);
  if (!table) return YW_OK;
  int32_t count = body->particles.count;
  float* copy = YW_NEW_ARRAY(&world->mem, float, count);
  if (!copy) return YW_ERR_MEMORY;
  memcpy(copy, values, sizeof(float) * (size_t)count);
  for (int32_t i = 0; i < count; ++i) values[i] = copy[table[i]];
  yw_mem_free(&world->mem, copy);
  return YW_OK;
}

static void common_values(const yw_particles* p, int32_t field, float* out) {
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 v = yw_xyz(p->vel[i]);
    const float values[NUM_COMMON] = {yw_length(v), v.x, v.y, v.z};
    out[i] = values[field];
  }
}

yw_status yw_body_field_values(const yw_world* world, yw_body_id id, int32_t field, float* out,
                               int32_t capacity) {
  const yw_body* body = yw_world_find_body(world, id);
  if (!body || !out || field < 0 || field >= num_method_fields(body) + NUM_COMMON) {
    return YW_ERR_INVALID;
  }
  const yw_particles* p = &body->particles;
  bool per_cell = yw_body_field_info(world, id, field).per_cell;
  int32_t count = per_cell ? yw_body_cells(world, id, NULL, 0) : p->count;
  if (capacity < count) return YW_ERR_INVALID;
  if (field < num_method_fields(body)) {
    yw_order_give(world, (yw_order){.kind = YW_ORDER_FIELD, .number = field, .body = id});
    body->model->method->field_values(body->state, p, field, out);
    yw_order_done(world);
  } else {
    common_values(p, field - num_method_fields(body), out);
  }
  return per_cell ? YW_OK : to_mesh_order(world, body, out);
}

// Converts particle indices to vertex indices.
static bool number_as_mesh(const yw_world* world, const yw_body* body, int32_t* corners,
                           size_t count) {
  const int32_t* table = yw_body_vertex_table(body);
  if (!table) return true;
  int32_t* vertex_of = YW_NEW_ARRAY(&world->mem, int32_t, body->particles.count);
  if (!vertex_of) return false;
  for (int32_t i = 0; i < body->particles.count; ++i) vertex_of[table[i]] = i;
  for (size_t i = 0; i < count; ++i) corners[i] = vertex_of[corners[i]];
  yw_mem_free(&world->mem, vertex_of);
  return true;
}

int32_t yw_body_cells(const yw_world* world, yw_body_id id, int32_t* out, int32_t capacity) {
  const yw_body* body = yw_world_find_body(world, id);
  if (!body) return 0;
  const yw_method* method = body->model->method;
  int32_t count = body->model->rest.num_tets;
  const int32_t* cells = method->cells ? method->cells(body->state, &count) : NULL;
  if (!out || capacity < count) return count;
  const int32_t* from = cells ? cells : body->model->rest.tets;
  size_t corners = 4 * (size_t)count;
  if (corners > 0) memcpy(out, from, sizeof(int32_t) * corners);
  return cells && !number_as_mesh(world, body, out, corners) ? -1 : count;
}

uint64_t yw_body_cells_version(const yw_world* world, yw_body_id id) {
  const yw_body* body = yw_world_find_body(world, id);
  return body && body->model->method->cells ? yw_body_topology(body) + 1 : 0;
}

int32_t yw_body_axes(const yw_world* world, yw_body_id id, yw_vec3* origins, yw_quat* turns,
                     int32_t capacity) {
  const yw_body* body = yw_world_find_body(world, id);
  if (!body || !origins || !turns || capacity < 1 || !body->model->method->axes) return 0;
  return body->model->method->axes(body->state, &body->particles, capacity, origins, turns);
}
