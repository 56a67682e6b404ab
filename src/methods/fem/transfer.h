// SPDX-License-Identifier: MIT
// Transfer between free nodes and those that follow them: masses and forces fine to coarse,
// positions and velocities coarse to fine, and everything when the front changes.
#ifndef YW_METHODS_FEM_TRANSFER_H
#define YW_METHODS_FEM_TRANSFER_H

#include "methods/fem/front.h"
#include "methods/fem/real.h"

/// mass[n] of free nodes becomes their share of all fine masses; 0 for the others. A node that is
/// not free passes its mass to its parents, so any front has the total mass, and the moments
/// against linear functions, of the finest one, for any density.
void yw_fem_carry_masses(const fem_front* front, const double* fine_mass, double* mass);

/// Forces on hanging nodes go to their parents, half each, fine to coarse.
void yw_fem_carry_forces(const fem_front* front, fem_vec4* force);

/// Hanging nodes take the mean of their parents' positions and velocities, coarse to fine.
void yw_fem_follow(const fem_front* front, fem_vec4* pos, fem_vec4* vel);
/// One vector per node, of all nodes that are not free: the mean of their parents', or passed on to
/// these.
void yw_fem_follow_one(const fem_front* front, fem_vec4* values);
void yw_fem_carry_one(const fem_front* front, fem_vec4* values);
/// Positions and velocities of all nodes that are not free.
void yw_fem_follow_all(const fem_front* front, fem_vec4* pos, fem_vec4* vel);

/// True if the vector of a hanging node is the mean of its parents', to the bit.
bool yw_fem_is_mean(const int32_t* parents, const fem_vec4* values, int32_t node);

/// Sums over the nodes of a front: mass, centre of mass, momentum, angular momentum about it.
typedef struct fem_motion {
  double mass, center[3], momentum[3], angular[3], inertia[3][3];
} fem_motion;

fem_motion yw_fem_motion_of(const fem_front* front, const double* mass, const fem_vec4* pos,
                            const fem_vec4* vel);
/// Puts the centre of mass back and restores the momenta by a rigid motion; hanging nodes follow.
void yw_fem_restore_motion(const fem_front* front, const fem_motion* before, const double* mass,
                           fem_vec4* pos, fem_vec4* vel);

/// One change of the front.
typedef struct fem_switch {
  const int32_t* merge;  ///< tets whose children leave the front
  int32_t num_merge;
  const int32_t* split;  ///< tets of the front that are split
  int32_t num_split;
  /// Held from outside: keep the sum of momenta only, else also the centre of mass and the angular
  /// momentum.
  bool held;
  const float* inv_mass;  ///< 0: the node is held and its velocity stays; NULL: none is
} fem_switch;

/// Changes the front in this order: merge, momentum that merged nodes carried beyond their parents'
/// motion, split (new nodes at the mean of their parents), masses, momentum given back as velocity,
/// hanging nodes follow. work has room for 4 doubles per node. mass is of the front, old and new.
void yw_fem_switch(fem_front* front, const fem_switch* change, const double* fine_mass,
                   double* mass, fem_vec4* pos, fem_vec4* vel, double* work);

#endif
