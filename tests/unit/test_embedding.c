// SPDX-License-Identifier: MIT
#include "geometry/embedding.h"
#include "geometry/tet_math.h"
#include "support/random_points.h"
#include "yawara/extend/timer.h"

static yw_tet_mesh make_box(int nx, int ny, int nz, yw_lattice_cut cut) {
  yw_tet_mesh mesh;
  yw_aabb box = {{-1, -1, -1}, {1, 1, 1}};
  int32_t cells[3] = {nx, ny, nz};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, cut, &mesh), YW_OK);
  return mesh;
}

static yw_dvec3 embedded_place(const yw_embedded_point* point, const yw_vec3* positions) {
  yw_dvec3 p = {0};
  for (int k = 0; k < 4; ++k) {
    p = yw_dmad(p, (double)point->weights[k], yw_d3(positions[point->vertices[k]]));
  }
  return p;
}

static void weights_reproduce_points_in_and_outside(void** state) {
  (void)state;
  enum { COUNT = 2000 };
  yw_tet_mesh mesh = make_box(5, 6, 7, YW_LATTICE_FIVE);
  yw_vec3 points[COUNT];
  test_random random = {3};
  for (int i = 0; i < COUNT; ++i) points[i] = random_point(&random, i < 1000 ? 1.0 : 3.0);
  yw_embedding embedding;
  yw_error error;
  assert_int_equal(yw_embedding_create(NULL, &mesh, COUNT, points, NULL, &embedding, &error),
                   YW_OK);
  for (int i = 0; i < COUNT; ++i) {
    const yw_embedded_point* point = &embedding.points[i];
    yw_dvec3 p = embedded_place(point, mesh.positions);
    assert_at_most(yw_dlength(yw_dsub(p, yw_d3(points[i]))), 2e-5);
    double sum = 0.0;
    for (int k = 0; k < 4; ++k) {
      sum += (double)point->weights[k];
      if (i < 1000) assert_at_least(point->weights[k], 0.0);
    }
    assert_near(sum, 1.0, 1e-5);
  }
  yw_embedding_free(&embedding);
  yw_tet_mesh_free(&mesh);
}

static void several_workers_embed_alike(void** state) {
  (void)state;
  enum { COUNT = 2000 };
  yw_tet_mesh mesh = make_box(5, 6, 7, YW_LATTICE_FIVE);
  yw_vec3 points[COUNT];
  test_random random = {3};
  for (int i = 0; i < COUNT; ++i) points[i] = random_point(&random, 1.5);
  yw_tasks* tasks = yw_tasks_create(NULL, 3);
  yw_embedding alone, shared;
  assert_int_equal(yw_embedding_create(NULL, &mesh, COUNT, points, NULL, &alone, NULL), YW_OK);
  assert_int_equal(yw_embedding_create(NULL, &mesh, COUNT, points, tasks, &shared, NULL), YW_OK);
  assert_memory_equal(alone.points, shared.points, COUNT * sizeof *alone.points);
  assert_memory_equal(alone.outside, shared.outside, COUNT * sizeof *alone.outside);
  assert_true(alone.max_outside == shared.max_outside);
  yw_embedding_free(&alone);
  yw_embedding_free(&shared);
  yw_tasks_destroy(tasks);
  yw_tet_mesh_free(&mesh);
}

// Outside a box the distance is known; it must be that of the nearest tet, not of a near one.
static void distance_outside_is_the_true_one(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_box(3, 9, 5, YW_LATTICE_SIX);
  test_random random = {11};
  for (int i = 0; i < 300; ++i) {
    yw_vec3 p = random_point(&random, 2.5);
    double dx = fmax(0, fabs((double)p.x) - 1), dy = fmax(0, fabs((double)p.y) - 1),
           dz = fmax(0, fabs((double)p.z) - 1);
    yw_embedding embedding;
    assert_int_equal(yw_embedding_create(NULL, &mesh, 1, &p, NULL, &embedding, NULL), YW_OK);
    assert_near(embedding.max_outside, sqrt(dx * dx + dy * dy + dz * dz), 1e-6);
    yw_embedding_free(&embedding);
  }
  yw_tet_mesh_free(&mesh);
}

static void a_linear_map_of_the_tets_moves_points_along(void** state) {
  (void)state;
  enum { COUNT = 300 };
  yw_tet_mesh mesh = make_box(4, 4, 4, YW_LATTICE_FIVE);
  yw_vec3 points[COUNT];
  test_random random = {5};
  for (int i = 0; i < COUNT; ++i) points[i] = random_point(&random, 1.2);
  yw_embedding embedding;
  assert_int_equal(yw_embedding_create(NULL, &mesh, COUNT, points, NULL, &embedding, NULL), YW_OK);
  yw_mat3 m = {{1, 0.5f, 0}, {-0.3f, 2, 0.1f}, {0.2f, 0, 0.7f}};
  for (int i = 0; i < mesh.num_vertices; ++i) mesh.positions[i] = yw_mul(m, mesh.positions[i]);
  for (int i = 0; i < COUNT; ++i) {
    yw_dvec3 p = embedded_place(&embedding.points[i], mesh.positions);
    assert_at_most(yw_dlength(yw_dsub(p, yw_d3(yw_mul(m, points[i])))), 2e-6);
  }
  yw_embedding_free(&embedding);
  yw_tet_mesh_free(&mesh);
}

static void bad_input_is_refused_by_name(void** state) {
  (void)state;
  yw_tet_mesh mesh = make_box(1, 1, 1, YW_LATTICE_FIVE);
  yw_vec3 points[2] = {{0, 0, 0}, {0, INFINITY, 0}};
  yw_embedding embedding;
  yw_error error;
  assert_int_equal(yw_embedding_create(NULL, &mesh, 2, points, NULL, &embedding, &error),
                   YW_ERR_GEOMETRY);
  assert_non_null(strstr(error.message, "point 1"));
  assert_null(embedding.points);
  mesh.tets[6] = -3;
  assert_int_equal(yw_embedding_create(NULL, &mesh, 1, points, NULL, &embedding, &error),
                   YW_ERR_GEOMETRY);
  assert_non_null(strstr(error.message, "tet 1 names vertex -3"));
  mesh.tets[6] = 0;
  for (int i = 0; i < mesh.num_vertices; ++i) mesh.positions[i].z = 0;
  assert_int_equal(yw_embedding_create(NULL, &mesh, 1, points, NULL, &embedding, &error),
                   YW_ERR_GEOMETRY);
  mesh.num_tets = 0;
  assert_int_equal(yw_embedding_create(NULL, &mesh, 1, points, NULL, &embedding, &error),
                   YW_ERR_GEOMETRY);
  yw_tet_mesh_free(&mesh);
}

static void hundred_thousand_points_in_as_many_tets_are_quick(void** state) {
  (void)state;
  enum { COUNT = 100000 };
  yw_tet_mesh mesh = make_box(27, 27, 28, YW_LATTICE_FIVE);
  yw_vec3* points = malloc(COUNT * sizeof(yw_vec3));
  test_random random = {9};
  for (int i = 0; i < COUNT; ++i) points[i] = random_point(&random, 1.05);
  yw_embedding embedding;
  double start = yw_seconds();
  assert_int_equal(yw_embedding_create(NULL, &mesh, COUNT, points, NULL, &embedding, NULL), YW_OK);
  double seconds = yw_seconds() - start;
  print_message("%d points in %d tets: %.3f s\n", COUNT, mesh.num_tets, seconds);
  assert_at_most(seconds, 20.0);  // generous: sanitizers and busy machines
  yw_embedding_free(&embedding);
  free(points);
  yw_tet_mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_reproduce_points_in_and_outside),
      cmocka_unit_test(several_workers_embed_alike),
      cmocka_unit_test(distance_outside_is_the_true_one),
      cmocka_unit_test(a_linear_map_of_the_tets_moves_points_along),
      cmocka_unit_test(bad_input_is_refused_by_name),
      cmocka_unit_test(hundred_thousand_points_in_as_many_tets_are_quick),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
