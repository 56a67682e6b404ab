// SPDX-License-Identifier: MIT
// One frame of a run as pictures and exports see it: taken from a world, or read from a run folder.
// With a shown_scene it is all that is needed to show bodies and obstacles; the state of the
// methods is not needed any more.
#ifndef YW_APP_PLAYBACK_FRAME_H
#define YW_APP_PLAYBACK_FRAME_H

#include "playback/shown.h"
#include "yawara/extend/stream.h"
#include "yawara/yawara.h"

typedef struct frame_field {
  char name[48], unit[16];
  bool per_cell;
  int32_t count;  ///< of particles or cells
  const float* values;
} frame_field;

typedef struct frame_body {
  bool active;  ///< false: it waits for its start and is not shown
  int32_t num_particles;
  const yw_vec3* positions;
  /// Vertices of the surface where it is SHOWN_OWN; else NULL.
  const yw_vec3* surface;
  int32_t num_surface;
  const float* radii;    ///< of bodies that have no surface; else NULL
  int32_t num_cells;     ///< tets
  const int32_t* cells;  ///< 4 particles each; NULL: those of the model, or of cells_frame
  int32_t cells_frame;   ///< the frame that holds the cells; -1: they are the tets of the model
  frame_field* fields;
  int32_t num_fields;
} frame_body;

typedef struct frame_data {
  int32_t number;
  double time;  ///< s
  int32_t num_bodies, num_obstacles;
  frame_body* bodies;
  yw_transform* obstacles;  ///< poses
  void* values;             ///< what the bodies' arrays point into
} frame_data;

/// Where the cells of a body were last written. Zero-initialised: nowhere.
typedef struct frame_cells {
  uint64_t version;  ///< see yw_body_cells_version
  int32_t frame;
} frame_cells;

typedef struct frame_def {
  const yw_world* world;
  const yw_scene* scene;  ///< what the world was built of; NULL: no obstacles are shown
  int32_t number;
  /// NULL (none), "all", or a comma-separated list of names; bodies that do not have one of these
  /// do without.
  const char* fields;
  /// One for each body, kept from frame to frame: cells that did not change are not copied again.
  /// NULL: cells are always copied.
  frame_cells* known_cells;
} frame_def;
yw_status frame_take(const frame_def* def, frame_data* out, yw_error* error);
void frame_free(frame_data* frame);

/// Every name of a list (see frame_def) is a field of some body; else the error names those that
/// there are.
yw_status frame_check_fields(const yw_world* world, const char* fields, yw_error* error);
/// The field of a body with this name; NULL when it has none.
const frame_field* frame_find_field(const frame_body* body, const char* name);

/// Ends of the values of a field over all active bodies that have it, but for a hundredth on either
/// side: a few wild values do not wash out the rest. 0 and 0 when there are none; false when memory
/// is out.
bool frame_field_range(const frame_data* frame, const char* name, double* low, double* high);

/// The frame belongs to bodies and obstacles like these.
bool frame_fits(const frame_data* frame, const shown_scene* shown);
/// The tets of the body, 4 particles each, once they were found.
const int32_t* frame_tets(const frame_body* body, const shown_model* model);
/// Vertices of what the body shows; out has room for the model's surface.
void frame_surface(const frame_body* body, const shown_model* model, yw_vec3* out);

void frame_write(const frame_data* frame, yw_writer* writer);
/// Reads to the end of the bytes. Neither sizes nor indices are believed: YW_ERR_FORMAT when they
/// make no sense. The frame is to be freed either way.
yw_status frame_read(yw_reader* reader, frame_data* out);

#endif
