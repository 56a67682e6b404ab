// SPDX-License-Identifier: MIT
// Solves: L y = b from the leaves up, L^T x = y from the root down, with the same loops in float
// and double. Subtrees run in parallel; fronts above them are divided by rows on the way up and by
// columns on the way down, into pieces that never depend on the threads.
#include <string.h>

#include "math/sparse/cholesky_parts.h"
#include "yawara/extend/memory.h"

// Row blocks (up) and column blocks (down) per piece.
#define ROW_PIECE 32
#define COLUMN_PIECE (YW_SOLVE_GROUP_COLUMNS / 8)

// Unknowns per piece of a permutation.
#define VECTOR_PIECE 8192
#define SOLVE_MAX_COLUMNS 6

static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

// Rows of scratch memory per worker: sums of a piece, and the rows of a front.
static size_t scratch_rows(const yw_cholesky* f) { return (size_t)f->max_rows + 8 * ROW_PIECE; }

// The inner loops exist for 1, 2, 3, 4 and 6 columns.
static int32_t columns_at_once(int32_t left) { return left >= 6 ? 6 : left == 5 ? 3 : left; }

#define SOLVE_JOIN2(a, b) a##_##b
#define SOLVE_JOIN(a, b) SOLVE_JOIN2(a, b)
#define SOLVE(name) SOLVE_JOIN(name, SOLVE_SUFFIX)

#define SOLVE_SUFFIX f64
#define SOLVE_REAL double
#define SOLVE_PANELS panels
#define SOLVE_INVERSE inv_diagonal
#define SOLVE_FORWARD forward
#define SOLVE_BACKWARD backward
#include "math/sparse/cholesky_solve_tree.h"
#undef SOLVE_SUFFIX
#undef SOLVE_REAL
#undef SOLVE_PANELS
#undef SOLVE_INVERSE
#undef SOLVE_FORWARD
#undef SOLVE_BACKWARD

#define SOLVE_SUFFIX f32
#define SOLVE_REAL float
#define SOLVE_PANELS panels32
#define SOLVE_INVERSE inv_diagonal32
#define SOLVE_FORWARD forward32
#define SOLVE_BACKWARD backward32
#include "math/sparse/cholesky_solve_tree.h"

size_t yw_cholesky_scratch(const yw_cholesky* factor, int32_t columns, const yw_tasks* tasks) {
  size_t workers = (size_t)yw_tasks_workers(tasks);
  size_t at_once = (size_t)(columns < SOLVE_MAX_COLUMNS ? columns : SOLVE_MAX_COLUMNS);
  return at_once * ((size_t)factor->solve_size + 8 + (workers + 1) * scratch_rows(factor));
}

bool yw_cholesky_solve(const yw_cholesky* factor, yw_tasks* tasks, int32_t columns, int32_t stride,
                       const double* b, double* x, double* scratch) {
  if (!factor->has_double || columns < 0 || stride < columns) return false;
  for (int32_t c = 0; c < columns;) {
    int32_t count = columns_at_once(columns - c);
    solve_columns_f64(factor, tasks, count, stride, b + c, x + c, scratch);
    c += count;
  }
  return true;
}

bool yw_cholesky_solve_f32(const yw_cholesky* factor, yw_tasks* tasks, int32_t columns,
                           int32_t stride, const float* b, float* x, float* scratch) {
  if (!factor->has_float || columns < 0 || stride < columns) return false;
  for (int32_t c = 0; c < columns;) {
    int32_t count = columns_at_once(columns - c);
    solve_columns_f32(factor, tasks, count, stride, b + c, x + c, scratch);
    c += count;
  }
  return true;
}
