// SPDX-License-Identifier: MIT
// Parses JSON text into a tree, in one pass after a check of the encoding; recursion is bounded by
// the depth limit. Lines and columns are counted lazily: every byte is visited once more, when a
// node needs its position.
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/json_doc.h"
#include "yawara/extend/error.h"
#include "yawara/extend/json.h"
#include "yawara/extend/memory.h"

typedef struct parser {
  yw_json_doc* doc;
  const char* name;
  const char *p, *end;
  const char* mark;  // position to which line and column refer
  int32_t line, column;
  int32_t source;
  YW_LIST(yw_json*) open;  // items of containers that are not closed yet
  YW_LIST(yw_json*) scratch;
  YW_LIST(char) text;
  yw_error* error;
} parser;

// Places and messages -----------------------------------------------------------------------------

// Advances the mark to p.
static void count_place(parser* s) {
  for (; s->mark < s->p; s->mark++) {
    char c = *s->mark;
    bool next_is_feed = s->mark + 1 < s->end && s->mark[1] == '\n';
    if (c == '\n' || (c == '\r' && !next_is_feed)) {
      s->line++;
      s->column = 1;
    } else if (((unsigned char)c & 0xC0) != 0x80) {
      s->column++;
    }
  }
}

// All messages of the parser, at its current position. Overrides have no line numbers.
#define FAIL(s, status, ...) (fail_here((s), (status), __VA_ARGS__), NULL)
static void fail_here(parser* s, yw_status status, const char* format, ...) YW_PRINTF(3, 4);
static void fail_here(parser* s, yw_status status, const char* format, ...) {
  char message[600];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  count_place(s);
  if (s->source) {
    yw_fail(s->error, status, "%s: %s", s->name, message);
  } else {
    yw_fail(s->error, status, "%s:%d:%d: %s", s->name, (int)s->line, (int)s->column, message);
  }
}

static void* fail_memory(parser* s) {
  yw_fail(s->error, YW_ERR_MEMORY, "%s: not enough memory for its values", s->name);
  return NULL;
}

static char peek(const parser* s) { return s->p < s->end ? *s->p : '\0'; }

// Unlike those of ctype.h, these do not depend on the locale.
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_word(char c) {
  return is_digit(c) || is_letter(c) || c == '-' || c == '+' || c == '.';
}

// Describes what is at p: 'x', a word, or the end of the text.
static const char* found(const parser* s, char out[48]) {
  if (s->p >= s->end) return "the end of the text";
  unsigned char c = (unsigned char)*s->p;
  int length = 1;
  if (is_word(*s->p)) {
    while (s->p + length < s->end && length < 24 && is_word(s->p[length])) length++;
  } else {
    while (s->p + length < s->end && ((unsigned char)s->p[length] & 0xC0) == 0x80) length++;
  }
  snprintf(out, 48, "%s%.*s%s", c == '\'' ? "" : "'", length, s->p, c == '\'' ? "" : "'");
  if (c < 0x20 || c == 0x7F) snprintf(out, 48, "the control character %d", c);
  return out;
}

// Encoding ----------------------------------------------------------------------------------------

// Bytes of the UTF-8 character at p, or 0 if it is invalid (overlong, surrogate, too large).
static int utf8_length(const unsigned char* p, const unsigned char* end) {
  unsigned char c = p[0];
  int length = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : (c & 0xF0) == 0xE0 ? 3 : 4;
  if (length == 4 && !(c >= 0xF0 && c <= 0xF4)) return 0;
  if (end - p < length) return 0;
  for (int i = 1; i < length; i++) {
    if ((p[i] & 0xC0) != 0x80) return 0;
  }
  if (c == 0xE0 && p[1] < 0xA0) return 0;
  if (c == 0xED && p[1] >= 0xA0) return 0;
  if (c == 0xF0 && p[1] < 0x90) return 0;
  if (c == 0xF4 && p[1] >= 0x90) return 0;
  return length;
}

static bool check_encoding(parser* s) {
  const char* begin = s->p;
  while (s->p < s->end) {
    int length = utf8_length((const unsigned char*)s->p, (const unsigned char*)s->end);
    if (length == 0 || *s->p == '\0') {
      unsigned value = (unsigned char)*s->p;
      fail_here(s, YW_ERR_FORMAT, "byte 0x%02X is not UTF-8 text: is this a JSON file?", value);
      return false;
    }
    s->p += length;
  }
  s->p = begin;
  return true;
}

// Space and comments ------------------------------------------------------------------------------

static bool skip_block_comment(parser* s) {
  const char* begin = s->p;
  for (s->p += 2; s->p + 1 < s->end; s->p++) {
    if (s->p[0] == '*' && s->p[1] == '/') {
      s->p += 2;
      return true;
    }
  }
  s->p = begin;
  fail_here(s, YW_ERR_FORMAT, "this comment does not end: expected */");
  return false;
}

static bool skip_space(parser* s) {
  for (;;) {
    char c = peek(s);
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      s->p++;
    } else if (c == '/' && s->p + 1 < s->end && s->p[1] == '/') {
      while (s->p < s->end && *s->p != '\n' && *s->p != '\r') s->p++;
    } else if (c == '/' && s->p + 1 < s->end && s->p[1] == '*') {
      if (!skip_block_comment(s)) return false;
    } else if (c == '#') {
      fail_here(s, YW_ERR_FORMAT, "comments begin with //, not with #");
      return false;
    } else {
      return true;
    }
  }
}

// Numbers -----------------------------------------------------------------------------------------

// For the rare numbers that need more than one exact operation: strtod rounds them correctly,
// called in the C locale whatever the program's is.
static double slow_number(const char* text) {
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (c_locale == (locale_t)0) return strtod(text, NULL);
  locale_t before = uselocale(c_locale);
  double value = strtod(text, NULL);
  uselocale(before);
  freelocale(c_locale);
  return value;
}

typedef struct decimal {
  uint64_t digits;
  int32_t num_digits, exponent;  // value = digits * 10^exponent
} decimal;

static void add_digit(decimal* d, char c, bool fraction) {
  if (d->num_digits < 18) {
    d->digits = d->digits * 10 + (uint64_t)(c - '0');
    d->num_digits += d->digits != 0;
    d->exponent -= fraction;
  } else {
    d->num_digits = 99;  // too many for the fast path
  }
}

// Digits at p; false (with a message) if there are none.
static bool scan_digits(parser* s, decimal* d, bool fraction, const char* where) {
  char word[48];
  if (!is_digit(peek(s))) {
    fail_here(s, YW_ERR_FORMAT, "expected a digit %s, but found %s", where, found(s, word));
    return false;
  }
  for (; is_digit(peek(s)); s->p++) add_digit(d, *s->p, fraction);
  return true;
}

static bool scan_exponent(parser* s, decimal* d) {
  s->p++;
  bool negative = peek(s) == '-';
  if (peek(s) == '-' || peek(s) == '+') s->p++;
  decimal power = {0};
  if (!scan_digits(s, &power, false, "in the exponent")) return false;
  int32_t value = power.num_digits > 6 ? 999999 : (int32_t)power.digits;
  d->exponent += negative ? -value : value;
  return true;
}

// False if more than one exact operation is needed.
static bool quick_number(const decimal* d, double* out) {
  // An exact integer times an exact power of ten rounds once, so this is the nearest double.
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (d->num_digits > 18 || d->digits > ((uint64_t)1 << 53)) return false;
  if (d->exponent < -22 || d->exponent > 22) return false;
  double digits = (double)d->digits;
  *out = d->exponent < 0 ? digits / powers[-d->exponent] : digits * powers[d->exponent];
  return true;
}

static bool parse_number(parser* s, yw_json* node) {
  const char* begin = s->p;
  bool negative = peek(s) == '-';
  if (negative) s->p++;
  decimal d = {0};
  if (peek(s) == '0' && s->p + 1 < s->end && is_digit(s->p[1])) {
    fail_here(s, YW_ERR_FORMAT, "a number must not begin with 0");
    return false;
  }
  if (!scan_digits(s, &d, false, "after the minus")) return false;
  if (peek(s) == '.') {
    s->p++;
    if (!scan_digits(s, &d, true, "after the point")) return false;
  }
  if ((peek(s) == 'e' || peek(s) == 'E') && !scan_exponent(s, &d)) return false;

  double value;
  if (!quick_number(&d, &value)) {
    // strtod needs a terminating zero, which the text may lack.
    int32_t length = (int32_t)(s->p - begin) - negative;
    s->text.count = 0;
    if (!YW_LIST_RESERVE(&s->doc->mem, &s->text, length + 1)) return fail_memory(s) != NULL;
    memcpy(s->text.items, begin + negative, (size_t)length);
    s->text.items[length] = '\0';
    value = slow_number(s->text.items);
  }
  if (!isfinite(value)) {
    s->p = begin;
    fail_here(s, YW_ERR_FORMAT, "this number is larger than a computer's numbers (1.8e308)");
    return false;
  }
  node->number = negative ? -value : value;
  return true;
}

// Strings -----------------------------------------------------------------------------------------

static bool add_char(parser* s, unsigned c) {
  if (!YW_LIST_RESERVE(&s->doc->mem, &s->text, 1)) return fail_memory(s) != NULL;
  s->text.items[s->text.count++] = (char)(unsigned char)c;
  return true;
}

static bool add_code_point(parser* s, uint32_t c) {
  if (c < 0x80) return add_char(s, c);
  if (c < 0x800) return add_char(s, 0xC0 | c >> 6) && add_char(s, 0x80 | (c & 63));
  if (c < 0x10000) {
    return add_char(s, 0xE0 | c >> 12) && add_char(s, 0x80 | (c >> 6 & 63)) &&
           add_char(s, 0x80 | (c & 63));
  }
  return add_char(s, 0xF0 | c >> 18) && add_char(s, 0x80 | (c >> 12 & 63)) &&
         add_char(s, 0x80 | (c >> 6 & 63)) && add_char(s, 0x80 | (c & 63));
}

// Four hexadecimal digits at p.
static bool parse_hex4(parser* s, uint32_t* out) {
  *out = 0;
  for (int i = 0; i < 4; i++, s->p++) {
    char c = peek(s);
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) {
      fail_here(s, YW_ERR_FORMAT, "\\u needs four hexadecimal digits");
      return false;
    }
    *out = *out * 16 + (uint32_t)digit;
  }
  return true;
}

// p is after \u.
static bool parse_unicode_escape(parser* s) {
  uint32_t code, low;
  if (!parse_hex4(s, &code)) return false;
  if (code == 0) {
    fail_here(s, YW_ERR_FORMAT, "a string must not contain \\u0000");
    return false;
  }
  if (code >= 0xD800 && code < 0xE000) {
    bool pair = code < 0xDC00 && s->end - s->p >= 2 && s->p[0] == '\\' && s->p[1] == 'u';
    if (pair) {
      s->p += 2;
      if (!parse_hex4(s, &low)) return false;
      pair = low >= 0xDC00 && low < 0xE000;
    }
    if (!pair) {
      fail_here(s, YW_ERR_FORMAT, "\\u%04X is half a character: its pair is missing", code);
      return false;
    }
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  return add_code_point(s, code);
}

// p is after the backslash.
static bool parse_escape(parser* s) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  char c = peek(s), word[48];
  if (c == 'u') {
    s->p++;
    return parse_unicode_escape(s);
  }
  const char* at = c ? strchr(from, c) : NULL;
  if (!at) {
    fail_here(s, YW_ERR_FORMAT, "\\ must be followed by one of \" \\ / b f n r t u, not by %s",
              found(s, word));
    return false;
  }
  s->p++;
  return add_char(s, (unsigned)to[at - from]);
}

// Reads the string at p (a quote) into s->text.
static bool parse_text(parser* s) {
  const char* begin = s->p;
  s->text.count = 0;
  for (s->p++;;) {
    char c = peek(s);
    if (s->p >= s->end || c == '\n' || c == '\r') {
      s->p = begin;
      fail_here(s, YW_ERR_FORMAT, "this string does not end: expected \" in the same line");
      return false;
    }
    s->p++;
    if (c == '"') return true;
    if ((unsigned char)c < 0x20) {
      s->p--;
      fail_here(s, YW_ERR_FORMAT, "a string must not contain the control character %d", c);
      return false;
    }
    if (c == '\\' ? !parse_escape(s) : !add_char(s, (unsigned char)c)) return false;
  }
}

static char* take_text(parser* s) {
  char* copy = yw_json_copy_text(s->doc, s->text.items ? s->text.items : "", (size_t)s->text.count);
  return copy ? copy : fail_memory(s);
}

// Values ------------------------------------------------------------------------------------------

// Stable merge sort by key: deterministic, and fast even for hostile input.
static bool sort_by_key(parser* s, yw_json** items, int32_t count) {
  s->scratch.count = 0;
  if (!YW_LIST_RESERVE(&s->doc->mem, &s->scratch, count)) return fail_memory(s) != NULL;
  yw_json** other = s->scratch.items;
  for (int32_t width = 1; width < count; width *= 2) {
    for (int32_t begin = 0; begin < count; begin += 2 * width) {
      int32_t middle = begin + width < count ? begin + width : count;
      int32_t end = begin + 2 * width < count ? begin + 2 * width : count;
      for (int32_t k = begin, i = begin, j = middle; k < end; k++) {
        bool first = j == end || (i < middle && strcmp(items[i]->key, items[j]->key) <= 0);
        other[k] = items[first ? i++ : j++];
      }
    }
    memcpy(items, other, (size_t)count * sizeof *items);
  }
  return true;
}

static bool check_keys(parser* s, yw_json* object) {
  for (int32_t i = 1; i < object->count; i++) {
    const yw_json *first = object->sorted[i - 1], *again = object->sorted[i];
    if (strcmp(first->key, again->key) != 0) continue;
    if (s->source) {
      yw_fail(s->error, YW_ERR_FORMAT, "%s: key \"%.200s\" is given twice", s->name, again->key);
    } else {
      yw_fail(s->error, YW_ERR_FORMAT, "%s:%d:%d: key \"%.200s\" is given twice, first in line %d",
              s->name, (int)again->key_line, (int)again->key_column, again->key,
              (int)first->key_line);
    }
    return false;
  }
  return true;
}

// Gives a container the items pushed since `first`.
static bool close_container(parser* s, yw_json* node, int32_t first) {
  int32_t count = s->open.count - first;
  node->count = count;
  s->open.count = first;
  if (count == 0) return true;
  size_t bytes = (size_t)count * sizeof(yw_json*);
  node->items = yw_json_alloc(s->doc, bytes);
  if (!node->items) return fail_memory(s) != NULL;
  memcpy(node->items, s->open.items + first, bytes);
  for (int32_t i = 0; i < count; i++) {
    node->items[i]->parent = node;
    node->items[i]->index = i;
  }
  if (node->type != YW_JSON_OBJECT) return true;
  node->sorted = yw_json_alloc(s->doc, bytes);
  if (!node->sorted) return fail_memory(s) != NULL;
  memcpy(node->sorted, node->items, bytes);
  return sort_by_key(s, node->sorted, count) && check_keys(s, node);
}

static yw_json* parse_value(parser* s, int32_t depth);

// Reads "key" : of an object.
static char* parse_key(parser* s) {
  char word[48];
  if (peek(s) != '"') {
    bool bare = is_letter(peek(s)) || peek(s) == '\'';
    return FAIL(s, YW_ERR_FORMAT, "expected a key%s, but found %s",
                bare ? " in double quotes" : " or }", found(s, word));
  }
  if (!parse_text(s)) return NULL;
  char* key = take_text(s);
  if (!key || !skip_space(s)) return NULL;
  if (peek(s) != ':') {
    return FAIL(s, YW_ERR_FORMAT, "expected : after the key \"%.80s\", but found %s", key,
                found(s, word));
  }
  s->p++;
  return skip_space(s) ? key : NULL;
}

// One item with its key, pushed on the open list.
static bool parse_item(parser* s, bool keyed, int32_t depth) {
  count_place(s);
  int32_t line = s->line, column = s->column;
  char* key = NULL;
  if (keyed && !(key = parse_key(s))) return false;
  yw_json* item = parse_value(s, depth);
  if (!item) return false;
  item->key = key;
  item->key_line = line;
  item->key_column = column;
  if (!YW_LIST_RESERVE(&s->doc->mem, &s->open, 1)) return fail_memory(s) != NULL;
  s->open.items[s->open.count++] = item;
  return true;
}

static bool parse_container(parser* s, yw_json* node, int32_t depth) {
  bool keyed = node->type == YW_JSON_OBJECT;
  char closing = keyed ? '}' : ']', word[48];
  int32_t first = s->open.count;
  if (depth > YW_JSON_MAX_DEPTH) {
    fail_here(s, YW_ERR_LIMIT, "nested deeper than %d", YW_JSON_MAX_DEPTH);
    return false;
  }
  s->p++;
  if (!skip_space(s)) return false;
  while (peek(s) != closing) {
    if (!parse_item(s, keyed, depth) || !skip_space(s)) return false;
    if (peek(s) == closing) break;
    if (peek(s) != ',') {
      fail_here(s, YW_ERR_FORMAT, "expected , or %c, but found %s (the %s begins in line %d)",
                closing, found(s, word), keyed ? "object" : "list", (int)node->line);
      return false;
    }
    const char* comma = s->p;
    count_place(s);
    s->p++;
    if (!skip_space(s)) return false;
    if (peek(s) == closing) {
      s->p = comma;
      fail_here(s, YW_ERR_FORMAT, "remove the comma before %c", closing);
      return false;
    }
  }
  s->p++;
  return close_container(s, node, first);
}

static bool parse_word(parser* s, yw_json* node) {
  static const struct {
    const char* word;
    yw_json_type type;
    bool value;
  } words[] = {
      {"true", YW_JSON_BOOL, true}, {"false", YW_JSON_BOOL, false}, {"null", YW_JSON_NULL, false}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t length = strlen(words[i].word);
    if ((size_t)(s->end - s->p) < length || memcmp(s->p, words[i].word, length) != 0) continue;
    if (s->p + length < s->end && is_word(s->p[length])) continue;
    s->p += length;
    node->type = words[i].type;
    node->boolean = words[i].value;
    return true;
  }
  char word[48];
  const char* hint = "";
  if (peek(s) == '\'') hint = " (strings are written in double quotes)";
  if (peek(s) == '.' || peek(s) == '+') hint = " (a number begins with a digit or a minus)";
  if (is_letter(peek(s))) hint = " (text is written in double quotes)";
  fail_here(s, YW_ERR_FORMAT, "expected a value, but found %s%s", found(s, word), hint);
  return false;
}

static yw_json* parse_value(parser* s, int32_t depth) {
  count_place(s);
  if (s->doc->num_values >= YW_JSON_MAX_VALUES) {
    return FAIL(s, YW_ERR_LIMIT, "more than %d values", YW_JSON_MAX_VALUES);
  }
  yw_json* node = yw_json_alloc(s->doc, sizeof *node);
  if (!node) return fail_memory(s);
  s->doc->num_values++;
  node->line = s->line;
  node->column = s->column;
  node->source = s->source;
  char c = peek(s);
  bool done;
  if (c == '{' || c == '[') {
    node->type = c == '{' ? YW_JSON_OBJECT : YW_JSON_ARRAY;
    done = parse_container(s, node, depth + 1);
  } else if (c == '"') {
    node->type = YW_JSON_STRING;
    done = parse_text(s) && (node->string = take_text(s));
    node->count = s->text.count;
  } else if (c == '-' || is_digit(c)) {
    node->type = YW_JSON_NUMBER;
    done = parse_number(s, node);
  } else {
    done = parse_word(s, node);
  }
  return done ? node : NULL;
}

static yw_json* parse_all(parser* s) {
  char word[48];
  if (!check_encoding(s)) return NULL;
  s->mark = s->p;
  if (!skip_space(s)) return NULL;
  if (s->p >= s->end) return FAIL(s, YW_ERR_FORMAT, "there is nothing in it");
  yw_json* root = parse_value(s, 0);
  if (!root || !skip_space(s)) return NULL;
  if (s->p < s->end) {
    return FAIL(s, YW_ERR_FORMAT, "expected the end of the text, but found %s", found(s, word));
  }
  return root;
}

yw_status yw_json_parse_into(yw_json_doc* doc, const char* name, const char* text, size_t size,
                             int32_t source, yw_json** out, yw_error* error) {
  *out = NULL;
  if (size > YW_JSON_MAX_BYTES) {
    return yw_fail(error, YW_ERR_LIMIT, "%s: %zu bytes, but at most %zu are read", name, size,
                   YW_JSON_MAX_BYTES);
  }
  yw_error own = {0};
  parser s = {.doc = doc, .name = name, .source = source, .line = 1, .column = 1, .error = &own};
  s.p = s.mark = text;
  s.end = text + size;
  if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) s.p = s.mark = text + 3;
  yw_json* root = parse_all(&s);
  YW_LIST_FREE(&doc->mem, &s.open);
  YW_LIST_FREE(&doc->mem, &s.scratch);
  YW_LIST_FREE(&doc->mem, &s.text);
  if (!root) return yw_fail(error, own.status, "%s", own.message);
  *out = root;
  return YW_OK;
}

yw_status yw_json_parse(const yw_allocator* mem, const char* name, const char* text, size_t size,
                        yw_json_doc** out, yw_error* error) {
  *out = NULL;
  yw_json_doc* doc = YW_NEW(mem, yw_json_doc);
  if (!doc) return yw_fail_memory(error, name);
  doc->mem = yw_mem_or_default(mem);
  yw_status status = yw_json_parse_into(doc, name, text, size, 0, &doc->root, error);
  if (status < 0) {
    yw_json_free(doc);
    return status;
  }
  *out = doc;
  return YW_OK;
}
