// SPDX-License-Identifier: MIT
// Reads "fem" of models and bodies: material, layers, levels, rules of refinement; and makes the
// model.
#include <math.h>
#include <string.h>

#include "geometry/mesher.h"
#include "scene/loader.h"
#include "scene/records.h"
#include "yawara/fem.h"

#define MOST_YOUNGS 1e13
#define MOST_POISSON 0.4999
#define ROOT_CELLS 4.0f  // along the longest side of a shape, or more where it is thin
#define ROOT_DEPTH 2.0   // volume over area is a sixth of the width of a cube, half that of a plate
#define MOST_ROOT_CELLS 40.0f
#define MANY_STEPS 1e6  // per simulated second: worth a word
#define SHAPE_LEVELS 2  // of bodies made of a shape

// Tables ------------------------------------------------------------------------------------------

static const char* const samplings[] = {"embedded", "standalone", "average", NULL};
static const char* const refinements[] = {"jump", "range", "finest", "never", NULL};
static const char* const hangings[] = {"carried", "snap", NULL};
static const yw_fem_spec fem_defaults = {.youngs_modulus = 1e5f,
                                         .poissons_ratio = 0.3f,
                                         .max_level = 3,
                                         .sampling = YW_FEM_EMBEDDED,
                                         .params = {.tau = 0.01f,
                                                    .safety = 0.75f,
                                                    .mass_damping = 0.5f,
                                                    .strain_range = 0.02f,
                                                    .refine = YW_FEM_REFINE_JUMP,
                                                    .hanging = YW_FEM_HANGING_CARRIED,
                                                    .soften = true,
                                                    .creep = 10.0f,
                                                    .max_plastic = 1.0f,
                                                    .sleep_speed = 0.001f}};
#define PARAM(name, low, high) \
  { #name, YW_FIELD_NUMBER, offsetof(yw_fem_spec, params.name), (low), (high), false, NULL }
static const yw_field fem_fields[] = {
    YW_FIELD(yw_fem_spec, material, TEXT, 0, 0),
    YW_FIELD_ABOVE(yw_fem_spec, youngs_modulus, NUMBER, 0, MOST_YOUNGS),
    YW_FIELD(yw_fem_spec, poissons_ratio, NUMBER, 0, MOST_POISSON),
    YW_FIELD(yw_fem_spec, max_level, INTEGER, 0, 8),
    {"sampling", YW_FIELD_CHOICE, offsetof(yw_fem_spec, sampling), 0, 0, false, samplings},
    YW_FIELD(yw_fem_spec, fields, NODE, 0, 0),
    PARAM(tau, 1e-9, 1e3),
    PARAM(check_interval, 0, 1e3),
    PARAM(time_step, 0, 1e3),
    PARAM(safety, 0.1, 1),
    PARAM(mass_damping, 0, 1e6),
    PARAM(stiffness_damping, 0, 1e3),
    PARAM(strain_range, 1e-9, 1e3),
    {"min_level", YW_FIELD_INTEGER, offsetof(yw_fem_spec, params.min_level), 0, 8, false, NULL},
    {"refine", YW_FIELD_CHOICE, offsetof(yw_fem_spec, params.refine), 0, 0, false, refinements},
    {"hanging", YW_FIELD_CHOICE, offsetof(yw_fem_spec, params.hanging), 0, 0, false, hangings},
    {"soften", YW_FIELD_BOOL, offsetof(yw_fem_spec, params.soften), 0, 0, false, NULL},
    PARAM(yield, 0, 1e3),
    PARAM(creep, 0, 1e6),
    PARAM(max_plastic, 0, 1e3),
    PARAM(sleep_speed, 0, 1e3)};
const yw_record yw_record_fem = YW_RECORD("fem", fem_fields, fem_defaults);

const char* const yw_fem_model_keys[] = {
    "material", "youngs_modulus", "poissons_ratio", "max_level", "sampling", "fields", NULL};

// Reading -----------------------------------------------------------------------------------------

static bool check_levels(yw_loader* l, const yw_json* node, const yw_fem_spec* fem) {
  const yw_json* item = yw_json_get(node, "min_level");
  if (fem->params.min_level <= fem->max_level) return true;
  return yw_value_fail(&l->r, item ? item : node, "is %d, but \"max_level\" is %d",
                       (int)fem->params.min_level, (int)fem->max_level);
}

bool yw_load_fem(yw_loader* l, yw_model_spec* model) {
  const yw_json* node = model->keys.fem;
  yw_fem_spec* fem = &model->settings.fem;
  if (!yw_read_record(&l->r, node, &yw_record_fem, fem)) return false;
  if (model->num_poses > 0) {
    return yw_value_fail(&l->r, model->keys.examples, "is not for bodies of \"fem\"");
  }
  if (fem->material) {
    const yw_material* material = yw_find_scene_material(l, yw_json_get(node, "material"));
    if (!material) return false;
    if (!yw_json_get(node, "youngs_modulus")) fem->youngs_modulus = material->youngs_modulus;
    if (!yw_json_get(node, "poissons_ratio")) fem->poissons_ratio = material->poissons_ratio;
  }
  if (model->source == YW_SOURCE_SHAPE && !yw_json_get(node, "max_level")) {
    fem->max_level = SHAPE_LEVELS;
  }
  return check_levels(l, node, fem) && yw_load_stiffness_list(l, fem->fields, YW_LAYERS_OF_FEM,
                                                              &fem->num_fields, &fem->field_list);
}

// What the keys of a body say lies over the settings of its model.
bool yw_load_body_fem(yw_loader* l, const yw_json* node, yw_fem_spec* fem) {
  if (!node) return true;
  yw_fem_spec own;
  if (!yw_read_record(&l->r, node, &yw_record_fem, &own)) return false;
  for (int32_t i = 0; i < yw_record_fem.num_fields; i++) {
    const yw_field* field = &yw_record_fem.fields[i];
    if (field->offset < offsetof(yw_fem_spec, params) ||
        field->offset >= offsetof(yw_fem_spec, params) + sizeof fem->params ||
        !yw_json_get(node, field->name)) {
      continue;
    }
    // All of them are four bytes: numbers, integers and choices.
    memcpy((char*)fem + field->offset, (const char*)&own + field->offset, sizeof(float));
  }
  return true;
}

float yw_fem_root_size(const yw_shape* shape) {
  yw_aabb box;
  if (!yw_shape_bounds(shape, &box)) return 0;
  yw_vec3 side = yw_sub(box.upper, box.lower);
  float longest = fmaxf(side.x, fmaxf(side.y, side.z));
  yw_extent extent = yw_shape_extent(shape, box);
  double thick = ROOT_DEPTH * extent.volume / fmax(extent.area, 1e-30);
  return fmaxf(fminf(longest / ROOT_CELLS, (float)thick), longest / MOST_ROOT_CELLS);
}

// Building ----------------------------------------------------------------------------------------

static void layers_at(void* context, yw_vec3 p, int32_t label, yw_fem_material* material) {
  const yw_fem_spec* fem = context;
  for (int32_t i = 0; i < fem->num_fields; i++) {
    yw_stiffness_at(&fem->field_list[i], p, label, material);
  }
}

// A layer that reaches none of the coarse tets' corners, middles of edges and centres is a mistake,
// or smaller than anything that is drawn.
static bool check_reach(yw_loader* l, const yw_model_spec* model) {
  const yw_fem_spec* fem = &model->settings.fem;
  const yw_tet_mesh* tets = &model->tets;
  for (int32_t k = 0; k < fem->num_fields; k++) {
    const yw_stiffness_spec* layer = &fem->field_list[k];
    bool any = !layer->where && !layer->labels;
    for (int32_t t = 0; t < tets->num_tets && !any; t++) {
      const int32_t* v = tets->tets + 4 * (size_t)t;
      for (int32_t a = 0; a < 16 && !any; a++) {
        yw_vec3 p = tets->positions[v[a & 3]], q = tets->positions[v[a >> 2]];
        yw_vec3 middle = {0.5f * (p.x + q.x), 0.5f * (p.y + q.y), 0.5f * (p.z + q.z)};
        yw_fem_material scratch = {.youngs_modulus = 1, .density = 1};
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

// From here on the vertices of the model are those of its finest level: pins hold all of them.
static bool take_finest(yw_loader* l, yw_model_spec* model) {
  const yw_tet_mesh* finest = yw_model_tets(model->model);
  yw_tet_mesh copy;
  if (yw_tet_mesh_copy(finest, &l->scene->mem, &copy) < 0) return yw_memory_fail(&l->r);
  yw_tet_mesh_free(&model->tets);
  model->tets = copy;
  return true;
}

// Explicit steps: what is very stiff or damped would seem to stand still.
static void warn_of_short_steps(yw_loader* l, const yw_model_spec* model) {
  const yw_fem_params* params = &model->settings.fem.params;
  yw_fem_info info;
  if (yw_model_fem_info(model->model, &info) < 0) return;
  double step = (double)info.levels[params->min_level].time_step;
  double x = (double)params->stiffness_damping / step;
  step *= (double)params->safety / (sqrt(1.0 + x * x) + x);
  if (step * MANY_STEPS >= 1.0) return;
  yw_value_warn(
      &l->r, model->keys.fem,
      " needs %.1g or more inner steps for a second: longer than %.1g s they would not be "
      "stable. Stiff bodies are for \"frames\"; or take less stiffness, damping or levels",
      1.0 / step, step);
}

static bool create(yw_loader* l, yw_model_spec* model) {
  yw_fem_spec* fem = &model->settings.fem;
  yw_error deep = {0};
  yw_fem_def def = yw_default_fem_def();
  def.mesh = &model->tets;
  def.max_level = fem->max_level;
  def.youngs_modulus = fem->youngs_modulus;
  def.poissons_ratio = fem->poissons_ratio;
  def.density = model->keys.density;
  def.params = fem->params;
  def.sampling = (yw_fem_sampling)fem->sampling;
  def.material_at = fem->num_fields > 0 ? layers_at : NULL;
  def.material_context = fem;
  def.cache_folder = l->def->cache_folder;
  def.threads = l->def->threads;
  def.progress = l->def->progress;
  def.progress_context = l->def->progress_context;
  yw_status status = yw_model_create_fem(&l->scene->mem, &def, &model->model, &deep);
  const yw_json* node = status == YW_ERR_GEOMETRY ? model->source_node : model->keys.fem;
  if (status < 0) return yw_deep_fail(&l->r, node, &deep);
  if (status == YW_WARN_CACHE) yw_value_warn(&l->r, node, ": %s", deep.message);
  warn_of_short_steps(l, model);
  return true;
}

bool yw_build_fem(yw_loader* l, yw_model_spec* model) {
  const yw_fem_spec* fem = &model->settings.fem;
  bool done = yw_open_stiffness(l, fem->num_fields, fem->field_list) && check_reach(l, model) &&
              create(l, model);
  yw_close_stiffness(fem->num_fields, fem->field_list);
  return done && take_finest(l, model);
}
