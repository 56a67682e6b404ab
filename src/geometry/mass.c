// SPDX-License-Identifier: MIT
// Every triangle and the origin make a tet; signed, these add up to the solid.
#include "geometry/mass.h"

#include <math.h>
#include <stdlib.h>

#include "math/small/mat3d.h"
#include "math/small/turn.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Splittings of the triangles of a shape, fewer when there would be too many of them.
#define SPLITTINGS 3
#define MAX_TRIANGLES 400000
// Corners of split edges are lifted off the shape by this share of the edge before they are moved
// to it, so that those on a sharp edge stay there.
#define LIFT 0.1f
#define PROJECTIONS 4

// A corner with the direction away from the shape.
typedef struct corner {
  yw_vec3 at, normal;
} corner;

static void add_tet(yw_solid_moments* sum, yw_vec3 a, yw_vec3 b, yw_vec3 c) {
  const double p[3][3] = {{(double)a.x, (double)a.y, (double)a.z},
                          {(double)b.x, (double)b.y, (double)b.z},
                          {(double)c.x, (double)c.y, (double)c.z}};
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  double normal[3], total[3];
  yw_cross3(p[1], p[2], normal);
  double volume = yw_dot3(p[0], normal) / 6.0;
  for (int k = 0; k < 3; ++k) total[k] = p[0][k] + p[1][k] + p[2][k];
  sum->volume += volume;
  for (int k = 0; k < 3; ++k) sum->first[k] += 0.25 * volume * total[k];
  // Integral of x_i x_j over a tet: (sum of products + product of sums) volume / 20.
  for (int n = 0; n < 6; ++n) {
    int i = row[n], j = column[n];
    double products = p[0][i] * p[0][j] + p[1][i] * p[1][j] + p[2][i] * p[2][j];
    sum->second[n] += volume / 20.0 * (products + total[i] * total[j]);
  }
}

yw_solid_moments yw_surface_moments(const yw_tri_mesh* surface) {
  yw_solid_moments sum = {0};
  for (int32_t t = 0; t < surface->num_triangles; ++t) {
    const int32_t* v = surface->triangles + 3 * (size_t)t;
    add_tet(&sum, surface->positions[v[0]], surface->positions[v[1]], surface->positions[v[2]]);
  }
  return sum;
}

// Shapes ------------------------------------------------------------------------------------------

// The middle of an edge, moved to the shape. Depends on the edge alone, so that no gaps open.
static corner middle_of(const yw_shape* shape, corner a, corner b) {
  yw_vec3 middle = yw_scale(yw_add(a.at, b.at), 0.5f), ignored;
  yw_vec3 away = yw_normalize_or(yw_add(a.normal, b.normal), a.normal);
  yw_vec3 lifted = yw_mad(middle, LIFT * yw_distance(a.at, b.at), away);
  yw_vec3 p = lifted;
  for (int i = 0; i < PROJECTIONS; ++i) {
    float distance = yw_shape_distance_normal(shape, p, &ignored);
    p = yw_mad(p, -distance, ignored);
  }
  return (corner){p, yw_normalize_or(yw_sub(lifted, p), away)};
}

static void add_patch(yw_solid_moments* sum, const yw_shape* shape, corner a, corner b, corner c,
                      int splittings) {
  if (splittings == 0) {
    add_tet(sum, a.at, b.at, c.at);
    return;
  }
  corner ab = middle_of(shape, a, b), bc = middle_of(shape, b, c), ca = middle_of(shape, c, a);
  add_patch(sum, shape, a, ab, ca, splittings - 1);
  add_patch(sum, shape, ab, b, bc, splittings - 1);
  add_patch(sum, shape, ca, bc, c, splittings - 1);
  add_patch(sum, shape, ab, bc, ca, splittings - 1);
}

static yw_solid_moments split_moments(const yw_tri_mesh* surface, const yw_vec3* normals,
                                      const yw_shape* shape, int splittings) {
  yw_solid_moments sum = {0};
  for (int32_t t = 0; t < surface->num_triangles; ++t) {
    const int32_t* v = surface->triangles + 3 * (size_t)t;
    corner corners[3];
    for (int k = 0; k < 3; ++k) corners[k] = (corner){surface->positions[v[k]], normals[v[k]]};
    add_patch(&sum, shape, corners[0], corners[1], corners[2], splittings);
  }
  return sum;
}

// Area-weighted normals of the vertices; the caller frees them.
static yw_vec3* vertex_normals(const yw_tri_mesh* surface) {
  yw_vec3* normals = YW_NEW_ARRAY(&surface->mem, yw_vec3, surface->num_vertices);
  for (int32_t t = 0; normals && t < surface->num_triangles; ++t) {
    const int32_t* v = surface->triangles + 3 * (size_t)t;
    yw_vec3 a = surface->positions[v[0]];
    yw_vec3 n = yw_cross(yw_sub(surface->positions[v[1]], a), yw_sub(surface->positions[v[2]], a));
    for (int k = 0; k < 3; ++k) normals[v[k]] = yw_add(normals[v[k]], n);
  }
  for (int32_t i = 0; normals && i < surface->num_vertices; ++i) {
    normals[i] = yw_normalize_or(normals[i], yw_v3(0, 1, 0));
  }
  return normals;
}

yw_solid_moments yw_shape_moments(const yw_tri_mesh* surface, const yw_shape* shape) {
  int splittings = SPLITTINGS;
  while (splittings > 0 && (int64_t)surface->num_triangles << (2 * splittings) > MAX_TRIANGLES) {
    --splittings;
  }
  yw_vec3* normals = splittings > 0 ? vertex_normals(surface) : NULL;
  if (!normals) return yw_surface_moments(surface);
  yw_solid_moments coarse = split_moments(surface, normals, shape, splittings - 1);
  yw_solid_moments fine = split_moments(surface, normals, shape, splittings);
  yw_mem_free(&surface->mem, normals);
  // Errors fall by four with every splitting.
  fine.volume += (fine.volume - coarse.volume) / 3.0;
  for (int k = 0; k < 3; ++k) fine.first[k] += (fine.first[k] - coarse.first[k]) / 3.0;
  for (int k = 0; k < 6; ++k) fine.second[k] += (fine.second[k] - coarse.second[k]) / 3.0;
  return fine;
}

// Closed surfaces ---------------------------------------------------------------------------------

typedef struct half_edge {
  int32_t low, high, sign;
} half_edge;

static int compare_edges(const void* left, const void* right) {
  const half_edge *a = left, *b = right;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  return (a->high > b->high) - (a->high < b->high);
}

bool yw_surface_open_edge(const yw_tri_mesh* surface, const yw_allocator* mem, int32_t edge[2],
                          yw_status* status) {
  size_t count = 3 * (size_t)surface->num_triangles;
  half_edge* edges = YW_NEW_ARRAY(mem, half_edge, count);
  *status = edges ? YW_OK : YW_ERR_MEMORY;
  if (!edges) return false;
  for (size_t i = 0; i < count; ++i) {
    int32_t a = surface->triangles[i], b = surface->triangles[i % 3 == 2 ? i - 2 : i + 1];
    edges[i] = a < b ? (half_edge){a, b, 1} : (half_edge){b, a, -1};
  }
  qsort(edges, count, sizeof *edges, compare_edges);
  bool open = false;
  for (size_t i = 0, end; i < count && !open; i = end) {
    int32_t balance = 0;
    for (end = i; end < count && compare_edges(&edges[i], &edges[end]) == 0; ++end) {
      balance += edges[end].sign;
    }
    open = balance != 0;
    edge[0] = edges[i].low, edge[1] = edges[i].high;
  }
  yw_mem_free(mem, edges);
  return open;
}

// Principal axes ----------------------------------------------------------------------------------

// Jacobi's rotations: exact enough in a few sweeps, whatever the matrix.
void yw_principal_axes(const double inertia[6], double moments[3], double rotation[4]) {
  double a[9], axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  yw_m3_of_sym(inertia, a);
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = a[1] * a[1] + a[2] * a[2] + a[5] * a[5];
    if (!(off > 1e-32 * (a[0] * a[0] + a[4] * a[4] + a[8] * a[8]))) break;
    for (int pair = 0; pair < 3; ++pair) {
      int p = pair == 2 ? 1 : 0, q = pair == 0 ? 1 : 2;
      double apq = a[3 * p + q];
      if (apq == 0.0) continue;
      double theta = (a[4 * q] - a[4 * p]) / (2.0 * apq);
      double t = (theta >= 0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
      double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
      double turn[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, half[9];
      turn[4 * p] = turn[4 * q] = c;
      turn[3 * p + q] = s;
      turn[3 * q + p] = -s;
      yw_m3_mul_tn(turn, a, half);
      yw_m3_mul(half, turn, a);
      yw_m3_mul(axes, turn, half);
      for (int k = 0; k < 9; ++k) axes[k] = half[k];
    }
  }
  for (int k = 0; k < 3; ++k) moments[k] = a[4 * k];
  // Columns are the axes; a mirrored set becomes a rotation.
  double x[3] = {axes[0], axes[3], axes[6]}, y[3] = {axes[1], axes[4], axes[7]}, z[3];
  yw_cross3(x, y, z);
  const double m[9] = {x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]};
  yw_turn turn = yw_turn_from_matrix(m);
  rotation[0] = turn.x, rotation[1] = turn.y, rotation[2] = turn.z, rotation[3] = turn.w;
}
