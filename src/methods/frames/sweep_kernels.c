// SPDX-License-Identifier: MIT
// One sweep over the regions of a colour.
//
// Extended: every region solves its own backward Euler step exactly, assuming that A is equally
// compliant in all directions. With P the stress applied so far and `give` the compliance,
//   A^ = A + h^2 give P = R S^,   S + h^2 give V (2 mu (S - 1) + lambda (tr S - 3)) = S^,
// which has a closed-form solution S; the particles then receive the change of P. After all sweeps
// P is the stress of A, whatever the value of `give`. A single spring constant pulls members to the
// affine fit. For lambda = 0 this is the form in the notes, section 3, with forces F = -P g.
//
// With examples, the goal of A is T = (1 - beta) R + beta R1 S~, R1 = polar(A S~), and that of its
// trace is t = (1 - beta) 3 + beta tr S~. With R, R1 and S~ fixed, the step is linear in A:
//   P = [2 mu V (A^ - T) + lambda V (s - t) R] / (1 + 2 mu V h^2 give),   s = R : A
//
// Classic: x += s (R q + c - x), R the rotation of sum m p q^T (Müller et al. 2005).
#include "base/simd.h"
#include "math/small/polar_lanes.h"
#include "methods/frames/sweeps.h"

// Positions and 1 / mass of a register full of particles.
YW_LANE_FN yw_lanes_vec3 gather(const yw_vec4* work, const int32_t* particle, yw_vf* inv_mass) {
  float x[YW_VF_LANES], y[YW_VF_LANES], z[YW_VF_LANES], w[YW_VF_LANES];
  for (int l = 0; l < YW_VF_LANES; ++l) {
    const yw_vec4 p = work[particle[l]];
    x[l] = p.x, y[l] = p.y, z[l] = p.z, w[l] = p.w;
  }
  *inv_mass = yw_vf_load(w);
  return (yw_lanes_vec3){yw_vf_load(x), yw_vf_load(y), yw_vf_load(z)};
}

// Adds displacements to the particles of lanes that have a k-th member.
YW_LANE_FN void scatter(yw_vec4* work, const int32_t* particle, const int32_t* count, int32_t k,
                        yw_lanes_vec3 move) {
  float x[YW_VF_LANES], y[YW_VF_LANES], z[YW_VF_LANES];
  yw_vf_store(x, move.x);
  yw_vf_store(y, move.y);
  yw_vf_store(z, move.z);
  for (int l = 0; l < YW_VF_LANES; ++l) {
    if (k >= count[l]) continue;
    yw_vec4* p = &work[particle[l]];
    p->x += x[l];
    p->y += y[l];
    p->z += z[l];
  }
}

// Lanes without a region become the identity, whose rotation is found at once.
YW_LANE_FN yw_lanes_mat3 or_unit(const frames_sweep_block* block, int32_t lane,
                                 const yw_lanes_mat3* m) {
  yw_vf zero = yw_vf_splat(0.0f), one = yw_vf_splat(1.0f);
  yw_lanes_mat3 unit = {one, zero, zero, zero, one, zero, zero, zero, one};
  return yw_lanes_mat3_select(yw_vf_load(block->inv_count + lane) > 0.0f, m, &unit);
}

// Fit of a region to its members.
typedef struct region_fit {
  yw_lanes_vec3 origin;
  yw_lanes_vec3 mean;    // of positions, relative to the origin's
  yw_lanes_mat3 map;     // A
  yw_lanes_mat3 affine;  // best-fitting linear map of the members
} region_fit;

YW_LANE_FN region_fit fit_region(const frames_sweep* sweep, const frames_sweep_block* block,
                                 int32_t lane) {
  const frames_sweep_entry* entries = sweep->sweeps->entries + block->first_entry;
  yw_vf zero = yw_vf_splat(0.0f), unused;
  region_fit f = {.mean = {zero, zero, zero}};
  yw_lanes_mat3 none = {zero, zero, zero, zero, zero, zero, zero, zero, zero}, moment = none;
  f.map = none;
  f.origin = gather(sweep->work, entries[0].particle + lane, &unused);
  for (int32_t k = 1; k < block->length; ++k) {
    const frames_sweep_entry* e = &entries[k];
    yw_lanes_vec3 d = yw_lanes_vec3_sub(gather(sweep->work, e->particle + lane, &unused), f.origin);
    yw_lanes_mat3_add_outer(&f.map, d, yw_lanes_vec3_load(e->g, lane));
    yw_lanes_mat3_add_outer(&moment, d, yw_lanes_vec3_load(e->q, lane));
    f.mean.x += d.x, f.mean.y += d.y, f.mean.z += d.z;
  }
  // About the means: sum d q^T - sum d c^T.
  yw_lanes_vec3 c = yw_lanes_vec3_load(block->center, lane);
  yw_lanes_mat3_add_outer(&moment, (yw_lanes_vec3){-f.mean.x, -f.mean.y, -f.mean.z}, c);
  yw_lanes_sym3 inverse = yw_lanes_sym3_load((const yw_sym3x16*)block->inv_moment, lane);
  f.affine = yw_lanes_mat3_mul_sym(&moment, &inverse);
  yw_vf share = yw_vf_load(block->inv_count + lane);
  f.mean = (yw_lanes_vec3){f.mean.x * share, f.mean.y * share, f.mean.z * share};
  return f;
}

// Deviation of member k from the affine fit.
YW_LANE_FN yw_lanes_vec3 misfit(const region_fit* f, yw_lanes_vec3 x, yw_lanes_vec3 q,
                                yw_lanes_vec3 c) {
  yw_lanes_vec3 fit = yw_lanes_mat3_apply(&f->affine, yw_lanes_vec3_sub(q, c)),
                d = yw_lanes_vec3_sub(yw_lanes_vec3_sub(x, f->origin), f->mean);
  return yw_lanes_vec3_sub(d, fit);
}

// Additional pull to the affine fit, per metre of deviation.
YW_LANE_FN yw_vf pull_of(const frames_sweep* sweep, const frames_sweep_block* block, int32_t lane,
                         const region_fit* f, frames_dual_block* dual) {
  yw_vf k = yw_vf_load(block->spring + lane), lightest = yw_vf_load(block->lightest + lane);
  yw_vf soft = 1.0f / (1.0f + sweep->h2 * k * lightest);
  if (!sweep->again && !sweep->keep) return k * soft;
  const frames_sweep_entry* entries = sweep->sweeps->entries + block->first_entry;
  yw_lanes_vec3 c = yw_lanes_vec3_load(block->center, lane);
  yw_vf sum = yw_vf_splat(0.0f), unused;
  for (int32_t m = 0; m < block->length; ++m) {
    yw_lanes_vec3 x = gather(sweep->work, entries[m].particle + lane, &unused);
    yw_lanes_vec3 r = misfit(f, x, yw_lanes_vec3_load(entries[m].q, lane), c);
    float real[YW_VF_LANES];
    for (int l = 0; l < YW_VF_LANES; ++l) real[l] = m < block->count[lane + l] ? 1.0f : 0.0f;
    sum += yw_vf_load(real) * (r.x * r.x + r.y * r.y + r.z * r.z);
  }
  yw_vf size = yw_vf_sqrt(sum), before = yw_vf_splat(0.0f);
  if (sweep->again) before = yw_vf_load(dual->pull + lane);
  yw_vf more = (k * size - before) * soft;
  yw_vf_store(dual->pull + lane, before + more);
  return yw_vf_select(size > 1e-12f, more / (size + 1e-30f), yw_vf_splat(0.0f));
}

// P of the rest pose's energy; S is the stretch of A^.
YW_LANE_FN yw_lanes_mat3 rest_stress(yw_vf mu2, yw_vf lambda, yw_vf give, const yw_lanes_mat3* r,
                                     const yw_lanes_sym3* s) {
  yw_vf stretch = (s->xx - 1.0f) + (s->yy - 1.0f) + (s->zz - 1.0f);
  yw_vf soft = give * mu2, excess = stretch / (1.0f + soft + 3.0f * give * lambda);
  yw_vf even = give * lambda * excess, k = mu2 / (1.0f + soft), p = lambda * excess;
  yw_lanes_mat3 body = {k * (s->xx - 1.0f - even) + p, k * s->xy, k * s->xz, k * s->xy,
                        k * (s->yy - 1.0f - even) + p, k * s->yz, k * s->xz, k * s->yz,
                        k * (s->zz - 1.0f - even) + p};
  return yw_lanes_mat3_mul(r, &body);
}

// S~ of a block's lanes.
YW_LANE_FN yw_lanes_sym3 aim(const frames_sweep* sweep, const frames_sweep_block* block,
                             int32_t lane) {
  int32_t count = sweep->sweeps->num_examples;
  size_t first = (size_t)(block - sweep->sweeps->blocks) * (size_t)count;
  const yw_sym3x16* examples = sweep->sweeps->examples + first;
  const float* pulls = sweep->pulls + first * YW_LANES + lane;
  yw_vf zero = yw_vf_splat(0.0f), one = yw_vf_splat(1.0f);
  yw_lanes_sym3 s = {one, one, one, zero, zero, zero};
  for (int32_t k = 0; k < count; ++k) {
    yw_lanes_sym3 l = yw_lanes_sym3_load(&examples[k], lane);
    yw_vf w = yw_vf_load(pulls + (size_t)k * YW_LANES);
    s.xx += w * l.xx, s.yy += w * l.yy, s.zz += w * l.zz;
    s.xy += w * l.xy, s.xz += w * l.xz, s.yz += w * l.yz;
  }
  return s;
}

YW_LANE_FN yw_vf dot_mat3(const yw_lanes_mat3* a, const yw_lanes_mat3* b) {
  return a->xx * b->xx + a->xy * b->xy + a->xz * b->xz + a->yx * b->yx + a->yy * b->yy +
         a->yz * b->yz + a->zx * b->zx + a->zy * b->zy + a->zz * b->zz;
}

// P of the energy with examples. ahead is A^, q and r its rotation.
YW_LANE_FN yw_lanes_mat3 bent_stress(const frames_sweep* sweep, const frames_sweep_block* block,
                                     int32_t lane, const region_fit* f, const yw_lanes_mat3* ahead,
                                     const yw_lanes_quat* q, const yw_lanes_mat3* r, yw_vf give) {
  yw_vf mu2 = yw_vf_load(block->mu2 + lane), lambda = yw_vf_load(block->lambda + lane);
  yw_vf beta = yw_vf_splat(sweep->beta), soft = give * mu2, firm = give * lambda;
  yw_lanes_sym3 target = aim(sweep, block, lane), unused;
  yw_lanes_mat3 map = or_unit(block, lane, &f->map), bent = yw_lanes_mat3_mul_sym(&map, &target),
                r1;
  yw_lanes_quat turn = *q;
  yw_lanes_polar_warm(&bent, &turn, &r1, &unused);
  yw_lanes_mat3 goal = yw_lanes_mat3_mul_sym(&r1, &target);
  yw_lanes_mat3 apart = yw_lanes_mat3_mad(&goal, yw_vf_splat(-1.0f), r);
  goal = yw_lanes_mat3_mad(r, beta, &apart);
  yw_vf trace = 3.0f + beta * ((target.xx - 1.0f) + (target.yy - 1.0f) + (target.zz - 1.0f));
  yw_vf s = (dot_mat3(r, ahead) + soft * dot_mat3(r, &goal) + 3.0f * firm * trace) /
            (1.0f + soft + 3.0f * firm);
  yw_lanes_mat3 p = yw_lanes_mat3_mad(ahead, yw_vf_splat(-1.0f), &goal);
  yw_vf share = 1.0f / (1.0f + soft), pressure = lambda * (s - trace) * share;
  share = mu2 * share;
  p = (yw_lanes_mat3){share * p.xx, share * p.xy, share * p.xz, share * p.yx, share * p.yy,
                      share * p.yz, share * p.zx, share * p.zy, share * p.zz};
  return yw_lanes_mat3_mad(&p, pressure, r);
}

// The change of P that the region requires.
YW_LANE_FN yw_lanes_mat3 stress_change(const frames_sweep* sweep, const frames_sweep_block* block,
                                       int32_t lane, const region_fit* f, frames_dual_block* dual,
                                       bool bent, uint32_t* rescued) {
  yw_vf mu2 = yw_vf_load(block->mu2 + lane), lambda = yw_vf_load(block->lambda + lane);
  yw_vf give = sweep->h2 * yw_vf_load(block->give + lane), zero = yw_vf_splat(0.0f);
  yw_lanes_mat3 a = f->map, old = {zero, zero, zero, zero, zero, zero, zero, zero, zero}, r, unit;
  if (sweep->again) {
    old = yw_lanes_mat3_load((const yw_mat3x16*)dual->stress, lane);
    a = yw_lanes_mat3_mad(&a, give, &old);
  }
  a = or_unit(block, lane, &a);
  yw_lanes_sym3 s;
  yw_vf largest;
  yw_lanes_quat q = yw_lanes_polar_start(&a, &unit, &largest);
  *rescued = yw_lanes_polar_finish_all(&a, &q, &r, &s);
  yw_lanes_mat3 now = bent ? bent_stress(sweep, block, lane, f, &a, &q, &r, give)
                           : rest_stress(mu2, lambda, give, &r, &s);
  if (sweep->keep) yw_lanes_mat3_store((yw_mat3x16*)dual->stress, lane, &now);
  return yw_lanes_mat3_mad(&now, yw_vf_splat(-1.0f), &old);
}

YW_LANE_FN int32_t extend_lanes(const frames_sweep* sweep, int32_t b, int32_t lane, bool bent) {
  const frames_sweep_block* block = &sweep->sweeps->blocks[b];
  const frames_sweep_entry* entries = sweep->sweeps->entries + block->first_entry;
  frames_dual_block* dual = &sweep->duals[b];
  region_fit f = fit_region(sweep, block, lane);
  uint32_t rescued;
  yw_lanes_mat3 p = stress_change(sweep, block, lane, &f, dual, bent, &rescued);
  yw_vf pull = pull_of(sweep, block, lane, &f, dual);
  yw_lanes_vec3 c = yw_lanes_vec3_load(block->center, lane);
  for (int32_t k = 0; k < block->length; ++k) {
    const frames_sweep_entry* e = &entries[k];
    yw_vf inv_mass;
    yw_lanes_vec3 x = gather(sweep->work, e->particle + lane, &inv_mass);
    yw_lanes_vec3 r = misfit(&f, x, yw_lanes_vec3_load(e->q, lane), c);
    yw_lanes_vec3 force = yw_lanes_mat3_apply(&p, yw_lanes_vec3_load(e->g, lane));
    yw_vf way = -sweep->h2 * inv_mass;
    scatter(sweep->work, e->particle + lane, block->count + lane, k,
            (yw_lanes_vec3){way * (force.x + pull * r.x), way * (force.y + pull * r.y),
                            way * (force.z + pull * r.z)});
  }
  int32_t count = 0;
  for (int l = 0; l < YW_VF_LANES; ++l) count += (rescued >> l & 1) && block->count[lane + l] > 0;
  return count;
}

YW_LANE_FN void extend(const frames_sweep* sweep, int32_t chunk, bool bent) {
  int32_t first = sweep->first + chunk * FRAMES_SWEEP_CHUNK, last = first + FRAMES_SWEEP_CHUNK;
  if (last > sweep->last) last = sweep->last;
  int32_t recovered = 0;
  for (int32_t b = first; b < last; ++b) {
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      recovered += extend_lanes(sweep, b, lane, bent);
    }
  }
  sweep->recovered[chunk] = recovered;
}

static void extended(const frames_sweep* sweep, int32_t chunk) { extend(sweep, chunk, false); }
static void extended_bent(const frames_sweep* sweep, int32_t chunk) { extend(sweep, chunk, true); }

// Classic -----------------------------------------------------------------------------------------

YW_LANE_FN yw_vf gather_mass(const frames_sweep* sweep, const frames_sweep_entry* e, int32_t lane,
                             const int32_t* count, int32_t k) {
  float m[YW_VF_LANES];
  for (int l = 0; l < YW_VF_LANES; ++l) {
    m[l] = k < count[l] ? sweep->mass[e->particle[lane + l]] : 0.0f;
  }
  return yw_vf_load(m);
}

YW_LANE_FN void match_lanes(const frames_sweep* sweep, int32_t b, int32_t lane) {
  const frames_sweep_block* block = &sweep->sweeps->blocks[b];
  const frames_sweep_entry* entries = sweep->sweeps->entries + block->first_entry;
  const int32_t* count = block->count + lane;
  yw_vf zero = yw_vf_splat(0.0f), unused, mass = zero;
  yw_lanes_vec3 origin = gather(sweep->work, entries[0].particle + lane, &unused);
  yw_lanes_vec3 md = {zero, zero, zero}, mq = md;
  yw_lanes_mat3 moment = {zero, zero, zero, zero, zero, zero, zero, zero, zero};
  for (int32_t k = 0; k < block->length; ++k) {
    const frames_sweep_entry* e = &entries[k];
    yw_vf m = gather_mass(sweep, e, lane, count, k);
    yw_lanes_vec3 d = yw_lanes_vec3_sub(gather(sweep->work, e->particle + lane, &unused), origin);
    yw_lanes_vec3 q = yw_lanes_vec3_load(e->q, lane), weighted = {m * d.x, m * d.y, m * d.z};
    yw_lanes_mat3_add_outer(&moment, weighted, q);
    mass += m;
    md.x += weighted.x, md.y += weighted.y, md.z += weighted.z;
    mq.x += m * q.x, mq.y += m * q.y, mq.z += m * q.z;
  }
  yw_vf share = 1.0f / (mass + 1e-30f);
  yw_lanes_vec3 center = {md.x * share, md.y * share, md.z * share};
  yw_lanes_vec3 rest = {mq.x * share, mq.y * share, mq.z * share};
  yw_lanes_mat3_add_outer(&moment, (yw_lanes_vec3){-md.x, -md.y, -md.z}, rest);

  moment = or_unit(block, lane, &moment);
  yw_lanes_mat3 unit, r;
  yw_lanes_sym3 s;
  yw_vf largest;
  yw_lanes_quat turn = yw_lanes_polar_start(&moment, &unit, &largest);
  yw_lanes_polar_finish_all(&unit, &turn, &r, &s);
  for (int32_t k = 0; k < block->length; ++k) {
    const frames_sweep_entry* e = &entries[k];
    yw_vf inv_mass;
    yw_lanes_vec3 x = gather(sweep->work, e->particle + lane, &inv_mass);
    yw_lanes_vec3 goal =
        yw_lanes_mat3_apply(&r, yw_lanes_vec3_sub(yw_lanes_vec3_load(e->q, lane), rest));
    yw_lanes_vec3 d = yw_lanes_vec3_sub(yw_lanes_vec3_sub(x, origin), center);
    yw_vf way = yw_vf_select(inv_mass > 0.0f, yw_vf_splat(sweep->stiffness), zero);
    scatter(sweep->work, e->particle + lane, count, k,
            (yw_lanes_vec3){way * (goal.x - d.x), way * (goal.y - d.y), way * (goal.z - d.z)});
  }
}

static void classic(const frames_sweep* sweep, int32_t chunk) {
  int32_t first = sweep->first + chunk * FRAMES_SWEEP_CHUNK, last = first + FRAMES_SWEEP_CHUNK;
  if (last > sweep->last) last = sweep->last;
  for (int32_t b = first; b < last; ++b) {
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) match_lanes(sweep, b, lane);
  }
  sweep->recovered[chunk] = 0;
}

const frames_sweep_kernels YW_KERNEL(yw_frames_sweep_kernels) = {
    .extended = extended,
    .extended_bent = extended_bent,
    .classic = classic,
};
