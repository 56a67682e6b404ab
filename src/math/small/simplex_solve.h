// SPDX-License-Identifier: MIT
// Projection onto the example poses. Koyama et al. 2013, section 4.3.
//
// The rest pose is point 0 of the hull, example k is point k + 1. With L_0 = 0 and b_0 = 0 all
// points are treated alike: minimise |sum w_k L_k - d|^2 over w >= 0, sum w = 1. The active set,
// i.e. the points with w > 0, is the corral of Wolfe's "Finding the nearest point in a polytope"
// (1976). It stays affinely independent, so the Gram matrix may have any rank, and every round
// reduces the distance, so the algorithm terminates. Inline: devices compile it too.
#ifndef YW_MATH_SMALL_SIMPLEX_SOLVE_H
#define YW_MATH_SMALL_SIMPLEX_SOLVE_H

#include <math.h>

#include "math/small/simplex.h"

// Devices have little memory per thread.
#ifdef YW_ONE_LANE
#define YW_HULL_POINTS 9
#else
#define YW_HULL_POINTS (YW_SIMPLEX_MAX + 1)
#endif
// A pivot below this fraction of its diagonal counts as dependent on the earlier ones.
#define YW_PIVOT_SHARE 1e-12

typedef struct yw_hull {
  int32_t count;  // points, including the rest pose
  const double* gram;
  const double* b;
  double scale;                    // largest diagonal, for tolerances
  int32_t corral[YW_HULL_POINTS];  // points in use, in order of entry
  int32_t size;
  double weights[YW_HULL_POINTS];  // of all points
} yw_hull;

static inline double yw_hull_gram_of(const yw_hull* h, int32_t i, int32_t j) {
  return i == 0 || j == 0 ? 0.0 : h->gram[(i - 1) * (h->count - 1) + (j - 1)];
}

static inline double yw_hull_b_of(const yw_hull* h, int32_t i) {
  return i == 0 ? 0.0 : h->b[i - 1];
}

// Solves the n x n system m x = rhs in place, m = L D L^T; false if m is not positive definite.
static inline bool yw_hull_solve_positive(int32_t n, double m[][YW_HULL_POINTS], double* rhs) {
  double inv_pivot[YW_HULL_POINTS];
  for (int32_t j = 0; j < n; ++j) {
    // m[j][k] holds L D until row j is done.
    double pivot = m[j][j];
    for (int32_t k = 0; k < j; ++k) {
      double l = m[j][k] * inv_pivot[k];
      pivot -= l * m[j][k];
      rhs[j] -= l * rhs[k];
      m[j][k] = l;
    }
    if (!(pivot > YW_PIVOT_SHARE * m[j][j])) return false;
    inv_pivot[j] = 1.0 / pivot;
    for (int32_t i = j + 1; i < n; ++i) {
      for (int32_t k = 0; k < j; ++k) m[i][j] -= m[i][k] * m[j][k];
    }
  }
  for (int32_t j = n - 1; j >= 0; --j) {
    rhs[j] *= inv_pivot[j];
    for (int32_t i = j + 1; i < n; ++i) rhs[j] -= m[i][j] * rhs[i];
  }
  return true;
}

// Nearest point of the affine hull of the corral; affine[i] belongs to corral[i].
static inline bool yw_hull_affine_minimum(const yw_hull* h, double* affine) {
  double m[YW_HULL_POINTS][YW_HULL_POINTS];
  double rhs[YW_HULL_POINTS];
  int32_t origin = h->corral[0], n = h->size - 1;
  double g00 = yw_hull_gram_of(h, origin, origin);
  for (int32_t i = 0; i < n; ++i) {
    int32_t p = h->corral[i + 1];
    double gp0 = yw_hull_gram_of(h, p, origin);
    for (int32_t j = 0; j <= i; ++j) {
      int32_t q = h->corral[j + 1];
      m[i][j] = yw_hull_gram_of(h, p, q) - gp0 - yw_hull_gram_of(h, origin, q) + g00;
    }
    rhs[i] = (yw_hull_b_of(h, p) - yw_hull_b_of(h, origin)) - (gp0 - g00);
  }
  if (!yw_hull_solve_positive(n, m, rhs)) return false;
  affine[0] = 1.0;
  for (int32_t i = 0; i < n; ++i) {
    affine[i + 1] = rhs[i];
    affine[0] -= rhs[i];
  }
  return true;
}

static inline void yw_hull_remove_from_corral(yw_hull* h, int32_t place) {
  h->weights[h->corral[place]] = 0.0;
  for (int32_t i = place; i + 1 < h->size; ++i) h->corral[i] = h->corral[i + 1];
  --h->size;
}

// Moves to the minimum over the corral, dropping points whose weight would become negative.
static inline void yw_hull_settle_corral(yw_hull* h) {
  while (h->size > 1) {
    double affine[YW_HULL_POINTS];
    if (!yw_hull_affine_minimum(h, affine)) {
      yw_hull_remove_from_corral(h, h->size - 1);
      continue;
    }
    double step = 1.0;
    int32_t blocking = -1;
    for (int32_t i = 0; i < h->size; ++i) {
      double w = h->weights[h->corral[i]];
      if (affine[i] <= 0.0) {
        double reach = w > 0.0 ? w / (w - affine[i]) : 0.0;
        if (blocking < 0 || reach < step) {
          step = reach;
          blocking = i;
        }
      }
    }
    for (int32_t i = 0; i < h->size; ++i) {
      double* w = &h->weights[h->corral[i]];
      *w += step * (affine[i] - *w);
    }
    if (blocking < 0) return;
    yw_hull_remove_from_corral(h, blocking);
  }
  h->weights[h->corral[0]] = 1.0;
}

// Derivative of half the squared distance along the weight of point k.
static inline double yw_hull_slope(const yw_hull* h, int32_t k) {
  if (k == 0) return 0.0;
  double sum = -yw_hull_b_of(h, k);
  for (int32_t i = 0; i < h->size; ++i) {
    sum += yw_hull_gram_of(h, k, h->corral[i]) * h->weights[h->corral[i]];
  }
  return sum;
}

// The point outside the corral with the steepest descent, or -1 at the optimum. At the minimum over
// the corral all its points have the same slope, and only they have weight.
static inline int32_t yw_hull_best_newcomer(const yw_hull* h) {
  if (h->size == h->count) return -1;
  double size = h->scale;
  for (int32_t i = 0; i < h->size; ++i) size = fmax(size, fabs(yw_hull_b_of(h, h->corral[i])));
  int32_t best = -1;
  double lowest = yw_hull_slope(h, h->corral[0]) - 1e-12 * size;
  for (int32_t k = 0; k < h->count; ++k) {
    if (h->weights[k] > 0.0) continue;
    double s = yw_hull_slope(h, k);
    if (s < lowest) {
      lowest = s;
      best = k;
    }
  }
  return best;
}

// One example: the nearest point of a segment, by either rule.
static inline double yw_hull_nearest_on_segment(double gram, double b) {
  return b <= 0.0 || !(gram > 0.0) ? 0.0 : b < gram ? b / gram : 1.0;
}

// Starts at the minimum over the points with positive weight in guess, if that lies in their hull.
static inline bool yw_hull_start_from_guess(yw_hull* h, const float* guess) {
  double affine[YW_HULL_POINTS];
  for (int32_t k = 0; k < h->count; ++k) {
    if (guess[k] > 0.0f) h->corral[h->size++] = k;
  }
  if (h->size == 0 || !yw_hull_affine_minimum(h, affine)) return false;
  for (int32_t i = 0; i < h->size; ++i) {
    if (!(affine[i] > 0.0)) return false;
  }
  for (int32_t i = 0; i < h->size; ++i) h->weights[h->corral[i]] = affine[i];
  return true;
}

// Starts at the nearest single point.
static inline void yw_hull_start_from_point(yw_hull* h) {
  int32_t start = 0;
  double lowest = 0.0;
  for (int32_t k = 1; k < h->count; ++k) {
    double value = 0.5 * yw_hull_gram_of(h, k, k) - yw_hull_b_of(h, k);
    if (value < lowest) {
      lowest = value;
      start = k;
    }
  }
  h->corral[0] = start;
  h->size = 1;
  h->weights[start] = 1.0;
}

static inline void yw_simplex_nearest(int32_t count, const double* gram, const double* b,
                                      const float* guess, double* weights) {
  if (count == 1) {
    weights[0] = yw_hull_nearest_on_segment(gram[0], b[0]);
    return;
  }
  yw_hull h;  // not zeroed as a whole: it has room for many more points
  h.count = count + 1;
  h.gram = gram;
  h.b = b;
  h.scale = 0.0;
  h.size = 0;
  for (int32_t k = 0; k < h.count; ++k) {
    h.scale = fmax(h.scale, yw_hull_gram_of(&h, k, k));
    h.weights[k] = 0.0;
  }
  if (!guess || !yw_hull_start_from_guess(&h, guess)) yw_hull_start_from_point(&h);

  // Terminates in exact arithmetic; the bound only guards against rounding at the tolerance.
  for (int32_t round = 0; round < 8 * (YW_SIMPLEX_MAX + 1); ++round) {
    int32_t newcomer = yw_hull_best_newcomer(&h);
    if (newcomer < 0) break;
    h.corral[h.size++] = newcomer;
    yw_hull_settle_corral(&h);
  }
  for (int32_t k = 0; k < count; ++k) weights[k] = h.weights[k + 1];
}

static inline uint32_t yw_simplex_dependent(int32_t count, const double* gram, double tolerance) {
  double factor[YW_HULL_POINTS][YW_HULL_POINTS];
  uint32_t dependent = 0;
  for (int32_t i = 0; i < count; ++i) {
    double pivot = gram[i * count + i];
    for (int32_t j = 0; j < i; ++j) {
      if (dependent >> j & 1) continue;
      double sum = gram[i * count + j];
      for (int32_t k = 0; k < j; ++k) {
        if (!(dependent >> k & 1)) sum -= factor[i][k] * factor[j][k];
      }
      factor[i][j] = sum / factor[j][j];
      pivot -= factor[i][j] * factor[i][j];
    }
    if (pivot > tolerance * tolerance * gram[i * count + i]) {
      factor[i][i] = sqrt(pivot);
    } else {
      dependent |= 1u << i;
    }
  }
  return dependent;
}

// w = G^-1 b over the independent examples.
static inline void yw_hull_least_squares(int32_t count, const double* gram, const double* b,
                                         double* weights) {
  double m[YW_HULL_POINTS][YW_HULL_POINTS];
  double rhs[YW_HULL_POINTS];
  int32_t kept[YW_HULL_POINTS];
  uint32_t dependent = yw_simplex_dependent(count, gram, 1e-5);
  int32_t n = 0;
  for (int32_t k = 0; k < count; ++k) {
    weights[k] = 0.0;
    if (!(dependent >> k & 1)) kept[n++] = k;
  }
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = 0; j <= i; ++j) m[i][j] = gram[kept[i] * count + kept[j]];
    rhs[i] = b[kept[i]];
  }
  if (!yw_hull_solve_positive(n, m, rhs)) return;
  for (int32_t i = 0; i < n; ++i) weights[kept[i]] = rhs[i];
}

static inline void yw_simplex_paper(int32_t count, const double* gram, const double* b,
                                    double* weights) {
  if (count == 1) {
    weights[0] = yw_hull_nearest_on_segment(gram[0], b[0]);
    return;
  }
  double w[YW_HULL_POINTS];
  bool cleared[YW_HULL_POINTS] = {false};
  int32_t left = count + 1;
  yw_hull_least_squares(count, gram, b, weights);
  w[0] = 1.0;
  for (int32_t k = 0; k < count; ++k) {
    w[k + 1] = weights[k];
    w[0] -= weights[k];
  }
  // DIFFERS: weights already at zero stay there. Letting them move again, as the papers' text
  // allows, never terminates (see docs/methods/match.md).
  for (;;) {
    int32_t lowest = -1;
    for (int32_t k = 0; k <= count; ++k) {
      if (!cleared[k] && w[k] < 0.0 && (lowest < 0 || w[k] < w[lowest])) lowest = k;
    }
    if (lowest < 0 || left == 1) break;
    double share = -w[lowest] / (double)--left;
    w[lowest] = 0.0;
    cleared[lowest] = true;
    for (int32_t k = 0; k <= count; ++k) {
      if (!cleared[k]) w[k] -= share;
    }
  }
  for (int32_t k = 0; k < count; ++k) weights[k] = w[k + 1];
}

#endif
