// SPDX-License-Identifier: MIT
// Isosurface stuffing: fills a shape with tets from a body-centred lattice whose nodes near the
// surface are moved onto it and whose edges are cut where they cross it.
// F. Labelle, J. R. Shewchuk, "Isosurface stuffing: fast tetrahedral meshes with good dihedral
// angles", SIGGRAPH 2007 (uniform version).
#ifndef YW_GEOMETRY_MESHER_H
#define YW_GEOMETRY_MESHER_H

#include "geometry/mesher_edit.h"
#include "geometry/mesher_graded.h"
#include "geometry/mesher_lattice.h"
#include "geometry/mesher_size.h"
#include "geometry/mesher_stencil.h"
#include "yawara/extend/vec.h"

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

/// Where the distance is zero between two points of opposite sign, p and p + edge, with the values
/// fa and fb, as a fraction of the edge: regula falsi (Illinois). Where the sign jumps (open
/// meshes), the bracket shrinks around the jump. size is that of the cells.
float yw_find_cut(const yw_shape* shape, yw_dvec3 p, yw_dvec3 edge, double fa, double fb,
                  double size);

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

/// Fills a mesh; YW_ERR_LIMIT if it needs more than max_vertices vertices. on_surface (may be NULL)
/// receives one byte per vertex, freed by the caller with mem.
yw_status yw_stuffing_tets(yw_stuffing* stuffing, yw_stuff_part part, int32_t max_vertices,
                           yw_tet_mesh* out, unsigned char** on_surface);

/// Moves vertices of the worst tets slightly where that improves them; vertices on the surface stay
/// on it. No tet gets worse.
void yw_mesher_improve(yw_tet_edit* edit);

/// Moves vertices of the boundary to both sides of the shape's surface, so that the volume is that
/// of the shape. No dihedral angle falls below 15 degrees by it, and tets that overlap are moved
/// back, as are edges of boxes. size: of the cells, m. YW_ERR_MEMORY is the only error; the mesh is
/// valid then, too.
yw_status yw_mesher_settle(const yw_shape* shape, double size, yw_tet_mesh* mesh);

/// Moves vertices of tets whose subdivision would have dihedral angles below 11 degrees, as far as
/// that helps; those of the boundary slide along it. YW_ERR_MEMORY is the only error; the mesh is
/// valid then, too.
yw_status yw_mesher_mend_families(const yw_shape* shape, yw_tet_mesh* mesh);

/// Marks vertices that happen to be on sharp edges and corners of the shape: they stay there.
/// tasks may be NULL.
void yw_mesher_hold_creases(yw_tet_edit* edit, yw_tasks* tasks);
/// Balls (centre and radius) in which edges stay as they are.
typedef YW_LIST(yw_vec4) yw_no_features;
typedef YW_LIST(yw_vec3) yw_places;
/// Moves vertices onto sharp edges and corners of the shape, or inserts some there, wherever the
/// tets stay good. has_faces: the shape has flat faces, whose corners are looked for once more.
/// unsharp receives places where tets would not stay good.
yw_status yw_mesher_sharpen(yw_tet_edit* edit, const yw_no_features* except, bool has_faces,
                            yw_places* unsharp);

/// What to make a mesh of.
typedef struct yw_mesher_job {
  const yw_shape* shape;
  const yw_allocator* mem;
  yw_tasks* tasks;             ///< may be NULL
  yw_aabb bounds;              ///< of the shape
  const yw_matter* matter;     ///< of the shape
  const yw_size_field* sizes;  ///< NULL: one size
  bool has_faces;              ///< the shape has flat faces, so its edges matter
  int32_t max_vertices;
  yw_stuff_part part;
  const char* what;  ///< name of the result in messages
} yw_mesher_job;

/// A mesh that is not improved yet.
typedef struct yw_raw_tets {
  yw_tet_mesh mesh;
  unsigned char* on_surface;  ///< per vertex
  float* sizes;               ///< of the cells at each vertex, m; NULL: all alike
} yw_raw_tets;

void yw_raw_tets_free(yw_raw_tets* raw);

/// Refuses what cannot be meshed; else bounds are those of the shape.
yw_status yw_mesher_check(const yw_shape* shape, float size, int32_t max_vertices, yw_aabb* bounds,
                          const char* what, yw_error* error);
/// Estimates the number of vertices, refuses excessive ones, and creates the mesh. spacing is the
/// coarsest.
yw_status yw_mesher_stuff(const yw_mesher_job* job, double spacing, yw_raw_tets* out,
                          yw_error* error);
/// Checks a request, then stuffs the shape with cells of one size. Size 0: longest side / 12.
/// Messages call the result `what`.
yw_status yw_mesher_run(const yw_shape* shape, const yw_allocator* mem, const yw_mesher_def* def,
                        yw_stuff_part part, const char* what, yw_raw_tets* out, double* out_spacing,
                        yw_error* error);

/// yw_shape_fill with other wishes for the size when none is given (NULL: the usual ones). tasks
/// and fit may be NULL.
yw_status yw_mesher_fill(const yw_shape* shape, const yw_allocator* mem, const yw_mesher_def* def,
                         const yw_size_wish* wish, yw_tasks* tasks, yw_tet_mesh* out,
                         yw_tet_fit* fit, yw_error* error);

#endif
