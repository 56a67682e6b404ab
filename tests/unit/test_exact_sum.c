// SPDX-License-Identifier: MIT
// Sums that do not depend on the order of their terms.
#include "math/small/exact_sum.h"
#include "support/testing.h"
#include "yawara/extend/hash.h"

enum { TERMS = 1000 };

// Numbers of both signs over 40 powers of ten, the same every time.
static double term(int i) {
  uint64_t h = yw_hash_u64(YW_HASH_SEED, (uint64_t)i);
  double size = pow(10.0, (double)(h % 41) - 20.0), part = (double)(h >> 20) / 17592186044416.0;
  return (h >> 13 & 1 ? -1.0 : 1.0) * size * (1.0 + part);
}

static double total(int first, int step) {
  yw_exact_sum sum = {0};
  for (int i = 0; i < TERMS; ++i) yw_exact_add(&sum, term((first + i * step) % TERMS));
  return yw_exact_value(&sum);
}

static void any_order_has_the_same_bits(void** state) {
  (void)state;
  double forward = total(0, 1);
  for (int step = 3; step < 40; step += 4) {
    if (step % 5 != 0) assert_true(total(step * 7, step) == forward);
  }
  // Two halves, as on two ranks.
  yw_exact_sum half[2] = {{{0}, 0}, {{0}, 0}};
  for (int i = 0; i < TERMS; ++i) yw_exact_add(&half[i % 2], term(i));
  for (int k = 0; k < YW_EXACT_DIGITS; ++k) half[0].digit[k] += half[1].digit[k];
  assert_true(yw_exact_value(&half[0]) == forward);
}

static void sums_are_those_of_arithmetic(void** state) {
  (void)state;
  static const double sets[][4] = {
      {1, 2, 3, 4},         {1e30, 1, -1e30, 0}, {-5, 0.25, 0.125, 0},  {1e-60, -3e-60, 0, 0},
      {-1e20, 1e20, -7, 0}, {0, 0, 0, 0},        {0.1, 0.2, 0.3, -0.6}, {1e90, -1e90, 1e-90, 0}};
  static const double expected[] = {10, 1, -4.625, -2e-60, -7, 0, 0, 1e-90};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
    yw_exact_sum sum = {0};
    for (int k = 0; k < 4; ++k) yw_exact_add(&sum, sets[i][k]);
    double found = yw_exact_value(&sum), off = fabs(found - expected[i]);
    // 0.1 + 0.2 + 0.3 - 0.6 of doubles is not 0, but below their rounding.
    double most = i == 6 ? 1e-16 : 1e-7 * fabs(expected[i]);
    if (!(off <= most)) fail_msg("set %zu: %.17g instead of %.17g", i, found, expected[i]);
  }
}

static void strange_terms_are_noticed(void** state) {
  (void)state;
  static const double strange[] = {INFINITY, -INFINITY, NAN, 1e100};
  for (int i = 0; i < 4; ++i) {
    yw_exact_sum sum = {0};
    yw_exact_add(&sum, 1.0);
    yw_exact_add(&sum, strange[i]);
    assert_true(isnan(yw_exact_value(&sum)));
  }
  // Below the last digit there is nothing.
  yw_exact_sum sum = {0};
  yw_exact_add(&sum, 1e-300);
  assert_true(yw_exact_value(&sum) == 0.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_order_has_the_same_bits),
      cmocka_unit_test(sums_are_those_of_arithmetic),
      cmocka_unit_test(strange_terms_are_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
