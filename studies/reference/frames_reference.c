// SPDX-License-Identifier: MIT
// (m / h^2 + K) step = m / h^2 (y - x) - dE/dx about x = x_n + h v_n; symbols as in
// src/methods/frames/regions.h.
#include "reference/frames_reference.h"

#include <math.h>
#include <string.h>

#include "methods/frames/energy.h"
#include "yawara/extend/memory.h"
#include "yawara/frames.h"

#define MAX_ITERATIONS 2000

struct frames_reference {
  frames_regions regions;
  frames_tangent* tangents;  // per region
  bool* held;                // per vertex
  double *x, *v;             // 3 per vertex, as all that follow
  double *guess, *gradient, *step, *residual, *z, *direction, *product;
  double* diagonal;  // 6 per vertex, blocks of the stiffness
};

frames_reference* frames_reference_create(const yw_frames_def* def, const bool* held) {
  frames_reference* b = YW_NEW(NULL, frames_reference);
  if (!b) return NULL;
  size_t n = (size_t)def->mesh->num_vertices;
  double** const vectors[] = {&b->x,        &b->v, &b->guess,     &b->gradient, &b->step,
                              &b->residual, &b->z, &b->direction, &b->product};
  bool good = yw_frames_regions_create(NULL, def, 0.0, &b->regions, NULL) >= 0;
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i) {
    *vectors[i] = YW_NEW_ARRAY(NULL, double, 3 * n);
    good = good && *vectors[i];
  }
  b->diagonal = YW_NEW_ARRAY(NULL, double, 6 * n);
  b->held = YW_NEW_ARRAY(NULL, bool, n);
  b->tangents = YW_NEW_ARRAY(NULL, frames_tangent, b->regions.num_regions);
  if (!good || !b->diagonal || !b->held || !b->tangents) {
    frames_reference_destroy(b);
    return NULL;
  }
  memcpy(b->held, held, n * sizeof *held);
  for (size_t i = 0; i < n; ++i) {
    b->x[3 * i] = (double)def->mesh->positions[i].x;
    b->x[3 * i + 1] = (double)def->mesh->positions[i].y;
    b->x[3 * i + 2] = (double)def->mesh->positions[i].z;
  }
  return b;
}

void frames_reference_destroy(frames_reference* b) {
  if (!b) return;
  void* const arrays[] = {b->tangents, b->held,     b->x, b->v,         b->guess,   b->gradient,
                          b->step,     b->residual, b->z, b->direction, b->product, b->diagonal};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) yw_mem_free(NULL, arrays[i]);
  yw_frames_regions_free(&b->regions);
  yw_mem_free(NULL, b);
}

double* frames_reference_positions(frames_reference* b) { return b->x; }
double* frames_reference_velocities(frames_reference* b) { return b->v; }

static double dot(size_t n, const double* a, const double* b) {
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

static void precondition(const frames_reference* b, double inv_h2) {
  for (size_t p = 0; p < (size_t)b->regions.num_particles; ++p) {
    double inertia = b->regions.mass[p] * inv_h2;
    for (size_t i = 0; i < 3; ++i) {
      b->z[3 * p + i] =
          b->held[p] ? 0.0 : b->residual[3 * p + i] / (inertia + b->diagonal[6 * p + i]);
    }
  }
}

static void multiply(const frames_reference* b, double inv_h2) {
  yw_frames_apply(&b->regions, b->tangents, 1, b->direction, b->product);
  for (size_t p = 0; p < (size_t)b->regions.num_particles; ++p) {
    for (size_t i = 3 * p; i < 3 * p + 3; ++i) {
      b->product[i] += b->regions.mass[p] * inv_h2 * b->direction[i];
      if (b->held[p]) b->product[i] = 0.0;
    }
  }
}

static int32_t solve(frames_reference* b, double inv_h2, double tolerance) {
  size_t n = 3 * (size_t)b->regions.num_particles;
  memset(b->step, 0, n * sizeof *b->step);
  precondition(b, inv_h2);
  memcpy(b->direction, b->z, n * sizeof *b->z);
  double rz = dot(n, b->residual, b->z), goal = tolerance * tolerance * rz;
  int32_t iterations = 0;
  for (; iterations < MAX_ITERATIONS && rz > goal; ++iterations) {
    multiply(b, inv_h2);
    double alpha = rz / dot(n, b->direction, b->product);
    for (size_t i = 0; i < n; ++i) {
      b->step[i] += alpha * b->direction[i];
      b->residual[i] -= alpha * b->product[i];
    }
    precondition(b, inv_h2);
    double next = dot(n, b->residual, b->z), beta = next / rz;
    rz = next;
    for (size_t i = 0; i < n; ++i) b->direction[i] = b->z[i] + beta * b->direction[i];
  }
  return iterations;
}

int32_t frames_reference_step(frames_reference* b, double h, yw_vec3 gravity, double tolerance) {
  size_t count = (size_t)b->regions.num_particles;
  double inv_h2 = 1.0 / (h * h);
  const double g[3] = {(double)gravity.x, (double)gravity.y, (double)gravity.z};
  for (size_t i = 0; i < 3 * count; ++i) b->guess[i] = b->x[i] + h * (b->held[i / 3] ? 0 : b->v[i]);
  yw_frames_energy(&b->regions, NULL, b->guess, b->gradient, b->tangents, FRAMES_DEFINITE);
  yw_frames_diagonal(&b->regions, b->tangents, 1, b->diagonal);
  for (size_t i = 0; i < 3 * count; ++i) {
    b->residual[i] = b->held[i / 3] ? 0.0 : b->regions.mass[i / 3] * g[i % 3] - b->gradient[i];
  }
  int32_t iterations = solve(b, inv_h2, tolerance);
  for (size_t i = 0; i < 3 * count; ++i) {
    double x = b->guess[i] + b->step[i];
    b->v[i] = (x - b->x[i]) / h;
    b->x[i] = x;
  }
  return iterations;
}
