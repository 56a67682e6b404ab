// SPDX-License-Identifier: MIT
// What queries keep between calls: trees, fitted by the first query after a change.
#ifndef YW_WORLD_QUERY_H
#define YW_WORLD_QUERY_H

#include <stdatomic.h>

#include "contact/query.h"

/// Of one body.
typedef struct yw_body_query {
  atomic_uint_least64_t fitted;  ///< `changes` of the body when it was fitted
  uint64_t topology;
  int32_t num_particles;
  yw_query_surface* surface;
  int32_t* vertex_of_particle;  ///< NULL: the same
} yw_body_query;

typedef struct yw_queries yw_queries;
/// NULL: out of memory.
yw_queries* yw_queries_create(const yw_allocator* mem);
void yw_queries_destroy(yw_queries* queries);                               ///< NULL is fine
void yw_body_query_destroy(const yw_allocator* mem, yw_body_query* query);  ///< NULL is fine

#endif
