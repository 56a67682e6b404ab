// SPDX-License-Identifier: MIT
// Steps make no heap call after warm-up: two bodies of every method fall on each other and on the
// floor, come to rest and are thrown up again. Once they have done so, nothing is allocated when
// they do it again.
#include "support/counted_memory.h"
#include "support/method_models.h"

enum { FALL = 110, STEADY = 90 };

static void throw_up(yw_world* world) {
  yw_body_id body = yw_world_body(world, 1);
  yw_body_sums sums;
  assert_int_equal(yw_body_sums_of(world, body, &sums), YW_OK);
  yw_vec3 impulse = {0, (float)sums.mass, 0};
  assert_int_equal(yw_body_add_impulse(world, body, impulse), YW_OK);
}

static void fall(yw_world* world, int frames) {
  for (int i = 0; i < frames; ++i) yw_world_step(world, 1 / 60.0f, 1, NULL);
}

static long calls_of_steady_steps(int kind) {
  counted_memory memory = {.left = ENOUGH};
  yw_world_def def = yw_default_world_def();
  def.mem = counted_allocator(&memory);
  def.threads = 1;
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  add_floor(world);
  yw_model* model = method_model(kind);
  for (int i = 0; i < 2; ++i) {
    yw_vec3 at = {0.03f * (float)i, 0.22f + 0.45f * (float)i, 0.02f * (float)i};
    add_body(world, model, at, (yw_quat){0, 0, 0, 1});
  }
  yw_model_release(model);
  fall(world, FALL);
  throw_up(world);
  fall(world, STEADY);
  throw_up(world);
  long before = memory.calls;
  fall(world, STEADY);
  long calls = memory.calls - before;
  yw_world_destroy(world);
  assert_int_equal(memory.alive, 0);
  return calls;
}

static void steps_make_no_heap_call_after_warm_up(void** state) {
  (void)state;
  for (int kind = 0; kind < NUM_METHOD_BODIES; ++kind) {
    long calls = calls_of_steady_steps(kind);
    if (calls > 0)
      fail_msg("%ld heap calls in %d frames of {%s}", calls, STEADY, method_bodies[kind]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_make_no_heap_call_after_warm_up)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
