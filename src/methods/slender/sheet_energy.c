// SPDX-License-Identifier: MIT
// Energy of a triangle of oriented particles; symbols as in model.h. All strains except stretch are
// bilinear in positions and directors and invariant under rotation of the whole, so that only
// stretch needs the frame R.
#include "methods/slender/sheet_energy.h"

#include <string.h>

#include "math/small/mat3d.h"

// Triangles of smaller area take their frame from the directors.
#define FLAT_AREA 1e-9

static void unit3(double a[3]) {
  double length = sqrt(yw_dot3(a, a));
  for (int i = 0; i < 3 && length > 0.0; ++i) a[i] /= length;
}

// F = R S: S is the square root of F^T F in closed form. A triangle without area gets a frame
// perpendicular to the mean director.
static void frame_of(sheet_state* t) {
  double c11 = yw_dot3(t->f[0], t->f[0]), c22 = yw_dot3(t->f[1], t->f[1]),
         c12 = yw_dot3(t->f[0], t->f[1]);
  yw_cross3(t->f[0], t->f[1], t->r[2]);
  double root = sqrt(yw_dot3(t->r[2], t->r[2]));
  double trace = sqrt(c11 + c22 + 2.0 * root);
  if (root > FLAT_AREA * (c11 + c22) && trace > 0.0) {
    t->s[0] = (c11 + root) / trace;
    t->s[1] = (c22 + root) / trace;
    t->s[2] = c12 / trace;
    for (int i = 0; i < 3; ++i) {
      t->r[0][i] = (t->s[1] * t->f[0][i] - t->s[2] * t->f[1][i]) / root;
      t->r[1][i] = (t->s[0] * t->f[1][i] - t->s[2] * t->f[0][i]) / root;
      t->r[2][i] /= root;
    }
    return;
  }
  double side[3];
  for (int i = 0; i < 3; ++i) {
    t->r[2][i] = t->n[0][i] + t->n[1][i] + t->n[2][i];
    t->r[0][i] = c11 >= c22 ? t->f[0][i] : t->tau[0][0][i];
  }
  unit3(t->r[2]);
  double off = yw_dot3(t->r[0], t->r[2]);
  for (int i = 0; i < 3; ++i) t->r[0][i] -= off * t->r[2][i];
  unit3(t->r[0]);
  yw_cross3(t->r[2], t->r[0], side);
  for (int i = 0; i < 3; ++i) t->r[1][i] = side[i];
  t->s[0] = yw_dot3(t->r[0], t->f[0]);
  t->s[1] = yw_dot3(t->r[1], t->f[1]);
  t->s[2] = 0.5 * (yw_dot3(t->r[0], t->f[1]) + yw_dot3(t->r[1], t->f[0]));
}

static void gather(const sheet_triangle* triangle, const slender_pose* pose, sheet_state* t) {
  memset(t->f, 0, sizeof t->f);
  memset(t->b, 0, sizeof t->b);
  for (int j = 0; j < 3; ++j) {
    int32_t p = triangle->particles[j];
    memcpy(t->x[j], pose->x + 3 * p, sizeof t->x[j]);
    yw_turn_apply(pose->q[p], triangle->normal[j], t->n[j]);
    for (int a = 0; a < 2; ++a) {
      yw_turn_apply(pose->q[p], triangle->tangent[a], t->tau[a][j]);
      for (int i = 0; i < 3; ++i) {
        t->f[a][i] += (t->x[j][i] - t->x[0][i]) * triangle->g[j][a];
        t->b[a][i] += t->n[j][i] * triangle->g[j][a];
      }
    }
  }
  frame_of(t);
}

// Adds the derivative with respect to the rotation of particle j; n is a vector that turns with it.
static void add_turning(double row[18], int j, const double n[3], const double dn[3]) {
  double t[3];
  yw_cross3(n, dn, t);
  for (int i = 0; i < 3; ++i) row[6 * j + 3 + i] += t[i];
}

static void stretch_and_bending(const sheet_triangle* triangle, sheet_state* t) {
  static const int first[3] = {0, 1, 0}, second[3] = {0, 1, 1};
  t->strain[0] = t->s[0] - 1.0;
  t->strain[1] = t->s[1] - 1.0;
  t->strain[2] = t->s[2];
  for (int c = 0; c < 3; ++c) {
    int u = first[c], v = second[c];
    t->strain[3 + c] =
        0.5 * (yw_dot3(t->f[u], t->b[v]) + yw_dot3(t->f[v], t->b[u])) - triangle->rest_bend[c];
    for (int j = 0; j < 3; ++j) {
      double gu = 0.5 * triangle->g[j][u], gv = 0.5 * triangle->g[j][v], dn[3];
      for (int i = 0; i < 3; ++i) {
        t->jacobian[c][6 * j + i] = gu * t->r[v][i] + gv * t->r[u][i];
        t->jacobian[3 + c][6 * j + i] = gu * t->b[v][i] + gv * t->b[u][i];
        dn[i] = gv * t->f[u][i] + gu * t->f[v][i];
      }
      add_turning(t->jacobian[3 + c], j, t->n[j], dn);
    }
  }
}

static void shear_and_drilling(const sheet_triangle* triangle, sheet_state* t) {
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3;
    double half = 0.5 * triangle->inv_length[i], edge[3], mean[3];
    for (int k = 0; k < 3; ++k) {
      edge[k] = half * (t->x[j][k] - t->x[i][k]);
      mean[k] = t->n[i][k] + t->n[j][k];
      t->jacobian[6 + i][6 * j + k] = half * mean[k];
      t->jacobian[6 + i][6 * i + k] = -half * mean[k];
    }
    t->strain[6 + i] = yw_dot3(mean, edge) - triangle->rest_shear[i];
    add_turning(t->jacobian[6 + i], i, t->n[i], edge);
    add_turning(t->jacobian[6 + i], j, t->n[j], edge);
  }
  for (int j = 0; j < 3; ++j) {
    double* row = t->jacobian[9 + j];
    const double *one = t->tau[0][j], *two = t->tau[1][j];
    double by_two[3], by_one[3];
    for (int i = 0; i < 3; ++i) {
      by_two[i] = 0.5 * t->f[0][i];
      by_one[i] = -0.5 * t->f[1][i];
      for (int k = 0; k < 3; ++k) {
        row[6 * k + i] = 0.5 * (triangle->g[k][0] * two[i] - triangle->g[k][1] * one[i]);
      }
    }
    t->strain[9 + j] = yw_dot3(two, by_two) + yw_dot3(one, by_one) - triangle->rest_drill[j];
    add_turning(row, j, two, by_two);
    add_turning(row, j, one, by_one);
  }
}

void yw_sheet_stiffness(const sheet_triangle* triangle, double k[SHEET_STRAINS / 3][9]) {
  memset(k, 0, sizeof(double) * 9 * (SHEET_STRAINS / 3));
  const double mu[2] = {triangle->mu, triangle->bend_mu};
  const double lambda[2] = {triangle->lambda, triangle->bend_lambda};
  for (int c = 0; c < 2; ++c) {
    k[c][0] = k[c][4] = 2.0 * mu[c] + lambda[c];
    k[c][1] = k[c][3] = lambda[c];
    k[c][8] = 4.0 * mu[c];
  }
  for (int i = 0; i < 3; ++i) {
    k[2][4 * i] = triangle->shear[i];
    k[3][4 * i] = triangle->drill;
  }
}

void yw_sheet_strains(const sheet_triangle* triangle, const slender_pose* pose, sheet_state* t) {
  double k[SHEET_STRAINS / 3][9];
  gather(triangle, pose, t);
  memset(t->jacobian, 0, sizeof t->jacobian);
  stretch_and_bending(triangle, t);
  shear_and_drilling(triangle, t);
  yw_sheet_stiffness(triangle, k);
  for (int i = 0; i < SHEET_STRAINS; ++i) {
    const double *row = k[i / 3] + 3 * (i % 3), *e = t->strain + i / 3 * 3;
    t->stress[i] = row[0] * e[0] + row[1] * e[1] + row[2] * e[2];
  }
}

// Second derivative -------------------------------------------------------------------------------

// dP_a = sum_b D_ab dF_b of stretching: 3x3 blocks D[a][b].
static void stretch_tangent(const sheet_triangle* triangle, const sheet_state* t,
                            slender_hessian kind, double d[2][2][9]) {
  double mu2 = 2.0 * triangle->mu, lambda = triangle->lambda;
  double trace = t->s[0] + t->s[1], det = t->s[0] * t->s[1] - t->s[2] * t->s[2];
  double c = mu2 - lambda * (trace - 2.0);
  double twist = c / fmax(trace, 1e-9);
  det = fmax(det, 1e-9 * trace * trace + 1e-30);
  // Perpendicular to the triangle: 2 mu - c S^-1, stress over stretch.
  double across[3] = {mu2 - c * t->s[1] / det, mu2 - c * t->s[0] / det, c * t->s[2] / det};
  if (kind == SLENDER_DEFINITE) {
    twist = fmin(twist, 0.5 * mu2);
    double mean = 0.5 * (across[0] + across[1]), half = 0.5 * (across[0] - across[1]);
    double radius = sqrt(half * half + across[2] * across[2]);
    double low = mean - radius, high = mean + radius;
    if (low < 0.0) {
      double up = fmax(high, 0.0), share = radius > 0.0 ? 0.5 * up / radius : 0.0;
      across[0] = 0.5 * up + share * half;
      across[1] = 0.5 * up - share * half;
      across[2] *= share;
    }
  }
  const double *r1 = t->r[0], *r2 = t->r[1], *r3 = t->r[2];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      int at = 3 * i + j;
      double plane = r1[i] * r1[j] + r2[i] * r2[j], normal = r3[i] * r3[j];
      d[0][0][at] =
          mu2 * plane + lambda * r1[i] * r1[j] - twist * r2[i] * r2[j] + across[0] * normal;
      d[1][1][at] =
          mu2 * plane + lambda * r2[i] * r2[j] - twist * r1[i] * r1[j] + across[1] * normal;
      d[0][1][at] = lambda * r1[i] * r2[j] + twist * r2[i] * r1[j] + across[2] * normal;
      d[1][0][at] = lambda * r2[i] * r1[j] + twist * r1[i] * r2[j] + across[2] * normal;
    }
  }
}

static void add_stretch(const sheet_triangle* triangle, const sheet_state* t, slender_hessian kind,
                        double h[18][18]) {
  double d[2][2][9];
  stretch_tangent(triangle, t, kind, d);
  for (int j = 0; j < 3; ++j) {
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < 9; ++i) {
        double sum = 0.0;
        for (int a = 0; a < 2; ++a) {
          for (int b = 0; b < 2; ++b) sum += triangle->g[j][a] * triangle->g[k][b] * d[a][b][i];
        }
        h[6 * j + i / 3][6 * k + i % 3] += sum;
      }
    }
  }
}

// Bending, shear and drilling with strains linearised: J^T K J.
static void add_linearised(const sheet_triangle* triangle, const sheet_state* t, double h[18][18]) {
  double k[SHEET_STRAINS / 3][9];
  yw_sheet_stiffness(triangle, k);
  for (int c = 3; c < SHEET_STRAINS; ++c) {
    double row[18];
    const double *kc = k[c / 3] + 3 * (c % 3), (*j)[18] = &t->jacobian[c / 3 * 3];
    for (int i = 0; i < 18; ++i) row[i] = kc[0] * j[0][i] + kc[1] * j[1][i] + kc[2] * j[2][i];
    for (int a = 0; a < 18; ++a) {
      double left = t->jacobian[c][a];
      if (left == 0.0) continue;
      for (int b = 0; b < 18; ++b) h[a][b] += left * row[b];
    }
  }
}

// A term c dx_k . dn_j of the second variation; n_j turns with particle j.
static void add_mixed(double h[18][18], int k, int j, const double n[3], double c) {
  const double m[9] = {0, n[2], -n[1], -n[2], 0, n[0], n[1], -n[0], 0};
  for (int i = 0; i < 9; ++i) {
    h[6 * k + i / 3][6 * j + 3 + i % 3] += c * m[i];
    h[6 * j + 3 + i % 3][6 * k + i / 3] += c * m[i];
  }
}

// f . d2n of a vector n that turns with particle j.
static void add_turned(double h[18][18], int j, const double n[3], const double f[3]) {
  double along = yw_dot3(f, n);
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      h[6 * j + 3 + a][6 * j + 3 + b] += 0.5 * (f[a] * n[b] + n[a] * f[b]) - (a == b ? along : 0.0);
    }
  }
}

// Stresses times second derivatives of bending, shear and drilling strains.
static void add_geometric(const sheet_triangle* triangle, const sheet_state* t, double h[18][18]) {
  const double(*g)[2] = triangle->g;
  const double *m = t->stress + 3, *q = t->stress + 6, *o = t->stress + 9;
  for (int j = 0; j < 3; ++j) {
    double fn[3];
    int before = (j + 2) % 3, after = (j + 1) % 3;
    double in = 0.5 * triangle->inv_length[before] * q[before];
    double out = 0.5 * triangle->inv_length[j] * q[j];
    for (int i = 0; i < 3; ++i) {
      double one = m[0] * g[j][0] + 0.5 * m[2] * g[j][1],
             two = m[1] * g[j][1] + 0.5 * m[2] * g[j][0];
      fn[i] = one * t->f[0][i] + two * t->f[1][i] + in * (t->x[j][i] - t->x[before][i]) +
              out * (t->x[after][i] - t->x[j][i]);
    }
    add_turned(h, j, t->n[j], fn);
    double f2[3], f1[3];
    for (int i = 0; i < 3; ++i) f2[i] = 0.5 * o[j] * t->f[0][i], f1[i] = -0.5 * o[j] * t->f[1][i];
    add_turned(h, j, t->tau[1][j], f2);
    add_turned(h, j, t->tau[0][j], f1);
    for (int k = 0; k < 3; ++k) {
      double bend = m[0] * g[k][0] * g[j][0] + m[1] * g[k][1] * g[j][1] +
                    0.5 * m[2] * (g[k][0] * g[j][1] + g[k][1] * g[j][0]);
      double shear = k == j ? in - out : k == before ? -in : out;
      add_mixed(h, k, j, t->n[j], bend + shear);
      add_mixed(h, k, j, t->tau[1][j], 0.5 * o[j] * g[k][0]);
      add_mixed(h, k, j, t->tau[0][j], -0.5 * o[j] * g[k][1]);
    }
  }
}

double yw_sheet_energy(const sheet_triangle* triangle, const slender_pose* pose, double* gradient,
                       double* hessian, slender_hessian kind) {
  sheet_state t;
  yw_sheet_strains(triangle, pose, &t);
  double energy = 0.0;
  for (int i = 0; i < SHEET_STRAINS; ++i) energy += 0.5 * t.stress[i] * t.strain[i];
  for (int k = 0; k < 18 && gradient; ++k) {
    gradient[k] = 0.0;
    for (int i = 0; i < SHEET_STRAINS; ++i) gradient[k] += t.stress[i] * t.jacobian[i][k];
  }
  if (hessian) {
    double(*h)[18] = (double(*)[18])hessian;
    memset(hessian, 0, sizeof(double) * 18 * 18);
    add_stretch(triangle, &t, kind, h);
    add_linearised(triangle, &t, h);
    if (kind == SLENDER_EXACT) add_geometric(triangle, &t, h);
  }
  return energy;
}
