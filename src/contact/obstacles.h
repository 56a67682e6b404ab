// SPDX-License-Identifier: MIT
// Contact of particles with obstacles: shapes that stand still or follow a path, and meshes that
// deform on their own, unaffected by what they hit. Implements collide and is_clear of a step
// context (method.h).
#ifndef YW_CONTACT_OBSTACLES_H
#define YW_CONTACT_OBSTACLES_H

#include "contact/moving_mesh.h"
#include "yawara/extend/method.h"
#include "yawara/shape.h"

/// One per live obstacle, in order of creation.
typedef struct yw_obstacle {
  const yw_shape* shape;       ///< NULL: a mesh
  const yw_moving_mesh* mesh;  ///< NULL: a shape
  yw_transform begin, end;     ///< pose at both ends of the substep; scale may differ from 1
  yw_aabb bounds;              ///< world box of the whole motion; infinite for planes
  float friction, restitution;
  bool sticky;     ///< nothing slides on it; what meets it inside a solve does not leave it either
  int32_t number;  ///< for the caller
} yw_obstacle;

typedef struct yw_obstacle_set {
  const yw_obstacle* items;
  int32_t count;
  float h;          ///< s, length of the substep from begin to end of the items
  yw_vec3 gravity;  ///< m/s^2
} yw_obstacle_set;

/// World box of a shape that moves from begin to end, including the arcs swept by rotation.
/// Infinite for unbounded shapes.
yw_aabb yw_obstacle_bounds(const yw_shape* shape, yw_transform begin, yw_transform end);
/// The same for a mesh.
yw_aabb yw_obstacle_mesh_bounds(const yw_moving_mesh* mesh, yw_transform begin, yw_transform end);
/// True when it moves, or deforms, in the substep.
bool yw_obstacle_moves(const yw_obstacle* obstacle);

// For ctx->collide, ctx->probe, ctx->is_clear and ctx->obstacles_in; ctx->obstacles is a
// yw_obstacle_set.

/// Moves particles that went from old_pos to particles->pos during [begin, begin + span] out of
/// every obstacle and changes their velocities. Nothing passes through an obstacle, however thin or
/// fast. Held particles do not move. Adds touching particles to ctx->report->obstacle_contacts.
/// radius may be NULL (points).
void yw_obstacles_collide(const yw_step_ctx* ctx, yw_particles* particles, const yw_vec4* old_pos,
                          const float* radius, float begin, float span);
/// See yw_step_ctx.probe. Points have no radius and no path.
void yw_obstacles_probe(const yw_step_ctx* ctx, int32_t count, const yw_vec4* points, float at,
                        yw_vec4* normal, yw_vec4* velocity);
/// True when nothing inside the box can touch an obstacle during the substep.
bool yw_obstacles_clear(const yw_step_ctx* ctx, yw_aabb box);
bool yw_obstacle_is_clear(const yw_obstacle* obstacle, yw_aabb box);

/// See yw_step_ctx.obstacles_in.
uint64_t yw_obstacles_in(const yw_step_ctx* ctx, yw_aabb box, bool* moves);

/// An obstacle at the end of the substep, seen from a point.
typedef struct yw_obstacle_near {
  float distance;    ///< m, to its surface, negative inside
  yw_vec3 normal;    ///< away from it
  yw_vec3 velocity;  ///< m/s, of its material at the point
} yw_obstacle_near;
yw_obstacle_near yw_obstacle_seen_from(const yw_obstacle_set* set, int32_t obstacle, yw_vec3 p);
/// The same if it is no farther away than `most`, m; otherwise false, and large meshes have been
/// looked at near the point alone.
bool yw_obstacle_seen_within(const yw_obstacle_set* set, int32_t obstacle, yw_vec3 p, float most,
                             yw_obstacle_near* out);

#endif
