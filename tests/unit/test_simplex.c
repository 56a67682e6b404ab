// SPDX-License-Identifier: MIT
#include "math/small/simplex.h"

#include "support/testing.h"

#define MAX_N 8

// Random descriptors: dimension below count gives a rank-deficient Gram matrix.
static void random_problem(test_random* random, int n, int dimension, double* gram, double* b) {
  double l[MAX_N][12], d[12];
  for (int i = 0; i < dimension; ++i) d[i] = test_random_in(random, -2, 2);
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < dimension; ++i) l[k][i] = test_random_in(random, -1, 1);
  }
  for (int k = 0; k < n; ++k) {
    b[k] = 0;
    for (int i = 0; i < dimension; ++i) b[k] += l[k][i] * d[i];
    for (int j = 0; j < n; ++j) {
      gram[k * n + j] = 0;
      for (int i = 0; i < dimension; ++i) gram[k * n + j] += l[k][i] * l[j][i];
    }
  }
}

// Unconstrained minimum over the face of the hull spanned by `set` (bit 0: the rest pose), by
// Gauss-Jordan elimination with full pivoting; false when it lies outside the face.
static bool face_minimum(int n, const double* gram, const double* b, unsigned set, double* w) {
  double m[MAX_N + 2][MAX_N + 3];
  int index[MAX_N], count = 0;
  for (int k = 0; k < n; ++k) {
    w[k] = 0;
    if (set >> (k + 1) & 1) index[count++] = k;
  }
  bool full = !(set & 1);
  int size = count + (full ? 1 : 0);
  if (count == 0) return !full;
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      m[i][j] = i < count && j < count   ? gram[index[i] * n + index[j]]
                : i < count || j < count ? 1.0
                                         : 0.0;
    }
    m[i][size] = i < count ? b[index[i]] : 1.0;
  }
  for (int i = 0; i < size; ++i) {
    int pivot = i;
    for (int r = i + 1; r < size; ++r) {
      if (fabs(m[r][i]) > fabs(m[pivot][i])) pivot = r;
    }
    if (fabs(m[pivot][i]) < 1e-9) return false;
    for (int c = 0; c <= size; ++c) {
      double swap = m[i][c];
      m[i][c] = m[pivot][c];
      m[pivot][c] = swap;
    }
    for (int r = 0; r < size; ++r) {
      double factor = r == i ? 0 : m[r][i] / m[i][i];
      for (int c = 0; c <= size && factor != 0; ++c) m[r][c] -= factor * m[i][c];
    }
  }
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    w[index[i]] = m[i][size] / m[i][i];
    sum += w[index[i]];
    if (w[index[i]] < -1e-12) return false;
  }
  return sum <= 1 + 1e-12;
}

static double brute_force(int n, const double* gram, const double* b, double* best) {
  double lowest = INFINITY, w[MAX_N];
  for (unsigned set = 1; set < 1u << (n + 1); ++set) {
    if (!face_minimum(n, gram, b, set, w)) continue;
    double value = yw_projection_residual(n, gram, b, w);
    if (value < lowest) {
      lowest = value;
      memcpy(best, w, (size_t)n * sizeof *w);
    }
  }
  return lowest;
}

static void assert_convex(int n, const double* w) {
  double sum = 0;
  for (int k = 0; k < n; ++k) {
    assert_at_least(w[k], 0);
    sum += w[k];
  }
  assert_at_most(sum, 1 + 1e-9);
}

// The active set finds what a search over all faces of the hull finds.
static void exact_agrees_with_brute_force(void** state) {
  (void)state;
  test_random random = {1};
  for (int trial = 0; trial < 10000; ++trial) {
    int n = 1 + trial % 6;
    double gram[MAX_N * MAX_N], b[MAX_N], w[MAX_N], best[MAX_N], paper[MAX_N];
    random_problem(&random, n, 12, gram, b);
    yw_project_exact(n, gram, b, NULL, w);
    double lowest = brute_force(n, gram, b, best);
    assert_convex(n, w);
    assert_near(yw_projection_residual(n, gram, b, w), lowest, 1e-9);
    for (int k = 0; k < n; ++k) assert_near(w[k], best[k], 1e-6);
    yw_project_paper(n, gram, b, paper);
    assert_convex(n, paper);
    assert_at_most(lowest, yw_projection_residual(n, gram, b, paper) + 1e-9);
  }
}

// Six numbers per region and more than six examples: G is singular.
static void exact_works_without_full_rank(void** state) {
  (void)state;
  test_random random = {2};
  for (int trial = 0; trial < 3000; ++trial) {
    int n = 2 + trial % 6, dimension = 1 + trial % 4;
    double gram[MAX_N * MAX_N], b[MAX_N], w[MAX_N], best[MAX_N];
    random_problem(&random, n, dimension, gram, b);
    yw_project_exact(n, gram, b, NULL, w);
    assert_convex(n, w);
    assert_near(yw_projection_residual(n, gram, b, w), brute_force(n, gram, b, best), 1e-7);
  }
}

static void guesses_decide_nothing(void** state) {
  (void)state;
  test_random random = {4};
  for (int trial = 0; trial < 5000; ++trial) {
    int n = 1 + trial % 6;
    double gram[MAX_N * MAX_N], b[MAX_N], w[MAX_N], guessed[MAX_N];
    float guess[MAX_N + 1];
    random_problem(&random, n, 12, gram, b);
    for (int k = 0; k <= n; ++k) guess[k] = (float)test_random_in(&random, -1, 1);
    yw_project_exact(n, gram, b, NULL, w);
    yw_project_exact(n, gram, b, guess, guessed);
    for (int k = 0; k < n; ++k) assert_near(guessed[k], w[k], 1e-9);
  }
}

static void equal_and_zero_examples_do_no_harm(void** state) {
  (void)state;
  const double gram[9] = {0, 0, 0, 0, 2, 2, 0, 2, 2}, b[3] = {0, 1.5, 1.5};
  double w[3];
  yw_project_exact(3, gram, b, NULL, w);
  assert_convex(3, w);
  assert_near(w[1] + w[2], 0.75, 1e-12);
  yw_project_paper(3, gram, b, w);
  assert_near(w[1] + w[2], 0.75, 1e-12);
  assert_int_equal(yw_dependent_examples(3, gram, 1e-6), 5);
}

// The published rule, taken literally, never terminates from here.
static void paper_rule_ends(void** state) {
  (void)state;
  // Orthonormal examples: b is the unconstrained weight. The rest pose gets 1 - sum.
  const double gram[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {-0.5, -0.4, -0.3};
  double w[3];
  yw_project_paper(3, gram, b, w);
  for (int k = 0; k < 3; ++k) assert_near(w[k], 0, 0);
  const double c[3] = {0.9, 0.6, -0.3};
  // w0 = -0.2; -0.3 goes first and takes 0.1 of each, then -0.3 of the rest pose, 0.15 of each.
  yw_project_paper(3, gram, c, w);
  assert_near(w[0], 0.65, 1e-12);
  assert_near(w[1], 0.35, 1e-12);
  assert_near(w[2], 0, 0);
}

static void thirty_two_examples_are_finite(void** state) {
  (void)state;
  test_random random = {3};
  static double gram[YW_SIMPLEX_MAX * YW_SIMPLEX_MAX], b[YW_SIMPLEX_MAX], w[YW_SIMPLEX_MAX];
  static double l[YW_SIMPLEX_MAX][40], d[40];
  for (int trial = 0; trial < 200; ++trial) {
    int dimension = 5 + trial % 36;
    for (int i = 0; i < dimension; ++i) d[i] = test_random_in(&random, -1, 1);
    for (int k = 0; k < YW_SIMPLEX_MAX; ++k) {
      b[k] = 0;
      for (int i = 0; i < dimension; ++i) {
        l[k][i] = test_random_in(&random, -1, 1);
        b[k] += l[k][i] * d[i];
      }
    }
    for (int k = 0; k < YW_SIMPLEX_MAX; ++k) {
      for (int j = 0; j < YW_SIMPLEX_MAX; ++j) {
        gram[k * YW_SIMPLEX_MAX + j] = 0;
        for (int i = 0; i < dimension; ++i) gram[k * YW_SIMPLEX_MAX + j] += l[k][i] * l[j][i];
      }
    }
    yw_project_exact(YW_SIMPLEX_MAX, gram, b, NULL, w);
    assert_convex(YW_SIMPLEX_MAX, w);
    // At the optimum no unused example would reduce the distance further.
    double level = 0;
    for (int k = 0; k < YW_SIMPLEX_MAX; ++k) {
      double slope = -b[k];
      for (int j = 0; j < YW_SIMPLEX_MAX; ++j) slope += gram[k * YW_SIMPLEX_MAX + j] * w[j];
      level += w[k] * slope;
    }
    for (int k = 0; k < YW_SIMPLEX_MAX; ++k) {
      double slope = -b[k];
      for (int j = 0; j < YW_SIMPLEX_MAX; ++j) slope += gram[k * YW_SIMPLEX_MAX + j] * w[j];
      assert_at_least(slope, level - 1e-8);
    }
    assert_at_least(0.0, level - 1e-8);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact_agrees_with_brute_force),
      cmocka_unit_test(exact_works_without_full_rank),
      cmocka_unit_test(guesses_decide_nothing),
      cmocka_unit_test(equal_and_zero_examples_do_no_harm),
      cmocka_unit_test(paper_rule_ends),
      cmocka_unit_test(thirty_two_examples_are_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
