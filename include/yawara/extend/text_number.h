// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Numbers as text, independent of the locale (strtod and printf follow the host program's).
#ifndef YAWARA_EXTEND_TEXT_NUMBER_H
#define YAWARA_EXTEND_TEXT_NUMBER_H

#include "../base.h"

/// Room for any number and the terminating 0.
#define YW_NUMBER_TEXT 40

/// Reads a decimal number, "inf" or "nan" (any case, optional sign) from [at, end). Returns a
/// pointer past it, or NULL if there is none. Exact for up to 15 digits with an exponent of at most
/// 22 in magnitude, otherwise within a few units in the last place; overflow gives infinity.
YW_API const char* yw_parse_double(const char* at, const char* end, double* out);
/// Reads an integer with optional sign. Returns NULL if there is none or it needs over 63 bits.
YW_API const char* yw_parse_int(const char* at, const char* end, int64_t* out);

/// Shortest decimal of at most 9 digits that reads back as the same float. Returns the length.
YW_API size_t yw_format_float(float value, char text[YW_NUMBER_TEXT]);
/// Rounded to at most 15 digits; ties may go either way. Ten times as fast as yw_format_double.
YW_API size_t yw_format_digits(double value, int32_t digits, char text[YW_NUMBER_TEXT]);
/// 15 to 17 digits, the fewest from which a correctly rounding reader recovers the same double.
YW_API size_t yw_format_double(double value, char text[YW_NUMBER_TEXT]);

#endif
