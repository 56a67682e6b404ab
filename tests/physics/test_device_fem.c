// SPDX-License-Identifier: MIT
// Fem bodies on a device give the bits of the processor. The device of these tests is the library
// of CUDA kernels compiled as loops; with a GPU and YAWARA_TEST_GPU set, it is the GPU.
#include <stdlib.h>

#include "device/device.h"
#include "support/fem_bar.h"

typedef struct device_case {
  const char* name;
  yw_fem_refine refine;
  yw_fem_soften soften;
  int32_t max_level;
  float stiffness, damping, yield;
  float speed;  // m/s, towards the floor
  bool varies, pins, stays_coarse;
} device_case;

static const device_case cases[] = {
    {"default", .soften = YW_FEM_SOFTEN_MATERIAL, .max_level = 2, .stiffness = 1e4f},
    {"finest", YW_FEM_REFINE_FINEST, .max_level = 1, .stiffness = 1e4f, .damping = 1e-3f},
    {"hanging", YW_FEM_REFINE_JUMP, .max_level = 3, .stiffness = 2e4f, .stays_coarse = true},
    {"squeezed", YW_FEM_REFINE_FINEST, .max_level = 1, .stiffness = 3e3f, .speed = 8.0f},
    {"plastic", .soften = YW_FEM_SOFTEN_FINEST, .max_level = 2, .stiffness = 1e4f, .yield = 0.02f},
    {"material that varies", .soften = YW_FEM_SOFTEN_MATERIAL, .max_level = 1, .stiffness = 1e4f,
     .varies = true},
    {"pins", YW_FEM_REFINE_JUMP, .max_level = 2, .stiffness = 1e4f, .pins = true},
};

static void vary(void* context, yw_vec3 point, int32_t label, yw_fem_material* material) {
  (void)context, (void)label;
  material->youngs_modulus *= point.x > 0.0f ? 3.0f : 1.0f;
  material->damping_time = point.y > 0.0f ? 1e-3f : 0.0f;
}

static void add_pins(yw_world* world, yw_body_id body) {
  const int32_t held[3] = {3, 5, 3}, pulled[3] = {1, 2, 1};
  const yw_key keys[2] = {{0.0, {0, 0, 0}, {0, 0, 0, 1}}, {0.3, {0.02f, 0.05f, 0}, {0, 0, 0, 1}}};
  yw_pin_def def = yw_default_pin_def();
  yw_pin_id id;
  yw_error error;
  def.body = body;
  def.path = (yw_path){.keys = keys, .num_keys = 2};
  def.vertices = held;
  def.num_vertices = 2;
  assert_int_equal(yw_pin_create(world, &def, &id, &error), YW_OK);
  def.vertices = pulled;
  def.num_vertices = 3;
  def.stiffness = 80.0f;
  def.damping = 0.5f;
  assert_int_equal(yw_pin_create(world, &def, &id, &error), YW_OK);
}

static yw_model* make_model(const device_case* c) {
  const int32_t cells[3] = {2, 2, 1};
  const yw_aabb box = {{-0.1f, -0.1f, -0.05f}, {0.1f, 0.1f, 0.05f}};
  yw_fem_def def = yw_default_fem_def();
  def.max_level = c->max_level;
  def.youngs_modulus = c->stiffness;
  def.params.refine = c->refine;
  def.params.soften = c->soften;
  def.params.stiffness_damping = c->damping;
  def.params.yield = c->yield;
  if (c->stays_coarse) def.params.tau = 0.2f;
  if (c->varies) def.material_at = vary;
  return make_fem_model(&def, cells, box);
}

static yw_world* make_case(const device_case* c, yw_device_kind device, yw_body_id* body) {
  yw_world_def def = yw_default_world_def();
  def.threads = 1;
  def.device = device;
  yw_world* world = NULL;
  yw_error error;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  add_floor(world);
  yw_body_def body_def = yw_default_body_def();
  body_def.model = make_model(c);
  body_def.transform.position = (yw_vec3){0.02f, 0.13f, 0.01f};
  body_def.transform.rotation = yw_quat_normalize((yw_quat){0.05f, 0.02f, 0.2f, 1.0f});
  body_def.velocity = (yw_vec3){0.3f, -c->speed, 0.0f};
  if (yw_body_create(world, &body_def, body, &error) < 0) fail_msg("%s", error.message);
  yw_model_release(body_def.model);
  if (c->pins) add_pins(world, *body);
  return world;
}

static void steps_have_the_same_bits(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const device_case* c = &cases[i];
    yw_body_id a, b;
    yw_world* here = make_case(c, YW_DEVICE_CPU, &a);
    yw_world* there = make_case(c, YW_DEVICE_CUDA, &b);
    int32_t recovered = 0, hanging = 0;
    for (int step = 0; step < 8; ++step) {
      yw_step_report first, second;
      yw_fem_statistics statistics;
      assert_true(yw_world_step(here, 1.0f / 60, 2, &first) >= 0);
      assert_true(yw_world_step(there, 1.0f / 60, 2, &second) >= 0);
      recovered += first.recovered_regions;
      assert_int_equal(yw_body_fem_statistics(here, a, &statistics), YW_OK);
      hanging += statistics.num_hanging;
      uint64_t expected = yw_world_hash(here), found = yw_world_hash(there);
      if (expected != found) fail_msg("%s: other bits after step %d", c->name, step);
      assert_int_equal(first.obstacle_contacts, second.obstacle_contacts);
      assert_int_equal(first.recovered_regions, second.recovered_regions);
    }
    // The cases are about something.
    if (c->speed > 0.0f) assert_true(recovered > 0);
    if (c->stays_coarse) assert_true(hanging > 0);
    yw_world_destroy(here);
    yw_world_destroy(there);
  }
}

// A snapshot of one side goes on at the other; parameters and pins reach the device.
static void changes_reach_the_device(void** state) {
  (void)state;
  yw_body_id bodies[2];
  yw_world* worlds[2] = {make_case(&cases[0], YW_DEVICE_CPU, &bodies[0]),
                         make_case(&cases[0], YW_DEVICE_CUDA, &bodies[1])};
  for (int change = 0; change < 4; ++change) {
    for (int w = 0; w < 2; ++w) {
      yw_fem_params params;
      assert_true(yw_world_step(worlds[w], 1.0f / 60, 2, NULL) >= 0);
      assert_int_equal(yw_body_fem_params(worlds[w], bodies[w], &params), YW_OK);
      params.stiffness_scale = 2.0f;
      params.stiffness_damping = 1e-3f;
      if (change == 0) yw_body_set_fem_params(worlds[w], bodies[w], &params);
      if (change == 1) add_pins(worlds[w], bodies[w]);
      if (change == 2) yw_world_set_gravity(worlds[w], (yw_vec3){1.0f, -5.0f, 0.0f});
    }
    assert_true(yw_world_hash(worlds[0]) == yw_world_hash(worlds[1]));
  }
  size_t size = yw_world_snapshot_size(worlds[0]);
  void* bytes = malloc(size);
  assert_int_equal(yw_world_save(worlds[0], bytes, size, NULL), YW_OK);
  for (int w = 0; w < 2; ++w) assert_true(yw_world_step(worlds[w], 1.0f / 60, 2, NULL) >= 0);
  assert_int_equal(yw_world_load(worlds[1], bytes, size, NULL), YW_OK);
  assert_true(yw_world_step(worlds[1], 1.0f / 60, 2, NULL) >= 0);
  assert_true(yw_world_hash(worlds[0]) == yw_world_hash(worlds[1]));
  free(bytes);
  yw_world_destroy(worlds[0]);
  yw_world_destroy(worlds[1]);
}

#ifdef YW_LOOPS_LIBRARY
static void a_lost_device_ends_the_step(void** state) {
  (void)state;
  if (getenv("YAWARA_TEST_GPU")) skip();
  setenv("YAWARA_LOOPS_LOST", "300", 1);
  yw_body_id body;
  yw_world* world = make_case(&cases[1], YW_DEVICE_CUDA, &body);
  unsetenv("YAWARA_LOOPS_LOST");
  yw_status status = YW_OK;
  for (int i = 0; status >= 0 && i < 100; ++i) status = yw_world_step(world, 1.0f / 60, 2, NULL);
  assert_int_equal(status, YW_ERR_DEVICE);
  assert_int_equal(yw_world_step(world, 1.0f / 60, 2, NULL), YW_ERR_DEVICE);
  assert_false(yw_body_is_diverged(world, body));
  yw_world_destroy(world);
  yw_error error;
  assert_int_equal(yw_device_check(YW_DEVICE_CUDA, &error), YW_OK);
}
#endif

int main(void) {
#ifdef YW_LOOPS_LIBRARY
  if (!getenv("YAWARA_TEST_GPU")) setenv("YAWARA_CUDA_LIBRARY", YW_LOOPS_LIBRARY, 1);
#endif
  yw_error error;
  if (yw_device_check(YW_DEVICE_CUDA, &error) < 0) {
    printf("skipped: %s\n", error.message);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_have_the_same_bits),
      cmocka_unit_test(changes_reach_the_device),
#ifdef YW_LOOPS_LIBRARY
      cmocka_unit_test(a_lost_device_ends_the_step),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
