// SPDX-License-Identifier: MIT
// Four floats in one register: a yw_vec4 or a row of four.
#ifndef YW_MATH_SMALL_FLOAT4_H
#define YW_MATH_SMALL_FLOAT4_H

#include "math/small/lanes.h"

#ifdef YW_ONE_LANE

struct yw_float4 {
  float x, y, z, w;
};
YW_LANE_FN yw_float4 operator+(yw_float4 a, yw_float4 b) {
  return (yw_float4){a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}
YW_LANE_FN yw_float4 operator-(yw_float4 a, yw_float4 b) {
  return (yw_float4){a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w};
}
YW_LANE_FN yw_float4 operator*(float s, yw_float4 a) {
  return (yw_float4){s * a.x, s * a.y, s * a.z, s * a.w};
}
YW_LANE_FN void operator+=(yw_float4& a, yw_float4 b) { a = a + b; }

YW_LANE_FN yw_float4 yw_float4_load(const void* from) { return *(const yw_float4*)from; }
YW_LANE_FN void yw_float4_store(void* to, yw_float4 q) { *(yw_float4*)to = q; }

#else

typedef float yw_float4 __attribute__((vector_size(16)));
/// A yw_vec4 in memory: pointers to yw_vec4 may be cast to pointers to views.
typedef float yw_float4_view __attribute__((vector_size(16), may_alias));

YW_LANE_FN yw_float4 yw_float4_load(const void* from) {
  yw_float4 q;
  memcpy(&q, from, sizeof q);
  return q;
}

YW_LANE_FN void yw_float4_store(void* to, yw_float4 q) { memcpy(to, &q, sizeof q); }

/// Broadcasts entry i of q.
#define YW_FLOAT4_SPREAD(q, i) __builtin_shufflevector(q, q, i, i, i, i)

/// Transposes in place.
YW_LANE_FN void yw_float4_transpose(yw_float4 row[4]) {
  yw_float4 ab_low = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5);
  yw_float4 ab_high = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7);
  yw_float4 cd_low = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
  yw_float4 cd_high = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
  row[0] = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  row[1] = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  row[2] = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  row[3] = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

#endif
#endif
