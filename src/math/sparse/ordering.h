// SPDX-License-Identifier: MIT
// Elimination orders that keep a sparse Cholesky factor sparse. The graph is given as compressed
// rows without values: neighbours of i are items[start[i]] .. items[start[i + 1] - 1], in both
// directions; i itself may be among them. order[k] is the k-th vertex to be eliminated. All orders
// are deterministic.
#ifndef YW_MATH_SPARSE_ORDERING_H
#define YW_MATH_SPARSE_ORDERING_H

#include "yawara/extend/tasks.h"

typedef struct yw_graph {
  int32_t count;
  const int32_t* start;  ///< count + 1
  const int32_t* items;
} yw_graph;

/// Approximate minimum degree (Amestoy, Davis, Duff 1996): for any graph, without coordinates.
yw_status yw_order_by_degree(const yw_allocator* mem, const yw_graph* graph, int32_t* order);

/// Nested dissection (George 1973): recursively halves the points across the axis with the smallest
/// separator; small parts are ordered by degree. Best for volume meshes. points must be finite, one
/// per vertex of the graph. tasks may be NULL.
yw_status yw_order_by_dissection(const yw_allocator* mem, yw_tasks* tasks, const yw_graph* graph,
                                 const yw_vec3* points, int32_t* order);

#endif
