// SPDX-License-Identifier: MIT
#include "playback/obj_corners.h"

#include <stdio.h>
#include <string.h>

#include "playback/obj_lines.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Share of corners whose given normals must face outwards.
#define MOST_AGREE 0.95
// Files with more materials are not understood.
#define MOST_MATERIALS 1024

typedef struct uv {
  float u, v;
} uv;

/// A point under way: its corner in the file, and the next point at the same vertex, or -1.
typedef struct point {
  obj_corner corner;
  int32_t next;
} point;

typedef struct corner_reader {
  const yw_tri_mesh* surface;
  YW_LIST(uv) uvs;              ///< of the file
  YW_LIST(yw_vec3) normals;     ///< of the file
  YW_LIST(obj_corner) polygon;  ///< the face that is read
  YW_LIST(point) points;
  int32_t* first;     ///< point of each vertex, or -1
  int32_t triangle;   ///< the next to be read
  int32_t material;   ///< of the next triangles
  bool any_uv, bare;  ///< some corner has a texture coordinate; some has no normal
  obj_corners out;
} corner_reader;

// The polygon's corner at a vertex; NULL: none.
static const obj_corner* corner_at(const corner_reader* r, int32_t vertex) {
  for (int32_t k = 0; k < r->polygon.count; ++k) {
    if (r->polygon.items[k].index[0] == vertex + 1) return &r->polygon.items[k];
  }
  return NULL;
}

// The point of a corner, which is made if it is new; -1: out of memory.
static int32_t point_of(corner_reader* r, const obj_corner* c) {
  int32_t vertex = (int32_t)c->index[0] - 1;
  for (int32_t i = r->first[vertex]; i >= 0; i = r->points.items[i].next) {
    const long* index = r->points.items[i].corner.index;
    if (index[1] == c->index[1] && index[2] == c->index[2]) return i;
  }
  if (!YW_LIST_RESERVE(NULL, &r->points, 1)) return -1;
  r->points.items[r->points.count] = (point){*c, r->first[vertex]};
  return r->first[vertex] = r->points.count++;
}

static bool read_triangle(corner_reader* r) {
  if (r->triangle >= r->surface->num_triangles) return false;
  const size_t at = 3 * (size_t)r->triangle;
  for (size_t k = 0; k < 3; ++k) {
    const obj_corner* c = corner_at(r, r->surface->triangles[at + k]);
    if (!c || c->index[1] < 0 || c->index[1] > r->uvs.count || c->index[2] < 0 ||
        c->index[2] > r->normals.count) {
      return false;
    }
    r->any_uv |= c->index[1] > 0;
    r->bare |= c->index[2] == 0;
    r->out.triangles[at + k] = point_of(r, c);
    if (r->out.triangles[at + k] < 0) return false;
  }
  r->out.materials[r->triangle++] = r->material;
  return true;
}

// A polygon of n corners was read as n - 2 triangles.
static bool read_polygon(corner_reader* r, const obj_line* l) {
  const char* at = l->text + 1;
  obj_corner c;
  r->polygon.count = 0;
  while (obj_read_corner(&at, &c)) {
    if (!YW_LIST_RESERVE(NULL, &r->polygon, 1)) return false;
    r->polygon.items[r->polygon.count++] = c;
  }
  for (int32_t k = 2; k < r->polygon.count; ++k) {
    if (!read_triangle(r)) return false;
  }
  return true;
}

static bool read_normal(corner_reader* r, const obj_line* l) {
  yw_vec3 n;
  if (sscanf(l->text + 2, "%f %f %f", &n.x, &n.y, &n.z) != 3) return false;
  if (!YW_LIST_RESERVE(NULL, &r->normals, 1)) return false;
  r->normals.items[r->normals.count++] = yw_normalize_or(n, yw_v3(0, 0, 0));
  return true;
}

// The second number is optional.
static bool read_uv(corner_reader* r, const obj_line* l) {
  uv at = {0, 0};
  if (sscanf(l->text + 2, "%f %f", &at.u, &at.v) < 1) return false;
  if (!YW_LIST_RESERVE(NULL, &r->uvs, 1)) return false;
  r->uvs.items[r->uvs.count++] = at;
  return true;
}

static bool read_material(corner_reader* r, const obj_line* l) {
  const char* name = l->text + strlen("usemtl");
  char clipped[OBJ_MAX_MATERIAL];
  snprintf(clipped, sizeof clipped, "%s", name + strspn(name, " \t"));
  for (r->material = 0; r->material < r->out.num_materials; ++r->material) {
    if (strcmp(r->out.names[r->material], clipped) == 0) return true;
  }
  if (r->material == MOST_MATERIALS) return false;
  memcpy(r->out.names[r->out.num_materials++], clipped, sizeof clipped);
  return true;
}

static bool read_line(corner_reader* r, const obj_line* l) {
  if (obj_begins(l, "f")) return read_polygon(r, l);
  if (obj_begins(l, "vn")) return read_normal(r, l);
  if (obj_begins(l, "vt")) return read_uv(r, l);
  return !obj_begins(l, "usemtl") || read_material(r, l);
}

// Gives each point its vertex, texture coordinate and normal.
static bool finish(corner_reader* r) {
  obj_corners* out = &r->out;
  size_t count = (size_t)r->points.count;
  out->num_points = r->points.count;
  out->vertices = YW_NEW_ARRAY(NULL, int32_t, count);
  if (!out->vertices) return false;
  if (r->any_uv && !(out->uvs = YW_NEW_ARRAY(NULL, float, 2 * count))) return false;
  if (!r->bare && !(out->normals = YW_NEW_ARRAY(NULL, yw_vec3, count))) return false;
  for (size_t i = 0; i < count; ++i) {
    const long* index = r->points.items[i].corner.index;
    out->vertices[i] = (int32_t)index[0] - 1;
    if (out->uvs && index[1] > 0) {
      memcpy(out->uvs + 2 * i, &r->uvs.items[index[1] - 1], 2 * sizeof(float));
    }
    if (out->normals) out->normals[i] = r->normals.items[index[2] - 1];
  }
  return true;
}

// Normals of a model that was turned or mirrored on the way would be wrong.
static void drop_wrong_normals(const yw_tri_mesh* surface, obj_corners* out) {
  const yw_vec3* x = surface->positions;
  size_t count = 3 * (size_t)surface->num_triangles, agree = 0;
  for (size_t i = 0; out->normals && i < count; ++i) {
    const int32_t* v = surface->triangles + i - i % 3;
    yw_vec3 face = yw_cross(yw_sub(x[v[1]], x[v[0]]), yw_sub(x[v[2]], x[v[0]]));
    agree += yw_dot(out->normals[out->triangles[i]], face) > 0.0f;
  }
  if ((double)agree > MOST_AGREE * (double)count) return;
  yw_mem_free(NULL, out->normals);
  out->normals = NULL;
}

bool obj_corners_read(const char* source, const yw_tri_mesh* surface, obj_corners* out) {
  corner_reader r = {.surface = surface, .material = -1};
  const char *at = source, *end = source + strlen(source);
  obj_line* l = YW_NEW(NULL, obj_line);
  r.first = YW_NEW_ARRAY(NULL, int32_t, surface->num_vertices);
  r.out.triangles = YW_NEW_ARRAY(NULL, int32_t, 3 * (size_t)surface->num_triangles);
  r.out.materials = YW_NEW_ARRAY(NULL, int32_t, surface->num_triangles);
  r.out.names = yw_mem_alloc(NULL, MOST_MATERIALS, sizeof *r.out.names);
  bool good = l && r.first && r.out.triangles && r.out.materials && r.out.names, fits;
  for (int32_t i = 0; good && i < surface->num_vertices; ++i) r.first[i] = -1;
  while (good && obj_next_line(&at, end, l, &fits)) good = fits && read_line(&r, l);
  good = good && r.triangle == surface->num_triangles && finish(&r);
  yw_mem_free(NULL, l);
  yw_mem_free(NULL, r.first);
  YW_LIST_FREE(NULL, &r.uvs);
  YW_LIST_FREE(NULL, &r.normals);
  YW_LIST_FREE(NULL, &r.polygon);
  YW_LIST_FREE(NULL, &r.points);
  if (good) {
    drop_wrong_normals(surface, &r.out);
    *out = r.out;
  } else {
    obj_corners_free(&r.out);
  }
  return good;
}

void obj_corners_free(obj_corners* corners) {
  yw_mem_free(NULL, corners->vertices);
  yw_mem_free(NULL, corners->uvs);
  yw_mem_free(NULL, corners->normals);
  yw_mem_free(NULL, corners->triangles);
  yw_mem_free(NULL, corners->materials);
  yw_mem_free(NULL, corners->names);
  *corners = (obj_corners){0};
}

yw_vec3* obj_corner_normals(const char* source, const yw_tri_mesh* surface) {
  obj_corners c;
  if (!obj_corners_read(source, surface, &c)) return NULL;
  size_t count = 3 * (size_t)surface->num_triangles;
  yw_vec3* out = c.normals ? YW_NEW_ARRAY(NULL, yw_vec3, count) : NULL;
  for (size_t i = 0; out && i < count; ++i) out[i] = c.normals[c.triangles[i]];
  obj_corners_free(&c);
  return out;
}
