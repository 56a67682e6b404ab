// SPDX-License-Identifier: MIT
// Arrays of a body on the device that grow with it.
#ifndef YW_DEVICE_CUDA_BUFFERS_H
#define YW_DEVICE_CUDA_BUFFERS_H

#include "device/cuda/runtime.h"

/// Memory of the device that grows.
struct device_buffer {
  void* memory;
  size_t capacity;
};

static bool buffer_reserve(device_stream stream, device_buffer* buffer, size_t bytes) {
  if (bytes <= buffer->capacity) return true;
  if (!device_wait(stream)) return false;
  device_release(buffer->memory);
  buffer->memory = device_alloc(bytes);
  buffer->capacity = buffer->memory ? bytes : 0;
  return buffer->memory != NULL;
}

/// Makes room, copies, and sets a pointer of the arguments; a NULL source leaves what is there.
template <class Item>
static bool buffer_put(device_stream stream, device_buffer* buffer, const Item* from, size_t count,
                       Item** pointer) {
  if (!buffer_reserve(stream, buffer, count * sizeof(Item))) return false;
  *pointer = (Item*)buffer->memory;
  return !from || device_put(stream, buffer->memory, from, count * sizeof(Item));
}

#endif
