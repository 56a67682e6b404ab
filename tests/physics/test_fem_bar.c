// SPDX-License-Identifier: MIT
// A bar bending under its weight, with default settings: adaptive against the finest mesh, coming
// to rest, and the effect of front changes on the energy.
#include "support/fem_energy.h"
#include "yawara/fem.h"

static yw_fem_def bar_def(float mass_damping) {
  yw_fem_def def = yw_default_fem_def();
  def.params.soften = YW_FEM_SOFTEN_FINEST;
  def.params.mass_damping = mass_damping;
  def.max_level = getenv("YW_TEST_FAST") ? 2 : 3;
  return def;
}

// First swing: the tip stays close to that of the finest mesh, with a fraction of its tets.
static void bar_swings_as_the_finest_mesh(void** state) {
  (void)state;
  yw_fem_def def = bar_def(1.0f);
  check_fem_swing(&def, 2, def.max_level == 3, 0.2);
}

// Tets times steps so far, and their values at the last frame.
static double work_of(const fem_test_bar* bar, int64_t* steps) {
  yw_fem_statistics s = fem_state_of(bar->world, bar->body);
  double work = (double)(s.inner_steps - *steps) * s.num_tets;
  *steps = s.inner_steps;
  return work;
}

// Under a small load the tip follows that of the finest mesh for an eighth of the work, because
// coarse tets are softened. Without softening it is far off.
static void small_loads_are_cheap(void** state) {
  (void)state;
  yw_fem_def def = bar_def(4.0f);
  def.params.sleep_speed = 0.0f;
  fem_test_bar coarse[2] = {make_fem_bar(&def, 1.0f)};
  def.params.refine = YW_FEM_REFINE_FINEST;
  fem_test_bar finest = make_fem_bar(&def, 1.0f);
  def.params.refine = YW_FEM_REFINE_NEVER;
  def.params.min_level = def.max_level - 1;
  def.params.soften = false;
  coarse[1] = make_fem_bar(&def, 1.0f);
  double worst[2] = {0}, deflection = 0.0, work[2] = {0};
  int64_t steps[2] = {0};
  for (int32_t i = 0; i < 96; ++i) {
    assert_int_equal(yw_world_step(finest.world, FEM_TEST_FRAME, 1, NULL), YW_OK);
    for (int k = 0; k < 2; ++k) {
      assert_int_equal(yw_world_step(coarse[k].world, FEM_TEST_FRAME, 1, NULL), YW_OK);
      worst[k] = fmax(worst[k], fem_tip_error(&coarse[k], &finest, &deflection));
    }
    work[0] += work_of(&coarse[0], &steps[0]);
    work[1] += work_of(&finest, &steps[1]);
  }
  if (def.max_level == 3) {
    assert_at_most(worst[0] / deflection, 0.01);
    assert_at_least(worst[1] / deflection, 0.1);
    assert_at_most(work[0] / work[1], 1.0 / 8.0);
  }
  free_fem_bar(&finest);
  for (int k = 0; k < 2; ++k) free_fem_bar(&coarse[k]);
}

// Damped to rest: within 1 % of the finest mesh, the front does not change during the last second,
// and the body falls asleep.
static void check_rest(float tau, double share) {
  yw_fem_def def = bar_def(12.0f);
  def.params.sleep_speed = 0.0f;
  def.params.tau = tau;
  fem_test_bar adaptive = make_fem_bar(&def, 9.81f);
  def.params.refine = YW_FEM_REFINE_FINEST;
  fem_test_bar finest = make_fem_bar(&def, 9.81f);
  int64_t switches = 0;
  int32_t enough = getenv("YW_TEST_FAST") ? 240 : 480;
  for (int32_t i = 0; i < 480; ++i) {
    assert_int_equal(yw_world_step(adaptive.world, FEM_TEST_FRAME, 1, NULL), YW_OK);
    if (i < enough) assert_int_equal(yw_world_step(finest.world, FEM_TEST_FRAME, 1, NULL), YW_OK);
    yw_fem_statistics s = fem_state_of(adaptive.world, adaptive.body);
    if (i == 239) switches = s.splits + s.merges;
  }
  yw_fem_statistics s = fem_state_of(adaptive.world, adaptive.body);
  assert_int_equal(s.splits + s.merges, switches);
  double deflection = 0.0, error = fem_tip_error(&adaptive, &finest, &deflection);
  if (getenv("YW_TEST_FULL")) {
    print_message("tau %g: error %.2f %% at rest, %d tets\n", (double)tau,
                  100.0 * error / deflection, s.num_tets);
  }
  if (def.max_level == 3) {
    assert_at_most(error / deflection, 0.01);
    assert_at_most(s.num_tets / 20352.0, share);
  }
  yw_fem_params params;
  assert_int_equal(yw_body_fem_params(adaptive.world, adaptive.body, &params), YW_OK);
  params.sleep_speed = yw_default_fem_def().params.sleep_speed;
  assert_int_equal(yw_body_set_fem_params(adaptive.world, adaptive.body, &params), YW_OK);
  for (int32_t i = 0; i < 144; ++i) {
    assert_int_equal(yw_world_step(adaptive.world, FEM_TEST_FRAME, 1, NULL), YW_OK);
  }
  s = fem_state_of(adaptive.world, adaptive.body);
  assert_true(s.asleep);
  assert_int_equal(s.splits + s.merges, switches);
  free_fem_bar(&adaptive);
  free_fem_bar(&finest);
}

static void bar_comes_to_rest(void** state) {
  (void)state;
  check_rest(0.01f, 0.65);
  if (!getenv("YW_TEST_FAST")) check_rest(0.005f, 0.75);
}

// At any load the tip agrees with the finest mesh, from no finest tets to many. Not with
// YW_TEST_FAST.
static void all_loads_are_alike(void** state) {
  (void)state;
  if (getenv("YW_TEST_FAST")) skip();
  const float loads[5] = {0.5f, 2.0f, 4.0f, 7.0f, 15.0f};
  for (int i = 0; i < 5; ++i) {
    yw_fem_def def = bar_def(1.0f);
    fem_test_bar adaptive = make_fem_bar(&def, loads[i]);
    def.params.refine = YW_FEM_REFINE_FINEST;
    fem_test_bar finest = make_fem_bar(&def, loads[i]);
    double worst = 0.0, deflection = 0.0, tets = 0.0;
    for (int32_t k = 0; k < 96; ++k) {
      yw_world_step(finest.world, FEM_TEST_FRAME, 1, NULL);
      yw_world_step(adaptive.world, FEM_TEST_FRAME, 1, NULL);
      worst = fmax(worst, fem_tip_error(&adaptive, &finest, &deflection));
      tets += fem_state_of(adaptive.world, adaptive.body).num_tets / 96.0;
    }
    print_message("g = %g: error %.2f %% of %.3f m, %.0f tets\n", (double)loads[i],
                  100.0 * worst / deflection, deflection, tets);
    if (def.max_level == 3) assert_at_most(worst / deflection, 0.015);
    free_fem_bar(&adaptive);
    free_fem_bar(&finest);
  }
}

// All switches together raise the energy by less than half a per cent of what the bar stores.
static void switches_hardly_pump_energy(void** state) {
  (void)state;
  yw_fem_def def = bar_def(1.0f);
  fem_switches s = fem_switch_energy(&def, 9.81f, 0.5f);
  assert_true(s.splits > 100 && s.merges > 10);
  assert_at_least(s.stored, 1.5);
  if (def.max_level == 3) assert_at_most(s.upward / s.stored, 0.005);
  // Smaller and larger loads: fewer tets are split, and the bar stores less.
  const float loads[6] = {0.5f, 1.0f, 2.0f, 4.0f, 7.0f, 12.0f};
  for (int i = 0; i < 6 && !getenv("YW_TEST_FAST"); ++i) {
    s = fem_switch_energy(&def, loads[i], 0.5f);
    assert_at_most(s.upward / s.stored, 0.005);
  }
}

// Families that bend like the material take longer steps than their tets would alone: at the very
// limit, undamped, a swinging bar keeps its energy, and it swings with fewer steps.
static void softened_steps_are_stable(void** state) {
  (void)state;
  int64_t steps[2];
  for (int k = 0; k < 2; ++k) {
    yw_fem_def def = bar_def(0.0f);
    def.max_level = 2;
    def.params.soften = YW_FEM_SOFTEN_MATERIAL;
    def.params.refine = k == 0 ? YW_FEM_REFINE_JUMP : YW_FEM_REFINE_FINEST;
    def.params.min_level = 2;
    def.params.sleep_speed = 0.0f;
    def.params.safety = 1.0f;
    fem_test_bar bar = make_fem_bar(&def, 3.0f);
    double swing = 0.0, worst = 0.0, start = 0.0;
    for (int32_t i = 0; i < 240; ++i) {
      assert_int_equal(yw_world_step(bar.world, FEM_TEST_FRAME, 1, NULL), YW_OK);
      yw_body_energy energy;
      yw_body_sums sums;
      yw_body_energy_of(bar.world, bar.body, &energy);
      yw_body_sums_of(bar.world, bar.body, &sums);
      double all = energy.kinetic + energy.elastic + 3.0 * sums.mass * sums.center[2];
      if (i == 0) start = all;
      swing = fmax(swing, energy.elastic);
      worst = fmax(worst, fabs(all - start));
    }
    assert_at_most(worst / swing, 0.02);
    steps[k] = fem_state_of(bar.world, bar.body).inner_steps;
    free_fem_bar(&bar);
  }
  assert_at_most((double)steps[0], 0.9 * (double)steps[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bar_swings_as_the_finest_mesh), cmocka_unit_test(small_loads_are_cheap),
      cmocka_unit_test(all_loads_are_alike),           cmocka_unit_test(bar_comes_to_rest),
      cmocka_unit_test(switches_hardly_pump_energy),   cmocka_unit_test(softened_steps_are_stable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
