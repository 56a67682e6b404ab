// SPDX-License-Identifier: MIT
// Restores sharp edges and corners of a shape in its triangle surface.
#ifndef YW_GEOMETRY_SURFACE_FEATURES_H
#define YW_GEOMETRY_SURFACE_FEATURES_H

#include "yawara/shape.h"

/// mesh must be manifold with its vertices on the surface. Where an edge of the mesh crosses a
/// crease of the shape, one of its ends is moved to the crease or a vertex is inserted there, so
/// that edges of the mesh run along the crease. The mesh stays manifold.
yw_status yw_surface_sharpen(const yw_shape* shape, yw_tri_mesh* mesh);

/// The sharp edge of the shape between two points of its surface with the given normals, if there
/// is one: a point of it near the middle.
bool yw_find_crease(const yw_shape* shape, const yw_vec3 p[2], const yw_vec3 normal[2],
                    yw_vec3* out);
/// Where the tangent planes at three points of the surface meet, if that is a corner of the shape.
bool yw_find_corner(const yw_shape* shape, const yw_vec3 p[3], const yw_vec3 normal[3],
                    yw_vec3* out);

#endif
