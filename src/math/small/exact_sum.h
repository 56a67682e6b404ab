// SPDX-License-Identifier: MIT
// Sums whose bits do not depend on the order of their terms: integers in fixed point. Terms added
// here, on other threads or on other ranks give the same result, and integers of several sums may
// be added in any way.
//
// Terms are rounded to multiples of 2^-320 (about 5e-97) and must be below 2^320.
#ifndef YW_MATH_SMALL_EXACT_SUM_H
#define YW_MATH_SMALL_EXACT_SUM_H

#include <stdint.h>

enum {
  YW_EXACT_LOW = -320,  ///< exponent of the lowest bit
  YW_EXACT_DIGITS = 22  ///< of 32 bits: 640 for terms, 64 for what their sum needs more
};

/// {0} is the sum of nothing. A digit has room for 2^30 terms.
typedef struct yw_exact_sum {
  int64_t digit[YW_EXACT_DIGITS];  ///< lowest first, with sign
  int64_t strange;                 ///< terms that are not finite or too large
} yw_exact_sum;

void yw_exact_add(yw_exact_sum* sum, double term);
/// NaN if some term was not finite or too large.
double yw_exact_value(const yw_exact_sum* sum);

#endif
