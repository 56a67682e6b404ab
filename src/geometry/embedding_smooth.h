// SPDX-License-Identifier: MIT
// Points that follow tets smoothly: no facets of the tets show in a surface made of them.
#ifndef YW_GEOMETRY_EMBEDDING_SMOOTH_H
#define YW_GEOMETRY_EMBEDDING_SMOOTH_H

#include "geometry/embedding.h"

typedef struct yw_smooth_embedding {
  yw_allocator mem;
  int32_t count;           ///< points
  int32_t* first;          ///< of each point's links, count + 1
  yw_surface_link* links;  ///< weights of a point sum to 1
} yw_smooth_embedding;

/// seeds has a point's nearest tet: its links are looked for around that tet only, so that parts
/// that are near each other, but not connected there, do not stick together.
yw_status yw_smooth_embedding_create(const yw_allocator* mem, const yw_tet_mesh* tets,
                                     const yw_vec3* points, const yw_embedding* seeds,
                                     yw_smooth_embedding* out, yw_error* error);
void yw_smooth_embedding_free(yw_smooth_embedding* embedding);

#endif
