// SPDX-License-Identifier: MIT
// Sorting along a space-filling curve.
#ifndef YW_CONTACT_SURFACES_ORDER_H
#define YW_CONTACT_SURFACES_ORDER_H

#include "yawara/extend/vec.h"

typedef struct yw_sort_item {
  uint64_t key;
  int32_t value;
} yw_sort_item;

/// Sorts keys ascending with their values; equal keys keep their order. scratch has count entries.
void yw_sort_items(yw_sort_item* items, yw_sort_item* scratch, int32_t count);

/// Position on a Morton curve through the box, 10 bits per axis.
uint64_t yw_morton_code(yw_aabb box, yw_vec3 p);

#endif
