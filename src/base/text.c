// SPDX-License-Identifier: MIT
#include "yawara/extend/text.h"

#include <stdio.h>
#include <string.h>

bool yw_ends_with(const char* text, const char* ending) {
  size_t n = strlen(text), k = strlen(ending);
  return n >= k && strcmp(text + n - k, ending) == 0;
}

#define WORD_BYTES 40

// Number of insertions, deletions, substitutions and swaps of neighbours that turn a into b.
static int32_t edit_distance(const char* a, int32_t m, const char* b, int32_t n) {
  int32_t rows[3][WORD_BYTES + 1];
  for (int32_t j = 0; j <= n; j++) rows[0][j] = j;
  for (int32_t i = 1; i <= m; i++) {
    int32_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
    row[0] = i;
    for (int32_t j = 1; j <= n; j++) {
      int32_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
      if (above[j] + 1 < best) best = above[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped && above2[j - 2] + 1 < best) best = above2[j - 2] + 1;
      row[j] = best;
    }
  }
  return rows[m % 3][n];
}

yw_hint yw_suggest(const char* word, int32_t count, const char* const* words) {
  yw_hint hint = {""};
  size_t length = strlen(word);
  if (length > WORD_BYTES) return hint;
  int32_t best = length < 3 ? 1 : 2 + (int32_t)length / 6;
  for (int32_t i = 0; i < count; i++) {
    size_t other = strlen(words[i]);
    if (other > WORD_BYTES) continue;
    int32_t distance = edit_distance(word, (int32_t)length, words[i], (int32_t)other);
    // At least one character must match.
    if (distance > best || (size_t)distance >= length || (size_t)distance >= other) continue;
    if (hint.text[0] && distance == best) continue;
    best = distance;
    snprintf(hint.text, sizeof hint.text, " (did you mean \"%s\"?)", words[i]);
  }
  return hint;
}
