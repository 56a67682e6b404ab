// SPDX-License-Identifier: MIT
// yawara bench threads: bodies of every method and size on 1, 2, 4 ... threads. More threads must
// never be slower; targets are for 16 cores.
#include <math.h>
#include <stdio.h>

#include "bench/bench.h"
#include "bench/frames_bench.h"
#include "bench/machine.h"
#include "bench/match_bench.h"
#include "bench/plastic_bench.h"
#include "console/options.h"
#include "reference/clock.h"
#include "yawara/fem.h"

enum { MOST_LEVELS = 6, BAR_CORES = 16 };

typedef struct thread_case thread_case;

// One body that steps with any workers, or one world per number of threads.
typedef struct thread_rig {
  const thread_case* of;
  yw_simd simd;
  void* body;
  yw_tasks* pools[MOST_LEVELS];  // NULL: one thread
  yw_world* worlds[MOST_LEVELS];
} thread_rig;

struct thread_case {
  const char* name;
  bool (*make)(thread_rig* rig, int level, int32_t threads);
  double (*time)(thread_rig* rig, int level);  // us per step
  void (*free)(thread_rig* rig);
  int32_t size[3];
  double bar;  // on 16 cores; 0: only never slower
  int32_t usual, quick;
};

// Handing over ------------------------------------------------------------------------------------

#define BLOCK_SECONDS 20e-6

static void spin(void* context, int32_t block, int32_t worker) {
  (void)context, (void)block, (void)worker;
  double end = yw_seconds() + BLOCK_SECONDS;
  while (yw_seconds() < end) continue;
}

// The machine's own limit: arithmetic in registers, shared evenly.
enum { ROUNDS = 1 << 19 };

typedef struct arithmetic {
  const machine_kernels* kernels;
  int32_t rounds;
  volatile float result;
} arithmetic;

static void multiply_add(void* context, int32_t block, int32_t worker) {
  (void)block, (void)worker;
  arithmetic* a = context;
  float result = a->kernels->multiply_add(a->rounds);
  if (result == 0.0f) a->result = result;  // never
}

static double time_arithmetic(thread_rig* rig, int level) {
  int32_t workers = yw_tasks_workers(rig->pools[level]);
  arithmetic a = {.kernels = machine_kernels_of(rig->simd), .rounds = ROUNDS / workers};
  double start = yw_seconds();
  for (int i = 0; i < 4; ++i) yw_tasks_run(rig->pools[level], workers, multiply_add, &a);
  return 1e6 * (yw_seconds() - start) / 4;
}

static bool make_nothing(thread_rig* rig, int level, int32_t threads) {
  (void)rig, (void)level, (void)threads;
  return true;
}

// What a job takes beside its work, with one block per worker.
static double time_handover(thread_rig* rig, int level) {
  double start = yw_seconds();
  for (int i = 0; i < 50; ++i) {
    yw_tasks_run(rig->pools[level], yw_tasks_workers(rig->pools[level]), spin, NULL);
  }
  return 1e6 * ((yw_seconds() - start) / 50 - BLOCK_SECONDS);
}

static void free_nothing(thread_rig* rig) { (void)rig; }

// Bodies of one method ----------------------------------------------------------------------------

static bool make_match(thread_rig* rig, int level, int32_t threads) {
  (void)threads;
  if (level > 0) return true;
  const int32_t* n = rig->of->size;
  match_bench_def def = {.cells = {n[0], n[1], n[2]}, .num_examples = 2};
  rig->body = match_bench_create(&def);
  return rig->body != NULL;
}

static double time_match(thread_rig* rig, int level) {
  return match_bench_library(rig->body, rig->simd, rig->pools[level], false).total;
}

static void free_match(thread_rig* rig) { match_bench_destroy(rig->body); }

static bool make_frames(thread_rig* rig, int level, int32_t threads) {
  (void)threads;
  if (level > 0) return true;
  const int32_t* n = rig->of->size;
  frames_bench_def def = {.cells = {n[0], n[1], n[2]},
                          .kind = YW_FRAMES_RINGS,
                          .solver = YW_FRAMES_IMPLICIT,
                          .youngs_modulus = 1e6f,
                          .poissons_ratio = 0.3f};
  rig->body = frames_bench_create(&def);
  return rig->body != NULL;
}

static double time_frames(thread_rig* rig, int level) {
  return 1e6 * frames_bench_library(rig->body, rig->simd, rig->pools[level], false).total;
}

static void free_frames(thread_rig* rig) { frames_bench_destroy(rig->body); }

static bool make_plastic(thread_rig* rig, int level, int32_t threads) {
  (void)threads;
  if (level > 0) return true;
  plastic_bench_def def = {.side = rig->of->size[0], .cubes = 1, .iterations = 20};
  rig->body = plastic_bench_create(&def);
  return rig->body != NULL;
}

static double time_plastic(thread_rig* rig, int level) {
  return plastic_bench_library(rig->body, rig->simd, rig->pools[level], 2).total;
}

static void free_plastic(thread_rig* rig) { plastic_bench_destroy(rig->body); }

// Worlds ------------------------------------------------------------------------------------------

static yw_world* make_world(const thread_rig* rig, int32_t threads) {
  yw_world_def def = yw_default_world_def();
  def.threads = threads;
  def.simd = rig->simd;
  yw_world* world = NULL;
  if (yw_world_create(&def, &world) < 0) return NULL;
  yw_world_set_sleep_speed(world, 0.0f);
  return world;
}

static bool add_body(yw_world* world, yw_model* model, yw_vec3 position) {
  yw_body_def def = yw_default_body_def();
  def.model = model;
  def.transform.position = position;
  yw_body_id id;
  return yw_body_create(world, &def, &id, NULL) >= 0;
}

// A beam of finest tets in free flight.
static bool make_beam(thread_rig* rig, int level, int32_t threads) {
  const int32_t* n = rig->of->size;
  const yw_aabb box = {{0, 0, 0}, {0.1f * (float)n[0], 0.1f * (float)n[1], 0.1f * (float)n[2]}};
  yw_tet_mesh mesh = {0};
  yw_model* model = NULL;
  yw_fem_def def = yw_default_fem_def();
  def.youngs_modulus = 3e5f;
  def.params.refine = YW_FEM_REFINE_FINEST;
  def.params.sleep_speed = 0.0f;
  def.mesh = &mesh;
  rig->worlds[level] = make_world(rig, threads);
  bool good = rig->worlds[level] && yw_tet_mesh_lattice(NULL, box, n, YW_LATTICE_SIX, &mesh) >= 0 &&
              yw_model_create_fem(NULL, &def, &model, NULL) >= 0 &&
              add_body(rig->worlds[level], model, (yw_vec3){0});
  yw_model_release(model);
  yw_tet_mesh_free(&mesh);
  return good;
}

// A thousand boxes of 225 particles that fall beside each other.
static bool make_boxes(thread_rig* rig, int level, int32_t threads) {
  const int32_t* n = rig->of->size;
  const yw_aabb box = {{0, 0, 0}, {0.4f, 0.8f, 0.4f}};
  const int32_t cells[3] = {4, 8, 4};
  yw_tet_mesh mesh = {0};
  yw_model* model = NULL;
  yw_match_def def = yw_default_match_def();
  def.mesh = &mesh;
  rig->worlds[level] = make_world(rig, threads);
  bool good = rig->worlds[level] &&
              yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh) >= 0 &&
              yw_model_create_match(NULL, &def, &model, NULL) >= 0;
  for (int32_t i = 0; i < n[0] * n[1] * n[2] && good; ++i) {
    yw_vec3 at = {(float)(i % n[0]), (float)(i / n[0] % n[1]), (float)(i / n[0] / n[1])};
    good = add_body(rig->worlds[level], model, at);
  }
  yw_model_release(model);
  yw_tet_mesh_free(&mesh);
  return good;
}

static double time_world(thread_rig* rig, int level) {
  double start = bench_seconds(level == 0);
  yw_world_step(rig->worlds[level], 1.0f / 240.0f, 1, NULL);
  return 1e6 * (bench_seconds(level == 0) - start);
}

static void free_worlds(thread_rig* rig) {
  for (int i = 0; i < MOST_LEVELS; ++i) yw_world_destroy(rig->worlds[i]);
}

// All cases ---------------------------------------------------------------------------------------

static const thread_case cases[] = {
    {"handing over a job", make_nothing, time_handover, free_nothing, {0}, 0, 100, 2},
    {"arithmetic", make_nothing, time_arithmetic, free_nothing, {0}, 0, 40, 2},
    {"match 225", make_match, time_match, free_match, {4, 8, 4}, 0, 100, 2},
    {"match 2025", make_match, time_match, free_match, {8, 24, 8}, 0, 60, 2},
    {"match 20000", make_match, time_match, free_match, {19, 49, 19}, 8, 30, 2},
    {"match 200000", make_match, time_match, free_match, {49, 79, 49}, 13, 10, 0},
    {"plastic 4096", make_plastic, time_plastic, free_plastic, {16}, 0, 10, 1},
    {"plastic 19683", make_plastic, time_plastic, free_plastic, {27}, 8, 6, 0},
    {"plastic 195112", make_plastic, time_plastic, free_plastic, {58}, 13, 3, 0},
    {"frames 2511", make_frames, time_frames, free_frames, {30, 8, 8}, 2, 20, 1},
    {"frames 37030", make_frames, time_frames, free_frames, {69, 22, 22}, 8, 5, 0},
    {"fem 12288 tets", make_beam, time_world, free_worlds, {4, 1, 1}, 0, 20, 1},
    {"fem 196608 tets", make_beam, time_world, free_worlds, {16, 2, 2}, 0, 4, 0},
    {"1000 bodies of 225", make_boxes, time_world, free_worlds, {10, 10, 10}, 14, 20, 1},
};
enum { NUM_CASES = sizeof cases / sizeof cases[0] };

static void print(const bench_run* run, const thread_case* c, const double* best, int level,
                  int32_t threads) {
  bench_row row = {.name = c->name, .threads = threads, .value = best[level], .unit = "us/step"};
  if (level > 0 && c->time != time_handover) {
    row.against = "1 thread";
    row.ratio = best[0] / best[level];
    double fewer = INFINITY;
    for (int k = 0; k < level; ++k) fewer = fmin(fewer, best[k]);
    // 5 %: noise.
    row.bar = BAR_RATIO_AT_LEAST;
    row.bar_value = 0.95 * best[0] / fewer;
    if (threads == BAR_CORES && c->bar > row.bar_value) row.bar_value = c->bar;
  }
  bench_print(run, &row);
}

static bool measure(const bench_run* run, const thread_case* c) {
  thread_rig rig = {.of = c, .simd = run->simd};
  double best[MOST_LEVELS];
  int levels = 0;
  bool good = true;
  for (int32_t threads = 1; levels < MOST_LEVELS && threads <= run->threads && good; threads *= 2) {
    best[levels] = INFINITY;
    if (threads > 1) rig.pools[levels] = yw_tasks_create(NULL, threads);
    good = c->make(&rig, levels, threads);
    ++levels;
  }
  // Candidates take turns; each warms up first, since its workers sleep meanwhile.
  for (int32_t r = bench_repetitions(run, c->usual, c->quick); r > 0 && good; --r) {
    for (int k = 0; k < levels; ++k) {
      c->time(&rig, k);
      best[k] = fmin(best[k], c->time(&rig, k));
    }
  }
  for (int k = 0; k < levels && good; ++k) print(run, c, best, k, 1 << k);
  c->free(&rig);
  for (int k = 0; k < MOST_LEVELS; ++k) yw_tasks_destroy(rig.pools[k]);
  return good;
}

int bench_threads(const bench_run* run) {
  for (int i = 0; i < NUM_CASES; ++i) {
    if (bench_repetitions(run, cases[i].usual, cases[i].quick) == 0) continue;
    if (!measure(run, &cases[i])) return bad_input("out of memory");
  }
  return EXIT_DONE;
}
