// SPDX-License-Identifier: MIT
// Rows of four floats in memory, one per lane, as four registers. For *_kernels.c only.
#ifndef YW_CONTACT_SURFACES_BLOCK_LANES_H
#define YW_CONTACT_SURFACES_BLOCK_LANES_H

#include "math/small/float4.h"

// Joins rows of four lanes to a register.
YW_LANE_FN yw_vf widen(const yw_float4* rows) {
#if YW_VF_LANES == 16
  typedef float float8 __attribute__((vector_size(32)));
  float8 low = __builtin_shufflevector(rows[0], rows[1], 0, 1, 2, 3, 4, 5, 6, 7);
  float8 high = __builtin_shufflevector(rows[2], rows[3], 0, 1, 2, 3, 4, 5, 6, 7);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#elif YW_VF_LANES == 8
  return __builtin_shufflevector(rows[0], rows[1], 0, 1, 2, 3, 4, 5, 6, 7);
#else
  return rows[0];
#endif
}

// Of every four lanes of a and b: the first, or last, two of each in turns; the first, or last, two
// of a and then those of b.
#if YW_VF_LANES == 16
#define MIX_LOW(a, b) \
  __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define MIX_HIGH(a, b) \
  __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define LOW_LOW(a, b) \
  __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define HIGH_HIGH(a, b) \
  __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#elif YW_VF_LANES == 8
#define MIX_LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define MIX_HIGH(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define LOW_LOW(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define HIGH_HIGH(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#else
#define MIX_LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define MIX_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define LOW_LOW(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define HIGH_HIGH(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#endif

// Transposes every block of four lanes of four registers.
YW_LANE_FN void transpose_blocks(yw_vf r[4]) {
  yw_vf ab_low = MIX_LOW(r[0], r[1]), ab_high = MIX_HIGH(r[0], r[1]);
  yw_vf cd_low = MIX_LOW(r[2], r[3]), cd_high = MIX_HIGH(r[2], r[3]);
  r[0] = LOW_LOW(ab_low, cd_low);
  r[1] = HIGH_HIGH(ab_low, cd_low);
  r[2] = LOW_LOW(ab_high, cd_high);
  r[3] = HIGH_HIGH(ab_high, cd_high);
}

// Splits a register into rows of four lanes.
YW_LANE_FN yw_float4 block_of(yw_vf r, int i) {
  yw_float4 part;
  memcpy(&part, (const char*)&r + i * (int)sizeof part, sizeof part);
  return part;
}

#endif
