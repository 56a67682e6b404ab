// SPDX-License-Identifier: MIT
// Forces of masters and their tangents, one lane per master.
//
// Energy per rest volume: mu sum (sigma_a - 1)^2 + lambda/2 (J - 1)^2, with sigma_a the elastic
// stretches and J their product. Force on a slave (11): -sum V0 tau G. This is the exact adjoint of
// the gradient that changes F_E, so the tangent is symmetric and momentum is conserved.
//
// DIFFERS: a rotation gets no resistance from the tangent. The second derivative of the energy has
// some where there is stress: it turns the forces to where they are after the step, while their
// lever arms are those before it, so that every step would take w^2 dt^2 of a body's spin, and more
// where stresses vary.
#ifndef YW_METHODS_PLASTIC_STRESS_LANES_H
#define YW_METHODS_PLASTIC_STRESS_LANES_H

#include "math/small/lanes_mat3.h"
#include "methods/plastic/body.h"

typedef struct principal {
  yw_vf s[3], mu, lambda, j, volume;
} principal;

// The diagonal block in principal axes. The term that could make it indefinite, lambda (J - 1)
// sigma_c, is limited to 2 mu.
YW_LANE_FN yw_lanes_sym3 diagonal_tangent(const principal* p, yw_vf scale) {
  yw_vf a = p->s[0], b = p->s[1], c = p->s[2], mu2 = 2.0f * p->mu;
  yw_vf bend = p->lambda * (p->j - 1.0f), least = yw_vf_min(a, yw_vf_min(b, c));
  yw_vf row = yw_vf_abs(bend) * (a + b + c - least);
  bend *= yw_vf_min(yw_vf_splat(1.0f), mu2 / yw_vf_max(row, yw_vf_splat(1e-20f)));
  yw_vf lj = p->lambda * p->j + bend;
  yw_vf bc = b * c, ac = a * c, ab = a * b;
  yw_vf product = scale * lj * p->j;
  return (yw_lanes_sym3){scale * a * a * (mu2 + p->lambda * bc * bc),
                         scale * b * b * (mu2 + p->lambda * ac * ac),
                         scale * c * c * (mu2 + p->lambda * ab * ab),
                         product,
                         product,
                         product};
}

// The 2x2 block of a pair of directions, with c the third: (ab,ab) = (ba,ba), and (ab,ba). Its
// eigenvalues are the stiffnesses to shear and to rotation; of the second only what exceeds the
// first is kept: it is then half of what resists a shear in one direction, and without it steps
// that are long for such stress would not be stable.
YW_LANE_FN void shear_tangent(const principal* p, yw_vf scale, yw_vf a, yw_vf b, yw_vf c,
                              yw_vf out[2]) {
  yw_vf zero = yw_vf_splat(0.0f), mu2 = 2.0f * p->mu, bend = p->lambda * (p->j - 1.0f) * c;
  yw_vf twist = 2.0f * mu2 / yw_vf_max(a + b, yw_vf_splat(1e-3f));
  yw_vf even = 0.5f * yw_vf_max(mu2 - bend, zero);
  yw_vf odd = 0.5f * yw_vf_max(mu2 - twist + bend, zero);
  yw_vf sum2 = (a + b) * (a + b), difference2 = (a - b) * (a - b);
  yw_vf shear = 0.25f * (even * sum2 + odd * difference2);
  yw_vf turn = yw_vf_max(0.25f * (even * difference2 + odd * sum2) - shear, zero);
  out[0] = scale * (shear + turn);
  out[1] = scale * (shear - turn);
}

// Mean stiffness in shear, and the excess of that in stretch, for the preconditioner.
YW_LANE_FN void store_stiffness(plastic_work_block* work, int32_t lane, const yw_lanes_sym3* d,
                                yw_vf pair[3][2]) {
  yw_vf shear = (pair[0][0] + pair[1][0] + pair[2][0]) * (1.0f / 3.0f);
  yw_vf stretch = (d->xx + d->yy + d->zz) * (1.0f / 3.0f);
  yw_vf_store(work->stiffness[0] + lane, shear);
  yw_vf_store(work->stiffness[1] + lane, stretch - shear);
}

// Computes the tangents of masters; returns -V0 tau D_N^-1.
YW_LANE_FN yw_lanes_mat3 stress_lanes(const plastic_body* body, int32_t block, int32_t lane) {
  const plastic_material_block* material = &body->materials[block];
  const plastic_state_block* state = &body->state[block];
  plastic_work_block* work = &body->work[block];
  yw_vf harden = body->params.stiffness_scale * yw_vf_load(state->harden + lane);
  principal p;
  p.mu = harden * yw_vf_load(material->mu + lane);
  p.lambda = harden * yw_vf_load(material->lambda + lane);
  p.volume = yw_vf_load(state->volume + lane);
  for (int a = 0; a < 3; ++a) p.s[a] = yw_vf_load(state->sigma[a] + lane);
  p.j = p.s[0] * p.s[1] * p.s[2];
  // -V0 tau = U diag(t) U^T
  yw_vf pressure = p.lambda * p.j * (p.j - 1.0f), t[3];
  for (int a = 0; a < 3; ++a) {
    t[a] = -p.volume * (2.0f * p.mu * (p.s[a] - 1.0f) * p.s[a] + pressure);
  }
  yw_lanes_mat3 u = yw_lanes_mat3_load((const yw_mat3x16*)state->u, lane);
  yw_lanes_sym3 inverse = yw_lanes_sym3_load((const yw_sym3x16*)work->inverse, lane);
  yw_lanes_mat3 du = yw_lanes_sym3_mul(&inverse, &u), ut = yw_lanes_mat3_scale_columns(&u, t);
  yw_lanes_mat3 tau = yw_lanes_mat3_mul_nt(&ut, &du);
  yw_lanes_mat3_store((yw_mat3x16*)work->right, lane, &du);
  yw_lanes_mat3_store((yw_mat3x16*)work->u, lane, &u);

  yw_vf scale = body->dt * body->dt * body->model->scheme.implicit_share * p.volume, pair[3][2];
  yw_lanes_sym3 diagonal = diagonal_tangent(&p, scale);
  yw_lanes_sym3_store((yw_sym3x16*)work->diagonal, lane, &diagonal);
  shear_tangent(&p, scale, p.s[0], p.s[1], p.s[2], pair[0]);
  shear_tangent(&p, scale, p.s[0], p.s[2], p.s[1], pair[1]);
  shear_tangent(&p, scale, p.s[1], p.s[2], p.s[0], pair[2]);
  for (int k = 0; k < 6; ++k) yw_vf_store(work->shear[k] + lane, pair[k / 2][k % 2]);
  store_stiffness(work, lane, &diagonal, pair);
  return tau;
}

// Change of stress U Y B^T for M = sum N v (x_s - c)^T. W = U^T M B, with B = D_N^-1 U, is the
// velocity gradient in principal axes.
YW_LANE_FN yw_lanes_mat3 tangent_times(const plastic_work_block* work, const yw_lanes_mat3* u,
                                       const yw_lanes_mat3* m, int32_t lane) {
  yw_lanes_mat3 b = yw_lanes_mat3_load((const yw_mat3x16*)work->right, lane);
  yw_lanes_mat3 mb = yw_lanes_mat3_mul(m, &b), w = yw_lanes_mat3_mul_tn(u, &mb);
  yw_lanes_sym3 d = yw_lanes_sym3_load((const yw_sym3x16*)work->diagonal, lane);
  yw_vf k[6];
  for (int i = 0; i < 6; ++i) k[i] = yw_vf_load(work->shear[i] + lane);
  yw_lanes_mat3 y = {d.xx * w.xx + d.xy * w.yy + d.xz * w.zz,
                     k[0] * w.xy + k[1] * w.yx,
                     k[2] * w.xz + k[3] * w.zx,
                     k[1] * w.xy + k[0] * w.yx,
                     d.xy * w.xx + d.yy * w.yy + d.yz * w.zz,
                     k[4] * w.yz + k[5] * w.zy,
                     k[3] * w.xz + k[2] * w.zx,
                     k[5] * w.yz + k[4] * w.zy,
                     d.xz * w.xx + d.yz * w.yy + d.zz * w.zz};
  yw_lanes_mat3 uy = yw_lanes_mat3_mul(u, &y);
  return yw_lanes_mat3_mul_nt(&uy, &b);
}

#endif
