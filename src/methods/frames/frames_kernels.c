// SPDX-License-Identifier: MIT
// Forces and stiffness of frames regions. Symbols as in regions.h and energy.h.
//
// Members are gathered one region at a time, four floats per particle; the rest works on one
// register full of regions. Positions are relative to the origin of the region, so that a body far
// away keeps the precision of its positions.
#include "base/simd.h"
#include "math/small/float4.h"
#include "math/small/polar_lanes.h"
#include "methods/frames/step.h"
#include "yawara/frames.h"

// Newton steps from above towards the largest stretch; each gives a valid bound.
#define ROOT_STEPS 4
// A region with less resistance to rotation counts as collapsed.
#define LEAST_TURNING 0.1f

// Gathering ---------------------------------------------------------------------------------------

// A of 16 regions; writes t into their rows. Lanes beyond the last region are at rest.
static void gather_maps(const frames_phase* phase, int32_t block, yw_mat3x16* maps) {
  const frames_model* model = phase->model;
  const bool cells = model->kind == YW_FRAMES_CELLS;
  _Alignas(64) float columns[YW_LANES][12];
  for (int32_t lane = 0; lane < YW_LANES; ++lane) {
    int32_t r = block * YW_LANES + lane;
    yw_float4 a = {1, 0, 0, 0}, b = {0, 1, 0, 0}, c = {0, 0, 1, 0};
    if (r < model->num_regions) {
      const frames_member* member = model->members + model->member_start[r];
      const frames_member* end = model->members + model->member_start[r + 1];
      yw_float4 origin = yw_float4_load(&phase->x[member->particle]), sum = {0};
      a = b = c = sum;
      for (++member; member < end; ++member) {
        yw_float4 g = yw_float4_load(member),
                  d = yw_float4_load(&phase->x[member->particle]) - origin;
        a += YW_FLOAT4_SPREAD(g, 0) * d;
        b += YW_FLOAT4_SPREAD(g, 1) * d;
        c += YW_FLOAT4_SPREAD(g, 2) * d;
        if (cells) sum += d;
      }
      yw_float4_store(phase->body->rows + (size_t)r * FRAMES_ROW + 12, origin + 0.125f * sum);
    }
    yw_float4_store(columns[lane], a);
    yw_float4_store(columns[lane] + 4, b);
    yw_float4_store(columns[lane] + 8, c);
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int l = 0; l < YW_LANES; ++l) maps->m[3 * i + j][l] = columns[l][4 * j + i];
    }
  }
}

// Rows of P - A N.
static void write_rows(const frames_phase* phase, int32_t block, const yw_mat3x16* p) {
  _Alignas(64) float columns[YW_LANES][12];
  int32_t count = phase->model->num_regions - block * YW_LANES;
  if (count > YW_LANES) count = YW_LANES;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) {
      for (int l = 0; l < YW_LANES; ++l) columns[l][4 * j + i] = p->m[3 * i + j][l];
    }
    for (int l = 0; l < YW_LANES; ++l) columns[l][4 * j + 3] = 0.0f;
  }
  float* rows = phase->body->rows + (size_t)block * (YW_LANES * FRAMES_ROW);
  for (int32_t l = 0; l < count; ++l) memcpy(rows + l * FRAMES_ROW, columns[l], 12 * sizeof *rows);
}

// p -= a n
YW_LANE_FN void subtract_product(yw_lanes_mat3* p, const yw_lanes_mat3* a, const yw_lanes_sym3* n) {
  p->xx -= a->xx * n->xx + a->xy * n->xy + a->xz * n->xz;
  p->xy -= a->xx * n->xy + a->xy * n->yy + a->xz * n->yz;
  p->xz -= a->xx * n->xz + a->xy * n->yz + a->xz * n->zz;
  p->yx -= a->yx * n->xx + a->yy * n->xy + a->yz * n->xz;
  p->yy -= a->yx * n->xy + a->yy * n->yy + a->yz * n->yz;
  p->yz -= a->yx * n->xz + a->yy * n->yz + a->yz * n->zz;
  p->zx -= a->zx * n->xx + a->zy * n->xy + a->zz * n->xz;
  p->zy -= a->zx * n->xy + a->zy * n->yy + a->zz * n->yz;
  p->zz -= a->zx * n->xz + a->zy * n->yz + a->zz * n->zz;
}

// Stress and tangent ------------------------------------------------------------------------------

// T = mu - kappa (H + missing)^-1, H = tr S - S; `missing` is an upper bound of what T >= 0 needs.
// The largest eigenvalue of the deviator of S keeps its precision where S is near 1.
YW_LANE_FN yw_lanes_sym3 twist_of(const yw_lanes_sym3* s, yw_vf mu2, yw_vf lambda) {
  yw_vf trace = s->xx + s->yy + s->zz, third = trace * (1.0f / 3.0f);
  yw_vf excess = (s->xx - 1.0f) + (s->yy - 1.0f) + (s->zz - 1.0f);
  yw_vf dx = s->xx - third, dy = s->yy - third, dz = s->zz - third;
  yw_vf off = s->xy * s->xy + s->xz * s->xz + s->yz * s->yz;
  yw_vf q = 0.5f * (dx * dx + dy * dy + dz * dz) + off;
  yw_vf r = dx * (dy * dz - s->yz * s->yz) - s->xy * (s->xy * dz - s->yz * s->xz) +
            s->xz * (s->xy * s->yz - dy * s->xz);
  yw_vf largest = 2.0f * yw_vf_sqrt(q * (1.0f / 3.0f));
  for (int i = 0; i < ROOT_STEPS; ++i) {
    yw_vf l2 = largest * largest;
    largest -= (largest * (l2 - q) - r) / (3.0f * l2 - q + 1e-30f);
  }
  yw_vf kappa = mu2 - lambda * excess;
  yw_vf missing = largest - 2.0f * excess * (1.0f / 3.0f + lambda / mu2);
  missing = yw_vf_max(missing, LEAST_TURNING - 2.0f * third + largest);
  missing = yw_vf_max(missing, yw_vf_splat(0.0f));

  yw_vf hx = s->yy + s->zz + missing, hy = s->xx + s->zz + missing, hz = s->xx + s->yy + missing;
  yw_vf cxx = hy * hz - s->yz * s->yz, cyy = hx * hz - s->xz * s->xz, czz = hx * hy - s->xy * s->xy;
  yw_vf cxy = s->xz * s->yz + s->xy * hz, cxz = s->xy * s->yz + s->xz * hy;
  yw_vf cyz = s->xy * s->xz + s->yz * hx;
  yw_vf k = kappa / (hx * cxx - s->xy * cxy - s->xz * cxz), mu = 0.5f * mu2;
  return (yw_lanes_sym3){mu - k * cxx, mu - k * cyy, mu - k * czz, -k * cxy, -k * cxz, -k * cyz};
}

// Examples ----------------------------------------------------------------------------------------
//
// E = (1 - beta) E_rest + beta V [mu |A - R1 S~|^2 + lambda/2 (tr S - tr S~)^2], R1 = polar(A S~).
// The second derivative of the last part uses S~ in place of the actual stretch: it is then never
// negative, and exact where the body is in the target pose.

// S~ = 1 + sum w_k (S^k - 1), weights times the strengths of the examples
YW_LANE_FN yw_lanes_sym3 aim(const frames_phase* phase, int32_t block, int32_t lane) {
  const frames_model* model = phase->model;
  size_t first = (size_t)block * (size_t)model->num_examples;
  const yw_sym3x16* examples = model->examples + first;
  const float* pulls = phase->body->pulls + first * YW_LANES + lane;
  yw_vf zero = yw_vf_splat(0.0f), one = yw_vf_splat(1.0f);
  yw_lanes_sym3 s = {one, one, one, zero, zero, zero};
  for (int32_t k = 0; k < model->num_examples; ++k) {
    yw_lanes_sym3 l = yw_lanes_sym3_load(&examples[k], lane);
    yw_vf w = yw_vf_load(pulls + (size_t)k * YW_LANES);
    s.xx += w * l.xx, s.yy += w * l.yy, s.zz += w * l.zz;
    s.xy += w * l.xy, s.xz += w * l.xz, s.yz += w * l.yz;
  }
  return s;
}

// R1, with R as the initial guess.
YW_LANE_FN uint32_t bend(const yw_lanes_mat3* a, const yw_lanes_sym3* target, yw_lanes_quat q,
                         yw_lanes_mat3* r) {
  yw_lanes_mat3 bent = yw_lanes_mat3_mul_sym(a, target);
  yw_lanes_sym3 unused;
  return yw_lanes_polar_warm(&bent, &q, r, &unused);
}

// b_k = sum V [mu L_k : (R1^T A - 1) + lambda/2 tr L_k (tr S - 3)], per chunk or, with several
// groups, the terms of the sum.
static void weigh(const frames_phase* phase, int32_t chunk) {
  const frames_model* model = phase->model;
  frames_body* body = phase->body;
  int32_t first = chunk * (FRAMES_CHUNK / YW_LANES), end = first + FRAMES_CHUNK / YW_LANES;
  if (end > model->num_blocks) end = model->num_blocks;
  _Alignas(64) float sums[YW_MAX_EXAMPLES][YW_LANES] = {{0}};
  for (int32_t block = first; block < end; ++block) {
    const frames_region_block* constants = &model->blocks[block];
    const yw_sym3x16* examples = model->examples + (size_t)block * (size_t)model->num_examples;
    yw_mat3x16 maps;
    gather_maps(phase, block, &maps);
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_lanes_mat3 a = yw_lanes_mat3_load(&maps, lane), r, r1;
      yw_lanes_quat q = yw_lanes_quat_load(&body->rotations[block], lane);
      yw_lanes_sym3 s, target = aim(phase, block, lane);
      yw_lanes_polar_warm(&a, &q, &r, &s);
      yw_lanes_quat_store(&body->rotations[block], lane, &q);
      bend(&a, &target, q, &r1);
      yw_lanes_mat3 w = yw_lanes_mat3_mul_tn(&r1, &a);
      yw_vf mu = 0.5f * yw_vf_load(constants->mu2 + lane);
      yw_vf half = 0.5f * yw_vf_load(constants->lambda + lane);
      yw_vf pressure = half * ((s.xx - 1.0f) + (s.yy - 1.0f) + (s.zz - 1.0f));
      for (int32_t k = 0; k < model->num_examples; ++k) {
        yw_lanes_sym3 l = yw_lanes_sym3_load(&examples[k], lane);
        yw_vf product = mu * (l.xx * (w.xx - 1.0f) + l.yy * (w.yy - 1.0f) + l.zz * (w.zz - 1.0f) +
                              l.xy * (w.xy + w.yx) + l.xz * (w.xz + w.zx) + l.yz * (w.yz + w.zy)) +
                        pressure * (l.xx + l.yy + l.zz);
        if (model->num_groups > 1) {
          size_t row = (size_t)block * (size_t)model->num_examples + (size_t)k;
          yw_vf_store(body->products + row * YW_LANES + (size_t)lane, product);
        } else {
          yw_vf_store(sums[k] + lane, yw_vf_load(sums[k] + lane) + product);
        }
      }
    }
  }
  for (int32_t k = 0; k < model->num_examples && model->num_groups == 1; ++k) {
    float sum = 0.0f;
    for (int l = 0; l < YW_LANES; ++l) sum += sums[k][l];
    body->products[chunk * model->num_examples + k] = sum;
  }
}

// 2 mu V (tr S~^2 - S~^2)^-1
YW_LANE_FN yw_lanes_sym3 turn_of(const yw_lanes_sym3* t, yw_vf mu2) {
  yw_vf xx = t->xx * t->xx + t->xy * t->xy + t->xz * t->xz;
  yw_vf yy = t->xy * t->xy + t->yy * t->yy + t->yz * t->yz;
  yw_vf zz = t->xz * t->xz + t->yz * t->yz + t->zz * t->zz;
  yw_vf xy = t->xx * t->xy + t->xy * t->yy + t->xz * t->yz;
  yw_vf xz = t->xx * t->xz + t->xy * t->yz + t->xz * t->zz;
  yw_vf yz = t->xy * t->xz + t->yy * t->yz + t->yz * t->zz;
  yw_vf hx = yy + zz, hy = xx + zz, hz = xx + yy;
  yw_vf cxx = hy * hz - yz * yz, cyy = hx * hz - xz * xz, czz = hx * hy - xy * xy;
  yw_vf cxy = xz * yz + xy * hz, cxz = xy * yz + xz * hy, cyz = xy * xz + yz * hx;
  yw_vf k = mu2 / (hx * cxx - xy * cxy - xz * cxz);
  return (yw_lanes_sym3){k * cxx, k * cyy, k * czz, k * cxy, k * cxz, k * cyz};
}

// p += k (2 mu (a - r1 s~) + pressure r)
YW_LANE_FN void add_target_stress(yw_lanes_mat3* p, yw_vf k, yw_vf mu2, const yw_lanes_mat3* a,
                                  const yw_lanes_mat3* goal, yw_vf pressure,
                                  const yw_lanes_mat3* r) {
  p->xx += k * (mu2 * (a->xx - goal->xx) + pressure * r->xx);
  p->xy += k * (mu2 * (a->xy - goal->xy) + pressure * r->xy);
  p->xz += k * (mu2 * (a->xz - goal->xz) + pressure * r->xz);
  p->yx += k * (mu2 * (a->yx - goal->yx) + pressure * r->yx);
  p->yy += k * (mu2 * (a->yy - goal->yy) + pressure * r->yy);
  p->yz += k * (mu2 * (a->yz - goal->yz) + pressure * r->yz);
  p->zx += k * (mu2 * (a->zx - goal->zx) + pressure * r->zx);
  p->zy += k * (mu2 * (a->zy - goal->zy) + pressure * r->zy);
  p->zz += k * (mu2 * (a->zz - goal->zz) + pressure * r->zz);
}

// Adds the examples' share to the stress; p holds that of the rest pose, already weighted.
YW_LANE_FN uint32_t pull_to_examples(const frames_phase* phase, int32_t block, int32_t lane,
                                     const yw_lanes_mat3* a, const yw_lanes_mat3* r,
                                     const yw_lanes_sym3* s, bool tangents, yw_lanes_mat3* p) {
  const frames_region_block* constants = &phase->model->blocks[block];
  yw_vf mu2 = yw_vf_load(constants->mu2 + lane), lambda = yw_vf_load(constants->lambda + lane);
  yw_lanes_sym3 target = aim(phase, block, lane);
  yw_lanes_mat3 r1;
  uint32_t rescued =
      bend(a, &target, yw_lanes_quat_load(&phase->body->rotations[block], lane), &r1);
  yw_lanes_mat3 goal = yw_lanes_mat3_mul_sym(&r1, &target);
  yw_vf excess = (s->xx - target.xx) + (s->yy - target.yy) + (s->zz - target.zz);
  yw_vf beta = yw_vf_splat(phase->body->params.beta);
  add_target_stress(p, beta, mu2, a, &goal, lambda * excess, r);
  if (tangents) {
    frames_example_block* bent = &phase->body->bent[block];
    yw_lanes_sym3 turn = turn_of(&target, mu2);
    yw_lanes_mat3_store((yw_mat3x16*)bent->r, lane, &r1);
    yw_lanes_sym3_store((yw_sym3x16*)bent->target, lane, &target);
    yw_lanes_sym3_store((yw_sym3x16*)bent->turn, lane, &turn);
  }
  return rescued;
}

// The same for dP.
YW_LANE_FN void stiffen_to_examples(const frames_phase* phase, int32_t block, int32_t lane,
                                    const yw_lanes_mat3* da, yw_lanes_mat3* p) {
  const frames_region_block* constants = &phase->model->blocks[block];
  const frames_example_block* bent = &phase->body->bent[block];
  yw_vf mu2 = yw_vf_load(constants->mu2 + lane), lambda = yw_vf_load(constants->lambda + lane);
  yw_lanes_mat3 r = yw_lanes_mat3_load((const yw_mat3x16*)bent->r, lane);
  yw_lanes_sym3 target = yw_lanes_sym3_load((const yw_sym3x16*)bent->target, lane),
                turn = yw_lanes_sym3_load((const yw_sym3x16*)bent->turn, lane);
  yw_lanes_mat3 w = yw_lanes_mat3_mul_tn(&r, da), z = yw_lanes_mat3_mul_sym(&w, &target);
  yw_vf zx = z.zy - z.yz, zy = z.xz - z.zx, zz = z.yx - z.xy, zero = yw_vf_splat(0.0f);
  yw_vf ox = turn.xx * zx + turn.xy * zy + turn.xz * zz;
  yw_vf oy = turn.xy * zx + turn.yy * zy + turn.yz * zz;
  yw_vf oz = turn.xz * zx + turn.yz * zy + turn.zz * zz;
  yw_lanes_mat3 cross = {zero, -oz, oy, oz, zero, -ox, -oy, ox, zero};
  yw_lanes_mat3 back = yw_lanes_mat3_mul_sym(&cross, &target), one;
  yw_vf pressure = lambda * (w.xx + w.yy + w.zz);
  one = (yw_lanes_mat3){pressure, zero, zero, zero, pressure, zero, zero, zero, pressure};
  yw_lanes_mat3 none = {zero, zero, zero, zero, zero, zero, zero, zero, zero}, inner = none;
  add_target_stress(&inner, yw_vf_splat(1.0f), mu2, &w, &none, yw_vf_splat(1.0f), &one);
  add_target_stress(&inner, yw_vf_splat(-1.0f), yw_vf_splat(1.0f), &back, &none, zero, &none);
  yw_lanes_mat3 turned = yw_lanes_mat3_mul(&r, &inner);
  add_target_stress(p, yw_vf_splat(phase->body->params.beta), yw_vf_splat(1.0f), &turned, &none,
                    zero, &none);
}

// Regions -----------------------------------------------------------------------------------------

YW_LANE_FN void evaluate(const frames_phase* phase, int32_t chunk, bool tangents, bool bent) {
  const float own = bent ? 1.0f - phase->body->params.beta : 1.0f;
  const frames_model* model = phase->model;
  frames_body* body = phase->body;
  int32_t first = chunk * (FRAMES_CHUNK / YW_LANES), end = first + FRAMES_CHUNK / YW_LANES;
  if (end > model->num_blocks) end = model->num_blocks;
  int32_t recovered = 0;
  for (int32_t block = first; block < end; ++block) {
    const frames_region_block* constants = &model->blocks[block];
    yw_mat3x16 maps, stress;
    gather_maps(phase, block, &maps);
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_lanes_mat3 a = yw_lanes_mat3_load(&maps, lane), r;
      yw_lanes_quat q = yw_lanes_quat_load(&body->rotations[block], lane);
      yw_lanes_sym3 s;
      recovered += __builtin_popcount(yw_lanes_polar_warm(&a, &q, &r, &s));
      yw_lanes_quat_store(&body->rotations[block], lane, &q);

      yw_vf mu2 = yw_vf_load(constants->mu2 + lane), lambda = yw_vf_load(constants->lambda + lane);
      yw_vf pressure = lambda * ((s.xx - 1.0f) + (s.yy - 1.0f) + (s.zz - 1.0f));
      yw_lanes_mat3 p = {
          mu2 * (a.xx - r.xx) + pressure * r.xx, mu2 * (a.xy - r.xy) + pressure * r.xy,
          mu2 * (a.xz - r.xz) + pressure * r.xz, mu2 * (a.yx - r.yx) + pressure * r.yx,
          mu2 * (a.yy - r.yy) + pressure * r.yy, mu2 * (a.yz - r.yz) + pressure * r.yz,
          mu2 * (a.zx - r.zx) + pressure * r.zx, mu2 * (a.zy - r.zy) + pressure * r.zy,
          mu2 * (a.zz - r.zz) + pressure * r.zz};
      if (bent) {
        p = yw_lanes_mat3_scale(&p, yw_vf_splat(own));
        recovered +=
            __builtin_popcount(pull_to_examples(phase, block, lane, &a, &r, &s, tangents, &p));
      }
      yw_lanes_sym3 n = yw_lanes_sym3_load((const yw_sym3x16*)constants->n, lane);
      subtract_product(&p, &a, &n);
      yw_lanes_mat3_store(&stress, lane, &p);
      if (tangents) {
        frames_tangent_block* tangent = &body->tangents[block];
        yw_lanes_sym3 twist = twist_of(&s, mu2, lambda);
        yw_lanes_mat3_store((yw_mat3x16*)tangent->r, lane, &r);
        yw_lanes_sym3_store((yw_sym3x16*)tangent->twist, lane, &twist);
      }
    }
    write_rows(phase, block, &stress);
  }
  body->sums[chunk].recovered = recovered;
}

static void linearise(const frames_phase* phase, int32_t chunk) {
  evaluate(phase, chunk, true, false);
}

static void stress(const frames_phase* phase, int32_t chunk) {
  evaluate(phase, chunk, false, false);
}

static void linearise_bent(const frames_phase* phase, int32_t chunk) {
  evaluate(phase, chunk, true, true);
}

static void stress_bent(const frames_phase* phase, int32_t chunk) {
  evaluate(phase, chunk, false, true);
}

YW_LANE_FN void stiffen_regions(const frames_phase* phase, int32_t chunk, bool bent) {
  const float own = bent ? 1.0f - phase->body->params.beta : 1.0f;
  const frames_model* model = phase->model;
  int32_t first = chunk * (FRAMES_CHUNK / YW_LANES), end = first + FRAMES_CHUNK / YW_LANES;
  if (end > model->num_blocks) end = model->num_blocks;
  for (int32_t block = first; block < end; ++block) {
    const frames_region_block* constants = &model->blocks[block];
    const frames_tangent_block* tangent = &phase->body->tangents[block];
    yw_mat3x16 maps;
    gather_maps(phase, block, &maps);
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_lanes_mat3 da = yw_lanes_mat3_load(&maps, lane);
      yw_lanes_mat3 r = yw_lanes_mat3_load((const yw_mat3x16*)tangent->r, lane);
      yw_lanes_sym3 twist = yw_lanes_sym3_load((const yw_sym3x16*)tangent->twist, lane);
      yw_vf mu2 = yw_vf_load(constants->mu2 + lane), lambda = yw_vf_load(constants->lambda + lane);
      yw_lanes_mat3 w = yw_lanes_mat3_mul_tn(&r, &da);
      yw_vf zx = w.zy - w.yz, zy = w.xz - w.zx, zz = w.yx - w.xy;
      yw_vf tx = twist.xx * zx + twist.xy * zy + twist.xz * zz;
      yw_vf ty = twist.xy * zx + twist.yy * zy + twist.yz * zz;
      yw_vf tz = twist.xz * zx + twist.yz * zy + twist.zz * zz;
      yw_vf mu = 0.5f * mu2, pressure = lambda * (w.xx + w.yy + w.zz);
      yw_vf sxy = mu * (w.xy + w.yx), sxz = mu * (w.xz + w.zx), syz = mu * (w.yz + w.zy);
      yw_lanes_mat3 turned = {mu2 * w.xx + pressure, sxy - tz, sxz + ty, sxy + tz,
                              mu2 * w.yy + pressure, syz - tx, sxz - ty, syz + tx,
                              mu2 * w.zz + pressure};
      yw_lanes_mat3 p = yw_lanes_mat3_mul(&r, &turned);
      if (bent) {
        p = yw_lanes_mat3_scale(&p, yw_vf_splat(own));
        stiffen_to_examples(phase, block, lane, &da, &p);
      }
      yw_lanes_sym3 n = yw_lanes_sym3_load((const yw_sym3x16*)constants->n, lane);
      subtract_product(&p, &da, &n);
      yw_lanes_mat3_store(&maps, lane, &p);
    }
    write_rows(phase, block, &maps);
  }
}

static void stiffen(const frames_phase* phase, int32_t chunk) {
  stiffen_regions(phase, chunk, false);
}

static void stiffen_bent(const frames_phase* phase, int32_t chunk) {
  stiffen_regions(phase, chunk, true);
}

// Particles ---------------------------------------------------------------------------------------

// Force on particle p at x from the rows of its regions.
YW_LANE_FN yw_float4 gather_rows(const frames_phase* phase, int32_t p, yw_float4 x) {
  const frames_model* model = phase->model;
  const float* rows = phase->body->rows;
  yw_float4 even = {0}, odd = {0};
  for (int32_t e = model->holder_start[p]; e < model->holder_start[p + 1]; ++e) {
    const float* row = rows + (size_t)model->holder_region[e] * FRAMES_ROW;
    yw_float4 g = yw_float4_load(&model->holders[e]);
    even += YW_FLOAT4_SPREAD(g, 0) * yw_float4_load(row) +
            YW_FLOAT4_SPREAD(g, 1) * yw_float4_load(row + 4);
    odd += YW_FLOAT4_SPREAD(g, 2) * yw_float4_load(row + 8) +
           YW_FLOAT4_SPREAD(g, 3) * (x - yw_float4_load(row + 12));
  }
  return even + odd;
}

YW_LANE_FN double dot(yw_float4 a, yw_float4 b) {
  yw_float4 ab = a * b;
  return ((double)ab[0] + (double)ab[1]) + (double)ab[2];
}

static void forces(const frames_phase* phase, int32_t chunk) {
  const frames_body* body = phase->body;
  int32_t first = chunk * FRAMES_CHUNK, end = first + FRAMES_CHUNK;
  if (end > phase->model->num_particles) end = phase->model->num_particles;
  double sum = 0.0;
  for (int32_t p = first; p < end; ++p) {
    yw_float4 x = yw_float4_load(&phase->x[p]), out = {0};
    if (phase->inverse[p] != 0.0f) {
      yw_float4 pull =
          body->diagonal[p] * (yw_float4_load(&body->anchor[p]) - yw_float4_load(&body->moved[p]));
      out = pull - gather_rows(phase, p, x);
      sum += dot(out, out) * (double)phase->inverse[p];
    }
    yw_float4_store(&phase->out[p], out);
  }
  phase->body->sums[chunk].a = sum;
}

static void multiply(const frames_phase* phase, int32_t chunk) {
  const frames_body* body = phase->body;
  int32_t first = chunk * FRAMES_CHUNK, end = first + FRAMES_CHUNK;
  if (end > phase->model->num_particles) end = phase->model->num_particles;
  double sum = 0.0;
  for (int32_t p = first; p < end; ++p) {
    yw_float4 x = yw_float4_load(&phase->x[p]), out = {0};
    if (phase->inverse[p] != 0.0f) {
      out = body->diagonal[p] * x + gather_rows(phase, p, x);
      sum += dot(x, out);
    }
    yw_float4_store(&phase->out[p], out);
  }
  phase->body->sums[chunk].a = sum;
}

const frames_kernels YW_KERNEL(yw_frames_kernels) = {
    .linearise = linearise,
    .stress = stress,
    .stiffen = stiffen,
    .weigh = weigh,
    .linearise_bent = linearise_bent,
    .stress_bent = stress_bent,
    .stiffen_bent = stiffen_bent,
    .forces = forces,
    .multiply = multiply,
};
