// SPDX-License-Identifier: MIT
// Values painted on the vertices of a surface, extended into space: a point has the value of the
// nearest point of the surface.
#ifndef YW_GEOMETRY_PAINTED_H
#define YW_GEOMETRY_PAINTED_H

#include "geometry/triangle_tree.h"
#include "yawara/mesh.h"

typedef struct yw_painted {
  yw_triangle_tree tree;
  yw_allocator mem;
  int32_t* triangles;
  float* values;  ///< per vertex
} yw_painted;

/// Copies its input. YW_ERR_GEOMETRY for a mesh without triangles.
yw_status yw_painted_create(const yw_allocator* mem, const yw_tri_mesh* mesh, const float* values,
                            yw_painted* out);
/// Safe on a zeroed struct.
void yw_painted_free(yw_painted* painted);
float yw_painted_value(const yw_painted* painted, yw_vec3 p);

#endif
