// SPDX-License-Identifier: MIT
// What a scene file says about bodies of one method, and how they are built. A method describes
// itself in src/methods/<name>/scene.c and has one line here, in YW_SCENE_METHODS.
#ifndef YW_SCENE_METHOD_H
#define YW_SCENE_METHOD_H

#include "geometry/mesher_size.h"
#include "scene/loader.h"
#include "scene/records.h"

/// The table. The first method is the default for bodies that name none.
#define YW_SCENE_METHODS(line) \
  line(match) line(frames) line(slender) line(fem) line(plastic) line(rigid)

struct yw_scene_method {
  const char* name;      ///< key in models and bodies; as yw_model_method
  const char* old_name;  ///< key in older scenes, together with the method's own sources; or NULL
  /// The value of the key. A model keeps the values read as its settings; a body gets a copy,
  /// overlaid with its own keys. Keys with `of_model` are not for bodies.
  const yw_record* record;
  /// Other records that only this method uses; NULL-terminated. May be NULL.
  const yw_record* const* records;
  /// Keys of models, besides "shape" and "mesh", that say what a body of this method is made of;
  /// NULL-terminated. May be NULL.
  const char* const* sources;
  /// The size of a shape's tets if none is given. NULL: the default of yw_shape_tets.
  const yw_size_wish* tet_size;
  float surface_size;  ///< of a shape's surface if none is given, in sizes of the tets; 0: a half
  bool has_poses;      ///< bodies can start in a pose
  /// Allowed names of "material": 0, 1, ... until NULL. May be NULL.
  const char* (*material_name)(int32_t i);
  unsigned layer_keys;  ///< supported keys of "fields": yw_layer_key

  /// Sees the keys of a new model before they are read, for messages more specific than "unknown
  /// key". May be NULL.
  bool (*screen)(yw_loader* l, const yw_model_spec* model);
  /// Called after the settings of a new model were read: checks, named materials, complex keys.
  bool (*load)(yw_loader* l, yw_model_spec* model);
  /// Density of a named material, kg/m^3; false after a message. NULL: no materials.
  bool (*density)(yw_loader* l, const yw_json* material, float* out);
  /// Called after the settings of a body were read from node (NULL: none given). May be NULL.
  bool (*check)(yw_loader* l, const yw_json* node, const yw_model_spec* model,
                const void* settings);
  /// Creates model->model and model->points.
  bool (*build)(yw_loader* l, yw_model_spec* model);
  /// Gives a new body its settings.
  yw_status (*apply)(yw_world* world, yw_body_id id, const void* settings);

  // Bodies with "merge". NULL: not supported.
  /// Checks whether the body can join the group that `first` began.
  bool (*check_merge)(yw_loader* l, const yw_body_spec* body, const yw_body_spec* first);
  /// Creates group->model from group->parts.
  bool (*build_group)(yw_loader* l, yw_group_spec* group);
};

#define YW_DECLARE_SCENE_METHOD(name) extern const yw_scene_method yw_scene_##name;
YW_SCENE_METHODS(YW_DECLARE_SCENE_METHOD)

/// All methods; NULL-terminated.
extern const yw_scene_method* const yw_scene_methods[];
/// The method with this key, or NULL.
const yw_scene_method* yw_scene_method_by_name(const char* name);

/// Names of the methods for which `has` is true, for messages: "a", "b" or "c".
void yw_list_methods(bool (*has)(const yw_scene_method* method, int32_t what), int32_t what,
                     char* out, size_t capacity);
/// False with a message when the model has a source of another method, such as a rod or a sheet.
bool yw_needs_volume(yw_loader* l, const yw_model_spec* model);
/// Creates tets, examples and surface; create makes the model from them.
bool yw_build_volume(yw_loader* l, yw_model_spec* model,
                     bool (*create)(yw_loader* l, yw_model_spec* model));

#endif
