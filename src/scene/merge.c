// SPDX-License-Identifier: MIT
// "merge": the bodies of a group become parts of one model, so that they fuse where they touch.
#include <string.h>

#include "scene/method.h"
#include "yawara/extend/vec.h"

// Reading -----------------------------------------------------------------------------------------

static bool find_group(yw_loader* l, const char* name, int32_t* out) {
  yw_scene* scene = l->scene;
  for (*out = 0; *out < scene->groups.count; ++*out) {
    if (strcmp(scene->groups.items[*out].name, name) == 0) return true;
  }
  if (!YW_LIST_RESERVE(&scene->mem, &scene->groups, 1)) return yw_memory_fail(&l->r);
  scene->groups.items[scene->groups.count++] =
      (yw_group_spec){.name = name, .first = scene->bodies.count};
  return true;
}

static bool can_merge(const yw_scene_method* method, int32_t what) {
  (void)what;
  return method->check_merge != NULL;
}

bool yw_load_merge(yw_loader* l, yw_body_spec* body) {
  const yw_json* node = body->merge;
  yw_model_spec* model = &l->scene->models.items[body->model_index];
  body->group = -1;
  if (!node || (node->type == YW_JSON_BOOL && !node->boolean)) {
    model->merged_only = false;
    return true;
  }
  if (node->type != YW_JSON_BOOL && node->type != YW_JSON_STRING) {
    return yw_type_fail(&l->r, node, "true, false or the name of a group");
  }
  if (!model->method->check_merge) {
    char methods[200];
    yw_list_methods(can_merge, 0, methods, sizeof methods);
    return yw_value_fail(&l->r, node, "is only for bodies of %s", methods);
  }
  const char* name = node->type == YW_JSON_STRING ? node->string : "";
  if (!find_group(l, name, &body->group)) return false;
  yw_group_spec* group = &l->scene->groups.items[body->group];
  const yw_body_spec* first = &l->scene->bodies.items[group->first];
  if (yw_model_of_body(l->scene, first)->method != model->method) {
    return yw_value_fail(&l->r, node, "merges with bodies of another method");
  }
  if (!model->method->check_merge(l, body, first)) return false;
  if (group->num_parts > YW_SCENE_MAX_BODIES - yw_body_num_copies(body)) {
    return yw_value_fail(&l->r, node, "makes more than %d parts", YW_SCENE_MAX_BODIES);
  }
  group->num_parts += yw_body_num_copies(body);
  return true;
}

// Building ----------------------------------------------------------------------------------------

// Lists all copies in the order of their particles: by start time, then as in the file.
static void list_parts(const yw_scene* scene, int32_t index, yw_part_spec* out) {
  int32_t count = 0;
  for (int32_t i = 0; i < scene->bodies.count; i++) {
    const yw_body_spec* body = &scene->bodies.items[i];
    if (body->group != index) continue;
    for (int32_t copy = 0; copy < yw_body_num_copies(body); copy++) {
      yw_part_spec part = {.body = i, .copy = copy, .start = yw_body_copy_start(body, copy)};
      part.count = yw_model_of_body(scene, body)->num_points;
      int32_t at = count++;
      for (; at > 0 && out[at - 1].start > part.start; at--) out[at] = out[at - 1];
      out[at] = part;
    }
  }
  for (int32_t i = 1; i < count; i++) out[i].first = out[i - 1].first + out[i - 1].count;
}

// Particles that are added later do not exist yet when pins are created.
static bool check_pins(yw_loader* l, const yw_group_spec* group) {
  for (int32_t i = 0; i < group->num_parts; i++) {
    const yw_body_spec* body = &l->scene->bodies.items[group->parts[i].body];
    if (body->num_pins == 0 || !(group->parts[i].start > group->parts[0].start)) continue;
    return yw_value_fail(&l->r, body->pins,
                         "is for bodies that are there when others of their group begin (at %g s), "
                         "but this one comes at %g s",
                         group->parts[0].start, group->parts[i].start);
  }
  return true;
}

static bool build_group(yw_loader* l, int32_t index) {
  yw_scene* scene = l->scene;
  yw_group_spec* group = &scene->groups.items[index];
  group->parts = yw_json_alloc(l->r.doc, (size_t)group->num_parts * sizeof *group->parts);
  if (!group->parts) return yw_memory_fail(&l->r);
  list_parts(scene, index, group->parts);
  const yw_body_spec* first = &scene->bodies.items[group->first];
  return check_pins(l, group) && yw_model_of_body(scene, first)->method->build_group(l, group);
}

bool yw_build_groups(yw_loader* l) {
  for (int32_t i = 0; i < l->scene->groups.count; i++) {
    if (!build_group(l, i)) return false;
  }
  return true;
}
