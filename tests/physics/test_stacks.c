// SPDX-License-Identifier: MIT
// Ten soft bodies on each other come to rest, fall asleep and stand.
#include "support/crossings.h"

#define NUM_BODIES 10
// s, after which they have to sleep.
#define SECONDS 3
#define DT (1.0f / 60)

typedef struct tower {
  const char* name;
  const char* method;
  const char* size;
  const char* cells;
  double height, aside;
} tower;

static const tower towers[] = {
    {"boxes of frames", "\"frames\": {\"youngs_modulus\": 1e7}", "[0.4, 0.2, 0.4]", "2", 0.2, 0.01},
    {"cubes of frames", "\"frames\": {\"youngs_modulus\": 1e7}", "0.4", "2", 0.4, 0.01},
    {"plates of frames", "\"frames\": {\"youngs_modulus\": 3e6}", "[1, 0.05, 1]", "[4, 1, 4]", 0.05,
     0.004},
    {"stiff plates of frames", "\"frames\": {\"youngs_modulus\": 1e7}", "[1, 0.05, 1]", "[4, 1, 4]",
     0.05, 0.004},
    {"soft plates of frames", "\"frames\": {\"youngs_modulus\": 1e6}", "[1, 0.05, 1]", "[4, 1, 4]",
     0.05, 0.004},
    {"plates of match", "\"match\": {}", "[1, 0.05, 1]", "[4, 1, 4]", 0.05, 0.004},
    {"boxes of match", "\"match\": {}", "[0.4, 0.2, 0.4]", "[4, 2, 4]", 0.2, 0.01},
    {"boxes of fem", "\"fem\": {\"youngs_modulus\": 1e7, \"max_level\": 0}", "[0.4, 0.2, 0.4]", "2",
     0.2, 0.01}};

// Beside each other by up to `aside`, with gaps of 4 mm.
static yw_world* build(const tower* t) {
  char text[4000];
  int at = snprintf(text, sizeof text, "{\"floor\": true, \"bodies\": [");
  uint32_t random = 12345;
  for (int i = 0; i < NUM_BODIES; ++i) {
    double place[2];
    for (int k = 0; k < 2; ++k) {
      random = random * 1664525u + 1013904223u;
      place[k] = t->aside * ((double)(random >> 8) / 8388608.0 - 1.0);
    }
    at += snprintf(text + at, sizeof text - (size_t)at,
                   "%s{\"mesh\": {\"lattice\": {\"size\": %s, \"cells\": %s}}, %s,"
                   " \"position\": [%g, %g, %g]}",
                   i > 0 ? "," : "", t->size, t->cells, t->method, place[0],
                   0.5 * t->height + 0.004 + i * (t->height + 0.004), place[1]);
  }
  snprintf(text + at, sizeof text - (size_t)at, "]}");
  return surface_world(text, 1);
}

static bool all_asleep(const yw_world* world) {
  int count = 0;
  for (int i = 0; i < NUM_BODIES; ++i) count += yw_body_is_asleep(world, yw_world_body(world, i));
  return count == NUM_BODIES;
}

static yw_body_sums top_of(const yw_world* world) {
  yw_body_sums sums;
  yw_body_sums_of(world, yw_world_body(world, NUM_BODIES - 1), &sums);
  return sums;
}

static void towers_come_to_rest(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof towers / sizeof *towers; ++i) {
    const tower* t = &towers[i];
    yw_world* world = build(t);
    int steps = 0;
    for (; !all_asleep(world) && steps < 60 * SECONDS; ++steps) {
      assert_true(yw_world_step(world, DT, 4, NULL) >= 0);
    }
    printf("  %s: %.2f s\n", t->name, steps / 60.0);
    if (!all_asleep(world)) fail_msg("%s: awake after %d s", t->name, SECONDS);
    yw_body_sums then = top_of(world);
    // It stands: within a twentieth of its height, and no farther aside than a fifth of a body.
    double full = (NUM_BODIES - 0.5) * t->height;
    if (fabs(then.center[1] - full) > 0.05 * full) fail_msg("%s: %g m", t->name, then.center[1]);
    if (hypot(then.center[0], then.center[2]) > 0.08) fail_msg("%s leans", t->name);
    for (; steps < 3600; ++steps) assert_true(yw_world_step(world, DT, 4, NULL) >= 0);
    yw_body_sums now = top_of(world);
    assert_memory_equal(then.center, now.center, sizeof then.center);
    assert_near(now.kinetic_energy, 0.0, 0.0);
    yw_world_destroy(world);
  }
}

// Without a floor nothing is slowed: two boxes that leave each other at 4 mm/s go on.
static void slow_pairs_in_space_keep_their_speed(void** state) {
  (void)state;
  yw_world* world = surface_world(
      "{\"gravity\": [0, 0, 0], \"bodies\": ["
      "{\"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": 2}}, \"match\": {}},"
      "{\"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": 2}}, \"match\": {},"
      " \"position\": [0, 0.402, 0], \"velocity\": [0.004, -0.004, 0]}]}",
      1);
  yw_body_sums first, second;
  for (int i = 0; i < 120; ++i) assert_true(yw_world_step(world, DT, 4, NULL) >= 0);
  yw_body_sums_of(world, yw_world_body(world, 0), &first);
  yw_body_sums_of(world, yw_world_body(world, 1), &second);
  assert_near(first.momentum[0] + second.momentum[0], 0.004 * second.mass, 4e-8 * second.mass);
  assert_near(first.momentum[1] + second.momentum[1], -0.004 * second.mass, 4e-8 * second.mass);
  yw_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(towers_come_to_rest),
      cmocka_unit_test(slow_pairs_in_space_keep_their_speed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
