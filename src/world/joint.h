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
  int32_t joined;           ///< its number among the bodies of the solve
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
  double glued_mass;                 ///< kg, of a soft point on a rigid body; 0 if it is pinned
  double miss[3];                    ///< m/s, what it has to gain on the rigid body
} yw_joint_point;

/// The free direction of a hinge or slider.
typedef struct yw_joint_axis {
  double direction[3], across[2][3];
  double position, seen;    ///< at the end of the move, and the rate then
  double inv_mass;          ///< 1/kg or 1/(kg m^2)
  double low, high, motor;  ///< N s or N m s, of both halves
} yw_joint_axis;

/// A rigid body with the soft points that are glued to it, seen from its centre.
typedef struct yw_joint_load {
  bool held;
  double mass;                        ///< kg, of all
  double moment[3];                   ///< kg m, first moment of the points
  double inertia[6], inv_inertia[6];  ///< kg m^2, of all about their common centre
} yw_joint_load;

/// A rigid body of some joint.
typedef struct yw_joined {
  yw_rigid_motion* motion;
  int32_t body;  ///< slot
  yw_joint_load load;
  double push[3], twist[3];     ///< N s and N m s, and ...
  double velocity[3], spin[3];  ///< ... m/s and rad/s, how it answers
} yw_joined;

#define YW_JOINT_ROWS 6

/// The directions in which a joint keeps two rigid bodies together.
typedef struct yw_joint_block {
  int32_t num_rows, num_pushes;                 ///< pushes at the point come first, then twists
  double rows[YW_JOINT_ROWS][3];                ///< unit vectors
  double factor[YW_JOINT_ROWS][YW_JOINT_ROWS];  ///< of how impulses along them change velocities
  // Conjugate gradients
  double impulse[YW_JOINT_ROWS], miss[YW_JOINT_ROWS];  ///< N s (or N m s), m/s (or rad/s)
  double towards[YW_JOINT_ROWS], along[YW_JOINT_ROWS], answer[YW_JOINT_ROWS];
} yw_joint_block;

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
  yw_joint_load load;  ///< of glue
  yw_joint_block block;
  double turn_error[3], turn_seen[3];  ///< rad and rad/s, second frame against the first
  double turn_impulse[3];              ///< N m s, on the second side, of both halves
  double turn_warm[2][3];              ///< N m s, of both halves of the last substep
  bool warmed;                         ///< in this substep
  double inv_inertias[6];              ///< 1/(kg m^2), of both sides together
  double last_h, last_error, last_position, last_rate;  ///< of the last substep, for readers
} yw_joint;

/// The joints of a world in a substep, and the rigid bodies that they join; context of the
/// coupling.
typedef struct yw_joint_list {
  yw_joint* joints;
  int32_t count;
  yw_joined* joined;
  int32_t num_joined;
} yw_joint_list;

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

// Points (joint_points.c)
// --------------------------------------------------------------------------

/// Positions and velocities of soft bodies are floats: sweeps cannot do better than this share of
/// their size, plus this much (m, m/s).
#define YW_JOINT_ROUNDING 1e-6

void yw_joint_point_at(const yw_joint_side* side, const yw_joint_point* p, int s, double out[3]);
void yw_joint_velocity_of(const yw_joint_side* side, const yw_joint_point* p, int s, double out[3]);
/// Velocity of the second point against the first.
void yw_joint_relative_velocity(const yw_joint* joint, const yw_joint_point* p, double out[3]);
/// shift: s, 0 when positions are not to change.
void yw_joint_push_side(const yw_joint_side* side, const yw_joint_point* p, int s,
                        const double impulse[3], double shift);
/// Impulse on the second side, and its opposite on the first.
void yw_joint_push(const yw_joint* joint, yw_joint_point* p, const double impulse[3], double shift);
/// Finds the inverse masses at a point.
void yw_joint_begin_point(const yw_joint* joint, yw_joint_point* p);
double yw_joint_inv_mass_along(const yw_joint_point* p, const double n[3]);

/// Spin of the second side against the first, rad/s.
void yw_joint_relative_spin(const yw_joint* joint, double out[3]);
/// Angular impulse on the second side, and its opposite on the first.
void yw_joint_twist(yw_joint* joint, const double impulse[3]);

// Loads (joint_load.c)
// -----------------------------------------------------------------------------

void yw_load_begin(yw_joint_load* load, const yw_rigid_motion* motion);
/// Adds a point at `arm` from the centre.
void yw_load_add(yw_joint_load* load, double mass, const double arm[3]);
void yw_load_finish(yw_joint_load* load);
/// How velocity and spin of the rigid body change under a push (N s) and a twist about its centre.
void yw_load_answer(const yw_joint_load* load, const double push[3], const double twist[3],
                    double velocity[3], double spin[3]);

// Glue (joint_glue.c)
// ------------------------------------------------------------------------------

/// Points of a soft body fixed to a rigid one.
bool yw_joint_is_glue(const yw_joint* joint);
/// Whether a point is swept with the others; if not, by itself.
bool yw_joint_glues(const yw_joint_point* p);
/// Adds the points to what the rigid body carries in all.
void yw_joint_begin_glue(yw_joint* joint, yw_joint_load* whole);
/// Returns the largest change of a velocity, m/s.
double yw_joint_sweep_glue(yw_joint* joint, double h, bool at_end);

// Joints of rigid bodies (joint_block.c)
// -----------------------------------------------------------

/// Whether both sides are rigid, or the world, and it is neither rope nor spring.
bool yw_joint_is_block(const yw_joint* joint);
/// After all loads are known.
void yw_joint_begin_block(yw_joint* joint, const yw_joined* joined);
/// Returns the largest change of a velocity, m/s or rad/s.
double yw_joint_solve_blocks(yw_joint_list* list, double h, bool at_end);

// The solve (joint_solve.c)
// ------------------------------------------------------------------------

/// For yw_rigid_solve.
yw_rigid_coupling yw_joint_coupling(yw_joint_list* list);
/// Before the solve, with rigid bodies at their starts: clears impulses and notes where points are.
void yw_joint_start(yw_joint* joint, double h);

/// After the solve: keeps its impulses for the next substep, and readings.
void yw_joint_finish(yw_joint* joint);

#endif
