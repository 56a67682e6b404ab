// SPDX-License-Identifier: MIT
// The shown surface of a body, kept apart from the other bodies and from obstacles.
#include "world/world.h"
#include "yawara/extend/shown.h"

/// What is shown of all bodies that `body` can touch. Bodies without walls need their vertices,
/// which stand one after the other in `vertices`.
typedef struct surroundings {
  yw_shown_body* bodies;
  yw_shown_obstacle* obstacles;
  yw_vec3* vertices;
  int32_t num_bodies, num_obstacles;
} surroundings;

static yw_status move_surface(const yw_body* body, yw_vec3* out) {
  const yw_model* model = body->model;
  if (!model->own_surface) return yw_model_surface_positions(model, body->shown_positions, out);
  model->method->surface_positions(body->state, &body->particles, out);
  return YW_OK;
}

static yw_shown_body describe(const yw_body* body, yw_vec3* vertices) {
  const yw_model* model = body->model;
  return (yw_shown_body){.num_vertices = model->surface.num_vertices,
                         .vertices = vertices,
                         .num_triangles = model->surface.num_triangles,
                         .triangles = model->surface.triangles,
                         .walls = model->walls,
                         .num_walls = model->num_walls,
                         .positions = body->shown_positions,
                         .num_positions = model->rest.num_vertices};
}

static bool touches(const yw_body* body) { return body->active && body->body_contact; }

static bool make_room(const yw_world* world, surroundings* s) {
  size_t vertices = 0;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    if (touches(body) && !body->model->walls) vertices += (size_t)body->model->surface.num_vertices;
  }
  s->bodies = YW_NEW_ARRAY(NULL, yw_shown_body, world->body_order.count + 1);
  s->obstacles = YW_NEW_ARRAY(NULL, yw_shown_obstacle, world->obstacles.count);
  s->vertices = YW_NEW_ARRAY(NULL, yw_vec3, vertices);
  return s->bodies && s->obstacles && s->vertices;
}

// The body itself is number 0.
static yw_status look_around(const yw_world* world, const yw_body* own, surroundings* s) {
  yw_status status = YW_OK;
  yw_vec3* next = s->vertices;
  for (int32_t i = 0; i < world->body_order.count && status >= 0; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    if (body == own || !touches(body) || !touches(own)) continue;
    yw_shown_body shown = describe(body, NULL);
    if (shown.num_triangles == 0) continue;
    if (!shown.walls) {
      status = move_surface(body, next);
      shown.vertices = next;
      next += shown.num_vertices;
    }
    s->bodies[s->num_bodies++] = shown;
  }
  for (int32_t i = 0; i < world->obstacles.count; ++i) {
    const yw_world_obstacle* obstacle = &world->obstacles.items[i];
    // Meshes have no inside to be kept out of.
    if (obstacle->generation % 2 == 0 || obstacle->mesh) continue;
    yw_transform pose = yw_obstacle_pose_at(obstacle, world->time);
    s->obstacles[s->num_obstacles++] = (yw_shown_obstacle){obstacle->shape, pose};
  }
  return status;
}

static yw_status keep_apart(const yw_world* world, const yw_body* body, yw_vec3* out) {
  surroundings s = {0};
  yw_status status = make_room(world, &s) ? YW_OK : YW_ERR_MEMORY;
  if (status >= 0) {
    s.bodies[s.num_bodies++] = describe(body, out);
    status = look_around(world, body, &s);
  }
  yw_shown_scene scene = {s.num_bodies, s.num_obstacles, s.bodies, s.obstacles};
  if (status >= 0) status = yw_shown_keep_apart(&scene, 0);
  yw_mem_free(NULL, s.bodies);
  yw_mem_free(NULL, s.obstacles);
  yw_mem_free(NULL, s.vertices);
  return status;
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
  if (status < 0 || !body->model->walls || !body->active) return status;
  return keep_apart(world, body, out);
}
