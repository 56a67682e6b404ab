// SPDX-License-Identifier: MIT
// Fig. 12: a sheet of one layer thrown on a cross is cut in four, and a cross of it stays.
#include "plastic_testing.h"

static void sheet_is_cut_by_a_cross(void** state) {
  (void)state;
  // Most of a minute with sanitizers.
  if (getenv("YW_TEST_FAST")) skip();
  const float d = 0.01f, dt = 1e-3f, width = 0.02f, side = 87.0f * d;
  yw_shape* shape = NULL;
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){0.5f * side, 0.4f * d, 0.5f * side}, &shape),
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
  def.spacing = d;
  def.parts = &part;
  def.num_parts = 1;
  def.time_step = dt;
  plastic_lab lab;
  lab_begin(&lab, &def);
  assert_int_equal(lab.particles.count, 7569);
  // Arms that reach over the edges of the sheet.
  for (int k = 0; k < 2; ++k) {
    yw_vec3 half = k ? (yw_vec3){0.6f * side, width, width} : (yw_vec3){width, width, 0.6f * side};
    yw_shape* arm = NULL;
    assert_int_equal(yw_shape_box(NULL, half, &arm), YW_OK);
    lab_add_obstacle(&lab, arm, YW_TRANSFORM_IDENTITY, 0.3f);
  }
  // Not quite in the middle, and just above.
  lab_move(&lab, (yw_vec3){0.3f * d, width + 1.5f * d, 0.2f * d});
  yw_tasks* tasks = yw_tasks_create(NULL, 2);
  lab.ctx.tasks = tasks;
  for (int i = 0; i < 45; ++i) assert_true(lab_step(&lab, dt) >= 0);
  assert_int_equal(lab_pieces(&lab, 20), 5);
  // The cross stays on the arms, the quarters fall as fast as they came.
  lab_sums sums = lab_measure(&lab);
  assert_at_least(sums.highest, width);
  assert_at_most(sums.lowest, -0.1);
  yw_tasks_destroy(tasks);
  lab_end(&lab);
  yw_shape_release(shape);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sheet_is_cut_by_a_cross)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
