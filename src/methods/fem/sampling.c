// SPDX-License-Identifier: MIT
// Embedded sampling: load cases, sums up the tree, matrices of all coarse tets.
#include "methods/fem/sampling.h"

#include <stdatomic.h>

#include "geometry/mesh_faces.h"
#include "math/small/dense.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define PARENTS_PER_BLOCK 16
#define PAPERS_TOLERANCE 0.01
// Load cases that strain a coarse tet ten times more in one direction than in another say little
// about the latter.
#define MAX_CONDITION 10.0
// Weight of the strain between the corners in e_bar; see mean_gradient.
#define CORNER_SHARE 0.3

// Sums over the inside of a coarse tet.
typedef struct tet_sums {
  double volume;
  double softness;                  // V / trace of C
  double gradient[54];              // V H
  yw_sym6 energy, loss;             // V e^T C e, V e^T D e
  yw_sym6 stiffness, mean_damping;  // V C, V D
} tet_sums;

typedef struct sampler {
  yw_allocator mem;
  const fem_hierarchy* h;
  const yw_sym6 *elasticity, *damping;
  fem_sampling_def def;
  fem_samples* out;
  int32_t first_finest;
  double* gradients;      // 54 per finest tet: the load cases
  double* corners;        // 54 per parent: the same between its corners
  yw_mat6* load_inverse;  // per part: inverse of the applied stresses
  int32_t* part_of_root;
  int32_t num_parts;
  tet_sums* sums;  // per parent
  int32_t level;   // being processed
  atomic_bool failed;
} sampler;

static void say(const sampler* s, const char* what, double share) {
  if (s->def.progress) s->def.progress(s->def.progress_context, what, share);
}

void yw_fem_samples_free(fem_samples* samples) {
  yw_mem_free(&samples->mem, samples->elasticity);
  yw_mem_free(&samples->mem, samples->damping);
  yw_mem_free(&samples->mem, samples->range);
  yw_mem_free(&samples->mem, samples->how);
  *samples = (fem_samples){0};
}

// Elasticity and damping of a child of any level.
static const yw_sym6* elasticity_of(const sampler* s, int32_t tet) {
  return tet >= s->first_finest ? s->elasticity + (tet - s->first_finest)
                                : s->out->elasticity + tet;
}
static const yw_sym6* damping_of(const sampler* s, int32_t tet) {
  if (!s->damping) return NULL;
  return tet >= s->first_finest ? s->damping + (tet - s->first_finest) : s->out->damping + tet;
}

static yw_status check_matrices(const yw_sym6* matrices, int32_t count, const char* what,
                                bool may_vanish, yw_error* error) {
  for (int32_t t = 0; t < count; ++t) {
    yw_mat6 full = yw_sym6_full(matrices + t), lower;
    double size = 0.0;
    for (int k = 0; k < 36; ++k) size += fabs(full.m[k]);
    if (may_vanish && size == 0.0) continue;
    if (!isfinite(size) || !yw_dense_cholesky(6, full.m, lower.m)) {
      return yw_fail(error, YW_ERR_INVALID,
                     "the %s matrix of finest tet %d is not positive definite", what, (int)t);
    }
  }
  return YW_OK;
}

// Parts connected through faces -------------------------------------------------------------------

static int32_t top_of(int32_t* link, int32_t i) {
  while (link[i] != i) i = link[i] = link[link[i]];
  return i;
}

// Roots connected through faces, directly or indirectly, form a part: anything attached only by an
// edge or a corner could rotate freely.
static yw_status find_parts(sampler* s, yw_error* error) {
  const fem_hierarchy* h = s->h;
  int32_t roots = h->num_roots;
  const yw_tet_mesh mesh = {
      .num_vertices = h->node_level_start[1], .num_tets = roots, .tets = &h->nodes[0][0]};
  int32_t* partner = YW_NEW_ARRAY(&s->mem, int32_t, 4 * (size_t)roots);
  s->part_of_root = YW_NEW_ARRAY(&s->mem, int32_t, roots);
  int32_t* link = YW_NEW_ARRAY(&s->mem, int32_t, roots);
  yw_status status = YW_ERR_MEMORY;
  if (partner && s->part_of_root && link) {
    status = yw_tet_face_partners(&s->mem, &mesh, partner);
  }
  if (status == YW_OK) {
    for (int32_t r = 0; r < roots; ++r) link[r] = r;
    for (int32_t f = 0; f < 4 * roots; ++f) {
      if (partner[f] < 0) continue;
      int32_t a = top_of(link, f / 4), b = top_of(link, partner[f] / 4);
      if (a != b) link[a > b ? a : b] = a > b ? b : a;
    }
    for (int32_t r = 0; r < roots; ++r) {
      int32_t top = top_of(link, r);
      s->part_of_root[r] = top == r ? s->num_parts++ : s->part_of_root[top];
    }
  } else {
    yw_fail_memory(error, "the parts of a mesh");
  }
  yw_mem_free(&s->mem, partner);
  yw_mem_free(&s->mem, link);
  return status;
}

// Load cases --------------------------------------------------------------------------------------

// The finest tets of one part, with nodes renumbered.
typedef struct part_solid {
  yw_fem_solid solid;
  int32_t* tet;     // in the hierarchy's finest level
  int32_t* number;  // per node of the hierarchy: its number in the part, from 1; 0: not in it
  int32_t* nodes;
  yw_dvec3* positions;
  yw_sym6* elasticity;
} part_solid;

static void free_part(const sampler* s, part_solid* part) {
  yw_mem_free(&s->mem, part->tet);
  yw_mem_free(&s->mem, part->number);
  yw_mem_free(&s->mem, part->nodes);
  yw_mem_free(&s->mem, part->positions);
  yw_mem_free(&s->mem, part->elasticity);
}

static bool make_part(const sampler* s, int32_t number, part_solid* part) {
  const fem_hierarchy* h = s->h;
  int32_t finest = h->num_tets - s->first_finest, tets = 0, nodes = 0;
  *part = (part_solid){0};
  for (int32_t t = 0; t < finest; ++t) {
    tets += s->part_of_root[h->root[s->first_finest + t]] == number;
  }
  int32_t* renumber = part->number = YW_NEW_ARRAY(&s->mem, int32_t, h->num_nodes);
  part->tet = YW_NEW_ARRAY(&s->mem, int32_t, tets);
  part->nodes = YW_NEW_ARRAY(&s->mem, int32_t, 4 * (size_t)tets);
  part->positions = YW_NEW_ARRAY(&s->mem, yw_dvec3, h->num_nodes);
  part->elasticity = YW_NEW_ARRAY(&s->mem, yw_sym6, tets);
  bool good = renumber && part->tet && part->nodes && part->positions && part->elasticity;
  tets = 0;
  for (int32_t t = 0; good && t < finest; ++t) {
    if (s->part_of_root[h->root[s->first_finest + t]] != number) continue;
    for (int k = 0; k < 4; ++k) {
      int32_t node = h->nodes[s->first_finest + t][k];
      if (renumber[node] == 0) {
        part->positions[nodes] = h->rest[node];
        renumber[node] = ++nodes;
      }
      part->nodes[4 * (size_t)tets + (size_t)k] = renumber[node] - 1;
    }
    part->elasticity[tets] = s->elasticity[t];
    part->tet[tets++] = t;
  }
  part->solid = (yw_fem_solid){nodes, tets, part->positions, part->nodes, part->elasticity};
  return good;
}

// Mean elasticity matrix of a part. Its columns are the load cases: stresses that would give a body
// with this matrix unit strains.
static yw_sym6 mean_elasticity(const sampler* s, const part_solid* part) {
  yw_sym6 sum = {{0}};
  double volume = 0.0;
  for (int32_t t = 0; t < part->solid.num_tets; ++t) {
    double v = yw_fem_volume(s->h, s->first_finest + part->tet[t]);
    yw_sym6_add(&sum, v, part->elasticity + t);
    volume += v;
  }
  for (int k = 0; k < 21; ++k) sum.m[k] /= volume;
  return sum;
}

typedef struct gradient_work {
  const sampler* s;
  const part_solid* part;
  const double* displacements;
} gradient_work;

static void read_gradients(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const gradient_work* work = context;
  int32_t begin = block * 1024, end = begin + 1024;
  if (end > work->part->solid.num_tets) end = work->part->solid.num_tets;
  for (int32_t t = begin; t < end; ++t) {
    yw_fem_tet_gradients_of(&work->part->solid, work->displacements, t,
                            work->s->gradients + 54 * (size_t)work->part->tet[t]);
  }
}

// Gradients between the corners of the coarse tets of a part.
static void read_corners(sampler* s, const part_solid* part, int32_t number,
                         const double* displacements) {
  const fem_hierarchy* h = s->h;
  for (int32_t t = 0; t < h->num_parents; ++t) {
    if (s->part_of_root[h->root[t]] != number) continue;
    int32_t nodes[4];
    for (int k = 0; k < 4; ++k) nodes[k] = part->number[h->nodes[t][k]] - 1;
    yw_fem_solid one = part->solid;
    one.tets = nodes;
    yw_fem_tet_gradients_of(&one, displacements, 0, s->corners + 54 * (size_t)t);
  }
}

static yw_status solve_part(sampler* s, int32_t number, yw_error* error) {
  part_solid part;
  yw_fem_statics statics = {0};
  if (!make_part(s, number, &part)) {
    free_part(s, &part);
    return yw_fail_memory(error, "the load cases of sampling");
  }
  yw_sym6 mean = mean_elasticity(s, &part);
  yw_mat6 stress = yw_sym6_full(&mean);
  double* loads = YW_NEW_ARRAY(&s->mem, double, 18 * (size_t)part.solid.num_nodes);
  yw_status status = YW_OK;
  if (!loads) status = yw_fail_memory(error, "the load cases of sampling");
  if (status == YW_OK && !yw_mat6_inverse(&stress, &s->load_inverse[number])) {
    status = yw_fail(error, YW_ERR_INVALID, "the mean elasticity matrix is singular");
  }
  if (status == YW_OK) {
    status = yw_fem_statics_create(&s->mem, s->def.tasks, s->def.simd, &part.solid, NULL, &statics,
                                   error);
  }
  if (status == YW_OK) {
    yw_fem_uniform_stress(&part.solid, &stress, loads);
    status = yw_fem_statics_solve(&statics, s->def.tasks, 6, loads, loads, error);
  }
  if (status == YW_OK) {
    gradient_work work = {s, &part, loads};
    yw_tasks_run(s->def.tasks, (part.solid.num_tets + 1023) / 1024, read_gradients, &work);
    read_corners(s, &part, number, loads);
  }
  yw_fem_statics_free(&statics);
  yw_mem_free(&s->mem, loads);
  free_part(s, &part);
  return status;
}

// Sums up the tree --------------------------------------------------------------------------------

static double trace_of(const yw_sym6* c) {
  double sum = 0.0;
  for (int i = 0; i < 6; ++i) sum += yw_sym6_get(c, i, i);
  return sum;
}

static void add_finest(const sampler* s, int32_t tet, tet_sums* sums) {
  double volume = yw_fem_volume(s->h, tet);
  sums->volume += volume;
  sums->softness += volume / trace_of(elasticity_of(s, tet));
  yw_sym6_add(&sums->stiffness, volume, elasticity_of(s, tet));
  if (s->damping) yw_sym6_add(&sums->mean_damping, volume, damping_of(s, tet));
  if (!s->gradients) return;
  const double* gradient = s->gradients + 54 * (size_t)(tet - s->first_finest);
  yw_mat6 e = yw_strains_of_gradients(gradient);
  yw_sym6 energy = yw_sym6_congruent(elasticity_of(s, tet), &e);
  for (int k = 0; k < 54; ++k) sums->gradient[k] += volume * gradient[k];
  yw_sym6_add(&sums->energy, volume, &energy);
  if (s->damping) {
    yw_sym6 loss = yw_sym6_congruent(damping_of(s, tet), &e);
    yw_sym6_add(&sums->loss, volume, &loss);
  }
}

static void add_parent(const tet_sums* child, tet_sums* sums) {
  sums->volume += child->volume;
  sums->softness += child->softness;
  for (int k = 0; k < 54; ++k) sums->gradient[k] += child->gradient[k];
  yw_sym6_add(&sums->energy, 1.0, &child->energy);
  yw_sym6_add(&sums->stiffness, 1.0, &child->stiffness);
  yw_sym6_add(&sums->loss, 1.0, &child->loss);
  yw_sym6_add(&sums->mean_damping, 1.0, &child->mean_damping);
}

static void sum_children(const sampler* s, int32_t tet, tet_sums* sums) {
  *sums = (tet_sums){0};
  int32_t first = s->h->first_child[tet], count = yw_fem_children_of(s->h, tet);
  for (int32_t c = first; c < first + count; ++c) {
    if (c >= s->first_finest) {
      add_finest(s, c, sums);
    } else {
      add_parent(s->sums + c, sums);
    }
  }
}

// DIFFERS: a coarse tet measures its strain between its corners. That is noisy where the material
// is. The mean over its inside is not, but treats every tet in a stack of layers as if it had the
// layers to itself. CORNER_SHARE is tuned on random 100:1 mixtures and 10:1 layers: 0 makes layers
// half as thick as a tet 1.4 times too stiff across, 1 makes mixtures 1.1 times too stiff.
static void mean_gradient(const sampler* s, int32_t tet, double out[54]) {
  const tet_sums* sums = s->sums + tet;
  const double* corners = s->corners + 54 * (size_t)tet;
  for (int k = 0; k < 54; ++k) {
    out[k] = CORNER_SHARE * corners[k] + (1.0 - CORNER_SHARE) * sums->gradient[k] / sums->volume;
  }
}

// Ratio of the largest to the smallest strain that the load cases cause in the tet, measured with
// its own mean matrix C = L L^T: singular values of L^T e_bar (stress applied)^-1 L, all 1 in a
// homogeneous body.
static double condition_of(const sampler* s, int32_t tet, const tet_sums* sums,
                           const yw_mat6* e_bar) {
  yw_sym6 mean = {{0}};
  yw_sym6_add(&mean, 1.0 / sums->volume, &sums->stiffness);
  yw_mat6 full = yw_sym6_full(&mean), lower, upper, square;
  if (!yw_dense_cholesky(6, full.m, lower.m)) return INFINITY;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) upper.m[6 * i + j] = lower.m[6 * j + i];
  }
  yw_mat6 left = yw_mat6_multiply(&upper, e_bar);
  yw_mat6 right = yw_mat6_multiply(&s->load_inverse[s->part_of_root[s->h->root[tet]]], &lower);
  yw_mat6 m = yw_mat6_multiply(&left, &right);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      square.m[6 * i + j] = 0.0;
      for (int k = 0; k < 6; ++k) square.m[6 * i + j] += m.m[6 * k + i] * m.m[6 * k + j];
    }
  }
  double values[6];
  if (!yw_dense_eigen(6, square.m, values, NULL) || !(values[0] > 0.0)) return INFINITY;
  return sqrt(values[5] / values[0]);
}

// Finest tets below a coarse one; they are numbered consecutively.
static void finest_below(const fem_hierarchy* h, int32_t tet, int32_t* begin, int32_t* end) {
  int32_t first = tet, last = tet;
  while (h->first_child[first] >= 0) {
    first = h->first_child[first];
    last = h->first_child[last] + yw_fem_children_of(h, last) - 1;
  }
  *begin = first, *end = last + 1;
}

// Gradients of a finest tet per unit strain of the coarse tet, without the coarse tet's rotation.
static void relative_gradient(const double* gradient, const yw_mat6* inverse, const double turn[18],
                              double out[54]) {
  for (int m = 0; m < 6; ++m) {
    double* to = out + 9 * m;
    memset(to, 0, 9 * sizeof *to);
    for (int c = 0; c < 6; ++c) {
      for (int k = 0; k < 9; ++k) to[k] += gradient[9 * c + k] * inverse->m[6 * c + m];
    }
    const double* w = turn + 3 * m;
    to[5] -= w[0], to[7] += w[0];
    to[2] -= w[1], to[6] += w[1];
    to[1] -= w[2], to[3] += w[2];
  }
}

static void embedded_range(const sampler* s, int32_t tet, const yw_mat6* inverse) {
  const double none[18] = {0};
  double mean[54], whole[54], turn[18];
  mean_gradient(s, tet, mean);
  relative_gradient(mean, inverse, none, whole);
  for (int m = 0; m < 6; ++m) {
    const double* h = whole + 9 * m;
    turn[3 * m] = 0.5 * (h[5] - h[7]);
    turn[3 * m + 1] = 0.5 * (h[2] - h[6]);
    turn[3 * m + 2] = 0.5 * (h[1] - h[3]);
  }
  fem_range_sum range = {0};
  int32_t begin, end;
  finest_below(s->h, tet, &begin, &end);
  for (int32_t t = begin; t < end; ++t) {
    fem_piece piece = {.volume = yw_fem_volume(s->h, t), .elasticity = elasticity_of(s, t)};
    relative_gradient(s->gradients + 54 * (size_t)(t - s->first_finest), inverse, turn,
                      piece.gradient);
    yw_fem_range_add(&range, &piece);
  }
  if (s->def.sums) s->def.sums[tet] = range;
  s->out->range[tet] = yw_fem_range_find(&range, s->out->elasticity + tet, &s->def);
}

// One coarse tet ----------------------------------------------------------------------------------

static void get_family(const sampler* s, int32_t tet, fem_family* family) {
  const fem_hierarchy* h = s->h;
  fem_child_rule rules[FEM_FAMILY_CHILDREN];
  family->num_children = yw_fem_child_rules(h->type[tet], rules);
  family->num_nodes = yw_fem_num_family_nodes(h->type[tet]);
  for (int i = 0; i < family->num_nodes; ++i) family->x[i] = h->rest[h->family[tet][i]];
  for (int c = 0; c < family->num_children; ++c) {
    int32_t child = h->first_child[tet] + c;
    memcpy(family->local[c], rules[c].local, sizeof family->local[c]);
    family->volume[c] = yw_fem_volume(h, child);
    family->elasticity[c] = elasticity_of(s, child);
  }
}

// Samples the tet and its children alone.
static bool sample_family(const sampler* s, int32_t tet, bool free_midpoints) {
  fem_family family;
  double gradients[FEM_FAMILY_CHILDREN][54];
  get_family(s, tet, &family);
  if (!yw_fem_family_gradients(&family, free_midpoints, gradients)) return false;
  double volume = yw_fem_volume(s->h, tet);
  yw_sym6 elasticity = {{0}}, damping = {{0}};
  fem_range_sum range = {0};
  for (int c = 0; c < family.num_children; ++c) {
    yw_mat6 local = yw_strains_of_gradients(gradients[c]);
    yw_sym6 energy = yw_sym6_congruent(family.elasticity[c], &local);
    yw_sym6_add(&elasticity, family.volume[c] / volume, &energy);
    if (s->damping) {
      yw_sym6 loss = yw_sym6_congruent(damping_of(s, s->h->first_child[tet] + c), &local);
      yw_sym6_add(&damping, family.volume[c] / volume, &loss);
    }
    fem_piece piece = {.volume = family.volume[c], .elasticity = family.elasticity[c]};
    memcpy(piece.gradient, gradients[c], sizeof piece.gradient);
    yw_fem_range_add(&range, &piece);
  }
  s->out->elasticity[tet] = elasticity;
  if (s->damping) s->out->damping[tet] = damping;
  s->out->range[tet] = yw_fem_range_find(&range, &elasticity, &s->def);
  if (s->def.sums) s->def.sums[tet] = range;
  s->out->how[tet] = free_midpoints ? FEM_SAMPLED_STANDALONE : FEM_SAMPLED_LINEAR_FACES;
  return true;
}

// As the paper does it; what it does not say, damping, and families without a definite matrix, as
// above.
static bool sample_settled(const sampler* s, int32_t tet) {
  if (!sample_family(s, tet, true)) return false;
  fem_family family;
  yw_sym6 elasticity;
  fem_range range;
  get_family(s, tet, &family);
  if (!yw_fem_family_settled(&family, &s->def, &elasticity, &range)) return true;
  s->out->elasticity[tet] = elasticity;
  s->out->range[tet] = range;
  s->out->how[tet] = FEM_SAMPLED_SETTLED;
  return true;
}

static void sample_average(const sampler* s, int32_t tet) {
  const tet_sums* sums = s->sums + tet;
  for (int k = 0; k < 21; ++k) {
    s->out->elasticity[tet].m[k] = sums->stiffness.m[k] / sums->volume;
    if (s->damping) s->out->damping[tet].m[k] = sums->mean_damping.m[k] / sums->volume;
  }
  for (int m = 0; m < 6; ++m) {
    s->out->range[tet].low[m] = -INFINITY;
    s->out->range[tet].high[m] = INFINITY;
  }
  s->out->how[tet] = FEM_SAMPLED_AVERAGE;
}

// Every effective matrix lies between the harmonic and the arithmetic mean of what is inside.
// Values beyond these come from strain that varies because of the neighbours. In mixtures such
// noise averages out over the tets, and cutting it off would make them too soft; but a coarse tet
// of one material must keep that material's matrix. So with r, the harmonic over the arithmetic
// mean, eigenvalues relative to the arithmetic mean are kept within 1 +- 2 (1 - r).
static void clip_to_average(yw_sym6* a, const yw_sym6* sum, double volume, double r) {
  yw_sym6 average = {{0}};
  yw_sym6_add(&average, 1.0 / volume, sum);
  yw_mat6 full = yw_sym6_full(&average), lower, inverse, vectors, transposed;
  double values[6];
  if (!yw_dense_cholesky(6, full.m, lower.m) || !yw_mat6_inverse(&lower, &inverse)) return;
  for (int i = 0; i < 36; ++i) transposed.m[i] = inverse.m[6 * (i % 6) + i / 6];
  yw_sym6 relative = yw_sym6_congruent(a, &transposed);
  full = yw_sym6_full(&relative);
  if (!yw_dense_eigen(6, full.m, values, vectors.m)) return;
  const double least = 2.0 * r - 1.0, most = 3.0 - 2.0 * r;
  if (values[0] >= least && values[5] <= most) return;
  // Rows of `vectors` times L^T: a = sum of value * row^T row.
  for (int i = 0; i < 36; ++i) transposed.m[i] = lower.m[6 * (i % 6) + i / 6];
  yw_mat6 rows = yw_mat6_multiply(&vectors, &transposed);
  yw_sym6 cut = {{0}};
  for (int k = 0; k < 6; ++k) cut.m[yw_sym6_index(k, k)] = fmax(least, fmin(values[k], most));
  *a = yw_sym6_congruent(&cut, &rows);
}

static bool sample_embedded(const sampler* s, int32_t tet) {
  const tet_sums* sums = s->sums + tet;
  double mean[54];
  mean_gradient(s, tet, mean);
  yw_mat6 e_bar = yw_strains_of_gradients(mean), inverse;
  if (!(condition_of(s, tet, sums, &e_bar) <= MAX_CONDITION) ||
      !yw_mat6_inverse(&e_bar, &inverse)) {
    return sample_family(s, tet, false);
  }
  yw_sym6 energy = yw_sym6_congruent(&sums->energy, &inverse);
  yw_sym6 loss = yw_sym6_congruent(&sums->loss, &inverse);
  for (int k = 0; k < 21; ++k) {
    s->out->elasticity[tet].m[k] = energy.m[k] / sums->volume;
    if (s->damping) s->out->damping[tet].m[k] = loss.m[k] / sums->volume;
  }
  double r = sums->volume * sums->volume / (trace_of(&sums->stiffness) * sums->softness);
  r = fmin(r, 1.0);
  clip_to_average(s->out->elasticity + tet, &sums->stiffness, sums->volume, r);
  if (s->damping) clip_to_average(s->out->damping + tet, &sums->mean_damping, sums->volume, r);
  s->out->how[tet] = FEM_SAMPLED_EMBEDDED;
  embedded_range(s, tet, &inverse);
  return true;
}

static void sample_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  sampler* s = context;
  int32_t begin = s->h->level_start[s->level] + block * PARENTS_PER_BLOCK;
  int32_t end = begin + PARENTS_PER_BLOCK;
  if (end > s->h->level_start[s->level + 1]) end = s->h->level_start[s->level + 1];
  bool good = true;
  for (int32_t tet = begin; tet < end; ++tet) {
    bool alone = s->def.kind == YW_FEM_STANDALONE || s->def.kind == YW_FEM_SETTLED;
    if (!alone) sum_children(s, tet, s->sums + tet);
    if (s->def.kind == YW_FEM_STANDALONE) {
      good = sample_family(s, tet, true) && good;
    } else if (s->def.kind == YW_FEM_SETTLED) {
      good = sample_settled(s, tet) && good;
    } else if (s->def.kind == YW_FEM_AVERAGE) {
      sample_average(s, tet);
    } else {
      good = sample_embedded(s, tet) && good;
    }
  }
  // Failures are rare and all have the same message, so it does not matter which comes first.
  if (!good) atomic_store(&s->failed, true);
}

// -------------------------------------------------------------------------------------------------

static yw_status allocate(sampler* s, yw_error* error) {
  fem_samples* out = s->out;
  size_t finest = (size_t)(s->h->num_tets - s->first_finest);
  bool loaded = s->def.kind == YW_FEM_EMBEDDED;
  out->elasticity = YW_NEW_ARRAY(&s->mem, yw_sym6, out->count);
  out->range = YW_NEW_ARRAY(&s->mem, fem_range, out->count);
  out->how = YW_NEW_ARRAY(&s->mem, uint8_t, out->count);
  if (s->damping) out->damping = YW_NEW_ARRAY(&s->mem, yw_sym6, out->count);
  s->sums = YW_NEW_ARRAY(&s->mem, tet_sums, out->count);
  if (loaded) {
    s->gradients = YW_NEW_ARRAY(&s->mem, double, 54 * finest);
    s->corners = YW_NEW_ARRAY(&s->mem, double, 54 * (size_t)out->count);
    s->load_inverse = YW_NEW_ARRAY(&s->mem, yw_mat6, s->num_parts);
  }
  if (!out->elasticity || !out->range || !out->how || (s->damping && !out->damping) || !s->sums ||
      (loaded && (!s->gradients || !s->corners || !s->load_inverse))) {
    return yw_fail_memory(error, "sampled matrices");
  }
  return YW_OK;
}

static yw_status run_sampling(sampler* s, yw_error* error) {
  yw_status status = YW_OK;
  if (s->def.kind == YW_FEM_EMBEDDED) status = find_parts(s, error);
  if (status == YW_OK) status = allocate(s, error);
  if (s->def.kind == YW_FEM_EMBEDDED) {
    for (int32_t p = 0; p < s->num_parts && status == YW_OK; ++p) {
      say(s, "load cases", 0.8 * p / s->num_parts);
      status = solve_part(s, p, error);
    }
  }
  if (status != YW_OK) return status;
  for (s->level = s->h->max_level - 1; s->level >= 0; --s->level) {
    say(s, "matrices", 0.8 + 0.2 * (1.0 - (s->level + 1.0) / s->h->max_level));
    int32_t count = s->h->level_start[s->level + 1] - s->h->level_start[s->level];
    yw_tasks_run(s->def.tasks, (count + PARENTS_PER_BLOCK - 1) / PARENTS_PER_BLOCK, sample_block,
                 s);
  }
  if (s->failed) {
    return yw_fail(error, YW_ERR_DIVERGED,
                   "a coarse tet got a matrix that is not positive definite; is the contrast of "
                   "the stiffness above 1e12?");
  }
  say(s, "matrices", 1.0);
  return YW_OK;
}

yw_status yw_fem_sample(const yw_allocator* mem, const fem_hierarchy* hierarchy,
                        const yw_sym6* elasticity, const yw_sym6* damping,
                        const fem_sampling_def* def, fem_samples* out, yw_error* error) {
  *out = (fem_samples){.mem = yw_mem_or_default(mem), .count = hierarchy->num_parents};
  sampler s = {.mem = out->mem,
               .h = hierarchy,
               .elasticity = elasticity,
               .damping = damping,
               .def = *def,
               .out = out,
               .first_finest = hierarchy->level_start[hierarchy->max_level]};
  if (!(s.def.range_tolerance > 0.0)) s.def.range_tolerance = PAPERS_TOLERANCE;
  int32_t finest = hierarchy->num_tets - s.first_finest;
  yw_status status = check_matrices(elasticity, finest, "elasticity", false, error);
  if (status == YW_OK && damping) status = check_matrices(damping, finest, "damping", true, error);
  if (status == YW_OK && out->count > 0) status = run_sampling(&s, error);
  yw_mem_free(&s.mem, s.sums);
  yw_mem_free(&s.mem, s.gradients);
  yw_mem_free(&s.mem, s.corners);
  yw_mem_free(&s.mem, s.load_inverse);
  yw_mem_free(&s.mem, s.part_of_root);
  if (status != YW_OK) yw_fem_samples_free(out);
  return status;
}
