// SPDX-License-Identifier: MIT
// Edges and corners that tets have rounded.
#ifndef YW_GEOMETRY_MESHER_ROUNDED_H
#define YW_GEOMETRY_MESHER_ROUNDED_H

#include "geometry/mesher.h"
#include "geometry/shape_planes.h"

/// Adds places on edges and at corners of the shape's sharp boxes that the boundary of the tets
/// misses by a tenth of a cell or nearly so, where plain faces reach a size around them. *count:
/// number of these edges and corners. YW_ERR_MEMORY is the only error.
yw_status yw_list_rounded(const yw_allocator* mem, const yw_shape* shape, const yw_tet_mesh* tets,
                          double size, yw_places* out, int32_t* count);

#endif
