// SPDX-License-Identifier: MIT
// Statistics that methods offer for logs: names and units stay the same, values are numbers, and
// there is room for as many as there may be.
#include "support/method_models.h"
#include "support/scene_text.h"
#include "yawara/extend/method.h"

static void every_method_keeps_its_columns(void** state) {
  (void)state;
  for (int k = 0; k < NUM_METHOD_BODIES; ++k) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, true);
    yw_model* model = method_model(k);
    yw_body_id body = add_body(world, model, (yw_vec3){0, 0.3f, 0}, (yw_quat){0, 0, 0, 1});
    yw_model_release(model);
    yw_statistics first = {0};
    assert_int_equal(yw_body_statistics_of(world, body, &first), YW_OK);
    for (int step = 0; step < 30; ++step) {
      yw_statistics now = {0};
      assert_true(yw_world_step(world, 1.0f / 60, 2, NULL) >= 0);
      assert_int_equal(yw_body_statistics_of(world, body, &now), YW_OK);
      assert_int_equal(now.count, first.count);
      for (int32_t i = 0; i < now.count; ++i) {
        assert_string_equal(now.items[i].name, first.items[i].name);
        assert_string_equal(now.items[i].unit, first.items[i].unit);
        assert_true(isfinite(now.items[i].value));
      }
    }
    yw_world_destroy(world);
  }
}

// The columns of fem: what its own query tells.
static void columns_of_fem_are_what_it_did(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_model* model = method_model(2);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0.3f, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(model);
  for (int step = 0; step < 10; ++step) assert_true(yw_world_step(world, 1.0f / 60, 2, NULL) >= 0);
  yw_fem_statistics fem;
  assert_int_equal(yw_body_fem_statistics(world, body, &fem), YW_OK);
  assert_true(fem.inner_steps >= 20);
  yw_statistics now = {0};
  assert_int_equal(yw_body_statistics_of(world, body, &now), YW_OK);
  bool found = false;
  for (int32_t i = 0; i < now.count; ++i) {
    if (strcmp(now.items[i].name, "inner steps") != 0) continue;
    assert_near(now.items[i].value, (double)fem.inner_steps, 0.0);
    found = true;
  }
  assert_true(found);
  yw_world_destroy(world);
}

// The columns of plastic, in their order.
static void columns_of_plastic_have_names_and_units(void** state) {
  (void)state;
  static const char* const columns[6][2] = {{"masters", ""},     {"slaves", ""},
                                            {"asleep", ""},      {"inner step", "s"},
                                            {"inner steps", ""}, {"iterations", ""}};
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_model* model = method_model(3);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0.3f, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(model);
  yw_statistics now = {0};
  assert_int_equal(yw_body_statistics_of(world, body, &now), YW_OK);
  assert_int_equal(now.count, 6);
  for (int i = 0; i < 6; ++i) {
    assert_string_equal(now.items[i].name, columns[i][0]);
    assert_string_equal(now.items[i].unit, columns[i][1]);
  }
  assert_near(now.items[0].value, 64, 0);
  yw_world_destroy(world);
}

static void weights_are_named_by_group_and_example(void** state) {
  (void)state;
  const float weights[3] = {0.5f, 0.25f, 0.25f};
  yw_statistics out = {0};
  yw_statistics_add_weights(&out, 0, 1, weights, 2);
  yw_statistics_add_weights(&out, 3, 4, weights, 1);
  assert_int_equal(out.count, 5);
  static const char* const names[5] = {"rest weight", "weight 1", "weight 2",
                                       "rest weight of group 3", "weight 1 of group 3"};
  const double values[5] = {0.5, 0.25, 0.25, 0.5, 0.25};
  for (int i = 0; i < 5; ++i) {
    assert_string_equal(out.items[i].name, names[i]);
    assert_string_equal(out.items[i].unit, "");
    assert_near(out.items[i].value, values[i], 0);
  }
}

// The weights of rods are those of their groups, in the order of the groups.
static void weights_of_rods_are_listed_by_group(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{\"gravity\": [0, 0, 0], \"bodies\": [{\"rod\": {\"line\": {\"from\": [-1, 0, 0], \"to\": "
      "[1, 0, 0], \"count\": 9}, \"radius\": 0.02}, \"slender\": {\"groups\": [{\"shape\": "
      "{\"box\": "
      "{\"size\": [1, 1, 1], \"center\": [0.52, 0, 0]}}, \"label\": 1}]}, \"examples\": "
      "[{\"deform\": {\"bend\": {\"degrees\": 90, \"axis\": \"x\", \"toward\": \"y\"}}}]}]}");
  yw_world* world = world_of(scene);
  yw_body_id body = yw_world_body(world, 0);
  const float wanted = 0.75f;
  assert_int_equal(yw_body_slender_set_weights(world, body, 1, &wanted, 1), YW_OK);
  assert_true(yw_world_step(world, 1.0f / 60, 1, NULL) >= 0);
  float weights[4] = {0};
  yw_body_slender_weights(world, body, weights, 4);
  yw_statistics out = {0};
  assert_int_equal(yw_body_statistics_of(world, body, &out), YW_OK);
  int found = 0;
  for (int32_t i = 0; i < out.count; ++i) {
    if (strcmp(out.items[i].name, "weight 1 of group 0") == 0) {
      assert_near(out.items[i].value, weights[1], 0);
      ++found;
    }
    if (strcmp(out.items[i].name, "weight 1 of group 1") == 0) {
      assert_near(out.items[i].value, 0.75, 1e-6);
      ++found;
    }
  }
  assert_int_equal(found, 2);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void what_has_no_room_is_left_out(void** state) {
  (void)state;
  yw_statistics out = {0};
  for (int i = 0; i < YW_MAX_STATISTICS + 3; ++i) yw_statistics_add(&out, "one", "m", i);
  assert_int_equal(out.count, YW_MAX_STATISTICS);
  assert_near(out.items[YW_MAX_STATISTICS - 1].value, YW_MAX_STATISTICS - 1, 0);
  // Long names are cut.
  out.count = 0;
  char name[200];
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  yw_statistics_add(&out, name, "m", 1);
  assert_int_equal(strlen(out.items[0].name), sizeof out.items[0].name - 1);
}

static void a_body_that_is_gone_has_none(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_statistics out = {.count = 7};
  assert_int_equal(yw_body_statistics_of(world, (yw_body_id){0}, &out), YW_ERR_INVALID);
  yw_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_method_keeps_its_columns),
      cmocka_unit_test(columns_of_fem_are_what_it_did),
      cmocka_unit_test(columns_of_plastic_have_names_and_units),
      cmocka_unit_test(weights_are_named_by_group_and_example),
      cmocka_unit_test(weights_of_rods_are_listed_by_group),
      cmocka_unit_test(what_has_no_room_is_left_out),
      cmocka_unit_test(a_body_that_is_gone_has_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
