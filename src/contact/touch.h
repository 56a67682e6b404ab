// SPDX-License-Identifier: MIT
// Where balls of rigid bodies meet obstacles, for solvers of their own.
#ifndef YW_CONTACT_TOUCH_H
#define YW_CONTACT_TOUCH_H

#include "yawara/extend/method.h"

/// See yw_step_ctx.touch; ctx->obstacles is a yw_obstacle_set.
int32_t yw_obstacles_touch(const yw_step_ctx* ctx, yw_vec3 from, yw_vec3 to, float radius,
                           float margin, int32_t capacity, yw_touch* out);

#endif
