// SPDX-License-Identifier: MIT
// What one step of a match body does between its phases, for the whole body: rigid motion, axes,
// weights of groups. Inline: devices compile it too. Koyama et al. 2013; equation numbers refer to
// it.
#ifndef YW_METHODS_MATCH_BETWEEN_H
#define YW_METHODS_MATCH_BETWEEN_H

#include "methods/kit/rigid.h"
#include "methods/match/response.h"
#include "methods/match/step.h"

#ifdef YW_ONE_LANE
#include "math/small/simplex_solve.h"
#define MATCH_PROJECT_EXACT yw_simplex_nearest
#define MATCH_PROJECT_PAPER yw_simplex_paper
#else
#include "math/small/simplex.h"
#define MATCH_PROJECT_EXACT yw_project_exact
#define MATCH_PROJECT_PAPER yw_project_paper
#endif

// Rigid motion of the body; positions are relative to the centre of the axes.
typedef struct match_rigid_motion {
  double center[3];
  double velocity[3];
  double spin[3];
  double amends[3];  // spin that takes back the angular impulse of the goals in the last step
  yw_quat rotation;  // mean over the regions
} match_rigid_motion;

typedef struct match_totals {
  double mass;
  double mx[3], mv[3], myv[3], myy[6], rotation[4];
  int64_t recovered;
} match_totals;

static inline bool match_totals_finite(const match_totals* t) {
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) sum += fabs(t->mx[k]) + fabs(t->mv[k]) + fabs(t->myv[k]);
  for (int k = 0; k < 6; ++k) sum += fabs(t->myy[k]);
  return isfinite(sum);
}

static inline match_rigid_motion match_find_rigid_motion(yw_quat rotation, yw_vec3 torque,
                                                         const match_totals* t) {
  match_rigid_motion motion;
  motion.rotation = rotation;
  double *c = motion.center, *v = motion.velocity;
  for (int k = 0; k < 3; ++k) {
    c[k] = t->mx[k] / t->mass;
    v[k] = t->mv[k] / t->mass;
  }
  const double momentum[3] = {t->myv[0] - t->mass * (c[1] * v[2] - c[2] * v[1]),
                              t->myv[1] - t->mass * (c[2] * v[0] - c[0] * v[2]),
                              t->myv[2] - t->mass * (c[0] * v[1] - c[1] * v[0])};
  double xx = t->myy[0] - t->mass * c[0] * c[0], yy = t->myy[1] - t->mass * c[1] * c[1];
  double zz = t->myy[2] - t->mass * c[2] * c[2];
  const double inertia[6] = {yy + zz,
                             xx + zz,
                             xx + yy,
                             t->mass * c[0] * c[1] - t->myy[3],
                             t->mass * c[0] * c[2] - t->myy[4],
                             t->mass * c[1] * c[2] - t->myy[5]};
  yw_spin_of(inertia, momentum, motion.spin);
  const double back[3] = {-(double)torque.x, -(double)torque.y, -(double)torque.z};
  yw_spin_of(inertia, back, motion.amends);

  const double* q = t->rotation;
  double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (length > 1e-3 * t->mass) {
    yw_quat mean = {(float)(q[0] / length), (float)(q[1] / length), (float)(q[2] / length),
                    (float)(q[3] / length)};
    motion.rotation = yw_quat_mul(rotation, mean);
  }
  return motion;
}

// A rough prediction of the axes after the step; any axes close to the body will do.
static inline match_axes match_predict_axes(const match_axes* axes,
                                            const match_rigid_motion* motion, yw_vec3 gravity,
                                            float h) {
  yw_vec3 center = yw_add(axes->center, yw_v3_of(motion->center));
  yw_vec3 velocity = yw_mad(yw_v3_of(motion->velocity), h, gravity);
  yw_vec3 half = yw_scale(yw_v3_of(motion->spin), 0.5f * h);
  yw_quat turn = yw_quat_normalize((yw_quat){half.x, half.y, half.z, 1.0f});
  return (match_axes){yw_quat_normalize(yw_quat_mul(turn, motion->rotation)),
                      yw_mad(center, h, velocity), velocity, yw_v3_of(motion->spin)};
}

/// Sums of chunks, and products of shares, are added in pieces of so many, and then the pieces:
/// devices add the pieces of large bodies at the same time.
#define MATCH_SUM_PIECE 64
static inline int32_t match_num_pieces(int32_t count) {
  return (count + MATCH_SUM_PIECE - 1) / MATCH_SUM_PIECE;
}

// Adds in pairs: a running sum would be one long chain of dependent additions.
static inline double match_add_lanes(const float* lanes) {
  double sums[YW_LANES / 2];
  for (int l = 0; l < YW_LANES / 2; ++l) {
    sums[l] = (double)lanes[l] + (double)lanes[l + YW_LANES / 2];
  }
  for (int half = YW_LANES / 4; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) sums[l] += sums[l + half];
  }
  return sums[0];
}

static inline void match_weigh(const yw_match_params* params, const match_model* model,
                               const double* gram, const double* b, const float* aims,
                               float* weights, float* pulls) {
  int32_t count = model->num_examples;
  double w[YW_MAX_EXAMPLES], rest = 1.0;
  if (params->projection == YW_PROJECTION_PAPER) {
    MATCH_PROJECT_PAPER(count, gram, b, w);
  } else {
    MATCH_PROJECT_EXACT(count, gram, b, weights, w);
  }
  if (aims) yw_aims_blend(aims, count, w);
  for (int32_t k = 0; k < count; ++k) {
    rest -= w[k];
    weights[1 + k] = (float)w[k];
    pulls[k] = model->strengths[k] * (float)((double)params->beta * w[k]);
  }
  weights[0] = (float)(rest > 0.0 ? rest : 0.0);
}

// DIFFERS: the papers match regions at x. Matching them at x + tau v, in axes that move along,
// resists strain plus tau times its rate (Kelvin-Voigt) at the mere cost of reading velocities.
static inline void match_look_ahead(const match_axes* axes, float tau, match_step* step) {
  const float w[3] = {tau * axes->spin.x, tau * axes->spin.y, tau * axes->spin.z};
  const float skew[3][3] = {{0.0f, -w[2], w[1]}, {w[2], 0.0f, -w[0]}, {-w[1], w[0], 0.0f}};
  // (1 + W)^-1 = (1 - W + w w^T) / (1 + |w|^2) for the matrix W of a cross product with w.
  float scale = 1.0f / (1.0f + (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]));
  for (int j = 0; j < 3; ++j) {
    for (int k = 0; k < 3; ++k) {
      float turned = 0.0f;
      for (int i = 0; i < 3; ++i) {
        float inverse = (i == j ? 1.0f : 0.0f) - skew[i][j] + w[i] * w[j];
        turned += step->rotation[i][k] * inverse;
      }
      step->seen_rotation[j][k] = scale * turned;
    }
  }
  step->lag = tau;
  step->velocity = axes->velocity;
}

/// Fills what follows from the axes, the response and gravity; positions, model and body are the
/// caller's.
static inline void match_begin_step(const match_axes* axes, yw_vec3 gravity,
                                    const match_response* response, match_step* step) {
  yw_mat3 r = yw_mat3_from_quat(axes->rotation);
  const float rows[3][3] = {
      {r.cx.x, r.cy.x, r.cz.x}, {r.cx.y, r.cy.y, r.cz.y}, {r.cx.z, r.cy.z, r.cz.z}};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) step->rotation[i][k] = rows[i][k];
  }
  step->center = axes->center;
  step->h = response->h;
  step->pull = response->alpha / response->h;
  step->damp = response->damp;
  step->uneven = response->uneven;
  step->gravity = yw_scale(gravity, response->h);
  match_look_ahead(axes, response->lag, step);
}

// Goals exert no torque where the particles are seen, at x + tau v, but some at x, and so do badly
// deformed regions. The next step turns the body back by as much.
static inline void match_set_rigid_motion(match_step* step, const match_rigid_motion* motion) {
  yw_vec3 amends = step->paper ? yw_v3(0, 0, 0) : yw_v3_of(motion->amends);
  yw_vec3 spin = yw_mad(amends, step->damp, yw_v3_of(motion->spin));
  yw_vec3 velocity = yw_scale(yw_v3_of(motion->velocity), step->damp);
  step->spin = spin;
  step->drift = yw_sub(velocity, yw_cross(spin, yw_v3_of(motion->center)));
}

#endif
