// SPDX-License-Identifier: MIT
#include "geometry/box_grid.h"

#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define MAX_CELLS 64        // per box
#define MAX_QUERY 100000.0  // cells per query: larger ones look at all boxes

typedef struct cell_range {
  int32_t low[3], high[3];
  double count;
} cell_range;

static int32_t cell_of(float x, float origin, float size) {
  double cell = floor(((double)x - (double)origin) / (double)size);
  return (int32_t)fmin(fmax(cell, -1e9), 1e9);
}

static cell_range range_of(const yw_box_grid* g, yw_aabb box) {
  const float *lower = &box.lower.x, *upper = &box.upper.x, *origin = &g->origin.x;
  cell_range range = {.count = 1.0};
  for (int axis = 0; axis < 3; ++axis) {
    range.low[axis] = cell_of(lower[axis], origin[axis], g->cell);
    range.high[axis] = cell_of(upper[axis], origin[axis], g->cell);
    range.count *= (double)range.high[axis] - (double)range.low[axis] + 1.0;
  }
  return range;
}

static uint32_t slot_of(const yw_box_grid* g, const int32_t cell[3]) {
  uint64_t h = yw_hash_u64(YW_HASH_SEED, (uint64_t)(uint32_t)cell[0] << 32 | (uint32_t)cell[1]);
  return (uint32_t)yw_hash_u64(h, (uint32_t)cell[2]) & g->mask;
}

static bool add_entry(yw_box_grid* g, const int32_t cell[3], int32_t box) {
  g->entries =
      yw_list_grow(&g->mem, g->entries, &g->capacity, g->num_entries, 1, sizeof *g->entries);
  if (g->entries == NULL || g->capacity <= g->num_entries) return false;
  uint32_t slot = slot_of(g, cell);
  g->entries[g->num_entries] = (yw_box_entry){{cell[0], cell[1], cell[2]}, box, g->slots[slot] - 1};
  g->slots[slot] = ++g->num_entries;
  return true;
}

static bool add_box(yw_box_grid* g, int32_t box) {
  cell_range range = range_of(g, g->boxes[box]);
  if (range.count > MAX_CELLS) {
    g->large =
        yw_list_grow(&g->mem, g->large, &g->large_capacity, g->num_large, 1, sizeof *g->large);
    if (g->large == NULL || g->large_capacity <= g->num_large) return false;
    g->large[g->num_large++] = box;
    return true;
  }
  int32_t cell[3];
  for (cell[2] = range.low[2]; cell[2] <= range.high[2]; ++cell[2]) {
    for (cell[1] = range.low[1]; cell[1] <= range.high[1]; ++cell[1]) {
      for (cell[0] = range.low[0]; cell[0] <= range.high[0]; ++cell[0]) {
        if (!add_entry(g, cell, box)) return false;
      }
    }
  }
  return true;
}

yw_status yw_box_grid_create(const yw_allocator* mem, int32_t num_boxes, const yw_aabb* boxes,
                             yw_box_grid* out) {
  yw_box_grid g = {.mem = yw_mem_or_default(mem), .num_boxes = num_boxes, .boxes = boxes};
  *out = (yw_box_grid){0};
  double sum = 0.0;
  for (int32_t n = 0; n < num_boxes; ++n) {
    yw_vec3 size = yw_sub(boxes[n].upper, boxes[n].lower);
    sum += (double)fmaxf(size.x, fmaxf(size.y, size.z));
  }
  g.cell = fmaxf((float)(sum / (num_boxes > 0 ? num_boxes : 1)), 1e-30f);
  if (num_boxes > 0) g.origin = boxes[0].lower;
  uint32_t capacity = 16;
  while (capacity < (uint32_t)num_boxes && capacity < 1u << 30) capacity *= 2;
  g.mask = capacity - 1;
  g.slots = YW_NEW_ARRAY(&g.mem, int32_t, capacity);
  bool ready = g.slots != NULL;
  for (int32_t n = 0; ready && n < num_boxes; ++n) ready = add_box(&g, n);
  if (ready) {
    *out = g;
  } else {
    yw_box_grid_free(&g);
  }
  return ready ? YW_OK : YW_ERR_MEMORY;
}

void yw_box_grid_free(yw_box_grid* g) {
  yw_mem_free(&g->mem, g->slots);
  yw_mem_free(&g->mem, g->entries);
  yw_mem_free(&g->mem, g->large);
  *g = (yw_box_grid){0};
}

static bool overlap(yw_aabb a, yw_aabb b) {
  return a.lower.x <= b.upper.x && b.lower.x <= a.upper.x && a.lower.y <= b.upper.y &&
         b.lower.y <= a.upper.y && a.lower.z <= b.upper.z && b.lower.z <= a.upper.z;
}

// Boxes that share several cells meet in the one with the lower corner of what they share.
static bool meets_in(const yw_box_grid* g, yw_aabb a, yw_aabb b, const int32_t cell[3]) {
  yw_vec3 lower = yw_max3(a.lower, b.lower);
  const float *x = &lower.x, *origin = &g->origin.x;
  for (int axis = 0; axis < 3; ++axis) {
    if (cell_of(x[axis], origin[axis], g->cell) != cell[axis]) return false;
  }
  return true;
}

void yw_box_grid_query(const yw_box_grid* g, yw_aabb box, void (*visit)(void* context, int32_t box),
                       void* context) {
  cell_range range = range_of(g, box);
  if (range.count > MAX_QUERY) {
    for (int32_t n = 0; n < g->num_boxes; ++n) {
      if (overlap(g->boxes[n], box)) visit(context, n);
    }
    return;
  }
  for (int32_t n = 0; n < g->num_large; ++n) {
    if (overlap(g->boxes[g->large[n]], box)) visit(context, g->large[n]);
  }
  int32_t cell[3];
  for (cell[2] = range.low[2]; cell[2] <= range.high[2]; ++cell[2]) {
    for (cell[1] = range.low[1]; cell[1] <= range.high[1]; ++cell[1]) {
      for (cell[0] = range.low[0]; cell[0] <= range.high[0]; ++cell[0]) {
        for (int32_t e = g->slots[slot_of(g, cell)] - 1; e >= 0; e = g->entries[e].next) {
          const yw_box_entry* entry = &g->entries[e];
          if (entry->cell[0] != cell[0] || entry->cell[1] != cell[1] || entry->cell[2] != cell[2])
            continue;
          yw_aabb other = g->boxes[entry->box];
          if (overlap(other, box) && meets_in(g, other, box, cell)) visit(context, entry->box);
        }
      }
    }
  }
}
