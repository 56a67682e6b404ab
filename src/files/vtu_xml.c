// SPDX-License-Identifier: MIT
#include "files/vtu_xml.h"

#include <string.h>

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static const char* find(const char* begin, const char* end, const char* text) {
  size_t length = strlen(text);
  for (const char* p = begin; (p = memchr(p, text[0], (size_t)(end - p))) != NULL; ++p) {
    if ((size_t)(end - p) < length) return NULL;
    if (memcmp(p, text, length) == 0) return p;
  }
  return NULL;
}

static bool starts(const char* p, const char* end, const char* text) {
  size_t length = strlen(text);
  return (size_t)(end - p) >= length && memcmp(p, text, length) == 0;
}

// The > that ends a tag, ignoring those in quotes.
static const char* tag_end(const char* p, const char* end) {
  char quote = 0;
  for (; p < end; ++p) {
    if (quote) {
      if (*p == quote) quote = 0;
    } else if (*p == '"' || *p == '\'') {
      quote = *p;
    } else if (*p == '>') {
      return p;
    }
  }
  return NULL;
}

bool yw_xml_next(yw_scan* scan, yw_xml_tag* tag) {
  for (;;) {
    const char* open = memchr(scan->at, '<', yw_scan_left(scan));
    if (!open) {
      scan->at = scan->mark = scan->end;
      return false;
    }
    scan->mark = open;
    bool comment = starts(open, scan->end, "<!--");
    const char* close = comment ? find(open + 4, scan->end, "-->") : tag_end(open + 1, scan->end);
    if (!close) return yw_scan_fail(scan, "a tag that does not end");
    scan->at = close + (comment ? 3 : 1);
    if (open[1] == '?' || open[1] == '!') continue;

    *tag = (yw_xml_tag){.place = open};
    const char* p = open + 1;
    tag->closing = *p == '/';
    if (tag->closing) ++p;
    tag->name.begin = p;
    while (p < close && !is_space(*p) && *p != '/') ++p;
    tag->name.end = p;
    tag->empty = !tag->closing && close > p && close[-1] == '/';
    tag->attributes = (yw_span){p, tag->empty ? close - 1 : close};
    return true;
  }
}

// One attribute: name = "value". False if there are no more.
static bool next_attribute(const char** at, const char* end, yw_span* name, yw_span* value) {
  const char* p = *at;
  while (p < end && is_space(*p)) ++p;
  name->begin = p;
  while (p < end && !is_space(*p) && *p != '=') ++p;
  name->end = p;
  while (p < end && is_space(*p)) ++p;
  if (p == end || *p != '=') return false;
  ++p;
  while (p < end && is_space(*p)) ++p;
  if (p == end || (*p != '"' && *p != '\'')) return false;
  const char* close = memchr(p + 1, *p, (size_t)(end - p - 1));
  if (!close) return false;
  *value = (yw_span){p + 1, close};
  *at = close + 1;
  return true;
}

bool yw_xml_attribute(const yw_xml_tag* tag, const char* name, yw_span* value) {
  const char* at = tag->attributes.begin;
  yw_span found, content;
  while (next_attribute(&at, tag->attributes.end, &found, &content)) {
    if (!yw_span_is(found, name)) continue;
    *value = content;
    return true;
  }
  return false;
}

yw_span yw_xml_text(const yw_scan* scan) {
  const char* open = memchr(scan->at, '<', yw_scan_left(scan));
  return (yw_span){scan->at, open ? open : scan->end};
}
