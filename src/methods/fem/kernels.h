// SPDX-License-Identifier: MIT
// Kernels over batches of 16 families, compiled per instruction set (fem_kernels.c).
#ifndef YW_METHODS_FEM_KERNELS_H
#define YW_METHODS_FEM_KERNELS_H

#include "methods/fem/batches.h"
#include "yawara/extend/vec.h"

/// Arguments of the forces of one batch.
typedef struct fem_force_args {
  const fem_kind* kind;
  const fem_batches* batches;
  // Per root, for batches of families that share them.
  const float (*root_matrices)[FEM_TYPES][FEM_MATRIX];
  const float (*root_means)[FEM_MATRIX];  ///< of softened ones
  const float (*root_squares)[FEM_TYPES][FEM_MAX_EDGES];
  int type;  ///< of the parents of such a batch
  const yw_vec4* pos;
  const yw_vec4* vel;  ///< NULL: no damping
  bool plastic;        ///< subtract the tension offsets of the batches
  float lag;           ///< s: stress responds to strain plus this times its rate
  yw_vec4* slots;      ///< forces per slot
  /// Out, per batch and child: lanes whose tets are below FEM_LEAST_VOLUME of their volume. NULL:
  /// not checked in this call.
  uint16_t* squeezed;
} fem_force_args;

/// Arguments for the strains of one batch.
typedef struct fem_strain_args {
  const fem_hierarchy* h;
  const fem_tables* tables;
  int32_t k;  ///< kind
  const fem_batches* batches;
  const yw_vec4* pos;
  float* strains;       ///< out: per batch (children + 1) x 6 x 16, the last for the parent
  yw_vec4 (*slots)[2];  ///< out: sums of volume times strain, and volume in [1].w
} fem_strain_args;

#define FEM_JUMP_ROWS 3

/// Arguments for strain jumps: how far strains differ from those of their nodes.
typedef struct fem_jump_args {
  const fem_kind* kind;
  const fem_batches* batches;
  const float* strains;
  const yw_vec4 (*node_strains)[2];  ///< per node
  /// Out: per batch (children + FEM_JUMP_ROWS) x 16: jumps of the children, then of the parent at
  /// its corners, the largest between a child and the parent, and the largest tensile strain of a
  /// child.
  float* jumps;
} fem_jump_args;

typedef struct fem_kernels {
  /// Returns true if a tet is squeezed.
  bool (*forces)(const fem_force_args* args, int32_t batch);
  void (*strains)(const fem_strain_args* args, int32_t batch);
  void (*jumps)(const fem_jump_args* args, int32_t batch);
} fem_kernels;

extern const fem_kernels yw_fem_kernels_plain;
#ifdef YW_HAVE_X86_KERNELS
extern const fem_kernels yw_fem_kernels_avx2;
extern const fem_kernels yw_fem_kernels_avx512;
#endif

#endif
