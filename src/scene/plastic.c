// SPDX-License-Identifier: MIT
// Reads "plastic" of models: material, how it yields, layers, spacing of the particles; and makes
// the particles and the model.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scene/loader.h"
#include "scene/records.h"
#include "yawara/extend/vec.h"
#include "yawara/fem.h"
#include "yawara/files.h"
#include "yawara/plastic.h"

#define FAR 1e6
#define MOST_YOUNGS 1e13
#define MOST_POISSON 0.4999
#define MOST_YIELD 1e12
// Without a spacing: longest side of the shape over this.
#define DEFAULT_CELLS 24.0f

// Tables ------------------------------------------------------------------------------------------

static const char* const flows[] = {"elastic", "box", "von_mises", NULL};
static const char* const variants[] = {"consistent", "paper", NULL};
enum { VARIANT_CONSISTENT, VARIANT_PAPER };
static const yw_plastic_spec plastic_defaults = {.youngs_modulus = 1e6f,
                                                 .poissons_ratio = 0.3f,
                                                 .flow = YW_FLOW_NONE,
                                                 .theta_c = 0.025f,
                                                 .theta_s = 0.0075f,
                                                 .yield_stress = 1e4f,
                                                 .tolerance = 1e-3f,
                                                 .max_iterations = 300,
                                                 .variant = VARIANT_CONSISTENT};
static const yw_field plastic_fields[] = {
    YW_FIELD_ABOVE(yw_plastic_spec, spacing, NUMBER, 0, FAR),
    YW_FIELD(yw_plastic_spec, material, TEXT, 0, 0),
    YW_FIELD_ABOVE(yw_plastic_spec, youngs_modulus, NUMBER, 0, MOST_YOUNGS),
    YW_FIELD(yw_plastic_spec, poissons_ratio, NUMBER, 0, MOST_POISSON),
    {"flow", YW_FIELD_CHOICE, offsetof(yw_plastic_spec, flow), 0, 0, false, flows},
    YW_FIELD(yw_plastic_spec, theta_c, NUMBER, 0, 0.999),
    YW_FIELD(yw_plastic_spec, theta_s, NUMBER, 0, 1e3),
    YW_FIELD(yw_plastic_spec, yield_stress, NUMBER, 0, MOST_YIELD),
    YW_FIELD(yw_plastic_spec, xi, NUMBER, 0, 1e4),
    YW_FIELD(yw_plastic_spec, eta, NUMBER, 0, 1),
    YW_FIELD(yw_plastic_spec, sheet, BOOL, 0, 0),
    YW_FIELD(yw_plastic_spec, fields, NODE, 0, 0),
    YW_FIELD(yw_plastic_spec, time_step, NUMBER, 0, 1),
    YW_FIELD(yw_plastic_spec, tolerance, NUMBER, 1e-6, 0.1),
    YW_FIELD(yw_plastic_spec, max_iterations, INTEGER, 1, 10000),
    YW_FIELD(yw_plastic_spec, sleep_speed, NUMBER, 0, 1e3),
    {"variant", YW_FIELD_CHOICE, offsetof(yw_plastic_spec, variant), 0, 0, false, variants},
    YW_FIELD(yw_plastic_spec, without_slaves, BOOL, 0, 0)};
const yw_record yw_record_plastic = YW_RECORD("plastic", plastic_fields, plastic_defaults);

// Materials ---------------------------------------------------------------------------------------

// The names of presets, then those of elastic materials.
static const char* material_name(int32_t i) {
  int32_t presets = yw_num_plastic_presets();
  return i < presets ? yw_plastic_preset_at(i)->name : yw_material_at(i - presets)->name;
}

bool yw_find_plastic_material(yw_loader* l, const yw_json* node, yw_plastic_material* out) {
  const yw_plastic_preset* preset = yw_plastic_preset_by_name(node->string);
  const yw_material* elastic = yw_material_by_name(node->string);
  *out = preset ? preset->material : yw_default_plastic_material();
  if (preset) return true;
  if (elastic) {
    out->youngs_modulus = elastic->youngs_modulus;
    out->poissons_ratio = elastic->poissons_ratio;
    out->density = elastic->density;
    return true;
  }
  const char* names[64];
  char known[500] = " (known: ";
  int32_t count = yw_num_plastic_presets() + yw_num_materials();
  if (count > 64) count = 64;
  for (int32_t i = 0; i < count; i++) {
    names[i] = material_name(i);
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", names[i], i + 1 == count ? ")" : ", ");
  }
  yw_hint hint = yw_suggest(node->string, count, names);
  return yw_value_fail(&l->r, node, "is \"%.60s\", which is no material%s", node->string,
                       hint.text[0] ? hint.text : known);
}

// Keys beside the name of a material win over it.
static bool take_material(yw_loader* l, const yw_json* node, yw_plastic_spec* plastic) {
  if (!plastic->material) return true;
  yw_plastic_material m;
  if (!yw_find_plastic_material(l, yw_json_get(node, "material"), &m)) return false;
  const struct {
    const char* key;
    float* to;
    float from;
  } numbers[] = {{"youngs_modulus", &plastic->youngs_modulus, m.youngs_modulus},
                 {"poissons_ratio", &plastic->poissons_ratio, m.poissons_ratio},
                 {"theta_c", &plastic->theta_c, m.theta_c},
                 {"theta_s", &plastic->theta_s, m.theta_s},
                 {"yield_stress", &plastic->yield_stress, m.yield_stress},
                 {"xi", &plastic->xi, m.xi},
                 {"eta", &plastic->eta, m.eta}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (!yw_json_get(node, numbers[i].key)) *numbers[i].to = numbers[i].from;
  }
  if (!yw_json_get(node, "flow")) plastic->flow = (int32_t)m.flow;
  return true;
}

// Limits that are given say how it yields; limits of another rule are a mistake.
static bool choose_flow(yw_loader* l, const yw_json* node, yw_plastic_spec* plastic) {
  static const struct {
    const char* key;
    int32_t flow;
  } limits[] = {
      {"theta_c", YW_FLOW_BOX}, {"theta_s", YW_FLOW_BOX}, {"yield_stress", YW_FLOW_VON_MISES}};
  bool chosen = yw_json_get(node, "flow") != NULL;
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    const yw_json* item = yw_json_get(node, limits[i].key);
    if (!item) continue;
    if (!chosen) plastic->flow = limits[i].flow;
    chosen = true;
    if (plastic->flow == limits[i].flow) continue;
    return yw_value_fail(&l->r, item, "is for a flow that is \"%s\", but here it is \"%s\"",
                         flows[limits[i].flow], flows[plastic->flow]);
  }
  const yw_json* xi = yw_json_get(node, "xi");
  if (xi && plastic->flow == YW_FLOW_NONE) {
    return yw_value_fail(&l->r, xi, "is for materials that yield, but the flow is \"elastic\"");
  }
  if (plastic->flow == YW_FLOW_NONE) plastic->xi = 0;
  return true;
}

// Reading -----------------------------------------------------------------------------------------

static bool check_keys(yw_loader* l, const yw_model_spec* model) {
  const yw_json* wrong = model->keys.rod     ? model->keys.rod
                         : model->keys.sheet ? model->keys.sheet
                         : model->num_poses  ? model->keys.examples
                                             : model->keys.surface;
  if (!wrong) return true;
  if (wrong == model->keys.sheet) {
    return yw_value_fail(&l->r, wrong,
                         "is not for bodies of \"plastic\"; say \"sheet\": true in it, and a "
                         "\"shape\"");
  }
  return yw_value_fail(&l->r, wrong, "is not for bodies of \"plastic\"");
}

bool yw_load_plastic(yw_loader* l, yw_model_spec* model) {
  const yw_json* node = model->keys.plastic;
  yw_plastic_spec* plastic = &model->settings.plastic;
  if (!yw_read_record(&l->r, node, &yw_record_plastic, plastic) || !check_keys(l, model) ||
      !take_material(l, node, plastic) || !choose_flow(l, node, plastic) ||
      !yw_load_stiffness_list(l, plastic->fields, YW_LAYERS_OF_PLASTIC, &plastic->num_fields,
                              &plastic->field_list)) {
    return false;
  }
  if (!yw_json_get(node, "sleep_speed")) plastic->sleep_speed = -1.0f;
  for (int32_t i = 0; i < plastic->num_fields; i++) {
    const yw_json* yield = plastic->field_list[i].yield_stress;
    if (!yield || plastic->flow == YW_FLOW_VON_MISES) continue;
    return yw_value_fail(&l->r, yield, "is for a flow that is \"von_mises\", but it is \"%s\"",
                         flows[plastic->flow]);
  }
  return true;
}

// Shapes ------------------------------------------------------------------------------------------

static bool has_ending(const char* file, const char* ending) {
  size_t length = strlen(file), end = strlen(ending);
  return length >= end && strcmp(file + length - end, ending) == 0;
}

// Surfaces of files, or of the tets in them.
static bool read_surface(yw_loader* l, yw_model_spec* model, yw_tri_mesh* out) {
  bool triangles = has_ending(model->file, ".obj") || has_ending(model->file, ".ply") ||
                   has_ending(model->file, ".stl");
  yw_error deep = {0};
  if (!triangles) {
    bool done = yw_build_tets(l, model);
    if (done && yw_tet_mesh_surface(&model->tets, &l->scene->mem, out, NULL) < 0) {
      done = yw_memory_fail(&l->r);
    }
    yw_tet_mesh_free(&model->tets);
    model->tets = (yw_tet_mesh){0};
    return done;
  }
  char* file = yw_loader_file(l, model->file);
  if (!file) return yw_memory_fail(&l->r);
  if (yw_tri_mesh_read(file, &l->scene->mem, out, &deep) < 0) {
    return yw_deep_fail(&l->r, model->source_node, &deep);
  }
  for (int32_t i = 0; i < out->num_vertices; i++) {
    out->positions[i] = yw_scale(out->positions[i], model->scale);
  }
  return true;
}

static bool make_shape(yw_loader* l, yw_model_spec* model) {
  const yw_allocator* mem = &l->scene->mem;
  yw_error deep = {0};
  yw_status status;
  if (model->shape) return true;
  if (!YW_LIST_RESERVE(mem, &l->scene->shapes, 2)) return yw_memory_fail(&l->r);
  yw_shape** list = l->scene->shapes.items;
  if (model->source == YW_SOURCE_LATTICE) {
    const yw_lattice_spec* s = &model->lattice;
    yw_shape* box = NULL;
    status = yw_shape_box(mem, yw_scale(s->size, 0.5f), &box);
    if (status < 0) return yw_memory_fail(&l->r);
    list[l->scene->shapes.count++] = box;
    yw_transform moved = {s->center, {0, 0, 0, 1}, 1};
    if (yw_shape_transform(mem, box, moved, &model->shape) < 0) return yw_memory_fail(&l->r);
  } else {
    yw_tri_mesh surface = {0};
    if (!read_surface(l, model, &surface)) return false;
    status = yw_shape_mesh(mem, &surface, &model->shape, &deep);
    yw_tri_mesh_free(&surface);
    if (status < 0) return yw_deep_fail(&l->r, model->source_node, &deep);
  }
  list[l->scene->shapes.count++] = model->shape;
  return true;
}

static void choose_spacing(yw_model_spec* model) {
  yw_aabb box;
  if (model->settings.plastic.spacing > 0 || !yw_shape_bounds(model->shape, &box)) return;
  yw_vec3 side = yw_sub(box.upper, box.lower);
  model->settings.plastic.spacing = fmaxf(side.x, fmaxf(side.y, side.z)) / DEFAULT_CELLS;
}

// Particles ---------------------------------------------------------------------------------------

static bool make_points(yw_loader* l, yw_model_spec* model) {
  const yw_plastic_spec* plastic = &model->settings.plastic;
  const yw_json* node = yw_json_get(model->keys.plastic, "spacing");
  yw_error deep = {0};
  yw_vec3* points = NULL;
  int32_t count;
  double limit = yw_default_plastic_def().memory_limit;
  // Refused before any memory is taken.
  yw_status status =
      yw_plastic_count(model->shape, plastic->spacing, plastic->sheet, limit, &count, NULL, &deep);
  if (status >= 0) {
    status = yw_plastic_sample(&l->scene->mem, model->shape, plastic->spacing, plastic->sheet,
                               &points, &count, &deep);
  }
  if (status < 0) return yw_deep_fail(&l->r, node ? node : model->source_node, &deep);
  bool done = yw_tet_mesh_create(&l->scene->mem, count, 0, &model->tets) >= 0;
  if (done) memcpy(model->tets.positions, points, (size_t)count * sizeof *points);
  yw_points_free(&l->scene->mem, points);
  return done || yw_memory_fail(&l->r);
}

static bool lay_layers(yw_loader* l, yw_model_spec* model) {
  const yw_plastic_spec* plastic = &model->settings.plastic;
  int32_t count = model->tets.num_vertices;
  float *youngs = model->layers, *yield = youngs + count, *density = yield + count;
  for (int32_t i = 0; i < count; i++) {
    youngs[i] = plastic->youngs_modulus;
    yield[i] = plastic->yield_stress;
    density[i] = model->keys.density;
  }
  for (int32_t k = 0; k < plastic->num_fields; k++) {
    bool any = false;
    for (int32_t i = 0; i < count; i++) {
      yw_vec3 p = model->tets.positions[i];
      yw_fem_material m = {.youngs_modulus = youngs[i], .density = density[i]};
      any = yw_stiffness_at(&plastic->field_list[k], p, 0, &m) || any;
      yw_layer_yield_at(&plastic->field_list[k], p, &yield[i]);
      youngs[i] = m.youngs_modulus;
      density[i] = m.density;
    }
    if (!any) {
      return yw_value_fail(&l->r, plastic->fields->items[k], "selects none of the %d particles",
                           (int)count);
    }
  }
  return true;
}

static bool make_layers(yw_loader* l, yw_model_spec* model) {
  const yw_plastic_spec* plastic = &model->settings.plastic;
  if (plastic->num_fields == 0) return true;
  model->layers = YW_NEW_ARRAY(&l->scene->mem, float, 3 * (size_t)model->tets.num_vertices);
  if (!model->layers) return yw_memory_fail(&l->r);
  bool done =
      yw_open_stiffness(l, plastic->num_fields, plastic->field_list) && lay_layers(l, model);
  yw_close_stiffness(plastic->num_fields, plastic->field_list);
  return done;
}

// Models ------------------------------------------------------------------------------------------

yw_plastic_part yw_plastic_part_of(const yw_model_spec* model) {
  const yw_plastic_spec* s = &model->settings.plastic;
  yw_plastic_part part = yw_default_plastic_part();
  part.points = model->tets.positions;
  part.num_points = model->tets.num_vertices;
  part.material = (yw_plastic_material){.youngs_modulus = s->youngs_modulus,
                                        .poissons_ratio = s->poissons_ratio,
                                        .density = model->keys.density,
                                        .flow = (yw_plastic_flow)s->flow,
                                        .theta_c = s->theta_c,
                                        .theta_s = s->theta_s,
                                        .yield_stress = s->yield_stress,
                                        .xi = s->xi,
                                        .eta = s->eta};
  if (model->layers) {
    part.youngs_modulus_field = model->layers;
    part.yield_field = model->layers + part.num_points;
    part.density_field = model->layers + 2 * (size_t)part.num_points;
  }
  return part;
}

yw_plastic_def yw_plastic_def_of(const yw_model_spec* model) {
  const yw_plastic_spec* s = &model->settings.plastic;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = s->spacing;
  def.params.time_step = s->time_step;
  def.params.tolerance = s->tolerance;
  def.params.max_iterations = s->max_iterations;
  def.params.sleep_speed = s->sleep_speed;
  def.paper = s->variant == VARIANT_PAPER;
  def.without_slaves = s->without_slaves;
  return def;
}

bool yw_build_plastic(yw_loader* l, yw_model_spec* model) {
  if (!make_shape(l, model)) return false;
  choose_spacing(model);
  if (!make_points(l, model) || !make_layers(l, model)) return false;
  if (model->merged_only) return true;
  yw_error deep = {0};
  yw_plastic_part part = yw_plastic_part_of(model);
  yw_plastic_def def = yw_plastic_def_of(model);
  def.parts = &part;
  def.num_parts = 1;
  return yw_model_create_plastic(&l->scene->mem, &def, &model->model, &deep) >= 0 ||
         yw_deep_fail(&l->r, model->keys.plastic, &deep);
}
