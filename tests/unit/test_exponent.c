// SPDX-License-Identifier: MIT
#include "math/small/exponent.h"

#include <float.h>

#include "support/testing.h"
#include "yawara/extend/hash.h"

#define SAMPLES 1000000

// Error in units in the last place (float) of the true value.
static double ulps(float found, double expected) {
  if ((double)found == expected || (isnan(found) && isnan(expected))) return 0.0;
  if (fabs(expected) > FLT_MAX) return isinf(found) && (expected > 0) == (found > 0) ? 0.0 : 1e9;
  int exponent;
  frexp(expected, &exponent);
  double unit = ldexp(1.0, exponent < -125 ? -149 : exponent - 24);
  return fabs((double)found - expected) / unit;
}

static float any_positive(test_random* random) {
  return (float)pow(2.0, test_random_in(random, -149.0, 128.0));
}

static void exponentials_round_as_they_should(void** state) {
  (void)state;
  test_random random = {1};
  double worst = 0.0;
  for (int i = 0; i < SAMPLES; ++i) {
    float x = (float)test_random_in(&random, i % 2 ? -1.0 : -105.0, i % 2 ? 1.0 : 89.0);
    worst = fmax(worst, ulps(yw_expf(x), exp((double)x)));
  }
  assert_at_most(worst, 0.501);
}

static void logarithms_round_as_they_should(void** state) {
  (void)state;
  test_random random = {2};
  double worst = 0.0;
  for (int i = 0; i < SAMPLES; ++i) {
    float x = i % 2 ? any_positive(&random) : (float)test_random_in(&random, 0.5, 2.0);
    worst = fmax(worst, ulps(yw_logf(x), log((double)x)));
  }
  // Near 1, where the logarithm is as small as the distance from 1.
  for (int i = 1; i < 1000; ++i) {
    float x = 1.0f + (float)i * FLT_EPSILON, y = 1.0f - (float)i * FLT_EPSILON / 2;
    worst = fmax(worst, ulps(yw_logf(x), log((double)x)));
    worst = fmax(worst, ulps(yw_logf(y), log((double)y)));
  }
  assert_at_most(worst, 0.501);
}

static void powers_round_as_they_should(void** state) {
  (void)state;
  test_random random = {3};
  double worst = 0.0;
  for (int i = 0; i < SAMPLES; ++i) {
    float x = i % 2 ? any_positive(&random) : (float)test_random_in(&random, 0.1, 10.0);
    float y = (float)test_random_in(&random, -4.0, 4.0);
    worst = fmax(worst, ulps(yw_powf(x, y), pow((double)x, (double)y)));
  }
  assert_at_most(worst, 0.501);
}

static void special_values_are_those_of_the_standard(void** state) {
  (void)state;
  const float ends[] = {0.0f,    -0.0f,    1.0f,    -1.0f,    INFINITY, -INFINITY, NAN,
                        1e-45f,  -1e-45f,  FLT_MIN, FLT_MAX,  -FLT_MAX, 88.7228f,  88.7229f,
                        -103.0f, -103.98f, -104.0f, -1000.0f, 1000.0f,  0.5f,      2.0f};
  const int count = sizeof ends / sizeof ends[0];
  for (int i = 0; i < count; ++i) {
    assert_at_most(ulps(yw_expf(ends[i]), exp((double)ends[i])), 0.501);
    assert_at_most(ulps(yw_logf(ends[i]), log((double)ends[i])), 0.501);
    if (signbit(ends[i])) continue;
    for (int k = 0; k < count; ++k) {
      double expected = pow((double)ends[i], (double)ends[k]);
      assert_at_most(ulps(yw_powf(ends[i], ends[k]), expected), 0.501);
    }
  }
  assert_true(isnan(yw_powf(-2.0f, 2.0f)));
  assert_true(yw_expf(0.0f) == 1.0f && yw_logf(1.0f) == 0.0f);
}

// Every compiler, optimisation level and machine must give this hash.
static void bits_are_the_same_everywhere(void** state) {
  (void)state;
  uint64_t hash = YW_HASH_SEED;
  for (uint32_t i = 0; i < 1u << 16; ++i) {
    uint32_t bits = i << 16 | (i * 40503u & 0xffffu);
    float x, values[3];
    memcpy(&x, &bits, sizeof x);
    if (isnan(x)) continue;
    values[0] = yw_expf(x);
    values[1] = x < 0.0f ? 0.0f : yw_logf(x);
    values[2] = x < 0.0f ? 0.0f : yw_powf(x, 0.3f);
    hash = yw_hash_bytes(hash, values, sizeof values);
  }
  if (hash != 0xd0b842634e447a81ull)
    print_error("the hash is 0x%016llx\n", (unsigned long long)hash);
  assert_true(hash == 0xd0b842634e447a81ull);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exponentials_round_as_they_should),
      cmocka_unit_test(logarithms_round_as_they_should),
      cmocka_unit_test(powers_round_as_they_should),
      cmocka_unit_test(special_values_are_those_of_the_standard),
      cmocka_unit_test(bits_are_the_same_everywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
