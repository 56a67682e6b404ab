// SPDX-License-Identifier: MIT
// Building fem models: material of every tet of every level, surface.
#include "methods/fem/model.h"

#include <string.h>

#include "geometry/mesh_faces.h"
#include "methods/fem/element.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

// Checks ------------------------------------------------------------------------------------------

static bool in_range(float value, float low, float high) { return value >= low && value <= high; }

yw_status yw_fem_params_check(const yw_fem_params* p, int32_t max_level, yw_error* error) {
  const struct {
    const char* name;
    float value, low, high;
  } limits[] = {
      {"tau", p->tau, 1e-9f, 1e3f},
      {"check_interval", p->check_interval, 0.0f, 1e3f},
      {"time_step", p->time_step, 0.0f, 1e3f},
      {"safety", p->safety, 0.1f, 1.0f},
      {"mass_damping", p->mass_damping, 0.0f, 1e6f},
      {"stiffness_damping", p->stiffness_damping, 0.0f, 1e3f},
      {"strain_range", p->strain_range, 1e-9f, 1e3f},
      {"yield", p->yield, 0.0f, 1e3f},
      {"creep", p->creep, 0.0f, 1e6f},
      {"max_plastic", p->max_plastic, 0.0f, 1e3f},
      {"sleep_speed", p->sleep_speed, 0.0f, 1e3f},
      {"stiffness_scale", p->stiffness_scale, 1e-6f, 1e6f},
  };
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; ++i) {
    if (in_range(limits[i].value, limits[i].low, limits[i].high)) continue;
    return yw_fail(error, YW_ERR_INVALID, "fem: %s is %g, but must be between %g and %g",
                   limits[i].name, (double)limits[i].value, (double)limits[i].low,
                   (double)limits[i].high);
  }
  if (p->min_level < 0 || p->min_level > max_level) {
    return yw_fail(error, YW_ERR_INVALID, "fem: min_level is %d, but must be between 0 and %d",
                   p->min_level, max_level);
  }
  if ((unsigned)p->refine > YW_FEM_REFINE_NEVER || (unsigned)p->hanging > YW_FEM_HANGING_SNAP ||
      (unsigned)p->soften > YW_FEM_SOFTEN_MATERIAL) {
    return yw_fail(error, YW_ERR_INVALID,
                   "fem: unknown rule for refinement, hanging nodes or softening");
  }
  return YW_OK;
}

static yw_status check_constants(const yw_fem_def* def, yw_error* error) {
  if (!(def->youngs_modulus > 0.0f) || !isfinite(def->youngs_modulus)) {
    return yw_fail(error, YW_ERR_INVALID, "fem: youngs_modulus is %g Pa, but must be above 0",
                   (double)def->youngs_modulus);
  }
  if (!(def->poissons_ratio > -1.0f && def->poissons_ratio < 0.5f)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "fem: poissons_ratio is %g, but must be above -1 and below 0.5",
                   (double)def->poissons_ratio);
  }
  if (!(def->density > 0.0f) || !isfinite(def->density)) {
    return yw_fail(error, YW_ERR_INVALID, "fem: density is %g kg/m^3, but must be above 0",
                   (double)def->density);
  }
  if (!in_range(def->mass_scaling, 0.0f, 0.5f)) {
    return yw_fail(error, YW_ERR_INVALID, "fem: mass_scaling is %g, but must be between 0 and 0.5",
                   (double)def->mass_scaling);
  }
  if (!in_range(def->strength, 0.0f, 1e15f) || !in_range(def->toughness, 0.0f, 1e12f)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "fem: strength is %g Pa and toughness %g J/m^2, but they must be between 0 (it "
                   "never breaks) and 1e15 and 1e12",
                   (double)def->strength, (double)def->toughness);
  }
  if (!(def->range_error >= 0.0f && isfinite(def->range_error)) ||
      !(def->range_stress >= 0.0f && isfinite(def->range_stress))) {
    return yw_fail(error, YW_ERR_INVALID,
                   "fem: range_error is %g and range_stress %g Pa, but both must be 0 or more",
                   (double)def->range_error, (double)def->range_stress);
  }
  return YW_OK;
}

// Material ----------------------------------------------------------------------------------------

// Evaluates the material at the finest tets and samples it for the coarse ones.
static yw_status make_materials(fem_model* m, const yw_fem_def* def, yw_tasks* tasks,
                                yw_error* error) {
  const fem_material_def what = {.material = {.youngs_modulus = def->youngs_modulus,
                                              .poissons_ratio = def->poissons_ratio,
                                              .density = def->density,
                                              .damping_time = def->params.stiffness_damping},
                                 .at = def->material_at,
                                 .context = def->material_context,
                                 .labels = def->mesh->labels,
                                 .cache_folder = def->cache_folder,
                                 .sampling = {.kind = def->sampling,
                                              .range_tolerance = (double)def->range_error,
                                              .range_stress = (double)def->range_stress,
                                              .tasks = tasks,
                                              .progress = def->progress,
                                              .progress_context = def->progress_context}};
  yw_status status = yw_fem_materials_make(&m->mem, &m->h, &what, &m->material_data, error);
  m->materials = m->material_data.view;
  m->damping_time = m->material_data.longest_damping;
  m->params.stiffness_damping = m->materials.damping ? 0.0f : m->materials.damping_time;
  return status;
}

// Surface -----------------------------------------------------------------------------------------

// Bit mask of the faces of a parent that a local node lies on.
static uint8_t faces_at(int local) {
  if (local < 4) return (uint8_t)(15 & ~(1 << local));
  if (local == 10) return 0;
  const uint8_t* e = yw_fem_edges[local - 4];
  return (uint8_t)(15 & ~(1 << e[0]) & ~(1 << e[1]));
}

// A child's face is outside if it lies in an outside face of its parent.
static void inherit_faces(const fem_hierarchy* h, int32_t parent, uint8_t* faces) {
  fem_child_rule rules[FEM_FAMILY_CHILDREN];
  int count = yw_fem_child_rules(h->type[parent], rules);
  for (int c = 0; c < count; ++c) {
    uint8_t own = 0;
    for (int k = 0; k < 4; ++k) {
      uint8_t common = 15;
      for (int s = 0; s < 4; ++s) {
        if (s != k) common = (uint8_t)(common & faces_at(rules[c].local[s]));
      }
      if (common & faces[parent]) own = (uint8_t)(own | 1 << k);
    }
    faces[h->first_child[parent] + c] = own;
  }
}

static bool find_surface(fem_model* m, const yw_tet_mesh* mesh) {
  const fem_hierarchy* h = &m->h;
  int32_t* partner = YW_NEW_ARRAY(&m->mem, int32_t, 4 * (size_t)mesh->num_tets);
  bool good = partner && yw_tet_face_partners(&m->mem, mesh, partner) >= 0;
  for (int32_t f = 0; f < 4 * mesh->num_tets && good; ++f) {
    if (partner[f] < 0) m->surface_faces[f / 4] = (uint8_t)(m->surface_faces[f / 4] | 1 << (f % 4));
  }
  yw_mem_free(&m->mem, partner);
  if (!good) return false;
  for (int32_t t = 0; t < h->num_parents; ++t) inherit_faces(h, t, m->surface_faces);
  for (int32_t t = h->level_start[h->max_level]; t < h->num_tets; ++t) {
    for (int k = 0; k < 4; ++k) {
      for (int s = 0; s < 4 && (m->surface_faces[t] >> k & 1); ++s) {
        if (s != k) m->on_surface[h->nodes[t][s]] = true;
      }
    }
  }
  return true;
}

// The model ---------------------------------------------------------------------------------------

static uint64_t hash_model(const fem_model* m, const yw_tet_mesh* mesh) {
  uint64_t hash = yw_hash_u64(YW_HASH_SEED, (uint64_t)m->h.max_level);
  hash = yw_hash_bytes(hash, mesh->positions, sizeof(yw_vec3) * (size_t)mesh->num_vertices);
  hash = yw_hash_bytes(hash, mesh->tets, 4 * sizeof(int32_t) * (size_t)mesh->num_tets);
  hash = yw_hash_bytes(hash, m->materials.uniform_stiffness, sizeof m->materials.uniform_stiffness);
  hash = yw_hash_bytes(hash, m->fine_mass, sizeof(double) * (size_t)m->h.num_nodes);
  size_t floats = (size_t)m->h.num_tets * FEM_MATRIX;
  const fem_materials* c = &m->materials;
  if (c->stiffness) hash = yw_hash_bytes(hash, c->stiffness, floats * sizeof(float));
  if (c->damping) hash = yw_hash_bytes(hash, c->damping, floats * sizeof(float));
  return hash;
}

static bool make_fragile(fem_model* m, const yw_fem_def* def) {
  if (!(def->strength > 0.0f) && !(def->toughness > 0.0f)) return true;
  m->fragile = YW_NEW(&m->mem, fem_fragile);
  return m->fragile && yw_fem_fragile_create(&m->mem, &m->h, &m->materials, def->strength,
                                             def->toughness, m->fragile);
}

static yw_status build(fem_model* m, const yw_fem_def* def, yw_tasks* tasks, yw_error* error) {
  const yw_allocator* mem = &m->mem;
  yw_status status =
      yw_fem_hierarchy_create(mem, def->mesh, def->max_level, def->max_bytes, &m->h, error);
  if (status >= 0) status = make_materials(m, def, tasks, error);
  if (status < 0) return status;
  m->fine_mass = YW_NEW_ARRAY(mem, double, m->h.num_nodes);
  m->rest = YW_NEW_ARRAY(mem, yw_vec3, m->h.num_nodes);
  m->surface_faces = YW_NEW_ARRAY(mem, uint8_t, m->h.num_tets);
  m->on_surface = YW_NEW_ARRAY(mem, bool, m->h.num_nodes);
  if (!m->fine_mass || !m->rest || !m->surface_faces || !m->on_surface ||
      !yw_fem_tables_create(mem, &m->h, &m->materials, def->params.soften, &m->tables) ||
      !find_surface(m, def->mesh)) {
    return yw_fail_memory(error, "a fem model");
  }
  for (int32_t n = 0; n < m->h.num_nodes; ++n) m->rest[n] = yw_f3(m->h.rest[n]);
  if (!make_fragile(m, def) || !yw_fem_find_masses(m, (double)def->mass_scaling, tasks)) {
    return yw_fail_memory(error, "a fem model");
  }
  m->hash = hash_model(m, def->mesh);
  if (m->fragile) {
    m->hash = yw_hash_bytes(m->hash, &def->strength, sizeof def->strength);
    m->hash = yw_hash_bytes(m->hash, &def->toughness, sizeof def->toughness);
  }
  const fem_range* range = m->material_data.range;
  if (range && (def->range_error > 0.0f || def->range_stress > 0.0f)) {
    m->hash = yw_hash_bytes(m->hash, range, sizeof *range * (size_t)m->h.num_parents);
  }
  return status;
}

yw_status yw_fem_model_create(const yw_allocator* mem, const yw_fem_def* def, void** out,
                              yw_error* error) {
  *out = NULL;
  yw_status status = check_constants(def, error);
  if (status >= 0) status = yw_fem_params_check(&def->params, def->max_level, error);
  if (status < 0) return status;
  fem_model* m = YW_NEW(mem, fem_model);
  if (!m) return yw_fail_memory(error, "a fem model");
  m->mem = yw_mem_or_default(mem);
  m->params = def->params;
  yw_tasks* tasks = def->threads == 1 ? NULL : yw_tasks_create(&m->mem, def->threads);
  status = build(m, def, tasks, error);
  yw_tasks_destroy(tasks);
  if (status < 0) {
    yw_fem_model_destroy(m);
    return status;
  }
  *out = m;
  return status;
}

void yw_fem_model_destroy(void* model) {
  fem_model* m = model;
  if (!m) return;
  yw_allocator mem = m->mem;
  if (m->fragile) yw_fem_fragile_free(m->fragile);
  yw_mem_free(&mem, m->fragile);
  yw_fem_tables_free(&mem, &m->tables);
  yw_fem_hierarchy_free(&m->h);
  yw_fem_materials_free(&m->material_data);
  void* const arrays[] = {m->fine_mass, m->rest, m->surface_faces, m->on_surface};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&mem, arrays[i]);
  yw_mem_free(&mem, m);
}

void yw_fem_model_info(const void* model, yw_fem_info* out) {
  const fem_model* m = model;
  const fem_hierarchy* h = &m->h;
  *out = (yw_fem_info){.num_levels = h->max_level + 1,
                       .bytes = yw_fem_estimate(h->num_roots, h->max_level).bytes,
                       .varies = m->materials.stiffness != NULL,
                       .moved_mass = m->moved_mass,
                       .cached = m->material_data.cached};
  for (int32_t l = 0; l <= h->max_level; ++l) {
    const fem_level_moduli* moduli = &m->material_data.levels[l];
    out->levels[l] = (yw_fem_level){.num_tets = h->level_start[l + 1] - h->level_start[l],
                                    .num_nodes = h->node_level_start[l + 1],
                                    .youngs_min = (float)moduli->smallest,
                                    .youngs_mean = (float)moduli->mean,
                                    .youngs_max = (float)moduli->largest,
                                    .num_linear = moduli->fallen_back,
                                    .time_step = m->level_step[l]};
  }
}
