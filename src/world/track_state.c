// SPDX-License-Identifier: MIT
// Tracks in snapshots: how they were made, as part of the setup, and the state of their drives.
#include "world/world.h"

// Flag of tracks that follow a measure.
#define DRIVEN 8u

// A count of things that take at least 4 bytes each.
static int32_t read_count(yw_reader* r) {
  uint32_t count = yw_read_u32(r);
  if (r->failed || count > (r->size - r->offset) / 4 || count > INT32_MAX) {
    r->failed = true;
    return 0;
  }
  return (int32_t)count;
}

void yw_tracks_write(const yw_world* world, yw_writer* w) {
  yw_write_u32(w, (uint32_t)world->tracks.count);
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    const yw_track* track = &world->tracks.items[i];
    yw_write_u32(w, track->generation);
    if (!(track->generation & 1)) continue;
    yw_write_u32(w, (uint32_t)track->target);
    yw_write_u32(w, track->slot);
    yw_write_u32(w, (uint32_t)track->parameter);
    yw_write_u32(w, (track->drive ? DRIVEN : 0u) | (uint32_t)track->kind << 1 | track->loop);
    yw_write_u32(w, (uint32_t)track->num_keys);
    for (int32_t k = 0; k < track->num_keys; ++k) {
      yw_write_f64(w, track->keys[k].time);
      yw_write_f32(w, &track->keys[k].value.x, 3);
    }
    if (track->drive) yw_drive_write_setup(track->drive, w);
  }
}

// What the track changes is there.
static bool has_target(const yw_world* world, const yw_track* track) {
  if (track->target == YW_TRACK_GRAVITY || track->target == YW_TRACK_WIND) return true;
  if (track->target == YW_TRACK_PIN) {
    return track->slot < (uint32_t)world->pins.count &&
           (world->pins.items[track->slot].generation & 1);
  }
  if (track->slot >= (uint32_t)world->bodies.count) return false;
  const yw_body* body = &world->bodies.items[track->slot];
  if (!(body->generation & 1)) return false;
  return track->target != YW_TRACK_PARAMETER ||
         (track->parameter >= 0 && track->parameter < body->model->method->num_parameters);
}

static bool read_track(yw_world* world, yw_reader* r, yw_track* track) {
  uint32_t target = yw_read_u32(r);
  track->slot = yw_read_u32(r);
  track->parameter = (int32_t)yw_read_u32(r);
  uint32_t flags = yw_read_u32(r);
  int32_t count = read_count(r);
  if (r->failed || count < 1 || target > YW_TRACK_CONTROL || (flags >> 1 & 3) > YW_TRACK_STEP ||
      flags >> 4 != 0) {
    return false;
  }
  track->target = (yw_track_target)target;
  track->kind = (yw_track_kind)(flags >> 1 & 3);
  track->loop = flags & 1;
  track->keys = YW_NEW_ARRAY(&world->mem, yw_track_key, count);
  if (!track->keys || !has_target(world, track)) return false;
  track->num_keys = count;
  for (int32_t k = 0; k < count; ++k) {
    yw_track_key* key = &track->keys[k];
    key->time = yw_read_f64(r);
    yw_read_f32(r, &key->value.x, 3);
    if (!isfinite(key->time) || !yw_is_finite3(key->value)) return false;
    if (k > 0 && !(key->time > key[-1].time)) return false;
  }
  if (flags & DRIVEN) track->drive = yw_drive_read_setup(world, r);
  return !r->failed && (!(flags & DRIVEN) || track->drive);
}

bool yw_tracks_read(yw_world* world, yw_reader* r) {
  int32_t slots = read_count(r), more = slots - world->tracks.count;
  if (r->failed || (more > 0 && !YW_LIST_RESERVE(&world->mem, &world->tracks, more))) return false;
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    if (world->tracks.items[i].generation & 1) yw_track_forget(world, &world->tracks.items[i]);
    yw_track_release(world, &world->tracks.items[i]);
  }
  world->tracks.count = slots;
  for (int32_t i = 0; i < slots; ++i) world->tracks.items[i] = (yw_track){0};
  for (int32_t i = 0; i < slots; ++i) {
    uint32_t generation = yw_read_u32(r);
    if ((generation & 1) && !read_track(world, r, &world->tracks.items[i])) return false;
    world->tracks.items[i].generation = generation;
  }
  return !r->failed;
}

void yw_tracks_write_state(const yw_world* world, yw_writer* w) {
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    const yw_track* track = &world->tracks.items[i];
    if (track->generation & 1 && track->drive) yw_drive_write_state(track->drive, w);
  }
}

void yw_tracks_read_state(yw_world* world, yw_reader* r) {
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    const yw_track* track = &world->tracks.items[i];
    if (track->generation & 1 && track->drive) yw_drive_read_state(track->drive, r);
  }
}
