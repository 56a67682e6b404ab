// SPDX-License-Identifier: MIT
// What an automatic camera must see: the points of bodies and obstacles, frame by frame.
#ifndef YW_APP_PLAYBACK_MOMENTS_H
#define YW_APP_PLAYBACK_MOMENTS_H

#include "playback/frame.h"

typedef struct moments {
  yw_framer framer;
  yw_aabb box;  ///< of all points
} moments;

moments moments_start(const yw_framing* framing, float aspect);
/// Adds a frame that fits what is shown.
void moments_add(moments* m, const shown_scene* shown, const frame_data* frame);
/// Adds where the bodies of a frame would land if they fell straight down to the floor: the best
/// guess when later frames are not known yet.
void moments_add_fall(moments* m, const shown_scene* shown, const frame_data* frame);

/// Where a camera sees the face of a body that is alone with floors, degrees to the right of the z
/// axis. Heads are high and in front: the front is where the upper half of the points is, seen from
/// the middle. `usual` if that is at most 90 degrees from there, or nothing tells the front.
float moments_azimuth(const shown_scene* shown, const frame_data* frame, float usual);

#endif
