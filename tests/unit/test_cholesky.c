// SPDX-License-Identifier: MIT
#include "math/sparse/cholesky.h"

#include "support/counted_memory.h"
#include "support/sparse_samples.h"
#include "yawara/extend/memory.h"

static yw_cholesky* factorise(const yw_sparse* a, const yw_cholesky_options* options,
                              yw_tasks* tasks) {
  yw_cholesky* f = NULL;
  yw_error error = {0};
  yw_status status = yw_cholesky_analyse(NULL, a, options, &f, &error);
  if (status == YW_OK) status = yw_cholesky_factorise(f, a, tasks, &error);
  if (status != YW_OK) print_error("%s\n", error.message);
  assert_int_equal(status, YW_OK);
  return f;
}

static void solve(const yw_cholesky* f, yw_tasks* tasks, int columns, const double* b, double* x) {
  double* scratch = yw_mem_alloc(NULL, yw_cholesky_scratch(f, columns, tasks), sizeof *scratch);
  assert_true(yw_cholesky_solve(f, tasks, columns, columns, b, x, scratch));
  yw_mem_free(NULL, scratch);
}

static double* random_vector(test_random* random, int count) {
  double* b = malloc(sizeof *b * ((size_t)count + 1));
  for (int i = 0; i < count; ++i) b[i] = test_random_in(random, -1, 1);
  return b;
}

// Takes ownership of the matrix.
static void check_solves(yw_sparse a, const char* name) {
  test_random random = {7};
  for (int order = YW_CHOLESKY_NATURAL; order <= YW_CHOLESKY_DEGREE; ++order) {
    yw_cholesky_options options = {.order = (yw_cholesky_order)order};
    yw_cholesky* f = factorise(&a, &options, NULL);
    for (int columns = 1; columns <= 7; ++columns) {
      double* b = random_vector(&random, a.size * columns);
      double* x = calloc((size_t)(a.size * columns) + 1, sizeof *x);
      solve(f, NULL, columns, b, x);
      double residual = sample_residual(&a, columns, x, b);
      if (!(residual <= 1e-14)) print_error("%s, order %d, %d columns:\n", name, order, columns);
      assert_at_most(residual, 1e-14);
      free(b);
      free(x);
    }
    yw_cholesky_destroy(f);
  }
  yw_sparse_free(&a);
}

static void any_positive_definite_system_is_solved(void** state) {
  (void)state;
  test_random random = {3};
  check_solves(sample_full(&random, 1), "1x1");
  check_solves(sample_full(&random, 2), "2x2");
  check_solves(sample_full(&random, 70), "dense");
  check_solves(sample_full(&random, 201), "dense, wider than a strip");
  check_solves(sample_arrow(500), "arrow");
  check_solves(sample_band(700, 1), "chain");
  check_solves(sample_band(400, 9), "band");
  check_solves(sample_random(&random, 300, 0.5), "mostly disconnected");
  check_solves(sample_random(&random, 500, 3), "random, 3 a row");
  check_solves(sample_random(&random, 400, 12), "random, 12 a row");
  check_solves(sample_grid(40, 40, 1, 0, 1e-3), "2D grid");
  check_solves(sample_grid(11, 12, 13, 0, 1e-3), "3D grid");
  check_solves(sample_grid(9, 8, 10, 1, 1e-3), "27-point grid");
}

static void many_random_patterns_are_solved(void** state) {
  (void)state;
  test_random random = {11};
  for (int round = 0; round < 300; ++round) {
    int size = 1 + (int)test_random_in(&random, 0, 60);
    yw_sparse a = sample_random(&random, size, test_random_in(&random, 0, 8));
    yw_cholesky* f = factorise(&a, NULL, NULL);
    double* b = random_vector(&random, size);
    double* x = calloc((size_t)size, sizeof *x);
    solve(f, NULL, 1, b, x);
    assert_at_most(sample_residual(&a, 1, x, b), 1e-14);
    free(b);
    free(x);
    yw_cholesky_destroy(f);
    yw_sparse_free(&a);
  }
}

static void an_empty_matrix_is_fine(void** state) {
  (void)state;
  yw_sparse a;
  assert_int_equal(
      yw_sparse_from_triplets(NULL, 0, 0, NULL, NULL, NULL, YW_TRIPLETS_HALF, &a, NULL), YW_OK);
  yw_cholesky* f = factorise(&a, NULL, NULL);
  double nothing = 5.0, *scratch = yw_mem_alloc(NULL, 4096, sizeof *scratch);
  assert_true(yw_cholesky_scratch(f, 3, NULL) <= 4096);
  assert_true(yw_cholesky_solve(f, NULL, 3, 3, &nothing, &nothing, scratch));
  yw_mem_free(NULL, scratch);
  yw_cholesky_destroy(f);
  yw_sparse_free(&a);
}

// -u'' = f on a chain with both ends fixed: the solution of n points is known exactly.
static void a_laplacian_gives_its_known_solution(void** state) {
  (void)state;
  enum { SIDE = 24 };
  sample_triplets t = {0};
  for (int z = 0; z < SIDE; ++z) {
    for (int y = 0; y < SIDE; ++y) {
      for (int x = 0; x < SIDE; ++x) {
        int here = (z * SIDE + y) * SIDE + x;
        sample_add(&t, here, here, 6.0);
        if (x + 1 < SIDE) sample_add(&t, here, here + 1, -1.0);
        if (y + 1 < SIDE) sample_add(&t, here, here + SIDE, -1.0);
        if (z + 1 < SIDE) sample_add(&t, here, here + SIDE * SIDE, -1.0);
      }
    }
  }
  int n = SIDE * SIDE * SIDE;
  yw_sparse a = sample_finish(&t, n);
  yw_vec3* points = sample_grid_points(SIDE, SIDE, SIDE);
  yw_cholesky_options options = {.points = points};
  yw_cholesky* f = factorise(&a, &options, NULL);
  // Eigenvector sin sin sin with a different wave number along each axis.
  double pi = 3.14159265358979323846, *b = malloc(sizeof *b * (size_t)n);
  double step = pi / (SIDE + 1);
  double value = 6.0 - 2.0 * cos(2 * step) - 2.0 * cos(5 * step) - 2.0 * cos(step);
  for (int i = 0; i < n; ++i) {
    b[i] = sin(2 * step * (i % SIDE + 1)) * sin(5 * step * (i / SIDE % SIDE + 1)) *
           sin(step * (i / SIDE / SIDE + 1));
  }
  double* x = calloc((size_t)n, sizeof *x);
  solve(f, NULL, 1, b, x);
  double worst = 0.0;
  for (int i = 0; i < n; ++i) worst = fmax(worst, fabs(x[i] - b[i] / value));
  assert_at_most(worst, 1e-12);
  free(b);
  free(x);
  free(points);
  yw_cholesky_destroy(f);
  yw_sparse_free(&a);
}

static uint64_t bits_of_solution(const yw_sparse* a, yw_cholesky_options options, yw_tasks* tasks,
                                 double* x, float* x32) {
  yw_cholesky* f = factorise(a, &options, tasks);
  assert_int_equal(yw_cholesky_round(f, NULL), YW_OK);
  test_random random = {5};
  double* b = random_vector(&random, 6 * a->size);
  solve(f, tasks, 6, b, x);
  float* scratch = yw_mem_alloc(NULL, yw_cholesky_scratch(f, 3, tasks), sizeof *scratch);
  for (int i = 0; i < 4 * a->size; ++i) x32[i] = (float)b[i];
  assert_true(yw_cholesky_solve_f32(f, tasks, 3, 4, x32, x32, scratch));
  yw_mem_free(NULL, scratch);
  free(b);
  uint64_t order = (uint64_t)yw_cholesky_get_order(f)[a->size / 2];
  yw_cholesky_destroy(f);
  return order;
}

static void threads_and_instruction_sets_give_the_same_bits(void** state) {
  (void)state;
  enum { SIDE = 19 };
  size_t n = SIDE * SIDE * SIDE;
  yw_sparse a = sample_grid(SIDE, SIDE, SIDE, 1, 0.01);
  yw_vec3* points = sample_grid_points(SIDE, SIDE, SIDE);
  double* x[2] = {calloc(6 * n, sizeof(double)), calloc(6 * n, sizeof(double))};
  float* x32[2] = {calloc(4 * n, sizeof(float)), calloc(4 * n, sizeof(float))};
  for (int with_points = 0; with_points < 2; ++with_points) {
    yw_cholesky_options options = {.points = with_points ? points : NULL, .simd = YW_SIMD_PLAIN};
    bits_of_solution(&a, options, NULL, x[0], x32[0]);
    for (int threads = 1; threads <= 5; threads += 2) {
      yw_tasks* tasks = yw_tasks_create(NULL, threads);
      for (int level = YW_SIMD_PLAIN; level <= YW_SIMD_AVX512; ++level) {
        options.simd = (yw_simd)level;
        bits_of_solution(&a, options, tasks, x[1], x32[1]);
        assert_memory_equal(x[0], x[1], 6 * n * sizeof(double));
        assert_memory_equal(x32[0], x32[1], 4 * n * sizeof(float));
      }
      yw_tasks_destroy(tasks);
    }
  }
  for (int k = 0; k < 2; ++k) {
    free(x[k]);
    free(x32[k]);
  }
  free(points);
  yw_sparse_free(&a);
}

static void the_float_factor_is_as_good_as_float(void** state) {
  (void)state;
  enum { SIDE = 14 };
  int n = SIDE * SIDE * SIDE;
  yw_sparse a = sample_grid(SIDE, SIDE, SIDE, 1, 0.1);
  yw_cholesky* f = factorise(&a, NULL, NULL);
  assert_int_equal(yw_cholesky_round(f, NULL), YW_OK);
  test_random random = {9};
  double *b = random_vector(&random, 3 * n), *x = calloc((size_t)(3 * n), sizeof *x);
  solve(f, NULL, 3, b, x);
  float* x32 = calloc((size_t)(4 * n), sizeof *x32);
  float* scratch = yw_mem_alloc(NULL, yw_cholesky_scratch(f, 3, NULL), sizeof *scratch);
  for (int i = 0; i < n; ++i) {
    for (int c = 0; c < 3; ++c) x32[4 * i + c] = (float)b[3 * i + c];
    x32[4 * i + 3] = 77.0f;
  }
  assert_false(yw_cholesky_solve(f, NULL, 3, 2, b, b, NULL));
  assert_false(yw_cholesky_solve(f, NULL, -1, 3, b, b, NULL));
  assert_false(yw_cholesky_solve_f32(f, NULL, 3, 2, x32, x32, scratch));
  // Without the double factor, and in place, with a stride: padding must not change.
  yw_cholesky_trim(f, false);
  assert_false(yw_cholesky_solve(f, NULL, 3, 3, b, b, NULL));
  assert_true(yw_cholesky_solve_f32(f, NULL, 3, 4, x32, x32, scratch));
  double worst = 0.0, largest = 0.0;
  for (int i = 0; i < n; ++i) {
    assert_true(x32[4 * i + 3] == 77.0f);
    for (int c = 0; c < 3; ++c) {
      worst = fmax(worst, fabs((double)x32[4 * i + c] - x[3 * i + c]));
      largest = fmax(largest, fabs(x[3 * i + c]));
    }
  }
  assert_at_most(worst / largest, 2e-5);
  // Any number of columns, not in place: each as if it were alone.
  enum { MOST = 9 };
  float* b32 = calloc((size_t)(MOST * n), sizeof *b32);
  float* all = calloc((size_t)(MOST * n), sizeof *all);
  float* wide = yw_mem_alloc(NULL, yw_cholesky_scratch(f, MOST, NULL), sizeof *wide);
  for (int i = 0; i < MOST * n; ++i) b32[i] = (float)test_random_in(&random, -1, 1);
  assert_true(yw_cholesky_solve_f32(f, NULL, MOST, MOST, b32, all, wide));
  for (int c = 0; c < MOST; ++c) {
    for (int i = 0; i < n; ++i) x32[i] = b32[MOST * i + c];
    assert_true(yw_cholesky_solve_f32(f, NULL, 1, 1, x32, x32, scratch));
    for (int i = 0; i < n; ++i) assert_near(all[MOST * i + c], x32[i], 2e-5 * largest);
  }
  yw_mem_free(NULL, wide);
  free(b32);
  free(all);
  yw_mem_free(NULL, scratch);
  free(b);
  free(x);
  free(x32);
  yw_cholesky_destroy(f);
  yw_sparse_free(&a);
}

static void blocks_of_three_are_ordered_together(void** state) {
  (void)state;
  enum { SIDE = 7, NODES = SIDE * SIDE * SIDE };
  yw_sparse grid = sample_grid(SIDE, SIDE, SIDE, 1, 2.0);
  yw_vec3* points = sample_grid_points(SIDE, SIDE, SIDE);
  sample_triplets t = {0};
  for (int i = 0; i < NODES; ++i) {
    for (int k = grid.start[i]; k < grid.start[i + 1]; ++k) {
      int j = grid.columns[k];
      for (int c = 0; c < 9 && j <= i; ++c) {
        if (i == j && c / 3 < c % 3) continue;
        double value = c / 3 == c % 3 ? grid.values[k] : i == j ? 0.3 : 0.02;
        sample_add(&t, 3 * i + c / 3, 3 * j + c % 3, value);
      }
    }
  }
  yw_sparse a = sample_finish(&t, 3 * NODES);
  yw_cholesky_options options = {.points = points, .block = 3};
  yw_cholesky* f = factorise(&a, &options, NULL);
  const int32_t* order = yw_cholesky_get_order(f);
  int apart = 0;
  for (int k = 0; k < 3 * NODES; k += 3) apart += order[k] / 3 != order[k + 2] / 3;
  assert_at_most(apart, NODES / 4);
  // Nine numbers for each one of the matrix of nodes in the same order, or nearly.
  yw_cholesky_options single = {.points = points};
  yw_cholesky* of_nodes = factorise(&grid, &single, NULL);
  double nodes = (double)yw_cholesky_get_stats(of_nodes).entries;
  assert_at_most((double)yw_cholesky_get_stats(f).entries / (9.0 * nodes), 1.05);
  yw_cholesky_destroy(of_nodes);
  test_random random = {4};
  double *b = random_vector(&random, 18 * NODES), *x = calloc(18 * NODES, sizeof *x);
  solve(f, NULL, 6, b, x);
  assert_at_most(sample_residual(&a, 6, x, b), 1e-14);
  options.block = 2;
  yw_cholesky* none = NULL;
  assert_int_equal(yw_cholesky_analyse(NULL, &a, &options, &none, NULL), YW_ERR_INVALID);
  assert_null(none);
  free(b);
  free(x);
  free(points);
  yw_cholesky_destroy(f);
  yw_sparse_free(&a);
  yw_sparse_free(&grid);
}

static void a_matrix_that_is_not_positive_definite_is_refused_by_row(void** state) {
  (void)state;
  enum { SIDE = 9, N = SIDE * SIDE * SIDE };
  yw_sparse a = sample_grid(SIDE, SIDE, SIDE, 1, 0.05);
  yw_tasks* tasks = yw_tasks_create(NULL, 3);
  yw_cholesky* f = factorise(&a, NULL, tasks);
  // One negative diagonal entry: that row is named.
  double kept = 0.0;
  int place = 0;
  for (int k = a.start[400]; k < a.start[401]; ++k) {
    if (a.columns[k] == 400) place = k;
  }
  kept = a.values[place];
  a.values[place] = -1.0;
  yw_error error = {0};
  assert_int_equal(yw_cholesky_factorise(f, &a, tasks, &error), YW_ERR_DIVERGED);
  assert_non_null(strstr(error.message, "row 400 "));
  double* b = calloc(N, sizeof *b);
  double* scratch = yw_mem_alloc(NULL, yw_cholesky_scratch(f, 1, NULL), sizeof *scratch);
  assert_false(yw_cholesky_solve(f, NULL, 1, 1, b, b, scratch));
  a.values[place] = kept;
  // Wherever the row stands among those that are eliminated together.
  for (int row = 0; row < N; row += 4) {
    int own = a.start[row];
    while (a.columns[own] != row) ++own;
    double good = a.values[own];
    char named[20];
    snprintf(named, sizeof named, "row %d ", row);
    a.values[own] = -1.0;
    assert_int_equal(yw_cholesky_factorise(f, &a, tasks, &error), YW_ERR_DIVERGED);
    if (!strstr(error.message, named)) fail_msg("%s, not %s", error.message, named);
    a.values[own] = good;
  }
  // NaN is rejected too.
  a.values[place] = NAN;
  assert_int_equal(yw_cholesky_factorise(f, &a, tasks, &error), YW_ERR_DIVERGED);
  // The factor can be used again afterwards.
  a.values[place] = kept;
  assert_int_equal(yw_cholesky_factorise(f, &a, tasks, &error), YW_OK);
  assert_true(yw_cholesky_solve(f, NULL, 1, 1, b, b, scratch));
  free(b);
  yw_mem_free(NULL, scratch);
  yw_cholesky_destroy(f);
  yw_sparse_free(&a);

  // A body without pins: singular, not indefinite.
  a = sample_grid(SIDE, SIDE, SIDE, 1, 0.0);
  assert_int_equal(yw_cholesky_analyse(NULL, &a, NULL, &f, NULL), YW_OK);
  assert_int_equal(yw_cholesky_factorise(f, &a, tasks, &error), YW_ERR_DIVERGED);
  yw_cholesky_destroy(f);
  yw_sparse_free(&a);
  yw_tasks_destroy(tasks);
}

static void factorising_again_allocates_nothing(void** state) {
  (void)state;
  counted_memory memory = {.left = ENOUGH};
  yw_allocator mem = counted_allocator(&memory);
  yw_sparse a = sample_grid(10, 10, 10, 1, 0.05);
  yw_tasks* tasks = yw_tasks_create(NULL, 2);
  yw_cholesky* f = NULL;
  assert_int_equal(yw_cholesky_analyse(&mem, &a, NULL, &f, NULL), YW_OK);
  assert_int_equal(yw_cholesky_factorise(f, &a, tasks, NULL), YW_OK);
  assert_int_equal(yw_cholesky_round(f, NULL), YW_OK);
  double *b = calloc(3000, sizeof *b), *x = calloc(3000, sizeof *x);
  double* scratch = yw_mem_alloc(NULL, yw_cholesky_scratch(f, 3, tasks), sizeof *scratch);
  for (int i = 0; i < 3000; ++i) b[i] = i % 7;
  int before = memory.calls;
  for (int k = 0; k < a.start[a.size]; ++k) a.values[k] *= 2.0;
  assert_int_equal(yw_cholesky_factorise(f, &a, tasks, NULL), YW_OK);
  assert_true(yw_cholesky_solve(f, tasks, 3, 3, b, x, scratch));
  assert_int_equal(memory.calls, before);
  assert_at_most(sample_residual(&a, 3, x, b), 1e-14);
  free(b);
  free(x);
  yw_mem_free(NULL, scratch);
  yw_cholesky_destroy(f);
  yw_sparse_free(&a);
  yw_tasks_destroy(tasks);
}

static void another_pattern_is_refused(void** state) {
  (void)state;
  yw_sparse a = sample_band(50, 3), other = sample_band(50, 4);
  yw_cholesky* f = factorise(&a, NULL, NULL);
  assert_int_equal(yw_cholesky_factorise(f, &other, NULL, NULL), YW_ERR_INVALID);
  yw_cholesky_destroy(f);
  yw_sparse_free(&a);
  yw_sparse_free(&other);
  // A row without a diagonal entry cannot be positive definite.
  const int32_t rows[2] = {0, 1}, columns[2] = {0, 0};
  const double values[2] = {1, 0.5};
  assert_int_equal(
      yw_sparse_from_triplets(NULL, 2, 2, rows, columns, values, YW_TRIPLETS_HALF, &a, NULL),
      YW_OK);
  assert_int_equal(yw_cholesky_analyse(NULL, &a, NULL, &f, NULL), YW_ERR_INVALID);
  yw_sparse_free(&a);
}

static void memory_that_runs_out_is_reported_and_leaks_nothing(void** state) {
  (void)state;
  yw_sparse a = sample_grid(6, 6, 6, 1, 0.05);
  yw_vec3* points = sample_grid_points(6, 6, 6);
  yw_cholesky_options options = {.points = points};
  int done = 0;
  for (int room = 0; room < 200 && !done; ++room) {
    counted_memory memory = {.left = room};
    yw_allocator mem = counted_allocator(&memory);
    yw_cholesky* f = NULL;
    yw_status status = yw_cholesky_analyse(&mem, &a, &options, &f, NULL);
    if (status == YW_OK) status = yw_cholesky_factorise(f, &a, NULL, NULL);
    if (status == YW_OK) status = yw_cholesky_round(f, NULL);
    assert_true(status == YW_OK || status == YW_ERR_MEMORY);
    done = status == YW_OK;
    yw_cholesky_destroy(f);
    assert_int_equal(memory.alive, 0);
  }
  assert_true(done);
  free(points);
  yw_sparse_free(&a);
}

// A dense matrix of n rows takes n^3 / 3 multiplications and additions, and n (n + 1) / 2 entries.
static void dense_matrices_cost_a_third_of_the_cube(void** state) {
  (void)state;
  enum { N = 48 };
  sample_triplets t = {0};
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j <= i; ++j) sample_add(&t, i, j, i == j ? 2.0 * N : 1.0);
  }
  yw_sparse a = sample_finish(&t, N);
  yw_cholesky_options options = {0};
  yw_cholesky* f = factorise(&a, &options, NULL);
  yw_cholesky_stats stats = yw_cholesky_get_stats(f);
  assert_near(stats.flops / (N * (double)N * N / 3.0), 1.0, 1e-9);
  assert_int_equal(stats.entries, N * (N + 1) / 2);
  yw_cholesky_destroy(f);
  yw_sparse_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_positive_definite_system_is_solved),
      cmocka_unit_test(many_random_patterns_are_solved),
      cmocka_unit_test(an_empty_matrix_is_fine),
      cmocka_unit_test(a_laplacian_gives_its_known_solution),
      cmocka_unit_test(threads_and_instruction_sets_give_the_same_bits),
      cmocka_unit_test(the_float_factor_is_as_good_as_float),
      cmocka_unit_test(blocks_of_three_are_ordered_together),
      cmocka_unit_test(a_matrix_that_is_not_positive_definite_is_refused_by_row),
      cmocka_unit_test(factorising_again_allocates_nothing),
      cmocka_unit_test(another_pattern_is_refused),
      cmocka_unit_test(memory_that_runs_out_is_reported_and_leaks_nothing),
      cmocka_unit_test(dense_matrices_cost_a_third_of_the_cube),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
