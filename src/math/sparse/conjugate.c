// SPDX-License-Identifier: MIT
// The new direction uses Polak and Ribiere's beta in place of Fletcher and Reeves': the two agree
// for exact arithmetic, but the first forgives a preconditioner that is symmetric only to float
// precision or changes a little from call to call (Golub, Ye 1999).
#include "math/sparse/conjugate.h"

#include <math.h>
#include <string.h>

#include "yawara/extend/memory.h"

// Floats in a block: the unit of work and of summation.
#define BLOCK 4096

struct yw_conjugate {
  yw_allocator mem;
  int32_t count;
  float* x[3];  // iterates: best, current and next, in turns
  float* residual;
  float* direction;
  float* product;         // A direction
  float* preconditioned;  // residual
  double* partial;        // 2 sums for each block
};

yw_conjugate_limits yw_conjugate_default_limits(void) {
  return (yw_conjugate_limits){.tolerance = 1e-4, .max_iterations = 200, .patience = 30};
}

void yw_conjugate_destroy(yw_conjugate* solver) {
  if (!solver) return;
  yw_allocator mem = solver->mem;
  for (int k = 0; k < 3; ++k) yw_mem_free(&mem, solver->x[k]);
  yw_mem_free(&mem, solver->residual);
  yw_mem_free(&mem, solver->direction);
  yw_mem_free(&mem, solver->product);
  yw_mem_free(&mem, solver->preconditioned);
  yw_mem_free(&mem, solver->partial);
  yw_mem_free(&mem, solver);
}

yw_conjugate* yw_conjugate_create(const yw_allocator* mem, int32_t count) {
  if (count < 0) return NULL;
  yw_conjugate* solver = YW_NEW(mem, yw_conjugate);
  if (!solver) return NULL;
  solver->mem = yw_mem_or_default(mem);
  solver->count = count;
  float** vectors[] = {&solver->x[0],          &solver->x[1],      &solver->x[2],
                       &solver->residual,      &solver->direction, &solver->product,
                       &solver->preconditioned};
  bool done = true;
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) {
    *vectors[k] = YW_NEW_ARRAY(mem, float, count);
    done = done && *vectors[k];
  }
  solver->partial = YW_NEW_ARRAY(mem, double, 2 * yw_block_dot_partials(count));
  if (!done || !solver->partial) {
    yw_conjugate_destroy(solver);
    return NULL;
  }
  return solver;
}

// Sums --------------------------------------------------------------------------------------------

int32_t yw_block_dot_partials(int32_t count) { return count / BLOCK + (count % BLOCK != 0); }

static double sum_of_lanes(const double* s) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

// Eight sums side by side: short chains of additions, and a fixed order.
static double dot_range(const float* a, const float* b, int32_t count) {
  double sums[8] = {0};
  int32_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; ++lane) {
      sums[lane] += (double)a[i + lane] * (double)b[i + lane];
    }
  }
  for (; i < count; ++i) sums[i % 8] += (double)a[i] * (double)b[i];
  return sum_of_lanes(sums);
}

static double sum_partials(const double* partial, int32_t blocks, int32_t stride) {
  double sum = 0.0;
  for (int32_t k = 0; k < blocks; ++k) sum += partial[k * stride];
  return sum;
}

typedef struct vector_work {
  int32_t count;
  const float *a, *b, *c;
  const float* from;
  float *to, *change;
  float factor;
  double* partial;
} vector_work;

static int32_t block_range(int32_t count, int32_t block, int32_t* begin) {
  *begin = block * BLOCK;
  return count - *begin < BLOCK ? count - *begin : BLOCK;
}

static void dot_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const vector_work* w = context;
  int32_t begin, length = block_range(w->count, block, &begin);
  w->partial[block] = dot_range(w->a + begin, w->b + begin, length);
}

// a . b and a . c
static void two_dots_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const vector_work* w = context;
  int32_t begin, length = block_range(w->count, block, &begin);
  w->partial[2 * block] = dot_range(w->a + begin, w->b + begin, length);
  w->partial[2 * block + 1] = dot_range(w->a + begin, w->c + begin, length);
}

// to = from + factor a; change -= factor b; partial = change . change
static void advance_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const vector_work* w = context;
  int32_t begin, length = block_range(w->count, block, &begin);
  const float *from = w->from + begin, *a = w->a + begin, *b = w->b + begin;
  float *to = w->to + begin, *change = w->change + begin;
  for (int32_t i = 0; i < length; ++i) to[i] = from[i] + w->factor * a[i];
  for (int32_t i = 0; i < length; ++i) change[i] -= w->factor * b[i];
  w->partial[block] = dot_range(change, change, length);
}

// to = from + factor to
static void turn_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const vector_work* w = context;
  int32_t begin, length = block_range(w->count, block, &begin);
  const float* from = w->from + begin;
  float* to = w->to + begin;
  for (int32_t i = 0; i < length; ++i) to[i] = from[i] + w->factor * to[i];
}

double yw_block_dot(yw_tasks* tasks, int32_t count, const float* a, const float* b,
                    double* partial) {
  vector_work w = {.count = count, .a = a, .b = b, .partial = partial};
  int32_t blocks = yw_block_dot_partials(count);
  yw_tasks_run(tasks, blocks, dot_block, &w);
  return sum_partials(partial, blocks, 1);
}

// Iteration ---------------------------------------------------------------------------------------

typedef struct iteration {
  yw_conjugate* s;
  yw_tasks* tasks;
  const yw_conjugate_system* system;
  int32_t blocks;
  double rz;                  // residual . preconditioned
  double norm2, best;         // |r|^2 now, and the smallest so far
  int current, next, best_x;  // which of s->x
} iteration;

static void precondition(const iteration* it) {
  yw_conjugate* s = it->s;
  if (it->system->precondition) {
    it->system->precondition(it->system->context, it->tasks, s->residual, s->preconditioned);
  } else {
    memcpy(s->preconditioned, s->residual, (size_t)s->count * sizeof(float));
  }
}

// r = b - A x, where the product is spared for x = 0. Returns |r|^2.
static double first_residual(iteration* it, const float* b) {
  yw_conjugate* s = it->s;
  double size = yw_block_dot(it->tasks, s->count, s->x[0], s->x[0], s->partial);
  if (size == 0.0) {
    memcpy(s->residual, b, (size_t)s->count * sizeof(float));
  } else {
    it->system->multiply(it->system->context, it->tasks, s->x[0], s->product);
    for (int32_t i = 0; i < s->count; ++i) s->residual[i] = b[i] - s->product[i];
  }
  return yw_block_dot(it->tasks, s->count, s->residual, s->residual, s->partial);
}

// One step along the direction. False when the system is not positive definite; alpha is set.
static bool advance(iteration* it, double* alpha) {
  yw_conjugate* s = it->s;
  it->system->multiply(it->system->context, it->tasks, s->direction, s->product);
  double curvature = yw_block_dot(it->tasks, s->count, s->direction, s->product, s->partial);
  if (!(curvature > 0.0)) {
    it->norm2 = curvature;  // NaN is told from negative by the caller
    return false;
  }
  *alpha = it->rz / curvature;
  vector_work w = {.count = s->count,
                   .from = s->x[it->current],
                   .to = s->x[it->next],
                   .a = s->direction,
                   .b = s->product,
                   .change = s->residual,
                   .factor = (float)*alpha,
                   .partial = s->partial};
  yw_tasks_run(it->tasks, it->blocks, advance_block, &w);
  it->norm2 = sum_partials(s->partial, it->blocks, 1);
  return true;
}

// The next direction. False when the preconditioner is not positive definite.
static bool turn(iteration* it, double alpha) {
  yw_conjugate* s = it->s;
  precondition(it);
  vector_work w = {.count = s->count,
                   .a = s->preconditioned,
                   .b = s->residual,
                   .c = s->product,
                   .from = s->preconditioned,
                   .to = s->direction,
                   .partial = s->partial};
  yw_tasks_run(it->tasks, it->blocks, two_dots_block, &w);
  double rz = sum_partials(s->partial, it->blocks, 2);
  double zq = sum_partials(s->partial + 1, it->blocks, 2);
  // z . (r_new - r_old) = -alpha z . A p; below zero means: start afresh from z.
  double beta = -alpha * zq / it->rz;
  w.factor = (float)(beta > 0.0 ? beta : 0.0);
  it->rz = rz;
  if (!(rz > 0.0)) return false;
  yw_tasks_run(it->tasks, it->blocks, turn_block, &w);
  return true;
}

// The next iterate becomes the current one, and the best one if it is.
static bool accept(iteration* it) {
  it->current = it->next;
  bool better = it->norm2 < it->best;
  if (better) {
    it->best = it->norm2;
    it->best_x = it->next;
  }
  for (int k = 0; k < 3; ++k) {
    if (k != it->current && k != it->best_x) it->next = k;
  }
  return better;
}

static yw_conjugate_end iterate(iteration* it, const yw_conjugate_limits* limits, double goal2,
                                int32_t* iterations) {
  if (it->best <= goal2) return YW_CONJUGATE_CONVERGED;
  yw_conjugate* s = it->s;
  precondition(it);
  memcpy(s->direction, s->preconditioned, (size_t)s->count * sizeof(float));
  it->rz = yw_block_dot(it->tasks, s->count, s->residual, s->preconditioned, s->partial);
  if (!(it->rz > 0.0)) return isfinite(it->rz) ? YW_CONJUGATE_INDEFINITE : YW_CONJUGATE_NOT_FINITE;

  int32_t without_gain = 0;
  while (*iterations < limits->max_iterations) {
    double alpha = 0.0;
    ++*iterations;
    bool advanced = advance(it, &alpha);
    if (!isfinite(it->norm2)) return YW_CONJUGATE_NOT_FINITE;
    if (!advanced) return YW_CONJUGATE_INDEFINITE;
    without_gain = accept(it) ? 0 : without_gain + 1;
    if (it->best <= goal2) return YW_CONJUGATE_CONVERGED;
    if (without_gain >= limits->patience) return YW_CONJUGATE_STALLED;
    if (!turn(it, alpha)) {
      return isfinite(it->rz) ? YW_CONJUGATE_INDEFINITE : YW_CONJUGATE_NOT_FINITE;
    }
  }
  return YW_CONJUGATE_LIMIT;
}

yw_conjugate_report yw_conjugate_solve(yw_conjugate* solver, yw_tasks* tasks,
                                       const yw_conjugate_system* system,
                                       const yw_conjugate_limits* limits, const float* b,
                                       float* x) {
  const yw_conjugate_limits defaults = yw_conjugate_default_limits();
  if (!limits) limits = &defaults;
  size_t bytes = (size_t)solver->count * sizeof(float);
  iteration it = {.s = solver,
                  .tasks = tasks,
                  .system = system,
                  .blocks = yw_block_dot_partials(solver->count),
                  .next = 1};
  yw_conjugate_report report = {.end = YW_CONJUGATE_CONVERGED};
  double scale2 = yw_block_dot(tasks, solver->count, b, b, solver->partial);
  if (scale2 == 0.0) {
    memset(x, 0, bytes);
    return report;
  }
  memcpy(solver->x[0], x, bytes);
  it.best = it.norm2 = first_residual(&it, b);
  report.start_residual = report.residual = sqrt(it.best / scale2);
  if (!isfinite(it.best) || !isfinite(scale2)) {
    report.end = YW_CONJUGATE_NOT_FINITE;
    return report;
  }
  report.end =
      iterate(&it, limits, limits->tolerance * limits->tolerance * scale2, &report.iterations);
  report.residual = sqrt(it.best / scale2);
  memcpy(x, solver->x[it.best_x], bytes);
  return report;
}
