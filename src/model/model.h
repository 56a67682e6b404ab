// SPDX-License-Identifier: MIT
// Internals of a model: a method, its rest data and the surface that is shown.
#ifndef YW_MODEL_MODEL_H
#define YW_MODEL_MODEL_H

#include <stdatomic.h>

#include "geometry/embedding_smooth.h"
#include "yawara/extend/method.h"
#include "yawara/model.h"

struct yw_model {
  yw_allocator mem;
  atomic_int references;
  const yw_method* method;
  void* data;                  ///< the method's rest data
  yw_tet_mesh rest;            ///< empty for bodies without tets
  yw_tri_mesh surface;         ///< empty for loose particles
  int32_t* surface_vertices;   ///< surface vertex -> mesh vertex, if the surface is the tets'
                               ///< boundary
  yw_embedding embedding;      ///< of an embedded surface
  yw_tet_mesh carrier;         ///< what it follows, if not rest: see yw_method.carrier_tets
  yw_smooth_embedding smooth;  ///< the same, as it is shown
  int32_t* walls;              ///< if embedded: boundary of rest, 3 vertices of it each
  int32_t num_walls;
  bool own_surface;  ///< made by the method (model_surface, surface_positions)
  uint64_t hash;
};

#endif
