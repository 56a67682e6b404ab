// SPDX-License-Identifier: MIT
// yawara bench rollouts: variants of a small scene, read, built, played and recorded, per second,
// in C and, where the package is installed, in Python (python/yawara/benchmark.py).
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "console/options.h"
#include "reference/clock.h"

enum { NUM_PARTICLES = 225, NUM_FRAMES = 120, MOST_WORKERS = 2 };
// The number that differs between variants.
#define PATH "bodies[0].match.beta"
// Speed of Python that is aimed at, times that of C.
#define TARGET 0.95

static const char scene_text[] =
    "{ \"floor\": true, \"fps\": 60, \"frames\": 120, \"substeps\": 4, \"bodies\": [ {"
    "  \"mesh\": { \"lattice\": { \"size\": [1, 2, 1], \"cells\": [4, 8, 4] } },"
    "  \"position\": [0, 1.2, 0], \"match\": { \"beta\": 0.9, \"stiffness\": 100 },"
    "  \"examples\": [ { \"deform\": { \"twist\": { \"axis\": \"y\", \"degrees\": 60 } } } ] } ] }";

typedef struct rollout_job {
  int32_t num_variants;
  yw_simd simd;
  yw_vec3* tracks;      // num_variants x (NUM_FRAMES + 1) x NUM_PARTICLES
  uint64_t* hashes;     // per variant, at the end
  yw_status* statuses;  // per variant
} rollout_job;

static yw_status play(yw_world* world, yw_vec3* track) {
  yw_body_id body = yw_world_body(world, 0);
  for (int32_t frame = 0; frame <= NUM_FRAMES; ++frame) {
    int32_t count = 0;
    yw_status status = frame > 0 ? yw_world_step(world, 1.0f / 60.0f, 4, NULL) : YW_OK;
    const yw_vec3* positions = yw_body_positions(world, body, &count);
    if (status < 0 || count != NUM_PARTICLES) return YW_ERR_INVALID;
    memcpy(track + (size_t)frame * NUM_PARTICLES, positions, NUM_PARTICLES * sizeof *positions);
  }
  return YW_OK;
}

static void run_variant(void* context, int32_t variant, int32_t worker) {
  (void)worker;
  const rollout_job* job = context;
  char value[32];
  snprintf(value, sizeof value, "%.9g", (double)variant / job->num_variants);
  yw_scene_override change = {PATH, value};
  yw_scene_def def = yw_default_scene_def();
  def.path = "rollouts";
  def.text = scene_text;
  def.size = sizeof scene_text - 1;
  def.overrides = &change;
  def.num_overrides = 1;
  def.threads = 1;
  yw_scene* scene = NULL;
  yw_world* world = NULL;
  yw_status status = yw_scene_read(&def, &scene, NULL, NULL);
  if (status >= 0) status = yw_scene_build(scene, 1, job->simd, &world, NULL);
  if (status >= 0) {
    status = play(world, job->tracks + (size_t)variant * (NUM_FRAMES + 1) * NUM_PARTICLES);
    job->hashes[variant] = yw_world_hash(world);
  }
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  job->statuses[variant] = status;
}

/// Rollouts per second with 1 and 2 workers, the best of all repetitions; 0: not measured.
typedef struct speeds {
  double c[MOST_WORKERS], python[MOST_WORKERS];
} speeds;

static uint64_t combine(const rollout_job* job) {
  uint64_t all = 0;
  for (int32_t i = 0; i < job->num_variants; ++i) all ^= job->hashes[i];
  return all;
}

// False if a variant failed.
static bool measure_c(const rollout_job* job, yw_tasks* tasks, int32_t workers, double* best) {
  double start = bench_seconds(workers == 1);
  yw_tasks_run(workers > 1 ? tasks : NULL, job->num_variants, run_variant, (void*)job);
  *best = fmax(*best, job->num_variants / (bench_seconds(workers == 1) - start));
  for (int32_t i = 0; i < job->num_variants; ++i) {
    if (job->statuses[i] < 0) return false;
  }
  return true;
}

// The same from Python. False if its states differ. Nothing is measured without the package.
static bool measure_python(const rollout_job* job, double best[MOST_WORKERS]) {
  char line[1600];
  snprintf(line, sizeof line, "python3 -m yawara.benchmark '%s' '%s' %d 2>/dev/null", scene_text,
           PATH, job->num_variants);
  FILE* said = popen(line, "r");
  if (!said) return true;
  bool same = true;
  int workers;
  double speed;
  uint64_t hash;
  while (fscanf(said, "%d %lf %" SCNx64, &workers, &speed, &hash) == 3) {
    if (workers < 1 || workers > MOST_WORKERS) continue;
    best[workers - 1] = fmax(best[workers - 1], speed);
    same &= hash == combine(job);
  }
  pclose(said);
  return same;
}

static void print_speeds(const bench_run* run, const speeds* s) {
  for (int32_t k = 0; k < MOST_WORKERS; ++k) {
    bench_row row = {.name = "rollouts, 225 particles, 120 frames",
                     .threads = k + 1,
                     .value = s->c[k],
                     .unit = "1/s"};
    bench_print(run, &row);
    if (s->python[k] == 0) continue;
    row.name = "the same from Python";
    row.value = s->python[k];
    row.against = "C";
    row.ratio = s->python[k] / s->c[k];
    row.bar = BAR_RATIO_AT_LEAST;
    row.bar_value = TARGET;
    bench_print(run, &row);
  }
  if (s->python[0] == 0) {
    bench_note(run, "Python is left out: python3 finds no package yawara (pip install ./python)");
  }
}

static int measure_all(const bench_run* run, const rollout_job* job, speeds* out) {
  yw_tasks* tasks = yw_tasks_create(NULL, MOST_WORKERS);
  int code = EXIT_DONE;
  for (int32_t r = 0; r < bench_repetitions(run, 20, 1) && code == EXIT_DONE; ++r) {
    bool good = true;
    for (int32_t k = 0; k < MOST_WORKERS; ++k) {
      good = good && measure_c(job, tasks, k + 1, &out->c[k]);
    }
    if (!good) {
      fprintf(stderr, "yawara bench rollouts: a variant cannot be run\n");
      code = EXIT_FAILED;
    } else if (!measure_python(job, out->python)) {
      fprintf(stderr, "yawara bench rollouts: Python ends in other states than C\n");
      code = EXIT_FAILED;
    }
  }
  yw_tasks_destroy(tasks);
  return code;
}

int bench_rollouts(const bench_run* run) {
  rollout_job job = {.num_variants = run->quick ? 8 : 16, .simd = run->simd};
  size_t points = (size_t)job.num_variants * (NUM_FRAMES + 1) * NUM_PARTICLES;
  job.tracks = malloc(points * sizeof *job.tracks);
  job.hashes = calloc((size_t)job.num_variants, sizeof *job.hashes);
  job.statuses = calloc((size_t)job.num_variants, sizeof *job.statuses);
  speeds s = {0};
  int code = EXIT_FAILED;
  if (job.tracks && job.hashes && job.statuses) {
    code = measure_all(run, &job, &s);
  } else {
    fprintf(stderr, "yawara bench rollouts: out of memory\n");
  }
  if (code == EXIT_DONE) print_speeds(run, &s);
  free(job.tracks);
  free(job.hashes);
  free(job.statuses);
  return code;
}
