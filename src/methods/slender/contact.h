// SPDX-License-Identifier: MIT
// Contact of rods and sheets with obstacles, inside an implicit step.
#ifndef YW_METHODS_SLENDER_CONTACT_H
#define YW_METHODS_SLENDER_CONTACT_H

#include "methods/slender/motion.h"

typedef struct slender_span {
  double begin, h;  ///< s, from the start of the substep
} slender_span;

/// The backward formula of a step: x = base + h1 v.
typedef struct slender_backward {
  bool second_order;
  double h, h1, slow;  ///< h, h' and damping * h'
  slender_motion rigid;
} slender_backward;

/// Largest number of Newton steps per solve within a step.
#define SLENDER_MAX_NEWTON 24
/// Residual of solves that only tell what touches, sticks and slides. (After a single Newton step
/// stiff sheets are pressed and pulled by forces that are not there: they stuck to slopes.)
#define SLENDER_LOOSE 0.1

/// Sets positions and velocities of particles that no obstacle stopped, from the solver's pose.
void yw_slender_finish_places(slender_body* body, yw_particles* particles,
                              const slender_backward* b);
/// Stops particles at obstacles, with Coulomb friction, and solves again for the others.
void yw_slender_meet_obstacles(slender_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                               const slender_backward* b, slender_span s);

#endif
