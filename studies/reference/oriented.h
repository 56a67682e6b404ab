// SPDX-License-Identifier: MIT
// Groups of oriented ellipsoidal particles in double, as in the papers: the moment A, its rotation,
// goals; the springs between the rigid frame of a group and its particles; and the time stepping
// schemes that docs/methods/frames.md explains. For tests and the figures of `yawara paper`; bodies
// do not use it.
//   A_i = (m_i / 5) R_i diag(a^2, b^2, c^2) Rbar_i^T
//   A = sum (A_i + m_i x_i xbar_i^T) - M c cbar^T,   R = polar(A),   g_i = R (xbar_i - cbar) + c
#ifndef YW_STUDIES_REFERENCE_ORIENTED_H
#define YW_STUDIES_REFERENCE_ORIENTED_H

#include "math/small/turn.h"

typedef struct frames_oriented {
  double mass;     ///< kg
  double semi[3];  ///< m, semi-axes of the ellipsoid; 0: a point
  double rest[3];  ///< m
  yw_turn rest_turn;
  double x[3], v[3];
  yw_turn turn;
  double spin[3];  ///< rad/s
} frames_oriented;

/// The position and orientation of a group's rigid frame.
typedef struct frames_group_pose {
  double mass;
  double center[3], rest_center[3];
  double a[9];  ///< moment, by rows
  double r[9];  ///< polar(a), det +1
  double s[6];  ///< r^T a: xx, yy, zz, xy, xz, yz
} frames_group_pose;

/// members: indices of the particles in the group; NULL: all of them, 0 .. count - 1.
/// weights: per member, replace the masses; may be NULL.
void yw_oriented_match(const frames_oriented* particles, const int32_t* members, int32_t count,
                       const double* weights, frames_group_pose* out);
/// Where the rigid frame pulls a particle.
void yw_oriented_goal(const frames_group_pose* pose, const frames_oriented* particle, double x[3],
                      yw_turn* turn);

// The theorem -------------------------------------------------------------------------------------

/// Springs with stiffness proportional to mass tie every piece of every ellipsoid to its place in a
/// rigid frame. Sums run over six pieces per particle, which have the ellipsoid's moments.
typedef struct frames_theorem {
  double force;   ///< net spring force on the frame at (c, polar(A)), over the sum of sizes
  double torque;  ///< net torque, likewise
  double stable;  ///< smallest rotational stiffness of the frame there, divided by the largest
  double others;  ///< the same for the most stable of the other three equilibria: below 0
  double others_torque;  ///< largest net torque at those three
} frames_theorem;

/// Needs at least two particles: the springs of a single one are all at rest.
frames_theorem yw_frames_theorem(const frames_oriented* particles, int32_t count);

/// A reproducible random state: particles near a rotated and, if requested, reflected copy of a
/// random rest shape. oriented false: points.
void yw_frames_random_state(uint64_t seed, bool oriented, bool reflected,
                            frames_oriented* particles, int32_t count);

// Loops -------------------------------------------------------------------------------------------

typedef enum frames_scheme {
  FRAMES_MATCHING,    ///< shape matching, Mueller et al. 2005: v += alpha (g - x) / h, x += h v
  FRAMES_SYMPLECTIC,  ///< springs kappa m (g - x), symplectic Euler
  FRAMES_POSITIONS,   ///< position-based: predict, `sweeps` times x += s (g - x), update v
  FRAMES_IMPLICIT     ///< springs, implicit Euler, solved to rounding
} frames_scheme;

/// Groups of particles and how they move.
typedef struct frames_loop {
  frames_scheme scheme;
  double h;     ///< s
  double rate;  ///< alpha, kappa (1/s^2), s or kappa, by scheme
  int32_t sweeps;
  bool oriented;       ///< rotations move too (position-based and implicit; particles with volume)
  int32_t num_groups;  ///< 1 with members NULL: all particles
  const int32_t* group_start;  ///< num_groups + 1
  const int32_t* members;
} frames_loop;

/// One step without external forces. Particles in several groups move to the mean of their goals;
/// groups then weight them by mass / number of groups, so that momentum is conserved. False if
/// there are more than 64 particles or the implicit solve does not converge.
bool yw_oriented_step(const frames_loop* loop, frames_oriented* particles, int32_t count);

/// Spring forces kappa w (g - x) of all groups, per particle and axis: 3 * count numbers.
bool yw_oriented_forces(const frames_loop* loop, double kappa, const frames_oriented* particles,
                        int32_t count, double* forces);

/// Sum of m x cross v + I spin.
void yw_oriented_angular_momentum(const frames_oriented* particles, int32_t count, double out[3]);

/// kappa with which springs reproduce the scheme, for positions and orientations alike: alpha / h^2
/// (matching), ((1 - s)^-k - 1) / h^2 (position-based). mode is the eigenvalue beta of M^-1 L for
/// overlapping groups, 1 for one group.
double yw_frames_equivalent_stiffness(const frames_loop* loop, double mode);

#endif
