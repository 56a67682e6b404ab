// SPDX-License-Identifier: MIT
#include "math/small/simplex.h"

#include "math/small/simplex_solve.h"

void yw_project_exact(int32_t count, const double* gram, const double* b, const float* guess,
                      double* weights) {
  yw_simplex_nearest(count, gram, b, guess, weights);
}

void yw_project_paper(int32_t count, const double* gram, const double* b, double* weights) {
  yw_simplex_paper(count, gram, b, weights);
}

uint32_t yw_dependent_examples(int32_t count, const double* gram, double tolerance) {
  return yw_simplex_dependent(count, gram, tolerance);
}

double yw_projection_residual(int32_t count, const double* gram, const double* b,
                              const double* weights) {
  double sum = 0.0;
  for (int32_t i = 0; i < count; ++i) {
    double row = -2.0 * b[i];
    for (int32_t j = 0; j < count; ++j) row += gram[i * count + j] * weights[j];
    sum += weights[i] * row;
  }
  return sum;
}
