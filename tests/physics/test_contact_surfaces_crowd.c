// SPDX-License-Identifier: MIT
// Many bodies whose surfaces touch: the same bits for any number of threads and any instruction
// set, and no allocation once the buffers have grown.
#include "support/counted_memory.h"
#include "support/testing.h"
#include "yawara/match.h"
#include "yawara/yawara.h"

#define H (1.0f / 240.0f)

static void add_plane(yw_world* world, yw_vec3 normal, float offset) {
  yw_obstacle_def def = yw_default_obstacle_def();
  yw_obstacle_id id;
  assert_int_equal(yw_shape_plane(NULL, normal, offset, &def.shape), YW_OK);
  assert_int_equal(yw_obstacle_create(world, &def, &id, NULL), YW_OK);
  yw_shape_release(def.shape);
}

static yw_model* box_model(void) {
  const int32_t cells[3] = {2, 2, 2};
  yw_tet_mesh mesh = {0};
  yw_aabb box = {{-0.05f, -0.05f, -0.05f}, {0.05f, 0.05f, 0.05f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  yw_match_def def = yw_default_match_def();
  def.mesh = &mesh;
  def.params.alpha = 0.8f;
  yw_model* model = NULL;
  assert_int_equal(yw_model_create_match(NULL, &def, &model, NULL), YW_OK);
  yw_tet_mesh_free(&mesh);
  return model;
}

// 27 boxes in three layers, each a little beside the one below.
static yw_world* crowd(yw_world_def def) {
  yw_world* world = NULL;
  def.contact = YW_CONTACT_SURFACES;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  add_plane(world, (yw_vec3){0, 1, 0}, 0);
  yw_model* model = box_model();
  yw_body_def body = yw_default_body_def();
  body.model = model;
  for (int i = 0; i < 27; ++i) {
    float aside = 0.013f * (float)(i / 9);
    body.transform.position =
        (yw_vec3){0.102f * (float)(i % 3) + aside, 0.051f + 0.102f * (float)(i / 9),
                  0.102f * (float)(i / 3 % 3) - aside};
    yw_body_id id;
    assert_int_equal(yw_body_create(world, &body, &id, NULL), YW_OK);
  }
  yw_model_release(model);
  return world;
}

static void threads_and_instruction_sets_do_not_matter(void** state) {
  (void)state;
  const int32_t threads[] = {1, 3, 1, 2};
  const yw_simd simd[] = {YW_SIMD_PLAIN, YW_SIMD_PLAIN, YW_SIMD_AUTO, YW_SIMD_AVX2};
  uint64_t first = 0;
  for (int k = 0; k < 4; ++k) {
    yw_world_def def = yw_default_world_def();
    def.threads = threads[k];
    def.simd = simd[k];
    yw_world* world = crowd(def);
    yw_step_report report = {0};
    for (int step = 0; step < 60; ++step) yw_world_step(world, H, 1, &report);
    assert_at_least(report.body_contacts, 100);
    if (k == 0) first = yw_world_hash(world);
    assert_true(yw_world_hash(world) == first);
    yw_world_destroy(world);
  }
}

static void a_step_allocates_nothing(void** state) {
  (void)state;
  counted_memory memory = {.left = ENOUGH};
  yw_world_def def = yw_default_world_def();
  def.threads = 2;
  def.mem = counted_allocator(&memory);
  yw_world* world = crowd(def);
  assert_int_equal(yw_world_set_sleep_speed(world, 0.0f), YW_OK);
  // The last of them settles after 1.2 s, and the number of contacts with it.
  for (int step = 0; step < 350; ++step) yw_world_step(world, H, 1, NULL);
  int before = memory.calls;
  yw_step_report report = {0};
  for (int step = 0; step < 100; ++step) yw_world_step(world, H, 1, &report);
  assert_at_least(report.body_contacts, 100);
  assert_int_equal(memory.calls, before);
  yw_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_and_instruction_sets_do_not_matter),
      cmocka_unit_test(a_step_allocates_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
