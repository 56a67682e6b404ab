// SPDX-License-Identifier: MIT
// Angle-weighted pseudo-normals: Baerentzen and Aanaes 2005, "Signed distance computation using the
// angle weighted pseudonormal".
#include "geometry/shape_mesh_normals.h"

#include <string.h>

#include "math/small/trig.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

// A power of two, at least twice the number of keys.
static size_t table_size(size_t keys) {
  size_t size = 16;
  while (size < 2 * keys) size *= 2;
  return size;
}

static uint64_t position_hash(yw_vec3 p) {
  // -0 and 0 are the same position.
  float xyz[3] = {p.x + 0.0f, p.y + 0.0f, p.z + 0.0f};
  return yw_hash_bytes(YW_HASH_SEED, xyz, sizeof xyz);
}

bool yw_first_at_positions(const yw_allocator* mem, int32_t count, const yw_vec3* positions,
                           int32_t* first_at) {
  size_t size = table_size((size_t)count);
  int32_t* table = YW_NEW_ARRAY(mem, int32_t, size);  // vertex + 1; 0: empty
  if (!table) return false;
  for (int32_t v = 0; v < count; ++v) {
    yw_vec3 p = positions[v];
    size_t slot = (size_t)position_hash(p) & (size - 1);
    for (; table[slot]; slot = (slot + 1) & (size - 1)) {
      yw_vec3 q = positions[table[slot] - 1];
      if (p.x == q.x && p.y == q.y && p.z == q.z) break;
    }
    if (!table[slot]) table[slot] = v + 1;
    first_at[v] = table[slot] - 1;
  }
  yw_mem_free(mem, table);
  return true;
}

typedef struct edge {
  int32_t low, high;
  int32_t balance;  ///< traversals from low to high minus those back
} edge;

// Numbers the edges in the order of their first triangle; false if out of memory.
static bool number_edges(const yw_allocator* mem, int32_t num_triangles, yw_mesh_normals* out) {
  size_t half_edges = 3 * (size_t)num_triangles, size = table_size(half_edges);
  int32_t* table = YW_NEW_ARRAY(mem, int32_t, size);  // edge + 1; 0: empty
  edge* edges = YW_NEW_ARRAY(mem, edge, half_edges);
  bool ok = table && edges;
  for (size_t h = 0; ok && h < half_edges; ++h) {
    int32_t from = out->corners[h], to = out->corners[h % 3 == 2 ? h - 2 : h + 1];
    int32_t low = from < to ? from : to, high = from < to ? to : from;
    uint64_t key = ((uint64_t)(uint32_t)low << 32) | (uint32_t)high;
    size_t slot = (size_t)yw_hash_u64(YW_HASH_SEED, key) & (size - 1);
    while (table[slot] &&
           (edges[table[slot] - 1].low != low || edges[table[slot] - 1].high != high))
      slot = (slot + 1) & (size - 1);
    if (!table[slot]) {
      edges[out->num_edges] = (edge){low, high, 0};
      table[slot] = ++out->num_edges;
    }
    out->edges[h] = table[slot] - 1;
    edges[out->edges[h]].balance += from < to ? 1 : from > to ? -1 : 0;
  }
  out->is_closed = ok;
  for (int32_t e = 0; ok && e < out->num_edges; ++e)
    if (edges[e].balance != 0) out->is_closed = false;
  yw_mem_free(mem, table);
  yw_mem_free(mem, edges);
  return ok;
}

static float angle_between(yw_vec3 u, yw_vec3 v) {
  float size = sqrtf(yw_length2(u)) * sqrtf(yw_length2(v));
  return size > 0.0f ? yw_acosf(yw_dot(u, v) / size) : 0.0f;
}

static void sum_normals(const yw_vec3* positions, int32_t num_triangles, yw_mesh_normals* out) {
  for (int32_t t = 0; t < num_triangles; ++t) {
    const int32_t* v = out->corners + 3 * (size_t)t;
    yw_vec3 p[3] = {positions[v[0]], positions[v[1]], positions[v[2]]};
    yw_vec3 n = yw_cross(yw_sub(p[1], p[0]), yw_sub(p[2], p[0]));
    n = yw_normalize_or(n, yw_v3(0, 0, 0));
    for (int k = 0; k < 3; ++k) {
      yw_vec3 here = p[k], next = p[(k + 1) % 3], last = p[(k + 2) % 3];
      float angle = angle_between(yw_sub(next, here), yw_sub(last, here));
      yw_vec3* at_vertex = &out->vertex_normal[v[k]];
      yw_vec3* at_edge = &out->edge_normal[out->edges[3 * (size_t)t + (size_t)k]];
      *at_vertex = yw_mad(*at_vertex, angle, n);
      *at_edge = yw_add(*at_edge, n);
    }
  }
}

yw_status yw_mesh_normals_create(const yw_allocator* mem, int32_t num_vertices,
                                 const yw_vec3* positions, int32_t num_triangles,
                                 const int32_t* triangles, yw_mesh_normals* out) {
  *out = (yw_mesh_normals){.mem = yw_mem_or_default(mem), .num_vertices = num_vertices};
  size_t half_edges = 3 * (size_t)num_triangles;
  int32_t* first_at = YW_NEW_ARRAY(mem, int32_t, num_vertices);
  out->corners = YW_NEW_ARRAY(mem, int32_t, half_edges);
  out->edges = YW_NEW_ARRAY(mem, int32_t, half_edges);
  out->vertex_normal = YW_NEW_ARRAY(mem, yw_vec3, num_vertices);
  bool ok = first_at && out->corners && out->edges && out->vertex_normal &&
            yw_first_at_positions(mem, num_vertices, positions, first_at);
  for (size_t h = 0; ok && h < half_edges; ++h) out->corners[h] = first_at[triangles[h]];
  yw_mem_free(mem, first_at);
  ok = ok && number_edges(mem, num_triangles, out);
  if (ok) out->edge_normal = YW_NEW_ARRAY(mem, yw_vec3, out->num_edges);
  if (!ok || !out->edge_normal) {
    yw_mesh_normals_free(out);
    return YW_ERR_MEMORY;
  }
  sum_normals(positions, num_triangles, out);
  return YW_OK;
}

void yw_mesh_normals_free(yw_mesh_normals* normals) {
  yw_mem_free(&normals->mem, normals->corners);
  yw_mem_free(&normals->mem, normals->edges);
  yw_mem_free(&normals->mem, normals->vertex_normal);
  yw_mem_free(&normals->mem, normals->edge_normal);
  *normals = (yw_mesh_normals){0};
}
