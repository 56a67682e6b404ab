// SPDX-License-Identifier: MIT
// Contact with obstacles at the end of an inner step.
#ifndef YW_METHODS_KIT_CONTACT_H
#define YW_METHODS_KIT_CONTACT_H

#include "yawara/extend/method.h"

/// True when an obstacle may touch something inside the box during the substep.
bool yw_obstacles_near(const yw_step_ctx* ctx, yw_aabb box);
/// Calls ctx->collide and adds its time to the report.
void yw_meet_obstacles(const yw_step_ctx* ctx, yw_particles* particles, const yw_vec4* old_pos,
                       const float* radius, float begin, float span);

#endif
