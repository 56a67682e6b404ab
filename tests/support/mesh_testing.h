// SPDX-License-Identifier: MIT
// Helpers for mesh tests: closed surfaces, a small OBJ reader, an allocator that runs out.
#ifndef YW_TESTS_SUPPORT_MESH_TESTING_H
#define YW_TESTS_SUPPORT_MESH_TESTING_H

#include "support/testing.h"
#include "yawara/extend/vec.h"
#include "yawara/mesh.h"

typedef struct directed_edge {
  int32_t from, to;
} directed_edge;

static inline int compare_edges(const void* a, const void* b) {
  const directed_edge *p = (const directed_edge*)a, *q = (const directed_edge*)b;
  if (p->from != q->from) return p->from < q->from ? -1 : 1;
  return p->to < q->to ? -1 : p->to > q->to;
}

/// All directed edges, sorted; freed by the caller.
static inline directed_edge* sorted_edges(const yw_tri_mesh* mesh) {
  int count = 3 * mesh->num_triangles;
  directed_edge* edges = (directed_edge*)malloc((size_t)count * sizeof *edges);
  for (int h = 0; h < count; ++h) {
    edges[h] = (directed_edge){mesh->triangles[h], mesh->triangles[h % 3 == 2 ? h - 2 : h + 1]};
  }
  qsort(edges, (size_t)count, sizeof *edges, compare_edges);
  return edges;
}

/// Every edge occurs equally often in both directions.
static inline void assert_balanced(const yw_tri_mesh* mesh) {
  directed_edge* edges = sorted_edges(mesh);
  int count = 3 * mesh->num_triangles;
  directed_edge* turned = (directed_edge*)malloc((size_t)count * sizeof *turned);
  for (int h = 0; h < count; ++h) turned[h] = (directed_edge){edges[h].to, edges[h].from};
  qsort(turned, (size_t)count, sizeof *turned, compare_edges);
  assert_memory_equal(edges, turned, (size_t)count * sizeof *edges);
  free(edges);
  free(turned);
}

/// Every edge exactly twice, in opposite directions, and the triangles of every vertex in one fan.
/// Returns the Euler characteristic.
static inline int assert_manifold(const yw_tri_mesh* mesh) {
  assert_balanced(mesh);
  directed_edge* edges = sorted_edges(mesh);
  int count = 3 * mesh->num_triangles;
  for (int h = 1; h < count; ++h) assert_true(compare_edges(&edges[h - 1], &edges[h]) != 0);
  free(edges);
  // Around vertex v the triangle (v, a, b) leads from a to b: one cycle must contain them all.
  int* degree = (int*)calloc((size_t)mesh->num_vertices, sizeof(int));
  int* start = (int*)calloc((size_t)mesh->num_vertices + 1, sizeof(int));
  directed_edge* fans = (directed_edge*)malloc((size_t)count * sizeof *fans);
  for (int h = 0; h < count; ++h) ++degree[mesh->triangles[h]];
  for (int i = 0; i < mesh->num_vertices; ++i) {
    assert_true(degree[i] >= 3);
    start[i + 1] = start[i] + degree[i];
    degree[i] = 0;
  }
  for (int h = 0; h < count; ++h) {
    int v = mesh->triangles[h], t = h - h % 3;
    fans[start[v] + degree[v]++] =
        (directed_edge){mesh->triangles[t + (h + 1) % 3], mesh->triangles[t + (h + 2) % 3]};
  }
  for (int i = 0; i < mesh->num_vertices; ++i) {
    int at = fans[start[i]].to, steps = 1;
    while (at != fans[start[i]].from && steps <= degree[i]) {
      int n = start[i];
      while (n < start[i + 1] && fans[n].from != at) ++n;
      assert_true(n < start[i + 1]);
      at = fans[n].to;
      ++steps;
    }
    assert_int_equal(steps, degree[i]);
  }
  free(degree);
  free(start);
  free(fans);
  return mesh->num_vertices - count / 2 + mesh->num_triangles;
}

/// Positions and fan-triangulated faces of a simple OBJ file; false if it cannot be opened.
static inline bool read_obj(const char* path, yw_tri_mesh* out) {
  FILE* file = fopen(path, "r");
  if (file == NULL) return false;
  int room = 200000, nv = 0, nt = 0;
  assert_int_equal(yw_tri_mesh_create(NULL, room, room, out), YW_OK);
  char line[1000];
  while (fgets(line, sizeof line, file) != NULL && nv < room && nt + 8 < room) {
    yw_vec3* p = &out->positions[nv];
    if (strncmp(line, "v ", 2) == 0 && sscanf(line + 2, "%f %f %f", &p->x, &p->y, &p->z) == 3) ++nv;
    if (strncmp(line, "f ", 2) != 0) continue;
    int corners[8], count = 0;
    for (char* word = strtok(line + 2, " \r\n"); word && count < 8; word = strtok(NULL, " \r\n")) {
      corners[count++] = atoi(word) - 1;
    }
    for (int k = 2; k < count; ++k) {
      const int32_t triangle[3] = {corners[0], corners[k - 1], corners[k]};
      memcpy(out->triangles + 3 * nt++, triangle, sizeof triangle);
    }
  }
  fclose(file);
  out->num_vertices = nv;
  out->num_triangles = nt;
  return true;
}

/// A 0-based TetGen pair base.node and base.ele; false if one cannot be opened. Inverted
/// tets are reoriented.
static inline bool read_tetgen(const char* base, yw_tet_mesh* out) {
  char path[1100];
  snprintf(path, sizeof path, "%s.node", base);
  FILE* nodes = fopen(path, "r");
  snprintf(path, sizeof path, "%s.ele", base);
  FILE* tets = fopen(path, "r");
  bool opened = nodes != NULL && tets != NULL;
  int nv = 0, nt = 0, number;
  if (opened) {
    assert_int_equal(fscanf(nodes, "%d %*d %*d %*d", &nv), 1);
    assert_int_equal(fscanf(tets, "%d %*d %*d", &nt), 1);
    assert_int_equal(yw_tet_mesh_create(NULL, nv, nt, out), YW_OK);
  }
  for (int i = 0; i < nv; ++i) {
    yw_vec3* p = &out->positions[i];
    assert_int_equal(fscanf(nodes, "%d %f %f %f", &number, &p->x, &p->y, &p->z), 4);
  }
  for (int t = 0; t < nt; ++t) {
    int32_t* v = out->tets + 4 * t;
    assert_int_equal(fscanf(tets, "%d %d %d %d %d", &number, v, v + 1, v + 2, v + 3), 5);
    const yw_vec3* x = out->positions;
    yw_vec3 a = yw_sub(x[v[1]], x[v[0]]), b = yw_sub(x[v[2]], x[v[0]]);
    if (yw_dot(yw_cross(a, b), yw_sub(x[v[3]], x[v[0]])) > 0.0f) continue;
    int32_t third = v[2];
    v[2] = v[3], v[3] = third;
  }
  if (nodes != NULL) fclose(nodes);
  if (tets != NULL) fclose(tets);
  return opened;
}

/// Volume inside a closed surface.
static inline double enclosed_volume(const yw_tri_mesh* mesh) {
  double volume = 0.0;
  for (int t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* v = mesh->triangles + 3 * t;
    const yw_vec3* x = mesh->positions;
    volume += (double)yw_dot(x[v[0]], yw_cross(x[v[1]], x[v[2]])) / 6.0;
  }
  return volume;
}

#endif
