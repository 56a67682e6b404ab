// SPDX-License-Identifier: MIT
// Whether an open line is knotted.
#ifndef YW_TESTS_SUPPORT_KNOT_H
#define YW_TESTS_SUPPORT_KNOT_H

#include "support/testing.h"
#include "yawara/base.h"

#define KNOT_MOST 256  // crossings of the picture of a line

typedef struct knot_crossing {
  double under, over;  // places along the line
} knot_crossing;

typedef struct knot_point {
  double x, y, z;
} knot_point;

// Where segments i and k cross in the plane of x and y, as places along each; false: nowhere.
static inline bool knot_segments_cross(const knot_point* p, int i, int k, double at[2]) {
  double ux = p[i + 1].x - p[i].x, uy = p[i + 1].y - p[i].y;
  double vx = p[k + 1].x - p[k].x, vy = p[k + 1].y - p[k].y;
  double wx = p[k].x - p[i].x, wy = p[k].y - p[i].y, area = ux * vy - uy * vx;
  if (area == 0.0) return false;
  at[0] = (wx * vy - wy * vx) / area;
  at[1] = (wx * uy - wy * ux) / area;
  return at[0] >= 0.0 && at[0] < 1.0 && at[1] >= 0.0 && at[1] < 1.0;
}

static inline int compare_unders(const void* a, const void* b) {
  double x = ((const knot_crossing*)a)->under, y = ((const knot_crossing*)b)->under;
  return (x > y) - (x < y);
}

// Rounded absolute value of the determinant, which is destroyed.
static inline long determinant(double* m, int n) {
  double product = 1.0;
  for (int c = 0; c < n; ++c) {
    int best = c;
    for (int r = c + 1; r < n; ++r) {
      if (fabs(m[r * n + c]) > fabs(m[best * n + c])) best = r;
    }
    if (m[best * n + c] == 0.0) return 0;
    for (int k = 0; k < n && best != c; ++k) {
      double kept = m[c * n + k];
      m[c * n + k] = m[best * n + k];
      m[best * n + k] = kept;
    }
    product *= m[c * n + c];
    for (int r = c + 1; r < n; ++r) {
      double share = m[r * n + c] / m[c * n + c];
      for (int k = c; k < n; ++k) m[r * n + k] -= share * m[c * n + k];
    }
  }
  return lround(fabs(product));
}

/// The determinant of the knot (its Alexander polynomial at -1) of a line whose ends are pulled to
/// the left and right (x) and joined far away: 1 for a line without a knot, 3 for an overhand knot.
/// -1: its picture has too many crossings.
static inline long knot_determinant(const yw_vec3* line, int count) {
  knot_point* p = malloc(sizeof *p * ((size_t)count + 2));
  assert_non_null(p);
  // Seen from aside, so that no two points lie behind each other.
  for (int i = 0; i < count; ++i) {
    double x = (double)line[i].x, y = (double)line[i].y, z = (double)line[i].z;
    p[i + 1] = (knot_point){x + 0.0113 * z, y + 0.0271 * z, z};
  }
  // The rest of the closed line passes outside of the picture.
  p[0] = (knot_point){p[1].x - 100.0, p[1].y, p[1].z};
  p[count + 1] = (knot_point){p[count].x + 100.0, p[count].y, p[count].z};
  static knot_crossing found[KNOT_MOST];
  int n = 0, segments = count + 1;
  for (int i = 0; i < segments; ++i) {
    for (int k = i + 2; k < segments && n < KNOT_MOST; ++k) {
      double at[2];
      if (!knot_segments_cross(p, i, k, at)) continue;
      double low = p[i].z + at[0] * (p[i + 1].z - p[i].z);
      double high = p[k].z + at[1] * (p[k + 1].z - p[k].z);
      bool first_is_under = low < high;
      found[n++] = (knot_crossing){first_is_under ? i + at[0] : k + at[1],
                                   first_is_under ? k + at[1] : i + at[0]};
    }
  }
  free(p);
  if (n == KNOT_MOST) return -1;
  if (n < 3) return 1;
  qsort(found, (size_t)n, sizeof *found, compare_unders);
  // Arc j ends where the line passes under for the j-th time; the first and the last are one.
  static double matrix[KNOT_MOST * KNOT_MOST];
  memset(matrix, 0, sizeof matrix);
  int size = n - 1;
  for (int j = 0; j < size; ++j) {
    int over = 0;
    while (over < n && found[over].under < found[j].over) ++over;
    const int arcs[3] = {over % n, j, (j + 1) % n};
    const double share[3] = {2.0, -1.0, -1.0};
    for (int k = 0; k < 3; ++k) {
      if (arcs[k] < size) matrix[j * size + arcs[k]] += share[k];
    }
  }
  return determinant(matrix, size);
}

#endif
