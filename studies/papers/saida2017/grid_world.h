// SPDX-License-Identifier: MIT
// A plastic body of a world as particles of a material point method.
#ifndef YW_STUDIES_PAPERS_SAIDA2017_GRID_WORLD_H
#define YW_STUDIES_PAPERS_SAIDA2017_GRID_WORLD_H

#include "reference/mpm/mpm.h"
#include "yawara/yawara.h"

typedef struct grid_kind {
  const char* label;
  bool dense, implicit;
  float cells;  ///< edge of a cell, in spacings of masters
  float flip;
  yw_aabb box;  ///< of a dense grid
} grid_kind;

/// The first body at rest with its material, velocities and obstacles. NULL: out of memory, or too
/// many nodes.
mpm* grid_of_world(const yw_world* world, const grid_kind* kind);
/// Puts the masters of the first body where the particles are; false: out of memory.
bool grid_show(const mpm* m, yw_world* world);
/// Memory of the first body as `plastic`, bytes.
double grid_plastic_bytes(const yw_world* world);

#endif
