// SPDX-License-Identifier: MIT
// Triangles of a surface that pass through others.
#ifndef YW_GEOMETRY_SURFACE_CROSSINGS_H
#define YW_GEOMETRY_SURFACE_CROSSINGS_H

#include "geometry/surface_edges.h"

/// Fills in crossing_triangles and crossing_place; false if out of memory.
bool yw_count_crossings(const yw_tri_mesh* mesh, const yw_surface_edges* edges,
                        yw_surface_report* out);

#endif
