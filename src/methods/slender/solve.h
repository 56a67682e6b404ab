// SPDX-License-Identifier: MIT
// Newton's method for rods and sheets: anchors of the particles, the solver, statics.
#ifndef YW_METHODS_SLENDER_SOLVE_H
#define YW_METHODS_SLENDER_SOLVE_H

#include "math/sparse/cholesky.h"
#include "methods/slender/model.h"
#include "yawara/extend/tasks.h"

/// Pulls a particle to a position and an orientation, besides the elements: inertia, springs.
typedef struct slender_anchor {
  double weight;    ///< N/m
  double place[3];  ///< m
  double turning;   ///< 1/s^2, multiplied by the inertia at `turn`
  yw_turn turn;
  bool held, clamped;  ///< position, orientation are fixed
  double normal;       ///< N/m; > 0: held only along `across`, to the plane through `at`
  double across[3], at[3];
  double drag;  ///< N/m, within that plane, towards `stick`
  double stick[3];
} slender_anchor;

/// Minimises  sum weight/2 |x - place|^2 + turning 2 v^T J v + energies - forces . x  by Newton's
/// method with a sparse Cholesky factor.
typedef struct slender_solver {
  const slender_model* model;
  yw_allocator mem;
  slender_bent bent;  ///< owned; of models with examples
  slender_pose pose, trial;
  slender_anchor* anchors;
  const double* loads;  ///< 6 per particle, forces and torques; NULL: none
  bool has_torques;     ///< some torque is not 0
  double* gradient;     ///< 6 per particle
  double* step;         ///< 6 per particle
  double* element_gradient;
  double* element_hessian;
  double* energies;
  int32_t* diagonal;  ///< index of the 6x6 diagonal block in each row: its first entry
  yw_assembly assembly;
  yw_sparse matrix;
  yw_cholesky* factor;
  bool keep_factor;    ///< the last factor is close enough to start with
  double least_start;  ///< J, the residual is relative to this decrement, or more
  bool has_no_factor;  ///< the last solve needed none: what the factor holds is older
  double* scratch;
  double stiffness;  ///< J, sum over the elements: the scale of rounding errors
} slender_solver;

yw_status yw_slender_solver_create(const yw_allocator* mem, const slender_model* model,
                                   slender_solver* out, yw_error* error);
void yw_slender_solver_free(slender_solver* solver);

typedef struct slender_solve_report {
  int32_t newton;
  bool converged;   ///< the residual fell by the tolerance, or to the level of rounding
  double residual;  ///< relative to the initial one
  double start;     ///< J, decrement at first: the square of the residual
} slender_solve_report;
/// Starts from solver->pose. Without convergence, the pose is the lowest point found; never NaN.
slender_solve_report yw_slender_solve(slender_solver* solver, yw_tasks* tasks, double tolerance,
                                      int32_t max_newton);

/// Factorises the second derivative at solver->pose with the anchors. False when that fails.
bool yw_slender_factorise(slender_solver* solver, yw_tasks* tasks);
/// step = H^-1 step with the last factor. False without one.
bool yw_slender_backsolve(slender_solver* solver);

/// Forces exerted by the holds at the current pose, 3 per particle, into solver->step.
void yw_slender_reactions(slender_solver* solver, yw_tasks* tasks);

/// Derivative of an anchor's turning term with respect to the rotation: the inertial torque.
void yw_slender_inertia_torque(const slender_model* model, int32_t p, const slender_anchor* anchor,
                               yw_turn q, double out[3]);

/// Equilibrium under loads (6 numbers per particle; may be NULL) with held and clamped particles,
/// starting from pose; for `yawara fit` and tests.
yw_status yw_slender_static(const slender_model* model, const bool* held, const bool* clamped,
                            const double* loads, double tolerance, slender_pose* pose,
                            yw_error* error);

#endif
