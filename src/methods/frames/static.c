// SPDX-License-Identifier: MIT
// Newton's method with a definite second derivative, a line search on the potential, and conjugate
// gradients preconditioned by the 3x3 blocks on the diagonal.
#include "methods/frames/static.h"

#include <math.h>
#include <string.h>

#include "math/small/mat3d.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define DEFAULT_TOLERANCE 1e-9
#define DEFAULT_NEWTON 100
// Each Newton step reduces the linear residual by this factor.
#define STEP_REDUCTION 1e-4
#define MAX_HALVINGS 30
// Rounding of the potential, relative to the sum of mu V.
#define ENERGY_NOISE 1e-14
// Supports allow a rigid motion when a pivot is below this share of the largest diagonal entry.
#define FREE_MOTION 1e-9

typedef struct solver {
  const frames_regions* regions;
  const frames_load* load;
  int32_t parts;
  size_t size;  // 3 * particles
  double *gradient, *residual, *step, *z, *direction, *product, *diagonal, *trial;
  frames_tangent* tangents;
  int32_t iterations;
  double noise;  // J
} solver;

static double dot(size_t n, const double* a, const double* b) {
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// Supports ----------------------------------------------------------------------------------------

// Smallest pivot of a symmetric 6x6 matrix, by Cholesky; 0 if not positive.
static double smallest_pivot(double m[6][6]) {
  double smallest = INFINITY;
  for (int j = 0; j < 6; ++j) {
    double pivot = m[j][j];
    for (int k = 0; k < j; ++k) pivot -= m[j][k] * m[j][k];
    if (!(pivot > 0.0)) return 0.0;
    smallest = fmin(smallest, pivot);
    m[j][j] = sqrt(pivot);
    for (int i = j + 1; i < 6; ++i) {
      for (int k = 0; k < j; ++k) m[i][j] -= m[i][k] * m[j][k];
      m[i][j] /= m[j][j];
    }
  }
  return smallest;
}

// True when the fixed components resist all six rigid motions.
static bool is_held(const frames_regions* regions, const bool* fixed, const double* x) {
  double m[6][6] = {{0}}, center[3] = {0}, size2 = 0.0;
  size_t n = (size_t)regions->num_particles;
  for (size_t p = 0; p < n; ++p) {
    for (int i = 0; i < 3; ++i) center[i] += x[3 * p + (size_t)i] / (double)n;
  }
  for (size_t p = 0; p < n; ++p) {
    for (int i = 0; i < 3; ++i) {
      double off = x[3 * p + (size_t)i] - center[i];
      size2 += off * off / (double)n;
    }
  }
  for (size_t p = 0; p < n; ++p) {
    double y[3];
    for (int i = 0; i < 3; ++i) y[i] = (x[3 * p + (size_t)i] - center[i]) / sqrt(size2);
    // Rows: motion of component i under three translations and three rotations.
    const double motion[3][6] = {
        {1, 0, 0, 0, y[2], -y[1]}, {0, 1, 0, -y[2], 0, y[0]}, {0, 0, 1, y[1], -y[0], 0}};
    for (int i = 0; i < 3; ++i) {
      if (!fixed[3 * p + (size_t)i]) continue;
      for (int a = 0; a < 6; ++a) {
        for (int b = 0; b < 6; ++b) m[a][b] += motion[i][a] * motion[i][b];
      }
    }
  }
  double scale = 0.0;
  for (int a = 0; a < 6; ++a) scale = fmax(scale, m[a][a]);
  return scale > 0.0 && smallest_pivot(m) > FREE_MOTION * scale;
}

// Conjugate gradients -----------------------------------------------------------------------------

// Inverts the diagonal blocks, without the rows and columns of fixed components.
static void invert_diagonal(solver* s) {
  yw_frames_diagonal(s->regions, s->tangents, s->parts, s->diagonal);
  for (size_t p = 0; p < s->size / 3; ++p) {
    double *d = s->diagonal + 6 * p, inverse[6];
    const bool* fixed = s->load->fixed + 3 * p;
    if (fixed[0]) d[3] = d[4] = 0.0;
    if (fixed[1]) d[3] = d[5] = 0.0;
    if (fixed[2]) d[4] = d[5] = 0.0;
    yw_sym_invert(d, inverse);
    memcpy(d, inverse, sizeof inverse);
  }
}

static void precondition(const solver* s, const double* r, double* z) {
  for (size_t p = 0; p < s->size / 3; ++p) {
    yw_sym_apply(s->diagonal + 6 * p, r + 3 * p, z + 3 * p);
    for (size_t i = 3 * p; i < 3 * p + 3; ++i) {
      if (s->load->fixed[i]) z[i] = 0.0;
    }
  }
}

// Solves K step = -gradient for the free components, to the given reduction.
static void solve_step(solver* s, double reduction) {
  memset(s->step, 0, s->size * sizeof *s->step);
  for (size_t i = 0; i < s->size; ++i) s->residual[i] = s->load->fixed[i] ? 0.0 : -s->gradient[i];
  precondition(s, s->residual, s->z);
  memcpy(s->direction, s->z, s->size * sizeof *s->z);
  double rz = dot(s->size, s->residual, s->z), goal = reduction * reduction * rz;
  for (size_t k = 0; k < 4 * s->size && rz > goal; ++k, ++s->iterations) {
    yw_frames_apply(s->regions, s->tangents, s->parts, s->direction, s->product);
    for (size_t i = 0; i < s->size; ++i) {
      if (s->load->fixed[i]) s->product[i] = 0.0;
    }
    double curvature = dot(s->size, s->direction, s->product);
    if (!(curvature > 0.0)) break;
    double alpha = rz / curvature;
    for (size_t i = 0; i < s->size; ++i) {
      s->step[i] += alpha * s->direction[i];
      s->residual[i] -= alpha * s->product[i];
    }
    precondition(s, s->residual, s->z);
    double next = dot(s->size, s->residual, s->z), beta = next / rz;
    rz = next;
    for (size_t i = 0; i < s->size; ++i) s->direction[i] = s->z[i] + beta * s->direction[i];
  }
}

// Newton ------------------------------------------------------------------------------------------

static double potential(const solver* s, const double* x, double energy) {
  return s->load->forces ? energy - dot(s->size, s->load->forces, x) : energy;
}

// Computes the gradient of the potential; returns its free part relative to reactions and loads.
static double evaluate(solver* s, const double* x, double* energy) {
  *energy =
      yw_frames_energy(s->regions, s->load->targets, x, s->gradient, s->tangents, FRAMES_DEFINITE);
  double free2 = 0.0, held2 = 0.0, loads2 = 0.0;
  for (size_t i = 0; i < s->size; ++i) {
    double f = s->load->forces ? s->load->forces[i] : 0.0;
    s->gradient[i] -= f;
    loads2 += f * f;
    *(s->load->fixed[i] ? &held2 : &free2) += s->gradient[i] * s->gradient[i];
  }
  return held2 + loads2 > 0.0 ? sqrt(free2 / (held2 + loads2)) : (free2 > 0.0 ? INFINITY : 0.0);
}

// Moves along the step as far as the potential decreases sufficiently.
static bool search(solver* s, double* x, double before) {
  double slope = dot(s->size, s->gradient, s->step), reach = 1.0;
  for (int i = 0; i < MAX_HALVINGS; ++i, reach *= 0.5) {
    for (size_t k = 0; k < s->size; ++k) s->trial[k] = x[k] + reach * s->step[k];
    double energy =
        yw_frames_energy(s->regions, s->load->targets, s->trial, NULL, NULL, FRAMES_DEFINITE);
    double after = potential(s, s->trial, energy);
    if (after <= before + 1e-4 * reach * slope + s->noise) {
      memcpy(x, s->trial, s->size * sizeof *x);
      return true;
    }
  }
  return false;
}

static yw_status iterate(solver* s, double* x, frames_static_report* report) {
  double tolerance = s->load->tolerance > 0.0 ? s->load->tolerance : DEFAULT_TOLERANCE;
  int32_t most = s->load->max_newton > 0 ? s->load->max_newton : DEFAULT_NEWTON;
  for (report->newton = 0;; ++report->newton) {
    report->residual = evaluate(s, x, &report->energy);
    report->iterations = s->iterations;
    if (report->residual <= tolerance) return YW_OK;
    if (report->newton == most) return YW_ERR_DIVERGED;
    invert_diagonal(s);
    // No more accurate than the remaining residual requires.
    solve_step(s, fmax(STEP_REDUCTION, 0.1 * tolerance / report->residual));
    if (!search(s, x, potential(s, x, report->energy))) return YW_ERR_DIVERGED;
  }
}

static bool allocate(solver* s) {
  const yw_allocator* mem = &s->regions->mem;
  double** const vectors[] = {&s->gradient,  &s->residual, &s->step, &s->z,
                              &s->direction, &s->product,  &s->trial};
  bool good = true;
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i) {
    *vectors[i] = YW_NEW_ARRAY(mem, double, s->size);
    good = good && *vectors[i];
  }
  s->diagonal = YW_NEW_ARRAY(mem, double, 2 * s->size);
  s->tangents =
      YW_NEW_ARRAY(mem, frames_tangent, (size_t)s->parts * (size_t)s->regions->num_regions);
  return good && s->diagonal && s->tangents;
}

yw_status yw_frames_static(const frames_regions* regions, const frames_load* load, double* x,
                           double* reactions, frames_static_report* report, yw_error* error) {
  frames_static_report local = {0};
  if (!is_held(regions, load->fixed, x)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "the body can still move or turn as a whole: an equilibrium needs supports "
                   "against all six rigid motions");
  }
  solver s = {.regions = regions,
              .load = load,
              .parts = yw_frames_parts(load->targets),
              .size = 3 * (size_t)regions->num_particles};
  for (int32_t r = 0; r < regions->num_regions; ++r) {
    s.noise += ENERGY_NOISE * regions->mu[r] * regions->volume[r];
  }
  yw_status status = YW_ERR_MEMORY;
  if (allocate(&s)) {
    status = iterate(&s, x, &local);
    for (size_t i = 0; reactions && i < s.size; ++i) {
      reactions[i] = load->fixed[i] ? s.gradient[i] : 0.0;
    }
  }
  void* const arrays[] = {s.gradient, s.residual, s.step,     s.z,       s.direction,
                          s.product,  s.trial,    s.diagonal, s.tangents};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) {
    yw_mem_free(&regions->mem, arrays[i]);
  }
  if (report) *report = local;
  if (status == YW_ERR_MEMORY) return yw_fail_memory(error, "the equilibrium of a frames body");
  if (status < 0) {
    return yw_fail(error, status, "no equilibrium after %d Newton steps (residual %.3g)",
                   local.newton, local.residual);
  }
  return YW_OK;
}
