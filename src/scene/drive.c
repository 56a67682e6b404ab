// SPDX-License-Identifier: MIT
// "drive" of tracks in scene files. Bodies and obstacles are named, so that driven tracks are made
// when everything else is there.
#include <string.h>

#include "scene/loader.h"
#include "scene/records.h"
#include "yawara/extend/vec.h"

#define MAX_MEASURE 1e12

static const char* const measures[] = {"speed",  "spin",    "height", "distance",
                                       "handle", "contact", "energy", NULL};

static const yw_drive_spec drive_defaults = {.to = 1, .pin = -1};
static const yw_key_row drive_rows[] = {
    YW_CHOICE(yw_drive_spec, by, measures,
              "What is measured: \"speed\" (m/s), \"spin\" (rad/s) or \"height\" (m, along y) of "
              "the centre of mass; its \"distance\" (m) to a point, body or obstacle; the force of "
              "a \"handle\" (N, the springs of a pin); the force of \"contact\" (N, the sum over "
              "other bodies and, without pins, obstacles); the strain \"energy\" (J)."),
    YW_KEY(yw_drive_spec, from, NUMBER, -MAX_MEASURE, MAX_MEASURE, "",
           "Measure at which the value is that of 0; from there on, if \"to\" is on the other "
           "side."),
    YW_KEY(yw_drive_spec, to, NUMBER, -MAX_MEASURE, MAX_MEASURE, "",
           "Measure at which the value is that of 1. May be less than \"from\": near instead of "
           "far."),
    YW_KEY(yw_drive_spec, smooth, NUMBER, 0, 1e6, "s",
           "Time in which sudden changes are followed to 63 %."),
    YW_KEY(yw_drive_spec, delay, NUMBER, 0, 1e6, "s", "Time after which changes are followed."),
    YW_KEY(yw_drive_spec, of, TEXT, 0, 0, "",
           "Name of the body that is measured. Default: the body of the track."),
    YW_NODE(yw_drive_spec, select, "any_shape",
            "Shape, in world coordinates: only the vertices that are initially inside are "
            "measured. Not for handles, contact and energy."),
    YW_NODE(yw_drive_spec, vertices, "[integer]", "The same by the indices of the vertices."),
    YW_KEY(yw_drive_spec, point, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Point to which the distance is measured."),
    YW_KEY(yw_drive_spec, body, TEXT, 0, 0, "",
           "Name of the body to whose surface the distance is measured."),
    YW_KEY(yw_drive_spec, obstacle, TEXT, 0, 0, "",
           "Name of the obstacle to which the distance is measured (\"floor\" for the floor)."),
    YW_KEY(yw_drive_spec, pin, INTEGER, 0, 1e6, "",
           "Number of the pin whose springs are measured, in the list of the body's pins. Default, "
           "in the strength of a pin: that pin.")};
const yw_record yw_record_drive =
    YW_RECORD("drive", drive_rows, drive_defaults, "A measure that a value follows.",
              "needs by from to; not select vertices; not point body; not point obstacle; not body "
              "obstacle");

// Reading -----------------------------------------------------------------------------------------

// Keys that mean nothing for the measure are mistakes.
static bool check_keys(yw_loader* l, const yw_json* node, int32_t by) {
  static const struct {
    const char* key;
    unsigned measures;
  } uses[] = {{"point", 1u << YW_DRIVE_DISTANCE},      {"body", 1u << YW_DRIVE_DISTANCE},
              {"obstacle", 1u << YW_DRIVE_DISTANCE},   {"pin", 1u << YW_DRIVE_HANDLE},
              {"select", (1u << YW_DRIVE_HANDLE) - 1}, {"vertices", (1u << YW_DRIVE_HANDLE) - 1}};
  for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
    const yw_json* item = yw_json_get(node, uses[i].key);
    if (item && !(uses[i].measures >> by & 1u)) {
      return yw_value_fail(&l->r, item, "is not for drives by \"%s\"", measures[by]);
    }
  }
  static const char* const places[] = {"point", "body", "obstacle"};
  int32_t which;
  return by != YW_DRIVE_DISTANCE || yw_exactly_one(&l->r, node, 3, places, &which);
}

bool yw_load_drive(yw_loader* l, const yw_json* node, yw_drive_spec** out) {
  yw_drive_spec* spec = yw_json_alloc(l->r.doc, sizeof *spec);
  if (!spec) return yw_memory_fail(&l->r);
  if (!yw_read_record(&l->r, node, &yw_record_drive, spec) || !yw_needs(&l->r, node, "by") ||
      !yw_needs(&l->r, node, "from") || !yw_needs(&l->r, node, "to") ||
      !check_keys(l, node, spec->by) || !yw_not_both(&l->r, node, "select", "vertices") ||
      (spec->select && !yw_load_shape(l, spec->select, &spec->shape)) ||
      (spec->vertices && !yw_load_vertices(l, spec->vertices, &spec->list, &spec->num_vertices))) {
    return false;
  }
  if (spec->from == spec->to) {
    return yw_value_fail(&l->r, yw_json_get(node, "to"), "is %g, but must differ from \"from\"",
                         (double)spec->to);
  }
  *out = spec;
  return true;
}

// Building ----------------------------------------------------------------------------------------

static yw_status find_obstacle(const yw_scene* scene, const char* name,
                               const yw_obstacle_id* obstacles, yw_obstacle_id* out,
                               yw_error* error) {
  for (int32_t i = 0; i < scene->obstacles.count; i++) {
    const char* own = scene->obstacles.items[i].name;
    *out = obstacles[i];
    if (own && strcmp(own, name) == 0) return YW_OK;
  }
  return yw_fail(error, YW_ERR_FORMAT, "no obstacle is named \"%.60s\"", name);
}

static yw_status choose_vertices(const yw_scene* scene, const yw_world* world,
                                 const yw_drive_spec* spec, yw_vec3 moved, yw_drive_def* out,
                                 yw_error* error) {
  int32_t count, found = 0;
  const yw_vec3* x = yw_body_positions(world, out->body, &count);
  int32_t room = spec->shape ? count : spec->num_vertices;
  if (room == 0) return YW_OK;
  int32_t* list = YW_NEW_ARRAY(&scene->mem, int32_t, room);
  if (!list) return yw_fail_memory(error, "a drive");
  out->vertices = list;
  for (int32_t i = 0; i < room; i++) {
    bool inside = !spec->shape || yw_shape_distance(spec->shape, yw_sub(x[i], moved)) <= 0;
    if (inside) list[found++] = spec->shape ? i : spec->list[i];
  }
  out->num_vertices = found;
  if (found > 0) return YW_OK;
  return yw_fail(error, YW_ERR_FORMAT,
                 "\"select\" of a drive has none of the %d vertices of \"%s\"", (int)count,
                 yw_body_name(world, out->body));
}

yw_status yw_drive_of(const yw_scene* scene, const yw_world* world, const yw_drive_spec* spec,
                      const yw_drive_place* place, yw_drive_def* out, yw_error* error) {
  *out = yw_default_drive_def();
  out->by = (yw_drive_measure)spec->by;
  out->from = spec->from;
  out->to = spec->to;
  out->smooth = spec->smooth;
  out->delay = spec->delay;
  out->point = spec->point;
  out->body = place->body;
  yw_status status = YW_OK;
  if (spec->of) status = yw_find_named_body(world, spec->of, &out->body, error);
  if (status >= 0 && spec->body) {
    status = yw_find_named_body(world, spec->body, &out->other, error);
  }
  if (status >= 0 && spec->obstacle) {
    status = find_obstacle(scene, spec->obstacle, place->obstacles, &out->obstacle, error);
  }
  if (status >= 0 && spec->pin >= place->num_pins) {
    status = yw_fail(error, YW_ERR_FORMAT, "\"pin\" of a drive is %d, but the body has %d pins",
                     (int)spec->pin, (int)place->num_pins);
  }
  if (status < 0) return status;
  if (spec->pin >= 0) out->pin = place->pins[spec->pin];
  return choose_vertices(scene, world, spec, spec->of ? yw_v3(0, 0, 0) : place->moved, out, error);
}
