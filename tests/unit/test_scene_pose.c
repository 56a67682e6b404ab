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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(positions_are_taken_as_they_are),
      cmocka_unit_test(wrong_positions_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
