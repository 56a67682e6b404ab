// SPDX-License-Identifier: MIT
// All parts of a run that an export with one file shows: bodies, then obstacles.
#ifndef YW_APP_PLAYBACK_EXPORT_PARTS_H
#define YW_APP_PLAYBACK_EXPORT_PARTS_H

#include "playback/export_part.h"
#include "playback/export_scene.h"
#include "playback/run_folder.h"

/// Zero-initialised: empty.
typedef struct export_parts {
  const shown_scene* shown;
  int32_t count;
  export_part* items;    ///< bodies in their order, then the obstacles that can be seen
  int32_t* of_obstacle;  ///< part of each obstacle; -1: it is not shown
} export_parts;

/// scene: outlives the parts. first, last: frames that are going to be posed.
yw_status export_parts_open(run_folder* run, const export_scene* scene, int32_t first, int32_t last,
                            export_parts* out, yw_error* error);
void export_parts_close(export_parts* parts);

/// Moves the parts to a frame. surfaces: of each body; NULL: its particles are shown. start: the
/// first frame, which each part keeps; parts that do not morph are posed only there. poses, one per
/// part: those of obstacles are written.
yw_status export_parts_pose(export_parts* parts, const frame_data* frame, yw_vec3* const* surfaces,
                            bool start, yw_transform* poses, yw_error* error);

#endif
