// SPDX-License-Identifier: MIT
// Matrices of every kind, and conditions on their decompositions. The reference uses a different
// principle than the code: the largest eigenvalue of Horn's 4x4 quaternion matrix, in double, is
// the maximum of tr(R^T A) over all proper rotations R.
#ifndef YW_TESTS_SUPPORT_POLAR_REFERENCE_H
#define YW_TESTS_SUPPORT_POLAR_REFERENCE_H

#include "math/small/polar.h"
#include "math/small/trig.h"
#include "support/testing.h"

typedef struct dmat3 {
  double m[3][3];
} dmat3;

static inline dmat3 wide(const yw_mat3* a) {
  return (dmat3){{{(double)a->cx.x, (double)a->cy.x, (double)a->cz.x},
                  {(double)a->cx.y, (double)a->cy.y, (double)a->cz.y},
                  {(double)a->cx.z, (double)a->cy.z, (double)a->cz.z}}};
}

static inline double norm(const dmat3* a) {
  double sum = 0;
  for (int i = 0; i < 9; ++i) sum += a->m[i / 3][i % 3] * a->m[i / 3][i % 3];
  return sqrt(sum);
}

static inline dmat3 mul(const dmat3* a, const dmat3* b) {
  dmat3 out = {{{0}}};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) out.m[i][j] += a->m[i][k] * b->m[k][j];
    }
  }
  return out;
}

static inline dmat3 transpose(const dmat3* a) {
  dmat3 out;
  for (int i = 0; i < 9; ++i) out.m[i / 3][i % 3] = a->m[i % 3][i / 3];
  return out;
}

static inline double difference(const dmat3* a, const dmat3* b) {
  dmat3 d;
  for (int i = 0; i < 9; ++i) d.m[i / 3][i % 3] = a->m[i / 3][i % 3] - b->m[i / 3][i % 3];
  return norm(&d);
}

static inline double det(const dmat3* a) {
  return a->m[0][0] * (a->m[1][1] * a->m[2][2] - a->m[1][2] * a->m[2][1]) -
         a->m[0][1] * (a->m[1][0] * a->m[2][2] - a->m[1][2] * a->m[2][0]) +
         a->m[0][2] * (a->m[1][0] * a->m[2][1] - a->m[1][1] * a->m[2][0]);
}

// Eigenvalues of Horn's matrix of a, largest first: the values of tr(R^T A) at its four stationary
// rotations.
static inline void horn_values(const dmat3* a, double values[4]) {
  const double(*m)[3] = a->m;
  double k[4][4] = {
      {m[0][0] + m[1][1] + m[2][2], m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]},
      {0, m[0][0] - m[1][1] - m[2][2], m[0][1] + m[1][0], m[0][2] + m[2][0]},
      {0, 0, m[1][1] - m[0][0] - m[2][2], m[1][2] + m[2][1]},
      {0, 0, 0, m[2][2] - m[0][0] - m[1][1]}};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < i; ++j) k[i][j] = k[j][i];
  }
  for (int sweep = 0; sweep < 12; ++sweep) {
    for (int p = 0; p < 4; ++p) {
      for (int q = p + 1; q < 4; ++q) {
        double angle = 0.5 * atan2(2 * k[p][q], k[q][q] - k[p][p]), c = cos(angle), s = sin(angle);
        for (int i = 0; i < 4; ++i) {
          double x = k[i][p], y = k[i][q];
          k[i][p] = c * x - s * y;
          k[i][q] = s * x + c * y;
        }
        for (int i = 0; i < 4; ++i) {
          double x = k[p][i], y = k[q][i];
          k[p][i] = c * x - s * y;
          k[q][i] = s * x + c * y;
        }
      }
    }
  }
  for (int i = 0; i < 4; ++i) values[i] = k[i][i];
  for (int i = 0; i < 4; ++i) {
    for (int j = i + 1; j < 4; ++j) {
      if (values[j] > values[i]) {
        double larger = values[j];
        values[j] = values[i];
        values[i] = larger;
      }
    }
  }
}

static inline yw_mat3 random_rotation(test_random* random) {
  float e[4];
  for (int i = 0; i < 4; ++i) e[i] = (float)test_random_in(random, -1, 1);
  return yw_mat3_from_quat(yw_quat_normalize((yw_quat){e[0], e[1], e[2], e[3]}));
}

enum {
  GENERAL,
  ROTATION,
  SYMMETRIC,
  REPEATED,
  FLAT,
  LINE,
  POINT,
  REFLECTED,
  MIRROR,
  NEARLY_SINGULAR,
  HUGE_ONE,
  TINY_ONE,
  DENORMAL,
  INTEGER,
  SKEWED,
  KINDS
};

static inline yw_mat3 with_stretches(test_random* random, float x, float y, float z) {
  yw_mat3 u = random_rotation(random), v = random_rotation(random);
  return yw_mat3_mul(yw_mat3_mul(u, yw_mat3_diagonal(yw_v3(x, y, z))), yw_mat3_transpose(v));
}

static inline yw_mat3 random_entries(test_random* random, double scale) {
  float e[9];
  for (int i = 0; i < 9; ++i) e[i] = (float)(scale * test_random_in(random, -1, 1));
  return (yw_mat3){{e[0], e[1], e[2]}, {e[3], e[4], e[5]}, {e[6], e[7], e[8]}};
}

static inline yw_mat3 random_matrix(test_random* random, int kind) {
  float s = (float)test_random_in(random, 0.1, 3), t = (float)test_random_in(random, 0.1, 3);
  switch (kind) {
    case ROTATION:
      return random_rotation(random);
    case SYMMETRIC: {
      yw_mat3 m = random_entries(random, 1);
      return yw_mat3_add(m, yw_mat3_transpose(m));
    }
    case REPEATED:
      return with_stretches(random, s, t, test_random_u32(random) & 1 ? t : s);
    case FLAT:
      return with_stretches(random, s, t, 0);
    case LINE:
      return with_stretches(random, s, 0, 0);
    case POINT:
      return yw_mat3_diagonal(yw_v3(0, 0, 0));
    case REFLECTED:
      return with_stretches(random, s + 0.2f, t + 0.2f, -(float)test_random_in(random, 0, 0.5));
    case MIRROR:
      return with_stretches(random, s, s, -s);
    case NEARLY_SINGULAR:
      return with_stretches(random, s, (float)pow(10, test_random_in(random, -9, 0)),
                            (float)pow(10, test_random_in(random, -9, 0)));
    case HUGE_ONE:
      return random_entries(random, pow(10, test_random_in(random, 10, 30)));
    case TINY_ONE:
      return random_entries(random, pow(10, test_random_in(random, -30, -10)));
    case DENORMAL:
      return random_entries(random, pow(10, test_random_in(random, -45, -37)));
    case INTEGER: {
      yw_mat3 m;
      float* e = &m.cx.x;
      for (int i = 0; i < 9; ++i) e[i] = (float)((int)(test_random_u32(random) % 3) - 1);
      return m;
    }
    case SKEWED: {
      // Columns of very different size.
      yw_mat3 m = random_entries(random, 1);
      return (yw_mat3){yw_scale(m.cx, (float)pow(10, test_random_in(random, -20, 5))), m.cy,
                       yw_scale(m.cz, (float)pow(10, test_random_in(random, -20, 5)))};
    }
    default:
      return random_entries(random, 2);
  }
}

// R proper and orthogonal, S symmetric, R S = A, and tr(R^T A) maximal.
static inline void check_polar(const yw_mat3* a, const yw_mat3* r, const yw_mat3* s,
                               double tolerance) {
  dmat3 da = wide(a), dr = wide(r), ds = wide(s), rt = transpose(&dr), st = transpose(&ds);
  dmat3 one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, rtr = mul(&rt, &dr), rs = mul(&dr, &ds);
  double size = norm(&da) + 1e-44;
  assert_at_most(difference(&rtr, &one), tolerance);
  assert_near(det(&dr), 1.0, tolerance);
  assert_true(difference(&ds, &st) == 0.0);
  // Below 1e-38 rounding errors are absolute, not relative.
  assert_at_most(difference(&rs, &da), tolerance * size + 1e-44);
  double values[4];
  horn_values(&da, values);
  dmat3 rta = mul(&rt, &da);
  assert_near(rta.m[0][0] + rta.m[1][1] + rta.m[2][2], values[0], tolerance * size + 1e-44);
}

static inline void check_svd(const yw_mat3* a, const yw_mat3* u, yw_vec3 sigma, const yw_mat3* v,
                             double tolerance) {
  dmat3 da = wide(a), du = wide(u), dv = wide(v), ut = transpose(&du), vt = transpose(&dv);
  dmat3 one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, utu = mul(&ut, &du), vtv = mul(&vt, &dv);
  dmat3 d = {{{(double)sigma.x, 0, 0}, {0, (double)sigma.y, 0}, {0, 0, (double)sigma.z}}};
  dmat3 ud = mul(&du, &d), back = mul(&ud, &vt);
  double size = norm(&da);
  assert_at_most(difference(&utu, &one), tolerance);
  assert_at_most(difference(&vtv, &one), tolerance);
  assert_near(det(&du), 1, tolerance);
  assert_near(det(&dv), 1, tolerance);
  assert_at_most(difference(&back, &da), tolerance * size + 1e-44);
  assert_true(sigma.x >= sigma.y && sigma.y >= fabsf(sigma.z));
  double values[4];
  horn_values(&da, values);
  assert_near(sigma.x, 0.5 * (values[0] + values[1]), tolerance * size + 1e-44);
  assert_near(sigma.y, 0.5 * (values[0] + values[2]), tolerance * size + 1e-44);
  assert_near(sigma.z, 0.5 * (values[0] + values[3]), tolerance * size + 1e-44);
}

#endif
