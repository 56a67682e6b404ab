// SPDX-License-Identifier: MIT
// Everything is computed in double using only +, -, *, / and sqrt, which IEEE 754 rounds
// identically everywhere, and rounded to float once at the end. The series are plain Taylor series
// without tuned constants: range reduction keeps them short for the final precision.
#include "math/small/trig.h"

#include <math.h>
#include <string.h>

#include "yawara/extend/vec.h"

#define PI 3.14159265358979323846
#define TWO_PI 6.28318530717958647692
#define HALF_PI 1.57079632679489661923
#define TAN_PI_8 0.41421356237309504880

// |r| <= pi/4; the first omitted term is below 1e-11.
static double sin_series(double r) {
  double r2 = r * r;
  double sum = -1.0 / 39916800.0;
  sum = sum * r2 + 1.0 / 362880.0;
  sum = sum * r2 - 1.0 / 5040.0;
  sum = sum * r2 + 1.0 / 120.0;
  sum = sum * r2 - 1.0 / 6.0;
  return r + r * r2 * sum;
}

static double cos_series(double r) {
  double r2 = r * r;
  double sum = 1.0 / 479001600.0;
  sum = sum * r2 - 1.0 / 3628800.0;
  sum = sum * r2 + 1.0 / 40320.0;
  sum = sum * r2 - 1.0 / 720.0;
  sum = sum * r2 + 1.0 / 24.0;
  sum = sum * r2 - 0.5;
  return 1.0 + r2 * sum;
}

// sin(x + quarters * pi/2)
static double sin_quarters(double x, int64_t quarters) {
  if (!isfinite(x)) return NAN;
  // fmod is exact, so this is the same everywhere; the angle of such a large number has little
  // meaning.
  if (fabs(x) > 1e6) x = fmod(x, TWO_PI);
  double turns = floor(x / HALF_PI + 0.5);
  double r = x - turns * HALF_PI;
  switch (((int64_t)turns + quarters) & 3) {
    case 0:
      return sin_series(r);
    case 1:
      return cos_series(r);
    case 2:
      return -sin_series(r);
    default:
      return -cos_series(r);
  }
}

// 0 <= t <= 1
static double atan_unit(double t) {
  bool upper = t > TAN_PI_8;
  double u = upper ? (t - 1.0) / (t + 1.0) : t;
  double u2 = u * u, sum = 0.0;
  // |u| <= tan(pi/8): the first omitted term is below 1e-11.
  for (int n = 23; n >= 1; n -= 2) sum = 1.0 / n - u2 * sum;
  return upper ? 0.25 * PI + u * sum : u * sum;
}

static double atan2_double(double y, double x) {
  double ax = fabs(x), ay = fabs(y);
  if (ax == 0.0 && ay == 0.0) return 0.0;
  if (isinf(ax) && isinf(ay)) ax = ay = 1.0;
  double angle = ay <= ax ? atan_unit(ay / ax) : HALF_PI - atan_unit(ax / ay);
  if (x < 0.0) angle = PI - angle;
  return signbit(y) ? -angle : angle;
}

float yw_sinf(float x) { return x == 0.0f ? x : (float)sin_quarters((double)x, 0); }

float yw_cosf(float x) { return (float)sin_quarters((double)x, 1); }

float yw_atan2f(float y, float x) { return (float)atan2_double((double)y, (double)x); }

double yw_acos(double x) {
  double c = x < -1.0 ? -1.0 : x > 1.0 ? 1.0 : x;
  return atan2_double(sqrt((1.0 - c) * (1.0 + c)), c);
}

float yw_acosf(float x) { return (float)yw_acos((double)x); }

float yw_cbrtf(float x) {
  if (x == 0.0f || !isfinite(x)) return x;
  double target = fabs((double)x), root;
  // A third of the exponent and mantissa bits is within 7 %; each Halley step cubes the error.
  uint64_t bits;
  memcpy(&bits, &target, sizeof bits);
  bits = bits / 3 + ((uint64_t)1023 << 52) / 3 * 2;
  memcpy(&root, &bits, sizeof root);
  for (int step = 0; step < 3; ++step) {
    double cube = root * root * root;
    root *= (cube + 2.0 * target) / (2.0 * cube + target);
  }
  return (float)(x < 0.0f ? -root : root);
}

yw_quat yw_quat_axis_angle(yw_vec3 axis, float angle) {
  // In double, so that an axis of any length works.
  double x = (double)axis.x, y = (double)axis.y, z = (double)axis.z;
  double length = sqrt(x * x + y * y + z * z);
  if (!(length > 0.0) || !isfinite(length)) return (yw_quat){0, 0, 0, 1};
  double half = 0.5 * (double)angle;
  double s = sin_quarters(half, 0) / length;
  return (yw_quat){(float)(x * s), (float)(y * s), (float)(z * s), (float)sin_quarters(half, 1)};
}

yw_quat yw_quat_slerp(yw_quat a, yw_quat b, float t) {
  double ax = (double)a.x, ay = (double)a.y, az = (double)a.z, aw = (double)a.w;
  double bx = (double)b.x, by = (double)b.y, bz = (double)b.z, bw = (double)b.w;
  // b and -b are the same rotation: take the closer one.
  if (ax * bx + ay * by + az * bz + aw * bw < 0.0) bx = -bx, by = -by, bz = -bz, bw = -bw;
  double mx = ax - bx, my = ay - by, mz = az - bz, mw = aw - bw;
  double px = ax + bx, py = ay + by, pz = az + bz, pw = aw + bw;
  // Accurate for every angle, unlike the arc cosine of the dot product.
  double angle = 2.0 * atan2_double(sqrt(mx * mx + my * my + mz * mz + mw * mw),
                                    sqrt(px * px + py * py + pz * pz + pw * pw));
  double sine = sin_quarters(angle, 0);
  double wa = 1.0 - (double)t, wb = (double)t;
  if (sine > 1e-6) {
    wa = sin_quarters(wa * angle, 0) / sine;
    wb = sin_quarters(wb * angle, 0) / sine;
  }
  return yw_quat_normalize((yw_quat){(float)(wa * ax + wb * bx), (float)(wa * ay + wb * by),
                                     (float)(wa * az + wb * bz), (float)(wa * aw + wb * bw)});
}
