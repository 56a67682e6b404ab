// SPDX-License-Identifier: MIT
// All frames of a run in one file (docs/runs.md): making a file takes longer than the steps of a
// small frame. The file only grows; a frame at its end that is cut short is not there yet.
#ifndef YW_APP_PLAYBACK_FRAME_PACK_H
#define YW_APP_PLAYBACK_FRAME_PACK_H

#include "playback/growing_file.h"
#include "yawara/extend/file.h"
#include "yawara/extend/stream.h"

/// Where the frames of a file end, as far as it was looked at. Zero-initialised: not at all.
typedef struct frame_pack_index {
  uint64_t* items;  ///< offset of the first byte after each frame
  int32_t count, capacity;
} frame_pack_index;

void frame_pack_index_free(frame_pack_index* index);
/// The number of frames that are there; they may be more than before, or fewer in a run that was
/// started again. 0 if the file cannot be read.
int32_t frame_pack_count(const char* path, frame_pack_index* index);
/// The bytes of a frame, as in a file of its own. Free them with yw_file_data_free.
yw_status frame_pack_read(const char* path, frame_pack_index* index, int32_t number,
                          yw_file_data* out, yw_error* error);

#define FRAME_PACK_WAYS 4

/// Zero-initialised: closed.
typedef struct frame_pack {
  growing_file file;
  /// Frames that wait for their seals: where they begin in what is held, and their bytes.
  size_t begin[FRAME_PACK_WAYS], size[FRAME_PACK_WAYS];
  int32_t unsealed;
} frame_pack;

/// Opens the file for writing and keeps so many frames; 0: a new file.
yw_status frame_pack_open(const char* path, int32_t keep, frame_pack* out, yw_error* error);
/// Puts a frame behind the others: begin returns a writer for `size` bytes of content, with the
/// magic written (data NULL: out of memory, which the next flush tells).
yw_writer frame_pack_begin(frame_pack* pack, const char* magic, size_t size);
void frame_pack_end(frame_pack* pack, const yw_writer* frame);
/// As growing_file_flush and growing_file_close.
yw_status frame_pack_flush(frame_pack* pack, yw_error* error);
void frame_pack_close(frame_pack* pack);

#endif
