// SPDX-License-Identifier: MIT
// Tets that finite elements will split (methods/fem/hierarchy.h): all descendants of a tet have its
// own shape or one of four others, which are flatter. A tet of 16 degrees may have children of 4.5.
//
// Vertices of such families are moved in small steps while the worst shape around them gets better.
// Those of the boundary slide along one smooth patch of the surface, as far from it as they were,
// or along an edge of it that has a flat face on one side.
#include "geometry/mesh_faces.h"
#include "geometry/mesher.h"
#include "geometry/order.h"
#include "geometry/shape.h"

#define POOR_COSINE 0.9816  // 11 degrees (or 169)
#define MAX_PASSES 6
#define FIRST_STEP 0.12  // of the shortest edge at a vertex
#define STEPS 6
#define FLAT_SINE 1e-5          // between the normals of one flat face
#define SAME_PATCH 0.7071       // cosine between normals that bend into each other; not an edge
#define SURFACE_TOLERANCE 0.01  // of a step
#define LANDINGS 3
#define MAX_TOUCHES 16  // vertices of pieces that touch ...
#define INWARDS 0.02    // ... move by this share of the way to the middle of their tets

// How a vertex of the boundary may move: by the normals of the faces around it.
typedef struct fetters {
  int count;  // patches: 0: it moves freely; 3: not at all
  bool curved[2];
  yw_dvec3 normal[2];
} fetters;

typedef struct mender {
  const yw_shape* shape;
  yw_tet_mesh* mesh;
  const yw_allocator* mem;
  fetters* fetters;  ///< per vertex
  yw_vertex_tets around;
} mender;

// Quality -----------------------------------------------------------------------------------------

static double badness_of(const yw_dvec3 p[4]) {
  double largest, smallest;
  yw_tet_dihedral_cosines(p, &largest, &smallest);
  return fmax(largest, -smallest);
}

// Of the worst of the five shapes; 3 if the tet is inverted, above 1 if it is poor itself: a tet is
// never sacrificed for the children of another. The flat shapes have their apex in the middle of
// the tet, and the middles of the edges of a corner as base.
static double family_badness(const yw_dvec3 p[4]) {
  if (!(yw_tet_volume6(p) > 0.0)) return 3.0;
  double worst = badness_of(p);
  if (worst > POOR_COSINE) return 1.0 + worst;
  yw_dvec3 middle = yw_dscale(yw_dadd(yw_dadd(p[0], p[1]), yw_dadd(p[2], p[3])), 0.25);
  for (int corner = 0; corner < 4; ++corner) {
    yw_dvec3 child[4];
    for (int k = 0; k < 4; ++k) {
      child[k] = k == corner ? middle : yw_dscale(yw_dadd(p[corner], p[k]), 0.5);
    }
    worst = fmax(worst, badness_of(child));
  }
  return worst;
}

static double badness(const yw_tet_mesh* mesh, int32_t tet) {
  yw_dvec3 p[4];
  yw_tet_corners(mesh, tet, p);
  return family_badness(p);
}

// The worst of the tets around a vertex; may stop early above `limit`.
static double badness_around(const mender* m, int32_t vertex, double limit) {
  double worst = 0.0;
  for (size_t n = m->around.start[vertex]; n < m->around.start[vertex + 1] && worst < limit; ++n) {
    worst = fmax(worst, badness(m->mesh, m->around.tets[n]));
  }
  return worst;
}

// What holds the boundary -------------------------------------------------------------------------

static void add_normal(fetters* f, yw_dvec3 n) {
  for (int k = 0; k < f->count && k < 2; ++k) {
    if (yw_ddot(f->normal[k], n) < SAME_PATCH) continue;
    if (yw_dlength(yw_dcross(f->normal[k], n)) > FLAT_SINE) f->curved[k] = true;
    return;
  }
  if (f->count < 2) f->normal[f->count] = n;
  if (f->count < 3) ++f->count;
}

static yw_status find_fetters(mender* m) {
  int32_t* partner = YW_NEW_ARRAY(m->mem, int32_t, 4 * (size_t)m->mesh->num_tets + 1);
  yw_status status = partner ? yw_tet_face_partners(m->mem, m->mesh, partner) : YW_ERR_MEMORY;
  for (int32_t f = 0; status == YW_OK && f < 4 * m->mesh->num_tets; ++f) {
    if (partner[f] >= 0) continue;
    int32_t v[3];
    yw_dvec3 p[3];
    yw_tet_face_vertices(m->mesh, f, v);
    for (int k = 0; k < 3; ++k) p[k] = yw_d3(m->mesh->positions[v[k]]);
    yw_dvec3 n = yw_dcross(yw_dsub(p[1], p[0]), yw_dsub(p[2], p[0]));
    double area = yw_dlength(n);
    for (int k = 0; k < 3; ++k) {
      if (area > 0.0) add_normal(&m->fetters[v[k]], yw_dscale(n, 1.0 / area));
    }
  }
  yw_mem_free(m->mem, partner);
  return status;
}

static bool is_fixed(const fetters* f) {
  return f->count > 2 || (f->count == 2 && f->curved[0] && f->curved[1]);
}

// Along the patches, or the edge between two.
static yw_dvec3 allowed(const fetters* f, yw_dvec3 step) {
  if (f->count == 1) return yw_dmad(step, -yw_ddot(step, f->normal[0]), f->normal[0]);
  if (f->count != 2) return step;
  yw_dvec3 along = yw_dcross(f->normal[0], f->normal[1]);
  return yw_dscale(along, yw_ddot(step, along) / yw_ddot(along, along));
}

// The distance from the curved patch: at an edge, asked a little below the flat one.
static float gap_at(const mender* m, const fetters* f, yw_vec3 x, double depth, yw_dvec3* normal) {
  yw_dvec3 p = yw_d3(x);
  if (f->count == 2) p = yw_dmad(p, -depth, f->normal[f->curved[0] ? 1 : 0]);
  yw_vec3 n;
  float gap = yw_shape_gap(m->shape, yw_f3(p), &n);
  *normal = yw_d3(n);
  return gap;
}

// Moves x along the flat patch, if there is one, to this distance from the curved one; false if
// that fails.
static bool land(const mender* m, const fetters* f, float distance, double step, yw_vec3* x) {
  for (int n = 0; n < LANDINGS; ++n) {
    yw_dvec3 normal;
    float off = gap_at(m, f, *x, step, &normal) - distance;
    if (fabs((double)off) <= SURFACE_TOLERANCE * step) return true;
    if (f->count == 2) {
      yw_dvec3 flat = f->normal[f->curved[0] ? 1 : 0];
      normal = yw_dmad(normal, -yw_ddot(normal, flat), flat);
    }
    *x = yw_f3(yw_dmad(yw_d3(*x), -(double)off, normal));
  }
  return false;
}

// Moves -------------------------------------------------------------------------------------------

static double shortest_edge(const mender* m, int32_t vertex) {
  double shortest = INFINITY;
  for (size_t n = m->around.start[vertex]; n < m->around.start[vertex + 1]; ++n) {
    const int32_t* v = m->mesh->tets + 4 * (size_t)m->around.tets[n];
    for (int k = 0; k < 4; ++k) {
      yw_dvec3 edge = yw_dsub(yw_d3(m->mesh->positions[v[k]]), yw_d3(m->mesh->positions[vertex]));
      if (v[k] != vertex) shortest = fmin(shortest, yw_dlength(edge));
    }
  }
  return shortest;
}

// The best of a step in each direction; false if none helps.
static bool try_steps(mender* m, int32_t vertex, double step, double* worst) {
  const fetters* held = &m->fetters[vertex];
  yw_vec3* x = &m->mesh->positions[vertex];
  yw_vec3 start = *x, best = start;
  double before = *worst;
  bool slides = held->curved[0] || held->curved[1];
  yw_dvec3 normal;
  float distance = slides ? gap_at(m, held, start, step, &normal) : 0.0f;
  for (int n = 0; n < YW_BCC_DIRECTIONS; ++n) {
    yw_dvec3 move = allowed(held, yw_dscale(yw_bcc_edge(n), step));
    *x = yw_f3(yw_dadd(yw_d3(start), move));
    if (slides && !land(m, held, distance, step, x)) continue;
    double trial = badness_around(m, vertex, *worst);
    if (trial < *worst) *worst = trial, best = *x;
  }
  *x = best;
  return *worst < before;
}

static bool improve_vertex(mender* m, int32_t vertex) {
  if (is_fixed(&m->fetters[vertex])) return false;
  bool moved = false;
  double worst = badness_around(m, vertex, INFINITY), step = FIRST_STEP * shortest_edge(m, vertex);
  for (int n = 0; n < STEPS && worst > POOR_COSINE; ++n) {
    bool helped = try_steps(m, vertex, step, &worst);
    if (!helped) step *= 0.5;
    moved = moved || helped;
  }
  return moved;
}

static bool is_any_poor(const yw_tet_mesh* mesh) {
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    if (badness(mesh, t) > POOR_COSINE) return true;
  }
  return false;
}

static void improve_all(mender* m) {
  bool moved = true;
  for (int pass = 0; moved && pass < MAX_PASSES; ++pass) {
    moved = false;
    for (int32_t t = 0; t < m->mesh->num_tets; ++t) {
      for (int k = 0; k < 4 && badness(m->mesh, t) > POOR_COSINE; ++k) {
        if (improve_vertex(m, m->mesh->tets[4 * (size_t)t + (size_t)k])) moved = true;
      }
    }
  }
}

// Parts of the surface that are close to each other may have met: then all goes back.
static yw_status undo_overlaps(mender* m, const yw_vec3* old) {
  yw_tet_mesh* mesh = m->mesh;
  unsigned char* suspect = YW_NEW_ARRAY(m->mem, unsigned char, 2 * (size_t)mesh->num_tets + 1);
  if (suspect == NULL) return YW_ERR_MEMORY;
  for (size_t n = 0; n < 4 * (size_t)mesh->num_tets; ++n) {
    int32_t i = mesh->tets[n];
    const yw_vec3 *x = &mesh->positions[i], *y = &old[i];
    if (m->fetters[i].count > 0 && (x->x != y->x || x->y != y->y || x->z != y->z)) {
      suspect[n / 4] = 1;
    }
  }
  int32_t count = 0;
  yw_status status = yw_tet_overlaps(mesh, suspect, suspect + mesh->num_tets, &count);
  for (int32_t i = 0; count > 0 && i < mesh->num_vertices; ++i) mesh->positions[i] = old[i];
  yw_mem_free(m->mem, suspect);
  return status;
}

// Towards the middle of the tets around it.
static void move_inwards(const mender* m, int32_t vertex) {
  yw_dvec3 sum = {0, 0, 0}, x = yw_d3(m->mesh->positions[vertex]);
  size_t first = m->around.start[vertex], end = m->around.start[vertex + 1];
  for (size_t n = first; n < end; ++n) {
    yw_dvec3 p[4];
    yw_tet_corners(m->mesh, m->around.tets[n], p);
    for (int k = 0; k < 4; ++k) sum = yw_dmad(sum, 0.25 / (double)(end - first), yw_dsub(p[k], x));
  }
  m->mesh->positions[vertex] = yw_f3(yw_dmad(x, INWARDS, sum));
}

// Where pieces touch without being joined, a vertex of one may lie on a face of another: then it
// looks as if tets had to be joined there.
static yw_status part_pieces(const mender* m) {
  yw_status status = YW_OK;
  for (int n = 0; n < MAX_TOUCHES && status == YW_OK; ++n) {
    yw_tet_faults faults;
    status = yw_tet_mesh_faults(m->mesh, &faults);
    if (status != YW_OK || faults.num_hanging == 0) break;
    move_inwards(m, faults.hanging[0]);
  }
  return status;
}

yw_status yw_mesher_mend_families(const yw_shape* shape, yw_tet_mesh* mesh) {
  mender m = {.shape = shape, .mesh = mesh, .mem = &mesh->mem};
  m.fetters = YW_NEW_ARRAY(m.mem, fetters, mesh->num_vertices + 1);
  yw_vec3* old = YW_NEW_ARRAY(m.mem, yw_vec3, mesh->num_vertices + 1);
  bool ready = yw_vertex_tets_create(m.mem, mesh, &m.around) && m.fetters && old;
  yw_status status = ready ? find_fetters(&m) : YW_ERR_MEMORY;
  for (int32_t i = 0; status == YW_OK && i < mesh->num_vertices; ++i) old[i] = mesh->positions[i];
  if (status == YW_OK && is_any_poor(mesh)) {
    improve_all(&m);
    status = undo_overlaps(&m, old);
  }
  if (status == YW_OK) status = part_pieces(&m);
  yw_vertex_tets_free(m.mem, &m.around);
  yw_mem_free(m.mem, m.fetters);
  yw_mem_free(m.mem, old);
  return status;
}
