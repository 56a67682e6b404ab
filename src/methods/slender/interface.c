// SPDX-License-Identifier: MIT
// The public API of rods and sheets: models, parameters, statistics, example weights.
#include "methods/slender/slender.h"
#include "yawara/extend/error.h"

// Models ------------------------------------------------------------------------------------------

static const yw_slender_params slender_defaults = {.tolerance = 1e-3f,
                                                   .substeps = 10,
                                                   .sweeps = 1,
                                                   .stiffness = 0.5f,
                                                   .beta = 0.95f,
                                                   .stiffness_scale = 1.0f};

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

// A warning about the data stays.
static yw_status wrap(const yw_allocator* mem, yw_status built, void* data, yw_model** out,
                      yw_error* error) {
  if (built < 0) return built;
  yw_status status = yw_model_create_custom(mem, &yw_slender_method, data, NULL, out, error);
  return status < 0 ? status : built;
}

yw_status yw_model_create_rod(const yw_allocator* mem, const yw_rod_def* def, yw_model** out,
                              yw_error* error) {
  yw_error_clear(error);
  if (!def || !out) return yw_fail(error, YW_ERR_INVALID, "rod: def or out is NULL");
  *out = NULL;
  void* data = NULL;
  yw_status built = yw_rod_model_create(mem, def, &data, error);
  return wrap(mem, built, data, out, error);
}

yw_status yw_model_create_sheet(const yw_allocator* mem, const yw_sheet_def* def, yw_model** out,
                                yw_error* error) {
  yw_error_clear(error);
  if (!def || !out) return yw_fail(error, YW_ERR_INVALID, "sheet: def or out is NULL");
  *out = NULL;
  void* data = NULL;
  yw_status built = yw_sheet_model_create(mem, def, &data, error);
  return wrap(mem, built, data, out, error);
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

int32_t yw_body_slender_weights(const yw_world* world, yw_body_id id, float* out,
                                int32_t capacity) {
  const void* state = yw_body_state(world, id, &yw_slender_method, NULL);
  return state ? yw_slender_weights(state, out, capacity) : 0;
}

yw_status yw_body_slender_set_weights(yw_world* world, yw_body_id id, int32_t group,
                                      const float* weights, float share) {
  void* state = yw_body_state(world, id, &yw_slender_method, NULL);
  if (!state) return YW_ERR_INVALID;
  yw_body_changed(world, id);
  return yw_slender_set_weights(state, group, weights, share);
}
