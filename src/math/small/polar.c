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
  yw_eigen_one(a, values, vectors);
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
