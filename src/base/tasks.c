// SPDX-License-Identifier: MIT
// Each worker starts with its own range of blocks, then helps the others. This way a worker mostly
// gets the same blocks again, whose data is still in its CPU cache. Idle workers poll briefly,
// since the next phase of a step usually follows at once, and then sleep. With the caller's own
// workers, a job is one task per worker, and the tasks share the blocks in the same way.
//
// How many workers take part in a job follows from how long such jobs took before: many workers
// finish little work later than a few.
#include "yawara/extend/tasks.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "yawara/extend/memory.h"
#include "yawara/extend/timer.h"

// How long to poll, s: at first without yielding, then yielding the core from time to time.
#define SPIN_SECONDS 10e-6
#define AWAKE_SECONDS 300e-6
// Pauses between two reads of the clock.
#define PAUSES 32
// What a job costs beside its work, s: with any other worker, and more with each. `yawara bench
// threads` measures both.
#define HANDOVER_SECONDS 0.5e-6
#define WORKER_SECONDS 0.25e-6
// Where workers have to share cores, waking one takes a switch of threads.
#define WAKE_SECONDS 10e-6
// There, every so many jobs of a kind go to all workers nevertheless.
#define SAMPLE_JOBS 16
// Where other programs have the cores, a job waits for workers that are not running. Kinds of work
// that took longer with others than alone are shared only once in so many jobs, to see.
#define TRY_JOBS 32
// Kinds of work that are remembered.
#define NUM_KINDS 128

#if defined(__x86_64__) || defined(__i386__)
#define CPU_RELAX() __builtin_ia32_pause()
#else
#define CPU_RELAX() ((void)0)
#endif

// Of a worker. The owner posts jobs, the worker takes them; a job that is not taken by the time
// when all its blocks are done is withdrawn.
enum { IDLE, ASLEEP, POSTED, INSIDE };

typedef struct worker_state {
  // Written by the owner and this worker in turn.
  _Alignas(64) atomic_int slot;
  double spent;  // on blocks of the last job, s
  struct yw_tasks* tasks;
  int32_t worker;
  pthread_t thread;
  // This worker's range of blocks: the next unclaimed block, and the end.
  _Alignas(64) atomic_int next_block;
  int32_t end_block;
} worker_state;

typedef struct work_kind {
  yw_task_kind kind;  // NULL: unused
  int32_t size;       // bits of the number of blocks
  int32_t jobs;
  double seconds;  // work per block
  double shared;   // time by the clock per block, with others; 0: not known
} work_kind;

struct yw_tasks {
  yw_allocator mem;
  yw_jobs jobs;  // run NULL: own threads
  int32_t num_workers;
  bool stay_awake;  // every worker has a core
  pthread_mutex_t mutex;
  pthread_cond_t wake, done;
  atomic_bool quit;
  atomic_bool owner_waits;  // for `done` or is about to
  work_kind kinds[NUM_KINDS];

  // The current job. Changed only while no worker is inside.
  yw_task task;
  void* context;
  int32_t sharing;  // workers 0 .. sharing-1 take part
  bool wake_all;    // the owner has told all of them
  worker_state workers[YW_MAX_WORKERS];
};

static _Thread_local bool inside_block;

int32_t yw_cpu_count(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > YW_MAX_WORKERS ? YW_MAX_WORKERS : (int32_t)count;
}

// How many take part ------------------------------------------------------------------------------

static int32_t bits_of(int32_t number) {
  int32_t bits = 0;
  for (; number > 0; number /= 2) ++bits;
  return bits;
}

static work_kind* find_kind(yw_tasks* tasks, yw_task_kind kind, int32_t num_blocks) {
  int32_t size = bits_of(num_blocks);
  uintptr_t mixed = ((uintptr_t)kind >> 4) * 0x9E3779B1u + (uintptr_t)size * 0x85EBCA77u;
  work_kind* found = &tasks->kinds[(mixed >> 8) % NUM_KINDS];
  if (found->kind != kind || found->size != size) *found = (work_kind){kind, size, 0, 0.0, 0.0};
  return found;
}

// w workers take work / w + handover + cost * w. As blocks are not divided, some of them may have
// nothing to do in the last round: fewer are as fast.
static int32_t choose_workers(const yw_tasks* tasks, work_kind* kind, int32_t num_blocks) {
  int32_t most = num_blocks < tasks->num_workers ? num_blocks : tasks->num_workers;
  if (++kind->jobs == 1) return most;
  if (!tasks->stay_awake && kind->jobs % SAMPLE_JOBS == 0) return most;
  double cost = tasks->stay_awake ? WORKER_SECONDS : WAKE_SECONDS;
  double work = kind->seconds * num_blocks, best = sqrt(work / cost);
  if (best < 2.0 || (kind->shared > kind->seconds && kind->jobs % TRY_JOBS != 0)) return 1;
  if (best < most) most = (int32_t)best;
  int32_t rounds = (num_blocks + most - 1) / most, sharing = (num_blocks + rounds - 1) / rounds;
  double shared = kind->seconds * rounds + HANDOVER_SECONDS + cost * sharing;
  return shared < work ? sharing : 1;
}

// A block that waited for the system once is not to be remembered as long.
static void learn(work_kind* kind, double spent, double wall, bool is_shared, int32_t num_blocks) {
  double seconds = spent / num_blocks, by_clock = wall / num_blocks;
  if (kind->jobs == 1) {
    kind->seconds = seconds;
  } else {
    kind->seconds += 0.125 * (fmin(seconds, 4.0 * kind->seconds) - kind->seconds);
  }
  // The first time, workers had to wake up.
  if (!is_shared || kind->jobs == 1) return;
  kind->shared = kind->shared > 0.0 ? kind->shared + 0.125 * (by_clock - kind->shared) : by_clock;
}

// Blocks ------------------------------------------------------------------------------------------

static void share_blocks(yw_tasks* tasks, int32_t num_blocks) {
  int64_t workers = tasks->sharing;
  for (int32_t w = 0; w < tasks->sharing; ++w) {
    atomic_store_explicit(&tasks->workers[w].next_block,
                          (int32_t)(num_blocks * (int64_t)w / workers), memory_order_relaxed);
    tasks->workers[w].end_block = (int32_t)(num_blocks * ((int64_t)w + 1) / workers);
    tasks->workers[w].spent = 0.0;
  }
}

static void work_on_blocks(yw_tasks* tasks, int32_t worker) {
  bool was_inside = inside_block;
  inside_block = true;
  double start = yw_seconds();
  for (int32_t k = 0; k < tasks->sharing; ++k) {
    worker_state* from = &tasks->workers[(worker + k) % tasks->sharing];
    // Finished ranges are skipped, so their counters cannot overflow.
    while (atomic_load_explicit(&from->next_block, memory_order_relaxed) < from->end_block) {
      int32_t block = atomic_fetch_add_explicit(&from->next_block, 1, memory_order_relaxed);
      if (block >= from->end_block) break;
      tasks->task(tasks->context, block, worker);
    }
  }
  tasks->workers[worker].spent = yw_seconds() - start;
  inside_block = was_inside;
}

static void run_share(void* context, int32_t worker) { work_on_blocks(context, worker); }

// Handing over ------------------------------------------------------------------------------------

static bool has_job(worker_state* own) {
  return atomic_load_explicit(&own->slot, memory_order_acquire) == POSTED;
}

static bool has_left(worker_state* other) {
  return atomic_load_explicit(&other->slot, memory_order_acquire) != INSIDE;
}

// Waits for a condition without sleeping; false on timeout.
static bool wait_awake(bool (*is_true)(worker_state*), worker_state* of) {
  if (is_true(of)) return true;
  if (!of->tasks->stay_awake) return false;
  for (double start = yw_seconds(), waited = 0.0; waited < AWAKE_SECONDS;
       waited = yw_seconds() - start) {
    if (waited > SPIN_SECONDS) sched_yield();
    for (int i = 0; i < PAUSES; ++i) {
      if (is_true(of)) return true;
      CPU_RELAX();
    }
  }
  return false;
}

static void wait_for_job(worker_state* own) {
  if (wait_awake(has_job, own)) return;
  yw_tasks* tasks = own->tasks;
  pthread_mutex_lock(&tasks->mutex);
  int expected = IDLE;
  if (atomic_compare_exchange_strong(&own->slot, &expected, ASLEEP)) {
    while (atomic_load(&own->slot) == ASLEEP) pthread_cond_wait(&tasks->wake, &tasks->mutex);
  }
  pthread_mutex_unlock(&tasks->mutex);
}

static void leave_job(worker_state* own) {
  yw_tasks* tasks = own->tasks;
  atomic_store(&own->slot, IDLE);
  if (!atomic_load(&tasks->owner_waits)) return;
  pthread_mutex_lock(&tasks->mutex);
  pthread_cond_signal(&tasks->done);
  pthread_mutex_unlock(&tasks->mutex);
}

static void post_job(yw_tasks* tasks, int32_t first, int32_t end) {
  bool asleep = false;
  for (int32_t w = first; w < end; ++w) {
    asleep |= atomic_exchange(&tasks->workers[w].slot, POSTED) == ASLEEP;
  }
  if (!asleep) return;
  pthread_mutex_lock(&tasks->mutex);
  pthread_cond_broadcast(&tasks->wake);
  pthread_mutex_unlock(&tasks->mutex);
}

// A message from core to core takes long, so each worker passes the job on to two others first.
static void pass_on(yw_tasks* tasks, int32_t worker) {
  int32_t first = 2 * worker + 1, end = first + 2;
  post_job(tasks, first, end < tasks->sharing ? end : tasks->sharing);
}

// Sleepers are woken all at once: one after the other would take longer still.
static void begin_job(yw_tasks* tasks) {
  tasks->wake_all = false;
  for (int32_t w = 1; w < 3 && w < tasks->sharing; ++w) {
    tasks->wake_all |= atomic_load(&tasks->workers[w].slot) == ASLEEP;
  }
  if (tasks->wake_all) {
    post_job(tasks, 1, tasks->sharing);
  } else {
    pass_on(tasks, 0);
  }
}

static void* worker_main(void* argument) {
  worker_state* own = argument;
  for (;;) {
    wait_for_job(own);
    if (atomic_load(&own->tasks->quit)) return NULL;
    int expected = POSTED;  // unless it was withdrawn
    if (!atomic_compare_exchange_strong(&own->slot, &expected, INSIDE)) continue;
    if (!own->tasks->wake_all) pass_on(own->tasks, own->worker);
    work_on_blocks(own->tasks, own->worker);
    leave_job(own);
  }
}

static void wait_until_left(yw_tasks* tasks, worker_state* other) {
  if (wait_awake(has_left, other)) return;
  pthread_mutex_lock(&tasks->mutex);
  atomic_store(&tasks->owner_waits, true);
  while (atomic_load(&other->slot) == INSIDE) pthread_cond_wait(&tasks->done, &tasks->mutex);
  atomic_store(&tasks->owner_waits, false);
  pthread_mutex_unlock(&tasks->mutex);
}

// In this order: whoever could pass the job on to a worker has left when that one's turn comes.
static void end_job(yw_tasks* tasks) {
  for (int32_t w = 1; w < tasks->sharing; ++w) __builtin_prefetch(&tasks->workers[w].slot);
  for (int32_t w = 1; w < tasks->sharing; ++w) {
    worker_state* other = &tasks->workers[w];
    int expected = POSTED;
    if (atomic_compare_exchange_strong(&other->slot, &expected, IDLE)) continue;
    wait_until_left(tasks, other);
  }
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
  post_job(tasks, 1, threads);
  for (int32_t i = 1; i < threads; ++i) pthread_join(tasks->workers[i].thread, NULL);
  pthread_cond_destroy(&tasks->wake);
  pthread_cond_destroy(&tasks->done);
  pthread_mutex_destroy(&tasks->mutex);
  yw_allocator mem = tasks->mem;
  yw_mem_free(&mem, tasks);
}

int32_t yw_tasks_workers(const yw_tasks* tasks) { return tasks ? tasks->num_workers : 1; }

static double time_spent(const yw_tasks* tasks) {
  double spent = 0.0;
  for (int32_t w = 0; w < tasks->sharing; ++w) spent += tasks->workers[w].spent;
  return spent;
}

void yw_tasks_run_kind(yw_tasks* tasks, yw_task_kind kind, int32_t num_blocks, yw_task task,
                       void* context) {
  if (!tasks || tasks->num_workers == 1 || num_blocks <= 1 || inside_block) {
    for (int32_t block = 0; block < num_blocks; ++block) task(context, block, 0);
    return;
  }
  double start = yw_seconds();
  work_kind* known = find_kind(tasks, kind, num_blocks);
  tasks->task = task;
  tasks->context = context;
  tasks->sharing = choose_workers(tasks, known, num_blocks);
  share_blocks(tasks, num_blocks);
  if (tasks->jobs.run) {
    tasks->jobs.run(tasks->jobs.context, tasks->sharing, run_share, tasks);
  } else {
    begin_job(tasks);
    work_on_blocks(tasks, 0);
    end_job(tasks);
  }
  learn(known, time_spent(tasks), yw_seconds() - start, tasks->sharing > 1, num_blocks);
}

void yw_tasks_run(yw_tasks* tasks, int32_t num_blocks, yw_task task, void* context) {
  yw_tasks_run_kind(tasks, (yw_task_kind)task, num_blocks, task, context);
}
