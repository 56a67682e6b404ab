// SPDX-License-Identifier: MIT
// Obstacles for pictures: planes, or triangles around a shape.
#include <math.h>
#include <string.h>

#include "playback/shown.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// The longest side of a shape is divided into this many cells, or more if the shape is thin.
#define CELLS 128.0f
#define MAX_CELLS 256.0f
// Infinite shapes other than planes are shown up to this distance from the origin, m.
#define FAR_AWAY 20.0f
// If distances deviate from those of a plane by more than this, it is another shape, m.
#define PLANE_TOLERANCE 1e-3f

// A half space has the same gradient everywhere and a distance that is linear.
static bool is_plane(const yw_shape* shape, yw_vec3* normal, float* offset) {
  yw_aabb box;
  if (yw_shape_bounds(shape, &box)) return false;
  float at_origin = yw_shape_distance_normal(shape, yw_v3(0, 0, 0), normal);
  *offset = -at_origin;
  for (int corner = 0; corner < 8; ++corner) {
    yw_vec3 p =
        yw_v3(corner & 1 ? 7.0f : -5.0f, corner & 2 ? 6.0f : -8.0f, corner & 4 ? 9.0f : -4.0f);
    float expected = yw_dot(*normal, p) - *offset;
    if (fabsf(yw_shape_distance(shape, p) - expected) > PLANE_TOLERANCE) return false;
  }
  return true;
}

// The part of an unbounded shape near the origin.
static yw_status surface_of_unbounded(const yw_shape* shape, yw_tri_mesh* out, yw_error* error) {
  yw_shape* parts[2] = {yw_shape_retain((yw_shape*)shape), NULL};
  yw_shape* cut = NULL;
  yw_status status = yw_shape_box(NULL, yw_v3(FAR_AWAY, FAR_AWAY, FAR_AWAY), &parts[1]);
  if (status >= 0) status = yw_shape_intersection(NULL, 2, parts, 0.0f, &cut);
  if (status >= 0) status = yw_shape_surface(cut, NULL, 2.0f * FAR_AWAY / CELLS, out, error);
  yw_shape_release(cut);
  yw_shape_release(parts[0]);
  yw_shape_release(parts[1]);
  return status;
}

yw_status shown_obstacle_shape(const yw_shape* shape, shown_obstacle* out, yw_error* error) {
  yw_aabb box;
  out->plane = is_plane(shape, &out->normal, &out->offset);
  if (out->plane) return YW_OK;
  out->unbounded = !yw_shape_bounds(shape, &box);
  if (out->unbounded) return surface_of_unbounded(shape, &out->surface, error);
  yw_vec3 side = yw_sub(box.upper, box.lower);
  float longest = fmaxf(side.x, fmaxf(side.y, side.z));
  float shortest = fminf(side.x, fminf(side.y, side.z));
  // Thin plates need cells small enough not to miss them.
  float size = fmaxf(fminf(longest / CELLS, shortest / 2.0f), longest / MAX_CELLS);
  return yw_shape_tessellate(shape, NULL, size, &out->surface, error);
}

yw_status shown_obstacle_mesh(const yw_mesh_animation* animation, int32_t num_triangles,
                              const int32_t* triangles, shown_obstacle* out, yw_error* error) {
  size_t row = (size_t)animation->num_points, all = row * (size_t)animation->num_frames;
  yw_vec3* points = YW_NEW_ARRAY(NULL, yw_vec3, all);
  if (!points ||
      yw_tri_mesh_create(NULL, animation->num_points, num_triangles, &out->surface) < 0) {
    yw_mem_free(NULL, points);
    return yw_fail_memory(error, "an animated mesh");
  }
  memcpy(points, animation->points, all * sizeof *points);
  memcpy(out->surface.positions, animation->points, row * sizeof *points);
  memcpy(out->surface.triangles, triangles, 3 * (size_t)num_triangles * sizeof *triangles);
  out->animation = *animation;
  out->animation.points = points;
  return YW_OK;
}
