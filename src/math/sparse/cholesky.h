// SPDX-License-Identifier: MIT
// A = L L^T for sparse symmetric positive definite matrices: analyse once per pattern, factorise
// once per set of values, solve as often as needed. Results are bitwise identical for any number of
// threads and any instruction set. See docs/design/sparse.md.
#ifndef YW_MATH_SPARSE_CHOLESKY_H
#define YW_MATH_SPARSE_CHOLESKY_H

#include "math/sparse/sparse.h"
#include "yawara/extend/tasks.h"

typedef struct yw_cholesky yw_cholesky;

typedef enum yw_cholesky_order {
  YW_CHOLESKY_AUTO,       ///< dissection if points are given, else degree
  YW_CHOLESKY_NATURAL,    ///< as numbered
  YW_CHOLESKY_DEGREE,     ///< approximate minimum degree
  YW_CHOLESKY_DISSECTION  ///< nested dissection; needs points
} yw_cholesky_order;

/// Zero-initialised means defaults.
typedef struct yw_cholesky_options {
  yw_cholesky_order order;
  const yw_vec3* points;  ///< one per node, or NULL
  int32_t block;          ///< unknowns per node, numbered together; 0 means 1
  yw_simd simd;           ///< level of the inner loops
  yw_tasks* tasks;        ///< for the analysis, or NULL
} yw_cholesky_options;

typedef struct yw_cholesky_stats {
  int32_t size;
  int32_t num_supernodes;
  int32_t num_tasks;     ///< independent subtrees
  int64_t entries;       ///< nnz(L), including the zeros added by merging supernodes
  double flops;          ///< multiplications and additions of a factorisation
  size_t factor_bytes;   ///< of the double factor
  size_t scratch_bytes;  ///< kept for the next factorisation; see yw_cholesky_trim
} yw_cholesky_stats;

/// Computes order, elimination tree, supernodes and memory plan. Uses only the pattern of the
/// matrix, which must pass yw_sparse_check and have a full diagonal (both are checked).
yw_status yw_cholesky_analyse(const yw_allocator* mem, const yw_sparse* matrix,
                              const yw_cholesky_options* options, yw_cholesky** out,
                              yw_error* error);
void yw_cholesky_destroy(yw_cholesky* factor);
yw_cholesky_stats yw_cholesky_get_stats(const yw_cholesky* factor);
/// order[k] is the row of the matrix eliminated k-th.
const int32_t* yw_cholesky_get_order(const yw_cholesky* factor);

/// Factorises a matrix with the analysed pattern. Allocates only in the first call. A pivot below
/// 1e-13 of its diagonal entry is refused with YW_ERR_DIVERGED and the row in the message (the
/// first in elimination order); there is then no factor. An existing float copy is updated.
yw_status yw_cholesky_factorise(yw_cholesky* factor, const yw_sparse* matrix, yw_tasks* tasks,
                                yw_error* error);
/// Makes a float copy of the factor for the _f32 solves: half the bytes to read.
yw_status yw_cholesky_round(yw_cholesky* factor, yw_error* error);
/// Frees what only factorisation needs; with keep_double false also the double factor (a float copy
/// must exist). Factorising again is possible but allocates again.
void yw_cholesky_trim(yw_cholesky* factor, bool keep_double);

/// Number of scratch elements (double or float) that a solve needs.
size_t yw_cholesky_scratch(const yw_cholesky* factor, int32_t columns, const yw_tasks* tasks);
/// Solves A x = b for `columns` vectors at once: component c of entry i is x[i * stride + c]. b and
/// x may be the same. Threads may solve with one factor concurrently, each with its own scratch
/// (64-byte aligned). False if there is no factor.
bool yw_cholesky_solve(const yw_cholesky* factor, yw_tasks* tasks, int32_t columns, int32_t stride,
                       const double* b, double* x, double* scratch);
bool yw_cholesky_solve_f32(const yw_cholesky* factor, yw_tasks* tasks, int32_t columns,
                           int32_t stride, const float* b, float* x, float* scratch);

#endif
