// SPDX-License-Identifier: MIT
// Obstacles that deform: animated triangle meshes, e.g. a character, a hand or a conveyor belt.
#ifndef YAWARA_MESH_OBSTACLE_H
#define YAWARA_MESH_OBSTACLE_H

#include "mesh.h"
#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A mesh is two-sided and has a thickness: what is on one side of a triangle stays there, so that
/// holes, and triangles that cross each other, do not matter. Nothing is inside of it.
typedef struct yw_mesh_obstacle_def {
  /// Its shape must be NULL. Transform and path move the mesh as a whole, on top of the animation.
  yw_obstacle_def obstacle;
  const int32_t* triangles;  ///< 3 per triangle, numbers of points; copied
  int32_t num_triangles;     ///< >= 1
  /// Points in the axes of the obstacle; copied. Between frames they have the velocity at which the
  /// animation moves them.
  yw_mesh_animation animation;
  float thickness;  ///< m, >= 0; bodies stay half of it away. 0 (default): 5 % of the mean edge
} yw_mesh_obstacle_def;
/// One frame per 1/24 s.
YW_API yw_mesh_obstacle_def yw_default_mesh_obstacle_def(void);

/// Creates an obstacle as yw_obstacle_create does. YW_ERR_INVALID, with a message: no triangles or
/// points, a number out of range, or a value that is not finite.
YW_API yw_status yw_mesh_obstacle_create(yw_world* world, const yw_mesh_obstacle_def* def,
                                         yw_obstacle_id* out, yw_error* error);
/// Mesh and animation of a mesh obstacle, as views into the world that are valid until it is
/// destroyed. *triangles: 3 per triangle, not in the order in which they were given. Returns their
/// number; 0 for shapes and dead ids.
YW_API int32_t yw_obstacle_mesh(const yw_world* world, yw_obstacle_id id,
                                yw_mesh_animation* animation, const int32_t** triangles);
/// Where the points are in the world at a time, s; those of an obstacle that was taken off its path
/// move with its current pose. `out` has room for all of them.
YW_API yw_status yw_obstacle_points(const yw_world* world, yw_obstacle_id id, double time,
                                    yw_vec3* out);

#ifdef __cplusplus
}
#endif
#endif
