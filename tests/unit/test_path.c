// SPDX-License-Identifier: MIT
#include "support/testing.h"
#include "world/path.h"

static const yw_key keys[3] = {{1.0, {0, 0, 0}, {0, 0, 0, 1}},
                               {2.0, {1, 0, 0}, {0, 0.7071068f, 0, 0.7071068f}},
                               {4.0, {1, 2, 0}, {0, 1, 0, 0}}};

static void paths_pass_through_their_keys(void** state) {
  (void)state;
  for (int smooth = 0; smooth < 2; ++smooth) {
    yw_path path = {.keys = keys, .num_keys = 3, .smooth = smooth};
    for (int i = 0; i < 3; ++i) {
      yw_motion motion = yw_path_at(&path, keys[i].time);
      assert_near(motion.offset.x, keys[i].offset.x, 1e-6);
      assert_near(motion.offset.y, keys[i].offset.y, 1e-6);
      assert_near(motion.rotation.y, keys[i].rotation.y, 1e-6);
    }
  }
}

static void straight_paths_are_linear_between_keys(void** state) {
  (void)state;
  yw_path path = {.keys = keys, .num_keys = 3};
  assert_near(yw_path_at(&path, 1.25).offset.x, 0.25, 1e-6);
  assert_near(yw_path_at(&path, 3.0).offset.y, 1.0, 1e-6);
  // Half of a quarter turn about y.
  assert_near(yw_path_at(&path, 1.5).rotation.y, sin(3.14159265358979 / 8), 1e-6);
}

static void paths_stay_at_their_ends_or_loop(void** state) {
  (void)state;
  yw_path path = {.keys = keys, .num_keys = 3};
  assert_near(yw_path_at(&path, 0.0).offset.x, 0.0, 0.0);
  assert_near(yw_path_at(&path, 99.0).offset.y, 2.0, 0.0);
  path.loop = true;
  assert_near(yw_path_at(&path, 1.25 + 3 * 3.0).offset.x, 0.25, 1e-5);
}

static void wrong_paths_are_named(void** state) {
  (void)state;
  yw_key bad[2] = {{1.0, {0, 0, 0}, {0, 0, 0, 1}}, {1.0, {0, 0, 0}, {0, 0, 0, 1}}};
  yw_path path = {.keys = bad, .num_keys = 2};
  yw_error error = {0};
  assert_int_equal(yw_path_check(&path, "obstacle", &error), YW_ERR_INVALID);
  assert_non_null(
      strstr(error.message, "key 1 of the path is at 1 s, but must be later than key 0"));
  bad[1].time = NAN;
  assert_int_equal(yw_path_check(&path, "obstacle", &error), YW_ERR_INVALID);
  path.keys = NULL;
  assert_int_equal(yw_path_check(&path, "obstacle", &error), YW_ERR_INVALID);
  path.num_keys = -1;
  assert_int_equal(yw_path_check(&path, "obstacle", &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "path has -1 keys"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(paths_pass_through_their_keys),
      cmocka_unit_test(straight_paths_are_linear_between_keys),
      cmocka_unit_test(paths_stay_at_their_ends_or_loop),
      cmocka_unit_test(wrong_paths_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
