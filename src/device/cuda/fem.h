// SPDX-License-Identifier: MIT
// Fem bodies on the device: memory, copies, launches (methods/fem/offload.h).
#ifndef YW_DEVICE_CUDA_FEM_H
#define YW_DEVICE_CUDA_FEM_H

#include "device/cuda/buffers.h"
#include "device/cuda/fem_kernels.h"
#include "device/cuda/pins.h"

enum { FEM_KIND_ARRAYS = 15, FEM_OTHER_ARRAYS = 26, FEM_HANG_ARRAYS = 4 };

struct fem_remote {
  device_stream stream;
  fem_args args;
  device_buffer of_kind[FEM_KINDS][FEM_KIND_ARRAYS];
  device_buffer others[FEM_OTHER_ARRAYS];
  float* root_matrices;  // plain ones, then softened ones
  // Per level: hanging nodes, and those that they hang on.
  device_buffer hanging[FEM_MAX_LEVEL + 1][FEM_HANG_ARRAYS];
  fem_hang hang[FEM_MAX_LEVEL + 1], carry[FEM_MAX_LEVEL + 1];
  device_pins pins;
  yw_vec4* packed;     // on the host: positions and velocities of the surface
  int32_t num_packed;  // for which there is room
  int32_t num_nodes;
};

// Memory ------------------------------------------------------------------------------------------

// Bytes of a body whose front is as fine as it can be.
static uint64_t fem_bytes(const fem_body* body) {
  const fem_work* work = &body->work;
  uint64_t bytes = (uint64_t)body->model->h.num_tets * (2 * sizeof(double) + sizeof(int32_t)) +
                   (uint64_t)body->model->h.num_nodes * (5 * sizeof(yw_vec4)) +
                   (uint64_t)work->slot_capacity * (sizeof(yw_vec4) + sizeof(int32_t));
  for (int k = 0; k < FEM_KINDS; ++k) {
    const fem_kind* kind = &work->tables->kinds[k];
    uint64_t words = (uint64_t)(kind->num_nodes + kind->num_edges + 6);
    words += (uint64_t)kind->num_children * (k < FEM_OWN ? 1 : FEM_MATRIX);
    bytes += (uint64_t)work->kinds[k].capacity * words * sizeof(float);
  }
  return bytes;
}

static void fem_destroy(fem_remote* r) {
  if (!r) return;
  device_wait(r->stream);
  for (int k = 0; k < FEM_KINDS; ++k) {
    for (int i = 0; i < FEM_KIND_ARRAYS; ++i) device_release(r->of_kind[k][i].memory);
  }
  for (int i = 0; i < FEM_OTHER_ARRAYS; ++i) device_release(r->others[i].memory);
  for (int l = 0; l <= FEM_MAX_LEVEL; ++l) {
    for (int i = 0; i < FEM_HANG_ARRAYS; ++i) device_release(r->hanging[l][i].memory);
  }
  pins_free(&r->pins);
  device_stream_close(r->stream);
  free(r->packed);
  free(r);
}

// Arrays that are not of a kind of batches, in `others`.
enum {
  IN_KINDS,
  IN_ROOT_MATRICES,
  IN_ROOT_MEANS,
  IN_ROOT_SQUARES,
  IN_ORDER,
  IN_NODES,
  IN_SLOT_START,
  IN_SLOTS_OF,
  IN_PARENTS,
  IN_FIRST_CHILD,
  IN_PUSH,
  IN_VOLUME,
  IN_INV_MASS,
  IN_POS,
  IN_VEL,
  IN_FORCE,
  IN_SLOTS,
  IN_SQUEEZED,
  IN_SURFACE,
  IN_SURFACE_OLD,
  IN_SURFACE_POS,
  IN_SURFACE_VEL,
  IN_BOX
};

// What squeezed tets are pushed with, and parents of nodes.
static bool send_tets(fem_remote* r, const fem_body* body) {
  const fem_model* m = body->model;
  const fem_hierarchy* h = &m->h;
  const float* stiffness = m->materials.stiffness;
  fem_args* a = &r->args;
  size_t tets = (size_t)h->num_tets, nodes = (size_t)h->num_nodes;
  a->push_stride = stiffness ? 1 : 0;
  size_t pushes = stiffness ? tets : 1;
  double* push = (double*)malloc(pushes * sizeof(double));
  double* volume6 = (double*)malloc(tets * sizeof(double));
  int32_t(*parents)[2] = (int32_t(*)[2])malloc(nodes * sizeof *parents);
  bool ok = push && volume6 && parents;
  for (size_t i = 0; ok && i < pushes; ++i) {
    push[i] = yw_fem_push_stiffness(stiffness ? stiffness + i * FEM_MATRIX
                                              : m->materials.uniform_stiffness);
  }
  for (int32_t t = 0; ok && t < h->num_tets; ++t) {
    volume6[t] = 6.0 * yw_fem_volume(h, t) * (yw_fem_is_positive(h, t) ? 1.0 : -1.0);
  }
  for (size_t n = 0; ok && n < nodes; ++n) {
    for (int k = 0; k < 2; ++k) parents[n][k] = h->node[n].parents[k];
  }
  ok = ok &&
       buffer_put(r->stream, &r->others[IN_PUSH], push, pushes, (double**)&a->push_stiffness) &&
       buffer_put(r->stream, &r->others[IN_VOLUME], volume6, tets, (double**)&a->volume6) &&
       buffer_put(r->stream, &r->others[IN_PARENTS], &parents[0][0], 2 * nodes,
                  (int32_t**)&a->parents) &&
       buffer_put(r->stream, &r->others[IN_FIRST_CHILD], h->first_child, tets,
                  (int32_t**)&a->first_child) &&
       device_wait(r->stream);
  free(push);
  free(volume6);
  free(parents);
  return ok;
}

static bool allocate_fem(fem_remote* r, const fem_body* body) {
  const fem_tables* tables = body->work.tables;
  fem_args* a = &r->args;
  size_t nodes = (size_t)body->model->h.num_nodes, roots = (size_t)body->model->h.num_roots;
  size_t matrices = !tables->root_matrices ? 0 : tables->first_soft_root > 0 ? 2 * roots : roots;
  size_t means = tables->softening.mean && tables->softening.uniform ? roots : 0;
  device_buffer* to = r->others;
  r->num_nodes = (int32_t)nodes;
  return buffer_put(r->stream, &to[IN_KINDS], tables->kinds, FEM_KINDS, (fem_kind**)&a->kinds) &&
         buffer_put(r->stream, &to[IN_ROOT_MATRICES],
                    tables->root_matrices ? &tables->root_matrices[0][0][0] : NULL,
                    matrices * FEM_TYPES * FEM_MATRIX, &r->root_matrices) &&
         buffer_put(r->stream, &to[IN_ROOT_MEANS], means ? &tables->softening.mean[0][0] : NULL,
                    means * FEM_MATRIX, (float**)&a->root_means) &&
         buffer_put(r->stream, &to[IN_ROOT_SQUARES], &tables->half_squares[0][0][0],
                    roots * FEM_TYPES * FEM_MAX_EDGES, (float**)&a->root_squares) &&
         buffer_put(r->stream, &to[IN_POS], (const yw_vec4*)NULL, nodes, &a->pos) &&
         buffer_put(r->stream, &to[IN_VEL], (const yw_vec4*)NULL, nodes, &a->vel) &&
         buffer_put(r->stream, &to[IN_FORCE], (const yw_vec4*)NULL, nodes, &a->force) &&
         buffer_put(r->stream, &to[IN_SQUEEZED], (const int*)NULL, 1, &a->squeezed) &&
         buffer_put(r->stream, &to[IN_BOX], (const ordered_box*)NULL, 1, &a->box) &&
         pins_create((int32_t)nodes, &r->pins) && send_tets(r, body);
}

static yw_status fem_create(const fem_body* body, fem_remote** out, yw_error* error) {
  *out = NULL;
  uint64_t needed = fem_bytes(body), left = device_free_bytes();
  if (needed > left) {
    snprintf(error->message, sizeof error->message,
             "device cuda: a fem body of up to %d tets needs %.2f GB of its memory, of which %.2f "
             "GB are free; lower max_level, or run without --device",
             body->model->h.num_tets - body->model->h.level_start[body->model->h.max_level],
             (double)needed * 1e-9, (double)left * 1e-9);
    return error->status = YW_ERR_DEVICE;
  }
  fem_remote* r = (fem_remote*)calloc(1, sizeof(fem_remote));
  if (!r) return YW_ERR_MEMORY;
  if (!device_stream_open(&r->stream) || !allocate_fem(r, body)) {
    fem_destroy(r);
    return fail_device(error, "a fem body could not be made");
  }
  *out = r;
  return YW_OK;
}

// The front ---------------------------------------------------------------------------------------

static bool any_by_lane(const fem_batches* b, int32_t batches) {
  for (int32_t i = 0; i < batches; ++i) {
    if (b->table_root[i] < 0) return true;
  }
  return false;
}

static bool send_kind(fem_remote* r, const fem_work* work, int k) {
  const fem_batches* b = &work->kinds[k];
  const fem_kind* kind = &work->tables->kinds[k];
  fem_batches* to = &r->args.batches[k];
  device_buffer* at = r->of_kind[k];
  size_t batches = (size_t)yw_fem_num_batches(b), n = batches * YW_LANES;
  size_t soft = (size_t)b->num_soft * YW_LANES, children = (size_t)kind->num_children;
  bool by_lane = !b->table_root || any_by_lane(b, (int32_t)batches);
  to->count = b->count;
  to->num_soft = b->num_soft;
  return buffer_put(r->stream, &at[0], b->nodes, n * (size_t)kind->num_nodes, &to->nodes) &&
         buffer_put(r->stream, &at[1], b->half_squares, by_lane ? n * (size_t)kind->num_edges : 0,
                    &to->half_squares) &&
         buffer_put(r->stream, &at[2], b->turn, n, &to->turn) &&
         buffer_put(r->stream, &at[3], b->owner, n, &to->owner) &&
         buffer_put(r->stream, &at[4], b->present, n, &to->present) &&
         buffer_put(r->stream, &at[5], b->first_slot, batches, &to->first_slot) &&
         (!b->factors || (buffer_put(r->stream, &at[6], b->factors, n * children, &to->factors) &&
                          buffer_put(r->stream, &at[7], b->table_root, batches, &to->table_root) &&
                          buffer_put(r->stream, &at[8], b->lane_tables,
                                     by_lane ? n * FEM_TYPES * FEM_MATRIX : 0, &to->lane_tables) &&
                          buffer_put(r->stream, &at[9], b->one_factor, batches, &to->one_factor) &&
                          buffer_put(r->stream, &at[12], b->rest_scale, n, &to->rest_scale) &&
                          buffer_put(r->stream, &at[13], b->mean_scale, n, &to->mean_scale) &&
                          buffer_put(r->stream, &at[14], b->share_scale, n, &to->share_scale))) &&
         (!b->matrices ||
          buffer_put(r->stream, &at[6], b->matrices, n * children * FEM_MATRIX, &to->matrices)) &&
         (!b->dampings ||
          buffer_put(r->stream, &at[7], b->dampings, n * children * FEM_MATRIX, &to->dampings)) &&
         (!b->shares || buffer_put(r->stream, &at[9], b->shares, soft * children, &to->shares)) &&
         buffer_put(r->stream, &at[10], b->mean_matrices, by_lane ? soft * FEM_MATRIX : 0,
                    &to->mean_matrices);
}

// Hanging nodes born at a level, and for the nodes that they hang on, lists of them, descending.
static bool send_level(fem_remote* r, const fem_front* f, int level, int32_t* starts) {
  const fem_hierarchy* h = f->h;
  int32_t first = 0, count = 0, parents = 0;
  while (first < f->num_hanging && h->node[f->hanging[first]].born < level) ++first;
  while (first + count < f->num_hanging && h->node[f->hanging[first + count]].born == level) {
    ++count;
  }
  r->hang[level] = r->carry[level] = (fem_hang){};
  if (count == 0) return true;
  size_t room = 2 * (size_t)count;
  int32_t* list = (int32_t*)malloc((3 * room + 1) * sizeof(int32_t));
  if (!list) return false;
  int32_t *nodes = list, *start = list + room, *children = start + room + 1;
  memset(starts, 0, (size_t)h->num_nodes * sizeof *starts);
  const int32_t* hanging = f->hanging + first;
  for (int32_t i = 0; i < count; ++i) {
    for (int k = 0; k < 2; ++k) {
      int32_t p = h->node[hanging[i]].parents[k];
      if (starts[p]++ == 0) nodes[parents++] = p;
    }
  }
  start[0] = 0;
  for (int32_t i = 0; i < parents; ++i) {
    start[i + 1] = start[i] + starts[nodes[i]];
    starts[nodes[i]] = start[i];
  }
  for (int32_t i = count - 1; i >= 0; --i) {
    for (int k = 0; k < 2; ++k) children[starts[h->node[hanging[i]].parents[k]]++] = hanging[i];
  }
  device_buffer* to = r->hanging[level];
  fem_hang *hang = &r->hang[level], *carry = &r->carry[level];
  hang->count = count;
  carry->count = parents;
  bool ok = buffer_put(r->stream, &to[0], hanging, (size_t)count, (int32_t**)&hang->nodes) &&
            buffer_put(r->stream, &to[1], nodes, (size_t)parents, (int32_t**)&carry->nodes) &&
            buffer_put(r->stream, &to[2], start, (size_t)parents + 1, (int32_t**)&carry->start) &&
            buffer_put(r->stream, &to[3], children, room, (int32_t**)&carry->children) &&
            device_wait(r->stream);
  free(list);
  return ok;
}

static bool send_hanging(fem_remote* r, const fem_front* f) {
  int32_t* starts = (int32_t*)malloc((size_t)f->h->num_nodes * sizeof(int32_t));
  bool ok = starts != NULL;
  for (int level = 0; ok && level <= FEM_MAX_LEVEL; ++level) ok = send_level(r, f, level, starts);
  free(starts);
  return ok;
}

static yw_status fem_send_front(fem_remote* r, const fem_body* body) {
  const fem_work* work = &body->work;
  fem_args* a = &r->args;
  device_buffer* to = r->others;
  size_t active = (size_t)body->front.num_active, surface = (size_t)body->num_surface;
  bool ok = true;
  a->num_batches = work->num_batches;
  a->num_active = body->front.num_active;
  a->num_surface = body->num_surface;
  size_t first = (size_t)(work->soften ? work->tables->first_soft_root : 0);
  a->root_matrices =
      (const float(*)[FEM_TYPES][FEM_MATRIX])(r->root_matrices + first * FEM_TYPES * FEM_MATRIX);
  for (int k = 0; ok && k < FEM_KINDS; ++k) ok = send_kind(r, work, k);
  if (body->num_surface > r->num_packed) {
    free(r->packed);
    r->packed = (yw_vec4*)malloc(2 * surface * sizeof(yw_vec4));
    r->num_packed = r->packed ? body->num_surface : 0;
    ok = ok && r->packed;
  }
  ok = ok &&
       buffer_put(r->stream, &to[IN_ORDER], work->order, (size_t)work->num_batches,
                  (fem_batch_ref**)&a->order) &&
       buffer_put(r->stream, &to[IN_NODES], work->nodes, active, (int32_t**)&a->nodes) &&
       buffer_put(r->stream, &to[IN_SLOT_START], work->slot_start, active + 1,
                  (int32_t**)&a->slot_start) &&
       buffer_put(r->stream, &to[IN_SLOTS_OF], work->slots, (size_t)work->slot_start[active],
                  (int32_t**)&a->slots_of) &&
       buffer_put(r->stream, &to[IN_SLOTS], (const yw_vec4*)NULL, (size_t)work->num_slots,
                  &a->slots) &&
       buffer_put(r->stream, &to[IN_SURFACE], body->surface, surface, (int32_t**)&a->surface) &&
       buffer_put(r->stream, &to[IN_SURFACE_OLD], (const yw_vec4*)NULL, surface, &a->surface_old) &&
       buffer_put(r->stream, &to[IN_SURFACE_POS], (const yw_vec4*)NULL, surface, &a->surface_pos) &&
       buffer_put(r->stream, &to[IN_SURFACE_VEL], (const yw_vec4*)NULL, surface, &a->surface_vel) &&
       send_hanging(r, &body->front) && device_wait(r->stream);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static yw_status fem_send_offsets(fem_remote* r, const fem_body* body) {
  bool ok = true;
  for (int k = 0; ok && k < FEM_KINDS; ++k) {
    const fem_batches* b = &body->work.kinds[k];
    size_t n = (size_t)yw_fem_num_batches(b) * YW_LANES;
    size_t children = (size_t)body->work.tables->kinds[k].num_children;
    ok = buffer_put(r->stream, &r->of_kind[k][11], b->offsets, n * children * 6,
                    &r->args.batches[k].offsets);
  }
  return ok ? YW_OK : YW_ERR_DEVICE;
}

// Particles ---------------------------------------------------------------------------------------

static yw_status fem_send(fem_remote* r, const fem_body* body, const yw_particles* particles,
                          const yw_step_ctx* ctx) {
  fem_args* a = &r->args;
  size_t nodes = (size_t)r->num_nodes;
  bool ok = device_put(r->stream, a->pos, particles->pos, nodes * sizeof(yw_vec4)) &&
            device_put(r->stream, a->vel, particles->vel, nodes * sizeof(yw_vec4)) &&
            buffer_put(r->stream, &r->others[IN_INV_MASS], body->inv_mass, nodes,
                       (float**)&a->inv_mass) &&
            pins_send(r->stream, &r->pins, ctx, body->front.state);
  a->holds = r->pins.holds;
  a->springs = r->pins.springs;
  a->num_holds = ctx->num_holds;
  a->num_springs = ctx->num_springs;
  a->springs_differ = r->pins.springs_differ;
  return ok && device_wait(r->stream) ? YW_OK : YW_ERR_DEVICE;
}

static yw_status fem_fetch(fem_remote* r, yw_particles* particles) {
  size_t bytes = (size_t)r->num_nodes * sizeof(yw_vec4);
  bool ok = device_get(r->stream, particles->pos, r->args.pos, bytes) &&
            device_get(r->stream, particles->vel, r->args.vel, bytes) && device_wait(r->stream);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static yw_status fem_fetch_surface(fem_remote* r, fem_body* body, yw_particles* particles) {
  int32_t count = r->args.num_surface;
  size_t bytes = (size_t)count * sizeof(yw_vec4);
  yw_vec4 *pos = r->packed, *vel = r->packed + count;
  bool ok = device_get(r->stream, body->surface_old, r->args.surface_old, bytes) &&
            device_get(r->stream, pos, r->args.surface_pos, bytes) &&
            device_get(r->stream, vel, r->args.surface_vel, bytes) && device_wait(r->stream);
  if (!ok) return YW_ERR_DEVICE;
  for (int32_t i = 0; i < count; ++i) {
    particles->pos[body->surface[i]] = pos[i];
    particles->vel[body->surface[i]] = vel[i];
  }
  return YW_OK;
}

template <class Kernel>
static bool run_over(fem_remote* r, int32_t items) {
  if (items == 0) return true;
  return device_run<Kernel>(r->stream, r->args, (items + Kernel::THREADS - 1) / Kernel::THREADS,
                            16);
}

static yw_status fem_send_surface(fem_remote* r, const fem_body* body,
                                  const yw_particles* particles) {
  int32_t count = r->args.num_surface;
  size_t bytes = (size_t)count * sizeof(yw_vec4);
  yw_vec4 *pos = r->packed, *vel = r->packed + count;
  for (int32_t i = 0; i < count; ++i) {
    pos[i] = particles->pos[body->surface[i]];
    vel[i] = particles->vel[body->surface[i]];
  }
  bool ok = device_put(r->stream, r->args.surface_pos, pos, bytes) &&
            device_put(r->stream, r->args.surface_vel, vel, bytes) && device_wait(r->stream) &&
            run_over<surface_back_kernel>(r, count);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

// Steps -------------------------------------------------------------------------------------------

static bool run_families(fem_remote* r) {
  const int batches = families_kernel<true>::BATCHES;
  int blocks = (r->args.num_batches + batches - 1) / batches;
  if (r->args.forces.damped) {
    return device_run<families_kernel<true>>(r->stream, r->args, blocks, 16);
  }
  return device_run<families_kernel<false>>(r->stream, r->args, blocks, 16);
}

static yw_status fem_velocities(fem_remote* r, yw_aabb* box) {
  ordered_box found = order_box(yw_aabb_empty());
  bool ok = device_put(r->stream, r->args.box, &found, sizeof found) &&
            run_over<velocities_kernel>(r, r->args.num_active) &&
            device_get(r->stream, &found, r->args.box, sizeof found) && device_wait(r->stream);
  *box = box_of_ordered(&found);
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static yw_status fem_forces(fem_remote* r, const fem_force_orders* orders, int32_t* squeezed) {
  fem_args* a = &r->args;
  a->forces = *orders;
  bool ok = !orders->look || device_zero(r->stream, a->squeezed, sizeof *a->squeezed);
  ok = ok && run_families(r) && run_over<sums_kernel>(r, a->num_active);
  for (int level = FEM_MAX_LEVEL; ok && orders->carry && level > 0; --level) {
    a->hang = r->carry[level];
    ok = run_over<carry_kernel>(r, a->hang.count);
  }
  if (ok && orders->look) {
    ok =
        device_get(r->stream, squeezed, a->squeezed, sizeof *a->squeezed) && device_wait(r->stream);
  }
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static yw_status fem_move_nodes(fem_remote* r, const fem_move_orders* orders, yw_aabb* box) {
  fem_args* a = &r->args;
  a->orders = *orders;
  bool asks = orders->obstacles && a->num_surface > 0;
  bool ok = !asks || run_over<surface_begin_kernel>(r, a->num_surface);
  ok = ok && run_over<nodes_kernel>(r, a->num_active);
  if (ok && a->num_holds + a->num_springs > 0) {
    ok = device_run<fem_pins_kernel>(r->stream, *a, 1, 16);
  }
  *box = yw_aabb_empty();
  if (ok && asks) {
    ordered_box found;
    ok = run_over<surface_end_kernel>(r, a->num_surface) &&
         device_get(r->stream, &found, a->box, sizeof found) && device_wait(r->stream);
    *box = box_of_ordered(&found);
  }
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static yw_status fem_follow(fem_remote* r) {
  bool ok = true;
  for (int level = 1; ok && level <= FEM_MAX_LEVEL; ++level) {
    r->args.hang = r->hang[level];
    ok = run_over<follow_kernel>(r, r->args.hang.count);
  }
  return ok ? YW_OK : YW_ERR_DEVICE;
}

static const fem_device_fns fem_functions = {
    .create = fem_create,
    .destroy = fem_destroy,
    .send_front = fem_send_front,
    .send_offsets = fem_send_offsets,
    .send = fem_send,
    .fetch = fem_fetch,
    .velocities = fem_velocities,
    .forces = fem_forces,
    .move = fem_move_nodes,
    .fetch_surface = fem_fetch_surface,
    .send_surface = fem_send_surface,
    .follow = fem_follow,
};

#endif
