// SPDX-License-Identifier: MIT
// The shown surface of a body, kept apart from the other bodies and from obstacles. The first call
// after a change measures all bodies, under a lock; the others only look at what is near.
#include "world/shown_surface.h"

#include <pthread.h>

#include "world/world.h"

struct yw_shown_surfaces {
  yw_allocator mem;
  pthread_mutex_t lock;
  uint64_t fitted;                       // `changes` of the world when bodies were measured
  YW_LIST(yw_shown_entry) entries;       // bodies that touch others
  YW_LIST(yw_vec3) vertices;             // of bodies without walls, one after the other
  YW_LIST(yw_shown_obstacle) obstacles;  // of one call
  yw_shown_space space;
};

yw_shown_surfaces* yw_shown_surfaces_create(const yw_allocator* mem) {
  yw_shown_surfaces* s = YW_NEW(mem, yw_shown_surfaces);
  if (!s) return NULL;
  s->mem = *mem;
  s->fitted = UINT64_MAX;
  pthread_mutex_init(&s->lock, NULL);
  return s;
}

void yw_shown_surfaces_destroy(yw_shown_surfaces* s) {
  if (!s) return;
  yw_allocator mem = s->mem;
  yw_shown_space_free(&s->space);
  YW_LIST_FREE(&mem, &s->entries);
  YW_LIST_FREE(&mem, &s->vertices);
  YW_LIST_FREE(&mem, &s->obstacles);
  pthread_mutex_destroy(&s->lock);
  yw_mem_free(&mem, s);
}

static yw_status move_surface(const yw_body* body, yw_vec3* out) {
  const yw_model* model = body->model;
  if (!model->own_surface) return yw_model_surface_positions(model, body->shown_positions, out);
  model->method->surface_positions(body->state, &body->particles, out);
  return YW_OK;
}

static yw_shown_entry describe(const yw_body* body, yw_vec3* vertices) {
  const yw_model* model = body->model;
  return (yw_shown_entry){.shown = {.num_vertices = model->surface.num_vertices,
                                    .vertices = vertices,
                                    .num_triangles = model->surface.num_triangles,
                                    .triangles = model->surface.triangles,
                                    .walls = model->walls,
                                    .num_walls = model->num_walls,
                                    .positions = body->shown_positions,
                                    .num_positions = model->rest.num_vertices},
                          .rest_vertices = model->surface.positions,
                          .rest_positions = model->rest.positions,
                          .wall = body->shown_wall};
}

// Surfaces that matter may leave behind keep nothing out.
static bool touches(const yw_body* body) {
  return body->active && body->body_contact && body->model->surface.num_triangles > 0 &&
         !body->model->method->surface_parted;
}

static bool make_room(const yw_world* world, yw_shown_surfaces* s) {
  int64_t vertices = 0;
  s->entries.count = s->vertices.count = 0;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    if (touches(body) && !body->model->walls) vertices += body->model->surface.num_vertices;
  }
  return vertices <= INT32_MAX && YW_LIST_RESERVE(&s->mem, &s->vertices, (int32_t)vertices) &&
         YW_LIST_RESERVE(&s->mem, &s->entries, world->body_order.count);
}

// All bodies as they are now.
static yw_status measure(const yw_world* world, yw_shown_surfaces* s) {
  yw_shown_space_free(&s->space);
  yw_status status = make_room(world, s) ? YW_OK : YW_ERR_MEMORY;
  for (int32_t i = 0; i < world->body_order.count && status >= 0; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    if (!touches(body)) continue;
    yw_vec3* vertices = NULL;
    if (!body->model->walls) {
      vertices = s->vertices.items + s->vertices.count;
      s->vertices.count += body->model->surface.num_vertices;
      status = move_surface(body, vertices);
    }
    s->entries.items[s->entries.count++] = describe(body, vertices);
  }
  if (status >= 0) {
    status = yw_shown_space_create(&s->mem, s->entries.count, s->entries.items, &s->space);
  }
  if (status >= 0) s->fitted = world->changes;
  return status;
}

static bool find_obstacles(const yw_world* world, yw_shown_surfaces* s) {
  s->obstacles.count = 0;
  if (!YW_LIST_RESERVE(&s->mem, &s->obstacles, world->obstacles.count)) return false;
  for (int32_t i = 0; i < world->obstacles.count; ++i) {
    const yw_world_obstacle* obstacle = &world->obstacles.items[i];
    // Meshes have no inside to be kept out of.
    if (obstacle->generation % 2 == 0 || obstacle->mesh) continue;
    yw_transform pose = yw_obstacle_pose_at(obstacle, world->time);
    s->obstacles.items[s->obstacles.count++] = (yw_shown_obstacle){obstacle->shape, pose};
  }
  return true;
}

static yw_status keep_apart(const yw_world* world, const yw_body* body, yw_vec3* out) {
  yw_shown_surfaces* s = world->shown_surfaces;
  pthread_mutex_lock(&s->lock);
  yw_status status = YW_OK;
  if (touches(body) && s->fitted != world->changes) status = measure(world, s);
  if (status >= 0 && !find_obstacles(world, s)) status = YW_ERR_MEMORY;
  if (status >= 0) {
    yw_shown_entry own = describe(body, out);
    status = yw_shown_space_move(&s->mem, touches(body) ? &s->space : NULL, &own,
                                 s->obstacles.count, s->obstacles.items, world->tasks);
  }
  pthread_mutex_unlock(&s->lock);
  return status;
}

// A surface that follows the triangles of a body without tets. Others are not kept out of it.
static yw_status keep_from_obstacles(const yw_world* world, const yw_body* body, yw_vec3* out) {
  const yw_model* model = body->model;
  yw_shown_surfaces* s = world->shown_surfaces;
  yw_shown_wall wall = {0};
  yw_shown_entry own = describe(body, out);
  int32_t corners;
  own.shown.walls = yw_model_elements(model, &corners, &own.shown.num_walls);
  own.rest_positions = yw_model_points(model, &own.shown.num_positions);
  own.wall = &wall;
  if (corners != 3 || !own.rest_positions) return YW_OK;
  pthread_mutex_lock(&s->lock);
  yw_status status = find_obstacles(world, s) ? YW_OK : YW_ERR_MEMORY;
  if (status >= 0) {
    status = yw_shown_space_move(&s->mem, NULL, &own, s->obstacles.count, s->obstacles.items,
                                 world->tasks);
  }
  yw_shown_wall_free(&s->mem, &wall);
  pthread_mutex_unlock(&s->lock);
  return status;
}

// Particles stay outside of obstacles, but a surface that follows them may enter.
static void push_out(const yw_world* world, int32_t count, yw_vec3* out) {
  for (int32_t k = 0; k < world->obstacles.count; ++k) {
    const yw_world_obstacle* obstacle = &world->obstacles.items[k];
    if (obstacle->generation % 2 == 0 || obstacle->mesh) continue;
    yw_transform pose = yw_obstacle_pose_at(obstacle, world->time);
    for (int32_t i = 0; i < count; ++i) {
      yw_vec3 normal;
      float depth =
          -yw_shape_distance_normal(obstacle->shape, yw_transform_point_inv(pose, out[i]), &normal);
      if (!(depth > 0.0f) || !isfinite(depth)) continue;
      out[i] = yw_mad(out[i], pose.scale * depth, yw_rotate(pose.rotation, normal));
    }
  }
}

int32_t yw_body_parted(const yw_world* world, yw_body_id id, float* out, int32_t capacity) {
  const yw_body* body = yw_world_find_body(world, id);
  if (!body || !out || capacity < body->particles.count || !body->model->own_surface) return 0;
  const yw_method* method = body->model->method;
  if (!method->surface_parted || !body->active) return 0;
  return method->surface_parted(body->state, &body->particles, out);
}

bool yw_body_has_contact(const yw_world* world, yw_body_id id) {
  const yw_body* body = yw_world_find_body(world, id);
  return body && body->body_contact;
}

yw_status yw_body_surface_positions(const yw_world* world, yw_body_id id, yw_vec3* out,
                                    int32_t capacity) {
  const yw_body* body = yw_world_find_body(world, id);
  if (!body || !out || capacity < body->model->surface.num_vertices) return YW_ERR_INVALID;
  yw_status status = move_surface(body, out);
  if (status < 0 || !body->active) return status;
  if (body->model->walls) return keep_apart(world, body, out);
  const yw_method* method = body->model->method;
  if (method->surface_parted) push_out(world, body->model->surface.num_vertices, out);
  bool strays = body->model->own_surface && method->surface_strays;
  if (!strays || !method->surface_strays(body->model->data)) return YW_OK;
  return keep_from_obstacles(world, body, out);
}

void yw_body_surface_range(const yw_world* world, const yw_body* body, int32_t first, int32_t count,
                           yw_vec3* out) {
  body->model->method->surface_range(body->state, &body->particles, first, count, out);
  if (body->active) push_out(world, count, out);
}
