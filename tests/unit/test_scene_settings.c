// SPDX-License-Identifier: MIT
// Settings of methods, listed and changed while a world runs; and variants of scenes.
#include <math.h>

#include "support/scene_text.h"
#include "yawara/extend/json.h"
#include "yawara/yawara.h"

#define BOX "\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 1}}"
#define SCENE                                                        \
  "{\"bodies\": [{\"name\": \"a\", \"match\": {\"beta\": 0.5}, " BOX \
  ", \"repeat\": {\"count\": [2, 1, 1], \"spacing\": [3, 0, 0]}}, "  \
  "{\"name\": \"b\", \"position\": [9, 0, 0], \"frames\": {\"damping\": 1}, " BOX "}]}"

static char listed[40000];

static void collect(void* context, const char* text) {
  (void)context;
  size_t used = strlen(listed);
  snprintf(listed + used, sizeof listed - used, "%s", text);
}

// The row of a key in the list of a body's settings.
static yw_json_doc* list_of(const yw_scene* scene, int32_t body) {
  yw_json_doc* doc = NULL;
  yw_error error = {0};
  listed[0] = '\0';
  yw_scene_write_settings(scene, body, collect, NULL);
  if (yw_json_parse(NULL, "list", listed, strlen(listed), &doc, &error) < 0) {
    fail_msg("%s", error.message);
  }
  return doc;
}

static const yw_json* row_of(yw_json_doc* doc, const char* key) {
  const yw_json* rows = yw_json_root(doc);
  for (int32_t i = 0; i < rows->count; ++i) {
    if (strcmp(yw_json_get(rows->items[i], "key")->string, key) == 0) return rows->items[i];
  }
  fail_msg("there is no row %s", key);
  return NULL;
}

static void settings_are_listed_with_values_and_limits(void** state) {
  (void)state;
  yw_scene* scene = scene_of(SCENE);
  yw_json_doc* doc = list_of(scene, 1);
  const yw_json* beta = row_of(doc, "beta");
  assert_near(yw_json_get(beta, "value")->number, 0.5, 0);
  assert_near(yw_json_get(beta, "default")->number, 0.95, 1e-6);
  assert_near(yw_json_get(beta, "high")->number, 1, 0);
  assert_false(yw_json_get(beta, "model")->boolean);
  assert_string_equal(yw_json_get(row_of(doc, "damping"), "unit")->string, "1/s");
  assert_string_equal(yw_json_get(row_of(doc, "projection"), "value")->string, "exact");
  yw_json_free(doc);
  assert_int_equal(yw_scene_body_entry(scene, 1), 0);
  assert_int_equal(yw_scene_body_entry(scene, 2), 1);
  assert_int_equal(yw_scene_body_entry(scene, 3), -1);
  assert_int_equal(yw_scene_body_entry(scene, -1), -1);
  assert_int_equal(yw_scene_body_entry(NULL, 0), -1);
  yw_scene_destroy(scene);
}

static void a_change_reaches_all_copies_and_later_worlds(void** state) {
  (void)state;
  yw_scene* scene = scene_of(SCENE);
  yw_world *world = world_of(scene), *later;
  yw_match_params params;
  yw_error error = {0};
  assert_int_equal(yw_scene_set(scene, world, 0, "beta", "0.25", &error), YW_OK);
  assert_int_equal(yw_scene_set(scene, world, 1, "projection", "paper", &error), YW_OK);
  later = world_of(scene);
  for (int32_t i = 0; i < 2; ++i) {
    yw_body_match_params(world, yw_world_body(world, i), &params);
    assert_near(params.beta, 0.25, 0);
    assert_int_equal(params.projection, YW_PROJECTION_PAPER);
    yw_body_match_params(later, yw_world_body(later, i), &params);
    assert_near(params.beta, 0.25, 0);
  }
  yw_world_destroy(world);
  yw_world_destroy(later);
  yw_scene_destroy(scene);
}

static void refuse(yw_scene* scene, yw_world* world, const char* key, const char* value,
                   const char* words) {
  yw_error error = {0};
  uint64_t before = yw_world_hash(world);
  assert_true(yw_scene_set(scene, world, 0, key, value, &error) < 0);
  if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
  assert_true(yw_world_hash(world) == before);
}

static void mistakes_are_refused_and_change_nothing(void** state) {
  (void)state;
  yw_scene* scene = scene_of(SCENE);
  yw_world* world = world_of(scene);
  refuse(scene, world, "beta", "1.7", "must be between 0 and 1");
  refuse(scene, world, "beta", "much", "a string");
  refuse(scene, world, "projection", "papre", "did you mean");
  refuse(scene, world, "groups", "per_region", "defines the model");
  refuse(scene, world, "betta", "1", "no setting \"betta\"");
  assert_true(yw_scene_set(scene, world, 7, "beta", "1", NULL) < 0);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// Stiffness ---------------------------------------------------------------------------------------

#define BAR "\"mesh\": {\"lattice\": {\"size\": [1, 0.2, 0.2], \"cells\": [5, 1, 1]}}, "
#define ROD                                                                            \
  "\"rod\": {\"line\": {\"from\": [-0.5, 0, 0], \"to\": [0.5, 0, 0], \"count\": 11}, " \
  "\"radius\": 0.05}, "
#define WALL "\"pins\": [{\"select\": {\"box\": {\"size\": 0.5, \"center\": [-0.7, 0, 0]}}}], "
#define MODULUS "\"youngs_modulus\": %g, \"stiffness_scale\": %g"

// How far the lowest particle of a scene is below the first in the last of some frames.
static double sag_of(const char* text, int32_t frames, double* energy) {
  yw_scene* scene = scene_of(text);
  yw_world* world = world_of(scene);
  for (int32_t i = 0; i < frames; ++i) yw_world_step(world, 1.0f / 60.0f, 4, NULL);
  int32_t count;
  yw_body_id body = yw_world_body(world, 0);
  const yw_vec3* x = yw_body_positions(world, body, &count);
  double low = 0.0;
  for (int32_t i = 0; i < count; ++i) low = fmax(low, (double)(x[0].y - x[i].y));
  yw_body_energy now;
  assert_int_equal(yw_body_energy_of(world, body, &now), YW_OK);
  *energy = now.elastic;
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return low;
}

// A body whose stiffness is scaled by 4 is one of four times the modulus.
static void scaled_stiffness_is_another_modulus(void** state) {
  (void)state;
  static const char* const scenes[] = {
      "{\"bodies\": [{" BAR WALL "\"frames\": {" MODULUS "}}]}",
      "{\"bodies\": [{" BAR WALL "\"frames\": {\"solver\": \"bdf2\", " MODULUS "}}]}",
      "{\"bodies\": [{" BAR WALL "\"frames\": {\"solver\": \"extended\", " MODULUS "}}]}",
      "{\"floor\": true, \"bodies\": [{" BAR
      "\"position\": [0, 0.11, 0], \"rotation\": "
      "{\"axis\": \"z\", \"degrees\": 5}, \"frames\": {" MODULUS "}}]}",
      "{\"bodies\": [{" BAR WALL "\"fem\": {\"max_level\": 1, " MODULUS "}}]}",
      "{\"bodies\": [{\"shape\": {\"box\": {\"size\": [1, 0.2, 0.2]}}, " WALL
      "\"plastic\": {\"spacing\": 0.1, " MODULUS "}}]}",
      "{\"bodies\": [{" ROD WALL "\"slender\": {" MODULUS "}}]}",
      "{\"bodies\": [{" ROD WALL "\"slender\": {\"solver\": \"extended\", " MODULUS "}}]}",
  };
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; ++i) {
    char text[600];
    double sag[3], energy[3];
    const double cases[3][2] = {{1e6, 1}, {2.5e5, 4}, {2.5e5, 1}};
    for (int k = 0; k < 3; ++k) {
      snprintf(text, sizeof text, scenes[i], cases[k][0], cases[k][1]);
      sag[k] = sag_of(text, 8, &energy[k]);
    }
    if (!(fabs(sag[1] - sag[0]) < 1e-3 * sag[0]) || !(fabs(sag[2] - sag[0]) > 0.01 * sag[0])) {
      fail_msg("scene %zu sags by %g m, scaled by %g, softer by %g", i, sag[0], sag[1], sag[2]);
    }
    if (!(fabs(energy[1] - energy[0]) < 0.01 * fabs(energy[0]))) {
      fail_msg("scene %zu stores %g J, scaled %g", i, energy[0], energy[1]);
    }
  }
}

// Keys of a track reach the bodies of all methods, and snapshots know the value.
static void stiffness_follows_its_keys(void** state) {
  (void)state;
  static const char* const methods[] = {"\"frames\": {}", "\"fem\": {\"max_level\": 0}",
                                        "\"plastic\": {\"spacing\": 0.1}"};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i) {
    char text[600];
    snprintf(text, sizeof text,
             "{\"bodies\": [{\"shape\": {\"box\": {\"size\": 0.2}}, %s, \"tracks\": [{\"set\": "
             "\"stiffness_scale\", \"keys\": [{\"time\": 0, \"value\": 1}, {\"time\": 1, "
             "\"value\": 3}]}]}]}",
             methods[i]);
    yw_scene* scene = scene_of(text);
    yw_world* world = world_of(scene);
    yw_world_step(world, 0.5f, 50, NULL);
    yw_body_id body = yw_world_body(world, 0);
    yw_frames_params frames = {0};
    yw_fem_params fem = {0};
    yw_plastic_params plastic = {0};
    yw_body_frames_params(world, body, &frames);
    yw_body_fem_params(world, body, &fem);
    yw_body_plastic_params(world, body, &plastic);
    assert_near(frames.stiffness_scale + fem.stiffness_scale + plastic.stiffness_scale, 1.99, 1e-5);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// Variants ----------------------------------------------------------------------------------------

enum { VARIANTS = 6, FRAMES = 4, PARTICLES = 8 };
static yw_vec3 tracks[VARIANTS][FRAMES + 1][PARTICLES];

static yw_rollout_def rollout_of(yw_rollout_variant* variants, const yw_rollout_track* track) {
  yw_rollout_def def = yw_default_rollout_def();
  def.scene.path = "dir/a.json";
  def.scene.text = SCENE;
  def.scene.size = strlen(SCENE);
  def.variants = variants;
  def.num_variants = VARIANTS;
  def.frames = FRAMES;
  def.tracks = track;
  def.num_tracks = track ? 1 : 0;
  return def;
}

static void variants_are_the_same_one_by_one(void** state) {
  (void)state;
  const yw_rollout_track track = {2, PARTICLES, &tracks[0][0][0]};
  char values[VARIANTS][16];
  yw_scene_override changes[VARIANTS];
  yw_rollout_variant variants[VARIANTS] = {0};
  for (int32_t i = 0; i < VARIANTS; ++i) {
    snprintf(values[i], sizeof values[i], "%d", i + 1);
    changes[i] = (yw_scene_override){"bodies[1].position[1]", values[i]};
    variants[i] = (yw_rollout_variant){.overrides = &changes[i], .num_overrides = 1};
  }
  for (int32_t threads = 1; threads <= 3; threads += 2) {
    memset(tracks, 0, sizeof tracks);
    yw_rollout_def def = rollout_of(variants, &track);
    def.threads = threads;
    assert_int_equal(yw_scene_rollout(&def, NULL), YW_OK);
    for (int32_t i = 0; i < VARIANTS; ++i) {
      yw_scene_def one = def.scene;
      yw_scene* scene = NULL;
      one.overrides = &changes[i];
      one.num_overrides = 1;
      assert_int_equal(yw_scene_read(&one, &scene, NULL, NULL), YW_OK);
      yw_world* world = world_of(scene);
      for (int32_t frame = 0; frame <= FRAMES; ++frame) {
        if (frame > 0) yw_world_step(world, 1.0f / 60.0f, 4, NULL);
        const yw_vec3* now = yw_body_positions(world, yw_world_body(world, 2), NULL);
        assert_memory_equal(tracks[i][frame], now, sizeof tracks[i][frame]);
      }
      assert_int_equal(variants[i].status, YW_OK);
      assert_int_equal(variants[i].frames, FRAMES);
      assert_true(variants[i].hash == yw_world_hash(world));
      yw_world_destroy(world);
      yw_scene_destroy(scene);
    }
  }
}

static bool at_once(void* context) {
  ++*(int32_t*)context;
  return true;
}

static void variants_that_fail_are_told_apart(void** state) {
  (void)state;
  const yw_scene_override wrong = {"bodies[1].frames.damping", "-1"};
  const yw_scene_override larger = {"bodies[1].mesh.lattice.cells", "2"};
  const yw_rollout_track track = {2, PARTICLES, &tracks[0][0][0]};
  yw_rollout_variant variants[VARIANTS] = {0};
  variants[1] = (yw_rollout_variant){.overrides = &wrong, .num_overrides = 1};
  variants[0] = (yw_rollout_variant){.overrides = &larger, .num_overrides = 1};
  for (int keep = 0; keep < 2; ++keep) {
    yw_rollout_def def = rollout_of(variants, &track);
    def.threads = 1;
    def.keep_going = keep;
    assert_int_equal(yw_scene_rollout(&def, NULL), YW_OK);
    assert_int_equal(variants[0].status, YW_ERR_LIMIT);
    assert_string_equal(variants[0].message.message,
                        "dir/a.json: body 2 has 27 particles, but there is room for 8");
    assert_int_equal(variants[1].status, YW_ERR_FORMAT);
    assert_non_null(strstr(variants[1].message.message, "damping"));
    assert_int_equal(variants[2].status, keep ? YW_OK : YW_ERR_INVALID);
    assert_string_equal(variants[2].message.message, "");
  }
  variants[0].overrides = NULL;
  yw_rollout_def def = rollout_of(variants, &track);
  assert_int_equal(yw_scene_rollout(&def, NULL), YW_ERR_INVALID);
}

static void a_rollout_can_be_stopped(void** state) {
  (void)state;
  int32_t asked = 0;
  yw_rollout_variant variants[VARIANTS] = {0};
  yw_rollout_def def = rollout_of(variants, NULL);
  // Some hours long.
  def.frames = 100000000;
  def.threads = 2;
  def.stop = at_once;
  def.stop_context = &asked;
  assert_int_equal(yw_scene_rollout(&def, NULL), YW_OK);
  assert_true(asked >= 1);
  assert_in_range(variants[0].frames, 1, 10000000);
  def.num_tracks = -1;
  yw_error error = {0};
  assert_int_equal(yw_scene_rollout(&def, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "tracks"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scaled_stiffness_is_another_modulus),
      cmocka_unit_test(stiffness_follows_its_keys),
      cmocka_unit_test(variants_are_the_same_one_by_one),
      cmocka_unit_test(variants_that_fail_are_told_apart),
      cmocka_unit_test(a_rollout_can_be_stopped),
      cmocka_unit_test(settings_are_listed_with_values_and_limits),
      cmocka_unit_test(a_change_reaches_all_copies_and_later_worlds),
      cmocka_unit_test(mistakes_are_refused_and_change_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
