// SPDX-License-Identifier: MIT
// Another look at a finished run: camera, colours, lights, floor. Keys come from a small JSON file
// or as text, "camera.azimuth=60"; unknown ones are refused.
#ifndef YW_APP_PLAYBACK_LOOK_H
#define YW_APP_PLAYBACK_LOOK_H

#include "playback/shown.h"

typedef struct look_values {
  uint32_t given;  ///< bit i: row i of the table was set
  yw_vec3 eye, target;
  float fov, azimuth, elevation, zoom;
  yw_vec3 color;
  float gloss;
  yw_vec3 floor_color, floor_color2;
  float tiles;
  bool floor_visible;
  yw_vec3 sun_direction, sun_color;
  float sun_radius;
  yw_vec3 backdrop_high, backdrop_low;
  float exposure;
} look_values;

/// What is to be changed. Zero-initialised: nothing.
typedef struct look {
  look_values values;
  shown_scene* shown;  ///< whose bodies are coloured
} look;

/// Reads the keys of a file.
yw_status look_read(look* l, const char* path, yw_error* error);
/// Reads one "key=value".
yw_status look_set(look* l, const char* text, yw_error* error);
/// Changes what is shown, and the framing of an automatic camera.
yw_status look_apply(const look* l, shown_scene* shown, yw_framing* framing, yw_error* error);
/// Keys and their meaning, as lines of a help text.
const char* look_help(void);

#endif
