// SPDX-License-Identifier: MIT
// Results of long computations, kept in files and looked up by a hash of their inputs. Cache files
// are not trusted: one that is truncated, modified, of another version or of other input counts as
// missing. Any of them can be deleted safely.
#ifndef YW_BASE_CACHE_H
#define YW_BASE_CACHE_H

#include "yawara/extend/stream.h"

/// Hash of everything the result depends on, including the version of the code.
typedef struct yw_cache_key {
  uint64_t a, b;
} yw_cache_key;

#define YW_CACHE_KEY_START ((yw_cache_key){0x59617761726100ull, 0x63616368650aull})
void yw_cache_key_add(yw_cache_key* key, const void* bytes, size_t size);

typedef enum yw_cache_found {
  YW_CACHE_HIT,
  YW_CACHE_MISSING,
  YW_CACHE_BAD  ///< the file exists but cannot be used; the error says why
} yw_cache_found;

/// Reads folder/kind-<key>.ywc into `bytes` if it holds exactly `size` bytes. kind is a short word.
/// folder NULL: MISSING.
yw_cache_found yw_cache_load(const char* folder, const char* kind, yw_cache_key key, void* bytes,
                             size_t size, yw_error* error);
/// Writes the file under a temporary name, then renames it; creates the folder and its parents if
/// needed. YW_ERR_IO with the reason if it cannot be written. folder NULL: does nothing.
yw_status yw_cache_store(const char* folder, const char* kind, yw_cache_key key, const void* bytes,
                         size_t size, yw_error* error);

#endif
