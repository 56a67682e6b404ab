// SPDX-License-Identifier: MIT
#include "methods/plastic/kinds.h"

#include <string.h>

#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

// Room for one more kind with so many members.
static bool reserve(plastic_kinds* kinds, int32_t members) {
  if (kinds->used > INT32_MAX / 4 - members) return false;
  if (kinds->count + 2 > kinds->room) {
    int32_t wanted = 2 * kinds->room + 256;
    int32_t* first =
        yw_mem_resize(kinds->mem, kinds->first, (size_t)kinds->room, (size_t)wanted, sizeof *first);
    if (!first) return false;
    kinds->first = first;
    kinds->room = wanted;
  }
  if (kinds->used + members > kinds->list_room) {
    int32_t wanted = 2 * (kinds->used + members);
    int32_t* list =
        yw_mem_resize(kinds->mem, kinds->list, (size_t)kinds->used, (size_t)wanted, sizeof *list);
    if (!list) return false;
    kinds->list = list;
    kinds->list_room = wanted;
  }
  return true;
}

bool yw_plastic_kinds_begin(plastic_kinds* kinds, const yw_allocator* mem, int32_t most) {
  *kinds = (plastic_kinds){.mem = mem, .mask = 1023};
  // Never more than half full.
  while (kinds->mask / 2 < (uint32_t)most) kinds->mask = 2 * kinds->mask + 1;
  kinds->head = YW_NEW_ARRAY(mem, int32_t, (size_t)kinds->mask + 1);
  if (!kinds->head || !reserve(kinds, 32)) return false;
  kinds->first[0] = 0;
  return true;
}

int32_t yw_plastic_kind_of(plastic_kinds* kinds, const int32_t* members, int32_t count) {
  size_t bytes = (size_t)count * sizeof *members;
  uint32_t at = (uint32_t)yw_hash_bytes(YW_HASH_SEED, members, bytes) & kinds->mask;
  for (; kinds->head[at] > 0; at = (at + 1) & kinds->mask) {
    int32_t kind = kinds->head[at] - 1, first = kinds->first[kind];
    bool same = kinds->first[kind + 1] - first == count;
    if (same && memcmp(kinds->list + first, members, bytes) == 0) return kind;
  }
  if (!reserve(kinds, count)) return -1;
  memcpy(kinds->list + kinds->used, members, bytes);
  kinds->used += count;
  kinds->head[at] = ++kinds->count;
  kinds->first[kinds->count] = kinds->used;
  return kinds->count - 1;
}

static int32_t* fitted(const yw_allocator* mem, const int32_t* list, int32_t count) {
  int32_t* out = YW_NEW_ARRAY(mem, int32_t, count);
  if (out && count > 0) memcpy(out, list, (size_t)count * sizeof *out);
  return out;
}

bool yw_plastic_kinds_end(plastic_kinds* kinds, bool good, int32_t** first, int32_t** list) {
  if (good) {
    *first = fitted(kinds->mem, kinds->first, kinds->count + 1);
    *list = fitted(kinds->mem, kinds->list, kinds->used);
    good = *first && *list;
  }
  yw_mem_free(kinds->mem, kinds->head);
  yw_mem_free(kinds->mem, kinds->first);
  yw_mem_free(kinds->mem, kinds->list);
  return good;
}
