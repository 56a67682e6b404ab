// SPDX-License-Identifier: MIT
// One linear tet of St. Venant-Kirchhoff material, formulated in its edges.
//
// With l_ab the length of edge ab, L_ab at rest and g_a the gradient of barycentric function a:
//   q_ab = (l_ab^2 - L_ab^2) / 2
//   E    = -1/2 sum over edges of q_ab (g_a g_b^T + g_b g_a^T) = N q        Green strain
//   W    = V/2 E^T C E = 1/2 q^T M q,   M = V N^T C N                       energy
//   f_a  = sum over edges of T_ab (x_b - x_a),   T = M q                    force
// These are the forces f_a = -V P g_a with P = F S, at half the work if tets share edges, and with
// any C at the cost of an isotropic one.
#ifndef YW_METHODS_FEM_ELEMENT_H
#define YW_METHODS_FEM_ELEMENT_H

#include "methods/fem/hierarchy.h"
#include "methods/fem/materials.h"

typedef struct fem_mat6 {
  double m[6][6];
} fem_mat6;

/// N of a shape at level 0: rows are strains, columns edges 01 02 03 12 13 23. At level l it is 4^l
/// times this, for either sign.
static inline void yw_fem_strain_matrix(const fem_shape* shape, fem_mat6* out) {
  double(*n)[6] = out->m;
  for (int e = 0; e < 6; ++e) {
    const double* a = shape->gradient[yw_fem_edges[e][0]];
    const double* b = shape->gradient[yw_fem_edges[e][1]];
    n[0][e] = -a[0] * b[0];
    n[1][e] = -a[1] * b[1];
    n[2][e] = -a[2] * b[2];
    n[3][e] = -(a[1] * b[2] + a[2] * b[1]);
    n[4][e] = -(a[0] * b[2] + a[2] * b[0]);
    n[5][e] = -(a[0] * b[1] + a[1] * b[0]);
  }
}

/// M = scale N^T C N; with scale V 2^(4 l) of a tet of level l.
static inline void yw_fem_edge_matrix(const fem_mat6* n, const float c[FEM_MATRIX], double scale,
                                      double m[FEM_MATRIX]) {
  double cn[6][6];
  for (int i = 0; i < 6; ++i) {
    for (int e = 0; e < 6; ++e) {
      double sum = 0.0;
      for (int j = 0; j < 6; ++j) sum += (double)c[yw_fem_matrix_at(i, j)] * n->m[j][e];
      cn[i][e] = sum;
    }
  }
  for (int d = 0; d < 6; ++d) {
    for (int e = d; e < 6; ++e) {
      double sum = 0.0;
      for (int i = 0; i < 6; ++i) sum += n->m[i][d] * cn[i][e];
      m[yw_fem_matrix_at(d, e)] = scale * sum;
    }
  }
}

/// q of the six edges.
static inline void yw_fem_edge_strains(const yw_dvec3 x[4], const yw_dvec3 rest[4], double q[6]) {
  for (int e = 0; e < 6; ++e) {
    int a = yw_fem_edges[e][0], b = yw_fem_edges[e][1];
    // (l - L)(l + L) on vectors preserves the digits of small strains.
    yw_dvec3 d = yw_dsub(x[b], x[a]), r = yw_dsub(rest[b], rest[a]);
    q[e] = 0.5 * yw_ddot(yw_dsub(d, r), yw_dadd(d, r));
  }
}

/// Green strain from q; scale is 4^level.
static inline void yw_fem_strain(const fem_mat6* n, double scale, const double q[6],
                                 double strain[6]) {
  for (int i = 0; i < 6; ++i) {
    double sum = 0.0;
    for (int e = 0; e < 6; ++e) sum += n->m[i][e] * q[e];
    strain[i] = scale * sum;
  }
}

/// Returns the energy of M and q, and adds the forces.
static inline double yw_fem_element(const double m[FEM_MATRIX], const double q[6],
                                    const yw_dvec3 x[4], yw_dvec3 force[4]) {
  double energy = 0.0;
  for (int e = 0; e < 6; ++e) {
    int a = yw_fem_edges[e][0], b = yw_fem_edges[e][1];
    double tension = 0.0;
    for (int d = 0; d < 6; ++d) tension += m[yw_fem_matrix_at(e, d)] * q[d];
    energy += 0.5 * tension * q[e];
    yw_dvec3 pull = yw_dscale(yw_dsub(x[b], x[a]), tension);
    force[a] = yw_dadd(force[a], pull);
    force[b] = yw_dsub(force[b], pull);
  }
  return energy;
}

// Strong compression. St. Venant-Kirchhoff material softens below a stretch of 0.58 and does not
// resist inversion. A tet below FEM_LEAST_VOLUME of its volume is therefore also pushed apart by W
// = V k / 2 (J - FEM_LEAST_VOLUME)^2, with J = det F and k the stiffness in uniaxial strain. Stress
// then keeps rising with compression, and an inverted tet recovers.
#define FEM_LEAST_VOLUME 0.6

/// Stiffness of the push, Pa.
static inline double yw_fem_push_stiffness(const float c[FEM_MATRIX]) {
  return ((double)c[0] + (double)c[yw_fem_matrix_at(1, 1)] + (double)c[yw_fem_matrix_at(2, 2)]) /
         3.0;
}

/// Adds the forces of the push and returns its energy; 0 if J is large enough. volume6 is six times
/// the rest volume, with the sign of det of the rest edges in slot order.
static inline double yw_fem_push(double stiffness, double volume6, const yw_dvec3 x[4],
                                 yw_dvec3 force[4]) {
  double lack = FEM_LEAST_VOLUME - yw_tet_volume6(x) / volume6;
  if (!(lack > 0.0)) return 0.0;
  double volume = fabs(volume6) / 6.0, pressure = volume * stiffness * lack / volume6;
  yw_dvec3 sum = {0, 0, 0}, e[3] = {yw_dsub(x[1], x[0]), yw_dsub(x[2], x[0]), yw_dsub(x[3], x[0])};
  for (int k = 0; k < 3; ++k) {
    yw_dvec3 push = yw_dscale(yw_dcross(e[(k + 1) % 3], e[(k + 2) % 3]), pressure);
    force[k + 1] = yw_dadd(force[k + 1], push);
    sum = yw_dadd(sum, push);
  }
  force[0] = yw_dsub(force[0], sum);
  return 0.5 * volume * stiffness * lack * lack;
}

#endif
