// SPDX-License-Identifier: MIT
// Memory runs out, once or for good, at one allocation after the other while scenes by chance
// (support/random_scene.h) are read, built, run, saved and loaded: an error, no leak, and a world
// that goes on from its last snapshot to the same bits. YW_TEST_SEEDS="first count" runs other
// seeds than the default ones.
#include <pthread.h>

#include "support/random_scene.h"
#include "support/testing.h"
#include "yawara/yawara.h"

#define TWISTED "\"examples\": [{\"deform\": {\"twist\": {\"degrees\": 40, \"axis\": \"y\"}}}]"
#define BENT                                                                               \
  "\"examples\": [{\"deform\": {\"bend\": {\"degrees\": 40, \"axis\": \"x\", \"toward\": " \
  "\"y\"}}}]"

enum { FRAMES = 3, STEPS_PER_FRAME = 2 };

/// Fails at the allocation of this number; from then on, if it is for good.
typedef struct scarce_memory {
  int64_t fail_at;  ///< 0: never
  bool for_good;
  int64_t calls, alive;
  pthread_mutex_t lock;
} scarce_memory;

static void* scarce_alloc(void* context, size_t size, size_t align) {
  scarce_memory* memory = context;
  pthread_mutex_lock(&memory->lock);
  int64_t call = ++memory->calls;
  bool fails =
      memory->fail_at > 0 && (memory->for_good ? call >= memory->fail_at : call == memory->fail_at);
  if (!fails) ++memory->alive;
  pthread_mutex_unlock(&memory->lock);
  return fails ? NULL : aligned_alloc(align, (size + align - 1) / align * align);
}

static void scarce_release(void* context, void* pointer) {
  scarce_memory* memory = context;
  pthread_mutex_lock(&memory->lock);
  --memory->alive;
  pthread_mutex_unlock(&memory->lock);
  free(pointer);
}

static void set_limit(scarce_memory* memory, int64_t fail_at, bool for_good) {
  memory->fail_at = fail_at;
  memory->for_good = for_good;
  memory->calls = 0;
}

static yw_status build(const random_scene* text, scarce_memory* memory, yw_world** world) {
  yw_error error = {0};
  yw_scene* scene = NULL;
  yw_scene_def def = yw_default_scene_def();
  def.path = "random.json";
  def.text = text->text;
  def.size = (size_t)text->length;
  def.mem = (yw_allocator){scarce_alloc, scarce_release, memory};
  yw_status status = yw_scene_read(&def, &scene, NULL, &error);
  if (status >= 0) status = yw_scene_build(scene, 1, YW_SIMD_AUTO, world, &error);
  yw_scene_destroy(scene);
  if (status < 0) assert_true(error.message[0] != '\0');
  return status;
}

static yw_status run(yw_world* world) {
  yw_status status = YW_OK;
  for (int i = 0; i < FRAMES && status >= 0; ++i) {
    status = yw_world_step(world, 1.0f / 60.0f, STEPS_PER_FRAME, NULL);
  }
  return status;
}

// What an undisturbed run does.
typedef struct course {
  int64_t to_build, to_run, to_load;  ///< allocations
  unsigned char* snapshot;            ///< before the run
  size_t size;
  uint64_t hash;  ///< at the end
} course;

static course undisturbed(const random_scene* text) {
  scarce_memory memory = {.lock = PTHREAD_MUTEX_INITIALIZER};
  course c = {0};
  yw_world* world = NULL;
  if (build(text, &memory, &world) < 0) fail_msg("not built:\n%s", text->text);
  c.to_build = memory.calls;
  c.snapshot = malloc(yw_world_snapshot_size(world));
  assert_int_equal(yw_world_save(world, c.snapshot, yw_world_snapshot_size(world), &c.size), YW_OK);
  set_limit(&memory, 0, false);
  assert_at_least(run(world), YW_OK);
  c.to_run = memory.calls;
  c.hash = yw_world_hash(world);
  set_limit(&memory, 0, false);
  assert_int_equal(yw_world_load(world, c.snapshot, c.size, NULL), YW_OK);
  c.to_load = memory.calls;
  yw_world_destroy(world);
  assert_int_equal(memory.alive, 0);
  return c;
}

static void fail_to_build(const random_scene* text, int64_t fail_at, bool for_good) {
  scarce_memory memory = {.lock = PTHREAD_MUTEX_INITIALIZER};
  set_limit(&memory, fail_at, for_good);
  yw_world* world = NULL;
  yw_status status = build(text, &memory, &world);
  // A cache that was not kept is no error.
  if (status >= 0) yw_world_destroy(world);
  if (status < 0 && status != YW_ERR_MEMORY) {
    fail_msg("status %d instead of out of memory at allocation %lld of\n%s", (int)status,
             (long long)fail_at, text->text);
  }
  assert_int_equal(memory.alive, 0);
}

static void fail_to_run(const random_scene* text, const course* c, int64_t fail_at, bool for_good) {
  scarce_memory memory = {.lock = PTHREAD_MUTEX_INITIALIZER};
  yw_world* world = NULL;
  assert_int_equal(build(text, &memory, &world), YW_OK);
  set_limit(&memory, fail_at, for_good);
  yw_status status = run(world);
  set_limit(&memory, 0, false);
  if (status < 0) {
    assert_int_equal(status, YW_ERR_MEMORY);
    assert_int_equal(yw_world_load(world, c->snapshot, c->size, NULL), YW_OK);
    run(world);
  }
  if (yw_world_hash(world) != c->hash) {
    fail_msg("other bits after allocation %lld of a run failed (status %d):\n%s",
             (long long)fail_at, (int)status, text->text);
  }
  yw_world_destroy(world);
  assert_int_equal(memory.alive, 0);
}

static void fail_to_load(const random_scene* text, const course* c, int64_t fail_at,
                         bool for_good) {
  scarce_memory memory = {.lock = PTHREAD_MUTEX_INITIALIZER};
  yw_world* world = NULL;
  assert_int_equal(build(text, &memory, &world), YW_OK);
  assert_at_least(yw_world_step(world, 1.0f / 60.0f, STEPS_PER_FRAME, NULL), YW_OK);
  uint64_t hash = yw_world_hash(world);
  set_limit(&memory, fail_at, for_good);
  yw_status status = yw_world_load(world, c->snapshot, c->size, NULL);
  set_limit(&memory, 0, false);
  if (status < 0) {
    assert_int_equal(status, YW_ERR_MEMORY);
    if (yw_world_hash(world) != hash) fail_msg("a failed load changes the world:\n%s", text->text);
  }
  yw_world_destroy(world);
  assert_int_equal(memory.alive, 0);
}

// A few of the allocations, spread over all; all of them with YW_TEST_FULL.
static int64_t stride(int64_t count) {
  if (getenv("YW_TEST_FULL")) return 1;
  int64_t step = count / (getenv("YW_TEST_FAST") ? 3 : 5);
  return step > 0 ? step : 1;
}

static void try_seed(uint64_t seed) {
  static random_scene text;
  random_scene_make(&text, seed);
  course c = undisturbed(&text);
  for (int for_good = 0; for_good < 2; ++for_good) {
    // Starts elsewhere for each seed.
    for (int64_t i = 1 + (int64_t)seed % stride(c.to_build); i <= c.to_build;
         i += stride(c.to_build)) {
      fail_to_build(&text, i, for_good);
    }
    for (int64_t i = 1 + (int64_t)seed % stride(c.to_run); i <= c.to_run; i += stride(c.to_run)) {
      fail_to_run(&text, &c, i, for_good);
    }
    for (int64_t i = 1 + (int64_t)seed % stride(c.to_load); i <= c.to_load;
         i += stride(c.to_load)) {
      fail_to_load(&text, &c, i, for_good);
    }
  }
  free(c.snapshot);
}

static void memory_runs_out(void** state) {
  (void)state;
  uint64_t first = 1;
  int64_t count = getenv("YW_TEST_FAST") ? 2 : 5;
  const char* given = getenv("YW_TEST_SEEDS");
  if (given) {
    char* rest;
    first = strtoull(given, &rest, 10);
    count = strtol(rest, NULL, 10);
  }
  for (int64_t i = 0; i < count; ++i) {
    if (given) print_message("seed %llu\n", (unsigned long long)first + (unsigned long long)i);
    try_seed(first + (uint64_t)i);
  }
}

// Every allocation of scenes that are small enough for that: all methods, meshed shapes, examples
// and what goes with them.
static void small_scenes_are_built_or_refused(void** state) {
  (void)state;
  static const char* const bodies[] = {
      "\"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": 1}}, \"match\": {}, " TWISTED,
      "\"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": 1}}, \"frames\": {}, " TWISTED,
      "\"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": 1}}, \"fem\": {\"max_level\": 1, "
      "\"strength\": 1000, \"toughness\": 1}",
      "\"shape\": {\"box\": {\"size\": [0.4, 0.1, 0.4]}}, \"plastic\": {\"spacing\": 0.1, "
      "\"flow\": "
      "\"elastic\"}",
      "\"shape\": {\"sphere\": {\"radius\": 0.2}}, \"rigid\": {\"size\": 0.2}",
      "\"mesh\": {\"tets\": {\"size\": 0.2, \"shape\": {\"box\": {\"size\": 0.4}}}}, \"match\": {}",
      "\"rod\": {\"line\": {\"from\": [-0.2, 0, 0], \"to\": [0.2, 0, 0], \"count\": 4}, "
      "\"radius\": "
      "0.03}, \"slender\": {}, " BENT,
      "\"sheet\": {\"rectangle\": {\"width\": 0.4, \"depth\": 0.4, \"across\": 3, \"along\": 3}, "
      "\"thickness\": 0.02}, \"slender\": {}, " BENT};
  for (size_t k = 0; k < sizeof bodies / sizeof *bodies; ++k) {
    static random_scene text;
    text.length = snprintf(text.text, sizeof text.text, "{\"bodies\": [{%s}]}", bodies[k]);
    scarce_memory memory = {.lock = PTHREAD_MUTEX_INITIALIZER};
    yw_world* world = NULL;
    if (build(&text, &memory, &world) < 0) fail_msg("not built:\n%s", text.text);
    yw_world_destroy(world);
    const int64_t count = memory.calls;
    for (int64_t i = 1; i <= count; ++i) fail_to_build(&text, i, false);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(memory_runs_out),
                                     cmocka_unit_test(small_scenes_are_built_or_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
