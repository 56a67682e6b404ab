// SPDX-License-Identifier: MIT
// Elastic and damping forces of a front on its nodes.
#ifndef YW_METHODS_FEM_FORCES_H
#define YW_METHODS_FEM_FORCES_H

#include "methods/fem/kernels.h"
#include "yawara/extend/tasks.h"

/// Buffers for the results of tets; created once per body.
typedef struct fem_scratch {
  yw_vec4* slots;         ///< per slot; two each for strains
  uint16_t* squeezed;     ///< per batch of all kinds x FEM_FAMILY_CHILDREN
  uint8_t* any_squeezed;  ///< per batch of all kinds
  int32_t first_batch[FEM_KINDS + 1];
} fem_scratch;

bool yw_fem_scratch_create(const yw_allocator* mem, const fem_work* work, fem_scratch* out);
void yw_fem_scratch_free(const yw_allocator* mem, fem_scratch* scratch);

typedef struct fem_forces_def {
  const fem_work* work;
  const fem_front* front;
  const fem_materials* materials;
  const fem_kernels* kernels;
  yw_tasks* tasks;
  const yw_vec4* pos;
  const yw_vec4* vel;  ///< NULL: no damping
  fem_scratch* scratch;
  /// Tets found squeezed at the last check stay on the list until the next. After a change of the
  /// front, a check is required.
  bool look_for_squeezed;
  bool plastic;    ///< batches have tension offsets
  bool only_tets;  ///< leaves sums at nodes to yw_fem_sum_nodes
  yw_vec4* force;  ///< out, per node; set for active nodes; hanging ones keep theirs
} fem_forces_def;

/// Returns the number of tets that were pushed out of strong compression or inversion.
int32_t yw_fem_forces(const fem_forces_def* def);

/// Forces of the active nodes from `begin` to `end`, which are up to FEM_NODE_BLOCK.
void yw_fem_sum_nodes(const fem_work* work, const fem_scratch* scratch, int32_t begin, int32_t end,
                      yw_vec4* force);

/// Its parts: numbering the batches of a front, then forces of one batch into its slots.
void yw_fem_number_batches(const fem_work* work, fem_scratch* scratch);
void yw_fem_batch_forces(const fem_forces_def* def, int32_t kind, int32_t batch);

/// Runs over all batches of all kinds in fixed blocks.
typedef void (*fem_batch_fn)(void* context, int32_t kind, int32_t batch);
void yw_fem_for_batches(const fem_work* work, yw_tasks* tasks, fem_batch_fn run, void* context);

#endif
