// SPDX-License-Identifier: MIT
#include "contact/surfaces/sweep.h"

// Batches per task, if they have few contacts.
#define BATCHES_PER_TASK 8
#define FEW_CONTACTS 64
// Fewer batches than this, with fewer contacts, are not worth waking threads for.
#define MIN_PARALLEL 32
#define MIN_PARALLEL_CONTACTS 1024

typedef struct sweep {
  const yw_contact_problem* problem;
  yw_batch_visit visit;
  yw_row_kind kind;
  yw_sweep_way way;
  int32_t first, end;  // batches
  int32_t per_task;
} sweep;

// Batches one by one ----------------------------------------------------------------------------

static void sweep_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const sweep* job = context;
  int32_t first = job->first + block * job->per_task;
  int32_t end = first + job->per_task < job->end ? first + job->per_task : job->end;
  for (int32_t i = first; i < end; ++i) job->visit(job->problem, &job->problem->batches[i]);
}

// Threads for the batches of a color; NULL: this one alone.
static yw_tasks* tasks_of(const yw_contact_problem* problem, int32_t color) {
  int32_t count = problem->color_start[color + 1] - problem->color_start[color];
  bool serial = count < MIN_PARALLEL && problem->color_rows[color] < MIN_PARALLEL_CONTACTS;
  return serial || color == YW_CONTACT_MAX_COLORS ? NULL : problem->tasks;
}

// Visits every batch of one color.
static void sweep_color(const yw_contact_problem* problem, yw_batch_visit visit, int32_t color,
                        yw_tasks* tasks) {
  sweep job = {.problem = problem,
               .visit = visit,
               .first = problem->color_start[color],
               .end = problem->color_start[color + 1],
               .per_task = BATCHES_PER_TASK};
  int32_t count = job.end - job.first;
  if (count == 0) return;
  if (problem->color_rows[color] > FEW_CONTACTS * count) job.per_task = 1;
  yw_tasks_run(tasks, (count + job.per_task - 1) / job.per_task, sweep_block, &job);
}

void yw_sweep_all(const yw_contact_problem* problem, yw_batch_visit visit) {
  for (int32_t k = 0; k <= YW_CONTACT_MAX_COLORS; ++k) {
    sweep_color(problem, visit, k, tasks_of(problem, k));
  }
}

static void sweep_found_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const sweep* job = context;
  const yw_contact_problem* problem = job->problem;
  int32_t end = (block + 1) * BATCHES_PER_TASK;
  for (int32_t i = block * BATCHES_PER_TASK; i < end && i < job->end; ++i) {
    job->visit(problem, &problem->batches[problem->found_order[i]]);
  }
}

void yw_sweep_found(const yw_contact_problem* problem, yw_batch_visit visit) {
  int32_t count = problem->color_start[YW_CONTACT_MAX_COLORS + 1], rows = 0;
  for (int32_t k = 0; k <= YW_CONTACT_MAX_COLORS; ++k) rows += problem->color_rows[k];
  bool serial = count < MIN_PARALLEL && rows < MIN_PARALLEL_CONTACTS;
  sweep job = {.problem = problem, .visit = visit, .end = count};
  yw_tasks_run(serial ? NULL : problem->tasks, (count + BATCHES_PER_TASK - 1) / BATCHES_PER_TASK,
               sweep_found_block, &job);
}

void yw_sweep_wholes(const yw_contact_problem* problem, yw_batch_visit visit) {
  for (int32_t k = 0; k <= YW_CONTACT_MAX_COLORS; ++k) {
    sweep_color(problem, visit, k, problem->divided ? NULL : tasks_of(problem, k));
  }
}

// Batches in lanes ------------------------------------------------------------------------------

// Counts beyond this are not told apart.
#define MOST_ROWS 63

// Batches of one color that have equally many rows come together.
static void sort_color(const yw_contact_problem* problem, int32_t first, int32_t end) {
  if (first == end) return;
  int32_t next[MOST_ROWS + 2] = {0};
  for (int32_t i = first; i < end; ++i) {
    int32_t count = yw_sweep_num_rows(problem, &problem->batches[i]);
    ++next[MOST_ROWS + 1 - (count < MOST_ROWS ? count : MOST_ROWS)];
  }
  for (int32_t k = 0; k <= MOST_ROWS; ++k) next[k + 1] += next[k];
  for (int32_t i = first; i < end; ++i) {
    int32_t count = yw_sweep_num_rows(problem, &problem->batches[i]);
    problem->lane_order[first + next[MOST_ROWS - (count < MOST_ROWS ? count : MOST_ROWS)]++] = i;
  }
}

void yw_sweep_sort(const yw_contact_problem* problem) {
  const int32_t* starts = problem->color_start;
  for (int32_t k = 0; k < YW_CONTACT_MAX_COLORS; ++k) {
    sort_color(problem, starts[k], starts[k + 1]);
  }
  // Those of the last color are visited in order.
  for (int32_t i = starts[YW_CONTACT_MAX_COLORS]; i < starts[YW_CONTACT_MAX_COLORS + 1]; ++i) {
    problem->lane_order[i] = i;
  }
}

// Batches first .. end - 1 of the order, each in a lane.
static yw_row_lanes lanes_of(const sweep* job, int32_t first, int32_t end) {
  const yw_contact_problem* problem = job->problem;
  yw_row_lanes lanes = {.count = end - first};
  for (int32_t i = first; i < end; ++i) {
    const yw_contact_batch* batch = &problem->batches[problem->lane_order[i]];
    bool velocities = job->kind == YW_ROWS_VELOCITIES;
    lanes.rows[i - first] = batch->rows;
    lanes.counts[i - first] = velocities ? yw_sweep_num_rows(problem, batch) : batch->count;
  }
  return lanes;
}

static void sweep_lanes(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const sweep* job = context;
  const yw_contact_problem* problem = job->problem;
  int32_t first = job->first + block * job->per_task;
  int32_t end = first + job->per_task < job->end ? first + job->per_task : job->end;
  yw_row_lanes lanes = lanes_of(job, first, end);
  yw_row_lanes_visit(problem->row_fns, &lanes, job->kind, job->way != YW_SWEEP_FORTH);
  if (job->way != YW_SWEEP_BACK_LAST) return;
  for (int32_t i = first; i < end; ++i) {
    yw_contact_batch* batch = &problem->batches[problem->lane_order[i]];
    yw_contact_measure(batch->rows, batch->searches, lanes.counts[i - first], &batch->step2,
                       &batch->size2);
  }
}

// As many batches as a register has lanes, but something for every thread.
static int32_t lanes_per_task(const yw_contact_problem* problem, int32_t color, yw_tasks* tasks) {
  if (color == YW_CONTACT_MAX_COLORS) return 1;
  int32_t count = problem->color_start[color + 1] - problem->color_start[color];
  int32_t workers = tasks ? yw_tasks_workers(tasks) : 1, most = problem->row_fns->lanes;
  int32_t share = (count + workers - 1) / workers;
  return share < most ? share : most;
}

void yw_sweep_rows(const yw_contact_problem* problem, yw_row_kind kind, yw_sweep_way way) {
  for (int32_t k = 0; k <= YW_CONTACT_MAX_COLORS; ++k) {
    int32_t color = way == YW_SWEEP_FORTH ? k : YW_CONTACT_MAX_COLORS - k;
    sweep job = {.problem = problem,
                 .kind = kind,
                 .way = way,
                 .first = problem->color_start[color],
                 .end = problem->color_start[color + 1]};
    int32_t count = job.end - job.first;
    if (count == 0) continue;
    yw_tasks* tasks = tasks_of(problem, color);
    job.per_task = lanes_per_task(problem, color, tasks);
    yw_tasks_run(tasks, (count + job.per_task - 1) / job.per_task, sweep_lanes, &job);
  }
}

void yw_sweep_begin(yw_contact_problem* problem) {
  for (int32_t k = 0; k <= YW_CONTACT_MAX_COLORS; ++k) {
    problem->color_rows[k] = 0;
    for (int32_t i = problem->color_start[k]; i < problem->color_start[k + 1]; ++i) {
      problem->color_rows[k] += problem->batches[i].count;
    }
  }
}
