// SPDX-License-Identifier: MIT
// yawara bench ranks: one plastic body on 1 to 8 ranks that are threads of this program. What
// counts is the processor time of the rank with the most work: it does not depend on what else the
// machine does. scripts/measure_ranks.sh has the same over MPI, by the clock.
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "console/options.h"

#include "yawara/extend/ranks.h"
#include "yawara/extend/timer.h"

enum { MOST_RANKS = 8, STEPS = 2 };
#define STEP 1e-3f
// Targets with two ranks: how much faster, and the share of the memory of one.
#define SPEED_BAR 1.7
#define MEMORY_BAR 55.0

static const char scene_text[] =
    "{ \"floor\": true, \"bodies\": [ { \"shape\": { \"box\": { \"size\": 1 } },"
    "  \"rotation\": { \"axis\": \"z\", \"degrees\": 30 }, \"position\": [0, 0.72, 0],"
    "  \"velocity\": [0, -3, 0], \"plastic\": { \"spacing\": 0.05, \"material\": \"clay\","
    "  \"time_step\": 0.001, \"sleep_speed\": 0 } } ] }";

// Memory of one rank, bytes.
typedef struct rank_memory {
  double now, most;
} rank_memory;

static void* counting_alloc(void* context, size_t size, size_t align) {
  rank_memory* memory = context;
  void* data = aligned_alloc(align, (size + align - 1) / align * align);
  if (!data) return NULL;
  memory->now += (double)malloc_usable_size(data);
  if (memory->now > memory->most) memory->most = memory->now;
  return data;
}

static void counting_release(void* context, void* pointer) {
  rank_memory* memory = context;
  memory->now -= (double)malloc_usable_size(pointer);
  free(pointer);
}

typedef struct rank_run rank_run;

typedef struct rank_thread {
  rank_run* run;
  int32_t rank;
  pthread_t thread;
  rank_memory memory;
} rank_thread;

struct rank_run {
  int32_t count;
  const char* spacing;
  yw_simd simd;
  yw_ranks* ranks;
  rank_thread threads[MOST_RANKS];
  bool failed;
  int32_t masters;
  uint64_t hash;
  double processor, wall;    // s per step; of the rank with the most work
  yw_ranks_traffic traffic;  // of rank 0 in all steps
};

static double processor_seconds(pthread_t thread) {
  clockid_t id;
  struct timespec t = {0};
  if (pthread_getcpuclockid(thread, &id) == 0) clock_gettime(id, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void lead(rank_run* run, yw_world* world) {
  yw_plastic_statistics statistics;
  yw_body_plastic_statistics(world, yw_world_body(world, 0), &statistics);
  run->masters = statistics.num_masters;
  // The first step builds the lists.
  run->failed = yw_world_step(world, STEP, 1, NULL) < 0;
  double before[MOST_RANKS], start = yw_seconds();
  yw_ranks_traffic sent = *run->ranks[0].traffic;
  for (int32_t r = 0; r < run->count; ++r) before[r] = processor_seconds(run->threads[r].thread);
  for (int32_t i = 0; i < STEPS; ++i) {
    run->failed = run->failed || yw_world_step(world, STEP, 1, NULL) < 0;
  }
  run->wall = (yw_seconds() - start) / STEPS;
  for (int32_t r = 0; r < run->count; ++r) {
    double seconds = (processor_seconds(run->threads[r].thread) - before[r]) / STEPS;
    if (seconds > run->processor) run->processor = seconds;
  }
  run->traffic = *run->ranks[0].traffic;
  run->traffic.bytes -= sent.bytes;
  run->traffic.messages -= sent.messages;
  run->traffic.gathered -= sent.gathered;
  run->traffic.sums -= sent.sums;
  run->hash = yw_world_hash(world);
}

static void* run_rank(void* context) {
  rank_thread* own = context;
  rank_run* run = own->run;
  yw_scene_override change = {"bodies[0].plastic.spacing", run->spacing};
  yw_scene_def def = yw_default_scene_def();
  def.path = "ranks";
  def.text = scene_text;
  def.size = sizeof scene_text - 1;
  def.overrides = &change;
  def.num_overrides = 1;
  def.threads = 1;
  def.mem = (yw_allocator){counting_alloc, counting_release, &own->memory};
  yw_scene* scene = NULL;
  yw_world* world = NULL;
  yw_error error = {0};
  yw_status status = yw_scene_read(&def, &scene, NULL, &error);
  if (status >= 0) {
    yw_scene_set_ranks(scene, &run->ranks[own->rank]);
    status = yw_scene_build(scene, 1, run->simd, &world, &error);
  }
  // What was needed to make the model is gone by now.
  own->memory.most = own->memory.now;
  if (status < 0) {
    run->failed = true;
    if (own->rank == 0) bad_input("%s", error.message);
  } else if (own->rank == 0) {
    lead(run, world);
  } else {
    yw_world_follow(world);
  }
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return NULL;
}

static bool measure(rank_run* run) {
  run->ranks = yw_ranks_create_local(run->count);
  if (!run->ranks) return false;
  for (int32_t r = 0; r < run->count; ++r) {
    run->threads[r] = (rank_thread){.run = run, .rank = r};
  }
  int32_t started = 0;
  for (; started < run->count; ++started) {
    rank_thread* t = &run->threads[started];
    if (pthread_create(&t->thread, NULL, run_rank, t) != 0) abort();
  }
  for (int32_t r = 0; r < run->count; ++r) pthread_join(run->threads[r].thread, NULL);
  yw_ranks_destroy_local(run->ranks);
  return !run->failed;
}

static double most_memory(const rank_run* run) {
  double most = 0.0;
  for (int32_t r = 0; r < run->count; ++r) {
    if (run->threads[r].memory.most > most) most = run->threads[r].memory.most;
  }
  return most;
}

static void print(const bench_run* bench, const rank_run* run, const rank_run* one) {
  char name[64];
  double ratio = one->processor / run->processor, memory = most_memory(run);
  bool two = run->count == 2;
  snprintf(name, sizeof name, "%d masters, %d ranks, a step", run->masters, run->count);
  bench_row row = {name,
                   run->count,
                   run->processor,
                   "s",
                   run->count > 1 ? "1 rank" : NULL,
                   ratio,
                   two ? BAR_RATIO_AT_LEAST : BAR_NONE,
                   SPEED_BAR};
  bench_print(bench, &row);
  snprintf(name, sizeof name, "  memory of a rank, %% of one");
  row = (bench_row){name, run->count, 100.0 * memory / most_memory(one), "%",
                    NULL, 0.0,        two ? BAR_AT_MOST : BAR_NONE,      MEMORY_BAR};
  bench_print(bench, &row);
  bench_note(
      bench,
      "  %.2f s by the clock, %.0f MB; rank 0 per step: %.3f MB in %.0f messages, %.3f MB to "
      "all, %.0f sums",
      run->wall, 1e-6 * memory, 1e-6 * (double)run->traffic.bytes / STEPS,
      (double)run->traffic.messages / STEPS, 1e-6 * (double)run->traffic.gathered / STEPS,
      (double)run->traffic.sums / STEPS);
}

int bench_ranks(const bench_run* bench) {
  static const int32_t counts[] = {1, 2, 4, 8};
  static rank_run runs[4];
  int32_t num_counts = bench->quick ? 2 : 4;
  for (int32_t i = 0; i < num_counts; ++i) {
    rank_run* run = &runs[i];
    *run = (rank_run){
        .count = counts[i], .spacing = bench->quick ? "0.04" : "0.01", .simd = bench->simd};
    if (!measure(run)) return EXIT_FAILED;
    print(bench, run, &runs[0]);
    if (run->hash == runs[0].hash) continue;
    return bad_input("%d ranks end with another state than one", run->count);
  }
  return EXIT_DONE;
}
