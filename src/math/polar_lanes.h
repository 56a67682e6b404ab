// SPDX-License-Identifier: MIT
// Polar decomposition of one register full of 3x3 matrices, for kernels to include and fuse.
//
//   A = R S       R rotation, from the unit quaternion q; S symmetric
//   g             axial vector of R^T A: zero when R^T A is symmetric, so that R is stationary
//   H = tr S - S  minus the second derivative of tr(R^T A) under rotation; positive definite at the
//                 nearest rotation and at no other stationary one
//
// Every lane's result depends on that lane's input only, so the width of a register does not
// matter.
#ifndef YW_MATH_POLAR_LANES_H
#define YW_MATH_POLAR_LANES_H

#include "math/lanes_mat3.h"

/// Newton stops when |g| <= YW_POLAR_TOLERANCE |A|: the angle is then off by at most that over the
/// smallest eigenvalue of H / |A|. Rounding alone leaves up to 6e-7.
#define YW_POLAR_TOLERANCE 1e-6f
/// Lanes with det H <= this tr S |A|^2 have a rotation too ill defined for float.
#define YW_POLAR_MARGIN 1e-3f
/// Lanes with |A| outside YW_POLAR_RANGE^-1 .. YW_POLAR_RANGE are left to the path that scales.
#define YW_POLAR_RANGE 1e5f
#define YW_POLAR_STEPS 5
/// A guess with |g| <= YW_POLAR_NEAR |A| and det H > YW_POLAR_SOUND tr S |A|^2 is in the bowl of
/// the nearest rotation: the step turns by less than its H can change sign.
#define YW_POLAR_NEAR 0.1f
#define YW_POLAR_SOUND 0.05f

/// What Newton knows at one rotation: g, H's cofactors C and determinant, and S.
typedef struct yw_lanes_newton {
  yw_lanes_sym3 s;
  yw_vf gx, gy, gz;
  yw_vf cxx, cyy, czz, cxy, cxz, cyz;
  yw_vf hxx, det, trace;
} yw_lanes_newton;

/// From m = R^T A.
YW_LANE_FN yw_lanes_newton yw_lanes_newton_of(yw_lanes_mat3 m) {
  yw_lanes_newton n;
  n.gx = m.zy - m.yz;
  n.gy = m.xz - m.zx;
  n.gz = m.yx - m.xy;
  n.s = (yw_lanes_sym3){
      m.xx, m.yy, m.zz, 0.5f * (m.xy + m.yx), 0.5f * (m.xz + m.zx), 0.5f * (m.yz + m.zy)};

  // H has the off-diagonals of -S; its cofactors are C.
  yw_vf hyy = m.xx + m.zz, hzz = m.xx + m.yy;
  n.hxx = m.yy + m.zz;
  n.trace = hzz + m.zz;
  n.cxx = hyy * hzz - n.s.yz * n.s.yz;
  n.cyy = n.hxx * hzz - n.s.xz * n.s.xz;
  n.czz = n.hxx * hyy - n.s.xy * n.s.xy;
  n.cxy = n.s.xz * n.s.yz + n.s.xy * hzz;
  n.cxz = n.s.xy * n.s.yz + n.s.xz * hyy;
  n.cyz = n.s.xy * n.s.xz + n.s.yz * n.hxx;
  n.det = n.hxx * n.cxx - n.s.xy * n.cxy - n.s.xz * n.cxz;
  return n;
}

YW_LANE_FN yw_lanes_newton yw_lanes_newton_at(const yw_lanes_mat3* a, const yw_lanes_mat3* r) {
  return yw_lanes_newton_of(yw_lanes_mat3_mul_tn(r, a));
}

/// q turned by the solution d of H d = g.
YW_LANE_FN yw_lanes_quat yw_lanes_newton_turn(const yw_lanes_newton* n, yw_lanes_quat q) {
  yw_vf half = 0.5f / n->det;
  yw_vf dx = half * (n->cxx * n->gx + n->cxy * n->gy + n->cxz * n->gz);
  yw_vf dy = half * (n->cxy * n->gx + n->cyy * n->gy + n->cyz * n->gz);
  yw_vf dz = half * (n->cxz * n->gx + n->cyz * n->gy + n->czz * n->gz);
  // For isotropic A, |d| is the tangent of the angle wanted. The quaternion (d/2, 1 + |d/2|^2) has
  // that angle to fifth order, which makes one step enough for most warm starts.
  yw_vf dw = 1.0f + (dx * dx + dy * dy + dz * dz);
  return yw_lanes_quat_normalize((yw_lanes_quat){
      q.w * dx + q.x * dw + q.y * dz - q.z * dy, q.w * dy - q.x * dz + q.y * dw + q.z * dx,
      q.w * dz + q.x * dy - q.y * dx + q.z * dw, q.w * dw - q.x * dx - q.y * dy - q.z * dz});
}

/// Lanes where R is the nearest rotation as well as float can tell. NaN is never settled.
YW_LANE_FN yw_vi yw_lanes_newton_settled(const yw_lanes_newton* n, yw_vf norm2) {
  yw_vf g2 = n->gx * n->gx + n->gy * n->gy + n->gz * n->gz;
  yw_vi small = g2 <= (YW_POLAR_TOLERANCE * YW_POLAR_TOLERANCE) * norm2;
  yw_vi positive =
      (n->hxx > 0.0f) & (n->czz > 0.0f) & (n->det > YW_POLAR_MARGIN * yw_vf_abs(n->trace) * norm2);
  yw_vi in_range = (norm2 < YW_POLAR_RANGE * YW_POLAR_RANGE) &
                   (norm2 > 1.0f / (YW_POLAR_RANGE * YW_POLAR_RANGE));
  return small & positive & in_range;
}

/// Warm start: q is a rotation near the answer and becomes the answer. At least one Newton step is
/// made (convergence is cubic), more where lanes need them. Returns the lanes that did not settle;
/// their q, r and s are of no use. Any q is allowed, even zero or NaN: it just does not settle.
YW_LANE_FN yw_vi yw_lanes_polar_settle(const yw_lanes_mat3* a, yw_lanes_quat* q, yw_lanes_mat3* r,
                                       yw_lanes_sym3* s) {
  yw_vf norm2 = yw_lanes_mat3_norm2(a);
  *r = yw_lanes_rotation(*q);
  yw_lanes_newton n = yw_lanes_newton_at(a, r);
  *q = yw_lanes_newton_turn(&n, *q);
  yw_vi settled;
  for (int step = 1;; ++step) {
    *r = yw_lanes_rotation(*q);
    n = yw_lanes_newton_at(a, r);
    settled = yw_lanes_newton_settled(&n, norm2);
    if (step == YW_POLAR_STEPS || yw_vi_bits(~settled) == 0) break;
    // Settled lanes stay as they are, whatever their neighbours need.
    *q = yw_lanes_quat_select(settled, *q, yw_lanes_newton_turn(&n, *q));
  }
  *s = n.s;
  return ~settled;
}

/// Cold start: a quaternion near the answer from A alone, |A| about 1; of no use where the rotation
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
  yw_vf constant = t * t - 4.0f * yw_lanes_mat3_norm2(&cof);

  // Newton from above: sqrt(3 t) bounds the root, and P is convex beyond it.
  yw_vf lambda = yw_vf_sqrt(3.0f * t);
  for (int i = 0; i < 6; ++i) {
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

/// Cold start, lanes of any scale. Returns the lanes that did not settle: rank 0 or 1, reflected
/// with equal small stretches, denormal or not finite.
YW_LANE_FN yw_vi yw_lanes_polar_cold(const yw_lanes_mat3* a, yw_lanes_quat* q, yw_lanes_mat3* r,
                                     yw_lanes_sym3* s) {
  yw_vf largest = yw_lanes_mat3_max_abs(a);
  yw_lanes_mat3 unit = yw_lanes_mat3_scale(a, 1.0f / largest);
  *q = yw_lanes_polar_guess(&unit);
  yw_vi failed = yw_lanes_polar_settle(&unit, q, r, s);
  *s = yw_lanes_sym3_scale(s, largest);
  return failed;
}

typedef struct yw_lanes_polar {
  yw_lanes_quat q;
  yw_lanes_mat3 r;
  yw_lanes_sym3 s;
} yw_lanes_polar;

/// Replaces the lanes of `d` in `failed` by the cold path, and what that cannot do by yw_polar. Out
/// of line, by value: it is rare, and addresses would keep the usual path out of registers.
__attribute__((noinline, unused)) static yw_lanes_polar yw_lanes_polar_rescue(yw_vi failed,
                                                                              yw_lanes_mat3 a,
                                                                              yw_lanes_polar d) {
  yw_lanes_polar cold;
  yw_vi degenerate = failed & yw_lanes_polar_cold(&a, &cold.q, &cold.r, &cold.s);
  cold.q = yw_lanes_quat_select(failed, cold.q, d.q);
  cold.r = yw_lanes_mat3_select(failed, &cold.r, &d.r);
  cold.s = yw_lanes_sym3_select(failed, &cold.s, &d.s);
  uint32_t bits = yw_vi_bits(degenerate);
  if (bits != 0) {
    yw_polar_strided(bits, YW_VF_LANES, (const float*)&a, (float*)&cold.q, (float*)&cold.r,
                     (float*)&cold.s);
  }
  return cold;
}

/// Warm start for any finite A: settle, and rescue where needed. Returns one bit per rescued lane.
YW_LANE_FN uint32_t yw_lanes_polar_warm(const yw_lanes_mat3* a, yw_lanes_quat* q, yw_lanes_mat3* r,
                                        yw_lanes_sym3* s) {
  yw_vi failed = yw_lanes_polar_settle(a, q, r, s);
  uint32_t bits = yw_vi_bits(failed);
  if (__builtin_expect(bits != 0, 0)) {
    yw_lanes_polar d = yw_lanes_polar_rescue(failed, *a, (yw_lanes_polar){*q, *r, *s});
    *q = d.q;
    *r = d.r;
    *s = d.s;
  }
  return bits;
}

/// The further steps of yw_lanes_polar_settle after the first, and rescue where they do not help.
__attribute__((noinline, unused)) static yw_lanes_polar yw_lanes_polar_finish(yw_vi settled,
                                                                              yw_lanes_mat3 a,
                                                                              yw_lanes_polar d,
                                                                              uint32_t* rescued) {
  yw_vf norm2 = yw_lanes_mat3_norm2(&a);
  yw_lanes_newton n = yw_lanes_newton_at(&a, &d.r);
  settled |= yw_lanes_newton_settled(&n, norm2);
  for (int step = 1; step < YW_POLAR_STEPS && yw_vi_bits(~settled) != 0; ++step) {
    d.q = yw_lanes_quat_select(settled, d.q, yw_lanes_newton_turn(&n, d.q));
    d.r = yw_lanes_rotation(d.q);
    n = yw_lanes_newton_at(&a, &d.r);
    d.s = n.s;
    settled |= yw_lanes_newton_settled(&n, norm2);
  }
  *rescued = yw_vi_bits(~settled);
  return *rescued == 0 ? d : yw_lanes_polar_rescue(~settled, a, d);
}

// yw_lanes_polar_warm in three parts, between which a kernel can do other work: each is a long
// chain of dependent operations. That R is the nearest rotation and not just a stationary one is
// seen at the guess, which the step must not leave far behind; other lanes take the long way.

typedef struct yw_lanes_warm {
  yw_lanes_newton n;
  yw_vi sound;
  yw_vf norm2;
} yw_lanes_warm;

/// Looks around at the guess q.
YW_LANE_FN yw_lanes_warm yw_lanes_warm_begin(const yw_lanes_mat3* a, yw_lanes_quat q) {
  yw_lanes_mat3 r = yw_lanes_rotation(q);
  yw_lanes_warm w = {.n = yw_lanes_newton_at(a, &r), .norm2 = yw_lanes_mat3_norm2(a)};
  yw_vf g2 = w.n.gx * w.n.gx + w.n.gy * w.n.gy + w.n.gz * w.n.gz;
  w.sound = (g2 <= (YW_POLAR_NEAR * YW_POLAR_NEAR) * w.norm2) & (w.n.hxx > 0.0f) &
            (w.n.czz > 0.0f) & (w.n.det > YW_POLAR_SOUND * w.n.trace * w.norm2) &
            (w.norm2 < YW_POLAR_RANGE * YW_POLAR_RANGE) &
            (w.norm2 > 1.0f / (YW_POLAR_RANGE * YW_POLAR_RANGE));
  return w;
}

YW_LANE_FN yw_lanes_quat yw_lanes_warm_turn(const yw_lanes_warm* w, yw_lanes_quat q) {
  return yw_lanes_newton_turn(&w->n, q);
}

/// Finishes q, r and s; returns one bit per rescued lane.
YW_LANE_FN uint32_t yw_lanes_warm_end(const yw_lanes_mat3* a, const yw_lanes_warm* w,
                                      yw_lanes_quat* q, yw_lanes_mat3* r, yw_lanes_sym3* s) {
  *r = yw_lanes_rotation(*q);
  yw_lanes_mat3 m = yw_lanes_mat3_mul_tn(r, a);
  yw_vf gx = m.zy - m.yz, gy = m.xz - m.zx, gz = m.yx - m.xy;
  yw_vi settled = w->sound & (gx * gx + gy * gy + gz * gz <=
                              (YW_POLAR_TOLERANCE * YW_POLAR_TOLERANCE) * w->norm2);
  *s = (yw_lanes_sym3){
      m.xx, m.yy, m.zz, 0.5f * (m.xy + m.yx), 0.5f * (m.xz + m.zx), 0.5f * (m.yz + m.zy)};
  uint32_t rescued = 0;
  if (__builtin_expect(yw_vi_bits(~settled) != 0, 0)) {
    yw_lanes_polar d = yw_lanes_polar_finish(settled, *a, (yw_lanes_polar){*q, *r, *s}, &rescued);
    *q = d.q;
    *r = d.r;
    *s = d.s;
  }
  return rescued;
}

#endif
