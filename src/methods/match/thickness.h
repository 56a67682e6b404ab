// SPDX-License-Identifier: MIT
// Thickness of a body around its vertices.
#ifndef YW_METHODS_MATCH_THICKNESS_H
#define YW_METHODS_MATCH_THICKNESS_H

#include "yawara/mesh.h"

/// Writes the thickness at each vertex of the mesh, m; INFINITY deep inside, where no ray from the
/// surface passes.
yw_status yw_match_thickness(const yw_allocator* mem, const yw_tet_mesh* mesh, float* out);

#endif
