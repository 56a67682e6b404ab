// SPDX-License-Identifier: MIT
// One frame of a run as pictures and exports see it: taken from a world, or read from a cache. It
// holds all that is needed to show the bodies; the state of the methods is not needed any more.
#ifndef YW_APP_PLAYBACK_FRAME_H
#define YW_APP_PLAYBACK_FRAME_H

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
  /// Vertices of the model's surface where they need more than the positions; else NULL.
  const yw_vec3* surface;
  int32_t num_surface;
  const float* radii;    ///< of bodies that have no surface; else NULL
  const int32_t* cells;  ///< 4 particles each; NULL: the tets of the model
  int32_t num_cells;
  frame_field* fields;
  int32_t num_fields;
} frame_body;

typedef struct frame_data {
  int32_t number;
  double time;
  int32_t num_bodies;
  frame_body* bodies;
  void* values;  ///< what the bodies' arrays point into
} frame_data;

/// fields: NULL (none), "all", or a comma-separated list of names; bodies that do not have one of
/// these do without.
yw_status frame_of_world(const yw_world* world, int32_t number, const char* fields, frame_data* out,
                         yw_error* error);
void frame_free(frame_data* frame);

/// Every name of a list (see frame_of_world) is a field of some body; else the error names those
/// that there are.
yw_status frame_check_fields(const yw_world* world, const char* fields, yw_error* error);
/// The field of a body with this name; NULL when it has none.
const frame_field* frame_find_field(const frame_body* body, const char* name);

/// Ends of the values of a field over all active bodies that have it, but for a hundredth on either
/// side: a few wild values do not wash out the rest. 0 and 0 when there are none; false when memory
/// is out.
bool frame_field_range(const frame_data* frame, const char* name, double* low, double* high);

/// The frame belongs to bodies like those of the world.
bool frame_fits(const frame_data* frame, const yw_world* world);
/// Vertices of what the body shows; out has room for the model's surface.
void frame_surface(const frame_body* body, const yw_model* model, yw_vec3* out);

void frame_write(const frame_data* frame, yw_writer* writer);
/// Sizes are not believed: false when what is read makes no sense. The frame is to be freed either
/// way.
bool frame_read(yw_reader* reader, frame_data* out);

#endif
