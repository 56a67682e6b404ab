// SPDX-License-Identifier: MIT
#include "methods/kit/contact.h"

#include "yawara/extend/timer.h"

bool yw_obstacles_near(const yw_step_ctx* ctx, yw_aabb box) {
  return ctx->collide && !(ctx->is_clear && ctx->is_clear(ctx, box));
}

void yw_meet_obstacles(const yw_step_ctx* ctx, yw_particles* particles, const yw_vec4* old_pos,
                       const float* radius, float begin, float span) {
  double start = ctx->timing ? yw_seconds() : 0.0;
  ctx->collide(ctx, particles, old_pos, radius, begin, span);
  if (ctx->timing && ctx->report) ctx->report->seconds_contact += yw_seconds() - start;
}
