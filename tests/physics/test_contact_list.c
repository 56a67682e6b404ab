// SPDX-License-Identifier: MIT
// The contacts and events of a step: impulses against momentum, geometry, and when things happen.
#include "support/counted_memory.h"
#include "support/method_models.h"
#include "yawara/contact.h"
#include "yawara/extend/vec.h"

#define PLASTIC 3  // in method_bodies

static const yw_quat no_turn = {0, 0, 0, 1};

static yw_world* make_recording_world(yw_contact_kind contact, yw_vec3 gravity, int32_t threads) {
  yw_world_def def = yw_default_world_def();
  def.threads = threads;
  def.contact = contact;
  def.gravity = gravity;
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  assert_int_equal(yw_world_record_contacts(world, true), YW_OK);
  return world;
}

static void step(yw_world* world) { assert_true(yw_world_step(world, 1.0f / 60, 4, NULL) >= 0); }

// Adds all impulses on the body in the last step.
static void add_impulses(const yw_world* world, yw_body_id id, double sum[3]) {
  int32_t count;
  const yw_contact_info* contacts = yw_world_contacts(world, &count);
  for (int32_t i = 0; i < count; ++i) {
    const yw_contact_info* c = &contacts[i];
    bool first = c->bodies[0].index1 == id.index1, second = c->bodies[1].index1 == id.index1;
    double sign = (double)first - (double)second;
    yw_vec3 all = yw_mad(c->friction, c->impulse, c->normal);
    sum[0] += sign * (double)all.x;
    sum[1] += sign * (double)all.y;
    sum[2] += sign * (double)all.z;
    assert_true(c->impulse > 0.0f);
    assert_near(yw_length(c->normal), 1.0, 1e-5);
    // Where hardly anything slides, friction is the rounding of impulses.
    double tolerance = 1e-4 * (double)yw_length(c->friction) + 1e-5 * (double)c->impulse;
    assert_near(yw_dot(c->normal, c->friction), 0.0, tolerance);
  }
}

// Thrown on the floor: what the contacts gave is what the momentum changed by, beyond gravity.
static void obstacles_give_what_bodies_get(void** state) {
  (void)state;
  for (int method = 0; method < NUM_METHOD_BODIES; ++method) {
    yw_world* world = make_recording_world(YW_CONTACT_POINTS, (yw_vec3){0, -9.81f, 0}, 1);
    yw_obstacle_id floor = add_floor(world);
    yw_model* model = method_model(method);
    yw_error error = {0};
    yw_body_def def = yw_default_body_def();
    def.model = model;
    def.transform.position = (yw_vec3){0, 0.3f, 0};
    def.velocity = (yw_vec3){1, -2, 0};
    yw_body_id id;
    assert_int_equal(yw_body_create(world, &def, &id, &error), YW_OK);
    yw_model_release(model);
    yw_body_sums before, after;
    yw_body_sums_of(world, id, &before);
    double given[3] = {0};
    bool touched = false;
    const int steps = 40;
    for (int i = 0; i < steps; ++i) {
      step(world);
      add_impulses(world, id, given);
      int32_t count;
      const yw_contact_info* c = yw_world_contacts(world, &count);
      assert_true(count <= 1);
      touched = touched || count == 1;
      if (count == 0) continue;
      assert_int_equal(c->obstacle.index1, floor.index1);
      assert_int_equal(c->bodies[0].index1, id.index1);
      assert_int_equal(c->bodies[1].index1, 0);
      assert_near(c->normal.y, 1.0, 1e-4);
      assert_near(c->point.y, 0.0, 1e-3);
    }
    if (!touched) print_error("method %d: ", method);
    assert_true(touched);
    yw_body_sums_of(world, id, &after);
    double fall = before.mass * -9.81 * steps / 60.0;
    // Plastic bodies do not count all their contacts: pushes below 5 % of the weight are not seen.
    double off = method == PLASTIC ? -0.05 * fall : 5e-3 * before.mass;
    for (int k = 0; k < 3; ++k) {
      double change = after.momentum[k] - before.momentum[k] - (k == 1 ? fall : 0.0);
      if (!(fabs(given[k] - change) <= off)) print_error("method %d: ", method);
      assert_near(given[k], change, off);
    }
    yw_world_destroy(world);
  }
}

// Two boxes meet off centre, with and without restitution, in both kinds of contact.
static void bodies_give_what_they_get(void** state) {
  (void)state;
  for (int kind = 0; kind < 4; ++kind) {
    yw_world* world = make_recording_world((yw_contact_kind)(kind % 2), (yw_vec3){0, 0, 0}, 1);
    yw_model* model = method_model(0);
    yw_body_id ids[2];
    for (int i = 0; i < 2; ++i) {
      yw_error error = {0};
      yw_body_def def = yw_default_body_def();
      def.model = model;
      def.transform.position = (yw_vec3){i == 0 ? -0.25f : 0.25f, 0.1f * (float)i, 0};
      def.velocity = (yw_vec3){i == 0 ? 1.5f : -0.5f, 0, 0};
      def.restitution = kind < 2 ? 0.0f : 0.6f;
      assert_int_equal(yw_body_create(world, &def, &ids[i], &error), YW_OK);
    }
    yw_model_release(model);
    yw_body_sums before, after;
    yw_body_sums_of(world, ids[0], &before);
    double given[3] = {0}, others[3] = {0};
    int impacts = 0, begins = 0, ends = 0;
    for (int i = 0; i < 30; ++i) {
      step(world);
      add_impulses(world, ids[0], given);
      add_impulses(world, ids[1], others);
      yw_contact_events events = yw_world_contact_events(world);
      for (int32_t k = 0; k < events.num_impacts && impacts == 0; ++k) {
        assert_near(events.impacts[k].speed, 2.0, 0.1);
      }
      impacts += events.num_impacts;
      begins += events.num_begins;
      ends += events.num_ends;
    }
    yw_body_sums_of(world, ids[0], &after);
    double size = before.mass * 2.0;
    for (int k = 0; k < 3; ++k) {
      assert_near(given[k], after.momentum[k] - before.momentum[k], 2e-3 * size);
      assert_near(given[k], -others[k], 1e-9);
    }
    assert_at_least(-given[0], 0.3 * size);
    assert_at_least(impacts, 1);
    assert_true(begins >= 1 && begins == ends);
    yw_world_destroy(world);
  }
}

// A box at rest: m g dt, over the area of its bottom, at its centre; and one on top of it.
static void resting_boxes_report_their_weight(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    yw_world* world = make_recording_world((yw_contact_kind)kind, (yw_vec3){0, -9.81f, 0}, 1);
    add_floor(world);
    yw_world_set_sleep_speed(world, 0.0f);
    yw_model* model = method_model(0);
    yw_body_id low = add_body(world, model, (yw_vec3){0.3f, 0.2f, 0}, no_turn);
    yw_body_id high = add_body(world, model, (yw_vec3){0.3f, 0.605f, 0}, no_turn);
    yw_model_release(model);
    yw_body_sums sums;
    yw_body_sums_of(world, low, &sums);
    int begins = 0, ends = 0, impacts = 0;
    double impulses[2] = {0}, areas[2] = {0};
    for (int i = 0; i < 180; ++i) {
      step(world);
      yw_contact_events events = yw_world_contact_events(world);
      begins += events.num_begins;
      ends += events.num_ends;
      impacts += events.num_impacts;
      if (i < 120) continue;
      int32_t count, num_points;
      const yw_contact_info* c = yw_world_contacts(world, &count);
      const yw_contact_point* points = yw_world_contact_points(world, &num_points);
      assert_int_equal(count, 2);
      // The pair of bodies first, towards the older one.
      assert_int_equal(c[0].bodies[0].index1, low.index1);
      assert_int_equal(c[0].bodies[1].index1, high.index1);
      assert_near(c[0].normal.y, -1.0, 0.01);
      assert_near(c[0].point.y, 0.4, 0.02);
      assert_near(c[1].normal.y, 1.0, 1e-4);
      assert_near(c[1].point.x, 0.3, 0.02);
      for (int k = 0; k < 2; ++k) {
        impulses[k] += (double)c[k].impulse / 60.0;
        areas[k] += (double)c[k].area / 60.0;
        assert_true(c[k].first_point >= 0 && c[k].first_point + c[k].num_points <= num_points);
        for (int32_t p = 0; p < c[k].num_points; ++p) {
          const yw_contact_point* point = &points[c[k].first_point + p];
          assert_int_equal(point->contact, k);
          // On the top or the bottom of the lower box.
          assert_near(point->point.x, 0.3, 0.21);
          assert_near(point->point.y, k == 0 ? 0.4 : 0.0, 0.02);
          assert_near(point->point.z, 0.0, 0.21);
        }
      }
    }
    assert_near(impulses[0], sums.mass * 9.81 / 60.0, 0.03 * sums.mass * 9.81 / 60.0);
    assert_near(impulses[1], 2.0 * sums.mass * 9.81 / 60.0, 0.03 * sums.mass * 9.81 / 60.0);
    assert_near(areas[1], 0.16, 0.01);
    assert_near(areas[0], 0.16, 0.02);
    assert_int_equal(begins - ends, 2);
    assert_int_equal(impacts, 0);
    yw_world_destroy(world);
  }
}

// A box between a floor and another box that falls on it touches the floor with its bottom, or the
// middle of its lowest particles, half a spacing of 0.1 m above that.
static void points_lie_where_boxes_touch(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    for (int method = 0; method < NUM_METHOD_BODIES; ++method) {
      yw_world* world = make_recording_world((yw_contact_kind)kind, (yw_vec3){0, -9.81f, 0}, 1);
      add_floor(world);
      yw_model* model = method_model(method);
      add_body(world, model, (yw_vec3){3, 0.2f, 0}, no_turn);
      yw_body_id high = add_body(world, model, (yw_vec3){3, 0.65f, 0}, no_turn);
      yw_model_release(model);
      yw_body_sums sums;
      yw_body_sums_of(world, high, &sums);
      yw_body_add_impulse(world, high, (yw_vec3){0, -4.0f * (float)sums.mass, 0});
      for (int i = 0; i < 20; ++i) {
        step(world);
        int32_t count, num_points;
        const yw_contact_info* c = yw_world_contacts(world, &count);
        const yw_contact_point* points = yw_world_contact_points(world, &num_points);
        for (int32_t p = 0; p < num_points; ++p) {
          if (c[points[p].contact].obstacle.index1 == 0) continue;
          if (fabsf(points[p].point.x - 3.0f) > 0.4f || fabsf(points[p].point.y) > 0.06f) {
            fail_msg("%s: point at %g %g", method_bodies[method], (double)points[p].point.x,
                     (double)points[p].point.y);
          }
        }
      }
      yw_world_destroy(world);
    }
  }
}

// Falling 0.8 m takes sqrt(2 g 0.8) = 3.96 m/s; what is lifted or destroyed ends its contact.
// Of three bodies on a floor, those that are lifted and put back end and begin, and no others:
// whatever the list of contacts was before.
static void lifted_bodies_end_and_begin(void** state) {
  (void)state;
  static const int down[5][3] = {{1, 1, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
  yw_world* world = make_recording_world(YW_CONTACT_POINTS, (yw_vec3){0, -9.81f, 0}, 1);
  add_floor(world);
  yw_world_set_sleep_speed(world, 0.0f);
  yw_model* model = method_model(0);
  yw_body_id ids[3];
  yw_vec3 rest[3][27], fall[27];
  for (int b = 0; b < 3; ++b) {
    int32_t count;
    ids[b] = add_body(world, model, (yw_vec3){2.0f * (float)b, 0.2f, 0}, no_turn);
    const yw_vec3* x = yw_body_positions(world, ids[b], &count);
    assert_int_equal(count, 27);
    memcpy(rest[b], x, sizeof rest[b]);
  }
  yw_model_release(model);
  for (int i = 0; i < 27; ++i) fall[i] = (yw_vec3){0, -0.5f, 0};
  for (int k = 0; k < 5; ++k) {
    int begins = 0, ends = 0;
    for (int b = 0; b < 3; ++b) {
      yw_vec3 x[27];
      for (int i = 0; i < 27; ++i) x[i] = yw_add(rest[b][i], (yw_vec3){0, down[k][b] ? 0 : 3, 0});
      assert_int_equal(yw_body_set_state(world, ids[b], x, fall), YW_OK);
      begins += down[k][b] > (k > 0 && down[k - 1][b]);
      ends += k > 0 && down[k - 1][b] > down[k][b];
    }
    step(world);
    yw_contact_events events = yw_world_contact_events(world);
    assert_int_equal(events.num_begins, begins);
    assert_int_equal(events.num_ends, ends);
  }
  yw_world_destroy(world);
}

static void events_happen_when_they_should(void** state) {
  (void)state;
  yw_world* world = make_recording_world(YW_CONTACT_POINTS, (yw_vec3){0, -9.81f, 0}, 1);
  yw_obstacle_id floor = add_floor(world);
  yw_model* model = method_model(4);
  yw_body_id ball = add_body(world, model, (yw_vec3){0, 1.0f, 0}, no_turn);
  yw_model_release(model);
  int when = -1;
  for (int i = 0; i < 60 && when < 0; ++i) {
    step(world);
    yw_contact_events events = yw_world_contact_events(world);
    if (events.num_begins == 0) continue;
    when = i;
    assert_int_equal(events.num_begins, 1);
    assert_int_equal(events.begins[0].obstacle.index1, floor.index1);
    assert_int_equal(events.num_impacts, 1);
    assert_near(events.impacts[0].speed, sqrt(2.0 * 9.81 * 0.8), 0.05);
    assert_at_least(events.impacts[0].impulse, 1.0);
  }
  // sqrt(2 * 0.8 / g) = 0.404 s is in step 24.
  assert_int_equal(when, 24);
  for (int i = 0; i < 60; ++i) step(world);
  assert_int_equal(yw_world_contact_events(world).num_begins, 0);
  int32_t count;
  yw_world_contacts(world, &count);
  assert_int_equal(count, 1);
  // What touches is in snapshots, with where and how.
  size_t size = yw_world_snapshot_size(world), used;
  void* snapshot = malloc(size);
  assert_int_equal(yw_world_save(world, snapshot, size, &used), YW_OK);
  yw_vec3 normal = yw_world_contacts(world, &count)[0].normal;
  for (int i = 0; i < 3; ++i) step(world);
  assert_int_equal(yw_world_load(world, snapshot, used, NULL), YW_OK);
  free(snapshot);
  assert_int_equal(yw_body_destroy(world, ball), YW_OK);
  step(world);
  yw_contact_events events = yw_world_contact_events(world);
  assert_int_equal(events.num_ends, 1);
  assert_near(fabs((double)normal.y), 1.0, 1e-3);
  assert_memory_equal(&events.ends[0].normal, &normal, sizeof normal);
  assert_int_equal(events.ends[0].bodies[0].index1, ball.index1);
  assert_int_equal(events.ends[0].bodies[0].generation, ball.generation);
  step(world);
  assert_int_equal(yw_world_contact_events(world).num_ends, 0);
  yw_world_destroy(world);
}

static void fill_heap(yw_world* world) {
  add_floor(world);
  for (int i = 0; i < NUM_METHOD_BODIES; ++i) {
    yw_model* model = method_model(i);
    add_body(world, model, (yw_vec3){0.1f * (float)(i % 2), 0.3f + 0.5f * (float)i, 0}, no_turn);
    yw_model_release(model);
  }
}

// Recording changes no bit of the results, and its own do not depend on threads.
static void recording_changes_nothing(void** state) {
  (void)state;
  uint64_t hashes[3];
  int32_t counts[3];
  yw_contact_info first[3];
  for (int run = 0; run < 3; ++run) {
    yw_world* world =
        make_recording_world(YW_CONTACT_POINTS, (yw_vec3){0, -9.81f, 0}, run == 1 ? 3 : 1);
    if (run == 2) assert_int_equal(yw_world_record_contacts(world, false), YW_OK);
    fill_heap(world);
    for (int i = 0; i < 40; ++i) step(world);
    hashes[run] = yw_world_hash(world);
    const yw_contact_info* c = yw_world_contacts(world, &counts[run]);
    if (counts[run] > 0) first[run] = c[counts[run] - 1];
    yw_world_destroy(world);
  }
  assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
  assert_at_least(counts[0], 2);
  assert_int_equal(counts[0], counts[1]);
  assert_int_equal(counts[2], 0);
  assert_memory_equal(&first[0].point, &first[1].point, sizeof first[0].point);
  assert_true(first[0].impulse == first[1].impulse);
}

static void recording_uses_no_heap_after_a_while(void** state) {
  (void)state;
  counted_memory memory = {.left = ENOUGH};
  yw_world_def def = yw_default_world_def();
  def.threads = 1;
  def.mem = counted_allocator(&memory);
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  assert_int_equal(yw_world_record_contacts(world, true), YW_OK);
  add_floor(world);
  yw_model* model = method_model(0);
  for (int i = 0; i < 3; ++i) {
    add_body(world, model, (yw_vec3){0, 0.2f + 0.41f * (float)i, 0}, no_turn);
  }
  yw_model_release(model);
  for (int i = 0; i < 120; ++i) step(world);
  int before = memory.calls;
  for (int i = 0; i < 10; ++i) step(world);
  assert_int_equal(memory.calls, before);
  yw_world_destroy(world);
  assert_int_equal(memory.alive, 0);
}

// Held by a pin and by the floor: only the sum is known.
static void pinned_bodies_have_no_impulse(void** state) {
  (void)state;
  yw_world* world = make_recording_world(YW_CONTACT_POINTS, (yw_vec3){0, -9.81f, 0}, 1);
  add_floor(world);
  yw_model* model = method_model(0);
  yw_body_id id = add_body(world, model, (yw_vec3){0, 0.2f, 0}, no_turn);
  yw_model_release(model);
  pin_vertex(world, id, 0, false);
  for (int i = 0; i < 20; ++i) step(world);
  int32_t count;
  const yw_contact_info* c = yw_world_contacts(world, &count);
  assert_int_equal(count, 1);
  assert_true(isnan(c[0].impulse));
  yw_world_destroy(world);
}

static void bad_arguments_are_refused(void** state) {
  (void)state;
  int32_t count = 7;
  assert_null(yw_world_contacts(NULL, &count));
  assert_int_equal(count, 0);
  assert_null(yw_world_contact_points(NULL, NULL));
  assert_int_equal(yw_world_contact_events(NULL).num_begins, 0);
  assert_int_equal(yw_world_record_contacts(NULL, true), YW_ERR_INVALID);
  yw_world* world = make_weightless_world(1);
  assert_int_equal(yw_world_set_impact_speed(world, NAN), YW_ERR_INVALID);
  assert_int_equal(yw_world_set_impact_speed(world, -1.0f), YW_ERR_INVALID);
  assert_int_equal(yw_world_set_impact_speed(world, 0.5f), YW_OK);
  assert_null(yw_world_contacts(world, &count));
  yw_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(obstacles_give_what_bodies_get),
      cmocka_unit_test(bodies_give_what_they_get),
      cmocka_unit_test(resting_boxes_report_their_weight),
      cmocka_unit_test(points_lie_where_boxes_touch),
      cmocka_unit_test(lifted_bodies_end_and_begin),
      cmocka_unit_test(events_happen_when_they_should),
      cmocka_unit_test(recording_changes_nothing),
      cmocka_unit_test(recording_uses_no_heap_after_a_while),
      cmocka_unit_test(pinned_bodies_have_no_impulse),
      cmocka_unit_test(bad_arguments_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
