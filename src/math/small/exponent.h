// SPDX-License-Identifier: MIT
// exp, log and pow with the same bits for every compiler and C library: computed in double with +,
// -, *, / and bit operations, then rounded to float once, within 0.501 units in the last place.
// Branch-free, so loops over lanes vectorise.
#ifndef YW_MATH_SMALL_EXPONENT_H
#define YW_MATH_SMALL_EXPONENT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define YW_LN_2 0.69314718055994530942
#define YW_LOG2_E 1.44269504088896340736

static inline double yw_double_of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint64_t yw_bits_of_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/// Relative error below 1e-12. x is clamped to slightly more than the range in which the result is
/// a finite, nonzero float. NaN stays NaN.
static inline double yw_exp_core(double x) {
  const double rounder = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  x = x < -110.0 ? -110.0 : x;
  x = x > 90.0 ? 90.0 : x;
  // x = k ln 2 + r, |r| <= ln 2 / 2
  double rounded = x * YW_LOG2_E + rounder;
  double r = x - (rounded - rounder) * YW_LN_2;
  // Taylor series; the first omitted term is below 3e-13.
  double sum = 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  // k is in the low bits of `rounded`; shifted by 52 it adds to the exponent of 1.
  uint64_t k = yw_bits_of_double(rounded) << 52;
  return sum * yw_double_of_bits(k + 0x3ff0000000000000u);
}

/// Relative error below 1e-12; -inf for 0, NaN for negative x.
static inline double yw_log_core(double x) {
  // x = 2^k m, m from sqrt(1/2) to sqrt(2)
  const uint64_t one = 0x3ff0000000000000u, root_half = 0x3fe6a09e667f3bcdu;
  uint64_t bits = yw_bits_of_double(x);
  uint64_t biased = (bits + (one - root_half)) >> 52;
  double m = yw_double_of_bits(bits - (biased << 52) + one);
  // The exponent in the low bits of 2^52 gives the integer k after subtraction.
  double k = yw_double_of_bits(0x4330000000000000u | biased) - (4503599627370496.0 + 1023.0);
  // log m = 2 atanh(s); the first omitted term is below 5e-13.
  double s = (m - 1.0) / (m + 1.0), s2 = s * s;
  double sum = 1.0 / 13.0;
  sum = sum * s2 + 1.0 / 11.0;
  sum = sum * s2 + 1.0 / 9.0;
  sum = sum * s2 + 1.0 / 7.0;
  sum = sum * s2 + 1.0 / 5.0;
  sum = sum * s2 + 1.0 / 3.0;
  double result = k * YW_LN_2 + (2.0 * s + 2.0 * s * s2 * sum);
  result = x < INFINITY ? result : x;
  result = x > 0.0 ? result : x == 0.0 ? -INFINITY : NAN;
  return result;
}

/// e^x.
static inline float yw_expf(float x) { return (float)yw_exp_core((double)x); }

/// Natural logarithm; -inf for 0, NaN for negative x.
static inline float yw_logf(float x) { return (float)yw_log_core((double)x); }

/// x^y for x >= 0; NaN for negative x, even if y is an integer.
static inline float yw_powf(float x, float y) {
  if (x == 1.0f || y == 0.0f) return 1.0f;
  return (float)yw_exp_core((double)y * yw_log_core((double)x));
}

#endif
