// SPDX-License-Identifier: MIT
#include "server/thin.h"

#include <math.h>

#include "yawara/extend/memory.h"

// Side of a cell in radii. Balls of a lattice are two radii apart: with less, some cells inside
// would be empty; with more, more layers under the surface would be kept. Tuned on boxes and bent
// slabs.
#define CELL 3.0f
// Most cells, for each ball.
#define MAX_CELLS 8

typedef struct cells {
  float low[3], inv_side;
  int32_t size[3];         // with a border of empty cells
  unsigned char* is_full;  // 1: has a ball, 2: and so have all around it
} cells;

static int32_t cell_of(const cells* c, const float* position) {
  int32_t at[3];
  for (int k = 0; k < 3; ++k) {
    if (!isfinite(position[k])) return 0;
    at[k] = 1 + (int32_t)((position[k] - c->low[k]) * c->inv_side);
  }
  return (at[2] * c->size[1] + at[1]) * c->size[0] + at[0];
}

static bool make_cells(const float* positions, const float* radii, int32_t count, float shift,
                       cells* out) {
  float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  float radius = 0.0f;
  for (int32_t i = 0; i < count; ++i) {
    radius = fmaxf(radius, radii[i]);
    for (int k = 0; k < 3; ++k) {
      float x = positions[3 * i + k];
      if (!isfinite(x)) continue;
      low[k] = fminf(low[k], x);
      high[k] = fmaxf(high[k], x);
    }
  }
  double total = 1.0;
  *out = (cells){.inv_side = 1.0f / (CELL * radius)};
  for (int k = 0; k < 3; ++k) {
    out->low[k] = low[k] - shift / out->inv_side;
    double size = 3.0 + floor((double)((high[k] - out->low[k]) * out->inv_side));
    if (!(size <= 1e6)) return false;
    out->size[k] = (int32_t)size;
    total *= size;
  }
  if (total > (double)MAX_CELLS * count) return false;
  out->is_full = YW_NEW_ARRAY(NULL, unsigned char, (size_t)total);
  return out->is_full != NULL;
}

static bool is_surrounded(const cells* c, int32_t cell) {
  for (int32_t z = -1; z <= 1; ++z) {
    for (int32_t y = -1; y <= 1; ++y) {
      const unsigned char* row = c->is_full + cell + (z * c->size[1] + y) * c->size[0];
      if (!row[-1] || !row[0] || !row[1]) return false;
    }
  }
  return true;
}

// Marks cells whose neighbours are all full. The border is empty and is never looked around.
static void find_surrounded(const cells* c) {
  for (int32_t z = 1; z + 1 < c->size[2]; ++z) {
    for (int32_t y = 1; y + 1 < c->size[1]; ++y) {
      for (int32_t x = 1; x + 1 < c->size[0]; ++x) {
        int32_t cell = (z * c->size[1] + y) * c->size[0] + x;
        if (c->is_full[cell] && is_surrounded(c, cell)) c->is_full[cell] = 2;
      }
    }
  }
}

// Clears the marks of balls that may be seen. shift: of the cells, in parts of one.
static bool clear_seen(const float* positions, const float* radii, int32_t count, float shift,
                       bool* is_hidden) {
  cells c = {0};
  if (!make_cells(positions, radii, count, shift, &c)) return false;
  for (int32_t i = 0; i < count; ++i) c.is_full[cell_of(&c, positions + 3 * i)] = 1;
  // What is not finite was put into the first cell of the border.
  c.is_full[0] = 0;
  find_surrounded(&c);
  for (int32_t i = 0; i < count; ++i) {
    if (c.is_full[cell_of(&c, positions + 3 * i)] != 2) is_hidden[i] = false;
  }
  yw_mem_free(NULL, c.is_full);
  return true;
}

int32_t thin_balls(const float* positions, const float* radii, int32_t count, int32_t* kept) {
  bool* is_hidden = YW_NEW_ARRAY(NULL, bool, count);
  for (int32_t i = 0; is_hidden && i < count; ++i) is_hidden[i] = true;
  // An uneven surface that lies along a border of cells would lose what is just below; no surface
  // lies along the borders of both.
  bool can = is_hidden && clear_seen(positions, radii, count, 0.0f, is_hidden) &&
             clear_seen(positions, radii, count, 0.5f, is_hidden);
  int32_t num_kept = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (!can || !is_hidden[i]) kept[num_kept++] = i;
  }
  yw_mem_free(NULL, is_hidden);
  return num_kept;
}
