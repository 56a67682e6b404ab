// SPDX-License-Identifier: MIT
// Which tets share a face. Face number f = 4 * tet + k is opposite vertex k of its tet.
#ifndef YW_GEOMETRY_MESH_FACES_H
#define YW_GEOMETRY_MESH_FACES_H

#include "geometry/tet_math.h"

/// Sets partner[f] to the other tet's face with the same vertices, or -1 on the boundary; needs
/// room for 4 * num_tets. If more than two tets share a face, all but the first point to the first.
/// Tet vertices must be in range, num_tets <= INT32_MAX / 4.
yw_status yw_tet_face_partners(const yw_allocator* mem, const yw_tet_mesh* mesh, int32_t* partner);

/// Finds tets that overlap others. At least one of a pair is a suspect; overlapping (zeros)
/// receives 1 for both.
yw_status yw_tet_overlaps(const yw_tet_mesh* mesh, const unsigned char* suspect,
                          unsigned char* overlapping, int32_t* count);

/// Vertices of a face, counter-clockwise as seen from outside its tet.
static inline void yw_tet_face_vertices(const yw_tet_mesh* mesh, int32_t face, int32_t out[3]) {
  const int32_t* v = mesh->tets + (size_t)(face & ~3);
  for (int k = 0; k < 3; ++k) out[k] = v[yw_tet_faces[face & 3][k]];
}

#endif
