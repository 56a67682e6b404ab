// SPDX-License-Identifier: MIT
#include "world/obstacle_query.h"

#include "yawara/extend/vec.h"

// Steps along a ray that the distance proves free. A ray that grazes a surface closely uses them up
// and counts as a miss.
#define MAX_ADVANCES 512
// Rounding of a distance, relative to the size of the coordinates.
#define ROUNDING 1e-6f
// Steps from a place in a box towards the surface, each longer than the way by REACH: plain ones
// end at the border of what box and obstacle share, and come ever closer without reaching it.
#define MAX_PROJECTIONS 64
#define REACH 1.5f

static const yw_obstacle_find nothing = {.distance = INFINITY};

yw_obstacle_find yw_obstacle_nearest(const yw_obstacle_view* o, yw_vec3 p) {
  yw_vec3 local = yw_transform_point_inv(o->pose, p), normal;
  yw_obstacle_find found = {0};
  if (o->mesh) {
    yw_mesh_place place;
    yw_moving_mesh_nearest(o->mesh, 1.0f, local, INFINITY, &place);
    found.distance = place.distance - o->mesh->radius;
    normal = place.normal;
  } else {
    found.distance = yw_shape_distance_normal(o->shape, local, &normal);
  }
  found.distance *= o->pose.scale;
  found.normal = yw_rotate(o->pose.rotation, normal);
  found.point = yw_mad(p, -found.distance, found.normal);
  found.inside = found.distance < 0.0f;
  return found;
}

// The same without a normal, which takes longer for shapes.
static float distance_to(const yw_obstacle_view* o, yw_vec3 p) {
  if (o->mesh) return yw_obstacle_nearest(o, p).distance;
  return yw_shape_distance(o->shape, yw_transform_point_inv(o->pose, p)) * o->pose.scale;
}

yw_obstacle_find yw_obstacle_cast(const yw_obstacle_view* o, yw_vec3 from, yw_vec3 way,
                                  float radius) {
  float length = yw_length(way), done = 0.0f;
  float size = fabsf(from.x) + fabsf(from.y) + fabsf(from.z) + length + radius;
  yw_obstacle_find at = yw_obstacle_nearest(o, from);
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
    at.distance = distance_to(o, yw_mad(from, done / length, way));
    if (at.distance - radius <= ROUNDING * size) {
      at = yw_obstacle_nearest(o, yw_mad(from, done / length, way));
    }
  }
  return nothing;
}

// Walks from a place in the box towards the obstacle. True when it gets there without leaving.
static bool reaches(const yw_obstacle_view* o, yw_vec3 center, yw_vec3 half, yw_quat rotation,
                    yw_vec3 seen) {
  for (int i = 0; i < MAX_PROJECTIONS; ++i) {
    yw_vec3 p = yw_add(center, yw_rotate(rotation, seen));
    yw_obstacle_find at = yw_obstacle_nearest(o, p);
    if (at.distance <= 0.0f) return true;
    yw_vec3 step =
        yw_rotate(yw_quat_conjugate(rotation), yw_scale(at.normal, -REACH * at.distance));
    yw_vec3 next = yw_max3(yw_neg(half), yw_min3(half, yw_add(seen, step)));
    if (yw_distance(next, seen) <= ROUNDING * yw_length(half)) return false;
    seen = next;
  }
  return false;
}

yw_obstacle_find yw_obstacle_box(const yw_obstacle_view* o, yw_vec3 center, yw_vec3 half,
                                 yw_quat rotation) {
  yw_obstacle_find near = yw_obstacle_nearest(o, center);
  if (near.distance > yw_length(half)) return nothing;
  bool meets = reaches(o, center, half, rotation, yw_v3(0, 0, 0));
  for (int corner = 0; corner < 8 && !meets; ++corner) {
    yw_vec3 seen = yw_v3(corner & 1 ? half.x : -half.x, corner & 2 ? half.y : -half.y,
                         corner & 4 ? half.z : -half.z);
    meets = reaches(o, center, half, rotation, seen);
  }
  return meets ? near : nothing;
}
