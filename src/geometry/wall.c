// SPDX-License-Identifier: MIT
// Inside and outside follow from angle-weighted pseudo-normals (Baerentzen and Aanaes 2005), which
// are computed where they are asked for: few of a surface's corners and edges are ever nearest.
#include "geometry/wall.h"

#include "geometry/shape_mesh_normals.h"
#include "math/small/trig.h"
#include "yawara/extend/memory.h"

// Points nearer than this fraction of their coordinates are on the surface: the direction to their
// nearest point is rounding.
#define ON_SURFACE 1e-6f

// Triangles around every vertex, ascending.
static void fill_rings(int32_t num_triangles, yw_wall* out) {
  size_t corners = 3 * (size_t)num_triangles;
  for (size_t n = 0; n < corners; ++n) ++out->ring_start[out->corners[n] + 1];
  for (int32_t v = 0; v < out->num_vertices; ++v) out->ring_start[v + 1] += out->ring_start[v];
  for (size_t n = corners; n-- > 0;) {
    // From the end of each ring backwards; the starts are right again afterwards.
    out->ring[--out->ring_start[out->corners[n] + 1]] = (int32_t)(n / 3);
  }
  for (int32_t v = 0; v < out->num_vertices; ++v) out->ring_start[v] = out->ring_start[v + 1];
  out->ring_start[out->num_vertices] = (int32_t)corners;
}

yw_status yw_wall_create(const yw_allocator* mem, int32_t num_vertices, const yw_vec3* rest,
                         int32_t num_triangles, const int32_t* triangles, yw_wall* out) {
  *out = (yw_wall){.triangles = triangles, .positions = rest, .num_vertices = num_vertices};
  yw_status status = yw_triangle_tree_create(mem, num_triangles, triangles, rest, NULL, &out->tree);
  if (status < 0) return status;
  size_t corners = 3 * (size_t)num_triangles;
  int32_t* first_at = YW_NEW_ARRAY(mem, int32_t, num_vertices);
  out->corners = YW_NEW_ARRAY(mem, int32_t, corners);
  out->ring_start = YW_NEW_ARRAY(mem, int32_t, (size_t)num_vertices + 1);
  out->ring = YW_NEW_ARRAY(mem, int32_t, corners);
  bool ok = first_at && out->corners && out->ring_start && out->ring &&
            yw_first_at_positions(mem, num_vertices, rest, first_at);
  for (size_t n = 0; ok && n < corners; ++n) out->corners[n] = first_at[triangles[n]];
  if (ok) fill_rings(num_triangles, out);
  yw_mem_free(mem, first_at);
  if (!ok) yw_wall_free(out);
  return ok ? YW_OK : YW_ERR_MEMORY;
}

void yw_wall_free(yw_wall* wall) {
  const yw_allocator mem = wall->tree.mem;
  yw_mem_free(&mem, wall->corners);
  yw_mem_free(&mem, wall->ring_start);
  yw_mem_free(&mem, wall->ring);
  yw_triangle_tree_free(&wall->tree);
  *wall = (yw_wall){0};
}

void yw_wall_fit(yw_wall* wall, const yw_vec3* positions) {
  wall->positions = positions;
  yw_triangle_tree_refit(&wall->tree, wall->triangles, positions);
}

// Pseudo-normals ----------------------------------------------------------------------------------

static yw_vec3 face_normal(const yw_wall* wall, int32_t triangle) {
  const int32_t* v = wall->triangles + 3 * (size_t)triangle;
  yw_vec3 a = wall->positions[v[0]], b = wall->positions[v[1]], c = wall->positions[v[2]];
  return yw_normalize_or(yw_cross(yw_sub(b, a), yw_sub(c, a)), yw_v3(0, 0, 0));
}

// The triangle's corner at a welded vertex; -1: none.
static int corner_at(const yw_wall* wall, int32_t triangle, int32_t vertex) {
  const int32_t* v = wall->corners + 3 * (size_t)triangle;
  return v[0] == vertex ? 0 : v[1] == vertex ? 1 : v[2] == vertex ? 2 : -1;
}

static float angle_at(const yw_wall* wall, int32_t triangle, int corner) {
  const int32_t* v = wall->triangles + 3 * (size_t)triangle;
  yw_vec3 here = wall->positions[v[corner]];
  yw_vec3 next = yw_sub(wall->positions[v[(corner + 1) % 3]], here);
  yw_vec3 last = yw_sub(wall->positions[v[(corner + 2) % 3]], here);
  float size = sqrtf(yw_length2(next)) * sqrtf(yw_length2(last));
  return size > 0.0f ? yw_acosf(yw_dot(next, last) / size) : 0.0f;
}

static yw_vec3 vertex_normal(const yw_wall* wall, int32_t vertex) {
  yw_vec3 sum = {0, 0, 0};
  for (int32_t k = wall->ring_start[vertex]; k < wall->ring_start[vertex + 1]; ++k) {
    int32_t t = wall->ring[k];
    sum = yw_mad(sum, angle_at(wall, t, corner_at(wall, t, vertex)), face_normal(wall, t));
  }
  return sum;
}

static yw_vec3 edge_normal(const yw_wall* wall, int32_t from, int32_t to) {
  yw_vec3 sum = {0, 0, 0};
  for (int32_t k = wall->ring_start[from]; k < wall->ring_start[from + 1]; ++k) {
    int32_t t = wall->ring[k];
    if (corner_at(wall, t, to) >= 0) sum = yw_add(sum, face_normal(wall, t));
  }
  return sum;
}

// Of the face, edge or corner that is nearest.
static yw_vec3 normal_at(const yw_wall* wall, const yw_nearest* nearest) {
  int32_t index = wall->tree.triangles[nearest->triangle].index;
  const int32_t* v = wall->corners + 3 * (size_t)index;
  switch (nearest->corners) {
    case 1:
      return vertex_normal(wall, v[0]);
    case 2:
      return vertex_normal(wall, v[1]);
    case 4:
      return vertex_normal(wall, v[2]);
    case 3:
      return edge_normal(wall, v[0], v[1]);
    case 6:
      return edge_normal(wall, v[1], v[2]);
    case 5:
      return edge_normal(wall, v[2], v[0]);
    default:
      return face_normal(wall, index);
  }
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
