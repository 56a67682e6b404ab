// SPDX-License-Identifier: MIT
// yawara bench frames: milliseconds per implicit step of a swinging bar at 1/60 s, by part, time
// against size, position-based sweeps, and the time to set up a body.
#include <math.h>
#include <stdio.h>

#include "bench/bench.h"
#include "bench/frames_bench.h"
#include "console/options.h"
#include "yawara/frames.h"

#define REFERENCE "scalar reference"

typedef struct frames_case {
  const char* name;  // its number of particles
  int32_t cells[3];
  double bar;            // target: at most this many ms per step with all threads; 0: none
  bool reference;        // compared with the reference, and shown by part
  int32_t usual, quick;  // repetitions; quick 0: skipped
} frames_case;

static const frames_case cases[] = {
    {"400", {15, 4, 4}, 0.0, false, 20, 2},      {"2511", {30, 8, 8}, 5.0, true, 20, 2},
    {"10350", {45, 14, 14}, 0.0, false, 8, 1},   {"37030", {69, 22, 22}, 150.0, true, 5, 1},
    {"133525", {108, 34, 34}, 0.0, false, 2, 0}, {"216849", {128, 40, 40}, 0.0, false, 2, 0},
};
enum { NUM_CASES = sizeof cases / sizeof cases[0] };

static frames_bench* make(const frames_case* c, yw_frames_kind kind, yw_frames_solver solver) {
  frames_bench_def def = {.kind = kind, .solver = solver};
  for (int k = 0; k < 3; ++k) def.cells[k] = c->cells[k];
  def.youngs_modulus = 1e6f;
  def.poissons_ratio = 0.3f;
  def.reference = c->reference && solver == YW_FRAMES_IMPLICIT && kind == YW_FRAMES_RINGS;
  return frames_bench_create(&def);
}

// Implicit ----------------------------------------------------------------------------------------

// Fastest of all repetitions so far, s per step.
typedef struct frames_best {
  double one, many, plain, reference;
  frames_bench_times parts;
} frames_best;

static frames_best measure(const bench_run* run, const frames_case* c, frames_bench* bench,
                           yw_tasks* tasks) {
  frames_best best = {INFINITY, INFINITY, INFINITY, INFINITY, {.total = INFINITY}};
  int32_t repetitions = bench_repetitions(run, c->usual, c->quick);
  for (int32_t r = 0; r < repetitions; ++r) {
    best.one = fmin(best.one, frames_bench_library(bench, run->simd, NULL, false).total);
    if (tasks)
      best.many = fmin(best.many, frames_bench_library(bench, run->simd, tasks, false).total);
    if (!c->reference) continue;
    frames_bench_times parts = frames_bench_library(bench, run->simd, NULL, true);
    if (parts.total < best.parts.total) best.parts = parts;
    best.plain = fmin(best.plain, frames_bench_library(bench, YW_SIMD_PLAIN, NULL, false).total);
    if (r < 2) best.reference = fmin(best.reference, frames_bench_reference(bench));
  }
  return best;
}

static void print_steps(const bench_run* run, const frames_case* c, const char* kind,
                        const frames_best* best, double bar) {
  char name[64];
  snprintf(name, sizeof name, "%s %s, implicit step", kind, c->name);
  bool alone = !isfinite(best->many);
  bench_row row = {.name = name, .threads = 1, .value = 1e3 * best->one, .unit = "ms/step"};
  row.bar = alone && bar > 0.0 ? BAR_AT_MOST : BAR_NONE;
  row.bar_value = bar;
  if (isfinite(best->reference)) {
    row.against = REFERENCE;
    row.ratio = best->reference / best->one;
  }
  bench_print(run, &row);
  if (alone) return;
  row.threads = run->threads;
  row.value = 1e3 * best->many;
  row.against = "1 thread";
  row.ratio = best->one / best->many;
  row.bar = bar > 0.0 ? BAR_AT_MOST : BAR_NONE;
  bench_print(run, &row);
}

static void print_parts(const bench_run* run, const frames_case* c, const frames_best* best) {
  static const char* const names[] = {"set-up",         "linearising",      "products",
                                      "coarse lattice", "vectors of solve", "the rest"};
  char name[80];
  bench_row row = {.name = name, .threads = 1, .unit = "%"};
  for (int k = 0; k < YW_FRAMES_NUM_PARTS; ++k) {
    snprintf(name, sizeof name, "rings %s, share of %s", c->name, names[k]);
    row.value = 100.0 * best->parts.parts[k] / best->parts.total;
    bench_print(run, &row);
  }
  snprintf(name, sizeof name, "rings %s, iterations", c->name);
  row.value = best->parts.iterations;
  row.unit = "/step";
  bench_print(run, &row);
  snprintf(name, sizeof name, "rings %s, implicit step, plain", c->name);
  row = (bench_row){.name = name, .threads = 1, .value = 1e3 * best->plain, .unit = "ms/step"};
  row.against = REFERENCE;
  row.ratio = best->reference / best->plain;
  bench_print(run, &row);
  snprintf(name, sizeof name, "rings %s, %s", c->name, REFERENCE);
  row = (bench_row){.name = name, .threads = 1, .value = 1e3 * best->reference, .unit = "ms/step"};
  bench_print(run, &row);
}

static void print_set_up(const bench_run* run, const frames_case* c, const frames_bench* bench) {
  char name[64];
  bench_row row = {.name = name, .threads = 1, .unit = "ms"};
  snprintf(name, sizeof name, "rings %s, making the model", c->name);
  row.value = 1e3 * frames_bench_model_seconds(bench);
  bench_print(run, &row);
  snprintf(name, sizeof name, "rings %s, making a body, factor", c->name);
  row.value = 1e3 * frames_bench_body_seconds(bench);
  row.bar = BAR_AT_MOST;
  row.bar_value = 1000.0;
  bench_print(run, &row);
}

static bool measure_implicit(const bench_run* run, const frames_case* c, yw_tasks* tasks) {
  frames_bench* bench = make(c, YW_FRAMES_RINGS, YW_FRAMES_IMPLICIT);
  if (!bench) return false;
  frames_best best = measure(run, c, bench, tasks);
  print_steps(run, c, "rings", &best, c->bar);
  if (c->reference) print_parts(run, c, &best);
  char name[64];
  snprintf(name, sizeof name, "rings %s, per particle", c->name);
  bench_row row = {.name = name, .threads = 1, .unit = "us/step"};
  row.value = 1e6 * best.one / frames_bench_particles(bench);
  bench_print(run, &row);
  if (c->reference) print_set_up(run, c, bench);
  frames_bench_destroy(bench);
  if (!c->reference) return true;
  bench = make(c, YW_FRAMES_CELLS, YW_FRAMES_IMPLICIT);
  if (!bench) return false;
  frames_case cells = *c;
  cells.reference = false;
  best = measure(run, &cells, bench, tasks);
  print_steps(run, c, "cells", &best, c->bar);
  frames_bench_destroy(bench);
  return true;
}

// Position-based ----------------------------------------------------------------------------------

static bool measure_sweeps(const bench_run* run, const frames_case* c, yw_frames_kind kind,
                           yw_tasks* tasks) {
  frames_bench* bench = make(c, kind, YW_FRAMES_EXTENDED);
  if (!bench) return false;
  double one = INFINITY, many = INFINITY;
  int32_t repetitions = bench_repetitions(run, c->usual, c->quick);
  for (int32_t r = 0; r < repetitions; ++r) {
    one = fmin(one, frames_bench_library(bench, run->simd, NULL, false).total);
    if (tasks) many = fmin(many, frames_bench_library(bench, run->simd, tasks, false).total);
  }
  double work = 1e-6 * frames_bench_particles(bench) * frames_bench_sweeps(bench);
  char name[64];
  snprintf(name, sizeof name, "%s %s, extended sweeps", kind == YW_FRAMES_RINGS ? "rings" : "cells",
           c->name);
  bench_row row = {.name = name, .threads = 1, .value = work / one, .unit = "Mpart/s"};
  row.bar = BAR_AT_LEAST;
  row.bar_value = 10.0;
  bench_print(run, &row);
  if (isfinite(many)) {
    row.threads = run->threads;
    row.value = work / many;
    row.against = "1 thread";
    row.ratio = one / many;
    row.bar = BAR_NONE;
    bench_print(run, &row);
  }
  frames_bench_destroy(bench);
  return true;
}

int bench_frames(const bench_run* run) {
  yw_tasks* tasks = run->threads > 1 ? yw_tasks_create(NULL, run->threads) : NULL;
  bool made = tasks || run->threads == 1;
  for (int i = 0; made && i < NUM_CASES; ++i) {
    if (run->quick && cases[i].quick == 0) continue;
    made = measure_implicit(run, &cases[i], tasks);
  }
  for (int i = 0; made && i < NUM_CASES; ++i) {
    if (!cases[i].reference) continue;
    made = measure_sweeps(run, &cases[i], YW_FRAMES_RINGS, tasks) &&
           measure_sweeps(run, &cases[i], YW_FRAMES_CELLS, tasks);
  }
  yw_tasks_destroy(tasks);
  if (made) return EXIT_DONE;
  fprintf(stderr, "yawara: out of memory\n");
  return EXIT_FAILED;
}
