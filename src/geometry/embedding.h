// SPDX-License-Identifier: MIT
// Points carried by tets: barycentric coordinates, found through a spatial index.
#ifndef YW_GEOMETRY_EMBEDDING_H
#define YW_GEOMETRY_EMBEDDING_H

#include "yawara/extend/vec.h"
#include "yawara/mesh.h"

/// One embedded point: x = sum weights[k] * x[vertices[k]]. Weights sum to 1; a point outside every
/// tet belongs to the nearest one and may have weights outside [0, 1] (it follows that tet
/// linearly).
typedef struct yw_embedded_point {
  int32_t vertices[4];
  float weights[4];
} yw_embedded_point;

typedef struct yw_embedding {
  yw_allocator mem;
  int32_t count;
  yw_embedded_point* points;
  float max_outside;  ///< m, the largest distance of a point from the tets
} yw_embedding;

yw_status yw_embedding_create(const yw_allocator* mem, const yw_tet_mesh* tets, int32_t count,
                              const yw_vec3* points, yw_embedding* out, yw_error* error);
void yw_embedding_free(yw_embedding* embedding);

#endif
