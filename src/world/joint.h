// SPDX-License-Identifier: MIT
// Joints inside of a world.
#ifndef YW_WORLD_JOINT_H
#define YW_WORLD_JOINT_H

#include "math/small/turn.h"
#include "yawara/extend/method.h"
#include "yawara/joint.h"

#define YW_JOINT_NAME 64

/// One end of a joint.
typedef struct yw_joint_side {
  int32_t body;        ///< slot; -1: the world
  int32_t* particles;  ///< of a soft body; NULL: rigid, or the world
  int32_t num_particles;
  yw_turn frame;  ///< axes of the joint, x along its axis: in those of the body, or the world

  // While the world steps
  yw_rigid_motion* motion;  ///< NULL: soft, or the world
  yw_particles* soft;       ///< NULL: rigid, or the world
} yw_joint_side;

/// A pair of points that are to meet. Glue has many, other joints one.
typedef struct yw_joint_point {
  double local[2][3];          ///< in the principal axes of a rigid body, or in the world
  int32_t first[2], count[2];  ///< particles of soft sides; the point is their mean
  double impulse[3];           ///< N s on the second side, of both halves of the substep
  double arms[2][3];           ///< m, from the centres of rigid bodies, where the impulse acts
  double from[3], to[3];       ///< m, second point minus the first at both ends of the move
  double warm[2][3];  ///< N s, of both halves of the last substep, with which the next begins
  double seen[3];     ///< m/s, relative velocity when `to` was measured
  double inv_masses[6], inverse[6];  ///< 1/kg, kg
} yw_joint_point;

/// The free direction of a hinge or slider.
typedef struct yw_joint_axis {
  double direction[3], across[2][3];
  double position, seen;    ///< at the end of the move, and the rate then
  double inv_mass;          ///< 1/kg or 1/(kg m^2)
  double low, high, motor;  ///< N s or N m s, of both halves
} yw_joint_axis;

typedef struct yw_joint {
  uint32_t generation;
  char name[YW_JOINT_NAME];
  yw_joint_kind kind;
  yw_joint_side sides[2];
  bool limited, takes_part, collide;
  double lower, upper, motor_speed, motor_force, length, stiffness, damping;
  int32_t num_points;
  yw_joint_point* points;
  yw_joint_axis axis;
  double turn_error[3], turn_seen[3];   ///< rad and rad/s, second frame against the first
  double turn_impulse[3];               ///< N m s, on the second side, of both halves
  double turn_warm[2][3];               ///< N m s, of both halves of the last substep
  bool warmed;                          ///< in this substep
  double inv_inertias[6], inv_turn[6];  ///< 1/(kg m^2), of both sides together, and its inverse
  double last_h, last_error, last_position, last_rate;  ///< of the last substep, for readers
} yw_joint;

struct yw_world;
/// Solves all joints after the bodies have advanced by h; rigid bodies are moved anew, with their
/// contacts and pins, particles of soft ones shifted.
yw_status yw_joints_solve(struct yw_world* world, float h, bool lockstep);
void yw_joint_release(struct yw_world* world, yw_joint* joint);
/// Removes the joints of a body (slot) before it is destroyed.
void yw_world_drop_joints(struct yw_world* world, uint32_t body);

/// Position, or relative rate, along the free axis or line of a joint at the current poses.
double yw_joint_position(const yw_joint* joint);
double yw_joint_rate(const yw_joint* joint);

/// The joints that take part in a substep; context of the coupling.
typedef struct yw_joint_list {
  yw_joint* joints;
  int32_t count;
  double h;
} yw_joint_list;

/// For yw_rigid_solve.
yw_rigid_coupling yw_joint_coupling(yw_joint_list* list);
/// Before the solve, with rigid bodies at their starts: clears impulses and notes where points are.
void yw_joint_start(yw_joint* joint, double h);

/// After the solve: keeps its impulses for the next substep, and readings.
void yw_joint_finish(yw_joint* joint);

#endif
