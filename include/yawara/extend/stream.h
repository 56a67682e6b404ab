// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Byte streams in memory, for snapshots: little-endian, bounds checked.
#ifndef YAWARA_EXTEND_STREAM_H
#define YAWARA_EXTEND_STREAM_H

#include "../base.h"

/// Writes to a buffer, or where `put` takes it; without both it only counts or hashes.
typedef struct yw_writer {
  unsigned char* data;
  size_t size;      ///< bytes written (or counted)
  size_t capacity;  ///< of data
  bool overflow;
  bool hashing;   ///< mix everything written into hash
  uint64_t hash;  ///< start with YW_HASH_SEED
  /// Takes bytes that begin at an offset; NULL: nothing does.
  void (*put)(void* context, uint64_t offset, const void* bytes, size_t size);
  void* context;
  /// Others put what is written: it only counts here. On several ranks rank 0 puts what all have,
  /// and every rank puts what only it has (yw_writer_part).
  bool silent;
} yw_writer;

/// A writer that puts bytes from an offset on, where another one would be later.
static inline yw_writer yw_writer_part(const yw_writer* whole, size_t offset) {
  yw_writer part = {0};
  part.put = whole->put;
  part.context = whole->context;
  part.size = offset;
  return part;
}

typedef struct yw_reader {
  const unsigned char* data;
  size_t size;
  size_t offset;
  bool failed;  ///< read past the end; all further reads return zeros
} yw_reader;

YW_API void yw_write_bytes(yw_writer* writer, const void* bytes, size_t size);
YW_API void yw_write_u32(yw_writer* writer, uint32_t value);
YW_API void yw_write_u64(yw_writer* writer, uint64_t value);
YW_API void yw_write_f64(yw_writer* writer, double value);
YW_API void yw_write_f32(yw_writer* writer, const float* values, size_t count);

YW_API void yw_read_bytes(yw_reader* reader, void* bytes, size_t size);
YW_API uint32_t yw_read_u32(yw_reader* reader);
YW_API uint64_t yw_read_u64(yw_reader* reader);
YW_API double yw_read_f64(yw_reader* reader);
YW_API void yw_read_f32(yw_reader* reader, float* values, size_t count);

#endif
