// SPDX-License-Identifier: MIT
// Bodies that nothing is near cost contact one look, and no more; whoever comes near is met.
#include "support/testing.h"
#include "world/world.h"
#include "yawara/match.h"
#include "yawara/yawara.h"

#define H (1.0f / 240.0f)
#define SIDE 0.1f

static yw_world* empty_world(void) {
  yw_world_def def = yw_default_world_def();
  def.contact = YW_CONTACT_SURFACES;
  def.gravity = (yw_vec3){0, 0, 0};
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  return world;
}

static yw_body_id add_box(yw_world* world, yw_vec3 at, yw_vec3 velocity) {
  const int32_t cells[3] = {2, 2, 2};
  const float half = 0.5f * SIDE;
  yw_tet_mesh mesh = {0};
  yw_model* model = NULL;
  yw_match_def def = yw_default_match_def();
  assert_int_equal(yw_tet_mesh_lattice(NULL, (yw_aabb){{-half, -half, -half}, {half, half, half}},
                                       cells, YW_LATTICE_FIVE, &mesh),
                   YW_OK);
  def.mesh = &mesh;
  def.params.alpha = 0.8f;
  assert_int_equal(yw_model_create_match(NULL, &def, &model, NULL), YW_OK);
  yw_body_def body = yw_default_body_def();
  body.model = model;
  body.transform.position = at;
  body.velocity = velocity;
  yw_body_id id;
  assert_int_equal(yw_body_create(world, &body, &id, NULL), YW_OK);
  yw_model_release(model);
  yw_tet_mesh_free(&mesh);
  return id;
}

// 27 boxes with gaps of their size; then two more, each close to one of them.
static void only_what_has_company_is_fitted(void** state) {
  (void)state;
  yw_world* world = empty_world();
  for (int i = 0; i < 27; ++i) {
    yw_vec3 at = {2 * SIDE * (float)(i % 3), 2 * SIDE * (float)(i / 3 % 3),
                  2 * SIDE * (float)(i / 9)};
    add_box(world, at, (yw_vec3){0, 0, 0});
  }
  assert_int_equal(yw_world_step(world, H, 1, NULL), YW_OK);
  assert_int_equal(yw_surfaces_num_apart(world->surfaces), 27);
  add_box(world, (yw_vec3){0, -1.001f * SIDE, 0}, (yw_vec3){0, 0, 0});
  add_box(world, (yw_vec3){4 * SIDE, 5.001f * SIDE, 4 * SIDE}, (yw_vec3){0, 0, 0});
  assert_int_equal(yw_world_step(world, H, 1, NULL), YW_OK);
  assert_int_equal(yw_surfaces_num_apart(world->surfaces), 25);
  yw_world_destroy(world);
}

// The first hits the second, which is pushed into the third in the same substep: that one was apart
// when contacts were found.
static void one_that_is_pushed_meets_one_that_was_apart(void** state) {
  (void)state;
  yw_world* world = empty_world();
  yw_body_id third;
  add_box(world, (yw_vec3){-1.1f * SIDE, 0, 0}, (yw_vec3){30, 0, 0});
  add_box(world, (yw_vec3){0, 0.01f * SIDE, 0}, (yw_vec3){0, 0, 0});
  third = add_box(world, (yw_vec3){1.3f * SIDE, 0, 0}, (yw_vec3){0, 0, 0});
  float before = yw_body_positions(world, third, NULL)[0].x;
  for (int step = 0; step < 3; ++step) {
    assert_int_equal(yw_world_step(world, H, 1, NULL), YW_OK);
    assert_int_equal(yw_world_crossings(world, NULL, 0), 0);
    if (step == 0) assert_int_equal(yw_surfaces_num_apart(world->surfaces), 0);
  }
  assert_true(yw_body_positions(world, third, NULL)[0].x > before + 0.02f * SIDE);
  yw_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_what_has_company_is_fitted),
      cmocka_unit_test(one_that_is_pushed_meets_one_that_was_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
