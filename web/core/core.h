// SPDX-License-Identifier: MIT
// What the page can ask of a world: open a scene, step, look, touch. A thin layer over the public
// interface and over what the program shows of runs; nothing in here simulates. The page runs it
// compiled to WebAssembly; yawara view runs it as it is.
#ifndef YW_WEB_CORE_H
#define YW_WEB_CORE_H

#include "display.h"
#include "playback/frame.h"
#include "playback/run_folder.h"
#include "playback/shown.h"
#include "text.h"
#include "yawara/extend/tasks.h"
#include "yawara/yawara.h"

/// A body as it is shown.
typedef struct core_body {
  yw_body_id id;
  float size;         ///< m, longest side at rest
  int32_t* carriers;  ///< see frame_shown_values
} core_body;

/// Something that the user holds: a spring to the pointer, or a pin.
typedef struct core_hold {
  yw_pin_id pin;
  int32_t body;
  yw_vec3 at;    ///< where it was taken hold of, m
  yw_vec3 goal;  ///< where it is held now, m
  int32_t num_vertices;
  int32_t* vertices;
} core_hold;

#define CORE_MAX_PINS 64

typedef struct core {
  yw_progress progress;  ///< called while models are built; may be NULL
  void* progress_context;
  const char* cache_folder;  ///< see yw_scene_def; may be NULL
  yw_tasks* tasks;           ///< threads, shared by all worlds; NULL: only the caller's
  yw_scene* scene;
  yw_world* world;
  run_folder* run;     ///< instead of scene and world: a run on disk, which owns `shown`
  frame_data moment;   ///< the frame of the run that is shown
  yw_vec3** surfaces;  ///< of each body of the run, in this frame; NULL: particles
  shown_scene* shown;
  yw_scene_info info;
  display_mesh* meshes;           ///< of each model that is shown
  display_mesh* obstacle_meshes;  ///< of each obstacle
  core_body* bodies;
  yw_vec3* surface;  ///< vertices of the largest surface; scratch
  int32_t frame;     ///< frames since the start
  yw_step_report report;
  core_hold grab;  ///< num_vertices 0: nothing is grabbed
  core_hold pins[CORE_MAX_PINS];
  int32_t num_pins;
  char field[48];  ///< field to send with frames; "": none
  yw_vec3* pose;   ///< see core_pose
  float* words;    ///< the last frame, see core_take_frame
  size_t num_words, capacity;
  yw_error message;  ///< of the last call that failed, or warnings of the last scene opened
  text json;
  /// Arrays of core_scene_json are copied here, and "at" is where: for pages that do not share this
  /// memory.
  bool keeps_arrays;
  text arrays;
} core;

/// threads includes the calling one.
core* core_create(int32_t threads);
void core_destroy(core* c);

// Scenes ------------------------------------------------------------------------------------------

/// Reads a scene and builds its world. path is for messages and relative files; changes has lines
/// "path<TAB>value", as for yw_scene_override, and may be NULL. On failure what was open before
/// stays, and core.message says why.
yw_status core_open(core* c, const char* path, const char* scene, const char* changes);
/// Builds the world again.
yw_status core_restart(core* c);
/// One frame.
yw_status core_step(core* c);

/// Changes a setting of a body's method at once, see yw_scene_set.
yw_status core_set(core* c, int32_t body, const char* key, const char* value);

/// Opens a run on disk at its first frame. It can be looked at, but neither stepped nor touched. On
/// failure what was open before stays, and core.message says why.
yw_status core_open_run(core* c, const char* dir);
/// Shows another frame of the run; on failure core.message says why, and the last one stays.
yw_status core_show_frame(core* c, int32_t number);

// Looking -----------------------------------------------------------------------------------------

/// What does not change from frame to frame, as JSON; arrays as {"at": address, "count": n}, see
/// core.keeps_arrays.
const char* core_scene_json(core* c);
/// Energies, statistics, example weights and timing of the last step, as JSON.
const char* core_report_json(core* c);
/// Settings of a body's method, see yw_scene_write_settings.
const char* core_settings_json(core* c, int32_t body);
/// Positions of a body's vertices, moved and turned back to where the model is at rest as well as a
/// rigid motion can; NULL if it is not a tet mesh. Valid until the next call.
const yw_vec3* core_pose(core* c, int32_t body, int32_t* count);
/// The state as 16 hexadecimal digits.
const char* core_hash(core* c);
/// Packs what is shown into core.words, of 4 bytes each: see core_frame.c for the layout.
yw_status core_take_frame(core* c);
/// Frames then also carry the values of this field; "" for none.
void core_show_field(core* c, const char* name);

// Touching ----------------------------------------------------------------------------------------

/// Takes hold of the body at a point: a spring that is as strong as the body is heavy.
yw_status core_grab(core* c, int32_t body, yw_vec3 at);
/// Moves the other end of the spring.
yw_status core_drag(core* c, yw_vec3 to);
/// Lets go; the body keeps its velocity.
void core_release(core* c);
/// Pins the body at a point, or removes the pin that is there.
yw_status core_pin(core* c, int32_t body, yw_vec3 at);
/// Forgets grabs and pins, without touching the world.
void core_forget_holds(core* c);

#endif
