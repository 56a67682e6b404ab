// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// The motion of a rigid body: where it is, how it moves, and how impulses change that. In double,
// with arrays of 3 in world axes unless a comment says otherwise. Contact and joints see a rigid
// body as one of these (yw_method.rigid_motion), not as particles.
//
// A substep has two halves, as in RATTLE (Andersen 1983): half of gravity, impulses that keep the
// constraints at the end of the substep, the move, the other half of gravity, and impulses that
// keep the rates of the constraints there. So energy does not drift, and what rests has no velocity
// left.
#ifndef YAWARA_EXTEND_RIGID_MOTION_H
#define YAWARA_EXTEND_RIGID_MOTION_H

#include "../base.h"

#define YW_RIGID_FACES 8  ///< flat faces that touch obstacles at the same time

/// A point of a rigid body that may touch an obstacle in this substep.
typedef struct yw_rigid_contact {
  double local[3];     ///< m, centre of a ball of the body, in its principal axes from its centre
  double radius;       ///< m, of the ball; 0 for a point
  double normal[3];    ///< away from the obstacle
  double drift[3];     ///< m/s, velocity of the obstacle
  double friction;     ///< Coulomb coefficient
  double gap;          ///< m, at the start
  double share;        ///< of the substep, when they touch
  double target;       ///< m/s, least velocity along the normal during the move
  double end_target;   ///< m/s, the same at the end
  int32_t face;        ///< flat face that its friction is spread over, below YW_RIGID_FACES; or -1
  double reach;        ///< m, mean distance of the points of that face from its middle
  double impulse;      ///< N s, along the normal, of both halves together
  double sideways[3];  ///< N s, friction, of both halves together
  // Set by yw_rigid_solve
  bool leaves;      ///< does not touch at the end
  double arm[3];    ///< m, from the centre to the point where they touch
  double lever[3];  ///< m, the same half-way through the move: gives how far it goes
  double inv_mass;  ///< 1/kg, along the normal
  double grip[3];   ///< m, from the centre to where friction acts
  double tangents[2][3], inv_slide[2];  ///< directions of friction and inverse masses along them
} yw_rigid_contact;

/// A point of a rigid body held at a moving place, or pulled there by a spring.
typedef struct yw_rigid_anchor {
  double local[3];            ///< m, in the principal axes of the body, from its centre
  double begin[3], end[3];    ///< m, the place at both ends of the substep
  double stiffness, damping;  ///< N/m and N s/m; stiffness 0: held exactly
  double impulse[3];          ///< N s, of both halves together
  // Set by yw_rigid_solve
  double arm[3];
  double inv_stiff[6];    ///< kg, inverse of the matrix of inverse masses
  double inv_mass;        ///< 1/kg, the largest of them
  double wanted[3];       ///< m/s, of a held point
  double from[3], to[3];  ///< m, of a spring: elongations at both ends of the substep ...
  double seen[3];         ///< m/s, ... with this velocity of the point
} yw_rigid_anchor;

typedef struct yw_rigid_motion {
  double mass;        ///< kg
  double moments[3];  ///< kg m^2, about the principal axes
  bool held;          ///< moved by pins: impulses change nothing

  double center[3];       ///< m, centre of mass
  double rotation[4];     ///< of the principal axes; x, y, z, w
  double velocity[3];     ///< m/s, of the centre
  double angular[3];      ///< kg m^2/s, angular momentum about the centre
  double inv_inertia[6];  ///< 1/(kg m^2): xx, yy, zz, xy, xz, yz; set by yw_rigid_turned

  // The substep under way, for solvers that change the motion after the body has moved.
  double start_center[3], start_rotation[4];
  double free_velocity[3], free_angular[3];  ///< in the first half, before any impulses
  double half_velocity[3], half_angular[3];  ///< of the move from the start to here
  double kick[3];                            ///< m/s, gravity in each half of the substep
  double late_velocity[3];                   ///< m/s, what came after the move
  yw_rigid_contact* contacts;                ///< with obstacles
  int32_t num_contacts;
  yw_rigid_anchor* anchors;  ///< pins
  int32_t num_anchors;
} yw_rigid_motion;

/// Recomputes inv_inertia after rotation, moments or held have changed.
YW_API void yw_rigid_turned(yw_rigid_motion* motion);
/// Angular velocity, rad/s.
YW_API void yw_rigid_spin(const yw_rigid_motion* motion, double out[3]);
/// Velocity of the point at `arm` from the centre, m/s.
YW_API void yw_rigid_velocity_at(const yw_rigid_motion* motion, const double arm[3], double out[3]);
/// Inverse mass (1/kg) of the point at `arm` from the centre along a unit vector: an impulse of
/// 1 N s there changes its velocity by this.
YW_API double yw_rigid_inv_mass_at(const yw_rigid_motion* motion, const double arm[3],
                                   const double direction[3]);
/// Adds an impulse (N s) at `arm` from the centre. Nothing happens to a body that is held.
YW_API void yw_rigid_push(yw_rigid_motion* motion, const double arm[3], const double impulse[3]);
/// Adds an angular impulse, N m s.
YW_API void yw_rigid_twist(yw_rigid_motion* motion, const double impulse[3]);
/// World position of a point given in the principal axes.
YW_API void yw_rigid_point(const yw_rigid_motion* motion, const double local[3], double out[3]);

/// Rotates freely for h seconds with the current angular momentum, which stays as it is. Energy is
/// kept to about 1e-8 without drift.
YW_API void yw_rigid_rotate(yw_rigid_motion* motion, double h);
/// J, of translation and rotation.
YW_API double yw_rigid_kinetic_energy(const yw_rigid_motion* motion);

/// 3x3 inverse masses (1/kg; xx, yy, zz, xy, xz, yz) of the point at `arm`, added to `out`.
YW_API void yw_rigid_add_inv_masses(const yw_rigid_motion* motion, const double arm[3],
                                    double out[6]);
/// Goes back to the start of the substep, without the impulses of its contacts and anchors.
YW_API void yw_rigid_restart(yw_rigid_motion* motion);
/// Goes back to the start of the substep, with the velocities of the move.
YW_API void yw_rigid_rewind(yw_rigid_motion* motion);
/// Moves for h seconds from the start of the substep with the current velocities, which it keeps as
/// half_velocity and half_angular.
YW_API void yw_rigid_move(yw_rigid_motion* motion, double h);

// The substep -------------------------------------------------------------------------------------

/// What connects the bodies of one solve: joints. Impulses of both halves are the coupling's own.
typedef struct yw_rigid_coupling {
  void* context;
  /// The bodies are at their ends: measures how far the joints are from where they should be.
  /// Returns the largest error, m (or rad times a length).
  double (*measure)(void* context, double h);
  /// The bodies are at their starts (at_end: at their ends): prepares sweeps.
  void (*begin)(void* context, bool at_end);
  /// One sweep; returns the largest change of a velocity, m/s.
  double (*sweep)(void* context, double h, bool at_end);
  double settled;  ///< sweeps end when no velocity changes by more than this share of the largest
} yw_rigid_coupling;

/// Takes bodies through a substep of h seconds: contacts, anchors and joints (coupling may be NULL)
/// at once. Bodies are at their starts with velocities of the first half (half of gravity
/// included). Returns the number of sweeps.
YW_API int32_t yw_rigid_solve(yw_rigid_motion* const* motions, int32_t count, double h,
                              const yw_rigid_coupling* coupling);

#endif
