// SPDX-License-Identifier: MIT
// Places for nodes after a split: where forces are as they were.
//
// At the mean of their parents the new nodes of a bent body are pulled: finer tets could show how
// it bends, and do not yet. Softened families (soften.h) already have the energy of finer tets that
// do, and their nodes are in balance with that; splitting them would raise the energy and pull at
// old nodes too. A few steps of the Chebyshev iteration for m^-1 (f - f0) = 0, with f0 the force
// before (0 for new nodes), let the families that were split give way, instead of leaving it to
// vibrations. What acts from outside and inertia balance f0 and go on doing so.
#ifndef YW_METHODS_FEM_RELAX_H
#define YW_METHODS_FEM_RELAX_H

#include "methods/fem/forces.h"

/// Lists of one relaxation; made once per body.
typedef struct fem_relax {
  uint8_t* old_state;                     ///< per node: state before the front changed
  uint8_t* moves;                         ///< per node: it is relaxed, or hangs on one that is
  int32_t *nodes, num_nodes;              ///< that are relaxed
  int32_t *around, num_around;            ///< these and what hangs on them, ascending
  yw_vec4* pull;                          ///< per node: the force on it before
  yw_vec4* start;                         ///< per place in nodes: where it began
  yw_vec4* way;                           ///< per place in nodes: its last step
  int32_t *kinds, *batches, num_batches;  ///< that have a node that moves
} fem_relax;

bool yw_fem_relax_create(const yw_allocator* mem, const fem_work* work, fem_relax* out);
void yw_fem_relax_free(const yw_allocator* mem, fem_relax* relax);

/// Remembers which nodes are free and the elastic forces on them, before the front changes.
void yw_fem_relax_begin(fem_relax* relax, const fem_front* front, const yw_vec4* force);

typedef struct fem_relax_def {
  const fem_forces_def* forces;  ///< of the new front, without damping, looking for squeezed tets
  const float* inv_mass;         ///< 1/kg per node; 0: it stays
  float step;                    ///< s, stable step of the finest tets in use, as they are now
  yw_vec4* pos;                  ///< in, out: that of the forces
} fem_relax_def;

/// Moves nodes that have become free since yw_fem_relax_begin, and the others of their families, to
/// where elastic forces are nearly as they were. Returns false, and moves nothing, where there is
/// nothing to move or it does not bring forces nearer to that.
bool yw_fem_relax(fem_relax* relax, const fem_relax_def* def);

#endif
