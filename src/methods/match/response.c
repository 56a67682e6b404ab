// SPDX-License-Identifier: MIT
// Stiffness that depends on neither the mesh nor the step.
//
// Goals pull with accelerations k (g - x). A region under a uniform strain e stores the energy
// k tr(e Q_r e) / 2, so a body of mass M and density rho behaves like a material with Poisson's
// ratio 0 and Young's modulus
//   E = rho k s / 3,   s = (sum over regions of tr Q_r) / M,
// whatever its mesh; where tets are small, goals pull harder (even_out in moments.c), which makes
// the steps smaller. k is chosen such that E = stiffness rho g L, with the size L of the body:
// bodies of any size then sag by the same share of it, and move alike when time is counted in
// units of sqrt(L / g).
#include "methods/match/response.h"

#include <math.h>

#include "math/small/exponent.h"
#include "methods/match/step.h"

// Inner steps resolve the fastest vibration, sqrt(k), this finely ...
#define LARGEST_STEP 0.9
// ... unless that takes more than this many of them: the body is then softer than asked for.
#define MAX_INNER_STEPS 4096
// Longest lag that such steps can follow, in units of 1 / sqrt(k): k h^2 + 2 k h tau < 3.5.
#define LONGEST_LAG 1.4

// Defaults with alpha, as in the papers' time ...
#define PLAIN_DAMPING 2.0f
#define PLAIN_VISCOSITY 0.015f
// ... and with stiffness, in units of sqrt(g / L) and of sqrt(L / (stiffness g)): a standing column
// loses a tenth of the critical damping to viscosity.
#define SCALED_DAMPING 0.64
#define SCALED_VISCOSITY 0.127

// An explicit step is stable while alpha (1 + 2 tau / h) + 2 damp < 4.
static float stable_lag(float tau, float alpha, float damp, float h) {
  float limit = 0.5f * h * (fminf(3.5f, 3.6f - 2.0f * damp) / fmaxf(alpha, 1e-3f) - 1.0f);
  return fminf(tau, limit);
}

static match_response finish(int32_t num_steps, float h, float alpha, float damping, float tau) {
  match_response r = {
      .num_steps = num_steps, .h = h, .alpha = alpha, .damp = 1.0f - yw_expf(-damping * h)};
  r.lag = stable_lag(tau, alpha, r.damp, h);
  return r;
}

match_response yw_match_response(const match_model* model, const yw_match_params* params, float h,
                                 int32_t num_parts) {
  float damping = params->damping, tau = params->viscosity;
  if (params->alpha > 0.0f || params->stiffness == 0.0f) {
    if (damping < 0.0f) damping = PLAIN_DAMPING;
    if (tau < 0.0f) tau = PLAIN_VISCOSITY;
    // alpha is meant for whole substeps. With the same accelerations, alpha / h^2, a part of one
    // covers less of the way; otherwise a body would become stiff, and its energy grow, as soon as
    // another one makes it advance in parts.
    float parts = num_parts > 1 ? (float)num_parts : 1.0f;
    return finish(1, h, params->alpha / (parts * parts), damping, tau);
  }
  double size = model->size, stiffness = (double)params->stiffness;
  double rate = sqrt(3.0 * stiffness * STANDARD_GRAVITY * size / model->spread);  // sqrt(k)
  double fastest = rate * sqrt(model->firmest);
  double steps = fmin(ceil((double)h * fastest / LARGEST_STEP), MAX_INNER_STEPS);
  float inner = (float)((double)h / steps);
  double along = fmin((double)inner * fastest, LARGEST_STEP) * (rate / fastest);
  if (damping < 0.0f) damping = (float)(SCALED_DAMPING * sqrt(STANDARD_GRAVITY / size));
  if (tau < 0.0f) tau = (float)(SCALED_VISCOSITY * sqrt(size / (stiffness * STANDARD_GRAVITY)));
  tau = fminf(tau, (float)(LONGEST_LAG / fastest));
  match_response r = finish((int32_t)steps, inner, (float)(along * along), damping, tau);
  r.uneven = model->uneven;
  // Of the particles that are pulled hardest.
  r.lag = stable_lag(r.lag, r.alpha * (float)model->firmest, r.damp, inner);
  return r;
}

double yw_match_strain_energy(const void* state, const yw_particles* particles) {
  const match_body* body = state;
  const match_model* model = body->model;
  if (body->params.alpha > 0.0f) return NAN;
  // E V = stiffness rho g L V
  double scale =
      (double)body->params.stiffness * model->total_mass * STANDARD_GRAVITY * model->size;
  return 0.5 * scale * yw_solid_mean_strain2(&model->solid, particles);
}
