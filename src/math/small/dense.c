// SPDX-License-Identifier: MIT
#include "math/small/dense.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define MAX_SWEEPS 60
#define MIN_PIVOT 1e-14

bool yw_dense_cholesky(int32_t n, const double* a, double* lower) {
  assert(n >= 0 && n <= YW_DENSE_MAX);
  double diagonal[YW_DENSE_MAX];
  for (int32_t i = 0; i < n; ++i) diagonal[i] = a[i * n + i];
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = 0; j < n; ++j) lower[i * n + j] = j <= i ? a[i * n + j] : 0.0;
  }
  for (int32_t j = 0; j < n; ++j) {
    double pivot = lower[j * n + j];
    for (int32_t k = 0; k < j; ++k) pivot -= lower[j * n + k] * lower[j * n + k];
    if (!(pivot > MIN_PIVOT * diagonal[j]) || !isfinite(pivot)) return false;
    double root = sqrt(pivot);
    lower[j * n + j] = root;
    for (int32_t i = j + 1; i < n; ++i) {
      double sum = lower[i * n + j];
      for (int32_t k = 0; k < j; ++k) sum -= lower[i * n + k] * lower[j * n + k];
      if (!isfinite(sum)) return false;
      lower[i * n + j] = sum / root;
    }
  }
  return true;
}

void yw_dense_solve(int32_t n, const double* lower, const double* b, double* x) {
  for (int32_t i = 0; i < n; ++i) {
    double sum = b[i];
    for (int32_t k = 0; k < i; ++k) sum -= lower[i * n + k] * x[k];
    x[i] = sum / lower[i * n + i];
  }
  for (int32_t i = n - 1; i >= 0; --i) {
    double sum = x[i];
    for (int32_t k = i + 1; k < n; ++k) sum -= lower[k * n + i] * x[k];
    x[i] = sum / lower[i * n + i];
  }
}

void yw_dense_inverse(int32_t n, const double* lower, double* inverse) {
  double column[YW_DENSE_MAX];
  for (int32_t j = 0; j < n; ++j) {
    memset(column, 0, sizeof column);
    column[j] = 1.0;
    yw_dense_solve(n, lower, column, column);
    for (int32_t i = j; i < n; ++i) inverse[i * n + j] = inverse[j * n + i] = column[i];
  }
}

double yw_dense_asymmetry(int32_t n, const double* a) {
  double largest = 0.0, difference = 0.0;
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = 0; j < n; ++j) {
      largest = fmax(largest, fabs(a[i * n + j]));
      difference = fmax(difference, fabs(a[i * n + j] - a[j * n + i]));
    }
  }
  return largest > 0.0 ? difference / largest : 0.0;
}

// Eigenvalues -------------------------------------------------------------------------------------

// Rotates rows and columns p and q so that entry (p, q) becomes zero.
static void rotate(int32_t n, double* m, double* vectors, int32_t p, int32_t q) {
  double pp = m[p * n + p], qq = m[q * n + q], pq = m[p * n + q];
  double theta = (qq - pp) / (2.0 * pq);
  double t = 1.0 / (fabs(theta) + sqrt(1.0 + theta * theta));
  if (theta < 0.0) t = -t;
  double cosine = 1.0 / sqrt(1.0 + t * t), sine = t * cosine;
  for (int32_t k = 0; k < n; ++k) {
    if (k == p || k == q) continue;
    double kp = m[k * n + p], kq = m[k * n + q];
    m[k * n + p] = m[p * n + k] = cosine * kp - sine * kq;
    m[k * n + q] = m[q * n + k] = sine * kp + cosine * kq;
  }
  m[p * n + p] = pp - t * pq;
  m[q * n + q] = qq + t * pq;
  m[p * n + q] = m[q * n + p] = 0.0;
  for (int32_t k = 0; k < n; ++k) {
    double vp = vectors[p * n + k], vq = vectors[q * n + k];
    vectors[p * n + k] = cosine * vp - sine * vq;
    vectors[q * n + k] = sine * vp + cosine * vq;
  }
}

bool yw_dense_eigen(int32_t n, const double* a, double* values, double* vectors) {
  assert(n >= 0 && n <= YW_DENSE_MAX);
  double m[YW_DENSE_MAX * YW_DENSE_MAX], turned[YW_DENSE_MAX * YW_DENSE_MAX] = {0};
  double largest = 0.0;
  for (int32_t i = 0; i < n; ++i) {
    turned[i * n + i] = 1.0;
    for (int32_t j = 0; j <= i; ++j) {
      m[i * n + j] = m[j * n + i] = a[i * n + j];
      if (!isfinite(a[i * n + j])) return false;
      largest = fmax(largest, fabs(a[i * n + j]));
    }
  }
  // Scaled so that squares and quotients stay within the range of double.
  double scale = largest > 0.0 ? largest : 1.0;
  for (int32_t k = 0; k < n * n; ++k) m[k] /= scale;

  bool busy = true;
  for (int sweep = 0; busy && sweep < MAX_SWEEPS; ++sweep) {
    busy = false;
    for (int32_t p = 0; p < n - 1; ++p) {
      for (int32_t q = p + 1; q < n; ++q) {
        double size = fabs(m[p * n + q]);
        if (size <= 1e-17 * (fabs(m[p * n + p]) + fabs(m[q * n + q])) || size < DBL_MIN) continue;
        rotate(n, m, turned, p, q);
        busy = true;
      }
    }
  }
  // Ascending; equal values keep their order.
  int32_t order[YW_DENSE_MAX];
  for (int32_t i = 0; i < n; ++i) {
    int32_t k = i;
    for (; k > 0 && m[order[k - 1] * n + order[k - 1]] > m[i * n + i]; --k) order[k] = order[k - 1];
    order[k] = i;
  }
  for (int32_t i = 0; i < n; ++i) {
    values[i] = m[order[i] * n + order[i]] * scale;
    if (vectors) memcpy(vectors + i * n, turned + order[i] * n, (size_t)n * sizeof *vectors);
  }
  return true;
}
