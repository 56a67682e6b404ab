// SPDX-License-Identifier: MIT
// Shared by the benchmarks: their options, and the rows, which are printed as soon as they are
// measured. Candidates are measured in turn within every repetition and the fastest of each counts,
// so that ratios are reliable even on a shared machine.
#ifndef YW_STUDIES_BENCH_BENCH_H
#define YW_STUDIES_BENCH_BENCH_H

#include "yawara/extend/tasks.h"
#include "yawara/yawara.h"

typedef struct bench_run {
  const char* bench;  ///< name of the running benchmark
  bool json, quick;
  int32_t threads;      ///< in rows with many threads; resolved
  yw_simd simd;         ///< resolved
  int32_t repetitions;  ///< 0: chosen by the benchmark
} bench_run;

/// Target for a value; only the table says whether it is met.
typedef enum bench_bar { BAR_NONE, BAR_RATIO_AT_LEAST, BAR_AT_LEAST, BAR_AT_MOST } bench_bar;

typedef struct bench_row {
  const char* name;
  int32_t threads;
  double value;
  const char* unit;
  const char* against;  ///< NULL: nothing to compare with
  double ratio;         ///< how many times faster than `against`
  bench_bar bar;
  double bar_value;
} bench_row;

void bench_print(const bench_run* run, const bench_row* row);
/// A line for humans; not in JSON.
void bench_note(const bench_run* run, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
/// The requested number of repetitions, or one of the two defaults.
int32_t bench_repetitions(const bench_run* run, int32_t usual, int32_t quick);

// Each returns an exit code.
int bench_match(const bench_run* run);
int bench_fem(const bench_run* run);
int bench_plastic(const bench_run* run);
int bench_frames(const bench_run* run);
int bench_rods(const bench_run* run);
int bench_polar(const bench_run* run);
int bench_mesh(const bench_run* run);
int bench_contact(const bench_run* run);
/// Parts of bench_contact.
int bench_spheres(const bench_run* run);
int bench_cloth(const bench_run* run);
int bench_carpet(const bench_run* run);
/// Bodies of one mesh in a bin with its floor at y = 0.
typedef struct bench_bin {
  yw_world* world;  ///< at rest, with bodies of `mesh` only
  const yw_tet_mesh* mesh;
  const yw_vec3* places;  ///< at the start
  float half_x, half_z;   ///< m
  int32_t substeps;       ///< until it was at rest
  float h;
  double ms;  ///< per substep, with one thread
} bench_bin;
/// The same bin of Bullet's soft bodies: time, and bodies that cross. Leaves the world changed.
void bench_bullet(const bench_run* run, const bench_bin* bin);
int bench_render(const bench_run* run);
int bench_io(const bench_run* run);
int bench_rollouts(const bench_run* run);
int bench_cuda(const bench_run* run);
bool bench_cuda_fem(const bench_run* run);
bool bench_cuda_plastic(const bench_run* run, double copy_rate);
int bench_ranks(const bench_run* run);
int bench_threads(const bench_run* run);
int bench_serial(const bench_run* run);

#endif
