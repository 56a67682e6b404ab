// SPDX-License-Identifier: MIT
// Queries of obstacles against formulas: a ball and a box that are turned and scaled, and a sheet
// of triangles with a thickness.
#include "support/random_points.h"
#include "support/world_fixture.h"
#include "yawara/extend/vec.h"
#include "yawara/mesh_obstacle.h"

#define BALL_RADIUS 0.8  // m, scale included
#define SHEET_THICKNESS 0.2
static const yw_vec3 ball_at = {-2, 0.3f, 0.1f}, box_at = {2, 0, 0}, sheet_at = {0, -3, 0};
static const yw_vec3 box_half = {0.6f, 0.3f, 0.9f};  // m, scale included
static const yw_quat box_turn = {0.2f, 0.4f, -0.1f, 0.8888194f};

typedef enum thing { BALL, BOX, SHEET, NUM_THINGS } thing;

// Near one thing after the other.
static yw_vec3 point_near(test_random* random, int i, double range) {
  const yw_vec3 at[NUM_THINGS] = {ball_at, box_at, sheet_at};
  return yw_add(at[i % NUM_THINGS], random_point(random, range));
}

static void add(yw_world* world, yw_shape* shape, yw_transform place) {
  yw_obstacle_def def = yw_default_obstacle_def();
  def.shape = shape;
  def.transform = place;
  yw_obstacle_id id;
  assert_int_equal(yw_obstacle_create(world, &def, &id, NULL), YW_OK);
  yw_shape_release(shape);
}

// 2 m x 2 m in x and z.
static void add_sheet(yw_world* world) {
  const yw_vec3 points[4] = {{-1, 0, -1}, {1, 0, -1}, {-1, 0, 1}, {1, 0, 1}};
  const int32_t triangles[6] = {0, 2, 1, 1, 2, 3};
  yw_mesh_obstacle_def def = yw_default_mesh_obstacle_def();
  def.obstacle.transform.position = sheet_at;
  def.triangles = triangles;
  def.num_triangles = 2;
  def.animation.points = points;
  def.animation.num_points = 4;
  def.animation.num_frames = 1;
  def.thickness = SHEET_THICKNESS;
  yw_obstacle_id id;
  yw_error error = {0};
  if (yw_mesh_obstacle_create(world, &def, &id, &error) < 0) fail_msg("%s", error.message);
}

static yw_world* make_things(void) {
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_shape *ball = NULL, *box = NULL;
  assert_int_equal(yw_shape_sphere(NULL, (float)BALL_RADIUS / 2, &ball), YW_OK);
  assert_int_equal(yw_shape_box(NULL, yw_scale(box_half, 2.0f), &box), YW_OK);
  add(world, ball, (yw_transform){ball_at, {0, 0.6f, 0, 0.8f}, 2.0f});
  add(world, box, (yw_transform){box_at, box_turn, 0.5f});
  add_sheet(world);
  return world;
}

// Signed distance of a box without rounding, of half-sizes h about the origin.
static double box_distance(yw_vec3 p, yw_vec3 h) {
  double q[3] = {fabs((double)p.x) - (double)h.x, fabs((double)p.y) - (double)h.y,
                 fabs((double)p.z) - (double)h.z};
  double out = 0, in = fmax(q[0], fmax(q[1], q[2]));
  for (int k = 0; k < 3; ++k) out += fmax(q[k], 0) * fmax(q[k], 0);
  return in > 0 ? sqrt(out) : in;
}

static double distance_to(thing what, yw_vec3 p) {
  if (what == BALL) return (double)yw_distance(p, ball_at) - BALL_RADIUS;
  if (what == BOX) {
    return box_distance(yw_rotate(yw_quat_conjugate(box_turn), yw_sub(p, box_at)), box_half);
  }
  return box_distance(yw_sub(p, sheet_at), (yw_vec3){1, 0, 1}) - 0.5 * SHEET_THICKNESS;
}

static double nearest_of(yw_vec3 p, thing* which) {
  double best = INFINITY;
  for (thing what = BALL; what < NUM_THINGS; ++what) {
    double d = distance_to(what, p);
    if (d < best) best = d, *which = what;
  }
  return best;
}

// Where a ball on its way first touches something, or -1.
static double march(yw_vec3 from, yw_vec3 way, double radius, thing* which) {
  double length = (double)yw_length(way), done = 0;
  while (done <= length) {
    double gap = nearest_of(yw_mad(from, (float)(done / length), way), which) - radius;
    if (gap < 1e-5) return done;
    done += gap;
  }
  return -1;
}

static void nearest_points_are_those_of_formulas(void** state) {
  (void)state;
  test_random random = {3};
  yw_world* world = make_things();
  int seen[NUM_THINGS] = {0}, inside = 0;
  for (int i = 0; i < 600; ++i) {
    yw_vec3 p = random_point(&random, 3.2);
    thing which = BALL;
    double expected = nearest_of(p, &which);
    yw_hit hit = {0};
    // One that is too far away is not told.
    float most = i % 2 ? 1.0f : INFINITY;
    int32_t count = yw_world_nearest(world, p, most, NULL, &hit);
    assert_int_equal(count, expected <= (double)most);
    if (count == 0) continue;
    ++seen[which];
    inside += hit.inside;
    assert_near(hit.distance, expected, 2e-5);
    assert_int_equal(hit.obstacle.index1, which + 1);
    assert_int_equal(hit.body.index1, 0);
    assert_int_equal(hit.triangle, -1);
    assert_int_equal(hit.num_vertices, 0);
    assert_int_equal(hit.inside, expected < 0);
    // The point lies on the surface, and the normal leads from there to p.
    assert_near(distance_to(which, hit.point), 0, 2e-4);
    assert_near(yw_distance(p, yw_mad(hit.point, hit.distance, hit.normal)), 0, 2e-5);
  }
  for (int k = 0; k < NUM_THINGS; ++k) assert_true(seen[k] > 50);
  assert_true(inside > 8);
  yw_world_destroy(world);
}

static void casts_stop_at_surfaces(void** state) {
  (void)state;
  test_random random = {5};
  yw_world* world = make_things();
  int seen[NUM_THINGS] = {0}, missed = 0, begun_inside = 0;
  for (int i = 0; i < 600; ++i) {
    yw_vec3 from = i % 50 ? random_point(&random, 4.0) : point_near(&random, i, 0.3);
    yw_vec3 way = yw_sub(point_near(&random, i, 1.5), from);
    float radius = i % 2 == 0 ? 0.15f : 0.0f;
    thing which = BALL;
    double expected = march(from, way, (double)radius, &which);
    yw_hit hit = {0};
    int32_t count = yw_world_cast_ball(world, from, radius, way, NULL, &hit);
    assert_int_equal(count, expected >= 0);
    missed += count == 0;
    if (count == 0) continue;
    ++seen[which];
    begun_inside += hit.inside;
    assert_int_equal(hit.inside, expected <= 0);
    assert_int_equal(hit.obstacle.index1, which + 1);
    // The formula stops 1e-5 m before the surface, which counts for grazing ways.
    assert_near(hit.distance, expected, 1e-3);
    yw_vec3 end = yw_mad(from, hit.distance / yw_length(way), way);
    if (hit.inside) {
      assert_near(hit.distance, 0, 0);
      if (radius <= 0.0f) assert_near(yw_distance(hit.point, from), 0, 0);
    } else {
      assert_near(yw_distance(end, hit.point), radius, 1e-4);
      assert_near(yw_length(hit.normal), 1, 1e-5);
      assert_true(yw_dot(hit.normal, way) < 1e-3f * yw_length(way));
    }
  }
  for (int k = 0; k < NUM_THINGS; ++k) assert_true(seen[k] > 30);
  assert_true(missed > 100 && begun_inside > 5);
  // Those that begin inside may be left out, and a way that ends before the surface meets nothing.
  yw_query_filter filter = yw_default_query_filter();
  filter.skip_inside = true;
  yw_hit hit;
  const yw_vec3 right = {1, 0, 0};
  assert_int_equal(yw_world_cast_ray(world, ball_at, right, NULL, &hit), 1);
  assert_int_equal(yw_world_cast_ray(world, ball_at, right, &filter, &hit), 0);
  const yw_vec3 before = {-4, 0.3f, 0.1f};
  assert_int_equal(yw_world_cast_ray(world, before, yw_scale(right, 1.19f), NULL, &hit), 0);
  assert_int_equal(yw_world_cast_ray(world, before, yw_scale(right, 1.21f), NULL, &hit), 1);
  assert_near(hit.distance, 1.2, 1e-5);
  yw_world_destroy(world);
}

// A box sampled densely decides whether it meets a convex obstacle.
static void boxes_meet_obstacles(void** state) {
  (void)state;
  test_random random = {7};
  yw_world* world = make_things();
  const yw_vec3 half = {0.5f, 0.2f, 0.3f};
  int found = 0, none = 0;
  for (int i = 0; i < 200; ++i) {
    yw_vec3 center = point_near(&random, i, 1.3), axis = random_point(&random, 1.0);
    yw_quat turn = yw_quat_normalize((yw_quat){axis.x, axis.y, axis.z, 0.5f});
    double least[NUM_THINGS] = {INFINITY, INFINITY, INFINITY};
    for (int s = 0; s < 1331; ++s) {
      yw_vec3 q = {half.x * ((float)(s % 11) / 5 - 1), half.y * ((float)(s / 11 % 11) / 5 - 1),
                   half.z * ((float)(s / 121) / 5 - 1)};
      yw_vec3 p = yw_add(center, yw_rotate(turn, q));
      for (thing what = BALL; what < NUM_THINGS; ++what) {
        least[what] = fmin(least[what], distance_to(what, p));
      }
    }
    yw_hit hits[NUM_THINGS];
    int32_t count = yw_world_overlap_box(world, center, half, turn, NULL, hits, NUM_THINGS);
    bool listed[NUM_THINGS] = {false};
    for (int32_t k = 0; k < count; ++k) {
      thing what = (thing)(hits[k].obstacle.index1 - 1);
      listed[what] = true;
      assert_near(hits[k].distance, distance_to(what, center), 2e-5);
    }
    for (thing what = BALL; what < NUM_THINGS; ++what) {
      // Places between samples are at most 0.06 m from one.
      if (least[what] <= 0) assert_true(listed[what]);
      if (least[what] > 0.062) assert_false(listed[what]);
      found += least[what] <= 0;
      none += least[what] > 0.062;
    }
  }
  assert_true(found > 20 && none > 100);
  yw_world_destroy(world);
}

// What touches in a single point meets, too: exactly, with numbers that have no rounding.
static void touching_is_meeting(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_shape* ball = NULL;
  assert_int_equal(yw_shape_sphere(NULL, 1.0f, &ball), YW_OK);
  add(world, ball, (yw_transform){{0, 0, 0}, {0, 0, 0, 1}, 1.0f});
  const yw_vec3 half = {0.5f, 0.5f, 0.5f};
  yw_hit hit;
  for (int i = 0; i < 3; ++i) {
    yw_vec3 center = {i == 0 ? 1.5f : 0, i == 1 ? 1.5f : 0, i == 2 ? 1.5f : 0};
    assert_int_equal(
        yw_world_overlap_box(world, center, half, (yw_quat){0, 0, 0, 1}, NULL, &hit, 1), 1);
    center = yw_scale(center, 1.01f);
    assert_int_equal(
        yw_world_overlap_box(world, center, half, (yw_quat){0, 0, 0, 1}, NULL, &hit, 1), 0);
  }
  // No distance is a distance: a point inside is found.
  assert_int_equal(yw_world_nearest(world, (yw_vec3){0.5f, 0, 0}, 0.0f, NULL, &hit), 1);
  assert_int_equal(yw_world_nearest(world, (yw_vec3){1.5f, 0, 0}, 0.0f, NULL, &hit), 0);
  yw_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nearest_points_are_those_of_formulas),
      cmocka_unit_test(casts_stop_at_surfaces),
      cmocka_unit_test(boxes_meet_obstacles),
      cmocka_unit_test(touching_is_meeting),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
