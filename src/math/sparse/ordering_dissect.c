// SPDX-License-Identifier: MIT
// Nested dissection with coordinates. George, Nested dissection of a regular finite element mesh,
// 1973. A part is cut in the direction and at the position that give the smallest separator. Of all
// vertex sets that cover the cut edges the smallest is taken; Koenig's theorem derives it from a
// maximum matching of the cut edges. The two halves come first, the separator last.
#include <math.h>
#include <string.h>

#include "math/small/dense.h"
#include "math/sparse/ordering.h"
#include "yawara/extend/memory.h"

// Parts of at most this many vertices are ordered by degree.
#define LEAF_VERTICES 96
// A cut leaves at least this fraction of the part on either side.
#define MIN_SHARE 0.3
#define MAX_BINS 2048
// Vertices per block of work.
#define REACH_BLOCK 1024

// Normals of the cuts that are tried: axes, face and space diagonals, then the principal axes of
// the points. Diagonals matter: in the body-centred and face-centred lattices of tet meshes, one
// diagonal layer separates where two axis-parallel ones are needed. With them a 36k-vertex lattice
// takes 2.6 Gflop, with the axes alone 7.6, with METIS 4.4.
#define DIRECTIONS 16
#define FIXED_DIRECTIONS 13
static const float fixed_directions[FIXED_DIRECTIONS][3] = {
    {1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 0},  {1, -1, 0}, {1, 0, 1}, {1, 0, -1},
    {0, 1, 1}, {0, 1, -1}, {1, 1, 1}, {1, 1, -1}, {1, -1, 1}, {-1, 1, 1}};

// Coordinates of a point along all directions.
typedef struct place16 {
  _Alignas(64) float along[DIRECTIONS];
} place16;

// A candidate cut: across direction `way`, before bin `bin`.
typedef struct cut {
  int way;
  int32_t bin;
  float origin, scale;
  double cost;
} cut;

static int32_t bin_of(const cut* c, float x) { return (int32_t)((x - c->origin) * c->scale); }

typedef struct dissection {
  const yw_allocator* mem;
  yw_tasks* tasks;
  const yw_graph* graph;
  place16* places;
  place16* least;  // over a vertex and its neighbours in the part
  place16* most;
  int32_t* part_of;  // the part a vertex belongs to; -1 once it is in a separator
  int32_t* rank;     // index in its part; during a cut, 0 before and 1 behind it
  int32_t* bins;     // 3 * (MAX_BINS + 1) per direction
  cut cuts[DIRECTIONS];
  int32_t* scratch;  // 4 * count
  int32_t next_part;
  bool out_of_memory;
} dissection;

// Cuts --------------------------------------------------------------------------------------------

static void place_points(dissection* d, const yw_vec3* points) {
  int32_t count = d->graph->count;
  double center[3] = {0}, moments[9] = {0}, values[3], axes[9];
  for (int32_t i = 0; i < count; ++i) {
    const double p[3] = {(double)points[i].x, (double)points[i].y, (double)points[i].z};
    for (int c = 0; c < 3; ++c) center[c] += p[c] / count;
  }
  for (int32_t i = 0; i < count; ++i) {
    const double p[3] = {(double)points[i].x - center[0], (double)points[i].y - center[1],
                         (double)points[i].z - center[2]};
    for (int k = 0; k < 9; ++k) moments[k] += p[k / 3] * p[k % 3];
  }
  yw_dense_eigen(3, moments, values, axes);
  float normals[DIRECTIONS][3];
  memcpy(normals, fixed_directions, sizeof fixed_directions);
  for (int k = 0; k < 9; ++k) normals[FIXED_DIRECTIONS + k / 3][k % 3] = (float)axes[k];
  for (int32_t i = 0; i < count; ++i) {
    for (int way = 0; way < DIRECTIONS; ++way) {
      const float* n = normals[way];
      d->places[i].along[way] = n[0] * points[i].x + n[1] * points[i].y + n[2] * points[i].z;
    }
  }
}

static void widen(place16* low, place16* high, const place16* with) {
  for (int way = 0; way < DIRECTIONS; ++way) {
    float x = with->along[way];
    low->along[way] = x < low->along[way] ? x : low->along[way];
    high->along[way] = x > high->along[way] ? x : high->along[way];
  }
}

// The part being cut, for the threads that search for cuts.
typedef struct part_view {
  dissection* d;
  int32_t part, count, num_bins;
  const int32_t* items;
  const place16 *low, *high;  // of the part
} part_view;

// Extent of the neighbours of each vertex of the part.
static void find_reach(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const part_view* view = context;
  dissection* d = view->d;
  int32_t begin = block * REACH_BLOCK;
  int32_t end = view->count - begin < REACH_BLOCK ? view->count : begin + REACH_BLOCK;
  for (int32_t k = begin; k < end; ++k) {
    int32_t v = view->items[k];
    place16 least = d->places[v], most = least;
    for (int32_t e = d->graph->start[v]; e < d->graph->start[v + 1]; ++e) {
      int32_t u = d->graph->items[e];
      if (d->part_of[u] == view->part) widen(&least, &most, &d->places[u]);
    }
    d->least[v] = least;
    d->most[v] = most;
  }
}

// The best cut across one direction. Bins replace sorting: for every border between bins, the
// vertices before it with a neighbour behind it, and vice versa, are counted by differences.
static void count_borders(const part_view* view, const cut* here, int32_t* filled, int32_t* before,
                          int32_t* behind) {
  const dissection* d = view->d;
  memset(filled, 0, 3 * ((size_t)view->num_bins + 1) * sizeof *filled);
  for (int32_t k = 0; k < view->count; ++k) {
    int32_t v = view->items[k];
    int32_t at = bin_of(here, d->places[v].along[here->way]);
    ++filled[at + 1];
    ++before[at + 1];  // before borders at + 1 .. the bin of its last neighbour
    --before[bin_of(here, d->most[v].along[here->way]) + 1];
    ++behind[bin_of(here, d->least[v].along[here->way]) + 1];
    --behind[at + 1];
  }
}

static void try_direction(void* context, int32_t way, int32_t worker) {
  (void)worker;
  const part_view* view = context;
  cut* best = &view->d->cuts[way];
  *best = (cut){.cost = INFINITY};
  float extent = view->high->along[way] - view->low->along[way];
  if (!(extent > 0.0f) || !isfinite(extent)) return;
  // Keep the last point inside the last bin.
  cut here = {.way = way,
              .origin = view->low->along[way],
              .scale = 0.9999f * (float)view->num_bins / extent};
  if (!isfinite(here.scale)) return;

  int32_t* filled = view->d->bins + (size_t)way * 3 * (MAX_BINS + 1);
  int32_t* before = filled + view->num_bins + 1;
  int32_t* behind = before + view->num_bins + 1;
  count_borders(view, &here, filled, before, behind);
  int32_t count = view->count, first = (int32_t)(MIN_SHARE * count);
  int32_t place = 0, num_before = 0, num_behind = 0;
  for (int32_t bin = 1; bin < view->num_bins; ++bin) {
    place += filled[bin];
    num_before += before[bin];
    num_behind += behind[bin];
    if (place < first || place > count - first || place == 0 || place == count) continue;
    int32_t least = num_before < num_behind ? num_before : num_behind;
    // Unequal halves cost work: an 80:20 split counts as a separator larger by half.
    double tilt = fabs((double)(2 * place - count)) / (double)count;
    here.cost = ((double)least + 0.5) * (1.0 + 1.5 * tilt * tilt);
    here.bin = bin;
    if (here.cost < best->cost) *best = here;
  }
}

// Sets rank to the side of the best cut. False if there is none: all points coincide.
static bool choose_cut(dissection* d, int32_t part, const int32_t* items, int32_t count) {
  place16 low = d->places[items[0]], high = low;
  for (int32_t k = 0; k < count; ++k) widen(&low, &high, &d->places[items[k]]);
  int32_t num_bins = count / 2 < MAX_BINS ? count / 2 : MAX_BINS;
  part_view view = {d, part, count, num_bins, items, &low, &high};
  yw_tasks* tasks = count > REACH_BLOCK ? d->tasks : NULL;
  yw_tasks_run(tasks, (count + REACH_BLOCK - 1) / REACH_BLOCK, find_reach, &view);
  yw_tasks_run(tasks, DIRECTIONS, try_direction, &view);
  cut best = d->cuts[0];
  for (int way = 1; way < DIRECTIONS; ++way) {
    if (d->cuts[way].cost < best.cost) best = d->cuts[way];
  }
  if (!(best.cost < (double)INFINITY)) return false;
  for (int32_t k = 0; k < count; ++k) {
    d->rank[items[k]] = bin_of(&best, d->places[items[k]].along[best.way]) >= best.bin;
  }
  return true;
}

// Separator ---------------------------------------------------------------------------------------

// Cut edges as a bipartite graph from vertices before the cut to those behind; matching[v] is v's
// partner.
typedef struct crossing {
  dissection* d;
  int32_t part;
  int32_t* matching;
  int32_t* visited;
  int32_t stamp;
} crossing;

static bool crosses(const crossing* x, int32_t u) {
  return x->d->part_of[u] == x->part && x->d->rank[u];
}

// Kuhn's search for an augmenting path, without recursion: the path is a stack of vertices before
// the cut, with the edge each of them is trying.
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

// Marks the vertices reached by alternating paths from the free vertices before the cut.
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
static void match_crossing(crossing* x, const int32_t* items, int32_t count, int32_t* stack,
                           int32_t* edge) {
  const yw_graph* g = x->d->graph;
  for (int32_t k = 0; k < count; ++k) {
    int32_t v = items[k];
    if (x->d->rank[v]) continue;
    for (int32_t e = g->start[v]; e < g->start[v + 1] && x->matching[v] < 0; ++e) {
      int32_t u = g->items[e];
      if (!crosses(x, u) || x->matching[u] >= 0) continue;
      x->matching[v] = u;
      x->matching[u] = v;
    }
  }
  // What a failed search has visited cannot help later ones, so its marks stay until one succeeds.
  ++x->stamp;
  for (int32_t k = 0; k < count; ++k) {
    int32_t v = items[k];
    if (x->d->rank[v] || x->matching[v] >= 0 || !has_crossing_edge(x, v)) continue;
    if (augment(x, v, stack, edge)) ++x->stamp;
  }
}

// Moves the smallest separator of the cut to the end of items, after the vertices before the cut
// and those behind it. Returns their counts.
static void take_separator(dissection* d, int32_t part, int32_t* items, int32_t count,
                           int32_t* num_before, int32_t* num_behind) {
  int32_t n = d->graph->count;
  crossing x = {d, part, d->scratch, d->scratch + n, 0};
  int32_t* stack = d->scratch + 2 * n;
  int32_t* reached = d->scratch + 3 * n;
  for (int32_t k = 0; k < count; ++k) {
    x.matching[items[k]] = -1;
    x.visited[items[k]] = 0;
  }
  match_crossing(&x, items, count, stack, reached);
  for (int32_t k = 0; k < count; ++k) reached[items[k]] = 0;
  for (int32_t k = 0; k < count; ++k) {
    int32_t v = items[k];
    if (d->rank[v] || x.matching[v] >= 0 || reached[v] || !has_crossing_edge(&x, v)) continue;
    reach(&x, v, stack, reached);
  }
  // Koenig: matched vertices that were not reached (before the cut) or reached (behind it).
  int32_t before = 0, behind = 0, separator = 0;
  for (int32_t k = 0; k < count; ++k) {
    int32_t v = items[k];
    if (x.matching[v] >= 0 && (d->rank[v] ? reached[v] : !reached[v])) {
      stack[count - ++separator] = v;
    } else if (d->rank[v]) {
      stack[behind++] = v;
    } else {
      items[before++] = v;
    }
  }
  memcpy(items + before, stack, (size_t)behind * sizeof *items);
  for (int32_t k = 0; k < separator; ++k) items[before + behind + k] = stack[count - 1 - k];
  *num_before = before;
  *num_behind = behind;
}

// Parts -------------------------------------------------------------------------------------------

// Orders a small part by degree, ignoring the rest of the graph.
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
  if (d->out_of_memory) return;
  if (count <= LEAF_VERTICES || !choose_cut(d, part, items, count)) {
    order_leaf(d, part, items, count);
    return;
  }
  int32_t before, behind;
  take_separator(d, part, items, count, &before, &behind);
  int32_t first = ++d->next_part, second = ++d->next_part;
  for (int32_t k = 0; k < count; ++k) {
    d->part_of[items[k]] = k < before ? first : k < before + behind ? second : -1;
  }
  dissect(d, first, items, before);
  dissect(d, second, items + before, behind);
}

yw_status yw_order_by_dissection(const yw_allocator* mem, yw_tasks* tasks, const yw_graph* graph,
                                 const yw_vec3* points, int32_t* order) {
  size_t n = (size_t)graph->count;
  for (size_t i = 0; i < n; ++i) {
    if (!isfinite(points[i].x) || !isfinite(points[i].y) || !isfinite(points[i].z)) {
      return YW_ERR_INVALID;
    }
  }
  dissection d = {.mem = mem,
                  .tasks = tasks,
                  .graph = graph,
                  .places = YW_NEW_ARRAY(mem, place16, n),
                  .least = YW_NEW_ARRAY(mem, place16, n),
                  .most = YW_NEW_ARRAY(mem, place16, n),
                  .part_of = YW_NEW_ARRAY(mem, int32_t, n),
                  .rank = YW_NEW_ARRAY(mem, int32_t, n),
                  .bins = YW_NEW_ARRAY(mem, int32_t, DIRECTIONS * 3 * (MAX_BINS + 1)),
                  .scratch = YW_NEW_ARRAY(mem, int32_t, 4 * n)};
  if (d.places && d.least && d.most && d.part_of && d.rank && d.bins && d.scratch) {
    place_points(&d, points);
    for (int32_t i = 0; i < graph->count; ++i) order[i] = i;
    dissect(&d, 0, order, graph->count);
  } else {
    d.out_of_memory = true;
  }
  yw_mem_free(mem, d.places);
  yw_mem_free(mem, d.least);
  yw_mem_free(mem, d.most);
  yw_mem_free(mem, d.part_of);
  yw_mem_free(mem, d.rank);
  yw_mem_free(mem, d.bins);
  yw_mem_free(mem, d.scratch);
  return d.out_of_memory ? YW_ERR_MEMORY : YW_OK;
}
