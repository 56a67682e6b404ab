// SPDX-License-Identifier: MIT
// Triangulation of polygons.
#ifndef YW_FILES_MESH_POLYGON_H
#define YW_FILES_MESH_POLYGON_H

#include "yawara/base.h"

/// Divides a polygon of count >= 3 corners into count - 2 triangles (3 * (count - 2) indices in
/// out) with the same orientation. Convex polygons become fans; others are ear-clipped, correctly
/// if planar and simple, arbitrarily otherwise. scratch has room for count indices. The search for
/// ears consumes the budget; when it is used up, the remainder becomes a fan.
void yw_polygon_triangles(const yw_vec3* positions, const int32_t* corners, int32_t count,
                          int64_t* budget, int32_t* scratch, int32_t* out);

#endif
