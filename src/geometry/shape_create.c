// SPDX-License-Identifier: MIT
// Creates, shares and frees shapes.
#include <string.h>

#include "geometry/shape_node.h"
#include "yawara/extend/memory.h"

yw_shape* yw_shape_new(const yw_allocator* mem, yw_shape_kind kind, size_t extra) {
  if (extra > SIZE_MAX - sizeof(yw_shape)) return NULL;
  yw_shape* shape = yw_mem_alloc(mem, 1, sizeof(yw_shape) + extra);
  if (!shape) return NULL;
  shape->kind = kind;
  shape->depth = shape->visits = 1;
  shape->mem = yw_mem_or_default(mem);
  atomic_init(&shape->references, 1);
  return shape;
}

static bool is_length(float x) { return isfinite(x) && x > 0.0f; }

// Returns a leaf whose members are set, or YW_ERR_MEMORY.
static yw_status finish(yw_shape* shape, yw_shape** out) {
  if (!shape) return YW_ERR_MEMORY;
  yw_shape_set_bounds(shape);
  *out = shape;
  return YW_OK;
}

yw_status yw_shape_sphere(const yw_allocator* mem, float radius, yw_shape** out) {
  *out = NULL;
  if (!is_length(radius)) return YW_ERR_INVALID;
  yw_shape* shape = yw_shape_new(mem, YW_SHAPE_SPHERE, 0);
  if (shape) shape->as.ball.radius = radius;
  return finish(shape, out);
}

yw_status yw_shape_box(const yw_allocator* mem, yw_vec3 half_size, yw_shape** out) {
  return yw_shape_rounded_box(mem, half_size, 0.0f, out);
}

yw_status yw_shape_rounded_box(const yw_allocator* mem, yw_vec3 half_size, float radius,
                               yw_shape** out) {
  *out = NULL;
  yw_vec3 h = half_size;
  if (!is_length(h.x) || !is_length(h.y) || !is_length(h.z)) return YW_ERR_INVALID;
  if (!(radius >= 0.0f && radius <= h.x && radius <= h.y && radius <= h.z)) return YW_ERR_INVALID;
  yw_shape* shape = yw_shape_new(mem, YW_SHAPE_BOX, 0);
  if (shape) {
    shape->as.brick.inner = yw_sub(h, yw_v3(radius, radius, radius));
    shape->as.brick.radius = radius;
  }
  return finish(shape, out);
}

// A unit vector perpendicular to `axis`, from the coordinate axis least aligned with it.
static yw_vec3 across(yw_vec3 axis) {
  float x = fabsf(axis.x), y = fabsf(axis.y), z = fabsf(axis.z);
  yw_vec3 other = y <= x && y <= z ? yw_v3(0, 1, 0) : x <= z ? yw_v3(1, 0, 0) : yw_v3(0, 0, 1);
  float along = yw_dot(axis, other), length2 = yw_length2(axis);
  if (!(length2 > 0.0f)) return yw_v3(0, 1, 0);
  return yw_normalize_or(yw_mad(other, -along / length2, axis), yw_v3(0, 1, 0));
}

static void set_pill(yw_shape_pill* pill, yw_vec3 a, yw_vec3 b, float radius) {
  yw_vec3 ab = yw_sub(b, a);
  float inv = 1.0f / yw_length2(ab);
  *pill = (yw_shape_pill){a, ab, isfinite(inv) ? inv : 0.0f, radius, across(ab)};
}

yw_status yw_shape_capsule(const yw_allocator* mem, yw_vec3 a, yw_vec3 b, float radius,
                           yw_shape** out) {
  *out = NULL;
  if (!yw_is_finite3(a) || !yw_is_finite3(b) || !is_length(radius)) return YW_ERR_INVALID;
  if (!isfinite(yw_length2(yw_sub(b, a)))) return YW_ERR_INVALID;
  yw_shape* shape = yw_shape_new(mem, YW_SHAPE_CAPSULE, 0);
  if (shape) set_pill(&shape->as.pill, a, b, radius);
  return finish(shape, out);
}

yw_status yw_shape_cylinder(const yw_allocator* mem, float radius, float half_height,
                            yw_shape** out) {
  *out = NULL;
  if (!is_length(radius) || !is_length(half_height)) return YW_ERR_INVALID;
  yw_shape* shape = yw_shape_new(mem, YW_SHAPE_CYLINDER, 0);
  if (shape) shape->as.can = (yw_shape_can){radius, half_height};
  return finish(shape, out);
}

yw_status yw_shape_cone(const yw_allocator* mem, float bottom_radius, float top_radius,
                        float half_height, yw_shape** out) {
  *out = NULL;
  if (!isfinite(bottom_radius) || !isfinite(top_radius) || !is_length(half_height))
    return YW_ERR_INVALID;
  if (!(bottom_radius >= 0.0f && top_radius >= 0.0f && bottom_radius + top_radius > 0.0f))
    return YW_ERR_INVALID;
  double wider = (double)top_radius - (double)bottom_radius, height = 2.0 * (double)half_height;
  double length = sqrt(wider * wider + height * height);
  yw_shape* shape = yw_shape_new(mem, YW_SHAPE_CONE, 0);
  if (shape)
    shape->as.frustum = (yw_shape_frustum){
        bottom_radius, top_radius, half_height, (float)(height / length), (float)(-wider / length),
        (float)length};
  return finish(shape, out);
}

yw_status yw_shape_torus(const yw_allocator* mem, float ring_radius, float tube_radius,
                         yw_shape** out) {
  *out = NULL;
  if (!is_length(ring_radius) || !is_length(tube_radius)) return YW_ERR_INVALID;
  double ring = (double)ring_radius, tube = (double)tube_radius;
  yw_shape* shape = yw_shape_new(mem, YW_SHAPE_TORUS, 0);
  if (shape) {
    float spike = tube > ring ? (float)sqrt(tube * tube - ring * ring) : 0.0f;
    shape->as.ring = (yw_shape_ring){ring_radius, tube_radius, spike};
  }
  return finish(shape, out);
}

yw_status yw_shape_plane(const yw_allocator* mem, yw_vec3 normal, float offset, yw_shape** out) {
  *out = NULL;
  double x = (double)normal.x, y = (double)normal.y, z = (double)normal.z;
  double length = sqrt(x * x + y * y + z * z), distance = (double)offset / length;
  if (!yw_is_finite3(normal) || !(length > 0.0) || !isfinite((float)distance))
    return YW_ERR_INVALID;
  yw_shape* shape = yw_shape_new(mem, YW_SHAPE_PLANE, 0);
  if (shape) {
    shape->as.half_space.normal =
        yw_v3((float)(x / length), (float)(y / length), (float)(z / length));
    shape->as.half_space.offset = (float)distance;
  }
  return finish(shape, out);
}

// Combinations

static yw_status make_group(const yw_allocator* mem, yw_shape_kind kind, int32_t count,
                            yw_shape* const* shapes, float smooth, yw_shape** out) {
  *out = NULL;
  if (count < 1 || !shapes || !(isfinite(smooth) && smooth >= 0.0f)) return YW_ERR_INVALID;
  int32_t depth = 0;
  int64_t visits = 1;
  for (int32_t i = 0; i < count; ++i) {
    if (!shapes[i]) return YW_ERR_INVALID;
    depth = shapes[i]->depth > depth ? shapes[i]->depth : depth;
    visits += shapes[i]->visits;
  }
  if (depth >= YW_SHAPE_MAX_DEPTH || visits > YW_SHAPE_MAX_VISITS) return YW_ERR_LIMIT;

  yw_shape* shape = yw_shape_new(mem, kind, (size_t)count * sizeof(yw_shape*));
  if (!shape) return YW_ERR_MEMORY;
  shape->depth = depth + 1;
  shape->visits = (int32_t)visits;
  shape->as.group = (yw_shape_group){smooth, count, (yw_shape**)(shape + 1)};
  for (int32_t i = 0; i < count; ++i) shape->as.group.children[i] = yw_shape_retain(shapes[i]);
  return finish(shape, out);
}

yw_status yw_shape_union(const yw_allocator* mem, int32_t count, yw_shape* const* shapes,
                         float smooth, yw_shape** out) {
  return make_group(mem, YW_SHAPE_UNION, count, shapes, smooth, out);
}

yw_status yw_shape_intersection(const yw_allocator* mem, int32_t count, yw_shape* const* shapes,
                                float smooth, yw_shape** out) {
  return make_group(mem, YW_SHAPE_INTERSECTION, count, shapes, smooth, out);
}

yw_status yw_shape_difference(const yw_allocator* mem, int32_t count, yw_shape* const* shapes,
                              float smooth, yw_shape** out) {
  return make_group(mem, YW_SHAPE_DIFFERENCE, count, shapes, smooth, out);
}

static yw_status wrap(const yw_allocator* mem, yw_shape_kind kind, const yw_shape* child,
                      yw_shape** out) {
  if (child->depth >= YW_SHAPE_MAX_DEPTH || child->visits >= YW_SHAPE_MAX_VISITS)
    return YW_ERR_LIMIT;
  *out = yw_shape_new(mem, kind, 0);
  if (!*out) return YW_ERR_MEMORY;
  (*out)->depth = child->depth + 1;
  (*out)->visits = child->visits + 1;
  return YW_OK;
}

yw_status yw_shape_offset(const yw_allocator* mem, yw_shape* shape, float distance,
                          yw_shape** out) {
  *out = NULL;
  if (!shape || !isfinite(distance)) return YW_ERR_INVALID;
  yw_shape* grown = NULL;
  yw_status status = wrap(mem, YW_SHAPE_OFFSET, shape, &grown);
  if (status < 0) return status;
  grown->as.grown = (yw_shape_grown){yw_shape_retain(shape), distance};
  return finish(grown, out);
}

// A rotation matrix from a quaternion of any length, in double to keep distances accurate.
static bool rotation_of(yw_quat q, yw_mat3* out) {
  double x = (double)q.x, y = (double)q.y, z = (double)q.z, w = (double)q.w;
  double s = x * x + y * y + z * z + w * w;
  if (!(s > 0.0) || !isfinite(s)) return false;
  s = 2.0 / s;
  *out = (yw_mat3){{(float)(1.0 - s * (y * y + z * z)), (float)(s * (x * y + z * w)),
                    (float)(s * (x * z - y * w))},
                   {(float)(s * (x * y - z * w)), (float)(1.0 - s * (x * x + z * z)),
                    (float)(s * (y * z + x * w))},
                   {(float)(s * (x * z + y * w)), (float)(s * (y * z - x * w)),
                    (float)(1.0 - s * (x * x + y * y))}};
  return true;
}

static yw_vec3 place(const yw_shape_placed* t, yw_vec3 p) {
  return yw_add(yw_mul(t->rotation, yw_scale(p, t->scale)), t->position);
}

// Applies the transform of spheres, capsules and planes once, here, instead of in every query.
// False if the values do not allow it.
static bool bake(const yw_shape_placed* t, const yw_shape* child, yw_shape* out) {
  switch (child->kind) {
    case YW_SHAPE_SPHERE: {
      const yw_shape_ball* ball = &child->as.ball;
      out->as.ball = (yw_shape_ball){place(t, ball->center), ball->radius * t->scale};
      return yw_is_finite3(out->as.ball.center) && is_length(out->as.ball.radius);
    }
    case YW_SHAPE_CAPSULE: {
      const yw_shape_pill* pill = &child->as.pill;
      yw_vec3 a = place(t, pill->a), b = place(t, yw_add(pill->a, pill->ab));
      set_pill(&out->as.pill, a, b, pill->radius * t->scale);
      return yw_is_finite3(a) && isfinite(yw_length2(out->as.pill.ab)) &&
             is_length(out->as.pill.radius);
    }
    case YW_SHAPE_PLANE: {
      const yw_shape_half_space* plane = &child->as.half_space;
      yw_vec3 normal = yw_normalize_or(yw_mul(t->rotation, plane->normal), plane->normal);
      float offset = plane->offset * t->scale + yw_dot(normal, t->position);
      out->as.half_space = (yw_shape_half_space){normal, offset};
      return isfinite(offset);
    }
    default:
      return false;
  }
}

yw_status yw_shape_transform(const yw_allocator* mem, yw_shape* shape, yw_transform transform,
                             yw_shape** out) {
  *out = NULL;
  yw_shape_placed placed = {.child = shape, .position = transform.position};
  placed.scale = transform.scale;
  float inv_scale = 1.0f / transform.scale;
  if (!shape || !yw_is_finite3(transform.position) || !is_length(transform.scale) ||
      !is_length(inv_scale) || !rotation_of(transform.rotation, &placed.rotation))
    return YW_ERR_INVALID;

  bool can_bake = shape->kind == YW_SHAPE_SPHERE || shape->kind == YW_SHAPE_CAPSULE ||
                  shape->kind == YW_SHAPE_PLANE;
  if (can_bake) {
    yw_shape* baked = yw_shape_new(mem, shape->kind, 0);
    if (!baked) return YW_ERR_MEMORY;
    if (bake(&placed, shape, baked)) return finish(baked, out);
    yw_shape_release(baked);
    return YW_ERR_INVALID;
  }

  yw_shape* moved = NULL;
  yw_status status = wrap(mem, YW_SHAPE_TRANSFORM, shape, &moved);
  if (status < 0) return status;
  placed.to_local = yw_mat3_scale(yw_mat3_transpose(placed.rotation), inv_scale);
  yw_shape_retain(shape);
  moved->as.placed = placed;
  return finish(moved, out);
}

// References

yw_shape* yw_shape_retain(yw_shape* shape) {
  if (shape) atomic_fetch_add_explicit(&shape->references, 1, memory_order_relaxed);
  return shape;
}

void yw_shape_release(yw_shape* shape) {
  if (!shape) return;
  if (atomic_fetch_sub_explicit(&shape->references, 1, memory_order_acq_rel) != 1) return;
  switch (shape->kind) {
    case YW_SHAPE_UNION:
    case YW_SHAPE_INTERSECTION:
    case YW_SHAPE_DIFFERENCE:
      for (int32_t i = 0; i < shape->as.group.count; ++i)
        yw_shape_release(shape->as.group.children[i]);
      break;
    case YW_SHAPE_TRANSFORM:
      yw_shape_release(shape->as.placed.child);
      break;
    case YW_SHAPE_OFFSET:
      yw_shape_release(shape->as.grown.child);
      break;
    case YW_SHAPE_MESH:
      yw_mesh_solid_free(&shape->mem, shape->as.mesh);
      break;
    case YW_SHAPE_SAMPLED:
      yw_distance_grid_free(&shape->mem, shape->as.grid);
      break;
    default:
      break;
  }
  yw_allocator mem = shape->mem;
  yw_mem_free(&mem, shape);
}
