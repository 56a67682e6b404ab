// SPDX-License-Identifier: MIT
// One coarse tet and its children as a separate small body: the paper's sampling, and the fallback
// where embedded sampling has too little information. Ranges of validity.
#include "math/small/dense.h"
#include "methods/fem/sampling.h"

// Families ----------------------------------------------------------------------------------------

// The symmetric displacement gradient of unit strain m.
static void unit_gradient(int m, double out[9]) {
  double e[6] = {0};
  e[m] = 1.0;
  yw_matrix_of_strain(e, out);
}

static yw_dvec3 apply3(const double a[9], yw_dvec3 x) {
  return (yw_dvec3){a[0] * x.x + a[1] * x.y + a[2] * x.z, a[3] * x.x + a[4] * x.y + a[5] * x.z,
                    a[6] * x.x + a[7] * x.y + a[8] * x.z};
}

// Affine displacements of all local nodes in six cases: u[node][case].
static void affine_displacements(const fem_family* family, yw_dvec3 u[FEM_FAMILY_NODES][6]) {
  for (int m = 0; m < 6; ++m) {
    double gradient[9];
    unit_gradient(m, gradient);
    for (int i = 0; i < family->num_nodes; ++i) {
      u[i][m] = apply3(gradient, yw_dsub(family->x[i], family->x[0]));
    }
  }
}

#define MAX_FREE 21

// Solves for the nodes from first_free on: K_ff du = -(K u)_f.
static bool settle_free_nodes(const fem_family* family, int first_free,
                              yw_dvec3 u[FEM_FAMILY_NODES][6]) {
  int n = 3 * (family->num_nodes - first_free);
  double k[MAX_FREE * MAX_FREE] = {0}, lower[MAX_FREE * MAX_FREE], load[6][MAX_FREE] = {{0}};
  if (n == 0) return true;
  for (int c = 0; c < family->num_children; ++c) {
    yw_dvec3 x[4];
    double element[144];
    for (int s = 0; s < 4; ++s) x[s] = family->x[family->local[c][s]];
    yw_fem_element_matrix(x, family->elasticity[c], element);
    for (int r = 0; r < 12; ++r) {
      int row = 3 * (family->local[c][r / 3] - first_free) + r % 3;
      if (row < 0) continue;
      for (int q = 0; q < 12; ++q) {
        int node = family->local[c][q / 3], column = 3 * (node - first_free) + q % 3;
        if (column >= 0) k[row * n + column] += element[12 * r + q];
        for (int m = 0; m < 6; ++m) {
          yw_dvec3 d = u[node][m];
          load[m][row] -= element[12 * r + q] * (q % 3 == 0 ? d.x : q % 3 == 1 ? d.y : d.z);
        }
      }
    }
  }
  if (!yw_dense_cholesky(n, k, lower)) return false;
  for (int m = 0; m < 6; ++m) {
    yw_dense_solve(n, lower, load[m], load[m]);
    for (int i = first_free; i < family->num_nodes; ++i) {
      const double* d = load[m] + 3 * (i - first_free);
      u[i][m] = yw_dadd(u[i][m], (yw_dvec3){d[0], d[1], d[2]});
    }
  }
  return true;
}

bool yw_fem_family_gradients(const fem_family* family, bool free_midpoints,
                             double gradients[FEM_FAMILY_CHILDREN][54]) {
  yw_dvec3 u[FEM_FAMILY_NODES][6];
  affine_displacements(family, u);
  if (!settle_free_nodes(family, free_midpoints ? 4 : 10, u)) return false;
  for (int c = 0; c < family->num_children; ++c) {
    yw_dvec3 x[4], g[4];
    for (int s = 0; s < 4; ++s) x[s] = family->x[family->local[c][s]];
    yw_tet_gradients(x, g);
    memset(gradients[c], 0, sizeof gradients[c]);
    for (int s = 0; s < 4; ++s) {
      const double along[3] = {g[s].x, g[s].y, g[s].z};
      for (int m = 0; m < 6; ++m) {
        yw_dvec3 d = u[family->local[c][s]][m];
        for (int j = 0; j < 3; ++j) {
          gradients[c][9 * m + j] += d.x * along[j];
          gradients[c][9 * m + 3 + j] += d.y * along[j];
          gradients[c][9 * m + 6 + j] += d.z * along[j];
        }
      }
    }
  }
  return true;
}

// Ranges ------------------------------------------------------------------------------------------

static void multiply3(const double a[9], const double b[9], double out[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
    }
  }
}

// The Green strain of F = 1 + alpha H is alpha e + alpha^2 q / 2 with q = H^T H. P = F C E is a
// cubic in alpha, so its coefficients can be summed once for all alpha. The sum is the work of P in
// the motions that belong to unit strains of the coarse tet: for small alpha this is exactly
// C_bar alpha.
void yw_fem_range_add(fem_range_sum* sum, const fem_piece* piece) {
  sum->volume += piece->volume;
  for (int m = 0; m < 6; ++m) {
    const double* h = piece->gradient + 9 * m;
    double e[6], stress[6], q[9], q6[6], bent[6], s1[9], s2[9], hs1[9], hs2[9];
    double transposed[9] = {h[0], h[3], h[6], h[1], h[4], h[7], h[2], h[5], h[8]};
    yw_strain_of_gradient(h, e);
    multiply3(transposed, h, q);
    q6[0] = q[0], q6[1] = q[4], q6[2] = q[8];
    q6[3] = q[5] + q[7], q6[4] = q[2] + q[6], q6[5] = q[1] + q[3];
    yw_sym6_apply(piece->elasticity, e, stress);
    yw_sym6_apply(piece->elasticity, q6, bent);
    yw_matrix_of_stress(stress, s1);
    yw_matrix_of_stress(bent, s2);
    multiply3(h, s1, hs1);
    multiply3(h, s2, hs2);
    for (int k = 0; k < 9; ++k) {
      hs1[k] += 0.5 * s2[k];
      hs2[k] *= 0.5;
    }
    for (int j = 0; j < 6; ++j) {
      const double* direction = piece->gradient + 9 * j;
      double p1 = 0.0, p2 = 0.0, p3 = 0.0;
      for (int k = 0; k < 9; ++k) {
        p1 += s1[k] * direction[k];
        p2 += hs1[k] * direction[k];
        p3 += hs2[k] * direction[k];
      }
      sum->p[m][0][j] += piece->volume * p1;
      sum->p[m][1][j] += piece->volume * p2;
      sum->p[m][2][j] += piece->volume * p3;
    }
  }
}

void yw_fem_range_stress(const fem_range_sum* sum, const yw_sym6* c_bar, int m, double alpha,
                         double stress[6], double line[6]) {
  double unit[9], square[9], f[9], green[6], s6[6], s[9], p[9];
  unit_gradient(m, unit);
  multiply3(unit, unit, square);
  for (int k = 0; k < 9; ++k) {
    f[k] = alpha * unit[k] + (k % 4 == 0 ? 1.0 : 0.0);
    square[k] = alpha * unit[k] + 0.5 * alpha * alpha * square[k];
  }
  yw_strain_of_gradient(square, green);
  yw_sym6_apply(c_bar, green, s6);
  yw_matrix_of_stress(s6, s);
  multiply3(f, s, p);
  for (int j = 0; j < 6; ++j) {
    const double(*q)[6] = sum->p[m];
    stress[j] = alpha * (q[0][j] + alpha * (q[1][j] + alpha * q[2][j])) / sum->volume;
    unit_gradient(j, unit);
    line[j] = 0.0;
    for (int k = 0; k < 9; ++k) line[j] += p[k] * unit[k];
  }
}

// True if the linear law still holds at alpha: |sigma - C e| <= T1 |C e| or <= T2, in the norm of
// all components. The paper's test of one component at a time fails wherever that component should
// be zero. Only terms that grow faster than alpha count.
static bool line_holds(const fem_range_sum* sum, const yw_sym6* c_bar, int m, double alpha,
                       const fem_sampling_def* def) {
  double stress[6], line[6], error2 = 0.0, size2 = 0.0;
  yw_fem_range_stress(sum, c_bar, m, alpha, stress, line);
  for (int k = 0; k < 6; ++k) {
    double first = alpha * (sum->p[m][0][k] / sum->volume - yw_sym6_get(c_bar, k, m));
    error2 += (stress[k] - line[k] - first) * (stress[k] - line[k] - first);
    size2 += line[k] * line[k];
  }
  double relative = def->range_tolerance, absolute = def->range_stress;
  return error2 <= relative * relative * size2 || error2 < absolute * absolute;
}

#define FIRST_ALPHA 1e-3
#define LAST_ALPHA 0.7

// Increases alpha by a quarter until the linear law fails, then bisects the last step.
static float limit_of(const fem_range_sum* sum, const yw_sym6* c_bar, int m, double sign,
                      const fem_sampling_def* def) {
  double good = 0.0, bad = 0.0;
  for (double a = FIRST_ALPHA; bad == 0.0; a *= 1.25) {
    if (a > LAST_ALPHA) return (float)(sign * INFINITY);
    if (line_holds(sum, c_bar, m, sign * a, def)) {
      good = a;
    } else {
      bad = a;
    }
  }
  for (int i = 0; i < 6; ++i) {
    double a = 0.5 * (good + bad);
    if (line_holds(sum, c_bar, m, sign * a, def)) {
      good = a;
    } else {
      bad = a;
    }
  }
  // As Green strain: stretches gain half their square, shears do not.
  good *= sign;
  return (float)(m < 3 ? good + 0.5 * good * good : good);
}

fem_range yw_fem_range_find(const fem_range_sum* sum, const yw_sym6* c_bar,
                            const fem_sampling_def* def) {
  fem_range range;
  for (int m = 0; m < 6; ++m) {
    range.low[m] = limit_of(sum, c_bar, m, -1.0, def);
    range.high[m] = limit_of(sum, c_bar, m, 1.0, def);
  }
  return range;
}

fem_moduli yw_fem_moduli(const yw_sym6* c) {
  double normal = 0.0, across = 0.0, shear = 0.0;
  for (int i = 0; i < 3; ++i) {
    normal += yw_sym6_get(c, i, i);
    across += yw_sym6_get(c, i, (i + 1) % 3);
    shear += yw_sym6_get(c, i + 3, i + 3);
  }
  double bulk = (normal + 2.0 * across) / 9.0, g = (normal - across + 3.0 * shear) / 15.0;
  return (fem_moduli){.youngs = 9.0 * bulk * g / (3.0 * bulk + g),
                      .bulk = bulk,
                      .shear = g,
                      .poissons = (3.0 * bulk - 2.0 * g) / (2.0 * (3.0 * bulk + g))};
}
