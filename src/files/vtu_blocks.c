// SPDX-License-Identifier: MIT
// Compressed arrays of VTK's XML files: a header of N, the size of a block, the size of the last
// one (0: a full one) and N compressed sizes; then the compressed blocks. As base64, the header
// and the blocks are encoded one after the other.
#include <inttypes.h>
#include <string.h>

#include "files/decompress.h"
#include "files/vtu_data.h"
#include "yawara/extend/file.h"

typedef struct blocks {
  uint64_t count, size, last;
  uint64_t header_bytes;    // of the whole header
  uint64_t stored;          // bytes of all blocks, compressed
  uint64_t expanded;        // bytes of all blocks
  const unsigned char* at;  // the header
} blocks;

// Bytes at the start of the array's data; *decoded is set if they had to be decoded.
static const unsigned char* take_bytes(yw_span data, bool base64, uint64_t count,
                                       const yw_allocator* mem, void** decoded, bool* good) {
  *good = yw_span_size(data) >= count;
  if (!base64 || !*good) return (const unsigned char*)data.begin;
  unsigned char* bytes = YW_NEW_ARRAY(mem, unsigned char, count);
  *decoded = bytes;
  if (bytes) *good = yw_base64_decode(data, (size_t)count, bytes) == (size_t)count;
  return bytes;
}

// The three numbers at the start, with sizes that cannot overflow what is computed from them.
static bool parse_start(yw_scan* scan, const yw_vtu_storage* storage, const unsigned char* bytes,
                        yw_span data, blocks* out) {
  uint64_t word = yw_scalar_size(storage->header_type);
  out->count = yw_vtu_header_word(storage, bytes);
  out->size = yw_vtu_header_word(storage, bytes + word);
  out->last = yw_vtu_header_word(storage, bytes + 2 * word);
  if (out->count > yw_span_size(data) / word || out->size > YW_FILE_MAX_BYTES ||
      out->last > out->size)
    return yw_scan_fail(scan,
                        "the array has %" PRIu64 " blocks of %" PRIu64
                        " bytes, the last of %" PRIu64 ", in %zu bytes of data",
                        out->count, out->size, out->last, yw_span_size(data));
  if (out->last == 0) out->last = out->size;
  out->header_bytes = (3 + out->count) * word;
  out->expanded = out->count ? (out->count - 1) * out->size + out->last : 0;
  return true;
}

static bool sum_sizes(yw_scan* scan, const yw_vtu_storage* storage, const unsigned char* bytes,
                      yw_span data, blocks* out) {
  uint64_t word = yw_scalar_size(storage->header_type), most = yw_span_size(data);
  for (uint64_t i = 0; i < out->count; ++i) {
    uint64_t size = yw_vtu_header_word(storage, bytes + (3 + i) * word);
    if (size > most - out->stored)
      return yw_scan_fail(
          scan, "block %" PRIu64 " of the array has %" PRIu64 " bytes, more than the data", i,
          size);
    out->stored += size;
  }
  return true;
}

// Reads the header and makes it, followed by the blocks, available at out->at.
static bool open_stored(yw_scan* scan, const yw_vtu_storage* storage, const yw_vtu_array* array,
                        yw_span data, bool base64, const yw_allocator* mem, void** decoded,
                        blocks* out) {
  uint64_t wanted = 3 * yw_scalar_size(storage->header_type);
  // Once for the three numbers, once for the sizes that follow, once for the blocks.
  for (int32_t pass = 0; pass < 3; ++pass) {
    bool good = true;
    yw_mem_free(mem, *decoded);
    *decoded = NULL;
    out->at = take_bytes(data, base64, wanted, mem, decoded, &good);
    if (!out->at) return yw_scan_fail_memory(scan);
    if (!good) return yw_vtu_fail_short(scan, array, yw_span_size(data), wanted);
    if (pass == 0 && !parse_start(scan, storage, out->at, data, out)) return false;
    if (pass == 1 && !sum_sizes(scan, storage, out->at, data, out)) return false;
    wanted = out->header_bytes + out->stored;
  }
  return true;
}

// Memory grows with the blocks that really expand: a header that lies costs one block.
static bool make_room(unsigned char** values, uint64_t* capacity, uint64_t used, uint64_t wanted,
                      const yw_allocator* mem) {
  if (wanted <= *capacity) return true;
  uint64_t grown = wanted > 2 * *capacity ? wanted : 2 * *capacity;
  unsigned char* fresh = yw_mem_resize(mem, *values, (size_t)used, (size_t)grown, 1);
  if (!fresh) return false;
  *values = fresh;
  *capacity = grown;
  return true;
}

static bool expand(yw_scan* scan, const yw_vtu_storage* storage, const blocks* b, uint64_t needed,
                   const yw_allocator* mem, unsigned char** values) {
  uint64_t word = yw_scalar_size(storage->header_type), done = 0, capacity = 0;
  const unsigned char* at = b->at + b->header_bytes;
  for (uint64_t i = 0; i < b->count && done < needed; ++i) {
    uint64_t stored = yw_vtu_header_word(storage, b->at + (3 + i) * word);
    uint64_t size = i + 1 == b->count ? b->last : b->size;
    if (!yw_check_expansion(scan, storage->compression, stored, size)) return false;
    if (!make_room(values, &capacity, done, done + size, mem)) return yw_scan_fail_memory(scan);
    yw_decompress decompress = yw_decompressor(storage->compression);
    if (!decompress(at, (size_t)stored, *values + done, (size_t)size))
      return yw_scan_fail(scan,
                          "block %" PRIu64 " of the array is damaged: it is not %" PRIu64
                          " bytes compressed with %s",
                          i, size, yw_compression_name(storage->compression));
    at += stored;
    done += size;
  }
  return true;
}

bool yw_vtu_open_blocks(yw_scan* scan, const yw_vtu_storage* storage, const yw_vtu_array* array,
                        yw_span data, bool base64, uint64_t needed, const yw_allocator* mem,
                        yw_vtu_values* out) {
  if (!yw_check_expansion(scan, storage->compression, 0, 0)) return false;
  blocks b = {0};
  void* decoded = NULL;
  unsigned char* values = NULL;
  bool good = open_stored(scan, storage, array, data, base64, mem, &decoded, &b);
  // Values beyond those needed would be a way to ask for any amount of memory.
  if (good && b.expanded != needed) good = yw_vtu_fail_short(scan, array, b.expanded, needed);
  good = good && expand(scan, storage, &b, needed, mem, &values);
  yw_mem_free(mem, decoded);
  out->decoded = values;
  if (!good) return false;
  // Offsets into expanded bytes mean nothing to a user: yw_vtu_close reports the tag instead.
  out->scan.error = NULL;
  out->scan.begin = out->scan.at = (const char*)values;
  out->scan.end = values ? (const char*)values + needed : NULL;
  return true;
}
