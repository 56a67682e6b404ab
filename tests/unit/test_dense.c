// SPDX-License-Identifier: MIT
#include "math/small/dense.h"

#include "math/small/mat3d.h"
#include "support/testing.h"

enum { MOST = YW_DENSE_MAX };

// Q diag(values) Q^T with a random rotation Q, made of plane rotations.
static void with_spectrum(test_random* random, int n, const double* values, double* a) {
  memset(a, 0, sizeof(double) * (size_t)(n * n));
  for (int i = 0; i < n; ++i) a[i * n + i] = values[i];
  for (int round = 0; round < 3 * n * n && n > 1; ++round) {
    int p = (int)test_random_in(random, 0, n), q = (int)test_random_in(random, 0, n);
    if (p == q) continue;
    double angle = test_random_in(random, 0, 6), c = cos(angle), s = sin(angle);
    for (int k = 0; k < n; ++k) {
      double kp = a[k * n + p], kq = a[k * n + q];
      a[k * n + p] = c * kp - s * kq;
      a[k * n + q] = s * kp + c * kq;
    }
    for (int k = 0; k < n; ++k) {
      double kp = a[p * n + k], kq = a[q * n + k];
      a[p * n + k] = c * kp - s * kq;
      a[q * n + k] = s * kp + c * kq;
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) a[j * n + i] = a[i * n + j];
  }
}

static void cholesky_solves_and_inverts(void** state) {
  (void)state;
  test_random random = {1};
  double a[MOST * MOST], lower[MOST * MOST], inverse[MOST * MOST], values[MOST], b[MOST], x[MOST];
  for (int n = 1; n <= MOST; ++n) {
    for (int i = 0; i < n; ++i) values[i] = pow(10.0, test_random_in(&random, -2, 2));
    with_spectrum(&random, n, values, a);
    assert_true(yw_dense_cholesky(n, a, lower));
    for (int i = 0; i < n; ++i) b[i] = test_random_in(&random, -1, 1);
    yw_dense_solve(n, lower, b, x);
    yw_dense_inverse(n, lower, inverse);
    for (int i = 0; i < n; ++i) {
      double sum = 0.0, unit = 0.0;
      for (int k = 0; k < n; ++k) {
        sum += a[i * n + k] * x[k];
        unit += a[i * n + k] * inverse[k * n + i];
        assert_true(inverse[i * n + k] == inverse[k * n + i]);
      }
      assert_near(sum, b[i], 1e-10);
      assert_near(unit, 1.0, 1e-10);
    }
    // In place.
    assert_true(yw_dense_cholesky(n, a, a));
    assert_memory_equal(a, lower, sizeof(double) * (size_t)(n * n));
  }
}

static void indefinite_singular_and_broken_matrices_are_refused(void** state) {
  (void)state;
  test_random random = {2};
  double a[36], lower[36], values[6] = {1, 2, 3, 4, 5, -1e-3};
  with_spectrum(&random, 6, values, a);
  assert_false(yw_dense_cholesky(6, a, lower));
  values[5] = 0.0;
  with_spectrum(&random, 6, values, a);
  double zero[36] = {0};
  assert_false(yw_dense_cholesky(6, zero, lower));
  for (int k = 0; k < 21; ++k) {
    values[5] = 6.0;
    with_spectrum(&random, 6, values, a);
    int i = 0, place = k;
    while (place > i) place -= ++i;
    a[i * 6 + place] = k % 2 ? NAN : INFINITY;
    assert_false(yw_dense_cholesky(6, a, lower));
    assert_false(yw_dense_eigen(6, a, values, NULL));
    for (int v = 0; v < 6; ++v) values[v] = v + 1;
  }
}

static void eigenvalues_and_vectors_are_recovered(void** state) {
  (void)state;
  test_random random = {3};
  double a[MOST * MOST], values[MOST], found[MOST], vectors[MOST * MOST];
  for (int round = 0; round < 60; ++round) {
    int n = 1 + (int)test_random_in(&random, 0, MOST);
    for (int i = 0; i < n; ++i)
      values[i] = i + (round % 3 == 0 ? 0.0 : test_random_in(&random, 0, 1));
    // Repeated, zero and negative values too.
    if (round % 3 == 0) {
      for (int i = 0; i < n; ++i) values[i] = i / 3 - 2;
    }
    with_spectrum(&random, n, values, a);
    assert_true(yw_dense_eigen(n, a, found, vectors));
    for (int i = 0; i < n; ++i) {
      assert_near(found[i], values[i], 1e-11);
      for (int r = 0; r < n; ++r) {
        double sum = 0.0;
        for (int k = 0; k < n; ++k) sum += a[r * n + k] * vectors[i * n + k];
        assert_near(sum, found[i] * vectors[i * n + r], 1e-11);
      }
      for (int j = 0; j <= i; ++j) {
        double sum = 0.0;
        for (int k = 0; k < n; ++k) sum += vectors[i * n + k] * vectors[j * n + k];
        assert_near(sum, i == j, 1e-12);
      }
    }
  }
}

// Elasticity matrix of an isotropic material (engineering shear): 3K, 2 mu twice, mu three times.
static void the_elasticity_matrix_has_its_known_spectrum(void** state) {
  (void)state;
  double young = 2.5e6, nu = 0.3, mu = young / 2 / (1 + nu);
  double lambda = young * nu / (1 + nu) / (1 - 2 * nu), c[36] = {0}, values[6];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) c[6 * i + j] = lambda + (i == j ? 2 * mu : 0);
    c[7 * (i + 3)] = mu;
  }
  assert_true(yw_dense_eigen(6, c, values, NULL));
  const double expected[6] = {mu, mu, mu, 2 * mu, 2 * mu, 3 * lambda + 2 * mu};
  for (int i = 0; i < 6; ++i) assert_near(values[i] / expected[i], 1.0, 1e-14);
  assert_near(yw_dense_asymmetry(6, c), 0.0, 0.0);
  c[1] *= 1.01;
  assert_near(yw_dense_asymmetry(6, c), 0.01 * lambda / (lambda + 2 * mu), 1e-12);
}

static void tiny_and_huge_matrices_keep_their_spectrum(void** state) {
  (void)state;
  test_random random = {5};
  const double scales[] = {1e-300, 1e-150, 1e150, 1e300};
  for (int k = 0; k < 4; ++k) {
    double values[5] = {-2, 1, 1, 3, 8}, a[25], found[5];
    with_spectrum(&random, 5, values, a);
    for (int i = 0; i < 25; ++i) a[i] *= scales[k];
    assert_true(yw_dense_eigen(5, a, found, NULL));
    for (int i = 0; i < 5; ++i) assert_near(found[i] / scales[k], values[i], 1e-12);
  }
}

// Of symmetric 3 x 3 matrices; a singular one has no inverse, and no infinite one either.
static void small_inverses_are_inverse_or_zero(void** state) {
  (void)state;
  const double m[6] = {4, 5, 6, 1, -1, 2}, flat[6] = {4, 0, 6, 0, -1, 0}, x[3] = {1, -2, 3};
  double inverse[6], y[3], back[3];
  assert_near(yw_sym_invert(m, inverse), 4 * 26 - 1 * 8 - 1 * 7, 1e-12);
  yw_sym_apply(m, x, y);
  yw_sym_apply(inverse, y, back);
  for (int k = 0; k < 3; ++k) assert_near(back[k], x[k], 1e-12);
  assert_near(yw_sym_invert(flat, inverse), 0, 0);
  for (int k = 0; k < 6; ++k) assert_near(inverse[k], 0, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cholesky_solves_and_inverts),
      cmocka_unit_test(indefinite_singular_and_broken_matrices_are_refused),
      cmocka_unit_test(eigenvalues_and_vectors_are_recovered),
      cmocka_unit_test(the_elasticity_matrix_has_its_known_spectrum),
      cmocka_unit_test(tiny_and_huge_matrices_keep_their_spectrum),
      cmocka_unit_test(small_inverses_are_inverse_or_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
