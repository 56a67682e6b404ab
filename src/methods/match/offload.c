// SPDX-License-Identifier: MIT
#include "methods/match/offload.h"

#include <pthread.h>
#include <string.h>

#include "methods/match/match.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

/// What the host knows of a body on a device.
struct match_away {
  const match_device_fns* fns;
  match_remote* remote;
  float* aims;        // as the device has them
  bool sent;          // the device has the state
  bool is_away;       // the particles on the host are out of date
  bool rest_is_away;  // so are rotations and cuts
  bool is_lost;       // the device failed
};

static bool is_known(const match_model* model) {
  bool by_region = model->grouping == YW_GROUPS_PER_REGION;
  return model->num_examples <= (by_region ? 2 : MATCH_MOST_EXAMPLES);
}

yw_status yw_match_attach(void* state, const yw_device* device, yw_error* error) {
  match_body* body = state;
  const match_model* model = body->model;
  const match_device_fns* fns = device->method("match");
  if (!fns || !is_known(model)) return YW_OK;
  struct match_away* away = YW_NEW(&body->mem, struct match_away);
  if (!away) return yw_fail_memory(error, "a match body on a device");
  body->away = away;
  away->fns = fns;
  size_t numbers = (size_t)model->num_groups * (size_t)(model->num_examples + 1);
  away->aims = YW_NEW_ARRAY(&body->mem, float, numbers);
  if (!away->aims) return yw_fail_memory(error, "a match body on a device");
  return fns->create(model, &away->remote, error);
}

void yw_match_detach(match_body* body) {
  if (!body->away) return;
  if (body->away->remote) body->away->fns->destroy(body->away->remote);
  yw_mem_free(&body->mem, body->away->aims);
  yw_mem_free(&body->mem, body->away);
  body->away = NULL;
}

bool yw_match_is_away(const void* state) {
  const match_body* body = state;
  return body->away && body->away->is_away;
}

void yw_match_resend(match_body* body) {
  if (body->away) body->away->sent = body->away->rest_is_away = false;
}

static pthread_mutex_t rest_lock = PTHREAD_MUTEX_INITIALIZER;

yw_status yw_match_bring_rest(const match_body* body) {
  struct match_away* away = body->away;
  yw_status status = YW_OK;
  if (!away) return YW_OK;
  // The body is const for readers, of which there may be several at the same time; this only brings
  // what they read up to date.
  pthread_mutex_lock(&rest_lock);
  if (away->rest_is_away && !away->is_lost) {
    status = away->fns->fetch_rest(away->remote, (match_body*)(uintptr_t)body);
    away->rest_is_away = false;
  }
  pthread_mutex_unlock(&rest_lock);
  return status;
}

yw_status yw_match_fetch(void* state, yw_particles* particles, yw_method_report* report) {
  match_body* body = state;
  struct match_away* away = body->away;
  if (!away || !away->is_away) return YW_OK;
  match_outcome outcome;
  yw_status status = away->fns->fetch(away->remote, body, particles, &outcome);
  away->is_away = false;
  if (status < 0) {
    away->is_lost = true;
    return status;
  }
  report->recovered += (int32_t)outcome.recovered;
  report->obstacle_contacts = outcome.contacts;
  if (outcome.diverged) return YW_ERR_DIVERGED;
  return outcome.recovered > 0 ? YW_WARN_NUMERICS : YW_OK;
}

// The state and the particles return, for a substep on the processor.
static yw_status come_home(match_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  yw_status status = yw_match_fetch(body, particles, ctx->report);
  if (status >= 0) status = yw_match_bring_rest(body);
  body->away->sent = false;
  return status;
}

static yw_status send(match_body* body, const yw_particles* particles) {
  struct match_away* away = body->away;
  yw_status status = yw_match_bring_rest(body);
  if (status >= 0) status = away->fns->send(away->remote, body, particles);
  away->sent = status >= 0;
  return status;
}

static yw_status advance(match_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  struct match_away* away = body->away;
  const match_model* model = body->model;
  yw_status status = YW_OK;
  bool is_new = !away->sent || (!away->is_away && !ctx->untouched);
  if (is_new) status = send(body, particles);
  if (status < 0) return status;
  size_t bytes = (size_t)model->num_groups * (size_t)(model->num_examples + 1) * sizeof(float);
  bool same = !is_new && memcmp(away->aims, body->aims, bytes) == 0;
  memcpy(away->aims, body->aims, bytes);
  match_orders orders = {
      .response = yw_match_response(model, &body->params, ctx->h, ctx->num_parts),
      .params = body->params,
      .aims = same ? NULL : body->aims,
      .ctx = ctx};
  status = away->fns->advance(away->remote, &orders);
  away->is_away = away->rest_is_away = true;
  if (status >= 0 && !ctx->stay) status = yw_match_fetch(body, particles, ctx->report);
  return status;
}

bool yw_match_offload(match_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                      yw_status* status) {
  struct match_away* away = body->away;
  if (!away) return false;
  if (away->is_lost) {
    *status = YW_ERR_DEVICE;
    return true;
  }
  bool by_region = body->model->grouping == YW_GROUPS_PER_REGION;
  bool is_known_rule = !by_region || body->params.projection == YW_PROJECTION_EXACT;
  if (!is_known_rule || !away->fns->knows(ctx)) {
    *status = come_home(body, particles, ctx);
    return *status < 0;
  }
  *status = advance(body, particles, ctx);
  if (*status == YW_ERR_DEVICE) away->is_lost = true;
  return true;
}
