// SPDX-License-Identifier: MIT
// fem: adaptive finite elements for bodies whose stiffness varies. docs/methods/fem.md
#ifndef YAWARA_FEM_H
#define YAWARA_FEM_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/// What decides where a fem body is refined.
typedef enum yw_fem_refine {
  YW_FEM_REFINE_JUMP = 0,  ///< where the strain changes from tet to tet (default)
  YW_FEM_REFINE_RANGE,     ///< the paper's: where strain leaves the sampled range or strain_range
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
  /// levels are refined at an eighth of it per level; with `soften` it is 2.5 times this, and 48
  /// times less per coarser level.
  float tau;
  float check_interval;  ///< s between two looks at the strains; 0 (default): 25 finest steps
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
  /// Coarse families bend as the finest tets would, and the front is kept in whole families;
  /// default true. The paper's own rules (YW_FEM_REFINE_RANGE, YW_FEM_HANGING_SNAP) do without.
  bool soften;
  // Plastic flow: shape that is kept. Strains are equivalent ones, without change of volume.
  float yield;  ///< elastic strain beyond which material flows, >= 0; default 0: it never does
  float creep;  ///< share of what is beyond that flows, 1/s, >= 0; default 10
  float max_plastic;  ///< largest plastic strain, >= 0; default 1
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

// Bodies. All of these return YW_ERR_INVALID for bodies of other methods.

YW_API yw_status yw_body_fem_params(const yw_world* world, yw_body_id body, yw_fem_params* out);
/// What is out of range is refused with YW_ERR_INVALID.
YW_API yw_status yw_body_set_fem_params(yw_world* world, yw_body_id body,
                                        const yw_fem_params* params);

/// Current statistics of a fem body.
typedef struct yw_fem_statistics {
  int32_t num_tets;                ///< in use now
  int32_t num_nodes, num_hanging;  ///< of these tets; hanging ones follow others
  int32_t finest_level;
  float time_step;                      ///< s, of the last inner step
  int64_t inner_steps, splits, merges;  ///< since the body was made
  bool asleep;
} yw_fem_statistics;
YW_API yw_status yw_body_fem_statistics(const yw_world* world, yw_body_id body,
                                        yw_fem_statistics* out);

#ifdef __cplusplus
}
#endif
#endif
