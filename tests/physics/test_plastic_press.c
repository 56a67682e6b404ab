// SPDX-License-Identifier: MIT
// Elastic cubes between obstacles, with long steps: they recover from pressing, and stay at rest.
#include "support/plastic_testing.h"
#include "yawara/plastic.h"

#define SPACING 0.01f
#define LAYERS 8
#define SIDE (LAYERS * SPACING)

static void begin_elastic(plastic_lab* lab, float time_step, float nu, float friction) {
  yw_shape* box = lab_box(LAYERS, LAYERS, LAYERS, SPACING);
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = box;
  part.material = (yw_plastic_material){
      .youngs_modulus = 1e5f, .poissons_ratio = nu, .density = 1000.0f, .flow = YW_FLOW_NONE};
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = SPACING;
  def.parts = &part;
  def.num_parts = 1;
  def.params.time_step = time_step;
  lab_begin(lab, &def);
  lab_add_floor(lab, friction);
  yw_shape_release(box);
}

static void begin_rubber(plastic_lab* lab, float time_step) {
  begin_elastic(lab, time_step, 0.3f, 0.3f);
}

static double height_of(const plastic_lab* lab) {
  lab_sums sums = lab_measure(lab);
  return (sums.highest - sums.lowest) / (double)((LAYERS - 1) * SPACING);
}

// In a step of 20 ms a body falls 0.4 of a spacing, and waves travel 23 masters.
static void cubes_rest_with_any_step(void** state) {
  (void)state;
  const float steps[] = {1e-3f, 5e-3f, 2e-2f};
  // They sag by rho g H / 2E, and creep slightly, more with longer steps.
  const double sag = 0.5 * 1000 * 9.81 * (double)SIDE / 1e5, creep[] = {0.005, 0.015, 0.03};
  for (int i = getenv("YW_TEST_FAST") ? 1 : 0; i < 3; ++i) {
    plastic_lab lab;
    begin_rubber(&lab, steps[i]);
    for (int frame = 0; frame < 100; ++frame) assert_int_equal(lab_step(&lab, 2e-2f), YW_OK);
    assert_near(height_of(&lab), 1.0 - sag, creep[i]);
    assert_near(lab_measure(&lab).lowest / (double)SPACING, 0.5, 0.05);
    lab_end(&lab);
  }
}

// A plate presses on a cube and lifts again. Returns the final height relative to that at rest.
static double press(plastic_lab* lab, float least, float seconds, double* pressed) {
  const float frame = 0.02f, half = 40 * SPACING;
  int down = (int)(seconds / frame + 0.5f), all = 2 * down + (int)(0.4f / frame);
  yw_shape* plate = NULL;
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){1, half, 1}, &plate), YW_OK);
  lab_add_obstacle(lab, plate, YW_TRANSFORM_IDENTITY, 0.3f);
  yw_obstacle* obstacle = &lab->obstacles[lab->set.count - 1];
  float y = SIDE;
  for (int i = 1; i <= all; ++i) {
    float part = i <= down ? (float)i / (float)down : 1.0f - 1.5f * (float)(i - down) / (float)down;
    float next = SIDE * (1.0f - (1.0f - least) * part);
    obstacle->begin = obstacle->end = YW_TRANSFORM_IDENTITY;
    obstacle->begin.position.y = y + half;
    obstacle->end.position.y = next + half;
    obstacle->bounds = yw_obstacle_bounds(plate, obstacle->begin, obstacle->end);
    assert_true(lab_step(lab, frame) >= 0);
    y = next;
    if (i == down) *pressed = height_of(lab);
  }
  return height_of(lab);
}

static void pressed_cubes_come_back(void** state) {
  (void)state;
  const float least[] = {0.65f, 0.3f}, seconds[] = {0.3f, 1.0f};
  for (int i = 0; i < 2; ++i) {
    plastic_lab lab;
    double pressed = 1;
    begin_rubber(&lab, 0.0f);
    double height = press(&lab, least[i], seconds[i], &pressed);
    // All masters are between the plates.
    assert_at_most(pressed, (double)least[i] * LAYERS / (LAYERS - 1.0));
    assert_near(height, 0.98, 0.03);
    assert_at_least(lab_measure(&lab).least_stretch, 0.9);
    assert_at_most(lab_measure(&lab).fastest, 0.02);
    lab_end(&lab);
  }
}

// Any Poisson's ratio, friction of the floor and speed, with automatic and with long steps.
static void pressed_cubes_of_all_kinds_come_back(void** state) {
  (void)state;
  if (!getenv("YW_TEST_FULL")) skip();
  const float ratios[] = {0.0f, 0.3f, 0.45f}, frictions[] = {0.0f, 0.3f, 1.0f};
  const float steps[] = {0.0f, 0.01f}, seconds[] = {0.1f, 1.0f};
  for (int i = 0; i < 36; ++i) {
    plastic_lab lab;
    double pressed = 1;
    float nu = ratios[i % 3], friction = frictions[i / 3 % 3], step = steps[i / 9 % 2];
    begin_elastic(&lab, step, nu, friction);
    double height = press(&lab, 0.3f, seconds[i / 18], &pressed);
    print_message("nu %g, friction %g, step %g s, pressed in %g s: back to %.3f\n", (double)nu,
                  (double)friction, (double)step, (double)seconds[i / 18], height);
    assert_at_least(height, 0.95);
    lab_end(&lab);
  }
}

// Masters that move apart faster than sound, by more than 400 spacings in a substep, tell of a body
// that has diverged, before it takes thousands of inner steps; by 300 it goes on.
static void bodies_that_fly_apart_have_diverged(void** state) {
  (void)state;
  const float d = 0.02f, h = 1.0f / 60;
  for (int far = 0; far < 2; ++far) {
    yw_shape* box = lab_box(4, 4, 4, d);
    plastic_lab lab;
    lab_begin_shape(&lab, box, d, NULL);
    lab.ctx.gravity = (yw_vec3){0, 0, 0};
    const float speed = (far ? 450.0f : 300.0f) * d / h;
    for (int32_t m = 0; m < lab.particles.count; ++m) {
      lab.particles.vel[m].x = lab.particles.pos[m].x > 2 * d ? speed : -speed;
    }
    yw_plastic_method.invalidate(lab.body, &lab.particles);
    yw_status status = lab_step(&lab, h);
    if (far) assert_int_equal(status, YW_ERR_DIVERGED);
    if (!far) assert_at_least(status, YW_OK);
    if (far) assert_int_equal(lab.body->inner_steps, 0);
    lab_end(&lab);
    yw_shape_release(box);
  }
}

// Stiff and light bodies of fine masters need thousands of inner steps and get them, also when
// their halves part by 500 spacings in a substep, far below the speed of sound.
static void stiff_bodies_take_many_steps(void** state) {
  (void)state;
  const float d = 0.02f;
  yw_shape* box = lab_box(3, 3, 3, d);
  yw_plastic_part part = yw_default_plastic_part();
  part.material.youngs_modulus = 1e9f;
  part.material.density = 1.0f;
  plastic_lab lab;
  lab_begin_shape(&lab, box, d, &part);
  lab.ctx.gravity = (yw_vec3){0, 0, 0};
  for (int32_t m = 0; m < lab.particles.count; ++m) {
    lab.particles.vel[m].x = lab.particles.pos[m].x > 1.5f * d ? 1200.0f : -1200.0f;
  }
  yw_plastic_method.invalidate(lab.body, &lab.particles);
  assert_at_least(lab_step(&lab, 1.0f / 120), YW_OK);
  assert_at_least(lab.body->inner_steps, 1500);
  lab_end(&lab);
  yw_shape_release(box);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cubes_rest_with_any_step),
      cmocka_unit_test(pressed_cubes_come_back),
      cmocka_unit_test(pressed_cubes_of_all_kinds_come_back),
      cmocka_unit_test(bodies_that_fly_apart_have_diverged),
      cmocka_unit_test(stiff_bodies_take_many_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
