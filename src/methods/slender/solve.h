// SPDX-License-Identifier: MIT
// Newton's method for rods and sheets: what pulls at the particles, the solver, statics.
#ifndef YW_METHODS_SLENDER_SOLVE_H
#define YW_METHODS_SLENDER_SOLVE_H

#include "math/sparse/cholesky.h"
#include "methods/slender/model.h"
#include "yawara/extend/tasks.h"

/// What pulls particles to places and orientations, besides the elements: inertia and springs.
typedef struct slender_anchor {
  double weight;    ///< N/m
  double place[3];  ///< m
  double turning;   ///< 1/s^2, times the inertia at `turn`
  yw_turn turn;
  bool held, clamped;  ///< place, orientation stay as they are
  double normal;       ///< N/m, > 0: held along `across` only, at the place `at`
  double across[3], at[3];
  double drag;  ///< N/m, in the plane across, towards `stick`
  double stick[3];
} slender_anchor;

/// Minimises  sum weight/2 |x - place|^2 + turning 2 v^T J v + energies - forces . x  by Newton's
/// method with a sparse Cholesky factor.
typedef struct slender_solver {
  const slender_model* model;
  yw_allocator mem;
  slender_pose pose, trial;
  slender_anchor* anchors;
  const double* loads;  ///< 6 per particle, forces and torques; NULL: none
  bool has_torques;     ///< some torques are not 0
  double* gradient;     ///< 6 per particle
  double* step;         ///< 6 per particle
  double* element_gradient;
  double* element_hessian;
  double* energies;
  int32_t* diagonal;  ///< places of the 6x6 blocks on the diagonal: first of each row
  yw_assembly assembly;
  yw_sparse matrix;
  yw_cholesky* factor;
  bool keep_factor;  ///< that of the last solve is near enough to begin with
  double* scratch;
  double stiffness;  ///< J, sum over the elements: the scale of rounding
} slender_solver;

yw_status yw_slender_solver_create(const yw_allocator* mem, const slender_model* model,
                                   slender_solver* out, yw_error* error);
void yw_slender_solver_free(slender_solver* solver);

typedef struct slender_solve_report {
  int32_t newton;
  bool converged;   ///< the residual fell by the tolerance, or is rounding
  double residual;  ///< over that of the start
} slender_solve_report;
/// From solver->pose. False in converged is still the lowest point found; never NaN.
slender_solve_report yw_slender_solve(slender_solver* solver, yw_tasks* tasks, double tolerance,
                                      int32_t max_newton);

/// Forces that the holds exert on particles at the pose, 3 per particle, into solver->step.
void yw_slender_reactions(slender_solver* solver, yw_tasks* tasks);

/// Derivative of the turning term of an anchor by the rotation: the torque that inertia asks for.
void yw_slender_inertia_torque(const slender_model* model, int32_t p, const slender_anchor* anchor,
                               yw_turn q, double out[3]);

/// Equilibrium under loads (6 numbers per particle; may be NULL) with held and clamped particles,
/// from the pose in x and q; for `yawara fit` and tests.
yw_status yw_slender_static(const slender_model* model, const bool* held, const bool* clamped,
                            const double* loads, double tolerance, slender_pose* pose,
                            yw_error* error);

#endif
