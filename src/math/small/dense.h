// SPDX-License-Identifier: MIT
// Small dense symmetric matrices in double, by rows, n * n entries; n is at most YW_DENSE_MAX. For
// material matrices and reduced systems, not for inner loops.
#ifndef YW_MATH_SMALL_DENSE_H
#define YW_MATH_SMALL_DENSE_H

#include "yawara/base.h"

#define YW_DENSE_MAX 32

/// lower becomes L with A = L L^T (zero above the diagonal); only the lower half of a is read.
/// False when a pivot is not above 1e-14 of its diagonal entry or not finite: then a is not
/// positive definite. a and lower may be the same.
bool yw_dense_cholesky(int32_t n, const double* a, double* lower);
/// x = A^-1 b from L. b and x may be the same.
void yw_dense_solve(int32_t n, const double* lower, const double* b, double* x);
/// The inverse of A from L, symmetric to the bit.
void yw_dense_inverse(int32_t n, const double* lower, double* inverse);

/// Eigenvalues, ascending, and eigenvectors as the rows of `vectors` (NULL: not wanted) of a
/// symmetric matrix, by cyclic Jacobi rotations: accurate for any spectrum, also repeated values.
/// Only the lower half of a is read. False when an entry is not finite.
bool yw_dense_eigen(int32_t n, const double* a, double* values, double* vectors);

/// Largest |a_ij - a_ji| over the largest |a_ij|; 0 for a zero matrix.
double yw_dense_asymmetry(int32_t n, const double* a);

#endif
