// SPDX-License-Identifier: MIT
// Rods and sheets against obstacles, inside an implicit step.
#ifndef YW_METHODS_SLENDER_CONTACT_H
#define YW_METHODS_SLENDER_CONTACT_H

#include "methods/slender/motion.h"

typedef struct slender_span {
  double begin, h;  ///< s, from the start of the substep
} slender_span;

/// How a step goes back to the states before it: x = base + h1 v.
typedef struct slender_backward {
  bool second_order;
  double h, h1, slow;  ///< h', damping * h'
  slender_motion rigid;
} slender_backward;

/// Newton steps that a solve within a step may take.
#define SLENDER_MAX_NEWTON 24

/// Positions and velocities of the particles that no obstacle stopped, from the solver's pose.
void yw_slender_finish_places(slender_body* body, yw_particles* particles,
                              const slender_backward* b);
/// Stops the particles at obstacles, with Coulomb friction, and solves for the rest once more.
void yw_slender_meet_obstacles(slender_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                               const slender_backward* b, slender_span s);

#endif
