// SPDX-License-Identifier: MIT
// Answer of a frames body to impulses J that act as constant forces over the last step:
//   (M + h'^2 K) change = J
// with the tangents and the preconditioner that the step ended with. Particles that an obstacle
// stopped are free here: whoever calls decides whether the obstacle holds them.
#include <math.h>
#include <string.h>

#include "methods/frames/step.h"
#include "methods/kit/respond.h"

yw_status yw_frames_respond(frames_body* body, const yw_particles* particles,
                            const yw_step_ctx* ctx, const yw_vec4* impulses, float tolerance,
                            yw_vec4* change) {
  if (body->params.solver >= YW_FRAMES_EXTENDED || !(body->h1 > 0.0f)) {
    yw_answer_apart(particles, impulses, change);
    return YW_OK;
  }
  const float inv_h1 = 1.0f / body->h1;
  bool free = yw_is_free(particles, ctx);
  yw_rigid_answer rigid = {0};
  if (free) rigid = yw_answer_rigidly(particles, impulses, true, change);
  // D + K is M / h'^2 + K, over the scale of the stiffness; the unknown is h' times the change.
  const float share = inv_h1 / body->params.stiffness_scale;
  for (int32_t p = 0; p < particles->count; ++p) {
    bool held = particles->inv_mass[p] == 0.0f;
    yw_vec3 push = yw_xyz(free ? change[p] : impulses[p]);
    body->residual[p] = held ? (yw_vec4){0} : yw_v4(yw_scale(push, share));
    body->inverse[p] = held ? 0.0f : 1.0f / (body->diagonal[p] + body->model->jacobi[p]);
  }
  // Statistics and times remain those of the step.
  yw_step_ctx untimed = *ctx;
  untimed.timing = false;
  int32_t iterations = body->iterations;
  const frames_kernels* kernels = YW_KERNEL_PICK(yw_frames_kernels, ctx->simd);
  bool solved = yw_frames_solve_step(body, &untimed, kernels, yw_v3(0, 0, 0), tolerance, 0.0);
  body->iterations = iterations;
  for (int32_t p = 0; p < particles->count; ++p) {
    change[p] = yw_v4(yw_scale(yw_xyz(body->step[p]), inv_h1));
  }
  if (free) yw_answer_add_rigid(particles, &rigid, change);
  return solved ? YW_OK : YW_WARN_NUMERICS;
}
