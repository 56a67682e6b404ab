// SPDX-License-Identifier: MIT
// A model as the world sees it: a method, its rest data, and the surface that is shown.
#ifndef YW_MODEL_MODEL_H
#define YW_MODEL_MODEL_H

#include <stdatomic.h>

#include "geometry/embedding.h"
#include "yawara/extend/method.h"
#include "yawara/model.h"

struct yw_model {
  yw_allocator mem;
  atomic_int references;
  const yw_method* method;
  void* data;                 ///< the method's rest data
  yw_tet_mesh rest;           ///< empty for bodies that are not made of tets
  yw_tri_mesh surface;        ///< empty for bodies of loose particles
  int32_t* surface_vertices;  ///< surface vertex -> mesh vertex, where it is the tets' boundary
  yw_embedding embedding;     ///< of an embedded surface
  bool own_surface;           ///< the method makes it (model_surface, surface_positions)
  uint64_t hash;
};

#endif
