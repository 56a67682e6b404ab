// SPDX-License-Identifier: MIT
#include "math/sparse/ordering.h"

#include "math/sparse/cholesky.h"
#include "support/sparse_samples.h"

static yw_graph graph_of(const yw_sparse* a) { return (yw_graph){a->size, a->start, a->columns}; }

// Both orders, twice, on one thread and on three: permutations, and the same each time. Takes
// ownership of the matrix and the points.
static void check_orders(yw_sparse a, yw_vec3* points) {
  yw_graph graph = graph_of(&a);
  size_t bytes = sizeof(int32_t) * (size_t)a.size;
  int32_t *order = malloc(bytes + 4), *again = malloc(bytes + 4);
  assert_int_equal(yw_order_by_degree(NULL, &graph, order), YW_OK);
  assert_permutation(order, a.size);
  assert_int_equal(yw_order_by_degree(NULL, &graph, again), YW_OK);
  assert_memory_equal(order, again, bytes);
  if (points) {
    yw_tasks* tasks = yw_tasks_create(NULL, 3);
    assert_int_equal(yw_order_by_dissection(NULL, NULL, &graph, points, order), YW_OK);
    assert_permutation(order, a.size);
    assert_int_equal(yw_order_by_dissection(NULL, tasks, &graph, points, again), YW_OK);
    assert_memory_equal(order, again, bytes);
    yw_tasks_destroy(tasks);
  }
  free(order);
  free(again);
  free(points);
  yw_sparse_free(&a);
}

static yw_vec3* random_points(test_random* random, int count, double size) {
  yw_vec3* points = malloc(sizeof *points * (size_t)count);
  for (int i = 0; i < count; ++i) {
    points[i] = (yw_vec3){(float)test_random_in(random, -size, size),
                          (float)test_random_in(random, -size, size),
                          (float)test_random_in(random, -size, size)};
  }
  return points;
}

static void orders_are_permutations_of_any_graph(void** state) {
  (void)state;
  test_random random = {1};
  check_orders(sample_full(&random, 1), random_points(&random, 1, 1));
  check_orders(sample_full(&random, 150), random_points(&random, 150, 1));
  check_orders(sample_arrow(3000), random_points(&random, 3000, 1));
  check_orders(sample_band(2000, 1), random_points(&random, 2000, 1));
  check_orders(sample_random(&random, 2000, 0.0), random_points(&random, 2000, 1));
  check_orders(sample_random(&random, 2000, 1.0), random_points(&random, 2000, 1));
  check_orders(sample_random(&random, 900, 20.0), random_points(&random, 900, 1));
  check_orders(sample_grid(30, 30, 1, 0, 1), sample_grid_points(30, 30, 1));
  check_orders(sample_grid(12, 12, 12, 2, 1), sample_grid_points(12, 12, 12));
  for (int round = 0; round < 200; ++round) {
    int size = 1 + (int)test_random_in(&random, 0, 300);
    check_orders(sample_random(&random, size, test_random_in(&random, 0, 10)),
                 random_points(&random, size, 1));
  }
}

static void points_that_coincide_or_are_far_off_do_no_harm(void** state) {
  (void)state;
  test_random random = {2};
  check_orders(sample_grid(8, 8, 8, 1, 1), calloc(512, sizeof(yw_vec3)));
  check_orders(sample_grid(8, 8, 8, 1, 1), random_points(&random, 512, 1e38));
  check_orders(sample_grid(8, 8, 8, 1, 1), random_points(&random, 512, 1e-40));
  yw_vec3* points = sample_grid_points(8, 8, 8);
  points[77].y = 1e30f;
  check_orders(sample_grid(8, 8, 8, 1, 1), points);
  yw_sparse a = sample_grid(3, 3, 3, 1, 1);
  yw_graph graph = graph_of(&a);
  int32_t order[27];
  points = sample_grid_points(3, 3, 3);
  points[5].x = NAN;
  assert_int_equal(yw_order_by_dissection(NULL, NULL, &graph, points, order), YW_ERR_INVALID);
  free(points);
  yw_sparse_free(&a);
}

static double entries_of(const yw_sparse* a, yw_cholesky_order order, const yw_vec3* points) {
  yw_cholesky_options options = {.order = order, .points = points};
  yw_cholesky* f = NULL;
  assert_int_equal(yw_cholesky_analyse(NULL, a, &options, &f, NULL), YW_OK);
  double entries = (double)yw_cholesky_get_stats(f).entries;
  yw_cholesky_destroy(f);
  return entries;
}

// For a cube of n points, nnz(L) grows as n^(4/3); the natural order gives about n^(5/3).
static void fill_of_grids_is_far_below_the_natural_order(void** state) {
  (void)state;
  yw_sparse square = sample_grid(100, 100, 1, 0, 1), cube = sample_grid(20, 20, 20, 0, 1);
  yw_vec3* square_points = sample_grid_points(100, 100, 1);
  yw_vec3* cube_points = sample_grid_points(20, 20, 20);
  double natural = entries_of(&square, YW_CHOLESKY_NATURAL, NULL);
  assert_at_most(entries_of(&square, YW_CHOLESKY_DEGREE, NULL), natural / 3);
  assert_at_most(entries_of(&square, YW_CHOLESKY_DISSECTION, square_points), natural / 3);
  natural = entries_of(&cube, YW_CHOLESKY_NATURAL, NULL);
  assert_at_most(entries_of(&cube, YW_CHOLESKY_DEGREE, NULL), natural / 2.5);
  double dissected = entries_of(&cube, YW_CHOLESKY_DISSECTION, cube_points);
  assert_at_most(dissected, natural / 4);
  assert_at_most(dissected, 5.0 * pow(8000, 4.0 / 3.0));
  yw_sparse_free(&square);
  yw_sparse_free(&cube);
  free(square_points);
  free(cube_points);
}

// nnz(L) without merged supernodes, and the multiplications and additions that it takes: columns of
// L are those of the matrix and of the columns that have their first entry there, below themselves.
static double symbolic_entries(const yw_sparse* a, const int32_t* order, double* flops) {
  const int32_t n = a->size;
  int32_t* place = malloc(sizeof *place * (size_t)n);
  bool* rows = calloc((size_t)n * (size_t)n, sizeof *rows);
  for (int32_t k = 0; k < n; ++k) place[order[k]] = k;
  for (int32_t i = 0; i < n; ++i) {
    for (int64_t e = a->start[i]; e < a->start[i + 1]; ++e) {
      int32_t p = place[i], q = place[a->columns[e]];
      rows[(size_t)(p < q ? p : q) * (size_t)n + (size_t)(p < q ? q : p)] = true;
    }
  }
  double entries = 0;
  *flops = 0;
  for (int32_t k = 0; k < n; ++k) {
    const bool* own = rows + (size_t)k * (size_t)n;
    int32_t parent = -1, count = 1;
    for (int32_t j = k + 1; j < n; ++j) {
      count += own[j];
      if (parent < 0 && own[j]) parent = j;
      if (parent >= 0 && own[j] && j > parent) rows[(size_t)parent * (size_t)n + (size_t)j] = true;
    }
    entries += count;
    *flops += (double)count * count;
  }
  free(rows);
  free(place);
  return entries;
}

// What the analysis counts is what elimination in its order takes, apart from zeros that make
// supernodes wider; and orders are as good as they were: a change for the worse is a mistake.
static void counts_are_those_of_the_elimination(void** state) {
  (void)state;
  static const struct {
    int nx, ny, nz, reach;
    yw_cholesky_order order;
    int64_t entries;
    double flops;
    int32_t supernodes;
  } cases[] = {
      {30, 30, 1, 0, YW_CHOLESKY_DEGREE, 16410, 365630, 135},
      {30, 30, 1, 0, YW_CHOLESKY_DISSECTION, 17751, 422666, 117},
      {10, 11, 12, 0, YW_CHOLESKY_DEGREE, 65986, 5476804, 209},
      {10, 11, 12, 0, YW_CHOLESKY_DISSECTION, 59640, 3868124, 206},
      {9, 10, 11, 1, YW_CHOLESKY_DEGREE, 81605, 8948750, 65},
      {9, 10, 11, 1, YW_CHOLESKY_DISSECTION, 74330, 6589290, 74},
      {300, 3, 1, 1, YW_CHOLESKY_DISSECTION, 9600, 101094, 104},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    yw_sparse a = sample_grid(cases[i].nx, cases[i].ny, cases[i].nz, cases[i].reach, 1);
    yw_vec3* points = sample_grid_points(cases[i].nx, cases[i].ny, cases[i].nz);
    yw_cholesky_options options = {.order = cases[i].order, .points = points};
    yw_cholesky* f = NULL;
    assert_int_equal(yw_cholesky_analyse(NULL, &a, &options, &f, NULL), YW_OK);
    yw_cholesky_stats s = yw_cholesky_get_stats(f);
    double flops, entries = symbolic_entries(&a, yw_cholesky_get_order(f), &flops);
    assert_at_least(s.entries, entries);
    assert_at_least(s.flops, flops);
    assert_at_most(s.entries, cases[i].entries);
    assert_at_most(s.flops, cases[i].flops + 1);
    assert_at_most(s.num_supernodes, cases[i].supernodes);
    assert_at_least(s.factor_bytes, 8 * s.entries);
    yw_cholesky_destroy(f);
    yw_sparse_free(&a);
    free(points);
  }
}

// A bar along one axis, leaning to the two others, so that the best cuts are across its axis and
// not across its own length: they are found whichever axis it is.
static void leaning_bars_are_cut_across_every_axis(void** state) {
  (void)state;
  enum { LONG = 40, WIDE = 7, COUNT = LONG * WIDE * WIDE };
  yw_sparse bar = sample_grid(LONG, WIDE, WIDE, 1, 1);
  yw_vec3* upright = sample_grid_points(LONG, WIDE, WIDE);
  double first = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    yw_vec3* points = malloc(sizeof *points * COUNT);
    for (int i = 0; i < COUNT; ++i) {
      const float x = upright[i].x, *from = &upright[i].x;
      for (int k = 0; k < 3; ++k) {
        (&points[i].x)[(axis + k) % 3] = k == 0 ? x : from[k] + (k == 1 ? 0.6f : -0.45f) * x;
      }
    }
    double entries = entries_of(&bar, YW_CHOLESKY_DISSECTION, points);
    if (axis == 0) first = entries;
    assert_near(entries / first, 1, 0.01);
    free(points);
  }
  free(upright);
  yw_sparse_free(&bar);
}

static void trees_and_chains_have_no_fill(void** state) {
  (void)state;
  // A chain numbered at random.
  enum { N = 600 };
  test_random random = {4};
  int32_t number[N];
  for (int i = 0; i < N; ++i) number[i] = i;
  for (int i = N - 1; i > 0; --i) {
    int j = (int)test_random_in(&random, 0, i + 1), swap = number[i];
    number[i] = number[j];
    number[j] = swap;
  }
  sample_triplets t = {0};
  for (int i = 0; i < N; ++i) sample_add(&t, i, i, 1.0);
  for (int i = 1; i < N; ++i) sample_link(&t, number[i], number[(i - 1) / 2], 1.0);
  yw_sparse tree = sample_finish(&t, N);
  yw_graph graph = graph_of(&tree);
  int32_t order[N], place[N];
  assert_int_equal(yw_order_by_degree(NULL, &graph, order), YW_OK);
  for (int k = 0; k < N; ++k) place[order[k]] = k;
  // No fill: every vertex has at most one neighbour that is eliminated later.
  for (int i = 0; i < N; ++i) {
    int later = 0;
    for (int k = tree.start[i]; k < tree.start[i + 1]; ++k)
      later += place[tree.columns[k]] > place[i];
    assert_true(later <= 1);
  }
  yw_sparse_free(&tree);
}

static void a_star_with_many_rays_is_ordered_quickly(void** state) {
  (void)state;
  yw_sparse star = sample_arrow(200000);
  assert_at_most(entries_of(&star, YW_CHOLESKY_DEGREE, NULL), 2.0 * 200000 + 2000);
  yw_sparse_free(&star);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(orders_are_permutations_of_any_graph),
      cmocka_unit_test(points_that_coincide_or_are_far_off_do_no_harm),
      cmocka_unit_test(fill_of_grids_is_far_below_the_natural_order),
      cmocka_unit_test(counts_are_those_of_the_elimination),
      cmocka_unit_test(leaning_bars_are_cut_across_every_axis),
      cmocka_unit_test(trees_and_chains_have_no_fill),
      cmocka_unit_test(a_star_with_many_rays_is_ordered_quickly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
