// SPDX-License-Identifier: MIT
// Neighbour lists of a body on several ranks: slaves travel to where masters may see them; ranks
// tell each other which ones these are, and number them together; see ranks.h.
#include <math.h>
#include <string.h>

#include "methods/plastic/cells.h"
#include "methods/plastic/phases.h"
#include "methods/plastic/ranks.h"
#include "yawara/extend/memory.h"

// Slaves this close to the boxes of a rank, in units of h, travel there: those that its masters can
// see (2, the skin, and what may have moved since), and those that crowd these.
#define TRAVEL_REACH 2.75f

// Boxes -------------------------------------------------------------------------------------------

void yw_plastic_find_boxes(plastic_body* body, const yw_particles* particles) {
  plastic_ranks* ranks = body->ranks;
  yw_aabb own[PLASTIC_BOXES];
  int32_t chunks = yw_plastic_chunks(body->num_masters, PLASTIC_CHUNK);
  float reach = TRAVEL_REACH * body->model->spacing;
  for (int32_t b = 0; b < PLASTIC_BOXES; ++b) {
    int32_t first = (int32_t)((int64_t)chunks * b / PLASTIC_BOXES) * PLASTIC_CHUNK;
    int32_t end = (int32_t)((int64_t)chunks * (b + 1) / PLASTIC_BOXES) * PLASTIC_CHUNK;
    own[b] = yw_aabb_empty();
    for (int32_t m = first; m < end && m < body->num_masters; ++m) {
      own[b] = yw_aabb_grow(own[b], yw_xyz(particles->pos[m]));
    }
    if (first < end) own[b] = yw_aabb_pad(own[b], reach);
  }
  for (int32_t r = 0; r < ranks->comm->count; ++r) ranks->sizes[r] = sizeof own;
  yw_ranks_gather(ranks->comm, own, ranks->boxes, ranks->sizes);
  for (int32_t r = 0; r < ranks->comm->count; ++r) {
    ranks->whole[r] = yw_aabb_empty();
    for (int32_t b = 0; b < PLASTIC_BOXES; ++b) {
      const yw_aabb* box = &ranks->boxes[r * PLASTIC_BOXES + b];
      if (!(box->lower.x <= box->upper.x)) continue;
      ranks->whole[r] = yw_aabb_grow(yw_aabb_grow(ranks->whole[r], box->lower), box->upper);
    }
  }
}

static bool is_in(const yw_aabb* box, yw_vec4 p) {
  return p.x >= box->lower.x && p.x <= box->upper.x && p.y >= box->lower.y && p.y <= box->upper.y &&
         p.z >= box->lower.z && p.z <= box->upper.z;
}

static bool is_near(const plastic_ranks* ranks, int32_t rank, yw_vec4 p) {
  if (!is_in(&ranks->whole[rank], p)) return false;
  const yw_aabb* boxes = ranks->boxes + (size_t)rank * PLASTIC_BOXES;
  for (int32_t b = 0; b < PLASTIC_BOXES; ++b) {
    if (is_in(&boxes[b], p)) return true;
  }
  return false;
}

// Travelling --------------------------------------------------------------------------------------

// Appends to the message for all ranks. False: out of memory.
static bool add_traveller(plastic_ranks* ranks, size_t* at, const plastic_traveller* one) {
  if (!yw_plastic_grow(ranks, &ranks->out, *at + sizeof *one)) return false;
  memcpy((char*)ranks->out.data + *at, one, sizeof *one);
  *at += sizeof *one;
  return true;
}

static bool send_slaves(plastic_body* body) {
  plastic_ranks* ranks = body->ranks;
  const int64_t* number = yw_plastic_numbers(body);
  size_t at = 0;
  for (int32_t r = 0; r < ranks->comm->count; ++r) {
    ranks->out_start[r] = at;
    for (int32_t s = ranks->num_foreign; r != ranks->comm->rank && s < body->num_slaves; ++s) {
      yw_vec4 p = body->slave_pos[s];
      if (!is_near(ranks, r, p)) continue;
      plastic_traveller one = {number[s], p.x, p.y, p.z, s};
      if (!add_traveller(ranks, &at, &one)) return false;
    }
  }
  ranks->out_start[ranks->comm->count] = at;
  size_t size = yw_plastic_announce(ranks);
  if (!yw_plastic_grow(ranks, &ranks->in, size)) return false;
  yw_ranks_exchange(ranks->comm, ranks->out.data, ranks->out_start, ranks->in.data,
                    ranks->in_start);
  return true;
}

static void sift(plastic_traveller* heap, size_t i, size_t count) {
  plastic_traveller one = heap[i];
  for (size_t child; (child = 2 * i + 1) < count; i = child) {
    if (child + 1 < count && heap[child + 1].number > heap[child].number) ++child;
    if (heap[child].number <= one.number) break;
    heap[i] = heap[child];
  }
  heap[i] = one;
}

static void sort_travellers(plastic_traveller* all, size_t count) {
  for (size_t i = count / 2; i > 0; --i) sift(all, i - 1, count);
  for (size_t last = count; last > 1; --last) {
    plastic_traveller most = all[0];
    all[0] = all[last - 1];
    all[last - 1] = most;
    sift(all, 0, last - 1);
  }
}

// True if slaves here, between those of lower and of higher ranks, are in the order of numbers.
// Usually they are: numbers ascend with ranks, except those of new slaves and of masters that moved
// to another rank.
static bool are_in_order(const plastic_body* body, size_t before, size_t own, size_t after) {
  const plastic_ranks* ranks = body->ranks;
  const plastic_traveller* in = ranks->in.data;
  const int64_t* number = yw_plastic_numbers(body) + ranks->num_foreign;
  int64_t last = -1;
  for (size_t i = 0; i < before + own + after; ++i) {
    bool is_own = i >= before && i < before + own;
    int64_t next = is_own ? number[i - before] : in[i < before ? i : i - own].number;
    if (next <= last) return false;
    last = next;
  }
  return true;
}

static void put_travellers(plastic_body* body, size_t at, const plastic_traveller* from,
                           size_t count) {
  for (size_t i = 0; i < count; ++i) {
    body->slave_pos[at + i] = (yw_vec4){from[i].x, from[i].y, from[i].z, 0.0f};
    yw_plastic_numbers(body)[at + i] = from[i].number;
  }
}

// The rare case: through a list of all of them.
static bool merge_unordered(plastic_body* body, size_t before, size_t own, size_t after) {
  plastic_ranks* ranks = body->ranks;
  size_t all = before + own + after;
  if (!yw_plastic_grow(ranks, &ranks->merged, all * sizeof(plastic_traveller))) return false;
  plastic_traveller* merged = ranks->merged.data;
  const plastic_traveller* in = ranks->in.data;
  if (before + after > 0) memcpy(merged, in, (before + after) * sizeof *merged);
  for (size_t i = 0; i < own; ++i) {
    int32_t s = ranks->num_foreign + (int32_t)i;
    yw_vec4 p = body->slave_pos[s];
    merged[before + after + i] = (plastic_traveller){yw_plastic_numbers(body)[s], p.x, p.y, p.z, s};
  }
  sort_travellers(merged, all);
  put_travellers(body, 0, merged, all);
  return true;
}

bool yw_plastic_fetch_slaves(plastic_body* body, const yw_particles* particles) {
  plastic_ranks* ranks = body->ranks;
  int32_t me = ranks->comm->rank, count = ranks->comm->count;
  yw_plastic_find_boxes(body, particles);
  if (!send_slaves(body)) return false;
  size_t own = (size_t)(body->num_slaves - ranks->num_foreign),
         foreign = (size_t)ranks->num_foreign;
  size_t before = ranks->in_start[me] / sizeof(plastic_traveller);
  size_t after = ranks->in_start[count] / sizeof(plastic_traveller) - before;
  size_t all = before + own + after;
  if (all > INT32_MAX / 4 || !yw_plastic_reserve_slaves(body, (int32_t)all) ||
      !yw_plastic_grow(ranks, &ranks->numbers, all * sizeof(int64_t))) {
    return false;
  }
  if (are_in_order(body, before, own, after)) {
    int64_t* number = yw_plastic_numbers(body);
    const plastic_traveller* in = ranks->in.data;
    memmove(body->slave_pos + before, body->slave_pos + foreign, own * sizeof *body->slave_pos);
    memmove(number + before, number + foreign, own * sizeof *number);
    put_travellers(body, 0, in, before);
    put_travellers(body, before + own, in + before, after);
  } else if (!merge_unordered(body, before, own, after)) {
    return false;
  }
  body->num_slaves = (int32_t)all;
  return true;
}

// Meeting -----------------------------------------------------------------------------------------

// Lists what masters here see near every other rank, in order of numbers: x of a traveller is the
// number of chunks that see it.
static bool send_seen(plastic_body* body, const int32_t* seen, const int32_t* at_number,
                      int32_t num_numbers) {
  plastic_ranks* ranks = body->ranks;
  size_t at = 0;
  for (int32_t r = 0; r < ranks->comm->count; ++r) {
    ranks->out_start[r] = at;
    for (int32_t i = 0; r != ranks->comm->rank && i < num_numbers; ++i) {
      int32_t s = at_number[i];
      if (s < 0 || seen[s] == 0 || !is_near(ranks, r, body->slave_pos[s])) continue;
      plastic_traveller one = {yw_plastic_numbers(body)[i], (float)seen[s], 0.0f, 0.0f, s};
      if (!add_traveller(ranks, &at, &one)) return false;
    }
  }
  ranks->out_start[ranks->comm->count] = at;
  size_t size = yw_plastic_announce(ranks);
  if (!yw_plastic_grow(ranks, &ranks->in, size)) return false;
  yw_ranks_exchange(ranks->comm, ranks->out.data, ranks->out_start, ranks->in.data,
                    ranks->in_start);
  return yw_plastic_grow(ranks, &ranks->shared,
                         at / sizeof(plastic_traveller) * sizeof(plastic_shared));
}

// What both see: *count slaves so far. The lowest rank that sees a slave has it.
static void join_rank(plastic_body* body, int32_t rank, int32_t* count, int32_t* foreign) {
  plastic_ranks* ranks = body->ranks;
  const plastic_traveller *mine = ranks->out.data, *theirs = ranks->in.data;
  size_t i = ranks->out_start[rank] / sizeof *mine,
         i_end = ranks->out_start[rank + 1] / sizeof *mine;
  size_t j = ranks->in_start[rank] / sizeof *mine, j_end = ranks->in_start[rank + 1] / sizeof *mine;
  while (i < i_end && j < j_end) {
    if (mine[i].number < theirs[j].number) {
      ++i;
    } else if (mine[i].number > theirs[j].number) {
      ++j;
    } else {
      int32_t* index = &body->slave_bucket[mine[i].slave];
      plastic_shared one = {mine[i].number, mine[i].slave, (int32_t)theirs[j].x, false};
      one.belongs_there = rank < ranks->comm->rank && *index < 0;
      if (one.belongs_there) *index = (*foreign)++;
      ((plastic_shared*)ranks->shared.data)[(*count)++] = one;
      body->num_slots += one.parts;
      ++i, ++j;
    }
  }
}

// While slaves are sorted, w holds the place of a slave in the order of numbers.
int32_t yw_plastic_meet_ranks(plastic_body* body) {
  plastic_ranks* ranks = body->ranks;
  int32_t chunks = yw_plastic_chunks(body->num_masters, PLASTIC_CHUNK), num_numbers = 0;
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    int32_t place;
    memcpy(&place, &body->slave_pos[s].w, sizeof place);
    if (place >= num_numbers) num_numbers = place + 1;
  }
  // The solve fills these in after lists are built; numbers are those of slaves that were here.
  int32_t *at_number = (int32_t*)body->course, *seen = at_number + body->slave_capacity;
  _Static_assert(sizeof *body->course >= 2 * sizeof *seen, "both fit");
  memset(at_number, 0xff, (size_t)num_numbers * sizeof *at_number);
  memset(seen, 0, (size_t)body->num_slaves * sizeof *seen);
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    int32_t place;
    memcpy(&place, &body->slave_pos[s].w, sizeof place);
    at_number[place] = s;
  }
  for (int32_t c = 0; c < chunks; ++c) {
    const int32_t* list = yw_plastic_list_of(body, c);
    int32_t locals = body->local_start[c + 1] - body->local_start[c];
    for (int32_t i = 0; i < locals; ++i) ++seen[list[i]];
  }
  if (!send_seen(body, seen, at_number, num_numbers)) return -1;
  int32_t count = 0, foreign = 0;
  for (int32_t r = 0; r < ranks->comm->count; ++r) {
    ranks->shared_start[r] = count;
    if (r != ranks->comm->rank) join_rank(body, r, &count, &foreign);
  }
  ranks->shared_start[ranks->comm->count] = count;
  return foreign;
}

// Numbers -----------------------------------------------------------------------------------------

// Messages with one number per shared slave that belongs to the sender.
static void fetch_numbers(plastic_body* body, int32_t foreign, int64_t first) {
  plastic_ranks* ranks = body->ranks;
  const plastic_shared* shared = ranks->shared.data;
  int64_t *out = ranks->out.data, *in = ranks->in.data;
  size_t sent = 0, received = 0;
  for (int32_t r = 0; r < ranks->comm->count; ++r) {
    ranks->out_start[r] = sent * sizeof *out;
    ranks->in_start[r] = received * sizeof *in;
    for (int32_t i = ranks->shared_start[r]; i < ranks->shared_start[r + 1]; ++i) {
      int32_t index = body->slave_bucket[shared[i].slave];
      if (index >= foreign && r > ranks->comm->rank) out[sent++] = first + (index - foreign);
      received += shared[i].belongs_there;
    }
  }
  ranks->out_start[ranks->comm->count] = sent * sizeof *out;
  ranks->in_start[ranks->comm->count] = received * sizeof *in;
  yw_ranks_exchange(ranks->comm, out, ranks->out_start, in, ranks->in_start);
  received = 0;
  for (int32_t i = 0; i < ranks->shared_start[ranks->comm->count]; ++i) {
    if (!shared[i].belongs_there) continue;
    yw_plastic_numbers(body)[body->slave_bucket[shared[i].slave]] = in[received++];
  }
}

void yw_plastic_number_ranks(plastic_body* body, int32_t foreign, int32_t count) {
  plastic_ranks* ranks = body->ranks;
  plastic_shared* shared = ranks->shared.data;
  int32_t num_ranks = ranks->comm->count, me = ranks->comm->rank;
  uint64_t own = (uint64_t)(count - foreign), *counts = ranks->counts;
  for (int32_t r = 0; r < num_ranks; ++r) ranks->sizes[r] = sizeof own;
  yw_ranks_gather(ranks->comm, &own, counts, ranks->sizes);
  int64_t first = 0, all = 0;
  for (int32_t r = 0; r < num_ranks; ++r) {
    if (r < me) first += (int64_t)counts[r];
    all += (int64_t)counts[r];
  }
  fetch_numbers(body, foreign, first);
  for (int32_t s = foreign; s < count; ++s) yw_plastic_numbers(body)[s] = first + (s - foreign);
  for (int32_t i = 0; i < ranks->shared_start[num_ranks]; ++i) {
    shared[i].slave = body->slave_bucket[shared[i].slave];
  }
  body->removed += ranks->num_all - all;
  ranks->num_all = ranks->num_all_listed = all;
  ranks->num_foreign = foreign;
}

// Parts -------------------------------------------------------------------------------------------

void yw_plastic_count_far_parts(const plastic_body* body, int32_t* counts) {
  const plastic_ranks* ranks = body->ranks;
  const plastic_shared* shared = ranks->shared.data;
  for (int32_t i = 0; i < ranks->shared_start[ranks->comm->count]; ++i) {
    counts[shared[i].slave] += shared[i].parts;
  }
}

void yw_plastic_list_far_parts(plastic_body* body, int32_t* at, bool lower) {
  plastic_ranks* ranks = body->ranks;
  const plastic_shared* shared = ranks->shared.data;
  int32_t slot = body->num_locals;
  for (int32_t r = 0; r < ranks->comm->count; ++r) {
    bool wanted = (r < ranks->comm->rank) == lower;
    ranks->part_in[r] = (size_t)(slot - body->num_locals) * sizeof *body->parts;
    for (int32_t i = ranks->shared_start[r]; i < ranks->shared_start[r + 1]; ++i) {
      for (int32_t k = 0; k < shared[i].parts; ++k, ++slot) {
        if (wanted) body->part_at[at[shared[i].slave]++] = slot;
      }
    }
  }
  ranks->part_in[ranks->comm->count] = (size_t)(slot - body->num_locals) * sizeof *body->parts;
}

// Chunks that write parts for others come first.
static bool list_chunks(plastic_body* body, size_t num_posts) {
  plastic_ranks* ranks = body->ranks;
  int32_t count = yw_plastic_chunks(body->num_masters, PLASTIC_CHUNK), border = 0, inner = 0;
  size_t bytes = (size_t)count * sizeof(int32_t);
  if (!yw_plastic_grow(ranks, &ranks->chunks, bytes) ||
      !yw_plastic_grow(ranks, &ranks->marks, bytes)) {
    return false;
  }
  int32_t *list = ranks->chunks.data, *is_border = ranks->marks.data;
  const int32_t *post = ranks->posts.data, *start = body->local_start;
  if (count > 0) memset(is_border, 0, bytes);
  for (size_t i = 0; i < num_posts; ++i) {
    int32_t low = 0, high = count;
    while (high - low > 1) {
      int32_t middle = (low + high) / 2;
      if (start[middle] <= post[i]) {
        low = middle;
      } else {
        high = middle;
      }
    }
    is_border[low] = 1;
  }
  for (int32_t c = 0; c < count; ++c) border += is_border[c];
  ranks->num_border = border;
  for (int32_t c = 0, at = 0; c < count; ++c) list[is_border[c] ? at++ : border + inner++] = c;
  return true;
}

// Which parts go to which rank.
bool yw_plastic_list_posts(plastic_body* body) {
  plastic_ranks* ranks = body->ranks;
  const plastic_shared* shared = ranks->shared.data;
  size_t count = 0;
  for (int32_t r = 0; r < ranks->comm->count; ++r) {
    ranks->part_out[r] = count * sizeof *body->parts;
    for (int32_t i = ranks->shared_start[r]; i < ranks->shared_start[r + 1]; ++i) {
      int32_t s = shared[i].slave;
      size_t most = (size_t)(body->part_start[s + 1] - body->part_start[s]);
      if (!yw_plastic_grow(ranks, &ranks->posts, (count + most) * sizeof(int32_t))) return false;
      for (int32_t e = body->part_start[s]; e < body->part_start[s + 1]; ++e) {
        if (body->part_at[e] >= body->num_locals) continue;
        ((int32_t*)ranks->posts.data)[count++] = body->part_at[e];
      }
    }
  }
  ranks->part_out[ranks->comm->count] = count * sizeof *body->parts;
  return yw_plastic_grow(ranks, &ranks->out, count * sizeof *body->parts) &&
         list_chunks(body, count);
}
