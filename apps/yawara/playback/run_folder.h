// SPDX-License-Identifier: MIT
// A run on disk: run.json (what was run), scene.json (a copy of the scene), shown.ywr (everything
// shown that does not change from frame to frame), frames/NNNNNN.ywf or frames.ywp, snapshot.yws
// and snapshot-before.yws (where to resume). Files are written atomically. See docs/runs.md for the
// format.
#ifndef YW_APP_PLAYBACK_RUN_FOLDER_H
#define YW_APP_PLAYBACK_RUN_FOLDER_H

#include "playback/frame.h"
#include "playback/frame_pack.h"
#include "playback/run_info.h"

/// Cells of a body, read from the frame that stores them.
typedef struct run_cells {
  int32_t frame;  ///< meaningless while corners is NULL
  int32_t num_particles, num_cells;
  int32_t* corners;
} run_cells;

/// A run opened for reading. Zero-initialised: closed.
typedef struct run_folder {
  char dir[RUN_MAX_PATH];
  run_info info;
  shown_scene* shown;
  frame_pack_index pack;
  run_cells* cells;  ///< of each body, from the last frame that needed them
} run_folder;

/// Reads run.json and shown.ywr.
yw_status run_folder_open(const char* dir, run_folder* out, yw_error* error);
void run_folder_close(run_folder* run);
/// Reads a frame and checks that it fits what is shown. Free it with frame_free. Its cells are
/// valid until the next frame is read.
yw_status run_folder_read_frame(run_folder* run, int32_t number, frame_data* out, yw_error* error);
/// Checks that all frames of run.json exist. Only reading tells whether they are intact.
yw_status run_folder_check_frames(run_folder* run, yw_error* error);
/// The number of the last frame that is there, with all before it; -1: none. While a run is going,
/// it may be ahead of run.json. known: what it was before, or -1.
int32_t run_folder_last_frame(run_folder* run, int32_t known);

// Writing a run -----------------------------------------------------------------------------------

bool run_folder_exists(const char* dir);
/// Creates the folder and its parents. packed: without one for frames.
yw_status run_folder_make(const char* dir, bool packed, yw_error* error);
/// Removes what an earlier run left in the folder.
void run_folder_clear(const char* dir);
/// Writes the copy of the scene and shown.ywr; sets info->shown_hash. text: of a scene that has no
/// file; otherwise NULL.
yw_status run_folder_write_shown(const char* dir, const yw_scene* scene, const char* text,
                                 const shown_scene* shown, run_info* info, yw_error* error);
/// The hash that run_folder_write_shown would set.
yw_status run_folder_shown_hash(const shown_scene* shown, uint64_t* out, yw_error* error);
/// pack NULL: to a file of its own. Otherwise, for a run whose info says that it is packed, the
/// frame is put there and not written yet.
yw_status run_folder_write_frame(const char* dir, const run_info* info, frame_pack* pack,
                                 const frame_data* frame, yw_error* error);
/// Opens the file of a packed run and keeps so many frames; 0: a new file.
yw_status run_folder_open_pack(const char* dir, int32_t keep, frame_pack* out, yw_error* error);
/// The same, of a frame whose shared bodies were left to the ranks: all of them write it.
yw_status run_folder_write_shared_frame(const char* dir, const run_info* info,
                                        const frame_data* frame, const yw_world* world,
                                        yw_error* error);
/// Removes frames from `first` on, and what writers that were killed left behind.
void run_folder_remove_later(const char* dir, int32_t first);
/// Bytes on disk of a frame, and of all frames; 0 if there is none.
int64_t run_folder_frame_bytes(const char* dir, int32_t frame);
int64_t run_folder_frames_bytes(const char* dir);

// Snapshots ---------------------------------------------------------------------------------------

/// Everything written so far is on the disk before the snapshot counts on it. The snapshot before
/// this one is kept. shared: with other ranks.
yw_status run_folder_write_snapshot(const char* dir, int32_t frame, const yw_world* world,
                                    bool shared, yw_error* error);
/// Loads the newest intact snapshot. *found false: the run has none yet. damage returns why the
/// newest one was passed over; otherwise its message is empty.
yw_status run_folder_read_snapshot(const char* dir, yw_world* world, int32_t* frame, bool* found,
                                   yw_error* damage, yw_error* error);

typedef struct snapshot_info {
  int32_t frame;
  double time;  ///< s
  uint64_t steps;
  size_t bytes;
} snapshot_info;
/// Reads the header of a snapshot file.
yw_status snapshot_info_read(const char* path, snapshot_info* out, yw_error* error);

#endif
