// SPDX-License-Identifier: MIT
#include "server/viewer_command.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/json.h"
#include "yawara/extend/memory.h"

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

static bool get_float(const yw_json* root, const char* key, double low, double high, float* out) {
  double number;
  if (!get_number(root, key, low, high, &number)) return false;
  *out = (float)number;
  return true;
}

static bool get_list(const yw_json* root, const char* key, int32_t count, float* out) {
  const yw_json* list = yw_json_get(root, key);
  if (!list || list->type != YW_JSON_ARRAY || list->count != count) return false;
  for (int32_t i = 0; i < count; ++i) {
    const yw_json* item = list->items[i];
    if (item->type != YW_JSON_NUMBER || !(fabs(item->number) <= 1e9)) return false;
    out[i] = (float)item->number;
  }
  return true;
}

static bool get_point(const yw_json* root, const char* key, yw_vec3* out) {
  float values[3];
  if (!get_list(root, key, 3, values)) return false;
  *out = (yw_vec3){values[0], values[1], values[2]};
  return true;
}

static bool get_flag(const yw_json* root, const char* key, bool* out) {
  const yw_json* node = yw_json_get(root, key);
  *out = node && node->type == YW_JSON_BOOL && node->boolean;
  return node && node->type == YW_JSON_BOOL;
}

static bool get_inside(const yw_json* root, viewer_command* out) {
  return get_flag(root, "contacts", &out->contacts) && get_flag(root, "axes", &out->axes) &&
         get_flag(root, "cut", &out->cut) && get_flag(root, "skins", &out->skins) &&
         get_flag(root, "slaves", &out->slaves) && get_point(root, "normal", &out->normal) &&
         get_float(root, "offset", -1e9, 1e9, &out->offset);
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

// Tools -------------------------------------------------------------------------------------------

static bool get_grip(const yw_json* root, poser_grip* out) {
  const yw_json* grip = yw_json_get(root, "grip");
  return grip && grip->type == YW_JSON_OBJECT && get_point(grip, "at", &out->at) &&
         get_float(grip, "radius", 1e-9, 1e9, &out->radius) &&
         get_float(grip, "strength", 0.0, 1.0, &out->strength) &&
         get_float(grip, "falloff", 0.0, 100.0, &out->falloff) &&
         get_flag(grip, "brush", &out->brush) && get_flag(grip, "mirror", &out->mirror);
}

static bool get_motion(const yw_json* root, command_motion* out) {
  const yw_json* motion = yw_json_get(root, "motion");
  float q[4];
  if (!motion || motion->type != YW_JSON_OBJECT || !get_list(motion, "turn", 4, q)) return false;
  out->turn = (yw_quat){q[0], q[1], q[2], q[3]};
  return get_point(motion, "offset", &out->offset) &&
         get_float(motion, "scale", 1e-3, 1e3, &out->scale);
}

static bool get_action(const yw_json* root, int32_t* out) {
  // In the order of core_pose_action.
  static const char* const words[] = {"drop", "relax", "bake", "stroke-end"};
  char word[16];
  if (!get_text(root, "what", word, sizeof word)) return false;
  for (int32_t i = 0; i < (int32_t)(sizeof words / sizeof words[0]); ++i) {
    *out = i;
    if (strcmp(word, words[i]) == 0) return true;
  }
  return false;
}

static bool get_dab(const yw_json* root, viewer_command* out) {
  return get_point(root, "at", &out->at) && get_float(root, "radius", 1e-9, 1e9, &out->radius) &&
         get_float(root, "value", 0.0, 255.0, &out->first) &&
         get_float(root, "softness", 0.0, 1.0, &out->softness);
}

static bool get_line(const yw_json* root, viewer_command* out) {
  return get_point(root, "from", &out->from) && get_point(root, "to", &out->to) &&
         get_float(root, "first", 0.0, 255.0, &out->first) &&
         get_float(root, "second", 0.0, 255.0, &out->second);
}

static bool fill_tool(const yw_json* root, viewer_command* out) {
  switch (out->kind) {
    case COMMAND_POSE:
      return get_index(root, "body", 0, &out->body);
    case COMMAND_POSE_BEGIN:
      return get_index(root, "body", 0, &out->body) &&
             get_index(root, "example", -1, &out->example);
    case COMMAND_POSE_HOLD:
      return get_grip(root, &out->grip);
    case COMMAND_POSE_MOVE:
      return get_index(root, "id", 0, &out->id) && get_motion(root, &out->motion);
    case COMMAND_POSE_ACT:
      return get_action(root, &out->action) && get_index(root, "id", 0, &out->id);
    case COMMAND_POSE_DEFORM:
      return get_list(root, "amounts", YW_DEFORM_COUNT, out->amounts) &&
             get_point(root, "axis", &out->axis);
    case COMMAND_PAINT_BEGIN:
      return get_index(root, "body", 0, &out->body) && get_flag(root, "whole", &out->whole);
    case COMMAND_PAINT_DAB:
      return get_dab(root, out);
    case COMMAND_PAINT_LINE:
      return get_line(root, out);
    default:
      return true;
  }
}

// Messages ----------------------------------------------------------------------------------------

static bool fill(const yw_json* root, viewer_command* out) {
  switch (out->kind) {
    case COMMAND_PLAY:
      return get_flag(root, "on", &out->on);
    case COMMAND_SPEED:
      return get_float(root, "factor", 0.0, 10.0, &out->factor);
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
      return fill_tool(root, out);
  }
}

static bool find_kind(const yw_json* root, command_kind* out) {
  static const struct {
    const char* word;
    command_kind kind;
  } words[] = {
      {"play", COMMAND_PLAY},
      {"step", COMMAND_STEP},
      {"restart", COMMAND_RESTART},
      {"speed", COMMAND_SPEED},
      {"grab", COMMAND_GRAB},
      {"drag", COMMAND_DRAG},
      {"release", COMMAND_RELEASE},
      {"pin", COMMAND_PIN},
      {"field", COMMAND_FIELD},
      {"set", COMMAND_SET},
      {"settings", COMMAND_SETTINGS},
      {"open", COMMAND_OPEN},
      {"frame", COMMAND_FRAME},
      {"drawn", COMMAND_DRAWN},
      {"inside", COMMAND_INSIDE},
      {"examples", COMMAND_EXAMPLES},
      {"pose", COMMAND_POSE},
      {"pose-begin", COMMAND_POSE_BEGIN},
      {"pose-end", COMMAND_POSE_END},
      {"pose-hold", COMMAND_POSE_HOLD},
      {"pose-move", COMMAND_POSE_MOVE},
      {"pose-act", COMMAND_POSE_ACT},
      {"pose-deform", COMMAND_POSE_DEFORM},
      {"pose-save", COMMAND_POSE_SAVE},
      {"pose-load", COMMAND_POSE_LOAD},
      {"paint-begin", COMMAND_PAINT_BEGIN},
      {"paint-dab", COMMAND_PAINT_DAB},
      {"paint-line", COMMAND_PAINT_LINE},
      {"paint-take", COMMAND_PAINT_TAKE},
      {"paint-end", COMMAND_PAINT_END},
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

yw_status viewer_command_parse(const char* json, size_t size, viewer_command* out,
                               yw_error* error) {
  *out = (viewer_command){0};
  if (size > COMMAND_MAX_BYTES) {
    return yw_fail(error, YW_ERR_LIMIT, "the message has %zu bytes, but may have %d", size,
                   COMMAND_MAX_BYTES);
  }
  yw_json_doc* doc = NULL;
  yw_status status = yw_json_parse(NULL, "message", json, size, &doc, error);
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

yw_status viewer_command_parse_loaded(const char* bytes, size_t size, viewer_command* out,
                                      yw_error* error) {
  const unsigned char* head = (const unsigned char*)bytes;
  *out = (viewer_command){0};
  if (size < 4) return yw_fail(error, YW_ERR_FORMAT, "the message is cut short");
  size_t length =
      (size_t)head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
  if (length > size - 4) return yw_fail(error, YW_ERR_FORMAT, "the message is cut short");
  yw_status status = viewer_command_parse(bytes + 4, length, out, error);
  if (status < 0) return status;
  size_t rest = size - 4 - length;
  const char* load = bytes + 4 + length;
  bool fits = out->kind == COMMAND_PAINT_BEGIN ||
              (out->kind == COMMAND_POSE_LOAD && rest % sizeof(float) == 0) ||
              (out->kind == COMMAND_OPEN && !memchr(load, 0, rest));
  if (!fits) return yw_fail(error, YW_ERR_FORMAT, "the message carries what it should not");
  if (rest > COMMAND_MAX_LOAD) {
    return yw_fail(error, YW_ERR_LIMIT, "the message carries %zu bytes, but may carry %d", rest,
                   COMMAND_MAX_LOAD);
  }
  out->load = YW_NEW_ARRAY(NULL, char, rest + 1);
  if (!out->load) return yw_fail_memory(error, "a message");
  memcpy(out->load, load, rest);
  out->load_size = rest;
  return YW_OK;
}

void viewer_command_free(viewer_command* c) {
  yw_mem_free(NULL, c->load);
  c->load = NULL;
  c->load_size = 0;
}
