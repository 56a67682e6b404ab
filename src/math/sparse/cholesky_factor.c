// SPDX-License-Identifier: MIT
// Multifrontal factorisation (Duff, Reid 1983; Liu 1992): a supernode sums its part of the matrix
// and the updates of its children, factorises its columns densely, and passes the rest to its
// parent. Subtrees run in parallel; above them, one front at a time is divided into fixed pieces.
// Children are added in a fixed order and every sum has one owner, so the bits never depend on the
// threads.
#include <string.h>

#include "math/sparse/cholesky_parts.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// Row blocks in one piece of a front.
#define PIECE_BLOCKS 16

typedef struct front_work {
  yw_cholesky* f;
  const yw_cholesky_fns* fns;
  const double* values;  // of the matrix
  yw_tasks* tasks;       // NULL inside a task
  int32_t s;
  yw_front front;
  double* panel;
  double* update;
  double* local;                   // updates that do not outlive the task
  int32_t strip_begin, strip_end;  // column blocks
  yw_strip strip;
} front_work;

void* yw_cholesky_raw_memory(const yw_allocator* mem, size_t count, size_t size) {
  if (count > SIZE_MAX / 2 / size) return NULL;
  yw_allocator hook = yw_mem_or_default(mem);
  return hook.alloc(hook.context, count > 0 ? count * size : size, 64);
}

static int32_t pieces_of(int32_t blocks) { return (blocks + PIECE_BLOCKS - 1) / PIECE_BLOCKS; }
static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

// Assembly ----------------------------------------------------------------------------------------

static size_t triangle_start(int32_t block) {
  size_t i = (size_t)block;
  return i * (i + 1) / 2 * 64;
}

static void clear_rows(void* context, int32_t piece, int32_t worker) {
  (void)worker;
  const front_work* work = context;
  int32_t begin = piece * PIECE_BLOCKS, end = smaller(begin + PIECE_BLOCKS, work->front.blocks);
  size_t step = 8 * (size_t)work->front.width;
  memset(work->panel + (size_t)begin * step, 0, (size_t)(end - begin) * step * sizeof(double));
  begin -= work->front.pivot_blocks;
  end -= work->front.pivot_blocks;
  if (begin < 0) begin = 0;
  if (end <= begin) return;
  size_t size = triangle_start(end) - triangle_start(begin);
  memset(work->update + triangle_start(begin), 0, size * sizeof(double));
}

static void add_matrix(const front_work* work) {
  const yw_cholesky* f = work->f;
  for (size_t e = f->entry_start[work->s]; e < f->entry_start[work->s + 1]; ++e) {
    work->panel[f->entry_target[e]] = work->values[f->entry_source[e]];
  }
  for (int32_t j = 0; j < work->front.width; ++j) {
    size_t place = (size_t)(j / 8) * 8 * (size_t)work->front.width + (size_t)(8 * j + j % 8);
    f->diagonal[work->front.first + j] = work->panel[place];
  }
}

// First of `count` ascending rows that is >= `row`.
static int32_t find_row(const int32_t* rows, int32_t count, int32_t row) {
  int32_t low = 0, high = count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (rows[middle] < row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Destination of 8 rows of a child in the parent's front: in the panel and in the update.
typedef struct row_targets {
  double* panel[8];
  double* update[8];
} row_targets;

// Adds from[8 * j + r] to row r of `count` rows, in the column of child row j, begin <= j < end.
static void add_columns(double* const* to, int32_t count, const double* from, const int32_t* rows,
                        int32_t skip, int32_t begin, int32_t end) {
  if (count == 8) {
    for (int32_t j = begin; j < end; ++j) {
      size_t column = 8 * (size_t)(rows[j] - skip);
      for (int r = 0; r < 8; ++r) to[r][column] += from[8 * (size_t)j + (size_t)r];
    }
    return;
  }
  for (int32_t j = begin; j < end; ++j) {
    size_t column = 8 * (size_t)(rows[j] - skip);
    for (int32_t r = 0; r < count; ++r) to[r][column] += from[8 * (size_t)j + (size_t)r];
  }
}

// Adds rows begin .. end - 1 of a child's update, all of one row block, to the front. rows: their
// destinations; the first `pivots` of them are columns of the panel.
static void add_child_block(const front_work* work, const double* child, const int32_t* rows,
                            int32_t pivots, int32_t begin, int32_t end) {
  int32_t padded = 8 * work->front.pivot_blocks, count = end - begin;
  size_t step = 8 * (size_t)work->front.width;
  const double* from = child + triangle_start(begin / 8) + begin % 8;
  row_targets to;
  for (int32_t r = 0; r < count; ++r) {
    int32_t row = rows[begin + r];
    to.panel[r] = work->panel + (size_t)(row / 8) * step + row % 8;
    to.update[r] = work->update;
    if (row >= padded) to.update[r] += triangle_start((row - padded) / 8) + (size_t)(row % 8);
  }
  // Columns common to all rows, then the corner of the triangle.
  int32_t common = begin + 1;
  add_columns(to.panel, count, from, rows, 0, 0, smaller(common, pivots));
  add_columns(to.update, count, from, rows, padded, pivots, common);
  for (int32_t r = 1; r < count; ++r) {
    int32_t last = common + r, split = pivots > common ? smaller(pivots, last) : common;
    add_columns(to.panel + r, 1, from + r, rows, 0, common, split);
    add_columns(to.update + r, 1, from + r, rows, padded, split, last);
  }
}

static const double* update_of(const front_work* work, int32_t s) {
  const yw_cholesky* f = work->f;
  return (f->is_local[s] ? work->local : f->updates) + f->update_start[s];
}

static void add_children(void* context, int32_t piece, int32_t worker) {
  (void)worker;
  const front_work* work = context;
  const yw_cholesky* f = work->f;
  int32_t row_begin = 8 * PIECE_BLOCKS * piece, row_end = row_begin + 8 * PIECE_BLOCKS;
  int32_t s = work->s;
  for (int32_t c = s - 1; c >= s - f->num_descendants[s]; c -= f->num_descendants[c] + 1) {
    const int32_t* rows = f->front_rows + f->row_start[c];
    int32_t count = (int32_t)(f->row_start[c + 1] - f->row_start[c]);
    int32_t begin = find_row(rows, count, row_begin), end = find_row(rows, count, row_end);
    if (begin == end) continue;
    int32_t pivots = find_row(rows, count, 8 * work->front.pivot_blocks);
    for (int32_t next; begin < end; begin = next) {
      next = smaller(begin / 8 * 8 + 8, end);
      add_child_block(work, update_of(work, c), rows, pivots, begin, next);
    }
  }
}

// Elimination -------------------------------------------------------------------------------------

static void update_strip_piece(void* context, int32_t piece, int32_t worker) {
  (void)worker;
  const front_work* work = context;
  int32_t begin = work->strip_begin + piece * PIECE_BLOCKS;
  const yw_tile_update job = {.panel = work->panel,
                              .width = work->front.width,
                              .end = 8 * work->strip_begin,
                              .row_begin = begin,
                              .row_end = smaller(begin + PIECE_BLOCKS, work->front.blocks),
                              .column_begin = work->strip_begin,
                              .column_end = work->strip_end,
                              .out = work->panel};
  work->fns->update(&job);
}

static void solve_strip_piece(void* context, int32_t piece, int32_t worker) {
  (void)worker;
  const front_work* work = context;
  int32_t begin = work->strip_end + piece * PIECE_BLOCKS;
  work->fns->solve_strip(work->panel, work->front.width, work->strip_begin, work->strip_end,
                         &work->strip, begin, smaller(begin + PIECE_BLOCKS, work->front.blocks));
}

// Piece number -> (row piece, column piece) of the lower triangle.
static void update_rest_piece(void* context, int32_t piece, int32_t worker) {
  (void)worker;
  const front_work* work = context;
  int32_t row = 0;
  while ((row + 1) * (row + 2) / 2 <= piece) ++row;
  int32_t column = piece - row * (row + 1) / 2;
  int32_t blocks = work->front.blocks - work->front.pivot_blocks;
  size_t skip = (size_t)work->front.pivot_blocks * 8 * (size_t)work->front.width;
  const yw_tile_update job = {.panel = work->panel + skip,
                              .width = work->front.width,
                              .end = work->front.width,
                              .row_begin = row * PIECE_BLOCKS,
                              .row_end = smaller((row + 1) * PIECE_BLOCKS, blocks),
                              .column_begin = column * PIECE_BLOCKS,
                              .column_end = smaller((column + 1) * PIECE_BLOCKS, blocks),
                              .out = work->update,
                              .packed = true};
  work->fns->update(&job);
}

// Returns the column (of the permuted matrix) whose pivot fails, or -1.
static int32_t eliminate(front_work* work) {
  const yw_front* front = &work->front;
  yw_cholesky* f = work->f;
  for (int32_t strip = 0; strip < front->pivot_blocks; strip += YW_CHOLESKY_STRIP) {
    work->strip_begin = strip;
    work->strip_end = smaller(strip + YW_CHOLESKY_STRIP, front->pivot_blocks);
    if (strip > 0) {
      yw_tasks_run(work->tasks, pieces_of(front->blocks - strip), update_strip_piece, work);
    }
    int32_t failed = work->fns->factor_strip(work->panel, front->width, strip, work->strip_end,
                                             f->diagonal + front->first,
                                             f->inv_diagonal + front->first, &work->strip);
    if (failed >= 0) return front->first + failed;
    yw_tasks_run(work->tasks, pieces_of(front->blocks - work->strip_end), solve_strip_piece, work);
  }
  int32_t pieces = pieces_of(front->blocks - front->pivot_blocks);
  yw_tasks_run(work->tasks, pieces * (pieces + 1) / 2, update_rest_piece, work);
  return -1;
}

static int32_t factor_front(front_work* work, int32_t s) {
  yw_cholesky* f = work->f;
  work->s = s;
  work->front = yw_front_of(f, s);
  work->panel = f->panels + f->panel_start[s];
  work->update = (f->is_local[s] ? work->local : f->updates) + f->update_start[s];
  int32_t pieces = pieces_of(work->front.blocks);
  yw_tasks_run(work->tasks, pieces, clear_rows, work);
  add_matrix(work);
  yw_tasks_run(work->tasks, pieces, add_children, work);
  return eliminate(work);
}

typedef struct factor_work {
  yw_cholesky* f;
  const yw_cholesky_fns* fns;
  const double* values;
} factor_work;

static void factor_task(void* context, int32_t task, int32_t worker) {
  const factor_work* all = context;
  front_work work = {.f = all->f, .fns = all->fns, .values = all->values};
  work.local = all->f->local_updates + (size_t)worker * all->f->local_size;
  int32_t failed = -1;
  for (int32_t s = all->f->task_first[task]; failed < 0 && s < all->f->task_end[task]; ++s) {
    failed = factor_front(&work, s);
  }
  all->f->failed_column[task] = failed;
}

static int32_t factor_all(yw_cholesky* f, const yw_sparse* matrix, yw_tasks* tasks) {
  const yw_cholesky_fns* fns = yw_cholesky_kernels(f->simd);
  factor_work all = {f, fns, matrix->values};
  yw_tasks_run(tasks, f->num_tasks, factor_task, &all);
  int32_t failed = -1;
  for (int32_t t = 0; t < f->num_tasks; ++t) {
    int32_t column = f->failed_column[t];
    if (column >= 0 && (failed < 0 || column < failed)) failed = column;
  }
  front_work work = {.f = f, .fns = fns, .values = matrix->values, .tasks = tasks};
  for (int32_t s = 0; failed < 0 && s < f->num_supernodes; ++s) {
    if (f->is_top[s]) failed = factor_front(&work, s);
  }
  return failed;
}

// Memory and entry points -------------------------------------------------------------------------

static bool allocate_numbers(yw_cholesky* f, int32_t workers) {
  const yw_allocator* mem = &f->mem;
  if (workers > f->local_workers) {
    yw_mem_free(mem, f->local_updates);
    f->local_updates = yw_cholesky_raw_memory(mem, (size_t)workers * f->local_size, sizeof(double));
    f->local_workers = f->local_updates ? workers : 0;
  }
  size_t panel_size = f->panel_start[f->num_supernodes], n = (size_t)f->size;
  if (!f->panels) f->panels = yw_cholesky_raw_memory(mem, panel_size, sizeof(double));
  if (!f->inv_diagonal) f->inv_diagonal = YW_NEW_ARRAY(mem, double, n);
  if (!f->updates) f->updates = yw_cholesky_raw_memory(mem, f->update_size, sizeof(double));
  if (!f->diagonal) f->diagonal = YW_NEW_ARRAY(mem, double, n);
  if (!f->failed_column) f->failed_column = YW_NEW_ARRAY(mem, int32_t, f->num_tasks);
  return f->panels && f->inv_diagonal && f->updates && f->local_updates && f->diagonal &&
         f->failed_column;
}

static void drop_double(yw_cholesky* f) {
  yw_mem_free(&f->mem, f->panels);
  yw_mem_free(&f->mem, f->inv_diagonal);
  f->panels = f->inv_diagonal = NULL;
  f->has_double = false;
}

static void drop_float(yw_cholesky* f) {
  yw_mem_free(&f->mem, f->panels32);
  yw_mem_free(&f->mem, f->inv_diagonal32);
  f->panels32 = f->inv_diagonal32 = NULL;
  f->has_float = false;
}

void yw_cholesky_trim(yw_cholesky* factor, bool keep_double) {
  yw_mem_free(&factor->mem, factor->updates);
  yw_mem_free(&factor->mem, factor->local_updates);
  yw_mem_free(&factor->mem, factor->diagonal);
  yw_mem_free(&factor->mem, factor->failed_column);
  factor->updates = factor->local_updates = factor->diagonal = NULL;
  factor->local_workers = 0;
  factor->failed_column = NULL;
  if (!keep_double && factor->has_float) drop_double(factor);
}

static yw_status round_factor(yw_cholesky* f, yw_error* error) {
  size_t panel_size = f->panel_start[f->num_supernodes], n = (size_t)f->size;
  if (!f->panels32) f->panels32 = yw_cholesky_raw_memory(&f->mem, panel_size, sizeof(float));
  if (!f->inv_diagonal32) f->inv_diagonal32 = YW_NEW_ARRAY(&f->mem, float, n);
  if (!f->panels32 || !f->inv_diagonal32) {
    drop_float(f);
    return yw_fail_memory(error, "the float copy of a factor");
  }
  for (size_t k = 0; k < panel_size; ++k) f->panels32[k] = (float)f->panels[k];
  for (size_t k = 0; k < n; ++k) f->inv_diagonal32[k] = (float)f->inv_diagonal[k];
  f->has_float = true;
  return YW_OK;
}

yw_status yw_cholesky_round(yw_cholesky* factor, yw_error* error) {
  if (!factor->has_double) {
    return yw_fail(error, YW_ERR_INVALID, "Cholesky: there is no factor to round");
  }
  return round_factor(factor, error);
}

yw_status yw_cholesky_factorise(yw_cholesky* factor, const yw_sparse* matrix, yw_tasks* tasks,
                                yw_error* error) {
  if (matrix->size != factor->size || matrix->start[matrix->size] != factor->pattern_entries ||
      yw_cholesky_pattern_hash(matrix) != factor->pattern_hash) {
    return yw_fail(error, YW_ERR_INVALID,
                   "Cholesky: the matrix has %d rows and %d entries and not the pattern that was "
                   "analysed (%d rows, %d entries); analyse it first",
                   (int)matrix->size, (int)matrix->start[matrix->size], (int)factor->size,
                   (int)factor->pattern_entries);
  }
  if (!allocate_numbers(factor, yw_tasks_workers(tasks)))
    return yw_fail_memory(error, "a sparse factor");
  bool refresh_float = factor->has_float;
  factor->has_double = factor->has_float = false;
  int32_t failed = factor_all(factor, matrix, tasks);
  if (failed >= 0) {
    return yw_fail(error, YW_ERR_DIVERGED,
                   "Cholesky: the matrix is not positive definite: row %d (diagonal %g) has no "
                   "positive pivot; a body without pins, or a stiffness that is not positive?",
                   (int)factor->order[failed], factor->diagonal[failed]);
  }
  factor->has_double = true;
  return refresh_float ? round_factor(factor, error) : YW_OK;
}

void yw_cholesky_destroy(yw_cholesky* factor) {
  if (!factor) return;
  yw_cholesky_trim(factor, true);
  drop_double(factor);
  drop_float(factor);
  yw_allocator mem = factor->mem;
  yw_mem_free(&mem, factor->order);
  yw_mem_free(&mem, factor->place);
  yw_mem_free(&mem, factor->first);
  yw_mem_free(&mem, factor->parent);
  yw_mem_free(&mem, factor->num_descendants);
  yw_mem_free(&mem, factor->row_start);
  yw_mem_free(&mem, factor->rows);
  yw_mem_free(&mem, factor->front_rows);
  yw_mem_free(&mem, factor->solve_rows);
  yw_mem_free(&mem, factor->panel_start);
  yw_mem_free(&mem, factor->update_start);
  yw_mem_free(&mem, factor->is_top);
  yw_mem_free(&mem, factor->is_local);
  yw_mem_free(&mem, factor->entry_start);
  yw_mem_free(&mem, factor->entry_source);
  yw_mem_free(&mem, factor->entry_target);
  yw_mem_free(&mem, factor->task_first);
  yw_mem_free(&mem, factor->task_end);
  yw_mem_free(&mem, factor);
}

yw_cholesky_stats yw_cholesky_get_stats(const yw_cholesky* factor) {
  size_t panel_size = factor->panel_start[factor->num_supernodes];
  size_t scratch = factor->update_size + (size_t)factor->local_workers * factor->local_size;
  return (yw_cholesky_stats){.size = factor->size,
                             .num_supernodes = factor->num_supernodes,
                             .num_tasks = factor->num_tasks,
                             .entries = factor->entries,
                             .flops = factor->flops,
                             .factor_bytes = panel_size * sizeof(double),
                             .scratch_bytes = scratch * sizeof(double)};
}

const int32_t* yw_cholesky_get_order(const yw_cholesky* factor) { return factor->order; }

extern const yw_cholesky_fns yw_cholesky_table_plain;
#ifdef YW_HAVE_X86_KERNELS
extern const yw_cholesky_fns yw_cholesky_table_avx2, yw_cholesky_table_avx512;
#endif

const yw_cholesky_fns* yw_cholesky_kernels(yw_simd level) {
  return YW_KERNEL_PICK(yw_cholesky_table, level);
}
