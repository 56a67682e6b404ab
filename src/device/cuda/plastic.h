// SPDX-License-Identifier: MIT
// Plastic bodies on the device: memory, copies, launches (methods/plastic/offload.h).
#ifndef YW_DEVICE_CUDA_PLASTIC_H
#define YW_DEVICE_CUDA_PLASTIC_H

#include "device/cuda/obstacles.h"
#include "device/cuda/plastic_masters.h"
#include "device/cuda/plastic_slaves.h"

enum { PLASTIC_ARRAYS = 52 };

struct plastic_remote {
  device_stream stream;
  plastic_args args;
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

/// Pairs and slots are those of a lattice (body.c), and a quarter more.
static double plastic_bytes(const plastic_body* body) {
  double masters = body->master_capacity, slaves = body->model->num_slaves;
  double master =
      (sizeof(plastic_state_block) + sizeof(plastic_work_block) + sizeof(plastic_material_block)) /
          (double)YW_LANES +
      4 * sizeof(yw_vec4) + 6 * sizeof(float) + 1;
  return masters * (master + 1.25 * (36 * PAIR_BYTES + 3 * SLOT_BYTES)) +
         1.25 * slaves * SLAVE_BYTES +
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

enum { FIRST_MASTER_ARRAY = 0, FIRST_LIST_ARRAY = 22 };

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

static yw_status plastic_send_links(plastic_remote* r, const plastic_body* body) {
  const plastic_model* model = r->model;
  size_t links = (size_t)model->num_links;
  int32_t last = body->num_all - 1;
  const int32_t* way;
  // Those of parts that have started come first.
  r->args.num_links =
      last < 0 ? 0 : yw_plastic_first_link(model, last) + yw_plastic_links_of(model, last, &way);
  bool ok = put_array(r, r->args.body.is_linked, body->is_linked, links, 1);
  return ok && device_wait(r->stream) ? YW_OK : YW_ERR_DEVICE;
}

static yw_status plastic_send(plastic_remote* r, const plastic_body* body,
                              const yw_particles* particles) {
  plastic_args* a = &r->args;
  size_t n = (size_t)body->num_masters, blocks = (n + YW_LANES - 1) / YW_LANES;
  a->num_chunks = yw_plastic_chunks(body->num_masters, PLASTIC_CHUNK);
  a->body.num_masters = body->num_masters;
  bool ok = put_array(r, a->particles.pos, particles->pos, n, sizeof(yw_vec4)) &&
            put_array(r, a->particles.vel, particles->vel, n, sizeof(yw_vec4)) &&
            put_array(r, a->particles.mass, particles->mass, n, sizeof(float)) &&
            put_array(r, a->particles.inv_mass, particles->inv_mass, n, sizeof(float)) &&
            put_array(r, a->body.state, body->state, blocks, sizeof(plastic_state_block)) &&
            put_array(r, a->body.pull, body->pull, n, sizeof(yw_vec4)) &&
            (!body->sleep.still || put_array(r, a->still, body->sleep.still, n, sizeof(float)));
  return ok ? plastic_send_links(r, body) : YW_ERR_DEVICE;
}

// Slots that shared memory holds: all but a few of the chunks, and never so many that only one
// block of threads would fit a processor.
static int32_t choose_room(const plastic_body* body, int32_t chunks) {
  enum { STEP = 64, MOST = 3072 };
  int32_t count[MOST / STEP + 1] = {0}, left = chunks / 50, room = MOST;
  for (int32_t c = 0; c < chunks; ++c) {
    int32_t slots = (body->local_start[c + 1] - body->local_start[c] + STEP - 1) / STEP;
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

static bool send_slave_arrays(plastic_remote* r, const plastic_body* body, int* next) {
  plastic_body* to = &r->args.body;
  size_t slaves = (size_t)body->num_slaves;
  const yw_vec4* none = NULL;
  return plastic_put(r, next, body->slave_pos, slaves, &to->slave_pos) &&
         plastic_put(r, next, none, slaves, &to->slave_vel) &&
         plastic_put(r, next, none, slaves, &to->force) &&
         plastic_put(r, next, none, slaves, &to->solved) &&
         plastic_put(r, next, none, slaves, &to->residual) &&
         plastic_put(r, next, none, slaves, &to->product) &&
         plastic_put(r, next, none, slaves, &to->normal) &&
         plastic_put(r, next, none, slaves, &to->surface_vel) &&
         plastic_put(r, next, (const plastic_course*)NULL, slaves, &to->course) &&
         plastic_put(r, next, (const float*)NULL, 6 * slaves, (float**)&to->inverse) &&
         plastic_put(r, next, (const uint8_t*)NULL, slaves, &to->touches) &&
         plastic_put(r, next, body->part_start, slaves + 1, &to->part_start);
}

static yw_status plastic_send_lists(plastic_remote* r, const plastic_body* body,
                                    const plastic_layout* layout) {
  plastic_args* a = &r->args;
  plastic_body* to = &a->body;
  plastic_layout* at = &a->layout;
  int32_t chunks = a->num_chunks;
  size_t n = (size_t)body->num_masters, locals = (size_t)body->num_locals;
  size_t rows = (n + PLASTIC_GROUP - 1) / PLASTIC_GROUP;
  size_t groups = (size_t)layout->first_group[chunks];
  size_t fours = 4 * PLASTIC_GROUP * (size_t)layout->row_start[rows];
  size_t pairs = PLASTIC_GROUP * (size_t)layout->slot_start[groups];
  int next = FIRST_LIST_ARRAY;
  to->num_slaves = to->slave_capacity = body->num_slaves;
  to->num_slots = body->num_slots;
  to->num_locals = body->num_locals;
  to->num_slave_blocks = body->num_slave_blocks;
  a->room = choose_room(body, chunks);
  bool ok = send_slave_arrays(r, body, &next) &&
            plastic_put(r, &next, body->slave_block, (size_t)body->num_slave_blocks + 1,
                        &to->slave_block) &&
            plastic_put(r, &next, body->row_start, n + 1, &to->row_start) &&
            plastic_put(r, &next, body->four_start, n + 1, &to->four_start) &&
            plastic_put(r, &next, layout->row_start, rows + 1, &at->row_start) &&
            plastic_put(r, &next, layout->column, fours, &at->column) &&
            plastic_put(r, &next, layout->at, fours, &at->at) &&
            plastic_put(r, &next, (const float*)NULL, fours, &to->share) &&
            plastic_put(r, &next, body->local_start, (size_t)chunks + 1, &to->local_start) &&
            plastic_put(r, &next, body->local_slave, locals, &to->local_slave) &&
            plastic_put(r, &next, body->part_at, locals, &to->part_at) &&
            plastic_put(r, &next, (const yw_vec4*)NULL, 2 * locals, &to->parts) &&
            plastic_put(r, &next, layout->first_group, (size_t)chunks + 1, &at->first_group) &&
            plastic_put(r, &next, layout->slot_start, groups + 1, &at->slot_start) &&
            plastic_put(r, &next, layout->slot, groups * PLASTIC_GROUP, &at->slot) &&
            plastic_put(r, &next, layout->count, groups * PLASTIC_GROUP, &at->count) &&
            plastic_put(r, &next, layout->master, pairs, &at->master) &&
            plastic_put(r, &next, (const float*)NULL, pairs, &a->turned_share) &&
            // Pairs that fill rows up have no weight.
            device_zero(r->stream, to->share, fours * sizeof(float)) && device_wait(r->stream);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static yw_status plastic_fetch(plastic_remote* r, yw_particles* particles) {
  size_t n = (size_t)r->args.body.num_masters;
  bool ok = get_array(r, particles->pos, r->args.particles.pos, n, sizeof(yw_vec4)) &&
            get_array(r, particles->vel, r->args.particles.vel, n, sizeof(yw_vec4)) &&
            device_wait(r->stream);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static yw_status plastic_fetch_slaves(plastic_remote* r, plastic_body* body) {
  const plastic_body* from = &r->args.body;
  bool ok =
      get_array(r, body->slave_pos, from->slave_pos, (size_t)from->num_slaves, sizeof(yw_vec4)) &&
      get_array(r, body->needs, from->needs, (size_t)from->num_masters, 1) &&
      device_wait(r->stream);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static yw_status plastic_fetch_state(plastic_remote* r, plastic_body* body) {
  size_t n = (size_t)r->args.body.num_masters, blocks = (n + YW_LANES - 1) / YW_LANES;
  bool ok =
      get_array(r, body->state, r->args.body.state, blocks, sizeof(plastic_state_block)) &&
      (!body->sleep.still || get_array(r, body->sleep.still, r->args.still, n, sizeof(float))) &&
      device_wait(r->stream);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

// On the device each entry of plastic_course is an array.
static bool fetch_course(plastic_remote* r, plastic_body* body) {
  size_t n = (size_t)r->args.body.num_slaves;
  yw_vec4* parts = (yw_vec4*)malloc(n * sizeof(plastic_course) + 1);
  bool ok = parts && get_array(r, parts, r->args.body.course, n, sizeof(plastic_course)) &&
            device_wait(r->stream);
  for (size_t i = 0; ok && i < n; ++i) {
    plastic_course* to = &body->course[i];
    to->steep = parts[i];
    to->image = parts[n + i];
    to->direction = parts[2 * n + i];
    to->place = parts[3 * n + i];
  }
  free(parts);
  return ok;
}

// N of the rows of masters, from groups of 32.
static bool fetch_shares(plastic_remote* r, plastic_body* body, const plastic_layout* layout) {
  size_t n = (size_t)body->num_masters, rows = (n + PLASTIC_GROUP - 1) / PLASTIC_GROUP;
  size_t count = 4 * PLASTIC_GROUP * (size_t)layout->row_start[rows];
  float* shares = (float*)malloc(count * sizeof(float) + 1);
  bool ok = shares && get_array(r, shares, r->args.body.share, count, sizeof(float)) &&
            device_wait(r->stream);
  for (size_t m = 0; ok && m < n; ++m) {
    size_t from = (size_t)layout->row_start[m / PLASTIC_GROUP] * PLASTIC_GROUP + m % PLASTIC_GROUP;
    for (int32_t e = body->four_start[m]; e < body->four_start[m + 1]; ++e, from += PLASTIC_GROUP) {
      memcpy(body->share + 4 * (size_t)e, shares + 4 * from, 4 * sizeof(float));
    }
  }
  free(shares);
  return ok;
}

static yw_status plastic_fetch_matrix(plastic_remote* r, plastic_body* body,
                                      const plastic_layout* layout) {
  const plastic_body* from = &r->args.body;
  size_t n = (size_t)from->num_masters, blocks = (n + YW_LANES - 1) / YW_LANES;
  size_t slaves = (size_t)from->num_slaves;
  bool ok = get_array(r, body->work, from->work, blocks, sizeof(plastic_work_block)) &&
            get_array(r, body->origin, from->origin, (size_t)r->args.num_chunks, sizeof(yw_vec4)) &&
            fetch_shares(r, body, layout) &&
            get_array(r, body->slave_vel, from->slave_vel, slaves, sizeof(yw_vec4)) &&
            get_array(r, body->normal, from->normal, slaves, sizeof(yw_vec4)) &&
            get_array(r, body->surface_vel, from->surface_vel, slaves, sizeof(yw_vec4)) &&
            fetch_course(r, body) &&
            get_array(r, body->inverse, from->inverse, slaves, sizeof *from->inverse) &&
            get_array(r, body->touches, from->touches, slaves, 1) && device_wait(r->stream);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

// Steps -------------------------------------------------------------------------------------------

static bool read_scalars(plastic_remote* r) {
  return device_get(r->stream, &r->scalars, r->args.scalars, sizeof r->scalars) &&
         device_wait(r->stream);
}

// Sets some of them; the device is idle.
static bool write_scalars(plastic_remote* r) {
  return device_put(r->stream, r->args.scalars, &r->scalars, sizeof r->scalars);
}

template <class Kernel>
static bool run_masters(plastic_remote* r) {
  return device_run<Kernel>(r->stream, r->args, r->args.num_chunks,
                            Kernel::shared_bytes(r->args.room));
}
template <class Kernel>
static bool run_sums(plastic_remote* r) {
  return device_run<Kernel>(r->stream, r->args, r->args.body.num_slave_blocks,
                            Kernel::shared_bytes());
}
// Mostly nothing to do.
static bool run_advance(plastic_remote* r) {
  enum { MOST_BLOCKS = 1024 };
  int blocks = r->args.body.num_slave_blocks;
  return device_run<advance_kernel>(r->stream, r->args, blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS,
                                    advance_kernel::shared_bytes());
}
template <class Kernel>
static bool run_each(plastic_remote* r, int32_t count) {
  int blocks = (count + Kernel::THREADS - 1) / Kernel::THREADS;
  return blocks == 0 || device_run<Kernel>(r->stream, r->args, blocks, 16);
}

static yw_status plastic_measure_speeds(plastic_remote* r, float* fastest2, float* spread2) {
  bool ok = device_run<mean_kernel>(r->stream, r->args, r->args.num_chunks,
                                    sizeof(mean_kernel::shared)) &&
            run_each<fastest_kernel>(r, r->args.body.num_masters) && read_scalars(r);
  *fastest2 = float_of(~r->scalars.fastest2);
  *spread2 = float_of(~r->scalars.spread2);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static bool give_orders(plastic_remote* r, const plastic_body* body, const yw_step_ctx* ctx,
                        float begin) {
  plastic_args* a = &r->args;
  const yw_obstacle_set* set = (const yw_obstacle_set*)ctx->obstacles;
  a->body.params = body->params;
  a->body.dt = body->dt;
  a->body.fall = body->fall;
  a->body.is_pulled = body->is_pulled;
  a->body.rules = body->rules;
  a->gravity = ctx->gravity;
  a->begin = begin;
  a->tolerance = body->params.tolerance;
  a->fixed = body->fixed_iterations > 0;
  a->most = a->fixed ? body->fixed_iterations : body->params.max_iterations;
  a->num_obstacles = ctx->collide && ctx->probe && set ? set->count : 0;
  a->obstacle_h = set ? set->h : 0.0f;
  a->terms.h = a->obstacle_h;
  a->terms.begin = begin;
  a->terms.span = body->dt;
  a->terms.friction = ctx->friction;
  a->terms.restitution = ctx->restitution;
  a->terms.rest_speed = set ? YW_REST_STEPS * yw_length(set->gravity) * body->dt : 0.0f;
  if (a->num_obstacles == 0) return true;
  return obstacles_send(r->stream, &r->obstacles, set, &a->obstacles);
}

static yw_status plastic_start(plastic_remote* r, const plastic_body* body, const yw_step_ctx* ctx,
                               float begin, yw_aabb* box) {
  plastic_args* a = &r->args;
  plastic_scalars* s = &r->scalars;
  for (int k = 0; k < 6; ++k) s->box.least[k] = INT32_MAX;
  s->lost = s->bad = s->contacts = s->due = s->rests = 0;
  s->speed2 = ~order_of(0.0f);
  bool ok =
      give_orders(r, body, ctx, begin) && write_scalars(r) && run_masters<weights_kernel>(r) &&
      run_masters<spread_kernel>(r) && run_sums<to_slaves_kernel>(r) &&
      (a->body.is_pulled ? run_masters<pulled_stress_kernel>(r) : run_masters<stress_kernel>(r)) &&
      run_each<forces_kernel>(r, a->body.num_slaves);
  *box = yw_aabb_empty();
  if (ok && a->num_obstacles > 0) {
    ok = read_scalars(r);
    *box = box_of_ordered(&s->box);
  }
  return ok ? YW_OK : YW_ERR_DEVICE;
}

// As many as the last solve needed and one more, then a few at a time: launches beyond the end do
// nothing.
static bool iterate_away(plastic_remote* r) {
  const plastic_args* a = &r->args;
  int32_t launched = 0, wave = r->usual + 1;
  if (a->fixed) wave = a->most;
  r->scalars.done = 0;
  while (!r->scalars.done) {
    for (int32_t i = 0; i < wave && launched < a->most; ++i, ++launched) {
      bool ok = run_masters<stiffen_kernel>(r) && run_sums<multiply_kernel>(r) && run_advance(r);
      if (!ok) return false;
    }
    if (!read_scalars(r)) return false;
    if (launched == a->most) break;
    wave = 8;
  }
  return true;
}

static yw_status plastic_solve(plastic_remote* r, bool is_clear, plastic_solution* out) {
  plastic_args* a = &r->args;
  a->is_clear = is_clear;
  a->is_first = true;
  bool ok = run_each<contacts_kernel>(r, a->body.num_slaves) &&
            device_run<block_parts_kernel>(r->stream, *a, a->num_chunks,
                                           sizeof(block_parts_kernel::shared)) &&
            run_sums<begin_kernel>(r) && run_masters<stiffen_kernel>(r) &&
            run_sums<multiply_kernel>(r) && run_sums<first_residual_kernel>(r);
  a->is_first = false;
  ok = ok && iterate_away(r) && run_sums<residue_kernel>(r);
  const plastic_scalars* s = &r->scalars;
  out->iterations = r->usual = s->iterations;
  out->converged = !s->failed && (s->rz <= s->goal || a->fixed);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static yw_status plastic_finish(plastic_remote* r, plastic_outcome* out) {
  int32_t masters = r->args.body.num_masters, slaves = r->args.body.num_slaves;
  bool ok = run_each<meet_again_kernel>(r, slaves) && run_masters<flow_kernel>(r) &&
            device_run<move_kernel>(r->stream, r->args, r->args.num_chunks,
                                    sizeof(move_kernel::shared)) &&
            run_masters<spread_motion_kernel>(r) && run_each<follow_slaves_kernel>(r, slaves) &&
            run_each<watch_kernel>(r, masters) && read_scalars(r);
  const plastic_scalars* s = &r->scalars;
  *out = (plastic_outcome){s->lost != 0, s->bad != 0, s->contacts, s->due, float_of(~s->speed2)};
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static yw_status plastic_rest(plastic_remote* r, float h, float limit, float enough, bool* any) {
  r->args.h = h;
  r->args.limit = limit;
  r->args.enough = enough;
  bool ok = run_each<rest_kernel>(r, r->args.body.num_masters) && read_scalars(r);
  *any = r->scalars.rests != 0;
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static const plastic_device_fns plastic_functions = {
    .create = plastic_create,
    .destroy = plastic_destroy,
    .knows = plastic_knows,
    .send = plastic_send,
    .send_lists = plastic_send_lists,
    .send_links = plastic_send_links,
    .measure = plastic_measure_speeds,
    .start = plastic_start,
    .solve = plastic_solve,
    .finish = plastic_finish,
    .rest = plastic_rest,
    .fetch = plastic_fetch,
    .fetch_slaves = plastic_fetch_slaves,
    .fetch_state = plastic_fetch_state,
    .fetch_matrix = plastic_fetch_matrix,
};

#endif
