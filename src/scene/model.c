// SPDX-License-Identifier: MIT
// Reads models: where the tets come from, match settings, groups, examples, the surface they carry.
// Nothing is meshed here: mistakes are reported before any long work begins.
#include <string.h>

#include "scene/loader.h"
#include "scene/records.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/vec.h"
#include "yawara/match.h"
#include "yawara/plastic.h"

#define FAR 1e6

// Tables ------------------------------------------------------------------------------------------

static const yw_model_keys model_defaults = {.density = 1000};
static const yw_field model_fields[] = {YW_FIELD(yw_model_keys, shape, NODE, 0, 0),
                                        YW_FIELD(yw_model_keys, mesh, NODE, 0, 0),
                                        YW_FIELD(yw_model_keys, rod, NODE, 0, 0),
                                        YW_FIELD(yw_model_keys, sheet, NODE, 0, 0),
                                        YW_FIELD(yw_model_keys, match, NODE, 0, 0),
                                        YW_FIELD(yw_model_keys, frames, NODE, 0, 0),
                                        YW_FIELD(yw_model_keys, slender, NODE, 0, 0),
                                        YW_FIELD(yw_model_keys, fem, NODE, 0, 0),
                                        YW_FIELD(yw_model_keys, plastic, NODE, 0, 0),
                                        YW_FIELD(yw_model_keys, examples, NODE, 0, 0),
                                        YW_FIELD(yw_model_keys, surface, NODE, 0, 0),
                                        YW_FIELD_ABOVE(yw_model_keys, density, NUMBER, 0, 1e6)};
const yw_record yw_record_model = YW_RECORD("model", model_fields, model_defaults);

typedef struct mesh_keys {
  const yw_json *lattice, *tets;
  const char* file;
  float scale;
} mesh_keys;
static const mesh_keys mesh_defaults = {.scale = 1};
static const yw_field mesh_fields[] = {
    YW_FIELD(mesh_keys, lattice, NODE, 0, 0), YW_FIELD(mesh_keys, tets, NODE, 0, 0),
    YW_FIELD(mesh_keys, file, TEXT, 0, 0), YW_FIELD_ABOVE(mesh_keys, scale, NUMBER, 0, FAR)};
const yw_record yw_record_mesh = YW_RECORD("mesh", mesh_fields, mesh_defaults);

static const yw_lattice_spec lattice_defaults = {.cut = 5};
static const yw_field lattice_fields[] = {YW_FIELD_ABOVE(yw_lattice_spec, size, SIZE, 0, FAR),
                                          YW_FIELD(yw_lattice_spec, cells, COUNTS, 1, 10000),
                                          YW_FIELD(yw_lattice_spec, cut, INTEGER, 5, 6),
                                          YW_FIELD(yw_lattice_spec, center, VEC3, -FAR, FAR)};
const yw_record yw_record_lattice = YW_RECORD("lattice", lattice_fields, lattice_defaults);

typedef struct tets_keys {
  const yw_json* shape;
  float size;
} tets_keys;
static const tets_keys tets_defaults = {.size = 0};
static const yw_field tets_fields[] = {YW_FIELD(tets_keys, shape, NODE, 0, 0),
                                       YW_FIELD_ABOVE(tets_keys, size, NUMBER, 0, FAR)};
const yw_record yw_record_tets = YW_RECORD("tets", tets_fields, tets_defaults);

static const char* const projections[] = {"exact", "paper", NULL};
static const yw_match_spec match_defaults = {.alpha = 0.8f,
                                             .beta = 0.95f,
                                             .damping = 2,
                                             .viscosity = 0.015f,
                                             .projection = YW_PROJECTION_EXACT};
static const yw_field match_fields[] = {
    YW_FIELD(yw_match_spec, alpha, NUMBER, 0, 1),
    YW_FIELD(yw_match_spec, beta, NUMBER, 0, 1),
    YW_FIELD(yw_match_spec, damping, NUMBER, 0, 1e6),
    YW_FIELD(yw_match_spec, viscosity, NUMBER, 0, 1e3),
    {"projection", YW_FIELD_CHOICE, offsetof(yw_match_spec, projection), 0, 0, false, projections},
    YW_FIELD(yw_match_spec, groups, NODE, 0, 0)};
const yw_record yw_record_match = YW_RECORD("match", match_fields, match_defaults);

typedef struct selector_keys {
  const yw_json* shape;
  int32_t label;
} selector_keys;
static const selector_keys selector_defaults = {.label = 0};
static const yw_field selector_fields[] = {YW_FIELD(selector_keys, shape, NODE, 0, 0),
                                           YW_FIELD(selector_keys, label, INTEGER, -1e9, 1e9)};
const yw_record yw_record_selector = YW_RECORD("selector", selector_fields, selector_defaults);

static const yw_surface_spec surface_defaults = {.file = NULL};
static const yw_field surface_fields[] = {YW_FIELD(yw_surface_spec, file, TEXT, 0, 0),
                                          YW_FIELD(yw_surface_spec, shape, NODE, 0, 0),
                                          YW_FIELD_ABOVE(yw_surface_spec, size, NUMBER, 0, FAR),
                                          YW_FIELD(yw_surface_spec, subdivide, INTEGER, 0, 5)};
const yw_record yw_record_surface = YW_RECORD("surface", surface_fields, surface_defaults);

// Meshes ------------------------------------------------------------------------------------------

static bool load_lattice(yw_loader* l, const yw_json* node, yw_model_spec* out) {
  if (!yw_read_record(&l->r, node, &yw_record_lattice, &out->lattice) ||
      !yw_needs(&l->r, node, "size") || !yw_needs(&l->r, node, "cells")) {
    return false;
  }
  const int32_t* cells = out->lattice.cells;
  double vertices = (cells[0] + 1.0) * (cells[1] + 1.0) * (cells[2] + 1.0);
  if (vertices > YW_SCENE_MAX_VERTICES) {
    return yw_value_fail(&l->r, yw_json_get(node, "cells"),
                         "makes %.0f vertices, but at most %d are allowed", vertices,
                         YW_SCENE_MAX_VERTICES);
  }
  out->source = YW_SOURCE_LATTICE;
  return true;
}

// A solid to be meshed must have an end.
static bool load_solid(yw_loader* l, const yw_json* node, yw_shape** out) {
  if (!yw_load_shape(l, node, out)) return false;
  yw_aabb box;
  if (yw_shape_bounds(*out, &box)) return true;
  return yw_value_fail(&l->r, node, "has no end (a plane?), but a body must have one");
}

static bool load_tets(yw_loader* l, const yw_json* node, yw_model_spec* out) {
  tets_keys k;
  if (!yw_read_record(&l->r, node, &yw_record_tets, &k) || !yw_needs(&l->r, node, "shape") ||
      !load_solid(l, k.shape, &out->shape)) {
    return false;
  }
  out->source = YW_SOURCE_SHAPE;
  out->size = k.size;
  return true;
}

static bool load_source(yw_loader* l, const yw_json* node, yw_model_spec* out) {
  static const char* const either[] = {"mesh", "shape", "rod", "sheet"};
  static const char* const sources[] = {"lattice", "tets", "file"};
  const yw_json *shape = out->keys.shape, *mesh = out->keys.mesh;
  int32_t which;
  if (!yw_exactly_one(&l->r, node, 4, either, &which)) return false;
  out->scale = 1;
  if (which >= 2) return yw_load_slender_source(l, node, out);
  out->source_node = shape ? shape : mesh;
  if (shape) {
    out->source = YW_SOURCE_SHAPE;
    return load_solid(l, shape, &out->shape);
  }
  out->source = YW_SOURCE_FILE;
  if (mesh->type == YW_JSON_STRING) {
    out->file = mesh->string;
    return true;
  }
  if (mesh->type != YW_JSON_OBJECT) return yw_type_fail(&l->r, mesh, "a file or an object");
  mesh_keys k;
  if (!yw_read_record(&l->r, mesh, &yw_record_mesh, &k) ||
      !yw_exactly_one(&l->r, mesh, 3, sources, &which)) {
    return false;
  }
  if (yw_json_get(mesh, "scale") && !k.file) {
    return yw_value_fail(&l->r, yw_json_get(mesh, "scale"), "is only for meshes from a file");
  }
  out->source_node = yw_json_get(mesh, sources[which]);
  out->file = k.file;
  out->scale = k.scale;
  if (k.lattice) return load_lattice(l, k.lattice, out);
  return !k.tets || load_tets(l, k.tets, out);
}

// Groups ------------------------------------------------------------------------------------------

static bool load_selector(yw_loader* l, const yw_json* node, int32_t number, yw_model_spec* out) {
  selector_keys k;
  if (!yw_read_record(&l->r, node, &yw_record_selector, &k) || !yw_needs(&l->r, node, "shape") ||
      !yw_load_shape(l, k.shape, &out->label_shapes[number])) {
    return false;
  }
  out->labels[number] = yw_json_get(node, "label") ? k.label : number + 1;
  return true;
}

static bool load_labels(yw_loader* l, const yw_json* node, yw_model_spec* out) {
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
    if (!out->label_shapes) return yw_memory_fail(&l->r);
  }
  for (int32_t i = 0; i < count; i++) {
    const yw_json* item = node->items[i];
    bool done = shapes ? load_selector(l, item, i, out)
                       : yw_read_integer(&l->r, item, -1e9, 1e9, &out->labels[i]);
    if (!done) return false;
  }
  return true;
}

static bool load_groups(yw_loader* l, const yw_json* node, yw_model_spec* out) {
  static const char* const words[] = {"global", "per_region"};
  out->grouping = YW_GROUPS_GLOBAL;
  if (!node) return true;
  if (node->type == YW_JSON_ARRAY) return load_labels(l, node, out);
  if (node->type != YW_JSON_STRING) {
    return yw_type_fail(&l->r, node,
                        "\"global\", \"per_region\", a list of labels or a list of "
                        "{\"shape\": ..., \"label\": ...}");
  }
  if (strcmp(node->string, "global") == 0) return true;
  out->grouping = YW_GROUPS_PER_REGION;
  if (strcmp(node->string, "per_region") == 0) return true;
  yw_hint hint = yw_suggest(node->string, 2, words);
  return yw_value_fail(&l->r, node, "is \"%.60s\", but must be \"global\" or \"per_region\"%s",
                       node->string, hint.text);
}

// Examples and surface ----------------------------------------------------------------------------

static bool load_examples(yw_loader* l, const yw_json* node, yw_model_spec* out) {
  if (!node) return true;
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  if (node->count > YW_MAX_EXAMPLES) {
    return yw_value_fail(&l->r, node, "has %d examples, but at most %d are allowed",
                         (int)node->count, YW_MAX_EXAMPLES);
  }
  out->num_poses = node->count;
  out->poses = yw_json_alloc(l->r.doc, (size_t)(node->count + 1) * sizeof *out->poses);
  if (!out->poses) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < node->count; i++) {
    if (!yw_load_pose(l, node->items[i], &out->poses[i])) return false;
  }
  return true;
}

static bool load_surface(yw_loader* l, const yw_json* node, yw_model_spec* out) {
  yw_surface_spec* surface = &out->surface;
  if (!node) {
    // Roots are too coarse to be looked at.
    out->has_surface = out->method == YW_SCENE_FEM && out->source == YW_SOURCE_SHAPE;
    if (out->has_surface) surface->solid = out->shape;
    return true;
  }
  out->has_surface = true;
  if (!yw_read_record(&l->r, node, &yw_record_surface, surface)) return false;
  if (!yw_not_both(&l->r, node, "file", "shape")) return false;
  if (surface->shape) return load_solid(l, surface->shape, &surface->solid);
  if (!surface->file && out->source == YW_SOURCE_SHAPE) surface->solid = out->shape;
  const yw_json* size = yw_json_get(node, "size");
  if (!size || surface->solid) return true;
  return yw_value_fail(&l->r, size, "is only for surfaces of a shape, but none is given");
}

// Models ------------------------------------------------------------------------------------------

// Settings that a body may change while it runs are not part of what a model is.
static const yw_json* groups_of(const yw_model_keys* keys) {
  return yw_json_get(keys->match, "groups");
}

static uint64_t hash_of_keys(const yw_json* settings, const char* const* keys) {
  uint64_t hash = yw_hash_u64(YW_HASH_SEED, settings != NULL);
  for (; settings && *keys; keys++) {
    hash = yw_hash_u64(hash, yw_json_hash(yw_json_get(settings, *keys)));
  }
  return hash;
}

static bool same_keys(const yw_json* a, const yw_json* b, const char* const* keys) {
  if (!a || !b) return a == b;
  for (; *keys; keys++) {
    if (!yw_json_equal(yw_json_get(a, *keys), yw_json_get(b, *keys))) return false;
  }
  return true;
}

const yw_json* yw_first_key(const yw_json* settings, const char* const* keys) {
  for (; settings && *keys; keys++) {
    const yw_json* item = yw_json_get(settings, *keys);
    if (item) return item;
  }
  return NULL;
}

static uint64_t hash_of(const yw_model_keys* k) {
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, &k->density, sizeof k->density);
  hash = yw_hash_u64(hash, yw_json_hash(k->shape));
  hash = yw_hash_u64(hash, yw_json_hash(k->mesh));
  hash = yw_hash_u64(hash, yw_json_hash(k->rod));
  hash = yw_hash_u64(hash, yw_json_hash(k->sheet));
  hash = yw_hash_u64(hash, yw_json_hash(k->examples));
  hash = yw_hash_u64(hash, yw_json_hash(k->surface));
  hash = yw_hash_u64(hash, hash_of_keys(k->frames, yw_frames_model_keys));
  hash = yw_hash_u64(hash, hash_of_keys(k->slender, yw_slender_model_keys));
  hash = yw_hash_u64(hash, hash_of_keys(k->fem, yw_fem_model_keys));
  hash = yw_hash_u64(hash, yw_json_hash(k->plastic));
  return yw_hash_u64(hash, yw_json_hash(groups_of(k)));
}

static bool same_model(const yw_model_keys* a, const yw_model_keys* b) {
  return a->density == b->density && yw_json_equal(a->shape, b->shape) &&
         yw_json_equal(a->mesh, b->mesh) && yw_json_equal(a->rod, b->rod) &&
         yw_json_equal(a->sheet, b->sheet) && yw_json_equal(a->examples, b->examples) &&
         yw_json_equal(a->surface, b->surface) &&
         same_keys(a->frames, b->frames, yw_frames_model_keys) &&
         same_keys(a->slender, b->slender, yw_slender_model_keys) &&
         same_keys(a->fem, b->fem, yw_fem_model_keys) && yw_json_equal(a->plastic, b->plastic) &&
         yw_json_equal(groups_of(a), groups_of(b));
}

void yw_take_old_keys(yw_model_keys* keys) {
  if (!(keys->rod || keys->sheet) || keys->slender) return;
  keys->slender = keys->frames;
  keys->frames = NULL;
}

// Takes the density of the material where none is given in the object with the keys.
static bool load_material_density(yw_loader* l, const yw_json* node, yw_model_keys* keys) {
  const yw_json* settings = keys->plastic   ? keys->plastic
                            : keys->fem     ? keys->fem
                            : keys->slender ? keys->slender
                                            : keys->frames;
  const yw_json* name = yw_json_get(settings, "material");
  if (!name || name->type != YW_JSON_STRING || yw_json_get(node, "density")) return true;
  if (keys->plastic) {
    yw_plastic_material plastic;
    if (!yw_find_plastic_material(l, name, &plastic)) return false;
    keys->density = plastic.density;
    return true;
  }
  const yw_material* material = yw_find_scene_material(l, name);
  if (material) keys->density = material->density;
  return material != NULL;
}

static bool load_method(yw_loader* l, const yw_json* node, yw_model_spec* out) {
  const yw_model_keys* keys = &out->keys;
  static const char* const methods[] = {"match", "frames", "slender", "fem", "plastic"};
  for (int a = 0; a < 5; a++) {
    for (int b = a + 1; b < 5; b++) {
      if (!yw_not_both(&l->r, node, methods[a], methods[b])) return false;
    }
  }
  out->method = keys->plastic   ? YW_SCENE_PLASTIC
                : keys->fem     ? YW_SCENE_FEM
                : keys->slender ? YW_SCENE_SLENDER
                : keys->frames  ? YW_SCENE_FRAMES
                                : YW_SCENE_MATCH;
  out->settings = yw_default_method_spec();
  if (keys->plastic) return yw_load_plastic(l, out);
  if (keys->fem) return yw_load_fem(l, out);
  if (keys->slender) return yw_load_slender(l, out);
  if (keys->frames) return yw_load_frames(l, out);
  yw_match_spec* match = &out->settings.match;
  return (!keys->match || yw_read_record(&l->r, keys->match, &yw_record_match, match)) &&
         load_groups(l, match->groups, out);
}

static bool load_new_model(yw_loader* l, const yw_json* node, const yw_model_keys* keys,
                           uint64_t hash, int32_t* index) {
  yw_model_spec model = {.node = node, .keys = *keys, .hash = hash, .merged_only = true};
  if (!load_source(l, node, &model) || !load_examples(l, keys->examples, &model) ||
      !load_method(l, node, &model) || !load_surface(l, keys->surface, &model)) {
    return false;
  }
  if (l->scene->models.count >= YW_SCENE_MAX_MODELS) {
    return yw_value_fail(&l->r, node, "is one more than the %d different models that are allowed",
                         YW_SCENE_MAX_MODELS);
  }
  if (!YW_LIST_RESERVE(&l->scene->mem, &l->scene->models, 1)) return yw_memory_fail(&l->r);
  *index = l->scene->models.count++;
  l->scene->models.items[*index] = model;
  return true;
}

bool yw_load_model(yw_loader* l, const yw_json* node, const yw_model_keys* given, int32_t* index) {
  yw_model_keys keys = *given;
  yw_take_old_keys(&keys);
  if (!load_material_density(l, node, &keys)) return false;
  uint64_t hash = hash_of(&keys);
  for (int32_t i = 0; i < l->scene->models.count; i++) {
    const yw_model_spec* other = &l->scene->models.items[i];
    if (other->hash == hash && same_model(&other->keys, &keys)) {
      *index = i;
      return true;
    }
  }
  return load_new_model(l, node, &keys, hash, index);
}

bool yw_load_named_models(yw_loader* l, const yw_json* node) {
  if (!node) return true;
  if (!yw_is_type(&l->r, node, YW_JSON_OBJECT)) return false;
  l->models = node;
  for (int32_t i = 0; i < node->count; i++) {
    yw_model_keys keys;
    int32_t index;
    if (!yw_read_record(&l->r, node->items[i], &yw_record_model, &keys)) return false;
    yw_take_old_keys(&keys);
    if (!load_material_density(l, node->items[i], &keys) ||
        !load_new_model(l, node->items[i], &keys, hash_of(&keys), &index)) {
      return false;
    }
  }
  return true;
}

// Settings of bodies ------------------------------------------------------------------------------

yw_method_spec yw_default_method_spec(void) {
  return (yw_method_spec){.match = match_defaults,
                          .frames = *(const yw_frames_spec*)yw_record_frames.defaults,
                          .slender = *(const yw_slender_spec*)yw_record_slender.defaults,
                          .fem = *(const yw_fem_spec*)yw_record_fem.defaults,
                          .plastic = *(const yw_plastic_spec*)yw_record_plastic.defaults};
}

static bool load_body_match(yw_loader* l, const yw_json* node, yw_match_spec* match) {
  if (!node) return true;
  yw_match_spec own;
  if (!yw_read_record(&l->r, node, &yw_record_match, &own)) return false;
  if (yw_json_get(node, "alpha")) match->alpha = own.alpha;
  if (yw_json_get(node, "beta")) match->beta = own.beta;
  if (yw_json_get(node, "damping")) match->damping = own.damping;
  if (yw_json_get(node, "viscosity")) match->viscosity = own.viscosity;
  if (yw_json_get(node, "projection")) match->projection = own.projection;
  return true;
}

bool yw_load_body_settings(yw_loader* l, const yw_model_keys* keys, int32_t num_poses,
                           yw_method_spec* settings) {
  return load_body_match(l, keys->match, &settings->match) &&
         yw_load_body_frames(l, keys->frames, num_poses, &settings->frames) &&
         yw_load_body_slender(l, keys->slender, &settings->slender) &&
         yw_load_body_fem(l, keys->fem, &settings->fem);
}
