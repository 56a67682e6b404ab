// SPDX-License-Identifier: MIT
// The text of a USD export, run.usda: meshes and points with time samples, and their materials.
#ifndef YW_APP_PLAYBACK_USD_FILE_H
#define YW_APP_PLAYBACK_USD_FILE_H

#include <stdio.h>

#include "playback/export_parts.h"

#define USD_MAX_NAME 96

/// Numbers of a part that change from frame to frame.
typedef enum usd_stream {
  USD_POINTS,      ///< m, one per vertex or particle
  USD_NORMALS,     ///< of meshes, one per point of the export_part
  USD_WIDTHS,      ///< m, of particles
  USD_VELOCITIES,  ///< m/s, one per vertex or particle
  USD_NUM_STREAMS
} usd_stream;

typedef struct usd_part {
  char name[USD_MAX_NAME];  ///< of its prim, unique in the file
  const export_look* look;  ///< texture coordinates and materials of its file; NULL: none
  int32_t num_points;       ///< vertices or particles
  bool has[USD_NUM_STREAMS];
  uint64_t at[USD_NUM_STREAMS];  ///< floats before them, in the numbers of a frame
} usd_part;

typedef struct usd_file {
  const export_parts* parts;
  usd_part* own;  ///< one for each of these
  int32_t first, num_frames;
  double fps;
  FILE* numbers;  ///< frame_size floats per frame
  uint64_t frame_size;
  yw_transform* poses;  ///< of obstacles, num_frames x parts
  uint8_t* active;      ///< num_frames x parts: the part is there
} usd_file;

/// Floats of a stream of a part: 3 per point, 1 per width.
size_t usd_stream_size(const usd_file* u, int32_t part, usd_stream stream);
yw_status usd_file_write(const usd_file* u, const char* path, yw_error* error);

#endif
