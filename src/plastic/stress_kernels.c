// SPDX-License-Identifier: MIT
// Forces of masters and their tangents, 16 at a time.
//
// Energy per rest volume: mu sum (sigma_a - 1)^2 + lambda/2 (J - 1)^2, sigma_a the elastic
// stretches and J their product. Force on a slave (11): -sum V0 tau G, the exact adjoint of the
// gradient that changes F_E, so that the tangent is symmetric and momentum is kept.
#include "plastic/pairs.h"

typedef struct principal {
  yw_vf s[3], mu, lambda, j, volume;
} principal;

// In the principal frame: the diagonal block, weighted with stretches on both sides. What could
// make it indefinite, lambda (J - 1) sigma_c, is limited by 2 mu.
YW_LANE_FN yw_lanes_sym3 diagonal_tangent(const principal* p, yw_vf scale) {
  yw_vf a = p->s[0], b = p->s[1], c = p->s[2], mu2 = 2.0f * p->mu;
  yw_vf bend = p->lambda * (p->j - 1.0f), least = yw_vf_min(a, yw_vf_min(b, c));
  yw_vf row = yw_vf_abs(bend) * (a + b + c - least);
  bend *= yw_vf_min(yw_vf_splat(1.0f), mu2 / yw_vf_max(row, yw_vf_splat(1e-20f)));
  yw_vf lj = p->lambda * p->j + bend;
  yw_vf bc = b * c, ac = a * c, ab = a * b;
  return (yw_lanes_sym3){scale * a * a * (mu2 + p->lambda * bc * bc),
                         scale * b * b * (mu2 + p->lambda * ac * ac),
                         scale * c * c * (mu2 + p->lambda * ab * ab),
                         scale * a * b * lj * c,
                         scale * a * c * lj * b,
                         scale * b * c * lj * a};
}

// The 2x2 block of the pair (a, b), c the third: (ab,ab), (ab,ba), (ba,ba).
YW_LANE_FN void shear_tangent(const principal* p, yw_vf scale, yw_vf a, yw_vf b, yw_vf c,
                              yw_vf out[3]) {
  yw_vf zero = yw_vf_splat(0.0f), mu2 = 2.0f * p->mu, bend = p->lambda * (p->j - 1.0f) * c;
  yw_vf twist = 2.0f * mu2 / yw_vf_max(a + b, yw_vf_splat(1e-3f));
  yw_vf even = 0.5f * yw_vf_max(mu2 - bend, zero);
  yw_vf odd = 0.5f * yw_vf_max(mu2 - twist + bend, zero);
  out[0] = scale * (even + odd) * b * b;
  out[1] = scale * (even - odd) * a * b;
  out[2] = scale * (even + odd) * a * a;
}

void YW_KERNEL(yw_plastic_stress)(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  block_range range = blocks_of(body, chunk);
  float dt2 = body->dt * body->dt;
  for (int32_t block = range.first; block < range.end; ++block) {
    const plastic_material_block* material = &body->model->materials[block];
    const plastic_state_block* state = &body->state[block];
    plastic_work_block* work = &body->work[block];
    yw_mat3x16 rows;
    _Alignas(64) float extra[2][YW_LANES];
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_vf harden = yw_vf_load(state->harden + lane);
      principal p = {.mu = harden * yw_vf_load(material->mu + lane),
                     .lambda = harden * yw_vf_load(material->lambda + lane),
                     .volume = yw_vf_load(state->volume + lane)};
      for (int a = 0; a < 3; ++a) p.s[a] = yw_vf_load(state->sigma[a] + lane);
      p.j = p.s[0] * p.s[1] * p.s[2];
      // -V0 tau = U diag(t) U^T
      yw_vf pressure = p.lambda * p.j * (p.j - 1.0f), t[3];
      for (int a = 0; a < 3; ++a) {
        t[a] = -p.volume * (2.0f * p.mu * (p.s[a] - 1.0f) * p.s[a] + pressure);
      }
      yw_lanes_mat3 u = load_mat3(state->u[0], lane);
      yw_lanes_mat3 ut = {u.xx * t[0], u.xy * t[1], u.xz * t[2], u.yx * t[0], u.yy * t[1],
                          u.yz * t[2], u.zx * t[0], u.zy * t[1], u.zz * t[2]};
      yw_lanes_mat3 tau = mul_nt(&ut, &u);
      yw_lanes_mat3_store(&rows, lane, &tau);

      yw_vf scale = dt2 * p.volume, pair[3][3];
      yw_lanes_sym3 diagonal = diagonal_tangent(&p, scale);
      yw_lanes_sym3_store((yw_sym3x16*)work->diagonal, lane, &diagonal);
      shear_tangent(&p, scale, p.s[0], p.s[1], p.s[2], pair[0]);
      shear_tangent(&p, scale, p.s[0], p.s[2], p.s[1], pair[1]);
      shear_tangent(&p, scale, p.s[1], p.s[2], p.s[0], pair[2]);
      for (int k = 0; k < 9; ++k) yw_vf_store(work->shear[k] + lane, pair[k / 3][k % 3]);

      // Mean stiffness against shear and stretch, for the preconditioner.
      yw_vf shear = (pair[0][0] + pair[0][2] + pair[1][0] + pair[1][2] + pair[2][0] + pair[2][2]) *
                    (1.0f / 6.0f);
      yw_vf stretch = (diagonal.xx + diagonal.yy + diagonal.zz) * (1.0f / 3.0f);
      yw_vf_store(extra[0] + lane, shear);
      yw_vf_store(extra[1] + lane, stretch - shear);
    }
    write_rows(body->rows + block * YW_LANES, masters_of(body, block), &rows, extra);
    for (int32_t k = 0; k < masters_of(body, block); ++k) {
      body->rows[block * YW_LANES + k].n = body->pull[block * YW_LANES + k];
    }
  }
  scatter_rows(body, chunk);
}
