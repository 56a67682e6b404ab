// SPDX-License-Identifier: MIT
// Geometry of triangles, tets and segments.
#ifndef YW_CONTACT_SURFACE_H
#define YW_CONTACT_SURFACE_H

#include "yawara/extend/vec.h"

/// Point of triangle abc nearest to p, with its barycentric weights.
static inline yw_vec3 yw_nearest_on_triangle(yw_vec3 p, yw_vec3 a, yw_vec3 b, yw_vec3 c,
                                             float weights[3]) {
  yw_vec3 ab = yw_sub(b, a), ac = yw_sub(c, a), ap = yw_sub(p, a);
  float d1 = yw_dot(ab, ap), d2 = yw_dot(ac, ap);
  float bb = yw_dot(ab, ab), bc = yw_dot(ab, ac), cc = yw_dot(ac, ac);
  float det = bb * cc - bc * bc;
  float v = cc * d1 - bc * d2, w = bb * d2 - bc * d1;
  if (det > 0.0f && v >= 0.0f && w >= 0.0f && v + w <= det) {
    v /= det;
    w /= det;
  } else {
    // Outside: the nearest point on any of the three edges.
    float on_ab = bb > 0.0f ? yw_clampf(d1 / bb, 0.0f, 1.0f) : 0.0f;
    float on_ac = cc > 0.0f ? yw_clampf(d2 / cc, 0.0f, 1.0f) : 0.0f;
    float ee = bb - 2.0f * bc + cc;  // |c - b|^2
    float on_bc = ee > 0.0f ? yw_clampf((d2 - d1 + bb - bc) / ee, 0.0f, 1.0f) : 0.0f;
    float far_ab = yw_length2(yw_sub(ap, yw_scale(ab, on_ab)));
    float far_ac = yw_length2(yw_sub(ap, yw_scale(ac, on_ac)));
    yw_vec3 q = yw_add(yw_scale(ab, 1.0f - on_bc), yw_scale(ac, on_bc));
    float far_bc = yw_length2(yw_sub(ap, q));
    bool is_ab = far_ab <= far_ac && far_ab <= far_bc, is_ac = !is_ab && far_ac <= far_bc;
    v = is_ab ? on_ab : is_ac ? 0.0f : 1.0f - on_bc;
    w = is_ab ? 0.0f : is_ac ? on_ac : on_bc;
  }
  weights[0] = 1.0f - v - w;
  weights[1] = v;
  weights[2] = w;
  return yw_add(a, yw_add(yw_scale(ab, v), yw_scale(ac, w)));
}

/// Barycentric weights of p in tet abcd; false when the tet is flat.
static inline bool yw_tet_weights(yw_vec3 p, yw_vec3 a, yw_vec3 b, yw_vec3 c, yw_vec3 d,
                                  float weights[4]) {
  yw_vec3 ab = yw_sub(b, a), ac = yw_sub(c, a), ad = yw_sub(d, a), ap = yw_sub(p, a);
  yw_vec3 normal = yw_cross(ac, ad);
  float det = yw_dot(ab, normal);
  float size = yw_length2(ab) + yw_length2(ac) + yw_length2(ad);
  if (!(det * det > 1e-12f * size * size * size)) return false;
  float inv = 1.0f / det;
  yw_vec3 across = yw_cross(ab, ap);
  weights[1] = yw_dot(ap, normal) * inv;
  weights[2] = yw_dot(ad, across) * inv;
  weights[3] = -yw_dot(ac, across) * inv;
  weights[0] = 1.0f - weights[1] - weights[2] - weights[3];
  return true;
}

/// Nearest points of the lines a0 + s u and b0 + t v; false when they are nearly parallel.
static inline bool yw_nearest_on_lines(yw_vec3 a0, yw_vec3 u, yw_vec3 b0, yw_vec3 v, float* s,
                                       float* t) {
  float uu = yw_dot(u, u), vv = yw_dot(v, v), uv = yw_dot(u, v);
  float det = uu * vv - uv * uv;
  if (!(det > 0.01f * uu * vv)) return false;
  yw_vec3 r = yw_sub(a0, b0);
  float ur = yw_dot(u, r), vr = yw_dot(v, r);
  *s = (uv * vr - vv * ur) / det;
  *t = (uu * vr - uv * ur) / det;
  return true;
}

#endif
