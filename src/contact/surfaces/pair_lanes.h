// SPDX-License-Identifier: MIT
// Pairs of primitives, one per lane of a register. For *_kernels.c only.
#ifndef YW_CONTACT_SURFACES_PAIR_LANES_H
#define YW_CONTACT_SURFACES_PAIR_LANES_H

#include "contact/surfaces/block_lanes.h"
#include "contact/surfaces/near.h"

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
