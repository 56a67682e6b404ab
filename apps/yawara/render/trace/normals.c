// SPDX-License-Identifier: MIT
// Each corner averages the faces around its vertex that are reachable without crossing a crease,
// weighted by their angle at the vertex, so the result does not depend on how a flat side is
// triangulated.
#include "render/trace/normals.h"

#include <string.h>

#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

typedef struct normal_work {
  int32_t* first;       // of each vertex in corners, num_vertices + 1
  int32_t* corners;     // 3 * triangle + corner
  int32_t* groups;      // of the corners: equal numbers are smoothed together
  yw_vec3* faces;       // unit normals as drawn
  yw_vec3* rest_faces;  // and at rest
} normal_work;

static yw_vec3 face_normal(const yw_vec3* p, const int32_t* t) {
  yw_vec3 n = yw_cross(yw_sub(p[t[1]], p[t[0]]), yw_sub(p[t[2]], p[t[0]]));
  return yw_normalize_or(n, yw_v3(0, 0, 0));
}

static float corner_angle(const yw_vec3* p, const int32_t* t, int32_t corner) {
  yw_vec3 a = yw_sub(p[t[(corner + 1) % 3]], p[t[corner]]);
  yw_vec3 b = yw_sub(p[t[(corner + 2) % 3]], p[t[corner]]);
  float scale = sqrtf(yw_length2(a) * yw_length2(b));
  if (!(scale > 0.0f)) return 0.0f;
  return acosf(yw_clampf(yw_dot(a, b) / scale, -1.0f, 1.0f));
}

static void list_corners(const yw_render_mesh* mesh, normal_work* work) {
  for (int32_t i = 0; i < 3 * mesh->num_triangles; ++i) ++work->first[mesh->triangles[i] + 1];
  for (int32_t i = 0; i < mesh->num_vertices; ++i) work->first[i + 1] += work->first[i];
  for (int32_t i = 0; i < 3 * mesh->num_triangles; ++i) {
    work->corners[work->first[mesh->triangles[i]]++] = i;
  }
  // Filling moved every start to its end; move them back.
  for (int32_t i = mesh->num_vertices; i > 0; --i) work->first[i] = work->first[i - 1];
  work->first[0] = 0;
}

// True if two corners of a vertex belong to triangles that share an edge there.
static bool share_edge(const int32_t* triangles, int32_t a, int32_t b) {
  const int32_t *p = &triangles[a / 3 * 3], *q = &triangles[b / 3 * 3];
  int32_t a1 = p[(a + 1) % 3], a2 = p[(a + 2) % 3], b1 = q[(b + 1) % 3], b2 = q[(b + 2) % 3];
  return a1 == b1 || a1 == b2 || a2 == b1 || a2 == b2;
}

// Groups the corners around one vertex that are joined by edges without a crease.
static void group_corners(const yw_render_mesh* mesh, const normal_work* work, int32_t vertex,
                          float cosine) {
  int32_t begin = work->first[vertex], end = work->first[vertex + 1];
  for (int32_t i = begin; i < end; ++i) work->groups[i] = i;
  for (int32_t i = begin; i < end; ++i) {
    for (int32_t j = begin; j < i; ++j) {
      int32_t a = work->corners[i], b = work->corners[j];
      if (work->groups[i] == work->groups[j] || !share_edge(mesh->triangles, a, b)) continue;
      if (yw_dot(work->rest_faces[a / 3], work->rest_faces[b / 3]) < cosine) continue;
      int32_t from = work->groups[i], to = work->groups[j];
      for (int32_t k = begin; k < end; ++k) {
        if (work->groups[k] == from) work->groups[k] = to;
      }
    }
  }
}

static void smooth_corners(const yw_render_mesh* mesh, const normal_work* work, yw_vec3* out) {
  // Slightly beyond the angle, so that a crease of exactly 90 degrees does not depend on rounding.
  float cosine = cosf(yw_clampf(mesh->crease, 0.0f, 180.0f) * 0.017453292519943295f) - 1e-4f;
  for (int32_t vertex = 0; vertex < mesh->num_vertices; ++vertex) {
    group_corners(mesh, work, vertex, cosine);
    int32_t begin = work->first[vertex], end = work->first[vertex + 1];
    for (int32_t i = begin; i < end; ++i) {
      yw_vec3 sum = {0, 0, 0};
      for (int32_t j = begin; j < end; ++j) {
        if (work->groups[j] != work->groups[i]) continue;
        int32_t corner = work->corners[j];
        float angle = corner_angle(mesh->positions, &mesh->triangles[corner / 3 * 3], corner % 3);
        sum = yw_mad(sum, angle, work->faces[corner / 3]);
      }
      out[work->corners[i]] = yw_normalize_or(sum, work->faces[work->corners[i] / 3]);
    }
  }
}

/// Axes at a corner: the normal, and tangents along and across one edge.
typedef struct axes {
  yw_vec3 normal, along, across;
} axes;

static axes axes_of(yw_vec3 normal, yw_vec3 edge) {
  yw_vec3 flat = yw_mad(edge, -yw_dot(edge, normal), normal);
  yw_vec3 any = yw_cross(normal, fabsf(normal.x) < 0.7f ? yw_v3(1, 0, 0) : yw_v3(0, 1, 0));
  axes a = {.normal = normal, .along = yw_normalize_or(flat, yw_normalize_or(any, edge))};
  a.across = yw_cross(a.normal, a.along);
  return a;
}

// Turns given normals as the surface turned: from its smooth normals at rest to those in `out`.
static void turn_given(const yw_render_mesh* mesh, const yw_vec3* rest, const yw_vec3* smooth,
                       yw_vec3* out) {
  for (int32_t i = 0; i < 3 * mesh->num_triangles; ++i) {
    int32_t a = mesh->triangles[i], b = mesh->triangles[i % 3 == 2 ? i - 2 : i + 1];
    axes from = axes_of(smooth[i], yw_sub(rest[b], rest[a]));
    axes to = axes_of(out[i], yw_sub(mesh->positions[b], mesh->positions[a]));
    yw_vec3 n = mesh->rest_normals[i], turned = yw_scale(to.normal, yw_dot(n, from.normal));
    turned = yw_mad(turned, yw_dot(n, from.along), to.along);
    turned = yw_mad(turned, yw_dot(n, from.across), to.across);
    out[i] = yw_normalize_or(turned, out[i]);
  }
}

yw_status yw_corner_normals(const yw_render_mesh* mesh, const yw_allocator* mem, yw_vec3* out) {
  size_t triangles = (size_t)mesh->num_triangles;
  const yw_vec3* rest = mesh->rest ? mesh->rest : mesh->positions;
  normal_work work = {YW_NEW_ARRAY(mem, int32_t, (size_t)mesh->num_vertices + 1),
                      YW_NEW_ARRAY(mem, int32_t, 3 * triangles),
                      YW_NEW_ARRAY(mem, int32_t, 3 * triangles),
                      YW_NEW_ARRAY(mem, yw_vec3, triangles), YW_NEW_ARRAY(mem, yw_vec3, triangles)};
  bool enough = work.first && work.corners && work.groups && work.faces && work.rest_faces;
  if (enough) {
    for (int32_t t = 0; t < mesh->num_triangles; ++t) {
      const int32_t* triangle = &mesh->triangles[3 * t];
      work.faces[t] = face_normal(mesh->positions, triangle);
      work.rest_faces[t] = face_normal(rest, triangle);
    }
    list_corners(mesh, &work);
    smooth_corners(mesh, &work, out);
  }
  yw_vec3* smooth = NULL;
  if (enough && mesh->rest_normals) {
    smooth = YW_NEW_ARRAY(mem, yw_vec3, 3 * triangles);
    enough = smooth != NULL;
  }
  if (smooth) {
    yw_render_mesh at_rest = *mesh;
    at_rest.positions = rest;
    memcpy(work.faces, work.rest_faces, triangles * sizeof *work.faces);
    smooth_corners(&at_rest, &work, smooth);
    turn_given(mesh, rest, smooth, out);
  }
  yw_mem_free(mem, smooth);
  yw_mem_free(mem, work.first);
  yw_mem_free(mem, work.corners);
  yw_mem_free(mem, work.faces);
  yw_mem_free(mem, work.rest_faces);
  yw_mem_free(mem, work.groups);
  return enough ? YW_OK : YW_ERR_MEMORY;
}
