// SPDX-License-Identifier: MIT
// yawara bench serial: how much of a step of a world no job shares, and how many times faster than
// one thread sixteen cores could be at best (job_recorder.h). Needs no machine with many cores.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/job_recorder.h"
#include "console/options.h"
#include "yawara/extend/timer.h"
#include "yawara/scene.h"

enum { CORES = 16 };

typedef struct serial_case {
  const char* name;
  const char* scene;
  int32_t before, steps;  // substeps until it is measured, and measured ones
  double goal;            // on 16 cores; 0: none
  bool is_large;          // not with --quick
} serial_case;

#define BOX(cells, size)                                                          \
  "{\"bodies\": [{\"mesh\": {\"lattice\": {\"size\": " size ", \"cells\": " cells \
  "}}, \"rotation\": {\"axis\": [1, 0, 1], \"degrees\": 12}, \"position\": [0, 9, 0], "
#define MATCH "\"match\": {\"alpha\": 0.3}}]}"
#define FRAMES "\"frames\": {\"youngs_modulus\": 1e6, \"poissons_ratio\": 0.3}}]}"
#define FEM "\"fem\": {\"youngs_modulus\": 3e5, \"refine\": \"finest\", \"sleep_speed\": 0}}]}"
#define CLAY(side)                                                                  \
  "{\"bodies\": [{\"shape\": {\"box\": {\"size\": " side                            \
  "}}, \"position\": [0, 9, 0], "                                                   \
  "\"plastic\": {\"material\": \"clay\", \"spacing\": 0.01, \"time_step\": 0.001, " \
  "\"sleep_speed\": "                                                               \
  "0}}]}"
#define MANY(count, spacing, rest)                                                            \
  "{" rest                                                                                    \
  "\"bodies\": [{\"mesh\": {\"lattice\": {\"size\": [0.4, 0.8, 0.4], \"cells\": [4, 8, "      \
  "4]}}, \"position\": [0, 0.4, 0], \"repeat\": {\"count\": " count ", \"spacing\": " spacing \
  "}, \"match\": {\"alpha\": 0.3}}]}"

static const serial_case cases[] = {
    {"match 225", BOX("[4, 8, 4]", "[0.4, 0.8, 0.4]") MATCH, 20, 200, 0, false},
    {"match 2025", BOX("[8, 24, 8]", "[0.4, 1.2, 0.4]") MATCH, 20, 100, 0, false},
    {"match 20000", BOX("[19, 49, 19]", "[0.4, 1, 0.4]") MATCH, 10, 30, 8, false},
    {"match 200000", BOX("[49, 79, 49]", "[0.5, 0.8, 0.5]") MATCH, 3, 8, 13, true},
    {"plastic 4096", CLAY("0.16"), 3, 10, 0, false},
    {"plastic 19683", CLAY("0.27"), 3, 5, 8, true},
    {"frames 2511", BOX("[30, 8, 8]", "[3, 0.8, 0.8]") FRAMES, 5, 20, 2, false},
    {"frames 37030", BOX("[69, 22, 22]", "[6.9, 2.2, 2.2]") FRAMES, 2, 4, 8, true},
    {"fem 12288 tets", BOX("[4, 1, 1]", "[0.4, 0.1, 0.1]") FEM, 3, 8, 0, false},
    {"1000 bodies of 225", MANY("[10, 10, 10]", "[1, 1, 1]", ""), 3, 8, 14, false},
    {"64 stacks of 4 on a floor", MANY("[8, 4, 8]", "[1, 0.8, 1]", "\"floor\": true, "), 40, 20, 0,
     false},
};
enum { NUM_CASES = sizeof cases / sizeof cases[0] };

static yw_world* make(const serial_case* c, const bench_run* run, yw_error* error) {
  yw_scene_def def = yw_default_scene_def();
  def.path = "bench.json";
  def.text = c->scene;
  def.size = strlen(c->scene);
  def.threads = 1;
  yw_scene* scene = NULL;
  yw_world* world = NULL;
  // Some work is cut to the number of threads.
  if (yw_scene_read(&def, &scene, NULL, error) >= 0) {
    yw_scene_build(scene, CORES, run->simd, &world, error);
  }
  yw_scene_destroy(scene);
  return world;
}

static void measure(const serial_case* c, const bench_run* run, yw_world* world) {
  const float h = 1.0f / 240.0f;
  double whole = INFINITY;
  job_record best = {0};
  for (int32_t i = 0; i < c->before + c->steps; ++i) {
    job_recorder_begin(CORES);
    double start = yw_seconds();
    yw_world_step(world, h, 1, NULL);
    double seconds = yw_seconds() - start;
    job_record record = job_recorder_end();
    if (i < c->before || seconds >= whole) continue;
    whole = seconds;
    best = record;
  }
  double serial = whole - best.shared;
  bench_note(run, "%s: %.3g us a step with one thread, %.2f %% of it in no job, %d jobs", c->name,
             1e6 * whole, 100.0 * serial / whole, (int)best.jobs);
  bench_row row = {.name = c->name,
                   .threads = CORES,
                   .value = 1e6 * (serial + best.at_best),
                   .unit = "us/step",
                   .against = "1 thread",
                   .ratio = whole / (serial + best.at_best)};
  if (c->goal > 0.0) row.bar = BAR_RATIO_AT_LEAST, row.bar_value = c->goal;
  bench_print(run, &row);
}

int bench_serial(const bench_run* run) {
  for (int i = 0; i < NUM_CASES; ++i) {
    if (run->quick && cases[i].is_large) continue;
    yw_error error = {0};
    yw_world* world = make(&cases[i], run, &error);
    if (!world) return bad_input("%s", error.message);
    measure(&cases[i], run, world);
    yw_world_destroy(world);
  }
  return EXIT_DONE;
}
