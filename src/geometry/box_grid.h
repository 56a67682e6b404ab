// SPDX-License-Identifier: MIT
// Which of many boxes overlap a given one: a hashed grid.
#ifndef YW_GEOMETRY_BOX_GRID_H
#define YW_GEOMETRY_BOX_GRID_H

#include "yawara/base.h"

typedef struct yw_box_entry {
  int32_t cell[3];
  int32_t box;
  int32_t next;  ///< entry of the same slot; -1: none
} yw_box_entry;

typedef struct yw_box_grid {
  yw_allocator mem;
  int32_t num_boxes;
  const yw_aabb* boxes;  ///< not owned
  yw_vec3 origin;
  float cell;
  uint32_t mask;
  int32_t* slots;  ///< entry + 1; 0: empty
  int32_t num_entries, capacity;
  yw_box_entry* entries;
  int32_t num_large, large_capacity;
  int32_t* large;  ///< boxes that would fill too many cells: looked at by every query
} yw_box_grid;

yw_status yw_box_grid_create(const yw_allocator* mem, int32_t num_boxes, const yw_aabb* boxes,
                             yw_box_grid* out);
void yw_box_grid_free(yw_box_grid* grid);

/// Calls `visit` once for every box that overlaps or touches the given one, in a fixed order.
void yw_box_grid_query(const yw_box_grid* grid, yw_aabb box,
                       void (*visit)(void* context, int32_t box), void* context);

#endif
