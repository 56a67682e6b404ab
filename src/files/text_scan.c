// SPDX-License-Identifier: MIT
#include "files/text_scan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "yawara/extend/file.h"
#include "yawara/extend/text_number.h"

void yw_scan_init(yw_scan* scan, const char* path, const char* data, size_t size, yw_error* error) {
  *scan = (yw_scan){.name = yw_file_short_name(path),
                    .begin = data,
                    .end = data + size,
                    .at = data,
                    .mark = data,
                    .encoding = YW_TEXT,
                    .error = error};
}

// Errors ------------------------------------------------------------------------------------------

int64_t yw_scan_line(const yw_scan* scan, const char* place) {
  int64_t line = 1;
  for (const char* p = scan->begin; p < place; ++p) line += *p == '\n';
  return line;
}

bool yw_scan_fail(yw_scan* scan, const char* format, ...) {
  if (scan->status != YW_OK) return false;
  char message[600];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  // Words of a damaged file may contain anything; messages are one line of text.
  for (char* p = message; *p; ++p)
    if ((unsigned char)*p < 0x20 || *p == 0x7f) *p = '?';
  if (scan->encoding == YW_TEXT)
    scan->status = yw_fail(scan->error, YW_ERR_FORMAT, "%s:%" PRId64 ": %s", scan->name,
                           yw_scan_line(scan, scan->mark), message);
  else
    scan->status = yw_fail(scan->error, YW_ERR_FORMAT, "%s: byte %" PRIu64 ": %s", scan->name,
                           (uint64_t)(scan->mark - scan->begin), message);
  return false;
}

bool yw_scan_fail_memory(yw_scan* scan) {
  if (scan->status != YW_OK) return false;
  scan->status = yw_fail_memory(scan->error, scan->name);
  return false;
}

// Words -------------------------------------------------------------------------------------------

static inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}
static inline bool is_space(char c) { return is_blank(c) || c == '\n'; }

// Skips to the next word, on this line or a later one.
static bool skip_space(yw_scan* scan) {
  const char* p = scan->at;
  for (;;) {
    while (p < scan->end && is_space(*p)) ++p;
    if (p == scan->end || scan->comment == 0 || *p != scan->comment) break;
    while (p < scan->end && *p != '\n') ++p;
  }
  scan->at = scan->mark = p;
  return p < scan->end;
}

static inline bool is_joiner(const yw_scan* scan, char c) {
  return scan->joiner && c == scan->joiner;
}

// The position after a joiner and the newline it hides, or p itself.
static const char* skip_joiner(const yw_scan* scan, const char* p) {
  if (!is_joiner(scan, *p)) return p;
  const char* next = p + 1;
  if (next < scan->end && *next == '\r') ++next;
  return next < scan->end && *next == '\n' ? next + 1 : p;
}

// Skips to the next word on this line.
static bool skip_blanks(yw_scan* scan) {
  const char* p = scan->at;
  for (const char* next = p; p < scan->end; p = next) {
    next = is_blank(*p) ? p + 1 : skip_joiner(scan, p);
    if (next == p) break;
  }
  scan->at = scan->mark = p;
  return p < scan->end && *p != '\n' && (scan->comment == 0 || *p != scan->comment);
}

static const char* end_of_word(const yw_scan* scan) {
  const char* p = scan->at;
  if (p < scan->end) ++p;  // a word has at least one character, whatever it is
  while (p < scan->end && !is_space(*p) && !is_joiner(scan, *p)) ++p;
  return p;
}

bool yw_scan_word(yw_scan* scan, yw_span* word) {
  if (!skip_space(scan)) return false;
  *word = (yw_span){scan->at, end_of_word(scan)};
  scan->at = word->end;
  return true;
}

bool yw_scan_word_on_line(yw_scan* scan, yw_span* word) {
  if (!skip_blanks(scan)) return false;
  *word = (yw_span){scan->at, end_of_word(scan)};
  scan->at = word->end;
  return true;
}

void yw_scan_skip_line(yw_scan* scan) {
  const char* newline = memchr(scan->at, '\n', yw_scan_left(scan));
  scan->at = newline ? newline + 1 : scan->end;
}

static bool fail_expected(yw_scan* scan, const char* what) {
  if (scan->at == scan->end) return yw_scan_fail(scan, "the file ends where %s is expected", what);
  if (*scan->at == '\n' || (scan->comment && *scan->at == scan->comment))
    return yw_scan_fail(scan, "the line ends where %s is expected", what);
  yw_span word = {scan->at, end_of_word(scan)};
  return yw_scan_fail(scan, "expected %s, found \"%.*s\"", what, yw_span_shown(word), word.begin);
}

bool yw_scan_expect(yw_scan* scan, const char* text) {
  yw_span word;
  if (yw_scan_word(scan, &word)) {
    if (yw_span_is(word, text)) return true;
    scan->at = scan->mark;
  }
  char what[80];
  snprintf(what, sizeof what, "\"%.60s\"", text);
  return fail_expected(scan, what);
}

// Numbers -----------------------------------------------------------------------------------------

size_t yw_scalar_size(yw_scalar type) {
  static const unsigned char sizes[YW_NUM_SCALARS] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  return sizes[type];
}

// A number ends where a word ends.
static bool is_word_end(const yw_scan* scan, const char* p) {
  return p == scan->end || is_space(*p) || is_joiner(scan, *p) ||
         (scan->comment && *p == scan->comment);
}

static bool text_real(yw_scan* scan, const char* what, double* out) {
  const char* next = yw_parse_double(scan->at, scan->end, out);
  if (!next || !is_word_end(scan, next)) return fail_expected(scan, what);
  scan->at = next;
  return true;
}

static bool text_int(yw_scan* scan, const char* what, int64_t* out) {
  const char* next = yw_parse_int(scan->at, scan->end, out);
  if (!next || !is_word_end(scan, next)) return fail_expected(scan, what);
  scan->at = next;
  return true;
}

// Up to eight bytes, as an unsigned number in the file's byte order.
static bool take_bits(yw_scan* scan, yw_scalar type, const char* what, uint64_t* out) {
  size_t size = yw_scalar_size(type);
  scan->mark = scan->at;
  if (yw_scan_left(scan) < size)
    return yw_scan_fail(scan, "the file ends where %s is expected", what);
  const unsigned char* bytes = (const unsigned char*)scan->at;
  uint64_t bits = 0;
  for (size_t i = 0; i < size; ++i)
    bits = bits << 8 | bytes[scan->encoding == YW_BIG_ENDIAN ? i : size - 1 - i];
  scan->at += size;
  *out = bits;
  return true;
}

static int64_t int_of_bits(yw_scalar type, uint64_t bits) {
  switch (type) {
    case YW_INT8:
      return (int8_t)bits;
    case YW_INT16:
      return (int16_t)bits;
    case YW_INT32:
      return (int32_t)bits;
    case YW_UINT64:  // a count or index beyond 63 bits makes no sense
      return bits > INT64_MAX ? INT64_MAX : (int64_t)bits;
    default:
      return (int64_t)bits;
  }
}

static double real_of_bits(yw_scalar type, uint64_t bits) {
  if (type == YW_FLOAT32) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return (double)value;
  }
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

bool yw_scan_real(yw_scan* scan, yw_scalar type, const char* what, double* out) {
  if (scan->status != YW_OK) return false;
  if (scan->encoding == YW_TEXT) {
    skip_space(scan);
    return text_real(scan, what, out);
  }
  uint64_t bits = 0;
  if (!take_bits(scan, type, what, &bits)) return false;
  *out = yw_scalar_is_real(type) ? real_of_bits(type, bits) : (double)int_of_bits(type, bits);
  return true;
}

bool yw_scan_int(yw_scan* scan, yw_scalar type, const char* what, int64_t* out) {
  if (scan->status != YW_OK) return false;
  if (scan->encoding == YW_TEXT && !yw_scalar_is_real(type)) {
    skip_space(scan);
    return text_int(scan, what, out);
  }
  if (yw_scalar_is_real(type)) {
    double value;
    if (!yw_scan_real(scan, type, what, &value)) return false;
    if (!(value >= -9e15 && value <= 9e15) || (double)(int64_t)value != value)
      return yw_scan_fail(scan, "expected %s, found %g", what, value);
    *out = (int64_t)value;
    return true;
  }
  uint64_t bits = 0;
  if (!take_bits(scan, type, what, &bits)) return false;
  *out = int_of_bits(type, bits);
  return true;
}

bool yw_scan_real_on_line(yw_scan* scan, const char* what, double* out) {
  if (scan->status != YW_OK) return false;
  skip_blanks(scan);
  return text_real(scan, what, out);
}

bool yw_scan_int_on_line(yw_scan* scan, const char* what, int64_t* out) {
  if (scan->status != YW_OK) return false;
  skip_blanks(scan);
  return text_int(scan, what, out);
}

bool yw_scan_check_count(yw_scan* scan, int64_t count, const char* what, size_t bytes_each) {
  if (scan->status != YW_OK) return false;
  if (count < 0)
    return yw_scan_fail(scan, "%s is %" PRId64 ", but must not be negative", what, count);
  // The last item of a text needs no separator.
  uint64_t room = (uint64_t)yw_scan_left(scan) + (scan->encoding == YW_TEXT);
  if (count > INT32_MAX || (bytes_each && (uint64_t)count > room / bytes_each))
    return yw_scan_fail(scan, "%s is %" PRId64 ", but the file has only %" PRIu64 " bytes left",
                        what, count, (uint64_t)yw_scan_left(scan));
  return true;
}

bool yw_scan_count(yw_scan* scan, yw_scalar type, const char* what, size_t bytes_each,
                   int32_t* out) {
  int64_t count;
  if (!yw_scan_int(scan, type, what, &count)) return false;
  if (!yw_scan_check_count(scan, count, what, bytes_each)) return false;
  *out = (int32_t)count;
  return true;
}

bool yw_scan_skip_numbers(yw_scan* scan, yw_scalar type, int64_t count, const char* what) {
  if (scan->encoding != YW_TEXT) {
    uint64_t size = yw_scalar_size(type);
    scan->mark = scan->at;
    if (count < 0 || (uint64_t)count > yw_scan_left(scan) / size)
      return yw_scan_fail(scan, "the file ends inside %s", what);
    scan->at += (size_t)((uint64_t)count * size);
    return true;
  }
  double ignored;
  for (int64_t i = 0; i < count; ++i)
    if (!yw_scan_real(scan, type, what, &ignored)) return false;
  return true;
}

// Spans -------------------------------------------------------------------------------------------

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

bool yw_span_is(yw_span span, const char* text) {
  const char* p = span.begin;
  for (; p < span.end && *text; ++p, ++text)
    if (lower(*p) != lower(*text)) return false;
  return p == span.end && *text == '\0';
}

int yw_span_shown(yw_span span) {
  size_t size = yw_span_size(span);
  return (int)(size < 40 ? size : 40);
}
