// SPDX-License-Identifier: MIT
// Makes a closed, oriented triangle soup a manifold.
#ifndef YW_GEOMETRY_SURFACE_SPLIT_H
#define YW_GEOMETRY_SURFACE_SPLIT_H

#include "yawara/mesh.h"

/// Every edge must have as many triangles in one direction as in the other. Vertices and edges
/// where several sheets touch are doubled (and halved where that does not part them), so that
/// afterwards every edge has two triangles and the
/// triangles of every vertex form one fan. Vertices that no triangle uses are removed. Positions
/// and triangles are replaced, colours dropped.
yw_status yw_surface_split(yw_tri_mesh* mesh);

/// Half-edge 3 * t + k runs from corner k to corner k + 1 of triangle t. partner[h] becomes the
/// half-edge of the same edge in the opposite direction, -1 where there is none.
yw_status yw_half_edge_partners(const yw_allocator* mem, const yw_tri_mesh* mesh, int32_t* partner);

#endif
