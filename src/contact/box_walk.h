// SPDX-License-Identifier: MIT
// Walks through trees of boxes: which leaves overlap a box. Apart from the tree because kernels of
// GPUs include that, and have no registers of four numbers.
#ifndef YW_CONTACT_BOX_WALK_H
#define YW_CONTACT_BOX_WALK_H

#include <math.h>
#include <string.h>

#include "contact/box_tree.h"

/// A box that many others are tested against, as two registers: its upper corner beside the lower
/// ones of these, and its lower corner beside their upper ones.
typedef float yw_box_side __attribute__((vector_size(16)));
typedef struct yw_box_probe {
  yw_box_side upper, lower;
} yw_box_probe;

static inline yw_box_probe yw_box_probe_of(yw_aabb b) {
  return (yw_box_probe){{b.upper.x, b.upper.y, b.upper.z, INFINITY},
                        {-INFINITY, b.lower.x, b.lower.y, b.lower.z}};
}

/// As yw_aabb_overlap, without branches.
static inline bool yw_box_meets(const yw_aabb* box, const yw_box_probe* probe) {
  typedef int64_t halves __attribute__((vector_size(16)));
  yw_box_side from, to;
  memcpy(&from, &box->lower.x, sizeof from);
  memcpy(&to, &box->lower.z, sizeof to);
  halves meets = (halves)((from <= probe->upper) & (to >= probe->lower));
  return (meets[0] & meets[1]) == -1;
}

/// Iterates over the leaves that overlap a box, in ascending order.
typedef struct yw_box_walk {
  const yw_box_tree* tree;
  yw_box_probe box;
  int32_t node;  ///< next node to visit; 0 when done
} yw_box_walk;

static inline yw_box_walk yw_box_walk_begin(const yw_box_tree* tree, yw_aabb box) {
  return (yw_box_walk){tree, yw_box_probe_of(box), tree->num_leaves > 0 ? 1 : 0};
}

/// The next leaf, or -1.
static inline int32_t yw_box_walk_next(yw_box_walk* walk) {
  int32_t node = walk->node;
  while (node != 0) {
    bool hit = yw_box_meets(&walk->tree->nodes[node], &walk->box);
    if (hit && node < walk->tree->first_leaf) {
      node *= 2;
      continue;
    }
    // Up to the first ancestor whose right sibling has not been visited.
    int32_t leaf = hit ? node - walk->tree->first_leaf : -1;
    while (node & 1) node >>= 1;
    node = node == 0 ? 0 : node + 1;
    if (leaf >= 0) {
      walk->node = node;
      return leaf;
    }
  }
  walk->node = 0;
  return -1;
}

#endif
