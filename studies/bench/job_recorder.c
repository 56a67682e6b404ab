// SPDX-License-Identifier: MIT
// The linker puts these in the place of the library's functions (--wrap).
#include "bench/job_recorder.h"

#include <math.h>
#include <stdbool.h>

#include "yawara/extend/tasks.h"
#include "yawara/extend/timer.h"

// As in src/base/tasks.c.
#define HANDOVER_SECONDS 0.5e-6
#define WORKER_SECONDS 0.25e-6

void __real_yw_tasks_run_kind(yw_tasks* tasks, yw_task_kind kind, int32_t num_blocks, yw_task task,
                              void* context);
void __wrap_yw_tasks_run_kind(yw_tasks* tasks, yw_task_kind kind, int32_t num_blocks, yw_task task,
                              void* context);
void __wrap_yw_tasks_run(yw_tasks* tasks, int32_t num_blocks, yw_task task, void* context);

static _Thread_local int32_t cores;  // 0: not recording
static _Thread_local bool inside;
static _Thread_local job_record record;

void job_recorder_begin(int32_t count) {
  cores = count;
  record = (job_record){0.0, 0.0, 0};
}

job_record job_recorder_end(void) {
  cores = 0;
  return record;
}

// Like the pool, which shares a job among as many as finish it first.
static double at_best(double work, int32_t num_blocks) {
  double most = fmin(fmin(num_blocks, cores), sqrt(work / WORKER_SECONDS));
  if (most < 2.0) return work;
  double rounds = ceil(num_blocks / floor(most)), sharing = ceil(num_blocks / rounds);
  double shared = work * rounds / num_blocks + HANDOVER_SECONDS + WORKER_SECONDS * sharing;
  return fmin(work, shared);
}

void __wrap_yw_tasks_run_kind(yw_tasks* tasks, yw_task_kind kind, int32_t num_blocks, yw_task task,
                              void* context) {
  if (cores == 0) {
    __real_yw_tasks_run_kind(tasks, kind, num_blocks, task, context);
    return;
  }
  bool outer = !inside && num_blocks > 1;
  double start = outer ? yw_seconds() : 0.0;
  inside = inside || outer;
  for (int32_t block = 0; block < num_blocks; ++block) task(context, block, 0);
  if (!outer) return;
  inside = false;
  double work = yw_seconds() - start, best = at_best(work, num_blocks);
  record.shared += work;
  record.at_best += best;
  record.jobs += best < work;
}

void __wrap_yw_tasks_run(yw_tasks* tasks, int32_t num_blocks, yw_task task, void* context) {
  __wrap_yw_tasks_run_kind(tasks, (yw_task_kind)task, num_blocks, task, context);
}
