// SPDX-License-Identifier: MIT
// The papers' loops: the theorem, and the springs that position-based updates are equivalent to.
#include "math/small/dense.h"
#include "reference/oriented.h"
#include "support/testing.h"

#define STATES 1000

static void check_theorem(bool oriented) {
  frames_oriented particles[12];
  for (int i = 0; i < STATES; ++i) {
    int32_t count = oriented ? 2 + i % 11 : 4 + i % 9;
    yw_frames_random_state((uint64_t)i, oriented, i % 5 == 0, particles, count);
    frames_theorem t = yw_frames_theorem(particles, count);
    assert_at_most(t.force, 1e-13);
    assert_at_most(t.torque, 1e-13);
    assert_at_most(t.others_torque, 1e-12);
    // Only polar(A) is stable.
    assert_at_least(t.stable, 1e-6);
    assert_at_most(t.others, -1e-6);
  }
}

static void matched_frame_is_in_equilibrium_without_orientation(void** state) {
  (void)state;
  check_theorem(false);
}

static void matched_frame_is_in_equilibrium_with_orientation(void** state) {
  (void)state;
  check_theorem(true);
}

// One particle with three different axes has a frame: its own orientation.
static void one_particle_has_a_frame(void** state) {
  (void)state;
  frames_oriented particle;
  yw_frames_random_state(3, true, false, &particle, 1);
  frames_group_pose pose;
  yw_oriented_match(&particle, NULL, 1, NULL, &pose);
  yw_turn turn;
  double x[3], way[3];
  yw_oriented_goal(&pose, &particle, x, &turn);
  yw_turn_log(yw_turn_mul(turn, yw_turn_conjugate(particle.turn)), way);
  for (int k = 0; k < 3; ++k) {
    assert_near(x[k], particle.x[k], 1e-15);
    assert_near(way[k], 0.0, 1e-14);
  }
}

// Rotations ---------------------------------------------------------------------------------------

static void exponential_and_logarithm_are_right(void** state) {
  (void)state;
  test_random random = {5};
  for (int i = 0; i < 2000; ++i) {
    double v[3], back[3], size = pow(10.0, test_random_in(&random, -9, 0.497));
    double norm = 0.0;
    for (int k = 0; k < 3; ++k) v[k] = test_random_in(&random, -1, 1), norm += v[k] * v[k];
    for (int k = 0; k < 3; ++k) v[k] *= size / sqrt(norm);
    yw_turn q = yw_turn_exp(v);
    assert_near(q.w, cos(0.5 * size), 4e-15);
    assert_near(q.x, sin(0.5 * size) * v[0] / size, 4e-15);
    yw_turn_log(q, back);
    for (int k = 0; k < 3; ++k) assert_near(back[k], v[k], 1e-14 * size + 1e-15);
    double m[9];
    yw_turn_matrix(q, m);
    yw_turn again = yw_turn_from_matrix(m);
    double dot = again.x * q.x + again.y * q.y + again.z * q.z + again.w * q.w;
    assert_near(fabs(dot), 1.0, 1e-14);
  }
}

// Single groups -----------------------------------------------------------------------------------

static double farthest(const frames_oriented* a, const frames_oriented* b, int32_t count) {
  double most = 0.0;
  for (int32_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) most = fmax(most, fabs(a[i].x[k] - b[i].x[k]));
  }
  return most;
}

static void give_velocities(frames_oriented* particles, int32_t count) {
  test_random random = {11};
  for (int32_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) particles[i].v[k] = test_random_in(&random, -1, 1);
  }
}

static double compare_loops(const frames_loop* one, const frames_loop* other) {
  frames_oriented a[8], b[8];
  yw_frames_random_state(17, false, false, a, 8);
  give_velocities(a, 8);
  memcpy(b, a, sizeof a);
  double most = 0.0;
  for (int i = 0; i < 200; ++i) {
    assert_true(yw_oriented_step(one, a, 8));
    assert_true(yw_oriented_step(other, b, 8));
    most = fmax(most, farthest(a, b, 8));
  }
  return most;
}

static void shape_matching_is_symplectic_euler(void** state) {
  (void)state;
  const double alphas[3] = {0.1, 0.8, 1.0};
  for (int i = 0; i < 3; ++i) {
    frames_loop matching = {.scheme = FRAMES_MATCHING, .h = 1.0 / 60, .rate = alphas[i]};
    frames_loop springs = {.scheme = FRAMES_SYMPLECTIC, .h = 1.0 / 60};
    springs.rate = yw_frames_equivalent_stiffness(&matching, 1.0);
    assert_at_most(compare_loops(&matching, &springs), 1e-10);
  }
}

static void position_based_is_implicit_euler(void** state) {
  (void)state;
  const double stiffness[3] = {0.1, 0.5, 0.9};
  for (int i = 0; i < 3; ++i) {
    frames_loop loop = {.scheme = FRAMES_POSITIONS, .h = 1.0 / 60, .rate = stiffness[i]};
    loop.sweeps = 1 + 2 * i;
    frames_loop springs = {.scheme = FRAMES_IMPLICIT, .h = 1.0 / 60};
    springs.rate = yw_frames_equivalent_stiffness(&loop, 1.0);
    assert_at_most(compare_loops(&loop, &springs), 1e-10);
  }
}

// Frequencies -------------------------------------------------------------------------------------

// Amplitudes of a damped oscillation obey a_{n+1} = p a_n + q a_{n-1}: least squares, then the
// angle of the roots.
static double angle_of(const double* a, int count) {
  double m[3] = {0}, r[2] = {0};
  for (int n = 1; n + 1 < count; ++n) {
    m[0] += a[n] * a[n], m[1] += a[n] * a[n - 1], m[2] += a[n - 1] * a[n - 1];
    r[0] += a[n] * a[n + 1], r[1] += a[n - 1] * a[n + 1];
  }
  double det = m[0] * m[2] - m[1] * m[1];
  double p = (m[2] * r[0] - m[1] * r[1]) / det, q = (m[0] * r[1] - m[1] * r[0]) / det;
  return atan2(sqrt(-q - 0.25 * p * p), 0.5 * p);
}

// Two groups of seven particles that share four.
#define SHARED 10
static const int32_t shared_start[3] = {0, 7, 14};
static const int32_t shared_members[14] = {0, 1, 2, 3, 4, 5, 6, 3, 4, 5, 6, 7, 8, 9};

typedef struct modes {
  frames_oriented rest[SHARED];
  double values[3 * SHARED], vectors[9 * SHARED * SHARED];  // of M^-1/2 L M^-1/2
} modes;

static void make_modes(modes* m) {
  frames_loop loop = {.num_groups = 2, .group_start = shared_start, .members = shared_members};
  yw_frames_random_state(23, false, false, m->rest, SHARED);
  for (int i = 0; i < SHARED; ++i) memcpy(m->rest[i].x, m->rest[i].rest, sizeof m->rest[i].x);
  const int n = 3 * SHARED;
  double* k = calloc((size_t)(n * n), sizeof *k);
  for (int j = 0; j < n; ++j) {
    double force[2][3 * SHARED], e = 1e-5;
    for (int side = 0; side < 2; ++side) {
      frames_oriented moved[SHARED];
      memcpy(moved, m->rest, sizeof moved);
      moved[j / 3].x[j % 3] += side ? -e : e;
      yw_oriented_forces(&loop, 1.0, moved, SHARED, force[side]);
    }
    for (int i = 0; i < n; ++i) {
      double scale = sqrt(m->rest[i / 3].mass * m->rest[j / 3].mass);
      k[n * i + j] = (force[1][i] - force[0][i]) / (2 * e) / scale;
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) k[n * i + j] = 0.5 * (k[n * i + j] + k[n * j + i]);
  }
  assert_true(yw_dense_eigen(n, k, m->values, m->vectors));
  free(k);
}

// Steps with a small amplitude of one mode; returns the frequency, rad/s.
static double frequency_of(const modes* m, int mode, const frames_loop* loop, int steps) {
  frames_oriented p[SHARED];
  double* amplitude = malloc(sizeof(double) * (size_t)steps);
  memcpy(p, m->rest, sizeof p);
  const double* shape = m->vectors + 3 * SHARED * mode;
  for (int i = 0; i < 3 * SHARED; ++i) p[i / 3].x[i % 3] += 1e-6 * shape[i] / sqrt(p[i / 3].mass);
  for (int n = 0; n < steps; ++n) {
    amplitude[n] = 0.0;
    for (int i = 0; i < 3 * SHARED; ++i) {
      double way = p[i / 3].x[i % 3] - m->rest[i / 3].rest[i % 3];
      amplitude[n] += shape[i] * way * sqrt(p[i / 3].mass);
    }
    assert_true(yw_oriented_step(loop, p, SHARED));
  }
  double angle = angle_of(amplitude, steps);
  free(amplitude);
  return angle / loop->h;
}

static void overlapping_groups_have_a_stiffness_per_mode(void** state) {
  (void)state;
  modes* m = malloc(sizeof *m);
  make_modes(m);
  int checked = 0;
  for (int mode = 6; mode < 3 * SHARED; mode += 5) {
    double beta = m->values[mode];
    // Modes within one group have beta 1 and no neighbour; all six rigid ones 0.
    assert_at_least(beta, 1e-3);
    for (int k = 1; k <= 4; k += 3) {
      frames_loop loop = {.scheme = FRAMES_POSITIONS,
                          .h = 1.0 / 60,
                          .rate = 0.1,
                          .sweeps = k,
                          .num_groups = 2,
                          .group_start = shared_start,
                          .members = shared_members};
      double own = sqrt(beta * yw_frames_equivalent_stiffness(&loop, beta));
      double expected = atan(loop.h * own) / loop.h;
      assert_near(frequency_of(m, mode, &loop, 40) / expected, 1.0, 1e-4);
      ++checked;
    }
  }
  assert_true(checked >= 8);
  free(m);
}

static void springs_keep_their_frequency(void** state) {
  (void)state;
  modes* m = malloc(sizeof *m);
  make_modes(m);
  int mode = 20;
  for (int i = 0; i < 4; ++i) {
    frames_loop loop = {.scheme = FRAMES_IMPLICIT,
                        .h = 1.0 / (30 << i),
                        .rate = 100.0,
                        .num_groups = 2,
                        .group_start = shared_start,
                        .members = shared_members};
    double own = sqrt(m->values[mode] * loop.rate);
    assert_near(frequency_of(m, mode, &loop, 40) / (atan(loop.h * own) / loop.h), 1.0, 1e-4);
  }
  free(m);
}

// With orientations the loop conserves momentum, and a rod-like pair transmits twist.
static void oriented_loop_keeps_momentum(void** state) {
  (void)state;
  frames_oriented p[6];
  yw_frames_random_state(31, true, false, p, 6);
  give_velocities(p, 6);
  for (int i = 0; i < 6; ++i) p[i].spin[i % 3] = 2.0;
  double before[3] = {0}, after[3] = {0};
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 3; ++k) before[k] += p[i].mass * p[i].v[k];
  }
  const int32_t start[3] = {0, 4, 8}, members[8] = {0, 1, 2, 3, 2, 3, 4, 5};
  frames_loop loop = {.scheme = FRAMES_POSITIONS,
                      .h = 1.0 / 60,
                      .rate = 0.4,
                      .sweeps = 3,
                      .oriented = true,
                      .num_groups = 2,
                      .group_start = start,
                      .members = members};
  for (int n = 0; n < 200; ++n) assert_true(yw_oriented_step(&loop, p, 6));
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 3; ++k) after[k] += p[i].mass * p[i].v[k];
  }
  for (int k = 0; k < 3; ++k) assert_near(after[k], before[k], 1e-10);
}

// Orientations ------------------------------------------------------------------------------------

#define ELLIPSOIDS 6

// A group near a rotated rest pose: places, orientations and velocities are off by about `size`.
static void disturb(double size, frames_oriented* p) {
  test_random random = {41};
  yw_frames_random_state(37, true, false, p, ELLIPSOIDS);
  const double about[3] = {0.4, -0.7, 0.2};
  yw_turn turn = yw_turn_exp(about);
  for (int i = 0; i < ELLIPSOIDS; ++i) {
    double way[3];
    yw_turn_apply(turn, p[i].rest, p[i].x);
    for (int k = 0; k < 3; ++k) {
      p[i].x[k] += size * test_random_in(&random, -1, 1);
      p[i].v[k] = 5.0 * size * test_random_in(&random, -1, 1);
      p[i].spin[k] = 5.0 * size * test_random_in(&random, -1, 1);
      way[k] = size * test_random_in(&random, -1, 1);
    }
    p[i].turn = yw_turn_mul(yw_turn_exp(way), yw_turn_mul(turn, p[i].rest_turn));
  }
}

// Largest difference of places and orientations over 60 steps, over the size of the disturbance.
static double compare_oriented(const frames_loop* one, const frames_loop* other, double size) {
  frames_oriented a[ELLIPSOIDS], b[ELLIPSOIDS];
  disturb(size, a);
  memcpy(b, a, sizeof a);
  double most = 0.0;
  for (int n = 0; n < 60; ++n) {
    assert_true(yw_oriented_step(one, a, ELLIPSOIDS));
    assert_true(yw_oriented_step(other, b, ELLIPSOIDS));
    most = fmax(most, farthest(a, b, ELLIPSOIDS));
    for (int i = 0; i < ELLIPSOIDS; ++i) {
      double way[3];
      yw_turn_log(yw_turn_mul(a[i].turn, yw_turn_conjugate(b[i].turn)), way);
      for (int k = 0; k < 3; ++k) most = fmax(most, fabs(way[k]));
    }
  }
  return most / size;
}

// Springs turn an ellipsoid by -kappa I e, for a small rotation e out of its place in the frame, so
// its inertia cancels: rotations follow the same law as places, with the same kappa. What remains
// is of second order in e.
static void oriented_positions_are_implicit_euler(void** state) {
  (void)state;
  const double stiffness[3] = {0.1, 0.8, 0.5};
  for (int i = 0; i < 3; ++i) {
    frames_loop loop = {
        .scheme = FRAMES_POSITIONS, .h = 1.0 / 60, .rate = stiffness[i], .oriented = true};
    loop.sweeps = 1 + i;
    frames_loop springs = {.scheme = FRAMES_IMPLICIT, .h = 1.0 / 60, .oriented = true};
    springs.rate = yw_frames_equivalent_stiffness(&loop, 1.0);
    double coarse = compare_oriented(&loop, &springs, 1e-2);
    double fine = compare_oriented(&loop, &springs, 1e-4);
    assert_at_most(coarse, 4e-2);
    assert_at_most(fine, 4e-4);
    assert_at_most(fine, 0.02 * coarse);
    // Another kappa is not equivalent.
    springs.rate *= 1.1;
    assert_at_least(compare_oriented(&loop, &springs, 1e-4), 5e-3);
  }
}

// The springs' own law: their torques and forces keep momentum and angular momentum.
static void springs_of_ellipsoids_keep_angular_momentum(void** state) {
  (void)state;
  frames_oriented p[ELLIPSOIDS];
  disturb(0.2, p);
  frames_loop loop = {.scheme = FRAMES_IMPLICIT, .h = 1e-5, .rate = 900.0, .oriented = true};
  double before[3] = {0}, after[3] = {0};
  yw_oriented_angular_momentum(p, ELLIPSOIDS, before);
  for (int n = 0; n < 1000; ++n) assert_true(yw_oriented_step(&loop, p, ELLIPSOIDS));
  yw_oriented_angular_momentum(p, ELLIPSOIDS, after);
  double size = sqrt(before[0] * before[0] + before[1] * before[1] + before[2] * before[2]);
  for (int k = 0; k < 3; ++k) assert_near(after[k], before[k], 1e-4 * size);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matched_frame_is_in_equilibrium_without_orientation),
      cmocka_unit_test(matched_frame_is_in_equilibrium_with_orientation),
      cmocka_unit_test(one_particle_has_a_frame),
      cmocka_unit_test(exponential_and_logarithm_are_right),
      cmocka_unit_test(shape_matching_is_symplectic_euler),
      cmocka_unit_test(position_based_is_implicit_euler),
      cmocka_unit_test(overlapping_groups_have_a_stiffness_per_mode),
      cmocka_unit_test(springs_keep_their_frequency),
      cmocka_unit_test(oriented_loop_keeps_momentum),
      cmocka_unit_test(oriented_positions_are_implicit_euler),
      cmocka_unit_test(springs_of_ellipsoids_keep_angular_momentum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
