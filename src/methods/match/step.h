// SPDX-License-Identifier: MIT
// State of a body, and the data that its kernels share during one step.
#ifndef YW_METHODS_MATCH_STEP_H
#define YW_METHODS_MATCH_STEP_H

#include "methods/kit/aims.h"
#include "methods/kit/near.h"
#include "methods/match/model.h"
#include "yawara/match.h"

/// Axes that move with the body. The kernels see positions as displacements in these axes,
///   d = R^T (x - c) - x0,
/// so that a body far from the origin, or much larger than its rings, keeps its precision, and
/// rotations of regions change little per step. Any axes give the same motion up to rounding.
typedef struct match_axes {
  yw_quat rotation;
  yw_vec3 center;
  yw_vec3 velocity, spin;  ///< of the whole body, as predicted for the next step
} match_axes;

/// Sums over the particles of a chunk; y is the position relative to the centre of the axes.
typedef struct match_sums {
  float mx[3];        ///< m y
  float mv[3];        ///< m v
  float myv[3];       ///< m y x v
  float myy[6];       ///< m y y^T: xx, yy, zz, xy, xz, yz
  float rotation[4];  ///< sum of the regions' quaternions
  float torque[3];    ///< m y x (velocity that the goals add in this step)
  int32_t recovered;  ///< regions that took the slow path
  yw_aabb box;        ///< of positions before and after the step
} match_sums;

typedef struct match_body {
  const match_model* model;
  yw_allocator mem;
  yw_match_params params;
  match_axes axes;
  yw_vec3 torque;  ///< angular impulse of the goals in the last inner step, over the mean mass
  yw_quatx16* rotations;  ///< R_r of the last step, relative to the axes, per block
  float* targets;  ///< rows (T_r - 1, shift of the origin) in the axes, one per particle, then a
                   ///< row of zeros
  yw_vec4* spare_pos;       ///< positions at the other end of the step
  match_sums* sums;         ///< per chunk
  float* products;          ///< L^T (S - S^0): num_examples x 16 lanes per share
  double* group_products;   ///< the same, summed: num_examples per group
  double* group_pieces;     ///< parts of these sums
  int32_t* group_counts;    ///< shares in them
  float* weights;           ///< num_groups x (1 + num_examples), before beta
  float* aims;              ///< likewise: weights that are given (kit/aims.h)
  bool aims_by_hand;        ///< some of them by the caller
  float* pulls;             ///< num_groups x num_examples, after beta
  yw_near near;             ///< positions are relative while the body advances
  struct match_away* away;  ///< the body on a device; NULL: none
} match_body;

/// Input of the kernels during one step.
typedef struct match_step {
  match_body* body;
  const match_model* model;
  const yw_vec4* pos;  ///< at the start of the step
  yw_vec4* new_pos;    ///< at the end
  yw_vec4* vel;
  float rotation[3][3];  ///< of the axes, row by row
  yw_vec3 center;        ///< of the axes

  // Viscosity fits regions to positions ahead of the particles, x + tau v, in axes that have moved
  // as far: d = R^T (1 + tau W)^-1 (x + tau v - c - tau v_c) - x0, with W the spin of the axes.
  float lag;                  ///< tau, s
  float seen_rotation[3][3];  ///< (1 + tau W)^-T R, row by row
  yw_vec3 velocity;           ///< v_c of the axes

  // For the second half: rigid velocity = drift + spin x (x - center). It is what damping adds, and
  // what takes back the angular impulse of the last inner step.
  yw_vec3 drift, spin;
  float h;
  bool paper;       ///< targets as printed, YW_TARGET_PAPER
  float pull;       ///< alpha / h
  float damp;       ///< 1 - exp(-damping h)
  bool uneven;      ///< regions pull with their grips
  yw_vec3 gravity;  ///< h g
#ifdef YW_ONE_LANE
  // On devices positions stay those of the world; the first inner step of a substep makes them
  // relative as it reads them (kit/near.h).
  bool enters;
  bool has_cut;  ///< some `cut` is not 0
  yw_vec3 origin;
  const yw_vec4* cut;
  float* fits;  ///< decompositions until the weights are known
#endif
} match_step;

#ifdef YW_ONE_LANE
/// Position of a particle as the step sees it.
static inline yw_vec4 match_relative(const match_step* step, int32_t p) {
  yw_vec4 x = step->pos[p];
  if (!step->enters || p >= step->model->num_particles) return x;
  yw_vec4 cut = {0.0f, 0.0f, 0.0f, 0.0f};
  if (step->has_cut) cut = step->cut[p];
  x.x = (x.x - step->origin.x) + cut.x;
  x.y = (x.y - step->origin.y) + cut.y;
  x.z = (x.z - step->origin.z) + cut.z;
  x.w = 0.0f;
  return x;
}
#endif

/// One function per phase and chunk; compiled once per instruction set.
typedef struct match_kernels {
  /// Sums over rings, A_r = R_r S_r, sums over the body. Without examples, or with examples per
  /// region, also computes the targets.
  void (*match_regions)(const match_step* step, int32_t chunk);
  /// Computes targets from the weights of the groups.
  void (*bend_targets)(const match_step* step, int32_t chunk);
  /// Computes goals, velocities and positions.
  void (*pull_particles)(const match_step* step, int32_t chunk);
} match_kernels;

extern const match_kernels yw_match_kernels_plain, yw_match_kernels_avx2, yw_match_kernels_avx512;

/// Weights of a group from G and b, before and after beta and the strengths of the examples
/// (weights: 1 + num_examples, pulls: num_examples). aims: weights that are given, or NULL. The
/// previous content of weights is the initial guess.
void yw_match_weigh(const yw_match_params* params, const match_model* model, const double* gram,
                    const double* b, const float* aims, float* weights, float* pulls);

#endif
