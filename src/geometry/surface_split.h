// SPDX-License-Identifier: MIT
// Turns a closed, oriented triangle soup into a manifold.
#ifndef YW_GEOMETRY_SURFACE_SPLIT_H
#define YW_GEOMETRY_SURFACE_SPLIT_H

#include "yawara/mesh.h"

/// Every edge must have equally many triangles in both directions. Vertices and edges where several
/// layers touch are duplicated (and split where that does not separate them), so that afterwards
/// every edge has two triangles and the triangles of every vertex form one fan. Unused vertices are
/// removed. Positions and triangles are replaced, colors dropped.
yw_status yw_surface_split(yw_tri_mesh* mesh);

/// Half-edge 3 * t + k runs from corner k to corner k + 1 of triangle t. Sets partner[h] to the
/// half-edge of the same edge in the opposite direction; -1 if there is none.
yw_status yw_half_edge_partners(const yw_allocator* mem, const yw_tri_mesh* mesh, int32_t* partner);

#endif
