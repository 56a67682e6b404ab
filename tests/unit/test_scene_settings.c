// SPDX-License-Identifier: MIT
// Settings of methods, listed and changed while a world runs.
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(settings_are_listed_with_values_and_limits),
      cmocka_unit_test(a_change_reaches_all_copies_and_later_worlds),
      cmocka_unit_test(mistakes_are_refused_and_change_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
