// SPDX-License-Identifier: MIT
// Two bodies of every pair of methods bounce off each other in free flight, surfaces on surfaces:
// nothing crosses, energy never exceeds what there was, and both momenta are kept.
#include <math.h>
#include <stdlib.h>

#include "support/crossings.h"

#define BOX "\"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": 3}}"

static const char* const methods[] = {
    BOX ", \"match\": {}", BOX ", \"frames\": {\"youngs_modulus\": 1e5}",
    BOX ", \"fem\": {\"youngs_modulus\": 1e5, \"max_level\": 0, \"mass_damping\": 0}",
    BOX ", \"rigid\": {}"};
#define NUM_METHODS ((int)(sizeof methods / sizeof *methods))

typedef struct totals {
  double energy, momentum[3], angular[3];  // angular momentum about the origin
} totals;

// Elastic energy counts where the method knows it.
static totals totals_of(const yw_world* world) {
  totals out = {0};
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_sums s;
    yw_body_energy energy;
    yw_body_id id = yw_world_body(world, i);
    assert_int_equal(yw_body_sums_of(world, id, &s), YW_OK);
    assert_int_equal(yw_body_energy_of(world, id, &energy), YW_OK);
    out.energy += energy.kinetic + (isfinite(energy.elastic) ? energy.elastic : 0.0);
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      out.momentum[k] += s.momentum[k];
      out.angular[k] +=
          s.angular_momentum[k] + s.center[a] * s.momentum[b] - s.center[b] * s.momentum[a];
    }
  }
  return out;
}

static double distance3(const double a[3], const double b[3]) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
              (a[2] - b[2]) * (a[2] - b[2]));
}

typedef struct outcome {
  double gain, momentum, angular;  // relative to what each body brings
} outcome;

// Off centre, one of them turned, at 2 m/s.
static outcome bounce(int first, int second, double friction) {
  char text[1200];
  snprintf(text, sizeof text,
           "{\"contact\": \"surfaces\", \"gravity\": [0, 0, 0], \"bodies\": ["
           "{%s, \"position\": [-0.25, 0, 0], \"velocity\": [1, 0, 0], \"friction\": %g},"
           "{%s, \"position\": [0.27, 0.11, 0.05], \"velocity\": [-1, 0, 0], \"friction\": %g,"
           " \"rotation\": {\"axis\": [0.2, 1, 0.5], \"degrees\": 20}}]}",
           methods[first], friction, methods[second], friction);
  yw_world* world = surface_world(text, 1);
  yw_body_sums one;
  assert_int_equal(yw_body_sums_of(world, yw_world_body(world, 0), &one), YW_OK);
  totals start = totals_of(world);
  double brought = one.momentum[0], most = 0.0;
  for (int step = 0; step < 36; ++step) {
    assert_true(yw_world_step(world, 1.0f / 240.0f, 1, NULL) >= 0);
    assert_nothing_crosses(world);
    most = fmax(most, totals_of(world).energy);
  }
  totals end = totals_of(world);
  assert_int_equal(yw_body_sums_of(world, yw_world_body(world, 0), &one), YW_OK);
  assert_true(one.momentum[0] < 0.9 * brought);  // they have met
  yw_world_destroy(world);
  return (outcome){most / start.energy - 1.0, distance3(end.momentum, start.momentum) / brought,
                   distance3(end.angular, start.angular) / (0.4 * brought)};
}

// Rigid bodies included, of which the guard moves one side alone: what that takes is given back.
static void pairs_of_all_methods_keep_what_they_must(void** state) {
  (void)state;
  for (int i = 0; i < NUM_METHODS; ++i) {
    for (int k = i; k < NUM_METHODS; ++k) {
      for (int rough = 0; rough < 2; ++rough) {
        outcome o = bounce(i, k, rough ? 0.6 : 0.0);
        printf("  %d %d friction %d: energy %+.4f %%, momentum %.1e, angular %.1e\n", i, k, rough,
               100 * o.gain, o.momentum, o.angular);
        assert_true(o.gain < 0.005);
        assert_true(o.momentum < 1e-5);
        assert_true(o.angular < 1e-5);
      }
    }
  }
}

// A world that is loaded elsewhere goes on with the forces of the snapshot.
static void worlds_resume_with_their_forces(void** state) {
  (void)state;
  static const char text[] =
      "{\"floor\": true, \"bodies\": ["
      "{\"mesh\": {\"lattice\": {\"size\": [0.4, 0.2, 0.4], \"cells\": [2, 1, 2]}},"
      " \"position\": [0, 0.101, 0], \"frames\": {}},"
      "{\"mesh\": {\"lattice\": {\"size\": [0.3, 0.2, 0.3], \"cells\": [2, 1, 2]}},"
      " \"position\": [0.02, 0.303, 0.01], \"frames\": {}}]}";
  yw_world *world = surface_world(text, 1), *other = surface_world(text, 1);
  for (int i = 0; i < 20; ++i) assert_true(yw_world_step(world, 1.0f / 60.0f, 4, NULL) >= 0);
  size_t size = yw_world_snapshot_size(world);
  void* snapshot = malloc(size);
  assert_int_equal(yw_world_save(world, snapshot, size, &size), YW_OK);
  assert_int_equal(yw_world_load(other, snapshot, size, NULL), YW_OK);
  assert_true(yw_world_hash(world) == yw_world_hash(other));
  for (int i = 0; i < 5; ++i) {
    assert_true(yw_world_step(world, 1.0f / 60.0f, 4, NULL) >= 0);
    assert_true(yw_world_step(other, 1.0f / 60.0f, 4, NULL) >= 0);
    assert_true(yw_world_hash(world) == yw_world_hash(other));
  }
  free(snapshot);
  yw_world_destroy(world);
  yw_world_destroy(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_of_all_methods_keep_what_they_must),
                                     cmocka_unit_test(worlds_resume_with_their_forces)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
