// SPDX-License-Identifier: MIT
#include "math/small/exact_sum.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { FRACTION_BITS = 52, EXPONENT_BIAS = 1023, DIGIT_BITS = 32 };
#define DIGIT_MASK 0xffffffffu

void yw_exact_add(yw_exact_sum* sum, double term) {
  uint64_t bits;
  memcpy(&bits, &term, sizeof bits);
  int exponent = (int)(bits >> FRACTION_BITS & 0x7ff);
  uint64_t fraction = bits & (((uint64_t)1 << FRACTION_BITS) - 1);
  // Below 2^-1022 only: far below the lowest digit.
  if (exponent == 0) return;
  fraction |= (uint64_t)1 << FRACTION_BITS;
  // The term is fraction 2^shift, in units of the lowest bit.
  int shift = exponent - EXPONENT_BIAS - FRACTION_BITS - YW_EXACT_LOW;
  if (shift > 2 * -YW_EXACT_LOW - FRACTION_BITS - 1) {
    ++sum->strange;
    return;
  }
  if (shift < 0) {
    fraction = shift > -64 ? fraction >> -shift : 0;
    shift = 0;
  }
  int64_t sign = bits >> 63 ? -1 : 1;
  int digit = shift / DIGIT_BITS, within = shift % DIGIT_BITS;
  uint64_t low = (fraction & DIGIT_MASK) << within;
  uint64_t high = (fraction >> DIGIT_BITS << within) + (low >> DIGIT_BITS);
  sum->digit[digit] += sign * (int64_t)(low & DIGIT_MASK);
  sum->digit[digit + 1] += sign * (int64_t)(high & DIGIT_MASK);
  sum->digit[digit + 2] += sign * (int64_t)(high >> DIGIT_BITS);
}

double yw_exact_value(const yw_exact_sum* sum) {
  if (sum->strange != 0) return NAN;
  // Digits from 0 to 2^32 - 1, and a carry that has the sign.
  uint32_t digit[YW_EXACT_DIGITS];
  int64_t carry = 0;
  for (int i = 0; i < YW_EXACT_DIGITS; ++i) {
    int64_t with = sum->digit[i] + carry;
    digit[i] = (uint32_t)((uint64_t)with & DIGIT_MASK);
    carry = (with - (int64_t)digit[i]) / ((int64_t)1 << DIGIT_BITS);
  }
  bool negative = carry < 0;
  // The size of a negative number is its complement plus one.
  uint64_t more = negative;
  for (int i = 0; negative && i < YW_EXACT_DIGITS; ++i) {
    more += (uint32_t)~digit[i];
    digit[i] = (uint32_t)(more & DIGIT_MASK);
    more >>= DIGIT_BITS;
  }
  int top = YW_EXACT_DIGITS - 1;
  while (top > 0 && digit[top] == 0) --top;
  // Three digits have at least 65 bits; what is left out is below the last bit of the result.
  double value = 0.0;
  for (int i = top; i >= 0 && i > top - 3; --i) {
    value += ldexp((double)digit[i], DIGIT_BITS * i + YW_EXACT_LOW);
  }
  return negative ? -value : value;
}
