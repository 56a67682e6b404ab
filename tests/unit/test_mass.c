// SPDX-License-Identifier: MIT
// Volume, centre and moments of solids against the formulas, and axes of inertia.
#include "geometry/mass.h"

#include "support/mesh_testing.h"

#define PI 3.14159265358979

static void check(const yw_solid_moments* m, double volume, const double center[3],
                  const double second[6], double tolerance) {
  double size = cbrt(volume);
  assert_near(m->volume / volume, 1, tolerance);
  for (int k = 0; k < 3; ++k) assert_near(m->first[k] / volume, center[k], tolerance * size);
  for (int k = 0; k < 6; ++k) {
    assert_near(m->second[k] / volume, second[k], tolerance * size * size);
  }
}

// A tet with a right angle, away from the origin: the integrals of products over it.
static void moments_of_a_tet_are_exact(void** state) {
  (void)state;
  yw_vec3 positions[4] = {{1, 2, 3}, {3, 2, 3}, {1, 5, 3}, {1, 2, 7}};
  int32_t triangles[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
  yw_tri_mesh mesh = {
      .positions = positions, .num_vertices = 4, .triangles = triangles, .num_triangles = 4};
  yw_solid_moments m = yw_surface_moments(&mesh);
  const double side[3] = {2, 3, 4}, corner[3] = {1, 2, 3};
  double center[3], second[6];
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  for (int k = 0; k < 3; ++k) center[k] = corner[k] + side[k] / 4;
  // Over the tet, <u_i u_j> is side^2 / 10 or side_i side_j / 20.
  for (int n = 0; n < 6; ++n) {
    int i = row[n], j = column[n];
    second[n] = corner[i] * corner[j] + corner[i] * side[j] / 4 + corner[j] * side[i] / 4 +
                side[i] * side[j] / (i == j ? 10 : 20);
  }
  check(&m, 4, center, second, 1e-12);
  int32_t edge[2];
  yw_status status;
  assert_false(yw_surface_open_edge(&mesh, NULL, edge, &status));
  // Inside out, and open.
  for (int t = 0; t < 4; ++t) {
    int32_t v = triangles[3 * t];
    triangles[3 * t] = triangles[3 * t + 1], triangles[3 * t + 1] = v;
  }
  assert_near(yw_surface_moments(&mesh).volume, -4, 1e-12);
  assert_false(yw_surface_open_edge(&mesh, NULL, edge, &status));
  mesh.num_triangles = 3;
  assert_true(yw_surface_open_edge(&mesh, NULL, edge, &status));
  assert_int_equal(edge[0], 0);
  assert_int_equal(edge[1], 2);
}

// Coarse surfaces of round shapes: extrapolated, the integrals are those of the shape.
static void moments_of_shapes_are_those_of_the_formulas(void** state) {
  (void)state;
  const double zero[3] = {0};
  yw_shape* shapes[3];
  yw_shape_sphere(NULL, 0.5f, &shapes[0]);
  yw_shape_cylinder(NULL, 0.3f, 0.4f, &shapes[1]);
  yw_shape_torus(NULL, 0.5f, 0.2f, &shapes[2]);
  const double volumes[3] = {4 * PI / 3 * 0.125, PI * 0.09 * 0.8, 2 * PI * PI * 0.5 * 0.04};
  const double second[3][6] = {{0.05, 0.05, 0.05},
                               {0.0225, 0.16 / 3, 0.0225},
                               {0.125 + 3 * 0.04 / 8, 0.01, 0.125 + 3 * 0.04 / 8}};
  for (int i = 0; i < 3; ++i) {
    yw_tri_mesh surface;
    assert_int_equal(yw_shape_surface(shapes[i], NULL, 0.1f, &surface, NULL), YW_OK);
    yw_solid_moments m = yw_shape_moments(&surface, shapes[i]);
    // The surface itself is off by ten times as much or more.
    check(&m, volumes[i], zero, second[i], 2e-4);
    assert_at_least(fabs(yw_surface_moments(&surface).volume / volumes[i] - 1), 2e-3);
    yw_tri_mesh_free(&surface);
    yw_shape_release(shapes[i]);
  }
}

// Turned by the axes, the moments are the matrix again.
static void axes_diagonalise_any_matrix(void** state) {
  (void)state;
  test_random random = {11};
  for (int round = 0; round < 200; ++round) {
    // Some with equal moments, some diagonal, some of very different size.
    double a[6], m[3], q[4], most = 0;
    for (int k = 0; k < 6; ++k) {
      a[k] = test_random_in(&random, -1, 1) * (round % 3 == 2 ? pow(10, k - 3) : 1);
      if (k >= 3 && round % 4 == 1) a[k] = 0;
      if (k >= 1 && k < 3 && round % 5 == 2) a[k] = a[0];
      most = fmax(most, fabs(a[k]));
    }
    yw_principal_axes(a, m, q);
    double x = q[0], y = q[1], z = q[2], w = q[3];
    assert_near(x * x + y * y + z * z + w * w, 1, 1e-12);
    const double r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                            {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                            {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int n = 0; n < 6; ++n) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) sum += r[row[n]][k] * m[k] * r[column[n]][k];
      assert_near(sum, a[n], 1e-12 * most);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moments_of_a_tet_are_exact),
      cmocka_unit_test(moments_of_shapes_are_those_of_the_formulas),
      cmocka_unit_test(axes_diagonalise_any_matrix),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
