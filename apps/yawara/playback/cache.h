// SPDX-License-Identifier: MIT
// A cache is a folder: run.json (what was run), frames/NNNNNN.ywf (one per frame, see frame.h),
// snapshot.yws (where to go on). Every file appears complete or not at all.
#ifndef YW_APP_PLAYBACK_CACHE_H
#define YW_APP_PLAYBACK_CACHE_H

#include "playback/frame.h"

/// run.json
typedef struct cache_index {
  char scene[1024];     ///< path of the scene file, absolute
  uint64_t scene_hash;  ///< of its text and the overrides
  float fps;
  int32_t substeps;
  int32_t frames;       ///< asked for
  int32_t frames_done;  ///< written; frame 0 is not counted
  double seconds;       ///< wall clock spent so far
  uint64_t state_hash;  ///< yw_world_hash after frames_done
  int32_t num_overrides;
  char overrides[64][256];  ///< "path=value"
  char fields[256];         ///< kept in the frames, as asked for; "" for none
} cache_index;

/// Makes the folder and its parents.
yw_status cache_make_folders(const char* path, yw_error* error);
/// Makes the folder (and its parents) and frames/ in it.
yw_status cache_make_folder(const char* dir, yw_error* error);
bool cache_exists(const char* dir);
yw_status cache_write_index(const char* dir, const cache_index* index, yw_error* error);
yw_status cache_read_index(const char* dir, cache_index* out, yw_error* error);
/// Reads the scene a cache was made of, with the overrides it was made with.
yw_status cache_read_scene(const char* dir, const cache_index* index, yw_scene** out,
                           yw_error* error);

yw_status cache_write_frame(const char* dir, const frame_data* frame, yw_error* error);
/// Freed with frame_free.
yw_status cache_read_frame(const char* dir, int32_t frame, frame_data* out, yw_error* error);
/// The file of a frame is there; whether it is sound only reading tells.
bool cache_has_frame(const char* dir, int32_t frame);
/// Removes the snapshot, which belongs to an earlier run.
void cache_remove_snapshot(const char* dir);
/// Removes frame files with numbers from `first` on (left over from a longer run).
void cache_remove_frames(const char* dir, int32_t first);

yw_status cache_write_snapshot(const char* dir, int32_t frame, const yw_world* world,
                               yw_error* error);
yw_status cache_read_snapshot(const char* dir, yw_world* world, int32_t* frame, yw_error* error);

typedef struct cache_snapshot_info {
  int32_t frame;
  double time;
  uint64_t steps;
  size_t bytes;
} cache_snapshot_info;
/// What a snapshot file says of itself.
yw_status cache_snapshot_info_of(const char* path, cache_snapshot_info* out, yw_error* error);

/// Hash of the scene's text and its overrides.
yw_status cache_hash_scene(const char* path, int32_t num_overrides, const char* const* overrides,
                           uint64_t* out, yw_error* error);

#endif
