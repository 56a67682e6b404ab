// SPDX-License-Identifier: MIT
// "merge" of bodies: plastic bodies of one group become parts of one model, so that they grow
// together where they meet.
#include <string.h>

#include "scene/loader.h"
#include "yawara/extend/vec.h"
#include "yawara/plastic.h"

// Reading -----------------------------------------------------------------------------------------

static const yw_model_spec* model_of(const yw_loader* l, const yw_body_spec* body) {
  return &l->scene->models.items[body->model_index];
}

static bool differs(yw_loader* l, const yw_json* object, const char* key, const yw_json* fallback) {
  const yw_json* item = yw_json_get(object, key);
  return yw_value_fail(&l->r, item ? item : fallback,
                       "merges with bodies whose \"%s\" is another, but all must have the same",
                       key);
}

// What the bodies of a group share.
static bool check_same(yw_loader* l, const yw_body_spec* body, const yw_body_spec* first) {
  const yw_plastic_spec* a = &model_of(l, body)->settings.plastic;
  const yw_plastic_spec* b = &model_of(l, first)->settings.plastic;
  const yw_json* settings = model_of(l, body)->keys.plastic;
  const struct {
    const char* key;
    bool same;
  } inner[] = {{"spacing", a->spacing == b->spacing},
               {"time_step", a->time_step == b->time_step},
               {"tolerance", a->tolerance == b->tolerance},
               {"max_iterations", a->max_iterations == b->max_iterations},
               {"sleep_speed", a->sleep_speed == b->sleep_speed},
               {"variant", a->variant == b->variant},
               {"without_slaves", a->without_slaves == b->without_slaves}};
  for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
    if (!inner[i].same) return differs(l, settings, inner[i].key, body->merge);
  }
  const struct {
    const char* key;
    bool same;
  } outer[] = {{"friction", body->friction == first->friction},
               {"restitution", body->restitution == first->restitution},
               {"body_contact", body->body_contact == first->body_contact},
               {"self_contact", body->self_contact == first->self_contact}};
  for (size_t i = 0; i < sizeof outer / sizeof *outer; i++) {
    if (!outer[i].same) return differs(l, body->node, outer[i].key, body->merge);
  }
  return true;
}

// Bodies of different sizes would choose different spacings.
static bool check_spacing(yw_loader* l, const yw_body_spec* body) {
  const yw_json* settings = model_of(l, body)->keys.plastic;
  return yw_json_get(settings, "spacing") ||
         yw_value_fail(&l->r, settings, "needs \"spacing\" where bodies merge");
}

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
  if (model->method != YW_SCENE_PLASTIC) {
    return yw_value_fail(&l->r, node, "is only for bodies of \"plastic\"");
  }
  const char* name = node->type == YW_JSON_STRING ? node->string : "";
  if (!check_spacing(l, body) || !find_group(l, name, &body->group)) return false;
  yw_group_spec* group = &l->scene->groups.items[body->group];
  const yw_body_spec* first = &l->scene->bodies.items[group->first];
  if (first != body && !check_same(l, body, first)) return false;
  if (group->num_parts > YW_SCENE_MAX_BODIES - yw_body_num_copies(body)) {
    return yw_value_fail(&l->r, node, "makes more than %d parts", YW_SCENE_MAX_BODIES);
  }
  group->num_parts += yw_body_num_copies(body);
  return true;
}

// Building ----------------------------------------------------------------------------------------

// All copies, those that start together in the order of the file: the order of their particles.
static void list_parts(const yw_scene* scene, int32_t index, yw_part_spec* out) {
  int32_t count = 0;
  for (int32_t i = 0; i < scene->bodies.count; i++) {
    const yw_body_spec* body = &scene->bodies.items[i];
    if (body->group != index) continue;
    for (int32_t copy = 0; copy < yw_body_num_copies(body); copy++) {
      yw_part_spec part = {.body = i, .copy = copy, .start = yw_body_copy_start(body, copy)};
      part.count = scene->models.items[body->model_index].tets.num_vertices;
      int32_t at = count++;
      for (; at > 0 && out[at - 1].start > part.start; at--) out[at] = out[at - 1];
      out[at] = part;
    }
  }
  for (int32_t i = 1; i < count; i++) out[i].first = out[i - 1].first + out[i - 1].count;
}

// Particles that come later are not there when pins take hold.
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
  yw_plastic_part* parts = YW_NEW_ARRAY(&scene->mem, yw_plastic_part, group->num_parts);
  if (!group->parts || !parts) {
    yw_mem_free(&scene->mem, parts);
    return yw_memory_fail(&l->r);
  }
  list_parts(scene, index, group->parts);
  if (!check_pins(l, group)) {
    yw_mem_free(&scene->mem, parts);
    return false;
  }
  for (int32_t i = 0; i < group->num_parts; i++) {
    const yw_part_spec* spec = &group->parts[i];
    const yw_body_spec* body = &scene->bodies.items[spec->body];
    parts[i] = yw_plastic_part_of(model_of(l, body));
    parts[i].transform = yw_body_copy_transform(body, spec->copy);
    parts[i].velocity = body->velocity;
    parts[i].angular_velocity = body->angular_velocity;
    // Those that begin first are there when the body of the world begins.
    parts[i].start = spec->start > group->parts[0].start ? spec->start : 0.0;
  }
  const yw_body_spec* first = &scene->bodies.items[group->first];
  yw_plastic_def def = yw_plastic_def_of(model_of(l, first));
  def.parts = parts;
  def.num_parts = group->num_parts;
  yw_error deep = {0};
  yw_status status = yw_model_create_plastic(&scene->mem, &def, &group->model, &deep);
  yw_mem_free(&scene->mem, parts);
  return status >= 0 || yw_deep_fail(&l->r, first->merge, &deep);
}

bool yw_build_groups(yw_loader* l) {
  for (int32_t i = 0; i < l->scene->groups.count; i++) {
    if (!build_group(l, i)) return false;
  }
  return true;
}
