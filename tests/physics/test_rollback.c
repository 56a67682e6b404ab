// SPDX-License-Identifier: MIT
// Rollback: a world goes back to a snapshot, whatever was made or destroyed since, and takes the
// same steps again.
#include "support/counted_memory.h"
#include "support/method_models.h"
#include "yawara/contact.h"
#include "yawara/extend/vec.h"
#include "yawara/follow.h"
#include "yawara/force.h"
#include "yawara/track.h"

static const yw_quat no_turn = {0, 0, 0, 1};

static yw_world* make_rollback_world(int32_t threads, yw_contact_kind contact) {
  yw_world_def def = yw_default_world_def();
  def.threads = threads;
  def.contact = contact;
  def.rollback = true;
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  return world;
}

static yw_body_id add_method(yw_world* world, int method, yw_vec3 at) {
  yw_model* model = method_model(method);
  yw_body_id id = add_body(world, model, at, no_turn);
  yw_model_release(model);
  return id;
}

static void run(yw_world* world, int steps) {
  for (int i = 0; i < steps; ++i) assert_true(yw_world_step(world, 1.0f / 60, 2, NULL) >= 0);
}

typedef struct snapshot {
  void* bytes;
  size_t size;
} snapshot;

static snapshot save(const yw_world* world) {
  snapshot s = {.size = yw_world_snapshot_size(world)};
  s.bytes = malloc(s.size);
  assert_int_equal(yw_world_save(world, s.bytes, s.size, NULL), YW_OK);
  return s;
}

static void restore(yw_world* world, snapshot s) {
  yw_error error = {0};
  yw_status status = yw_world_restore(world, s.bytes, s.size, &error);
  if (status != YW_OK) fail_msg("%s", error.message);
}

// A heap of all methods on the floor, with a pin, a joint, a moving obstacle and a filter.
typedef struct heap {
  yw_body_id ids[NUM_METHOD_BODIES];
  yw_obstacle_id floor, wall;
  yw_pin_id pin;
  yw_joint_id joint;
} heap;

static yw_obstacle_id add_wall(yw_world* world) {
  yw_error error = {0};
  yw_shape* shape = NULL;
  yw_shape_box(NULL, (yw_vec3){0.1f, 1, 1}, &shape);
  const yw_key keys[2] = {{0.0, {0, 0, 0}, {0, 0, 0, 1}}, {1.0, {0.5f, 0, 0}, {0, 0, 0, 1}}};
  yw_obstacle_def def = yw_default_obstacle_def();
  def.shape = shape;
  def.transform.position.x = -0.8f;
  def.path = (yw_path){.keys = keys, .num_keys = 2};
  yw_obstacle_id id;
  assert_int_equal(yw_obstacle_create(world, &def, &id, &error), YW_OK);
  yw_shape_release(shape);
  return id;
}

static heap fill(yw_world* world) {
  heap h = {0};
  yw_error error = {0};
  h.floor = add_floor(world);
  h.wall = add_wall(world);
  for (int i = 0; i < NUM_METHOD_BODIES; ++i) {
    h.ids[i] = add_method(world, i, (yw_vec3){0.1f * (float)(i % 3), 0.22f + 0.43f * (float)i, 0});
  }
  h.pin = pin_vertex(world, h.ids[6], 0, true);
  yw_joint_def joint = yw_default_joint_def();
  joint.kind = YW_JOINT_ROPE;
  joint.ends[0].body = h.ids[4];
  joint.ends[0].point = (yw_vec3){0.1f, 2.1f, 0};
  joint.ends[1].point = (yw_vec3){0.1f, 3.0f, 0};
  if (yw_joint_create(world, &joint, &h.joint, &error) < 0) fail_msg("%s", error.message);
  yw_world_set_pair_contact(world, h.ids[0], h.ids[2], false);
  return h;
}

// What a game does between two snapshots.
static void disturb(yw_world* world, const heap* h, int what) {
  switch (what) {
    case 0:
      break;
    case 1:
      add_method(world, 1, (yw_vec3){0.5f, 1.5f, 0.2f});
      run(world, 3);
      add_method(world, 0, (yw_vec3){-0.3f, 2.5f, 0.2f});
      break;
    case 2:
      yw_body_destroy(world, h->ids[2]);
      yw_body_destroy(world, h->ids[5]);
      break;
    case 3:
      yw_body_destroy(world, h->ids[1]);
      add_method(world, 4, (yw_vec3){0.5f, 2.5f, 0});
      yw_body_destroy(world, h->ids[0]);
      yw_body_destroy(world, h->ids[6]);
      break;
    case 4:
      yw_pin_destroy(world, h->pin);
      yw_joint_destroy(world, h->joint);
      yw_obstacle_destroy(world, h->wall);
      pin_vertex(world, h->ids[0], 1, false);
      yw_world_set_pair_contact(world, h->ids[0], h->ids[1], false);
      break;
    default:
      yw_world_set_gravity(world, (yw_vec3){1, -5, 0});
      yw_obstacle_set_velocity(world, h->wall, (yw_vec3){1, 0, 0}, (yw_vec3){0, 1, 0});
      yw_body_set_surface(world, h->ids[0], 0.9f, 0.5f);
      yw_body_set_filter(world, h->ids[1], 2, 3);
      yw_wind_def wind = yw_default_wind_def();
      wind.velocity.x = 5.0f;
      yw_world_set_wind(world, &wind);
      yw_body_add_impulse(world, h->ids[0], (yw_vec3){3, 0, 0});
      yw_body_sleep(world, h->ids[4]);
      for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
        yw_body_add_force(world, yw_world_body(world, i), (yw_vec3){0, 1, 0});
      }
      break;
  }
}

// Save, 30 steps, go back, 30 steps: the same hash after every one of them.
static void worlds_go_back_whatever_happened(void** state) {
  (void)state;
  for (int contact = 0; contact < 2; ++contact) {
    yw_world* world = make_rollback_world(1, (yw_contact_kind)contact);
    assert_int_equal(yw_world_record_contacts(world, true), YW_OK);
    heap h = fill(world);
    int steps = contact == 0 ? 30 : 8;
    run(world, steps);
    snapshot s = save(world);
    uint64_t hashes[31];
    int32_t events[31];
    for (int what = -1; what < 6; ++what) {
      if (what >= 0) {
        disturb(world, &h, what);
        run(world, 5);
        restore(world, s);
      }
      if (what < 0) hashes[0] = yw_world_hash(world);
      assert_true(yw_world_hash(world) == hashes[0]);
      for (int i = 1; i <= steps; ++i) {
        run(world, 1);
        yw_contact_events e = yw_world_contact_events(world);
        int32_t num = 100 * e.num_begins + 10 * e.num_ends + e.num_impacts;
        if (what < 0) {
          hashes[i] = yw_world_hash(world);
          events[i] = num;
        }
        if (yw_world_hash(world) != hashes[i]) fail_msg("case %d, step %d: another hash", what, i);
        assert_int_equal(num, events[i]);
      }
      // Ids survive.
      for (int i = 0; i < NUM_METHOD_BODIES; ++i) assert_true(yw_body_is_valid(world, h.ids[i]));
      assert_true(yw_joint_is_valid(world, h.joint));
      assert_string_equal(yw_obstacle_name(world, h.wall), "obstacle");
      assert_int_equal(yw_pin_move(world, h.pin, (yw_vec3){0, 0, 0}, no_turn), YW_OK);
      restore(world, s);
    }
    free(s.bytes);
    yw_world_destroy(world);
  }
}

// The steps taken again hand out the same ids, also for bodies of the future that was undone.
static void replays_hand_out_the_same_ids(void** state) {
  (void)state;
  yw_world* world = make_rollback_world(1, YW_CONTACT_POINTS);
  add_floor(world);
  yw_body_id first = add_method(world, 0, (yw_vec3){0, 0.3f, 0});
  int thing = 0;
  yw_body_set_user(world, first, &thing);
  snapshot s = save(world);
  yw_body_id made[2];
  for (int k = 0; k < 2; ++k) {
    run(world, 2);
    yw_body_destroy(world, first);
    made[k] = add_method(world, 4, (yw_vec3){0, 0.5f, 0});
    assert_false(yw_body_is_valid(world, first));
    run(world, 2);
    restore(world, s);
    assert_true(yw_body_is_valid(world, first));
    assert_false(yw_body_is_valid(world, made[k]));
  }
  assert_memory_equal(&made[0], &made[1], sizeof made[0]);
  free(s.bytes);
  yw_world_destroy(world);
}

// Another world with the same models takes a snapshot over; one without a model says so.
static void other_worlds_take_over(void** state) {
  (void)state;
  yw_world *a = make_rollback_world(1, YW_CONTACT_POINTS),
           *b = make_rollback_world(2, YW_CONTACT_POINTS);
  yw_error error = {0};
  add_floor(a);
  add_floor(b);
  yw_body_id id = add_method(a, 0, (yw_vec3){0, 0.3f, 0});
  run(a, 5);
  snapshot s = save(a);
  uint64_t before = yw_world_hash(b);
  assert_int_equal(yw_world_restore(b, s.bytes, s.size, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "the model of body \"body\""));
  assert_true(yw_world_hash(b) == before);
  yw_body_id other = add_method(b, 0, (yw_vec3){3, 3, 3});
  assert_int_equal(yw_world_restore(b, s.bytes, s.size, &error), YW_OK);
  assert_true(yw_world_hash(a) == yw_world_hash(b));
  assert_true(yw_body_is_valid(b, id) && id.index1 == other.index1);
  run(a, 10);
  run(b, 10);
  assert_true(yw_world_hash(a) == yw_world_hash(b));
  // Damaged and strange bytes change nothing.
  before = yw_world_hash(b);
  ((char*)s.bytes)[s.size / 2] ^= 1;
  assert_true(yw_world_restore(b, s.bytes, s.size, &error) < 0);
  assert_true(yw_world_restore(b, s.bytes, 10, &error) < 0);
  assert_true(yw_world_restore(b, NULL, 0, NULL) < 0);
  assert_true(yw_world_restore(NULL, s.bytes, s.size, NULL) < 0);
  assert_true(yw_world_hash(b) == before);
  free(s.bytes);
  yw_world_destroy(a);
  yw_world_destroy(b);
}

// Targets are not in snapshots: the world keeps those of pins that it had.
static void pins_go_on_following(void** state) {
  (void)state;
  yw_world* world = make_rollback_world(1, YW_CONTACT_POINTS);
  yw_body_id id = add_method(world, 0, (yw_vec3){0, 1, 0});
  static const int32_t vertices[2] = {0, 3};
  yw_vec3 targets[4];
  for (int k = 0; k < 4; ++k) {
    targets[k] = yw_body_positions(world, id, NULL)[vertices[k % 2]];
    targets[k].y += k / 2 ? 0.3f : 0.0f;
  }
  yw_follow_def def = yw_default_follow_def();
  def.body = id;
  def.vertices = vertices;
  def.num_vertices = 2;
  def.targets = targets;
  def.num_frames = 2;
  def.fps = 2;
  yw_pin_id pin, late;
  assert_int_equal(yw_follow_create(world, &def, &pin, NULL), YW_OK);
  run(world, 5);
  snapshot s = save(world);
  run(world, 10);
  uint64_t expected = yw_world_hash(world);
  restore(world, s);
  assert_int_equal(yw_follow_create(world, &def, &late, NULL), YW_OK);
  run(world, 3);
  restore(world, s);
  run(world, 10);
  assert_true(yw_world_hash(world) == expected);
  assert_int_equal(yw_pin_destroy(world, pin), YW_OK);
  run(world, 3);
  restore(world, s);
  run(world, 10);
  assert_true(yw_world_hash(world) == expected);
  free(s.bytes);
  yw_world_destroy(world);
}

// Blocks of memory that adding, stepping and removing one body takes.
static int blocks_for_one_more(int bodies) {
  counted_memory memory = {.left = ENOUGH};
  yw_world_def def = yw_default_world_def();
  def.threads = 1;
  def.mem = counted_allocator(&memory);
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  add_floor(world);
  yw_model *model = method_model(0), *other = method_model(1);
  for (int i = 0; i < bodies; ++i) {
    add_body(world, model, (yw_vec3){0.5f * (float)(i % 8), 0.2f, 0.5f * (float)(i / 8)}, no_turn);
  }
  // Lists have grown to the size that they need.
  yw_body_id id = add_body(world, other, (yw_vec3){0, 2, 0}, no_turn);
  run(world, 3);
  yw_body_destroy(world, id);
  run(world, 3);
  int before = memory.calls;
  id = add_body(world, other, (yw_vec3){0, 2, 0}, no_turn);
  run(world, 3);
  yw_body_destroy(world, id);
  run(world, 3);
  int calls = memory.calls - before;
  yw_model_release(model);
  yw_model_release(other);
  yw_world_destroy(world);
  assert_int_equal(memory.alive, 0);
  return calls;
}

static void bodies_cost_their_own_size(void** state) {
  (void)state;
  int few = blocks_for_one_more(6), many = blocks_for_one_more(60);
  // Lists that double now and then; building anew would take a block or more per body.
  assert_at_most(many, few + 10);
}

// Tracks that follow a measure, of every kind of thing that they may look at, with what they
// remember, come back after they and the things are gone.
static void drives_come_back(void** state) {
  (void)state;
  static const int32_t part[3] = {0, 1, 5};
  for (int kind = 0; kind < 5; ++kind) {
    yw_world* world = make_rollback_world(1, YW_CONTACT_SURFACES);
    heap h = {.floor = add_floor(world), .wall = add_wall(world)};
    h.ids[0] = add_method(world, 0, (yw_vec3){0, 0.5f, 0});
    h.ids[1] = add_method(world, 4, (yw_vec3){0.1f, 1.1f, 0});
    yw_pin_def spring = yw_default_pin_def();
    spring.body = h.ids[0];
    spring.vertices = part;
    spring.num_vertices = 1;
    spring.stiffness = 2000.0f;
    assert_int_equal(yw_pin_create(world, &spring, &h.pin, NULL), YW_OK);
    yw_drive_def drive = yw_default_drive_def();
    drive.to = 3.0f;
    drive.smooth = 0.05f;
    drive.delay = 0.04f;
    drive.by = kind == 0 ? YW_DRIVE_SPEED : kind == 1 ? YW_DRIVE_HANDLE : YW_DRIVE_DISTANCE;
    if (kind == 0) drive.vertices = part, drive.num_vertices = 3;
    if (kind == 1) drive.pin = h.pin, drive.to = 500.0f;
    if (kind == 2) drive.other = h.ids[1];
    if (kind == 3) drive.obstacle = h.wall;
    if (kind == 4) drive.point = (yw_vec3){0.5f, 0, 1};
    yw_track_def def = yw_default_track_def();
    def.target = YW_TRACK_FRICTION;
    def.body = h.ids[0];
    yw_track_id track;
    yw_error error = {0};
    if (yw_track_create_driven(world, &def, &drive, &track, &error) < 0)
      fail_msg("%s", error.message);
    run(world, 10);
    snapshot s = save(world);
    yw_vec3 early, value, again;
    assert_int_equal(yw_track_value(world, track, &early), YW_OK);
    run(world, 10);
    assert_int_equal(yw_track_value(world, track, &value), YW_OK);
    // It does move.
    assert_true(fabsf(value.x - early.x) > 1e-4f && value.x > 0 && value.x < 1);
    uint64_t hash = yw_world_hash(world);
    yw_track_destroy(world, track);
    if (kind == 1) yw_pin_destroy(world, h.pin);
    if (kind == 2) yw_body_destroy(world, h.ids[1]);
    if (kind == 3) yw_obstacle_destroy(world, h.wall);
    run(world, 3);
    restore(world, s);
    assert_true(yw_track_is_valid(world, track));
    run(world, 10);
    assert_int_equal(yw_track_value(world, track, &again), YW_OK);
    if (yw_world_hash(world) != hash || again.x != value.x) {
      fail_msg("drive %d: %g instead of %g", kind, (double)again.x, (double)value.x);
    }
    free(s.bytes);
    yw_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(worlds_go_back_whatever_happened),
      cmocka_unit_test(replays_hand_out_the_same_ids),
      cmocka_unit_test(other_worlds_take_over),
      cmocka_unit_test(pins_go_on_following),
      cmocka_unit_test(bodies_cost_their_own_size),
      cmocka_unit_test(drives_come_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
