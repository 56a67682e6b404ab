// SPDX-License-Identifier: MIT
// Polar decomposition A = R S of one register of 3x3 matrices, for kernels to include and fuse.
// Warm start: yw_lanes_polar_warm, or yw_lanes_polar_step for several registers followed by
// yw_lanes_polar_finish_all for each. Correct for any finite A and any guess.
#ifndef YW_MATH_SMALL_POLAR_LANES_H
#define YW_MATH_SMALL_POLAR_LANES_H

#include "math/small/polar_newton.h"
#ifdef YW_ONE_LANE
#include "math/small/polar_one.h"
#endif

/// Newton steps for the root of the quartic; with 3, random matrices need 1.07 steps on the
/// rotation.
#define YW_POLAR_ROOT_STEPS 3

/// Cold start: a quaternion near the answer from A alone, |A| about 1; meaningless if the rotation
/// is ill defined.
///
/// The maximum of tr(R^T A), tr S = lambda, is the largest root of
///   P = lambda^4 - 2 t lambda^2 - 8 det A lambda + t^2 - 4 |cof A|^2,   t = |A|^2,
/// and R, being the derivative of lambda with respect to A, is -(dP/dA) / (dP/dlambda).
YW_LANE_FN yw_lanes_quat yw_lanes_polar_guess(const yw_lanes_mat3* a) {
  yw_lanes_mat3 cof = {
      a->yy * a->zz - a->yz * a->zy, a->yz * a->zx - a->yx * a->zz, a->yx * a->zy - a->yy * a->zx,
      a->xz * a->zy - a->xy * a->zz, a->xx * a->zz - a->xz * a->zx, a->xy * a->zx - a->xx * a->zy,
      a->xy * a->yz - a->xz * a->yy, a->xz * a->yx - a->xx * a->yz, a->xx * a->yy - a->xy * a->yx};
  yw_vf t = yw_lanes_mat3_norm2(a);
  yw_vf det = a->xx * cof.xx + a->xy * cof.xy + a->xz * cof.xz;
  yw_vf cof2 = yw_lanes_mat3_norm2(&cof), constant = t * t - 4.0f * cof2;

  // Newton from above, where P is convex: lambda^2 = t + 2 sqrt(|cof A|^2 + 2 det A lambda), with
  // an upper bound of lambda on the right-hand side, gives a close upper bound of the root.
  yw_vf gain = yw_vf_max(2.0f * det * yw_vf_sqrt(3.0f * t), yw_vf_splat(0.0f));
  yw_vf lambda = yw_vf_sqrt(t + 2.0f * yw_vf_sqrt(cof2 + gain));
  for (int i = 0; i < YW_POLAR_ROOT_STEPS; ++i) {
    yw_vf l2 = lambda * lambda;
    yw_vf p = l2 * (l2 - 2.0f * t) - 8.0f * det * lambda + constant;
    lambda -= 0.25f * p / (lambda * (l2 - t) - 2.0f * det);
  }
  yw_vf l2 = lambda * lambda;
  yw_vf one = lambda * (l2 - t) - 2.0f * det;

  // one * R = (lambda^2 + t) A + 2 lambda cof A - 2 A A^T A
  yw_lanes_mat3 b = yw_lanes_mat3_mul_tn(a, a), ab = yw_lanes_mat3_mul(a, &b);
  yw_vf ka = l2 + t, kc = 2.0f * lambda;
  yw_lanes_mat3 r = {
      ka * a->xx + kc * cof.xx - 2.0f * ab.xx, ka * a->xy + kc * cof.xy - 2.0f * ab.xy,
      ka * a->xz + kc * cof.xz - 2.0f * ab.xz, ka * a->yx + kc * cof.yx - 2.0f * ab.yx,
      ka * a->yy + kc * cof.yy - 2.0f * ab.yy, ka * a->yz + kc * cof.yz - 2.0f * ab.yz,
      ka * a->zx + kc * cof.zx - 2.0f * ab.zx, ka * a->zy + kc * cof.zy - 2.0f * ab.zy,
      ka * a->zz + kc * cof.zz - 2.0f * ab.zz};

  // Four multiples of q; the one with the largest diagonal has lost the fewest digits.
  yw_lanes_quat qw = {r.zy - r.yz, r.xz - r.zx, r.yx - r.xy, one + r.xx + r.yy + r.zz};
  yw_lanes_quat qx = {one + r.xx - r.yy - r.zz, r.xy + r.yx, r.xz + r.zx, r.zy - r.yz};
  yw_lanes_quat qy = {r.xy + r.yx, one - r.xx + r.yy - r.zz, r.yz + r.zy, r.xz - r.zx};
  yw_lanes_quat qz = {r.xz + r.zx, r.yz + r.zy, one - r.xx - r.yy + r.zz, r.yx - r.xy};
  yw_vi w_over_x = qw.w > qx.x, y_over_z = qy.y > qz.z;
  yw_lanes_quat wx = yw_lanes_quat_select(w_over_x, qw, qx);
  yw_lanes_quat yz = yw_lanes_quat_select(y_over_z, qy, qz);
  yw_vf largest_wx = yw_vf_select(w_over_x, qw.w, qx.x);
  yw_vf largest_yz = yw_vf_select(y_over_z, qy.y, qz.z);
  return yw_lanes_quat_normalize(yw_lanes_quat_select(largest_wx > largest_yz, wx, yz));
}

/// Cold start at any scale: a quaternion near the answer for yw_lanes_polar_finish; `unit` is A
/// over its largest entry. Lanes of rank 0 or 1, reflected with equal small stretches, denormal or
/// not finite will not converge.
YW_LANE_FN yw_lanes_quat yw_lanes_polar_start(const yw_lanes_mat3* a, yw_lanes_mat3* unit,
                                              yw_vf* largest) {
  *largest = yw_lanes_mat3_max_abs(a);
  // Above 1e37 the stretch might overflow: zero does not converge, and yw_polar then saturates.
  yw_vf inv = yw_vf_select(*largest < 1e37f, 1.0f / *largest, yw_vf_splat(0.0f));
  *unit = yw_lanes_mat3_scale(a, inv);
  return yw_lanes_polar_step(unit, yw_lanes_polar_guess(unit));
}

typedef struct yw_lanes_polar {
  yw_lanes_quat q;
  yw_lanes_mat3 r;
  yw_lanes_sym3 s;
  uint32_t rescued;
} yw_lanes_polar;

/// yw_lanes_polar_finish, then the cold path for lanes that did not converge, then yw_polar for the
/// rest. Out of line and by value: it is rarely needed, and its loop and addresses would push the
/// common path out of registers.
YW_LANE_SLOW_FN yw_lanes_polar yw_lanes_polar_rescue(yw_lanes_mat3 a, yw_lanes_quat q) {
  yw_lanes_polar d, cold;
  d.q = q;
  yw_vi failed = yw_lanes_polar_finish(&a, &d.q, &d.r, &d.s);
  d.rescued = yw_vi_bits(failed);
  if (d.rescued == 0) return d;

  yw_lanes_mat3 unit;
  yw_vf largest;
  cold.q = yw_lanes_polar_start(&a, &unit, &largest);
  yw_vi degenerate = failed & yw_lanes_polar_finish(&unit, &cold.q, &cold.r, &cold.s);
  cold.s = yw_lanes_sym3_scale(&cold.s, largest);
  d.q = yw_lanes_quat_select(failed, cold.q, d.q);
  d.r = yw_lanes_mat3_select(failed, &cold.r, &d.r);
  d.s = yw_lanes_sym3_select(failed, &cold.s, &d.s);
  uint32_t bits = yw_vi_bits(degenerate);
  if (bits != 0) {
#ifdef YW_ONE_LANE
    yw_polar_lane(1, &a.xx, &d.q.x, &d.r.xx, &d.s.xx);
#else
    yw_polar_strided(bits, YW_VF_LANES, (const float*)&a, (float*)&d.q, (float*)&d.r, (float*)&d.s);
#endif
  }
  return d;
}

/// R and S for any finite A; q is the result of yw_lanes_polar_step. Returns one bit per lane where
/// Newton's method failed and another path was used.
YW_LANE_FN uint32_t yw_lanes_polar_finish_all(const yw_lanes_mat3* a, yw_lanes_quat* q,
                                              yw_lanes_mat3* r, yw_lanes_sym3* s) {
  *r = yw_lanes_rotation(*q);
  yw_lanes_newton n = yw_lanes_newton_at(a, r);
  yw_vi settled = yw_lanes_newton_settled(&n);
  *s = n.s;
  if (__builtin_expect(yw_vi_bits(~settled) == 0, 1)) return 0;

  // A second step fixes guesses that were off by half a radian. Converged lanes are left unchanged,
  // whatever their neighbours need.
  *q = yw_lanes_quat_select(settled, *q, yw_lanes_newton_turn(&n, *q));
  *r = yw_lanes_rotation(*q);
  n = yw_lanes_newton_at(a, r);
  *s = n.s;
  if (yw_vi_bits(~yw_lanes_newton_settled(&n)) == 0) return 0;
  yw_lanes_polar d = yw_lanes_polar_rescue(*a, *q);
  *q = d.q;
  *r = d.r;
  *s = d.s;
  return d.rescued;
}

/// Warm start for any finite A: q is a rotation near the answer and receives the answer. Returns
/// one bit per rescued lane.
YW_LANE_FN uint32_t yw_lanes_polar_warm(const yw_lanes_mat3* a, yw_lanes_quat* q, yw_lanes_mat3* r,
                                        yw_lanes_sym3* s) {
  *q = yw_lanes_polar_step(a, *q);
  return yw_lanes_polar_finish_all(a, q, r, s);
}

#endif
