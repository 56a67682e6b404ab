// SPDX-License-Identifier: MIT
#include "playback/surface_turn.h"

#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

/// Axes at a vertex: the normal, and a tangent along one edge.
typedef struct axes {
  yw_vec3 normal, along, across;
} axes;

static axes axes_of(const yw_vec3* x, yw_vec3 normal, int32_t vertex, int32_t neighbour) {
  axes a = {.normal = yw_normalize_or(normal, yw_v3(0, 1, 0))};
  yw_vec3 edge = yw_sub(x[neighbour], x[vertex]);
  edge = yw_mad(edge, -yw_dot(edge, a.normal), a.normal);
  a.along =
      yw_normalize_or(edge, yw_normalize_or(yw_cross(a.normal, yw_v3(1, 0, 0)), yw_v3(0, 0, 1)));
  a.across = yw_cross(a.normal, a.along);
  return a;
}

static void sum_normals(const yw_tri_mesh* mesh, const int32_t* triangles, int32_t count,
                        yw_vec3* out) {
  for (int32_t t = 0; t < count; ++t) {
    const int32_t* v = triangles + 3 * (size_t)t;
    yw_vec3 a = mesh->positions[v[0]];
    yw_vec3 normal = yw_cross(yw_sub(mesh->positions[v[1]], a), yw_sub(mesh->positions[v[2]], a));
    for (int k = 0; k < 3; ++k) out[v[k]] = yw_add(out[v[k]], normal);
  }
}

void surface_turn_close(surface_turn* t) {
  yw_mem_free(NULL, t->rest_normals);
  yw_mem_free(NULL, t->normals);
  yw_mem_free(NULL, t->neighbours);
}

bool surface_turn_open(const yw_tri_mesh* rest, const yw_tri_mesh* posed, surface_turn* out) {
  *out = (surface_turn){.rest = rest, .posed = posed};
  out->rest_normals = YW_NEW_ARRAY(NULL, yw_vec3, rest->num_vertices);
  out->normals = YW_NEW_ARRAY(NULL, yw_vec3, rest->num_vertices);
  out->neighbours = YW_NEW_ARRAY(NULL, int32_t, rest->num_vertices);
  if (!out->rest_normals || !out->normals || !out->neighbours) return false;
  sum_normals(rest, rest->triangles, rest->num_triangles, out->rest_normals);
  sum_normals(posed, rest->triangles, rest->num_triangles, out->normals);
  for (int32_t i = 0; i < 3 * rest->num_triangles; ++i) {
    out->neighbours[rest->triangles[i]] = rest->triangles[i % 3 == 2 ? i - 2 : i + 1];
  }
  return true;
}

yw_vec3 surface_turn_normal(const surface_turn* t, int32_t v, yw_vec3 n) {
  axes from = axes_of(t->rest->positions, t->rest_normals[v], v, t->neighbours[v]);
  axes to = axes_of(t->posed->positions, t->normals[v], v, t->neighbours[v]);
  yw_vec3 out = yw_scale(to.normal, yw_dot(n, from.normal));
  out = yw_mad(out, yw_dot(n, from.along), to.along);
  return yw_mad(out, yw_dot(n, from.across), to.across);
}
