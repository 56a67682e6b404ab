// SPDX-License-Identifier: MIT
// Options of yawara run.
#ifndef YW_APP_COMMANDS_RUN_OPTIONS_H
#define YW_APP_COMMANDS_RUN_OPTIONS_H

#include "console/options.h"
#include "console/scene_options.h"

/// What to do when a body diverges.
typedef enum fault_plan { FAULT_STOP, FAULT_CONTINUE, FAULT_RETRY } fault_plan;

typedef struct run_options {
  const char* scene_path;
  const char* output;
  const char* formats;
  fault_plan on_fault;
  const char* fields;
  scene_options scene;
  int32_t frames;          ///< -1: as many as the scene says
  int32_t snapshot_every;  ///< frames; 0: about every SNAPSHOT_SECONDS
  const char *max_memory, *max_disk;
  int64_t max_memory_bytes, max_disk_bytes;  ///< INT64_MAX: no limit
  bool resume, skin, pack, quiet, strict;
} run_options;

/// Returns -1 to continue, or the exit code.
int run_options_parse(int argc, char** argv, run_options* out);

#endif
