// SPDX-License-Identifier: MIT
// A cursor over a file in memory that reads words and numbers as text, or binary numbers in either
// byte order, so that a format with a text and a binary form needs only one reader. The first error
// is kept with its position: the line in text, the byte in binary data.
#ifndef YW_FILES_TEXT_SCAN_H
#define YW_FILES_TEXT_SCAN_H

#include "yawara/base.h"
#include "yawara/extend/error.h"

typedef enum yw_encoding { YW_TEXT, YW_LITTLE_ENDIAN, YW_BIG_ENDIAN } yw_encoding;

/// How a number is stored; in text only integers and reals are distinguished.
typedef enum yw_scalar {
  YW_INT8,
  YW_UINT8,
  YW_INT16,
  YW_UINT16,
  YW_INT32,
  YW_UINT32,
  YW_INT64,
  YW_UINT64,
  YW_FLOAT32,
  YW_FLOAT64,
  YW_NUM_SCALARS
} yw_scalar;

typedef struct yw_scan {
  const char* name;  ///< of the file, for messages
  const char *begin, *end;
  const char* at;
  const char* mark;  ///< start of the last word or number: where errors point
  yw_encoding encoding;
  char comment;      ///< starts a comment up to the end of the line; 0: none
  char joiner;       ///< before a newline, turns it into a blank (backslash in OBJ); 0: none
  yw_status status;  ///< of the first error
  yw_error* error;   ///< may be NULL
} yw_scan;

/// A piece of the file.
typedef struct yw_span {
  const char *begin, *end;
} yw_span;

void yw_scan_init(yw_scan* scan, const char* path, const char* data, size_t size, yw_error* error);
/// Bytes not yet read.
static inline size_t yw_scan_left(const yw_scan* scan) { return (size_t)(scan->end - scan->at); }
/// Line of a position, from 1. Counts from the start of the file: for messages only.
int64_t yw_scan_line(const yw_scan* scan, const char* place);

/// Records an error at the mark, unless there already is one. Returns false.
bool yw_scan_fail(yw_scan* scan, const char* format, ...) YW_PRINTF(2, 3);
/// Same if out of memory.
bool yw_scan_fail_memory(yw_scan* scan);

/// Next word, on this line or a later one; false at the end of the file (no error).
bool yw_scan_word(yw_scan* scan, yw_span* word);
/// Next word on this line; false at the end of the line.
bool yw_scan_word_on_line(yw_scan* scan, yw_span* word);
/// Skips to the start of the next line.
void yw_scan_skip_line(yw_scan* scan);
/// Next word, which must be this one (case-insensitive).
bool yw_scan_expect(yw_scan* scan, const char* word);

/// Reads one number. `what` names it in the error message.
bool yw_scan_real(yw_scan* scan, yw_scalar type, const char* what, double* out);
bool yw_scan_int(yw_scan* scan, yw_scalar type, const char* what, int64_t* out);
/// In text, the number must be on this line.
bool yw_scan_real_on_line(yw_scan* scan, const char* what, double* out);
bool yw_scan_int_on_line(yw_scan* scan, const char* what, int64_t* out);
/// Reads a count of items that each take at least bytes_each of the remaining bytes (text: 2 with
/// the separator); more than the file can hold is an error.
bool yw_scan_count(yw_scan* scan, yw_scalar type, const char* what, size_t bytes_each,
                   int32_t* out);
/// Same check for a count that was read in another way.
bool yw_scan_check_count(yw_scan* scan, int64_t count, const char* what, size_t bytes_each);
/// Skips count numbers.
bool yw_scan_skip_numbers(yw_scan* scan, yw_scalar type, int64_t count, const char* what);

size_t yw_scalar_size(yw_scalar type);
static inline bool yw_scalar_is_real(yw_scalar type) { return type >= YW_FLOAT32; }

/// Compares with text, case-insensitive.
bool yw_span_is(yw_span span, const char* text);
static inline size_t yw_span_size(yw_span span) { return (size_t)(span.end - span.begin); }
/// For "%.*s": at most 40 characters of the span.
int yw_span_shown(yw_span span);

#endif
