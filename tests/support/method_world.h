// SPDX-License-Identifier: MIT
// What bodies of every method do in a world: slide on slopes, give the same bits on any machine,
// go on from snapshots, and step without the heap.
#ifndef YW_TESTS_SUPPORT_METHOD_WORLD_H
#define YW_TESTS_SUPPORT_METHOD_WORLD_H

#include "support/counted_memory.h"
#include "support/world_fixture.h"

// Sine and cosine of the slope, 20 degrees.
#define SLOPE_SIN 0.34202014f
#define SLOPE_COS 0.93969262f

/// Sums of a body that slides down the slope, 1/4 s and 5/4 s after it was put there, `height`
/// above the surface.
static inline void slide_down(yw_model* model, float height, float friction, yw_body_sums* before,
                              yw_body_sums* after) {
  yw_error error = {0};
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  add_plane(world, (yw_vec3){SLOPE_SIN, SLOPE_COS, 0}, friction);
  yw_body_def def = yw_default_body_def();
  def.model = model;
  def.friction = friction;
  def.transform.position = (yw_vec3){height * SLOPE_SIN, height * SLOPE_COS, 0};
  def.transform.rotation = (yw_quat){0, 0, -0.17364818f, 0.98480775f};
  yw_body_id id;
  assert_int_equal(yw_body_create(world, &def, &id, &error), YW_OK);
  for (int step = 0; step < 75; ++step) {
    if (step == 15) yw_body_sums_of(world, id, before);
    assert_true(yw_world_step(world, 1.0f / 60, 1, NULL) >= 0);
  }
  yw_body_sums_of(world, id, after);
  yw_world_destroy(world);
}

/// The component of a vector down the slope.
static inline double along_slope(const double v[3]) {
  return v[0] * (double)SLOPE_COS - v[1] * (double)SLOPE_SIN;
}

/// Puts bodies into a world; a solver counts as the method counts its own.
typedef void (*world_filler)(yw_world* world, int solver);

static inline void step_world(yw_world* world, int steps) {
  for (int i = 0; i < steps; ++i) assert_true(yw_world_step(world, 1.0f / 60, 1, NULL) >= 0);
}

static inline uint64_t hash_after(world_filler fill, int solver, int steps, int32_t threads,
                                  yw_simd simd) {
  yw_world* world = make_world(threads, simd, true);
  fill(world, solver);
  step_world(world, steps);
  uint64_t hash = yw_world_hash(world);
  yw_world_destroy(world);
  return hash;
}

/// A snapshot after some steps goes on bit for bit in another world, for some more; cut short, it
/// is refused and nothing moves.
static inline void check_snapshot(world_filler fill, int solver, int steps, int more) {
  yw_world *a = make_world(1, YW_SIMD_AUTO, true), *b = make_world(2, YW_SIMD_AUTO, true);
  fill(a, solver);
  fill(b, solver);
  step_world(a, steps);
  size_t size = yw_world_snapshot_size(a);
  void* bytes = malloc(size);
  assert_int_equal(yw_world_save(a, bytes, size, NULL), YW_OK);
  assert_int_equal(yw_world_load(b, bytes, size, NULL), YW_OK);
  for (int i = 0; i < more; ++i) {
    step_world(a, 1);
    step_world(b, 1);
    assert_true(yw_world_hash(a) == yw_world_hash(b));
  }
  uint64_t hash = yw_world_hash(b);
  assert_true(yw_world_load(b, bytes, size - 100, NULL) < 0);
  assert_true(yw_world_hash(b) == hash);
  free(bytes);
  yw_world_destroy(a);
  yw_world_destroy(b);
}

static inline yw_world* make_counted_world(counted_memory* memory) {
  yw_world_def def = yw_default_world_def();
  def.threads = 2;
  def.mem = counted_allocator(memory);
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  return world;
}

/// After some steps the next five allocate nothing.
static inline void check_no_heap(world_filler fill, int solver, int warm_up) {
  counted_memory memory = {.left = ENOUGH};
  yw_world* world = make_counted_world(&memory);
  fill(world, solver);
  step_world(world, warm_up);
  int before = memory.calls;
  step_world(world, 5);
  assert_int_equal(memory.calls, before);
  yw_world_destroy(world);
  assert_int_equal(memory.alive, 0);
}

#endif
