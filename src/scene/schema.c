// SPDX-License-Identifier: MIT
// Generates documentation from the tables of keys: a JSON schema for editors, Markdown for readers.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/method.h"

typedef struct text_out {
  yw_text_sink sink;
  void* context;
} text_out;

static void put(const text_out* out, const char* format, ...) YW_PRINTF(2, 3);
static void put(const text_out* out, const char* format, ...) {
  char text[2000];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  out->sink(out->context, text);
}

// All records, those of methods last; NULL after the last.
static const yw_record* record_at(int32_t number) {
  if (number < yw_num_scene_records) return yw_scene_records[number];
  number -= yw_num_scene_records;
  for (int32_t i = 0; yw_scene_methods[i]; i++) {
    if (number-- == 0) return yw_scene_methods[i]->record;
    const yw_record* const* more = yw_scene_methods[i]->records;
    for (; more && *more; more++) {
      if (number-- == 0) return *more;
    }
  }
  return NULL;
}

static const yw_record* record_named(const char* name) {
  const yw_record* record;
  for (int32_t i = 0; (record = record_at(i)); i++) {
    if (strcmp(record->name, name) == 0) return record;
  }
  return NULL;
}

// Rules -------------------------------------------------------------------------------------------

// A rule in "needs a b; one c d": its kind and its keys.
typedef struct rule {
  char kind[8];
  int32_t count;
  char keys[16][32];
} rule;
static const char* next_rule(const char* at, rule* out) {
  *out = (rule){.count = -1};
  while (*at && *at != ';') {
    size_t length = strcspn(at, " ;");
    if (length > 0) {
      char* to = out->count < 0 ? out->kind : out->keys[out->count];
      size_t room = out->count < 0 ? sizeof out->kind : sizeof out->keys[0];
      snprintf(to, room, "%.*s", (int)length, at);
      out->count++;
    }
    at += length;
    at += *at == ' ';
  }
  if (out->count < 0) return NULL;
  return *at == ';' ? at + 1 + (at[1] == ' ') : at;
}

// Adds the sources of methods to the "one" rule of records that have methods.
static void add_sources(const yw_record* record, rule* r) {
  if (!record->with_methods || strcmp(r->kind, "one") != 0) return;
  const char* sources[YW_SCENE_MAX_SOURCES];
  int32_t count = yw_list_sources(sources);
  for (int32_t i = 0; i < count && r->count < 16; i++) {
    bool there = false;
    for (int32_t k = 0; k < r->count; k++) there = there || strcmp(r->keys[k], sources[i]) == 0;
    if (!there) snprintf(r->keys[r->count++], sizeof r->keys[0], "%s", sources[i]);
  }
}

static bool is_in_rule(const yw_record* record, const char* kind, const char* key) {
  rule r;
  for (const char* at = record->rules; (at = next_rule(at, &r));) {
    for (int32_t k = 0; k < r.count && strcmp(r.kind, kind) == 0; k++) {
      if (strcmp(r.keys[k], key) == 0) return true;
    }
  }
  return false;
}

// Defaults ----------------------------------------------------------------------------------------

// The shortest decimal text that reads back as this float.
static void number_text(float value, char* out, size_t capacity) {
  for (int digits = 6; digits <= 9; digits++) {
    snprintf(out, capacity, "%.*g", digits, (double)value);
    if (strtof(out, NULL) == value) return;
  }
}

static bool in_range(const yw_key_row* f, double value) {
  return value <= f->high && (f->open ? value > f->low : value >= f->low);
}

// The default as JSON; false when a key has none because it is required or one of several choices.
static bool default_text(const yw_record* record, const yw_key_row* f, char* out, size_t capacity) {
  const void* at = (const char*)record->defaults + f->offset;
  bool choice = is_in_rule(record, "one", f->name) || is_in_rule(record, "not", f->name);
  if (is_in_rule(record, "needs", f->name)) return false;
  switch (f->kind) {
    case YW_KEY_BOOL:
      snprintf(out, capacity, "%s", *(const bool*)at ? "true" : "false");
      return true;
    case YW_KEY_NUMBER:
      number_text(*(const float*)at, out, capacity);
      return in_range(f, (double)*(const float*)at) && !(choice && *(const float*)at == 0.0f);
    case YW_KEY_INTEGER:
      snprintf(out, capacity, "%d", (int)*(const int32_t*)at);
      return in_range(f, *(const int32_t*)at) && !(choice && *(const int32_t*)at == 0);
    case YW_KEY_CHOICE:
      snprintf(out, capacity, "\"%s\"", f->choices[*(const int32_t*)at]);
      return true;
    case YW_KEY_VEC3:
    case YW_KEY_AXIS:
    case YW_KEY_COLOR: {
      const float* v = at;
      char x[3][24];
      for (int i = 0; i < 3; i++) number_text(v[i], x[i], sizeof x[i]);
      snprintf(out, capacity, "[%s, %s, %s]", x[0], x[1], x[2]);
      bool zero = v[0] == 0.0f && v[1] == 0.0f && v[2] == 0.0f;
      return !zero || (f->kind == YW_KEY_VEC3 && !choice);
    }
    default:
      return false;
  }
}

// Schema ------------------------------------------------------------------------------------------

static const char base_types[] =
    "    \"vec3\": {\"description\": \"Three numbers: x, y (up), z.\", \"type\": \"array\", "
    "\"items\": {\"type\": \"number\"}, \"minItems\": 3, \"maxItems\": 3},\n"
    "    \"size\": {\"description\": \"One number for all three directions, or three: x, y, z. "
    "Above 0.\", \"anyOf\": [{\"type\": \"number\", \"exclusiveMinimum\": 0}, {\"type\": "
    "\"array\", \"items\": {\"type\": \"number\", \"exclusiveMinimum\": 0}, \"minItems\": 3, "
    "\"maxItems\": 3}]},\n"
    "    \"counts\": {\"description\": \"One whole number for all three directions, or three: x, "
    "y, z.\", \"anyOf\": [{\"type\": \"integer\", \"minimum\": 1}, {\"type\": \"array\", "
    "\"items\": {\"type\": \"integer\", \"minimum\": 1}, \"minItems\": 3, \"maxItems\": 3}]},\n"
    "    \"axis\": {\"description\": \"A direction: \\\"x\\\", \\\"y\\\", \\\"z\\\", or a "
    "vector that is not zero.\", \"anyOf\": [{\"enum\": [\"x\", \"y\", \"z\"]}, {\"$ref\": "
    "\"#/$defs/vec3\"}]},\n"
    "    \"color\": {\"description\": \"\\\"#rrggbb\\\" as on the web (sRGB), or three linear "
    "numbers from 0 to 1.\", \"anyOf\": [{\"type\": \"string\", \"pattern\": "
    "\"^#[0-9a-fA-F]{6}$\"}, {\"type\": \"array\", \"items\": {\"type\": \"number\", "
    "\"minimum\": 0, \"maximum\": 1}, \"minItems\": 3, \"maxItems\": 3}]},\n"
    "    \"any_rotation\": {\"description\": \"A rotation, a list of rotations applied in order, "
    "or a quaternion [x, y, z, w].\", \"anyOf\": [{\"$ref\": \"#/$defs/rotation\"}, {\"type\": "
    "\"array\", \"items\": {\"$ref\": \"#/$defs/rotation\"}}, {\"type\": \"array\", \"items\": "
    "{\"type\": \"number\"}, \"minItems\": 4, \"maxItems\": 4}]},\n"
    "    \"any_shape\": {\"description\": \"A shape, or the name of one in \\\"shapes\\\".\", "
    "\"anyOf\": [{\"type\": \"string\"}, {\"$ref\": \"#/$defs/shape\"}]},\n"
    "    \"any_path\": {\"description\": \"A path, or just its keys.\", \"anyOf\": [{\"$ref\": "
    "\"#/$defs/path\"}, {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/key\"}, "
    "\"minItems\": 1}]}";

static void put_string(const text_out* out, const char* text) {
  put(out, "\"");
  for (; *text; text++) put(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
  put(out, "\"");
}

// One alternative of yw_key_row.what.
static void put_what(const text_out* out, const char* what, size_t length) {
  static const char* const types[] = {"string", "number", "integer", "boolean"};
  const char* end = what + length;
  if (*what == '[') {
    const char* close = memchr(what, ']', length);
    put(out, "\"type\": \"array\", \"items\": {");
    put_what(out, what + 1, (size_t)(close - what - 1));
    put(out, "}");
    int count = close + 1 < end ? atoi(close + 1) : 0;
    if (count > 0) put(out, ", \"minItems\": %d, \"maxItems\": %d", count, count);
    return;
  }
  if (*what == '{') {
    put(out, "\"type\": \"object\", \"additionalProperties\": {");
    put_what(out, what + 1, length - 2);
    put(out, "}");
    return;
  }
  if (*what == '\'') {
    put(out, "\"const\": \"%.*s\"", (int)length - 1, what + 1);
    return;
  }
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (strlen(types[i]) != length || strncmp(types[i], what, length) != 0) continue;
    put(out, "\"type\": \"%s\"", types[i]);
    return;
  }
  put(out, "\"$ref\": \"#/$defs/%.*s\"", (int)length, what);
}

static void put_alternatives(const text_out* out, const char* what) {
  if (!strchr(what, '|')) {
    put_what(out, what, strlen(what));
    return;
  }
  put(out, "\"anyOf\": [");
  for (const char* at = what; *at;) {
    size_t length = strcspn(at, "|");
    put(out, "%s{", at == what ? "" : ", ");
    put_what(out, at, length);
    put(out, "}");
    at += length + (at[length] == '|');
  }
  put(out, "]");
}

// Allowed names of a text value, if known: materials.
typedef const char* (*name_at)(int32_t i);
static name_at names_of(const yw_record* record, const yw_key_row* f) {
  if (f->kind != YW_KEY_TEXT || strcmp(f->name, "material") != 0) return NULL;
  for (int32_t i = 0; yw_scene_methods[i]; i++) {
    if (yw_scene_methods[i]->record == record) return yw_scene_methods[i]->material_name;
  }
  return yw_material_name;
}

static void put_names(const text_out* out, name_at names) {
  put(out, "\"enum\": [");
  for (int32_t i = 0; names(i); i++) put(out, "%s\"%s\"", i > 0 ? ", " : "", names(i));
  put(out, "]");
}

static void put_limits(const text_out* out, const yw_key_row* f) {
  put(out, ", \"%s\": %.15g, \"maximum\": %.15g", f->open ? "exclusiveMinimum" : "minimum", f->low,
      f->high);
}

// A number, two numbers, or the word "file".
static void put_layer_value(const text_out* out, const yw_key_row* f) {
  put(out, "\"anyOf\": [{\"type\": \"number\"");
  put_limits(out, f);
  put(out, "}, {\"type\": \"array\", \"items\": {\"type\": \"number\"");
  put_limits(out, f);
  put(out, "}, \"minItems\": 2, \"maxItems\": 2}, {\"const\": \"file\"}]");
}

static void put_type(const text_out* out, const yw_record* record, const yw_key_row* f) {
  static const char* const types[] = {[YW_KEY_BOOL] = "\"type\": \"boolean\"",
                                      [YW_KEY_NUMBER] = "\"type\": \"number\"",
                                      [YW_KEY_INTEGER] = "\"type\": \"integer\"",
                                      [YW_KEY_TEXT] = "\"type\": \"string\"",
                                      [YW_KEY_VEC3] = "\"$ref\": \"#/$defs/vec3\"",
                                      [YW_KEY_SIZE] = "\"$ref\": \"#/$defs/size\"",
                                      [YW_KEY_COUNTS] = "\"$ref\": \"#/$defs/counts\"",
                                      [YW_KEY_AXIS] = "\"$ref\": \"#/$defs/axis\"",
                                      [YW_KEY_ROTATION] = "\"$ref\": \"#/$defs/any_rotation\"",
                                      [YW_KEY_COLOR] = "\"$ref\": \"#/$defs/color\""};
  if (names_of(record, f)) {
    put_names(out, names_of(record, f));
  } else if (f->kind == YW_KEY_NODE && strcmp(f->what, "layer_value") == 0) {
    put_layer_value(out, f);
  } else if (f->kind == YW_KEY_NODE) {
    put_alternatives(out, f->what);
  } else if (f->kind == YW_KEY_CHOICE) {
    put(out, "\"enum\": [");
    for (int32_t i = 0; f->choices[i]; i++) put(out, "%s\"%s\"", i > 0 ? ", " : "", f->choices[i]);
    put(out, "]");
  } else {
    put(out, "%s", types[f->kind]);
  }
  if (f->kind == YW_KEY_NUMBER || f->kind == YW_KEY_INTEGER) put_limits(out, f);
}

static void put_property(const text_out* out, const yw_record* record, const yw_key_row* f) {
  char value[100], about[1000];
  snprintf(about, sizeof about, "%s%s%s%s", f->about, f->unit[0] ? " Unit: " : "", f->unit,
           f->unit[0] ? "." : "");
  put(out, "\"%s\": {\"description\": ", f->name);
  put_string(out, about);
  put(out, ", ");
  put_type(out, record, f);
  if (default_text(record, f, value, sizeof value)) put(out, ", \"default\": %s", value);
  put(out, "}");
}

static void put_reference(const text_out* out, const char* indent, const char* name) {
  const yw_record* record = record_named(name);
  put(out, ",\n%s  \"%s\": {\"description\": ", indent, name);
  put_string(out, record ? record->about : "");
  put(out, ", \"$ref\": \"#/$defs/%s\"}", name);
}

static void put_method_properties(const text_out* out, const char* indent) {
  for (int32_t i = 0; yw_scene_methods[i]; i++) {
    put_reference(out, indent, yw_scene_methods[i]->name);
    const char* const* sources = yw_scene_methods[i]->sources;
    for (; sources && *sources; sources++) put_reference(out, indent, *sources);
  }
}

// One key of a schema for all pairs that exclude each other.
static void put_exclusions(const text_out* out, const char* indent, const yw_record* record) {
  rule r;
  bool any = false;
  for (const char* at = record->rules; (at = next_rule(at, &r));) {
    if (strcmp(r.kind, "not") != 0) continue;
    if (!any) put(out, ",\n%s\"not\": {\"anyOf\": [", indent);
    put(out, "%s{\"required\": [", any ? ", " : "");
    for (int32_t k = 0; k < r.count; k++) put(out, "%s\"%s\"", k > 0 ? ", " : "", r.keys[k]);
    put(out, "]}");
    any = true;
  }
  if (any) put(out, "]}");
}

static void put_rules(const text_out* out, const char* indent, const yw_record* record) {
  rule r;
  for (const char* at = record->rules; (at = next_rule(at, &r));) {
    if (strcmp(r.kind, "not") == 0) continue;
    add_sources(record, &r);
    bool each = strcmp(r.kind, "one") == 0 || strcmp(r.kind, "any") == 0;
    const char* word = strcmp(r.kind, "one") == 0   ? "oneOf"
                       : strcmp(r.kind, "any") == 0 ? "anyOf"
                                                    : "required";
    put(out, ",\n%s\"%s\": [", indent, word);
    for (int32_t k = 0; k < r.count; k++) {
      put(out, each ? "%s{\"required\": [\"%s\"]}" : "%s\"%s\"", k > 0 ? ", " : "", r.keys[k]);
    }
    put(out, "]");
  }
  put_exclusions(out, indent, record);
}

static void put_record(const text_out* out, const char* indent, const yw_record* record) {
  put(out, "%s\"description\": ", indent);
  put_string(out, record->about);
  put(out, ",\n%s\"type\": \"object\",\n%s\"additionalProperties\": false,\n%s\"properties\": {\n",
      indent, indent, indent);
  for (int32_t i = 0; i < record->num_keys; i++) {
    put(out, "%s%s  ", i > 0 ? ",\n" : "", indent);
    put_property(out, record, &record->keys[i]);
  }
  if (record->with_methods) put_method_properties(out, indent);
  put(out, "\n%s}", indent);
  put_rules(out, indent, record);
}

void yw_scene_write_schema(yw_text_sink sink, void* context) {
  const text_out out = {sink, context};
  put(&out,
      "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
      "  \"title\": \"Yawara scene\",\n");
  put_record(&out, "  ", &yw_record_scene);
  put(&out, ",\n  \"$defs\": {\n");
  sink(context, base_types);
  const yw_record* record;
  for (int32_t i = 0; (record = record_at(i)); i++) {
    if (record == &yw_record_scene) continue;
    put(&out, ",\n    \"%s\": {\n", record->name);
    put_record(&out, "      ", record);
    put(&out, "\n    }");
  }
  put(&out, "\n  }\n}\n");
}

// Markdown ----------------------------------------------------------------------------------------

static void put_range(const text_out* out, const yw_key_row* f) {
  if (f->kind == YW_KEY_CHOICE) {
    for (int32_t i = 0; f->choices[i]; i++) {
      put(out, "%s`\"%s\"`", i > 0 ? ", " : "", f->choices[i]);
    }
  } else if (f->high > f->low) {
    put(out, "%s%.9g to %.9g", f->open ? "above " : "", f->low, f->high);
  }
}

// A record or type of yw_key_row.what, in words.
static void put_word(const text_out* out, const char* name, size_t length) {
  static const char* const words[][2] = {{"any_shape", "[shape](#shape) or its name"},
                                         {"any_path", "[path](#path) or its keys"},
                                         {"vec3", "3 numbers"},
                                         {"string", "text"},
                                         {"integer", "whole number"},
                                         {"boolean", "true or false"},
                                         {"layer_value", "number, 2 numbers, `\"file\"`"}};
  char copy[40];
  snprintf(copy, sizeof copy, "%.*s", (int)length, name);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(words[i][0], copy) != 0) continue;
    put(out, "%s", words[i][1]);
    return;
  }
  put(out, record_named(copy) ? "[%s](#%s)" : "%s", copy, copy);
}

static void put_kind(const text_out* out, const yw_key_row* f) {
  static const char* const words[] = {[YW_KEY_BOOL] = "true or false",
                                      [YW_KEY_NUMBER] = "number",
                                      [YW_KEY_INTEGER] = "whole number",
                                      [YW_KEY_TEXT] = "text",
                                      [YW_KEY_VEC3] = "3 numbers",
                                      [YW_KEY_SIZE] = "number or 3",
                                      [YW_KEY_COUNTS] = "whole number or 3",
                                      [YW_KEY_AXIS] = "axis",
                                      [YW_KEY_ROTATION] = "rotation",
                                      [YW_KEY_COLOR] = "color",
                                      [YW_KEY_CHOICE] = "word"};
  if (f->kind != YW_KEY_NODE) {
    put(out, "%s", words[f->kind]);
    return;
  }
  for (const char* at = f->what; *at;) {
    size_t length = strcspn(at, "|");
    put(out, "%s", at == f->what ? "" : " or ");
    if (*at == '\'') {
      put(out, "`\"%.*s\"`", (int)length - 1, at + 1);
    } else if (*at == '[' || *at == '{') {
      put(out, *at == '[' ? "list: " : "object: ");
      put_word(out, at + 1, strcspn(at, "]}") - 1);
    } else {
      put_word(out, at, length);
    }
    at += length + (at[length] == '|');
  }
}

static void put_keys(const text_out* out, const yw_record* record) {
  bool settings = false;
  for (int32_t i = 0; i < record->num_keys; i++) settings |= record->keys[i].of_model;
  put(out, "### %s\n%s", record->name, record->about);
  rule r;
  for (const char* at = record->rules; (at = next_rule(at, &r));) {
    add_sources(record, &r);
    put(out, "%s",
        strcmp(r.kind, "needs") == 0 ? " Required:"
        : strcmp(r.kind, "one") == 0 ? " Exactly one of"
        : strcmp(r.kind, "any") == 0 ? " At least one of"
                                     : " At most one of");
    for (int32_t k = 0; k < r.count; k++) put(out, "%s `%s`", k > 0 ? "," : "", r.keys[k]);
    put(out, ".");
  }
  if (settings) put(out, " Keys with a star belong to the model; bodies can override the others.");
  put(out, "\n\n| key | value | unit | range | default | meaning |\n|---|---|---|---|---|---|\n");
  for (int32_t i = 0; i < record->num_keys; i++) {
    const yw_key_row* f = &record->keys[i];
    char value[100];
    put(out, "| `%s`%s | ", f->name, f->of_model ? "\\*" : "");
    put_kind(out, f);
    put(out, " | %s | ", f->unit);
    put_range(out, f);
    bool given = default_text(record, f, value, sizeof value);
    put(out, " | %s%s%s | %s |\n", given ? "`" : "", given ? value : "", given ? "`" : "",
        f->about);
  }
  for (int32_t i = 0; record->with_methods && yw_scene_methods[i]; i++) {
    const yw_scene_method* method = yw_scene_methods[i];
    put(out, "| `%s` | [%s](#%s) | | | | %s |\n", method->name, method->name, method->name,
        method->record->about);
    for (const char* const* s = method->sources; s && *s; s++) {
      const yw_record* source = record_named(*s);
      put(out, "| `%s` | [%s](#%s) | | | | %s |\n", *s, *s, *s, source ? source->about : "");
    }
  }
  put(out, "\n");
}

void yw_scene_write_keys(yw_text_sink sink, void* context) {
  const text_out out = {sink, context};
  const yw_record* record;
  for (int32_t i = 0; (record = record_at(i)); i++) put_keys(&out, record);
}
