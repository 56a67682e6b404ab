// SPDX-License-Identifier: MIT
// frames: volumes with Young's modulus and Poisson's ratio. docs/methods/frames.md
#ifndef YAWARA_FRAMES_H
#define YAWARA_FRAMES_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Which regions a frames body has.
typedef enum yw_frames_kind {
  YW_FRAMES_RINGS = 0,  ///< one region per vertex of the mesh: the tets around it (default)
  YW_FRAMES_CELLS       ///< one region per cell of a lattice, 8 vertices each
} yw_frames_kind;

/// Time integration of a frames body.
typedef enum yw_frames_solver {
  YW_FRAMES_IMPLICIT = 0,  ///< implicit Euler: one Newton step per substep (default)
  YW_FRAMES_BDF2,          ///< same with the second-order backward formula; damps vibrations less
  YW_FRAMES_EXTENDED,      ///< extended position-based: sweeps over the regions, in physical units
  YW_FRAMES_CLASSIC,  ///< classic position-based shape matching with `stiffness`, for comparison
  /// Oriented particles (Mueller, Chentanez 2011): as classic, and particles are balls with
  /// orientations and spins of their own, which take part in the matching. Regions move at once.
  YW_FRAMES_ORIENTED
} yw_frames_solver;

/// Parameters of a frames body that can change while it runs.
typedef struct yw_frames_params {
  yw_frames_solver solver;
  /// Decay rate of the non-rigid part of the velocity, 1/s, >= 0; default 0. Vibration amplitudes
  /// decay as exp(-damping t / 2), independent of the time step.
  float damping;
  float beta;  ///< fraction of the energy controlled by examples, 0 to 1; default 0.95
  /// Newton steps stop when the residual has fallen by this factor, 1e-6 to 0.5; default 1e-3.
  float tolerance;
  int32_t substeps;  ///< position-based: steps per substep of the world, 1 to 1000; default 10
  int32_t sweeps;    ///< position-based: sweeps per step, 1 to 1000; default 1
  float
      stiffness;  ///< classic only: fraction of the way to the goal per sweep, 0 to 1; default 0.5
  /// Multiplies Young's modulus, 1e-6 to 1e6; default 1. Not for the classic solver.
  float stiffness_scale;
} yw_frames_params;

/// Volumes with Young's modulus and Poisson's ratio: shape-matching regions as frames on springs.
/// Pointers are read during the call only.
typedef struct yw_frames_def {
  const yw_tet_mesh* mesh;  ///< rest pose
  yw_frames_kind kind;
  const int32_t* cells;  ///< with YW_FRAMES_CELLS: 8 vertices of the mesh per cell, in any order;
                         ///< the cells must be boxes that cover the mesh exactly once
  int32_t num_cells;
  float density;                      ///< kg/m^3, > 0; default 1000
  float youngs_modulus;               ///< Pa, > 0; default 1e5
  float poissons_ratio;               ///< 0 to below 0.5; default 0.3
  const float* youngs_modulus_field;  ///< Pa, per vertex; replaces the above; may be NULL
  const float* poissons_ratio_field;  ///< per vertex; replaces the above; may be NULL
  int32_t num_examples;               ///< 0 to YW_MAX_EXAMPLES
  const yw_vec3* const* examples;     ///< num_examples poses of mesh->num_vertices positions each
  yw_frames_params params;            ///< initial parameters of bodies
  /// Per element, a tet (rings) or a cell (cells); replace the values above, and steps between
  /// elements stay sharp, which values per vertex smear over two elements. Each may be NULL.
  const float* element_youngs_modulus_field;  ///< Pa
  const float* element_poissons_ratio_field;
  /// How far each example moves the target from the rest pose, 0 (not at all) to 1. num_examples
  /// numbers, or NULL (default): 1.
  const float* example_strengths;
  yw_grouping grouping;          ///< which regions choose their example together
  const int32_t* vertex_labels;  ///< with YW_GROUPS_LABELS: mesh->num_vertices labels, any
                                 ///< integers; a cell takes the one that most of its vertices have
} yw_frames_def;
YW_API yw_frames_def yw_default_frames_def(void);
YW_API yw_status yw_model_create_frames(const yw_allocator* mem, const yw_frames_def* def,
                                        yw_model** out, yw_error* error);

// Bodies. These functions return YW_ERR_INVALID for bodies of other methods.

YW_API yw_status yw_body_frames_params(const yw_world* world, yw_body_id body,
                                       yw_frames_params* out);
/// YW_ERR_INVALID if a parameter is out of range.
YW_API yw_status yw_body_set_frames_params(yw_world* world, yw_body_id body,
                                           const yw_frames_params* params);

/// Current statistics of a frames body.
typedef struct yw_frames_statistics {
  int32_t num_regions;
  int32_t num_examples;  ///< not counting the rest pose
  int32_t newton_steps;  ///< of implicit solvers, in the last substep
  int32_t iterations;    ///< of conjugate gradients, in the last substep
} yw_frames_statistics;
YW_API yw_status yw_body_frames_statistics(const yw_world* world, yw_body_id body,
                                           yw_frames_statistics* out);
/// Weights of the rest pose and of the examples in the last substep, before beta is applied: a row
/// of 1 + num_examples numbers per group. Writes at most capacity numbers (out may be NULL) and
/// returns how many there are in all; 0 for bodies of other methods.
YW_API int32_t yw_body_frames_weights(const yw_world* world, yw_body_id body, float* out,
                                      int32_t capacity);
/// As yw_body_match_set_weights.
YW_API yw_status yw_body_frames_set_weights(yw_world* world, yw_body_id body, int32_t group,
                                            const float* weights, float share);

#ifdef __cplusplus
}
#endif
#endif
