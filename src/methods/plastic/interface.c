// SPDX-License-Identifier: MIT
// Plastic bodies as callers see them: models, parameters, statistics.
#include "methods/plastic/plastic.h"

#include "methods/plastic/cladding.h"
#include "yawara/extend/error.h"

// Models ------------------------------------------------------------------------------------------

yw_status yw_model_create_plastic(const yw_allocator* mem, const yw_plastic_def* def,
                                  yw_model** out, yw_error* error) {
  return yw_model_create_plastic_scheme(mem, def, NULL, out, error);
}

yw_status yw_model_create_plastic_scheme(const yw_allocator* mem, const yw_plastic_def* def,
                                         const yw_plastic_scheme* scheme, yw_model** out,
                                         yw_error* error) {
  return yw_model_create_plastic_surface(mem, def, scheme, NULL, NULL, out, error);
}

yw_status yw_model_create_plastic_surface(const yw_allocator* mem, const yw_plastic_def* def,
                                          const yw_plastic_scheme* scheme,
                                          const yw_tri_mesh* surface, const int32_t* parts,
                                          yw_model** out, yw_error* error) {
  return yw_model_create_plastic_reach(mem, def, scheme, surface, parts, 0.0f, out, error);
}

yw_status yw_model_create_plastic_reach(const yw_allocator* mem, const yw_plastic_def* def,
                                        const yw_plastic_scheme* scheme, const yw_tri_mesh* surface,
                                        const int32_t* parts, float slave_reach, yw_model** out,
                                        yw_error* error) {
  yw_error_clear(error);
  if (!def || !out) return yw_fail(error, YW_ERR_INVALID, "plastic model: def or out is NULL");
  *out = NULL;
  void* data = NULL;
  yw_status built = yw_plastic_model_create(mem, def, scheme, slave_reach, &data, error);
  if (built < 0) return built;
  yw_status clad = yw_plastic_clad(data, surface, parts, error);
  if (clad < 0) {
    yw_plastic_model_destroy(data);
    return clad;
  }
  yw_status wrapped = yw_model_create_custom(mem, &yw_plastic_method, data, NULL, out, error);
  // The model has its own copy of the triangles now.
  if (wrapped >= 0) yw_plastic_forget_triangles(data);
  return wrapped < 0 ? wrapped : built;
}

// Bodies ------------------------------------------------------------------------------------------

yw_status yw_body_plastic_params(const yw_world* world, yw_body_id id, yw_plastic_params* out) {
  const void* state = yw_body_state(world, id, &yw_plastic_method, NULL);
  if (!state || !out) return YW_ERR_INVALID;
  *out = yw_plastic_params_of(state);
  return YW_OK;
}

yw_status yw_body_set_plastic_params(yw_world* world, yw_body_id id,
                                     const yw_plastic_params* params) {
  void* state = yw_body_state(world, id, &yw_plastic_method, NULL);
  if (!state || !params) return YW_ERR_INVALID;
  yw_body_changed(world, id);
  return yw_plastic_set_params(state, params);
}

yw_status yw_body_plastic_statistics(const yw_world* world, yw_body_id id,
                                     yw_plastic_statistics* out) {
  const void* state = yw_body_state(world, id, &yw_plastic_method, NULL);
  if (!state || !out) return YW_ERR_INVALID;
  yw_plastic_statistics_of(state, out);
  return YW_OK;
}

int32_t yw_body_plastic_slaves(const yw_world* world, yw_body_id id, yw_vec3* out,
                               int32_t capacity) {
  const void* state = yw_body_state(world, id, &yw_plastic_method, NULL);
  return state ? yw_plastic_slaves_of(state, out, capacity) : 0;
}
