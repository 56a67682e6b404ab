// SPDX-License-Identifier: MIT
// The smooth minimum of n values, independent of their order.
//
//   smin(v) = min over w >= 0, sum w = 1 of   sum w_i v_i + k/2 (sum w_i^2 - 1)
//
// For two values this is the well-known quadratic blend: k/4 below the minimum where they are
// equal, the plain minimum where they differ by k or more. The optimal w is the projection of -v/k
// onto the simplex: w_i = max(0, (tau - v_i) / k), with tau such that they sum to 1. By the
// envelope theorem the gradient is sum w_i grad v_i, a convex combination, so smin of 1-Lipschitz
// functions is 1-Lipschitz. Only the YW_BLEND_MAX smallest values contribute, which preserves these
// properties (values that swap places at the end of the list are equal at that moment).
//
// Intersections and differences are smooth minima of negated values.
#ifndef YW_GEOMETRY_SHAPE_BLEND_H
#define YW_GEOMETRY_SHAPE_BLEND_H

#include "geometry/shape_node.h"

#define YW_BLEND_MAX 16

// union: min(a, b ..); intersection: -min(-a, -b ..); difference: -min(-a, b ..)
static inline float yw_group_first_sign(yw_shape_kind kind) {
  return kind == YW_SHAPE_UNION ? 1.0f : -1.0f;
}
static inline float yw_group_sign(yw_shape_kind kind) {
  return kind == YW_SHAPE_INTERSECTION ? -1.0f : 1.0f;
}
static inline float yw_group_out_sign(yw_shape_kind kind) {
  return kind == YW_SHAPE_UNION ? 1.0f : -1.0f;
}

/// Upper bound of the difference between the smallest of n values and smin.
static inline double yw_blend_depth(int32_t n, double smooth) {
  double active = n < YW_BLEND_MAX ? n : YW_BLEND_MAX;
  return 0.5 * smooth * (1.0 - 1.0 / active);
}

/// Values in ascending order.
typedef struct yw_blend {
  int32_t count;
  float values[YW_BLEND_MAX];
} yw_blend;

static inline void yw_blend_begin(yw_blend* blend, float value) {
  blend->count = 1;
  blend->values[0] = value;
}

/// Position for `value`, with room made for it; -1 if it has no weight.
static inline int32_t yw_blend_insert(yw_blend* blend, float smooth, float value) {
  if (!(value < blend->values[0] + smooth)) return -1;
  int32_t last = blend->count;
  if (last == YW_BLEND_MAX) {
    if (!(value < blend->values[last - 1])) return -1;
    --last;
  }
  blend->count = last + 1;
  int32_t i = last;
  for (; i > 0 && value < blend->values[i - 1]; --i) blend->values[i] = blend->values[i - 1];
  blend->values[i] = value;
  return i;
}

static inline void yw_blend_add(yw_blend* blend, float smooth, float value) {
  yw_blend_insert(blend, smooth, value);
}

/// The number of values with nonzero weight; *tau is relative to the smallest value.
static inline int32_t yw_blend_active(const yw_blend* blend, float smooth, float* tau) {
  float smallest = blend->values[0], sum = smooth;
  int32_t active = 1;
  *tau = smooth;
  while (active < blend->count && blend->values[active] - smallest < *tau) {
    sum += blend->values[active] - smallest;
    *tau = sum / (float)++active;
  }
  return active;
}

/// smin. weights (YW_BLEND_MAX entries, or NULL) receives the weights of the active values.
static inline float yw_blend_weigh(const yw_blend* blend, float smooth, int32_t* active,
                                   float* weights) {
  float tau;
  *active = yw_blend_active(blend, smooth, &tau);
  if (*active == 1) {
    if (weights) weights[0] = 1.0f;
    return blend->values[0];
  }
  float below = -0.5f * smooth;
  for (int32_t i = 0; i < *active; ++i) {
    float u = blend->values[i] - blend->values[0], w = (tau - u) / smooth;
    if (weights) weights[i] = w;
    below += w * (u + 0.5f * smooth * w);
  }
  return blend->values[0] + below;
}

static inline float yw_blend_value(const yw_blend* blend, float smooth) {
  int32_t active;
  return yw_blend_weigh(blend, smooth, &active, NULL);
}

/// Same with the gradient of each value.
typedef struct yw_gradient_blend {
  yw_blend blend;
  yw_vec3 gradients[YW_BLEND_MAX];
} yw_gradient_blend;

static inline void yw_gradient_blend_begin(yw_gradient_blend* blend, float value, yw_vec3 g) {
  yw_blend_begin(&blend->blend, value);
  blend->gradients[0] = g;
}

static inline void yw_gradient_blend_add(yw_gradient_blend* blend, float smooth, float value,
                                         yw_vec3 g) {
  int32_t place = yw_blend_insert(&blend->blend, smooth, value);
  if (place < 0) return;
  for (int32_t i = blend->blend.count - 1; i > place; --i)
    blend->gradients[i] = blend->gradients[i - 1];
  blend->gradients[place] = g;
}

/// Where the weighted gradients cancel, the gradient of the smallest value is used.
static inline float yw_gradient_blend_value(const yw_gradient_blend* blend, float smooth,
                                            yw_vec3* g) {
  int32_t active;
  float weights[YW_BLEND_MAX];
  float value = yw_blend_weigh(&blend->blend, smooth, &active, weights);
  yw_vec3 sum = yw_scale(blend->gradients[0], weights[0]);
  for (int32_t i = 1; i < active; ++i) sum = yw_mad(sum, weights[i], blend->gradients[i]);
  *g = yw_length2(sum) > 1e-12f ? sum : blend->gradients[0];
  return value;
}

#endif
