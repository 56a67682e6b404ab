// SPDX-License-Identifier: MIT
// Tracks in scene files: "tracks" of the scene and of bodies, "strength" of pins.
#include <string.h>

#include "scene/loader.h"
#include "scene/records.h"

#define MAX_VALUE 1e9

static const char* const kinds[] = {"linear", "smooth", "step", NULL};

static const yw_track_spec track_defaults = {.group = -1};
static const yw_key_row track_rows[] = {
    YW_KEY(yw_track_spec, set, TEXT, 0, 0, "",
           "What changes. In the scene: \"gravity\" or \"wind\". In bodies: \"friction\", or a "
           "number of the "
           "method: \"alpha\", \"beta\", \"damping\", \"viscosity\" and \"stiffness\" of match; "
           "\"beta\", \"damping\" and \"stiffness\" of frames and slender; \"mass_damping\", "
           "\"stiffness_damping\", \"yield\", \"creep\", \"max_plastic\" and \"tau\" of fem; "
           "\"stiffness_scale\" of these and of plastic; \"damping\" of rigid; or, of bodies with "
           "examples, "
           "\"weight\" (of an example) and \"control\" (how much such weights count; the rest is "
           "what the body chooses by itself). Not in pins."),
    YW_KEY(yw_track_spec, example, INTEGER, 0, YW_MAX_EXAMPLES - 1, "",
           "Number of the example whose weight is set."),
    YW_KEY(yw_track_spec, group, INTEGER, -1, 1e6, "",
           "Number of the group whose weights are set. -1: all."),
    YW_NODE(yw_track_spec, keys, "[track_key]",
            "Values, in order of time. With a drive, their times are from 0 to 1 and mean how far "
            "the measure has come; without keys, that is the value."),
    YW_NODE(yw_track_spec, drive, "drive", "A measure that the value follows instead of the time."),
    YW_CHOICE(yw_track_spec, kind, kinds,
              "How values run between keys: \"linear\", \"smooth\" (every stretch starts and ends "
              "at rest) or \"step\"."),
    YW_KEY(yw_track_spec, loop, BOOL, 0, 0, "",
           "Whether the track starts again after the last key. Otherwise the value stays.")};
const yw_record yw_record_track = YW_RECORD("track", track_rows, track_defaults,
                                            "A value that changes over time.", "any keys drive");

typedef struct key_keys {
  float time;
  const yw_json* value;
} key_keys;
static const key_keys key_defaults = {.time = 0};
static const yw_key_row key_rows[] = {
    YW_KEY(key_keys, time, NUMBER, 0, 1e6, "s", "Time; later than that of the previous key."),
    YW_NODE(
        key_keys, value, "number|[number]",
        "Value at this time: three numbers for gravity (m/s^2) and wind (m/s), otherwise one.")};
const yw_record yw_record_track_key =
    YW_RECORD("track_key", key_rows, key_defaults, "A value at a time.", "needs time value");

static bool load_key(yw_loader* l, const yw_json* node, const yw_track_key* before, bool vector,
                     yw_track_key* out) {
  key_keys k;
  if (!yw_read_record(&l->r, node, &yw_record_track_key, &k) || !yw_needs(&l->r, node, "time") ||
      !yw_needs(&l->r, node, "value")) {
    return false;
  }
  const yw_json* time = yw_json_get(node, "time");
  *out = (yw_track_key){.time = time->number};
  if (before && !(out->time > before->time)) {
    return yw_value_fail(&l->r, time, "is %.9g, but must be later than the key before, %.9g",
                         out->time, before->time);
  }
  if (vector) return yw_read_vec3(&l->r, k.value, -MAX_VALUE, MAX_VALUE, &out->value);
  return yw_read_number(&l->r, k.value, -MAX_VALUE, MAX_VALUE, false, &out->value.x);
}

bool yw_load_track(yw_loader* l, const yw_json* node, bool vector, yw_track_spec* out) {
  *out = track_defaults;
  if (node->type == YW_JSON_ARRAY) {
    out->keys = node;
  } else if (!yw_read_record(&l->r, node, &yw_record_track, out) ||
             (out->drive && !yw_load_drive(l, out->drive, &out->driven)) ||
             (!out->drive && !yw_needs(&l->r, node, "keys"))) {
    return false;
  }
  if (!out->keys) return true;
  if (!yw_is_type(&l->r, out->keys, YW_JSON_ARRAY)) return false;
  out->num_keys = out->keys->count;
  if (out->num_keys == 0) return yw_value_fail(&l->r, out->keys, "is empty, but must have a key");
  out->list = yw_json_alloc(l->r.doc, (size_t)out->num_keys * sizeof *out->list);
  if (!out->list) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < out->num_keys; i++) {
    const yw_track_key* before = i > 0 ? &out->list[i - 1] : NULL;
    if (!load_key(l, out->keys->items[i], before, vector, &out->list[i])) return false;
  }
  return true;
}

bool yw_load_tracks(yw_loader* l, const yw_json* node, bool of_scene, yw_track_spec** list,
                    int32_t* count) {
  *count = 0;
  if (!node) return true;
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  *list = yw_json_alloc(l->r.doc, (size_t)(node->count > 0 ? node->count : 1) * sizeof **list);
  if (!*list) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < node->count; i++) {
    const yw_json* item = node->items[i];
    yw_track_spec* track = &(*list)[i];
    if (!yw_is_type(&l->r, item, YW_JSON_OBJECT) || !yw_needs(&l->r, item, "set") ||
        !yw_load_track(l, item, of_scene, track)) {
      return false;
    }
    if (of_scene && track->driven) {
      return yw_value_fail(&l->r, track->drive, "is not for tracks of the scene");
    }
    bool global = strcmp(track->set, "gravity") == 0 || strcmp(track->set, "wind") == 0;
    if (of_scene && !global) {
      return yw_value_fail(&l->r, yw_json_get(item, "set"),
                           "is \"%.60s\", but tracks of the scene set \"gravity\" or \"wind\"; "
                           "those of a body are in its own \"tracks\"",
                           track->set);
    }
    if (!of_scene && global) {
      return yw_value_fail(&l->r, yw_json_get(item, "set"),
                           "is \"%s\", which belongs into \"tracks\" of the scene", track->set);
    }
    ++*count;
  }
  return true;
}

static yw_status create(yw_world* world, const yw_track_spec* spec, yw_track_def* def,
                        const yw_drive_def* drive, yw_error* error) {
  yw_track_id id;
  def->keys = spec->list;
  def->num_keys = spec->num_keys;
  def->kind = (yw_track_kind)spec->kind;
  def->loop = spec->loop;
  return yw_track_create_driven(world, def, drive, &id, error);
}

yw_status yw_create_scene_tracks(const yw_scene* scene, yw_world* world, yw_error* error) {
  yw_status status = YW_OK;
  for (int32_t i = 0; i < scene->num_tracks && status >= 0; i++) {
    yw_track_def def = yw_default_track_def();
    bool gravity = strcmp(scene->tracks[i].set, "gravity") == 0;
    def.target = gravity ? YW_TRACK_GRAVITY : YW_TRACK_WIND;
    status = create(world, &scene->tracks[i], &def, NULL, error);
  }
  return status;
}

static yw_status create_of_body(yw_world* world, const yw_track_spec* spec, yw_body_id id,
                                const yw_drive_def* drive, yw_error* error) {
  yw_track_def def = yw_default_track_def();
  bool friction = strcmp(spec->set, "friction") == 0;
  def.target = friction ? YW_TRACK_FRICTION : YW_TRACK_PARAMETER;
  if (strcmp(spec->set, "weight") == 0) def.target = YW_TRACK_WEIGHT;
  if (strcmp(spec->set, "control") == 0) def.target = YW_TRACK_CONTROL;
  def.example = spec->example;
  def.group = spec->group;
  def.parameter = spec->set;
  def.body = id;
  return create(world, spec, &def, drive, error);
}

yw_status yw_create_body_tracks(yw_world* world, const yw_body_spec* body, yw_body_id id,
                                yw_error* error) {
  yw_status status = YW_OK;
  for (int32_t i = 0; i < body->num_tracks && status >= 0; i++) {
    const yw_track_spec* spec = &body->track_list[i];
    if (!spec->driven) status = create_of_body(world, spec, id, NULL, error);
  }
  return status;
}

static yw_status create_of_pin(yw_world* world, const yw_pin_spec* pin, yw_pin_id id,
                               const yw_drive_def* drive, yw_error* error) {
  yw_track_def def = yw_default_track_def();
  def.target = YW_TRACK_PIN;
  def.pin = id;
  return create(world, &pin->track, &def, drive, error);
}

yw_status yw_create_pin_track(yw_world* world, const yw_pin_spec* pin, yw_pin_id id,
                              yw_error* error) {
  if (!pin->strength || pin->track.driven) return YW_OK;
  return create_of_pin(world, pin, id, NULL, error);
}

yw_status yw_create_driven_tracks(const yw_scene* scene, yw_world* world, const yw_body_spec* body,
                                  const yw_drive_place* place, yw_error* error) {
  yw_status status = YW_OK;
  for (int32_t i = 0; i < body->num_tracks + body->num_pins && status >= 0; i++) {
    bool of_pin = i >= body->num_tracks;
    const yw_pin_spec* pin = of_pin ? &body->pin_list[i - body->num_tracks] : NULL;
    const yw_track_spec* spec = of_pin ? &pin->track : &body->track_list[i];
    if (!spec->driven) continue;
    yw_drive_def drive;
    status = yw_drive_of(scene, world, spec->driven, place, &drive, error);
    if (status >= 0 && of_pin) {
      status = create_of_pin(world, pin, place->pins[i - body->num_tracks], &drive, error);
    } else if (status >= 0) {
      status = create_of_body(world, spec, place->body, &drive, error);
    }
    yw_mem_free(&scene->mem, (void*)drive.vertices);
  }
  return status;
}
