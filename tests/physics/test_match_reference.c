// SPDX-License-Identifier: MIT
// The kernels against the plain scalar reference of the benchmarks.
#include "reference/match_reference.h"
#include "support/test_match.h"

static int32_t lattice_width;  // 0: rings of tets

static void assert_same_motion(int num_examples, int example, float viscosity, float tolerance) {
  match_case c;
  case_begin(&c, 4, 8, 4);
  if (num_examples > 0) case_add_example(&c, YW_DEFORM_TWIST, 1.0f);
  if (num_examples > 1) case_add_example(&c, YW_DEFORM_S_BEND, 0.6f);
  if (num_examples > 2) case_add_example(&c, YW_DEFORM_SQUASH, 0.3f);
  c.def.params.viscosity = viscosity;
  const int32_t cells[3] = {4, 8, 4};
  int32_t corners[8 * 128];
  if (lattice_width > 0) {
    yw_lattice_cells(cells, corners);
    c.def.cells = corners;
    c.def.num_cells = 128;
    c.def.region_width = lattice_width;
  }
  case_build(&c);
  reference_body* reference = reference_create(&c.def, true);
  assert_non_null(reference);
  case_place(&c, example >= 0 ? c.examples[example] : NULL, some_rotation(), (yw_vec3){0, 1, 0});
  for (int32_t v = 0; v < c.mesh.num_vertices; ++v) {
    // Falling, spinning, and squeezed a little.
    yw_vec4* x = &c.particles.pos[c.order[v]];
    x->x *= 1.1f;
    yw_vec3 spin = yw_cross((yw_vec3){1, -2, 3}, yw_xyz(*x));
    c.particles.vel[c.order[v]] = yw_v4(yw_add(spin, (yw_vec3){0, -1, 0.5f}));
    reference_positions(reference)[v] = yw_xyz(*x);
    reference_velocities(reference)[v] = yw_xyz(c.particles.vel[c.order[v]]);
  }
  yw_match_method.invalidate(c.state, &c.particles);
  c.ctx.gravity = (yw_vec3){0, -9.81f, 0};
  reference_step_def step = {.h = c.ctx.h, .gravity = c.ctx.gravity, .floor = -INFINITY};
  for (int s = 0; s < 40; ++s) {
    case_step(&c, 1);
    reference_step(reference, &step);
    float w[4];
    yw_match_weights(c.state, w, 4);
    for (int k = 0; num_examples > 0 && k <= num_examples; ++k) {
      assert_near(w[k], reference_weights(reference)[k], 2e-3);
    }
  }
  for (int32_t v = 0; v < c.mesh.num_vertices; ++v) {
    yw_vec3 x = yw_xyz(c.particles.pos[c.order[v]]);
    assert_at_most(yw_distance(x, reference_positions(reference)[v]), tolerance * c.size);
  }
  reference_destroy(reference);
  case_end(&c);
}

static void plain_matching_moves_as_the_reference(void** state) {
  (void)state;
  assert_same_motion(0, -1, 0.0f, 1e-4f);
}

static void examples_move_as_the_reference(void** state) {
  (void)state;
  assert_same_motion(1, -1, 0.0f, 2e-4f);
  assert_same_motion(2, 0, 0.0f, 2e-4f);
  assert_same_motion(3, 1, 0.0f, 2e-4f);
}

static void viscous_bodies_move_as_the_reference(void** state) {
  (void)state;
  assert_same_motion(0, -1, 0.004f, 2e-4f);
  assert_same_motion(2, 0, 0.004f, 4e-4f);
}

// Regions of a lattice, of one and of two cells around a vertex: the reference finds its members by
// their distance.
static void lattices_move_as_the_reference(void** state) {
  (void)state;
  for (int32_t width = 1; width <= 2; ++width) {
    lattice_width = width;
    assert_same_motion(0, -1, 0.0f, 2e-4f);
    assert_same_motion(2, 0, 0.0f, 3e-4f);
  }
  lattice_width = 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_matching_moves_as_the_reference),
      cmocka_unit_test(examples_move_as_the_reference),
      cmocka_unit_test(viscous_bodies_move_as_the_reference),
      cmocka_unit_test(lattices_move_as_the_reference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
