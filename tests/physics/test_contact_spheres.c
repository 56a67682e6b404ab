// SPDX-License-Identifier: MIT
// Bodies of spheres in a world: collisions with known results, momentum, piles, slopes.
#include "support/grains.h"
#include "support/world_fixture.h"

#define H (1.0f / 240.0f)
static const yw_quat upright = {0, 0, 0, 1};

typedef struct ball_def {
  yw_vec3 velocity;
  float radius, mass, friction, restitution;
  bool self_contact;
} ball_def;

static yw_body_id add_balls(yw_world* world, int32_t count, const yw_vec3* centers,
                            const ball_def* b) {
  yw_model* model = make_grains(&grain_method, count, count, centers, b->radius, b->mass, 0);
  yw_error error = {0};
  yw_body_def def = yw_default_body_def();
  def.model = model;
  def.velocity = b->velocity;
  def.friction = b->friction;
  def.restitution = b->restitution;
  def.self_contact = b->self_contact;
  yw_body_id id;
  assert_int_equal(yw_body_create(world, &def, &id, &error), YW_OK);
  yw_model_release(model);
  return id;
}

// Of the worlds that are made: each case runs with both.
static yw_contact_kind contact;
static int with_points(void** state) {
  (void)state;
  contact = YW_CONTACT_POINTS;
  return 0;
}
static int with_surfaces(void** state) {
  (void)state;
  contact = YW_CONTACT_SURFACES;
  return 0;
}

static yw_world* make_space(yw_vec3 gravity, int32_t threads) {
  yw_world_def def = yw_default_world_def();
  def.gravity = gravity;
  def.threads = threads;
  def.contact = contact;
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  return world;
}

static void run(yw_world* world, int32_t steps) {
  for (int32_t i = 0; i < steps; ++i) assert_int_equal(yw_world_step(world, H, 1, NULL), YW_OK);
}

static void add_wall(yw_world* world, yw_vec3 normal, float offset) {
  yw_obstacle_def def = yw_default_obstacle_def();
  assert_int_equal(yw_shape_plane(NULL, normal, offset, &def.shape), YW_OK);
  yw_obstacle_id id;
  assert_int_equal(yw_obstacle_create(world, &def, &id, NULL), YW_OK);
  yw_shape_release(def.shape);
}

// With a floor.
static yw_world* make_ground(int32_t threads) {
  yw_world* world = make_space((yw_vec3){0, -9.81f, 0}, threads);
  add_wall(world, (yw_vec3){0, 1, 0}, 0);
  return world;
}

// Momenta of all bodies about the origin, and the scales for their errors.
typedef struct momenta {
  double linear[3], angular[3];
  double linear_size, angular_size;
} momenta;

static momenta momenta_of(const yw_world* world) {
  momenta m = {0};
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_id id = yw_world_body(world, i);
    yw_body_sums s;
    assert_int_equal(yw_body_sums_of(world, id, &s), YW_OK);
    const double *c = s.center, *p = s.momentum;
    for (int k = 0; k < 3; ++k) m.linear[k] += p[k];
    m.angular[0] += s.angular_momentum[0] + c[1] * p[2] - c[2] * p[1];
    m.angular[1] += s.angular_momentum[1] + c[2] * p[0] - c[0] * p[2];
    m.angular[2] += s.angular_momentum[2] + c[0] * p[1] - c[1] * p[0];
    double speed = sqrt(2 * s.kinetic_energy / s.mass);
    m.linear_size += s.mass * speed;
    m.angular_size += s.mass * speed;
  }
  return m;
}

// Two balls of 1 and 3 kg, head-on: textbook collision.
static void head_on_collisions_are_exact(void** state) {
  (void)state;
  const float restitutions[3] = {0.0f, 0.5f, 1.0f};
  for (int k = 0; k < 3; ++k) {
    yw_world* world = make_space((yw_vec3){0, 0, 0}, 1);
    float e = restitutions[k];
    yw_body_id a = add_balls(world, 1, &(yw_vec3){-0.5f, 0, 0},
                             &(ball_def){{3, 0, 0}, 0.1f, 1, 0.4f, e, false});
    yw_body_id b = add_balls(world, 1, &(yw_vec3){0.5f, 0, 0},
                             &(ball_def){{-1, 0, 0}, 0.1f, 3, 0.4f, e, false});
    run(world, 120);
    // The centre of mass is at rest; velocities are reversed and scaled by e.
    assert_near(yw_body_velocities(world, a, NULL)[0].x, -3 * e, 1e-5);
    assert_near(yw_body_velocities(world, b, NULL)[0].x, 1 * e, 1e-5);
    // They met at t = 0.2 s at x = 0.1 (a) and 0.3 (b); the distance travelled since is exact up to
    // the skin.
    assert_near(yw_body_positions(world, a, NULL)[0].x, 0.1 - 3 * e * 0.3, 2e-3 + 4 * e * H);
    assert_near(yw_body_positions(world, b, NULL)[0].x, 0.3 + 1 * e * 0.3, 2e-3 + 4 * e * H);
    yw_world_destroy(world);
  }
}

// Spheres of one body bounce individually: the others stay at rest.
static void loose_balls_bounce_alone(void** state) {
  (void)state;
  yw_world* world = make_space((yw_vec3){0, 0, 0}, 1);
  const yw_vec3 targets[3] = {{0, 0, 0}, {0, 5, 0}, {0, -5, 0}};
  yw_body_id rest = add_balls(world, 3, targets, &(ball_def){{0, 0, 0}, 0.1f, 1, 0, 1, false});
  yw_body_id shot =
      add_balls(world, 1, &(yw_vec3){-1, 0, 0}, &(ball_def){{4, 0, 0}, 0.1f, 1, 0, 1, false});
  run(world, 120);
  const yw_vec3* v = yw_body_velocities(world, rest, NULL);
  assert_near(v[0].x, 4, 1e-5);
  assert_near(v[1].x, 0, 0);
  assert_near(v[2].x, 0, 0);
  assert_near(yw_body_velocities(world, shot, NULL)[0].x, 0, 1e-5);
  yw_world_destroy(world);
}

// A collapsing cloud, with friction: both momenta are conserved.
static void a_collapsing_cloud_keeps_its_momenta(void** state) {
  (void)state;
  enum { COUNT = 400 };
  yw_vec3 centers[COUNT], speeds[COUNT];
  test_random random = {5};
  for (int i = 0; i < COUNT; ++i) {
    yw_vec3 p = {0, 0, 0};
    // A jittered grid, so that none overlap initially.
    p.x = 0.25f * (float)(i % 8) - 0.875f + (float)test_random_in(&random, -0.02, 0.02);
    p.y = 0.25f * (float)(i / 8 % 8) - 0.875f + (float)test_random_in(&random, -0.02, 0.02);
    p.z = 0.25f * (float)(i / 64) - 0.875f + (float)test_random_in(&random, -0.02, 0.02);
    centers[i] = p;
    speeds[i] = yw_add(yw_scale(p, -2.0f), yw_cross(yw_v3(0.5f, 1.5f, 0.2f), p));
  }
  yw_world* world = make_space((yw_vec3){0, 0, 0}, 2);
  yw_body_id cloud =
      add_balls(world, COUNT, centers, &(ball_def){{0, 0, 0}, 0.1f, 1, 0.5f, 0.2f, true});
  assert_int_equal(yw_body_set_state(world, cloud, centers, speeds), YW_OK);
  // And a soft box that part of it hits.
  yw_model* model = make_box_model(3, 6, 3, 0);
  add_body(world, model, (yw_vec3){1.6f, 0, 0}, upright);
  yw_model_release(model);
  momenta start = momenta_of(world);
  yw_step_report report;
  int32_t most = 0;
  double linear = 0, angular = 0;
  for (int step = 0; step < 120; ++step) {
    momenta before = momenta_of(world);
    assert_int_equal(yw_world_step(world, H, 1, &report), YW_OK);
    momenta after = momenta_of(world);
    most = report.body_contacts > most ? report.body_contacts : most;
    for (int k = 0; k < 3; ++k) {
      linear = fmax(linear, fabs(after.linear[k] - before.linear[k]) / start.linear_size);
      angular = fmax(angular, fabs(after.angular[k] - before.angular[k]) / start.angular_size);
    }
  }
  print_message("           up to %d contacts, per step: momentum %.1e, angular %.1e\n", most,
                linear, angular);
  assert_true(most > 300);
  assert_at_most(linear, 1e-6);
  assert_at_most(angular, 1e-6);
  yw_world_destroy(world);
}

// A heap on a floor with walls: no penetration, and it comes to rest.
static void a_heap_comes_to_rest(void** state) {
  (void)state;
  enum { SIDE = 6, COUNT = SIDE * SIDE * SIDE };
  yw_vec3 centers[COUNT];
  test_random random = {9};
  for (int i = 0; i < COUNT; ++i) {
    float a = (float)test_random_in(&random, 0, 0.01), b = (float)test_random_in(&random, 0, 0.01);
    centers[i] = yw_v3(0.11f * (float)(i % SIDE) + a, 0.06f + 0.11f * (float)(i / SIDE % SIDE),
                       0.11f * (float)(i / SIDE / SIDE) + b);
  }
  yw_world* world = make_ground(1);
  yw_body_id heap =
      add_balls(world, COUNT, centers, &(ball_def){{0, 0, 0}, 0.05f, 0.5f, 0.6f, 0, true});
  run(world, 960);
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, heap, &count);
  float deepest = 0, lowest = 1;
  for (int i = 0; i < count; ++i) {
    lowest = fminf(lowest, x[i].y);
    for (int j = 0; j < i; ++j) deepest = fmaxf(deepest, 0.1f - yw_distance(x[i], x[j]));
    centers[i] = x[i];
  }
  double fastest = 0, moved = 0;
  for (int step = 0; step < 240; ++step) {
    run(world, 1);
    const yw_vec3* v = yw_body_velocities(world, heap, NULL);
    for (int i = 0; i < count; ++i) fastest = fmax(fastest, (double)yw_length(v[i]));
  }
  x = yw_body_positions(world, heap, NULL);
  for (int i = 0; i < count; ++i) moved = fmax(moved, (double)yw_distance(x[i], centers[i]));
  print_message("           depth %.4f, speed %.4f m/s, moved %.5f m in 1 s\n", (double)deepest,
                fastest, moved);
  assert_at_least(lowest, 0.0495);
  assert_at_most(deepest, 0.005);
  assert_at_most(fastest, 0.02);
  assert_at_most(moved, 0.004);
  yw_world_destroy(world);
}

// On a slope of 20 degrees: mu = 0.5 holds, mu = 0.2 slides with g (sin a - mu cos a).
static void balls_on_a_slope_obey_coulomb(void** state) {
  (void)state;
  const double angle = 20.0 * 3.14159265358979 / 180.0;
  for (int k = 0; k < 2; ++k) {
    float mu = k == 0 ? 0.5f : 0.2f;
    yw_world* world = make_space((yw_vec3){0, -9.81f, 0}, 1);
    yw_vec3 n = {(float)sin(angle), (float)cos(angle), 0};
    yw_error error = {0};
    yw_obstacle_def def = yw_default_obstacle_def();
    assert_int_equal(yw_shape_plane(NULL, n, 0, &def.shape), YW_OK);
    def.friction = mu;
    yw_obstacle_id obstacle;
    assert_int_equal(yw_obstacle_create(world, &def, &obstacle, &error), YW_OK);
    yw_shape_release(def.shape);
    yw_vec3 start = yw_scale(n, 0.1f);
    yw_body_id ball = add_balls(world, 1, &start, &(ball_def){{0, 0, 0}, 0.1f, 1, mu, 0, false});
    run(world, 240);
    yw_vec3 way = yw_sub(yw_body_positions(world, ball, NULL)[0], start);
    double expected = k == 0 ? 0.0 : 0.5 * 9.81 * (sin(angle) - (double)mu * cos(angle));
    assert_near(yw_length(way), expected, k == 0 ? 1e-5 : 0.01 * expected);
    assert_near(yw_dot(way, n), 0, 1e-4);
    yw_world_destroy(world);
  }
}

// Two thin rods that cross at 20 m/s: in one step each moves eight times its thickness.
static void fast_thin_rods_do_not_pass_each_other(void** state) {
  (void)state;
  enum { COUNT = 41 };
  yw_vec3 along_x[COUNT], along_z[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    float s = 0.0075f * (float)(i - COUNT / 2);
    along_x[i] = yw_v3(s, 0.31f, 0.001f);
    along_z[i] = yw_v3(0.002f, 0, s);
  }
  yw_world* world = make_space((yw_vec3){0, 0, 0}, 1);
  yw_body_id upper =
      add_balls(world, COUNT, along_x, &(ball_def){{0, -10, 0}, 0.005f, 0.01f, 0.3f, 0, false});
  yw_body_id lower =
      add_balls(world, COUNT, along_z, &(ball_def){{0, 10, 0}, 0.005f, 0.01f, 0.3f, 0, false});
  float nearest = INFINITY;
  for (int step = 0; step < 6; ++step) {
    run(world, 1);
    const yw_vec3 *x = yw_body_positions(world, upper, NULL),
                  *y = yw_body_positions(world, lower, NULL);
    for (int i = 0; i < COUNT * COUNT; ++i) {
      nearest = fminf(nearest, yw_distance(x[i / COUNT], y[i % COUNT]));
    }
  }
  // The spheres that met were stopped, or slid off each other; the others fly on.
  const yw_vec3 *v = yw_body_velocities(world, upper, NULL),
                *w = yw_body_velocities(world, lower, NULL);
  assert_at_least(nearest, 0.0099);
  assert_at_least(v[COUNT / 2].y - w[COUNT / 2].y, -1.0);
  assert_near(v[0].y, -10, 0.02);
  yw_world_destroy(world);
}

// Spheres poured into a bin, eight deep.
static void a_bin_of_balls_comes_to_rest(void** state) {
  (void)state;
  const int32_t side = 6, layers = 8, count = side * side * layers;
  yw_vec3* centers = malloc(sizeof *centers * (size_t)count);
  test_random random = {3};
  for (int32_t i = 0; i < count; ++i) {
    float a = (float)test_random_in(&random, 0, 0.01), b = (float)test_random_in(&random, 0, 0.01);
    centers[i] =
        yw_v3(0.115f * (float)(i % side) + 0.06f + a, 0.06f + 0.11f * (float)(i / side / side),
              0.115f * (float)(i / side % side) + 0.06f + b);
  }
  yw_world* world = make_ground(1);
  const yw_vec3 walls[4] = {{1, 0, 0}, {-1, 0, 0}, {0, 0, 1}, {0, 0, -1}};
  for (int k = 0; k < 4; ++k) add_wall(world, walls[k], k & 1 ? -0.72f : 0.0f);
  yw_body_id id =
      add_balls(world, count, centers, &(ball_def){{0, 0, 0}, 0.05f, 0.5f, 0.3f, 0, true});
  run(world, 960);
  const yw_vec3 *x = yw_body_positions(world, id, NULL), *v = yw_body_velocities(world, id, NULL);
  double energy = 0, deepest = 0;
  for (int32_t i = 0; i < count; ++i) {
    energy += (double)yw_length2(v[i]);
    assert_true(x[i].x > 0.045f && x[i].x < 0.675f && x[i].y > 0.045f && x[i].z > 0.045f);
    for (int32_t j = 0; j < i; ++j) deepest = fmax(deepest, 0.1 - (double)yw_distance(x[i], x[j]));
  }
  print_message("           %d balls: rms speed %.4f m/s, depth %.4f m\n", count,
                sqrt(energy / count), deepest);
  assert_at_most(sqrt(energy / count), 0.01);
  assert_at_most(deepest, 0.004);
  free(centers);
  yw_world_destroy(world);
}

// Results depend neither on threads nor on resuming.
static void heaps_have_the_same_bits(void** state) {
  (void)state;
  enum { COUNT = 3000 };
  yw_vec3* centers = malloc(sizeof *centers * COUNT);
  for (int i = 0; i < COUNT; ++i) {
    centers[i] = yw_v3(0.1f * (float)(i % 15) + 0.001f * (float)(i % 7), 0.1f * (float)(i / 225),
                       0.1f * (float)(i / 15 % 15) + 0.001f * (float)(i % 11));
  }
  uint64_t hashes[3];
  void* bytes = NULL;
  size_t size = 0;
  for (int k = 0; k < 3; ++k) {
    yw_world* world = make_ground(k == 1 ? 3 : 1);
    add_balls(world, COUNT, centers, &(ball_def){{0, 0, 0}, 0.055f, 0.5f, 0.6f, 0.3f, true});
    yw_model* model = make_box_model(2, 4, 2, 0);
    add_body(world, model, (yw_vec3){0.7f, 2.2f, 0.7f}, upright);
    yw_model_release(model);
    yw_error error = {0};
    if (k < 2) run(world, 10);
    if (k == 0) {
      size = yw_world_snapshot_size(world);
      bytes = malloc(size);
      assert_int_equal(yw_world_save(world, bytes, size, NULL), YW_OK);
    } else if (k == 2) {
      assert_int_equal(yw_world_load(world, bytes, size, &error), YW_OK);
    }
    run(world, 10);
    hashes[k] = yw_world_hash(world);
    yw_world_destroy(world);
  }
  assert_int_equal(hashes[0], hashes[1]);
  assert_int_equal(hashes[0], hashes[2]);
  free(bytes);
  free(centers);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(head_on_collisions_are_exact, with_points),
      cmocka_unit_test_setup(head_on_collisions_are_exact, with_surfaces),
      cmocka_unit_test_setup(loose_balls_bounce_alone, with_points),
      cmocka_unit_test_setup(loose_balls_bounce_alone, with_surfaces),
      cmocka_unit_test_setup(a_collapsing_cloud_keeps_its_momenta, with_points),
      cmocka_unit_test_setup(a_collapsing_cloud_keeps_its_momenta, with_surfaces),
      cmocka_unit_test_setup(a_heap_comes_to_rest, with_points),
      cmocka_unit_test_setup(a_heap_comes_to_rest, with_surfaces),
      cmocka_unit_test_setup(a_bin_of_balls_comes_to_rest, with_points),
      cmocka_unit_test_setup(a_bin_of_balls_comes_to_rest, with_surfaces),
      cmocka_unit_test_setup(balls_on_a_slope_obey_coulomb, with_points),
      cmocka_unit_test_setup(balls_on_a_slope_obey_coulomb, with_surfaces),
      cmocka_unit_test_setup(fast_thin_rods_do_not_pass_each_other, with_points),
      cmocka_unit_test_setup(fast_thin_rods_do_not_pass_each_other, with_surfaces),
      cmocka_unit_test_setup(heaps_have_the_same_bits, with_points),
      cmocka_unit_test_setup(heaps_have_the_same_bits, with_surfaces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
