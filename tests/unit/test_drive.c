// SPDX-License-Identifier: MIT
// Tracks that follow a measure: what is measured, delay and smoothing, weights of examples,
// snapshots, mistakes.
#include "support/method_world.h"
#include "support/scene_text.h"
#include "yawara/yawara.h"

#define BOX "\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 2}}"
#define LONGER "\"examples\": [{\"deform\": {\"stretch\": {\"amount\": 0.5, \"axis\": \"x\"}}}]"

static float value_of(const yw_world* world, uint32_t track) {
  yw_vec3 value = {NAN, NAN, NAN};
  assert_int_equal(yw_track_value(world, (yw_track_id){track + 1, 1}, &value), YW_OK);
  return value.x;
}

// A world with one track, on the friction of the first body; `bodies` ends before its "}".
static yw_world* driven(const char* before, const char* drive, const char* after,
                        yw_scene** scene) {
  char text[2000];
  snprintf(
      text, sizeof text,
      "{\"gravity\": [0, 0, 0], %s, \"tracks\": [{\"set\": \"friction\", \"drive\": {%s}}]}%s}",
      before, drive, after);
  *scene = scene_of(text);
  return world_of(*scene);
}

static void expect_measure(const char* before, const char* drive, const char* after,
                           double expected) {
  yw_scene* scene = NULL;
  yw_world* world = driven(before, drive, after, &scene);
  assert_near(value_of(world, 0), expected, 1e-4);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

#define MOVING                                                                                   \
  "\"obstacles\": [{\"shape\": {\"sphere\": {\"radius\": 1}}, \"position\": [0, -9, 0]}, "       \
  "{\"name\": \"far\", \"shape\": {\"sphere\": {\"radius\": 1}}, \"position\": [0, 20, 0]}, "    \
  "{\"name\": \"ball\", \"shape\": {\"sphere\": {\"radius\": 1}}, \"position\": "                \
  "[0, 9, 0]}], \"bodies\": [{\"rigid\": {}, \"position\": [0, 3, 0], \"velocity\": [3, 4, 0], " \
  "\"angular_velocity\": [1, 2, 2], " BOX
#define OTHER ", {\"name\": \"b\", \"match\": {}, \"position\": [0, 3, 5], " BOX "}]"
#define ROD                                                                                       \
  ", {\"name\": \"b\", \"slender\": {}, \"position\": [0, 3, 5], \"rod\": {\"line\": {\"from\": " \
  "[-1, 0, 0], "                                                                                  \
  "\"to\": [1, 0, 0], \"count\": 5}, \"radius\": 0.2}}]"

// From is 0 and to is 10 unless said otherwise, so values are tenths of the measure.
static void measures_are_what_they_say(void** state) {
  (void)state;
  expect_measure(MOVING, "\"by\": \"speed\", \"from\": 0, \"to\": 10", OTHER, 0.5);
  expect_measure(MOVING, "\"by\": \"spin\", \"from\": 0, \"to\": 10", OTHER, 0.3);
  expect_measure(MOVING, "\"by\": \"height\", \"from\": 0, \"to\": 10", OTHER, 0.3);
  // The upper face is at 3.5 m, and faster by the spin: v = (3, 4, 0) + w x (0, 1/2, 0).
  expect_measure(MOVING,
                 "\"by\": \"height\", \"from\": 0, \"to\": 10, \"select\": {\"box\": {\"size\": "
                 "[2, 0.2, 2], \"center\": [0, 3.5, 0]}}",
                 OTHER, 0.35);
  expect_measure(MOVING,
                 "\"by\": \"speed\", \"from\": 0, \"to\": 10, \"select\": {\"box\": {\"size\": "
                 "[2, 0.2, 2], \"center\": [0, 3.5, 0]}}",
                 OTHER, sqrt(2.0 * 2.0 + 4.0 * 4.0 + 0.5 * 0.5) / 10);
  expect_measure(MOVING, "\"by\": \"distance\", \"from\": 10, \"to\": 0, \"point\": [4, 3, 0]",
                 OTHER, 0.6);
  expect_measure(MOVING, "\"by\": \"distance\", \"from\": 0, \"to\": 10, \"obstacle\": \"ball\"",
                 OTHER, 0.5);
  // To the face of the other box, half a metre before its centre.
  expect_measure(MOVING, "\"by\": \"distance\", \"from\": 0, \"to\": 10, \"body\": \"b\"", OTHER,
                 0.45);
  // To the skin of a rod.
  expect_measure(MOVING, "\"by\": \"distance\", \"from\": 0, \"to\": 10, \"body\": \"b\"", ROD,
                 0.48);
  expect_measure(MOVING, "\"by\": \"height\", \"of\": \"b\", \"from\": 4, \"to\": 2", OTHER, 0.5);
  // Beyond the ends.
  expect_measure(MOVING, "\"by\": \"speed\", \"from\": 6, \"to\": 10", OTHER, 0.0);
  expect_measure(MOVING, "\"by\": \"speed\", \"from\": 1, \"to\": 2", OTHER, 1.0);
}

// A box of 1 kg hangs on a spring, or lies on the floor, with its weight.
static void forces_are_measured(void** state) {
  (void)state;
  static const char* const texts[] = {
      "{\"bodies\": [{\"rigid\": {}, \"density\": 1, " BOX
      ", \"pins\": [{\"vertices\": [0, 1, 2, 3], \"spring\": {\"stiffness\": 20, \"damping\": "
      "5}}], \"tracks\": [{\"set\": \"friction\", \"drive\": {\"by\": \"handle\", \"pin\": 0, "
      "\"from\": 0, \"to\": 19.62}}]}]}",
      "{\"floor\": true, \"bodies\": [{\"rigid\": {}, \"position\": [0, 0.5, 0], \"density\": "
      "1, " BOX
      ", \"tracks\": [{\"set\": \"friction\", \"drive\": {\"by\": \"contact\", \"from\": 0, "
      "\"to\": 19.62, \"smooth\": 0.2}}]}]}"};
  for (int i = 0; i < 2; ++i) {
    yw_scene* scene = scene_of(texts[i]);
    yw_world* world = world_of(scene);
    assert_near(value_of(world, 0), 0, 1e-6);
    for (int k = 0; k < 400; ++k) yw_world_step(world, 1 / 60.0f, 4, NULL);
    assert_near(value_of(world, 0), 0.5, 0.01);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// A bar stretched by 1 % stores E e^2 V / 2; match has E = 300 rho g L, and no Poisson's ratio.
static void energy_is_that_of_the_strain(void** state) {
  (void)state;
  static const char* const methods[] = {
      "\"frames\": {\"youngs_modulus\": 1e5, \"poissons_ratio\": 0}",
      "\"match\": {\"stiffness\": 300}"};
  for (int m = 0; m < 2; ++m) {
    char text[900];
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, 0], \"bodies\": [{%s, \"density\": 1000, \"mesh\": "
             "{\"lattice\": {\"size\": 1, \"cells\": 10}}, " LONGER
             ", \"start_pose\": {\"deform\": {\"stretch\": {\"amount\": 0.01, \"axis\": \"x\"}}}, "
             "\"tracks\": [{\"set\": \"friction\", \"drive\": {\"by\": \"energy\", \"from\": 0, "
             "\"to\": 1000}}]}]}",
             methods[m]);
    yw_scene* scene = scene_of(text);
    yw_world* world = world_of(scene);
    // L of a cube is its diagonal, up to 1 % because masses are lumped.
    double modulus = m == 0 ? 1e5 : 300 * 1000 * 9.81 * sqrt(3.0);
    double energy = 0.5 * modulus * 0.01 * 0.01;
    assert_near(1000 * (double)value_of(world, 0) / energy, 1.0, 0.03);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// The speed of a falling body is g t: a delay d makes it g (t - d), and smoothing with a time T
// leaves g (t - T (1 - exp(-t / T))).
static void delay_and_smoothing_are_those_asked_for(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{\"gravity\": [0, -1, 0], \"bodies\": [{\"rigid\": {}, " BOX
      ", \"tracks\": [{\"set\": \"friction\", \"drive\": {\"by\": \"speed\", \"from\": 0, \"to\": "
      "4, \"delay\": 0.35}}, {\"set\": \"damping\", \"keys\": [{\"time\": 0, \"value\": 0}, "
      "{\"time\": 1, \"value\": 1e-9}], \"drive\": {\"by\": \"speed\", \"from\": 0, \"to\": 4, "
      "\"smooth\": 0.25}}]}]}");
  yw_world* world = world_of(scene);
  for (int i = 1; i <= 60; ++i) {
    yw_world_step(world, 1 / 60.0f, 8, NULL);
    double t = i / 60.0, smooth = t - 0.25 * (1 - exp(-t / 0.25));
    assert_near(4 * (double)value_of(world, 0), fmax(t - 0.35, 0), 0.008);
    assert_near(4e9 * (double)value_of(world, 1), smooth, 0.008);
  }
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// Weights of the first body: one row per group.
static void weights_of(const yw_world* world, int method, float out[4]) {
  yw_body_id body = yw_world_body(world, 0);
  if (method == 0) yw_body_match_weights(world, body, out, 4);
  if (method == 1) yw_body_frames_weights(world, body, out, 4);
}

#define HALF                                                                               \
  "\"groups\": [{\"shape\": {\"box\": {\"size\": [1.2, 2, 2], \"center\": [0.6, 0, 0]}}, " \
  "\"label\": 1}]"

// A box stretches while a ball is near, and only the half that is driven.
static void weights_follow_what_comes_near(void** state) {
  (void)state;
  static const char* const methods[] = {
      "\"match\": {\"beta\": 1, \"damping\": 4, " HALF "}",
      "\"frames\": {\"beta\": 1, \"damping\": 4, " HALF "}",
      "\"frames\": {\"kind\": \"cells\", \"beta\": 1, \"damping\": 4, " HALF "}"};
  for (int m = 0; m < 3; ++m) {
    char text[1500];
    snprintf(
        text, sizeof text,
        "{\"gravity\": [0, 0, 0], \"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": "
        "{\"radius\": 0.2}}, \"position\": [0, 4, 0], \"path\": {\"keys\": [{\"time\": 0}, "
        "{\"time\": 0.5}, {\"time\": 1, \"offset\": [0, -2, 0]}]}}], \"bodies\": [{%s, " BOX
        ", " LONGER
        ", \"tracks\": [{\"set\": \"weight\", \"group\": 1, \"drive\": {\"by\": "
        "\"distance\", \"obstacle\": \"ball\", \"from\": 3, \"to\": 2, \"smooth\": 0.05}}, "
        "{\"set\": \"weight\", \"group\": 0, \"keys\": [{\"time\": 0, \"value\": 0}]}]}]}",
        methods[m]);
    yw_scene* scene = scene_of(text);
    yw_world* world = world_of(scene);
    float w[4] = {0};
    for (int i = 0; i < 25; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
    weights_of(world, m > 0, w);
    assert_near(w[3], 0, 1e-3);
    for (int i = 0; i < 65; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
    weights_of(world, m > 0, w);
    assert_near(w[3], 1, 0.01);
    assert_near(w[1], 0, 1e-6);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// Weights set by hand: the body takes them, in the share that was asked for; snapshots hold them.
static void weights_can_be_set_by_hand(void** state) {
  (void)state;
  static const char* const methods[] = {"match", "frames"};
  for (int m = 0; m < 2; ++m) {
    yw_status (*set)(yw_world*, yw_body_id, int32_t, const float*, float) =
        m == 0 ? yw_body_match_set_weights : yw_body_frames_set_weights;
    char text[500];
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, 0], \"bodies\": [{\"%s\": {\"beta\": 0}, " BOX ", " LONGER "}]}",
             methods[m]);
    yw_scene* scene = scene_of(text);
    yw_world *world = world_of(scene), *other = world_of(scene);
    yw_body_id body = yw_world_body(world, 0);
    const float given = 0.8f, bad = 1.2f;
    float w[4] = {0};
    uint64_t plain = yw_world_hash(world);
    assert_int_equal(set(world, body, 1, &given, 1), YW_ERR_INVALID);
    assert_int_equal(set(world, body, 0, &bad, 1), YW_ERR_INVALID);
    assert_int_equal(set(world, body, 0, &given, -0.1f), YW_ERR_INVALID);
    assert_true(yw_world_hash(world) == plain);
    assert_int_equal(set(world, body, 0, &given, 0.5f), YW_OK);
    assert_true(yw_world_hash(world) != plain);
    yw_world_step(world, 1 / 60.0f, 1, NULL);
    weights_of(world, m, w);
    assert_near(w[1], 0.4, 1e-3);  // at rest, where beta keeps it, it would choose 0
    size_t size = yw_world_snapshot_size(world);
    void* bytes = malloc(size);
    assert_int_equal(yw_world_save(world, bytes, size, NULL), YW_OK);
    assert_int_equal(yw_world_load(other, bytes, size, NULL), YW_OK);
    yw_world_step(other, 1 / 60.0f, 1, NULL);
    yw_world_step(world, 1 / 60.0f, 1, NULL);
    assert_true(yw_world_hash(world) == yw_world_hash(other));
    assert_int_equal(set(world, body, -1, NULL, 0), YW_OK);
    yw_world_step(world, 1 / 60.0f, 1, NULL);
    weights_of(world, m, w);
    assert_near(w[1], 0, 1e-3);
    free(bytes);
    yw_world_destroy(world);
    yw_world_destroy(other);
    yw_scene_destroy(scene);
  }
}

// Groups are told and released one by one; snapshots hold what is left, and a body that is told
// nothing any more is as if it had never been.
static void groups_are_told_on_their_own(void** state) {
  (void)state;
  static const char* const methods[] = {"match", "frames"};
  for (int m = 0; m < 2; ++m) {
    yw_status (*set)(yw_world*, yw_body_id, int32_t, const float*, float) =
        m == 0 ? yw_body_match_set_weights : yw_body_frames_set_weights;
    char text[700];
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, 0], \"bodies\": [{\"%s\": {\"beta\": 0, " HALF "}, " BOX
             ", " LONGER "}]}",
             methods[m]);
    yw_scene* scene = scene_of(text);
    yw_world *world = world_of(scene), *other = world_of(scene);
    yw_body_id body = yw_world_body(world, 0);
    const float given[2] = {0.8f, 0.6f};
    uint64_t plain = yw_world_hash(world);
    for (int released = 0; released < 2; ++released) {
      for (int group = 0; group < 2; ++group) {
        assert_int_equal(set(world, body, group, &given[group], 1), YW_OK);
      }
      assert_int_equal(set(world, body, released, NULL, 0), YW_OK);
      assert_true(yw_world_hash(world) != plain);
      size_t size = yw_world_snapshot_size(world);
      void* bytes = malloc(size);
      assert_int_equal(yw_world_save(world, bytes, size, NULL), YW_OK);
      assert_int_equal(yw_world_load(other, bytes, size, NULL), YW_OK);
      free(bytes);
      assert_true(yw_world_hash(other) == yw_world_hash(world));
      float w[4] = {0};
      yw_world_step(other, 1 / 60.0f, 1, NULL);
      weights_of(other, m, w);
      assert_near(w[1], released == 0 ? 0 : 0.8, 1e-3);
      assert_near(w[3], released == 1 ? 0 : 0.6, 1e-3);
      assert_int_equal(set(world, body, -1, NULL, 0), YW_OK);
      assert_true(yw_world_hash(world) == plain);
    }
    yw_world_destroy(world);
    yw_world_destroy(other);
    yw_scene_destroy(scene);
  }
}

#define TOUCHY                                                                                  \
  "{\"floor\": true, \"bodies\": [{\"match\": {}, \"position\": [0, 0.6, 0], " BOX ", " LONGER  \
  ", \"tracks\": [{\"set\": \"weight\", \"drive\": {\"by\": \"contact\", \"from\": 0, \"to\": " \
  "20000, \"smooth\": 0.1, \"delay\": 0.1}}]}, {\"name\": \"b\", \"rigid\": {}, \"position\": " \
  "[0, 3, 0], " BOX                                                                             \
  ", \"tracks\": [{\"set\": \"friction\", \"drive\": {\"by\": \"distance\", "                   \
  "\"of\": \"bodies[0]\", \"body\": \"b\", \"from\": 3, \"to\": 0, \"delay\": 0.2}}]}]}"

// Snapshots hold delays, smoothing and the force of the last substep, in worlds that were built the
// same way and in those that go back.
static void snapshots_hold_the_state_of_drives(void** state) {
  (void)state;
  yw_scene* scene = scene_of(TOUCHY);
  yw_world *a = world_of(scene), *b = world_of(scene);
  for (int i = 0; i < 25; ++i) yw_world_step(a, 1 / 60.0f, 3, NULL);
  assert_at_least(value_of(a, 0), 0.01);
  size_t size = yw_world_snapshot_size(a);
  void* bytes = malloc(size);
  assert_int_equal(yw_world_save(a, bytes, size, NULL), YW_OK);
  assert_int_equal(yw_world_load(b, bytes, size, NULL), YW_OK);
  for (int i = 0; i < 12; ++i) {
    yw_world_step(a, 1 / 60.0f, 3, NULL);
    yw_world_step(b, 1 / 60.0f, 3, NULL);
    assert_true(yw_world_hash(a) == yw_world_hash(b));
  }
  for (int i = 0; i < 5; ++i) yw_world_step(b, 1 / 60.0f, 3, NULL);
  assert_int_equal(yw_track_destroy(b, (yw_track_id){1, 1}), YW_OK);
  assert_int_equal(yw_world_restore(b, bytes, size, NULL), YW_OK);
  for (int i = 0; i < 12; ++i) yw_world_step(b, 1 / 60.0f, 3, NULL);
  assert_true(yw_world_hash(a) == yw_world_hash(b));
  // Cut short or changed, they are refused.
  assert_true(yw_world_load(b, bytes, size - 9, NULL) < 0);
  assert_true(yw_world_hash(a) == yw_world_hash(b));
  free(bytes);
  yw_world_destroy(a);
  yw_world_destroy(b);
  yw_scene_destroy(scene);
}

static void drives_end_with_what_they_look_at(void** state) {
  (void)state;
  yw_scene* scene = scene_of(TOUCHY);
  yw_world* world = world_of(scene);
  assert_int_equal(yw_body_destroy(world, yw_world_body(world, 0)), YW_OK);
  assert_false(yw_track_is_valid(world, (yw_track_id){1, 1}));
  assert_false(yw_track_is_valid(world, (yw_track_id){2, 1}));
  assert_int_equal(yw_world_step(world, 1 / 60.0f, 1, NULL), YW_OK);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void refuse(const char* drive, const char* words) {
  char text[900];
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"match\": {\"alpha\": 0.5}, " BOX
           ", \"pins\": [{\"vertices\": [0]}], \"tracks\": [{\"set\": \"beta\", \"drive\": %s}]}]}",
           drive);
  yw_scene* scene = NULL;
  yw_world* world = NULL;
  yw_error error = {0};
  yw_status status = read_scene_text(text, "dir/a.json", &scene, NULL, &error);
  if (status >= 0) status = yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error);
  assert_true(status < 0);
  if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
  yw_scene_destroy(scene);
}

static void mistakes_are_refused(void** state) {
  (void)state;
#define RANGE "\"from\": 0, \"to\": 1"
  refuse("{\"by\": \"mood\", " RANGE "}", "speed");
  refuse("{\"by\": \"speed\", \"from\": 1, \"to\": 1}", "must differ");
  refuse("{\"by\": \"speed\", \"to\": 1}", "from");
  refuse("{\"by\": \"speed\", \"point\": [0, 0, 0], " RANGE "}", "not for drives by \"speed\"");
  refuse("{\"by\": \"distance\", " RANGE "}", "obstacle");
  refuse("{\"by\": \"distance\", \"body\": \"x\", \"point\": [0, 0, 0], " RANGE "}", "point");
  refuse("{\"by\": \"distance\", \"body\": \"x\", " RANGE "}", "no body is named \"x\"");
  refuse("{\"by\": \"distance\", \"obstacle\": \"x\", " RANGE "}", "no obstacle is named \"x\"");
  refuse("{\"by\": \"handle\", \"pin\": 1, " RANGE "}", "the body has 1 pins");
  refuse("{\"by\": \"handle\", \"pin\": 0, " RANGE "}", "give it a spring");
  refuse("{\"by\": \"handle\", " RANGE "}", "pin does not exist");
  refuse("{\"by\": \"energy\", " RANGE "}", "not with alpha");
  refuse("{\"by\": \"energy\", \"vertices\": [0], " RANGE "}", "not for drives by \"energy\"");
  refuse("{\"by\": \"speed\", \"vertices\": [99], " RANGE "}", "vertex 99");
  refuse("{\"by\": \"speed\", \"delay\": -1, " RANGE "}", "delay");
  // The longest delay is a million seconds.
  yw_scene* scene = NULL;
  yw_world_destroy(driven("\"bodies\": [{\"rigid\": {}, " BOX,
                          "\"by\": \"speed\", \"delay\": 1e6, " RANGE, "]", &scene));
  yw_scene_destroy(scene);
  // A drive runs from 0 to 1.
#define KEYS(first, last) \
  ", \"keys\": [{\"time\": " first ", \"value\": 0}, {\"time\": " last ", \"value\": 1}]"
  refuse("{\"by\": \"speed\", " RANGE "}" KEYS("0", "1.5"), "key 1 is at 1.5");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(measures_are_what_they_say),
                                     cmocka_unit_test(forces_are_measured),
                                     cmocka_unit_test(energy_is_that_of_the_strain),
                                     cmocka_unit_test(delay_and_smoothing_are_those_asked_for),
                                     cmocka_unit_test(weights_follow_what_comes_near),
                                     cmocka_unit_test(weights_can_be_set_by_hand),
                                     cmocka_unit_test(groups_are_told_on_their_own),
                                     cmocka_unit_test(snapshots_hold_the_state_of_drives),
                                     cmocka_unit_test(drives_end_with_what_they_look_at),
                                     cmocka_unit_test(mistakes_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
