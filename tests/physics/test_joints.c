// SPDX-License-Identifier: MIT
// Joints against formulas: pendulums, motors, limits, ropes, springs, glue; and against
// conservation laws.
#include "support/method_world.h"
#include "support/rigid_testing.h"
#include "yawara/joint.h"

#define GRAVITY ((double)9.81f)

static yw_joint_id join(yw_world* world, const yw_joint_def* def) {
  yw_joint_id id;
  yw_error error = {0};
  if (yw_joint_create(world, def, &id, &error) < 0) fail_msg("%s", error.message);
  return id;
}

static yw_joint_def joint_of(yw_joint_kind kind, yw_body_id a, yw_body_id b, yw_vec3 at) {
  yw_joint_def def = yw_default_joint_def();
  def.kind = kind;
  def.ends[0] = (yw_joint_end){.body = a, .point = at};
  def.ends[1] = (yw_joint_end){.body = b, .point = at};
  return def;
}

static const yw_body_id nobody = {0};

static void step(yw_world* world, int steps, int substeps) {
  for (int i = 0; i < steps; ++i) {
    assert_true(yw_world_step(world, 1.0f / 60, substeps, NULL) >= 0);
  }
}

// Pendulums ---------------------------------------------------------------------------------------

// Period of a bar that hangs at its upper end, started at an angle.
static double bar_period(yw_joint_kind kind, double angle, double* drift) {
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_error error = {0};
  yw_body_def def = yw_default_body_def();
  def.model = make_rigid_tets(0.05f, 1.0f, 0.05f);
  def.transform.position = (yw_vec3){(float)(0.5 * sin(angle)), (float)(-0.5 * cos(angle)), 0};
  def.transform.rotation = (yw_quat){0, 0, (float)sin(angle / 2), (float)cos(angle / 2)};
  yw_body_id bar;
  assert_int_equal(yw_body_create(world, &def, &bar, &error), YW_OK);
  yw_model_release(def.model);
  yw_joint_def joint = joint_of(kind, nobody, bar, (yw_vec3){0, 0, 0});
  joint.axis = (yw_vec3){0, 0, 1};
  yw_joint_id id = join(world, &joint);
  double energy = total_energy(world, bar), before = 0.0, first = -1.0, last = 0.0;
  int swings = 0;
  *drift = 0.0;
  for (int i = 0; i < 1200; ++i) {
    yw_world_step(world, 1.0f / 120, 2, NULL);
    double v = rigid_state_of(world, bar).spin[2];
    if (before < 0.0 && v >= 0.0) {
      last = (i + before / (before - v)) / 120.0;
      if (first < 0.0) first = last;
      ++swings;
    }
    before = v;
    *drift = fmax(*drift, fabs(total_energy(world, bar) - energy));
    yw_joint_reading reading;
    assert_int_equal(yw_joint_read(world, id, &reading), YW_OK);
    assert_at_most(reading.error, 1e-8);
  }
  yw_rigid_mass mass;
  yw_model_rigid_mass(yw_body_model(world, bar), &mass);
  *drift /= mass.mass * GRAVITY * 0.5 * (1 - cos(angle));
  yw_world_destroy(world);
  return (last - first) / (swings - 1);
}

// Arithmetic-geometric mean: exact for any angle.
static double exact_period(double angle) {
  double inertia = 1.0 / 12 * (1 + 0.05 * 0.05) + 0.25;
  double a = 1.0, b = cos(angle / 2);
  for (int i = 0; i < 30; ++i) {
    double mean = 0.5 * (a + b);
    b = sqrt(a * b);
    a = mean;
  }
  return 2 * PI * sqrt(inertia / (GRAVITY * 0.5)) / a;
}

static void pendulums_have_their_period_and_keep_their_energy(void** state) {
  (void)state;
  const double angles[3] = {0.1, 1.0, 2.5};
  for (int k = 0; k < 3; ++k) {
    double drift;
    assert_near(bar_period(YW_JOINT_HINGE, angles[k], &drift) / exact_period(angles[k]), 1, 1e-3);
    assert_at_most(drift, 5e-3);
    assert_near(bar_period(YW_JOINT_BALL, angles[k], &drift) / exact_period(angles[k]), 1, 1e-3);
    assert_at_most(drift, 5e-3);
  }
}

// A ball on a ball joint circles at the angle where gravity and the turning balance.
static void conical_pendulum_circles(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  double angle = 0.6, length = 1.0, radius = 0.05;
  double inertia = 0.4 * radius * radius;
  // Steady precession of a rigid pendulum that does not spin about its own rod:
  // rate^2 (length^2 + I_across - I_along) cos(angle) = g length, with equal moments of a ball.
  double across = length * length + inertia;
  double rate = sqrt(GRAVITY * length / ((across - inertia) * cos(angle)));
  yw_body_def def = yw_default_body_def();
  yw_error error = {0};
  def.model = make_rigid_ball((float)radius);
  def.transform.position =
      (yw_vec3){(float)(length * sin(angle)), (float)(-length * cos(angle)), 0};
  def.velocity = (yw_vec3){0, 0, (float)(-rate * length * sin(angle))};
  def.angular_velocity = (yw_vec3){0, (float)rate, 0};
  yw_body_id ball;
  assert_int_equal(yw_body_create(world, &def, &ball, &error), YW_OK);
  yw_model_release(def.model);
  yw_joint_def joint = joint_of(YW_JOINT_BALL, nobody, ball, (yw_vec3){0, 0, 0});
  join(world, &joint);
  double turned = 0.0, before = 0.0;
  for (int i = 0; i < 600; ++i) {
    yw_world_step(world, 1.0f / 60, 4, NULL);
    yw_rigid_state s = rigid_state_of(world, ball);
    assert_near(s.center[1], -length * cos(angle), 2e-3);
    double now = atan2(-s.center[2], s.center[0]), by = now - before;
    turned += by < -PI ? by + 2 * PI : by;
    before = now;
  }
  assert_near(turned / 10.0, rate, 2e-3 * rate);
  yw_world_destroy(world);
}

static void double_pendulum_keeps_its_energy(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_id a = add_ghost(world, make_rigid_tets(1.0f, 0.1f, 0.1f), (yw_vec3){0.5f, 0, 0});
  yw_body_id b = add_ghost(world, make_rigid_tets(1.0f, 0.1f, 0.1f), (yw_vec3){1.5f, 0, 0});
  yw_joint_def joint = joint_of(YW_JOINT_HINGE, nobody, a, (yw_vec3){0, 0, 0});
  joint.axis = (yw_vec3){0, 0, 1};
  join(world, &joint);
  joint = joint_of(YW_JOINT_HINGE, a, b, (yw_vec3){1, 0, 0});
  joint.axis = (yw_vec3){0, 0, 1};
  join(world, &joint);
  // Both fall: the scale is the energy between top and bottom, m g (1 + 3) for both bars.
  double energy = total_energy(world, a) + total_energy(world, b), scale = 10 * GRAVITY * 4;
  double least = energy, most = energy;
  for (int i = 0; i < 1200; ++i) {
    yw_world_step(world, 1.0f / 60, 4, NULL);
    double now = total_energy(world, a) + total_energy(world, b);
    least = fmin(least, now);
    most = fmax(most, now);
  }
  assert_at_most((most - least) / scale, 0.01);
  yw_rigid_state s = rigid_state_of(world, b);
  assert_near(s.center[2], 0.0, 1e-6);
  yw_world_destroy(world);
}

// Motors, limits ----------------------------------------------------------------------------------

static void motor_turns_with_its_torque_up_to_its_speed(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_model* model = make_rigid_tets(1.0f, 0.5f, 0.5f);
  yw_rigid_mass mass;
  yw_model_rigid_mass(model, &mass);
  yw_body_id body =
      add_rigid(world, model, (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
  yw_joint_def joint = joint_of(YW_JOINT_HINGE, nobody, body, (yw_vec3){0, 0, 0});
  joint.axis = (yw_vec3){0, 1, 0};
  joint.motor_speed = 5.0f;
  joint.motor_force = 40.0f;
  yw_joint_id id = join(world, &joint);
  step(world, 30, 2);
  yw_joint_reading reading;
  assert_int_equal(yw_joint_read(world, id, &reading), YW_OK);
  double rate = 40.0 / mass.inertia[1];
  assert_near(reading.speed, 0.5 * rate, 1e-3);
  assert_near(reading.torque[1], 40.0, 1e-6);
  assert_near(reading.position, 0.5 * rate * 0.25, 1e-3);
  step(world, 600, 2);
  yw_joint_read(world, id, &reading);
  assert_near(reading.speed, 5.0, 1e-6);
  assert_near(reading.torque[1], 0.0, 1e-6);
  assert_int_equal(yw_joint_set_motor(world, id, -1.0f, 1e4f), YW_OK);
  step(world, 60, 2);
  yw_joint_read(world, id, &reading);
  assert_near(reading.speed, -1.0, 1e-6);
  yw_world_destroy(world);
}

static void limits_stop_hinges_and_sliders(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_id flap = add_rigid(world, make_rigid_tets(1.0f, 0.1f, 0.4f), (yw_vec3){0.5f, 0, 0},
                              (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
  yw_joint_def joint = joint_of(YW_JOINT_HINGE, nobody, flap, (yw_vec3){0, 0, 0});
  joint.axis = (yw_vec3){0, 0, 1};
  joint.limited = true;
  joint.lower = -0.5f;
  yw_joint_id hinge = join(world, &joint);
  yw_body_id lift = add_rigid(world, make_rigid_tets(0.5f, 0.5f, 0.5f), (yw_vec3){3, 0, 0},
                              (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
  joint = joint_of(YW_JOINT_SLIDER, nobody, lift, (yw_vec3){3.2f, 0, 0.1f});
  joint.axis = (yw_vec3){0.6f, 0.8f, 0};
  joint.limited = true;
  joint.lower = -0.25f;
  joint.upper = 0.5f;
  yw_joint_id slider = join(world, &joint);
  step(world, 120, 4);
  yw_joint_reading reading;
  yw_joint_read(world, hinge, &reading);
  assert_near(reading.position, -0.5, 1e-4);
  assert_near(reading.speed, 0.0, 1e-4);
  yw_joint_read(world, slider, &reading);
  assert_near(reading.position, -0.25, 1e-5);
  yw_rigid_state s = rigid_state_of(world, lift);
  assert_near(s.center[0], 3 - 0.25 * 0.6, 1e-5);
  assert_near(s.center[1], -0.25 * 0.8, 1e-5);
  assert_at_most(fabs(s.rotation[0]) + fabs(s.rotation[1]) + fabs(s.rotation[2]), 1e-6);
  yw_rigid_mass mass;
  yw_model_rigid_mass(yw_body_model(world, lift), &mass);
  assert_near(reading.force[1], mass.mass * GRAVITY, 1e-3 * mass.mass * GRAVITY);
  yw_world_destroy(world);
}

// A slider without limits lets a body fall along its axis.
static void slider_slides_freely(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_id body = add_rigid(world, make_rigid_tets(0.5f, 0.3f, 0.2f), (yw_vec3){0, 0, 0},
                              (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
  yw_joint_def joint = joint_of(YW_JOINT_SLIDER, nobody, body, (yw_vec3){0.3f, 0, 0});
  joint.axis = (yw_vec3){0.8f, 0.6f, 0};
  yw_joint_id id = join(world, &joint);
  step(world, 60, 2);
  yw_joint_reading reading;
  yw_joint_read(world, id, &reading);
  assert_near(reading.position, -0.5 * 0.6 * GRAVITY, 1e-3);
  assert_near(reading.speed, -0.6 * GRAVITY, 1e-3);
  yw_world_destroy(world);
}

// A chain of heavy and light links in turn (10^6 : 1) swings, and its joints still meet: impulses
// that pass from one to the next would need thousands of sweeps.
static void light_links_hold_heavy_ones(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  const yw_joint_kind kinds[4] = {YW_JOINT_HINGE, YW_JOINT_SLIDER, YW_JOINT_HINGE, YW_JOINT_BALL};
  yw_joint_id ids[4];
  yw_body_id above = nobody;
  for (int i = 0; i < 4; ++i) {
    float size = i % 2 ? 1.0f : 0.01f, top = (float)i;
    yw_body_id link = add_rigid(world, make_rigid_tets(size, size, size),
                                (yw_vec3){top + 0.5f, 0, 0}, (yw_vec3){0}, (yw_vec3){0});
    yw_joint_def joint = joint_of(kinds[i], above, link, (yw_vec3){top, 0, 0});
    joint.axis = (yw_vec3){0, 0, 1};
    ids[i] = join(world, &joint);
    above = link;
  }
  double largest = 0.0;
  for (int i = 0; i < 60; ++i) {
    step(world, 1, 4);
    for (int k = 0; k < 4; ++k) {
      yw_joint_reading reading;
      assert_int_equal(yw_joint_read(world, ids[k], &reading), YW_OK);
      largest = fmax(largest, reading.error);
    }
  }
  assert_at_most(largest, 1e-8);
  assert_true(rigid_state_of(world, above).center[1] < -1.0);
  yw_world_destroy(world);
}

// Two bodies fixed to each other fly like one with the sum of their inertias.
static void fixed_bodies_move_as_one(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_body_id a = add_rigid(world, make_rigid_tets(0.5f, 0.5f, 0.5f), (yw_vec3){-0.25f, 0, 0},
                           (yw_vec3){0, 0.5f, 0}, (yw_vec3){0.3f, 0.4f, -2});
  yw_body_id b = add_rigid(world, make_rigid_tets(0.5f, 0.5f, 0.5f), (yw_vec3){0.25f, 0, 0},
                           (yw_vec3){0, -0.5f, 0}, (yw_vec3){0.3f, 0.4f, -2});
  yw_joint_def joint = joint_of(YW_JOINT_FIXED, a, b, (yw_vec3){0, 0, 0});
  yw_joint_id id = join(world, &joint);
  yw_body_sums sums[2];
  yw_body_sums_of(world, a, &sums[0]);
  yw_body_sums_of(world, b, &sums[1]);
  step(world, 300, 2);
  yw_rigid_state sa = rigid_state_of(world, a), sb = rigid_state_of(world, b);
  yw_joint_reading reading;
  yw_joint_read(world, id, &reading);
  assert_at_most(reading.error, 1e-8);
  double way[3], total[3] = {0};
  for (int k = 0; k < 3; ++k) {
    way[k] = sb.center[k] - sa.center[k];
    assert_near(sa.rotation[k], sb.rotation[k], 1e-7);
    assert_near(sa.velocity[k], -sb.velocity[k], 1e-6);
  }
  assert_near(length3(way), 0.5, 1e-7);
  // Angular momentum about the common centre stays what it was.
  const yw_rigid_state* both[2] = {&sa, &sb};
  for (int n = 0; n < 2; ++n) {
    const double *x = both[n]->center, *v = both[n]->velocity, m = sums[n].mass;
    total[0] += both[n]->angular_momentum[0] + m * (x[1] * v[2] - x[2] * v[1]);
    total[1] += both[n]->angular_momentum[1] + m * (x[2] * v[0] - x[0] * v[2]);
    total[2] += both[n]->angular_momentum[2] + m * (x[0] * v[1] - x[1] * v[0]);
  }
  double turning[3], size = 0.0;
  for (int k = 0; k < 3; ++k) {
    turning[k] = sums[0].angular_momentum[k] + sums[1].angular_momentum[k];
  }
  turning[2] += -0.25 * 0.5 * sums[0].mass + 0.25 * -0.5 * sums[1].mass;
  size = length3(turning);
  for (int k = 0; k < 3; ++k) assert_near(total[k], turning[k], 1e-5 * size);
  yw_world_destroy(world);
}

// Ropes and springs -------------------------------------------------------------------------------

static void rope_is_never_longer_than_its_length(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_id ball = add_rigid(world, make_rigid_ball(0.1f), (yw_vec3){0.6f, 0, 0},
                              (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
  yw_joint_def joint = joint_of(YW_JOINT_ROPE, nobody, ball, (yw_vec3){0, 0, 0});
  joint.ends[1].point = (yw_vec3){0.6f, 0, 0};
  joint.length = 1.0f;
  yw_joint_id id = join(world, &joint);
  double longest = 0.0, energy = total_energy(world, ball);
  bool slack = false;
  for (int i = 0; i < 600; ++i) {
    yw_world_step(world, 1.0f / 60, 4, NULL);
    yw_joint_reading reading;
    yw_joint_read(world, id, &reading);
    longest = fmax(longest, reading.position);
    slack = slack || reading.position < 0.99;
    assert_at_most(total_energy(world, ball), energy + 1e-3 * fabs(energy) + 1e-3);
  }
  assert_true(slack);
  assert_near(longest, 1.0, 1e-6);
  yw_world_destroy(world);
}

// A length of 0 is one that is given: the ends come together.
static void ropes_without_length_hold_points_together(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_id ball = add_rigid(world, make_rigid_ball(0.1f), (yw_vec3){0.3f, 0, 0},
                              (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
  yw_joint_def joint = joint_of(YW_JOINT_ROPE, nobody, ball, (yw_vec3){0, 0, 0});
  joint.ends[1].point = (yw_vec3){0.3f, 0, 0};
  joint.length = 0.0f;
  yw_joint_id id = join(world, &joint);
  step(world, 60, 4);
  yw_joint_reading reading;
  yw_joint_read(world, id, &reading);
  assert_near(reading.position, 0, 1e-5);
  yw_world_destroy(world);
}

// Between two places that do not move, a rope does nothing.
static void ropes_between_fixed_ends_do_no_harm(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(1, 1, 1, 0);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(model);
  int32_t vertices[8];
  for (int32_t i = 0; i < 8; ++i) vertices[i] = i;
  yw_pin_def pin = yw_default_pin_def();
  pin.body = body;
  pin.vertices = vertices;
  pin.num_vertices = 8;
  yw_pin_id pinned;
  yw_error error = {0};
  if (yw_pin_create(world, &pin, &pinned, &error) < 0) fail_msg("%s", error.message);
  yw_joint_def joint = joint_of(YW_JOINT_ROPE, nobody, body, (yw_vec3){0, 5, 0});
  joint.ends[1].vertices = vertices;
  joint.ends[1].num_vertices = 8;
  joint.length = 1.0f;
  join(world, &joint);
  step(world, 5, 2);
  assert_false(yw_body_is_diverged(world, body));
  const yw_vec3* v = yw_body_velocities(world, body, NULL);
  for (int32_t i = 0; i < 8; ++i) assert_near(fabsf(v[i].x) + fabsf(v[i].y) + fabsf(v[i].z), 0, 0);
  yw_world_destroy(world);
}

static void springs_swing_at_their_frequency(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_body_id a = add_rigid(world, make_rigid_ball(0.1f), (yw_vec3){0, 0, 0}, (yw_vec3){-1, 0, 0},
                           (yw_vec3){0, 0, 0});
  yw_body_id b = add_rigid(world, make_rigid_ball(0.1f), (yw_vec3){1, 0, 0}, (yw_vec3){1, 0, 0},
                           (yw_vec3){0, 0, 0});
  yw_joint_def joint = joint_of(YW_JOINT_SPRING, a, b, (yw_vec3){0, 0, 0});
  joint.ends[1].point = (yw_vec3){1, 0, 0};
  joint.stiffness = 500.0f;
  yw_joint_id id = join(world, &joint);
  yw_rigid_mass mass;
  yw_model_rigid_mass(yw_body_model(world, a), &mass);
  double period = 2 * PI * sqrt(0.5 * mass.mass / 500.0), first = -1, last = 0, most = 0,
         before = 1;
  int swings = 0;
  for (int i = 0; i < 2400; ++i) {
    yw_world_step(world, 1.0f / 240, 1, NULL);
    yw_joint_reading reading;
    yw_joint_read(world, id, &reading);
    if (before < 0.0 && reading.speed >= 0.0) {
      last = (i + before / (before - reading.speed)) / 240.0;
      if (first < 0.0) first = last;
      ++swings;
    }
    before = reading.speed;
    if (i >= 2160) most = fmax(most, reading.speed);
  }
  assert_near((last - first) / (swings - 1) / period, 1.0, 1e-3);
  assert_near(most, 2.0, 0.01);
  yw_world_destroy(world);
}

// Soft bodies -------------------------------------------------------------------------------------

// A bone glued into a soft body: the pair keeps its momentum, and the vertices stay on the bone,
// whichever end of the joint it is.
static void check_glue(int end) {
  yw_world* world = make_weightless_world(1);
  yw_model* flesh = make_box_model(4, 8, 4, 0);
  yw_error error = {0};
  yw_body_def def = yw_default_body_def();
  def.model = flesh;
  def.velocity = (yw_vec3){1, 0, 0};
  def.body_contact = false;
  yw_body_id soft;
  assert_int_equal(yw_body_create(world, &def, &soft, &error), YW_OK);
  yw_body_id bone = add_rigid(world, make_rigid_tets(0.1f, 0.8f, 0.1f), (yw_vec3){0, 0, 0},
                              (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
  int32_t count, vertices[64], found = 0;
  const yw_vec3* rest = yw_model_points(flesh, &count);
  for (int32_t i = 0; i < count && found < 64; ++i) {
    bool inside = fabsf(rest[i].x) < 0.01f && fabsf(rest[i].z) < 0.01f && fabsf(rest[i].y) < 0.4f;
    if (inside) vertices[found++] = i;
  }
  yw_model_release(flesh);
  assert_true(found >= 5);
  yw_joint_def joint = yw_default_joint_def();
  joint.kind = YW_JOINT_FIXED;
  joint.ends[end].body = bone;
  joint.ends[1 - end] = (yw_joint_end){.body = soft, .vertices = vertices, .num_vertices = found};
  yw_joint_id id = join(world, &joint);
  yw_body_sums before, sums[2];
  yw_body_sums_of(world, soft, &before);
  step(world, 60, 8);
  yw_body_sums_of(world, soft, &sums[0]);
  yw_body_sums_of(world, bone, &sums[1]);
  double common = before.momentum[0] / (sums[0].mass + sums[1].mass);
  assert_near(sums[0].momentum[0] + sums[1].momentum[0], before.momentum[0],
              1e-4 * before.momentum[0]);
  assert_near(sums[0].momentum[1] + sums[1].momentum[1], 0.0, 1e-4 * before.momentum[0]);
  assert_near(sums[1].momentum[0] / sums[1].mass, common, 0.1);
  yw_joint_reading reading;
  yw_joint_read(world, id, &reading);
  assert_at_most(reading.error, 1e-5);
  yw_world_destroy(world);
}

static void glue_holds_flesh_on_a_bone(void** state) {
  (void)state;
  check_glue(0);
  check_glue(1);
}

// A rigid weight hangs from the lowest vertices of a pinned soft body and stretches it.
static void weight_hangs_from_a_soft_body(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(2, 4, 2, 0);
  yw_body_id soft = add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  int32_t count, low[16], high[16], num_low = 0, num_high = 0;
  const yw_vec3* rest = yw_model_points(model, &count);
  for (int32_t i = 0; i < count; ++i) {
    if (rest[i].y < -0.49f) low[num_low++] = i;
    if (rest[i].y > 0.49f) high[num_high++] = i;
  }
  yw_model_release(model);
  yw_pin_def pin = yw_default_pin_def();
  yw_pin_id pin_id;
  yw_error error = {0};
  pin.body = soft;
  pin.vertices = high;
  pin.num_vertices = num_high;
  assert_int_equal(yw_pin_create(world, &pin, &pin_id, &error), YW_OK);
  yw_body_id ball = add_rigid(world, make_rigid_ball(0.1f), (yw_vec3){0, -1.0f, 0},
                              (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
  yw_joint_def joint = yw_default_joint_def();
  joint.kind = YW_JOINT_ROPE;
  joint.ends[0] = (yw_joint_end){.body = soft, .vertices = low, .num_vertices = num_low};
  joint.ends[1] = (yw_joint_end){.body = ball, .point = {0, -1.0f, 0}};
  yw_joint_id id = join(world, &joint);
  step(world, 300, 4);
  yw_joint_reading reading;
  yw_joint_read(world, id, &reading);
  yw_rigid_mass mass;
  yw_model_rigid_mass(yw_body_model(world, ball), &mass);
  assert_near(reading.force[1] / (mass.mass * GRAVITY), 1.0, 0.02);
  assert_near(reading.position, 0.5, 1e-4);
  assert_at_most(length3(rigid_state_of(world, ball).velocity), 1e-2);
  yw_world_destroy(world);
}

// Contact and joints are solved together: a heavy lid on a light wheel does not press it into the
// floor.
static void joints_and_floor_hold_at_once(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_body_id wheel = add_rigid(world, make_rigid_ball(0.1f), (yw_vec3){0, 0.1f, 0},
                               (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
  yw_body_id load = add_rigid(world, make_rigid_tets(1.0f, 1.0f, 1.0f), (yw_vec3){0, 0.9f, 0},
                              (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
  yw_joint_def joint = joint_of(YW_JOINT_FIXED, wheel, load, (yw_vec3){0, 0.1f, 0});
  join(world, &joint);
  joint = joint_of(YW_JOINT_SLIDER, nobody, load, (yw_vec3){0, 0.9f, 0});
  joint.axis = (yw_vec3){0, 1, 0};
  join(world, &joint);
  step(world, 120, 4);
  assert_near(rigid_state_of(world, load).center[1], 0.9, 1e-4);
  assert_near(rigid_state_of(world, wheel).center[1], 0.1, 1e-4);
  assert_at_most(length3(rigid_state_of(world, load).velocity), 1e-4);
  yw_world_destroy(world);
}

// Worlds ------------------------------------------------------------------------------------------

static void fill(yw_world* world, int solver) {
  (void)solver;
  yw_body_id last = nobody;
  for (int i = 0; i < 4; ++i) {
    float x = 0.4f * (float)i;
    yw_body_id next = add_rigid(world, make_rigid_tets(0.3f, 0.1f, 0.1f), (yw_vec3){x, 1.2f, 0},
                                (yw_vec3){0, 0, 0}, (yw_vec3){0, (float)i, 0});
    yw_joint_def joint = joint_of(YW_JOINT_BALL, last, next, (yw_vec3){x - 0.2f, 1.2f, 0});
    join(world, &joint);
    last = next;
  }
  yw_model* soft = make_box_model(2, 3, 2, 0);
  yw_body_id body = add_body(world, soft, (yw_vec3){2.2f, 1.0f, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(soft);
  const int32_t vertices[2] = {0, 1};
  yw_joint_def joint = joint_of(YW_JOINT_SPRING, last, body, (yw_vec3){1.4f, 1.2f, 0});
  joint.ends[1].vertices = vertices;
  joint.ends[1].num_vertices = 2;
  join(world, &joint);
}

static void bits_do_not_depend_on_threads_or_instruction_sets(void** state) {
  (void)state;
  uint64_t hash = hash_after(fill, 0, 40, 1, YW_SIMD_PLAIN);
  assert_true(hash == hash_after(fill, 0, 40, 3, YW_SIMD_AUTO));
}

static void snapshots_go_on_bit_for_bit(void** state) {
  (void)state;
  check_snapshot(fill, 0, 20, 20);
}

static void steps_do_not_allocate(void** state) {
  (void)state;
  check_no_heap(fill, 0, 20);
}

static void joints_go_with_their_bodies(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  fill(world, 0);
  assert_int_equal(yw_world_num_joints(world), 5);
  assert_int_equal(yw_body_destroy(world, yw_world_body(world, 1)), YW_OK);
  assert_int_equal(yw_world_num_joints(world), 3);
  step(world, 5, 1);
  // The first as well as the others.
  while (yw_world_num_bodies(world) > 0) {
    assert_int_equal(yw_body_destroy(world, yw_world_body(world, 0)), YW_OK);
    step(world, 1, 1);
  }
  assert_int_equal(yw_world_num_joints(world), 0);
  yw_world_destroy(world);
}

static void refuse(yw_world* world, const yw_joint_def* def, const char* word) {
  yw_joint_id id;
  yw_error error = {0};
  assert_true(yw_joint_create(world, def, &id, &error) < 0);
  if (!strstr(error.message, word)) fail_msg("\"%s\" lacks \"%s\"", error.message, word);
}

static void bad_definitions_are_refused(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_id a = add_rigid(world, make_rigid_tets(1.0f, 1.0f, 1.0f), (yw_vec3){0, 0, 0},
                           (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
  yw_model* soft = make_box_model(2, 2, 2, 0);
  yw_body_id b = add_body(world, soft, (yw_vec3){3, 0, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(soft);
  const int32_t vertices[2] = {0, 999};
  yw_joint_def good = joint_of(YW_JOINT_BALL, nobody, a, (yw_vec3){0, 0, 0}), def;
  def = good, def.ends[1].body = nobody, refuse(world, &def, "both ends");
  def = good, def.ends[0].body = (yw_body_id){77, 1}, refuse(world, &def, "does not exist");
  def = good, def.ends[0].body = b, refuse(world, &def, "no vertices");
  def.ends[0].vertices = vertices, def.ends[0].num_vertices = 2, refuse(world, &def, "999");
  def = good, def.kind = YW_JOINT_HINGE, def.ends[0].body = b, refuse(world, &def, "soft");
  def = good, def.ends[1].num_vertices = 1, refuse(world, &def, "only soft");
  def = good, def.axis = (yw_vec3){0, 0, 0}, refuse(world, &def, "axis");
  def = good, def.limited = true, def.lower = 0.1f, refuse(world, &def, "limits");
  def = good, def.motor_force = -1, refuse(world, &def, "motor");
  def = good, def.stiffness = 0, refuse(world, &def, "stiffness");
  def = good, def.ends[0].point.x = NAN, refuse(world, &def, "finite");
  refuse(world, NULL, "NULL");
  yw_error error = {0};
  assert_int_equal(yw_joint_create(world, &good, NULL, &error), YW_ERR_INVALID);
  yw_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulums_have_their_period_and_keep_their_energy),
      cmocka_unit_test(conical_pendulum_circles),
      cmocka_unit_test(double_pendulum_keeps_its_energy),
      cmocka_unit_test(motor_turns_with_its_torque_up_to_its_speed),
      cmocka_unit_test(limits_stop_hinges_and_sliders),
      cmocka_unit_test(slider_slides_freely),
      cmocka_unit_test(light_links_hold_heavy_ones),
      cmocka_unit_test(fixed_bodies_move_as_one),
      cmocka_unit_test(rope_is_never_longer_than_its_length),
      cmocka_unit_test(ropes_without_length_hold_points_together),
      cmocka_unit_test(ropes_between_fixed_ends_do_no_harm),
      cmocka_unit_test(springs_swing_at_their_frequency),
      cmocka_unit_test(glue_holds_flesh_on_a_bone),
      cmocka_unit_test(weight_hangs_from_a_soft_body),
      cmocka_unit_test(joints_and_floor_hold_at_once),
      cmocka_unit_test(bits_do_not_depend_on_threads_or_instruction_sets),
      cmocka_unit_test(snapshots_go_on_bit_for_bit),
      cmocka_unit_test(steps_do_not_allocate),
      cmocka_unit_test(joints_go_with_their_bodies),
      cmocka_unit_test(bad_definitions_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
