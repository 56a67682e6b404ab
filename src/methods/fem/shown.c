// SPDX-License-Identifier: MIT
// Quantities for display: the tets in use, with level, strain, stress and energy of each.
#include <math.h>

#include "math/small/mat3d.h"
#include "methods/fem/body.h"
#include "methods/fem/element.h"
#include "methods/fem/fem.h"
#include "methods/fem/voigt.h"

static const yw_field_info fields[] = {
    {"level", "", true},       {"strain", "", true},         {"stress", "Pa", true},
    {"energy", "J/m^3", true}, {"plastic_strain", "", true},
};

static const char* const meanings[] = {
    "level of refinement, 0 is coarsest",
    "von Mises equivalent of the Green strain",
    "von Mises stress (Cauchy)",
    "elastic energy per volume at rest",
    "von Mises equivalent of the plastic part of the Green strain",
};

int32_t yw_fem_num_fields(const void* state) {
  (void)state;
  return (int32_t)(sizeof fields / sizeof fields[0]);
}

yw_field_info yw_fem_field_info(const void* state, int32_t field) {
  (void)state;
  return fields[field];
}

const char* yw_fem_field_meaning(const void* state, int32_t field) {
  (void)state;
  return meanings[field];
}

const int32_t* yw_fem_cells(const void* state, int32_t* num_cells) {
  const fem_body* b = state;
  *num_cells = b->front.num_tets;
  return b->cells;
}

typedef struct tet_state {
  double strain[6], elastic[6];
  double stress[6];  // second Piola-Kirchhoff
  double cauchy[6];
  double density;  // energy density, J/m^3
} tet_state;

// F S F^T / det F. Tets that are flat or inverted count as nearly flat.
static void cauchy_of(const yw_dvec3 x[4], const yw_dvec3 rest[4], const double stress[6],
                      double out[6]) {
  yw_dvec3 g[4], unused[4];
  double ratio = yw_tet_gradients(x, unused) / yw_tet_gradients(rest, g);
  double f[9] = {0}, s[9], fs[9];
  for (int k = 0; k < 4; ++k) {
    const double p[3] = {x[k].x, x[k].y, x[k].z}, d[3] = {g[k].x, g[k].y, g[k].z};
    for (int i = 0; i < 9; ++i) f[i] += p[i / 3] * d[i % 3];
  }
  yw_matrix_of_stress(stress, s);
  yw_m3_mul(f, s, fs);
  static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
  for (int k = 0; k < 6; ++k)
    out[k] = yw_dot3(fs + 3 * row[k], f + 3 * column[k]) / fmax(fabs(ratio), 1e-6);
}

static tet_state state_of(const fem_body* b, const yw_particles* particles, int32_t tet) {
  const fem_hierarchy* h = &b->model->h;
  tet_state s = {.density = 0.0};
  yw_dvec3 x[4], rest[4];
  for (int k = 0; k < 4; ++k) {
    x[k] = yw_d3(yw_xyz(particles->pos[yw_fem_nodes_of(&b->work, tet)[k]]));
    rest[k] = h->rest[h->nodes[tet][k]];
  }
  double q[6], scale = (double)(1ll << (2 * h->level[tet]));
  fem_mat6 n;
  yw_fem_strain_matrix(&h->shapes[h->root[tet]][h->type[tet]], &n);
  yw_fem_edge_strains(x, rest, q);
  yw_fem_strain(&n, scale, q, s.strain);
  const float* c = b->model->materials.stiffness
                       ? b->model->materials.stiffness + (size_t)tet * FEM_MATRIX
                       : b->model->materials.uniform_stiffness;
  for (int i = 0; i < 6; ++i) s.elastic[i] = s.strain[i] - (double)b->plastic[tet][i];
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) s.stress[i] += (double)c[yw_fem_matrix_at(i, j)] * s.elastic[j];
    s.density += 0.5 * s.stress[i] * s.elastic[i];
  }
  for (int i = 0; i < 6; ++i) s.stress[i] *= (double)b->params.stiffness_scale;
  cauchy_of(x, rest, s.stress, s.cauchy);
  double volume6 = 6.0 * yw_fem_volume(h, tet) * (yw_fem_is_positive(h, tet) ? 1.0 : -1.0);
  yw_dvec3 unused[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  s.density += yw_fem_push(yw_fem_push_stiffness(c), volume6, x, unused) / yw_fem_volume(h, tet);
  return s;
}

// Subtracts the effect of softening from the energy (soften.h). Strain and stress stay those of the
// material: softening only makes up for what tets of this size cannot represent.
static void soften_states(const fem_body* b, int32_t parent, int32_t present, tet_state* states) {
  const fem_hierarchy* h = &b->model->h;
  const float* part = yw_fem_soft_part(&b->model->tables.softening, parent);
  double mean[6] = {0}, volume = 0.0;
  for (int32_t c = 0; present >> c; ++c) {
    if (!(present >> c & 1)) continue;
    double own = yw_fem_volume(h, h->first_child[parent] + c);
    for (int i = 0; i < 6; ++i) mean[i] += own * states[c].elastic[i];
    volume += own;
  }
  for (int32_t c = 0; present >> c; ++c) {
    if (!(present >> c & 1)) continue;
    double d[6];
    for (int i = 0; i < 6; ++i) d[i] = states[c].elastic[i] - mean[i] / volume;
    for (int i = 0; i < 6; ++i) {
      double less = 0.0;
      for (int j = 0; j < 6; ++j) less += (double)part[yw_fem_matrix_at(i, j)] * d[j];
      states[c].density -= 0.5 * less * d[i];
    }
  }
}

// States of the children of a split tet that are in the front, by child; returns their bit mask.
static int32_t family_states(const fem_body* b, const yw_particles* particles, int32_t parent,
                             tet_state states[FEM_FAMILY_CHILDREN]) {
  const fem_hierarchy* h = &b->model->h;
  int32_t bits = 0, softened = yw_fem_softened(&b->work, &b->front, parent);
  for (int32_t c = 0; c < yw_fem_children_of(h, parent); ++c) {
    int32_t tet = h->first_child[parent] + c;
    if (yw_fem_is_split(&b->front, tet)) continue;
    states[c] = state_of(b, particles, tet);
    bits |= 1 << c;
  }
  if (softened) soften_states(b, parent, softened, states);
  return bits;
}

// Von Mises norm: of the stress, or of the strain with engineering shear.
static double equivalent(const double v[6], double shear) {
  double a = v[0] - v[1], b = v[1] - v[2], c = v[2] - v[0];
  double s = shear * shear * (v[3] * v[3] + v[4] * v[4] + v[5] * v[5]);
  return sqrt(0.5 * (a * a + b * b + c * c) + 3.0 * s);
}

static double value_of(const fem_body* b, const tet_state* s, int32_t tet, int32_t field) {
  double plastic[6];
  for (int i = 0; i < 6; ++i) plastic[i] = (double)b->plastic[tet][i];
  switch (field) {
    case 0:
      return b->model->h.level[tet];
    case 1:
      return equivalent(s->strain, 0.5) * (2.0 / 3.0);
    case 2:
      return equivalent(s->cauchy, 1.0);
    case 3:
      return s->density * (double)b->params.stiffness_scale;
    default:
      return equivalent(plastic, 0.5) * (2.0 / 3.0);
  }
}

// Calls visit for every tet of the front, in the order of the cells.
typedef void (*visit_fn)(void* context, int32_t tet, const tet_state* state);

static void visit_cells(const fem_body* b, const yw_particles* particles, visit_fn visit,
                        void* context) {
  const fem_hierarchy* h = &b->model->h;
  for (int32_t r = 0; r < h->num_roots; ++r) {
    if (yw_fem_is_split(&b->front, r)) continue;
    tet_state s = state_of(b, particles, r);
    visit(context, r, &s);
  }
  for (int32_t i = 0; i < b->front.num_families; ++i) {
    int32_t parent = b->front.families[i];
    tet_state states[FEM_FAMILY_CHILDREN];
    int32_t bits = family_states(b, particles, parent, states);
    for (int32_t c = 0; bits >> c; ++c) {
      if (bits >> c & 1) visit(context, h->first_child[parent] + c, &states[c]);
    }
  }
}

typedef struct field_run {
  const fem_body* b;
  int32_t field;
  float* out;
} field_run;

static void write_value(void* context, int32_t tet, const tet_state* state) {
  field_run* run = context;
  *run->out++ = (float)value_of(run->b, state, tet, run->field);
}

void yw_fem_field_values(const void* state, const yw_particles* particles, int32_t field,
                         float* out) {
  field_run run = {state, field, out};
  visit_cells(state, particles, write_value, &run);
}

typedef struct energy_run {
  const fem_hierarchy* h;
  double energy;
} energy_run;

static void add_energy(void* context, int32_t tet, const tet_state* state) {
  energy_run* run = context;
  run->energy += state->density * yw_fem_volume(run->h, tet);
}

double yw_fem_elastic_energy(const fem_body* b, const yw_particles* particles) {
  energy_run run = {&b->model->h, 0.0};
  visit_cells(b, particles, add_energy, &run);
  return run.energy * (double)b->params.stiffness_scale;
}

yw_method_energy yw_fem_energy(const void* state, const yw_particles* particles) {
  return (yw_method_energy){.elastic = yw_fem_elastic_energy(state, particles)};
}

double yw_fem_fracture_energy(const void* state) {
  const fem_body* b = state;
  return b->model->fragile ? yw_fem_cohesive_work(&b->cracks) : 0.0;
}

void yw_fem_statistics_list(const void* state, const yw_particles* particles, yw_statistics* out) {
  const fem_body* b = state;
  (void)particles;
  yw_statistics_add(out, "tets", "", b->front.num_tets);
  yw_statistics_add(out, "hanging nodes", "", b->front.num_hanging);
  yw_statistics_add(out, "inner step", "s", (double)b->last_step);
  yw_statistics_add(out, "inner steps", "", (double)b->inner_steps);
  yw_statistics_add(out, "missed", "s", (double)b->missed);
  yw_statistics_add(out, "asleep", "", b->asleep);
  if (!b->model->fragile) return;
  yw_statistics_add(out, "pieces", "", b->cracks.num_pieces);
  yw_statistics_add(out, "crack area", "m^2", b->cracks.area);
  yw_statistics_add(out, "fracture energy", "J", yw_fem_fracture_energy(state));
}
