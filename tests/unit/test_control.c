// SPDX-License-Identifier: MIT
// What a caller changes while the world runs.
#include "support/method_models.h"
#include "yawara/extend/vec.h"
#include "yawara/force.h"

static const yw_quat no_turn = {0, 0, 0, 1};
static const yw_quat quarter_y = {0, 0.70710678f, 0, 0.70710678f};

static yw_body_id add_method(yw_world* world, int method, yw_vec3 at) {
  yw_model* model = method_model(method);
  yw_body_id id = add_body(world, model, at, no_turn);
  yw_model_release(model);
  return id;
}

static void run(yw_world* world, int steps) {
  for (int i = 0; i < steps; ++i) assert_true(yw_world_step(world, 1.0f / 60, 2, NULL) >= 0);
}

static double center_of(const yw_world* world, yw_body_id id, int axis) {
  yw_body_sums sums;
  assert_int_equal(yw_body_sums_of(world, id, &sums), YW_OK);
  return sums.center[axis];
}

static void gravity_can_change(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_body_id id = add_method(world, 0, (yw_vec3){0, 0, 0});
  run(world, 10);
  assert_near(center_of(world, id, 0), 0.0, 1e-6);
  assert_int_equal(yw_world_set_gravity(world, (yw_vec3){2, 0, 0}), YW_OK);
  assert_near(yw_world_gravity(world).x, 2.0, 0.0);
  run(world, 60);
  assert_near(center_of(world, id, 0), 1.0, 0.03);
  assert_int_equal(yw_world_set_gravity(world, (yw_vec3){NAN, 0, 0}), YW_ERR_INVALID);
  yw_world_destroy(world);
}

// A box on a slope sticks, and slides once the friction is gone.
static void surfaces_can_change(void** state) {
  (void)state;
  for (int change = 0; change < 2; ++change) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, false);
    yw_obstacle_id slope = add_plane(world, (yw_vec3){0.34202014f, 0.93969262f, 0}, 0.8f);
    yw_model* model = method_model(4);
    yw_body_id id = add_body(world, model, (yw_vec3){0.0684f, 0.18794f, 0},
                             (yw_quat){0, 0, -0.17364818f, 0.98480775f});
    yw_model_release(model);
    yw_body_set_surface(world, id, 0.8f, 0.0f);
    run(world, 30);
    double before = center_of(world, id, 0);
    run(world, 30);
    assert_near(center_of(world, id, 0), before, 1e-3);
    yw_status status = change == 0 ? yw_body_set_surface(world, id, 0.0f, 0.0f)
                                   : yw_obstacle_set_surface(world, slope, 0.0f, 0.0f);
    assert_int_equal(status, YW_OK);
    run(world, 30);
    assert_at_least(center_of(world, id, 0), before + 0.2);
    assert_int_equal(yw_body_set_surface(world, id, -1.0f, 0.0f), YW_ERR_INVALID);
    assert_int_equal(yw_obstacle_set_surface(world, slope, 0.0f, 2.0f), YW_ERR_INVALID);
    yw_world_destroy(world);
  }
}

static yw_obstacle_id add_plate(yw_world* world) {
  yw_error error = {0};
  yw_shape* shape = NULL;
  yw_shape_box(NULL, (yw_vec3){1, 0.1f, 1}, &shape);
  yw_obstacle_def def = yw_default_obstacle_def();
  def.shape = shape;
  yw_obstacle_id id;
  assert_int_equal(yw_obstacle_create(world, &def, &id, &error), YW_OK);
  yw_shape_release(shape);
  return id;
}

// A lift carries a body; a body on a turntable turns; a plate that is put elsewhere pushes nothing.
static void obstacles_move_by_hand(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_obstacle_id lift = add_plate(world);
  yw_body_id id = add_method(world, 4, (yw_vec3){0, 0.3f, 0});
  run(world, 10);
  for (int i = 1; i <= 30; ++i) {
    assert_int_equal(yw_obstacle_move(world, lift, (yw_vec3){0, 0.02f * (float)i, 0}, no_turn),
                     YW_OK);
    run(world, 1);
  }
  assert_near(center_of(world, id, 1), 0.9, 0.02);
  yw_transform pose;
  assert_int_equal(yw_obstacle_pose(world, lift, 0.0, &pose), YW_OK);
  assert_near(pose.position.y, 0.6, 1e-6);
  // Moved, it stands still afterwards; with a velocity it goes on.
  run(world, 30);
  assert_near(center_of(world, id, 1), 0.9, 0.02);
  assert_int_equal(yw_obstacle_set_velocity(world, lift, (yw_vec3){0, 0.5f, 0}, (yw_vec3){0, 2, 0}),
                   YW_OK);
  run(world, 60);
  assert_near(center_of(world, id, 1), 1.4, 0.02);
  yw_obstacle_pose(world, lift, 0.0, &pose);
  assert_near(fabsf(pose.rotation.y), sin(1.0), 1e-4);
  yw_body_sums sums;
  yw_body_sums_of(world, id, &sums);
  assert_at_least(sums.angular_momentum[1], 0.1);
  assert_int_equal(yw_obstacle_place(world, lift, (yw_vec3){0, -5, 0}, no_turn), YW_OK);
  run(world, 30);
  assert_at_most(center_of(world, id, 1), 0.6);
  assert_int_equal(yw_obstacle_move(world, lift, (yw_vec3){NAN, 0, 0}, no_turn), YW_ERR_INVALID);
  yw_world_destroy(world);
}

// Bodies and their pins go elsewhere and move there as they would have here.
static void teleports_take_pins_along(void** state) {
  (void)state;
  for (int method = 0; method < NUM_METHOD_BODIES; ++method) {
    yw_world *here = make_weightless_world(1), *there = make_weightless_world(1);
    yw_world* worlds[2] = {here, there};
    yw_body_id ids[2];
    yw_vec3 offset = {3, -1, 2};
    yw_quat rotation = quarter_y;
    for (int k = 0; k < 2; ++k) {
      ids[k] = add_method(worlds[k], method, (yw_vec3){0, 0, 0});
      pin_vertex(worlds[k], ids[k], 0, false);
      yw_body_add_impulse(worlds[k], ids[k], (yw_vec3){0.2f, 0.3f, 0.1f});
      run(worlds[k], 3);
    }
    yw_vec3 pivot = {0.1f, 0, 0};
    assert_int_equal(yw_body_teleport(there, ids[1], pivot, rotation, offset), YW_OK);
    run(here, 10);
    run(there, 10);
    int32_t count;
    const yw_vec3* a = yw_body_positions(here, ids[0], &count);
    const yw_vec3* b = yw_body_positions(there, ids[1], &count);
    for (int32_t i = 0; i < count; ++i) {
      yw_vec3 moved = yw_add(yw_add(pivot, offset), yw_rotate(rotation, yw_sub(a[i], pivot)));
      if (!(yw_distance(moved, b[i]) < 2e-3f)) print_error("method %d: ", method);
      assert_near(yw_distance(moved, b[i]), 0.0, 2e-3);
    }
    yw_world_destroy(here);
    yw_world_destroy(there);
  }
}

static void callers_keep_pointers(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_obstacle_id plate = add_plate(world);
  yw_body_id id = add_method(world, 0, (yw_vec3){0, 1, 0});
  int thing = 0;
  assert_null(yw_body_user(world, id));
  assert_int_equal(yw_body_set_user(world, id, &thing), YW_OK);
  assert_int_equal(yw_obstacle_set_user(world, plate, &thing), YW_OK);
  run(world, 2);
  assert_ptr_equal(yw_body_user(world, id), &thing);
  assert_ptr_equal(yw_obstacle_user(world, plate), &thing);
  yw_body_destroy(world, id);
  assert_null(yw_body_user(world, id));
  assert_int_equal(yw_body_set_user(world, id, &thing), YW_ERR_INVALID);
  yw_world_destroy(world);
}

static void divergence_is_told(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_body_id id = add_method(world, 0, (yw_vec3){0, 0, 0});
  assert_false(yw_body_is_diverged(world, id));
  yw_body_add_impulse(world, id, (yw_vec3){3e12f, 0, 0});
  assert_int_equal(yw_world_step(world, 1.0f / 60, 1, NULL), YW_WARN_NUMERICS);
  assert_true(yw_body_is_diverged(world, id));
  int32_t count;
  const yw_vec3* shown = yw_body_positions(world, id, &count);
  yw_vec3* copy = malloc((size_t)count * sizeof *copy);
  memcpy(copy, shown, (size_t)count * sizeof *copy);
  assert_int_equal(yw_body_set_state(world, id, copy, NULL), YW_OK);
  assert_false(yw_body_is_diverged(world, id));
  free(copy);
  yw_world_destroy(world);
}

typedef enum waker {
  BY_FORCE,
  BY_IMPULSE,
  BY_GRAVITY,
  BY_TOUCH,
  BY_OBSTACLE,
  BY_HAND,
  NUM_WAKERS
} waker;

// Bodies of every method sleep in the air, and fall when something wakes them.
static void bodies_sleep_until_woken(void** state) {
  (void)state;
  for (int method = 0; method < NUM_METHOD_BODIES; ++method) {
    for (int by = 0; by < NUM_WAKERS; ++by) {
      yw_world* world = make_world(1, YW_SIMD_AUTO, false);
      yw_obstacle_id plate = add_plate(world);
      yw_obstacle_place(world, plate, (yw_vec3){0, -5, 0}, no_turn);
      yw_body_id id = add_method(world, method, (yw_vec3){0, 0, 0});
      yw_body_id other = add_method(world, 4, (yw_vec3){0, 2, 0});
      assert_int_equal(yw_body_sleep(world, other), YW_OK);
      assert_int_equal(yw_body_sleep(world, id), YW_OK);
      uint64_t hash = yw_world_hash(world);
      run(world, 10);
      assert_true(yw_body_is_asleep(world, id) && yw_world_hash(world) != hash);
      assert_near(center_of(world, id, 1), 0.0, 1e-6);
      if (by == BY_FORCE) yw_body_add_force(world, id, (yw_vec3){0, 0.001f, 0});
      if (by == BY_IMPULSE) yw_body_add_impulse(world, id, (yw_vec3){0, 0.001f, 0});
      if (by == BY_GRAVITY) yw_world_set_gravity(world, (yw_vec3){0, -9.0f, 0});
      if (by == BY_TOUCH) yw_body_wake(world, other);
      if (by == BY_OBSTACLE)
        yw_obstacle_set_velocity(world, plate, (yw_vec3){0, 20, 0}, (yw_vec3){0});
      if (by == BY_HAND) yw_body_wake(world, id);
      run(world, 50);
      if (yw_body_is_asleep(world, id)) print_error("method %d, waker %d: ", method, by);
      assert_false(yw_body_is_asleep(world, id));
      assert_true(fabs(center_of(world, id, 1)) > 0.1);
      yw_world_destroy(world);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gravity_can_change),       cmocka_unit_test(surfaces_can_change),
      cmocka_unit_test(obstacles_move_by_hand),   cmocka_unit_test(teleports_take_pins_along),
      cmocka_unit_test(callers_keep_pointers),    cmocka_unit_test(divergence_is_told),
      cmocka_unit_test(bodies_sleep_until_woken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
