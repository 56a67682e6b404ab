// SPDX-License-Identifier: MIT
// What a scene file says about models, checked, and what is made of it. Text and lists live in the
// JSON document.
#ifndef YW_SCENE_MODEL_SPEC_H
#define YW_SCENE_MODEL_SPEC_H

#include "geometry/deform.h"
#include "scene/fields.h"
#include "scene/stiffness.h"
#include "yawara/extend/memory.h"
#include "yawara/fem.h"
#include "yawara/frames.h"
#include "yawara/match.h"
#include "yawara/scene.h"
#include "yawara/slender.h"

#define YW_SCENE_MAX_MODELS 4096
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

typedef enum yw_mesh_source {
  YW_SOURCE_LATTICE,
  YW_SOURCE_SHAPE,
  YW_SOURCE_FILE,
  YW_SOURCE_ROD,
  YW_SOURCE_SHEET
} yw_mesh_source;

static inline bool yw_source_is_slender(yw_mesh_source source) { return source >= YW_SOURCE_ROD; }

typedef struct yw_rod_spec {
  const yw_json *line, *helix, *points;
  bool closed;
  int32_t section;
  float radius, width, thickness, contact_radius;
  yw_vec3 width_direction;
  int32_t num_points;
  yw_vec3* list;
} yw_rod_spec;

typedef struct yw_sheet_spec {
  const yw_json* rectangle;
  const char* file;
  float thickness, contact_radius;
  float width, depth;     ///< m, of the rectangle
  int32_t across, along;  ///< its cells
} yw_sheet_spec;

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
  const yw_json *shape, *mesh, *rod, *sheet, *match, *frames, *slender, *fem, *plastic, *examples,
      *surface;
  float density;
} yw_model_keys;

typedef struct yw_match_spec {
  float alpha, beta, damping, viscosity;
  int32_t projection;
  const yw_json* groups;
} yw_match_spec;

static inline yw_match_params yw_match_params_of_spec(const yw_match_spec* spec) {
  return (yw_match_params){.alpha = spec->alpha,
                           .beta = spec->beta,
                           .damping = spec->damping,
                           .viscosity = spec->viscosity,
                           .projection = (yw_projection)spec->projection};
}

typedef struct yw_frames_spec {
  // What the model is
  const char* material;
  float youngs_modulus, poissons_ratio;
  int32_t kind;
  const yw_json* fields;
  // What bodies may change
  int32_t solver, substeps, sweeps;
  float damping, beta, tolerance, stiffness;

  int32_t num_fields;
  yw_stiffness_spec* field_list;
} yw_frames_spec;

static inline yw_frames_params yw_frames_params_of_spec(const yw_frames_spec* spec) {
  return (yw_frames_params){.solver = (yw_frames_solver)spec->solver,
                            .damping = spec->damping,
                            .beta = spec->beta,
                            .tolerance = spec->tolerance,
                            .substeps = spec->substeps,
                            .sweeps = spec->sweeps,
                            .stiffness = spec->stiffness};
}

typedef struct yw_slender_spec {
  // What the model is
  const char* material;
  float youngs_modulus, poissons_ratio;
  const yw_json* fields;
  yw_slender_params params;  ///< what bodies may change

  int32_t num_fields;
  yw_stiffness_spec* field_list;
} yw_slender_spec;

typedef struct yw_fem_spec {
  // What the model is
  const char* material;
  float youngs_modulus, poissons_ratio;
  int32_t max_level, sampling;
  const yw_json* fields;
  yw_fem_params params;  ///< what bodies may change

  int32_t num_fields;
  yw_stiffness_spec* field_list;
} yw_fem_spec;

typedef struct yw_plastic_spec {
  const char* material;
  float spacing;  ///< m; 0: from the size of the shape
  float youngs_modulus, poissons_ratio;
  int32_t flow;
  float theta_c, theta_s, yield_stress, xi, eta;
  float time_step, tolerance;
  float sleep_speed;  ///< m/s; below 0: chosen
  int32_t max_iterations, variant;
  bool without_slaves, sheet;
  const yw_json* fields;

  int32_t num_fields;
  yw_stiffness_spec* field_list;
} yw_plastic_spec;

typedef enum yw_scene_method {
  YW_SCENE_MATCH,
  YW_SCENE_FRAMES,
  YW_SCENE_SLENDER,
  YW_SCENE_FEM,
  YW_SCENE_PLASTIC
} yw_scene_method;

/// Settings of a body, of which those of the model's method count.
typedef struct yw_method_spec {
  yw_match_spec match;
  yw_frames_spec frames;
  yw_slender_spec slender;
  yw_fem_spec fem;
  yw_plastic_spec plastic;
} yw_method_spec;

typedef struct yw_model_spec {
  const yw_json* node;  ///< the object that has the keys
  yw_model_keys keys;
  yw_scene_method method;
  yw_method_spec settings;
  uint64_t hash;
  bool used;
  bool merged_only;  ///< all bodies of it are parts of others, so it needs no model of its own

  yw_mesh_source source;
  const yw_json* source_node;
  yw_lattice_spec lattice;
  yw_shape* shape;  ///< not owned
  float size, scale;
  const char* file;
  yw_rod_spec rod;
  yw_sheet_spec sheet;

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
  yw_tet_mesh tets;          ///< vertices alone for rods, sheets and plastic bodies
  yw_tri_mesh surface_mesh;  ///< what the file of "surface" holds, for examples of it
  yw_vec3** examples;        ///< num_poses
  /// Of plastic bodies with layers, per vertex: Young's moduli, yield stresses, densities, one list
  /// after another; else NULL.
  float* layers;
} yw_model_spec;

#endif
