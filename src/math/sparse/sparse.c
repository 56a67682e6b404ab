// SPDX-License-Identifier: MIT
#include "math/sparse/sparse.h"

#include <math.h>
#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define ROWS_PER_BLOCK 512
// Asymmetry up to this fraction of sqrt(a_ii a_jj) is attributed to rounding in the assembly.
#define MAX_ASYMMETRY 1e-10

void yw_sparse_free(yw_sparse* matrix) {
  yw_mem_free(&matrix->mem, matrix->start);
  yw_mem_free(&matrix->mem, matrix->columns);
  yw_mem_free(&matrix->mem, matrix->values);
  *matrix = (yw_sparse){0};
}

// Checks ------------------------------------------------------------------------------------------

static yw_status check_rows(const yw_sparse* a, yw_error* error) {
  if (a->size < 0 || a->start[0] != 0) {
    return yw_fail(error, YW_ERR_INVALID, "sparse matrix: %d rows starting at entry %d",
                   (int)a->size, (int)a->start[0]);
  }
  for (int32_t i = 0; i < a->size; ++i) {
    if (a->start[i + 1] < a->start[i]) {
      return yw_fail(error, YW_ERR_INVALID, "sparse matrix: row %d ends before it starts", (int)i);
    }
    for (int32_t k = a->start[i]; k < a->start[i + 1]; ++k) {
      int32_t j = a->columns[k];
      if (j < 0 || j >= a->size) {
        return yw_fail(error, YW_ERR_INVALID,
                       "sparse matrix: row %d has column %d, but there are %d columns", (int)i,
                       (int)j, (int)a->size);
      }
      if (k > a->start[i] && j <= a->columns[k - 1]) {
        return yw_fail(error, YW_ERR_INVALID,
                       "sparse matrix: row %d has column %d after column %d; columns must ascend",
                       (int)i, (int)j, (int)a->columns[k - 1]);
      }
      if (!isfinite(a->values[k])) {
        return yw_fail(error, YW_ERR_INVALID, "sparse matrix: entry (%d, %d) is %g", (int)i, (int)j,
                       a->values[k]);
      }
    }
  }
  return YW_OK;
}

static double diagonal(const yw_sparse* a, int32_t i) {
  int32_t low = a->start[i], high = a->start[i + 1];
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (a->columns[middle] < i) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < a->start[i + 1] && a->columns[low] == i ? a->values[low] : 0.0;
}

static bool symmetric_values(const yw_sparse* a, int32_t i, int32_t j, double ij, double ji) {
  double difference = fabs(ij - ji);
  if (difference <= MAX_ASYMMETRY * (fabs(ij) + fabs(ji))) return true;
  return difference <= MAX_ASYMMETRY * sqrt(fabs(diagonal(a, i) * diagonal(a, j)));
}

// Rows ascend: when row i looks up its mirror in row j, that must be the first entry of row j that
// no earlier row has looked up. cursor has a->size entries.
static yw_status check_symmetry(const yw_sparse* a, int32_t* cursor, yw_error* error) {
  memcpy(cursor, a->start, (size_t)a->size * sizeof *cursor);
  for (int32_t i = 0; i < a->size; ++i) {
    for (int32_t k = a->start[i]; k < a->start[i + 1]; ++k) {
      int32_t j = a->columns[k], mirror = cursor[j]++;
      if (mirror >= a->start[j + 1] || a->columns[mirror] != i) {
        return yw_fail(error, YW_ERR_INVALID,
                       "sparse matrix: the pattern is not symmetric near entry (%d, %d)", (int)i,
                       (int)j);
      }
      if (j < i && !symmetric_values(a, i, j, a->values[k], a->values[mirror])) {
        return yw_fail(error, YW_ERR_INVALID,
                       "sparse matrix: entry (%d, %d) is %.17g, but (%d, %d) is %.17g", (int)i,
                       (int)j, a->values[k], (int)j, (int)i, a->values[mirror]);
      }
    }
  }
  return YW_OK;
}

yw_status yw_sparse_check(const yw_allocator* mem, const yw_sparse* matrix, yw_error* error) {
  if (!matrix->start || !matrix->columns || !matrix->values) {
    return yw_fail(error, YW_ERR_INVALID, "sparse matrix: arrays are missing");
  }
  yw_status status = check_rows(matrix, error);
  if (status != YW_OK) return status;
  int32_t* cursor = YW_NEW_ARRAY(mem, int32_t, matrix->size);
  if (!cursor) return yw_fail_memory(error, "the check of a sparse matrix");
  status = check_symmetry(matrix, cursor, error);
  yw_mem_free(mem, cursor);
  return status;
}

// Triplets ----------------------------------------------------------------------------------------

typedef struct triplets {
  int32_t size, count;
  const int32_t* rows;
  const int32_t* columns;
  const double* values;
  bool mirror;
} triplets;

static yw_status check_triplets(const triplets* in, yw_error* error) {
  if (in->size < 0 || in->count < 0) {
    return yw_fail(error, YW_ERR_INVALID, "sparse matrix: %d rows and %d triplets", (int)in->size,
                   (int)in->count);
  }
  if (in->count > INT32_MAX / 2) {
    return yw_fail(error, YW_ERR_LIMIT, "sparse matrix: %d triplets, at most %d are possible",
                   (int)in->count, INT32_MAX / 2);
  }
  for (int32_t k = 0; k < in->count; ++k) {
    int32_t i = in->rows[k], j = in->columns[k];
    if (i < 0 || j < 0 || i >= in->size || j >= in->size) {
      return yw_fail(error, YW_ERR_INVALID,
                     "sparse matrix: triplet %d is at (%d, %d), but the matrix has %d rows", (int)k,
                     (int)i, (int)j, (int)in->size);
    }
    if (!isfinite(in->values[k])) {
      return yw_fail(error, YW_ERR_INVALID, "sparse matrix: triplet %d at (%d, %d) is %g", (int)k,
                     (int)i, (int)j, in->values[k]);
    }
  }
  return YW_OK;
}

// Stable counting sort by `keys`. items NULL stands for 0, 1, 2 ...
static void sort_by_key(const int32_t* keys, int32_t num_keys, const int32_t* items, int32_t count,
                        int32_t* start, int32_t* out) {
  memset(start, 0, ((size_t)num_keys + 1) * sizeof *start);
  for (int32_t k = 0; k < count; ++k) ++start[keys[k] + 1];
  for (int32_t i = 0; i < num_keys; ++i) start[i + 1] += start[i];
  for (int32_t k = 0; k < count; ++k) {
    int32_t item = items ? items[k] : k;
    out[start[keys[item]]++] = item;
  }
  memmove(start + 1, start, (size_t)num_keys * sizeof *start);
  start[0] = 0;
}

// Rows and columns of the triplets; mirrored ones come after the given ones.
static int32_t spread_triplets(const triplets* in, int32_t* rows, int32_t* columns,
                               double* values) {
  int32_t count = in->count;
  for (int32_t k = 0; k < in->count; ++k) {
    rows[k] = in->rows[k];
    columns[k] = in->columns[k];
    values[k] = in->values[k];
    if (in->mirror && rows[k] != columns[k]) {
      rows[count] = in->columns[k];
      columns[count] = in->rows[k];
      values[count++] = in->values[k];
    }
  }
  return count;
}

// Entries are sorted by row and column; those at equal positions are summed in the given order.
static void merge_equal_places(const int32_t* sorted, int32_t count, const int32_t* rows,
                               const int32_t* columns, const double* values, yw_sparse* out) {
  int32_t filled = 0, last_row = -1;
  for (int32_t k = 0; k < count; ++k) {
    int32_t item = sorted[k], i = rows[item], j = columns[item];
    if (i == last_row && out->columns[filled - 1] == j) {
      out->values[filled - 1] += values[item];
      continue;
    }
    while (last_row < i) out->start[++last_row] = filled;
    out->columns[filled] = j;
    out->values[filled++] = values[item];
  }
  while (last_row < out->size) out->start[++last_row] = filled;
}

yw_status yw_sparse_from_triplets(const yw_allocator* mem, int32_t size, int32_t count,
                                  const int32_t* rows, const int32_t* columns, const double* values,
                                  yw_triplets kind, yw_sparse* out, yw_error* error) {
  *out = (yw_sparse){0};
  const triplets in = {size, count, rows, columns, values, kind == YW_TRIPLETS_HALF};
  yw_status status = check_triplets(&in, error);
  if (status != YW_OK) return status;

  size_t room = (size_t)count * (in.mirror ? 2 : 1);
  int32_t* all_rows = YW_NEW_ARRAY(mem, int32_t, room);
  int32_t* all_columns = YW_NEW_ARRAY(mem, int32_t, room);
  double* all_values = YW_NEW_ARRAY(mem, double, room);
  int32_t* by_column = YW_NEW_ARRAY(mem, int32_t, room);
  int32_t* by_row = YW_NEW_ARRAY(mem, int32_t, room);
  *out = (yw_sparse){.mem = yw_mem_or_default(mem),
                     .size = size,
                     .start = YW_NEW_ARRAY(mem, int32_t, (size_t)size + 1),
                     .columns = YW_NEW_ARRAY(mem, int32_t, room),
                     .values = YW_NEW_ARRAY(mem, double, room)};
  if (!all_rows || !all_columns || !all_values || !by_column || !by_row || !out->start ||
      !out->columns || !out->values) {
    status = yw_fail_memory(error, "a sparse matrix");
  } else {
    int32_t total = spread_triplets(&in, all_rows, all_columns, all_values);
    sort_by_key(all_columns, size, NULL, total, out->start, by_column);
    sort_by_key(all_rows, size, by_column, total, out->start, by_row);
    merge_equal_places(by_row, total, all_rows, all_columns, all_values, out);
    status = yw_sparse_check(mem, out, error);
  }
  yw_mem_free(mem, all_rows);
  yw_mem_free(mem, all_columns);
  yw_mem_free(mem, all_values);
  yw_mem_free(mem, by_column);
  yw_mem_free(mem, by_row);
  if (status != YW_OK) yw_sparse_free(out);
  return status;
}

// Products ----------------------------------------------------------------------------------------

typedef struct product {
  const yw_sparse* a;
  int32_t columns, stride;
  const double* x;
  double* y;
} product;

static void multiply_rows(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const product* p = context;
  const yw_sparse* a = p->a;
  int32_t begin = block * ROWS_PER_BLOCK;
  int32_t end = begin + ROWS_PER_BLOCK < a->size ? begin + ROWS_PER_BLOCK : a->size;
  for (int32_t i = begin; i < end; ++i) {
    for (int32_t c = 0; c < p->columns; ++c) {
      double sum = 0.0;
      for (int32_t k = a->start[i]; k < a->start[i + 1]; ++k) {
        sum += a->values[k] * p->x[(size_t)a->columns[k] * (size_t)p->stride + (size_t)c];
      }
      p->y[(size_t)i * (size_t)p->stride + (size_t)c] = sum;
    }
  }
}

void yw_sparse_multiply(const yw_sparse* matrix, yw_tasks* tasks, int32_t columns, int32_t stride,
                        const double* x, double* y) {
  product p = {.a = matrix, .columns = columns, .stride = stride, .x = x, .y = y};
  yw_tasks_run(tasks, (matrix->size + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK, multiply_rows, &p);
}
