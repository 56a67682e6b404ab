// SPDX-License-Identifier: MIT
// lanes.h for one lane, in C++: threads of a device. Same operations, hence the same bits.
#ifndef YW_MATH_SMALL_ONE_LANE_H
#define YW_MATH_SMALL_ONE_LANE_H

#ifdef __CUDACC__
#define YW_LANE_FN static __forceinline__ __device__
#define YW_LANE_SLOW_FN static __noinline__ __device__
#define YW_LANE_METHOD __device__
#else
#define YW_LANE_FN static inline
#define YW_LANE_SLOW_FN static inline
#define YW_LANE_METHOD
#endif

typedef float yw_vf;

/// Result of a comparison.
struct yw_vi {
  bool is;
  YW_LANE_METHOD yw_vi(bool value) : is(value) {}
  YW_LANE_METHOD yw_vi(int value) : is(value != 0) {}
  YW_LANE_METHOD yw_vi operator~() const { return !is; }
  YW_LANE_METHOD yw_vi operator&(yw_vi other) const { return is && other.is; }
  YW_LANE_METHOD void operator&=(yw_vi other) { is = is && other.is; }
};

YW_LANE_FN yw_vf yw_vf_load(const float* from) { return *from; }
YW_LANE_FN void yw_vf_store(float* to, yw_vf v) { *to = v; }
YW_LANE_FN yw_vf yw_vf_splat(float x) { return x; }
YW_LANE_FN yw_vf yw_vf_select(yw_vi mask, yw_vf a, yw_vf b) { return mask.is ? a : b; }
YW_LANE_FN float yw_vf_at(yw_vf v, int lane) { return (void)lane, v; }
YW_LANE_FN yw_vf yw_vf_flip(yw_vf a, yw_vf by) { return signbit(by) ? -a : a; }
YW_LANE_FN yw_vf yw_vf_abs(yw_vf a) { return fabsf(a); }
YW_LANE_FN yw_vf yw_vf_max(yw_vf a, yw_vf b) { return a > b ? a : b; }
YW_LANE_FN yw_vf yw_vf_min(yw_vf a, yw_vf b) { return a < b ? a : b; }
YW_LANE_FN yw_vf yw_vf_sqrt(yw_vf a) { return sqrtf(a); }
YW_LANE_FN uint32_t yw_vi_bits(yw_vi mask) { return mask.is ? 1u : 0u; }

#endif
