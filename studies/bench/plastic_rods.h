// SPDX-License-Identifier: MIT
// A bunny of about 17,000 masters falls on rods, stopped while they cut it.
#ifndef YW_STUDIES_BENCH_PLASTIC_RODS_H
#define YW_STUDIES_BENCH_PLASTIC_RODS_H

#include "methods/plastic/body.h"
#include "yawara/extend/tasks.h"

typedef struct plastic_rods plastic_rods;

/// Per step.
typedef struct plastic_rods_times {
  double ms, iterations;
  double phases_ms[PLASTIC_NUM_TIMES];
  int32_t masters;
} plastic_rods_times;

/// Runs up to the moment that is measured; NULL if out of memory.
plastic_rods* plastic_rods_create(yw_tasks* tasks);
void plastic_rods_destroy(plastic_rods* r);
/// Runs the same few steps every time.
plastic_rods_times plastic_rods_measure(plastic_rods* r, yw_simd simd, yw_tasks* tasks);

#endif
