// SPDX-License-Identifier: MIT
// What bodies show in the frames of an export, and how fast it moves.
#ifndef YW_APP_PLAYBACK_EXPORT_SURFACES_H
#define YW_APP_PLAYBACK_EXPORT_SURFACES_H

#include "playback/export_scene.h"
#include "playback/run_folder.h"

/// Surfaces of all bodies in one frame.
typedef struct export_moment {
  bool there;
  double time;         ///< s
  bool* active;        ///< of each body: it has started
  yw_vec3** surfaces;  ///< of each body, m; NULL: it shows particles
} export_moment;

/// Zero-initialised: empty.
typedef struct export_surfaces {
  const export_scene* scene;
  int32_t num_bodies;
  export_moment before, now, after;  ///< only `now` unless there are velocities
  yw_vec3** velocities;              ///< of each body, m/s; NULL: not wanted
} export_surfaces;

/// shown: that of the run; scene: what is exported of it.
yw_status export_surfaces_open(const shown_scene* shown, const export_scene* scene, bool velocities,
                               export_surfaces* out, yw_error* error);
void export_surfaces_close(export_surfaces* s);
/// Takes what a frame shows, without velocities.
yw_status export_surfaces_show(export_surfaces* s, const shown_scene* shown,
                               const frame_data* frame, yw_error* error);
/// Goes to the next frame, or to any at first, with velocities: the mean slope to the frames before
/// and after, or to one of them where there is no other (at the ends of the run, and where a body
/// starts). last: the last frame of the run.
yw_status export_surfaces_go(export_surfaces* s, run_folder* run, int32_t frame, int32_t last,
                             yw_error* error);

#endif
