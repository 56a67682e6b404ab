// SPDX-License-Identifier: MIT
#include "geometry/painted.h"

#include <math.h>
#include <string.h>

#include "yawara/extend/memory.h"

yw_status yw_painted_create(const yw_allocator* mem, const yw_tri_mesh* mesh, const float* values,
                            yw_painted* out) {
  *out = (yw_painted){.mem = yw_mem_or_default(mem)};
  if (mesh->num_triangles < 1) return YW_ERR_GEOMETRY;
  size_t corners = 3 * (size_t)mesh->num_triangles;
  out->triangles = YW_NEW_ARRAY(mem, int32_t, corners);
  out->values = YW_NEW_ARRAY(mem, float, mesh->num_vertices);
  yw_status status = YW_ERR_MEMORY;
  if (out->triangles && out->values) {
    memcpy(out->triangles, mesh->triangles, corners * sizeof *out->triangles);
    memcpy(out->values, values, (size_t)mesh->num_vertices * sizeof *values);
    status = yw_triangle_tree_create(mem, mesh->num_triangles, mesh->triangles, mesh->positions,
                                     NULL, &out->tree);
  }
  if (status < 0) yw_painted_free(out);
  return status;
}

void yw_painted_free(yw_painted* painted) {
  yw_triangle_tree_free(&painted->tree);
  yw_mem_free(&painted->mem, painted->triangles);
  yw_mem_free(&painted->mem, painted->values);
  *painted = (yw_painted){0};
}

// Barycentric weights of a point of the triangle; flat triangles use their nearest corner.
static void shares_of(const yw_tree_triangle* t, yw_vec3 p, float out[3]) {
  yw_vec3 u = yw_sub(t->b, t->a), v = yw_sub(t->c, t->a), w = yw_sub(p, t->a);
  float uu = yw_dot(u, u), uv = yw_dot(u, v), vv = yw_dot(v, v);
  float wu = yw_dot(w, u), wv = yw_dot(w, v), det = uu * vv - uv * uv;
  if (t->is_flat || !(det > 0.0f)) {
    const yw_vec3 corners[3] = {t->a, t->b, t->c};
    int best = 0;
    for (int k = 1; k < 3; ++k) {
      if (yw_length2(yw_sub(p, corners[k])) < yw_length2(yw_sub(p, corners[best]))) best = k;
    }
    for (int k = 0; k < 3; ++k) out[k] = k == best ? 1.0f : 0.0f;
    return;
  }
  out[1] = yw_clampf((vv * wu - uv * wv) / det, 0.0f, 1.0f);
  out[2] = yw_clampf((uu * wv - uv * wu) / det, 0.0f, 1.0f - out[1]);
  out[0] = 1.0f - out[1] - out[2];
}

float yw_painted_value(const yw_painted* painted, yw_vec3 p) {
  yw_nearest nearest = yw_triangle_tree_nearest(&painted->tree, p, INFINITY);
  if (nearest.triangle < 0) return painted->values[painted->triangles[0]];
  const yw_tree_triangle* t = painted->tree.triangles + nearest.triangle;
  const int32_t* v = painted->triangles + 3 * (size_t)t->index;
  float share[3];
  shares_of(t, nearest.point, share);
  return share[0] * painted->values[v[0]] + share[1] * painted->values[v[1]] +
         share[2] * painted->values[v[2]];
}
