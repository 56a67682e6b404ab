// SPDX-License-Identifier: MIT
// One box under example-based shape matching. The library and the plain scalar reference step it
// from the same state, so that a caller can time them in turn.
#ifndef YW_STUDIES_BENCH_MATCH_BENCH_H
#define YW_STUDIES_BENCH_MATCH_BENCH_H

#include "yawara/base.h"
#include "yawara/extend/tasks.h"
#include "yawara/match.h"

/// Substep of all measurements, s.
#define MATCH_BENCH_H (1.0f / 240.0f)

typedef struct match_bench_def {
  int32_t cells[3];      ///< of a 5-tet lattice box, 0.1 m each
  int32_t num_examples;  ///< 0 to 4: twist, s_bend, bend, squash
  yw_grouping grouping;
  bool reference;  ///< create the reference too
  /// Examples pull only after the fall, and every group of steps starts there: for any number of
  /// examples, the box lies in the same way and touches the floor alike.
  bool same_state;
} match_bench_def;

typedef struct match_bench match_bench;

/// A tilted box shortly after it fell on a floor, with friction and damping. NULL if out of memory.
match_bench* match_bench_create(const match_bench_def* def);
void match_bench_destroy(match_bench* bench);  ///< NULL is allowed

const yw_tet_mesh* match_bench_mesh(const match_bench* bench);
/// The definition of the model.
const yw_match_def* match_bench_model_def(const match_bench* bench);
/// Positions at the start of the fall, in the order of the mesh; out has space for all vertices.
void match_bench_start(const match_bench* bench, yw_vec3* out);

/// us per step.
typedef struct match_bench_times {
  double total;
  double matching, projection, contact;  ///< parts of total; only if requested
} match_bench_times;

/// Runs a few steps of the library, always the same ones. With phases, the clock is also read
/// inside the step, which costs a little. tasks may be NULL.
match_bench_times match_bench_library(match_bench* bench, yw_simd simd, yw_tasks* tasks,
                                      bool phases);
/// us per step of the reference, from the same state.
double match_bench_reference(match_bench* bench);

/// Minimum work of one step, per body.
typedef struct match_bench_cost {
  double flops;         ///< multiplications and additions
  double row_bytes;     ///< rows of 12 numbers that are summed over rings, from the nearest cache
  double stream_bytes;  ///< all other reads and writes, once per phase
  double working_set;   ///< bytes that a step touches
  double mean_ring;     ///< regions per particle
} match_bench_cost;
match_bench_cost match_bench_cost_of(const match_bench* bench);

#endif
