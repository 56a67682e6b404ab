// SPDX-License-Identifier: MIT
// Holds and springs of a substep as a device sees them.
#ifndef YW_DEVICE_CUDA_PINS_H
#define YW_DEVICE_CUDA_PINS_H

#include "device/cuda/runtime.h"

struct device_pins {
  yw_hold* held;   // on the host, for copies
  yw_hold* holds;  // on the device
  yw_spring* springs;
  int32_t hold_capacity, spring_capacity;
  uint32_t *seen, stamp;  // per particle: last hold or spring that names it
  bool springs_differ;    // no particle has two: they may be pulled at the same time
};

static bool pins_create(int32_t num_particles, device_pins* out) {
  out->seen = (uint32_t*)calloc((size_t)num_particles, sizeof(uint32_t));
  return out->seen != NULL;
}

static void pins_free(device_pins* pins) {
  device_release(pins->holds);
  device_release(pins->springs);
  free(pins->held);
  free(pins->seen);
}

template <class Item>
static bool reserve_items(device_stream stream, Item** items, int32_t* capacity, int32_t count) {
  if (count <= *capacity) return true;
  if (!device_wait(stream)) return false;
  device_release(*items);
  *items = (Item*)device_alloc((size_t)count * sizeof(Item));
  *capacity = *items ? count : 0;
  return *items != NULL;
}

/// Sends pins. Holds get a negative number if they do not count: of several on one particle all but
/// the last, and those of particles that are not free (states; NULL: all are).
static bool pins_send(device_stream stream, device_pins* pins, const yw_step_ctx* ctx,
                      const uint8_t* states) {
  int32_t before = pins->hold_capacity;
  if (!reserve_items(stream, &pins->holds, &pins->hold_capacity, ctx->num_holds) ||
      !reserve_items(stream, &pins->springs, &pins->spring_capacity, ctx->num_springs)) {
    return false;
  }
  if (pins->hold_capacity != before) {
    free(pins->held);
    pins->held = (yw_hold*)malloc((size_t)pins->hold_capacity * sizeof(yw_hold));
    if (!pins->held) return false;
  }
  ++pins->stamp;
  for (int32_t i = ctx->num_holds - 1; i >= 0; --i) {
    int32_t particle = ctx->holds[i].particle;
    bool counts = pins->seen[particle] != pins->stamp && (!states || states[particle] == FEM_FREE);
    pins->held[i] = ctx->holds[i];
    if (!counts) pins->held[i].particle = -1;
    pins->seen[particle] = pins->stamp;
  }
  ++pins->stamp;
  pins->springs_differ = true;
  for (int32_t i = 0; i < ctx->num_springs; ++i) {
    uint32_t* seen = &pins->seen[ctx->springs[i].particle];
    if (*seen == pins->stamp) pins->springs_differ = false;
    *seen = pins->stamp;
  }
  return device_put(stream, pins->holds, pins->held, (size_t)ctx->num_holds * sizeof(yw_hold)) &&
         device_put(stream, pins->springs, ctx->springs,
                    (size_t)ctx->num_springs * sizeof(yw_spring));
}

#endif
