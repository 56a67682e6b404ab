// SPDX-License-Identifier: MIT
#ifndef YW_APP_RENDER_TRACE_NORMALS_H
#define YW_APP_RENDER_TRACE_NORMALS_H

#include "render/trace/render.h"

/// Unit normals of the three corners of every triangle: smooth across edges that turn by less than
/// the crease angle in the rest pose. out holds 3 * num_triangles.
yw_status yw_corner_normals(const yw_render_mesh* mesh, const yw_allocator* mem, yw_vec3* out);

#endif
