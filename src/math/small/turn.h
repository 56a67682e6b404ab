// SPDX-License-Identifier: MIT
// Rotations in double: unit quaternions (x, y, z, w), their exponential and logarithm. Uses only +,
// -, *, / and square roots, so that the bits are the same everywhere.
#ifndef YW_MATH_SMALL_TURN_H
#define YW_MATH_SMALL_TURN_H

#include <math.h>

#include "yawara/base.h"

typedef struct yw_turn {
  double x, y, z, w;
} yw_turn;

#define YW_TURN_NONE ((yw_turn){0.0, 0.0, 0.0, 1.0})

static inline yw_turn yw_turn_of(yw_quat q) {
  return (yw_turn){(double)q.x, (double)q.y, (double)q.z, (double)q.w};
}

static inline yw_quat yw_turn_to_quat(yw_turn q) {
  return (yw_quat){(float)q.x, (float)q.y, (float)q.z, (float)q.w};
}

static inline yw_turn yw_turn_conjugate(yw_turn q) { return (yw_turn){-q.x, -q.y, -q.z, q.w}; }

/// First b, then a.
static inline yw_turn yw_turn_mul(yw_turn a, yw_turn b) {
  return (yw_turn){a.w * b.x + a.x * b.w + (a.y * b.z - a.z * b.y),
                   a.w * b.y + a.y * b.w + (a.z * b.x - a.x * b.z),
                   a.w * b.z + a.z * b.w + (a.x * b.y - a.y * b.x),
                   a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

static inline yw_turn yw_turn_normalize(yw_turn q) {
  double n = sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  if (!(n > 0.0) || !isfinite(n)) return YW_TURN_NONE;
  return (yw_turn){q.x / n, q.y / n, q.z / n, q.w / n};
}

/// The rotation matrix, row-major.
static inline void yw_turn_matrix(yw_turn q, double m[9]) {
  double x = q.x, y = q.y, z = q.z, w = q.w;
  m[0] = 1 - 2 * (y * y + z * z), m[1] = 2 * (x * y - w * z), m[2] = 2 * (x * z + w * y);
  m[3] = 2 * (x * y + w * z), m[4] = 1 - 2 * (x * x + z * z), m[5] = 2 * (y * z - w * x);
  m[6] = 2 * (x * z - w * y), m[7] = 2 * (y * z + w * x), m[8] = 1 - 2 * (x * x + y * y);
}

static inline void yw_turn_apply(yw_turn q, const double v[3], double out[3]) {
  double tx = 2 * (q.y * v[2] - q.z * v[1]), ty = 2 * (q.z * v[0] - q.x * v[2]);
  double tz = 2 * (q.x * v[1] - q.y * v[0]);
  const double turned[3] = {v[0] + q.w * tx + (q.y * tz - q.z * ty),
                            v[1] + q.w * ty + (q.z * tx - q.x * tz),
                            v[2] + q.w * tz + (q.x * ty - q.y * tx)};
  for (int i = 0; i < 3; ++i) out[i] = turned[i];
}

/// Rotation by the angle |v| about v: series for a small fraction of it, then repeated squaring.
static inline yw_turn yw_turn_exp(const double v[3]) {
  double length2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], scale = 0.5;
  int halvings = 0;
  while (length2 * scale * scale > 0.01 && halvings < 64) scale *= 0.5, ++halvings;
  double a = length2 * scale * scale;
  double sine = 1 - a / 6 * (1 - a / 20 * (1 - a / 42 * (1 - a / 72 * (1 - a / 110))));
  double cosine = 1 - a / 2 * (1 - a / 12 * (1 - a / 30 * (1 - a / 56 * (1 - a / 90))));
  yw_turn q = {scale * sine * v[0], scale * sine * v[1], scale * sine * v[2], cosine};
  for (int i = 0; i < halvings; ++i) q = yw_turn_mul(q, q);
  return yw_turn_normalize(q);
}

/// Rotation vector of the shortest arc, angle at most pi: repeated square roots bring q close to 1,
/// then a series.
static inline void yw_turn_log(yw_turn q, double out[3]) {
  if (q.w < 0.0) q = (yw_turn){-q.x, -q.y, -q.z, -q.w};
  double scale = 2.0;
  for (int i = 0; i < 40; ++i) {
    double sine2 = q.x * q.x + q.y * q.y + q.z * q.z;
    if (sine2 < 0.01) break;
    q = yw_turn_normalize((yw_turn){q.x, q.y, q.z, 1.0 + q.w});
    scale *= 2.0;
  }
  // asin(s) / s
  double a = q.x * q.x + q.y * q.y + q.z * q.z;
  const double c[9] = {1.0,         1.0 / 6,       3.0 / 40,      5.0 / 112,      35.0 / 1152,
                       63.0 / 2816, 231.0 / 13312, 143.0 / 10240, 6435.0 / 557056};
  double sum = 0.0;
  for (int i = 8; i >= 0; --i) sum = sum * a + c[i];
  out[0] = scale * sum * q.x, out[1] = scale * sum * q.y, out[2] = scale * sum * q.z;
}

/// The unit quaternion of a rotation matrix (row-major).
static inline yw_turn yw_turn_from_matrix(const double m[9]) {
  double trace = m[0] + m[4] + m[8];
  yw_turn q;
  if (trace > 0.0) {
    q = (yw_turn){m[7] - m[5], m[2] - m[6], m[3] - m[1], 1.0 + trace};
  } else if (m[0] >= m[4] && m[0] >= m[8]) {
    q = (yw_turn){1.0 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6], m[7] - m[5]};
  } else if (m[4] >= m[8]) {
    q = (yw_turn){m[1] + m[3], 1.0 + m[4] - m[0] - m[8], m[5] + m[7], m[2] - m[6]};
  } else {
    q = (yw_turn){m[2] + m[6], m[5] + m[7], 1.0 + m[8] - m[0] - m[4], m[3] - m[1]};
  }
  return yw_turn_normalize(q);
}

#endif
