// SPDX-License-Identifier: MIT
// Small dense symmetric matrices in double: n * n entries, row-major, n <= YW_DENSE_MAX. For
// material matrices and reduced systems, not for inner loops.
#ifndef YW_MATH_SMALL_DENSE_H
#define YW_MATH_SMALL_DENSE_H

#include "yawara/base.h"

#define YW_DENSE_MAX 32

/// Computes L with A = L L^T (zero above the diagonal); only the lower half of a is read. False if
/// a pivot is not finite or not above 1e-14 of its diagonal entry: a is not positive definite. a
/// and lower may be the same.
bool yw_dense_cholesky(int32_t n, const double* a, double* lower);
/// x = A^-1 b from L. b and x may be the same.
void yw_dense_solve(int32_t n, const double* lower, const double* b, double* x);
/// Inverse of A from L, exactly symmetric.
void yw_dense_inverse(int32_t n, const double* lower, double* inverse);

/// Eigenvalues in ascending order, and eigenvectors as the rows of `vectors` (may be NULL), of a
/// symmetric matrix, by cyclic Jacobi rotations: accurate for any spectrum, including repeated
/// values. Only the lower half of a is read. False if an entry is not finite.
bool yw_dense_eigen(int32_t n, const double* a, double* values, double* vectors);

/// Largest |a_ij - a_ji| over the largest |a_ij|; 0 for a zero matrix.
double yw_dense_asymmetry(int32_t n, const double* a);

#endif
