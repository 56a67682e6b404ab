// SPDX-License-Identifier: MIT
// "groups" and "collides_with" in scene files: names become bits.
#include <string.h>

#include "scene/loader.h"

static bool is_default(const yw_json* name) { return strcmp(name->string, "default") == 0; }

// The bit of a group; it gets one when it is named first.
static bool find_bit(yw_loader* l, const yw_json* name, uint32_t* bit) {
  if (!yw_is_type(&l->r, name, YW_JSON_STRING)) return false;
  *bit = 1;
  if (is_default(name)) return true;
  int32_t i = 0;
  while (i < l->num_groups && strcmp(l->group_names[i]->string, name->string) != 0) ++i;
  if (i == YW_SCENE_MAX_GROUPS) {
    return yw_value_fail(&l->r, name, "is a new group, but a scene has at most %d",
                         YW_SCENE_MAX_GROUPS);
  }
  if (i == l->num_groups) l->group_names[l->num_groups++] = name;
  *bit = 2u << i;
  return true;
}

static bool read_bits(yw_loader* l, const yw_json* list, uint32_t* bits) {
  if (!list) return true;
  if (!yw_is_type(&l->r, list, YW_JSON_ARRAY)) return false;
  *bits = 0;
  for (int32_t i = 0; i < list->count; i++) {
    uint32_t bit;
    if (!find_bit(l, list->items[i], &bit)) return false;
    *bits |= bit;
  }
  return true;
}

bool yw_load_filter(yw_loader* l, yw_filter_spec* filter) {
  filter->group_bits = 1;
  filter->mask_bits = UINT32_MAX;
  if (!read_bits(l, filter->groups, &filter->group_bits) ||
      !read_bits(l, filter->collides_with, &filter->mask_bits)) {
    return false;
  }
  l->used_groups |= filter->group_bits;
  return true;
}

bool yw_check_filters(yw_loader* l) {
  for (int32_t i = 0; i < l->num_groups; i++) {
    if (l->used_groups & 2u << i) continue;
    return yw_value_fail(&l->r, l->group_names[i], "is \"%s\", but nothing is in that group",
                         l->group_names[i]->string);
  }
  return true;
}
