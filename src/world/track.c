// SPDX-License-Identifier: MIT
// Numbers of a world that change over time. Values follow from the time alone, so that they are
// part of how a world is built (fingerprint) and not of its state; only drives have one.
#include "world/track.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "world/world.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"

// Groups of examples that tracks can name.
#define MAX_GROUPS 1000000

// Values ------------------------------------------------------------------------------------------

yw_vec3 yw_track_at(const yw_track* track, double time) {
  const yw_track_key* keys = track->keys;
  int32_t last = track->num_keys - 1;
  double first_time = keys[0].time, last_time = keys[last].time;
  if (track->loop && last > 0 && time > last_time) {
    time = first_time + fmod(time - first_time, last_time - first_time);
  }
  if (time <= first_time) return keys[0].value;
  if (time >= last_time) return keys[last].value;
  // keys[low].time <= time < keys[high].time
  int32_t low = 0, high = last;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    if (keys[middle].time <= time) {
      low = middle;
    } else {
      high = middle;
    }
  }
  if (track->kind == YW_TRACK_STEP) return keys[low].value;
  float t = (float)((time - keys[low].time) / (keys[high].time - keys[low].time));
  if (track->kind == YW_TRACK_SMOOTH) t = t * t * (3.0f - 2.0f * t);
  return yw_lerp(keys[low].value, keys[high].value, t);
}

// Parameters of methods ---------------------------------------------------------------------------

// The parameters of a body with one of them changed.
static yw_status set_parameter(yw_body* body, int32_t parameter, float value) {
  const yw_method* method = body->model->method;
  _Alignas(16) unsigned char params[YW_MAX_PARAMS_BYTES];
  size_t offset = method->parameters[parameter].offset;
  float before;
  method->params(body->state, params);
  memcpy(&before, params + offset, sizeof before);
  // Setting parameters may wake a body, even if nothing changes.
  if (before == value) return YW_OK;
  memcpy(params + offset, &value, sizeof value);
  yw_body_rouse(body);
  return method->set_params(body->state, params);
}

static float parameter_of(const yw_body* body, int32_t parameter) {
  const yw_method* method = body->model->method;
  _Alignas(16) unsigned char params[YW_MAX_PARAMS_BYTES];
  float value;
  method->params(body->state, params);
  memcpy(&value, params + method->parameters[parameter].offset, sizeof value);
  return value;
}

// Applying ----------------------------------------------------------------------------------------

static void set_gravity(yw_world* world, yw_vec3 gravity, bool wakes) {
  yw_vec3 g = world->gravity;
  if (g.x == gravity.x && g.y == gravity.y && g.z == gravity.z) return;
  world->gravity = gravity;
  if (wakes) yw_world_wake_all(world);
}

static void set_wind(yw_world* world, yw_vec3 velocity, bool wakes) {
  yw_vec3 v = world->wind_velocity;
  if (v.x == velocity.x && v.y == velocity.y && v.z == velocity.z) return;
  world->wind_velocity = velocity;
  if (wakes) yw_world_wake_all(world);
}

static void set_friction(yw_body* body, float friction, bool wakes) {
  if (body->friction == friction) return;
  body->friction = friction;
  if (wakes) yw_body_rouse(body);
}

static void set_strength(yw_world* world, uint32_t slot, float strength, bool wakes) {
  yw_pin* pin = &world->pins.items[slot];
  bool held = pin->strength >= 0.5f;
  if (pin->strength == strength) return;
  pin->strength = strength;
  if (wakes) yw_body_rouse(&world->bodies.items[pin->body]);
  if ((strength >= 0.5f) != held) yw_world_restore_masses(world, pin->body);
}

// Group and example of a track in one number, each from -1 on.
static int32_t aim_number(int32_t group, int32_t example) {
  return (group + 1) * (YW_MAX_EXAMPLES + 1) + example + 1;
}

static bool aim(yw_body* body, int32_t number, float value) {
  const yw_method* method = body->model->method;
  int32_t group = number / (YW_MAX_EXAMPLES + 1) - 1, example = number % (YW_MAX_EXAMPLES + 1) - 1;
  return method->aim && method->aim(body->state, group, example, value);
}

static bool is_aim(const yw_track* track) {
  return track->target == YW_TRACK_WEIGHT || track->target == YW_TRACK_CONTROL;
}

bool yw_track_is_of_body(const yw_track* track) {
  return track->target == YW_TRACK_FRICTION || track->target == YW_TRACK_PARAMETER || is_aim(track);
}

void yw_track_forget(yw_world* world, const yw_track* track) {
  if (!is_aim(track) || track->slot >= (uint32_t)world->bodies.count) return;
  yw_body* body = &world->bodies.items[track->slot];
  if (!(body->generation & 1)) return;
  aim(body, track->parameter, NAN);
  yw_body_rouse(body);
}

// wakes: what changes wakes bodies.
static void apply(yw_world* world, const yw_track* track, yw_vec3 value, bool wakes) {
  switch (track->target) {
    case YW_TRACK_GRAVITY:
      set_gravity(world, value, wakes);
      break;
    case YW_TRACK_WIND:
      set_wind(world, value, wakes);
      break;
    case YW_TRACK_FRICTION:
      set_friction(&world->bodies.items[track->slot], value.x, wakes);
      break;
    case YW_TRACK_PIN:
      set_strength(world, track->slot, value.x, wakes);
      break;
    case YW_TRACK_WEIGHT:
    case YW_TRACK_CONTROL:
      aim(&world->bodies.items[track->slot], track->parameter, value.x);
      break;
    // Values between two that the method takes are taken too.
    case YW_TRACK_PARAMETER:
      set_parameter(&world->bodies.items[track->slot], track->parameter, value.x);
      break;
  }
}

// Keys of driven tracks run over the level of the drive.
static yw_vec3 value_at(const yw_track* track, double time) {
  return yw_track_at(track, track->drive ? (double)track->drive->level : time);
}

void yw_tracks_apply(yw_world* world, double time, float h) {
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    const yw_track* track = &world->tracks.items[i];
    if (!(track->generation & 1)) continue;
    float before = value_at(track, time - (double)h).x;
    if (track->drive) yw_drive_update(world, track->drive, time, h);
    yw_vec3 now = value_at(track, time);
    apply(world, track, now, true);
    // Bodies do not tell what they aim at.
    if (is_aim(track) && before != now.x) yw_body_rouse(&world->bodies.items[track->slot]);
  }
}

void yw_tracks_note_substep(yw_world* world, float h) {
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    const yw_track* track = &world->tracks.items[i];
    if (track->generation & 1 && track->drive) yw_drive_note_substep(world, track->drive, h);
  }
}

bool yw_tracks_need_forces(const yw_world* world) {
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    const yw_track* track = &world->tracks.items[i];
    bool driven = track->generation & 1 && track->drive;
    if (driven && track->drive->by == YW_DRIVE_CONTACT) return true;
  }
  return false;
}

void yw_tracks_restore(yw_world* world) {
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    const yw_track* track = &world->tracks.items[i];
    if (!(track->generation & 1) || track->target == YW_TRACK_PARAMETER) continue;
    apply(world, track, value_at(track, world->time), false);
  }
}

// Creating ----------------------------------------------------------------------------------------

yw_track_def yw_default_track_def(void) { return (yw_track_def){.group = -1}; }

static yw_status check_keys(const yw_track_def* def, yw_error* error) {
  if (def->num_keys < 1 || !def->keys) {
    return yw_fail(error, YW_ERR_INVALID, "track: needs at least one key");
  }
  if (def->kind < YW_TRACK_LINEAR || def->kind > YW_TRACK_STEP) {
    return yw_fail(error, YW_ERR_INVALID, "track: kind %d is not known", (int)def->kind);
  }
  for (int32_t i = 0; i < def->num_keys; ++i) {
    const yw_track_key* key = &def->keys[i];
    if (!isfinite(key->time) || !yw_is_finite3(key->value)) {
      return yw_fail(error, YW_ERR_INVALID, "track: key %d has a time or value that is not finite",
                     (int)i);
    }
    if (i > 0 && !(key->time > key[-1].time)) {
      return yw_fail(error, YW_ERR_INVALID,
                     "track: key %d is at %g s, but must be later than key %d at %g s", (int)i,
                     key->time, (int)i - 1, key[-1].time);
    }
  }
  return YW_OK;
}

static yw_status check_range(const yw_track_def* def, const char* what, float high,
                             yw_error* error) {
  for (int32_t i = 0; i < def->num_keys; ++i) {
    float value = def->keys[i].value.x;
    if (value >= 0.0f && value <= high) continue;
    return yw_fail(error, YW_ERR_INVALID, "track of %s: key %d is %g, but must be 0 %s", what,
                   (int)i, (double)value, high < INFINITY ? "to 1" : "or more");
  }
  return YW_OK;
}

static yw_status find_parameter(const yw_body* body, const char* name, int32_t* out,
                                yw_error* error) {
  const yw_method* method = body->model->method;
  char known[200] = "";
  size_t used = 0;
  for (int32_t i = 0; i < method->num_parameters; ++i) {
    if (name && strcmp(method->parameters[i].name, name) == 0) {
      *out = i;
      return YW_OK;
    }
    int length = snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                          method->parameters[i].name);
    if (length > 0 && used + (size_t)length < sizeof known) used += (size_t)length;
  }
  return yw_fail(error, YW_ERR_INVALID,
                 "track: \"%s\" (%s) has no parameter \"%.60s\" that can change over time; it has "
                 "%s",
                 body->name, method->name, name ? name : "", used > 0 ? known : "none");
}

// Tries every key on the body, which is then as before.
static yw_status try_parameter(yw_body* body, const yw_track_def* def, int32_t parameter,
                               yw_error* error) {
  float before = parameter_of(body, parameter);
  yw_status status = YW_OK;
  for (int32_t i = 0; i < def->num_keys && status >= 0; ++i) {
    status = set_parameter(body, parameter, def->keys[i].value.x);
    if (status < 0) {
      yw_fail(error, status, "track: key %d sets %s of \"%s\" to %g, which is out of range", (int)i,
              def->parameter, body->name, (double)def->keys[i].value.x);
    }
  }
  set_parameter(body, parameter, before);
  return status;
}

static yw_status find_aim(yw_body* body, const yw_track_def* def, yw_track* track,
                          yw_error* error) {
  int32_t example = def->target == YW_TRACK_WEIGHT ? def->example : -1;
  bool known = example < YW_MAX_EXAMPLES && def->group >= -1 && def->group < MAX_GROUPS &&
               (def->target == YW_TRACK_CONTROL || example >= 0);
  track->parameter = known ? aim_number(def->group, example) : 0;
  if (!known || !aim(body, track->parameter, NAN)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "track: \"%s\" has no example %d in group %d whose weight could be set (regions "
                   "that choose on their own have none)",
                   body->name, (int)example, (int)def->group);
  }
  return check_range(def, "a weight", 1.0f, error);
}

// Finds what the track changes and checks the values of its keys.
static yw_status find_target(yw_world* world, const yw_track_def* def, yw_track* track,
                             yw_error* error) {
  if (def->target == YW_TRACK_GRAVITY || def->target == YW_TRACK_WIND) return YW_OK;
  if (def->target == YW_TRACK_PIN) {
    if (!YW_SLOT_FIND(&world->pins, def->pin)) {
      return yw_fail(error, YW_ERR_INVALID, "track: the pin does not exist");
    }
    track->slot = def->pin.index1 - 1;
    return check_range(def, "a pin", 1.0f, error);
  }
  yw_body* body = yw_world_find_body(world, def->body);
  if (!body) return yw_fail(error, YW_ERR_INVALID, "track: the body does not exist");
  track->slot = def->body.index1 - 1;
  if (def->target == YW_TRACK_FRICTION) return check_range(def, "friction", INFINITY, error);
  if (def->target == YW_TRACK_WEIGHT || def->target == YW_TRACK_CONTROL) {
    return find_aim(body, def, track, error);
  }
  if (def->target != YW_TRACK_PARAMETER) {
    return yw_fail(error, YW_ERR_INVALID, "track: target %d is not known", (int)def->target);
  }
  yw_status status = find_parameter(body, def->parameter, &track->parameter, error);
  return status < 0 ? status : try_parameter(body, def, track->parameter, error);
}

static bool is_taken(const yw_world* world, const yw_track* wanted) {
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    const yw_track* track = &world->tracks.items[i];
    if (track->generation & 1 && track->target == wanted->target && track->slot == wanted->slot &&
        track->parameter == wanted->parameter) {
      return true;
    }
  }
  return false;
}

// A driven track without keys has the level itself as its value.
static const yw_track_key level_keys[2] = {{0.0, {0, 0, 0}}, {1.0, {1, 0, 0}}};

static yw_status check_driven(const yw_track_def* def, yw_error* error) {
  if (def->loop) return yw_fail(error, YW_ERR_INVALID, "track: a driven track has no loop");
  for (int32_t i = 0; i < def->num_keys; ++i) {
    double at = def->keys[i].time;
    if (at >= 0.0 && at <= 1.0) continue;
    return yw_fail(error, YW_ERR_INVALID, "track: key %d is at %g, but a drive runs from 0 to 1",
                   (int)i, at);
  }
  return YW_OK;
}

static yw_status add_drive(yw_world* world, const yw_track_def* def, const yw_drive_def* drive,
                           yw_track* track, yw_error* error) {
  yw_status status = check_driven(def, error);
  if (status < 0) return status;
  int64_t body = -1, pin = -1;
  if (track->target == YW_TRACK_PIN) {
    pin = track->slot;
    body = world->pins.items[pin].body;
  } else if (yw_track_is_of_body(track)) {
    body = track->slot;
  }
  return yw_drive_create(world, drive, body, pin, &track->drive, error);
}

static yw_status add_track(yw_world* world, const yw_track_def* def, yw_track* track,
                           yw_track_id* out, yw_error* error) {
  int32_t slot = YW_SLOT_FREE(&world->mem, &world->tracks);
  if (slot < 0) return yw_fail_memory(error, "a track");
  track->keys = YW_NEW_ARRAY(&world->mem, yw_track_key, def->num_keys);
  if (!track->keys) return yw_fail_memory(error, "a track");
  memcpy(track->keys, def->keys, (size_t)def->num_keys * sizeof *track->keys);
  track->generation = world->tracks.items[slot].generation + 1;
  world->tracks.items[slot] = *track;
  *out = (yw_track_id){(uint32_t)slot + 1, track->generation};
  apply(world, track, value_at(track, world->time), true);
  if (is_aim(track)) yw_body_rouse(&world->bodies.items[track->slot]);
  return YW_OK;
}

yw_status yw_track_create_driven(yw_world* world, const yw_track_def* wanted,
                                 const yw_drive_def* drive, yw_track_id* out, yw_error* error) {
  yw_error_clear(error);
  if (!world || !wanted || !out) return yw_fail(error, YW_ERR_INVALID, "world, def or out is NULL");
  *out = (yw_track_id){0};
  yw_track_def def = *wanted;
  if (drive && def.num_keys == 0) {
    def.keys = level_keys;
    def.num_keys = 2;
  }
  yw_track track = {
      .target = def.target, .num_keys = def.num_keys, .kind = def.kind, .loop = def.loop};
  yw_status status = check_keys(&def, error);
  if (status >= 0) status = find_target(world, &def, &track, error);
  if (status < 0) return status;
  if (is_taken(world, &track)) {
    return yw_fail(error, YW_ERR_INVALID, "track: what it changes has a track already");
  }
  if (drive) status = add_drive(world, &def, drive, &track, error);
  if (status >= 0) status = add_track(world, &def, &track, out, error);
  if (status < 0) yw_drive_free(world, track.drive);
  return status;
}

yw_status yw_track_create(yw_world* world, const yw_track_def* def, yw_track_id* out,
                          yw_error* error) {
  return yw_track_create_driven(world, def, NULL, out, error);
}

// Destroying --------------------------------------------------------------------------------------

void yw_track_release(yw_world* world, yw_track* track) {
  yw_mem_free(&world->mem, track->keys);
  yw_drive_free(world, track->drive);
  *track = (yw_track){.generation = track->generation};
}

static void drop(yw_world* world, yw_track* track) {
  yw_track_release(world, track);
  ++track->generation;
}

yw_status yw_track_destroy(yw_world* world, yw_track_id id) {
  yw_track* track = world ? YW_SLOT_FIND(&world->tracks, id) : NULL;
  if (!track) return YW_ERR_INVALID;
  if (track->target == YW_TRACK_GRAVITY) set_gravity(world, world->built_gravity, true);
  if (track->target == YW_TRACK_WIND) set_wind(world, world->wind.velocity, true);
  if (track->target == YW_TRACK_PIN) set_strength(world, track->slot, 1.0f, true);
  yw_track_forget(world, track);
  if (track->target == YW_TRACK_FRICTION) {
    yw_body* body = &world->bodies.items[track->slot];
    set_friction(body, body->built_friction, true);
  }
  drop(world, track);
  return YW_OK;
}

bool yw_track_is_valid(const yw_world* world, yw_track_id id) {
  return world && YW_SLOT_FIND(&world->tracks, id);
}

yw_status yw_track_value(const yw_world* world, yw_track_id id, yw_vec3* out) {
  const yw_track* track = world ? YW_SLOT_FIND(&world->tracks, id) : NULL;
  if (!track || !out) return YW_ERR_INVALID;
  *out = value_at(track, world->time);
  return YW_OK;
}

// Destroys tracks whose drives look at something that goes away, as if the caller did.
static void drop_drives(yw_world* world, bool (*looks)(const yw_drive* drive, uint32_t slot),
                        uint32_t slot) {
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    const yw_track* track = &world->tracks.items[i];
    if (!(track->generation & 1) || !track->drive || !looks(track->drive, slot)) continue;
    yw_track_destroy(world, (yw_track_id){(uint32_t)i + 1, track->generation});
  }
}

static bool looks_at_body(const yw_drive* drive, uint32_t slot) {
  return drive->body == slot || (drive->aim == YW_DRIVE_TO_BODY && drive->other == slot);
}

static bool looks_at_pin(const yw_drive* drive, uint32_t slot) {
  return drive->by == YW_DRIVE_HANDLE && drive->other == slot;
}

static bool looks_at_obstacle(const yw_drive* drive, uint32_t slot) {
  return drive->aim == YW_DRIVE_TO_OBSTACLE && drive->other == slot;
}

void yw_world_drop_body_tracks(yw_world* world, uint32_t body) {
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    yw_track* track = &world->tracks.items[i];
    bool of_body = yw_track_is_of_body(track) && track->slot == body;
    if (track->generation & 1 && of_body) drop(world, track);
  }
  drop_drives(world, looks_at_body, body);
}

void yw_world_drop_pin_tracks(yw_world* world, uint32_t pin) {
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    yw_track* track = &world->tracks.items[i];
    bool of_pin = track->generation & 1 && track->target == YW_TRACK_PIN;
    if (of_pin && track->slot == pin) drop(world, track);
  }
  drop_drives(world, looks_at_pin, pin);
}

void yw_world_drop_obstacle_tracks(yw_world* world, uint32_t obstacle) {
  drop_drives(world, looks_at_obstacle, obstacle);
}

uint64_t yw_track_hash(const yw_track* track, uint64_t hash, uint64_t order) {
  hash = yw_hash_u64(
      hash, (uint64_t)track->target << 8 | (uint64_t)track->kind << 1 | (uint64_t)track->loop);
  hash = yw_hash_u64(hash, order << 8 | (uint64_t)track->parameter);
  for (int32_t i = 0; i < track->num_keys; ++i) {
    hash = yw_hash_bytes(hash, &track->keys[i].time, sizeof track->keys[i].time);
    hash = yw_hash_bytes(hash, &track->keys[i].value, sizeof track->keys[i].value);
  }
  return hash;
}
