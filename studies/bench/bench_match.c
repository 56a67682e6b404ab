// SPDX-License-Identifier: MIT
// yawara bench match: microseconds per step of a box that fell on a floor, compared with the plain
// scalar reference, Bullet's clusters, and the limits of the machine.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/machine.h"
#include "bench/match_bench.h"
#include "console/options.h"
#include "reference/clock.h"
#ifdef YW_HAVE_BULLET
#include "bench/peers/bullet/bullet_peer.h"
#endif

#define REFERENCE "scalar reference"
enum { MAX_EXAMPLES = 4, NUM_SIMD = YW_SIMD_AVX512 + 1 };

// Targets: at least this many times faster than the reference; 0: none.
typedef struct match_case {
  const char* name;  // its number of particles
  int32_t cells[3];
  double bar, plain_bar, bullet_bar;
  int32_t usual, quick;  // repetitions
} match_case;

static const match_case cases[] = {
    {"225", {4, 8, 4}, 10.0, 4.0, 10.0, 100, 8},
    {"2025", {8, 24, 8}, 6.0, 4.0, 10.0, 80, 8},
    {"20000", {19, 49, 19}, 5.0, 4.0, 10.0, 40, 2},
    {"200000", {49, 79, 49}, 0.0, 0.0, 0.0, 16, 1},
};
enum { NUM_CASES = sizeof cases / sizeof cases[0] };

// Fastest of all repetitions so far, us per step.
typedef struct match_best {
  match_bench_times one, many;  // one thread, many threads
  double simd[NUM_SIMD];        // one thread
  double reference, bullet;
} match_best;

// The total is from steps without timing inside; matching is what the other phases leave of it.
static void keep_best(match_bench_times* best, double total, const match_bench_times* parts) {
  best->total = fmin(best->total, total);
  best->projection = fmin(best->projection, parts->projection);
  best->contact = fmin(best->contact, parts->contact);
  double left = best->total - best->projection - best->contact;
  best->matching = left > 0.0 ? left : parts->matching;
}

// Bullet ------------------------------------------------------------------------------------------

#ifdef YW_HAVE_BULLET
static bullet_peer* make_bullet(const match_bench* bench) {
  const yw_tet_mesh* mesh = match_bench_mesh(bench);
  yw_vec3* start = malloc((size_t)mesh->num_vertices * sizeof *start);
  if (!start) return NULL;
  match_bench_start(bench, start);
  bullet_peer* peer = bullet_peer_create(mesh, match_bench_model_def(bench)->density, start);
  free(start);
  // Drops it onto the floor.
  for (int i = 0; peer && i < 20; ++i) bullet_peer_step(peer, MATCH_BENCH_H);
  return peer;
}

static double time_bullet(bullet_peer* peer, int32_t num_particles) {
  int32_t steps = num_particles < 1000 ? 1000 / num_particles : 1;
  double best = INFINITY;
  for (int group = 0; group < 2; ++group) {
    double start = bench_seconds(true);
    for (int32_t i = 0; i < steps; ++i) bullet_peer_step(peer, MATCH_BENCH_H);
    best = fmin(best, 1e6 / steps * (bench_seconds(true) - start));
  }
  return best;
}
#endif

// One size ----------------------------------------------------------------------------------------

// Everything that is compared takes its turn in each repetition.
static void measure_case(const bench_run* run, const match_case* c, match_bench* bench,
                         yw_tasks* tasks, match_best* best) {
  const match_bench_times worst = {INFINITY, INFINITY, INFINITY, INFINITY};
  best->one = best->many = worst;
  best->reference = best->bullet = INFINITY;
  for (int level = 0; level < NUM_SIMD; ++level) best->simd[level] = INFINITY;
#ifdef YW_HAVE_BULLET
  bullet_peer* peer = c->bullet_bar > 0.0 ? make_bullet(bench) : NULL;
#endif
  int32_t repetitions = bench_repetitions(run, c->usual, c->quick);
  for (int32_t r = 0; r < repetitions; ++r) {
    match_bench_times parts = match_bench_library(bench, run->simd, NULL, true);
    keep_best(&best->one, match_bench_library(bench, run->simd, NULL, false).total, &parts);
    if (tasks) {
      parts = match_bench_library(bench, run->simd, tasks, true);
      keep_best(&best->many, match_bench_library(bench, run->simd, tasks, false).total, &parts);
    }
    for (yw_simd level = YW_SIMD_PLAIN; level < run->simd; ++level) {
      if (yw_simd_resolve(level) != level) continue;
      double total = match_bench_library(bench, level, NULL, false).total;
      best->simd[level] = fmin(best->simd[level], total);
    }
    best->reference = fmin(best->reference, match_bench_reference(bench));
#ifdef YW_HAVE_BULLET
    int32_t n = match_bench_mesh(bench)->num_vertices;
    if (peer) best->bullet = fmin(best->bullet, time_bullet(peer, n));
#endif
  }
#ifdef YW_HAVE_BULLET
  bullet_peer_destroy(peer);
#endif
}

static void print_phases(const bench_run* run, const match_case* c, int32_t threads,
                         const match_bench_times* t, const match_bench_times* one) {
  const char* const names[] = {"matching", "projection", "contact"};
  const double values[] = {t->matching, t->projection, t->contact};
  const double alone[] = {one->matching, one->projection, one->contact};
  for (int k = 0; k < 3; ++k) {
    char name[64];
    snprintf(name, sizeof name, "box %s, %s", c->name, names[k]);
    bench_row row = {.name = name, .threads = threads, .value = values[k], .unit = "us/step"};
    if (t != one) {
      row.against = "1 thread";
      row.ratio = alone[k] / values[k];
    }
    bench_print(run, &row);
  }
}

static void print_throughput(const bench_run* run, const match_case* c, const match_best* best,
                             int32_t num_particles) {
  char name[64];
  snprintf(name, sizeof name, "box %s, throughput", c->name);
  bool large = num_particles >= 200000;
  bench_row row = {.name = name,
                   .threads = 1,
                   .value = num_particles / best->one.total,
                   .unit = "Mpart/s",
                   .against = REFERENCE,
                   .ratio = best->reference / best->one.total,
                   .bar = large ? BAR_AT_LEAST : BAR_NONE,
                   .bar_value = 20.0};
  bench_print(run, &row);
  if (!isfinite(best->many.total)) return;
  row.threads = run->threads;
  row.value = num_particles / best->many.total;
  row.against = "1 thread";
  row.ratio = best->one.total / best->many.total;
  row.bar = large && run->threads == 2 ? BAR_RATIO_AT_LEAST : BAR_NONE;
  row.bar_value = 1.7;
  bench_print(run, &row);
}

static void print_totals(const bench_run* run, const match_case* c, const match_best* best) {
  char name[64];
  snprintf(name, sizeof name, "box %s, total", c->name);
  bench_row row = {.name = name,
                   .threads = 1,
                   .value = best->one.total,
                   .unit = "us/step",
                   .against = REFERENCE,
                   .ratio = best->reference / best->one.total,
                   .bar = c->bar > 0.0 ? BAR_RATIO_AT_LEAST : BAR_NONE,
                   .bar_value = c->bar};
  bench_print(run, &row);
  print_phases(run, c, 1, &best->one, &best->one);
  if (isfinite(best->many.total)) {
    row = (bench_row){.name = name,
                      .threads = run->threads,
                      .value = best->many.total,
                      .unit = "us/step",
                      .against = "1 thread",
                      .ratio = best->one.total / best->many.total};
    bench_print(run, &row);
    print_phases(run, c, run->threads, &best->many, &best->one);
  }
  row = (bench_row){.name = name, .threads = 1, .unit = "us/step"};
  for (yw_simd level = YW_SIMD_PLAIN; level < run->simd; ++level) {
    if (!isfinite(best->simd[level])) continue;
    snprintf(name, sizeof name, "box %s, total, %s", c->name, yw_simd_name(level));
    row.value = best->simd[level];
    row.against = REFERENCE;
    row.ratio = best->reference / best->simd[level];
    row.bar = level == YW_SIMD_PLAIN && c->plain_bar > 0.0 ? BAR_RATIO_AT_LEAST : BAR_NONE;
    row.bar_value = c->plain_bar;
    bench_print(run, &row);
  }
}

static void print_peers(const bench_run* run, const match_case* c, const match_best* best) {
  char name[64];
  snprintf(name, sizeof name, "box %s, %s", c->name, REFERENCE);
  bench_row row = {.name = name, .threads = 1, .value = best->reference, .unit = "us/step"};
  bench_print(run, &row);
  if (isfinite(best->bullet)) {
    snprintf(name, sizeof name, "box %s, Bullet clusters", c->name);
    row.value = best->bullet;
    bench_print(run, &row);
    snprintf(name, sizeof name, "box %s, total, beside Bullet", c->name);
    row = (bench_row){.name = name,
                      .threads = 1,
                      .value = best->one.total,
                      .unit = "us/step",
                      .against = "Bullet clusters",
                      .ratio = best->bullet / best->one.total,
                      .bar = BAR_RATIO_AT_LEAST,
                      .bar_value = c->bullet_bar};
    bench_print(run, &row);
  }
#ifndef YW_HAVE_BULLET
  if (c->bullet_bar > 0.0) {
    bench_note(run,
               "box %s, Bullet clusters: not built (package libbullet-dev, cmake "
               "-DYW_BUILD_BENCH_PEERS=ON)",
               c->name);
  }
#endif
}

// The floor ---------------------------------------------------------------------------------------

// Work per particle and step.
static void print_cost(const bench_run* run, const match_case* c, const match_bench_cost* cost,
                       int32_t num_particles) {
  const char* const names[3] = {"arithmetic", "ring sums", "stream"};
  const char* const units[3] = {"flop/p", "byte/p", "byte/p"};
  const double values[3] = {cost->flops, cost->row_bytes, cost->stream_bytes};
  for (int k = 0; k < 3; ++k) {
    char name[64];
    snprintf(name, sizeof name, "box %s, work: %s", c->name, names[k]);
    bench_row row = {.name = name, .threads = 1, .value = values[k] / num_particles};
    row.unit = units[k];
    bench_print(run, &row);
  }
}

// Time of a step if a single resource of the machine were the only limit, one thread.
static void print_floor(const bench_run* run, const match_case* c, const match_best* best,
                        const match_bench_cost* cost, const machine* m) {
  machine_level level = machine_level_of(cost->working_set);
  const double floors[3] = {1e6 * cost->flops / m->flops,
                            1e6 * cost->row_bytes / m->read[MACHINE_L1],
                            1e6 * cost->stream_bytes / m->triad[level]};
  const char* const names[3] = {"arithmetic", "ring sums from L1", "stream from"};
  double floor = 0.0;
  char name[80];
  for (int k = 0; k < 3; ++k) {
    snprintf(name, sizeof name, "box %s, floor: %s%s%s", c->name, names[k], k == 2 ? " " : "",
             k == 2 ? machine_level_name(level) : "");
    bench_row row = {.name = name,
                     .threads = 1,
                     .value = floors[k],
                     .unit = "us/step",
                     .against = "total",
                     .ratio = best->one.total / floors[k]};
    bench_print(run, &row);
    floor = fmax(floor, floors[k]);
  }
  snprintf(name, sizeof name, "box %s, share of the floor", c->name);
  bench_row row = {.name = name, .threads = 1, .value = 100.0 * floor / best->one.total};
  row.unit = "%";
  bench_print(run, &row);
}

static void print_machine(const bench_run* run, const machine* m) {
  bench_row row = {.name = "machine, multiply and add", .threads = 1, .unit = "Gflop/s"};
  row.value = 1e-9 * m->flops;
  bench_print(run, &row);
  row.unit = "GB/s";
  for (machine_level level = MACHINE_L1; level < MACHINE_NUM_LEVELS; ++level) {
    char name[64];
    row.name = name;
    snprintf(name, sizeof name, "machine, read %s", machine_level_name(level));
    row.value = 1e-9 * m->read[level];
    bench_print(run, &row);
    snprintf(name, sizeof name, "machine, triad %s", machine_level_name(level));
    row.value = 1e-9 * m->triad[level];
    bench_print(run, &row);
  }
}

// Projection --------------------------------------------------------------------------------------

// Cost of examples on top of plain matching.
static bool measure_examples(const bench_run* run, const match_case* c) {
  match_bench* benches[MAX_EXAMPLES + 1] = {0};
  double best[MAX_EXAMPLES + 1];
  bool made = true;
  for (int32_t n = 0; n <= MAX_EXAMPLES; ++n) {
    match_bench_def def = {.num_examples = n, .same_state = true};
    for (int k = 0; k < 3; ++k) def.cells[k] = c->cells[k];
    benches[n] = match_bench_create(&def);
    made = made && benches[n];
    best[n] = INFINITY;
  }
  int32_t repetitions = made ? bench_repetitions(run, c->usual, c->quick) : 0;
  for (int32_t r = 0; r < repetitions; ++r) {
    for (int n = 0; n <= MAX_EXAMPLES; ++n) {
      best[n] = fmin(best[n], match_bench_library(benches[n], run->simd, NULL, false).total);
    }
  }
  for (int n = 0; n <= MAX_EXAMPLES; ++n) {
    char name[64];
    snprintf(name, sizeof name, "box %s, total, %d example%s", c->name, n, n == 1 ? "" : "s");
    bench_row row = {.name = name, .threads = 1, .value = best[n], .unit = "us/step"};
    if (n > 0) {
      row.against = "no examples";
      row.ratio = best[0] / best[n];
      row.bar = BAR_RATIO_AT_LEAST;
      row.bar_value = 1.0 / 1.25;
    }
    if (made) bench_print(run, &row);
    match_bench_destroy(benches[n]);
  }
  return made;
}

// The benchmark -----------------------------------------------------------------------------------

typedef struct match_tools {
  yw_tasks* tasks;  // NULL with one thread
  machine_bench* machine_bench;
  machine machine;
} match_tools;

static bool measure_size(const bench_run* run, const match_case* c, match_tools* tools) {
  match_bench_def def = {.num_examples = 2, .reference = true};
  for (int k = 0; k < 3; ++k) def.cells[k] = c->cells[k];
  match_bench* bench = match_bench_create(&def);
  if (!bench) return false;
  match_best best;
  measure_case(run, c, bench, tools->tasks, &best);
  machine_bench_round(tools->machine_bench, run->simd, &tools->machine);
  print_totals(run, c, &best);
  print_throughput(run, c, &best, match_bench_mesh(bench)->num_vertices);
  print_peers(run, c, &best);
  match_bench_cost cost = match_bench_cost_of(bench);
  print_cost(run, c, &cost, match_bench_mesh(bench)->num_vertices);
  print_floor(run, c, &best, &cost, &tools->machine);
  match_bench_destroy(bench);
  return true;
}

int bench_match(const bench_run* run) {
  match_tools tools = {0};
  tools.machine_bench = machine_bench_create();
  if (run->threads > 1) tools.tasks = yw_tasks_create(NULL, run->threads);
  bool made = tools.machine_bench && (tools.tasks || run->threads == 1);
  for (int32_t r = 0; made && r < bench_repetitions(run, 8, 1); ++r) {
    machine_bench_round(tools.machine_bench, run->simd, &tools.machine);
  }
  int sizes = run->quick ? NUM_CASES - 1 : NUM_CASES;
  for (int i = 0; made && i < sizes; ++i) made = measure_size(run, &cases[i], &tools);
  for (int i = 0; made && i < sizes - 1; ++i) made = measure_examples(run, &cases[i]);
  if (made) print_machine(run, &tools.machine);
  machine_bench_destroy(tools.machine_bench);
  yw_tasks_destroy(tools.tasks);
  if (made) return EXIT_DONE;
  fprintf(stderr, "yawara: out of memory\n");
  return EXIT_FAILED;
}
