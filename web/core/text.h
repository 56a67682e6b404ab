// SPDX-License-Identifier: MIT
// A text that grows, for JSON that leaves the core.
#ifndef YW_WEB_TEXT_H
#define YW_WEB_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "yawara/extend/error.h"

/// Zero-initialised: empty. Keeps its memory when cleared.
typedef struct text {
  char* data;  ///< zero-terminated once something was added
  size_t size, capacity;
  bool failed;  ///< out of memory: what was added is incomplete
} text;

void text_clear(text* t);
void text_free(text* t);
void text_add(text* t, const char* format, ...) YW_PRINTF(2, 3);
void text_add_bytes(text* t, const void* bytes, size_t size);
/// Adds a JSON string with its quotation marks.
void text_add_string(text* t, const char* value);
/// Adds a JSON number; null where it is not finite, which JSON cannot say.
void text_add_number(text* t, double value);
/// Adds a comma unless an object or a list has just been opened.
void text_add_comma(text* t);

#endif
