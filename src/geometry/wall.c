// SPDX-License-Identifier: MIT
#include "geometry/wall.h"

// Points nearer than this fraction of their coordinates are on the surface: the direction to their
// nearest point is rounding.
#define ON_SURFACE 1e-6f

yw_status yw_wall_create(int32_t num_positions, const yw_vec3* positions, int32_t num_triangles,
                         const int32_t* triangles, yw_wall* out) {
  *out = (yw_wall){0};
  yw_status status =
      yw_triangle_tree_create(NULL, num_triangles, triangles, positions, NULL, &out->tree);
  if (status < 0) return status;
  status = yw_mesh_normals_create(NULL, num_positions, positions, num_triangles, triangles,
                                  &out->normals);
  if (status < 0) yw_triangle_tree_free(&out->tree);
  return status;
}

void yw_wall_free(yw_wall* wall) {
  yw_triangle_tree_free(&wall->tree);
  yw_mesh_normals_free(&wall->normals);
  *wall = (yw_wall){0};
}

// Pseudo-normal of the face, edge or corner that is nearest.
static yw_vec3 normal_at(const yw_wall* wall, const yw_nearest* nearest) {
  const yw_tree_triangle* t = &wall->tree.triangles[nearest->triangle];
  size_t first = 3 * (size_t)t->index;
  int32_t corners = nearest->corners;
  if (corners == 1 || corners == 2 || corners == 4) {
    return wall->normals.vertex_normal[wall->normals.corners[first + (size_t)(corners >> 1)]];
  }
  if (corners == 7) return yw_cross(yw_sub(t->b, t->a), yw_sub(t->c, t->a));
  size_t edge = corners == 3 ? 0 : corners == 6 ? 1 : 2;
  return wall->normals.edge_normal[wall->normals.edges[first + edge]];
}

bool yw_wall_distance(const yw_wall* wall, yw_vec3 p, float limit, float* distance,
                      yw_vec3* normal) {
  yw_nearest nearest = yw_triangle_tree_nearest(&wall->tree, p, limit * limit);
  if (nearest.triangle < 0) return false;
  yw_vec3 outward = normal_at(wall, &nearest), away = yw_sub(p, nearest.point);
  float side = yw_dot(outward, away) < 0.0f ? -1.0f : 1.0f, length = sqrtf(nearest.distance2);
  float scale = fabsf(p.x) + fabsf(p.y) + fabsf(p.z);
  *distance = side * length;
  *normal = length > ON_SURFACE * scale ? yw_scale(away, side / length)
                                        : yw_normalize_or(outward, yw_v3(0, 0, 0));
  return true;
}
