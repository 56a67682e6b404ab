// SPDX-License-Identifier: MIT
// Renumbering for locality, and vertex adjacency of tet meshes.
#ifndef YW_GEOMETRY_ORDER_H
#define YW_GEOMETRY_ORDER_H

#include "yawara/extend/vec.h"
#include "yawara/mesh.h"

/// Compressed rows: neighbours of i are items[start[i]] .. items[start[i + 1] - 1], ascending.
typedef struct yw_adjacency {
  yw_allocator mem;
  int32_t count;
  int32_t* start;  ///< count + 1
  int32_t* items;
} yw_adjacency;

/// Tets around every vertex: those of i are tets[start[i]] .. tets[start[i + 1] - 1], ascending.
typedef struct yw_vertex_tets {
  size_t* start;
  int32_t* tets;
} yw_vertex_tets;

/// Vertex numbers must be in range. False if out of memory; free it in either case.
bool yw_vertex_tets_create(const yw_allocator* mem, const yw_tet_mesh* mesh, yw_vertex_tets* out);
void yw_vertex_tets_free(const yw_allocator* mem, yw_vertex_tets* around);

/// One-ring of every vertex: all vertices that share a tet with it, excluding itself.
yw_status yw_tet_adjacency(const yw_allocator* mem, const yw_tet_mesh* mesh, yw_adjacency* out);

/// Elements of any kind, by their corners.
typedef struct yw_elements {
  int32_t num_vertices, num_elements;
  int32_t corners;       ///< per element
  const int32_t* items;  ///< num_elements * corners vertices
} yw_elements;
/// All vertices within so many steps of each vertex, excluding itself; a step leads to all corners
/// of an element. One step over tets is yw_tet_adjacency. YW_ERR_INVALID if an index is out of
/// range.
yw_status yw_reach_adjacency(const yw_allocator* mem, const yw_elements* elements, int32_t steps,
                             yw_adjacency* out);
void yw_adjacency_free(yw_adjacency* adjacency);

/// Sorts points along a Hilbert curve: order[k] is the k-th point. spacing is the distance between
/// neighbours if known (the curve then keeps whole blocks of a lattice together), else 0.
/// Deterministic; coincident points keep their order.
yw_status yw_hilbert_order(const yw_allocator* mem, int32_t count, const yw_vec3* points,
                           double spacing, int32_t* order);

// The order follows a Hilbert curve. Cache lines (64-byte records, including one-rings) touched by
// a block of 16 / 64 / 256 consecutive rows, per row, on 5-tet boxes:
//             19,683 vertices       198,476 vertices
//   lattice   7.06  4.54  3.33      7.22  6.51  3.85
//   RCM       5.73  4.05  3.11      5.97  4.99  3.46
//   Morton    4.73  3.03  2.09      4.96  3.22  2.26
//   Hilbert   4.25  2.79  2.00      4.39  2.86  2.15
// Bisection along the longest axis is as good (4.28 2.71 1.86, 4.48 2.84 2.02) but needs sorts.
/// An order in which vertices close in space are close in memory: new_of_old[i] is the new number
/// of vertex i. Deterministic. new_of_old has adjacency->count entries.
yw_status yw_locality_order(const yw_allocator* mem, const yw_adjacency* adjacency,
                            const yw_vec3* positions, int32_t* new_of_old);

#endif
