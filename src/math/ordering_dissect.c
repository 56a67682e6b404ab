// SPDX-License-Identifier: MIT
// Nested dissection with coordinates. George, Nested dissection of a regular finite element mesh,
// 1973. A part is cut across the axis, and at the place, that give the smallest separator; of all
// sets of vertices that cover the cut edges the smallest is taken (Koenig's theorem: a maximum
// matching of the cut edges gives it). The two halves come first, the separator last.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/ordering.h"

// Parts of at most this many vertices are ordered by degree.
#define LEAF 96
// A cut leaves at least this share of the part on either side.
#define MIN_SHARE 0.3
#define DIRECTIONS 3

typedef struct dissection {
  const yw_allocator* mem;
  const yw_graph* graph;
  const yw_vec3* points;
  int32_t* part;     // vertices of all parts; a part is a run of it
  int32_t* part_of;  // number of the part a vertex belongs to, -1 once it is in a separator
  int32_t* rank;     // of a vertex along the axis
  int32_t* sorted;   // vertices along the axis
  int32_t* best;     // sorted, of the best axis so far
  int32_t* change;   // difference counts
  float* key;
  int32_t* scratch;  // 4 * count + 1
  int32_t next_part;
  bool out_of_memory;
} dissection;

// Sorting along an axis
// ----------------------------------------------------------------------------

// Ascending by key, equal keys by number: merge sort, runs of growing length.
static void sort_along(const float* key, int32_t* items, int32_t* spare, int32_t count) {
  int32_t *from = items, *to = spare;
  for (int32_t run = 1; run < count; run *= 2) {
    for (int32_t begin = 0; begin < count; begin += 2 * run) {
      int32_t middle = count - begin < run ? count : begin + run;
      int32_t end = count - begin < 2 * run ? count : begin + 2 * run;
      int32_t a = begin, b = middle;
      for (int32_t k = begin; k < end; ++k) {
        bool take_a = a < middle && (b >= end || key[from[a]] <= key[from[b]]);
        to[k] = take_a ? from[a++] : from[b++];
      }
    }
    int32_t* swap = from;
    from = to;
    to = swap;
  }
  if (from != items) memcpy(items, from, (size_t)count * sizeof *items);
}

static float along(const yw_vec3* p, int axis) {
  return axis == 0 ? p->x : axis == 1 ? p->y : p->z;
}

typedef struct cut {
  int32_t place;  // vertices before it
  double cost;
} cut;

// The best cut of d->sorted: for every place, the vertices before it that have a neighbour behind
// it, and those behind it that have one before, are counted by differences.
static cut find_cut(dissection* d, int32_t part, int32_t count) {
  int32_t* before = d->change;
  int32_t* behind = d->change + count + 1;
  memset(d->change, 0, 2 * ((size_t)count + 1) * sizeof *d->change);
  for (int32_t k = 0; k < count; ++k) d->rank[d->sorted[k]] = k;
  for (int32_t k = 0; k < count; ++k) {
    int32_t v = d->sorted[k], low = k, high = k;
    for (int32_t e = d->graph->start[v]; e < d->graph->start[v + 1]; ++e) {
      int32_t u = d->graph->items[e];
      if (d->part_of[u] != part) continue;
      if (d->rank[u] < low) low = d->rank[u];
      if (d->rank[u] > high) high = d->rank[u];
    }
    ++before[k + 1];  // before places k + 1 .. high
    --before[high + 1];
    ++behind[low + 1];  // behind places low + 1 .. k
    --behind[k + 1];
  }
  cut found = {count / 2, INFINITY};
  int32_t first = (int32_t)(MIN_SHARE * count), last = count - first;
  int32_t num_before = 0, num_behind = 0;
  for (int32_t place = 1; place <= last; ++place) {
    num_before += before[place];
    num_behind += behind[place];
    if (place < first) continue;
    int32_t least = num_before < num_behind ? num_before : num_behind;
    // Unequal halves cost work; the weight was tuned on tet meshes of 10k to 100k vertices.
    double tilt = fabs((double)(2 * place - count)) / (double)count;
    double cost = ((double)least + 0.5) * (1.0 + 1.5 * tilt * tilt);
    if (cost < found.cost) found = (cut){place, cost};
  }
  return found;
}

// Separator
// ----------------------------------------------------------------------------------------

// Cut edges as a graph from vertices before the cut to those behind; matching[v] is v's partner.
typedef struct crossing {
  dissection* d;
  int32_t part, place;
  int32_t* matching;
  int32_t* visited;
  int32_t stamp;
} crossing;

static bool crosses(const crossing* x, int32_t u) {
  return x->d->part_of[u] == x->part && x->d->rank[u] >= x->place;
}

// Kuhn's search for a path that makes the matching larger, without recursion: the path is a stack
// of vertices before the cut, with the edge each of them is trying.
static bool augment(crossing* x, int32_t v, int32_t* stack, int32_t* edge) {
  const yw_graph* g = x->d->graph;
  int32_t top = 0;
  stack[0] = v;
  edge[0] = g->start[v];
  while (top >= 0) {
    int32_t w = stack[top], e = edge[top];
    if (e == g->start[w + 1]) {
      if (--top >= 0) ++edge[top];
      continue;
    }
    int32_t u = g->items[e];
    if (!crosses(x, u) || x->visited[u] == x->stamp) {
      ++edge[top];
      continue;
    }
    x->visited[u] = x->stamp;
    if (x->matching[u] < 0) {
      for (int32_t k = top; k >= 0; --k) {
        int32_t behind = g->items[edge[k]];
        x->matching[behind] = stack[k];
        x->matching[stack[k]] = behind;
      }
      return true;
    }
    ++top;
    stack[top] = x->matching[u];
    edge[top] = g->start[stack[top]];
  }
  return false;
}

// Marks what alternating paths from the free vertices before the cut reach.
static void reach(crossing* x, int32_t v, int32_t* stack, int32_t* reached) {
  const yw_graph* g = x->d->graph;
  int32_t top = 0;
  stack[top++] = v;
  reached[v] = 1;
  while (top > 0) {
    int32_t w = stack[--top];
    for (int32_t e = g->start[w]; e < g->start[w + 1]; ++e) {
      int32_t u = g->items[e];
      if (!crosses(x, u) || reached[u]) continue;
      reached[u] = 1;
      int32_t partner = x->matching[u];
      if (partner < 0 || reached[partner]) continue;
      reached[partner] = 1;
      stack[top++] = partner;
    }
  }
}

static bool has_crossing_edge(const crossing* x, int32_t v) {
  for (int32_t e = x->d->graph->start[v]; e < x->d->graph->start[v + 1]; ++e) {
    if (crosses(x, x->d->graph->items[e])) return true;
  }
  return false;
}

// Greedy start, then augmenting paths.
static void match_crossing(crossing* x, const int32_t* items, int32_t* stack, int32_t* edge) {
  const yw_graph* g = x->d->graph;
  for (int32_t k = 0; k < x->place; ++k) {
    int32_t v = items[k];
    for (int32_t e = g->start[v]; e < g->start[v + 1] && x->matching[v] < 0; ++e) {
      int32_t u = g->items[e];
      if (!crosses(x, u) || x->matching[u] >= 0) continue;
      x->matching[v] = u;
      x->matching[u] = v;
    }
  }
  // A search that fails has visited what no later search can use: its marks stay until one
  // succeeds.
  ++x->stamp;
  for (int32_t k = 0; k < x->place; ++k) {
    int32_t v = items[k];
    if (x->matching[v] >= 0 || !has_crossing_edge(x, v)) continue;
    if (augment(x, v, stack, edge)) ++x->stamp;
  }
}

// Puts the smallest separator of the cut at the end of items: first what is before the cut and not
// in it, then what is behind. Returns their numbers.
static void take_separator(dissection* d, int32_t part, int32_t place, int32_t* items,
                           int32_t count, int32_t* num_before, int32_t* num_behind) {
  int32_t n = d->graph->count;
  crossing x = {d, part, place, d->scratch, d->scratch + n, 0};
  int32_t* stack = d->scratch + 2 * n;
  int32_t* reached = d->scratch + 3 * n;
  for (int32_t k = 0; k < count; ++k) {
    x.matching[items[k]] = -1;
    x.visited[items[k]] = reached[items[k]] = 0;
  }
  match_crossing(&x, items, stack, reached);
  for (int32_t k = 0; k < count; ++k) reached[items[k]] = 0;
  for (int32_t k = 0; k < place; ++k) {
    int32_t v = items[k];
    if (x.matching[v] < 0 && !reached[v] && has_crossing_edge(&x, v)) reach(&x, v, stack, reached);
  }
  // Koenig: matched vertices before the cut that were not reached, and behind it that were.
  int32_t before = 0, behind = 0, separator = 0;
  for (int32_t k = 0; k < count; ++k) {
    int32_t v = items[k];
    bool first = k < place;
    if (x.matching[v] >= 0 && (first ? !reached[v] : reached[v])) {
      stack[count - ++separator] = v;
    } else if (first) {
      items[before++] = v;
    } else {
      stack[behind++] = v;
    }
  }
  memcpy(items + before, stack, (size_t)behind * sizeof *items);
  for (int32_t k = 0; k < separator; ++k) items[before + behind + k] = stack[count - 1 - k];
  *num_before = before;
  *num_behind = behind;
}

// Parts
// --------------------------------------------------------------------------------------------

// Orders a small part by degree, within itself.
static void order_leaf(dissection* d, int32_t part, int32_t* items, int32_t count) {
  int32_t total = 0;
  for (int32_t k = 0; k < count; ++k) {
    d->rank[items[k]] = k;
    total += d->graph->start[items[k] + 1] - d->graph->start[items[k]];
  }
  int32_t* start = YW_NEW_ARRAY(d->mem, int32_t, (size_t)count + 1);
  int32_t* links = YW_NEW_ARRAY(d->mem, int32_t, total);
  int32_t* order = YW_NEW_ARRAY(d->mem, int32_t, count);
  if (start && links && order) {
    for (int32_t k = 0, filled = 0; k < count; ++k) {
      for (int32_t e = d->graph->start[items[k]]; e < d->graph->start[items[k] + 1]; ++e) {
        int32_t u = d->graph->items[e];
        if (d->part_of[u] == part) links[filled++] = d->rank[u];
      }
      start[k + 1] = filled;
    }
    const yw_graph local = {count, start, links};
    if (yw_order_by_degree(d->mem, &local, order) != YW_OK) d->out_of_memory = true;
    for (int32_t k = 0; k < count; ++k) order[k] = items[order[k]];
    memcpy(items, order, (size_t)count * sizeof *items);
  } else {
    d->out_of_memory = true;
  }
  yw_mem_free(d->mem, start);
  yw_mem_free(d->mem, links);
  yw_mem_free(d->mem, order);
}

// Depth is at most log(count) / -log(1 - MIN_SHARE).
static void dissect(dissection* d, int32_t part, int32_t* items, int32_t count) {
  if (count <= LEAF || d->out_of_memory) {
    if (!d->out_of_memory) order_leaf(d, part, items, count);
    return;
  }
  cut best = {0, INFINITY};
  for (int axis = 0; axis < DIRECTIONS; ++axis) {
    for (int32_t k = 0; k < count; ++k) d->key[items[k]] = along(&d->points[items[k]], axis);
    memcpy(d->sorted, items, (size_t)count * sizeof *items);
    sort_along(d->key, d->sorted, d->scratch, count);
    cut here = find_cut(d, part, count);
    if (here.cost >= best.cost) continue;
    best = here;
    memcpy(d->best, d->sorted, (size_t)count * sizeof *items);
  }
  memcpy(items, d->best, (size_t)count * sizeof *items);
  for (int32_t k = 0; k < count; ++k) d->rank[items[k]] = k;

  int32_t before, behind;
  take_separator(d, part, best.place, items, count, &before, &behind);
  int32_t first = ++d->next_part, second = ++d->next_part;
  for (int32_t k = 0; k < count; ++k) {
    d->part_of[items[k]] = k < before ? first : k < before + behind ? second : -1;
  }
  dissect(d, first, items, before);
  dissect(d, second, items + before, behind);
}

yw_status yw_order_by_dissection(const yw_allocator* mem, const yw_graph* graph,
                                 const yw_vec3* points, int32_t* order) {
  size_t n = (size_t)graph->count;
  for (size_t i = 0; i < n; ++i) {
    if (!isfinite(points[i].x) || !isfinite(points[i].y) || !isfinite(points[i].z)) {
      return YW_ERR_INVALID;
    }
  }
  dissection d = {.mem = mem,
                  .graph = graph,
                  .points = points,
                  .part_of = YW_NEW_ARRAY(mem, int32_t, n),
                  .rank = YW_NEW_ARRAY(mem, int32_t, n),
                  .sorted = YW_NEW_ARRAY(mem, int32_t, n),
                  .best = YW_NEW_ARRAY(mem, int32_t, n),
                  .change = YW_NEW_ARRAY(mem, int32_t, 2 * n + 2),
                  .key = YW_NEW_ARRAY(mem, float, n),
                  .scratch = YW_NEW_ARRAY(mem, int32_t, 4 * n + 1)};
  if (d.part_of && d.rank && d.sorted && d.best && d.change && d.key && d.scratch) {
    for (int32_t i = 0; i < graph->count; ++i) order[i] = i;
    dissect(&d, 0, order, graph->count);
  } else {
    d.out_of_memory = true;
  }
  yw_mem_free(mem, d.part_of);
  yw_mem_free(mem, d.rank);
  yw_mem_free(mem, d.sorted);
  yw_mem_free(mem, d.best);
  yw_mem_free(mem, d.change);
  yw_mem_free(mem, d.key);
  yw_mem_free(mem, d.scratch);
  return d.out_of_memory ? YW_ERR_MEMORY : YW_OK;
}
