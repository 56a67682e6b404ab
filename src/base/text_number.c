// SPDX-License-Identifier: MIT
#include "yawara/extend/text_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Reading -----------------------------------------------------------------------------------------

#define LOG10_2 0.30102999566398119521

// Largest power of ten that a double holds exactly.
#define MAX_EXACT_POWER 22
static const double exact_powers[MAX_EXACT_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// value * 10^exponent. Multiplying or dividing by an exact power rounds once; large exponents take
// a few such steps, and dividing last avoids early underflow.
static double scale_by_ten(double value, int32_t exponent) {
  if (exponent > 700) exponent = 700;
  if (exponent < -700) exponent = -700;
  while (exponent > MAX_EXACT_POWER) {
    value *= exact_powers[MAX_EXACT_POWER];
    exponent -= MAX_EXACT_POWER;
  }
  while (exponent < -MAX_EXACT_POWER) {
    value /= exact_powers[MAX_EXACT_POWER];
    exponent += MAX_EXACT_POWER;
  }
  return exponent >= 0 ? value * exact_powers[exponent] : value / exact_powers[-exponent];
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool starts_with_word(const char* at, const char* end, const char* word) {
  size_t length = strlen(word);
  if ((size_t)(end - at) < length) return false;
  for (size_t i = 0; i < length; ++i)
    if ((at[i] | 0x20) != word[i]) return false;
  return true;
}

static const char* parse_not_finite(const char* at, const char* end, double* out) {
  if (starts_with_word(at, end, "nan")) {
    *out = (double)NAN;
    return at + 3;
  }
  *out = (double)INFINITY;
  if (starts_with_word(at, end, "infinity")) return at + 8;
  return starts_with_word(at, end, "inf") ? at + 3 : NULL;
}

// An exponent is e, sign, digits; an e without digits is not part of the number.
static const char* parse_exponent(const char* at, const char* end, int32_t* exponent) {
  const char* p = at + 1;
  bool negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) ++p;
  if (p == end || !is_digit(*p)) return at;
  int32_t value = 0;
  for (; p < end && is_digit(*p); ++p)
    if (value < 100000) value = 10 * value + (*p - '0');
  *exponent += negative ? -value : value;
  return p;
}

const char* yw_parse_double(const char* at, const char* end, double* out) {
  bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) ++at;

  // Up to 19 digits fit in 64 bits; further digits only move the decimal point.
  uint64_t digits = 0;
  int32_t num_digits = 0, exponent = 0;
  bool any = false, point = false;
  for (; at < end; ++at) {
    if (is_digit(*at)) {
      any = true;
      if (num_digits < 19) {
        digits = 10 * digits + (uint64_t)(*at - '0');
        num_digits += digits != 0;
        exponent -= point;
      } else if (!point && exponent < 100000) {
        ++exponent;
      }
    } else if (*at == '.' && !point) {
      point = true;
    } else {
      break;
    }
    if (exponent < -100000) exponent = -100000;
  }
  if (!any) {
    if (point) return NULL;
    at = parse_not_finite(at, end, out);
    if (at && negative) *out = -*out;
    return at;
  }
  if (at < end && (*at == 'e' || *at == 'E')) at = parse_exponent(at, end, &exponent);
  double value = digits ? scale_by_ten((double)digits, exponent) : 0.0;
  *out = negative ? -value : value;
  return at;
}

const char* yw_parse_int(const char* at, const char* end, int64_t* out) {
  bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) ++at;
  if (at == end || !is_digit(*at)) return NULL;
  int64_t value = 0;
  for (; at < end && is_digit(*at); ++at) {
    int64_t digit = *at - '0';
    if (value > (INT64_MAX - digit) / 10) return NULL;
    value = 10 * value + digit;
  }
  *out = negative ? -value : value;
  return at;
}

// Writing -----------------------------------------------------------------------------------------

#define MAX_DIGITS 20

// The digits of a number, without zeros at its end, which are counted. Returns where they begin in
// `room`; at least one is there.
static const char* split_digits(uint64_t digits, char room[MAX_DIGITS], int32_t* count,
                                int32_t* zeros) {
  char* first = room + MAX_DIGITS;
  while (digits >= 100) {
    uint64_t rest = digits / 100;
    uint32_t two = (uint32_t)(digits - 100 * rest);
    *--first = (char)('0' + two % 10);
    *--first = (char)('0' + two / 10);
    digits = rest;
  }
  *--first = (char)('0' + digits % 10);
  if (digits >= 10) *--first = (char)('0' + digits / 10);
  const char* last = room + MAX_DIGITS - 1;
  while (last > first && *last == '0') --last;
  *count = (int32_t)(last - first) + 1;
  *zeros = (int32_t)(room + MAX_DIGITS - 1 - last);
  return first;
}

static char* put_text(char* p, const char* text, int32_t count) {
  memcpy(p, text, (size_t)count);
  return p + count;
}

static char* put_exponent(char* p, int32_t exponent) {
  char room[MAX_DIGITS];
  int32_t count, zeros;
  const char* d =
      split_digits((uint64_t)(exponent < 0 ? -exponent : exponent), room, &count, &zeros);
  *p++ = 'e';
  if (exponent < 0) *p++ = '-';
  return put_text(p, d, count + zeros);
}

// digits times 10^exponent, in plain notation if that is short, else with an exponent.
static size_t put_digits(bool negative, uint64_t digits, int32_t exponent, char* text) {
  static const char nine_zeros[] = "000000000";
  char room[MAX_DIGITS];
  int32_t num_digits, zeros;
  const char* d = split_digits(digits, room, &num_digits, &zeros);
  exponent = digits == 0 ? 0 : exponent + zeros;
  int32_t point = num_digits + exponent;  // digits before the decimal point
  char* p = text;
  if (negative) *p++ = '-';
  if (point > 9 || point < -3) {
    *p++ = d[0];
    if (num_digits > 1) *p++ = '.';
    p = put_text(p, d + 1, num_digits - 1);
    p = put_exponent(p, point - 1);
  } else if (point <= 0) {
    p = put_text(p, "0.", 2);
    p = put_text(p, nine_zeros, -point);
    p = put_text(p, d, num_digits);
  } else if (point >= num_digits) {
    p = put_text(p, d, num_digits);
    p = put_text(p, nine_zeros, point - num_digits);
  } else {
    p = put_text(p, d, point);
    *p++ = '.';
    p = put_text(p, d + point, num_digits - point);
  }
  *p = '\0';
  return (size_t)(p - text);
}

static size_t put_not_finite(double value, char* text) {
  const char* word = isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  size_t length = strlen(word);
  memcpy(text, word, length + 1);
  return length;
}

// The digits of a positive number, in [10^(n-1), 10^n), and the power of ten that they are times.
static uint64_t take_digits(double magnitude, int32_t n, int32_t* exponent) {
  int binary;
  frexp(magnitude, &binary);
  // The power of two gives the power of ten, or one below.
  *exponent = (int32_t)floor((binary - 1) * LOG10_2) - (n - 1);
  double scaled = scale_by_ten(magnitude, -*exponent);
  while (scaled >= exact_powers[n] - 0.5) scaled = scale_by_ten(magnitude, -(++*exponent));
  return (uint64_t)(scaled + 0.5);
}

size_t yw_format_digits(double value, int32_t digits, char text[YW_NUMBER_TEXT]) {
  if (!isfinite(value)) return put_not_finite(value, text);
  int32_t exponent = 0, n = digits < 1 ? 1 : digits > 15 ? 15 : digits;
  double magnitude = fabs(value);
  if (magnitude == 0.0) {
    // Much of what is measured.
    size_t length = signbit(value) ? 2 : 1;
    memcpy(text, signbit(value) ? "-0" : "0", length + 1);
    return length;
  }
  uint64_t taken = take_digits(magnitude, n, &exponent);
  return put_digits(signbit(value) != 0, taken, exponent, text);
}

size_t yw_format_float(float value, char text[YW_NUMBER_TEXT]) {
  if (!isfinite(value)) return put_not_finite((double)value, text);
  double magnitude = fabs((double)value);
  bool negative = signbit(value) != 0;
  if (magnitude == 0.0) return put_digits(negative, 0, 0, text);

  // Nine digits always identify one float.
  int binary;
  int32_t exponent;
  double fraction = frexp(magnitude, &binary);
  uint64_t digits = take_digits(magnitude, 9, &exponent);

  // Fewer digits suffice if they stay within half the distance to the next float, which is smaller
  // below a power of two.
  double room = 0.99 * ldexp(1.0, (binary > -125 ? binary : -125) - 25);
  if (fraction == 0.5) room *= 0.5;
  uint64_t power = 1000;
  for (int32_t fewer = 6; fewer < 9; ++fewer, power /= 10) {
    uint64_t rounded = (digits + power / 2) / power;
    if (fabs(scale_by_ten((double)(rounded * power), exponent) - magnitude) <= room) {
      digits = rounded;
      exponent += 9 - fewer;
      break;
    }
  }
  return put_digits(negative, digits, exponent, text);
}

size_t yw_format_double(double value, char text[YW_NUMBER_TEXT]) {
  if (!isfinite(value)) return put_not_finite(value, text);
  size_t length = 0;
  double back = (double)NAN;
  for (int32_t precision = 15; precision <= 17 && back != fabs(value); ++precision) {
    char printed[YW_NUMBER_TEXT];
    snprintf(printed, sizeof printed, "%.*e", (int)precision - 1, fabs(value));
    // strtod follows the same locale and, unlike yw_parse_double, rounds correctly.
    back = strtod(printed, NULL);
    // The decimal point depends on the locale, so only digits are read.
    uint64_t digits = 0;
    const char* p = printed;
    for (; *p && *p != 'e'; ++p)
      if (is_digit(*p)) digits = 10 * digits + (uint64_t)(*p - '0');
    int32_t exponent = 0;
    parse_exponent(p, printed + strlen(printed), &exponent);
    length = put_digits(signbit(value) != 0, digits, exponent - precision + 1, text);
  }
  return length;
}
