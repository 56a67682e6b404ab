// SPDX-License-Identifier: MIT
// The scene and its loader: the steps from a JSON tree to models and a world.
#ifndef YW_SCENE_LOADER_H
#define YW_SCENE_LOADER_H

#include "scene/spec.h"
#include "yawara/extend/file.h"

struct yw_scene {
  yw_allocator mem;
  yw_json_doc* doc;
  const char* file;    ///< for messages
  yw_file_list files;  ///< that were read, the scene's own text first
  yw_scene_info info;
  yw_vec3 gravity;
  int32_t contact_iterations;
  int32_t num_bodies;         ///< with all copies
  yw_jobs jobs;               ///< of the worlds that are built
  YW_LIST(yw_shape*) shapes;  ///< all that were made; the specs borrow them
  YW_LIST(yw_model_spec) models;
  YW_LIST(yw_body_spec) bodies;
  YW_LIST(yw_group_spec) groups;
  YW_LIST(yw_obstacle_spec) obstacles;
};

/// An entry of "shapes".
typedef struct yw_named_shape {
  yw_shape* shape;
  int64_t cost;
  bool reading, used;
} yw_named_shape;

struct yw_loader {
  yw_reader_ctx r;
  yw_scene* scene;
  char* folder;  ///< of the scene file, with a slash, or ""
  const yw_json* shapes;
  yw_named_shape* named_shapes;  ///< one for each item of shapes
  const yw_json* models;         ///< item i is yw_scene.models.items[i]
  const yw_scene_def* def;
  int32_t shape_depth;
};

/// The folder of the scene put before a relative name; in the document. NULL: memory is out.
char* yw_loader_file(yw_loader* l, const char* file);

// shape.c
bool yw_load_named_shapes(yw_loader* l, const yw_json* node);
bool yw_load_shape(yw_loader* l, const yw_json* node, yw_shape** out);
/// Says which entries of "shapes" nothing refers to.
void yw_warn_unused_shapes(yw_loader* l);

// model.c
bool yw_load_named_models(yw_loader* l, const yw_json* node);
/// Reads the keys of a model in `node`, or finds the same one; *index is its place in scene.models.
bool yw_load_model(yw_loader* l, const yw_json* node, const yw_model_keys* keys, int32_t* index);

// stiffness.c
/// Elastic materials; for yw_scene_method.material_name.
const char* yw_material_name(int32_t i);
/// Density of an elastic material by name; for yw_scene_method.density.
bool yw_material_density(yw_loader* l, const yw_json* name, float* out);
/// Young's modulus and Poisson's ratio of the material that settings name, where they give none.
bool yw_take_material(yw_loader* l, const yw_json* settings, float* youngs_modulus,
                      float* poissons_ratio);

// method.c
#define YW_SCENE_MAX_SOURCES 16
/// Keys that say what a body is made of; how many there are.
int32_t yw_list_sources(const char* out[YW_SCENE_MAX_SOURCES]);
/// Finds the method that the keys of a model or body name, and fills the last part of keys.
bool yw_find_method(yw_loader* l, const yw_json* node, yw_model_keys* keys);
/// Settings under the key of `named` (may be NULL) are settings of `method`, also by its old name.
bool yw_is_named(const yw_scene_method* method, const yw_scene_method* named);
/// The first key of the settings that belongs to models alone, or NULL.
const yw_json* yw_first_model_key(const yw_json* settings, const yw_record* record);

// merge.c
/// Reads "merge": the body becomes part of a group.
bool yw_load_merge(yw_loader* l, yw_body_spec* body);
/// Makes the models of groups.
bool yw_build_groups(yw_loader* l);

// overlap.c
/// Says which plastic bodies begin inside others without merging, or inside obstacles.
void yw_warn_overlaps(yw_loader* l);

// pose.c
bool yw_load_pose(yw_loader* l, const yw_json* node, yw_pose_spec* out);
/// 1 inside the shape (or without one), 0 outside, straight in between over the width of the
/// border.
float yw_shape_weight(const yw_shape* shape, float blend, yw_vec3 p);
/// Positions of the model's vertices in the pose; out has room for all of them.
bool yw_build_pose(yw_loader* l, const yw_model_spec* model, const yw_pose_spec* pose,
                   yw_vec3* out);

// path.c
bool yw_load_path(yw_loader* l, const yw_json* node, yw_path_spec* out);
yw_path yw_path_of(const yw_path_spec* spec, yw_vec3 pivot);

// body.c
bool yw_load_bodies(yw_loader* l, const yw_json* node);
bool yw_load_obstacles(yw_loader* l, const yw_json* node);
bool yw_load_floor(yw_loader* l, const yw_json* node);

// build.c
/// Makes meshes, examples and models of everything that is used, then selects what pins hold.
bool yw_build_models(yw_loader* l);
/// Makes or reads the tets that the model says, of the size that it says.
bool yw_build_tets(yw_loader* l, yw_model_spec* model);
void yw_model_spec_free(const yw_allocator* mem, yw_model_spec* model);

// surface.c
/// Makes the surface that the model carries; *out is empty when it shows its own boundary.
bool yw_build_surface(yw_loader* l, yw_model_spec* model, yw_tri_mesh* out);

// override.c
/// Applies overrides to the tree.
bool yw_apply_overrides(yw_loader* l, int32_t count, const yw_scene_override* overrides);

// world.c
/// Where copy number `copy` of a body is placed.
yw_transform yw_body_copy_transform(const yw_body_spec* body, int32_t copy);
static inline yw_model_spec* yw_model_of_body(const yw_scene* scene, const yw_body_spec* body) {
  return &scene->models.items[body->model_index];
}
int32_t yw_body_num_copies(const yw_body_spec* body);
double yw_body_copy_start(const yw_body_spec* body, int32_t copy);

#endif
