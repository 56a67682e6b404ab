// SPDX-License-Identifier: MIT
// yawara bench plastic: microseconds per master and step of twisting cubes, beside the plain double
// reference, for sizes up to a million masters and for cubes that lie far apart.
#include <math.h>
#include <stdio.h>

#include "bench.h"
#include "options.h"
#include "plastic_bench.h"

// Iterations of a stiff scene and of a soft one.
enum { STIFF = 20, SOFT = 3 };

typedef struct plastic_best {
  plastic_bench_times one, many;
  double plain, reference;
  int32_t masters;
  double bytes;
} plastic_best;

static void keep(plastic_bench_times* best, plastic_bench_times t) {
  best->total = fmin(best->total, t.total);
  best->neighbours = fmin(best->neighbours, t.neighbours);
  best->weights = fmin(best->weights, t.weights);
  best->solve = fmin(best->solve, t.solve);
  best->rest = fmin(best->rest, t.rest);
}

// Everything that is compared takes its turn in each repetition.
static bool measure(const bench_run* run, const plastic_bench_def* def, yw_tasks* tasks,
                    int32_t repetitions, int32_t steps, plastic_best* best) {
  plastic_bench* b = plastic_bench_create(def);
  if (!b) return false;
  const plastic_bench_times worst = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
  *best = (plastic_best){.one = worst,
                         .many = worst,
                         .plain = INFINITY,
                         .reference = INFINITY,
                         .masters = plastic_bench_masters(b),
                         .bytes = plastic_bench_bytes(b)};
  for (int32_t r = 0; r < repetitions; ++r) {
    keep(&best->one, plastic_bench_library(b, run->simd, NULL, steps));
    if (tasks) keep(&best->many, plastic_bench_library(b, run->simd, tasks, steps));
    if (!def->reference) continue;
    best->plain = fmin(best->plain, plastic_bench_library(b, YW_SIMD_PLAIN, NULL, steps).total);
    best->reference = fmin(best->reference, plastic_bench_reference(b, 1));
  }
  plastic_bench_destroy(b);
  return true;
}

static void print(const bench_run* run, const char* name, int32_t threads, double us,
                  int32_t masters, const char* against, double ratio, bench_bar bar,
                  double bar_value) {
  bench_row row = {.name = name,
                   .threads = threads,
                   .value = us / masters,
                   .unit = "us/m",
                   .against = against,
                   .ratio = ratio,
                   .bar = bar,
                   .bar_value = bar_value};
  bench_print(run, &row);
}

static void print_cube(const bench_run* run, const plastic_best* best, int32_t iterations) {
  char name[64];
  bool stiff = iterations == STIFF;
  snprintf(name, sizeof name, "cube 4096, %d iterations", iterations);
  print(run, name, 1, best->one.total, best->masters, NULL, 0, BAR_AT_MOST, stiff ? 3.0 : 1.2);
  print(run, name, 1, best->one.total, best->masters, "scalar reference",
        best->reference / best->one.total, stiff ? BAR_RATIO_AT_LEAST : BAR_NONE, 3.0);
  if (isfinite(best->many.total)) {
    print(run, name, run->threads, best->many.total, best->masters, "scalar reference",
          best->reference / best->many.total,
          stiff && run->threads == 2 ? BAR_RATIO_AT_LEAST : BAR_NONE, 5.0);
  }
  const char* const phases[] = {"neighbours", "weights", "solve", "rest"};
  const double values[] = {best->one.neighbours, best->one.weights, best->one.solve,
                           best->one.rest};
  for (int k = 0; k < 4; ++k) {
    snprintf(name, sizeof name, "cube 4096, %d iterations, %s", iterations, phases[k]);
    print(run, name, 1, values[k], best->masters, NULL, 0, BAR_NONE, 0);
  }
  snprintf(name, sizeof name, "cube 4096, %d it., neighbours + weights", iterations);
  double share = (best->one.neighbours + best->one.weights) / best->one.total;
  bench_row row = {.name = name,
                   .threads = 1,
                   .value = 100.0 * share,
                   .unit = "%",
                   .bar = stiff ? BAR_AT_MOST : BAR_NONE,
                   .bar_value = 20.0};
  bench_print(run, &row);
  snprintf(name, sizeof name, "cube 4096, %d iterations, plain", iterations);
  print(run, name, 1, best->plain, best->masters, "scalar reference", best->reference / best->plain,
        BAR_NONE, 0);
  snprintf(name, sizeof name, "cube 4096, %d it., scalar reference", iterations);
  print(run, name, 1, best->reference, best->masters, NULL, 0, BAR_NONE, 0);
}

static bool measure_cube(const bench_run* run, yw_tasks* tasks, int32_t iterations, double* us) {
  plastic_bench_def def = {.side = 16, .cubes = 1, .iterations = iterations, .reference = true};
  plastic_best best;
  if (!measure(run, &def, tasks, bench_repetitions(run, 10, 1), run->quick ? 3 : 10, &best)) {
    return false;
  }
  print_cube(run, &best, iterations);
  *us = best.one.total / best.masters;
  return true;
}

static bool measure_size(const bench_run* run, yw_tasks* tasks, const char* name,
                         plastic_bench_def def, double small) {
  plastic_best best;
  char text[64];
  int32_t steps = def.side > 50 ? 2 : 5;
  if (!measure(run, &def, tasks, bench_repetitions(run, 3, 1), steps, &best)) return false;
  print(run, name, 1, best.one.total, best.masters, "cube 4096",
        small * best.masters / best.one.total, BAR_RATIO_AT_LEAST, 1.0 / 1.2);
  if (isfinite(best.many.total)) {
    print(run, name, run->threads, best.many.total, best.masters, "1 thread",
          best.one.total / best.many.total, BAR_NONE, 0);
  }
  snprintf(text, sizeof text, "%s, memory", name);
  bench_row row = {
      .name = text, .threads = 1, .value = best.bytes / best.masters, .unit = "byte/m"};
  row.bar = BAR_AT_MOST;
  row.bar_value = 8000.0;
  bench_print(run, &row);
  return true;
}

int bench_plastic(const bench_run* run) {
  yw_tasks* tasks = run->threads > 1 ? yw_tasks_create(NULL, run->threads) : NULL;
  double stiff = 0, soft = 0;
  bool made = tasks || run->threads == 1;
  made = made && measure_cube(run, tasks, STIFF, &stiff) && measure_cube(run, tasks, SOFT, &soft);
  made =
      made && measure_size(run, tasks, "cube 32768",
                           (plastic_bench_def){.side = 32, .cubes = 1, .iterations = STIFF}, stiff);
  made = made && measure_size(run, tasks, "64 cubes of 512, 1 m apart",
                              (plastic_bench_def){8, 64, 1.0f, STIFF, false}, stiff);
  made = made && measure_size(run, tasks, "64 cubes of 512, 1000 m apart",
                              (plastic_bench_def){8, 64, 1000.0f, STIFF, false}, stiff);
  if (!run->quick) {
    made = made && measure_size(run, tasks, "cube 262144",
                                (plastic_bench_def){64, 1, 0, STIFF, false}, stiff);
    made = made && measure_size(run, tasks, "cube 1000000",
                                (plastic_bench_def){100, 1, 0, STIFF, false}, stiff);
  }
  yw_tasks_destroy(tasks);
  if (made) return EXIT_DONE;
  fprintf(stderr, "yawara: out of memory\n");
  return EXIT_FAILED;
}
