// SPDX-License-Identifier: MIT
// Queries of one obstacle, by its distance.
#ifndef YW_WORLD_OBSTACLE_QUERY_H
#define YW_WORLD_OBSTACLE_QUERY_H

#include "contact/moving_mesh.h"
#include "yawara/shape.h"

/// An obstacle as it is now.
typedef struct yw_obstacle_view {
  const yw_shape* shape;       ///< NULL: a mesh
  const yw_moving_mesh* mesh;  ///< at the end of its motion
  yw_transform pose;
} yw_obstacle_view;

/// A place on an obstacle.
typedef struct yw_obstacle_find {
  float distance;  ///< m; casts: of the way until they touch; INFINITY: none
  yw_vec3 point, normal;
  bool inside;
} yw_obstacle_find;

/// The nearest surface; distance is negative inside.
yw_obstacle_find yw_obstacle_nearest(const yw_obstacle_view* o, yw_vec3 p);
/// First touch of a ball on its way.
yw_obstacle_find yw_obstacle_cast(const yw_obstacle_view* o, yw_vec3 from, yw_vec3 way,
                                  float radius);
/// The surface in the box that is nearest to its centre, as far as it was found.
yw_obstacle_find yw_obstacle_box(const yw_obstacle_view* o, yw_vec3 center, yw_vec3 half,
                                 yw_quat rotation);

#endif
