// SPDX-License-Identifier: MIT
// Reads bodies with their pins and copies, obstacles, and the floor.
#include <string.h>

#include "scene/loader.h"
#include "scene/records.h"
#include "yawara/extend/vec.h"

#define FAR 1e6

// Tables ------------------------------------------------------------------------------------------

static const yw_body_spec body_defaults = {
    .keys = {.density = 1000}, .rotation = {0, 0, 0, 1}, .friction = 0.4f, .body_contact = true};
#define MODEL_FIELD(key) \
  { #key, YW_FIELD_NODE, offsetof(yw_body_spec, keys.key), 0, 0, false, NULL }
static const yw_field body_fields[] = {
    YW_FIELD(yw_body_spec, name, TEXT, 0, 0),
    YW_FIELD(yw_body_spec, model, NODE, 0, 0),
    MODEL_FIELD(shape),
    MODEL_FIELD(mesh),
    MODEL_FIELD(rod),
    MODEL_FIELD(sheet),
    MODEL_FIELD(match),
    MODEL_FIELD(frames),
    MODEL_FIELD(slender),
    MODEL_FIELD(fem),
    MODEL_FIELD(plastic),
    MODEL_FIELD(examples),
    MODEL_FIELD(surface),
    {"density", YW_FIELD_NUMBER, offsetof(yw_body_spec, keys.density), 0, 1e6, true, NULL},
    YW_FIELD(yw_body_spec, position, VEC3, -FAR, FAR),
    YW_FIELD(yw_body_spec, rotation, ROTATION, 0, 0),
    YW_FIELD(yw_body_spec, velocity, VEC3, -1e5, 1e5),
    YW_FIELD(yw_body_spec, angular_velocity, VEC3, -1e5, 1e5),
    YW_FIELD(yw_body_spec, friction, NUMBER, 0, 1000),
    YW_FIELD(yw_body_spec, restitution, NUMBER, 0, 1),
    YW_FIELD(yw_body_spec, body_contact, BOOL, 0, 0),
    YW_FIELD(yw_body_spec, self_contact, BOOL, 0, 0),
    {"start", YW_FIELD_NUMBER, offsetof(yw_body_spec, start_time), 0, FAR, false, NULL},
    YW_FIELD(yw_body_spec, color, COLOR, 0, 1),
    YW_FIELD(yw_body_spec, colors, NODE, 0, 0),
    YW_FIELD(yw_body_spec, paint, NODE, 0, 0),
    YW_FIELD(yw_body_spec, start_pose, NODE, 0, 0),
    YW_FIELD(yw_body_spec, pins, NODE, 0, 0),
    YW_FIELD(yw_body_spec, repeat, NODE, 0, 0),
    YW_FIELD(yw_body_spec, merge, NODE, 0, 0)};
const yw_record yw_record_body = YW_RECORD("body", body_fields, body_defaults);

static const yw_paint_spec paint_defaults = {.blend = 0.01f};
static const yw_field paint_fields[] = {YW_FIELD(yw_paint_spec, shape, NODE, 0, 0),
                                        YW_FIELD(yw_paint_spec, color, COLOR, 0, 1),
                                        YW_FIELD(yw_paint_spec, blend, NUMBER, 0, FAR)};
const yw_record yw_record_paint = YW_RECORD("paint", paint_fields, paint_defaults);

static const yw_repeat_spec repeat_defaults = {.count = {1, 1, 1}, .seed = 1};
static const yw_field repeat_fields[] = {
    YW_FIELD(yw_repeat_spec, count, COUNTS, 1, YW_SCENE_MAX_BODIES),
    YW_FIELD(yw_repeat_spec, spacing, VEC3, -FAR, FAR),
    YW_FIELD(yw_repeat_spec, jitter, NUMBER, 0, FAR),
    YW_FIELD(yw_repeat_spec, turn, NUMBER, 0, 360),
    YW_FIELD(yw_repeat_spec, interval, NUMBER, 0, FAR),
    YW_FIELD(yw_repeat_spec, seed, INTEGER, 0, 2147483647)};
const yw_record yw_record_repeat = YW_RECORD("repeat", repeat_fields, repeat_defaults);

static const yw_pin_spec pin_defaults = {.node = NULL};
static const yw_field pin_fields[] = {
    YW_FIELD(yw_pin_spec, select, NODE, 0, 0), YW_FIELD(yw_pin_spec, vertices, NODE, 0, 0),
    YW_FIELD(yw_pin_spec, path, NODE, 0, 0), YW_FIELD(yw_pin_spec, spring, NODE, 0, 0),
    YW_FIELD(yw_pin_spec, clamp, BOOL, 0, 0)};
const yw_record yw_record_pin = YW_RECORD("pin", pin_fields, pin_defaults);

typedef struct spring_keys {
  float stiffness, damping;
} spring_keys;
static const spring_keys spring_defaults = {.damping = 0};
static const yw_field spring_fields[] = {YW_FIELD_ABOVE(spring_keys, stiffness, NUMBER, 0, 1e12),
                                         YW_FIELD(spring_keys, damping, NUMBER, 0, 1e12)};
const yw_record yw_record_spring = YW_RECORD("spring", spring_fields, spring_defaults);

static const yw_obstacle_spec obstacle_defaults = {
    .rotation = {0, 0, 0, 1}, .friction = 0.4f, .color = {0.55f, 0.55f, 0.58f}, .visible = true};
static const yw_field obstacle_fields[] = {YW_FIELD(yw_obstacle_spec, name, TEXT, 0, 0),
                                           YW_FIELD(yw_obstacle_spec, shape, NODE, 0, 0),
                                           YW_FIELD(yw_obstacle_spec, position, VEC3, -FAR, FAR),
                                           YW_FIELD(yw_obstacle_spec, rotation, ROTATION, 0, 0),
                                           YW_FIELD(yw_obstacle_spec, path, NODE, 0, 0),
                                           YW_FIELD(yw_obstacle_spec, friction, NUMBER, 0, 1000),
                                           YW_FIELD(yw_obstacle_spec, restitution, NUMBER, 0, 1),
                                           YW_FIELD(yw_obstacle_spec, sticky, BOOL, 0, 0),
                                           YW_FIELD(yw_obstacle_spec, color, COLOR, 0, 1),
                                           YW_FIELD(yw_obstacle_spec, visible, BOOL, 0, 0),
                                           YW_FIELD(yw_obstacle_spec, checker, BOOL, 0, 0)};
const yw_record yw_record_obstacle = YW_RECORD("obstacle", obstacle_fields, obstacle_defaults);

typedef struct floor_keys {
  float height, friction, restitution;
  yw_vec3 color;
  bool sticky, visible, checker;
} floor_keys;
static const floor_keys floor_defaults = {
    .friction = 0.4f, .color = {0.55f, 0.55f, 0.58f}, .visible = true, .checker = true};
static const yw_field floor_fields[] = {YW_FIELD(floor_keys, height, NUMBER, -FAR, FAR),
                                        YW_FIELD(floor_keys, friction, NUMBER, 0, 1000),
                                        YW_FIELD(floor_keys, restitution, NUMBER, 0, 1),
                                        YW_FIELD(floor_keys, sticky, BOOL, 0, 0),
                                        YW_FIELD(floor_keys, color, COLOR, 0, 1),
                                        YW_FIELD(floor_keys, visible, BOOL, 0, 0),
                                        YW_FIELD(floor_keys, checker, BOOL, 0, 0)};
const yw_record yw_record_floor = YW_RECORD("floor", floor_fields, floor_defaults);

// Pins --------------------------------------------------------------------------------------------

static bool load_pin_vertices(yw_loader* l, const yw_json* node, yw_pin_spec* out) {
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  if (node->count == 0) return yw_value_fail(&l->r, node, "is empty, but must have a vertex");
  out->list = yw_json_alloc(l->r.doc, (size_t)node->count * sizeof *out->list);
  if (!out->list) return yw_memory_fail(&l->r);
  out->num_vertices = node->count;
  for (int32_t i = 0; i < node->count; i++) {
    if (!yw_read_integer(&l->r, node->items[i], 0, 2147483647, &out->list[i])) return false;
  }
  return true;
}

static bool load_spring(yw_loader* l, const yw_json* node, yw_pin_spec* out) {
  spring_keys k;
  if (!yw_read_record(&l->r, node, &yw_record_spring, &k) || !yw_needs(&l->r, node, "stiffness")) {
    return false;
  }
  out->stiffness = k.stiffness;
  out->damping = k.damping;
  return true;
}

static bool load_pin(yw_loader* l, const yw_json* node, yw_pin_spec* out) {
  static const char* const sources[] = {"select", "vertices"};
  int32_t which;
  if (!yw_read_record(&l->r, node, &yw_record_pin, out) ||
      !yw_exactly_one(&l->r, node, 2, sources, &which)) {
    return false;
  }
  out->node = node;
  if (out->select && !yw_load_shape(l, out->select, &out->shape)) return false;
  if (out->vertices && !load_pin_vertices(l, out->vertices, out)) return false;
  if (out->spring && !load_spring(l, out->spring, out)) return false;
  return yw_load_path(l, out->path, &out->motion);
}

static bool load_pins(yw_loader* l, yw_body_spec* body) {
  const yw_json* node = body->pins;
  if (!node) return true;
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  body->num_pins = node->count;
  body->pin_list = yw_json_alloc(l->r.doc, (size_t)(node->count + 1) * sizeof *body->pin_list);
  if (!body->pin_list) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < node->count; i++) {
    if (!load_pin(l, node->items[i], &body->pin_list[i])) return false;
  }
  return true;
}

static bool load_paint(yw_loader* l, yw_body_spec* body) {
  const yw_json* node = body->paint;
  if (!node) return true;
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  body->num_paints = node->count;
  body->paint_list = yw_json_alloc(l->r.doc, (size_t)(node->count + 1) * sizeof *body->paint_list);
  if (!body->paint_list) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < node->count; i++) {
    yw_paint_spec* paint = &body->paint_list[i];
    if (!yw_read_record(&l->r, node->items[i], &yw_record_paint, paint) ||
        !yw_needs(&l->r, node->items[i], "shape") || !yw_needs(&l->r, node->items[i], "color") ||
        !yw_load_shape(l, paint->shape, &paint->solid)) {
      return false;
    }
  }
  return true;
}

// Models of bodies --------------------------------------------------------------------------------

static bool find_model(yw_loader* l, const yw_json* name, int32_t* index) {
  const yw_json* model = yw_json_get(l->models, name->string);
  if (model) {
    *index = model->index;
    return true;
  }
  int32_t count = l->models ? l->models->count : 0;
  const char** names = yw_json_alloc(l->r.doc, (size_t)(count + 1) * sizeof *names);
  if (!names) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < count; i++) names[i] = l->models->items[i]->key;
  yw_hint hint = yw_suggest(name->string, count, names);
  return yw_value_fail(&l->r, name, "is \"%.60s\", but \"models\" has no model of that name%s",
                       name->string, hint.text);
}

// A body that takes a model from elsewhere cannot change what it is made of.
static bool check_no_model_keys(yw_loader* l, const yw_body_spec* body) {
  static const char* const keys[] = {"shape",   "mesh",     "rod",    "sheet",
                                     "density", "examples", "surface"};
  for (int32_t i = 0; i < 7; i++) {
    const yw_json* item = yw_json_get(body->node, keys[i]);
    if (item) return yw_value_fail(&l->r, item, "belongs to the model, but \"model\" is given");
  }
  const yw_json* groups = yw_json_get(body->keys.match, "groups");
  const yw_json* item = groups ? groups : yw_first_key(body->keys.frames, yw_frames_model_keys);
  if (!item) item = yw_first_key(body->keys.slender, yw_slender_model_keys);
  if (!item) item = yw_first_key(body->keys.fem, yw_fem_model_keys);
  if (!item) item = body->keys.plastic;
  if (item) return yw_value_fail(&l->r, item, "belongs to the model, but \"model\" is given");
  return true;
}

// Settings of one method mean nothing to a model of another.
static bool check_method(yw_loader* l, const yw_body_spec* body) {
  static const char* const names[] = {"match", "frames", "slender", "fem", "plastic"};
  const yw_json* const settings[] = {body->keys.match, body->keys.frames, body->keys.slender,
                                     body->keys.fem, body->keys.plastic};
  int32_t method = (int32_t)l->scene->models.items[body->model_index].method;
  for (int32_t i = 0; i < 5; i++) {
    if (i == method || !settings[i]) continue;
    return yw_value_fail(&l->r, settings[i], "is given, but the model is one of \"%s\"",
                         names[method]);
  }
  return true;
}

static bool load_body_model(yw_loader* l, yw_body_spec* body) {
  yw_method_spec settings = yw_default_method_spec();
  yw_take_old_keys(&body->keys);
  if (!body->model) {
    static const char* const sources[] = {"mesh", "shape", "rod", "sheet", "model"};
    int32_t which;
    if (!yw_exactly_one(&l->r, body->node, 5, sources, &which) ||
        !yw_load_model(l, body->node, &body->keys, &body->model_index)) {
      return false;
    }
  } else if (!check_no_model_keys(l, body)) {
    return false;
  } else if (body->model->type == YW_JSON_STRING) {
    if (!find_model(l, body->model, &body->model_index)) return false;
    settings = l->scene->models.items[body->model_index].settings;
  } else {
    yw_model_keys keys;
    if (!yw_read_record(&l->r, body->model, &yw_record_model, &keys)) return false;
    yw_take_old_keys(&keys);
    if (!yw_load_model(l, body->model, &keys, &body->model_index) ||
        !yw_load_body_settings(l, &keys, 0, &settings)) {
      return false;
    }
  }
  yw_model_spec* model = &l->scene->models.items[body->model_index];
  // Settings of rods and sheets were once called "frames".
  if (model->method == YW_SCENE_SLENDER && !body->keys.slender) {
    body->keys.slender = body->keys.frames;
    body->keys.frames = NULL;
  }
  if (!check_method(l, body) ||
      !yw_load_body_settings(l, &body->keys, model->num_poses, &settings)) {
    return false;
  }
  model->used = true;
  body->params = yw_match_params_of_spec(&settings.match);
  body->frames_params = yw_frames_params_of_spec(&settings.frames);
  body->slender_params = settings.slender.params;
  body->fem_params = settings.fem.params;
  return true;
}

// Start poses -------------------------------------------------------------------------------------

static bool find_example(yw_loader* l, const yw_model_spec* model, const yw_json* node,
                         int32_t* out) {
  const char* names[YW_MAX_EXAMPLES];
  int32_t count = 0;
  for (int32_t i = 0; i < model->num_poses; i++) {
    const char* name = model->poses[i].name;
    if (!name) continue;
    names[count++] = name;
    if (strcmp(name, node->string) == 0) {
      *out = i;
      return true;
    }
  }
  yw_hint hint = yw_suggest(node->string, count, names);
  return yw_value_fail(&l->r, node, "is \"%.60s\", but the model has no example of that name%s",
                       node->string, hint.text);
}

static bool load_start_pose(yw_loader* l, yw_body_spec* body) {
  const yw_json* node = body->start_pose;
  body->start_example = -1;
  if (!node) return true;
  const yw_model_spec* model = &l->scene->models.items[body->model_index];
  if (yw_source_is_slender(model->source)) {
    return yw_value_fail(&l->r, node, "is for volumes, but this is a rod or a sheet");
  }
  if (model->method == YW_SCENE_PLASTIC) {
    return yw_value_fail(&l->r, node, "is not for bodies of \"plastic\"");
  }
  if (node->type == YW_JSON_STRING) return find_example(l, model, node, &body->start_example);
  if (node->type == YW_JSON_OBJECT) return yw_load_pose(l, node, &body->start);
  if (node->type != YW_JSON_NUMBER) {
    return yw_type_fail(&l->r, node,
                        "the number or name of an example, or a pose like {\"deform\": ...}");
  }
  if (!yw_read_integer(&l->r, node, -1e9, 1e9, &body->start_example)) return false;
  if (body->start_example >= 0 && body->start_example < model->num_poses) return true;
  if (model->num_poses == 0) {
    return yw_value_fail(&l->r, node, "is %d, but the model has no examples",
                         (int)body->start_example);
  }
  return yw_value_fail(&l->r, node, "is %d, but the model has %d example%s, numbered from 0",
                       (int)body->start_example, (int)model->num_poses,
                       model->num_poses == 1 ? "" : "s");
}

// Bodies ------------------------------------------------------------------------------------------

static bool load_copies(yw_loader* l, yw_body_spec* body) {
  body->copies = repeat_defaults;
  const yw_json* node = body->repeat;
  if (node) {
    if (!yw_read_record(&l->r, node, &yw_record_repeat, &body->copies) ||
        !yw_needs(&l->r, node, "count") || !yw_needs(&l->r, node, "spacing")) {
      return false;
    }
  }
  const int32_t* count = body->copies.count;
  double total = l->scene->num_bodies + (double)count[0] * count[1] * count[2];
  if (total > YW_SCENE_MAX_BODIES) {
    return yw_value_fail(&l->r, node ? node : body->node,
                         "makes %.0f bodies, but a scene has at most %d", total,
                         YW_SCENE_MAX_BODIES);
  }
  return true;
}

// Bodies that merge are one body of the world, which stands where the first of them is.
static void number_body(yw_loader* l, yw_body_spec* body) {
  body->first_body = l->scene->num_bodies;
  if (body->group < 0) {
    l->scene->num_bodies += yw_body_num_copies(body);
  } else if (l->scene->groups.items[body->group].first == l->scene->bodies.count) {
    l->scene->num_bodies++;
  }
}

static bool load_colors(yw_loader* l, yw_body_spec* body) {
  const yw_json* node = body->colors;
  bool one = yw_json_get(body->node, "color") != NULL;
  if (!yw_not_both(&l->r, body->node, "color", "colors")) return false;
  if (node && !yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  if (node && node->count == 0) {
    return yw_value_fail(&l->r, node, "is empty, but must have a color");
  }
  body->num_colors = node ? node->count : one;
  body->color_list =
      yw_json_alloc(l->r.doc, (size_t)(body->num_colors + 1) * sizeof *body->color_list);
  if (!body->color_list) return yw_memory_fail(&l->r);
  body->color_list[0] = body->color;
  for (int32_t i = 0; node && i < node->count; i++) {
    if (!yw_read_color(&l->r, node->items[i], &body->color_list[i])) return false;
  }
  return true;
}

bool yw_load_bodies(yw_loader* l, const yw_json* node) {
  if (!node) return true;
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  if (node->count > YW_SCENE_MAX_BODIES) {
    return yw_value_fail(&l->r, node, "has %d bodies, but a scene has at most %d", (int)node->count,
                         YW_SCENE_MAX_BODIES);
  }
  if (!YW_LIST_RESERVE(&l->scene->mem, &l->scene->bodies, node->count)) {
    return yw_memory_fail(&l->r);
  }
  for (int32_t i = 0; i < node->count; i++) {
    yw_body_spec* body = &l->scene->bodies.items[l->scene->bodies.count];
    if (!yw_read_record(&l->r, node->items[i], &yw_record_body, body)) return false;
    body->node = node->items[i];
    if (!load_copies(l, body) || !load_body_model(l, body) || !load_start_pose(l, body) ||
        !load_colors(l, body) || !load_paint(l, body) || !load_pins(l, body) ||
        !yw_load_merge(l, body)) {
      return false;
    }
    number_body(l, body);
    l->scene->bodies.count++;
  }
  return true;
}

// Obstacles ---------------------------------------------------------------------------------------

bool yw_load_obstacles(yw_loader* l, const yw_json* node) {
  if (!node) return true;
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  if (node->count > YW_SCENE_MAX_OBSTACLES) {
    return yw_value_fail(&l->r, node, "has %d obstacles, but a scene has at most %d",
                         (int)node->count, YW_SCENE_MAX_OBSTACLES);
  }
  if (!YW_LIST_RESERVE(&l->scene->mem, &l->scene->obstacles, node->count)) {
    return yw_memory_fail(&l->r);
  }
  for (int32_t i = 0; i < node->count; i++) {
    const yw_json* item = node->items[i];
    yw_obstacle_spec* obstacle = &l->scene->obstacles.items[l->scene->obstacles.count];
    if (!yw_read_record(&l->r, item, &yw_record_obstacle, obstacle) ||
        !yw_needs(&l->r, item, "shape") || !yw_load_shape(l, obstacle->shape, &obstacle->solid) ||
        !yw_load_path(l, obstacle->path, &obstacle->motion)) {
      return false;
    }
    obstacle->node = item;
    l->scene->obstacles.count++;
  }
  return true;
}

bool yw_load_floor(yw_loader* l, const yw_json* node) {
  if (!node || (node->type == YW_JSON_BOOL && !node->boolean)) return true;
  floor_keys k = floor_defaults;
  if (node->type != YW_JSON_BOOL) {
    if (node->type != YW_JSON_OBJECT) {
      return yw_type_fail(&l->r, node, "true, false or an object");
    }
    if (!yw_read_record(&l->r, node, &yw_record_floor, &k)) return false;
  }
  yw_scene* scene = l->scene;
  yw_obstacle_spec floor = obstacle_defaults;
  if (!YW_LIST_RESERVE(&scene->mem, &scene->obstacles, 1) ||
      !YW_LIST_RESERVE(&scene->mem, &scene->shapes, 1) ||
      yw_shape_plane(&scene->mem, yw_v3(0, 1, 0), k.height, &floor.solid) < 0) {
    return yw_memory_fail(&l->r);
  }
  scene->shapes.items[scene->shapes.count++] = floor.solid;
  floor.node = node;
  floor.name = "floor";
  floor.friction = k.friction;
  floor.restitution = k.restitution;
  floor.sticky = k.sticky;
  floor.color = k.color;
  floor.visible = k.visible;
  floor.checker = k.checker;
  scene->obstacles.items[scene->obstacles.count++] = floor;
  return true;
}
