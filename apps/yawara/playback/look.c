// SPDX-License-Identifier: MIT
#include "playback/look.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/json.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/text.h"
#include "yawara/extend/vec.h"

#define MAX_PATH 200

typedef enum value_kind { NUMBER, VECTOR, COLOR, FLAG } value_kind;

typedef struct look_row {
  const char* path;
  value_kind kind;
  size_t offset;  // in look_values
  double low, high;
} look_row;

#define ROW(path, kind, member, low, high) \
  { path, kind, offsetof(look_values, member), low, high }
enum {
  EYE,
  TARGET,
  FOV,
  AZIMUTH,
  ELEVATION,
  ZOOM,
  ALL_COLOR,
  GLOSS,
  FLOOR_COLOR,
  FLOOR_COLOR2,
  TILES,
  FLOOR_VISIBLE,
  SUN_DIRECTION,
  SUN_COLOR,
  SUN_RADIUS,
  BACKDROP_HIGH,
  BACKDROP_LOW,
  EXPOSURE,
  NUM_ROWS
};
static const look_row rows[NUM_ROWS] = {
    ROW("camera.eye", VECTOR, eye, -1e6, 1e6),
    ROW("camera.target", VECTOR, target, -1e6, 1e6),
    ROW("camera.fov", NUMBER, fov, 1, 170),
    ROW("camera.azimuth", NUMBER, azimuth, -360, 360),
    ROW("camera.elevation", NUMBER, elevation, -89, 89),
    ROW("camera.zoom", NUMBER, zoom, 0.01, 100),
    ROW("color", COLOR, color, 0, 1),
    ROW("gloss", NUMBER, gloss, 0, 1),
    ROW("floor.color", COLOR, floor_color, 0, 1),
    ROW("floor.color2", COLOR, floor_color2, 0, 1),
    ROW("floor.tiles", NUMBER, tiles, 0, 1e6),
    ROW("floor.visible", FLAG, floor_visible, 0, 1),
    ROW("sun.direction", VECTOR, sun_direction, -1e6, 1e6),
    ROW("sun.color", VECTOR, sun_color, 0, 100),
    ROW("sun.radius", NUMBER, sun_radius, 0, 60),
    ROW("backdrop.high", COLOR, backdrop_high, 0, 1),
    ROW("backdrop.low", COLOR, backdrop_low, 0, 1),
    ROW("exposure", NUMBER, exposure, 0.01, 100),
};

const char* look_help(void) {
  return "  camera.azimuth, camera.elevation   degrees to the right of the front, and above\n"
         "  camera.zoom                        2 shows everything twice as large\n"
         "  camera.fov, camera.eye, .target    degrees; points [x, y, z] in m\n"
         "  color, colors.BODY                 of all bodies, of one: \"#e4572e\" or [r, g, b]\n"
         "  gloss                              0 chalk, 0.5 rubber, 1 wet\n"
         "  floor.visible, .tiles, .color, .color2      tiles: side in m, 0 for none\n"
         "  sun.direction, .color, .radius     towards it; brightness [r, g, b]; degrees\n"
         "  backdrop.high, .low, exposure      colours behind everything; brightness\n";
}

// Values ------------------------------------------------------------------------------------------

static float linear_of(unsigned byte) {
  float value = (float)byte / 255.0f;
  return value <= 0.04045f ? value / 12.92f : powf((value + 0.055f) / 1.055f, 2.4f);
}

// "#rrggbb"
static bool parse_hex(const char* text, yw_vec3* out) {
  unsigned rgb[3];
  char rest;
  if (sscanf(text, "#%2x%2x%2x%c", &rgb[0], &rgb[1], &rgb[2], &rest) != 3) return false;
  *out = yw_v3(linear_of(rgb[0]), linear_of(rgb[1]), linear_of(rgb[2]));
  return strlen(text) == 7;
}

static bool read_vector(const yw_json* node, double low, double high, yw_vec3* out) {
  float values[3];
  if (node->type != YW_JSON_ARRAY || node->count != 3) return false;
  for (int k = 0; k < 3; ++k) {
    const yw_json* item = node->items[k];
    if (item->type != YW_JSON_NUMBER || item->number < low || item->number > high) return false;
    values[k] = (float)item->number;
  }
  *out = yw_v3(values[0], values[1], values[2]);
  return true;
}

static bool read_color(const yw_json* node, yw_vec3* out) {
  if (node->type == YW_JSON_STRING) return parse_hex(node->string, out);
  return read_vector(node, 0, 1, out);
}

static yw_status refuse(const char* name, const yw_json* node, const look_row* row,
                        yw_error* error) {
  char wanted[80];
  if (row->kind == COLOR) {
    snprintf(wanted, sizeof wanted, "a colour: \"#rrggbb\" or [r, g, b] with values 0 to 1");
  } else if (row->kind == FLAG) {
    snprintf(wanted, sizeof wanted, "true or false");
  } else {
    snprintf(wanted, sizeof wanted, "%s from %g to %g",
             row->kind == VECTOR ? "three numbers" : "a number", row->low, row->high);
  }
  return yw_fail(error, YW_ERR_INVALID, "%s:%d:%d: %s must be %s", name, node->line, node->column,
                 row->path, wanted);
}

// One colour everywhere, whatever colours the body or its file had.
static bool color_body(const shown_scene* shown, int32_t index, yw_vec3 color) {
  shown_body* body = &shown->bodies[index];
  int32_t count = shown_model_of(shown, index)->surface.num_vertices;
  yw_mem_free(NULL, body->colors);
  body->colors = NULL;
  body->num_colors = 0;
  body->look.color = body->look.color2 = color;
  if (count == 0) return true;
  body->colors = YW_NEW_ARRAY(NULL, yw_vec3, count);
  if (!body->colors) return false;
  body->num_colors = count;
  for (int32_t i = 0; i < count; ++i) body->colors[i] = color;
  return true;
}

static yw_status read_row(look* l, const char* name, const yw_json* node, int32_t index,
                          yw_error* error) {
  const look_row* row = &rows[index];
  void* to = (char*)&l->values + row->offset;
  bool good = false;
  if (row->kind == NUMBER && node->type == YW_JSON_NUMBER) {
    *(float*)to = (float)node->number;
    good = node->number >= row->low && node->number <= row->high;
  } else if (row->kind == FLAG && node->type == YW_JSON_BOOL) {
    *(bool*)to = node->boolean;
    good = true;
  } else if (row->kind == VECTOR) {
    good = read_vector(node, row->low, row->high, to);
  } else if (row->kind == COLOR) {
    good = read_color(node, to);
  }
  if (!good) return refuse(name, node, row, error);
  for (int32_t i = 0; index == ALL_COLOR && i < l->shown->num_bodies; ++i) {
    if (!color_body(l->shown, i, l->values.color)) return yw_fail_memory(error, "colours");
  }
  l->values.given |= 1u << index;
  return YW_OK;
}

// Bodies ------------------------------------------------------------------------------------------

static yw_status read_body_color(const look* l, const char* name, const yw_json* node,
                                 yw_error* error) {
  yw_vec3 color;
  if (!read_color(node, &color)) return refuse(name, node, &rows[ALL_COLOR], error);
  bool found = false;
  for (int32_t i = 0; i < l->shown->num_bodies; ++i) {
    if (strcmp(l->shown->bodies[i].name, node->key) != 0) continue;
    found = true;
    if (!color_body(l->shown, i, color)) return yw_fail_memory(error, "colours");
  }
  if (found) return YW_OK;
  const char* names[64];
  int32_t count = l->shown->num_bodies < 64 ? l->shown->num_bodies : 64;
  for (int32_t i = 0; i < count; ++i) names[i] = l->shown->bodies[i].name;
  yw_hint hint = yw_suggest(node->key, count, names);
  return yw_fail(error, YW_ERR_INVALID, "%s:%d:%d: there is no body \"%.60s\"%s", name,
                 node->key_line, node->key_column, node->key, hint.text);
}

// Trees -------------------------------------------------------------------------------------------

static yw_status read_node(look* l, const char* name, const yw_json* node, const char* path,
                           yw_error* error);

static yw_status read_object(look* l, const char* name, const yw_json* node, const char* path,
                             yw_error* error) {
  yw_status status = YW_OK;
  bool colors = strcmp(path, "colors") == 0;
  // The colour of all bodies comes before those of single ones, in whatever order they are given.
  const yw_json* all = path[0] ? NULL : yw_json_get(node, "color");
  if (all) status = read_node(l, name, all, "color", error);
  for (int32_t i = 0; i < node->count && status >= 0; ++i) {
    char inner[MAX_PATH];
    if (node->items[i] == all) continue;
    snprintf(inner, sizeof inner, "%.90s%s%.90s", path, path[0] ? "." : "", node->items[i]->key);
    status = colors ? read_body_color(l, name, node->items[i], error)
                    : read_node(l, name, node->items[i], inner, error);
  }
  return status;
}

static yw_status read_node(look* l, const char* name, const yw_json* node, const char* path,
                           yw_error* error) {
  const char* paths[NUM_ROWS + 1];
  bool inner = strcmp(path, "colors") == 0;
  for (int32_t i = 0; i < NUM_ROWS; ++i) {
    paths[i] = rows[i].path;
    if (strcmp(path, paths[i]) == 0) return read_row(l, name, node, i, error);
    inner |= strncmp(path, paths[i], strlen(path)) == 0 && paths[i][strlen(path)] == '.';
  }
  if (inner && node->type == YW_JSON_OBJECT) return read_object(l, name, node, path, error);
  paths[NUM_ROWS] = "colors";
  yw_hint hint = yw_suggest(path, NUM_ROWS + 1, paths);
  return yw_fail(
      error, YW_ERR_INVALID,
      "%s:%d:%d: \"%s\" is nothing that can be changed in a picture%s, see yawara render "
      "--help; what moves and how needs another run of the scene",
      name, node->key_line, node->key_column, path, hint.text);
}

static yw_status read_text(look* l, const char* name, const char* text, size_t size,
                           yw_error* error) {
  yw_json_doc* doc = NULL;
  yw_status status = yw_json_parse(NULL, name, text, size, &doc, error);
  if (status < 0) return status;
  const yw_json* root = yw_json_root(doc);
  status = root->type == YW_JSON_OBJECT
               ? read_object(l, name, root, "", error)
               : yw_fail(error, YW_ERR_FORMAT, "%s: must be an object, { ... }", name);
  yw_json_free(doc);
  return status;
}

yw_status look_read(look* l, const char* path, yw_error* error) {
  yw_file_data data = {0};
  yw_status status = yw_file_read_all(path, YW_JSON_MAX_BYTES, NULL, &data, error);
  if (status < 0) return status;
  status = read_text(l, path, data.bytes, data.size, error);
  yw_file_data_free(&data);
  return status;
}

// a.b=value becomes {"a":{"b":value}}. What is not JSON is a word: "#e4572e".
yw_status look_set(look* l, const char* text, yw_error* error) {
  const char* equals = strchr(text, '=');
  size_t length = equals ? (size_t)(equals - text) : 0;
  if (length == 0 || strlen(text) > 400 || memchr(text, '"', length)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "--set is \"%.100s\", but must be key=value, e.g. camera.azimuth=60", text);
  }
  // The name of a body may have dots.
  bool body = strncmp(text, "colors.", 7) == 0;
  char made[1000] = "{\"";
  size_t at = 2, depth = 1;
  for (size_t i = 0; i < length; ++i) {
    bool dot = text[i] == '.' && (!body || i == 6);
    if (!dot) {
      made[at++] = text[i];
      continue;
    }
    if (++depth > 4) break;
    at += (size_t)snprintf(made + at, sizeof made - at, "\":{\"");
  }
  bool word = !strchr("[{\"-0123456789tf", equals[1]) || equals[1] == '\0';
  snprintf(made + at, sizeof made - at, "\":%s%s%s%.*s", word ? "\"" : "", equals + 1,
           word ? "\"" : "", (int)depth, "}}}}");
  return read_text(l, "--set", made, strlen(made), error);
}

// Applying ----------------------------------------------------------------------------------------

static bool has(const look* l, int32_t row) { return (l->values.given >> row & 1u) != 0; }

static yw_status apply_camera(const look* l, shown_scene* shown, yw_framing* framing,
                              yw_error* error) {
  const look_values* v = &l->values;
  bool automatic = has(l, AZIMUTH) || has(l, ELEVATION) || has(l, ZOOM);
  bool placed = has(l, EYE) || has(l, TARGET);
  if (placed && automatic) {
    return yw_fail(error, YW_ERR_INVALID,
                   "camera.eye and camera.target say where the camera is, so azimuth, elevation "
                   "and zoom cannot: give one or the other");
  }
  if (placed && !shown->has_camera && has(l, EYE) != has(l, TARGET)) {
    return yw_fail(error, YW_ERR_INVALID, "camera.%s needs camera.%s",
                   has(l, EYE) ? "eye" : "target", has(l, EYE) ? "target" : "eye");
  }
  if (placed && !shown->has_camera) shown->camera.fov = framing->fov;
  if (placed) shown->has_camera = true;
  if (automatic && shown->has_camera) framing->fov = shown->camera.fov;
  if (automatic) shown->has_camera = false;
  if (has(l, EYE)) shown->camera.eye = v->eye;
  if (has(l, TARGET)) shown->camera.target = v->target;
  if (has(l, FOV)) shown->camera.fov = framing->fov = v->fov;
  if (has(l, AZIMUTH)) framing->azimuth = v->azimuth;
  if (has(l, ELEVATION)) framing->elevation = v->elevation;
  if (has(l, ZOOM)) framing->zoom = v->zoom;
  if (shown->has_camera && !(yw_distance(shown->camera.eye, shown->camera.target) > 0)) {
    return yw_fail(error, YW_ERR_INVALID, "camera.eye and camera.target are the same point");
  }
  return YW_OK;
}

static void apply_floor(const look* l, shown_scene* shown) {
  const look_values* v = &l->values;
  for (int32_t i = 0; i < shown->num_obstacles; ++i) {
    shown_look* at = &shown->obstacles[i].look;
    if (!shown->obstacles[i].plane) continue;
    if (has(l, FLOOR_VISIBLE)) at->visible = v->floor_visible;
    if (has(l, FLOOR_COLOR)) at->color = at->color2 = v->floor_color;
    if (has(l, FLOOR_COLOR2)) at->color2 = v->floor_color2;
    if (has(l, TILES)) at->checker = v->tiles;
  }
}

yw_status look_apply(const look* l, shown_scene* shown, yw_framing* framing, yw_error* error) {
  const look_values* v = &l->values;
  yw_status status = apply_camera(l, shown, framing, error);
  if (status < 0) return status;
  for (int32_t i = 0; has(l, GLOSS) && i < shown->num_bodies; ++i) {
    shown->bodies[i].look.gloss = v->gloss;
  }
  apply_floor(l, shown);
  if (has(l, SUN_DIRECTION)) shown->sun.direction = v->sun_direction;
  if (has(l, SUN_COLOR)) shown->sun.color = v->sun_color;
  if (has(l, SUN_RADIUS)) shown->sun.radius = v->sun_radius;
  if (has(l, BACKDROP_HIGH)) shown->sky.backdrop_high = v->backdrop_high;
  if (has(l, BACKDROP_LOW)) shown->sky.backdrop_low = v->backdrop_low;
  if (has(l, EXPOSURE)) shown->exposure = v->exposure;
  return YW_OK;
}
