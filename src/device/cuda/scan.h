// SPDX-License-Identifier: MIT
// Sums of all numbers before each number of an array: three launches.
#ifndef YW_DEVICE_CUDA_SCAN_H
#define YW_DEVICE_CUDA_SCAN_H

#include "device/cuda/runtime.h"

/// Sums up to and including each of THREADS numbers, in place.
template <int THREADS>
struct block_scan {
  int32_t value[THREADS], next[THREADS];

  KERNEL_FN void run(block_scan* s) {
    for (int step = 1; step < THREADS; step *= 2) {
      EACH_THREAD(t) { s->next[t] = s->value[t] + (t >= step ? s->value[t - step] : 0); }
      SYNC();
      EACH_THREAD(t) { s->value[t] = s->next[t]; }
      SYNC();
    }
  }
  /// Of the threads before t.
  KERNEL_FN int32_t before(const block_scan* s, int t) { return t > 0 ? s->value[t - 1] : 0; }
};

/// to[i] = from[0] + ... + from[i - 1], i up to and including `count`; to may be from.
struct scan_args {
  const int32_t* from;
  int32_t *to, *sums;
  int32_t count, tiles;
};

enum { SCAN_THREADS = 256, SCAN_EACH = 8, SCAN_TILE = SCAN_THREADS * SCAN_EACH };

SHARED_FN int32_t scan_tiles(int32_t count) { return (count + SCAN_TILE - 1) / SCAN_TILE; }

/// Sums of tiles; with LAST, the sums before each number.
template <bool LAST>
struct scan_kernel {
  typedef scan_args args;
  static constexpr int THREADS = SCAN_THREADS, BLOCKS_PER_PROCESSOR = 4;
  typedef block_scan<THREADS> shared;

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks;
    shared* s = (shared*)memory;
    EACH_THREAD(t) {
      int32_t sum = 0, first = block * SCAN_TILE + t * SCAN_EACH;
      for (int32_t i = first; i < first + SCAN_EACH && i < a.count; ++i) sum += a.from[i];
      s->value[t] = sum;
    }
    SYNC();
    shared::run(s);
    EACH_THREAD(t) {
      if (!LAST) {
        if (t == THREADS - 1) a.sums[block] = s->value[t];
        continue;
      }
      int32_t first = block * SCAN_TILE + t * SCAN_EACH;
      int32_t sum = a.sums[block] + shared::before(s, t);
      for (int32_t i = first; i < first + SCAN_EACH && i < a.count; ++i) {
        int32_t own = a.from[i];
        a.to[i] = sum;
        sum += own;
      }
    }
  }
};

/// Sums of tiles before each tile, by one block of threads, and the sum of all.
struct scan_sums_kernel {
  typedef scan_args args;
  static constexpr int THREADS = SCAN_THREADS, BLOCKS_PER_PROCESSOR = 1;
  struct shared {
    block_scan<THREADS> scan;
    int32_t all;
  };

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)block, (void)num_blocks;
    shared* s = (shared*)memory;
    EACH_THREAD(t) {
      if (t == 0) s->all = 0;
    }
    SYNC();
    for (int32_t first = 0; first < a.tiles; first += THREADS) {
      EACH_THREAD(t) { s->scan.value[t] = first + t < a.tiles ? a.sums[first + t] : 0; }
      SYNC();
      block_scan<THREADS>::run(&s->scan);
      EACH_THREAD(t) {
        if (first + t < a.tiles) a.sums[first + t] = s->all + s->scan.before(&s->scan, t);
      }
      SYNC();
      EACH_THREAD(t) {
        if (t == THREADS - 1) s->all += s->scan.value[t];
      }
      SYNC();
    }
    EACH_THREAD(t) {
      if (t == 0) a.to[a.count] = s->all;
    }
  }
};

/// sums: room for one number per tile.
static bool device_scan(device_stream stream, const int32_t* from, int32_t* to, int32_t count,
                        int32_t* sums) {
  const scan_args a = {from, to, sums, count, scan_tiles(count)};
  return (count == 0 ||
          device_run<scan_kernel<false>>(stream, a, a.tiles, sizeof(scan_kernel<false>::shared))) &&
         device_run<scan_sums_kernel>(stream, a, 1, sizeof(scan_sums_kernel::shared)) &&
         (count == 0 ||
          device_run<scan_kernel<true>>(stream, a, a.tiles, sizeof(scan_kernel<true>::shared)));
}

#endif
