// SPDX-License-Identifier: MIT
// Scenes that are truncated, changed at random, or hostile: an error with a location, or a scene;
// never a crash or a hang. Bodies of every method; meshes are small, so that valid scenes are
// cheap.
#include "support/testing.h"
#include "support/varied_scene.h"
#include "yawara/extend/timer.h"
#include "yawara/yawara.h"

// Reads a text; an error must have a location or be about memory. True if it is a scene.
static bool try_text(const char* text, size_t size) {
  yw_scene* scene = NULL;
  yw_error error = {0};
  yw_scene_def def = yw_default_scene_def();
  def.path = "f.json";
  def.text = text;
  def.size = size;
  yw_status status = yw_scene_read(&def, &scene, NULL, &error);
  if (status < 0) {
    assert_null(scene);
    if (strncmp(error.message, "f.json:", 7) != 0) fail_msg("no place in: %s", error.message);
  } else {
    assert_non_null(scene);
  }
  yw_scene_destroy(scene);
  return status >= 0;
}

// A scene to be damaged, and the parts of its text that must stay as they are, or a number could
// become so large that building takes long.
typedef struct base {
  const char* text;
  int32_t rounds;  // of changes
  const char* cheap[12];
} base;

static const base bases[] = {
    {varied_scene,
     4000,
     {"\"size\": 0.4}}, \"den", "\"cells\": [1, 2, 1]", "\"radius\": 0.5}", "\"count\": [2, 1, 1]",
      "[0.4, 0, 0]", "\"smooth\": 0.1,", "\"size\": [1, 1, 1]"}},
    {varied_methods,
     2000,
     {"\"size\": 0.4, \"cells\": [2, 1, 1]}}", "\"size\": 0.4, \"cells\": [1, 1, 2]}}",
      "\"max_level\": 1,", "\"size\": 0.2}}, \"pos", "\"spacing\": 0.1,", "\"count\": 5}",
      "\"from\": [3, 0, 0], \"to\": [3.4, 0, 0]", "\"across\": 2, \"along\": 2}, ",
      "\"radius\": 0.2}}", "\"rigid\": {\"size\": 0.1}"}}};
enum { NUM_BASES = sizeof bases / sizeof *bases };

static bool is_cheap(const base* b, const char* text) {
  for (int k = 0; k < 12 && b->cheap[k]; ++k) {
    if (!strstr(text, b->cheap[k])) return false;
  }
  return true;
}

static void the_scenes_themselves_are_valid(void** state) {
  (void)state;
  for (int k = 0; k < NUM_BASES; ++k) {
    assert_true(is_cheap(&bases[k], bases[k].text));
    assert_true(try_text(bases[k].text, strlen(bases[k].text)));
  }
}

static void a_scene_cut_off_at_any_byte_is_an_error(void** state) {
  (void)state;
  for (int k = 0; k < NUM_BASES; ++k) {
    size_t size = strlen(bases[k].text);
    // The last two bytes are the closing brace and the end of the line.
    for (size_t length = 0; length < size - 2; length++) {
      // A copy of exactly this length, so that the sanitizer detects reading past it.
      char* text = malloc(length + 1);
      memcpy(text, bases[k].text, length);
      text = realloc(text, length ? length : 1);
      if (try_text(text, length)) fail_msg("accepted when cut off after %zu bytes", length);
      free(text);
    }
  }
}

// Replaces, removes or inserts a letter.
static void change_a_letter(test_random* random, char* text, size_t* length) {
  static const char alphabet[] = "{}[]\",:0123456789.eE+-truefalsn\\/* \n\x80\xff\x01";
  size_t at = test_random_u32(random) % *length;
  char letter = alphabet[test_random_u32(random) % (sizeof alphabet - 1)];
  switch (test_random_u32(random) % 3) {
    case 0:
      text[at] = letter;
      break;
    case 1:
      memmove(text + at, text + at + 1, *length - at);
      --*length;
      break;
    default:
      memmove(text + at + 1, text + at, *length - at + 1);
      text[at] = letter;
      ++*length;
  }
}

static void random_changes_never_crash(void** state) {
  (void)state;
  for (int k = 0; k < NUM_BASES; ++k) {
    size_t size = strlen(bases[k].text);
    char* text = malloc(size + 32);
    test_random random = {2024};
    int accepted = 0;
    for (int round = 0; round < bases[k].rounds; round++) {
      memcpy(text, bases[k].text, size + 1);
      size_t length = size;
      int changes = 1 + (int)(test_random_u32(&random) % 4);
      for (int c = 0; c < changes; c++) change_a_letter(&random, text, &length);
      if (is_cheap(&bases[k], text)) accepted += try_text(text, length);
    }
    free(text);
    assert_true(accepted > 10);
  }
}

// Moves whole pieces between commas and brackets: often still valid JSON.
static void shuffled_pieces_never_crash(void** state) {
  (void)state;
  for (int k = 0; k < NUM_BASES; ++k) {
    const char* whole = bases[k].text;
    size_t size = strlen(whole);
    char* text = malloc(2 * size + 1);
    test_random random = {77};
    int rounds = getenv("YW_TEST_FAST") ? 600 : bases[k].rounds / 2;
    for (int round = 0; round < rounds; round++) {
      size_t from = test_random_u32(&random) % size, to = test_random_u32(&random) % size;
      while (from > 0 && !strchr(",[{", whole[from - 1])) from--;
      while (to > 0 && !strchr(",[{", whole[to - 1])) to--;
      size_t length = strcspn(whole + from, ",]}");
      memcpy(text, whole, to);
      size_t used = to;
      memcpy(text + used, whole + from, length);
      used += length;
      size_t skip = round % 2 ? strcspn(whole + to, ",]}") : 0;
      if (!skip) text[used++] = ',';
      memcpy(text + used, whole + to + skip, size - to - skip + 1);
      if (is_cheap(&bases[k], text)) try_text(text, strlen(text));
    }
    free(text);
  }
}

static void deep_nesting_is_refused_at_once(void** state) {
  (void)state;
  static const char* const openings[] = {"[", "{\"bodies\":", "{\"bodies\":[", "/*", "\"\\"};
  size_t size = (size_t)4 << 20;
  char* text = malloc(size + 1);
  for (size_t k = 0; k < sizeof openings / sizeof *openings; k++) {
    size_t step = strlen(openings[k]);
    for (size_t i = 0; i < size; i++) text[i] = openings[k][i % step];
    double start = yw_seconds();
    assert_false(try_text(text, size));
    assert_at_most(yw_seconds() - start, 5.0);
  }
  free(text);
}

// 2 MB of bodies, obstacles, shapes or keys that must all be checked.
static void long_lists_take_time_in_proportion(void** state) {
  (void)state;
  static const char* const items[] = {"{\"bodies\": [%s{}]}",
                                      "{},",
                                      "{\"bodies\": [], \"obstacles\": [%s{}]}",
                                      "{},",
                                      "{\"gravity\": [%s0], \"bodies\": []}",
                                      "1,",
                                      "{\"bodies\": [{\"shape\": \"x\"}], \"camera\": [%s0]}",
                                      "[],"};
  for (int k = 0; k < 8; k += 2) {
    const char* hole = strstr(items[k], "%s");
    size_t step = strlen(items[k + 1]), count = 2000000 / step;
    size_t head = (size_t)(hole - items[k]), size = head + count * step + strlen(hole + 2);
    char* text = malloc(size + 1);
    memcpy(text, items[k], head);
    for (size_t i = 0; i < count; i++) memcpy(text + head + i * step, items[k + 1], step);
    strcpy(text + head + count * step, hole + 2);
    double start = yw_seconds();
    assert_false(try_text(text, size));
    assert_at_most(yw_seconds() - start, 20.0);
    free(text);
  }
}

static void hostile_overrides_are_errors(void** state) {
  (void)state;
  test_random random = {5};
  static const char alphabet[] = "bodies[0].match\"]x{}9,:\\ ";
  for (int round = 0; round < 5000; round++) {
    char path[40], value[20];
    size_t path_length = test_random_u32(&random) % 39,
           value_length = test_random_u32(&random) % 19;
    for (size_t i = 0; i < path_length; i++) {
      path[i] = alphabet[test_random_u32(&random) % (sizeof alphabet - 1)];
    }
    for (size_t i = 0; i < value_length; i++) {
      value[i] = alphabet[test_random_u32(&random) % (sizeof alphabet - 1)];
    }
    path[path_length] = value[value_length] = '\0';
    const char* text = "{\"bodies\": [{\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 1}}}]}";
    yw_scene_override override = {path, value};
    yw_scene* scene = NULL;
    yw_error error = {0};
    yw_scene_def def = yw_default_scene_def();
    def.path = "f.json";
    def.text = text;
    def.size = strlen(text);
    def.overrides = &override;
    def.num_overrides = 1;
    yw_status status = yw_scene_read(&def, &scene, NULL, &error);
    if (status < 0) assert_true(error.message[0] != '\0');
    yw_scene_destroy(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_scenes_themselves_are_valid),
      cmocka_unit_test(a_scene_cut_off_at_any_byte_is_an_error),
      cmocka_unit_test(random_changes_never_crash),
      cmocka_unit_test(shuffled_pieces_never_crash),
      cmocka_unit_test(deep_nesting_is_refused_at_once),
      cmocka_unit_test(long_lists_take_time_in_proportion),
      cmocka_unit_test(hostile_overrides_are_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
