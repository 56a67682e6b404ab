// SPDX-License-Identifier: MIT
// Polygons cut into triangles.
#ifndef YW_FILES_MESH_POLYGON_H
#define YW_FILES_MESH_POLYGON_H

#include "yawara/base.h"

/// Cuts a polygon of count >= 3 corners into count - 2 triangles (3 * (count - 2) indices in out)
/// that wind the same way. Convex ones become fans; others lose their ears one by one (flat and
/// simple ones correctly, the rest somehow). scratch has room for count indices. Looking for ears
/// takes steps off the budget; when it is used up, what is left becomes a fan.
void yw_polygon_triangles(const yw_vec3* positions, const int32_t* corners, int32_t count,
                          int64_t* budget, int32_t* scratch, int32_t* out);

#endif
