// SPDX-License-Identifier: MIT
// Changes from the command line, e.g. --set bodies[0].match.beta=0.5. Applied to the tree before
// the scene is read, so that they are checked like the file itself.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scene/loader.h"

#define MAX_STEPS 48

// One step of a path: a key, or an index when key is NULL.
typedef struct path_step {
  char* key;
  int32_t index;
  size_t end;  // of the step in the path, for messages
} path_step;

static bool override_fail(yw_loader* l, const char* path, const char* format, ...) YW_PRINTF(3, 4);
static bool override_fail(yw_loader* l, const char* path, const char* format, ...) {
  char message[500];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  yw_fail(l->r.error, YW_ERR_FORMAT, "--set %.300s: %s", path, message);
  return false;
}

// Parses [12] or ["a key"] at p; returns its end, or NULL when it is neither. Keys are cut from
// copy, which holds the same text.
static const char* parse_bracket(const char* p, char* copy, path_step* out) {
  if (p[1] == '"') {
    const char* end = strchr(p + 2, '"');
    if (!end || end[1] != ']') return NULL;
    out->key = copy + 2;
    copy[end - p] = '\0';
    return end + 2;
  }
  int64_t value = 0;
  const char* q = p + 1;
  for (; *q >= '0' && *q <= '9'; q++) {
    value = value * 10 + (*q - '0');
    if (value > INT32_MAX) value = INT32_MAX;
  }
  if (q == p + 1 || *q != ']') return NULL;
  out->index = (int32_t)value;
  return q + 1;
}

static const char* parse_step(const char* p, char* copy, path_step* out) {
  *out = (path_step){0};
  if (*p == '[') return parse_bracket(p, copy, out);
  size_t length = strcspn(p, ".[");
  if (length == 0) return NULL;
  out->key = copy;
  copy[length] = '\0';
  return p + length;
}

// Splits a.b[3].c into its steps.
static bool parse_path(yw_loader* l, const char* path, path_step* steps, int32_t* count) {
  size_t size = strlen(path);
  char* copy = yw_json_alloc(l->r.doc, size + 1);
  if (!copy) return yw_memory_fail(&l->r);
  memcpy(copy, path, size);
  *count = 0;
  const char* p = path;
  while (p && *p) {
    if (*count == MAX_STEPS) return override_fail(l, path, "more than %d steps", MAX_STEPS);
    path_step* step = &steps[(*count)++];
    p = parse_step(p, copy + (p - path), step);
    if (!p) break;
    step->end = (size_t)(p - path);
    if (*p == '.') {
      p = p[1] && p[1] != '[' ? p + 1 : NULL;
    } else if (*p && *p != '[') {
      p = NULL;
    }
  }
  return (p && *count > 0) || override_fail(l, path, "expected a path like bodies[0].match.beta");
}

// Parses JSON, or takes anything else as text. Text that starts like a list, an object or a string
// must be valid JSON.
static yw_json* parse_override_value(yw_loader* l, const yw_scene_override* override,
                                     int32_t number) {
  char name[320];
  yw_json* value = NULL;
  yw_error error = {0};
  const char* text = override->value;
  snprintf(name, sizeof name, "--set %.300s", override->path);
  yw_status status = yw_json_parse_into(l->r.doc, name, text, strlen(text), number, &value, &error);
  if (status == YW_OK) return value;
  bool must = *text == '{' || *text == '[' || *text == '"' || status != YW_ERR_FORMAT;
  if (must) {
    *l->r.error = error;
    return NULL;
  }
  if (!*text) {
    override_fail(l, override->path, "has no value");
    return NULL;
  }
  value = yw_json_new(l->r.doc, YW_JSON_STRING, text, number);
  if (!value) yw_memory_fail(&l->r);
  return value;
}

// The child that a step leads to; creates missing objects on the way. NULL after a message.
static yw_json* follow(yw_loader* l, const char* path, yw_json* node, const path_step* step,
                       int32_t number) {
  char where[200];
  yw_json_path(node, where, sizeof where);
  if (!step->key) {
    if (node->type != YW_JSON_ARRAY) {
      override_fail(l, path, "%s is not a list", where);
      return NULL;
    }
    if (step->index >= node->count) {
      override_fail(l, path, "%s has %d item%s, so there is no [%d]", where, (int)node->count,
                    node->count == 1 ? "" : "s", (int)step->index);
      return NULL;
    }
    return node->items[step->index];
  }
  if (node->type != YW_JSON_OBJECT) {
    override_fail(l, path, "%s is not an object", where);
    return NULL;
  }
  yw_json* child = yw_json_get(node, step->key);
  if (child) return child;
  child = yw_json_new(l->r.doc, YW_JSON_OBJECT, NULL, number);
  if (!child || !yw_json_put(l->r.doc, node, step->key, child)) {
    yw_memory_fail(&l->r);
    return NULL;
  }
  return child;
}

static bool apply(yw_loader* l, const yw_scene_override* override, int32_t number) {
  path_step steps[MAX_STEPS];
  int32_t count = 0;
  if (!parse_path(l, override->path, steps, &count)) return false;
  yw_json* value = parse_override_value(l, override, number);
  if (!value) return false;

  yw_json* node = yw_json_root(l->r.doc);
  for (int32_t i = 0; i < count - 1; i++) {
    bool list_next = !steps[i + 1].key;
    if (list_next && steps[i].key && node->type == YW_JSON_OBJECT &&
        !yw_json_get(node, steps[i].key)) {
      return override_fail(l, override->path, "%.*s is not in the scene: set the whole list",
                           (int)steps[i].end, override->path);
    }
    node = follow(l, override->path, node, &steps[i], number);
    if (!node) return false;
  }
  const path_step* last = &steps[count - 1];
  if (last->key && node->type == YW_JSON_OBJECT) {
    return yw_json_put(l->r.doc, node, last->key, value) || yw_memory_fail(&l->r);
  }
  if (!follow(l, override->path, node, last, number)) return false;
  yw_json_put_item(node, last->index, value);
  return true;
}

bool yw_apply_overrides(yw_loader* l, int32_t count, const yw_scene_override* overrides) {
  for (int32_t i = 0; i < count; i++) {
    if (!apply(l, &overrides[i], i + 1)) return false;
  }
  return true;
}
