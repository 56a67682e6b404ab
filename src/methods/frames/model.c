// SPDX-License-Identifier: MIT
// Creates and frees the rest data of a frames volume.
#include "methods/frames/model.h"

#include <math.h>
#include <string.h>

#include "geometry/order.h"
#include "math/small/trig.h"
#include "methods/frames/frames.h"
#include "methods/kit/solver_params.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

// Checks ------------------------------------------------------------------------------------------

yw_status yw_frames_params_check(const yw_frames_params* params, int32_t num_examples,
                                 yw_error* error) {
  if (params->solver < YW_FRAMES_IMPLICIT || params->solver > YW_FRAMES_ORIENTED) {
    return yw_fail(error, YW_ERR_INVALID, "solver is %d, which names none", (int)params->solver);
  }
  if (num_examples > 0 && params->solver >= YW_FRAMES_CLASSIC) {
    return yw_fail(error, YW_ERR_INVALID,
                   "the body has examples, but the %s solver knows the rest pose only: use another",
                   params->solver == YW_FRAMES_CLASSIC ? "classic" : "oriented");
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

// Order -------------------------------------------------------------------------------------------

// Data that only the build needs.
typedef struct frames_build {
  const yw_frames_def* def;
  frames_regions regions;  // particles are vertices of the mesh
  int32_t* region_of;      // new index -> region
  int32_t* vertex_of;      // new index -> vertex
} frames_build;

// Rings are in the order of their vertices, as particles.
static yw_status order_rings(const frames_model* model, frames_build* build, yw_error* error) {
  const frames_regions* regions = &build->regions;
  int32_t* first = YW_NEW_ARRAY(&model->mem, int32_t, (size_t)model->num_particles + 1);
  if (!first) return yw_fail_memory(error, "the order of a frames model");
  for (int32_t r = 0; r < model->num_regions; ++r) {
    first[regions->member[regions->start[r]] + 1] = r + 1;
  }
  for (int32_t p = 0, n = 0; p < model->num_particles; ++p) {
    int32_t v = build->vertex_of[p];
    for (int32_t r = first[v]; r < first[v + 1]; ++r) build->region_of[n++] = r;
  }
  yw_mem_free(&model->mem, first);
  return YW_OK;
}

static yw_status order_particles(frames_model* model, frames_build* build, yw_error* error) {
  yw_adjacency adjacency = {0};
  const yw_tet_mesh* mesh = build->def->mesh;
  model->solid.particle_of_vertex = YW_NEW_ARRAY(&model->mem, int32_t, model->num_particles);
  build->vertex_of = YW_NEW_ARRAY(&model->mem, int32_t, model->num_particles);
  build->region_of = YW_NEW_ARRAY(&model->mem, int32_t, model->num_regions);
  bool good = model->solid.particle_of_vertex && build->vertex_of && build->region_of &&
              yw_tet_adjacency(&model->mem, mesh, &adjacency) >= 0 &&
              yw_locality_order(&model->mem, &adjacency, mesh->positions,
                                model->solid.particle_of_vertex) >= 0;
  yw_adjacency_free(&adjacency);
  if (!good) return yw_fail_memory(error, "the order of a frames model");
  for (int32_t v = 0; v < model->num_particles; ++v) {
    build->vertex_of[model->solid.particle_of_vertex[v]] = v;
  }
  if (model->kind == YW_FRAMES_RINGS) return order_rings(model, build, error);
  // Cells are sorted along a curve of their own.
  yw_vec3* centers = YW_NEW_ARRAY(&model->mem, yw_vec3, model->num_regions);
  if (!centers) return yw_fail_memory(error, "the order of a frames model");
  for (int32_t r = 0; r < model->num_regions; ++r) {
    for (int32_t e = build->regions.start[r]; e < build->regions.start[r + 1]; ++e) {
      centers[r] = yw_mad(centers[r], 0.125f, mesh->positions[build->regions.member[e]]);
    }
  }
  double spacing = (double)yw_cbrtf((float)build->regions.volume[0]);
  yw_status status =
      yw_hilbert_order(&model->mem, model->num_regions, centers, spacing, build->region_of);
  yw_mem_free(&model->mem, centers);
  return status < 0 ? yw_fail_memory(error, "the order of a frames model") : YW_OK;
}

// Lists -------------------------------------------------------------------------------------------

static void fill_members(frames_model* model, const frames_build* build) {
  const frames_regions* regions = &build->regions;
  int32_t n = 0;
  for (int32_t r = 0; r < model->num_regions; ++r) {
    int32_t old = build->region_of[r];
    model->member_start[r] = n;
    for (int32_t e = regions->start[old]; e < regions->start[old + 1]; ++e) {
      const double* g = regions->entries[e].g;
      model->members[n++] = (frames_member){{(float)g[0], (float)g[1], (float)g[2]},
                                            model->solid.particle_of_vertex[regions->member[e]]};
    }
    model->member_start[r + 1] = n;
    frames_region_block* block = &model->blocks[r / YW_LANES];
    int32_t lane = r % YW_LANES;
    double volume = regions->volume[old];
    model->volume[r] = (float)volume;
    block->mu2[lane] = (float)(2.0 * regions->mu[old] * volume);
    block->lambda[lane] = (float)(regions->lambda[old] * volume);
    for (int i = 0; i < 6; ++i) block->n[i][lane] = (float)regions->n[old][i];
  }
}

// The same pairs from the particles' side, regions ascending.
static void fill_holders(frames_model* model, const frames_build* build) {
  const frames_regions* regions = &build->regions;
  int32_t* start = model->holder_start;
  for (int32_t r = 0; r < model->num_regions; ++r) {
    for (int32_t e = model->member_start[r]; e < model->member_start[r + 1]; ++e) {
      ++start[model->members[e].particle + 1];
    }
  }
  for (int32_t p = 0; p < model->num_particles; ++p) start[p + 1] += start[p];
  for (int32_t r = 0; r < model->num_regions; ++r) {
    int32_t old = build->region_of[r], first = regions->start[old];
    for (int32_t e = model->member_start[r]; e < model->member_start[r + 1]; ++e) {
      const frames_member* m = &model->members[e];
      int32_t at = start[m->particle]++;
      double k = regions->entries[first + e - model->member_start[r]].k;
      model->holders[at] = (frames_holder){{m->g[0], m->g[1], m->g[2]}, (float)k};
      model->holder_region[at] = r;
    }
  }
  for (int32_t p = model->num_particles; p > 0; --p) start[p] = start[p - 1];
  start[0] = 0;
}

// Two thirds shear, one third compression: roughly what resists a particle that moves alone.
static void fill_jacobi(frames_model* model) {
  for (int32_t p = 0; p < model->num_particles; ++p) {
    double sum = 0.0;
    for (int32_t e = model->holder_start[p]; e < model->holder_start[p + 1]; ++e) {
      const frames_holder* h = &model->holders[e];
      const frames_region_block* block = &model->blocks[model->holder_region[e] / YW_LANES];
      int32_t lane = model->holder_region[e] % YW_LANES;
      double g2 = (double)h->g[0] * (double)h->g[0] + (double)h->g[1] * (double)h->g[1] +
                  (double)h->g[2] * (double)h->g[2];
      double stiff = (double)block->mu2[lane] * (2.0 / 3.0) + (double)block->lambda[lane] / 3.0;
      sum += stiff * g2 + (double)h->k;
    }
    model->jacobi[p] = (float)sum;
  }
}

static yw_status fill_lists(frames_model* model, frames_build* build, yw_error* error) {
  const yw_allocator* mem = &model->mem;
  size_t n = (size_t)model->num_particles, r = (size_t)model->num_regions;
  size_t entries = (size_t)build->regions.start[model->num_regions];
  model->blocks = YW_NEW_ARRAY(mem, frames_region_block, model->num_blocks);
  model->member_start = YW_NEW_ARRAY(mem, int32_t, r + 1);
  model->members = YW_NEW_ARRAY(mem, frames_member, entries);
  model->holder_start = YW_NEW_ARRAY(mem, int32_t, n + 1);
  model->holders = YW_NEW_ARRAY(mem, frames_holder, entries);
  model->holder_region = YW_NEW_ARRAY(mem, int32_t, entries);
  model->jacobi = YW_NEW_ARRAY(mem, float, n);
  model->solid.mass = YW_NEW_ARRAY(mem, float, n);
  model->volume = YW_NEW_ARRAY(mem, float, model->num_regions);
  model->solid.rest_positions = YW_NEW_ARRAY(mem, yw_vec3, n);
  if (!model->blocks || !model->member_start || !model->members || !model->holder_start ||
      !model->holders || !model->holder_region || !model->jacobi || !model->solid.mass ||
      !model->volume || !model->solid.rest_positions) {
    return yw_fail_memory(error, "a frames model");
  }
  yw_aabb box = yw_aabb_empty();
  for (int32_t p = 0; p < model->num_particles; ++p) {
    int32_t v = build->vertex_of[p];
    model->solid.rest_positions[p] = build->def->mesh->positions[v];
    model->solid.mass[p] = (float)build->regions.mass[v];
    model->total_mass += build->regions.mass[v];
    box = yw_aabb_grow(box, model->solid.rest_positions[p]);
  }
  model->size = 0.5 * (double)yw_distance(box.lower, box.upper);
  fill_members(model, build);
  fill_holders(model, build);
  fill_jacobi(model);
  return YW_OK;
}

// Modulus times volume of every particle, distributed by the regions that contain it.
static yw_status build_coarse(frames_model* model, const frames_regions* regions,
                              const yw_vec3* rest, yw_error* error) {
  double extent[3] = {0}, volume = 0.0,
         *stiffness = YW_NEW_ARRAY(&model->mem, double, model->num_particles);
  if (!stiffness) return yw_fail_memory(error, "a frames model");
  for (int32_t r = 0; r < regions->num_regions; ++r) {
    int32_t begin = regions->start[r], end = regions->start[r + 1];
    double modulus = 2.0 * regions->mu[r] + regions->lambda[r];
    volume += regions->volume[r];
    yw_vec3 reach = {0, 0, 0}, origin = rest[regions->member[begin]];
    for (int32_t e = begin; e < end; ++e) {
      yw_vec3 d = yw_sub(rest[regions->member[e]], origin);
      reach =
          yw_v3(fmaxf(reach.x, fabsf(d.x)), fmaxf(reach.y, fabsf(d.y)), fmaxf(reach.z, fabsf(d.z)));
    }
    extent[0] += (double)reach.x, extent[1] += (double)reach.y, extent[2] += (double)reach.z;
    for (int32_t e = begin; e < end; ++e) {
      stiffness[model->solid.particle_of_vertex[regions->member[e]]] +=
          modulus * regions->volume[r] / (end - begin);
    }
  }
  yw_status status =
      yw_frames_coarse_create(&model->mem, model->num_particles, model->solid.rest_positions,
                              stiffness, volume, extent, &model->coarse, error);
  yw_mem_free(&model->mem, stiffness);
  return status;
}

// All ---------------------------------------------------------------------------------------------

static uint64_t hash_model(const frames_model* model) {
  size_t n = (size_t)model->num_particles;
  uint64_t h = yw_hash_u64(YW_HASH_SEED, (uint64_t)n);
  h = yw_hash_u64(h, (uint64_t)model->num_examples << 32 | (uint64_t)model->kind);
  h = yw_solid_hash(&model->solid, model->num_particles, h);
  if (model->num_examples > 0) {
    h = yw_hash_bytes(
        h, model->examples,
        (size_t)model->num_blocks * (size_t)model->num_examples * sizeof *model->examples);
  }
  h = yw_solid_hash_strengths(model->num_examples, model->strengths, h);
  if (model->num_groups > 1) {
    h = yw_hash_bytes(h, model->group, (size_t)model->num_regions * sizeof *model->group);
  }
  return yw_hash_bytes(h, model->blocks, (size_t)model->num_blocks * sizeof *model->blocks);
}

static yw_status build_model(frames_model* model, frames_build* build, yw_error* error) {
  const yw_frames_def* def = build->def;
  yw_status status = yw_frames_regions_create(&model->mem, def, 0.0, &build->regions, error);
  if (status >= 0) status = yw_frames_params_check(&def->params, def->num_examples, error);
  if (status < 0) return status;
  model->kind = def->kind;
  model->params = def->params;
  model->num_particles = build->regions.num_particles;
  model->num_regions = build->regions.num_regions;
  model->spring_share = build->regions.share;
  model->num_blocks = (model->num_regions + YW_LANES - 1) / YW_LANES;
  model->particle_chunks = frames_num_chunks(model->num_particles);
  model->region_chunks = frames_num_chunks(model->num_regions);
  status = order_particles(model, build, error);
  if (status >= 0) status = fill_lists(model, build, error);
  if (status >= 0) {
    status = yw_frames_sweeps_create(&model->mem, &build->regions, def->mesh->positions,
                                     model->solid.particle_of_vertex, build->region_of,
                                     &model->sweeps, error);
  }
  if (status >= 0) {
    status = yw_frames_build_examples(model, def, &build->regions, build->region_of, error);
  }
  if (status >= 0) status = build_coarse(model, &build->regions, def->mesh->positions, error);
  if (status >= 0)
    status = yw_solid_add_tets(&model->solid, &model->mem, def->mesh, "a frames model", error);
  if (status >= 0) model->hash = hash_model(model);
  return status;
}

yw_status yw_frames_model_create(const yw_allocator* mem, const yw_frames_def* def, void** out,
                                 yw_error* error) {
  *out = NULL;
  yw_error_clear(error);
  frames_model* model = YW_NEW(mem, frames_model);
  if (!model) return yw_fail_memory(error, "a frames model");
  model->mem = yw_mem_or_default(mem);
  frames_build build = {.def = def};
  yw_status status = build_model(model, &build, error);
  yw_frames_regions_free(&build.regions);
  yw_mem_free(&model->mem, build.region_of);
  yw_mem_free(&model->mem, build.vertex_of);
  if (status < 0) {
    yw_frames_model_destroy(model);
  } else {
    *out = model;
  }
  return status;
}

void yw_frames_model_destroy(void* model_pointer) {
  frames_model* model = model_pointer;
  if (!model) return;
  yw_allocator mem = model->mem;
  void* const arrays[] = {model->blocks,        model->member_start, model->members,
                          model->holder_start,  model->volume,       model->holders,
                          model->holder_region, model->jacobi,       model->examples,
                          model->gram,          model->group,        model->sweep_place};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&mem, arrays[i]);
  yw_solid_free(&model->solid, &mem);
  yw_frames_coarse_free(&model->coarse);
  yw_frames_sweeps_free(&model->sweeps);
  yw_mem_free(&mem, model);
}
