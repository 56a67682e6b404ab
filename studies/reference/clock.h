// SPDX-License-Identifier: MIT
// One thread is timed by its own clock: other work on the machine then counts only as far as it
// takes caches and bandwidth. Several threads are timed by the clock on the wall.
#ifndef YW_STUDIES_REFERENCE_CLOCK_H
#define YW_STUDIES_REFERENCE_CLOCK_H

#include <stdbool.h>
#include <time.h>

#include "yawara/extend/timer.h"

static inline double bench_seconds(bool one_thread) {
  if (!one_thread) return yw_seconds();
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
