// SPDX-License-Identifier: MIT
// Plans a factorisation: the rows of every supernode, the destination of each matrix entry, which
// subtrees are separate tasks, and where updates are stored. All of it depends only on the pattern,
// never on the number of threads.
#include "math/sparse/cholesky_plan.h"

#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// A subtree with less than this fraction of all work is one task. This gives enough tasks for about
// 16 threads, while the fronts above are large enough to be divided themselves.
#define TASK_SHARE (1.0 / 48.0)
#define MIN_TASK_FLOPS 2e5

// Rows --------------------------------------------------------------------------------------------

static void sort_rows(int32_t* items, int32_t count) {
  while (count > 16) {
    // Quicksort with a median-of-three pivot; recurse into the smaller half.
    int32_t a = items[0], b = items[count / 2], c = items[count - 1];
    int32_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
    int32_t low = 0, high = count - 1;
    while (low <= high) {
      while (items[low] < pivot) ++low;
      while (items[high] > pivot) --high;
      if (low > high) break;
      int32_t swap = items[low];
      items[low++] = items[high];
      items[high--] = swap;
    }
    if (high + 1 < count - low) {
      sort_rows(items, high + 1);
      items += low;
      count -= low;
    } else {
      sort_rows(items + low, count - low);
      count = high + 1;
    }
  }
  for (int32_t i = 1; i < count; ++i) {
    int32_t item = items[i], k = i;
    for (; k > 0 && items[k - 1] > item; --k) items[k] = items[k - 1];
    items[k] = item;
  }
}

// Rows of s: those of its columns in the matrix and those of its children. mark[i] == s + 1 for
// rows found. False if their number differs from the column counts.
static bool collect_rows(yw_cholesky* f, const yw_sparse* a, int32_t s, int32_t* mark) {
  int32_t end = f->first[s + 1], found = 0;
  int32_t room = (int32_t)(f->row_start[s + 1] - f->row_start[s]);
  int32_t* rows = f->rows + f->row_start[s];
  for (int32_t j = f->first[s]; j < end; ++j) {
    for (int32_t e = a->start[f->order[j]]; e < a->start[f->order[j] + 1]; ++e) {
      int32_t i = f->place[a->columns[e]];
      if (i < end || mark[i] == s + 1) continue;
      if (found == room) return false;
      mark[i] = s + 1;
      rows[found++] = i;
    }
  }
  for (int32_t c = s - 1; c >= s - f->num_descendants[s]; c -= f->num_descendants[c] + 1) {
    for (size_t k = f->row_start[c]; k < f->row_start[c + 1]; ++k) {
      int32_t i = f->rows[k];
      if (i < end || mark[i] == s + 1) continue;
      if (found == room) return false;
      mark[i] = s + 1;
      rows[found++] = i;
    }
  }
  sort_rows(rows, found);
  return found == room;
}

static void count_descendants(yw_cholesky* f) {
  for (int32_t s = 0; s < f->num_supernodes; ++s) {
    if (f->parent[s] >= 0) f->num_descendants[f->parent[s]] += f->num_descendants[s] + 1;
  }
}

// Destinations of the entries of the lower triangle. local has f->size entries.
static void place_entries(yw_cholesky* f, const yw_sparse* a, int32_t* local) {
  size_t filled = 0;
  for (int32_t s = 0; s < f->num_supernodes; ++s) {
    yw_front front = yw_front_of(f, s);
    const int32_t* rows = f->rows + f->row_start[s];
    for (int32_t i = 0; i < front.width; ++i) local[front.first + i] = i;
    for (int32_t i = 0; i < front.below; ++i) local[rows[i]] = 8 * front.pivot_blocks + i;
    f->entry_start[s] = filled;
    for (int32_t j = 0; j < front.width; ++j) {
      int32_t row = f->order[front.first + j];
      for (int32_t e = a->start[row]; e < a->start[row + 1]; ++e) {
        int32_t i = f->place[a->columns[e]];
        if (i < front.first + j) continue;
        f->entry_source[filled] = e;
        f->entry_target[filled++] = local[i] / 8 * 8 * front.width + 8 * j + local[i] % 8;
      }
    }
  }
  f->entry_start[f->num_supernodes] = filled;
}

// Work --------------------------------------------------------------------------------------------

static double front_flops(const yw_front* front) {
  double w = front->width, r = front->below;
  return w * w * w / 3.0 + w * w * r + w * r * r;
}

static yw_status measure_fronts(yw_cholesky* f, double* subtree_flops, yw_error* error) {
  for (int32_t s = 0; s < f->num_supernodes; ++s) {
    yw_front front = yw_front_of(f, s);
    int64_t panel = (int64_t)front.blocks * 8 * front.width;
    if (panel > INT32_MAX) {
      return yw_fail(error, YW_ERR_LIMIT,
                     "Cholesky: a front of %d columns and %d rows is too large; the matrix has no "
                     "small separators in this order",
                     (int)front.width, (int)(front.width + front.below));
    }
    f->panel_start[s + 1] = f->panel_start[s] + (size_t)panel;
    f->entries += (int64_t)front.width * (front.width + 1) / 2 + (int64_t)front.width * front.below;
    f->flops += front_flops(&front);
    subtree_flops[s] += front_flops(&front);
    if (f->parent[s] >= 0) subtree_flops[f->parent[s]] += subtree_flops[s];
    if (8 * front.blocks > f->max_rows) f->max_rows = 8 * front.blocks;
  }
  return YW_OK;
}

// Consecutive subtrees below the threshold share a task until it is reached. Largest tasks first.
static void share_out_tasks(yw_cholesky* f, const double* subtree_flops, double* task_flops) {
  double limit = f->flops * TASK_SHARE;
  if (limit < MIN_TASK_FLOPS) limit = MIN_TASK_FLOPS;
  for (int32_t s = 0; s < f->num_supernodes; ++s) f->is_top[s] = subtree_flops[s] > limit;

  int32_t last_end = -1;
  for (int32_t s = 0; s < f->num_supernodes; ++s) {
    bool is_root = !f->is_top[s] && (f->parent[s] < 0 || f->is_top[f->parent[s]]);
    if (!is_root) continue;
    int32_t begin = s - f->num_descendants[s], t = f->num_tasks - 1;
    if (t >= 0 && begin == last_end && task_flops[t] + subtree_flops[s] <= limit) {
      task_flops[t] += subtree_flops[s];
      f->task_end[t] = s + 1;
    } else {
      task_flops[f->num_tasks] = subtree_flops[s];
      f->task_first[f->num_tasks] = begin;
      f->task_end[f->num_tasks++] = s + 1;
    }
    last_end = s + 1;
  }
  for (int32_t t = 1; t < f->num_tasks; ++t) {
    double flops = task_flops[t];
    int32_t first = f->task_first[t], end = f->task_end[t], k = t;
    for (; k > 0 && task_flops[k - 1] < flops; --k) {
      task_flops[k] = task_flops[k - 1];
      f->task_first[k] = f->task_first[k - 1];
      f->task_end[k] = f->task_end[k - 1];
    }
    task_flops[k] = flops;
    f->task_first[k] = first;
    f->task_end[k] = end;
  }
}

// Two stacks: a supernode's update is pushed on one while those of its children are popped from the
// other; depth decides which. Each is last in, first out.
typedef struct update_stacks {
  size_t used[2], peak[2], base[2];
} update_stacks;

static size_t update_size_of(const yw_cholesky* f, int32_t s) {
  return yw_update_size((int32_t)(f->row_start[s + 1] - f->row_start[s]));
}

// `belongs` selects the supernodes to stack: the local ones, or those of the top.
static void stack_supernode(yw_cholesky* f, update_stacks* stacks, const unsigned char* side,
                            const bool* belongs, int32_t s) {
  int own = side[s], other = 1 - own;
  if (belongs[s]) {
    f->update_start[s] = stacks->base[own] + stacks->used[own];
    stacks->used[own] += update_size_of(f, s);
    if (stacks->used[own] > stacks->peak[own]) stacks->peak[own] = stacks->used[own];
  }
  for (int32_t c = s - 1; c >= s - f->num_descendants[s]; c -= f->num_descendants[c] + 1) {
    if (belongs[c]) stacks->used[other] -= update_size_of(f, c);
  }
}

// Updates within a task: each worker has room for the most demanding task. The first pass finds the
// heights of both stacks, the second assigns positions.
static void place_local_updates(yw_cholesky* f, const unsigned char* side) {
  for (int32_t t = 0; t < f->num_tasks; ++t) {
    update_stacks stacks = {0};
    for (int pass = 0; pass < 2; ++pass) {
      stacks.used[0] = stacks.used[1] = 0;
      for (int32_t s = f->task_first[t]; s < f->task_end[t]; ++s) {
        stack_supernode(f, &stacks, side, f->is_local, s);
      }
      stacks.base[1] = stacks.peak[0];
    }
    size_t size = stacks.peak[0] + stacks.peak[1];
    if (size > f->local_size) f->local_size = size;
  }
}

// Updates used by the top: those of the roots of tasks, all present before it starts, and its own.
static void place_top_updates(yw_cholesky* f, const unsigned char* side) {
  for (int32_t s = 0; s < f->num_supernodes; ++s) {
    if (f->is_top[s] || f->is_local[s]) continue;
    f->update_start[s] = f->update_size;
    f->update_size += update_size_of(f, s);
  }
  update_stacks stacks = {.base = {f->update_size, f->update_size}};
  for (int pass = 0; pass < 2; ++pass) {
    stacks.used[0] = stacks.used[1] = 0;
    for (int32_t s = 0; s < f->num_supernodes; ++s) {
      if (f->is_top[s]) stack_supernode(f, &stacks, side, f->is_top, s);
    }
    stacks.base[1] = stacks.base[0] + stacks.peak[0];
  }
  f->update_size = stacks.base[1] + stacks.peak[1];
}

static void place_updates(yw_cholesky* f, const unsigned char* side) {
  for (int32_t s = 0; s < f->num_supernodes; ++s) {
    f->is_local[s] = !f->is_top[s] && f->parent[s] >= 0 && !f->is_top[f->parent[s]];
  }
  place_local_updates(f, side);
  place_top_updates(f, side);
}

static void relate_to_parents(yw_cholesky* f) {
  for (int32_t s = 0; s < f->num_supernodes; ++s) {
    int32_t p = f->parent[s];
    if (p < 0) continue;
    yw_front front = yw_front_of(f, p);
    size_t up = f->row_start[p];
    for (size_t k = f->row_start[s]; k < f->row_start[s + 1]; ++k) {
      int32_t row = f->rows[k];
      if (row < f->first[p + 1]) {
        f->front_rows[k] = row - front.first;
        continue;
      }
      while (up < f->row_start[p + 1] && f->rows[up] < row) ++up;
      f->front_rows[k] = 8 * front.pivot_blocks + (int32_t)(up - f->row_start[p]);
    }
  }
}

// In a solve, what a task subtracts from rows above it goes to its own positions after the
// unknowns: one for each row of the subtree's root, which has them all.
static void place_solve_rows(yw_cholesky* f, int32_t* local) {
  memcpy(f->solve_rows, f->rows, f->row_start[f->num_supernodes] * sizeof *f->rows);
  f->solve_size = f->size;
  for (int32_t root = 0; root < f->num_supernodes; ++root) {
    if (f->is_top[root] || (f->parent[root] >= 0 && !f->is_top[f->parent[root]])) continue;
    for (size_t k = f->row_start[root]; k < f->row_start[root + 1]; ++k) {
      local[f->rows[k]] = f->solve_size++;
    }
    int32_t end = f->first[root + 1];
    size_t begin = f->row_start[root - f->num_descendants[root]];
    for (size_t k = begin; k < f->row_start[root + 1]; ++k) {
      if (f->rows[k] >= end) f->solve_rows[k] = local[f->rows[k]];
    }
  }
}

static bool allocate_plan(yw_cholesky* f) {
  const yw_allocator* mem = &f->mem;
  size_t count = (size_t)f->num_supernodes, rows = f->row_start[count];
  f->front_rows = YW_NEW_ARRAY(mem, int32_t, rows);
  f->solve_rows = YW_NEW_ARRAY(mem, int32_t, rows);
  f->panel_start = YW_NEW_ARRAY(mem, size_t, count + 1);
  f->update_start = YW_NEW_ARRAY(mem, size_t, count);
  f->is_top = YW_NEW_ARRAY(mem, bool, count);
  f->is_local = YW_NEW_ARRAY(mem, bool, count);
  f->task_first = YW_NEW_ARRAY(mem, int32_t, count);
  f->task_end = YW_NEW_ARRAY(mem, int32_t, count);
  return f->front_rows && f->solve_rows && f->panel_start && f->update_start && f->is_top &&
         f->is_local && f->task_first && f->task_end;
}

// Everything that needs only the rows, not the matrix.
static yw_status plan_work(yw_cholesky* f, yw_error* error) {
  const yw_allocator* mem = &f->mem;
  size_t count = (size_t)f->num_supernodes;
  double* subtree_flops = YW_NEW_ARRAY(mem, double, count);
  double* task_flops = YW_NEW_ARRAY(mem, double, count);
  unsigned char* side = YW_NEW_ARRAY(mem, unsigned char, count);
  int32_t* local = YW_NEW_ARRAY(mem, int32_t, f->size);
  yw_status status = YW_OK;
  if (!allocate_plan(f) || !subtree_flops || !task_flops || !side || !local) {
    status = yw_fail_memory(error, "the plan of a factorisation");
  } else {
    status = measure_fronts(f, subtree_flops, error);
  }
  if (status == YW_OK) {
    share_out_tasks(f, subtree_flops, task_flops);
    for (int32_t s = f->num_supernodes - 1; s >= 0; --s) {
      side[s] = f->parent[s] >= 0 ? (unsigned char)(1 - side[f->parent[s]]) : 0;
    }
    place_updates(f, side);
    relate_to_parents(f);
    place_solve_rows(f, local);
  }
  yw_mem_free(mem, subtree_flops);
  yw_mem_free(mem, task_flops);
  yw_mem_free(mem, side);
  yw_mem_free(mem, local);
  return status;
}

yw_status yw_cholesky_plan(yw_cholesky* f, const yw_sparse* matrix, yw_error* error) {
  const yw_allocator* mem = &f->mem;
  size_t count = (size_t)f->num_supernodes, lower = (size_t)f->pattern_entries;
  lower = (lower + (size_t)f->size) / 2;
  f->rows = YW_NEW_ARRAY(mem, int32_t, f->row_start[count]);
  f->num_descendants = YW_NEW_ARRAY(mem, int32_t, count);
  f->entry_start = YW_NEW_ARRAY(mem, size_t, count + 1);
  f->entry_source = YW_NEW_ARRAY(mem, int32_t, lower);
  f->entry_target = YW_NEW_ARRAY(mem, int32_t, lower);
  int32_t* mark = YW_NEW_ARRAY(mem, int32_t, f->size);
  yw_status status = YW_OK;
  if (!f->rows || !f->num_descendants || !f->entry_start || !f->entry_source || !f->entry_target ||
      !mark) {
    status = yw_fail_memory(error, "the plan of a factorisation");
  } else {
    count_descendants(f);
    bool exact = true;
    for (int32_t s = 0; exact && s < f->num_supernodes; ++s)
      exact = collect_rows(f, matrix, s, mark);
    status = exact ? plan_work(f, error)
                   : yw_fail(error, YW_ERR_INVALID, "Cholesky: rows do not match their counts");
    if (status == YW_OK) place_entries(f, matrix, mark);
  }
  yw_mem_free(mem, mark);
  return status;
}
