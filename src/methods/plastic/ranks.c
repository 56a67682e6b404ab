// SPDX-License-Identifier: MIT
// Plastic bodies on several ranks: who has which masters, and messages; see ranks.h.
#include "methods/plastic/ranks.h"

#include <string.h>

#include "methods/plastic/phases.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

bool yw_plastic_grow(const plastic_ranks* ranks, plastic_buffer* buffer, size_t bytes) {
  if (bytes <= buffer->capacity) return true;
  size_t wanted = bytes + bytes / 4 + 1024;
  void* grown = yw_mem_resize(&ranks->mem, buffer->data, buffer->capacity, wanted, 1);
  if (!grown) return false;
  buffer->data = grown;
  buffer->capacity = wanted;
  return true;
}

size_t yw_plastic_announce(const plastic_ranks* ranks) {
  int32_t count = ranks->comm->count;
  // One size to and from every other rank; both lie one behind the other in `sizes`.
  size_t *mine = ranks->sizes, *theirs = mine + count, *start = theirs + count, at = 0;
  for (int32_t r = 0; r < count; ++r) {
    mine[r] = ranks->out_start[r + 1] - ranks->out_start[r];
    theirs[r] = 0;
  }
  for (int32_t r = 0; r <= count; ++r) start[r] = sizeof(size_t) * (size_t)r;
  yw_ranks_exchange(ranks->comm, mine, start, theirs, start);
  for (int32_t r = 0; r < count; ++r) {
    ranks->in_start[r] = at;
    at += theirs[r];
  }
  ranks->in_start[count] = at;
  return at;
}

// Chunks are dealt out evenly.
static bool deal_masters(plastic_body* body, const yw_ranks* comm) {
  plastic_ranks* ranks = body->ranks;
  const plastic_model* model = body->model;
  int64_t chunks = yw_plastic_chunks(model->num_masters, PLASTIC_CHUNK);
  size_t count = (size_t)comm->count;
  ranks->master_start = YW_NEW_ARRAY(&body->mem, int32_t, count + 1);
  ranks->boxes = YW_NEW_ARRAY(&body->mem, yw_aabb, count * PLASTIC_BOXES);
  ranks->whole = YW_NEW_ARRAY(&body->mem, yw_aabb, count);
  ranks->shared_start = YW_NEW_ARRAY(&body->mem, int32_t, count + 1);
  ranks->cross_start = YW_NEW_ARRAY(&body->mem, int32_t, count + 1);
  ranks->out_start = YW_NEW_ARRAY(&body->mem, size_t, count + 1);
  ranks->in_start = YW_NEW_ARRAY(&body->mem, size_t, count + 1);
  ranks->part_out = YW_NEW_ARRAY(&body->mem, size_t, count + 1);
  ranks->part_in = YW_NEW_ARRAY(&body->mem, size_t, count + 1);
  ranks->sizes = YW_NEW_ARRAY(&body->mem, size_t, 3 * count + 1);
  ranks->counts = YW_NEW_ARRAY(&body->mem, uint64_t, count);
  if (!ranks->master_start || !ranks->boxes || !ranks->whole || !ranks->shared_start ||
      !ranks->cross_start || !ranks->out_start || !ranks->in_start || !ranks->part_out ||
      !ranks->part_in || !ranks->sizes || !ranks->counts) {
    return false;
  }
  for (int32_t r = 0; r <= comm->count; ++r) {
    int64_t first = chunks * r / comm->count * PLASTIC_CHUNK;
    ranks->master_start[r] = (int32_t)(first < model->num_masters ? first : model->num_masters);
  }
  return true;
}

yw_status yw_plastic_ranks_create(plastic_body* body, const yw_ranks* comm, yw_error* error) {
  int32_t masters = body->model->num_masters, most = yw_plastic_chunks(masters, PLASTIC_CHUNK);
  if (comm->count > most) {
    return yw_fail(error, YW_ERR_LIMIT,
                   "%d ranks are too many for %d masters: each needs a chunk of %d; use at most %d",
                   comm->count, masters, PLASTIC_CHUNK, most);
  }
  if (body->params.sleep_speed != 0.0f) {
    return yw_fail(error, YW_ERR_INVALID,
                   "a plastic body on several ranks cannot sleep yet: give it \"sleep_speed\": 0");
  }
  if (body->model->paper || body->model->without_slaves) {
    return yw_fail(error, YW_ERR_INVALID,
                   "formulas as printed are for one rank: there is nothing to compare with others");
  }
  body->ranks = YW_NEW(&body->mem, plastic_ranks);
  if (!body->ranks) return yw_fail_memory(error, "a plastic body on several ranks");
  body->ranks->comm = comm;
  body->ranks->mem = body->mem;
  if (!deal_masters(body, comm) || !yw_plastic_list_cross_links(body)) {
    return yw_fail_memory(error, "a plastic body on several ranks");
  }
  body->first_master = body->ranks->master_start[comm->rank];
  body->master_capacity = body->ranks->master_start[comm->rank + 1] - body->first_master;
  return YW_OK;
}

void yw_plastic_ranks_destroy(plastic_body* body) {
  plastic_ranks* ranks = body->ranks;
  if (!ranks) return;
  void* const arrays[] = {
      ranks->master_start, ranks->boxes,      ranks->whole,          ranks->shared_start,
      ranks->cross_start,  ranks->out_start,  ranks->in_start,       ranks->part_out,
      ranks->part_in,      ranks->sizes,      ranks->numbers.data,   ranks->shared.data,
      ranks->cross.data,   ranks->posts.data, ranks->out.data,       ranks->in.data,
      ranks->merged.data,  ranks->marks.data, ranks->proposals.data, ranks->all_proposals.data,
      ranks->parted.data,  ranks->counts,     ranks->chunks.data};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) yw_mem_free(&body->mem, arrays[i]);
  yw_mem_free(&body->mem, ranks);
  body->ranks = NULL;
}

yw_particles yw_plastic_masters_here(const plastic_body* body, const yw_particles* particles) {
  yw_particles here = *particles;
  int32_t first = body->first_master;
  here.pos += first, here.vel += first, here.mass += first, here.inv_mass += first;
  here.count = body->num_masters;
  here.capacity -= first;
  return here;
}

int32_t yw_plastic_masters_of_rank(const plastic_body* body, int32_t rank) {
  const int32_t* start = body->ranks->master_start + rank;
  int32_t end = start[1] < body->num_all ? start[1] : body->num_all;
  return end > start[0] ? end - start[0] : 0;
}

void yw_plastic_gather_values(const plastic_body* body, const void* own, void* all, size_t size) {
  const plastic_ranks* ranks = body->ranks;
  for (int32_t r = 0; r < ranks->comm->count; ++r) {
    ranks->sizes[r] = size * (size_t)yw_plastic_masters_of_rank(body, r);
  }
  yw_ranks_gather(ranks->comm, own, all, ranks->sizes);
}

void yw_plastic_gather_masters(const plastic_body* body, yw_particles* particles) {
  int32_t first = body->first_master;
  yw_plastic_gather_values(body, particles->pos + first, particles->pos, sizeof *particles->pos);
  yw_plastic_gather_values(body, particles->vel + first, particles->vel, sizeof *particles->vel);
}

void yw_plastic_begin_share(plastic_body* body, int32_t half) {
  plastic_ranks* ranks = body->ranks;
  const int32_t* post = ranks->posts.data;
  yw_vec4 *out = ranks->out.data, *parts = body->parts + (size_t)half * (size_t)body->num_slots;
  size_t count = ranks->part_out[ranks->comm->count] / sizeof *out;
  for (size_t i = 0; i < count; ++i) out[i] = parts[post[i]];
  yw_ranks_begin_exchange(ranks->comm, out, ranks->part_out, parts + body->num_locals,
                          ranks->part_in);
}

void yw_plastic_end_share(plastic_body* body) { yw_ranks_end_exchange(body->ranks->comm); }

void yw_plastic_share_holds(plastic_body* body, const yw_step_ctx* ctx, int32_t* held_by) {
  plastic_ranks* ranks = body->ranks;
  const plastic_shared* shared = ranks->shared.data;
  int32_t num_ranks = ranks->comm->count, count = ranks->shared_start[num_ranks];
  size_t bytes = (size_t)count * sizeof(int32_t);
  if (!yw_plastic_grow(ranks, &ranks->out, bytes) || !yw_plastic_grow(ranks, &ranks->in, bytes)) {
    ranks->comm->abandon(ranks->comm->context, "not enough memory");
  }
  int32_t *out = ranks->out.data, *in = ranks->in.data;
  for (int32_t i = 0; i < count; ++i) out[i] = held_by[shared[i].slave];
  for (int32_t r = 0; r <= num_ranks; ++r) {
    ranks->out_start[r] = ranks->in_start[r] = (size_t)ranks->shared_start[r] * sizeof *out;
  }
  yw_ranks_exchange(ranks->comm, out, ranks->out_start, in, ranks->in_start);
  for (int32_t i = 0; i < count; ++i) {
    int32_t s = shared[i].slave;
    if (in[i] <= held_by[s]) continue;
    held_by[s] = in[i];
    yw_plastic_hold_slave(body, ctx, s, in[i]);
  }
}
