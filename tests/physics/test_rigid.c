// SPDX-License-Identifier: MIT
// Rigid bodies alone: mass and inertia against formulas, free flight against conservation laws and
// an independent integration of Euler's equations, pins.
#include "methods/rigid/model.h"
#include "support/rigid_testing.h"

// Mass --------------------------------------------------------------------------------------------

static void check_mass(yw_model* model, double mass, const double inertia[3]) {
  yw_rigid_mass m;
  assert_int_equal(yw_model_rigid_mass(model, &m), YW_OK);
  assert_near(m.mass / mass, 1.0, 1e-4);
  for (int k = 0; k < 3; ++k) {
    assert_near(m.inertia[k] / inertia[k], 1.0, 1e-4);
    assert_near(m.inertia[3 + k] / inertia[0], 0.0, 1e-4);
    assert_near(m.center[k], 0.0, 1e-5);
  }
  yw_model_release(model);
}

static void inertia_is_that_of_the_shape(void** state) {
  (void)state;
  yw_shape *ball = NULL, *cylinder = NULL, *torus = NULL;
  double m = 1000.0 * 1.0 * 0.37 * 0.23;
  check_mass(make_rigid_box(1.0f, 0.37f, 0.23f), m,
             (double[]){m / 12 * (0.37 * 0.37 + 0.23 * 0.23), m / 12 * (1 + 0.23 * 0.23),
                        m / 12 * (1 + 0.37 * 0.37)});
  m = 2000.0 * 4.0 / 3.0 * PI * 0.125;
  assert_int_equal(yw_shape_sphere(NULL, 0.5f, &ball), YW_OK);
  check_mass(make_rigid(ball, 0.1f, 2000.0f), m, (double[]){m / 10, m / 10, m / 10});
  m = 1000.0 * PI * 0.09;
  double across = m / 12 * (3 * 0.09 + 1.0);
  assert_int_equal(yw_shape_cylinder(NULL, 0.3f, 0.5f, &cylinder), YW_OK);
  check_mass(make_rigid(cylinder, 0.08f, 1000.0f), m, (double[]){across, m * 0.045, across});
  m = 1000.0 * 2 * PI * PI * 0.5 * 0.04;
  across = m / 8 * (4 * 0.25 + 5 * 0.04);
  assert_int_equal(yw_shape_torus(NULL, 0.5f, 0.2f, &torus), YW_OK);
  check_mass(make_rigid(torus, 0.1f, 1000.0f), m,
             (double[]){across, m * (0.25 + 0.75 * 0.04), across});
}

// Tets and triangles have exact integrals: a corner tet has products of inertia too.
static void inertia_of_a_tet_is_exact(void** state) {
  (void)state;
  yw_error error = {0};
  yw_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  int32_t tet[4] = {0, 1, 2, 3}, faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  yw_tet_mesh tets = {.num_vertices = 4, .num_tets = 1, .positions = corners, .tets = tet};
  yw_tri_mesh surface = {
      .num_vertices = 4, .num_triangles = 4, .positions = corners, .triangles = faces};
  for (int kind = 0; kind < 3; ++kind) {
    // The third is inside out.
    for (int t = 0; kind == 2 && t < 4; ++t) {
      int32_t first = faces[3 * t];
      faces[3 * t] = faces[3 * t + 1];
      faces[3 * t + 1] = first;
    }
    yw_rigid_def def = yw_default_rigid_def();
    def.mesh = kind == 0 ? &tets : NULL;
    def.surface = kind == 0 ? NULL : &surface;
    def.density = 6.0f;
    yw_model* model = NULL;
    if (yw_model_create_rigid(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
    yw_rigid_mass m;
    assert_int_equal(yw_model_rigid_mass(model, &m), YW_OK);
    assert_near(m.mass, 1.0, 1e-12);
    for (int k = 0; k < 3; ++k) {
      assert_near(m.center[k], 0.25, 1e-12);
      // Second moments about the centre: 3/80, products -1/80.
      assert_near(m.inertia[k], 6.0 / 80, 1e-12);
      assert_near(m.inertia[3 + k], 1.0 / 80, 1e-12);
    }
    yw_model_release(model);
  }
}

// Sums over the particles are those of the body, so that everything that adds up particles (logs,
// contact) sees its true momenta and energy.
static void particles_add_up_to_the_body(void** state) {
  (void)state;
  yw_model* models[3] = {make_rigid_box(1.0f, 0.4f, 0.2f), make_rigid_ball(0.3f),
                         make_rigid_tets(1.0f, 0.4f, 0.2f)};
  for (int k = 0; k < 3; ++k) {
    yw_rigid_mass mass;
    yw_model_rigid_mass(models[k], &mass);
    yw_world* world = make_weightless_world(1);
    yw_body_id id =
        add_rigid(world, models[k], (yw_vec3){1, 2, 3}, (yw_vec3){0.5f, -1, 2}, (yw_vec3){1, 2, 3});
    yw_body_sums sums;
    assert_int_equal(yw_body_sums_of(world, id, &sums), YW_OK);
    const double* m = mass.inertia;
    const double turning[3] = {m[0] + 2 * m[3] + 3 * m[4], m[3] + 2 * m[1] + 3 * m[5],
                               m[4] + 2 * m[5] + 3 * m[2]};
    double spin = 0.5 * (turning[0] + 2 * turning[1] + 3 * turning[2]);
    assert_near(sums.mass / mass.mass, 1.0, 1e-6);
    for (int i = 0; i < 3; ++i) {
      assert_near(sums.center[i], i + 1.0 + mass.center[i], 1e-6);
      assert_near(sums.angular_momentum[i] / turning[i], 1.0, 1e-5);
    }
    assert_near(sums.kinetic_energy / (0.5 * mass.mass * 5.25 + spin), 1.0, 1e-5);
    yw_world_destroy(world);
  }
}

// Free flight -------------------------------------------------------------------------------------

static void free_flight_keeps_energy_and_momenta(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_body_id id = add_rigid(world, make_rigid_tets(1.0f, 0.6f, 0.25f), (yw_vec3){0, 0, 0},
                            (yw_vec3){0.01f, 0, 0}, (yw_vec3){7, 11, 13});
  yw_rigid_state before = rigid_state_of(world, id);
  double energy = total_energy(world, id), most = 0.0;
  for (int i = 0; i < 6000; ++i) {
    yw_world_step(world, 1.0f / 60, 1, NULL);
    most = fmax(most, fabs(total_energy(world, id) / energy - 1.0));
  }
  yw_rigid_state after = rigid_state_of(world, id);
  assert_at_most(most, 1e-6);
  for (int k = 0; k < 3; ++k) {
    assert_true(after.velocity[k] == before.velocity[k]);
    assert_true(after.angular_momentum[k] == before.angular_momentum[k]);
  }
  yw_world_destroy(world);
}

static void thrown_body_flies_a_parabola(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_id id = add_rigid(world, make_rigid_tets(1.0f, 0.6f, 0.25f), (yw_vec3){0, 0, 0},
                            (yw_vec3){3, 4, 0}, (yw_vec3){1, 2, 3});
  double h = (double)(1.0f / 60 / 2);
  for (int i = 0; i < 60; ++i) yw_world_step(world, 1.0f / 60, 2, NULL);
  yw_rigid_state s = rigid_state_of(world, id);
  double t = 120 * h, g = (double)9.81f;
  assert_near(s.center[0], 3 * t, 1e-7);
  assert_near(s.center[1], 4 * t - 0.5 * g * t * t, 1e-7);
  assert_near(s.velocity[1], 4 - g * t, 1e-7);
  yw_world_destroy(world);
}

// Euler's equations in body axes, fourth-order Runge-Kutta in steps of 1e-4 s.
static void euler_rate(const double i[3], const double w[3], double out[3]) {
  out[0] = (i[1] - i[2]) / i[0] * w[1] * w[2];
  out[1] = (i[2] - i[0]) / i[1] * w[2] * w[0];
  out[2] = (i[0] - i[1]) / i[2] * w[0] * w[1];
}

static void euler_step(const double i[3], double w[3], double dt) {
  double k[4][3], at[3];
  euler_rate(i, w, k[0]);
  for (int s = 1; s < 4; ++s) {
    for (int n = 0; n < 3; ++n) at[n] = w[n] + (s == 3 ? dt : 0.5 * dt) * k[s - 1][n];
    euler_rate(i, at, k[s]);
  }
  for (int n = 0; n < 3; ++n) w[n] += dt / 6 * (k[0][n] + 2 * k[1][n] + 2 * k[2][n] + k[3][n]);
}

// Spin about the body's own axis k.
static double own_spin(const yw_rigid_state* s, int k) {
  const double *q = s->rotation, *w = s->spin;
  const double axes[3][3] = {{1 - 2 * (q[1] * q[1] + q[2] * q[2]), 2 * (q[0] * q[1] + q[3] * q[2]),
                              2 * (q[0] * q[2] - q[3] * q[1])},
                             {2 * (q[0] * q[1] - q[3] * q[2]), 1 - 2 * (q[0] * q[0] + q[2] * q[2]),
                              2 * (q[1] * q[2] + q[3] * q[0])},
                             {2 * (q[0] * q[2] + q[3] * q[1]), 2 * (q[1] * q[2] - q[3] * q[0]),
                              1 - 2 * (q[0] * q[0] + q[1] * q[1])}};
  return axes[k][0] * w[0] + axes[k][1] * w[1] + axes[k][2] * w[2];
}

// A body that spins about its middle axis flips over again and again (Dzhanibekov). Each flip
// multiplies errors; after 1,000 turns they still happen when they should, within 1 % of the time
// between two of them.
static void flips_like_dzhanibekovs_nut(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_model* model = make_rigid_tets(1.0f, 0.6f, 0.3f);
  yw_rigid_mass mass;
  yw_model_rigid_mass(model, &mass);
  yw_body_id id = add_rigid(world, model, (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0},
                            (yw_vec3){0.125f, 10, 0.0625f});
  const double inertia[3] = {mass.inertia[0], mass.inertia[1], mass.inertia[2]};
  double w[3] = {0.125, 10, 0.0625}, dt = (double)(1.0f / 60), duration = 2000 * PI / 10;
  double flip = 0.0, flip_reference = 0.0, worst = 0.0, between = 0.0;
  int flips = 0, flips_reference = 0, steps = (int)(duration / dt);
  for (int i = 0; i < steps; ++i) {
    double before = w[1];
    yw_rigid_state s = rigid_state_of(world, id);
    double own = own_spin(&s, 1);
    for (int n = 0; n < 160; ++n) euler_step(inertia, w, dt / 160);
    yw_world_step(world, 1.0f / 60, 4, NULL);
    s = rigid_state_of(world, id);
    double own_after = own_spin(&s, 1);
    if (before * w[1] < 0.0) {
      double now = (i + before / (before - w[1])) * dt;
      if (flips_reference++ > 0) between = now - flip_reference;
      flip_reference = now;
    }
    if (own * own_after < 0.0) {
      flip = (i + own / (own - own_after)) * dt;
      ++flips;
    }
    if (flips == flips_reference) worst = fmax(worst, fabs(flip - flip_reference));
  }
  assert_true(flips_reference > 100);
  assert_int_equal(flips, flips_reference);
  assert_at_most(worst, 0.01 * between);
  yw_world_destroy(world);
}

// Spinning about y, the surface that is shown turns by the spin and moves with the centre.
static void what_is_shown_turns_with_the_body(void** state) {
  (void)state;
  enum { MOST = 4000 };
  static yw_vec3 before[MOST], after[MOST];
  yw_world* world = make_weightless_world(1);
  yw_body_id id = add_rigid(world, make_rigid_box(0.4f, 0.3f, 0.2f), (yw_vec3){1, 2, 3},
                            (yw_vec3){0.5f, 0, 0}, (yw_vec3){0, 2, 0});
  int32_t count = yw_model_surface(yw_body_model(world, id))->num_vertices;
  assert_true(count > 50 && count < MOST);
  assert_int_equal(yw_body_surface_positions(world, id, before, count), YW_OK);
  for (int i = 0; i < 30; ++i) yw_world_step(world, 1.0f / 60, 1, NULL);
  assert_int_equal(yw_body_surface_positions(world, id, after, count), YW_OK);
  for (int32_t i = 0; i < count; ++i) {
    double x = (double)before[i].x - 1, z = (double)before[i].z - 3;
    assert_near(after[i].x, 1.25 + cos(1.0) * x + sin(1.0) * z, 1e-5);
    assert_near(after[i].y, before[i].y, 1e-5);
    assert_near(after[i].z, 3 - sin(1.0) * x + cos(1.0) * z, 1e-5);
  }
  yw_world_destroy(world);
}

static void damping_decays_velocity_and_spin(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_body_id id = add_rigid(world, make_rigid_ball(0.2f), (yw_vec3){0, 0, 0}, (yw_vec3){1, 0, 0},
                            (yw_vec3){0, 2, 0});
  yw_rigid_params params = {.damping = 0.5f};
  assert_int_equal(yw_body_set_rigid_params(world, id, &params), YW_OK);
  for (int i = 0; i < 60; ++i) yw_world_step(world, 1.0f / 60, 1, NULL);
  yw_rigid_state s = rigid_state_of(world, id);
  assert_near(s.velocity[0], exp(-0.5), 1e-5);
  assert_near(s.spin[1], 2 * exp(-0.5), 1e-5);
  params.damping = -1.0f;
  assert_int_equal(yw_body_set_rigid_params(world, id, &params), YW_ERR_INVALID);
  yw_world_destroy(world);
}

static void push_changes_both_momenta(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_body_id id = add_rigid(world, make_rigid_tets(1.0f, 1.0f, 1.0f), (yw_vec3){0, 0, 0},
                            (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
  assert_int_equal(yw_body_rigid_push(world, id, (yw_vec3){0.5f, 0, 0}, (yw_vec3){0, 100, 0}),
                   YW_OK);
  yw_world_step(world, 1.0f / 60, 1, NULL);
  yw_rigid_state s = rigid_state_of(world, id);
  assert_near(s.velocity[1], 0.1, 1e-9);
  assert_near(s.angular_momentum[2], 50.0, 1e-6);
  assert_near(s.spin[2], 0.3, 1e-6);
  yw_world_destroy(world);
}

// Pins --------------------------------------------------------------------------------------------

// Time of one swing of a body that starts at rest and off its equilibrium along x.
static double swing_period(yw_world* world, yw_body_id id, int substeps, double duration) {
  double dt = (double)(1.0f / 240), first = -1.0, last = 0.0;
  double x0 = rigid_state_of(world, id).velocity[0];
  int crossings = 0;
  for (int i = 0; i < (int)(duration / dt); ++i) {
    yw_world_step(world, 1.0f / 240, substeps, NULL);
    double x = rigid_state_of(world, id).velocity[0];
    if (x0 < 0.0 && x >= 0.0) {
      last = (i + x0 / (x0 - x)) * dt;
      if (first < 0.0) first = last;
      ++crossings;
    }
    x0 = x;
  }
  assert_true(crossings > 2);
  return (last - first) / (crossings - 1);
}

// One pinned vertex: a physical pendulum with the period of small swings, corrected for their size.
static void body_on_one_pin_is_a_pendulum(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_rigid_tets(0.1f, 1.0f, 0.1f);
  yw_rigid_mass mass;
  yw_model_rigid_mass(model, &mass);
  yw_body_def def = yw_default_body_def();
  yw_error error = {0};
  yw_body_id id;
  double angle = 0.1;
  // Turned so that the pinned corner is above the centre, then by the angle about z.
  double lean = atan2(0.05, 0.5) - angle;
  def.model = model;
  def.transform.rotation = (yw_quat){0, 0, sinf(0.5f * (float)lean), cosf(0.5f * (float)lean)};
  assert_int_equal(yw_body_create(world, &def, &id, &error), YW_OK);
  // Both upper corners of one side: a hinge along z.
  int32_t corners[2], count;
  int found = 0;
  const yw_vec3* rest = yw_model_points(model, &count);
  for (int32_t i = 0; i < count; ++i) {
    if (rest[i].y > 0.49f && rest[i].x > 0.049f) corners[found++] = i;
  }
  assert_int_equal(found, 2);
  yw_model_release(model);
  yw_pin_def pin = yw_default_pin_def();
  pin.body = id;
  pin.vertices = corners;
  pin.num_vertices = 2;
  yw_pin_id pin_id;
  assert_int_equal(yw_pin_create(world, &pin, &pin_id, &error), YW_OK);
  double arm2 = 0.5 * 0.5 + 0.05 * 0.05, g = (double)9.81f;
  double about_pin = mass.inertia[2] + mass.mass * arm2;
  double period = 2 * PI * sqrt(about_pin / (mass.mass * g * sqrt(arm2)));
  period *= 1.0 + angle * angle / 16;
  double energy = total_energy(world, id);
  assert_near(swing_period(world, id, 1, 10.0) / period, 1.0, 1e-3);
  // Energy of the swing is m g l (1 - cos(angle)).
  double swing = mass.mass * g * sqrt(arm2) * (1 - cos(angle));
  assert_near(total_energy(world, id), energy, 0.01 * swing);
  yw_world_destroy(world);
}

static void pin_with_a_spring_swings(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_model* model = make_rigid_ball(0.1f);
  yw_rigid_mass mass;
  yw_model_rigid_mass(model, &mass);
  int32_t centre = yw_model_num_particles(model) - 5;
  yw_error error = {0};
  yw_body_id id =
      add_rigid(world, model, (yw_vec3){0, 0, 0}, (yw_vec3){1, 0, 0}, (yw_vec3){0, 0, 0});
  yw_pin_def pin = yw_default_pin_def();
  pin.body = id;
  pin.vertices = &centre;
  pin.num_vertices = 1;
  pin.stiffness = 400.0f;
  yw_pin_id pin_id;
  assert_int_equal(yw_pin_create(world, &pin, &pin_id, &error), YW_OK);
  double period = 2 * PI * sqrt(mass.mass / 400.0);
  assert_near(swing_period(world, id, 1, 6.0) / period, 1.0, 1e-3);
  double most = 0.0;
  for (int i = 0; i < 240; ++i) {
    yw_world_step(world, 1.0f / 240, 1, NULL);
    most = fmax(most, rigid_state_of(world, id).velocity[0]);
  }
  assert_near(most, 1.0, 1e-3);
  yw_world_destroy(world);
}

// Pins on three vertices or more carry the body along their path.
static void body_on_many_pins_follows_them(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_id id = add_rigid(world, make_rigid_tets(1.0f, 0.5f, 0.5f), (yw_vec3){0, 0, 0},
                            (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
  const int32_t vertices[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  yw_key keys[2] = {{0.0, {0, 0, 0}, {0, 0, 0, 1}},
                    {1.0, {2, 0, 0}, {0, 0.70710678f, 0, 0.70710678f}}};
  yw_error error = {0};
  yw_pin_def pin = yw_default_pin_def();
  pin.body = id;
  pin.vertices = vertices;
  pin.num_vertices = 8;
  pin.path = (yw_path){.keys = keys, .num_keys = 2};
  yw_pin_id pin_id;
  assert_int_equal(yw_pin_create(world, &pin, &pin_id, &error), YW_OK);
  for (int i = 0; i < 30; ++i) yw_world_step(world, 1.0f / 60, 1, NULL);
  yw_rigid_state s = rigid_state_of(world, id);
  assert_near(s.center[0], 1.0, 1e-5);
  assert_near(s.center[1], 0.0, 1e-5);
  assert_near(s.velocity[0], 2.0, 1e-3);
  assert_near(s.rotation[1], sin(PI / 8), 1e-5);
  assert_near(s.spin[1], PI / 2, 1e-3);
  yw_world_destroy(world);
}

// State -------------------------------------------------------------------------------------------

// Particles that were moved as one give the motion they were moved by.
static void set_state_moves_the_body(void** state) {
  (void)state;
  yw_world* world = make_weightless_world(1);
  yw_body_id a = add_rigid(world, make_rigid_box(1.0f, 0.4f, 0.2f), (yw_vec3){0, 0, 0},
                           (yw_vec3){1, 2, 3}, (yw_vec3){3, 1, 2});
  yw_body_id b = add_rigid(world, make_rigid_box(1.0f, 0.4f, 0.2f), (yw_vec3){5, 0, 0},
                           (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0});
  for (int i = 0; i < 20; ++i) yw_world_step(world, 1.0f / 60, 1, NULL);
  assert_int_equal(yw_body_set_state(world, b, yw_body_positions(world, a, NULL),
                                     yw_body_velocities(world, a, NULL)),
                   YW_OK);
  yw_rigid_state sa = rigid_state_of(world, a), sb = rigid_state_of(world, b);
  double sign = sa.rotation[3] * sb.rotation[3] < 0.0 ? -1.0 : 1.0;
  for (int k = 0; k < 3; ++k) {
    assert_near(sb.center[k], sa.center[k], 1e-6);
    assert_near(sb.velocity[k], sa.velocity[k], 1e-5);
    assert_near(sb.spin[k], sa.spin[k], 1e-4);
    assert_near(sign * sb.rotation[k], sa.rotation[k], 1e-5);
  }
  yw_world_destroy(world);
}

static void refuse(const yw_rigid_def* def, const char* word) {
  yw_model* model = NULL;
  yw_error error = {0};
  assert_true(yw_model_create_rigid(NULL, def, &model, &error) < 0);
  assert_null(model);
  if (!strstr(error.message, word)) fail_msg("\"%s\" lacks \"%s\"", error.message, word);
}

static void bad_definitions_are_refused(void** state) {
  (void)state;
  yw_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, broken[4], flat[4];
  memcpy(broken, corners, sizeof corners);
  memcpy(flat, corners, sizeof corners);
  broken[2].y = NAN;
  flat[3] = (yw_vec3){1, 1, 0};
  int32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3}, open[12], wild[12];
  memcpy(open, faces, sizeof faces);
  memcpy(wild, faces, sizeof faces);
  open[11] = 0;
  wild[5] = 4;
  yw_tri_mesh good = {
      .num_vertices = 4, .num_triangles = 4, .positions = corners, .triangles = faces};
  yw_tri_mesh surface;
  yw_rigid_def def = yw_default_rigid_def();
  refuse(&def, "mesh or a surface");
  def.surface = &surface;
  surface = good, surface.num_triangles = 3, refuse(&def, "4 or more");
  surface = good, surface.positions = broken, refuse(&def, "not finite");
  surface = good, surface.positions = flat, refuse(&def, "no volume");
  surface = good, surface.triangles = open, refuse(&def, "not closed");
  surface = good, surface.triangles = wild, refuse(&def, "vertex 4");
  surface = good, def.density = 0.0f, refuse(&def, "density");
  def.density = 1.0f, def.params.damping = NAN, refuse(&def, "damping");
}

// Contact -----------------------------------------------------------------------------------------

static rigid_model* rigid_model_of(yw_shape* shape, float size) {
  yw_error error = {0};
  yw_tri_mesh surface = {0};
  void* model = NULL;
  if (yw_shape_surface(shape, NULL, size, &surface, &error) < 0) fail_msg("%s", error.message);
  yw_rigid_def def = yw_default_rigid_def();
  def.surface = &surface;
  def.shape = shape;
  if (yw_rigid_model_create(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  yw_tri_mesh_free(&surface);
  yw_shape_release(shape);
  return model;
}

// The points of a square of side a are (sqrt(2) + asinh(1)) a / 6 from its middle, on average.
static void faces_of_a_cube_reach_as_far_as_squares(void** state) {
  (void)state;
  const double side = 0.4;
  yw_shape* cube = NULL;
  assert_int_equal(yw_shape_box(NULL, yw_v3(0.2f, 0.2f, 0.2f), &cube), YW_OK);
  rigid_model* model = rigid_model_of(cube, 0.1f);
  assert_int_equal(model->num_faces, 6);
  for (int32_t i = 0; i < 6; ++i) {
    assert_near(model->faces[i].area, side * side, 1e-4);
    assert_near(model->faces[i].reach, side * (sqrt(2.0) + asinh(1.0)) / 6.0, 2e-4);
  }
  yw_rigid_model_destroy(model);
}

// A group of balls that is missed is not looked into: the ball around it contains all of them, and
// is not much larger.
static void groups_contain_their_balls(void** state) {
  (void)state;
  yw_shape* torus = NULL;
  assert_int_equal(yw_shape_torus(NULL, 0.5f, 0.2f, &torus), YW_OK);
  rigid_model* model = rigid_model_of(torus, 0.1f);
  assert_at_least(model->num_groups, 3);
  for (int32_t i = 0; i < model->num_groups; ++i) {
    const rigid_ball* group = &model->groups[i];
    double farthest = 0;
    for (int32_t k = i * RIGID_GROUP; k < (i + 1) * RIGID_GROUP && k < model->num_balls; ++k) {
      const rigid_ball* ball = &model->balls[k];
      double away = 0;
      for (int a = 0; a < 3; ++a) {
        away += pow((double)ball->local[a] - (double)group->local[a], 2);
      }
      farthest = fmax(farthest, sqrt(away) + (double)ball->radius);
    }
    assert_near(group->radius, farthest, 1e-6);
  }
  yw_rigid_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inertia_is_that_of_the_shape),
      cmocka_unit_test(inertia_of_a_tet_is_exact),
      cmocka_unit_test(particles_add_up_to_the_body),
      cmocka_unit_test(free_flight_keeps_energy_and_momenta),
      cmocka_unit_test(thrown_body_flies_a_parabola),
      cmocka_unit_test(flips_like_dzhanibekovs_nut),
      cmocka_unit_test(what_is_shown_turns_with_the_body),
      cmocka_unit_test(damping_decays_velocity_and_spin),
      cmocka_unit_test(push_changes_both_momenta),
      cmocka_unit_test(body_on_one_pin_is_a_pendulum),
      cmocka_unit_test(pin_with_a_spring_swings),
      cmocka_unit_test(body_on_many_pins_follows_them),
      cmocka_unit_test(set_state_moves_the_body),
      cmocka_unit_test(bad_definitions_are_refused),
      cmocka_unit_test(faces_of_a_cube_reach_as_far_as_squares),
      cmocka_unit_test(groups_contain_their_balls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
