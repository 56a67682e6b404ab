// SPDX-License-Identifier: MIT
// Renumbering for locality, and vertex adjacency of tet meshes.
#ifndef YW_GEOMETRY_ORDER_H
#define YW_GEOMETRY_ORDER_H

#include "math/vec.h"
#include "yawara/mesh.h"

/// Compressed rows: neighbours of i are items[start[i]] .. items[start[i + 1] - 1], ascending.
typedef struct yw_adjacency {
  yw_allocator mem;
  int32_t count;
  int32_t* start;  ///< count + 1
  int32_t* items;
} yw_adjacency;

/// One-ring of every vertex: all vertices that share a tet with it, without itself.
yw_status yw_tet_adjacency(const yw_allocator* mem, const yw_tet_mesh* mesh, yw_adjacency* out);
void yw_adjacency_free(yw_adjacency* adjacency);

/// An order in which vertices near in space are near in memory: new_of_old[i] is the new number of
/// vertex i. Deterministic. new_of_old has adjacency->count entries.
yw_status yw_locality_order(const yw_allocator* mem, const yw_adjacency* adjacency,
                            const yw_vec3* positions, int32_t* new_of_old);

#endif
