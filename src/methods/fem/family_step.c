// SPDX-License-Identifier: MIT
// Stable steps of softened families. Softening lowers the highest frequency, so that a family takes
// longer steps than its tets would alone.
#include <math.h>
#include <string.h>

#include "methods/fem/model.h"

// Power iteration approaches the largest eigenvalue from below.
#define POWER_STEPS 60
#define MARGIN 1.05
#define FEM_FAMILY_UNKNOWNS (3 * FEM_FAMILY_NODES)

// A family of a root's own size: strain matrices, volumes and nodes of its children.
typedef struct family_rig {
  int32_t num_children, num_nodes;
  uint8_t node[FEM_FAMILY_CHILDREN][4];
  double b[FEM_FAMILY_CHILDREN][6][12];
  double volume[FEM_FAMILY_CHILDREN], all;
  double inv_mass[FEM_FAMILY_NODES];
} family_rig;

static void add_child(const fem_hierarchy* h, int32_t root, const fem_child_rule* rule,
                      family_rig* rig) {
  const fem_shape* shape = &h->shapes[root][rule->type];
  int32_t c = rig->num_children++;
  double(*b)[12] = rig->b[c];
  rig->volume[c] = 0.125 * shape->volume;
  rig->all += rig->volume[c];
  for (int a = 0; a < 4; ++a) {
    const double scale = 2.0 * (double)rule->sign;
    const double g[3] = {scale * shape->gradient[a][0], scale * shape->gradient[a][1],
                         scale * shape->gradient[a][2]};
    rig->node[c][a] = rule->local[a];
    b[0][3 * a] = b[4][3 * a + 2] = b[5][3 * a + 1] = g[0];
    b[1][3 * a + 1] = b[3][3 * a + 2] = b[5][3 * a] = g[1];
    b[2][3 * a + 2] = b[3][3 * a + 1] = b[4][3 * a] = g[2];
  }
}

static void make_rig(const fem_hierarchy* h, int32_t root, int type, double density,
                     family_rig* rig) {
  fem_child_rule rules[FEM_FAMILY_CHILDREN];
  int count = yw_fem_child_rules(type, rules);
  *rig = (family_rig){.num_nodes = yw_fem_num_family_nodes(type)};
  for (int c = 0; c < count; ++c) add_child(h, root, &rules[c], rig);
  double mass[FEM_FAMILY_NODES] = {0};
  for (int32_t c = 0; c < rig->num_children; ++c) {
    for (int a = 0; a < 4; ++a) mass[rig->node[c][a]] += 0.25 * density * rig->volume[c];
  }
  for (int32_t n = 0; n < rig->num_nodes; ++n) rig->inv_mass[n] = 1.0 / mass[n];
}

// y = m x for the columns of a 6-row matrix.
static void multiply(const double* m, int columns, const double* x, double* y) {
  for (int i = 0; i < 6; ++i) {
    for (int q = 0; q < columns; ++q) {
      double sum = 0.0;
      for (int j = 0; j < 6; ++j) sum += m[6 * i + j] * x[j * columns + q];
      y[i * columns + q] = sum;
    }
  }
}

// K_f of W = sum V_c / 2 E_c (C_c - K) E_c + V / 2 E_m K E_m (soften.h).
static void assemble(const family_rig* rig, const float* const c[FEM_FAMILY_CHILDREN],
                     const float* part, double* matrix) {
  const int n = FEM_FAMILY_UNKNOWNS;
  double rest[6][6], soft[6][6], mean[6][FEM_FAMILY_UNKNOWNS] = {{0}};
  memset(matrix, 0, sizeof(double) * (size_t)n * (size_t)n);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) soft[i][j] = (double)part[yw_fem_matrix_at(i, j)];
  }
  for (int32_t k = 0; k < rig->num_children; ++k) {
    double stress[6][12];
    int at[12];
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 6; ++j) rest[i][j] = (double)c[k][yw_fem_matrix_at(i, j)] - soft[i][j];
    }
    for (int q = 0; q < 12; ++q) at[q] = 3 * rig->node[k][q / 3] + q % 3;
    multiply(&rest[0][0], 12, &rig->b[k][0][0], &stress[0][0]);
    for (int i = 0; i < 6; ++i) {
      for (int q = 0; q < 12; ++q) {
        mean[i][at[q]] += rig->volume[k] / rig->all * rig->b[k][i][q];
        double force = rig->volume[k] * rig->b[k][i][q];
        for (int p = 0; p < 12; ++p) matrix[at[q] * n + at[p]] += force * stress[i][p];
      }
    }
  }
  double stress[6][FEM_FAMILY_UNKNOWNS];
  multiply(&soft[0][0], n, &mean[0][0], &stress[0][0]);
  for (int q = 0; q < n; ++q) {
    for (int i = 0; i < 6; ++i) {
      for (int p = 0; p < n; ++p) matrix[q * n + p] += rig->all * mean[i][q] * stress[i][p];
    }
  }
}

double yw_fem_family_step(const fem_hierarchy* h, int32_t root, int type,
                          const float* const c[FEM_FAMILY_CHILDREN], const float part[FEM_MATRIX],
                          double density) {
  family_rig rig;
  make_rig(h, root, type, density, &rig);
  double x[FEM_FAMILY_UNKNOWNS] = {0}, f[FEM_FAMILY_UNKNOWNS], largest = 0.0;
  double matrix[FEM_FAMILY_UNKNOWNS * FEM_FAMILY_UNKNOWNS];
  assemble(&rig, c, part, matrix);
  // Alternating signs and uneven sizes: part of every mode.
  for (int i = 0; i < 3 * rig.num_nodes; ++i) x[i] = (i % 2 ? -1.0 : 1.0) * (1.0 + 0.07 * i);
  for (int step = 0; step < POWER_STEPS; ++step) {
    memset(f, 0, sizeof f);
    // The three columns of a node at a time.
    for (int j = 0; j < 3 * rig.num_nodes; j += 3) {
      const double* column = matrix + j * FEM_FAMILY_UNKNOWNS;
      for (int i = 0; i < FEM_FAMILY_UNKNOWNS; ++i) {
        f[i] = f[i] + column[i] * x[j] + column[i + FEM_FAMILY_UNKNOWNS] * x[j + 1] +
               column[i + 2 * FEM_FAMILY_UNKNOWNS] * x[j + 2];
      }
    }
    double norm = 0.0, old = 0.0;
    for (int i = 0; i < 3 * rig.num_nodes; ++i) {
      f[i] *= rig.inv_mass[i / 3];
      norm += f[i] * f[i] / rig.inv_mass[i / 3];
      old += x[i] * x[i] / rig.inv_mass[i / 3];
    }
    largest = sqrt(norm / old);
    for (int i = 0; i < 3 * rig.num_nodes; ++i) x[i] = f[i] / sqrt(norm);
  }
  return 2.0 / sqrt(MARGIN * largest);
}
