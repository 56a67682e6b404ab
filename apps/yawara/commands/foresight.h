// SPDX-License-Identifier: MIT
// What a run will take, told before it starts.
#ifndef YW_APP_COMMANDS_FORESIGHT_H
#define YW_APP_COMMANDS_FORESIGHT_H

#include "yawara/yawara.h"

typedef struct run_cost {
  int64_t particles;
  double memory_bytes;  ///< of the program with everything made; 0: not known
  double frame_bytes;   ///< on disk, per frame
} run_cost;

run_cost run_cost_of(const yw_world* world);

/// Times a few frames of a world that is not needed afterwards, for half a second or a frame:
/// seconds per frame on average; 0 if a step failed. *frames: how many were timed.
double probe_frames(yw_world* world, const yw_scene_info* info, int32_t* frames);

#endif
