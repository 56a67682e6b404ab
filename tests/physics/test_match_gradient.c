// SPDX-License-Identifier: MIT
// Appendix A.1 of Koyama et al. 2013: the linear map A of a region approaches the deformation
// gradient F of a smooth deformation as the region shrinks, and so its stretch the right stretch.
#include "math/small/dense.h"
#include "math/small/mat3d.h"
#include "support/testing.h"

// A smooth displacement of strains around 0.3, with terms of every order.
static void displace(const double p[3], double out[3]) {
  out[0] = p[0] + 0.3 * p[0] * p[1] + 0.1 * sin(2 * p[2]) + 0.2 * p[0] * p[0] * p[0];
  out[1] = p[1] - 0.2 * p[1] + 0.15 * p[0] * p[2] + 0.25 * p[1] * p[1] * p[1];
  out[2] = p[2] + 0.2 * sin(p[0] + 2 * p[1]) + 0.1 * p[2] * p[2] * p[2];
}

// Its gradient, row-major.
static void gradient(const double p[3], double f[9]) {
  const double wave = 0.2 * cos(p[0] + 2 * p[1]);
  const double rows[9] = {1 + 0.3 * p[1] + 0.6 * p[0] * p[0],
                          0.3 * p[0],
                          0.2 * cos(2 * p[2]),
                          0.15 * p[2],
                          0.8 + 0.75 * p[1] * p[1],
                          0.15 * p[0],
                          wave,
                          2 * wave,
                          1 + 0.3 * p[2] * p[2]};
  memcpy(f, rows, sizeof rows);
}

// (1) for points with masses: A = (sum m p q^T)(sum m q q^T)^-1.
static void linear_map(int count, double (*rest)[3], const double* mass, double a[9]) {
  double all = 0, c0[3] = {0}, c[3] = {0}, pq[9] = {0}, qq[9] = {0}, inverse[9], now[64][3];
  for (int i = 0; i < count; ++i) {
    displace(rest[i], now[i]);
    all += mass[i];
    for (int k = 0; k < 3; ++k) c0[k] += mass[i] * rest[i][k], c[k] += mass[i] * now[i][k];
  }
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < 9; ++k) {
      double q = rest[i][k % 3] - c0[k % 3] / all;
      pq[k] += mass[i] * (now[i][k / 3] - c[k / 3] / all) * q;
      qq[k] += mass[i] * (rest[i][k / 3] - c0[k / 3] / all) * q;
    }
  }
  assert_true(yw_dense_cholesky(3, qq, qq));
  yw_dense_inverse(3, qq, inverse);
  for (int k = 0; k < 9; ++k) {
    a[k] = 0;
    for (int j = 0; j < 3; ++j) a[k] += pq[3 * (k / 3) + j] * inverse[3 * j + k % 3];
  }
}

// Largest difference of A from F at the middle of the region, and of the stretches.
static void errors_of(int count, double (*rest)[3], const double* mass, double* map,
                      double* stretch) {
  double middle[3] = {0}, all = 0, a[9], f[9], rotation[9], s[6], u[6];
  for (int i = 0; i < count; ++i) {
    all += mass[i];
    for (int k = 0; k < 3; ++k) middle[k] += mass[i] * rest[i][k];
  }
  for (int k = 0; k < 3; ++k) middle[k] /= all;
  linear_map(count, rest, mass, a);
  gradient(middle, f);
  yw_m3_polar(a, rotation, s);
  yw_m3_polar(f, rotation, u);
  *map = *stretch = 0;
  for (int k = 0; k < 9; ++k) *map = fmax(*map, fabs(a[k] - f[k]));
  for (int k = 0; k < 6; ++k) *stretch = fmax(*stretch, fabs(s[k] - u[k]));
}

// The six particles of (A.3): the error is of second order, as (A.8) says.
static void a_star_of_six_is_second_order(void** state) {
  (void)state;
  const double mass[6] = {1, 1, 1, 1, 1, 1};
  double last_map = 0, last_stretch = 0;
  for (int level = 0; level < 5; ++level) {
    double points[6][3], map, stretch, step = 0.2 / (1 << level);
    for (int i = 0; i < 6; ++i) {
      for (int k = 0; k < 3; ++k) points[i][k] = 0.1 * (k + 1) + (i / 2 == k ? step : 0);
      if (i % 2) points[i][i / 2] -= 2 * step;
    }
    errors_of(6, points, mass, &map, &stretch);
    if (level > 0) {
      assert_at_least(log2(last_map / map), 1.95);
      assert_at_least(log2(last_stretch / stretch), 1.95);
    }
    last_map = map, last_stretch = stretch;
  }
}

// "the same for particles placed in general": any points with any masses, first order at least,
// since their third moments do not vanish.
static void any_region_converges(void** state) {
  (void)state;
  test_random random = {11};
  double worst = 0;
  for (int trial = 0; trial < 200; ++trial) {
    double shape[12][3], mass[12], map[2], stretch[2];
    for (int i = 0; i < 12; ++i) {
      for (int k = 0; k < 3; ++k) shape[i][k] = test_random_in(&random, -1, 1);
      mass[i] = test_random_in(&random, 0.5, 2);
    }
    for (int level = 0; level < 2; ++level) {
      double points[12][3], step = level ? 1e-3 : 1e-2;
      for (int i = 0; i < 12; ++i) {
        for (int k = 0; k < 3; ++k) points[i][k] = 0.1 * (k + 1) + step * shape[i][k];
      }
      errors_of(12, points, mass, &map[level], &stretch[level]);
    }
    worst = fmax(worst, map[1] / map[0]);
    assert_at_most(stretch[1], 0.01);
  }
  // Ten times smaller regions, about ten times smaller errors; second-order terms leave a tenth.
  assert_at_most(worst, 0.12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_star_of_six_is_second_order),
      cmocka_unit_test(any_region_converges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
