// SPDX-License-Identifier: MIT
// Signed distance from a closed surface that changes from frame to frame, near it only.
#ifndef YW_GEOMETRY_WALL_H
#define YW_GEOMETRY_WALL_H

#include "geometry/shape_mesh_normals.h"
#include "geometry/triangle_tree.h"

typedef struct yw_wall {
  yw_triangle_tree tree;
  yw_mesh_normals normals;
} yw_wall;

yw_status yw_wall_create(int32_t num_positions, const yw_vec3* positions, int32_t num_triangles,
                         const int32_t* triangles, yw_wall* out);
void yw_wall_free(yw_wall* wall);

/// Distance of p, negative inside, and the direction in which it grows. False if p is not within
/// `limit`.
bool yw_wall_distance(const yw_wall* wall, yw_vec3 p, float limit, float* distance,
                      yw_vec3* normal);

#endif
