// SPDX-License-Identifier: MIT
// What the answers of several methods to impulses share (`respond` of the method table).
//
// A free body answers as B (B^T M B)^-1 B^T + P (M + h^2 K)^-1 P^T, with B its rigid motions and
// P = 1 - B (B^T M B)^-1 B^T M. Where K B = 0 this is (M + h^2 K)^-1 itself; with an approximate
// solve it is still symmetric, and the momenta are those of the impulses to rounding.
#ifndef YW_METHODS_KIT_RESPOND_H
#define YW_METHODS_KIT_RESPOND_H

#include "yawara/extend/method.h"

/// Rigid motion of a body: velocity + spin x (x - center).
typedef struct yw_rigid_answer {
  bool turns;  ///< rotations count as rigid motions, not translations alone
  double mass;
  double center[3];    ///< m
  double inertia[6];   ///< kg m^2, about the center: xx, yy, zz, xy, xz, yz
  double velocity[3];  ///< m/s
  double spin[3];      ///< rad/s
} yw_rigid_answer;

/// True when no particle is held and no spring pulls.
bool yw_is_free(const yw_particles* particles, const yw_step_ctx* ctx);

/// Rigid answer to the impulses; rest: the impulses without those of this motion, B^T rest = 0.
yw_rigid_answer yw_answer_rigidly(const yw_particles* particles, const yw_vec4* impulses,
                                  bool turns, yw_vec4* rest);
/// Gives a change of velocities the rigid motion of the answer.
void yw_answer_add_rigid(const yw_particles* particles, const yw_rigid_answer* answer,
                         yw_vec4* change);

/// Every particle on its own: impulses / mass, 0 where held.
void yw_answer_apart(const yw_particles* particles, const yw_vec4* impulses, yw_vec4* change);

#endif
