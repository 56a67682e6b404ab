// SPDX-License-Identifier: MIT
// Example-based elastic materials on linear tets: what shape matching with examples was measured
// against. Implicit Euler by minimisation (Newton's method, sparse Cholesky factors).
//   Martin, Thomaszewski, Grinspun, Gross 2011: the preferred shapes are *poses*, X(w) = argmin_X
//   |E(X) - sum w_k E_k|, E being Green strains; the body is attracted by the nearest of them.
//   Schumacher, Thomaszewski, Coros, Martin, Sumner, Gross 2012: the blend sum w_k E_k itself is
//   the target, whether or not a pose has such strains, so that only weights are to be found.
// The energy of a tet of volume V, Young's modulus Y and Poisson's ratio 0 is
//   V Y / 2 ((1 - beta) |E|^2 + beta |E - T|^2) + V volume_modulus / 2 (det F - 1)^2
// with T the strain of the nearest preferred shape. Stresses are then those of a rest shape with
// strain beta T, as in shape matching, where beta blends the target with the rest pose.
#ifndef YW_STUDIES_REFERENCE_EXAMPLES_EXAMPLE_FEM_H
#define YW_STUDIES_REFERENCE_EXAMPLES_EXAMPLE_FEM_H

#include "base/simd.h"
#include "yawara/mesh.h"

typedef enum example_fem_kind {
  EXAMPLE_FEM_MARTIN,     ///< the target is a pose
  EXAMPLE_FEM_SCHUMACHER  ///< the target is a blend of strains
} example_fem_kind;

#define EXAMPLE_FEM_MAX_EXAMPLES 8

/// Pointers are read during the call only.
typedef struct example_fem_def {
  const yw_tet_mesh* mesh;
  int32_t num_examples;            ///< 0 to EXAMPLE_FEM_MAX_EXAMPLES
  const yw_vec3* const* examples;  ///< num_examples poses
  example_fem_kind kind;
  bool per_tet;           ///< Schumacher: weights per tet, not for the whole body
  double density;         ///< kg/m^3
  double youngs_modulus;  ///< Pa
  double volume_modulus;  ///< Pa; what stops tets from turning inside out
  double beta;            ///< 0 to 1
  double damping;         ///< decay rate of non-rigid motion, 1/s
  /// Newton's method ends when the residual has fallen by this factor.
  double tolerance;
  int32_t max_newton;
  /// Project once per step, from where the body is at its start, instead of in every iteration.
  bool project_once;
  yw_simd simd;  ///< of the factorisation
} example_fem_def;
/// Density 1000, Young's modulus 1e5, volume modulus 0.3 of that, beta 0.95, tolerance 1e-3.
example_fem_def example_fem_default_def(void);

typedef struct example_fem example_fem;

yw_status example_fem_create(const example_fem_def* def, example_fem** out, yw_error* error);
void example_fem_destroy(example_fem* body);

/// 3 numbers per vertex, in the order of the mesh; may be written.
double* example_fem_positions(example_fem* body);
double* example_fem_velocities(example_fem* body);
/// num_examples weights of a tet (any tet, where weights are those of the body).
const double* example_fem_weights(const example_fem* body, int32_t tet);
/// Martin: the preferred pose nearest to the body, 3 numbers per vertex.
const double* example_fem_pose(const example_fem* body);

typedef struct example_fem_step_def {
  double h;
  double gravity;  ///< along -y, m/s^2
  double floor;    ///< pushes up what is below this height, without friction; -INFINITY: none
} example_fem_step_def;
/// Warns with YW_WARN_NUMERICS where Newton's method ended early.
yw_status example_fem_step(example_fem* body, const example_fem_step_def* def, yw_error* error);

/// Counts since the body was made.
typedef struct example_fem_statistics {
  int64_t steps, newton, factorisations;
  double factor_seconds;  ///< in factorisations and solves, CPU time of this thread
} example_fem_statistics;
example_fem_statistics example_fem_get_statistics(const example_fem* body);

/// Finds weights (and pose) for the current positions, to convergence; false if it did not.
bool example_fem_project(example_fem* body, int32_t max_iterations, double tolerance);
/// Elastic energy for the current positions, weights and pose; and its negative gradient, 3 numbers
/// per vertex (may be NULL).
double example_fem_energy(const example_fem* body, double* forces);
/// out = K d, K the derivative of the negative forces with targets held fixed.
void example_fem_stiffness_times(example_fem* body, const double* d, double* out);

#endif
