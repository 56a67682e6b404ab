// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Point cache files, as used by 3D programs: positions of the same points in many frames (PC2
// little-endian, MDD big-endian). Written frame by frame; the file appears when it is closed.
#ifndef YAWARA_EXTEND_POINT_CACHE_H
#define YAWARA_EXTEND_POINT_CACHE_H

#include "file.h"

typedef enum yw_point_cache_format { YW_POINT_CACHE_PC2, YW_POINT_CACHE_MDD } yw_point_cache_format;

typedef struct yw_point_cache_def {
  int32_t num_points;       ///< >= 1
  double fps;               ///< frames per second, > 0
  double start_frame;       ///< number of the first frame
  int32_t expected_frames;  ///< 0: unknown. The right number avoids a copy when an MDD is closed
} yw_point_cache_def;

typedef struct yw_point_cache_writer {
  yw_allocator mem;
  yw_file_writer file;
  yw_point_cache_format format;
  yw_point_cache_def def;
  int32_t num_frames;
  unsigned char* frame;  ///< one frame in the byte order of the file
} yw_point_cache_writer;

/// The format follows from the extension: .pc2 or .mdd.
YW_API yw_status yw_point_cache_open(yw_point_cache_writer* cache, const char* path,
                                     const yw_point_cache_def* def, const yw_allocator* mem,
                                     yw_error* error);
/// Writes a frame of def.num_points positions. After an error the writer is aborted.
YW_API yw_status yw_point_cache_append(yw_point_cache_writer* cache, const yw_vec3* positions,
                                       yw_error* error);
/// Writes the number of frames and renames the file to its final name. At least one frame is
/// required.
YW_API yw_status yw_point_cache_close(yw_point_cache_writer* cache, yw_error* error);
/// Removes the temporary file. Safe on a zeroed or closed writer.
YW_API void yw_point_cache_abort(yw_point_cache_writer* cache);

/// Reads a point cache frame by frame. The length of the file is checked when it is opened.
typedef struct yw_point_cache_reader {
  yw_allocator mem;
  char* path;
  FILE* stream;
  yw_point_cache_format format;
  int32_t num_points, num_frames;
  double fps;  ///< 0 if the file does not say (PC2)
  double start_frame;
  uint64_t data_offset;  ///< of the first frame
  unsigned char* frame;
} yw_point_cache_reader;

YW_API yw_status yw_point_cache_reader_open(yw_point_cache_reader* cache, const char* path,
                                            const yw_allocator* mem, yw_error* error);
/// Reads frame `frame`, counted from 0; out has room for num_points positions.
YW_API yw_status yw_point_cache_read_frame(yw_point_cache_reader* cache, int32_t frame,
                                           yw_vec3* out, yw_error* error);
/// Safe on a zeroed reader.
YW_API void yw_point_cache_reader_close(yw_point_cache_reader* cache);

#endif
