// SPDX-License-Identifier: MIT
// Messages and requests of strangers to yawara view: truncated, mutated, made up. They may be
// refused or accepted, but what is accepted is within bounds, and no name leaves its folder.
#include "server/request.h"
#include "server/scene_guard.h"
#include "support/viewer_messages.h"

static uint32_t seed = 5;
static uint32_t draw(uint32_t limit) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % limit;
}

// Parses a copy of exactly this size, so that a sanitizer sees every byte read beyond it.
static bool parse(const char* bytes, size_t size, viewer_command* out) {
  char* copy = malloc(size + (size == 0));
  memcpy(copy, bytes, size);
  yw_error error = {0};
  bool good = viewer_command_parse(copy, size, out, &error) >= 0;
  if (good) {
    check_bounds(out);
  } else {
    assert_true(error.message[0] != '\0');
  }
  free(copy);
  return good;
}

static void messages_mean_what_they_say(void** state) {
  (void)state;
  viewer_command c;
  for (int i = 0; i < NUM_MESSAGES; ++i) {
    if (!parse(messages[i], strlen(messages[i]), &c)) fail_msg("refused: %s", messages[i]);
  }
  assert_true(parse(messages[3], strlen(messages[3]), &c));
  assert_int_equal(c.kind, COMMAND_GRAB);
  assert_int_equal(c.body, 1);
  assert_float_equal(c.at.y, -1e-3f, 0.0f);
  assert_true(parse(messages[9], strlen(messages[9]), &c));
  assert_string_equal(c.changes, "bodies[0].fem.material\t\"stvk\"\n");
  assert_true(parse(messages[12], strlen(messages[12]), &c));
  assert_true(c.contacts && !c.axes && c.cut && c.skins && !c.slaves);
  assert_float_equal(c.offset, -0.5f, 0.0f);
  assert_true(parse(messages[15], strlen(messages[15]), &c));
  assert_true(c.kind == COMMAND_POSE_HOLD && c.grip.mirror && !c.grip.brush);
  assert_true(parse(messages[17], strlen(messages[17]), &c));
  assert_int_equal(c.action, 2);
}

// A binary message: the length of its JSON, the JSON, and what it carries.
static bool parse_loaded(uint32_t length, const char* json, const char* load, size_t load_size,
                         viewer_command* out) {
  size_t size = strlen(json);
  char* bytes = malloc(4 + size + load_size);
  for (int k = 0; k < 4; ++k) bytes[k] = (char)(length >> (8 * k));
  memcpy(bytes + 4, json, size);
  memcpy(bytes + 4 + size, load, load_size);
  yw_error error = {0};
  bool good = viewer_command_parse_loaded(bytes, 4 + size + load_size, out, &error) >= 0;
  assert_true(good == (error.message[0] == '\0'));
  free(bytes);
  return good;
}

static void only_some_messages_carry_bytes(void** state) {
  (void)state;
  static const char open[] = "{\"do\":\"open\",\"until\":-1,\"changes\":[]}";
  static const char pose[] = "{\"do\":\"pose-load\"}", step[] = "{\"do\":\"step\"}";
  uint32_t length = (uint32_t)strlen(open);
  viewer_command c;
  assert_true(parse_loaded(length, open, "{}", 2, &c));
  assert_int_equal(c.load_size, 2);
  assert_string_equal(c.load, "{}");
  viewer_command_free(&c);
  assert_null(c.load);
  assert_false(parse_loaded(length, open, "{\0}", 3, &c));
  assert_false(parse_loaded(length + 3, open, "{}", 2, &c));
  assert_false(parse_loaded(0xffffffffu, open, "{}", 2, &c));
  assert_true(parse_loaded((uint32_t)strlen(pose), pose, "12345678", 8, &c));
  viewer_command_free(&c);
  assert_false(parse_loaded((uint32_t)strlen(pose), pose, "1234567", 7, &c));
  assert_false(parse_loaded((uint32_t)strlen(step), step, "1234", 4, &c));
  assert_false(viewer_command_parse_loaded("abc", 3, &c, NULL) >= 0);
}

// Viewers may edit a scene, but not choose what the program reads.
static void edited_scenes_name_no_other_files(void** state) {
  (void)state;
  static const char own[] = "{ \"bodies\": [{ \"mesh\": { \"file\": \"cow.obj\" } }] }";
  static const char* const good[] = {
      own,
      ("{ \"name\": \"a/b.c\", \"bodies\": [{ \"mesh\": { \"file\": \"cow.obj\" }, \"as\": "
       "\"jelly\","
       "\"examples\": [{ \"name\": \"pose 1\", \"positions\": \"AA/+==\" }] }] }"),
      "{ \"groups\": { \"painted\": \"a/b=\" }, \"fields\": [{ \"painted\": { \"values\": \"a/\" } "
      "}] }",
  };
  static const char* const bad[] = {
      "{ \"bodies\": [{ \"mesh\": { \"file\": \"bull.obj\" } }] }",
      "{ \"bodies\": [{ \"mesh\": { \"file\": \"/etc/passwd\" } }] }",
      "{ \"bodies\": [{ \"examples\": [\"../secret\"] }] }",
      "{ \"bodies\": [{ \"mesh\": { \"file\": \"cow.ob\\u006a2\" } }] }",
      "{ not a scene",
  };
  for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
    yw_error error = {0};
    if (scene_guard_check(own, good[i], &error) < 0) fail_msg("refused: %s", error.message);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    yw_error error = {0};
    if (scene_guard_check(own, bad[i], &error) >= 0) fail_msg("accepted: %s", bad[i]);
    assert_true(error.message[0] != '\0');
  }
}

static void values_out_of_bounds_are_refused(void** state) {
  (void)state;
  static const char* const bad[] = {
      "",
      "null",
      "[]",
      "{}",
      "{\"do\":1}",
      "{\"do\":\"join\"}",
      "{\"do\":\"play\"}",
      "{\"do\":\"speed\",\"factor\":11}",
      "{\"do\":\"grab\",\"body\":-1,\"at\":[0,0,0]}",
      "{\"do\":\"grab\",\"body\":0.5,\"at\":[0,0,0]}",
      "{\"do\":\"grab\",\"body\":1e10,\"at\":[0,0,0]}",
      "{\"do\":\"grab\",\"body\":0,\"at\":[0,0]}",
      "{\"do\":\"drag\",\"to\":[0,0,1e10]}",
      "{\"do\":\"drag\",\"to\":[0,0,null]}",
      "{\"do\":\"set\",\"body\":0,\"key\":\"beta\",\"value\":0.5}",
      "{\"do\":\"set\",\"body\":0,\"key\":\"file\",\"value\":\"\\\"../secret\\\"\"}",
      "{\"do\":\"set\",\"body\":0,\"key\":\"a\\nb\",\"value\":\"1\"}",
      "{\"do\":\"open\",\"until\":-2,\"changes\":[]}",
      "{\"do\":\"open\",\"until\":0,\"changes\":[{\"path\":\"a\\tb\",\"value\":\"1\"}]}",
      "{\"do\":\"open\",\"until\":0,\"changes\":[{\"path\":\"a\",\"value\":\"{}\"}]}",
      "{\"do\":\"inside\",\"contacts\":true}",
      ("{\"do\":\"inside\",\"contacts\":1,\"axes\":false,\"cut\":true,\"skins\":true,"
       "\"slaves\":false,\"normal\":[1,0,0],\"offset\":0}"),
      "{\"do\":\"examples\",\"body\":-1}",
      "{\"do\":\"frame\",\"number\":-1}",
      "{\"do\":\"pose-begin\",\"body\":0,\"example\":-2}",
      "{\"do\":\"pose-hold\",\"grip\":[]}",
      "{\"do\":\"pose-move\",\"id\":1,\"motion\":{\"offset\":[0,0,0],\"turn\":[0,0,0],\"scale\":1}"
      "}",
      "{\"do\":\"pose-act\",\"what\":\"burn\",\"id\":0}",
      "{\"do\":\"pose-deform\",\"amounts\":[0],\"axis\":[0,1,0]}",
      "{\"do\":\"paint-dab\",\"at\":[0,0,0],\"radius\":0,\"value\":1,\"softness\":0}",
  };
  viewer_command c;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    if (parse(bad[i], strlen(bad[i]), &c)) fail_msg("accepted: %s", bad[i]);
  }
  static char huge[COMMAND_MAX_BYTES + 1];
  memset(huge, ' ', sizeof huge);
  memcpy(huge, "{\"do\":\"step\"}", 13);
  assert_true(parse(huge, sizeof huge - 1, &c));
  assert_false(parse(huge, sizeof huge, &c));
}

static void damaged_messages_do_no_harm(void** state) {
  (void)state;
  viewer_command c;
  int accepted = 0;
  for (int i = 0; i < NUM_MESSAGES; ++i) {
    size_t size = strlen(messages[i]);
    for (size_t cut = 0; cut < size; ++cut) accepted += parse(messages[i], cut, &c);
    assert_int_equal(accepted, 0);
  }
  for (int round = 0; round < 20000; ++round) {
    char bytes[256];
    const char* from = messages[draw(NUM_MESSAGES)];
    size_t size = strlen(from);
    memcpy(bytes, from, size);
    uint32_t changes = 1 + draw(3);
    for (uint32_t k = 0; k < changes; ++k) {
      static const char likely[] = "0123456789-+.eE\"{}[]:,\\/tn\t ";
      uint32_t at = draw((uint32_t)size), which = draw(4 * (uint32_t)(sizeof likely - 1));
      bytes[at] = which < sizeof likely - 1 ? likely[which] : (char)draw(256);
    }
    accepted += parse(bytes, size, &c);
  }
  // Most damage breaks the JSON, but numbers change into others.
  assert_in_range(accepted, 100, 10000);
}

// A name that is called safe, put behind a folder, has no part that leads elsewhere.
static void names_do_not_leave_the_folder(void** state) {
  (void)state;
  static const char letters[] = "ab./-_%\\ \x80:~";
  int safe = 0;
  for (int round = 0; round < 200000; ++round) {
    char name[12];
    uint32_t length = draw(sizeof name);
    for (uint32_t i = 0; i < length; ++i) name[i] = letters[draw(sizeof letters - 1)];
    name[length] = '\0';
    request_media_type(name);
    if (!request_is_safe_file(name)) continue;
    ++safe;
    assert_true(name[0] != '/' && name[0] != '\0');
    assert_null(strpbrk(name, "%\\ \x80:~"));
    for (char* part = strtok(name, "/"); part; part = strtok(NULL, "/")) assert_true(*part != '.');
  }
  assert_true(safe > 1000);
}

static void headers_do_no_harm(void** state) {
  (void)state;
  static const char letters[] = "127.0.0.1:8000localhost[]/http";
  char token[REQUEST_TOKEN_DIGITS + 1];
  assert_true(request_make_token(token));
  for (int round = 0; round < 100000; ++round) {
    char text[48], other[48];
    char* both[2] = {text, other};
    for (int k = 0; k < 2; ++k) {
      uint32_t length = draw(sizeof text);
      for (uint32_t i = 0; i < length; ++i) both[k][i] = letters[draw(sizeof letters - 1)];
      both[k][length] = '\0';
    }
    // Nobody guesses the token, and a host is own only if it ends in the port.
    assert_null(request_part(text, token));
    if (request_is_own_host(text, 8000, draw(2) == 0)) assert_non_null(strstr(text, ":8000"));
    if (request_is_own_origin(text, other)) assert_string_equal(text + 7, other);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(messages_mean_what_they_say),
      cmocka_unit_test(values_out_of_bounds_are_refused),
      cmocka_unit_test(only_some_messages_carry_bytes),
      cmocka_unit_test(edited_scenes_name_no_other_files),
      cmocka_unit_test(damaged_messages_do_no_harm),
      cmocka_unit_test(names_do_not_leave_the_folder),
      cmocka_unit_test(headers_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
