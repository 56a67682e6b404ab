// SPDX-License-Identifier: MIT
// Clock for timings. A single thread is timed by its own CPU clock, so other work on the machine
// matters only through shared caches and bandwidth. Several threads are timed by wall clock.
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
