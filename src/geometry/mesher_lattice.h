// SPDX-License-Identifier: MIT
// A body-centred cubic lattice, stored only where the shape is.
//
// Cell (i, j, k) has two nodes: its corner at origin + spacing * (i, j, k), and its centre, half a
// spacing further on each axis. Where the shape has flat faces, the planes of the lattice are
// shifted onto them (mesher_align.h), and cells are boxes instead of cubes. Long edges join nodes
// of the same kind along an axis; short edges (sqrt(3)/2) join a centre with its eight corners.
// Nodes are stored in blocks of 4 x 4 x 4 cells.
#ifndef YW_GEOMETRY_MESHER_LATTICE_H
#define YW_GEOMETRY_MESHER_LATTICE_H

#include "geometry/mesher_align.h"
#include "geometry/tet_math.h"
#include "yawara/shape.h"

#define YW_BCC_SIDE 4
#define YW_BCC_CELLS 64   ///< cells per block
#define YW_BCC_NODES 128  ///< nodes per block: 64 corners, then 64 centres

/// Directions: 0-2 along +x, +y, +z; 3-5 along -x, -y, -z; 6-13 the short edges, 6 + bits, where
/// bit a says whether the edge goes up on axis a.
#define YW_BCC_DIRECTIONS 14

typedef struct yw_bcc_block {
  int32_t cell[3];         ///< of the block's first cell, a multiple of 4
  int32_t neighbours[27];  ///< surrounding blocks, x fastest; 13 is itself; -1: none (all outside)
  bool uniform;            ///< all nodes on one side and far from the surface; not evaluated
} yw_bcc_block;

typedef struct yw_bcc {
  yw_allocator mem;
  const yw_shape* shape;
  yw_dvec3 origin;
  double spacing;
  yw_alignment alignment;  ///< owned
  int32_t num_blocks;
  yw_bcc_block* blocks;
  float* values;  ///< per node: signed distance, negative inside; only its sign where uniform
} yw_bcc;

/// Creates the lattice for a bounded shape, aligned with its flat faces if `align`. More than
/// max_blocks blocks are refused with YW_ERR_LIMIT before their nodes are allocated (the caller
/// writes the message).
yw_status yw_bcc_create(const yw_allocator* mem, const yw_shape* shape, yw_aabb bounds,
                        double spacing, bool align, int32_t max_blocks, yw_bcc* out);
void yw_bcc_free(yw_bcc* lattice);

/// Node of cell (x, y, z), relative to the first cell of the block and at most one block away; -1
/// if there is no block.
static inline int32_t yw_bcc_node(const yw_bcc* lattice, int32_t block, int x, int y, int z,
                                  int center) {
  int bx = (x >> 2) + 1, by = (y >> 2) + 1, bz = (z >> 2) + 1;
  int32_t home = lattice->blocks[block].neighbours[bx + 3 * by + 9 * bz];
  if (home < 0) return -1;
  return home * YW_BCC_NODES + center * YW_BCC_CELLS + (x & 3) + 4 * (y & 3) + 16 * (z & 3);
}

/// Location of a node: block, cell in the block, kind.
typedef struct yw_bcc_place {
  int32_t block;
  int x, y, z, center;
} yw_bcc_place;

static inline yw_bcc_place yw_bcc_place_of(int32_t node) {
  int local = node & (YW_BCC_NODES - 1), cell = local & (YW_BCC_CELLS - 1);
  return (yw_bcc_place){node / YW_BCC_NODES, cell & 3, cell >> 2 & 3, cell >> 4,
                        local / YW_BCC_CELLS};
}

/// The node at the other end of the edge in a direction; -1: none.
static inline int32_t yw_bcc_neighbour(const yw_bcc* lattice, int32_t node, int direction) {
  yw_bcc_place p = yw_bcc_place_of(node);
  if (direction < 3) {
    return yw_bcc_node(lattice, p.block, p.x + (direction == 0), p.y + (direction == 1),
                       p.z + (direction == 2), p.center);
  }
  if (direction < 6) {
    return yw_bcc_node(lattice, p.block, p.x - (direction == 3), p.y - (direction == 4),
                       p.z - (direction == 5), p.center);
  }
  // A centre's corners have offsets 0 and 1, a corner's centres -1 and 0.
  int bits = direction - 6, down = 1 - p.center;
  return yw_bcc_node(lattice, p.block, p.x + (bits & 1) - down, p.y + (bits >> 1 & 1) - down,
                     p.z + (bits >> 2) - down, 1 - p.center);
}

/// The edge in a direction, in spacings.
static inline yw_dvec3 yw_bcc_edge(int direction) {
  if (direction < 6) {
    double sign = direction < 3 ? 1.0 : -1.0;
    int axis = direction % 3;
    return (yw_dvec3){axis == 0 ? sign : 0.0, axis == 1 ? sign : 0.0, axis == 2 ? sign : 0.0};
  }
  int bits = direction - 6;
  return (yw_dvec3){bits & 1 ? 0.5 : -0.5, bits & 2 ? 0.5 : -0.5, bits & 4 ? 0.5 : -0.5};
}

/// A place given in cells.
static inline yw_dvec3 yw_bcc_point(const yw_bcc* lattice, double x, double y, double z) {
  if (yw_is_aligned(&lattice->alignment)) {
    return yw_alignment_position(&lattice->alignment, x, y, z);
  }
  return yw_dmad(lattice->origin, lattice->spacing, (yw_dvec3){x, y, z});
}

static inline yw_dvec3 yw_bcc_position(const yw_bcc* lattice, int32_t node) {
  yw_bcc_place p = yw_bcc_place_of(node);
  const int32_t* cell = lattice->blocks[p.block].cell;
  double half = 0.5 * p.center;
  return yw_bcc_point(lattice, cell[0] + p.x + half, cell[1] + p.y + half, cell[2] + p.z + half);
}

/// The vector to the neighbour in a direction, which must exist.
static inline yw_dvec3 yw_bcc_edge_vector(const yw_bcc* lattice, int32_t node, int direction) {
  if (!yw_is_aligned(&lattice->alignment)) {
    return yw_dscale(yw_bcc_edge(direction), lattice->spacing);
  }
  int32_t other = yw_bcc_neighbour(lattice, node, direction);
  return yw_dsub(yw_bcc_position(lattice, other), yw_bcc_position(lattice, node));
}

#endif
