// SPDX-License-Identifier: MIT
// Peak performance of the machine with one thread, measured with dedicated loops.
#ifndef YW_STUDIES_BENCH_MACHINE_H
#define YW_STUDIES_BENCH_MACHINE_H

#include "base/simd.h"

/// Where data resides. Buffers fill 3/4 of the caches (L3 counted as 16 MB), or 192 MB of memory.
typedef enum machine_level {
  MACHINE_L1,
  MACHINE_L2,
  MACHINE_L3,
  MACHINE_MEMORY,
  MACHINE_NUM_LEVELS
} machine_level;
const char* machine_level_name(machine_level level);
/// The nearest level that can hold this many bytes.
machine_level machine_level_of(double bytes);

typedef struct machine {
  double flops;                      ///< pairs of multiplication and addition, 1/s
  double read[MACHINE_NUM_LEVELS];   ///< summing an array, bytes/s
  double triad[MACHINE_NUM_LEVELS];  ///< a = b + s c, bytes read and written per second
} machine;

typedef struct machine_bench machine_bench;
machine_bench* machine_bench_create(void);  ///< NULL if out of memory
void machine_bench_destroy(machine_bench* bench);
/// Measures everything again and keeps the best; takes about 40 ms. Start with a zeroed best.
void machine_bench_round(machine_bench* bench, yw_simd simd, machine* best);

/// One set of loops per instruction set (machine_kernels.c).
typedef struct machine_kernels {
  /// rounds x MACHINE_CHAINS x 16 lanes of one multiplication and one addition each; returns a
  /// value that depends on all of them.
  float (*multiply_add)(int32_t rounds);
  /// Sums an array several times; count must be a multiple of 128.
  float (*read)(int32_t passes, int32_t count, const float* from);
  void (*triad)(int32_t count, float* a, const float* b, const float* c);
} machine_kernels;
/// Enough to hide the latency of an addition, few enough for 16 registers.
#define MACHINE_CHAINS 6
const machine_kernels* machine_kernels_of(yw_simd simd);

#endif
