// SPDX-License-Identifier: MIT
// Memory that counts its blocks and can be made to run out.
#ifndef YW_TESTS_SUPPORT_COUNTED_MEMORY_H
#define YW_TESTS_SUPPORT_COUNTED_MEMORY_H

#include <limits.h>
#include <stdatomic.h>

#include "support/testing.h"
#include "yawara/base.h"

#define ENOUGH INT_MAX

/// Atomic, since several threads may ask at once.
typedef struct counted_memory {
  atomic_int left;   ///< blocks that can still be had; ENOUGH: does not run out
  atomic_int calls;  ///< blocks that were had
  atomic_int alive;  ///< of these, blocks that were not released
} counted_memory;

static inline void* counted_alloc(void* context, size_t size, size_t align) {
  counted_memory* memory = (counted_memory*)context;
  if (memory->left-- <= 0) return NULL;
  ++memory->calls;
  ++memory->alive;
  return aligned_alloc(align, (size + align - 1) / align * align);
}

static inline void counted_release(void* context, void* pointer) {
  --((counted_memory*)context)->alive;
  free(pointer);
}

static inline yw_allocator counted_allocator(counted_memory* memory) {
  return (yw_allocator){counted_alloc, counted_release, memory};
}

#endif
