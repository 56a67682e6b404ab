// SPDX-License-Identifier: MIT
// "plastic" in scene files: material, yield rule, layers and particle spacing; builds the
// particles, the model and merged bodies.
#include <math.h>
#include <string.h>

#include "geometry/matter.h"
#include "math/small/trig.h"
#include "scene/method.h"
#include "yawara/extend/vec.h"
#include "yawara/files.h"
#include "yawara/plastic.h"

#define MOST_YOUNGS 1e13
#define MOST_POISSON 0.4999
#define MOST_YIELD 1e12
// Default spacing: longest side of the shape divided by this; smaller for this many masters across
// what is thin, as long as there are not too many.
#define DEFAULT_CELLS 24.0f
#define ACROSS 2.0
#define MOST_MASTERS 20000.0
// Of the matter: what is thinner than so much of it does not matter.
#define THIN_SHARE 0.01

// Tables ------------------------------------------------------------------------------------------

static const char* const flows[] = {"elastic", "box", "von_mises", NULL};
static const char* const variants[] = {"consistent", "paper", NULL};
enum { VARIANT_CONSISTENT, VARIANT_PAPER };

typedef struct plastic_settings {
  // What the model is made of
  const char* material;
  float spacing;  // m; 0: from the size of the shape
  float youngs_modulus, poissons_ratio;
  int32_t flow;
  float theta_c, theta_s, yield_stress, xi, eta;
  int32_t variant;
  bool without_slaves, sheet;
  const yw_json* fields;
  yw_plastic_scheme scheme;
  float slave_reach;
  yw_plastic_params params;  // what bodies may change

  int32_t num_fields;
  yw_stiffness_spec* field_list;

  // Built, owned by the model or the document: particles and, with layers, Young's modulus, yield
  // stress and density per particle, as three consecutive lists.
  int32_t num_points;
  const yw_vec3* points;
  float* layers;
} plastic_settings;
static const plastic_settings plastic_defaults = {
    .youngs_modulus = 1e6f,
    .poissons_ratio = 0.3f,
    .flow = YW_FLOW_NONE,
    .theta_c = 0.025f,
    .theta_s = 0.0075f,
    .yield_stress = 1e4f,
    .variant = VARIANT_CONSISTENT,
    .scheme = {.implicit_share = 1.0f,
               .velocity_blend = -1.0f,
               .link_reach = 2.5f,
               .split_master = 2.0f,
               .split_slave = 1.0f},
    .params = {
        .tolerance = 1e-3f, .max_iterations = 300, .sleep_speed = -1.0f, .stiffness_scale = 1.0f}};
#define YW_SCHEME(member, kind, low, high, about) \
  YW_ROW(#member, plastic_settings, scheme.member, kind, low, high, false, true, "", about)
static const yw_key_row plastic_rows[] = {
    YW_MODEL_FIELD_ABOVE(
        plastic_settings, spacing, NUMBER, 0, YW_SCENE_REACH, "m",
        "Distance between particles. Default: 1/24 of the longest side of the shape, or less "
        "if that leaves fewer than two across what is thin, with at most 20,000 particles."),
    YW_MODEL_FIELD(plastic_settings, material, TEXT, 0, 0, "",
                   "Name of a material (docs/materials.md), for all numbers and the flow; keys "
                   "given beside it take precedence."),
    YW_MODEL_FIELD_ABOVE(plastic_settings, youngs_modulus, NUMBER, 0, MOST_YOUNGS, "Pa",
                         "Young's modulus."),
    YW_MODEL_FIELD(plastic_settings, poissons_ratio, NUMBER, 0, MOST_POISSON, "",
                   "Poisson's ratio."),
    YW_MODEL_CHOICE(plastic_settings, flow, flows,
                    "Yield rule: none (\"elastic\"), stretch stays within limits, as in the paper "
                    "(\"box\"), or shear flows above the yield stress (\"von_mises\"). If not "
                    "given: the rule of the given limits, else that of the material."),
    YW_MODEL_FIELD(plastic_settings, theta_c, NUMBER, 0, 0.999, "",
                   "With flow \"box\": compression at which the material yields."),
    YW_MODEL_FIELD(plastic_settings, theta_s, NUMBER, 0, 1e3, "",
                   "With flow \"box\": extension at which the material yields."),
    YW_MODEL_FIELD(plastic_settings, yield_stress, NUMBER, 0, MOST_YIELD, "Pa",
                   "With flow \"von_mises\": stress above which the material flows in shear."),
    YW_MODEL_FIELD(plastic_settings, xi, NUMBER, 0, 1e4, "",
                   "Hardening: of the stiffness under compression (\"box\"), or of the yield "
                   "stress with plastic strain (\"von_mises\")."),
    YW_MODEL_FIELD(plastic_settings, eta, NUMBER, 0, 1, "",
                   "Part of the affine velocity that particles keep: at 0 velocity and rotation, "
                   "which is viscous; at 1 all of it."),
    YW_MODEL_FIELD(
        plastic_settings, sheet, BOOL, 0, 0, "",
        "Whether to use a single layer of particles, at half the height (y) of the shape."),
    YW_MODEL_NODE(plastic_settings, fields, "[stiffness]",
                  "Layers of different stiffness, yield stress or density in parts of the body; "
                  "later layers cover earlier ones."),
    YW_PARAM(plastic_settings, time_step, NUMBER, 0, 1, "s",
             "Inner time step; 0: chosen from stiffness and speed."),
    YW_PARAM(plastic_settings, tolerance, NUMBER, 1e-6, 0.1, "",
             "Relative tolerance of the implicit solver."),
    YW_PARAM(plastic_settings, max_iterations, INTEGER, 1, 10000, "",
             "Maximum number of iterations per solve."),
    YW_PARAM(plastic_settings, sleep_speed, NUMBER, 0, 1e3, "m/s",
             "Speed below which a piece that touches something falls asleep after half a second; "
             "0: never. If not given: 5 % of the speed that gravity adds in an inner step, or 0.05 "
             "spacings per second (at most 0.001) if that is more."),
    YW_PARAM(plastic_settings, stiffness_scale, NUMBER, 1e-6, 1e6, "",
             "Multiplies Young's modulus, not the yield stress; a track may change it over time."),
    YW_MODEL_CHOICE(plastic_settings, variant, variants,
                    "Equations: made consistent (\"consistent\"), or as printed in the paper, for "
                    "comparison (\"paper\")."),
    YW_MODEL_FIELD(plastic_settings, without_slaves, BOOL, 0, 0, "",
                   "Whether forces act at the masters instead of the slaves, for comparison."),
    YW_SCHEME(implicit_share, NUMBER, 0, 1,
              "beta of the paper: how far forces are taken from the end of the step, from 0 "
              "(explicit) to 1. For comparison."),
    YW_SCHEME(velocity_blend, NUMBER, 0, 1,
              "alpha of the paper: how much of a master's velocity comes from its slaves; the rest "
              "is its own. For comparison. If not given: 1, and 0.9 with variant \"paper\"."),
    YW_SCHEME(collide_after, BOOL, 0, 0,
              "Whether slaves meet obstacles after the implicit solve, as in the paper, instead of "
              "in it. For comparison."),
    YW_SCHEME(link_reach, NUMBER, 2, 4,
              "gamma of the paper: masters within so many radii (half spacings) at rest get new "
              "slaves when they part. For comparison."),
    YW_SCHEME(split_master, NUMBER, 0, 1e6,
              "m of the paper: weight of the master for the place of a new slave between it and "
              "the slave that it lost. For comparison."),
    YW_SCHEME(split_slave, NUMBER, 0, 1e6, "n of the paper: weight of that slave. For comparison."),
    YW_MODEL_FIELD(
        plastic_settings, slave_reach, NUMBER, 1, 2, "",
        "Slaves are at rest nearer to particles than so many spacings: with 1 at the "
        "eight corners around each, with 2 at 32 places as in the paper, which lets "
        "matter at rest creep. If not given: 1; 2 for sheets and with variant \"paper\".")};
static const yw_record plastic_record = YW_RECORD(
    "plastic", plastic_rows, plastic_defaults,
    "Matter that dents, tears, splits and merges, made of master and slave particles.", "");

// Materials ---------------------------------------------------------------------------------------

// Names of presets, then of elastic materials.
static const char* material_name(int32_t i) {
  int32_t presets = yw_num_plastic_presets();
  return i < presets ? yw_plastic_preset_at(i)->name : yw_material_name(i - presets);
}

static bool find_material(yw_loader* l, const yw_json* node, yw_plastic_material* out) {
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
  return yw_no_material(l, node, material_name);
}

// Keys next to the material's name override it.
static bool take_material(yw_loader* l, const yw_json* node, plastic_settings* plastic) {
  if (!plastic->material) return true;
  yw_plastic_material m;
  if (!find_material(l, yw_json_get(node, "material"), &m)) return false;
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

// The given limits choose the yield rule; limits of another rule are an error.
static bool choose_flow(yw_loader* l, const yw_json* node, plastic_settings* plastic) {
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

static bool density(yw_loader* l, const yw_json* material, float* out) {
  yw_plastic_material found;
  if (!find_material(l, material, &found)) return false;
  *out = found.density;
  return true;
}

static bool screen(yw_loader* l, const yw_model_spec* model) {
  const yw_json* source = model->keys.own_source;
  const yw_json* wrong = source ? source : model->num_poses ? model->keys.examples : NULL;
  if (!wrong) return true;
  if (source && strcmp(source->key, "sheet") == 0) {
    return yw_value_fail(&l->r, wrong,
                         "is not for bodies of \"plastic\"; say \"sheet\": true in it, and a "
                         "\"shape\"");
  }
  return yw_value_fail(&l->r, wrong, "is not for bodies of \"plastic\"");
}

static bool load(yw_loader* l, yw_model_spec* model) {
  const yw_json* node = model->keys.settings;
  plastic_settings* plastic = model->settings;
  if (!take_material(l, node, plastic) || !choose_flow(l, node, plastic) ||
      !yw_load_stiffness_list(l, plastic->fields, yw_scene_plastic.layer_keys, &plastic->num_fields,
                              &plastic->field_list)) {
    return false;
  }
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

static bool is_triangles(const char* file) {
  static const char* const endings[] = {".obj", ".ply", ".stl", ".gltf", ".glb"};
  bool triangles = false;
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; ++i)
    triangles = triangles || has_ending(file, endings[i]);
  return triangles;
}

// Surface of a file, or of the tets in it.
static bool read_surface(yw_loader* l, yw_model_spec* model, yw_tri_mesh* out) {
  yw_error deep = {0};
  if (!is_triangles(model->file)) {
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
  return yw_mend_surface(l, model->source_node, out);
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
    // Kept: it is what is shown, unless another surface is given.
    yw_tri_mesh* surface = &model->surface_mesh;
    if (!read_surface(l, model, surface)) return false;
    status = yw_shape_mesh(mem, surface, &model->shape, &deep);
    if (status < 0) return yw_deep_fail(&l->r, model->source_node, &deep);
  }
  list[l->scene->shapes.count++] = model->shape;
  return true;
}

static bool choose_spacing(yw_loader* l, const yw_model_spec* model, plastic_settings* plastic) {
  yw_aabb box;
  yw_matter matter;
  if (plastic->spacing > 0 || !yw_shape_bounds(model->shape, &box)) return true;
  yw_vec3 side = yw_sub(box.upper, box.lower);
  plastic->spacing = fmaxf(side.x, fmaxf(side.y, side.z)) / DEFAULT_CELLS;
  if (plastic->sheet) return true;
  if (yw_matter_create(&l->scene->mem, model->shape, box, YW_MATTER_QUICK, NULL, &matter) < 0) {
    return yw_memory_fail(&l->r);
  }
  double thin = yw_matter_thickness(&matter, THIN_SHARE, YW_THICKNESS_OF_MATTER) / ACROSS;
  float finest = yw_cbrtf((float)(matter.volume / MOST_MASTERS));
  if (isfinite(thin) && thin > 0) {
    plastic->spacing = fminf(plastic->spacing, fmaxf((float)thin, finest));
  }
  yw_matter_free(&matter);
  return true;
}

// Particles ---------------------------------------------------------------------------------------

static bool make_points(yw_loader* l, const yw_model_spec* model, plastic_settings* plastic) {
  const yw_json* node = yw_json_get(model->keys.settings, "spacing");
  yw_error deep = {0};
  yw_vec3* points = NULL;
  int32_t count;
  double limit = yw_default_plastic_def().memory_limit;
  // Refuse before allocating memory.
  yw_status status =
      yw_plastic_count(model->shape, plastic->spacing, plastic->sheet, limit, &count, NULL, &deep);
  if (status >= 0) {
    status = yw_plastic_sample(&l->scene->mem, model->shape, plastic->spacing, plastic->sheet,
                               &points, &count, &deep);
  }
  if (status < 0) return yw_deep_fail(&l->r, node ? node : model->source_node, &deep);
  plastic->num_points = count;
  plastic->points = points;
  return true;
}

// A model has positions of its own; a scene keeps those of bodies that are parts of another one.
static bool settle_points(yw_loader* l, yw_model_spec* model, plastic_settings* plastic) {
  const yw_vec3* points = plastic->points;
  size_t bytes = (size_t)plastic->num_points * sizeof *points;
  const yw_vec3* kept = model->model ? yw_model_points(model->model, NULL) : NULL;
  if (!kept) {
    yw_vec3* copy = yw_json_alloc(l->r.doc, bytes);
    if (copy) memcpy(copy, points, bytes);
    kept = copy;
  }
  plastic->points = model->points = kept;
  model->num_points = plastic->num_points;
  yw_points_free(&l->scene->mem, (yw_vec3*)(uintptr_t)points);
  return kept || yw_memory_fail(&l->r);
}

static bool lay_layers(yw_loader* l, const yw_model_spec* model, plastic_settings* plastic) {
  int32_t count = plastic->num_points;
  float *youngs = plastic->layers, *yield = youngs + count, *rho = yield + count;
  for (int32_t i = 0; i < count; i++) {
    youngs[i] = plastic->youngs_modulus;
    yield[i] = plastic->yield_stress;
    rho[i] = model->keys.density;
  }
  for (int32_t k = 0; k < plastic->num_fields; k++) {
    bool any = false;
    for (int32_t i = 0; i < count; i++) {
      yw_point_material m = {
          .youngs_modulus = youngs[i], .density = rho[i], .yield_stress = yield[i]};
      any = yw_stiffness_at(&plastic->field_list[k], plastic->points[i], 0, &m) || any;
      youngs[i] = m.youngs_modulus;
      yield[i] = m.yield_stress;
      rho[i] = m.density;
    }
    if (!any) {
      return yw_value_fail(&l->r, plastic->fields->items[k], "selects none of the %d particles",
                           (int)count);
    }
  }
  return true;
}

static bool make_layers(yw_loader* l, const yw_model_spec* model, plastic_settings* plastic) {
  if (plastic->num_fields == 0) return true;
  plastic->layers =
      yw_json_alloc(l->r.doc, 3 * (size_t)plastic->num_points * sizeof *plastic->layers);
  if (!plastic->layers) return yw_memory_fail(&l->r);
  bool done = yw_open_stiffness(l, NULL, plastic->num_fields, plastic->field_list) &&
              lay_layers(l, model, plastic);
  yw_close_stiffness(plastic->num_fields, plastic->field_list);
  return done;
}

// Models ------------------------------------------------------------------------------------------

static yw_plastic_part part_of(const yw_model_spec* model) {
  const plastic_settings* s = model->settings;
  yw_plastic_part part = yw_default_plastic_part();
  part.points = s->points;
  part.num_points = s->num_points;
  part.sheet = s->sheet;
  part.material = (yw_plastic_material){.youngs_modulus = s->youngs_modulus,
                                        .poissons_ratio = s->poissons_ratio,
                                        .density = model->keys.density,
                                        .flow = (yw_plastic_flow)s->flow,
                                        .theta_c = s->theta_c,
                                        .theta_s = s->theta_s,
                                        .yield_stress = s->yield_stress,
                                        .xi = s->xi,
                                        .eta = s->eta};
  if (s->layers) {
    part.youngs_modulus_field = s->layers;
    part.yield_field = s->layers + part.num_points;
    part.density_field = s->layers + 2 * (size_t)part.num_points;
  }
  return part;
}

static yw_plastic_def def_of(const yw_model_spec* model) {
  const plastic_settings* s = model->settings;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = s->spacing;
  def.params = s->params;
  def.paper = s->variant == VARIANT_PAPER;
  def.without_slaves = s->without_slaves;
  return def;
}

// What is shown: the given surface, the triangles of the file, or those of the shape. A sheet is
// not as thick as its shape and shows its particles.
static bool make_surface(yw_loader* l, yw_model_spec* model, yw_tri_mesh* out) {
  const plastic_settings* plastic = model->settings;
  if (plastic->sheet) return true;
  bool of_file = model->source == YW_SOURCE_FILE && !model->keys.surface;
  if (of_file) {
    model->surface_path = is_triangles(model->file) ? yw_loader_file(l, model->file) : NULL;
    return yw_tri_mesh_copy(&model->surface_mesh, &l->scene->mem, out) >= 0 ||
           yw_memory_fail(&l->r);
  }
  yw_tri_mesh_free(&model->surface_mesh);
  model->surface_mesh = (yw_tri_mesh){0};
  if (!model->surface.file && !model->surface.solid) model->surface.solid = model->shape;
  model->has_surface = true;
  model->size = plastic->spacing;
  return yw_build_surface(l, model, out);
}

static bool create(yw_loader* l, yw_model_spec* model, const yw_tri_mesh* surface) {
  const plastic_settings* plastic = model->settings;
  yw_error deep = {0};
  yw_plastic_part part = part_of(model);
  yw_plastic_def def = def_of(model);
  def.parts = &part;
  def.num_parts = 1;
  return yw_model_create_plastic_reach(&l->scene->mem, &def, &plastic->scheme, surface, NULL,
                                       plastic->slave_reach, &model->model, &deep) >= 0 ||
         yw_deep_fail(&l->r, model->settings_node, &deep);
}

static bool build(yw_loader* l, yw_model_spec* model) {
  plastic_settings* plastic = model->settings;
  if (!make_shape(l, model)) return false;
  if (!choose_spacing(l, model, plastic) || !make_points(l, model, plastic)) return false;
  model->points = plastic->points;
  model->num_points = plastic->num_points;
  yw_tri_mesh surface = {0};
  bool done = make_layers(l, model, plastic) && make_surface(l, model, &surface) &&
              (model->merged_only || create(l, model, &surface));
  done = settle_points(l, model, plastic) && done;
  // Groups, if there are any, take it from here.
  yw_tri_mesh_free(&model->surface_mesh);
  if (l->scene->groups.count == 0) yw_tri_mesh_free(&surface);
  model->surface_mesh = surface;
  return done;
}

static yw_status apply(yw_world* world, yw_body_id id, const void* settings) {
  return yw_body_set_plastic_params(world, id, &((const plastic_settings*)settings)->params);
}

// Bodies that merge -------------------------------------------------------------------------------

static bool differs(yw_loader* l, const yw_json* object, const char* key, const yw_json* fallback) {
  const yw_json* item = yw_json_get(object, key);
  return yw_value_fail(&l->r, item ? item : fallback,
                       "merges with bodies whose \"%s\" is another, but all must have the same",
                       key);
}

// What the bodies of a group must share.
static bool check_same(yw_loader* l, const yw_body_spec* body, const yw_body_spec* first) {
  const yw_model_spec *model = yw_model_of_body(l->scene, body),
                      *other = yw_model_of_body(l->scene, first);
  const plastic_settings *a = model->settings, *b = other->settings;
  const yw_plastic_params *own = &((const plastic_settings*)body->settings)->params,
                          *theirs = &((const plastic_settings*)first->settings)->params;
  const yw_json* settings = model->keys.settings;
  const struct {
    const char* key;
    bool same;
  } inner[] = {{"spacing", a->spacing == b->spacing},
               {"time_step", own->time_step == theirs->time_step},
               {"tolerance", own->tolerance == theirs->tolerance},
               {"max_iterations", own->max_iterations == theirs->max_iterations},
               {"sleep_speed", own->sleep_speed == theirs->sleep_speed},
               {"stiffness_scale", own->stiffness_scale == theirs->stiffness_scale},
               {"variant", a->variant == b->variant},
               {"without_slaves", a->without_slaves == b->without_slaves},
               {"implicit_share", a->scheme.implicit_share == b->scheme.implicit_share},
               {"velocity_blend", a->scheme.velocity_blend == b->scheme.velocity_blend},
               {"collide_after", a->scheme.collide_after == b->scheme.collide_after},
               {"link_reach", a->scheme.link_reach == b->scheme.link_reach},
               {"split_master", a->scheme.split_master == b->scheme.split_master},
               {"split_slave", a->scheme.split_slave == b->scheme.split_slave},
               {"slave_reach", a->slave_reach == b->slave_reach}};
  for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
    if (!inner[i].same) return differs(l, settings, inner[i].key, body->merge);
  }
  const struct {
    const char* key;
    bool same;
  } outer[] = {{"friction", body->friction == first->friction},
               {"restitution", body->restitution == first->restitution},
               {"body_contact", body->body_contact == first->body_contact},
               {"self_contact", body->self_contact == first->self_contact}};
  for (size_t i = 0; i < sizeof outer / sizeof *outer; i++) {
    if (!outer[i].same) return differs(l, body->node, outer[i].key, body->merge);
  }
  return true;
}

// Bodies of different sizes would choose different spacings.
static bool check_merge(yw_loader* l, const yw_body_spec* body, const yw_body_spec* first) {
  const yw_model_spec* model = yw_model_of_body(l->scene, body);
  if (!yw_json_get(model->keys.settings, "spacing")) {
    return yw_value_fail(&l->r, model->settings_node, "needs \"spacing\" where bodies merge");
  }
  return body == first || check_same(l, body, first);
}

// The surfaces of all parts as one, and the part of each vertex; none if a part has none. False if
// out of memory.
static bool join_surfaces(const yw_scene* scene, const yw_group_spec* group, yw_tri_mesh* out,
                          int32_t** of_part) {
  int64_t vertices = 0, triangles = 0;
  bool all = true;
  for (int32_t i = 0; i < group->num_parts; i++) {
    const yw_body_spec* body = &scene->bodies.items[group->parts[i].body];
    const yw_tri_mesh* surface = &yw_model_of_body(scene, body)->surface_mesh;
    vertices += surface->num_vertices;
    triangles += surface->num_triangles;
    all = all && surface->num_triangles > 0;
  }
  if (!all || triangles > INT32_MAX / 3) return true;
  if (yw_tri_mesh_create(&scene->mem, (int32_t)vertices, (int32_t)triangles, out) < 0) return false;
  *of_part = YW_NEW_ARRAY(&scene->mem, int32_t, vertices);
  if (!*of_part) return false;
  yw_vec3* to = out->positions;
  int32_t *corner = out->triangles, first = 0;
  for (int32_t i = 0; i < group->num_parts; i++) {
    const yw_body_spec* body = &scene->bodies.items[group->parts[i].body];
    const yw_tri_mesh* surface = &yw_model_of_body(scene, body)->surface_mesh;
    yw_transform place = yw_body_copy_transform(body, group->parts[i].copy);
    for (int32_t v = 0; v < surface->num_vertices; v++) {
      (*of_part)[first + v] = i;
      *to++ = yw_transform_point(place, surface->positions[v]);
    }
    for (size_t n = 0; n < 3 * (size_t)surface->num_triangles; n++) {
      *corner++ = first + surface->triangles[n];
    }
    first += surface->num_vertices;
  }
  return true;
}

static bool build_group(yw_loader* l, yw_group_spec* group) {
  yw_scene* scene = l->scene;
  yw_plastic_part* parts = YW_NEW_ARRAY(&scene->mem, yw_plastic_part, group->num_parts);
  if (!parts) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < group->num_parts; i++) {
    const yw_part_spec* spec = &group->parts[i];
    const yw_body_spec* body = &scene->bodies.items[spec->body];
    parts[i] = part_of(yw_model_of_body(scene, body));
    parts[i].transform = yw_body_copy_transform(body, spec->copy);
    parts[i].velocity = body->velocity;
    parts[i].angular_velocity = body->angular_velocity;
    // The earliest parts are there from the start of the body.
    parts[i].start = spec->start > group->parts[0].start ? spec->start : 0.0;
  }
  const yw_body_spec* first = &scene->bodies.items[group->first];
  yw_plastic_def def = def_of(yw_model_of_body(scene, first));
  def.params = ((const plastic_settings*)first->settings)->params;
  def.parts = parts;
  def.num_parts = group->num_parts;
  yw_error deep = {0};
  const plastic_settings* settings = yw_model_of_body(scene, first)->settings;
  yw_tri_mesh surface = {0};
  yw_status status = YW_ERR_MEMORY;
  int32_t* of_part = NULL;
  if (join_surfaces(scene, group, &surface, &of_part)) {
    status = yw_model_create_plastic_reach(&scene->mem, &def, &settings->scheme, &surface, of_part,
                                           settings->slave_reach, &group->model, &deep);
  }
  yw_mem_free(&scene->mem, of_part);
  yw_tri_mesh_free(&surface);
  yw_mem_free(&scene->mem, parts);
  if (status == YW_ERR_MEMORY) return yw_memory_fail(&l->r);
  return status >= 0 || yw_deep_fail(&l->r, first->merge, &deep);
}

const yw_scene_method yw_scene_plastic = {.name = "plastic",
                                          .record = &plastic_record,
                                          .material_name = material_name,
                                          .layer_keys = YW_LAYER_DENSITY | YW_LAYER_YIELD,
                                          .surface_size = 0.5f,
                                          .screen = screen,
                                          .load = load,
                                          .density = density,
                                          .build = build,
                                          .apply = apply,
                                          .check_merge = check_merge,
                                          .build_group = build_group};
