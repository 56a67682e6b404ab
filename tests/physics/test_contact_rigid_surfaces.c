// SPDX-License-Identifier: MIT
// Contact of surfaces with rigid bodies: they meet others with their own triangles, answer as
// wholes, and go back as wholes where something would cross.
#include "support/crossings.h"

#define RIGID_BOX \
  "\"shape\": {\"box\": {\"size\": [0.3, 0.2, 0.25]}}, \"density\": 2000, \"rigid\": {}"
#define SOFT_BOX "\"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": 3}}"

static const char* const soft_methods[] = {"\"match\": {}", "\"frames\": {\"youngs_modulus\": 1e5}",
                                           "\"fem\": {\"youngs_modulus\": 1e5, \"max_level\": 1}"};

typedef struct sums {
  double momentum[3], angular[3], energy;
} sums;

static sums sums_of(const yw_world* world) {
  sums out = {0};
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_sums s;
    assert_int_equal(yw_body_sums_of(world, yw_world_body(world, i), &s), YW_OK);
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      out.momentum[k] += s.momentum[k];
      out.angular[k] += s.angular_momentum[k] + s.center[a] * s.momentum[b];
      out.angular[k] -= s.center[b] * s.momentum[a];
    }
    out.energy += s.kinetic_energy;
  }
  return out;
}

// A rigid box hits a soft one off centre at 8 m/s: nothing crosses, momentum stays, and no energy
// is made (none of them has any but kinetic energy at the start).
static void rigid_boxes_hit_soft_ones(void** state) {
  (void)state;
  for (int i = 0; i < 3; ++i) {
    char text[1000];
    snprintf(text, sizeof text,
             "{\"contact\": \"surfaces\", \"gravity\": [0, 0, 0], \"bodies\": ["
             "{%s, \"position\": [-0.4, 0.12, 0.03], \"velocity\": [8, 0, 0],"
             " \"rotation\": {\"axis\": [1, 2, 3], \"degrees\": 50}},"
             "{%s, \"position\": [0.1, 0, 0], %s}]}",
             RIGID_BOX, SOFT_BOX, soft_methods[i]);
    yw_world* world = surface_world(text, 1);
    sums before = sums_of(world);
    double most = 0.0;
    for (int step = 0; step < 30; ++step) {
      assert_true(yw_world_step(world, 1.0f / 240.0f, 1, NULL) >= 0);
      assert_nothing_crosses(world);
      most = fmax(most, sums_of(world).energy);
    }
    sums after = sums_of(world);
    double drift = 0.0, turn = 0.0;
    for (int k = 0; k < 3; ++k) {
      drift = fmax(drift, fabs(after.momentum[k] - before.momentum[k]));
      turn = fmax(turn, fabs(after.angular[k] - before.angular[k]));
    }
    yw_body_sums soft;
    yw_body_sums_of(world, yw_world_body(world, 1), &soft);
    printf("  %s: momentum %.1e, angular %.1e, energy at most %.4f\n", soft_methods[i],
           drift / before.momentum[0], turn / before.momentum[0] / 0.12, most / before.energy);
    assert_true(soft.momentum[0] / soft.mass > 1.0);
    assert_true(drift < 1e-4 * before.momentum[0]);
    assert_true(most < 1.005 * before.energy);
    yw_world_destroy(world);
  }
}

// Boxes of both kinds in turn, one on the other: they stay there.
static void rigid_and_soft_boxes_stack(void** state) {
  (void)state;
  yw_world* world = surface_world(
      "{\"contact\": \"surfaces\", \"floor\": true, \"bodies\": ["
      "{" SOFT_BOX
      ", \"position\": [0, 0.201, 0], \"frames\": {\"youngs_modulus\": 1e5}},"
      "{" RIGID_BOX
      ", \"position\": [0.01, 0.502, 0]},"
      "{" RIGID_BOX
      ", \"position\": [0, 0.703, 0.01]},"
      "{" SOFT_BOX ", \"position\": [0, 1.004, 0], \"frames\": {\"youngs_modulus\": 1e5}}]}",
      1);
  for (int step = 0; step < 90; ++step) {
    assert_true(yw_world_step(world, 1.0f / 60.0f, 4, NULL) >= 0);
    assert_nothing_crosses(world);
  }
  for (int32_t i = 0; i < 4; ++i) {
    yw_body_sums s;
    yw_body_sums_of(world, yw_world_body(world, i), &s);
    double speed = sqrt(2.0 * s.kinetic_energy / s.mass);
    printf("  body %d at height %.4f, %.2e m/s\n", i, s.center[1], speed);
    assert_true(fabs(s.center[0]) < 0.03 && fabs(s.center[2]) < 0.03);
    assert_true(speed < 0.02);
  }
  yw_world_destroy(world);
}

// A ring is not a fan around its centre. A soft bar falls across it, and does not fall through.
static void rings_have_a_surface_too(void** state) {
  (void)state;
  yw_world* world = surface_world(
      "{\"contact\": \"surfaces\", \"floor\": true, \"bodies\": ["
      "{\"shape\": {\"torus\": {\"ring_radius\": 0.3, \"tube_radius\": 0.08}},"
      " \"position\": [0, 0.085, 0], \"rigid\": {\"size\": 0.08}},"
      "{\"mesh\": {\"lattice\": {\"size\": [0.9, 0.1, 0.1], \"cells\": [9, 1, 1]}},"
      " \"position\": [0, 0.25, 0], \"frames\": {\"youngs_modulus\": 1e6}}]}",
      1);
  for (int step = 0; step < 30; ++step) {
    assert_true(yw_world_step(world, 1.0f / 60.0f, 4, NULL) >= 0);
    assert_nothing_crosses(world);
  }
  yw_body_sums bar;
  yw_body_sums_of(world, yw_world_body(world, 1), &bar);
  assert_true(bar.center[1] > 0.18);
  yw_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rigid_boxes_hit_soft_ones),
      cmocka_unit_test(rigid_and_soft_boxes_stack),
      cmocka_unit_test(rings_have_a_surface_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
