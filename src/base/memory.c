// SPDX-License-Identifier: MIT
#include "yawara/extend/memory.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT ((size_t)64)

static void* default_alloc(void* context, size_t size, size_t align) {
  (void)context;
  return aligned_alloc(align, (size + align - 1) / align * align);
}

static void default_release(void* context, void* pointer) {
  (void)context;
  free(pointer);
}

yw_allocator yw_mem_or_default(const yw_allocator* mem) {
  if (mem && mem->alloc && mem->release) return *mem;
  return (yw_allocator){default_alloc, default_release, NULL};
}

void* yw_mem_alloc(const yw_allocator* mem, size_t count, size_t size) {
  if (size && count > (SIZE_MAX / 2) / size) return NULL;
  size_t bytes = count > 0 && size > 0 ? count * size : 1;
  yw_allocator hook = yw_mem_or_default(mem);
  void* pointer = hook.alloc(hook.context, bytes, ALIGNMENT);
  if (pointer) memset(pointer, 0, bytes);
  return pointer;
}

void yw_mem_free(const yw_allocator* mem, void* pointer) {
  if (!pointer) return;
  yw_allocator hook = yw_mem_or_default(mem);
  hook.release(hook.context, pointer);
}

void* yw_mem_resize(const yw_allocator* mem, void* old, size_t old_count, size_t new_count,
                    size_t size) {
  void* fresh = yw_mem_alloc(mem, new_count, size);
  if (!fresh) return NULL;
  size_t kept = old_count < new_count ? old_count : new_count;
  if (old && kept) memcpy(fresh, old, kept * size);
  yw_mem_free(mem, old);
  return fresh;
}

void* yw_list_grow(const yw_allocator* mem, void* items, int32_t* capacity, int32_t count,
                   int32_t extra, size_t size) {
  int64_t wanted = (int64_t)count + extra, grown = wanted + wanted / 2 + 16;
  if ((wanted <= *capacity && items) || wanted > INT32_MAX) return items;
  if (grown > INT32_MAX) grown = INT32_MAX;
  void* fresh = yw_mem_resize(mem, items, (size_t)count, (size_t)grown, size);
  if (!fresh) return items;
  *capacity = (int32_t)grown;
  return fresh;
}
