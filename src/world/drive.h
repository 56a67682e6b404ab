// SPDX-License-Identifier: MIT
// Measures that tracks follow.
#ifndef YW_WORLD_DRIVE_H
#define YW_WORLD_DRIVE_H

#include "yawara/extend/stream.h"
#include "yawara/track.h"

/// Samples that a delay keeps; they are at least 1 / (this - 4) of the delay apart.
#define YW_DRIVE_SAMPLES 64

/// What a distance is measured to.
typedef enum yw_drive_aim {
  YW_DRIVE_TO_POINT = 0,
  YW_DRIVE_TO_BODY,
  YW_DRIVE_TO_OBSTACLE
} yw_drive_aim;

typedef struct yw_drive {
  yw_drive_measure by;
  float from, to, smooth, delay;
  uint32_t body;  ///< slot of the body that is measured
  yw_drive_aim aim;
  uint32_t other;  ///< slot of the other body, the obstacle or the pin
  yw_vec3 point;
  int32_t num_particles;  ///< 0: all
  int32_t* particles;     ///< owned; may be NULL

  // State, part of snapshots.
  float level;  ///< 0 to 1, delayed and smoothed
  float force;  ///< N, contact in the last substep
  int32_t num_samples, newest;
  double times[YW_DRIVE_SAMPLES];
  float samples[YW_DRIVE_SAMPLES];

  double noted[3];  ///< N s, contact at the beginning of the substep
} yw_drive;

/// Makes the drive of a track on `body` (slot) or `pin` (slot; -1: none).
yw_status yw_drive_create(yw_world* world, const yw_drive_def* def, int64_t body, int64_t pin,
                          yw_drive** out, yw_error* error);
void yw_drive_free(yw_world* world, yw_drive* drive);
/// Measures at a time, h after the last time, and moves the level.
void yw_drive_update(const yw_world* world, yw_drive* drive, double time, float h);
/// Takes in the forces of a substep of h.
void yw_drive_note_substep(const yw_world* world, yw_drive* drive, float h);

// drive_state.c: snapshots. The setup is checked against the world, the state against the ranges.
void yw_drive_write_setup(const yw_drive* drive, yw_writer* w);
yw_drive* yw_drive_read_setup(yw_world* world, yw_reader* r);
void yw_drive_write_state(const yw_drive* drive, yw_writer* w);
void yw_drive_read_state(yw_drive* drive, yw_reader* r);
/// Adds how the drive was made to a hash; body and other: their numbers in the order of creation.
uint64_t yw_drive_hash(const yw_drive* drive, uint64_t hash, uint64_t body, uint64_t other);

#endif
