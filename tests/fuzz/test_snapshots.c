// SPDX-License-Identifier: MIT
// Untrusted snapshots: changed anywhere, with a valid checksum. Loading one fails and changes
// nothing, or gives a world that can be stepped.
#include "support/method_models.h"
#include "support/world_fixture.h"
#include "yawara/extend/hash.h"

#define CHECKSUM sizeof(uint64_t)

static yw_world* make_scene(void) {
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_model* model = make_box_model(1, 3, 1, 2);
  yw_body_id body = {0};
  for (int i = 0; i < 2; ++i) {
    body = add_body(world, model, (yw_vec3){0, 0.6f + 1.1f * (float)i, 0}, (yw_quat){0, 0, 0, 1});
  }
  yw_model_release(model);
  yw_pin_id pin = pin_vertex(world, body, 0, false);
  assert_int_equal(yw_pin_move(world, pin, (yw_vec3){0, 0.1f, 0}, (yw_quat){0, 0, 0, 1}), YW_OK);
  const yw_key keys[2] = {{0.0, {0, 0, 0}, {0, 0, 0, 1}}, {9.0, {0, 1, 0}, {0, 0, 0, 1}}};
  yw_error error = {0};
  yw_obstacle_def wall = yw_default_obstacle_def();
  yw_obstacle_id wall_id;
  yw_shape_sphere(NULL, 0.2f, &wall.shape);
  wall.transform.position.x = 3.0f;
  wall.path = (yw_path){.keys = keys, .num_keys = 2};
  assert_int_equal(yw_obstacle_create(world, &wall, &wall_id, &error), YW_OK);
  yw_shape_release(wall.shape);
  const int32_t vertex = 1;
  yw_joint_def joint = yw_default_joint_def();
  yw_joint_id joint_id;
  joint.kind = YW_JOINT_SPRING;
  joint.ends[0].body = body;
  joint.ends[0].vertices = &vertex;
  joint.ends[0].num_vertices = 1;
  assert_int_equal(yw_joint_create(world, &joint, &joint_id, &error), YW_OK);
  const yw_track_key track_keys[2] = {{0.0, {0, -9, 0}}, {1.0, {0, -10, 0}}};
  yw_track_def track = yw_default_track_def();
  track.target = YW_TRACK_GRAVITY;
  track.keys = track_keys;
  track.num_keys = 2;
  yw_track_id track_id;
  assert_int_equal(yw_track_create(world, &track, &track_id, &error), YW_OK);
  assert_int_equal(yw_world_record_contacts(world, true), YW_OK);
  yw_world_set_pair_contact(world, yw_world_body(world, 0), yw_world_body(world, 1), false);
  for (int i = 0; i < 5; ++i) yw_world_step(world, 1 / 60.0f, 2, NULL);
  return world;
}

static void seal(unsigned char* bytes, size_t size) {
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, bytes, size - CHECKSUM);
  for (size_t i = 0; i < CHECKSUM; ++i) bytes[size - CHECKSUM + i] = (unsigned char)(hash >> 8 * i);
}

static bool all_finite(const yw_world* world) {
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    int32_t count;
    const yw_vec3* x = yw_body_positions(world, yw_world_body(world, i), &count);
    for (int32_t k = 0; k < count; ++k) {
      if (!isfinite(x[k].x + x[k].y + x[k].z)) return false;
    }
  }
  return isfinite(yw_world_time(world));
}

typedef yw_status (*take)(yw_world* world, const void* bytes, size_t size, yw_error* error);

// Takes the bytes; an accepted state must survive a step.
static void try_snapshot(yw_world* world, take load, const unsigned char* bytes, size_t size,
                         size_t place) {
  uint64_t before = yw_world_hash(world);
  yw_error error = {0};
  if (load(world, bytes, size, &error) < 0) {
    assert_true(error.message[0] != '\0');
    assert_true(yw_world_hash(world) == before);
    return;
  }
  bool finite = all_finite(world);
  for (int i = 0; i < 2 && finite; ++i) {
    assert_true(yw_world_step(world, 1 / 60.0f, 1, NULL) >= 0);
    finite = all_finite(world);
  }
  if (!finite) fail_msg("a snapshot changed at byte %zu of %zu gave a world of NaN", place, size);
}

static const unsigned char words[][4] = {
    {0, 0, 0xc0, 0x7f}, {0, 0, 0x80, 0x7f}, {0xff, 0xff, 0x7f, 0xff}, {0xff, 0xff, 0xff, 0xff},
    {0, 0, 0, 0x80},    {0, 0, 0, 0},       {0xff, 0xff, 0xff, 0x7f}};

static void try_changes(take load) {
  yw_world* world = make_scene();
  size_t size = yw_world_snapshot_size(world);
  unsigned char *good = malloc(size), *bad = malloc(size);
  assert_int_equal(yw_world_save(world, good, size, NULL), YW_OK);
  // Every word once as NaN, infinity, the largest, -1 and so on.
  for (size_t at = 16; at + 4 <= size - CHECKSUM; at += 4) {
    memcpy(bad, good, size);
    memcpy(bad + at, words[at / 4 % 7], 4);
    seal(bad, size);
    try_snapshot(world, load, bad, size, at);
    memcpy(bad + at, words[0], 4);
    seal(bad, size);
    try_snapshot(world, load, bad, size, at);
  }
  yw_error error;
  assert_int_equal(load(world, good, size, &error), YW_OK);
  free(good);
  free(bad);
  yw_world_destroy(world);
}

static void changed_snapshots_are_refused_or_harmless(void** state) {
  (void)state;
  try_changes(yw_world_load);
}

static void so_are_those_that_worlds_go_back_to(void** state) {
  (void)state;
  try_changes(yw_world_restore);
}

// A body of a method, after three steps.
static yw_world* world_of_method(int m) {
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_model* model = method_model(m);
  add_body(world, model, (yw_vec3){0, 0.25f, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(model);
  for (int i = 0; i < 3; ++i) assert_true(yw_world_step(world, 1 / 60.0f, 2, NULL) >= 0);
  return world;
}

// Particles torn apart at this speed.
static void diverge(yw_world* world, float most) {
  yw_body_id body = yw_world_body(world, 0);
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, body, &count);
  yw_vec3* state = malloc(2 * sizeof *state * (size_t)count);
  memcpy(state, x, sizeof *state * (size_t)count);
  for (int32_t i = 0; i < count; ++i) state[count + i] = (yw_vec3){i % 2 ? most : -most, 0, 0};
  assert_int_equal(yw_body_set_state(world, body, state, state + count), YW_OK);
  assert_int_equal(yw_world_step(world, 1 / 60.0f, 2, NULL), YW_WARN_NUMERICS);
  assert_true(yw_body_is_diverged(world, body));
  free(state);
}

// A run with a body that diverged can be resumed.
static void worlds_with_diverged_bodies_are_loaded(void** state) {
  (void)state;
  static const float speeds[] = {1e12f, 1e20f, 3e38f};
  for (int i = 0; i < 3 * NUM_METHOD_BODIES; ++i) {
    yw_world *world = world_of_method(i / 3), *other = world_of_method(i / 3);
    diverge(world, speeds[i % 3]);
    size_t size = yw_world_snapshot_size(world);
    void* bytes = malloc(size);
    yw_error error = {0};
    assert_int_equal(yw_world_save(world, bytes, size, NULL), YW_OK);
    if (yw_world_load(other, bytes, size, &error) < 0) {
      fail_msg("%s: %s", method_bodies[i / 3], error.message);
    }
    assert_true(yw_body_is_diverged(other, yw_world_body(other, 0)));
    assert_true(yw_world_hash(other) == yw_world_hash(world));
    free(bytes);
    yw_world_destroy(world);
    yw_world_destroy(other);
  }
}

// Some words of snapshots of every method, spread over all of them.
static void so_are_those_of_every_method(void** state) {
  (void)state;
  const int changes = getenv("YW_TEST_FULL") ? 4000 : 60;
  for (int m = 0; m < NUM_METHOD_BODIES; ++m) {
    yw_world* world = world_of_method(m);
    size_t size = yw_world_snapshot_size(world);
    unsigned char *good = malloc(size), *bad = malloc(size);
    assert_int_equal(yw_world_save(world, good, size, NULL), YW_OK);
    test_random random = {(uint64_t)m + 1};
    for (int i = 0; i < changes; ++i) {
      size_t at = 16 + 4 * (test_random_u32(&random) % ((size - CHECKSUM - 16) / 4));
      memcpy(bad, good, size);
      memcpy(bad + at, words[test_random_u32(&random) % 7], 4);
      seal(bad, size);
      try_snapshot(world, yw_world_load, bad, size, at);
    }
    assert_int_equal(yw_world_load(world, good, size, NULL), YW_OK);
    free(good);
    free(bad);
    yw_world_destroy(world);
  }
}

// A track with a single key, of the last kind and of the last target, is made again.
static void tracks_come_back(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(1, 1, 1, 1);
  const yw_track_key key = {0.5, {0.5f, 0, 0}};
  yw_track_def track = yw_default_track_def();
  track.target = YW_TRACK_CONTROL;
  track.kind = YW_TRACK_STEP;
  track.loop = true;
  track.body = add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  track.keys = &key;
  track.num_keys = 1;
  yw_track_id id;
  yw_error error = {0};
  if (yw_track_create(world, &track, &id, &error) < 0) fail_msg("%s", error.message);
  yw_model_release(model);
  size_t size = yw_world_snapshot_size(world);
  void* bytes = malloc(size);
  assert_int_equal(yw_world_save(world, bytes, size, NULL), YW_OK);
  assert_int_equal(yw_track_destroy(world, id), YW_OK);
  if (yw_world_restore(world, bytes, size, &error) < 0) fail_msg("%s", error.message);
  assert_true(yw_track_is_valid(world, id));
  free(bytes);
  yw_world_destroy(world);
}

static void snapshots_of_another_length_are_refused(void** state) {
  (void)state;
  yw_world* world = make_scene();
  size_t size = yw_world_snapshot_size(world);
  unsigned char* bytes = calloc(size + 64, 1);
  uint64_t before = yw_world_hash(world);
  yw_error error;
  for (size_t length = 0; length < size + 64; ++length) {
    if (length == size) continue;
    assert_int_equal(yw_world_save(world, bytes, size, NULL), YW_OK);
    if (length >= CHECKSUM) seal(bytes, length);
    assert_int_equal(yw_world_load(world, bytes, length, &error), YW_ERR_FORMAT);
    if (length % 7 == 0) {
      assert_int_equal(yw_world_restore(world, bytes, length, &error), YW_ERR_FORMAT);
    }
    assert_true(yw_world_hash(world) == before);
  }
  free(bytes);
  yw_world_destroy(world);
}

// The state ends with pairs of bodies that wait to part: only those of bodies that exist.
static void pairs_of_other_bodies_are_refused(void** state) {
  (void)state;
  yw_world* world = make_scene();
  const size_t size = yw_world_snapshot_size(world), pair = sizeof(uint64_t);
  unsigned char *good = malloc(size), *more = malloc(size + pair);
  assert_int_equal(yw_world_save(world, good, size, NULL), YW_OK);
  uint64_t setup = 0;
  for (size_t i = 0; i < 8; ++i) setup |= (uint64_t)good[size - CHECKSUM - 8 + i] << 8 * i;
  const size_t end = size - CHECKSUM - 8 - (size_t)setup;
  for (unsigned k = 0; k < 16; ++k) {
    memcpy(more, good, end);
    memset(more + end, 0, pair);
    more[end] = (unsigned char)(k % 4), more[end + 4] = (unsigned char)(k / 4);
    memcpy(more + end + pair, good + end, size - end);
    seal(more, size + pair);
    yw_error error;
    bool exist = k % 4 < 2 && k / 4 < 2;
    assert_int_equal(yw_world_load(world, more, size + pair, &error),
                     exist ? YW_OK : YW_ERR_FORMAT);
  }
  free(good);
  free(more);
  yw_world_destroy(world);
}

// The points of a joint take particles of its side: no more than it has, and none beyond.
static void joints_of_other_particles_are_refused(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(1, 1, 1, 0);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(model);
  const int32_t vertices[5] = {0, 1, 2, 3, 4};
  yw_joint_def joint = yw_default_joint_def();
  yw_joint_id id;
  joint.kind = YW_JOINT_SPRING;
  joint.ends[0] = (yw_joint_end){.body = body, .vertices = vertices, .num_vertices = 5};
  assert_int_equal(yw_joint_create(world, &joint, &id, NULL), YW_OK);
  const size_t size = yw_world_snapshot_size(world);
  unsigned char *good = malloc(size), *bad = malloc(size);
  assert_int_equal(yw_world_save(world, good, size, NULL), YW_OK);
  // First and number of both sides; the other is the world.
  const uint32_t point[4] = {0, 5, 0, 0};
  size_t at = 0, found = 0;
  for (size_t i = 16; i + sizeof point <= size; ++i) {
    if (memcmp(good + i, point, sizeof point) == 0) at = i, ++found;
  }
  assert_int_equal(found, 1);
  for (unsigned char first = 0; first < 7; ++first) {
    for (unsigned char num = 0; num < 7; ++num) {
      if (first + num <= 5) continue;
      memcpy(bad, good, size);
      bad[at] = first, bad[at + 4] = num;
      seal(bad, size);
      yw_error error;
      assert_int_equal(yw_world_restore(world, bad, size, &error), YW_ERR_FORMAT);
    }
  }
  assert_int_equal(yw_world_restore(world, good, size, NULL), YW_OK);
  free(good);
  free(bad);
  yw_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(changed_snapshots_are_refused_or_harmless),
      cmocka_unit_test(so_are_those_that_worlds_go_back_to),
      cmocka_unit_test(so_are_those_of_every_method),
      cmocka_unit_test(worlds_with_diverged_bodies_are_loaded),
      cmocka_unit_test(tracks_come_back),
      cmocka_unit_test(snapshots_of_another_length_are_refused),
      cmocka_unit_test(pairs_of_other_bodies_are_refused),
      cmocka_unit_test(joints_of_other_particles_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
