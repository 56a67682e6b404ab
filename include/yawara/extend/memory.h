// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Allocation through the caller's allocator: 64-byte aligned, sizes checked for overflow.
#ifndef YAWARA_EXTEND_MEMORY_H
#define YAWARA_EXTEND_MEMORY_H

#include "../base.h"

/// mem, or malloc if mem is NULL or zeroed.
YW_API yw_allocator yw_mem_or_default(const yw_allocator* mem);

/// count * size bytes, zeroed; NULL if the size overflows or memory runs out. count 0 gives a valid
/// pointer.
YW_API void* yw_mem_alloc(const yw_allocator* mem, size_t count, size_t size);
/// pointer may be NULL.
YW_API void yw_mem_free(const yw_allocator* mem, void* pointer);
/// Copies old_count elements to a new block of new_count elements. The old block is freed on
/// success.
YW_API void* yw_mem_resize(const yw_allocator* mem, void* old, size_t old_count, size_t new_count,
                           size_t size);

#define YW_NEW(mem, type) ((type*)yw_mem_alloc((mem), 1, sizeof(type)))
#define YW_NEW_ARRAY(mem, type, count) ((type*)yw_mem_alloc((mem), (size_t)(count), sizeof(type)))
/// Replaces an array (may be NULL) by one of `count` zeroed elements; false if out of memory (the
/// array is then NULL).
#define YW_RENEW_ARRAY(mem, array, count)                                                        \
  (yw_mem_free((mem), (array)), (array) = yw_mem_alloc((mem), (size_t)(count), sizeof *(array)), \
   (array) != NULL)

/// A growable list. Zero-initialise it.
#define YW_LIST(type) \
  struct {            \
    type* items;      \
    int32_t count;    \
    int32_t capacity; \
  }
/// Makes room for `extra` more items; false if out of memory (the list is unchanged). Evaluates its
/// arguments more than once.
#define YW_LIST_RESERVE(mem, list, extra)                                                        \
  ((list)->items = yw_list_grow((mem), (list)->items, &(list)->capacity, (list)->count, (extra), \
                                sizeof *(list)->items),                                          \
   (list)->items != NULL && (list)->capacity - (list)->count >= (extra))
#define YW_LIST_FREE(mem, list) \
  (yw_mem_free((mem), (list)->items), (list)->items = NULL, (list)->count = (list)->capacity = 0)
/// Implements YW_LIST_RESERVE. Returns the items, moved if they had to grow. If out of memory they
/// are not moved and *capacity is unchanged.
YW_API void* yw_list_grow(const yw_allocator* mem, void* items, int32_t* capacity, int32_t count,
                          int32_t extra, size_t size);

#endif
