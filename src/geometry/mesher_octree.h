// SPDX-License-Identifier: MIT
// A body-centred lattice of several sizes: cells of an octree and the tets between their nodes.
//
// Cells of level l are 2^l times smaller than those of level 0, which fill the neighbourhood of the
// shape. Every cell has a node in its centre and nodes at its corners. Two neighbours of one level
// share four tets around the line between their centres, as in a lattice of one size; where cells
// are finer on one side, these tets are cut into two or four, and a cell without a neighbour of its
// own level ends in two half-pyramids at that face. All tets have angles of 45 degrees or more.
//
// A cell of level l + 1 needs the nodes at its corners, which need cells of level l around them. So
// the sizes of neighbours differ by a factor of two at most.
#ifndef YW_GEOMETRY_MESHER_OCTREE_H
#define YW_GEOMETRY_MESHER_OCTREE_H

#include "yawara/base.h"
#include "yawara/extend/memory.h"

#define YW_MAX_GRID_LEVEL 7

typedef struct yw_grid_cell {
  int32_t at[3];  ///< of its lower corner, in cells of its level
  int32_t level;
} yw_grid_cell;

/// Coordinates of a node; a cell of the finest level is two wide.
typedef struct yw_grid_node {
  int32_t at[3];
} yw_grid_node;

typedef struct yw_grid_tet {
  int32_t node[4];
  int32_t level;  ///< of the cells that it belongs to
} yw_grid_tet;

typedef struct yw_grid_table {
  int32_t* slots;  ///< item + 1, 0: empty
  size_t capacity;
} yw_grid_table;

typedef struct yw_octree {
  yw_allocator mem;
  int32_t finest;  ///< level
  int32_t max_cells;
  YW_LIST(yw_grid_cell) cells;
  YW_LIST(yw_grid_node) nodes;
  YW_LIST(yw_grid_tet) tets;
  yw_grid_table cell_table, node_table;
  yw_status status;  ///< of everything so far: YW_ERR_MEMORY, or YW_ERR_LIMIT above max_cells
} yw_octree;

void yw_octree_begin(const yw_allocator* mem, int32_t finest, int32_t max_cells, yw_octree* out);
void yw_octree_free(yw_octree* tree);

/// Adds a cell and those it needs, unless it is there.
void yw_octree_add(yw_octree* tree, yw_grid_cell cell);
/// -1: none.
int32_t yw_octree_find(const yw_octree* tree, yw_grid_cell cell);
/// The node at corner `bits` of a cell (bit a: the upper one on axis a), or at its centre (8).
int32_t yw_octree_node(const yw_octree* tree, yw_grid_cell cell, int bits);
/// Lists the tets of all cells.
void yw_octree_list_tets(yw_octree* tree);

/// Width of a cell in the coordinates of nodes.
static inline int32_t yw_octree_width(const yw_octree* tree, int32_t level) {
  return 2 << (tree->finest - level);
}

#endif
