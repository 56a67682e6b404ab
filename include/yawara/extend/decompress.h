// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Decompression of files. The library links no compression library: a program that does registers
// its functions here, once, for the whole process. Without them compressed files are refused with
// an error that says so.
#ifndef YAWARA_EXTEND_DECOMPRESS_H
#define YAWARA_EXTEND_DECOMPRESS_H

#include "../base.h"

typedef enum yw_compression {
  YW_COMPRESSION_ZLIB,  ///< a zlib stream (RFC 1950)
  YW_COMPRESSION_LZ4,   ///< one LZ4 block without a frame
  YW_COMPRESSION_XZ,    ///< an .xz file (LZMA2)
  YW_NUM_COMPRESSIONS
} yw_compression;

/// Expands `size` bytes into exactly out_size bytes. False if the data is damaged, or expands to
/// more or fewer bytes. Input is not trusted: never writes beyond out_size, and bounds the memory
/// it needs. Called from any thread.
typedef bool (*yw_decompress)(const void* bytes, size_t size, void* out, size_t out_size);

/// Call before any thread reads files. NULL: none.
YW_API void yw_set_decompressor(yw_compression kind, yw_decompress decompress);
/// NULL if none is registered.
YW_API yw_decompress yw_decompressor(yw_compression kind);

#endif
