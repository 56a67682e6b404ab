// SPDX-License-Identifier: MIT
// Every method's functions for bodies: parameters, statistics, example weights. They accept only
// bodies of their own method.
#include "support/testing.h"
#include "support/world_fixture.h"
#include "yawara/extend/text.h"
#include "yawara/extend/vec.h"
#include "yawara/yawara.h"

#define NUM_METHODS 5

static const char* const names[NUM_METHODS] = {"match", "frames", "slender", "fem", "plastic"};

typedef struct zoo {
  yw_world* world;
  yw_body_id bodies[NUM_METHODS];
} zoo;

static yw_model* make_model(int method) {
  yw_tet_mesh mesh = {0};
  const int32_t cells[3] = {2, 2, 2};
  yw_aabb box = {{-0.1f, -0.1f, -0.1f}, {0.1f, 0.1f, 0.1f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  yw_vec3 points[4] = {{0, 0, 0}, {0.1f, 0, 0}, {0.2f, 0, 0}, {0.3f, 0, 0}};
  yw_model* model = NULL;
  yw_error error = {0};
  yw_match_def match = yw_default_match_def();
  match.mesh = &mesh;
  yw_frames_def frames = yw_default_frames_def();
  frames.mesh = &mesh;
  yw_rod_def rod = yw_default_rod_def();
  rod.points = points;
  rod.num_points = 4;
  yw_fem_def fem = yw_default_fem_def();
  fem.mesh = &mesh;
  fem.max_level = 1;
  yw_plastic_part part = yw_default_plastic_part();
  part.points = points;
  part.num_points = 4;
  yw_plastic_def plastic = yw_default_plastic_def();
  plastic.spacing = 0.1f;
  plastic.parts = &part;
  plastic.num_parts = 1;
  yw_status status = method == 0   ? yw_model_create_match(NULL, &match, &model, &error)
                     : method == 1 ? yw_model_create_frames(NULL, &frames, &model, &error)
                     : method == 2 ? yw_model_create_rod(NULL, &rod, &model, &error)
                     : method == 3 ? yw_model_create_fem(NULL, &fem, &model, &error)
                                   : yw_model_create_plastic(NULL, &plastic, &model, &error);
  if (status < 0) fail_msg("%s: %s", names[method], error.message);
  yw_tet_mesh_free(&mesh);
  return model;
}

static zoo make_zoo(void) {
  zoo z = {.world = make_world(1, YW_SIMD_AUTO, false)};
  for (int m = 0; m < NUM_METHODS; ++m) {
    yw_model* model = make_model(m);
    assert_string_equal(yw_model_method(model), names[m]);
    yw_body_def def = yw_default_body_def();
    def.model = model;
    def.transform.position = (yw_vec3){(float)m, 2, 0};
    yw_error error = {0};
    if (yw_body_create(z.world, &def, &z.bodies[m], &error) < 0) fail_msg("%s", error.message);
    yw_model_release(model);
  }
  return z;
}

// Reads, changes, and reads back one parameter of every body; calls of other methods are rejected.
#define CHECK_PARAMS(method, number, field, wanted, refused)                                       \
  static void parameters_of_##method(void** state) {                                               \
    (void)state;                                                                                   \
    zoo z = make_zoo();                                                                            \
    for (int m = 0; m < NUM_METHODS; ++m) {                                                        \
      yw_##method##_params params = {0}, back = {0};                                               \
      yw_status expected = m == (number) ? YW_OK : YW_ERR_INVALID;                                 \
      assert_int_equal(yw_body_##method##_params(z.world, z.bodies[m], &params), expected);        \
      params.field = (wanted);                                                                     \
      assert_int_equal(yw_body_set_##method##_params(z.world, z.bodies[m], &params), expected);    \
      if (m != (number)) continue;                                                                 \
      assert_int_equal(yw_body_##method##_params(z.world, z.bodies[m], &back), YW_OK);             \
      assert_near(back.field, (wanted), 1e-6);                                                     \
      params.field = (refused);                                                                    \
      assert_int_equal(yw_body_set_##method##_params(z.world, z.bodies[m], &params),               \
                       YW_ERR_INVALID);                                                            \
      assert_int_equal(yw_body_##method##_params(z.world, z.bodies[m], &back), YW_OK);             \
      assert_near(back.field, (wanted), 1e-6);                                                     \
      assert_int_equal(yw_body_##method##_params(z.world, (yw_body_id){0}, &back),                 \
                       YW_ERR_INVALID);                                                            \
      assert_int_equal(yw_body_set_##method##_params(z.world, z.bodies[m], NULL), YW_ERR_INVALID); \
    }                                                                                              \
    yw_world_destroy(z.world);                                                                     \
  }
CHECK_PARAMS(match, 0, beta, 0.25f, 1.5f)
CHECK_PARAMS(frames, 1, damping, 3.0f, -1.0f)
CHECK_PARAMS(slender, 2, damping, 3.0f, -1.0f)
CHECK_PARAMS(fem, 3, mass_damping, 3.0f, -1.0f)
CHECK_PARAMS(plastic, 4, tolerance, 0.01f, 1.0f)

static void statistics_tell_of_the_last_step(void** state) {
  (void)state;
  zoo z = make_zoo();
  for (int i = 0; i < 3; ++i) assert_true(yw_world_step(z.world, 1.0f / 60, 2, NULL) >= 0);
  yw_match_statistics match;
  assert_int_equal(yw_body_match_statistics(z.world, z.bodies[0], &match), YW_OK);
  assert_int_equal(match.num_regions, 27);
  assert_int_equal(match.num_groups, 1);
  assert_int_equal(match.num_examples, 0);
  yw_frames_statistics frames;
  assert_int_equal(yw_body_frames_statistics(z.world, z.bodies[1], &frames), YW_OK);
  assert_int_equal(frames.num_regions, 27);
  assert_at_least(frames.newton_steps, 1);
  yw_slender_statistics slender;
  assert_int_equal(yw_body_slender_statistics(z.world, z.bodies[2], &slender), YW_OK);
  assert_int_equal(slender.num_elements, 3);
  yw_fem_statistics fem;
  assert_int_equal(yw_body_fem_statistics(z.world, z.bodies[3], &fem), YW_OK);
  assert_int_equal(fem.num_tets, 40);
  assert_true(fem.inner_steps > 0);
  yw_plastic_statistics plastic;
  assert_int_equal(yw_body_plastic_statistics(z.world, z.bodies[4], &plastic), YW_OK);
  assert_int_equal(plastic.num_masters, 4);
  assert_true(plastic.num_slaves > 0 && plastic.inner_steps > 0 && plastic.time_step > 0.0f);
  yw_vec3 slaves[2] = {0};
  assert_int_equal(yw_body_plastic_slaves(z.world, z.bodies[4], slaves, 1), plastic.num_slaves);
  assert_true(yw_dot(slaves[0], slaves[0]) > 0.0f && yw_dot(slaves[1], slaves[1]) == 0.0f);
  // Of another method.
  for (int m = 0; m < NUM_METHODS; ++m) {
    yw_status expected[NUM_METHODS];
    for (int k = 0; k < NUM_METHODS; ++k) expected[k] = k == m ? YW_OK : YW_ERR_INVALID;
    yw_body_id id = z.bodies[m];
    assert_int_equal(yw_body_match_statistics(z.world, id, &match), expected[0]);
    assert_int_equal(yw_body_frames_statistics(z.world, id, &frames), expected[1]);
    assert_int_equal(yw_body_slender_statistics(z.world, id, &slender), expected[2]);
    assert_int_equal(yw_body_fem_statistics(z.world, id, &fem), expected[3]);
    assert_int_equal(yw_body_plastic_statistics(z.world, id, &plastic), expected[4]);
    assert_int_equal(yw_body_plastic_slaves(z.world, id, NULL, 0), m == 4 ? plastic.num_slaves : 0);
    assert_int_equal(yw_body_match_weights(z.world, id, NULL, 0), m == 0 ? 1 : 0);
    assert_int_equal(yw_body_frames_weights(z.world, id, NULL, 0), m == 1 ? 1 : 0);
  }
  yw_world_destroy(z.world);
}

// Stretched by 1 % along x: (lambda + 2 mu)/2 strain^2 V of the volume, EA/2 strain^2 l of the rod.
static void elastic_energy_is_that_of_a_stretched_bar(void** state) {
  (void)state;
  zoo z = make_zoo();
  for (int m = 1; m <= 2; ++m) {
    int32_t count;
    yw_vec3 moved[27];
    const yw_vec3* x = yw_body_positions(z.world, z.bodies[m], &count);
    for (int32_t i = 0; i < count; ++i) {
      moved[i] = x[i];
      moved[i].x = x[0].x + 1.01f * (x[i].x - x[0].x);
    }
    assert_int_equal(yw_body_set_state(z.world, z.bodies[m], moved, NULL), YW_OK);
  }
  yw_body_energy frames, slender;
  assert_int_equal(yw_body_energy_of(z.world, z.bodies[1], &frames), YW_OK);
  assert_int_equal(yw_body_energy_of(z.world, z.bodies[2], &slender), YW_OK);
  double stiff = 1e5 * 0.7 / (1.3 * 0.4);
  assert_near(frames.elastic / (0.5 * stiff * 1e-4 * 8e-3), 1.0, 1e-3);
  assert_near(slender.elastic / (0.5 * 1e6 * M_PI * 1e-4 * 1e-4 * 0.3), 1.0, 1e-3);
  yw_world_destroy(z.world);
}

// Missing arguments
// ---------------------------------------------------------------------------------

#define REFUSED(call) assert_int_equal(call, YW_ERR_INVALID)

static void makers_refuse_missing_arguments(void** state) {
  (void)state;
  zoo z = make_zoo();
  yw_world* w = z.world;
  yw_body_def body = yw_default_body_def();
  yw_obstacle_def obstacle = yw_default_obstacle_def();
  yw_mesh_obstacle_def mesh = yw_default_mesh_obstacle_def();
  yw_pin_def pin = yw_default_pin_def();
  yw_joint_def joint = yw_default_joint_def();
  yw_track_def track = yw_default_track_def();
  yw_follow_def follow = yw_default_follow_def();
  yw_body_id b;
  yw_obstacle_id o;
  yw_pin_id p;
  yw_joint_id j;
  yw_track_id t;
  yw_error e;
  REFUSED(yw_world_create(NULL, &w));
  REFUSED(yw_body_create(NULL, &body, &b, &e));
  REFUSED(yw_body_create(w, NULL, &b, &e));
  REFUSED(yw_body_create(w, &body, NULL, &e));
  REFUSED(yw_obstacle_create(NULL, &obstacle, &o, &e));
  REFUSED(yw_obstacle_create(w, NULL, &o, &e));
  REFUSED(yw_obstacle_create(w, &obstacle, NULL, &e));
  REFUSED(yw_mesh_obstacle_create(NULL, &mesh, &o, &e));
  REFUSED(yw_mesh_obstacle_create(w, NULL, &o, &e));
  REFUSED(yw_mesh_obstacle_create(w, &mesh, NULL, &e));
  REFUSED(yw_pin_create(NULL, &pin, &p, &e));
  REFUSED(yw_pin_create(w, NULL, &p, &e));
  REFUSED(yw_pin_create(w, &pin, NULL, &e));
  REFUSED(yw_joint_create(NULL, &joint, &j, &e));
  REFUSED(yw_joint_create(w, NULL, &j, &e));
  REFUSED(yw_joint_create(w, &joint, NULL, &e));
  REFUSED(yw_track_create(NULL, &track, &t, &e));
  REFUSED(yw_track_create(w, NULL, &t, &e));
  REFUSED(yw_track_create(w, &track, NULL, &e));
  REFUSED(yw_follow_create(NULL, &follow, &p, &e));
  REFUSED(yw_follow_create(w, NULL, &p, &e));
  REFUSED(yw_follow_create(w, &follow, NULL, &e));
  yw_world_destroy(z.world);
}

static void readers_of_worlds_refuse_missing_arguments(void** state) {
  (void)state;
  zoo z = make_zoo();
  yw_world* w = z.world;
  yw_body_id b = z.bodies[0], nobody = {0};
  yw_obstacle_id floor = add_floor(w), nothing = {0};
  yw_body_sums sums;
  yw_body_energy energy;
  yw_transform pose;
  yw_vec3 x = {0};
  float values[27];
  REFUSED(yw_world_step(NULL, 0.01f, 1, NULL));
  REFUSED(yw_world_record(NULL, 0.01f, 1, 1, NULL, 0, NULL, NULL));
  REFUSED(yw_world_record(w, 0.01f, 1, -1, NULL, 0, NULL, NULL));
  REFUSED(yw_world_record(w, 0.01f, 1, 1, NULL, 1, NULL, NULL));
  REFUSED(yw_world_save(NULL, values, sizeof values, NULL));
  REFUSED(yw_world_save(w, NULL, 100, NULL));
  REFUSED(yw_world_load(w, NULL, 100, NULL));
  REFUSED(yw_world_load(NULL, values, sizeof values, NULL));
  REFUSED(yw_world_restore(w, NULL, 100, NULL));
  REFUSED(yw_world_restore(NULL, values, sizeof values, NULL));
  REFUSED(yw_body_sums_of(w, nobody, &sums));
  REFUSED(yw_body_sums_of(w, b, NULL));
  REFUSED(yw_body_energy_of(w, nobody, &energy));
  REFUSED(yw_body_energy_of(w, b, NULL));
  REFUSED(yw_body_set_state(w, nobody, &x, NULL));
  REFUSED(yw_body_set_state(w, b, NULL, NULL));
  REFUSED(yw_body_set_surface(w, b, -0.1f, 0.5f));
  REFUSED(yw_body_set_surface(w, b, INFINITY, 0.5f));
  REFUSED(yw_body_set_surface(w, b, 0.5f, -0.1f));
  REFUSED(yw_body_set_surface(w, b, 0.5f, 1.1f));
  REFUSED(yw_body_set_surface(w, b, 0.5f, NAN));
  REFUSED(yw_body_field_values(w, b, 0, NULL, 27));
  REFUSED(yw_body_field_values(w, nobody, 0, values, 27));
  REFUSED(yw_obstacle_pose(w, nothing, 0.0, &pose));
  REFUSED(yw_obstacle_pose(w, floor, 0.0, NULL));
  REFUSED(yw_obstacle_pose(w, floor, NAN, &pose));
  REFUSED(yw_world_explode(w, NULL));
  REFUSED(yw_world_explode(NULL, NULL));
  REFUSED(yw_track_value(w, (yw_track_id){0}, &x));
  yw_world_destroy(z.world);
}

static void files_refuse_missing_arguments(void** state) {
  (void)state;
  yw_tri_mesh triangles = {0};
  yw_tet_mesh tets = {0};
  yw_grid grid = {0};
  yw_vec3* points = NULL;
  int32_t count;
  yw_error e;
  REFUSED(yw_tri_mesh_read(NULL, NULL, &triangles, &e));
  REFUSED(yw_tri_mesh_read("a.obj", NULL, NULL, &e));
  REFUSED(yw_tet_mesh_read(NULL, NULL, &tets, &e));
  REFUSED(yw_tet_mesh_read("a.msh", NULL, NULL, &e));
  REFUSED(yw_positions_read(NULL, NULL, &points, &count, &e));
  REFUSED(yw_positions_read("a.obj", NULL, NULL, &count, &e));
  REFUSED(yw_positions_read("a.obj", NULL, &points, NULL, &e));
  REFUSED(yw_tri_mesh_write(NULL, &triangles, &e));
  REFUSED(yw_tri_mesh_write("a.obj", NULL, &e));
  REFUSED(yw_tet_mesh_write(NULL, &tets, &e));
  REFUSED(yw_tet_mesh_write("a.msh", NULL, &e));
  REFUSED(yw_grid_read(NULL, NULL, NULL, &grid, &e));
  REFUSED(yw_grid_read("a.vti", NULL, NULL, NULL, &e));
}

// Neighbours that were swapped are one mistake, as one letter too many is; the nearest word wins.
static void suggestions_know_swapped_letters(void** state) {
  (void)state;
  static const char* const words[] = {"damping", "density"};
  assert_string_equal(yw_suggest("dmaping", 2, words).text, " (did you mean \"damping\"?)");
  assert_string_equal(yw_suggest("desnity", 2, words).text, " (did you mean \"density\"?)");
  // Seven letters allow three mistakes: two pairs swapped and one letter too many.
  static const char* const one[] = {"abcdef"};
  assert_string_equal(yw_suggest("badcefx", 1, one).text, " (did you mean \"abcdef\"?)");
  assert_string_equal(yw_suggest("badcfex", 1, one).text, "");
  // A letter that is elsewhere is no pair swapped.
  static const char* const other[] = {"XaYcZe"};
  assert_string_equal(yw_suggest("abcdef", 1, other).text, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parameters_of_match),
      cmocka_unit_test(parameters_of_frames),
      cmocka_unit_test(parameters_of_slender),
      cmocka_unit_test(parameters_of_fem),
      cmocka_unit_test(parameters_of_plastic),
      cmocka_unit_test(statistics_tell_of_the_last_step),
      cmocka_unit_test(elastic_energy_is_that_of_a_stretched_bar),
      cmocka_unit_test(makers_refuse_missing_arguments),
      cmocka_unit_test(readers_of_worlds_refuse_missing_arguments),
      cmocka_unit_test(files_refuse_missing_arguments),
      cmocka_unit_test(suggestions_know_swapped_letters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
