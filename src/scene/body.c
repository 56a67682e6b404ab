// SPDX-License-Identifier: MIT
// Reads bodies with their pins and copies, obstacles, and the floor.
#include <string.h>

#include "scene/method.h"
#include "scene/records.h"
#include "yawara/extend/vec.h"

// Tables ------------------------------------------------------------------------------------------

static const yw_body_spec body_defaults = {
    .keys = {.density = 1000}, .rotation = {0, 0, 0, 1}, .friction = 0.4f, .body_contact = true};
static const yw_key_row body_rows[] = {
    YW_KEY(yw_body_spec, name, TEXT, 0, 0, "", "Name, for messages and output."),
    YW_NODE(yw_body_spec, model, "string|model", "Name of a model in \"models\", or a model."),
    YW_NODE_AS("shape", yw_body_spec, keys.shape, "any_shape",
               "Shape of the body, filled with tets of 1/12 of its longest side, or smaller ones "
               "where it is thin or curved; fem starts from larger ones, plastic uses particles."),
    YW_NODE_AS("mesh", yw_body_spec, keys.mesh, "string|mesh",
               "Tet mesh of the body: a file, a lattice, or a shape with a given tet size."),
    YW_NODE_AS("examples", yw_body_spec, keys.examples, "[pose]",
               "Example poses, which attract the body."),
    YW_NODE_AS("surface", yw_body_spec, keys.surface, "surface",
               "Finer triangle mesh that moves with the tets and is shown in pictures."),
    YW_KEY_ABOVE_AS("density", yw_body_spec, keys.density, NUMBER, 0, 1e6, "kg/m^3",
                    "Density. If a material is named, its density is the default."),
    YW_KEY(yw_body_spec, position, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Position of the origin of the rest pose."),
    YW_KEY(yw_body_spec, rotation, ROTATION, 0, 0, "",
           "Rotation of the rest pose about its origin."),
    YW_KEY(yw_body_spec, velocity, VEC3, -1e5, 1e5, "m/s", "Initial velocity."),
    YW_KEY(yw_body_spec, angular_velocity, VEC3, -1e5, 1e5, "rad/s",
           "Initial angular velocity about the centre of mass."),
    YW_KEY(yw_body_spec, friction, NUMBER, 0, 1000, "",
           "Coulomb friction coefficient. A contact uses the geometric mean of both sides."),
    YW_KEY(
        yw_body_spec, restitution, NUMBER, 0, 1, "",
        "Fraction of the speed kept in a bounce. A contact uses the larger value of both sides."),
    YW_KEY(yw_body_spec, body_contact, BOOL, 0, 0, "",
           "Whether the body collides with other bodies."),
    YW_KEY(yw_body_spec, self_contact, BOOL, 0, 0, "", "Whether the body collides with itself."),
    YW_NODE_AS("groups", yw_body_spec, filter.groups, "[string]",
               "Names of the groups that it is in, of up to 31. Default: \"default\"."),
    YW_NODE_AS("collides_with", yw_body_spec, filter.collides_with, "[string]",
               "Names of the groups that it collides with. Two collide if each collides with a "
               "group of the other. Default: all."),
    YW_KEY_AS("start", yw_body_spec, start_time, NUMBER, 0, YW_SCENE_REACH, "s",
              "Time at which the body appears and starts to move."),
    YW_KEY(yw_body_spec, color, COLOR, 0, 1, "", "Color of the body. Default: one from a palette."),
    YW_NODE(yw_body_spec, colors, "[color]",
            "Colors that the copies take in turn, instead of \"color\"."),
    YW_NODE(yw_body_spec, paint, "[paint]",
            "Other colors inside shapes; later entries cover earlier ones."),
    YW_NODE(yw_body_spec, start_pose, "integer|string|pose",
            "Initial pose: the number (from 0) or name of an example, or a pose."),
    YW_NODE(yw_body_spec, pins, "[pin]", "Pins, which hold or move parts of the body."),
    YW_NODE(yw_body_spec, tracks, "[track]",
            "Friction and numbers of the method that change over time."),
    YW_NODE(yw_body_spec, repeat, "repeat", "Grid of copies."),
    YW_NODE(yw_body_spec, merge, "boolean|string",
            "Plastic bodies with true, or with the same name, merge where they meet.")};
const yw_record yw_record_body = YW_RECORD_WITH_METHODS(
    "body", body_rows, body_defaults, "A soft body, with a \"model\" or with the keys of a model.",
    "one model shape mesh");

static const yw_paint_spec paint_defaults = {.blend = 0.01f};
static const yw_key_row paint_rows[] = {
    YW_NODE(yw_paint_spec, shape, "any_shape", "Painted region, in rest-pose coordinates."),
    YW_KEY(yw_paint_spec, color, COLOR, 0, 1, "", "Color."),
    YW_KEY(yw_paint_spec, blend, NUMBER, 0, YW_SCENE_REACH, "m",
           "Width of the soft border; the edge length of the surface triangles looks best.")};
const yw_record yw_record_paint = YW_RECORD(
    "paint", paint_rows, paint_defaults, "A different color inside a shape.", "needs shape color");

static const yw_repeat_spec repeat_defaults = {.count = {1, 1, 1}, .seed = 1};
static const yw_key_row repeat_rows[] = {
    YW_KEY(yw_repeat_spec, count, COUNTS, 1, YW_SCENE_MAX_BODIES, "",
           "Number of copies along x, y, z."),
    YW_KEY(yw_repeat_spec, spacing, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Distance from one copy to the next."),
    YW_KEY(yw_repeat_spec, jitter, NUMBER, 0, YW_SCENE_REACH, "m",
           "Maximum random displacement of each copy, along each axis."),
    YW_KEY(yw_repeat_spec, turn, NUMBER, 0, 360, "degrees",
           "Maximum random rotation of each copy, about a random axis."),
    YW_KEY(yw_repeat_spec, interval, NUMBER, 0, YW_SCENE_REACH, "s",
           "Time between the starts of consecutive copies."),
    YW_KEY(yw_repeat_spec, seed, INTEGER, 0, 2147483647, "", "Random seed.")};
const yw_record yw_record_repeat =
    YW_RECORD("repeat", repeat_rows, repeat_defaults,
              "A grid of copies; the first is at the body's position.", "needs count spacing");

static const yw_pin_spec pin_defaults = {.node = NULL};
static const yw_key_row pin_rows[] = {
    YW_NODE(yw_pin_spec, select, "any_shape",
            "Shape, in world coordinates; holds the vertices that are initially inside."),
    YW_NODE(yw_pin_spec, vertices, "[integer]",
            "Indices of the vertices to hold, from 0 as in the mesh."),
    YW_KEY(yw_pin_spec, painted, TEXT, 0, 0, "",
           "The vertices to hold as tools paint them: a byte per vertex of the mesh, in base64; "
           "those that are not 0 are held."),
    YW_NODE(yw_pin_spec, path, "any_path", "Motion of the held vertices."),
    YW_NODE(yw_pin_spec, spring, "spring",
            "Spring that pulls the vertices, instead of holding them exactly."),
    YW_NODE(yw_pin_spec, follow, "follow",
            "Animated mesh that the vertices follow, instead of a path and a spring."),
    YW_NODE(yw_pin_spec, strength, "[track_key]|track",
            "Strength over time, 0 to 1: springs are as much weaker; vertices that are held "
            "exactly are let go below 0.5. Default: always 1."),
    YW_KEY(yw_pin_spec, clamp, BOOL, 0, 0, "",
           "Rods and sheets: whether held particles also keep their orientation.")};
const yw_record yw_record_pin =
    YW_RECORD("pin", pin_rows, pin_defaults,
              "Holds vertices in place or moves them along a path; exactly, or with a spring.",
              "one select vertices painted; not follow path; not follow spring");

typedef struct spring_keys {
  float stiffness, damping;
} spring_keys;
static const spring_keys spring_defaults = {.damping = 0};
static const yw_key_row spring_rows[] = {
    YW_KEY_ABOVE(spring_keys, stiffness, NUMBER, 0, 1e12, "N/m", "Stiffness per vertex."),
    YW_KEY(spring_keys, damping, NUMBER, 0, 1e12, "N s/m", "Damping per vertex.")};
const yw_record yw_record_spring = YW_RECORD("spring", spring_rows, spring_defaults,
                                             "A spring at each held vertex.", "needs stiffness");

static const yw_obstacle_spec obstacle_defaults = {
    .rotation = {0, 0, 0, 1}, .friction = 0.4f, .color = {0.55f, 0.55f, 0.58f}, .visible = true};
static const yw_key_row obstacle_rows[] = {
    YW_KEY(yw_obstacle_spec, name, TEXT, 0, 0, "", "Name, for messages."),
    YW_NODE(yw_obstacle_spec, shape, "any_shape", "Shape of the obstacle."),
    YW_NODE(yw_obstacle_spec, animation, "animation",
            "An animated mesh instead of a shape: an obstacle that deforms."),
    YW_KEY(yw_obstacle_spec, position, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Position of the origin of the shape."),
    YW_KEY(yw_obstacle_spec, rotation, ROTATION, 0, 0, "",
           "Rotation of the shape about its origin."),
    YW_NODE(yw_obstacle_spec, path, "any_path", "Motion of the obstacle."),
    YW_KEY(yw_obstacle_spec, friction, NUMBER, 0, 1000, "",
           "Coulomb friction coefficient. A contact uses the geometric mean of both sides."),
    YW_KEY(
        yw_obstacle_spec, restitution, NUMBER, 0, 1, "",
        "Fraction of the speed kept in a bounce. A contact uses the larger value of both sides."),
    YW_KEY(yw_obstacle_spec, sticky, BOOL, 0, 0, "",
           "Whether plastic matter sticks to it (and comes off only by tearing) and other bodies "
           "cannot slide on it (but can lift off)."),
    YW_NODE_AS("groups", yw_obstacle_spec, filter.groups, "[string]",
               "Names of the groups that it is in, of up to 31. Default: \"default\"."),
    YW_NODE_AS("collides_with", yw_obstacle_spec, filter.collides_with, "[string]",
               "Names of the groups that it collides with. Two collide if each collides with a "
               "group of the other. Default: all."),
    YW_KEY(yw_obstacle_spec, color, COLOR, 0, 1, "", "Color."),
    YW_KEY(yw_obstacle_spec, visible, BOOL, 0, 0, "", "Whether it is shown in pictures."),
    YW_KEY(yw_obstacle_spec, checker, BOOL, 0, 0, "",
           "Whether it is shown with a checkerboard pattern.")};
const yw_record yw_record_obstacle =
    YW_RECORD("obstacle", obstacle_rows, obstacle_defaults, "An obstacle that bodies collide with.",
              "one shape animation");

typedef struct floor_keys {
  float height, friction, restitution;
  yw_vec3 color;
  bool sticky, visible, checker;
  yw_filter_spec filter;
} floor_keys;
static const floor_keys floor_defaults = {
    .friction = 0.4f, .color = {0.55f, 0.55f, 0.58f}, .visible = true, .checker = true};
static const yw_key_row floor_rows[] = {
    YW_KEY(floor_keys, height, NUMBER, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Height of the floor."),
    YW_KEY(floor_keys, friction, NUMBER, 0, 1000, "",
           "Coulomb friction coefficient. A contact uses the geometric mean of both sides."),
    YW_KEY(
        floor_keys, restitution, NUMBER, 0, 1, "",
        "Fraction of the speed kept in a bounce. A contact uses the larger value of both sides."),
    YW_KEY(floor_keys, sticky, BOOL, 0, 0, "",
           "Whether plastic matter sticks to it (and comes off only by tearing) and other bodies "
           "cannot slide on it (but can lift off)."),
    YW_NODE_AS("groups", floor_keys, filter.groups, "[string]",
               "Names of the groups that it is in, of up to 31. Default: \"default\"."),
    YW_NODE_AS("collides_with", floor_keys, filter.collides_with, "[string]",
               "Names of the groups that it collides with. Two collide if each collides with a "
               "group of the other. Default: all."),
    YW_KEY(floor_keys, color, COLOR, 0, 1, "", "Color."),
    YW_KEY(floor_keys, visible, BOOL, 0, 0, "", "Whether it is shown in pictures."),
    YW_KEY(floor_keys, checker, BOOL, 0, 0, "",
           "Whether it is shown with a checkerboard pattern.")};
const yw_record yw_record_floor =
    YW_RECORD("floor", floor_rows, floor_defaults, "A horizontal floor.", "");

// Pins --------------------------------------------------------------------------------------------

bool yw_load_vertices(yw_loader* l, const yw_json* node, int32_t** list, int32_t* count) {
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  if (node->count == 0) return yw_value_fail(&l->r, node, "is empty, but must have a vertex");
  *list = yw_json_alloc(l->r.doc, (size_t)node->count * sizeof **list);
  if (!*list) return yw_memory_fail(&l->r);
  *count = node->count;
  for (int32_t i = 0; i < node->count; i++) {
    if (!yw_read_integer(&l->r, node->items[i], 0, 2147483647, &(*list)[i])) return false;
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
  static const char* const sources[] = {"select", "vertices", "painted"};
  int32_t which;
  if (!yw_read_record(&l->r, node, &yw_record_pin, out) ||
      !yw_exactly_one(&l->r, node, 3, sources, &which)) {
    return false;
  }
  out->node = node;
  if (out->select && !yw_load_shape(l, out->select, &out->shape)) return false;
  if (out->vertices && !yw_load_vertices(l, out->vertices, &out->list, &out->num_vertices))
    return false;
  if (out->spring && !load_spring(l, out->spring, out)) return false;
  if (!yw_not_both(&l->r, node, "follow", "path") ||
      !yw_not_both(&l->r, node, "follow", "spring") ||
      (out->follow && !yw_load_follow(l, out->follow, &out->targets))) {
    return false;
  }
  if (out->strength && !yw_load_track(l, out->strength, false, &out->track)) return false;
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

// A body with a model defined elsewhere cannot change what it is made of.
static bool check_no_model_keys(yw_loader* l, const yw_body_spec* body) {
  static const char* const keys[] = {"shape", "mesh", "density", "examples", "surface"};
  const yw_json* item = body->keys.own_source;
  for (int32_t i = 0; i < 5 && !item; i++) item = yw_json_get(body->node, keys[i]);
  if (!item && body->keys.method) {
    item = yw_first_model_key(body->keys.settings, body->keys.method->record);
  }
  return !item || yw_value_fail(&l->r, item, "belongs to the model, but \"model\" is given");
}

static bool has_one_source(yw_loader* l, const yw_body_spec* body) {
  const char* sources[YW_SCENE_MAX_SOURCES + 1];
  int32_t count = yw_list_sources(sources), which;
  sources[count++] = "model";
  return yw_exactly_one(&l->r, body->node, count, sources, &which);
}

// Overlays the settings of the body on those of the model. Those of another method are an error.
static bool take_settings(yw_loader* l, const yw_json* of_model, yw_body_spec* body) {
  const yw_model_spec* model = yw_model_of_body(l->scene, body);
  const yw_json* own = body->keys.settings;
  const yw_record* record = model->method->record;
  if (own && !yw_is_named(model->method, body->keys.method)) {
    return yw_value_fail(&l->r, own, "is given, but the model is one of \"%s\"",
                         model->method->name);
  }
  body->settings = yw_json_alloc(l->r.doc, record->size);
  if (!body->settings) return yw_memory_fail(&l->r);
  memcpy(body->settings, record->defaults, record->size);
  return yw_overlay_record(&l->r, of_model, record, body->settings) &&
         yw_overlay_record(&l->r, own, record, body->settings) &&
         (!model->method->check || model->method->check(l, own, model, body->settings));
}

static bool load_body_model(yw_loader* l, yw_body_spec* body) {
  const yw_json* of_model = NULL;
  if (!yw_find_method(l, body->node, &body->keys)) return false;
  if (!body->model) {
    if (!has_one_source(l, body) ||
        !yw_load_model(l, body->node, &body->keys, &body->model_index)) {
      return false;
    }
  } else if (!check_no_model_keys(l, body)) {
    return false;
  } else if (body->model->type == YW_JSON_STRING) {
    if (!find_model(l, body->model, &body->model_index)) return false;
    of_model = yw_model_of_body(l->scene, body)->keys.settings;
  } else {
    yw_model_keys keys;
    if (!yw_read_record(&l->r, body->model, &yw_record_model, &keys) ||
        !yw_find_method(l, body->model, &keys) ||
        !yw_load_model(l, body->model, &keys, &body->model_index)) {
      return false;
    }
    of_model = keys.settings;
  }
  yw_model_of_body(l->scene, body)->used = true;
  return take_settings(l, of_model, body);
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
  if (!model->method->has_poses) {
    return yw_value_fail(&l->r, node, "is not for bodies of \"%s\"", model->method->name);
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

// Bodies that merge are one body of the world, at the index of the first of them.
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
        !yw_load_tracks(l, body->tracks, false, &body->track_list, &body->num_tracks) ||
        !yw_load_merge(l, body) || !yw_load_filter(l, &body->filter)) {
      return false;
    }
    number_body(l, body);
    l->scene->bodies.count++;
  }
  return true;
}

// Obstacles ---------------------------------------------------------------------------------------

bool yw_load_obstacles(yw_loader* l, const yw_json* node) {
  static const char* const sources[] = {"shape", "animation"};
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
    int32_t which = 0;
    if (!yw_read_record(&l->r, item, &yw_record_obstacle, obstacle) ||
        !yw_exactly_one(&l->r, item, 2, sources, &which) ||
        !(which == 0 ? yw_load_shape(l, obstacle->shape, &obstacle->solid)
                     : yw_load_mesh_obstacle(l, obstacle->animation, &obstacle->moving)) ||
        !yw_load_path(l, obstacle->path, &obstacle->motion) ||
        !yw_load_filter(l, &obstacle->filter)) {
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
  floor.filter = k.filter;
  if (!yw_load_filter(l, &floor.filter)) return false;
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
