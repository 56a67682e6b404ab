// SPDX-License-Identifier: MIT
// Coulomb friction of a frames body on obstacles, inside an implicit step.
#ifndef YW_METHODS_FRAMES_FRICTION_H
#define YW_METHODS_FRAMES_FRICTION_H

#include "methods/frames/step.h"

/// Lists the particles that collide has stopped, before yw_frames_implicit_touches fixes them.
/// body->guess holds where they were without obstacles.
void yw_frames_grip_begin(frames_body* body, const yw_particles* particles, const yw_step_ctx* ctx,
                          frames_span span);
/// Puts those that stick to their places, once they are fixed.
void yw_frames_grip_hold(frames_body* body, yw_particles* particles);
/// Compares the forces that hold them with Coulomb's law. True if some state or friction force has
/// changed, so that the body must be solved again.
bool yw_frames_grip_check(frames_body* body, yw_particles* particles, const yw_step_ctx* ctx);
/// Ends the list; those that slide stay in the surface of their obstacle.
void yw_frames_grip_end(frames_body* body, yw_particles* particles);

#endif
