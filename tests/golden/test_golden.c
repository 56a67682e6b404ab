// SPDX-License-Identifier: MIT
// The same bits for any number of threads and any instruction set, and the same as when this number
// was written down. A change of physics changes the number: look at the pictures, then write the
// new one.
#include "support/world_fixture.h"

static const uint64_t golden_hash = 0x50a4ebd140422eeeull;

static uint64_t hash_after(int32_t threads, yw_simd simd, int32_t frames) {
  yw_world* world = make_world(threads, simd, true);
  yw_model* twisted = make_box_model(4, 8, 4, 2);
  yw_model* fine = make_box_model(9, 18, 9, 1);
  for (int i = 0; i < 3; ++i) {
    add_body(world, twisted, (yw_vec3){0.1f * (float)i, 0.9f + 1.1f * (float)i, 0},
             (yw_quat){0.1f, 0.0f, 0.0994987f, 0.99f});
  }
  add_body(world, fine, (yw_vec3){0.05f, 4.2f, 0.1f}, (yw_quat){0.5f, 0.5f, 0.5f, 0.5f});
  yw_model_release(twisted);
  yw_model_release(fine);
  for (int32_t i = 0; i < frames; ++i) assert_true(yw_world_step(world, 1 / 60.0f, 4, NULL) >= 0);
  uint64_t hash = yw_world_hash(world);
  yw_world_destroy(world);
  return hash;
}

static int32_t frames_to_run(void) { return getenv("YW_TEST_FAST") ? 20 : 90; }

static void threads_do_not_change_a_bit(void** state) {
  (void)state;
  int32_t frames = frames_to_run();
  uint64_t one = hash_after(1, YW_SIMD_AUTO, frames);
  int32_t counts[] = {2, 3, 8};
  for (int i = 0; i < 3; ++i) assert_true(hash_after(counts[i], YW_SIMD_AUTO, frames) == one);
}

static void instruction_sets_do_not_change_a_bit(void** state) {
  (void)state;
  int32_t frames = frames_to_run();
  uint64_t plain = hash_after(1, YW_SIMD_PLAIN, frames);
  assert_true(hash_after(1, YW_SIMD_AVX2, frames) == plain);
  assert_true(hash_after(1, YW_SIMD_AVX512, frames) == plain);
}

static void the_golden_hash_stands(void** state) {
  (void)state;
  uint64_t hash = hash_after(2, YW_SIMD_AUTO, 60);
  if (hash != golden_hash) {
    print_error("hash is 0x%016llx, expected 0x%016llx\n", (unsigned long long)hash,
                (unsigned long long)golden_hash);
    fail();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_do_not_change_a_bit),
      cmocka_unit_test(instruction_sets_do_not_change_a_bit),
      cmocka_unit_test(the_golden_hash_stands),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
