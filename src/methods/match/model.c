// SPDX-License-Identifier: MIT
// Creates and frees the rest data of example-based shape matching.
#include "methods/match/model.h"

#include <math.h>
#include <string.h>

#include "methods/match/match.h"
#include "methods/match/response.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

// Checks ------------------------------------------------------------------------------------------

static bool is_given_or_default(float value) {
  return value == YW_MATCH_DEFAULT || (value >= 0.0f && isfinite(value));
}

yw_status yw_match_params_check(const yw_match_params* params, yw_error* error) {
  if (!(params->alpha >= 0.0f && params->alpha <= 1.0f)) {
    return yw_fail(error, YW_ERR_INVALID, "alpha is %g, but must be between 0 and 1",
                   (double)params->alpha);
  }
  if (!(params->beta >= 0.0f && params->beta <= 1.0f)) {
    return yw_fail(error, YW_ERR_INVALID, "beta is %g, but must be between 0 and 1",
                   (double)params->beta);
  }
  if (!(params->stiffness >= 0.0f && params->stiffness <= 1e9f)) {
    return yw_fail(error, YW_ERR_INVALID, "stiffness is %g, but must be between 0 and 1e9",
                   (double)params->stiffness);
  }
  if (params->target < YW_TARGET_FREE || params->target > YW_TARGET_PAPER) {
    return yw_fail(error, YW_ERR_INVALID, "target is %d, which names none", (int)params->target);
  }
  if (!is_given_or_default(params->viscosity)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "viscosity is %g s, but must be finite and at least 0, or YW_MATCH_DEFAULT",
                   (double)params->viscosity);
  }
  if (!is_given_or_default(params->damping)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "damping is %g, but must be finite and at least 0, or YW_MATCH_DEFAULT",
                   (double)params->damping);
  }
  if (params->projection != YW_PROJECTION_EXACT && params->projection != YW_PROJECTION_PAPER) {
    return yw_fail(error, YW_ERR_INVALID, "projection is %d, which names none",
                   (int)params->projection);
  }
  return YW_OK;
}

static yw_status check_regions(const yw_match_def* def, yw_error* error) {
  if (def->region_width < 0 || def->region_width > YW_MATCH_MAX_WIDTH) {
    return yw_fail(error, YW_ERR_INVALID, "region_width is %d, but must be between 1 and %d",
                   def->region_width, YW_MATCH_MAX_WIDTH);
  }
  if (!def->cells) return YW_OK;
  for (int64_t i = 0; i < 8 * (int64_t)def->num_cells; ++i) {
    if (def->cells[i] >= 0 && def->cells[i] < def->mesh->num_vertices) continue;
    return yw_fail(error, YW_ERR_INVALID, "cells[%lld] is vertex %d, but the mesh has %d",
                   (long long)i, def->cells[i], def->mesh->num_vertices);
  }
  return YW_OK;
}

static yw_status check_def(const yw_match_def* def, yw_error* error) {
  if (!def || !def->mesh) return yw_fail(error, YW_ERR_INVALID, "a match model needs a mesh");
  if (!(def->density > 0.0f && isfinite(def->density))) {
    return yw_fail(error, YW_ERR_INVALID, "density is %g, but must be finite and above 0",
                   (double)def->density);
  }
  yw_status status = yw_solid_check_examples(def->num_examples, def->examples, error);
  if (status < 0) return status;
  if (def->grouping != YW_GROUPS_GLOBAL && def->grouping != YW_GROUPS_LABELS &&
      def->grouping != YW_GROUPS_PER_REGION) {
    return yw_fail(error, YW_ERR_INVALID, "grouping is %d, which names none", (int)def->grouping);
  }
  if (def->grouping == YW_GROUPS_LABELS && !def->vertex_labels) {
    return yw_fail(error, YW_ERR_INVALID, "groups by label need vertex_labels");
  }
  status = yw_match_params_check(&def->params, error);
  if (status >= 0) status = check_regions(def, error);
  if (status < 0) return status;
  return yw_tet_mesh_check(def->mesh, error);
}

// Hash --------------------------------------------------------------------------------------------

// Data that follows from the mesh and the order is left out.
static uint64_t hash_model(const match_model* model) {
  size_t n = (size_t)model->num_particles, blocks = (size_t)model->num_blocks;
  uint64_t h = yw_hash_u64(YW_HASH_SEED, (uint64_t)n);
  h = yw_hash_u64(h, (uint64_t)model->num_examples << 32 | (uint64_t)model->grouping);
  h = yw_solid_hash(&model->solid, model->num_particles, h);
  if (model->examples) {
    h = yw_hash_bytes(h, model->examples,
                      blocks * (size_t)model->num_examples * sizeof *model->examples);
  }
  if (model->lane_share) {
    h = yw_hash_bytes(h, model->lane_share, blocks * YW_LANES * sizeof *model->lane_share);
  }
  return yw_solid_hash_strengths(model->num_examples, model->strengths, h);
}

// All ---------------------------------------------------------------------------------------------

static void free_build(const match_model* model, match_build* build) {
  yw_adjacency_free(&build->rings);
  yw_mem_free(&model->mem, build->group);
  yw_mem_free(&model->mem, build->vertex_of_particle);
  yw_mem_free(&model->mem, build->mass);
  yw_mem_free(&model->mem, build->regions);
}

// Who belongs to the region of each vertex: one-rings of tets, unless the definition says
// otherwise.
static yw_status list_regions(match_model* model, match_build* build, yw_error* error) {
  const yw_match_def* def = build->def;
  yw_status status;
  if (!def->cells && def->region_width <= 1) {
    status = yw_tet_adjacency(&model->mem, def->mesh, &build->rings);
  } else {
    const yw_elements elements = {.num_vertices = def->mesh->num_vertices,
                                  .num_elements = def->cells ? def->num_cells : def->mesh->num_tets,
                                  .corners = def->cells ? 8 : 4,
                                  .items = def->cells ? def->cells : def->mesh->tets};
    int32_t width = def->region_width > 1 ? def->region_width : 1;
    status = yw_reach_adjacency(&model->mem, &elements, width, &build->rings);
    model->own_regions = true;
  }
  if (status == YW_ERR_LIMIT)
    return yw_fail(error, status, "the regions of a match model are too large");
  if (status < 0) return yw_fail_memory(error, "the regions of a match model");
  for (int32_t v = 0; v < build->rings.count && def->cells; ++v) {
    if (build->rings.start[v + 1] > build->rings.start[v]) continue;
    return yw_fail(error, YW_ERR_INVALID, "vertex %d belongs to no cell", v);
  }
  return YW_OK;
}

// Regions that do not follow from the tets tell models apart.
static uint64_t hash_regions(const match_build* build, uint64_t h) {
  const yw_adjacency* rings = &build->rings;
  h = yw_hash_bytes(h, rings->start, ((size_t)rings->count + 1) * sizeof *rings->start);
  return yw_hash_bytes(h, rings->items, (size_t)rings->start[rings->count] * sizeof *rings->items);
}

// The modulus as a stiffness of this body; regions of thin parts pull less.
static yw_status take_modulus(match_model* model, const match_build* build, yw_error* error) {
  if (!(build->youngs_modulus > 0.0)) return YW_OK;
  double weight = (double)build->def->density * STANDARD_GRAVITY * model->size;
  model->params.alpha = 0.0f;
  model->params.stiffness = (float)(build->youngs_modulus / weight);
  model->hash = yw_hash_bytes(model->hash, &build->youngs_modulus, sizeof build->youngs_modulus);
  return yw_match_params_check(&model->params, error);
}

static yw_status build_model(match_model* model, match_build* build, yw_error* error) {
  yw_status listed = list_regions(model, build, error);
  if (listed < 0) return listed;
  yw_status status = yw_match_build_chunks(model, build, error);
  if (status >= 0) status = yw_match_build_moments(model, build, error);
  if (status >= 0) status = yw_match_build_grips(model, build, error);
  if (status >= 0)
    status =
        yw_solid_add_tets(&model->solid, &model->mem, build->def->mesh, "a match model", error);
  if (status >= 0) {
    status = yw_solid_take_strengths(model->num_examples, build->def->example_strengths,
                                     model->strengths, error);
  }
  if (status >= 0) status = yw_match_build_examples(model, build, error);
  if (status >= 0) model->hash = hash_model(model);
  if (status >= 0 && model->own_regions) model->hash = hash_regions(build, model->hash);
  if (status < 0) return status;
  yw_status taken = take_modulus(model, build, error);
  return taken < 0 ? taken : status;
}

yw_status yw_match_model_create(const yw_allocator* mem, const yw_match_def* def,
                                double youngs_modulus, void** out, yw_error* error) {
  *out = NULL;
  yw_error_clear(error);
  yw_status status = check_def(def, error);
  if (status < 0) return status;
  match_model* model = YW_NEW(mem, match_model);
  if (!model) return yw_fail_memory(error, "a match model");
  model->mem = yw_mem_or_default(mem);
  model->num_particles = def->mesh->num_vertices;
  model->num_examples = def->num_examples;
  model->grouping = def->num_examples > 0 ? def->grouping : YW_GROUPS_GLOBAL;
  model->params = def->params;

  match_build build = {.def = def, .youngs_modulus = youngs_modulus};
  status = build_model(model, &build, error);
  free_build(model, &build);
  if (status < 0) {
    yw_match_model_destroy(model);
  } else {
    *out = model;
  }
  return status;
}

void yw_match_model_destroy(void* model_pointer) {
  match_model* model = model_pointer;
  if (!model) return;
  yw_allocator mem = model->mem;
  void* const arrays[] = {model->chunks,   model->blocks,   model->regions,     model->particles,
                          model->rest,     model->row_mass, model->halo,        model->rings,
                          model->examples, model->duals,    model->share_group, model->lane_share,
                          model->gram,     model->moments};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&mem, arrays[i]);
  yw_solid_free(&model->solid, &mem);
  yw_mem_free(&mem, model);
}
