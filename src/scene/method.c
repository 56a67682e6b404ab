// SPDX-License-Identifier: MIT
// The table of methods, and the parts of scenes common to all of them.
#include "scene/method.h"

#include <stdio.h>
#include <string.h>

#define ADDRESS(name) &yw_scene_##name,
const yw_scene_method* const yw_scene_methods[] = {YW_SCENE_METHODS(ADDRESS) NULL};

const yw_scene_method* yw_scene_method_by_name(const char* name) {
  for (int32_t i = 0; yw_scene_methods[i]; i++) {
    if (strcmp(yw_scene_methods[i]->name, name) == 0) return yw_scene_methods[i];
  }
  return NULL;
}

void yw_list_methods(bool (*has)(const yw_scene_method* method, int32_t what), int32_t what,
                     char* out, size_t capacity) {
  size_t used = 0;
  int32_t left = 0;
  for (int32_t i = 0; yw_scene_methods[i]; i++) left += has(yw_scene_methods[i], what);
  if (capacity > 0) out[0] = '\0';
  for (int32_t i = 0; yw_scene_methods[i] && used < capacity; i++) {
    if (!has(yw_scene_methods[i], what)) continue;
    const char* between = used == 0 ? "" : left == 1 ? " or " : ", ";
    used += (size_t)snprintf(out + used, capacity - used, "%s\"%s\"", between,
                             yw_scene_methods[i]->name);
    left--;
  }
}

int32_t yw_list_sources(const char* out[YW_SCENE_MAX_SOURCES]) {
  int32_t count = 0;
  out[count++] = "mesh";
  out[count++] = "shape";
  for (int32_t i = 0; yw_scene_methods[i]; i++) {
    const char* const* own = yw_scene_methods[i]->sources;
    for (; own && *own && count < YW_SCENE_MAX_SOURCES; own++) out[count++] = *own;
  }
  return count;
}

// The first source of a method in the object, or NULL.
static const yw_json* own_source(const yw_scene_method* method, const yw_json* node) {
  for (const char* const* own = method->sources; own && *own; own++) {
    const yw_json* item = yw_json_get(node, *own);
    if (item) return item;
  }
  return NULL;
}

bool yw_is_named(const yw_scene_method* method, const yw_scene_method* named) {
  return !named || named == method ||
         (method->old_name && strcmp(method->old_name, named->name) == 0);
}

bool yw_find_method(yw_loader* l, const yw_json* node, yw_model_keys* keys) {
  const yw_scene_method* owner = NULL;
  for (int32_t i = 0; yw_scene_methods[i]; i++) {
    const yw_scene_method* method = yw_scene_methods[i];
    const yw_json* settings = yw_json_get(node, method->name);
    if (!owner) {
      keys->own_source = own_source(method, node);
      if (keys->own_source) owner = method;
    }
    if (!settings) continue;
    if (keys->method && !yw_not_both(&l->r, node, keys->method->name, method->name)) return false;
    keys->method = method;
    keys->settings = settings;
  }
  if (owner && yw_is_named(owner, keys->method)) keys->method = owner;
  return true;
}

bool yw_needs_volume(yw_loader* l, const yw_model_spec* model) {
  const yw_json* source = model->keys.own_source;
  return !source || yw_value_fail(&l->r, model->settings_node, "is for volumes, but this is a %s",
                                  source->key);
}

const yw_json* yw_first_model_key(const yw_json* settings, const yw_record* record) {
  for (int32_t i = 0; settings && i < record->num_keys; i++) {
    const yw_json* item = yw_json_get(settings, record->keys[i].name);
    if (item && record->keys[i].of_model) return item;
  }
  return NULL;
}
