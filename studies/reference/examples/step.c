// SPDX-License-Identifier: MIT
// Implicit Euler: the new positions minimise |x - (x0 + h v0 + h^2 g)|^2 / (2 h^2) in the metric of
// the masses, plus the elastic energy, plus the floor's.
#include <math.h>
#include <string.h>

#include "math/small/dense.h"
#include "reference/examples/body.h"
#include "yawara/extend/error.h"

// The floor's springs, 1/s^2: the weight of a hundred particles presses one in by a centimetre.
#define FLOOR 1e5
#define MAX_HALVINGS 12

// Energy to minimise ------------------------------------------------------------------------------

static double total_energy(const example_fem* b, const example_fem_step_def* def) {
  double energy = example_fem_energy(b, NULL), inv = 1.0 / (def->h * def->h);
  for (int32_t i = 0; i < b->num_vertices; ++i) {
    double sum = 0.0, depth = fmin(0.0, b->x[3 * i + 1] - def->floor);
    for (int c = 0; c < 3; ++c) {
      double d = b->x[3 * i + c] - b->predicted[3 * i + c];
      sum += d * d;
    }
    energy += 0.5 * b->mass[i] * (inv * sum + FLOOR * depth * depth);
  }
  return energy;
}

// Its gradient; returns the norm.
static double find_gradient(example_fem* b, const example_fem_step_def* def) {
  double inv = 1.0 / (def->h * def->h), norm2 = 0.0;
  example_fem_energy(b, b->gradient);
  for (int32_t i = 0; i < 3 * b->num_vertices; ++i) {
    double force = inv * (b->x[i] - b->predicted[i]);
    if (i % 3 == 1) force += FLOOR * fmin(0.0, b->x[i] - def->floor);
    b->gradient[i] = b->mass[i / 3] * force - b->gradient[i];
    norm2 += b->gradient[i] * b->gradient[i];
  }
  return sqrt(norm2);
}

static bool find_direction(example_fem* b, const example_fem_step_def* def) {
  double inv = 1.0 / (def->h * def->h);
  strain_moduli moduli = {b->def.youngs_modulus, b->def.volume_modulus};
  for (int32_t i = 0; i < 3 * b->num_vertices; ++i) {
    bool pressed = i % 3 == 1 && b->x[i] < def->floor;
    b->trial[i] = b->mass[i / 3] * (inv + (pressed ? FLOOR : 0.0));
  }
  // The whole second derivative may be indefinite; without the part that causes it, it is not.
  for (int whole = 1; whole >= 0; --whole) {
    example_elements(b, b->x, moduli, (const double(*)[6])b->targets, whole);
    if (!example_factorise(b, b->trial)) continue;
    example_solve(b, b->gradient, b->step);
    return true;
  }
  return false;
}

// Halves the step until the energy falls.
static bool search_line(example_fem* b, const example_fem_step_def* def) {
  int32_t n = 3 * b->num_vertices;
  double slope = 0.0, before = total_energy(b, def), length = 1.0;
  for (int32_t i = 0; i < n; ++i) slope += b->gradient[i] * b->step[i];
  memcpy(b->trial, b->x, sizeof *b->x * (size_t)n);
  for (int halving = 0; halving < MAX_HALVINGS; ++halving, length *= 0.5) {
    for (int32_t i = 0; i < n; ++i) b->x[i] = b->trial[i] - length * b->step[i];
    if (total_energy(b, def) <= before - 1e-4 * length * slope) return true;
  }
  memcpy(b->x, b->trial, sizeof *b->x * (size_t)n);
  return false;
}

// Damping -----------------------------------------------------------------------------------------

// Moves velocities towards the rigid motion with the same momenta.
static void damp(example_fem* b, double h) {
  double share = 1.0 - exp(-b->def.damping * h), mass = 0, center[3] = {0}, mean[3] = {0};
  for (int32_t i = 0; i < b->num_vertices; ++i) {
    mass += b->mass[i];
    for (int c = 0; c < 3; ++c) center[c] += b->mass[i] * b->x[3 * i + c];
    for (int c = 0; c < 3; ++c) mean[c] += b->mass[i] * b->v[3 * i + c];
  }
  for (int c = 0; c < 3; ++c) center[c] /= mass, mean[c] /= mass;
  double inertia[9] = {0}, spin[3] = {0};
  for (int32_t i = 0; i < b->num_vertices; ++i) {
    double r[3], m = b->mass[i];
    const double* v = b->v + 3 * (size_t)i;
    for (int c = 0; c < 3; ++c) r[c] = b->x[3 * i + c] - center[c];
    double r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    for (int k = 0; k < 9; ++k) {
      inertia[k] += m * ((k % 4 == 0 ? r2 : 0.0) - r[k / 3] * r[k % 3]);
    }
    for (int c = 0; c < 3; ++c) {
      spin[c] += m * (r[(c + 1) % 3] * v[(c + 2) % 3] - r[(c + 2) % 3] * v[(c + 1) % 3]);
    }
  }
  if (!yw_dense_cholesky(3, inertia, inertia)) return;
  yw_dense_solve(3, inertia, spin, spin);
  for (int32_t i = 0; i < b->num_vertices; ++i) {
    double r[3];
    double* v = b->v + 3 * (size_t)i;
    for (int c = 0; c < 3; ++c) r[c] = b->x[3 * i + c] - center[c];
    for (int c = 0; c < 3; ++c) {
      int p = (c + 1) % 3, q = (c + 2) % 3;
      v[c] += share * (mean[c] + spin[p] * r[q] - spin[q] * r[p] - v[c]);
    }
  }
}

// The step ----------------------------------------------------------------------------------------

yw_status example_fem_step(example_fem* b, const example_fem_step_def* def, yw_error* error) {
  int32_t n = 3 * b->num_vertices;
  double h = def->h, first = 0.0;
  bool converged = false;
  for (int32_t i = 0; i < n; ++i) {
    b->predicted[i] = b->x[i] + h * b->v[i] - (i % 3 == 1 ? h * h * def->gravity : 0.0);
    // Where the step began, until velocities are found below.
    b->v[i] = b->x[i];
  }
  for (int32_t k = 0; k < b->def.max_newton && !converged; ++k) {
    if (k == 0 || !b->def.project_once) example_project_once(b, b->x);
    double residual = find_gradient(b, def);
    if (k == 0) first = residual;
    converged = residual <= b->def.tolerance * first;
    if (converged) break;
    if (!find_direction(b, def) || !search_line(b, def)) break;
    b->statistics.newton++;
  }
  for (int32_t i = 0; i < n; ++i) b->v[i] = (b->x[i] - b->v[i]) / h;
  if (b->def.damping > 0.0) damp(b, h);
  b->statistics.steps++;
  if (!isfinite(b->x[0])) return yw_fail(error, YW_ERR_DIVERGED, "the body is no longer finite");
  return converged ? YW_OK : YW_WARN_NUMERICS;
}
