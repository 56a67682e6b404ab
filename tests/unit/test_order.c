// SPDX-License-Identifier: MIT
#include "support/testing.h"

#include "geometry/order.h"

static yw_tet_mesh make_box(int nx, int ny, int nz, yw_lattice_cut cut) {
  yw_tet_mesh mesh;
  yw_aabb box = {{0, 0, 0}, {0.1f * (float)nx, 0.1f * (float)ny, 0.1f * (float)nz}};
  int32_t cells[3] = {nx, ny, nz};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, cut, &mesh), YW_OK);
  return mesh;
}

static void rows_are_ascending_symmetric_and_complete(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_box(3, 4, 5, YW_LATTICE_FIVE);
  yw_adjacency rows;
  assert_int_equal(yw_tet_adjacency(NULL, &mesh, &rows), YW_OK);
  int n = mesh.num_vertices;
  unsigned char* linked = calloc((size_t)n * (size_t)n, 1);
  for (int t = 0; t < mesh.num_tets; ++t) {
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        if (a != b) linked[mesh.tets[4 * t + a] * n + mesh.tets[4 * t + b]] = 1;
      }
    }
  }
  int total = 0;
  for (int i = 0; i < n * n; ++i) total += linked[i];
  assert_int_equal(rows.start[n], total);
  for (int i = 0; i < n; ++i) {
    for (int k = rows.start[i]; k < rows.start[i + 1]; ++k) {
      assert_true(linked[i * n + rows.items[k]]);
      if (k > rows.start[i]) assert_true(rows.items[k] > rows.items[k - 1]);
    }
  }
  free(linked);
  yw_adjacency_free(&rows);
  yw_tet_mesh_free(&mesh);
}

static void vertices_of_no_tet_have_empty_rows(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  assert_int_equal(yw_tet_mesh_create(NULL, 6, 1, &mesh), YW_OK);
  for (int k = 0; k < 4; ++k) mesh.tets[k] = k + 1;
  yw_adjacency rows;
  assert_int_equal(yw_tet_adjacency(NULL, &mesh, &rows), YW_OK);
  const int32_t expected[7] = {0, 0, 3, 6, 9, 12, 12};
  assert_memory_equal(rows.start, expected, sizeof expected);
  yw_adjacency_free(&rows);
  mesh.tets[0] = 6;
  assert_int_equal(yw_tet_adjacency(NULL, &mesh, &rows), YW_ERR_INVALID);
  yw_tet_mesh_free(&mesh);
}

static void order_is_a_permutation_of_anything(void** state) {
  (void)state;
  test_random random = {7};
  for (int kind = 0; kind < 4; ++kind) {
    yw_tet_mesh mesh = make_box(5, 5, 5, YW_LATTICE_SIX);
    for (int i = 0; i < mesh.num_vertices; ++i) {
      yw_vec3* p = &mesh.positions[i];
      if (kind == 1) *p = (yw_vec3){1, 2, 3};  // all at one point
      if (kind == 2) p->x = p->y = 0;          // on a line
      if (kind == 3) p->x = i % 3 ? (float)test_random_in(&random, -1e30, 1e30) : NAN;  // absurd
    }
    yw_adjacency rows;
    int32_t order[216];
    assert_int_equal(yw_tet_adjacency(NULL, &mesh, &rows), YW_OK);
    assert_int_equal(yw_locality_order(NULL, &rows, mesh.positions, order), YW_OK);
    assert_permutation(order, mesh.num_vertices);
    yw_adjacency_free(&rows);
    yw_tet_mesh_free(&mesh);
  }
}

// Records touched by blocks of 64 consecutive rows, per row.
static double lines_per_row(const yw_adjacency* rows, const int32_t* order) {
  int n = rows->count, stamp = 0;
  long total = 0;
  int32_t* old = malloc((size_t)n * sizeof(int32_t));
  int32_t* mark = calloc((size_t)n, sizeof(int32_t));
  for (int i = 0; i < n; ++i) old[order[i]] = i;
  for (int r = 0; r < n; ++r) {
    if (r % 64 == 0) ++stamp;
    for (int k = rows->start[old[r]]; k < rows->start[old[r] + 1]; ++k) {
      int line = order[rows->items[k]];
      if (mark[line] != stamp) mark[line] = stamp, ++total;
    }
  }
  free(old);
  free(mark);
  return (double)total / n;
}

static void order_halves_the_lines_that_a_block_touches(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_box(26, 26, 26, YW_LATTICE_FIVE);
  yw_adjacency rows;
  assert_int_equal(yw_tet_adjacency(NULL, &mesh, &rows), YW_OK);
  int32_t* order = malloc((size_t)mesh.num_vertices * sizeof(int32_t));
  for (int i = 0; i < mesh.num_vertices; ++i) order[i] = i;
  double before = lines_per_row(&rows, order);
  assert_int_equal(yw_locality_order(NULL, &rows, mesh.positions, order), YW_OK);
  assert_permutation(order, mesh.num_vertices);
  double after = lines_per_row(&rows, order);
  print_message("lines per row, blocks of 64: %.2f before, %.2f after\n", before, after);
  assert_at_most(after, 2.9);
  assert_at_most(after, 0.65 * before);
  free(order);
  yw_adjacency_free(&rows);
  yw_tet_mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_ascending_symmetric_and_complete),
      cmocka_unit_test(vertices_of_no_tet_have_empty_rows),
      cmocka_unit_test(order_is_a_permutation_of_anything),
      cmocka_unit_test(order_halves_the_lines_that_a_block_touches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
