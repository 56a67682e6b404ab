// SPDX-License-Identifier: MIT
// Rigid motion of a rod or sheet, including the rotation of its particles.
#ifndef YW_METHODS_SLENDER_MOTION_H
#define YW_METHODS_SLENDER_MOTION_H

#include "methods/slender/slender.h"

typedef struct slender_motion {
  double mass;
  double center[3], velocity[3];
  double angular[3];  ///< angular momentum about the center, kg m^2/s
  double inertia[6];  ///< about the center
  double spin[3];     ///< rad/s
  bool finite;
} slender_motion;

/// With ctx, held particles are weighted by much more than their mass, and clamped ones by more
/// than the inertia of the whole body, so that the motion found is one that the holds allow. NULL:
/// the actual masses.
slender_motion yw_slender_motion(const slender_body* body, const yw_particles* particles,
                                 const yw_step_ctx* ctx);
/// Restores the momentum that a free body had before a step of h seconds under gravity.
void yw_slender_restore(slender_body* body, yw_particles* particles, const slender_motion* before,
                        yw_vec3 gravity, double h);
/// Angular velocity from inertia and angular momentum; 0 for a body without inertia about some
/// axis.
void yw_slender_spin_of(const double inertia[6], const double angular[3], double spin[3]);
/// Position in double: the float plus its rounding error.
static inline double yw_slender_place(const slender_body* body, const yw_particles* particles,
                                      int32_t p, int k) {
  return (double)(&particles->pos[p].x)[k] + body->low[3 * p + k];
}
/// Stores a position in double: the float and its rounding error.
static inline void yw_slender_put(slender_body* body, yw_particles* particles, int32_t p,
                                  const double x[3]) {
  for (int k = 0; k < 3; ++k) {
    (&particles->pos[p].x)[k] = (float)x[k];
    body->low[3 * p + k] = x[k] - (double)(float)x[k];
  }
}
/// Angular velocity of a particle with rotation q, rad/s: J^-1 momentum.
void yw_slender_rate_of(const slender_model* model, int32_t p, yw_turn q, const double momentum[3],
                        double rate[3]);
/// Angular momentum for an angular velocity.
void yw_slender_momentum_of(const slender_model* model, int32_t p, yw_turn q, const double rate[3],
                            double momentum[3]);
/// Rotation of a free particle with this angular momentum after h seconds.
yw_turn yw_slender_ahead(const slender_model* model, int32_t p, yw_turn q, const double momentum[3],
                         double h);
/// Rotation of a clamp over a share of the substep.
yw_turn yw_slender_clamp_turn(const yw_hold* hold, double share);

#endif
