// SPDX-License-Identifier: MIT
// Models: the immutable rest data of a body, shared by any number of bodies, worlds and threads.
#ifndef YAWARA_MODEL_H
#define YAWARA_MODEL_H

#include "base.h"
#include "mesh.h"
#include "shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Rest data of one kind of body. Reference counted: every body holds one reference.
typedef struct yw_model yw_model;

#define YW_MAX_EXAMPLES 32

/// How weights of examples are kept convex.
typedef enum yw_projection {
  YW_PROJECTION_EXACT = 0,  ///< nearest point of the convex hull of the poses (default)
  YW_PROJECTION_PAPER  ///< the papers' rule: clear the most negative weight, share it out, repeat
} yw_projection;

/// Which regions choose their example together.
typedef enum yw_grouping {
  YW_GROUPS_GLOBAL = 0,  ///< the whole body (default)
  YW_GROUPS_LABELS,      ///< one group per vertex label
  YW_GROUPS_PER_REGION   ///< every region on its own
} yw_grouping;

/// What may be changed while a match body runs.
typedef struct yw_match_params {
  /// Share of the way to the goal shape that one substep covers, 0 to 1; default 0.8. The stiffness
  /// that this means grows as 1/h^2.
  float alpha;
  float beta;     ///< how strongly examples attract, 0 (not at all) to 1 (a body may rest in one);
                  ///< default 0.95
  float damping;  ///< rate at which motion that is not rigid dies away, 1/s, >= 0; default 2
  /// Viscosity over stiffness, s, >= 0; default 0.015. Deformation is resisted as if it had gone on
  /// for this long: fast wobbles die before slow ones, and a dropped body does not bounce for ever.
  /// 0: as in the papers. Taken as at most h (min(3.5, 3.6 - 2 d) / alpha - 1) / 2, where d is the
  /// share of the velocity that damping takes in a step of h: beyond, the step would not be stable.
  float viscosity;
  yw_projection projection;
} yw_match_params;

/// Example-based shape matching (Koyama et al. 2013). Nothing here is owned or kept.
typedef struct yw_match_def {
  const yw_tet_mesh* mesh;         ///< rest pose
  float density;                   ///< kg/m^3, > 0; default 1000
  int32_t num_examples;            ///< 0 to YW_MAX_EXAMPLES
  const yw_vec3* const* examples;  ///< num_examples poses of mesh->num_vertices positions each
  yw_grouping grouping;
  const int32_t* vertex_labels;  ///< with YW_GROUPS_LABELS: mesh->num_vertices labels, any integers
  yw_match_params params;        ///< what bodies start with
} yw_match_def;
YW_API yw_match_def yw_default_match_def(void);

/// Returns YW_WARN_REDUNDANT, with the names in error->message, when an example adds nothing.
YW_API yw_status yw_model_create_match(const yw_allocator* mem, const yw_match_def* def,
                                       yw_model** out, yw_error* error);

/// What a frames body is made of.
typedef enum yw_frames_kind {
  YW_FRAMES_RINGS = 0,  ///< one region per vertex of the mesh: the tets around it (default)
  YW_FRAMES_CELLS       ///< one region per cell of a lattice, 8 vertices each
} yw_frames_kind;

/// How a frames body is moved.
typedef enum yw_frames_solver {
  YW_FRAMES_IMPLICIT = 0,  ///< implicit Euler: one Newton step per substep (default)
  YW_FRAMES_BDF2,      ///< the same with the second-order backward formula: damps vibrations less
  YW_FRAMES_EXTENDED,  ///< extended position-based: sweeps over the regions, in physical units
  YW_FRAMES_CLASSIC    ///< classic position-based shape matching with `stiffness`, for comparison
} yw_frames_solver;

/// What may be changed while a frames body runs.
typedef struct yw_frames_params {
  yw_frames_solver solver;
  /// Rate at which velocities that are not those of a rigid motion die away, 1/s, >= 0; default 0.
  /// The amplitude of a vibration falls as exp(-damping t / 2), whatever the time step.
  float damping;
  float beta;  ///< share of the energy that examples rule, 0 to 1; default 0.95
  /// Newton steps stop when the residual has fallen by this factor, 1e-6 to 0.5; default 1e-3.
  float tolerance;
  int32_t substeps;  ///< position-based: steps per substep of the world, 1 to 1000; default 10
  int32_t sweeps;    ///< position-based: sweeps per step, 1 to 1000; default 1
  float stiffness;   ///< classic only: share of the way to the goal per sweep, 0 to 1; default 0.5
} yw_frames_params;

/// Volumes with Young's modulus and Poisson's ratio: shape-matching regions as frames on springs.
/// Nothing here is owned or kept.
typedef struct yw_frames_def {
  const yw_tet_mesh* mesh;  ///< rest pose
  yw_frames_kind kind;
  const int32_t* cells;  ///< with YW_FRAMES_CELLS: 8 vertices of the mesh per cell, in any order;
                         ///< the cells must be boxes that fill the mesh exactly once
  int32_t num_cells;
  float density;                      ///< kg/m^3, > 0; default 1000
  float youngs_modulus;               ///< Pa, > 0; default 1e5
  float poissons_ratio;               ///< 0 to below 0.5; default 0.3
  const float* youngs_modulus_field;  ///< Pa per vertex of the mesh, instead; may be NULL
  const float* poissons_ratio_field;  ///< per vertex of the mesh, instead; may be NULL
  int32_t num_examples;               ///< 0 to YW_MAX_EXAMPLES
  const yw_vec3* const* examples;     ///< num_examples poses of mesh->num_vertices positions each
  yw_frames_params params;            ///< what bodies start with
} yw_frames_def;
YW_API yw_frames_def yw_default_frames_def(void);
YW_API yw_status yw_model_create_frames(const yw_allocator* mem, const yw_frames_def* def,
                                        yw_model** out, yw_error* error);
/// The cells of a mesh made by yw_tet_mesh_lattice with the same numbers: 8 vertices each, written
/// to out, which has room for 8 * cells[0] * cells[1] * cells[2].
YW_API void yw_lattice_cells(const int32_t cells[3], int32_t* out);

// Elastoplastic bodies ----------------------------------------------------------------------------

/// How a plastic material yields.
typedef enum yw_plastic_flow {
  YW_FLOW_NONE = 0,  ///< not at all: elastic (default)
  YW_FLOW_BOX,       ///< stretches stay within [1 - theta_c, 1 + theta_s], as in the paper
  YW_FLOW_VON_MISES  ///< shear beyond yield_stress flows, volume stays; never adds energy
} yw_plastic_flow;

typedef struct yw_plastic_material {
  float youngs_modulus;  ///< Pa, > 0; default 1e6
  float poissons_ratio;  ///< 0 to below 0.5; default 0.3
  float density;         ///< kg/m^3, > 0; default 1000
  yw_plastic_flow flow;
  float theta_c;       ///< box: compression at which it yields, 0 to below 1; default 0.025
  float theta_s;       ///< box: extension at which it yields, >= 0; default 0.0075
  float yield_stress;  ///< von Mises: Pa, >= 0; default 1e4
  /// Hardening, >= 0; default 0. Box: stiffness grows by exp(xi (1 - det F_P)) under compression.
  /// Von Mises: the yield stress grows by 1 + xi times plastic strain.
  float xi;
  /// 0: masters keep rotation besides velocity (default, viscous); 1: all of the affine velocity.
  float eta;
} yw_plastic_material;
YW_API yw_plastic_material yw_default_plastic_material(void);

/// Matter of one material that starts as one piece. Parts of a model share slaves: where they meet
/// they merge. Parts may overlap; nothing is removed, and matter there is twice as dense.
typedef struct yw_plastic_part {
  const yw_shape* shape;  ///< masters on a lattice inside it, centred in its box; or ...
  const yw_vec3* points;  ///< ... masters here, spacing apart; used when shape is NULL
  int32_t num_points;
  bool sheet;              ///< one layer of the lattice, in the middle of the shape's height (y)
  yw_transform transform;  ///< of the part in the model; scale must be 1. Default: none
  yw_plastic_material material;
  yw_vec3 velocity;          ///< m/s, added to that of the body
  yw_vec3 angular_velocity;  ///< rad/s about the part's centre
  double start;              ///< s after the start of the world's time; 0 (default): there at once
  // Numbers per point in place of the material's, with points only; each may be NULL.
  const float* youngs_modulus_field;  ///< Pa
  const float* yield_field;           ///< von Mises: Pa
  const float* density_field;         ///< kg/m^3
} yw_plastic_part;
YW_API yw_plastic_part yw_default_plastic_part(void);

/// Matter that dents, tears, splits and merges: master and slave particles (Saida et al. 2017).
/// Nothing here is owned or kept.
typedef struct yw_plastic_def {
  float spacing;  ///< m, > 0: distance of masters, and half the reach of forces; default 0.02
  const yw_plastic_part* parts;
  int32_t num_parts;       ///< >= 1
  float time_step;         ///< s, of inner steps; 0 (default): chosen from stiffness and speed
  float tolerance;         ///< of the implicit solve, 1e-6 to 0.1; default 1e-3
  int32_t max_iterations;  ///< of the solve, 1 to 10000; default 300
  bool paper;              ///< formulas as printed, for comparison; default false
  bool without_slaves;     ///< forces at the masters themselves, for comparison; default false
  double memory_limit;     ///< bytes that a body may need, else YW_ERR_LIMIT; default 8e9
} yw_plastic_def;
YW_API yw_plastic_def yw_default_plastic_def(void);
YW_API yw_status yw_model_create_plastic(const yw_allocator* mem, const yw_plastic_def* def,
                                         yw_model** out, yw_error* error);
/// The points of the lattice of a part with this shape, before its transform: *out has *count of
/// them, in the order in which the part makes masters of them; free with yw_points_free.
YW_API yw_status yw_plastic_sample(const yw_allocator* mem, const yw_shape* shape, float spacing,
                                   bool sheet, yw_vec3** out, int32_t* count, yw_error* error);
YW_API void yw_points_free(const yw_allocator* mem, yw_vec3* points);

/// Carries a finer triangle mesh in the body (barycentric, rest pose): it is what pictures and
/// caches show. Must be called before the first body is made.
YW_API yw_status yw_model_embed_surface(yw_model* model, const yw_tri_mesh* surface,
                                        yw_error* error);

/// Positions of the vertices of a tet mesh that follow a moved copy of an embedded surface
/// (least squares, smooth inside): makes an example of the tets from an example of the surface.
YW_API yw_status yw_tets_from_surface_pose(const yw_tet_mesh* rest, const yw_tri_mesh* surface_rest,
                                           const yw_vec3* surface_pose, yw_vec3* out_positions,
                                           yw_error* error);

YW_API yw_model* yw_model_retain(yw_model* model);
YW_API void yw_model_release(yw_model* model);  ///< NULL is fine

YW_API const char* yw_model_method(const yw_model* model);     ///< "match", "frames", ...
YW_API int32_t yw_model_num_particles(const yw_model* model);  ///< at rest
/// What a body made of this model shows: the embedded surface or the boundary of the tets, at rest.
YW_API const yw_tri_mesh* yw_model_surface(const yw_model* model);
/// The tets that the model was made of, at rest.
YW_API const yw_tet_mesh* yw_model_tets(const yw_model* model);
/// Vertices of the shown surface for given positions of the mesh's vertices. out has room for
/// yw_model_surface(model)->num_vertices.
YW_API void yw_model_surface_positions(const yw_model* model, const yw_vec3* positions,
                                       yw_vec3* out);

#ifdef __cplusplus
}
#endif
#endif
