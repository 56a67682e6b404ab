// SPDX-License-Identifier: MIT
// Signed distance and gradient of the primitives, inline so that single points and batches share
// them. Distances are exact inside and outside. Every gradient is a unit vector; where the true
// gradient is undefined (centre, axis, medial surface), one of its limits is used, always the same
// one.
#ifndef YW_GEOMETRY_SHAPE_PRIMITIVES_H
#define YW_GEOMETRY_SHAPE_PRIMITIVES_H

#include "geometry/shape_node.h"

/// a / |a|; below 1e-15 the squared length has lost its digits, so the fallback is used.
static inline yw_vec3 yw_unit_or(yw_vec3 a, yw_vec3 fallback) {
  float length2 = yw_length2(a);
  if (!(length2 > 1e-30f && length2 < 3e38f)) return fallback;
  return yw_scale(a, 1.0f / sqrtf(length2));
}

static inline float yw_sign_of(float x) { return x < 0.0f ? -1.0f : 1.0f; }
static inline float yw_above_zero(float x) { return x > 0.0f ? x : 0.0f; }

// Sphere

static inline float yw_ball_distance(const yw_shape_ball* s, yw_vec3 p) {
  return yw_distance(p, s->center) - s->radius;
}

static inline float yw_ball_gradient(const yw_shape_ball* s, yw_vec3 p, yw_vec3* g) {
  yw_vec3 d = yw_sub(p, s->center);
  *g = yw_unit_or(d, yw_v3(0, 1, 0));
  return yw_length(d) - s->radius;
}

// Box, sharp or rounded

static inline float yw_brick_distance(const yw_shape_brick* s, yw_vec3 p) {
  float x = fabsf(p.x) - s->inner.x, y = fabsf(p.y) - s->inner.y, z = fabsf(p.z) - s->inner.z;
  float deepest = x > y ? x : y;
  deepest = deepest > z ? deepest : z;
  float outside = yw_length(yw_v3(yw_above_zero(x), yw_above_zero(y), yw_above_zero(z)));
  return (deepest > 0.0f ? outside : deepest) - s->radius;
}

static inline float yw_brick_gradient(const yw_shape_brick* s, yw_vec3 p, yw_vec3* g) {
  float x = fabsf(p.x) - s->inner.x, y = fabsf(p.y) - s->inner.y, z = fabsf(p.z) - s->inner.z;
  float deepest = x > y ? x : y;
  deepest = deepest > z ? deepest : z;
  // Inside, and as a fallback, the nearest face; on ties x before y before z.
  yw_vec3 face = x >= deepest   ? yw_v3(yw_sign_of(p.x), 0, 0)
                 : y >= deepest ? yw_v3(0, yw_sign_of(p.y), 0)
                                : yw_v3(0, 0, yw_sign_of(p.z));
  yw_vec3 corner = yw_v3(yw_above_zero(x), yw_above_zero(y), yw_above_zero(z));
  float outside = yw_length(corner);
  corner =
      yw_v3(corner.x * yw_sign_of(p.x), corner.y * yw_sign_of(p.y), corner.z * yw_sign_of(p.z));
  *g = yw_unit_or(corner, face);
  return (deepest > 0.0f ? outside : deepest) - s->radius;
}

// Capsule

static inline yw_vec3 yw_pill_from_axis(const yw_shape_pill* s, yw_vec3 p) {
  yw_vec3 ap = yw_sub(p, s->a);
  float t = yw_clampf(yw_dot(ap, s->ab) * s->inv_length2, 0.0f, 1.0f);
  return yw_mad(ap, -t, s->ab);
}

static inline float yw_pill_distance(const yw_shape_pill* s, yw_vec3 p) {
  return yw_length(yw_pill_from_axis(s, p)) - s->radius;
}

static inline float yw_pill_gradient(const yw_shape_pill* s, yw_vec3 p, yw_vec3* g) {
  yw_vec3 d = yw_pill_from_axis(s, p);
  *g = yw_unit_or(d, s->side);
  return yw_length(d) - s->radius;
}

// Solids of revolution about y: converts a gradient (radial, along) in the half-plane to a vector.

static inline float yw_radius_of(yw_vec3 p) { return sqrtf(p.x * p.x + p.z * p.z); }

static inline yw_vec3 yw_revolve(yw_vec3 p, float radial, float along) {
  yw_vec3 out = yw_unit_or(yw_v3(p.x, 0, p.z), yw_v3(1, 0, 0));
  return yw_v3(out.x * radial, along, out.z * radial);
}

static inline float yw_can_distance(const yw_shape_can* s, yw_vec3 p) {
  float r = yw_radius_of(p) - s->radius, y = fabsf(p.y) - s->half_height;
  float deepest = r > y ? r : y;
  float r_out = yw_above_zero(r), y_out = yw_above_zero(y);
  return deepest > 0.0f ? sqrtf(r_out * r_out + y_out * y_out) : deepest;
}

static inline float yw_can_gradient(const yw_shape_can* s, yw_vec3 p, yw_vec3* g) {
  float r = yw_radius_of(p) - s->radius, y = fabsf(p.y) - s->half_height;
  float up = yw_sign_of(p.y);
  float r_out = yw_above_zero(r), y_out = yw_above_zero(y);
  float out2 = r_out * r_out + y_out * y_out;
  float deepest = r > y ? r : y;
  float radial = r >= y ? 1.0f : 0.0f, along = 1.0f - radial;
  if (out2 > 1e-30f && out2 < 3e38f) {
    float inv = 1.0f / sqrtf(out2);
    radial = r_out * inv, along = y_out * inv;
  }
  *g = yw_revolve(p, radial, along * up);
  return deepest > 0.0f ? sqrtf(out2) : deepest;
}

/// Distance in the half-plane, and its gradient (radial, along). The profile is convex: inside, the
/// nearest of its lines; outside, a face if the foot of the perpendicular falls on it, else the
/// nearer rim.
static inline float yw_frustum_profile(const yw_shape_frustum* s, float r, float y, float* radial,
                                       float* along) {
  float from_r = r - s->bottom, from_y = y + s->half_height;
  float slant = from_r * s->normal_r + from_y * s->normal_y;
  float t = from_y * s->normal_r - from_r * s->normal_y;  // along the slant, 0 to length
  float cap = fabsf(y) - s->half_height, up = yw_sign_of(y);
  bool on_slant = slant > 0.0f && t > 0.0f && t < s->length;
  bool on_cap = cap > 0.0f && r <= (y < 0.0f ? s->bottom : s->top);
  bool inside = slant <= 0.0f && cap <= 0.0f;
  if (inside || on_slant || on_cap) {
    bool take_slant = inside ? slant >= cap : on_slant;
    *radial = take_slant ? s->normal_r : 0.0f;
    *along = take_slant ? s->normal_y : up;
    return take_slant ? slant : cap;
  }
  bool at_top = 2.0f * t > s->length;
  float rim_r = at_top ? r - s->top : from_r;
  float rim_y = at_top ? y - s->half_height : from_y;
  float rim2 = rim_r * rim_r + rim_y * rim_y;
  bool clear = rim2 > 1e-30f && rim2 < 3e38f;
  float inv = clear ? 1.0f / sqrtf(rim2) : 0.0f;
  *radial = clear ? rim_r * inv : s->normal_r;
  *along = clear ? rim_y * inv : s->normal_y;
  return sqrtf(rim2);
}

static inline float yw_frustum_distance(const yw_shape_frustum* s, yw_vec3 p) {
  float radial, along;
  return yw_frustum_profile(s, yw_radius_of(p), p.y, &radial, &along);
}

static inline float yw_frustum_gradient(const yw_shape_frustum* s, yw_vec3 p, yw_vec3* g) {
  float radial, along;
  float distance = yw_frustum_profile(s, yw_radius_of(p), p.y, &radial, &along);
  *g = yw_revolve(p, radial, along);
  return distance;
}

/// Inside a tube that reaches across the axis, points whose nearest point of the circle lies beyond
/// the axis are nearest to the spike, where the tube meets the axis.
static inline bool yw_ring_is_at_spike(const yw_shape_ring* s, float from_ring, float length) {
  return s->spike > 0.0f && length < s->tube && s->ring * length + from_ring * s->tube < 0.0f;
}

static inline float yw_ring_distance(const yw_shape_ring* s, yw_vec3 p) {
  float r = yw_radius_of(p), from_ring = r - s->ring;
  float length = sqrtf(from_ring * from_ring + p.y * p.y);
  if (yw_ring_is_at_spike(s, from_ring, length)) {
    float y = fabsf(p.y) - s->spike;
    return -sqrtf(r * r + y * y);
  }
  return length - s->tube;
}

static inline float yw_ring_gradient(const yw_shape_ring* s, yw_vec3 p, yw_vec3* g) {
  float r = yw_radius_of(p), from_ring = r - s->ring;
  float length2 = from_ring * from_ring + p.y * p.y, length = sqrtf(length2);
  if (yw_ring_is_at_spike(s, from_ring, length)) {
    float up = yw_sign_of(p.y), y = fabsf(p.y) - s->spike;
    *g = yw_unit_or(yw_v3(-p.x, -y * up, -p.z), yw_v3(0, up, 0));
    return -sqrtf(r * r + y * y);
  }
  bool clear = length2 > 1e-30f && length2 < 3e38f;
  float inv = clear ? 1.0f / length : 0.0f;
  *g = yw_revolve(p, clear ? from_ring * inv : 1.0f, clear ? p.y * inv : 0.0f);
  return length - s->tube;
}

// Half-space

static inline float yw_half_space_distance(const yw_shape_half_space* s, yw_vec3 p) {
  return yw_dot(s->normal, p) - s->offset;
}

static inline float yw_half_space_gradient(const yw_shape_half_space* s, yw_vec3 p, yw_vec3* g) {
  *g = s->normal;
  return yw_dot(s->normal, p) - s->offset;
}

#endif
