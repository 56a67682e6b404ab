// SPDX-License-Identifier: MIT
// Microseconds per step of example-based shape matching, beside the plain scalar reference.
#ifndef YW_BENCH_MATCH_BENCH_H
#define YW_BENCH_MATCH_BENCH_H

#include "yawara/base.h"
#include "yawara/model.h"

typedef struct match_bench_def {
  int32_t cells[3];      ///< of a 5-tet lattice box
  int32_t num_examples;  ///< 0 to 4: twist, s_bend, bend, squash
  yw_grouping grouping;
  yw_simd simd;
  int32_t threads;
  int32_t repeats;  ///< rounds, library and reference in turn; the fastest counts
  bool reference;   ///< measure the reference too
} match_bench_def;

typedef struct match_bench_result {
  int32_t num_particles;
  double step, project, contact;  ///< us per step of the library
  double reference;               ///< us per step of the reference, or 0
} match_bench_result;

/// A box dropped on a floor, damping and floor included. False when memory is out.
bool match_bench(const match_bench_def* def, match_bench_result* out);

#endif
