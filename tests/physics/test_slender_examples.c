// SPDX-License-Identifier: MIT
// Example poses of rods and sheets: poses that are reached, chosen, blended and left again; groups;
// snapshots; mistakes.
#include "methods/slender/examples.h"
#include "methods/slender/sheet_energy.h"
#include "support/method_world.h"
#include "support/scene_text.h"
#include "world/world.h"
#include "yawara/yawara.h"

#define ROD                                                                                    \
  "\"rod\": {\"line\": {\"from\": [0, 0, 0], \"to\": [1, 0, 0], \"count\": 17}, \"section\": " \
  "\"rectangle\", \"width\": 0.03, \"thickness\": 0.01, \"width_direction\": [0, 0, 1]}"
#define SHEET                                                                                 \
  "\"sheet\": {\"rectangle\": {\"width\": 1, \"depth\": 0.5, \"across\": 12, \"along\": 6}, " \
  "\"thickness\": 0.01}"
#define BEND(degrees, toward)                                                                \
  "{\"deform\": {\"bend\": {\"degrees\": " #degrees ", \"axis\": \"x\", \"toward\": " toward \
  ", "                                                                                       \
  "\"origin\": [0.5, 0, 0], \"length\": 1}}}"
#define FREE "\"gravity\": [0, 0, 0]"

static yw_world* make(const char* text, yw_scene** scene) {
  *scene = scene_of(text);
  return world_of(*scene);
}

static void run(yw_world* world, int frames) {
  for (int i = 0; i < frames; ++i) assert_true(yw_world_step(world, 1 / 60.0f, 2, NULL) >= 0);
}

static double distance_between(const yw_world* world, int a, int b) {
  const yw_vec3* x = yw_body_positions(world, yw_world_body(world, 0), NULL);
  double dx = (double)x[a].x - (double)x[b].x, dy = (double)x[a].y - (double)x[b].y,
         dz = (double)x[a].z - (double)x[b].z;
  return sqrt(dx * dx + dy * dy + dz * dz);
}

static float weight_of(const yw_world* world, int i) {
  float weights[12] = {0};
  yw_body_slender_weights(world, yw_world_body(world, 0), weights, 12);
  return weights[i];
}

// A rod told to take a half circle has its chord, 2 / pi of its length; told no more, it goes back.
static void poses_are_reached_and_left(void** state) {
  (void)state;
  yw_scene* scene = NULL;
  yw_world* world = make("{" FREE ", \"bodies\": [{" ROD
                         ", \"slender\": {\"youngs_modulus\": 1e8, "
                         "\"damping\": 8, \"beta\": 1}, \"examples\": [" BEND(180, "\"y\"") "]}]}",
                         &scene);
  yw_body_id body = yw_world_body(world, 0);
  const float all = 1, none = 0;
  assert_int_equal(yw_body_slender_set_weights(world, body, 0, &all, 1), YW_OK);
  run(world, 90);
  assert_near(distance_between(world, 0, 16), 2 / 3.14159265, 0.01);
  // With beta = 1 it may rest there of its own choice.
  assert_int_equal(yw_body_slender_set_weights(world, body, -1, NULL, 0), YW_OK);
  run(world, 60);
  assert_near(weight_of(world, 1), 1, 0.02);
  assert_near(distance_between(world, 0, 16), 2 / 3.14159265, 0.02);
  yw_slender_params params;
  yw_body_slender_params(world, body, &params);
  params.beta = 0.7f;
  assert_int_equal(yw_body_set_slender_params(world, body, &params), YW_OK);
  run(world, 120);
  assert_near(distance_between(world, 0, 16), 1, 0.02);
  assert_int_equal(yw_body_slender_set_weights(world, body, 0, &none, 1), YW_OK);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// Twist alone moves no point, but the far end turns: a second rod across it would see it. Here the
// width of the shown tube does.
static void twist_is_a_pose_too(void** state) {
  (void)state;
  yw_scene* scene = NULL;
  yw_world* world = make(
      "{" FREE ", \"bodies\": [{" ROD
      ", \"slender\": {\"youngs_modulus\": 1e8, \"damping\": 8, "
      "\"beta\": 1}, \"examples\": [{\"deform\": {\"twist\": {\"degrees\": 90, \"axis\": \"x\", "
      "\"length\": 1}}}], \"pins\": [{\"vertices\": [0], \"clamp\": true}], \"tracks\": [{\"set\": "
      "\"weight\", \"keys\": [{\"time\": 0, \"value\": 1}]}]}]}",
      &scene);
  yw_body_id body = yw_world_body(world, 0);
  run(world, 120);
  assert_near(distance_between(world, 0, 16), 1, 0.01);
  int32_t count = yw_model_surface(yw_body_model(world, body))->num_vertices;
  yw_vec3* x = malloc((size_t)count * sizeof *x);
  assert_int_equal(yw_body_surface_positions(world, body, x, count), YW_OK);
  float near_width = 0, far_height = 0;
  for (int i = 0; i < count; ++i) {
    if (x[i].x < 0.001f) near_width = fmaxf(near_width, fabsf(x[i].z));
    if (x[i].x > 0.99f) far_height = fmaxf(far_height, fabsf(x[i].y));
  }
  assert_near(near_width, 0.015, 0.001);
  assert_near(far_height, 0.015, 0.001);
  free(x);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// Of two styles a rod takes the one it was pulled towards, by itself.
static void the_nearer_of_two_poses_is_chosen(void** state) {
  (void)state;
  for (int side = 0; side < 2; ++side) {
    yw_scene* scene = NULL;
    yw_world* world =
        make("{" FREE ", \"bodies\": [{" ROD
             ", \"slender\": {\"youngs_modulus\": 1e8, \"damping\": "
             "6, \"beta\": 1}, \"examples\": [" BEND(120, "\"y\"") ", " BEND(120, "\"z\"") "]}]}",
             &scene);
    yw_body_id body = yw_world_body(world, 0);
    yw_vec3 pose[17];
    const yw_vec3* x = yw_body_positions(world, body, NULL);
    for (int i = 0; i < 17; ++i) {
      float t = x[i].x - 0.5f;
      pose[i] = (yw_vec3){x[i].x, side == 0 ? t * t : 0, side == 1 ? t * t : 0};
    }
    assert_int_equal(yw_body_set_state(world, body, pose, NULL), YW_OK);
    run(world, 90);
    assert_at_least(weight_of(world, 1 + side), 0.25);
    assert_at_most(weight_of(world, 2 - side), 0.01);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// A sheet rolls up; with groups only the half that is told to does.
static void groups_roll_up_on_their_own(void** state) {
  (void)state;
  static const char* const groups[] = {
      "\"global\"",
      "[{\"shape\": {\"box\": {\"size\": [1, 1, 1], \"center\": [0.52, 0, 0]}}, \"label\": 1}]"};
  static const char* const still[] = {"",
                                      ", {\"set\": \"weight\", \"group\": 0, \"keys\": "
                                      "[{\"time\": 0, \"value\": 0}]}"};
  double left[2], right[2];
  for (int i = 0; i < 2; ++i) {
    char text[1200];
    snprintf(
        text, sizeof text,
        "{" FREE ", \"bodies\": [{" SHEET
        ", \"slender\": {\"youngs_modulus\": 1e8, "
        "\"damping\": 8, \"beta\": 1, \"groups\": %s}, \"examples\": [{\"deform\": {\"bend\": "
        "{\"degrees\": 300, \"axis\": \"x\", \"toward\": \"y\", \"length\": 1}}}], \"tracks\": "
        "[{\"set\": \"weight\", \"group\": %d, \"kind\": \"smooth\", \"keys\": [{\"time\": 0, "
        "\"value\": 0}, {\"time\": 0.5, \"value\": 1}]}%s]}]}",
        groups[i], i, still[i]);
    yw_scene* scene = NULL;
    yw_world* world = make(text, &scene);
    run(world, 60);
    // The middle row: its ends and its middle.
    left[i] = distance_between(world, 39, 45);
    right[i] = distance_between(world, 45, 51);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
  // An arc of 150 degrees and half a metre has a chord of 0.369 m.
  assert_near(left[0], 0.369, 0.02);
  assert_near(right[0], 0.369, 0.02);
  assert_near(right[1], 0.369, 0.03);
  assert_at_least(left[1], 0.47);
}

// Strains of a pose are those of the body in it: a stretched, sheared and bent sheet.
static void stretch_and_shear_count(void** state) {
  (void)state;
  yw_scene* scene = NULL;
  yw_world* world = make(
      "{" FREE ", \"bodies\": [{" SHEET
      ", \"slender\": {\"youngs_modulus\": 1e8, \"damping\": 10, "
      "\"beta\": 1}, \"examples\": [{\"deform\": [{\"stretch\": {\"amount\": 0.3, \"axis\": "
      "\"x\"}}, {\"shear\": {\"amount\": 0.4, \"axis\": \"x\", \"toward\": \"z\"}}]}], \"tracks\": "
      "[{\"set\": \"weight\", \"keys\": [{\"time\": 0, \"value\": 1}]}]}]}",
      &scene);
  run(world, 120);
  // From corner to corner: (1.3, 0.52 - 0.5) and (1.3, 0.52 + 0.5).
  assert_near(distance_between(world, 78, 12), sqrt(1.3 * 1.3 + 0.02 * 0.02), 0.01);
  assert_near(distance_between(world, 0, 90), sqrt(1.3 * 1.3 + 1.02 * 1.02), 0.01);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static slender_body* body_of(const yw_world* world) {
  return yw_world_find_body(world, yw_world_body(world, 0))->state;
}

// Poses of sheets are weighed with the stiffness of stretch, of bending and of shear: the product
// of a pose with itself is twice the energy of its strains.
static void products_of_poses_are_energies(void** state) {
  (void)state;
  yw_scene* scene = NULL;
  yw_world* world =
      make("{" FREE ", \"bodies\": [{" SHEET
           ", \"slender\": {\"youngs_modulus\": 1e6}, \"examples\": [{\"deform\": [{\"stretch\": "
           "{\"amount\": 0.002, \"axis\": \"x\"}}, {\"bend\": {\"degrees\": 30, \"axis\": \"x\", "
           "\"toward\": \"y\"}}, {\"twist\": {\"degrees\": 20, \"axis\": \"x\"}}]}]}]}",
           &scene);
  const slender_model* model = body_of(world)->model;
  double parts[3] = {0};
  for (int32_t e = 0; e < model->num_elements; ++e) {
    const double* strain = yw_slender_example(model, 0, e);
    double k[SHEET_STRAINS / 3][9];
    yw_sheet_stiffness(&model->triangles[e], k);
    for (int n = 0; n < 27; ++n) {
      int part = n / 9, i = n % 9 / 3, j = n % 3;
      parts[part] += strain[3 * part + i] * k[part][3 * i + j] * strain[3 * part + j];
    }
  }
  double sum = parts[0] + parts[1] + parts[2];
  assert_near(model->poses.gram[0] / sum, 1, 1e-9);
  for (int part = 0; part < 3; ++part) assert_at_least(parts[part] / sum, 1e-4);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// A body that is torn apart beyond all numbers chooses the rest shape.
static void weights_stay_finite(void** state) {
  (void)state;
  for (int example = 0; example < 2; ++example) {
    yw_scene* scene = NULL;
    yw_world* world =
        make("{" FREE ", \"bodies\": [{" ROD
             ", \"slender\": {\"youngs_modulus\": 1e8, \"beta\": 1}, \"examples\": [" BEND(
                 120, "\"y\"") ", " BEND(120, "\"z\"") "]}]}",
             &scene);
    slender_body* body = body_of(world);
    for (size_t i = 0; i < 3 * 17; ++i) {
      if (i % 3 == 1 + (size_t)example) body->x[i] = i % 2 ? 1e308 : -1e308;
    }
    yw_slender_fit_examples(body);
    for (int i = 0; i < 3; ++i) assert_near(body->weights[i], i == 0, 0);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

static void snapshots_hold_weights(void** state) {
  (void)state;
  static const char* const solvers[] = {"implicit", "bdf2"};
  for (int i = 0; i < 2; ++i) {
    char text[900];
    snprintf(text, sizeof text,
             "{\"floor\": true, \"bodies\": [{" ROD
             ", \"position\": [0, 0.3, 0], \"slender\": "
             "{\"solver\": \"%s\", \"groups\": \"per_region\"}, \"examples\": [" BEND(
                 90, "\"y\"") ", " BEND(60, "\"z\"") "]}]}",
             solvers[i]);
    yw_scene* scene = scene_of(text);
    yw_world *a = world_of(scene), *b = world_of(scene);
    run(a, 20);
    size_t size = yw_world_snapshot_size(a);
    void* bytes = malloc(size);
    assert_int_equal(yw_world_save(a, bytes, size, NULL), YW_OK);
    assert_int_equal(yw_world_load(b, bytes, size, NULL), YW_OK);
    run(a, 15);
    run(b, 15);
    assert_true(yw_world_hash(a) == yw_world_hash(b));
    assert_int_equal(yw_body_slender_weights(a, yw_world_body(a, 0), NULL, 0), 16);
    free(bytes);
    yw_world_destroy(a);
    yw_world_destroy(b);
    yw_scene_destroy(scene);
  }
}

static void refuse(const char* text, const char* words) {
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
  // Poses may be stretched as far as they like.
  for (int axis = 0; axis < 2; ++axis) {
    char text[600];
    snprintf(text, sizeof text,
             "{\"bodies\": [{" SHEET
             ", \"slender\": {}, \"examples\": [{\"deform\": {\"stretch\": {\"amount\": 2, "
             "\"axis\": \"%s\"}}}]}]}",
             axis ? "z" : "x");
    yw_scene* scene = NULL;
    yw_world_destroy(make(text, &scene));
    yw_scene_destroy(scene);
  }
  refuse("{\"bodies\": [{" ROD
         ", \"slender\": {\"solver\": \"extended\"}, \"examples\": [" BEND(90, "\"y\"") "]}]}",
         "position-based solvers know the rest pose only");
  // Squashed by a factor of 2e-4 in one direction, twice.
  refuse("{\"bodies\": [{" SHEET
         ", \"slender\": {}, \"examples\": [{\"deform\": [{\"stretch\": "
         "{\"amount\": -0.99, \"axis\": \"x\"}}, {\"stretch\": {\"amount\": -0.98, \"axis\": "
         "\"x\"}}]}]}]}",
         "no area");
  refuse("{\"bodies\": [{" ROD
         ", \"slender\": {}, \"examples\": [{\"mesh\": {\"file\": "
         "\"a.obj\"}}]}]}",
         "is for volumes");
  refuse("{\"bodies\": [{" ROD
         ", \"slender\": {\"groups\": [1, 2]}, \"examples\": [" BEND(90, "\"y\"") "]}]}",
         "2 labels");
}

// Rotations of a pose are unit quaternions, up to rounding and no further than the square root
// of 2.
static void rotations_of_poses_have_length_one(void** state) {
  (void)state;
  enum { COUNT = 5 };
  yw_vec3 points[COUNT];
  yw_quat turns[COUNT];
  for (int i = 0; i < COUNT; ++i) points[i] = (yw_vec3){0.1f * (float)i, 0, 0};
  const yw_vec3* poses[] = {points};
  const yw_quat* all_turns[] = {turns};
  yw_rod_def def = yw_default_rod_def();
  def.points = points;
  def.num_points = COUNT;
  def.radius = 0.01f;
  def.examples.count = 1;
  def.examples.poses = poses;
  def.examples.turns = all_turns;
  static const float lengths[] = {1.0f, 0.5f, 1.5f, 1.8f, NAN};
  for (size_t n = 0; n < sizeof lengths / sizeof *lengths; ++n) {
    for (int i = 0; i < COUNT; ++i) turns[i] = (yw_quat){0, 0, 0, i == 3 ? lengths[n] : 1.0f};
    yw_model* model = NULL;
    yw_error error = {0};
    yw_status status = yw_model_create_rod(NULL, &def, &model, &error);
    if (n == 0) assert_true(status >= 0);
    if (n > 0) assert_int_equal(status, YW_ERR_GEOMETRY);
    if (n > 0 && !strstr(error.message, "point 3 of examples[0]")) fail_msg("%s", error.message);
    yw_model_release(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(poses_are_reached_and_left),
                                     cmocka_unit_test(twist_is_a_pose_too),
                                     cmocka_unit_test(the_nearer_of_two_poses_is_chosen),
                                     cmocka_unit_test(groups_roll_up_on_their_own),
                                     cmocka_unit_test(stretch_and_shear_count),
                                     cmocka_unit_test(products_of_poses_are_energies),
                                     cmocka_unit_test(weights_stay_finite),
                                     cmocka_unit_test(snapshots_hold_weights),
                                     cmocka_unit_test(rotations_of_poses_have_length_one),
                                     cmocka_unit_test(mistakes_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
