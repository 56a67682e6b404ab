// SPDX-License-Identifier: MIT
// Polar and singular value decomposition of 3x3 matrices, one at a time and in batches of 16. R is
// the nearest proper rotation (det +1) for every finite input: any rank, reflected, huge or tiny. S
// = R^T A is symmetric; its smallest eigenvalue is negative if A is reflected.
#ifndef YW_MATH_SMALL_POLAR_H
#define YW_MATH_SMALL_POLAR_H

#include "base/simd.h"
#include "yawara/extend/vec.h"

void yw_polar(const yw_mat3* a, yw_mat3* rotation, yw_mat3* stretch);

/// a = u diag(sigma) v^T with proper rotations u and v, and sigma.x >= sigma.y >= |sigma.z|;
/// sigma.z has the sign of det a.
void yw_svd(const yw_mat3* a, yw_mat3* u, yw_vec3* sigma, yw_mat3* v);

/// Eigenvalues (descending) and eigenvectors (columns, a proper rotation) of a symmetric matrix.
void yw_eigen_symmetric(const yw_mat3* a, yw_vec3* values, yw_mat3* vectors);

/// The unit quaternion of a rotation matrix, w >= 0.
yw_quat yw_quat_from_mat3(const yw_mat3* rotation);

/// 16 matrices; m[3 * row + column][lane].
typedef struct yw_mat3x16 {
  _Alignas(64) float m[9][YW_LANES];
} yw_mat3x16;

/// 16 symmetric matrices: xx, yy, zz, xy, xz, yz.
typedef struct yw_sym3x16 {
  _Alignas(64) float m[6][YW_LANES];
} yw_sym3x16;

/// 16 quaternions: x, y, z, w.
typedef struct yw_quatx16 {
  _Alignas(64) float m[4][YW_LANES];
} yw_quatx16;

typedef struct yw_polar_batch_fns {
  /// Cold start: any finite input, count blocks of 16.
  void (*polar)(int32_t count, const yw_mat3x16* a, yw_mat3x16* rotation, yw_sym3x16* stretch);
  /// Warm start: `guess` holds a rotation near the answer and receives the answer. Lanes where
  /// Newton's method does not converge take the cold path. Returns the number of such lanes.
  int32_t (*polar_warm)(int32_t count, const yw_mat3x16* a, yw_quatx16* guess, yw_mat3x16* rotation,
                        yw_sym3x16* stretch);
  void (*svd)(int32_t count, const yw_mat3x16* a, yw_mat3x16* u, float (*sigma)[3][YW_LANES],
              yw_mat3x16* v);
} yw_polar_batch_fns;

/// yw_polar for the lanes in the bit mask, on matrices with `stride` floats between entries: a and
/// rotation have 9 entries, row-major, q 4 (may be NULL), stretch 6. For kernels.
void yw_polar_strided(uint32_t lanes, int32_t stride, const float* a, float* q, float* rotation,
                      float* stretch);

/// level as from yw_simd_resolve.
const yw_polar_batch_fns* yw_polar_batch(yw_simd level);

#endif
