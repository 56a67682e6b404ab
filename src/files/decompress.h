// SPDX-License-Identifier: MIT
// Checked calls of the registered decompressors.
#ifndef YW_FILES_DECOMPRESS_H
#define YW_FILES_DECOMPRESS_H

#include "files/text_scan.h"
#include "yawara/extend/decompress.h"

/// "zlib", "LZ4" or "LZMA".
const char* yw_compression_name(yw_compression kind);
/// Checks, before any memory is allocated, that a decompressor is registered and that `size` bytes
/// can expand to out_size bytes at all. The error is at the scan's mark.
bool yw_check_expansion(yw_scan* scan, yw_compression kind, uint64_t size, uint64_t out_size);

#endif
