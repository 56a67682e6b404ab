// SPDX-License-Identifier: MIT
// Movies through the ffmpeg program.
#ifndef YW_APP_RENDER_OUTPUT_MOVIE_H
#define YW_APP_RENDER_OUTPUT_MOVIE_H

#include "render/output/image.h"

typedef struct yw_movie yw_movie;

typedef struct yw_movie_def {
  const char* path;  ///< with suffix .mp4 (H.264), .gif, .webp, .png or .apng (animated)
  int32_t width, height;
  float fps;        ///< frames per second, > 0; default 30
  int32_t quality;  ///< 1 (small) to 10 (best); default 8
} yw_movie_def;
yw_movie_def yw_default_movie_def(void);

/// Checks that ffmpeg can be started; if not, error says what to install.
yw_status yw_movie_available(yw_error* error);
/// Starts ffmpeg, which writes under a temporary name.
yw_status yw_movie_open(const yw_movie_def* def, const yw_allocator* mem, yw_movie** out,
                        yw_error* error);
/// Adds a frame of the size given in the def. After an error, only yw_movie_discard may be called.
yw_status yw_movie_add(yw_movie* movie, const yw_image* frame, yw_error* error);
/// Waits for ffmpeg and renames the file. Frees movie even on error, and then leaves no file.
yw_status yw_movie_close(yw_movie* movie, yw_error* error);
/// Stops and leaves no file. NULL is allowed.
void yw_movie_discard(yw_movie* movie);

#endif
