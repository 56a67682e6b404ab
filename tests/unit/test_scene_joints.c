// SPDX-License-Identifier: MIT
// Rigid bodies and joints in scene files: what they become, and mistakes.
#include "support/scene_text.h"
#include "yawara/extend/vec.h"
#include "yawara/yawara.h"

#define BOX "\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 1}}"
#define BODIES                                                     \
  "\"bodies\": [{\"name\": \"a\", \"rigid\": {}, " BOX             \
  "}, "                                                            \
  "{\"name\": \"b\", \"rigid\": {}, \"position\": [2, 0, 0], " BOX \
  "}, "                                                            \
  "{\"name\": \"soft\", \"position\": [4, 0, 0], " BOX "}]"
#define SCENE(joints) "{" BODIES ", \"joints\": [" joints "]}"

static void expect(yw_status status, const yw_error* error, const char* words) {
  assert_true(status < 0);
  if (!strstr(error->message, words)) fail_msg("\"%s\" lacks \"%s\"", error->message, words);
}

static void refuse_text(const char* text, const char* words) {
  yw_scene* scene = NULL;
  yw_error error = {0};
  expect(read_scene_text(text, "dir/a.json", &scene, NULL, &error), &error, words);
}

static void refuse_world(const char* text, const char* words) {
  yw_scene* scene = scene_of(text);
  yw_world* world = NULL;
  yw_error error = {0};
  expect(yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error), &error, words);
  yw_scene_destroy(scene);
}

static void joints_are_made_between_named_bodies(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      SCENE("{\"kind\": \"hinge\", \"body\": \"b\", \"to\": \"a\", \"at\": [1, 0, 0], \"axis\": "
            "\"z\", \"limits\": [-180, 180], \"motor\": {\"speed\": 90, \"force\": 1e6}}, "
            "{\"kind\": \"ball\", \"body\": \"soft\", \"to\": \"a\", \"at\": [3.5, 0.5, 0.5]}, "
            "{\"kind\": \"fixed\", \"body\": \"a\", \"at\": [0, 0, 0]}"));
  yw_world* world = world_of(scene);
  assert_int_equal(yw_world_num_joints(world), 3);
  yw_joint_reading reading;
  for (int i = 0; i < 30; ++i) yw_world_step(world, 1.0f / 60, 4, NULL);
  assert_int_equal(yw_joint_read(world, (yw_joint_id){1, 1}, &reading), YW_OK);
  // Degrees become radians; half a second at 90 degrees per second.
  assert_near(reading.speed, 1.570796, 1e-3);
  assert_near(reading.position, 0.785398, 0.01);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void rigid_bodies_have_the_mass_of_their_shape(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{\"bodies\": [{\"shape\": {\"sphere\": {\"radius\": 0.5}}, \"density\": 500, \"rigid\": "
      "{\"damping\": 0.25}}, {\"shape\": {\"box\": {\"size\": [1, 0.02, 0.2]}}, \"rigid\": {}}]}");
  yw_world* world = world_of(scene);
  yw_rigid_mass mass;
  yw_rigid_params params;
  assert_int_equal(yw_model_rigid_mass(yw_body_model(world, yw_world_body(world, 0)), &mass),
                   YW_OK);
  assert_near(mass.mass / (500 * 4.0 / 3 * 3.14159265 * 0.125), 1.0, 1e-4);
  assert_int_equal(yw_body_rigid_params(world, yw_world_body(world, 0), &params), YW_OK);
  assert_near(params.damping, 0.25, 0.0);
  // Thin bodies get triangles that are small enough.
  yw_model_rigid_mass(yw_body_model(world, yw_world_body(world, 1)), &mass);
  assert_near(mass.mass, 4.0, 0.04);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// A long board with rounded edges, whose triangles are small only if the edges count.
static void rigid_bodies_show_their_shape(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{\"bodies\": [{\"shape\": {\"box\": {\"size\": [1.7, 0.16, 0.56], \"rounding\": 0.05}}, "
      "\"rigid\": {}}]}");
  yw_world* world = world_of(scene);
  yw_shape* shape = NULL;
  yw_vec3 half = {0.85f, 0.08f, 0.28f};
  assert_int_equal(yw_shape_rounded_box(NULL, half, 0.05f, &shape), YW_OK);
  const yw_tri_mesh* shown = yw_model_surface(yw_body_model(world, (yw_body_id){1, 1}));
  float farthest = 0.0f;
  for (int32_t t = 0; t < shown->num_triangles; ++t) {
    yw_vec3 middle = {0};
    for (int k = 0; k < 3; ++k) {
      middle = yw_add(middle, shown->positions[shown->triangles[3 * t + k]]);
    }
    middle = yw_scale(middle, 1.0f / 3);
    farthest = fmaxf(farthest, fabsf(yw_shape_distance(shape, middle)));
  }
  // A fifth of the rounding: edges look round.
  assert_at_most(farthest, 0.01);
  yw_shape_release(shape);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void mistakes_are_reported(void** state) {
  (void)state;
  refuse_text(SCENE("{\"kind\": \"glue\", \"body\": \"a\", \"at\": [0, 0, 0]}"), "joints[0].kind");
  refuse_text(SCENE("{\"kind\": \"ball\", \"at\": [0, 0, 0]}"), "needs \"body\"");
  refuse_text(SCENE("{\"kind\": \"rope\", \"body\": \"a\", \"at\": [0, 0, 0]}"), "needs \"to_at\"");
  refuse_text(SCENE("{\"kind\": \"ball\", \"body\": \"a\", \"at\": [0, 0, 0], \"axis\": \"x\"}"),
              "joints[0].axis is not for joints of kind \"ball\"");
  refuse_text(
      SCENE("{\"kind\": \"hinge\", \"body\": \"a\", \"at\": [0, 0, 0], \"limits\": [5, 9]}"),
      "joints[0].limits[0]");
  refuse_text(SCENE("{\"kind\": \"hinge\", \"body\": \"a\", \"at\": [0, 0, 0], \"motor\": {}}"),
              "needs \"speed\"");
  refuse_world(SCENE("{\"kind\": \"ball\", \"body\": \"c\", \"at\": [0, 0, 0]}"),
               "joints[0]: no body is named \"c\"");
  refuse_world(SCENE("{\"kind\": \"hinge\", \"body\": \"soft\", \"at\": [4, 0, 0]}"), "rigid");
  refuse_world(SCENE("{\"kind\": \"fixed\", \"body\": \"soft\", \"at\": [4, 0, 0], \"select\": "
                     "{\"sphere\": {\"radius\": 0.1}}}"),
               "none of the 8 vertices");
  refuse_text("{\"bodies\": [{\"rigid\": {\"size\": 1}, " BOX "}]}", "its own triangles");
  refuse_text(
      "{\"bodies\": [{\"rigid\": {}, \"examples\": [{\"deform\": {\"twist\": {\"degrees\": "
      "9}}}], " BOX "}]}",
      "is not for rigid bodies");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(joints_are_made_between_named_bodies),
      cmocka_unit_test(rigid_bodies_have_the_mass_of_their_shape),
      cmocka_unit_test(rigid_bodies_show_their_shape),
      cmocka_unit_test(mistakes_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
