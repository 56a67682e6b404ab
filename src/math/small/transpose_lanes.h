// SPDX-License-Identifier: MIT
// Transposes of 4x4 blocks within the 128-bit lanes of registers: rows of four floats to one
// quantity per register and back. For *_kernels.c files.
#ifndef YW_MATH_SMALL_TRANSPOSE_LANES_H
#define YW_MATH_SMALL_TRANSPOSE_LANES_H

#include "math/small/float4.h"

/// Shuffles that stay within 128-bit lanes: elements i, j of a and k, l of b.
#if YW_VF_LANES == 16
#define YW_SHUFFLE(a, b, i, j, k, l)                                                              \
  __builtin_shufflevector(a, b, i, j, 16 + k, 16 + l, 4 + i, 4 + j, 20 + k, 20 + l, 8 + i, 8 + j, \
                          24 + k, 24 + l, 12 + i, 12 + j, 28 + k, 28 + l)
#define YW_UNPACK(a, b, i, j)                                                                      \
  __builtin_shufflevector(a, b, i, 16 + i, j, 16 + j, 4 + i, 20 + i, 4 + j, 20 + j, 8 + i, 24 + i, \
                          8 + j, 24 + j, 12 + i, 28 + i, 12 + j, 28 + j)
#elif YW_VF_LANES == 8
#define YW_SHUFFLE(a, b, i, j, k, l) \
  __builtin_shufflevector(a, b, i, j, 8 + k, 8 + l, 4 + i, 4 + j, 12 + k, 12 + l)
#define YW_UNPACK(a, b, i, j) \
  __builtin_shufflevector(a, b, i, 8 + i, j, 8 + j, 4 + i, 12 + i, 4 + j, 12 + j)
#else
#define YW_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, 4 + k, 4 + l)
#define YW_UNPACK(a, b, i, j) __builtin_shufflevector(a, b, i, 4 + i, j, 4 + j)
#endif

/// Transposes the 4x4 block in every 128-bit lane of four registers.
YW_LANE_FN void yw_lanes_transpose(yw_vf v[4]) {
  yw_vf ab_low = YW_UNPACK(v[0], v[1], 0, 1), ab_high = YW_UNPACK(v[0], v[1], 2, 3);
  yw_vf cd_low = YW_UNPACK(v[2], v[3], 0, 1), cd_high = YW_UNPACK(v[2], v[3], 2, 3);
  v[0] = YW_SHUFFLE(ab_low, cd_low, 0, 1, 0, 1);
  v[1] = YW_SHUFFLE(ab_low, cd_low, 2, 3, 2, 3);
  v[2] = YW_SHUFFLE(ab_high, cd_high, 0, 1, 0, 1);
  v[3] = YW_SHUFFLE(ab_high, cd_high, 2, 3, 2, 3);
}

/// A register of rows of four floats, one per 128-bit lane. After a transpose of the registers of
/// rows 0, 4, 8 ..; 1, 5, 9 ..; 2 ..; 3 .., each has one column of all rows in their order.
YW_LANE_FN yw_vf yw_lanes_of_rows(const void* const rows[]) {
#if YW_VF_LANES == 4
  return yw_float4_load(rows[0]);
#else
  typedef float float8 __attribute__((vector_size(32)));
  float8 low = __builtin_shufflevector(yw_float4_load(rows[0]), yw_float4_load(rows[1]), 0, 1, 2, 3,
                                       4, 5, 6, 7);
#if YW_VF_LANES == 8
  return low;
#else
  float8 high = __builtin_shufflevector(yw_float4_load(rows[2]), yw_float4_load(rows[3]), 0, 1, 2,
                                        3, 4, 5, 6, 7);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#endif
#endif
}

/// Row l of such a register.
#define YW_ROW_OF(v, l) \
  __builtin_shufflevector(v, v, 4 * (l), 4 * (l) + 1, 4 * (l) + 2, 4 * (l) + 3)

#endif
