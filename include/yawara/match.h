// SPDX-License-Identifier: MIT
// match: example-based shape matching. docs/methods/match.md
#ifndef YAWARA_MATCH_H
#define YAWARA_MATCH_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How example weights are kept convex.
typedef enum yw_projection {
  YW_PROJECTION_EXACT = 0,  ///< nearest point in the convex hull of the poses (default)
  YW_PROJECTION_PAPER  ///< the papers' rule: clear the most negative weight, share it out, repeat
} yw_projection;

/// What regions of bodies with examples aim for.
typedef enum yw_match_target {
  YW_TARGET_FREE = 0,  ///< the stretch without a torque on the region: spin is kept (default)
  YW_TARGET_PAPER  ///< R S~ with R from the polar decomposition of A, as printed: spin is not kept
} yw_match_target;

/// For parameters whose default follows the body.
#define YW_MATCH_DEFAULT (-1.0f)

/// Largest region_width.
#define YW_MATCH_MAX_WIDTH 4

/// Parameters of a match body that can change while it runs.
typedef struct yw_match_params {
  /// As in the papers: fraction of the way to the goal shape covered in one substep, 0 to 1. The
  /// resulting stiffness grows as 1/h^2 and depends on the mesh. 0 (default): stiffness decides.
  float alpha;
  float beta;  ///< how strongly examples attract, 0 (not at all) to 1 (a body may rest in one);
               ///< default 0.95
  /// Decay rate of non-rigid motion, 1/s, >= 0; YW_MATCH_DEFAULT (default): 2 / sqrt(L / 1 m) for a
  /// body of size L, and 2 where alpha is given.
  float damping;
  /// Viscosity over stiffness, s, >= 0. Deformation is resisted as if it had continued for this
  /// long, so fast wobbles decay before slow ones and a dropped body stops bouncing. 0: as in the
  /// papers. YW_MATCH_DEFAULT (default): 0.04 sqrt(L / 1 m) / sqrt(stiffness), and 0.015 where
  /// alpha is given. Limited for stability: to 1.4 / sqrt(k), where goals pull with k (g - x), and
  /// where alpha is given to h (min(3.5, 3.6 - 2 d) / alpha - 1) / 2, d being the fraction of the
  /// velocity that damping removes in a step of h.
  float viscosity;
  yw_projection projection;
  /// Young's modulus over rho g L, with g = 9.81 m/s^2 and L the diagonal of a box with the mass
  /// and the moments of inertia of the body; 0 to 1e9, default 300. A column that stands on the
  /// floor becomes shorter by 1 / (2 stiffness), whatever its size, mesh, density and time step:
  /// about 5 is a jelly, 50 a soft toy. Steps are divided into as many as it takes. Not used where
  /// alpha is given.
  float stiffness;
  yw_match_target target;
} yw_match_params;

/// Example-based shape matching (Koyama et al. 2013). Pointers are read during the call only.
typedef struct yw_match_def {
  const yw_tet_mesh* mesh;         ///< rest pose
  float density;                   ///< kg/m^3, > 0; default 1000
  int32_t num_examples;            ///< 0 to YW_MAX_EXAMPLES
  const yw_vec3* const* examples;  ///< num_examples poses of mesh->num_vertices positions each
  yw_grouping grouping;
  const int32_t* vertex_labels;  ///< with YW_GROUPS_LABELS: mesh->num_vertices labels, any integers
  yw_match_params params;        ///< initial parameters of bodies
  /// How strongly each example attracts, 0 (not at all) to 1; beta multiplies it. num_examples
  /// numbers, or NULL (default): 1.
  const float* example_strengths;
  /// Cells of a lattice, 8 vertices of the mesh each, in any order (yw_lattice_cells); NULL
  /// (default): none. Regions then follow cells instead of tets: a vertex and all within
  /// region_width cells of it, as in lattice shape matching (Rivers, James 2007).
  const int32_t* cells;
  int32_t num_cells;
  /// Steps over tets (or cells) that a region reaches from its vertex, 1 to YW_MATCH_MAX_WIDTH; 0
  /// (default): 1. Wider regions make a body stiffer where alpha is given, and cost more.
  int32_t region_width;
} yw_match_def;
YW_API yw_match_def yw_default_match_def(void);

/// Returns YW_WARN_REDUNDANT, with the names in error->message, if an example has no effect.
YW_API yw_status yw_model_create_match(const yw_allocator* mem, const yw_match_def* def,
                                       yw_model** out, yw_error* error);
/// The same for a body with this Young's modulus, Pa, > 0, instead of params.stiffness and alpha,
/// which it sets: thin parts, one or two tets thick, bend as that material does, as in other
/// methods, and are softer when they are pulled. params.stiffness can be changed later.
YW_API yw_status yw_model_create_match_modulus(const yw_allocator* mem, const yw_match_def* def,
                                               float youngs_modulus, yw_model** out,
                                               yw_error* error);

// Bodies. These functions return YW_ERR_INVALID for bodies of other methods.

YW_API yw_status yw_body_match_params(const yw_world* world, yw_body_id body, yw_match_params* out);
/// YW_ERR_INVALID if a parameter is out of range.
YW_API yw_status yw_body_set_match_params(yw_world* world, yw_body_id body,
                                          const yw_match_params* params);

/// Current statistics of a match body.
typedef struct yw_match_statistics {
  int32_t num_regions;   ///< one per vertex of the mesh
  int32_t num_groups;    ///< regions of a group choose their example together
  int32_t num_examples;  ///< not counting the rest pose
} yw_match_statistics;
YW_API yw_status yw_body_match_statistics(const yw_world* world, yw_body_id body,
                                          yw_match_statistics* out);
/// Example weights in the last substep, before beta is applied: num_groups rows of 1 + num_examples
/// numbers, the rest pose first. Writes at most capacity numbers (out may be NULL) and returns the
/// number of groups; 0 for bodies of other methods.
YW_API int32_t yw_body_match_weights(const yw_world* world, yw_body_id body, float* out,
                                     int32_t capacity);
/// Lets a group (-1: all) aim for these weights from now on, one per example (the rest pose gets
/// what is left; sums above 1 are scaled down), instead of those that it chooses. share: how much
/// they count, 0 to 1; what the body chooses makes up the rest. weights NULL: the body chooses
/// again. Tracks of weights override them. Snapshots hold them. Wakes the body. YW_ERR_INVALID if a
/// number is out of range or there is no such group: bodies without examples and groups per region
/// have none.
YW_API yw_status yw_body_match_set_weights(yw_world* world, yw_body_id body, int32_t group,
                                           const float* weights, float share);

#ifdef __cplusplus
}
#endif
#endif
