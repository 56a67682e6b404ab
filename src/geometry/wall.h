// SPDX-License-Identifier: MIT
// Signed distance from a closed surface that moves from frame to frame, near it only.
#ifndef YW_GEOMETRY_WALL_H
#define YW_GEOMETRY_WALL_H

#include "geometry/triangle_tree.h"

typedef struct yw_wall {
  const int32_t* triangles;  ///< not owned
  const yw_vec3* positions;  ///< not owned, those of the last fit
  yw_triangle_tree tree;
  int32_t num_vertices;
  int32_t* corners;     ///< 3 per triangle: vertices, equal positions welded
  int32_t* ring_start;  ///< per welded vertex: its triangles are ring[ring_start[v]] and on
  int32_t* ring;
} yw_wall;

/// Builds what depends on the triangles alone. `triangles` must outlive the wall.
yw_status yw_wall_create(const yw_allocator* mem, int32_t num_vertices, const yw_vec3* rest,
                         int32_t num_triangles, const int32_t* triangles, yw_wall* out);
void yw_wall_free(yw_wall* wall);

/// `positions` must stay as they are while distances are asked for.
void yw_wall_fit(yw_wall* wall, const yw_vec3* positions);

/// Distance of p, negative inside, and the direction in which it grows. False if p is not within
/// `limit`.
bool yw_wall_distance(const yw_wall* wall, yw_vec3 p, float limit, float* distance,
                      yw_vec3* normal);

#endif
