// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Allocation through the caller's hook: always 64-byte aligned, sizes checked for overflow.
#ifndef YAWARA_EXTEND_MEMORY_H
#define YAWARA_EXTEND_MEMORY_H

#include "../base.h"

/// mem, or malloc where mem is NULL or zeroed.
YW_API yw_allocator yw_mem_or_default(const yw_allocator* mem);

/// count * size bytes, zeroed; NULL when the size does not fit or memory is out. count 0 gives a
/// valid pointer.
YW_API void* yw_mem_alloc(const yw_allocator* mem, size_t count, size_t size);
/// NULL is fine.
YW_API void yw_mem_free(const yw_allocator* mem, void* pointer);
/// A copy of old_count elements in a new block of new_count elements; the old block is freed on
/// success.
YW_API void* yw_mem_resize(const yw_allocator* mem, void* old, size_t old_count, size_t new_count,
                           size_t size);

#define YW_NEW(mem, type) ((type*)yw_mem_alloc((mem), 1, sizeof(type)))
#define YW_NEW_ARRAY(mem, type, count) ((type*)yw_mem_alloc((mem), (size_t)(count), sizeof(type)))
/// Frees an array (NULL is fine) and puts one of `count` zeroed elements in its place; false when
/// memory is out (the array is then NULL).
#define YW_RENEW_ARRAY(mem, array, count)                                                        \
  (yw_mem_free((mem), (array)), (array) = yw_mem_alloc((mem), (size_t)(count), sizeof *(array)), \
   (array) != NULL)

/// A list that grows: items, count and capacity, all of one type. Zero-initialise it.
#define YW_LIST(type) \
  struct {            \
    type* items;      \
    int32_t count;    \
    int32_t capacity; \
  }
/// Makes room for `extra` more items; false when memory is out (the list is unchanged). Evaluates
/// its arguments more than once.
#define YW_LIST_RESERVE(mem, list, extra)                                                        \
  ((list)->items = yw_list_grow((mem), (list)->items, &(list)->capacity, (list)->count, (extra), \
                                sizeof *(list)->items),                                          \
   (list)->items != NULL && (list)->capacity - (list)->count >= (extra))
#define YW_LIST_FREE(mem, list) \
  (yw_mem_free((mem), (list)->items), (list)->items = NULL, (list)->count = (list)->capacity = 0)
/// What YW_LIST_RESERVE does: the items, moved where they had to grow. When memory is out they are
/// where they were, and *capacity is unchanged.
YW_API void* yw_list_grow(const yw_allocator* mem, void* items, int32_t* capacity, int32_t count,
                          int32_t extra, size_t size);

#endif
