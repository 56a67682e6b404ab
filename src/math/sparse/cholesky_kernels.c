// SPDX-License-Identifier: MIT
// Inner loops of the factorisation. Nearly all the work is subtracting the product of two row
// blocks from tiles of 8x8 entries; a register tile is two registers of rows by several columns.
// Every entry is summed separately in ascending order, so the shape of the register tile does not
// affect the bits.
#include "math/sparse/cholesky_kernels.h"

#include <math.h>
#include <string.h>

#include "math/sparse/cholesky_solve_lanes.h"

#if defined(__AVX512F__)
#define VD_LANES 8
#define TILE_COLUMNS 8
#elif defined(__AVX2__)
#define VD_LANES 4
#define TILE_COLUMNS 4
#else
#define VD_LANES 2
#define TILE_COLUMNS 4
#endif
// Columns summed in registers before the sum is subtracted. Affects the bits of the result.
#define SUM_COLUMNS 256

typedef double vd __attribute__((vector_size(8 * VD_LANES)));
#define LANE_FN static inline __attribute__((always_inline))

LANE_FN vd load(const double* from) {
  vd v;
  memcpy(&v, from, sizeof v);
  return v;
}
LANE_FN void store(double* to, vd v) { memcpy(to, &v, sizeof v); }

// Register tile: rows a0 and a1 (VD_LANES each) by TILE_COLUMNS columns. The sum is subtracted from
// c0 and c1, of which `columns` columns exist.
LANE_FN void register_tile(const double* a0, const double* a1, const double* b, int32_t depth,
                           double* c0, double* c1, int32_t columns) {
  vd sum0[TILE_COLUMNS], sum1[TILE_COLUMNS];
#pragma GCC unroll 8
  for (int j = 0; j < TILE_COLUMNS; ++j) sum0[j] = sum1[j] = (vd){0};
  for (int32_t k = 0; k < depth; ++k) {
    vd x0 = load(a0 + 8 * (size_t)k), x1 = load(a1 + 8 * (size_t)k);
    const double* y = b + 8 * (size_t)k;
#pragma GCC unroll 8
    for (int j = 0; j < TILE_COLUMNS; ++j) {
      sum0[j] += x0 * y[j];
      sum1[j] += x1 * y[j];
    }
  }
#pragma GCC unroll 8
  for (int j = 0; j < TILE_COLUMNS; ++j) {
    if (j >= columns) break;
    store(c0 + 8 * j, load(c0 + 8 * j) - sum0[j]);
    store(c1 + 8 * j, load(c1 + 8 * j) - sum1[j]);
  }
}

#if VD_LANES == 8
static void tile_pair(const double* a0, const double* a1, const double* b, int32_t depth,
                      double* c0, double* c1, int32_t columns) {
  register_tile(a0, a1, b, depth, c0, c1, columns);
}

// One row block: half a register tile.
static void tile_single(const double* a, const double* b, int32_t depth, double* c,
                        int32_t columns) {
  vd sum[8];
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) sum[j] = (vd){0};
  for (int32_t k = 0; k < depth; ++k) {
    vd x = load(a + 8 * (size_t)k);
    const double* y = b + 8 * (size_t)k;
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) sum[j] += x * y[j];
  }
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) {
    if (j >= columns) break;
    store(c + 8 * j, load(c + 8 * j) - sum[j]);
  }
}
#else
static void tile_single(const double* a, const double* b, int32_t depth, double* c,
                        int32_t columns) {
  for (int32_t row = 0; row < 8; row += 2 * VD_LANES) {
    for (int32_t j = 0; j < columns; j += TILE_COLUMNS) {
      register_tile(a + row, a + row + VD_LANES, b + j, depth, c + 8 * j + row,
                    c + 8 * j + row + VD_LANES, columns - j);
    }
  }
}

static void tile_pair(const double* a0, const double* a1, const double* b, int32_t depth,
                      double* c0, double* c1, int32_t columns) {
  tile_single(a0, b, depth, c0, columns);
  tile_single(a1, b, depth, c1, columns);
}
#endif

LANE_FN double* out_row(const yw_tile_update* job, int32_t row) {
  size_t i = (size_t)row;
  return job->out + (job->packed ? i * (i + 1) / 2 * 64 : i * 8 * (size_t)job->width);
}

LANE_FN int32_t tile_columns(const yw_tile_update* job, int32_t column) {
  int32_t left = job->width - 8 * column;
  return job->packed || left > 8 ? 8 : left;
}

static void update_depth(const yw_tile_update* job, int32_t begin, int32_t depth) {
  size_t step = 8 * (size_t)job->width;
  const double* panel = job->panel + 8 * (size_t)begin;
  int32_t row = job->row_begin;
  for (; row + 1 < job->row_end; row += 2) {
    const double* a = panel + (size_t)row * step;
    double *c0 = out_row(job, row), *c1 = out_row(job, row + 1);
    int32_t column = job->column_begin;
    for (; column < job->column_end && column <= row; ++column) {
      tile_pair(a, a + step, panel + (size_t)column * step, depth, c0 + 64 * (size_t)column,
                c1 + 64 * (size_t)column, tile_columns(job, column));
    }
    if (column == row + 1 && column < job->column_end) {
      tile_single(a + step, a + step, depth, c1 + 64 * (size_t)column, tile_columns(job, column));
    }
  }
  if (row < job->row_end) {
    const double* a = panel + (size_t)row * step;
    double* c = out_row(job, row);
    for (int32_t column = job->column_begin; column < job->column_end && column <= row; ++column) {
      tile_single(a, panel + (size_t)column * step, depth, c + 64 * (size_t)column,
                  tile_columns(job, column));
    }
  }
}

static void update(const yw_tile_update* job) {
  for (int32_t begin = job->begin; begin < job->end; begin += SUM_COLUMNS) {
    int32_t depth = job->end - begin < SUM_COLUMNS ? job->end - begin : SUM_COLUMNS;
    update_depth(job, begin, depth);
  }
}

// Strips ------------------------------------------------------------------------------------------

// Cholesky factor of an 8x8 tile with `count` columns. Lanes are rows; results above the diagonal
// are not used. Returns the column that fails, or -1.
static int32_t factor_tile(double* tile, int32_t count, const double* diagonal, double* inverse) {
  for (int32_t k = 0; k < count; ++k) {
    double* pivot = tile + 8 * k;
    double d = pivot[k];
    if (!(d > YW_CHOLESKY_PIVOT * diagonal[k])) return k;
    double root = sqrt(d);
    inverse[k] = 1.0 / root;
    for (int i = 0; i < 8; ++i) pivot[i] *= inverse[k];
    pivot[k] = root;
    for (int32_t j = k + 1; j < count; ++j) {
      double factor = pivot[j];
      for (int i = 0; i < 8; ++i) tile[8 * j + i] -= pivot[i] * factor;
    }
  }
  return -1;
}

// Multiplies one block of 8 rows by the inverse of the tile's triangle. Columns beyond `count` are
// not stored.
LANE_FN void solve_tile(const double* tile, const double* inverse, double* rows, int32_t count) {
  for (int32_t part = 0; part < 8; part += VD_LANES) {
    vd x[8];
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) x[j] = j < count ? load(rows + 8 * j + part) : (vd){0};
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) {
      x[k] *= inverse[k];
#pragma GCC unroll 8
      for (int j = k + 1; j < 8; ++j) x[j] -= x[k] * tile[8 * k + j];
    }
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      if (j < count) store(rows + 8 * j + part, x[j]);
    }
  }
}

static void solve_strip(double* panel, int32_t width, int32_t first, int32_t end,
                        const yw_strip* strip, int32_t row_begin, int32_t row_end) {
  yw_tile_update job = {.panel = panel, .width = width, .begin = 8 * first, .out = panel};
  size_t step = 8 * (size_t)width;
  for (int32_t column = first; column < end; ++column) {
    int32_t count = width - 8 * column < 8 ? width - 8 * column : 8;
    job.end = 8 * column;
    job.column_begin = column;
    job.column_end = column + 1;
    // Two row blocks at a time stay in the L1 cache between update and solve.
    for (int32_t row = row_begin; row < row_end; row += 2) {
      job.row_begin = row;
      job.row_end = row + 2 < row_end ? row + 2 : row_end;
      update(&job);
      for (int32_t i = job.row_begin; i < job.row_end; ++i) {
        solve_tile(strip->tiles[column - first], strip->inverse[column - first],
                   panel + (size_t)i * step + 64 * (size_t)column, count);
      }
    }
  }
}

static int32_t factor_strip(double* panel, int32_t width, int32_t first, int32_t end,
                            const double* diagonal, double* inverse, yw_strip* strip) {
  size_t step = 8 * (size_t)width;
  yw_tile_update job = {.panel = panel, .width = width, .begin = 8 * first, .out = panel};
  for (int32_t column = first; column < end; ++column) {
    int32_t count = width - 8 * column < 8 ? width - 8 * column : 8;
    double* tile = strip->tiles[column - first];
    double* inv = strip->inverse[column - first];
    double* place = panel + (size_t)column * step + 64 * (size_t)column;
    job.end = 8 * column;
    job.column_begin = job.row_begin = column;
    job.column_end = column + 1;
    job.row_end = end;
    update(&job);

    memset(tile, 0, 64 * sizeof *tile);
    for (int j = 0; j < 8; ++j) {
      tile[9 * j] = 1.0;
      inv[j] = 1.0;
    }
    memcpy(tile, place, (size_t)count * 8 * sizeof *tile);
    int32_t failed = factor_tile(tile, count, diagonal + 8 * column, inv);
    if (failed >= 0) return 8 * column + failed;
    memcpy(place, tile, (size_t)count * 8 * sizeof *tile);
    memcpy(inverse + 8 * column, inv, (size_t)count * sizeof *inv);
    for (int32_t row = column + 1; row < end; ++row) {
      solve_tile(tile, inv, panel + (size_t)row * step + 64 * (size_t)column, count);
    }
  }
  return -1;
}

extern const yw_cholesky_fns YW_KERNEL(yw_cholesky_table);
const yw_cholesky_fns YW_KERNEL(yw_cholesky_table) = {
    update, factor_strip, solve_strip, forward_f64, forward_f32, backward_f64, backward_f32};
