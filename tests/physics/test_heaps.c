// SPDX-License-Identifier: MIT
// Heaps of bodies of one method, or of all, that fall into a pit one on the other. The law: no step
// fails or takes longer per body than it may, everything stays finite, no body diverges or leaves
// the pit, and motion and height never hold more energy than there was at the start. 27 bodies
// per heap; YW_TEST_SEEDS="first count" (make soak) has 1,000, one kind of heap per seed, and
// prints what they take.
#include <time.h>

#include "support/scene_text.h"
#include "support/scene_writer.h"
#include "support/world_fixture.h"

// Of processor time per body and step; bodies have at most some 30 particles.
#define BODY_SECONDS 0.02
#define SPACING 0.3f  // m between bodies of 0.2 m
#define FLOOR_BELOW -0.1f

typedef enum kind { MATCH, FRAMES, FEM, PLASTIC, RIGID, ROD, MIXED, NUM_KINDS } kind;
static const char* const kind_names[] = {"match", "frames", "fem",        "plastic",
                                         "rigid", "rods",   "all methods"};
static const char* const kind_bodies[] = {
    "\"mesh\": {\"lattice\": {\"size\": 0.2, \"cells\": 1}}, \"match\": {}",
    "\"mesh\": {\"lattice\": {\"size\": 0.2, \"cells\": 1}}, \"frames\": {\"youngs_modulus\": 1e5}",
    "\"mesh\": {\"lattice\": {\"size\": 0.2, \"cells\": 1}}, \"fem\": {\"youngs_modulus\": 3e4, "
    "\"max_level\": 0}",
    "\"shape\": {\"box\": {\"size\": 0.2}}, \"plastic\": {\"spacing\": 0.1, \"youngs_modulus\": "
    "1e4, \"yield_stress\": 1e3}",
    "\"shape\": {\"box\": {\"size\": 0.2}}, \"rigid\": {\"size\": 0.2}",
    "\"rod\": {\"line\": {\"from\": [-0.1, 0, 0], \"to\": [0.1, 0, 0], \"count\": 4}, \"radius\": "
    "0.03}, \"slender\": {\"youngs_modulus\": 1e5}"};

// A cube of side * side * side bodies, turned and moved a little, above a pit of their width.
static scene_writer make_scene(uint64_t seed, kind k, int side) {
  test_random random = {seed * 0x9e3779b97f4a7c15ull + (uint64_t)k + 1};
  scene_writer t = {0};
  double half = 0.5 * (double)SPACING * side + 0.1;
  say(&t, "{\"floor\": true, \"obstacles\": [");
  for (int wall = 0; wall < 4; ++wall) {
    double x = wall < 2 ? (half + 0.5) * (wall ? 1 : -1) : 0;
    double z = wall < 2 ? 0 : (half + 0.5) * (wall == 3 ? 1 : -1);
    say(&t, "%s{\"shape\": {\"box\": {\"size\": [%g, 40, %g]}}, \"position\": [%g, 15, %g]}",
        wall ? ", " : "", wall < 2 ? 1 : 4 * half, wall < 2 ? 4 * half : 1, x, z);
  }
  say(&t, "], \"bodies\": [");
  for (int i = 0; i < side * side * side; ++i) {
    int at[3] = {i % side, i / (side * side), i / side % side};
    double place[3];
    for (int a = 0; a < 3; ++a) {
      double low = a == 1 ? 0.2 : -0.5 * (double)SPACING * (side - 1);
      place[a] = low + (double)SPACING * at[a] + test_random_in(&random, -0.02, 0.02);
    }
    int which = k == MIXED ? i % MIXED : (int)k;
    say(&t,
        "%s{%s, \"position\": [%.4f, %.4f, %.4f], \"rotation\": {\"axis\": \"%c\", "
        "\"degrees\": %.1f}}",
        i ? ", " : "", kind_bodies[which], place[0], place[1], place[2], "xyz"[i % 3],
        test_random_in(&random, -20, 20));
  }
  say(&t, "]}");
  return t;
}

static yw_world* build(const scene_writer* t) {
  yw_scene* scene = NULL;
  yw_world* world = NULL;
  yw_error error = {0};
  if (read_scene_text(t->bytes, "heap.json", &scene, NULL, &error) < 0 ||
      yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error) < 0) {
    fail_msg("%s", error.message);
  }
  yw_scene_destroy(scene);
  return world;
}

// Of motion and height over all bodies; fails if a body is outside of the pit or not finite.
static double measure(const yw_world* world, const char* name, int side) {
  double sum = 0, half = 0.5 * (double)SPACING * side + 0.35;
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_energy energy;
    yw_body_sums sums;
    yw_body_energy_of(world, yw_world_body(world, i), &energy);
    yw_body_sums_of(world, yw_world_body(world, i), &sums);
    sum += energy.kinetic + energy.gravitational;
    bool inside =
        fabs(sums.center[0]) < half && fabs(sums.center[2]) < half && sums.center[1] > FLOOR_BELOW;
    if (!inside || !isfinite(energy.kinetic)) {
      fail_msg("heap of %s: body %d is at (%g, %g, %g)", name, (int)i, sums.center[0],
               sums.center[1], sums.center[2]);
    }
  }
  return sum;
}

static void try_heap(uint64_t seed, kind k, int side, int steps) {
  scene_writer t = make_scene(seed, k, side);
  yw_world* world = build(&t);
  free(t.bytes);
  double first = measure(world, kind_names[k], side), longest = 0, last = first;
  for (int step = 0; step < steps; ++step) {
    clock_t start = clock();
    // Substep by substep: the energy of an impact that went wrong is lost soon.
    for (int part = 0; part < 4; ++part) {
      yw_step_report report;
      assert_int_equal(yw_world_step(world, 1.0f / 240.0f, 1, &report), YW_OK);
      last = measure(world, kind_names[k], side);
      if (report.diverged_bodies > 0 || !(last <= 1.01 * first)) {
        fail_msg("heap of %s, seed %llu, step %d: %d bodies diverge, %g J of %g J", kind_names[k],
                 (unsigned long long)seed, step, (int)report.diverged_bodies, last, first);
      }
    }
    longest = fmax(longest, (double)(clock() - start) / CLOCKS_PER_SEC);
    if (getenv("YW_TEST_SEEDS") && step % 20 == 19) {
      print_message("step %d of %d: %.3g s for the slowest so far\n", step + 1, steps, longest);
    }
  }
  if (getenv("YW_TEST_SEEDS")) {
    print_message(
        "heap of %d bodies, %s: %.3g s for the slowest of %d steps, %.3g of %.3g J left\n",
        side * side * side, kind_names[k], longest, steps, last, first);
  }
  if (longest > BODY_SECONDS * side * side * side) {
    fail_msg("heap of %s: a step takes %g s", kind_names[k], longest);
  }
  yw_world_destroy(world);
}

static void heaps_come_to_rest_in_their_pit(void** state) {
  (void)state;
  unsigned long long first = 1;
  int count = NUM_KINDS, side = 3, steps = getenv("YW_TEST_FAST") ? 20 : 40;
  const char* given = getenv("YW_TEST_SEEDS");
  if (given) {
    if (sscanf(given, "%llu %d", &first, &count) != 2) fail_msg("YW_TEST_SEEDS=%s", given);
    side = 10;
    steps = 120;
  }
  for (int i = 0; i < count; ++i) {
    uint64_t number = first - 1 + (uint64_t)i;
    try_heap(1 + number / NUM_KINDS, (kind)(number % NUM_KINDS), side, steps);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(heaps_come_to_rest_in_their_pit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
