// SPDX-License-Identifier: MIT
// "match" in scene files: parameters, groups of regions; and the model.
#include <string.h>

#include "scene/method.h"
#include "scene/stiffness.h"
#include "yawara/match.h"

// Tables ------------------------------------------------------------------------------------------

static const char* const projections[] = {"exact", "paper", NULL};

typedef struct match_settings {
  const yw_json* groups;
  yw_match_params params;  // bodies may change these

  yw_grouping grouping;
  int32_t num_labels;       // of labels, and of selectors when there are shapes
  int32_t* labels;          // per vertex, or per selector; in the document
  yw_shape** label_shapes;  // of selectors; NULL in those under paint. NULL: labels are per vertex
  yw_stiffness_spec* label_paints;  // of selectors
  const yw_json* painted;           // labels as text; NULL: not
  const yw_json* labels_node;
} match_settings;
static const match_settings match_defaults = {.params = {.beta = 0.95f,
                                                         .damping = YW_MATCH_DEFAULT,
                                                         .viscosity = YW_MATCH_DEFAULT,
                                                         .stiffness = 300}};
static const yw_key_row match_rows[] = {
    YW_PARAM(match_settings, stiffness, NUMBER, 0, 1e9, "",
             "Young's modulus divided by density, gravity (9.81 m/s^2) and the diagonal of the "
             "body: a standing column becomes shorter by 1 / (2 stiffness), at any size, with any "
             "mesh and time step. About 5 is a jelly, 50 a soft toy."),
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
    YW_MODEL_NODE(
        match_settings, groups, "'global|'per_region|[integer]|[selector]|vertex_paint",
        "Parts that choose their example together: the whole body (\"global\", the "
        "default), every one-ring on its own (\"per_region\"), a label per vertex, "
        "painted, or shapes and painted surfaces with labels, in the model's rest pose: a vertex "
        "takes the label of the first one that contains it, else 0.")};
static const yw_record match_record = YW_RECORD(
    "match", match_rows, match_defaults, "Example-based shape matching.", "not stiffness alpha");

// Paint of at least this much of its range selects a vertex.
#define MOSTLY 0.5f

typedef struct selector_keys {
  const yw_json *shape, *painted;
  int32_t label;
} selector_keys;
static const selector_keys selector_defaults = {.label = 0};
static const yw_key_row selector_rows[] = {
    YW_NODE(selector_keys, shape, "any_shape", "Shape, in rest-pose coordinates."),
    YW_NODE(selector_keys, painted, "painted",
            "Or a painted surface: selects vertices where the paint is nearer to the second number "
            "of its range than to the first."),
    YW_KEY(selector_keys, label, INTEGER, -1e9, 1e9, "",
           "Group of the vertices. If not given: 1 for the first selector, 2 for the second, ...")};
static const yw_record selector_record =
    YW_RECORD("selector", selector_rows, selector_defaults,
              "The vertices inside a shape, or under paint.", "one shape painted");
static const yw_record* const records[] = {&selector_record, NULL};

// Groups ------------------------------------------------------------------------------------------

static bool load_selector(yw_loader* l, const yw_json* node, int32_t number, match_settings* out) {
  selector_keys k;
  if (!yw_read_record(&l->r, node, &selector_record, &k) ||
      !yw_not_both(&l->r, node, "shape", "painted")) {
    return false;
  }
  bool done = k.painted ? yw_load_painted(l, node, &out->label_paints[number])
                        : yw_needs(&l->r, node, "shape") &&
                              yw_load_shape(l, k.shape, &out->label_shapes[number]);
  if (!done) return false;
  out->labels[number] = yw_json_get(node, "label") ? k.label : number + 1;
  return true;
}

static bool load_labels(yw_loader* l, const yw_json* node, match_settings* out) {
  int32_t count = node->count;
  if (count == 0) return yw_value_fail(&l->r, node, "is empty, but must have labels or shapes");
  bool shapes = node->items[0]->type == YW_JSON_OBJECT;
  out->grouping = YW_GROUPS_LABELS;
  out->labels_node = node;
  out->num_labels = count;
  out->labels = yw_json_alloc(l->r.doc, (size_t)count * sizeof *out->labels);
  if (!out->labels) return yw_memory_fail(&l->r);
  if (shapes) {
    out->label_shapes = yw_json_alloc(l->r.doc, (size_t)count * sizeof *out->label_shapes);
    out->label_paints = yw_json_alloc(l->r.doc, (size_t)count * sizeof *out->label_paints);
    if (!out->label_shapes || !out->label_paints) return yw_memory_fail(&l->r);
    memset(out->label_shapes, 0, (size_t)count * sizeof *out->label_shapes);
    memset(out->label_paints, 0, (size_t)count * sizeof *out->label_paints);
  }
  for (int32_t i = 0; i < count; i++) {
    const yw_json* item = node->items[i];
    bool done = shapes ? load_selector(l, item, i, out)
                       : yw_read_integer(&l->r, item, -1e9, 1e9, &out->labels[i]);
    if (!done) return false;
  }
  return true;
}

static bool load_groups(yw_loader* l, const yw_json* node, match_settings* out) {
  static const char* const words[] = {"global", "per_region"};
  out->grouping = YW_GROUPS_GLOBAL;
  if (!node) return true;
  if (node->type == YW_JSON_ARRAY) return load_labels(l, node, out);
  if (node->type == YW_JSON_OBJECT) {
    out->grouping = YW_GROUPS_LABELS;
    return yw_load_vertex_paint(l, node, &out->painted);
  }
  if (node->type != YW_JSON_STRING) {
    return yw_type_fail(&l->r, node,
                        "\"global\", \"per_region\", a list of labels, a list of "
                        "{\"shape\": ..., \"label\": ...}, or {\"painted\": ...}");
  }
  if (strcmp(node->string, "global") == 0) return true;
  out->grouping = YW_GROUPS_PER_REGION;
  if (strcmp(node->string, "per_region") == 0) return true;
  yw_hint hint = yw_suggest(node->string, 2, words);
  return yw_value_fail(&l->r, node, "is \"%.60s\", but must be \"global\" or \"per_region\"%s",
                       node->string, hint.text);
}

static bool load(yw_loader* l, yw_model_spec* model) {
  match_settings* settings = model->settings;
  return yw_needs_volume(l, model) &&
         yw_not_both(&l->r, model->settings_node, "stiffness", "alpha") &&
         load_groups(l, settings->groups, settings);
}

// A body that asks for a stiffness must not get the model's alpha.
static bool check(yw_loader* l, const yw_json* node, const yw_model_spec* model,
                  const void* settings) {
  (void)model;
  if (!yw_not_both(&l->r, node, "stiffness", "alpha")) return false;
  const yw_json* stiffness = yw_json_get(node, "stiffness");
  if (!stiffness || ((const match_settings*)settings)->params.alpha == 0.0f) return true;
  return yw_value_fail(&l->r, stiffness,
                       "is given, but the model has \"alpha\": give the body \"alpha\", or the "
                       "model \"stiffness\"");
}

// Building ----------------------------------------------------------------------------------------

static bool selects(const match_settings* s, int32_t k, yw_vec3 p) {
  return s->label_shapes[k] ? yw_shape_distance(s->label_shapes[k], p) <= 0
                            : yw_painted_share(&s->label_paints[k], p) >= MOSTLY;
}

// Labels per vertex: given, or those of the first shape that contains it (0 outside all).
static bool build_labels(yw_loader* l, const yw_model_spec* model, const match_settings* s,
                         int32_t* out) {
  int32_t count = model->tets.num_vertices;
  if (s->painted) {
    unsigned char* bytes = NULL;
    if (!yw_read_vertex_paint(l, s->painted, count, &bytes)) return false;
    for (int32_t i = 0; i < count; i++) out[i] = bytes[i];
    yw_mem_free(&l->scene->mem, bytes);
    return true;
  }
  if (!s->label_shapes) {
    if (s->num_labels != count) {
      return yw_value_fail(&l->r, s->labels_node, "has %d labels, but the mesh has %d vertices",
                           (int)s->num_labels, (int)count);
    }
    memcpy(out, s->labels, (size_t)count * sizeof *out);
    return true;
  }
  for (int32_t k = 0; k < s->num_labels; k++) {
    bool any = false;
    for (int32_t i = 0; i < count && !any; i++) {
      any = selects(s, k, model->tets.positions[i]);
    }
    if (!any) {
      return yw_value_fail(&l->r, s->labels_node->items[k], "selects none of the %d vertices",
                           (int)count);
    }
  }
  for (int32_t i = 0; i < count; i++) {
    out[i] = 0;
    for (int32_t k = s->num_labels - 1; k >= 0; k--) {
      if (selects(s, k, model->tets.positions[i])) out[i] = s->labels[k];
    }
  }
  return true;
}

static bool create_with(yw_loader* l, yw_model_spec* model) {
  const match_settings* settings = model->settings;
  yw_error deep = {0};
  yw_match_def def = yw_default_match_def();
  def.mesh = &model->tets;
  def.density = yw_tet_density(model, model->keys.density);
  def.num_examples = model->num_poses;
  def.examples = (const yw_vec3* const*)model->examples;
  def.example_strengths = model->strengths;
  def.grouping = settings->grouping;
  def.vertex_labels = model->labels;
  def.params = settings->params;
  yw_status status = yw_model_create_match(&l->scene->mem, &def, &model->model, &deep);
  const yw_json* node = status == YW_ERR_GEOMETRY ? model->source_node : model->node;
  if (status < 0) return yw_deep_fail(&l->r, node, &deep);
  if (status == YW_WARN_REDUNDANT) yw_value_warn(&l->r, model->keys.examples, ": %s", deep.message);
  return true;
}

static bool create(yw_loader* l, yw_model_spec* model) {
  const match_settings* settings = model->settings;
  if (settings->grouping != YW_GROUPS_LABELS) return create_with(l, model);
  model->labels = YW_NEW_ARRAY(&l->scene->mem, int32_t, model->tets.num_vertices);
  if (!model->labels) return yw_memory_fail(&l->r);
  int32_t paints = settings->label_paints ? settings->num_labels : 0;
  bool done = yw_open_stiffness(l, &model->tets, paints, settings->label_paints) &&
              build_labels(l, model, settings, model->labels) && create_with(l, model);
  yw_close_stiffness(paints, settings->label_paints);
  return done;
}

static bool build(yw_loader* l, yw_model_spec* model) { return yw_build_volume(l, model, create); }

static yw_status apply(yw_world* world, yw_body_id id, const void* settings) {
  return yw_body_set_match_params(world, id, &((const match_settings*)settings)->params);
}

// Tets of a shape: a thousand or two particles are quick and look smooth.
static const yw_size_wish tet_size = {.cells = 8.0, .across = 1.6, .max_tets = 8000.0};

const yw_scene_method yw_scene_match = {.name = "match",
                                        .record = &match_record,
                                        .tet_size = &tet_size,
                                        .records = records,
                                        .has_poses = true,
                                        .load = load,
                                        .check = check,
                                        .build = build,
                                        .apply = apply};
