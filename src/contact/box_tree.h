// SPDX-License-Identifier: MIT
// A complete binary tree of boxes over items that are already in a spatially coherent order. The
// tree has no structure of its own: node i has the children 2 i and 2 i + 1, so that refitting is
// one backward loop and nothing depends on history.
#ifndef YW_CONTACT_BOX_TREE_H
#define YW_CONTACT_BOX_TREE_H

#include "yawara/extend/vec.h"

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

#endif
