// SPDX-License-Identifier: MIT
#include "support/counted_memory.h"
#include "support/guarded.h"
#include "yawara/extend/error.h"
#include "yawara/extend/json.h"
#include "yawara/extend/timer.h"

static yw_json_doc* parse(const char* text) {
  yw_json_doc* doc = NULL;
  yw_error error = {0};
  yw_status status = yw_json_parse(NULL, "a.json", text, strlen(text), &doc, &error);
  if (status != YW_OK) fail_msg("%s", error.message);
  return doc;
}

static void expect_error(const char* text, const char* message) {
  yw_json_doc* doc = NULL;
  yw_error error = {0};
  yw_status status = yw_json_parse(NULL, "a.json", text, strlen(text), &doc, &error);
  if (status >= 0) fail_msg("accepted: %s", text);
  assert_null(doc);
  assert_string_equal(error.message, message);
}

static double number_of(const char* text) {
  yw_json_doc* doc = parse(text);
  double value = yw_json_root(doc)->number;
  assert_int_equal(yw_json_root(doc)->type, YW_JSON_NUMBER);
  yw_json_free(doc);
  return value;
}

static void every_kind_of_value_is_read(void** state) {
  (void)state;
  yw_json_doc* doc = parse("{\"a\": [1, -2.5e1, true, false, null], \"b\": {\"c\": \"x\"}}");
  const yw_json* root = yw_json_root(doc);
  const yw_json* a = yw_json_get(root, "a");
  assert_int_equal(a->count, 5);
  assert_true(a->items[0]->number == 1.0);
  assert_true(a->items[1]->number == -25.0);
  assert_true(a->items[2]->boolean);
  assert_false(a->items[3]->boolean);
  assert_int_equal(a->items[4]->type, YW_JSON_NULL);
  assert_string_equal(yw_json_get(yw_json_get(root, "b"), "c")->string, "x");
  assert_null(yw_json_get(root, "d"));
  assert_null(yw_json_get(a, "d"));
  assert_null(yw_json_get(NULL, "d"));
  yw_json_free(doc);
}

static void nodes_know_their_place_and_path(void** state) {
  (void)state;
  yw_json_doc* doc = parse(
      "{ // first\n  \"bodies\": [\n    { \"m\u00e4tch\": 3, /* \n */ \"my key\": {\"x\": 1} } ] "
      "}");
  const yw_json* body = yw_json_get(yw_json_root(doc), "bodies")->items[0];
  const yw_json* match = yw_json_get(body, "m\u00e4tch");
  assert_int_equal(match->line, 3);
  assert_int_equal(match->key_column, 7);
  assert_int_equal(match->column, 16);
  const yw_json* x = yw_json_get(yw_json_get(body, "my key"), "x");
  assert_int_equal(x->line, 4);
  assert_int_equal(x->column, 21);
  char path[100];
  yw_json_path(x, path, sizeof path);
  assert_string_equal(path, "bodies[0][\"my key\"].x");
  yw_json_path(match, path, sizeof path);
  assert_string_equal(path, "bodies[0].m\u00e4tch");
  yw_json_path(yw_json_root(doc), path, sizeof path);
  assert_string_equal(path, "the scene");
  yw_json_path(x, path, 6);
  assert_string_equal(path, "bodie");
  yw_json_free(doc);
}

static void numbers_are_the_nearest_doubles(void** state) {
  (void)state;
  static const char* const texts[] = {"0",
                                      "-0",
                                      "0.1",
                                      "1.7",
                                      "-9.81",
                                      "1e22",
                                      "1e23",
                                      "123456789012345678",
                                      "1234567890123456789012345",
                                      "18446744073709551617",  // 2^64 + 1
                                      "2.2250738585072014e-308",
                                      "4.9e-324",
                                      "1e-400",
                                      "1.7976931348623157e308",
                                      "9007199254740993",
                                      "0.000000000000000000000000000012345",
                                      "3.14159265358979323846",
                                      "100000000000000000000000e-22",
                                      "1E+2",
                                      "0e99999999999"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    double value = number_of(texts[i]), expected = strtod(texts[i], NULL);
    if (memcmp(&value, &expected, sizeof value) != 0) {
      fail_msg("%s is %.17g, expected %.17g", texts[i], value, expected);
    }
  }
  test_random random = {7};
  for (int i = 0; i < 20000; i++) {
    char text[64];
    double wanted = test_random_in(&random, -1, 1);
    int digits = (int)(test_random_u32(&random) % 17) + 1;
    int power = (int)(test_random_u32(&random) % 60) - 30;
    snprintf(text, sizeof text, "%.*fe%d", digits, wanted, power);
    double value = number_of(text), expected = strtod(text, NULL);
    if (memcmp(&value, &expected, sizeof value) != 0) {
      fail_msg("%s is %.17g, expected %.17g", text, value, expected);
    }
  }
}

static void strings_are_decoded(void** state) {
  (void)state;
  yw_json_doc* doc = parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t \\u00e4 \\u20AC \\uD83D\\uDE00 \u00fc\"");
  assert_string_equal(yw_json_root(doc)->string, "\"\\/\b\f\n\r\t \u00e4 \u20ac \U0001F600 \u00fc");
  yw_json_free(doc);
  doc = parse("\xEF\xBB\xBF\"\"");
  assert_string_equal(yw_json_root(doc)->string, "");
  assert_int_equal(yw_json_root(doc)->column, 1);
  yw_json_free(doc);
}

static void mistakes_are_reported_with_their_place(void** state) {
  (void)state;
  static const char* const cases[][2] = {
      {"", "a.json:1:1: there is nothing in it"},
      {" \n // only\n", "a.json:3:1: there is nothing in it"},
      {"{\"a\": 1,}", "a.json:1:8: remove the comma before }"},
      {"[1,\n2,\n]", "a.json:2:2: remove the comma before ]"},
      {"{\"a\": 1 \"b\": 2}",
       "a.json:1:9: expected , or }, but found '\"' (the object begins in line 1)"},
      {"[1 2]", "a.json:1:4: expected , or ], but found '2' (the list begins in line 1)"},
      {"[1",
       "a.json:1:3: expected , or ], but found the end of the text (the list begins in line "
       "1)"},
      {"{a: 1}", "a.json:1:2: expected a key in double quotes, but found 'a'"},
      {"{'a': 1}", "a.json:1:2: expected a key in double quotes, but found '"},
      {"{,}", "a.json:1:2: expected a key or }, but found ','"},
      {"{\"a\" 1}", "a.json:1:6: expected : after the key \"a\", but found '1'"},
      {"{\"a\": }", "a.json:1:7: expected a value, but found '}'"},
      {"{\"a\": big}",
       "a.json:1:7: expected a value, but found 'big' (text is written in double quotes)"},
      {"[NaN]", "a.json:1:2: expected a value, but found 'NaN' (text is written in double quotes)"},
      {"[.5]",
       "a.json:1:2: expected a value, but found '.5' (a number begins with a digit or a minus)"},
      {"[5.]", "a.json:1:4: expected a digit after the point, but found ']'"},
      {"[-]", "a.json:1:3: expected a digit after the minus, but found ']'"},
      {"[1e]", "a.json:1:4: expected a digit in the exponent, but found ']'"},
      {"[012]", "a.json:1:2: a number must not begin with 0"},
      {"[1e999]", "a.json:1:2: this number is larger than a computer's numbers (1.8e308)"},
      {"[\"abc\n\"]", "a.json:1:2: this string does not end: expected \" in the same line"},
      {"[\"abc", "a.json:1:2: this string does not end: expected \" in the same line"},
      {"[\"a\tb\"]", "a.json:1:4: a string must not contain the control character 9"},
      {"[\"\\x\"]", "a.json:1:4: \\ must be followed by one of \" \\ / b f n r t u, not by 'x'"},
      {"[\"\\u12g4\"]", "a.json:1:7: \\u needs four hexadecimal digits"},
      {"[\"\\u0000\"]", "a.json:1:9: a string must not contain \\u0000"},
      {"[\"\\uD800\"]", "a.json:1:9: \\uD800 is half a character: its pair is missing"},
      {"[\"\\uDC00\\uDC00\"]", "a.json:1:9: \\uDC00 is half a character: its pair is missing"},
      {"/* x", "a.json:1:1: this comment does not end: expected */"},
      {"# x", "a.json:1:1: comments begin with //, not with #"},
      {"1 2", "a.json:1:3: expected the end of the text, but found '2'"},
      {"{\"a\": 1,\n \"b\": 2,\n \"a\": 3}",
       "a.json:3:2: key \"a\" is given twice, first in line 1"},
      {"\"\xff\"", "a.json:1:2: byte 0xFF is not UTF-8 text: is this a JSON file?"},
      {"\n\"\xc0\x80\"", "a.json:2:2: byte 0xC0 is not UTF-8 text: is this a JSON file?"},
      {"\"\xed\xa0\x80\"", "a.json:1:2: byte 0xED is not UTF-8 text: is this a JSON file?"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    expect_error(cases[i][0], cases[i][1]);
  }
}

// Texts that are cut anywhere, also within a character, are read to their end and no further.
static void cut_texts_are_not_read_beyond_their_end(void** state) {
  (void)state;
  static const char* const texts[] = {
      ("{\"a\": [1, -2.5e3, true, null, \"\\u00e9\\n\"], // comment\n \"b\": {\"\xc3\xa9\": "
       "\"\xe2\x82\xac\"}}"),
      "\xc3\xa9",
      "[\xe2\x82\xac",
      "{\xf0\x9f\x98\x80",
      "[1 \xe2\x82\xac",
      "/* \xc3\xa9 */ 12"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    for (size_t size = 0; size <= strlen(texts[i]); ++size) {
      yw_json_doc* doc = NULL;
      yw_error error = {0};
      yw_status status =
          yw_json_parse(NULL, "a.json", copy_at_the_end(texts[i], size), size, &doc, &error);
      assert_true(status >= 0 || (!doc && error.message[0] != '\0'));
      yw_json_free(doc);
    }
  }
}

static void depth_is_limited(void** state) {
  (void)state;
  char text[1000];
  memset(text, '[', sizeof text);
  text[YW_JSON_MAX_DEPTH] = '\0';
  expect_error(text, "a.json:1:65: expected a value, but found the end of the text");
  memset(text, '[', sizeof text);
  text[999] = '\0';
  expect_error(text, "a.json:1:65: nested deeper than 64");
}

static void zero_bytes_are_refused(void** state) {
  (void)state;
  yw_json_doc* doc;
  yw_error error;
  assert_int_equal(yw_json_parse(NULL, "a", "[1]\0", 4, &doc, &error), YW_ERR_FORMAT);
  assert_string_equal(error.message, "a:1:4: byte 0x00 is not UTF-8 text: is this a JSON file?");
}

// Hostile texts take linear time; in quadratic time these would take minutes.
static void long_texts_do_not_hang(void** state) {
  (void)state;
  static const char* const kinds[][3] = {{"{", "\"k%d\": 0,", "\"z\": 0}"},
                                         {"[", "%d,", "0]"},
                                         {"", "/* %d */", "0"},
                                         {"\"", "\\n%d", "\""}};
  const int count = 400000;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char* text = malloc((size_t)count * (strlen(kinds[i][1]) + 12) + 64);
    size_t size = (size_t)sprintf(text, "%s", kinds[i][0]);
    for (int k = 0; k < count; k++) size += (size_t)sprintf(text + size, kinds[i][1], k);
    size += (size_t)sprintf(text + size, "%s", kinds[i][2]);
    double start = yw_seconds();
    yw_json_doc* doc = NULL;
    assert_int_equal(yw_json_parse(NULL, "a", text, size, &doc, NULL), YW_OK);
    yw_json_free(doc);
    assert_at_most(yw_seconds() - start, 20.0);
    free(text);
  }
}

static void order_of_keys_does_not_matter_for_equality(void** state) {
  (void)state;
  yw_json_doc* a = parse("{\"x\": [1, {\"u\": \"v\", \"w\": null}], \"y\": -0}");
  yw_json_doc* b = parse("{\"y\": 0, \"x\": [1, {\"w\": null, \"u\": \"v\"}]}");
  yw_json_doc* c = parse("{\"y\": 0, \"x\": [{\"w\": null, \"u\": \"v\"}, 1]}");
  assert_true(yw_json_equal(yw_json_root(a), yw_json_root(b)));
  assert_true(yw_json_hash(yw_json_root(a)) == yw_json_hash(yw_json_root(b)));
  assert_false(yw_json_equal(yw_json_root(a), yw_json_root(c)));
  assert_false(yw_json_hash(yw_json_root(a)) == yw_json_hash(yw_json_root(c)));
  yw_json_free(a);
  yw_json_free(b);
  yw_json_free(c);
}

static void keys_can_be_added_and_replaced(void** state) {
  (void)state;
  yw_json_doc* doc = parse("{\"m\": 1, \"b\": [1, 2]}");
  yw_json* root = yw_json_root(doc);
  static const char* const keys[] = {"z", "a", "n", "m"};
  for (int i = 0; i < 4; i++) {
    yw_json* value = NULL;
    char text[8];
    snprintf(text, sizeof text, "%d", 10 + i);
    assert_int_equal(yw_json_parse_into(doc, "--set", text, strlen(text), 1, &value, NULL), YW_OK);
    assert_true(yw_json_put(doc, root, keys[i], value));
  }
  assert_int_equal(root->count, 5);
  assert_true(yw_json_get(root, "z")->number == 10.0);
  assert_true(yw_json_get(root, "a")->number == 11.0);
  assert_true(yw_json_get(root, "n")->number == 12.0);
  assert_true(yw_json_get(root, "m")->number == 13.0);
  assert_int_equal(yw_json_get(root, "m")->index, 0);
  assert_int_equal(yw_json_get(root, "m")->source, 1);
  assert_int_equal(yw_json_get(root, "b")->source, 0);
  yw_json* text = yw_json_new(doc, YW_JSON_STRING, "word", 2);
  yw_json_put_item(yw_json_get(root, "b"), 1, text);
  assert_string_equal(yw_json_get(root, "b")->items[1]->string, "word");
  char path[20];
  yw_json_path(text, path, sizeof path);
  assert_string_equal(path, "b[1]");
  yw_json_free(doc);
}

static void running_out_of_memory_is_an_error_and_leaks_nothing(void** state) {
  (void)state;
  const char text[] =
      "{\"a\": [1, 2, {\"b\": \"text\", \"c\": 1234567890123456789012}], \"d\": []}";
  for (int calls = 0;; calls++) {
    counted_memory memory = {.left = calls};
    yw_allocator mem = counted_allocator(&memory);
    yw_json_doc* doc = NULL;
    yw_error error = {0};
    yw_status status = yw_json_parse(&mem, "a.json", text, strlen(text), &doc, &error);
    yw_json_free(doc);
    assert_int_equal(memory.alive, 0);
    if (status == YW_OK) break;
    assert_int_equal(status, YW_ERR_MEMORY);
    assert_true(strstr(error.message, "memory") != NULL);
    assert_true(calls < 100);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_value_is_read),
      cmocka_unit_test(nodes_know_their_place_and_path),
      cmocka_unit_test(numbers_are_the_nearest_doubles),
      cmocka_unit_test(strings_are_decoded),
      cmocka_unit_test(mistakes_are_reported_with_their_place),
      cmocka_unit_test(cut_texts_are_not_read_beyond_their_end),
      cmocka_unit_test(depth_is_limited),
      cmocka_unit_test(zero_bytes_are_refused),
      cmocka_unit_test(long_texts_do_not_hang),
      cmocka_unit_test(order_of_keys_does_not_matter_for_equality),
      cmocka_unit_test(keys_can_be_added_and_replaced),
      cmocka_unit_test(running_out_of_memory_is_an_error_and_leaks_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
