// SPDX-License-Identifier: MIT
// Every method's functions for bodies: parameters, statistics, example weights. They accept only
// bodies of their own method.
#include "support/testing.h"
#include "support/world_fixture.h"
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parameters_of_match),
      cmocka_unit_test(parameters_of_frames),
      cmocka_unit_test(parameters_of_slender),
      cmocka_unit_test(parameters_of_fem),
      cmocka_unit_test(parameters_of_plastic),
      cmocka_unit_test(statistics_tell_of_the_last_step),
      cmocka_unit_test(elastic_energy_is_that_of_a_stretched_bar),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
