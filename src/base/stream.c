// SPDX-License-Identifier: MIT
#include "yawara/extend/stream.h"

#include <string.h>

#include "yawara/extend/hash.h"

// Floats written, and hashed, at a time.
#define BATCH 256

void yw_write_bytes(yw_writer* writer, const void* bytes, size_t size) {
  if (writer->hashing) writer->hash = yw_hash_bytes(writer->hash, bytes, size);
  if (writer->data) {
    if (size > writer->capacity - writer->size) {
      writer->overflow = true;
      return;
    }
    memcpy(writer->data + writer->size, bytes, size);
  }
  if (writer->put && !writer->silent) writer->put(writer->context, writer->size, bytes, size);
  writer->size += size;
}

void yw_write_u32(yw_writer* writer, uint32_t value) {
  unsigned char bytes[4];
  for (int i = 0; i < 4; ++i) bytes[i] = (unsigned char)(value >> (8 * i));
  yw_write_bytes(writer, bytes, sizeof bytes);
}

void yw_write_u64(yw_writer* writer, uint64_t value) {
  yw_write_u32(writer, (uint32_t)value);
  yw_write_u32(writer, (uint32_t)(value >> 32));
}

void yw_write_f64(yw_writer* writer, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  yw_write_u64(writer, bits);
}

void yw_write_f32(yw_writer* writer, const float* values, size_t count) {
  if (!writer->data && !writer->hashing && (!writer->put || writer->silent)) {
    writer->size += 4 * count;
    return;
  }
  for (size_t begin = 0; begin < count; begin += BATCH) {
    size_t batch = count - begin < BATCH ? count - begin : BATCH;
    // The bytes are those of the memory on most machines.
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const void* bytes = &values[begin];
#else
    unsigned char bytes[4 * BATCH];
    for (size_t i = 0; i < batch; ++i) {
      uint32_t bits;
      memcpy(&bits, &values[begin + i], sizeof bits);
      for (int k = 0; k < 4; ++k) bytes[4 * i + (size_t)k] = (unsigned char)(bits >> (8 * k));
    }
#endif
    yw_write_bytes(writer, bytes, 4 * batch);
  }
}

void yw_read_bytes(yw_reader* reader, void* bytes, size_t size) {
  if (reader->failed || size > reader->size - reader->offset) {
    reader->failed = true;
    memset(bytes, 0, size);
    return;
  }
  memcpy(bytes, reader->data + reader->offset, size);
  reader->offset += size;
}

uint32_t yw_read_u32(yw_reader* reader) {
  unsigned char bytes[4];
  yw_read_bytes(reader, bytes, sizeof bytes);
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= (uint32_t)bytes[i] << (8 * i);
  return value;
}

uint64_t yw_read_u64(yw_reader* reader) {
  uint64_t low = yw_read_u32(reader);
  return low | (uint64_t)yw_read_u32(reader) << 32;
}

double yw_read_f64(yw_reader* reader) {
  uint64_t bits = yw_read_u64(reader);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

void yw_read_f32(yw_reader* reader, float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = yw_read_u32(reader);
    memcpy(&values[i], &bits, sizeof bits);
  }
}
