// SPDX-License-Identifier: MIT
// Memory of plastic bodies on the device.
#ifndef YW_DEVICE_CUDA_PLASTIC_MEMORY_H
#define YW_DEVICE_CUDA_PLASTIC_MEMORY_H

#include "device/cuda/obstacles.h"
#include "device/cuda/plastic_masters.h"
#include "device/cuda/plastic_slaves.h"
#include "device/cuda/plastic_slots.h"
#include "device/cuda/plastic_watch.h"

enum { PLASTIC_ARRAYS = 72 };

struct plastic_remote {
  device_stream stream;
  plastic_args args;
  list_args lists;             // `all` is set before each launch
  const plastic_model* model;  // on the host
  device_buffer arrays[PLASTIC_ARRAYS];
  device_obstacles obstacles;
  plastic_scalars scalars;  // as last read
  int32_t usual;            // iterations of the last solve
};

// Memory ------------------------------------------------------------------------------------------

// Bytes per slave, per slot of a chunk and per pair, as `send_lists` has them.
static const double SLAVE_BYTES =
    8 * sizeof(yw_vec4) + sizeof(plastic_course) + 6 * sizeof(float) + sizeof(int32_t) + 1;
static const double SLOT_BYTES = 3 * sizeof(int32_t) + 2 * sizeof(yw_vec4);
static const double PAIR_BYTES = 2 * sizeof(float) + 2 * sizeof(uint16_t) + 1;
// And per master and slave, while lists are built.
static const double FOUND_BYTES = (PLASTIC_MAX_ROW + 1) * sizeof(int32_t);
static const double SORT_BYTES = 2 * sizeof(yw_vec4) + 10 * sizeof(int32_t);

/// Pairs and slots are those of a lattice (body.c), and a quarter more.
static double plastic_bytes(const plastic_body* body) {
  double masters = body->master_capacity, slaves = body->model->num_slaves;
  double master =
      (sizeof(plastic_state_block) + sizeof(plastic_work_block) + sizeof(plastic_material_block)) /
          (double)YW_LANES +
      4 * sizeof(yw_vec4) + 6 * sizeof(float) + 1 + FOUND_BYTES;
  return masters * (master + 1.25 * (36 * PAIR_BYTES + 3 * SLOT_BYTES)) +
         1.25 * slaves * (SLAVE_BYTES + SORT_BYTES) +
         (double)body->model->num_links * (double)(sizeof(plastic_link) + 1);
}

static void plastic_destroy(plastic_remote* r) {
  if (!r) return;
  device_wait(r->stream);
  for (int i = 0; i < PLASTIC_ARRAYS; ++i) device_release(r->arrays[i].memory);
  obstacles_free(&r->obstacles);
  device_stream_close(r->stream);
  free(r);
}

// Room for `count` items, a quarter more where it grows; copies them.
template <class Item>
static bool plastic_put(plastic_remote* r, int* next, const Item* from, size_t count,
                        Item** pointer) {
  device_buffer* buffer = &r->arrays[(*next)++];
  size_t bytes = count * sizeof(Item);
  if (bytes > buffer->capacity && buffer->capacity > 0) bytes += bytes / 4;
  if (!buffer_reserve(r->stream, buffer, bytes)) return false;
  *pointer = (Item*)buffer->memory;
  return !from || device_put(r->stream, buffer->memory, from, count * sizeof(Item));
}

// Links of all masters, in the order of their numbers.
static bool plastic_put_links(plastic_remote* r, int* next, const plastic_model* model) {
  size_t count = (size_t)model->num_links;
  plastic_link* links = (plastic_link*)malloc((count + 1) * sizeof *links);
  if (!links) return false;
  for (int32_t b = 0, k = 0; b < model->num_masters; ++b) {
    const int32_t* way;
    int32_t own = yw_plastic_links_of(model, b, &way);
    for (int32_t i = 0; i < own; ++i) links[k++] = {b + way[i], b};
  }
  bool ok =
      plastic_put(r, next, links, count, (plastic_link**)&r->args.links) && device_wait(r->stream);
  free(links);
  return ok;
}

// Arrays by their sizes: of masters; of slaves, rows, fours, chunks, slots, groups of slots and
// pairs by slots; for building lists.
enum {
  FIRST_MASTER_ARRAY = 0,
  FIRST_SLAVE_ARRAY = 22,
  FIRST_ROW_ARRAY = 34,
  FIRST_FOUR_ARRAY = 38,
  FIRST_CHUNK_ARRAY = 41,
  FIRST_SLOT_ARRAY = 43,
  FIRST_GROUP_ARRAY = 46,
  FIRST_PAIR_ARRAY = 49,
  FIRST_WORK_ARRAY = 51
};

static bool plastic_allocate(plastic_remote* r, const plastic_body* body) {
  plastic_args* a = &r->args;
  const plastic_model* model = body->model;
  plastic_body* to = &a->body;
  size_t n = (size_t)body->master_capacity, blocks = (n + YW_LANES - 1) / YW_LANES;
  size_t chunks = (n + PLASTIC_CHUNK - 1) / PLASTIC_CHUNK, all = blocks * YW_LANES;
  const yw_vec4* no_vec = NULL;
  const float* no_float = NULL;
  int next = FIRST_MASTER_ARRAY;
  plastic_model own = *model;
  plastic_model* placed = NULL;
  bool ok =
      plastic_put(r, &next, &own, 1, &placed) &&
      plastic_put(r, &next, body->materials, blocks, (plastic_material_block**)&to->materials) &&
      plastic_put(r, &next, (const plastic_state_block*)NULL, blocks, &to->state) &&
      plastic_put(r, &next, (const plastic_work_block*)NULL, blocks, &to->work) &&
      plastic_put(r, &next, no_vec, n, &to->last_pos) &&
      plastic_put(r, &next, no_vec, n, &to->pull) &&
      plastic_put(r, &next, body->reach, n, &to->reach) &&
      plastic_put(r, &next, (const uint8_t*)NULL, n, &to->needs) &&
      plastic_put(r, &next, (const uint8_t*)NULL, (size_t)model->num_links, &to->is_linked) &&
      plastic_put_links(r, &next, model) && plastic_put(r, &next, no_vec, all, &a->particles.pos) &&
      plastic_put(r, &next, no_vec, all, &a->particles.vel) &&
      plastic_put(r, &next, no_float, all, &a->particles.mass) &&
      plastic_put(r, &next, no_float, all, &a->particles.inv_mass) &&
      plastic_put(r, &next, no_float, n, &a->still) &&
      plastic_put(r, &next, (const int32_t*)NULL, (size_t)MOST_DUE_ROWS, &a->due_rows) &&
      plastic_put(r, &next, no_vec, chunks, &to->origin) &&
      plastic_put(r, &next, (const plastic_sums*)NULL, chunks, &to->sums) &&
      plastic_put(r, &next, (const plastic_scalars*)NULL, 1, &a->scalars) &&
      device_zero(r->stream, a->scalars, sizeof *a->scalars) && device_wait(r->stream);
  to->model = placed;
  return ok;
}

static yw_status plastic_create(const plastic_body* body, plastic_remote** out, yw_error* error) {
  *out = NULL;
  double needed = plastic_bytes(body), left = (double)device_free_bytes();
  if (needed > left) {
    snprintf(error->message, sizeof error->message,
             "device cuda: a plastic body of %d masters needs %.2f GB of its memory, of which %.2f "
             "GB are free; use a larger spacing, or run without --device",
             body->master_capacity, needed * 1e-9, left * 1e-9);
    return error->status = YW_ERR_DEVICE;
  }
  plastic_remote* r = (plastic_remote*)calloc(1, sizeof(plastic_remote));
  if (!r) return YW_ERR_MEMORY;
  r->model = body->model;
  if (!device_stream_open(&r->stream) || !plastic_allocate(r, body)) {
    plastic_destroy(r);
    return fail_device(error, "a plastic body could not be made");
  }
  *out = r;
  return YW_OK;
}

static bool plastic_knows(const yw_step_ctx* ctx) {
  return obstacles_are_known((const yw_obstacle_set*)ctx->obstacles);
}

// Copies ------------------------------------------------------------------------------------------

static bool put_array(plastic_remote* r, void* to, const void* from, size_t count, size_t size) {
  return device_put(r->stream, to, from, count * size);
}
static bool get_array(plastic_remote* r, void* to, const void* from, size_t count, size_t size) {
  return device_get(r->stream, to, from, count * size);
}

#endif
