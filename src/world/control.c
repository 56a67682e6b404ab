// SPDX-License-Identifier: MIT
// What a caller changes while the world runs: gravity, surfaces, obstacles by hand, teleports.
#include "math/small/turn.h"
#include "world/world.h"

static bool is_rotation(yw_quat q) {
  float norm = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
  return norm > 1e-12f && isfinite(norm);
}

static bool is_surface(float friction, float restitution) {
  return friction >= 0.0f && isfinite(friction) && restitution >= 0.0f && restitution <= 1.0f;
}

yw_status yw_world_set_gravity(yw_world* world, yw_vec3 gravity) {
  if (!world || !yw_is_finite3(gravity)) return YW_ERR_INVALID;
  world->gravity = world->built_gravity = gravity;
  yw_world_wake_all(world);
  return YW_OK;
}

yw_vec3 yw_world_gravity(const yw_world* world) {
  return world ? world->gravity : (yw_vec3){0, 0, 0};
}

// Bodies ------------------------------------------------------------------------------------------

bool yw_body_is_diverged(const yw_world* world, yw_body_id id) {
  const yw_body* body = yw_world_find_body(world, id);
  return body && body->diverged;
}

yw_status yw_body_set_user(yw_world* world, yw_body_id id, void* user) {
  yw_body* body = yw_world_find_body(world, id);
  if (!body) return YW_ERR_INVALID;
  body->user = user;
  return YW_OK;
}

void* yw_body_user(const yw_world* world, yw_body_id id) {
  const yw_body* body = yw_world_find_body(world, id);
  return body ? body->user : NULL;
}

yw_status yw_body_set_surface(yw_world* world, yw_body_id id, float friction, float restitution) {
  yw_body* body = yw_world_find_body(world, id);
  if (!body || !is_surface(friction, restitution)) return YW_ERR_INVALID;
  body->friction = body->built_friction = friction;
  body->restitution = restitution;
  yw_world_wake_all(world);
  return YW_OK;
}

// A pin's points and its way move along: pivot -> T pivot, and its motion in turned axes.
static void teleport_pin(yw_pin* pin, yw_motion by, yw_vec3 pivot) {
  yw_quat back = yw_quat_conjugate(by.rotation);
  for (int32_t i = 0; i < pin->num_particles; ++i) {
    pin->placed[i] = yw_motion_apply(by, pivot, pin->placed[i]);
  }
  pin->path.pivot = yw_motion_apply(by, pivot, pin->path.pivot);
  yw_key* keys = (yw_key*)pin->path.keys;
  for (int32_t i = 0; i < pin->path.num_keys; ++i) {
    keys[i].offset = yw_rotate(by.rotation, keys[i].offset);
    keys[i].rotation = yw_quat_mul(yw_quat_mul(by.rotation, keys[i].rotation), back);
  }
  yw_motion* hands[2] = {&pin->hand_begin, &pin->hand_end};
  for (int k = 0; k < 2; ++k) {
    hands[k]->offset = yw_rotate(by.rotation, hands[k]->offset);
    hands[k]->rotation = yw_quat_mul(yw_quat_mul(by.rotation, hands[k]->rotation), back);
  }
}

yw_status yw_body_teleport(yw_world* world, yw_body_id id, yw_vec3 pivot, yw_quat rotation,
                           yw_vec3 offset) {
  yw_body* body = yw_world_find_body(world, id);
  if (!body || !yw_is_finite3(pivot) || !yw_is_finite3(offset) || !is_rotation(rotation)) {
    return YW_ERR_INVALID;
  }
  const yw_method* method = body->model->method;
  yw_motion by = {offset, yw_quat_normalize(rotation)};
  bool turns = by.rotation.x != 0.0f || by.rotation.y != 0.0f || by.rotation.z != 0.0f;
  if (turns && !method->turn && method->place) return YW_ERR_INVALID;
  yw_particles* p = &body->particles;
  for (int32_t i = 0; i < p->count; ++i) {
    p->pos[i] = yw_v4(yw_motion_apply(by, pivot, yw_xyz(p->pos[i])));
    p->vel[i] = yw_v4(yw_rotate(by.rotation, yw_xyz(p->vel[i])));
  }
  if (turns && method->turn) method->turn(body->state, by.rotation);
  for (int32_t i = 0; i < world->pins.count; ++i) {
    yw_pin* pin = &world->pins.items[i];
    if ((pin->generation & 1) && pin->body == id.index1 - 1) teleport_pin(pin, by, pivot);
  }
  method->invalidate(body->state, p);
  body->is_placed = true;
  yw_body_remember(world, body);
  yw_world_wake_all(world);
  yw_body_show(world, body);
  return YW_OK;
}

// Obstacles ---------------------------------------------------------------------------------------

static yw_world_obstacle* find_obstacle(const yw_world* world, yw_obstacle_id id) {
  return world ? YW_SLOT_FIND(&world->obstacles, id) : NULL;
}

yw_status yw_obstacle_set_user(yw_world* world, yw_obstacle_id id, void* user) {
  yw_world_obstacle* obstacle = find_obstacle(world, id);
  if (!obstacle) return YW_ERR_INVALID;
  obstacle->user = user;
  return YW_OK;
}

void* yw_obstacle_user(const yw_world* world, yw_obstacle_id id) {
  const yw_world_obstacle* obstacle = find_obstacle(world, id);
  return obstacle ? obstacle->user : NULL;
}

yw_status yw_obstacle_set_surface(yw_world* world, yw_obstacle_id id, float friction,
                                  float restitution) {
  yw_world_obstacle* obstacle = find_obstacle(world, id);
  if (!obstacle || !is_surface(friction, restitution)) return YW_ERR_INVALID;
  obstacle->friction = friction;
  obstacle->restitution = restitution;
  yw_world_wake_all(world);
  return YW_OK;
}

// Takes the obstacle off its path, where it is now.
static void take_by_hand(const yw_world* world, yw_world_obstacle* obstacle) {
  if (obstacle->by_hand) return;
  obstacle->hand_begin = obstacle->hand_end = yw_obstacle_pose_at(obstacle, world->time);
  obstacle->by_hand = true;
}

yw_status yw_obstacle_move(yw_world* world, yw_obstacle_id id, yw_vec3 position, yw_quat rotation) {
  yw_world_obstacle* obstacle = find_obstacle(world, id);
  if (!obstacle || !yw_is_finite3(position) || !is_rotation(rotation)) return YW_ERR_INVALID;
  take_by_hand(world, obstacle);
  obstacle->velocity = obstacle->spin = yw_v3(0, 0, 0);
  obstacle->hand_end.position = position;
  obstacle->hand_end.rotation = yw_quat_normalize(rotation);
  return YW_OK;
}

yw_status yw_obstacle_place(yw_world* world, yw_obstacle_id id, yw_vec3 position,
                            yw_quat rotation) {
  yw_status status = yw_obstacle_move(world, id, position, rotation);
  if (status < 0) return status;
  yw_world_obstacle* obstacle = find_obstacle(world, id);
  obstacle->hand_begin = obstacle->hand_end;
  yw_world_wake_all(world);
  return YW_OK;
}

yw_status yw_obstacle_set_velocity(yw_world* world, yw_obstacle_id id, yw_vec3 velocity,
                                   yw_vec3 angular_velocity) {
  yw_world_obstacle* obstacle = find_obstacle(world, id);
  if (!obstacle || !yw_is_finite3(velocity) || !yw_is_finite3(angular_velocity)) {
    return YW_ERR_INVALID;
  }
  take_by_hand(world, obstacle);
  obstacle->velocity = velocity;
  obstacle->spin = angular_velocity;
  return YW_OK;
}

void yw_obstacles_begin_step(yw_world* world, float dt) {
  for (int32_t i = 0; i < world->obstacles.count; ++i) {
    yw_world_obstacle* o = &world->obstacles.items[i];
    yw_vec3 v = o->velocity, w = o->spin;
    bool drifts = yw_length2(v) > 0.0f || yw_length2(w) > 0.0f;
    if (!(o->generation & 1) || !o->by_hand || !drifts) continue;
    const double turn[3] = {(double)(w.x * dt), (double)(w.y * dt), (double)(w.z * dt)};
    yw_turn by = yw_turn_exp(turn);
    yw_quat q = {(float)by.x, (float)by.y, (float)by.z, (float)by.w};
    o->hand_end.position = yw_mad(o->hand_begin.position, dt, v);
    o->hand_end.rotation = yw_quat_normalize(yw_quat_mul(q, o->hand_begin.rotation));
  }
}

void yw_obstacles_end_step(yw_world* world) {
  for (int32_t i = 0; i < world->obstacles.count; ++i) {
    yw_world_obstacle* o = &world->obstacles.items[i];
    if (o->by_hand) o->hand_begin = o->hand_end;
  }
}
