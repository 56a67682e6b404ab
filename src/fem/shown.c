// SPDX-License-Identifier: MIT
// What a fem body shows besides its shape: the tets in use, and per tet its level, strain, stress
// and energy.
#include <math.h>

#include "fem/body.h"
#include "fem/element.h"

static const yw_field_info fields[] = {
    {"level", "", true},       {"strain", "", true},         {"stress", "Pa", true},
    {"energy", "J/m^3", true}, {"plastic_strain", "", true},
};

int32_t yw_fem_num_fields(const void* state) {
  (void)state;
  return (int32_t)(sizeof fields / sizeof fields[0]);
}

yw_field_info yw_fem_field_info(const void* state, int32_t field) {
  (void)state;
  return fields[field];
}

const int32_t* yw_fem_cells(const void* state, int32_t* num_cells) {
  // The lists are a cache of the front.
  fem_body* b = (fem_body*)(uintptr_t)state;
  yw_fem_show_front(b);
  *num_cells = b->front.num_tets;
  return b->cells;
}

typedef struct tet_state {
  double strain[6], stress[6], density;  // energy density, J/m^3
} tet_state;

static tet_state state_of(const fem_body* b, const yw_particles* particles, int32_t tet) {
  const fem_hierarchy* h = &b->model->h;
  tet_state s = {.density = 0.0};
  yw_dvec3 x[4], rest[4];
  for (int k = 0; k < 4; ++k) {
    x[k] = yw_d3(yw_xyz(particles->pos[h->nodes[tet][k]]));
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
  double elastic[6];
  for (int i = 0; i < 6; ++i) elastic[i] = s.strain[i] - (double)b->plastic[tet][i];
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) s.stress[i] += (double)c[yw_fem_matrix_at(i, j)] * elastic[j];
    s.density += 0.5 * s.stress[i] * elastic[i];
  }
  double volume6 = 6.0 * yw_fem_volume(h, tet) * (yw_fem_is_positive(h, tet) ? 1.0 : -1.0);
  yw_dvec3 unused[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  s.density += yw_fem_push(yw_fem_push_stiffness(c), volume6, x, unused) / yw_fem_volume(h, tet);
  return s;
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
      return equivalent(s->stress, 1.0);
    case 3:
      return s->density;
    default:
      return equivalent(plastic, 0.5) * (2.0 / 3.0);
  }
}

void yw_fem_field_values(const void* state, const yw_particles* particles, int32_t field,
                         float* out) {
  const fem_body* b = state;
  int32_t count;
  yw_fem_cells(state, &count);
  for (int32_t i = 0; i < count; ++i) {
    tet_state s = state_of(b, particles, b->cell_tets[i]);
    out[i] = (float)value_of(b, &s, b->cell_tets[i], field);
  }
}

// What softening takes away from the energy of a family, J.
static double softened_energy(const fem_body* b, const yw_particles* particles, int32_t parent,
                              int32_t present) {
  const fem_hierarchy* h = &b->model->h;
  double strain[FEM_FAMILY_CHILDREN][6], mean[6] = {0}, volume = 0.0, energy = 0.0;
  for (int32_t c = 0; c < yw_fem_children_of(h, parent); ++c) {
    if (!(present >> c & 1)) continue;
    int32_t tet = h->first_child[parent] + c;
    tet_state s = state_of(b, particles, tet);
    double own = yw_fem_volume(h, tet);
    for (int i = 0; i < 6; ++i) strain[c][i] = s.strain[i], mean[i] += own * s.strain[i];
    volume += own;
  }
  const float* part = yw_fem_soft_part(&b->model->tables.softening, parent);
  for (int32_t c = 0; c < yw_fem_children_of(h, parent); ++c) {
    if (!(present >> c & 1)) continue;
    double own = yw_fem_volume(h, h->first_child[parent] + c), d[6];
    for (int i = 0; i < 6; ++i) d[i] = strain[c][i] - mean[i] / volume;
    for (int i = 0; i < 36; ++i) {
      energy += 0.5 * own * d[i / 6] * (double)part[yw_fem_matrix_at(i / 6, i % 6)] * d[i % 6];
    }
  }
  return energy;
}

double yw_fem_elastic_energy(const fem_body* b, const yw_particles* particles) {
  const fem_hierarchy* h = &b->model->h;
  double energy = 0.0;
  int32_t count;
  yw_fem_cells(b, &count);
  for (int32_t i = 0; i < count; ++i) {
    int32_t tet = b->cell_tets[i];
    energy += state_of(b, particles, tet).density * yw_fem_volume(h, tet);
  }
  for (int k = FEM_OWN; k < FEM_SINGLES && b->work.soften; ++k) {
    const fem_batches* batches = &b->work.kinds[k];
    for (int32_t i = 0; i < batches->count; ++i) {
      if (batches->owner[i] >= b->model->tables.softening.num_families) continue;
      energy -= softened_energy(b, particles, batches->owner[i], batches->present[i]);
    }
  }
  return energy;
}
