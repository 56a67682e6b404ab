// SPDX-License-Identifier: MIT
// Fig. 12: a sheet of one layer thrown on a cross is cut in four, and a cross of it stays.
// "test_plastic_sheet all" runs all six of three steps and two frictions to 0.3 s, in minutes.
#include "plastic_testing.h"

#define SPACING 0.01f
#define HALF_WIDTH 0.02f
#define SIDE (87.0f * SPACING)

static void begin_sheet(plastic_lab* lab, float dt, float friction, float arm_length) {
  yw_shape* shape = NULL;
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){0.5f * SIDE, 0.4f * SPACING, 0.5f * SIDE}, &shape),
                   YW_OK);
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = shape;
  part.sheet = true;
  part.velocity = (yw_vec3){0, -3.85f, 0};
  part.material = (yw_plastic_material){.youngs_modulus = 2e7f,
                                        .poissons_ratio = 0.4f,
                                        .density = 1000.0f,
                                        .flow = YW_FLOW_BOX,
                                        .theta_s = 7.5e-4f,
                                        .theta_c = 2.5e-3f,
                                        .xi = 10.0f};
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = SPACING;
  def.parts = &part;
  def.num_parts = 1;
  def.time_step = dt;
  lab_begin(lab, &def);
  assert_int_equal(lab->particles.count, 7569);
  for (int k = 0; k < 2; ++k) {
    float reach = arm_length * SIDE;
    yw_vec3 half =
        k ? (yw_vec3){reach, HALF_WIDTH, HALF_WIDTH} : (yw_vec3){HALF_WIDTH, HALF_WIDTH, reach};
    yw_shape* arm = NULL;
    assert_int_equal(yw_shape_box(NULL, half, &arm), YW_OK);
    lab_add_obstacle(lab, arm, YW_TRANSFORM_IDENTITY, friction);
  }
  lab->ctx.friction = friction;
  // Not quite in the middle, and just above.
  lab_move(lab, (yw_vec3){0.3f * SPACING, HALF_WIDTH + 1.5f * SPACING, 0.2f * SPACING});
  yw_shape_release(shape);
}

static void sheet_is_cut_by_a_cross(void** state) {
  (void)state;
  // Most of a minute with sanitizers.
  if (getenv("YW_TEST_FAST")) skip();
  plastic_lab lab;
  const float dt = 1e-3f;
  // Arms that reach over the edges of the sheet: 0.6 of its side from the middle.
  begin_sheet(&lab, dt, 0.3f, 0.6f);
  yw_tasks* tasks = yw_tasks_create(NULL, 2);
  lab.ctx.tasks = tasks;
  for (int i = 0; i < 45; ++i) assert_true(lab_step(&lab, dt) >= 0);
  assert_int_equal(lab_pieces(&lab, 20), 5);
  // The cross stays on the arms, the quarters fall as fast as they came.
  lab_sums sums = lab_measure(&lab);
  assert_at_least(sums.highest, HALF_WIDTH);
  assert_at_most(sums.lowest, -0.1);
  yw_tasks_destroy(tasks);
  lab_end(&lab);
}

static void run_all(float arm_length, float dt_only) {
  const float steps[] = {2.5e-4f, 5e-4f, 1e-3f}, frictions[] = {0.1f, 0.3f};
  for (int k = 0; k < 6; ++k) {
    float dt = steps[k / 2], friction = frictions[k % 2];
    if (dt_only > 0.0f && dt != dt_only) continue;
    plastic_lab lab;
    begin_sheet(&lab, dt, friction, arm_length);
    printf("step %g ms, friction %g:", 1e3 * (double)dt, (double)friction);
    for (int i = 1; (float)i * dt < 0.3001f; ++i) {
      if (lab_step(&lab, dt) < 0) break;
      if (i % (int)(0.05f / dt + 0.5f)) continue;
      printf(" %.2f s %d (%d)", (double)((float)i * dt), (int)lab_pieces(&lab, 20),
             (int)lab_pieces(&lab, 1));
      fflush(stdout);
    }
    printf("\n");
    lab_end(&lab);
  }
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "all") == 0) {
    printf("pieces of at least 20 masters (of any size)\n");
    run_all(argc > 2 ? (float)atof(argv[2]) : 0.6f, argc > 3 ? 1e-3f * (float)atof(argv[3]) : 0.0f);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(sheet_is_cut_by_a_cross)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
