// SPDX-License-Identifier: MIT
// Contact as users meet it: match bodies in a world.
#include "support/world_fixture.h"
#include "yawara/extend/vec.h"
#include "yawara/yawara.h"

static yw_model* make_box(yw_vec3 half, const int32_t cells[3], float damping) {
  yw_tet_mesh mesh;
  yw_aabb box = {yw_neg(half), half};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  yw_match_def def = yw_default_match_def();
  def.mesh = &mesh;
  def.params.alpha = 0.8f;
  def.params.damping = damping;
  yw_model* model = NULL;
  yw_error error;
  assert_int_equal(yw_model_create_match(NULL, &def, &model, &error), YW_OK);
  yw_tet_mesh_free(&mesh);
  return model;
}

static yw_body_id put_body(yw_world* world, yw_model* model, yw_transform transform,
                           float friction) {
  yw_body_def def = yw_default_body_def();
  def.model = model;
  def.transform = transform;
  def.friction = friction;
  yw_body_id id;
  assert_int_equal(yw_body_create(world, &def, &id, NULL), YW_OK);
  return id;
}

static yw_quat turn(yw_vec3 axis, double angle) {
  float s = (float)sin(angle / 2.0), c = (float)cos(angle / 2.0);
  return (yw_quat){s * axis.x, s * axis.y, s * axis.z, c};
}

static float fastest(const yw_world* world) {
  float speed = 0.0f;
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    int32_t count;
    const yw_vec3* v = yw_body_velocities(world, yw_world_body(world, i), &count);
    for (int32_t k = 0; k < count; ++k) speed = fmaxf(speed, yw_length(v[k]));
  }
  return speed;
}

// Ten cuboids of two kinds in a pyramid on a slope below the friction angle come to rest there.
static void ten_cuboids_rest_on_a_slope(void** state) {
  (void)state;
  const int32_t cells[3] = {3, 3, 3};
  yw_model* kinds[2] = {make_box(yw_v3(0.5f, 0.5f, 0.5f), cells, 30.0f),
                        make_box(yw_v3(0.45f, 0.5f, 0.4f), cells, 30.0f)};
  const double angle = atan(0.2);
  yw_quat tilt = turn(yw_v3(0, 0, 1), angle);
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  add_plane(world, yw_v3((float)-sin(angle), (float)cos(angle), 0), 0.5f);
  for (int row = 0; row < 4; ++row) {
    for (int k = 0; k < 4 - row; ++k) {
      yw_vec3 local = yw_v3(1.05f * ((float)k + 0.5f * (float)row), 0.5f + (float)row, 0);
      yw_transform pose = {yw_rotate(tilt, local), tilt, 1.0f};
      put_body(world, kinds[k & 1], pose, 0.5f);
    }
  }
  yw_world_set_sleep_speed(world, 0.0f);
  for (int frame = 0; frame < 180; ++frame) {
    assert_at_least(yw_world_step(world, 1.0f / 60.0f, 8, NULL), 0);
  }
  // The pyramid still sways as a whole, by a millimetre: means over a second tell whether it
  // creeps.
  double places[2][10][3] = {{{0}}};
  float speed = 0.0f;
  yw_step_report report;
  for (int frame = 0; frame < 120; ++frame) {
    yw_world_step(world, 1.0f / 60.0f, 8, &report);
    if (frame >= 60) speed = fmaxf(speed, fastest(world));
    for (int i = 0; i < 10; ++i) {
      yw_body_sums sums;
      yw_body_sums_of(world, yw_world_body(world, i), &sums);
      for (int k = 0; k < 3; ++k) places[frame / 60][i][k] += sums.center[k] / 60;
    }
  }
  double moved = 0.0;
  for (int i = 0; i < 10; ++i) {
    double way2 = 0.0;
    for (int k = 0; k < 3; ++k) way2 += pow(places[1][i][k] - places[0][i][k], 2);
    moved = fmax(moved, sqrt(way2));
  }
  print_message("           %d contacts, speed %.2g m/s, moved %.2g m in 1 s\n",
                report.body_contacts, (double)speed, moved);
  assert_at_least(report.body_contacts, 50);
  assert_at_most(speed, 0.05);
  assert_at_most(moved, 0.0005);
  yw_world_destroy(world);
  for (int k = 0; k < 2; ++k) yw_model_release(kinds[k]);
}

// The cuboid of the papers, 5 x 9 x 5 vertices, dropped on another at 5 m/s, in all orientations.
static void cuboids_hold_each_other_at_5_m_per_s(void** state) {
  (void)state;
  const int32_t cells[3] = {4, 8, 4};
  yw_model* model = make_box(yw_v3(0.25f, 0.5f, 0.25f), cells, 2.0f);
  for (int k = 0; k < 8; ++k) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, false);
    yw_vec3 axis = yw_normalize_or(yw_v3(1, 0.3f * (float)(k % 3), 0.5f), yw_v3(1, 0, 0));
    yw_transform low = {{0, 0, 0}, turn(yw_v3(0, 0, 1), 0.8 * k), 1.0f};
    yw_transform high = {{0.05f, 1.3f, 0.04f}, turn(axis, 0.4 * k), 1.0f};
    put_body(world, model, low, 0.4f);
    yw_body_id upper = put_body(world, model, high, 0.4f);
    int32_t count;
    const yw_vec3* x = yw_body_positions(world, upper, &count);
    yw_vec3* places = malloc((size_t)count * sizeof *places);
    yw_vec3* speeds = malloc((size_t)count * sizeof *speeds);
    memcpy(places, x, (size_t)count * sizeof *places);
    for (int32_t i = 0; i < count; ++i) speeds[i] = yw_v3(0, -5, 0);
    assert_int_equal(yw_body_set_state(world, upper, places, speeds), YW_OK);
    for (int frame = 0; frame < 40; ++frame) yw_world_step(world, 1.0f / 60.0f, 4, NULL);
    yw_body_sums a, b;
    yw_body_sums_of(world, yw_world_body(world, 0), &a);
    yw_body_sums_of(world, upper, &b);
    // The impact has been transmitted: the lower one is now faster.
    assert_at_least(b.momentum[1] / b.mass, a.momentum[1] / a.mass);
    assert_at_least(b.center[1], a.center[1]);
    free(places);
    free(speeds);
    yw_world_destroy(world);
  }
  yw_model_release(model);
}

static void threads_do_not_matter(void** state) {
  (void)state;
  const int32_t cells[3] = {2, 2, 2};
  yw_model* model = make_box(yw_v3(0.1f, 0.1f, 0.1f), cells, 2.0f);
  const int32_t threads[] = {1, 2, 3, 8};
  uint64_t first = 0;
  for (int k = 0; k < 4; ++k) {
    yw_world* world = make_world(threads[k], YW_SIMD_AUTO, false);
    add_plane(world, yw_v3(0, 1, 0), 0.4f);
    for (int i = 0; i < 48; ++i) {
      yw_vec3 place =
          yw_v3(0.17f * (float)(i % 4), 0.2f + 0.25f * (float)(i / 16), 0.17f * (float)(i / 4 % 4));
      yw_transform pose = {place, turn(yw_v3(0, 1, 0), 0.1 * i), 1.0f};
      put_body(world, model, pose, 0.4f);
    }
    yw_step_report report;
    for (int frame = 0; frame < 45; ++frame) yw_world_step(world, 1.0f / 60.0f, 4, &report);
    assert_at_least(report.body_contacts, 20);
    if (k == 0) first = yw_world_hash(world);
    assert_true(yw_world_hash(world) == first);
    yw_world_destroy(world);
  }
  yw_model_release(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ten_cuboids_rest_on_a_slope),
      cmocka_unit_test(cuboids_hold_each_other_at_5_m_per_s),
      cmocka_unit_test(threads_do_not_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
