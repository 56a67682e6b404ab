// SPDX-License-Identifier: MIT
// One matrix at a time, in double: a one-sided Jacobi SVD, from which the polar decomposition
// follows. Jacobi needs no special cases for repeated, zero or negative values. Double holds the
// product of any four floats, so no scaling is needed. Inline: devices compile it too.
#ifndef YW_MATH_SMALL_POLAR_ONE_H
#define YW_MATH_SMALL_POLAR_ONE_H

#include <float.h>

#include "math/small/polar.h"

#define YW_JACOBI_SWEEPS 40

// Columns c[0], c[1], c[2].
typedef struct yw_dmat3 {
  double c[3][3];
} yw_dmat3;

typedef struct yw_dsvd {
  yw_dmat3 u, v;
  double sigma[3];
} yw_dsvd;

static inline yw_dmat3 yw_dmat3_identity(void) {
  return (yw_dmat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}

static inline double yw_wide_dot(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void yw_wide_cross(const double* a, const double* b, double* out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

// Values beyond float's range saturate: finite input, finite output.
static inline float yw_saturate(double x) {
  if (x > (double)FLT_MAX) return FLT_MAX;
  if (x < -(double)FLT_MAX) return -FLT_MAX;
  return (float)x;
}

static inline yw_dmat3 yw_widen(const yw_mat3* a) {
  return (yw_dmat3){{{(double)a->cx.x, (double)a->cx.y, (double)a->cx.z},
                     {(double)a->cy.x, (double)a->cy.y, (double)a->cy.z},
                     {(double)a->cz.x, (double)a->cz.y, (double)a->cz.z}}};
}

static inline yw_vec3 yw_wide_narrow_column(const double* c) {
  return (yw_vec3){yw_saturate(c[0]), yw_saturate(c[1]), yw_saturate(c[2])};
}

static inline yw_mat3 yw_wide_narrow(const yw_dmat3* a) {
  return (yw_mat3){yw_wide_narrow_column(a->c[0]), yw_wide_narrow_column(a->c[1]),
                   yw_wide_narrow_column(a->c[2])};
}

// Columns p, q <- (cosine p - sine q, sine p + cosine q)
static inline void yw_turn_columns(yw_dmat3* m, int p, int q, double cosine, double sine) {
  for (int i = 0; i < 3; ++i) {
    double a = m->c[p][i], b = m->c[q][i];
    m->c[p][i] = cosine * a - sine * b;
    m->c[q][i] = sine * a + cosine * b;
  }
}

// Tangent of the rotation that makes a symmetric 2x2 matrix [pp, pq; pq, qq] diagonal.
static inline double yw_jacobi_tangent(double pp, double qq, double pq) {
  double theta = (qq - pp) / (2.0 * pq);
  double t = 1.0 / (fabs(theta) + sqrt(1.0 + theta * theta));
  return theta < 0.0 ? -t : t;
}

// Swaps columns and flips one sign, which preserves the determinant.
static inline void yw_swap_columns(yw_dmat3* m, int p, int q) {
  yw_turn_columns(m, p, q, 0.0, -1.0);
}

// Unit vector along the component of b perpendicular to the unit vector u. False if that component
// is lost to rounding.
static inline bool yw_perpendicular_part(const double* u, const double* b, double* out) {
  double length = sqrt(yw_wide_dot(b, b)), along = yw_wide_dot(u, b), rest = 0.0;
  for (int i = 0; i < 3; ++i) out[i] = b[i] - along * u[i];
  rest = sqrt(yw_wide_dot(out, out));
  if (!(rest > 0.5 * length)) return false;
  for (int i = 0; i < 3; ++i) out[i] /= rest;
  return true;
}

// Rotates w, perpendicular to v, by the shortest rotation from v to u (both unit vectors).
static inline void yw_carry_along(const double* v, const double* u, const double* w, double* out) {
  double scale = 1.0 + yw_wide_dot(u, v);
  double k = scale > 1e-12 ? yw_wide_dot(u, w) / scale : 0.0;
  for (int i = 0; i < 3; ++i) out[i] = w[i] - k * (u[i] + v[i]);
}

static inline yw_dsvd yw_wide_svd(const yw_dmat3* a) {
  yw_dmat3 b = *a;
  yw_dsvd out;
  out.v = yw_dmat3_identity();

  // Rotate pairs of columns of A V until all are orthogonal.
  bool turned = true;
  for (int sweep = 0; turned && sweep < YW_JACOBI_SWEEPS; ++sweep) {
    turned = false;
    for (int pair = 0; pair < 3; ++pair) {
      int p = pair == 2 ? 1 : 0, q = pair == 0 ? 1 : 2;
      double pp = yw_wide_dot(b.c[p], b.c[p]), qq = yw_wide_dot(b.c[q], b.c[q]),
             pq = yw_wide_dot(b.c[p], b.c[q]);
      if (fabs(pq) <= 1e-15 * sqrt(pp * qq)) continue;
      double t = yw_jacobi_tangent(pp, qq, pq), cosine = 1.0 / sqrt(1.0 + t * t);
      yw_turn_columns(&b, p, q, cosine, t * cosine);
      yw_turn_columns(&out.v, p, q, cosine, t * cosine);
      turned = true;
    }
  }

  // Longest column first.
  for (int pass = 0; pass < 3; ++pass) {
    int p = pass == 1 ? 1 : 0, q = p + 1;
    if (yw_wide_dot(b.c[p], b.c[p]) < yw_wide_dot(b.c[q], b.c[q])) {
      yw_swap_columns(&b, p, q);
      yw_swap_columns(&out.v, p, q);
    }
  }

  // U from the columns. Rank 0: U = V. Rank 1: U from V by the shortest rotation. The third column
  // follows from the others, and with it the sign of the last singular value.
  double* u0 = out.u.c[0];
  double* u1 = out.u.c[1];
  double* u2 = out.u.c[2];
  out.sigma[0] = sqrt(yw_wide_dot(b.c[0], b.c[0]));
  for (int i = 0; i < 3; ++i) {
    u0[i] = out.sigma[0] > 0.0 ? b.c[0][i] / out.sigma[0] : out.v.c[0][i];
  }
  double carried[3];
  if (!yw_perpendicular_part(u0, b.c[1], u1)) {
    yw_carry_along(out.v.c[0], u0, out.v.c[1], carried);
    yw_perpendicular_part(u0, carried, u1);
  }
  yw_wide_cross(u0, u1, u2);
  out.sigma[1] = yw_wide_dot(u1, b.c[1]);
  out.sigma[2] = yw_wide_dot(u2, b.c[2]);
  // Rounding may leave equal values in the wrong order.
  if (fabs(out.sigma[2]) > out.sigma[1]) out.sigma[2] = copysign(out.sigma[1], out.sigma[2]);
  return out;
}

static inline void yw_polar_one(const yw_mat3* a, yw_mat3* rotation, yw_mat3* stretch) {
  yw_dmat3 wide = yw_widen(a), r, s;
  yw_dsvd d = yw_wide_svd(&wide);
  // R = U V^T, S = V diag(sigma) V^T
  for (int column = 0; column < 3; ++column) {
    for (int row = 0; row < 3; ++row) {
      double turn = 0.0, pull = 0.0;
      for (int k = 0; k < 3; ++k) {
        turn += d.u.c[k][row] * d.v.c[k][column];
        pull += d.sigma[k] * (d.v.c[k][row] * d.v.c[k][column]);
      }
      r.c[column][row] = turn;
      s.c[column][row] = pull;
    }
  }
  *rotation = yw_wide_narrow(&r);
  *stretch = yw_wide_narrow(&s);
}

static inline yw_quat yw_quat_of_rotation(const yw_mat3* rotation) {
  const yw_mat3 r = *rotation;
  float trace = r.cx.x + r.cy.y + r.cz.z;
  yw_quat q;
  // Compute the largest of the four components first, since the others are divided by it.
  if (trace >= r.cx.x && trace >= r.cy.y && trace >= r.cz.z) {
    q = (yw_quat){r.cy.z - r.cz.y, r.cz.x - r.cx.z, r.cx.y - r.cy.x, 1.0f + trace};
  } else if (r.cx.x >= r.cy.y && r.cx.x >= r.cz.z) {
    q = (yw_quat){1.0f + r.cx.x - r.cy.y - r.cz.z, r.cy.x + r.cx.y, r.cz.x + r.cx.z,
                  r.cy.z - r.cz.y};
  } else if (r.cy.y >= r.cz.z) {
    q = (yw_quat){r.cy.x + r.cx.y, 1.0f - r.cx.x + r.cy.y - r.cz.z, r.cy.z + r.cz.y,
                  r.cz.x - r.cx.z};
  } else {
    q = (yw_quat){r.cz.x + r.cx.z, r.cy.z + r.cz.y, 1.0f - r.cx.x - r.cy.y + r.cz.z,
                  r.cx.y - r.cy.x};
  }
  q = yw_quat_normalize(q);
  return q.w < 0.0f ? (yw_quat){-q.x, -q.y, -q.z, -q.w} : q;
}

/// yw_polar for one lane of matrices with `stride` floats between entries; see yw_polar_strided.
static inline void yw_polar_lane(int32_t stride, const float* a, float* q, float* rotation,
                                 float* stretch) {
  float m[9];
  for (int i = 0; i < 9; ++i) m[i] = a[i * stride];
  yw_mat3 matrix = {{m[0], m[3], m[6]}, {m[1], m[4], m[7]}, {m[2], m[5], m[8]}}, r, s;
  yw_polar_one(&matrix, &r, &s);
  const float rows[9] = {r.cx.x, r.cy.x, r.cz.x, r.cx.y, r.cy.y, r.cz.y, r.cx.z, r.cy.z, r.cz.z};
  const float sym[6] = {s.cx.x, s.cy.y, s.cz.z, s.cy.x, s.cz.x, s.cz.y};
  for (int i = 0; i < 9; ++i) rotation[i * stride] = rows[i];
  for (int i = 0; i < 6; ++i) stretch[i * stride] = sym[i];
  if (q == NULL) return;
  yw_quat unit = yw_quat_of_rotation(&r);
  const float xyzw[4] = {unit.x, unit.y, unit.z, unit.w};
  for (int i = 0; i < 4; ++i) q[i * stride] = xyzw[i];
}

/// Eigenvalues, largest first, and vectors of a symmetric matrix.
static inline void yw_eigen_one(const yw_mat3* a, yw_vec3* values, yw_mat3* vectors) {
  yw_dmat3 m = yw_widen(a), v = yw_dmat3_identity();
  // Remaining rounding asymmetry is averaged out.
  for (int p = 0; p < 2; ++p) {
    for (int q = p + 1; q < 3; ++q) m.c[p][q] = m.c[q][p] = 0.5 * (m.c[p][q] + m.c[q][p]);
  }
  bool turned = true;
  for (int sweep = 0; turned && sweep < YW_JACOBI_SWEEPS; ++sweep) {
    turned = false;
    for (int pair = 0; pair < 3; ++pair) {
      int p = pair == 2 ? 1 : 0, q = pair == 0 ? 1 : 2, r = 3 - p - q;
      double pp = m.c[p][p], qq = m.c[q][q], pq = m.c[p][q];
      if (fabs(pq) <= 1e-17 * (fabs(pp) + fabs(qq))) continue;
      double t = yw_jacobi_tangent(pp, qq, pq), cosine = 1.0 / sqrt(1.0 + t * t), sine = t * cosine;
      double rp = m.c[r][p], rq = m.c[r][q];
      m.c[p][p] = pp - t * pq;
      m.c[q][q] = qq + t * pq;
      m.c[p][q] = m.c[q][p] = 0.0;
      m.c[r][p] = m.c[p][r] = cosine * rp - sine * rq;
      m.c[r][q] = m.c[q][r] = sine * rp + cosine * rq;
      yw_turn_columns(&v, p, q, cosine, sine);
      turned = true;
    }
  }
  double d[3] = {m.c[0][0], m.c[1][1], m.c[2][2]};
  for (int pass = 0; pass < 3; ++pass) {
    int p = pass == 1 ? 1 : 0, q = p + 1;
    if (d[p] < d[q]) {
      double larger = d[q];
      d[q] = d[p];
      d[p] = larger;
      yw_swap_columns(&v, p, q);
    }
  }
  *values = yw_wide_narrow_column(d);
  *vectors = yw_wide_narrow(&v);
}

#endif
