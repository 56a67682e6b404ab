// SPDX-License-Identifier: MIT
#include "support/testing.h"

#include "geometry/surface_split.h"
#include "support/counted_memory.h"
#include "support/mesh_testing.h"
#include "yawara/extend/vec.h"
#include "yawara/shape.h"

static yw_tri_mesh make_surface(const yw_shape* shape, float size) {
  yw_tri_mesh mesh;
  yw_error error;
  if (yw_shape_surface(shape, NULL, size, &mesh, &error) != YW_OK) fail_msg("%s", error.message);
  return mesh;
}

static double mean_edge(const yw_tri_mesh* mesh) {
  double sum = 0.0;
  for (int h = 0; h < 3 * mesh->num_triangles; ++h) {
    int next = h % 3 == 2 ? h - 2 : h + 1;
    sum += (double)yw_distance(mesh->positions[mesh->triangles[h]],
                               mesh->positions[mesh->triangles[next]]);
  }
  return sum / (3 * mesh->num_triangles);
}

static double smallest_angle(const yw_tri_mesh* mesh) {
  double largest_cosine = -1.0;
  for (int t = 0; t < mesh->num_triangles; ++t) {
    for (int k = 0; k < 3; ++k) {
      const int32_t* v = mesh->triangles + 3 * t;
      yw_vec3 p = mesh->positions[v[k]];
      yw_vec3 a = yw_sub(mesh->positions[v[(k + 1) % 3]], p);
      yw_vec3 b = yw_sub(mesh->positions[v[(k + 2) % 3]], p);
      largest_cosine = fmax(largest_cosine, (double)(yw_dot(a, b) / (yw_length(a) * yw_length(b))));
    }
  }
  return acos(largest_cosine) * 180 / 3.14159265358979;
}

// Closed, oriented outwards, uniform, on the surface, of the right size. Releases the shape.
static void check_surface(yw_shape* shape, float size, int euler, double volume, double tolerance) {
  yw_tri_mesh mesh = make_surface(shape, size);
  assert_int_equal(assert_manifold(&mesh), euler);
  assert_near(enclosed_volume(&mesh) / volume, 1.0, tolerance);
  assert_near(mean_edge(&mesh) / (double)size, 1.0, 0.12);
  assert_at_least(smallest_angle(&mesh), 15.0);
  for (int i = 0; i < mesh.num_vertices; ++i) {
    assert_at_most(fabsf(yw_shape_distance(shape, mesh.positions[i])), 1e-4f * size);
  }
  yw_tri_mesh_free(&mesh);
  yw_shape_release(shape);
}

static void surfaces_of_primitives_are_closed_even_and_in_place(void** state) {
  (void)state;
  const double pi = 3.14159265358979;
  yw_shape* shape;
  yw_shape_sphere(NULL, 1, &shape);
  check_surface(shape, 0.1f, 2, 4 * pi / 3, 0.01);
  yw_shape_torus(NULL, 1, 0.3f, &shape);
  check_surface(shape, 0.08f, 0, 2 * pi * pi * 0.09, 0.02);
  yw_shape_box(NULL, yw_v3(1, 0.6f, 0.3f), &shape);
  check_surface(shape, 0.05f, 2, 8 * 0.18, 1e-4);
  yw_shape_capsule(NULL, yw_v3(-1, 0, 0), yw_v3(1, 0.5f, 0.2f), 0.3f, &shape);
  check_surface(shape, 0.06f, 2, pi * 0.09 * sqrt(4.29) + 4 * pi / 3 * 0.027, 0.02);
}

// Largest angle between the mean normal of the triangles at a vertex and one of them, degrees.
static double worst_shading(const yw_tri_mesh* mesh) {
  yw_vec3* sums = calloc((size_t)mesh->num_vertices, sizeof *sums);
  double least = 1.0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int t = 0; t < mesh->num_triangles; ++t) {
      const int32_t* v = mesh->triangles + 3 * t;
      yw_vec3 a = mesh->positions[v[0]];
      yw_vec3 face = yw_cross(yw_sub(mesh->positions[v[1]], a), yw_sub(mesh->positions[v[2]], a));
      for (int k = 0; k < 3; ++k) {
        if (pass == 0) sums[v[k]] = yw_add(sums[v[k]], face);
        float size = yw_length(sums[v[k]]) * yw_length(face);
        if (pass == 1) least = fmin(least, (double)(yw_dot(sums[v[k]], face) / size));
      }
    }
  }
  free(sums);
  return acos(least) * 180 / 3.14159265358979;
}

// Closed where vertices at one place count as one, on the surface, of the right volume, and shaded
// as it is: edges stay sharp and round sides smooth. Releases the shape.
static void check_tessellation(yw_shape* shape, int32_t most_triangles, double volume,
                               double tolerance) {
  yw_tri_mesh mesh;
  yw_error error;
  yw_surface_report report;
  if (yw_shape_tessellate(shape, NULL, 0.05f, &mesh, &error) != YW_OK)
    fail_msg("%s", error.message);
  assert_at_most(mesh.num_triangles, most_triangles);
  assert_int_equal(yw_surface_report_of(&mesh, NULL, &report, &error), YW_OK);
  assert_int_equal(report.open_edges, 0);
  assert_int_equal(report.flat_triangles, 0);
  assert_near(report.volume / volume, 1.0, tolerance);
  // Round corners have a facet every 11.25 degrees.
  assert_at_most(worst_shading(&mesh), 11.25);
  for (int i = 0; i < mesh.num_vertices; ++i) {
    assert_at_most(fabsf(yw_shape_distance(shape, mesh.positions[i])), 2e-6f);
  }
  yw_tri_mesh_free(&mesh);
  yw_shape_release(shape);
}

static void primitives_are_shown_with_few_triangles(void** state) {
  (void)state;
  const double pi = 3.14159265358979;
  yw_shape *shape, *box;
  yw_shape_box(NULL, yw_v3(1, 0.6f, 0.3f), &box);
  yw_transform turned = {{0.3f, 0.2f, 0.1f}, yw_quat_normalize((yw_quat){1, 2, 3, 4}), 2};
  assert_int_equal(yw_shape_transform(NULL, box, turned, &shape), YW_OK);
  check_tessellation(box, 12, 1.44, 1e-6);
  check_tessellation(shape, 12, 8 * 1.44, 1e-5);
  yw_shape_rounded_box(NULL, yw_v3(1, 0.6f, 0.3f), 0.1f, &shape);
  double faces = 8 * (0.9 * 0.5 * 0.2 + 0.1 * (0.9 * 0.5 + 0.5 * 0.2 + 0.2 * 0.9));
  double edges = 2 * pi * 0.01 * (0.9 + 0.5 + 0.2);
  check_tessellation(shape, 1300, faces + edges + 4 * pi / 3 * 1e-3, 1e-3);
  // Rounded all the way: no faces in two directions.
  yw_shape_rounded_box(NULL, yw_v3(0.3f, 0.3f, 0.8f), 0.3f, &shape);
  check_tessellation(shape, 1300, pi * 0.09 + 4 * pi / 3 * 0.027, 0.02);
  // 64 sides within a circle: 0.16 % less area, and about as much again from pole to pole.
  yw_shape_sphere(NULL, 1, &shape);
  check_tessellation(shape, 4096, 4 * pi / 3, 5e-3);
  yw_shape_capsule(NULL, yw_v3(-1, 0, 0), yw_v3(1, 0.5f, 0.2f), 0.3f, &shape);
  check_tessellation(shape, 4500, pi * 0.09 * sqrt(4.29) + 4 * pi / 3 * 0.027, 5e-3);
  yw_shape_cylinder(NULL, 0.5f, 0.4f, &shape);
  check_tessellation(shape, 256, pi * 0.2, 2e-3);
  yw_shape_cone(NULL, 0.5f, 0.2f, 0.4f, &shape);
  check_tessellation(shape, 256, pi * 0.8 / 3 * (0.25 + 0.1 + 0.04), 2e-3);
  yw_shape_torus(NULL, 1, 0.3f, &shape);
  check_tessellation(shape, 4096, 2 * pi * pi * 0.09, 1e-2);
}

// A union has the triangles of its parts; other shapes those of yw_shape_surface, errors included.
static void other_shapes_are_shown_as_their_surfaces(void** state) {
  (void)state;
  yw_shape *parts[2], *both, *bowl, *plane;
  yw_tri_mesh mesh, surface;
  yw_error error;
  yw_shape_box(NULL, yw_v3(1, 1, 1), &parts[0]);
  yw_shape_sphere(NULL, 1.2f, &parts[1]);
  yw_shape_union(NULL, 2, parts, 0, &both);
  assert_int_equal(yw_shape_tessellate(both, NULL, 0.2f, &mesh, &error), YW_OK);
  assert_int_equal(mesh.num_triangles, 12 + 64 * 31 * 2);
  yw_tri_mesh_free(&mesh);
  yw_shape_difference(NULL, 2, parts, 0, &bowl);
  assert_int_equal(yw_shape_tessellate(bowl, NULL, 0.2f, &mesh, &error), YW_OK);
  assert_int_equal(yw_shape_surface(bowl, NULL, 0.2f, &surface, &error), YW_OK);
  assert_int_equal(mesh.num_triangles, surface.num_triangles);
  yw_tri_mesh_free(&mesh);
  yw_tri_mesh_free(&surface);
  yw_shape_plane(NULL, yw_v3(0, 1, 0), 0, &plane);
  assert_true(yw_shape_tessellate(plane, NULL, 0.2f, &mesh, &error) < 0 && error.message[0]);
  yw_shape* all[] = {parts[0], parts[1], both, bowl, plane};
  for (int i = 0; i < 5; ++i) yw_shape_release(all[i]);
}

// The lattice alone would cut off the edges: 3 % of the volume at this size.
static void sharp_edges_are_kept(void** state) {
  (void)state;
  test_random random = {31};
  for (int n = 0; n < 6; ++n) {
    yw_shape *box, *shape;
    yw_shape_box(NULL, yw_v3(1, 0.6f, 0.3f), &box);
    yw_quat q = {(float)test_random_in(&random, -1, 1), (float)test_random_in(&random, -1, 1),
                 (float)test_random_in(&random, -1, 1), (float)test_random_in(&random, -1, 1)};
    yw_transform transform = {{0.3f, 0.2f, 0.1f}, yw_quat_normalize(q), 1};
    assert_int_equal(yw_shape_transform(NULL, box, transform, &shape), YW_OK);
    yw_tri_mesh mesh = make_surface(shape, 0.1f);
    assert_int_equal(assert_manifold(&mesh), 2);
    assert_near(enclosed_volume(&mesh) / 1.44, 1.0, 2e-3);
    yw_tri_mesh_free(&mesh);
    yw_shape_release(shape);
    yw_shape_release(box);
  }
}

// Touching and overlapping spheres pinch the lattice's boundary; the result is still a manifold.
static void tangled_shapes_still_give_manifolds(void** state) {
  (void)state;
  test_random random = {23};
  for (int n = 0; n < 6; ++n) {
    yw_shape *parts[30], *shape;
    for (int i = 0; i < 30; ++i) {
      yw_shape* sphere;
      yw_shape_sphere(NULL, (float)test_random_in(&random, 0.08, 0.3), &sphere);
      yw_transform transform = {
          {(float)test_random_in(&random, 0, 1), (float)test_random_in(&random, 0, 1),
           (float)test_random_in(&random, 0, 1)},
          {0, 0, 0, 1},
          1};
      assert_int_equal(yw_shape_transform(NULL, sphere, transform, &parts[i]), YW_OK);
      yw_shape_release(sphere);
    }
    assert_int_equal(yw_shape_union(NULL, 30, parts, n % 2 ? 0.0f : 0.05f, &shape), YW_OK);
    yw_tri_mesh mesh = make_surface(shape, 0.05f + 0.01f * (float)(n % 4));
    assert_manifold(&mesh);
    assert_at_least(enclosed_volume(&mesh), 0.1);
    yw_tri_mesh_free(&mesh);
    for (int i = 0; i < 30; ++i) yw_shape_release(parts[i]);
    yw_shape_release(shape);
  }
}

// Two tetrahedra that share an edge: four triangles at it, and two vertices with two fans each.
static void sheets_that_touch_are_parted(void** state) {
  (void)state;
  yw_tri_mesh mesh;
  assert_int_equal(yw_tri_mesh_create(NULL, 7, 8, &mesh), YW_OK);
  const yw_vec3 positions[7] = {{0, 0, -1}, {0, 0, 1},   {1, -1, 0}, {1, 1, 0},
                                {-1, 1, 0}, {-1, -1, 0}, {9, 9, 9}};
  memcpy(mesh.positions, positions, sizeof positions);
  const int32_t triangles[24] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3,
                                 0, 4, 1, 0, 1, 5, 0, 5, 4, 1, 4, 5};
  memcpy(mesh.triangles, triangles, sizeof triangles);
  assert_balanced(&mesh);
  assert_int_equal(yw_surface_split(&mesh), YW_OK);
  assert_int_equal(mesh.num_vertices, 8);  // the unused vertex is gone, the edge is there twice
  assert_int_equal(assert_manifold(&mesh), 4);
  yw_tri_mesh_free(&mesh);
}

static void hostile_requests_are_refused(void** state) {
  (void)state;
  yw_shape *sphere, *plane;
  yw_shape_sphere(NULL, 1, &sphere);
  yw_shape_plane(NULL, yw_v3(0, 1, 0), 0, &plane);
  yw_tri_mesh mesh;
  yw_error error;
  assert_int_equal(yw_shape_surface(plane, NULL, 0.1f, &mesh, &error), YW_ERR_GEOMETRY);
  assert_int_equal(yw_shape_surface(sphere, NULL, NAN, &mesh, &error), YW_ERR_INVALID);
  assert_int_equal(yw_shape_surface(sphere, NULL, -1, &mesh, &error), YW_ERR_INVALID);
  assert_int_equal(yw_shape_surface(sphere, NULL, 1e-7f, &mesh, &error), YW_ERR_LIMIT);
  assert_int_equal(yw_shape_surface(NULL, NULL, 0.1f, &mesh, &error), YW_ERR_INVALID);
  assert_null(mesh.positions);
  yw_shape_release(sphere);
  yw_shape_release(plane);
}

static void running_out_of_memory_is_survived(void** state) {
  (void)state;
  yw_shape* shape;
  yw_shape_torus(NULL, 1, 0.3f, &shape);
  yw_status status = YW_ERR_MEMORY;
  for (int n = 0; status != YW_OK && n < 1000; ++n) {
    counted_memory memory = {.left = n};
    yw_allocator mem = counted_allocator(&memory);
    yw_tri_mesh mesh;
    status = yw_shape_surface(shape, &mem, 0.3f, &mesh, NULL);
    if (status == YW_OK) yw_tri_mesh_free(&mesh);
    if (status != YW_OK) assert_int_equal(status, YW_ERR_MEMORY);
    assert_int_equal(memory.alive, 0);
  }
  assert_int_equal(status, YW_OK);
  yw_shape_release(shape);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(surfaces_of_primitives_are_closed_even_and_in_place),
      cmocka_unit_test(primitives_are_shown_with_few_triangles),
      cmocka_unit_test(other_shapes_are_shown_as_their_surfaces),
      cmocka_unit_test(sharp_edges_are_kept),
      cmocka_unit_test(tangled_shapes_still_give_manifolds),
      cmocka_unit_test(sheets_that_touch_are_parted),
      cmocka_unit_test(hostile_requests_are_refused),
      cmocka_unit_test(running_out_of_memory_is_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
