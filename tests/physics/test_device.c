// SPDX-License-Identifier: MIT
// Bodies on a device give the bits of the processor. The device of these tests is the library of
// CUDA kernels compiled as loops; with a GPU and YAWARA_TEST_GPU set, it is the GPU.
#include <stdlib.h>

#include "device/device.h"
#include "support/world_fixture.h"

typedef struct device_case {
  const char* name;
  yw_grouping grouping;
  int32_t num_examples;
  float alpha, stiffness, viscosity;
  yw_match_target target;
  yw_projection projection;
  yw_vec3 place;
  bool obstacles;  // more than a floor
  bool pins;
  bool large;  // more chunks than are split among threads
} device_case;

static const device_case cases[] = {
    {"plain", .alpha = 0.6f, .viscosity = 0.0f},
    {"two examples, damped", .num_examples = 2, .alpha = 0.6f, .viscosity = 0.01f},
    {"the papers' weights", .num_examples = 2, .alpha = 0.6f, .projection = YW_PROJECTION_PAPER},
    {"the papers' targets", .num_examples = 1, .alpha = 0.6f, .target = YW_TARGET_PAPER},
    {"labels", YW_GROUPS_LABELS, .num_examples = 2, .alpha = 0.6f, .viscosity = 0.01f},
    {"regions", YW_GROUPS_PER_REGION, .num_examples = 2, .alpha = 0.6f},
    {"inner steps", .num_examples = 1, .stiffness = 30.0f, .viscosity = YW_MATCH_DEFAULT},
    {"far away", .num_examples = 1, .alpha = 0.6f, .place = {2000.0f, 0.0f, -300.0f}},
    {"obstacles", .alpha = 0.6f, .obstacles = true},
    {"pins", .num_examples = 1, .stiffness = 30.0f, .pins = true, .obstacles = true},
    {"large", .num_examples = 2, .alpha = 0.6f, .viscosity = 0.01f, .large = true},
    {"large, labels", YW_GROUPS_LABELS, .num_examples = 2, .alpha = 0.6f, .large = true},
};

static yw_model* make_model(const device_case* c) {
  yw_tet_mesh mesh;
  const int32_t cells[3] = {7, c->large ? 24 : 12, 7};
  yw_aabb box = {{0, 0, 0}, {0.7f, 1.2f, 0.7f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  static const yw_deform_kind kinds[2] = {YW_DEFORM_TWIST, YW_DEFORM_BEND};
  yw_vec3* poses[2];
  int32_t* labels = malloc((size_t)mesh.num_vertices * sizeof *labels);
  for (int32_t v = 0; v < mesh.num_vertices; ++v) labels[v] = v * 5 / mesh.num_vertices;
  for (int k = 0; k < 2; ++k) {
    poses[k] = malloc((size_t)mesh.num_vertices * sizeof(yw_vec3));
    yw_deform deform = yw_default_deform(kinds[k]);
    deform.amount = 0.8f;
    yw_deform_apply(&deform, mesh.num_vertices, mesh.positions, poses[k], NULL);
  }
  yw_match_def def = yw_default_match_def();
  def.mesh = &mesh;
  def.num_examples = c->num_examples;
  def.examples = (const yw_vec3* const*)poses;
  def.grouping = c->grouping;
  def.vertex_labels = labels;
  def.params.alpha = c->alpha;
  def.params.viscosity = c->viscosity;
  def.params.target = c->target;
  def.params.projection = c->projection;
  if (c->stiffness > 0.0f) def.params.stiffness = c->stiffness;
  yw_model* model = NULL;
  yw_error error;
  if (yw_model_create_match(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  for (int k = 0; k < 2; ++k) free(poses[k]);
  free(labels);
  yw_tet_mesh_free(&mesh);
  return model;
}

static void add_shape(yw_world* world, yw_shape* shape, yw_vec3 at, const yw_path* path) {
  yw_obstacle_def def = yw_default_obstacle_def();
  def.shape = shape;
  def.transform.position = at;
  def.transform.rotation = yw_quat_normalize((yw_quat){0.1f, 0.3f, -0.2f, 1.0f});
  def.restitution = 0.3f;
  if (path) def.path = *path;
  yw_obstacle_id id;
  yw_error error;
  assert_int_equal(yw_obstacle_create(world, &def, &id, &error), YW_OK);
  yw_shape_release(shape);
}

// A blended pair of shapes, and a turning box that hits the body from the side.
static void add_obstacles(yw_world* world, yw_vec3 at) {
  yw_shape *ball = NULL, *pill = NULL, *both = NULL, *box = NULL;
  yw_shape_sphere(NULL, 0.2f, &ball);
  yw_shape_capsule(NULL, (yw_vec3){-0.3f, 0, 0}, (yw_vec3){0.4f, 0.1f, 0}, 0.1f, &pill);
  yw_shape* const pair[2] = {ball, pill};
  assert_int_equal(yw_shape_union(NULL, 2, pair, 0.1f, &both), YW_OK);
  yw_shape_release(ball);
  yw_shape_release(pill);
  add_shape(world, both, yw_add(at, (yw_vec3){0.3f, 0.0f, 0.3f}), NULL);
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){0.2f, 0.2f, 0.2f}, &box), YW_OK);
  const yw_key keys[2] = {{0.0, {0, 0, 0}, {0, 0, 0, 1}},
                          {0.2, {0.5f, 0.1f, 0}, {0, 0.38268343f, 0, 0.92387953f}}};
  yw_path path = {.keys = keys, .num_keys = 2};
  add_shape(world, box, yw_add(at, (yw_vec3){-0.35f, 0.6f, 0.3f}), &path);
}

static void add_pins(yw_world* world, yw_body_id body) {
  const int32_t held[3] = {3, 250, 251}, pulled[4] = {600, 601, 602, 601};
  const yw_key keys[2] = {{0.0, {0, 0, 0}, {0, 0, 0, 1}}, {0.3, {0.1f, 0.2f, 0}, {0, 0, 0, 1}}};
  yw_pin_def def = yw_default_pin_def();
  yw_pin_id id;
  yw_error error;
  def.body = body;
  def.path = (yw_path){.keys = keys, .num_keys = 2};
  def.vertices = held;
  def.num_vertices = 3;
  assert_int_equal(yw_pin_create(world, &def, &id, &error), YW_OK);
  def.vertices = pulled;
  def.num_vertices = 4;
  def.stiffness = 800.0f;
  def.damping = 5.0f;
  assert_int_equal(yw_pin_create(world, &def, &id, &error), YW_OK);
}

static yw_world* make_case(const device_case* c, yw_device_kind device, yw_body_id* body) {
  yw_world_def def = yw_default_world_def();
  def.threads = 1;
  def.device = device;
  // Of points: with surfaces, bodies in touch with obstacles come back for contact.
  def.contact = YW_CONTACT_POINTS;
  yw_world* world = NULL;
  yw_error error;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  yw_world_set_sleep_speed(world, 0.0f);
  add_floor(world);
  if (c->obstacles) add_obstacles(world, c->place);
  yw_model* model = make_model(c);
  yw_body_def body_def = yw_default_body_def();
  body_def.model = model;
  body_def.transform.position = yw_add(c->place, (yw_vec3){0, 0.02f, 0});
  body_def.transform.rotation = yw_quat_normalize((yw_quat){0.05f, 0.02f, 0.06f, 1.0f});
  body_def.angular_velocity = (yw_vec3){0.5f, 2.0f, -0.3f};
  if (yw_body_create(world, &body_def, body, &error) < 0) fail_msg("%s", error.message);
  yw_model_release(model);
  if (c->pins) add_pins(world, *body);
  return world;
}

static void same_after(const device_case* c, yw_world* here, yw_world* there, const char* when) {
  uint64_t expected = yw_world_hash(here), found = yw_world_hash(there);
  if (expected != found) {
    fail_msg("%s, %s: %016llx on the device, %016llx on the processor", c->name, when,
             (unsigned long long)found, (unsigned long long)expected);
  }
}

static void steps_have_the_same_bits(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const device_case* c = &cases[i];
    yw_body_id a, b;
    yw_world* here = make_case(c, YW_DEVICE_CPU, &a);
    yw_world* there = make_case(c, YW_DEVICE_CUDA, &b);
    for (int step = 0; step < 5; ++step) {
      yw_step_report first, second;
      assert_true(yw_world_step(here, 1.0f / 30, 6, &first) >= 0);
      assert_true(yw_world_step(there, 1.0f / 30, 6, &second) >= 0);
      assert_int_equal(first.obstacle_contacts, second.obstacle_contacts);
      assert_int_equal(first.recovered_regions, second.recovered_regions);
      // Steps without a look at the state in between, too.
      if (step != 1) same_after(c, here, there, "after a step");
    }
    yw_world_destroy(here);
    yw_world_destroy(there);
  }
}

// Whatever is changed from outside between steps reaches the device, and a snapshot of one goes on
// in the other.
static void changes_reach_the_device(void** state) {
  (void)state;
  const device_case* c = &cases[1];
  yw_body_id bodies[2];
  yw_world* worlds[2] = {make_case(c, YW_DEVICE_CPU, &bodies[0]),
                         make_case(c, YW_DEVICE_CUDA, &bodies[1])};
  const int32_t corner[1] = {0};
  const float weights[2] = {0.7f, 0.1f};
  for (int change = 0; change < 6; ++change) {
    for (int w = 0; w < 2; ++w) {
      yw_match_params params;
      yw_pin_def pin = yw_default_pin_def();
      yw_pin_id id;
      yw_error error;
      assert_true(yw_world_step(worlds[w], 1.0f / 60, 3, NULL) >= 0);
      yw_body_match_params(worlds[w], bodies[w], &params);
      params.damping = 5.0f;
      pin.body = bodies[w];
      pin.vertices = corner;
      pin.num_vertices = 1;
      if (change == 0) yw_body_set_match_params(worlds[w], bodies[w], &params);
      if (change == 1) yw_body_match_set_weights(worlds[w], bodies[w], -1, weights, 0.8f);
      if (change == 2) assert_int_equal(yw_pin_create(worlds[w], &pin, &id, &error), YW_OK);
      if (change == 3) {
        yw_body_teleport(worlds[w], bodies[w], (yw_vec3){0}, (yw_quat){0, 0, 0, 1},
                         (yw_vec3){0, 0.2f, 0});
      }
      if (change == 4) yw_world_set_gravity(worlds[w], (yw_vec3){1.0f, -5.0f, 0.0f});
    }
    same_after(c, worlds[0], worlds[1], "after a change");
  }
  size_t size = yw_world_snapshot_size(worlds[0]);
  void* bytes = malloc(size);
  assert_int_equal(yw_world_save(worlds[0], bytes, size, NULL), YW_OK);
  for (int w = 0; w < 2; ++w) assert_true(yw_world_step(worlds[w], 1.0f / 60, 2, NULL) >= 0);
  assert_int_equal(yw_world_load(worlds[1], bytes, size, NULL), YW_OK);
  assert_true(yw_world_step(worlds[1], 1.0f / 60, 2, NULL) >= 0);
  same_after(c, worlds[0], worlds[1], "after a snapshot");
  free(bytes);
  yw_world_destroy(worlds[0]);
  yw_world_destroy(worlds[1]);
}

// Two bodies that touch come back after every substep; what a device does not know stays here.
static void the_rest_works_beside_it(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    yw_body_id bodies[2];
    yw_world* worlds[2];
    for (int w = 0; w < 2; ++w) {
      yw_error error;
      worlds[w] = make_case(&cases[1], w == 0 ? YW_DEVICE_CPU : YW_DEVICE_CUDA, &bodies[w]);
      yw_model* model = make_model(&cases[0]);
      yw_body_def def = yw_default_body_def();
      def.model = model;
      def.transform.position = (yw_vec3){0.2f, 1.3f, 0.1f};
      yw_body_id id;
      if (kind == 0) assert_int_equal(yw_body_create(worlds[w], &def, &id, &error), YW_OK);
      yw_model_release(model);
      yw_shape *ball = NULL, *grid = NULL;
      yw_shape_sphere(NULL, 0.3f, &ball);
      assert_int_equal(yw_shape_sampled(NULL, ball, 0.05f, &grid, &error), YW_OK);
      yw_shape_release(ball);
      if (kind == 1) {
        add_shape(worlds[w], grid, (yw_vec3){0.3f, -0.1f, 0.3f}, NULL);
      } else {
        yw_shape_release(grid);
      }
      for (int step = 0; step < 3; ++step) {
        assert_true(yw_world_step(worlds[w], 1.0f / 30, 4, NULL) >= 0);
      }
    }
    same_after(&cases[1], worlds[0], worlds[1], kind == 0 ? "two bodies" : "a sampled shape");
    yw_world_destroy(worlds[0]);
    yw_world_destroy(worlds[1]);
  }
}

#ifdef YW_LOOPS_LIBRARY
static void too_little_memory_is_said_before_the_run(void** state) {
  (void)state;
  if (getenv("YAWARA_TEST_GPU")) skip();
  setenv("YAWARA_LOOPS_MEMORY", "100000", 1);
  yw_world_def def = yw_default_world_def();
  def.device = YW_DEVICE_CUDA;
  yw_world* world = NULL;
  yw_error error = {0};
  yw_body_id body;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  yw_body_def body_def = yw_default_body_def();
  body_def.model = make_model(&cases[0]);
  assert_int_equal(yw_body_create(world, &body_def, &body, &error), YW_ERR_DEVICE);
  assert_non_null(strstr(error.message, "needs 0.00 GB"));
  yw_model_release(body_def.model);
  yw_world_destroy(world);
  unsetenv("YAWARA_LOOPS_MEMORY");
}

static void a_lost_device_ends_the_step(void** state) {
  (void)state;
  if (getenv("YAWARA_TEST_GPU")) skip();
  setenv("YAWARA_LOOPS_LOST", "20", 1);
  yw_body_id body;
  yw_world* world = make_case(&cases[0], YW_DEVICE_CUDA, &body);
  unsetenv("YAWARA_LOOPS_LOST");
  yw_status status = YW_OK;
  int good = 0;
  for (; status >= 0 && good < 10; ++good) status = yw_world_step(world, 1.0f / 60, 2, NULL);
  assert_int_equal(status, YW_ERR_DEVICE);
  assert_in_range(good, 2, 9);
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
      cmocka_unit_test(the_rest_works_beside_it),
#ifdef YW_LOOPS_LIBRARY
      cmocka_unit_test(too_little_memory_is_said_before_the_run),
      cmocka_unit_test(a_lost_device_ends_the_step),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
