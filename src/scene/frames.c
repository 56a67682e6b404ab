// SPDX-License-Identifier: MIT
// Reads "frames" of models and bodies: material, fields of stiffness, solver; and makes the model.
#include "yawara/frames.h"
#include "scene/loader.h"
#include "scene/records.h"

#define MOST_YOUNGS 1e13
#define MOST_POISSON 0.4999

// Tables ------------------------------------------------------------------------------------------

static const char* const kinds[] = {"rings", "cells", NULL};
static const char* const solvers[] = {"implicit", "bdf2", "extended", "classic", NULL};
static const yw_frames_spec frames_defaults = {.youngs_modulus = 1e5f,
                                               .poissons_ratio = 0.3f,
                                               .kind = YW_FRAMES_RINGS,
                                               .solver = YW_FRAMES_IMPLICIT,
                                               .substeps = 10,
                                               .sweeps = 1,
                                               .beta = 0.95f,
                                               .tolerance = 1e-3f,
                                               .stiffness = 0.5f};
static const yw_field frames_fields[] = {
    YW_FIELD(yw_frames_spec, material, TEXT, 0, 0),
    YW_FIELD_ABOVE(yw_frames_spec, youngs_modulus, NUMBER, 0, MOST_YOUNGS),
    YW_FIELD(yw_frames_spec, poissons_ratio, NUMBER, 0, MOST_POISSON),
    {"kind", YW_FIELD_CHOICE, offsetof(yw_frames_spec, kind), 0, 0, false, kinds},
    YW_FIELD(yw_frames_spec, fields, NODE, 0, 0),
    {"solver", YW_FIELD_CHOICE, offsetof(yw_frames_spec, solver), 0, 0, false, solvers},
    YW_FIELD(yw_frames_spec, damping, NUMBER, 0, 1e6),
    YW_FIELD(yw_frames_spec, beta, NUMBER, 0, 1),
    YW_FIELD(yw_frames_spec, tolerance, NUMBER, 1e-6, 0.5),
    YW_FIELD(yw_frames_spec, substeps, INTEGER, 1, 1000),
    YW_FIELD(yw_frames_spec, sweeps, INTEGER, 1, 1000),
    YW_FIELD(yw_frames_spec, stiffness, NUMBER, 0, 1)};
const yw_record yw_record_frames = YW_RECORD("frames", frames_fields, frames_defaults);

const char* const yw_frames_model_keys[] = {"material", "youngs_modulus", "poissons_ratio",
                                            "kind",     "fields",         NULL};

// Models and bodies -------------------------------------------------------------------------------

static bool check_solver(yw_loader* l, const yw_json* node, int32_t solver, int32_t num_poses) {
  if (solver != YW_FRAMES_CLASSIC || num_poses == 0) return true;
  const yw_json* item = yw_json_get(node, "solver");
  return yw_value_fail(&l->r, item ? item : node,
                       "is \"classic\", which knows the rest pose only, but there are examples");
}

bool yw_load_frames(yw_loader* l, yw_model_spec* model) {
  const yw_json* node = model->keys.frames;
  yw_frames_spec* frames = &model->settings.frames;
  if (!yw_read_record(&l->r, node, &yw_record_frames, frames)) return false;
  if (frames->material) {
    const yw_material* material = yw_find_scene_material(l, yw_json_get(node, "material"));
    if (!material) return false;
    if (!yw_json_get(node, "youngs_modulus")) frames->youngs_modulus = material->youngs_modulus;
    if (!yw_json_get(node, "poissons_ratio")) frames->poissons_ratio = material->poissons_ratio;
  }
  if (frames->kind == YW_FRAMES_CELLS && model->source != YW_SOURCE_LATTICE) {
    return yw_value_fail(&l->r, yw_json_get(node, "kind"),
                         "is \"cells\", but the mesh is not a lattice");
  }
  return check_solver(l, node, frames->solver, model->num_poses) &&
         yw_load_stiffness_list(l, frames->fields, YW_LAYERS_OF_FRAMES, &frames->num_fields,
                                &frames->field_list);
}

bool yw_load_body_frames(yw_loader* l, const yw_json* node, int32_t num_poses,
                         yw_frames_spec* frames) {
  if (!node) return true;
  yw_frames_spec own;
  if (!yw_read_record(&l->r, node, &yw_record_frames, &own) ||
      !check_solver(l, node, own.solver, num_poses)) {
    return false;
  }
  if (yw_json_get(node, "solver")) frames->solver = own.solver;
  if (yw_json_get(node, "damping")) frames->damping = own.damping;
  if (yw_json_get(node, "beta")) frames->beta = own.beta;
  if (yw_json_get(node, "tolerance")) frames->tolerance = own.tolerance;
  if (yw_json_get(node, "substeps")) frames->substeps = own.substeps;
  if (yw_json_get(node, "sweeps")) frames->sweeps = own.sweeps;
  if (yw_json_get(node, "stiffness")) frames->stiffness = own.stiffness;
  return true;
}

// Building ----------------------------------------------------------------------------------------

static bool create(yw_loader* l, yw_model_spec* model, yw_frames_def* def) {
  yw_error deep = {0};
  yw_status status = yw_model_create_frames(&l->scene->mem, def, &model->model, &deep);
  const yw_json* node = status == YW_ERR_GEOMETRY ? model->source_node : model->keys.frames;
  return status >= 0 || yw_deep_fail(&l->r, node, &deep);
}

bool yw_build_frames(yw_loader* l, yw_model_spec* model) {
  const yw_allocator* mem = &l->scene->mem;
  const yw_frames_spec* frames = &model->settings.frames;
  const int32_t* n = model->lattice.cells;
  int32_t count = model->tets.num_vertices;
  yw_frames_def def = yw_default_frames_def();
  def.mesh = &model->tets;
  def.kind = (yw_frames_kind)frames->kind;
  def.density = model->keys.density;
  def.youngs_modulus = frames->youngs_modulus;
  def.poissons_ratio = frames->poissons_ratio;
  def.num_examples = model->num_poses;
  def.examples = (const yw_vec3* const*)model->examples;
  def.params = yw_frames_params_of_spec(frames);
  bool cells = def.kind == YW_FRAMES_CELLS;
  def.num_cells = cells ? n[0] * n[1] * n[2] : 0;
  float* fields = NULL;
  int32_t* corners = cells ? YW_NEW_ARRAY(mem, int32_t, 8 * (size_t)def.num_cells) : NULL;
  bool done = !cells || corners || yw_memory_fail(&l->r);
  done = done && yw_make_moduli(l, frames->fields, frames->num_fields, frames->field_list,
                                frames->youngs_modulus, frames->poissons_ratio,
                                model->tets.positions, count, &fields);
  if (fields) {
    def.youngs_modulus_field = fields;
    def.poissons_ratio_field = fields + count;
  }
  if (done && cells) yw_lattice_cells(n, corners);
  def.cells = corners;
  done = done && create(l, model, &def);
  yw_mem_free(mem, fields);
  yw_mem_free(mem, corners);
  return done;
}
