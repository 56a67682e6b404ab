// SPDX-License-Identifier: MIT
// The sampling of Imai et al., sections 4.2 and 4.3, as printed: a coarse tet alone is strained by
// alpha along one component, its inner nodes settle, the mean stress is noted; for several alpha.
// Points far off are dropped, a line is fitted to each component of stress, and the range is noted
// in which the lines hold.
//
// DIFFERS: the matrix of slopes need not be symmetric, but elements have an energy: its symmetric
// part is taken. The test of the range is that of all components together, as elsewhere (a single
// one that should be zero fails it by rounding).
#include <string.h>

#include "math/small/dense.h"
#include "methods/fem/sampling.h"

#define ALPHAS FEM_SETTLED_ALPHAS
// On both sides of 0. The paper does not give its own.
static const double alphas[ALPHAS] = {0.01, 0.02, 0.04, 0.07, 0.1, 0.15};
// Points this many times as far from the line as the median are dropped; a line needs so many.
#define FAR_OFF 5.0
#define LEAST_POINTS 4

static double median_of(int count, double* values) {
  for (int i = 1; i < count; ++i) {
    double v = values[i];
    int k = i;
    for (; k > 0 && values[k - 1] > v; --k) values[k] = values[k - 1];
    values[k] = v;
  }
  return values[count / 2];
}

double yw_fem_fit_line(int32_t count, const double* x, const double* y, bool* kept) {
  double slope = 0.0;
  int left = 0;
  if (count > FEM_MOST_SAMPLES) count = FEM_MOST_SAMPLES;
  for (int i = 0; i < count; ++i) left += kept[i] = isfinite(y[i]);
  for (int dropped = 1; dropped > 0;) {
    double top = 0.0, bottom = 0.0, off[FEM_MOST_SAMPLES];
    int n = 0;
    for (int i = 0; i < count; ++i) {
      if (!kept[i]) continue;
      top += x[i] * y[i];
      bottom += x[i] * x[i];
    }
    slope = bottom > 0.0 ? top / bottom : 0.0;
    for (int i = 0; i < count; ++i) {
      if (kept[i]) off[n++] = fabs(y[i] - slope * x[i]);
    }
    double limit = n > 0 ? FAR_OFF * median_of(n, off) : 0.0;
    dropped = 0;
    for (int i = 0; i < count && left > LEAST_POINTS; ++i) {
      if (!kept[i] || !(fabs(y[i] - slope * x[i]) > limit)) continue;
      kept[i] = false;
      ++dropped;
      --left;
    }
  }
  return slope;
}

// Stresses of one strain component: NAN where the nodes found no equilibrium, and beyond.
static void sample_column(const fem_family* family, int m, double stress[2 * ALPHAS][6]) {
  for (int side = 0; side < 2; ++side) {
    yw_dvec3 x[FEM_FAMILY_NODES];
    memcpy(x, family->x, sizeof x);
    bool good = true;
    for (int k = 0; k < ALPHAS; ++k) {
      double* s = stress[side * ALPHAS + k];
      good = good && yw_fem_family_bend(family, m, side ? alphas[k] : -alphas[k], x, s);
      for (int j = 0; j < 6 && !good; ++j) s[j] = (double)NAN;
    }
  }
}

// (4) or (5) at one sample.
static bool line_holds(const double* stress, const double* column, double alpha,
                       const fem_sampling_def* def) {
  double error2 = 0.0, size2 = 0.0;
  for (int j = 0; j < 6; ++j) {
    double line = alpha * column[j];
    error2 += (stress[j] - line) * (stress[j] - line);
    size2 += line * line;
  }
  double t1 = def->range_tolerance, t2 = def->range_stress;
  return error2 <= t1 * t1 * size2 || error2 < t2 * t2;
}

bool yw_fem_family_settled(const fem_family* family, const fem_sampling_def* def,
                           yw_sym6* elasticity, fem_range* range) {
  double alpha[2 * ALPHAS];
  yw_mat6 slopes = {{0}};
  for (int k = 0; k < ALPHAS; ++k) alpha[k] = -alphas[k], alpha[ALPHAS + k] = alphas[k];
  for (int m = 0; m < 6; ++m) {
    double stress[2 * ALPHAS][6], column[6];
    sample_column(family, m, stress);
    for (int j = 0; j < 6; ++j) {
      double y[2 * ALPHAS];
      bool kept[2 * ALPHAS];
      for (int k = 0; k < 2 * ALPHAS; ++k) y[k] = stress[k][j];
      column[j] = slopes.m[6 * j + m] = yw_fem_fit_line(2 * ALPHAS, alpha, y, kept);
    }
    range->low[m] = range->high[m] = 0.0f;
    for (int side = 0; side < 2; ++side) {
      for (int k = 0; k < ALPHAS; ++k) {
        int at = side * ALPHAS + k;
        if (!line_holds(stress[at], column, alpha[at], def)) break;
        *(side ? &range->high[m] : &range->low[m]) = (float)alpha[at];
      }
    }
  }
  *elasticity = yw_sym6_of(&slopes);
  yw_mat6 full = yw_sym6_full(elasticity), lower;
  return yw_dense_cholesky(6, full.m, lower.m);
}
