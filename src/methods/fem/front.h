// SPDX-License-Identifier: MIT
// The front: which tets of a hierarchy are split, and the resulting state of each node.
#ifndef YW_METHODS_FEM_FRONT_H
#define YW_METHODS_FEM_FRONT_H

#include "methods/fem/hierarchy.h"

/// A node that is in no tet of the front, one that hangs on an edge or face of a coarser tet, and
/// one that moves freely.
enum { FEM_INACTIVE = 0, FEM_HANGING, FEM_FREE };

typedef struct fem_front {
  yw_allocator mem;
  const fem_hierarchy* h;
  uint8_t* split;   ///< per parent tet
  int32_t* nsplit;  ///< per node: number of split tets around its edge (or of its centre)
  uint8_t* state;   ///< per node
  int32_t* active;  ///< nodes that are free or hanging, ascending
  int32_t num_active;
  int32_t* hanging;  ///< ascending
  int32_t num_hanging;
  int32_t* families;  ///< split tets, level by level
  int32_t num_families;
  int32_t num_tets;  ///< of the front
  int32_t finest;    ///< level of its finest tets
  /// Nodes made by cracks, numbered from h->num_nodes on; they are always free (cracks.h).
  int32_t num_copies;
} fem_front;

/// Starts with the roots alone, lists included.
bool yw_fem_front_create(const yw_allocator* mem, const fem_hierarchy* h, fem_front* out);
void yw_fem_front_free(fem_front* front);

/// Change one tet; yw_fem_front_update then updates lists and states. Only tets of the front can be
/// split; only families entirely in the front can be merged.
void yw_fem_front_split(fem_front* front, int32_t tet);
void yw_fem_front_merge(fem_front* front, int32_t tet);
void yw_fem_front_update(fem_front* front);
/// Merges everything.
void yw_fem_front_reset(fem_front* front);

static inline bool yw_fem_is_split(const fem_front* f, int32_t tet) {
  return tet < f->h->num_parents && f->split[tet];
}
static inline bool yw_fem_in_front(const fem_front* f, int32_t tet) {
  int32_t parent = f->h->parent[tet];
  return (parent < 0 || f->split[parent]) && !yw_fem_is_split(f, tet);
}
/// True if all children of a split tet are in the front.
bool yw_fem_can_merge(const fem_front* front, int32_t tet);

#endif
