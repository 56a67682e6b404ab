// SPDX-License-Identifier: MIT
// The public API of rigid bodies: models, parameters, motion.
#include "methods/rigid/rigid.h"
#include "yawara/extend/error.h"

// Models ------------------------------------------------------------------------------------------

yw_rigid_def yw_default_rigid_def(void) { return (yw_rigid_def){.density = 1000.0f}; }

yw_status yw_model_create_rigid(const yw_allocator* mem, const yw_rigid_def* def, yw_model** out,
                                yw_error* error) {
  yw_error_clear(error);
  if (!def || !out) return yw_fail(error, YW_ERR_INVALID, "rigid model: def or out is NULL");
  *out = NULL;
  void* data = NULL;
  yw_status status = yw_rigid_model_create(mem, def, &data, error);
  return status < 0 ? status
                    : yw_model_create_custom(mem, &yw_rigid_method, data, NULL, out, error);
}

yw_status yw_model_rigid_mass(const yw_model* model, yw_rigid_mass* out) {
  const rigid_model* data = yw_model_data(model, &yw_rigid_method);
  if (!data || !out) return YW_ERR_INVALID;
  *out = (yw_rigid_mass){.mass = data->mass};
  for (int k = 0; k < 3; ++k) {
    out->center[k] = data->center[k];
    out->moments[k] = data->moments[k];
  }
  for (int k = 0; k < 6; ++k) out->inertia[k] = data->inertia[k];
  return YW_OK;
}

// Bodies ------------------------------------------------------------------------------------------

yw_status yw_body_rigid_params(const yw_world* world, yw_body_id id, yw_rigid_params* out) {
  const rigid_body* body = yw_body_state(world, id, &yw_rigid_method, NULL);
  if (!body || !out) return YW_ERR_INVALID;
  *out = body->params;
  return YW_OK;
}

yw_status yw_body_set_rigid_params(yw_world* world, yw_body_id id, const yw_rigid_params* params) {
  rigid_body* body = yw_body_state(world, id, &yw_rigid_method, NULL);
  if (!body || !params || !(params->damping >= 0.0f) || !isfinite(params->damping)) {
    return YW_ERR_INVALID;
  }
  body->params = *params;
  yw_body_changed(world, id);
  return YW_OK;
}

yw_status yw_body_rigid_statistics(const yw_world* world, yw_body_id id, yw_rigid_statistics* out) {
  const rigid_body* body = yw_body_state(world, id, &yw_rigid_method, NULL);
  if (!body || !out) return YW_ERR_INVALID;
  *out = body->statistics;
  return YW_OK;
}

yw_status yw_body_rigid_state(const yw_world* world, yw_body_id id, yw_rigid_state* out) {
  const rigid_body* body = yw_body_state(world, id, &yw_rigid_method, NULL);
  if (!body || !out) return YW_ERR_INVALID;
  const yw_rigid_motion* m = &body->motion;
  const double* q = m->rotation;
  for (int k = 0; k < 3; ++k) {
    out->center[k] = m->center[k];
    out->velocity[k] = m->velocity[k];
    out->angular_momentum[k] = m->angular[k];
  }
  yw_rigid_spin(m, out->spin);
  yw_turn turn =
      yw_turn_mul((yw_turn){q[0], q[1], q[2], q[3]}, yw_turn_conjugate(body->model->axes));
  out->rotation[0] = turn.x, out->rotation[1] = turn.y;
  out->rotation[2] = turn.z, out->rotation[3] = turn.w;
  return YW_OK;
}

yw_status yw_body_rigid_push(yw_world* world, yw_body_id id, yw_vec3 point, yw_vec3 impulse) {
  const yw_particles* particles = NULL;
  rigid_body* body = yw_body_state(world, id, &yw_rigid_method, &particles);
  if (!body || !yw_is_finite3(point) || !yw_is_finite3(impulse)) return YW_ERR_INVALID;
  yw_rigid_motion* m = &body->motion;
  const double arm[3] = {(double)point.x - m->center[0], (double)point.y - m->center[1],
                         (double)point.z - m->center[2]};
  const double push[3] = {(double)impulse.x, (double)impulse.y, (double)impulse.z};
  yw_rigid_push(m, arm, push);
  yw_particles moved = *particles;
  yw_rigid_write(body, &moved);
  return YW_OK;
}
