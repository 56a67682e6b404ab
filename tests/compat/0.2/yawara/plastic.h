// SPDX-License-Identifier: MIT
// plastic: matter that dents, tears, splits and merges. docs/methods/plastic.md
#ifndef YAWARA_PLASTIC_H
#define YAWARA_PLASTIC_H

#include "model.h"
#include "shape.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/// What may be changed while a plastic body runs.
typedef struct yw_plastic_params {
  float time_step;         ///< s, of inner steps; 0 (default): chosen from stiffness and speed
  float tolerance;         ///< of the implicit solve, 1e-6 to 0.1; default 1e-3
  int32_t max_iterations;  ///< of the solve, 1 to 10000; default 300
  /// Matter that hangs together, touches an obstacle or a pin, and is slower than this for half a
  /// second sleeps until something touches or moves it, m/s. 0: never; below 0 (default): chosen, a
  /// twentieth of what gravity adds in an inner step, or 0.05 spacings per second (at most 0.001)
  /// where that is more. Bodies with `paper` or `without_slaves` never sleep.
  float sleep_speed;
} yw_plastic_params;

/// Matter that dents, tears, splits and merges: master and slave particles (Saida et al. 2017).
/// Nothing here is owned or kept.
typedef struct yw_plastic_def {
  float spacing;  ///< m, > 0: distance of masters, and half the reach of forces; default 0.02
  const yw_plastic_part* parts;
  int32_t num_parts;         ///< >= 1
  bool paper;                ///< formulas as printed, for comparison; default false
  bool without_slaves;       ///< forces at the masters themselves, for comparison; default false
  double memory_limit;       ///< bytes that a body may need, else YW_ERR_LIMIT; default 8e9
  yw_plastic_params params;  ///< what bodies start with
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

// Bodies. All of these return YW_ERR_INVALID for bodies of other methods.

YW_API yw_status yw_body_plastic_params(const yw_world* world, yw_body_id body,
                                        yw_plastic_params* out);
/// What is out of range is refused with YW_ERR_INVALID. Where bodies may no longer sleep, all
/// wakes.
YW_API yw_status yw_body_set_plastic_params(yw_world* world, yw_body_id body,
                                            const yw_plastic_params* params);

/// Current statistics of a plastic body.
typedef struct yw_plastic_statistics {
  int32_t num_masters;     ///< of the parts that have started
  int32_t num_slaves;      ///< of masters that are awake
  int32_t num_asleep;      ///< masters
  int32_t num_islands;     ///< that sleep
  float time_step;         ///< s, of the last inner step
  int32_t inner_steps;     ///< in the last substep
  int32_t iterations;      ///< of the solve in the last inner step
  int64_t added, removed;  ///< slaves, since the body was made
} yw_plastic_statistics;
YW_API yw_status yw_body_plastic_statistics(const yw_world* world, yw_body_id body,
                                            yw_plastic_statistics* out);

#ifdef __cplusplus
}
#endif
#endif
