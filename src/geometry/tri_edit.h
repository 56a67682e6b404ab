// SPDX-License-Identifier: MIT
// A triangle surface that can be edited edge by edge: flips, splits and collapses that keep it
// manifold. Half-edge 3 t + k runs from corner k of triangle t to the next one. Every hole is
// closed by triangles to a ghost, a vertex without a place, so that all edges have two sides.
#ifndef YW_GEOMETRY_TRI_EDIT_H
#define YW_GEOMETRY_TRI_EDIT_H

#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"
#include "yawara/mesh.h"

typedef struct yw_tri_edit_vertex {
  yw_vec3 position;
  int32_t out;        ///< a half-edge that leaves it; -1: removed
  int32_t home;       ///< of removed ones: the vertex that it was merged into
  bool ghost;         ///< closes a hole
  double planes[10];  ///< sum of squared distances to the planes around it, by rows
} yw_tri_edit_vertex;

typedef struct yw_tri_edit_half {
  int32_t vertex;  ///< from which it runs; -1: removed
  int32_t twin;    ///< the other side of the edge
} yw_tri_edit_half;

typedef struct yw_tri_edit {
  yw_allocator mem;
  YW_LIST(yw_tri_edit_vertex) vertices;
  YW_LIST(yw_tri_edit_half) halves;
  int32_t* start;  ///< per vertex of the mesh: its vertex here; -1: of no triangle
} yw_tri_edit;

/// Vertices at the same place become one; triangles without three places are left out; where
/// several fans of triangles share a vertex only, each gets its own. YW_ERR_GEOMETRY, with a
/// message: an edge has more than two triangles, or two that face opposite sides.
yw_status yw_tri_edit_create(const yw_tri_mesh* mesh, const yw_allocator* mem, yw_tri_edit* out,
                             yw_error* error);
void yw_tri_edit_free(yw_tri_edit* edit);

static inline int32_t yw_half_next(int32_t h) { return h % 3 == 2 ? h - 2 : h + 1; }
static inline int32_t yw_half_prev(int32_t h) { return h % 3 == 0 ? h + 2 : h - 1; }
static inline int32_t yw_half_from(const yw_tri_edit* e, int32_t h) {
  return e->halves.items[h].vertex;
}
static inline int32_t yw_half_to(const yw_tri_edit* e, int32_t h) {
  return e->halves.items[yw_half_next(h)].vertex;
}
/// The corner across the edge.
static inline int32_t yw_half_tip(const yw_tri_edit* e, int32_t h) {
  return e->halves.items[yw_half_prev(h)].vertex;
}
static inline int32_t yw_half_twin(const yw_tri_edit* e, int32_t h) {
  return e->halves.items[h].twin;
}
/// The next half-edge that leaves the same vertex.
static inline int32_t yw_half_around(const yw_tri_edit* e, int32_t h) {
  return e->halves.items[yw_half_prev(h)].twin;
}
static inline bool yw_is_ghost(const yw_tri_edit* e, int32_t v) {
  return e->vertices.items[v].ghost;
}
static inline yw_vec3 yw_tri_edit_at(const yw_tri_edit* e, int32_t v) {
  return e->vertices.items[v].position;
}
/// A corner of the half-edge's triangle is a ghost.
static inline bool yw_half_is_outside(const yw_tri_edit* e, int32_t h) {
  return yw_is_ghost(e, yw_half_from(e, h)) || yw_is_ghost(e, yw_half_to(e, h)) ||
         yw_is_ghost(e, yw_half_tip(e, h));
}
/// Twice the area, along the normal of the half-edge's triangle.
yw_vec3 yw_half_normal(const yw_tri_edit* e, int32_t h);
bool yw_tri_edit_on_border(const yw_tri_edit* e, int32_t v);

/// Whether the edge may go over to the two tips without doubling an edge.
bool yw_tri_edit_can_flip(const yw_tri_edit* e, int32_t h);
void yw_tri_edit_flip(yw_tri_edit* e, int32_t h);
/// A new vertex in the middle of the edge. False if out of memory.
bool yw_tri_edit_split(yw_tri_edit* e, int32_t h);
/// Whether merging the ends of the edge keeps the topology (link condition).
bool yw_tri_edit_can_collapse(const yw_tri_edit* e, int32_t h);
/// Merges the end of the half-edge into its start, which moves to `place`.
void yw_tri_edit_collapse(yw_tri_edit* e, int32_t h, yw_vec3 place);

#endif
