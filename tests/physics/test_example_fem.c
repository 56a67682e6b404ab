// SPDX-License-Identifier: MIT
// Example-based finite elements (Martin et al. 2011, Schumacher et al. 2012), which the papers'
// claims about speed are measured against: forces are gradients, examples attract.
#include "reference/examples/example_fem.h"
#include "support/testing.h"
#include "yawara/pose.h"

#define EXAMPLES 2

typedef struct example_bar {
  yw_tet_mesh mesh;
  yw_vec3* poses[EXAMPLES];
  example_fem_def def;
  example_fem* body;
  int32_t n;  // coordinates
} example_bar;

static void deform(const example_bar* b, yw_deform_kind kind, float amount, yw_vec3* points) {
  yw_deform d = yw_default_deform(kind);
  d.amount = amount;
  assert_int_equal(yw_deform_apply(&d, b->mesh.num_vertices, points, points, NULL), YW_OK);
}

// A bar of 2 x 4 x 2 cells; examples: twisted and squashed, bent.
static void bar_begin(example_bar* b, int32_t num_examples, example_fem_kind kind) {
  const int32_t cells[3] = {2, 4, 2};
  *b = (example_bar){.def = example_fem_default_def()};
  yw_aabb box = {{-0.5f, -1, -0.5f}, {0.5f, 1, 0.5f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &b->mesh), YW_OK);
  for (int k = 0; k < EXAMPLES; ++k) {
    b->poses[k] = malloc(sizeof(yw_vec3) * (size_t)b->mesh.num_vertices);
    memcpy(b->poses[k], b->mesh.positions, sizeof(yw_vec3) * (size_t)b->mesh.num_vertices);
  }
  deform(b, YW_DEFORM_TWIST, 1.5f, b->poses[0]);
  deform(b, YW_DEFORM_SQUASH, 0.3f, b->poses[0]);
  deform(b, YW_DEFORM_BEND, 1.2f, b->poses[1]);
  b->def.mesh = &b->mesh;
  b->def.num_examples = num_examples;
  b->def.examples = (const yw_vec3* const*)b->poses;
  b->def.kind = kind;
  b->n = 3 * b->mesh.num_vertices;
}

static void bar_make(example_bar* b) {
  yw_error error = {0};
  if (example_fem_create(&b->def, &b->body, &error) < 0) fail_msg("%s", error.message);
}

static void bar_end(example_bar* b) {
  example_fem_destroy(b->body);
  for (int k = 0; k < EXAMPLES; ++k) free(b->poses[k]);
  yw_tet_mesh_free(&b->mesh);
}

// Part of the way to a pose, shaken.
static void bar_place(example_bar* b, const yw_vec3* pose, double share, double shake) {
  test_random random = {7};
  double* x = example_fem_positions(b->body);
  for (int32_t i = 0; i < b->n; ++i) {
    double rest = (double)(&b->mesh.positions[i / 3].x)[i % 3];
    double there = (double)(&pose[i / 3].x)[i % 3];
    x[i] = rest + share * (there - rest) + test_random_in(&random, -shake, shake);
  }
}

// Forces are the gradient of the energy *with weights found again*: the nearest preferred shape
// minimises the distance, so its own motion does not count.
static void assert_forces(int32_t num_examples, example_fem_kind kind, bool per_tet) {
  example_bar b;
  bar_begin(&b, num_examples, kind);
  b.def.per_tet = per_tet;
  bar_make(&b);
  bar_place(&b, b.poses[0], 0.4, 0.02);
  double *forces = malloc(sizeof(double) * (size_t)b.n), *x = example_fem_positions(b.body);
  assert_true(example_fem_project(b.body, 300, 1e-11));
  example_fem_energy(b.body, forces);
  double largest = 0, worst = 0;
  const double step = 1e-4;
  for (int32_t i = 0; i < b.n; i += 7) {
    double x0 = x[i], energy[2];
    for (int side = 0; side < 2; ++side) {
      x[i] = x0 + (side ? step : -step);
      assert_true(example_fem_project(b.body, 300, 1e-11));
      energy[side] = example_fem_energy(b.body, NULL);
    }
    x[i] = x0;
    largest = fmax(largest, fabs(forces[i]));
    worst = fmax(worst, fabs(forces[i] + (energy[1] - energy[0]) / (2 * step)));
  }
  // Central differences are off by about step^2 of the forces' own scale.
  assert_at_most(worst, 1e-5 * largest);
  free(forces);
  bar_end(&b);
}

static void forces_are_gradients(void** state) {
  (void)state;
  assert_forces(0, EXAMPLE_FEM_MARTIN, false);
  assert_forces(1, EXAMPLE_FEM_MARTIN, false);
  assert_forces(2, EXAMPLE_FEM_MARTIN, false);
  assert_forces(1, EXAMPLE_FEM_SCHUMACHER, false);
  assert_forces(2, EXAMPLE_FEM_SCHUMACHER, false);
  assert_forces(2, EXAMPLE_FEM_SCHUMACHER, true);
}

static void stiffness_is_the_derivative_of_forces(void** state) {
  (void)state;
  example_bar b;
  bar_begin(&b, 1, EXAMPLE_FEM_SCHUMACHER);
  bar_make(&b);
  bar_place(&b, b.poses[0], 0.5, 0.03);
  example_fem_project(b.body, 1, 1.0);
  double* work = malloc(4 * sizeof(double) * (size_t)b.n);
  double *d = work, *kd = d + b.n, *plus = kd + b.n, *minus = plus + b.n;
  double* x = example_fem_positions(b.body);
  test_random random = {3};
  for (int32_t i = 0; i < b.n; ++i) d[i] = test_random_in(&random, -1, 1);
  example_fem_stiffness_times(b.body, d, kd);
  const double step = 1e-5;
  for (int32_t i = 0; i < b.n; ++i) x[i] += step * d[i];
  example_fem_energy(b.body, plus);
  for (int32_t i = 0; i < b.n; ++i) x[i] -= 2 * step * d[i];
  example_fem_energy(b.body, minus);
  double largest = 0, worst = 0;
  for (int32_t i = 0; i < b.n; ++i) {
    largest = fmax(largest, fabs(kd[i]));
    worst = fmax(worst, fabs(kd[i] + (plus[i] - minus[i]) / (2 * step)));
  }
  assert_at_most(worst, 1e-7 * largest);
  free(work);
  bar_end(&b);
}

// An example's own pose is on the manifold: weight 1, and the target is that pose.
static void pose_of_an_example_projects_to_it(void** state) {
  (void)state;
  for (int kind = EXAMPLE_FEM_MARTIN; kind <= EXAMPLE_FEM_SCHUMACHER; ++kind) {
    for (int k = 0; k < EXAMPLES; ++k) {
      example_bar b;
      bar_begin(&b, EXAMPLES, kind);
      b.def.beta = 1.0;
      b.def.volume_modulus = 0.0;
      bar_make(&b);
      bar_place(&b, b.poses[k], 1.0, 0.0);
      assert_true(example_fem_project(b.body, 300, 1e-10));
      assert_near(example_fem_weights(b.body, 0)[k], 1.0, 1e-6);
      // Young's modulus times the volume, 2 m^3, is 2e5 J.
      assert_at_most(example_fem_energy(b.body, NULL), 1e-5);
      bar_end(&b);
    }
  }
}

// Twist of the top against the bottom, rad.
static double twist_of(const example_bar* b) {
  const double* x = example_fem_positions(b->body);
  double turn[2] = {0};
  for (int end = 0; end < 2; ++end) {
    double sine = 0, cosine = 0, center[2] = {0};
    for (int pass = 0; pass < 2; ++pass) {
      int found = 0;
      for (int32_t v = 0; v < b->mesh.num_vertices; ++v) {
        yw_vec3 q = b->mesh.positions[v];
        if (fabs((double)q.y - (end ? 1.0 : -1.0)) > 0.01) continue;
        double px = x[3 * v], pz = x[3 * v + 2];
        found++;
        if (pass == 0) center[0] += px, center[1] += pz;
        px -= center[0], pz -= center[1];
        sine += (double)q.z * px - (double)q.x * pz;
        cosine += (double)q.x * px + (double)q.z * pz;
      }
      if (pass == 0) {
        center[0] /= found, center[1] /= found;
        sine = cosine = 0;
      }
    }
    turn[end] = atan2(sine, cosine);
  }
  return turn[1] - turn[0];
}

// A bar under its own weight twists towards its example, and not without; the energy of the
// stressed body is lower in the example than without.
static void examples_attract(void** state) {
  (void)state;
  double twist[3];
  for (int method = 0; method < 3; ++method) {
    example_bar b;
    bar_begin(&b, method > 0, method == 1 ? EXAMPLE_FEM_MARTIN : EXAMPLE_FEM_SCHUMACHER);
    // 35 times rho g L: stiff without the example, a twentieth of that along it.
    b.def.youngs_modulus = 35 * 1000 * 9.81 * 2;
    b.def.volume_modulus = 0.3 * b.def.youngs_modulus;
    b.def.damping = 8;
    bar_make(&b);
    const example_fem_step_def step = {.h = 1.0 / 60, .gravity = 9.81, .floor = -1.0};
    for (int i = 0; i < 90; ++i) assert_true(example_fem_step(b.body, &step, NULL) >= 0);
    twist[method] = twist_of(&b);
    bar_end(&b);
  }
  assert_near(twist[0], 0.0, 0.01);
  assert_at_least(twist[1], 0.3);
  assert_at_least(twist[2], 0.3);
}

// Elastic forces have no sum and no torque, wherever the target comes from.
static void forces_are_balanced(void** state) {
  (void)state;
  for (int kind = EXAMPLE_FEM_MARTIN; kind <= EXAMPLE_FEM_SCHUMACHER; ++kind) {
    example_bar b;
    bar_begin(&b, EXAMPLES, kind);
    bar_make(&b);
    bar_place(&b, b.poses[0], 0.6, 0.03);
    example_fem_project(b.body, 3, 1e-6);
    double *forces = malloc(sizeof(double) * (size_t)b.n), sums[6] = {0}, largest = 0;
    const double* x = example_fem_positions(b.body);
    example_fem_energy(b.body, forces);
    for (int32_t i = 0; i < b.n; ++i) {
      int32_t v = i - i % 3, p = (i + 1) % 3, q = (i + 2) % 3;
      sums[i % 3] += forces[i];
      sums[3 + i % 3] += x[v + p] * forces[v + q] - x[v + q] * forces[v + p];
      largest = fmax(largest, fabs(forces[i]));
    }
    for (int c = 0; c < 6; ++c) assert_near(sums[c], 0.0, 1e-11 * largest);
    free(forces);
    bar_end(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forces_are_gradients),
      cmocka_unit_test(stiffness_is_the_derivative_of_forces),
      cmocka_unit_test(pose_of_an_example_projects_to_it),
      cmocka_unit_test(examples_attract),
      cmocka_unit_test(forces_are_balanced),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
