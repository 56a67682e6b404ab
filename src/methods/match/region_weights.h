// SPDX-License-Identifier: MIT
// Example weights of regions that choose their own (YW_GROUPS_PER_REGION), for match_kernels.c.
#ifndef YW_METHODS_MATCH_REGION_WEIGHTS_H
#define YW_METHODS_MATCH_REGION_WEIGHTS_H

#include "methods/match/rows.h"
#include "methods/match/step.h"

// Where the weight after beta of example k and a lane is: k PULL_STRIDE + PULL_LANE(lane).
#ifdef YW_ONE_LANE
#define PULL_STRIDE 1
#define PULL_LANE(lane) 0
#else
#define PULL_STRIDE YW_LANES
#define PULL_LANE(lane) (lane)
#endif

/// l . m as 6-vectors.
YW_LANE_FN yw_vf sym3_product(const yw_lanes_sym3* l, const yw_lanes_sym3* m) {
  yw_vf off = l->xy * m->xy + l->xz * m->xz + l->yz * m->yz;
  return l->xx * m->xx + l->yy * m->yy + l->zz * m->zz + (off + off);
}

/// P_r minus its value at rest.
YW_LANE_FN yw_lanes_sym3 moment_change(const match_model* model, int32_t block, int32_t lane,
                                       const yw_lanes_sym3* p) {
  yw_lanes_sym3 q = yw_lanes_sym3_load((const yw_sym3x16*)model->moments[block].moment, lane);
  return (yw_lanes_sym3){p->xx - q.xx, p->yy - q.yy, p->zz - q.zz,
                         p->xy - q.xy, p->xz - q.xz, p->yz - q.yz};
}

/// L_k . (S - 1) of one region; L_k is the descriptor of an example minus that of the rest pose.
YW_LANE_FN yw_vf dual_product(const yw_sym3x16* dual, int32_t lane, const yw_lanes_sym3* change) {
  yw_lanes_sym3 l = yw_lanes_sym3_load(dual, lane);
  return (l.xx * change->xx + l.yy * change->yy + l.zz * change->zz) +
         (l.xy * change->xy + l.xz * change->xz + l.yz * change->yz);
}

// x / y clamped to 0..1; 0 where y is not above 0.
YW_LANE_FN yw_vf clamped_ratio(yw_vf x, yw_vf y) {
  yw_vf zero = yw_vf_splat(0.0f), one = yw_vf_splat(1.0f);
  yw_vf ratio = yw_vf_select(y > 0.0f, x / y, zero);
  ratio = yw_vf_select(ratio > 0.0f, ratio, zero);
  return yw_vf_select(ratio < 1.0f, ratio, one);
}

// Two examples and the rest pose span a triangle. The nearest point is inside it, or is the best of
// the nearest points on its edges. With one example, the second is zero.
YW_LANE_FN void nearest_in_triangle(yw_vf g11, yw_vf g12, yw_vf g22, yw_vf b1, yw_vf b2, bool two,
                                    yw_vf* w1, yw_vf* w2) {
  yw_vf zero = yw_vf_splat(0.0f), half = yw_vf_splat(0.5f);
  yw_vf t1 = clamped_ratio(b1, g11), t2 = clamped_ratio(b2, g22);
  yw_vf best = t1 * (half * g11 * t1 - b1), second = t2 * (half * g22 * t2 - b2);
  yw_vi better = second < best;
  *w1 = yw_vf_select(better, zero, t1);
  *w2 = yw_vf_select(better, t2, zero);
  if (!two) return;
  best = yw_vf_select(better, second, best);

  yw_vf t = clamped_ratio(b1 - b2 + g22 - g12, g11 - 2.0f * g12 + g22), u = 1.0f - t;
  yw_vf third = t * (half * g11 * t + g12 * u - b1) + u * (half * g22 * u - b2);
  better = third < best;
  *w1 = yw_vf_select(better, t, *w1);
  *w2 = yw_vf_select(better, u, *w2);

  // A degenerate triangle has no inside, only edges.
  yw_vf det = g11 * g22 - g12 * g12;
  yw_vf i1 = (g22 * b1 - g12 * b2) / det, i2 = (g11 * b2 - g12 * b1) / det;
  yw_vi inside = (det > 1e-5f * g11 * g22) & (i1 >= 0.0f) & (i2 >= 0.0f) & (i1 + i2 <= 1.0f);
  *w1 = yw_vf_select(inside, i1, *w1);
  *w2 = yw_vf_select(inside, i2, *w2);
}

#ifndef YW_ONE_LANE
// Any number of examples, or the papers' rule: region by region, in double.
static void weigh_one_by_one(const match_step* step, lane_set at, const yw_lanes_sym3* change,
                             float* pulls) {
  const match_model* model = step->model;
  int32_t n = model->num_examples;
  const yw_sym3x16* examples = model->examples + (size_t)at.block * (size_t)n;
  const yw_sym3x16* duals = model->duals + (size_t)at.block * (size_t)n;
  yw_sym3x16 s;
  yw_lanes_sym3_store(&s, at.lane, change);
  for (int32_t lane = at.lane; lane < at.lane + YW_VF_LANES; ++lane) {
    int32_t p = at.block * YW_LANES + match_lane(lane);
    double gram[YW_MAX_EXAMPLES * YW_MAX_EXAMPLES], b[YW_MAX_EXAMPLES];
    float own[YW_MAX_EXAMPLES];
    if (p >= model->num_particles) continue;
    for (int32_t k = 0; k < n; ++k) {
      b[k] = 0.0;
      for (int32_t j = 0; j <= k; ++j) gram[k * n + j] = 0.0;
      for (int c = 0; c < 6; ++c) {
        double twice = c < 3 ? 1.0 : 2.0, l = twice * (double)examples[k].m[c][lane];
        b[k] += (double)duals[k].m[c][lane] * (double)s.m[c][lane];
        for (int32_t j = 0; j <= k; ++j) gram[k * n + j] += l * (double)examples[j].m[c][lane];
      }
      for (int32_t j = 0; j < k; ++j) gram[j * n + k] = gram[k * n + j];
    }
    yw_match_weigh(&step->body->params, model, gram, b, NULL,
                   step->body->weights + (size_t)p * (size_t)(n + 1), own);
    for (int32_t k = 0; k < n; ++k) pulls[k * YW_LANES + lane] = own[k];
  }
}
#endif

// One or two examples: all regions of a register at once.
YW_LANE_FN void weigh_together(const match_step* step, lane_set at, const yw_lanes_sym3* change,
                               float* pulls) {
  const match_model* model = step->model;
  int32_t n = model->num_examples;
  const yw_sym3x16* examples = model->examples + (size_t)at.block * (size_t)n;
  const yw_sym3x16* duals = model->duals + (size_t)at.block * (size_t)n;
  yw_vf zero = yw_vf_splat(0.0f), g12 = zero, g22 = zero, b2 = zero, w1, w2;
  yw_lanes_sym3 l1 = yw_lanes_sym3_load(&examples[0], at.lane);
  yw_vf g11 = sym3_product(&l1, &l1), b1 = dual_product(&duals[0], at.lane, change);
  if (n == 2) {
    yw_lanes_sym3 l2 = yw_lanes_sym3_load(&examples[1], at.lane);
    g12 = sym3_product(&l1, &l2);
    g22 = sym3_product(&l2, &l2);
    b2 = dual_product(&duals[1], at.lane, change);
  }
  nearest_in_triangle(g11, g12, g22, b1, b2, n == 2, &w1, &w2);

  float beta = step->body->params.beta;
  yw_vf_store(pulls + PULL_LANE(at.lane), model->strengths[0] * (beta * w1));
  if (n == 2)
    yw_vf_store(pulls + PULL_STRIDE + PULL_LANE(at.lane), model->strengths[1] * (beta * w2));
  for (int l = 0; l < YW_VF_LANES; ++l) {
    int32_t p = at.block * YW_LANES + match_lane(at.lane + l);
    if (p >= model->num_particles) continue;
    float* weights = step->body->weights + (size_t)p * (size_t)(n + 1);
    weights[0] = 1.0f - (yw_vf_at(w1, l) + yw_vf_at(w2, l));
    weights[1] = yw_vf_at(w1, l);
    if (n == 2) weights[2] = yw_vf_at(w2, l);
  }
}

#ifndef YW_ONE_LANE
/// Weights of the regions in one register: before beta into the body, after beta into pulls, which
/// is indexed by lane of the block.
static void weigh_regions(const match_step* step, lane_set at, const yw_lanes_sym3* p,
                          float* pulls) {
  yw_lanes_sym3 change = moment_change(step->model, at.block, at.lane, p);
  if (step->model->num_examples <= 2 && step->body->params.projection == YW_PROJECTION_EXACT) {
    weigh_together(step, at, &change, pulls);
  } else {
    weigh_one_by_one(step, at, &change, pulls);
  }
}
#endif

#endif
