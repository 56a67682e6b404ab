// SPDX-License-Identifier: MIT
// Points embedded in tets: barycentric coordinates, found through a spatial index.
#ifndef YW_GEOMETRY_EMBEDDING_H
#define YW_GEOMETRY_EMBEDDING_H

#include "yawara/extend/tasks.h"
#include "yawara/extend/vec.h"
#include "yawara/mesh.h"
#include "yawara/model.h"

typedef struct yw_embedding {
  yw_allocator mem;
  int32_t count;
  yw_embedded_point* points;
  float* outside;     ///< m, distance of each point from the tets; 0 inside
  float max_outside;  ///< m, the largest distance of a point from the tets
} yw_embedding;

/// tasks may be NULL.
yw_status yw_embedding_create(const yw_allocator* mem, const yw_tet_mesh* tets, int32_t count,
                              const yw_vec3* points, yw_tasks* tasks, yw_embedding* out,
                              yw_error* error);
void yw_embedding_free(yw_embedding* embedding);

#endif
