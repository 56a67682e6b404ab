// SPDX-License-Identifier: MIT
// Assembles element matrices into a sparse matrix: every row gathers the contributions of its
// elements in ascending element order.
#include <string.h>

#include "math/sparse/sparse.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define NODES_PER_BLOCK 128

void yw_assembly_free(yw_assembly* assembly) {
  yw_mem_free(&assembly->mem, assembly->around_start);
  yw_mem_free(&assembly->mem, assembly->around);
  yw_mem_free(&assembly->mem, assembly->slots);
  *assembly = (yw_assembly){0};
}

static yw_status check_elements(const yw_assembly* plan, const int32_t* nodes, yw_error* error) {
  if (plan->num_nodes < 0 || plan->num_elements < 0 || plan->corners < 1 || plan->block < 1) {
    return yw_fail(
        error, YW_ERR_INVALID, "assembly: %d nodes of %d unknowns, %d elements of %d corners",
        (int)plan->num_nodes, (int)plan->block, (int)plan->num_elements, (int)plan->corners);
  }
  if (plan->num_elements > INT32_MAX / plan->corners / plan->corners ||
      plan->num_nodes > INT32_MAX / plan->block) {
    return yw_fail(error, YW_ERR_LIMIT, "assembly: %d elements of %d corners are too many",
                   (int)plan->num_elements, (int)plan->corners);
  }
  for (int32_t e = 0; e < plan->num_elements; ++e) {
    const int32_t* corner = nodes + (size_t)e * (size_t)plan->corners;
    for (int32_t a = 0; a < plan->corners; ++a) {
      if (corner[a] < 0 || corner[a] >= plan->num_nodes) {
        return yw_fail(error, YW_ERR_INVALID,
                       "assembly: element %d has node %d, but there are %d nodes", (int)e,
                       (int)corner[a], (int)plan->num_nodes);
      }
      for (int32_t b = 0; b < a; ++b) {
        if (corner[a] == corner[b]) {
          return yw_fail(error, YW_ERR_INVALID, "assembly: element %d has node %d twice", (int)e,
                         (int)corner[a]);
        }
      }
    }
  }
  return YW_OK;
}

static void list_elements_around(yw_assembly* plan, const int32_t* nodes) {
  int32_t count = plan->corners * plan->num_elements;
  int32_t* start = plan->around_start;
  for (int32_t k = 0; k < count; ++k) ++start[nodes[k] + 1];
  for (int32_t i = 0; i < plan->num_nodes; ++i) start[i + 1] += start[i];
  for (int32_t k = 0; k < count; ++k) plan->around[start[nodes[k]]++] = k;
  memmove(start + 1, start, (size_t)plan->num_nodes * sizeof *start);
  start[0] = 0;
}

static void sort_ascending(int32_t* items, int32_t count) {
  for (int32_t gap = count / 2; gap > 0; gap /= 2) {
    for (int32_t i = gap; i < count; ++i) {
      int32_t item = items[i], k = i;
      for (; k >= gap && items[k - gap] > item; k -= gap) items[k] = items[k - gap];
      items[k] = item;
    }
  }
}

// Writes the neighbours of node i (including itself), ascending, to out; mark[j] == i + 1 for
// those.
static int32_t list_neighbours(const yw_assembly* plan, const int32_t* nodes, int32_t i,
                               int32_t* mark, int32_t* out) {
  int32_t found = 0;
  for (int32_t k = plan->around_start[i]; k < plan->around_start[i + 1]; ++k) {
    const int32_t* corner = nodes + plan->around[k] / plan->corners * plan->corners;
    for (int32_t b = 0; b < plan->corners; ++b) {
      if (mark[corner[b]] == i + 1) continue;
      mark[corner[b]] = i + 1;
      out[found++] = corner[b];
    }
  }
  sort_ascending(out, found);
  return found;
}

// The node graph: links of node i are links[start[i]] ..., and the slots of all element pairs.
static int32_t link_nodes(yw_assembly* plan, const int32_t* nodes, int32_t* start, int32_t* links,
                          int32_t* mark, int32_t* place) {
  int32_t total = 0;
  for (int32_t i = 0; i < plan->num_nodes; ++i) {
    int32_t count = list_neighbours(plan, nodes, i, mark, links + total);
    for (int32_t k = 0; k < count; ++k) place[links[total + k]] = k;
    for (int32_t k = plan->around_start[i]; k < plan->around_start[i + 1]; ++k) {
      int32_t here = plan->around[k];
      const int32_t* corner = nodes + here / plan->corners * plan->corners;
      int32_t* slots = plan->slots + (size_t)here * (size_t)plan->corners;
      for (int32_t b = 0; b < plan->corners; ++b) slots[b] = place[corner[b]];
    }
    total += count;
    start[i + 1] = total;
  }
  return total;
}

static void expand_blocks(const yw_assembly* plan, const int32_t* start, const int32_t* links,
                          yw_sparse* matrix) {
  int32_t block = plan->block, filled = 0;
  for (int32_t i = 0; i < plan->num_nodes; ++i) {
    for (int32_t row = 0; row < block; ++row) {
      matrix->start[i * block + row] = filled;
      for (int32_t k = start[i]; k < start[i + 1]; ++k) {
        for (int32_t c = 0; c < block; ++c) matrix->columns[filled++] = links[k] * block + c;
      }
    }
  }
  matrix->start[plan->num_nodes * block] = filled;
}

static yw_status make_pattern(yw_assembly* plan, const int32_t* nodes, yw_sparse* matrix,
                              yw_error* error) {
  const yw_allocator* mem = &plan->mem;
  size_t num_nodes = (size_t)plan->num_nodes, block = (size_t)plan->block;
  size_t pairs = (size_t)plan->num_elements * (size_t)plan->corners * (size_t)plan->corners;
  int32_t* start = YW_NEW_ARRAY(mem, int32_t, num_nodes + 1);
  int32_t* links = YW_NEW_ARRAY(mem, int32_t, pairs);
  int32_t* mark = YW_NEW_ARRAY(mem, int32_t, num_nodes);
  int32_t* place = YW_NEW_ARRAY(mem, int32_t, num_nodes);
  yw_status status = YW_OK;
  if (!start || !links || !mark || !place) {
    status = yw_fail_memory(error, "an assembly");
  } else {
    size_t entries = (size_t)link_nodes(plan, nodes, start, links, mark, place) * block * block;
    if (entries > INT32_MAX) {
      status = yw_fail(error, YW_ERR_LIMIT, "assembly: %zu entries, at most %d are possible",
                       entries, INT32_MAX);
    } else {
      *matrix = (yw_sparse){.mem = *mem,
                            .size = plan->num_nodes * plan->block,
                            .start = YW_NEW_ARRAY(mem, int32_t, num_nodes * block + 1),
                            .columns = YW_NEW_ARRAY(mem, int32_t, entries),
                            .values = YW_NEW_ARRAY(mem, double, entries)};
      if (!matrix->start || !matrix->columns || !matrix->values) {
        status = yw_fail_memory(error, "a sparse matrix");
      } else {
        expand_blocks(plan, start, links, matrix);
      }
    }
  }
  yw_mem_free(mem, start);
  yw_mem_free(mem, links);
  yw_mem_free(mem, mark);
  yw_mem_free(mem, place);
  return status;
}

yw_status yw_assembly_create(const yw_allocator* mem, int32_t num_nodes, int32_t block,
                             int32_t num_elements, int32_t corners, const int32_t* nodes,
                             yw_assembly* out, yw_sparse* out_matrix, yw_error* error) {
  *out_matrix = (yw_sparse){0};
  *out = (yw_assembly){.mem = yw_mem_or_default(mem),
                       .num_nodes = num_nodes,
                       .num_elements = num_elements,
                       .corners = corners,
                       .block = block};
  yw_status status = check_elements(out, nodes, error);
  if (status == YW_OK) {
    size_t count = (size_t)num_elements * (size_t)corners;
    out->around_start = YW_NEW_ARRAY(mem, int32_t, (size_t)num_nodes + 1);
    out->around = YW_NEW_ARRAY(mem, int32_t, count);
    out->slots = YW_NEW_ARRAY(mem, int32_t, count * (size_t)corners);
    if (!out->around_start || !out->around || !out->slots) {
      status = yw_fail_memory(error, "an assembly");
    } else {
      list_elements_around(out, nodes);
      status = make_pattern(out, nodes, out_matrix, error);
    }
  }
  if (status != YW_OK) {
    yw_sparse_free(out_matrix);
    yw_assembly_free(out);
  }
  return status;
}

// Sums --------------------------------------------------------------------------------------------

typedef struct element_sum {
  const yw_assembly* plan;
  const double* elements;
  yw_sparse* matrix;
} element_sum;

static void sum_node(const element_sum* sum, int32_t i) {
  const yw_assembly* plan = sum->plan;
  yw_sparse* matrix = sum->matrix;
  const size_t block = (size_t)plan->block, corners = (size_t)plan->corners;
  const size_t side = block * corners;
  for (size_t row = 0; row < block; ++row) {
    size_t r = (size_t)i * block + row;
    double* values = matrix->values + matrix->start[r];
    memset(values, 0, (size_t)(matrix->start[r + 1] - matrix->start[r]) * sizeof *values);
    for (int32_t k = plan->around_start[i]; k < plan->around_start[i + 1]; ++k) {
      size_t here = (size_t)plan->around[k], element = here / corners, corner = here % corners;
      const double* from = sum->elements + (element * side + corner * block + row) * side;
      const int32_t* slots = plan->slots + here * corners;
      for (size_t b = 0; b < corners; ++b) {
        double* to = values + (size_t)slots[b] * block;
        for (size_t c = 0; c < block; ++c) to[c] += from[b * block + c];
      }
    }
  }
}

static void sum_nodes(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const element_sum* sum = context;
  int32_t begin = block * NODES_PER_BLOCK, num_nodes = sum->plan->num_nodes;
  int32_t end = begin + NODES_PER_BLOCK < num_nodes ? begin + NODES_PER_BLOCK : num_nodes;
  for (int32_t i = begin; i < end; ++i) sum_node(sum, i);
}

void yw_assembly_sum(const yw_assembly* assembly, yw_tasks* tasks, const double* elements,
                     yw_sparse* matrix) {
  element_sum sum = {assembly, elements, matrix};
  yw_tasks_run(tasks, (assembly->num_nodes + NODES_PER_BLOCK - 1) / NODES_PER_BLOCK, sum_nodes,
               &sum);
}
