// SPDX-License-Identifier: MIT
// Reads models: their source, settings of their method, examples, embedded surface. Nothing is
// meshed here: mistakes are reported before any expensive work begins.
#include <string.h>

#include "scene/method.h"
#include "scene/records.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/vec.h"

// Tables ------------------------------------------------------------------------------------------

static const yw_model_keys model_defaults = {.density = 1000};
static const yw_key_row model_rows[] = {
    YW_NODE(
        yw_model_keys, shape, "any_shape",
        "Shape of the body, filled with tets of 1/12 of its longest side, or smaller ones where "
        "it is thin or curved; fem starts from larger ones, plastic uses particles."),
    YW_NODE(yw_model_keys, mesh, "string|mesh",
            "Tet mesh of the body: a file, a lattice, or a shape with a given tet size."),
    YW_NODE(yw_model_keys, examples, "[pose]", "Example poses, which attract the body."),
    YW_NODE(yw_model_keys, surface, "surface",
            "Finer triangle mesh that moves with the tets and is shown in pictures. Default: the "
            "surface that the shape is made of."),
    YW_KEY_ABOVE(yw_model_keys, density, NUMBER, 0, 1e6, "kg/m^3",
                 "Density. If a material is named, its density is the default.")};
const yw_record yw_record_model = YW_RECORD_WITH_METHODS(
    "model", model_rows, model_defaults,
    "Geometry and material, which any number of bodies can share.", "one shape mesh");

typedef struct mesh_keys {
  const yw_json *lattice, *tets;
  const char* file;
  float scale;
} mesh_keys;
static const mesh_keys mesh_defaults = {.scale = 1};
static const yw_key_row mesh_rows[] = {
    YW_NODE(mesh_keys, lattice, "lattice", "Box of cells."),
    YW_NODE(mesh_keys, tets, "tets", "Shape filled with tets."),
    YW_KEY(mesh_keys, file, TEXT, 0, 0, "",
           "Tet mesh (.vtu, .vtk, .msh, .mesh, .meshb, .inp, .node/.ele); relative to the "
           "scene file."),
    YW_KEY_ABOVE(mesh_keys, scale, NUMBER, 0, YW_SCENE_REACH, "",
                 "Scale factor for the coordinates in the file, and in the files of its examples "
                 "and surface.")};
const yw_record yw_record_mesh =
    YW_RECORD("mesh", mesh_rows, mesh_defaults, "Source of the tets.", "one lattice tets file");

static const yw_lattice_spec lattice_defaults = {.cut = 5};
static const yw_key_row lattice_rows[] = {
    YW_KEY_ABOVE(yw_lattice_spec, size, SIZE, 0, YW_SCENE_REACH, "m", "Side lengths."),
    YW_KEY(yw_lattice_spec, cells, COUNTS, 1, 10000, "", "Number of cells along x, y, z."),
    YW_KEY(yw_lattice_spec, cut, INTEGER, 5, 6, "",
           "Number of tets per cell: 5 (mirrored from cell to cell) or 6."),
    YW_KEY(yw_lattice_spec, center, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m", "Centre.")};
const yw_record yw_record_lattice =
    YW_RECORD("lattice", lattice_rows, lattice_defaults,
              "A box of equal cells, each split into tets.", "needs size cells");

typedef struct tets_keys {
  const yw_json *shape, *sizes;
  float size;
  int32_t bulk;
} tets_keys;
static const tets_keys tets_defaults = {.bulk = 1};
static const yw_key_row tets_rows[] = {
    YW_NODE(tets_keys, shape, "any_shape", "Shape to fill."),
    YW_KEY_ABOVE(
        tets_keys, size, NUMBER, 0, YW_SCENE_REACH, "m",
        "Edge length of the tets. Default: 1/12 of the longest side (fem: 1/4), or less if the "
        "shape is thin or curved."),
    YW_NODE(tets_keys, sizes, "[tet_size]", "Where tets are smaller."),
    YW_KEY(tets_keys, bulk, INTEGER, 1, 8, "",
           "Times by which tets away from the surface are larger: 1, 2, 4 or 8.")};
const yw_record yw_record_tets =
    YW_RECORD("tets", tets_rows, tets_defaults,
              "A shape filled with tets of one size, smaller ones where it is thin, or as asked "
              "for.",
              "needs shape");

static const yw_surface_spec surface_defaults = {.file = NULL};
static const yw_key_row surface_rows[] = {
    YW_KEY(
        yw_surface_spec, file, TEXT, 0, 0, "",
        "Triangle mesh (.obj, .ply or .stl), in the coordinates of the tets; if the model is the "
        "shape of a mesh file, in those of that file."),
    YW_NODE(yw_surface_spec, shape, "any_shape", "Shape whose surface is triangulated."),
    YW_KEY_ABOVE(yw_surface_spec, size, NUMBER, 0, YW_SCENE_REACH, "m",
                 "Edge length of the triangles of a shape. Default: half that of the tets."),
    YW_KEY(yw_surface_spec, subdivide, INTEGER, 0, 5, "",
           "Number of times that every triangle is split into four.")};
const yw_record yw_record_surface = YW_RECORD(
    "surface", surface_rows, surface_defaults,
    "A triangle mesh carried by the tets. Without \"file\" and \"shape\": the surface that "
    "the model is made of (mesh file or shape), or the boundary of its tets.",
    "not file shape");

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

// A solid to be meshed must be bounded.
static bool load_solid(yw_loader* l, const yw_json* node, yw_shape** out) {
  if (!yw_load_shape(l, node, out)) return false;
  yw_aabb box;
  if (yw_shape_bounds(*out, &box)) return true;
  return yw_value_fail(&l->r, node, "has no end (a plane?), but a body must have one");
}

static bool load_tets(yw_loader* l, const yw_json* node, yw_model_spec* out) {
  tets_keys k;
  if (!yw_read_record(&l->r, node, &yw_record_tets, &k) || !yw_needs(&l->r, node, "shape") ||
      !load_solid(l, k.shape, &out->shape) || !yw_load_tet_sizes(l, k.sizes, &out->sizes)) {
    return false;
  }
  if ((k.bulk & (k.bulk - 1)) != 0) {
    return yw_value_fail(&l->r, yw_json_get(node, "bulk"), "is %d, but must be 1, 2, 4 or 8",
                         k.bulk);
  }
  out->source = YW_SOURCE_SHAPE;
  out->size = k.size;
  out->bulk = k.bulk;
  return true;
}

static bool load_source(yw_loader* l, const yw_json* node, yw_model_spec* out) {
  const char* either[YW_SCENE_MAX_SOURCES];
  static const char* const sources[] = {"lattice", "tets", "file"};
  const yw_json *shape = out->keys.shape, *mesh = out->keys.mesh;
  int32_t which;
  if (!yw_exactly_one(&l->r, node, yw_list_sources(either), either, &which)) return false;
  out->scale = 1;
  if (out->keys.own_source) {
    out->source = YW_SOURCE_OWN;
    out->source_node = out->keys.own_source;
    return true;
  }
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

// Without a surface of its own, a body shows the one it was made from: that of the file, or of the
// shape. A file in "surface" moves as the one of the shape does.
static bool load_surface(yw_loader* l, const yw_json* node, yw_model_spec* out) {
  yw_surface_spec* surface = &out->surface;
  const yw_shape_file* source = out->shape ? yw_find_shape_file(l, out->shape) : NULL;
  out->has_surface = node || out->shape;
  out->surface_place = (yw_transform){{0, 0, 0}, {0, 0, 0, 1}, out->scale};
  if (source) out->surface_place = source->place;
  if (node && !yw_read_record(&l->r, node, &yw_record_surface, surface)) return false;
  if (node && !yw_not_both(&l->r, node, "file", "shape")) return false;
  if (surface->shape) return load_solid(l, surface->shape, &surface->solid);
  const yw_json* size = node ? yw_json_get(node, "size") : NULL;
  if (!surface->file && source && !size) {
    surface->file = source->file;
    out->surface_part = source->part;
  }
  if (!surface->file && out->source == YW_SOURCE_SHAPE) surface->solid = out->shape;
  if (!size || surface->solid) return true;
  return yw_value_fail(&l->r, size, "is only for surfaces of a shape, but none is given");
}

// Models ------------------------------------------------------------------------------------------

static const yw_scene_method* method_of(const yw_model_keys* keys) {
  return keys->method ? keys->method : yw_scene_methods[0];
}

// Settings that a body may change while it runs are not part of the model's identity.
static uint64_t hash_of_settings(const yw_json* settings, const yw_record* record) {
  uint64_t hash = YW_HASH_SEED;
  for (int32_t i = 0; i < record->num_keys; i++) {
    if (!record->keys[i].of_model) continue;
    hash = yw_hash_u64(hash, yw_json_hash(yw_json_get(settings, record->keys[i].name)));
  }
  return hash;
}

static bool same_settings(const yw_json* a, const yw_json* b, const yw_record* record) {
  for (int32_t i = 0; i < record->num_keys; i++) {
    const char* name = record->keys[i].name;
    if (!record->keys[i].of_model) continue;
    if (!yw_json_equal(yw_json_get(a, name), yw_json_get(b, name))) return false;
  }
  return true;
}

static bool same_source(const yw_json* a, const yw_json* b) {
  return yw_json_equal(a, b) && (!a || strcmp(a->key, b->key) == 0);
}

static uint64_t hash_of(const yw_model_keys* k) {
  const char* name = method_of(k)->name;
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, &k->density, sizeof k->density);
  hash = yw_hash_bytes(hash, name, strlen(name));
  hash = yw_hash_u64(hash, yw_json_hash(k->shape));
  hash = yw_hash_u64(hash, yw_json_hash(k->mesh));
  hash = yw_hash_u64(hash, yw_json_hash(k->own_source));
  hash = yw_hash_u64(hash, yw_json_hash(k->examples));
  hash = yw_hash_u64(hash, yw_json_hash(k->surface));
  return yw_hash_u64(hash, hash_of_settings(k->settings, method_of(k)->record));
}

static bool same_model(const yw_model_keys* a, const yw_model_keys* b) {
  return a->density == b->density && method_of(a) == method_of(b) &&
         yw_json_equal(a->shape, b->shape) && yw_json_equal(a->mesh, b->mesh) &&
         same_source(a->own_source, b->own_source) && yw_json_equal(a->examples, b->examples) &&
         yw_json_equal(a->surface, b->surface) &&
         same_settings(a->settings, b->settings, method_of(a)->record);
}

// Takes the density of the material if the object with the keys gives none.
static bool load_material_density(yw_loader* l, const yw_json* node, yw_model_keys* keys) {
  const yw_scene_method* method = method_of(keys);
  const yw_json* name = yw_json_get(keys->settings, "material");
  if (!name || name->type != YW_JSON_STRING || yw_json_get(node, "density")) return true;
  return !method->density || method->density(l, name, &keys->density);
}

static bool load_method(yw_loader* l, const yw_json* node, yw_model_spec* out) {
  const yw_json* settings = out->keys.settings;
  out->method = method_of(&out->keys);
  const yw_record* record = out->method->record;
  out->settings_node = settings ? settings : node;
  out->settings = yw_json_alloc(l->r.doc, record->size);
  if (!out->settings) return yw_memory_fail(&l->r);
  memcpy(out->settings, record->defaults, record->size);
  return (!out->method->screen || out->method->screen(l, out)) &&
         (!settings || yw_read_record(&l->r, settings, record, out->settings)) &&
         out->method->load(l, out);
}

static bool load_new_model(yw_loader* l, const yw_json* node, const yw_model_keys* keys,
                           uint64_t hash, int32_t* index) {
  yw_model_spec model = {.node = node, .keys = *keys, .hash = hash, .merged_only = true};
  if (!load_source(l, node, &model) || !load_examples(l, keys->examples, &model) ||
      !load_surface(l, keys->surface, &model) || !load_method(l, node, &model)) {
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
    if (!yw_read_record(&l->r, node->items[i], &yw_record_model, &keys) ||
        !yw_find_method(l, node->items[i], &keys) ||
        !load_material_density(l, node->items[i], &keys) ||
        !load_new_model(l, node->items[i], &keys, hash_of(&keys), &index)) {
      return false;
    }
  }
  return true;
}
