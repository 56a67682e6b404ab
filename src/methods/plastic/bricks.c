// SPDX-License-Identifier: MIT
#include "methods/plastic/bricks.h"

#include "geometry/order.h"
#include "yawara/extend/memory.h"

// Edge of a block, points, at most (a brick more where bricks do not divide it). With blocks of
// half the edge 8 ranks send as much, and neighbours are of more kinds.
#define BLOCK 64

static bool order_blocks(const yw_allocator* mem, plastic_bricks* out) {
  int32_t count = (int32_t)out->num_blocks;
  yw_vec3* places = YW_NEW_ARRAY(mem, yw_vec3, count);
  out->order = YW_NEW_ARRAY(mem, int32_t, count);
  bool good = places && out->order;
  for (int32_t b = 0; good && b < count; ++b) {
    int64_t x = b % out->across[0], y = b / out->across[0] % out->across[1];
    places[b] = yw_v3((float)x, (float)y, (float)(b / (out->across[0] * out->across[1])));
  }
  good = good && yw_hilbert_order(mem, count, places, 1.0, out->order) >= 0;
  yw_mem_free(mem, places);
  return good;
}

bool yw_plastic_bricks_create(const yw_allocator* mem, const int64_t points[3],
                              plastic_bricks* out) {
  const int64_t flat[3] = {16, 1, 16}, thick[3] = {8, 8, 4};
  *out = (plastic_bricks){.num_blocks = 1};
  for (int k = 0; k < 3; ++k) {
    out->size[k] = points[1] == 1 ? flat[k] : thick[k];
    out->count[k] = (points[k] + out->size[k] - 1) / out->size[k];
    // Blocks of about the same size: ranks then get whole ones, or halves of them.
    out->across[k] = (points[k] + BLOCK - 1) / BLOCK;
    out->block[k] = (out->count[k] + out->across[k] - 1) / out->across[k];
    out->num_blocks *= out->across[k];
  }
  return out->num_blocks == 1 || order_blocks(mem, out);
}

void yw_plastic_bricks_free(const yw_allocator* mem, plastic_bricks* bricks) {
  yw_mem_free(mem, bricks->order);
  *bricks = (plastic_bricks){0};
}

bool yw_plastic_brick_at(const plastic_bricks* bricks, int64_t b, int64_t i, int64_t brick[3]) {
  int64_t block = bricks->order ? bricks->order[b] : b;
  for (int k = 0; k < 3; ++k) {
    int64_t at = block % bricks->across[k], first = at * bricks->count[k] / bricks->across[k];
    brick[k] = first + i % bricks->block[k];
    if (brick[k] >= (at + 1) * bricks->count[k] / bricks->across[k]) return false;
    block /= bricks->across[k];
    i /= bricks->block[k];
  }
  return true;
}
