// SPDX-License-Identifier: MIT
// Distance and normal of a shape, of single points and in batches.
#include "geometry/shape.h"

#include "geometry/shape_evaluate.h"

float yw_shape_distance(const yw_shape* shape, yw_vec3 p) { return yw_shape_value(shape, p); }

float yw_shape_distance_normal(const yw_shape* shape, yw_vec3 p, yw_vec3* normal) {
  return yw_shape_value_normal(shape, p, normal);
}

static float gap_of(const yw_shape* shape, yw_vec3 p, yw_vec3* normal) {
  if (shape->kind == YW_SHAPE_MESH) return yw_mesh_solid_gap(shape->as.mesh, p, normal);
  if (shape->kind != YW_SHAPE_TRANSFORM) return yw_shape_gradient(shape, p, normal);
  const yw_shape_placed* placed = &shape->as.placed;
  float distance = gap_of(placed->child, yw_shape_to_local(placed, p), normal) * placed->scale;
  *normal = yw_mul(placed->rotation, *normal);
  return distance;
}

float yw_shape_gap(const yw_shape* shape, yw_vec3 p, yw_vec3* normal) {
  float distance = gap_of(shape, p, normal);
  if (shape->depth > 1) *normal = yw_unit_or(*normal, yw_v3(0, 1, 0));
  return distance;
}

// Batches

#define CHUNK_POINTS 64

// One loop per kind, so that the switch is outside and the loop body is inlined.
#define EACH_POINT(expression)          \
  for (int32_t i = 0; i < count; ++i) { \
    yw_vec3 p = yw_xyz(points[i]);      \
    distance[i] = (expression);         \
  }
#define EACH_POINT_GRADIENT(expression) \
  for (int32_t i = 0; i < count; ++i) { \
    yw_vec3 p = yw_xyz(points[i]), g;   \
    distance[i] = (expression);         \
    gradient[i] = yw_v4(g);             \
  }

static void evaluate_many(const yw_shape* shape, int32_t count, const yw_vec4* points,
                          float* distance);
static void evaluate_gradient_many(const yw_shape* shape, int32_t count, const yw_vec4* points,
                                   float* distance, yw_vec4* gradient);

static void place_many(const yw_shape_placed* placed, int32_t count, const yw_vec4* points,
                       yw_vec4* local) {
  for (int32_t i = 0; i < count; ++i)
    local[i] = yw_v4(yw_shape_to_local(placed, yw_xyz(points[i])));
}

static void sharp_group_many(const yw_shape* shape, int32_t count, const yw_vec4* points,
                             float* distance) {
  const yw_shape_group* group = &shape->as.group;
  float first_sign = yw_group_first_sign(shape->kind), sign = yw_group_sign(shape->kind);
  float out_sign = yw_group_out_sign(shape->kind);
  evaluate_many(group->children[0], count, points, distance);
  for (int32_t i = 0; i < count; ++i) distance[i] *= first_sign;
  for (int32_t child = 1; child < group->count; ++child) {
    float other[CHUNK_POINTS];
    evaluate_many(group->children[child], count, points, other);
    for (int32_t i = 0; i < count; ++i) {
      float value = sign * other[i];
      distance[i] = value < distance[i] ? value : distance[i];
    }
  }
  for (int32_t i = 0; i < count; ++i) distance[i] *= out_sign;
}

static void sharp_group_gradient_many(const yw_shape* shape, int32_t count, const yw_vec4* points,
                                      float* distance, yw_vec4* gradient) {
  const yw_shape_group* group = &shape->as.group;
  float first_sign = yw_group_first_sign(shape->kind), sign = yw_group_sign(shape->kind);
  float out_sign = yw_group_out_sign(shape->kind);
  evaluate_gradient_many(group->children[0], count, points, distance, gradient);
  for (int32_t i = 0; i < count; ++i) {
    distance[i] *= first_sign;
    gradient[i] = yw_v4(yw_scale(yw_scale(yw_xyz(gradient[i]), first_sign), out_sign));
  }
  for (int32_t child = 1; child < group->count; ++child) {
    float other[CHUNK_POINTS];
    yw_vec4 other_gradient[CHUNK_POINTS];
    evaluate_gradient_many(group->children[child], count, points, other, other_gradient);
    for (int32_t i = 0; i < count; ++i) {
      float value = sign * other[i];
      if (!(value < distance[i])) continue;
      distance[i] = value;
      gradient[i] = yw_v4(yw_scale(yw_scale(yw_xyz(other_gradient[i]), sign), out_sign));
    }
  }
  for (int32_t i = 0; i < count; ++i) distance[i] *= out_sign;
}

// count <= CHUNK_POINTS below.

static void evaluate_many(const yw_shape* shape, int32_t count, const yw_vec4* points,
                          float* distance) {
  switch (shape->kind) {
#define CASE(kind, name)                                  \
  case kind:                                              \
    EACH_POINT(yw_##name##_distance(&shape->as.name, p)); \
    break;
    YW_SHAPE_PRIMITIVES(CASE)
#undef CASE
    case YW_SHAPE_UNION:
    case YW_SHAPE_INTERSECTION:
    case YW_SHAPE_DIFFERENCE:
      if (shape->as.group.smooth == 0.0f) {
        sharp_group_many(shape, count, points, distance);
      } else {
        EACH_POINT(yw_shape_group_value(shape, p));
      }
      break;
    case YW_SHAPE_TRANSFORM: {
      yw_vec4 local[CHUNK_POINTS];
      place_many(&shape->as.placed, count, points, local);
      evaluate_many(shape->as.placed.child, count, local, distance);
      for (int32_t i = 0; i < count; ++i) distance[i] *= shape->as.placed.scale;
      break;
    }
    case YW_SHAPE_OFFSET:
      evaluate_many(shape->as.grown.child, count, points, distance);
      for (int32_t i = 0; i < count; ++i) distance[i] -= shape->as.grown.distance;
      break;
    case YW_SHAPE_MESH:
      yw_mesh_solid_distance_many(shape->as.mesh, count, points, distance);
      break;
    case YW_SHAPE_SAMPLED:
      EACH_POINT(yw_distance_grid_distance(shape->as.grid, p));
      break;
  }
}

static void evaluate_gradient_many(const yw_shape* shape, int32_t count, const yw_vec4* points,
                                   float* distance, yw_vec4* gradient) {
  switch (shape->kind) {
#define CASE(kind, name)                                               \
  case kind:                                                           \
    EACH_POINT_GRADIENT(yw_##name##_gradient(&shape->as.name, p, &g)); \
    break;
    YW_SHAPE_PRIMITIVES(CASE)
#undef CASE
    case YW_SHAPE_UNION:
    case YW_SHAPE_INTERSECTION:
    case YW_SHAPE_DIFFERENCE:
      if (shape->as.group.smooth == 0.0f) {
        sharp_group_gradient_many(shape, count, points, distance, gradient);
      } else {
        EACH_POINT_GRADIENT(yw_shape_group_gradient(shape, p, &g));
      }
      break;
    case YW_SHAPE_TRANSFORM: {
      yw_vec4 local[CHUNK_POINTS];
      place_many(&shape->as.placed, count, points, local);
      evaluate_gradient_many(shape->as.placed.child, count, local, distance, gradient);
      for (int32_t i = 0; i < count; ++i) {
        distance[i] *= shape->as.placed.scale;
        gradient[i] = yw_v4(yw_mul(shape->as.placed.rotation, yw_xyz(gradient[i])));
      }
      break;
    }
    case YW_SHAPE_OFFSET:
      evaluate_gradient_many(shape->as.grown.child, count, points, distance, gradient);
      for (int32_t i = 0; i < count; ++i) distance[i] -= shape->as.grown.distance;
      break;
    case YW_SHAPE_MESH:
      EACH_POINT_GRADIENT(yw_mesh_solid_distance_normal(shape->as.mesh, p, &g));
      break;
    case YW_SHAPE_SAMPLED:
      EACH_POINT_GRADIENT(yw_distance_grid_distance_normal(shape->as.grid, p, &g));
      break;
  }
}

void yw_shape_distance_many(const yw_shape* shape, int32_t count, const yw_vec4* points,
                            float* out_distance) {
  for (int32_t begin = 0; begin < count; begin += CHUNK_POINTS) {
    int32_t size = count - begin < CHUNK_POINTS ? count - begin : CHUNK_POINTS;
    evaluate_many(shape, size, points + begin, out_distance + begin);
  }
}

void yw_shape_distance_normal_many(const yw_shape* shape, int32_t count, const yw_vec4* points,
                                   float* out_distance, yw_vec4* out_normal) {
  for (int32_t begin = 0; begin < count; begin += CHUNK_POINTS) {
    int32_t size = count - begin < CHUNK_POINTS ? count - begin : CHUNK_POINTS;
    evaluate_gradient_many(shape, size, points + begin, out_distance + begin, out_normal + begin);
  }
  if (shape->depth == 1) return;
  for (int32_t i = 0; i < count; ++i)
    out_normal[i] = yw_v4(yw_unit_or(yw_xyz(out_normal[i]), yw_v3(0, 1, 0)));
}
