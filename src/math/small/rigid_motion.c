// SPDX-License-Identifier: MIT
// Free rotation is split into rotations about the principal axes, each of which is exact
// (McLachlan 1993, "Explicit Lie-Poisson integration and the Euler equations"), in a symmetric
// composition of fourth order (Suzuki 1990). Angular momentum is kept in world axes and does not
// change at all.
#include "yawara/extend/rigid_motion.h"

#include "math/small/mat3d.h"
#include "math/small/turn.h"

// The largest rotation (rad) of one composition: the energy then keeps to 1e-8.
#define MAX_ANGLE 0.1
#define MAX_COMPOSITIONS 10000

static yw_turn turn_of(const double q[4]) { return (yw_turn){q[0], q[1], q[2], q[3]}; }

static void set_turn(double out[4], yw_turn q) {
  out[0] = q.x, out[1] = q.y, out[2] = q.z, out[3] = q.w;
}

static void copy3(double out[3], const double v[3]) {
  for (int k = 0; k < 3; ++k) out[k] = v[k];
}

void yw_rigid_turned(yw_rigid_motion* motion) {
  double r[9];
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  yw_turn_matrix(turn_of(motion->rotation), r);
  for (int i = 0; i < 6; ++i) {
    motion->inv_inertia[i] = 0.0;
    for (int k = 0; k < 3 && !motion->held; ++k) {
      motion->inv_inertia[i] += r[3 * row[i] + k] * r[3 * column[i] + k] / motion->moments[k];
    }
  }
}

void yw_rigid_spin(const yw_rigid_motion* motion, double out[3]) {
  // Held bodies move as well, but by their pins: inv_inertia is zero for these.
  yw_turn q = turn_of(motion->rotation);
  double l[3];
  yw_turn_apply(yw_turn_conjugate(q), motion->angular, l);
  for (int k = 0; k < 3; ++k) l[k] /= motion->moments[k];
  yw_turn_apply(q, l, out);
}

void yw_rigid_velocity_at(const yw_rigid_motion* motion, const double arm[3], double out[3]) {
  double spin[3];
  if (motion->held) {
    yw_rigid_spin(motion, spin);
  } else {
    yw_sym_apply(motion->inv_inertia, motion->angular, spin);
  }
  yw_cross3(spin, arm, out);
  for (int k = 0; k < 3; ++k) out[k] += motion->velocity[k];
}

double yw_rigid_inv_mass_at(const yw_rigid_motion* motion, const double arm[3],
                            const double direction[3]) {
  if (motion->held) return 0.0;
  double lever[3], turned[3];
  yw_cross3(arm, direction, lever);
  yw_sym_apply(motion->inv_inertia, lever, turned);
  return 1.0 / motion->mass + yw_dot3(lever, turned);
}

void yw_rigid_add_inv_masses(const yw_rigid_motion* motion, const double arm[3], double out[6]) {
  if (motion->held) return;
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  double levers[3][3], turned[3][3];
  for (int k = 0; k < 3; ++k) {
    double axis[3] = {0};
    axis[k] = 1.0;
    yw_cross3(arm, axis, levers[k]);
    yw_sym_apply(motion->inv_inertia, levers[k], turned[k]);
  }
  for (int i = 0; i < 6; ++i) {
    out[i] += (i < 3 ? 1.0 / motion->mass : 0.0) + yw_dot3(levers[row[i]], turned[column[i]]);
  }
}

void yw_rigid_push(yw_rigid_motion* motion, const double arm[3], const double impulse[3]) {
  if (motion->held) return;
  double twist[3];
  yw_cross3(arm, impulse, twist);
  for (int k = 0; k < 3; ++k) {
    motion->velocity[k] += impulse[k] / motion->mass;
    motion->angular[k] += twist[k];
  }
}

void yw_rigid_twist(yw_rigid_motion* motion, const double impulse[3]) {
  for (int k = 0; k < 3 && !motion->held; ++k) motion->angular[k] += impulse[k];
}

void yw_rigid_point(const yw_rigid_motion* motion, const double local[3], double out[3]) {
  yw_turn_apply(turn_of(motion->rotation), local, out);
  for (int k = 0; k < 3; ++k) out[k] += motion->center[k];
}

double yw_rigid_kinetic_energy(const yw_rigid_motion* motion) {
  double spin[3];
  yw_rigid_spin(motion, spin);
  return 0.5 * (motion->mass * yw_dot3(motion->velocity, motion->velocity) +
                yw_dot3(spin, motion->angular));
}

// Free rotation -----------------------------------------------------------------------------------

// Orientation, and angular momentum in the axes of the body.
typedef struct spinning {
  const double* moments;
  yw_turn turn;
  double l[3];
} spinning;

static void rotate_about_axis(spinning* s, int axis, double dt) {
  int next = (axis + 1) % 3, last = (axis + 2) % 3;
  double v[3] = {0};
  v[axis] = dt * s->l[axis] / s->moments[axis];
  yw_turn step = yw_turn_exp(v);
  const double sine_half[3] = {step.x, step.y, step.z};
  double cosine = step.w * step.w - sine_half[axis] * sine_half[axis];
  double sine = 2.0 * step.w * sine_half[axis], a = s->l[next], b = s->l[last];
  s->l[next] = cosine * a + sine * b;
  s->l[last] = cosine * b - sine * a;
  s->turn = yw_turn_mul(s->turn, step);
}

static void rotate_symmetric(spinning* s, double dt) {
  rotate_about_axis(s, 0, 0.5 * dt);
  rotate_about_axis(s, 1, 0.5 * dt);
  rotate_about_axis(s, 2, dt);
  rotate_about_axis(s, 1, 0.5 * dt);
  rotate_about_axis(s, 0, 0.5 * dt);
}

void yw_rigid_rotate(yw_rigid_motion* motion, double h) {
  const double share = 0.41449077179437573714;  // 1 / (4 - 4^(1/3))
  spinning s = {.moments = motion->moments, .turn = turn_of(motion->rotation)};
  double least = fmin(motion->moments[0], fmin(motion->moments[1], motion->moments[2]));
  double angle = sqrt(yw_dot3(motion->angular, motion->angular)) / least * fabs(h);
  if (!(angle > 0.0)) return;
  int32_t count =
      angle < MAX_ANGLE * MAX_COMPOSITIONS ? 1 + (int32_t)(angle / MAX_ANGLE) : MAX_COMPOSITIONS;
  double dt = h / count;
  for (int32_t i = 0; i < count; ++i) {
    // From the momentum in world axes each time, so that rounding does not add up in it.
    yw_turn_apply(yw_turn_conjugate(s.turn), motion->angular, s.l);
    rotate_symmetric(&s, share * dt);
    rotate_symmetric(&s, share * dt);
    rotate_symmetric(&s, (1.0 - 4.0 * share) * dt);
    rotate_symmetric(&s, share * dt);
    rotate_symmetric(&s, share * dt);
    s.turn = yw_turn_normalize(s.turn);
  }
  set_turn(motion->rotation, s.turn);
  yw_rigid_turned(motion);
}

void yw_rigid_restart(yw_rigid_motion* motion) {
  if (motion->held) return;
  copy3(motion->half_velocity, motion->free_velocity);
  copy3(motion->half_angular, motion->free_angular);
  yw_rigid_rewind(motion);
  for (int32_t i = 0; i < motion->num_contacts; ++i) {
    yw_rigid_contact* c = &motion->contacts[i];
    c->impulse = c->sideways[0] = c->sideways[1] = c->sideways[2] = 0.0;
  }
  for (int32_t i = 0; i < motion->num_anchors; ++i) {
    for (int k = 0; k < 3; ++k) motion->anchors[i].impulse[k] = 0.0;
  }
}

void yw_rigid_rewind(yw_rigid_motion* motion) {
  if (motion->held) return;
  copy3(motion->center, motion->start_center);
  copy3(motion->velocity, motion->half_velocity);
  copy3(motion->angular, motion->half_angular);
  for (int k = 0; k < 4; ++k) motion->rotation[k] = motion->start_rotation[k];
  yw_rigid_turned(motion);
}

void yw_rigid_move(yw_rigid_motion* motion, double h) {
  if (motion->held) return;
  copy3(motion->half_velocity, motion->velocity);
  copy3(motion->half_angular, motion->angular);
  for (int k = 0; k < 3; ++k) {
    motion->center[k] = motion->start_center[k] + h * motion->velocity[k];
  }
  for (int k = 0; k < 4; ++k) motion->rotation[k] = motion->start_rotation[k];
  yw_rigid_turned(motion);
  yw_rigid_rotate(motion, h);
}
