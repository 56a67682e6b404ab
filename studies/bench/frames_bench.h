// SPDX-License-Identifier: MIT
// A bar of 5-tet cells, clamped at one end and swinging under its weight. The library and the plain
// scalar reference step it from the same state, so that a caller can time them in turn.
#ifndef YW_STUDIES_BENCH_FRAMES_BENCH_H
#define YW_STUDIES_BENCH_FRAMES_BENCH_H

#include "methods/frames/frames.h"

/// Time step of all measurements, s.
#define FRAMES_BENCH_H (1.0f / 60.0f)

typedef struct frames_bench_def {
  int32_t cells[3];  ///< 0.1 m each
  yw_frames_kind kind;
  yw_frames_solver solver;
  float youngs_modulus, poissons_ratio;
  bool reference;  ///< create the reference too
} frames_bench_def;

typedef struct frames_bench frames_bench;

/// NULL if out of memory.
frames_bench* frames_bench_create(const frames_bench_def* def);
void frames_bench_destroy(frames_bench* bench);  ///< NULL is allowed

int32_t frames_bench_particles(const frames_bench* bench);
/// s to create the model, and to create a body of it with its first factor.
double frames_bench_model_seconds(const frames_bench* bench);
double frames_bench_body_seconds(const frames_bench* bench);

typedef struct frames_bench_times {
  double total;                       ///< s per step
  double parts[YW_FRAMES_NUM_PARTS];  ///< of total; only if requested
  int32_t iterations;                 ///< of conjugate gradients, per step
} frames_bench_times;

/// Runs a few steps, always the same ones. With parts, the clock is also read inside the step.
frames_bench_times frames_bench_library(frames_bench* bench, yw_simd simd, yw_tasks* tasks,
                                        bool parts);
/// s per step of the reference from the same state.
double frames_bench_reference(frames_bench* bench);
/// Sweeps in one step of a position-based bar.
int32_t frames_bench_sweeps(const frames_bench* bench);

#endif
