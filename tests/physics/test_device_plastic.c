// SPDX-License-Identifier: MIT
// Plastic bodies on a device give the bits of the processor. The device of these tests is the
// library of CUDA kernels compiled as loops; with a GPU and YAWARA_TEST_GPU set, it is the GPU.
#include <stdlib.h>

#include "device/device.h"
#include "methods/plastic/body.h"
#include "methods/plastic/plastic.h"
#include "support/world_fixture.h"
#include "yawara/plastic.h"

typedef struct device_case {
  const char* name;
  yw_plastic_flow flow;
  float stiffness, yield, hardening;
  float speed;       // m/s, towards the obstacles
  float blend;       // scheme.velocity_blend; 0: default
  bool splits;       // falls on a thin rod
  bool later;        // a second part starts later
  bool two;          // two bodies that touch
  bool pins, moves;  // a pin; an obstacle that moves
  bool fine;         // many chunks, so that slaves have parts of several
} device_case;

static const device_case cases[] = {
    {"snow", YW_FLOW_BOX, 1.4e5f, .hardening = 10.0f, .speed = 3.0f},
    {"clay", YW_FLOW_VON_MISES, 1e5f, .yield = 1e3f, .speed = 3.0f},
    {"parts and splits", YW_FLOW_BOX, 1e5f, .speed = 12.0f, .splits = true, .later = true},
    {"elastic, blended", YW_FLOW_NONE, 1e5f, .speed = 2.0f, .blend = 0.9f, .moves = true},
    {"two bodies", YW_FLOW_BOX, 1e5f, .speed = 2.0f, .two = true},
    {"pins", YW_FLOW_BOX, 1e5f, .pins = true},
    {"fine", YW_FLOW_BOX, 1.4e5f, .hardening = 10.0f, .speed = 5.0f, .fine = true},
};

static yw_model* make_model(const device_case* c) {
  yw_plastic_part parts[2] = {yw_default_plastic_part(), yw_default_plastic_part()};
  yw_shape *box = NULL, *ball = NULL;
  const float d = c->fine ? 0.01f : 0.02f;
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){0.15f, c->splits ? 0.03f : 0.05f, 0.05f}, &box),
                   YW_OK);
  assert_int_equal(yw_shape_sphere(NULL, 0.04f, &ball), YW_OK);
  parts[0].shape = box;
  parts[0].material.youngs_modulus = c->stiffness;
  parts[0].material.flow = c->flow;
  if (c->yield > 0.0f) parts[0].material.yield_stress = c->yield;
  parts[0].material.xi = c->hardening;
  if (c->splits) parts[0].material.theta_s = 0.0f;
  parts[1] = parts[0];
  parts[1].shape = ball;
  parts[1].transform.position = (yw_vec3){0.02f, 0.15f, 0.0f};
  parts[1].start = 0.01;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = d;
  def.parts = parts;
  def.num_parts = c->later ? 2 : 1;
  yw_plastic_scheme scheme = yw_default_plastic_scheme();
  if (c->blend > 0.0f) scheme.velocity_blend = c->blend;
  yw_model* model = NULL;
  yw_error error;
  if (yw_model_create_plastic_scheme(NULL, &def, &scheme, &model, &error) < 0) {
    fail_msg("%s", error.message);
  }
  yw_shape_release(box);
  yw_shape_release(ball);
  return model;
}

static void add_obstacles(const device_case* c, yw_world* world) {
  yw_obstacle_def def = yw_default_obstacle_def();
  yw_obstacle_id id;
  yw_shape* shape = NULL;
  const yw_vec3 from = {0.01f, 0.005f, -1.0f}, to = {0.01f, 0.005f, 1.0f};
  assert_int_equal(yw_shape_plane(NULL, (yw_vec3){0, 1, 0}, 0.0f, &shape), YW_OK);
  def.shape = shape;
  if (!c->splits) assert_int_equal(yw_obstacle_create(world, &def, &id, NULL), YW_OK);
  yw_shape_release(shape);
  assert_int_equal(yw_shape_capsule(NULL, from, to, 0.02f, &shape), YW_OK);
  const yw_key keys[2] = {{0.0, {0, 0, 0}, {0, 0, 0, 1}}, {0.1, {0.05f, 0.08f, 0}, {0, 0, 0, 1}}};
  def.shape = shape;
  def.sticky = c->moves;
  if (c->moves) def.path = (yw_path){.keys = keys, .num_keys = 2};
  if (c->splits || c->moves) assert_int_equal(yw_obstacle_create(world, &def, &id, NULL), YW_OK);
  yw_shape_release(shape);
}

static yw_world* make_case(const device_case* c, yw_device_kind device, yw_body_id* body) {
  yw_world_def def = yw_default_world_def();
  def.threads = 1;
  def.device = (uint8_t)device;
  // With surfaces, bodies come back after every substep.
  if (c->flow != YW_FLOW_VON_MISES) def.contact = YW_CONTACT_POINTS;
  yw_world* world = NULL;
  yw_error error;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  add_obstacles(c, world);
  yw_body_def body_def = yw_default_body_def();
  body_def.model = make_model(c);
  body_def.transform.position = (yw_vec3){0.0f, 0.08f, 0.0f};
  body_def.transform.rotation = yw_quat_normalize((yw_quat){0.02f, 0.1f, 0.03f, 1.0f});
  body_def.velocity = (yw_vec3){0.3f, -c->speed, 0.0f};
  if (yw_body_create(world, &body_def, body, &error) < 0) fail_msg("%s", error.message);
  yw_body_id other;
  body_def.transform.position.y = 0.21f;
  if (c->two) assert_int_equal(yw_body_create(world, &body_def, &other, &error), YW_OK);
  yw_model_release(body_def.model);
  if (c->pins) {
    const int32_t held[2] = {3, 5};
    yw_pin_def pin = yw_default_pin_def();
    yw_pin_id id;
    pin.body = *body;
    pin.vertices = held;
    pin.num_vertices = 2;
    assert_int_equal(yw_pin_create(world, &pin, &id, &error), YW_OK);
  }
  return world;
}

static void compare(const device_case* c, yw_world* here, yw_world* there, int step) {
  uint64_t expected = yw_world_hash(here), found = yw_world_hash(there);
  if (expected != found) fail_msg("%s: other bits after step %d", c->name, step);
}

static int32_t slaves_in_contact(yw_world* world, yw_body_id id) {
  const plastic_body* body = yw_body_state(world, id, &yw_plastic_method, NULL);
  int32_t count = 0;
  for (int32_t s = 0; s < body->num_listed; ++s) count += body->normal[s].w != 0.0f;
  return count;
}

static void steps_have_the_same_bits(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const device_case* c = &cases[i];
    yw_body_id a, b;
    yw_world* here = make_case(c, YW_DEVICE_CPU, &a);
    yw_world* there = make_case(c, YW_DEVICE_CUDA, &b);
    yw_plastic_statistics statistics = {0};
    int32_t contacts = 0;
    for (int step = 0; step < (c->splits ? 11 : 4); ++step) {
      yw_step_report first, second;
      assert_true(yw_world_step(here, 1.0f / 120, 2, &first) >= 0);
      assert_true(yw_world_step(there, 1.0f / 120, 2, &second) >= 0);
      compare(c, here, there, step);
      assert_int_equal(first.obstacle_contacts, second.obstacle_contacts);
      contacts += slaves_in_contact(here, a);
    }
    assert_int_equal(yw_body_plastic_statistics(here, a, &statistics), YW_OK);
    // The cases are about something.
    if (c->speed > 0.0f) assert_true(contacts > 0);
    if (c->splits) assert_true(statistics.added > 0);
    yw_world_destroy(here);
    yw_world_destroy(there);
  }
}

// Snapshots go on at the other side; parameters, impulses and gravity reach the device; what lies
// still falls asleep on both.
static void changes_reach_the_device(void** state) {
  (void)state;
  const device_case* c = &cases[0];
  yw_body_id bodies[2];
  yw_world* worlds[2] = {make_case(c, YW_DEVICE_CPU, &bodies[0]),
                         make_case(c, YW_DEVICE_CUDA, &bodies[1])};
  for (int change = 0; change < 4; ++change) {
    for (int w = 0; w < 2; ++w) {
      yw_plastic_params params;
      assert_true(yw_world_step(worlds[w], 1.0f / 120, 2, NULL) >= 0);
      assert_int_equal(yw_body_plastic_params(worlds[w], bodies[w], &params), YW_OK);
      params.stiffness_scale = 0.5f;
      params.sleep_speed = 2.0f;
      if (change == 0) yw_body_set_plastic_params(worlds[w], bodies[w], &params);
      const yw_quat turn = yw_quat_normalize((yw_quat){0.1f, 0.0f, 0.05f, 1.0f});
      const yw_vec3 pivot = {0, 0.1f, 0}, way = {0.01f, 0.1f, 0};
      if (change == 1) yw_body_teleport(worlds[w], bodies[w], pivot, turn, way);
      if (change == 2) yw_world_set_gravity(worlds[w], (yw_vec3){1.0f, -5.0f, 0.0f});
    }
    compare(c, worlds[0], worlds[1], change);
  }
  size_t size = yw_world_snapshot_size(worlds[0]);
  void* bytes = malloc(size);
  assert_int_equal(yw_world_save(worlds[0], bytes, size, NULL), YW_OK);
  for (int w = 0; w < 2; ++w) assert_true(yw_world_step(worlds[w], 1.0f / 120, 2, NULL) >= 0);
  assert_int_equal(yw_world_load(worlds[1], bytes, size, NULL), YW_OK);
  assert_true(yw_world_step(worlds[1], 1.0f / 120, 2, NULL) >= 0);
  compare(c, worlds[0], worlds[1], 4);
  yw_plastic_statistics statistics = {0};
  for (int step = 0; step < 60 && statistics.num_asleep == 0; ++step) {
    for (int w = 0; w < 2; ++w) assert_true(yw_world_step(worlds[w], 1.0f / 60, 1, NULL) >= 0);
    assert_int_equal(yw_body_plastic_statistics(worlds[0], bodies[0], &statistics), YW_OK);
  }
  assert_true(statistics.num_asleep > 0);
  compare(c, worlds[0], worlds[1], 64);
  free(bytes);
  yw_world_destroy(worlds[0]);
  yw_world_destroy(worlds[1]);
}

// Squeezed and sheared so much that masters would see more slaves than a row has: the nearest are
// kept, in rows that are a little shorter.
static void full_rows_have_the_same_bits(void** state) {
  (void)state;
  const device_case* c = &cases[1];
  yw_body_id bodies[2];
  yw_world* worlds[2] = {make_case(c, YW_DEVICE_CPU, &bodies[0]),
                         make_case(c, YW_DEVICE_CUDA, &bodies[1])};
  for (int w = 0; w < 2; ++w) {
    assert_true(yw_world_step(worlds[w], 1e-3f, 1, NULL) >= 0);
    const yw_particles* p = NULL;
    yw_body_state(worlds[w], bodies[w], &yw_plastic_method, &p);
    yw_vec3 *pos = malloc((size_t)p->count * sizeof *pos),
            *vel = calloc((size_t)p->count, sizeof *vel);
    for (int32_t m = 0; m < p->count; ++m) {
      pos[m] = (yw_vec3){0.75f * p->pos[m].x, 0.75f * p->pos[m].y + 0.05f, 0.75f * p->pos[m].z};
      vel[m].x = 100.0f * p->pos[m].y;
    }
    assert_int_equal(yw_body_set_state(worlds[w], bodies[w], pos, vel), YW_OK);
    free(pos);
    free(vel);
  }
  for (int step = 0; step < 3; ++step) {
    for (int w = 0; w < 2; ++w) yw_world_step(worlds[w], 1e-3f, 4, NULL);
    compare(c, worlds[0], worlds[1], step);
  }
  const plastic_body* body = yw_body_state(worlds[0], bodies[0], &yw_plastic_method, NULL);
  int32_t full = 0;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    full += body->row_start[m + 1] - body->row_start[m] >= PLASTIC_MAX_ROW - 2;
  }
  assert_true(full > 0 && body->rebuilt > 5);
  yw_world_destroy(worlds[0]);
  yw_world_destroy(worlds[1]);
}

#ifdef YW_LOOPS_LIBRARY
static void a_lost_device_ends_the_step(void** state) {
  (void)state;
  if (getenv("YAWARA_TEST_GPU")) skip();
  setenv("YAWARA_LOOPS_LOST", "300", 1);
  yw_body_id body;
  yw_world* world = make_case(&cases[0], YW_DEVICE_CUDA, &body);
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

static void too_little_memory_is_said_before(void** state) {
  (void)state;
  if (getenv("YAWARA_TEST_GPU")) skip();
  setenv("YAWARA_LOOPS_MEMORY", "100000", 1);
  yw_world_def def = yw_default_world_def();
  def.device = YW_DEVICE_CUDA;
  yw_world* world = NULL;
  yw_error error;
  yw_body_id body;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  yw_body_def body_def = yw_default_body_def();
  body_def.model = make_model(&cases[0]);
  assert_int_equal(yw_body_create(world, &body_def, &body, &error), YW_ERR_DEVICE);
  assert_non_null(strstr(error.message, "masters needs 0.00 GB"));
  unsetenv("YAWARA_LOOPS_MEMORY");
  yw_model_release(body_def.model);
  yw_world_destroy(world);
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
      cmocka_unit_test(full_rows_have_the_same_bits),
#ifdef YW_LOOPS_LIBRARY
      cmocka_unit_test(a_lost_device_ends_the_step),
      cmocka_unit_test(too_little_memory_is_said_before),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
