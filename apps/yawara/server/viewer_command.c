// SPDX-License-Identifier: MIT
#include "server/viewer_command.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/json.h"

// Parts of messages -------------------------------------------------------------------------------

static bool get_number(const yw_json* root, const char* key, double low, double high, double* out) {
  const yw_json* node = yw_json_get(root, key);
  if (!node || node->type != YW_JSON_NUMBER || !(node->number >= low && node->number <= high)) {
    return false;
  }
  *out = node->number;
  return true;
}

static bool get_index(const yw_json* root, const char* key, int32_t low, int32_t* out) {
  double number;
  if (!get_number(root, key, low, 1e9, &number) || number != floor(number)) return false;
  *out = (int32_t)number;
  return true;
}

static bool get_point(const yw_json* root, const char* key, yw_vec3* out) {
  const yw_json* list = yw_json_get(root, key);
  float values[3];
  if (!list || list->type != YW_JSON_ARRAY || list->count != 3) return false;
  for (int i = 0; i < 3; ++i) {
    const yw_json* item = list->items[i];
    if (item->type != YW_JSON_NUMBER || !(fabs(item->number) <= 1e9)) return false;
    values[i] = (float)item->number;
  }
  *out = (yw_vec3){values[0], values[1], values[2]};
  return true;
}

static bool get_flag(const yw_json* root, const char* key, bool* out) {
  const yw_json* node = yw_json_get(root, key);
  *out = node && node->type == YW_JSON_BOOL && node->boolean;
  return node && node->type == YW_JSON_BOOL;
}

static bool get_inside(const yw_json* root, viewer_command* out) {
  double offset = 0.0;
  bool good = get_flag(root, "contacts", &out->contacts) && get_flag(root, "axes", &out->axes) &&
              get_flag(root, "cut", &out->cut) && get_flag(root, "skins", &out->skins) &&
              get_flag(root, "slaves", &out->slaves) && get_point(root, "normal", &out->normal) &&
              get_number(root, "offset", -1e9, 1e9, &offset);
  out->offset = (float)offset;
  return good;
}

static bool get_text(const yw_json* root, const char* key, char* out, size_t capacity) {
  const yw_json* node = yw_json_get(root, key);
  if (!node || node->type != YW_JSON_STRING || (size_t)node->count >= capacity) return false;
  for (int32_t i = 0; i < node->count; ++i) {
    if (iscntrl((unsigned char)node->string[i])) return false;
  }
  memcpy(out, node->string, (size_t)node->count + 1);
  return true;
}

// Numbers, true, false and plain words. Names of files are not: what a scene reads is up to whoever
// started the program.
static bool is_plain_value(const char* value) {
  size_t length = strlen(value);
  if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) return true;
  if (length >= 3 && value[0] == '"' && value[length - 1] == '"') {
    for (size_t i = 1; i + 1 < length; ++i) {
      if (!isalnum((unsigned char)value[i]) && value[i] != '_') return false;
    }
    return true;
  }
  return length > 0 && strspn(value, "0123456789+-.eE") == length;
}

static bool get_value(const yw_json* root, char out[COMMAND_MAX_WORD]) {
  return get_text(root, "value", out, COMMAND_MAX_WORD) && is_plain_value(out);
}

static bool get_changes(const yw_json* root, char out[COMMAND_MAX_CHANGES]) {
  const yw_json* list = yw_json_get(root, "changes");
  size_t used = 0;
  out[0] = '\0';
  if (!list || list->type != YW_JSON_ARRAY) return false;
  for (int32_t i = 0; i < list->count; ++i) {
    char path[256], value[COMMAND_MAX_WORD];
    if (!get_text(list->items[i], "path", path, sizeof path)) return false;
    if (!get_value(list->items[i], value)) return false;
    int added = snprintf(out + used, COMMAND_MAX_CHANGES - used, "%s\t%s\n", path, value);
    used += (size_t)added;
    if (used >= COMMAND_MAX_CHANGES) return false;
  }
  return true;
}

// Messages ----------------------------------------------------------------------------------------

static bool fill(const yw_json* root, viewer_command* out) {
  double number = 0.0;
  switch (out->kind) {
    case COMMAND_PLAY:
      return get_flag(root, "on", &out->on);
    case COMMAND_SPEED:
      if (!get_number(root, "factor", 0.0, 10.0, &number)) return false;
      out->factor = (float)number;
      return true;
    case COMMAND_GRAB:
    case COMMAND_PIN:
      return get_index(root, "body", 0, &out->body) && get_point(root, "at", &out->at);
    case COMMAND_DRAG:
      return get_point(root, "to", &out->at);
    case COMMAND_FIELD:
      return get_text(root, "name", out->key, sizeof out->key);
    case COMMAND_INSIDE:
      return get_inside(root, out);
    case COMMAND_SET:
      return get_index(root, "body", 0, &out->body) &&
             get_text(root, "key", out->key, sizeof out->key) && get_value(root, out->value);
    case COMMAND_SETTINGS:
    case COMMAND_EXAMPLES:
      return get_index(root, "body", 0, &out->body);
    case COMMAND_OPEN:
      return get_index(root, "until", -1, &out->frame) && get_changes(root, out->changes);
    case COMMAND_FRAME:
      return get_index(root, "number", 0, &out->frame);
    default:
      return true;
  }
}

static bool find_kind(const yw_json* root, command_kind* out) {
  static const struct {
    const char* word;
    command_kind kind;
  } words[] = {
      {"play", COMMAND_PLAY},         {"step", COMMAND_STEP},         {"restart", COMMAND_RESTART},
      {"speed", COMMAND_SPEED},       {"grab", COMMAND_GRAB},         {"drag", COMMAND_DRAG},
      {"release", COMMAND_RELEASE},   {"pin", COMMAND_PIN},           {"field", COMMAND_FIELD},
      {"set", COMMAND_SET},           {"settings", COMMAND_SETTINGS}, {"open", COMMAND_OPEN},
      {"frame", COMMAND_FRAME},       {"drawn", COMMAND_DRAWN},       {"inside", COMMAND_INSIDE},
      {"examples", COMMAND_EXAMPLES},
  };
  char word[16];
  if (!get_text(root, "do", word, sizeof word)) return false;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
    if (strcmp(word, words[i].word) != 0) continue;
    *out = words[i].kind;
    return true;
  }
  return false;
}

yw_status viewer_command_parse(const char* text, size_t size, viewer_command* out,
                               yw_error* error) {
  *out = (viewer_command){0};
  if (size > COMMAND_MAX_BYTES) {
    return yw_fail(error, YW_ERR_LIMIT, "the message has %zu bytes, but may have %d", size,
                   COMMAND_MAX_BYTES);
  }
  yw_json_doc* doc = NULL;
  yw_status status = yw_json_parse(NULL, "message", text, size, &doc, error);
  if (status < 0) return status;
  const yw_json* root = yw_json_root(doc);
  if (!find_kind(root, &out->kind)) {
    status = yw_fail(error, YW_ERR_FORMAT, "the message does not say what to do");
  } else if (!fill(root, out)) {
    status = yw_fail(error, YW_ERR_FORMAT, "a value of the message is missing or out of range");
  }
  yw_json_free(doc);
  return status;
}
