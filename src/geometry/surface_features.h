// SPDX-License-Identifier: MIT
// Restores sharp edges and corners of a shape in its triangle surface.
#ifndef YW_GEOMETRY_SURFACE_FEATURES_H
#define YW_GEOMETRY_SURFACE_FEATURES_H

#include "yawara/shape.h"

/// mesh must be manifold with its vertices on the surface. Where an edge of the mesh crosses a
/// crease of the shape, one of its ends is moved to the crease or a vertex is inserted there, so
/// that edges of the mesh run along the crease. The mesh stays manifold.
yw_status yw_surface_sharpen(const yw_shape* shape, yw_tri_mesh* mesh);

#endif
