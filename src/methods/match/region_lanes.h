// SPDX-License-Identifier: MIT
// The formulas of example-based shape matching for one register of regions or particles, for
// match_kernels.c and for devices. Koyama et al. 2013; equation numbers refer to it.
//   x, x0   position, rest position          d    displacement R^T (x - c) - x0 in the body's axes
//   A_r     best linear map of region r (1)  Q_r  its moment at rest, sum m~ q q^T
//   R_r P_r rotation and the rest of A_r Q_r S_r  stretch, the symmetric part of R_r^T A_r
//   S~_r    target stretch                   T_r  = R_r (S~_r + [d_r]) (3)
//
// DIFFERS: the paper takes R_r and S_r from A_r and aims for R_r S~_r. A region then exerts a
// torque on itself, and angular momentum is not conserved. Here R_r is the best-fitting rotation of
// the region, the polar rotation of A_r Q_r as in Müller et al. 2005, and the target has a skew
// part [d_r] that cancels the torque. The two agree wherever Q_r is isotropic; a body in the pose
// of an example aims for exactly that pose (docs/methods/match.md).
#ifndef YW_METHODS_MATCH_REGION_LANES_H
#define YW_METHODS_MATCH_REGION_LANES_H

#include "math/small/polar_lanes.h"
#include "methods/match/region_weights.h"
#include "methods/match/rows.h"
#include "methods/match/step.h"

// Larger rotations d of targets, rad, are dropped: only badly deformed regions have them.
#define MAX_TURN 0.5f

// Positions of a block as the step sees them.
YW_LANE_FN void load_pos(const match_step* step, int32_t block, int32_t lane, yw_vf x[4]) {
#if YW_VF_LANES == 1
  yw_vec4 p = match_relative(step, block * YW_LANES + match_lane(lane));
  x[0] = p.x, x[1] = p.y, x[2] = p.z, x[3] = p.w;
#else
  load_vec4(step->pos + block * YW_LANES, lane, x);
#endif
}

// Sums of the body --------------------------------------------------------------------------------

enum { SUM_MX = 0, SUM_MV = 3, SUM_MYV = 6, SUM_MYY = 9, SUM_ROTATION = 15, NUM_SUMS = 19 };

// What the particles of one register of a block add to the sums of the body.
YW_LANE_FN void particle_terms(const match_step* step, int32_t b, int32_t lane,
                               yw_vf terms[NUM_SUMS]) {
  yw_vf x[4], v[4], m = yw_vf_load(step->model->particles[b].mass + lane);
  load_pos(step, b, lane, x);
  load_vec4(step->vel + b * YW_LANES, lane, v);
  yw_lanes_vec3 y = {x[0] - step->center.x, x[1] - step->center.y, x[2] - step->center.z};
  yw_lanes_vec3 my = {m * y.x, m * y.y, m * y.z};
  terms[SUM_MX + 0] = my.x;
  terms[SUM_MX + 1] = my.y;
  terms[SUM_MX + 2] = my.z;
  for (int k = 0; k < 3; ++k) terms[SUM_MV + k] = m * v[k];
  terms[SUM_MYV + 0] = my.y * v[2] - my.z * v[1];
  terms[SUM_MYV + 1] = my.z * v[0] - my.x * v[2];
  terms[SUM_MYV + 2] = my.x * v[1] - my.y * v[0];
  terms[SUM_MYY + 0] = my.x * y.x;
  terms[SUM_MYY + 1] = my.y * y.y;
  terms[SUM_MYY + 2] = my.z * y.z;
  terms[SUM_MYY + 3] = my.x * y.y;
  terms[SUM_MYY + 4] = my.x * y.z;
  terms[SUM_MYY + 5] = my.y * y.z;
}

// What their regions add. q and -q are the same rotation; sums use the sign with w >= 0.
YW_LANE_FN void rotation_terms(yw_lanes_quat q, yw_vf terms[NUM_SUMS]) {
  terms[SUM_ROTATION + 0] = yw_vf_flip(q.x, q.w);
  terms[SUM_ROTATION + 1] = yw_vf_flip(q.y, q.w);
  terms[SUM_ROTATION + 2] = yw_vf_flip(q.z, q.w);
  terms[SUM_ROTATION + 3] = yw_vf_flip(q.w, q.w);
}

// Regions -----------------------------------------------------------------------------------------

// B = sum m~ d q^T, and the mean of d.
YW_LANE_FN yw_lanes_mat3 region_moment(const match_region_block* region, const ring_sums* sums,
                                       int32_t lane, yw_lanes_vec3* shift) {
  yw_vf x[4], y[4], z[4];
  load_sums(sums, 0, lane, x);
  load_sums(sums, 1, lane, y);
  load_sums(sums, 2, lane, z);
  yw_vf cx = yw_vf_load(region->center[0] + lane), cy = yw_vf_load(region->center[1] + lane);
  yw_vf cz = yw_vf_load(region->center[2] + lane), w = yw_vf_load(region->inv_mass + lane);
  *shift = (yw_lanes_vec3){x[3] * w, y[3] * w, z[3] * w};
  return (yw_lanes_mat3){x[0] - x[3] * cx, x[1] - x[3] * cy, x[2] - x[3] * cz,
                         y[0] - y[3] * cx, y[1] - y[3] * cy, y[2] - y[3] * cz,
                         z[0] - z[3] * cx, z[1] - z[3] * cy, z[2] - z[3] * cz};
}

YW_LANE_FN float* block_targets(const match_step* step, int32_t block) {
  return step->body->targets + (size_t)block * (YW_LANES * MATCH_ROW);
}

// Rows of (T - 1, t): a member's goal minus its rest position is (T - 1) x0 + t in these axes.
YW_LANE_FN void write_targets(const match_step* step, const match_chunk* chunk, int32_t block,
                              int32_t lane, const yw_lanes_mat3* t, const yw_lanes_vec3* shift) {
  const match_region_block* region = &step->model->regions[block];
  float* rows = block_targets(step, block);
  yw_vf cx = yw_vf_load(region->center[0] + lane) + chunk->origin.x;
  yw_vf cy = yw_vf_load(region->center[1] + lane) + chunk->origin.y;
  yw_vf cz = yw_vf_load(region->center[2] + lane) + chunk->origin.z;
  yw_vf x[4] = {t->xx - 1.0f, t->xy, t->xz, shift->x};
  yw_vf y[4] = {t->yx, t->yy - 1.0f, t->yz, shift->y};
  yw_vf z[4] = {t->zx, t->zy, t->zz - 1.0f, shift->z};
  x[3] -= x[0] * cx + x[1] * cy + x[2] * cz;
  y[3] -= y[0] * cx + y[1] * cy + y[2] * cz;
  z[3] -= z[0] * cx + z[1] * cy + z[2] * cz;
  if (step->uneven) {
    yw_vf grip = yw_vf_load(region->grip + lane);
    for (int k = 0; k < 4; ++k) x[k] *= grip, y[k] *= grip, z[k] *= grip;
  }
  store_rows(rows, lane, x, y, z);
}

// A_r Q_r, scaled, computed from the displacements.
YW_LANE_FN yw_lanes_mat3 fit_moment(const match_step* step, lane_set at, const ring_sums* rings,
                                    yw_lanes_vec3* shift) {
  yw_lanes_mat3 moment = region_moment(&step->model->regions[at.block], rings, at.lane, shift);
  const match_moment_block* rest_moment = &step->model->moments[at.block];
  yw_lanes_sym3 rest = yw_lanes_sym3_load((const yw_sym3x16*)rest_moment->moment, at.lane);
  yw_lanes_mat3 q = yw_lanes_mat3_of_sym(&rest);
  moment = yw_lanes_mat3_scale(&moment, yw_vf_load(rest_moment->scale + at.lane));
  return yw_lanes_mat3_add(&q, &moment);
}

// Targets -----------------------------------------------------------------------------------------

// Weights w'_k after beta for every lane, and the examples whose weight is not zero everywhere:
// others cost nothing.
#if YW_VF_LANES == 1
typedef struct pull_set {
  const float* weights;  // of one region
  int32_t num_active;
} pull_set;
#else
typedef struct pull_set {
  _Alignas(64) float weights[YW_MAX_EXAMPLES * YW_LANES];
  int32_t active[YW_MAX_EXAMPLES];
  int32_t num_active;
} pull_set;
#endif

// S~ = 1 + sum w'_k (S^k - 1).
YW_LANE_FN yw_lanes_sym3 aim(const match_model* model, int32_t block, int32_t lane,
                             const pull_set* pulls) {
  const yw_sym3x16* examples = model->examples + (size_t)block * (size_t)model->num_examples;
  yw_vf zero = yw_vf_splat(0.0f), one = yw_vf_splat(1.0f);
  yw_lanes_sym3 s = {one, one, one, zero, zero, zero};
#if YW_VF_LANES == 1
  for (int32_t k = 0; k < model->num_examples; ++k) {
    yw_vf w = pulls->weights[k];
    if (w == 0.0f) continue;
#else
  for (int32_t i = 0; i < pulls->num_active; ++i) {
    int32_t k = pulls->active[i];
    yw_vf w = yw_vf_load(pulls->weights + k * YW_LANES + lane);
#endif
    yw_lanes_sym3 l = yw_lanes_sym3_load(&examples[k], lane);
    s.xx += w * l.xx;
    s.yy += w * l.yy;
    s.zz += w * l.zz;
    s.xy += w * l.xy;
    s.xz += w * l.xz;
    s.yz += w * l.yz;
  }
  return s;
}

// Fit of the regions in one register.
typedef struct region_fit {
  yw_lanes_quat q;      // R_r
  yw_lanes_sym3 p;      // P_r, scaled
  yw_lanes_vec3 shift;  // mean of d
} region_fit;

// S~ + [d]. The torque of a target R (S~ + [d]) about the region's centre is the skew part of
// P (S~ - [d]); it vanishes where (tr P - P) d = axial(P S~). d is 0 where a region is too flat to
// determine it, or too badly deformed.
YW_LANE_FN yw_lanes_mat3 turn_free(const yw_lanes_sym3* p, const yw_lanes_sym3* s) {
  yw_vf gx = (p->xz * s->xy + p->yz * s->yy + p->zz * s->yz) -
             (p->xy * s->xz + p->yy * s->yz + p->yz * s->zz);
  yw_vf gy = (p->xx * s->xz + p->xy * s->yz + p->xz * s->zz) -
             (p->xz * s->xx + p->yz * s->xy + p->zz * s->xz);
  yw_vf gz = (p->xy * s->xx + p->yy * s->xy + p->yz * s->xz) -
             (p->xx * s->xy + p->xy * s->yy + p->xz * s->yz);
  // H = tr P - P, its cofactors C and determinant. H has no negative eigenvalue, since R is the
  // nearest rotation.
  yw_vf hxx = p->yy + p->zz, hyy = p->xx + p->zz, hzz = p->xx + p->yy;
  yw_vf cxx = hyy * hzz - p->yz * p->yz, cxy = p->xz * p->yz + p->xy * hzz;
  yw_vf cyy = hxx * hzz - p->xz * p->xz, cxz = p->xy * p->yz + p->xz * hyy;
  yw_vf czz = hxx * hyy - p->xy * p->xy, cyz = p->xy * p->xz + p->yz * hxx;
  yw_vf det = hxx * cxx - p->xy * cxy - p->xz * cxz;
  yw_vf dx = cxx * gx + cxy * gy + cxz * gz, dy = cxy * gx + cyy * gy + cyz * gz;
  yw_vf dz = cxz * gx + cyz * gy + czz * gz;
  yw_vi sound = dx * dx + dy * dy + dz * dz < (MAX_TURN * MAX_TURN) * (det * det);
  yw_vf inv = yw_vf_select(sound, 1.0f / det, yw_vf_splat(0.0f));
  dx *= inv;
  dy *= inv;
  dz *= inv;
  return (yw_lanes_mat3){s->xx,      s->xy - dz, s->xz + dy, s->xy + dz, s->yy,
                         s->yz - dx, s->xz - dy, s->yz + dx, s->zz};
}

// The rotation of A in the axes of R_r: A Q = R_r P, so that A is R_r P Q^-1 up to a factor.
YW_LANE_FN yw_lanes_mat3 turn_of_map(const match_model* model, int32_t block, int32_t lane,
                                     const yw_lanes_sym3* p) {
  yw_lanes_sym3 q = yw_lanes_sym3_load((const yw_sym3x16*)model->moments[block].moment, lane);
  // Cofactors: the inverse up to the determinant, which is positive.
  yw_lanes_sym3 c = {q.yy * q.zz - q.yz * q.yz, q.xx * q.zz - q.xz * q.xz,
                     q.xx * q.yy - q.xy * q.xy, q.xz * q.yz - q.xy * q.zz,
                     q.xy * q.yz - q.xz * q.yy, q.xy * q.xz - q.yz * q.xx};
  yw_vf det = q.xx * c.xx + q.xy * c.xy + q.xz * c.xz;
  yw_vf inv = yw_vf_select(det > 0.0f, 1.0f / det, yw_vf_splat(0.0f));
  yw_lanes_mat3 full = {p->xx, p->xy, p->xz, p->xy, p->yy, p->yz, p->xz, p->yz, p->zz}, r;
  c = (yw_lanes_sym3){inv * c.xx, inv * c.yy, inv * c.zz, inv * c.xy, inv * c.xz, inv * c.yz};
  yw_lanes_mat3 map = yw_lanes_mat3_mul_sym(&full, &c);
  yw_vf zero = yw_vf_splat(0.0f), one = yw_vf_splat(1.0f);
  yw_lanes_quat turn = {zero, zero, zero, one};
  yw_lanes_sym3 unused;
  yw_lanes_polar_warm(&map, &turn, &r, &unused);
  return r;
}

// Targets T = R (S~ + [d]) of the regions of one register, or R S~ as printed.
YW_LANE_FN void bend(const match_step* step, const match_chunk* chunk, lane_set at,
                     const region_fit* fit, const pull_set* pulls) {
  yw_lanes_mat3 t = yw_lanes_rotation(fit->q);
  if (step->paper) {
    yw_lanes_mat3 further = turn_of_map(step->model, at.block, at.lane, &fit->p);
    yw_lanes_sym3 wanted = aim(step->model, at.block, at.lane, pulls);
    t = yw_lanes_mat3_mul(&t, &further);
    t = yw_lanes_mat3_mul_sym(&t, &wanted);
  } else if (pulls->num_active > 0) {
    yw_lanes_sym3 wanted = aim(step->model, at.block, at.lane, pulls);
    yw_lanes_mat3 turned = turn_free(&fit->p, &wanted);
    t = yw_lanes_mat3_mul(&t, &turned);
  }
  write_targets(step, chunk, at.block, at.lane, &t, &fit->shift);
}

// Until the weights are known, a block's fit is stored in place of its targets (devices have memory
// of its own for it): 9 x 16 numbers.
#define FIT_NUMBERS (9 * YW_LANES)

YW_LANE_FN float* block_fits(const match_step* step, int32_t block) {
#if YW_VF_LANES == 1
  return step->fits + (size_t)block * FIT_NUMBERS;
#else
  return block_targets(step, block);
#endif
}

YW_LANE_FN void store_fit(const match_step* step, lane_set at, const region_fit* fit) {
  float* to = block_fits(step, at.block) + at.lane;
  yw_vf_store(to, fit->p.xx);
  yw_vf_store(to + YW_LANES, fit->p.yy);
  yw_vf_store(to + 2 * YW_LANES, fit->p.zz);
  yw_vf_store(to + 3 * YW_LANES, fit->p.xy);
  yw_vf_store(to + 4 * YW_LANES, fit->p.xz);
  yw_vf_store(to + 5 * YW_LANES, fit->p.yz);
  yw_vf_store(to + 6 * YW_LANES, fit->shift.x);
  yw_vf_store(to + 7 * YW_LANES, fit->shift.y);
  yw_vf_store(to + 8 * YW_LANES, fit->shift.z);
}

YW_LANE_FN region_fit load_fit(const match_step* step, lane_set at, const float* fits) {
  const float* shifts = fits + 6 * YW_LANES + at.lane;
  return (region_fit){
      .q = yw_lanes_quat_load(&step->body->rotations[at.block], at.lane),
      .p = yw_lanes_sym3_load((const yw_sym3x16*)fits, at.lane),
      .shift = {yw_vf_load(shifts), yw_vf_load(shifts + YW_LANES),
                yw_vf_load(shifts + 2 * YW_LANES)},
  };
}

// Particles ---------------------------------------------------------------------------------------

// What the particles of one register add to the sums of a chunk.
typedef struct pull_sums {
  yw_lanes_vec3 lower, upper;  // box
  yw_lanes_vec3 torque;        // m y x away
#if YW_VF_LANES == 1
  yw_lanes_vec3 pos, vel;  // at the end of the step
#endif
} pull_sums;

YW_LANE_FN void grow(pull_sums* sums, yw_vf x, yw_vf y, yw_vf z) {
  sums->lower = (yw_lanes_vec3){yw_vf_min(x, sums->lower.x), yw_vf_min(y, sums->lower.y),
                                yw_vf_min(z, sums->lower.z)};
  sums->upper = (yw_lanes_vec3){yw_vf_max(x, sums->upper.x), yw_vf_max(y, sums->upper.y),
                                yw_vf_max(z, sums->upper.z)};
}

YW_LANE_FN void add_torque(pull_sums* sums, yw_vf m, const yw_lanes_vec3* y,
                           const yw_lanes_vec3* away) {
  sums->torque.x += m * (y->y * away->z - y->z * away->y);
  sums->torque.y += m * (y->z * away->x - y->x * away->z);
  sums->torque.z += m * (y->x * away->y - y->y * away->x);
}

// Goals (3), then velocities and positions (4), (5), of the particles of one register.
// full: all lanes hold particles.
YW_LANE_FN void pull(const match_step* step, const bool full, int32_t block, int32_t lane,
                     const ring_sums* rings, pull_sums* sums) {
  const match_particle_block* particle = &step->model->particles[block];
  const float(*r)[3] = step->rotation;
  yw_vf gx[4], gy[4], gz[4], x[4], v[4];
  load_sums(rings, 0, lane, gx);
  load_sums(rings, 1, lane, gy);
  load_sums(rings, 2, lane, gz);
  load_pos(step, block, lane, x);
  load_vec4(step->vel + block * YW_LANES, lane, v);
  yw_vf ax = yw_vf_load(particle->rest[0] + lane), ay = yw_vf_load(particle->rest[1] + lane);
  yw_vf az = yw_vf_load(particle->rest[2] + lane), n = yw_vf_load(particle->inv_count + lane);

  // Same rounding as in make_row, so that displacements sum to zero over a region's members.
  yw_lanes_vec3 y = {x[0] - step->center.x, x[1] - step->center.y, x[2] - step->center.z};
  const float(*q)[3] = step->seen_rotation;
  const yw_vec3* c = &step->velocity;
  yw_lanes_vec3 z = {y.x + step->lag * (v[0] - c->x), y.y + step->lag * (v[1] - c->y),
                     y.z + step->lag * (v[2] - c->z)};
  yw_lanes_vec3 d = {((q[0][0] * z.x + q[1][0] * z.y) + q[2][0] * z.z) - ax,
                     ((q[0][1] * z.x + q[1][1] * z.y) + q[2][1] * z.z) - ay,
                     ((q[0][2] * z.x + q[1][2] * z.y) + q[2][2] * z.z) - az};
  if (step->uneven) {
    yw_vf grip = yw_vf_load(particle->grip + lane);
    d = (yw_lanes_vec3){d.x * grip, d.y * grip, d.z * grip};
  }
  yw_lanes_vec3 f = {n * (gx[0] * ax + gx[1] * ay + gx[2] * az + gx[3]) - d.x,
                     n * (gy[0] * ax + gy[1] * ay + gy[2] * az + gy[3]) - d.y,
                     n * (gz[0] * ax + gz[1] * ay + gz[2] * az + gz[3]) - d.z};
  yw_lanes_vec3 away = {r[0][0] * f.x + r[0][1] * f.y + r[0][2] * f.z,
                        r[1][0] * f.x + r[1][1] * f.y + r[1][2] * f.z,
                        r[2][0] * f.x + r[2][1] * f.y + r[2][2] * f.z};
  yw_lanes_vec3 rigid = {step->drift.x + (step->spin.y * y.z - step->spin.z * y.y),
                         step->drift.y + (step->spin.z * y.x - step->spin.x * y.z),
                         step->drift.z + (step->spin.x * y.y - step->spin.y * y.x)};
  v[0] += (rigid.x - step->damp * v[0]) + (step->pull * away.x + step->gravity.x);
  v[1] += (rigid.y - step->damp * v[1]) + (step->pull * away.y + step->gravity.y);
  v[2] += (rigid.z - step->damp * v[2]) + (step->pull * away.z + step->gravity.z);
  add_torque(sums, yw_vf_load(particle->mass + lane), &y, &away);
  grow(sums, x[0], x[1], x[2]);
  for (int k = 0; k < 3; ++k) x[k] += step->h * v[k];
  grow(sums, x[0], x[1], x[2]);
  v[3] = x[3] = yw_vf_splat(0.0f);
  if (!full) {
    yw_vi live = yw_vf_load(particle->mass + lane) > 0.0f;
    for (int k = 0; k < 3; ++k) {
      v[k] = yw_vf_select(live, v[k], yw_vf_splat(0.0f));
      x[k] = yw_vf_select(live, x[k], yw_vf_splat(0.0f));
    }
  }
#if YW_VF_LANES == 1
  sums->pos = (yw_lanes_vec3){x[0], x[1], x[2]};
  sums->vel = (yw_lanes_vec3){v[0], v[1], v[2]};
#endif
  store_vec4(step->new_pos + block * YW_LANES, lane, x);
  store_vec4(step->vel + block * YW_LANES, lane, v);
}

#endif
