// SPDX-License-Identifier: MIT
// Isosurface stuffing: fills a shape with tets from a body-centred lattice whose nodes near the
// surface are moved onto it and whose edges are cut where they cross it.
// F. Labelle, J. R. Shewchuk, "Isosurface stuffing: fast tetrahedral meshes with good dihedral
// angles", SIGGRAPH 2007 (uniform version).
#ifndef YW_GEOMETRY_MESHER_H
#define YW_GEOMETRY_MESHER_H

#include "geometry/mesher_edit.h"
#include "geometry/mesher_lattice.h"
#include "geometry/mesher_size.h"

/// A lattice edge crosses the surface at node + t * edge.
typedef struct yw_cut {
  float t;         ///< 0 to 1 from the node that owns the edge
  int32_t vertex;  ///< of the mesh; -1: not created yet
} yw_cut;

/// The lattice after cutting and warping. A centre owns its short edges; a long edge is owned by
/// its lower node. Cuts of a node are stored in order of direction.
typedef struct yw_stuffing {
  yw_bcc lattice;
  int32_t num_cuts;
  yw_cut* cuts;
  int32_t* cut_start;  ///< per node
  uint16_t* cut_mask;  ///< per node, bit d: its edge in direction d is cut
  signed char* side;   ///< per node: -1 inside, 0 on the surface, 1 outside
  signed char* warp;   ///< per node: direction it was moved in; -1: none
  float* warp_t;       ///< per node: how far, as a fraction of the edge
} yw_stuffing;

/// Finds cuts and moves nodes that are too close to a cut onto it.
yw_status yw_stuffing_create(const yw_allocator* mem, const yw_shape* shape, yw_aabb bounds,
                             double spacing, bool align, int32_t max_blocks, yw_stuffing* out);
void yw_stuffing_free(yw_stuffing* stuffing);

/// The cut of the edge from its owner; only if the bit is set in cut_mask.
static inline yw_cut* yw_stuffing_cut(const yw_stuffing* s, int32_t owner, int direction) {
  unsigned below = s->cut_mask[owner] & ((1u << direction) - 1u);
  int count = 0;
  for (; below != 0; below &= below - 1) ++count;
  return &s->cuts[s->cut_start[owner] + count];
}

/// Position of a node after warping.
static inline yw_dvec3 yw_stuffing_position(const yw_stuffing* s, int32_t node) {
  yw_dvec3 p = yw_bcc_position(&s->lattice, node);
  if (s->warp[node] < 0) return p;
  yw_dvec3 edge = yw_bcc_edge_vector(&s->lattice, node, s->warp[node]);
  return yw_dmad(p, (double)s->warp_t[node], edge);
}

/// Which tets of a stuffing to keep.
typedef enum yw_stuff_part {
  YW_STUFF_ALL,
  YW_STUFF_SKIN  ///< only tets with three or more vertices on the surface
} yw_stuff_part;

/// Fills a mesh; YW_ERR_LIMIT if it needs more than max_vertices vertices. on_surface (may be NULL)
/// receives one byte per vertex, freed by the caller with mem.
yw_status yw_stuffing_tets(yw_stuffing* stuffing, yw_stuff_part part, int32_t max_vertices,
                           yw_tet_mesh* out, unsigned char** on_surface);

/// Moves vertices of the worst tets slightly where that improves them; vertices on the surface stay
/// on it. No tet gets worse.
void yw_mesher_improve(yw_tet_edit* edit);

/// Marks vertices that happen to be on sharp edges and corners of the shape: they stay there.
void yw_mesher_hold_creases(yw_tet_edit* edit);
/// Moves vertices onto sharp edges and corners of the shape, or inserts some there, wherever the
/// tets stay good.
yw_status yw_mesher_sharpen(yw_tet_edit* edit);

/// yw_shape_tets with other wishes for the size when none is given (NULL: the usual ones); also
/// gives the size that was chosen.
yw_status yw_mesher_tets(const yw_shape* shape, const yw_allocator* mem, const yw_mesher_def* def,
                         const yw_size_wish* wish, yw_tet_mesh* out, double* size, yw_error* error);

/// Checks shape and size, estimates the number of vertices, refuses excessive ones, and creates the
/// mesh, not improved yet. Size 0: longest side / 12. Messages call the result `what`.
yw_status yw_mesher_run(const yw_shape* shape, const yw_allocator* mem, const yw_mesher_def* def,
                        yw_stuff_part part, const char* what, yw_tet_mesh* out,
                        unsigned char** on_surface, double* out_spacing, yw_error* error);

#endif
