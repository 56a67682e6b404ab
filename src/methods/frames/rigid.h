// SPDX-License-Identifier: MIT
// Rigid motion of a frames body.
#ifndef YW_METHODS_FRAMES_RIGID_H
#define YW_METHODS_FRAMES_RIGID_H

#include "methods/frames/step.h"

/// Held particles are weighted by more than their mass, see rigid.c.
struct frames_rigid {
  double mass;
  double center[3];    ///< m
  double velocity[3];  ///< m/s
  double spin[3];      ///< rad/s
  double angular[3];   ///< angular momentum about the center, kg m^2/s
  double inertia[6];   ///< about the center: xx, yy, zz, xy, xz, yz
  yw_aabb box;         ///< of positions, and of old_pos if given
};
/// old_pos may be NULL.
frames_rigid yw_frames_rigid_motion(frames_body* body, const yw_particles* particles,
                                    const yw_vec4* old_pos, const yw_step_ctx* ctx);

/// Restores the momentum that a body without holds and springs had before a step of h seconds.
void yw_frames_restore_momentum(frames_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                                const frames_rigid* before, const frames_rigid* after, float h);
/// Restores the angular momentum that a step of first order takes from a body that rolls.
void yw_frames_restore_spin(const frames_body* body, yw_particles* particles,
                            const yw_step_ctx* ctx, const frames_rigid* before,
                            const frames_rigid* after, float h);

#endif
