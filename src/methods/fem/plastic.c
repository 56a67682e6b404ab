// SPDX-License-Identifier: MIT
// Plastic flow. Imai et al. name it as future work.
//
// Strain is elastic plus plastic, S = C (E - E_p). Where the equivalent deviatoric elastic strain
// exceeds `yield`, a fraction of the excess becomes plastic, `creep` per second, up to
// `max_plastic`. In terms of edges (element.h), a plastic strain subtracts the tensions
// V N^T C E_p.
//
// In softened families (soften.h) K acts on elastic strains: offsets of child c are reduced by V_c
// N_c^T K (E_p,c - E_p,m), with E_p,m the mean of the children.
//
// Transfer between levels: a merged tet takes the mean of its children; children that return change
// by as much as their parent has changed since, and so keep their differences.
#include <math.h>

#include "math/small/exponent.h"
#include "methods/fem/body.h"
#include "methods/fem/element.h"

static const float* stiffness_of(const fem_body* b, int32_t tet) {
  const fem_materials* m = &b->model->materials;
  return m->stiffness ? m->stiffness + (size_t)tet * FEM_MATRIX : m->uniform_stiffness;
}

// V N^T C e of a tet.
static void tension_of(const fem_hierarchy* h, int32_t tet, const float* c, const float e[6],
                       float out[6]) {
  double stress[6] = {0}, scale = yw_fem_volume(h, tet) * (double)(1ll << (2 * h->level[tet]));
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) stress[i] += (double)c[yw_fem_matrix_at(i, j)] * (double)e[j];
  }
  fem_mat6 n;
  yw_fem_strain_matrix(&h->shapes[h->root[tet]][h->type[tet]], &n);
  for (int k = 0; k < 6; ++k) {
    double sum = 0.0;
    for (int i = 0; i < 6; ++i) sum += n.m[i][k] * stress[i];
    out[k] = (float)(scale * sum);
  }
}

static void find_tension(fem_body* b, int32_t tet) {
  tension_of(&b->model->h, tet, stiffness_of(b, tet), b->plastic[tet], b->plastic_tension[tet]);
}

// sqrt(2/3 e:e) of a deviatoric strain with engineering shear.
static float equivalent(const float e[6]) {
  float shear = e[3] * e[3] + e[4] * e[4] + e[5] * e[5];
  return sqrtf((2.0f / 3.0f) * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + 0.5f * shear));
}

// True if the plastic strain changed.
static bool flow_tet(fem_body* b, int32_t tet, const float* strain, float time) {
  float elastic[6], *plastic = b->plastic[tet];
  for (int i = 0; i < 6; ++i) elastic[i] = strain[i * YW_LANES] - plastic[i];
  float third = (elastic[0] + elastic[1] + elastic[2]) * (1.0f / 3.0f);
  for (int i = 0; i < 3; ++i) elastic[i] -= third;
  float size = equivalent(elastic);
  if (!(size > b->params.yield)) return false;
  float share = (1.0f - yw_expf(-b->params.creep * time)) * (1.0f - b->params.yield / size);
  for (int i = 0; i < 6; ++i) plastic[i] += share * elastic[i];
  float reached = equivalent(plastic);
  if (reached > b->params.max_plastic) {
    for (int i = 0; i < 6; ++i) plastic[i] *= b->params.max_plastic / reached;
  }
  find_tension(b, tet);
  return true;
}

bool yw_fem_flow(fem_body* b, int k, const float* strains, float time) {
  const fem_batches* batches = &b->work.kinds[k];
  size_t children = (size_t)b->model->tables.kinds[k].num_children;
  bool changed = false;
  for (int32_t i = 0; i < batches->count; ++i) {
    int32_t owner = batches->owner[i];
    if (owner < 0) continue;
    int32_t first = k == FEM_SINGLES ? owner : b->model->h.first_child[owner];
    size_t batch = (size_t)i / YW_LANES, lane = (size_t)i % YW_LANES;
    for (size_t c = 0; c < children; ++c) {
      if (!(batches->present[i] >> c & 1)) continue;
      const float* strain = strains + (batch * (children + 1) + c) * 6 * YW_LANES + lane;
      changed = flow_tet(b, first + (int32_t)c, strain, time) || changed;
    }
  }
  return changed;
}

// Mean plastic strain of the children of a tet that are present (bits).
static void mean_of_some(const fem_body* b, int32_t parent, int32_t present, float mean[6]) {
  const fem_hierarchy* h = &b->model->h;
  double volume = 0.0;
  for (int32_t c = 0; present >> c; ++c) {
    if (present >> c & 1) volume += yw_fem_volume(h, h->first_child[parent] + c);
  }
  for (int i = 0; i < 6; ++i) mean[i] = 0.0f;
  for (int32_t c = 0; present >> c; ++c) {
    int32_t child = h->first_child[parent] + c;
    float share = (float)(yw_fem_volume(h, child) / volume);
    for (int i = 0; i < 6 && (present >> c & 1); ++i) mean[i] += share * b->plastic[child][i];
  }
}

static void mean_of_children(const fem_body* b, int32_t parent, float mean[6]) {
  mean_of_some(b, parent, (1 << yw_fem_children_of(&b->model->h, parent)) - 1, mean);
}

// Offsets of a softened family in lane i of a kind.
static void soften_offsets(fem_body* b, const fem_batches* batches, int32_t i) {
  const fem_hierarchy* h = &b->model->h;
  int32_t parent = batches->owner[i], present = batches->present[i];
  size_t children = (size_t)yw_fem_children_of(h, parent), batch = (size_t)i / YW_LANES;
  const float* part = yw_fem_soft_part(&b->model->tables.softening, parent);
  float mean[6], less[6], tension[6];
  mean_of_some(b, parent, present, mean);
  for (size_t c = 0; c < children; ++c) {
    if (!(present >> c & 1)) continue;
    int32_t child = h->first_child[parent] + (int32_t)c;
    for (int k = 0; k < 6; ++k) less[k] = b->plastic[child][k] - mean[k];
    tension_of(h, child, part, less, tension);
    float* to = batches->offsets + (batch * children + c) * 6 * YW_LANES + (size_t)i % YW_LANES;
    for (int k = 0; k < 6; ++k) to[k * YW_LANES] -= tension[k];
  }
}

void yw_fem_flow_offsets(fem_body* b) {
  yw_fem_work_set_offsets(&b->work, (const float(*)[6])b->plastic_tension);
  for (int k = 0; k < FEM_SINGLES && b->work.soften; ++k) {
    const fem_batches* batches = &b->work.kinds[k];
    for (int32_t i = 0; i < batches->count; ++i) {
      if (yw_fem_softened(&b->work, &b->front, batches->owner[i])) soften_offsets(b, batches, i);
    }
  }
}

void yw_fem_flow_merged(fem_body* b, int32_t parent) {
  mean_of_children(b, parent, b->plastic[parent]);
  find_tension(b, parent);
}

void yw_fem_flow_split(fem_body* b, int32_t parent) {
  const fem_hierarchy* h = &b->model->h;
  float mean[6];
  mean_of_children(b, parent, mean);
  for (int32_t c = 0; c < yw_fem_children_of(h, parent); ++c) {
    int32_t child = h->first_child[parent] + c;
    for (int i = 0; i < 6; ++i) b->plastic[child][i] += b->plastic[parent][i] - mean[i];
    find_tension(b, child);
  }
}

void yw_fem_flow_restore(fem_body* b) {
  for (int32_t t = 0; t < b->model->h.num_tets; ++t) find_tension(b, t);
}
