// SPDX-License-Identifier: MIT
#include "display.h"

#include <math.h>
#include <string.h>

#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Corners (3 * triangle + corner) listed by vertex, and the side of the crease each is on.
typedef struct corner_lists {
  int32_t* first;    // of each vertex in corners, num_vertices + 1
  int32_t* corners;  // sorted by vertex
  int32_t* sides;    // of the listed corners: equal numbers share a normal
  yw_vec3* faces;    // unit normals of the triangles
} corner_lists;

static yw_vec3 face_normal(const yw_vec3* p, const int32_t* t) {
  return yw_cross(yw_sub(p[t[1]], p[t[0]]), yw_sub(p[t[2]], p[t[0]]));
}

static void list_corners(const yw_tri_mesh* surface, corner_lists* lists) {
  int32_t num_corners = 3 * surface->num_triangles;
  for (int32_t i = 0; i < num_corners; ++i) ++lists->first[surface->triangles[i] + 1];
  for (int32_t i = 0; i < surface->num_vertices; ++i) lists->first[i + 1] += lists->first[i];
  for (int32_t i = 0; i < num_corners; ++i) {
    lists->corners[lists->first[surface->triangles[i]]++] = i;
  }
  // Filling moved every start to its end; move them back.
  for (int32_t i = surface->num_vertices; i > 0; --i) lists->first[i] = lists->first[i - 1];
  lists->first[0] = 0;
}

static bool share_edge(const int32_t* triangles, int32_t a, int32_t b) {
  const int32_t *p = &triangles[a / 3 * 3], *q = &triangles[b / 3 * 3];
  int32_t a1 = p[(a + 1) % 3], a2 = p[(a + 2) % 3], b1 = q[(b + 1) % 3], b2 = q[(b + 2) % 3];
  return a1 == b1 || a1 == b2 || a2 == b1 || a2 == b2;
}

// Joins the corners around a vertex that are connected without crossing a crease.
static void find_sides(const yw_tri_mesh* surface, const corner_lists* lists, int32_t vertex,
                       float cosine) {
  int32_t begin = lists->first[vertex], end = lists->first[vertex + 1];
  for (int32_t i = begin; i < end; ++i) lists->sides[i] = i;
  for (int32_t i = begin; i < end; ++i) {
    for (int32_t j = begin; j < i; ++j) {
      int32_t a = lists->corners[i], b = lists->corners[j];
      if (lists->sides[i] == lists->sides[j] || !share_edge(surface->triangles, a, b)) continue;
      if (yw_dot(lists->faces[a / 3], lists->faces[b / 3]) < cosine) continue;
      int32_t from = lists->sides[i], to = lists->sides[j];
      for (int32_t k = begin; k < end; ++k) {
        if (lists->sides[k] == from) lists->sides[k] = to;
      }
    }
  }
}

// Numbers the sides of all vertices; those of one vertex are consecutive.
static void number_sides(const yw_tri_mesh* surface, const corner_lists* lists, display_mesh* out) {
  for (int32_t vertex = 0; vertex < surface->num_vertices; ++vertex) {
    int32_t begin = lists->first[vertex], end = lists->first[vertex + 1];
    for (int32_t i = begin; i < end; ++i) {
      int32_t known = begin;
      while (lists->sides[known] != lists->sides[i]) ++known;
      if (known < i) {
        out->triangles[lists->corners[i]] = out->triangles[lists->corners[known]];
      } else {
        out->source[out->num_vertices] = vertex;
        out->triangles[lists->corners[i]] = out->num_vertices++;
      }
    }
  }
}

bool display_mesh_create(const yw_tri_mesh* surface, float crease, display_mesh* out) {
  size_t corners = 3 * (size_t)surface->num_triangles;
  *out = (display_mesh){.num_triangles = surface->num_triangles};
  out->source = YW_NEW_ARRAY(NULL, int32_t, corners);
  out->triangles = YW_NEW_ARRAY(NULL, int32_t, corners);
  corner_lists lists = {YW_NEW_ARRAY(NULL, int32_t, (size_t)surface->num_vertices + 1),
                        YW_NEW_ARRAY(NULL, int32_t, corners), YW_NEW_ARRAY(NULL, int32_t, corners),
                        YW_NEW_ARRAY(NULL, yw_vec3, (size_t)surface->num_triangles)};
  bool good =
      out->source && out->triangles && lists.first && lists.corners && lists.sides && lists.faces;
  if (good) {
    // Slightly beyond the angle, so that a crease of exactly this angle does not depend on
    // rounding.
    float cosine = cosf(crease * 0.017453292519943295f) - 1e-4f;
    for (int32_t t = 0; t < surface->num_triangles; ++t) {
      yw_vec3 n = face_normal(surface->positions, &surface->triangles[3 * t]);
      lists.faces[t] = yw_normalize_or(n, yw_v3(0, 0, 0));
    }
    list_corners(surface, &lists);
    for (int32_t i = 0; i < surface->num_vertices; ++i) find_sides(surface, &lists, i, cosine);
    number_sides(surface, &lists, out);
  }
  yw_mem_free(NULL, lists.first);
  yw_mem_free(NULL, lists.corners);
  yw_mem_free(NULL, lists.sides);
  yw_mem_free(NULL, lists.faces);
  if (!good) display_mesh_free(out);
  return good;
}

void display_mesh_free(display_mesh* mesh) {
  yw_mem_free(NULL, mesh->source);
  yw_mem_free(NULL, mesh->triangles);
  *mesh = (display_mesh){0};
}

void display_mesh_move(const display_mesh* mesh, const yw_vec3* surface, yw_vec3* positions,
                       yw_vec3* normals) {
  for (int32_t i = 0; i < mesh->num_vertices; ++i) positions[i] = surface[mesh->source[i]];
  memset(normals, 0, (size_t)mesh->num_vertices * sizeof *normals);
  // The cross product weighs faces by their area, which is smooth enough and needs no arc cosine.
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* triangle = &mesh->triangles[3 * t];
    yw_vec3 n = face_normal(positions, triangle);
    for (int k = 0; k < 3; ++k) normals[triangle[k]] = yw_add(normals[triangle[k]], n);
  }
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    normals[i] = yw_normalize_or(normals[i], yw_v3(0, 1, 0));
  }
}
