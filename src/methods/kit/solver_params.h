// SPDX-License-Identifier: MIT
// Parameters shared by implicit and position-based solvers.
#ifndef YW_METHODS_KIT_SOLVER_PARAMS_H
#define YW_METHODS_KIT_SOLVER_PARAMS_H

#include "yawara/base.h"

typedef struct yw_solver_params {
  float damping;     ///< 1/s
  float tolerance;   ///< of implicit solves
  int32_t substeps;  ///< of position-based solvers
  int32_t sweeps;    ///< over all regions, per substep
  float stiffness;   ///< of the classic solver, 0 to 1
  float stiffness_scale;
} yw_solver_params;

/// YW_ERR_INVALID, with a message, when a value is out of range.
yw_status yw_solver_params_check(yw_solver_params params, yw_error* error);

#endif
