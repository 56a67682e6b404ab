// SPDX-License-Identifier: MIT
// The hash of a world covers everything its next step depends on, and a world built differently
// rejects a snapshot.
#include "geometry/shape.h"
#include "methods/fem/body.h"
#include "methods/frames/step.h"
#include "methods/match/step.h"
#include "methods/plastic/body.h"
#include "methods/slender/slender.h"
#include "support/method_models.h"
#include "support/sample_scenes.h"
#include "world/world.h"

// Hidden state ------------------------------------------------------------------------------------

static void change_match_weight(void* state) { ((match_body*)state)->weights[0] += 0.25f; }
static void change_match_rotation(void* state) {
  ((match_body*)state)->rotations[0].m[0][0] += 0.25f;
}
static void change_match_params(void* state) { ((match_body*)state)->params.beta *= 0.5f; }
static void change_frames_rotation(void* state) {
  ((frames_body*)state)->rotations[0].m[0][0] += 0.25f;
}
static void change_frames_contact(void* state) {
  frames_body* body = state;
  body->in_contact = !body->in_contact;
}
static void change_frames_history(void* state) { ((frames_body*)state)->last_pos[0].x += 0.25f; }
static void change_orientation(void* state) {
  slender_body* body = state;
  body->turn[1] = (yw_turn){1, 0, 0, 0};
}
static void change_momentum(void* state) { ((slender_body*)state)->momentum[0] += 0.25; }
static void change_plastic_strain(void* state) {
  ((plastic_body*)state)->state[0].strain[0] += 0.25f;
}
static void change_slave(void* state) { ((plastic_body*)state)->slave_pos[0].x += 0.25f; }
static void change_fem_front(void* state) { ((fem_body*)state)->merged_at[0] += 0.25f; }
static void change_fem_flow(void* state) {
  fem_body* body = state;
  body->has_flown = true;
  body->plastic[0][0] += 0.25f;
}
static void change_fem_sleep(void* state) { ((fem_body*)state)->still += 0.25f; }

// The named quantity changes, positions and velocities do not: the hash must change.
static void hidden_state_is_hashed(void** state) {
  (void)state;
  static const yw_scene_override bdf2 = {"bodies[0].frames.solver", "bdf2"};
  const struct {
    const char *scene, *what;
    const yw_scene_override* set;
    void (*change)(void* state);
  } cases[] = {
      {"match", "weight of an example", NULL, change_match_weight},
      {"match", "rotation of a region", NULL, change_match_rotation},
      {"match", "parameter of a body", NULL, change_match_params},
      {"frames", "rotation of a region", NULL, change_frames_rotation},
      {"frames", "contact in the last step", NULL, change_frames_contact},
      {"frames", "position of the step before", &bdf2, change_frames_history},
      {"rod", "orientation", NULL, change_orientation},
      {"rod", "spin", NULL, change_momentum},
      {"plastic", "plastic strain", NULL, change_plastic_strain},
      {"plastic", "slave", NULL, change_slave},
      {"fem", "jump at which a family was merged", NULL, change_fem_front},
      {"fem", "plastic strain", NULL, change_fem_flow},
      {"fem", "time at rest", NULL, change_fem_sleep},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    yw_scene* scene = sample_scene(cases[i].scene, cases[i].set, cases[i].set != NULL, NULL);
    yw_world* world = sample_world(scene, 1, YW_SIMD_AUTO);
    step_frames(world, scene, 2);
    uint64_t motion = motion_hash(world), before = yw_world_hash(world);
    cases[i].change(world->bodies.items[0].state);
    assert_true(motion_hash(world) == motion);
    if (yw_world_hash(world) == before) fail_msg("%s: %s", cases[i].scene, cases[i].what);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

static void a_hand_on_a_pin_is_hashed(void** state) {
  (void)state;
  yw_scene* scene = sample_scene("frames", NULL, 0, NULL);
  yw_world* world = sample_world(scene, 1, YW_SIMD_AUTO);
  uint64_t before = yw_world_hash(world);
  yw_pin_id pin = {1, 1};
  assert_int_equal(yw_pin_move(world, pin, (yw_vec3){0.1f, 0, 0}, (yw_quat){0, 0, 0, 1}), YW_OK);
  assert_true(yw_world_hash(world) != before);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void a_loaded_snapshot_has_the_same_hash(void** state) {
  (void)state;
  static const char* const names[] = {"match",   "frames", "rod", "ring", "sheet",
                                      "plastic", "merge",  "fem", "mixed"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    yw_scene* scene = sample_scene(names[i], NULL, 0, NULL);
    yw_world *world = sample_world(scene, 1, 0), *other = sample_world(scene, 2, 0);
    step_frames(world, scene, 4);
    size_t size = yw_world_snapshot_size(world);
    void* buffer = malloc(size);
    yw_error error = {0};
    assert_int_equal(yw_world_save(world, buffer, size, NULL), YW_OK);
    yw_snapshot_info info = {0};
    // What an error said before is gone.
    error = (yw_error){.status = YW_ERR_FORMAT, .message = "of another call"};
    assert_int_equal(yw_snapshot_info_of(buffer, size, &info, &error), YW_OK);
    assert_int_equal(error.status, YW_OK);
    assert_string_equal(error.message, "");
    assert_true(info.time == yw_world_time(world) && info.steps == 4);
    assert_int_equal(yw_snapshot_info_of(buffer, size - 1, &info, &error), YW_ERR_FORMAT);
    if (yw_world_load(other, buffer, size, &error) < 0) fail_msg("%s", error.message);
    if (yw_world_hash(other) != yw_world_hash(world)) fail_msg("%s: loading changes", names[i]);
    step_frames(world, scene, 2);
    step_frames(other, scene, 2);
    if (yw_world_hash(other) != yw_world_hash(world))
      fail_msg("%s: goes on in another way", names[i]);
    free(buffer);
    yw_world_destroy(world);
    yw_world_destroy(other);
    yw_scene_destroy(scene);
  }
}

// Fingerprints ------------------------------------------------------------------------------------

static const char base_text[] =
    "{\"gravity\": [0, -9.81, 0], \"contact_iterations\": 4, \"bodies\": [{\"mesh\": {\"lattice\": "
    "{\"size\": 1, \"cells\": 2}}, \"match\": {\"alpha\": 0.5}, \"position\": [0, 2, 0], "
    "\"friction\": 0.4, \"restitution\": 0, \"body_contact\": true, \"self_contact\": false, "
    "\"start\": 0, \"pins\": [{\"vertices\": [0, 1], \"path\": [{\"time\": 1}, {\"time\": 2, "
    "\"offset\": [1, 0, 0]}]}, {\"vertices\": [5], \"spring\": {\"stiffness\": 10, \"damping\": "
    "1}}]}],\n\"obstacles\": [{\"shape\": {\"union\": {\"of\": [{\"box\": {\"size\": 1}}, "
    "{\"sphere\": {\"radius\": 0.6}}]}}, \"position\": [0, 0, 0], \"friction\": 0.4, "
    "\"restitution\": 0, \"sticky\": false, \"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": "
    "[0, "
    "0.1, 0]}]}]}";

static yw_world* world_with(const yw_scene_override* change) {
  yw_scene_def def = yw_default_scene_def();
  def.path = "a.json";
  def.text = base_text;
  def.size = strlen(base_text);
  def.overrides = change;
  def.num_overrides = change ? 1 : 0;
  yw_scene* scene = NULL;
  yw_error error = {0};
  if (yw_scene_read(&def, &scene, NULL, &error) < 0) fail_msg("%s", error.message);
  yw_world* world = sample_world(scene, 1, YW_SIMD_AUTO);
  yw_scene_destroy(scene);
  return world;
}

static const struct {
  yw_scene_override change;
  const char* named;  // in the message
} differences[] = {
    {{"gravity[1]", "-5"}, "gravity"},
    {{"contact_iterations", "5"}, "contact iterations"},
    {{"bodies[0].mesh.lattice.size", "1.1"}, "models of bodies"},
    {{"bodies[0].friction", "0.5"}, "of bodies"},
    {{"bodies[0].restitution", "0.5"}, "of bodies"},
    {{"bodies[0].body_contact", "false"}, "of bodies"},
    {{"bodies[0].self_contact", "true"}, "of bodies"},
    {{"bodies[0].start", "1"}, "of bodies"},
    {{"bodies[0].pins[0].vertices[1]", "2"}, "pinned vertices"},
    {{"bodies[0].pins[0].path[1].offset[0]", "2"}, "of pins"},
    {{"bodies[0].pins[0].path[1].time", "3"}, "of pins"},
    {{"bodies[0].pins[0].clamp", "true"}, "of pins"},
    {{"bodies[0].pins[1].spring.stiffness", "11"}, "of pins"},
    {{"bodies[0].pins[1].spring.damping", "2"}, "of pins"},
    {{"obstacles[0].shape.union.of[0].box.size", "1.1"}, "shapes of obstacles"},
    {{"obstacles[0].shape.union.of[1].sphere.radius", "0.7"}, "shapes of obstacles"},
    {{"obstacles[0].shape.union.smooth", "0.1"}, "shapes of obstacles"},
    {{"obstacles[0].shape.scale", "1.1"}, "shapes of obstacles"},
    {{"floor", "true"}, "shapes of obstacles"},
    {{"obstacles[0].position[2]", "0.1"}, "places or paths of obstacles"},
    {{"obstacles[0].rotation", "{\"axis\": \"x\", \"degrees\": 10}"},
     "places or paths of obstacles"},
    {{"obstacles[0].path[1].offset[1]", "0.2"}, "places or paths of obstacles"},
    {{"obstacles[0].friction", "0.5"}, "of obstacles"},
    {{"obstacles[0].restitution", "0.5"}, "of obstacles"},
    {{"obstacles[0].sticky", "true"}, "stickiness of obstacles"},
};

static void other_worlds_refuse_a_snapshot_and_say_why(void** state) {
  (void)state;
  yw_world *base = world_with(NULL), *same = world_with(NULL);
  assert_int_equal(yw_world_step(base, 0.01f, 2, NULL), YW_OK);
  size_t size = yw_world_snapshot_size(base);
  void* buffer = malloc(size);
  yw_error error = {0};
  assert_int_equal(yw_world_save(base, buffer, size, NULL), YW_OK);
  assert_int_equal(yw_world_load(same, buffer, size, &error), YW_OK);
  for (size_t i = 0; i < sizeof differences / sizeof differences[0]; ++i) {
    yw_world* other = world_with(&differences[i].change);
    uint64_t before = yw_world_hash(other);
    yw_status status = yw_world_load(other, buffer, size, &error);
    if (status != YW_ERR_FORMAT) fail_msg("%s: not noticed", differences[i].change.path);
    if (!strstr(error.message, differences[i].named)) {
      fail_msg("%s: \"%s\"", differences[i].change.path, error.message);
    }
    assert_true(yw_world_hash(other) == before);
    yw_world_destroy(other);
  }
  free(buffer);
  yw_world_destroy(base);
  yw_world_destroy(same);
}

// Only equal shapes have the same hash.
static void shapes_of_meshes_and_grids_are_told_apart(void** state) {
  (void)state;
  yw_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  int32_t triangles[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  const yw_tri_mesh mesh = {
      .num_vertices = 4, .num_triangles = 4, .positions = corners, .triangles = triangles};
  uint64_t hashes[6];
  for (int i = 0; i < 3; ++i) {
    yw_shape *solid = NULL, *grid = NULL;
    yw_error error = {0};
    corners[3].z = i == 1 ? 1.5f : 1.0f;
    assert_int_equal(yw_shape_mesh(NULL, &mesh, &solid, &error), YW_OK);
    assert_int_equal(yw_shape_sampled(NULL, solid, 0.2f, &grid, &error), YW_OK);
    hashes[i] = yw_shape_hash(solid);
    hashes[3 + i] = yw_shape_hash(grid);
    yw_shape_release(grid);
    yw_shape_release(solid);
  }
  for (int k = 0; k < 6; k += 3) {
    assert_true(hashes[k] == hashes[k + 2]);
    assert_true(hashes[k] != hashes[k + 1]);
  }
}

// Damage ------------------------------------------------------------------------------------------

static void refuse_damaged(yw_world* world, const unsigned char* bytes, size_t size, uint64_t hash,
                           const char* what, size_t at) {
  yw_error error = {0};
  if (yw_world_load(world, bytes, size, &error) >= 0) fail_msg("%s %zu was not noticed", what, at);
  assert_true(error.message[0] != '\0');
  // Looking at everything takes long.
  if (at % 97 == 0) assert_true(yw_world_hash(world) == hash);
}

// Every bit of a small snapshot, and every length.
static void any_flipped_bit_and_any_cut_is_noticed(void** state) {
  (void)state;
  // A box of match, a rigid one and a rod.
  static const int kinds[] = {0, 4, 6};
  for (int k = 0; k < 3; ++k) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, true);
    yw_model* model = method_model(kinds[k]);
    add_body(world, model, (yw_vec3){0, 0.3f, 0}, (yw_quat){0, 0, 0, 1});
    yw_model_release(model);
    for (int i = 0; i < 3; ++i) assert_true(yw_world_step(world, 1.0f / 60, 2, NULL) >= 0);
    size_t size = yw_world_snapshot_size(world);
    unsigned char* bytes = malloc(size);
    assert_int_equal(yw_world_save(world, bytes, size, NULL), YW_OK);
    uint64_t hash = yw_world_hash(world);
    for (size_t bit = 0; bit < 8 * size; ++bit) {
      bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
      refuse_damaged(world, bytes, size, hash, "bit", bit);
      bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    for (size_t cut = 0; cut < size; ++cut) refuse_damaged(world, bytes, cut, hash, "cut", cut);
    assert_true(yw_world_hash(world) == hash);
    assert_int_equal(yw_world_load(world, bytes, size, NULL), YW_OK);
    free(bytes);
    yw_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hidden_state_is_hashed),
      cmocka_unit_test(a_hand_on_a_pin_is_hashed),
      cmocka_unit_test(a_loaded_snapshot_has_the_same_hash),
      cmocka_unit_test(other_worlds_refuse_a_snapshot_and_say_why),
      cmocka_unit_test(shapes_of_meshes_and_grids_are_told_apart),
      cmocka_unit_test(any_flipped_bit_and_any_cut_is_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
