// SPDX-License-Identifier: MIT
// Shared parts of rod and sheet models: checks, arrays, colours, fingerprint.
#include <string.h>

#include "math/small/mat3d.h"
#include "methods/kit/solver_params.h"
#include "methods/slender/examples.h"
#include "methods/slender/slender.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

#define MAX_COLORS 64

bool yw_slender_allocate(slender_model* model, slender_kind kind, int32_t num_particles,
                         int32_t num_elements) {
  const yw_allocator* mem = &model->mem;
  size_t n = (size_t)num_particles, elements = (size_t)num_elements;
  bool is_rod = kind == SLENDER_ROD;
  model->kind = kind;
  model->num_particles = num_particles;
  model->num_elements = num_elements;
  model->corners = is_rod ? 2 : 3;
  model->rest = YW_NEW_ARRAY(mem, yw_vec3, n);
  model->mass = YW_NEW_ARRAY(mem, float, n);
  model->radius = YW_NEW_ARRAY(mem, float, n);
  model->stiffness = YW_NEW_ARRAY(mem, double, n);
  model->inertia = yw_mem_alloc(mem, n, sizeof *model->inertia);
  model->inverse = yw_mem_alloc(mem, n, sizeof *model->inverse);
  model->elements = YW_NEW_ARRAY(mem, int32_t, elements * (size_t)model->corners);
  model->color_elements = YW_NEW_ARRAY(mem, int32_t, elements);
  model->color_start = YW_NEW_ARRAY(mem, int32_t, MAX_COLORS + 1);
  if (is_rod) {
    model->pairs = YW_NEW_ARRAY(mem, rod_pair, elements);
    model->orientations = YW_NEW_ARRAY(mem, yw_quat, n);
  } else {
    model->triangles = YW_NEW_ARRAY(mem, sheet_triangle, elements);
  }
  return model->rest && model->mass && model->radius && model->stiffness && model->inertia &&
         model->inverse && model->elements && model->color_elements && model->color_start &&
         (is_rod ? model->pairs && model->orientations : model->triangles != NULL);
}

// Parameters --------------------------------------------------------------------------------------

yw_status yw_slender_params_check(const yw_slender_params* params, int32_t num_examples,
                                  yw_error* error) {
  if (params->solver < YW_SLENDER_IMPLICIT || params->solver > YW_SLENDER_CLASSIC) {
    return yw_fail(error, YW_ERR_INVALID, "solver is %d, which names none", (int)params->solver);
  }
  if (num_examples > 0 && params->solver >= YW_SLENDER_EXTENDED) {
    return yw_fail(error, YW_ERR_INVALID,
                   "the body has examples, but position-based solvers know the rest pose only: use "
                   "\"implicit\" or \"bdf2\"");
  }
  if (!(params->beta >= 0.0f && params->beta <= 1.0f)) {
    return yw_fail(error, YW_ERR_INVALID, "beta is %g, but must be between 0 and 1",
                   (double)params->beta);
  }
  return yw_solver_params_check(
      (yw_solver_params){params->damping, params->tolerance, params->substeps, params->sweeps,
                         params->stiffness, params->stiffness_scale},
      error);
}

// Elements of one colour share no particle; each takes the first free colour.
static yw_status color_elements(slender_model* model, yw_error* error) {
  uint64_t* used = YW_NEW_ARRAY(&model->mem, uint64_t, model->num_particles);
  uint8_t* color = YW_NEW_ARRAY(&model->mem, uint8_t, model->num_elements);
  yw_status status = used && color ? YW_OK : yw_fail_memory(error, "a rod or sheet");
  int32_t count[MAX_COLORS + 1] = {0};
  for (int32_t e = 0; e < model->num_elements && status >= 0; ++e) {
    const int32_t* p = model->elements + e * model->corners;
    uint64_t taken = 0;
    for (int32_t c = 0; c < model->corners; ++c) taken |= used[p[c]];
    if (!~taken) {
      status = yw_fail(error, YW_ERR_LIMIT, "more than %d triangles meet at vertex %d", MAX_COLORS,
                       p[0]);
      break;
    }
    color[e] = (uint8_t)__builtin_ctzll(~taken);
    for (int32_t c = 0; c < model->corners; ++c) used[p[c]] |= 1ull << color[e];
    ++count[color[e]];
    if (color[e] >= model->num_colors) model->num_colors = color[e] + 1;
  }
  for (int32_t k = 0; k < model->num_colors; ++k) {
    model->color_start[k + 1] = model->color_start[k] + count[k];
    count[k] = model->color_start[k];
  }
  for (int32_t e = 0; e < model->num_elements && status >= 0; ++e) {
    model->color_elements[count[color[e]]++] = e;
  }
  yw_mem_free(&model->mem, used);
  yw_mem_free(&model->mem, color);
  return status;
}

static uint64_t hash_model(const slender_model* model) {
  size_t n = (size_t)model->num_particles, elements = (size_t)model->num_elements;
  uint64_t h = yw_hash_u64(YW_HASH_SEED, (uint64_t)n << 32 | (uint64_t)model->kind);
  h = yw_hash_bytes(h, model->rest, n * sizeof *model->rest);
  h = yw_hash_bytes(h, model->mass, n * sizeof *model->mass);
  h = yw_hash_bytes(h, model->inertia, n * sizeof *model->inertia);
  h = yw_hash_bytes(h, model->elements, elements * (size_t)model->corners * sizeof(int32_t));
  // Hashes members one by one: structs have padding.
  for (size_t e = 0; e < elements; ++e) {
    if (model->kind == SLENDER_ROD) {
      const rod_pair* pair = &model->pairs[e];
      h = yw_hash_bytes(h, &pair->weight, sizeof pair->weight);
      h = yw_hash_bytes(h, pair->q, sizeof pair->q);
    } else {
      const sheet_triangle* t = &model->triangles[e];
      h = yw_hash_bytes(h, &t->mu, sizeof t->mu);
      h = yw_hash_bytes(h, &t->lambda, sizeof t->lambda);
      h = yw_hash_bytes(h, &t->bend_mu, sizeof t->bend_mu);
    }
  }
  return h;
}

yw_status yw_slender_finish(slender_model* model, yw_error* error) {
  for (int32_t p = 0; p < model->num_particles; ++p) {
    double det = yw_sym_invert(model->inertia[p], model->inverse[p]);
    if (!(model->mass[p] > 0.0f) || !isfinite(model->mass[p]) || !(det > 0.0) || !isfinite(det)) {
      return yw_fail(error, YW_ERR_INVALID,
                     "particle %d has a mass of %g kg, too little or too much to compute with", p,
                     (double)model->mass[p]);
    }
  }
  for (int32_t e = 0; e < model->num_elements; ++e) {
    for (int32_t c = 0; c < model->corners; ++c) {
      int32_t p = model->elements[e * model->corners + c];
      if (model->kind == SLENDER_ROD) {
        model->stiffness[p] += 0.5 * model->pairs[e].weight;
      } else {
        const sheet_triangle* t = &model->triangles[e];
        double g2 = t->g[c][0] * t->g[c][0] + t->g[c][1] * t->g[c][1];
        model->stiffness[p] += (2.0 * t->mu + t->lambda) * g2;
      }
    }
  }
  yw_status status = color_elements(model, error);
  if (status >= 0) model->hash = hash_model(model);
  return status;
}

void yw_slender_model_destroy(void* model_pointer) {
  slender_model* model = model_pointer;
  if (!model) return;
  yw_allocator mem = model->mem;
  void* const arrays[] = {model->stiffness,      model->pairs,      model->triangles,
                          model->rest,           model->mass,       model->inertia,
                          model->inverse,        model->radius,     model->elements,
                          model->color_elements, model->skin,       model->rides,
                          model->orientations,   model->color_start};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&mem, arrays[i]);
  yw_slender_examples_free(model);
  yw_tri_mesh_free(&model->surface);
  yw_mem_free(&mem, model);
}
