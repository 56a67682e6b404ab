// SPDX-License-Identifier: MIT
// Groups, masks, pairs and joints decide who collides, in both kinds of contact.
#include "support/scene_text.h"
#include "support/world_fixture.h"
#include "yawara/contact.h"
#include "yawara/extend/vec.h"

static yw_world* make_contact_world(yw_contact_kind contact, bool with_floor) {
  yw_world_def def = yw_default_world_def();
  def.threads = 1;
  def.contact = contact;
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  if (with_floor) add_floor(world);
  return world;
}

static yw_body_id add_box(yw_world* world, yw_model* model, float y, uint32_t groups,
                          uint32_t mask) {
  yw_error error = {0};
  yw_body_def def = yw_default_body_def();
  def.model = model;
  def.transform.position = (yw_vec3){0, y, 0};
  def.groups = groups;
  def.mask = mask;
  yw_body_id id;
  if (yw_body_create(world, &def, &id, &error) < 0) fail_msg("%s", error.message);
  return id;
}

static double height(const yw_world* world, yw_body_id id) {
  yw_body_sums sums;
  assert_int_equal(yw_body_sums_of(world, id, &sums), YW_OK);
  return sums.center[1];
}

static void run(yw_world* world, int steps) {
  for (int i = 0; i < steps; ++i) assert_true(yw_world_step(world, 1.0f / 60, 4, NULL) >= 0);
}

// Boxes 1 m high: the second falls on the first, which lies on the floor.
static double rest_height(yw_contact_kind contact, uint32_t groups, uint32_t mask, bool apart) {
  yw_world* world = make_contact_world(contact, true);
  yw_model* model = make_box_model(1, 2, 1, 0);
  yw_body_id low = add_box(world, model, 0.5f, 1, UINT32_MAX);
  yw_body_id high = add_box(world, model, 1.55f, groups, mask);
  yw_model_release(model);
  if (apart) assert_int_equal(yw_world_set_pair_contact(world, high, low, false), YW_OK);
  run(world, 40);
  double y = height(world, high);
  yw_world_destroy(world);
  return y;
}

static void groups_and_masks_filter_bodies(void** state) {
  (void)state;
  for (int contact = 0; contact < 2; ++contact) {
    assert_near(rest_height((yw_contact_kind)contact, 1, UINT32_MAX, false), 1.5, 0.05);
    assert_near(rest_height((yw_contact_kind)contact, 2, UINT32_MAX, false), 1.5, 0.05);
    // A pair that is turned off falls into each other and meets on the floor.
    assert_at_most(rest_height((yw_contact_kind)contact, 1, UINT32_MAX, true), 1.0);
  }
}

// A body that sleeps on another falls when it no longer meets it.
static void sleepers_notice_a_new_filter(void** state) {
  (void)state;
  yw_world* world = make_contact_world(YW_CONTACT_SURFACES, true);
  yw_model* model = make_box_model(1, 2, 1, 0);
  yw_body_id low = add_box(world, model, 0.5f, 1, UINT32_MAX);
  yw_body_id high = add_box(world, model, 1.51f, 1, UINT32_MAX);
  yw_model_release(model);
  for (int i = 0; i < 600 && !yw_body_is_asleep(world, high); ++i) run(world, 1);
  assert_true(yw_body_is_asleep(world, high));
  assert_near(height(world, high), 1.5, 0.05);
  assert_int_equal(yw_body_set_filter(world, high, 2, ~1u), YW_OK);
  assert_int_equal(yw_body_set_filter(world, low, 1, ~2u), YW_OK);
  run(world, 40);
  assert_at_most(height(world, high), 1.0);
  yw_world_destroy(world);
}

// The mask of either side is enough to pass.
static void one_mask_is_enough_to_pass(void** state) {
  (void)state;
  for (int contact = 0; contact < 2; ++contact) {
    for (int side = 0; side < 2; ++side) {
      yw_world* world = make_contact_world((yw_contact_kind)contact, true);
      yw_model* model = make_box_model(1, 2, 1, 0);
      // Groups: 2 and 4; the floor is in 1.
      yw_body_id low = add_box(world, model, 0.5f, 2, side == 0 ? 1u : UINT32_MAX);
      yw_body_id high = add_box(world, model, 1.55f, 4, side == 1 ? 1u : UINT32_MAX);
      yw_model_release(model);
      run(world, 40);
      assert_near(height(world, low), 0.5, 0.05);
      assert_at_most(height(world, high), 1.0);
      yw_world_destroy(world);
    }
  }
}

static void obstacles_are_filtered(void** state) {
  (void)state;
  yw_world* world = make_contact_world(YW_CONTACT_POINTS, false);
  yw_obstacle_id floor = add_floor(world);
  yw_model* model = make_box_model(1, 2, 1, 0);
  yw_body_id held = add_box(world, model, 0.6f, 1, UINT32_MAX);
  yw_body_id ghost = add_box(world, model, 0.6f, 2, 2);
  yw_model_release(model);
  run(world, 40);
  assert_near(height(world, held), 0.5, 0.05);
  assert_at_most(height(world, ghost), -1.0);
  // The mask of the obstacle, changed in mid-run.
  assert_int_equal(yw_obstacle_set_filter(world, floor, 1, 4), YW_OK);
  run(world, 40);
  assert_at_most(height(world, held), 0.0);
  assert_int_equal(yw_body_set_filter(world, held, 4, UINT32_MAX), YW_OK);
  yw_world_destroy(world);
}

// Pairs that are named later, before or between others, leave these apart: the hash is the same
// whatever the order.
static void pairs_may_be_named_in_any_order(void** state) {
  (void)state;
  static const int orders[3][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
  uint64_t hashes[3];
  for (int round = 0; round < 3; ++round) {
    yw_world* world = make_contact_world(YW_CONTACT_SURFACES, true);
    yw_model* model = make_box_model(1, 2, 1, 0);
    yw_body_id ids[3];
    for (int i = 0; i < 3; ++i) {
      ids[i] = add_box(world, model, 0.5f + 1.05f * (float)i, 1, UINT32_MAX);
    }
    yw_model_release(model);
    for (int i = 0; i < 3; ++i) {
      int k = orders[round][i];
      assert_int_equal(yw_world_set_pair_contact(world, ids[k], ids[(k + 1) % 3], false), YW_OK);
    }
    run(world, 100);
    // All fall through each other and lie on the floor.
    for (int i = 0; i < 3; ++i) assert_at_most(height(world, ids[i]), 0.6);
    hashes[round] = yw_world_hash(world);
    yw_world_destroy(world);
  }
  assert_true(hashes[1] == hashes[0] && hashes[2] == hashes[0]);
}

static void pairs_can_be_turned_on_again(void** state) {
  (void)state;
  yw_world* world = make_contact_world(YW_CONTACT_POINTS, true);
  yw_model* model = make_box_model(1, 2, 1, 0);
  yw_body_id low = add_box(world, model, 0.5f, 1, UINT32_MAX);
  yw_body_id high = add_box(world, model, 1.55f, 1, UINT32_MAX);
  uint64_t hash = yw_world_hash(world);
  assert_int_equal(yw_world_set_pair_contact(world, low, high, false), YW_OK);
  assert_true(yw_world_hash(world) != hash);
  assert_int_equal(yw_world_set_pair_contact(world, low, high, true), YW_OK);
  assert_true(yw_world_hash(world) == hash);
  run(world, 40);
  assert_near(height(world, high), 1.5, 0.05);
  // A body that takes the place of a destroyed one collides.
  assert_int_equal(yw_world_set_pair_contact(world, low, high, false), YW_OK);
  assert_int_equal(yw_body_destroy(world, high), YW_OK);
  yw_body_id next = add_box(world, model, 1.55f, 1, UINT32_MAX);
  yw_model_release(model);
  assert_int_equal(next.index1, high.index1);
  run(world, 40);
  assert_near(height(world, next), 1.5, 0.05);
  assert_int_equal(yw_world_set_pair_contact(world, low, low, false), YW_ERR_INVALID);
  assert_int_equal(yw_world_set_pair_contact(world, low, high, false), YW_ERR_INVALID);
  assert_int_equal(yw_body_set_filter(world, high, 1, 1), YW_ERR_INVALID);
  assert_int_equal(yw_obstacle_set_filter(world, (yw_obstacle_id){9, 1}, 1, 1), YW_ERR_INVALID);
  yw_world_destroy(world);
}

// Gives a body the velocities of a rotation about an axis along z.
static void turn_about(yw_world* world, yw_body_id id, yw_vec3 axis, float speed) {
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, id, &count);
  yw_vec3* v = malloc((size_t)count * sizeof *v);
  for (int32_t i = 0; i < count; ++i) {
    v[i] = yw_cross((yw_vec3){0, 0, speed}, yw_sub(x[i], axis));
  }
  assert_int_equal(yw_body_set_state(world, id, x, v), YW_OK);
  free(v);
}

// Two rigid boxes hinged in the gap between them; one turns, and its corner meets the other after
// 0.1 rad unless they do not collide.
static int contacts_of_hinge(bool collide) {
  yw_error error = {0};
  yw_world* world = make_weightless_world(1);
  yw_shape* shape = NULL;
  yw_tri_mesh surface = {0};
  yw_shape_box(NULL, (yw_vec3){0.5f, 0.1f, 0.1f}, &shape);
  assert_int_equal(yw_shape_surface(shape, NULL, 0.1f, &surface, &error), YW_OK);
  yw_rigid_def def = yw_default_rigid_def();
  def.surface = &surface;
  def.shape = shape;
  yw_model* model = NULL;
  assert_int_equal(yw_model_create_rigid(NULL, &def, &model, &error), YW_OK);
  yw_tri_mesh_free(&surface);
  yw_shape_release(shape);
  yw_body_id a = add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  yw_body_id b = add_body(world, model, (yw_vec3){1.01f, 0, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(model);
  yw_joint_def joint = yw_default_joint_def();
  joint.kind = YW_JOINT_HINGE;
  joint.axis = (yw_vec3){0, 0, 1};
  joint.ends[0].body = a;
  joint.ends[0].point = (yw_vec3){0.505f, 0, 0};
  joint.ends[1].body = b;
  joint.collide = collide;
  yw_joint_id id;
  if (yw_joint_create(world, &joint, &id, &error) < 0) fail_msg("%s", error.message);
  turn_about(world, b, (yw_vec3){0.505f, 0, 0}, 6.0f);
  yw_step_report report;
  int contacts = 0;
  for (int i = 0; i < 5; ++i) {
    yw_world_step(world, 1.0f / 60, 2, &report);
    contacts += report.body_contacts;
  }
  yw_world_destroy(world);
  return contacts;
}

static void joined_bodies_do_not_collide_unless_told(void** state) {
  (void)state;
  assert_int_equal(contacts_of_hinge(false), 0);
  assert_at_least(contacts_of_hinge(true), 1.0);
}

static void scenes_name_groups(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{\"floor\": true, \"bodies\": ["
      "{\"shape\": {\"box\": {\"size\": 0.5}}, \"position\": [0, 1, 0], \"groups\": [\"ghosts\"],"
      " \"collides_with\": [\"walls\", \"ghosts\"]},"
      "{\"shape\": {\"box\": {\"size\": 0.5}}, \"position\": [3, 1, 0]}],"
      "\"obstacles\": [{\"shape\": {\"box\": {\"size\": 0.1}}, \"groups\": [\"walls\"],"
      " \"position\": [9, 0, 0]}]}");
  yw_world* world = world_of(scene);
  run(world, 60);
  // The floor is in no group that the ghost collides with.
  assert_at_most(height(world, yw_world_body(world, 0)), -1.0);
  assert_near(height(world, yw_world_body(world, 1)), 0.25, 0.1);
  yw_world_destroy(world);
  yw_scene_destroy(scene);

  yw_error error = {0};
  assert_true(read_scene_text("{\"bodies\": [{\"shape\": {\"box\": {\"size\": 0.5}},"
                              " \"collides_with\": [\"wals\"]}]}",
                              "dir/a.json", &scene, NULL, &error) < 0);
  assert_non_null(strstr(error.message, "is \"wals\", but nothing is in that group"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_and_masks_filter_bodies),
      cmocka_unit_test(sleepers_notice_a_new_filter),
      cmocka_unit_test(one_mask_is_enough_to_pass),
      cmocka_unit_test(obstacles_are_filtered),
      cmocka_unit_test(pairs_may_be_named_in_any_order),
      cmocka_unit_test(pairs_can_be_turned_on_again),
      cmocka_unit_test(joined_bodies_do_not_collide_unless_told),
      cmocka_unit_test(scenes_name_groups),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
