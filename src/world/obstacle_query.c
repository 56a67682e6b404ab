// SPDX-License-Identifier: MIT
#include "world/obstacle_query.h"

#include "yawara/extend/vec.h"

// Steps along a ray that the distance proves free. A ray that grazes a surface closely uses them up
// and counts as a miss.
#define MAX_ADVANCES 512
// Rounding of a distance, relative to the size of the coordinates.
#define ROUNDING 1e-6f
// Steps from a place in a box towards the surface.
#define MAX_PROJECTIONS 32

static const yw_obstacle_find nothing = {.distance = INFINITY};

yw_obstacle_find yw_obstacle_nearest(const yw_shape* shape, yw_transform pose, yw_vec3 p) {
  yw_vec3 local = yw_transform_point_inv(pose, p), normal;
  yw_obstacle_find found = {0};
  found.distance = yw_shape_distance_normal(shape, local, &normal) * pose.scale;
  found.normal = yw_rotate(pose.rotation, normal);
  found.point = yw_mad(p, -found.distance, found.normal);
  found.inside = found.distance < 0.0f;
  return found;
}

yw_obstacle_find yw_obstacle_cast(const yw_shape* shape, yw_transform pose, yw_vec3 from,
                                  yw_vec3 way, float radius) {
  float length = yw_length(way), done = 0.0f;
  float size = fabsf(from.x) + fabsf(from.y) + fabsf(from.z) + length + radius;
  yw_obstacle_find at = yw_obstacle_nearest(shape, pose, from);
  if (at.distance <= radius) {
    at.inside = true;
    at.point = radius > 0.0f ? at.point : from;
    at.distance = 0.0f;
    return at;
  }
  for (int i = 0; i < MAX_ADVANCES; ++i) {
    float gap = at.distance - radius;
    if (gap <= ROUNDING * size) {
      at.distance = done;
      at.inside = false;
      return at;
    }
    done += gap;
    if (!(done <= length)) return nothing;
    yw_vec3 local = yw_transform_point_inv(pose, yw_mad(from, done / length, way));
    at.distance = yw_shape_distance(shape, local) * pose.scale;
    if (at.distance - radius <= ROUNDING * size) {
      at = yw_obstacle_nearest(shape, pose, yw_mad(from, done / length, way));
    }
  }
  return nothing;
}

// Walks from a place in the box towards the obstacle. True when it gets there without leaving.
static bool reaches(const yw_shape* shape, yw_transform pose, yw_vec3 center, yw_vec3 half,
                    yw_quat rotation, yw_vec3 seen) {
  for (int i = 0; i < MAX_PROJECTIONS; ++i) {
    yw_vec3 p = yw_add(center, yw_rotate(rotation, seen));
    yw_obstacle_find at = yw_obstacle_nearest(shape, pose, p);
    if (at.distance <= 0.0f) return true;
    yw_vec3 step = yw_rotate(yw_quat_conjugate(rotation), yw_scale(at.normal, -at.distance));
    yw_vec3 next = yw_max3(yw_neg(half), yw_min3(half, yw_add(seen, step)));
    if (yw_distance(next, seen) <= ROUNDING * yw_length(half)) return false;
    seen = next;
  }
  return false;
}

yw_obstacle_find yw_obstacle_box(const yw_shape* shape, yw_transform pose, yw_vec3 center,
                                 yw_vec3 half, yw_quat rotation) {
  yw_obstacle_find near = yw_obstacle_nearest(shape, pose, center);
  if (near.distance > yw_length(half)) return nothing;
  bool meets = reaches(shape, pose, center, half, rotation, yw_v3(0, 0, 0));
  for (int corner = 0; corner < 8 && !meets; ++corner) {
    yw_vec3 seen = yw_v3(corner & 1 ? half.x : -half.x, corner & 2 ? half.y : -half.y,
                         corner & 4 ? half.z : -half.z);
    meets = reaches(shape, pose, center, half, rotation, seen);
  }
  return meets ? near : nothing;
}
