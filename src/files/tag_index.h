// SPDX-License-Identifier: MIT
// Numbers that a file gives to its nodes or elements, in any order and with gaps, and a way back
// from a number to its place in the file.
#ifndef YW_FILES_TAG_INDEX_H
#define YW_FILES_TAG_INDEX_H

#include "files/mesh_build.h"

/// Zero-initialise it.
typedef struct yw_tag_index {
  YW_LIST(int64_t) tags;  ///< in the order of the file
  int32_t* slots;         ///< hash table from tag to place + 1
  size_t num_slots;
  uint64_t seed;
  bool consecutive;  ///< the tags are first, first + 1, ...
} yw_tag_index;

bool yw_tag_push(yw_tag_index* index, yw_scan* scan, const yw_allocator* mem, int64_t tag);
/// After the last push. A tag that occurs twice is an error; `what` names its owners, e.g. "nodes".
bool yw_tag_finish(yw_tag_index* index, yw_scan* scan, const yw_allocator* mem, const char* what);
/// Place of a tag, or -1.
int64_t yw_tag_find(const yw_tag_index* index, int64_t tag);
void yw_tag_free(yw_tag_index* index, const yw_allocator* mem);

#endif
