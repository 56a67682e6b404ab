// SPDX-License-Identifier: MIT
// Laws for plastic bodies; numbers from experiments with the method, see docs/methods/plastic.md.
#include "support/plastic_testing.h"
#include "yawara/plastic.h"

// Else cubes and balls have the sizes of the paper.
static bool is_fast(void) { return getenv("YW_TEST_FAST") != NULL; }

static void begin_cube(plastic_lab* lab, int32_t n, float d, const yw_plastic_material* material,
                       float dt, bool without_slaves, yw_vec3 spin) {
  yw_shape* box = lab_box(n, n, n, d);
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = box;
  part.material = *material;
  part.angular_velocity = spin;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = d;
  def.parts = &part;
  def.num_parts = 1;
  def.params.time_step = dt;
  def.without_slaves = without_slaves;
  lab_begin(lab, &def);
  yw_shape_release(box);
}

// Velocities that alternate from master to master: a zero-energy mode of plain particle methods.
static double kept_of_checkerboard(bool without_slaves) {
  plastic_lab lab;
  float d = 0.0625f;
  yw_plastic_material material = yw_default_plastic_material();
  begin_cube(&lab, 8, d, &material, 1e-3f, without_slaves, (yw_vec3){0, 0, 0});
  lab.ctx.gravity = (yw_vec3){0, 0, 0};
  for (int32_t m = 0; m < lab.particles.count; ++m) {
    yw_vec4 x = lab.particles.pos[m];
    int sum = (int)floorf(x.x / d) + (int)floorf(x.y / d) + (int)floorf(x.z / d);
    lab.particles.vel[m].x = sum % 2 ? 0.5f : -0.5f;
  }
  double before = lab_measure(&lab).kinetic;
  assert_int_equal(lab_step(&lab, 1e-3f), YW_OK);
  double after = lab_measure(&lab).kinetic;
  lab_end(&lab);
  return after / before;
}

static void slaves_see_a_checkerboard(void** state) {
  (void)state;
  assert_at_most(kept_of_checkerboard(false), 1e-3);
  assert_at_least(kept_of_checkerboard(true), 0.9);
}

// Without slaves, masters stand for themselves: one each, also after lists are made anew.
static void masters_that_stand_for_themselves_stay_as_many(void** state) {
  (void)state;
  plastic_lab lab;
  yw_plastic_material material = yw_default_plastic_material();
  begin_cube(&lab, 4, 0.0625f, &material, 1e-3f, true, (yw_vec3){0, 0, 0});
  for (int i = 0; i < 60; ++i) {
    for (int32_t m = 0; m < lab.particles.count; ++m) {
      lab.particles.vel[m].x = 20.0f * lab.particles.pos[m].x;
    }
    assert_at_least(lab_step(&lab, 1e-3f), YW_OK);
    assert_int_equal(lab.body->num_slaves, lab.particles.count);
  }
  lab_end(&lab);
}

// Backward steps alone would take 1 - exp(-w^2 dt t) of it.
static void spin_lasts(void** state) {
  (void)state;
  plastic_lab lab;
  const float dt = 1e-3f, w = 5.0f;
  yw_plastic_material material = yw_default_plastic_material();
  material.youngs_modulus = 1e7f;
  begin_cube(&lab, 8, 0.0625f, &material, dt, false, (yw_vec3){0, w, 0});
  lab.ctx.gravity = (yw_vec3){0, 0, 0};
  assert_int_equal(lab_step(&lab, dt), YW_OK);
  double first = lab_measure(&lab).spin[1];
  const int steps = 300;
  for (int i = 0; i < steps; ++i) assert_int_equal(lab_step(&lab, dt), YW_OK);
  lab_sums sums = lab_measure(&lab);
  assert_near(sums.spin[1] / first, 1, 1e-3);
  assert_at_most(fabs(sums.spin[0]) + fabs(sums.spin[2]), 1e-3 * first);
  for (int k = 0; k < 3; ++k) assert_near(sums.momentum[k], 0, 1e-5 * (double)w * sums.mass);
  lab_end(&lab);
}

// A steel-like cube dropped from 0.3 m is not crushed where it lands, and rests on its slaves.
static void stiff_cube_lands_unharmed(void** state) {
  (void)state;
  plastic_lab lab;
  // That of the paper is 16 masters high.
  const int32_t layers = is_fast() ? 8 : 16;
  const float d = 1.0f / (float)layers, dt = 1e-3f;
  yw_plastic_material material = yw_default_plastic_material();
  material.youngs_modulus = 6.9e7f;
  begin_cube(&lab, layers, d, &material, dt, false, (yw_vec3){0, 0, 0});
  lab_add_floor(&lab, 0.3f);
  lab_move(&lab, (yw_vec3){0, 0.3f, 0});
  double least = 1;
  for (int i = 0; i < 700; ++i) {
    assert_int_equal(lab_step(&lab, dt), YW_OK);
    least = fmin(least, lab_measure(&lab).least_stretch);
  }
  lab_sums sums = lab_measure(&lab);
  assert_at_least(least, 0.99);
  assert_near(sums.lowest / (double)d, 0.5, 0.025);
  assert_near(sums.highest / (double)d, layers - 0.5, 0.1);
  lab_end(&lab);
}

// Height of a dropped cube of 0.16 m when it has come to rest: fig. 10.
static double height_of_clay(float theta_s, float theta_c) {
  plastic_lab lab;
  const float dt = 1e-3f;
  yw_plastic_material material = {.youngs_modulus = 1.4e5f,
                                  .poissons_ratio = 0.2f,
                                  .density = 1000.0f,
                                  .flow = YW_FLOW_BOX,
                                  .theta_s = theta_s,
                                  .theta_c = theta_c,
                                  .xi = 10.0f};
  begin_cube(&lab, 16, 0.01f, &material, dt, false, (yw_vec3){0, 0, 0});
  lab_add_floor(&lab, 0.3f);
  // Skip the free fall from 0.1 m.
  lab_move(&lab, (yw_vec3){0, 0.015f, 0});
  for (int32_t m = 0; m < lab.particles.count; ++m) lab.particles.vel[m].y = -1.2916f;
  for (int i = 0; i < (is_fast() ? 100 : 150); ++i) {
    assert_int_equal(lab_step(&lab, dt), YW_OK);
  }
  double top = lab_measure(&lab).highest;
  lab_end(&lab);
  return top;
}

static void clay_cubes_keep_the_height_of_their_yield_limits(void** state) {
  (void)state;
  assert_near(height_of_clay(4.5e-3f, 1.5e-2f), 0.138, 0.05 * 0.138);
  assert_near(height_of_clay(7.5e-4f, 2.5e-3f), 0.126, 0.05 * 0.126);
}

// A ball of clay just above the floor, thrown at it at 4 m/s. printed: the formulas of the paper,
// without slaves.
static void begin_ball(plastic_lab* lab, float radius, float d, float dt, bool printed) {
  yw_shape* ball = NULL;
  assert_int_equal(yw_shape_sphere(NULL, radius, &ball), YW_OK);
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = ball;
  part.material = (yw_plastic_material){.youngs_modulus = 1.2e6f,
                                        .poissons_ratio = 0.35f,
                                        .density = 1000.0f,
                                        .flow = YW_FLOW_BOX,
                                        .theta_s = 0.1f,
                                        .theta_c = 0.8f};
  part.velocity = (yw_vec3){0, -4, 0};
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = d;
  def.parts = &part;
  def.num_parts = 1;
  def.params.time_step = dt;
  def.paper = def.without_slaves = printed;
  lab_begin(lab, &def);
  yw_shape_release(ball);
  lab_add_floor(lab, 0.3f);
  lab_move(lab, (yw_vec3){0, radius + 0.5f * d, 0});
}

// A ball of 6,200 masters thrown on the floor, for steps from 0.25 to 4 ms: one piece, never faster
// than initially.
static void ball_is_stable_for_all_steps(void** state) {
  (void)state;
  const float steps[] = {2.5e-4f, 5e-4f, 1e-3f, 2e-3f, 4e-3f};
  for (int i = is_fast() ? 3 : 0; i < 5; ++i) {
    plastic_lab lab;
    const float d = 0.05f, radius = is_fast() ? 0.25f : 0.57f;
    begin_ball(&lab, radius, d, steps[i], false);
    double fastest = 0;
    for (float t = 0.0f; t < 0.08f; t += steps[i]) {
      assert_int_equal(lab_step(&lab, steps[i]), YW_OK);
      fastest = fmax(fastest, lab_measure(&lab).fastest);
    }
    assert_int_equal(lab_pieces(&lab, 1), 1);
    assert_at_most(fastest, 6.1);
    lab_end(&lab);
  }
}

// As printed and without slaves such a ball falls apart, fig. 7.
static void printed_formulas_on_masters_fall_apart(void** state) {
  (void)state;
  int32_t pieces[2];
  for (int printed = 0; printed < 2; ++printed) {
    plastic_lab lab;
    const float d = 0.02f, radius = is_fast() ? 0.16f : 0.228f, dt = 5e-4f;
    begin_ball(&lab, radius, d, dt, printed);
    for (int i = 0; i < 130; ++i) assert_true(lab_step(&lab, dt) >= 0);
    pieces[printed] = lab_pieces(&lab, 1);
    lab_end(&lab);
  }
  assert_int_equal(pieces[0], 1);
  assert_at_least(pieces[1], 1000);
}

// Tearing and merging with 1,000 added or removed slaves conserves mass and momentum.
static void splitting_and_merging_conserve(void** state) {
  (void)state;
  plastic_lab lab;
  const float d = 0.02f, dt = 1e-3f;
  yw_plastic_material material = yw_default_plastic_material();
  material.youngs_modulus = 2e4f;
  material.flow = YW_FLOW_BOX;
  material.eta = 1.0f;
  begin_cube(&lab, 10, d, &material, dt, false, (yw_vec3){0, 0, 0});
  lab.ctx.gravity = (yw_vec3){0, 0, 0};
  test_random random = {5};
  double mass = lab_measure(&lab).mass, size = 0;
  for (int32_t m = 0; m < lab.particles.count; ++m) {
    yw_vec3 v = yw_sub(yw_xyz(lab.particles.pos[m]), (yw_vec3){0.1f, 0.1f, 0.1f});
    v = yw_scale(v, 100.0f * (1.0f + 0.4f * (float)test_random_in(&random, -1, 1)));
    lab.particles.vel[m] = yw_v4(v);
    size += (double)lab.particles.mass[m] * (double)yw_length(v);
  }
  lab_sums before = lab_measure(&lab);
  int back = 0;
  for (int i = 0; i < 200 && (back == 0 || lab.body->added < 1000 || lab.body->removed < 300);
       ++i) {
    assert_true(lab_step(&lab, dt) >= 0);
    if (i % 40 != 39) continue;
    // Reversed, so that separated parts meet again.
    lab_sums now = lab_measure(&lab);
    for (int32_t m = 0; m < lab.particles.count; ++m) {
      for (int k = 0; k < 3; ++k) {
        float* v = &(&lab.particles.vel[m].x)[k];
        double mean = now.momentum[k] / now.mass;
        *v = (float)(2 * mean - (double)*v);
      }
      for (int k = 0; k < 9; ++k) lab.body->state[m / YW_LANES].c[k][m % YW_LANES] = 0.0f;
    }
    ++back;
  }
  lab_sums after = lab_measure(&lab);
  assert_at_least(back, 1);
  assert_at_least(lab.body->added + lab.body->removed, 1000);
  assert_true(after.mass == mass);
  for (int k = 0; k < 3; ++k) assert_near(after.momentum[k], before.momentum[k], 1e-5 * size);
  lab_end(&lab);
}

// Empty space costs nothing: 128 m or 1 m apart, the numbers of slaves, pairs, chunk entries and
// buckets are the same.
static void work_does_not_grow_with_space(void** state) {
  (void)state;
  plastic_body counted[2];
  for (int far = 0; far < 2; ++far) {
    plastic_lab lab;
    const float d = 0.0625f, apart = far ? 128.0f : 1.0f;
    yw_shape* box = lab_box(6, 6, 6, d);
    yw_plastic_part parts[4];
    for (int i = 0; i < 4; ++i) {
      parts[i] = yw_default_plastic_part();
      parts[i].shape = box;
      parts[i].angular_velocity = (yw_vec3){0, 1, 0};
      parts[i].transform.position = (yw_vec3){apart * (float)i, 0, 0.5f * apart * (float)i};
    }
    yw_plastic_def def = yw_default_plastic_def();
    def.spacing = d;
    def.parts = parts;
    def.num_parts = 4;
    def.params.time_step = 1e-3f;
    lab_begin(&lab, &def);
    for (int i = 0; i < 10; ++i) assert_int_equal(lab_step(&lab, 1e-3f), YW_OK);
    counted[far] = *lab.body;
    lab_end(&lab);
    yw_shape_release(box);
  }
  assert_int_equal(counted[1].num_slaves, counted[0].num_slaves);
  assert_int_equal(counted[1].bucket_mask, counted[0].bucket_mask);
  assert_int_equal(counted[1].rebuilt, counted[0].rebuilt);
  assert_near(counted[1].num_pairs, counted[0].num_pairs, 0.02 * counted[0].num_pairs);
  assert_near(counted[1].num_locals, counted[0].num_locals, 0.02 * counted[0].num_locals);
  assert_near(counted[1].iterations, counted[0].iterations, 2);
}

// Von Mises flow preserves volume and limits stress to the yield stress.
static void von_mises_stays_on_its_cylinder(void** state) {
  (void)state;
  plastic_lab lab;
  const float d = 0.05f, dt = 1e-3f;
  yw_plastic_material material = yw_default_plastic_material();
  material.youngs_modulus = 1e6f;
  material.flow = YW_FLOW_VON_MISES;
  material.yield_stress = 2e4f;
  begin_cube(&lab, 6, d, &material, dt, false, (yw_vec3){0, 0, 0});
  lab.ctx.gravity = (yw_vec3){0, 0, 0};
  for (int32_t m = 0; m < lab.particles.count; ++m) {
    yw_vec4 x = lab.particles.pos[m];
    lab.particles.vel[m] = (yw_vec4){12.0f * (x.y - 0.15f), 0, 0, 0};
  }
  float stress[6 * 6 * 6], strain[6 * 6 * 6];
  double most = 0, flowed = 0;
  for (int i = 0; i < 30; ++i) {
    assert_int_equal(lab_step(&lab, dt), YW_OK);
    yw_plastic_method.field_values(lab.body, &lab.particles, 0, stress);
    yw_plastic_method.field_values(lab.body, &lab.particles, 1, strain);
    for (int32_t m = 0; m < 216; ++m) {
      most = fmax(most, (double)stress[m]);
      flowed = fmax(flowed, (double)strain[m]);
      assert_true(lab.body->state[m / YW_LANES].det_p[m % YW_LANES] == 1.0f);
    }
  }
  assert_at_least(flowed, 0.005);
  // Kirchhoff stress by logarithmic strain at small stretches: within a few per cent.
  assert_near(most, 2e4, 0.05 * 2e4);
  lab_end(&lab);
}

// The energy that the body has, J, and that of its height above the floor.
static double energy_in(const plastic_lab* lab) {
  lab_sums sums = lab_measure(lab);
  double elastic = yw_plastic_method.energy(lab->body, &lab->particles).elastic;
  return sums.kinetic + elastic + 9.81 * sums.mass * sums.center[1];
}

// Nearly incompressible matter that does not harden, thrown on a floor: nothing but the throw gives
// it energy.
static void box_flow_without_hardening_adds_no_energy(void** state) {
  (void)state;
  const float limits[][2] = {{0.025f, 0.0075f}, {2.5e-3f, 7.5e-4f}, {0.1f, 0.01f}};
  for (int i = is_fast() ? 2 : 0; i < 3; ++i) {
    plastic_lab lab;
    yw_plastic_material material = yw_default_plastic_material();
    material.youngs_modulus = 2e6f;
    material.poissons_ratio = 0.45f;
    material.flow = YW_FLOW_BOX;
    material.theta_c = limits[i][0];
    material.theta_s = limits[i][1];
    material.xi = 0.0f;
    begin_cube(&lab, 8, 0.05f, &material, 1e-3f, false, (yw_vec3){0, 0, 0});
    lab_add_floor(&lab, 0.3f);
    for (int32_t m = 0; m < lab.particles.count; ++m) lab.particles.vel[m].y = -8.0f;
    double begin = energy_in(&lab), least = begin, gained = 0.0;
    for (int k = 0; k < 120; ++k) {
      assert_true(lab_step(&lab, 1e-3f) >= 0);
      double now = energy_in(&lab);
      gained = fmax(gained, now - least);
      least = fmin(least, now);
    }
    if (getenv("YW_TEST_FULL")) {
      print_message("%g, %g: %.0f J of %.0f left, gained at most %.2f\n", (double)limits[i][0],
                    (double)limits[i][1], least, begin, gained);
    }
    assert_at_most(gained, 2e-3 * begin);
    lab_end(&lab);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slaves_see_a_checkerboard),
      cmocka_unit_test(masters_that_stand_for_themselves_stay_as_many),
      cmocka_unit_test(spin_lasts),
      cmocka_unit_test(stiff_cube_lands_unharmed),
      cmocka_unit_test(clay_cubes_keep_the_height_of_their_yield_limits),
      cmocka_unit_test(ball_is_stable_for_all_steps),
      cmocka_unit_test(printed_formulas_on_masters_fall_apart),
      cmocka_unit_test(splitting_and_merging_conserve),
      cmocka_unit_test(work_does_not_grow_with_space),
      cmocka_unit_test(von_mises_stays_on_its_cylinder),
      cmocka_unit_test(box_flow_without_hardening_adds_no_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
