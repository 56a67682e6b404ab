// SPDX-License-Identifier: MIT
// The coarse part of the preconditioner: smooth motions on a background lattice.
//
// A Jacobi preconditioner handles interactions of neighbours, but smooth motions of a stiff body
// take as many iterations as it has particles across. They are solved on a lattice about three
// particles wide along every axis, with trilinear weights phi in the rest pose:
//   z = J^-1 r + phi^T (sum_p D_p phi phi^T + K_p grad phi . grad phi)^-1 phi r
// The matrix is scalar, the same for all three components, and small enough to be factorised
// whenever D changes.
#ifndef YW_METHODS_FRAMES_COARSE_H
#define YW_METHODS_FRAMES_COARSE_H

#include "math/sparse/cholesky.h"
#include "yawara/extend/tasks.h"
#include "yawara/extend/vec.h"

/// Lattice nodes around one particle.
typedef struct frames_corners {
  _Alignas(64) int32_t node[8];
  float weight[8];
} frames_corners;

typedef struct frames_share {
  int32_t particle;
  float weight;
} frames_share;

typedef struct frames_coarse {
  yw_allocator mem;
  int32_t num_nodes, num_particles;  ///< num_nodes 0: the body is too small for a lattice
  frames_corners* corners;           ///< per particle
  int32_t* share_start;              ///< num_nodes + 1
  frames_share* shares;              ///< particles of each node, ascending
  yw_sparse stiffness;               ///< sum of K_p grad phi . grad phi
  yw_vec3* points;                   ///< positions of the nodes
  float* firmness;                   ///< lattice stiffness at each particle, N/m, approximate
} frames_coarse;

/// stiffness: modulus times volume per particle, J. extent: mean reach of the regions along each
/// axis, in any unit; the lattice is stretched in the same proportions.
yw_status yw_frames_coarse_create(const yw_allocator* mem, int32_t count, const yw_vec3* rest,
                                  const double* stiffness, double volume, const double extent[3],
                                  frames_coarse* out, yw_error* error);
void yw_frames_coarse_free(frames_coarse* coarse);

/// What a body keeps: the factor for its time step and pins.
typedef struct frames_coarse_solver {
  const frames_coarse* coarse;
  double* values;   ///< of the matrix
  float* diagonal;  ///< D that the factor was computed for
  float *sums, *solution, *scratch;
  yw_cholesky* factor;
  bool ready;
} frames_coarse_solver;

yw_status yw_frames_coarse_solver_create(const yw_allocator* mem, const frames_coarse* coarse,
                                         yw_simd simd, frames_coarse_solver* out, yw_error* error);
void yw_frames_coarse_solver_free(const yw_allocator* mem, frames_coarse_solver* solver);
/// Factorises if D (per particle, N/m) has changed. When memory runs out or the factorisation
/// fails, the preconditioner is the diagonal alone.
void yw_frames_coarse_prepare(frames_coarse_solver* solver, const float* diagonal, yw_tasks* tasks);

/// sums = phi r of nodes begin .. end - 1.
void yw_frames_coarse_restrict(const frames_coarse_solver* solver, const yw_vec4* r, int32_t begin,
                               int32_t end);
/// solution = matrix^-1 sums.
void yw_frames_coarse_solve(const frames_coarse_solver* solver);
/// phi^T solution at particle p.
static inline yw_vec3 yw_frames_coarse_at(const frames_coarse_solver* solver, int32_t p) {
  const frames_corners* c = &solver->coarse->corners[p];
  yw_vec3 sum = {0, 0, 0};
  for (int k = 0; k < 8; ++k) {
    const float *x = solver->solution + 4 * c->node[k], w = c->weight[k];
    sum = yw_v3(sum.x + w * x[0], sum.y + w * x[1], sum.z + w * x[2]);
  }
  return sum;
}

#endif
