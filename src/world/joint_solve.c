// SPDX-License-Identifier: MIT
// Impulses of joints, inside the substep of rigid bodies (yawara/extend/rigid_motion.h). Particles
// of soft bodies have already moved: an impulse before the move shifts them by h times the change
// of their velocity.
#include "math/small/mat3d.h"
#include "world/joint.h"

// Sweeps over joints of rigid bodies end when nothing changes by more than this share.
#define SETTLED 1e-9

static void copy3(double out[3], const double v[3]) {
  for (int k = 0; k < 3; ++k) out[k] = v[k];
}

static yw_turn turn_of(const yw_rigid_motion* m) {
  return (yw_turn){m->rotation[0], m->rotation[1], m->rotation[2], m->rotation[3]};
}

// Axes --------------------------------------------------------------------------------------------

static yw_turn frame_of(const yw_joint_side* side) {
  return side->motion ? yw_turn_mul(turn_of(side->motion), side->frame) : side->frame;
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
  yw_joint_point_at(&joint->sides[0], p, 0, a);
  yw_joint_point_at(&joint->sides[1], p, 1, b);
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
    yw_joint_relative_velocity(joint, p, u);
    return length > 0.0 ? yw_dot3(u, p->to) / length : 0.0;
  }
  if (joint->kind == YW_JOINT_HINGE) {
    yw_joint_relative_spin(joint, u);
  } else {
    yw_joint_relative_velocity(joint, &joint->points[0], u);
  }
  return yw_dot3(u, joint->axis.direction);
}

static void push_axis(yw_joint* joint, double impulse) {
  double along[3];
  for (int k = 0; k < 3; ++k) along[k] = impulse * joint->axis.direction[k];
  if (joint->kind == YW_JOINT_HINGE) {
    yw_joint_twist(joint, along);
  } else {
    yw_joint_push(joint, &joint->points[0], along, 0.0);
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
  yw_sym_apply(masses, axis->direction, v);
  axis->inv_mass = joint->kind == YW_JOINT_HINGE
                       ? yw_dot3(v, axis->direction)
                       : yw_joint_inv_mass_along(&joint->points[0], axis->direction);
  yw_joint_relative_spin(joint, joint->turn_seen);
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
  if (joint->kind != YW_JOINT_BALL) yw_joint_twist(joint, turn);
  for (int32_t i = 0; i < joint->num_points; ++i) {
    copy3(impulse, joint->points[i].warm[half]);
    along = joint->kind == YW_JOINT_SLIDER ? yw_dot3(impulse, axis) : 0.0;
    for (int k = 0; k < 3; ++k) impulse[k] -= along * axis[k];
    yw_joint_push(joint, &joint->points[i], impulse, 0.0);
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
      yw_joint_point_at(at ? at : &joint->sides[s], p, at ? 1 : s, x);
      for (int k = 0; m && k < 3; ++k) p->arms[s][k] = x[k] - m->center[k];
    }
    yw_joint_begin_point(joint, p);
    if (at_end && joint->kind == YW_JOINT_SPRING) {
      // The other half of what a spring gives.
      double again[3];
      copy3(again, p->impulse);
      yw_joint_push(joint, p, again, 0.0);
    }
    yw_joint_relative_velocity(joint, p, p->seen);
  }
  bool turns = joint->kind == YW_JOINT_HINGE || joint->kind == YW_JOINT_SLIDER ||
               (joint->kind == YW_JOINT_FIXED && !soft);
  if (turns) begin_axis(joint);
}

// Keeps a pair of points together, of which one is soft.
static double sweep_point(yw_joint* joint, yw_joint_point* p, double h, bool at_end) {
  double u[3], miss[3], impulse[3], largest = 0.0;
  yw_joint_relative_velocity(joint, p, u);
  for (int k = 0; k < 3; ++k) miss[k] = (at_end ? 0.0 : p->seen[k] - p->to[k] / h) - u[k];
  yw_sym_apply(p->inverse, miss, impulse);
  yw_joint_push(joint, p, impulse, at_end ? 0.0 : h);
  for (int k = 0; k < 3; ++k) largest = fmax(largest, fabs(miss[k]));
  yw_joint_velocity_of(&joint->sides[0], p, 0, u);
  double noise = YW_JOINT_ROUNDING * (1.0 + sqrt(yw_dot3(u, u)));
  return largest > noise ? largest : 0.0;
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
  yw_joint_relative_velocity(joint, p, u);
  double length = stretched(p, u, at_end ? 0.0 : h, way);
  double size = sqrt(yw_dot3(p->from, p->from));
  // A rope that turns by more than 60 degrees in a substep, being very short, cannot be held along
  // the direction it had.
  bool along_way = at_end || yw_dot3(way, p->from) < 0.5 * length * size;
  const double* along = along_way ? way : p->from;
  if (along_way) size = length;
  if (!(size > 0.0)) return 0.0;
  for (int k = 0; k < 3; ++k) n[k] = along[k] / size;
  double inv_mass = yw_joint_inv_mass_along(p, n), pulled = -yw_dot3(p->impulse, n), fast;
  if (!(inv_mass > 0.0) || (at_end && !(pulled > 0.0))) return 0.0;
  // Not longer than the rope after the move; not getting longer at the end.
  fast = at_end ? yw_dot3(u, n) : (length - joint->length) / h;
  double change = fmax(0.0, pulled + fast / inv_mass) - pulled;
  for (int k = 0; k < 3; ++k) impulse[k] = -change * n[k];
  yw_joint_push(joint, p, impulse, at_end ? 0.0 : h);
  return fabs(change) * inv_mass;
}

// The mean force of both ends of the substep along the mean direction (a discrete gradient) keeps
// the energy of a spring.
static double sweep_spring(yw_joint* joint, yw_joint_point* p, double h) {
  double u[3], way[3], impulse[3], largest = 0.0;
  yw_joint_relative_velocity(joint, p, u);
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
  yw_joint_push(joint, p, impulse, h);
  return largest;
}

// The coupling ------------------------------------------------------------------------------------

static double sweep_joint(yw_joint* joint, double h, bool at_end) {
  double largest = 0.0;
  if (joint->kind == YW_JOINT_ROPE) return sweep_rope(joint, &joint->points[0], h, at_end);
  if (joint->kind == YW_JOINT_SPRING) {
    return at_end ? 0.0 : sweep_spring(joint, &joint->points[0], h);
  }
  if (joint->kind == YW_JOINT_HINGE || joint->kind == YW_JOINT_SLIDER) {
    largest = sweep_axis(joint, h, at_end);
  }
  if (yw_joint_is_block(joint)) return largest;
  bool glue = yw_joint_is_glue(joint);
  if (glue) largest = yw_joint_sweep_glue(joint, h, at_end);
  for (int32_t i = 0; i < joint->num_points; ++i) {
    yw_joint_point* p = &joint->points[i];
    if (glue && yw_joint_glues(p)) continue;
    largest = fmax(largest, sweep_point(joint, p, h, at_end));
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
  largest = fmax(largest, yw_joint_solve_blocks(list, h, at_end));
  // What is glued to the bodies takes its share at once.
  for (int32_t i = 0; i < list->count; ++i) {
    yw_joint* joint = &list->joints[i];
    if (joint->takes_part && yw_joint_is_glue(joint)) yw_joint_sweep_glue(joint, h, at_end);
  }
  return largest;
}

static void begin(void* context, bool at_end) {
  yw_joint_list* list = context;
  for (int32_t i = 0; i < list->num_joined; ++i) {
    yw_load_begin(&list->joined[i].load, list->joined[i].motion);
  }
  for (int32_t i = 0; i < list->count; ++i) {
    yw_joint* joint = &list->joints[i];
    if (!joint->takes_part) continue;
    begin_joint(joint, at_end);
    int rigid = joint->sides[0].motion ? 0 : 1;
    if (yw_joint_is_glue(joint)) {
      yw_joint_begin_glue(joint, &list->joined[joint->sides[rigid].joined].load);
    }
  }
  for (int32_t i = 0; i < list->num_joined; ++i) yw_load_finish(&list->joined[i].load);
  for (int32_t i = 0; i < list->count; ++i) {
    yw_joint* joint = &list->joints[i];
    if (joint->takes_part && yw_joint_is_block(joint)) yw_joint_begin_block(joint, list->joined);
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
      yw_joint_point_at(&joint->sides[0], p, 0, a);
      yw_joint_point_at(&joint->sides[1], p, 1, b);
      for (int k = 0; k < 3; ++k) {
        p->to[k] = b[k] - a[k];
        if (joint->sides[0].motion) p->arms[0][k] = a[k] - joint->sides[0].motion->center[k];
        if (joint->sides[1].motion) p->arms[1][k] = b[k] - joint->sides[1].motion->center[k];
      }
      joint->last_error = fmax(joint->last_error, point_error(joint, p));
    }
    double at[3];
    yw_joint_point_at(&joint->sides[0], &joint->points[0], 0, at);
    double noise = is_soft(joint) ? YW_JOINT_ROUNDING * (1.0 + sqrt(yw_dot3(at, at))) : 0.0;
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
  return (yw_rigid_coupling){list, measure, begin, sweep, soft ? YW_JOINT_ROUNDING : SETTLED};
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
      yw_joint_point_at(side, p, s, at[s]);
      // Soft bodies have moved already.
      if (side->soft) yw_joint_velocity_of(side, p, s, u);
      for (int k = 0; side->soft && k < 3; ++k) at[s][k] -= h * u[k];
    }
    for (int k = 0; k < 3; ++k) {
      p->from[k] = at[1][k] - at[0][k];
      p->impulse[k] = 0.0;
    }
  }
}
