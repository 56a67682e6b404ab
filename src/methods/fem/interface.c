// SPDX-License-Identifier: MIT
// Public functions of fem bodies: models, parameters, statistics.
#include "methods/fem/fem.h"
#include "yawara/extend/error.h"

// Models ------------------------------------------------------------------------------------------

yw_fem_def yw_default_fem_def(void) {
  return (yw_fem_def){
      .max_level = 3,
      .max_bytes = 2e9,
      .youngs_modulus = 1e5f,
      .poissons_ratio = 0.3f,
      .density = 1000.0f,
      .mass_scaling = 0.005f,
      .params = {.tau = 0.01f,
                 .safety = 0.75f,
                 .mass_damping = 0.5f,
                 .soften = YW_FEM_SOFTEN_MATERIAL,
                 .strain_range = 0.02f,
                 .creep = 10.0f,
                 .max_plastic = 1.0f,
                 .sleep_speed = 0.001f,
                 .stiffness_scale = 1.0f},
  };
}

// The model's own mesh is the finest level; its vertices are the particles.
yw_status yw_model_create_fem(const yw_allocator* mem, const yw_fem_def* def, yw_model** out,
                              yw_error* error) {
  yw_error_clear(error);
  if (!def || !out) return yw_fail(error, YW_ERR_INVALID, "fem model: def or out is NULL");
  *out = NULL;
  void* data = NULL;
  yw_status built = yw_fem_model_create(mem, def, &data, error);
  if (built < 0) return built;
  yw_tet_mesh finest = {0};
  yw_status status = yw_fem_finest_mesh(mem, yw_fem_hierarchy_of(data), &finest, error);
  if (status < 0) {
    yw_fem_model_destroy(data);
    return status;
  }
  status = yw_model_create_custom(mem, &yw_fem_method, data, &finest, out, error);
  yw_tet_mesh_free(&finest);
  return status < 0 ? status : built;
}

yw_status yw_model_fem_info(const yw_model* model, yw_fem_info* out) {
  const void* data = yw_model_data(model, &yw_fem_method);
  if (!data || !out) return YW_ERR_INVALID;
  yw_fem_model_info(data, out);
  return YW_OK;
}

// Bodies ------------------------------------------------------------------------------------------

yw_status yw_body_fem_params(const yw_world* world, yw_body_id id, yw_fem_params* out) {
  const void* state = yw_body_state(world, id, &yw_fem_method, NULL);
  if (!state || !out) return YW_ERR_INVALID;
  *out = yw_fem_params_of(state);
  return YW_OK;
}

yw_status yw_body_set_fem_params(yw_world* world, yw_body_id id, const yw_fem_params* params) {
  void* state = yw_body_state(world, id, &yw_fem_method, NULL);
  if (!state || !params) return YW_ERR_INVALID;
  yw_body_changed(world, id);
  return yw_fem_set_params(state, params);
}

yw_status yw_body_fem_statistics(const yw_world* world, yw_body_id id, yw_fem_statistics* out) {
  const void* state = yw_body_state(world, id, &yw_fem_method, NULL);
  if (!state || !out) return YW_ERR_INVALID;
  yw_fem_statistics_of(state, out);
  return YW_OK;
}
