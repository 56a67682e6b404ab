// SPDX-License-Identifier: MIT
// Contact of surfaces with rigid bodies: they meet others with their own triangles, answer as
// wholes, and go back as wholes where something would cross.
#include "support/crossings.h"

#define RIGID_BOX                                                                                 \
  "\"shape\": {\"box\": {\"size\": [0.3, 0.2, 0.25]}}, \"density\": 2000, \"rigid\": {\"size\": " \
  "0.1}"
#define SOFT_BOX "\"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": 3}}"

static const char* const soft_methods[] = {
    "\"match\": {}", "\"frames\": {\"youngs_modulus\": 1e5}",
    "\"fem\": {\"youngs_modulus\": 1e5, \"max_level\": 1, \"mass_damping\": 0}"};

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

static yw_world* boxes_that_meet(int method, float speed) {
  char text[1000];
  snprintf(text, sizeof text,
           "{\"contact\": \"surfaces\", \"gravity\": [0, 0, 0], \"bodies\": ["
           "{%s, \"position\": [-0.33, 0.12, 0.03], \"velocity\": [%g, 0, 0],"
           " \"rotation\": {\"axis\": [1, 2, 3], \"degrees\": 50}},"
           "{%s, \"position\": [0.1, 0, 0], %s}]}",
           RIGID_BOX, (double)speed, SOFT_BOX, soft_methods[method]);
  return surface_world(text, 1);
}

// A rigid box hits a soft one off centre, with a corner. No energy is made (at the start all of it
// is kinetic).
static void rigid_boxes_do_not_cross_soft_ones(void** state) {
  (void)state;
  for (int i = 0; i < 3; ++i) {
    yw_world* world = boxes_that_meet(i, 8.0f);
    double before = sums_of(world).energy;
    for (int step = 0; step < 24; ++step) {
      assert_true(yw_world_step(world, 1.0f / 240.0f, 1, NULL) >= 0);
      assert_nothing_crosses(world);
      assert_true(sums_of(world).energy < 1.005 * before);
    }
    yw_body_sums soft;
    yw_body_sums_of(world, yw_world_body(world, 1), &soft);
    assert_true(soft.momentum[0] / soft.mass > 1.0);
    yw_world_destroy(world);
  }
}

// Largest differences of momentum and angular momentum, as shares of what the rigid box brings.
static void compare_momenta(const sums* before, const sums* after, double out[2]) {
  for (int k = 0; k < 3; ++k) {
    double arm = 0.12 * before->momentum[0];
    out[0] = fmax(out[0], fabs(after->momentum[k] - before->momentum[k]) / before->momentum[0]);
    out[1] = fmax(out[1], fabs(after->angular[k] - before->angular[k]) / arm);
  }
}

// At 1 m/s the guard hardly has to help, and both momenta stay; also while `fem` is coarse in part.
// On the way, positions and velocities of `match` are a step apart.
static void rigid_boxes_keep_momentum(void** state) {
  (void)state;
  for (int i = 0; i < 3; ++i) {
    yw_world* world = boxes_that_meet(i, 1.0f);
    sums before = sums_of(world), after = before;
    double most[2] = {0.0, 0.0}, last[2] = {0.0, 0.0};
    for (int step = 0; step < 60; ++step) {
      yw_world_step(world, 1.0f / 240.0f, 1, NULL);
      after = sums_of(world);
      compare_momenta(&before, &after, most);
    }
    compare_momenta(&before, &after, last);
    yw_body_sums soft;
    yw_body_sums_of(world, yw_world_body(world, 1), &soft);
    printf("  %s: momentum changes by %.1e, angular by %.1e, on the way by %.1e\n", soft_methods[i],
           last[0], last[1], most[1]);
    assert_true(soft.momentum[0] / soft.mass > 0.2);
    assert_true(last[0] < 1e-5 && last[1] < 1e-5);
    assert_true(most[0] < 1e-5 && most[1] < 2e-4);
    yw_world_destroy(world);
  }
}

// Boxes of both kinds in turn, one on the other: they stay there.
static void rigid_and_soft_boxes_stack(void** state) {
  (void)state;
  yw_world* world = surface_world(
      "{\"contact\": \"surfaces\", \"floor\": true, \"bodies\": ["
      "{" SOFT_BOX
      ", \"position\": [0, 0.201, 0], \"frames\": {\"youngs_modulus\": 1e6, \"damping\": 8}},"
      "{" RIGID_BOX
      ", \"position\": [0.01, 0.502, 0]},"
      "{" RIGID_BOX
      ", \"position\": [0, 0.703, 0.01]},"
      "{" SOFT_BOX
      ", \"position\": [0, 1.004, 0], \"frames\": {\"youngs_modulus\": 1e6, \"damping\": 8}}]}",
      1);
  for (int step = 0; step < 60; ++step) {
    assert_true(yw_world_step(world, 1.0f / 60.0f, 4, NULL) >= 0);
    assert_nothing_crosses(world);
  }
  // Heights at rest from the weights above: 128, 98, 64 and (half of its own) 32 kg on 1 MPa.
  static const double heights[4] = {0.198, 0.496, 0.696, 0.996};
  for (int32_t i = 0; i < 4; ++i) {
    yw_body_sums s;
    yw_body_sums_of(world, yw_world_body(world, i), &s);
    double speed = sqrt(2.0 * s.kinetic_energy / s.mass);
    printf("  body %d at height %.4f m, %.3f m/s\n", i, s.center[1], speed);
    assert_true(fabs(s.center[1] - heights[i]) < 0.003);
    assert_true(fabs(s.center[0]) < 0.03 && fabs(s.center[2]) < 0.03);
    assert_true(speed < 0.1);
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

// Boxes, or plates, of which every one lies a little beside the one below.
static yw_world* tower(const double size[3]) {
  char text[3000];
  int at = snprintf(text, sizeof text, "{\"floor\": true, \"bodies\": [");
  for (int i = 0; i < 10; ++i) {
    at += snprintf(text + at, sizeof text - (size_t)at,
                   "%s{\"mesh\": {\"lattice\": {\"size\": [%g, %g, %g], \"cells\": [3, 1, 3]}},"
                   " \"rigid\": {}, \"position\": [%g, %g, %g]}",
                   i ? "," : "", size[0], size[1], size[2], 0.01 * (i % 3 - 1),
                   size[1] * (i + 0.5) + 0.002 * (i + 1), 0.01 * (i % 2));
  }
  snprintf(text + at, sizeof text - (size_t)at, "]}");
  return surface_world(text, 1);
}

// Ten on each other stand: none sinks or leaves its place, and all sleep before 3 s are over.
static void towers_stand(void** state) {
  (void)state;
  static const double sizes[2][3] = {{0.4, 0.2, 0.4}, {0.6, 0.05, 0.6}};
  for (int k = 0; k < 2; ++k) {
    yw_world* world = tower(sizes[k]);
    yw_step_report report;
    for (int i = 0; i < 180; ++i) {
      assert_true(yw_world_step(world, 1.0f / 60.0f, 4, &report) >= 0);
    }
    assert_int_equal(report.sleeping_particles, report.num_particles);
    assert_nothing_crosses(world);
    for (int i = 0; i < 10; ++i) {
      yw_body_sums s;
      yw_body_sums_of(world, yw_world_body(world, i), &s);
      assert_near(s.center[0], 0.01 * (i % 3 - 1), 2e-3);
      assert_near(s.center[1], sizes[k][1] * (i + 0.5), 2e-3 + 5e-4 * i);
    }
    yw_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rigid_boxes_do_not_cross_soft_ones),
      cmocka_unit_test(rigid_boxes_keep_momentum),
      cmocka_unit_test(rigid_and_soft_boxes_stack),
      cmocka_unit_test(rings_have_a_surface_too),
      cmocka_unit_test(towers_stand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
