// SPDX-License-Identifier: MIT
// Numbers that follow keys.
#ifndef YW_WORLD_TRACK_H
#define YW_WORLD_TRACK_H

#include "yawara/track.h"

typedef struct yw_track {
  uint32_t generation;
  yw_track_target target;
  uint32_t slot;       ///< of the body or pin
  int32_t parameter;   ///< in the table of the body's method
  yw_track_key* keys;  ///< owned
  int32_t num_keys;
  yw_track_kind kind;
  bool loop;
} yw_track;

/// Value at a time.
yw_vec3 yw_track_at(const yw_track* track, double time);
/// Sets everything that tracks change to its value at a time, h after the last.
void yw_tracks_apply(yw_world* world, double time, double h);
/// The same after a snapshot was loaded, which holds the parameters itself.
void yw_tracks_restore(yw_world* world);
/// Destroys the tracks of a body or a pin (slots) that is destroyed.
void yw_world_drop_body_tracks(yw_world* world, uint32_t body);
void yw_world_drop_pin_tracks(yw_world* world, uint32_t pin);
void yw_track_release(yw_world* world, yw_track* track);
/// Takes away what a track gave to its body.
void yw_track_forget(yw_world* world, const yw_track* track);
/// Adds a track to a hash; `order` is the number of its body or pin in the order of creation.
uint64_t yw_track_hash(const yw_track* track, uint64_t hash, uint64_t order);

#endif
