// SPDX-License-Identifier: MIT
// Plastic bodies on the device: copies, launches (methods/plastic/offload.h).
#ifndef YW_DEVICE_CUDA_PLASTIC_H
#define YW_DEVICE_CUDA_PLASTIC_H

#include "device/cuda/plastic_build.h"

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

static yw_status plastic_send_lists(plastic_remote* r, const plastic_body* body,
                                    const plastic_layout* layout) {
  plastic_args* a = &r->args;
  plastic_body* to = &a->body;
  int32_t chunks = a->num_chunks;
  size_t n = (size_t)body->num_masters, rows = (n + PLASTIC_GROUP - 1) / PLASTIC_GROUP;
  size_t groups = (size_t)layout->first_group[chunks];
  size_t fours = 4 * PLASTIC_GROUP * (size_t)layout->row_start[rows];
  size_t pairs = PLASTIC_GROUP * (size_t)layout->slot_start[groups];
  to->num_slaves = to->slave_capacity = body->num_slaves;
  to->num_locals = to->num_slots = body->num_locals;
  to->num_slave_blocks = body->num_slave_blocks;
  a->room = choose_room(body->local_start, chunks);
  bool ok = put_slaves(r, body->slave_pos, body->part_start, (size_t)body->num_slaves) &&
            put_rows(r, body, layout, n) && put_fours(r, layout, fours) &&
            put_chunks(r, body->local_start, layout->first_group, (size_t)chunks) &&
            put_slots(r, body->local_slave, body->part_at, (size_t)body->num_locals) &&
            put_groups(r, layout, groups) && put_pairs(r, layout->master, pairs) &&
            device_wait(r->stream);
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
static bool fetch_shares(plastic_remote* r, plastic_body* body) {
  size_t n = (size_t)body->num_masters, rows = (n + PLASTIC_GROUP - 1) / PLASTIC_GROUP;
  int32_t* start = (int32_t*)malloc((rows + 1) * sizeof(int32_t));
  bool ok = start && get_array(r, start, r->args.layout.row_start, rows + 1, sizeof(int32_t)) &&
            device_wait(r->stream);
  size_t count = ok ? 4 * PLASTIC_GROUP * (size_t)start[rows] : 0;
  float* shares = (float*)malloc(count * sizeof(float) + 1);
  ok = ok && shares && get_array(r, shares, r->args.body.share, count, sizeof(float)) &&
       device_wait(r->stream);
  for (size_t m = 0; ok && m < n; ++m) {
    size_t from = (size_t)start[m / PLASTIC_GROUP] * PLASTIC_GROUP + m % PLASTIC_GROUP;
    for (int32_t e = body->four_start[m]; e < body->four_start[m + 1]; ++e, from += PLASTIC_GROUP) {
      memcpy(body->share + 4 * (size_t)e, shares + 4 * from, 4 * sizeof(float));
    }
  }
  free(shares);
  free(start);
  return ok;
}

static yw_status plastic_fetch_matrix(plastic_remote* r, plastic_body* body) {
  const plastic_body* from = &r->args.body;
  size_t n = (size_t)from->num_masters, blocks = (n + YW_LANES - 1) / YW_LANES;
  size_t slaves = (size_t)from->num_slaves;
  bool ok = get_array(r, body->work, from->work, blocks, sizeof(plastic_work_block)) &&
            get_array(r, body->origin, from->origin, (size_t)r->args.num_chunks, sizeof(yw_vec4)) &&
            fetch_shares(r, body) &&
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
  a->body.grip = body->grip;
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
  s->lost = s->bad = s->contacts = s->touching = s->due = s->num_due_rows = s->rests = 0;
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

// As many as the last solve needed and one more, then a few at a time: launches beyond the last
// step do nothing.
static bool iterate_away(plastic_remote* r) {
  const plastic_args* a = &r->args;
  int32_t wave = a->fixed ? a->most : r->usual + 1;
  r->scalars.done = r->scalars.iterations = 0;
  while (!r->scalars.done) {
    int32_t left = a->most - r->scalars.iterations;
    for (int32_t i = 0; i < wave && i < left; ++i) {
      if (!run_masters<stiffen_kernel>(r) || !run_sums<multiply_kernel>(r)) return false;
    }
    if (!run_sums<advance_kernel>(r) || !read_scalars(r)) return false;
    wave = 8;
  }
  return true;
}

static yw_status plastic_solve(plastic_remote* r, bool is_clear, plastic_solution* out) {
  plastic_args* a = &r->args;
  a->is_clear = is_clear;
  a->is_first = true;
  bool ok = run_each<contacts_kernel>(r, a->body.num_slaves) && run_sums<grip_kernel>(r) &&
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
  int contacts = s->contacts > s->touching ? s->contacts : s->touching;
  *out =
      (plastic_outcome){s->lost != 0, s->bad != 0, contacts, s->due, float_of(~s->speed2), s->grip};
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
    .send_slaves = plastic_send_slaves,
    .build_lists = plastic_build_lists,
    .measure = plastic_measure_speeds,
    .start = plastic_start,
    .solve = plastic_solve,
    .finish = plastic_finish,
    .rest = plastic_rest,
    .fetch = plastic_fetch,
    .fetch_slaves = plastic_fetch_slaves,
    .fetch_state = plastic_fetch_state,
    .fetch_lists = plastic_fetch_lists,
    .fetch_due_rows = plastic_fetch_due_rows,
    .fetch_matrix = plastic_fetch_matrix,
};

#endif
