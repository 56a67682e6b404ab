// SPDX-License-Identifier: MIT
// Pairs of triangles are found with a tree of boxes. Two triangles cross if an edge of one passes
// through the other; triangles that touch or lie on each other do not cross.
#include "geometry/surface_crossings.h"

#include <math.h>

#include "geometry/triangle_tree.h"
#include "yawara/extend/memory.h"

// Six times the volume of a tet.
static double orient(yw_vec3 a, yw_vec3 b, yw_vec3 c, yw_vec3 d) {
  double e[3][3];
  const yw_vec3 from[3] = {a, b, c};
  for (int k = 0; k < 3; ++k) {
    e[k][0] = (double)from[k].x - (double)d.x;
    e[k][1] = (double)from[k].y - (double)d.y;
    e[k][2] = (double)from[k].z - (double)d.z;
  }
  return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
         e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
         e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

// The ends are on opposite sides of the triangle's plane, and the line between them meets it
// inside.
static bool passes(yw_vec3 p, yw_vec3 q, const yw_vec3 t[3]) {
  double low = orient(t[0], t[1], t[2], p), high = orient(t[0], t[1], t[2], q);
  if (!((low > 0.0 && high < 0.0) || (low < 0.0 && high > 0.0))) return false;
  double u = orient(p, q, t[0], t[1]), v = orient(p, q, t[1], t[2]), w = orient(p, q, t[2], t[0]);
  return (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
}

typedef struct crossing_search {
  const yw_tri_mesh* mesh;
  const int32_t* place;
  const yw_triangle_tree* tree;
  bool* crosses;   // per triangle of the mesh
  int64_t budget;  // pairs that may still be tested
} crossing_search;

// Needles that all meet in one place are each near all others: a fan of a million corners must not
// take hours. Sound surfaces test about ten pairs per triangle.
#define PAIRS_PER_TRIANGLE 200
#define PAIRS_AT_LEAST 10000000

static void corners_of(const crossing_search* s, int32_t t, int32_t places[3], yw_vec3 points[3]) {
  for (int32_t k = 0; k < 3; ++k) {
    places[k] = s->place[s->mesh->triangles[3 * (size_t)t + (size_t)k]];
    points[k] = s->mesh->positions[places[k]];
  }
}

// Edges of a that have no corner in b.
static bool edge_passes(const int32_t a[3], const yw_vec3 pa[3], const int32_t b[3],
                        const yw_vec3 pb[3]) {
  for (int32_t k = 0; k < 3; ++k) {
    int32_t from = a[k], to = a[(k + 1) % 3];
    bool shared = false;
    for (int32_t j = 0; j < 3; ++j) shared = shared || b[j] == from || b[j] == to;
    if (!shared && passes(pa[k], pa[(k + 1) % 3], pb)) return true;
  }
  return false;
}

static bool cross(const crossing_search* s, int32_t first, int32_t second) {
  int32_t a[3], b[3];
  yw_vec3 pa[3], pb[3];
  corners_of(s, first, a, pa);
  corners_of(s, second, b, pb);
  return edge_passes(a, pa, b, pb) || edge_passes(b, pb, a, pa);
}

static yw_aabb box_of(const yw_tree_triangle* t) {
  return yw_aabb_grow(yw_aabb_grow(yw_aabb_grow(yw_aabb_empty(), t->a), t->b), t->c);
}

// Tests a triangle against all that come after it in the tree.
static void search(crossing_search* s, int32_t own) {
  const yw_tree_triangle* triangle = &s->tree->triangles[own];
  yw_aabb box = box_of(triangle);
  int32_t stack[YW_TREE_MAX_DEPTH + 2], top = 0;
  stack[top++] = 0;
  while (top > 0 && s->budget > 0) {
    const yw_tree_node* node = &s->tree->nodes[stack[--top]];
    if (!yw_aabb_overlap(box, (yw_aabb){node->lower, node->upper})) continue;
    if (node->count == 0) {
      stack[top++] = node->first;
      stack[top++] = node->first + 1;
      continue;
    }
    for (int32_t i = node->first; i < node->first + node->count; ++i) {
      const yw_tree_triangle* other = &s->tree->triangles[i];
      --s->budget;
      if (i <= own || !yw_aabb_overlap(box, box_of(other))) continue;
      if (!cross(s, triangle->index, other->index)) continue;
      s->crosses[triangle->index] = s->crosses[other->index] = true;
    }
  }
}

bool yw_count_crossings(const yw_tri_mesh* mesh, const yw_surface_edges* edges,
                        yw_surface_report* out) {
  yw_triangle_tree tree;
  bool* crosses = YW_NEW_ARRAY(&edges->mem, bool, mesh->num_triangles);
  if (!crosses) return false;
  if (yw_triangle_tree_create(&edges->mem, mesh->num_triangles, mesh->triangles, mesh->positions,
                              NULL, &tree) < 0) {
    yw_mem_free(&edges->mem, crosses);
    return false;
  }
  int64_t budget = PAIRS_AT_LEAST + PAIRS_PER_TRIANGLE * (int64_t)mesh->num_triangles;
  crossing_search s = {mesh, edges->place, &tree, crosses, budget};
  for (int32_t i = 0; i < tree.num_triangles; ++i) search(&s, i);
  out->crossings_complete = s.budget > 0;
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    if (!crosses[t]) continue;
    const int32_t* v = mesh->triangles + 3 * (size_t)t;
    yw_vec3 sum =
        yw_add(mesh->positions[v[0]], yw_add(mesh->positions[v[1]], mesh->positions[v[2]]));
    if (out->crossing_triangles++ == 0) out->crossing_place = yw_scale(sum, 1.0f / 3.0f);
  }
  yw_triangle_tree_free(&tree);
  yw_mem_free(&edges->mem, crosses);
  return true;
}
