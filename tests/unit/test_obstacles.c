// SPDX-License-Identifier: MIT
// Particles against obstacles: each test states one law and its number.
#include "contact/obstacles.h"

#include "math/small/trig.h"
#include "support/testing.h"
#include "yawara/extend/tasks.h"
#include "yawara/extend/timer.h"

#define H (1.0f / 240.0f)
static const yw_vec3 GRAVITY = {0.0f, -9.81f, 0.0f};
#define NO_LIMITS ((yw_aabb){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}})

// A few free particles and their obstacles.
typedef struct bench {
  yw_particles particles;
  yw_vec4* old_pos;
  yw_obstacle obstacles[4];
  yw_obstacle_set set;
  yw_method_report report;
  yw_step_ctx ctx;
} bench;

static bench* bench_create(int32_t count) {
  bench* b = calloc(1, sizeof *b);
  assert_true(yw_particles_create(NULL, count, &b->particles));
  b->old_pos = aligned_alloc(64, (size_t)b->particles.capacity * sizeof(yw_vec4));
  for (int32_t i = 0; i < count; ++i) b->particles.mass[i] = b->particles.inv_mass[i] = 1.0f;
  b->set = (yw_obstacle_set){.items = b->obstacles, .h = H, .gravity = GRAVITY};
  b->ctx = (yw_step_ctx){.h = H, .gravity = GRAVITY, .obstacles = &b->set, .report = &b->report};
  b->ctx.simd = yw_simd_resolve(YW_SIMD_AUTO);
  return b;
}

static void bench_destroy(bench* b) {
  for (int32_t i = 0; i < b->set.count; ++i) yw_shape_release((yw_shape*)b->obstacles[i].shape);
  yw_particles_free(NULL, &b->particles);
  free(b->old_pos);
  free(b);
}

// Takes ownership of the shape.
static yw_obstacle* add_obstacle(bench* b, yw_shape* shape, yw_transform pose) {
  yw_obstacle* obstacle = &b->obstacles[b->set.count++];
  *obstacle = (yw_obstacle){.shape = shape, .begin = pose, .end = pose};
  obstacle->bounds = yw_obstacle_bounds(shape, pose, pose);
  return obstacle;
}

static yw_obstacle* add_floor(bench* b, yw_vec3 normal) {
  yw_shape* plane;
  assert_int_equal(yw_shape_plane(NULL, normal, 0.0f, &plane), YW_OK);
  return add_obstacle(b, plane, YW_TRANSFORM_IDENTITY);
}

// One substep of free flight under gravity, in `inner` inner steps.
static void advance(bench* b, int32_t inner) {
  float span = H / (float)inner;
  for (int32_t k = 0; k < inner; ++k) {
    for (int32_t i = 0; i < b->particles.count; ++i) {
      yw_vec4 *x = &b->particles.pos[i], *v = &b->particles.vel[i];
      b->old_pos[i] = *x;
      if (b->particles.inv_mass[i] == 0.0f) continue;
      *v = yw_v4(yw_mad(yw_xyz(*v), span, b->ctx.gravity));
      *x = yw_v4(yw_mad(yw_xyz(*x), span, yw_xyz(*v)));
    }
    yw_obstacles_collide(&b->ctx, &b->particles, b->old_pos, NULL, (float)k * span, span);
  }
}

static void move_obstacle(yw_obstacle* obstacle, yw_transform end) {
  obstacle->begin = obstacle->end;
  obstacle->end = end;
  obstacle->bounds = yw_obstacle_bounds(obstacle->shape, obstacle->begin, obstacle->end);
}

static yw_quat turn_about(yw_vec3 axis, double angle) {
  float s = (float)sin(angle / 2.0), c = (float)cos(angle / 2.0);
  return (yw_quat){s * axis.x, s * axis.y, s * axis.z, c};
}

// A particle dropped from 1 m rises to e^2 m.
static void a_dropped_ball_rises_to_the_square_of_the_restitution(void** state) {
  (void)state;
  const float restitution[] = {0.0f, 0.3f, 0.5f, 0.8f, 1.0f};
  for (size_t k = 0; k < sizeof restitution / sizeof restitution[0]; ++k) {
    bench* b = bench_create(1);
    add_floor(b, yw_v3(0, 1, 0))->restitution = restitution[k];
    b->particles.pos[0].y = 1.0f;
    bool fell = false;
    float highest = 0.0f;
    for (int i = 0; i < 240; ++i) {
      advance(b, 1);
      if (b->report.obstacle_contacts > 0) fell = true;
      if (fell && b->particles.pos[0].y > highest) highest = b->particles.pos[0].y;
    }
    assert_true(fell);
    assert_near(highest, restitution[k] * restitution[k], 0.02);
    bench_destroy(b);
  }
}

// The larger restitution counts, and slow bounces end.
static void a_bouncing_ball_comes_to_rest(void** state) {
  (void)state;
  bench* b = bench_create(1);
  add_floor(b, yw_v3(0, 1, 0))->restitution = 0.5f;
  b->ctx.restitution = 0.7f;
  b->particles.pos[0].y = 0.5f;
  for (int i = 0; i < 240 * 5; ++i) advance(b, 1);
  assert_near(b->particles.pos[0].y, 0.0, 1e-6);
  for (int i = 0; i < 240; ++i) {
    advance(b, 1);
    assert_true(b->particles.vel[0].y == 0.0f);
  }
  bench_destroy(b);
}

// Slides down a slope of 30 degrees with the acceleration g (sin - mu cos).
static void a_slope_lets_slide_with_the_acceleration_of_coulomb(void** state) {
  (void)state;
  const double angle = 0.5235987755982988;
  for (float mu = 0.0f; mu < 0.5f; mu += 0.15f) {
    bench* b = bench_create(1);
    yw_obstacle* slope = add_floor(b, yw_v3((float)sin(angle), (float)cos(angle), 0));
    slope->friction = mu * mu;
    b->ctx.friction = 1.0f;
    for (int i = 0; i < 240; ++i) advance(b, 1);
    double expected = 9.81 * (sin(angle) - (double)mu * cos(angle));
    assert_near(yw_length(yw_xyz(b->particles.vel[0])), expected, 0.02 * expected);
    assert_near(yw_length(yw_xyz(b->particles.pos[0])), 0.5 * expected, 0.02 * 0.5 * expected);
    bench_destroy(b);
  }
}

// Below the friction angle nothing moves at all, even on a rotated and scaled obstacle.
static void below_the_friction_angle_nothing_creeps(void** state) {
  (void)state;
  for (int turned = 0; turned < 2; ++turned) {
    bench* b = bench_create(1);
    double angle = atan(0.49);
    yw_vec3 start = yw_v3(0, 0, 0);
    yw_obstacle* slope;
    if (turned) {
      yw_shape* box;
      assert_int_equal(yw_shape_box(NULL, yw_v3(1, 1, 1), &box), YW_OK);
      yw_quat turn = turn_about(yw_v3(0, 0, 1), -angle);
      slope = add_obstacle(b, box, (yw_transform){{0.3f, 0.2f, 0.1f}, turn, 2.0f});
      start = yw_transform_point(slope->begin, yw_v3(0.1f, 1.0f, 0.2f));
    } else {
      slope = add_floor(b, yw_v3((float)sin(angle), (float)cos(angle), 0));
    }
    slope->friction = b->ctx.friction = 0.5f;
    b->particles.pos[0] = yw_v4(start);
    for (int i = 0; i < 240 * 10; ++i) advance(b, 1);
    assert_at_most(yw_distance(yw_xyz(b->particles.pos[0]), start), 1e-6);
    bench_destroy(b);
  }
}

// Thrown along the floor at 3 m/s it stops after v^2 / (2 mu g).
static void friction_stops_a_sliding_particle_after_its_distance(void** state) {
  (void)state;
  bench* b = bench_create(1);
  add_floor(b, yw_v3(0, 1, 0))->friction = 0.4f;
  b->ctx.friction = 0.4f;
  b->particles.vel[0] = (yw_vec4){3.0f, 0, 0, 0};
  for (int i = 0; i < 480; ++i) advance(b, 1);
  double expected = 9.0 / (2.0 * 0.4 * 9.81);
  assert_near(b->particles.pos[0].x, expected, 0.02 * expected);
  assert_true(b->particles.vel[0].x == 0.0f);
  bench_destroy(b);
}

// A plate of 1 mm stops a particle at 100 m/s (0.42 m per step), from both sides and at an angle.
static void a_thin_plate_stops_a_bullet(void** state) {
  (void)state;
  test_random random = {7};
  for (int k = 0; k < 200; ++k) {
    bench* b = bench_create(1);
    yw_shape* plate;
    assert_int_equal(yw_shape_box(NULL, yw_v3(5.0f, 0.0005f, 5.0f), &plate), YW_OK);
    yw_quat turn = turn_about(yw_v3(0, 0, 1), test_random_in(&random, -0.5, 0.5));
    yw_transform pose = {{0.1f, 0.2f, 0.3f}, turn, 1.0f};
    add_obstacle(b, plate, pose);
    b->ctx.restitution = (float)test_random_in(&random, 0.0, 1.0);
    b->ctx.gravity = b->set.gravity = yw_v3(0, 0, 0);
    float side = k & 1 ? 1.0f : -1.0f;
    yw_vec3 from = yw_v3((float)test_random_in(&random, -1, 1),
                         side * (float)test_random_in(&random, 0.3, 1.5), 0.0f);
    yw_vec3 heading = yw_normalize_or(yw_v3((float)test_random_in(&random, -1, 1), -side, 0), from);
    b->particles.pos[0] = yw_v4(yw_transform_point(pose, from));
    b->particles.vel[0] = yw_v4(yw_rotate(turn, yw_scale(heading, 100.0f)));
    for (int i = 0; i < 8; ++i) advance(b, 1);
    yw_vec3 seen = yw_transform_point_inv(pose, yw_xyz(b->particles.pos[0]));
    assert_at_least(seen.y * side, 0.0004);
    assert_int_equal(b->report.obstacle_contacts > 0, 1);
    bench_destroy(b);
  }
}

// A 1 mm plate that sweeps over a resting particle at 100 m/s carries it along.
static void a_fast_thin_plate_takes_a_particle_along(void** state) {
  (void)state;
  bench* b = bench_create(1);
  yw_shape* plate;
  assert_int_equal(yw_shape_box(NULL, yw_v3(0.0005f, 5.0f, 5.0f), &plate), YW_OK);
  yw_transform pose = {{-1.0f, 0, 0}, {0, 0, 0, 1}, 1.0f};
  yw_obstacle* obstacle = add_obstacle(b, plate, pose);
  b->ctx.gravity = b->set.gravity = yw_v3(0, 0, 0);
  for (int i = 0; i < 20; ++i) {
    pose.position.x += 100.0f * H;
    move_obstacle(obstacle, pose);
    advance(b, 2);
    assert_at_least(b->particles.pos[0].x - pose.position.x, 0.0004);
  }
  assert_near(b->particles.vel[0].x, 100.0, 0.1);
  bench_destroy(b);
}

// A conveyor (a floor that moves sideways) brings a particle to its own speed.
static void a_conveyor_carries(void** state) {
  (void)state;
  bench* b = bench_create(1);
  yw_obstacle* belt = add_floor(b, yw_v3(0, 1, 0));
  belt->friction = b->ctx.friction = 0.5f;
  yw_transform pose = YW_TRANSFORM_IDENTITY;
  double slid = 0.0;
  for (int i = 0; i < 480; ++i) {
    pose.position.x += 1.0f * H;
    move_obstacle(belt, pose);
    advance(b, 1);
  }
  slid = (double)(pose.position.x - b->particles.pos[0].x);
  assert_near(b->particles.vel[0].x, 1.0, 1e-3);
  assert_near(slid, 1.0 / (2.0 * 0.5 * 9.81), 0.005);
  bench_destroy(b);
}

// A paddle turning at 2 rad/s gives what it hits the speed of the point of contact.
static void a_rotating_paddle_pushes(void** state) {
  (void)state;
  bench* b = bench_create(1);
  yw_shape* paddle;
  assert_int_equal(yw_shape_box(NULL, yw_v3(1.0f, 0.3f, 0.02f), &paddle), YW_OK);
  yw_obstacle* obstacle = add_obstacle(b, paddle, YW_TRANSFORM_IDENTITY);
  obstacle->restitution = 1.0f;
  b->ctx.gravity = b->set.gravity = yw_v3(0, 0, 0);
  b->particles.pos[0] = (yw_vec4){0.8f, 0, -0.4f, 0};
  for (int i = 1; i <= 240; ++i) {
    yw_transform pose = YW_TRANSFORM_IDENTITY;
    pose.rotation = turn_about(yw_v3(0, 1, 0), 2.0 * i * (double)H);
    move_obstacle(obstacle, pose);
    advance(b, 1);
  }
  // Elastic: twice the speed of the paddle at the point of contact, 2 * 2 rad/s * about 0.89 m.
  assert_near(yw_length(yw_xyz(b->particles.vel[0])), 4.0 * sqrt(0.8 * 0.8 + 0.4 * 0.4), 0.15);
  bench_destroy(b);
}

// Resting particles keep their positions bit for bit for 10 s.
static void rest_is_exact(void** state) {
  (void)state;
  bench* b = bench_create(100);
  add_floor(b, yw_v3(0, 1, 0))->friction = 0.4f;
  b->ctx.friction = 0.4f;
  test_random random = {3};
  for (int i = 0; i < 100; ++i) {
    b->particles.pos[i] = (yw_vec4){(float)test_random_in(&random, -9, 9), 0.0f,
                                    (float)test_random_in(&random, -9, 9), 0};
  }
  advance(b, 1);
  yw_vec4 before[100];
  memcpy(before, b->particles.pos, sizeof before);
  for (int i = 0; i < 2400; ++i) advance(b, 1);
  assert_memory_equal(before, b->particles.pos, sizeof before);
  assert_int_equal(b->report.obstacle_contacts, 100 * 2401);
  bench_destroy(b);
}

// A particle that starts deep inside leaves at a bounded speed and is not thrown out.
static void a_particle_made_inside_leaves_slowly(void** state) {
  (void)state;
  bench* b = bench_create(1);
  yw_shape* sphere;
  assert_int_equal(yw_shape_sphere(NULL, 1.0f, &sphere), YW_OK);
  add_obstacle(b, sphere, YW_TRANSFORM_IDENTITY);
  b->ctx.gravity = b->set.gravity = yw_v3(0, 0, 0);
  b->particles.pos[0] = (yw_vec4){0.2f, 0.1f, 0, 0};
  for (int i = 0; i < 480; ++i) {
    yw_vec3 before = yw_xyz(b->particles.pos[0]);
    advance(b, 1);
    assert_at_most(yw_distance(before, yw_xyz(b->particles.pos[0])), 1.01 * (double)H);
    assert_at_most(yw_length(yw_xyz(b->particles.vel[0])), 1e-6);
  }
  assert_near(yw_length(yw_xyz(b->particles.pos[0])), 1.0, 1e-5);
  bench_destroy(b);
}

static void held_particles_stay(void** state) {
  (void)state;
  bench* b = bench_create(1);
  add_floor(b, yw_v3(0, 1, 0));
  b->particles.inv_mass[0] = 0.0f;
  b->particles.pos[0].y = -0.5f;
  advance(b, 1);
  assert_true(b->particles.pos[0].y == -0.5f);
  bench_destroy(b);
}

// A particle thrown into the foot of a wall stays outside both floor and wall.
static void the_foot_of_a_wall_holds(void** state) {
  (void)state;
  bench* b = bench_create(1);
  b->ctx.friction = 0.4f;
  add_floor(b, yw_v3(0, 1, 0))->friction = 0.4f;
  add_floor(b, yw_v3(-1, 0, 0));
  add_floor(b, yw_v3(0.2f, 0.1f, -1));
  b->particles.pos[0] = (yw_vec4){-0.5f, 0.5f, -0.5f, 0};
  b->particles.vel[0] = (yw_vec4){9, -7, 8, 0};
  for (int i = 0; i < 480; ++i) advance(b, 1);
  yw_vec4 p = b->particles.pos[0];
  assert_at_least(p.y, -1e-4);
  assert_at_most(p.x, 1e-4);
  assert_at_most(-0.2 * p.x - 0.1 * p.y + p.z, 1e-4);
  assert_at_most(yw_length(yw_xyz(b->particles.vel[0])), 0.05);
  bench_destroy(b);
}

// Particles with a radius rest that high.
static void a_radius_keeps_its_distance(void** state) {
  (void)state;
  bench* b = bench_create(1);
  add_floor(b, yw_v3(0, 1, 0));
  float radius[16] = {0.1f};
  b->particles.pos[0].y = 0.5f;
  for (int i = 0; i < 240; ++i) {
    yw_vec4 *x = b->particles.pos, *v = b->particles.vel;
    b->old_pos[0] = x[0];
    v[0].y -= 9.81f * H;
    x[0].y += H * v[0].y;
    yw_obstacles_collide(&b->ctx, &b->particles, b->old_pos, radius, 0.0f, H);
  }
  assert_near(b->particles.pos[0].y, 0.1, 1e-6);
  bench_destroy(b);
}

// One particle of many is at the floor, wherever it is in the order.
static void a_single_particle_of_many_is_stopped(void** state) {
  (void)state;
  const int32_t count = 160;
  for (int32_t lowest = 0; lowest < count; lowest += 3) {
    bench* b = bench_create(count);
    add_floor(b, yw_v3(0, 1, 0));
    for (int32_t i = 0; i < count; ++i) {
      b->particles.pos[i] = yw_v4(yw_v3(0.01f * (float)i, i == lowest ? 0.001f : 2.0f, 0));
      b->particles.vel[i] = yw_v4(yw_v3(0, -5, 0));
    }
    advance(b, 1);
    assert_at_least(b->particles.pos[lowest].y, -1e-5);
    assert_at_least(b->particles.vel[lowest].y, -1e-3);
    assert_int_equal(b->report.obstacle_contacts, 1);
    bench_destroy(b);
  }
}

// Bounds of an obstacle that turns contain it on its way, about any axis and by almost half a turn.
static void bounds_contain_turning_obstacles(void** state) {
  (void)state;
  yw_shape* box;
  assert_int_equal(yw_shape_box(NULL, yw_v3(1, 0.1f, 0.4f), &box), YW_OK);
  for (int axis = 0; axis < 3; ++axis) {
    for (int k = 1; k < 9; ++k) {
      yw_vec3 about = yw_v3(axis == 0, axis == 1, axis == 2);
      float half = 0.174f * (float)k;  // 10 degrees each way
      yw_transform begin = YW_TRANSFORM_IDENTITY, end = begin, at = begin;
      begin.rotation = yw_quat_axis_angle(about, -half);
      end.rotation = yw_quat_axis_angle(about, half);
      yw_aabb bounds = yw_obstacle_bounds(box, begin, end);
      for (int step = 0; step <= 20; ++step) {
        at.rotation = yw_quat_axis_angle(about, half * (0.1f * (float)step - 1.0f));
        for (int corner = 0; corner < 8; ++corner) {
          yw_vec3 p = yw_transform_point(
              at, yw_v3(corner & 1 ? 1 : -1, corner & 2 ? 0.1f : -0.1f, corner & 4 ? 0.4f : -0.4f));
          assert_true(p.x >= bounds.lower.x && p.y >= bounds.lower.y && p.z >= bounds.lower.z);
          assert_true(p.x <= bounds.upper.x && p.y <= bounds.upper.y && p.z <= bounds.upper.z);
        }
      }
    }
  }
  yw_shape_release(box);
}

static void clear_says_what_collide_does(void** state) {
  (void)state;
  bench* b = bench_create(1);
  yw_shape* sphere;
  assert_int_equal(yw_shape_sphere(NULL, 1.0f, &sphere), YW_OK);
  yw_obstacle* ball = add_obstacle(b, sphere, YW_TRANSFORM_IDENTITY);
  assert_true(yw_obstacles_clear(&b->ctx, (yw_aabb){{1.1f, -1, -1}, {3, 1, 1}}));
  assert_false(yw_obstacles_clear(&b->ctx, (yw_aabb){{0.9f, -1, -1}, {3, 1, 1}}));
  // The corner of the bounds is not in the ball.
  assert_true(yw_obstacles_clear(&b->ctx, (yw_aabb){{0.9f, 0.9f, 0.9f}, {1, 1, 1}}));
  assert_false(yw_obstacles_clear(&b->ctx, NO_LIMITS));
  yw_transform far = YW_TRANSFORM_IDENTITY;
  far.position.x = 4.0f;
  move_obstacle(ball, far);
  assert_false(yw_obstacles_clear(&b->ctx, (yw_aabb){{1.9f, -0.1f, -0.1f}, {2.1f, 0.1f, 0.1f}}));
  bench_destroy(b);
}

// The same bits for any number of threads.
static void threads_do_not_matter(void** state) {
  (void)state;
  yw_vec4* first = NULL;
  const int32_t count = 5000, threads[] = {1, 2, 3, 8};
  for (int k = 0; k < 4; ++k) {
    bench* b = bench_create(count);
    b->ctx.tasks = yw_tasks_create(NULL, threads[k]);
    add_floor(b, yw_v3(0.1f, 1, 0))->restitution = 0.5f;
    yw_shape* sphere;
    assert_int_equal(yw_shape_sphere(NULL, 1.0f, &sphere), YW_OK);
    add_obstacle(b, sphere, YW_TRANSFORM_IDENTITY)->friction = 0.4f;
    test_random random = {5};
    for (int i = 0; i < count; ++i) {
      b->particles.pos[i] =
          (yw_vec4){(float)test_random_in(&random, -2, 2), (float)test_random_in(&random, 1, 3),
                    (float)test_random_in(&random, -2, 2), 0};
    }
    for (int i = 0; i < 120; ++i) advance(b, 1);
    if (first) {
      assert_memory_equal(first, b->particles.pos, (size_t)count * sizeof *first);
    } else {
      first = malloc((size_t)count * sizeof *first);
      memcpy(first, b->particles.pos, (size_t)count * sizeof *first);
    }
    yw_tasks_destroy(b->ctx.tasks);
    bench_destroy(b);
  }
  free(first);
}

// A body of 27^3 particles at rest on a floor. The bound is loose, since machines may be busy.
static void a_resting_body_costs_little(void** state) {
  (void)state;
  const int32_t n = 27;
  bench* b = bench_create(n * n * n);
  add_floor(b, yw_v3(0, 1, 0))->friction = 0.4f;
  b->ctx.friction = 0.4f;
  yw_vec4 *start = b->particles.pos, *old = b->old_pos;
  // Bricks of 3 x 3 x 3, as in an order with good locality.
  int32_t k = 0;
  for (int32_t brick = 0; brick < 729; ++brick) {
    for (int32_t i = 0; i < 27; ++i, ++k) {
      old[k] =
          (yw_vec4){0.03f * (float)(brick % 9 * 3 + i % 3), 0.03f * (float)(brick / 81 * 3 + i / 9),
                    0.03f * (float)(brick / 9 % 9 * 3 + i / 3 % 3), 0};
      b->particles.vel[k].y = -9.81f * H;
    }
  }
  double best = 1.0;
  for (int repeat = 0; repeat < 200; ++repeat) {
    for (int32_t i = 0; i < n * n * n; ++i) {
      start[i] = old[i];
      start[i].y -= 9.81f * H * H;
      b->particles.vel[i].y = -9.81f * H;
    }
    b->report.obstacle_contacts = 0;
    double began = yw_seconds();
    yw_obstacles_collide(&b->ctx, &b->particles, b->old_pos, NULL, 0.0f, H);
    double took = yw_seconds() - began;
    if (took < best) best = took;
  }
  assert_int_equal(b->report.obstacle_contacts, n * n);
  print_message("           %d particles, %d of them on the floor: %.1f us\n", n * n * n, n * n,
                best * 1e6);
  assert_at_most(best, 20e-3);
  bench_destroy(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_dropped_ball_rises_to_the_square_of_the_restitution),
      cmocka_unit_test(a_bouncing_ball_comes_to_rest),
      cmocka_unit_test(a_slope_lets_slide_with_the_acceleration_of_coulomb),
      cmocka_unit_test(below_the_friction_angle_nothing_creeps),
      cmocka_unit_test(friction_stops_a_sliding_particle_after_its_distance),
      cmocka_unit_test(a_thin_plate_stops_a_bullet),
      cmocka_unit_test(a_fast_thin_plate_takes_a_particle_along),
      cmocka_unit_test(a_conveyor_carries),
      cmocka_unit_test(a_rotating_paddle_pushes),
      cmocka_unit_test(rest_is_exact),
      cmocka_unit_test(a_particle_made_inside_leaves_slowly),
      cmocka_unit_test(held_particles_stay),
      cmocka_unit_test(the_foot_of_a_wall_holds),
      cmocka_unit_test(a_radius_keeps_its_distance),
      cmocka_unit_test(a_single_particle_of_many_is_stopped),
      cmocka_unit_test(bounds_contain_turning_obstacles),
      cmocka_unit_test(clear_says_what_collide_does),
      cmocka_unit_test(threads_do_not_matter),
      cmocka_unit_test(a_resting_body_costs_little),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
