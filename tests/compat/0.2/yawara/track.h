// SPDX-License-Identifier: MIT
// Tracks: numbers of a world that change over time, by keys: gravity, wind, parameters and friction
// of bodies, the strength of pins, weights of examples. Instead of the time they may follow a
// measure, such as the speed of a body. A world with tracks is still a function of how it was
// built: snapshots, hashes and resuming work as without them.
#ifndef YAWARA_TRACK_H
#define YAWARA_TRACK_H

#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Ids are values, like yw_body_id.
typedef struct yw_track_id {
  uint32_t index1, generation;
} yw_track_id;

/// What a track changes.
typedef enum yw_track_target {
  YW_TRACK_GRAVITY = 0,  ///< of the world, m/s^2
  YW_TRACK_FRICTION,     ///< of a body, >= 0
  YW_TRACK_PARAMETER,    ///< of a body's method, by the name in its yw_..._params, e.g. "beta"
  /// Strength of a pin, 0 to 1. Springs are as much weaker; vertices that are held exactly are let
  /// go below 1/2 and held again, where the path is by then, from 1/2 on.
  YW_TRACK_PIN,
  YW_TRACK_WIND,  ///< velocity of the air (yw_world_set_wind), m/s
  /// Weight of an example in a group of a body with examples (match, frames), 0 to 1: the body
  /// takes that pose, with the strength of beta, instead of choosing by itself. Examples of the
  /// group without a track have weight 0; sums above 1 are scaled down.
  YW_TRACK_WEIGHT,
  /// How much weights with tracks count in a group, 0 to 1; the rest is what the body chooses by
  /// itself. Without this track: 1.
  YW_TRACK_CONTROL
} yw_track_target;

/// How values run between keys. Before the first and after the last key they stay as they are
/// there.
typedef enum yw_track_kind {
  YW_TRACK_LINEAR = 0,  ///< straight lines (default)
  YW_TRACK_SMOOTH,      ///< starts and ends every stretch at rest; never beyond its two keys
  YW_TRACK_STEP         ///< stays at a key until the next
} yw_track_kind;

typedef struct yw_track_key {
  double time;    ///< s, strictly increasing
  yw_vec3 value;  ///< gravity, wind: a vector; everything else: x
} yw_track_key;

typedef struct yw_track_def {
  yw_track_target target;
  yw_body_id body;           ///< of friction and parameters
  const char* parameter;     ///< name of a parameter; needed during the call only
  yw_pin_id pin;             ///< of YW_TRACK_PIN
  const yw_track_key* keys;  ///< copied
  int32_t num_keys;          ///< >= 1
  yw_track_kind kind;
  bool loop;        ///< start again after the last key; default false
  int32_t example;  ///< of YW_TRACK_WEIGHT, from 0
  int32_t group;    ///< of weight and control; -1 (default): all groups
} yw_track_def;
YW_API yw_track_def yw_default_track_def(void);

/// The first value applies at once, later ones in every substep, each as it is in its middle. They
/// override values that are set by hand. YW_ERR_INVALID, with a message: a stale id, a parameter
/// that the method does not have or a value that it refuses, times that do not increase, or a
/// target that has a track already.
YW_API yw_status yw_track_create(yw_world* world, const yw_track_def* def, yw_track_id* out,
                                 yw_error* error);

/// What a drive measures, at the beginning of every substep.
typedef enum yw_drive_measure {
  YW_DRIVE_SPEED = 0,  ///< m/s, of the centre of mass
  YW_DRIVE_SPIN,       ///< rad/s, angular momentum over inertia
  YW_DRIVE_HEIGHT,     ///< m, y of the centre of mass
  /// m, from the centre of mass to a point, to the surface of a body, or to an obstacle (negative
  /// inside of it).
  YW_DRIVE_DISTANCE,
  YW_DRIVE_HANDLE,  ///< N, with which the springs of a pin pull, without their damping
  /// N, of the sum of all forces from other bodies and, unless pins act on it, from obstacles, over
  /// the last substep. A body that is squeezed from two sides feels none: see YW_DRIVE_ENERGY.
  YW_DRIVE_CONTACT,
  /// J, strain energy against the rest pose. match: with `stiffness`, not with `alpha`.
  YW_DRIVE_ENERGY
} yw_drive_measure;

/// Lets a track follow a measure instead of the time. The measure becomes a number from 0 (at
/// `from` and beyond) to 1 (at `to` and beyond), is delayed and smoothed; keys give the value at
/// such numbers instead of times.
typedef struct yw_drive_def {
  yw_drive_measure by;
  float from,
      to;        ///< in the unit of the measure, from > to where less counts as more; default 0, 1
  float smooth;  ///< s, >= 0; default 0. Steps are followed to 63 % in this time
  float delay;   ///< s, >= 0; default 0. Kept with a resolution of 1/60 of it
  yw_body_id body;  ///< that is measured; null: that of the track, or of its pin
  const int32_t*
      vertices;          ///< of the body; speed, spin, height and distance are those of this part
  int32_t num_vertices;  ///< 0 (default): the whole body
  yw_vec3 point;         ///< m, distance to this point, if neither of the next two is given
  yw_body_id other;      ///< distance to this body
  yw_obstacle_id obstacle;  ///< distance to this obstacle
  yw_pin_id pin;            ///< of YW_DRIVE_HANDLE; null: that of the track
} yw_drive_def;
YW_API yw_drive_def yw_default_drive_def(void);
/// yw_track_create with a drive (NULL: none). Keys have times from 0 to 1; without keys, the value
/// is the number itself. Such a track also ends with the bodies, the pin and the obstacle of its
/// drive.
YW_API yw_status yw_track_create_driven(yw_world* world, const yw_track_def* def,
                                        const yw_drive_def* drive, yw_track_id* out,
                                        yw_error* error);
/// The value that the track has set last.
YW_API yw_status yw_track_value(const yw_world* world, yw_track_id id, yw_vec3* out);

/// Gravity, wind, friction and strength return to what they were built with; parameters stay as
/// they are. Tracks are also destroyed with their bodies and pins.
YW_API yw_status yw_track_destroy(yw_world* world, yw_track_id id);
YW_API bool yw_track_is_valid(const yw_world* world, yw_track_id id);

#ifdef __cplusplus
}
#endif
#endif
