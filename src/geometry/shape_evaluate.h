// SPDX-License-Identifier: MIT
// Distance and normal of a shape: one switch over the kinds of node, then recursion.
//
// Every node is 1-Lipschitz: its value never changes faster than the point moves. Outside, the
// value is therefore at most the true distance, which sphere tracing and swept contact rely on.
// Inline: devices compile it too, without the two heavy leaves.
#ifndef YW_GEOMETRY_SHAPE_EVALUATE_H
#define YW_GEOMETRY_SHAPE_EVALUATE_H

#include "geometry/shape_blend.h"
#include "geometry/shape_node.h"
#include "geometry/shape_primitives.h"

// Kind and member of the primitives whose functions are in shape_primitives.h.
#define YW_SHAPE_PRIMITIVES(CASE) \
  CASE(YW_SHAPE_SPHERE, ball)     \
  CASE(YW_SHAPE_BOX, brick)       \
  CASE(YW_SHAPE_CAPSULE, pill)    \
  CASE(YW_SHAPE_CYLINDER, can)    \
  CASE(YW_SHAPE_CONE, frustum)    \
  CASE(YW_SHAPE_TORUS, ring)      \
  CASE(YW_SHAPE_PLANE, half_space)

static inline float yw_shape_value(const yw_shape* shape, yw_vec3 p);
static inline float yw_shape_gradient(const yw_shape* shape, yw_vec3 p, yw_vec3* gradient);

static inline yw_vec3 yw_shape_to_local(const yw_shape_placed* placed, yw_vec3 p) {
  return yw_mul(placed->to_local, yw_sub(p, placed->position));
}

static inline float yw_shape_group_value(const yw_shape* shape, yw_vec3 p) {
  const yw_shape_group* group = &shape->as.group;
  float first_sign = yw_group_first_sign(shape->kind), sign = yw_group_sign(shape->kind);
  float out_sign = yw_group_out_sign(shape->kind);
  float value = first_sign * yw_shape_value(group->children[0], p);
  if (group->smooth == 0.0f) {
    for (int32_t i = 1; i < group->count; ++i) {
      float other = sign * yw_shape_value(group->children[i], p);
      value = other < value ? other : value;
    }
    return out_sign * value;
  }
  yw_blend blend;
  yw_blend_begin(&blend, value);
  for (int32_t i = 1; i < group->count; ++i)
    yw_blend_add(&blend, group->smooth, sign * yw_shape_value(group->children[i], p));
  return out_sign * yw_blend_value(&blend, group->smooth);
}

// The gradient of a blend is the weighted sum of its children's; where that vanishes (between equal
// and opposite surfaces), the nearest child decides.
static inline float yw_shape_group_gradient(const yw_shape* shape, yw_vec3 p, yw_vec3* gradient) {
  const yw_shape_group* group = &shape->as.group;
  float first_sign = yw_group_first_sign(shape->kind), sign = yw_group_sign(shape->kind);
  float out_sign = yw_group_out_sign(shape->kind);
  yw_vec3 g;
  float value = first_sign * yw_shape_gradient(group->children[0], p, &g);
  g = yw_scale(g, first_sign);
  if (group->smooth == 0.0f) {
    for (int32_t i = 1; i < group->count; ++i) {
      yw_vec3 other_g;
      float other = sign * yw_shape_gradient(group->children[i], p, &other_g);
      if (other < value) value = other, g = yw_scale(other_g, sign);
    }
    *gradient = yw_scale(g, out_sign);
    return out_sign * value;
  }
  yw_gradient_blend blend;
  yw_gradient_blend_begin(&blend, value, g);
  for (int32_t i = 1; i < group->count; ++i) {
    float other = sign * yw_shape_gradient(group->children[i], p, &g);
    yw_gradient_blend_add(&blend, group->smooth, other, yw_scale(g, sign));
  }
  value = yw_gradient_blend_value(&blend, group->smooth, &g);
  *gradient = yw_scale(g, out_sign);
  return out_sign * value;
}

static inline float yw_shape_value(const yw_shape* shape, yw_vec3 p) {
  switch (shape->kind) {
#define CASE(kind, name) \
  case kind:             \
    return yw_##name##_distance(&shape->as.name, p);
    YW_SHAPE_PRIMITIVES(CASE)
#undef CASE
    case YW_SHAPE_UNION:
    case YW_SHAPE_INTERSECTION:
    case YW_SHAPE_DIFFERENCE:
      return yw_shape_group_value(shape, p);
    case YW_SHAPE_TRANSFORM:
      return yw_shape_value(shape->as.placed.child, yw_shape_to_local(&shape->as.placed, p)) *
             shape->as.placed.scale;
    case YW_SHAPE_OFFSET:
      return yw_shape_value(shape->as.grown.child, p) - shape->as.grown.distance;
#ifndef YW_ONE_LANE
    case YW_SHAPE_MESH:
      return yw_mesh_solid_distance(shape->as.mesh, p);
    case YW_SHAPE_SAMPLED:
      return yw_distance_grid_distance(shape->as.grid, p);
#else
    default:
      break;
#endif
  }
  return INFINITY;
}

static inline float yw_shape_placed_gradient(const yw_shape_placed* placed, yw_vec3 p, yw_vec3* g) {
  float distance =
      yw_shape_gradient(placed->child, yw_shape_to_local(placed, p), g) * placed->scale;
  *g = yw_mul(placed->rotation, *g);
  return distance;
}

// The gradient of a blend may be shorter than 1; only the public function normalises it.
static inline float yw_shape_gradient(const yw_shape* shape, yw_vec3 p, yw_vec3* g) {
  switch (shape->kind) {
#define CASE(kind, name) \
  case kind:             \
    return yw_##name##_gradient(&shape->as.name, p, g);
    YW_SHAPE_PRIMITIVES(CASE)
#undef CASE
    case YW_SHAPE_UNION:
    case YW_SHAPE_INTERSECTION:
    case YW_SHAPE_DIFFERENCE:
      return yw_shape_group_gradient(shape, p, g);
    case YW_SHAPE_TRANSFORM:
      return yw_shape_placed_gradient(&shape->as.placed, p, g);
    case YW_SHAPE_OFFSET:
      return yw_shape_gradient(shape->as.grown.child, p, g) - shape->as.grown.distance;
#ifndef YW_ONE_LANE
    case YW_SHAPE_MESH:
      return yw_mesh_solid_distance_normal(shape->as.mesh, p, g);
    case YW_SHAPE_SAMPLED:
      return yw_distance_grid_distance_normal(shape->as.grid, p, g);
#else
    default:
      break;
#endif
  }
  *g = yw_v3(0, 1, 0);
  return INFINITY;
}

/// yw_shape_distance_normal.
static inline float yw_shape_value_normal(const yw_shape* shape, yw_vec3 p, yw_vec3* normal) {
  float distance = yw_shape_gradient(shape, p, normal);
  if (shape->depth > 1) *normal = yw_unit_or(*normal, yw_v3(0, 1, 0));
  return distance;
}

#endif
