// SPDX-License-Identifier: MIT
// Numbers that follow keys.
#ifndef YW_WORLD_TRACK_H
#define YW_WORLD_TRACK_H

#include "world/drive.h"
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
  yw_drive* drive;  ///< owned; NULL: keys run over time
} yw_track;

/// True for what is of a body, and not of a pin or the world.
bool yw_track_is_of_body(const yw_track* track);
/// Value at a time.
yw_vec3 yw_track_at(const yw_track* track, double time);
/// Sets everything that tracks change to its value at a time, in a substep of h.
void yw_tracks_apply(yw_world* world, double time, float h);
/// What drives need to know of a substep of h that is over.
void yw_tracks_note_substep(yw_world* world, float h);
/// True if a drive needs the forces on bodies.
bool yw_tracks_need_forces(const yw_world* world);
/// The same after a snapshot was loaded, which holds the parameters itself.
void yw_tracks_restore(yw_world* world);
/// Destroys the tracks of a body or a pin (slots) that is destroyed.
void yw_world_drop_body_tracks(yw_world* world, uint32_t body);
void yw_world_drop_pin_tracks(yw_world* world, uint32_t pin);
/// Destroys tracks whose drives look at an obstacle (slot) that is destroyed.
void yw_world_drop_obstacle_tracks(yw_world* world, uint32_t obstacle);
void yw_track_release(yw_world* world, yw_track* track);
/// Takes away what a track gave to its body.
void yw_track_forget(yw_world* world, const yw_track* track);
// track_state.c: tracks in the setup of snapshots, and the state of their drives.
void yw_tracks_write(const yw_world* world, yw_writer* w);
bool yw_tracks_read(yw_world* world, yw_reader* r);
void yw_tracks_write_state(const yw_world* world, yw_writer* w);
void yw_tracks_read_state(yw_world* world, yw_reader* r);
/// Adds a track to a hash; `order` is the number of its body or pin in the order of creation.
uint64_t yw_track_hash(const yw_track* track, uint64_t hash, uint64_t order);

#endif
