// SPDX-License-Identifier: MIT
// "fem" in scene files: material, layers, levels, rules of refinement; and the model.
#include <math.h>
#include <string.h>

#include "scene/method.h"
#include "yawara/fem.h"

#define MOST_YOUNGS 1e13
#define MOST_POISSON 0.4999
#define MANY_STEPS 1e5  // per simulated second: worth a warning
#define USUAL_LEVEL 2   // of a strained body
#define SHAPE_LEVELS 2  // for bodies made from a shape
// Of a mesh file: a second of motion takes no longer than this, s, at so many per tet and step.
#define MOST_SECONDS 20.0
#define TET_SECONDS 15e-9

// Coarsest tets of a shape: their subdivisions resolve what is thin.
static const yw_size_wish root_size = {
    .cells = 4.0, .across = 1.3, .max_tets = 3000.0, .families = true};

// Tables ------------------------------------------------------------------------------------------

static const char* const samplings[] = {"embedded", "standalone", "average", "settled", NULL};
static const char* const refinements[] = {"jump", "range", "finest", "never", NULL};
static const char* const hangings[] = {"carried", "snap", NULL};
static const char* const softenings[] = {"none", "finest", "material", NULL};

typedef struct fem_settings {
  // What the model is made of
  const char* material;
  float youngs_modulus, poissons_ratio;
  int32_t max_level, sampling;
  float range_error, range_stress, mass_scaling, strength, toughness;
  const yw_json* fields;
  yw_fem_params params;  // what bodies may change
  float density_factor;  // of layers, for volume that the tets miss

  int32_t num_fields;
  yw_stiffness_spec* field_list;
} fem_settings;
static const fem_settings fem_defaults = {.youngs_modulus = 1e5f,
                                          .poissons_ratio = 0.3f,
                                          .max_level = 3,
                                          .sampling = YW_FEM_EMBEDDED,
                                          .mass_scaling = 0.005f,
                                          .params = {.tau = 0.01f,
                                                     .safety = 0.75f,
                                                     .mass_damping = 0.5f,
                                                     .strain_range = 0.02f,
                                                     .refine = YW_FEM_REFINE_JUMP,
                                                     .hanging = YW_FEM_HANGING_CARRIED,
                                                     .soften = YW_FEM_SOFTEN_MATERIAL,
                                                     .creep = 10.0f,
                                                     .max_plastic = 1.0f,
                                                     .sleep_speed = 0.001f,
                                                     .stiffness_scale = 1.0f}};
static const yw_key_row fem_rows[] = {
    YW_MODEL_FIELD(fem_settings, material, TEXT, 0, 0, "",
                   "Name of a material (docs/materials.md), for Young's modulus, Poisson's ratio "
                   "and density; keys given beside it take precedence."),
    YW_MODEL_FIELD_ABOVE(fem_settings, youngs_modulus, NUMBER, 0, MOST_YOUNGS, "Pa",
                         "Young's modulus."),
    YW_MODEL_FIELD(fem_settings, poissons_ratio, NUMBER, 0, MOST_POISSON, "",
                   "Poisson's ratio, from 0 (cork) to below 0.5 (rubber)."),
    YW_MODEL_FIELD(fem_settings, max_level, INTEGER, 0, 8, "",
                   "Number of times that a tet can be subdivided; at 3, each tet of the mesh has "
                   "848 finest tets. Default for bodies made from a shape: 2; of a mesh file fewer "
                   "where a second of motion would take more than about half a minute."),
    YW_MODEL_CHOICE(fem_settings, sampling, samplings,
                    "How coarse tets get their stiffness from the finest tets inside: \"embedded\" "
                    "solves load cases on the whole body, \"standalone\" on each tet alone, as in "
                    "the paper, \"average\" takes the mean, \"settled\" strains each tet alone by "
                    "several amounts and fits lines to its stresses, as the paper prints it."),
    YW_MODEL_FIELD(fem_settings, range_error, NUMBER, 0, 1e6, "",
                   "Sampled stiffness of a coarse tet is valid for strains whose stress "
                   "deviates from it by less than this share (T1 of the paper); 0: its 0.01."),
    YW_MODEL_FIELD(fem_settings, range_stress, NUMBER, 0, 1e15, "Pa",
                   "The same as a stress (T2): one of the two suffices."),
    YW_MODEL_FIELD(fem_settings, mass_scaling, NUMBER, 0, 0.5, "",
                   "Share of the body's mass that may move to small tets, so that these do not "
                   "force short time steps upon the whole body. The mass of the body stays."),
    YW_MODEL_FIELD(fem_settings, strength, NUMBER, 0, 1e15, "Pa",
                   "Tension that opens a crack; 0: what \"toughness\" allows, or if that is 0 too, "
                   "the body never breaks. Bodies that break are not softened."),
    YW_MODEL_FIELD(
        fem_settings, toughness, NUMBER, 0, 1e12, "J/m^2",
        "Energy that a crack takes per area; 0 with a strength: none. Where tets are too "
        "large for both, cracks start at less tension, but take this energy."),
    YW_MODEL_NODE(
        fem_settings, fields, "[stiffness]",
        "Layers of different material in parts of the body; later layers cover earlier ones."),
    YW_PARAM(fem_settings, tau, NUMBER, 1e-9, 1e3, "",
             "Jump in strain from tet to tet that triggers refinement; with refine \"range\", "
             "difference between the strains of a tet and of its parts that keeps these."),
    YW_PARAM(fem_settings, check_interval, NUMBER, 0, 1e3, "s",
             "Time between checks of the strains; 0: 25 of the finest steps."),
    YW_PARAM(fem_settings, time_step, NUMBER, 0, 1e3, "s",
             "Inner time step; 0: chosen from the finest tets in use."),
    YW_PARAM(fem_settings, safety, NUMBER, 0.1, 1, "", "Fraction of the stable time step."),
    YW_PARAM(fem_settings, mass_damping, NUMBER, 0, 1e6, "1/s", "Decay rate of all motion."),
    YW_PARAM(fem_settings, stiffness_damping, NUMBER, 0, 1e3, "s",
             "Viscous stress per strain rate, divided by the stiffness."),
    YW_PARAM(fem_settings, strain_range, NUMBER, 1e-9, 1e3, "",
             "With refine \"range\": largest strain of a coarse tet."),
    YW_PARAM(fem_settings, min_level, INTEGER, 0, 8, "", "Minimum level of subdivision."),
    YW_PARAM_CHOICE(
        fem_settings, refine, refinements,
        "Where tets are refined: at jumps in strain (\"jump\"), where strain leaves a range, as in "
        "the paper (\"range\"), everywhere (\"finest\"), or nowhere (\"never\")."),
    YW_PARAM_CHOICE(fem_settings, hanging, hangings,
                    "How hanging nodes are kept on coarser tets: by sharing forces (\"carried\"), "
                    "or by snapping, as in the paper (\"snap\")."),
    YW_PARAM_CHOICE(fem_settings, soften, softenings,
                    "Linear tets are too stiff in bending (\"none\"). Softened, families of tets "
                    "bend like the material (\"material\"), or coarse ones like the linear tets "
                    "of the finest level (\"finest\"). No effect with the paper's rules "
                    "(\"range\", \"snap\")."),
    YW_PARAM(fem_settings, yield, NUMBER, 0, 1e3, "",
             "Elastic strain above which the material flows; 0: never."),
    YW_PARAM(fem_settings, creep, NUMBER, 0, 1e6, "1/s",
             "Rate at which strain above the yield strain becomes plastic."),
    YW_PARAM(fem_settings, max_plastic, NUMBER, 0, 1e3, "", "Maximum plastic strain."),
    YW_PARAM(fem_settings, sleep_speed, NUMBER, 0, 1e3, "m/s",
             "Speed below which a body falls asleep after half a second; 0: never."),
    YW_PARAM(fem_settings, stiffness_scale, NUMBER, 1e-6, 1e6, "",
             "Multiplies elastic and viscous stresses; a track may change it over time.")};
static const yw_record fem_record = YW_RECORD(
    "fem", fem_rows, fem_defaults,
    "Adaptive finite elements: tets of the mesh are subdivided where the strain varies.", "");

// Reading -----------------------------------------------------------------------------------------

static bool check(yw_loader* l, const yw_json* node, const yw_model_spec* model,
                  const void* settings) {
  const fem_settings *fem = settings, *of_model = model->settings;
  yw_fem_soften soften = fem->params.soften;
  if (soften != YW_FEM_SOFTEN_NONE && soften != of_model->params.soften) {
    return yw_value_fail(&l->r, yw_json_get(node, "soften"),
                         "is \"%s\", but that of the model is \"%s\": a body can only switch it "
                         "off (\"none\")",
                         softenings[soften], softenings[of_model->params.soften]);
  }
  int32_t max_level = of_model->max_level;
  const yw_json* item = yw_json_get(node, "min_level");
  if (fem->params.min_level <= max_level) return true;
  return yw_value_fail(&l->r, item ? item : model->settings_node, "is %d, but \"max_level\" is %d",
                       (int)fem->params.min_level, (int)max_level);
}

static bool load(yw_loader* l, yw_model_spec* model) {
  const yw_json* node = model->keys.settings;
  fem_settings* fem = model->settings;
  if (!yw_needs_volume(l, model)) return false;
  if (model->num_poses > 0) {
    return yw_value_fail(&l->r, model->keys.examples, "is not for bodies of \"fem\"");
  }
  if (!yw_take_material(l, node, &fem->youngs_modulus, &fem->poissons_ratio)) return false;
  if (model->source == YW_SOURCE_SHAPE && !yw_json_get(node, "max_level")) {
    fem->max_level = SHAPE_LEVELS;
  }
  return check(l, node, model, fem) &&
         yw_load_stiffness_list(l, fem->fields, yw_scene_fem.layer_keys, &fem->num_fields,
                                &fem->field_list);
}

// Building ----------------------------------------------------------------------------------------

static void layers_at(void* context, yw_vec3 p, int32_t label, yw_fem_material* material) {
  const fem_settings* fem = context;
  yw_point_material point = {.youngs_modulus = material->youngs_modulus,
                             .poissons_ratio = material->poissons_ratio,
                             .density = material->density / fem->density_factor,
                             .damping_time = material->damping_time,
                             .elasticity = material->elasticity};
  for (int32_t i = 0; i < fem->num_fields; i++) {
    yw_stiffness_at(&fem->field_list[i], p, label, &point);
  }
  *material = (yw_fem_material){.youngs_modulus = point.youngs_modulus,
                                .poissons_ratio = point.poissons_ratio,
                                .density = point.density * fem->density_factor,
                                .damping_time = point.damping_time,
                                .elasticity = point.elasticity};
}

// A layer that contains no corner or edge midpoint of the coarse tets is a mistake, or smaller than
// anything that is drawn.
static bool check_reach(yw_loader* l, const yw_model_spec* model) {
  const fem_settings* fem = model->settings;
  const yw_tet_mesh* tets = &model->tets;
  for (int32_t k = 0; k < fem->num_fields; k++) {
    const yw_stiffness_spec* layer = &fem->field_list[k];
    bool any = !layer->where && !layer->labels;
    for (int32_t t = 0; t < tets->num_tets && !any; t++) {
      const int32_t* v = tets->tets + 4 * (size_t)t;
      for (int32_t a = 0; a < 16 && !any; a++) {
        yw_vec3 p = tets->positions[v[a & 3]], q = tets->positions[v[a >> 2]];
        yw_vec3 middle = {0.5f * (p.x + q.x), 0.5f * (p.y + q.y), 0.5f * (p.z + q.z)};
        yw_point_material scratch = {.youngs_modulus = 1, .density = 1};
        any = yw_stiffness_at(layer, middle, tets->labels ? tets->labels[t] : 0, &scratch);
      }
    }
    if (!any) {
      return yw_value_fail(&l->r, fem->fields->items[k], "selects none of the %d tets",
                           (int)tets->num_tets);
    }
  }
  return true;
}

// From here on, the vertices of the model are those of its finest level: pins hold all of them.
static bool take_finest(yw_loader* l, yw_model_spec* model) {
  const yw_tet_mesh* finest = yw_model_tets(model->model);
  yw_tet_mesh copy;
  if (yw_tet_mesh_copy(finest, &l->scene->mem, &copy) < 0) return yw_memory_fail(&l->r);
  yw_tet_mesh_free(&model->tets);
  model->tets = copy;
  return true;
}

// Explicit steps: a very stiff or damped body would need so many that it seems to hang.
static void warn_of_short_steps(yw_loader* l, const yw_model_spec* model) {
  const yw_fem_params* params = &((const fem_settings*)model->settings)->params;
  yw_fem_info info;
  if (yw_model_fem_info(model->model, &info) < 0) return;
  // The finest level that strains of any size lead to.
  int32_t level = params->min_level, top = info.num_levels - 1;
  bool base = params->soften == YW_FEM_SOFTEN_MATERIAL && params->refine == YW_FEM_REFINE_JUMP;
  if (base && level < USUAL_LEVEL) level = USUAL_LEVEL < top ? USUAL_LEVEL : top;
  if (params->refine == YW_FEM_REFINE_FINEST) level = top;
  double step = (double)info.levels[level].time_step;
  double x = (double)params->stiffness_damping / step;
  step *= (double)params->safety / (sqrt(1.0 + x * x) + x);
  if (step * MANY_STEPS >= 1.0) return;
  yw_value_warn(
      &l->r, model->settings_node,
      " needs %.1g or more inner steps for a second: longer than %.1g s they would not be "
      "stable. Stiff bodies are for \"frames\"; or take less stiffness, damping or levels",
      1.0 / step, step);
}

// Levels of a model from a file, if they are not given: as many as its tets and steps allow.
static int32_t affordable_levels(const yw_allocator* mem, const yw_fem_def* def) {
  yw_fem_def probe = *def;
  probe.max_level = 1;
  probe.params.min_level = 0;
  probe.material_at = NULL;
  probe.cache_folder = NULL;
  yw_model* model = NULL;
  yw_fem_info info;
  if (yw_model_create_fem(mem, &probe, &model, NULL) < 0) return def->max_level;
  bool known = yw_model_fem_info(model, &info) >= 0;
  yw_model_release(model);
  int32_t level = def->max_level;
  while (known && level > def->params.min_level) {
    double tets = (double)info.levels[0].num_tets * (double)(1 << 3 * level);
    double step = 2.0 * (double)info.levels[1].time_step / (double)(1 << level);
    if (tets / step * TET_SECONDS <= MOST_SECONDS) break;
    --level;
  }
  return level;
}

static bool create(yw_loader* l, yw_model_spec* model) {
  fem_settings* fem = model->settings;
  yw_error deep = {0};
  yw_fem_def def = yw_default_fem_def();
  fem->density_factor = (float)yw_tet_fit_density(&model->fit);
  def.mesh = &model->tets;
  def.max_level = fem->max_level;
  def.youngs_modulus = fem->youngs_modulus;
  def.poissons_ratio = fem->poissons_ratio;
  def.density = yw_tet_density(model, model->keys.density);
  def.params = fem->params;
  def.sampling = (yw_fem_sampling)fem->sampling;
  def.range_error = fem->range_error;
  def.range_stress = fem->range_stress;
  def.mass_scaling = fem->mass_scaling;
  def.strength = fem->strength;
  def.toughness = fem->toughness;
  def.material_at = fem->num_fields > 0 ? layers_at : NULL;
  def.material_context = fem;
  def.cache_folder = l->def->cache_folder;
  def.threads = l->def->threads;
  def.progress = l->def->progress;
  def.progress_context = l->def->progress_context;
  bool of_file = model->shape && yw_find_shape_file(l, model->shape);
  if (of_file && !yw_json_get(model->settings_node, "max_level")) {
    fem->max_level = def.max_level = affordable_levels(&l->scene->mem, &def);
  }
  yw_status status = yw_model_create_fem(&l->scene->mem, &def, &model->model, &deep);
  const yw_json* node = status == YW_ERR_GEOMETRY ? model->source_node : model->settings_node;
  if (status < 0) return yw_deep_fail(&l->r, node, &deep);
  if (status == YW_WARN_CACHE) yw_value_warn(&l->r, node, ": %s", deep.message);
  warn_of_short_steps(l, model);
  return true;
}

static bool create_layered(yw_loader* l, yw_model_spec* model) {
  const fem_settings* fem = model->settings;
  bool done = yw_open_stiffness(l, &model->tets, fem->num_fields, fem->field_list) &&
              check_reach(l, model) && create(l, model);
  yw_close_stiffness(fem->num_fields, fem->field_list);
  return done;
}

static bool build(yw_loader* l, yw_model_spec* model) {
  if (!yw_build_volume(l, model, create_layered) || !take_finest(l, model)) return false;
  model->points = model->tets.positions;
  model->num_points = model->tets.num_vertices;
  return true;
}

static yw_status apply(yw_world* world, yw_body_id id, const void* settings) {
  return yw_body_set_fem_params(world, id, &((const fem_settings*)settings)->params);
}

const yw_scene_method yw_scene_fem = {.name = "fem",
                                      .record = &fem_record,
                                      .tet_size = &root_size,
                                      .surface_size = 1.0f / 6.0f,
                                      .has_poses = true,
                                      .material_name = yw_material_name,
                                      .layer_keys = YW_LAYER_POISSON | YW_LAYER_MATERIAL |
                                                    YW_LAYER_DENSITY | YW_LAYER_DAMPING |
                                                    YW_LAYER_ELASTIC | YW_LAYER_LABELS,
                                      .load = load,
                                      .density = yw_material_density,
                                      .check = check,
                                      .build = build,
                                      .apply = apply};
