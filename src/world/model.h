// SPDX-License-Identifier: MIT
// A model as the world sees it: a method, its rest data, and the surface that is shown.
#ifndef YW_WORLD_MODEL_H
#define YW_WORLD_MODEL_H

#include <stdatomic.h>

#include "geometry/embedding.h"
#include "method.h"

struct yw_model {
  yw_allocator mem;
  atomic_int references;
  const yw_method* method;
  void* data;  ///< the method's rest data
  yw_tet_mesh rest;
  yw_tri_mesh surface;
  int32_t* surface_vertices;  ///< surface vertex -> mesh vertex; NULL when embedded
  yw_embedding embedding;     ///< of an embedded surface
  uint64_t hash;
};

#endif
