// SPDX-License-Identifier: MIT
// Threads that cannot be started: the others do the work, with the same bits.
#include <errno.h>
#include <pthread.h>

#include "support/sample_scenes.h"
#include "support/testing.h"

#define THREADS 6
#define FRAMES 6

// Threads that may still be started (-1: all), those that were not, and those that run.
static int left = -1, refused, running;

// Weak: where all tests are one program (scripts/mutate.py), nothing is wrapped.
__attribute__((weak)) int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                void* (*start)(void*), void* context);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                          void* (*start)(void*), void* context) {
  if (left == 0) return ++refused, EAGAIN;
  if (left > 0) --left;
  ++running;
  return __real_pthread_create(thread, attributes, start, context);
}

// Only those that were started may be waited for.
__attribute__((weak)) int __real_pthread_join(pthread_t thread, void** result);
int __wrap_pthread_join(pthread_t thread, void** result) {
  assert_at_least(--running, 0);
  return __real_pthread_join(thread, result);
}

// Enough work for several threads.
static const yw_scene_override large = {"bodies[0].mesh.lattice.cells", "[14, 22, 14]"};

static uint64_t run(int32_t threads, int can_start) {
  yw_scene* scene = sample_scene("frames", &large, 1, NULL);
  left = can_start;
  refused = 0;
  yw_world* world = sample_world(scene, threads, YW_SIMD_AUTO);
  step_frames(world, scene, FRAMES);
  uint64_t hash = yw_world_hash(world);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  left = -1;
  assert_int_equal(running, 0);
  return hash;
}

static void fewer_threads_do_the_work(void** state) {
  (void)state;
  uint64_t alone = run(1, -1);
  for (int can_start = 0; can_start < THREADS; ++can_start) {
    assert_true(run(THREADS, can_start) == alone);
    // One of them is that of the caller.
    if (can_start < THREADS - 1) {
      assert_true(refused > 0);
    } else {
      assert_int_equal(refused, 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fewer_threads_do_the_work)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
