// SPDX-License-Identifier: MIT
// See plastic_reference.h; symbols as in docs/methods/plastic.md.
#include "reference/plastic_reference.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 0.06
#define KEPT 0.1
#define MOST_MOTION 0.5
#define FORCE_REACH 0.03

typedef reference_pair pair;

typedef struct plastic_reference_scratch {
  int32_t* head;  // slaves by cell
  int32_t* next;
  int32_t mask;
  pair* pairs;
  int32_t num_pairs, capacity;
  int32_t* start;       // of the pairs of a master
  double (*center)[3];  // mean of N r
  double (*moment)[9];  // D_N
  double (*principal)[9];
  double (*sigma)[3];
  double (*gradient)[9];
  double *mass, (*vel)[3], (*force)[3], (*solved)[3], (*residual)[3], (*direction)[3];
  double (*product)[3], (*conditioned)[3], (*block)[9];
  char* touches;
} scratch;

// Small matrices ----------------------------------------------------------------------------------

static void multiply(const double a[9], const double b[9], double out[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
    }
  }
}

static void transpose(const double a[9], double out[9]) {
  for (int k = 0; k < 9; ++k) out[k] = a[3 * (k % 3) + k / 3];
}

static void apply(const double a[9], const double v[3], double out[3]) {
  for (int i = 0; i < 3; ++i) out[i] = a[3 * i] * v[0] + a[3 * i + 1] * v[1] + a[3 * i + 2] * v[2];
}

// Eigenvalues and columns of eigenvectors of a symmetric matrix, by Jacobi rotations.
static void eigen(const double m[9], double values[3], double v[9]) {
  double a[9];
  memcpy(a, m, sizeof a);
  for (int k = 0; k < 9; ++k) v[k] = k % 4 == 0;
  for (int sweep = 0; sweep < 30; ++sweep) {
    double left = fabs(a[1]) + fabs(a[2]) + fabs(a[5]), size = fabs(a[0]) + fabs(a[4]) + fabs(a[8]);
    if (left <= 1e-16 * size) break;
    for (int k = 0; k < 3; ++k) {
      int p = k == 2 ? 1 : 0, q = k == 0 ? 1 : 2;
      double off = a[3 * p + q];
      if (fabs(off) < 1e-300) continue;
      double theta = 0.5 * (a[4 * q] - a[4 * p]) / off;
      double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(1 + theta * theta));
      double c = 1 / sqrt(1 + t * t), s = c * t;
      for (int i = 0; i < 3; ++i) {
        double x = a[3 * i + p], y = a[3 * i + q];
        a[3 * i + p] = c * x - s * y, a[3 * i + q] = s * x + c * y;
      }
      for (int i = 0; i < 3; ++i) {
        double x = a[3 * p + i], y = a[3 * q + i];
        a[3 * p + i] = c * x - s * y, a[3 * q + i] = s * x + c * y;
        x = v[3 * i + p], y = v[3 * i + q];
        v[3 * i + p] = c * x - s * y, v[3 * i + q] = s * x + c * y;
      }
    }
  }
  for (int i = 0; i < 3; ++i) values[i] = a[4 * i];
}

// U and sigma of F, U a proper rotation.
static void stretches(const double f[9], double u[9], double sigma[3]) {
  double t[9], c[9], v[9], fv[9];
  transpose(f, t);
  multiply(t, f, c);
  eigen(c, sigma, v);
  multiply(f, v, fv);
  int least = 0;
  for (int a = 0; a < 3; ++a) {
    sigma[a] = sqrt(fv[a] * fv[a] + fv[3 + a] * fv[3 + a] + fv[6 + a] * fv[6 + a]);
    for (int i = 0; i < 3; ++i) u[3 * i + a] = fv[3 * i + a] / sigma[a];
    if (sigma[a] < sigma[least]) least = a;
  }
  double det = u[0] * (u[4] * u[8] - u[5] * u[7]) - u[1] * (u[3] * u[8] - u[5] * u[6]) +
               u[2] * (u[3] * u[7] - u[4] * u[6]);
  if (det > 0) return;
  sigma[least] = -sigma[least];
  for (int i = 0; i < 3; ++i) u[3 * i + least] = -u[3 * i + least];
}

// Inverse of a variance, bounded in directions without spread.
static void invert_variance(const double d[9], double out[9]) {
  double l[3], v[9];
  eigen(d, l, v);
  memset(out, 0, 9 * sizeof *out);
  for (int a = 0; a < 3; ++a) {
    double f = l[a] >= LEAST ? 1 / l[a] : fmax(l[a], 0) / (LEAST * LEAST);
    for (int k = 0; k < 9; ++k) out[k] += f * v[3 * (k / 3) + a] * v[3 * (k % 3) + a];
  }
}

// Neighbours and weights --------------------------------------------------------------------------

static int32_t bucket(const scratch* s, long x, long y, long z) {
  uint32_t h = (uint32_t)x * 73856093u ^ (uint32_t)y * 19349663u ^ (uint32_t)z * 83492791u;
  return (int32_t)(h & (uint32_t)s->mask);
}

static long cell(double x, double edge) { return (long)floor(x / edge); }

static int add_pair(scratch* s, int32_t m, int32_t slave, const double r[3]) {
  if (s->num_pairs == s->capacity) {
    int32_t capacity = 2 * s->capacity + 1024;
    pair* grown = realloc(s->pairs, (size_t)capacity * sizeof *grown);
    if (!grown) return 0;
    s->pairs = grown;
    s->capacity = capacity;
  }
  s->pairs[s->num_pairs++] = (pair){.master = m, .slave = slave, .r = {r[0], r[1], r[2]}};
  return 1;
}

static int find_pairs(plastic_reference* r) {
  scratch* s = r->scratch;
  double edge = 2 * r->spacing;
  for (int32_t b = 0; b <= s->mask; ++b) s->head[b] = -1;
  for (int32_t i = r->num_slaves - 1; i >= 0; --i) {
    const double* x = r->slaves[i];
    int32_t b = bucket(s, cell(x[0], edge), cell(x[1], edge), cell(x[2], edge));
    s->next[i] = s->head[b];
    s->head[b] = i;
  }
  s->num_pairs = 0;
  for (int32_t m = 0; m < r->num_masters; ++m) {
    const double* x = r->masters[m].x;
    s->start[m] = s->num_pairs;
    for (int k = 0; k < 27; ++k) {
      long c[3] = {cell(x[0], edge) + k % 3 - 1, cell(x[1], edge) + k / 3 % 3 - 1,
                   cell(x[2], edge) + k / 9 - 1};
      for (int32_t i = s->head[bucket(s, c[0], c[1], c[2])]; i >= 0; i = s->next[i]) {
        const double* y = r->slaves[i];
        if (cell(y[0], edge) != c[0] || cell(y[1], edge) != c[1] || cell(y[2], edge) != c[2]) {
          continue;
        }
        double d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
        if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] >= edge * edge) continue;
        if (!add_pair(s, m, i, d)) return 0;
      }
    }
  }
  s->start[r->num_masters] = s->num_pairs;
  return 1;
}

static double kernel(const double r[3], double h) {
  double q = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / h;
  if (q < 1) return 0.5 * q * q * q - q * q + 2.0 / 3;
  return q < 2 ? (2 - q) * (2 - q) * (2 - q) / 6 : 0;
}

// Mean and variance (in units of h^2) of the weights n of a master's pairs.
static void moments(const scratch* s, int32_t m, double h, double center[3], double d[9]) {
  double sum = 0;
  memset(center, 0, 3 * sizeof *center);
  memset(d, 0, 9 * sizeof *d);
  for (int32_t e = s->start[m]; e < s->start[m + 1]; ++e) {
    const pair* p = &s->pairs[e];
    sum += p->n;
    for (int k = 0; k < 3; ++k) center[k] += p->n * p->r[k];
  }
  for (int k = 0; k < 3; ++k) center[k] /= sum;
  for (int32_t e = s->start[m]; e < s->start[m + 1]; ++e) {
    const pair* p = &s->pairs[e];
    for (int k = 0; k < 9; ++k) {
      d[k] += p->n / sum * (p->r[k / 3] - center[k / 3]) * (p->r[k % 3] - center[k % 3]) / (h * h);
    }
  }
}

static void weigh(plastic_reference* r, int32_t m) {
  scratch* s = r->scratch;
  double h = r->spacing, sum = 0, mean[3], d[9], inverse[9], a[3], most = 0;
  for (int32_t e = s->start[m]; e < s->start[m + 1]; ++e) {
    s->pairs[e].n = kernel(s->pairs[e].r, h);
    sum += s->pairs[e].n;
  }
  moments(s, m, h, mean, d);
  invert_variance(d, inverse);
  apply(inverse, mean, a);
  for (int32_t e = s->start[m]; e < s->start[m + 1]; ++e) {
    const double* x = s->pairs[e].r;
    double t = 0;
    for (int k = 0; k < 3; ++k) t += a[k] * (x[k] - mean[k]) / (h * h);
    if (s->pairs[e].n > 0) most = fmax(most, t);
  }
  double share = most > 1 - KEPT ? (1 - KEPT) / most : 1;
  for (int32_t e = s->start[m]; e < s->start[m + 1]; ++e) {
    const double* x = s->pairs[e].r;
    double t = 0;
    for (int k = 0; k < 3; ++k) t += a[k] * (x[k] - mean[k]) / (h * h);
    s->pairs[e].n *= (1 - share * t) / sum;
  }
  moments(s, m, h, s->center[m], s->moment[m]);
  invert_variance(s->moment[m], inverse);
  for (int32_t e = s->start[m]; e < s->start[m + 1]; ++e) {
    pair* p = &s->pairs[e];
    double x[3];
    for (int k = 0; k < 3; ++k) x[k] = p->n * (p->r[k] - s->center[m][k]) / (h * h);
    apply(inverse, x, p->g);
  }
}

// Transfers ---------------------------------------------------------------------------------------

// vel = sum m N (v + a (r - center)) / mass, with a the affine velocity of a master.
static void to_slaves(plastic_reference* r, const double* affine, size_t stride, double limit) {
  scratch* s = r->scratch;
  memset(s->mass, 0, (size_t)r->num_slaves * sizeof *s->mass);
  memset(s->vel, 0, (size_t)r->num_slaves * sizeof *s->vel);
  for (int32_t e = 0; e < s->num_pairs; ++e) {
    const pair* p = &s->pairs[e];
    const reference_master* m = &r->masters[p->master];
    const double* a =
        (const double*)(const void*)((const char*)affine + stride * (size_t)p->master);
    double x[3], turn[3], norm = 0;
    for (int k = 0; k < 9; ++k) norm += a[k] * a[k];
    double scale = r->dt * sqrt(norm) > limit ? limit / (r->dt * sqrt(norm)) : 1;
    for (int k = 0; k < 3; ++k) x[k] = p->r[k] - s->center[p->master][k];
    apply(a, x, turn);
    s->mass[p->slave] += m->mass * p->n;
    for (int k = 0; k < 3; ++k) s->vel[p->slave][k] += m->mass * p->n * (m->v[k] + scale * turn[k]);
  }
  for (int32_t i = 0; i < r->num_slaves; ++i) {
    for (int k = 0; k < 3 && s->mass[i] > 0; ++k) s->vel[i][k] /= s->mass[i];
  }
}

static double hardening(const reference_master* m) {
  return exp(fmin(fmax(m->xi * (1 - m->det_p), -20), 4));
}

static void find_forces(plastic_reference* r) {
  scratch* s = r->scratch;
  memset(s->force, 0, (size_t)r->num_slaves * sizeof *s->force);
  for (int32_t i = 0; i < r->num_masters; ++i) {
    const reference_master* m = &r->masters[i];
    double *u = s->principal[i], *sigma = s->sigma[i], tau[9] = {0}, hard = hardening(m);
    stretches(m->f, u, sigma);
    double j = sigma[0] * sigma[1] * sigma[2];
    for (int a = 0; a < 3; ++a) {
      double t = hard * (2 * m->mu * (sigma[a] - 1) * sigma[a] + m->lambda * j * (j - 1));
      for (int k = 0; k < 9; ++k) tau[k] += t * u[3 * (k / 3) + a] * u[3 * (k % 3) + a];
    }
    for (int32_t e = s->start[i]; e < s->start[i + 1]; ++e) {
      double f[3];
      apply(tau, s->pairs[e].g, f);
      for (int k = 0; k < 3; ++k) s->force[s->pairs[e].slave][k] -= m->volume * f[k];
    }
  }
}

// The solve ---------------------------------------------------------------------------------------

// dt^2 V0 times the second derivative of the energy, for the gradient l of a direction; of the
// resistance to rotation only what exceeds that to shear.
static void tangent(const plastic_reference* r, int32_t i, const double l[9], double out[9]) {
  const reference_master* m = &r->masters[i];
  const double *u = r->scratch->principal[i], *s = r->scratch->sigma[i];
  double t[9], lu[9], w[9], y[9], scale = r->dt * r->dt * m->volume * hardening(m);
  double j = s[0] * s[1] * s[2], mu2 = 2 * m->mu, bend = m->lambda * (j - 1);
  transpose(u, t);
  multiply(l, u, lu);
  multiply(t, lu, w);
  double row = fabs(bend) * (s[0] + s[1] + s[2] - fmin(s[0], fmin(s[1], s[2])));
  double limited = row > mu2 ? bend * mu2 / row : bend;
  for (int a = 0; a < 3; ++a) {
    int b = (a + 1) % 3, c = (a + 2) % 3;
    y[4 * a] = scale * s[a] *
               (s[a] * (mu2 + m->lambda * s[b] * s[b] * s[c] * s[c]) * w[4 * a] +
                (m->lambda * j + limited) * (s[c] * s[b] * w[4 * b] + s[b] * s[c] * w[4 * c]));
    // The pair (b, c); a is the third.
    double even = 0.5 * fmax(mu2 - bend * s[a], 0);
    double odd = 0.5 * fmax(mu2 - 2 * mu2 / fmax(s[b] + s[c], 1e-3) + bend * s[a], 0);
    double sum2 = (s[b] + s[c]) * (s[b] + s[c]), difference2 = (s[b] - s[c]) * (s[b] - s[c]);
    double shear = 0.25 * (even * sum2 + odd * difference2);
    double turn = fmax(0.25 * (even * difference2 + odd * sum2) - shear, 0);
    double x = w[3 * b + c], z = w[3 * c + b];
    y[3 * b + c] = scale * (shear * (x + z) + turn * (x - z));
    y[3 * c + b] = scale * (shear * (x + z) - turn * (x - z));
  }
  multiply(u, y, lu);
  multiply(lu, t, out);
}

static void project(const scratch* s, int32_t i, double v[3]) {
  if (s->touches[i]) v[1] = 0;
}

static void multiply_system(plastic_reference* r, double (*in)[3], double (*out)[3]) {
  scratch* s = r->scratch;
  for (int32_t i = 0; i < r->num_slaves; ++i) {
    for (int k = 0; k < 3; ++k) out[i][k] = s->mass[i] * in[i][k];
  }
  for (int32_t m = 0; m < r->num_masters; ++m) {
    double l[9] = {0}, y[9], f[3];
    for (int32_t e = s->start[m]; e < s->start[m + 1]; ++e) {
      const pair* p = &s->pairs[e];
      for (int k = 0; k < 9; ++k) l[k] += in[p->slave][k / 3] * p->g[k % 3];
    }
    tangent(r, m, l, y);
    for (int32_t e = s->start[m]; e < s->start[m + 1]; ++e) {
      apply(y, s->pairs[e].g, f);
      for (int k = 0; k < 3; ++k) out[s->pairs[e].slave][k] += f[k];
    }
  }
  for (int32_t i = 0; i < r->num_slaves; ++i) project(s, i, out[i]);
}

// Inverse 3x3 blocks, as if undeformed.
static void find_blocks(plastic_reference* r) {
  scratch* s = r->scratch;
  memset(s->block, 0, (size_t)r->num_slaves * sizeof *s->block);
  for (int32_t e = 0; e < s->num_pairs; ++e) {
    const pair* p = &s->pairs[e];
    const reference_master* m = &r->masters[p->master];
    double scale = r->dt * r->dt * m->volume * hardening(m), g2 = 0;
    for (int k = 0; k < 3; ++k) g2 += p->g[k] * p->g[k];
    for (int k = 0; k < 9; ++k) {
      s->block[p->slave][k] +=
          scale * ((m->mu + m->lambda) * p->g[k / 3] * p->g[k % 3] + (k % 4 == 0) * m->mu * g2);
    }
  }
  for (int32_t i = 0; i < r->num_slaves; ++i) {
    double *b = s->block[i], c[9];
    for (int k = 0; k < 3; ++k) b[4 * k] += s->mass[i];
    for (int k = 0; k < 9; ++k) {
      int x = (k / 3 + 1) % 3, y = (k / 3 + 2) % 3, z = (k % 3 + 1) % 3, w = (k % 3 + 2) % 3;
      c[k] = b[3 * x + z] * b[3 * y + w] - b[3 * x + w] * b[3 * y + z];
    }
    double det = b[0] * c[0] + b[1] * c[1] + b[2] * c[2];
    for (int k = 0; k < 9; ++k) b[k] = det > 0 ? c[k] / det : 0;
  }
}

static double condition(plastic_reference* r, double (*in)[3], double (*out)[3]) {
  scratch* s = r->scratch;
  double sum = 0;
  for (int32_t i = 0; i < r->num_slaves; ++i) {
    apply(s->block[i], in[i], out[i]);
    project(s, i, out[i]);
    for (int k = 0; k < 3; ++k) sum += in[i][k] * out[i][k];
  }
  return sum;
}

static void mean_velocity(const plastic_reference* r, double mean[3]) {
  const scratch* s = r->scratch;
  double mass = 0;
  memset(mean, 0, 3 * sizeof *mean);
  for (int32_t i = 0; i < r->num_slaves; ++i) {
    mass += s->mass[i];
    for (int k = 0; k < 3; ++k) mean[k] += s->mass[i] * s->vel[i][k];
  }
  for (int k = 0; k < 3; ++k) mean[k] /= mass;
}

// Forces count for at most FORCE_REACH when a possible contact with the floor is predicted; actual
// contact depends on the whole force.
static bool meets_floor(const plastic_reference* r, int32_t i, double speed, double gap) {
  const scratch* s = r->scratch;
  double pushed[3], far = 0, dt = r->dt, most = FORCE_REACH * r->spacing;
  for (int k = 0; k < 3; ++k) {
    pushed[k] = dt * dt * s->force[i][k] / s->mass[i];
    far += pushed[k] * pushed[k];
  }
  double share = sqrt(far) > most ? most / sqrt(far) : 1;
  bool is_near = r->slaves[i][1] < r->floor || dt * speed + share * pushed[1] < -gap;
  return is_near && dt * speed + pushed[1] < -gap;
}

// Sets up the contact set, the right-hand side in residual and the start in solved. Returns the
// norm that the residual is compared with.
static double begin_solve(plastic_reference* r) {
  scratch* s = r->scratch;
  double mean[3], size = 0;
  mean_velocity(r, mean);
  for (int32_t i = 0; i < r->num_slaves; ++i) {
    for (int k = 0; k < 3; ++k) s->solved[i][k] = s->vel[i][k] + r->dt * r->gravity[k];
    // Slaves may move as far as the floor.
    double gap = fmax(r->slaves[i][1] - r->floor, 0);
    s->touches[i] = s->mass[i] > 0 && meets_floor(r, i, s->solved[i][1], gap);
    if (s->touches[i]) s->solved[i][1] = -gap / r->dt;
    for (int k = 0; k < 3; ++k) s->direction[i][k] = s->solved[i][k] - mean[k];
    for (int k = 0; k < 3; ++k) {
      s->residual[i][k] = s->mass[i] * s->direction[i][k] + r->dt * s->force[i][k];
    }
  }
  size = condition(r, s->residual, s->conditioned);
  multiply_system(r, s->direction, s->product);
  for (int32_t i = 0; i < r->num_slaves; ++i) {
    for (int k = 0; k < 3; ++k) s->residual[i][k] -= s->product[i][k];
    project(s, i, s->residual[i]);
  }
  return size;
}

static void solve(plastic_reference* r) {
  scratch* s = r->scratch;
  int32_t n = r->num_slaves;
  find_blocks(r);
  double goal = r->tolerance * r->tolerance * begin_solve(r);
  double rz = condition(r, s->residual, s->direction);
  for (r->done = 0; r->done < r->iterations && rz > goal; ++r->done) {
    double curvature = 0;
    multiply_system(r, s->direction, s->product);
    for (int32_t i = 0; i < n; ++i) {
      for (int k = 0; k < 3; ++k) curvature += s->direction[i][k] * s->product[i][k];
    }
    double alpha = rz / curvature;
    for (int32_t i = 0; i < n; ++i) {
      for (int k = 0; k < 3; ++k) {
        s->solved[i][k] += alpha * s->direction[i][k];
        s->residual[i][k] -= alpha * s->product[i][k];
      }
    }
    double next = condition(r, s->residual, s->conditioned), beta = next / rz;
    for (int32_t i = 0; i < n; ++i) {
      for (int k = 0; k < 3; ++k) {
        s->direction[i][k] = s->conditioned[i][k] + beta * s->direction[i][k];
      }
    }
    rz = next;
  }
}

// Back to masters ---------------------------------------------------------------------------------

static void flow(plastic_reference* r, int32_t i) {
  scratch* s = r->scratch;
  reference_master* m = &r->masters[i];
  double *l = s->gradient[i], step[9], f[9], u[9], sigma[3], before = 1, after = 1;
  memset(l, 0, 9 * sizeof *l);
  memset(m->v, 0, sizeof m->v);
  for (int32_t e = s->start[i]; e < s->start[i + 1]; ++e) {
    const pair* p = &s->pairs[e];
    for (int k = 0; k < 9; ++k) l[k] += s->solved[p->slave][k / 3] * p->g[k % 3];
    for (int k = 0; k < 3; ++k) m->v[k] += p->n * s->solved[p->slave][k];
  }
  for (int k = 0; k < 9; ++k) step[k] = (k % 4 == 0) + r->dt * l[k];
  multiply(step, m->f, f);
  stretches(f, u, sigma);
  for (int a = 0; a < 3; ++a) {
    double kept = fmin(fmax(sigma[a], m->low), m->high);
    before *= sigma[a], after *= kept;
    sigma[a] = kept;
  }
  // Rest directions do not matter: F = U diag(sigma).
  for (int k = 0; k < 9; ++k) m->f[k] = u[k] * sigma[k % 3];
  m->det_p = fmin(fmax(m->det_p * before / after, 0.05), 20);
  for (int k = 0; k < 9; ++k) {
    m->c[k] = 0.5 * (1 + m->eta) * l[k] - 0.5 * (1 - m->eta) * l[3 * (k % 3) + k / 3];
  }
}

static void move(plastic_reference* r) {
  scratch* s = r->scratch;
  for (int32_t i = 0; i < r->num_masters; ++i) {
    for (int k = 0; k < 3; ++k) r->masters[i].x[k] += r->dt * r->masters[i].v[k];
  }
  to_slaves(r, s->gradient[0], sizeof *s->gradient, MOST_MOTION);
  for (int32_t i = 0; i < r->num_slaves; ++i) {
    for (int k = 0; k < 3; ++k) r->slaves[i][k] += r->dt * s->vel[i][k];
  }
}

int32_t plastic_reference_pairs(plastic_reference* r, const reference_pair** out) {
  if (!find_pairs(r)) return 0;
  for (int32_t m = 0; m < r->num_masters; ++m) weigh(r, m);
  if (out) *out = r->scratch->pairs;
  return r->scratch->num_pairs;
}

int plastic_reference_step(plastic_reference* r) {
  if (plastic_reference_pairs(r, NULL) == 0) return 0;
  to_slaves(r, r->masters[0].c, sizeof *r->masters, INFINITY);
  find_forces(r);
  solve(r);
  for (int32_t m = 0; m < r->num_masters; ++m) flow(r, m);
  move(r);
  return 1;
}

double plastic_reference_energy(const plastic_reference* r) {
  double sum = 0;
  for (int32_t i = 0; i < r->num_masters; ++i) {
    const reference_master* m = &r->masters[i];
    double u[9], s[3], e = 0;
    stretches(m->f, u, s);
    double j = s[0] * s[1] * s[2];
    for (int a = 0; a < 3; ++a) e += m->mu * (s[a] - 1) * (s[a] - 1);
    sum += m->volume * hardening(m) * (e + 0.5 * m->lambda * (j - 1) * (j - 1));
  }
  return sum;
}

// Memory ------------------------------------------------------------------------------------------

plastic_reference* plastic_reference_create(int32_t num_masters, int32_t num_slaves) {
  plastic_reference* r = calloc(1, sizeof *r);
  scratch* s = calloc(1, sizeof *s);
  size_t m = (size_t)num_masters, n = (size_t)num_slaves;
  if (!r || !s) {
    free(r);
    free(s);
    return NULL;
  }
  r->scratch = s;
  r->num_masters = num_masters;
  r->num_slaves = num_slaves;
  r->floor = -INFINITY;
  s->mask = 1023;
  while (s->mask < num_slaves) s->mask = 2 * s->mask + 1;
  r->masters = calloc(m, sizeof *r->masters);
  r->slaves = calloc(n, sizeof *r->slaves);
  s->head = calloc((size_t)s->mask + 1, sizeof *s->head);
  s->next = calloc(n, sizeof *s->next);
  s->start = calloc(m + 1, sizeof *s->start);
  s->center = calloc(m, sizeof *s->center);
  s->moment = calloc(m, sizeof *s->moment);
  s->principal = calloc(m, sizeof *s->principal);
  s->sigma = calloc(m, sizeof *s->sigma);
  s->gradient = calloc(m, sizeof *s->gradient);
  s->mass = calloc(n, sizeof *s->mass);
  s->vel = calloc(n, sizeof *s->vel);
  s->force = calloc(n, sizeof *s->force);
  s->solved = calloc(n, sizeof *s->solved);
  s->residual = calloc(n, sizeof *s->residual);
  s->direction = calloc(n, sizeof *s->direction);
  s->product = calloc(n, sizeof *s->product);
  s->conditioned = calloc(n, sizeof *s->conditioned);
  s->block = calloc(n, sizeof *s->block);
  s->touches = calloc(n, 1);
  if (r->masters && r->slaves && s->head && s->next && s->start && s->center && s->moment &&
      s->principal && s->sigma && s->gradient && s->mass && s->vel && s->force && s->solved &&
      s->residual && s->direction && s->product && s->conditioned && s->block && s->touches) {
    return r;
  }
  plastic_reference_destroy(r);
  return NULL;
}

void plastic_reference_destroy(plastic_reference* r) {
  if (!r) return;
  scratch* s = r->scratch;
  void* const arrays[] = {
      r->masters,   r->slaves,    s->head,     s->next,        s->start, s->center,  s->moment,
      s->principal, s->sigma,     s->gradient, s->mass,        s->vel,   s->force,   s->solved,
      s->residual,  s->direction, s->product,  s->conditioned, s->block, s->touches, s->pairs};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) free(arrays[i]);
  free(s);
  free(r);
}
