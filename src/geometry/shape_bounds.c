// SPDX-License-Identifier: MIT
// Bounding boxes from support functions: how far a solid reaches in a direction. Directions
// transform exactly under rotations, so a rotated cylinder gets its own tight box, not the box of a
// rotated box.
//
// Every function takes a level and bounds the set {distance <= level}, because an offset changes
// the level: far from the sharp edge of an intersection that set is larger than the solid plus a
// margin.
#include "geometry/shape_blend.h"
#include "geometry/shape_node.h"

static double dot(const double a[3], yw_vec3 b) {
  return a[0] * (double)b.x + a[1] * (double)b.y + a[2] * (double)b.z;
}

static double support_plane(const yw_shape_half_space* plane, const double d[3]) {
  const double n[3] = {(double)plane->normal.x, (double)plane->normal.y, (double)plane->normal.z};
  double along = d[0] * n[0] + d[1] * n[1] + d[2] * n[2], sideways = 0.0;
  for (int i = 0; i < 3; ++i) sideways += (d[i] - along * n[i]) * (d[i] - along * n[i]);
  bool is_normal = along > 0.0 && sideways < 1e-14;
  return is_normal ? (double)plane->offset : (double)INFINITY;
}

/// Planes of an intersection that are combined, three at a time.
#define MAX_PLANES 32

static double determinant(const double a[3], const double b[3], const double c[3]) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
         a[2] * (b[0] * c[1] - b[1] * c[0]);
}

// Support of three half-spaces: if d = x a + y b + z c with x, y, z >= 0 in terms of their normals,
// then d . p <= x offset_a + y offset_b + z offset_c for every p in all of them.
static double support_corner(const yw_shape_half_space* planes[3], const double d[3],
                             double level) {
  double n[3][3], reach = 0.0;
  for (int i = 0; i < 3; ++i) {
    n[i][0] = (double)planes[i]->normal.x;
    n[i][1] = (double)planes[i]->normal.y;
    n[i][2] = (double)planes[i]->normal.z;
  }
  double whole = determinant(n[0], n[1], n[2]);
  if (fabs(whole) < 1e-6) return (double)INFINITY;
  double weights[3] = {determinant(d, n[1], n[2]) / whole, determinant(n[0], d, n[2]) / whole,
                       determinant(n[0], n[1], d) / whole};
  for (int i = 0; i < 3; ++i) {
    if (weights[i] < -1e-7) return (double)INFINITY;
    reach += weights[i] * ((double)planes[i]->offset + level);
  }
  return reach;
}

// Slanted planes may bound a direction together that none of them bounds alone. By linear
// programming duality the best three planes give the exact answer; any three give an upper bound.
static double support_planes(const yw_shape_group* group, const double d[3], double level) {
  const yw_shape_half_space* planes[MAX_PLANES];
  int count = 0;
  for (int32_t i = 0; i < group->count && count < MAX_PLANES; ++i)
    if (group->children[i]->kind == YW_SHAPE_PLANE)
      planes[count++] = &group->children[i]->as.half_space;
  double best = (double)INFINITY;
  for (int i = 0; i < count; ++i)
    for (int j = i + 1; j < count; ++j)
      for (int k = j + 1; k < count; ++k) {
        const yw_shape_half_space* three[3] = {planes[i], planes[j], planes[k]};
        double reach = support_corner(three, d, level);
        best = reach < best ? reach : best;
      }
  return best;
}

static double support_group(const yw_shape* shape, const double d[3], double level) {
  const yw_shape_group* group = &shape->as.group;
  if (shape->kind == YW_SHAPE_DIFFERENCE) return yw_shape_support(group->children[0], d, level);
  bool join = shape->kind == YW_SHAPE_UNION;
  if (join && group->smooth > 0.0f) level += yw_blend_depth(group->count, (double)group->smooth);
  double best = join ? -(double)INFINITY : support_planes(group, d, level);
  for (int32_t i = 0; i < group->count; ++i) {
    double reach = yw_shape_support(group->children[i], d, level);
    best = (join ? reach > best : reach < best) ? reach : best;
  }
  return best;
}

static double support_placed(const yw_shape_placed* placed, const double d[3], double level) {
  double local[3] = {dot(d, placed->rotation.cx), dot(d, placed->rotation.cy),
                     dot(d, placed->rotation.cz)};
  double scale = (double)placed->scale;
  return yw_shape_support(placed->child, local, level / scale) * scale + dot(d, placed->position);
}

static double support_box(yw_aabb box, const double d[3]) {
  if (box.lower.x > box.upper.x) return -(double)INFINITY;
  return d[0] * (double)(d[0] < 0.0 ? box.lower.x : box.upper.x) +
         d[1] * (double)(d[1] < 0.0 ? box.lower.y : box.upper.y) +
         d[2] * (double)(d[2] < 0.0 ? box.lower.z : box.upper.z);
}

// Support of the solid itself; the caller adds the level.
static double support_leaf(const yw_shape* shape, const double d[3]) {
  double around = sqrt(d[0] * d[0] + d[2] * d[2]);
  switch (shape->kind) {
    case YW_SHAPE_SPHERE:
      return dot(d, shape->as.ball.center) + (double)shape->as.ball.radius;
    case YW_SHAPE_BOX: {
      yw_vec3 h = shape->as.brick.inner;
      const double size[3] = {fabs(d[0]), fabs(d[1]), fabs(d[2])};
      return dot(size, h) + (double)shape->as.brick.radius;
    }
    case YW_SHAPE_CAPSULE: {
      double a = dot(d, shape->as.pill.a), ab = dot(d, shape->as.pill.ab);
      return a + (ab > 0.0 ? ab : 0.0) + (double)shape->as.pill.radius;
    }
    case YW_SHAPE_CYLINDER:
      return around * (double)shape->as.can.radius + fabs(d[1]) * (double)shape->as.can.half_height;
    case YW_SHAPE_CONE: {
      const yw_shape_frustum* cone = &shape->as.frustum;
      double up = d[1] * (double)cone->half_height;
      double bottom = around * (double)cone->bottom - up, top = around * (double)cone->top + up;
      return bottom > top ? bottom : top;
    }
    case YW_SHAPE_TORUS:
      return around * (double)shape->as.ring.ring + (double)shape->as.ring.tube;
    case YW_SHAPE_PLANE:
      return support_plane(&shape->as.half_space, d);
    case YW_SHAPE_MESH:
      return yw_mesh_solid_support(shape->as.mesh, d);
    case YW_SHAPE_SAMPLED:
      return support_box(yw_distance_grid_solid_box(shape->as.grid), d);
    default:
      return (double)INFINITY;
  }
}

double yw_shape_support(const yw_shape* shape, const double direction[3], double level) {
  switch (shape->kind) {
    case YW_SHAPE_UNION:
    case YW_SHAPE_INTERSECTION:
    case YW_SHAPE_DIFFERENCE:
      return support_group(shape, direction, level);
    case YW_SHAPE_TRANSFORM:
      return support_placed(&shape->as.placed, direction, level);
    case YW_SHAPE_OFFSET:
      return yw_shape_support(shape->as.grown.child, direction,
                              level + (double)shape->as.grown.distance);
    default:
      return support_leaf(shape, direction) + level;
  }
}

// The next float outwards if rounding went inwards.
static float round_up(double x) {
  float f = (float)x;
  return (double)f < x ? nextafterf(f, INFINITY) : f;
}

void yw_shape_set_bounds(yw_shape* shape) {
  float upper[3], lower[3];
  bool is_empty = false;
  for (int axis = 0; axis < 3; ++axis) {
    double direction[3] = {0.0, 0.0, 0.0};
    direction[axis] = 1.0;
    upper[axis] = round_up(yw_shape_support(shape, direction, 0.0));
    direction[axis] = -1.0;
    lower[axis] = -round_up(yw_shape_support(shape, direction, 0.0));
    is_empty = is_empty || lower[axis] > upper[axis];
  }
  shape->bounds = (yw_aabb){{lower[0], lower[1], lower[2]}, {upper[0], upper[1], upper[2]}};
  if (is_empty) shape->bounds = yw_aabb_empty();
}

bool yw_shape_bounds(const yw_shape* shape, yw_aabb* out) {
  *out = shape->bounds;
  bool is_empty = out->lower.x > out->upper.x;
  return is_empty || (yw_is_finite3(out->lower) && yw_is_finite3(out->upper));
}
