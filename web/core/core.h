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
#include "poser.h"
#include "text.h"
#include "wrap.h"
#include "yawara/extend/tasks.h"
#include "yawara/yawara.h"

/// A body as it is shown.
typedef struct core_body {
  yw_body_id id;
  float size;         ///< m, longest side at rest
  int32_t* carriers;  ///< see frame_shown_values
  wrap skin;          ///< of loose particles
  yw_vec3* colors;    ///< see core_clad_colors
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

typedef struct core_keep core_keep;

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
  yw_vec3* surface;  ///< vertices of the largest surface that moves; scratch
  int32_t frame;     ///< frames since the start
  yw_step_report report;
  core_hold grab;  ///< num_vertices 0: nothing is grabbed
  core_hold pins[CORE_MAX_PINS];
  int32_t num_pins;
  char field[48];         ///< field to send with frames; "": none
  uint32_t inside;        ///< core_inside: what else frames carry
  bool records_contacts;  ///< in steps, once a viewer has asked for contacts
  yw_vec3 cut_normal;
  float cut_offset;      ///< what is kept has normal . p + offset >= 0
  yw_vec3* pose;         ///< see core_pose
  poser* poser;          ///< NULL: no pose is being made
  int32_t posed;         ///< the body that it is made of
  yw_transform place;    ///< from its model to where the body is
  unsigned char* paint;  ///< a byte per vertex; NULL: nothing is being painted
  int32_t painted, num_paint;
  int32_t* paint_from;  ///< painted vertex that each vertex of the mesh shows
  float* words;         ///< the last frame, see core_take_frame
  size_t num_words, capacity;
  yw_error message;  ///< of the last call that failed, or warnings of the last scene opened
  text json;
  core_keep* keep;  ///< a run that is being written; NULL: none
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
/// Builds the world again; a pose or paint in the making ends.
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

/// Starts the scene again and writes it as a run folder, see docs/runs.md: first what is shown and
/// frame 0, then a frame per call, then the rest. scene (its text) and changes: as it was opened.
yw_status core_keep_start(core* c, const char* dir, const char* scene, const char* changes);
yw_status core_keep_frame(core* c);
yw_status core_keep_end(core* c);
/// Forgets a run that is not finished.
void core_keep_stop(core* c);

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
/// What frames carry besides.
typedef enum core_inside {
  CORE_CONTACTS = 1,  ///< where bodies touch
  CORE_AXES = 2,      ///< how regions are turned
  CORE_CUT = 4,       ///< tets along a plane
  CORE_SKINS = 8,     ///< surfaces around loose particles
  CORE_SLAVES = 16    ///< slaves of plastic bodies
} core_inside;
void core_look_inside(core* c, uint32_t inside, yw_vec3 normal, float offset);
// core_inside.c: adds words to a frame; returns how many axes, contacts, slaves or triangles.
int32_t core_add_axes(core* c);
int32_t core_add_contacts(core* c);
int32_t core_add_slaves(core* c);
int32_t core_add_cut(core* c, int32_t body, const frame_data* frame);
// core_clad.c: plastic bodies with a surface, which holds until matter parts.
bool core_is_clad(const core* c, int32_t body);
bool core_model_is_clad(const core* c, int32_t model);
bool core_surface_holds(const core* c, int32_t body);
/// Colours of its particles, to be freed; NULL and count 0: all have that of the body.
yw_vec3* core_clad_colors(const core* c, int32_t body, int32_t* count);
/// Adds the surface as a skin; false if out of memory.
bool core_add_clad(core* c, int32_t body, const yw_vec3* surface, int32_t* count,
                   int32_t* triangles);
/// Room for `count` more words of a frame; NULL if out of memory.
float* core_add_words(core* c, size_t count);

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

// Posing ------------------------------------------------------------------------------------------
// While a pose is made the scene stands still, and stepping moves the pose (poser.h).

/// Starts the scene again and makes a pose of a body, from the given positions in its model or from
/// the rest pose.
yw_status core_pose_begin(core* c, int32_t body, const yw_vec3* base, int32_t num_base);
void core_pose_end(core* c);
void core_pose_step(core* c);
/// Points, offsets and turns are those of the world.
yw_status core_pose_hold(core* c, const poser_grip* grip, int32_t* id);
yw_status core_pose_move(core* c, int32_t id, yw_vec3 offset, yw_quat turn, float scale);
typedef enum core_pose_action {
  CORE_POSE_DROP,
  CORE_POSE_RELAX,
  CORE_POSE_BAKE,
  CORE_POSE_STROKE_END
} core_pose_action;
yw_status core_pose_act(core* c, core_pose_action action, int32_t id);
yw_status core_pose_deform(core* c, const float* amounts, yw_vec3 axis);
yw_status core_pose_load(core* c, const float* words, int32_t count);
/// Positions and then normals of the shown surface in example k of a body; NULL if there is none.
/// Valid until the next call.
const float* core_example_surface(core* c, int32_t body, int32_t k, int32_t* num_vertices);
/// Handles as a JSON list.
const char* core_handles_json(core* c);
/// What the body feels of its examples and, last, of its present pose, as a JSON list.
const char* core_pose_check_json(core* c, int32_t body, bool with_pose);

// Painting ----------------------------------------------------------------------------------------

/// Starts the scene again and shows the paint of a body, given or all 0. whole: of all vertices,
/// else of those that a scene's layers are painted on.
yw_status core_paint_begin(core* c, int32_t body, bool whole, const unsigned char* bytes,
                           int32_t count);
void core_paint_end(core* c);
/// Paints within a radius; the outer `softness` of it, 0 to 1, fades out.
void core_paint_dab(core* c, yw_vec3 at, float radius, float value, float softness);
/// Paints everything, from the first value at one point to the second at the other.
void core_paint_line(core* c, yw_vec3 from, yw_vec3 to, float first, float second);
/// The paint shown at a vertex of the surface; NAN: none.
float core_paint_of(const core* c, const yw_surface_map* map, int32_t vertex);

#endif
