// SPDX-License-Identifier: MIT
// Calls to other ranks, counted; and ranks that are threads of one program.
#include "yawara/extend/ranks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "yawara/extend/memory.h"
#include "yawara/extend/timer.h"

// Time in a call is not work.
static double begin_call(const yw_ranks* ranks) { return ranks->traffic ? yw_seconds() : 0.0; }

static void end_call(const yw_ranks* ranks, double begin) {
  if (ranks->traffic) ranks->traffic->waited += yw_seconds() - begin;
}

void yw_ranks_sum(const yw_ranks* ranks, int64_t* values, int32_t count) {
  if (!ranks) return;
  double begin = begin_call(ranks);
  if (ranks->traffic) ++ranks->traffic->sums;
  ranks->sum(ranks->context, values, count);
  end_call(ranks, begin);
}

void yw_ranks_most(const yw_ranks* ranks, double* values, int32_t count) {
  if (!ranks) return;
  double begin = begin_call(ranks);
  if (ranks->traffic) ++ranks->traffic->sums;
  ranks->most(ranks->context, values, count);
  end_call(ranks, begin);
}

void yw_ranks_gather(const yw_ranks* ranks, const void* mine, void* all, const size_t* sizes) {
  if (!ranks) {
    memmove(all, mine, sizes[0]);
    return;
  }
  double begin = begin_call(ranks);
  if (ranks->traffic) ranks->traffic->gathered += sizes[ranks->rank];
  ranks->gather(ranks->context, mine, all, sizes);
  end_call(ranks, begin);
}

void yw_ranks_broadcast(const yw_ranks* ranks, int32_t root, void* data, size_t size) {
  if (!ranks) return;
  double begin = begin_call(ranks);
  if (ranks->traffic && ranks->rank == root) ranks->traffic->gathered += size;
  ranks->broadcast(ranks->context, root, data, size);
  end_call(ranks, begin);
}

static void count_messages(const yw_ranks* ranks, const size_t* out_start) {
  for (int32_t r = 0; ranks->traffic && r < ranks->count; ++r) {
    size_t size = out_start[r + 1] - out_start[r];
    if (r == ranks->rank || size == 0) continue;
    ranks->traffic->bytes += size;
    ++ranks->traffic->messages;
  }
}

void yw_ranks_exchange(const yw_ranks* ranks, const void* out, const size_t* out_start, void* in,
                       const size_t* in_start) {
  if (!ranks) return;
  double begin = begin_call(ranks);
  count_messages(ranks, out_start);
  ranks->exchange(ranks->context, out, out_start, in, in_start);
  end_call(ranks, begin);
}

void yw_ranks_begin_exchange(const yw_ranks* ranks, const void* out, const size_t* out_start,
                             void* in, const size_t* in_start) {
  if (!ranks) return;
  double begin = begin_call(ranks);
  count_messages(ranks, out_start);
  ranks->begin_exchange(ranks->context, out, out_start, in, in_start);
  end_call(ranks, begin);
}

void yw_ranks_end_exchange(const yw_ranks* ranks) {
  if (!ranks) return;
  double begin = begin_call(ranks);
  ranks->end_exchange(ranks->context);
  end_call(ranks, begin);
}

#ifdef __EMSCRIPTEN__
yw_ranks* yw_ranks_create_local(int32_t count) {
  (void)count;
  return NULL;
}

void yw_ranks_destroy_local(yw_ranks* ranks) { (void)ranks; }
#else

// Threads ----------------------------------------------------------------------------------------

typedef struct meeting_point meeting_point;

// What a thread shows to the others while all are in one call.
typedef struct local_rank {
  meeting_point* point;
  int32_t rank;
  const void* shown;
  const size_t* starts;
  void* in;  // of an exchange
  const size_t* in_starts;
  yw_ranks_traffic traffic;
} local_rank;

struct meeting_point {
  int32_t count;
  pthread_barrier_t barrier;
  local_rank* all;
  yw_ranks* ranks;
};

static void meet(const local_rank* own) { pthread_barrier_wait(&own->point->barrier); }

static void local_sum(void* context, int64_t* values, int32_t count) {
  local_rank* own = context;
  own->shown = values;
  meet(own);
  int64_t total[256] = {0};
  for (int32_t begin = 0; begin < count; begin += 256) {
    int32_t some = count - begin < 256 ? count - begin : 256;
    memset(total, 0, sizeof total);
    for (int32_t r = 0; r < own->point->count; ++r) {
      const int64_t* theirs = (const int64_t*)own->point->all[r].shown + begin;
      for (int32_t i = 0; i < some; ++i) total[i] += theirs[i];
    }
    meet(own);
    memcpy(values + begin, total, (size_t)some * sizeof *values);
  }
  meet(own);
}

static void local_most(void* context, double* values, int32_t count) {
  local_rank* own = context;
  own->shown = values;
  for (int32_t i = 0; i < count; ++i) {
    meet(own);
    double most = values[i];
    for (int32_t r = 0; r < own->point->count; ++r) {
      double theirs = ((const double*)own->point->all[r].shown)[i];
      if (theirs > most) most = theirs;
    }
    meet(own);
    values[i] = most;
  }
  meet(own);
}

static void local_gather(void* context, const void* mine, void* all, const size_t* sizes) {
  local_rank* own = context;
  own->shown = mine;
  meet(own);
  size_t at = 0;
  for (int32_t r = 0; r < own->point->count; at += sizes[r++]) {
    char* to = (char*)all + at;
    if (sizes[r] > 0 && to != own->point->all[r].shown) {
      memcpy(to, own->point->all[r].shown, sizes[r]);
    }
  }
  meet(own);
}

static void local_broadcast(void* context, int32_t root, void* data, size_t size) {
  local_rank* own = context;
  own->shown = data;
  meet(own);
  if (own->rank != root && size > 0) memcpy(data, own->point->all[root].shown, size);
  meet(own);
}

static void local_begin_exchange(void* context, const void* out, const size_t* out_start, void* in,
                                 const size_t* in_start) {
  local_rank* own = context;
  own->shown = out;
  own->starts = out_start;
  own->in = in;
  own->in_starts = in_start;
}

static void local_end_exchange(void* context) {
  local_rank* own = context;
  meet(own);
  for (int32_t r = 0; r < own->point->count; ++r) {
    const local_rank* other = &own->point->all[r];
    size_t at = own->in_starts[r], size = own->in_starts[r + 1] - at;
    if (r == own->rank || size == 0) continue;
    memcpy((char*)own->in + at, (const char*)other->shown + other->starts[own->rank], size);
  }
  meet(own);
}

static void local_exchange(void* context, const void* out, const size_t* out_start, void* in,
                           const size_t* in_start) {
  local_begin_exchange(context, out, out_start, in, in_start);
  local_end_exchange(context);
}

static void local_abandon(void* context, const char* reason) {
  (void)context;
  (void)reason;
  abort();
}

yw_ranks* yw_ranks_create_local(int32_t count) {
  if (count < 1) return NULL;
  meeting_point* point = YW_NEW(NULL, meeting_point);
  yw_ranks* ranks = YW_NEW_ARRAY(NULL, yw_ranks, count);
  local_rank* all = YW_NEW_ARRAY(NULL, local_rank, count);
  if (!point || !ranks || !all || pthread_barrier_init(&point->barrier, NULL, (unsigned)count)) {
    yw_mem_free(NULL, point);
    yw_mem_free(NULL, ranks);
    yw_mem_free(NULL, all);
    return NULL;
  }
  point->count = count;
  point->all = all;
  point->ranks = ranks;
  for (int32_t r = 0; r < count; ++r) {
    all[r] = (local_rank){.point = point, .rank = r};
    ranks[r] = (yw_ranks){.interface = YW_RANKS_INTERFACE,
                          .count = count,
                          .rank = r,
                          .context = &all[r],
                          .sum = local_sum,
                          .most = local_most,
                          .gather = local_gather,
                          .broadcast = local_broadcast,
                          .exchange = local_exchange,
                          .begin_exchange = local_begin_exchange,
                          .end_exchange = local_end_exchange,
                          .abandon = local_abandon,
                          .traffic = &all[r].traffic};
  }
  return ranks;
}

void yw_ranks_destroy_local(yw_ranks* ranks) {
  if (!ranks) return;
  local_rank* first = ranks->context;
  meeting_point* point = first->point;
  pthread_barrier_destroy(&point->barrier);
  yw_mem_free(NULL, point->all);
  yw_mem_free(NULL, point->ranks);
  yw_mem_free(NULL, point);
}
#endif
