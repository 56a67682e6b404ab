// SPDX-License-Identifier: MIT
// Match bodies on the device: memory, copies, launches (methods/match/offload.h).
#ifndef YW_DEVICE_CUDA_MATCH_H
#define YW_DEVICE_CUDA_MATCH_H

#include "device/cuda/match_queue.h"
#include "device/cuda/obstacles.h"
#include "device/cuda/pins.h"

struct match_remote {
  device_stream stream;
  match_args args;
  const match_model* model;  // on the host
  void* memory[40];
  int num_memory;
  yw_vec4* pos[2];  // the next step reads the one that the queue names
  match_queue queue;
  device_pins pins;
  device_obstacles obstacles;
};

// Memory ------------------------------------------------------------------------------------------

/// An array of a body: where its pointer is, bytes, and what is copied there once (or NULL).
struct match_array {
  void* pointer;
  size_t bytes;
  const void* from;
};

enum { MATCH_ARRAYS = 40 };

static size_t num_quads(const match_block* block) {
  return (size_t)((block->ring_length + RING_QUAD - 1) / RING_QUAD) * YW_LANES;
}

// Lists all arrays but those of pins and obstacles; returns their number.
static int list_arrays(match_remote* r, match_array* out) {
  const match_model* m = r->model;
  match_args* a = &r->args;
  size_t blocks = (size_t)m->num_blocks, n = (size_t)m->num_examples, all = blocks * YW_LANES;
  size_t groups = (size_t)m->num_groups, shares = (size_t)m->num_shares, rings = 0;
  for (int32_t b = 0; b < m->num_blocks; ++b) rings += num_quads(&m->blocks[b]);
  bool has_shares = shares > 0;
  size_t pieces_of_sums = (size_t)match_num_pieces(m->num_chunks) * NUM_COLUMNS;
  size_t parts = (size_t)m->num_chunks * MOST_PARTS;
  const match_array arrays[] = {
      {&a->model.chunks, (size_t)m->num_chunks * sizeof(match_chunk), m->chunks},
      {&a->model.blocks, blocks * sizeof(match_block), NULL},
      {&a->model.regions, blocks * sizeof(match_region_block), m->regions},
      {&a->model.moments, blocks * sizeof(match_moment_block), m->moments},
      {&a->model.particles, blocks * sizeof(match_particle_block), m->particles},
      {&a->model.rest, all * sizeof(yw_vec4), m->rest},
      {&a->model.row_mass, (size_t)m->num_particles * sizeof(float), m->row_mass},
      {&a->model.rings, rings * sizeof(ring_quad), NULL},
      {&a->model.examples, blocks * n * sizeof(yw_sym3x16), m->examples},
      {&a->model.duals, blocks * n * sizeof(yw_sym3x16), m->duals},
      {&a->model.share_group, shares * sizeof(int32_t), m->share_group},
      {&a->model.lane_share, has_shares ? all * sizeof(int32_t) : 0, m->lane_share},
      {&a->model.gram, has_shares ? groups * n * n * sizeof(double) : 0, m->gram},
      {&a->group_start, has_shares ? (groups + 1) * sizeof(int32_t) : 0, NULL},
      {&a->group_shares, shares * sizeof(int32_t), NULL},
      {&a->piece_start, has_shares ? (shares + 1) * sizeof(int32_t) : 0, NULL},
      {&a->piece_products, shares * n * sizeof(double), NULL},
      {&a->piece_sums, pieces_of_sums * sizeof(double), NULL},
      {&a->share_products, shares * n * sizeof(double), NULL},
      {&a->fits, has_shares ? all * 9 * sizeof(float) : 0, NULL},
      {&a->body.rotations, blocks * sizeof(yw_quatx16), NULL},
      {&a->body.targets, (all + YW_LANES) * MATCH_ROW * sizeof(float), NULL},
      {&a->body.products, shares * n * YW_LANES * sizeof(float), NULL},
      {&a->body.group_products, has_shares ? groups * n * sizeof(double) : 0, NULL},
      {&a->body.weights, groups * (n + 1) * sizeof(float), NULL},
      {&a->body.aims, groups * (n + 1) * sizeof(float), NULL},
      {&a->body.pulls, has_shares ? groups * n * sizeof(float) : 0, NULL},
      {&r->pos[0], all * sizeof(yw_vec4), NULL},
      {&r->pos[1], all * sizeof(yw_vec4), NULL},
      {&a->vel, all * sizeof(yw_vec4), NULL},
      {&a->cut, all * sizeof(yw_vec4), NULL},
      {&a->inv_mass, all * sizeof(float), NULL},
      {&a->part_sums, parts * NUM_COLUMNS * sizeof(float), NULL},
      {&a->moving_rows, (all + 1) * sizeof(moving_row), NULL},
      {&a->resting_rows, (all + 1) * sizeof(resting_row), NULL},
      {&a->scalars, sizeof(match_scalars), NULL},
  };
  int count = (int)(sizeof arrays / sizeof arrays[0]);
  for (int i = 0; i < count; ++i) out[i] = arrays[i];
  return count;
}

static uint64_t bytes_of(const match_array* arrays, int count) {
  uint64_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += (arrays[i].bytes + 511) / 512 * 512;
  return bytes;
}

static uint64_t match_bytes(const match_model* model) {
  match_remote r;
  match_array arrays[MATCH_ARRAYS];
  memset((void*)&r, 0, sizeof r);
  r.model = model;
  return bytes_of(arrays, list_arrays(&r, arrays));
}

static void match_destroy(match_remote* r) {
  if (!r) return;
  device_wait(r->stream);
  queue_forget(&r->queue);
  for (int i = 0; i < r->num_memory; ++i) device_release(r->memory[i]);
  pins_free(&r->pins);
  obstacles_free(&r->obstacles);
  device_stream_close(r->stream);
  free(r);
}

// Shares of each group, in order, and the pieces in which they are added.
static bool send_groups(match_remote* r) {
  const match_model* m = r->model;
  if (m->num_shares == 0) return true;
  size_t groups = (size_t)m->num_groups, shares = (size_t)m->num_shares;
  int32_t* start = (int32_t*)calloc(groups + 2, sizeof(int32_t));
  int32_t* pieces = (int32_t*)calloc(groups + 1, sizeof(int32_t));
  int32_t* piece_start = (int32_t*)calloc(shares + 1, sizeof(int32_t));
  int32_t* list = (int32_t*)calloc(shares, sizeof(int32_t));
  bool ok = start && pieces && piece_start && list;
  for (size_t s = 0; ok && s < shares; ++s) ++start[m->share_group[s] + 2];
  for (size_t g = 0; ok && g < groups; ++g) start[g + 2] += start[g + 1];
  for (size_t s = 0; ok && s < shares; ++s) list[start[m->share_group[s] + 1]++] = (int32_t)s;
  int32_t count = 0;
  for (size_t g = 0; ok && g < groups; ++g) {
    pieces[g] = count;
    for (int32_t at = start[g]; at < start[g + 1]; at += MATCH_SUM_PIECE) piece_start[count++] = at;
  }
  if (ok) pieces[groups] = count, piece_start[count] = m->num_shares;
  r->args.num_pieces = count;
  const size_t word = sizeof(int32_t);
  ok = ok && device_put(r->stream, (void*)r->args.group_start, pieces, (groups + 1) * word) &&
       device_put(r->stream, (void*)r->args.piece_start, piece_start, ((size_t)count + 1) * word) &&
       device_put(r->stream, (void*)r->args.group_shares, list, shares * word) &&
       device_wait(r->stream);
  free(start);
  free(pieces);
  free(piece_start);
  free(list);
  return ok;
}

// The particle of a row of a chunk; rows are those of the chunk itself, then of its halo, then
// zeros.
static int32_t member_of(const match_model* m, const match_chunk* chunk, int32_t row) {
  if (row < chunk->count) return chunk->begin + row;
  if (row < chunk->count + chunk->num_halo) return m->halo[chunk->halo_start + row - chunk->count];
  return m->num_blocks * YW_LANES;
}

// Fills the quads of a block, one per particle in turn.
static void fill_quads(const match_model* m, const match_chunk* chunk, const match_block* block,
                       ring_quad* quads) {
  const int unit = MATCH_PADDED_ROW * (int)sizeof(float) / MATCH_RING_UNIT;
  const uint16_t* from = m->rings + block->ring_start;
  for (int32_t k = 0; k < (block->ring_length + RING_QUAD - 1) / RING_QUAD * RING_QUAD; ++k) {
    for (int32_t i = 0; i < YW_LANES; ++i) {
      bool is_there = k < block->ring_length;
      quads[k / RING_QUAD * YW_LANES + i].members[k % RING_QUAD] =
          is_there ? member_of(m, chunk, from[k * YW_LANES + i] / unit) : m->num_blocks * YW_LANES;
    }
  }
}

// Sends rings as quads of particles.
static bool send_rings(match_remote* r) {
  const match_model* m = r->model;
  size_t count = 0, at = 0;
  for (int32_t b = 0; b < m->num_blocks; ++b) count += num_quads(&m->blocks[b]);
  ring_quad* quads = (ring_quad*)calloc(count, sizeof(ring_quad));
  match_block* blocks = (match_block*)calloc((uint32_t)m->num_blocks, sizeof(match_block));
  for (int32_t c = 0; quads && blocks && c < m->num_chunks; ++c) {
    const match_chunk* chunk = &m->chunks[c];
    for (int32_t b = chunk->first_block; b < chunk->first_block + chunk->num_blocks; ++b) {
      fill_quads(m, chunk, &m->blocks[b], quads + at);
      blocks[b] = m->blocks[b];
      blocks[b].ring_start = (int32_t)at;
      at += num_quads(&m->blocks[b]);
    }
  }
  bool ok = quads && blocks &&
            device_put(r->stream, (void*)r->args.model.rings, quads, count * sizeof(ring_quad)) &&
            device_put(r->stream, (void*)r->args.model.blocks, blocks,
                       (size_t)m->num_blocks * sizeof(match_block)) &&
            device_wait(r->stream);
  free(quads);
  free(blocks);
  return ok;
}

static bool send_resting_rows(match_remote* r) {
  const match_model* m = r->model;
  size_t count = (size_t)m->num_particles;
  resting_row* rows = (resting_row*)calloc(count, sizeof(resting_row));
  for (size_t p = 0; rows && p < count; ++p) rows[p] = (resting_row){m->rest[p].y, m->rest[p].z};
  bool ok = rows &&
            device_put(r->stream, r->args.resting_rows, rows, count * sizeof(resting_row)) &&
            device_wait(r->stream);
  free(rows);
  return ok;
}

static bool allocate(match_remote* r, const match_array* arrays, int count) {
  const match_model* m = r->model;
  r->args.model = *m;
  for (int i = 0; i < count; ++i) {
    void* memory = device_alloc(arrays[i].bytes);
    if (!memory) return false;
    r->memory[r->num_memory++] = memory;
    memcpy(arrays[i].pointer, &memory, sizeof memory);
    bool filled = arrays[i].from ? device_put(r->stream, memory, arrays[i].from, arrays[i].bytes)
                                 : device_zero(r->stream, memory, arrays[i].bytes);
    if (!filled) return false;
  }
  r->args.zero_row = m->num_blocks * YW_LANES;
  return pins_create(m->num_particles, &r->pins) && device_wait(r->stream) && send_groups(r) &&
         send_rings(r) && send_resting_rows(r);
}

static yw_status match_create(const match_model* model, match_remote** out, yw_error* error) {
  match_array arrays[MATCH_ARRAYS];
  *out = NULL;
  match_remote* r = (match_remote*)calloc(1, sizeof(match_remote));
  if (!r) return YW_ERR_MEMORY;
  r->model = model;
  int count = list_arrays(r, arrays);
  uint64_t needed = bytes_of(arrays, count), left = device_free_bytes();
  if (needed > left) {
    free(r);
    snprintf(error->message, sizeof error->message,
             "device cuda: a match body of %d particles needs %.2f GB of its memory, of which %.2f "
             "GB are free; make the body smaller, or run without --device",
             model->num_particles, (double)needed * 1e-9, (double)left * 1e-9);
    return error->status = YW_ERR_DEVICE;
  }
  if (!device_stream_open(&r->stream) || !allocate(r, arrays, count)) {
    match_destroy(r);
    return fail_device(error, "a match body could not be made");
  }
  *out = r;
  return YW_OK;
}

// Copies ------------------------------------------------------------------------------------------

static yw_aabb box_of(const yw_particles* particles) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < particles->count; ++i) {
    box = yw_aabb_grow(box, yw_xyz(particles->pos[i]));
  }
  return box;
}

static bool has_cuts(const yw_near* near) {
  for (int32_t i = 0; i < near->count; ++i) {
    const yw_vec4* c = &near->cut[i];
    if (c->x != 0.0f || c->y != 0.0f || c->z != 0.0f) return true;
  }
  return false;
}

static yw_status match_send(match_remote* r, const match_body* body,
                            const yw_particles* particles) {
  const match_model* m = r->model;
  match_args* a = &r->args;
  a->is_prepared = a->has_rows = false;
  size_t all = (size_t)particles->count * sizeof(yw_vec4);
  match_scalars scalars;
  memset((void*)&scalars, 0, sizeof scalars);
  scalars.axes = body->axes;
  scalars.torque = body->torque;
  scalars.origin = body->near.origin;
  yw_aabb box = box_of(particles);
  scalars.placed = order_box(box);
  scalars.has_cut = has_cuts(&body->near);
  size_t weights = (size_t)m->num_groups * (size_t)(m->num_examples + 1) * sizeof(float);
  bool ok = queue_play(r->stream, &r->queue) &&
            device_put(r->stream, r->pos[r->queue.next], particles->pos, all) &&
            device_put(r->stream, a->vel, particles->vel, all) &&
            device_put(r->stream, a->cut, body->near.cut, all) &&
            device_put(r->stream, (void*)a->inv_mass, particles->inv_mass, all / 4) &&
            device_put(r->stream, a->body.rotations, body->rotations,
                       (size_t)m->num_blocks * sizeof(yw_quatx16)) &&
            device_put(r->stream, a->body.weights, body->weights, weights) &&
            device_put(r->stream, a->scalars, &scalars, sizeof scalars) && device_wait(r->stream);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static yw_status match_fetch(match_remote* r, match_body* body, yw_particles* particles,
                             match_outcome* outcome) {
  const match_model* m = r->model;
  match_args* a = &r->args;
  match_scalars scalars;
  size_t all = (size_t)particles->count * sizeof(yw_vec4);
  bool by_region = m->grouping == YW_GROUPS_PER_REGION;
  size_t weights = (size_t)m->num_groups * (size_t)(m->num_examples + 1) * sizeof(float);
  bool ok = queue_play(r->stream, &r->queue) && run_settling(r->stream, *a) &&
            device_get(r->stream, particles->pos, r->pos[r->queue.next], all) &&
            device_get(r->stream, particles->vel, a->vel, all) &&
            device_get(r->stream, body->weights, a->body.weights, by_region ? 0 : weights) &&
            device_get(r->stream, &scalars, a->scalars, sizeof scalars) && device_wait(r->stream);
  if (!ok) return YW_ERR_DEVICE;
  body->axes = scalars.axes;
  body->torque = scalars.torque;
  body->near.origin = scalars.origin;
  outcome->recovered = scalars.recovered;
  outcome->contacts = scalars.most_contacts;
  outcome->diverged = scalars.diverged != 0;
  const int none = 0;
  ok = device_put(r->stream, &a->scalars->recovered, &none, sizeof none);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static yw_status match_fetch_rest(match_remote* r, match_body* body) {
  const match_model* m = r->model;
  const match_args* a = &r->args;
  bool by_region = m->grouping == YW_GROUPS_PER_REGION;
  size_t weights = (size_t)m->num_groups * (size_t)(m->num_examples + 1) * sizeof(float);
  bool ok =
      queue_play(r->stream, &r->queue) &&
      device_get(r->stream, body->rotations, a->body.rotations,
                 (size_t)m->num_blocks * sizeof(yw_quatx16)) &&
      device_get(r->stream, body->near.cut, a->cut, (size_t)m->num_particles * sizeof(yw_vec4)) &&
      device_get(r->stream, body->weights, a->body.weights, by_region ? weights : 0) &&
      device_wait(r->stream);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

// Steps -------------------------------------------------------------------------------------------

static bool match_knows(const yw_step_ctx* ctx) {
  return obstacles_are_known((const yw_obstacle_set*)ctx->obstacles);
}

static bool send_pins(match_remote* r, const yw_step_ctx* ctx) {
  match_args* a = &r->args;
  a->has_pins = ctx->num_holds + ctx->num_springs > 0;
  if (!a->has_pins) return true;
  if (!queue_play(r->stream, &r->queue) || !pins_send(r->stream, &r->pins, ctx, NULL)) return false;
  a->num_holds = ctx->num_holds;
  a->num_springs = ctx->num_springs;
  a->springs_differ = r->pins.springs_differ;
  a->holds = r->pins.holds;
  a->springs = r->pins.springs;
  return true;
}

// The next step, as the last one has prepared it, is the one that is asked for.
static bool is_same_step(const match_args* a, const match_response* response, yw_vec3 gravity) {
  const match_response* last = &a->response;
  return last->h == response->h && last->alpha == response->alpha && last->damp == response->damp &&
         last->lag == response->lag && last->uneven == response->uneven &&
         memcmp(&a->gravity, &gravity, sizeof gravity) == 0;
}

// What all inner steps of a substep have in common.
static bool give_orders(match_remote* r, const match_orders* orders) {
  const yw_step_ctx* ctx = orders->ctx;
  const yw_obstacle_set* set = (const yw_obstacle_set*)ctx->obstacles;
  match_args* a = &r->args;
  const match_model* m = r->model;
  if (!is_same_step(a, &orders->response, ctx->gravity)) {
    a->is_prepared = a->has_rows = false;
    a->response = orders->response;
    a->gravity = ctx->gravity;
  }
  a->body.params = orders->params;
  a->h = ctx->h;
  a->terms.h = set ? set->h : 0.0f;
  a->terms.span = orders->response.h;
  a->terms.friction = ctx->friction;
  a->terms.restitution = ctx->restitution;
  a->terms.rest_speed = set ? YW_REST_STEPS * yw_length(set->gravity) * orders->response.h : 0.0f;
  size_t aims = (size_t)m->num_groups * (size_t)(m->num_examples + 1) * sizeof(float);
  bool ok = !orders->aims || (queue_play(r->stream, &r->queue) &&
                              device_put(r->stream, a->body.aims, orders->aims, aims));
  a->num_obstacles = ctx->collide && set ? set->count : 0;
  if (a->num_obstacles > 0 && !obstacles_are_sent(&r->obstacles, set)) {
    ok = ok && queue_play(r->stream, &r->queue) &&
         obstacles_send(r->stream, &r->obstacles, set, &a->obstacles);
  }
  a->obstacle_bytes = a->num_obstacles > 0 ? (int32_t)r->obstacles.used : 0;
  return ok && send_pins(r, ctx);
}

static yw_status match_advance(match_remote* r, const match_orders* orders) {
  match_args* a = &r->args;
  int32_t steps = orders->response.num_steps;
  bool ok = give_orders(r, orders);
  for (int32_t i = 0; i < steps && ok; ++i) {
    a->pos = r->pos[r->queue.next];
    a->new_pos = r->pos[1 - r->queue.next];
    a->enters = i == 0;
    a->leaves = i + 1 == steps;
    a->inner_end = (float)(i + 1) / (float)steps;
    a->terms.begin = (float)i * orders->response.h;
    ok = queue_step(r->stream, &r->queue, *a);
    a->is_prepared = true;
    a->has_rows = !a->has_pins;
  }
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static const match_device_fns match_functions = {
    match_bytes, match_create,  match_destroy, match_send,
    match_knows, match_advance, match_fetch,   match_fetch_rest,
};

#endif
