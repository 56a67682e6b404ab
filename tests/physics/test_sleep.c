// SPDX-License-Identifier: MIT
// Bodies that rest on each other fall asleep together, cost nothing, and wake together.
#include <stdlib.h>

#include "support/crossings.h"
#include "yawara/force.h"
#include "yawara/joint.h"
#include "yawara/track.h"

#define NUM_BODIES 3
#define DT (1.0f / 60)

#define MATCH "\"match\": {}"
#define FRAMES "\"frames\": {\"youngs_modulus\": 1e6}"
#define RIGID "\"rigid\": {}"

// Three boxes on a floor, one on the other, and a fourth at some distance.
static yw_world* stack_of(const char* method, double height, const char* contact) {
  char text[3000];
  int at =
      snprintf(text, sizeof text, "{\"contact\": \"%s\", \"floor\": true, \"bodies\": [", contact);
  for (int i = 0; i < NUM_BODIES + 1; ++i) {
    double x = i < NUM_BODIES ? 0.0 : 2.0, y = (0.505 + (i < NUM_BODIES ? 1.01 * i : 0.0)) * height;
    at += snprintf(text + at, sizeof text - (size_t)at,
                   "%s{\"mesh\": {\"lattice\": {\"size\": [0.4, %g, 0.4], \"cells\": 2}}, %s,"
                   " \"position\": [%g, %g, 0]}",
                   i > 0 ? "," : "", height, method, x, y);
  }
  snprintf(text + at, sizeof text - (size_t)at, "]}");
  return surface_world(text, 1);
}

static void step(yw_world* world, int count) {
  for (int i = 0; i < count; ++i) assert_true(yw_world_step(world, DT, 4, NULL) >= 0);
}

static int count_sleepers(const yw_world* world) {
  int count = 0;
  for (int i = 0; i < NUM_BODIES; ++i) count += yw_body_is_asleep(world, yw_world_body(world, i));
  return count;
}

// Steps until the stack sleeps; at most 4 s.
static int run_to_sleep(yw_world* world) {
  int steps = 0;
  for (; steps < 240 && count_sleepers(world) < NUM_BODIES; ++steps) {
    step(world, 1);
    // All or none.
    if (count_sleepers(world) % NUM_BODIES != 0) fail_msg("a part of the stack sleeps");
  }
  if (count_sleepers(world) < NUM_BODIES) fail_msg("awake after %d steps", steps);
  return steps;
}

static void stacks_fall_asleep(void** state) {
  (void)state;
  static const char* const settings[] = {MATCH, FRAMES, RIGID};
  static const double heights[] = {0.2, 0.4, 0.4};
  for (int i = 0; i < 3; ++i) {
    yw_world* world = stack_of(settings[i], heights[i], "surfaces");
    int steps = run_to_sleep(world);
    printf("  %s: %.2f s\n", settings[i], steps / 60.0);
    int32_t count;
    yw_vec3 before = yw_body_positions(world, yw_world_body(world, 2), &count)[0];
    step(world, 20);
    yw_vec3 after = yw_body_positions(world, yw_world_body(world, 2), &count)[0];
    assert_memory_equal(&before, &after, sizeof before);
    yw_vec3 speed = yw_body_velocities(world, yw_world_body(world, 2), &count)[0];
    assert_near(yw_length(speed), 0.0, 0.0);
    yw_world_destroy(world);
  }
}

// Who does not want sleep has none, and slow bodies in space go on.
static void sleep_can_be_turned_off(void** state) {
  (void)state;
  yw_world* world = stack_of(RIGID, 0.4, "surfaces");
  assert_near((double)yw_world_sleep_speed(world), 0.005, 1e-9);
  assert_int_equal(yw_world_set_sleep_speed(world, NAN), YW_ERR_INVALID);
  assert_int_equal(yw_world_set_sleep_speed(world, -1.0f), YW_ERR_INVALID);
  assert_int_equal(yw_world_set_sleep_speed(world, 0.0f), YW_OK);
  step(world, 120);
  assert_int_equal(count_sleepers(world), 0);
  yw_world_destroy(world);
  world = surface_world(
      "{\"gravity\": [0, 0, 0], \"bodies\": [{\"shape\": {\"sphere\": {\"radius\": 0.1}}, "
      "\"rigid\": {},"
      " \"velocity\": [0.0005, 0, 0]}]}",
      1);
  step(world, 60);
  yw_body_sums sums;
  yw_body_sums_of(world, yw_world_body(world, 0), &sums);
  assert_near(sums.center[0], 0.0005, 1e-6);
  yw_world_destroy(world);
}

// Work of a step, by calls of the method and of contact
// --------------------------------------------

static int num_calls;
static const yw_method* counted;

static yw_status count_advance(void* state, yw_particles* particles, const yw_step_ctx* ctx) {
  ++num_calls;
  return counted->advance(state, particles, ctx);
}

// Contact asks for it before it looks at a body.
static yw_contact_geometry count_geometry(const void* state) {
  ++num_calls;
  return counted->contact_geometry(state);
}

static void sleepers_cost_nothing(void** state) {
  (void)state;
  for (int k = 0; k < 2; ++k) {
    yw_world* world = stack_of(MATCH, 0.2, k == 0 ? "points" : "surfaces");
    yw_method method = *world->bodies.items[0].model->method;
    counted = world->bodies.items[0].model->method;
    method.advance = count_advance;
    method.contact_geometry = count_geometry;
    for (int i = 0; i < world->bodies.count; ++i) world->bodies.items[i].model->method = &method;
    step(world, 1);
    assert_true(num_calls >= 4 * (NUM_BODIES + 1));
    run_to_sleep(world);
    step(world, 60);
    num_calls = 0;
    yw_step_report report;
    assert_true(yw_world_step(world, DT, 4, &report) >= 0);
    assert_int_equal(num_calls, 0);
    assert_int_equal(report.sleeping_particles, report.num_particles);
    assert_int_equal(report.body_contacts, 0);
    for (int i = 0; i < world->bodies.count; ++i) world->bodies.items[i].model->method = counted;
    yw_world_destroy(world);
  }
}

// What wakes a stack ------------------------------------------------------------------------------

static void by_force(yw_world* world, yw_body_id middle) {
  yw_body_add_force(world, middle, (yw_vec3){0.001f, 0, 0});
}
static void by_impulse(yw_world* world, yw_body_id middle) {
  yw_body_add_impulse(world, middle, (yw_vec3){0, 0.001f, 0});
}
static void by_gravity(yw_world* world, yw_body_id middle) {
  (void)middle;
  yw_world_set_gravity(world, (yw_vec3){0, -9.0f, 0});
}
static void by_wind(yw_world* world, yw_body_id middle) {
  (void)middle;
  yw_wind_def wind = yw_default_wind_def();
  wind.velocity = (yw_vec3){1, 0, 0};
  yw_world_set_wind(world, &wind);
}
static void by_parameters(yw_world* world, yw_body_id middle) {
  yw_match_params params;
  yw_body_match_params(world, middle, &params);
  params.damping = 0.5f;
  assert_int_equal(yw_body_set_match_params(world, middle, &params), YW_OK);
}
static void by_friction(yw_world* world, yw_body_id middle) {
  yw_body_set_surface(world, middle, 0.1f, 0.0f);
}
static void by_obstacle(yw_world* world, yw_body_id middle) {
  (void)middle;
  yw_obstacle_id floor = {1, world->obstacles.items[0].generation};
  yw_obstacle_set_velocity(world, floor, (yw_vec3){0.01f, 0, 0}, (yw_vec3){0});
}
static void by_pin(yw_world* world, yw_body_id middle) {
  const int32_t vertex = 0;
  yw_pin_def def = yw_default_pin_def();
  def.body = middle;
  def.vertices = &vertex;
  def.num_vertices = 1;
  yw_pin_id pin;
  assert_int_equal(yw_pin_create(world, &def, &pin, NULL), YW_OK);
}
static void by_joint(yw_world* world, yw_body_id middle) {
  const int32_t vertex = 0;
  yw_joint_def def = yw_default_joint_def();
  def.kind = YW_JOINT_SPRING;
  def.ends[0] = (yw_joint_end){.body = middle, .vertices = &vertex, .num_vertices = 1};
  def.ends[1] = (yw_joint_end){.point = {0, 3, 0}};
  yw_joint_id joint;
  assert_int_equal(yw_joint_create(world, &def, &joint, NULL), YW_OK);
}
static void by_track(yw_world* world, yw_body_id middle) {
  yw_track_def def = yw_default_track_def();
  const yw_track_key keys[2] = {{0.0, {0.4f, 0, 0}}, {100.0, {0.5f, 0, 0}}};
  def.target = YW_TRACK_FRICTION;
  def.body = middle;
  def.keys = keys;
  def.num_keys = 2;
  yw_track_id track;
  assert_int_equal(yw_track_create(world, &def, &track, NULL), YW_OK);
}
static void by_teleport(yw_world* world, yw_body_id middle) {
  yw_body_teleport(world, middle, (yw_vec3){0}, (yw_quat){0, 0, 0, 1}, (yw_vec3){3, 0, 0});
}
static void by_removal(yw_world* world, yw_body_id middle) { yw_body_destroy(world, middle); }
static void by_hand(yw_world* world, yw_body_id middle) { yw_body_wake(world, middle); }
// The fourth body falls on the stack.
static void by_touch(yw_world* world, yw_body_id middle) {
  (void)middle;
  yw_body_teleport(world, yw_world_body(world, 3), (yw_vec3){0}, (yw_quat){0, 0, 0, 1},
                   (yw_vec3){-2, 0.61f, 0});
}

static void stacks_wake(void** state) {
  (void)state;
  static const struct {
    const char* name;
    void (*wake)(yw_world* world, yw_body_id middle);
    int steps;
  } wakers[] = {{"force", by_force, 1},
                {"impulse", by_impulse, 1},
                {"gravity", by_gravity, 1},
                {"wind", by_wind, 1},
                {"parameters", by_parameters, 1},
                {"friction", by_friction, 1},
                {"obstacle", by_obstacle, 1},
                {"pin", by_pin, 1},
                {"joint", by_joint, 1},
                {"track", by_track, 1},
                {"teleport", by_teleport, 1},
                {"removal", by_removal, 1},
                {"hand", by_hand, 1},
                {"touch", by_touch, 30}};
  yw_world* world = stack_of(MATCH, 0.2, "points");
  run_to_sleep(world);
  size_t size = yw_world_snapshot_size(world);
  void* asleep = malloc(size);
  assert_int_equal(yw_world_save(world, asleep, size, NULL), YW_OK);
  for (size_t i = 0; i < sizeof wakers / sizeof *wakers; ++i) {
    yw_world* own = stack_of(MATCH, 0.2, "points");
    assert_int_equal(yw_world_load(own, asleep, size, NULL), YW_OK);
    step(own, 5);
    assert_int_equal(count_sleepers(own), NUM_BODIES);
    yw_body_id bottom = yw_world_body(own, 0), middle = yw_world_body(own, 1);
    yw_body_id top = yw_world_body(own, 2);
    wakers[i].wake(own, middle);
    step(own, wakers[i].steps);
    if (yw_body_is_asleep(own, bottom) || yw_body_is_asleep(own, top)) {
      fail_msg("%s does not wake the stack", wakers[i].name);
    }
    yw_world_destroy(own);
  }
  free(asleep);
  yw_world_destroy(world);
}

// A motor at rest does not wake; one that is told to turn does.
static void motors_wake(void** state) {
  (void)state;
  yw_world* world = surface_world(
      "{\"floor\": true, \"bodies\": [{\"name\": \"a\", \"shape\": {\"box\": {\"size\": 0.4}},"
      " \"rigid\": {}, \"position\": [0, 0.2, 0]}, {\"name\": \"b\", \"shape\": {\"box\": {"
      "\"size\": 0.4}}, \"rigid\": {}, \"position\": [0.5, 0.2, 0]}], \"joints\": [{\"kind\": "
      "\"hinge\", \"axis\": [0, 0, 1], \"body\": \"a\", \"to\": \"b\", \"at\": [0.25, 0.2, 0]}]}",
      1);
  step(world, 60);
  yw_body_id ids[2] = {yw_world_body(world, 0), yw_world_body(world, 1)};
  assert_true(yw_body_is_asleep(world, ids[0]) && yw_body_is_asleep(world, ids[1]));
  yw_joint_id joint = {1, world->joints.items[0].generation};
  assert_int_equal(yw_joint_set_motor(world, joint, 1.0f, 100.0f), YW_OK);
  step(world, 2);
  assert_false(yw_body_is_asleep(world, ids[0]) || yw_body_is_asleep(world, ids[1]));
  yw_world_destroy(world);
}

// The time at rest and the islands are in snapshots: a resumed world falls asleep in the same step.
static void resumed_worlds_sleep_alike(void** state) {
  (void)state;
  yw_world* first = stack_of(MATCH, 0.2, "points");
  int steps = run_to_sleep(first);
  yw_world* second = stack_of(MATCH, 0.2, "points");
  step(second, steps - 10);
  size_t size = yw_world_snapshot_size(second);
  void* bytes = malloc(size);
  assert_int_equal(yw_world_save(second, bytes, size, NULL), YW_OK);
  // It goes its own way, and back.
  yw_body_add_impulse(second, yw_world_body(second, 1), (yw_vec3){0, 5, 0});
  step(second, 5);
  assert_int_equal(yw_world_restore(second, bytes, size, NULL), YW_OK);
  step(second, 10);
  assert_int_equal(count_sleepers(second), NUM_BODIES);
  assert_true(yw_world_hash(second) == yw_world_hash(first));
  free(bytes);
  yw_world_destroy(first);
  yw_world_destroy(second);
}

// Nothing ends because contact no longer looks at sleepers.
static void sleepers_keep_their_contacts(void** state) {
  (void)state;
  yw_world* world = stack_of(MATCH, 0.2, "points");
  assert_int_equal(yw_world_record_contacts(world, true), YW_OK);
  run_to_sleep(world);
  int32_t before, after;
  const yw_contact_info* contacts = yw_world_contacts(world, &before);
  float weight = contacts[0].impulse;
  assert_true(before >= 4);
  for (int i = 0; i < 3; ++i) {
    step(world, 1);
    contacts = yw_world_contacts(world, &after);
    assert_int_equal(after, before);
    assert_near((double)contacts[0].impulse, (double)weight, 1e-4 * (double)weight);
    assert_int_equal(yw_world_contact_events(world).num_ends, 0);
    assert_int_equal(yw_world_contact_events(world).num_begins, 0);
  }
  yw_world_destroy(world);
}

// Steady wind pushes all the time, also what does not move.
static void nothing_sleeps_in_the_wind(void** state) {
  (void)state;
  yw_world* world = stack_of(MATCH, 0.4, "surfaces");
  yw_body_id id = yw_world_body(world, 3);
  for (int i = 0; i < 300 && !yw_body_is_asleep(world, id); ++i) step(world, 1);
  assert_true(yw_body_is_asleep(world, id));
  yw_wind_def wind = yw_default_wind_def();
  wind.velocity = (yw_vec3){0.1f, 0, 0};
  assert_int_equal(yw_world_set_wind(world, &wind), YW_OK);
  for (int i = 0; i < 120; ++i) {
    step(world, 1);
    assert_false(yw_body_is_asleep(world, id));
  }
  yw_world_destroy(world);
}

static void scenes_say_how_slow_sleepers_are(void** state) {
  (void)state;
  yw_world* world = surface_world("{\"sleep_speed\": 0.03, \"bodies\": []}", 1);
  assert_near(yw_world_sleep_speed(world), 0.03, 1e-7);
  yw_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stacks_fall_asleep),
      cmocka_unit_test(sleep_can_be_turned_off),
      cmocka_unit_test(sleepers_cost_nothing),
      cmocka_unit_test(stacks_wake),
      cmocka_unit_test(nothing_sleeps_in_the_wind),
      cmocka_unit_test(scenes_say_how_slow_sleepers_are),
      cmocka_unit_test(motors_wake),
      cmocka_unit_test(resumed_worlds_sleep_alike),
      cmocka_unit_test(sleepers_keep_their_contacts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
