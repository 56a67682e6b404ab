// SPDX-License-Identifier: MIT
#include "reference/elastic/grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/mesh_faces.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

static const int edge_ends[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};

// Edges -------------------------------------------------------------------------------------------

typedef struct edge {
  int32_t low, high;
  int32_t place;  // 6 * tet + edge
} edge;

static int compare_edges(const void* a, const void* b) {
  const edge *x = a, *y = b;
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  if (x->high != y->high) return x->high < y->high ? -1 : 1;
  return x->place < y->place ? -1 : x->place > y->place;
}

// Numbers the edges; of_tet receives 6 per tet. Returns their number, or -1.
static int32_t number_edges(const yw_tet_mesh* mesh, int32_t* of_tet) {
  size_t count = 6 * (size_t)mesh->num_tets;
  edge* edges = YW_NEW_ARRAY(NULL, edge, count);
  if (!edges) return -1;
  for (size_t i = 0; i < count; ++i) {
    const int32_t* v = mesh->tets + 4 * (i / 6);
    int32_t a = v[edge_ends[i % 6][0]], b = v[edge_ends[i % 6][1]];
    edges[i] = (edge){a < b ? a : b, a < b ? b : a, (int32_t)i};
  }
  qsort(edges, count, sizeof *edges, compare_edges);
  int32_t number = -1;
  for (size_t i = 0; i < count; ++i) {
    bool fresh = i == 0 || edges[i].low != edges[i - 1].low || edges[i].high != edges[i - 1].high;
    number += fresh;
    of_tet[edges[i].place] = number;
  }
  yw_mem_free(NULL, edges);
  return number + 1;
}

static int edge_between(int a, int b) {
  for (int e = 0; e < 6; ++e) {
    if ((edge_ends[e][0] == a && edge_ends[e][1] == b) ||
        (edge_ends[e][0] == b && edge_ends[e][1] == a)) {
      return e;
    }
  }
  return -1;
}

// The grid ----------------------------------------------------------------------------------------

static bool fill_nodes(const yw_tet_mesh* mesh, elastic_grid* grid, const int32_t* edges) {
  grid->nodes = yw_mem_alloc(NULL, (size_t)grid->num_nodes, sizeof *grid->nodes);
  size_t corners = (size_t)elastic_corners(grid);
  grid->elements = YW_NEW_ARRAY(NULL, int32_t, corners * (size_t)mesh->num_tets);
  if (!grid->nodes || !grid->elements) return false;
  for (int32_t v = 0; v < mesh->num_vertices; ++v) {
    const float* p = &mesh->positions[v].x;
    for (int k = 0; k < 3; ++k) grid->nodes[v][k] = (double)p[k];
  }
  for (size_t t = 0; t < (size_t)mesh->num_tets; ++t) {
    int32_t* element = grid->elements + corners * t;
    memcpy(element, mesh->tets + 4 * t, 4 * sizeof *element);
    for (size_t e = 0; e < 6 && grid->order == 2; ++e) {
      element[4 + e] = mesh->num_vertices + edges[6 * t + e];
      const double* a = grid->nodes[element[edge_ends[e][0]]];
      const double* b = grid->nodes[element[edge_ends[e][1]]];
      for (int k = 0; k < 3; ++k) grid->nodes[element[4 + e]][k] = 0.5 * (a[k] + b[k]);
    }
  }
  return true;
}

static bool fill_faces(const yw_tet_mesh* mesh, elastic_grid* grid) {
  int32_t* partner = YW_NEW_ARRAY(NULL, int32_t, 4 * (size_t)mesh->num_tets);
  if (!partner || yw_tet_face_partners(NULL, mesh, partner) < 0) {
    yw_mem_free(NULL, partner);
    return false;
  }
  for (int32_t f = 0; f < 4 * mesh->num_tets; ++f) grid->num_faces += partner[f] < 0;
  size_t size = (size_t)elastic_face_nodes(grid), corners = (size_t)elastic_corners(grid);
  grid->faces = YW_NEW_ARRAY(NULL, int32_t, size * (size_t)grid->num_faces);
  int32_t* face = grid->faces;
  for (int32_t f = 0; f < 4 * mesh->num_tets && face; ++f) {
    if (partner[f] >= 0) continue;
    const int32_t* element = grid->elements + corners * (size_t)(f / 4);
    const unsigned char* v = yw_tet_faces[f & 3];
    for (int k = 0; k < 3; ++k) {
      face[k] = element[v[k]];
      if (grid->order == 2) face[3 + k] = element[4 + edge_between(v[k], v[(k + 1) % 3])];
    }
    face += size;
  }
  yw_mem_free(NULL, partner);
  return grid->faces != NULL;
}

yw_status elastic_grid_create(const yw_tet_mesh* mesh, int32_t order, elastic_grid* out,
                              yw_error* error) {
  *out = (elastic_grid){.order = order, .num_elements = mesh->num_tets};
  if (mesh->num_tets > INT32_MAX / 6) {
    return yw_fail(error, YW_ERR_LIMIT, "%d tets are too many for a grid", mesh->num_tets);
  }
  int32_t* edges = NULL;
  int32_t num_edges = 0;
  bool good = true;
  if (order == 2) {
    edges = YW_NEW_ARRAY(NULL, int32_t, 6 * (size_t)mesh->num_tets);
    num_edges = edges ? number_edges(mesh, edges) : -1;
    good = num_edges >= 0;
  }
  out->num_nodes = mesh->num_vertices + num_edges;
  good = good && fill_nodes(mesh, out, edges) && fill_faces(mesh, out);
  yw_mem_free(NULL, edges);
  if (!good) {
    elastic_grid_free(out);
    return yw_fail_memory(error, "a grid of tets");
  }
  for (int k = 0; k < 3; ++k) out->low[k] = INFINITY, out->high[k] = -INFINITY;
  for (int32_t i = 0; i < out->num_nodes; ++i) {
    for (int k = 0; k < 3; ++k) {
      out->low[k] = fmin(out->low[k], out->nodes[i][k]);
      out->high[k] = fmax(out->high[k], out->nodes[i][k]);
    }
  }
  return YW_OK;
}

void elastic_grid_free(elastic_grid* grid) {
  yw_mem_free(NULL, grid->nodes);
  yw_mem_free(NULL, grid->elements);
  yw_mem_free(NULL, grid->faces);
  *grid = (elastic_grid){0};
}

bool elastic_is_at(const elastic_grid* grid, double a, double b) {
  double size = 0.0;
  for (int k = 0; k < 3; ++k) {
    size = fmax(size, fmax(fabs(grid->low[k]), fabs(grid->high[k])));
  }
  return fabs(a - b) <= 1e-6 * size;
}

int32_t elastic_node_at(const elastic_grid* grid, double x, double y, double z) {
  for (int32_t i = 0; i < grid->num_nodes; ++i) {
    const double* p = grid->nodes[i];
    if (elastic_is_at(grid, p[0], x) && elastic_is_at(grid, p[1], y) &&
        elastic_is_at(grid, p[2], z)) {
      return i;
    }
  }
  return -1;
}

// Loads -------------------------------------------------------------------------------------------

// Shape functions of a triangle at barycentric coordinates.
static void face_shapes(int32_t order, const double l[3], double n[6]) {
  for (int k = 0; k < 3; ++k) {
    n[k] = order == 1 ? l[k] : l[k] * (2.0 * l[k] - 1.0);
    n[3 + k] = 4.0 * l[k] * l[(k + 1) % 3];
  }
}

// Seven points, exact to degree five (Radon 1948).
static void add_face(const elastic_grid* grid, const int32_t* face, double area,
                     elastic_traction traction, const void* context, double* forces) {
  const double r = sqrt(15.0);
  const double a[2] = {(6.0 - r) / 21.0, (6.0 + r) / 21.0};
  const double w[2] = {(155.0 - r) / 1200.0, (155.0 + r) / 1200.0};
  for (int q = 0; q < 7; ++q) {
    double l[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3}, weight = 9.0 / 40, place[3] = {0}, n[6];
    if (q > 0) {
      int kind = (q - 1) / 3;
      for (int k = 0; k < 3; ++k) l[k] = k == (q - 1) % 3 ? 1.0 - 2.0 * a[kind] : a[kind];
      weight = w[kind];
    }
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < 3; ++i) place[i] += l[k] * grid->nodes[face[k]][i];
    }
    double t[3] = {0};
    traction(context, place, t);
    face_shapes(grid->order, l, n);
    for (int k = 0; k < elastic_face_nodes(grid); ++k) {
      for (int i = 0; i < 3; ++i) forces[3 * face[k] + i] += weight * area * n[k] * t[i];
    }
  }
}

double elastic_load_face(const elastic_grid* grid, int axis, double at, double slack,
                         elastic_traction traction, const void* context, double* forces) {
  double total = 0.0;
  for (int32_t f = 0; f < grid->num_faces; ++f) {
    const int32_t* face = grid->faces + (size_t)f * (size_t)elastic_face_nodes(grid);
    bool on = true;
    yw_dvec3 p[3];
    for (int k = 0; k < 3; ++k) {
      const double* x = grid->nodes[face[k]];
      p[k] = (yw_dvec3){x[0], x[1], x[2]};
      on = on && fabs(x[axis] - at) <= slack;
    }
    if (!on) continue;
    double area = 0.5 * yw_dlength(yw_dcross(yw_dsub(p[1], p[0]), yw_dsub(p[2], p[0])));
    add_face(grid, face, area, traction, context, forces);
    total += area;
  }
  return total;
}
