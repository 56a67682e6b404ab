// SPDX-License-Identifier: MIT
// Forces that the solver of contacts starts from: found again whoever finds the contact, and kept
// in snapshots.
#include "contact/surfaces/warm.h"

#include "support/testing.h"

static const yw_contact_body two_bodies[2] = {{.number = 3}, {.number = 9}};

static yw_contact edges(int32_t first, int32_t second, int32_t corner, float impulse) {
  return (yw_contact){.body = {first, second},
                      .count = {2, 2},
                      .particles = {{corner, corner + 1}, {20 - corner, 21 - corner}},
                      .slop = 1e-4f,
                      .impulse = impulse,
                      .friction = {0.1f * impulse, 0, 0}};
}

static yw_warm filled(void) {
  yw_warm warm = {0};
  assert_true(yw_warm_begin(NULL, &warm, 100));
  for (int32_t i = 0; i < 10; ++i) {
    yw_contact c = edges(0, 1, i, (float)(i + 1));
    yw_warm_add(&warm, two_bodies, &c, 0.5f);
    yw_contact vertex = {
        .body = {1, 0}, .count = {1, 3}, .particles = {{i}, {1, 2, 3}}, .impulse = (float)(i + 1)};
    yw_warm_add(&warm, two_bodies, &vertex, 0.5f);
  }
  return warm;
}

static void edges_are_found_from_either_side(void** state) {
  (void)state;
  yw_warm warm = filled();
  for (int32_t i = 0; i < 10; ++i) {
    yw_contact c = edges(0, 1, i, 0.0f), back = edges(1, 0, 20 - i, 0.0f);
    back.particles[1][0] = i, back.particles[1][1] = i + 1;
    yw_warm_entry entry;
    assert_true(yw_warm_find(&warm, two_bodies, &c, &entry));
    assert_near(entry.force, 2.0 * (i + 1), 1e-6);
    assert_near(entry.drag.x, 0.2 * (i + 1), 1e-6);
    assert_true(yw_warm_find(&warm, two_bodies, &back, &entry));
    assert_near(entry.force, 2.0 * (i + 1), 1e-6);
    assert_near(entry.drag.x, -0.2 * (i + 1), 1e-6);
    yw_contact_spare spare = {.corners = {i, i + 1, 20 - i, 21 - i}};
    assert_true(yw_warm_has_spare(&warm, two_bodies, 0, 1, &spare));
    spare.corners[0] = 15;
    assert_false(yw_warm_has_spare(&warm, two_bodies, 0, 1, &spare));
  }
  yw_contact other = edges(0, 0, 3, 0.0f);
  yw_warm_entry entry;
  assert_false(yw_warm_find(&warm, two_bodies, &other, &entry));
  yw_warm_free(NULL, &warm);
}

// What the mean of a force was after so many substeps of 1 ms.
static yw_warm_entry pressed(int steps, float (*force)(int step), float slip) {
  yw_warm warm = {0};
  yw_warm_entry entry = {.force = 0.0f};
  yw_contact c = edges(0, 1, 3, 0.0f);
  for (int i = 0; i < steps; ++i) {
    c.impulse = 1e-3f * force(i);
    c.grip = entry.grip, c.grip_age = entry.age, c.slip = slip;
    assert_true(yw_warm_begin(NULL, &warm, 1));
    yw_warm_add(&warm, two_bodies, &c, 1e-3f);
    entry = (yw_warm_entry){.force = 0.0f};
    yw_warm_find(&warm, two_bodies, &c, &entry);
  }
  yw_warm_free(NULL, &warm);
  return entry;
}

static float wave(int step) { return step % 2 == 0 ? 80.0f : 120.0f; }
static float impact(int step) { return step == 0 ? 1e6f : 100.0f; }
static float lift(int step) { return step < 100 ? 100.0f : 0.0f; }
static float rise(int step) { return (float)(step + 1); }

// Friction does not see waves, impacts that are over, or short hops; it does see what presses where
// a body has slid to.
static void grip_is_a_mean(void** state) {
  (void)state;
  assert_near(pressed(200, wave, 0.0f).grip, 100.0, 1.0);
  assert_near(pressed(3, impact, 0.0f).grip, 100.0, 1e-3);
  assert_near(pressed(110, lift, 0.0f).grip, 100.0, 1e-3);
  assert_near(pressed(110, lift, 0.0f).force, 0.0, 0.0);
  assert_near(pressed(200, lift, 0.0f).age, 0.0, 0.0);
  assert_near(pressed(50, rise, 10.0f).grip, 50.0, 1e-3);
  assert_true(pressed(50, rise, 0.0f).grip < 40.0f);
}

static void forces_are_written_and_read(void** state) {
  (void)state;
  yw_warm warm = filled(), copy = {0};
  unsigned char bytes[2000];
  yw_writer writer = {.data = bytes, .capacity = sizeof bytes};
  yw_warm_write(&warm, &writer);
  assert_false(writer.overflow);
  yw_reader reader = {.data = bytes, .size = writer.size};
  assert_int_equal(yw_warm_read(NULL, &copy, &reader), YW_OK);
  assert_int_equal(copy.entries.count, warm.entries.count);
  assert_memory_equal(copy.entries.items, warm.entries.items,
                      (size_t)warm.entries.count * sizeof *warm.entries.items);
  // Too short, forces that pull, and the same contact twice.
  reader = (yw_reader){.data = bytes, .size = writer.size - 1};
  assert_int_equal(yw_warm_read(NULL, &copy, &reader), YW_ERR_FORMAT);
  const float pull = -1.0f;
  memcpy(bytes + 4 + 24, &pull, sizeof pull);
  reader = (yw_reader){.data = bytes, .size = writer.size};
  assert_int_equal(yw_warm_read(NULL, &copy, &reader), YW_ERR_FORMAT);
  memcpy(bytes + 4, bytes + 4 + 48, 48);
  reader = (yw_reader){.data = bytes, .size = writer.size};
  assert_int_equal(yw_warm_read(NULL, &copy, &reader), YW_ERR_FORMAT);
  yw_warm_free(NULL, &warm);
  yw_warm_free(NULL, &copy);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(edges_are_found_from_either_side),
                                     cmocka_unit_test(grip_is_a_mean),
                                     cmocka_unit_test(forces_are_written_and_read)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
