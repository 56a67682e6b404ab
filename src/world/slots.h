// SPDX-License-Identifier: MIT
// Bodies, pins and obstacles are stored in lists of slots. Every item begins with its generation, a
// uint32_t that is odd while the item is alive; an id is the slot + 1 and the generation.
#ifndef YW_WORLD_SLOTS_H
#define YW_WORLD_SLOTS_H

#include <string.h>

#include "yawara/extend/memory.h"

static inline uint32_t yw_slot_generation(const void* items, int32_t slot, size_t size) {
  uint32_t generation;
  memcpy(&generation, (const char*)items + (size_t)slot * size, sizeof generation);
  return generation;
}

/// The item of an id, or NULL when the id is null or stale.
#define YW_SLOT_FIND(list, id) \
  yw_slot_find((list)->items, (list)->count, sizeof *(list)->items, (id).index1, (id).generation)
static inline void* yw_slot_find(void* items, int32_t count, size_t size, uint32_t index1,
                                 uint32_t generation) {
  if (index1 == 0 || index1 > (uint32_t)count || !(generation & 1)) return NULL;
  int32_t slot = (int32_t)(index1 - 1);
  if (yw_slot_generation(items, slot, size) != generation) return NULL;
  return (char*)items + (size_t)slot * size;
}

/// Index of a dead slot, or of a new zeroed one at the end. -1 when out of memory.
#define YW_SLOT_FREE(mem, list)                                             \
  (YW_LIST_RESERVE((mem), (list), 1)                                        \
       ? yw_slot_free((list)->items, &(list)->count, sizeof *(list)->items) \
       : -1)
/// The list must have capacity for one more.
static inline int32_t yw_slot_free(void* items, int32_t* count, size_t size) {
  for (int32_t i = 0; i < *count; ++i) {
    if (!(yw_slot_generation(items, i, size) & 1)) return i;
  }
  memset((char*)items + (size_t)*count * size, 0, size);
  return (*count)++;
}

#endif
