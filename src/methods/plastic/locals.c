// SPDX-License-Identifier: MIT
// Slaves of chunks. Each chunk stores its contributions to slaves separately (parts), so every
// slave that one of its masters sees has an index within the chunk. Slaves themselves are numbered
// by the first chunk that sees them, so the slaves of a chunk are adjacent in memory. Slaves that
// no master sees are removed.
#include <string.h>

#include "methods/plastic/phases.h"
#include "methods/plastic/ranks.h"
#include "yawara/extend/memory.h"

enum {
  USUAL_BITS = 12,  ///< size of the hash table for the slaves of a chunk
  MOST_BITS = 15,
};
_Static_assert(1 << MOST_BITS >= 2 * PLASTIC_MAX_LOCALS, "the largest table is never full");

static int32_t end_of(const plastic_body* body, int32_t chunk) {
  int32_t end = (chunk + 1) * PLASTIC_CHUNK;
  return end < body->num_masters ? end : body->num_masters;
}

typedef struct local_table {
  int32_t slave[1 << MOST_BITS];
  uint16_t number[1 << MOST_BITS];
  int32_t bits, count;
  int32_t* list;
} local_table;

// Index of a slave within the chunk, in order of first use.
static uint16_t number_in(local_table* table, int32_t s) {
  uint32_t mask = (1u << table->bits) - 1u;
  uint32_t at = (uint32_t)s * 0x9e3779b1u >> (32 - table->bits);
  while (table->slave[at] != s) {
    if (table->slave[at] < 0) {
      table->slave[at] = s;
      table->number[at] = (uint16_t)table->count;
      table->list[table->count++] = s;
      break;
    }
    at = (at + 1) & mask;
  }
  return table->number[at];
}

// Numbers the slaves in the rows of a chunk. False: too many for the table.
static bool try_list(plastic_body* body, int32_t chunk, local_table* table) {
  memset(table->slave, 0xff, sizeof *table->slave << table->bits);
  table->count = 0;
  for (int32_t m = chunk * PLASTIC_CHUNK; m < end_of(body, chunk); ++m) {
    size_t to = 4 * (size_t)body->four_start[m];
    for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e, ++to) {
      body->local_column[to] = number_in(table, body->column[e]);
    }
    // Pads to a multiple of four with pairs of weight zero.
    for (; to % 4 != 0; ++to) {
      body->local_column[to] = 0;
      body->share[to] = 0.0f;
      if (body->back_share) body->back_share[to] = 0.0f;
    }
    if (table->bits < MOST_BITS && table->count > (1 << table->bits) / 2) return false;
  }
  return true;
}

static void list_chunk(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  local_table table;
  table.list = yw_plastic_list_of(body, chunk);
  table.bits = USUAL_BITS;
  if (!try_list(body, chunk, &table)) {
    table.bits = MOST_BITS;
    try_list(body, chunk, &table);
  }
  body->local_start[chunk + 1] = table.count;
}

static bool reserve(plastic_body* body, int64_t count) {
  if (count <= body->local_capacity) return true;
  int64_t wanted = count + count / 4;
  if (wanted > INT32_MAX / 2) return false;
  yw_mem_free(&body->mem, body->local_slave);
  yw_mem_free(&body->mem, body->parts);
  yw_mem_free(&body->mem, body->part_at);
  body->local_slave = YW_NEW_ARRAY(&body->mem, int32_t, (size_t)wanted);
  body->parts = YW_NEW_ARRAY(&body->mem, yw_vec4, 2 * (size_t)wanted);
  body->part_at = YW_NEW_ARRAY(&body->mem, int32_t, (size_t)wanted);
  bool good = body->local_slave && body->parts && body->part_at;
  body->local_capacity = good ? (int32_t)wanted : 0;
  return good;
}

// Slaves of other ranks get blocks of their own, which come first and are in no sum.
static bool reserve_blocks(plastic_body* body, int32_t chunks, int32_t foreign) {
  body->first_own_block = yw_plastic_chunks(foreign, PLASTIC_SLAVE_CHUNK);
  int32_t blocks = body->first_own_block + chunks;
  if (blocks + 1 > body->block_capacity) {
    int32_t wanted = blocks + blocks / 4 + 2;
    body->block_capacity = 0;
    if (!YW_RENEW_ARRAY(&body->mem, body->slave_block, wanted)) return false;
    body->block_capacity = wanted;
  }
  for (int32_t b = 0; b < body->first_own_block; ++b) {
    body->slave_block[b] = b * PLASTIC_SLAVE_CHUNK;
  }
  return yw_plastic_reserve_sums(body, blocks);
}

// Renumbers the slaves whose number is -1 from `count` on, by chunks; fills in their blocks. Those
// that no master sees keep -1.
static int32_t number_slaves(plastic_body* body, int32_t chunks, int32_t count) {
  int32_t* number = body->slave_bucket;
  int32_t* block = body->slave_block + body->first_own_block;
  for (int32_t c = 0; c < chunks; ++c) {
    const int32_t* list = yw_plastic_list_of(body, c);
    int32_t locals = body->local_start[c + 1] - body->local_start[c];
    block[c] = count;
    for (int32_t i = 0; i < locals; ++i) {
      if (number[list[i]] < 0) number[list[i]] = count++;
    }
  }
  block[chunks] = count;
  body->num_slave_blocks = body->first_own_block + chunks;
  return count;
}

// Moves slaves to their new numbers.
static void place_slaves(plastic_body* body, int32_t count) {
  int32_t* number = body->slave_bucket;
  yw_vec4* numbered = body->product;
  // Without slaves of their own, masters that see nothing keep the one that stands for them.
  bool keeps_all = body->model->without_slaves;
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    if (number[s] < 0 && keeps_all) number[s] = count++;
    if (number[s] < 0) continue;
    numbered[number[s]] = body->slave_pos[s];
    if (!keeps_all) numbered[number[s]].w = 0.0f;
  }
  if (keeps_all) body->slave_block[body->num_slave_blocks] = count;
  if (!body->ranks) body->removed += body->num_slaves - count;
  body->num_slaves = count;
  body->product = body->slave_pos;
  body->slave_pos = numbered;
}

// Applies the new numbers to the slaves of a chunk and of its rows.
static void rename_chunk(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  const int32_t* list = yw_plastic_list_of(body, chunk);
  int32_t* locals = body->local_slave + body->local_start[chunk];
  int32_t count = body->local_start[chunk + 1] - body->local_start[chunk];
  for (int32_t i = 0; i < count; ++i) locals[i] = body->slave_bucket[list[i]];
  for (int32_t m = chunk * PLASTIC_CHUNK; m < end_of(body, chunk); ++m) {
    const uint16_t* local = body->local_column + 4 * (size_t)body->four_start[m];
    for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
      body->column[e] = locals[*local++];
    }
  }
}

// Lists the parts of each slave, in ascending order of chunks: those of lower ranks come first,
// those of higher ones last.
static void list_parts_of_slaves(plastic_body* body) {
  int32_t* start = body->part_start;
  memset(start, 0, ((size_t)body->num_slaves + 1) * sizeof *start);
  for (int32_t i = 0; i < body->num_locals; ++i) ++start[body->local_slave[i] + 1];
  if (body->ranks) yw_plastic_count_far_parts(body, start + 1);
  for (int32_t s = 0; s < body->num_slaves; ++s) start[s + 1] += start[s];
  if (body->ranks) yw_plastic_list_far_parts(body, start, true);
  for (int32_t i = 0; i < body->num_locals; ++i) body->part_at[start[body->local_slave[i]]++] = i;
  if (body->ranks) yw_plastic_list_far_parts(body, start, false);
  for (int32_t s = body->num_slaves; s > 0; --s) start[s] = start[s - 1];
  start[0] = 0;
}

bool yw_plastic_list_parts(plastic_body* body, const yw_step_ctx* ctx) {
  int32_t chunks = yw_plastic_chunks(body->num_masters, PLASTIC_CHUNK);
  body->four_start[0] = body->local_start[0] = 0;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    int32_t count = body->row_start[m + 1] - body->row_start[m];
    body->four_start[m + 1] = body->four_start[m] + (count + 3) / 4;
  }
  yw_plastic_run(body, NULL, ctx, chunks, list_chunk);
  int64_t total = 0;
  for (int32_t c = 0; c < chunks; ++c) {
    total += body->local_start[c + 1];
    if (total > INT32_MAX / 2) return false;
    body->local_start[c + 1] = (int32_t)total;
  }
  body->num_locals = (int32_t)total;
  int32_t foreign = 0;
  memset(body->slave_bucket, 0xff, (size_t)body->num_slaves * sizeof *body->slave_bucket);
  body->first_own_block = 0;
  body->num_slots = body->num_locals;
  if (body->ranks) foreign = yw_plastic_meet_ranks(body);
  if (foreign < 0 || !reserve(body, body->num_slots) || !reserve_blocks(body, chunks, foreign)) {
    return false;
  }
  int32_t count = number_slaves(body, chunks, foreign);
  if (body->ranks) yw_plastic_number_ranks(body, foreign, count);
  place_slaves(body, count);
  yw_plastic_run(body, NULL, ctx, chunks, rename_chunk);
  list_parts_of_slaves(body);
  if (body->ranks && !yw_plastic_list_posts(body)) return false;
  body->num_listed = body->num_slaves;
  return true;
}
