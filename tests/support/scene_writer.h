// SPDX-License-Identifier: MIT
// Scenes that tests write piece by piece.
#ifndef YW_TESTS_SUPPORT_SCENE_WRITER_H
#define YW_TESTS_SUPPORT_SCENE_WRITER_H

#include "support/testing.h"
#include "yawara/extend/error.h"

/// Starts with zeros; `bytes` belongs to the caller.
typedef struct scene_writer {
  char* bytes;
  size_t length, room;
} scene_writer;

static inline void say(scene_writer* w, const char* format, ...) YW_PRINTF(2, 3);
static inline void say(scene_writer* w, const char* format, ...) {
  for (int written = -1; written < 0;) {
    size_t left = w->room - w->length;
    va_list list;
    va_start(list, format);
    int wanted = vsnprintf(w->bytes ? w->bytes + w->length : NULL, left, format, list);
    va_end(list);
    assert_true(wanted >= 0);
    if ((size_t)wanted < left) {
      w->length += (size_t)wanted;
      written = wanted;
    } else {
      w->room = 2 * w->room + (size_t)wanted + 1;
      w->bytes = realloc(w->bytes, w->room);
      assert_non_null(w->bytes);
    }
  }
}

#endif
