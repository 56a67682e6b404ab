// SPDX-License-Identifier: MIT
#include "methods/fem/make_materials.h"

#include <stdio.h>

#include "base/cache.h"
#include "math/small/dense.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define TETS_PER_BLOCK 512
// Increase when sampling results change, so that older cache files are ignored.
#define SAMPLING_VERSION 1u
#define MOST_POISSON 0.49991f

// Evaluation --------------------------------------------------------------------------------------

typedef struct evaluation {
  const fem_hierarchy* h;
  const fem_material_def* def;
  int32_t first, count;  // finest tets
  yw_sym6* elasticity;
  float *density, *damping_time;
  int32_t* bad;  // per block: first invalid tet, or -1
} evaluation;

static bool is_positive(float x) { return x > 0.0f && isfinite(x); }

static bool matrix_of(const yw_fem_material* m, yw_sym6* out) {
  yw_mat6 full, lower;
  if (!m->elasticity) {
    if (!is_positive(m->youngs_modulus)) return false;
    if (!(m->poissons_ratio > -1.0f && m->poissons_ratio <= MOST_POISSON)) return false;
    *out = yw_sym6_isotropic(m->youngs_modulus, m->poissons_ratio);
  } else {
    for (int k = 0; k < FEM_MATRIX; ++k) out->m[k] = m->elasticity[k];
  }
  full = yw_sym6_full(out);
  return yw_dense_cholesky(6, full.m, lower.m);
}

static yw_fem_material material_of(const evaluation* e, int32_t tet, yw_vec3* place) {
  yw_dvec3 centre = {0, 0, 0};
  for (int k = 0; k < 4; ++k) centre = yw_dmad(centre, 0.25, e->h->rest[e->h->nodes[tet][k]]);
  *place = yw_f3(centre);
  yw_fem_material material = e->def->material;
  int32_t label = e->def->labels ? e->def->labels[e->h->root[tet]] : 0;
  if (e->def->at) e->def->at(e->def->context, *place, label, &material);
  return material;
}

static void evaluate_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const evaluation* e = context;
  int32_t begin = block * TETS_PER_BLOCK, end = begin + TETS_PER_BLOCK;
  if (end > e->count) end = e->count;
  e->bad[block] = -1;
  for (int32_t t = begin; t < end && e->bad[block] < 0; ++t) {
    yw_vec3 place;
    yw_fem_material m = material_of(e, e->first + t, &place);
    bool good = matrix_of(&m, e->elasticity + t) && is_positive(m.density) &&
                m.damping_time >= 0.0f && isfinite(m.damping_time);
    e->density[t] = m.density;
    e->damping_time[t] = m.damping_time;
    if (!good) e->bad[block] = t;
  }
}

static yw_status say_bad_tet(const evaluation* e, int32_t t, yw_error* error) {
  yw_vec3 p;
  yw_fem_material m = material_of(e, e->first + t, &p);
  char place[100] = "";
  if (e->def->at) {
    snprintf(place, sizeof place, " at (%g, %g, %g)", (double)p.x, (double)p.y, (double)p.z);
  }
  if (!is_positive(m.density)) {
    return yw_fail(error, YW_ERR_INVALID, "the density%s is %g kg/m^3, but must be above 0", place,
                   (double)m.density);
  }
  if (!(m.damping_time >= 0.0f && isfinite(m.damping_time))) {
    return yw_fail(error, YW_ERR_INVALID, "the damping time%s is %g s, but must be 0 or above",
                   place, (double)m.damping_time);
  }
  if (m.elasticity) {
    return yw_fail(error, YW_ERR_INVALID,
                   "the elasticity matrix%s is not positive definite: some strain would have "
                   "negative energy",
                   place);
  }
  if (!is_positive(m.youngs_modulus)) {
    return yw_fail(error, YW_ERR_INVALID, "Young's modulus%s is %g Pa, but must be above 0", place,
                   (double)m.youngs_modulus);
  }
  return yw_fail(error, YW_ERR_INVALID,
                 "Poisson's ratio%s is %g, but must be above -1 and at most 0.4999", place,
                 (double)m.poissons_ratio);
}

static void free_evaluation(const yw_allocator* mem, evaluation* e) {
  yw_mem_free(mem, e->elasticity);
  yw_mem_free(mem, e->density);
  yw_mem_free(mem, e->damping_time);
  yw_mem_free(mem, e->bad);
}

static yw_status evaluate(const yw_allocator* mem, evaluation* e, yw_error* error) {
  int32_t blocks = (e->count + TETS_PER_BLOCK - 1) / TETS_PER_BLOCK;
  e->elasticity = YW_NEW_ARRAY(mem, yw_sym6, e->count);
  e->density = YW_NEW_ARRAY(mem, float, e->count);
  e->damping_time = YW_NEW_ARRAY(mem, float, e->count);
  e->bad = YW_NEW_ARRAY(mem, int32_t, blocks);
  if (!e->elasticity || !e->density || !e->damping_time || !e->bad) {
    return yw_fail_memory(error, "the material of a body");
  }
  yw_tasks_run(e->def->sampling.tasks, blocks, evaluate_block, e);
  for (int32_t b = 0; b < blocks; ++b) {
    if (e->bad[b] >= 0) return say_bad_tet(e, e->bad[b], error);
  }
  return YW_OK;
}

static bool all_equal(const float* values, int32_t count) {
  for (int32_t i = 1; i < count; ++i) {
    if (values[i] != values[0]) return false;
  }
  return true;
}

static bool same_matrices(const yw_sym6* c, int32_t count) {
  for (int32_t i = 1; i < count; ++i) {
    if (memcmp(c + i, c, sizeof *c) != 0) return false;
  }
  return true;
}

// The cache ---------------------------------------------------------------------------------------

static yw_cache_key key_of(const fem_hierarchy* h, const yw_sym6* elasticity,
                           const yw_sym6* damping, const fem_sampling_def* def) {
  yw_cache_key key = YW_CACHE_KEY_START;
  size_t finest = (size_t)(h->num_tets - h->level_start[h->max_level]);
  const uint32_t version[3] = {SAMPLING_VERSION, (uint32_t)def->kind, (uint32_t)h->max_level};
  yw_cache_key_add(&key, version, sizeof version);
  yw_cache_key_add(&key, &def->range_tolerance, sizeof def->range_tolerance);
  if (def->range_stress > 0.0) {
    yw_cache_key_add(&key, &def->range_stress, sizeof def->range_stress);
  }
  yw_cache_key_add(&key, h->nodes, (size_t)h->num_roots * sizeof *h->nodes);
  yw_cache_key_add(&key, h->rest, (size_t)h->node_level_start[1] * sizeof *h->rest);
  yw_cache_key_add(&key, elasticity, finest * sizeof *elasticity);
  if (damping) yw_cache_key_add(&key, damping, finest * sizeof *damping);
  return key;
}

static size_t bytes_of(const fem_samples* s) {
  size_t each = sizeof *s->elasticity + sizeof *s->range + sizeof *s->how;
  if (s->damping) each += sizeof *s->damping;
  return (size_t)s->count * each;
}

// Copies between the arrays and one block of bytes.
static void pack(fem_samples* s, char* bytes, bool unpack) {
  struct {
    void* data;
    size_t size;
  } parts[4] = {{s->elasticity, sizeof *s->elasticity},
                {s->damping, s->damping ? sizeof *s->damping : 0},
                {s->range, sizeof *s->range},
                {s->how, sizeof *s->how}};
  for (int i = 0; i < 4; ++i) {
    size_t size = parts[i].size * (size_t)s->count;
    if (size > 0) memcpy(unpack ? parts[i].data : bytes, unpack ? bytes : parts[i].data, size);
    bytes += size;
  }
}

// The checksum alone proves nothing: anyone can write a file with a valid one.
static bool samples_are_sane(const fem_samples* s) {
  for (int32_t t = 0; t < s->count; ++t) {
    yw_mat6 full = yw_sym6_full(s->elasticity + t), lower;
    if (!yw_dense_cholesky(6, full.m, lower.m) || s->how[t] > FEM_SAMPLED_SETTLED) return false;
    for (int k = 0; s->damping && k < FEM_MATRIX; ++k) {
      if (!isfinite(s->damping[t].m[k])) return false;
    }
    for (int m = 0; m < 6; ++m) {
      if (!(s->range[t].low[m] <= 0.0f && s->range[t].high[m] >= 0.0f)) return false;
    }
  }
  return true;
}

static bool allocate_samples(const yw_allocator* mem, int32_t count, bool damping,
                             fem_samples* out) {
  *out = (fem_samples){.mem = yw_mem_or_default(mem), .count = count};
  out->elasticity = YW_NEW_ARRAY(mem, yw_sym6, count);
  out->damping = damping ? YW_NEW_ARRAY(mem, yw_sym6, count) : NULL;
  out->range = YW_NEW_ARRAY(mem, fem_range, count);
  out->how = YW_NEW_ARRAY(mem, uint8_t, count);
  return out->elasticity && out->range && out->how && (!damping || out->damping);
}

static yw_cache_found load_samples(const yw_allocator* mem, const char* folder, yw_cache_key key,
                                   fem_samples* samples, yw_error* error) {
  size_t size = bytes_of(samples);
  char* bytes = YW_NEW_ARRAY(mem, char, size);
  if (!bytes) return YW_CACHE_MISSING;
  yw_cache_found found = yw_cache_load(folder, "fem", key, bytes, size, error);
  if (found == YW_CACHE_HIT) {
    pack(samples, bytes, true);
    if (!samples_are_sane(samples)) {
      yw_fail(error, YW_ERR_FORMAT, "%s: a cache holds matrices that cannot be; it is ignored",
              folder);
      found = YW_CACHE_BAD;
    }
  }
  yw_mem_free(mem, bytes);
  return found;
}

static yw_status store_samples(const yw_allocator* mem, const char* folder, yw_cache_key key,
                               fem_samples* samples, yw_error* error) {
  size_t size = bytes_of(samples);
  char* bytes = YW_NEW_ARRAY(mem, char, size);
  if (!bytes) return YW_OK;
  pack(samples, bytes, false);
  yw_status status = yw_cache_store(folder, "fem", key, bytes, size, error);
  yw_mem_free(mem, bytes);
  return status;
}

// Reads samples from the cache, or samples and stores them. Cache errors become warnings.
static yw_status get_samples(const yw_allocator* mem, const fem_hierarchy* h,
                             const yw_sym6* elasticity, const yw_sym6* damping,
                             const fem_material_def* def, fem_samples* out, bool* cached,
                             yw_error* error) {
  const char* folder = def->cache_folder;
  yw_cache_key key = {0};
  yw_status warning = YW_OK;
  if (folder) {
    key = key_of(h, elasticity, damping, &def->sampling);
    if (!allocate_samples(mem, h->num_parents, damping != NULL, out)) {
      yw_fem_samples_free(out);
      return yw_fail_memory(error, "sampled matrices");
    }
    yw_cache_found found = load_samples(mem, folder, key, out, error);
    *cached = found == YW_CACHE_HIT;
    if (*cached) return YW_OK;
    yw_fem_samples_free(out);
    if (found == YW_CACHE_BAD) warning = YW_WARN_CACHE;
  }
  yw_error deep = {0};
  yw_status status = yw_fem_sample(mem, h, elasticity, damping, &def->sampling, out, &deep);
  if (status < 0) return yw_fail(error, status, "%s", deep.message);
  if (folder && store_samples(mem, folder, key, out, &deep) < 0) {
    if (warning == YW_OK) yw_fail(error, YW_WARN_CACHE, "%s", deep.message);
    warning = YW_WARN_CACHE;
  }
  if (warning == YW_WARN_CACHE && error) error->status = warning;
  return warning;
}

// Results -----------------------------------------------------------------------------------------

void yw_fem_materials_free(fem_material_data* data) {
  yw_mem_free(&data->mem, data->stiffness);
  yw_mem_free(&data->mem, data->damping);
  yw_mem_free(&data->mem, data->density);
  yw_mem_free(&data->mem, data->range);
  *data = (fem_material_data){0};
}

static void round_matrix(const yw_sym6* from, float* to) {
  for (int k = 0; k < FEM_MATRIX; ++k) to[k] = (float)from->m[k];
}

// Coarse matrices first, in the numbering of the hierarchy.
static float* join_matrices(const yw_allocator* mem, const fem_hierarchy* h, const yw_sym6* coarse,
                            const yw_sym6* finest) {
  float* all = YW_NEW_ARRAY(mem, float, FEM_MATRIX*(size_t)h->num_tets);
  for (int32_t t = 0; all && t < h->num_tets; ++t) {
    const yw_sym6* from = t < h->num_parents ? coarse + t : finest + (t - h->num_parents);
    round_matrix(from, all + FEM_MATRIX * (size_t)t);
  }
  return all;
}

static void measure_levels(const fem_hierarchy* h, const fem_samples* samples,
                           const yw_sym6* finest, fem_material_data* out) {
  for (int32_t l = 0; l <= h->max_level; ++l) {
    fem_level_moduli m = {.smallest = INFINITY, .largest = 0.0};
    double volume = 0.0;
    for (int32_t t = h->level_start[l]; t < h->level_start[l + 1]; ++t) {
      const yw_sym6* c = t >= h->num_parents ? finest + (t - h->num_parents)
                         : samples           ? samples->elasticity + t
                                             : finest;
      double youngs = yw_fem_moduli(c).youngs, v = yw_fem_volume(h, t);
      m.smallest = fmin(m.smallest, youngs);
      m.largest = fmax(m.largest, youngs);
      m.mean += v * youngs;
      volume += v;
      m.fallen_back += samples && t < h->num_parents && samples->how[t] == FEM_SAMPLED_LINEAR_FACES;
    }
    m.mean /= volume;
    out->levels[l] = m;
  }
}

// Damping matrices of the finest tets, for a damping time that varies.
static yw_sym6* damping_matrices(const yw_allocator* mem, const evaluation* e) {
  yw_sym6* damping = YW_NEW_ARRAY(mem, yw_sym6, e->count);
  for (int32_t t = 0; damping && t < e->count; ++t) {
    yw_sym6_add(damping + t, e->damping_time[t], e->elasticity + t);
  }
  return damping;
}

static yw_status fill(const yw_allocator* mem, evaluation* e, fem_material_data* out,
                      yw_error* error) {
  const fem_hierarchy* h = e->h;
  fem_materials* view = &out->view;
  bool one_density = all_equal(e->density, e->count);
  bool one_time = all_equal(e->damping_time, e->count);
  bool one_matrix = same_matrices(e->elasticity, e->count);
  round_matrix(e->elasticity, view->uniform_stiffness);
  view->uniform_density = e->density[0];
  view->damping_time = e->damping_time[0];
  for (int32_t t = 0; t < e->count && !one_time; ++t) {
    out->longest_damping = fmaxf(out->longest_damping, e->damping_time[t]);
  }
  if (!one_density) view->density = out->density = e->density, e->density = NULL;

  // A single material is the same at every level, except with the paper's sampling.
  yw_fem_sampling kind = e->def->sampling.kind;
  bool standalone = (kind == YW_FEM_STANDALONE || kind == YW_FEM_SETTLED) && h->max_level > 0;
  if (one_matrix && one_time && !standalone) {
    measure_levels(h, NULL, e->elasticity, out);
    return YW_OK;
  }
  yw_sym6* damping = one_time ? NULL : damping_matrices(mem, e);
  fem_samples samples = {0};
  yw_status status = YW_OK;
  if (!one_time && !damping) {
    status = yw_fail_memory(error, "damping matrices");
  } else if (h->num_parents > 0) {
    status = get_samples(mem, h, e->elasticity, damping, e->def, &samples, &out->cached, error);
  }
  if (status >= 0) {
    view->stiffness = out->stiffness = join_matrices(mem, h, samples.elasticity, e->elasticity);
    if (damping) view->damping = out->damping = join_matrices(mem, h, samples.damping, damping);
    out->range = samples.range, samples.range = NULL;
    measure_levels(h, &samples, e->elasticity, out);
    if (!out->stiffness || (damping && !out->damping)) {
      status = yw_fail_memory(error, "the matrices of all levels");
    }
  }
  yw_fem_samples_free(&samples);
  yw_mem_free(mem, damping);
  return status;
}

yw_status yw_fem_materials_make(const yw_allocator* mem, const fem_hierarchy* hierarchy,
                                const fem_material_def* def, fem_material_data* out,
                                yw_error* error) {
  *out = (fem_material_data){.mem = yw_mem_or_default(mem)};
  int32_t first = hierarchy->level_start[hierarchy->max_level];
  evaluation e = {.h = hierarchy, .def = def, .first = first, .count = hierarchy->num_tets - first};
  yw_status status = evaluate(&out->mem, &e, error);
  if (status == YW_OK) status = fill(&out->mem, &e, out, error);
  free_evaluation(&out->mem, &e);
  if (status < 0) yw_fem_materials_free(out);
  return status;
}
