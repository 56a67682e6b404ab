// SPDX-License-Identifier: MIT
// Ranks over MPI 3 (Open MPI, MPICH): the only file that knows it.
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks/ranks.h"

// The most bytes in one message: counts of MPI are ints.
#define MOST_BYTES ((size_t)1 << 30)

typedef struct mpi_ranks {
  int count, rank;
  int num_requests, most_requests;
  MPI_Request* requests;
  MPI_Status* statuses;
  int *sizes, *starts;
} mpi_ranks;

static mpi_ranks state;
static yw_ranks ranks;
static yw_ranks_traffic traffic;

static void sum(void* context, int64_t* values, int32_t count) {
  (void)context;
  MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static void most(void* context, double* values, int32_t count) {
  (void)context;
  MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void broadcast(void* context, int32_t root, void* data, size_t size) {
  (void)context;
  for (size_t at = 0; at < size; at += MOST_BYTES) {
    size_t some = size - at < MOST_BYTES ? size - at : MOST_BYTES;
    MPI_Bcast((char*)data + at, (int)some, MPI_BYTE, root, MPI_COMM_WORLD);
  }
}

static void gather(void* context, const void* mine, void* all, const size_t* sizes) {
  mpi_ranks* m = context;
  size_t total = 0, own = 0;
  for (int r = 0; r < m->count; ++r) {
    if (r == m->rank) own = total;
    total += sizes[r];
  }
  char* place = (char*)all + own;
  if (place != mine && sizes[m->rank] > 0) memmove(place, mine, sizes[m->rank]);
  if (total > INT_MAX) {
    size_t at = 0;
    for (int r = 0; r < m->count; at += sizes[r++]) broadcast(m, r, (char*)all + at, sizes[r]);
    return;
  }
  int at = 0;
  for (int r = 0; r < m->count; ++r) {
    m->sizes[r] = (int)sizes[r];
    m->starts[r] = at;
    at += m->sizes[r];
  }
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, m->sizes, m->starts, MPI_BYTE, MPI_COMM_WORLD);
}

static void* grown(void* list, size_t bytes) {
  void* longer = realloc(list, bytes);
  if (longer) return longer;
  fprintf(stderr, "rank %d cannot go on: not enough memory for messages\n", state.rank);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

// Of a message that is longer than MPI takes at once, one for every piece of it.
static MPI_Request* next_request(mpi_ranks* m) {
  if (m->num_requests == m->most_requests) {
    m->most_requests = 2 * m->most_requests + 16;
    m->requests = grown(m->requests, sizeof *m->requests * (size_t)m->most_requests);
    m->statuses = grown(m->statuses, sizeof *m->statuses * (size_t)m->most_requests);
  }
  return &m->requests[m->num_requests++];
}

static void begin_exchange(void* context, const void* out, const size_t* out_start, void* in,
                           const size_t* in_start) {
  mpi_ranks* m = context;
  m->num_requests = 0;
  for (int r = 0; r < m->count; ++r) {
    for (size_t at = in_start[r]; r != m->rank && at < in_start[r + 1]; at += MOST_BYTES) {
      size_t some = in_start[r + 1] - at < MOST_BYTES ? in_start[r + 1] - at : MOST_BYTES;
      MPI_Irecv((char*)in + at, (int)some, MPI_BYTE, r, 0, MPI_COMM_WORLD, next_request(m));
    }
  }
  for (int r = 0; r < m->count; ++r) {
    for (size_t at = out_start[r]; r != m->rank && at < out_start[r + 1]; at += MOST_BYTES) {
      size_t some = out_start[r + 1] - at < MOST_BYTES ? out_start[r + 1] - at : MOST_BYTES;
      MPI_Isend((const char*)out + at, (int)some, MPI_BYTE, r, 0, MPI_COMM_WORLD, next_request(m));
    }
  }
}

static void end_exchange(void* context) {
  mpi_ranks* m = context;
  MPI_Waitall(m->num_requests, m->requests, m->statuses);
}

static void exchange(void* context, const void* out, const size_t* out_start, void* in,
                     const size_t* in_start) {
  begin_exchange(context, out, out_start, in, in_start);
  end_exchange(context);
}

static void abandon(void* context, const char* reason) {
  const mpi_ranks* m = context;
  fprintf(stderr, "rank %d cannot go on: %s\n", m->rank, reason);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

static const yw_ranks* open_ranks(int32_t* here, char* error, size_t capacity) {
  int level = 0, near = 1;
  MPI_Comm machine;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
    snprintf(error, capacity, "MPI_Init_thread failed");
    return NULL;
  }
  if (level < MPI_THREAD_FUNNELED) {
    snprintf(error, capacity, "this MPI library does not work with threads");
    return NULL;
  }
  MPI_Comm_size(MPI_COMM_WORLD, &state.count);
  MPI_Comm_rank(MPI_COMM_WORLD, &state.rank);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_size(machine, &near);
  MPI_Comm_free(&machine);
  state.sizes = malloc(sizeof *state.sizes * (size_t)state.count);
  state.starts = malloc(sizeof *state.starts * (size_t)state.count);
  if (!state.sizes || !state.starts) {
    snprintf(error, capacity, "not enough memory");
    return NULL;
  }
  ranks = (yw_ranks){.interface = YW_RANKS_INTERFACE,
                     .count = state.count,
                     .rank = state.rank,
                     .context = &state,
                     .sum = sum,
                     .most = most,
                     .gather = gather,
                     .broadcast = broadcast,
                     .exchange = exchange,
                     .begin_exchange = begin_exchange,
                     .end_exchange = end_exchange,
                     .abandon = abandon,
                     .traffic = &traffic};
  *here = near;
  return &ranks;
}

static void close_ranks(void) {
  MPI_Finalize();
  free(state.requests);
  free(state.statuses);
  free(state.sizes);
  free(state.starts);
}

__attribute__((visibility("default"))) const app_ranks_library* app_ranks_table(void) {
  static const app_ranks_library library = {YW_RANKS_INTERFACE, open_ranks, close_ranks};
  return &library;
}
