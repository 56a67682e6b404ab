// SPDX-License-Identifier: MIT
#include <stdatomic.h>
#include <time.h>

#include "support/testing.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/stream.h"
#include "yawara/extend/tasks.h"

static void sizes_that_overflow_are_refused(void** state) {
  (void)state;
  assert_null(yw_mem_alloc(NULL, SIZE_MAX / 2, 4));
}

static void memory_is_zeroed_and_aligned(void** state) {
  (void)state;
  unsigned char* p = yw_mem_alloc(NULL, 100, 1);
  assert_int_equal((uintptr_t)p % 64, 0);
  for (int i = 0; i < 100; ++i) assert_int_equal(p[i], 0);
  yw_mem_free(NULL, p);
}

static void* no_memory(void* context, size_t size, size_t align) {
  (void)context, (void)size, (void)align;
  return NULL;
}

static void release_nothing(void* context, void* pointer) { (void)context, (void)pointer; }

// A list keeps its items when it grows, and is unchanged when it cannot.
static void lists_grow_or_stay(void** state) {
  (void)state;
  const yw_allocator none = {no_memory, release_nothing, NULL};
  YW_LIST(double) list = {0};
  assert_false(YW_LIST_RESERVE(&none, &list, 1));
  assert_null(list.items);
  assert_true(YW_LIST_RESERVE(NULL, &list, 0));
  assert_non_null(list.items);
  for (int i = 0; i < 1000; ++i) {
    assert_true(YW_LIST_RESERVE(NULL, &list, 1));
    list.items[list.count++] = i;
  }
  for (int i = 0; i < 1000; ++i) assert_true(list.items[i] == i);
  double* items = list.items;
  int32_t room = list.capacity - list.count;
  assert_true(YW_LIST_RESERVE(&none, &list, room));
  assert_false(YW_LIST_RESERVE(&none, &list, room + 1));
  assert_false(YW_LIST_RESERVE(NULL, &list, INT32_MAX));
  assert_ptr_equal(list.items, items);
  assert_int_equal(list.capacity - list.count, room);
  YW_LIST_FREE(NULL, &list);
}

static void hash_has_not_changed(void** state) {
  (void)state;
  // It is stored in snapshots and caches.
  assert_true(yw_hash_bytes(YW_HASH_SEED, "yawara", 6) == 0xd79e10adf6f17c9full);
  assert_true(yw_hash_bytes(YW_HASH_SEED, "yawara", 6) != yw_hash_bytes(YW_HASH_SEED, "yawarb", 6));
}

static void streams_round_trip_and_stop_at_the_end(void** state) {
  (void)state;
  unsigned char bytes[32];
  yw_writer writer = {.data = bytes, .capacity = sizeof bytes};
  yw_write_u64(&writer, 0x0123456789abcdefull);
  yw_write_f64(&writer, -1.5);
  yw_reader reader = {.data = bytes, .size = writer.size};
  assert_true(yw_read_u64(&reader) == 0x0123456789abcdefull);
  assert_true(yw_read_f64(&reader) == -1.5);
  assert_false(reader.failed);
  yw_read_u32(&reader);
  assert_true(reader.failed);
}

typedef struct count_job {
  int32_t* hits;
} count_job;

static void count_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  ++((count_job*)context)->hits[block];
}

static void every_block_runs_once(void** state) {
  (void)state;
  for (int32_t threads = 1; threads <= 8; threads *= 2) {
    yw_tasks* tasks = yw_tasks_create(NULL, threads);
    assert_non_null(tasks);
    for (int32_t round = 0; round < 200; ++round) {
      int32_t hits[97] = {0};
      count_job job = {hits};
      yw_tasks_run(tasks, 97, count_block, &job);
      for (int i = 0; i < 97; ++i) assert_int_equal(hits[i], 1);
    }
    yw_tasks_destroy(tasks);
  }
}

static void wait_for_microseconds(long us) {
  const struct timespec time = {.tv_nsec = 1000 * us};
  nanosleep(&time, NULL);
}

static void slow_block(void* context, int32_t block, int32_t worker) {
  // The caller runs out of blocks while other workers still sleep in theirs.
  if (worker > 0) wait_for_microseconds(300);
  count_block(context, block, worker);
}

// Workers fall asleep between jobs, and the caller while it waits for the last block; also with
// more threads than cores and fewer blocks than threads.
static void sleepers_are_woken(void** state) {
  (void)state;
  for (int32_t threads = 2; threads <= 8; threads *= 2) {
    yw_tasks* tasks = yw_tasks_create(NULL, threads);
    assert_non_null(tasks);
    for (int32_t round = 0; round < 40; ++round) {
      int32_t hits[16] = {0}, blocks = 2 + round % 15;
      count_job job = {hits};
      // From no gap to one longer than any worker stays awake.
      if (round % 4 > 0) wait_for_microseconds(150 * (round % 4));
      yw_tasks_run(tasks, blocks, slow_block, &job);
      for (int i = 0; i < 16; ++i) assert_int_equal(hits[i], i < blocks);
    }
    yw_tasks_destroy(tasks);
  }
}

typedef struct who_job {
  long us;
  atomic_int by_others;
} who_job;

static void note_worker(void* context, int32_t block, int32_t worker) {
  (void)block;
  who_job* job = context;
  if (job->us > 0) wait_for_microseconds(job->us);
  if (worker > 0) atomic_fetch_add(&job->by_others, 1);
}

static int count_others(yw_tasks* tasks, yw_task_kind kind, long us, int jobs) {
  who_job job = {.us = us};
  for (int i = 0; i < jobs; ++i) yw_tasks_run_kind(tasks, kind, 8, note_worker, &job);
  return atomic_load(&job.by_others);
}

static void kind_of_little(void) {}
static void kind_of_much(void) { abort(); }

// The same task is done by one worker or by all, whatever takes less time.
static void workers_follow_the_work(void** state) {
  (void)state;
  if (yw_cpu_count() < 2) skip();
  yw_tasks* tasks = yw_tasks_create(NULL, 2);
  assert_non_null(tasks);
  count_others(tasks, kind_of_little, 0, 100);
  assert_int_equal(count_others(tasks, kind_of_little, 0, 50), 0);
  assert_true(count_others(tasks, kind_of_much, 200, 10) > 0);
  yw_tasks_destroy(tasks);
}

static void inner_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  ++((int32_t*)context)[block];
}

typedef struct nested_job {
  yw_tasks* tasks;
  int32_t hits[8][5];
} nested_job;

static void outer_block(void* context, int32_t block, int32_t worker) {
  nested_job* job = context;
  (void)worker;
  yw_tasks_run(job->tasks, 5, inner_block, job->hits[block]);
}

static void jobs_inside_blocks_run_too(void** state) {
  (void)state;
  nested_job job = {.tasks = yw_tasks_create(NULL, 2)};
  assert_non_null(job.tasks);
  yw_tasks_run(job.tasks, 8, outer_block, &job);
  for (int i = 0; i < 40; ++i) assert_int_equal(job.hits[i / 5][i % 5], 1);
  yw_tasks_destroy(job.tasks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_that_overflow_are_refused),
      cmocka_unit_test(memory_is_zeroed_and_aligned),
      cmocka_unit_test(lists_grow_or_stay),
      cmocka_unit_test(hash_has_not_changed),
      cmocka_unit_test(streams_round_trip_and_stop_at_the_end),
      cmocka_unit_test(every_block_runs_once),
      cmocka_unit_test(sleepers_are_woken),
      cmocka_unit_test(workers_follow_the_work),
      cmocka_unit_test(jobs_inside_blocks_run_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
