// SPDX-License-Identifier: MIT
// Paths of pins and obstacles.
#include <math.h>

#include "scene/loader.h"
#include "scene/records.h"
#include "yawara/extend/vec.h"

static const yw_path_spec path_defaults = {.loop = false};
static const yw_key_row path_rows[] = {
    YW_NODE(yw_path_spec, keys, "[key]", "Keys of the motion, in order of time."),
    YW_KEY(yw_path_spec, loop, BOOL, 0, 0, "",
           "Whether the motion starts again after the last key. Otherwise it stops there."),
    YW_KEY(yw_path_spec, smooth, BOOL, 0, 0, "",
           "Whether the path is a smooth curve through the keys instead of straight lines."),
    YW_KEY(yw_path_spec, pivot, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Centre of rotation, in world coordinates. If not given: the centre of the held "
           "vertices, or the position of the obstacle.")};
const yw_record yw_record_path =
    YW_RECORD("path", path_rows, path_defaults, "Motion over time.", "needs keys");

typedef struct key_keys {
  float time;
  yw_vec3 offset;
  yw_quat rotation;
} key_keys;
static const key_keys key_defaults = {.rotation = {0, 0, 0, 1}};
static const yw_key_row key_rows[] = {
    YW_KEY(key_keys, time, NUMBER, 0, 1e6, "s", "Time; later than that of the previous key."),
    YW_KEY(key_keys, offset, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Displacement from the initial position."),
    YW_KEY(key_keys, rotation, ROTATION, 0, 0, "",
           "Rotation about the pivot; less than half a turn from key to key.")};
const yw_record yw_record_key =
    YW_RECORD("key", key_rows, key_defaults,
              "Position and rotation at a time, relative to the initial placement.", "needs time");

// Degrees between the rotations of two keys about the same axis; 0 if the axes differ.
static double turn_between(const yw_json* before, const yw_json* key) {
  const yw_json *a = yw_json_get(before, "rotation"), *b = yw_json_get(key, "rotation");
  if (!b || b->type != YW_JSON_OBJECT) return 0;
  double to = yw_json_get(b, "degrees")->number;
  if (!a) return to;
  bool same = yw_json_equal(yw_json_get(a, "axis"), yw_json_get(b, "axis"));
  return a->type == YW_JSON_OBJECT && same ? to - yw_json_get(a, "degrees")->number : 0;
}

static bool load_key(yw_loader* l, const yw_json* node, const yw_json* before, double time_before,
                     yw_key* out) {
  key_keys k;
  if (!yw_read_record(&l->r, node, &yw_record_key, &k) || !yw_needs(&l->r, node, "time")) {
    return false;
  }
  const yw_json* time = yw_json_get(node, "time");
  *out = (yw_key){time->number, k.offset, k.rotation};
  if (before && !(out->time > time_before)) {
    return yw_value_fail(&l->r, time, "is %.9g, but must be later than the key before, %.9g",
                         out->time, time_before);
  }
  // Interpolation takes the shorter way round, which is ambiguous or wrong from half a turn on.
  double turn = before ? fabs(turn_between(before, node)) : 0;
  if (turn >= 180) {
    return yw_value_fail(&l->r, yw_json_get(node, "rotation"),
                         "turns by %.9g degrees from the key before, but must turn by less than "
                         "180: put keys between",
                         turn);
  }
  return true;
}

bool yw_load_path(yw_loader* l, const yw_json* node, yw_path_spec* out) {
  *out = path_defaults;
  if (!node) return true;
  if (node->type == YW_JSON_ARRAY) {
    out->keys = node;
  } else if (!yw_read_record(&l->r, node, &yw_record_path, out) || !yw_needs(&l->r, node, "keys")) {
    return false;
  }
  if (!yw_is_type(&l->r, out->keys, YW_JSON_ARRAY)) return false;
  out->has_pivot = yw_json_get(node, "pivot") != NULL;
  out->num_keys = out->keys->count;
  if (out->num_keys == 0) return yw_value_fail(&l->r, out->keys, "is empty, but must have a key");
  out->list = yw_json_alloc(l->r.doc, (size_t)out->num_keys * sizeof *out->list);
  if (!out->list) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < out->num_keys; i++) {
    const yw_json* before = i > 0 ? out->keys->items[i - 1] : NULL;
    double time_before = i > 0 ? out->list[i - 1].time : 0;
    if (!load_key(l, out->keys->items[i], before, time_before, &out->list[i])) return false;
  }
  return true;
}

yw_path yw_path_of(const yw_path_spec* spec, yw_vec3 pivot) {
  return (yw_path){spec->list, spec->num_keys, spec->loop, spec->smooth, pivot};
}
