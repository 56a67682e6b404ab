// SPDX-License-Identifier: MIT
// plastic: material that dents, tears, splits and merges. docs/methods/plastic.md
#ifndef YAWARA_PLASTIC_H
#define YAWARA_PLASTIC_H

#include "model.h"
#include "shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How a plastic material yields.
typedef enum yw_plastic_flow {
  YW_FLOW_NONE = 0,  ///< never: purely elastic (default)
  YW_FLOW_BOX,       ///< elastic stretch is clamped to [1 - theta_c, 1 + theta_s], as in the paper
  YW_FLOW_VON_MISES  ///< shear beyond yield_stress flows at constant volume; never adds energy
} yw_plastic_flow;

typedef struct yw_plastic_material {
  float youngs_modulus;  ///< Pa, > 0; default 1e6
  float poissons_ratio;  ///< 0 to below 0.5; default 0.3
  float density;         ///< kg/m^3, > 0; default 1000
  yw_plastic_flow flow;
  float theta_c;       ///< box: compression at yield, 0 to below 1; default 0.025
  float theta_s;       ///< box: extension at yield, >= 0; default 0.0075
  float yield_stress;  ///< von Mises: Pa, >= 0; default 1e4
  /// Hardening, >= 0; default 0. Box: under compression the stiffness is multiplied by exp(xi (1 -
  /// det F_P)). Von Mises: the yield stress is multiplied by 1 + xi times plastic strain.
  float xi;
  /// 0 (default, viscous): masters keep velocity and rotation; 1: all of the affine velocity.
  float eta;
} yw_plastic_material;
YW_API yw_plastic_material yw_default_plastic_material(void);

/// A named plastic material; docs/materials.md gives the sources.
typedef struct yw_plastic_preset {
  const char* name;  ///< as in scene files, e.g. "clay"
  yw_plastic_material material;
} yw_plastic_preset;
YW_API int32_t yw_num_plastic_presets(void);
/// Preset i, softest first, 0 <= i < yw_num_plastic_presets(); NULL if out of range.
YW_API const yw_plastic_preset* yw_plastic_preset_at(int32_t i);
YW_API const yw_plastic_preset* yw_plastic_preset_by_name(const char* name);  ///< NULL if not found

/// A piece of one material. Parts of a model share slaves and merge where they meet. Parts may
/// overlap: nothing is removed, so the overlap is twice as dense.
typedef struct yw_plastic_part {
  const yw_shape* shape;  ///< filled with masters on a lattice centred in its bounding box; or ...
  const yw_vec3* points;  ///< ... positions of masters, m, `spacing` apart, if shape is NULL
  int32_t num_points;
  bool sheet;              ///< one layer of the lattice, at half the shape's height (y)
  yw_transform transform;  ///< of the part in the model; scale must be 1; default identity
  yw_plastic_material material;
  yw_vec3 velocity;          ///< m/s, added to that of the body
  yw_vec3 angular_velocity;  ///< rad/s about the part's centre
  double start;              ///< world time at which the part appears, s; default 0. At least one
                             ///< part must start at 0
  // Values per point that replace those of the material; only with points; each may be NULL.
  const float* youngs_modulus_field;  ///< Pa
  const float* yield_field;           ///< von Mises: Pa
  const float* density_field;         ///< kg/m^3
} yw_plastic_part;
YW_API yw_plastic_part yw_default_plastic_part(void);

/// Parameters of a plastic body that can change while it runs.
typedef struct yw_plastic_params {
  float time_step;         ///< s, of inner steps; 0 (default): derived from stiffness and speed
  float tolerance;         ///< of the implicit solve, 1e-6 to 0.1; default 1e-3
  int32_t max_iterations;  ///< of the solve, 1 to 10000; default 300
  /// A connected piece that touches an obstacle or a pin and is slower than this (m/s) for half a
  /// second sleeps until something touches or moves it. 0: never. Negative (default): automatic,
  /// the larger of 1/20 of the speed that gravity adds in an inner step and 0.05 spacings per
  /// second (at most 0.001 m/s). Bodies with `paper` or `without_slaves` never sleep.
  float sleep_speed;
  /// Multiplies Young's modulus, 1e-6 to 1e6; default 1. Yield stresses stay as they are.
  float stiffness_scale;
} yw_plastic_params;

/// Constants of the scheme; symbols are those of the paper. Other values are for comparisons.
typedef struct yw_plastic_scheme {
  float implicit_share;  ///< beta of (15), 0 (forces of the start of the step) to 1 (default)
  /// alpha of (8): how much of a master's velocity comes from its slaves, 0 to 1; the rest is its
  /// own of the step before. Negative (default): 1, and with `paper` 0.9.
  float velocity_blend;
  bool collide_after;  ///< slaves meet obstacles after the solve (step 5), not in it; default false
  float link_reach;    ///< gamma: masters closer than this many radii (half spacings) at rest part
                       ///< when they are more than 2h apart; 2 to 4; default 2.5
  float split_master;  ///< m and n of (23): a new slave is at (n x_s + m x_m) / (m + n), between
                       ///< the slave and the master that parted; >= 0, default 2
  float split_slave;   ///< n, >= 0; default 1
} yw_plastic_scheme;
YW_API yw_plastic_scheme yw_default_plastic_scheme(void);

/// Material that dents, tears, splits and merges: master and slave particles (Saida et al. 2017).
/// Pointers are read during the call only.
typedef struct yw_plastic_def {
  float spacing;  ///< m, > 0: distance between masters, half the range of forces; default 0.02
  const yw_plastic_part* parts;
  int32_t num_parts;         ///< >= 1
  bool paper;                ///< formulas exactly as in the paper, for comparison; default false
  bool without_slaves;       ///< forces act on the masters, for comparison; default false
  double memory_limit;       ///< YW_ERR_LIMIT if a body needs more bytes; default 8e9
  yw_plastic_params params;  ///< initial parameters of bodies
} yw_plastic_def;
YW_API yw_plastic_def yw_default_plastic_def(void);
YW_API yw_status yw_model_create_plastic(const yw_allocator* mem, const yw_plastic_def* def,
                                         yw_model** out, yw_error* error);
/// The same with other constants; scheme may be NULL: the default.
YW_API yw_status yw_model_create_plastic_scheme(const yw_allocator* mem, const yw_plastic_def* def,
                                                const yw_plastic_scheme* scheme, yw_model** out,
                                                yw_error* error);
/// The same, with a surface that is shown instead of particles, in the coordinates of the model; it
/// follows the particles until they part, see yw_body_parted. parts says which part of def each
/// vertex follows; NULL: the nearest one. scheme and surface may be NULL.
YW_API yw_status yw_model_create_plastic_surface(const yw_allocator* mem, const yw_plastic_def* def,
                                                 const yw_plastic_scheme* scheme,
                                                 const yw_tri_mesh* surface, const int32_t* parts,
                                                 yw_model** out, yw_error* error);
/// The same, with slaves that at rest are nearer to masters than slave_reach spacings, 1 to 2:
/// those up to 1.65 are at the eight corners around each master; beyond, 32 for each as in the
/// paper, of which the outer ones let matter at rest creep. 0: the usual, 1; 2 for sheets and
/// `paper`.
YW_API yw_status yw_model_create_plastic_reach(const yw_allocator* mem, const yw_plastic_def* def,
                                               const yw_plastic_scheme* scheme,
                                               const yw_tri_mesh* surface, const int32_t* parts,
                                               float slave_reach, yw_model** out, yw_error* error);
/// Lattice points of a part with this shape, before its transform, in the order of the part's
/// masters. Writes *count points to *out; free them with yw_points_free.
YW_API yw_status yw_plastic_sample(const yw_allocator* mem, const yw_shape* shape, float spacing,
                                   bool sheet, yw_vec3** out, int32_t* count, yw_error* error);
YW_API void yw_points_free(const yw_allocator* mem, yw_vec3* points);
/// Counts these points without creating them, and estimates the bytes that a body of them needs
/// (bytes may be NULL). YW_ERR_LIMIT above memory_limit bytes.
YW_API yw_status yw_plastic_count(const yw_shape* shape, float spacing, bool sheet,
                                  double memory_limit, int32_t* count, double* bytes,
                                  yw_error* error);

// Bodies. These functions return YW_ERR_INVALID for bodies of other methods.

YW_API yw_status yw_body_plastic_params(const yw_world* world, yw_body_id body,
                                        yw_plastic_params* out);
/// YW_ERR_INVALID if a parameter is out of range. Setting sleep_speed to 0 wakes the whole body.
YW_API yw_status yw_body_set_plastic_params(yw_world* world, yw_body_id body,
                                            const yw_plastic_params* params);

/// Current statistics of a plastic body.
typedef struct yw_plastic_statistics {
  int32_t num_masters;     ///< of the parts that have started
  int32_t num_slaves;      ///< of awake masters
  int32_t num_asleep;      ///< sleeping masters
  int32_t num_islands;     ///< sleeping pieces
  float time_step;         ///< s, of the last inner step
  int32_t inner_steps;     ///< in the last substep
  int32_t iterations;      ///< of the solve in the last inner step
  int64_t added, removed;  ///< slaves, since the body was created
} yw_plastic_statistics;
YW_API yw_status yw_body_plastic_statistics(const yw_world* world, yw_body_id body,
                                            yw_plastic_statistics* out);
/// Positions of the slaves of awake masters, m. Writes at most capacity of them (out may be NULL)
/// and returns how many there are; 0 for bodies of other methods.
YW_API int32_t yw_body_plastic_slaves(const yw_world* world, yw_body_id body, yw_vec3* out,
                                      int32_t capacity);

#ifdef __cplusplus
}
#endif
#endif
