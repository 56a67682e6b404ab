// SPDX-License-Identifier: MIT
// Many steps in one call, for callers to whom a call is expensive.
#include <string.h>

#include "world/world.h"

static bool is_recordable(const yw_world* world, const yw_recording* recording) {
  int32_t count = 0;
  return yw_body_positions(world, recording->body, &count) && recording->positions &&
         count == recording->count;
}

// False if the body has another number of particles by now.
static bool copy_row(const yw_world* world, const yw_recording* recording, int32_t row) {
  int32_t count = 0;
  const yw_vec3* positions = yw_body_positions(world, recording->body, &count);
  if (count != recording->count) return false;
  size_t size = (size_t)count;
  memcpy(recording->positions + (size_t)row * size, positions, size * sizeof *positions);
  return true;
}

yw_status yw_world_record(yw_world* world, float dt, int32_t substeps, int32_t num_steps,
                          const yw_recording* recordings, int32_t num_recordings,
                          int32_t* num_taken, yw_step_report* report) {
  if (num_taken) *num_taken = 0;
  if (!world || num_steps < 0 || num_recordings < 0 || (num_recordings > 0 && !recordings)) {
    return YW_ERR_INVALID;
  }
  for (int32_t i = 0; i < num_recordings; ++i) {
    if (!is_recordable(world, &recordings[i])) return YW_ERR_INVALID;
  }
  for (int32_t step = 0; step < num_steps; ++step) {
    yw_status status = yw_world_step(world, dt, substeps, report);
    if (status < 0) return status;
    if (num_taken) *num_taken = step + 1;
    for (int32_t i = 0; i < num_recordings; ++i) {
      if (!copy_row(world, &recordings[i], step)) return YW_ERR_LIMIT;
    }
    if (status > 0) return status;
  }
  return YW_OK;
}
