// SPDX-License-Identifier: MIT
// Nearest point of the convex hull of example poses, from G = L^T L and b = L^T (S - S^0).
// Small, dense, in double, without allocation.
#ifndef YW_MATH_SMALL_SIMPLEX_H
#define YW_MATH_SMALL_SIMPLEX_H

#include "yawara/base.h"

/// Maximum number of examples.
#define YW_SIMPLEX_MAX 32

/// Minimises |L w - d|^2 over w >= 0, sum w <= 1, for count examples (0 to YW_SIMPLEX_MAX). gram is
/// count x count, symmetric, positive semidefinite, of any rank. Writes count weights. guess (may
/// be NULL) holds 1 + count weights, the rest pose first; its positive entries predict those of the
/// answer. It saves time and affects the result only by rounding.
void yw_project_exact(int32_t count, const double* gram, const double* b, const float* guess,
                      double* weights);

/// The papers' rule: unconstrained least squares; then the most negative weight (including the rest
/// pose's) is fixed at 0 and its share taken from the others, until none is negative. Examples that
/// depend linearly on earlier ones get weight 0.
void yw_project_paper(int32_t count, const double* gram, const double* b, double* weights);

/// |L w - d|^2 - |d|^2
double yw_projection_residual(int32_t count, const double* gram, const double* b,
                              const double* weights);

/// Which examples depend linearly (relative distance below `tolerance`) on earlier ones: bit k of
/// the result. The bit of a zero vector is also set.
uint32_t yw_dependent_examples(int32_t count, const double* gram, double tolerance);

#endif
