// SPDX-License-Identifier: MIT
// Rods and sheets in motion: momentum, frequencies, damping, clamps, and agreement of the solvers.
#include "contact/obstacles.h"
#include "methods/slender/motion.h"
#include "reference/oriented.h"
#include "support/counted_memory.h"
#include "support/slender_moving.h"
#include "yawara/slender.h"

#define PI 3.14159265358979323846

static slender_model* bent_rod(void) {
  yw_vec3 points[12];
  for (int i = 0; i < 12; ++i) {
    points[i] = (yw_vec3){0.1f * (float)i, 0.03f * sinf((float)i), 0.02f * cosf(0.7f * (float)i)};
  }
  yw_rod_def def = yw_default_rod_def();
  def.points = points;
  def.num_points = 12;
  def.radius = 0.02f;
  return rod_model_of(&def);
}

static slender_model* small_sheet(int n) {
  return sheet_from(plate_mesh(1, 1, n, n, PLATE_JITTERED), 0.02f, 1e6f);
}

static void stir(slender_mover* m, double speed, double rate) {
  test_random random = {6};
  for (int p = 0; p < m->particles.count; ++p) {
    double spin[3];
    for (int k = 0; k < 3; ++k) {
      (&m->particles.vel[p].x)[k] = (float)(speed * test_random_in(&random, -1, 1));
      spin[k] = rate * test_random_in(&random, -1, 1);
    }
    yw_slender_momentum_of(m->model, p, m->body->turn[p], spin, m->body->momentum + 3 * p);
  }
}

// Momentum ----------------------------------------------------------------------------------------

static void check_momentum(slender_model* model, yw_slender_solver solver, float damping) {
  slender_mover m;
  mover_make(&m, model, 1.0f / 60);
  mover_solver(&m, solver);
  yw_slender_params params = yw_slender_params_of(m.body);
  params.damping = damping;
  yw_slender_set_params(m.body, &params);
  stir(&m, 0.3, 3.0);
  slender_motion before = yw_slender_motion(m.body, &m.particles, NULL);
  mover_step(&m, 100);
  slender_motion after = yw_slender_motion(m.body, &m.particles, NULL);
  double size = 0.0;
  for (int k = 0; k < 3; ++k) size += fabs(before.angular[k]);
  for (int k = 0; k < 3; ++k) {
    assert_near(after.velocity[k], before.velocity[k], 1e-6);
    assert_near(after.angular[k] / size, before.angular[k] / size, 2e-5);
  }
  mover_free(&m);
}

// Damping acts on what is not rigid motion.
static void momentum_stays(void** state) {
  (void)state;
  for (int i = 0; i < 2 * (YW_SLENDER_CLASSIC + 1); ++i) {
    check_momentum(bent_rod(), (yw_slender_solver)(i / 2), i % 2 ? 4.0f : 0.0f);
    check_momentum(small_sheet(4), (yw_slender_solver)(i / 2), i % 2 ? 4.0f : 0.0f);
  }
}

// Without the correction at the end of a step, the solve conserves angular momentum to the order
// of the formula: half the step, a quarter of the loss.
static void loss_of_angular_momentum_is_of_second_order(void** state) {
  (void)state;
  double lost[2];
  for (int i = 0; i < 2; ++i) {
    slender_mover m;
    mover_make(&m, bent_rod(), i ? 1.0f / 960 : 1.0f / 480);
    stir(&m, 0.3, 3.0);
    // A spring without stiffness marks the body as not free: nothing is corrected.
    yw_spring none = {.stiffness = 0.0f, .damping = 0.0f};
    m.ctx.springs = &none;
    m.ctx.num_springs = 1;
    slender_motion before = yw_slender_motion(m.body, &m.particles, NULL);
    mover_step(&m, 1);
    slender_motion after = yw_slender_motion(m.body, &m.particles, NULL);
    lost[i] = 0.0;
    for (int k = 0; k < 3; ++k) lost[i] += fabs(after.angular[k] - before.angular[k]);
    mover_free(&m);
  }
  assert_at_most(lost[1] / lost[0], 0.4);
}

// One particle ------------------------------------------------------------------------------------

static slender_model* lone_particle(float width) {
  static const yw_vec3 origin = {0, 0, 0};
  yw_rod_def def = yw_default_rod_def();
  def.points = &origin;
  def.num_points = 1;
  if (width > 0.0f) {
    def.section = YW_SECTION_ELLIPSE;
    def.width = width;
    def.thickness = 0.02f;
  }
  return rod_model_of(&def);
}

static void one_particle_falls_and_turns(void** state) {
  (void)state;
  for (int solver = YW_SLENDER_IMPLICIT; solver <= YW_SLENDER_CLASSIC; ++solver) {
    slender_mover m;
    mover_make(&m, lone_particle(0.0f), 1.0f / 100);
    mover_solver(&m, (yw_slender_solver)solver);
    m.ctx.gravity = (yw_vec3){0, -10, 0};
    const double rate[3] = {0, 0.5 * PI, 0};
    yw_slender_momentum_of(m.model, 0, YW_TURN_NONE, rate, m.body->momentum);
    mover_step(&m, 100);
    double turn[3];
    yw_turn_log(m.body->turn[0], turn);
    assert_near(turn[1], 0.5 * PI, 1e-6);
    assert_near(m.particles.vel[0].y, -10.0, 1e-4);
    assert_near(m.particles.pos[0].y, -5.0, 0.06);
    mover_free(&m);
  }
}

// A flat ellipsoid tumbles: angular momentum is conserved, energy nearly.
static void tumbling_particle_keeps_its_energy(void** state) {
  (void)state;
  slender_mover m;
  mover_make(&m, lone_particle(0.08f), 1.0f / 240);
  const double rate[3] = {3.0, 0.4, 2.0};
  yw_slender_momentum_of(m.model, 0, YW_TURN_NONE, rate, m.body->momentum);
  double before[3], energy[2] = {0}, now[3];
  memcpy(before, m.body->momentum, sizeof before);
  for (int k = 0; k < 3; ++k) energy[0] += before[k] * rate[k];
  mover_step(&m, 2400);
  yw_slender_rate_of(m.model, 0, m.body->turn[0], m.body->momentum, now);
  for (int k = 0; k < 3; ++k) {
    energy[1] += m.body->momentum[k] * now[k];
    assert_near(m.body->momentum[k], before[k], 1e-5 * fabs(before[0]));
  }
  assert_near(energy[1] / energy[0], 1.0, 2e-3);
  mover_free(&m);
}

// Vibration ---------------------------------------------------------------------------------------

// Steel ruler, 30 cm by 25 mm by 0.5 mm.
static slender_model* ruler(int n) {
  yw_rod_def def = yw_default_rod_def();
  def.points = straight_points(n, 0.3);
  def.num_points = n;
  def.section = YW_SECTION_RECTANGLE;
  def.width = 0.025f;
  def.thickness = 0.0005f;
  def.width_direction = (yw_vec3){0, 0, 1};
  def.youngs_modulus = 2e11f;
  def.poissons_ratio = 0.29f;
  def.density = 7850;
  slender_model* model = rod_model_of(&def);
  free((void*)def.points);
  return model;
}

static double ruler_frequency(void) {
  double thick = 0.0005, young = 2e11, density = 7850;
  return 3.51602 * sqrt(young * thick * thick / 12 / density) / 0.09;
}

// Frequency and decay rate from the tip, by zero crossings and extremes.
typedef struct vibration {
  double omega, decay;
} vibration;

static vibration watch(slender_mover* m, int tip, int steps) {
  double last = m->particles.pos[tip].y, first_zero = 0, last_zero = 0, peak = 0;
  double first_peak = 0, last_peak = 0, first_time = 0, last_time = 0, peak_time = 0;
  int zeros = 0, peaks = 0;
  for (int i = 1; i <= steps; ++i) {
    mover_step(m, 1);
    double y = m->particles.pos[tip].y, t = i * (double)m->ctx.h;
    if (fabs(y) > peak) peak = fabs(y), peak_time = t;
    if (last < 0 && y >= 0) {
      double zero = t - (double)m->ctx.h * y / (y - last);
      if (zeros++ == 0) first_zero = zero;
      last_zero = zero;
      if (zeros > 1) {
        if (peaks++ == 0) first_peak = peak, first_time = peak_time;
        last_peak = peak, last_time = peak_time;
      }
      peak = 0;
    }
    last = y;
  }
  assert_true(peaks > 2);
  return (vibration){2 * PI * (zeros - 1) / (last_zero - first_zero),
                     -log(last_peak / first_peak) / (last_time - first_time)};
}

// The first mode of a cantilever, by the static shape of a tip load.
static void pluck(slender_mover* m, double tip) {
  for (int p = 0; p < m->particles.count; ++p) {
    double s = (double)m->model->rest[p].x / 0.3;
    m->particles.pos[p].y = (float)(tip * s * s * (3 - s) / 2);
    const double turn[3] = {0, 0, tip / 0.3 * (3 * s - 1.5 * s * s)};
    m->body->turn[p] = yw_turn_exp(turn);
  }
}

static void clamped_ruler_has_its_pitch(void** state) {
  (void)state;
  slender_mover m;
  mover_make(&m, ruler(16), 1.0f / 1000);
  mover_solver(&m, YW_SLENDER_BDF2);
  mover_hold(&m, 0, true);
  pluck(&m, 0.005);
  vibration v = watch(&m, 15, 1500);
  print_message("ruler, 16 particles: %.3f Hz, beam theory %.3f\n", v.omega / 2 / PI,
                ruler_frequency() / 2 / PI);
  assert_near(v.omega / ruler_frequency(), 1.0, 0.01);
  mover_free(&m);
}

// Implicit Euler: arctan(h omega) / h, and the decay ln(1 + h^2 omega^2) / 2h; the model's own
// omega is that of small steps.
static void implicit_euler_has_its_frequency_and_decay(void** state) {
  (void)state;
  slender_mover m;
  mover_make(&m, ruler(16), 1.0f / 4000);
  mover_solver(&m, YW_SLENDER_BDF2);
  mover_hold(&m, 0, true);
  pluck(&m, 0.001);
  double own = watch(&m, 15, 6000).omega;
  mover_free(&m);
  mover_make(&m, ruler(16), 1.0f / 240);
  mover_hold(&m, 0, true);
  pluck(&m, 0.001);
  mover_step(&m, 20);
  vibration v = watch(&m, 15, 360);
  double h = 1.0 / 240;
  assert_near(v.omega / (atan(h * own) / h), 1.0, 2e-3);
  assert_near(v.decay / (log(1 + h * h * own * own) / (2 * h)), 1.0, 0.03);
  mover_free(&m);
}

static void damping_is_a_rate(void** state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    slender_mover m;
    mover_make(&m, ruler(11), i ? 1.0f / 500 : 1.0f / 2000);
    mover_solver(&m, YW_SLENDER_BDF2);
    yw_slender_params params = yw_slender_params_of(m.body);
    params.damping = 3.0f;
    yw_slender_set_params(m.body, &params);
    mover_hold(&m, 0, true);
    pluck(&m, 0.002);
    assert_near(watch(&m, 10, i ? 750 : 3000).decay, 1.5, 0.05);
    mover_free(&m);
  }
}

// Stiff materials with ordinary steps: the ruler comes to rest where it should.
static void steel_ruler_is_stable(void** state) {
  (void)state;
  double sag = 7850 * 9.81 * 0.0005 * pow(0.3, 4) / (8 * 2e11 * pow(0.0005, 3) / 12);
  slender_mover m;
  mover_make(&m, ruler(31), 1.0f / 240);
  mover_hold(&m, 0, true);
  m.ctx.gravity = (yw_vec3){0, -9.81f, 0};
  mover_step(&m, 240 * 8);
  assert_int_equal(m.report.recovered, 0);
  assert_near(-(double)m.particles.pos[30].y / sag, 1.0, 0.01);
  for (int p = 0; p < 31; ++p) assert_at_most(fabs(m.particles.vel[p].y), 1e-4);
  mover_free(&m);
}

// Clamps and solvers ------------------------------------------------------------------------------

static void turned_clamp_turns_the_other_end(void** state) {
  (void)state;
  for (int solver = YW_SLENDER_IMPLICIT; solver <= YW_SLENDER_EXTENDED; ++solver) {
    yw_rod_def def = yw_default_rod_def();
    def.points = straight_points(9, 0.4);
    def.num_points = 9;
    def.params.damping = 10.0f;
    slender_mover m;
    mover_make(&m, rod_model_of(&def), 1.0f / 120);
    mover_solver(&m, (yw_slender_solver)solver);
    mover_hold(&m, 0, true);
    // A quarter turn about the rod's axis in a second.
    const double part[3] = {0.5 * PI / 120, 0, 0};
    m.holds[0].turn = yw_turn_to_quat(yw_turn_exp(part));
    mover_step(&m, 120);
    m.holds[0].turn = (yw_quat){0, 0, 0, 1};
    mover_step(&m, 600);
    for (int p = 0; p < 9; ++p) {
      double turn[3];
      yw_turn_log(m.body->turn[p], turn);
      assert_near(turn[0], 0.5 * PI, 1e-4);
    }
    mover_free(&m);
    free((void*)def.points);
  }
}

static double compare_solvers(slender_model* (*make)(void), double motion) {
  slender_mover a, b;
  mover_make(&a, make(), 1.0f / 60);
  mover_make(&b, make(), 1.0f / 60);
  yw_slender_params params = yw_slender_params_of(a.body);
  params.tolerance = 1e-6f;
  yw_slender_set_params(a.body, &params);
  params.solver = YW_SLENDER_EXTENDED;
  params.substeps = 1;
  params.sweeps = 200;
  yw_slender_set_params(b.body, &params);
  a.ctx.gravity = b.ctx.gravity = (yw_vec3){0, (float)(-9.81 * motion), 0};
  mover_hold(&a, 0, true);
  mover_hold(&b, 0, true);
  stir(&a, 0.1 * motion, 0.3 * motion);
  stir(&b, 0.1 * motion, 0.3 * motion);
  double most = 0.0, size = 0.0;
  yw_vec4 start[64];
  memcpy(start, a.particles.pos, (size_t)a.particles.count * sizeof *start);
  mover_step(&a, 1);
  mover_step(&b, 1);
  for (int p = 0; p < a.particles.count; ++p) {
    most = fmax(most, yw_distance(yw_xyz(a.particles.pos[p]), yw_xyz(b.particles.pos[p])));
    size = fmax(size, yw_distance(yw_xyz(a.particles.pos[p]), yw_xyz(start[p])));
  }
  mover_free(&a);
  mover_free(&b);
  return most / size;
}

static slender_model* soft_rod(void) {
  yw_rod_def def = yw_default_rod_def();
  def.points = straight_points(6, 0.5);
  def.num_points = 6;
  def.radius = 0.03f;
  def.youngs_modulus = 1e5f;
  slender_model* model = rod_model_of(&def);
  free((void*)def.points);
  return model;
}

static slender_model* soft_sheet(void) {
  return sheet_from(plate_mesh(0.3, 0.3, 3, 3, PLATE_MIRRORED), 0.03f, 1e5f);
}

// Many sweeps of the extended solver are one implicit Euler step, up to how a rotation within the
// step is measured, a second-order difference.
static void sweeps_converge_to_implicit_euler(void** state) {
  (void)state;
  slender_model* (*const make[2])(void) = {soft_rod, soft_sheet};
  for (int i = 0; i < 2; ++i) {
    double large = compare_solvers(make[i], 1.0), small = compare_solvers(make[i], 0.1);
    assert_at_most(large, 3e-3);
    assert_at_most(small / large, 0.15);
  }
}

// Two particles in the classic solver are the papers' loop: stretching and twisting along their
// line.
static void classic_pair_is_the_papers_loop(void** state) {
  (void)state;
  yw_rod_def def = yw_default_rod_def();
  def.points = straight_points(2, 0.3);
  def.num_points = 2;
  def.params.solver = YW_SLENDER_CLASSIC;
  def.params.substeps = 1;
  def.params.sweeps = 3;
  def.params.stiffness = 0.3f;
  slender_mover m;
  mover_make(&m, rod_model_of(&def), 1.0f / 60);
  frames_oriented pair[2];
  for (int p = 0; p < 2; ++p) {
    const double* j = m.model->inertia[p];
    double half = 0.5 * (j[0] + j[1] + j[2]), rate[3] = {p ? -2.0 : 3.0, 0, 0};
    pair[p] = (frames_oriented){.mass = (double)m.model->mass[p],
                                .rest = {(double)m.model->rest[p].x, 0, 0},
                                .rest_turn = YW_TURN_NONE,
                                .turn = YW_TURN_NONE,
                                .x = {(double)m.model->rest[p].x, 0, 0},
                                .v = {p ? 0.4 : -0.1, 0, 0},
                                .spin = {rate[0], 0, 0}};
    for (int k = 0; k < 3; ++k) pair[p].semi[k] = sqrt(fmax(5 * (half - j[k]) / pair[p].mass, 0));
    m.particles.vel[p].x = (float)pair[p].v[0];
    yw_slender_momentum_of(m.model, p, YW_TURN_NONE, rate, m.body->momentum + 3 * p);
  }
  frames_loop loop = {.scheme = FRAMES_POSITIONS,
                      .h = (double)(1.0f / 60),
                      .rate = (double)0.3f,
                      .sweeps = 3,
                      .oriented = true};
  for (int i = 0; i < 200; ++i) {
    mover_step(&m, 1);
    assert_true(yw_oriented_step(&loop, pair, 2));
    for (int p = 0; p < 2; ++p) {
      double mine[3], other[3];
      yw_turn_log(yw_turn_mul(m.body->turn[p], yw_turn_conjugate(pair[p].turn)), mine);
      yw_turn_log(pair[p].turn, other);
      assert_near(m.particles.pos[p].x, pair[p].x[0], 1e-5);
      assert_near(mine[0], 0.0, 1e-5);
    }
  }
  mover_free(&m);
  free((void*)def.points);
}

// Miscellaneous -----------------------------------------------------------------------------------

// Setting positions updates orientations: a straight rod laid out as a circle.
static void orientations_follow_positions(void** state) {
  (void)state;
  yw_rod_def def = yw_default_rod_def();
  def.points = straight_points(21, 1.0);
  def.num_points = 21;
  slender_mover m;
  mover_make(&m, rod_model_of(&def), 1.0f / 60);
  for (int p = 0; p < 21; ++p) {
    double angle = 5.0 * p / 20;
    m.particles.pos[p] = (yw_vec4){(float)(0.2 * cos(angle)), (float)(0.2 * sin(angle)), 0, 0};
  }
  yw_slender_method.invalidate(m.body, &m.particles);
  for (int p = 0; p < 21; ++p) {
    const double x[3] = {1, 0, 0};
    double along[3], angle = 5.0 * p / 20;
    yw_turn_apply(m.body->turn[p], x, along);
    double off = acos(fmin(1.0, -sin(angle) * along[0] + cos(angle) * along[1]));
    assert_at_most(off, p == 0 || p == 20 ? 0.13 : 1e-3);
  }
  mover_step(&m, 60);
  mover_free(&m);
  free((void*)def.points);
}

// A sheet that falls without strain is a solution from the start, which saves the factor, most of
// the time of a step; the least strain above rounding needs one.
static void falling_without_strain_needs_no_factor(void** state) {
  (void)state;
  slender_mover m;
  mover_make(&m, small_sheet(12), 1.0f / 60);
  m.ctx.gravity = yw_v3(0, -9.81f, 0);
  yw_vec3 before = yw_xyz(m.particles.pos[40]);
  mover_step(&m, 30);
  assert_true(m.body->solver.has_no_factor);
  assert_int_equal(m.body->newton, 0);
  // Implicit Euler falls by g h^2 n (n + 1) / 2.
  assert_near(before.y - m.particles.pos[40].y, 9.81 / 3600 * 30 * 31 / 2, 1e-5);
  m.particles.vel[40].x = 1e-6f;
  mover_step(&m, 1);
  assert_false(m.body->solver.has_no_factor);
  assert_at_least(m.body->newton, 1);
  mover_free(&m);
}

static void steps_are_finite_from_a_scrambled_start(void** state) {
  (void)state;
  for (int solver = YW_SLENDER_IMPLICIT; solver <= YW_SLENDER_CLASSIC; ++solver) {
    for (int kind = 0; kind < 2; ++kind) {
      slender_mover m;
      mover_make(&m, kind ? small_sheet(4) : bent_rod(), 1.0f / 60);
      mover_solver(&m, (yw_slender_solver)solver);
      test_random random = {12};
      for (int p = 0; p < m.particles.count; ++p) {
        for (int k = 0; k < 3; ++k) {
          (&m.particles.pos[p].x)[k] = (float)test_random_in(&random, -1, 1);
        }
      }
      yw_slender_method.invalidate(m.body, &m.particles);
      mover_step(&m, 60);
      for (int p = 0; p < m.particles.count; ++p) {
        assert_true(yw_is_finite3(yw_xyz(m.particles.pos[p])));
        assert_at_most(yw_length(yw_xyz(m.particles.pos[p])), 100.0);
      }
      mover_free(&m);
    }
  }
}

// When obstacles were asked, s of a substep, and how often.
static float asked_at[2];
static int times_asked;

static void ask(const yw_step_ctx* ctx, int32_t count, const yw_vec4* points, float at,
                yw_vec4* normal, yw_vec4* velocity) {
  asked_at[0] = times_asked ? fminf(asked_at[0], at) : at;
  asked_at[1] = times_asked ? fmaxf(asked_at[1], at) : at;
  ++times_asked;
  yw_obstacles_probe(ctx, count, points, at, normal, velocity);
}

// Friction is that of obstacles where they are at the end of the step, when a rod touches them.
static void obstacles_are_asked_at_the_end(void** state) {
  (void)state;
  yw_vec3* points = straight_points(5, 0.5);
  yw_rod_def def = yw_default_rod_def();
  def.points = points;
  def.num_points = 5;
  def.radius = 0.02f;
  slender_mover m;
  const float h = 1.0f / 240;
  mover_make(&m, rod_model_of(&def), h);
  yw_shape* plane = NULL;
  assert_int_equal(yw_shape_plane(NULL, yw_v3(0, 1, 0), -0.02f, &plane), YW_OK);
  yw_obstacle floor = {.shape = plane, .begin = YW_TRANSFORM_IDENTITY, .friction = 0.3f};
  floor.end = floor.begin;
  floor.bounds = yw_obstacle_bounds(plane, floor.begin, floor.end);
  const yw_vec3 gravity = {0, -9.81f, 0};
  yw_obstacle_set set = {.items = &floor, .count = 1, .h = h, .gravity = gravity};
  m.ctx.gravity = gravity;
  m.ctx.obstacles = &set;
  m.ctx.collide = yw_obstacles_collide;
  m.ctx.is_clear = yw_obstacles_clear;
  m.ctx.probe = ask;
  times_asked = 0;
  mover_step(&m, 3);
  assert_at_least(times_asked, 5);
  for (int k = 0; k < 2; ++k) assert_near(asked_at[k], h, 1e-7);
  mover_free(&m);
  yw_shape_release(plane);
  free(points);
}

// A body has all of its memory from the start, that of factors too.
static void even_the_first_step_allocates_nothing(void** state) {
  (void)state;
  for (int solver = YW_SLENDER_IMPLICIT; solver <= YW_SLENDER_CLASSIC; ++solver) {
    for (int kind = 0; kind < 2; ++kind) {
      slender_mover m;
      counted_memory memory = {.left = ENOUGH};
      yw_allocator mem = counted_allocator(&memory);
      mover_make_in(&m, kind ? small_sheet(4) : bent_rod(), 1.0f / 60, &mem);
      mover_solver(&m, solver);
      stir(&m, 0.3, 3.0);
      const int before = memory.calls;
      mover_step(&m, 1);
      assert_int_equal(memory.calls, before);
      mover_free(&m);
      assert_int_equal(memory.alive, 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(obstacles_are_asked_at_the_end),
      cmocka_unit_test(momentum_stays),
      cmocka_unit_test(loss_of_angular_momentum_is_of_second_order),
      cmocka_unit_test(one_particle_falls_and_turns),
      cmocka_unit_test(tumbling_particle_keeps_its_energy),
      cmocka_unit_test(clamped_ruler_has_its_pitch),
      cmocka_unit_test(implicit_euler_has_its_frequency_and_decay),
      cmocka_unit_test(damping_is_a_rate),
      cmocka_unit_test(steel_ruler_is_stable),
      cmocka_unit_test(turned_clamp_turns_the_other_end),
      cmocka_unit_test(sweeps_converge_to_implicit_euler),
      cmocka_unit_test(classic_pair_is_the_papers_loop),
      cmocka_unit_test(orientations_follow_positions),
      cmocka_unit_test(falling_without_strain_needs_no_factor),
      cmocka_unit_test(steps_are_finite_from_a_scrambled_start),
      cmocka_unit_test(even_the_first_step_allocates_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
