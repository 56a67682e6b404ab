// SPDX-License-Identifier: MIT
// Stuffing leaves a few tets near its bound of 10 degrees. Their vertices are moved in small steps,
// each kept only if it improves the worst dihedral angle around the vertex.
#include "geometry/mesher.h"
#include "geometry/order.h"
#include "geometry/shape.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define POOR_COSINE 0.9397  // 20 degrees (or 160)
#define MAX_PASSES 4
#define FIRST_STEP 0.12           // of the spacing
#define SURFACE_TOLERANCE 0.004f  // of the spacing

typedef struct improver {
  const yw_shape* shape;
  yw_tet_mesh* mesh;
  const unsigned char* on_surface;
  double spacing;
  yw_vertex_tets around;
} improver;

// The worst cosine of a tet's dihedral angles; 2 if it is inverted.
static double tet_badness(const yw_dvec3 p[4]) {
  if (!(yw_tet_volume6(p) > 0.0)) return 2.0;
  double largest, smallest;
  yw_tet_dihedral_cosines(p, &largest, &smallest);
  return fmax(largest, -smallest);
}

// The worst of the tets around a vertex if it were at x; stops early above `limit`.
static double vertex_badness(const improver* m, int32_t vertex, yw_vec3 x, double limit) {
  double worst = -1.0;
  for (size_t n = m->around.start[vertex]; n < m->around.start[vertex + 1]; ++n) {
    int32_t tet = m->around.tets[n];
    yw_dvec3 p[4];
    yw_tet_corners(m->mesh, tet, p);
    for (int k = 0; k < 4; ++k) {
      if (m->mesh->tets[4 * (size_t)tet + (size_t)k] == vertex) p[k] = yw_d3(x);
    }
    worst = fmax(worst, tet_badness(p));
    if (worst >= limit) break;
  }
  return worst;
}

// Projects a trial position onto the surface; false if that fails.
static bool land(const improver* m, yw_vec3* x) {
  float tolerance = SURFACE_TOLERANCE * (float)m->spacing;
  for (int step = 0; step < 3; ++step) {
    yw_vec3 normal;
    float distance = yw_shape_distance_normal(m->shape, *x, &normal);
    if (fabsf(distance) <= tolerance) return true;
    if (!(fabsf(distance) < 0.2f * (float)m->spacing)) return false;
    *x = yw_mad(*x, -distance, normal);
  }
  return fabsf(yw_shape_distance(m->shape, *x)) <= tolerance;
}

// Tries a step in each direction of the lattice and keeps the best; false if none helps.
static bool try_steps(const improver* m, int32_t vertex, float step, double* badness) {
  yw_vec3 start = m->mesh->positions[vertex], best = start;
  for (int n = 0; n < 14; ++n) {
    yw_dvec3 d = yw_bcc_edge(n);
    yw_vec3 x = yw_mad(start, step, yw_f3(d));
    if (m->on_surface[vertex] && !land(m, &x)) continue;
    double trial = vertex_badness(m, vertex, x, *badness);
    if (trial < *badness) *badness = trial, best = x;
  }
  m->mesh->positions[vertex] = best;
  return best.x != start.x || best.y != start.y || best.z != start.z;
}

static void improve_vertex(const improver* m, int32_t vertex) {
  double badness = vertex_badness(m, vertex, m->mesh->positions[vertex], 4.0);
  float step = (float)(FIRST_STEP * m->spacing);
  for (int n = 0; n < 4 && badness > POOR_COSINE; ++n) {
    if (!try_steps(m, vertex, step, &badness)) step *= 0.5f;
  }
}

// Other tets are unchanged lattice tets (60 and 90 degrees) or were moved with care.
static bool touches_surface(const improver* m, int32_t tet) {
  const int32_t* v = m->mesh->tets + 4 * (size_t)tet;
  return m->on_surface[v[0]] || m->on_surface[v[1]] || m->on_surface[v[2]] || m->on_surface[v[3]];
}

void yw_mesher_improve(const yw_shape* shape, double spacing, const unsigned char* on_surface,
                       yw_tet_mesh* mesh) {
  improver m = {.shape = shape, .mesh = mesh, .on_surface = on_surface, .spacing = spacing};
  bool poor = true;
  bool ready = yw_vertex_tets_create(&mesh->mem, mesh, &m.around);
  for (int pass = 0; ready && poor && pass < MAX_PASSES; ++pass) {
    poor = false;
    for (int32_t t = 0; t < mesh->num_tets; ++t) {
      yw_dvec3 p[4];
      if (!touches_surface(&m, t)) continue;
      yw_tet_corners(mesh, t, p);
      if (tet_badness(p) <= POOR_COSINE) continue;
      poor = true;
      for (int k = 0; k < 4; ++k) improve_vertex(&m, mesh->tets[4 * (size_t)t + (size_t)k]);
    }
  }
  yw_vertex_tets_free(&mesh->mem, &m.around);
}
