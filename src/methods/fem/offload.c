// SPDX-License-Identifier: MIT
#include "methods/fem/offload.h"

#include "methods/kit/contact.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

/// What the host knows of a body on a device.
struct fem_away {
  const fem_device_fns* fns;
  fem_remote* remote;
  uint64_t front_version;  // that the device has
  bool is_away;            // the particles on the host are out of date
  bool is_lost;            // the device failed
};

// Bodies that break change their nodes at any time, and stay on the processor.
yw_status yw_fem_attach(void* state, const yw_device* device, yw_error* error) {
  fem_body* b = state;
  const fem_device_fns* fns = device->method("fem");
  if (!fns || b->model->fragile) return YW_OK;
  b->away = YW_NEW(&b->mem, struct fem_away);
  if (!b->away) return yw_fail_memory(error, "a fem body on a device");
  b->away->fns = fns;
  b->away->front_version = UINT64_MAX;
  return fns->create(b, &b->away->remote, error);
}

void yw_fem_detach(fem_body* b) {
  if (!b->away) return;
  if (b->away->remote) b->away->fns->destroy(b->away->remote);
  yw_mem_free(&b->mem, b->away);
  b->away = NULL;
}

static yw_status note(struct fem_away* away, yw_status status) {
  if (status < 0) away->is_lost = true;
  return status;
}

static yw_status leave(fem_body* b, const yw_particles* p, const yw_step_ctx* ctx) {
  struct fem_away* away = b->away;
  yw_status status = YW_OK;
  if (away->is_lost) return YW_ERR_DEVICE;
  if (away->front_version != b->front_version) status = away->fns->send_front(away->remote, b);
  if (status >= 0 && b->has_flown) status = away->fns->send_offsets(away->remote, b);
  if (status >= 0) status = away->fns->send(away->remote, b, p, ctx);
  away->front_version = b->front_version;
  away->is_away = true;
  return note(away, status);
}

yw_status yw_fem_come_home(fem_body* b, yw_particles* p) {
  struct fem_away* away = b->away;
  if (!away || !away->is_away || away->is_lost) return YW_OK;
  away->is_away = false;
  return note(away, away->fns->fetch(away->remote, p));
}

yw_status yw_fem_velocities_away(fem_body* b, const yw_particles* p, const yw_step_ctx* ctx,
                                 yw_aabb* box) {
  struct fem_away* away = b->away;
  *box = yw_aabb_empty();
  yw_status status = away->is_away ? YW_OK : leave(b, p, ctx);
  return status < 0 ? status : note(away, away->fns->velocities(away->remote, box));
}

yw_status yw_fem_forces_away(fem_body* b, const yw_particles* p, const yw_step_ctx* ctx, bool look,
                             int32_t* squeezed) {
  struct fem_away* away = b->away;
  *squeezed = 0;
  yw_status status = away->is_away ? YW_OK : leave(b, p, ctx);
  if (status < 0) return status;
  const fem_force_orders orders = {
      .lag = b->params.stiffness_damping,
      .damped = b->model->materials.damping || b->params.stiffness_damping > 0.0f,
      .plastic = b->has_flown,
      .look = look,
      .carry = b->params.hanging == YW_FEM_HANGING_CARRIED};
  return note(away, away->fns->forces(away->remote, &orders, squeezed));
}

// Only the surface comes back, and only where an obstacle is near it.
static yw_status meet_obstacles(fem_body* b, yw_particles* p, const yw_step_ctx* ctx, yw_aabb box,
                                float begin, float h) {
  struct fem_away* away = b->away;
  if (!ctx->collide || b->num_surface == 0) return YW_OK;
  if (!yw_obstacles_near(ctx, box)) {
    yw_fem_release_obstacles(b, h);
    return YW_OK;
  }
  yw_status status = away->fns->fetch_surface(away->remote, b, p);
  if (status < 0) return status;
  yw_fem_press_obstacles(b, p, ctx, begin, h);
  return away->fns->send_surface(away->remote, b, p);
}

yw_status yw_fem_move_away(fem_body* b, yw_particles* p, const yw_step_ctx* ctx,
                           const fem_move* move, bool obstacles, float begin) {
  struct fem_away* away = b->away;
  const fem_move_orders orders = {
      .move = *move, .share = (begin + move->h) / ctx->h, .h = ctx->h, .obstacles = obstacles};
  yw_aabb box;
  yw_status status = away->fns->move(away->remote, &orders, &box);
  if (status >= 0 && obstacles) status = meet_obstacles(b, p, ctx, box, begin, move->h);
  if (status >= 0) status = away->fns->follow(away->remote);
  return note(away, status);
}
