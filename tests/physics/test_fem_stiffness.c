// SPDX-License-Identifier: MIT
// Small deformations of linear tets: the element matrix against the energy, patch tests, a bar.
#include "methods/fem/stiffness.h"

#include "support/fem_samples.h"

static const yw_dvec3 corners[4] = {
    {0.1, 0.2, -0.1}, {1.3, 0.1, 0.2}, {0.2, 0.9, 0.3}, {0.4, 0.3, 1.1}};

// Energy of St-Venant-Kirchhoff material in a tet moved to x + u.
static double energy_of(const yw_dvec3 x[4], const yw_sym6* c, const double u[12]) {
  yw_dvec3 g[4];
  double volume = fabs(yw_tet_gradients(x, g)), f[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, e[9], s[6];
  for (int a = 0; a < 4; ++a) {
    for (int i = 0; i < 3; ++i) {
      f[3 * i] += u[3 * a + i] * g[a].x;
      f[3 * i + 1] += u[3 * a + i] * g[a].y;
      f[3 * i + 2] += u[3 * a + i] * g[a].z;
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      e[3 * i + j] = 0.5 * (f[i] * f[j] + f[3 + i] * f[3 + j] + f[6 + i] * f[6 + j] - (i == j));
    }
  }
  const double green[6] = {e[0], e[4], e[8], 2 * e[5], 2 * e[2], 2 * e[1]};
  double sum = 0.0;
  yw_sym6_apply(c, green, s);
  for (int k = 0; k < 6; ++k) sum += 0.5 * s[k] * green[k];
  return volume * sum;
}

static void element_matrix_is_the_second_derivative_of_the_energy(void** state) {
  (void)state;
  test_random random = {11};
  yw_sym6 c = test_anisotropic(&random, 10.0);
  double matrix[144], size = 0.0;
  yw_fem_element_matrix(corners, &c, matrix);
  for (int k = 0; k < 144; ++k) size = fmax(size, fabs(matrix[k]));
  const double h = 1e-4;
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 12; ++j) {
      double sum = 0.0;
      for (int k = 0; k < 4; ++k) {
        double u[12] = {0};
        u[i] += k & 1 ? h : -h;
        u[j] += k & 2 ? h : -h;
        sum += (k == 0 || k == 3 ? 1.0 : -1.0) * energy_of(corners, &c, u);
      }
      assert_near(matrix[12 * i + j], sum / (4 * h * h), 2e-7 * size);
    }
  }
}

static void element_matrix_ignores_rigid_motions_and_orientation(void** state) {
  (void)state;
  test_random random = {12};
  yw_sym6 c = test_anisotropic(&random, 1.0);
  double matrix[144], turned[144];
  yw_fem_element_matrix(corners, &c, matrix);
  for (int m = 0; m < 6; ++m) {
    double u[12];
    for (int a = 0; a < 4; ++a) {
      yw_dvec3 axis = {m == 3, m == 4, m == 5}, spin = yw_dcross(axis, corners[a]);
      u[3 * a] = spin.x + (m == 0), u[3 * a + 1] = spin.y + (m == 1);
      u[3 * a + 2] = spin.z + (m == 2);
    }
    for (int i = 0; i < 12; ++i) {
      double sum = 0.0;
      for (int j = 0; j < 12; ++j) sum += matrix[12 * i + j] * u[j];
      assert_near(sum, 0.0, 1e-13);
    }
  }
  // Corners 2 and 3 exchanged: the same matrix with those rows exchanged.
  const yw_dvec3 other[4] = {corners[0], corners[1], corners[3], corners[2]};
  const int node[4] = {0, 1, 3, 2};
  yw_fem_element_matrix(other, &c, turned);
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 12; ++j) {
      int p = 3 * node[i / 3] + i % 3, q = 3 * node[j / 3] + j % 3;
      assert_near(turned[12 * p + q], matrix[12 * i + j], 1e-13);
    }
  }
}

typedef struct sample_solid {
  yw_tet_mesh mesh;
  yw_dvec3* x;
  yw_sym6* c;
  yw_fem_solid solid;
} sample_solid;

static sample_solid make_solid(yw_tet_mesh mesh, yw_sym6 c) {
  sample_solid s = {mesh,
                    calloc(mesh.num_vertices, sizeof(yw_dvec3)),
                    calloc(mesh.num_tets, sizeof(yw_sym6)),
                    {0}};
  for (int32_t i = 0; i < mesh.num_vertices; ++i) s.x[i] = yw_d3(mesh.positions[i]);
  for (int32_t t = 0; t < mesh.num_tets; ++t) s.c[t] = c;
  s.solid = (yw_fem_solid){mesh.num_vertices, mesh.num_tets, s.x, mesh.tets, s.c};
  return s;
}

static void free_solid(sample_solid* s) {
  yw_tet_mesh_free(&s->mesh);
  free(s->x);
  free(s->c);
}

// Uniform stress in a homogeneous body of any mesh: the strain is C^-1 stress in every tet.
static void uniform_stress_gives_uniform_strain(void** state) {
  (void)state;
  test_random random = {13};
  yw_sym6 c = test_anisotropic(&random, 1e5);
  sample_solid s = make_solid(test_box(4, 3, 2, YW_LATTICE_FIVE, 0.15, true, 5), c);
  yw_error error = {0};
  yw_fem_statics statics;
  must(yw_fem_statics_create(NULL, NULL, YW_SIMD_AUTO, &s.solid, NULL, &statics, &error), &error);
  yw_mat6 stress = yw_sym6_full(&c);  // so the strain matrix must be the identity
  double* u = malloc(18 * s.solid.num_nodes * sizeof *u);
  yw_fem_uniform_stress(&s.solid, &stress, u);
  must(yw_fem_statics_solve(&statics, NULL, 6, u, u, &error), &error);
  for (int32_t t = 0; t < s.solid.num_tets; ++t) {
    double h[54], e[6];
    yw_fem_tet_gradients_of(&s.solid, u, t, h);
    for (int m = 0; m < 6; ++m) {
      yw_strain_of_gradient(h + 9 * m, e);
      for (int k = 0; k < 6; ++k) assert_near(e[k], k == m, 1e-10);
    }
  }
  free(u);
  yw_fem_statics_free(&statics);
  free_solid(&s);
}

// The loads of a uniform stress have no net force or torque and vanish at interior nodes.
static void loads_of_uniform_stress_balance(void** state) {
  (void)state;
  sample_solid s =
      make_solid(test_box(3, 3, 3, YW_LATTICE_FIVE, 0.15, false, 6), yw_sym6_isotropic(1.0, 0.3));
  test_random random = {14};
  yw_mat6 stress;
  for (int k = 0; k < 36; ++k) stress.m[k] = test_random_in(&random, -1, 1);
  double* f = malloc(18 * s.solid.num_nodes * sizeof *f);
  yw_fem_uniform_stress(&s.solid, &stress, f);
  for (int m = 0; m < 6; ++m) {
    yw_dvec3 force = {0, 0, 0}, moment = {0, 0, 0};
    for (int32_t i = 0; i < s.solid.num_nodes; ++i) {
      yw_dvec3 x = s.x[i], load = {f[18 * i + m], f[18 * i + 6 + m], f[18 * i + 12 + m]};
      force = yw_dadd(force, load);
      moment = yw_dadd(moment, yw_dcross(x, load));
      bool inside = x.x > 0.5 && x.x < 2.5 && x.y > 0.5 && x.y < 2.5 && x.z > 0.5 && x.z < 2.5;
      if (inside) assert_near(yw_dlength(load), 0.0, 1e-13);
    }
    assert_near(yw_dlength(force), 0.0, 1e-12);
    assert_near(yw_dlength(moment), 0.0, 1e-12);
  }
  free(f);
  free_solid(&s);
}

// A bar held at one end and pulled with traction p: p L / E without lateral constraint.
static void pulled_bar_has_the_analytic_length(void** state) {
  (void)state;
  const double youngs = 2e5, traction = 50.0;
  sample_solid s =
      make_solid(test_box(6, 1, 2, YW_LATTICE_FIVE, 0, false, 1), yw_sym6_isotropic(youngs, 0.0));
  bool* fixed = calloc(3 * s.solid.num_nodes, sizeof *fixed);
  double* loads = calloc(3 * s.solid.num_nodes, sizeof *loads);
  for (int32_t i = 0; i < s.solid.num_nodes; ++i) {
    if (s.x[i].x == 0) fixed[3 * i] = fixed[3 * i + 1] = fixed[3 * i + 2] = true;
  }
  for (int32_t t = 0; t < s.solid.num_tets; ++t) {
    yw_dvec3 p[4], g[4];
    const double pull[6] = {traction, 0, 0, 0, 0, 0};
    for (int a = 0; a < 4; ++a) p[a] = s.x[s.mesh.tets[4 * t + a]];
    double volume = fabs(yw_tet_gradients(p, g));
    for (int a = 0; a < 4; ++a) {
      loads[3 * s.mesh.tets[4 * t + a]] += volume * yw_stress_on_node(pull, g[a]).x;
    }
  }
  yw_error error = {0};
  yw_fem_statics statics;
  must(yw_fem_statics_create(NULL, NULL, YW_SIMD_AUTO, &s.solid, fixed, &statics, &error), &error);
  must(yw_fem_statics_solve(&statics, NULL, 1, loads, loads, &error), &error);
  for (int32_t i = 0; i < s.solid.num_nodes; ++i) {
    assert_near(loads[3 * i], traction / youngs * s.x[i].x, 1e-12);
    assert_near(loads[3 * i + 1], 0.0, 1e-12);
  }
  yw_fem_statics_free(&statics);
  free(fixed);
  free(loads);
  free_solid(&s);
}

static void threads_and_instruction_sets_give_the_same_bits(void** state) {
  (void)state;
  test_random random = {15};
  sample_solid s =
      make_solid(test_box(7, 6, 5, YW_LATTICE_FIVE, 0.1, true, 8), yw_sym6_isotropic(1e5, 0.3));
  for (int32_t t = 0; t < s.solid.num_tets; ++t) s.c[t] = test_anisotropic(&random, 1e4);
  size_t room = 18 * (size_t)s.solid.num_nodes;
  double *u = malloc(room * sizeof *u), *v = malloc(room * sizeof *v);
  yw_error error = {0};
  yw_mat6 stress = yw_sym6_full(s.c);
  for (int run = 0; run < 2; ++run) {
    yw_tasks* tasks = run ? yw_tasks_create(NULL, 3) : NULL;
    yw_fem_statics statics;
    must(yw_fem_statics_create(NULL, tasks, run ? YW_SIMD_PLAIN : YW_SIMD_AUTO, &s.solid, NULL,
                               &statics, &error),
         &error);
    double* to = run ? v : u;
    yw_fem_uniform_stress(&s.solid, &stress, to);
    must(yw_fem_statics_solve(&statics, tasks, 6, to, to, &error), &error);
    yw_fem_statics_free(&statics);
    yw_tasks_destroy(tasks);
  }
  assert_memory_equal(u, v, room * sizeof *u);
  free(u);
  free(v);
  free_solid(&s);
}

// Two tets that share an edge can rotate about it: an error, and the message names a row.
static void a_hinge_is_refused(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  const yw_vec3 p[6] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}};
  const int32_t tets[8] = {0, 1, 3, 2, 0, 1, 5, 4};
  assert_int_equal(yw_tet_mesh_create(NULL, 6, 2, &mesh), YW_OK);
  memcpy(mesh.positions, p, sizeof p);
  memcpy(mesh.tets, tets, sizeof tets);
  sample_solid s = make_solid(mesh, yw_sym6_isotropic(1.0, 0.3));
  yw_error error = {0};
  yw_fem_statics statics;
  assert_int_equal(
      yw_fem_statics_create(NULL, NULL, YW_SIMD_AUTO, &s.solid, NULL, &statics, &error),
      YW_ERR_DIVERGED);
  assert_null(statics.factor);
  free_solid(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(element_matrix_is_the_second_derivative_of_the_energy),
      cmocka_unit_test(element_matrix_ignores_rigid_motions_and_orientation),
      cmocka_unit_test(uniform_stress_gives_uniform_strain),
      cmocka_unit_test(loads_of_uniform_stress_balance),
      cmocka_unit_test(pulled_bar_has_the_analytic_length),
      cmocka_unit_test(threads_and_instruction_sets_give_the_same_bits),
      cmocka_unit_test(a_hinge_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
