// SPDX-License-Identifier: MIT
// Isosurface stuffing with cells of several sizes (mesher_octree.h): small where the shape is thin
// or asked to be, large elsewhere.
#ifndef YW_GEOMETRY_MESHER_GRADED_H
#define YW_GEOMETRY_MESHER_GRADED_H

#include "geometry/mesher_align.h"
#include "geometry/mesher_octree.h"
#include "geometry/mesher_size.h"
#include "yawara/shape.h"

typedef struct yw_grid_cut {
  int32_t node[2];  ///< lower number first
  float t;          ///< from the first node, 0 to 1
  int32_t vertex;   ///< of the mesh; -1: not created yet
} yw_grid_cut;

typedef struct yw_graded {
  yw_allocator mem;
  const yw_shape* shape;
  yw_tasks* tasks;
  yw_octree tree;
  yw_dvec3 origin;
  double spacing;          ///< of the finest cells, m
  yw_alignment alignment;  ///< in finest cells
  // Per node of the tree.
  float* values;      ///< distance, m
  signed char* side;  ///< -1 inside, 0 on the surface, 1 outside
  int32_t* width;     ///< of the smallest cell at it, in the coordinates of nodes
  int32_t* warp;      ///< cut that it was moved onto; -1: none
  YW_LIST(yw_grid_cut) cuts;
  yw_grid_table cut_table;
} yw_graded;

/// Lays cells of the wanted sizes over the shape, finds where its surface cuts their edges, and
/// moves nodes onto cuts that are too close to them. YW_ERR_LIMIT above max_cells cells. tasks may
/// be NULL.
yw_status yw_graded_create(const yw_allocator* mem, const yw_shape* shape, yw_aabb bounds,
                           const yw_size_field* sizes, int32_t max_cells, yw_tasks* tasks,
                           yw_graded* out);
void yw_graded_free(yw_graded* graded);
/// Fills a mesh; YW_ERR_LIMIT if it needs more than max_vertices vertices. on_surface receives one
/// byte per vertex, sizes the size of the cells at each, m; the caller frees both with mem.
yw_status yw_graded_tets(yw_graded* graded, int32_t max_vertices, yw_tet_mesh* out,
                         unsigned char** on_surface, float** sizes);

/// The second half of yw_graded_create: cuts and warps. The status of the tree says whether it
/// worked.
void yw_graded_find_cuts(yw_graded* graded);
/// Position of a node before it is moved.
yw_dvec3 yw_graded_place(const yw_graded* graded, int32_t node);
/// The cut between two nodes; NULL: none.
yw_grid_cut* yw_graded_cut(const yw_graded* graded, int32_t a, int32_t b);

#endif
