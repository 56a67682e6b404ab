// SPDX-License-Identifier: MIT
// Semi-implicit steps: forces of the end of the step, to first order.
#ifndef YW_STUDIES_REFERENCE_MPM_SOLVER_H
#define YW_STUDIES_REFERENCE_MPM_SOLVER_H

#include "reference/mpm/mpm.h"

mpm_solver* mpm_solver_create(int32_t count);
void mpm_solver_destroy(mpm_solver* s);
double mpm_solver_bytes(const mpm_solver* s);
/// Replaces the velocities v* of the nodes by those of (M + dt^2 H) v = M v*, with the normal
/// velocity of nodes that touch obstacles held. False: out of memory.
bool mpm_solve(mpm* m, float dt);

#endif
