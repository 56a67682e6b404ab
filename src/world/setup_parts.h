// SPDX-License-Identifier: MIT
// Parts of a setup as bytes, for setup.c and setup_handles.c. Numbers that are read must be finite.
#ifndef YW_WORLD_SETUP_PARTS_H
#define YW_WORLD_SETUP_PARTS_H

#include <math.h>

#include "world/world.h"

static inline void write_floats(yw_writer* w, const float* values, size_t count) {
  yw_write_f32(w, values, count);
}

static inline void read_floats(yw_reader* r, float* values, size_t count) {
  yw_read_f32(r, values, count);
  for (size_t i = 0; i < count; ++i) {
    if (!isfinite(values[i])) r->failed = true;
  }
}

static inline void read_doubles(yw_reader* r, double* values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    values[i] = yw_read_f64(r);
    if (!isfinite(values[i])) r->failed = true;
  }
}

// A count of things that take at least `size` bytes each.
static inline int32_t read_count(yw_reader* r, size_t size) {
  uint32_t count = yw_read_u32(r);
  if (r->failed || count > (r->size - r->offset) / size || count > INT32_MAX) {
    r->failed = true;
    return 0;
  }
  return (int32_t)count;
}

static inline void write_doubles(yw_writer* w, const double* values, size_t count) {
  for (size_t i = 0; i < count; ++i) yw_write_f64(w, values[i]);
}

void yw_setup_write_path(const yw_path* path, yw_writer* w);
/// Fails the reader if the path is invalid or there is no memory.
void yw_setup_read_path(const yw_allocator* mem, yw_reader* r, yw_path* path);

/// Pins and joints; false: they are invalid, or there is no memory.
void yw_setup_write_pins(const yw_world* world, yw_writer* w);
bool yw_setup_read_pins(yw_world* world, yw_reader* r);
void yw_setup_write_joints(const yw_world* world, yw_writer* w);
bool yw_setup_read_joints(yw_world* world, yw_reader* r);

/// The targets of a pin that is there or was kept; NULL: they are not at hand.
yw_follow* yw_setup_find_follow(const yw_world* world, uint64_t hash);

#endif
