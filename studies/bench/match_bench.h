// SPDX-License-Identifier: MIT
// One box under example-based shape matching, stepped by the library and by the plain scalar
// reference from the same state, so that a caller can time them in turn.
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
  bool reference;  ///< make the reference too
  /// Examples pull only after the fall, and every group of steps begins there: whatever their
  /// number, the box lies in the same way and touches the floor alike.
  bool same_state;
} match_bench_def;

typedef struct match_bench match_bench;

/// A tilted box that fell on a floor a moment ago, with friction and damping. NULL when memory is
/// out.
match_bench* match_bench_create(const match_bench_def* def);
void match_bench_destroy(match_bench* bench);  ///< NULL is fine

const yw_tet_mesh* match_bench_mesh(const match_bench* bench);
/// What the model was made of.
const yw_match_def* match_bench_model_def(const match_bench* bench);
/// Where the box began to fall, in the order of the mesh; out has room for all vertices.
void match_bench_start(const match_bench* bench, yw_vec3* out);

/// us per step.
typedef struct match_bench_times {
  double total;
  double matching, projection, contact;  ///< parts of total; only when asked for
} match_bench_times;

/// A few steps of the library, always the same ones. With phases the clock is read inside the step
/// too, which costs a little. tasks may be NULL.
match_bench_times match_bench_library(match_bench* bench, yw_simd simd, yw_tasks* tasks,
                                      bool phases);
/// us per step of the reference, from the same state.
double match_bench_reference(match_bench* bench);

/// What one step has to do at least, per body.
typedef struct match_bench_cost {
  double flops;         ///< multiplications and additions
  double row_bytes;     ///< rows of 12 numbers that are added up over rings, from the nearest cache
  double stream_bytes;  ///< everything else that is read or written, once per phase
  double working_set;   ///< bytes that a step touches
  double mean_ring;     ///< regions a particle belongs to
} match_bench_cost;
match_bench_cost match_bench_cost_of(const match_bench* bench);

#endif
