// SPDX-License-Identifier: MIT
// Contact of surfaces where these change: adaptive fem bodies, whose hanging nodes follow others.
#include "support/crossings.h"

#define FEM "\"fem\": {\"youngs_modulus\": 1e6, \"max_level\": 1}"
#define LAYERED "\"fem\": {\"youngs_modulus\": 3e5, \"max_level\": 2, \"soften\": \"none\"}"

// The faces of two plates meet at 20 m/s, and all tets split.
static const char* const face_on_face =
    "{\"contact\": \"surfaces\", \"gravity\": [0, 0, 0], \"bodies\": ["
    "{\"mesh\": {\"lattice\": {\"size\": [0.5, 0.06, 0.5], \"cells\": [4, 1, 4]}},"
    " \"position\": [0, -0.06, 0], \"velocity\": [0, 10, 0], " FEM
    "},"
    "{\"mesh\": {\"lattice\": {\"size\": [0.5, 0.06, 0.5], \"cells\": [4, 1, 4]}},"
    " \"position\": [0.02, 0.06, 0.01], \"velocity\": [0, -10, 0], " FEM "}]}";

// A bar falls on a plate with a corner first: the plate has nodes that hang on hanging nodes.
static const char* const corner_on_plate =
    "{\"contact\": \"surfaces\", \"floor\": true, \"bodies\": ["
    "{\"mesh\": {\"lattice\": {\"size\": [0.6, 0.06, 0.6], \"cells\": [4, 1, 4]}},"
    " \"position\": [0, 0.04, 0], " LAYERED
    "},"
    "{\"mesh\": {\"lattice\": {\"size\": [0.1, 0.2, 0.1], \"cells\": [1, 2, 1]}},"
    " \"position\": [0.1, 0.25, 0.02], \"velocity\": [0, -8, 0],"
    " \"rotation\": {\"axis\": [0, 0.2, 1], \"degrees\": 40}, " LAYERED "}]}";

// Plates fall on each other, slightly turned, and their softened tets split as they hit.
static const char* const falling_plates =
    "{\"contact\": \"surfaces\", \"floor\": true, \"bodies\": ["
    "{\"mesh\": {\"lattice\": {\"size\": [0.3, 0.05, 0.3], \"cells\": [3, 1, 3]}},"
    " \"position\": [0, 0.03, 0], \"repeat\": {\"count\": [1, 3, 1], \"spacing\": [0, 0.056, 0],"
    " \"turn\": 0, \"jitter\": 0.004, \"seed\": 2}, " FEM "}]}";

static double energy_of(const yw_world* world) {
  double sum = 0.0;
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_energy energy;
    assert_int_equal(yw_body_energy_of(world, yw_world_body(world, i), &energy), YW_OK);
    sum += energy.kinetic + energy.elastic + energy.gravitational;
  }
  return sum;
}

static int32_t count_hanging(const yw_world* world) {
  int32_t sum = 0;
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    const yw_body* body = yw_world_find_body(world, yw_world_body(world, i));
    sum += body->model->method->contact_geometry(body->state).num_hanging;
  }
  return sum;
}

static void run_without_crossing(const char* text, int steps, int32_t least_hanging) {
  yw_world* world = surface_world(text, 1);
  double start = energy_of(world), most = 0.0;
  int32_t hanging = 0;
  for (int step = 0; step < steps; ++step) {
    assert_true(yw_world_step(world, 1.0f / 240.0f, 1, NULL) >= 0);
    assert_nothing_crosses(world);
    most = fmax(most, energy_of(world));
    int32_t now = count_hanging(world);
    hanging = now > hanging ? now : hanging;
  }
  printf("  up to %d hanging nodes, energy at most %.3f of the start\n", hanging, most / start);
  assert_true(hanging >= least_hanging);
  assert_true(most < 1.005 * start);
  yw_world_destroy(world);
}

static void faces_of_adaptive_bodies_do_not_cross(void** state) {
  (void)state;
  run_without_crossing(face_on_face, 30, 0);
}

static void corners_do_not_pass_hanging_nodes(void** state) {
  (void)state;
  run_without_crossing(corner_on_plate, 20, 100);
}

static void plates_that_split_in_an_impact_gain_nothing(void** state) {
  (void)state;
  run_without_crossing(falling_plates, 24, 0);
}

// The world goes on from a snapshot to the same bits, while bodies touch and change.
static void snapshots_resume_lockstep(void** state) {
  (void)state;
  yw_world *world = surface_world(corner_on_plate, 1), *other = surface_world(corner_on_plate, 1);
  for (int step = 0; step < 4; ++step) yw_world_step(world, 1.0f / 240.0f, 1, NULL);
  size_t size = yw_world_snapshot_size(world);
  void* buffer = malloc(size);
  yw_error error = {0};
  for (int step = 0; step < 6; ++step) {
    assert_int_equal(yw_world_save(world, buffer, size, &size), YW_OK);
    if (yw_world_load(other, buffer, size, &error) < 0) fail_msg("%s", error.message);
    yw_world_step(world, 1.0f / 240.0f, 2, NULL);
    yw_world_step(other, 1.0f / 240.0f, 2, NULL);
    assert_true(yw_world_hash(world) == yw_world_hash(other));
    size = yw_world_snapshot_size(world);
    buffer = realloc(buffer, size);
  }
  free(buffer);
  yw_world_destroy(world);
  yw_world_destroy(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(faces_of_adaptive_bodies_do_not_cross),
      cmocka_unit_test(corners_do_not_pass_hanging_nodes),
      cmocka_unit_test(plates_that_split_in_an_impact_gain_nothing),
      cmocka_unit_test(snapshots_resume_lockstep),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
