// SPDX-License-Identifier: MIT
#include "files/decompress.h"

#include <inttypes.h>

#include "yawara/extend/file.h"

static yw_decompress registered[YW_NUM_COMPRESSIONS];

void yw_set_decompressor(yw_compression kind, yw_decompress decompress) {
  if (kind >= 0 && kind < YW_NUM_COMPRESSIONS) registered[kind] = decompress;
}

yw_decompress yw_decompressor(yw_compression kind) {
  return kind >= 0 && kind < YW_NUM_COMPRESSIONS ? registered[kind] : NULL;
}

static const struct {
  const char* name;
  const char* package;  // of Debian
  uint64_t most;        // bytes that one byte can expand to, by the format
} kinds[YW_NUM_COMPRESSIONS] = {
    {"zlib", "zlib1g-dev", 1032}, {"LZ4", "liblz4-dev", 255}, {"LZMA", "liblzma-dev", 8000}};

const char* yw_compression_name(yw_compression kind) { return kinds[kind].name; }

bool yw_check_expansion(yw_scan* scan, yw_compression kind, uint64_t size, uint64_t out_size) {
  if (!registered[kind])
    return yw_scan_fail(scan,
                        "the data is compressed with %s, but this program was built without it: "
                        "install %s and build again, or write the file uncompressed",
                        kinds[kind].name, kinds[kind].package);
  // Headers and checksums allow a few bytes more than the plain ratio.
  uint64_t limit = size < YW_FILE_MAX_BYTES ? kinds[kind].most * (size + 16) : YW_FILE_MAX_BYTES;
  if (limit > YW_FILE_MAX_BYTES) limit = YW_FILE_MAX_BYTES;
  return out_size <= limit ||
         yw_scan_fail(scan, "%" PRIu64 " bytes cannot expand to %" PRIu64 " with %s", size,
                      out_size, kinds[kind].name);
}
