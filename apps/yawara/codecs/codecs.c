// SPDX-License-Identifier: MIT
#include "codecs/codecs.h"

#include <limits.h>
#include <string.h>

#include "yawara/extend/decompress.h"

#ifdef YW_HAVE_ZLIB
#include <zlib.h>

static bool expand_zlib(const void* bytes, size_t size, void* out, size_t out_size) {
  uLongf written = (uLongf)out_size;
  uLong read = (uLong)size;
  // Bytes after the stream mean a size that lies.
  return uncompress2(out, &written, bytes, &read) == Z_OK && written == out_size && read == size;
}
#endif

#ifdef YW_HAVE_LZ4
#include <lz4.h>

static bool expand_lz4(const void* bytes, size_t size, void* out, size_t out_size) {
  if (size > INT_MAX || out_size > INT_MAX) return false;
  return LZ4_decompress_safe(bytes, out, (int)size, (int)out_size) == (int)out_size;
}
#endif

#ifdef YW_HAVE_LZMA
#include <lzma.h>

static bool expand_xz(const void* bytes, size_t size, void* out, size_t out_size) {
  // Enough for the dictionary of the highest preset, 64 MiB.
  uint64_t memory = (uint64_t)96 << 20;
  size_t read = 0, written = 0;
  return lzma_stream_buffer_decode(&memory, 0, NULL, bytes, &read, size, out, &written, out_size) ==
             LZMA_OK &&
         read == size && written == out_size;
}
#endif

void codecs_register(void) {
#ifdef YW_HAVE_ZLIB
  yw_set_decompressor(YW_COMPRESSION_ZLIB, expand_zlib);
#endif
#ifdef YW_HAVE_LZ4
  yw_set_decompressor(YW_COMPRESSION_LZ4, expand_lz4);
#endif
#ifdef YW_HAVE_LZMA
  yw_set_decompressor(YW_COMPRESSION_XZ, expand_xz);
#endif
}
