// SPDX-License-Identifier: MIT
#include "math/small/polar.h"

#include "math/small/polar_one.h"

void yw_svd(const yw_mat3* a, yw_mat3* u, yw_vec3* sigma, yw_mat3* v) {
  yw_dmat3 wide = yw_widen(a);
  yw_dsvd d = yw_wide_svd(&wide);
  *u = yw_wide_narrow(&d.u);
  *v = yw_wide_narrow(&d.v);
  *sigma = yw_wide_narrow_column(d.sigma);
}

void yw_polar(const yw_mat3* a, yw_mat3* rotation, yw_mat3* stretch) {
  yw_polar_one(a, rotation, stretch);
}

void yw_eigen_symmetric(const yw_mat3* a, yw_vec3* values, yw_mat3* vectors) {
  yw_dmat3 m = yw_widen(a), v = yw_dmat3_identity();
  // Remaining rounding asymmetry is averaged out.
  for (int p = 0; p < 2; ++p) {
    for (int q = p + 1; q < 3; ++q) m.c[p][q] = m.c[q][p] = 0.5 * (m.c[p][q] + m.c[q][p]);
  }
  bool turned = true;
  for (int sweep = 0; turned && sweep < YW_JACOBI_SWEEPS; ++sweep) {
    turned = false;
    for (int pair = 0; pair < 3; ++pair) {
      int p = pair == 2 ? 1 : 0, q = pair == 0 ? 1 : 2, r = 3 - p - q;
      double pp = m.c[p][p], qq = m.c[q][q], pq = m.c[p][q];
      if (fabs(pq) <= 1e-17 * (fabs(pp) + fabs(qq))) continue;
      double t = yw_jacobi_tangent(pp, qq, pq), cosine = 1.0 / sqrt(1.0 + t * t), sine = t * cosine;
      double rp = m.c[r][p], rq = m.c[r][q];
      m.c[p][p] = pp - t * pq;
      m.c[q][q] = qq + t * pq;
      m.c[p][q] = m.c[q][p] = 0.0;
      m.c[r][p] = m.c[p][r] = cosine * rp - sine * rq;
      m.c[r][q] = m.c[q][r] = sine * rp + cosine * rq;
      yw_turn_columns(&v, p, q, cosine, sine);
      turned = true;
    }
  }
  double d[3] = {m.c[0][0], m.c[1][1], m.c[2][2]};
  for (int pass = 0; pass < 3; ++pass) {
    int p = pass == 1 ? 1 : 0, q = p + 1;
    if (d[p] < d[q]) {
      double larger = d[q];
      d[q] = d[p];
      d[p] = larger;
      yw_swap_columns(&v, p, q);
    }
  }
  *values = yw_wide_narrow_column(d);
  *vectors = yw_wide_narrow(&v);
}

yw_quat yw_quat_from_mat3(const yw_mat3* rotation) { return yw_quat_of_rotation(rotation); }

void yw_polar_strided(uint32_t lanes, int32_t stride, const float* a, float* q, float* rotation,
                      float* stretch) {
  for (; lanes != 0; lanes &= lanes - 1) {
    int32_t lane = __builtin_ctz(lanes);
    yw_polar_lane(stride, a + lane, q ? q + lane : NULL, rotation + lane, stretch + lane);
  }
}

extern const yw_polar_batch_fns yw_polar_table_plain;
#ifdef YW_HAVE_X86_KERNELS
extern const yw_polar_batch_fns yw_polar_table_avx2, yw_polar_table_avx512;
#endif

const yw_polar_batch_fns* yw_polar_batch(yw_simd level) {
  return YW_KERNEL_PICK(yw_polar_table, level);
}
