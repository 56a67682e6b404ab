// SPDX-License-Identifier: MIT
// Families that bend as the material does, or coarse ones as the finest tets.
#include "methods/fem/soften.h"

#include <math.h>
#include <string.h>

#include "math/small/dense.h"
#include "methods/fem/batches.h"
#include "methods/fem/element.h"
#include "yawara/extend/memory.h"

// Fractions of the elasticity matrix by which differences inside a family are softened: of the
// whole matrix, and additionally of its response to changes of volume. Level 2 of bars, brackets
// and cranks, and level 1 within a few per cent, then bend as quadratic elements do (MATERIAL,
// docs/validation.md; changed for the tets of a mesh, soft_fit.c), or as level 3 of linear tets
// (FINEST, docs/methods/fem.md).
typedef struct soft_shares {
  double all, volume;
  double change[36];  // relative to C = L L^T
} soft_shares;
static const soft_shares shares_of_kind[] = {
    [YW_FEM_SOFTEN_FINEST] = {.all = 0.40, .volume = 0.40},
    [YW_FEM_SOFTEN_MATERIAL] = {.all = 0.50, .volume = 0.40}};
// If K would leave a soft child no stiffness, it is halved up to this often, then dropped.
#define HALVINGS 4

static const float* stiffness_of(const fem_materials* m, int32_t tet) {
  return m->stiffness ? m->stiffness + (size_t)tet * FEM_MATRIX : m->uniform_stiffness;
}

static double trace_of(const float* c) {
  double sum = 0.0;
  for (int i = 0; i < 6; ++i) sum += (double)c[yw_fem_matrix_at(i, i)];
  return sum;
}

// Adds scale L change L^T.
static void add_change(const float* c, const double change[36], double scale,
                       float out[FEM_MATRIX]) {
  double full[36], l[36], left[36];
  for (int k = 0; k < 36; ++k) full[k] = (double)c[yw_fem_matrix_at(k / 6, k % 6)];
  if (!yw_dense_cholesky(6, full, l)) return;
  for (int k = 0; k < 36; ++k) {
    left[k] = 0.0;
    for (int m = 0; m < 6; ++m) left[k] += l[k / 6 * 6 + m] * change[6 * m + k % 6];
  }
  for (int i = 0; i < 6; ++i) {
    for (int j = i; j < 6; ++j) {
      double sum = 0.0;
      for (int m = 0; m < 6; ++m) sum += left[6 * i + m] * l[6 * j + m];
      out[yw_fem_matrix_at(i, j)] += (float)(scale * sum);
    }
  }
}

// K = scale (a C + b (C 1)(C 1)^T / (1 C 1) + L change L^T), for isotropic C at most scale times
// the larger of a + b and what the change allows.
static void part_of(const float* c, const soft_shares* shares, double scale,
                    float out[FEM_MATRIX]) {
  double pressed[6] = {0}, all = 0.0;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 3; ++j) pressed[i] += (double)c[yw_fem_matrix_at(i, j)];
    if (i < 3) all += pressed[i];
  }
  for (int i = 0; i < 6; ++i) {
    for (int j = i; j < 6; ++j) {
      int k = yw_fem_matrix_at(i, j);
      out[k] = (float)(scale * (shares->all * (double)c[k] +
                                shares->volume * pressed[i] * pressed[j] / all));
    }
  }
  add_change(c, shares->change, scale, out);
}

// True if c - part is positive definite.
static bool leaves_positive(const float* c, const float* part) {
  double l[6][6];
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j <= i; ++j) {
      int k = yw_fem_matrix_at(i, j);
      double sum = (double)c[k] - (double)part[k];
      for (int m = 0; m < j; ++m) sum -= l[i][m] * l[j][m];
      if (i == j && !(sum > 1e-3 * (double)c[k])) return false;
      l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
    }
  }
  return true;
}

// Children of different stiffness strain differently without bending: the softest one decides.
static void find_part(const fem_hierarchy* h, const fem_materials* m, const soft_shares* shares,
                      int32_t parent, float out[FEM_MATRIX]) {
  const float* c = stiffness_of(m, parent);
  int32_t first = h->first_child[parent], count = yw_fem_children_of(h, parent);
  double scale = 1.0;
  for (int32_t k = 0; k < count; ++k) {
    scale = fmin(scale, trace_of(stiffness_of(m, first + k)) / trace_of(c));
  }
  for (int halving = 0; halving <= HALVINGS; ++halving, scale *= 0.5) {
    part_of(c, shares, scale, out);
    bool good = true;
    for (int32_t k = 0; k < count; ++k) {
      good = good && leaves_positive(stiffness_of(m, first + k), out);
    }
    if (good) return;
  }
  memset(out, 0, FEM_MATRIX * sizeof *out);
}

static void find_matrix(const fem_shape* shape, const float* c, const float* part, double scale,
                        float out[FEM_MATRIX]) {
  float left[FEM_MATRIX];
  for (int k = 0; k < FEM_MATRIX; ++k) left[k] = c[k] - part[k];
  fem_mat6 n;
  double m[FEM_MATRIX];
  yw_fem_strain_matrix(shape, &n);
  yw_fem_edge_matrix(&n, left, shape->volume * scale, m);
  for (int k = 0; k < FEM_MATRIX; ++k) out[k] = (float)m[k];
}

// N^T K N of the root's shape.
static void find_mean(const fem_shape* shape, const float* part, float out[FEM_MATRIX]) {
  fem_mat6 n;
  double m[FEM_MATRIX];
  yw_fem_strain_matrix(shape, &n);
  yw_fem_edge_matrix(&n, part, shape->volume, m);
  for (int k = 0; k < FEM_MATRIX; ++k) out[k] = (float)m[k];
}

// The mean matrix of the finest tets, each relative to its stiffness.
static void find_typical(const fem_hierarchy* h, const fem_materials* m, float out[FEM_MATRIX]) {
  double sum[FEM_MATRIX] = {0};
  int32_t first = h->level_start[h->max_level], end = m->stiffness ? h->num_tets : first + 1;
  for (int32_t t = first; t < end; ++t) {
    const float* c = stiffness_of(m, t);
    double weight = yw_fem_volume(h, t) / trace_of(c);
    for (int k = 0; k < FEM_MATRIX; ++k) sum[k] += weight * (double)c[k];
  }
  double scale = 1.0 / (sum[0] + sum[yw_fem_matrix_at(1, 1)] + sum[yw_fem_matrix_at(2, 2)]);
  for (int k = 0; k < FEM_MATRIX; ++k) out[k] = (float)(scale * sum[k]);
}

bool yw_fem_softening_create(const yw_allocator* mem, const fem_hierarchy* h,
                             const fem_materials* materials, yw_fem_soften soften,
                             fem_softening* out) {
  bool finest = soften == YW_FEM_SOFTEN_FINEST;
  *out = (fem_softening){.kind = finest ? YW_FEM_SOFTEN_FINEST : YW_FEM_SOFTEN_MATERIAL,
                         .uniform = !materials->stiffness};
  if (h->max_level < (finest ? 2 : 1)) return true;
  out->num_families = finest ? h->level_start[h->max_level - 1] : h->num_parents;
  out->first = h->num_roots;
  int32_t end = finest ? h->level_start[h->max_level] : h->num_tets;
  soft_shares shares = shares_of_kind[out->kind];
  size_t parts = out->uniform ? 1 : (size_t)out->num_families;
  size_t matrices = (size_t)(out->uniform ? h->num_roots * FEM_TYPES : end - out->first);
  out->part = yw_mem_alloc(mem, parts, sizeof *out->part);
  out->matrices = yw_mem_alloc(mem, matrices, sizeof *out->matrices);
  size_t means = (size_t)(out->uniform ? h->num_roots : out->num_families);
  out->mean = yw_mem_alloc(mem, means, sizeof *out->mean);
  bool ready = out->part && out->matrices && out->mean;
  if (ready && !finest) {
    float typical[FEM_MATRIX];
    find_typical(h, materials, typical);
    ready = yw_fem_fit_softening(mem, h, typical, shares.all, shares.volume, shares.change);
  }
  if (!ready) {
    yw_fem_softening_free(mem, out);
    return false;
  }
  for (size_t p = 0; p < parts; ++p) find_part(h, materials, &shares, (int32_t)p, out->part[p]);
  for (int32_t k = 0; k < (int32_t)means; ++k) {
    find_mean(&h->shapes[h->root[k]][FEM_A], yw_fem_soft_part(out, k), out->mean[k]);
  }
  for (size_t k = 0; k < matrices && out->uniform; ++k) {
    find_matrix(&h->shapes[k / FEM_TYPES][k % FEM_TYPES], materials->uniform_stiffness,
                out->part[0], 1.0, out->matrices[k]);
  }
  for (int32_t t = out->first; t < end && !out->uniform; ++t) {
    find_matrix(&h->shapes[h->root[t]][h->type[t]], stiffness_of(materials, t),
                out->part[h->parent[t]], (double)(1 << h->level[t]), out->matrices[t - out->first]);
  }
  return true;
}

void yw_fem_softening_free(const yw_allocator* mem, fem_softening* s) {
  yw_mem_free(mem, s->part);
  yw_mem_free(mem, s->matrices);
  yw_mem_free(mem, s->mean);
  *s = (fem_softening){0};
}

float yw_fem_soft_volume(const fem_kind* kind, int32_t present) {
  float volume = 0.0f;
  for (int32_t c = 0; c < kind->num_children; ++c) {
    if (present >> c & 1) volume += kind->child_volume[c];
  }
  return volume;
}

void yw_fem_soft_mean(const fem_softening* s, const fem_hierarchy* h, const fem_kind* kind,
                      int32_t parent, int32_t present, size_t stride, float* shares,
                      float* matrix) {
  float volume = yw_fem_soft_volume(kind, present);
  for (int32_t c = 0; c < kind->num_children; ++c) {
    shares[(size_t)c * stride] = present >> c & 1 ? kind->child_volume[c] / volume : 0.0f;
  }
  // Scaled as M of a tet of that level.
  float scale = volume * (float)(1 << (h->level[parent] + 1));
  const float* mean = s->mean[s->uniform ? h->root[parent] : parent];
  for (int k = 0; k < FEM_MATRIX; ++k) matrix[(size_t)k * stride] = scale * mean[k];
}
