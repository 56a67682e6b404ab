// SPDX-License-Identifier: MIT
// "match" in scene files: parameters, groups of regions; and the model.
#include "scene/method.h"
#include "yawara/extend/memory.h"
#include "yawara/match.h"

// Tables ------------------------------------------------------------------------------------------

static const char* const projections[] = {"exact", "paper", NULL};
static const char* const targets[] = {"free", "paper", NULL};
static const char* const regions[] = {"rings", "lattice", NULL};
enum { REGIONS_RINGS, REGIONS_LATTICE };

typedef struct match_settings {
  const yw_json* groups;
  yw_match_params params;  // bodies may change these
  int32_t regions, region_width;
  float youngs_modulus;

  yw_groups_spec parts;  // of groups
} match_settings;
static const match_settings match_defaults = {.params = {.beta = 0.95f,
                                                         .damping = YW_MATCH_DEFAULT,
                                                         .viscosity = YW_MATCH_DEFAULT,
                                                         .stiffness = 300},
                                              .region_width = 1};
static const yw_key_row match_rows[] = {
    YW_PARAM(match_settings, stiffness, NUMBER, 0, 1e9, "",
             "Young's modulus divided by density, gravity (9.81 m/s^2) and the diagonal of the "
             "body: a standing column becomes shorter by 1 / (2 stiffness), at any size, with any "
             "mesh and time step. About 5 is a jelly, 50 a soft toy."),
    YW_KEY_ABOVE(match_settings, youngs_modulus, NUMBER, 0, 1e15, "Pa",
                 "Instead of stiffness: Young's modulus, as in other methods. Thin parts, "
                 "one or two tets thick, bend as that material does (with stiffness they "
                 "are several times stiffer), and are softer when they are pulled."),
    YW_PARAM(match_settings, alpha, NUMBER, 0, 1, "",
             "Instead of stiffness, as in the papers: fraction of the way to the goal shape "
             "covered per substep."),
    YW_PARAM(match_settings, beta, NUMBER, 0, 1, "",
             "Attraction of the examples, from 0 (none) to 1 (the body may rest in one)."),
    YW_PARAM(match_settings, damping, NUMBER, 0, 1e6, "1/s",
             "Decay rate of non-rigid motion. If not given: 2 for a body of 1 m, and so that "
             "bodies of other sizes move alike; 2 with alpha."),
    YW_PARAM(
        match_settings, viscosity, NUMBER, 0, 1e3, "s",
        "Viscosity divided by stiffness. Fast vibrations decay before slow ones, and a "
        "dropped body does not bounce forever. 0: as in the papers. If not given: what damps a "
        "standing column by a tenth of the critical damping, or as much as is stable; 0.015 "
        "with alpha."),
    YW_PARAM_CHOICE(match_settings, projection, projections,
                    "How the example weights are kept convex: \"exact\" takes the nearest point of "
                    "the convex hull of the poses, \"paper\" is the papers' rule."),
    YW_PARAM_CHOICE(match_settings, target, targets,
                    "What regions of bodies with examples aim for: \"free\" exerts no torque on "
                    "them and keeps the spin of the body; \"paper\" is R S~ as printed, which does "
                    "not."),
    YW_MODEL_CHOICE(match_settings, regions, regions,
                    "What a region consists of: a vertex and all that share a tet with it "
                    "(\"rings\"), or that share a cell of a lattice with it (\"lattice\")."),
    YW_MODEL_FIELD(match_settings, region_width, INTEGER, 1, YW_MATCH_MAX_WIDTH, "",
                   "How many tets or cells a region reaches from its vertex. Wider regions cost "
                   "more, and with alpha they are stiffer."),
    YW_MODEL_NODE(
        match_settings, groups, "'global|'per_region|[integer]|[selector]|vertex_paint",
        "Parts that choose their example together: the whole body (\"global\", the "
        "default), every one-ring on its own (\"per_region\"), a label per vertex, "
        "painted, or shapes and painted surfaces with labels, in the model's rest pose: a vertex "
        "takes the label of the first one that contains it, else 0.")};
static const yw_record match_record =
    YW_RECORD("match", match_rows, match_defaults, "Example-based shape matching.",
              "not stiffness alpha; not youngs_modulus stiffness; not youngs_modulus alpha");

// Reading -----------------------------------------------------------------------------------------

static bool load(yw_loader* l, yw_model_spec* model) {
  match_settings* settings = model->settings;
  if (settings->regions == REGIONS_LATTICE && model->source != YW_SOURCE_LATTICE) {
    return yw_value_fail(&l->r, yw_json_get(model->keys.settings, "regions"),
                         "is \"lattice\", but the mesh is not a lattice");
  }
  return yw_needs_volume(l, model) &&
         yw_not_both(&l->r, model->settings_node, "stiffness", "alpha") &&
         yw_not_both(&l->r, model->settings_node, "youngs_modulus", "stiffness") &&
         yw_not_both(&l->r, model->settings_node, "youngs_modulus", "alpha") &&
         yw_load_groups(l, settings->groups, &settings->parts);
}

// A body that asks for a stiffness must not get the model's alpha; with a modulus, the model's mesh
// counts.
static bool check(yw_loader* l, const yw_json* node, const yw_model_spec* model,
                  const void* settings) {
  if (!yw_not_both(&l->r, node, "stiffness", "alpha")) return false;
  const yw_json* stiffness = yw_json_get(node, "stiffness");
  const yw_json* alpha = yw_json_get(node, "alpha");
  const match_settings* of_model = model->settings;
  if (((const match_settings*)settings)->youngs_modulus != of_model->youngs_modulus) {
    return yw_value_fail(&l->r, yw_json_get(node, "youngs_modulus"),
                         "belongs to the model, which has another one or none");
  }
  if ((stiffness || alpha) && ((const match_settings*)settings)->youngs_modulus > 0.0f) {
    return yw_value_fail(&l->r, stiffness ? stiffness : alpha,
                         "is given, but the model has \"youngs_modulus\": give the model "
                         "\"stiffness\" or \"alpha\"");
  }
  if (!stiffness || ((const match_settings*)settings)->params.alpha == 0.0f) return true;
  return yw_value_fail(&l->r, stiffness,
                       "is given, but the model has \"alpha\": give the body \"alpha\", or the "
                       "model \"stiffness\"");
}

// Building ----------------------------------------------------------------------------------------

static bool create_with(yw_loader* l, yw_model_spec* model, const int32_t* cells,
                        int32_t num_cells) {
  const match_settings* settings = model->settings;
  yw_error deep = {0};
  yw_match_def def = yw_default_match_def();
  def.mesh = &model->tets;
  def.density = yw_tet_density(model, model->keys.density);
  def.num_examples = model->num_poses;
  def.examples = (const yw_vec3* const*)model->examples;
  def.example_strengths = model->strengths;
  def.grouping = settings->parts.grouping;
  def.vertex_labels = model->labels;
  def.params = settings->params;
  def.cells = cells;
  def.num_cells = num_cells;
  def.region_width = settings->region_width;
  const yw_allocator* mem = &l->scene->mem;
  yw_status status =
      settings->youngs_modulus > 0.0f
          ? yw_model_create_match_modulus(mem, &def, settings->youngs_modulus, &model->model, &deep)
          : yw_model_create_match(mem, &def, &model->model, &deep);
  const yw_json* node = status == YW_ERR_GEOMETRY ? model->source_node : model->node;
  if (status < 0) return yw_deep_fail(&l->r, node, &deep);
  if (status == YW_WARN_REDUNDANT) yw_value_warn(&l->r, model->keys.examples, ": %s", deep.message);
  return true;
}

static bool create(yw_loader* l, yw_model_spec* model) {
  const match_settings* settings = model->settings;
  if (!yw_build_labels(l, &settings->parts, &model->tets, model->tets.positions,
                       model->tets.num_vertices, &model->labels)) {
    return false;
  }
  if (settings->regions == REGIONS_RINGS) return create_with(l, model, NULL, 0);
  const int32_t* n = model->lattice.cells;
  int32_t count = n[0] * n[1] * n[2];
  int32_t* cells = YW_NEW_ARRAY(&l->scene->mem, int32_t, 8 * (size_t)count);
  if (!cells) return yw_memory_fail(&l->r);
  yw_lattice_cells(n, cells);
  bool done = create_with(l, model, cells, count);
  yw_mem_free(&l->scene->mem, cells);
  return done;
}

static bool build(yw_loader* l, yw_model_spec* model) { return yw_build_volume(l, model, create); }

// With a Young's modulus, the model knows the stiffness.
static yw_status apply(yw_world* world, yw_body_id id, const void* settings) {
  const match_settings* s = settings;
  yw_match_params params = s->params, own;
  if (s->youngs_modulus > 0.0f && yw_body_match_params(world, id, &own) >= 0) {
    params.stiffness = own.stiffness;
  }
  return yw_body_set_match_params(world, id, &params);
}

// Tets of a shape: a thousand or two particles are quick and look smooth.
static const yw_size_wish tet_size = {.cells = 8.0, .across = 1.6, .max_tets = 8000.0};

const yw_scene_method yw_scene_match = {.name = "match",
                                        .record = &match_record,
                                        .tet_size = &tet_size,
                                        .has_poses = true,
                                        .load = load,
                                        .check = check,
                                        .build = build,
                                        .apply = apply};
