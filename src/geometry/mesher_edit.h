// SPDX-License-Identifier: MIT
// A tet mesh that is changed place by place: vertices move, edges are split.
#ifndef YW_GEOMETRY_MESHER_EDIT_H
#define YW_GEOMETRY_MESHER_EDIT_H

#include "geometry/tet_math.h"
#include "yawara/extend/memory.h"
#include "yawara/shape.h"

/// What a vertex must stay on.
typedef enum yw_vertex_hold {
  YW_HOLD_NOTHING,
  YW_HOLD_SURFACE,
  YW_HOLD_CREASE,  ///< a sharp edge of the shape; such vertices are not moved any more
  YW_HOLD_CORNER
} yw_vertex_hold;

typedef struct yw_edit_tet {
  int32_t v[4];
} yw_edit_tet;

typedef struct yw_tet_edit {
  yw_allocator mem;
  const yw_shape* shape;
  YW_LIST(yw_vec3) positions;
  YW_LIST(float) sizes;          ///< of the cells at a vertex, m
  YW_LIST(unsigned char) holds;  ///< yw_vertex_hold
  YW_LIST(yw_edit_tet) tets;
  // The tets around a vertex: a list of corners 4 * tet + k.
  YW_LIST(int32_t) first;  ///< per vertex; -1: none
  YW_LIST(int32_t) next;   ///< per corner
} yw_tet_edit;

/// Takes a copy of the mesh. on_surface has a byte per vertex, sizes the size of the cells there
/// (NULL: `size` everywhere).
yw_status yw_edit_begin(const yw_shape* shape, float size, const float* sizes,
                        const yw_tet_mesh* mesh, const unsigned char* on_surface, yw_tet_edit* out);
/// The mesh as it is; it owns nothing.
yw_tet_mesh yw_edit_view(const yw_tet_edit* edit);
/// Replaces the mesh by the edited one and frees the edit. If out of memory, the mesh stays.
yw_status yw_edit_end(yw_tet_edit* edit, yw_tet_mesh* mesh);
void yw_edit_free(yw_tet_edit* edit);

/// How bad a tet is: the largest absolute cosine of its dihedral angles; 2 if it is inverted.
double yw_edit_badness(const yw_tet_edit* edit, int32_t tet);
/// The worst of the tets around a vertex if it were at x; may stop early above `limit`.
double yw_edit_badness_at(const yw_tet_edit* edit, int32_t vertex, yw_vec3 x, double limit);
/// Moves a vertex by a few small steps while the worst tet around it is worse than `enough` and
/// gets better; it stays on what holds it.
bool yw_edit_improve_vertex(yw_tet_edit* edit, int32_t vertex, double enough);

/// Splits the edge a-b by a new vertex, numbered last. Returns the number of tets that were split,
/// 0 if there is no such edge or no memory. The new tets are the last ones.
int32_t yw_edit_split(yw_tet_edit* edit, int32_t a, int32_t b, yw_vec3 x, yw_vertex_hold hold);
/// Undoes the latest split, of the edge a-b into `count` tets.
void yw_edit_undo_split(yw_tet_edit* edit, int32_t b, int32_t count);

#endif
