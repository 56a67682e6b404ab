// SPDX-License-Identifier: MIT
// Bodies on bodies. Contact comes after the step: the solve sees a body in free fall, which
// releases the stress that carries its own weight, and contact then stops the lowest masters one by
// one. A body at rest would sink into itself. So the solve gets the contact impulses of the last
// substep as a force. Afterwards the same velocity and displacement are taken back from the masters
// that received them, and contact can act again. Momentum stays the same as without.
#include <math.h>
#include <string.h>

#include "methods/plastic/phases.h"

// Limits, in units of the body's weight, of the net support and of the sum of all impulses: an
// impact is not expected to repeat. Tuned on a cube on a block: 1 lets it sink by one layer more
// while it lands, 2 to 4 make it shake at long steps.
#define MOST_BORNE 1.5
#define MOST_SQUEEZE 8.0

void yw_plastic_take_support(plastic_body* body, const yw_particles* particles,
                             const yw_step_ctx* ctx) {
  int32_t chunks = yw_plastic_chunks(body->num_masters, PLASTIC_CHUNK);
  for (int32_t c = 0; c < chunks; ++c) memset(body->sums[c].value, 0, sizeof body->sums[c].value);
  for (int32_t m = 0; m < body->num_masters; ++m) {
    double* sum = body->sums[m / PLASTIC_CHUNK].value;
    yw_vec3 change = yw_sub(yw_xyz(particles->vel[m]), yw_xyz(body->last_vel[m]));
    yw_vec3 impulse = yw_scale(change, particles->mass[m]);
    if (particles->inv_mass[m] == 0.0f) impulse = yw_v3(0, 0, 0);
    body->borne[m] = yw_v4(impulse);
    sum[0] -= (double)yw_dot(impulse, ctx->gravity);
    sum[1] += (double)yw_length(impulse);
    sum[2] += (double)particles->mass[m];
  }
  double all[3];
  yw_plastic_sum_masters(body, 3, all);
  // From below, or from above where something lies on it.
  double net = fabs(all[0]), squeeze = all[1], mass = all[2];
  double g = (double)yw_length(ctx->gravity), weight = mass * g * (double)ctx->h, share = 1.0;
  body->is_borne = net > 0.0;
  if (net > MOST_BORNE * weight * g) share = MOST_BORNE * weight * g / net;
  if (squeeze * share > MOST_SQUEEZE * weight) share = MOST_SQUEEZE * weight / squeeze;
  for (int32_t m = 0; body->is_borne && m < body->num_masters; ++m) {
    body->borne[m] = yw_v4(yw_scale(yw_xyz(body->borne[m]), (float)share));
  }
}

void yw_plastic_give_back(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  for (int32_t m = 0; body->is_borne && m < body->num_masters; ++m) {
    yw_vec3 change = yw_scale(yw_xyz(body->borne[m]), -1.0f / particles->mass[m]);
    particles->vel[m] = yw_v4(yw_add(yw_xyz(particles->vel[m]), change));
    particles->pos[m] = yw_v4(yw_mad(yw_xyz(particles->pos[m]), ctx->h, change));
  }
}
