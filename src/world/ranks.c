// SPDX-License-Identifier: MIT
// Worlds that several ranks simulate together: what is possible, whether all have the same, and how
// they follow rank 0.
#include "yawara/extend/ranks.h"

#include <string.h>

#include "world/fingerprint.h"
#include "world/world.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

yw_status yw_world_set_ranks(yw_world* world, const yw_ranks* ranks) {
  if (!world || world->body_order.count > 0) return YW_ERR_INVALID;
  if (ranks && (ranks->interface != YW_RANKS_INTERFACE || ranks->count < 1)) return YW_ERR_INVALID;
  world->ranks = ranks && ranks->count > 1 ? ranks : NULL;
  if (!world->ranks || world->order_depth) return YW_OK;
  world->order_depth = YW_NEW(&world->mem, int32_t);
  if (!world->order_depth) return YW_ERR_MEMORY;
  // Nobody follows before all have agreed.
  *world->order_depth = 1;
  return YW_OK;
}

// There must be something to share.
static yw_status check_contents(const yw_world* world, yw_error* error) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    if (yw_body_in_order(world, i)->is_shared) return YW_OK;
  }
  if (world->unshared.message[0]) {
    return yw_fail(error, YW_ERR_INVALID, "%s", world->unshared.message);
  }
  return yw_fail(error, YW_ERR_INVALID,
                 "%d ranks were started, but only plastic bodies are shared by ranks, and the "
                 "scene has none",
                 world->ranks->count);
}

// The largest of a number and of its complement tell whether all have the same.
static bool all_have(const yw_ranks* ranks, uint64_t value) {
  double most[4];
  for (int i = 0; i < 2; ++i) {
    double half = (double)(uint32_t)(value >> (32 * i));
    most[2 * i] = half;
    most[2 * i + 1] = -half;
  }
  yw_ranks_most(ranks, most, 4);
  return most[0] == -most[1] && most[2] == -most[3];
}

yw_status yw_world_check_ranks(const yw_world* world, yw_error* error) {
  if (!world || !world->ranks) return YW_OK;
  yw_status status = check_contents(world, error);
  yw_fingerprint print = yw_world_fingerprint(world);
  uint64_t hash = yw_hash_u64(YW_HASH_SEED, (uint64_t)(int64_t)status);
  for (int32_t i = 0; i < YW_FINGERPRINT_PARTS; ++i) hash = yw_hash_u64(hash, print.parts[i]);
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_particles* p = &world->bodies.items[world->body_order.items[i]].particles;
    hash = yw_hash_bytes(hash, p->pos, (size_t)p->count * sizeof *p->pos);
    hash = yw_hash_bytes(hash, p->vel, (size_t)p->count * sizeof *p->vel);
  }
  bool same = all_have(world->ranks, hash);
  if (same && status >= 0) *world->order_depth = 0;
  if (same || status < 0) return status;
  return yw_fail(error, YW_ERR_INVALID,
                 "rank %d has another scene than the others: all must read the same files, with "
                 "the same options",
                 world->ranks->rank);
}

// Orders ------------------------------------------------------------------------------------------

// Snapshots are passed on in pieces of this many bytes.
#define PIECE ((size_t)1 << 24)

static void pass_data(const yw_ranks* ranks, char* data, size_t size) {
  for (size_t at = 0; at < size; at += PIECE) {
    yw_ranks_broadcast(ranks, 0, data + at, size - at < PIECE ? size - at : PIECE);
  }
}

void yw_order_give(const yw_world* world, yw_order order) {
  if (!world->ranks || (*world->order_depth)++ > 0 || world->ranks->rank != 0) return;
  yw_ranks_broadcast(world->ranks, 0, &order, sizeof order);
  // Nobody writes to it on this rank.
  pass_data(world->ranks, (char*)(uintptr_t)order.data, order.data ? (size_t)order.size : 0);
}

void yw_order_done(const yw_world* world) {
  if (world->ranks) --*world->order_depth;
}

// What comes with an order; to be freed.
static char* fetch_data(const yw_world* world, const yw_order* order) {
  char* data = yw_mem_alloc(&world->mem, (size_t)order->size, 1);
  if (!data) world->ranks->abandon(world->ranks->context, "not enough memory for a snapshot");
  pass_data(world->ranks, data, (size_t)order->size);
  return data;
}

static void load(yw_world* world, const yw_order* order) {
  char* data = fetch_data(world, order);
  yw_world_load(world, data, (size_t)order->size, NULL);
  yw_mem_free(&world->mem, data);
}

// Rank 0 keeps what it saves; here it is only taken part in.
static void save(const yw_world* world, const yw_order* order) {
  yw_writer counter = {.hashing = true, .hash = YW_HASH_SEED};
  (void)order;
  yw_world_write_snapshot(world, &counter);
}

static void put_nowhere(void* context, uint64_t offset, const void* bytes, size_t size) {
  (void)context;
  (void)offset;
  (void)bytes;
  (void)size;
}

// Puts what this rank has into the file. Returns YW_OK if all ranks could; *size: of all of it.
static yw_status write_part(const yw_world* world, const char* path, uint64_t offset,
                            uint64_t* size, yw_error* error) {
  yw_file_part* part = NULL;
  yw_status status = yw_file_part_open(path, &world->mem, &part, error);
  // Whoever cannot write takes part all the same.
  yw_writer writer = {.put = part ? yw_file_part_put : put_nowhere,
                      .context = part,
                      .size = (size_t)offset,
                      .silent = world->ranks && world->ranks->rank != 0};
  yw_world_write_snapshot(world, &writer);
  // The caller's part is for it to bring to the disk.
  if (part) status = yw_file_part_close(part, path, writer.silent, error);
  double failed = status < 0;
  yw_ranks_most(world->ranks, &failed, 1);
  *size = writer.size - offset;
  if (failed == 0.0 || status < 0) return status;
  return yw_fail(error, YW_ERR_IO, "%s: a rank cannot write its part: all must reach this folder",
                 yw_file_short_name(path));
}

static void write_file(const yw_world* world, const yw_order* order) {
  char* path = fetch_data(world, order);
  uint64_t size;
  write_part(world, path, order->offset, &size, NULL);
  yw_mem_free(&world->mem, path);
}

yw_status yw_world_save_file(const yw_world* world, const char* path, uint64_t offset,
                             uint64_t* size, yw_error* error) {
  yw_error_clear(error);
  if (!world || !path) return yw_fail(error, YW_ERR_INVALID, "the world or the path is NULL");
  uint64_t written = 0, hash = 0;
  yw_order_give(
      world,
      (yw_order){.kind = YW_ORDER_WRITE, .size = strlen(path) + 1, .offset = offset, .data = path});
  yw_status status = write_part(world, path, offset, &written, error);
  yw_order_done(world);
  if (status >= 0) status = yw_file_hash(path, offset, written, &world->mem, &hash, error);
  yw_file_part* tail = NULL;
  if (status >= 0) status = yw_file_part_open(path, &world->mem, &tail, error);
  if (status < 0) return status;
  yw_writer writer = {.put = yw_file_part_put, .context = tail, .size = (size_t)(offset + written)};
  yw_write_u64(&writer, hash);
  if (size) *size = writer.size - offset;
  return yw_file_part_close(tail, path, false, error);
}

static void show(const yw_world* world, const yw_order* order) {
  char* data = fetch_data(world, order);
  yw_shown_follow(world, order, data);
  yw_mem_free(&world->mem, data);
}

static void fill_field(yw_world* world, const yw_order* order) {
  const yw_body* body = yw_world_find_body(world, order->body);
  int32_t count = body ? body->particles.count : 0;
  float* values = YW_NEW_ARRAY(&world->mem, float, count);
  if (!values) world->ranks->abandon(world->ranks->context, "not enough memory for a field");
  yw_body_field_values(world, order->body, order->number, values, count);
  yw_mem_free(&world->mem, values);
}

yw_status yw_world_follow(yw_world* world) {
  if (!world || !world->ranks || world->ranks->rank == 0) return YW_ERR_INVALID;
  yw_status status = YW_OK;
  yw_step_report report;
  yw_body_sums sums;
  yw_body_energy energy;
  for (;;) {
    yw_order order;
    yw_ranks_broadcast(world->ranks, 0, &order, sizeof order);
    switch (order.kind) {
      case YW_ORDER_STEP:
        status = yw_world_step(world, order.dt, order.number, &report);
        break;
      case YW_ORDER_HASH:
        yw_world_hash(world);
        break;
      case YW_ORDER_SIZE:
        yw_world_snapshot_size(world);
        break;
      case YW_ORDER_SAVE:
        save(world, &order);
        break;
      case YW_ORDER_WRITE:
        write_file(world, &order);
        break;
      case YW_ORDER_LOAD:
        load(world, &order);
        break;
      case YW_ORDER_SUMS:
        yw_body_sums_of(world, order.body, &sums);
        break;
      case YW_ORDER_ENERGY:
        yw_body_energy_of(world, order.body, &energy);
        break;
      case YW_ORDER_FIELD:
        fill_field(world, &order);
        break;
      case YW_ORDER_SHOW:
        show(world, &order);
        break;
      default:
        return status;
    }
  }
}
