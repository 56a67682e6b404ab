// SPDX-License-Identifier: MIT
// Short lists of numbers, of which many are the same: each kind is kept once. On a lattice, the
// neighbours of a master, relative to its own number, are of a few thousand kinds.
#ifndef YW_METHODS_PLASTIC_KINDS_H
#define YW_METHODS_PLASTIC_KINDS_H

#include "yawara/base.h"

typedef struct plastic_kinds {
  const yw_allocator* mem;
  int32_t *first, *list;  ///< kind i is list[first[i]] to list[first[i + 1] - 1]
  int32_t count, room, used, list_room;
  int32_t* head;  ///< open hash table of kinds + 1; 0: none
  uint32_t mask;
} plastic_kinds;

/// For at most so many kinds. False: out of memory; end must be called all the same.
bool yw_plastic_kinds_begin(plastic_kinds* kinds, const yw_allocator* mem, int32_t most);
/// The kind with these members; -1: out of memory.
int32_t yw_plastic_kind_of(plastic_kinds* kinds, const int32_t* members, int32_t count);
/// Hands the lists over, without spare room; good: whether all went well so far. Returns whether it
/// did.
bool yw_plastic_kinds_end(plastic_kinds* kinds, bool good, int32_t** first, int32_t** list);

#endif
