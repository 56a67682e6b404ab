// SPDX-License-Identifier: MIT
// yawara view -o FILE: a movie instead of the page.
#ifndef YW_APP_COMMANDS_VIEW_MOVIE_H
#define YW_APP_COMMANDS_VIEW_MOVIE_H

#include "console/scene_options.h"

typedef struct movie_options {
  const char* input;   ///< a model, a scene or a run
  const char* output;  ///< the movie or picture
  const char* folder;  ///< of the run; NULL: out/NAME
  const char* size;    ///< in pixels; NULL: 640x360
  scene_options scene;
  bool is_run, quiet;
} movie_options;

/// Runs a model or a scene, then films the run; a finished run is only filmed. Returns the exit
/// code.
int view_movie(const movie_options* options);

#endif
