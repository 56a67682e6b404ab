// SPDX-License-Identifier: MIT
// Families that bend as the material does, or coarse ones as the finest tets.
//
// Linear tets are too stiff in bending: a bar eight tets thick by 5 %, four tets thick by 16 %.
// Within a family, bending shows as strains E_c of the children that differ from their mean E_m,
// and that difference costs too much energy. With K a fraction of the family's elasticity matrix,
//   W = sum V_c / 2 (E_c C_c E_c - (E_c - E_m) K (E_c - E_m))
// leaves uniform strains unchanged and has its minimum where ever finer levels have theirs.
// In terms of edges: M_c = V_c N_c^T (C_c - K) N_c, and for all edges of the family V R^T N^T K N R
// q, with N of an A tet of the children's level. R q are the edges that such a tet would have under
// the mean strain, E_m = N R q. The edges of the five shapes are related in the same way for any
// root (the apex of a T tet is the mirror image of an A tet's corner), so R consists of the numbers
// 1, 2 and -1 and of the children's fractions of the volume.
#ifndef YW_METHODS_FEM_SOFTEN_H
#define YW_METHODS_FEM_SOFTEN_H

#include "methods/fem/hierarchy.h"
#include "methods/fem/materials.h"
#include "yawara/fem.h"

struct fem_kind;

/// K and softened M of all families; YW_FEM_SOFTEN_FINEST: of those whose children can be split.
typedef struct fem_softening {
  yw_fem_soften kind;             ///< never YW_FEM_SOFTEN_NONE
  bool uniform;                   ///< one K; M per root and type, to be multiplied by 2^level
  float (*part)[FEM_MATRIX];      ///< K per parent, Pa; NULL if the hierarchy has no such family
  float (*matrices)[FEM_MATRIX];  ///< per tet from level 1 on, or per root and type
  float (*mean)[FEM_MATRIX];      ///< V N^T K N of the root itself per parent, or per root
  int32_t num_families, first;    ///< such families, the first parents; first tet of level 1
} fem_softening;

bool yw_fem_softening_create(const yw_allocator* mem, const fem_hierarchy* h,
                             const fem_materials* materials, yw_fem_soften soften,
                             fem_softening* out);
void yw_fem_softening_free(const yw_allocator* mem, fem_softening* softening);

/// The fractions of C by which a mesh is softened, beyond a 1 + b v v^T / v v with v = L^T (1 1 1 0
/// 0 0), relative to C = L L^T: those with which the mesh bends as the material does (soft_fit.c).
/// False if out of memory.
bool yw_fem_fit_softening(const yw_allocator* mem, const fem_hierarchy* h,
                          const float c[FEM_MATRIX], double all, double volume, double change[36]);

/// K of a family.
static inline const float* yw_fem_soft_part(const fem_softening* s, int32_t parent) {
  return s->part[s->uniform ? 0 : parent];
}

/// Softened M of a child, to be multiplied by scale.
static inline const float* yw_fem_soft_matrix(const fem_softening* s, const fem_hierarchy* h,
                                              int32_t tet, float* scale) {
  *scale = s->uniform ? (float)(1 << h->level[tet]) : 1.0f;
  return s->matrices[s->uniform ? h->root[tet] * FEM_TYPES + h->type[tet] : tet - s->first];
}

/// Volume of the children that are present (bits), relative to an A tet of their level.
float yw_fem_soft_volume(const struct fem_kind* kind, int32_t present);

/// Volume fractions of the children that are present (bits), and V N^T K N of all of them; written
/// with this stride.
void yw_fem_soft_mean(const fem_softening* s, const fem_hierarchy* h, const struct fem_kind* kind,
                      int32_t parent, int32_t present, size_t stride, float* shares, float* matrix);

#endif
