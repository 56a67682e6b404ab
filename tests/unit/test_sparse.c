// SPDX-License-Identifier: MIT
#include "math/sparse/sparse.h"

#include "support/sparse_samples.h"

static yw_status from(int size, int count, const int32_t* rows, const int32_t* columns,
                      const double* values, yw_triplets kind, yw_sparse* out, yw_error* error) {
  return yw_sparse_from_triplets(NULL, size, count, rows, columns, values, kind, out, error);
}

static void triplets_of_equal_place_are_summed_and_sorted(void** state) {
  (void)state;
  const int32_t rows[] = {2, 0, 1, 2, 0, 2, 2}, columns[] = {0, 0, 1, 2, 0, 2, 0};
  const double values[] = {1, 4, 5, 6, 0.5, 0.25, 2};
  yw_sparse a;
  assert_int_equal(from(3, 7, rows, columns, values, YW_TRIPLETS_HALF, &a, NULL), YW_OK);
  const int32_t start[] = {0, 2, 3, 5}, found[] = {0, 2, 1, 0, 2};
  const double sums[] = {4.5, 3, 5, 3, 6.25};
  assert_memory_equal(a.start, start, sizeof start);
  assert_memory_equal(a.columns, found, sizeof found);
  assert_memory_equal(a.values, sums, sizeof sums);
  yw_sparse_free(&a);
  assert_null(a.start);
}

static void rows_without_entries_are_kept(void** state) {
  (void)state;
  const int32_t rows[] = {3}, columns[] = {1};
  const double values[] = {2};
  yw_sparse a;
  assert_int_equal(from(6, 1, rows, columns, values, YW_TRIPLETS_HALF, &a, NULL), YW_OK);
  const int32_t start[] = {0, 0, 1, 1, 2, 2, 2};
  assert_memory_equal(a.start, start, sizeof start);
  yw_sparse_free(&a);
}

static void bad_triplets_are_refused_by_number(void** state) {
  (void)state;
  yw_sparse a;
  yw_error error = {0};
  int32_t rows[] = {0, 1, 1}, columns[] = {0, 1, 0};
  double values[] = {1, 1, 0.5};
  assert_int_equal(from(2, 3, rows, columns, values, YW_TRIPLETS_HALF, &a, &error), YW_OK);
  yw_sparse_free(&a);
  columns[2] = 2;
  assert_int_equal(from(2, 3, rows, columns, values, YW_TRIPLETS_HALF, &a, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "triplet 2 is at (1, 2)"));
  columns[2] = -1;
  assert_int_equal(from(2, 3, rows, columns, values, YW_TRIPLETS_HALF, &a, &error), YW_ERR_INVALID);
  columns[2] = 0;
  values[1] = NAN;
  assert_int_equal(from(2, 3, rows, columns, values, YW_TRIPLETS_HALF, &a, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "triplet 1"));
  values[1] = 1;
  // One triangle only, though both are promised.
  assert_int_equal(from(2, 3, rows, columns, values, YW_TRIPLETS_BOTH, &a, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "not symmetric"));
  assert_int_equal(from(-1, 0, rows, columns, values, YW_TRIPLETS_BOTH, &a, &error),
                   YW_ERR_INVALID);
  assert_null(a.start);
}

static void both_triangles_must_agree(void** state) {
  (void)state;
  const int32_t rows[] = {0, 1, 0, 1}, columns[] = {0, 1, 1, 0};
  double values[] = {2, 2, 1, 1 + 1e-12};
  yw_sparse a;
  yw_error error = {0};
  assert_int_equal(from(2, 4, rows, columns, values, YW_TRIPLETS_BOTH, &a, &error), YW_OK);
  yw_sparse_free(&a);
  values[3] = 1.001;
  assert_int_equal(from(2, 4, rows, columns, values, YW_TRIPLETS_BOTH, &a, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "(1, 0) is 1.0009"));
}

static void a_damaged_matrix_is_found(void** state) {
  (void)state;
  yw_sparse a = sample_band(20, 3);
  assert_int_equal(yw_sparse_check(NULL, &a, NULL), YW_OK);
  int32_t kept = a.columns[30];
  const int32_t wrong[] = {-1, 20, a.columns[29], 19};
  for (int k = 0; k < 4; ++k) {
    a.columns[30] = wrong[k];
    assert_int_equal(yw_sparse_check(NULL, &a, NULL), YW_ERR_INVALID);
  }
  a.columns[30] = kept;
  a.values[30] = INFINITY;
  assert_int_equal(yw_sparse_check(NULL, &a, NULL), YW_ERR_INVALID);
  a.values[30] = 5.0;
  assert_int_equal(yw_sparse_check(NULL, &a, NULL), YW_ERR_INVALID);
  yw_sparse_free(&a);
}

static void products_match_the_dense_ones_on_any_number_of_threads(void** state) {
  (void)state;
  test_random random = {3};
  enum { N = 1500, STRIDE = 4, COLUMNS = 3 };
  yw_sparse a = sample_random(&random, N, 9);
  double x[N * STRIDE], y[N * STRIDE], expected[N * STRIDE] = {0};
  for (int i = 0; i < N * STRIDE; ++i) x[i] = test_random_in(&random, -1, 1);
  for (int i = 0; i < N; ++i) {
    for (int k = a.start[i]; k < a.start[i + 1]; ++k) {
      for (int c = 0; c < COLUMNS; ++c) {
        expected[i * STRIDE + c] += a.values[k] * x[a.columns[k] * STRIDE + c];
      }
    }
  }
  memset(y, 0, sizeof y);
  yw_tasks* tasks = yw_tasks_create(NULL, 3);
  yw_sparse_multiply(&a, tasks, COLUMNS, STRIDE, x, y);
  assert_memory_equal(y, expected, sizeof y);
  yw_tasks_destroy(tasks);
  yw_sparse_free(&a);
}

// Random tets over few nodes: the assembled matrix equals the sum by triplets.
static void plans_of_nothing_are_refused(void** state) {
  (void)state;
  const int32_t nodes[] = {0, 1};
  const struct {
    int32_t nodes, block, elements, corners;
  } wrong[] = {{-1, 1, 1, 2}, {2, 0, 1, 2}, {2, 1, -1, 2}, {2, 1, 1, 0}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    yw_assembly assembly;
    yw_sparse matrix;
    yw_error error = {0};
    assert_int_equal(yw_assembly_create(NULL, wrong[i].nodes, wrong[i].block, wrong[i].elements,
                                        wrong[i].corners, nodes, &assembly, &matrix, &error),
                     YW_ERR_INVALID);
    assert_true(!matrix.start && error.message[0] != '\0');
  }
}

static void elements_assemble_to_their_sum(void** state) {
  (void)state;
  enum { NODES = 300, ELEMENTS = 700, CORNERS = 4, BLOCK = 3, SIDE = CORNERS * BLOCK };
  test_random random = {8};
  static int32_t nodes[ELEMENTS * CORNERS];
  double* elements = malloc(sizeof(double) * ELEMENTS * SIDE * SIDE);
  sample_triplets t = {0};
  for (int e = 0; e < ELEMENTS; ++e) {
    int base = (int)test_random_in(&random, 0, NODES - 40);
    for (int a = 0; a < CORNERS; ++a) {
      nodes[e * CORNERS + a] = base + 10 * a + (int)test_random_in(&random, 0, 10);
    }
    for (int r = 0; r < SIDE; ++r) {
      for (int c = 0; c <= r; ++c) {
        double value = test_random_in(&random, -1, 1);
        elements[(e * SIDE + r) * SIDE + c] = elements[(e * SIDE + c) * SIDE + r] = value;
        sample_add(&t, nodes[e * CORNERS + r / BLOCK] * BLOCK + r % BLOCK,
                   nodes[e * CORNERS + c / BLOCK] * BLOCK + c % BLOCK, value);
      }
    }
  }
  yw_sparse expected = sample_finish(&t, NODES * BLOCK), matrix;
  yw_assembly assembly;
  yw_error error = {0};
  assert_int_equal(
      yw_assembly_create(NULL, NODES, BLOCK, ELEMENTS, CORNERS, nodes, &assembly, &matrix, &error),
      YW_OK);
  yw_tasks* tasks = yw_tasks_create(NULL, 2);
  yw_assembly_sum(&assembly, tasks, elements, &matrix);
  assert_memory_equal(matrix.start, expected.start, sizeof(int32_t) * (NODES * BLOCK + 1));
  int count = matrix.start[NODES * BLOCK];
  assert_memory_equal(matrix.columns, expected.columns, sizeof(int32_t) * (size_t)count);
  for (int k = 0; k < count; ++k) assert_near(matrix.values[k], expected.values[k], 1e-13);
  assert_int_equal(yw_sparse_check(NULL, &matrix, &error), YW_OK);
  // Again, on one thread: the same bits.
  double* kept = malloc(sizeof(double) * (size_t)count);
  memcpy(kept, matrix.values, sizeof(double) * (size_t)count);
  yw_assembly_sum(&assembly, NULL, elements, &matrix);
  assert_memory_equal(matrix.values, kept, sizeof(double) * (size_t)count);
  free(kept);
  free(elements);
  yw_assembly_free(&assembly);
  yw_sparse_free(&matrix);

  nodes[17] = NODES;
  assert_int_equal(
      yw_assembly_create(NULL, NODES, BLOCK, ELEMENTS, CORNERS, nodes, &assembly, &matrix, &error),
      YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "element 4 has node 300"));
  nodes[17] = nodes[16];
  assert_int_equal(
      yw_assembly_create(NULL, NODES, BLOCK, ELEMENTS, CORNERS, nodes, &assembly, &matrix, &error),
      YW_ERR_INVALID);
  assert_null(matrix.start);
  yw_sparse_free(&expected);
  yw_tasks_destroy(tasks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plans_of_nothing_are_refused),
      cmocka_unit_test(triplets_of_equal_place_are_summed_and_sorted),
      cmocka_unit_test(rows_without_entries_are_kept),
      cmocka_unit_test(bad_triplets_are_refused_by_number),
      cmocka_unit_test(both_triangles_must_agree),
      cmocka_unit_test(a_damaged_matrix_is_found),
      cmocka_unit_test(products_match_the_dense_ones_on_any_number_of_threads),
      cmocka_unit_test(elements_assemble_to_their_sum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
