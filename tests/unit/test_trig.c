// SPDX-License-Identifier: MIT
#include "math/small/trig.h"

#include "support/testing.h"
#include "yawara/extend/vec.h"

#define SAMPLES 200000

static void sine_and_cosine_are_within_2e_7(void** state) {
  (void)state;
  test_random random = {1};
  for (int i = 0; i < SAMPLES; ++i) {
    float x = (float)test_random_in(&random, -1e4, 1e4);
    if (i % 3 == 0) x = (float)test_random_in(&random, -4, 4);
    assert_near(yw_sinf(x), sin((double)x), 2e-7);
    assert_near(yw_cosf(x), cos((double)x), 2e-7);
  }
}

static void sine_keeps_the_digits_of_small_angles(void** state) {
  (void)state;
  for (float x = 1e-45f; x < 0.5f; x *= 1.7f) {
    assert_near(yw_sinf(x), sin((double)x), 6.1e-8 * (double)x + 1e-45);
    assert_true(yw_sinf(-x) == -yw_sinf(x));
    assert_true(yw_cosf(-x) == yw_cosf(x));
  }
  assert_true(signbit(yw_sinf(-0.0f)));
}

static void huge_angles_stay_on_the_circle(void** state) {
  (void)state;
  test_random random = {2};
  for (int i = 0; i < 10000; ++i) {
    float x = (float)pow(10.0, test_random_in(&random, 4, 38.5));
    double s = (double)yw_sinf(x), c = (double)yw_cosf(x);
    assert_near(s * s + c * c, 1.0, 5e-7);
  }
  assert_true(isnan(yw_sinf(INFINITY)) && isnan(yw_cosf(NAN)));
}

static void arc_tangent_is_within_3e_7_in_every_direction(void** state) {
  (void)state;
  test_random random = {3};
  for (int i = 0; i < SAMPLES; ++i) {
    float y = (float)(test_random_in(&random, -1, 1) * pow(10.0, test_random_in(&random, -38, 38)));
    float x = (float)(test_random_in(&random, -1, 1) * pow(10.0, test_random_in(&random, -38, 38)));
    if (i % 2 == 0)
      y = (float)test_random_in(&random, -2, 2), x = (float)test_random_in(&random, -2, 2);
    double expected = atan2((double)y, (double)x);
    assert_near(yw_atan2f(y, x), expected, 1.3e-7 * fabs(expected) + 1e-44);
  }
}

static void arc_tangent_of_axes_and_infinities(void** state) {
  (void)state;
  const float ends[] = {0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, 1e-45f, -1e-45f, 3e38f};
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 8; ++k) {
      assert_near(yw_atan2f(ends[i], ends[k]), atan2((double)ends[i], (double)ends[k]), 2e-7);
    }
  }
  assert_true(yw_atan2f(0.0f, 0.0f) == 0.0f);
  assert_true(isnan(yw_atan2f(NAN, 1.0f)));
}

static void arc_cosine_is_within_2e_7_and_clamped(void** state) {
  (void)state;
  test_random random = {4};
  for (int i = 0; i < SAMPLES; ++i) {
    float x = (float)test_random_in(&random, -1, 1);
    if (i % 4 == 0) x = 1.0f - (float)pow(10.0, test_random_in(&random, -8, 0));
    assert_near(yw_acosf(x), acos((double)x), 2e-7);
  }
  assert_true(yw_acosf(1.5f) == 0.0f);
  assert_near(yw_acosf(-7.0f), 3.14159265358979, 2e-7);
}

static void cube_root_is_within_one_rounding(void** state) {
  (void)state;
  test_random random = {5};
  for (int i = 0; i < SAMPLES; ++i) {
    float x = (float)(test_random_in(&random, -1, 1) * pow(10.0, test_random_in(&random, -44, 38)));
    double expected = cbrt((double)x);
    assert_near(yw_cbrtf(x), expected, 6e-8 * fabs(expected));
  }
  for (int i = -50; i <= 50; ++i) assert_true(yw_cbrtf((float)(i * i * i)) == (float)i);
  assert_true(isinf(yw_cbrtf(INFINITY)) && isnan(yw_cbrtf(NAN)));
}

// gcc and clang give these bits; if they change, results change.
static void bits_have_not_changed(void** state) {
  (void)state;
  uint32_t hash = 2166136261u;
  test_random random = {6};
  for (int i = 0; i < 20000; ++i) {
    float x = (float)test_random_in(&random, -100, 100), y = (float)test_random_in(&random, -1, 1);
    float values[5] = {yw_sinf(x), yw_cosf(x), yw_atan2f(y, x), yw_acosf(y), yw_cbrtf(x)};
    uint32_t bits[5];
    memcpy(bits, values, sizeof bits);
    for (int k = 0; k < 5; ++k) hash = (hash ^ bits[k]) * 16777619u;
  }
  assert_int_equal(hash, 0x1868a5ccu);
}

static void axis_angle_turns_by_the_angle(void** state) {
  (void)state;
  yw_vec3 v = yw_rotate(yw_quat_axis_angle(yw_v3(0, 0, 7), 1.57079633f), yw_v3(1, 0, 0));
  assert_near(v.x, 0, 2e-7);
  assert_near(v.y, 1, 2e-7);
  yw_quat tiny = yw_quat_axis_angle(yw_v3(1e-40f, 0, 0), 2.0f);
  assert_near(tiny.x, sin(1.0), 1e-7);
  yw_quat huge = yw_quat_axis_angle(yw_v3(3e38f, 3e38f, 0), 2.0f);
  assert_near(huge.y, sin(1.0) / sqrt(2.0), 1e-7);
  yw_quat none = yw_quat_axis_angle(yw_v3(0, 0, 0), 2.0f);
  assert_true(none.x == 0 && none.y == 0 && none.z == 0 && none.w == 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sine_and_cosine_are_within_2e_7),
      cmocka_unit_test(sine_keeps_the_digits_of_small_angles),
      cmocka_unit_test(huge_angles_stay_on_the_circle),
      cmocka_unit_test(arc_tangent_is_within_3e_7_in_every_direction),
      cmocka_unit_test(arc_tangent_of_axes_and_infinities),
      cmocka_unit_test(arc_cosine_is_within_2e_7_and_clamped),
      cmocka_unit_test(cube_root_is_within_one_rounding),
      cmocka_unit_test(bits_have_not_changed),
      cmocka_unit_test(axis_angle_turns_by_the_angle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
