// SPDX-License-Identifier: MIT
// The public API of match bodies: models, parameters, statistics, example weights.
#include <math.h>

#include "methods/match/match.h"
#include "yawara/extend/error.h"

// Models ------------------------------------------------------------------------------------------

yw_match_def yw_default_match_def(void) {
  return (yw_match_def){.density = 1000.0f,
                        .params = {.beta = 0.95f,
                                   .damping = YW_MATCH_DEFAULT,
                                   .viscosity = YW_MATCH_DEFAULT,
                                   .stiffness = 300.0f}};
}

static yw_status create(const yw_allocator* mem, const yw_match_def* def, double youngs_modulus,
                        yw_model** out, yw_error* error) {
  if (!def || !out) return yw_fail(error, YW_ERR_INVALID, "match model: def or out is NULL");
  *out = NULL;
  void* data = NULL;
  yw_status built = yw_match_model_create(mem, def, youngs_modulus, &data, error);
  if (built < 0) return built;
  yw_status wrapped = yw_model_create_custom(mem, &yw_match_method, data, def->mesh, out, error);
  return wrapped < 0 ? wrapped : built;
}

yw_status yw_model_create_match(const yw_allocator* mem, const yw_match_def* def, yw_model** out,
                                yw_error* error) {
  yw_error_clear(error);
  return create(mem, def, 0.0, out, error);
}

yw_status yw_model_create_match_modulus(const yw_allocator* mem, const yw_match_def* def,
                                        float youngs_modulus, yw_model** out, yw_error* error) {
  yw_error_clear(error);
  if (!(youngs_modulus > 0.0f && isfinite(youngs_modulus))) {
    return yw_fail(error, YW_ERR_INVALID, "youngs_modulus is %g Pa, but must be finite and above 0",
                   (double)youngs_modulus);
  }
  return create(mem, def, (double)youngs_modulus, out, error);
}

// Bodies ------------------------------------------------------------------------------------------

yw_status yw_body_match_params(const yw_world* world, yw_body_id id, yw_match_params* out) {
  const void* state = yw_body_state(world, id, &yw_match_method, NULL);
  if (!state || !out) return YW_ERR_INVALID;
  *out = yw_match_params_of(state);
  return YW_OK;
}

yw_status yw_body_set_match_params(yw_world* world, yw_body_id id, const yw_match_params* params) {
  void* state = yw_body_state(world, id, &yw_match_method, NULL);
  if (!state || !params) return YW_ERR_INVALID;
  yw_body_changed(world, id);
  return yw_match_set_params(state, params);
}

yw_status yw_body_match_statistics(const yw_world* world, yw_body_id id, yw_match_statistics* out) {
  const void* state = yw_body_state(world, id, &yw_match_method, NULL);
  if (!state || !out) return YW_ERR_INVALID;
  yw_match_statistics_of(state, out);
  return YW_OK;
}

int32_t yw_body_match_weights(const yw_world* world, yw_body_id id, float* out, int32_t capacity) {
  const void* state = yw_body_state(world, id, &yw_match_method, NULL);
  return state ? yw_match_weights(state, out, capacity) : 0;
}

yw_status yw_body_match_set_weights(yw_world* world, yw_body_id id, int32_t group,
                                    const float* weights, float share) {
  void* state = yw_body_state(world, id, &yw_match_method, NULL);
  if (!state) return YW_ERR_INVALID;
  yw_body_changed(world, id);
  return yw_match_set_weights(state, group, weights, share);
}
