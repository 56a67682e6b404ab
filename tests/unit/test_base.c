// SPDX-License-Identifier: MIT
#include "base/hash.h"
#include "base/memory.h"
#include "base/stream.h"
#include "base/tasks.h"
#include "testing.h"

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

static void hash_has_not_changed(void** state) {
  (void)state;
  // Snapshots and caches carry it.
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_that_overflow_are_refused),
      cmocka_unit_test(memory_is_zeroed_and_aligned),
      cmocka_unit_test(hash_has_not_changed),
      cmocka_unit_test(streams_round_trip_and_stop_at_the_end),
      cmocka_unit_test(every_block_runs_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
