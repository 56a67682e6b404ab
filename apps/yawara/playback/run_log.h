// SPDX-License-Identifier: MIT
// log.csv of a run: one row of statistics per frame. See docs/runs.md for the columns.
#ifndef YW_APP_PLAYBACK_RUN_LOG_H
#define YW_APP_PLAYBACK_RUN_LOG_H

#include "playback/growing_file.h"

/// Further bodies have no columns of their own, but count in the sums.
#define RUN_LOG_MAX_BODIES 64

typedef struct run_log {
  growing_file file;
  int32_t num_bodies;  ///< number of bodies with columns
} run_log;

/// Starts a log with its header. From now on the world measures forces.
yw_status run_log_start(const char* dir, yw_world* world, run_log* out, yw_error* error);
/// Continues the log of a run after `frame` and drops later rows. A log that is missing or belongs
/// to another world is started from scratch.
yw_status run_log_resume(const char* dir, int32_t frame, yw_world* world, run_log* out,
                         yw_error* error);
/// Adds a row, which the next flush writes. report NULL: before the first step.
void run_log_append(run_log* log, int32_t frame, const yw_world* world,
                    const yw_step_report* report);
yw_status run_log_flush(run_log* log, yw_error* error);
/// Safe on a zeroed log.
void run_log_close(run_log* log);

#endif
