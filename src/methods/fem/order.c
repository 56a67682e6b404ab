// SPDX-License-Identifier: MIT
// The order in which threads process the nodes and batches of a front, and nodes sum slots.
//
// Batches are sorted by root, nodes by the first batch that contains them: a thread that works on
// the same range of both lists mostly reads what it wrote itself, and neighbours in a list share
// cache lines.
#include <string.h>

#include "methods/fem/batches.h"

// Sorts batches by the root of their first lane.
static void order_batches(fem_work* work) {
  const fem_hierarchy* h = work->h;
  int32_t* start = work->root_start;
  memset(start, 0, sizeof *start * ((size_t)h->num_roots + 1));
  work->num_batches = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int k = 0; k < FEM_KINDS; ++k) {
      const fem_batches* b = &work->kinds[k];
      int32_t batches = yw_fem_num_batches(b);
      for (int32_t i = 0; i < batches; ++i) {
        int32_t root = h->root[b->owner[(size_t)i * YW_LANES]];
        if (pass == 0) {
          ++start[root + 1];
        } else {
          work->order[start[root]++] = (fem_batch_ref){k, i};
        }
      }
      if (pass == 0) work->num_batches += batches;
    }
    for (int32_t r = 0; r < h->num_roots && pass == 0; ++r) start[r + 1] += start[r];
  }
}

// Slots -------------------------------------------------------------------------------------------

static int32_t lanes_of(const fem_batches* b, int32_t batch) {
  int32_t left = b->count - batch * YW_LANES;
  return left < YW_LANES ? left : YW_LANES;
}

static void place_node(fem_work* work, int32_t node, int32_t* placed) {
  if (work->place[node] >= 0) return;
  work->slot_start[*placed + 1] = 0;
  work->place[node] = *placed;
  work->nodes[(*placed)++] = node;
}

// Lists the nodes, counts their slots and stores where these start.
static void order_nodes(fem_work* work, const fem_front* front) {
  int32_t placed = 0;
  work->num_slots = 0;
  for (int32_t i = 0; i < front->num_active; ++i) work->place[front->active[i]] = -1;
  for (int32_t i = 0; i < work->num_batches; ++i) {
    const fem_batches* b = &work->kinds[work->order[i].kind];
    int32_t nn = work->tables->kinds[work->order[i].kind].num_nodes, batch = work->order[i].batch;
    int32_t lanes = lanes_of(b, batch);
    const int32_t* owner = b->owner + (size_t)batch * YW_LANES;
    const int32_t* nodes = b->nodes + (size_t)(batch * nn) * YW_LANES;
    b->first_slot[batch] = work->num_slots;
    work->num_slots += nn * YW_LANES;
    for (int32_t n = 0; n < nn; ++n, nodes += YW_LANES) {
      for (int32_t l = 0; l < lanes; ++l) {
        if (owner[l] < 0) continue;
        place_node(work, nodes[l], &placed);
        ++work->slot_start[work->place[nodes[l]] + 1];
      }
    }
  }
  // Vertices without a tet.
  for (int32_t i = 0; i < front->num_active; ++i) place_node(work, front->active[i], &placed);
}

// Adds slots of these lanes to the lists of their nodes.
static void list_lanes(fem_work* work, int k, const int32_t* lanes, int32_t count) {
  const fem_batches* b = &work->kinds[k];
  int32_t* end = work->slot_start + 1;
  size_t nn = (size_t)work->tables->kinds[k].num_nodes;
  for (size_t n = 0; n < nn; ++n) {
    for (int32_t i = 0; i < count; ++i) {
      size_t batch = (size_t)lanes[i] / YW_LANES, lane = (size_t)lanes[i] % YW_LANES;
      size_t at = n * YW_LANES + lane;
      int32_t node = b->nodes[batch * nn * YW_LANES + at];
      work->slots[end[work->place[node]]++] = b->first_slot[batch] + (int32_t)at;
    }
  }
}

// Slots of every node, by kind, then by the lanes with an owner, 16 together, so that sums depend
// neither on the order above nor on where batches begin.
static void list_slots(fem_work* work, int32_t num_active) {
  int32_t *start = work->slot_start, next = 0;
  // Filling advances every start to the next: they begin one entry late.
  start[0] = 0;
  for (int32_t i = 0; i < num_active; ++i) {
    int32_t count = start[i + 1];
    start[i + 1] = next;
    next += count;
  }
  for (int k = 0; k < FEM_KINDS; ++k) {
    const fem_batches* b = &work->kinds[k];
    int32_t lanes[YW_LANES], count = 0;
    for (int32_t i = 0; i < b->count; ++i) {
      if (b->owner[i] < 0) continue;
      lanes[count++] = i;
      if (count < YW_LANES) continue;
      list_lanes(work, k, lanes, count);
      count = 0;
    }
    list_lanes(work, k, lanes, count);
  }
}

void yw_fem_work_order(fem_work* work, const fem_front* front) {
  order_batches(work);
  order_nodes(work, front);
  list_slots(work, front->num_active);
}
