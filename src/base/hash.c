// SPDX-License-Identifier: MIT
#include "yawara/extend/hash.h"

uint64_t yw_hash_words(uint64_t seed, const void* bytes, size_t size) {
  const unsigned char* p = bytes;
  uint64_t h = seed;
  // Whole words: of a fixed length, so that the compiler reads them at once.
  for (; size >= 8; p += 8, size -= 8) {
    uint64_t word = 0;
    for (size_t i = 0; i < 8; ++i) word |= (uint64_t)p[i] << (8 * i);
    h = yw_hash_u64(h, word);
  }
  if (size > 0) {
    uint64_t word = 0;
    for (size_t i = 0; i < size; ++i) word |= (uint64_t)p[i] << (8 * i);
    h = yw_hash_u64(h, word);
  }
  return h;
}

uint64_t yw_hash_bytes(uint64_t seed, const void* bytes, size_t size) {
  return yw_hash_words(yw_hash_u64(seed, (uint64_t)size), bytes, size);
}
