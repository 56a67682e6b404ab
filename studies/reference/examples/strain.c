// SPDX-License-Identifier: MIT
#include "reference/examples/strain.h"

#include <math.h>
#include <string.h>

#define SQRT2 1.4142135623730951

static void cross(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void times(const double m[9], const double v[3], double out[3]) {
  for (int i = 0; i < 3; ++i) out[i] = m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2];
}

// det F and its derivative by F, the matrix of cofactors.
static double volume_ratio(const double f[9], double cofactors[9]) {
  cross(f + 3, f + 6, cofactors);
  cross(f + 6, f, cofactors + 3);
  cross(f, f + 3, cofactors + 6);
  return dot(f, cofactors);
}

// The symmetric matrix of a 6-vector.
static void unpack(const double e[6], double m[9]) {
  m[0] = e[0], m[4] = e[1], m[8] = e[2];
  m[1] = m[3] = e[3] / SQRT2;
  m[5] = m[7] = e[4] / SQRT2;
  m[2] = m[6] = e[5] / SQRT2;
}

// Rest data ---------------------------------------------------------------------------------------

bool strain_rest(const yw_tet_mesh* mesh, strain_tet* out) {
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    strain_tet* tet = &out[t];
    double edges[3][3], normals[3][3];
    for (int a = 0; a < 4; ++a) tet->v[a] = mesh->tets[4 * t + a];
    for (int a = 0; a < 3; ++a) {
      for (int i = 0; i < 3; ++i) {
        edges[a][i] = (double)(&mesh->positions[tet->v[a + 1]].x)[i] -
                      (double)(&mesh->positions[tet->v[0]].x)[i];
      }
    }
    for (int a = 0; a < 3; ++a) cross(edges[(a + 1) % 3], edges[(a + 2) % 3], normals[a]);
    double six = dot(edges[0], normals[0]);
    if (!(fabs(six) > 0.0)) return false;
    tet->volume = fabs(six) / 6.0;
    for (int i = 0; i < 3; ++i) {
      for (int a = 0; a < 3; ++a) tet->g[a + 1][i] = normals[a][i] / six;
      tet->g[0][i] = -tet->g[1][i] - tet->g[2][i] - tet->g[3][i];
    }
  }
  return true;
}

// Strain ------------------------------------------------------------------------------------------

void strain_gradient(const strain_tet* tet, const double* x, double f[9]) {
  memset(f, 0, 9 * sizeof *f);
  for (int a = 0; a < 4; ++a) {
    const double* p = x + 3 * (size_t)tet->v[a];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) f[3 * i + j] += p[i] * tet->g[a][j];
    }
  }
}

// sum over i of a(i, j) b(i, k)
static double columns(const double* a, const double* b, int j, int k) {
  return a[j] * b[k] + a[3 + j] * b[3 + k] + a[6 + j] * b[6 + k];
}

void strain_change(const double f[9], const double df[9], double e[6]) {
  static const int pairs[3][2] = {{0, 1}, {1, 2}, {2, 0}};
  for (int i = 0; i < 3; ++i) e[i] = columns(f, df, i, i);
  for (int k = 0; k < 3; ++k) {
    int i = pairs[k][0], j = pairs[k][1];
    e[3 + k] = SQRT2 * 0.5 * (columns(f, df, i, j) + columns(f, df, j, i));
  }
}

void strain_green(const double f[9], double e[6]) {
  strain_change(f, f, e);
  for (int i = 0; i < 6; ++i) e[i] = 0.5 * (e[i] - (i < 3 ? 1.0 : 0.0));
}

// Energy and its derivatives ----------------------------------------------------------------------

// young * (E - target) as a matrix.
static void stress(strain_moduli moduli, const double f[9], const double target[6], double s[9]) {
  double e[6];
  strain_green(f, e);
  for (int i = 0; i < 6; ++i) e[i] = moduli.young * (e[i] - target[i]);
  unpack(e, s);
}

double strain_energy(const strain_tet* tet, strain_moduli moduli, const double f[9],
                     const double target[6]) {
  double e[6], cofactors[9], sum = 0.0;
  strain_green(f, e);
  for (int i = 0; i < 6; ++i) sum += (e[i] - target[i]) * (e[i] - target[i]);
  double change = volume_ratio(f, cofactors) - 1.0;
  return 0.5 * tet->volume * (moduli.young * sum + moduli.volume * change * change);
}

void strain_add_gradient(const strain_tet* tet, strain_moduli moduli, const double f[9],
                         const double target[6], double* out) {
  double s[9], cofactors[9], p[9];
  stress(moduli, f, target, s);
  double pressure = moduli.volume * (volume_ratio(f, cofactors) - 1.0);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      p[3 * i + j] = dot(f + 3 * i, s + 3 * j) + pressure * cofactors[3 * i + j];
    }
  }
  for (int a = 0; a < 4; ++a) {
    double force[3];
    times(p, tet->g[a], force);
    double* to = out + 3 * (size_t)tet->v[a];
    for (int i = 0; i < 3; ++i) to[i] += tet->volume * force[i];
  }
}

// Terms of the stiffness that a pair of corners shares.
typedef struct pair_terms {
  double along, across;  // of the unit matrix; of F F^T
  double volume;         // of the cofactors
  double turn[3];        // of the skew matrix
} pair_terms;

static pair_terms terms_of(const strain_tet* tet, strain_moduli moduli, const double f[9],
                           const double s[9], double pressure, int a, int b, bool whole) {
  pair_terms t = {0};
  t.across = 0.5 * moduli.young * dot(tet->g[a], tet->g[b]);
  t.volume = moduli.volume;
  if (!whole) return t;
  double sg[3], normal[3];
  times(s, tet->g[b], sg);
  t.along = dot(tet->g[a], sg);
  cross(tet->g[a], tet->g[b], normal);
  times(f, normal, t.turn);
  for (int i = 0; i < 3; ++i) t.turn[i] *= pressure;
  return t;
}

void strain_stiffness(const strain_tet* tet, strain_moduli moduli, const double f[9],
                      const double target[6], bool whole, double out[144]) {
  double s[9], cofactors[9], ff[9], fg[4][3], cg[4][3];
  stress(moduli, f, target, s);
  double pressure = moduli.volume * (volume_ratio(f, cofactors) - 1.0);
  for (int i = 0; i < 9; ++i) ff[i] = dot(f + 3 * (i / 3), f + 3 * (i % 3));
  for (int a = 0; a < 4; ++a) {
    times(f, tet->g[a], fg[a]);
    times(cofactors, tet->g[a], cg[a]);
  }
  for (int a = 0; a < 4; ++a) {
    for (int b = a; b < 4; ++b) {
      pair_terms t = terms_of(tet, moduli, f, s, pressure, a, b, whole);
      // -[m]x, from (u x v) . m = u . (v x m)
      const double skew[9] = {0,         t.turn[2], -t.turn[1], -t.turn[2], 0,
                              t.turn[0], t.turn[1], -t.turn[0], 0};
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          double value = (i == j ? t.along : 0.0) + t.across * ff[3 * i + j] +
                         0.5 * moduli.young * fg[b][i] * fg[a][j] + t.volume * cg[a][i] * cg[b][j] +
                         skew[3 * i + j];
          out[12 * (3 * a + i) + 3 * b + j] = tet->volume * value;
          out[12 * (3 * b + j) + 3 * a + i] = tet->volume * value;
        }
      }
    }
  }
}
