// SPDX-License-Identifier: MIT
// The order of masters on a lattice. Points are in bricks of a chunk each, so that masters of one
// chunk lie close together. Bricks are in blocks, row by row, and blocks follow each other along a
// Hilbert curve: what ranks have, chunks that follow each other, is compact then, however many
// ranks there are. Within a block all bricks lie to each other in the same way, so that neighbours
// of masters are of few kinds (kinds.h).
#ifndef YW_METHODS_PLASTIC_BRICKS_H
#define YW_METHODS_PLASTIC_BRICKS_H

#include "yawara/base.h"

typedef struct plastic_bricks {
  int64_t size[3];   ///< of a brick, points
  int64_t count[3];  ///< bricks of the lattice
  int64_t block[3];  ///< bricks of a block
  int64_t across[3];
  int64_t num_blocks;
  int32_t* order;  ///< of blocks; NULL: row by row
} plastic_bricks;

/// points: of the lattice. False: out of memory.
bool yw_plastic_bricks_create(const yw_allocator* mem, const int64_t points[3],
                              plastic_bricks* out);
void yw_plastic_bricks_free(const yw_allocator* mem, plastic_bricks* bricks);
/// Brick number i of the block that comes in place b; false: the lattice has none there.
bool yw_plastic_brick_at(const plastic_bricks* bricks, int64_t b, int64_t i, int64_t brick[3]);
static inline int64_t yw_plastic_bricks_of_block(const plastic_bricks* bricks) {
  return bricks->block[0] * bricks->block[1] * bricks->block[2];
}

#endif
