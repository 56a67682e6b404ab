// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Writes PLY files (binary, little-endian) with any number of values per vertex.
#ifndef YAWARA_EXTEND_PLY_WRITE_H
#define YAWARA_EXTEND_PLY_WRITE_H

#include "../mesh.h"
#include "file.h"

/// A float property. Characters of the name other than letters, digits and _ become _.
typedef struct yw_ply_field {
  const char* name;
  const float* values;  ///< one per vertex
  const char* unit;     ///< both are stored in a comment; NULL or "": none
  const char* meaning;
} yw_ply_field;

/// Texture coordinates and materials. What is NULL is left out.
typedef struct yw_ply_look {
  /// u and v of each vertex (properties s, t), or of each corner of the triangles (list texcoord);
  /// at most one of the two.
  const float *vertex_uvs, *corner_uvs;
  const int32_t* materials;  ///< of each triangle, material_index; -1: none
  int32_t num_materials;
  const char* const* names;  ///< of the materials, stored as comments
} yw_ply_look;

/// A mesh without triangles becomes a point cloud without a face element.
YW_API yw_status yw_ply_write(const char* path, const yw_tri_mesh* mesh, const yw_ply_field* fields,
                              int32_t num_fields, yw_error* error);
/// The same with a look.
YW_API yw_status yw_ply_write_look(const char* path, const yw_tri_mesh* mesh,
                                   const yw_ply_look* look, const yw_ply_field* fields,
                                   int32_t num_fields, yw_error* error);
YW_API void yw_ply_put(yw_file_writer* file, const yw_tri_mesh* mesh, const yw_ply_field* fields,
                       int32_t num_fields);

#endif
