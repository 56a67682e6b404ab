// SPDX-License-Identifier: MIT
// Where cracks grow. Stress is averaged over the tets around a node, as in O'Brien and Hodgins,
// "Graphical modeling and animation of brittle fracture" (1999): single tets are too uneven. Where
// its largest principal value exceeds the strength, the faces nearest to the plane across that
// direction open around the node, all at once, so that the node comes apart.
//
// Tractions are forces per area at rest, T = P N with P = F S. Nodes among coarser tets are
// surrounded by finest ones first, at half of that stress.
#include <math.h>
#include <string.h>

#include "math/small/polar.h"
#include "methods/fem/body.h"
#include "methods/fem/element.h"
#include "methods/fem/voigt.h"

// Above this share of the strength nodes are surrounded by finest tets, and above this one looked
// at more closely: the stress of the mean strain is not quite the mean of the stresses.
#define HOT_SHARE 0.5
#define NEAR_SHARE 0.9
// Cracks run along faces, so a crack across the mesh zigzags and has more area than its shadow on
// the plane of the cut. A face counts with the toughness of its shadow, but at least this share.
#define LEAST_SHARE 0.1

static const float* stiffness_of(const fem_body* b, int32_t tet) {
  const fem_materials* m = &b->model->materials;
  return m->stiffness ? m->stiffness + (size_t)tet * FEM_MATRIX : m->uniform_stiffness;
}

// Number of the first finest tet.
static int32_t first_finest(const fem_body* b) {
  return b->model->h.level_start[b->model->h.max_level];
}

// The node of the hierarchy that a node is, or is a copy of.
static int32_t vertex_of(const fem_body* b, int32_t node) {
  int32_t num_nodes = b->model->h.num_nodes;
  return node < num_nodes ? node : b->cracks.copy_of[node - num_nodes];
}

// Refinement --------------------------------------------------------------------------------------

// Marks the tets that the finest ones around a node are in, to be split from now on. True if these
// are all in use.
static bool surround(fem_body* b, int32_t vertex) {
  const fem_fragile* f = b->cracks.fragile;
  const fem_hierarchy* h = &b->model->h;
  bool all = true;
  for (int32_t i = f->fan_start[vertex]; i < f->fan_start[vertex + 1]; ++i) {
    int32_t tet = first_finest(b) + f->fan[i] / 4;
    all = all && yw_fem_in_front(&b->front, tet);
    for (int32_t t = h->parent[tet]; t >= 0 && !b->cracks.fine[t]; t = h->parent[t]) {
      b->cracks.fine[t] = true;
    }
  }
  return all;
}

// Stress ------------------------------------------------------------------------------------------

// The largest tension at the mean strain of a node, Pa; 0 if it is less than `least` in any case.
// Plastic strain counts as elastic here, so that the result may be too high.
static double stress_at(const fem_body* b, int32_t node, double least) {
  const float* c =
      stiffness_of(b, first_finest(b) + b->cracks.fragile->stiffest[vertex_of(b, node)]);
  const yw_vec4 low = b->node_strain[node][0], high = b->node_strain[node][1];
  const float e[6] = {low.x, low.y, low.z, 0.5f * low.w, 0.5f * high.x, 0.5f * high.y};
  double size = 0.0, trace = (double)e[0] + (double)e[1] + (double)e[2];
  for (int i = 0; i < 6; ++i) size += (i < 3 ? 1.0 : 2.0) * (double)e[i] * (double)e[i];
  double mu = (double)c[yw_fem_matrix_at(3, 3)], stretch = sqrt(1.0 + 2.0 * sqrt(size));
  double scale = stretch * (double)b->params.stiffness_scale;
  double volume = fmax((double)c[0] - 2.0 * mu, 0.0) * trace;
  // Most nodes are far from breaking, and need no principal values.
  if (!((volume + 2.0 * mu * sqrt(size)) * scale >= least)) return 0.0;
  yw_mat3 strain = {{e[0], e[5], e[4]}, {e[5], e[1], e[3]}, {e[4], e[3], e[2]}}, vectors;
  yw_vec3 values;
  yw_eigen_symmetric(&strain, &values, &vectors);
  return (volume + 2.0 * mu * (double)values.x) * scale;
}

// Adds volume times S and P of a finest tet; returns the volume.
static double add_stress(const fem_body* b, const yw_particles* p, int32_t finest, double s_sum[6],
                         double p_sum[9]) {
  const fem_hierarchy* h = &b->model->h;
  int32_t tet = first_finest(b) + finest;
  const fem_shape* shape = &h->shapes[h->root[tet]][h->type[tet]];
  double scale = yw_fem_gradient_scale(h, tet), volume = yw_fem_volume(h, tet);
  double f[9] = {0}, s[6] = {0}, strain[6], full[9];
  for (int k = 0; k < 4; ++k) {
    yw_vec4 at = p->pos[b->cracks.corners[finest][k]];
    const double x[3] = {(double)at.x, (double)at.y, (double)at.z};
    for (int i = 0; i < 9; ++i) f[i] += x[i / 3] * shape->gradient[k][i % 3] * scale;
  }
  static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
  for (int i = 0; i < 6; ++i) {
    double dot = 0.0;
    for (int k = 0; k < 3; ++k) dot += f[3 * k + row[i]] * f[3 * k + column[i]];
    strain[i] = (i < 3 ? 0.5 * (dot - 1.0) : dot) - (double)b->plastic[tet][i];
  }
  const float* c = stiffness_of(b, tet);
  for (int i = 0; i < 36; ++i) {
    s[i / 6] += (double)c[yw_fem_matrix_at(i / 6, i % 6)] * strain[i % 6];
  }
  for (int i = 0; i < 6; ++i) s[i] *= volume * (double)b->params.stiffness_scale;
  yw_matrix_of_stress(s, full);
  for (int i = 0; i < 6; ++i) s_sum[i] += s[i];
  for (int i = 0; i < 9; ++i) {
    for (int k = 0; k < 3; ++k) p_sum[i] += f[3 * (i / 3) + k] * full[3 * k + i % 3];
  }
  return volume;
}

// Direction of the largest tension, at rest.
static yw_dvec3 main_direction(const double s[6]) {
  double size = 0.0;
  for (int i = 0; i < 6; ++i) size = fmax(size, fabs(s[i]));
  float n[6];
  for (int i = 0; i < 6; ++i) n[i] = size > 0.0 ? (float)(s[i] / size) : 0.0f;
  yw_mat3 a = {{n[0], n[5], n[4]}, {n[5], n[1], n[3]}, {n[4], n[3], n[2]}}, vectors;
  yw_vec3 values;
  yw_eigen_symmetric(&a, &values, &vectors);
  if (!(values.x > 0.0f)) return (yw_dvec3){0, 0, 0};
  return yw_d3(vectors.cx);
}

static yw_dvec3 times(const double m[9], yw_dvec3 v) {
  return (yw_dvec3){m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                    m[6] * v.x + m[7] * v.y + m[8] * v.z};
}

// Cuts --------------------------------------------------------------------------------------------

/// The closed faces around a node that are nearest to a plane through it.
typedef struct node_cut {
  int32_t node, vertex;
  yw_dvec3 across;   // of the plane, at rest
  yw_dvec3 area;     // m^2, sum of the faces' areas and normals ...
  yw_dvec3 normal;   // ... its direction
  yw_dvec3 pull;     // Pa, traction across it
  double strength;   // N, sum of areas times strengths
  double plain;      // m^2, sum of areas
  double stress[9];  // P
} node_cut;

static bool is_beyond(const fem_body* b, const node_cut* cut, int32_t finest) {
  const fem_hierarchy* h = &b->model->h;
  const int32_t* v = h->nodes[first_finest(b) + finest];
  yw_dvec3 sum = {0, 0, 0};
  for (int k = 0; k < 4; ++k) sum = yw_dadd(sum, yw_dsub(h->rest[v[k]], h->rest[cut->vertex]));
  return yw_ddot(sum, cut->across) > 0.0;
}

// Calls for every face of the cut, from the tets on the near side; opens it, or adds it up.
static void visit_cut(fem_body* b, const yw_particles* p, node_cut* cut, bool open) {
  const fem_model* m = b->model;
  const fem_fragile* f = m->fragile;
  for (int32_t i = f->fan_start[cut->vertex]; i < f->fan_start[cut->vertex + 1]; ++i) {
    int32_t tet = f->fan[i] / 4, slot = f->fan[i] & 3;
    if (b->cracks.corners[tet][slot] != cut->node || is_beyond(b, cut, tet)) continue;
    for (int k = 0; k < 4; ++k) {
      int32_t half = 4 * tet + k, other = f->partner[half];
      if (k == slot || other < 0 || (b->cracks.open[tet] >> k & 1)) continue;
      if (!is_beyond(b, cut, other / 4)) continue;
      fem_face face = yw_fem_face_of(&m->h, &m->materials, f, half);
      if (open) {
        int32_t nodes[3];
        yw_dvec3 axes[3];
        for (int j = 0; j < 3; ++j) nodes[j] = b->cracks.corners[tet][face.slot[j]];
        yw_fem_crack_axes(p->pos, nodes, axes);
        double share = fmax(yw_ddot(face.normal, cut->normal), LEAST_SHARE);
        yw_fem_crack_open(&b->cracks, &face, half, (const yw_dvec3*)axes, cut->pull, share);
      } else {
        cut->area = yw_dadd(cut->area, yw_dscale(face.normal, face.area));
        cut->strength += face.area * face.strength[b->cracks.front[cut->node]];
        cut->plain += face.area;
      }
    }
  }
}

// Opens the faces around a node if stress is too high for them.
static void test_node(fem_body* b, const yw_particles* p, int32_t node) {
  const fem_fragile* f = b->cracks.fragile;
  node_cut cut = {.node = node, .vertex = vertex_of(b, node)};
  double s[6] = {0}, volume = 0.0;
  for (int32_t i = f->fan_start[cut.vertex]; i < f->fan_start[cut.vertex + 1]; ++i) {
    int32_t tet = f->fan[i] / 4;
    if (b->cracks.corners[tet][f->fan[i] & 3] != node) continue;
    volume += add_stress(b, p, tet, s, cut.stress);
  }
  for (int i = 0; i < 9; ++i) cut.stress[i] /= volume;
  cut.across = main_direction(s);
  visit_cut(b, p, &cut, false);
  double size = sqrt(yw_ddot(cut.area, cut.area));
  if (!(size > 0.0)) return;
  cut.normal = yw_dscale(cut.area, 1.0 / size);
  cut.pull = times(cut.stress, cut.normal);
  double strength = cut.strength / cut.plain;
  if (yw_ddot(cut.pull, cut.pull) < strength * strength) return;
  visit_cut(b, p, &cut, true);
}

// Nodes that are coming apart do not split again before nothing holds them any more. Returns true
// if something should be refined.
static bool test_nodes(fem_body* b, const yw_particles* p) {
  bool refine = false;
  for (int32_t i = 0; i < b->front.num_active; ++i) {
    int32_t n = b->front.active[i], vertex = vertex_of(b, n);
    if (b->is_held[n] || b->cracks.is_held[n]) continue;
    double limit = (double)b->cracks.fragile->weakest[vertex][b->cracks.front[n]];
    double stress = stress_at(b, n, HOT_SHARE * limit);
    if (stress < HOT_SHARE * limit) continue;
    if (!surround(b, vertex)) {
      refine = true;
    } else if (stress >= NEAR_SHARE * limit) {
      test_node(b, p, n);
    }
  }
  return refine;
}

// Separation --------------------------------------------------------------------------------------

// New nodes begin where the old ones are.
static void add_copies(fem_body* b, yw_particles* p, const yw_step_ctx* ctx, int32_t count) {
  int32_t first = b->model->h.num_nodes + b->front.num_copies;
  for (int32_t i = 0; i < count; ++i) {
    int32_t* of = &b->cracks.copy_of[b->front.num_copies + i];
    int32_t from = *of, to = first + i;
    *of = vertex_of(b, from);
    p->pos[to] = p->pos[from];
    p->vel[to] = p->vel[from];
    b->end_pos[to] = b->end_pos[from];
    b->end_vel[to] = b->end_vel[from];
    b->grip[to] = b->grip[from];
    if (ctx->begin) ctx->begin[to] = ctx->begin[from];
  }
  b->front.num_copies += count;
  p->count = b->model->h.num_nodes + b->front.num_copies;
}

static void update_body(fem_body* b, yw_particles* p) {
  const double* mass = b->cracks.fine_mass;
  for (int32_t n = 0; n < p->count; ++n) p->mass[n] = (float)mass[n];
  yw_fem_work_forget(&b->work);
  yw_fem_front_update(&b->front);
  yw_fem_carry_masses(&b->front, mass, b->mass);
  yw_fem_cracks_refresh(&b->cracks, b->mass);
  yw_fem_cracks_count(&b->cracks, &b->model->h, b->front.num_copies);
  yw_fem_front_changed(b);
}

bool yw_fem_cracks_grow(fem_body* b, yw_particles* p, const yw_step_ctx* ctx) {
  int32_t before = b->cracks.num_faces;
  yw_fem_find_node_strains(b, p, ctx);
  yw_fem_cracks_refresh(&b->cracks, b->mass);
  bool refine = test_nodes(b, p);
  if (b->cracks.num_faces > before) {
    int32_t copies =
        yw_fem_cracks_separate(&b->cracks, &b->model->h, b->is_held, b->front.num_copies);
    add_copies(b, p, ctx, copies);
    update_body(b, p);
  }
  if (refine) yw_fem_enforce(b, p, ctx);
  return refine || b->cracks.num_faces > before;
}
