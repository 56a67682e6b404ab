// SPDX-License-Identifier: MIT
#include "support/polar_reference.h"

#define CASES 100000

static void every_matrix_has_its_nearest_rotation(void** state) {
  (void)state;
  test_random random = {11};
  for (int i = 0; i < CASES; ++i) {
    yw_mat3 a = random_matrix(&random, i % KINDS), r, s;
    yw_polar(&a, &r, &s);
    check_polar(&a, &r, &s, 1e-6);
  }
}

static double trace_with(const yw_mat3* r, const yw_mat3* a) {
  return (double)r->cx.x * (double)a->cx.x + (double)r->cx.y * (double)a->cx.y +
         (double)r->cx.z * (double)a->cx.z + (double)r->cy.x * (double)a->cy.x +
         (double)r->cy.y * (double)a->cy.y + (double)r->cy.z * (double)a->cy.z +
         (double)r->cz.x * (double)a->cz.x + (double)r->cz.y * (double)a->cz.y +
         (double)r->cz.z * (double)a->cz.z;
}

static void no_other_rotation_is_nearer(void** state) {
  (void)state;
  test_random random = {12};
  for (int i = 0; i < 3000; ++i) {
    yw_mat3 a = random_matrix(&random, i % KINDS), r, s;
    yw_polar(&a, &r, &s);
    dmat3 da = wide(&a);
    double best = trace_with(&r, &a), slack = 2e-6 * norm(&da) + 1e-44;
    // The other stationary rotations are half turns about the axes of S away.
    yw_mat3 axes;
    yw_vec3 stretches;
    yw_eigen_symmetric(&s, &stretches, &axes);
    const yw_vec3 half_turns[3] = {axes.cx, axes.cy, axes.cz};
    for (int k = 0; k < 3; ++k) {
      yw_quat turn = {half_turns[k].x, half_turns[k].y, half_turns[k].z, 0};
      yw_mat3 other = yw_mat3_mul(r, yw_mat3_from_quat(turn));
      assert_at_most(trace_with(&other, &a), best + slack);
    }
    for (int k = 0; k < 40; ++k) {
      yw_vec3 axis =
          yw_v3((float)test_random_in(&random, -1, 1), (float)test_random_in(&random, -1, 1),
                (float)test_random_in(&random, -1, 1));
      float angle = (float)pow(10.0, test_random_in(&random, -3, 0.5));
      yw_mat3 other = yw_mat3_mul(r, yw_mat3_from_quat(yw_quat_axis_angle(axis, angle)));
      assert_at_most(trace_with(&other, &a), best + slack);
    }
  }
}

static void reflected_matrices_have_a_negative_smallest_stretch(void** state) {
  (void)state;
  test_random random = {13};
  for (int i = 0; i < 2000; ++i) {
    yw_mat3 a = with_stretches(&random, 2.0f, 1.0f, -0.5f), r, s, v;
    yw_vec3 values;
    yw_polar(&a, &r, &s);
    yw_eigen_symmetric(&s, &values, &v);
    assert_near(values.x, 2.0, 2e-6);
    assert_near(values.y, 1.0, 2e-6);
    assert_near(values.z, -0.5, 2e-6);
  }
}

static void zero_gives_the_identity_and_a_line_the_shortest_turn(void** state) {
  (void)state;
  yw_mat3 zero = yw_mat3_diagonal(yw_v3(0, 0, 0)), r, s;
  yw_polar(&zero, &r, &s);
  assert_true(r.cx.x == 1 && r.cy.y == 1 && r.cz.z == 1 && r.cx.y == 0 && r.cz.x == 0);
  assert_true(s.cx.x == 0 && s.cy.y == 0 && s.cz.z == 0);
  // x onto y: a quarter turn about z.
  yw_mat3 line = {{0, 3, 0}, {0, 0, 0}, {0, 0, 0}};
  yw_polar(&line, &r, &s);
  assert_near(r.cx.y, 1, 1e-7);
  assert_near(r.cy.x, -1, 1e-7);
  assert_near(r.cz.z, 1, 1e-7);
  assert_near(s.cx.x, 3, 1e-6);
}

static void every_matrix_has_its_singular_values(void** state) {
  (void)state;
  test_random random = {14};
  for (int i = 0; i < CASES / 2; ++i) {
    yw_mat3 a = random_matrix(&random, i % KINDS), u, v;
    yw_vec3 sigma;
    yw_svd(&a, &u, &sigma, &v);
    check_svd(&a, &u, sigma, &v, 1e-6);
  }
}

static void every_symmetric_matrix_has_its_eigenvectors(void** state) {
  (void)state;
  test_random random = {15};
  for (int i = 0; i < CASES / 2; ++i) {
    yw_mat3 m = random_matrix(&random, i % KINDS), v;
    m = yw_mat3_scale(yw_mat3_add(m, yw_mat3_transpose(m)), 0.5f);
    yw_vec3 values;
    yw_eigen_symmetric(&m, &values, &v);
    dmat3 dm = wide(&m), dv = wide(&v), mv = mul(&dm, &dv);
    dmat3 d = {{{(double)values.x, 0, 0}, {0, (double)values.y, 0}, {0, 0, (double)values.z}}};
    dmat3 vd = mul(&dv, &d), vt = transpose(&dv), vtv = mul(&vt, &dv);
    dmat3 one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    assert_at_most(difference(&mv, &vd), 1e-6 * norm(&dm) + 1e-44);
    assert_at_most(difference(&vtv, &one), 1e-6);
    assert_near(det(&dv), 1, 1e-6);
    assert_true(values.x >= values.y && values.y >= values.z);
  }
}

static void largest_floats_stay_finite(void** state) {
  (void)state;
  yw_mat3 a = {{3e38f, -3e38f, 3e38f}, {3e38f, 3e38f, 3e38f}, {-3e38f, 3e38f, 3e38f}}, r, s, u, v;
  yw_vec3 sigma;
  yw_polar(&a, &r, &s);
  yw_svd(&a, &u, &sigma, &v);
  assert_true(yw_is_finite3(s.cx) && yw_is_finite3(s.cy) && yw_is_finite3(s.cz));
  assert_true(yw_is_finite3(r.cx) && yw_is_finite3(r.cy) && yw_is_finite3(sigma));
}

static void quaternions_of_rotations_turn_alike(void** state) {
  (void)state;
  test_random random = {16};
  for (int i = 0; i < 20000; ++i) {
    yw_mat3 r = random_rotation(&random);
    if (i % 4 == 0) r = yw_mat3_from_quat(yw_quat_axis_angle(r.cx, 3.14159265f));
    yw_quat q = yw_quat_from_mat3(&r);
    yw_mat3 back = yw_mat3_from_quat(q);
    dmat3 dr = wide(&r), db = wide(&back);
    assert_at_most(difference(&dr, &db), 1.5e-6);
    assert_true(q.w >= 0.0f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_matrix_has_its_nearest_rotation),
      cmocka_unit_test(no_other_rotation_is_nearer),
      cmocka_unit_test(reflected_matrices_have_a_negative_smallest_stretch),
      cmocka_unit_test(zero_gives_the_identity_and_a_line_the_shortest_turn),
      cmocka_unit_test(every_matrix_has_its_singular_values),
      cmocka_unit_test(every_symmetric_matrix_has_its_eigenvectors),
      cmocka_unit_test(largest_floats_stay_finite),
      cmocka_unit_test(quaternions_of_rotations_turn_alike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
