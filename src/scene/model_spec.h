// SPDX-License-Identifier: MIT
// What a scene file says about models, checked, and what is built from it. Text and lists are owned
// by the JSON document.
#ifndef YW_SCENE_MODEL_SPEC_H
#define YW_SCENE_MODEL_SPEC_H

#include "scene/keys.h"
#include "scene/stiffness.h"
#include "scene/tet_sizes.h"
#include "yawara/extend/memory.h"
#include "yawara/pose.h"
#include "yawara/scene.h"

#define YW_SCENE_MAX_MODELS 4096
#define YW_SCENE_MAX_VERTICES 4000000

/// One step of making a pose, applied to all vertices or to those near a shape.
typedef struct yw_deform_spec {
  const yw_json* node;
  bool turn, move;   ///< a rotation or a translation instead of deform
  yw_deform deform;  ///< for a turn: axis, origin, and the angle (rad) as amount
  yw_vec3 shift;
  yw_shape* where;  ///< NULL: everywhere; not owned
  float blend;      ///< m, width of the border of where
} yw_deform_spec;

/// A pose of the tets: an example, or the start pose of a body.
typedef struct yw_pose_spec {
  const yw_json* node;
  const char* name;
  const yw_json* deform;
  int32_t num_deforms;
  yw_deform_spec* deforms;
  const char* file;          ///< positions of the tets' vertices
  const char* surface_file;  ///< positions of the embedded surface's vertices
  const char* positions;     ///< of the tets' vertices, in base64
  const yw_json* mesh;       ///< of another topology
  float strength;            ///< as an example, 0 to 1
} yw_pose_spec;

typedef enum yw_mesh_source {
  YW_SOURCE_LATTICE,
  YW_SOURCE_SHAPE,
  YW_SOURCE_FILE,
  YW_SOURCE_OWN  ///< a key of the method, such as a rod or a sheet
} yw_mesh_source;

typedef struct yw_lattice_spec {
  yw_vec3 size, center;
  int32_t cells[3];
  int32_t cut;  ///< 5 or 6 tets per cell
} yw_lattice_spec;

typedef struct yw_surface_spec {
  const char* file;
  const yw_json* shape;
  float size;  ///< 0: half the size of the tets
  int32_t subdivide;
  yw_shape* solid;  ///< of shape; not owned
} yw_surface_spec;

/// Which parts of a body choose their example together.
typedef struct yw_groups_spec {
  yw_grouping grouping;
  int32_t num_labels;  ///< of labels, and of selectors when there are shapes
  int32_t* labels;     ///< per vertex, or per selector; in the document
  yw_shape** shapes;   ///< of selectors; NULL in those under paint. NULL: labels are per vertex
  yw_stiffness_spec* paints;  ///< of selectors
  const yw_json* painted;     ///< labels as text; NULL: not
  const yw_json* node;
} yw_groups_spec;

typedef struct yw_scene_method yw_scene_method;

/// The keys of a model, whether in "models" or directly in a body.
typedef struct yw_model_keys {
  const yw_json *shape, *mesh, *examples, *surface;
  float density;
  // Found among the keys of methods (yw_find_method)
  const yw_scene_method* method;  ///< NULL: none named
  const yw_json* settings;        ///< under its key; NULL: none given
  const yw_json* own_source;      ///< under a key of a method, such as "rod"; or NULL
} yw_model_keys;

typedef struct yw_model_spec {
  const yw_json* node;           ///< the object that contains the keys
  const yw_json* settings_node;  ///< for messages: keys.settings, or node when there are none
  yw_model_keys keys;
  const yw_scene_method* method;
  void* settings;  ///< struct of the method's record, owned by the document
  uint64_t hash;
  bool used;
  bool merged_only;  ///< all its bodies are parts of others, so it needs no model of its own

  yw_mesh_source source;
  const yw_json* source_node;
  yw_lattice_spec lattice;
  yw_shape* shape;  ///< not owned
  float size, scale;
  int32_t bulk;        ///< of the mesher; 0: its default
  yw_tet_sizes sizes;  ///< where tets are smaller
  const char* file;

  int32_t num_poses;
  yw_pose_spec* poses;
  bool has_surface;  ///< a surface is embedded: given, or that of the shape
  yw_surface_spec surface;
  int32_t surface_part;        ///< of surface.file, from 1; 0: all of it
  yw_transform surface_place;  ///< from the coordinates of surface.file to those of the model

  // Built
  yw_model* model;
  yw_tet_fit fit;         ///< of the tets of a shape; else zero
  yw_tet_mesh tets;       ///< empty for bodies that are not made of tets
  const yw_vec3* points;  ///< particles at rest, from which pins select; not owned
  int32_t num_points;
  yw_tri_mesh surface_mesh;  ///< mesh in the file of "surface", for examples of it
  const char* surface_path;  ///< of that file, if it is embedded as it is, or of a sheet; else NULL
  yw_vec3** examples;        ///< num_poses
  float strengths[YW_MAX_EXAMPLES];  ///< of the examples
  int32_t* labels;  ///< group of each vertex, which chooses its example; NULL: one group
} yw_model_spec;

/// Density of the tets: that of the model, corrected for the volume that they miss.
static inline float yw_tet_density(const yw_model_spec* model, float density) {
  return (float)((double)density * yw_tet_fit_density(&model->fit));
}

#endif
