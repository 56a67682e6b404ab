// SPDX-License-Identifier: MIT
// Pictures of one run that several tasks draw, each its share. For film.mp4 they are in a folder
// beside it:
//   film_pictures/0042.png       complete or absent, so that a task that was killed goes on
//   film_pictures/pictures.txt   what they show: tasks with other options are refused
//   film_pictures/joined         which movie was made of them
#ifndef YW_APP_COMMANDS_RENDER_SHARE_H
#define YW_APP_COMMANDS_RENDER_SHARE_H

#include <stdbool.h>

#include "console/batch.h"
#include "render/output/movie.h"

#define SHARED_PATH 1200

typedef struct shared_pictures {
  char folder[SHARED_PATH - 32];
  int32_t from, last, every;  ///< frames
} shared_pictures;

/// Names the folder after the output, without its ending.
void shared_pictures_name(shared_pictures* p, const char* output);
/// Makes the folder, or finds one whose pictures show the same. text: one line per option.
yw_status shared_pictures_open(const shared_pictures* p, const char* text, yw_error* error);
void shared_picture_path(const shared_pictures* p, int32_t frame, char out[SHARED_PATH]);
bool shared_picture_exists(const shared_pictures* p, int32_t frame);
int32_t shared_pictures_missing(const shared_pictures* p);
/// Makes the movie if all pictures are there and no other task has made it. joined tells whether
/// this one did.
yw_status shared_pictures_join(const shared_pictures* p, const yw_movie_def* def, bool* joined,
                               yw_error* error);

/// Starts one process per task, which ends with what `work` returns for its share. Returns the exit
/// code when all have ended.
int share_over_processes(int32_t tasks, int (*work)(void* context, task_share share),
                         void* context);
/// Prints the command lines of all tasks. argv: of this command, without its name.
void share_list(int32_t tasks, int argc, char** argv);
/// Prints a script for sbatch.
void share_slurm(int32_t tasks, const char* folder, int argc, char** argv);

#endif
