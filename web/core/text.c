// SPDX-License-Identifier: MIT
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_clear(text* t) {
  t->size = 0;
  t->failed = false;
  if (t->data) t->data[0] = '\0';
}

void text_free(text* t) {
  free(t->data);
  *t = (text){0};
}

static bool reserve(text* t, size_t extra) {
  size_t needed = t->size + extra + 1;
  if (needed <= t->capacity) return true;
  size_t capacity = needed > 2 * t->capacity ? needed : 2 * t->capacity;
  char* data = realloc(t->data, capacity);
  if (!data) {
    t->failed = true;
    return false;
  }
  t->data = data;
  t->capacity = capacity;
  return true;
}

void text_add(text* t, const char* format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length >= 0 && reserve(t, (size_t)length)) {
    vsnprintf(t->data + t->size, (size_t)length + 1, format, again);
    t->size += (size_t)length;
  }
  va_end(again);
}

void text_add_bytes(text* t, const void* bytes, size_t size) {
  if (!reserve(t, size)) return;
  if (size > 0) memcpy(t->data + t->size, bytes, size);
  t->size += size;
  t->data[t->size] = '\0';
}

void text_add_string(text* t, const char* value) {
  text_add(t, "\"");
  for (const char* c = value ? value : ""; *c; ++c) {
    if (*c == '"' || *c == '\\') {
      text_add(t, "\\%c", *c);
    } else if ((unsigned char)*c < 0x20) {
      text_add(t, "\\u%04x", (unsigned)(unsigned char)*c);
    } else {
      text_add(t, "%c", *c);
    }
  }
  text_add(t, "\"");
}

void text_add_number(text* t, double value) {
  if (isfinite(value)) {
    text_add(t, "%.9g", value);
  } else {
    text_add(t, "null");
  }
}

void text_add_comma(text* t) {
  if (t->size == 0) return;
  char last = t->data[t->size - 1];
  if (last != '{' && last != '[') text_add(t, ",");
}
