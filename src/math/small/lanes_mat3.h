// SPDX-License-Identifier: MIT
// Registers of vectors, 3x3 matrices, symmetric matrices and quaternions, one per lane.
#ifndef YW_MATH_SMALL_LANES_MAT3_H
#define YW_MATH_SMALL_LANES_MAT3_H

#include "math/small/lanes.h"
#include "math/small/polar.h"

typedef struct yw_lanes_vec3 {
  yw_vf x, y, z;
} yw_lanes_vec3;

/// Entry rc is in row r and column c.
typedef struct yw_lanes_mat3 {
  yw_vf xx, xy, xz, yx, yy, yz, zx, zy, zz;
} yw_lanes_mat3;

_Static_assert(sizeof(yw_lanes_mat3) == 9 * sizeof(yw_vf), "entries follow each other");

typedef struct yw_lanes_sym3 {
  yw_vf xx, yy, zz, xy, xz, yz;
} yw_lanes_sym3;

typedef struct yw_lanes_quat {
  yw_vf x, y, z, w;
} yw_lanes_quat;

YW_LANE_FN yw_lanes_vec3 yw_lanes_vec3_load(const float (*v)[YW_LANES], int32_t lane) {
  return (yw_lanes_vec3){yw_vf_load(v[0] + lane), yw_vf_load(v[1] + lane), yw_vf_load(v[2] + lane)};
}

YW_LANE_FN yw_lanes_mat3 yw_lanes_mat3_load(const yw_mat3x16* m, int32_t lane) {
  return (yw_lanes_mat3){
      yw_vf_load(m->m[0] + lane), yw_vf_load(m->m[1] + lane), yw_vf_load(m->m[2] + lane),
      yw_vf_load(m->m[3] + lane), yw_vf_load(m->m[4] + lane), yw_vf_load(m->m[5] + lane),
      yw_vf_load(m->m[6] + lane), yw_vf_load(m->m[7] + lane), yw_vf_load(m->m[8] + lane)};
}

YW_LANE_FN void yw_lanes_mat3_store(yw_mat3x16* to, int32_t lane, const yw_lanes_mat3* m) {
  yw_vf_store(to->m[0] + lane, m->xx);
  yw_vf_store(to->m[1] + lane, m->xy);
  yw_vf_store(to->m[2] + lane, m->xz);
  yw_vf_store(to->m[3] + lane, m->yx);
  yw_vf_store(to->m[4] + lane, m->yy);
  yw_vf_store(to->m[5] + lane, m->yz);
  yw_vf_store(to->m[6] + lane, m->zx);
  yw_vf_store(to->m[7] + lane, m->zy);
  yw_vf_store(to->m[8] + lane, m->zz);
}

YW_LANE_FN yw_lanes_sym3 yw_lanes_sym3_load(const yw_sym3x16* m, int32_t lane) {
  return (yw_lanes_sym3){yw_vf_load(m->m[0] + lane), yw_vf_load(m->m[1] + lane),
                         yw_vf_load(m->m[2] + lane), yw_vf_load(m->m[3] + lane),
                         yw_vf_load(m->m[4] + lane), yw_vf_load(m->m[5] + lane)};
}

YW_LANE_FN void yw_lanes_sym3_store(yw_sym3x16* to, int32_t lane, const yw_lanes_sym3* m) {
  yw_vf_store(to->m[0] + lane, m->xx);
  yw_vf_store(to->m[1] + lane, m->yy);
  yw_vf_store(to->m[2] + lane, m->zz);
  yw_vf_store(to->m[3] + lane, m->xy);
  yw_vf_store(to->m[4] + lane, m->xz);
  yw_vf_store(to->m[5] + lane, m->yz);
}

YW_LANE_FN yw_lanes_quat yw_lanes_quat_load(const yw_quatx16* q, int32_t lane) {
  return (yw_lanes_quat){yw_vf_load(q->m[0] + lane), yw_vf_load(q->m[1] + lane),
                         yw_vf_load(q->m[2] + lane), yw_vf_load(q->m[3] + lane)};
}

YW_LANE_FN void yw_lanes_quat_store(yw_quatx16* to, int32_t lane, const yw_lanes_quat* q) {
  yw_vf_store(to->m[0] + lane, q->x);
  yw_vf_store(to->m[1] + lane, q->y);
  yw_vf_store(to->m[2] + lane, q->z);
  yw_vf_store(to->m[3] + lane, q->w);
}

YW_LANE_FN yw_lanes_quat yw_lanes_quat_select(yw_vi mask, yw_lanes_quat a, yw_lanes_quat b) {
  return (yw_lanes_quat){yw_vf_select(mask, a.x, b.x), yw_vf_select(mask, a.y, b.y),
                         yw_vf_select(mask, a.z, b.z), yw_vf_select(mask, a.w, b.w)};
}

YW_LANE_FN yw_lanes_mat3 yw_lanes_mat3_select(yw_vi mask, const yw_lanes_mat3* a,
                                              const yw_lanes_mat3* b) {
  return (yw_lanes_mat3){yw_vf_select(mask, a->xx, b->xx), yw_vf_select(mask, a->xy, b->xy),
                         yw_vf_select(mask, a->xz, b->xz), yw_vf_select(mask, a->yx, b->yx),
                         yw_vf_select(mask, a->yy, b->yy), yw_vf_select(mask, a->yz, b->yz),
                         yw_vf_select(mask, a->zx, b->zx), yw_vf_select(mask, a->zy, b->zy),
                         yw_vf_select(mask, a->zz, b->zz)};
}

YW_LANE_FN yw_lanes_mat3 yw_lanes_mat3_scale(const yw_lanes_mat3* a, yw_vf k) {
  return (yw_lanes_mat3){a->xx * k, a->xy * k, a->xz * k, a->yx * k, a->yy * k,
                         a->yz * k, a->zx * k, a->zy * k, a->zz * k};
}

YW_LANE_FN yw_lanes_mat3 yw_lanes_mat3_add(const yw_lanes_mat3* a, const yw_lanes_mat3* b) {
  return (yw_lanes_mat3){a->xx + b->xx, a->xy + b->xy, a->xz + b->xz, a->yx + b->yx, a->yy + b->yy,
                         a->yz + b->yz, a->zx + b->zx, a->zy + b->zy, a->zz + b->zz};
}

/// a + k b
YW_LANE_FN yw_lanes_mat3 yw_lanes_mat3_mad(const yw_lanes_mat3* a, yw_vf k,
                                           const yw_lanes_mat3* b) {
  return (yw_lanes_mat3){a->xx + k * b->xx, a->xy + k * b->xy, a->xz + k * b->xz,
                         a->yx + k * b->yx, a->yy + k * b->yy, a->yz + k * b->yz,
                         a->zx + k * b->zx, a->zy + k * b->zy, a->zz + k * b->zz};
}

/// a diag(k)
YW_LANE_FN yw_lanes_mat3 yw_lanes_mat3_scale_columns(const yw_lanes_mat3* a, const yw_vf k[3]) {
  return (yw_lanes_mat3){a->xx * k[0], a->xy * k[1], a->xz * k[2], a->yx * k[0], a->yy * k[1],
                         a->yz * k[2], a->zx * k[0], a->zy * k[1], a->zz * k[2]};
}

YW_LANE_FN yw_lanes_mat3 yw_lanes_mat3_of_sym(const yw_lanes_sym3* s) {
  return (yw_lanes_mat3){s->xx, s->xy, s->xz, s->xy, s->yy, s->yz, s->xz, s->yz, s->zz};
}

/// Largest absolute entry.
YW_LANE_FN yw_vf yw_lanes_mat3_max_abs(const yw_lanes_mat3* a) {
  yw_vf x = yw_vf_max(yw_vf_max(yw_vf_abs(a->xx), yw_vf_abs(a->xy)), yw_vf_abs(a->xz));
  yw_vf y = yw_vf_max(yw_vf_max(yw_vf_abs(a->yx), yw_vf_abs(a->yy)), yw_vf_abs(a->yz));
  yw_vf z = yw_vf_max(yw_vf_max(yw_vf_abs(a->zx), yw_vf_abs(a->zy)), yw_vf_abs(a->zz));
  return yw_vf_max(yw_vf_max(x, y), z);
}

YW_LANE_FN yw_lanes_sym3 yw_lanes_sym3_select(yw_vi mask, const yw_lanes_sym3* a,
                                              const yw_lanes_sym3* b) {
  return (yw_lanes_sym3){yw_vf_select(mask, a->xx, b->xx), yw_vf_select(mask, a->yy, b->yy),
                         yw_vf_select(mask, a->zz, b->zz), yw_vf_select(mask, a->xy, b->xy),
                         yw_vf_select(mask, a->xz, b->xz), yw_vf_select(mask, a->yz, b->yz)};
}

YW_LANE_FN yw_lanes_sym3 yw_lanes_sym3_scale(const yw_lanes_sym3* a, yw_vf k) {
  return (yw_lanes_sym3){a->xx * k, a->yy * k, a->zz * k, a->xy * k, a->xz * k, a->yz * k};
}

YW_LANE_FN yw_lanes_quat yw_lanes_quat_normalize(yw_lanes_quat q) {
  yw_vf inv = 1.0f / yw_vf_sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  return (yw_lanes_quat){q.x * inv, q.y * inv, q.z * inv, q.w * inv};
}

/// Rotation matrices of unit quaternions.
YW_LANE_FN yw_lanes_mat3 yw_lanes_rotation(yw_lanes_quat q) {
  yw_vf x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
  yw_vf xx = q.x * x2, yy = q.y * y2, zz = q.z * z2, xy = q.x * y2, xz = q.x * z2, yz = q.y * z2;
  yw_vf wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
  return (yw_lanes_mat3){1.0f - (yy + zz), xy - wz, xz + wy, xy + wz,         1.0f - (xx + zz),
                         yz - wx,          xz - wy, yz + wx, 1.0f - (xx + yy)};
}

/// a^T b
YW_LANE_FN yw_lanes_mat3 yw_lanes_mat3_mul_tn(const yw_lanes_mat3* a, const yw_lanes_mat3* b) {
  return (yw_lanes_mat3){
      a->xx * b->xx + a->yx * b->yx + a->zx * b->zx, a->xx * b->xy + a->yx * b->yy + a->zx * b->zy,
      a->xx * b->xz + a->yx * b->yz + a->zx * b->zz, a->xy * b->xx + a->yy * b->yx + a->zy * b->zx,
      a->xy * b->xy + a->yy * b->yy + a->zy * b->zy, a->xy * b->xz + a->yy * b->yz + a->zy * b->zz,
      a->xz * b->xx + a->yz * b->yx + a->zz * b->zx, a->xz * b->xy + a->yz * b->yy + a->zz * b->zy,
      a->xz * b->xz + a->yz * b->yz + a->zz * b->zz};
}

YW_LANE_FN yw_lanes_mat3 yw_lanes_mat3_mul(const yw_lanes_mat3* a, const yw_lanes_mat3* b) {
  return (yw_lanes_mat3){
      a->xx * b->xx + a->xy * b->yx + a->xz * b->zx, a->xx * b->xy + a->xy * b->yy + a->xz * b->zy,
      a->xx * b->xz + a->xy * b->yz + a->xz * b->zz, a->yx * b->xx + a->yy * b->yx + a->yz * b->zx,
      a->yx * b->xy + a->yy * b->yy + a->yz * b->zy, a->yx * b->xz + a->yy * b->yz + a->yz * b->zz,
      a->zx * b->xx + a->zy * b->yx + a->zz * b->zx, a->zx * b->xy + a->zy * b->yy + a->zz * b->zy,
      a->zx * b->xz + a->zy * b->yz + a->zz * b->zz};
}

/// a b^T
YW_LANE_FN yw_lanes_mat3 yw_lanes_mat3_mul_nt(const yw_lanes_mat3* a, const yw_lanes_mat3* b) {
  return (yw_lanes_mat3){
      a->xx * b->xx + a->xy * b->xy + a->xz * b->xz, a->xx * b->yx + a->xy * b->yy + a->xz * b->yz,
      a->xx * b->zx + a->xy * b->zy + a->xz * b->zz, a->yx * b->xx + a->yy * b->xy + a->yz * b->xz,
      a->yx * b->yx + a->yy * b->yy + a->yz * b->yz, a->yx * b->zx + a->yy * b->zy + a->yz * b->zz,
      a->zx * b->xx + a->zy * b->xy + a->zz * b->xz, a->zx * b->yx + a->zy * b->yy + a->zz * b->yz,
      a->zx * b->zx + a->zy * b->zy + a->zz * b->zz};
}

YW_LANE_FN yw_lanes_mat3 yw_lanes_mat3_mul_sym(const yw_lanes_mat3* a, const yw_lanes_sym3* s) {
  yw_lanes_mat3 b = yw_lanes_mat3_of_sym(s);
  return yw_lanes_mat3_mul(a, &b);
}

YW_LANE_FN yw_lanes_mat3 yw_lanes_sym3_mul(const yw_lanes_sym3* s, const yw_lanes_mat3* a) {
  yw_lanes_mat3 b = yw_lanes_mat3_of_sym(s);
  return yw_lanes_mat3_mul(&b, a);
}

YW_LANE_FN yw_lanes_vec3 yw_lanes_vec3_sub(yw_lanes_vec3 a, yw_lanes_vec3 b) {
  return (yw_lanes_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

/// m v
YW_LANE_FN yw_lanes_vec3 yw_lanes_mat3_apply(const yw_lanes_mat3* m, yw_lanes_vec3 v) {
  return (yw_lanes_vec3){m->xx * v.x + m->xy * v.y + m->xz * v.z,
                         m->yx * v.x + m->yy * v.y + m->yz * v.z,
                         m->zx * v.x + m->zy * v.y + m->zz * v.z};
}

/// m += a b^T
YW_LANE_FN void yw_lanes_mat3_add_outer(yw_lanes_mat3* m, yw_lanes_vec3 a, yw_lanes_vec3 b) {
  m->xx += a.x * b.x, m->xy += a.x * b.y, m->xz += a.x * b.z;
  m->yx += a.y * b.x, m->yy += a.y * b.y, m->yz += a.y * b.z;
  m->zx += a.z * b.x, m->zy += a.z * b.y, m->zz += a.z * b.z;
}

YW_LANE_FN yw_vf yw_lanes_mat3_norm2(const yw_lanes_mat3* a) {
  return (a->xx * a->xx + a->xy * a->xy + a->xz * a->xz) +
         (a->yx * a->yx + a->yy * a->yy + a->yz * a->yz) +
         (a->zx * a->zx + a->zy * a->zy + a->zz * a->zz);
}

#endif
