// SPDX-License-Identifier: MIT
// Data structures shared by the files of the sparse Cholesky factorisation.
//
// A supernode is a run of columns with the same rows below. They are stored in its *panel*: row
// blocks of 8 rows, each with `width` consecutive columns of 8 values. Pivot rows come first,
// padded to whole blocks, then the rows below, padded likewise; padding is zero. Entry (row,
// column) is at
//   (row / 8) * 8 * width + 8 * column + row % 8,
// so every operand of the inner loops is read as one stream, and lanes are rows.
// The *update* that a supernode passes to its parent is a lower triangle of 8x8 tiles with a
// similar layout: entry (row, column) is at 64 * (I * (I + 1) / 2) + 8 * column + row % 8, I = row
// / 8.
#ifndef YW_MATH_SPARSE_CHOLESKY_PARTS_H
#define YW_MATH_SPARSE_CHOLESKY_PARTS_H

#include "math/sparse/cholesky.h"
#include "math/sparse/cholesky_kernels.h"

struct yw_cholesky {
  yw_allocator mem;
  yw_simd simd;
  int32_t size;
  int32_t num_supernodes;
  int32_t* order;  ///< order[k]: row of the matrix eliminated k-th
  int32_t* place;  ///< inverse of order

  // Supernodes, children before parents. All arrays have num_supernodes entries; those marked +1
  // have one more.
  int32_t* first;            ///< +1: columns first[s] .. first[s + 1] - 1
  int32_t* parent;           ///< or -1
  int32_t* num_descendants;  ///< the subtree of s is s - num_descendants[s] .. s
  size_t* row_start;         ///< +1
  int32_t* rows;             ///< below the pivots, ascending
  int32_t* front_rows;       ///< the same rows, numbered in the parent's front (padded pivots)
  int32_t* solve_rows;       ///< the same rows, as positions in the vector of a solve
  size_t* panel_start;       ///< +1, into panels
  size_t* update_start;      ///< into updates, or into a worker's local updates
  bool* is_top;              ///< not inside any task
  bool* is_local;            ///< its update is used only within its task

  // Entries of the matrix that belong to the panel of s: panel[target] = values[source].
  size_t* entry_start;  ///< +1
  int32_t* entry_source;
  int32_t* entry_target;

  // Independent work: task t is supernodes task_first[t] .. task_end[t] - 1, whole subtrees; the
  // largest task comes first. The rest, the top of the tree, is processed front by front.
  int32_t num_tasks;
  int32_t* task_first;
  int32_t* task_end;

  int32_t max_rows;    ///< of a front, padded
  int32_t solve_size;  ///< places in the vector of a solve
  size_t update_size;  ///< of updates
  size_t local_size;   ///< of one worker\'s local updates
  uint64_t pattern_hash;
  int32_t pattern_entries;
  int64_t entries;
  double flops;

  bool has_double, has_float;  ///< the numbers below are a factor
  double* panels;              ///< or NULL
  double* inv_diagonal;        ///< 1 / L_kk, or NULL
  float* panels32;             ///< or NULL
  float* inv_diagonal32;       ///< or NULL
  double* updates;             ///< scratch of a factorisation, or NULL
  double* local_updates;       ///< of local_workers workers
  int32_t local_workers;
  double* diagonal;        ///< of the permuted matrix, scratch of a factorisation
  int32_t* failed_column;  ///< per task, scratch
};

static inline int32_t yw_blocks_of(int32_t rows) { return (rows + 7) / 8; }

/// Sizes of one supernode.
typedef struct yw_front {
  int32_t first, width, below;
  int32_t pivot_blocks, blocks;  ///< row blocks of the pivots; of all rows
} yw_front;

static inline yw_front yw_front_of(const yw_cholesky* f, int32_t s) {
  int32_t width = f->first[s + 1] - f->first[s];
  int32_t below = (int32_t)(f->row_start[s + 1] - f->row_start[s]);
  int32_t pivot_blocks = yw_blocks_of(width);
  return (yw_front){f->first[s], width, below, pivot_blocks, pivot_blocks + yw_blocks_of(below)};
}

static inline size_t yw_update_size(int32_t below) {
  size_t blocks = (size_t)yw_blocks_of(below);
  return blocks * (blocks + 1) / 2 * 64;
}

/// Uninitialised memory, so that its pages are first touched by the threads that use it.
void* yw_cholesky_raw_memory(const yw_allocator* mem, size_t count, size_t size);
/// Hash of the pattern, compared when values are given.
uint64_t yw_cholesky_pattern_hash(const yw_sparse* matrix);

/// Elimination tree of a graph whose vertices are eliminated in the given order (place is its
/// inverse): parent[k] > k or -1, by place. scratch has graph->count entries.
typedef struct yw_graph yw_graph;
void yw_elimination_tree(const yw_graph* graph, const int32_t* order, const int32_t* place,
                         int32_t* parent, int32_t* scratch);
/// Children before parents, subtrees contiguous: post[k] is the k-th. scratch has 2 * count
/// entries.
void yw_tree_postorder(int32_t count, const int32_t* parent, int32_t* post, int32_t* scratch);
/// Number of entries in every column of L, including the diagonal, for an order that is a postorder
/// of its tree. scratch has 4 * count entries.
void yw_column_counts(const yw_graph* graph, const int32_t* order, const int32_t* place,
                      const int32_t* parent, int32_t* counts, int32_t* scratch);

#endif
