// SPDX-License-Identifier: MIT
// yawara bench rollouts: variants of a small scene, read, built, played and recorded, per second.
// python/benchmarks/rollouts.py runs the same from Python and compares.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "console/options.h"
#include "reference/clock.h"

enum { NUM_PARTICLES = 225, NUM_FRAMES = 120 };

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
  yw_scene_override change = {"bodies[0].match.beta", value};
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

// The shortest time of some repetitions, s; negative if a variant failed.
static double measure(const bench_run* run, const rollout_job* job, int32_t threads) {
  yw_tasks* tasks = threads > 1 ? yw_tasks_create(NULL, threads) : NULL;
  double best = INFINITY;
  for (int32_t r = 0; r < bench_repetitions(run, 5, 1); ++r) {
    double start = bench_seconds(threads == 1);
    yw_tasks_run(tasks, job->num_variants, run_variant, (void*)job);
    best = fmin(best, bench_seconds(threads == 1) - start);
  }
  yw_tasks_destroy(tasks);
  for (int32_t i = 0; i < job->num_variants; ++i) {
    if (job->statuses[i] < 0) return -1;
  }
  return best;
}

int bench_rollouts(const bench_run* run) {
  rollout_job job = {.num_variants = run->quick ? 8 : 64, .simd = run->simd};
  size_t points = (size_t)job.num_variants * (NUM_FRAMES + 1) * NUM_PARTICLES;
  job.tracks = malloc(points * sizeof *job.tracks);
  job.hashes = calloc((size_t)job.num_variants, sizeof *job.hashes);
  job.statuses = calloc((size_t)job.num_variants, sizeof *job.statuses);
  int code = job.tracks && job.hashes && job.statuses ? EXIT_DONE : EXIT_FAILED;
  for (int32_t threads = 1; threads <= 2 && code == EXIT_DONE; ++threads) {
    double seconds = measure(run, &job, threads);
    if (seconds < 0) {
      code = EXIT_FAILED;
      break;
    }
    bench_print(run, &(bench_row){.name = "rollouts, 225 particles, 120 frames",
                                  .threads = threads,
                                  .value = job.num_variants / seconds,
                                  .unit = "1/s"});
  }
  if (code != EXIT_DONE) fprintf(stderr, "yawara bench rollouts: a variant cannot be run\n");
  free(job.tracks);
  free(job.hashes);
  free(job.statuses);
  return code;
}
