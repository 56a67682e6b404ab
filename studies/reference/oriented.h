// SPDX-License-Identifier: MIT
// Groups of oriented ellipsoidal particles in double, as in the papers: the moment A, its rotation,
// goals; the springs between frame and particles; the loops whose meaning docs/methods/frames.md
// explains. For tests and for the figures of `yawara paper`; bodies do not use it.
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

/// The frame of a group.
typedef struct frames_group_pose {
  double mass;
  double center[3], rest_center[3];
  double a[9];  ///< moment, by rows
  double r[9];  ///< polar(a), det +1
  double s[6];  ///< r^T a: xx, yy, zz, xy, xz, yz
} frames_group_pose;

/// members: numbers of the particles in the group; NULL: all of them, 0 .. count - 1.
/// weights: in place of the masses, per member; may be NULL.
void yw_oriented_match(const frames_oriented* particles, const int32_t* members, int32_t count,
                       const double* weights, frames_group_pose* out);
/// Where the frame wants a particle.
void yw_oriented_goal(const frames_group_pose* pose, const frames_oriented* particle, double x[3],
                      yw_turn* turn);

// The theorem -------------------------------------------------------------------------------------

/// Springs of stiffness proportional to mass tie every piece of every ellipsoid to its place in a
/// rigid frame. Sums over six pieces per particle, which have the ellipsoid's moments.
typedef struct frames_theorem {
  double force;   ///< net force of the springs on the frame at (c, polar(A)), over the sum of sizes
  double torque;  ///< net torque, the same way
  double stable;  ///< least stiffness of the frame against rotation there, over the largest
  double others;  ///< the same of the most stable of the other three equilibria: below 0
  double others_torque;  ///< largest net torque at those three
} frames_theorem;

/// Two particles or more: the springs of a single one are all at rest.
frames_theorem yw_frames_theorem(const frames_oriented* particles, int32_t count);

/// A random state, repeatable: count particles anywhere near a turned and, if asked, reflected copy
/// of a random rest shape. oriented false: points.
void yw_frames_random_state(uint64_t seed, bool oriented, bool reflected,
                            frames_oriented* particles, int32_t count);

// Loops -------------------------------------------------------------------------------------------

typedef enum frames_scheme {
  FRAMES_MATCHING,    ///< shape matching, Mueller et al. 2005: v += alpha (g - x) / h, x += h v
  FRAMES_SYMPLECTIC,  ///< springs kappa m (g - x), symplectic Euler
  FRAMES_POSITIONS,   ///< position-based: predict, `sweeps` times x += s (g - x), v from the way
                      ///< made
  FRAMES_IMPLICIT     ///< springs, implicit Euler, solved to the last digits
} frames_scheme;

/// Groups of particles and how they are moved.
typedef struct frames_loop {
  frames_scheme scheme;
  double h;     ///< s
  double rate;  ///< alpha, kappa (1/s^2), s or kappa
  int32_t sweeps;
  bool oriented;               ///< rotations move too (position-based only)
  int32_t num_groups;          ///< 1 with members NULL: all particles
  const int32_t* group_start;  ///< num_groups + 1
  const int32_t* members;
} frames_loop;

/// One step without outer forces. Particles in several groups go to the mean of their goals; groups
/// then weigh them with mass over number of groups, so that momentum stays. False when there are
/// more than 64 particles or the implicit solve does not converge.
bool yw_oriented_step(const frames_loop* loop, frames_oriented* particles, int32_t count);

/// Spring forces kappa w (g - x) of all groups, per particle and axis: 3 * count numbers.
bool yw_oriented_forces(const frames_loop* loop, double kappa, const frames_oriented* particles,
                        int32_t count, double* forces);

/// kappa for which springs do what the scheme does: alpha / h^2 (matching), ((1 - s)^-k - 1) / h^2
/// (position-based); mode is the eigenvalue beta of M^-1 L for overlapping groups, 1 for one group.
double yw_frames_equivalent_stiffness(const frames_loop* loop, double mode);

#endif
