// SPDX-License-Identifier: MIT
// St. Venant-Kirchhoff forces as in textbooks: F = Ds Dm^-1, E = (F^T F - 1) / 2, S = lambda tr E +
// 2 mu E, and -V F S Dm^-T on the corners.
#include "reference/fem_reference.h"

#include <stdlib.h>
#include <string.h>

typedef struct reference_tet {
  int32_t corner[4];
  double inverse[3][3];  // Dm^-1
  double volume;
} reference_tet;

struct fem_reference {
  int32_t num_tets, num_vertices;
  double lambda, mu;
  reference_tet* tets;
};

static void invert(const double m[3][3], double out[3][3], double* det) {
  double c[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      c[j][i] = m[i1][j1] * m[i2][j2] - m[i1][j2] * m[i2][j1];
    }
  }
  *det = m[0][0] * c[0][0] + m[0][1] * c[1][0] + m[0][2] * c[2][0];
  for (int k = 0; k < 9; ++k) out[k / 3][k % 3] = c[k / 3][k % 3] / *det;
}

fem_reference* fem_reference_create(const yw_tet_mesh* mesh, const double* rest,
                                    double youngs_modulus, double poissons_ratio) {
  fem_reference* r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->num_tets = mesh->num_tets;
  r->num_vertices = mesh->num_vertices;
  r->lambda =
      youngs_modulus * poissons_ratio / ((1.0 + poissons_ratio) * (1.0 - 2.0 * poissons_ratio));
  r->mu = youngs_modulus / (2.0 * (1.0 + poissons_ratio));
  r->tets = calloc((size_t)mesh->num_tets, sizeof *r->tets);
  if (!r->tets) {
    fem_reference_destroy(r);
    return NULL;
  }
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    reference_tet* tet = &r->tets[t];
    memcpy(tet->corner, mesh->tets + 4 * (size_t)t, sizeof tet->corner);
    double edges[3][3], det;
    for (int k = 0; k < 3; ++k) {
      const double* a = rest + 3 * (size_t)tet->corner[0];
      const double* b = rest + 3 * (size_t)tet->corner[k + 1];
      for (int i = 0; i < 3; ++i) edges[i][k] = b[i] - a[i];
    }
    invert((const double(*)[3])edges, tet->inverse, &det);
    tet->volume = det / 6.0;
  }
  return r;
}

void fem_reference_destroy(fem_reference* r) {
  if (!r) return;
  free(r->tets);
  free(r);
}

static void tet_forces(const fem_reference* r, const reference_tet* tet, const double* x,
                       double* forces) {
  double F[3][3] = {{0}}, S[3][3], P[3][3];
  const double* origin = x + 3 * (size_t)tet->corner[0];
  for (int k = 0; k < 3; ++k) {
    const double* p = x + 3 * (size_t)tet->corner[k + 1];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) F[i][j] += (p[i] - origin[i]) * tet->inverse[k][j];
    }
  }
  double trace = 0.0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      double e = 0.5 * (F[0][i] * F[0][j] + F[1][i] * F[1][j] + F[2][i] * F[2][j] - (i == j));
      S[i][j] = 2.0 * r->mu * e;
      if (i == j) trace += e;
    }
  }
  for (int i = 0; i < 3; ++i) S[i][i] += r->lambda * trace;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      P[i][j] = tet->volume * (F[i][0] * S[0][j] + F[i][1] * S[1][j] + F[i][2] * S[2][j]);
    }
  }
  double* first = forces + 3 * (size_t)tet->corner[0];
  for (int k = 0; k < 3; ++k) {
    double* to = forces + 3 * (size_t)tet->corner[k + 1];
    const double* g = tet->inverse[k];
    for (int i = 0; i < 3; ++i) {
      double f = P[i][0] * g[0] + P[i][1] * g[1] + P[i][2] * g[2];
      to[i] -= f;
      first[i] += f;
    }
  }
}

void fem_reference_forces(const fem_reference* r, const double* positions, double* forces) {
  memset(forces, 0, 3 * sizeof *forces * (size_t)r->num_vertices);
  for (int32_t t = 0; t < r->num_tets; ++t) tet_forces(r, &r->tets[t], positions, forces);
}
