// SPDX-License-Identifier: MIT
// Newton's method on the rotations of one register of 3x3 matrices.
//
//   A = R S       R rotation, from the unit quaternion q; S symmetric
//   g             axial vector of R^T A: zero when R^T A is symmetric, so that R is stationary
//   H = tr S - S  minus the second derivative of tr(R^T A) under rotation; positive definite at the
//                 nearest rotation and at no other stationary one
//
// The result of a lane depends only on its own input, so the register width does not matter.
#ifndef YW_MATH_SMALL_POLAR_NEWTON_H
#define YW_MATH_SMALL_POLAR_NEWTON_H

#include "math/small/lanes_mat3.h"

/// Newton stops when |g| <= YW_POLAR_TOLERANCE tr S: the angle is then off by at most that over the
/// smallest eigenvalue of H. Rounding alone leaves up to 6.5e-7.
#define YW_POLAR_TOLERANCE 8e-7f
/// Lanes with det H <= YW_POLAR_MARGIN (tr S)^3 have a rotation that is too ill defined for float.
#define YW_POLAR_MARGIN 3e-4f
/// Lanes with tr S outside 1 / YW_POLAR_RANGE .. YW_POLAR_RANGE are left to the path that rescales.
#define YW_POLAR_RANGE 1e5f
/// Additional steps before a lane is given up.
#define YW_POLAR_STEPS 4

/// Newton state at one rotation: g, the cofactors C and determinant of H, and S.
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

/// Rotates q by the solution d of H d = g.
YW_LANE_FN yw_lanes_quat yw_lanes_newton_turn(const yw_lanes_newton* n, yw_lanes_quat q) {
  yw_vf half = 0.5f / n->det;
  yw_vf dx = half * (n->cxx * n->gx + n->cxy * n->gy + n->cxz * n->gz);
  yw_vf dy = half * (n->cxy * n->gx + n->cyy * n->gy + n->cyz * n->gz);
  yw_vf dz = half * (n->cxz * n->gx + n->cyz * n->gy + n->czz * n->gz);
  // For isotropic A, |d| is the tangent of the desired angle. The quaternion (d/2, 1 + |d/2|^2) has
  // that angle to fifth order, so one step is enough for most warm starts.
  yw_vf d2 = dx * dx + dy * dy + dz * dz, dw = 1.0f + d2;
  // The length of the product is known before the product, so it is off the critical path.
  yw_vf q2 = (q.x * q.x + q.y * q.y) + (q.z * q.z + q.w * q.w);
  yw_vf inv = 1.0f / yw_vf_sqrt((dw * dw + d2) * q2);
  return (yw_lanes_quat){((q.w * dx + q.x * dw) + (q.y * dz - q.z * dy)) * inv,
                         ((q.w * dy + q.y * dw) + (q.z * dx - q.x * dz)) * inv,
                         ((q.w * dz + q.z * dw) + (q.x * dy - q.y * dx)) * inv,
                         ((q.w * dw - q.x * dx) - (q.y * dy + q.z * dz)) * inv};
}

/// Lanes where R is the nearest rotation to float precision. Never true for NaN.
YW_LANE_FN yw_vi yw_lanes_newton_settled(const yw_lanes_newton* n) {
  yw_vf g2 = n->gx * n->gx + n->gy * n->gy + n->gz * n->gz;
  yw_vf trace2 = n->trace * n->trace;
  yw_vi stationary = g2 <= (YW_POLAR_TOLERANCE * YW_POLAR_TOLERANCE) * trace2;
  yw_vi in_range = (n->trace < YW_POLAR_RANGE) & (n->trace > 1.0f / YW_POLAR_RANGE);
  yw_vi positive =
      (n->hxx > 0.0f) & (n->czz > 0.0f) & (n->det > YW_POLAR_MARGIN * (n->trace * trace2));
  return stationary & in_range & positive;
}

/// One Newton step from q, without a convergence test. Convergence is cubic, so this is most of the
/// work of a warm start. Stepping several registers before finishing any of them hides the latency.
YW_LANE_FN yw_lanes_quat yw_lanes_polar_step(const yw_lanes_mat3* a, yw_lanes_quat q) {
  yw_lanes_mat3 r = yw_lanes_rotation(q);
  yw_lanes_newton n = yw_lanes_newton_at(a, &r);
  return yw_lanes_newton_turn(&n, q);
}

/// R and S at q, after more steps for lanes that need them. Returns the lanes that did not
/// converge; their q, r and s are meaningless. q may be anything, even zero or NaN, which never
/// converges.
YW_LANE_FN yw_vi yw_lanes_polar_finish(const yw_lanes_mat3* a, yw_lanes_quat* q, yw_lanes_mat3* r,
                                       yw_lanes_sym3* s) {
  for (int step = 0;; ++step) {
    *r = yw_lanes_rotation(*q);
    yw_lanes_newton n = yw_lanes_newton_at(a, r);
    yw_vi settled = yw_lanes_newton_settled(&n);
    if (step == YW_POLAR_STEPS || yw_vi_bits(~settled) == 0) {
      *s = n.s;
      return ~settled;
    }
    // Converged lanes are left unchanged, whatever their neighbours need.
    *q = yw_lanes_quat_select(settled, *q, yw_lanes_newton_turn(&n, *q));
  }
}

#endif
