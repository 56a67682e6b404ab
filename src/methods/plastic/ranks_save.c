// SPDX-License-Identifier: MIT
// Snapshots of a body on several ranks: the same bytes as those of one rank. In files every rank
// puts what it has; otherwise all ranks write all of it, piece by piece. Each reads what belongs to
// it.
#include <math.h>
#include <string.h>

#include "methods/plastic/phases.h"
#include "methods/plastic/ranks.h"
#include "yawara/extend/memory.h"

// Bytes that are passed on at a time.
enum { PIECE = 1 << 16 };

// Where the bytes of a rank come from: fills `out` with [offset, offset + size) of them.
typedef void (*piece_source)(const plastic_body* body, const void* from, size_t offset, size_t size,
                             void* out);

static void from_memory(const plastic_body* body, const void* from, size_t offset, size_t size,
                        void* out) {
  (void)body;
  memcpy(out, (const char*)from + offset, size);
}

// Floats on the way to a writer. Hashes depend on what is written at once: as many as the writer
// takes at a time, whatever the pieces.
enum { BATCH = 256 };
typedef struct float_stream {
  yw_writer* writer;
  int32_t count;
  float held[BATCH];
} float_stream;

static void flush(float_stream* stream) {
  yw_write_f32(stream->writer, stream->held, (size_t)stream->count);
  stream->count = 0;
}

// Takes a piece of what all ranks write, in order.
typedef void (*piece_sink)(void* sink, const void* piece, size_t size);

static void to_stream(void* sink, const void* piece, size_t size) {
  float_stream* stream = sink;
  const float* values = piece;
  for (size_t i = 0; i < size / sizeof *values; ++i) {
    stream->held[stream->count++] = values[i];
    if (stream->count == BATCH) flush(stream);
  }
}

static void to_numbers(void* sink, const void* piece, size_t size) {
  const uint32_t* values = piece;
  for (size_t i = 0; i < size / sizeof *values; ++i) yw_write_u32(sink, values[i]);
}

// Puts what this rank has where it stands among that of all ranks.
static void put_own(const plastic_body* body, yw_writer* writer, piece_source source,
                    const void* from, size_t own, piece_sink take) {
  const yw_ranks* comm = body->ranks->comm;
  const uint64_t* all = body->ranks->counts;
  size_t before = 0, total = 0;
  for (int32_t r = 0; r < comm->count; ++r) {
    if (r < comm->rank) before += (size_t)all[r];
    total += (size_t)all[r];
  }
  yw_writer part = yw_writer_part(writer, writer->size + before);
  float_stream stream = {.writer = &part};
  _Alignas(8) char piece[PIECE];
  for (size_t at = 0; at < own; at += PIECE) {
    size_t some = own - at < PIECE ? own - at : PIECE;
    source(body, from, at, some, piece);
    take(take == to_stream ? (void*)&stream : (void*)&part, piece, some);
  }
  flush(&stream);
  writer->size += total;
}

// Hands what all ranks have to a sink, one after the other.
static void pass_all(const plastic_body* body, piece_source source, const void* from, size_t own,
                     piece_sink take, void* sink) {
  const yw_ranks* comm = body->ranks->comm;
  uint64_t size = own, *all = body->ranks->counts;
  for (int32_t r = 0; r < comm->count; ++r) body->ranks->sizes[r] = sizeof size;
  yw_ranks_gather(comm, &size, all, body->ranks->sizes);
  yw_writer* writer = take == to_stream ? ((float_stream*)sink)->writer : sink;
  if (writer->put) {
    put_own(body, writer, source, from, own, take);
    return;
  }
  _Alignas(8) char piece[PIECE];
  for (int32_t r = 0; r < comm->count; ++r) {
    for (size_t at = 0; at < all[r]; at += PIECE) {
      size_t some = all[r] - at < PIECE ? (size_t)all[r] - at : PIECE;
      if (r == comm->rank) source(body, from, at, some, piece);
      yw_ranks_broadcast(comm, r, piece, some);
      take(sink, piece, some);
    }
  }
}

static void write_own(const plastic_body* body, yw_writer* writer, const void* from, size_t own) {
  float_stream stream = {.writer = writer};
  pass_all(body, from_memory, from, own, to_stream, &stream);
  flush(&stream);
}

// Slaves that are not in lists yet, in the order of their numbers: each rank has some.
static void pass_new_slaves(const plastic_body* body, int32_t first, float_stream* stream) {
  const plastic_ranks* ranks = body->ranks;
  const int64_t* number = yw_plastic_numbers(body);
  int32_t s = first;
  for (int64_t at = ranks->num_all_listed; at < ranks->num_all;) {
    // The rank that has this number passes as many as follow each other.
    int32_t run = 0;
    while (s + run < body->num_slaves && number[s + run] == at + run) ++run;
    int64_t length = run;
    yw_ranks_sum(ranks->comm, &length, 1);
    if (length == 0) return;
    pass_all(body, from_memory, body->slave_pos + s, (size_t)run * sizeof(yw_vec4), to_stream,
             stream);
    s += run;
    at += length;
  }
}

// Those in lists belong to ranks in order; the rest does not.
static void write_slaves(const plastic_body* body, yw_writer* writer) {
  const plastic_ranks* ranks = body->ranks;
  const int64_t* number = yw_plastic_numbers(body);
  float_stream stream = {.writer = writer};
  int32_t first = ranks->num_foreign, end = first;
  while (end < body->num_slaves && number[end] < ranks->num_all_listed) ++end;
  pass_all(body, from_memory, body->slave_pos + first, (size_t)(end - first) * sizeof(yw_vec4),
           to_stream, &stream);
  pass_new_slaves(body, end, &stream);
  flush(&stream);
}

typedef struct row_piece {
  uint32_t before;  // pairs of lower ranks
} row_piece;

static void row_starts(const plastic_body* body, const void* from, size_t offset, size_t size,
                       void* out) {
  const row_piece* rows = from;
  uint32_t* to = out;
  const int32_t* start = body->row_start + offset / sizeof *to;
  for (size_t i = 0; i < size / sizeof *to; ++i) to[i] = rows->before + (uint32_t)start[i];
}

static void columns(const plastic_body* body, const void* from, size_t offset, size_t size,
                    void* out) {
  (void)from;
  uint32_t* to = out;
  const int32_t* column = body->column + offset / sizeof *to;
  for (size_t i = 0; i < size / sizeof *to; ++i) {
    to[i] = (uint32_t)yw_plastic_numbers(body)[column[i]];
  }
}

static void write_lists(const plastic_body* body, yw_writer* writer, int64_t before, int64_t all) {
  row_piece rows = {(uint32_t)before};
  size_t masters = (size_t)body->num_masters, word = sizeof(uint32_t);
  pass_all(body, row_starts, &rows, masters * word, to_numbers, writer);
  yw_write_u32(writer, (uint32_t)all);
  pass_all(body, columns, NULL, (size_t)body->num_pairs * word, to_numbers, writer);
}

void yw_plastic_save_shared(const plastic_body* body, yw_writer* writer) {
  const plastic_ranks* ranks = body->ranks;
  int32_t count = ranks->comm->count;
  uint64_t own_pairs = (uint64_t)body->num_pairs, *counts = ranks->counts;
  for (int32_t r = 0; r < count; ++r) ranks->sizes[r] = sizeof own_pairs;
  yw_ranks_gather(ranks->comm, &own_pairs, counts, ranks->sizes);
  int64_t pairs = 0, before = 0;
  for (int32_t r = 0; r < count; ++r) {
    if (r == ranks->comm->rank) before = pairs;
    pairs += (int64_t)counts[r];
  }
  yw_plastic_save_numbers(body, writer, ranks->num_all, pairs);
  size_t blocks = (size_t)yw_plastic_chunks(body->num_masters, YW_LANES);
  size_t masters = (size_t)body->num_masters;
  write_own(body, writer, body->state, blocks * sizeof *body->state);
  write_own(body, writer, body->last_pos, masters * sizeof *body->last_pos);
  write_own(body, writer, body->last_vel, masters * sizeof *body->last_vel);
  write_slaves(body, writer);
  yw_write_bytes(writer, body->is_linked, (size_t)body->model->num_links);
  if (!body->lists_are_old) write_lists(body, writer, before, pairs);
}

// Loading -----------------------------------------------------------------------------------------

static yw_vec4 slave_at(yw_reader slaves, size_t number) {
  yw_vec4 p;
  slaves.offset += number * sizeof p;
  yw_read_f32(&slaves, &p.x, 4);
  return p;
}

static bool add_loaded(plastic_body* body, yw_reader slaves, int64_t number) {
  yw_vec4 p = slave_at(slaves, (size_t)number);
  int32_t s = body->num_slaves++;
  if (!yw_is_finite3(yw_xyz(p))) return false;
  body->slave_pos[s] = p;
  // As when slaves are sorted: their order.
  memcpy(&body->slave_pos[s].w, &s, sizeof s);
  yw_plastic_numbers(body)[s] = number;
  return true;
}

static bool reserve_loaded(plastic_body* body, int32_t count) {
  // More memory makes lists old; those of the snapshot are not.
  bool are_old = body->lists_are_old;
  body->num_slaves = 0;
  bool good = yw_plastic_reserve_slaves(body, count) &&
              yw_plastic_grow(body->ranks, &body->ranks->numbers, (size_t)count * sizeof(int64_t));
  body->lists_are_old = are_old;
  return good;
}

// Without lists every rank takes an equal share.
static bool load_share(plastic_body* body, yw_reader slaves, int32_t count) {
  const yw_ranks* comm = body->ranks->comm;
  int64_t first = (int64_t)count * comm->rank / comm->count;
  int64_t end = (int64_t)count * (comm->rank + 1) / comm->count;
  if (!reserve_loaded(body, (int32_t)(end - first))) return false;
  bool good = true;
  for (int64_t n = first; good && n < end; ++n) good = add_loaded(body, slaves, n);
  for (int32_t s = 0; s < body->num_slaves; ++s) body->slave_pos[s].w = 0.0f;
  return good;
}

// Rows of the masters here, with the numbers of slaves as columns.
static bool load_rows(plastic_body* body, yw_reader* reader, int32_t num_slaves,
                      int32_t num_pairs) {
  size_t left = reader->size - reader->offset, word = sizeof(uint32_t);
  size_t starts = ((size_t)body->num_all + 1) * word;
  if (num_pairs < 0 || starts + (size_t)num_pairs * word > left) return false;
  yw_reader rows = *reader, pairs = *reader;
  rows.offset += (size_t)body->first_master * word;
  if (body->num_masters == 0) rows.offset = reader->offset;
  int64_t before = yw_read_u32(&rows), last = before;
  body->row_start[0] = 0;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    int64_t next = yw_read_u32(&rows);
    if (next < last || next - last > PLASTIC_MAX_ROW || next > num_pairs) return false;
    body->row_start[m + 1] = (int32_t)(next - before);
    last = next;
  }
  body->num_pairs = (int32_t)(last - before);
  if (!yw_plastic_reserve_pairs(body, body->num_pairs)) return false;
  pairs.offset += starts + (size_t)before * word;
  for (int32_t e = 0; e < body->num_pairs; ++e) {
    body->column[e] = (int32_t)yw_read_u32(&pairs);
    if (body->column[e] < 0 || body->column[e] >= num_slaves) return false;
  }
  reader->offset += starts + (size_t)num_pairs * word;
  return true;
}

// The slaves in these rows, in order of their numbers.
static bool load_seen(plastic_body* body, yw_reader slaves, int32_t num_slaves) {
  int32_t *index = YW_NEW_ARRAY(&body->mem, int32_t, num_slaves), count = 0;
  if (!index) return false;
  for (int32_t e = 0; e < body->num_pairs; ++e) index[body->column[e]] = 1;
  for (int32_t n = 0; n < num_slaves; ++n) count += index[n];
  bool good = reserve_loaded(body, count);
  for (int32_t n = 0; good && n < num_slaves; ++n) {
    if (!index[n]) continue;
    index[n] = body->num_slaves;
    good = add_loaded(body, slaves, n);
  }
  for (int32_t e = 0; good && e < body->num_pairs; ++e) body->column[e] = index[body->column[e]];
  yw_mem_free(&body->mem, index);
  return good;
}

bool yw_plastic_load_shared(plastic_body* body, yw_reader* reader, int32_t num_slaves,
                            int32_t num_pairs) {
  plastic_ranks* ranks = body->ranks;
  yw_reader slaves = *reader;
  size_t bytes = (size_t)num_slaves * sizeof(yw_vec4);
  if (bytes > reader->size - reader->offset) return false;
  reader->offset += bytes;
  yw_read_bytes(reader, body->is_linked, (size_t)body->model->num_links);
  ranks->num_all = num_slaves;
  ranks->num_all_listed = ranks->num_foreign = 0;
  if (reader->failed || !yw_plastic_list_sleepers(body)) return false;
  if (body->lists_are_old) return load_share(body, slaves, num_slaves);
  bool good = load_rows(body, reader, num_slaves, num_pairs) && load_seen(body, slaves, num_slaves);
  // Ranks build lists together: a snapshot that is bad for one is bad for all.
  if (yw_plastic_most(body, good ? 0.0f : 1.0f) > 0.0f) return false;
  const yw_step_ctx alone = {0};
  yw_particles masters = {.pos = body->last_pos, .count = body->num_masters};
  yw_plastic_find_boxes(body, &masters);
  int64_t removed = body->removed;
  good = yw_plastic_list_parts(body, &alone);
  body->removed = removed;
  return good;
}
