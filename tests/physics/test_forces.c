// SPDX-License-Identifier: MIT
// Forces and energies reported by worlds, against weights and the methods' own formulas.
#include "methods/frames/energy.h"
#include "support/frames_moving.h"
#include "support/scene_text.h"
#include "yawara/yawara.h"

#define GRAVITY 9.81

static yw_world* measured_world(const char* text) {
  yw_scene* scene = scene_of(text);
  yw_world* world = world_of(scene);
  yw_scene_destroy(scene);
  assert_int_equal(yw_world_measure_forces(world, true), YW_OK);
  return world;
}

static void run(yw_world* world, int frames) {
  for (int i = 0; i < frames; ++i) assert_true(yw_world_step(world, 1.0f / 60.0f, 4, NULL) >= 0);
}

static double mass_of(const yw_world* world, yw_body_id id) {
  yw_body_sums sums;
  assert_int_equal(yw_body_sums_of(world, id, &sums), YW_OK);
  return sums.mass;
}

// The forces' mean over `frames` frames, so that remaining vibrations cancel.
static yw_body_forces mean_forces(yw_world* world, yw_body_id id, int frames) {
  yw_body_forces mean = {0}, f;
  for (int i = 0; i < frames; ++i) {
    run(world, 1);
    assert_int_equal(yw_body_forces_of(world, id, &f), YW_OK);
    for (int k = 0; k < 3; ++k) {
      mean.support[k] += f.support[k] / frames;
      mean.pins[k] += f.pins[k] / frames;
      mean.obstacles[k] += f.obstacles[k] / frames;
      mean.contact[k] += f.contact[k] / frames;
    }
  }
  return mean;
}

typedef struct force_case {
  const char* body;  // a box of 0.2 m, 8 kg
  double tolerance;  // fraction of the weight; error left by vibrations
} force_case;

#define LATTICE "\"mesh\": {\"lattice\": {\"size\": 0.2, \"cells\": 4}}, "
static const force_case cases[] = {
    {LATTICE "\"match\": {\"damping\": 20}", 0.01},
    {LATTICE "\"frames\": {\"youngs_modulus\": 1e5, \"damping\": 20}", 0.01},
    {LATTICE "\"frames\": {\"youngs_modulus\": 1e5, \"damping\": 20, \"solver\": \"extended\"}",
     0.01},
    {LATTICE "\"fem\": {\"youngs_modulus\": 1e5, \"max_level\": 0, \"mass_damping\": 10}", 0.01},
    {"\"shape\": {\"box\": {\"size\": 0.2}}, \"plastic\": {\"spacing\": 0.04, "
     "\"youngs_modulus\": 1e5}",
     0.02},
};
enum { NUM_CASES = sizeof cases / sizeof cases[0] };

// A body on the floor presses on it with its weight; nothing else acts.
static void floors_bear_the_weight(void** state) {
  (void)state;
  for (int c = 0; c < NUM_CASES; ++c) {
    char text[1024];
    snprintf(text, sizeof text, "{\"floor\": true, \"bodies\": [{%s, \"position\": [0, 0.1, 0]}]}",
             cases[c].body);
    yw_world* world = measured_world(text);
    yw_body_id id = yw_world_body(world, 0);
    run(world, 60);
    yw_body_forces f = mean_forces(world, id, 30);
    double weight = mass_of(world, id) * GRAVITY;
    assert_near(f.obstacles[1] / weight, 1.0, cases[c].tolerance);
    assert_near(f.support[1], f.obstacles[1], 1e-9 * weight);
    assert_near(f.obstacles[0] / weight, 0.0, cases[c].tolerance);
    assert_near(f.pins[1], 0.0, 0.0);
    assert_near(f.contact[1], 0.0, 0.0);
    yw_world_destroy(world);
  }
}

// A hanging body pulls at its pins with its weight; if it touches a floor as well, only the sum is
// known.
static void pins_bear_the_weight(void** state) {
  (void)state;
  for (int c = 0; c < NUM_CASES; ++c) {
    char text[1024];
    snprintf(text, sizeof text,
             "{\"bodies\": [{%s, \"pins\": [{\"select\": {\"box\": {\"size\": [1, 0.05, 1], "
             "\"center\": [0, 0.1, 0]}}}]}]}",
             cases[c].body);
    yw_world* world = measured_world(text);
    yw_body_id id = yw_world_body(world, 0);
    run(world, 90);
    yw_body_forces f = mean_forces(world, id, 30);
    double weight = mass_of(world, id) * GRAVITY;
    assert_near(f.pins[1] / weight, 1.0, cases[c].tolerance);
    assert_near(f.obstacles[1], 0.0, 0.0);
    yw_world_destroy(world);
  }
}

static void pins_and_floor_together_are_a_sum(void** state) {
  (void)state;
  yw_world* world = measured_world(
      "{\"floor\": true, \"bodies\": [{" LATTICE
      "\"match\": {\"damping\": 20}, \"position\": [0, 0.1, 0], \"pins\": [{\"select\": {\"box\": "
      "{\"size\": [0.05, 0.05, 0.05], \"center\": [0.1, 0.1, 0.1]}}}]}]}");
  yw_body_id id = yw_world_body(world, 0);
  run(world, 60);
  yw_body_forces f = mean_forces(world, id, 30);
  assert_true(isnan(f.pins[1]) && isnan(f.obstacles[1]));
  assert_near(f.support[1] / (mass_of(world, id) * GRAVITY), 1.0, 0.01);
  yw_world_destroy(world);
}

// Two bodies that collide in free flight push each other with opposite forces.
static void contact_forces_are_opposite(void** state) {
  (void)state;
  yw_world* world = measured_world("{\"gravity\": [0, 0, 0], \"bodies\": [{" LATTICE
                                   "\"match\": {}, \"velocity\": [1, 0, 0]}, {" LATTICE
                                   "\"match\": {}, \"position\": [0.22, 0.03, 0]}]}");
  double most = 0.0;
  for (int i = 0; i < 20; ++i) {
    yw_body_forces a, b;
    run(world, 1);
    assert_int_equal(yw_body_forces_of(world, yw_world_body(world, 0), &a), YW_OK);
    assert_int_equal(yw_body_forces_of(world, yw_world_body(world, 1), &b), YW_OK);
    for (int k = 0; k < 3; ++k) assert_near(a.contact[k] + b.contact[k], 0.0, 1e-2);
    most = fmax(most, fabs(a.contact[0]));
  }
  assert_at_least(most, 50.0);
  yw_world_destroy(world);
}

// Measuring does not affect the simulation, and before it there is nothing to read.
// What the caller or wind does is no force of pins, obstacles or other bodies. A push of 10 times
// the weight would show at once; what is left is rounding.
static void pushes_from_outside_are_not_support(void** state) {
  (void)state;
  for (int c = 0; c < NUM_CASES; ++c) {
    // Damping of mass slows free flight and counts as support.
    if (strstr(cases[c].body, "mass_damping")) continue;
    for (int windy = 0; windy < 2; ++windy) {
      char text[1024];
      snprintf(text, sizeof text, "{%s\"bodies\": [{%s, \"position\": [0, 5, 0]}]}",
               windy ? "\"wind\": {\"velocity\": [200, 0, 0]}, " : "", cases[c].body);
      yw_world* world = measured_world(text);
      yw_body_id id = yw_world_body(world, 0);
      double weight = mass_of(world, id) * GRAVITY, before = 0.0;
      for (int i = 0; i < 3; ++i) {
        yw_body_sums sums;
        yw_body_forces f;
        yw_vec3 push = {windy ? 0.0f : (float)(10.0 * weight), 0.0f, 0.0f};
        assert_int_equal(yw_body_add_force(world, id, push), YW_OK);
        run(world, 1);
        assert_int_equal(yw_body_forces_of(world, id, &f), YW_OK);
        assert_int_equal(yw_body_sums_of(world, id, &sums), YW_OK);
        assert_at_least(sums.momentum[0] - before, 0.5 * weight / 60.0);
        assert_near(f.support[0] / weight, 0.0, 1e-3);
        before = sums.momentum[0];
      }
      yw_world_destroy(world);
    }
  }
}

static void measuring_changes_nothing(void** state) {
  (void)state;
  char text[1024];
  snprintf(text, sizeof text, "{\"floor\": true, \"bodies\": [{%s, \"position\": [0, 0.3, 0]}]}",
           cases[1].body);
  yw_world *measured = measured_world(text), *plain = measured_world(text);
  yw_body_forces f;
  assert_int_equal(yw_world_measure_forces(plain, false), YW_OK);
  run(measured, 20);
  run(plain, 20);
  assert_true(yw_world_hash(measured) == yw_world_hash(plain));
  assert_int_equal(yw_body_forces_of(plain, yw_world_body(plain, 0), &f), YW_ERR_INVALID);
  yw_world_destroy(measured);
  yw_world_destroy(plain);
}

// Energies ----------------------------------------------------------------------------------------

// The energy of a bent and squeezed bar is that of the double formulas.
static void frames_energy_is_that_of_the_formulas(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    moving_bar m;
    moving_make(&m, 2, kind, BAR_YOUNG, 0.3, YW_FRAMES_IMPLICIT);
    test_random random = {5};
    double* x = malloc(sizeof(double) * 3 * m.bar.count);
    for (size_t v = 0; v < m.bar.count; ++v) {
      yw_vec3 p = m.bar.mesh.positions[v];
      p = (yw_vec3){0.9f * p.x, p.y + 0.03f * p.x * p.x, p.z};
      float* to = &m.particles.pos[m.order[v]].x;
      for (int k = 0; k < 3; ++k) {
        to[k] = (&p.x)[k] + (float)test_random_in(&random, -0.02, 0.02);
        x[3 * v + (size_t)k] = (double)to[k];
      }
    }
    double expected = yw_frames_energy(&m.bar.regions, NULL, x, NULL, NULL, FRAMES_EXACT);
    double energy = yw_frames_method.energy(m.state, &m.particles).elastic;
    assert_at_least(expected, 1e3);
    assert_near(energy / expected, 1.0, 1e-4);
    free(x);
    moving_free(&m);
  }
}

// Without gravity, damping and contact the total energy is conserved as far as the integrator
// allows; steps are far below the period.
static void sums_of_energy_stay(void** state) {
  (void)state;
  static const char* const bodies[] = {
      LATTICE "\"frames\": {\"youngs_modulus\": 1e4, \"solver\": \"bdf2\"}",
      LATTICE "\"fem\": {\"youngs_modulus\": 1e4, \"max_level\": 0, \"mass_damping\": 0}",
  };
  for (size_t c = 0; c < sizeof bodies / sizeof bodies[0]; ++c) {
    char text[1024];
    snprintf(text, sizeof text, "{\"gravity\": [0, 0, 0], \"bodies\": [{%s}]}", bodies[c]);
    yw_world* world = measured_world(text);
    yw_body_id id = yw_world_body(world, 0);
    int32_t count;
    const yw_vec3* rest = yw_body_positions(world, id, &count);
    yw_vec3* pulled = malloc(sizeof *pulled * (size_t)count);
    for (int32_t i = 0; i < count; ++i) {
      pulled[i] = (yw_vec3){1.1f * rest[i].x, rest[i].y / 1.05f, rest[i].z / 1.05f};
    }
    assert_int_equal(yw_body_set_state(world, id, pulled, NULL), YW_OK);
    yw_body_energy start, now;
    assert_int_equal(yw_body_energy_of(world, id, &start), YW_OK);
    double least = 1.0, total = 0.0;
    for (int i = 0; i < 60; ++i) {
      assert_true(yw_world_step(world, 1.0f / 240.0f, 16, NULL) >= 0);
      assert_int_equal(yw_body_energy_of(world, id, &now), YW_OK);
      least = fmin(least, now.elastic / start.elastic);
      total = (now.elastic + now.kinetic) / start.elastic;
      assert_near(total, 1.0, 0.03);
    }
    assert_at_most(least, 0.2);
    free(pulled);
    yw_world_destroy(world);
  }
}

// A bent ruler snaps back: stored energy becomes kinetic, including rotation of particles.
static void a_rod_keeps_its_energy(void** state) {
  (void)state;
  yw_world* world = measured_world(
      "{\"gravity\": [0, 0, 0], \"bodies\": [{\"rod\": {\"line\": {\"from\": [0, 0, 0], \"to\": "
      "[0.5, 0, 0], \"count\": 26}, \"radius\": 0.01}, \"slender\": {\"youngs_modulus\": 1e7, "
      "\"solver\": \"bdf2\"}}]}");
  yw_body_id id = yw_world_body(world, 0);
  int32_t count;
  const yw_vec3* rest = yw_body_positions(world, id, &count);
  yw_vec3* velocities = malloc(sizeof *velocities * (size_t)count);
  // A velocity field that bends the rod and has no momentum.
  for (int32_t i = 0; i < count; ++i) {
    float s = rest[i].x / 0.25f - 1.0f;
    velocities[i] = (yw_vec3){0, 2.0f * (s * s - 0.36f), 0};
  }
  yw_vec3* positions = malloc(sizeof *positions * (size_t)count);
  memcpy(positions, rest, sizeof *positions * (size_t)count);
  assert_int_equal(yw_body_set_state(world, id, positions, velocities), YW_OK);
  yw_body_energy start, now;
  assert_int_equal(yw_body_energy_of(world, id, &start), YW_OK);
  double most = 0.0;
  for (int i = 0; i < 100; ++i) {
    assert_true(yw_world_step(world, 5e-4f, 8, NULL) >= 0);
    assert_int_equal(yw_body_energy_of(world, id, &now), YW_OK);
    most = fmax(most, now.elastic / start.kinetic);
    assert_near((now.elastic + now.kinetic) / start.kinetic, 1.0, 0.03);
  }
  assert_at_least(most, 0.5);
  free(velocities);
  free(positions);
  yw_world_destroy(world);
}

// Free fall converts gravitational into kinetic energy; match reports no elastic energy.
static void falling_turns_gravitational_into_kinetic(void** state) {
  (void)state;
  yw_world* world =
      measured_world("{\"bodies\": [{" LATTICE "\"match\": {}, \"position\": [0, 3, 0]}]}");
  yw_body_id id = yw_world_body(world, 0);
  yw_body_energy start, end;
  assert_int_equal(yw_body_energy_of(world, id, &start), YW_OK);
  assert_near(start.gravitational, 8.0 * GRAVITY * 3.0, 1e-3);
  run(world, 30);
  assert_int_equal(yw_body_energy_of(world, id, &end), YW_OK);
  double lost = start.gravitational - end.gravitational;
  assert_near(end.kinetic / lost, 1.0, 0.02);
  assert_true(isnan(end.elastic));
  yw_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(floors_bear_the_weight),
      cmocka_unit_test(pins_bear_the_weight),
      cmocka_unit_test(pins_and_floor_together_are_a_sum),
      cmocka_unit_test(contact_forces_are_opposite),
      cmocka_unit_test(pushes_from_outside_are_not_support),
      cmocka_unit_test(measuring_changes_nothing),
      cmocka_unit_test(frames_energy_is_that_of_the_formulas),
      cmocka_unit_test(sums_of_energy_stay),
      cmocka_unit_test(a_rod_keeps_its_energy),
      cmocka_unit_test(falling_turns_gravitational_into_kinetic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
