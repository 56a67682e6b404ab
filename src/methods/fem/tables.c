// SPDX-License-Identifier: MIT
// Tables that all bodies of a model share: connectivity of families, and shapes and matrices per
// root for all levels.
#include <string.h>

#include "math/small/exponent.h"
#include "methods/fem/batches.h"
#include "methods/fem/element.h"
#include "yawara/extend/memory.h"

// Entries of matrices this close to each other, relative to the largest, are equal.
#define SAME_MATERIAL 1e-5f
// Power of the stiffness in the weight of strain jumps: 0.5 would be their energy, 1 their stress.
#define WEIGHT_EXPONENT 0.9f

// Kinds -------------------------------------------------------------------------------------------

static uint8_t find_edge(fem_kind* kind, uint8_t a, uint8_t b) {
  uint8_t low = a < b ? a : b, high = a < b ? b : a;
  for (int32_t e = 0; e < kind->num_edges; ++e) {
    if (kind->edge[e][0] == low && kind->edge[e][1] == high) return (uint8_t)e;
  }
  kind->edge[kind->num_edges][0] = low;
  kind->edge[kind->num_edges][1] = high;
  return (uint8_t)kind->num_edges++;
}

static void add_child(fem_kind* kind, const fem_child_rule* rule) {
  int32_t c = kind->num_children++;
  for (int s = 0; s < 4; ++s) kind->child_node[c][s] = rule->local[s];
  for (int e = 0; e < 6; ++e) {
    kind->child_edge[c][e] =
        find_edge(kind, rule->local[yw_fem_edges[e][0]], rule->local[yw_fem_edges[e][1]]);
  }
  bool is_a = rule->type == FEM_A;
  kind->child_type[c] = rule->type;
  kind->of_type[rule->type][kind->num_of_type[rule->type]++] = (uint8_t)c;
  kind->child_sign[c] = (float)rule->sign;
  kind->child_volume[c] = is_a ? 1.0f : 0.5f;
  kind->child_turn[c] = (float)rule->sign * (is_a ? 1.0f : -2.0f);
}

// Lists edges by their ends.
static void list_ends(fem_kind* kind) {
  for (int32_t e = 0; e < kind->num_edges; ++e) {
    int32_t a = kind->edge[e][0], b = kind->edge[e][1];
    kind->from[a][kind->num_from[a]++] = (uint8_t)e;
    kind->to[b][kind->num_to[b]++] = (uint8_t)e;
  }
}

void yw_fem_make_kinds(fem_kind kinds[FEM_KINDS]) {
  memset(kinds, 0, FEM_KINDS * sizeof *kinds);
  for (int type = 0; type < FEM_TYPES; ++type) {
    fem_child_rule rules[FEM_FAMILY_CHILDREN];
    int count = yw_fem_child_rules(type, rules);
    kinds[type].num_nodes = yw_fem_num_family_nodes(type);
    for (int c = 0; c < count; ++c) add_child(&kinds[type], &rules[c]);
    list_ends(&kinds[type]);
    kinds[FEM_OWN + type] = kinds[type];
  }
  // A single tet is its own family; its type and sign are in the lanes.
  const fem_child_rule self = {FEM_A, 1, {0, 1, 2, 3}};
  kinds[FEM_SINGLES].num_nodes = 4;
  add_child(&kinds[FEM_SINGLES], &self);
  list_ends(&kinds[FEM_SINGLES]);
}

// Tables ------------------------------------------------------------------------------------------

static void family_half_squares(const fem_hierarchy* h, int32_t root, int type,
                                const fem_kind* kind, float* out) {
  // Positions of the parent's corners at level 0, sign +1: the gradients determine the edges.
  yw_dvec3 p[FEM_FAMILY_NODES];
  yw_dvec3 sum = {0, 0, 0};
  for (int s = 0; s < 4; ++s) {
    p[s] = h->rest[h->nodes[root][s]];
    sum = yw_dadd(sum, p[s]);
  }
  if (type != FEM_A) {
    int t = type - FEM_T0;
    p[t] = yw_dsub(yw_dscale(sum, 0.5), p[t]);
  }
  for (int e = 0; e < 6; ++e) {
    p[4 + e] = yw_dscale(yw_dadd(p[yw_fem_edges[e][0]], p[yw_fem_edges[e][1]]), 0.5);
  }
  p[10] = yw_dscale(yw_dadd(yw_dadd(p[0], p[1]), yw_dadd(p[2], p[3])), 0.25);
  for (int32_t e = 0; e < kind->num_edges; ++e) {
    yw_dvec3 d = yw_dsub(p[kind->edge[e][1]], p[kind->edge[e][0]]);
    out[e] = (float)(0.5 * yw_ddot(d, d));
  }
}

static void to_floats(const double m[FEM_MATRIX], float out[FEM_MATRIX]) {
  for (int k = 0; k < FEM_MATRIX; ++k) out[k] = (float)m[k];
}

static void fill_root_tables(const fem_hierarchy* h, fem_tables* t) {
  for (int32_t r = 0; r < h->num_roots; ++r) {
    for (int type = 0; type < FEM_TYPES; ++type) {
      for (int k = 0; k < 9; ++k) {
        t->gradients[r][type][k] = (float)h->shapes[r][type].gradient[1 + k / 3][k % 3];
      }
      family_half_squares(h, r, type, &t->kinds[type], t->half_squares[r][type]);
    }
  }
}

static void fill_root_matrices(const fem_hierarchy* h, const float* c, fem_tables* t) {
  for (int32_t r = 0; r < h->num_roots; ++r) {
    for (int type = 0; type < FEM_TYPES; ++type) {
      fem_mat6 n;
      double m[FEM_MATRIX];
      yw_fem_strain_matrix(&h->shapes[r][type], &n);
      yw_fem_edge_matrix(&n, c, h->shapes[r][type].volume, m);
      to_floats(m, t->root_matrices[r][type]);
    }
  }
  if (t->first_soft_root == 0) return;
  memcpy(t->root_matrices[t->first_soft_root], t->softening.matrices,
         (size_t)h->num_roots * sizeof *t->root_matrices);
}

static void fill_tet_matrices(const fem_hierarchy* h, const float* c, float (*out)[FEM_MATRIX]) {
  for (int32_t tet = 0; tet < h->num_tets; ++tet) {
    const fem_shape* shape = &h->shapes[h->root[tet]][h->type[tet]];
    fem_mat6 n;
    double m[FEM_MATRIX];
    yw_fem_strain_matrix(shape, &n);
    yw_fem_edge_matrix(&n, c + (size_t)tet * FEM_MATRIX,
                       shape->volume * (double)(1 << h->level[tet]), m);
    to_floats(m, out[tet]);
  }
}

// Finds the material factors of the finest tets relative to the first; false if they differ by more
// than a factor.
static bool find_factors(const fem_hierarchy* h, const float* stiffness, float* out) {
  int32_t begin = h->level_start[h->max_level];
  const float* first = stiffness + (size_t)begin * FEM_MATRIX;
  float largest = 0.0f;
  for (int k = 0; k < FEM_MATRIX; ++k) largest = fmaxf(largest, fabsf(first[k]));
  for (int32_t tet = begin; tet < h->num_tets; ++tet) {
    const float* c = stiffness + (size_t)tet * FEM_MATRIX;
    float factor = c[0] / first[0];
    for (int k = 0; k < FEM_MATRIX; ++k) {
      if (!(fabsf(c[k] - factor * first[k]) <= SAME_MATERIAL * factor * largest)) return false;
    }
    out[tet - begin] = factor;
  }
  return true;
}

// Weights jumps nearly as stress, relative to the softest tet: a bar that is stiff where it is held
// strains little there, but its tip follows that strain.
static void find_weights(const fem_hierarchy* h, const float* stiffness, float* weights) {
  float softest = INFINITY;
  for (int32_t tet = 0; tet < h->num_tets; ++tet) {
    weights[tet] = (float)yw_fem_push_stiffness(stiffness + (size_t)tet * FEM_MATRIX);
    softest = fminf(softest, weights[tet]);
  }
  for (int32_t tet = 0; tet < h->num_tets; ++tet) {
    weights[tet] = yw_powf(weights[tet] / softest, WEIGHT_EXPONENT);
  }
}

static bool allocate_tables(const yw_allocator* mem, const fem_hierarchy* h,
                            const fem_materials* materials, fem_tables* t) {
  size_t roots = (size_t)h->num_roots, tets = (size_t)h->num_tets;
  t->gradients = yw_mem_alloc(mem, roots, sizeof *t->gradients);
  t->half_squares = yw_mem_alloc(mem, roots, sizeof *t->half_squares);
  t->root_matrices = yw_mem_alloc(mem, 2 * roots, sizeof *t->root_matrices);
  bool good = t->gradients && t->half_squares && t->root_matrices;
  if (materials->stiffness) {
    t->tet_matrices = yw_mem_alloc(mem, tets, sizeof *t->tet_matrices);
    t->finest_factors = YW_NEW_ARRAY(mem, float, h->num_tets - h->level_start[h->max_level]);
    t->weights = YW_NEW_ARRAY(mem, float, h->num_tets);
    good = good && t->tet_matrices && t->finest_factors && t->weights;
  }
  if (materials->damping) {
    t->tet_dampings = yw_mem_alloc(mem, tets, sizeof *t->tet_dampings);
    good = good && t->tet_dampings;
  }
  return good;
}

bool yw_fem_tables_create(const yw_allocator* mem, const fem_hierarchy* h,
                          const fem_materials* materials, yw_fem_soften soften, fem_tables* out) {
  *out = (fem_tables){0};
  yw_fem_make_kinds(out->kinds);
  if (!allocate_tables(mem, h, materials, out) ||
      !yw_fem_softening_create(mem, h, materials, soften, &out->softening)) {
    yw_fem_tables_free(mem, out);
    return false;
  }
  fill_root_tables(h, out);
  const fem_softening* soft = &out->softening;
  // All families are softened alike, or none are: batches need not tell them apart.
  bool alike = soft->uniform && soft->kind == YW_FEM_SOFTEN_MATERIAL && soft->matrices;
  out->first_soft_root = alike ? h->num_roots : 0;
  const float* c = materials->uniform_stiffness;
  bool same = true;
  if (materials->stiffness) {
    fill_tet_matrices(h, materials->stiffness, out->tet_matrices);
    find_weights(h, materials->stiffness, out->weights);
    same = find_factors(h, materials->stiffness, out->finest_factors);
    c = materials->stiffness + (size_t)h->level_start[h->max_level] * FEM_MATRIX;
  }
  if (same) {
    fill_root_matrices(h, c, out);
  } else {
    yw_mem_free(mem, out->root_matrices);
    out->root_matrices = NULL;
  }
  if (materials->damping) fill_tet_matrices(h, materials->damping, out->tet_dampings);
  return true;
}

void yw_fem_tables_free(const yw_allocator* mem, fem_tables* t) {
  yw_mem_free(mem, t->gradients);
  yw_mem_free(mem, t->half_squares);
  yw_mem_free(mem, t->root_matrices);
  yw_mem_free(mem, t->finest_factors);
  yw_mem_free(mem, t->tet_matrices);
  yw_mem_free(mem, t->weights);
  yw_mem_free(mem, t->tet_dampings);
  yw_fem_softening_free(mem, &t->softening);
  *t = (fem_tables){0};
}
