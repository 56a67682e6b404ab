// SPDX-License-Identifier: MIT
// One coarse tet with prescribed strain, as in the paper's figure 3: stress far from rest.
#include "math/small/dense.h"
#include "methods/fem/sampling.h"

#define MAX_FREE 21
#define MAX_NEWTON 60
#define HALVINGS 20

typedef struct bending {
  const fem_family* family;
  yw_dvec3* x;
  int num_free;  // unknowns, of nodes 4 and up
} bending;

static double* node(yw_dvec3* x, int i) { return &x[i].x; }

static void multiply(const double a[9], const double b[9], double out[9]) {
  for (int i = 0; i < 9; ++i) {
    const double* row = a + 3 * (i / 3);
    out[i] = row[0] * b[i % 3] + row[1] * b[3 + i % 3] + row[2] * b[6 + i % 3];
  }
}

// Deformation gradient of child c, and the shape gradients g[4][3].
static void deform(const bending* b, int c, double g[12], double f[9]) {
  const fem_family* family = b->family;
  yw_dvec3 rest[4], gradient[4];
  for (int s = 0; s < 4; ++s) rest[s] = family->x[family->local[c][s]];
  yw_tet_gradients(rest, gradient);
  memset(f, 0, 9 * sizeof *f);
  for (int s = 0; s < 4; ++s) {
    const double* x = node(b->x, family->local[c][s]);
    g[3 * s] = gradient[s].x, g[3 * s + 1] = gradient[s].y, g[3 * s + 2] = gradient[s].z;
    for (int i = 0; i < 9; ++i) f[i] += x[i / 3] * g[3 * s + i % 3];
  }
}

static double stress_of(const yw_sym6* c, const double f[9], double s[9]) {
  double e[6] = {0}, t[6], energy = 0.0;
  for (int i = 0; i < 3; ++i) {
    const double* a = f + 3 * i;
    e[0] += 0.5 * a[0] * a[0], e[1] += 0.5 * a[1] * a[1], e[2] += 0.5 * a[2] * a[2];
    e[3] += a[1] * a[2], e[4] += a[0] * a[2], e[5] += a[0] * a[1];
  }
  for (int k = 0; k < 3; ++k) e[k] -= 0.5;
  yw_sym6_apply(c, e, t);
  for (int k = 0; k < 6; ++k) energy += 0.5 * t[k] * e[k];
  yw_matrix_of_stress(t, s);
  return energy;
}

static double energy_of(const bending* b) {
  double sum = 0.0, g[12], f[9], s[9];
  for (int c = 0; c < b->family->num_children; ++c) {
    deform(b, c, g, f);
    sum += b->family->volume[c] * stress_of(b->family->elasticity[c], f, s);
  }
  return sum;
}

// dP = dF S + F C (F^T dF) for dF = unit vector `axis` times the gradient h.
static void stress_change(const yw_sym6* c, const double f[9], const double s[9], int axis,
                          const double h[3], double dp[9]) {
  double df[9] = {0}, e[6], t[6], ds[9], left[9], right[9];
  for (int j = 0; j < 3; ++j) df[3 * axis + j] = h[j];
  // E' = sym(F^T dF)
  double m[9];
  for (int i = 0; i < 9; ++i) m[i] = f[3 * axis + i / 3] * h[i % 3];
  yw_strain_of_gradient(m, e);
  yw_sym6_apply(c, e, t);
  yw_matrix_of_stress(t, ds);
  multiply(df, s, left);
  multiply(f, ds, right);
  for (int k = 0; k < 9; ++k) dp[k] = left[k] + right[k];
}

// Forces (negative gradient) and the Hessian of the free nodes.
static void assemble(const bending* b, double* force, double* matrix) {
  const fem_family* family = b->family;
  int n = b->num_free;
  memset(force, 0, (size_t)n * sizeof *force);
  memset(matrix, 0, (size_t)(n * n) * sizeof *matrix);
  for (int c = 0; c < family->num_children; ++c) {
    double g[12], f[9], s[9], p[9], dp[9], volume = family->volume[c];
    deform(b, c, g, f);
    stress_of(family->elasticity[c], f, s);
    multiply(f, s, p);
    for (int q = 0; q < 12; ++q) {
      int column = 3 * (family->local[c][q / 3] - 4) + q % 3;
      if (column < 0) continue;
      const double* h = g + 3 * (q / 3);
      const double* row = p + 3 * (q % 3);
      force[column] -= volume * (row[0] * h[0] + row[1] * h[1] + row[2] * h[2]);
      stress_change(family->elasticity[c], f, s, q % 3, h, dp);
      for (int r = 0; r < 12; ++r) {
        int at = 3 * (family->local[c][r / 3] - 4) + r % 3;
        if (at < 0) continue;
        const double *k = g + 3 * (r / 3), *d = dp + 3 * (r % 3);
        matrix[at * n + column] += volume * (d[0] * k[0] + d[1] * k[1] + d[2] * k[2]);
      }
    }
  }
}

static void move(const bending* b, const double* step, double share) {
  for (int i = 0; i < b->num_free; ++i) node(b->x, 4 + i / 3)[i % 3] += share * step[i];
}

// Newton's method; raises the diagonal until the matrix is definite and the energy decreases.
static bool settle(const bending* b) {
  int n = b->num_free;
  double force[MAX_FREE], step[MAX_FREE], matrix[MAX_FREE * MAX_FREE], lower[MAX_FREE * MAX_FREE];
  double first = 0.0;
  for (int iter = 0; iter < MAX_NEWTON; ++iter) {
    assemble(b, force, matrix);
    double size = 0.0, scale = 0.0, raise = 0.0, share = 1.0;
    for (int i = 0; i < n; ++i) {
      size += force[i] * force[i];
      scale = fmax(scale, fabs(matrix[i * n + i]));
    }
    if (iter == 0) first = size;
    if (!isfinite(size)) return false;
    if (size <= 1e-22 * first || size == 0.0) return true;
    while (!yw_dense_cholesky(n, matrix, lower)) {
      double more = raise > 0.0 ? raise : 1e-4 * scale;
      for (int i = 0; i < n; ++i) matrix[i * n + i] += more;
      raise = 2.0 * raise + more;
      if (!(raise < 1e6 * scale)) return false;
    }
    yw_dense_solve(n, lower, force, step);
    double before = energy_of(b), gain = 0.0;
    for (int i = 0; i < n; ++i) gain += force[i] * step[i];
    move(b, step, 1.0);
    // Gains below the rounding of the energy are not checked.
    bool search = gain > 1e-10 * before;
    for (int h = 0; search && h < HALVINGS && !(energy_of(b) <= before); ++h) {
      move(b, step, -0.5 * share);
      share *= 0.5;
    }
    double moved = 0.0, reach = 0.0;
    for (int i = 0; i < n; ++i) moved += share * share * step[i] * step[i];
    for (int i = 0; i < 3; ++i) {
      double edge = node(b->x, 1)[i] - node(b->x, 0)[i];
      reach += edge * edge;
    }
    if (moved <= 1e-26 * reach) return true;
  }
  return false;
}

// The stretch whose Green strain is alpha e_m; false if there is none.
static bool stretch_of(int m, double alpha, double u[9]) {
  memset(u, 0, 9 * sizeof *u);
  u[0] = u[4] = u[8] = 1.0;
  if (m < 3) {
    if (!(1.0 + 2.0 * alpha > 0.0)) return false;
    u[4 * m] = sqrt(1.0 + 2.0 * alpha);
    return true;
  }
  if (!(fabs(alpha) < 1.0)) return false;
  int i = m == 3 ? 1 : 0, j = m == 5 ? 1 : 2;
  double sum = sqrt(1.0 + alpha), difference = sqrt(1.0 - alpha);
  u[4 * i] = u[4 * j] = 0.5 * (sum + difference);
  u[3 * i + j] = u[3 * j + i] = 0.5 * (sum - difference);
  return true;
}

bool yw_fem_family_bend(const fem_family* family, int m, double alpha, yw_dvec3* x,
                        double stress[6]) {
  double u[9], p[9] = {0}, volume = 0.0, s[9];
  bending b = {family, x, 3 * (family->num_nodes - 4)};
  if (!stretch_of(m, alpha, u)) return false;
  for (int i = 0; i < 4; ++i) {
    const double r[3] = {family->x[i].x, family->x[i].y, family->x[i].z};
    for (int k = 0; k < 3; ++k) {
      node(x, i)[k] = u[3 * k] * r[0] + u[3 * k + 1] * r[1] + u[3 * k + 2] * r[2];
    }
  }
  if (!settle(&b)) return false;
  for (int c = 0; c < family->num_children; ++c) {
    double g[12], f[9], pc[9];
    deform(&b, c, g, f);
    stress_of(family->elasticity[c], f, s);
    multiply(f, s, pc);
    volume += family->volume[c];
    for (int k = 0; k < 9; ++k) p[k] += family->volume[c] * pc[k];
  }
  // S = U^-1 P, symmetric part only.
  yw_mat6 six = {{0}}, inverse;
  for (int i = 0; i < 6; ++i) six.m[7 * i] = 1.0;
  for (int i = 0; i < 9; ++i) six.m[6 * (i / 3) + i % 3] = u[i];
  if (!yw_mat6_inverse(&six, &inverse)) return false;
  double back[9];
  for (int i = 0; i < 9; ++i) back[i] = inverse.m[6 * (i / 3) + i % 3] / volume;
  multiply(back, p, s);
  const double answer[6] = {
      s[0], s[4], s[8], 0.5 * (s[5] + s[7]), 0.5 * (s[2] + s[6]), 0.5 * (s[1] + s[3])};
  memcpy(stress, answer, sizeof answer);
  return true;
}
