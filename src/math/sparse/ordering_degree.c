// SPDX-License-Identifier: MIT
// Approximate minimum degree. Amestoy, Davis, Duff, An approximate minimum degree ordering
// algorithm, SIAM J. Matrix Anal. Appl. 17, 1996.
//
// The remaining graph is kept as a quotient graph: an eliminated vertex becomes an *element*, which
// represents the clique of its neighbours. A variable's list holds elements first, then directly
// linked variables. Variables with equal lists are merged and carry a weight; elements whose clique
// lies within another are absorbed.
#include <math.h>
#include <string.h>

#include "math/sparse/ordering.h"
#include "yawara/extend/memory.h"

// Vertices with more than this many times sqrt(count) neighbours are put last.
#define DENSE_FACTOR 10.0

typedef struct quotient {
  int32_t count, live;  // live: weight not yet eliminated
  int32_t* lists;       // all lists
  int32_t capacity, used;
  int32_t* start;     // of a variable's or element's list
  int32_t* length;    // of the list
  int32_t* elements;  // leading elements in a variable's list; -1 for an element
  int32_t* weight;    // of a variable: vertices merged into it, 0 if merged or eliminated
  int32_t* degree;    // of a variable: bound on the weight it is linked to; of an element: size
  int32_t* head;      // variables by degree
  int32_t* next;
  int32_t* previous;
  int32_t* hash_head;  // variables by hash of their lists
  int32_t* mark;       // of elements: stamp + size outside the pivot's clique
  int32_t stamp, max_clique;
  int32_t* seen;  // seen_stamp for members of the list being compared
  int32_t seen_stamp;
  int32_t min_degree;
  int32_t* merged_next;  // linked list of the vertices merged into a variable
  int32_t* merged_last;
} quotient;

static void link_degree(quotient* q, int32_t i) {
  int32_t d = q->degree[i];
  q->next[i] = q->head[d];
  q->previous[i] = -1;
  if (q->head[d] >= 0) q->previous[q->head[d]] = i;
  q->head[d] = i;
  if (d < q->min_degree) q->min_degree = d;
}

static void unlink_degree(quotient* q, int32_t i) {
  if (q->previous[i] >= 0) {
    q->next[q->previous[i]] = q->next[i];
  } else {
    q->head[q->degree[i]] = q->next[i];
  }
  if (q->next[i] >= 0) q->previous[q->next[i]] = q->previous[i];
}

// j is eliminated together with i, right after it.
static void merge_into(quotient* q, int32_t i, int32_t j) {
  q->merged_next[q->merged_last[i]] = j;
  q->merged_last[i] = q->merged_last[j];
  q->weight[j] = 0;
}

// Moves all live lists to the front. A list is identified by its owner's number, stored as a
// negative number in its first entry.
static void compact_lists(quotient* q) {
  for (int32_t i = 0; i < q->count; ++i) {
    if (q->length[i] <= 0) continue;
    int32_t first = q->lists[q->start[i]];
    q->lists[q->start[i]] = -i - 1;
    q->start[i] = first;  // kept here until the list has moved
  }
  int32_t to = 0;
  for (int32_t from = 0; from < q->used;) {
    int32_t owner = -q->lists[from] - 1;
    if (owner < 0) {
      ++from;
      continue;
    }
    q->lists[to] = q->start[owner];
    q->start[owner] = to++;
    ++from;
    for (int32_t k = 1; k < q->length[owner]; ++k) q->lists[to++] = q->lists[from++];
  }
  q->used = to;
}

// Adds variable j to the new clique at the end of the lists.
static void take_member(quotient* q, int32_t j, int32_t* size) {
  if (q->weight[j] <= 0) return;
  *size += q->weight[j];
  q->weight[j] = -q->weight[j];  // negative while in the pivot's clique
  unlink_degree(q, j);
  q->lists[q->used++] = j;
}

// Turns variable p into an element: its clique is everything it is linked to, directly or through
// elements.
static void make_element(quotient* q, int32_t p) {
  int32_t need = q->length[p] - q->elements[p];
  for (int32_t k = 0; k < q->elements[p]; ++k) need += q->length[q->lists[q->start[p] + k]];
  if (need > q->capacity - q->used) compact_lists(q);

  int32_t begin = q->used, size = 0;
  for (int32_t k = 0; k < q->length[p]; ++k) {
    int32_t item = q->lists[q->start[p] + k];
    if (k >= q->elements[p]) {
      take_member(q, item, &size);
      continue;
    }
    for (int32_t m = 0; m < q->length[item]; ++m) {
      take_member(q, q->lists[q->start[item] + m], &size);
    }
    q->length[item] = 0;  // absorbed
    q->mark[item] = 0;
  }
  q->start[p] = begin;
  q->length[p] = q->used - begin;
  q->elements[p] = -1;
  q->degree[p] = size;
}

static void renew_stamp(quotient* q) {
  if (q->stamp < INT32_MAX / 2 - q->count) return;
  for (int32_t e = 0; e < q->count; ++e) q->mark[e] = q->mark[e] != 0;
  q->stamp = 2;
}

// mark[e] - stamp becomes the weight of e's clique outside the clique of p.
static void measure_overlaps(quotient* q, int32_t p) {
  for (int32_t m = 0; m < q->length[p]; ++m) {
    int32_t i = q->lists[q->start[p] + m], weight = -q->weight[i];
    for (int32_t k = 0; k < q->elements[i]; ++k) {
      int32_t e = q->lists[q->start[i] + k];
      if (q->mark[e] == 0) continue;
      if (q->mark[e] < q->stamp) q->mark[e] = q->stamp + q->degree[e];
      q->mark[e] -= weight;
    }
  }
}

// Shortens the lists of variable i of p's clique, adds p to its elements, and returns its degree
// outside the clique and a hash of the list.
static int32_t trim_lists(quotient* q, int32_t p, int32_t i, uint32_t* hash) {
  int32_t begin = q->start[i], to = begin, outside = 0;
  int32_t elements_end = begin + q->elements[i], end = begin + q->length[i];
  uint32_t sum = (uint32_t)p;
  for (int32_t k = begin; k < elements_end; ++k) {
    int32_t e = q->lists[k];
    if (q->mark[e] == 0) continue;
    int32_t left = q->mark[e] - q->stamp;
    if (left == 0) {
      // All of e lies within p's clique.
      q->mark[e] = 0;
      q->length[e] = 0;
      continue;
    }
    outside += left;
    sum += (uint32_t)e;
    q->lists[to++] = e;
  }
  int32_t variables = to;
  for (int32_t k = elements_end; k < end; ++k) {
    int32_t j = q->lists[k];
    if (q->weight[j] <= 0) continue;  // merged, eliminated, or in the clique
    outside += q->weight[j];
    sum += (uint32_t)j;
    q->lists[to++] = j;
  }
  // There is room for p: this list contained p or an element that p absorbed.
  q->lists[to] = q->lists[variables];
  q->lists[variables] = p;
  q->elements[i] = variables - begin + 1;
  q->length[i] = to - begin + 1;
  *hash = sum % (uint32_t)q->count;
  return outside;
}

// Updates the variables of p's clique; those linked to nothing else are eliminated together with p.
static void update_clique(quotient* q, int32_t p) {
  for (int32_t m = 0; m < q->length[p]; ++m) {
    int32_t i = q->lists[q->start[p] + m];
    uint32_t hash;
    int32_t outside = trim_lists(q, p, i, &hash);
    if (outside == 0) {
      q->degree[p] += q->weight[i];  // a negative weight
      q->live += q->weight[i];
      q->length[i] = 0;
      merge_into(q, p, i);
      continue;
    }
    if (outside < q->degree[i]) q->degree[i] = outside;
    q->previous[i] = (int32_t)hash;
    q->next[i] = q->hash_head[hash];
    q->hash_head[hash] = i;
  }
}

static bool same_lists(const quotient* q, int32_t i, int32_t j) {
  if (q->length[i] != q->length[j] || q->elements[i] != q->elements[j]) return false;
  for (int32_t k = 0; k < q->length[j]; ++k) {
    if (q->seen[q->lists[q->start[j] + k]] != q->seen_stamp) return false;
  }
  return true;
}

// Merges indistinguishable variables of one hash bucket.
static void merge_equal(quotient* q, int32_t bucket) {
  int32_t i = q->hash_head[bucket];
  q->hash_head[bucket] = -1;
  for (; i >= 0 && q->next[i] >= 0; i = q->next[i]) {
    ++q->seen_stamp;
    for (int32_t k = 0; k < q->length[i]; ++k) q->seen[q->lists[q->start[i] + k]] = q->seen_stamp;
    int32_t before = i;
    for (int32_t j = q->next[i]; j >= 0; j = q->next[j]) {
      if (!same_lists(q, i, j)) {
        before = j;
        continue;
      }
      q->weight[i] += q->weight[j];
      q->length[j] = 0;
      merge_into(q, i, j);
      q->next[before] = q->next[j];
    }
  }
}

// Removes merged variables from the clique of p and puts the rest back into the degree lists.
static void settle_clique(quotient* q, int32_t p) {
  int32_t to = q->start[p];
  for (int32_t m = 0; m < q->length[p]; ++m) {
    int32_t i = q->lists[q->start[p] + m];
    if (q->weight[i] == 0) continue;
    int32_t weight = -q->weight[i];
    q->weight[i] = weight;
    int32_t degree = q->degree[i] + q->degree[p] - weight;
    if (degree > q->live - weight) degree = q->live - weight;
    q->degree[i] = degree;
    link_degree(q, i);
    q->lists[to++] = i;
  }
  q->length[p] = to - q->start[p];
  q->used = to;
}

static void eliminate(quotient* q, int32_t p) {
  unlink_degree(q, p);
  q->live -= q->weight[p];
  q->weight[p] = 0;
  make_element(q, p);
  if (q->degree[p] > q->max_clique) q->max_clique = q->degree[p];
  renew_stamp(q);
  measure_overlaps(q, p);
  update_clique(q, p);
  for (int32_t m = 0; m < q->length[p]; ++m) {
    int32_t i = q->lists[q->start[p] + m];
    if (q->weight[i] != 0) merge_equal(q, q->previous[i]);
  }
  settle_clique(q, p);
  q->mark[p] = 1;
  q->stamp += q->max_clique + 1;
}

// Entry point -------------------------------------------------------------------------------------

static void fill_lists(quotient* q, const yw_graph* graph, int32_t most) {
  for (int32_t i = 0; i < q->count; ++i) {
    q->weight[i] = graph->start[i + 1] - graph->start[i] <= most;
    q->mark[i] = 1;
    q->head[i] = q->hash_head[i] = q->merged_next[i] = -1;
    q->merged_last[i] = i;
  }
  for (int32_t i = 0; i < q->count; ++i) {
    q->start[i] = q->used;
    if (q->weight[i] == 0) continue;
    ++q->live;
    for (int32_t e = graph->start[i]; e < graph->start[i + 1]; ++e) {
      int32_t j = graph->items[e];
      if (j != i && q->weight[j] > 0) q->lists[q->used++] = j;
    }
    q->length[i] = q->degree[i] = q->used - q->start[i];
  }
  // From the end, so that equal degrees are eliminated in ascending order.
  q->min_degree = q->count;
  for (int32_t i = q->count - 1; i >= 0; --i) {
    if (q->weight[i] > 0) link_degree(q, i);
  }
}

static void order_all(quotient* q, const yw_graph* graph, int32_t* order) {
  double dense = fmax(16.0, fmin(DENSE_FACTOR * sqrt((double)q->count), (double)q->count));
  int32_t filled = 0, most = (int32_t)dense;
  fill_lists(q, graph, most);
  while (q->live > 0) {
    while (q->head[q->min_degree] < 0) ++q->min_degree;
    int32_t p = q->head[q->min_degree];
    eliminate(q, p);
    for (int32_t i = p; i >= 0; i = q->merged_next[i]) order[filled++] = i;
  }
  for (int32_t i = 0; i < q->count; ++i) {
    if (graph->start[i + 1] - graph->start[i] > most) order[filled++] = i;
  }
}

static bool allocate(const yw_allocator* mem, quotient* q, const yw_graph* graph) {
  int32_t** arrays[] = {&q->start, &q->length,      &q->elements,   &q->weight,    &q->degree,
                        &q->head,  &q->next,        &q->previous,   &q->hash_head, &q->mark,
                        &q->seen,  &q->merged_next, &q->merged_last};
  bool done = true;
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) {
    *arrays[k] = YW_NEW_ARRAY(mem, int32_t, (size_t)q->count + 1);
    done = done && *arrays[k];
  }
  // A new clique is written before those it absorbs are removed.
  int64_t room = 2 * (int64_t)graph->start[q->count] + q->count;
  if (room > INT32_MAX) return false;
  q->capacity = (int32_t)room;
  q->lists = YW_NEW_ARRAY(mem, int32_t, room);
  return done && q->lists;
}

static void release(const yw_allocator* mem, quotient* q) {
  int32_t* arrays[] = {q->start, q->length,      q->elements,    q->weight,    q->degree,
                       q->head,  q->next,        q->previous,    q->hash_head, q->mark,
                       q->seen,  q->merged_next, q->merged_last, q->lists};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) yw_mem_free(mem, arrays[k]);
}

yw_status yw_order_by_degree(const yw_allocator* mem, const yw_graph* graph, int32_t* order) {
  quotient q = {.count = graph->count, .stamp = 2};
  yw_status status = YW_OK;
  if (allocate(mem, &q, graph)) {
    order_all(&q, graph, order);
  } else {
    status = YW_ERR_MEMORY;
  }
  release(mem, &q);
  return status;
}
