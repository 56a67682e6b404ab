// SPDX-License-Identifier: MIT
// Obstacles of the world: shape, placement and motion.
#include <stdio.h>

#include "geometry/shape.h"
#include "world/setup.h"
#include "world/world.h"
#include "yawara/extend/error.h"

yw_obstacle_def yw_default_obstacle_def(void) {
  return (yw_obstacle_def){.transform = {{0, 0, 0}, {0, 0, 0, 1}, 1.0f},
                           .friction = 0.4f,
                           .groups = 1,
                           .mask = UINT32_MAX};
}

static yw_status check_def(const yw_obstacle_def* def, yw_error* error) {
  const char* name = def->name ? def->name : "obstacle";
  const yw_transform* t = &def->transform;
  yw_quat q = t->rotation;
  float norm = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
  if (!yw_is_finite3(t->position) || !isfinite(norm) || !(norm > 1e-12f) || !(t->scale > 0.0f) ||
      !isfinite(t->scale)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "%s: position or rotation is not finite, or scale is not above 0", name);
  }
  if (!(def->friction >= 0.0f) || !isfinite(def->friction)) {
    return yw_fail(error, YW_ERR_INVALID, "%s: friction is %g, but must be 0 or more", name,
                   (double)def->friction);
  }
  if (!(def->restitution >= 0.0f && def->restitution <= 1.0f)) {
    return yw_fail(error, YW_ERR_INVALID, "%s: restitution is %g, but must be between 0 and 1",
                   name, (double)def->restitution);
  }
  return yw_path_check(&def->path, name, error);
}

yw_status yw_obstacle_create(yw_world* world, const yw_obstacle_def* def, yw_obstacle_id* out,
                             yw_error* error) {
  yw_error_clear(error);
  if (!world || !def || !out) return yw_fail(error, YW_ERR_INVALID, "world, def or out is NULL");
  *out = (yw_obstacle_id){0};
  if (!def->shape) {
    return yw_fail(error, YW_ERR_INVALID, "%s: needs a shape", def->name ? def->name : "obstacle");
  }
  return yw_world_add_obstacle(world, def, NULL, out, error);
}

yw_status yw_world_add_obstacle(yw_world* world, const yw_obstacle_def* def, yw_animated_mesh* mesh,
                                yw_obstacle_id* out, yw_error* error) {
  yw_status status = check_def(def, error);
  if (status < 0) return status;

  yw_path path = {0};
  int32_t slot = YW_SLOT_FREE(&world->mem, &world->obstacles);
  if (slot < 0 || !YW_LIST_RESERVE(&world->mem, &world->obstacle_poses, world->obstacles.count) ||
      !yw_path_copy(&world->mem, &def->path, &path)) {
    return yw_fail_memory(error, "an obstacle");
  }
  yw_world_obstacle* obstacle = &world->obstacles.items[slot];
  *obstacle = (yw_world_obstacle){.generation = obstacle->generation + 1,
                                  .shape = mesh ? NULL : yw_shape_retain(def->shape),
                                  .mesh = mesh,
                                  .shape_hash = mesh ? mesh->hash : yw_shape_hash(def->shape),
                                  .transform = def->transform,
                                  .path = path,
                                  .friction = def->friction,
                                  .restitution = def->restitution,
                                  .sticky = def->sticky,
                                  .groups = def->groups,
                                  .mask = def->mask};
  obstacle->transform.rotation = yw_quat_normalize(def->transform.rotation);
  if (!yw_world_obstacle_add_surface(world, obstacle)) {
    obstacle->mesh = NULL;
    yw_world_obstacle_release(world, obstacle);
    ++obstacle->generation;
    return yw_fail_memory(error, "an obstacle");
  }
  snprintf(obstacle->name, sizeof obstacle->name, "%s", def->name ? def->name : "obstacle");
  yw_world_wake_all(world);
  *out = (yw_obstacle_id){(uint32_t)slot + 1, obstacle->generation};
  return YW_OK;
}

bool yw_world_obstacle_add_surface(yw_world* world, yw_world_obstacle* o) {
  if (!world->surfaces) return true;
  const yw_moving_mesh* mesh = o->mesh ? &o->mesh->mesh : NULL;
  return yw_obstacle_surface_create(&world->mem, o->shape, mesh, &o->surface) >= 0;
}

void yw_world_obstacle_release(yw_world* world, yw_world_obstacle* obstacle) {
  yw_shape_release(obstacle->shape);
  yw_animated_mesh_release(&world->mem, obstacle->mesh);
  yw_obstacle_surface_destroy(&world->mem, obstacle->surface);
  yw_path_free(&world->mem, &obstacle->path);
  *obstacle = (yw_world_obstacle){.generation = obstacle->generation};
}

static yw_world_obstacle* find_obstacle(const yw_world* world, yw_obstacle_id id) {
  return world ? YW_SLOT_FIND(&world->obstacles, id) : NULL;
}

yw_status yw_obstacle_destroy(yw_world* world, yw_obstacle_id id) {
  yw_world_obstacle* obstacle = find_obstacle(world, id);
  if (!obstacle) return YW_ERR_INVALID;
  yw_setup_keep_obstacle(world, obstacle);
  yw_world_drop_obstacle_tracks(world, id.index1 - 1);
  yw_world_obstacle_release(world, obstacle);
  ++obstacle->generation;
  yw_world_wake_all(world);
  return YW_OK;
}

const char* yw_obstacle_name(const yw_world* world, yw_obstacle_id id) {
  const yw_world_obstacle* obstacle = find_obstacle(world, id);
  return obstacle ? obstacle->name : NULL;
}

yw_transform yw_obstacle_pose_at(const yw_world_obstacle* obstacle, double time) {
  if (obstacle->by_hand) return obstacle->hand_begin;
  yw_motion motion = yw_path_at(&obstacle->path, time);
  yw_transform pose = obstacle->transform;
  pose.position = yw_motion_apply(motion, obstacle->path.pivot, pose.position);
  pose.rotation = yw_quat_mul(motion.rotation, pose.rotation);
  return pose;
}

yw_status yw_obstacle_pose(const yw_world* world, yw_obstacle_id id, double time,
                           yw_transform* out) {
  const yw_world_obstacle* obstacle = find_obstacle(world, id);
  if (!obstacle || !out || !isfinite(time)) return YW_ERR_INVALID;
  *out = yw_obstacle_pose_at(obstacle, time);
  return YW_OK;
}
