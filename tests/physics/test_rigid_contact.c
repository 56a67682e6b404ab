// SPDX-License-Identifier: MIT
// Rigid bodies on obstacles: friction, rolling, bouncing, rest, thin and moving obstacles; and what
// every method must do: same bits, snapshots, no heap.
#include "support/method_world.h"
#include "support/rigid_testing.h"

#define GRAVITY ((double)9.81f)

static yw_obstacle_id add_obstacle(yw_world* world, yw_shape* shape, yw_vec3 position,
                                   float friction, float restitution) {
  yw_error error = {0};
  yw_obstacle_def def = yw_default_obstacle_def();
  def.shape = shape;
  def.transform.position = position;
  def.friction = friction;
  def.restitution = restitution;
  yw_obstacle_id id;
  assert_int_equal(yw_obstacle_create(world, &def, &id, &error), YW_OK);
  yw_shape_release(shape);
  return id;
}

// Slopes ------------------------------------------------------------------------------------------

// Acceleration down the slope of 20 degrees between 1/4 s and 5/4 s.
static double slope_acceleration(yw_model* model, float height, float friction) {
  yw_body_sums before, after;
  slide_down(model, height, friction, &before, &after);
  yw_model_release(model);
  return along_slope(after.momentum) / after.mass - along_slope(before.momentum) / before.mass;
}

static void box_slides_and_sticks_as_coulomb_says(void** state) {
  (void)state;
  double slope = (double)(SLOPE_SIN / SLOPE_COS);
  for (int k = 1; k <= 3; ++k) {
    float friction = 0.25f * (float)k * (float)slope;
    double expected = GRAVITY * (double)(SLOPE_SIN - friction * SLOPE_COS);
    double found = slope_acceleration(make_rigid_box(0.4f, 0.2f, 0.3f), 0.1f, friction);
    assert_near(found / expected, 1.0, 0.02);
  }
  // Just below the angle of friction it stays, and does not creep.
  yw_body_sums before, after;
  yw_model* model = make_rigid_box(0.4f, 0.2f, 0.3f);
  slide_down(model, 0.1f, 1.02f * (float)slope, &before, &after);
  yw_model_release(model);
  assert_near(after.center[0], before.center[0], 1e-4);
  assert_near(along_slope(after.momentum) / after.mass, 0.0, 1e-4);
}

static void balls_and_cylinders_roll(void** state) {
  (void)state;
  double pull = GRAVITY * (double)SLOPE_SIN;
  assert_near(slope_acceleration(make_rigid_ball(0.15f), 0.15f, 0.5f) / pull, 5.0 / 7,
              0.03 * 5 / 7);
  yw_shape *upright = NULL, *lying = NULL;
  assert_int_equal(yw_shape_cylinder(NULL, 0.1f, 0.2f, &upright), YW_OK);
  yw_transform turn = {{0, 0, 0}, {0.70710678f, 0, 0, 0.70710678f}, 1};
  assert_int_equal(yw_shape_transform(NULL, upright, turn, &lying), YW_OK);
  yw_shape_release(upright);
  double found = slope_acceleration(make_rigid(lying, 0.04f, 1000.0f), 0.1f, 0.5f);
  assert_near(found / pull, 2.0 / 3, 0.03 * 2 / 3);
}

// A ball that starts to slide ends up rolling with 5/7 of its speed.
static void sliding_ball_starts_to_roll(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_body_id id = add_rigid(world, make_rigid_ball(0.1f), (yw_vec3){0, 0.1f, 0}, (yw_vec3){3, 0, 0},
                            (yw_vec3){0, 0, 0});
  for (int i = 0; i < 120; ++i) yw_world_step(world, 1.0f / 60, 2, NULL);
  yw_rigid_state s = rigid_state_of(world, id);
  assert_near(s.velocity[0], 3.0 * 5 / 7, 0.005);
  assert_near(-s.spin[2] * 0.1, s.velocity[0], 0.005);
  yw_world_destroy(world);
}

// Impacts -----------------------------------------------------------------------------------------

static void ball_bounces_by_its_restitution(void** state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, false);
    yw_shape* floor = NULL;
    float restitution = 0.25f * (float)(k + 1) + 0.05f;
    assert_int_equal(yw_shape_plane(NULL, (yw_vec3){0, 1, 0}, 0.0f, &floor), YW_OK);
    add_obstacle(world, floor, (yw_vec3){0, 0, 0}, 0.4f, restitution);
    yw_body_id id = add_rigid(world, make_rigid_ball(0.2f), (yw_vec3){0, 1.2f, 0},
                              (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
    double before = 0.0, top = 1.0;
    int bounces = 0;
    for (int i = 0; i < 240 && bounces < 3; ++i) {
      yw_world_step(world, 1.0f / 60, 4, NULL);
      yw_rigid_state s = rigid_state_of(world, id);
      // At the top of a flight all energy is height.
      if (before > 0.0 && s.velocity[1] <= 0.0 && ++bounces <= 2) {
        double height = s.center[1] - 0.2 + 0.5 * s.velocity[1] * s.velocity[1] / GRAVITY;
        assert_near(height / top, (double)(restitution * restitution), 0.01);
        top = height;
      }
      before = s.velocity[1];
    }
    assert_true(bounces >= 2);
    yw_world_destroy(world);
  }
}

// Without restitution it stays where it lands, and does not enter the floor at any time.
static void ball_without_restitution_stays_down(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_body_id id = add_rigid(world, make_rigid_ball(0.2f), (yw_vec3){0, 0.6f, 0}, (yw_vec3){0, 0, 0},
                            (yw_vec3){0, 0, 0});
  double lowest = 1.0, highest = 0.0;
  for (int i = 0; i < 60; ++i) {
    yw_world_step(world, 1.0f / 60, 4, NULL);
    double y = rigid_state_of(world, id).center[1] - 0.2;
    lowest = fmin(lowest, y);
    if (i > 20) highest = fmax(highest, y);
  }
  assert_near(lowest, 0, 2e-5);
  assert_near(highest, 0, 2e-5);
  yw_world_destroy(world);
}

// However it falls, a box gains no energy, does not enter the floor, and comes to rest.
static void thrown_boxes_come_to_rest(void** state) {
  (void)state;
  for (int k = 0; k < 6; ++k) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, true);
    float a = (float)k;
    yw_body_id id = add_rigid(world, make_rigid_box(0.5f, 0.3f, 0.2f), (yw_vec3){0, 1, 0},
                              (yw_vec3){1, -a, 0.5f}, (yw_vec3){3 + a, 2 - a, 1});
    double start = total_energy(world, id), energy = start, fastest = 0.0, lowest = 0.0;
    for (int i = 0; i < 480; ++i) {
      yw_world_step(world, 1.0f / 60, 4, NULL);
      double now = total_energy(world, id);
      assert_at_most(now, energy + 1e-4 * start);
      energy = fmin(energy, now);
      int32_t count;
      const yw_vec3* x = yw_body_positions(world, id, &count);
      for (int32_t n = 0; n < count; ++n) lowest = fmin(lowest, (double)x[n].y);
      yw_rigid_state s = rigid_state_of(world, id);
      if (i >= 420) fastest = fmax(fastest, length3(s.velocity) + 0.3 * length3(s.spin));
    }
    assert_at_most(fastest, 1e-4);
    assert_at_least(lowest, -1e-3);
    yw_world_destroy(world);
  }
}

static void fast_bodies_do_not_pass_thin_plates(void** state) {
  (void)state;
  for (int k = 0; k < 4; ++k) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, false);
    yw_shape* plate = NULL;
    assert_int_equal(yw_shape_box(NULL, (yw_vec3){1, 0.001f, 1}, &plate), YW_OK);
    add_obstacle(world, plate, (yw_vec3){0, 0, 0}, 0.4f, 0.0f);
    yw_model* model = k < 2 ? make_rigid_ball(0.02f) : make_rigid_box(0.1f, 0.05f, 0.04f);
    yw_body_id id = add_rigid(world, model, (yw_vec3){0, 0.6f, 0},
                              (yw_vec3){0, k & 1 ? -200.0f : -50.0f, 0}, (yw_vec3){40, 9, 7});
    for (int i = 0; i < 30; ++i) {
      yw_world_step(world, 1.0f / 60, 1, NULL);
      assert_at_least(rigid_state_of(world, id).center[1], 0.0);
    }
    yw_world_destroy(world);
  }
}

// A body on the edge of an obstacle meets it with its faces, not only with its corners.
static void box_lies_on_a_narrow_post(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_shape* post = NULL;
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){0.15f, 0.5f, 0.15f}, &post), YW_OK);
  add_obstacle(world, post, (yw_vec3){0, -0.5f, 0}, 0.4f, 0.0f);
  yw_body_id id = add_rigid(world, make_rigid_box(1.0f, 0.1f, 1.0f), (yw_vec3){0.01f, 0.1f, 0},
                            (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
  for (int i = 0; i < 180; ++i) yw_world_step(world, 1.0f / 60, 4, NULL);
  yw_rigid_state s = rigid_state_of(world, id);
  assert_near(s.center[1], 0.05, 1e-4);
  assert_at_most(length3(s.velocity), 1e-4);
  yw_world_destroy(world);
}

// A box on a lift that speeds up sideways is taken along below the limit of friction.
static void moving_obstacles_carry_bodies(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_shape* lift = NULL;
  yw_error error = {0};
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){1, 0.1f, 1}, &lift), YW_OK);
  yw_key keys[2] = {{0.0, {0, 0, 0}, {0, 0, 0, 1}}, {2.0, {1, 1, 0}, {0, 0, 0, 1}}};
  yw_obstacle_def def = yw_default_obstacle_def();
  def.shape = lift;
  def.transform.position = (yw_vec3){0, -0.1f, 0};
  def.path = (yw_path){.keys = keys, .num_keys = 2};
  yw_obstacle_id obstacle;
  assert_int_equal(yw_obstacle_create(world, &def, &obstacle, &error), YW_OK);
  yw_shape_release(lift);
  yw_body_id id = add_rigid(world, make_rigid_box(0.4f, 0.2f, 0.4f), (yw_vec3){0, 0.1f, 0},
                            (yw_vec3){0.5f, 0.5f, 0}, (yw_vec3){0, 0, 0});
  for (int i = 0; i < 60; ++i) yw_world_step(world, 1.0f / 60, 2, NULL);
  yw_rigid_state s = rigid_state_of(world, id);
  assert_near(s.center[0], 0.5, 2e-3);
  assert_near(s.center[1], 0.6, 2e-3);
  assert_near(s.velocity[0], 0.5, 2e-3);
  yw_world_destroy(world);
}

// Worlds ------------------------------------------------------------------------------------------

static void fill(yw_world* world, int solver) {
  (void)solver;
  add_rigid(world, make_rigid_box(0.5f, 0.3f, 0.2f), (yw_vec3){0, 0.4f, 0}, (yw_vec3){1, 0, 0},
            (yw_vec3){3, 2, 1});
  add_rigid(world, make_rigid_ball(0.2f), (yw_vec3){0.1f, 0.9f, 0}, (yw_vec3){0, 0, 0},
            (yw_vec3){0, 0, 0});
  yw_model* soft = make_box_model(3, 4, 3, 0);
  add_body(world, soft, (yw_vec3){1.2f, 0.6f, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(soft);
  add_rigid(world, make_rigid_ball(0.15f), (yw_vec3){1.2f, 1.4f, 0}, (yw_vec3){0, 0, 0},
            (yw_vec3){0, 5, 0});
}

static void bits_do_not_depend_on_threads_or_instruction_sets(void** state) {
  (void)state;
  uint64_t hash = hash_after(fill, 0, 60, 1, YW_SIMD_PLAIN);
  assert_true(hash == hash_after(fill, 0, 60, 3, YW_SIMD_AUTO));
}

static void snapshots_go_on_bit_for_bit(void** state) {
  (void)state;
  check_snapshot(fill, 0, 30, 30);
}

static void steps_do_not_allocate(void** state) {
  (void)state;
  check_no_heap(fill, 0, 40);
}

// Soft bodies and rigid ones push each other apart and keep their momenta.
static void contact_with_soft_bodies_keeps_momenta(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_model* soft = make_box_model(4, 8, 4, 0);
  yw_body_id a = add_body(world, soft, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(soft);
  yw_body_id b = add_rigid(world, make_rigid_ball(0.2f), (yw_vec3){0.8f, 0.1f, 0.05f},
                           (yw_vec3){-2, 0, 0}, (yw_vec3){0, 3, 0});
  yw_body_sums before, sums[2];
  yw_body_sums_of(world, b, &before);
  for (int i = 0; i < 60; ++i) yw_world_step(world, 1.0f / 60, 8, NULL);
  yw_body_sums_of(world, a, &sums[0]);
  yw_body_sums_of(world, b, &sums[1]);
  assert_at_least(sums[0].momentum[0] / before.momentum[0], 0.3);
  double size = fabs(before.momentum[0]);
  for (int k = 0; k < 3; ++k) {
    assert_near(sums[0].momentum[k] + sums[1].momentum[k], before.momentum[k], 1e-4 * size);
  }
  yw_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(box_slides_and_sticks_as_coulomb_says),
      cmocka_unit_test(balls_and_cylinders_roll),
      cmocka_unit_test(sliding_ball_starts_to_roll),
      cmocka_unit_test(ball_bounces_by_its_restitution),
      cmocka_unit_test(ball_without_restitution_stays_down),
      cmocka_unit_test(thrown_boxes_come_to_rest),
      cmocka_unit_test(fast_bodies_do_not_pass_thin_plates),
      cmocka_unit_test(box_lies_on_a_narrow_post),
      cmocka_unit_test(moving_obstacles_carry_bodies),
      cmocka_unit_test(bits_do_not_depend_on_threads_or_instruction_sets),
      cmocka_unit_test(snapshots_go_on_bit_for_bit),
      cmocka_unit_test(steps_do_not_allocate),
      cmocka_unit_test(contact_with_soft_bodies_keeps_momenta),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
