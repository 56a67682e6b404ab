// SPDX-License-Identifier: MIT
// Sums whose bits do not depend on the order of their terms: integers in fixed point. Terms added
// here, on other threads or on other ranks give the same result, and integers of several sums may
// be added in any way. Inline: devices compile it too.
//
// Terms are rounded to multiples of 2^-320 (about 5e-97) and must be below 2^320.
#ifndef YW_MATH_SMALL_EXACT_SUM_H
#define YW_MATH_SMALL_EXACT_SUM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
  YW_EXACT_LOW = -320,   ///< exponent of the lowest bit
  YW_EXACT_DIGITS = 22,  ///< of 32 bits: 640 for terms, 64 for what their sum needs more
  YW_EXACT_FRACTION_BITS = 52,
  YW_EXACT_EXPONENT_BIAS = 1023,
  YW_EXACT_DIGIT_BITS = 32,
  YW_EXACT_PARTS = 3  ///< digits that one term reaches
};
#define YW_EXACT_MASK 0xffffffffu

/// {0} is the sum of nothing. A digit has room for 2^30 terms.
typedef struct yw_exact_sum {
  int64_t digit[YW_EXACT_DIGITS];  ///< lowest first, with sign
  int64_t strange;                 ///< terms that are not finite or too large
} yw_exact_sum;

/// What a term adds to three digits. Returns the first of them; below 0: it is strange.
static inline int yw_exact_split(double term, int64_t parts[YW_EXACT_PARTS]) {
  uint64_t bits;
  memcpy(&bits, &term, sizeof bits);
  int exponent = (int)(bits >> YW_EXACT_FRACTION_BITS & 0x7ff);
  uint64_t fraction = bits & (((uint64_t)1 << YW_EXACT_FRACTION_BITS) - 1);
  parts[0] = parts[1] = parts[2] = 0;
  // Below 2^-1022 only: far below the lowest digit.
  if (exponent == 0) return 0;
  fraction |= (uint64_t)1 << YW_EXACT_FRACTION_BITS;
  // The term is fraction 2^shift, in units of the lowest bit.
  int shift = exponent - YW_EXACT_EXPONENT_BIAS - YW_EXACT_FRACTION_BITS - YW_EXACT_LOW;
  if (shift > 2 * -YW_EXACT_LOW - YW_EXACT_FRACTION_BITS - 1) return -1;
  if (shift < 0) {
    fraction = shift > -64 ? fraction >> -shift : 0;
    shift = 0;
  }
  int64_t sign = bits >> 63 ? -1 : 1;
  int within = shift % YW_EXACT_DIGIT_BITS;
  uint64_t low = (fraction & YW_EXACT_MASK) << within;
  uint64_t high = (fraction >> YW_EXACT_DIGIT_BITS << within) + (low >> YW_EXACT_DIGIT_BITS);
  parts[0] = sign * (int64_t)(low & YW_EXACT_MASK);
  parts[1] = sign * (int64_t)(high & YW_EXACT_MASK);
  parts[2] = sign * (int64_t)(high >> YW_EXACT_DIGIT_BITS);
  return shift / YW_EXACT_DIGIT_BITS;
}

static inline void yw_exact_add(yw_exact_sum* sum, double term) {
  int64_t parts[YW_EXACT_PARTS];
  int digit = yw_exact_split(term, parts);
  if (digit < 0) {
    ++sum->strange;
    return;
  }
  for (int i = 0; i < YW_EXACT_PARTS; ++i) sum->digit[digit + i] += parts[i];
}

/// NaN if some term was not finite or too large.
static inline double yw_exact_value(const yw_exact_sum* sum) {
  if (sum->strange != 0) return NAN;
  // Digits from 0 to 2^32 - 1, and a carry that has the sign.
  uint32_t digit[YW_EXACT_DIGITS];
  int64_t carry = 0;
  for (int i = 0; i < YW_EXACT_DIGITS; ++i) {
    int64_t with = sum->digit[i] + carry;
    digit[i] = (uint32_t)((uint64_t)with & YW_EXACT_MASK);
    carry = (with - (int64_t)digit[i]) / ((int64_t)1 << YW_EXACT_DIGIT_BITS);
  }
  bool negative = carry < 0;
  // The size of a negative number is its complement plus one.
  uint64_t more = negative;
  for (int i = 0; negative && i < YW_EXACT_DIGITS; ++i) {
    more += (uint32_t)~digit[i];
    digit[i] = (uint32_t)(more & YW_EXACT_MASK);
    more >>= YW_EXACT_DIGIT_BITS;
  }
  int top = YW_EXACT_DIGITS - 1;
  while (top > 0 && digit[top] == 0) --top;
  // Three digits have at least 65 bits; what is left out is below the last bit of the result.
  double value = 0.0;
  for (int i = top; i >= 0 && i > top - 3; --i) {
    value += ldexp((double)digit[i], YW_EXACT_DIGIT_BITS * i + YW_EXACT_LOW);
  }
  return negative ? -value : value;
}

#endif
