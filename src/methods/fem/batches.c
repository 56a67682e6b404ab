// SPDX-License-Identifier: MIT
// Lists the tets of a front for the kernels. The lists depend only on the front, not on its
// history, so a resumed run sums in the same order.
#include "methods/fem/batches.h"

#include <string.h>

#include "methods/fem/element.h"
#include "yawara/extend/memory.h"

// A family with at least this fraction of its children in the front is kept together: a child in a
// family costs about half as much as a single tet.
#define KEEP_TOGETHER 0.5
// Lanes of a batch that may go to one root alone.
#define FULL_ENOUGH 12
#define NOBODY (-2)  // owner of a lane that was never filled; -1 is a lane without a family

// Memory ------------------------------------------------------------------------------------------

static bool allocate_matrices(const yw_allocator* mem, const fem_kind* kind, size_t n, bool shared,
                              bool damped, fem_batches* b) {
  size_t children = (size_t)kind->num_children;
  if (shared) {
    b->factors = YW_NEW_ARRAY(mem, float, n* children);
    b->table_root = YW_NEW_ARRAY(mem, int32_t, n / YW_LANES);
    b->lane_tables = YW_NEW_ARRAY(mem, float, n* FEM_TYPES* FEM_MATRIX);
    b->one_factor = YW_NEW_ARRAY(mem, bool, n / YW_LANES);
    b->rest_scale = YW_NEW_ARRAY(mem, float, n);
    b->mean_scale = YW_NEW_ARRAY(mem, float, n);
    b->share_scale = YW_NEW_ARRAY(mem, float, n);
    return b->factors && b->table_root && b->lane_tables && b->one_factor && b->rest_scale &&
           b->mean_scale && b->share_scale;
  }
  b->matrices = YW_NEW_ARRAY(mem, float, n* children* FEM_MATRIX);
  if (damped) b->dampings = YW_NEW_ARRAY(mem, float, n* children* FEM_MATRIX);
  return b->matrices && (!damped || b->dampings);
}

static bool allocate_kind(const yw_allocator* mem, const fem_kind* kind, int32_t most, bool shared,
                          bool damped, fem_batches* b) {
  size_t n = ((size_t)most + YW_LANES - 1) / YW_LANES * YW_LANES;
  b->capacity = (int32_t)n;
  b->nodes = YW_NEW_ARRAY(mem, int32_t, n * (size_t)kind->num_nodes);
  b->half_squares = YW_NEW_ARRAY(mem, float, n*(size_t)kind->num_edges);
  b->offsets = YW_NEW_ARRAY(mem, float, n*(size_t)kind->num_children * 6);
  b->turn = YW_NEW_ARRAY(mem, float, n);
  b->scale = YW_NEW_ARRAY(mem, float, n);
  b->owner = YW_NEW_ARRAY(mem, int32_t, n);
  b->present = YW_NEW_ARRAY(mem, int32_t, n);
  b->first_slot = YW_NEW_ARRAY(mem, int32_t, n / YW_LANES);
  b->is_new = YW_NEW_ARRAY(mem, bool, n / YW_LANES);
  return b->nodes && b->half_squares && b->offsets && b->turn && b->scale && b->owner &&
         b->present && b->first_slot && b->is_new &&
         allocate_matrices(mem, kind, n, shared, damped, b);
}

// most: softened families.
static bool allocate_means(const yw_allocator* mem, const fem_kind* kind, int32_t most,
                           fem_batches* b) {
  size_t n = b->factors ? most > 0 ? (size_t)b->capacity : 0
                        : ((size_t)most + YW_LANES - 1) / YW_LANES * YW_LANES;
  if (!b->factors) b->shares = YW_NEW_ARRAY(mem, float, n*(size_t)kind->num_children);
  b->mean_matrices = YW_NEW_ARRAY(mem, float, n* FEM_MATRIX);
  return (b->factors || b->shares) && b->mean_matrices;
}

void yw_fem_work_forget(fem_work* work) {
  for (int k = 0; k < FEM_KINDS; ++k) {
    for (int32_t i = 0; i < work->kinds[k].capacity; ++i) work->kinds[k].owner[i] = NOBODY;
  }
}

bool yw_fem_work_create(const yw_allocator* mem, const fem_hierarchy* h, const fem_tables* tables,
                        fem_work* out) {
  *out = (fem_work){.mem = yw_mem_or_default(mem), .h = h, .tables = tables};
  int32_t most[FEM_KINDS] = {0}, most_soft[FEM_KINDS] = {0};
  for (int32_t t = 0; t < h->num_parents; ++t) {
    bool soft = t < tables->softening.num_families, shares = yw_fem_shares(tables, h, t);
    bool soft_shares = soft && yw_fem_soft_shares(tables);
    if (shares || soft_shares) ++most[h->type[t]];
    if (!shares || (soft && !soft_shares)) ++most[FEM_OWN + h->type[t]];
    if (soft) ++most_soft[h->type[t] + (soft_shares ? 0 : FEM_OWN)];
  }
  // Tets of the finest level always form whole families, unless cracks run through these.
  most[FEM_SINGLES] = h->max_level > 0 ? h->num_parents : h->num_roots;
  int32_t finest = h->num_tets - h->level_start[h->max_level];
  if (h->max_nodes > h->num_nodes && most[FEM_SINGLES] < finest) most[FEM_SINGLES] = finest;
  // Nearly full batches may end with their root.
  for (int k = 0; k < FEM_OWN; ++k) most[k] += most[k] / FULL_ENOUGH * (YW_LANES - FULL_ENOUGH);
  bool good = true;
  size_t slots = 0, batches = 0;
  for (int k = 0; k < FEM_KINDS; ++k) {
    const fem_kind* kind = &tables->kinds[k];
    good = good &&
           allocate_kind(mem, kind, most[k], k < FEM_OWN, tables->tet_dampings, &out->kinds[k]) &&
           allocate_means(mem, kind, most_soft[k], &out->kinds[k]);
    slots += (size_t)out->kinds[k].capacity * (size_t)kind->num_nodes;
    batches += (size_t)out->kinds[k].capacity / YW_LANES;
  }
  out->slot_capacity = (int32_t)slots;
  out->slot_start = YW_NEW_ARRAY(mem, int32_t, h->max_nodes + 1);
  out->slots = YW_NEW_ARRAY(mem, int32_t, slots);
  out->place = YW_NEW_ARRAY(mem, int32_t, h->max_nodes);
  out->order = YW_NEW_ARRAY(mem, fem_batch_ref, batches);
  out->nodes = YW_NEW_ARRAY(mem, int32_t, h->max_nodes);
  out->root_start = YW_NEW_ARRAY(mem, int32_t, h->num_roots + 1);
  good = good && out->slot_start && out->slots && out->place && out->order && out->nodes &&
         out->root_start;
  if (good) {
    yw_fem_work_forget(out);
    return true;
  }
  yw_fem_work_free(out);
  return false;
}

void yw_fem_work_free(fem_work* work) {
  const yw_allocator* mem = &work->mem;
  for (int k = 0; k < FEM_KINDS; ++k) {
    fem_batches* b = &work->kinds[k];
    void* const arrays[] = {b->nodes,      b->offsets,       b->half_squares, b->factors,
                            b->table_root, b->matrices,      b->dampings,     b->lane_tables,
                            b->turn,       b->scale,         b->owner,        b->present,
                            b->shares,     b->mean_matrices, b->first_slot,   b->is_new,
                            b->one_factor, b->rest_scale,    b->mean_scale,   b->share_scale};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(mem, arrays[i]);
  }
  yw_mem_free(mem, work->slot_start);
  yw_mem_free(mem, work->slots);
  yw_mem_free(mem, work->place);
  yw_mem_free(mem, work->order);
  yw_mem_free(mem, work->nodes);
  yw_mem_free(mem, work->root_start);
  *work = (fem_work){0};
}

// Building ----------------------------------------------------------------------------------------

static void fill_matrix(const fem_work* work, int32_t tet, bool soft, float* out, float* damping) {
  const fem_hierarchy* h = work->h;
  const fem_tables* t = work->tables;
  if (soft) {
    float scale;
    const float* m = yw_fem_soft_matrix(&t->softening, h, tet, &scale);
    for (int k = 0; k < FEM_MATRIX; ++k) out[k * YW_LANES] = scale * m[k];
  } else if (t->tet_matrices) {
    for (int k = 0; k < FEM_MATRIX; ++k) out[k * YW_LANES] = t->tet_matrices[tet][k];
  } else {
    const float* m = t->root_matrices[h->root[tet]][h->type[tet]];
    float scale = (float)(1 << h->level[tet]);
    for (int k = 0; k < FEM_MATRIX; ++k) out[k * YW_LANES] = scale * m[k];
  }
  for (int k = 0; k < FEM_MATRIX && damping; ++k) {
    damping[k * YW_LANES] = t->tet_dampings[tet][k];
  }
}

static void clear_matrix(float* out, float* damping) {
  for (int k = 0; k < FEM_MATRIX; ++k) out[k * YW_LANES] = 0.0f;
  for (int k = 0; k < FEM_MATRIX && damping; ++k) damping[k * YW_LANES] = 0.0f;
}

typedef struct lane_place {
  fem_batches* b;
  const fem_kind* kind;
  size_t batch, lane;
} lane_place;

static float* lane_matrix(const lane_place* at, int32_t child, float* base) {
  size_t children = (size_t)at->kind->num_children;
  return base ? base + ((at->batch * children + (size_t)child) * FEM_MATRIX) * YW_LANES + at->lane
              : NULL;
}

// Fills the matrix of a child, or its factor of the shared one; zero if it is not present.
static void fill_child(const fem_work* work, const lane_place* at, int32_t c, int32_t tet,
                       bool present, bool soft) {
  if (at->b->factors) {
    const float* finest = work->tables->finest_factors;
    float factor = present ? (float)(1 << work->h->level[tet]) : 0.0f;
    if (present && finest) factor *= finest[tet - work->h->level_start[work->h->max_level]];
    size_t row = at->batch * (size_t)at->kind->num_children + (size_t)c;
    at->b->factors[row * YW_LANES + at->lane] = factor;
    return;
  }
  float* m = lane_matrix(at, c, at->b->matrices);
  float* damping = lane_matrix(at, c, at->b->dampings);
  if (present) {
    fill_matrix(work, tet, soft, m, damping);
  } else {
    clear_matrix(m, damping);
  }
}

static lane_place next_lane(fem_work* work, int k) {
  fem_batches* b = &work->kinds[k];
  size_t i = (size_t)b->count++;
  return (lane_place){b, &work->tables->kinds[k], i / YW_LANES, i % YW_LANES};
}

static void fill_lane(const lane_place* at, int32_t owner, const int32_t* nodes,
                      const float* squares, float squares_scale) {
  fem_batches* b = at->b;
  size_t nn = (size_t)at->kind->num_nodes, ne = (size_t)at->kind->num_edges;
  size_t i = at->batch * YW_LANES + at->lane;
  b->owner[i] = owner;
  for (size_t n = 0; n < nn; ++n) b->nodes[(at->batch * nn + n) * YW_LANES + at->lane] = nodes[n];
  if (b->factors) b->rest_scale[i] = squares_scale;
  for (size_t e = 0; e < ne && !b->factors; ++e) {
    b->half_squares[(at->batch * ne + e) * YW_LANES + at->lane] = squares_scale * squares[e];
  }
}

// 1 / (6 volumes of an A tet of this level), 1/m^3.
static float inverse_volume6(const fem_hierarchy* h, int32_t root, int32_t level) {
  return (float)((double)(1ll << (3 * level)) / (6.0 * h->shapes[root][FEM_A].volume));
}

// Fills the mean-strain term of a softened family, or zeros for other lanes (parent -1).
static void fill_mean(const fem_work* work, const lane_place* at, int32_t parent) {
  const fem_batches* b = at->b;
  size_t i = at->batch * YW_LANES + at->lane;
  if ((int32_t)at->batch >= b->num_soft) return;
  if (b->factors) {
    float scale = parent < 0 ? 0.0f : (float)(1 << (work->h->level[parent] + 1));
    float volume = parent < 0 ? 1.0f : yw_fem_soft_volume(at->kind, b->present[i]);
    b->mean_scale[i] = volume * scale;
    b->share_scale[i] = parent < 0 ? 0.0f : 1.0f / (volume * scale);
    return;
  }
  size_t rows = (size_t)at->kind->num_children;
  float* shares = b->shares + at->batch * rows * YW_LANES + at->lane;
  float* matrix = b->mean_matrices + at->batch * FEM_MATRIX * YW_LANES + at->lane;
  if (parent >= 0) {
    yw_fem_soft_mean(&work->tables->softening, work->h, at->kind, parent, b->present[i], YW_LANES,
                     shares, matrix);
    return;
  }
  for (size_t k = 0; k < rows; ++k) shares[k * YW_LANES] = 0.0f;
  for (size_t k = 0; k < FEM_MATRIX; ++k) matrix[k * YW_LANES] = 0.0f;
}

// True if the lane had the same owner and children in the last list and is up to date. Nothing else
// changes its contents except softening (yw_fem_work_build).
static bool is_as_before(const lane_place* at, int32_t owner, int32_t present) {
  size_t i = at->batch * YW_LANES + at->lane;
  bool same = at->b->owner[i] == owner && at->b->present[i] == present;
  at->b->present[i] = present;
  if (!same) at->b->is_new[at->batch] = true;
  return same;
}

// The other lanes of the last batch repeat the first node, without stiffness.
static void fill_tail(fem_work* work, int k) {
  while (work->kinds[k].count % YW_LANES != 0) {
    lane_place at = next_lane(work, k);
    size_t i = at.batch * YW_LANES + at.lane;
    const int32_t nodes[FEM_FAMILY_NODES] = {0};
    const float squares[FEM_MAX_EDGES] = {0};
    fill_mean(work, &at, -1);
    if (is_as_before(&at, -1, 0)) continue;
    fill_lane(&at, -1, nodes, squares, 0.0f);
    at.b->turn[i] = at.b->scale[i] = 0.0f;
    for (int32_t c = 0; c < at.kind->num_children; ++c) {
      fill_child(work, &at, c, -1, false, false);
    }
  }
}

// A batch of several roots reads several times as much memory: if this one is nearly full and has
// one only, the next root begins a new one.
static void part_roots(fem_work* work, int k, int32_t parent) {
  const fem_batches* b = &work->kinds[k];
  const int32_t used = b->count % YW_LANES, *root = work->h->root;
  if (used < FULL_ENOUGH) return;
  int32_t first = root[b->owner[b->count - used]], last = root[b->owner[b->count - 1]];
  if (first == last && last != root[parent]) fill_tail(work, k);
}

// Nodes of a family. False if its children do not agree on them, because a crack runs between them.
static bool family_nodes(const fem_work* work, int32_t parent, int32_t nodes[FEM_FAMILY_NODES]) {
  const fem_hierarchy* h = work->h;
  memcpy(nodes, h->family[parent], sizeof *h->family);
  if (!work->corners || h->level[parent] + 1 != h->max_level) return true;
  fem_child_rule rules[FEM_FAMILY_CHILDREN];
  int32_t count = yw_fem_child_rules(h->type[parent], rules), known = 0;
  for (int32_t c = 0; c < count; ++c) {
    const int32_t* corner = yw_fem_nodes_of(work, h->first_child[parent] + c);
    for (int s = 0; s < 4; ++s) {
      int local = rules[c].local[s];
      if ((known >> local & 1) && nodes[local] != corner[s]) return false;
      nodes[local] = corner[s];
      known |= 1 << local;
    }
  }
  return true;
}

static void add_family(fem_work* work, int32_t parent, int32_t present, const int32_t* nodes) {
  const fem_hierarchy* h = work->h;
  int32_t type = h->type[parent], level = h->level[parent], first = h->first_child[parent];
  bool soft = work->soften && parent < work->tables->softening.num_families;
  bool shares = soft ? yw_fem_soft_shares(work->tables) : yw_fem_shares(work->tables, h, parent);
  if (shares) part_roots(work, type, parent);
  lane_place at = next_lane(work, type + (shares ? 0 : FEM_OWN));
  size_t i = at.batch * YW_LANES + at.lane;
  bool as_before = is_as_before(&at, parent, present);
  if (soft) at.b->num_soft = (int32_t)at.batch + 1;
  if (!soft || !as_before) fill_mean(work, &at, soft ? parent : -1);
  if (as_before) return;
  float shrink = 1.0f / (float)(1 << (2 * level));
  fill_lane(&at, parent, nodes, work->tables->half_squares[h->root[parent]][type], shrink);
  at.b->turn[i] = (float)h->sign[parent] * inverse_volume6(h, h->root[parent], level + 1);
  at.b->scale[i] = (float)yw_fem_gradient_scale(h, parent);
  for (int32_t c = 0; c < at.kind->num_children; ++c) {
    fill_child(work, &at, c, first + c, present >> c & 1, soft);
  }
}

static void add_single(fem_work* work, int32_t tet) {
  const fem_hierarchy* h = work->h;
  lane_place at = next_lane(work, FEM_SINGLES);
  size_t i = at.batch * YW_LANES + at.lane;
  if (is_as_before(&at, tet, 1)) return;
  float squares[6];
  for (int e = 0; e < 6; ++e) {
    yw_dvec3 d = yw_dsub(h->rest[h->nodes[tet][yw_fem_edges[e][1]]],
                         h->rest[h->nodes[tet][yw_fem_edges[e][0]]]);
    squares[e] = (float)(0.5 * yw_ddot(d, d));
  }
  fill_lane(&at, tet, yw_fem_nodes_of(work, tet), squares, 1.0f);
  float turn = h->type[tet] == FEM_A ? 1.0f : -2.0f;
  at.b->turn[i] = turn * (float)h->sign[tet] * inverse_volume6(h, h->root[tet], h->level[tet]);
  at.b->scale[i] = (float)yw_fem_gradient_scale(h, tet);
  fill_child(work, &at, 0, tet, true, false);
}

static void fill_tails(fem_work* work) {
  for (int k = 0; k < FEM_KINDS; ++k) {
    int32_t count = work->kinds[k].count;
    fill_tail(work, k);
    work->kinds[k].count = count;
  }
}

// What the lanes of a batch of several roots have of these.
static void fill_lane_table(const fem_work* work, int k, int32_t batch, int32_t lane,
                            int32_t root) {
  const fem_tables* tables = work->tables;
  const fem_batches* b = &work->kinds[k];
  const fem_softening* soft = &tables->softening;
  size_t at = (size_t)batch * YW_LANES, i = at + (size_t)lane;
  float* to = b->lane_tables + at * (FEM_TYPES * FEM_MATRIX) + lane;
  const float* from = yw_fem_shared_matrices(work)[root][0];
  for (int j = 0; j < FEM_TYPES * FEM_MATRIX; ++j) to[j * YW_LANES] = from[j];
  int32_t edges = tables->kinds[k].num_edges;
  to = b->half_squares + at * (size_t)edges + lane;
  for (int32_t e = 0; e < edges; ++e) {
    to[e * YW_LANES] = b->rest_scale[i] * tables->half_squares[root][k][e];
  }
  to = b->mean_matrices + at * FEM_MATRIX + lane;
  for (int j = 0; j < FEM_MATRIX && batch < b->num_soft; ++j) {
    to[j * YW_LANES] = b->mean_scale[i] * soft->mean[root][j];
  }
}

static bool have_one_factor(const fem_batches* b, const fem_kind* kind, int32_t batch) {
  size_t row = YW_LANES * sizeof *b->factors;
  const float* factors = b->factors + (size_t)(batch * kind->num_children) * YW_LANES;
  for (int32_t c = 1; c < kind->num_children; ++c) {
    if (memcmp(factors, factors + (size_t)c * YW_LANES, row) != 0) return false;
  }
  return true;
}

// Batches whose lanes all have the same root use its tables; others get their own.
static void fill_tables(fem_work* work) {
  for (int k = 0; k < FEM_OWN; ++k) {
    fem_batches* b = &work->kinds[k];
    for (int32_t batch = 0; batch < yw_fem_num_batches(b); ++batch) {
      if (!b->is_new[batch]) continue;
      b->is_new[batch] = false;
      b->one_factor[batch] = have_one_factor(b, &work->tables->kinds[k], batch);
      const int32_t* owner = b->owner + (size_t)batch * YW_LANES;
      int32_t first = work->h->root[owner[0]];
      bool same = true;
      for (int l = 1; l < YW_LANES; ++l) {
        same = same && (owner[l] < 0 || work->h->root[owner[l]] == first);
      }
      b->table_root[batch] = same ? first : -1;
      for (int32_t l = 0; l < YW_LANES && !same; ++l) {
        fill_lane_table(work, k, batch, l, owner[l] < 0 ? first : work->h->root[owner[l]]);
      }
    }
  }
}

// Bit mask of the children of a split tet that are in the front.
static int32_t leaves_of(const fem_hierarchy* h, const fem_front* front, int32_t parent,
                         int32_t* count) {
  int32_t bits = 0;
  *count = 0;
  for (int32_t c = 0; c < yw_fem_children_of(h, parent); ++c) {
    if (yw_fem_is_split(front, h->first_child[parent] + c)) continue;
    bits |= 1 << c;
    ++*count;
  }
  return bits;
}

static bool stays_together(const fem_hierarchy* h, int32_t parent, int32_t leaves) {
  return leaves >= (int32_t)(KEEP_TOGETHER * yw_fem_children_of(h, parent));
}

int32_t yw_fem_softened(const fem_work* work, const fem_front* front, int32_t parent) {
  int32_t count, bits = 0;
  if (!work->soften || parent < 0 || parent >= work->tables->softening.num_families) return 0;
  bits = leaves_of(work->h, front, parent, &count);
  return stays_together(work->h, parent, count) ? bits : 0;
}

void yw_fem_work_build(fem_work* work, const fem_front* front, bool soften) {
  const fem_hierarchy* h = work->h;
  if (work->soften != soften) yw_fem_work_forget(work);
  work->soften = soften;
  for (int k = 0; k < FEM_KINDS; ++k) work->kinds[k].count = work->kinds[k].num_soft = 0;
  for (int32_t r = 0; r < h->num_roots; ++r) {
    if (!yw_fem_is_split(front, r)) add_single(work, r);
  }
  for (int32_t i = 0; i < front->num_families; ++i) {
    int32_t parent = front->families[i], count, leaves = leaves_of(h, front, parent, &count);
    int32_t nodes[FEM_FAMILY_NODES];
    if (stays_together(h, parent, count) && family_nodes(work, parent, nodes)) {
      add_family(work, parent, leaves, nodes);
      continue;
    }
    for (int32_t c = 0; leaves >> c; ++c) {
      if (leaves >> c & 1) add_single(work, h->first_child[parent] + c);
    }
  }
  fill_tails(work);
  fill_tables(work);
  yw_fem_work_order(work, front);
}

void yw_fem_work_set_offsets(fem_work* work, const float (*tensions)[6]) {
  for (int k = 0; k < FEM_KINDS; ++k) {
    fem_batches* b = &work->kinds[k];
    size_t children = (size_t)work->tables->kinds[k].num_children;
    size_t lanes = (size_t)yw_fem_num_batches(b) * YW_LANES;
    for (size_t i = 0; i < lanes; ++i) {
      int32_t owner = b->owner[i];
      int32_t first = k == FEM_SINGLES || owner < 0 ? owner : work->h->first_child[owner];
      for (size_t c = 0; c < children; ++c) {
        float* to = b->offsets + ((i / YW_LANES) * children + c) * 6 * YW_LANES + i % YW_LANES;
        bool present = b->present[i] >> c & 1;
        for (int e = 0; e < 6; ++e) {
          to[e * YW_LANES] = present ? tensions[first + (int32_t)c][e] : 0.0f;
        }
      }
    }
  }
}
