// SPDX-License-Identifier: MIT
#include "files/tag_index.h"

#include <inttypes.h>

#include "yawara/extend/hash.h"

bool yw_tag_push(yw_tag_index* index, yw_scan* scan, const yw_allocator* mem, int64_t tag) {
  return YW_PUSH(mem, scan, &index->tags, tag);
}

// The slot that holds a tag, or the empty one where it belongs.
static size_t slot_of(const yw_tag_index* index, int64_t tag) {
  size_t slot = (size_t)yw_hash_u64(index->seed, (uint64_t)tag) & (index->num_slots - 1);
  while (index->slots[slot] && index->tags.items[index->slots[slot] - 1] != tag)
    slot = (slot + 1) & (index->num_slots - 1);
  return slot;
}

// Most files number without gaps. Others use a hash table, whose seed depends on all tags so that
// no file can be crafted to make it slow.
bool yw_tag_finish(yw_tag_index* index, yw_scan* scan, const yw_allocator* mem, const char* what) {
  int32_t count = index->tags.count;
  const int64_t* tags = index->tags.items;
  index->consecutive = true;
  for (int32_t i = 1; i < count && index->consecutive; ++i)
    index->consecutive = tags[i - 1] < INT64_MAX && tags[i] == tags[i - 1] + 1;
  if (index->consecutive) return true;
  for (index->num_slots = 16; index->num_slots < 2 * (size_t)count;) index->num_slots *= 2;
  index->slots = YW_NEW_ARRAY(mem, int32_t, index->num_slots);
  if (!index->slots) return yw_scan_fail_memory(scan);
  index->seed = yw_hash_bytes(YW_HASH_SEED, tags, (size_t)count * sizeof *tags);
  for (int32_t i = 0; i < count; ++i) {
    size_t slot = slot_of(index, tags[i]);
    if (index->slots[slot])
      return yw_scan_fail(scan, "two %s have the number %" PRId64, what, tags[i]);
    index->slots[slot] = i + 1;
  }
  return true;
}

int64_t yw_tag_find(const yw_tag_index* index, int64_t tag) {
  if (index->tags.count == 0) return -1;
  int64_t first = index->tags.items[0];
  if (index->consecutive) return tag >= first && tag - first < index->tags.count ? tag - first : -1;
  return index->slots ? (int64_t)index->slots[slot_of(index, tag)] - 1 : -1;
}

void yw_tag_free(yw_tag_index* index, const yw_allocator* mem) {
  YW_LIST_FREE(mem, &index->tags);
  yw_mem_free(mem, index->slots);
  index->slots = NULL;
}
