// SPDX-License-Identifier: MIT
// Keeps the shown surfaces of bodies apart. Contact sees the boundary of the tets; the smooth
// surface that is shown may reach beyond it, into another body or an obstacle.
#ifndef YW_EXTEND_SHOWN_H
#define YW_EXTEND_SHOWN_H

#include "../base.h"
#include "../shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What is shown of a body.
typedef struct yw_shown_body {
  int32_t num_vertices, num_triangles;
  yw_vec3* vertices;         ///< m; moved if there are walls
  const int32_t* triangles;  ///< 3 vertices each, seen from outside counterclockwise
  /// The boundary of the tets. NULL: what is shown is what contact sees, and stays as it is.
  const int32_t* walls;  ///< 3 positions each, seen from outside counterclockwise
  int32_t num_walls;
  const yw_vec3* positions;  ///< m
  int32_t num_positions;
} yw_shown_body;

typedef struct yw_shown_obstacle {
  const yw_shape* shape;
  yw_transform pose;
} yw_shown_obstacle;

typedef struct yw_shown_scene {
  int32_t num_bodies, num_obstacles;
  const yw_shown_body* bodies;
  const yw_shown_obstacle* obstacles;
} yw_shown_scene;

/// Moves the vertices of one body (or of all: -1) such that no point of what is shown is nearer to
/// the tets of another body than to its own, or inside of an obstacle. Where bodies touch, their
/// surfaces then lie in the gap between the tets; where nothing is near, they stay as they are.
/// The result for one body does not depend on the vertices of others that have walls.
YW_API yw_status yw_shown_keep_apart(const yw_shown_scene* scene, int32_t body);

#ifdef __cplusplus
}
#endif

#endif
