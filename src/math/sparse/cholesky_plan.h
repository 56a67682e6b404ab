// SPDX-License-Identifier: MIT
#ifndef YW_MATH_SPARSE_CHOLESKY_PLAN_H
#define YW_MATH_SPARSE_CHOLESKY_PLAN_H

#include "math/sparse/cholesky_parts.h"

/// Given order, place, first, parent and row_start, computes the rows of all supernodes, the
/// destinations of the matrix's entries, and the plan of work and memory.
yw_status yw_cholesky_plan(yw_cholesky* f, const yw_sparse* matrix, yw_error* error);

#endif
