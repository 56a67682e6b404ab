// SPDX-License-Identifier: MIT
#include "yawara/extend/vec.h"

#include "math/small/trig.h"
#include "support/testing.h"

#define SAMPLES 20000

static yw_vec3 random_vec3(test_random* random, double size) {
  return yw_v3((float)test_random_in(random, -size, size),
               (float)test_random_in(random, -size, size),
               (float)test_random_in(random, -size, size));
}

static yw_quat random_quat(test_random* random) {
  yw_quat q = {(float)test_random_in(random, -1, 1), (float)test_random_in(random, -1, 1),
               (float)test_random_in(random, -1, 1), (float)test_random_in(random, -1, 1)};
  return yw_quat_normalize(q);
}

static void assert_near3(yw_vec3 a, yw_vec3 b, double tolerance) {
  assert_near(a.x, b.x, tolerance);
  assert_near(a.y, b.y, tolerance);
  assert_near(a.z, b.z, tolerance);
}

static void a_quarter_turn_about_z_takes_x_to_y(void** state) {
  (void)state;
  float h = sqrtf(0.5f);
  yw_quat q = {0, 0, h, h};
  assert_near3(yw_rotate(q, yw_v3(1, 0, 0)), yw_v3(0, 1, 0), 1e-6);
  assert_near3(yw_rotate(q, yw_v3(0, 1, 0)), yw_v3(-1, 0, 0), 1e-6);
}

static void rotation_keeps_lengths_and_angles(void** state) {
  (void)state;
  test_random random = {1};
  for (int i = 0; i < SAMPLES; ++i) {
    yw_quat q = random_quat(&random);
    yw_vec3 a = random_vec3(&random, 2), b = random_vec3(&random, 2);
    assert_near(yw_dot(yw_rotate(q, a), yw_rotate(q, b)), yw_dot(a, b), 8e-6);
    assert_near3(yw_rotate(q, yw_cross(a, b)), yw_cross(yw_rotate(q, a), yw_rotate(q, b)), 8e-6);
  }
}

static void products_of_quaternions_turn_in_sequence(void** state) {
  (void)state;
  test_random random = {2};
  for (int i = 0; i < SAMPLES; ++i) {
    yw_quat a = random_quat(&random), b = random_quat(&random);
    yw_vec3 v = random_vec3(&random, 1);
    assert_near3(yw_rotate(yw_quat_mul(a, b), v), yw_rotate(a, yw_rotate(b, v)), 2e-6);
    assert_near3(yw_rotate(yw_quat_conjugate(a), yw_rotate(a, v)), v, 2e-6);
  }
}

static void matrix_of_a_quaternion_turns_alike(void** state) {
  (void)state;
  test_random random = {3};
  for (int i = 0; i < SAMPLES; ++i) {
    yw_quat q = random_quat(&random);
    yw_mat3 m = yw_mat3_from_quat(q);
    yw_vec3 v = random_vec3(&random, 1);
    assert_near3(yw_mul(m, v), yw_rotate(q, v), 1e-6);
    assert_near3(yw_mul_t(m, yw_mul(m, v)), v, 2e-6);
    assert_near(yw_mat3_det(m), 1, 2e-6);
  }
}

static void matrix_products_apply_the_right_factor_first(void** state) {
  (void)state;
  test_random random = {4};
  for (int i = 0; i < SAMPLES; ++i) {
    yw_mat3 a = {random_vec3(&random, 1), random_vec3(&random, 1), random_vec3(&random, 1)};
    yw_mat3 b = {random_vec3(&random, 1), random_vec3(&random, 1), random_vec3(&random, 1)};
    yw_vec3 v = random_vec3(&random, 1);
    assert_near3(yw_mul(yw_mat3_mul(a, b), v), yw_mul(a, yw_mul(b, v)), 4e-6);
    assert_near3(yw_mul(yw_mat3_transpose(a), v), yw_mul_t(a, v), 1e-6);
    assert_near(yw_mat3_det(yw_mat3_mul(a, b)), yw_mat3_det(a) * yw_mat3_det(b), 1e-5);
  }
}

static void quaternions_without_a_length_become_the_identity(void** state) {
  (void)state;
  yw_quat q = yw_quat_normalize((yw_quat){0, 0, 0, 0});
  assert_true(q.w == 1 && q.x == 0);
  q = yw_quat_normalize((yw_quat){NAN, 0, 0, 0});
  assert_true(q.w == 1 && q.x == 0);
}

static void normalising_nothing_gives_the_fallback(void** state) {
  (void)state;
  assert_near3(yw_normalize_or(yw_v3(0, 0, 0), yw_v3(0, 1, 0)), yw_v3(0, 1, 0), 0);
  assert_near3(yw_normalize_or(yw_v3(0, 0, 4), yw_v3(0, 1, 0)), yw_v3(0, 0, 1), 1e-7);
}

static void slerp_moves_at_constant_speed_along_the_shorter_arc(void** state) {
  (void)state;
  test_random random = {5};
  for (int i = 0; i < SAMPLES; ++i) {
    yw_quat a = random_quat(&random);
    yw_vec3 axis = random_vec3(&random, 1);
    float angle = (float)pow(10.0, test_random_in(&random, -6, 0.49));
    yw_quat b = yw_quat_mul(a, yw_quat_axis_angle(axis, angle));
    if (i % 2 == 0) b = (yw_quat){-b.x, -b.y, -b.z, -b.w};
    float t = (float)test_random_in(&random, 0, 1);
    yw_quat expected = yw_quat_mul(a, yw_quat_axis_angle(axis, t * angle));
    yw_vec3 v = random_vec3(&random, 1);
    assert_near3(yw_rotate(yw_quat_slerp(a, b, t), v), yw_rotate(expected, v), 3e-6);
  }
}

static void slerp_ends_at_its_ends(void** state) {
  (void)state;
  test_random random = {6};
  for (int i = 0; i < SAMPLES; ++i) {
    yw_quat a = random_quat(&random), b = random_quat(&random);
    yw_vec3 v = random_vec3(&random, 1);
    assert_near3(yw_rotate(yw_quat_slerp(a, b, 0), v), yw_rotate(a, v), 1.5e-6);
    assert_near3(yw_rotate(yw_quat_slerp(a, b, 1), v), yw_rotate(b, v), 1.5e-6);
  }
}

static void a_transform_and_its_inverse_cancel(void** state) {
  (void)state;
  test_random random = {7};
  for (int i = 0; i < SAMPLES; ++i) {
    yw_transform t = {random_vec3(&random, 3), random_quat(&random),
                      (float)test_random_in(&random, 0.1, 5)};
    yw_vec3 p = random_vec3(&random, 3);
    assert_near3(yw_transform_point_inv(t, yw_transform_point(t, p)), p, 2e-5);
  }
}

static void products_of_transforms_apply_the_right_one_first(void** state) {
  (void)state;
  test_random random = {8};
  for (int i = 0; i < SAMPLES; ++i) {
    yw_transform a = {random_vec3(&random, 3), random_quat(&random), 2};
    yw_transform b = {random_vec3(&random, 3), random_quat(&random), 0.5f};
    yw_vec3 p = random_vec3(&random, 3);
    assert_near3(yw_transform_point(yw_transform_mul(a, b), p),
                 yw_transform_point(a, yw_transform_point(b, p)), 2e-5);
  }
}

static void boxes_grow_join_and_overlap(void** state) {
  (void)state;
  yw_aabb box = yw_aabb_grow(yw_aabb_grow(yw_aabb_empty(), yw_v3(1, 2, 3)), yw_v3(-1, 5, 0));
  assert_near3(box.lower, yw_v3(-1, 2, 0), 0);
  assert_near3(box.upper, yw_v3(1, 5, 3), 0);
  yw_aabb far_box = {{10, 10, 10}, {11, 11, 11}};
  assert_false(yw_aabb_overlap(box, far_box));
  assert_true(yw_aabb_overlap(yw_aabb_pad(box, 10), far_box));
  assert_true(yw_aabb_overlap(yw_aabb_join(box, far_box), far_box));
  assert_false(yw_aabb_overlap(yw_aabb_empty(), box));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_quarter_turn_about_z_takes_x_to_y),
      cmocka_unit_test(rotation_keeps_lengths_and_angles),
      cmocka_unit_test(products_of_quaternions_turn_in_sequence),
      cmocka_unit_test(matrix_of_a_quaternion_turns_alike),
      cmocka_unit_test(matrix_products_apply_the_right_factor_first),
      cmocka_unit_test(quaternions_without_a_length_become_the_identity),
      cmocka_unit_test(normalising_nothing_gives_the_fallback),
      cmocka_unit_test(slerp_moves_at_constant_speed_along_the_shorter_arc),
      cmocka_unit_test(slerp_ends_at_its_ends),
      cmocka_unit_test(a_transform_and_its_inverse_cancel),
      cmocka_unit_test(products_of_transforms_apply_the_right_one_first),
      cmocka_unit_test(boxes_grow_join_and_overlap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
