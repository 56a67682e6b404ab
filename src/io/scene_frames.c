// SPDX-License-Identifier: MIT
// Reads "frames" of models and bodies: material, fields of stiffness, solver; and makes the model.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "io/scene_loader.h"
#include "io/scene_records.h"
#include "math/vec.h"

#define FAR 1e6
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

// Keys of above that a model is made of.
static const char* const model_keys[] = {"material", "youngs_modulus", "poissons_ratio", "kind",
                                         "fields"};
#define NUM_MODEL_KEYS ((int32_t)(sizeof model_keys / sizeof *model_keys))

static const yw_stiffness_spec stiffness_defaults = {.blend = 0};
static const yw_field stiffness_fields[] = {
    YW_FIELD(yw_stiffness_spec, shape, NODE, 0, 0),
    YW_FIELD(yw_stiffness_spec, blend, NUMBER, 0, FAR),
    YW_FIELD(yw_stiffness_spec, from, VEC3, -FAR, FAR),
    YW_FIELD(yw_stiffness_spec, to, VEC3, -FAR, FAR),
    YW_FIELD(yw_stiffness_spec, material, TEXT, 0, 0),
    YW_FIELD(yw_stiffness_spec, youngs_modulus, NODE, 0, 0),
    YW_FIELD(yw_stiffness_spec, poissons_ratio, NODE, 0, 0)};
const yw_record yw_record_stiffness = YW_RECORD("stiffness", stiffness_fields, stiffness_defaults);

// Sharing -----------------------------------------------------------------------------------------

uint64_t yw_frames_keys_hash(const yw_json* frames) {
  uint64_t hash = yw_hash_u64(YW_HASH_SEED, frames != NULL);
  for (int32_t i = 0; frames && i < NUM_MODEL_KEYS; i++) {
    hash = yw_hash_u64(hash, yw_json_hash(yw_json_get(frames, model_keys[i])));
  }
  return hash;
}

bool yw_same_frames_keys(const yw_json* a, const yw_json* b) {
  if (!a || !b) return a == b;
  for (int32_t i = 0; i < NUM_MODEL_KEYS; i++) {
    if (!yw_json_equal(yw_json_get(a, model_keys[i]), yw_json_get(b, model_keys[i]))) return false;
  }
  return true;
}

const yw_json* yw_frames_model_key(const yw_json* frames) {
  for (int32_t i = 0; frames && i < NUM_MODEL_KEYS; i++) {
    const yw_json* item = yw_json_get(frames, model_keys[i]);
    if (item) return item;
  }
  return NULL;
}

// Materials ---------------------------------------------------------------------------------------

static const yw_material* find_material(yw_loader* l, const yw_json* node) {
  const yw_material* material = yw_material_by_name(node->string);
  if (material) return material;
  const char* names[64];
  char known[400] = " (known: ";
  int32_t count = yw_num_materials() < 64 ? yw_num_materials() : 64;
  for (int32_t i = 0; i < count; i++) {
    names[i] = yw_material_at(i)->name;
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", names[i], i + 1 == count ? ")" : ", ");
  }
  yw_hint hint = yw_suggest(node->string, count, names);
  yw_value_fail(&l->r, node, "is \"%.60s\", which is no material%s", node->string,
                hint.text[0] ? hint.text : known);
  return NULL;
}

bool yw_load_material_density(yw_loader* l, const yw_json* node, yw_model_keys* keys) {
  const yw_json* name = yw_json_get(keys->frames, "material");
  if (!name || name->type != YW_JSON_STRING || yw_json_get(node, "density")) return true;
  const yw_material* material = find_material(l, name);
  if (material) keys->density = material->density;
  return material != NULL;
}

// Fields ------------------------------------------------------------------------------------------

// One value, or two where there are points to go from and to.
static bool load_values(yw_loader* l, const yw_json* node, bool graded, double low, double high,
                        bool open, float out[2]) {
  if (node->type != YW_JSON_ARRAY) {
    bool done = yw_read_number(&l->r, node, low, high, open, &out[0]);
    out[1] = out[0];
    return done;
  }
  if (node->count != 2) {
    return yw_value_fail(&l->r, node, "has %d numbers, but must have 2", (int)node->count);
  }
  if (!graded) {
    return yw_value_fail(&l->r, node, "has 2 numbers, which needs \"from\" and \"to\" beside it");
  }
  return yw_read_number(&l->r, node->items[0], low, high, open, &out[0]) &&
         yw_read_number(&l->r, node->items[1], low, high, open, &out[1]);
}

static bool load_line(yw_loader* l, const yw_json* node, yw_stiffness_spec* out) {
  bool from = yw_json_get(node, "from") != NULL, to = yw_json_get(node, "to") != NULL;
  out->graded = from && to;
  if (from != to) return yw_needs(&l->r, node, from ? "to" : "from");
  if (out->graded && !(yw_length2(yw_sub(out->to, out->from)) > 0)) {
    return yw_value_fail(&l->r, node, "goes from a point to the same point");
  }
  return true;
}

static bool load_stiffness(yw_loader* l, const yw_json* node, yw_stiffness_spec* out) {
  if (!yw_read_record(&l->r, node, &yw_record_stiffness, out) || !load_line(l, node, out) ||
      (out->shape && !yw_load_shape(l, out->shape, &out->where))) {
    return false;
  }
  if (!out->material && !out->youngs_modulus && !out->poissons_ratio) {
    return yw_value_fail(&l->r, node,
                         "needs \"youngs_modulus\", \"poissons_ratio\" or \"material\"");
  }
  if (out->material) {
    const yw_material* material = find_material(l, yw_json_get(node, "material"));
    if (!material) return false;
    out->youngs[0] = out->youngs[1] = material->youngs_modulus;
    out->poisson[0] = out->poisson[1] = material->poissons_ratio;
    out->has_poisson = true;
  }
  if (out->poissons_ratio) out->has_poisson = true;
  return (!out->youngs_modulus ||
          load_values(l, out->youngs_modulus, out->graded, 0, MOST_YOUNGS, true, out->youngs)) &&
         (!out->poissons_ratio ||
          load_values(l, out->poissons_ratio, out->graded, 0, MOST_POISSON, false, out->poisson));
}

static bool load_stiffness_list(yw_loader* l, yw_frames_spec* out) {
  const yw_json* node = out->fields;
  if (!node) return true;
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  out->num_fields = node->count;
  out->field_list = yw_json_alloc(l->r.doc, (size_t)(node->count + 1) * sizeof *out->field_list);
  if (!out->field_list) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < node->count; i++) {
    if (!load_stiffness(l, node->items[i], &out->field_list[i])) return false;
  }
  return true;
}

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
    const yw_material* material = find_material(l, yw_json_get(node, "material"));
    if (!material) return false;
    if (!yw_json_get(node, "youngs_modulus")) frames->youngs_modulus = material->youngs_modulus;
    if (!yw_json_get(node, "poissons_ratio")) frames->poissons_ratio = material->poissons_ratio;
  }
  if (frames->kind == YW_FRAMES_CELLS && model->source != YW_SOURCE_LATTICE) {
    return yw_value_fail(&l->r, yw_json_get(node, "kind"),
                         "is \"cells\", but the mesh is not a lattice");
  }
  return check_solver(l, node, frames->solver, model->num_poses) && load_stiffness_list(l, frames);
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

// Along the line from begin to end; what lies beyond an end has its value.
static float place_along(const yw_stiffness_spec* f, yw_vec3 p) {
  if (!f->graded) return 0.0f;
  yw_vec3 line = yw_sub(f->to, f->from);
  return yw_clampf(yw_dot(yw_sub(p, f->from), line) / yw_length2(line), 0.0f, 1.0f);
}

// Moduli are mixed by their logarithms: half-way between 1 kPa and 1 MPa is 30 kPa.
static float mix_moduli(float a, float b, float t) {
  if (t <= 0.0f || a == b) return a;
  return t >= 1.0f ? b : a * powf(b / a, t);
}

static bool fill_fields(yw_loader* l, const yw_model_spec* model, float* youngs, float* poisson) {
  const yw_frames_spec* frames = &model->settings.frames;
  int32_t count = model->tets.num_vertices;
  for (int32_t i = 0; i < count; i++) {
    youngs[i] = frames->youngs_modulus;
    poisson[i] = frames->poissons_ratio;
  }
  for (int32_t k = 0; k < frames->num_fields; k++) {
    const yw_stiffness_spec* f = &frames->field_list[k];
    bool any = false;
    for (int32_t i = 0; i < count; i++) {
      yw_vec3 p = model->tets.positions[i];
      float w = yw_shape_weight(f->where, f->blend, p), t = place_along(f, p);
      if (!(w > 0.0f)) continue;
      any = true;
      float stiff = mix_moduli(f->youngs[0], f->youngs[1], t);
      if (stiff > 0.0f) youngs[i] = mix_moduli(youngs[i], stiff, w);
      float nu = f->poisson[0] + t * (f->poisson[1] - f->poisson[0]);
      if (f->has_poisson) poisson[i] += w * (nu - poisson[i]);
    }
    if (!any) {
      return yw_value_fail(&l->r, frames->fields->items[k], "selects none of the %d vertices",
                           (int)count);
    }
  }
  return true;
}

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
  float* fields = frames->num_fields > 0 ? YW_NEW_ARRAY(mem, float, 2 * (size_t)count) : NULL;
  int32_t* corners = cells ? YW_NEW_ARRAY(mem, int32_t, 8 * (size_t)def.num_cells) : NULL;
  bool done = true;
  if ((frames->num_fields > 0 && !fields) || (cells && !corners)) {
    done = yw_memory_fail(&l->r);
  } else if (fields) {
    done = fill_fields(l, model, fields, fields + count);
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
