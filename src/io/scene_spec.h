// SPDX-License-Identifier: MIT
// What a scene file says, checked: the reader fills these, the builder makes models and worlds of
// them. Text, lists and specs live in the JSON document.
#ifndef YW_IO_SCENE_SPEC_H
#define YW_IO_SCENE_SPEC_H

#include "base/memory.h"
#include "geometry/deform.h"
#include "io/scene_fields.h"
#include "yawara/scene.h"

#define YW_SCENE_MAX_BODIES 100000
#define YW_SCENE_MAX_MODELS 4096
#define YW_SCENE_MAX_OBSTACLES 10000
#define YW_SCENE_MAX_VERTICES 4000000

/// One step of making a pose, of all vertices or of those near a shape.
typedef struct yw_deform_spec {
  const yw_json* node;
  bool turn, move;   ///< a rotation or a shift instead of deform
  yw_deform deform;  ///< of a turn: axis, origin, and the angle (rad) as amount
  yw_vec3 shift;
  yw_shape* where;  ///< NULL: everywhere; not owned
  float blend;      ///< m, width of the border of where
} yw_deform_spec;

/// A pose of the tets: an example, or where a body starts.
typedef struct yw_pose_spec {
  const yw_json* node;
  const char* name;
  const yw_json* deform;
  int32_t num_deforms;
  yw_deform_spec* deforms;
  const char* file;          ///< the tets' vertices
  const char* surface_file;  ///< the embedded surface's vertices
} yw_pose_spec;

typedef enum yw_mesh_source { YW_SOURCE_LATTICE, YW_SOURCE_SHAPE, YW_SOURCE_FILE } yw_mesh_source;

typedef struct yw_lattice_spec {
  yw_vec3 size, center;
  int32_t cells[3];
  int32_t cut;  ///< 5 or 6 tets a cell
} yw_lattice_spec;

typedef struct yw_surface_spec {
  const char* file;
  const yw_json* shape;
  float size;  ///< 0: half the size of the tets
  int32_t subdivide;
  yw_shape* solid;  ///< of shape; not owned
} yw_surface_spec;

/// The keys of a model, whether in "models" or directly in a body.
typedef struct yw_model_keys {
  const yw_json *shape, *mesh, *match, *examples, *surface;
  float density;
} yw_model_keys;

typedef struct yw_match_spec {
  float alpha, beta, damping;
  int32_t projection;
  const yw_json* groups;
} yw_match_spec;

typedef struct yw_model_spec {
  const yw_json* node;  ///< the object that has the keys
  yw_model_keys keys;
  yw_match_spec match;
  uint64_t hash;
  bool used;

  yw_mesh_source source;
  const yw_json* source_node;
  yw_lattice_spec lattice;
  yw_shape* shape;  ///< not owned
  float size, scale;
  const char* file;

  yw_grouping grouping;
  int32_t num_labels;       ///< of labels, and of selectors when there are shapes
  int32_t* labels;          ///< per vertex, or per selector
  yw_shape** label_shapes;  ///< NULL: labels are per vertex
  const yw_json* labels_node;

  int32_t num_poses;
  yw_pose_spec* poses;
  bool has_surface;
  yw_surface_spec surface;

  // Built
  yw_model* model;
  yw_tet_mesh tets;
  yw_tri_mesh surface_mesh;  ///< what the file of "surface" holds, for examples of it
  yw_vec3** examples;        ///< num_poses
} yw_model_spec;

typedef struct yw_path_spec {
  const yw_json* keys;
  bool loop, smooth, has_pivot;
  yw_vec3 pivot;
  int32_t num_keys;
  yw_key* list;
} yw_path_spec;

typedef struct yw_pin_spec {
  const yw_json* node;
  const yw_json *select, *vertices, *path, *spring;
  yw_shape* shape;  ///< of select; not owned
  float stiffness, damping;
  yw_path_spec motion;
  int32_t num_vertices;
  int32_t* list;
} yw_pin_spec;

typedef struct yw_repeat_spec {
  int32_t count[3];
  yw_vec3 spacing;
  float jitter, turn;
  int32_t seed;
} yw_repeat_spec;

typedef struct yw_body_spec {
  const yw_json* node;
  const char* name;
  const yw_json* model;
  yw_model_keys keys;
  yw_vec3 position, velocity, angular_velocity;
  yw_quat rotation;
  float friction, restitution;
  bool body_contact, self_contact;
  yw_vec3 color;
  const yw_json *colors, *start_pose, *pins, *repeat;

  int32_t model_index;  ///< in yw_scene.models
  yw_match_params params;
  yw_repeat_spec copies;
  int32_t first_body;  ///< of its copies, in order of creation
  int32_t num_colors;  ///< 0: the palette
  yw_vec3* color_list;
  int32_t start_example;  ///< -1: none
  yw_pose_spec start;     ///< when start_example is -1; node NULL: the rest pose
  yw_vec3* pose;          ///< built; NULL: the rest pose
  int32_t num_pins;
  yw_pin_spec* pin_list;
} yw_body_spec;

typedef struct yw_obstacle_spec {
  const yw_json* node;
  const char* name;
  const yw_json *shape, *path;
  yw_vec3 position;
  yw_quat rotation;
  float friction, restitution;
  yw_vec3 color;
  bool visible, checker;

  yw_shape* solid;  ///< not owned
  yw_path_spec motion;
  yw_obstacle_id id;  ///< in the world that was built last
} yw_obstacle_spec;

#endif
