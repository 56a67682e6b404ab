// SPDX-License-Identifier: MIT
// fem: adaptive finite elements for bodies whose stiffness varies. docs/methods/fem.md
#ifndef YAWARA_FEM_H
#define YAWARA_FEM_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Material at a point of a fem body.
typedef struct yw_fem_material {
  float youngs_modulus;  ///< Pa, > 0; default 1e5
  float poissons_ratio;  ///< above -1 and up to 0.4999; default 0.3
  float density;         ///< kg/m^3, > 0; default 1000
  /// s, >= 0; default stiffness_damping of the def. Viscous stress is the stiffness times this
  /// times the strain rate: a vibration of angular frequency w decays as
  /// exp(-damping_time w^2 t / 2). If it varies in space, stiffness_damping of bodies is ignored.
  float damping_time;
  /// Pa; NULL (default): none. Elasticity matrix used instead of the first two members. Upper
  /// triangle of 6x6, row by row: C11 C12 .. C16 C22 .. C66, components 11 22 33 23 13 12, with
  /// engineering shear strains. Must be positive definite. Read immediately, not kept.
  const float* elasticity;
} yw_fem_material;

/// Sets the material at a point of the rest pose, in a tet with this label (0 if the mesh has no
/// labels). *material starts as the material of the def. Must return the same result for the same
/// point. Called from several threads at the same time.
typedef void (*yw_fem_material_at)(void* context, yw_vec3 point, int32_t label,
                                   yw_fem_material* material);

/// How the matrices of coarse tets are computed from the finest tets inside them.
typedef enum yw_fem_sampling {
  YW_FEM_EMBEDDED = 0,  ///< load cases solved on the whole body (default)
  YW_FEM_STANDALONE,    ///< each coarse tet alone, as in the paper: far too soft, for comparison
  YW_FEM_AVERAGE,       ///< volume average: too stiff, but needs no solve
  YW_FEM_SETTLED  ///< as printed in the paper: each tet alone settles at several strains, lines
                  ///< are fitted to its stresses; slow, for comparison
} yw_fem_sampling;

/// What decides where a fem body is refined.
typedef enum yw_fem_refine {
  YW_FEM_REFINE_JUMP = 0,  ///< where strain jumps between neighbouring tets (default)
  YW_FEM_REFINE_RANGE,     ///< the paper's rule: strain outside the sampled range or strain_range
  YW_FEM_REFINE_FINEST,    ///< everywhere: the finest mesh of linear tets, for comparison
  YW_FEM_REFINE_NEVER      ///< nowhere: tets stay as they are
} yw_fem_refine;

/// How hanging nodes are kept on the edges and faces of coarser tets.
typedef enum yw_fem_hanging {
  YW_FEM_HANGING_CARRIED = 0,  ///< force, mass and motion are shared with the end nodes (default)
  YW_FEM_HANGING_SNAP          ///< positions only, as in the paper; forces on them are lost
} yw_fem_hanging;

/// Linear tets are too stiff in bending. What the families of a split tet bend like instead:
typedef enum yw_fem_soften {
  YW_FEM_SOFTEN_NONE = 0,  ///< linear tets on all levels
  YW_FEM_SOFTEN_FINEST,    ///< coarse families like the linear tets of the finest level
  YW_FEM_SOFTEN_MATERIAL   ///< all families, the finest too, like the material (default)
} yw_fem_soften;

/// Parameters of a fem body that can change while it runs.
typedef struct yw_fem_params {
  /// Strain jump beyond which tets of the second finest level are refined, > 0; default 0.01. The
  /// threshold falls by a factor of 8 per coarser level. With `soften` it starts at 2.5 tau and
  /// falls by a factor of 48 per level. With YW_FEM_REFINE_RANGE: strains of children that differ
  /// by less from their parent's count as the same, so that they may be merged.
  float tau;
  float check_interval;  ///< s between strain checks; 0 (default): 25 finest steps
  float time_step;       ///< s, of the inner steps; 0 (default): from the finest tets in use
  float safety;          ///< fraction of the stable time step to use, 0.1 to 1; default 0.75
  float mass_damping;    ///< decay rate of all motion, 1/s, >= 0; default 0.5
  /// Viscosity over stiffness, s, >= 0; default 0. It multiplies the stable step of the explicit
  /// integration by sqrt(1 + x^2) - x, where x = stiffness_damping / (stable step).
  float stiffness_damping;
  float strain_range;  ///< with YW_FEM_REFINE_RANGE: largest strain of a coarse tet; default 0.02
  int32_t min_level;   ///< minimum level of all tets, 0 to max_level; default 0
  yw_fem_refine refine;
  yw_fem_hanging hanging;
  /// Default YW_FEM_SOFTEN_MATERIAL: a strained body has at least level 2 (or max_level).
  /// YW_FEM_SOFTEN_FINEST stays on coarser levels. Both refine and coarsen only whole families.
  /// Ignored with the paper's rules (YW_FEM_REFINE_RANGE, YW_FEM_HANGING_SNAP);
  /// YW_FEM_REFINE_FINEST with the default is a mesh of linear tets. A body can change between
  /// YW_FEM_SOFTEN_NONE and what its model was made with.
  yw_fem_soften soften;
  // Plastic flow (permanent deformation). Strains are equivalent strains, without volume change.
  float yield;        ///< elastic strain at which flow starts, >= 0; default 0: no flow
  float creep;        ///< rate at which strain beyond yield becomes plastic, 1/s, >= 0; default 10
  float max_plastic;  ///< largest plastic strain, >= 0; default 1
  /// A body whose nodes are all slower than this (m/s) for half a second sleeps until something
  /// touches or moves it; default 0.001. 0: it never sleeps.
  float sleep_speed;
  /// Multiplies the elastic and viscous stress of the material, 1e-6 to 1e6; default 1.
  float stiffness_scale;
} yw_fem_params;

/// Adaptive finite elements (Imai et al.): every tet of the mesh can be subdivided down to
/// max_level while the body runs. Pointers are read during the call only.
typedef struct yw_fem_def {
  const yw_tet_mesh* mesh;  ///< coarsest level, rest pose; the model's own mesh is the finest level
  int32_t max_level;        ///< 0 to 8; default 3: 848 finest tets per tet of the mesh
  double max_bytes;         ///< models that need more bytes are refused; default 2e9
  float youngs_modulus;     ///< Pa, > 0; default 1e5
  float poissons_ratio;     ///< above -1 and up to 0.4999; default 0.3
  float density;            ///< kg/m^3, > 0; default 1000
  /// Material that varies in space, sampled at the centres of the finest tets. NULL (default):
  /// uniform.
  yw_fem_material_at material_at;
  void* material_context;
  yw_fem_sampling sampling;  ///< how coarse matrices are computed where the material varies
  /// Folder that caches sampled matrices, keyed by content; NULL (default): none. Created when
  /// needed; can be deleted at any time.
  const char* cache_folder;
  int32_t threads;       ///< used to build the model; 0 (default): one per core
  yw_progress progress;  ///< called while the model is built; may be NULL
  void* progress_context;
  yw_fem_params params;  ///< initial parameters of bodies
  /// A sampled matrix is valid for strains whose stress deviates from it by less than this share
  /// (T1 of the paper), >= 0; 0 (default): the paper's 0.01 ...
  float range_error;
  float range_stress;  ///< ... or by less than this (T2), Pa, >= 0; default 0
  /// Share of the body's mass that may move to small tets, so that these do not force short time
  /// steps upon the whole body, 0 (none) to 0.5; default 0.005. The mass of the body stays.
  float mass_scaling;
  // Fracture (docs/design/fracture.md). Bodies break if one of the two is above 0; they are then
  // made of linear tets (`soften` has no effect).
  /// Pa, >= 0: tension that opens a crack; 0 (default): what the toughness allows. Tets that are
  /// too large to show the stress at the tip of a crack break at less, so that its energy stays.
  float strength;
  /// J/m^2, >= 0: energy that a crack takes per area (of one side); 0 (default) with a strength:
  /// it separates without resistance.
  float toughness;
} yw_fem_def;
YW_API yw_fem_def yw_default_fem_def(void);
/// Returns YW_WARN_CACHE, with the reason in error->message, when a file in cache_folder was
/// damaged or could not be written.
YW_API yw_status yw_model_create_fem(const yw_allocator* mem, const yw_fem_def* def, yw_model** out,
                                     yw_error* error);

/// One level of a fem model.
typedef struct yw_fem_level {
  int32_t num_tets, num_nodes;                ///< nodes: of this level and all coarser levels
  float youngs_min, youngs_mean, youngs_max;  ///< Pa, of the nearest isotropic materials
  int32_t num_linear;  ///< tets that load cases did not determine; their faces were kept linear
  float time_step;     ///< s, stable at rest
} yw_fem_level;
/// Size and stiffness of a fem model, for reports.
typedef struct yw_fem_info {
  int32_t num_levels;
  yw_fem_level levels[9];
  double bytes;      ///< approximate size of the model and one body
  bool varies;       ///< the material varies, so coarse matrices were sampled
  bool cached;       ///< the coarse matrices came from the cache
  float moved_mass;  ///< share of the mass that was moved to small tets (mass_scaling)
} yw_fem_info;
/// YW_ERR_INVALID for models of other methods.
YW_API yw_status yw_model_fem_info(const yw_model* model, yw_fem_info* out);

// Bodies. These functions return YW_ERR_INVALID for bodies of other methods.

YW_API yw_status yw_body_fem_params(const yw_world* world, yw_body_id body, yw_fem_params* out);
/// YW_ERR_INVALID if a parameter is out of range, or if `soften` is not that of the model.
YW_API yw_status yw_body_set_fem_params(yw_world* world, yw_body_id body,
                                        const yw_fem_params* params);

/// Current statistics of a fem body.
typedef struct yw_fem_statistics {
  int32_t num_tets;                ///< in use now
  int32_t num_nodes, num_hanging;  ///< of these tets; hanging nodes follow other nodes
  int32_t finest_level;
  float time_step;                      ///< s, of the last inner step
  int64_t inner_steps, splits, merges;  ///< since the body was created
  bool asleep;
  int32_t num_pieces;      ///< 1 as long as it is whole
  double crack_area;       ///< m^2, at rest, of one side of the faces that have come apart
  double fracture_energy;  ///< J, work done against cohesion; also of faces that are only half open
} yw_fem_statistics;
YW_API yw_status yw_body_fem_statistics(const yw_world* world, yw_body_id body,
                                        yw_fem_statistics* out);

#ifdef __cplusplus
}
#endif
#endif
