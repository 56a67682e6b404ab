// SPDX-License-Identifier: MIT
// Who has which chunks of masters: dealt out evenly at first, then by the time that ranks were
// measured to take. Chunks move when lists are about to be built again: slaves then travel to where
// masters see them anyway, and nothing but what a master keeps from step to step has to follow.
// Results do not depend on who has what; see ranks.h.
#include <string.h>

#include "methods/plastic/phases.h"
#include "methods/plastic/ranks.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/timer.h"

// Chunks move when the busiest rank takes this many times the mean ...
#define UNBALANCED 1.1
// ... since the last look, which is so many substeps ago.
enum { LOOK_AGAIN = 8 };

void yw_plastic_begin_work(plastic_body* body) {
  plastic_ranks* ranks = body->ranks;
  const yw_ranks* comm = ranks->comm;
  ranks->began = comm->worked ? comm->worked(comm->context) : yw_seconds();
  ranks->waited = comm->traffic ? comm->traffic->waited : 0.0;
}

void yw_plastic_end_work(plastic_body* body) {
  plastic_ranks* ranks = body->ranks;
  const yw_ranks* comm = ranks->comm;
  double now = comm->worked ? comm->worked(comm->context) : yw_seconds();
  double waited = comm->traffic && !comm->worked ? comm->traffic->waited - ranks->waited : 0.0;
  ranks->worked += now - ranks->began - waited;
  ++ranks->substeps;
}

// Chunks that have started of rank r: those that take time.
static int32_t working_chunks(const plastic_body* body, int32_t r) {
  return yw_plastic_chunks(yw_plastic_masters_of_rank(body, r), PLASTIC_CHUNK);
}

// Seconds of all ranks, into `seconds`. True if chunks have to move.
static bool is_unbalanced(plastic_body* body, double* seconds) {
  plastic_ranks* ranks = body->ranks;
  int32_t count = ranks->comm->count;
  for (int32_t r = 0; r < count; ++r) ranks->sizes[r] = sizeof *seconds;
  yw_ranks_gather(ranks->comm, &ranks->worked, seconds, ranks->sizes);
  ranks->worked = 0.0;
  ranks->substeps = 0;
  double sum = 0.0, most = 0.0;
  for (int32_t r = 0; r < count; ++r) {
    sum += seconds[r];
    if (seconds[r] > most) most = seconds[r];
  }
  return sum > 0.0 && most * count > UNBALANCED * sum;
}

// New starts of ranks, in masters: chunks take as long as those of their rank did on average, and
// every rank gets as much time, but a chunk at least.
static void deal_again(const plastic_body* body, const double* seconds, int32_t* start) {
  const plastic_ranks* ranks = body->ranks;
  const int32_t* old = ranks->master_start;
  int32_t count = ranks->comm->count, chunk = 0, all = body->model->num_masters;
  int32_t chunks = yw_plastic_chunks(all, PLASTIC_CHUNK);
  double sum = 0.0, passed = 0.0;
  for (int32_t r = 0; r < count; ++r) sum += seconds[r];
  start[0] = 0;
  for (int32_t next = 1, r = 0; next < count; ++next) {
    while (chunk < chunks - (count - next)) {
      while (chunk * PLASTIC_CHUNK >= old[r + 1]) ++r;
      int32_t working = working_chunks(body, r);
      bool works = chunk * PLASTIC_CHUNK < body->num_all && working > 0;
      double share = works ? seconds[r] / working : 0.0;
      // The border lies in the middle of a chunk at most.
      bool least = chunk * PLASTIC_CHUNK == start[next - 1];
      if (!least && passed + 0.5 * share > sum * next / count) break;
      passed += share;
      ++chunk;
    }
    start[next] = chunk * PLASTIC_CHUNK;
  }
  start[count] = all;
}

static int32_t clamp(int32_t x, int32_t low, int32_t high) {
  return x < low ? low : x > high ? high : x;
}

// Where what is kept of masters begins, in units of `per` masters.
static size_t units(int32_t masters, int32_t per) {
  return ((size_t)masters + (size_t)per - 1) / (size_t)per;
}

// Brings values of `size` bytes per `per` masters to where masters are now. before, now: starts of
// ranks. NULL: out of memory.
static void* move_values(plastic_body* body, const int32_t* before, const int32_t* now,
                         void* values, size_t size, int32_t per) {
  plastic_ranks* ranks = body->ranks;
  int32_t me = ranks->comm->rank, all = body->num_all;
  int32_t b0 = clamp(before[me], 0, all), b1 = clamp(before[me + 1], 0, all);
  int32_t n0 = clamp(now[me], 0, all), n1 = clamp(now[me + 1], 0, all);
  char* out = yw_mem_alloc(&body->mem, size * (units(now[me + 1] - now[me], per) + 1), 64);
  if (!out) return NULL;
  for (int32_t r = 0; r <= ranks->comm->count; ++r) {
    ranks->out_start[r] = size * units(clamp(now[r], b0, b1) - b0, per);
    ranks->in_start[r] = size * units(clamp(before[r], n0, n1) - n0, per);
  }
  yw_ranks_exchange(ranks->comm, values, ranks->out_start, out, ranks->in_start);
  // What stays.
  memcpy(out + ranks->in_start[me], (const char*)values + ranks->out_start[me],
         ranks->in_start[me + 1] - ranks->in_start[me]);
  yw_mem_free(&body->mem, values);
  return out;
}

// What masters keep; everything else is made again.
static bool move_masters(plastic_body* body, const int32_t* before, const int32_t* now) {
  plastic_ranks* ranks = body->ranks;
  int32_t me = ranks->comm->rank;
  void* state = move_values(body, before, now, body->state, sizeof *body->state, YW_LANES);
  void* pos = state ? move_values(body, before, now, body->last_pos, sizeof(yw_vec4), 1) : NULL;
  void* vel = pos ? move_values(body, before, now, body->last_vel, sizeof(yw_vec4), 1) : NULL;
  if (!vel) return false;
  body->first_master = now[me];
  body->master_capacity = now[me + 1] - now[me];
  body->num_masters = yw_plastic_masters_of_rank(body, me);
  body->last_pos = pos;
  body->last_vel = vel;
  body->state = NULL;
  if (!yw_plastic_renew_masters(body)) return false;
  memcpy(body->state, state, units(body->num_masters, YW_LANES) * sizeof *body->state);
  yw_mem_free(&body->mem, state);
  return true;
}

static bool deal(plastic_body* body, const double* seconds) {
  plastic_ranks* ranks = body->ranks;
  size_t count = (size_t)ranks->comm->count + 1;
  int32_t* now = YW_NEW_ARRAY(&body->mem, int32_t, count);
  if (!now) return false;
  deal_again(body, seconds, now);
  int32_t* before = ranks->master_start;
  if (memcmp(before, now, count * sizeof *now) == 0) {
    yw_mem_free(&body->mem, now);
    return true;
  }
  for (size_t r = 1; ranks->comm->traffic && r + 1 < count; ++r) {
    int32_t way = now[r] > before[r] ? now[r] - before[r] : before[r] - now[r];
    ranks->comm->traffic->moved += (uint64_t)yw_plastic_chunks(way, PLASTIC_CHUNK);
  }
  ranks->master_start = now;
  bool good = move_masters(body, before, now);
  yw_mem_free(&body->mem, before);
  body->lists_are_old = true;
  body->num_listed = 0;
  if (!good || !yw_plastic_list_cross_links(body)) return false;
  yw_plastic_keep_destroy(body);
  return yw_plastic_keep_create(body);
}

void yw_plastic_balance(plastic_body* body) {
  plastic_ranks* ranks = body->ranks;
  bool due = body->lists_are_old || body->drift > 0.5f * body->skin;
  if (!due || ranks->substeps < LOOK_AGAIN || body->num_all == 0) return;
  double* seconds = YW_NEW_ARRAY(&body->mem, double, ranks->comm->count);
  bool good = seconds != NULL;
  if (good && is_unbalanced(body, seconds)) good = deal(body, seconds);
  yw_mem_free(&body->mem, seconds);
  if (!good) ranks->comm->abandon(ranks->comm->context, "not enough memory");
}
