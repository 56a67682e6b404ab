// SPDX-License-Identifier: MIT
// Models: the immutable rest data of a body, shared by any number of bodies, worlds and threads.
#ifndef YAWARA_MODEL_H
#define YAWARA_MODEL_H

#include "base.h"
#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Rest data of one kind of body. Reference counted: every body holds one reference.
typedef struct yw_model yw_model;

#define YW_MAX_EXAMPLES 32

/// Numbers of a material at room temperature and small strains; docs/materials.md says where each
/// comes from and how far real samples spread.
typedef struct yw_material {
  const char* name;      ///< as in scene files, e.g. "soft_tissue"
  float youngs_modulus;  ///< Pa
  float
      poissons_ratio;  ///< at most 0.49: rubbers are nearer to 0.5, which costs more than it shows
  float density;       ///< kg/m^3
} yw_material;
YW_API int32_t yw_num_materials(void);
/// Material number i, softest first, 0 <= i < yw_num_materials(); NULL when there is none.
YW_API const yw_material* yw_material_at(int32_t i);
YW_API const yw_material* yw_material_by_name(const char* name);  ///< NULL when there is none

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

/// What a point of a finite element body is made of.
typedef struct yw_fem_material {
  float youngs_modulus;  ///< Pa, > 0; default 1e5
  float poissons_ratio;  ///< above -1 and up to 0.4999; default 0.3
  float density;         ///< kg/m^3, > 0; default 1000
  /// s, >= 0; default 0. Stress from the rate of strain is the stiffness times this: vibrations of
  /// angular frequency w die as exp(-damping_time w^2 t / 2).
  /// Starts as stiffness_damping of the def; where it varies, that of bodies counts no more.
  float damping_time;
  /// Pa, or NULL (default): instead of the first two, an elasticity matrix. Upper half of 6x6, row
  /// after row: C11 C12 .. C16 C22 .. C66, components 11 22 33 23 13 12, strains with engineering
  /// shear. Must be positive definite. Read at once, never kept.
  const float* elasticity;
} yw_fem_material;

/// Says what the body is made of at a point of its rest pose, in a tet with this label (0 where the
/// mesh has none): changes what it finds in *material, which is the material of the def. Must give
/// the same answer for the same point; is called by several threads at once.
typedef void (*yw_fem_material_at)(void* context, yw_vec3 point, int32_t label,
                                   yw_fem_material* material);

/// How coarse tets get their matrices from the finest ones inside.
typedef enum yw_fem_sampling {
  YW_FEM_EMBEDDED = 0,  ///< load cases solved on the whole body (default)
  YW_FEM_STANDALONE,    ///< as in the paper, each coarse tet alone: far too soft, for comparison
  YW_FEM_AVERAGE        ///< volume average: too stiff, but without any solving
} yw_fem_sampling;

/// Tells how far long work has come; share is 0 to 1.
typedef void (*yw_progress)(void* context, const char* what, double share);

/// What decides where a fem body is refined.
typedef enum yw_fem_refine {
  YW_FEM_REFINE_JUMP = 0,  ///< where the strain changes from tet to tet (default)
  YW_FEM_REFINE_RANGE,     ///< the paper's rule: where a strain leaves `strain_range`
  YW_FEM_REFINE_FINEST,    ///< everywhere: the finest mesh, for comparison
  YW_FEM_REFINE_NEVER      ///< tets stay as they are
} yw_fem_refine;

/// How nodes on edges and faces of coarser tets are kept there.
typedef enum yw_fem_hanging {
  YW_FEM_HANGING_CARRIED = 0,  ///< forces, masses and motion are shared with the ends (default)
  YW_FEM_HANGING_SNAP          ///< as in the paper: positions only; forces on them are lost
} yw_fem_hanging;

/// What may be changed while a fem body runs.
typedef struct yw_fem_params {
  /// Jump of strain that asks for refinement next to the finest level, > 0; default 0.01. Coarser
  /// levels are refined at an eighth of it per level.
  float tau;
  float check_interval;  ///< s between two looks at the strains; 0 (default): 40 finest steps
  float time_step;       ///< s, of the inner steps; 0 (default): from the finest tets in use
  float safety;          ///< share of the stable time step, 0.1 to 1; default 0.75
  float mass_damping;    ///< rate at which all motion dies away, 1/s, >= 0; default 0.5
  /// Stress per rate of strain over stiffness, s, >= 0; default 0. Explicit steps pay for it: the
  /// step shrinks to sqrt(1 + x^2) - x, x = stiffness_damping / (stable step).
  float stiffness_damping;
  float strain_range;  ///< with YW_FEM_REFINE_RANGE: largest strain of a coarse tet; default 0.02
  int32_t min_level;   ///< level that all tets have at least; default 0
  yw_fem_refine refine;
  yw_fem_hanging hanging;
  /// A body whose nodes all stay slower than this for half a second sleeps until something touches
  /// or moves it, m/s; default 0.001; 0: it never sleeps.
  float sleep_speed;
} yw_fem_params;

/// Adaptive finite elements (Imai et al.): every tet of the mesh can be subdivided down to
/// max_level while the body runs. Nothing here is owned or kept.
typedef struct yw_fem_def {
  const yw_tet_mesh* mesh;  ///< coarsest level, rest pose; the model's own mesh is the finest level
  int32_t max_level;        ///< 0 to 8; default 3: 848 finest tets for each of the mesh
  double max_bytes;         ///< more than this is refused, bytes; default 2e9
  float youngs_modulus;     ///< Pa, > 0; default 1e5
  float poissons_ratio;     ///< above -1, below 0.5; default 0.3
  float density;            ///< kg/m^3, > 0; default 1000
  /// What varies in space, asked at the centres of the finest tets; NULL: the same everywhere.
  yw_fem_material_at material_at;
  void* material_context;
  yw_fem_sampling sampling;  ///< how coarse tets get their matrices where the material varies
  /// Folder in which sampled matrices are kept and found again by content; NULL (default): none. It
  /// is made when needed, and can be deleted at any time.
  const char* cache_folder;
  int32_t threads;       ///< for making the model; 0 (default): one per core
  yw_progress progress;  ///< told while the model is made, or NULL
  void* progress_context;
  yw_fem_params params;  ///< what bodies start with
} yw_fem_def;
YW_API yw_fem_def yw_default_fem_def(void);
/// Returns YW_WARN_CACHE, with the reason in error->message, when a file in cache_folder was
/// damaged or could not be written.
YW_API yw_status yw_model_create_fem(const yw_allocator* mem, const yw_fem_def* def, yw_model** out,
                                     yw_error* error);

/// What a fem model consists of, for reports.
typedef struct yw_fem_level {
  int32_t num_tets, num_nodes;                ///< nodes: of this level and all coarser ones
  float youngs_min, youngs_mean, youngs_max;  ///< Pa, of the nearest isotropic materials
  int32_t num_linear;  ///< tets that load cases said too little about: their faces were kept linear
  float time_step;     ///< s, stable at rest
} yw_fem_level;
typedef struct yw_fem_info {
  int32_t num_levels;
  yw_fem_level levels[9];
  double bytes;  ///< of the model and one body, about
  bool varies;   ///< the material varies, so that coarse matrices were sampled
  bool cached;   ///< they came from the cache
} yw_fem_info;
/// YW_ERR_INVALID for models of other methods.
YW_API yw_status yw_model_fem_info(const yw_model* model, yw_fem_info* out);

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

YW_API const char* yw_model_method(const yw_model* model);     ///< "match", "frames", "fem", ...
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
