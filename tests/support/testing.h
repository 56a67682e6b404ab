// SPDX-License-Identifier: MIT
// Included by every test: cmocka, and checks that print both numbers on failure.
#ifndef YW_TESTS_SUPPORT_TESTING_H
#define YW_TESTS_SUPPORT_TESTING_H

// cmocka.h needs these first, in this order.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// clang-format off
#include <cmocka.h>
// clang-format on
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// |value - expected| <= tolerance; NaN fails.
#define assert_near(value, expected, tolerance)                                                   \
  do {                                                                                            \
    double near_value_ = (double)(value), near_expected_ = (double)(expected),                    \
           near_tolerance_ = (double)(tolerance);                                                 \
    if (!(fabs(near_value_ - near_expected_) <= near_tolerance_)) {                               \
      print_error("%s is %.9g, expected %.9g within %.3g\n", #value, near_value_, near_expected_, \
                  near_tolerance_);                                                               \
      fail();                                                                                     \
    }                                                                                             \
  } while (0)

/// value <= limit; NaN fails.
#define assert_at_most(value, limit)                                                        \
  do {                                                                                      \
    double most_value_ = (double)(value), most_limit_ = (double)(limit);                    \
    if (!(most_value_ <= most_limit_)) {                                                    \
      print_error("%s is %.9g, expected at most %.9g\n", #value, most_value_, most_limit_); \
      fail();                                                                               \
    }                                                                                       \
  } while (0)

#define assert_at_least(value, limit)                                                          \
  do {                                                                                         \
    double least_value_ = (double)(value), least_limit_ = (double)(limit);                     \
    if (!(least_value_ >= least_limit_)) {                                                     \
      print_error("%s is %.9g, expected at least %.9g\n", #value, least_value_, least_limit_); \
      fail();                                                                                  \
    }                                                                                          \
  } while (0)

static inline void assert_contains(const char* whole, const char* part) {
  if (!strstr(whole, part)) fail_msg("\"%s\" does not contain \"%s\"", whole, part);
}

/// Reproducible random numbers (PCG).
typedef struct test_random {
  uint64_t state;
} test_random;

static inline uint32_t test_random_u32(test_random* random) {
  uint64_t old = random->state;
  random->state = old * 6364136223846793005ull + 1442695040888963407ull;
  uint32_t mixed = (uint32_t)(((old >> 18) ^ old) >> 27), turn = (uint32_t)(old >> 59);
  return (mixed >> turn) | (mixed << ((32 - turn) & 31));
}

/// Uniform in [low, high).
static inline double test_random_in(test_random* random, double low, double high) {
  return low + (high - low) * ((double)test_random_u32(random) / 4294967296.0);
}

/// Every number below count once.
static inline void assert_permutation(const int32_t* order, int count) {
  unsigned char* seen = calloc((size_t)count + 1, 1);
  for (int i = 0; i < count; ++i) {
    assert_true(order[i] >= 0 && order[i] < count && !seen[order[i]]);
    seen[order[i]] = 1;
  }
  free(seen);
}

/// The folder with the shared test models, or NULL (then the caller says so and skips).
static inline const char* test_models(void) {
  static const char path[] = YW_SOURCE_DIR "/../shared/models";
  return access(path, R_OK) == 0 ? path : NULL;
}

#endif
