// SPDX-License-Identifier: MIT
// Large obstacles: only the leaves that are near other bodies are brought to where they are and
// fitted. Which these are depends on places alone, not on the boxes that they were found with.
#ifndef YW_CONTACT_SURFACES_NEARBY_H
#define YW_CONTACT_SURFACES_NEARBY_H

#include "contact/surfaces/touch.h"

typedef struct yw_nearby_leaf {
  yw_aabb own, path;  ///< in the obstacle's own axes, in the world
  float longest2;     ///< m^2, way of a corner
} yw_nearby_leaf;

/// Kept from step to step: memory, and boxes of where leaves can be for the time being.
typedef struct yw_nearby {
  uint64_t version, places;  ///< of the source, for which boxes were fitted and particles placed
  bool fitted;               ///< they were
  /// Particles of leaf i: corners from starts[2 i] on; from starts[2 i + 1] on those opposite to
  /// its edges, which tests of edges look at.
  int32_t *starts, *particles;
  yw_box_tree reach;            ///< of leaves, in the obstacle's own axes
  yw_aabb* own_boxes;           ///< per particle: the same for this substep
  yw_nearby_leaf* boxes;        ///< per leaf that is placed
  uint8_t* placed;              ///< per particle: it is where it should be
  uint8_t* placed_leaves;       ///< likewise, with what is around
  int32_t *leaves, num_leaves;  ///< those in the tree
} yw_nearby;

/// NULL when out of memory.
yw_nearby* yw_nearby_create(const yw_allocator* mem, const yw_complex* complex);
void yw_nearby_destroy(const yw_allocator* mem, yw_nearby* nearby);  ///< NULL is fine

/// A new substep, or part of one: unless the obstacle stands still, nothing is in its place.
void yw_nearby_begin(const yw_contact_work* work);
/// Places and fits the leaves of an obstacle that are near other bodies, which have been fitted.
void yw_nearby_fit(yw_contact_work* work, const yw_contact_work* works, int32_t num_works,
                   const yw_touch_step* step);
/// True for leaves that are near others, as far as it was looked last.
static inline bool yw_nearby_has(const yw_contact_work* work, int32_t leaf) {
  const yw_aabb* node = &work->leaves.nodes[work->leaves.first_leaf + leaf];
  return node->lower.x <= node->upper.x;
}

#endif
