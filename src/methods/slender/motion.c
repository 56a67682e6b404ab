// SPDX-License-Identifier: MIT
// Rigid motion of a rod or sheet, and rotation of single free particles.
#include "methods/slender/motion.h"

#include "math/small/mat3d.h"

#define HELD_WEIGHT 1e5
// An inertia whose determinant is below this share of its cubed trace gives no spin.
#define LEAST_INERTIA 1e-13

void yw_slender_rate_of(const slender_model* model, int32_t p, yw_turn q, const double momentum[3],
                        double rate[3]) {
  double inverse[6];
  yw_slender_turn_sym(q, model->inverse[p], inverse);
  yw_sym_apply(inverse, momentum, rate);
}

void yw_slender_momentum_of(const slender_model* model, int32_t p, yw_turn q, const double rate[3],
                            double momentum[3]) {
  double inertia[6];
  yw_slender_turn_sym(q, model->inertia[p], inertia);
  yw_sym_apply(inertia, rate, momentum);
}

// Angular momentum is constant; the angular velocity is that at the midpoint rotation.
yw_turn yw_slender_ahead(const slender_model* model, int32_t p, yw_turn q, const double momentum[3],
                         double h) {
  double rate[3], way[3];
  yw_slender_rate_of(model, p, q, momentum, rate);
  for (int k = 0; k < 3; ++k) way[k] = 0.5 * h * rate[k];
  yw_turn half = yw_turn_mul(yw_turn_exp(way), q);
  yw_slender_rate_of(model, p, half, momentum, rate);
  for (int k = 0; k < 3; ++k) way[k] = h * rate[k];
  return yw_turn_normalize(yw_turn_mul(yw_turn_exp(way), q));
}

yw_turn yw_slender_clamp_turn(const yw_hold* hold, double share) {
  double way[3];
  yw_turn_log(yw_turn_normalize(yw_turn_of(hold->turn)), way);
  for (int k = 0; k < 3; ++k) way[k] *= share;
  return yw_turn_exp(way);
}

void yw_slender_spin_of(const double inertia[6], const double angular[3], double spin[3]) {
  double inverse[6], trace = inertia[0] + inertia[1] + inertia[2];
  double det = yw_sym_invert(inertia, inverse);
  spin[0] = spin[1] = spin[2] = 0.0;
  if (det > LEAST_INERTIA * trace * trace * trace) yw_sym_apply(inverse, angular, spin);
}

// A clamp prescribes the rotation of the body.
static void add_clamps(const slender_body* body, const yw_step_ctx* ctx, slender_motion* m) {
  double weight = HELD_WEIGHT * (m->inertia[0] + m->inertia[1] + m->inertia[2]);
  for (int32_t i = 0; i < ctx->num_holds; ++i) {
    int32_t p = ctx->holds[i].particle;
    double rate[3];
    if (!ctx->holds[i].clamp) continue;
    yw_slender_rate_of(body->model, p, body->turn[p], body->momentum + 3 * p, rate);
    for (int k = 0; k < 3; ++k) {
      m->inertia[k] += weight;
      m->angular[k] += weight * rate[k];
    }
  }
}

slender_motion yw_slender_motion(const slender_body* body, const yw_particles* particles,
                                 const yw_step_ctx* ctx) {
  const slender_model* model = body->model;
  slender_motion m = {0};
  double c[3] = {0}, origin[3], myy[6] = {0};
  for (int k = 0; k < 3; ++k) origin[k] = (double)(&particles->pos[0].x)[k];
  for (int32_t p = 0; p < model->num_particles; ++p) {
    bool held = ctx && particles->inv_mass[p] == 0.0f;
    double weight = held ? HELD_WEIGHT : 1.0, mass = weight * (double)model->mass[p];
    double y[3], v[3], inertia[6];
    for (int k = 0; k < 3; ++k) {
      y[k] = yw_slender_place(body, particles, p, k) - origin[k];
      v[k] = (double)(&particles->vel[p].x)[k];
    }
    yw_slender_turn_sym(body->turn[p], model->inertia[p], inertia);
    m.mass += mass;
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      c[k] += mass * y[k];
      m.velocity[k] += mass * v[k];
      m.angular[k] += mass * (y[a] * v[b] - y[b] * v[a]) + body->momentum[3 * p + k];
      myy[k] += mass * y[k] * y[k];
    }
    myy[3] += mass * y[0] * y[1], myy[4] += mass * y[0] * y[2], myy[5] += mass * y[1] * y[2];
    for (int k = 0; k < 6; ++k) m.inertia[k] += inertia[k];
  }
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    c[k] /= m.mass;
    m.velocity[k] /= m.mass;
    m.center[k] = origin[k] + c[k];
  }
  for (int k = 0; k < 3; ++k) {
    int a = (k + 1) % 3, b = (k + 2) % 3;
    m.angular[k] -= m.mass * (c[a] * m.velocity[b] - c[b] * m.velocity[a]);
    m.inertia[k] += myy[a] - m.mass * c[a] * c[a] + myy[b] - m.mass * c[b] * c[b];
    sum += fabs(m.center[k]) + fabs(m.velocity[k]) + fabs(m.angular[k]);
  }
  m.inertia[3] += m.mass * c[0] * c[1] - myy[3];
  m.inertia[4] += m.mass * c[0] * c[2] - myy[4];
  m.inertia[5] += m.mass * c[1] * c[2] - myy[5];
  m.finite = isfinite(sum);
  if (ctx) add_clamps(body, ctx, &m);
  yw_slender_spin_of(m.inertia, m.angular, m.spin);
  return m;
}

// DIFFERS: backward formulas and position-based steps lose angular momentum (of order h^2 per
// step), and a solve that stops early loses a little of both momenta. A free body gets them back.
void yw_slender_restore(slender_body* body, yw_particles* particles, const slender_motion* before,
                        yw_vec3 gravity, double h) {
  slender_motion now = yw_slender_motion(body, particles, NULL);
  const double fall[3] = {(double)gravity.x * h, (double)gravity.y * h, (double)gravity.z * h};
  double missing[3], turn[3], shift[3];
  for (int k = 0; k < 3; ++k) {
    missing[k] = before->angular[k] - now.angular[k];
    shift[k] = before->velocity[k] + fall[k] - now.velocity[k];
  }
  yw_slender_spin_of(now.inertia, missing, turn);
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    double y[3], momentum[3];
    for (int k = 0; k < 3; ++k) y[k] = yw_slender_place(body, particles, p, k) - now.center[k];
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      float* v = &particles->vel[p].x + k;
      *v = (float)((double)*v + shift[k] + turn[a] * y[b] - turn[b] * y[a]);
    }
    yw_slender_momentum_of(body->model, p, body->turn[p], turn, momentum);
    for (int k = 0; k < 3; ++k) body->momentum[3 * p + k] += momentum[k];
  }
}
