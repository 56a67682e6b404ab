// SPDX-License-Identifier: MIT
// Each worker starts with its own range of blocks, then helps the others. This way a worker mostly
// gets the same blocks again, whose data is still in its CPU cache. Idle workers poll briefly,
// since the next phase of a step usually follows at once, and then sleep. With the caller's own
// workers, a job is one task per worker, and the tasks share the blocks in the same way.
#include "yawara/extend/tasks.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "yawara/extend/memory.h"
#include "yawara/extend/timer.h"

// How long to poll, s: at first without yielding, then yielding the core from time to time.
#define SPIN_SECONDS 10e-6
#define AWAKE_SECONDS 50e-6
// Pauses between two reads of the clock.
#define PAUSES 32

#if defined(__x86_64__) || defined(__i386__)
#define CPU_RELAX() __builtin_ia32_pause()
#else
#define CPU_RELAX() ((void)0)
#endif

typedef struct worker_state {
  struct yw_tasks* tasks;
  int32_t worker;
  pthread_t thread;
  // This worker's range of blocks: the next unclaimed block, and the end.
  _Alignas(64) atomic_int next_block;
  int32_t end_block;
} worker_state;

struct yw_tasks {
  yw_allocator mem;
  yw_jobs jobs;  // run NULL: own threads
  int32_t num_workers;
  bool stay_awake;  // every worker has a core
  pthread_mutex_t mutex;
  pthread_cond_t wake, done;
  atomic_bool quit;
  atomic_int sleepers;      // workers that wait for `wake` or are about to
  atomic_bool owner_waits;  // for `done` or is about to

  // The current job. Changed only while the gate is closed and no worker is inside.
  yw_task task;
  void* context;
  _Alignas(64) _Atomic uint64_t gate;  // job number << 32, GATE_OPEN, workers inside
  worker_state workers[YW_MAX_WORKERS];
};

#define GATE_OPEN ((uint64_t)1 << 31)
#define GATE_INSIDE (GATE_OPEN - 1)

static _Thread_local bool inside_block;

int32_t yw_cpu_count(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > YW_MAX_WORKERS ? YW_MAX_WORKERS : (int32_t)count;
}

// Blocks ------------------------------------------------------------------------------------------

static void share_blocks(yw_tasks* tasks, int32_t num_blocks) {
  int64_t workers = tasks->num_workers;
  for (int32_t w = 0; w < tasks->num_workers; ++w) {
    atomic_store_explicit(&tasks->workers[w].next_block,
                          (int32_t)(num_blocks * (int64_t)w / workers), memory_order_relaxed);
    tasks->workers[w].end_block = (int32_t)(num_blocks * ((int64_t)w + 1) / workers);
  }
}

static void work_on_blocks(yw_tasks* tasks, int32_t worker) {
  bool was_inside = inside_block;
  inside_block = true;
  for (int32_t k = 0; k < tasks->num_workers; ++k) {
    worker_state* from = &tasks->workers[(worker + k) % tasks->num_workers];
    // Finished ranges are skipped, so their counters cannot overflow.
    while (atomic_load_explicit(&from->next_block, memory_order_relaxed) < from->end_block) {
      int32_t block = atomic_fetch_add_explicit(&from->next_block, 1, memory_order_relaxed);
      if (block >= from->end_block) break;
      tasks->task(tasks->context, block, worker);
    }
  }
  inside_block = was_inside;
}

static void run_share(void* context, int32_t worker) { work_on_blocks(context, worker); }

// The gate ----------------------------------------------------------------------------------------

static uint32_t job_of(uint64_t gate) { return (uint32_t)(gate >> 32); }

static bool has_new_job(yw_tasks* tasks, uint32_t seen) {
  return job_of(atomic_load_explicit(&tasks->gate, memory_order_acquire)) != seen;
}

static bool is_empty(yw_tasks* tasks, uint32_t unused) {
  (void)unused;
  return !(atomic_load_explicit(&tasks->gate, memory_order_acquire) & GATE_INSIDE);
}

// Waits for a condition without sleeping; false on timeout.
static bool wait_awake(yw_tasks* tasks, bool (*is_true)(yw_tasks*, uint32_t), uint32_t seen) {
  if (is_true(tasks, seen)) return true;
  if (!tasks->stay_awake) return false;
  for (double start = yw_seconds(), waited = 0.0; waited < AWAKE_SECONDS;
       waited = yw_seconds() - start) {
    if (waited > SPIN_SECONDS) sched_yield();
    for (int i = 0; i < PAUSES; ++i) {
      if (is_true(tasks, seen)) return true;
      CPU_RELAX();
    }
  }
  return false;
}

static uint32_t wait_for_job(yw_tasks* tasks, uint32_t seen) {
  if (!wait_awake(tasks, has_new_job, seen)) {
    pthread_mutex_lock(&tasks->mutex);
    // The opener of a job checks sleepers after opening the gate, and a worker checks the gate
    // after counting itself as a sleeper, so one always sees the other.
    atomic_fetch_add(&tasks->sleepers, 1);
    while (job_of(atomic_load(&tasks->gate)) == seen) {
      pthread_cond_wait(&tasks->wake, &tasks->mutex);
    }
    atomic_fetch_sub(&tasks->sleepers, 1);
    pthread_mutex_unlock(&tasks->mutex);
  }
  return job_of(atomic_load_explicit(&tasks->gate, memory_order_acquire));
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

static void leave_job(yw_tasks* tasks) {
  uint64_t left = atomic_fetch_sub(&tasks->gate, 1) - 1;
  if ((left & GATE_INSIDE) || !atomic_load(&tasks->owner_waits)) return;
  pthread_mutex_lock(&tasks->mutex);
  pthread_cond_signal(&tasks->done);
  pthread_mutex_unlock(&tasks->mutex);
}

static void* worker_main(void* argument) {
  const worker_state* own = argument;
  yw_tasks* tasks = own->tasks;
  uint32_t seen = 0;
  for (;;) {
    seen = wait_for_job(tasks, seen);
    if (atomic_load(&tasks->quit)) return NULL;
    if (!enter_job(tasks, seen)) continue;
    work_on_blocks(tasks, own->worker);
    leave_job(tasks);
  }
}

static void open_job(yw_tasks* tasks) {
  uint64_t job = job_of(atomic_load(&tasks->gate)) + UINT64_C(1);
  atomic_store(&tasks->gate, (job << 32) | GATE_OPEN);
  if (atomic_load(&tasks->sleepers) == 0) return;
  pthread_mutex_lock(&tasks->mutex);
  pthread_cond_broadcast(&tasks->wake);
  pthread_mutex_unlock(&tasks->mutex);
}

static void close_job(yw_tasks* tasks) {
  atomic_fetch_and_explicit(&tasks->gate, ~GATE_OPEN, memory_order_acq_rel);
  if (wait_awake(tasks, is_empty, 0)) return;
  pthread_mutex_lock(&tasks->mutex);
  atomic_store(&tasks->owner_waits, true);
  while (atomic_load(&tasks->gate) & GATE_INSIDE) pthread_cond_wait(&tasks->done, &tasks->mutex);
  atomic_store(&tasks->owner_waits, false);
  pthread_mutex_unlock(&tasks->mutex);
}

// The pool ----------------------------------------------------------------------------------------

static bool start_worker(yw_tasks* tasks, int32_t worker) {
  worker_state* own = &tasks->workers[worker];
  own->tasks = tasks;
  own->worker = worker;
  return pthread_create(&own->thread, NULL, worker_main, own) == 0;
}

static yw_tasks* create_pool(const yw_allocator* mem) {
  yw_tasks* tasks = YW_NEW(mem, yw_tasks);
  if (!tasks) return NULL;
  tasks->mem = yw_mem_or_default(mem);
  tasks->num_workers = 1;
  pthread_mutex_init(&tasks->mutex, NULL);
  pthread_cond_init(&tasks->wake, NULL);
  pthread_cond_init(&tasks->done, NULL);
  return tasks;
}

yw_tasks* yw_tasks_create_on(const yw_allocator* mem, const yw_jobs* jobs) {
  yw_tasks* tasks = create_pool(mem);
  if (!tasks) return NULL;
  tasks->jobs = *jobs;
  tasks->num_workers = jobs->workers < YW_MAX_WORKERS ? jobs->workers : YW_MAX_WORKERS;
  return tasks;
}

yw_tasks* yw_tasks_create(const yw_allocator* mem, int32_t threads) {
  int32_t cores = yw_cpu_count();
  if (threads <= 0) threads = cores;
  if (threads > YW_MAX_WORKERS) threads = YW_MAX_WORKERS;
  yw_tasks* tasks = create_pool(mem);
  if (!tasks) return NULL;
  tasks->stay_awake = threads <= cores;

  // Results do not depend on the number of threads, so fewer than requested are acceptable.
  while (tasks->num_workers < threads && start_worker(tasks, tasks->num_workers)) {
    ++tasks->num_workers;
  }
  return tasks;
}

void yw_tasks_destroy(yw_tasks* tasks) {
  if (!tasks) return;
  int32_t threads = tasks->jobs.run ? 1 : tasks->num_workers;
  atomic_store(&tasks->quit, true);
  open_job(tasks);
  for (int32_t i = 1; i < threads; ++i) pthread_join(tasks->workers[i].thread, NULL);
  pthread_cond_destroy(&tasks->wake);
  pthread_cond_destroy(&tasks->done);
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
  share_blocks(tasks, num_blocks);
  if (tasks->jobs.run) {
    int32_t num_tasks = num_blocks < tasks->num_workers ? num_blocks : tasks->num_workers;
    tasks->jobs.run(tasks->jobs.context, num_tasks, run_share, tasks);
    return;
  }
  open_job(tasks);
  work_on_blocks(tasks, 0);
  close_job(tasks);
}
