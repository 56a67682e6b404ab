// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// 64-bit hash of bytes, the same on every machine (little-endian words, multiply and rotate).
#ifndef YAWARA_EXTEND_HASH_H
#define YAWARA_EXTEND_HASH_H

#include "../base.h"

#define YW_HASH_SEED 0x9e3779b97f4a7c15ull

/// Mixes bytes into seed; chain calls to hash several pieces.
YW_API uint64_t yw_hash_bytes(uint64_t seed, const void* bytes, size_t size);

/// The same without the size: for bytes that come in pieces, all but the last of a multiple of 8.
/// Begin with yw_hash_u64(seed, size of all of them).
YW_API uint64_t yw_hash_words(uint64_t seed, const void* bytes, size_t size);

static inline uint64_t yw_hash_u64(uint64_t seed, uint64_t value) {
  uint64_t h = (seed ^ value) * 0xff51afd7ed558ccdull;
  h ^= h >> 32;
  h *= 0xc4ceb9fe1a85ec53ull;
  return h ^ (h >> 29);
}

#endif
