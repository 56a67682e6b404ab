// SPDX-License-Identifier: MIT
// What tools paint on the vertices of a mesh, as text inside the scene; strengths of examples.
#include "support/scene_text.h"
#include "yawara/yawara.h"

#define CUBE "\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 1}}"
#define TWO_GROUPS "AAAAAAEBAQE="  // 0 for vertices 0 to 3, 1 for the others
#define ALL_LOW "AAAAAAAAAAA="
#define ALL_HIGH "//////////8="
// A bar of 16 vertices, one end of which is stretched at first as its example is everywhere.
#define BAR "\"mesh\": {\"lattice\": {\"size\": [1, 1, 3], \"cells\": [1, 1, 3]}}"
#define BAR_GROUPS "AAAAAAAAAAABAQEBAQEBAQ=="
#define STRETCH "\"stretch\": {\"axis\": \"z\", \"amount\": 0.4}"
#define END "\"where\": {\"box\": {\"size\": 3, \"center\": [0, 0, 1.6]}}"
#define MATCH(groups)                                                                              \
  "{\"bodies\": [{" BAR ", \"match\": {\"groups\": " groups                                        \
  "}, \"start_pose\": {\"deform\": {" STRETCH ", " END "}}, \"examples\": [{\"deform\": {" STRETCH \
  "}}]}]}"
#define PINNED(pin) \
  "{\"bodies\": [{" CUBE ", \"match\": {\"stiffness\": 5}, \"pins\": [{" pin "}]}]}"
#define FRAMES(settings) \
  "{\"bodies\": [{" CUBE ", \"frames\": {" settings "}, \"pins\": [{\"vertices\": [6, 7]}]}]}"

// Positions of the first 8 vertices after a third of a second.
static void positions_after(const char* text, yw_vec3 out[8]) {
  yw_scene* scene = scene_of(text);
  yw_world* world = world_of(scene);
  int32_t count = 0;
  assert_true(yw_world_step(world, 0.33f, 40, NULL) >= 0);
  const yw_vec3* positions = yw_body_positions(world, yw_world_body(world, 0), &count);
  assert_true(count >= 8);
  memcpy(out, positions, 8 * sizeof *out);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static double largest_difference(const char* a, const char* b) {
  yw_vec3 p[8], q[8];
  double most = 0.0;
  positions_after(a, p);
  positions_after(b, q);
  for (int i = 0; i < 8; ++i) {
    most = fmax(most, fabs((double)p[i].x - (double)q[i].x));
    most = fmax(most, fabs((double)p[i].y - (double)q[i].y));
    most = fmax(most, fabs((double)p[i].z - (double)q[i].z));
  }
  return most;
}

static void painted_groups_are_labels(void** state) {
  (void)state;
  const char* painted = MATCH("{\"painted\": \"" BAR_GROUPS "\"}");
  assert_near(
      largest_difference(painted, MATCH("[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]")), 0, 0);
  assert_true(largest_difference(painted, MATCH("\"global\"")) > 1e-4);
}

static void painted_pins_hold_vertices(void** state) {
  (void)state;
  const char* painted = PINNED("\"painted\": \"" TWO_GROUPS "\"");
  assert_near(largest_difference(painted, PINNED("\"vertices\": [4, 5, 6, 7]")), 0, 0);
}

static void painted_stiffness_goes_from_the_first_value_to_the_second(void** state) {
  (void)state;
#define PAINT(text)                                        \
  FRAMES("\"fields\": [{\"painted\": {\"values\": \"" text \
         "\"}, \"youngs_modulus\": [2e4, "                 \
         "8e5]}]")
  const char *soft = FRAMES("\"youngs_modulus\": 2e4"), *stiff = FRAMES("\"youngs_modulus\": 8e5");
  double apart = largest_difference(soft, stiff);
  assert_true(apart > 0.05);
  assert_true(largest_difference(PAINT(ALL_LOW), soft) < 1e-3 * apart);
  assert_true(largest_difference(PAINT(ALL_HIGH), stiff) < 1e-3 * apart);
  assert_true(largest_difference(PAINT(TWO_GROUPS), soft) < 0.05 * apart);  // 0 and 1 of 255
}

static void refuse(const char* text, const char* words) {
  yw_scene* scene = NULL;
  yw_error error = {0};
  assert_true(read_scene_text(text, "dir/a.json", &scene, NULL, &error) < 0);
  if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
}

static void wrong_paint_is_refused(void** state) {
  (void)state;
  refuse(MATCH("{\"painted\": \"AAAA\"}"),
         "bodies[0].match.groups.painted has less than a byte for each of the mesh's 16 vertices");
  refuse(MATCH("{\"painted\": \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}"), "has more than a byte");
  refuse(MATCH("{\"painted\": \"?!\"}"), "has less than a byte");
  refuse(MATCH("{\"painted\": 3}"), "but must be");
  refuse(MATCH("{}"), "\"painted\"");
  refuse(MATCH("{\"paint\": \"\"}"), "did you mean \"painted\"");
  refuse(PINNED("\"painted\": \"" ALL_LOW "\""), "holds no vertex");
  refuse(PINNED("\"painted\": \"AA==\""), "bodies[0].pins[0].painted has less");
  refuse(PINNED("\"painted\": \"" TWO_GROUPS "\", \"vertices\": [1]"), "\"painted\"");
  refuse(FRAMES("\"fields\": [{\"painted\": {\"values\": \"AAAA\"}, \"youngs_modulus\": [1, 2]}]"),
         "has less than a byte");
  refuse(FRAMES("\"fields\": [{\"painted\": {\"values\": \"AAAA\", \"file\": \"a.ply\"}, "
                "\"youngs_modulus\": [1, 2]}]"),
         "\"file\"");
  refuse(
      "{\"bodies\": [{\"rod\": {\"line\": {\"from\": [0, 0, 0], \"to\": [1, 0, 0], \"count\": 4}, "
      "\"radius\": "
      "0.01}, \"slender\": "
      "{\"fields\": [{\"painted\": {\"values\": \"AAAA\"}, \"youngs_modulus\": [1e5, 1e6]}]}}]}",
      "is for bodies of tets only");
}

// Strengths ---------------------------------------------------------------------------------------

static double height_after(const char* method, const char* beta, const char* strength) {
  char text[600];
  snprintf(text, sizeof text,
           "{\"gravity\": [0, 0, 0], \"bodies\": [{\"mesh\": {\"lattice\": {\"size\": 1, "
           "\"cells\": 2}}, \"%s\": {\"beta\": %s}, \"start_pose\": 0, \"examples\": [{\"deform\": "
           "{\"stretch\": {\"axis\": \"y\", \"amount\": 0.3}}%s}]}]}",
           method, beta, strength);
  yw_scene* scene = scene_of(text);
  yw_world* world = world_of(scene);
  for (int i = 0; i < 90; ++i) yw_world_step(world, 1.0f / 60, 4, NULL);
  int32_t count = 0;
  const yw_vec3* p = yw_body_positions(world, yw_world_body(world, 0), &count);
  double low = 1e9, high = -1e9;
  for (int32_t i = 0; i < count; ++i) {
    low = fmin(low, (double)p[i].y);
    high = fmax(high, (double)p[i].y);
  }
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return high - low;
}

// With beta 1 a body rests in an example of full strength, and leaves a weaker one.
static void strength_says_how_much_an_example_attracts(void** state) {
  (void)state;
  static const char* const methods[] = {"match", "frames"};
  for (int i = 0; i < 2; ++i) {
    double full = height_after(methods[i], "1", "");
    double half = height_after(methods[i], "1", ", \"strength\": 0.5");
    assert_near(full, 1.3, 5e-3);
    assert_near(height_after(methods[i], "1", ", \"strength\": 1"), full, 0);
    if (!(half < 1.1)) fail_msg("%s: %g m high with half the strength", methods[i], half);
  }
  // An example without strength is one without attraction.
  assert_near(height_after("match", "1", ", \"strength\": 0"), height_after("match", "0", ""), 0);
}

static void strengths_are_between_0_and_1(void** state) {
  (void)state;
  refuse("{\"bodies\": [{" CUBE
         ", \"examples\": [{\"strength\": 1.5, \"deform\": {\"scale\": "
         "{\"amount\": 0.1}}}]}]}",
         "bodies[0].examples[0].strength is 1.5, but must be between 0 and 1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(painted_groups_are_labels),
      cmocka_unit_test(painted_pins_hold_vertices),
      cmocka_unit_test(painted_stiffness_goes_from_the_first_value_to_the_second),
      cmocka_unit_test(wrong_paint_is_refused),
      cmocka_unit_test(strength_says_how_much_an_example_attracts),
      cmocka_unit_test(strengths_are_between_0_and_1),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
