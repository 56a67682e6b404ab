// SPDX-License-Identifier: MIT
// Match bodies on a device (device/device.h, method "match"): the functions that a device has for
// them, and their use. A body on a device takes the same steps with the same bits.
#ifndef YW_METHODS_MATCH_OFFLOAD_H
#define YW_METHODS_MATCH_OFFLOAD_H

#include "device/device.h"
#include "methods/match/response.h"
#include "methods/match/step.h"

/// Bodies with more examples, and regions that choose among more than two, stay on the processor.
#define MATCH_MOST_EXAMPLES 8

/// A body on a device.
typedef struct match_remote match_remote;

/// One substep, as the device needs it. The pointers are read before the call returns.
typedef struct match_orders {
  match_response response;
  yw_match_params params;
  const float* aims;  ///< NULL: the same as in the last substep
  const yw_step_ctx* ctx;
} match_orders;

/// What the device has counted since the last one was asked for.
typedef struct match_outcome {
  int64_t recovered;
  int32_t contacts;  ///< of the last substep
  bool diverged;     ///< no longer finite; the rest of the steps did nothing
} match_outcome;

typedef struct match_device_fns {
  /// Bytes of device memory that a body needs.
  uint64_t (*bytes)(const match_model* model);
  /// YW_ERR_DEVICE, with the bytes that are needed and free, if it has too little memory.
  yw_status (*create)(const match_model* model, match_remote** out, yw_error* error);
  void (*destroy)(match_remote* remote);
  /// Copies particles and state to the device.
  yw_status (*send)(match_remote* remote, const match_body* body, const yw_particles* particles);
  /// False: obstacles among them that the device does not know.
  bool (*knows)(const yw_step_ctx* ctx);
  /// Starts a substep, and returns before it is over.
  yw_status (*advance)(match_remote* remote, const match_orders* orders);
  /// Waits; copies particles, axes and weights of groups back.
  yw_status (*fetch)(match_remote* remote, match_body* body, yw_particles* particles,
                     match_outcome* outcome);
  /// Copies the rest back: rotations, cuts, weights of regions. After fetch.
  yw_status (*fetch_rest)(match_remote* remote, match_body* body);
} match_device_fns;

/// See yw_method.
yw_status yw_match_attach(void* state, const yw_device* device, yw_error* error);
yw_status yw_match_fetch(void* state, yw_particles* particles, yw_method_report* report);
bool yw_match_is_away(const void* state);

/// True if the substep was taken on the device; *status is then its result.
bool yw_match_offload(match_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                      yw_status* status);
/// The state on the host is up to date, also what steps do not bring back.
yw_status yw_match_bring_rest(const match_body* body);
/// The state on the host was changed: the device gets it before the next substep.
void yw_match_resend(match_body* body);
void yw_match_detach(match_body* body);

#endif
