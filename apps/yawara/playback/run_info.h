// SPDX-License-Identifier: MIT
// run.json: what was run, from which files, and how far it got. See docs/runs.md.
#ifndef YW_APP_PLAYBACK_RUN_INFO_H
#define YW_APP_PLAYBACK_RUN_INFO_H

#include "yawara/yawara.h"

#define RUN_MAX_OVERRIDES 64
#define RUN_MAX_PATH 1024

/// A file that the scene was read from.
typedef struct run_file {
  char
      path[RUN_MAX_PATH];  ///< relative to the folder of the scene, unless the scene says otherwise
  uint64_t bytes, hash;
} run_file;

#define RUN_MAX_FAULTS 64
/// A body that diverged.
typedef struct run_fault {
  int32_t frame;
  double time;       ///< s
  int32_t bodies;    ///< how many diverged in this frame
  int32_t substeps;  ///< with which the frame was made instead; 0: the body was frozen
  char body[64];     ///< name of the first of them, cut if longer
} run_fault;

typedef struct run_info {
  char made_by[32];          ///< version of the program
  char scene[RUN_MAX_PATH];  ///< absolute path of the scene file
  int32_t num_overrides;
  char overrides[RUN_MAX_OVERRIDES][256];  ///< "path=value"
  int32_t num_files;
  run_file* files;   ///< the scene file itself first
  char fields[256];  ///< stored in the frames, as requested; "" for none
  bool packed;       ///< frames are in frames.ywp, not in files of their own
  float fps;
  int32_t substeps;
  int32_t frames;       ///< requested
  int32_t frames_done;  ///< written, not counting frame 0
  uint64_t shown_hash;  ///< hash at the end of shown.ywr
  uint64_t state_hash;  ///< yw_world_hash after frames_done
  double seconds;       ///< wall-clock time spent so far
  int32_t num_faults;   ///< at most RUN_MAX_FAULTS are kept
  run_fault faults[RUN_MAX_FAULTS];
} run_info;

/// Lists the files of a scene.
yw_status run_info_take_files(const yw_scene* scene, run_info* out, yw_error* error);
yw_status run_info_write(const char* dir, const run_info* info, yw_error* error);
/// Free with run_info_free, also after an error.
yw_status run_info_read(const char* dir, run_info* out, yw_error* error);
void run_info_free(run_info* info);

/// Checks that `fresh` was made from the same scene, values and files as the run `old` in `dir`. If
/// not, the error names the difference.
yw_status run_info_compare(const char* dir, const run_info* old, const run_info* fresh,
                           yw_error* error);

#endif
