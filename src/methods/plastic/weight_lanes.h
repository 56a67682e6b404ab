// SPDX-License-Identifier: MIT
// Weights of the slaves that a master sees: one lane per master, so that sums run in the order of
// the rows at any register width. Lengths are in units of h, positions relative to the master.
//
//   w  kernel (3)     N  share of a slave in a master     G  gradient:  v(x_m) = sum N v_s,
//   grad v = sum v_s G^T, exact for affine velocities
#ifndef YW_METHODS_PLASTIC_WEIGHT_LANES_H
#define YW_METHODS_PLASTIC_WEIGHT_LANES_H

#include "math/small/lanes_mat3.h"
#include "math/small/polar_one.h"
#include "methods/plastic/body.h"

// Where slaves hardly spread in a direction (variance below this, in units of d^2), the inverse is
// bounded by 1 / LEAST_VARIANCE and goes to 0 with the variance: the gradient across a line or a
// sheet of slaves is 0.
#define LEAST_VARIANCE 0.06f
// A master needs more slaves if it sees fewer than this, ...
#define FEW_SLAVES 16
// ... if their variance is below 0.4 of that on the lattice (in units of d^2), or if their mean is
// off by more than this fraction of d.
#define NARROW_VARIANCE (0.4f * 0.3f)
#define ASIDE_SHARE 0.25f
// Minimum share of w that stays in N.
#define KEPT_SHARE 0.1f
#define ROOT_STEPS 4

// w of (3) without its constant factor.
YW_LANE_FN yw_vf kernel(yw_vf x, yw_vf y, yw_vf z) {
  yw_vf q = yw_vf_sqrt(x * x + y * y + z * z);
  yw_vf out = yw_vf_max(2.0f - q, yw_vf_splat(0.0f));
  yw_vf inner = (0.5f * q - 1.0f) * q * q + 2.0f / 3.0f;
  return yw_vf_select(q < 1.0f, inner, out * out * out * (1.0f / 6.0f));
}

#ifdef YW_ONE_LANE
/// Where entry i is in shared memory: entries that lanes read together are a power of two apart
/// more often than not, and would be in one bank.
YW_LANE_FN int32_t shared_place(int32_t i) { return i ^ ((i >> 4) & 15); }

/// The pairs of a master on a device: places of slaves are looked up, weights computed again.
struct weight_block {
  const uint16_t* column;  // fours of pairs, `stride` apart
  uint16_t const* at;      // the same: place of a pair in turned_share
  float *share, *turned_share;
  int32_t length, stride;
  const yw_vec4* place;      // of the slaves of the chunk; NULL: ...
  const yw_vec4* slave_pos;  // ... of all slaves, ...
  const int32_t* slaves;     // ... and those of the chunk
  yw_vec4 x;
  float inv_h;
};
YW_LANE_FN int32_t weight_index(const weight_block* b, int32_t k) {
  return k / 4 * b->stride + k % 4;
}
YW_LANE_FN yw_lanes_vec3 weight_place(const weight_block* b, int32_t k, int32_t lane) {
  (void)lane;
  const uint16_t c = b->column[weight_index(b, k)];
  const yw_vec4 s = b->place ? b->place[shared_place(c)] : b->slave_pos[b->slaves[c]];
  return (yw_lanes_vec3){(s.x - b->x.x) * b->inv_h, (s.y - b->x.y) * b->inv_h,
                         (s.z - b->x.z) * b->inv_h};
}
YW_LANE_FN void weight_note(weight_block* b, int32_t k, int32_t lane, yw_vf w) {
  (void)b, (void)k, (void)lane, (void)w;
}
YW_LANE_FN yw_vf weight_of(const weight_block* b, int32_t k, int32_t lane, yw_lanes_vec3 at) {
  (void)b, (void)k, (void)lane;
  return kernel(at.x, at.y, at.z);
}
YW_LANE_FN void weight_keep(weight_block* b, int32_t k, int32_t lane, yw_vf n) {
  (void)lane;
  b->share[weight_index(b, k)] = n;
  b->turned_share[b->at[weight_index(b, k)]] = n;
}
#else
typedef struct weight_block {
  _Alignas(64) float x[PLASTIC_MAX_ROW][YW_LANES];
  float y[PLASTIC_MAX_ROW][YW_LANES];
  float z[PLASTIC_MAX_ROW][YW_LANES];
  float w[PLASTIC_MAX_ROW][YW_LANES];  // then N
  int32_t length;                      // of the longest row
} weight_block;
YW_LANE_FN yw_lanes_vec3 weight_place(const weight_block* b, int32_t k, int32_t lane) {
  return (yw_lanes_vec3){yw_vf_load(b->x[k] + lane), yw_vf_load(b->y[k] + lane),
                         yw_vf_load(b->z[k] + lane)};
}
YW_LANE_FN void weight_note(weight_block* b, int32_t k, int32_t lane, yw_vf w) {
  yw_vf_store(b->w[k] + lane, w);
}
YW_LANE_FN yw_vf weight_of(const weight_block* b, int32_t k, int32_t lane, yw_lanes_vec3 at) {
  (void)at;
  return yw_vf_load(b->w[k] + lane);
}
YW_LANE_FN void weight_keep(weight_block* b, int32_t k, int32_t lane, yw_vf n) {
  yw_vf_store(b->w[k] + lane, n);
}
#endif

typedef struct moments {
  yw_vf sum, x, y, z;  // of w, and mean
  yw_lanes_sym3 d;     // variance
} moments;

// Mean and variance from sums of w, w r and w r r^T.
YW_LANE_FN void finish_moments(moments* m) {
  yw_vf inv = 1.0f / yw_vf_max(m->sum, yw_vf_splat(1e-20f));
  m->x *= inv, m->y *= inv, m->z *= inv;
  m->d.xx = m->d.xx * inv - m->x * m->x;
  m->d.yy = m->d.yy * inv - m->y * m->y;
  m->d.zz = m->d.zz * inv - m->z * m->z;
  m->d.xy = m->d.xy * inv - m->x * m->y;
  m->d.xz = m->d.xz * inv - m->x * m->z;
  m->d.yz = m->d.yz * inv - m->y * m->z;
}

YW_LANE_FN void add_moment(moments* m, yw_vf w, yw_vf x, yw_vf y, yw_vf z) {
  yw_vf wx = w * x, wy = w * y, wz = w * z;
  m->sum += w;
  m->x += wx, m->y += wy, m->z += wz;
  m->d.xx += wx * x, m->d.yy += wy * y, m->d.zz += wz * z;
  m->d.xy += wx * y, m->d.xz += wx * z, m->d.yz += wy * z;
}

// A lower bound of the smallest eigenvalue, by Newton steps from outside.
YW_LANE_FN yw_vf smallest_eigenvalue(const yw_lanes_sym3* d) {
  yw_vf third = (d->xx + d->yy + d->zz) * (1.0f / 3.0f);
  yw_vf x = third - d->xx, y = third - d->yy, z = third - d->zz;
  yw_vf q = 0.5f * (x * x + y * y + z * z) + d->xy * d->xy + d->xz * d->xz + d->yz * d->yz;
  yw_vf r = x * (y * z - d->yz * d->yz) + d->xy * (-d->xy * z - d->yz * d->xz) -
            d->xz * (d->xy * d->yz + y * d->xz);
  yw_vf root = 2.0f * yw_vf_sqrt(q * (1.0f / 3.0f));
  for (int i = 0; i < ROOT_STEPS; ++i) {
    yw_vf root2 = root * root;
    root -= (root * (root2 - q) - r) / (3.0f * root2 - q + 1e-20f);
  }
  return third - root;
}

// One lane whose slaves are nearly in a plane, on a line or at a point.
YW_LANE_SLOW_FN void invert_flat(float* d, const int32_t stride) {
  yw_mat3 m = {{d[0], d[3 * stride], d[4 * stride]},
               {d[3 * stride], d[stride], d[5 * stride]},
               {d[4 * stride], d[5 * stride], d[2 * stride]}};
  yw_mat3 v;
  yw_vec3 values;
  yw_eigen_one(&m, &values, &v);
  const float l[3] = {values.x, values.y, values.z};
  const yw_vec3 axis[3] = {v.cx, v.cy, v.cz};
  float sum[6] = {0};
  for (int k = 0; k < 3; ++k) {
    float f = l[k] >= LEAST_VARIANCE
                  ? 1.0f / l[k]
                  : (l[k] > 0.0f ? l[k] : 0.0f) / (LEAST_VARIANCE * LEAST_VARIANCE);
    sum[0] += f * axis[k].x * axis[k].x;
    sum[1] += f * axis[k].y * axis[k].y;
    sum[2] += f * axis[k].z * axis[k].z;
    sum[3] += f * axis[k].x * axis[k].y;
    sum[4] += f * axis[k].x * axis[k].z;
    sum[5] += f * axis[k].y * axis[k].z;
  }
  for (int k = 0; k < 6; ++k) d[k * stride] = sum[k];
}

// D^-1, bounded where D is nearly singular.
YW_LANE_FN yw_lanes_sym3 invert(const yw_lanes_sym3* d, yw_vf smallest) {
  yw_vf cxx = d->yy * d->zz - d->yz * d->yz, cyy = d->xx * d->zz - d->xz * d->xz;
  yw_vf czz = d->xx * d->yy - d->xy * d->xy, cxy = d->xz * d->yz - d->xy * d->zz;
  yw_vf cxz = d->xy * d->yz - d->xz * d->yy, cyz = d->xy * d->xz - d->yz * d->xx;
  yw_vf inv = 1.0f / (d->xx * cxx + d->xy * cxy + d->xz * cxz);
  yw_lanes_sym3 result = {cxx * inv, cyy * inv, czz * inv, cxy * inv, cxz * inv, cyz * inv};
  yw_vi spread = smallest >= LEAST_VARIANCE;
  uint32_t flat = yw_vi_bits(~spread);
  if (__builtin_expect(flat == 0, 1)) return result;
  _Alignas(64) float own[6][YW_VF_LANES], out[6][YW_VF_LANES];
  memcpy(own, d, sizeof own);
  memcpy(out, &result, sizeof out);
  for (int lane = 0; lane < YW_VF_LANES; ++lane) {
    if (!(flat >> lane & 1)) continue;
    invert_flat(&own[0][lane], YW_VF_LANES);
    for (int k = 0; k < 6; ++k) out[k][lane] = own[k][lane];
  }
  memcpy(&result, out, sizeof result);
  return result;
}

YW_LANE_FN void multiply(const yw_lanes_sym3* m, yw_vf x, yw_vf y, yw_vf z, yw_vf out[3]) {
  out[0] = m->xx * x + m->xy * y + m->xz * z;
  out[1] = m->xy * x + m->yy * y + m->yz * z;
  out[2] = m->xz * x + m->yz * y + m->zz * z;
}

// Replaces w by N; m gets the moments of N. Returns the lanes that need more slaves.
YW_LANE_FN uint32_t share_out(weight_block* b, int32_t lane, moments* m) {
  yw_vf zero = yw_vf_splat(0.0f), count = zero;
  memset(m, 0, sizeof *m);
  for (int32_t k = 0; k < b->length; ++k) {
    yw_lanes_vec3 at = weight_place(b, k, lane);
    yw_vf w = kernel(at.x, at.y, at.z);
    weight_note(b, k, lane, w);
    add_moment(m, w, at.x, at.y, at.z);
    count += yw_vf_select(w > zero, yw_vf_splat(1.0f), zero);
  }
  yw_vf total = m->sum;
  finish_moments(m);
  yw_vf smallest = smallest_eigenvalue(&m->d);
  yw_vf aside2 = m->x * m->x + m->y * m->y + m->z * m->z;
  uint32_t needs = yw_vi_bits((count < (float)FEW_SLAVES) | (smallest < NARROW_VARIANCE) |
                              (aside2 > ASIDE_SHARE * ASIDE_SHARE));

  // N = w/W (1 - s a.(r - r̄)) with a = D^-1 r̄ moves the mean to the master; s = 1 if no N gets
  // smaller than KEPT_SHARE w/W.
  yw_lanes_sym3 inverse = invert(&m->d, smallest);
  yw_vf a[3], most = zero;
  multiply(&inverse, m->x, m->y, m->z, a);
  yw_vf offset = a[0] * m->x + a[1] * m->y + a[2] * m->z;
  for (int32_t k = 0; k < b->length; ++k) {
    yw_lanes_vec3 at = weight_place(b, k, lane);
    yw_vf t = a[0] * at.x + a[1] * at.y + a[2] * at.z - offset;
    most = yw_vf_max(most, yw_vf_select(weight_of(b, k, lane, at) > zero, t, zero));
  }
  yw_vf s = yw_vf_min(yw_vf_splat(1.0f), (1.0f - KEPT_SHARE) / yw_vf_max(most, yw_vf_splat(1e-6f)));
  yw_vf inv = 1.0f / yw_vf_max(total, yw_vf_splat(1e-20f));
  memset(m, 0, sizeof *m);
  for (int32_t k = 0; k < b->length; ++k) {
    yw_lanes_vec3 at = weight_place(b, k, lane);
    yw_vf t = a[0] * at.x + a[1] * at.y + a[2] * at.z - offset;
    yw_vf n = weight_of(b, k, lane, at) * inv * (1.0f - s * t);
    weight_keep(b, k, lane, n);
    add_moment(m, n, at.x, at.y, at.z);
  }
  finish_moments(m);
  return needs << lane;
}

// Stores what turns N into G: G = N D_N^-1 (x_s - c), with c relative to the chunk's origin.
YW_LANE_FN void store_gradient(plastic_work_block* work, int32_t lane, const moments* m, float h,
                               const yw_vf from_origin[3]) {
  yw_lanes_sym3 inverse = invert(&m->d, smallest_eigenvalue(&m->d));
  inverse = yw_lanes_sym3_scale(&inverse, yw_vf_splat(1.0f / (h * h)));
  yw_lanes_sym3_store((yw_sym3x16*)work->inverse, lane, &inverse);
  yw_vf_store(work->center[0] + lane, from_origin[0] + h * m->x);
  yw_vf_store(work->center[1] + lane, from_origin[1] + h * m->y);
  yw_vf_store(work->center[2] + lane, from_origin[2] + h * m->z);
}

#endif
