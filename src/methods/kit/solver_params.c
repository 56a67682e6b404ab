// SPDX-License-Identifier: MIT
#include "methods/kit/solver_params.h"

#include <math.h>

#include "yawara/extend/error.h"

yw_status yw_solver_params_check(yw_solver_params params, yw_error* error) {
  if (!(params.damping >= 0.0f && isfinite(params.damping))) {
    return yw_fail(error, YW_ERR_INVALID, "damping is %g, but must be finite and at least 0",
                   (double)params.damping);
  }
  if (!(params.tolerance >= 1e-6f && params.tolerance <= 0.5f)) {
    return yw_fail(error, YW_ERR_INVALID, "tolerance is %g, but must be between 1e-6 and 0.5",
                   (double)params.tolerance);
  }
  if (params.substeps < 1 || params.substeps > 1000) {
    return yw_fail(error, YW_ERR_INVALID, "substeps is %d, but must be between 1 and 1000",
                   params.substeps);
  }
  if (params.sweeps < 1 || params.sweeps > 1000) {
    return yw_fail(error, YW_ERR_INVALID, "sweeps is %d, but must be between 1 and 1000",
                   params.sweeps);
  }
  if (!(params.stiffness >= 0.0f && params.stiffness <= 1.0f)) {
    return yw_fail(error, YW_ERR_INVALID, "stiffness is %g, but must be between 0 and 1",
                   (double)params.stiffness);
  }
  if (!(params.stiffness_scale >= 1e-6f && params.stiffness_scale <= 1e6f)) {
    return yw_fail(error, YW_ERR_INVALID, "stiffness_scale is %g, but must be between 1e-6 and 1e6",
                   (double)params.stiffness_scale);
  }
  return YW_OK;
}
