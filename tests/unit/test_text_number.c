// SPDX-License-Identifier: MIT
#include "support/testing.h"
#include "yawara/extend/text_number.h"

static double parsed(const char* text, size_t used) {
  double value = -12345.0;
  const char* end = yw_parse_double(text, text + strlen(text), &value);
  if (!end || (size_t)(end - text) != used)
    fail_msg("\"%s\" took %d characters, expected %zu", text, end ? (int)(end - text) : -1, used);
  return value;
}

static void plain_numbers_are_exact(void** state) {
  (void)state;
  static const char* const texts[] = {"0",
                                      "1",
                                      "-1.5",
                                      "+.25",
                                      "3.",
                                      "0.1",
                                      "1e10",
                                      "123456.789",
                                      "1E-5",
                                      "-0.000123",
                                      "1e22",
                                      "5e-22",
                                      "9007199254740993e0",
                                      "0.30000001192092896"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    double expected = strtod(texts[i], NULL);
    assert_true((float)parsed(texts[i], strlen(texts[i])) == (float)expected);
    assert_near(parsed(texts[i], strlen(texts[i])), expected, fabs(expected) * 3e-16);
  }
  assert_true(signbit(parsed("-0", 2)) != 0);
}

static void random_numbers_are_within_four_units_of_strtod(void** state) {
  (void)state;
  test_random random = {3};
  for (int32_t i = 0; i < 200000; ++i) {
    char text[80];
    snprintf(text, sizeof text, "%u%u.%ue%d", test_random_u32(&random), test_random_u32(&random),
             test_random_u32(&random), (int)(test_random_u32(&random) % 600) - 300);
    double expected = strtod(text, NULL);
    if (expected < 1e-290 || expected > 1e290) continue;
    assert_near(parsed(text, strlen(text)) / expected, 1.0, 4 * 2.3e-16 * 8);
  }
}

static void numbers_stop_where_they_end(void** state) {
  (void)state;
  assert_near(parsed("12abc", 2), 12, 0);
  assert_near(parsed("1e", 1), 1, 0);
  assert_near(parsed("1e+", 1), 1, 0);
  assert_near(parsed("1.2.3", 3), 1.2, 1e-15);
  double value;
  static const char* const none[] = {"", "-", ".", "+.", "e5", "abc", "in", "na", "--1"};
  for (size_t i = 0; i < sizeof none / sizeof *none; ++i)
    assert_null(yw_parse_double(none[i], none[i] + strlen(none[i]), &value));
}

static void extremes_become_zero_or_infinity(void** state) {
  (void)state;
  assert_true(parsed("1e999999999999", 14) == INFINITY);
  assert_true(parsed("-1e400", 6) == -INFINITY);
  assert_true(parsed("1e-999999999999", 15) == 0.0);
  assert_true(parsed("0e999999", 8) == 0.0);
  assert_true(isnan(parsed("NaN", 3)));
  assert_true(parsed("-Infinity", 9) == -INFINITY);
  assert_true(parsed("inf", 3) == INFINITY);
  // A long run of digits only moves the decimal point.
  char text[3000];
  memset(text, '0', sizeof text);
  text[0] = '1';
  memcpy(text + 1000, "e-999", 6);
  assert_near(parsed(text, 1005), 1.0, 1e-12);
  memset(text, '0', sizeof text);
  text[1] = '.';
  memcpy(text + 1000, "1e999", 6);
  assert_near(parsed(text, 1005), 1.0, 1e-12);
}

static void integers_refuse_what_does_not_fit(void** state) {
  (void)state;
  int64_t value = 0;
  const char* text = "9223372036854775807";
  assert_non_null(yw_parse_int(text, text + 19, &value));
  assert_true(value == INT64_MAX);
  text = "9223372036854775808";
  assert_null(yw_parse_int(text, text + 19, &value));
  text = "-42x";
  assert_ptr_equal(yw_parse_int(text, text + 4, &value), text + 3);
  assert_int_equal(value, -42);
  assert_null(yw_parse_int(text, text + 1, &value));
}

// Every float must be read back exactly, by our parser and any other that rounds correctly.
static void floats_come_back_from_their_text(void** state) {
  (void)state;
  test_random random = {11};
  size_t total = 0;
  for (int32_t i = 0; i < 1000000; ++i) {
    uint32_t bits = test_random_u32(&random);
    float value;
    memcpy(&value, &bits, 4);
    if (i < 5000) value = (float)i / 100.0f;
    if (!isfinite(value)) continue;
    char text[YW_NUMBER_TEXT];
    size_t length = yw_format_float(value, text);
    double back;
    assert_ptr_equal(yw_parse_double(text, text + length, &back), text + length);
    if ((float)back != value || strtof(text, NULL) != value)
      fail_msg("%.9g became \"%s\"", value, text);
    total += length;
  }
  assert_at_most((double)total / 1e6, 14.0);
}

static void numbers_are_written_short(void** state) {
  (void)state;
  static const struct {
    float value;
    const char* text;
  } cases[] = {
      {0.1f, "0.1"},     {1.0f, "1"},        {-2.5f, "-2.5"},     {100.0f, "100"},
      {1e10f, "1e10"},   {1e-7f, "1e-7"},    {0.001f, "0.001"},   {16777216.0f, "16777216"},
      {0.0f, "0"},       {-0.0f, "-0"},      {1.5e-5f, "1.5e-5"}, {123456.789f, "123456.79"},
      {INFINITY, "inf"}, {-INFINITY, "-inf"}};
  char text[YW_NUMBER_TEXT];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    assert_int_equal(yw_format_float(cases[i].value, text), strlen(cases[i].text));
    assert_string_equal(text, cases[i].text);
  }
  yw_format_double(1.0 / 3.0, text);
  assert_true(strtod(text, NULL) == 1.0 / 3.0);
  yw_format_double(0.1, text);
  assert_string_equal(text, "0.1");
  yw_format_double(-1e100, text);
  assert_string_equal(text, "-1e100");
}

// Any bits that are a finite double.
static void doubles_come_back_from_their_text(void** state) {
  (void)state;
  test_random random = {11};
  for (int32_t i = 0; i < 100000; ++i) {
    uint64_t bits = (uint64_t)test_random_u32(&random) << 32 | test_random_u32(&random);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) continue;
    char text[YW_NUMBER_TEXT];
    yw_format_double(value, text);
    if (strtod(text, NULL) != value) fail_msg("%.17g was written as %s", value, text);
  }
}

// Within half a unit of the last digit, and rounding of the scaling.
static void digits_are_rounded(void** state) {
  (void)state;
  static const struct {
    double value;
    const char* text;
  } cases[] = {{0.0, "0"},
               {-1.0 / 3.0, "-0.333333333333"},
               {2.0 / 3.0, "0.666666666667"},
               {1e100, "1e100"},
               {999999999999.6, "1e12"},
               {4503599627.5, "4.5035996275e9"},

               {INFINITY, "inf"},
               {225.0, "225"}};
  char text[YW_NUMBER_TEXT];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    assert_int_equal(yw_format_digits(cases[i].value, 12, text), strlen(cases[i].text));
    assert_string_equal(text, cases[i].text);
  }
  test_random random = {12};
  for (int32_t i = 0; i < 100000; ++i) {
    uint64_t bits = (uint64_t)test_random_u32(&random) << 32 | test_random_u32(&random);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value) || fabs(value) < 1e-300) continue;
    yw_format_digits(value, 12, text);
    double error = fabs(strtod(text, NULL) / value - 1.0);
    if (error > 5.01e-12) fail_msg("%.17g was written as %s", value, text);
  }
}

// The text that printf's digits make: plain if that is short, else with an exponent.
static void lay_out(double value, int32_t n, char* out) {
  char printed[40], digits[40] = "";
  snprintf(printed, sizeof printed, "%.*e", (int)n - 1, fabs(value));
  const char* e = strchr(printed, 'e');
  int32_t count = 0, exponent = atoi(e + 1);
  for (const char* p = printed; p < e; ++p) {
    if (*p != '.') digits[count++] = *p;
  }
  while (count > 1 && digits[count - 1] == '0') digits[--count] = '\0';
  if (signbit(value)) *out++ = '-';
  if (exponent > 8 || exponent < -4) {
    sprintf(out, "%c%s%se%d", digits[0], count > 1 ? "." : "", digits + 1, (int)exponent);
  } else if (exponent < 0) {
    sprintf(out, "0.%.*s%s", (int)(-1 - exponent), "000", digits);
  } else if (count <= exponent + 1) {
    sprintf(out, "%s%.*s", digits, (int)(exponent + 1 - count), "00000000");
  } else {
    sprintf(out, "%.*s.%s", (int)exponent + 1, digits, digits + exponent + 1);
  }
}

// Where the value is clearly closer to one number of so many digits than to the next.
static bool is_clear(double value, int32_t n) {
  long double scaled = fabsl((long double)value);
  while (scaled >= powl(10.0L, n)) scaled /= 10.0L;
  while (scaled < powl(10.0L, n - 1)) scaled *= 10.0L;
  return fabsl(scaled - floorl(scaled) - 0.5L) > (n < 13 ? 1e-3L : 0.25L);
}

static void digits_are_those_of_printf(void** state) {
  (void)state;
  test_random random = {13};
  int32_t compared = 0, rounds = 200000;
  for (int32_t i = 0; i < rounds; ++i) {
    // All magnitudes that measurements have, integers, and powers of ten.
    int32_t power = (int32_t)(test_random_u32(&random) % 41) - 20, kind = i % 8;
    uint64_t bits = (uint64_t)test_random_u32(&random) << 20 ^ test_random_u32(&random);
    double value = ldexp((double)bits, -52) * pow(10.0, power);
    if (kind == 0) value = (double)(bits % 1000000);
    if (kind == 1) value = pow(10.0, power);
    if (kind == 2) value = (double)(float)value;
    if (test_random_u32(&random) % 2) value = -value;
    int32_t n = kind == 3 ? 1 + (int32_t)(test_random_u32(&random) % 15) : 12;
    if (value == 0.0 || !is_clear(value, n)) continue;
    char text[YW_NUMBER_TEXT], expected[80];
    size_t length = yw_format_digits(value, n, text);
    lay_out(value, n, expected);
    if (strcmp(text, expected) != 0 || length != strlen(text)) {
      fail_msg("%.17g in %d digits was written as %s, expected %s", value, (int)n, text, expected);
    }
    ++compared;
  }
  assert_in_range(compared, rounds - rounds / 10, rounds);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_numbers_are_exact),
      cmocka_unit_test(random_numbers_are_within_four_units_of_strtod),
      cmocka_unit_test(numbers_stop_where_they_end),
      cmocka_unit_test(extremes_become_zero_or_infinity),
      cmocka_unit_test(integers_refuse_what_does_not_fit),
      cmocka_unit_test(floats_come_back_from_their_text),
      cmocka_unit_test(numbers_are_written_short),
      cmocka_unit_test(doubles_come_back_from_their_text),
      cmocka_unit_test(digits_are_rounded),
      cmocka_unit_test(digits_are_those_of_printf),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
