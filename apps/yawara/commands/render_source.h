// SPDX-License-Identifier: MIT
// What yawara render draws: frames of a run on disk, which needs nothing else, or of a world that
// is simulated meanwhile; its camera and its colours by a field.
#ifndef YW_APP_COMMANDS_RENDER_SOURCE_H
#define YW_APP_COMMANDS_RENDER_SOURCE_H

#include "console/batch.h"
#include "console/scene_options.h"
#include "playback/run_folder.h"
#include "playback/stage.h"

typedef struct render_options {
  const char* input;
  const char* output;
  const char* size;
  int32_t width, height;
  int32_t samples;
  int32_t from, to, every;
  float wireframe, fps;
  const char* color_by;
  const char* color_range;
  const char* look;
  bool particles;
  bool quiet;
  scene_options scene;
  const char* task;
  int32_t wedge;  ///< tasks
  bool list, slurm;
  task_share share;  ///< of the pictures, with --task or --wedge
} render_options;

/// Colours by field: the ends of the legend.
typedef struct coloring {
  const char* field;  // NULL: none
  bool given;         // the range was given
  double low, high;
  char title[80];
} coloring;

typedef struct source {
  bool is_run;
  run_folder run;
  yw_scene* scene;  // this and the next three: for a world
  yw_world* world;
  shown_scene* own_shown;
  int32_t frame;  // current frame of the world
  shown_scene* shown;
  yw_framing framing;  // of an automatic camera
  stage* stage;
  float fps;
  int32_t frames;
  coloring color;
} source;

/// Returns -1 to continue, or the exit code; close it in both cases.
int open_source(const render_options* o, source* s);
void close_source(source* s);
/// Puts frame number `frame` on the stage. Those of a scene only go forwards.
yw_status show_frame(source* s, int32_t frame, yw_error* error);
/// Finds the name and unit of the field that colours show; fails if no body has it.
yw_status find_field(source* s, int32_t first, yw_error* error);
/// Finds the ends of the colour scale, which must not change from picture to picture.
yw_status find_range(source* s, const render_options* o, int32_t last, yw_error* error);
/// Chooses a camera that does not move: it must know all frames of the run in advance, whichever
/// are drawn. Of a scene only the first is known, and where its bodies would fall.
yw_status choose_camera(source* s, const render_options* o, yw_camera* camera, yw_aabb* focus,
                        yw_error* error);

#endif
