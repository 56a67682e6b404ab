// SPDX-License-Identifier: MIT
// Vectors and 3x3 matrices in double, row-major; symmetric ones as xx, yy, zz, xy, xz, yz. For
// set-up, statics and tests.
#ifndef YW_MATH_SMALL_MAT3D_H
#define YW_MATH_SMALL_MAT3D_H

#include "math/small/polar.h"

static inline double yw_dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void yw_cross3(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/// a b
static inline void yw_m3_mul(const double a[9], const double b[9], double out[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
    }
  }
}

/// a^T b
static inline void yw_m3_mul_tn(const double a[9], const double b[9], double out[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
    }
  }
}

static inline void yw_m3_of_sym(const double s[6], double out[9]) {
  const double full[9] = {s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2]};
  for (int i = 0; i < 9; ++i) out[i] = full[i];
}

static inline double yw_m3_dot(const double a[9], const double b[9]) {
  double sum = 0.0;
  for (int i = 0; i < 9; ++i) sum += a[i] * b[i];
  return sum;
}

/// Axial vector of m - m^T.
static inline void yw_m3_axial(const double m[9], double out[3]) {
  out[0] = m[7] - m[5];
  out[1] = m[2] - m[6];
  out[2] = m[3] - m[1];
}

static inline void yw_sym_apply(const double s[6], const double v[3], double out[3]) {
  out[0] = s[0] * v[0] + s[3] * v[1] + s[4] * v[2];
  out[1] = s[3] * v[0] + s[1] * v[1] + s[5] * v[2];
  out[2] = s[4] * v[0] + s[5] * v[1] + s[2] * v[2];
}

/// Returns the determinant; if it is 0, so is the inverse, which means nothing.
static inline double yw_sym_invert(const double m[6], double inverse[6]) {
  const double c[6] = {m[1] * m[2] - m[5] * m[5], m[0] * m[2] - m[4] * m[4],
                       m[0] * m[1] - m[3] * m[3], m[4] * m[5] - m[3] * m[2],
                       m[3] * m[5] - m[4] * m[1], m[3] * m[4] - m[5] * m[0]};
  double det = m[0] * c[0] + m[3] * c[3] + m[4] * c[4];
  for (int i = 0; i < 6; ++i) inverse[i] = det != 0.0 ? c[i] / det : 0.0;
  return det;
}

/// tr(s) 1 - s: how a stretch resists rotation.
static inline void yw_sym_turning(const double s[6], double out[6]) {
  double trace = s[0] + s[1] + s[2];
  for (int i = 0; i < 3; ++i) out[i] = trace - s[i];
  for (int i = 3; i < 6; ++i) out[i] = -s[i];
}

/// a = r s with r the nearest proper rotation: yw_polar, then Newton's method to full precision.
static inline void yw_m3_polar(const double a[9], double r[9], double s[6]) {
  double scale = 0.0, m[9];
  for (int i = 0; i < 9; ++i) scale = fmax(scale, fabs(a[i]));
  double inv = scale > 0.0 ? 1.0 / scale : 0.0;
  yw_mat3 narrow = {{(float)(inv * a[0]), (float)(inv * a[3]), (float)(inv * a[6])},
                    {(float)(inv * a[1]), (float)(inv * a[4]), (float)(inv * a[7])},
                    {(float)(inv * a[2]), (float)(inv * a[5]), (float)(inv * a[8])}};
  yw_mat3 rotation, stretch;
  yw_polar(&narrow, &rotation, &stretch);
  yw_quat q = yw_quat_from_mat3(&rotation);
  double w[4] = {q.x, q.y, q.z, q.w};
  for (int step = 0;; ++step) {
    double n = 1.0 / sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3]);
    double x = w[0] * n, y = w[1] * n, z = w[2] * n, c = w[3] * n;
    const double turned[9] = {
        1 - 2 * (y * y + z * z), 2 * (x * y - c * z),     2 * (x * z + c * y),
        2 * (x * y + c * z),     1 - 2 * (x * x + z * z), 2 * (y * z - c * x),
        2 * (x * z - c * y),     2 * (y * z + c * x),     1 - 2 * (x * x + y * y)};
    for (int i = 0; i < 9; ++i) r[i] = turned[i];
    yw_m3_mul_tn(r, a, m);
    const double sym[6] = {
        m[0], m[4], m[8], 0.5 * (m[1] + m[3]), 0.5 * (m[2] + m[6]), 0.5 * (m[5] + m[7])};
    for (int i = 0; i < 6; ++i) s[i] = sym[i];
    if (step == 3) return;
    double h[6], inverse[6], g[3], d[3], trace = fabs(s[0] + s[1] + s[2]);
    yw_sym_turning(s, h);
    if (!(yw_sym_invert(h, inverse) > 1e-6 * trace * trace * trace)) return;
    yw_m3_axial(m, g);
    yw_sym_apply(inverse, g, d);
    for (int i = 0; i < 3; ++i) d[i] *= 0.5;
    const double next[4] = {x + c * d[0] + y * d[2] - z * d[1], y + c * d[1] + z * d[0] - x * d[2],
                            z + c * d[2] + x * d[1] - y * d[0], c - x * d[0] - y * d[1] - z * d[2]};
    for (int i = 0; i < 4; ++i) w[i] = next[i];
  }
}

#endif
