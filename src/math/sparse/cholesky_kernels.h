// SPDX-License-Identifier: MIT
// Inner loops of the sparse Cholesky factorisation and its solves, one table per instruction set.
// Lanes are rows and every sum runs over ascending columns, so all tables give the same bits. See
// cholesky_parts.h for the layout of panels.
#ifndef YW_MATH_SPARSE_CHOLESKY_KERNELS_H
#define YW_MATH_SPARSE_CHOLESKY_KERNELS_H

#include "base/simd.h"

/// Column blocks (of 8) factorised between two updates.
#define YW_CHOLESKY_STRIP 8
/// A pivot must be above this fraction of its diagonal entry.
#define YW_CHOLESKY_PIVOT 1e-13
/// Column blocks that a solve handles at once.
#define YW_SOLVE_STRIP 16
/// Columns that one call of `backward` may span.
#define YW_SOLVE_GROUP_COLUMNS 32

/// out(I, J) -= sum over columns begin .. end - 1 of row block I times row block J, for row blocks
/// row_begin <= I < row_end and column_begin <= J < column_end, J <= I.
typedef struct yw_tile_update {
  const double* panel;  ///< row block 0
  int32_t width;
  int32_t begin, end;
  int32_t row_begin, row_end;
  int32_t column_begin, column_end;
  double* out;  ///< the panel itself, or an update triangle
  bool packed;  ///< out is an update triangle
} yw_tile_update;

/// The diagonal tiles of a strip, padded with the unit matrix, and 1 / diagonal.
typedef struct yw_strip {
  _Alignas(64) double tiles[YW_CHOLESKY_STRIP][64];
  double inverse[YW_CHOLESKY_STRIP][8];
} yw_strip;

/// Rows of a panel that a solve works on. `columns` right-hand sides, interleaved: 1, 2, 3, 4 or 6.
typedef struct yw_solve_rows {
  const void* panel;  ///< row block 0, double or float
  int32_t width;
  int32_t begin, end;          ///< columns
  int32_t row_begin, row_end;  ///< row blocks
  int32_t columns;
} yw_solve_rows;

typedef struct yw_cholesky_fns {
  void (*update)(const yw_tile_update* job);
  /// Factorises the diagonal block of column blocks first .. end - 1 (at most a strip), which
  /// already have all updates from the left. diagonal and inverse are indexed by column of the
  /// panel. Returns the column whose pivot is not positive, or -1.
  int32_t (*factor_strip)(double* panel, int32_t width, int32_t first, int32_t end,
                          const double* diagonal, double* inverse, yw_strip* strip);
  /// Multiplies row blocks row_begin .. row_end - 1 below that strip by the inverse of its
  /// triangle.
  void (*solve_strip)(double* panel, int32_t width, int32_t first, int32_t end,
                      const yw_strip* strip, int32_t row_begin, int32_t row_end);

  /// out[8 * (I - row_begin) + lane][c] = sum over columns k of L(I, k) x[k][c]; x starts at column
  /// `begin`.
  void (*forward)(const yw_solve_rows* job, const double* x, double* out);
  void (*forward32)(const yw_solve_rows* job, const float* x, float* out);
  /// out[k][c] = sum over rows of L(row, k) x(row)[c]; out starts at column `begin`. x holds row
  /// block I at 8 * columns * (I - row_begin), as [c][lane].
  void (*backward)(const yw_solve_rows* job, const double* x, double* out);
  void (*backward32)(const yw_solve_rows* job, const float* x, float* out);
} yw_cholesky_fns;

/// level as from yw_simd_resolve.
const yw_cholesky_fns* yw_cholesky_kernels(yw_simd level);

#endif
