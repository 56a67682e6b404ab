// SPDX-License-Identifier: MIT
// Sharp edges and corners of a shape, brought back into its triangle surface.
#ifndef YW_GEOMETRY_SURFACE_FEATURES_H
#define YW_GEOMETRY_SURFACE_FEATURES_H

#include "yawara/shape.h"

/// mesh must be a manifold with its vertices on the surface. Where an edge of the mesh runs across
/// a crease of the shape, an end of it is moved to the crease or a vertex is put there, so that
/// edges of the mesh run along the crease. The mesh stays a manifold.
yw_status yw_surface_sharpen(const yw_shape* shape, yw_tri_mesh* mesh);

#endif
