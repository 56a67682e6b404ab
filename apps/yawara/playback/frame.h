// SPDX-License-Identifier: MIT
// One frame of a run for pictures and exports: taken from a world, or read from a run folder. With
// a shown_scene it is all that is needed to show bodies and obstacles, without the state of the
// methods.
#ifndef YW_APP_PLAYBACK_FRAME_H
#define YW_APP_PLAYBACK_FRAME_H

#include "playback/shown.h"
#include "yawara/extend/stream.h"
#include "yawara/yawara.h"

typedef struct frame_field {
  char name[48], unit[16];
  char meaning[96];  ///< in a few words; may be empty
  bool per_cell;
  int32_t count;  ///< number of particles or cells
  const float* values;
} frame_field;

typedef struct frame_body {
  bool active;  ///< false: it has not started yet and is not shown
  int32_t num_particles;
  const yw_vec3* positions;
  /// Vertices of a SHOWN_OWN surface; otherwise NULL.
  const yw_vec3* surface;
  int32_t num_surface;
  const float* radii;    ///< of bodies without a surface, or with one that parts; otherwise NULL
  const float* parted;   ///< see yw_body_parted; NULL: the surface holds everywhere, or is none
  int32_t num_cells;     ///< tets
  const int32_t* cells;  ///< 4 particles each; NULL: those of the model, or of cells_frame
  int32_t cells_frame;   ///< the frame that stores the cells; -1: they are the tets of the model
  frame_field* fields;
  int32_t num_fields;
  /// Ranks share the body and write its lists themselves (frame_write_shared): they are NULL here.
  bool is_shared, has_surface, has_radii, may_part;
} frame_body;

typedef struct frame_data {
  int32_t number;
  double time;  ///< s
  int32_t num_bodies, num_obstacles;
  frame_body* bodies;
  yw_transform* obstacles;  ///< poses
  void* values;             ///< storage of the bodies' arrays
} frame_data;

/// Where the cells of a body were last written. Zero-initialised: nowhere yet.
typedef struct frame_cells {
  uint64_t version;  ///< see yw_body_cells_version
  int32_t frame;
} frame_cells;

typedef struct frame_def {
  const yw_world* world;
  const yw_scene* scene;  ///< the scene that the world was built from; NULL: no obstacles are shown
  int32_t number;
  /// NULL (none), "all", or a comma-separated list of names; "velocity" means vx, vy and vz. Bodies
  /// skip fields they do not have.
  const char* fields;
  /// One per body, kept from frame to frame, so that unchanged cells are not copied again. NULL:
  /// always copy cells.
  frame_cells* known_cells;
  /// Leaves the lists of bodies that ranks share to these.
  bool leave_shared;
} frame_def;
yw_status frame_take(const frame_def* def, frame_data* out, yw_error* error);
void frame_free(frame_data* frame);

/// Checks that every name (see frame_def) is a field of some body; the error lists what exists.
yw_status frame_check_fields(const yw_world* world, const char* fields, yw_error* error);
/// The field of a body with this name, or NULL.
const frame_field* frame_find_field(const frame_body* body, const char* name);

/// Fields that hold the velocities of particles, m/s.
extern const char* const frame_velocity_names[3];
/// Their values, if the frame has them.
bool frame_velocity(const frame_body* body, const float* out[3]);

/// Range of a field over all active bodies that have it, without the lowest and highest hundredth
/// of the values, so that a few outliers do not wash out the rest. 0 and 0 if there are no values;
/// false if out of memory.
bool frame_field_range(const frame_data* frame, const char* name, double* low, double* high);

/// True if the frame matches these bodies and obstacles.
bool frame_fits(const frame_data* frame, const shown_scene* shown);
/// The tets of the body, 4 particles each: from the frame, or else from the model.
const int32_t* frame_tets(const frame_body* body, const shown_model* model);
/// Vertices of the body's shown surface; out has space for the model's surface. YW_ERR_MEMORY if
/// there is not enough.
yw_status frame_surface(const frame_body* body, const shown_model* model, yw_vec3* out);
/// Moves these surfaces, one per body (NULL: none), out of each other and of obstacles, see
/// yw_shown_keep_apart. The frame must fit. YW_ERR_MEMORY if there is not enough.
yw_status frame_keep_apart(const frame_data* frame, const shown_scene* shown,
                           yw_vec3* const* surfaces);

void frame_write(const frame_data* frame, yw_writer* writer);
/// The same bytes, to a file that exists, from an offset on; with them the lists of bodies that
/// ranks share, which all ranks write. *size: bytes.
yw_status frame_write_shared(const frame_data* frame, const yw_world* world, const char* path,
                             uint64_t offset, uint64_t* size, yw_error* error);
/// Reads to the end of the bytes. Sizes and indices are checked: YW_ERR_FORMAT if they make no
/// sense. The frame must be freed in either case.
yw_status frame_read(yw_reader* reader, frame_data* out);

#endif
