// SPDX-License-Identifier: MIT
// log.csv of a run: a row per frame with the numbers that are worth watching. docs/runs.md lists
// the columns. Rows are on the disk as soon as their frame is, so that a run can be watched.
#ifndef YW_APP_PLAYBACK_RUN_LOG_H
#define YW_APP_PLAYBACK_RUN_LOG_H

#include <stdio.h>

#include "yawara/yawara.h"

/// Bodies beyond these have no columns of their own, but count in the sums.
#define RUN_LOG_MAX_BODIES 64

typedef struct run_log {
  FILE* file;
  char path[1100];
  int32_t num_bodies;  ///< with columns
  bool failed;         ///< to write; told once, when it is closed
} run_log;

/// Starts a log with its header. The world measures forces from now on.
yw_status run_log_start(const char* dir, yw_world* world, run_log* out, yw_error* error);
/// Goes on with the log of a run after `frame`: later rows go. A log that is missing or is not of
/// this world starts anew.
yw_status run_log_resume(const char* dir, int32_t frame, yw_world* world, run_log* out,
                         yw_error* error);
/// report NULL: before the first step.
void run_log_append(run_log* log, int32_t frame, const yw_world* world,
                    const yw_step_report* report);
/// Safe on a zeroed log. YW_ERR_IO when some row could not be written.
yw_status run_log_close(run_log* log, yw_error* error);

#endif
