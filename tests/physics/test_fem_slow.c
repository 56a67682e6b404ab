// SPDX-License-Identifier: MIT
// Fem bodies that are deformed so far that they would need hundreds of times as many inner steps as
// at rest: they take a bounded number, and move in slow motion.
#include <string.h>

#include "support/fem_bar.h"
#include "yawara/fem.h"

#define DT (1.0f / 60)
#define MOST 4096  // inner steps of a substep

// A stiff light block in space; its first level has a tet for every tenth of a metre.
static yw_model* stiff_block(float modulus) {
  yw_fem_def def = yw_default_fem_def();
  def.youngs_modulus = modulus;
  def.density = 20.0f;
  def.max_level = 1;
  def.params.mass_damping = 0.0f;
  static const int32_t cells[3] = {2, 2, 2};
  const yw_aabb box = {{-0.2f, -0.2f, -0.2f}, {0.2f, 0.2f, 0.2f}};
  return make_fem_model(&def, cells, box);
}

static double missed_of(const yw_world* world, yw_body_id body) {
  yw_statistics now = {0};
  assert_int_equal(yw_body_statistics_of(world, body, &now), YW_OK);
  for (int32_t i = 0; i < now.count; ++i) {
    if (strcmp(now.items[i].name, "missed") == 0) return now.items[i].value;
  }
  fail_msg("no column says what the body missed");
  return 0;
}

static double energy_of(const yw_world* world, yw_body_id body) {
  yw_body_energy e;
  assert_int_equal(yw_body_energy_of(world, body, &e), YW_OK);
  return e.kinetic + e.elastic;
}

// Ten times as long, and going sideways at 3 m/s.
static void pull(yw_world* world, yw_body_id body) {
  int32_t count;
  const yw_vec3* rest = yw_body_positions(world, body, &count);
  yw_vec3* x = malloc(2 * sizeof *x * (size_t)count);
  for (int32_t i = 0; i < count; ++i) {
    x[i] = (yw_vec3){10 * rest[i].x, rest[i].y, rest[i].z};
    x[count + i] = (yw_vec3){0, 3.0f, 0};
  }
  assert_int_equal(yw_body_set_state(world, body, x, x + count), YW_OK);
  free(x);
}

// A step of the world has at most MOST inner steps per substep, the body says by how much it fell
// behind, and keeps its momentum and energy.
static void pulled_bodies_move_in_slow_motion(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  assert_int_equal(yw_world_set_gravity(world, (yw_vec3){0, 0, 0}), YW_OK);
  yw_model* model = stiff_block(1e7f);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  pull(world, body);
  yw_body_sums sums;
  assert_int_equal(yw_body_sums_of(world, body, &sums), YW_OK);
  double energy = 0, mass = sums.mass, y = sums.center[1];
  for (int step = 0; step < 10; ++step) {
    int64_t before = fem_state_of(world, body).inner_steps;
    int32_t substeps = 1 + step % 2;
    assert_true(yw_world_step(world, DT, substeps, NULL) >= 0);
    assert_in_range(fem_state_of(world, body).inner_steps - before, MOST, MOST * substeps);
    double missed = missed_of(world, body);
    assert_at_least(missed, 0.5 * (double)DT / substeps);
    assert_at_most(missed, 0.999 * (double)DT / substeps);
    assert_int_equal(yw_body_sums_of(world, body, &sums), YW_OK);
    // Rounding of velocities of some km/s.
    assert_near(sums.momentum[1] / mass, 3.0, 0.02);
    // It went as far as the time that it did not miss.
    double way = 3.0 * ((double)DT - missed);
    if (substeps == 1) assert_near(sums.center[1] - y, way, 0.02 * way);
    y = sums.center[1];
    // The first tets to be split and pushed apart take their share in the first step.
    if (step == 0) energy = energy_of(world, body);
    assert_near(energy_of(world, body) / energy, 1.0, 5e-3);
  }
  yw_world_destroy(world);
  yw_model_release(model);
}

// What needs as many steps at rest takes them: nothing is missed.
static void stiff_bodies_at_rest_miss_nothing(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = stiff_block(2e10f);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  assert_true(yw_world_step(world, DT, 1, NULL) >= 0);
  assert_at_least(fem_state_of(world, body).inner_steps, 1.2 * MOST);
  assert_near(missed_of(world, body), 0, 0);
  yw_body_sums sums;
  assert_int_equal(yw_body_sums_of(world, body, &sums), YW_OK);
  assert_near(sums.momentum[1] / sums.mass, -9.81 * (double)DT, 1e-3);
  yw_world_destroy(world);
  yw_model_release(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pulled_bodies_move_in_slow_motion),
                                     cmocka_unit_test(stiff_bodies_at_rest_miss_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
