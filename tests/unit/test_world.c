// SPDX-License-Identifier: MIT
#include "support/method_world.h"
#include "yawara/extend/ranks.h"
#include "yawara/extend/timer.h"
#include "yawara/match.h"

static const yw_quat upright = {0, 0, 0, 1};
static const yw_quat tilted = {0.2588190f, 0, 0.0f, 0.9659258f};

static void a_body_comes_to_rest_on_the_floor(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_model* model = make_box_model(4, 8, 4, 1);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 1.2f, 0}, upright);
  yw_model_release(model);
  yw_match_params params;
  assert_int_equal(yw_body_match_params(world, body, &params), YW_OK);
  params.damping = 20.0f;
  assert_int_equal(yw_body_set_match_params(world, body, &params), YW_OK);
  for (int i = 0; i < 360; ++i) assert_int_equal(yw_world_step(world, 1 / 60.0f, 4, NULL), YW_OK);
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, body, &count);
  const yw_vec3* v = yw_body_velocities(world, body, NULL);
  float lowest = 1e9f, fastest = 0;
  for (int i = 0; i < count; ++i) {
    lowest = fminf(lowest, x[i].y);
    fastest = fmaxf(fastest, sqrtf(v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z));
  }
  assert_near(lowest, 0.0, 2e-3);
  assert_at_most(fastest, 0.01);
  yw_world_destroy(world);
}

// Blocks of 16 particles may be full, partly filled, or many: no size is special.
static void bodies_of_every_size_fall_freely(void** state) {
  (void)state;
  for (int32_t cells = 0; cells < 125; ++cells) {
    int32_t x = 1 + cells % 5, y = 1 + cells / 5 % 5, z = 1 + cells / 25;
    yw_world* world = make_world(1, YW_SIMD_AUTO, false);
    yw_model* model = make_box_model(x, y, z, cells % 3);
    yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, tilted);
    yw_model_release(model);
    for (int i = 0; i < 6; ++i) assert_int_equal(yw_world_step(world, 1 / 60.0f, 4, NULL), YW_OK);
    yw_body_sums sums;
    assert_int_equal(yw_body_sums_of(world, body, &sums), YW_OK);
    // g t^2 / 2, and up to g t h / 2 more: velocities are updated before positions.
    assert_near(sums.center[1], -9.81 * (0.005 + 0.1 / 960.0), 9.81 * 0.1 / 960.0 + 1e-5);
    assert_near(sums.momentum[1], -9.81 * 0.1 * sums.mass, 1e-4 * sums.mass);
    yw_world_destroy(world);
  }
}

// Steps that are recorded are the steps that are taken one by one.
static void recorded_steps_are_steps(void** state) {
  (void)state;
  enum { STEPS = 5 };
  yw_world* worlds[2];
  yw_body_id bodies[2];
  yw_model* model = make_box_model(2, 2, 2, 1);
  for (int i = 0; i < 2; ++i) {
    worlds[i] = make_world(1, YW_SIMD_AUTO, true);
    bodies[i] = add_body(worlds[i], model, (yw_vec3){0, 0.3f, 0}, tilted);
  }
  yw_model_release(model);
  yw_vec3 rows[STEPS][27];
  yw_recording recording = {bodies[0], rows[0], 27};
  int32_t taken = -1;
  yw_step_report report;
  assert_int_equal(yw_world_record(worlds[0], 1 / 60.0f, 3, STEPS, &recording, 1, &taken, &report),
                   YW_OK);
  assert_int_equal(taken, STEPS);
  assert_int_equal(report.num_particles, 27);
  for (int i = 0; i < STEPS; ++i) {
    assert_int_equal(yw_world_step(worlds[1], 1 / 60.0f, 3, NULL), YW_OK);
    assert_memory_equal(rows[i], yw_body_positions(worlds[1], bodies[1], NULL), sizeof rows[i]);
  }
  assert_true(yw_world_hash(worlds[0]) == yw_world_hash(worlds[1]));
  recording.count = 26;
  assert_int_equal(yw_world_record(worlds[0], 1 / 60.0f, 3, 1, &recording, 1, &taken, NULL),
                   YW_ERR_INVALID);
  assert_int_equal(taken, 0);
  assert_int_equal(yw_world_record(worlds[0], -1.0f, 3, 1, NULL, 0, &taken, NULL), YW_ERR_INVALID);
  assert_true(yw_world_hash(worlds[0]) == yw_world_hash(worlds[1]));
  for (int i = 0; i < 2; ++i) yw_world_destroy(worlds[i]);
}

// A body that diverges ends the recording with the step in which it did.
static void recording_ends_with_a_fault(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(1, 1, 1, 0);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, upright);
  yw_model_release(model);
  yw_vec3 positions[8], velocities[8] = {{3e38f, 0, 0}}, rows[4][8];
  memcpy(positions, yw_body_positions(world, body, NULL), sizeof positions);
  assert_int_equal(yw_body_set_state(world, body, positions, velocities), YW_OK);
  yw_recording recording = {body, rows[0], 8};
  int32_t taken = 0;
  assert_int_equal(yw_world_record(world, 1.0f, 4, 4, &recording, 1, &taken, NULL),
                   YW_WARN_NUMERICS);
  assert_int_equal(taken, 1);
  yw_world_destroy(world);
}

static void dead_ids_are_refused(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(1, 1, 1, 0);
  yw_body_id first = add_body(world, model, (yw_vec3){0, 0, 0}, upright);
  assert_int_equal(yw_body_destroy(world, first), YW_OK);
  assert_false(yw_body_is_valid(world, first));
  assert_int_equal(yw_body_destroy(world, first), YW_ERR_INVALID);
  yw_body_id second = add_body(world, model, (yw_vec3){0, 0, 0}, upright);
  assert_int_equal(second.index1, first.index1);
  assert_int_not_equal(second.generation, first.generation);
  assert_null(yw_body_positions(world, first, NULL));
  assert_false(yw_body_is_valid(world, (yw_body_id){0}));
  yw_model_release(model);
  yw_world_destroy(world);
}

static void bad_steps_are_refused(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  float bad[] = {0.0f, -0.1f, NAN, INFINITY};
  for (int i = 0; i < 4; ++i) {
    assert_int_equal(yw_world_step(world, bad[i], 1, NULL), YW_ERR_INVALID);
  }
  assert_int_equal(yw_world_step(world, 0.1f, 0, NULL), YW_ERR_INVALID);
  assert_int_equal(yw_world_step(world, 1e-45f, 10000, NULL), YW_ERR_INVALID);
  assert_true(yw_world_time(world) == 0.0);
  yw_world_destroy(world);
}

static void bad_bodies_are_refused_with_a_word(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(1, 1, 1, 0);
  yw_error error;
  yw_body_id id;
  yw_body_def def = yw_default_body_def();
  assert_int_equal(yw_body_create(world, &def, &id, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "needs a model"));
  def.model = model;
  def.restitution = 1.5f;
  assert_int_equal(yw_body_create(world, &def, &id, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "restitution is 1.5, but must be between 0 and 1"));
  def.restitution = 0;
  def.transform.position.x = NAN;
  assert_int_equal(yw_body_create(world, &def, &id, &error), YW_ERR_INVALID);
  assert_int_equal(yw_world_num_bodies(world), 0);
  yw_model_release(model);
  yw_world_destroy(world);
}

static void masses_beyond_floats_are_refused(void** state) {
  (void)state;
  yw_model *rest = make_box_model(1, 1, 1, 0), *model = NULL;
  yw_match_def def = yw_default_match_def();
  def.mesh = yw_model_tets(rest);
  yw_error error;
  const float bad[] = {1e-38f, 1e38f};
  for (int i = 0; i < 2; ++i) {
    def.density = bad[i];
    assert_int_equal(yw_model_create_match(NULL, &def, &model, &error), YW_ERR_GEOMETRY);
    assert_null(model);
    assert_non_null(strstr(error.message, "check the density"));
  }
  yw_model_release(rest);
}

// A copy of a body often uses its name; the name must remain valid when the world grows.
static void a_body_may_be_named_after_another(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(1, 1, 1, 0);
  yw_body_def def = yw_default_body_def();
  def.model = model;
  def.name = "ear";
  yw_body_id first, copy;
  yw_error error;
  assert_int_equal(yw_body_create(world, &def, &first, &error), YW_OK);
  for (int i = 0; i < 100; ++i) {
    def.name = yw_body_name(world, first);
    assert_int_equal(yw_body_create(world, &def, &copy, &error), YW_OK);
    assert_string_equal(yw_body_name(world, copy), "ear");
  }
  yw_model_release(model);
  yw_world_destroy(world);
}

static void no_world_is_an_empty_world(void** state) {
  (void)state;
  assert_int_equal(yw_world_num_bodies(NULL), 0);
  assert_int_equal(yw_world_body(NULL, 0).index1, 0);
  assert_true(yw_world_time(NULL) == 0.0);
  assert_true(yw_world_step_count(NULL) == 0);
  assert_true(yw_world_snapshot_size(NULL) == 0);
  assert_true(yw_world_hash(NULL) == 0);
  assert_null(yw_body_positions(NULL, (yw_body_id){1, 1}, NULL));
}

static void a_surface_with_wrong_corners_is_not_embedded(void** state) {
  (void)state;
  yw_model* model = make_box_model(1, 1, 1, 0);
  yw_tri_mesh surface = {0};
  yw_error error;
  assert_int_equal(yw_tri_mesh_create(NULL, 3, 1, &surface), YW_OK);
  surface.triangles[1] = 3;
  assert_int_equal(yw_model_embed_surface(model, &surface, &error), YW_ERR_GEOMETRY);
  assert_non_null(strstr(
      error.message, "triangle 0 of the embedded surface has vertex 3, but there are 3 (0 to 2)"));
  surface.triangles[1] = -1;
  assert_int_equal(yw_model_embed_surface(model, &surface, &error), YW_ERR_GEOMETRY);
  yw_tri_mesh_free(&surface);
  // Nor is one of no vertices, or none at all.
  yw_tri_mesh empty = {0};
  assert_int_equal(yw_model_embed_surface(model, &empty, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "the embedded surface has no vertices"));
  assert_int_equal(yw_model_embed_surface(model, NULL, &error), YW_ERR_INVALID);
  yw_model_release(model);
}

static void a_pin_is_not_moved_by_a_rotation_without_length(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(1, 1, 1, 0);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, upright);
  yw_pin_id pin = pin_vertex(world, body, 0, false);
  yw_vec3 none = {0, 0, 0};
  assert_int_equal(yw_pin_move(world, pin, none, (yw_quat){0, 0, 0, 0}), YW_ERR_INVALID);
  assert_int_equal(yw_pin_move(world, pin, none, (yw_quat){0, 0, 1e30f, 0}), YW_ERR_INVALID);
  assert_int_equal(yw_pin_move(world, pin, none, (yw_quat){0, NAN, 0, 1}), YW_ERR_INVALID);
  assert_int_equal(yw_pin_move(world, pin, none, (yw_quat){0, 0, 0, 2}), YW_OK);
  yw_model_release(model);
  yw_world_destroy(world);
}

static void a_pinned_vertex_follows_its_path(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(2, 4, 2, 0);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, upright);
  yw_model_release(model);
  int32_t top = -1, count;
  const yw_vec3* x = yw_body_positions(world, body, &count);
  for (int i = 0; i < count; ++i) {
    if (x[i].y > 0.49f && top < 0) top = i;
  }
  yw_vec3 start = x[top];
  yw_key keys[2] = {{0, {0, 0, 0}, {0, 0, 0, 1}}, {1, {0.3f, 0.2f, -0.1f}, {0, 0, 0, 1}}};
  yw_pin_def def = yw_default_pin_def();
  def.body = body;
  def.vertices = &top;
  def.num_vertices = 1;
  def.path = (yw_path){.keys = keys, .num_keys = 2};
  yw_pin_id pin;
  yw_error error;
  assert_int_equal(yw_pin_create(world, &def, &pin, &error), YW_OK);
  for (int i = 0; i < 120; ++i) assert_int_equal(yw_world_step(world, 1 / 60.0f, 4, NULL), YW_OK);
  x = yw_body_positions(world, body, NULL);
  assert_near(x[top].x, start.x + 0.3, 1e-5);
  assert_near(x[top].y, start.y + 0.2, 1e-5);
  assert_near(x[top].z, start.z - 0.1, 1e-5);
  assert_int_equal(yw_pin_destroy(world, pin), YW_OK);
  for (int i = 0; i < 30; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
  x = yw_body_positions(world, body, NULL);
  assert_true(x[top].y < start.y - 0.3f);
  int32_t wrong = count;
  def.vertices = &wrong;
  assert_int_equal(yw_pin_create(world, &def, &pin, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "45"));
  yw_world_destroy(world);
}

// A weight on a spring hangs m g / k below the spring's anchor.
static void a_spring_handle_stretches_by_hooke(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(2, 4, 2, 0);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, upright);
  yw_model_release(model);
  int32_t count, held[16], num_held = 0;
  const yw_vec3* x = yw_body_positions(world, body, &count);
  for (int i = 0; i < count; ++i) {
    if (x[i].y > 0.49f) held[num_held++] = i;
  }
  assert_int_equal(num_held, 9);
  yw_body_sums before;
  yw_body_sums_of(world, body, &before);
  yw_pin_def def = yw_default_pin_def();
  def.body = body;
  def.vertices = held;
  def.num_vertices = num_held;
  def.stiffness = 2000.0f;
  def.damping = 100.0f;
  yw_pin_id pin;
  yw_error error;
  assert_int_equal(yw_pin_create(world, &def, &pin, &error), YW_OK);
  float before_y = x[held[0]].y;
  for (int i = 0; i < 1200; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
  x = yw_body_positions(world, body, NULL);
  double mean = 0;
  for (int i = 0; i < num_held; ++i) mean += (double)(before_y - x[held[i]].y) / num_held;
  assert_near(mean, before.mass * 9.81 / (2000.0 * num_held), 2e-3);
  yw_world_destroy(world);
}

static yw_world* make_busy_world(int32_t threads, yw_simd simd) {
  yw_world* world = make_world(threads, simd, true);
  yw_model* model = make_box_model(4, 8, 4, 2);
  for (int i = 0; i < 4; ++i) {
    add_body(world, model, (yw_vec3){0.1f * (float)i, 0.8f + 1.2f * (float)i, 0}, tilted);
  }
  yw_model_release(model);
  return world;
}

static void a_snapshot_goes_on_bit_for_bit(void** state) {
  (void)state;
  yw_world* world = make_busy_world(2, YW_SIMD_AUTO);
  for (int i = 0; i < 40; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
  size_t size = yw_world_snapshot_size(world), written = 0;
  void* bytes = malloc(size);
  assert_int_equal(yw_world_save(world, bytes, size, &written), YW_OK);
  assert_int_equal(written, size);
  for (int i = 0; i < 40; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);

  yw_world* other = make_busy_world(1, YW_SIMD_PLAIN);
  yw_error error;
  assert_int_equal(yw_world_load(other, bytes, size, &error), YW_OK);
  assert_int_equal(yw_world_step_count(other), 40);
  for (int i = 0; i < 40; ++i) yw_world_step(other, 1 / 60.0f, 4, NULL);
  assert_true(yw_world_hash(world) == yw_world_hash(other));
  assert_true(yw_world_time(world) == yw_world_time(other));
  yw_world_destroy(world);
  yw_world_destroy(other);
  free(bytes);
}

static void damaged_snapshots_change_nothing(void** state) {
  (void)state;
  yw_world* world = make_busy_world(1, YW_SIMD_AUTO);
  for (int i = 0; i < 5; ++i) yw_world_step(world, 1 / 60.0f, 2, NULL);
  size_t size = yw_world_snapshot_size(world);
  unsigned char* bytes = malloc(size);
  assert_int_equal(yw_world_save(world, bytes, size, NULL), YW_OK);
  assert_int_equal(yw_world_save(world, bytes, size - 1, NULL), YW_ERR_LIMIT);
  assert_int_equal(yw_world_save(world, bytes, size, NULL), YW_OK);
  yw_world_step(world, 1 / 60.0f, 2, NULL);
  uint64_t before = yw_world_hash(world);
  yw_error error;
  for (size_t cut = 0; cut < size; cut += 997) {
    assert_true(yw_world_load(world, bytes, cut, &error) < 0);
  }
  test_random random = {7};
  for (int i = 0; i < 200; ++i) {
    size_t place = test_random_u32(&random) % size;
    bytes[place] ^= 0x10;
    assert_true(yw_world_load(world, bytes, size, &error) < 0);
    bytes[place] ^= 0x10;
  }
  yw_world* other = make_world(1, YW_SIMD_AUTO, true);
  assert_int_equal(yw_world_load(other, bytes, size, &error), YW_ERR_FORMAT);
  assert_non_null(strstr(error.message, "another scene"));
  yw_world_destroy(other);
  assert_true(yw_world_hash(world) == before);
  assert_int_equal(yw_world_load(world, bytes, size, &error), YW_OK);
  yw_world_destroy(world);
  free(bytes);
}

// Ranks of another interface, or none of them, are refused.
static void ranks_must_be_those_of_this_interface(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  const yw_ranks other = {.interface = YW_RANKS_INTERFACE + 1, .count = 2};
  const yw_ranks none = {.interface = YW_RANKS_INTERFACE, .count = 0};
  const yw_ranks one = {.interface = YW_RANKS_INTERFACE, .count = 1};
  assert_int_equal(yw_world_set_ranks(world, &other), YW_ERR_INVALID);
  assert_int_equal(yw_world_set_ranks(world, &none), YW_ERR_INVALID);
  assert_int_equal(yw_world_set_ranks(NULL, &one), YW_ERR_INVALID);
  assert_int_equal(yw_world_set_ranks(world, &one), YW_OK);
  yw_world_destroy(world);
}

// Regions that are inside out take the slow path, and are counted.
static void regions_inside_out_are_counted(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_model* model = make_box_model(3, 6, 3, 1);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, upright);
  yw_model_release(model);
  yw_step_report report;
  assert_true(yw_world_step(world, 1 / 60.0f, 1, &report) >= 0);
  assert_int_equal(report.recovered_regions, 0);
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, body, &count);
  yw_vec3* moved = calloc(2 * (size_t)count, sizeof *moved);
  test_random random = {5};
  for (int32_t i = 0; i < count; ++i) {
    float* to = &moved[i].x;
    for (int k = 0; k < 3; ++k) to[k] = (&x[i].x)[k] + (float)test_random_in(&random, -0.3, 0.3);
  }
  assert_int_equal(yw_body_set_state(world, body, moved, moved + count), YW_OK);
  free(moved);
  assert_true(yw_world_step(world, 1 / 60.0f, 1, &report) >= 0);
  assert_true(report.recovered_regions > 0 && report.recovered_regions <= count);
  yw_world_destroy(world);
}

// Bodies whose method keeps its cells have no version of them, and neither have bodies that are
// gone.
static void cells_that_stay_have_no_version(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_model* model = make_box_model(1, 1, 1, 0);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, upright);
  yw_model_release(model);
  assert_true(yw_body_cells_version(world, body) == 0);
  assert_int_equal(yw_body_destroy(world, body), YW_OK);
  assert_true(yw_body_cells_version(world, body) == 0);
  yw_world_destroy(world);
}

// Who asks after a snapshot was loaded is told what was when it was saved.
static void loaded_bodies_are_shown_at_once(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_model* model = make_box_model(2, 2, 2, 0);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0.5f, 0}, upright);
  yw_model_release(model);
  for (int i = 0; i < 5; ++i) assert_int_equal(yw_world_step(world, 1 / 60.0f, 2, NULL), YW_OK);
  int32_t count;
  size_t size = yw_world_snapshot_size(world), used;
  void* snapshot = malloc(size);
  assert_int_equal(yw_world_save(world, snapshot, size, &used), YW_OK);
  const yw_vec3* x = yw_body_positions(world, body, &count);
  yw_vec3* kept = malloc((size_t)count * sizeof *kept);
  memcpy(kept, x, (size_t)count * sizeof *kept);
  for (int i = 0; i < 5; ++i) assert_int_equal(yw_world_step(world, 1 / 60.0f, 2, NULL), YW_OK);
  assert_true(memcmp(kept, yw_body_positions(world, body, &count), (size_t)count * sizeof *kept) !=
              0);
  assert_int_equal(yw_world_load(world, snapshot, used, NULL), YW_OK);
  assert_memory_equal(kept, yw_body_positions(world, body, &count), (size_t)count * sizeof *kept);
  free(kept);
  free(snapshot);
  yw_world_destroy(world);
}

// Four boxes that fall on each other, stepped by two threads: the phases add up to the total, and
// no phase is counted twice.
static void times_of_a_step_add_up(void** state) {
  (void)state;
  yw_world* world = make_world(2, YW_SIMD_AUTO, true);
  yw_model* model = make_box_model(3, 6, 3, 1);
  for (int i = 0; i < 4; ++i) {
    add_body(world, model, (yw_vec3){0.1f * (float)i, 0.55f + 0.95f * (float)i, 0}, upright);
  }
  yw_model_release(model);
  for (int i = 0; i < 20; ++i) {
    yw_step_report report;
    double before = yw_seconds();
    assert_int_equal(yw_world_step(world, 1 / 60.0f, 4, &report), YW_OK);
    double passed = yw_seconds() - before;
    double sum = report.seconds_advance + report.seconds_contact + report.seconds_settle +
                 report.seconds_other;
    assert_near(sum, report.seconds_total, 1e-9);
    assert_true(report.seconds_total > 0.0 && report.seconds_total <= passed);
    assert_true(report.seconds_advance > 0.0 && report.seconds_contact > 0.0);
    assert_true(report.seconds_settle >= 0.0 && report.seconds_other > 0.0);
    // Two threads can have worked twice as long as the clock ran.
    assert_true(report.work_obstacles > 0.0);
    assert_at_most(report.work_obstacles + report.work_adapt, 2.0 * report.seconds_advance);
  }
  yw_world_destroy(world);
}

static void a_body_that_diverges_is_frozen_and_named(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(2, 4, 2, 0);
  yw_body_id good = add_body(world, model, (yw_vec3){0, 0, 0}, upright);
  yw_body_id bad = add_body(world, model, (yw_vec3){5, 0, 0}, upright);
  yw_model_release(model);
  int32_t count;
  yw_body_positions(world, bad, &count);
  yw_vec3* x = malloc(sizeof(yw_vec3) * (size_t)count);
  yw_vec3* v = calloc((size_t)count, sizeof(yw_vec3));
  memcpy(x, yw_body_positions(world, bad, NULL), sizeof(yw_vec3) * (size_t)count);
  for (int i = 0; i < count; ++i) v[i].x = 3e38f;
  assert_int_equal(yw_body_set_state(world, bad, x, v), YW_OK);
  yw_step_report report;
  assert_int_equal(yw_world_step(world, 1 / 60.0f, 4, &report), YW_WARN_NUMERICS);
  assert_int_equal(report.diverged_bodies, 1);
  assert_int_equal(report.first_diverged.index1, bad.index1);
  for (int i = 0; i < 60; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
  const yw_vec3* frozen = yw_body_positions(world, bad, NULL);
  for (int i = 0; i < count; ++i) assert_near(frozen[i].x, x[i].x, 0.0);
  yw_body_sums sums;
  yw_body_sums_of(world, good, &sums);
  assert_at_most(sums.center[1], -4.0);
  x[0].x = NAN;
  assert_int_equal(yw_body_set_state(world, good, x, NULL), YW_ERR_INVALID);
  yw_world_destroy(world);
  free(x);
  free(v);
}

// Allocation --------------------------------------------------------------------------------------

static void a_step_makes_no_heap_call_after_warm_up(void** state) {
  (void)state;
  counted_memory memory = {.left = ENOUGH};
  yw_world* world = make_counted_world(&memory);
  add_floor(world);
  yw_model* model = make_box_model(4, 8, 4, 2);
  for (int i = 0; i < 4; ++i) {
    add_body(world, model, (yw_vec3){0.1f * (float)i, 0.8f + 1.1f * (float)i, 0}, upright);
  }
  yw_model_release(model);
  for (int i = 0; i < 180; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
  long before = memory.calls;
  for (int i = 0; i < 60; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
  assert_int_equal(memory.calls - before, 0);
  yw_world_destroy(world);
  assert_int_equal(memory.alive, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_body_comes_to_rest_on_the_floor),
      cmocka_unit_test(bodies_of_every_size_fall_freely),
      cmocka_unit_test(recorded_steps_are_steps),
      cmocka_unit_test(recording_ends_with_a_fault),
      cmocka_unit_test(dead_ids_are_refused),
      cmocka_unit_test(bad_steps_are_refused),
      cmocka_unit_test(bad_bodies_are_refused_with_a_word),
      cmocka_unit_test(masses_beyond_floats_are_refused),
      cmocka_unit_test(a_body_may_be_named_after_another),
      cmocka_unit_test(no_world_is_an_empty_world),
      cmocka_unit_test(a_surface_with_wrong_corners_is_not_embedded),
      cmocka_unit_test(a_pin_is_not_moved_by_a_rotation_without_length),
      cmocka_unit_test(a_pinned_vertex_follows_its_path),
      cmocka_unit_test(a_spring_handle_stretches_by_hooke),
      cmocka_unit_test(a_snapshot_goes_on_bit_for_bit),
      cmocka_unit_test(damaged_snapshots_change_nothing),
      cmocka_unit_test(ranks_must_be_those_of_this_interface),
      cmocka_unit_test(regions_inside_out_are_counted),
      cmocka_unit_test(cells_that_stay_have_no_version),
      cmocka_unit_test(loaded_bodies_are_shown_at_once),
      cmocka_unit_test(times_of_a_step_add_up),
      cmocka_unit_test(a_body_that_diverges_is_frozen_and_named),
      cmocka_unit_test(a_step_makes_no_heap_call_after_warm_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
