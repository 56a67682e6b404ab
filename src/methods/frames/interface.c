// SPDX-License-Identifier: MIT
// The public API of frames bodies: models, parameters, statistics, example weights.
#include "methods/frames/frames.h"
#include "yawara/extend/error.h"

// Models ------------------------------------------------------------------------------------------

yw_status yw_model_create_frames(const yw_allocator* mem, const yw_frames_def* def, yw_model** out,
                                 yw_error* error) {
  yw_error_clear(error);
  if (!def || !out) return yw_fail(error, YW_ERR_INVALID, "frames model: def or out is NULL");
  *out = NULL;
  void* data = NULL;
  yw_status built = yw_frames_model_create(mem, def, &data, error);
  if (built < 0) return built;
  yw_status wrapped = yw_model_create_custom(mem, &yw_frames_method, data, def->mesh, out, error);
  return wrapped < 0 ? wrapped : built;
}

// Bodies ------------------------------------------------------------------------------------------

yw_status yw_body_frames_params(const yw_world* world, yw_body_id id, yw_frames_params* out) {
  const void* state = yw_body_state(world, id, &yw_frames_method, NULL);
  if (!state || !out) return YW_ERR_INVALID;
  *out = yw_frames_params_of(state);
  return YW_OK;
}

yw_status yw_body_set_frames_params(yw_world* world, yw_body_id id,
                                    const yw_frames_params* params) {
  void* state = yw_body_state(world, id, &yw_frames_method, NULL);
  if (!state || !params) return YW_ERR_INVALID;
  yw_body_changed(world, id);
  return yw_frames_set_params(state, params);
}

yw_status yw_body_frames_statistics(const yw_world* world, yw_body_id id,
                                    yw_frames_statistics* out) {
  const void* state = yw_body_state(world, id, &yw_frames_method, NULL);
  if (!state || !out) return YW_ERR_INVALID;
  yw_frames_statistics_of(state, out);
  return YW_OK;
}

int32_t yw_body_frames_weights(const yw_world* world, yw_body_id id, float* out, int32_t capacity) {
  const void* state = yw_body_state(world, id, &yw_frames_method, NULL);
  return state ? yw_frames_weights(state, out, capacity) : 0;
}

yw_status yw_body_frames_set_weights(yw_world* world, yw_body_id id, int32_t group,
                                     const float* weights, float share) {
  void* state = yw_body_state(world, id, &yw_frames_method, NULL);
  if (!state) return YW_ERR_INVALID;
  yw_body_changed(world, id);
  return yw_frames_set_weights(state, group, weights, share);
}
