// SPDX-License-Identifier: MIT
// Positions for nodes after a split, such that forces stay as they were.
//
// At the mean of their parents, the new nodes of a bent body are pulled: finer tets could represent
// the bending, but do not yet. Softened families (soften.h) already have the energy of finer tets
// that do, and their nodes are in balance with it; splitting them would raise the energy and pull
// old nodes too. A few Chebyshev iterations for m^-1 (f - f0) = 0 relax the split families so that
// this does not turn into vibrations. f0 gives every old node the acceleration that the elastic
// forces gave it before the split, and a new one that of its parents: inertia, weight and pressure,
// which balance f0, are spread over more nodes too. (With the old forces on old nodes alone, plates
// that split while they hit each other gained a fifth of their energy.)
#ifndef YW_METHODS_FEM_RELAX_H
#define YW_METHODS_FEM_RELAX_H

#include "methods/fem/forces.h"

/// Buffers of one relaxation; created once per body.
typedef struct fem_relax {
  uint8_t* old_state;                     ///< per node: state before the front changed
  uint8_t* moves;                         ///< per node: relaxed, or hangs on a relaxed node
  int32_t *nodes, num_nodes;              ///< relaxed nodes
  int32_t *around, num_around;            ///< these and all that hang on them, ascending
  yw_vec4* pull;                          ///< per node: acceleration before the split, then force
  yw_vec4* start;                         ///< per entry of nodes: initial position
  yw_vec4* way;                           ///< per entry of nodes: last step
  int32_t *kinds, *batches, num_batches;  ///< batches with a node that moves
} fem_relax;

bool yw_fem_relax_create(const yw_allocator* mem, const fem_work* work, fem_relax* out);
void yw_fem_relax_free(const yw_allocator* mem, fem_relax* relax);

/// Stores which nodes are free and the elastic forces on them, before the front changes. inv_mass:
/// 1/kg per node; 0: fixed.
void yw_fem_relax_begin(fem_relax* relax, const fem_front* front, const float* inv_mass,
                        const yw_vec4* force);

typedef struct fem_relax_def {
  const fem_forces_def* forces;  ///< of the new front, without damping, checking for squeezed tets
  const float* inv_mass;         ///< 1/kg per node; 0: fixed
  float step;                    ///< s, current stable step of the finest tets in use
  yw_vec4* pos;                  ///< in, out: the positions that the forces use
} fem_relax_def;

/// Moves nodes that have become free since yw_fem_relax_begin, and the other nodes of their
/// families, to positions where elastic forces are nearly as before. Returns false, and moves
/// nothing, if there is nothing to move or forces would not get closer to that.
bool yw_fem_relax(fem_relax* relax, const fem_relax_def* def);

#endif
