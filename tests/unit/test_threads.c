// SPDX-License-Identifier: MIT
// What docs/design/threads.md allows concurrently; `make test` runs it under ThreadSanitizer.
#include <pthread.h>

#include "support/sample_scenes.h"

enum { NUM_THREADS = 4, FRAMES = 3 };

static void run_on_threads(void* (*work)(void*), void* context) {
  pthread_t threads[NUM_THREADS];
  for (int i = 0; i < NUM_THREADS; ++i) {
    assert_int_equal(pthread_create(&threads[i], NULL, work, context), 0);
  }
  for (int i = 0; i < NUM_THREADS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
}

// Readers of one world ----------------------------------------------------------------------------

static uint64_t hash_fields(uint64_t hash, const yw_world* world, yw_body_id id) {
  int32_t count = 0, cells = yw_body_cells(world, id, NULL, 0);
  yw_body_positions(world, id, &count);
  int32_t room = cells > count ? cells : count;
  int32_t* corners = malloc(sizeof(int32_t) * 4 * (size_t)cells + 1);
  float* values = malloc(sizeof(float) * (size_t)room);
  yw_body_cells(world, id, corners, cells);
  hash = yw_hash_bytes(hash, corners, sizeof(int32_t) * 4 * (size_t)cells);
  for (int32_t f = 0; f < yw_body_num_fields(world, id); ++f) {
    int32_t size = yw_body_field_info(world, id, f).per_cell ? cells : count;
    yw_body_field_values(world, id, f, values, room);
    hash = yw_hash_bytes(hash, values, sizeof(float) * (size_t)size);
  }
  free(corners);
  free(values);
  return hash;
}

static uint64_t hash_surface(uint64_t hash, const yw_world* world, yw_body_id id) {
  int32_t count = yw_model_surface(yw_body_model(world, id))->num_vertices;
  if (count == 0) return hash;
  yw_vec3* vertices = malloc(sizeof(yw_vec3) * (size_t)count);
  yw_body_surface_positions(world, id, vertices, count);
  hash = yw_hash_bytes(hash, vertices, sizeof(yw_vec3) * (size_t)count);
  free(vertices);
  return hash;
}

// Everything that can be read from a const world.
static uint64_t read_all(const yw_world* world) {
  uint64_t hash = yw_hash_u64(motion_hash(world), yw_world_hash(world));
  size_t size = yw_world_snapshot_size(world);
  void* snapshot = malloc(size);
  yw_world_save(world, snapshot, size, NULL);
  hash = yw_hash_bytes(hash, snapshot, size);
  free(snapshot);
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_id id = yw_world_body(world, i);
    int32_t count = 0;
    const float* radii = yw_body_radii(world, id, &count);
    if (radii) hash = yw_hash_bytes(hash, radii, sizeof(float) * (size_t)count);
    yw_body_sums sums;
    yw_body_sums_of(world, id, &sums);
    hash = yw_hash_bytes(hash, &sums, sizeof sums);
    yw_body_energy energy = {0};
    yw_body_energy_of(world, id, &energy);
    hash = yw_hash_bytes(hash, &energy.elastic, sizeof energy.elastic);
    hash = hash_surface(hash_fields(hash, world, id), world, id);
  }
  return hash;
}

typedef struct readers {
  const yw_world* world;
  uint64_t expected;
  pthread_barrier_t barrier;
} readers;

static void* read_together(void* context) {
  readers* r = context;
  pthread_barrier_wait(&r->barrier);
  for (int round = 0; round < 3; ++round) {
    if (read_all(r->world) != r->expected) return "differs";
  }
  return NULL;
}

static void readers_do_not_disturb_each_other(void** state) {
  (void)state;
  yw_scene* scene = sample_scene("mixed", NULL, 0, NULL);
  yw_world *world = sample_world(scene, 2, YW_SIMD_AUTO), *twin = sample_world(scene, 1, 0);
  for (int frame = 0; frame < FRAMES; ++frame) {
    // The threads must be the first readers: the expected values come from an identical world.
    step_frames(world, scene, 1);
    step_frames(twin, scene, 1);
    readers r = {.world = world, .expected = read_all(twin)};
    pthread_barrier_init(&r.barrier, NULL, NUM_THREADS);
    pthread_t threads[NUM_THREADS];
    for (int i = 0; i < NUM_THREADS; ++i) {
      assert_int_equal(pthread_create(&threads[i], NULL, read_together, &r), 0);
    }
    for (int i = 0; i < NUM_THREADS; ++i) {
      void* result = NULL;
      assert_int_equal(pthread_join(threads[i], &result), 0);
      assert_null(result);
    }
    pthread_barrier_destroy(&r.barrier);
  }
  yw_world_destroy(world);
  yw_world_destroy(twin);
  yw_scene_destroy(scene);
}

// Worlds that share models and shapes -------------------------------------------------------------

typedef struct shared {
  const yw_scene* scene;
  yw_model* model;
  _Atomic int failures;
  uint64_t expected;
} shared;

static void* live_a_life(void* context) {
  shared* s = context;
  for (int round = 0; round < 2; ++round) {
    yw_world* world = NULL;
    yw_error error = {0};
    if (yw_scene_build(s->scene, 2, YW_SIMD_AUTO, &world, &error) < 0) {
      ++s->failures;
      return NULL;
    }
    yw_body_def def = yw_default_body_def();
    def.model = s->model;
    def.transform.position = (yw_vec3){5, 1, 0};
    yw_body_id id;
    s->failures += yw_body_create(world, &def, &id, &error) < 0;
    for (int i = 0; i < FRAMES; ++i) yw_world_step(world, 1 / 60.0f, 2, NULL);
    s->failures += yw_world_hash(world) != s->expected;
    yw_world_destroy(world);
  }
  return NULL;
}

static void worlds_on_different_threads_share_models(void** state) {
  (void)state;
  yw_scene* scene = sample_scene("mixed", NULL, 0, NULL);
  yw_world* world = sample_world(scene, 1, YW_SIMD_AUTO);
  yw_model* model =
      yw_model_retain((yw_model*)(uintptr_t)yw_body_model(world, yw_world_body(world, 0)));
  yw_body_def def = yw_default_body_def();
  def.model = model;
  def.transform.position = (yw_vec3){5, 1, 0};
  yw_body_id id;
  assert_int_equal(yw_body_create(world, &def, &id, NULL), YW_OK);
  for (int i = 0; i < FRAMES; ++i) assert_true(yw_world_step(world, 1 / 60.0f, 2, NULL) >= 0);
  shared s = {.scene = scene, .model = model, .expected = yw_world_hash(world)};
  // The first world is destroyed while the others are in use.
  yw_world_destroy(world);
  run_on_threads(live_a_life, &s);
  assert_int_equal(s.failures, 0);
  yw_model_release(model);
  yw_scene_destroy(scene);
}

// The caller's own workers ------------------------------------------------------------------------

typedef void (*job_task)(void* context, int32_t index);

static void run_in_order(void* context, int32_t num_tasks, job_task task, void* task_context) {
  ++*(int*)context;
  for (int32_t i = 0; i < num_tasks; ++i) task(task_context, i);
}

static void run_backwards(void* context, int32_t num_tasks, job_task task, void* task_context) {
  ++*(int*)context;
  for (int32_t i = num_tasks - 1; i >= 0; --i) task(task_context, i);
}

typedef struct one_task {
  job_task task;
  void* context;
  int32_t index;
} one_task;

static void* run_one(void* context) {
  const one_task* one = context;
  one->task(one->context, one->index);
  return NULL;
}

static void run_on_new_threads(void* context, int32_t num_tasks, job_task task,
                               void* task_context) {
  ++*(int*)context;
  pthread_t threads[NUM_THREADS];
  one_task ones[NUM_THREADS];
  assert_true(num_tasks <= NUM_THREADS);
  for (int32_t i = 0; i < num_tasks; ++i) {
    ones[i] = (one_task){task, task_context, i};
    assert_int_equal(pthread_create(&threads[i], NULL, run_one, &ones[i]), 0);
  }
  for (int32_t i = 0; i < num_tasks; ++i) pthread_join(threads[i], NULL);
}

static void own_workers_give_the_same_bits(void** state) {
  (void)state;
  static const char* const scenes[] = {"mixed", "match", "fem", "plastic", "sheet", "frames"};
  int calls = 0;
  const yw_jobs jobs[] = {{run_in_order, &calls, 3},
                          {run_backwards, &calls, 7},
                          {run_on_new_threads, &calls, NUM_THREADS}};
  bool fast = getenv("YW_TEST_FAST") != NULL;
  // Enough work for several workers.
  static const yw_scene_override large = {"bodies[0].mesh.lattice.cells", "[14, 22, 14]"};
  for (int k = 0; k < (fast ? 1 : 6); ++k) {
    const yw_scene_override* set = k == 5 ? &large : NULL;
    uint64_t expected = 0;
    for (int j = -1; j < 3; ++j) {
      calls = 0;
      yw_scene* scene = sample_scene(scenes[k], set, set != NULL, j < 0 ? NULL : &jobs[j]);
      yw_world* world = sample_world(scene, 2, YW_SIMD_AUTO);
      step_frames(world, scene, set ? 1 : FRAMES);
      uint64_t hash = yw_world_hash(world);
      if (j < 0) expected = hash;
      if (hash != expected) fail_msg("%s: hook %d changes the result", scenes[k], j);
      assert_true(j < 0 || calls > 0);
      yw_world_destroy(world);
      yw_scene_destroy(scene);
    }
  }
}

static void bad_numbers_of_workers_are_refused(void** state) {
  (void)state;
  int calls = 0;
  yw_world_def def = yw_default_world_def();
  yw_world* world = NULL;
  def.jobs = (yw_jobs){run_in_order, &calls, 0};
  assert_int_equal(yw_world_create(&def, &world), YW_ERR_INVALID);
  def.jobs.workers = YW_MAX_WORKERS + 1;
  assert_int_equal(yw_world_create(&def, &world), YW_ERR_INVALID);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(readers_do_not_disturb_each_other),
      cmocka_unit_test(worlds_on_different_threads_share_models),
      cmocka_unit_test(own_workers_give_the_same_bits),
      cmocka_unit_test(bad_numbers_of_workers_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
