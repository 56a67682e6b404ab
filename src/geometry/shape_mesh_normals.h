// SPDX-License-Identifier: MIT
// Normals at the corners and edges of a triangle mesh, and whether it is closed.
#ifndef YW_GEOMETRY_SHAPE_MESH_NORMALS_H
#define YW_GEOMETRY_SHAPE_MESH_NORMALS_H

#include "yawara/extend/vec.h"

typedef struct yw_mesh_normals {
  yw_allocator mem;
  int32_t num_vertices, num_edges;
  int32_t* corners;        ///< 3 per triangle: vertices, equal positions welded
  int32_t* edges;          ///< 3 per triangle: ab, bc, ca
  yw_vec3* vertex_normal;  ///< by welded vertex: angle-weighted sum of face normals; not normalised
  yw_vec3* edge_normal;    ///< sum of the face normals; not normalised
  bool is_closed;          ///< every edge is traversed equally often in both directions
} yw_mesh_normals;

yw_status yw_mesh_normals_create(const yw_allocator* mem, int32_t num_vertices,
                                 const yw_vec3* positions, int32_t num_triangles,
                                 const int32_t* triangles, yw_mesh_normals* out);
/// first_at[v] becomes the first vertex at the position of v. False if out of memory.
bool yw_first_at_positions(const yw_allocator* mem, int32_t count, const yw_vec3* positions,
                           int32_t* first_at);
void yw_mesh_normals_free(yw_mesh_normals* normals);

#endif
