// SPDX-License-Identifier: MIT
// Strings and counted arrays in the files of a run: writing, and reading with all checks.
#ifndef YW_APP_PLAYBACK_BYTES_H
#define YW_APP_PLAYBACK_BYTES_H

#include <string.h>

#include "yawara/extend/stream.h"

/// Length and bytes, without the terminating 0.
static inline void write_text(yw_writer* writer, const char* text) {
  size_t length = strlen(text);
  yw_write_u32(writer, (uint32_t)length);
  yw_write_bytes(writer, text, length);
}

static inline void write_vectors(yw_writer* writer, const yw_vec3* values, int32_t count) {
  yw_write_f32(writer, (const float*)values, 3 * (size_t)count);
}

static inline void write_indices(yw_writer* writer, const int32_t* indices, size_t count) {
  for (size_t i = 0; i < count; ++i) yw_write_u32(writer, (uint32_t)indices[i]);
}

/// True if `count` items of `size` bytes each may still follow.
static inline bool has_room(const yw_reader* reader, size_t count, size_t size) {
  return !reader->failed && count <= (reader->size - reader->offset) / size;
}

/// A count of items of `size` bytes each that must still follow.
static inline bool read_count(yw_reader* reader, size_t size, int32_t* out) {
  uint32_t count = yw_read_u32(reader);
  if (count > INT32_MAX || !has_room(reader, count, size)) return false;
  *out = (int32_t)count;
  return true;
}

/// out has space for `capacity` bytes; longer strings, and those that contain a 0, are refused.
static inline bool read_text(yw_reader* reader, char* out, size_t capacity) {
  int32_t length;
  if (!read_count(reader, 1, &length) || (size_t)length >= capacity) return false;
  yw_read_bytes(reader, out, (size_t)length);
  out[length] = '\0';
  return strlen(out) == (size_t)length;
}

/// Numbers from 0 to limit - 1.
static inline bool read_indices(yw_reader* reader, size_t count, int32_t limit, int32_t* out) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t index = yw_read_u32(reader);
    if (index >= (uint32_t)limit) return false;
    out[i] = (int32_t)index;
  }
  return !reader->failed;
}

#endif
