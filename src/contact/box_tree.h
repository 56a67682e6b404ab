// SPDX-License-Identifier: MIT
// A complete binary tree of boxes over items that are already in a spatially coherent order. The
// tree has no structure of its own: node i has the children 2 i and 2 i + 1, so that refitting is
// one backward loop and nothing depends on history.
#ifndef YW_CONTACT_BOX_TREE_H
#define YW_CONTACT_BOX_TREE_H

#include <math.h>
#include <string.h>

#include "yawara/extend/vec.h"

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

typedef struct yw_box_tree {
  yw_aabb* nodes;      ///< 2 * first_leaf; node 1 is the root, leaf i is node first_leaf + i
  int32_t first_leaf;  ///< a power of two >= num_leaves
  int32_t num_leaves;
} yw_box_tree;

/// Number of nodes in a tree of num_leaves leaves.
static inline int32_t yw_box_tree_nodes(int32_t num_leaves) {
  int32_t first = 1;
  while (first < num_leaves) first *= 2;
  return 2 * first;
}

static inline yw_box_tree yw_box_tree_of(yw_aabb* nodes, int32_t num_leaves) {
  return (yw_box_tree){nodes, yw_box_tree_nodes(num_leaves) / 2, num_leaves};
}

/// Computes the boxes of inner nodes after the leaves were set.
static inline void yw_box_tree_refit(const yw_box_tree* tree) {
  for (int32_t i = tree->num_leaves; i < tree->first_leaf; ++i) {
    tree->nodes[tree->first_leaf + i] = yw_aabb_empty();
  }
  for (int32_t i = tree->first_leaf - 1; i >= 1; --i) {
    tree->nodes[i] = yw_aabb_join(tree->nodes[2 * i], tree->nodes[2 * i + 1]);
  }
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
