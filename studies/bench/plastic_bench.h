// SPDX-License-Identifier: MIT
// Blocks of master and slave particles for timing, and the plain reference in the same state.
#ifndef YW_STUDIES_BENCH_PLASTIC_BENCH_H
#define YW_STUDIES_BENCH_PLASTIC_BENCH_H

#include "yawara/base.h"
#include "yawara/extend/tasks.h"

typedef struct plastic_bench plastic_bench;

typedef struct plastic_bench_def {
  int32_t side;        ///< masters along an edge of a cube
  int32_t cubes;       ///< number of cubes
  float apart;         ///< m, from cube to cube along a diagonal
  int32_t iterations;  ///< per solve
  bool reference;      ///< create the plain reference too
} plastic_bench_def;

/// us per step: total, and by phase.
typedef struct plastic_bench_times {
  double total, neighbours, weights, solve, rest;
} plastic_bench_times;

/// Twisting cubes with spacing 1/16 m; NULL if out of memory.
plastic_bench* plastic_bench_create(const plastic_bench_def* def);
void plastic_bench_destroy(plastic_bench* b);
int32_t plastic_bench_masters(const plastic_bench* b);
/// Memory of the body and its model, bytes.
double plastic_bench_bytes(const plastic_bench* b);
/// Bytes that an iteration of the solve reads and writes, each counted once per pass.
double plastic_bench_iteration_bytes(const plastic_bench* b);
plastic_bench_times plastic_bench_library(plastic_bench* b, yw_simd simd, yw_tasks* tasks,
                                          int32_t steps);
/// us per step of the reference.
double plastic_bench_reference(plastic_bench* b, int32_t steps);

#endif
