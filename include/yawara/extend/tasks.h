// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// A thread pool that runs numbered blocks of work. Any worker may run any block, so a block's work
// must not depend on its worker: results never depend on the number of workers.
#ifndef YAWARA_EXTEND_TASKS_H
#define YAWARA_EXTEND_TASKS_H

#include "../base.h"

typedef struct yw_tasks yw_tasks;

/// Processes block number `block`. worker is 0 (the caller) to workers - 1, for scratch memory
/// only.
typedef void (*yw_task)(void* context, int32_t block, int32_t worker);

/// threads includes the calling thread; 0: one per core. NULL on failure.
YW_API yw_tasks* yw_tasks_create(const yw_allocator* mem, int32_t threads);
/// Starts no threads: the caller's jobs do the work. jobs is copied; jobs->run must not be NULL.
YW_API yw_tasks* yw_tasks_create_on(const yw_allocator* mem, const yw_jobs* jobs);
YW_API void yw_tasks_destroy(yw_tasks* tasks);
/// 1 for NULL.
YW_API int32_t yw_tasks_workers(const yw_tasks* tasks);
/// Runs blocks 0 .. num_blocks-1 and returns when all are done. If tasks is NULL, or inside a
/// block, they run one after another on the calling thread.
YW_API void yw_tasks_run(yw_tasks* tasks, int32_t num_blocks, yw_task task, void* context);

/// Tells kinds of work apart: the address of a function.
typedef void (*yw_task_kind)(void);
/// The same for a task that does different work by its context. The pool remembers how long blocks
/// of a kind took, and asks more workers only where they end sooner.
YW_API void yw_tasks_run_kind(yw_tasks* tasks, yw_task_kind kind, int32_t num_blocks, yw_task task,
                              void* context);

YW_API int32_t yw_cpu_count(void);

#endif
