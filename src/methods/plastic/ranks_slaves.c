// SPDX-License-Identifier: MIT
// New slaves of a body on several ranks. Links between masters of two ranks are watched by both.
// What ranks propose is put in the order in which one rank would have found it, and every rank then
// accepts the same; see ranks.h.
#include <math.h>
#include <string.h>

#include "methods/plastic/phases.h"
#include "methods/plastic/ranks.h"
#include "methods/plastic/slaves.h"

// Links -------------------------------------------------------------------------------------------

static int32_t rank_of(const plastic_ranks* ranks, int32_t master) {
  int32_t low = 0, high = ranks->comm->count;
  while (high - low > 1) {
    int32_t middle = (low + high) / 2;
    if (ranks->master_start[middle] <= master) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// The rank of the other end of a link with one end here; -1: none.
static int32_t other_rank(const plastic_ranks* ranks, plastic_link link) {
  const int32_t* own = ranks->master_start + ranks->comm->rank;
  bool a = link.a >= own[0] && link.a < own[1], b = link.b >= own[0] && link.b < own[1];
  return a == b ? -1 : rank_of(ranks, a ? link.b : link.a);
}

bool yw_plastic_list_cross_links(plastic_body* body) {
  plastic_ranks* ranks = body->ranks;
  const plastic_model* model = body->model;
  int32_t* start = ranks->cross_start;
  memset(start, 0, ((size_t)ranks->comm->count + 1) * sizeof *start);
  const int32_t* way;
  for (int32_t m = 0; m < model->num_masters; ++m) {
    int32_t count = yw_plastic_links_of(model, m, &way);
    for (int32_t k = 0; k < count; ++k) {
      int32_t r = other_rank(ranks, (plastic_link){m + way[k], m});
      if (r >= 0) ++start[r + 1];
    }
  }
  for (int32_t r = 0; r < ranks->comm->count; ++r) start[r + 1] += start[r];
  size_t count = (size_t)start[ranks->comm->count];
  if (!yw_plastic_grow(ranks, &ranks->cross, count * sizeof(plastic_cross))) return false;
  plastic_cross* cross = ranks->cross.data;
  for (int32_t m = 0, number = 0; m < model->num_masters; ++m) {
    int32_t links = yw_plastic_links_of(model, m, &way);
    for (int32_t k = 0; k < links; ++k, ++number) {
      plastic_link link = {m + way[k], m};
      int32_t r = other_rank(ranks, link);
      if (r >= 0) cross[start[r]++] = (plastic_cross){number, link};
    }
  }
  for (int32_t r = ranks->comm->count; r > 0; --r) start[r] = start[r - 1];
  start[0] = 0;
  return true;
}

// The master here of a link; *side: 0 if it is its first.
static int32_t own_end(const plastic_body* body, plastic_link link, int* side) {
  int32_t a = link.a - body->first_master;
  *side = a < 0 || a >= body->master_capacity;
  return *side ? link.b - body->first_master : a;
}

// Sends 16 bytes per link and gets as many.
static void swap_vectors(plastic_ranks* ranks, const size_t* counts) {
  size_t at = 0;
  for (int32_t r = 0; r < ranks->comm->count; ++r) {
    ranks->out_start[r] = ranks->in_start[r] = at;
    at += counts[r] * sizeof(yw_vec4);
  }
  ranks->out_start[ranks->comm->count] = ranks->in_start[ranks->comm->count] = at;
  yw_ranks_exchange(ranks->comm, ranks->out.data, ranks->out_start, ranks->in.data,
                    ranks->in_start);
}

// A link that parted in this step, as both ranks see it.
typedef struct parted_link {
  plastic_cross cross;
  yw_vec4 far;  // the other master
} parted_link;

// Where both ends are now: lists the links that have parted; w of out is the distance to the
// nearest slave here, squared.
static bool find_parted(plastic_body* body, const yw_particles* particles, size_t* counts,
                        size_t* parted) {
  plastic_ranks* ranks = body->ranks;
  const plastic_cross* cross = ranks->cross.data;
  size_t all = (size_t)ranks->cross_start[ranks->comm->count];
  if (!yw_plastic_grow(ranks, &ranks->out, all * sizeof(yw_vec4)) ||
      !yw_plastic_grow(ranks, &ranks->in, all * sizeof(yw_vec4)) ||
      !yw_plastic_grow(ranks, &ranks->merged, all * sizeof(parted_link))) {
    return false;
  }
  yw_vec4 *out = ranks->out.data, *in = ranks->in.data;
  parted_link* list = ranks->merged.data;
  int side;
  for (size_t i = 0; i < all; ++i) {
    int32_t m = own_end(body, cross[i].link, &side);
    out[i] = m < body->num_masters ? particles->pos[m] : (yw_vec4){0};
  }
  for (int32_t r = 0; r < ranks->comm->count; ++r) {
    counts[r] = (size_t)(ranks->cross_start[r + 1] - ranks->cross_start[r]);
  }
  swap_vectors(ranks, counts);
  *parted = 0;
  for (int32_t r = 0; r < ranks->comm->count; ++r) {
    counts[r] = 0;
    for (int32_t i = ranks->cross_start[r]; i < ranks->cross_start[r + 1]; ++i) {
      plastic_link link = cross[i].link;
      if (link.a >= body->num_all || link.b >= body->num_all || !body->is_linked[cross[i].number])
        continue;
      int32_t m = own_end(body, cross[i].link, &side);
      yw_vec4 own = particles->pos[m], far = in[i];
      if (!yw_plastic_have_parted(body, side ? far : own, side ? own : far)) continue;
      body->is_linked[cross[i].number] = 0;
      // The rank of the second master tells the others.
      if (side && !yw_plastic_note_parted(body, cross[i].number)) return false;
      list[(*parted)++] = (parted_link){cross[i], far};
      ++counts[r];
    }
  }
  return true;
}

bool yw_plastic_part_cross_links(plastic_body* body, const yw_particles* particles) {
  plastic_ranks* ranks = body->ranks;
  size_t *counts = ranks->sizes, parted;
  if (!find_parted(body, particles, counts, &parted)) return false;
  const parted_link* list = ranks->merged.data;
  yw_vec4 *out = ranks->out.data, *in = ranks->in.data;
  int side;
  for (size_t i = 0; i < parted; ++i) {
    int32_t m = own_end(body, list[i].cross.link, &side);
    yw_vec4 own = particles->pos[m], a = side ? list[i].far : own, b = side ? own : list[i].far;
    out[i] = yw_plastic_nearest(body, m, yw_plastic_middle(a, b));
  }
  swap_vectors(ranks, counts);
  for (size_t i = 0; i < parted; ++i) {
    int32_t m = own_end(body, list[i].cross.link, &side);
    yw_vec4 own = particles->pos[m], a = side ? list[i].far : own, b = side ? own : list[i].far;
    yw_vec4 at_a = side ? in[i] : out[i], at_b = side ? out[i] : in[i];
    yw_vec4 from = yw_plastic_nearer(at_a, at_b, yw_plastic_middle(a, b));
    if (yw_plastic_is_due(body, a, b, from, side) &&
        !yw_plastic_offer_beside(body, particles, m, from,
                                 2 * (int64_t)list[i].cross.number + side)) {
      return false;
    }
  }
  return true;
}

bool yw_plastic_note_parted(plastic_body* body, int32_t link) {
  plastic_ranks* ranks = body->ranks;
  size_t bytes = ((size_t)ranks->num_parted + 1) * sizeof link;
  if (!yw_plastic_grow(ranks, &ranks->parted, bytes)) return false;
  ((int32_t*)ranks->parted.data)[ranks->num_parted++] = link;
  return true;
}

void yw_plastic_share_parted(plastic_body* body) {
  plastic_ranks* ranks = body->ranks;
  int32_t count = ranks->comm->count;
  uint64_t own = (uint64_t)ranks->num_parted, *counts = ranks->counts;
  size_t all = 0;
  for (int32_t r = 0; r < count; ++r) ranks->sizes[r] = sizeof own;
  yw_ranks_gather(ranks->comm, &own, counts, ranks->sizes);
  for (int32_t r = 0; r < count; ++r) {
    ranks->sizes[r] = (size_t)counts[r] * sizeof(int32_t);
    all += (size_t)counts[r];
  }
  ranks->num_parted = 0;
  if (all == 0) return;
  if (!yw_plastic_grow(ranks, &ranks->in, all * sizeof(int32_t))) {
    ranks->comm->abandon(ranks->comm->context, "not enough memory");
  }
  const int32_t* links = ranks->in.data;
  yw_ranks_gather(ranks->comm, ranks->parted.data, ranks->in.data, ranks->sizes);
  for (size_t i = 0; i < all; ++i) body->is_linked[links[i]] = 0;
}

// Proposals ---------------------------------------------------------------------------------------

bool yw_plastic_propose(plastic_body* body, int64_t key, yw_vec4 p) {
  plastic_ranks* ranks = body->ranks;
  size_t bytes = ((size_t)ranks->num_proposals + 1) * sizeof(plastic_proposal);
  if (!yw_plastic_grow(ranks, &ranks->proposals, bytes)) return false;
  ((plastic_proposal*)ranks->proposals.data)[ranks->num_proposals++] =
      (plastic_proposal){key, p.x, p.y, p.z, ranks->comm->rank};
  return true;
}

static void sift(plastic_proposal* heap, size_t i, size_t count) {
  plastic_proposal one = heap[i];
  for (size_t child; (child = 2 * i + 1) < count; i = child) {
    if (child + 1 < count && heap[child + 1].key > heap[child].key) ++child;
    if (heap[child].key <= one.key) break;
    heap[i] = heap[child];
  }
  heap[i] = one;
}

static void sort_proposals(plastic_proposal* all, size_t count) {
  for (size_t i = count / 2; i > 0; --i) sift(all, i - 1, count);
  for (size_t last = count; last > 1; --last) {
    plastic_proposal most = all[0];
    all[0] = all[last - 1];
    all[last - 1] = most;
    sift(all, 0, last - 1);
  }
}

// Proposals of all ranks, in order. Returns their number; -1: out of memory.
static int64_t gather_proposals(plastic_ranks* ranks) {
  int32_t count = ranks->comm->count;
  uint64_t own = (uint64_t)ranks->num_proposals, *counts = ranks->counts;
  size_t all = 0;
  for (int32_t r = 0; r < count; ++r) ranks->sizes[r] = sizeof own;
  yw_ranks_gather(ranks->comm, &own, counts, ranks->sizes);
  for (int32_t r = 0; r < count; ++r) {
    ranks->sizes[r] = (size_t)counts[r] * sizeof(plastic_proposal);
    all += (size_t)counts[r];
  }
  if (all == 0) return 0;
  if (!yw_plastic_grow(ranks, &ranks->all_proposals, all * sizeof(plastic_proposal))) return -1;
  yw_ranks_gather(ranks->comm, ranks->proposals.data, ranks->all_proposals.data, ranks->sizes);
  sort_proposals(ranks->all_proposals.data, all);
  return (int64_t)all;
}

// All that are accepted stand behind the slaves here for a moment, to be compared with later ones;
// those of this rank then stay.
bool yw_plastic_accept(plastic_body* body) {
  plastic_ranks* ranks = body->ranks;
  int64_t count = gather_proposals(ranks);
  int32_t before = body->num_slaves, kept = before;
  ranks->num_proposals = 0;
  if (count <= 0) return count == 0;
  plastic_proposal* all = ranks->all_proposals.data;
  for (int64_t i = 0; i < count; ++i) {
    yw_vec4 p = {all[i].x, all[i].y, all[i].z, 0.0f};
    bool added = false;
    if (!yw_plastic_consider(body, all[i].key, p, &added)) return false;
    if (!added) all[i].rank = -1;
  }
  size_t bytes = (size_t)body->num_slaves * sizeof(int64_t);
  if (!yw_plastic_grow(ranks, &ranks->numbers, bytes)) return false;
  int32_t at = before;
  for (int64_t i = 0; i < count; ++i) {
    if (all[i].rank < 0) continue;
    if (all[i].rank == ranks->comm->rank) {
      body->slave_pos[kept] = body->slave_pos[at];
      yw_plastic_numbers(body)[kept++] = ranks->num_all;
    }
    ++ranks->num_all;
    ++at;
  }
  body->num_slaves = kept;
  return true;
}
