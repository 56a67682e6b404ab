// SPDX-License-Identifier: MIT
// Impulses of joints, inside the substep of rigid bodies (yawara/extend/rigid_motion.h). Particles
// of soft bodies have already moved: an impulse before the move shifts them by h times the change
// of their velocity.
#include "math/small/mat3d.h"
#include "world/joint.h"

// Positions and velocities of soft bodies are floats: sweeps cannot do better than this share of
// their size, plus this much (m, m/s).
#define SOFT_ROUNDING 1e-6
// Sweeps over joints of rigid bodies end when nothing changes by more than this share.
#define SETTLED 1e-9

// Points ------------------------------------------------------------------------------------------
// -------------------------------------------------------------------------------------------

static void copy3(double out[3], const double v[3]) {
  for (int k = 0; k < 3; ++k) out[k] = v[k];
}

static yw_turn turn_of(const yw_rigid_motion* m) {
  return (yw_turn){m->rotation[0], m->rotation[1], m->rotation[2], m->rotation[3]};
}

static void point_at(const yw_joint_side* side, const yw_joint_point* p, int s, double out[3]) {
  if (side->motion) {
    yw_rigid_point(side->motion, p->local[s], out);
    return;
  }
  copy3(out, p->local[s]);
  if (!side->soft) return;
  out[0] = out[1] = out[2] = 0.0;
  for (int32_t i = 0; i < p->count[s]; ++i) {
    yw_vec4 x = side->soft->pos[side->particles[p->first[s] + i]];
    const double at[3] = {(double)x.x, (double)x.y, (double)x.z};
    for (int k = 0; k < 3; ++k) out[k] += at[k] / p->count[s];
  }
}

static void velocity_of(const yw_joint_side* side, const yw_joint_point* p, int s, double out[3]) {
  out[0] = out[1] = out[2] = 0.0;
  if (side->motion) yw_rigid_velocity_at(side->motion, p->arms[s], out);
  for (int32_t i = 0; side->soft && i < p->count[s]; ++i) {
    yw_vec4 v = side->soft->vel[side->particles[p->first[s] + i]];
    const double u[3] = {(double)v.x, (double)v.y, (double)v.z};
    for (int k = 0; k < 3; ++k) out[k] += u[k] / p->count[s];
  }
}

// Velocity of the second point against the first.
static void relative_velocity(const yw_joint* joint, const yw_joint_point* p, double out[3]) {
  double first[3];
  velocity_of(&joint->sides[0], p, 0, first);
  velocity_of(&joint->sides[1], p, 1, out);
  for (int k = 0; k < 3; ++k) out[k] -= first[k];
}

// shift: s, 0 when positions are not to change.
static void push_side(const yw_joint_side* side, const yw_joint_point* p, int s,
                      const double impulse[3], double shift) {
  if (side->motion) yw_rigid_push(side->motion, p->arms[s], impulse);
  for (int32_t i = 0; side->soft && i < p->count[s]; ++i) {
    int32_t n = side->particles[p->first[s] + i];
    double share = (double)side->soft->inv_mass[n] / p->count[s];
    yw_vec3 change = yw_v3((float)(share * impulse[0]), (float)(share * impulse[1]),
                           (float)(share * impulse[2]));
    side->soft->vel[n] = yw_v4(yw_add(yw_xyz(side->soft->vel[n]), change));
    side->soft->pos[n] = yw_v4(yw_mad(yw_xyz(side->soft->pos[n]), (float)shift, change));
  }
}

// Impulse on the second side, and its opposite on the first.
static void push(const yw_joint* joint, yw_joint_point* p, const double impulse[3], double shift) {
  const double opposite[3] = {-impulse[0], -impulse[1], -impulse[2]};
  push_side(&joint->sides[0], p, 0, opposite, shift);
  push_side(&joint->sides[1], p, 1, impulse, shift);
  for (int k = 0; k < 3; ++k) p->impulse[k] += impulse[k];
}

static void begin_point(const yw_joint* joint, yw_joint_point* p) {
  for (int i = 0; i < 6; ++i) p->inv_masses[i] = 0.0;
  for (int s = 0; s < 2; ++s) {
    const yw_joint_side* side = &joint->sides[s];
    if (side->motion) yw_rigid_add_inv_masses(side->motion, p->arms[s], p->inv_masses);
    for (int32_t i = 0; side->soft && i < p->count[s]; ++i) {
      double weight = 1.0 / p->count[s];
      double inv = (double)side->soft->inv_mass[side->particles[p->first[s] + i]];
      for (int k = 0; k < 3; ++k) p->inv_masses[k] += weight * weight * inv;
    }
  }
  double trace = p->inv_masses[0] + p->inv_masses[1] + p->inv_masses[2];
  if (!(trace > 0.0)) {
    for (int i = 0; i < 6; ++i) p->inverse[i] = 0.0;
    return;
  }
  yw_sym_invert(p->inv_masses, p->inverse);
}

static double inv_mass_along(const yw_joint_point* p, const double n[3]) {
  double v[3];
  yw_sym_apply(p->inv_masses, n, v);
  return yw_dot3(n, v);
}

// Axes --------------------------------------------------------------------------------------------

static yw_turn frame_of(const yw_joint_side* side) {
  return side->motion ? yw_turn_mul(turn_of(side->motion), side->frame) : side->frame;
}

static void spin_of(const yw_joint_side* side, double out[3]) {
  out[0] = out[1] = out[2] = 0.0;
  if (side->motion) yw_rigid_spin(side->motion, out);
}

static void relative_spin(const yw_joint* joint, double out[3]) {
  double first[3];
  spin_of(&joint->sides[0], first);
  spin_of(&joint->sides[1], out);
  for (int k = 0; k < 3; ++k) out[k] -= first[k];
}

static void twist(yw_joint* joint, const double impulse[3]) {
  const double opposite[3] = {-impulse[0], -impulse[1], -impulse[2]};
  if (joint->sides[0].motion) yw_rigid_twist(joint->sides[0].motion, opposite);
  if (joint->sides[1].motion) yw_rigid_twist(joint->sides[1].motion, impulse);
  for (int k = 0; k < 3; ++k) joint->turn_impulse[k] += impulse[k];
}

static bool keeps_orientation(const yw_joint* joint) {
  return joint->kind == YW_JOINT_FIXED || joint->kind == YW_JOINT_SLIDER;
}

// The rotation that the second frame is off: all of it, or of a hinge what tilts the axis.
static void measure_turn(yw_joint* joint) {
  yw_turn a = frame_of(&joint->sides[0]), b = frame_of(&joint->sides[1]);
  if (keeps_orientation(joint)) {
    yw_turn_log(yw_turn_mul(b, yw_turn_conjugate(a)), joint->turn_error);
    return;
  }
  const double x[3] = {1, 0, 0};
  double first[3], second[3];
  yw_turn_apply(a, x, first);
  yw_turn_apply(b, x, second);
  yw_cross3(first, second, joint->turn_error);
}

// Angle of a hinge, from -pi to pi.
static double hinge_angle(const yw_joint* joint) {
  yw_turn a = frame_of(&joint->sides[0]), b = frame_of(&joint->sides[1]);
  yw_turn between = yw_turn_mul(yw_turn_conjugate(a), b);
  double angle[3];
  yw_turn_log(yw_turn_normalize((yw_turn){between.x, 0, 0, between.w}), angle);
  return angle[0];
}

double yw_joint_position(const yw_joint* joint) {
  const yw_joint_point* p = &joint->points[0];
  if (joint->kind == YW_JOINT_HINGE) return hinge_angle(joint);
  double a[3], b[3], way[3];
  point_at(&joint->sides[0], p, 0, a);
  point_at(&joint->sides[1], p, 1, b);
  for (int k = 0; k < 3; ++k) way[k] = b[k] - a[k];
  if (joint->kind == YW_JOINT_ROPE || joint->kind == YW_JOINT_SPRING) {
    return sqrt(yw_dot3(way, way));
  }
  const double x[3] = {1, 0, 0};
  double axis[3];
  yw_turn_apply(frame_of(&joint->sides[0]), x, axis);
  return joint->kind == YW_JOINT_SLIDER ? yw_dot3(way, axis) : 0.0;
}

double yw_joint_rate(const yw_joint* joint) {
  double u[3];
  if (joint->kind == YW_JOINT_ROPE || joint->kind == YW_JOINT_SPRING) {
    const yw_joint_point* p = &joint->points[0];
    double length = sqrt(yw_dot3(p->to, p->to));
    relative_velocity(joint, p, u);
    return length > 0.0 ? yw_dot3(u, p->to) / length : 0.0;
  }
  if (joint->kind == YW_JOINT_HINGE) {
    relative_spin(joint, u);
  } else {
    relative_velocity(joint, &joint->points[0], u);
  }
  return yw_dot3(u, joint->axis.direction);
}

static void push_axis(yw_joint* joint, double impulse) {
  double along[3];
  for (int k = 0; k < 3; ++k) along[k] = impulse * joint->axis.direction[k];
  if (joint->kind == YW_JOINT_HINGE) {
    twist(joint, along);
  } else {
    push(joint, &joint->points[0], along, 0.0);
  }
}

static void begin_axis(yw_joint* joint) {
  yw_joint_axis* axis = &joint->axis;
  yw_turn a = frame_of(&joint->sides[0]);
  const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
  yw_turn_apply(a, x, axis->direction);
  yw_turn_apply(a, y, axis->across[0]);
  yw_turn_apply(a, z, axis->across[1]);
  double *masses = joint->inv_inertias, v[3];
  for (int i = 0; i < 6; ++i) {
    masses[i] = 0.0;
    for (int s = 0; s < 2; ++s) {
      if (joint->sides[s].motion) masses[i] += joint->sides[s].motion->inv_inertia[i];
    }
  }
  bool turns = masses[0] + masses[1] + masses[2] > 0.0;
  for (int i = 0; i < 6; ++i) joint->inv_turn[i] = 0.0;
  if (turns) yw_sym_invert(masses, joint->inv_turn);
  yw_sym_apply(masses, axis->direction, v);
  axis->inv_mass = joint->kind == YW_JOINT_HINGE
                       ? yw_dot3(v, axis->direction)
                       : inv_mass_along(&joint->points[0], axis->direction);
  relative_spin(joint, joint->turn_seen);
  axis->seen = yw_joint_rate(joint);
}

// Sweeps ------------------------------------------------------------------------------------------

static bool is_soft(const yw_joint* joint) { return joint->sides[0].soft || joint->sides[1].soft; }

// Joints of rigid bodies begin with the impulses of the last substep: stacks of them need many
// sweeps to find these.
static void warm_up(yw_joint* joint, int half) {
  if (is_soft(joint) || joint->kind >= YW_JOINT_ROPE) return;
  const double* axis = joint->axis.direction;
  double turn[3], impulse[3];
  copy3(turn, joint->turn_warm[half]);
  // Motors and limits begin anew.
  double along = joint->kind == YW_JOINT_HINGE ? yw_dot3(turn, axis) : 0.0;
  for (int k = 0; k < 3; ++k) turn[k] -= along * axis[k];
  if (joint->kind != YW_JOINT_BALL) twist(joint, turn);
  for (int32_t i = 0; i < joint->num_points; ++i) {
    copy3(impulse, joint->points[i].warm[half]);
    along = joint->kind == YW_JOINT_SLIDER ? yw_dot3(impulse, axis) : 0.0;
    for (int k = 0; k < 3; ++k) impulse[k] -= along * axis[k];
    push(joint, &joint->points[i], impulse, 0.0);
  }
}

// The impulses so far are those of the first half.
static void keep_first_half(yw_joint* joint) {
  copy3(joint->turn_warm[0], joint->turn_impulse);
  for (int32_t i = 0; i < joint->num_points; ++i) {
    copy3(joint->points[i].warm[0], joint->points[i].impulse);
  }
}

void yw_joint_finish(yw_joint* joint) {
  for (int k = 0; k < 3; ++k) {
    joint->turn_warm[1][k] = joint->turn_impulse[k] - joint->turn_warm[0][k];
    for (int32_t i = 0; i < joint->num_points; ++i) {
      yw_joint_point* p = &joint->points[i];
      p->warm[1][k] = p->impulse[k] - p->warm[0][k];
    }
  }
  joint->last_position = yw_joint_position(joint);
  joint->last_rate = yw_joint_rate(joint);
}

// Rigid sides and the world are joined where they are at the start; soft ones, where they end.
static void begin_joint(yw_joint* joint, bool at_end) {
  bool soft = is_soft(joint);
  if (at_end) keep_first_half(joint);
  for (int32_t i = 0; i < joint->num_points; ++i) {
    yw_joint_point* p = &joint->points[i];
    for (int s = 0; s < 2 && (at_end || !soft); ++s) {
      const yw_rigid_motion* m = joint->sides[s].motion;
      // A slider pushes both bodies at the second one's point.
      const yw_joint_side* at = joint->kind == YW_JOINT_SLIDER ? &joint->sides[1] : NULL;
      double x[3];
      point_at(at ? at : &joint->sides[s], p, at ? 1 : s, x);
      for (int k = 0; m && k < 3; ++k) p->arms[s][k] = x[k] - m->center[k];
    }
    begin_point(joint, p);
    if (at_end && joint->kind == YW_JOINT_SPRING) {
      // The other half of what a spring gives.
      double again[3];
      copy3(again, p->impulse);
      push(joint, p, again, 0.0);
    }
    relative_velocity(joint, p, p->seen);
  }
  bool turns = joint->kind == YW_JOINT_HINGE || joint->kind == YW_JOINT_SLIDER ||
               (joint->kind == YW_JOINT_FIXED && !soft);
  if (turns) begin_axis(joint);
}

// Keeps a pair of points together, or across an axis.
static double sweep_point(yw_joint* joint, yw_joint_point* p, double h, bool at_end) {
  double u[3], miss[3], impulse[3], largest = 0.0;
  relative_velocity(joint, p, u);
  for (int k = 0; k < 3; ++k) miss[k] = (at_end ? 0.0 : p->seen[k] - p->to[k] / h) - u[k];
  if (joint->kind == YW_JOINT_SLIDER) {
    for (int i = 0; i < 2; ++i) {
      const double* n = joint->axis.across[i];
      double inv_mass = inv_mass_along(p, n), size;
      relative_velocity(joint, p, u);
      for (int k = 0; k < 3; ++k) miss[k] = (at_end ? 0.0 : p->seen[k] - p->to[k] / h) - u[k];
      size = inv_mass > 0.0 ? yw_dot3(miss, n) / inv_mass : 0.0;
      for (int k = 0; k < 3; ++k) impulse[k] = size * n[k];
      push(joint, p, impulse, at_end ? 0.0 : h);
      largest = fmax(largest, fabs(size) * inv_mass);
    }
    return largest;
  }
  yw_sym_apply(p->inverse, miss, impulse);
  push(joint, p, impulse, at_end ? 0.0 : h);
  for (int k = 0; k < 3; ++k) largest = fmax(largest, fabs(miss[k]));
  velocity_of(&joint->sides[0], p, 0, u);
  double noise = is_soft(joint) ? SOFT_ROUNDING * (1.0 + sqrt(yw_dot3(u, u))) : 0.0;
  return largest > noise ? largest : 0.0;
}

// The twist across the axis of a hinge that changes the relative spin by `miss` there.
static void twist_across(const yw_joint* joint, const double miss[3], double impulse[3]) {
  const double *x = joint->axis.across[0], *y = joint->axis.across[1];
  double kx[3], ky[3];
  yw_sym_apply(joint->inv_inertias, x, kx);
  yw_sym_apply(joint->inv_inertias, y, ky);
  double xx = yw_dot3(x, kx), xy = yw_dot3(x, ky), yy = yw_dot3(y, ky), det = xx * yy - xy * xy;
  double mx = yw_dot3(miss, x), my = yw_dot3(miss, y);
  double a = det > 0.0 ? (yy * mx - xy * my) / det : 0.0;
  double b = det > 0.0 ? (xx * my - xy * mx) / det : 0.0;
  for (int k = 0; k < 3; ++k) impulse[k] = a * x[k] + b * y[k];
}

static double sweep_turn(yw_joint* joint, double h, bool at_end) {
  double w[3], miss[3], impulse[3], largest = 0.0;
  relative_spin(joint, w);
  for (int k = 0; k < 3; ++k) {
    miss[k] = (at_end ? 0.0 : joint->turn_seen[k] - joint->turn_error[k] / h) - w[k];
  }
  if (joint->kind == YW_JOINT_HINGE) {
    double along = yw_dot3(miss, joint->axis.direction);
    for (int k = 0; k < 3; ++k) miss[k] -= along * joint->axis.direction[k];
    twist_across(joint, miss, impulse);
  } else {
    yw_sym_apply(joint->inv_turn, miss, impulse);
  }
  twist(joint, impulse);
  for (int k = 0; k < 3; ++k) largest = fmax(largest, fabs(miss[k]));
  return largest;
}

// Motor and limits.
static double sweep_axis(yw_joint* joint, double h, bool at_end) {
  yw_joint_axis* axis = &joint->axis;
  double largest = 0.0;
  if (!(axis->inv_mass > 0.0)) return 0.0;
  if (joint->motor_force > 0.0) {
    double limit = joint->motor_force * h * (at_end ? 1.0 : 0.5);
    double wanted = axis->motor + (joint->motor_speed - yw_joint_rate(joint)) / axis->inv_mass;
    double change = fmax(-limit, fmin(limit, wanted)) - axis->motor;
    axis->motor += change;
    push_axis(joint, change);
    largest = fabs(change) * axis->inv_mass;
  }
  for (int side = 0; joint->limited && side < 2; ++side) {
    double* impulse = side == 0 ? &axis->low : &axis->high;
    double limit = side == 0 ? joint->lower : joint->upper;
    if (at_end && *impulse == 0.0) continue;
    double target = at_end ? 0.0 : axis->seen + (limit - axis->position) / h;
    double wanted = *impulse + (target - yw_joint_rate(joint)) / axis->inv_mass;
    double change = (side == 0 ? fmax(0.0, wanted) : fmin(0.0, wanted)) - *impulse;
    *impulse += change;
    push_axis(joint, change);
    largest = fmax(largest, fabs(change) * axis->inv_mass);
  }
  return largest;
}

// Ropes and springs -------------------------------------------------------------------------------

// Elongation after the move, with the velocities of now.
static double stretched(const yw_joint_point* p, const double u[3], double h, double way[3]) {
  for (int k = 0; k < 3; ++k) way[k] = p->to[k] + h * (u[k] - p->seen[k]);
  return sqrt(yw_dot3(way, way));
}

static double sweep_rope(yw_joint* joint, yw_joint_point* p, double h, bool at_end) {
  double u[3], way[3], n[3], impulse[3];
  relative_velocity(joint, p, u);
  double length = stretched(p, u, at_end ? 0.0 : h, way);
  double size = sqrt(yw_dot3(at_end ? way : p->from, at_end ? way : p->from));
  if (!(size > 0.0)) return 0.0;
  for (int k = 0; k < 3; ++k) n[k] = (at_end ? way[k] : p->from[k]) / size;
  double inv_mass = inv_mass_along(p, n), pulled = -yw_dot3(p->impulse, n), fast;
  if (!(inv_mass > 0.0) || (at_end && !(pulled > 0.0))) return 0.0;
  // Not longer than the rope after the move; not getting longer at the end.
  fast = at_end ? yw_dot3(u, n) : (length - joint->length) / h;
  double change = fmax(0.0, pulled + fast / inv_mass) - pulled;
  for (int k = 0; k < 3; ++k) impulse[k] = -change * n[k];
  push(joint, p, impulse, at_end ? 0.0 : h);
  return fabs(change) * inv_mass;
}

// The mean force of both ends of the substep along the mean direction (a discrete gradient) keeps
// the energy of a spring.
static double sweep_spring(yw_joint* joint, yw_joint_point* p, double h) {
  double u[3], way[3], impulse[3], largest = 0.0;
  relative_velocity(joint, p, u);
  double to = stretched(p, u, h, way), from = sqrt(yw_dot3(p->from, p->from)), both = from + to;
  if (!(both > 0.0)) return 0.0;
  double force = joint->stiffness * (0.5 * both - joint->length);
  force += joint->damping * (to - from) / h;
  double inv_mass = p->inv_masses[0] + p->inv_masses[1] + p->inv_masses[2];
  double resist = 1.0 + (0.25 * joint->stiffness * h * h + 0.5 * joint->damping * h) * inv_mass;
  for (int k = 0; k < 3; ++k) {
    double wanted = -0.5 * h * force * (p->from[k] + way[k]) / both;
    impulse[k] = (wanted - p->impulse[k]) / resist;
    largest = fmax(largest, fabs(impulse[k]) * inv_mass);
  }
  push(joint, p, impulse, h);
  return largest;
}

// The coupling ------------------------------------------------------------------------------------

static double sweep_joint(yw_joint* joint, double h, bool at_end) {
  double largest = 0.0;
  bool soft = is_soft(joint);
  if (joint->kind == YW_JOINT_ROPE) return sweep_rope(joint, &joint->points[0], h, at_end);
  if (joint->kind == YW_JOINT_SPRING) {
    return at_end ? 0.0 : sweep_spring(joint, &joint->points[0], h);
  }
  if (joint->kind == YW_JOINT_HINGE || joint->kind == YW_JOINT_SLIDER) {
    largest = sweep_axis(joint, h, at_end);
  }
  if (joint->kind != YW_JOINT_BALL && !soft) {
    largest = fmax(largest, sweep_turn(joint, h, at_end));
  }
  for (int32_t i = 0; i < joint->num_points; ++i) {
    largest = fmax(largest, sweep_point(joint, &joint->points[i], h, at_end));
  }
  return largest;
}

static double sweep(void* context, double h, bool at_end) {
  yw_joint_list* list = context;
  double largest = 0.0;
  for (int32_t i = 0; i < list->count; ++i) {
    yw_joint* joint = &list->joints[i];
    if (joint->takes_part) largest = fmax(largest, sweep_joint(joint, h, at_end));
  }
  return largest;
}

static void begin(void* context, bool at_end) {
  yw_joint_list* list = context;
  for (int32_t i = 0; i < list->count; ++i) {
    if (list->joints[i].takes_part) begin_joint(&list->joints[i], at_end);
  }
  // After all of them have seen their velocities.
  for (int32_t i = 0; i < list->count; ++i) {
    yw_joint* joint = &list->joints[i];
    if (joint->takes_part && (at_end || !joint->warmed)) warm_up(joint, at_end ? 1 : 0);
    joint->warmed = true;
  }
}

// What holds at all: points of fixed and ball joints, of sliders across the axis.
static double point_error(const yw_joint* joint, const yw_joint_point* p) {
  if (joint->kind == YW_JOINT_ROPE) {
    return fmax(0.0, sqrt(yw_dot3(p->to, p->to)) - joint->length);
  }
  if (joint->kind == YW_JOINT_SPRING) return 0.0;
  double along = 0.0, square = yw_dot3(p->to, p->to);
  if (joint->kind == YW_JOINT_SLIDER) {
    const double x[3] = {1, 0, 0};
    double axis[3];
    yw_turn_apply(frame_of(&joint->sides[0]), x, axis);
    along = yw_dot3(p->to, axis);
  }
  return sqrt(fmax(0.0, square - along * along));
}

static double measure(void* context, double h) {
  yw_joint_list* list = context;
  double largest = 0.0;
  (void)h;
  for (int32_t i = 0; i < list->count; ++i) {
    yw_joint* joint = &list->joints[i];
    if (!joint->takes_part) continue;
    joint->last_error = 0.0;
    for (int32_t n = 0; n < joint->num_points; ++n) {
      yw_joint_point* p = &joint->points[n];
      double a[3], b[3];
      point_at(&joint->sides[0], p, 0, a);
      point_at(&joint->sides[1], p, 1, b);
      for (int k = 0; k < 3; ++k) {
        p->to[k] = b[k] - a[k];
        if (joint->sides[0].motion) p->arms[0][k] = a[k] - joint->sides[0].motion->center[k];
        if (joint->sides[1].motion) p->arms[1][k] = b[k] - joint->sides[1].motion->center[k];
      }
      joint->last_error = fmax(joint->last_error, point_error(joint, p));
    }
    double at[3];
    point_at(&joint->sides[0], &joint->points[0], 0, at);
    double noise = is_soft(joint) ? SOFT_ROUNDING * (1.0 + sqrt(yw_dot3(at, at))) : 0.0;
    if (joint->last_error > noise) largest = fmax(largest, joint->last_error);
    if (joint->kind == YW_JOINT_HINGE || keeps_orientation(joint)) {
      measure_turn(joint);
      largest = fmax(largest, sqrt(yw_dot3(joint->turn_error, joint->turn_error)));
    }
    joint->axis.position = yw_joint_position(joint);
  }
  return largest;
}

yw_rigid_coupling yw_joint_coupling(yw_joint_list* list) {
  bool soft = false;
  for (int32_t i = 0; i < list->count; ++i) {
    soft = soft || (list->joints[i].takes_part && is_soft(&list->joints[i]));
  }
  return (yw_rigid_coupling){list, measure, begin, sweep, soft ? SOFT_ROUNDING : SETTLED};
}

void yw_joint_start(yw_joint* joint, double h) {
  joint->axis.low = joint->axis.high = joint->axis.motor = 0.0;
  joint->warmed = false;
  joint->last_h = h;
  for (int k = 0; k < 3; ++k) joint->turn_impulse[k] = 0.0;
  for (int32_t i = 0; i < joint->num_points; ++i) {
    yw_joint_point* p = &joint->points[i];
    double at[2][3], u[3];
    for (int s = 0; s < 2; ++s) {
      const yw_joint_side* side = &joint->sides[s];
      point_at(side, p, s, at[s]);
      // Soft bodies have moved already.
      if (side->soft) velocity_of(side, p, s, u);
      for (int k = 0; side->soft && k < 3; ++k) at[s][k] -= h * u[k];
    }
    for (int k = 0; k < 3; ++k) {
      p->from[k] = at[1][k] - at[0][k];
      p->impulse[k] = 0.0;
    }
  }
}
