// SPDX-License-Identifier: MIT
#include "server/scene_guard.h"

#include <ctype.h>
#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/json.h"

// Texts under these keys are shown or decoded, never looked up.
static bool is_harmless_key(const char* key) {
  static const char* const keys[] = {"name",      "description", "$schema",
                                     "positions", "painted",     "values"};
  for (size_t i = 0; key && i < sizeof keys / sizeof keys[0]; ++i) {
    if (strcmp(key, keys[i]) == 0) return true;
  }
  return false;
}

// Words without dots and slashes, such as "jelly" or "#aabbcc", are no files that a reader takes.
static bool is_word(const yw_json* node) {
  for (int32_t i = 0; i < node->count; ++i) {
    char c = node->string[i];
    if (!isalnum((unsigned char)c) && !strchr("_- #", c)) return false;
  }
  return true;
}

static bool has_text(const yw_json* node, const char* value) {
  if (node->type == YW_JSON_STRING) return strcmp(node->string, value) == 0;
  if (node->type != YW_JSON_ARRAY && node->type != YW_JSON_OBJECT) return false;
  for (int32_t i = 0; i < node->count; ++i) {
    if (has_text(node->items[i], value)) return true;
  }
  return false;
}

// The first text in a scene that could name another file than those of `own`; NULL: none.
static const char* find_stranger(const yw_json* own, const yw_json* node) {
  if (node->type == YW_JSON_STRING) {
    bool good = is_harmless_key(node->key) || is_word(node) || has_text(own, node->string);
    return good ? NULL : node->string;
  }
  if (node->type != YW_JSON_ARRAY && node->type != YW_JSON_OBJECT) return NULL;
  for (int32_t i = 0; i < node->count; ++i) {
    const char* found = find_stranger(own, node->items[i]);
    if (found) return found;
  }
  return NULL;
}

yw_status scene_guard_check(const char* own, const char* scene, yw_error* error) {
  yw_json_doc *known = NULL, *doc = NULL;
  yw_status status = yw_json_parse(NULL, "scene", own, strlen(own), &known, error);
  if (status >= 0) status = yw_json_parse(NULL, "scene", scene, strlen(scene), &doc, error);
  const char* stranger = status < 0 ? NULL : find_stranger(yw_json_root(known), yw_json_root(doc));
  if (stranger) {
    status = yw_fail(error, YW_ERR_INVALID,
                     "the scene names \"%.80s\", which the one that yawara view was started with "
                     "does not; start it with this scene to use other files",
                     stranger);
  }
  yw_json_free(doc);
  yw_json_free(known);
  return status;
}
