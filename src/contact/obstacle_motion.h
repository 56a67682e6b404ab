// SPDX-License-Identifier: MIT
// An obstacle over the time span of one collide call, for the files that meet it.
#ifndef YW_CONTACT_OBSTACLE_MOTION_H
#define YW_CONTACT_OBSTACLE_MOTION_H

#include "contact/obstacles.h"

typedef struct yw_obstacle_motion {
  const yw_shape* shape;       ///< NULL: a mesh
  const yw_moving_mesh* mesh;  ///< NULL: a shape
  yw_transform first, last;    ///< pose at the two ends of the span
  float begin, end;            ///< 0 to 1, where in the substep the span lies
  bool moves;
  bool in_place;  ///< its own axes are those of the world
  float friction, restitution;
  float span;
  float rest_speed;  ///< m/s
} yw_obstacle_motion;

// Exit speed, m/s, of particles deep inside (created there, or pushed there by other bodies).
#define YW_PUSH_OUT_SPEED 1.0f
// Rounding of a distance, relative to the size of the coordinates.
#define YW_OBSTACLE_ROUNDING 1e-6f

/// Stops or reflects the approaching velocity and applies friction of up to mu times that change.
/// Returns the share of the sliding velocity that is left, and sets *bounces. pressing: see
/// yw_step_ctx; may be NULL.
float yw_obstacle_respond(const yw_obstacle_motion* motion, yw_vec3 surface_velocity,
                          yw_vec3 normal, bool was_free, float* pressing, yw_vec4* velocity,
                          bool* bounces);

/// True when a particle touched a mesh on its way; corrects pos and vel.
bool yw_mesh_collide(const yw_obstacle_motion* motion, float radius, yw_vec4 old_pos,
                     float* pressing, yw_vec4* pos, yw_vec4* vel);

#endif
