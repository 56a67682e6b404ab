// SPDX-License-Identifier: MIT
// Energy of a frames body in double. Notes: docs/methods/frames.md, "Equations".
//
//   P   = dE/dA = V [2 mu (A - R S~) + lambda (tr S - tr S~) R0],  R = polar(A S~), R0 = polar(A)
//   dR  = R [omega], H omega = axial(R^T dA S~), H = tr(R^T A S~) 1 - R^T A S~
//
// Eigenvalues of the second derivative are 2 mu and 2 mu + 3 lambda on strains; on rotations they
// are 2 mu - kappa z H^-1 z, which turns negative under compression. With
// H~ = tr(S~^2) 1 - S~^2 it is enough that H >= (kappa / 2 mu) H~.
#include "methods/frames/energy.h"

#include <math.h>
#include <string.h>

#include "math/small/mat3d.h"

// Newton steps from below towards the smallest root; each gives a valid bound.
#define ROOT_STEPS 8

void yw_frames_map(const frames_regions* regions, int32_t r, const double* x, double a[9]) {
  int32_t begin = regions->start[r];
  const double* origin = x + 3 * (size_t)regions->member[begin];
  memset(a, 0, 9 * sizeof *a);
  for (int32_t e = begin + 1; e < regions->start[r + 1]; ++e) {
    const double* p = x + 3 * (size_t)regions->member[e];
    const double* g = regions->entries[e].g;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) a[3 * i + j] += (p[i] - origin[i]) * g[j];
    }
  }
}

static void region_center(const frames_regions* regions, int32_t r, const double* x, double t[3]) {
  int32_t begin = regions->start[r], end = regions->start[r + 1];
  if (regions->kind == YW_FRAMES_RINGS) end = begin + 1;
  for (int i = 0; i < 3; ++i) {
    t[i] = 0.0;
    for (int32_t e = begin; e < end; ++e) t[i] += x[3 * (size_t)regions->member[e] + (size_t)i];
    t[i] /= end - begin;
  }
}

// A lower bound of the smallest root of det(h - x b) = 0; b is positive definite.
static double smallest_root(const double h[6], const double b[6]) {
  double bi[6], hm[9], bm[9], g[9], g2[9];
  yw_sym_invert(b, bi);
  yw_m3_of_sym(h, hm);
  yw_m3_of_sym(bi, bm);
  yw_m3_mul(bm, hm, g);
  yw_m3_mul(g, g, g2);
  double e1 = g[0] + g[4] + g[8], e2 = 0.5 * (e1 * e1 - (g2[0] + g2[4] + g2[8]));
  double e3 = g[0] * (g[4] * g[8] - g[5] * g[7]) - g[1] * (g[3] * g[8] - g[5] * g[6]) +
              g[2] * (g[3] * g[7] - g[4] * g[6]);
  double x = e1 / 3.0 - 2.0 * sqrt(fmax(e1 * e1 / 9.0 - e2 / 3.0, 0.0));
  for (int step = 0; step < ROOT_STEPS; ++step) {
    double p = ((x - e1) * x + e2) * x - e3, slope = (3.0 * x - 2.0 * e1) * x + e2;
    if (!(slope > 1e-12 * (e1 * e1))) break;
    x -= p / slope;
  }
  return x;
}

// kappa H^-1 V, limited where the second derivative would be indefinite.
static void turn_of(const double h[6], const double target[6], double kappa, double mu2,
                    double volume, frames_hessian hessian, double turn[6]) {
  double limited[6];
  memcpy(limited, h, sizeof limited);
  if (hessian == FRAMES_DEFINITE) {
    double square[9], full[9], sym[6], around[6];
    yw_m3_of_sym(target, full);
    yw_m3_mul(full, full, square);
    const double entries[6] = {square[0], square[4], square[8], square[1], square[2], square[5]};
    memcpy(sym, entries, sizeof sym);
    yw_sym_turning(sym, around);
    double wanted = fmax(kappa / mu2, 0.05), short_by = wanted - smallest_root(h, around);
    for (int i = 0; i < 6 && short_by > 0.0; ++i) limited[i] += short_by * around[i];
  }
  yw_sym_invert(limited, turn);
  for (int i = 0; i < 6; ++i) turn[i] *= kappa * volume;
}

// Energy of one part of a region, J; adds its share to p = dE/dA.
static double part_energy(const frames_regions* regions, int32_t r, const double a[9],
                          const double r0[9], const double s0[6], const double* target,
                          double weight, double p[9], frames_tangent* tangent,
                          frames_hessian hessian) {
  static const double one[6] = {1, 1, 1, 0, 0, 0};
  double mu = regions->mu[r], lambda = regions->lambda[r], volume = weight * regions->volume[r];
  double rotation[9], s[6], goal[9], full[9], bent[9], distance = 0.0;
  const double* wanted = target ? target : one;
  yw_m3_of_sym(wanted, full);
  if (target) {
    yw_m3_mul(a, full, bent);
    yw_m3_polar(bent, rotation, s);
  } else {
    memcpy(rotation, r0, sizeof rotation);
    memcpy(s, s0, sizeof s);
  }
  yw_m3_mul(rotation, full, goal);
  double excess = s0[0] + s0[1] + s0[2] - (wanted[0] + wanted[1] + wanted[2]);
  for (int i = 0; i < 9; ++i) {
    double d = a[i] - goal[i];
    distance += d * d;
    p[i] += volume * (2.0 * mu * d + lambda * excess * r0[i]);
  }
  if (tangent) {
    double h[6], kappa = 2.0 * mu - (target ? 0.0 : lambda * excess);
    memcpy(tangent->r, rotation, sizeof rotation);
    memcpy(tangent->target, wanted, sizeof tangent->target);
    tangent->mu2 = 2.0 * mu * volume;
    tangent->lambda = lambda * volume;
    yw_sym_turning(s, h);
    turn_of(h, wanted, kappa, 2.0 * mu, volume, hessian, tangent->turn);
  }
  return volume * (mu * distance + 0.5 * lambda * excess * excess);
}

// Forces of p = dE/dA and of the springs, added to out.
static void spread(const frames_regions* regions, int32_t r, const double* x, const double a[9],
                   const double t[3], double p[9], double* out) {
  double n[9], an[9];
  yw_m3_of_sym(regions->n[r], n);
  yw_m3_mul(a, n, an);
  for (int i = 0; i < 9; ++i) p[i] -= an[i];
  for (int32_t e = regions->start[r]; e < regions->start[r + 1]; ++e) {
    size_t at = 3 * (size_t)regions->member[e];
    const frames_entry* entry = &regions->entries[e];
    for (int i = 0; i < 3; ++i) {
      out[at + (size_t)i] += p[3 * i] * entry->g[0] + p[3 * i + 1] * entry->g[1] +
                             p[3 * i + 2] * entry->g[2] + entry->k * (x[at + (size_t)i] - t[i]);
    }
  }
}

static double spring_energy(const frames_regions* regions, int32_t r, const double* x,
                            const double a[9], const double t[3]) {
  double sum = 0.0, n[9], an[9];
  for (int32_t e = regions->start[r]; e < regions->start[r + 1]; ++e) {
    const double* p = x + 3 * (size_t)regions->member[e];
    for (int i = 0; i < 3; ++i) sum += regions->entries[e].k * (p[i] - t[i]) * (p[i] - t[i]);
  }
  yw_m3_of_sym(regions->n[r], n);
  yw_m3_mul(a, n, an);
  return regions->share * sum - 0.5 * yw_m3_dot(a, an);
}

double yw_frames_energy(const frames_regions* regions, const frames_targets* targets,
                        const double* x, double* gradient, frames_tangent* tangents,
                        frames_hessian hessian) {
  int32_t parts = yw_frames_parts(targets);
  double energy = 0.0, beta = targets ? targets->beta : 0.0;
  if (gradient) memset(gradient, 0, 3 * (size_t)regions->num_particles * sizeof *gradient);
  for (int32_t r = 0; r < regions->num_regions; ++r) {
    double a[9], r0[9], s0[6], t[3], p[9] = {0};
    frames_tangent* tangent = tangents ? tangents + (size_t)parts * (size_t)r : NULL;
    yw_frames_map(regions, r, x, a);
    region_center(regions, r, x, t);
    yw_m3_polar(a, r0, s0);
    energy += part_energy(regions, r, a, r0, s0, NULL, 1.0 - beta, p, tangent, hessian);
    if (targets) {
      energy += part_energy(regions, r, a, r0, s0, targets->stretch[r], beta, p,
                            tangent ? tangent + 1 : NULL, hessian);
    }
    energy += spring_energy(regions, r, x, a, t);
    if (gradient) spread(regions, r, x, a, t, p, gradient);
  }
  return energy;
}

// dP of one part, added to out.
static void apply_tangent(const frames_tangent* c, const double da[9], double out[9]) {
  double w[9], target[9], bent[9], z[3], omega[3], back[9];
  yw_m3_mul_tn(c->r, da, w);
  yw_m3_of_sym(c->target, target);
  yw_m3_mul(w, target, bent);
  yw_m3_axial(bent, z);
  yw_sym_apply(c->turn, z, omega);
  const double cross[9] = {0, -omega[2], omega[1], omega[2], 0, -omega[0], -omega[1], omega[0], 0};
  yw_m3_mul(cross, target, back);
  double pressure = c->lambda * (w[0] + w[4] + w[8]), dp[9];
  for (int i = 0; i < 9; ++i) w[i] = c->mu2 * w[i] - back[i];
  w[0] += pressure, w[4] += pressure, w[8] += pressure;
  yw_m3_mul(c->r, w, dp);
  for (int i = 0; i < 9; ++i) out[i] += dp[i];
}

void yw_frames_apply(const frames_regions* regions, const frames_tangent* tangents, int32_t parts,
                     const double* dx, double* out) {
  memset(out, 0, 3 * (size_t)regions->num_particles * sizeof *out);
  for (int32_t r = 0; r < regions->num_regions; ++r) {
    double da[9], t[3], p[9] = {0};
    yw_frames_map(regions, r, dx, da);
    region_center(regions, r, dx, t);
    for (int32_t k = 0; k < parts; ++k) {
      apply_tangent(&tangents[(size_t)parts * (size_t)r + (size_t)k], da, p);
    }
    spread(regions, r, dx, da, t, p, out);
  }
}

// Change of a member's own force when it moves alone: columns of the block on the diagonal.
static void member_block(const frames_regions* regions, const frames_tangent* tangents,
                         int32_t parts, int32_t r, int32_t e, double block[6]) {
  const double* g = regions->entries[e].g;
  double n[9];
  yw_m3_of_sym(regions->n[r], n);
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  double columns[3][3];
  for (int c = 0; c < 3; ++c) {
    double da[9] = {0}, p[9] = {0}, an[9];
    for (int j = 0; j < 3; ++j) da[3 * c + j] = g[j];
    for (int32_t k = 0; k < parts; ++k) {
      apply_tangent(&tangents[(size_t)parts * (size_t)r + (size_t)k], da, p);
    }
    yw_m3_mul(da, n, an);
    for (int i = 0; i < 3; ++i) {
      columns[c][i] = 0.0;
      for (int j = 0; j < 3; ++j) columns[c][i] += (p[3 * i + j] - an[3 * i + j]) * g[j];
    }
  }
  for (int i = 0; i < 6; ++i)
    block[i] += 0.5 * (columns[column[i]][row[i]] + columns[row[i]][column[i]]);
}

void yw_frames_diagonal(const frames_regions* regions, const frames_tangent* tangents,
                        int32_t parts, double* out) {
  memset(out, 0, 6 * (size_t)regions->num_particles * sizeof *out);
  bool cells = regions->kind == YW_FRAMES_CELLS;
  for (int32_t r = 0; r < regions->num_regions; ++r) {
    int32_t count = regions->start[r + 1] - regions->start[r];
    for (int32_t e = regions->start[r]; e < regions->start[r + 1]; ++e) {
      double* block = out + 6 * (size_t)regions->member[e];
      member_block(regions, tangents, parts, r, e, block);
      double k = regions->entries[e].k * (cells ? 1.0 - 1.0 / count : 1.0);
      for (int i = 0; i < 3; ++i) block[i] += k;
    }
  }
}
