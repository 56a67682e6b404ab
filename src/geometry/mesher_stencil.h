// SPDX-License-Identifier: MIT
// Stencils: the second half of isosurface stuffing. Every tet of the background is kept, dropped or
// cut according to the sides of its four nodes.
#ifndef YW_GEOMETRY_MESHER_STENCIL_H
#define YW_GEOMETRY_MESHER_STENCIL_H

#include "geometry/tet_math.h"
#include "yawara/extend/memory.h"

/// Which tets of a stuffing to keep.
typedef enum yw_stuff_part {
  YW_STUFF_ALL,
  YW_STUFF_SKIN  ///< only tets with three or more vertices on the surface
} yw_stuff_part;

typedef struct yw_stencil_tet {
  int32_t v[4];
} yw_stencil_tet;

typedef struct yw_stencil yw_stencil;

/// A mesh in the making, and the current tet of the background. Whoever knows the background sets
/// the sides and answers the three questions.
struct yw_stencil {
  yw_allocator mem;
  yw_stuff_part part;
  int32_t max_vertices;
  YW_LIST(yw_vec3) positions;
  YW_LIST(unsigned char) on_surface;
  YW_LIST(yw_stencil_tet) tets;
  yw_status status;  ///< YW_ERR_LIMIT: more than max_vertices vertices

  signed char side[4];  ///< of the nodes: -1 inside, 0 on the surface, 1 outside
  /// Vertex at node k.
  int32_t (*node_vertex)(yw_stencil* stencil, int k);
  /// Vertex where the edge between nodes a and b is cut.
  int32_t (*cut_vertex)(yw_stencil* stencil, int a, int b);
  /// A quad on a face: nodes a and b inside, o outside. True: its diagonal runs from a to the cut
  /// of b-o; false: from b to the cut of a-o. Both tets at the face must agree, so only the face
  /// may decide, and for a given o it must order the other three nodes.
  bool (*diagonal_from_first)(yw_stencil* stencil, int a, int b, int o);
};

int32_t yw_stencil_vertex(yw_stencil* stencil, yw_dvec3 p, bool on_surface);
/// Adds what is inside of the current tet.
void yw_stencil_apply(yw_stencil* stencil);
/// Moves the result into a mesh and frees the rest. on_surface (may be NULL) receives one byte per
/// vertex, freed by the caller with mem.
yw_status yw_stencil_finish(yw_stencil* stencil, yw_tet_mesh* out, unsigned char** on_surface);

#endif
