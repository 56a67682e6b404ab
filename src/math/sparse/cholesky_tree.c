// SPDX-License-Identifier: MIT
// The elimination tree and column counts. Liu, The role of elimination trees in sparse
// factorization, 1990; Gilbert, Ng, Peyton, An efficient algorithm to compute row and column counts
// for sparse Cholesky factorization, 1994.
#include <string.h>

#include "math/sparse/cholesky_parts.h"
#include "math/sparse/ordering.h"

// Column k becomes the parent of the roots of all subtrees that its row reaches. `root` compresses
// the paths.
void yw_elimination_tree(const yw_graph* graph, const int32_t* order, const int32_t* place,
                         int32_t* parent, int32_t* root) {
  for (int32_t k = 0; k < graph->count; ++k) {
    int32_t vertex = order[k];
    parent[k] = root[k] = -1;
    for (int32_t e = graph->start[vertex]; e < graph->start[vertex + 1]; ++e) {
      int32_t i = place[graph->items[e]];
      while (i != -1 && i < k) {
        int32_t next = root[i];
        root[i] = k;
        if (next == -1) parent[i] = k;
        i = next;
      }
    }
  }
}

void yw_tree_postorder(int32_t count, const int32_t* parent, int32_t* post, int32_t* scratch) {
  int32_t* child = scratch;
  int32_t* sibling = scratch + count;
  for (int32_t i = 0; i < count; ++i) child[i] = -1;
  for (int32_t i = count - 1; i >= 0; --i) {
    if (parent[i] < 0) continue;
    sibling[i] = child[parent[i]];
    child[parent[i]] = i;
  }
  int32_t filled = 0;
  for (int32_t tree = 0; tree < count; ++tree) {
    if (parent[tree] >= 0) continue;
    // Go down to the first leaf, then up, descending into the next sibling wherever there is one.
    int32_t i = tree;
    for (;;) {
      while (child[i] >= 0) i = child[i];
      post[filled++] = i;
      if (i == tree) break;
      int32_t up = parent[i];
      child[up] = sibling[i];
      i = up;
    }
  }
}

static int32_t find_set(int32_t* ancestor, int32_t i) {
  int32_t top = i;
  while (ancestor[top] != top) top = ancestor[top];
  while (ancestor[i] != top) {
    int32_t next = ancestor[i];
    ancestor[i] = top;
    i = next;
  }
  return top;
}

// Row i of L is the part of the tree between i and the leaves of its row subtree. Column counts are
// sums of differences over the tree: +1 at every such leaf, -1 where the paths of two consecutive
// leaves meet, and -1 at the parent of every column, where its own row ends.
void yw_column_counts(const yw_graph* graph, const int32_t* order, const int32_t* place,
                      const int32_t* parent, int32_t* counts, int32_t* scratch) {
  int32_t n = graph->count;
  int32_t* first = scratch;        // smallest descendant
  int32_t* reached = scratch + n;  // largest `first` of a leaf of this row so far, plus 1
  int32_t* last_leaf = scratch + 2 * n;
  int32_t* ancestor = scratch + 3 * n;
  for (int32_t j = 0; j < n; ++j) {
    first[j] = ancestor[j] = j;
    reached[j] = 0;
    last_leaf[j] = -1;
  }
  for (int32_t j = 0; j < n; ++j) {
    if (parent[j] >= 0 && first[j] < first[parent[j]]) first[parent[j]] = first[j];
    counts[j] = first[j] == j ? 1 : 0;
  }
  for (int32_t j = 0; j < n; ++j) {
    if (parent[j] >= 0) --counts[parent[j]];
    int32_t vertex = order[j];
    for (int32_t e = graph->start[vertex]; e < graph->start[vertex + 1]; ++e) {
      int32_t i = place[graph->items[e]];
      if (i <= j || first[j] < reached[i]) continue;
      ++counts[j];
      if (last_leaf[i] >= 0) --counts[find_set(ancestor, last_leaf[i])];
      reached[i] = first[j] + 1;
      last_leaf[i] = j;
    }
    if (parent[j] >= 0) ancestor[j] = parent[j];
  }
  for (int32_t j = 0; j < n; ++j) {
    if (parent[j] >= 0) counts[parent[j]] += counts[j];
  }
}
