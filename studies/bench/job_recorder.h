// SPDX-License-Identifier: MIT
// What a step would take on many cores at best, counted with one thread: what no job shares takes
// as long as it does, and a job as long as its blocks need in rounds, with what handing it over
// costs (src/base/tasks.c). Memory and caches that cores share are left out: a bound, not a guess.
#ifndef YW_STUDIES_BENCH_JOB_RECORDER_H
#define YW_STUDIES_BENCH_JOB_RECORDER_H

#include <stdint.h>

typedef struct job_record {
  double shared;   ///< s in jobs
  double at_best;  ///< s that these would take
  int64_t jobs;    ///< that are worth sharing
} job_record;

/// From here on the jobs of this thread's pools are done by this thread, and timed.
void job_recorder_begin(int32_t cores);
job_record job_recorder_end(void);

#endif
