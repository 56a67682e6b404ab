// SPDX-License-Identifier: MIT
#include "contact/points/topology.h"

#include <string.h>

#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

// An edge is sharp when the normals of its faces have a smaller cosine than this (25 degrees).
#define SHARP_COSINE 0.906f

// Sorting ---------------------------------------------------------------------------------------

// Bottom-up merge sort: stable, with no bad worst case.
void yw_point_sort_items(yw_point_sort_item* items, yw_point_sort_item* scratch, int32_t count) {
  yw_point_sort_item *from = items, *to = scratch;
  for (int32_t width = 1; width < count; width *= 2) {
    for (int32_t start = 0; start < count; start += 2 * width) {
      int32_t middle = start + width < count ? start + width : count;
      int32_t end = start + 2 * width < count ? start + 2 * width : count;
      int32_t left = start, right = middle;
      for (int32_t k = start; k < end; ++k) {
        bool take_left = left < middle && (right >= end || from[left].key <= from[right].key);
        to[k] = take_left ? from[left++] : from[right++];
      }
    }
    yw_point_sort_item* other = from;
    from = to;
    to = other;
  }
  if (from != items) memcpy(items, from, (size_t)count * sizeof *items);
}

static uint64_t spread_bits(float x) {
  // Spreads bits to every third of 30. Values outside [0, 1] (and NaN) are clamped.
  float clamped = x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
  uint32_t v = (uint32_t)(clamped * 1023.0f);
  v = (v | (v << 16)) & 0x030000FFu;
  v = (v | (v << 8)) & 0x0300F00Fu;
  v = (v | (v << 4)) & 0x030C30C3u;
  v = (v | (v << 2)) & 0x09249249u;
  return v;
}

uint64_t yw_point_morton_code(yw_aabb box, yw_vec3 p) {
  yw_vec3 size = yw_sub(box.upper, box.lower), q = yw_sub(p, box.lower);
  return spread_bits(size.x > 0.0f ? q.x / size.x : 0.0f) |
         spread_bits(size.y > 0.0f ? q.y / size.y : 0.0f) << 1 |
         spread_bits(size.z > 0.0f ? q.z / size.z : 0.0f) << 2;
}

// Building --------------------------------------------------------------------------------------

uint64_t yw_point_topology_hash(const yw_contact_geometry* g, int32_t num_particles) {
  uint64_t hash = yw_hash_u64(YW_HASH_SEED, (uint64_t)num_particles);
  hash = yw_hash_u64(hash, (uint64_t)g->num_tets);
  hash = yw_hash_u64(hash, (uint64_t)g->num_triangles);
  if (g->tets) {
    hash = yw_hash_bytes(hash, g->tets, (size_t)g->num_tets * 4 * sizeof(int32_t));
    hash = yw_hash_bytes(hash, g->triangles, (size_t)g->num_triangles * 3 * sizeof(int32_t));
    hash = yw_hash_bytes(hash, g->surface_particles,
                         (size_t)g->num_surface_particles * sizeof(int32_t));
    hash = yw_hash_bytes(hash, g->rest, (size_t)num_particles * sizeof(yw_vec3));
  } else {
    hash = yw_hash_bytes(hash, g->radius, (size_t)num_particles * sizeof(float));
  }
  return hash;
}

// Sorts tets along a space-filling curve through their centres at rest.
static bool order_tets(yw_point_topology* t, const yw_contact_geometry* g) {
  yw_point_sort_item* items = YW_NEW_ARRAY(&t->mem, yw_point_sort_item, t->num_tets);
  yw_point_sort_item* scratch = YW_NEW_ARRAY(&t->mem, yw_point_sort_item, t->num_tets);
  t->tets = yw_mem_alloc(&t->mem, (size_t)t->num_tets, sizeof *t->tets);
  bool ok = items && scratch && t->tets;
  if (ok) {
    yw_aabb box = yw_aabb_empty();
    for (int32_t i = 0; i < t->num_particles; ++i) box = yw_aabb_grow(box, g->rest[i]);
    for (int32_t i = 0; i < t->num_tets; ++i) {
      const int32_t* v = g->tets + 4 * (size_t)i;
      yw_vec3 sum =
          yw_add(yw_add(g->rest[v[0]], g->rest[v[1]]), yw_add(g->rest[v[2]], g->rest[v[3]]));
      items[i] = (yw_point_sort_item){yw_point_morton_code(box, yw_scale(sum, 0.25f)), i};
    }
    yw_point_sort_items(items, scratch, t->num_tets);
    for (int32_t i = 0; i < t->num_tets; ++i) {
      memcpy(t->tets[i], g->tets + 4 * (size_t)items[i].value, sizeof t->tets[i]);
    }
  }
  yw_mem_free(&t->mem, items);
  yw_mem_free(&t->mem, scratch);
  return ok;
}

static bool list_leaf_particles(yw_point_topology* t) {
  t->num_leaves = (t->num_tets + YW_POINT_LEAF - 1) / YW_POINT_LEAF;
  t->leaf_start = YW_NEW_ARRAY(&t->mem, int32_t, t->num_leaves + 1);
  t->leaf_particles = YW_NEW_ARRAY(&t->mem, int32_t, 4 * (size_t)t->num_tets);
  int32_t* seen = YW_NEW_ARRAY(&t->mem, int32_t, t->num_particles);
  bool ok = t->leaf_start && t->leaf_particles && seen;
  int32_t count = 0;
  for (int32_t leaf = 0; ok && leaf < t->num_leaves; ++leaf) {
    int32_t end = (leaf + 1) * YW_POINT_LEAF;
    for (int32_t i = leaf * YW_POINT_LEAF; i < end && i < t->num_tets; ++i) {
      for (int k = 0; k < 4; ++k) {
        int32_t particle = t->tets[i][k];
        if (seen[particle] == leaf + 1) continue;
        seen[particle] = leaf + 1;
        t->leaf_particles[count++] = particle;
      }
    }
    t->leaf_start[leaf + 1] = count;
  }
  yw_mem_free(&t->mem, seen);
  return ok;
}

// Lists the triangles around every sample point.
static bool build_fans(yw_point_topology* t) {
  t->fan_start = YW_NEW_ARRAY(&t->mem, int32_t, t->num_points + 2);
  t->fan = YW_NEW_ARRAY(&t->mem, int32_t, 3 * (size_t)t->num_triangles);
  if (!t->fan_start || !t->fan) return false;
  // Counts are stored two entries ahead, so that filling shifts the starts into place.
  for (int32_t i = 0; i < t->num_triangles; ++i) {
    for (int k = 0; k < 3; ++k) ++t->fan_start[t->point_of[t->triangles[i][k]] + 2];
  }
  for (int32_t i = 2; i < t->num_points + 2; ++i) t->fan_start[i] += t->fan_start[i - 1];
  for (int32_t i = 0; i < t->num_triangles; ++i) {
    for (int k = 0; k < 3; ++k) t->fan[t->fan_start[t->point_of[t->triangles[i][k]] + 1]++] = i;
  }
  return true;
}

static bool triangle_has(const int32_t* triangle, int32_t particle) {
  return triangle[0] == particle || triangle[1] == particle || triangle[2] == particle;
}

// Finds the surface triangle with corners a, b, c; -1 when there is none.
static int32_t find_triangle(const yw_point_topology* t, int32_t a, int32_t b, int32_t c) {
  int32_t point = t->point_of[a];
  if (point < 0 || t->point_of[b] < 0 || t->point_of[c] < 0) return -1;
  for (int32_t i = t->fan_start[point]; i < t->fan_start[point + 1]; ++i) {
    const int32_t* triangle = t->triangles[t->fan[i]];
    if (triangle_has(triangle, b) && triangle_has(triangle, c)) return t->fan[i];
  }
  return -1;
}

static bool match_faces(yw_point_topology* t) {
  t->tet_faces = yw_mem_alloc(&t->mem, (size_t)t->num_tets, sizeof *t->tet_faces);
  t->triangle_tet = YW_NEW_ARRAY(&t->mem, int32_t, t->num_triangles);
  if (!t->tet_faces || !t->triangle_tet) return false;
  for (int32_t i = 0; i < t->num_triangles; ++i) t->triangle_tet[i] = -1;
  for (int32_t i = 0; i < t->num_tets; ++i) {
    for (int k = 0; k < 4; ++k) {
      const int32_t* v = t->tets[i];
      int32_t found = find_triangle(t, v[(k + 1) & 3], v[(k + 2) & 3], v[(k + 3) & 3]);
      t->tet_faces[i][k] = found;
      if (found >= 0) t->triangle_tet[found] = i;
    }
  }
  return true;
}

static int32_t third_corner(const int32_t* triangle, int32_t a, int32_t b) {
  for (int k = 0; k < 3; ++k) {
    if (triangle[k] != a && triangle[k] != b) return triangle[k];
  }
  return triangle[0];
}

static yw_vec3 rest_normal(const yw_point_topology* t, const yw_vec3* rest, int32_t triangle) {
  const int32_t* v = t->triangles[triangle];
  yw_vec3 n = yw_cross(yw_sub(rest[v[1]], rest[v[0]]), yw_sub(rest[v[2]], rest[v[0]]));
  return yw_normalize_or(n, yw_v3(0, 0, 0));
}

// Pairs the triangles at every edge; records the edges that are convex and sharp.
static bool match_edges(yw_point_topology* t, const yw_vec3* rest) {
  t->neighbors = yw_mem_alloc(&t->mem, (size_t)t->num_triangles, sizeof *t->neighbors);
  t->edges = YW_NEW_ARRAY(&t->mem, yw_point_edge, 3 * (size_t)t->num_triangles);
  if (!t->neighbors || !t->edges) return false;
  double length = 0.0;
  for (int32_t i = 0; i < t->num_triangles; ++i) {
    for (int k = 0; k < 3; ++k) {
      int32_t a = t->triangles[i][k], b = t->triangles[i][(k + 1) % 3];
      length += (double)yw_distance(rest[a], rest[b]);
      t->neighbors[i][k] = -1;
      int32_t point = t->point_of[a];
      for (int32_t j = t->fan_start[point]; j < t->fan_start[point + 1]; ++j) {
        int32_t other = t->fan[j];
        if (other != i && triangle_has(t->triangles[other], b)) t->neighbors[i][k] = other;
      }
      int32_t other = t->neighbors[i][k];
      if (other <= i) continue;
      yw_vec3 n = rest_normal(t, rest, i);
      int32_t mine = third_corner(t->triangles[i], a, b);
      int32_t theirs = third_corner(t->triangles[other], a, b);
      bool convex = yw_dot(n, yw_sub(rest[theirs], rest[a])) < 0.0f;
      if (!convex || yw_dot(n, rest_normal(t, rest, other)) > SHARP_COSINE) continue;
      t->edges[t->num_edges++] = (yw_point_edge){{a, b}, {mine, theirs}, t->triangle_tet[i]};
    }
  }
  if (t->num_triangles > 0) t->size = (float)(length / (3.0 * t->num_triangles));
  return true;
}

static bool build_volume(yw_point_topology* t, const yw_contact_geometry* g) {
  t->num_tets = g->num_tets;
  t->num_triangles = g->num_triangles;
  t->num_points = g->num_surface_particles;
  t->points = YW_NEW_ARRAY(&t->mem, int32_t, t->num_points);
  t->point_of = YW_NEW_ARRAY(&t->mem, int32_t, t->num_particles);
  t->triangles = yw_mem_alloc(&t->mem, (size_t)t->num_triangles, sizeof *t->triangles);
  if (!t->points || !t->point_of || !t->triangles) return false;
  if (t->num_triangles > 0) {
    memcpy(t->triangles, g->triangles, (size_t)t->num_triangles * sizeof *t->triangles);
  }
  for (int32_t i = 0; i < t->num_particles; ++i) t->point_of[i] = -1;
  for (int32_t i = 0; i < t->num_points; ++i) {
    t->points[i] = g->surface_particles[i];
    t->point_of[t->points[i]] = i;
  }
  return order_tets(t, g) && list_leaf_particles(t) && build_fans(t) && match_faces(t) &&
         match_edges(t, g->rest);
}

static bool build_spheres(yw_point_topology* t, const yw_contact_geometry* g) {
  t->num_points = t->num_particles;
  double sum = 0.0;
  for (int32_t i = 0; i < t->num_points; ++i) sum += (double)g->radius[i];
  if (t->num_points > 0) t->size = (float)(2.0 * sum / t->num_points);
  return true;
}

yw_point_topology* yw_point_topology_create(const yw_allocator* mem,
                                            const yw_contact_geometry* geometry,
                                            int32_t num_particles) {
  yw_point_topology* t = YW_NEW(mem, yw_point_topology);
  if (!t) return NULL;
  t->mem = yw_mem_or_default(mem);
  t->num_particles = num_particles;
  t->is_volume = geometry->tets != NULL;
  bool ok = t->is_volume ? build_volume(t, geometry) : build_spheres(t, geometry);
  t->num_groups = (t->num_points + YW_POINT_GROUP - 1) / YW_POINT_GROUP;
  if (ok) return t;
  yw_point_topology_destroy(t);
  return NULL;
}

void yw_point_topology_destroy(yw_point_topology* t) {
  if (!t) return;
  yw_allocator mem = t->mem;
  void* arrays[] = {t->points,         t->tets,      t->tet_faces, t->leaf_start,
                    t->leaf_particles, t->triangles, t->neighbors, t->triangle_tet,
                    t->point_of,       t->fan_start, t->fan,       t->edges};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&mem, arrays[i]);
  yw_mem_free(&mem, t);
}
