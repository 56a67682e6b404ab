// SPDX-License-Identifier: MIT
// The scene and its loader: the steps from a JSON tree to models and a world.
#ifndef YW_SCENE_LOADER_H
#define YW_SCENE_LOADER_H

#include "scene/spec.h"
#include "yawara/extend/file.h"
#include "yawara/plastic.h"

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

// scene_shape.c
bool yw_load_named_shapes(yw_loader* l, const yw_json* node);
bool yw_load_shape(yw_loader* l, const yw_json* node, yw_shape** out);
/// Says which entries of "shapes" nothing refers to.
void yw_warn_unused_shapes(yw_loader* l);

// scene_model.c
bool yw_load_named_models(yw_loader* l, const yw_json* node);
/// Reads the keys of a model in `node`, or finds the same one; *index is its place in scene.models.
bool yw_load_model(yw_loader* l, const yw_json* node, const yw_model_keys* keys, int32_t* index);
/// Settings of rods and sheets were once called "frames".
void yw_take_old_keys(yw_model_keys* keys);
/// The first of the keys that the settings of a method have, or NULL.
const yw_json* yw_first_key(const yw_json* settings, const char* const* keys);
/// Settings that bodies have when nothing is said.
yw_method_spec yw_default_method_spec(void);
/// Overlays what "match", "frames" or "fem" says about a model's settings.
bool yw_load_body_settings(yw_loader* l, const yw_model_keys* keys, int32_t num_poses,
                           yw_method_spec* settings);

// scene_frames.c
/// Keys in "frames" that a model is made of, which a body cannot change; NULL ends the list.
extern const char* const yw_frames_model_keys[];
bool yw_load_frames(yw_loader* l, yw_model_spec* model);
bool yw_load_body_frames(yw_loader* l, const yw_json* node, int32_t num_poses,
                         yw_frames_spec* frames);
/// Makes the model of the tets and examples that are built.
bool yw_build_frames(yw_loader* l, yw_model_spec* model);

// scene_slender.c
extern const char* const yw_slender_model_keys[];
/// Reads "rod" or "sheet".
bool yw_load_slender_source(yw_loader* l, const yw_json* node, yw_model_spec* out);
bool yw_load_slender(yw_loader* l, yw_model_spec* model);
bool yw_load_body_slender(yw_loader* l, const yw_json* node, yw_slender_spec* slender);
/// Makes the model of a rod or a sheet, and its particles as tets without any.
bool yw_build_slender(yw_loader* l, yw_model_spec* model);

// scene_fem.c
extern const char* const yw_fem_model_keys[];
bool yw_load_fem(yw_loader* l, yw_model_spec* model);
/// Size of the coarsest tets of a fem body made of a shape, where none is given.
float yw_fem_root_size(const yw_shape* shape);
bool yw_load_body_fem(yw_loader* l, const yw_json* node, yw_fem_spec* fem);
bool yw_build_fem(yw_loader* l, yw_model_spec* model);

// scene_plastic.c
/// Plastic material by name, also of the elastic ones; false after an error.
bool yw_find_plastic_material(yw_loader* l, const yw_json* node, yw_plastic_material* out);
bool yw_load_plastic(yw_loader* l, yw_model_spec* model);
/// Finds the particles, what each is made of, and makes the model unless it is only part of others.
bool yw_build_plastic(yw_loader* l, yw_model_spec* model);
/// What is made of it, to be filled in: place and start of a part, parts of a model.
yw_plastic_part yw_plastic_part_of(const yw_model_spec* model);
yw_plastic_def yw_plastic_def_of(const yw_model_spec* model);

// scene_merge.c
/// Reads "merge": the body becomes part of a group.
bool yw_load_merge(yw_loader* l, yw_body_spec* body);
/// Makes the models of groups.
bool yw_build_groups(yw_loader* l);

// scene_overlap.c
/// Says which plastic bodies begin inside others without merging, or inside obstacles.
void yw_warn_overlaps(yw_loader* l);

// scene_pose.c
bool yw_load_pose(yw_loader* l, const yw_json* node, yw_pose_spec* out);
/// 1 inside the shape (or without one), 0 outside, straight in between over the width of the
/// border.
float yw_shape_weight(const yw_shape* shape, float blend, yw_vec3 p);
/// Positions of the model's vertices in the pose; out has room for all of them.
bool yw_build_pose(yw_loader* l, const yw_model_spec* model, const yw_pose_spec* pose,
                   yw_vec3* out);

// scene_path.c
bool yw_load_path(yw_loader* l, const yw_json* node, yw_path_spec* out);
yw_path yw_path_of(const yw_path_spec* spec, yw_vec3 pivot);

// scene_body.c
bool yw_load_bodies(yw_loader* l, const yw_json* node);
bool yw_load_obstacles(yw_loader* l, const yw_json* node);
bool yw_load_floor(yw_loader* l, const yw_json* node);

// scene_build.c
/// Makes meshes, examples and models of everything that is used, then selects what pins hold.
bool yw_build_models(yw_loader* l);
/// Makes or reads the tets that the model says.
bool yw_build_tets(yw_loader* l, yw_model_spec* model);
void yw_model_spec_free(const yw_allocator* mem, yw_model_spec* model);

// scene_surface.c
/// Makes the surface that the model carries; *out is empty when it shows its own boundary.
bool yw_build_surface(yw_loader* l, yw_model_spec* model, yw_tri_mesh* out);

// scene_override.c
/// Applies overrides to the tree.
bool yw_apply_overrides(yw_loader* l, int32_t count, const yw_scene_override* overrides);

// scene_world.c
/// Where copy number `copy` of a body is placed.
yw_transform yw_body_copy_transform(const yw_body_spec* body, int32_t copy);
int32_t yw_body_num_copies(const yw_body_spec* body);
double yw_body_copy_start(const yw_body_spec* body, int32_t copy);

#endif
