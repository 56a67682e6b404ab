// SPDX-License-Identifier: MIT
// Vertices that are a few steps from each other, a step leading to all corners of an element.
#include <string.h>

#include "geometry/order.h"
#include "yawara/extend/memory.h"

typedef struct reach {
  const yw_elements* elements;
  int32_t steps;
  size_t* start;     // of the elements around each vertex, count + 1
  int32_t* around;   // elements
  int32_t* seen;     // last vertex + 1 that saw each vertex
  int32_t* reached;  // those of the current vertex, nearest first
} reach;

static bool list_around(const yw_allocator* mem, reach* r) {
  const yw_elements* e = r->elements;
  size_t corners = (size_t)e->num_elements * (size_t)e->corners;
  r->start = YW_NEW_ARRAY(mem, size_t, (size_t)e->num_vertices + 2);
  r->around = YW_NEW_ARRAY(mem, int32_t, corners);
  if (!r->start || !r->around) return false;
  // Counted two places ahead, so that filling leaves the starts in place.
  for (size_t n = 0; n < corners; ++n) ++r->start[e->items[n] + 2];
  for (int32_t v = 0; v < e->num_vertices; ++v) r->start[v + 2] += r->start[v + 1];
  for (size_t n = 0; n < corners; ++n) {
    r->around[r->start[e->items[n] + 1]++] = (int32_t)(n / (size_t)e->corners);
  }
  return true;
}

// Breadth first. Returns how many vertices other than i there are.
static int32_t collect(reach* r, int32_t i) {
  const yw_elements* e = r->elements;
  int32_t count = 1, first = 0;
  r->seen[i] = i + 1;
  r->reached[0] = i;
  for (int32_t step = 0; step < r->steps; ++step) {
    int32_t last = count;
    for (int32_t k = first; k < last; ++k) {
      int32_t v = r->reached[k];
      for (size_t n = r->start[v]; n < r->start[v + 1]; ++n) {
        const int32_t* corner = e->items + (size_t)r->around[n] * (size_t)e->corners;
        for (int32_t c = 0; c < e->corners; ++c) {
          if (r->seen[corner[c]] == i + 1) continue;
          r->seen[corner[c]] = i + 1;
          r->reached[count++] = corner[c];
        }
      }
    }
    first = last;
  }
  return count - 1;
}

// The relation is symmetric: writing i into the rows of those it reaches, i ascending, leaves every
// row sorted.
static yw_status fill(reach* r, int32_t* cursor, yw_adjacency* out) {
  int64_t total = 0;
  for (int32_t i = 0; i < out->count; ++i) {
    total += collect(r, i);
    if (total > INT32_MAX) return YW_ERR_LIMIT;
    out->start[i + 1] = (int32_t)total;
  }
  out->items = YW_NEW_ARRAY(&out->mem, int32_t, total);
  if (!out->items) return YW_ERR_MEMORY;
  memcpy(cursor, out->start, (size_t)out->count * sizeof *cursor);
  memset(r->seen, 0, (size_t)out->count * sizeof *r->seen);
  for (int32_t i = 0; i < out->count; ++i) {
    int32_t count = collect(r, i);
    for (int32_t k = 1; k <= count; ++k) out->items[cursor[r->reached[k]]++] = i;
  }
  return YW_OK;
}

yw_status yw_reach_adjacency(const yw_allocator* mem, const yw_elements* elements, int32_t steps,
                             yw_adjacency* out) {
  *out = (yw_adjacency){0};
  int32_t n = elements->num_vertices;
  for (size_t i = 0; i < (size_t)elements->num_elements * (size_t)elements->corners; ++i) {
    if (elements->items[i] < 0 || elements->items[i] >= n) return YW_ERR_INVALID;
  }
  yw_adjacency rows = {.mem = yw_mem_or_default(mem), .count = n};
  reach r = {.elements = elements, .steps = steps};
  rows.start = YW_NEW_ARRAY(&rows.mem, int32_t, (size_t)n + 1);
  r.seen = YW_NEW_ARRAY(&rows.mem, int32_t, n);
  r.reached = YW_NEW_ARRAY(&rows.mem, int32_t, (size_t)n + 1);
  int32_t* cursor = YW_NEW_ARRAY(&rows.mem, int32_t, n);
  yw_status status = YW_ERR_MEMORY;
  if (rows.start && r.seen && r.reached && cursor && list_around(&rows.mem, &r)) {
    status = fill(&r, cursor, &rows);
  }
  void* const arrays[] = {r.start, r.around, r.seen, r.reached, cursor};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) yw_mem_free(&rows.mem, arrays[i]);
  if (status == YW_OK) {
    *out = rows;
  } else {
    yw_adjacency_free(&rows);
  }
  return status;
}
