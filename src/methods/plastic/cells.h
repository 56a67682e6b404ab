// SPDX-License-Identifier: MIT
// Cells of edge 2h and a little more, in buckets: cells that follow each other along x are
// neighbours in memory, lines of cells are scattered by a hash. The cost does not depend on how far
// bodies lie apart.
#ifndef YW_METHODS_PLASTIC_CELLS_H
#define YW_METHODS_PLASTIC_CELLS_H

#include <math.h>

#include "yawara/extend/vec.h"

/// Lists reach this much farther than 2h, in units of h, where they can last for some steps.
#define PLASTIC_SKIN 0.12f

typedef struct plastic_cell {
  int32_t x, y, z;
} plastic_cell;

static inline float plastic_cell_edge(float spacing) { return (2.0f + PLASTIC_SKIN) * spacing; }

static inline int32_t plastic_cell_index(float x, float edge) {
  double i = floor((double)x / (double)edge);
  // Bodies so far away have diverged; wrapping keeps the numbers defined.
  return fabs(i) < 1e9 ? (int32_t)i : 0;
}

static inline plastic_cell plastic_cell_of(yw_vec4 p, float edge) {
  return (plastic_cell){plastic_cell_index(p.x, edge), plastic_cell_index(p.y, edge),
                        plastic_cell_index(p.z, edge)};
}

/// The line of cells along x: different for all that are near each other.
static inline uint32_t plastic_line(int32_t y, int32_t z) {
  return (uint32_t)y * 0x9e3779b1u + (uint32_t)z * 0x85ebca77u;
}

#endif
