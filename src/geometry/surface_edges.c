// SPDX-License-Identifier: MIT
#include "geometry/surface_edges.h"

#include <stdlib.h>

#include "yawara/extend/memory.h"

typedef struct placed {
  float x, y, z;
  int32_t vertex;
} placed;

static int compare_places(const void* a, const void* b) {
  const placed *p = a, *q = b;
  if (p->x != q->x) return p->x < q->x ? -1 : 1;
  if (p->y != q->y) return p->y < q->y ? -1 : 1;
  if (p->z != q->z) return p->z < q->z ? -1 : 1;
  return p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

static int compare_edges(const void* a, const void* b) {
  const yw_half_edge *p = a, *q = b;
  if (p->low != q->low) return p->low < q->low ? -1 : 1;
  if (p->high != q->high) return p->high < q->high ? -1 : 1;
  return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

static bool find_places(const yw_tri_mesh* mesh, yw_surface_edges* out) {
  int32_t count = mesh->num_vertices;
  placed* sorted = YW_NEW_ARRAY(&out->mem, placed, count);
  out->place = YW_NEW_ARRAY(&out->mem, int32_t, count);
  if (sorted && out->place) {
    for (int32_t i = 0; i < count; ++i) {
      yw_vec3 p = mesh->positions[i];
      sorted[i] = (placed){p.x, p.y, p.z, i};
    }
    qsort(sorted, (size_t)count, sizeof *sorted, compare_places);
    for (int32_t i = 0, first = 0; i < count; ++i) {
      const placed *p = &sorted[i], *q = &sorted[first];
      if (p->x != q->x || p->y != q->y || p->z != q->z) first = i;
      out->place[p->vertex] = sorted[first].vertex;
    }
  }
  yw_mem_free(&out->mem, sorted);
  return sorted && out->place;
}

yw_status yw_surface_edges_create(const yw_tri_mesh* mesh, const yw_allocator* mem,
                                  yw_surface_edges* out) {
  *out = (yw_surface_edges){.mem = yw_mem_or_default(mem)};
  int64_t corners = 3 * (int64_t)mesh->num_triangles;
  for (int64_t i = 0; i < corners; ++i) {
    if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->num_vertices) return YW_ERR_GEOMETRY;
  }
  if (corners > INT32_MAX || !find_places(mesh, out) ||
      !(out->edges = YW_NEW_ARRAY(&out->mem, yw_half_edge, corners))) {
    yw_surface_edges_free(out);
    return YW_ERR_MEMORY;
  }
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    for (int32_t k = 0; k < 3; ++k) {
      int32_t a = out->place[mesh->triangles[3 * (size_t)t + (size_t)k]];
      int32_t b = out->place[mesh->triangles[3 * (size_t)t + (size_t)(k + 1) % 3]];
      if (a == b) continue;
      out->edges[out->num_edges++] = (yw_half_edge){a < b ? a : b, a < b ? b : a, t, a < b};
    }
  }
  qsort(out->edges, (size_t)out->num_edges, sizeof *out->edges, compare_edges);
  return YW_OK;
}

void yw_surface_edges_free(yw_surface_edges* edges) {
  yw_mem_free(&edges->mem, edges->place);
  yw_mem_free(&edges->mem, edges->edges);
  *edges = (yw_surface_edges){0};
}

int32_t yw_surface_run_end(const yw_surface_edges* edges, int32_t first) {
  const yw_half_edge* e = edges->edges;
  int32_t end = first + 1;
  while (end < edges->num_edges && e[end].low == e[first].low && e[end].high == e[first].high)
    ++end;
  return end;
}

int32_t yw_surface_parts(const yw_tri_mesh* mesh, const yw_surface_edges* edges, int32_t* part) {
  int32_t* parent = YW_NEW_ARRAY(&edges->mem, int32_t, mesh->num_vertices);
  int32_t* number = YW_NEW_ARRAY(&edges->mem, int32_t, mesh->num_vertices);
  int32_t count = -1;
  if (parent && number) {
    for (int32_t i = 0; i < mesh->num_vertices; ++i) parent[i] = i;
    for (int32_t t = 0; t < mesh->num_triangles; ++t) {
      const int32_t* v = mesh->triangles + 3 * (size_t)t;
      for (int32_t k = 1; k < 3; ++k) yw_set_join(parent, edges->place[v[0]], edges->place[v[k]]);
    }
    count = 0;
    for (int32_t t = 0; t < mesh->num_triangles; ++t) {
      int32_t root = yw_set_root(parent, edges->place[mesh->triangles[3 * (size_t)t]]);
      if (number[root] == 0) number[root] = ++count;
      part[t] = number[root] - 1;
    }
  }
  yw_mem_free(&edges->mem, parent);
  yw_mem_free(&edges->mem, number);
  return count;
}
