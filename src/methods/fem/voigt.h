// SPDX-License-Identifier: MIT
// Strains, stresses and elasticity matrices as 6-vectors and symmetric 6x6 matrices, in double.
// Order 11 22 33 23 13 12; strains carry engineering shear (2 e23 ...), so that stress . strain is
// work.
#ifndef YW_METHODS_FEM_VOIGT_H
#define YW_METHODS_FEM_VOIGT_H

#include <math.h>
#include <string.h>

#include "geometry/tet_math.h"

/// Symmetric 6x6 matrix: the upper half, by rows.
typedef struct yw_sym6 {
  double m[21];
} yw_sym6;

/// Full 6x6 matrix, by rows.
typedef struct yw_mat6 {
  double m[36];
} yw_mat6;

static inline int yw_sym6_index(int i, int j) {
  int low = i < j ? i : j, high = i < j ? j : i;
  return 6 * low - low * (low - 1) / 2 + high - low;
}

static inline double yw_sym6_get(const yw_sym6* a, int i, int j) {
  return a->m[yw_sym6_index(i, j)];
}

static inline yw_mat6 yw_sym6_full(const yw_sym6* a) {
  yw_mat6 full;
  int k = 0;
  for (int i = 0; i < 6; ++i) {
    for (int j = i; j < 6; ++j) full.m[6 * i + j] = full.m[6 * j + i] = a->m[k++];
  }
  return full;
}

/// The mean of both halves.
static inline yw_sym6 yw_sym6_of(const yw_mat6* a) {
  yw_sym6 half;
  int k = 0;
  for (int i = 0; i < 6; ++i) {
    for (int j = i; j < 6; ++j) half.m[k++] = 0.5 * (a->m[6 * i + j] + a->m[6 * j + i]);
  }
  return half;
}

static inline yw_mat6 yw_mat6_multiply(const yw_mat6* a, const yw_mat6* b) {
  yw_mat6 c;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      double sum = 0.0;
      for (int k = 0; k < 6; ++k) sum += a->m[6 * i + k] * b->m[6 * k + j];
      c.m[6 * i + j] = sum;
    }
  }
  return c;
}

/// a^T s a
static inline yw_sym6 yw_sym6_congruent(const yw_sym6* s, const yw_mat6* a) {
  yw_mat6 full = yw_sym6_full(s), right = yw_mat6_multiply(&full, a);
  yw_sym6 out;
  int k = 0;
  for (int i = 0; i < 6; ++i) {
    for (int j = i; j < 6; ++j) {
      double sum = 0.0;
      for (int r = 0; r < 6; ++r) sum += a->m[6 * r + i] * right.m[6 * r + j];
      out.m[k++] = sum;
    }
  }
  return out;
}

/// False if the matrix is singular or not finite. Gauss-Jordan with row pivots.
static inline bool yw_mat6_inverse(const yw_mat6* a, yw_mat6* out) {
  yw_mat6 left = *a;
  memset(out, 0, sizeof *out);
  for (int i = 0; i < 6; ++i) out->m[7 * i] = 1.0;
  for (int k = 0; k < 6; ++k) {
    int pivot = k;
    for (int i = k + 1; i < 6; ++i) {
      if (fabs(left.m[6 * i + k]) > fabs(left.m[6 * pivot + k])) pivot = i;
    }
    double value = left.m[6 * pivot + k];
    if (!(fabs(value) > 0.0) || !isfinite(value)) return false;
    for (int j = 0; j < 6; ++j) {
      double l = left.m[6 * pivot + j], r = out->m[6 * pivot + j];
      left.m[6 * pivot + j] = left.m[6 * k + j], left.m[6 * k + j] = l / value;
      out->m[6 * pivot + j] = out->m[6 * k + j], out->m[6 * k + j] = r / value;
    }
    for (int i = 0; i < 6; ++i) {
      double factor = left.m[6 * i + k];
      if (i == k) continue;
      for (int j = 0; j < 6; ++j) {
        left.m[6 * i + j] -= factor * left.m[6 * k + j];
        out->m[6 * i + j] -= factor * out->m[6 * k + j];
      }
    }
  }
  return true;
}

static inline void yw_sym6_apply(const yw_sym6* a, const double x[6], double y[6]) {
  for (int i = 0; i < 6; ++i) {
    double sum = 0.0;
    for (int j = 0; j < 6; ++j) sum += yw_sym6_get(a, i, j) * x[j];
    y[i] = sum;
  }
}

static inline void yw_sym6_add(yw_sym6* a, double scale, const yw_sym6* b) {
  for (int k = 0; k < 21; ++k) a->m[k] += scale * b->m[k];
}

/// Hooke's matrix of an isotropic solid.
static inline yw_sym6 yw_sym6_isotropic(double youngs_modulus, double poissons_ratio) {
  double lambda =
      youngs_modulus * poissons_ratio / ((1.0 + poissons_ratio) * (1.0 - 2.0 * poissons_ratio));
  double mu = 0.5 * youngs_modulus / (1.0 + poissons_ratio);
  yw_sym6 c = {{0}};
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j) c.m[yw_sym6_index(i, j)] = lambda + (i == j ? 2.0 * mu : 0.0);
    c.m[yw_sym6_index(i + 3, i + 3)] = mu;
  }
  return c;
}

/// Small strain of a displacement gradient H[3 * i + j] = du_i / dx_j.
static inline void yw_strain_of_gradient(const double h[9], double e[6]) {
  e[0] = h[0], e[1] = h[4], e[2] = h[8];
  e[3] = h[5] + h[7], e[4] = h[2] + h[6], e[5] = h[1] + h[3];
}

/// Symmetric 3x3 matrix of a strain (half the engineering shears) by rows.
static inline void yw_matrix_of_strain(const double e[6], double out[9]) {
  out[0] = e[0], out[4] = e[1], out[8] = e[2];
  out[5] = out[7] = 0.5 * e[3], out[2] = out[6] = 0.5 * e[4], out[1] = out[3] = 0.5 * e[5];
}

static inline void yw_matrix_of_stress(const double s[6], double out[9]) {
  out[0] = s[0], out[4] = s[1], out[8] = s[2];
  out[5] = out[7] = s[3], out[2] = out[6] = s[4], out[1] = out[3] = s[5];
}

/// Gradients of the four linear shape functions, and the volume (negative if inverted). A flat tet
/// gives gradients that are not finite.
static inline double yw_tet_gradients(const yw_dvec3 x[4], yw_dvec3 g[4]) {
  yw_dvec3 a = yw_dsub(x[1], x[0]), b = yw_dsub(x[2], x[0]), c = yw_dsub(x[3], x[0]);
  double volume6 = yw_ddot(a, yw_dcross(b, c));
  g[1] = yw_dscale(yw_dcross(b, c), 1.0 / volume6);
  g[2] = yw_dscale(yw_dcross(c, a), 1.0 / volume6);
  g[3] = yw_dscale(yw_dcross(a, b), 1.0 / volume6);
  g[0] = yw_dscale(yw_dadd(yw_dadd(g[1], g[2]), g[3]), -1.0);
  return volume6 / 6.0;
}

/// Nodal force of a stress on a node with shape gradient g, per volume.
static inline yw_dvec3 yw_stress_on_node(const double s[6], yw_dvec3 g) {
  return (yw_dvec3){s[0] * g.x + s[5] * g.y + s[4] * g.z, s[5] * g.x + s[1] * g.y + s[3] * g.z,
                    s[4] * g.x + s[3] * g.y + s[2] * g.z};
}

#endif
