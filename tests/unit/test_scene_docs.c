// SPDX-License-Identifier: MIT
// docs/scene.schema.json and the reference of keys in docs/scenes.md are what the library writes.
#include "support/documents.h"
#include "yawara/scene.h"

enum { MOST = 1000000 };

static void add_text(void* context, const char* text) {
  char* all = context;
  size_t size = strlen(all), more = strlen(text);
  assert_true(size + more < MOST);
  memcpy(all + size, text, more + 1);
}

// The first line that differs is in the message.
static void assert_same_text(const char* found, const char* expected, size_t size) {
  size_t at = 0, line = 1, begin = 0;
  for (; at < size && found[at] == expected[at]; ++at) {
    if (found[at] == '\n') ++line, begin = at + 1;
  }
  if (at == size) return;
  fail_msg("line %zu is \"%.*s\", but docs/ has \"%.*s\" (scripts/write_scene_docs.sh)", line,
           (int)strcspn(found + begin, "\n"), found + begin, (int)strcspn(expected + begin, "\n"),
           expected + begin);
}

static void schema_is_that_of_the_docs(void** state) {
  (void)state;
  char *found = calloc(1, MOST), *expected = read_document("scene.schema.json");
  yw_scene_write_schema(add_text, found);
  assert_same_text(found, expected, strlen(expected) + 1);
  free(found);
  free(expected);
}

static void keys_are_those_of_the_docs(void** state) {
  (void)state;
  char *found = calloc(1, MOST), *page = read_document("scenes.md");
  yw_scene_write_keys(add_text, found);
  char* begin = strstr(page, "<!-- keys: begin");
  assert_non_null(begin);
  begin = strchr(begin, '\n') + 1;
  char* end = strstr(begin, "<!-- keys: end -->");
  assert_non_null(end);
  assert_int_equal(strlen(found), end - begin);
  assert_same_text(found, begin, strlen(found));
  free(found);
  free(page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(schema_is_that_of_the_docs),
      cmocka_unit_test(keys_are_those_of_the_docs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
