// SPDX-License-Identifier: MIT
// Poses whose positions are in the scene itself.
#include "support/scene_text.h"
#include "yawara/yawara.h"

#define SCENE(positions)                                                                 \
  "{\"bodies\": [{\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 1}}, \"match\": {}, " \
  "\"start_pose\": {\"positions\": \"" positions "\"}}]}"
// Vertex i is at (i / 4, 1.5, -i).
#define EIGHT                                                                        \
  "AAAAAAAAwD8AAAAAAACAPgAAwD8AAIC/AAAAPwAAwD8AAADAAABAPwAAwD8AAEDAAACAPwAAwD8AAIDA" \
  "AACgPwAAwD8AAKDAAADAPwAAwD8AAMDAAADgPwAAwD8AAODA"
// The same with a NaN.
#define NOT_FINITE                                                                   \
  "AADAfwAAwD8AAAAAAACAPgAAwD8AAIC/AAAAPwAAwD8AAADAAABAPwAAwD8AAEDAAACAPwAAwD8AAIDA" \
  "AACgPwAAwD8AAKDAAADAPwAAwD8AAMDAAADgPwAAwD8AAODA"

static void positions_are_taken_as_they_are(void** state) {
  (void)state;
  yw_scene* scene = scene_of(SCENE(EIGHT));
  yw_world* world = world_of(scene);
  int32_t count = 0;
  const yw_vec3* positions = yw_body_positions(world, yw_world_body(world, 0), &count);
  assert_int_equal(count, 8);
  for (int32_t i = 0; i < 8; ++i) {
    assert_near(positions[i].x, 0.25 * i, 0);
    assert_near(positions[i].y, 1.5, 0);
    assert_near(positions[i].z, -i, 0);
  }
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void refuse(const char* text, const char* words) {
  yw_scene* scene = NULL;
  yw_error error = {0};
  assert_true(read_scene_text(text, "dir/a.json", &scene, NULL, &error) < 0);
  if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
}

static void wrong_positions_are_refused(void** state) {
  (void)state;
  refuse(SCENE("AAAA"), "bodies[0].start_pose.positions has less than the 8 positions");
  refuse(SCENE("not base64!"), "has less than the 8 positions");
  refuse(SCENE(EIGHT "AAAA"), "has more than the 8 positions");
  refuse(SCENE(NOT_FINITE), "not finite");
}

#define ROD                                                                                       \
  "{\"bodies\": [{\"rod\": {\"points\": [[0,0,0], [1,0,0], [2,0,0], [3,0,0]]}, \"slender\": {}, " \
  "\"examples\": [{\"name\": \"bow\", \"deform\": {\"bend\": {\"degrees\": 90, \"axis\": "        \
  "\"x\"}}}]}]}"

// Rods feel a pose as it is, apart from where it is and how it is turned as a whole.
static void poses_of_rods_are_compared_as_shapes(void** state) {
  (void)state;
  yw_scene* scene = scene_of(ROD);
  yw_pose_report reports[2];
  const char* names[2] = {NULL};
  int32_t count = 0;
  const yw_vec3* bow = yw_scene_example(scene, 0, 0, &count, NULL);
  assert_non_null(bow);
  assert_int_equal(count, 4);
  // The same bow, and a straight rod, elsewhere and turned: (x, y, z) -> (z + 5, x, y).
  yw_vec3 twin[4], straight[4];
  for (int i = 0; i < 4; ++i) {
    twin[i] = (yw_vec3){bow[i].z + 5.0f, bow[i].x, bow[i].y};
    straight[i] = (yw_vec3){5.0f, (float)i, 0.0f};
  }
  assert_int_equal(yw_scene_check_poses(scene, 0, NULL, reports, names, 2, NULL), 0);
  assert_int_equal(yw_scene_check_poses(scene, 0, twin, reports, names, 2, NULL), 2);
  assert_string_equal(names[0], "bow");
  assert_int_equal(yw_pose_flaw_of(&reports[1]), YW_POSE_TWIN);
  assert_int_equal(reports[1].nearest, 0);
  assert_true(reports[1].stretch > 0.05f);
  assert_int_equal(yw_scene_check_poses(scene, 0, straight, reports, NULL, 2, NULL), 2);
  assert_int_equal(yw_pose_flaw_of(&reports[1]), YW_POSE_REST);
  straight[3].z = 1.0f;
  assert_int_equal(yw_scene_check_poses(scene, 0, straight, reports, NULL, 2, NULL), 2);
  assert_int_equal(yw_pose_flaw_of(&reports[1]), YW_POSE_FINE);
  yw_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(positions_are_taken_as_they_are),
      cmocka_unit_test(wrong_positions_are_refused),
      cmocka_unit_test(poses_of_rods_are_compared_as_shapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
