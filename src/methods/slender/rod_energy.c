// SPDX-License-Identifier: MIT
// Energy of a pair of oriented particles with its frame eliminated; symbols as in model.h. At the
// optimal frame the derivative of R does not enter the gradient:
//   dE/dx_b = w/2 (d - l R e),   dE/dtheta_j = axial(M_j R^T),   M_j = R_j Q
// In the second derivative it contributes -b^T H^-1 b with H = tr S 1 - S, b = axial(R^T dA), where
//   axial(R^T dA) = w l / 2 e x (R^T dd) + sum (tr N_j 1 - N_j) R^T theta_j,   N_j = R^T M_j.
#include "math/small/mat3d.h"
#include "methods/slender/slender.h"

#define MAX_POLAR 30
#define POLAR_TOLERANCE 1e-15

// Solves with a symmetric 3x3 matrix plus shift; false when it is not positive.
static bool solve_sym(const double h[6], double shift, const double b[3], double out[3]) {
  double m[6], inverse[6];
  for (int i = 0; i < 6; ++i) m[i] = h[i] + (i < 3 ? shift : 0.0);
  double minor = m[0] * m[1] - m[3] * m[3];
  if (!(m[0] > 0.0) || !(minor > 0.0)) return false;
  double det = yw_sym_invert(m, inverse);
  if (!(det > 1e-14 * minor * m[2])) return false;
  yw_sym_apply(inverse, b, out);
  return true;
}

yw_turn yw_slender_polar(const double a[9], yw_turn guess, double s[6]) {
  yw_turn q = guess;
  for (int round = 0;; ++round) {
    double r[9], m[9], h[6], g[3], turn[3];
    yw_turn_matrix(q, r);
    yw_m3_mul_tn(r, a, m);
    const double sym[6] = {
        m[0], m[4], m[8], 0.5 * (m[1] + m[3]), 0.5 * (m[2] + m[6]), 0.5 * (m[5] + m[7])};
    for (int i = 0; i < 6; ++i) s[i] = sym[i];
    if (round == MAX_POLAR) return q;
    yw_m3_axial(m, g);
    yw_sym_turning(s, h);
    double scale = 0.0;
    for (int i = 0; i < 6; ++i) scale = fmax(scale, fabs(h[i]));
    // Away from the maximum the frame's stiffness is not positive; a shifted one leads uphill.
    double shift = 0.0;
    while (!solve_sym(h, shift, g, turn)) {
      shift = shift > 0.0 ? 4.0 * shift : 0.05 * scale;
      if (!(shift < 1e6 * scale) || !isfinite(shift)) return q;
    }
    double size = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
    if (!isfinite(size)) return guess;
    if (size > 1.0) {
      for (int i = 0; i < 3; ++i) turn[i] /= size;
    }
    yw_turn step = {0.5 * turn[0], 0.5 * turn[1], 0.5 * turn[2], 1.0};
    q = yw_turn_normalize(yw_turn_mul(q, step));
    if (size < POLAR_TOLERANCE) return q;
  }
}

// The mean rotation of the two particles, rotated further so that the frame lies along the pair.
static yw_turn guess_frame(const rod_pair* pair, yw_turn a, yw_turn b, const double d[3]) {
  double dot = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w, sign = dot < 0.0 ? -1.0 : 1.0;
  yw_turn mid = yw_turn_normalize(
      (yw_turn){a.x + sign * b.x, a.y + sign * b.y, a.z + sign * b.z, a.w + sign * b.w});
  double along[3], length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  yw_turn_apply(mid, pair->e, along);
  double cosine = along[0] * d[0] + along[1] * d[1] + along[2] * d[2];
  if (!(cosine > -0.9 * length) || !(length > 0.0)) return mid;
  yw_turn tilt = {along[1] * d[2] - along[2] * d[1], along[2] * d[0] - along[0] * d[2],
                  along[0] * d[1] - along[1] * d[0], length + cosine};
  return yw_turn_mul(yw_turn_normalize(tilt), mid);
}

typedef struct pair_state {
  double d[3];
  double r[9], s[6];
  double n[2][9];  // R^T R_j Q
  yw_turn frame, turns[2];
} pair_state;

static void match_pair(const rod_pair* pair, const slender_pose* pose, pair_state* p) {
  double m[2][9], a[9], q[9];
  const double *xa = pose->x + 3 * pair->particles[0], *xb = pose->x + 3 * pair->particles[1];
  for (int i = 0; i < 3; ++i) p->d[i] = xb[i] - xa[i];
  yw_m3_of_sym(pair->q, q);
  for (int j = 0; j < 2; ++j) {
    double r[9];
    p->turns[j] = pose->q[pair->particles[j]];
    yw_turn_matrix(p->turns[j], r);
    yw_m3_mul(r, q, m[j]);
  }
  for (int i = 0; i < 9; ++i) {
    a[i] = 0.5 * pair->weight * pair->length * p->d[i / 3] * pair->e[i % 3] + m[0][i] + m[1][i];
  }
  p->frame = yw_slender_polar(a, guess_frame(pair, p->turns[0], p->turns[1], p->d), p->s);
  yw_turn_matrix(p->frame, p->r);
  for (int j = 0; j < 2; ++j) yw_m3_mul_tn(p->r, m[j], p->n[j]);
}

yw_turn yw_rod_frame(const rod_pair* pair, const slender_pose* pose, double s[6]) {
  pair_state p;
  match_pair(pair, pose, &p);
  for (int i = 0; i < 6; ++i) s[i] = p.s[i];
  return p.frame;
}

// u = R^T d - l e.
static void stretch_of(const rod_pair* pair, const pair_state* p, double u[3]) {
  for (int i = 0; i < 3; ++i) {
    u[i] = p->r[i] * p->d[0] + p->r[3 + i] * p->d[1] + p->r[6 + i] * p->d[2] -
           pair->length * pair->e[i];
  }
}

static double pair_energy(const rod_pair* pair, const pair_state* p) {
  double u[3], energy = 0.0;
  stretch_of(pair, p, u);
  energy = 0.25 * pair->weight * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  for (int j = 0; j < 2; ++j) {
    yw_turn way = yw_turn_mul(yw_turn_conjugate(p->frame), p->turns[j]);
    const double v[3] = {way.x, way.y, way.z};
    double iv[3];
    yw_sym_apply(pair->inertia, v, iv);
    energy += 2.0 * (v[0] * iv[0] + v[1] * iv[1] + v[2] * iv[2]);
  }
  return energy;
}

static void rotate_rows(const double r[9], const double v[3], double out[3]) {
  for (int i = 0; i < 3; ++i) out[i] = r[3 * i] * v[0] + r[3 * i + 1] * v[1] + r[3 * i + 2] * v[2];
}

static void pair_gradient(const rod_pair* pair, const pair_state* p, double g[12]) {
  double u[3], f[3];
  stretch_of(pair, p, u);
  rotate_rows(p->r, u, f);
  for (int i = 0; i < 3; ++i) {
    g[6 + i] = 0.5 * pair->weight * f[i];
    g[i] = -g[6 + i];
  }
  // axial(M R^T) = R axial(R^T M)
  for (int j = 0; j < 2; ++j) {
    double axial[3];
    yw_m3_axial(p->n[j], axial);
    rotate_rows(p->r, axial, g + 6 * j + 3);
  }
}

// Second derivative in the frame's own axes, for given N_j and S.
static void local_hessian(const rod_pair* pair, const double d_scale, const double n[2][9],
                          const double s[6], double k[12][12]) {
  double h[6], inverse[6], jacobian[3][12] = {{0}};
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 12; ++j) k[i][j] = 0.0;
  }
  for (int i = 0; i < 3; ++i) {
    k[i][i] = k[6 + i][6 + i] = d_scale;
    k[i][6 + i] = k[6 + i][i] = -d_scale;
  }
  double lever = 0.5 * pair->weight * pair->length;
  const double* e = pair->e;
  const double cross[3][3] = {{0, -e[2], e[1]}, {e[2], 0, -e[0]}, {-e[1], e[0], 0}};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      jacobian[i][6 + j] = lever * cross[i][j];
      jacobian[i][j] = -jacobian[i][6 + j];
    }
  }
  for (int j = 0; j < 2; ++j) {
    double trace = n[j][0] + n[j][4] + n[j][8];
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        double diagonal = a == b ? trace : 0.0;
        jacobian[a][6 * j + 3 + b] = diagonal - n[j][3 * a + b];
        k[6 * j + 3 + a][6 * j + 3 + b] = diagonal - 0.5 * (n[j][3 * a + b] + n[j][3 * b + a]);
      }
    }
  }
  yw_sym_turning(s, h);
  yw_sym_invert(h, inverse);
  double full[9];
  yw_m3_of_sym(inverse, full);
  for (int i = 0; i < 12; ++i) {
    double turned[3];
    for (int a = 0; a < 3; ++a) {
      turned[a] = full[3 * a] * jacobian[0][i] + full[3 * a + 1] * jacobian[1][i] +
                  full[3 * a + 2] * jacobian[2][i];
    }
    for (int j = 0; j < 12; ++j) {
      k[i][j] -=
          turned[0] * jacobian[0][j] + turned[1] * jacobian[1][j] + turned[2] * jacobian[2][j];
    }
  }
}

// R k R^T, block by block.
static void turn_hessian(const double r[9], double k[12][12], double* out) {
  for (int bi = 0; bi < 12; bi += 3) {
    for (int bj = 0; bj < 12; bj += 3) {
      double m[3][3];
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          m[i][j] = r[3 * i] * k[bi][bj + j] + r[3 * i + 1] * k[bi + 1][bj + j] +
                    r[3 * i + 2] * k[bi + 2][bj + j];
        }
      }
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          out[12 * (bi + i) + bj + j] =
              m[i][0] * r[3 * j] + m[i][1] * r[3 * j + 1] + m[i][2] * r[3 * j + 2];
        }
      }
    }
  }
}

void yw_rod_strains(const rod_pair* pair, const slender_pose* pose, rod_strains* out) {
  pair_state p;
  double h[6], inverse[6], turning[3][12] = {{0}}, along[3];
  match_pair(pair, pose, &p);
  out->frame = p.frame;
  stretch_of(pair, &p, out->strain);
  yw_sym_turning(p.s, h);
  yw_sym_invert(h, inverse);
  // omega, the rotation of the frame, as a function of the unknowns.
  double lever = 0.5 * pair->weight * pair->length;
  const double* e = pair->e;
  const double cross[9] = {0, -e[2], e[1], e[2], 0, -e[0], -e[1], e[0], 0};
  for (int i = 0; i < 12; ++i) {
    double b[3], omega[3];
    for (int a = 0; a < 3; ++a) {
      const double* n = p.n[i / 6];
      double trace = n[0] + n[4] + n[8];
      b[a] = i % 6 < 3 ? (i < 6 ? -lever : lever) * cross[3 * a + i % 6]
                       : (a == i % 6 - 3 ? trace : 0.0) - n[3 * a + i % 6 - 3];
    }
    yw_sym_apply(inverse, b, omega);
    for (int a = 0; a < 3; ++a) turning[a][i] = omega[a];
  }
  for (int i = 0; i < 3; ++i) along[i] = out->strain[i] + pair->length * e[i];
  const double levers[9] = {0, -along[2], along[1], along[2], 0, -along[0], -along[1], along[0], 0};
  double maps[2][9];
  for (int j = 0; j < 2; ++j) {
    yw_turn way = yw_turn_mul(yw_turn_conjugate(p.frame), p.turns[j]);
    double sign = way.w < 0.0 ? -1.0 : 1.0, c = sign * way.w;
    const double v[3] = {sign * way.x, sign * way.y, sign * way.z};
    const double map[9] = {c, v[2], -v[1], -v[2], c, v[0], v[1], -v[0], c};
    for (int k = 0; k < 9; ++k) maps[j][k] = map[k];
    for (int k = 0; k < 3; ++k) out->strain[3 + 3 * j + k] = 2.0 * v[k];
  }
  for (int i = 0; i < 12; ++i) {
    for (int a = 0; a < 3; ++a) {
      double own = i % 6 == a ? (i < 6 ? -1.0 : 1.0) : 0.0, *row = &out->jacobian[a][i];
      *row = own + levers[3 * a] * turning[0][i] + levers[3 * a + 1] * turning[1][i] +
             levers[3 * a + 2] * turning[2][i];
      for (int j = 0; j < 2; ++j) {
        double sum = 0.0;
        for (int k = 0; k < 3; ++k) {
          double turn = (i == 6 * j + 3 + k ? 1.0 : 0.0) - turning[k][i];
          sum += maps[j][3 * a + k] * turn;
        }
        out->jacobian[3 + 3 * j + a][i] = sum;
      }
    }
  }
}

double yw_rod_energy(const rod_pair* pair, const slender_pose* pose, double* gradient,
                     double* hessian, slender_hessian kind) {
  pair_state p;
  match_pair(pair, pose, &p);
  if (gradient) pair_gradient(pair, &p, gradient);
  if (hessian) {
    double k[12][12];
    if (kind == SLENDER_EXACT) {
      local_hessian(pair, 0.5 * pair->weight, (const double(*)[9])p.n, p.s, k);
    } else {
      double q[2][9], s[6];
      yw_m3_of_sym(pair->q, q[0]);
      yw_m3_of_sym(pair->q, q[1]);
      double moment = 0.5 * pair->weight * pair->length * pair->length;
      static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
      for (int i = 0; i < 6; ++i) {
        s[i] = 2.0 * pair->q[i] + moment * pair->e[row[i]] * pair->e[column[i]];
      }
      local_hessian(pair, 0.5 * pair->weight, (const double(*)[9])q, s, k);
    }
    turn_hessian(p.r, k, hessian);
  }
  return pair_energy(pair, &p);
}

void yw_rod_strain(const rod_pair* pair, const slender_pose* pose, double out[9]) {
  pair_state p;
  match_pair(pair, pose, &p);
  stretch_of(pair, &p, out);
  for (int j = 0; j < 2; ++j) {
    yw_turn way = yw_turn_mul(yw_turn_conjugate(p.frame), p.turns[j]);
    double twice = way.w < 0.0 ? -2.0 : 2.0;
    out[3 + 3 * j] = twice * way.x;
    out[4 + 3 * j] = twice * way.y;
    out[5 + 3 * j] = twice * way.z;
  }
}

// A rotation of R_j turns R_j rho_j^-1 alike, so that derivatives are those of a plain pair.
double yw_rod_bent_energy(const rod_pair* pair, const yw_turn turns[2], const slender_pose* pose,
                          double* gradient, double* hessian, slender_hessian kind) {
  double x[6];
  yw_turn q[2];
  rod_pair own = *pair;
  for (int j = 0; j < 2; ++j) {
    int32_t p = pair->particles[j];
    for (int k = 0; k < 3; ++k) x[3 * j + k] = pose->x[3 * p + k];
    q[j] = yw_turn_mul(pose->q[p], yw_turn_conjugate(turns[j]));
    own.particles[j] = j;
  }
  return yw_rod_energy(&own, &(slender_pose){x, q}, gradient, hessian, kind);
}
