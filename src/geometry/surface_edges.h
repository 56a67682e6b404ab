// SPDX-License-Identifier: MIT
// The edges of a triangle mesh and what they connect, with vertices at the same place as one.
#ifndef YW_GEOMETRY_SURFACE_EDGES_H
#define YW_GEOMETRY_SURFACE_EDGES_H

#include "yawara/base.h"
#include "yawara/mesh.h"

/// One edge of one triangle. Edges between the same places are next to each other.
typedef struct yw_half_edge {
  int32_t low, high;  ///< places, low < high
  int32_t triangle;
  bool forward;  ///< the triangle runs from low to high
} yw_half_edge;

typedef struct yw_surface_edges {
  yw_allocator mem;
  int32_t* place;  ///< per vertex: the first vertex with the same position
  yw_half_edge* edges;
  int32_t num_edges;  ///< without those of no length
} yw_surface_edges;

/// YW_ERR_GEOMETRY: an index is out of range. YW_ERR_MEMORY.
yw_status yw_surface_edges_create(const yw_tri_mesh* mesh, const yw_allocator* mem,
                                  yw_surface_edges* out);
void yw_surface_edges_free(yw_surface_edges* edges);
/// End of the run of edges between the same places that begins at `first`.
int32_t yw_surface_run_end(const yw_surface_edges* edges, int32_t first);

/// Number of the part that each triangle belongs to, in the order of the file; returns how many, or
/// -1 if out of memory. part has num_triangles entries.
int32_t yw_surface_parts(const yw_tri_mesh* mesh, const yw_surface_edges* edges, int32_t* part);

// Union-find with halved paths, used for parts and holes.
static inline int32_t yw_set_root(int32_t* parent, int32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}
/// True if they were apart.
static inline bool yw_set_join(int32_t* parent, int32_t a, int32_t b) {
  a = yw_set_root(parent, a);
  b = yw_set_root(parent, b);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
  return a != b;
}

#endif
