// SPDX-License-Identifier: MIT
// The nearest preferred shape. Where it is a blend of strains (Schumacher et al. 2012) the weights
// follow from products of strains, one small problem per group. Where it is a pose (Martin et al.
// 2011), X(w) minimises |E(X) - sum w_k E_k|, which Newton's method solves with a sparse system;
// the same factor says how X changes with the weights, and these move by Gauss-Newton.
#include <math.h>
#include <string.h>

#include "math/small/simplex.h"
#include "reference/examples/body.h"

// A pose has no place of its own: this much of its stiffness holds it near where it was.
#define HOLD 1e-7
// Largest change of a weight in one step: further away the linear prediction of the pose is poor.
#define MAX_CHANGE 0.2

static const strain_moduli unit = {1.0, 0.0};

static double product(const double a[6], const double b[6]) {
  double sum = 0.0;
  for (int i = 0; i < 6; ++i) sum += a[i] * b[i];
  return sum;
}

static void strain_of(const example_fem* b, const double* x, int32_t t, double e[6]) {
  double f[9];
  strain_gradient(&b->tets[t], x, f);
  strain_green(f, e);
}

// sum w_k E_k
static void blend(const example_fem* b, int32_t t, double out[6]) {
  const double* w = example_fem_weights(b, t);
  memset(out, 0, 6 * sizeof *out);
  for (int32_t k = 0; k < b->def.num_examples; ++k) {
    for (int i = 0; i < 6; ++i) out[i] += w[k] * b->examples[k * b->num_tets + t][i];
  }
}

void example_aim(example_fem* b) {
  for (int32_t t = 0; t < b->num_tets; ++t) {
    if (b->def.num_examples == 0) continue;
    if (b->def.kind == EXAMPLE_FEM_MARTIN) {
      strain_of(b, b->pose, t, b->targets[t]);
    } else {
      blend(b, t, b->targets[t]);
    }
    for (int i = 0; i < 6; ++i) b->targets[t][i] *= b->def.beta;
  }
}

// Schumacher --------------------------------------------------------------------------------------

static double project_strains(example_fem* b, const double* x) {
  int32_t count = b->def.num_examples;
  double change = 0.0, products[EXAMPLE_FEM_MAX_EXAMPLES] = {0}, w[EXAMPLE_FEM_MAX_EXAMPLES];
  for (int32_t t = 0; t < b->num_tets; ++t) {
    double e[6];
    strain_of(b, x, t, e);
    for (int32_t k = 0; k < count; ++k) {
      products[k] += b->tets[t].volume * product(e, b->examples[k * b->num_tets + t]);
    }
    int32_t group = example_group(b, t);
    if (b->num_groups == 1 && t + 1 < b->num_tets) continue;
    double* weights = b->weights + (size_t)group * (size_t)count;
    yw_project_exact(count, b->grams + (size_t)group * (size_t)(count * count), products, NULL, w);
    for (int32_t k = 0; k < count; ++k) {
      change = fmax(change, fabs(w[k] - weights[k]));
      weights[k] = w[k];
      products[k] = 0.0;
    }
  }
  return change;
}

// Martin ------------------------------------------------------------------------------------------

// The strain of a displacement d of the pose, to first order.
static void strain_along(const example_fem* b, const double* d, int32_t t, double e[6]) {
  double f[9], df[9];
  strain_gradient(&b->tets[t], b->pose, f);
  strain_gradient(&b->tets[t], d, df);
  strain_change(f, df, e);
}

// Factorises the second derivatives of |E(X) - target|^2 / 2 at the pose.
static bool factorise_pose(example_fem* b) {
  for (int32_t i = 0; i < 3 * b->num_vertices; ++i) b->trial[i] = 0.0;
  for (int32_t t = 0; t < b->num_tets; ++t) {
    const strain_tet* tet = &b->tets[t];
    for (int a = 0; a < 4; ++a) {
      double size2 = 0.0;
      for (int i = 0; i < 3; ++i) size2 += tet->g[a][i] * tet->g[a][i];
      for (int i = 0; i < 3; ++i) b->trial[3 * tet->v[a] + i] += HOLD * tet->volume * size2;
    }
  }
  for (int whole = 1; whole >= 0; --whole) {
    example_elements(b, b->pose, unit, (const double(*)[6])b->targets, whole);
    if (example_factorise(b, b->trial)) return true;
  }
  return false;
}

// Displacement of the pose (column 0) towards the one of the present weights, and its change with
// each weight (columns 1 on).
static void solve_pose(example_fem* b) {
  size_t n = 3 * (size_t)b->num_vertices;
  double f[9], moved[6];
  for (int32_t column = 0; column <= b->def.num_examples; ++column) {
    memset(b->trial, 0, n * sizeof *b->trial);
    for (int32_t t = 0; t < b->num_tets; ++t) {
      strain_gradient(&b->tets[t], b->pose, f);
      const double* target = b->targets[t];
      if (column > 0) {
        // The gradient is linear in the strain that is missing.
        const double* e = b->examples[(column - 1) * b->num_tets + t];
        double own[6];
        strain_green(f, own);
        for (int i = 0; i < 6; ++i) moved[i] = own[i] + e[i];
        target = moved;
      }
      strain_add_gradient(&b->tets[t], unit, f, target, b->trial);
    }
    for (size_t i = 0; i < n; ++i) b->trial[i] = -b->trial[i];
    example_solve(b, b->trial, b->solutions + (size_t)column * n);
  }
}

// Weights whose pose, to first order, has strains nearest to those of x. Returns the largest change
// of a weight or, where that is more, of a strain by settling.
static double move_weights(example_fem* b, const double* x, double* moves) {
  int32_t count = b->def.num_examples;
  size_t n = 3 * (size_t)b->num_vertices;
  double gram[EXAMPLE_FEM_MAX_EXAMPLES * EXAMPLE_FEM_MAX_EXAMPLES] = {0};
  double right[EXAMPLE_FEM_MAX_EXAMPLES] = {0}, w[EXAMPLE_FEM_MAX_EXAMPLES];
  double largest = 0.0, settling = 0.0;
  for (int32_t t = 0; t < b->num_tets; ++t) {
    double e[6], now[6], settle[6], volume = b->tets[t].volume;
    double along[EXAMPLE_FEM_MAX_EXAMPLES][6];
    strain_of(b, x, t, e);
    strain_of(b, b->pose, t, now);
    strain_along(b, b->solutions, t, settle);
    settling = fmax(settling, sqrt(product(settle, settle)));
    for (int32_t k = 0; k < count; ++k) {
      strain_along(b, b->solutions + (size_t)(k + 1) * n, t, along[k]);
      for (int i = 0; i < 6; ++i) now[i] -= b->weights[k] * along[k][i];
    }
    for (int i = 0; i < 6; ++i) e[i] -= now[i] + settle[i];
    for (int32_t k = 0; k < count; ++k) {
      right[k] += volume * product(along[k], e);
      for (int32_t j = 0; j < count; ++j)
        gram[k * count + j] += volume * product(along[k], along[j]);
    }
  }
  yw_project_exact(count, gram, right, NULL, w);
  for (int32_t k = 0; k < count; ++k) largest = fmax(largest, fabs(w[k] - b->weights[k]));
  double scale = largest > MAX_CHANGE ? MAX_CHANGE / largest : 1.0;
  for (int32_t k = 0; k < count; ++k) moves[k] = scale * (w[k] - b->weights[k]);
  return fmax(largest * scale, settling);
}

static double project_pose(example_fem* b, const double* x) {
  size_t n = 3 * (size_t)b->num_vertices;
  double moves[EXAMPLE_FEM_MAX_EXAMPLES];
  for (int32_t t = 0; t < b->num_tets; ++t) blend(b, t, b->targets[t]);
  if (!factorise_pose(b)) return INFINITY;
  solve_pose(b);
  double change = move_weights(b, x, moves);
  for (int32_t k = -1; k < b->def.num_examples; ++k) {
    const double* d = b->solutions + (size_t)(k + 1) * n;
    double share = k < 0 ? 1.0 : moves[k];
    if (k >= 0) b->weights[k] += moves[k];
    for (size_t i = 0; i < n; ++i) b->pose[i] += share * d[i];
  }
  return change;
}

double example_project_once(example_fem* b, const double* x) {
  if (b->def.num_examples == 0) return 0.0;
  bool poses = b->def.kind == EXAMPLE_FEM_MARTIN;
  double change = poses ? project_pose(b, x) : project_strains(b, x);
  example_aim(b);
  return change;
}

bool example_fem_project(example_fem* b, int32_t max_iterations, double tolerance) {
  for (int32_t i = 0; i < max_iterations; ++i) {
    if (example_project_once(b, b->x) < tolerance) return true;
  }
  return false;
}
