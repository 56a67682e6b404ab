// SPDX-License-Identifier: MIT
// "frames" in scene files: material, layers of stiffness, solver; and the model.
#include "scene/method.h"
#include "yawara/extend/vec.h"
#include "yawara/frames.h"

#define MOST_YOUNGS 1e13
#define MOST_POISSON 0.4999

// Tables ------------------------------------------------------------------------------------------

static const char* const kinds[] = {"rings", "cells", NULL};
static const char* const solvers[] = {"implicit", "bdf2", "extended", "classic", "oriented", NULL};

typedef struct frames_settings {
  // Properties of the model
  const char* material;
  float youngs_modulus, poissons_ratio;
  int32_t kind;
  const yw_json *fields, *groups;
  yw_frames_params params;  // bodies may change these

  yw_groups_spec parts;  // of groups

  int32_t num_fields;
  yw_stiffness_spec* field_list;
} frames_settings;
static const frames_settings frames_defaults = {.youngs_modulus = 1e5f,
                                                .poissons_ratio = 0.3f,
                                                .kind = YW_FRAMES_RINGS,
                                                .params = {.beta = 0.95f,
                                                           .tolerance = 1e-3f,
                                                           .substeps = 10,
                                                           .sweeps = 1,
                                                           .stiffness = 0.5f,
                                                           .stiffness_scale = 1.0f}};
static const yw_key_row frames_rows[] = {
    YW_MODEL_FIELD(frames_settings, material, TEXT, 0, 0, "",
                   "Name of a material (docs/materials.md), for Young's modulus, Poisson's ratio "
                   "and density; keys given beside it take precedence."),
    YW_MODEL_FIELD_ABOVE(frames_settings, youngs_modulus, NUMBER, 0, MOST_YOUNGS, "Pa",
                         "Young's modulus."),
    YW_MODEL_FIELD(frames_settings, poissons_ratio, NUMBER, 0, MOST_POISSON, "",
                   "Poisson's ratio, from 0 (cork) to below 0.5 (rubber)."),
    YW_MODEL_CHOICE(
        frames_settings, kind, kinds,
        "Regions: the tets around each vertex (\"rings\") or the cells of a lattice (\"cells\")."),
    YW_MODEL_NODE(
        frames_settings, fields, "[stiffness]",
        "Layers of different stiffness in parts of the body; later layers cover earlier ones."),
    YW_MODEL_NODE(
        frames_settings, groups, "'global|'per_region|[integer]|[selector]|vertex_paint",
        "Parts that choose their example together: the whole body (\"global\", the default), "
        "every region on its own (\"per_region\"), a label per vertex, painted, or shapes and "
        "painted surfaces with labels, in the model's rest pose: a vertex takes the label of the "
        "first one that contains it, else 0."),
    YW_PARAM_CHOICE(frames_settings, solver, solvers,
                    "Solver: \"implicit\" is accurate and damps fast vibrations; \"bdf2\" damps "
                    "them far less; \"extended\" is position-based in physical units; \"classic\" "
                    "is position-based with \"stiffness\", for comparison; \"oriented\" likewise "
                    "with particles that have orientations."),
    YW_PARAM(frames_settings, damping, NUMBER, 0, 1e6, "1/s",
             "Decay rate of non-rigid velocities; amplitudes decay at half this rate."),
    YW_PARAM(frames_settings, beta, NUMBER, 0, 1, "",
             "Fraction of the energy that depends on the examples."),
    YW_PARAM(frames_settings, tolerance, NUMBER, 1e-6, 0.5, "",
             "Relative tolerance of the implicit solvers."),
    YW_PARAM(frames_settings, substeps, INTEGER, 1, 1000, "",
             "Position-based solvers: steps per substep of the scene."),
    YW_PARAM(frames_settings, sweeps, INTEGER, 1, 1000, "",
             "Position-based solvers: sweeps per step."),
    YW_PARAM(frames_settings, stiffness, NUMBER, 0, 1, "",
             "With solver \"classic\": fraction of the way to the goal covered per sweep."),
    YW_PARAM(frames_settings, stiffness_scale, NUMBER, 1e-6, 1e6, "",
             "Multiplies Young's modulus; a track may change it over time.")};
static const yw_record frames_record =
    YW_RECORD("frames", frames_rows, frames_defaults,
              "Volumes with stiffness in pascals: shape matching with frames on springs.", "");

// Models and bodies -------------------------------------------------------------------------------

static bool check(yw_loader* l, const yw_json* node, const yw_model_spec* model,
                  const void* settings) {
  const frames_settings* frames = settings;
  if (frames->params.solver < YW_FRAMES_CLASSIC || model->num_poses == 0) return true;
  const yw_json* item = yw_json_get(node, "solver");
  return yw_value_fail(&l->r, item ? item : model->settings_node,
                       "is \"%s\", which knows the rest pose only, but there are examples",
                       solvers[frames->params.solver]);
}

static bool load(yw_loader* l, yw_model_spec* model) {
  const yw_json* node = model->keys.settings;
  frames_settings* frames = model->settings;
  if (!yw_needs_volume(l, model) ||
      !yw_take_material(l, node, &frames->youngs_modulus, &frames->poissons_ratio)) {
    return false;
  }
  if (frames->kind == YW_FRAMES_CELLS && model->source != YW_SOURCE_LATTICE) {
    return yw_value_fail(&l->r, yw_json_get(node, "kind"),
                         "is \"cells\", but the mesh is not a lattice");
  }
  return check(l, node, model, frames) && yw_load_groups(l, frames->groups, &frames->parts) &&
         yw_load_stiffness_list(l, frames->fields, yw_scene_frames.layer_keys, &frames->num_fields,
                                &frames->field_list);
}

// Building ----------------------------------------------------------------------------------------

#define CELL_CORNERS 8
// Where a cell's moduli are sampled, between its centre (0) and its corners (1): 2 x 2 x 2 points
// of Gauss, so that a border through the cell counts by the volume on either side.
#define CELL_SAMPLE 0.5773502692f

// Points at which layers are evaluated: the centre of a tet, or 8 points of a cell.
static void sample_points(const yw_tet_mesh* mesh, int32_t count, const int32_t* corners,
                          yw_vec3* out) {
  size_t of = corners ? CELL_CORNERS : 4;
  if (!corners) corners = mesh->tets;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t* corner = corners + of * (size_t)i;
    yw_vec3 center = {0, 0, 0};
    for (size_t k = 0; k < of; ++k) {
      center = yw_mad(center, 1.0f / (float)of, mesh->positions[corner[k]]);
    }
    for (size_t k = 0; k < of && of == CELL_CORNERS; ++k) {
      *out++ = yw_mad(center, CELL_SAMPLE, yw_sub(mesh->positions[corner[k]], center));
    }
    if (of != CELL_CORNERS) *out++ = center;
  }
}

// Young's moduli of the elements, then their Poisson's ratios; NULL without layers. corners: those
// of cells, or NULL for tets.
static bool make_moduli(yw_loader* l, const yw_model_spec* model, const int32_t* corners,
                        int32_t count, float** out) {
  const yw_allocator* mem = &l->scene->mem;
  const frames_settings* frames = model->settings;
  *out = NULL;
  if (frames->num_fields == 0) return true;
  int32_t of = corners ? CELL_CORNERS : 1;
  yw_vec3* points = YW_NEW_ARRAY(mem, yw_vec3, (size_t)of * (size_t)count);
  if (!points) return yw_memory_fail(&l->r);
  sample_points(&model->tets, count, corners, points);
  bool done =
      yw_make_moduli(l, &model->tets, frames->fields, frames->num_fields, frames->field_list,
                     frames->youngs_modulus, frames->poissons_ratio, points, of * count, out);
  yw_mem_free(mem, points);
  for (int32_t i = 0; done && of > 1 && i < 2 * count; ++i) {
    float sum = 0.0f;
    for (int32_t k = 0; k < of; ++k) sum += (*out)[of * i + k];
    (*out)[i] = sum / (float)of;
  }
  return done;
}

static bool create_with(yw_loader* l, yw_model_spec* model, yw_frames_def* def) {
  int32_t count = def->kind == YW_FRAMES_CELLS ? def->num_cells : def->mesh->num_tets;
  float* moduli = NULL;
  if (!make_moduli(l, model, def->cells, count, &moduli)) {
    yw_mem_free(&l->scene->mem, moduli);
    return false;
  }
  if (moduli) {
    def->element_youngs_modulus_field = moduli;
    def->element_poissons_ratio_field = moduli + count;
  }
  yw_error deep = {0};
  yw_status status = yw_model_create_frames(&l->scene->mem, def, &model->model, &deep);
  yw_mem_free(&l->scene->mem, moduli);
  const yw_json* node = status == YW_ERR_GEOMETRY ? model->source_node : model->settings_node;
  return status >= 0 || yw_deep_fail(&l->r, node, &deep);
}

static bool create(yw_loader* l, yw_model_spec* model) {
  const yw_allocator* mem = &l->scene->mem;
  const frames_settings* frames = model->settings;
  const int32_t* n = model->lattice.cells;
  yw_frames_def def = yw_default_frames_def();
  def.mesh = &model->tets;
  def.kind = (yw_frames_kind)frames->kind;
  def.density = yw_tet_density(model, model->keys.density);
  def.youngs_modulus = frames->youngs_modulus;
  def.poissons_ratio = frames->poissons_ratio;
  def.num_examples = model->num_poses;
  def.examples = (const yw_vec3* const*)model->examples;
  def.example_strengths = model->strengths;
  def.params = frames->params;
  def.grouping = frames->parts.grouping;
  if (!yw_build_labels(l, &frames->parts, &model->tets, model->tets.positions,
                       model->tets.num_vertices, &model->labels)) {
    return false;
  }
  def.vertex_labels = model->labels;
  if (def.kind != YW_FRAMES_CELLS) return create_with(l, model, &def);
  def.num_cells = n[0] * n[1] * n[2];
  int32_t* corners = YW_NEW_ARRAY(mem, int32_t, CELL_CORNERS * (size_t)def.num_cells);
  if (!corners) return yw_memory_fail(&l->r);
  yw_lattice_cells(n, corners);
  def.cells = corners;
  bool done = create_with(l, model, &def);
  yw_mem_free(mem, corners);
  return done;
}

static bool build(yw_loader* l, yw_model_spec* model) { return yw_build_volume(l, model, create); }

static yw_status apply(yw_world* world, yw_body_id id, const void* settings) {
  return yw_body_set_frames_params(world, id, &((const frames_settings*)settings)->params);
}

// Tets of a shape: a thousand or two particles are quick and look smooth.
static const yw_size_wish tet_size = {.cells = 8.0, .across = 1.6, .max_tets = 8000.0};

const yw_scene_method yw_scene_frames = {.name = "frames",
                                         .record = &frames_record,
                                         .tet_size = &tet_size,
                                         .has_poses = true,
                                         .material_name = yw_material_name,
                                         .layer_keys = YW_LAYER_POISSON | YW_LAYER_MATERIAL,
                                         .load = load,
                                         .density = yw_material_density,
                                         .check = check,
                                         .build = build,
                                         .apply = apply};
