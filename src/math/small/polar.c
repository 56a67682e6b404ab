// SPDX-License-Identifier: MIT
// One matrix at a time, in double: a one-sided Jacobi SVD, from which the polar decomposition
// follows. Jacobi needs no special cases for repeated, zero or negative values. Double holds the
// product of any four floats, so no scaling is needed.
#include "math/small/polar.h"

#include <float.h>

#define MAX_SWEEPS 40

// Columns c[0], c[1], c[2].
typedef struct dmat3 {
  double c[3][3];
} dmat3;

typedef struct dsvd {
  dmat3 u, v;
  double sigma[3];
} dsvd;

static const dmat3 identity = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

static double dot(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double* a, const double* b, double* out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

// Values beyond float's range saturate: finite input, finite output.
static float to_float(double x) {
  if (x > (double)FLT_MAX) return FLT_MAX;
  if (x < -(double)FLT_MAX) return -FLT_MAX;
  return (float)x;
}

static dmat3 widen(const yw_mat3* a) {
  return (dmat3){{{(double)a->cx.x, (double)a->cx.y, (double)a->cx.z},
                  {(double)a->cy.x, (double)a->cy.y, (double)a->cy.z},
                  {(double)a->cz.x, (double)a->cz.y, (double)a->cz.z}}};
}

static yw_vec3 narrow_column(const double* c) {
  return (yw_vec3){to_float(c[0]), to_float(c[1]), to_float(c[2])};
}

static yw_mat3 narrow(const dmat3* a) {
  return (yw_mat3){narrow_column(a->c[0]), narrow_column(a->c[1]), narrow_column(a->c[2])};
}

// Columns p, q <- (cosine p - sine q, sine p + cosine q)
static void turn_columns(dmat3* m, int p, int q, double cosine, double sine) {
  for (int i = 0; i < 3; ++i) {
    double a = m->c[p][i], b = m->c[q][i];
    m->c[p][i] = cosine * a - sine * b;
    m->c[q][i] = sine * a + cosine * b;
  }
}

// Tangent of the rotation that makes a symmetric 2x2 matrix [pp, pq; pq, qq] diagonal.
static double jacobi_tangent(double pp, double qq, double pq) {
  double theta = (qq - pp) / (2.0 * pq);
  double t = 1.0 / (fabs(theta) + sqrt(1.0 + theta * theta));
  return theta < 0.0 ? -t : t;
}

// Swaps columns and flips one sign, which preserves the determinant.
static void swap_columns(dmat3* m, int p, int q) { turn_columns(m, p, q, 0.0, -1.0); }

// Unit vector along the component of b perpendicular to the unit vector u. False if that component
// is lost to rounding.
static bool perpendicular_part(const double* u, const double* b, double* out) {
  double length = sqrt(dot(b, b)), along = dot(u, b), rest = 0.0;
  for (int i = 0; i < 3; ++i) out[i] = b[i] - along * u[i];
  rest = sqrt(dot(out, out));
  if (!(rest > 0.5 * length)) return false;
  for (int i = 0; i < 3; ++i) out[i] /= rest;
  return true;
}

// Rotates w, perpendicular to v, by the shortest rotation from v to u (both unit vectors).
static void carry_along(const double* v, const double* u, const double* w, double* out) {
  double scale = 1.0 + dot(u, v);
  double k = scale > 1e-12 ? dot(u, w) / scale : 0.0;
  for (int i = 0; i < 3; ++i) out[i] = w[i] - k * (u[i] + v[i]);
}

static dsvd svd(const dmat3* a) {
  dmat3 b = *a;
  dsvd out = {.v = identity};

  // Rotate pairs of columns of A V until all are orthogonal.
  bool turned = true;
  for (int sweep = 0; turned && sweep < MAX_SWEEPS; ++sweep) {
    turned = false;
    for (int pair = 0; pair < 3; ++pair) {
      int p = pair == 2 ? 1 : 0, q = pair == 0 ? 1 : 2;
      double pp = dot(b.c[p], b.c[p]), qq = dot(b.c[q], b.c[q]), pq = dot(b.c[p], b.c[q]);
      if (fabs(pq) <= 1e-15 * sqrt(pp * qq)) continue;
      double t = jacobi_tangent(pp, qq, pq), cosine = 1.0 / sqrt(1.0 + t * t);
      turn_columns(&b, p, q, cosine, t * cosine);
      turn_columns(&out.v, p, q, cosine, t * cosine);
      turned = true;
    }
  }

  // Longest column first.
  for (int pass = 0; pass < 3; ++pass) {
    int p = pass == 1 ? 1 : 0, q = p + 1;
    if (dot(b.c[p], b.c[p]) < dot(b.c[q], b.c[q])) {
      swap_columns(&b, p, q);
      swap_columns(&out.v, p, q);
    }
  }

  // U from the columns. Rank 0: U = V. Rank 1: U from V by the shortest rotation. The third column
  // follows from the others, and with it the sign of the last singular value.
  double* u0 = out.u.c[0];
  double* u1 = out.u.c[1];
  double* u2 = out.u.c[2];
  out.sigma[0] = sqrt(dot(b.c[0], b.c[0]));
  for (int i = 0; i < 3; ++i) {
    u0[i] = out.sigma[0] > 0.0 ? b.c[0][i] / out.sigma[0] : out.v.c[0][i];
  }
  double carried[3];
  if (!perpendicular_part(u0, b.c[1], u1)) {
    carry_along(out.v.c[0], u0, out.v.c[1], carried);
    perpendicular_part(u0, carried, u1);
  }
  cross(u0, u1, u2);
  out.sigma[1] = dot(u1, b.c[1]);
  out.sigma[2] = dot(u2, b.c[2]);
  // Rounding may leave equal values in the wrong order.
  if (fabs(out.sigma[2]) > out.sigma[1]) out.sigma[2] = copysign(out.sigma[1], out.sigma[2]);
  return out;
}

void yw_svd(const yw_mat3* a, yw_mat3* u, yw_vec3* sigma, yw_mat3* v) {
  dmat3 wide = widen(a);
  dsvd d = svd(&wide);
  *u = narrow(&d.u);
  *v = narrow(&d.v);
  *sigma = narrow_column(d.sigma);
}

void yw_polar(const yw_mat3* a, yw_mat3* rotation, yw_mat3* stretch) {
  dmat3 wide = widen(a), r, s;
  dsvd d = svd(&wide);
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
  *rotation = narrow(&r);
  *stretch = narrow(&s);
}

void yw_eigen_symmetric(const yw_mat3* a, yw_vec3* values, yw_mat3* vectors) {
  dmat3 m = widen(a), v = identity;
  // Remaining rounding asymmetry is averaged out.
  for (int p = 0; p < 2; ++p) {
    for (int q = p + 1; q < 3; ++q) m.c[p][q] = m.c[q][p] = 0.5 * (m.c[p][q] + m.c[q][p]);
  }
  bool turned = true;
  for (int sweep = 0; turned && sweep < MAX_SWEEPS; ++sweep) {
    turned = false;
    for (int pair = 0; pair < 3; ++pair) {
      int p = pair == 2 ? 1 : 0, q = pair == 0 ? 1 : 2, r = 3 - p - q;
      double pp = m.c[p][p], qq = m.c[q][q], pq = m.c[p][q];
      if (fabs(pq) <= 1e-17 * (fabs(pp) + fabs(qq))) continue;
      double t = jacobi_tangent(pp, qq, pq), cosine = 1.0 / sqrt(1.0 + t * t), sine = t * cosine;
      double rp = m.c[r][p], rq = m.c[r][q];
      m.c[p][p] = pp - t * pq;
      m.c[q][q] = qq + t * pq;
      m.c[p][q] = m.c[q][p] = 0.0;
      m.c[r][p] = m.c[p][r] = cosine * rp - sine * rq;
      m.c[r][q] = m.c[q][r] = sine * rp + cosine * rq;
      turn_columns(&v, p, q, cosine, sine);
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
      swap_columns(&v, p, q);
    }
  }
  *values = narrow_column(d);
  *vectors = narrow(&v);
}

yw_quat yw_quat_from_mat3(const yw_mat3* rotation) {
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

void yw_polar_strided(uint32_t lanes, int32_t stride, const float* a, float* q, float* rotation,
                      float* stretch) {
  for (; lanes != 0; lanes &= lanes - 1) {
    int32_t lane = __builtin_ctz(lanes);
    float m[9];
    for (int i = 0; i < 9; ++i) m[i] = a[i * stride + lane];
    yw_mat3 matrix = {{m[0], m[3], m[6]}, {m[1], m[4], m[7]}, {m[2], m[5], m[8]}}, r, s;
    yw_polar(&matrix, &r, &s);
    const float rows[9] = {r.cx.x, r.cy.x, r.cz.x, r.cx.y, r.cy.y, r.cz.y, r.cx.z, r.cy.z, r.cz.z};
    const float sym[6] = {s.cx.x, s.cy.y, s.cz.z, s.cy.x, s.cz.x, s.cz.y};
    for (int i = 0; i < 9; ++i) rotation[i * stride + lane] = rows[i];
    for (int i = 0; i < 6; ++i) stretch[i * stride + lane] = sym[i];
    if (q != NULL) {
      yw_quat unit = yw_quat_from_mat3(&r);
      const float xyzw[4] = {unit.x, unit.y, unit.z, unit.w};
      for (int i = 0; i < 4; ++i) q[i * stride + lane] = xyzw[i];
    }
  }
}

extern const yw_polar_batch_fns yw_polar_table_plain;
#ifdef YW_HAVE_X86_KERNELS
extern const yw_polar_batch_fns yw_polar_table_avx2, yw_polar_table_avx512;
#endif

const yw_polar_batch_fns* yw_polar_batch(yw_simd level) {
  return YW_KERNEL_PICK(yw_polar_table, level);
}
