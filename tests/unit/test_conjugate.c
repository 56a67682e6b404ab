// SPDX-License-Identifier: MIT
#include "math/sparse/conjugate.h"

#include "math/sparse/cholesky.h"
#include "support/sparse_samples.h"

// A diagonal matrix: its spectrum is its entries.
typedef struct diagonal {
  int count;
  const float* values;
  const float* inverse;  // of the preconditioner
  int products;
  int break_at;  // product that returns NaN, 0: none
} diagonal;

static void diagonal_multiply(void* context, yw_tasks* tasks, const float* in, float* out) {
  (void)tasks;
  diagonal* d = context;
  ++d->products;
  for (int i = 0; i < d->count; ++i) out[i] = d->values[i] * in[i];
  if (d->products == d->break_at) out[d->count / 2] = NAN;
}

static void diagonal_precondition(void* context, yw_tasks* tasks, const float* in, float* out) {
  (void)tasks;
  const diagonal* d = context;
  for (int i = 0; i < d->count; ++i) out[i] = d->inverse[i] * in[i];
}

enum { N = 9000 };
static float spectrum[N], inverse[N], rhs[N], unknown[N];

static yw_conjugate_report run(diagonal* d, bool precondition, const yw_conjugate_limits* limits) {
  yw_conjugate* solver = yw_conjugate_create(NULL, d->count);
  assert_non_null(solver);
  yw_conjugate_system system = {diagonal_multiply, precondition ? diagonal_precondition : NULL, d};
  yw_conjugate_report report = yw_conjugate_solve(solver, NULL, &system, limits, rhs, unknown);
  yw_conjugate_destroy(solver);
  return report;
}

static void fill(double low, double high, int distinct) {
  test_random random = {1};
  for (int i = 0; i < N; ++i) {
    int k = i % distinct;
    spectrum[i] = (float)(low + (high - low) * k / (distinct > 1 ? distinct - 1 : 1));
    inverse[i] = 1.0f / spectrum[i];
    rhs[i] = (float)test_random_in(&random, -1, 1);
    unknown[i] = 0.0f;
  }
}

static double true_residual(const float* values) {
  double sum = 0.0, size = 0.0;
  for (int i = 0; i < N; ++i) {
    double r = (double)rhs[i] - (double)values[i] * (double)unknown[i];
    sum += r * r;
    size += (double)rhs[i] * (double)rhs[i];
  }
  return sqrt(sum / size);
}

static void k_distinct_eigenvalues_take_k_iterations(void** state) {
  (void)state;
  for (int distinct = 1; distinct <= 6; ++distinct) {
    fill(1.0, 7.0, distinct);
    diagonal d = {N, spectrum, NULL, 0, 0};
    yw_conjugate_limits limits = yw_conjugate_default_limits();
    limits.tolerance = 1e-6;
    yw_conjugate_report report = run(&d, false, &limits);
    assert_int_equal(report.end, YW_CONJUGATE_CONVERGED);
    assert_at_most(report.iterations, distinct);
    assert_int_equal(d.products, report.iterations);
    assert_at_most(true_residual(spectrum), 3e-6);
    assert_near(report.start_residual, 1.0, 1e-12);
  }
}

// (sqrt(k) - 1) / (sqrt(k) + 1) per iteration, doubled, bounds the error in the energy norm.
static void iterations_stay_below_the_bound_of_the_condition_number(void** state) {
  (void)state;
  fill(1.0, 100.0, N);
  diagonal d = {N, spectrum, NULL, 0, 0};
  yw_conjugate_limits limits = yw_conjugate_default_limits();
  yw_conjugate_report report = run(&d, false, &limits);
  assert_int_equal(report.end, YW_CONJUGATE_CONVERGED);
  double rate = (sqrt(100.0) - 1) / (sqrt(100.0) + 1);
  assert_at_most(report.iterations, log(2.0 * 10.0 / limits.tolerance) / -log(rate));
  assert_at_most(true_residual(spectrum), 1.2 * limits.tolerance);
}

static void a_perfect_preconditioner_takes_one_iteration(void** state) {
  (void)state;
  fill(1e-2, 1e4, N);
  diagonal d = {N, spectrum, inverse, 0, 0};
  yw_conjugate_report report = run(&d, true, NULL);
  assert_int_equal(report.end, YW_CONJUGATE_CONVERGED);
  assert_int_equal(report.iterations, 1);
  assert_at_most(true_residual(spectrum), 1e-5);
}

static void a_good_start_saves_iterations_and_zero_gives_zero(void** state) {
  (void)state;
  fill(1.0, 30.0, N);
  diagonal d = {N, spectrum, NULL, 0, 0};
  for (int i = 0; i < N; ++i) unknown[i] = rhs[i] * inverse[i];
  yw_conjugate_report report = run(&d, false, NULL);
  assert_int_equal(report.end, YW_CONJUGATE_CONVERGED);
  assert_int_equal(report.iterations, 0);
  assert_at_most(report.start_residual, 1e-6);
  memset(rhs, 0, sizeof rhs);
  report = run(&d, false, NULL);
  assert_int_equal(report.end, YW_CONJUGATE_CONVERGED);
  for (int i = 0; i < N; ++i) assert_true(unknown[i] == 0.0f);
}

static void what_cannot_be_solved_ends_with_the_best_iterate(void** state) {
  (void)state;
  // A negative eigenvalue.
  fill(1.0, 5.0, 50);
  spectrum[1234] = -2.0f;
  diagonal d = {N, spectrum, NULL, 0, 0};
  yw_conjugate_report report = run(&d, false, NULL);
  assert_true(report.end == YW_CONJUGATE_INDEFINITE || report.end == YW_CONJUGATE_CONVERGED);
  assert_at_most(report.residual, report.start_residual);
  assert_at_most(true_residual(spectrum), 1.0);
  fill(-5.0, -1.0, 50);
  d = (diagonal){N, spectrum, inverse, 0, 0};
  assert_int_equal(run(&d, false, NULL).end, YW_CONJUGATE_INDEFINITE);
  assert_int_equal(run(&d, true, NULL).end, YW_CONJUGATE_INDEFINITE);
  for (int i = 0; i < N; ++i) assert_true(unknown[i] == 0.0f);

  // A NaN on the way.
  fill(1.0, 50.0, N);
  d = (diagonal){N, spectrum, NULL, 0, 4};
  report = run(&d, false, NULL);
  assert_int_equal(report.end, YW_CONJUGATE_NOT_FINITE);
  assert_int_equal(report.iterations, 4);
  assert_at_most(true_residual(spectrum), 1.0);
  fill(1.0, 50.0, N);
  rhs[5] = INFINITY;
  unknown[7] = 3.0f;
  assert_int_equal(run(&d, false, NULL).end, YW_CONJUGATE_NOT_FINITE);
  assert_true(unknown[7] == 3.0f);

  // A tolerance float cannot reach, and too few iterations.
  fill(1.0, 1e5, N);
  d = (diagonal){N, spectrum, NULL, 0, 0};
  yw_conjugate_limits limits = {.tolerance = 1e-30, .max_iterations = 100000, .patience = 40};
  report = run(&d, false, &limits);
  assert_int_equal(report.end, YW_CONJUGATE_STALLED);
  assert_at_most(report.iterations, 99999);
  limits.max_iterations = 7;
  report = run(&d, false, &limits);
  assert_int_equal(report.end, YW_CONJUGATE_LIMIT);
  assert_int_equal(report.iterations, 7);
}

// The use it is made for: a Laplacian of three components in 16-byte records, preconditioned by the
// float factor of a matrix nearby.
typedef struct grid_system {
  yw_sparse matrix;
  yw_cholesky* factor;
  float* scratch;
} grid_system;

static void grid_multiply(void* context, yw_tasks* tasks, const float* in, float* out) {
  const grid_system* g = context;
  yw_sparse_multiply_f32(&g->matrix, tasks, 3, 4, in, out);
}

static void grid_precondition(void* context, yw_tasks* tasks, const float* in, float* out) {
  const grid_system* g = context;
  yw_cholesky_solve_f32(g->factor, tasks, 3, 4, in, out, g->scratch);
}

static void a_factor_nearby_makes_it_quick_and_threads_change_no_bit(void** state) {
  (void)state;
  enum { SIDE = 16, COUNT = 4 * SIDE * SIDE * SIDE };
  grid_system g = {.matrix = sample_grid(SIDE, SIDE, SIDE, 1, 1e-2)};
  assert_int_equal(yw_cholesky_analyse(NULL, &g.matrix, NULL, &g.factor, NULL), YW_OK);
  assert_int_equal(yw_cholesky_factorise(g.factor, &g.matrix, NULL, NULL), YW_OK);
  assert_int_equal(yw_cholesky_round(g.factor, NULL), YW_OK);
  // Links become up to twice as strong: all generalised eigenvalues lie between 1 and 2.
  for (int i = 0; i < g.matrix.size; ++i) {
    double sum = 1e-2;
    int place = 0;
    for (int k = g.matrix.start[i]; k < g.matrix.start[i + 1]; ++k) {
      int j = g.matrix.columns[k];
      if (j == i) place = k;
      if (j == i) continue;
      g.matrix.values[k] *= 1.0 + (i + j) % 5 / 4.0;
      sum -= g.matrix.values[k];
    }
    g.matrix.values[place] = sum;
  }
  assert_int_equal(yw_sparse_round(&g.matrix, NULL), YW_OK);
  static float b[COUNT], x[2][COUNT];
  test_random random = {3};
  for (int i = 0; i < COUNT; ++i) b[i] = i % 4 == 3 ? 0.0f : (float)test_random_in(&random, -1, 1);
  yw_conjugate_system system = {grid_multiply, NULL, &g};
  yw_conjugate* solver = yw_conjugate_create(NULL, COUNT);
  yw_conjugate_report plain = yw_conjugate_solve(solver, NULL, &system, NULL, b, x[0]);
  assert_int_equal(plain.end, YW_CONJUGATE_CONVERGED);
  system.precondition = grid_precondition;
  for (int threads = 1; threads <= 3; ++threads) {
    yw_tasks* tasks = yw_tasks_create(NULL, threads);
    g.scratch =
        aligned_alloc(64, (yw_cholesky_scratch(g.factor, 3, tasks) * sizeof(float) + 63) / 64 * 64);
    int which = threads > 1;
    memset(x[which], 0, sizeof x[which]);
    yw_conjugate_report report = yw_conjugate_solve(solver, tasks, &system, NULL, b, x[which]);
    assert_int_equal(report.end, YW_CONJUGATE_CONVERGED);
    assert_at_most(report.iterations, 9);
    if (which) assert_memory_equal(x[0], x[1], sizeof x[0]);
    free(g.scratch);
    yw_tasks_destroy(tasks);
  }
  yw_conjugate_destroy(solver);
  yw_cholesky_destroy(g.factor);
  yw_sparse_free(&g.matrix);
}

static void block_sums_are_exact_and_independent_of_threads(void** state) {
  (void)state;
  enum { COUNT = 20001 };
  static float a[COUNT], b[COUNT];
  double partial[8];
  assert_int_equal(yw_block_dot_partials(COUNT), 5);
  assert_int_equal(yw_block_dot_partials(0), 0);
  for (int i = 0; i < COUNT; ++i) {
    a[i] = (float)(i % 100);
    b[i] = i % 2 ? 1.0f : 0.5f;
  }
  double expected = 0.0;
  for (int i = 0; i < COUNT; ++i) expected += (double)a[i] * (double)b[i];
  yw_tasks* tasks = yw_tasks_create(NULL, 3);
  assert_true(yw_block_dot(tasks, COUNT, a, b, partial) == expected);
  assert_true(yw_block_dot(NULL, COUNT, a, b, partial) == expected);
  yw_tasks_destroy(tasks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(k_distinct_eigenvalues_take_k_iterations),
      cmocka_unit_test(iterations_stay_below_the_bound_of_the_condition_number),
      cmocka_unit_test(a_perfect_preconditioner_takes_one_iteration),
      cmocka_unit_test(a_good_start_saves_iterations_and_zero_gives_zero),
      cmocka_unit_test(what_cannot_be_solved_ends_with_the_best_iterate),
      cmocka_unit_test(a_factor_nearby_makes_it_quick_and_threads_change_no_bit),
      cmocka_unit_test(block_sums_are_exact_and_independent_of_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
