// SPDX-License-Identifier: MIT
// yawara bench plastic: microseconds per master and step of twisting cubes, compared with the plain
// double reference, for up to a million masters and for cubes that are far apart; and a bunny on
// rods.
#include <math.h>
#include <stdio.h>

#include "bench/bench.h"
#include "bench/machine.h"
#include "bench/plastic_bench.h"
#include "bench/plastic_rods.h"
#include "console/options.h"

// Iterations in a stiff scene and in a soft one.
enum { STIFF = 20, SOFT = 3 };

typedef struct plastic_best {
  plastic_bench_times one, many;
  double plain, reference;
  int32_t masters;
  double bytes, iteration_bytes;
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
                         .bytes = plastic_bench_bytes(b),
                         .iteration_bytes = plastic_bench_iteration_bytes(b)};
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

// A body whose cost is compared with that of another, us per master.
typedef struct size_case {
  const char* name;
  plastic_bench_def def;
  const char* against;
  double us;
} size_case;

static void print_bytes(const bench_run* run, const char* name, const char* what, double bytes,
                        double most) {
  char text[64];
  snprintf(text, sizeof text, "%s, %s", name, what);
  bench_row row = {.name = text, .threads = 1, .value = bytes, .unit = "byte/m"};
  row.bar = most > 0.0 ? BAR_AT_MOST : BAR_NONE;
  row.bar_value = most;
  bench_print(run, &row);
}

// Returns us per master; 0: out of memory.
static double measure_size(const bench_run* run, yw_tasks* tasks, const machine* limits,
                           const size_case* c) {
  plastic_best best;
  char text[64];
  int32_t steps = c->def.side > 50 ? 2 : 5;
  if (!measure(run, &c->def, tasks, bench_repetitions(run, 3, 1), steps, &best)) return 0.0;
  double us = best.one.total / best.masters;
  // Small cubes have more slaves per master: their cost is compared only among each other.
  bool is_alike = c->def.cubes == 1 || c->def.apart > 1.0f;
  print(run, c->name, 1, best.one.total, best.masters, c->against, c->us / us,
        is_alike ? BAR_RATIO_AT_LEAST : BAR_NONE, 1.0 / 1.2);
  if (isfinite(best.many.total)) {
    print(run, c->name, run->threads, best.many.total, best.masters, "1 thread",
          best.one.total / best.many.total, BAR_NONE, 0);
  }
  print_bytes(run, c->name, "memory", best.bytes / best.masters, 8000.0);
  print_bytes(run, c->name, "an iteration", best.iteration_bytes / best.masters, 0.0);
  // There is one more product than iterations.
  double floor_us = 1e6 * (STIFF + 1) * best.iteration_bytes / limits->triad[MACHINE_MEMORY];
  snprintf(text, sizeof text, "%s, moving that", c->name);
  print(run, text, 1, floor_us, best.masters, "the step", best.one.total / floor_us, BAR_NONE, 0);
  return us;
}

static bool measure_sizes(const bench_run* run, yw_tasks* tasks, double cube_us) {
  machine_bench* bench = machine_bench_create();
  machine limits = {0};
  if (!bench) return false;
  for (int i = 0; i < 3; ++i) machine_bench_round(bench, run->simd, &limits);
  machine_bench_destroy(bench);
  bench_row row = {.name = "machine, triad memory", .threads = 1, .unit = "GB/s"};
  row.value = 1e-9 * limits.triad[MACHINE_MEMORY];
  bench_print(run, &row);
  size_case near = {
      "64 cubes of 512, 1 m apart", {8, 64, 1.0f, STIFF, false}, "cube 4096", cube_us};
  size_case far = {"64 cubes of 512, 1000 m apart", {8, 64, 1000.0f, STIFF, false}, "1 m apart", 0};
  far.us = measure_size(run, tasks, &limits, &near);
  bool made = far.us > 0.0 && measure_size(run, tasks, &limits, &far) > 0.0;
  const size_case cubes[] = {
      {"cube 32768", {32, 1, 0, STIFF, false}, "cube 4096", cube_us},
      {"cube 262144", {64, 1, 0, STIFF, false}, "cube 4096", cube_us},
      {"cube 1000000", {100, 1, 0, STIFF, false}, "cube 4096", cube_us},
  };
  for (int i = 0; made && i < (run->quick ? 1 : 3); ++i) {
    made = measure_size(run, tasks, &limits, &cubes[i]) > 0.0;
  }
  return made;
}

// Steps of the bunny of figure 13, iterated to convergence.
static bool measure_rods(const bench_run* run, yw_tasks* tasks) {
  plastic_rods* r = plastic_rods_create(tasks);
  if (!r) return false;
  plastic_rods_times one = {.ms = INFINITY}, many = one;
  for (int32_t i = 0; i < bench_repetitions(run, 5, 1); ++i) {
    plastic_rods_times t = plastic_rods_measure(r, run->simd, NULL);
    if (t.ms < one.ms) one = t;
    if (tasks) t = plastic_rods_measure(r, run->simd, tasks);
    if (tasks && t.ms < many.ms) many = t;
  }
  plastic_rods_destroy(r);
  char name[64];
  snprintf(name, sizeof name, "bunny on rods, %d masters, %.0f it.", one.masters, one.iterations);
  bench_row row = {.name = name, .threads = 1, .value = one.ms, .unit = "ms/step"};
  bench_print(run, &row);
  if (!tasks) return true;
  row.threads = run->threads;
  row.value = many.ms;
  row.against = "1 thread";
  row.ratio = one.ms / many.ms;
  row.bar = run->threads == 2 ? BAR_AT_MOST : BAR_NONE;
  row.bar_value = 20.0;
  bench_print(run, &row);
  return true;
}

int bench_plastic(const bench_run* run) {
  yw_tasks* tasks = run->threads > 1 ? yw_tasks_create(NULL, run->threads) : NULL;
  double stiff = 0, soft = 0;
  bool made = tasks || run->threads == 1;
  made = made && measure_cube(run, tasks, STIFF, &stiff) && measure_cube(run, tasks, SOFT, &soft);
  made = made && measure_rods(run, tasks) && measure_sizes(run, tasks, stiff);
  yw_tasks_destroy(tasks);
  if (made) return EXIT_DONE;
  fprintf(stderr, "yawara: out of memory\n");
  return EXIT_FAILED;
}
