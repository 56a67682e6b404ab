// SPDX-License-Identifier: MIT
// New deformation of masters, one lane per master: (18) to (21).
#ifndef YW_METHODS_PLASTIC_FLOW_LANES_H
#define YW_METHODS_PLASTIC_FLOW_LANES_H

#include <math.h>

#include "math/small/exponent.h"
#include "math/small/lanes_mat3.h"
#include "methods/plastic/body.h"

// Maximum number of sweeps of rotations that make the columns of F_E orthogonal. Columns count as
// orthogonal if their squared cosine is below the limit.
#define MAX_SWEEPS 6
#define LEAST_COSINE2 1e-13f
// Bounds of det F_P.
#define LEAST_DET 0.05f
#define MOST_DET 20.0f
// Of stretches whose energy flow would raise: the fourth is needed for strains above 0.5 only.
#define MAX_SHRINKS 4

typedef struct column {
  yw_vf x, y, z;
} column;

YW_LANE_FN yw_vf dot(const column* a, const column* b) {
  return a->x * b->x + a->y * b->y + a->z * b->z;
}

// Makes two columns orthogonal by rotating the pair. Returns the lanes that needed it.
YW_LANE_FN uint32_t part_columns(column* p, column* q) {
  yw_vf pp = dot(p, p), qq = dot(q, q), pq = dot(p, q);
  yw_vi due = pq * pq > LEAST_COSINE2 * pp * qq;
  uint32_t bits = yw_vi_bits(due);
  if (bits == 0) return 0;
  yw_vf one = yw_vf_splat(1.0f), zeta = (qq - pp) / (2.0f * yw_vf_select(due, pq, one));
  yw_vf t = 1.0f / (yw_vf_abs(zeta) + yw_vf_sqrt(1.0f + zeta * zeta));
  t = yw_vf_select(zeta < 0.0f, -t, t);
  yw_vf c = 1.0f / yw_vf_sqrt(1.0f + t * t), s = c * t;
  c = yw_vf_select(due, c, one);
  s = yw_vf_select(due, s, yw_vf_splat(0.0f));
  column a = *p, b = *q;
  *p = (column){c * a.x - s * b.x, c * a.y - s * b.y, c * a.z - s * b.z};
  *q = (column){s * a.x + c * b.x, s * a.y + c * b.y, s * a.z + c * b.z};
  return bits;
}

YW_LANE_FN column cross(const column* a, const column* b) {
  return (column){a->y * b->z - a->z * b->y, a->z * b->x - a->x * b->z, a->x * b->y - a->y * b->x};
}

// U and sigma of F = columns, by rotations from the right (Hestenes). U is a proper rotation: if F
// is inverted, the smallest stretch is negative.
YW_LANE_FN void split_stretch(column f[3], yw_vf sigma[3]) {
  for (int sweep = 0; sweep < MAX_SWEEPS; ++sweep) {
    uint32_t due =
        part_columns(&f[0], &f[1]) | part_columns(&f[0], &f[2]) | part_columns(&f[1], &f[2]);
    if (due == 0) break;
  }
  yw_vf one = yw_vf_splat(1.0f);
  for (int a = 0; a < 3; ++a) {
    sigma[a] = yw_vf_sqrt(dot(&f[a], &f[a]));
    yw_vf inv = 1.0f / yw_vf_max(sigma[a], yw_vf_splat(1e-12f));
    f[a] = (column){f[a].x * inv, f[a].y * inv, f[a].z * inv};
  }
  // A zero stretch has no direction of its own.
  for (int a = 0; a < 3; ++a) {
    yw_vi lost = sigma[a] < 1e-6f;
    if (yw_vi_bits(lost) == 0) continue;
    column other = cross(&f[(a + 1) % 3], &f[(a + 2) % 3]);
    f[a] = (column){yw_vf_select(lost, other.x, f[a].x), yw_vf_select(lost, other.y, f[a].y),
                    yw_vf_select(lost, other.z, f[a].z)};
  }
  column normal = cross(&f[0], &f[1]);
  yw_vi mirrored = dot(&normal, &f[2]) < 0.0f;
  if (yw_vi_bits(mirrored) == 0) return;
  yw_vf least = yw_vf_min(sigma[0], yw_vf_min(sigma[1], sigma[2]));
  yw_vi left = mirrored;
  for (int a = 0; a < 3; ++a) {
    yw_vi here = left & (sigma[a] == least);
    left &= ~here;
    yw_vf sign = yw_vf_select(here, -one, one);
    sigma[a] *= sign;
    f[a] = (column){f[a].x * sign, f[a].y * sign, f[a].z * sign};
  }
}

// Return to the von Mises cylinder in logarithmic strain: removes the excess, keeps the volume.
typedef struct von_mises {
  float mean, norm, limit;
} von_mises;

static inline float log_stretch(float s) { return yw_logf(s > 0.05f ? s : 0.05f); }

static inline von_mises von_mises_of(float e0, float e1, float e2, float xi, float strain,
                                     float yield, float mu, float scale) {
  float third = 1.0f / 3.0f, norm2 = 0.0f, mean = e0 * third + e1 * third + e2 * third;
  norm2 += (e0 - mean) * (e0 - mean);
  norm2 += (e1 - mean) * (e1 - mean);
  norm2 += (e2 - mean) * (e2 - mean);
  float hardened = 1.0f + xi * strain;
  return (von_mises){mean, sqrtf(norm2), hardened * yield / (2.449489743f * mu * scale)};
}

static inline float kept_stretch(const von_mises* v, float e) {
  return yw_expf(v->mean + (e - v->mean) * (v->limit / v->norm));
}

static inline float von_mises_strain(const von_mises* v) {
  return 0.8164965809f * (v->norm > v->limit ? v->norm - v->limit : 0.0f);
}

// Material that flows at given stretches hardens with the volume it lost.
static inline bool hardens(float xi, float yield) { return xi != 0.0f && !(yield < INFINITY); }

// Per rest volume, as in stress_kernels.c.
YW_LANE_FN yw_vf energy_of(yw_vf mu, yw_vf lambda, const yw_vf sigma[3]) {
  yw_vf a = sigma[0] - 1.0f, b = sigma[1] - 1.0f, c = sigma[2] - 1.0f;
  yw_vf j = sigma[0] * sigma[1] * sigma[2] - 1.0f;
  return mu * (a * a + b * b + c * c) + 0.5f * lambda * j * j;
}

// DIFFERS: cutting stretches off may raise the energy. Where the volume resists more than the
// shape, one stretch is at its upper limit while its stress is a pressure, and taking some of it
// away adds to that pressure. Matter that hardens gets less energy from this than flow takes; at
// xi = 0 all stretches go back towards 1 until the energy is that before the flow.
YW_LANE_FN void take_back(const plastic_material_block* material, int32_t lane,
                          const yw_vf before[3], yw_vf sigma[3]) {
  yw_vi cut = (sigma[0] != before[0]) | (sigma[1] != before[1]) | (sigma[2] != before[2]);
  yw_vi soft = cut & (yw_vf_load(material->xi + lane) == 0.0f);
  if (yw_vi_bits(soft) == 0) return;
  yw_vf mu = yw_vf_load(material->mu + lane), lambda = yw_vf_load(material->lambda + lane);
  yw_vf limit = energy_of(mu, lambda, before), one = yw_vf_splat(1.0f);
  // Exact at once where strains are small.
  for (int i = 0; i < MAX_SHRINKS; ++i) {
    yw_vf energy = energy_of(mu, lambda, sigma);
    yw_vi more = soft & (energy > limit);
    if (yw_vi_bits(more) == 0) return;
    yw_vf ratio = limit / yw_vf_select(more, energy, one);
    yw_vf kept = yw_vf_select(more, yw_vf_sqrt(ratio), one);
    for (int a = 0; a < 3; ++a) {
      sigma[a] = yw_vf_select(more, 1.0f + kept * (sigma[a] - 1.0f), sigma[a]);
    }
  }
}

// Stretches beyond the limits become part of F_P (19), (21).
YW_LANE_FN void flow_box(const plastic_material_block* material, plastic_state_block* state,
                         int32_t lane, bool printed, yw_vf sigma[3]) {
  yw_vf low = yw_vf_load(material->low + lane), high = yw_vf_load(material->high + lane);
  yw_vf before = yw_vf_splat(1.0f), after = before, gone2 = yw_vf_splat(0.0f);
  yw_vf whole[3] = {sigma[0], sigma[1], sigma[2]};
  for (int a = 0; a < 3; ++a) sigma[a] = yw_vf_min(yw_vf_max(sigma[a], low), high);
  if (!printed) take_back(material, lane, whole, sigma);
  for (int a = 0; a < 3; ++a) {
    yw_vf kept = sigma[a];
    yw_vf share = (whole[a] - kept) / yw_vf_max(yw_vf_abs(kept), yw_vf_splat(1e-6f));
    gone2 += share * share;
    before *= whole[a];
    after *= kept;
  }
  yw_vi flowed = gone2 > 0.0f;
  if (yw_vi_bits(flowed) == 0) return;
  yw_vf det = yw_vf_load(state->det_p + lane);
  yw_vf next = det * before / yw_vf_select(flowed, after, yw_vf_splat(1.0f));
  next = yw_vf_min(yw_vf_max(next, yw_vf_splat(LEAST_DET)), yw_vf_splat(MOST_DET));
  yw_vf_store(state->det_p + lane, yw_vf_select(flowed, next, det));
  yw_vf strain = yw_vf_load(state->strain + lane) + yw_vf_sqrt(gone2 * (2.0f / 3.0f));
  yw_vf_store(state->strain + lane, yw_vf_select(flowed, strain, yw_vf_load(state->strain + lane)));
}

// F_E = (1 + dt L) F_E, then flow at given stretches; C.
YW_LANE_FN void flow_lanes(const plastic_body* body, int32_t block, int32_t lane) {
  const plastic_material_block* material = &body->materials[block];
  plastic_state_block* state = &body->state[block];
  const plastic_work_block* work = &body->work[block];
  yw_lanes_mat3 l = yw_lanes_mat3_load((const yw_mat3x16*)work->l, lane),
                u = yw_lanes_mat3_load((const yw_mat3x16*)state->u, lane);
  yw_lanes_mat3 lu = yw_lanes_mat3_mul(&l, &u);
  yw_vf dt = yw_vf_splat(body->dt), sigma[3];
  for (int a = 0; a < 3; ++a) sigma[a] = yw_vf_load(state->sigma[a] + lane);
  column f[3] = {{sigma[0] * (u.xx + dt * lu.xx), sigma[0] * (u.yx + dt * lu.yx),
                  sigma[0] * (u.zx + dt * lu.zx)},
                 {sigma[1] * (u.xy + dt * lu.xy), sigma[1] * (u.yy + dt * lu.yy),
                  sigma[1] * (u.zy + dt * lu.zy)},
                 {sigma[2] * (u.xz + dt * lu.xz), sigma[2] * (u.yz + dt * lu.yz),
                  sigma[2] * (u.zz + dt * lu.zz)}};
  split_stretch(f, sigma);
  flow_box(material, state, lane, body->drag != NULL, sigma);
  yw_lanes_mat3 next = {f[0].x, f[1].x, f[2].x, f[0].y, f[1].y, f[2].y, f[0].z, f[1].z, f[2].z};
  yw_lanes_mat3_store((yw_mat3x16*)state->u, lane, &next);
  for (int a = 0; a < 3; ++a) yw_vf_store(state->sigma[a] + lane, sigma[a]);
  // C = (1 + eta)/2 L - (1 - eta)/2 L^T
  yw_vf eta = yw_vf_load(material->eta + lane);
  yw_vf p = 0.5f * (1.0f + eta), q = 0.5f * (1.0f - eta);
  yw_lanes_mat3 c = {p * l.xx - q * l.xx, p * l.xy - q * l.yx, p * l.xz - q * l.zx,
                     p * l.yx - q * l.xy, p * l.yy - q * l.yy, p * l.yz - q * l.zy,
                     p * l.zx - q * l.xz, p * l.zy - q * l.yz, p * l.zz - q * l.zz};
  yw_lanes_mat3_store((yw_mat3x16*)state->c, lane, &c);
}

// The rest of the flow of one master.
static inline void flow_one(const plastic_body* body, int32_t block, int32_t k) {
  const plastic_material_block* material = &body->materials[block];
  plastic_state_block* state = &body->state[block];
  if (material->yield[k] < INFINITY) {
    float e[3];
    for (int a = 0; a < 3; ++a) e[a] = log_stretch(state->sigma[a][k]);
    von_mises v = von_mises_of(e[0], e[1], e[2], material->xi[k], state->strain[k],
                               material->yield[k], material->mu[k], body->params.stiffness_scale);
    for (int a = 0; a < 3 && v.norm > v.limit; ++a) state->sigma[a][k] = kept_stretch(&v, e[a]);
    state->strain[k] += von_mises_strain(&v);
  }
  if (hardens(material->xi[k], material->yield[k])) {
    state->harden[k] = plastic_hardening(material->xi[k], state->det_p[k]);
  }
}

#endif
