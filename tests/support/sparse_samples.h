// SPDX-License-Identifier: MIT
// Sparse matrices for tests.
#ifndef YW_TESTS_SUPPORT_SPARSE_SAMPLES_H
#define YW_TESTS_SUPPORT_SPARSE_SAMPLES_H

#include "math/sparse/sparse.h"
#include "support/testing.h"

/// Triplets of the lower triangle; grows as needed.
typedef struct sample_triplets {
  int32_t count, capacity;
  int32_t *rows, *columns;
  double* values;
} sample_triplets;

static inline void sample_add(sample_triplets* t, int32_t i, int32_t j, double value) {
  if (t->count == t->capacity) {
    t->capacity = 2 * t->capacity + 64;
    t->rows = realloc(t->rows, sizeof(int32_t) * (size_t)t->capacity);
    t->columns = realloc(t->columns, sizeof(int32_t) * (size_t)t->capacity);
    t->values = realloc(t->values, sizeof(double) * (size_t)t->capacity);
  }
  t->rows[t->count] = i;
  t->columns[t->count] = j;
  t->values[t->count++] = value;
}

static inline yw_sparse sample_finish(sample_triplets* t, int32_t size) {
  yw_sparse a;
  yw_error error = {0};
  yw_status status = yw_sparse_from_triplets(NULL, size, t->count, t->rows, t->columns, t->values,
                                             YW_TRIPLETS_HALF, &a, &error);
  if (status != YW_OK) print_error("%s\n", error.message);
  assert_int_equal(status, YW_OK);
  free(t->rows);
  free(t->columns);
  free(t->values);
  *t = (sample_triplets){0};
  return a;
}

/// A link of strength s between i and j.
static inline void sample_link(sample_triplets* t, int32_t i, int32_t j, double s) {
  sample_add(t, i, j, -s);
  sample_add(t, i, i, s);
  sample_add(t, j, j, s);
}

/// nx * ny * nz grid, links to all neighbours within `reach` in each axis (1: 27-point), or along
/// the axes only (reach 0: 7-point); every point is held with strength `hold`.
static inline yw_sparse sample_grid(int nx, int ny, int nz, int reach, double hold) {
  sample_triplets t = {0};
  int r = reach > 0 ? reach : 1;
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; ++y) {
      for (int x = 0; x < nx; ++x) {
        int here = (z * ny + y) * nx + x;
        sample_add(&t, here, here, hold);
        for (int dz = 0; dz <= r; ++dz) {
          for (int dy = -r; dy <= r; ++dy) {
            for (int dx = -r; dx <= r; ++dx) {
              int there = ((z + dz) * ny + y + dy) * nx + x + dx;
              bool inside = x + dx >= 0 && x + dx < nx && y + dy >= 0 && y + dy < ny && z + dz < nz;
              bool axis = abs(dx) + abs(dy) + abs(dz) == 1;
              if (!inside || there <= here || (reach == 0 && !axis)) continue;
              sample_link(&t, here, there, 1.0);
            }
          }
        }
      }
    }
  }
  return sample_finish(&t, nx * ny * nz);
}

static inline yw_vec3* sample_grid_points(int nx, int ny, int nz) {
  yw_vec3* points = malloc(sizeof *points * (size_t)(nx * ny * nz));
  for (int i = 0; i < nx * ny * nz; ++i) {
    points[i] = (yw_vec3){(float)(i % nx), (float)(i / nx % ny), (float)(i / nx / ny)};
  }
  return points;
}

/// Random links, about `degree` per row, strengths over three decades; diagonally dominant.
static inline yw_sparse sample_random(test_random* random, int32_t size, double degree) {
  sample_triplets t = {0};
  for (int32_t i = 0; i < size; ++i) {
    sample_add(&t, i, i, test_random_in(random, 0.01, 1.0));
    for (int32_t k = 0; size > 1 && k < (int32_t)(degree / 2 + 0.5); ++k) {
      int32_t j = (int32_t)test_random_in(random, 0, size);
      if (j != i) sample_link(&t, i, j, pow(10.0, test_random_in(random, -2, 1)));
    }
  }
  return sample_finish(&t, size);
}

/// The first row linked to all others.
static inline yw_sparse sample_arrow(int32_t size) {
  sample_triplets t = {0};
  for (int32_t i = 0; i < size; ++i) sample_add(&t, i, i, 0.5);
  for (int32_t i = 1; i < size; ++i) sample_link(&t, 0, i, 1.0 + 0.01 * i);
  return sample_finish(&t, size);
}

static inline yw_sparse sample_band(int32_t size, int32_t width) {
  sample_triplets t = {0};
  for (int32_t i = 0; i < size; ++i) {
    sample_add(&t, i, i, 0.1);
    for (int32_t j = i + 1; j < size && j <= i + width; ++j) sample_link(&t, i, j, 1.0 / (j - i));
  }
  return sample_finish(&t, size);
}

static inline yw_sparse sample_full(test_random* random, int32_t size) {
  sample_triplets t = {0};
  for (int32_t i = 0; i < size; ++i) {
    sample_add(&t, i, i, 1.0);
    for (int32_t j = 0; j < i; ++j) sample_link(&t, i, j, test_random_in(random, 0.1, 1.0));
  }
  return sample_finish(&t, size);
}

/// Largest |A x - b| / (|A| |x| + |b|), in maximum norms.
static inline double sample_residual(const yw_sparse* a, int columns, const double* x,
                                     const double* b) {
  double worst = 0.0, scale = 0.0;
  for (int32_t i = 0; i < a->size; ++i) {
    for (int c = 0; c < columns; ++c) {
      double sum = -b[i * columns + c], size = fabs(b[i * columns + c]);
      for (int32_t k = a->start[i]; k < a->start[i + 1]; ++k) {
        double term = a->values[k] * x[a->columns[k] * columns + c];
        sum += term;
        size += fabs(term);
      }
      if (!(fabs(sum) <= worst)) worst = fabs(sum);
      if (size > scale) scale = size;
    }
  }
  return scale > 0.0 ? worst / scale : worst;
}

#endif
