// SPDX-License-Identifier: MIT
// Neighbour lists of a plastic body on the device: sent, or built there (plastic_lists.h).
#ifndef YW_DEVICE_CUDA_PLASTIC_BUILD_H
#define YW_DEVICE_CUDA_PLASTIC_BUILD_H

#include "device/cuda/plastic_memory.h"

// Room, and copies --------------------------------------------------------------------------------

// Slots that shared memory holds: all but a few of the chunks, and never so many that only one
// block of threads would fit a processor.
static int32_t choose_room(const int32_t* local_start, int32_t chunks) {
  enum { STEP = 64, MOST = 3072 };
  int32_t count[MOST / STEP + 1] = {0}, left = chunks / 50, room = MOST;
  for (int32_t c = 0; c < chunks; ++c) {
    int32_t slots = (local_start[c + 1] - local_start[c] + STEP - 1) / STEP;
    ++count[slots < MOST / STEP ? slots : MOST / STEP];
  }
  // The last class has all that do not fit anyway.
  for (int32_t k = MOST / STEP; k > 1; --k) {
    left -= count[k];
    if (left < 0) break;
    room = (k - 1) * STEP;
  }
  return room;
}

static bool put_slaves(plastic_remote* r, const yw_vec4* pos, const int32_t* part_start,
                       size_t slaves) {
  plastic_body* to = &r->args.body;
  const yw_vec4* none = NULL;
  int next = FIRST_SLAVE_ARRAY;
  return plastic_put(r, &next, pos, slaves, &to->slave_pos) &&
         plastic_put(r, &next, none, slaves, &to->slave_vel) &&
         plastic_put(r, &next, none, slaves, &to->force) &&
         plastic_put(r, &next, none, slaves, &to->solved) &&
         plastic_put(r, &next, none, slaves, &to->residual) &&
         plastic_put(r, &next, none, slaves, &to->product) &&
         plastic_put(r, &next, none, slaves, &to->normal) &&
         plastic_put(r, &next, none, slaves, &to->surface_vel) &&
         plastic_put(r, &next, (const plastic_course*)NULL, slaves, &to->course) &&
         plastic_put(r, &next, (const float*)NULL, 6 * slaves, (float**)&to->inverse) &&
         plastic_put(r, &next, (const uint8_t*)NULL, slaves, &to->touches) &&
         plastic_put(r, &next, part_start, slaves + 1, &to->part_start);
}

// body, layout: NULL, only room.
static bool put_rows(plastic_remote* r, const plastic_body* body, const plastic_layout* layout,
                     size_t masters) {
  plastic_body* to = &r->args.body;
  size_t groups = (masters + PLASTIC_GROUP - 1) / PLASTIC_GROUP;
  size_t blocks = body ? (size_t)body->num_slave_blocks : (size_t)r->args.num_chunks;
  int next = FIRST_ROW_ARRAY;
  return plastic_put(r, &next, body ? body->slave_block : NULL, blocks + 1, &to->slave_block) &&
         plastic_put(r, &next, body ? body->row_start : NULL, masters + 1, &to->row_start) &&
         plastic_put(r, &next, body ? body->four_start : NULL, masters + 1, &to->four_start) &&
         plastic_put(r, &next, layout ? layout->row_start : NULL, groups + 1,
                     &r->args.layout.row_start);
}

static bool put_fours(plastic_remote* r, const plastic_layout* layout, size_t fours) {
  plastic_layout* to = &r->args.layout;
  int next = FIRST_FOUR_ARRAY;
  return plastic_put(r, &next, layout ? layout->column : NULL, fours, &to->column) &&
         plastic_put(r, &next, layout ? layout->at : NULL, fours, &to->at) &&
         plastic_put(r, &next, (const float*)NULL, fours, &r->args.body.share) &&
         // Pairs that fill rows up have no weight.
         device_zero(r->stream, r->args.body.share, fours * sizeof(float));
}

static bool put_chunks(plastic_remote* r, const int32_t* local_start, const int32_t* first_group,
                       size_t chunks) {
  int next = FIRST_CHUNK_ARRAY;
  return plastic_put(r, &next, local_start, chunks + 1, &r->args.body.local_start) &&
         plastic_put(r, &next, first_group, chunks + 1, &r->args.layout.first_group);
}

static bool put_slots(plastic_remote* r, const int32_t* local_slave, const int32_t* part_at,
                      size_t slots) {
  int next = FIRST_SLOT_ARRAY;
  return plastic_put(r, &next, local_slave, slots, &r->args.body.local_slave) &&
         plastic_put(r, &next, part_at, slots, &r->args.body.part_at) &&
         plastic_put(r, &next, (const yw_vec4*)NULL, 2 * slots, &r->args.body.parts);
}

static bool put_groups(plastic_remote* r, const plastic_layout* layout, size_t groups) {
  plastic_layout* to = &r->args.layout;
  size_t all = groups * PLASTIC_GROUP;
  int next = FIRST_GROUP_ARRAY;
  return plastic_put(r, &next, layout ? layout->slot_start : NULL, groups + 1, &to->slot_start) &&
         plastic_put(r, &next, layout ? layout->slot : NULL, all, &to->slot) &&
         plastic_put(r, &next, layout ? layout->count : NULL, all, &to->count);
}

static bool put_pairs(plastic_remote* r, const uint8_t* master, size_t pairs) {
  int next = FIRST_PAIR_ARRAY;
  return plastic_put(r, &next, master, pairs, &r->args.layout.master) &&
         plastic_put(r, &next, (const float*)NULL, pairs, &r->args.turned_share);
}

static yw_status plastic_send_slaves(plastic_remote* r, const plastic_body* body) {
  plastic_body* to = &r->args.body;
  to->num_slaves = to->slave_capacity = body->num_slaves;
  bool ok =
      put_slaves(r, body->slave_pos, NULL, (size_t)body->num_slaves) && device_wait(r->stream);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

// Building ----------------------------------------------------------------------------------------

// Room for what is there only while lists are built.
static bool reserve_work(plastic_remote* r, size_t masters, size_t slaves) {
  list_args* l = &r->lists;
  size_t chunks = (size_t)r->args.num_chunks, buckets = (size_t)l->mask + 1;
  size_t most = buckets > masters ? buckets : masters;
  const int32_t* none = NULL;
  int next = FIRST_WORK_ARRAY;
  return plastic_put(r, &next, (const list_counts*)NULL, 1, &l->counts) &&
         plastic_put(r, &next, none, buckets + 1, &l->bucket_start) &&
         plastic_put(r, &next, none, buckets, &l->bucket_fill) &&
         plastic_put(r, &next, none, slaves, &l->bucket) &&
         plastic_put(r, &next, none, slaves, &l->order) &&
         plastic_put(r, &next, (const yw_vec4*)NULL, slaves, &l->sorted) &&
         plastic_put(r, &next, (const yw_vec4*)NULL, slaves, &l->kept) &&
         plastic_put(r, &next, (const uint32_t*)NULL, slaves, &l->line) &&
         plastic_put(r, &next, none, masters, &l->length) &&
         plastic_put(r, &next, none, chunks * PLASTIC_MAX_LOCALS, &l->found) &&
         plastic_put(r, &next, none, chunks, &l->is_large) &&
         plastic_put(r, &next, none, chunks + 1, &l->chunk_count) &&
         plastic_put(r, &next, none, slaves, &l->first_chunk) &&
         plastic_put(r, &next, none, slaves, &l->number) &&
         plastic_put(r, &next, none, slaves, &l->part_fill) &&
         plastic_put(r, &next, none, (size_t)scan_tiles((int32_t)most) + 1, &l->sums) &&
         device_zero(r->stream, l->counts, sizeof *l->counts);
}
enum { PART_ORDER_ARRAY = FIRST_WORK_ARRAY + 16, TABLES_ARRAY };

template <class Work>
static bool run_list(plastic_remote* r, int32_t count) {
  typedef list_kernel<Work> kernel;
  int blocks = (count + kernel::THREADS - 1) / kernel::THREADS;
  r->lists.all = r->args;
  return blocks == 0 || device_run<kernel>(r->stream, r->lists, blocks, 16);
}
template <class Kernel>
static bool run_chunks(plastic_remote* r, size_t shared_bytes) {
  r->lists.all = r->args;
  return device_run<Kernel>(r->stream, r->lists, r->args.num_chunks, shared_bytes);
}
static bool scan_list(plastic_remote* r, const int32_t* from, int32_t* to, int32_t count) {
  return device_scan(r->stream, from, to, count, r->lists.sums);
}
static bool get_number(plastic_remote* r, const int32_t* from, int32_t* to) {
  return device_get(r->stream, to, from, sizeof *to) && device_wait(r->stream);
}

static bool find_rows(plastic_remote* r, plastic_listing* out) {
  const list_args* l = &r->lists;
  const plastic_body* body = &r->args.body;
  const int32_t masters = body->num_masters, slaves = body->num_slaves;
  const int32_t groups = (masters + PLASTIC_GROUP - 1) / PLASTIC_GROUP;
  const size_t buckets = (size_t)l->mask + 1;
  int32_t fours = 0;
  bool ok = device_zero(r->stream, l->bucket_start, (buckets + 1) * sizeof(int32_t)) &&
            device_zero(r->stream, l->bucket_fill, buckets * sizeof(int32_t)) &&
            run_list<count_buckets>(r, slaves) &&
            scan_list(r, l->bucket_start, l->bucket_start, (int32_t)buckets) &&
            run_list<fill_buckets>(r, slaves) && run_list<sort_buckets>(r, slaves) &&
            run_list<drop_crowded>(r, slaves) && run_list<search_rows>(r, masters) &&
            run_list<measure_groups>(r, groups) &&
            scan_list(r, l->length, body->row_start, masters) &&
            scan_list(r, body->four_start, body->four_start, masters) &&
            scan_list(r, r->args.layout.row_start, r->args.layout.row_start, groups) &&
            get_number(r, body->row_start + masters, &out->num_pairs) &&
            get_number(r, r->args.layout.row_start + groups, &fours);
  return ok && put_fours(r, NULL, 4 * PLASTIC_GROUP * (size_t)fours);
}

// Slaves of chunks; *local_start: on the host.
static bool number_locals(plastic_remote* r, plastic_listing* out, int32_t* local_start) {
  const list_args* l = &r->lists;
  plastic_body* body = &r->args.body;
  const int32_t chunks = r->args.num_chunks;
  list_counts counts;
  bool ok = run_chunks<number_kernel<false>>(r, sizeof(number_kernel<false>::shared)) &&
            device_get(r->stream, &counts, l->counts, sizeof counts) && device_wait(r->stream);
  if (!ok) return false;
  out->dropped = counts.dropped;
  if (counts.large > 0) {
    int next = TABLES_ARRAY;
    size_t numbers = (size_t)LARGE_TABLES * 2 * LARGE_TABLE;
    ok = plastic_put(r, &next, (const int32_t*)NULL, numbers, &r->lists.tables);
    r->lists.all = r->args;
    ok = ok && device_run<number_kernel<true>>(r->stream, r->lists, LARGE_TABLES,
                                               sizeof(number_kernel<true>::shared));
  }
  ok = ok && scan_list(r, body->local_start, body->local_start, chunks) &&
       run_list<count_groups>(r, chunks) &&
       scan_list(r, l->chunk_count, r->args.layout.first_group, chunks) &&
       device_get(r->stream, local_start, body->local_start,
                  ((size_t)chunks + 1) * sizeof(int32_t)) &&
       device_wait(r->stream);
  if (!ok) return false;
  r->args.room = choose_room(local_start, chunks);
  body->num_locals = body->num_slots = local_start[chunks];
  int next = PART_ORDER_ARRAY;
  return put_slots(r, NULL, NULL, (size_t)body->num_locals) &&
         plastic_put(r, &next, (const int32_t*)NULL, (size_t)body->num_locals,
                     &r->lists.part_order);
}

// New numbers of slaves, and the parts of each.
static bool number_slaves(plastic_remote* r, plastic_listing* out) {
  const list_args* l = &r->lists;
  plastic_body* body = &r->args.body;
  const int32_t chunks = r->args.num_chunks, before = body->num_slaves;
  const size_t shared_bytes = sizeof(own_slaves_kernel<true>::shared);
  bool ok = run_chunks<locals_kernel<find_first_chunk>>(r, 16) &&
            run_chunks<own_slaves_kernel<true>>(r, shared_bytes) &&
            scan_list(r, body->slave_block, body->slave_block, chunks) &&
            run_chunks<own_slaves_kernel<false>>(r, shared_bytes) &&
            run_list<place_slaves>(r, before) &&
            get_number(r, body->slave_block + chunks, &out->num_slaves);
  if (!ok) return false;
  const int32_t slaves = out->num_slaves;
  body->num_slaves = body->slave_capacity = slaves;
  body->num_slave_blocks = chunks;
  return device_zero(r->stream, body->part_start, ((size_t)slaves + 1) * sizeof(int32_t)) &&
         device_zero(r->stream, l->part_fill, (size_t)slaves * sizeof(int32_t)) &&
         run_chunks<locals_kernel<rename_slaves>>(r, 16) &&
         scan_list(r, body->part_start, body->part_start, slaves) &&
         run_list<fill_parts>(r, body->num_locals) && run_list<sort_parts>(r, body->num_locals);
}

// Pairs by slots.
static bool turn_pairs(plastic_remote* r, const int32_t* local_start) {
  const int32_t chunks = r->args.num_chunks;
  int32_t groups = 0, pairs = 0, most = 1;
  for (int32_t c = 0; c < chunks; ++c) {
    int32_t slots = local_start[c + 1] - local_start[c];
    groups += (slots + PLASTIC_GROUP - 1) / PLASTIC_GROUP;
    if (slots > most) most = slots;
  }
  r->lists.slots_room = 1;
  while (r->lists.slots_room < most) r->lists.slots_room *= 2;
  const int32_t room = r->lists.slots_room;
  bool ok = put_groups(r, NULL, (size_t)groups) &&
            run_chunks<sort_slots_kernel>(r, sort_slots_kernel::shared_bytes(room)) &&
            scan_list(r, r->args.layout.slot_start, r->args.layout.slot_start, groups) &&
            get_number(r, r->args.layout.slot_start + groups, &pairs);
  return ok && put_pairs(r, NULL, PLASTIC_GROUP * (size_t)pairs) &&
         run_chunks<fill_slots_kernel>(r, fill_slots_kernel::shared_bytes(room));
}

static yw_status plastic_build_lists(plastic_remote* r, const plastic_body* body,
                                     plastic_listing* out) {
  const size_t n = (size_t)body->num_masters, chunks = (size_t)r->args.num_chunks;
  r->args.body.skin = body->skin;
  r->args.body.rules = body->rules;
  r->lists.mask = body->bucket_mask;
  int32_t* local_start = (int32_t*)malloc((chunks + 1) * sizeof(int32_t));
  bool ok = local_start && reserve_work(r, n, (size_t)r->args.body.num_slaves) &&
            put_rows(r, NULL, NULL, n) && put_chunks(r, NULL, NULL, chunks) && find_rows(r, out) &&
            number_locals(r, out, local_start) && number_slaves(r, out) &&
            turn_pairs(r, local_start);
  out->num_locals = r->args.body.num_locals;
  free(local_start);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static yw_status plastic_fetch_lists(plastic_remote* r, plastic_body* body) {
  const size_t n = (size_t)body->num_masters, word = sizeof(int32_t);
  bool ok = run_list<pack_rows>(r, body->num_masters) &&
            device_get(r->stream, body->row_start, r->args.body.row_start, (n + 1) * word) &&
            device_get(r->stream, body->column, r->lists.found, (size_t)body->num_pairs * word) &&
            device_wait(r->stream);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

// Rows of the masters that are due; *all: false where they are too many, or do not fit.
static yw_status plastic_fetch_due_rows(plastic_remote* r, plastic_body* body, bool* all) {
  const size_t n = (size_t)body->num_masters, word = sizeof(int32_t);
  const int32_t count = r->scalars.num_due_rows;
  *all = count <= MOST_DUE_ROWS && (size_t)count <= (size_t)r->args.num_chunks * PLASTIC_CHUNK;
  if (!*all) return YW_OK;
  const size_t numbers = (size_t)count * PLASTIC_MAX_ROW;
  int32_t* rows = (int32_t*)malloc((numbers + (size_t)count + 1) * word);
  int32_t* masters = rows ? rows + numbers : NULL;
  bool ok = rows && run_list<pack_due_rows>(r, count) &&
            device_get(r->stream, body->row_start, r->args.body.row_start, (n + 1) * word) &&
            device_get(r->stream, rows, r->lists.found, numbers * word) &&
            device_get(r->stream, masters, r->args.due_rows, (size_t)count * word) &&
            device_wait(r->stream);
  for (int32_t i = 0; ok && i < count; ++i) {
    const int32_t first = body->row_start[masters[i]];
    memcpy(body->column + first, rows + (size_t)i * PLASTIC_MAX_ROW,
           (size_t)(body->row_start[masters[i] + 1] - first) * word);
  }
  free(rows);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

#endif
