// SPDX-License-Identifier: MIT
// A register of floats for *_kernels.c files: yw_vf holds 16 lanes with AVX-512, 8 with AVX2, 4
// otherwise. Code that treats lanes independently gives the same bits at every width. A thread of a
// device is one lane: yw_vf is then a float (YW_ONE_LANE, C++ only).
#ifndef YW_MATH_SMALL_LANES_H
#define YW_MATH_SMALL_LANES_H

#include <math.h>
#include <string.h>

#include "yawara/base.h"

#if defined(YW_ONE_LANE)
#define YW_VF_LANES 1
#elif defined(__AVX512F__) && defined(__AVX512DQ__)
#define YW_VF_LANES 16
#elif defined(__AVX2__)
#define YW_VF_LANES 8
#else
#define YW_VF_LANES 4
#endif
#ifdef YW_ONE_LANE
#include "math/small/one_lane.h"
#else
#if defined(__SSE2__)
#include <immintrin.h>
#endif

typedef float yw_vf __attribute__((vector_size(4 * YW_VF_LANES)));
/// Result of a comparison: all bits set where true, none elsewhere.
typedef int32_t yw_vi __attribute__((vector_size(4 * YW_VF_LANES)));

#define YW_LANE_FN static inline __attribute__((always_inline))
/// Rarely taken, and kept out of line.
#define YW_LANE_SLOW_FN __attribute__((noinline, unused)) static

YW_LANE_FN yw_vf yw_vf_load(const float* from) {
  yw_vf v;
  memcpy(&v, from, sizeof v);
  return v;
}

YW_LANE_FN void yw_vf_store(float* to, yw_vf v) { memcpy(to, &v, sizeof v); }

YW_LANE_FN yw_vf yw_vf_splat(float x) { return x - (yw_vf){0}; }

/// a where mask is set, else b.
YW_LANE_FN yw_vf yw_vf_select(yw_vi mask, yw_vf a, yw_vf b) {
  return (yw_vf)((mask & (yw_vi)a) | (~mask & (yw_vi)b));
}

YW_LANE_FN float yw_vf_at(yw_vf v, int lane) { return v[lane]; }

/// a, negated where the sign of `by` is set.
YW_LANE_FN yw_vf yw_vf_flip(yw_vf a, yw_vf by) {
  return (yw_vf)((yw_vi)a ^ ((yw_vi)by & INT32_MIN));
}

YW_LANE_FN yw_vf yw_vf_abs(yw_vf a) { return (yw_vf)((yw_vi)a & 0x7fffffff); }

/// Maximum and minimum; b if one operand is NaN or both are zero.
#if YW_VF_LANES == 16
YW_LANE_FN yw_vf yw_vf_max(yw_vf a, yw_vf b) { return (yw_vf)_mm512_max_ps((__m512)a, (__m512)b); }
YW_LANE_FN yw_vf yw_vf_min(yw_vf a, yw_vf b) { return (yw_vf)_mm512_min_ps((__m512)a, (__m512)b); }
#elif YW_VF_LANES == 8
YW_LANE_FN yw_vf yw_vf_max(yw_vf a, yw_vf b) { return (yw_vf)_mm256_max_ps((__m256)a, (__m256)b); }
YW_LANE_FN yw_vf yw_vf_min(yw_vf a, yw_vf b) { return (yw_vf)_mm256_min_ps((__m256)a, (__m256)b); }
#elif defined(__SSE2__)
YW_LANE_FN yw_vf yw_vf_max(yw_vf a, yw_vf b) { return (yw_vf)_mm_max_ps((__m128)a, (__m128)b); }
YW_LANE_FN yw_vf yw_vf_min(yw_vf a, yw_vf b) { return (yw_vf)_mm_min_ps((__m128)a, (__m128)b); }
#else
YW_LANE_FN yw_vf yw_vf_max(yw_vf a, yw_vf b) { return yw_vf_select(a > b, a, b); }
YW_LANE_FN yw_vf yw_vf_min(yw_vf a, yw_vf b) { return yw_vf_select(a < b, a, b); }
#endif

/// Correctly rounded, as sqrtf is.
YW_LANE_FN yw_vf yw_vf_sqrt(yw_vf a) {
#if YW_VF_LANES == 16
  return (yw_vf)_mm512_sqrt_ps((__m512)a);
#elif YW_VF_LANES == 8
  return (yw_vf)_mm256_sqrt_ps((__m256)a);
#elif defined(__SSE2__)
  return (yw_vf)_mm_sqrt_ps((__m128)a);
#else
  return (yw_vf){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])};
#endif
}

/// One bit per lane.
YW_LANE_FN uint32_t yw_vi_bits(yw_vi mask) {
#if YW_VF_LANES == 16
  return (uint32_t)_mm512_movepi32_mask((__m512i)mask);
#elif YW_VF_LANES == 8
  return (uint32_t)_mm256_movemask_ps((__m256)mask);
#elif defined(__SSE2__)
  return (uint32_t)_mm_movemask_ps((__m128)mask);
#else
  return ((uint32_t)mask[0] & 1) | ((uint32_t)mask[1] & 2) | ((uint32_t)mask[2] & 4) |
         ((uint32_t)mask[3] & 8);
#endif
}

#endif  // YW_ONE_LANE

#endif
