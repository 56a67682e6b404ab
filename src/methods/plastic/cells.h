// SPDX-License-Identifier: MIT
// Cells with an edge slightly longer than 2h, stored in hash buckets: cells that follow each other
// along x are adjacent in memory, lines of cells are scattered by a hash. The cost does not depend
// on the distance between bodies.
#ifndef YW_METHODS_PLASTIC_CELLS_H
#define YW_METHODS_PLASTIC_CELLS_H

#include <math.h>

#include "yawara/extend/vec.h"

/// Lists reach this far beyond 2h, in units of h, if they can last for several steps.
#define PLASTIC_SKIN 0.12f

typedef struct plastic_cell {
  int32_t x, y, z;
} plastic_cell;

static inline float plastic_cell_edge(float spacing) { return (2.0f + PLASTIC_SKIN) * spacing; }

static inline int32_t plastic_cell_index(float x, float edge) {
  double i = floor((double)x / (double)edge);
  // A body this far away has diverged; 0 keeps the conversion defined.
  return fabs(i) < 1e9 ? (int32_t)i : 0;
}

static inline plastic_cell plastic_cell_of(yw_vec4 p, float edge) {
  return (plastic_cell){plastic_cell_index(p.x, edge), plastic_cell_index(p.y, edge),
                        plastic_cell_index(p.z, edge)};
}

/// Hash of a line of cells along x. Lines near each other get different values.
static inline uint32_t plastic_line(int32_t y, int32_t z) {
  return (uint32_t)y * 0x9e3779b1u + (uint32_t)z * 0x85ebca77u;
}

#endif
