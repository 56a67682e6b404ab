// SPDX-License-Identifier: MIT
// Equilibrium of a frames body under loads, in double; for `yawara fit` and tests.
#ifndef YW_METHODS_FRAMES_STATIC_H
#define YW_METHODS_FRAMES_STATIC_H

#include "methods/frames/energy.h"

/// Loads and supports. Arrays have 3 entries per particle; forces may be NULL.
typedef struct frames_load {
  const bool* fixed;     ///< components that do not move
  const double* forces;  ///< N
  const frames_targets* targets;
  double tolerance;    ///< residual relative to reactions and loads; 0: 1e-9
  int32_t max_newton;  ///< 0: 100
} frames_load;

typedef struct frames_static_report {
  int32_t newton;      ///< Newton steps
  int32_t iterations;  ///< of conjugate gradients, in total
  double residual;     ///< relative
  double energy;       ///< J, of the material
} frames_static_report;

/// Moves x (3 numbers per particle) to equilibrium, starting from its current value. YW_ERR_INVALID
/// when the supports allow a rigid motion; YW_ERR_DIVERGED when the tolerance was not reached (x is
/// then the best found). reactions (3 per particle, forces exerted by the fixed components) and
/// report may be NULL.
yw_status yw_frames_static(const frames_regions* regions, const frames_load* load, double* x,
                           double* reactions, frames_static_report* report, yw_error* error);

#endif
