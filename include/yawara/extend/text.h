// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Text helpers: suffixes, and suggestions for misspelt words.
#ifndef YAWARA_EXTEND_TEXT_H
#define YAWARA_EXTEND_TEXT_H

#include "../base.h"

YW_API bool yw_ends_with(const char* text, const char* ending);

/// ' (did you mean "x"?)' if one of the words is close, else "".
typedef struct yw_hint {
  char text[120];
} yw_hint;
YW_API yw_hint yw_suggest(const char* word, int32_t count, const char* const* words);

#endif
