// SPDX-License-Identifier: MIT
#include "scene/keys.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "math/small/exponent.h"
#include "math/small/trig.h"
#include "scene/method.h"
#include "scene/records.h"
#include "yawara/extend/vec.h"

#define PATH_BYTES 300

// Messages ----------------------------------------------------------------------------------------

static void write_place(const yw_reader_ctx* r, const yw_json* node, bool at_key, char* out,
                        size_t capacity) {
  if (!node) {
    snprintf(out, capacity, "%s: ", r->file);
  } else if (node->source > 0) {
    snprintf(out, capacity, "--set %s: ", r->overrides[node->source - 1].path);
  } else {
    snprintf(out, capacity, "%s:%d:%d: ", r->file, (int)(at_key ? node->key_line : node->line),
             (int)(at_key ? node->key_column : node->column));
  }
}

static bool fail_at(yw_reader_ctx* r, const yw_json* node, bool at_key, yw_status status,
                    const char* middle, const char* format, va_list arguments) {
  char place[400], message[600];
  write_place(r, node, at_key, place, sizeof place);
  vsnprintf(message, sizeof message, format, arguments);
  yw_fail(r->error, status, "%s%s%s", place, middle, message);
  return false;
}

bool yw_place_fail(yw_reader_ctx* r, const yw_json* node, yw_status status, const char* format,
                   ...) {
  va_list arguments;
  va_start(arguments, format);
  fail_at(r, node, false, status, "", format, arguments);
  va_end(arguments);
  return false;
}

static bool fail_at_key(yw_reader_ctx* r, const yw_json* node, const char* format, ...)
    YW_PRINTF(3, 4);
static bool fail_at_key(yw_reader_ctx* r, const yw_json* node, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail_at(r, node, true, YW_ERR_FORMAT, "", format, arguments);
  va_end(arguments);
  return false;
}

bool yw_value_fail(yw_reader_ctx* r, const yw_json* node, const char* format, ...) {
  char path[PATH_BYTES + 1];
  yw_json_path(node, path, sizeof path - 1);
  strcat(path, " ");
  va_list arguments;
  va_start(arguments, format);
  fail_at(r, node, false, YW_ERR_FORMAT, path, format, arguments);
  va_end(arguments);
  return false;
}

bool yw_deep_fail(yw_reader_ctx* r, const yw_json* node, const yw_error* deep) {
  char path[PATH_BYTES];
  yw_json_path(node, path, sizeof path);
  return yw_place_fail(r, node, deep->status, "%s: %s", path, deep->message);
}

bool yw_memory_fail(yw_reader_ctx* r) {
  yw_fail(r->error, YW_ERR_MEMORY, "%s: not enough memory for the scene", r->file);
  return false;
}

void yw_value_warn(yw_reader_ctx* r, const yw_json* node, const char* format, ...) {
  if (!r->warning) return;
  char place[400], path[PATH_BYTES], message[600];
  write_place(r, node, false, place, sizeof place);
  yw_json_path(node, path, sizeof path);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  r->warning->status = YW_WARN_REDUNDANT;
  size_t used = strlen(r->warning->message);
  snprintf(r->warning->message + used, sizeof r->warning->message - used, "%s%s%s%s",
           used ? "\n" : "", place, path, message);
}

// Values ------------------------------------------------------------------------------------------

static const char* type_words(const yw_json* node) {
  if (node->type == YW_JSON_BOOL) return node->boolean ? "true" : "false";
  return yw_json_type_name(node->type);
}

bool yw_type_fail(yw_reader_ctx* r, const yw_json* node, const char* expected) {
  return yw_value_fail(r, node, "is %s, but must be %s", type_words(node), expected);
}

bool yw_is_type(yw_reader_ctx* r, const yw_json* node, yw_json_type type) {
  if (node->type == type) return true;
  return yw_type_fail(r, node, yw_json_type_name(type));
}

static bool check_range(yw_reader_ctx* r, const yw_json* node, double low, double high, bool open) {
  double value = node->number;
  if (value <= high && (open ? value > low : value >= low)) return true;
  if (open) {
    return yw_value_fail(r, node, "is %.9g, but must be greater than %.9g and at most %.9g", value,
                         low, high);
  }
  return yw_value_fail(r, node, "is %.9g, but must be between %.9g and %.9g", value, low, high);
}

bool yw_read_number(yw_reader_ctx* r, const yw_json* node, double low, double high, bool open,
                    float* out) {
  if (!yw_is_type(r, node, YW_JSON_NUMBER) || !check_range(r, node, low, high, open)) return false;
  *out = (float)node->number;
  return true;
}

bool yw_read_integer(yw_reader_ctx* r, const yw_json* node, double low, double high, int32_t* out) {
  if (!yw_is_type(r, node, YW_JSON_NUMBER)) return false;
  if (node->number != floor(node->number)) {
    return yw_value_fail(r, node, "is %.9g, but must be a whole number", node->number);
  }
  if (!check_range(r, node, low, high, false)) return false;
  *out = (int32_t)node->number;
  return true;
}

static bool is_list_of(yw_reader_ctx* r, const yw_json* node, int32_t count, const char* what) {
  if (node->type != YW_JSON_ARRAY) return yw_type_fail(r, node, what);
  if (node->count == count) return true;
  return yw_value_fail(r, node, "has %d number%s, but must have %d", (int)node->count,
                       node->count == 1 ? "" : "s", (int)count);
}

bool yw_read_vec3(yw_reader_ctx* r, const yw_json* node, double low, double high, yw_vec3* out) {
  return is_list_of(r, node, 3, "a list of 3 numbers") &&
         yw_read_number(r, node->items[0], low, high, false, &out->x) &&
         yw_read_number(r, node->items[1], low, high, false, &out->y) &&
         yw_read_number(r, node->items[2], low, high, false, &out->z);
}

// One number for all three directions, or three numbers.
static bool read_size(yw_reader_ctx* r, const yw_json* node, const yw_key_row* f, yw_vec3* out) {
  if (node->type == YW_JSON_NUMBER) {
    if (!yw_read_number(r, node, f->low, f->high, f->open, &out->x)) return false;
    out->y = out->z = out->x;
    return true;
  }
  return is_list_of(r, node, 3, "a number or a list of 3 numbers") &&
         yw_read_number(r, node->items[0], f->low, f->high, f->open, &out->x) &&
         yw_read_number(r, node->items[1], f->low, f->high, f->open, &out->y) &&
         yw_read_number(r, node->items[2], f->low, f->high, f->open, &out->z);
}

static bool read_counts(yw_reader_ctx* r, const yw_json* node, const yw_key_row* f, int32_t* out) {
  if (node->type == YW_JSON_NUMBER) {
    if (!yw_read_integer(r, node, f->low, f->high, &out[0])) return false;
    out[1] = out[2] = out[0];
    return true;
  }
  if (!is_list_of(r, node, 3, "a whole number or a list of 3")) return false;
  for (int32_t i = 0; i < 3; i++) {
    if (!yw_read_integer(r, node->items[i], f->low, f->high, &out[i])) return false;
  }
  return true;
}

static bool read_axis(yw_reader_ctx* r, const yw_json* node, yw_vec3* out) {
  if (node->type == YW_JSON_STRING) {
    const char* word = node->string;
    bool known = strlen(word) == 1 && word[0] >= 'x' && word[0] <= 'z';
    if (!known) {
      return yw_value_fail(r, node, "is \"%.40s\", but must be \"x\", \"y\", \"z\" or 3 numbers",
                           word);
    }
    *out = yw_v3(word[0] == 'x', word[0] == 'y', word[0] == 'z');
    return true;
  }
  if (!is_list_of(r, node, 3, "\"x\", \"y\", \"z\" or a list of 3 numbers") ||
      !yw_read_vec3(r, node, -1e6, 1e6, out)) {
    return false;
  }
  float length = yw_length(*out);
  if (!(length > 1e-12f)) return yw_value_fail(r, node, "is zero, but must have a direction");
  *out = yw_scale(*out, 1.0f / length);
  return true;
}

typedef struct turn {
  yw_vec3 axis;
  float degrees;
} turn;
static const turn no_turn = {{0, 1, 0}, 0};
static const yw_key_row turn_rows[] = {
    YW_KEY_AS("axis", turn, axis, AXIS, 0, 0, "", "Axis of rotation."),
    YW_KEY_AS("degrees", turn, degrees, NUMBER, -36000, 36000, "degrees", "Angle.")};
const yw_record yw_record_rotation = YW_RECORD(
    "rotation", turn_rows, no_turn, "A right-handed rotation about an axis.", "needs axis degrees");

static bool read_turn(yw_reader_ctx* r, const yw_json* node, yw_quat* out) {
  turn t;
  if (!yw_read_record(r, node, &yw_record_rotation, &t) || !yw_needs(r, node, "axis") ||
      !yw_needs(r, node, "degrees")) {
    return false;
  }
  *out = yw_quat_axis_angle(t.axis, t.degrees * 0.017453292519943295f);
  return true;
}

static bool read_quaternion(yw_reader_ctx* r, const yw_json* node, yw_quat* out) {
  float q[4];
  if (!is_list_of(r, node, 4, "a quaternion")) return false;
  for (int32_t i = 0; i < 4; i++) {
    if (!yw_read_number(r, node->items[i], -1e6, 1e6, false, &q[i])) return false;
  }
  if (!(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-12f)) {
    return yw_value_fail(r, node, "is zero, but must be a rotation");
  }
  *out = yw_quat_normalize((yw_quat){q[0], q[1], q[2], q[3]});
  return true;
}

static bool read_rotation(yw_reader_ctx* r, const yw_json* node, yw_quat* out) {
  if (node->type == YW_JSON_OBJECT) return read_turn(r, node, out);
  if (node->type != YW_JSON_ARRAY) {
    return yw_type_fail(r, node, "{\"axis\": ..., \"degrees\": ...} or a quaternion [x, y, z, w]");
  }
  if (node->count > 0 && node->items[0]->type != YW_JSON_OBJECT) {
    return read_quaternion(r, node, out);
  }
  // A list of rotations, applied one after another.
  *out = (yw_quat){0, 0, 0, 1};
  for (int32_t i = 0; i < node->count; i++) {
    yw_quat next;
    if (!read_turn(r, node->items[i], &next)) return false;
    *out = yw_quat_mul(next, *out);
  }
  *out = yw_quat_normalize(*out);
  return true;
}

static float linear_of_srgb(int32_t value) {
  float c = (float)value / 255.0f;
  return c <= 0.04045f ? c / 12.92f : yw_powf((c + 0.055f) / 1.055f, 2.4f);
}

bool yw_read_color(yw_reader_ctx* r, const yw_json* node, yw_vec3* out) {
  if (node->type != YW_JSON_STRING) {
    return is_list_of(r, node, 3, "\"#rrggbb\" or a list of 3 numbers") &&
           yw_read_vec3(r, node, 0, 1, out);
  }
  int32_t rgb[3] = {0};
  bool good = strlen(node->string) == 7 && node->string[0] == '#';
  for (int32_t i = 0; good && i < 6; i++) {
    const char* digits = "0123456789abcdef0123456789ABCDEF";
    const char* at = strchr(digits, node->string[1 + i]);
    good = at != NULL;
    if (good) rgb[i / 2] = rgb[i / 2] * 16 + (int32_t)((at - digits) % 16);
  }
  if (!good) {
    return yw_value_fail(r, node, "is \"%.40s\", but must be a color like \"#e07a5f\"",
                         node->string);
  }
  *out = yw_v3(linear_of_srgb(rgb[0]), linear_of_srgb(rgb[1]), linear_of_srgb(rgb[2]));
  return true;
}

static bool read_choice(yw_reader_ctx* r, const yw_json* node, const yw_key_row* f, int32_t* out) {
  if (!yw_is_type(r, node, YW_JSON_STRING)) return false;
  int32_t count = 0;
  char list[300] = "";
  for (; f->choices[count]; count++) {
    if (strcmp(node->string, f->choices[count]) == 0) {
      *out = count;
      return true;
    }
    size_t used = strlen(list);
    bool last = !f->choices[count + 1];
    snprintf(list + used, sizeof list - used, "%s\"%s\"",
             count == 0 ? ""
             : last     ? " or "
                        : ", ",
             f->choices[count]);
  }
  yw_hint hint = yw_suggest(node->string, count, f->choices);
  return yw_value_fail(r, node, "is \"%.60s\", but must be %s%s", node->string, list, hint.text);
}

// Records -----------------------------------------------------------------------------------------

static bool read_field(yw_reader_ctx* r, const yw_json* node, const yw_key_row* f, void* out) {
  switch (f->kind) {
    case YW_KEY_BOOL:
      if (!yw_is_type(r, node, YW_JSON_BOOL)) return false;
      *(bool*)out = node->boolean;
      return true;
    case YW_KEY_NUMBER:
      return yw_read_number(r, node, f->low, f->high, f->open, out);
    case YW_KEY_INTEGER:
      return yw_read_integer(r, node, f->low, f->high, out);
    case YW_KEY_TEXT:
      if (!yw_is_type(r, node, YW_JSON_STRING)) return false;
      *(const char**)out = node->string;
      return true;
    case YW_KEY_VEC3:
      return yw_read_vec3(r, node, f->low, f->high, out);
    case YW_KEY_SIZE:
      return read_size(r, node, f, out);
    case YW_KEY_COUNTS:
      return read_counts(r, node, f, out);
    case YW_KEY_AXIS:
      return read_axis(r, node, out);
    case YW_KEY_ROTATION:
      return read_rotation(r, node, out);
    case YW_KEY_COLOR:
      return yw_read_color(r, node, out);
    case YW_KEY_CHOICE:
      return read_choice(r, node, f, out);
    case YW_KEY_NODE:
      *(const yw_json**)out = node;
      return true;
  }
  return false;
}

#define MOST_KEYS 64

// All keys that a record knows, followed by those of methods.
static int32_t list_keys(const yw_record* record, const char* out[MOST_KEYS]) {
  int32_t count = 0;
  for (int32_t i = 0; i < record->num_keys && count < MOST_KEYS; i++) {
    out[count++] = record->keys[i].name;
  }
  for (int32_t i = 0; record->with_methods && yw_scene_methods[i]; i++) {
    const yw_scene_method* method = yw_scene_methods[i];
    if (count < MOST_KEYS) out[count++] = method->name;
    for (int32_t k = 0; method->sources && method->sources[k] && count < MOST_KEYS; k++) {
      out[count++] = method->sources[k];
    }
  }
  return count;
}

static bool unknown_key(yw_reader_ctx* r, const yw_json* item, const yw_record* record) {
  const char* names[MOST_KEYS];
  char known[500] = " (known keys: ", path[PATH_BYTES];
  int32_t count = list_keys(record, names);
  for (int32_t i = 0; i < count; i++) {
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", names[i], i + 1 == count ? ")" : ", ");
  }
  yw_hint hint = yw_suggest(item->key, count, names);
  yw_json_path(item->parent, path, sizeof path);
  return fail_at_key(r, item, "unknown key \"%.60s\" in %s%s", item->key, path,
                     hint.text[0] ? hint.text : known);
}

static bool is_key_of_a_method(const yw_record* record, const char* key) {
  const char* names[MOST_KEYS];
  int32_t count = list_keys(record, names);
  for (int32_t i = record->num_keys; i < count; i++) {
    if (strcmp(names[i], key) == 0) return true;
  }
  return false;
}

static bool read_fields(yw_reader_ctx* r, const yw_json* node, const yw_record* record,
                        bool of_models, void* out) {
  if (!yw_is_type(r, node, YW_JSON_OBJECT)) return false;
  for (int32_t i = 0; i < node->count; i++) {
    const yw_json* item = node->items[i];
    const yw_key_row* field = NULL;
    for (int32_t k = 0; k < record->num_keys && !field; k++) {
      if (strcmp(record->keys[k].name, item->key) == 0) field = &record->keys[k];
    }
    if (!field && is_key_of_a_method(record, item->key)) continue;
    if (!field) return unknown_key(r, item, record);
    if (field->of_model && !of_models) continue;
    if (!read_field(r, item, field, (char*)out + field->offset)) return false;
  }
  return true;
}

bool yw_read_record(yw_reader_ctx* r, const yw_json* node, const yw_record* record, void* out) {
  memcpy(out, record->defaults, record->size);
  return read_fields(r, node, record, true, out);
}

bool yw_overlay_record(yw_reader_ctx* r, const yw_json* node, const yw_record* record, void* out) {
  return !node || read_fields(r, node, record, false, out);
}

bool yw_needs(yw_reader_ctx* r, const yw_json* object, const char* key) {
  return yw_json_get(object, key) || yw_value_fail(r, object, "needs \"%s\"", key);
}

bool yw_not_both(yw_reader_ctx* r, const yw_json* object, const char* a, const char* b) {
  const yw_json *first = yw_json_get(object, a), *second = yw_json_get(object, b);
  if (!first || !second) return true;
  char path[PATH_BYTES];
  yw_json_path(object, path, sizeof path);
  return fail_at_key(r, second, "%s has \"%s\" and \"%s\", but only one of them can be given", path,
                     a, b);
}

bool yw_exactly_one(yw_reader_ctx* r, const yw_json* object, int32_t count, const char* const* keys,
                    int32_t* which) {
  char list[400] = "";
  *which = -1;
  for (int32_t i = 0; i < count; i++) {
    if (yw_json_get(object, keys[i])) {
      if (*which >= 0) return yw_not_both(r, object, keys[*which], keys[i]);
      *which = i;
    }
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s\"%s\"",
             i == 0           ? ""
             : i + 1 == count ? " or "
                              : ", ",
             keys[i]);
  }
  return *which >= 0 || yw_value_fail(r, object, "needs %s", list);
}
