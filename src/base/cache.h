// SPDX-License-Identifier: MIT
// Results of long work kept in files, found again by what they were made of. A cache is never
// trusted: a file that is cut short, changed, of another version or of other input counts as
// missing. Deleting any of them does no harm.
#ifndef YW_BASE_CACHE_H
#define YW_BASE_CACHE_H

#include "yawara/extend/stream.h"

/// Hash of everything that the result depends on, the version of the code included.
typedef struct yw_cache_key {
  uint64_t a, b;
} yw_cache_key;

#define YW_CACHE_KEY_START ((yw_cache_key){0x59617761726100ull, 0x63616368650aull})
void yw_cache_key_add(yw_cache_key* key, const void* bytes, size_t size);

typedef enum yw_cache_found {
  YW_CACHE_HIT,
  YW_CACHE_MISSING,
  YW_CACHE_BAD  ///< there is a file, but not one to be used; the error says why
} yw_cache_found;

/// Reads folder/kind-<key>.ywc into `bytes`, when it holds exactly `size` bytes. kind is a short
/// word. folder NULL: MISSING.
yw_cache_found yw_cache_load(const char* folder, const char* kind, yw_cache_key key, void* bytes,
                             size_t size, yw_error* error);
/// Writes it, under a temporary name first; makes the folder (and those above it) where needed.
/// YW_ERR_IO with the reason when it cannot be written. folder NULL: does nothing.
yw_status yw_cache_store(const char* folder, const char* kind, yw_cache_key key, const void* bytes,
                         size_t size, yw_error* error);

#endif
