// SPDX-License-Identifier: MIT
// The public API of rods and sheets: models, parameters, statistics.
#include "methods/slender/slender.h"
#include "yawara/extend/error.h"

// Models ------------------------------------------------------------------------------------------

static const yw_slender_params slender_defaults = {
    .tolerance = 1e-3f, .substeps = 10, .sweeps = 1, .stiffness = 0.5f};

yw_rod_def yw_default_rod_def(void) {
  return (yw_rod_def){.radius = 0.01f,
                      .width = 0.02f,
                      .thickness = 0.02f,
                      .density = 1000.0f,
                      .youngs_modulus = 1e6f,
                      .poissons_ratio = 0.3f,
                      .params = slender_defaults};
}

yw_sheet_def yw_default_sheet_def(void) {
  return (yw_sheet_def){.thickness = 0.002f,
                        .density = 1000.0f,
                        .youngs_modulus = 1e6f,
                        .poissons_ratio = 0.3f,
                        .params = slender_defaults};
}

yw_status yw_model_create_rod(const yw_allocator* mem, const yw_rod_def* def, yw_model** out,
                              yw_error* error) {
  yw_error_clear(error);
  if (!def || !out) return yw_fail(error, YW_ERR_INVALID, "rod: def or out is NULL");
  *out = NULL;
  void* data = NULL;
  yw_status status = yw_rod_model_create(mem, def, &data, error);
  return status < 0 ? status
                    : yw_model_create_custom(mem, &yw_slender_method, data, NULL, out, error);
}

yw_status yw_model_create_sheet(const yw_allocator* mem, const yw_sheet_def* def, yw_model** out,
                                yw_error* error) {
  yw_error_clear(error);
  if (!def || !out) return yw_fail(error, YW_ERR_INVALID, "sheet: def or out is NULL");
  *out = NULL;
  void* data = NULL;
  yw_status status = yw_sheet_model_create(mem, def, &data, error);
  return status < 0 ? status
                    : yw_model_create_custom(mem, &yw_slender_method, data, NULL, out, error);
}

// Bodies ------------------------------------------------------------------------------------------

yw_status yw_body_slender_params(const yw_world* world, yw_body_id id, yw_slender_params* out) {
  const void* state = yw_body_state(world, id, &yw_slender_method, NULL);
  if (!state || !out) return YW_ERR_INVALID;
  *out = yw_slender_params_of(state);
  return YW_OK;
}

yw_status yw_body_set_slender_params(yw_world* world, yw_body_id id,
                                     const yw_slender_params* params) {
  void* state = yw_body_state(world, id, &yw_slender_method, NULL);
  if (!state || !params) return YW_ERR_INVALID;
  yw_body_changed(world, id);
  return yw_slender_set_params(state, params);
}

yw_status yw_body_slender_statistics(const yw_world* world, yw_body_id id,
                                     yw_slender_statistics* out) {
  const void* state = yw_body_state(world, id, &yw_slender_method, NULL);
  if (!state || !out) return YW_ERR_INVALID;
  yw_slender_statistics_of(state, out);
  return YW_OK;
}
