// SPDX-License-Identifier: MIT
// Small deformations of linear tets, solved directly: assembles the stiffness matrix of a body,
// factorises it once, and solves any number of load cases. For preparation and comparison only; the
// simulation itself never uses it.
#ifndef YW_METHODS_FEM_STIFFNESS_H
#define YW_METHODS_FEM_STIFFNESS_H

#include "math/sparse/cholesky.h"
#include "methods/fem/voigt.h"

/// Linear tets with an elasticity matrix each. Nothing is owned.
typedef struct yw_fem_solid {
  int32_t num_nodes, num_tets;
  const yw_dvec3* positions;  ///< m
  const int32_t* tets;        ///< 4 nodes each, of either orientation
  const yw_sym6* elasticity;  ///< Pa, one per tet, positive definite
} yw_fem_solid;

typedef struct yw_fem_statics {
  yw_allocator mem;
  int32_t num_nodes;
  bool* fixed;  ///< 3 per node: displacement held at zero
  yw_cholesky* factor;
} yw_fem_statics;

/// Assembles and factorises. fixed has 3 flags per node; NULL holds the six rigid motions of the
/// body at three nodes, which makes no difference to loads in equilibrium. Every node must belong
/// to a tet, and tets must be connected through faces; otherwise the body has more than six rigid
/// motions: YW_ERR_DIVERGED. tasks may be NULL. On failure out is zeroed.
yw_status yw_fem_statics_create(const yw_allocator* mem, yw_tasks* tasks, yw_simd simd,
                                const yw_fem_solid* solid, const bool* fixed, yw_fem_statics* out,
                                yw_error* error);
void yw_fem_statics_free(yw_fem_statics* statics);
/// Displacements under nodal loads for 1, 2, 3, 4 or 6 cases at once: component k of node i in case
/// c is [(3 i + k) * cases + c]. loads is modified (zero where fixed); both arrays may be the same.
yw_status yw_fem_statics_solve(const yw_fem_statics* statics, yw_tasks* tasks, int32_t cases,
                               double* loads, double* displacements, yw_error* error);

/// Nodal loads of constant stresses, column c of `stress`: those of surface tractions stress . n.
/// Written for 6 cases as above.
void yw_fem_uniform_stress(const yw_fem_solid* solid, const yw_mat6* stress, double* loads);

/// Displacement gradients of one tet in six cases, H[9 * c + 3 i + j].
void yw_fem_tet_gradients_of(const yw_fem_solid* solid, const double* displacements, int32_t tet,
                             double h[54]);

/// Element matrix, 12x12 by rows: |V| B^T C B.
void yw_fem_element_matrix(const yw_dvec3 x[4], const yw_sym6* c, double out[144]);

#endif
