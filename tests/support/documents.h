// SPDX-License-Identifier: MIT
// Pages of docs/, for tests that compare them with the code.
#ifndef YW_TESTS_SUPPORT_DOCUMENTS_H
#define YW_TESTS_SUPPORT_DOCUMENTS_H

#include "support/testing.h"

/// The whole text of a file under docs/; the caller frees it.
static inline char* read_document(const char* name) {
  enum { MOST = 1000000 };
  char path[500];
  snprintf(path, sizeof path, "%s/docs/%s", YW_SOURCE_DIR, name);
  FILE* file = fopen(path, "rb");
  if (!file) fail_msg("cannot open %s", path);
  char* text = calloc(1, MOST);
  size_t size = fread(text, 1, MOST - 1, file);
  assert_true(size > 0 && size < MOST - 1);
  fclose(file);
  return text;
}

#endif
