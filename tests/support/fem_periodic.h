// SPDX-License-Identifier: MIT
// The effective elasticity matrix of a periodic box, computed by conjugate gradients independently
// of the library's solvers: the reference for sampled matrices.
#ifndef YW_TESTS_SUPPORT_FEM_PERIODIC_H
#define YW_TESTS_SUPPORT_FEM_PERIODIC_H

#include "methods/fem/voigt.h"
#include "support/testing.h"

typedef struct periodic_cell {
  int32_t num_nodes, num_tets;
  const yw_dvec3* positions;
  const int32_t* tets;
  const yw_sym6* elasticity;
  double size[3];  ///< the box is from 0 to size
} periodic_cell;

typedef struct periodic_element {
  int32_t node[4];
  double b[4][3];  ///< shape gradients
  double volume, c[6][6];
} periodic_element;

/// Merges nodes on opposite sides.
static inline int32_t periodic_merge(const periodic_cell* cell, int32_t* merged) {
  int32_t count = 0;
  enum { buckets = 65536 };
  int32_t* head = malloc(buckets * sizeof *head);
  int32_t* next = malloc(cell->num_nodes * sizeof *next);
  double(*x)[3] = malloc(cell->num_nodes * sizeof *x);
  for (int i = 0; i < buckets; ++i) head[i] = -1;
  for (int32_t i = 0; i < cell->num_nodes; ++i) {
    const double p[3] = {cell->positions[i].x, cell->positions[i].y, cell->positions[i].z};
    uint64_t key = 0;
    for (int k = 0; k < 3; ++k) {
      x[i][k] = p[k] > cell->size[k] - 1e-9 ? p[k] - cell->size[k] : p[k];
      key = key * 1000003u + (uint64_t)(int64_t)floor(x[i][k] * 1e5 + 0.5);
    }
    int32_t found = head[key % buckets];
    while (found >= 0 &&
           fabs(x[found][0] - x[i][0]) + fabs(x[found][1] - x[i][1]) + fabs(x[found][2] - x[i][2]) >
               1e-7) {
      found = next[found];
    }
    if (found < 0) {
      next[i] = head[key % buckets];
      head[key % buckets] = i;
      merged[i] = count++;
    } else {
      merged[i] = merged[found];
    }
  }
  free(head);
  free(next);
  free(x);
  return count;
}

static inline void periodic_strain(const periodic_element* e, const double* u, double out[6]) {
  double h[3][3] = {{0}};
  for (int a = 0; a < 4; ++a) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) h[i][j] += u[3 * e->node[a] + i] * e->b[a][j];
    }
  }
  out[0] = h[0][0], out[1] = h[1][1], out[2] = h[2][2];
  out[3] = h[1][2] + h[2][1], out[4] = h[0][2] + h[2][0], out[5] = h[0][1] + h[1][0];
}

static inline void periodic_add_stress(const periodic_element* e, const double strain[6],
                                       double sign, double* f) {
  double s[6] = {0};
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) s[i] += e->c[i][j] * strain[j];
  }
  for (int a = 0; a < 4; ++a) {
    const double* b = e->b[a];
    double* to = f + 3 * e->node[a];
    to[0] += sign * e->volume * (s[0] * b[0] + s[5] * b[1] + s[4] * b[2]);
    to[1] += sign * e->volume * (s[5] * b[0] + s[1] * b[1] + s[3] * b[2]);
    to[2] += sign * e->volume * (s[4] * b[0] + s[3] * b[1] + s[2] * b[2]);
  }
}

static inline periodic_element* periodic_elements(const periodic_cell* cell,
                                                  const int32_t* merged) {
  periodic_element* all = malloc(cell->num_tets * sizeof *all);
  for (int32_t t = 0; t < cell->num_tets; ++t) {
    yw_dvec3 x[4];
    periodic_element* e = all + t;
    for (int a = 0; a < 4; ++a) {
      x[a] = cell->positions[cell->tets[4 * t + a]];
      e->node[a] = merged[cell->tets[4 * t + a]];
    }
    e->volume = 0.0;
    for (int a = 0; a < 4; ++a) {
      // The gradient is perpendicular to the opposite face.
      yw_dvec3 p = x[(a + 1) & 3], q = x[(a + 2) & 3], r = x[(a + 3) & 3];
      yw_dvec3 n = yw_dcross(yw_dsub(q, p), yw_dsub(r, p));
      double height = yw_ddot(n, yw_dsub(x[a], p));
      e->b[a][0] = n.x / height, e->b[a][1] = n.y / height, e->b[a][2] = n.z / height;
      e->volume = fabs(height) / 6.0;
    }
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 6; ++j) e->c[i][j] = yw_sym6_get(cell->elasticity + t, i, j);
    }
  }
  return all;
}

static inline void periodic_multiply(const periodic_cell* cell, const periodic_element* all,
                                     int32_t unknowns, const double* u, double* f) {
  memset(f, 0, unknowns * sizeof *f);
  for (int32_t t = 0; t < cell->num_tets; ++t) {
    double strain[6];
    periodic_strain(all + t, u, strain);
    periodic_add_stress(all + t, strain, 1.0, f);
  }
}

/// Conjugate gradients; rigid translations never appear, since the load has none.
static inline void periodic_solve(const periodic_cell* cell, const periodic_element* all, int32_t n,
                                  const double* load, double* u) {
  double *r = malloc(n * sizeof *r), *p = malloc(n * sizeof *p), *q = malloc(n * sizeof *q);
  double *z = malloc(n * sizeof *z), *d = calloc(n, sizeof *d), rho = 0.0, enough = 0.0;
  for (int32_t t = 0; t < cell->num_tets; ++t) {
    const periodic_element* e = all + t;
    for (int a = 0; a < 4; ++a) {
      double g2 = e->b[a][0] * e->b[a][0] + e->b[a][1] * e->b[a][1] + e->b[a][2] * e->b[a][2];
      for (int k = 0; k < 3; ++k) d[3 * e->node[a] + k] += e->volume * e->c[k][k] * g2;
    }
  }
  for (int32_t i = 0; i < n; ++i) {
    if (d[i] == 0.0) d[i] = 1.0;  // nodes without tets
    u[i] = 0.0, r[i] = load[i], p[i] = z[i] = r[i] / d[i];
    rho += r[i] * z[i];
  }
  // Relative to the load, or to rounding if the load is zero up to rounding.
  for (int32_t i = 0; i < n; ++i) enough += 1e-32 * d[i];
  if (1e-20 * rho > enough) enough = 1e-20 * rho;
  for (int step = 0; step < 20000 && rho > enough; ++step) {
    double pq = 0.0, next = 0.0;
    periodic_multiply(cell, all, n, p, q);
    for (int32_t i = 0; i < n; ++i) pq += p[i] * q[i];
    for (int32_t i = 0; i < n; ++i) {
      u[i] += rho / pq * p[i], r[i] -= rho / pq * q[i], z[i] = r[i] / d[i];
      next += r[i] * z[i];
    }
    for (int32_t i = 0; i < n; ++i) p[i] = z[i] + next / rho * p[i];
    rho = next;
  }
  free(r);
  free(p);
  free(q);
  free(z);
  free(d);
}

/// Mean stress per mean strain.
static inline yw_sym6 periodic_elasticity(const periodic_cell* cell) {
  int32_t* merged = malloc(cell->num_nodes * sizeof *merged);
  int32_t n = 3 * periodic_merge(cell, merged);
  periodic_element* all = periodic_elements(cell, merged);
  double *load = malloc(n * sizeof *load), *u = malloc(n * sizeof *u);
  double volume = cell->size[0] * cell->size[1] * cell->size[2];
  yw_mat6 c = {{0}};
  for (int m = 0; m < 6; ++m) {
    double unit[6] = {0};
    unit[m] = 1.0;
    memset(load, 0, n * sizeof *load);
    for (int32_t t = 0; t < cell->num_tets; ++t) periodic_add_stress(all + t, unit, -1.0, load);
    periodic_solve(cell, all, n, load, u);
    for (int32_t t = 0; t < cell->num_tets; ++t) {
      double strain[6];
      periodic_strain(all + t, u, strain);
      strain[m] += 1.0;
      for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
          c.m[6 * i + m] += all[t].volume / volume * all[t].c[i][j] * strain[j];
        }
      }
    }
  }
  free(merged);
  free(all);
  free(load);
  free(u);
  return yw_sym6_of(&c);
}

#endif
