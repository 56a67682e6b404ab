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

/// Cross-section of a rod.
typedef enum yw_section {
  YW_SECTION_ROUND = 0,  ///< circle (default): radius or radii
  YW_SECTION_ELLIPSE,    ///< width and thickness are its axes
  YW_SECTION_RECTANGLE   ///< width and thickness are its sides
} yw_section;

/// A rod: a chain of oriented particles that stretches, bends and twists with EA, EI and GJ of its
/// cross-section. Ropes, rulers, springs, cords, rings. Nothing here is owned or kept.
typedef struct yw_rod_def {
  const yw_vec3* points;  ///< m, particles at rest from one end to the other; the rest shape may
                          ///< bend, coil and wind: it is what the rod returns to
  int32_t num_points;     ///< 1 to 1,000,000; a single one is a rigid ball
  bool closed;            ///< a ring: the last point is joined to the first; 3 points or more
  yw_section section;
  float radius;            ///< m, > 0, of a round rod; default 0.01
  const float* radii;      ///< m, per point, instead; may be NULL
  float width, thickness;  ///< m, > 0, of other sections: along the first and second axis of frames
  /// Orientations at rest, per point: the third axis (z) points along the rod, the first (x) along
  /// its width. NULL: carried along the curve without twist, starting with the width nearest to
  /// width_direction.
  const yw_quat* frames;
  yw_vec3 width_direction;            ///< need not have length 1; zero (default): any
  float density;                      ///< kg/m^3, > 0; default 1000
  float youngs_modulus;               ///< Pa, > 0; default 1e6
  float poissons_ratio;               ///< 0 to below 0.5; default 0.3
  const float* youngs_modulus_field;  ///< Pa, per point, instead; may be NULL
  const float* poissons_ratio_field;  ///< per point, instead; may be NULL
  float contact_radius;  ///< m, of the particles as spheres in contacts; 0 (default): the radius,
                         ///< or half the smaller side
  yw_frames_params params;  ///< what bodies start with; beta and examples have no meaning here
} yw_rod_def;
YW_API yw_rod_def yw_default_rod_def(void);
/// Made of it, a body has one particle per point, in the same order.
YW_API yw_status yw_model_create_rod(const yw_allocator* mem, const yw_rod_def* def, yw_model** out,
                                     yw_error* error);

/// A sheet: oriented particles on a triangle mesh that stretches, bends and shears as a plate or
/// shell of the given thickness. Nothing here is owned or kept.
typedef struct yw_sheet_def {
  const yw_tri_mesh* mesh;  ///< middle surface at rest, flat or curved, of up to 200,000 vertices
                            ///< (25 kB each in a body); may have borders and holes;
                            ///< neighbouring triangles must be wound the same way
  float thickness;          ///< m, > 0; default 0.002
  float density;            ///< kg/m^3, > 0; default 1000
  float youngs_modulus;     ///< Pa, > 0; default 1e6
  float poissons_ratio;     ///< 0 to below 0.5; default 0.3
  const float* youngs_modulus_field;  ///< Pa, per vertex, instead; may be NULL
  const float* poissons_ratio_field;  ///< per vertex, instead; may be NULL
  float contact_radius;     ///< m, of the particles as spheres in contacts; 0 (default): half the
                            ///< thickness
  yw_frames_params params;  ///< what bodies start with; beta and examples have no meaning here
} yw_sheet_def;
YW_API yw_sheet_def yw_default_sheet_def(void);
/// Made of it, a body has one particle per vertex, in the same order.
YW_API yw_status yw_model_create_sheet(const yw_allocator* mem, const yw_sheet_def* def,
                                       yw_model** out, yw_error* error);

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
  /// levels are refined at an eighth of it per level.
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
  /// default false. Bodies that yield do without.
  bool soften;
  // Plastic flow: shape that is kept. Strains are equivalent ones, without change of volume.
  float yield;  ///< elastic strain beyond which material flows, >= 0; default 0: it never does
  float creep;  ///< share of what is beyond that flows, 1/s, >= 0; default 10
  float max_plastic;  ///< largest plastic strain, >= 0; default 1
  /// A body whose nodes all stay slower than this for half a second sleeps until something touches
  /// or moves it, m/s; default 0.001; 0: it never sleeps.
  float sleep_speed;
} yw_fem_params;

/// How a fem body is doing.
typedef struct yw_fem_state {
  int32_t num_tets;                ///< in use now
  int32_t num_nodes, num_hanging;  ///< of these tets; hanging ones follow others
  int32_t finest_level;
  float time_step;                      ///< s, of the last inner step
  int64_t inner_steps, splits, merges;  ///< since the body was made
  double elastic_energy;                ///< J
  bool asleep;
} yw_fem_state;

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

/// Plastic materials by name; docs/materials.md says where the numbers come from.
typedef struct yw_plastic_preset {
  const char* name;  ///< as in scene files, e.g. "clay"
  yw_plastic_material material;
} yw_plastic_preset;
YW_API int32_t yw_num_plastic_presets(void);
/// Preset number i, softest first, 0 <= i < yw_num_plastic_presets(); NULL when there is none.
YW_API const yw_plastic_preset* yw_plastic_preset_at(int32_t i);
YW_API const yw_plastic_preset* yw_plastic_preset_by_name(const char* name);  ///< NULL: none

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
  double start;              ///< s after the start of the world's time; 0 (default): there at once,
                             ///< as one part at least must be
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
/// How many points that would be, without making them, and about how many bytes a body of them
/// needs (bytes may be NULL). YW_ERR_LIMIT above memory_limit bytes.
YW_API yw_status yw_plastic_count(const yw_shape* shape, float spacing, bool sheet,
                                  double memory_limit, int32_t* count, double* bytes,
                                  yw_error* error);

/// Carries a finer triangle mesh in the body (barycentric, rest pose): it is what pictures and
/// caches show. Must be called before the first body is made, of a model made of tets.
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
/// What a body made of this model shows, at rest: the embedded surface, what the method makes
/// (tubes of rods, sheets with thickness), or the boundary of the tets. Empty for bodies of loose
/// particles.
YW_API const yw_tri_mesh* yw_model_surface(const yw_model* model);
/// The tets that the model was made of, at rest. Rods and sheets have their particles as vertices
/// and no tets; loose particles nothing.
YW_API const yw_tet_mesh* yw_model_tets(const yw_model* model);
/// True when the shown surface needs more than the positions of the particles (tubes that twist):
/// then only yw_body_surface_positions knows it.
YW_API bool yw_model_surface_has_state(const yw_model* model);
/// Vertices of the shown surface for given positions of the mesh's vertices. out has room for
/// yw_model_surface(model)->num_vertices. YW_ERR_INVALID where yw_model_surface_has_state.
YW_API yw_status yw_model_surface_positions(const yw_model* model, const yw_vec3* positions,
                                            yw_vec3* out);

/// A quantity that a body can show beside its shape: stress, plastic strain, level.
typedef struct yw_field_info {
  const char* name;  ///< as in files, e.g. "stress"
  const char* unit;  ///< e.g. "Pa"; "" for none
  bool per_cell;     ///< one number per cell (see yw_body_cells), else one per particle
} yw_field_info;

#ifdef __cplusplus
}
#endif
#endif
