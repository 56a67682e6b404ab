// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Small vectors, matrices and quaternions: header-only, by value.
#ifndef YAWARA_EXTEND_VEC_H
#define YAWARA_EXTEND_VEC_H

#include <math.h>

#include "../base.h"

/// Particle data: 16 bytes; w is padding (0) unless a comment says otherwise.
typedef struct yw_vec4 {
  _Alignas(16) float x;
  float y, z, w;
} yw_vec4;

/// Columns: M v = cx v.x + cy v.y + cz v.z.
typedef struct yw_mat3 {
  yw_vec3 cx, cy, cz;
} yw_mat3;

static inline yw_vec3 yw_v3(float x, float y, float z) { return (yw_vec3){x, y, z}; }
static inline yw_vec3 yw_add(yw_vec3 a, yw_vec3 b) {
  return yw_v3(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline yw_vec3 yw_sub(yw_vec3 a, yw_vec3 b) {
  return yw_v3(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline yw_vec3 yw_scale(yw_vec3 a, float s) { return yw_v3(a.x * s, a.y * s, a.z * s); }
static inline yw_vec3 yw_neg(yw_vec3 a) { return yw_v3(-a.x, -a.y, -a.z); }
/// a + s b
static inline yw_vec3 yw_mad(yw_vec3 a, float s, yw_vec3 b) {
  return yw_v3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline yw_vec3 yw_lerp(yw_vec3 a, yw_vec3 b, float t) { return yw_mad(a, t, yw_sub(b, a)); }
static inline float yw_dot(yw_vec3 a, yw_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline yw_vec3 yw_cross(yw_vec3 a, yw_vec3 b) {
  return yw_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline float yw_length2(yw_vec3 a) { return yw_dot(a, a); }
static inline float yw_length(yw_vec3 a) { return sqrtf(yw_dot(a, a)); }
static inline float yw_distance(yw_vec3 a, yw_vec3 b) { return yw_length(yw_sub(a, b)); }
/// a / |a|, or fallback where |a| is 0 or not finite.
static inline yw_vec3 yw_normalize_or(yw_vec3 a, yw_vec3 fallback) {
  float length = yw_length(a);
  return length > 0.0f && isfinite(length) ? yw_scale(a, 1.0f / length) : fallback;
}
static inline yw_vec3 yw_min3(yw_vec3 a, yw_vec3 b) {
  return yw_v3(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}
static inline yw_vec3 yw_max3(yw_vec3 a, yw_vec3 b) {
  return yw_v3(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}
static inline bool yw_is_finite3(yw_vec3 a) {
  return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}
static inline float yw_clampf(float x, float low, float high) {
  return x < low ? low : x > high ? high : x;
}

/// a + s b; w is 0.
static inline yw_vec4 yw_mad4(yw_vec4 a, float s, yw_vec4 b) {
  return (yw_vec4){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z, 0.0f};
}
static inline yw_vec4 yw_v4(yw_vec3 a) { return (yw_vec4){a.x, a.y, a.z, 0.0f}; }
static inline yw_vec3 yw_xyz(yw_vec4 a) { return yw_v3(a.x, a.y, a.z); }

// Boxes
static inline yw_aabb yw_aabb_empty(void) {
  return (yw_aabb){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}
static inline yw_aabb yw_aabb_grow(yw_aabb box, yw_vec3 p) {
  return (yw_aabb){yw_min3(box.lower, p), yw_max3(box.upper, p)};
}
static inline yw_aabb yw_aabb_join(yw_aabb a, yw_aabb b) {
  return (yw_aabb){yw_min3(a.lower, b.lower), yw_max3(a.upper, b.upper)};
}
static inline yw_aabb yw_aabb_pad(yw_aabb a, float margin) {
  yw_vec3 m = yw_v3(margin, margin, margin);
  return (yw_aabb){yw_sub(a.lower, m), yw_add(a.upper, m)};
}
static inline bool yw_aabb_overlap(yw_aabb a, yw_aabb b) {
  return a.lower.x <= b.upper.x && b.lower.x <= a.upper.x && a.lower.y <= b.upper.y &&
         b.lower.y <= a.upper.y && a.lower.z <= b.upper.z && b.lower.z <= a.upper.z;
}

// Matrices
static inline yw_mat3 yw_mat3_identity(void) { return (yw_mat3){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}; }
static inline yw_mat3 yw_mat3_diagonal(yw_vec3 d) {
  return (yw_mat3){{d.x, 0, 0}, {0, d.y, 0}, {0, 0, d.z}};
}
static inline yw_vec3 yw_mul(yw_mat3 m, yw_vec3 v) {
  return yw_v3(m.cx.x * v.x + m.cy.x * v.y + m.cz.x * v.z,
               m.cx.y * v.x + m.cy.y * v.y + m.cz.y * v.z,
               m.cx.z * v.x + m.cy.z * v.y + m.cz.z * v.z);
}
static inline yw_vec3 yw_mul_t(yw_mat3 m, yw_vec3 v) {
  return yw_v3(yw_dot(m.cx, v), yw_dot(m.cy, v), yw_dot(m.cz, v));
}
static inline yw_mat3 yw_mat3_mul(yw_mat3 a, yw_mat3 b) {
  return (yw_mat3){yw_mul(a, b.cx), yw_mul(a, b.cy), yw_mul(a, b.cz)};
}
static inline yw_mat3 yw_mat3_transpose(yw_mat3 m) {
  return (yw_mat3){{m.cx.x, m.cy.x, m.cz.x}, {m.cx.y, m.cy.y, m.cz.y}, {m.cx.z, m.cy.z, m.cz.z}};
}
static inline yw_mat3 yw_mat3_add(yw_mat3 a, yw_mat3 b) {
  return (yw_mat3){yw_add(a.cx, b.cx), yw_add(a.cy, b.cy), yw_add(a.cz, b.cz)};
}
static inline yw_mat3 yw_mat3_scale(yw_mat3 m, float s) {
  return (yw_mat3){yw_scale(m.cx, s), yw_scale(m.cy, s), yw_scale(m.cz, s)};
}
static inline float yw_mat3_det(yw_mat3 m) { return yw_dot(m.cx, yw_cross(m.cy, m.cz)); }

// Rotations
static inline yw_vec3 yw_rotate(yw_quat q, yw_vec3 v) {
  yw_vec3 u = yw_v3(q.x, q.y, q.z);
  yw_vec3 t = yw_scale(yw_cross(u, v), 2.0f);
  return yw_add(yw_mad(v, q.w, t), yw_cross(u, t));
}
static inline yw_quat yw_quat_conjugate(yw_quat q) { return (yw_quat){-q.x, -q.y, -q.z, q.w}; }
/// First b, then a.
static inline yw_quat yw_quat_mul(yw_quat a, yw_quat b) {
  return (yw_quat){
      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}
static inline yw_quat yw_quat_normalize(yw_quat q) {
  float n = sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  if (!(n > 0.0f) || !isfinite(n)) return (yw_quat){0, 0, 0, 1};
  return (yw_quat){q.x / n, q.y / n, q.z / n, q.w / n};
}
static inline yw_mat3 yw_mat3_from_quat(yw_quat q) {
  return (yw_mat3){yw_rotate(q, yw_v3(1, 0, 0)), yw_rotate(q, yw_v3(0, 1, 0)),
                   yw_rotate(q, yw_v3(0, 0, 1))};
}

// Transforms
static inline yw_vec3 yw_transform_point(yw_transform t, yw_vec3 p) {
  return yw_add(yw_rotate(t.rotation, yw_scale(p, t.scale)), t.position);
}
static inline yw_vec3 yw_transform_point_inv(yw_transform t, yw_vec3 p) {
  return yw_scale(yw_rotate(yw_quat_conjugate(t.rotation), yw_sub(p, t.position)), 1.0f / t.scale);
}
/// First b, then a.
static inline yw_transform yw_transform_mul(yw_transform a, yw_transform b) {
  return (yw_transform){yw_transform_point(a, b.position), yw_quat_mul(a.rotation, b.rotation),
                        a.scale * b.scale};
}

#endif
