// SPDX-License-Identifier: MIT
// Pairs of primitives, one per lane of a register. For *_kernels.c only.
#ifndef YW_CONTACT_SURFACES_PAIR_LANES_H
#define YW_CONTACT_SURFACES_PAIR_LANES_H

#include "contact/surfaces/near.h"
#include "math/small/float4.h"

// Nearest points --------------------------------------------------------------------------------

typedef struct vec {
  yw_vf x, y, z;
} vec;

YW_LANE_FN vec sub(vec a, vec b) { return (vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
YW_LANE_FN vec mad(vec a, yw_vf s, vec b) {
  return (vec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
YW_LANE_FN yw_vf dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
YW_LANE_FN vec cross(vec a, vec b) {
  return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

YW_LANE_FN yw_vf clamp01(yw_vf a) {
  return yw_vf_min(yw_vf_max(a, yw_vf_splat(0.0f)), yw_vf_splat(1.0f));
}

// a / b in [0, 1], and 0 where b is not positive.
YW_LANE_FN yw_vf share(yw_vf a, yw_vf b) {
  yw_vi usable = b > 0.0f;
  return yw_vf_select(usable, clamp01(a / b), yw_vf_splat(0.0f));
}

typedef struct nearest {
  yw_vf weights[4];
  vec apart;
} nearest;

YW_LANE_FN nearest nearest_on_triangle(const vec x[4]) {
  vec ab = sub(x[2], x[1]), ac = sub(x[3], x[1]), ap = sub(x[0], x[1]);
  yw_vf d1 = dot(ab, ap), d2 = dot(ac, ap), bb = dot(ab, ab), bc = dot(ab, ac), cc = dot(ac, ac);
  yw_vf det = bb * cc - bc * bc, v = cc * d1 - bc * d2, w = bb * d2 - bc * d1;
  yw_vf zero = yw_vf_splat(0.0f), one = yw_vf_splat(1.0f);
  yw_vi inside = (det > 0.0f) & (v >= 0.0f) & (w >= 0.0f) & (v + w <= det);
  // Outside: the nearest point on any of the three edges.
  yw_vf on_ab = share(d1, bb), on_ac = share(d2, cc);
  yw_vf on_bc = share(d2 - d1 + bb - bc, bb - 2.0f * bc + cc);
  vec from_ab = mad(ap, -on_ab, ab), from_ac = mad(ap, -on_ac, ac);
  vec from_bc = mad(mad(ap, on_bc - one, ab), -on_bc, ac);
  yw_vf far_ab = dot(from_ab, from_ab), far_ac = dot(from_ac, from_ac);
  yw_vf far_bc = dot(from_bc, from_bc);
  yw_vi is_ab = (far_ab <= far_ac) & (far_ab <= far_bc), is_ac = ~is_ab & (far_ac <= far_bc);
  yw_vf edge_v = yw_vf_select(is_ab, on_ab, yw_vf_select(is_ac, zero, one - on_bc));
  yw_vf edge_w = yw_vf_select(is_ab, zero, yw_vf_select(is_ac, on_ac, on_bc));
  v = yw_vf_select(inside, v / det, edge_v);
  w = yw_vf_select(inside, w / det, edge_w);
  return (nearest){{one, one - v - w, v, w}, mad(mad(ap, -v, ab), -w, ac)};
}

YW_LANE_FN nearest nearest_on_segments(const vec x[4]) {
  vec u = sub(x[1], x[0]), v = sub(x[3], x[2]), r = sub(x[0], x[2]);
  yw_vf uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), ur = dot(u, r), vr = dot(v, r);
  yw_vf det = uu * vv - uv * uv, half = yw_vf_splat(0.5f), one = yw_vf_splat(1.0f);
  // Nearly parallel: any point of the overlap is nearest, and the clamps below find one.
  yw_vi skew = det > 1e-6f * uu * vv;
  yw_vf s = yw_vf_select(skew, clamp01((uv * vr - vv * ur) / det), half);
  yw_vf t = share(uv * s + vr, vv);
  s = share(uv * t - ur, uu);
  t = share(uv * s + vr, vv);
  return (nearest){{one - s, s, one - t, t}, mad(mad(r, s, u), -t, v)};
}

// Largest change of the distance between the sides.
YW_LANE_FN yw_vf reach_of(const vec way[4], int split, bool stopped) {
  yw_vf most = yw_vf_splat(0.0f);
  for (int k = 0; k < 4 && stopped; ++k) most = yw_vf_max(most, dot(way[k], way[k]));
  for (int i = 0; i < split; ++i) {
    for (int k = split; k < 4; ++k) {
      vec difference = sub(way[i], way[k]);
      most = yw_vf_max(most, dot(difference, difference));
    }
  }
  return yw_vf_sqrt(most);
}

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

// One particle per lane of a register.
YW_LANE_FN vec load_corner(const yw_vec4* values, const int32_t* particles) {
  yw_vf r[4];
  for (int j = 0; j < 4; ++j) {
    yw_float4 rows[YW_VF_LANES / 4];
    for (int32_t i = 0; i < YW_VF_LANES / 4; ++i) {
      rows[i] = yw_float4_load(values + particles[4 * i + j]);
    }
    r[j] = widen(rows);
  }
  transpose_blocks(r);
  return (vec){r[0], r[1], r[2]};
}

// Four particles per lane of one register, from rows of YW_LANES; the first `split` are of side 0.
YW_LANE_FN void load_corners(const yw_vec4* const from[2], const int32_t* particles, int32_t first,
                             int split, vec x[4]) {
  for (int k = 0; k < 4; ++k) {
    x[k] = load_corner(from[k < split ? 0 : 1], particles + k * YW_LANES + first);
  }
}

#endif
