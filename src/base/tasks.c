// SPDX-License-Identifier: MIT
// Workers spin for a few microseconds after a job, since the next phase of a step follows at once,
// and then sleep. With more threads than cores they sleep at once.
#include "base/tasks.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/memory.h"

#define MAX_THREADS 256
#define SPIN_ROUNDS 20000

#if defined(__x86_64__) || defined(__i386__)
#define CPU_RELAX() __builtin_ia32_pause()
#else
#define CPU_RELAX() ((void)0)
#endif

typedef struct worker_start {
  struct yw_tasks* tasks;
  int32_t worker;
} worker_start;

struct yw_tasks {
  yw_allocator mem;
  int32_t num_workers;
  int32_t spin_rounds;
  pthread_t threads[MAX_THREADS];
  worker_start starts[MAX_THREADS];
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  atomic_bool quit;

  // The job. Changed only while it is closed and nobody is in it.
  yw_task task;
  void* context;
  int32_t num_blocks;
  _Alignas(64) _Atomic uint64_t gate;  // job number << 32, GATE_OPEN, workers inside
  _Alignas(64) atomic_int next_block;
};

#define GATE_OPEN ((uint64_t)1 << 31)
#define GATE_INSIDE (GATE_OPEN - 1)

static _Thread_local bool inside_block;

int32_t yw_cpu_count(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : (int32_t)count;
}

static void work_on_blocks(yw_tasks* tasks, int32_t worker) {
  inside_block = true;
  for (;;) {
    int32_t block = atomic_fetch_add_explicit(&tasks->next_block, 1, memory_order_relaxed);
    if (block >= tasks->num_blocks) break;
    tasks->task(tasks->context, block, worker);
  }
  inside_block = false;
}

static uint32_t job_of(uint64_t gate) { return (uint32_t)(gate >> 32); }

// Waits until the job number differs from `seen`.
static uint32_t wait_for_job(yw_tasks* tasks, uint32_t seen) {
  for (int32_t i = 0; i < tasks->spin_rounds; ++i) {
    uint32_t job = job_of(atomic_load_explicit(&tasks->gate, memory_order_acquire));
    if (job != seen) return job;
    CPU_RELAX();
  }
  pthread_mutex_lock(&tasks->mutex);
  uint32_t job;
  while ((job = job_of(atomic_load(&tasks->gate))) == seen) {
    pthread_cond_wait(&tasks->wake, &tasks->mutex);
  }
  pthread_mutex_unlock(&tasks->mutex);
  return job;
}

static bool enter_job(yw_tasks* tasks, uint32_t job) {
  uint64_t gate = atomic_load_explicit(&tasks->gate, memory_order_acquire);
  while (job_of(gate) == job && (gate & GATE_OPEN)) {
    if (atomic_compare_exchange_weak_explicit(&tasks->gate, &gate, gate + 1, memory_order_acq_rel,
                                              memory_order_acquire)) {
      return true;
    }
  }
  return false;
}

static void* worker_main(void* argument) {
  const worker_start* start = argument;
  yw_tasks* tasks = start->tasks;
  uint32_t seen = 0;
  for (;;) {
    seen = wait_for_job(tasks, seen);
    if (atomic_load(&tasks->quit)) return NULL;
    if (!enter_job(tasks, seen)) continue;
    work_on_blocks(tasks, start->worker);
    atomic_fetch_sub_explicit(&tasks->gate, 1, memory_order_release);
  }
}

static void open_job(yw_tasks* tasks) {
  pthread_mutex_lock(&tasks->mutex);
  uint64_t job = job_of(atomic_load(&tasks->gate)) + UINT64_C(1);
  atomic_store_explicit(&tasks->gate, (job << 32) | GATE_OPEN, memory_order_release);
  pthread_cond_broadcast(&tasks->wake);
  pthread_mutex_unlock(&tasks->mutex);
}

static void close_job(yw_tasks* tasks) {
  atomic_fetch_and_explicit(&tasks->gate, ~GATE_OPEN, memory_order_acq_rel);
  for (int32_t round = 0; atomic_load_explicit(&tasks->gate, memory_order_acquire) & GATE_INSIDE;
       ++round) {
    if (round < tasks->spin_rounds) {
      CPU_RELAX();
    } else {
      sched_yield();
    }
  }
}

static bool start_worker(yw_tasks* tasks, int32_t worker) {
  tasks->starts[worker] = (worker_start){tasks, worker};
  return pthread_create(&tasks->threads[worker], NULL, worker_main, &tasks->starts[worker]) == 0;
}

yw_tasks* yw_tasks_create(const yw_allocator* mem, int32_t threads) {
  int32_t cores = yw_cpu_count();
  if (threads <= 0) threads = cores;
  if (threads > MAX_THREADS) threads = MAX_THREADS;

  yw_tasks* tasks = YW_NEW(mem, yw_tasks);
  if (!tasks) return NULL;
  tasks->mem = yw_mem_or_default(mem);
  tasks->num_workers = 1;
  tasks->spin_rounds = threads <= cores ? SPIN_ROUNDS : 0;
  pthread_mutex_init(&tasks->mutex, NULL);
  pthread_cond_init(&tasks->wake, NULL);

  // Fewer threads than asked for still give the same result.
  while (tasks->num_workers < threads && start_worker(tasks, tasks->num_workers)) {
    ++tasks->num_workers;
  }
  return tasks;
}

void yw_tasks_destroy(yw_tasks* tasks) {
  if (!tasks) return;
  atomic_store(&tasks->quit, true);
  open_job(tasks);
  for (int32_t i = 1; i < tasks->num_workers; ++i) pthread_join(tasks->threads[i], NULL);
  pthread_cond_destroy(&tasks->wake);
  pthread_mutex_destroy(&tasks->mutex);
  yw_allocator mem = tasks->mem;
  yw_mem_free(&mem, tasks);
}

int32_t yw_tasks_workers(const yw_tasks* tasks) { return tasks ? tasks->num_workers : 1; }

void yw_tasks_run(yw_tasks* tasks, int32_t num_blocks, yw_task task, void* context) {
  if (!tasks || tasks->num_workers == 1 || num_blocks <= 1 || inside_block) {
    for (int32_t block = 0; block < num_blocks; ++block) task(context, block, 0);
    return;
  }
  tasks->task = task;
  tasks->context = context;
  tasks->num_blocks = num_blocks;
  atomic_store(&tasks->next_block, 0);
  open_job(tasks);
  work_on_blocks(tasks, 0);
  close_job(tasks);
}
