// SPDX-License-Identifier: MIT
// Forces, impulses, explosions and wind: bodies of every method get exactly the momentum given.
#include "support/method_models.h"
#include "yawara/extend/vec.h"
#include "yawara/force.h"

#define RIGID 4  // in method_bodies

static const yw_quat no_turn = {0, 0, 0, 1};

static yw_body_id add_method(yw_world* world, int method, yw_vec3 at) {
  yw_model* model = method_model(method);
  yw_body_id id = add_body(world, model, at, no_turn);
  yw_model_release(model);
  return id;
}

static void check_momentum(const yw_world* world, yw_body_id id, yw_vec3 expected, int method) {
  yw_body_sums sums;
  assert_int_equal(yw_body_sums_of(world, id, &sums), YW_OK);
  const double wanted[3] = {(double)expected.x, (double)expected.y, (double)expected.z};
  for (int k = 0; k < 3; ++k) {
    // The rounding of float velocities and, in implicit methods, the tolerance of the solve.
    double off = 2e-4 * (double)yw_length(expected) + 1e-5 * sums.mass;
    if (!(fabs(sums.momentum[k] - wanted[k]) <= off)) print_error("method %d: ", method);
    assert_near(sums.momentum[k], wanted[k], off);
  }
}

typedef enum way { WHOLE, AT_POINT, NEAR_POINT, VERTICES, NUM_WAYS } way;

static void give(yw_world* world, yw_body_id id, way how, yw_vec3 value, bool impulse) {
  const int32_t vertices[2] = {1, 3};
  const yw_vec3 each[2] = {yw_scale(value, 0.25f), yw_scale(value, 0.75f)};
  yw_vec3 at = {0.1f, 0.3f, 0.05f};
  yw_status status = YW_OK;
  if (how == WHOLE) {
    status = impulse ? yw_body_add_impulse(world, id, value) : yw_body_add_force(world, id, value);
  } else if (how == AT_POINT || how == NEAR_POINT) {
    float radius = how == AT_POINT ? 0.0f : 0.35f;
    status = impulse ? yw_body_add_impulse_at(world, id, at, radius, value)
                     : yw_body_add_force_at(world, id, at, radius, value);
  } else {
    status = impulse ? yw_body_add_vertex_impulses(world, id, vertices, each, 2)
                     : yw_body_add_vertex_forces(world, id, vertices, each, 2);
  }
  assert_int_equal(status, YW_OK);
}

// At once, and after flying for a while.
static void impulses_become_momentum(void** state) {
  (void)state;
  for (int method = 0; method < NUM_METHOD_BODIES; ++method) {
    for (int how = 0; how < NUM_WAYS; ++how) {
      yw_world* world = make_weightless_world(1);
      yw_body_id id = add_method(world, method, (yw_vec3){0, 0, 0});
      for (int i = 0; i < 3; ++i) yw_world_step(world, 1.0f / 60, 2, NULL);
      yw_body_sums sums;
      yw_body_sums_of(world, id, &sums);
      yw_vec3 impulse = yw_scale((yw_vec3){0.3f, -0.1f, 0.2f}, 0.2f * (float)sums.mass);
      give(world, id, (way)how, impulse, true);
      check_momentum(world, id, impulse, method);
      for (int i = 0; i < 5; ++i) yw_world_step(world, 1.0f / 60, 2, NULL);
      check_momentum(world, id, impulse, method);
      yw_world_destroy(world);
    }
  }
}

// Near a point every vertex gets its share, less towards the border: 1 - d^2 / r^2 of the change of
// velocity at the point itself.
static void impulses_fade_with_the_distance(void** state) {
  (void)state;
  const float radius = 0.45f;
  const yw_vec3 point = {0.1f, 0.05f, -0.1f};
  for (int method = 0; method < 2; ++method) {
    yw_world* world = make_weightless_world(1);
    yw_body_id id = add_method(world, method, (yw_vec3){0, 0, 0});
    assert_int_equal(yw_body_add_impulse_at(world, id, point, radius, (yw_vec3){3, 0, 0}), YW_OK);
    int32_t count, moved = 0;
    const yw_vec3* x = yw_body_positions(world, id, &count);
    const yw_vec3* v = yw_body_velocities(world, id, NULL);
    double first = 0;
    for (int32_t i = 0; i < count; ++i) {
      double d = (double)yw_distance(x[i], point) / (double)radius, share = 1 - d * d;
      if (share <= 0) assert_near(v[i].x, 0, 0);
      if (share <= 0.01) continue;
      if (first == 0) first = (double)v[i].x / share;
      assert_near((double)v[i].x / share, first, 1e-4 * first);
      ++moved;
    }
    assert_true(first > 0);
    assert_true(moved > 8 && moved < count);
    yw_world_destroy(world);
  }
}

// A force F for n steps of dt: F n dt, and forgotten when it is not added again.
static void forces_become_momentum(void** state) {
  (void)state;
  for (int method = 0; method < NUM_METHOD_BODIES; ++method) {
    for (int how = 0; how < NUM_WAYS; ++how) {
      yw_world* world = make_weightless_world(1);
      yw_body_id id = add_method(world, method, (yw_vec3){0, 0, 0});
      yw_body_sums sums;
      yw_body_sums_of(world, id, &sums);
      yw_vec3 force = yw_scale((yw_vec3){0.2f, 0.4f, -0.1f}, (float)sums.mass);
      for (int i = 0; i < 6; ++i) {
        give(world, id, (way)how, force, false);
        yw_world_step(world, 1.0f / 60, 3, NULL);
      }
      for (int i = 0; i < 4; ++i) yw_world_step(world, 1.0f / 60, 3, NULL);
      check_momentum(world, id, yw_scale(force, 6.0f / 60.0f), method);
      yw_world_destroy(world);
    }
  }
}

// A force equal to the weight holds a body up: it acts like gravity in every method.
static void a_force_like_the_weight_carries(void** state) {
  (void)state;
  for (int method = 0; method < NUM_METHOD_BODIES; ++method) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, false);
    yw_body_id id = add_method(world, method, (yw_vec3){0, 0, 0});
    yw_body_sums sums;
    yw_body_sums_of(world, id, &sums);
    for (int i = 0; i < 30; ++i) {
      yw_body_add_force(world, id, (yw_vec3){0, 9.81f * (float)sums.mass, 0});
      yw_world_step(world, 1.0f / 60, 2, NULL);
    }
    double rest = sums.center[1];
    yw_body_sums_of(world, id, &sums);
    // Falling freely it would be 1.2 m lower. Forces act at the start of substeps, gravity inside
    // of them: positions may differ by g h t.
    double off = 9.81 / 120.0 * 0.5;
    if (!(fabs(sums.center[1] - rest) < off)) print_error("method %d: ", method);
    assert_near(sums.center[1], rest, off);
    assert_near(sums.momentum[1] / sums.mass, 0.0, 1e-3);
    yw_world_destroy(world);
  }
}

// J at r from the centre: angular momentum r x J, exactly there for rigid bodies.
static void points_give_angular_momentum(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_body_id id = add_method(world, RIGID, (yw_vec3){1, 2, 3});
  yw_vec3 arm = {0.3f, -0.1f, 0.25f}, impulse = {1, 2, -3};
  yw_status status =
      yw_body_add_impulse_at(world, id, yw_add((yw_vec3){1, 2, 3}, arm), 0.0f, impulse);
  assert_int_equal(status, YW_OK);
  yw_body_sums sums;
  yw_body_sums_of(world, id, &sums);
  yw_vec3 spin = yw_cross(arm, impulse);
  assert_near(sums.angular_momentum[0], spin.x, 1e-4);
  assert_near(sums.angular_momentum[1], spin.y, 1e-4);
  assert_near(sums.angular_momentum[2], spin.z, 1e-4);
  yw_world_destroy(world);
}

// A small blast in front of a large flat face gives p A; behind it the far side feels nothing.
static void explosions_push_what_faces_them(void** state) {
  (void)state;
  for (int method = 0; method < NUM_METHOD_BODIES; ++method) {
    yw_world* world = make_weightless_world(1);
    yw_body_id near = add_method(world, method, (yw_vec3){0, 0, 0});
    yw_body_id far = add_method(world, method, (yw_vec3){0, 60, 0});
    yw_explosion_def def = yw_default_explosion_def();
    def.center = (yw_vec3){0, -20, 0};
    def.radius = 40.0f;
    def.impulse = 100.0f;
    assert_int_equal(yw_world_explode(world, &def), YW_OK);
    yw_body_sums a, b;
    yw_body_sums_of(world, near, &a);
    yw_body_sums_of(world, far, &b);
    // Half of the pressure at half of the radius, on 0.16 m^2; 0.3 % for the slant of the rays.
    double area = method < 3 || method == RIGID || method == 5 ? 0.16 : 0.0;
    if (area > 0.0) assert_near(a.momentum[1], 50.0 * area, 0.02 * 50.0 * area);
    assert_at_least(a.momentum[1], 0.5);
    assert_near(a.momentum[0], 0.0, 0.01 * a.momentum[1]);
    assert_near(b.momentum[1], 0.0, 0.0);
    // Only bodies in its groups.
    def.mask = 2;
    assert_int_equal(yw_world_explode(world, &def), YW_OK);
    double before = a.momentum[1];
    yw_body_sums_of(world, near, &a);
    assert_near(a.momentum[1], before, 0.0);
    yw_world_destroy(world);
  }
}

// A cube of 0.16 m^2 in wind: after a short while 1/2 rho c A v^2 t; falling, it reaches
// sqrt(2 m g / (rho c A)).
static void wind_drags_by_silhouette(void** state) {
  (void)state;
  for (int method = 0; method < NUM_METHOD_BODIES; ++method) {
    if (method == 3 || method == 6) continue;
    yw_world* world = make_weightless_world(1);
    yw_body_id id = add_method(world, method, (yw_vec3){0, 0, 0});
    yw_wind_def wind = yw_default_wind_def();
    wind.velocity = (yw_vec3){0, 5, 0};
    wind.drag = 1.1f;
    assert_int_equal(yw_world_set_wind(world, &wind), YW_OK);
    yw_world_step(world, 1.0f / 60, 4, NULL);
    double force = 0.5 * 1.2 * 1.1 * 0.16 * 25.0;
    yw_body_sums sums;
    yw_body_sums_of(world, id, &sums);
    // Light sheets are carried along within the step.
    assert_near(sums.momentum[1], force / 60.0, (method == 5 ? 0.05 : 0.01) * force / 60.0);
    assert_int_equal(yw_world_set_wind(world, NULL), YW_OK);
    double before = sums.momentum[1];
    yw_world_step(world, 1.0f / 60, 4, NULL);
    yw_body_sums_of(world, id, &sums);
    assert_near(sums.momentum[1], before, 1e-3 * before);
    yw_world_destroy(world);
  }
}

static void bodies_fall_at_terminal_speed(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_id id = add_method(world, RIGID, (yw_vec3){0, 0, 0});
  yw_wind_def wind = yw_default_wind_def();
  wind.density = 1000.0f;
  assert_int_equal(yw_world_set_wind(world, &wind), YW_OK);
  for (int i = 0; i < 240; ++i) yw_world_step(world, 1.0f / 60, 4, NULL);
  yw_body_sums sums;
  yw_body_sums_of(world, id, &sums);
  double speed = sqrt(2.0 * sums.mass * 9.81 / (1000.0 * 0.16));
  assert_near(sums.momentum[1] / sums.mass, -speed, 0.01 * speed);
  yw_world_destroy(world);
}

static uint64_t hash_of_pushed(int32_t threads) {
  yw_world* world = make_world(threads, YW_SIMD_AUTO, true);
  yw_body_id ids[NUM_METHOD_BODIES];
  for (int i = 0; i < NUM_METHOD_BODIES; ++i) {
    ids[i] = add_method(world, i, (yw_vec3){0.6f * (float)i, 0.4f, 0});
  }
  yw_wind_def wind = yw_default_wind_def();
  wind.velocity = (yw_vec3){3, 1, -2};
  yw_world_set_wind(world, &wind);
  yw_explosion_def blast = yw_default_explosion_def();
  blast.center = (yw_vec3){2, 0, 0.5f};
  blast.radius = 3.0f;
  blast.impulse = 40.0f;
  for (int i = 0; i < 12; ++i) {
    if (i == 4) yw_world_explode(world, &blast);
    for (int k = 0; k < NUM_METHOD_BODIES; ++k) {
      yw_body_add_force_at(world, ids[k], (yw_vec3){0.6f * (float)k, 0.5f, 0}, 0.2f,
                           (yw_vec3){0, 1, 2});
    }
    yw_world_step(world, 1.0f / 60, 2, NULL);
  }
  uint64_t hash = yw_world_hash(world);
  yw_world_destroy(world);
  return hash;
}

static void threads_do_not_matter(void** state) {
  (void)state;
  assert_true(hash_of_pushed(1) == hash_of_pushed(3));
}

// Forces that wait for their step are part of the hash and of snapshots.
static void waiting_forces_are_saved(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_body_id id = add_method(world, 0, (yw_vec3){0, 0, 0});
  uint64_t hash = yw_world_hash(world);
  yw_body_add_force(world, id, (yw_vec3){0, 30, 0});
  assert_true(yw_world_hash(world) != hash);
  size_t size = yw_world_snapshot_size(world);
  void* bytes = malloc(size);
  assert_int_equal(yw_world_save(world, bytes, size, NULL), YW_OK);
  yw_world_step(world, 1.0f / 60, 2, NULL);
  uint64_t after = yw_world_hash(world);
  assert_int_equal(yw_world_load(world, bytes, size, NULL), YW_OK);
  yw_world_step(world, 1.0f / 60, 2, NULL);
  assert_true(yw_world_hash(world) == after);
  free(bytes);
  yw_world_destroy(world);
}

static void scenes_have_wind(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{\"gravity\": [0, 0, 0], \"wind\": {\"velocity\": [9, 0, 0]},"
      " \"bodies\": [{\"shape\": {\"box\": {\"size\": 0.4}}}]}");
  yw_world* world = world_of(scene);
  yw_world_step(world, 1.0f / 60, 4, NULL);
  yw_body_sums sums;
  yw_body_sums_of(world, yw_world_body(world, 0), &sums);
  double force = 0.5 * 1.2 * 0.16 * 81.0;
  assert_near(sums.momentum[0], force / 60.0, 0.02 * force / 60.0);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void bad_arguments_are_refused(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_body_id id = add_method(world, 0, (yw_vec3){0, 0, 0}), stale = {9, 1};
  yw_vec3 zero = {0, 0, 0}, bad = {0, NAN, 0};
  int32_t vertex = 99999;
  assert_int_equal(yw_body_add_force(world, stale, zero), YW_ERR_INVALID);
  assert_int_equal(yw_body_add_impulse(world, id, bad), YW_ERR_INVALID);
  assert_int_equal(yw_body_add_force_at(world, id, bad, 0.0f, zero), YW_ERR_INVALID);
  assert_int_equal(yw_body_add_impulse_at(world, id, zero, -1.0f, zero), YW_ERR_INVALID);
  assert_int_equal(yw_body_add_vertex_forces(world, id, &vertex, &zero, 1), YW_ERR_INVALID);
  assert_int_equal(yw_body_add_vertex_forces(world, id, NULL, &zero, 1), YW_ERR_INVALID);
  assert_int_equal(yw_world_explode(world, NULL), YW_ERR_INVALID);
  yw_explosion_def blast = yw_default_explosion_def();
  assert_int_equal(yw_world_explode(world, &blast), YW_ERR_INVALID);
  yw_wind_def wind = yw_default_wind_def();
  wind.density = -1.0f;
  assert_int_equal(yw_world_set_wind(world, &wind), YW_ERR_INVALID);
  yw_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impulses_become_momentum),
      cmocka_unit_test(impulses_fade_with_the_distance),
      cmocka_unit_test(forces_become_momentum),
      cmocka_unit_test(a_force_like_the_weight_carries),
      cmocka_unit_test(points_give_angular_momentum),
      cmocka_unit_test(explosions_push_what_faces_them),
      cmocka_unit_test(wind_drags_by_silhouette),
      cmocka_unit_test(bodies_fall_at_terminal_speed),
      cmocka_unit_test(threads_do_not_matter),
      cmocka_unit_test(waiting_forces_are_saved),
      cmocka_unit_test(scenes_have_wind),
      cmocka_unit_test(bad_arguments_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
