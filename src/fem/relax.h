// SPDX-License-Identifier: MIT
// Places for new nodes: where the tets around them pull them.
//
// At the mean of their parents the new nodes of a bent body are pulled: finer tets could show how
// it bends, and do not yet. Softened families (soften.h) already have the energy of finer tets that
// do, so that splitting them would raise it. A few steps of the Chebyshev iteration for f_n / m_n =
// 0, all other nodes staying, take that energy out, instead of leaving it to vibrations.
#ifndef YW_FEM_RELAX_H
#define YW_FEM_RELAX_H

#include "fem/kernels.h"

/// Lists of one relaxation; made once per body.
typedef struct fem_relax {
  uint8_t* old_state;           ///< per node: state before the front changed
  uint8_t* moves;               ///< per node: it is relaxed, or hangs on one that is
  int32_t *nodes, num_nodes;    ///< that are relaxed
  int32_t *around, num_around;  ///< places in front->active of these and of what hangs on them
  yw_vec4* start;               ///< per place in nodes: where it began
  yw_vec4* way;                 ///< per place in nodes: its last step
  int32_t *kinds, *batches, num_batches;  ///< that have a node that moves
} fem_relax;

bool yw_fem_relax_create(const yw_allocator* mem, const fem_work* work, fem_relax* out);
void yw_fem_relax_free(const yw_allocator* mem, fem_relax* relax);

/// Remembers which nodes are free, before the front changes.
void yw_fem_relax_begin(fem_relax* relax, const fem_front* front);

typedef struct fem_relax_def {
  const fem_work* work;  ///< lists of the new front
  const fem_front* front;
  const fem_kernels* kernels;
  const float* inv_mass;  ///< 1/kg per node; 0: it stays
  float step;             ///< s, stable step of the finest tets in use, as they are stretched
  bool plastic;           ///< batches have offsets of tensions
  yw_vec4* slots;         ///< scratch, per slot
  uint16_t* squeezed;     ///< scratch, FEM_FAMILY_CHILDREN per batch of any kind
  yw_vec4* force;         ///< scratch, per node
  yw_vec4* pos;           ///< in, out
} fem_relax_def;

/// Moves nodes that have become free since yw_fem_relax_begin, and the other nodes between the
/// corners of their families, to where elastic forces on them nearly vanish. Returns false, and
/// moves nothing, where there is nothing to move or a tet around is squeezed.
bool yw_fem_relax(fem_relax* relax, const fem_relax_def* def);

#endif
