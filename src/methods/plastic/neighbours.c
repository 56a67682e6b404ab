// SPDX-License-Identifier: MIT
// The slaves that each master sees. Lists reach slightly beyond 2h and last until something may
// have moved by half of that margin (relative to the whole body), or slaves were added or removed.
#include <string.h>

#include "methods/plastic/cells.h"
#include "methods/plastic/phases.h"
#include "methods/plastic/ranks.h"
#include "yawara/extend/memory.h"

// Vector loads read beyond the end of the sorted slaves.
#define TAIL_SLAVES YW_LANES

bool yw_plastic_reserve_pairs(plastic_body* body, int64_t count) {
  if (count <= body->pair_capacity) return true;
  int64_t wanted = count + count / 4;
  if (wanted > INT32_MAX - 1024) wanted = INT32_MAX - 1024;
  if (wanted < count) return false;
  // Pairs are rebuilt, so nothing is copied. Rows are padded to multiples of four.
  size_t room = (size_t)wanted + 3 * (size_t)body->master_capacity;
  const yw_allocator* mem = &body->mem;
  body->pair_capacity = 0;
  bool good = YW_RENEW_ARRAY(mem, body->column, room) && YW_RENEW_ARRAY(mem, body->share, room) &&
              YW_RENEW_ARRAY(mem, body->local_column, room) &&
              (!body->model->paper || YW_RENEW_ARRAY(mem, body->back_share, room));
  if (good) body->pair_capacity = (int32_t)wanted;
  return good;
}

// About one slave per bucket; a power of two.
static bool reserve_buckets(plastic_body* body, int32_t slaves) {
  uint32_t buckets = 64;
  while (buckets < (uint32_t)slaves && buckets < (1u << 30)) buckets *= 2;
  body->bucket_mask = buckets - 1;
  return YW_RENEW_ARRAY(&body->mem, body->bucket_start, (size_t)buckets + 2);
}

// Per-slave arrays that every step recomputes.
static bool renew_slave_arrays(plastic_body* body, size_t count) {
  const yw_allocator* mem = &body->mem;
  return YW_RENEW_ARRAY(mem, body->slave_vel, count) && YW_RENEW_ARRAY(mem, body->force, count) &&
         YW_RENEW_ARRAY(mem, body->solved, count) && YW_RENEW_ARRAY(mem, body->residual, count) &&
         YW_RENEW_ARRAY(mem, body->product, count) && YW_RENEW_ARRAY(mem, body->course, count) &&
         YW_RENEW_ARRAY(mem, body->normal, count) &&
         YW_RENEW_ARRAY(mem, body->surface_vel, count) &&
         YW_RENEW_ARRAY(mem, body->inverse, count) && YW_RENEW_ARRAY(mem, body->sorted_x, count) &&
         YW_RENEW_ARRAY(mem, body->sorted_y, count) && YW_RENEW_ARRAY(mem, body->sorted_z, count) &&
         YW_RENEW_ARRAY(mem, body->sorted_line, count) &&
         YW_RENEW_ARRAY(mem, body->slave_bucket, count) &&
         YW_RENEW_ARRAY(mem, body->part_start, count) && YW_RENEW_ARRAY(mem, body->touches, count);
}

bool yw_plastic_reserve_sums(plastic_body* body, int32_t count) {
  if (count <= body->sum_capacity) return true;
  int32_t wanted = count + count / 4;
  body->sum_capacity = 0;
  if (!YW_RENEW_ARRAY(&body->mem, body->sums, wanted)) return false;
  body->sum_capacity = wanted;
  return true;
}

bool yw_plastic_reserve_slaves(plastic_body* body, int32_t count) {
  if (count <= body->slave_capacity) return true;
  if (count > INT32_MAX / 2) return false;
  size_t old = (size_t)body->num_slaves, wanted = (size_t)count + (size_t)count / 4 + 256;
  yw_vec4* kept =
      yw_mem_resize(&body->mem, body->slave_pos, old, wanted + TAIL_SLAVES, sizeof *kept);
  if (!kept) return false;
  body->slave_pos = kept;
  int32_t* next = yw_mem_resize(&body->mem, body->fresh_next, old, wanted, sizeof *next);
  if (!next) return false;
  body->fresh_next = next;
  int32_t chunks = yw_plastic_chunks((int32_t)wanted, PLASTIC_SLAVE_CHUNK);
  int32_t others = yw_plastic_chunks(body->master_capacity, PLASTIC_CHUNK);
  bool good = renew_slave_arrays(body, wanted + TAIL_SLAVES) &&
              yw_plastic_reserve_sums(body, (chunks > others ? chunks : others) + 1) &&
              reserve_buckets(body, (int32_t)wanted);
  body->slave_capacity = good ? (int32_t)wanted : 0;
  body->lists_are_old = true;
  body->num_listed = 0;
  return good;
}

// Cells -------------------------------------------------------------------------------------------

static void find_buckets(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_SLAVE_CHUNK, end = first + PLASTIC_SLAVE_CHUNK;
  if (end > body->num_slaves) end = body->num_slaves;
  float edge = plastic_cell_edge(body->model->spacing);
  for (int32_t s = first; s < end; ++s) {
    plastic_cell cell = plastic_cell_of(body->slave_pos[s], edge);
    uint32_t line = plastic_line(cell.y, cell.z);
    body->slave_bucket[s] = (int32_t)((line + (uint32_t)cell.x) & body->bucket_mask);
    // Numbers decide which of two crowded slaves stays. Without slaves, w has the master.
    if (!body->twin) memcpy(&body->slave_pos[s].w, &s, sizeof s);
  }
}

// Sorts slaves by bucket; drops those with a bucket below 0.
static void sort_slaves(plastic_body* body) {
  int32_t* start = body->bucket_start;
  size_t buckets = (size_t)body->bucket_mask + 1;
  memset(start, 0, (buckets + 1) * sizeof *start);
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    if (body->slave_bucket[s] >= 0) ++start[body->slave_bucket[s] + 1];
  }
  for (size_t b = 0; b < buckets; ++b) start[b + 1] += start[b];
  yw_vec4* sorted = body->product;
  int32_t kept = start[buckets];
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    int32_t b = body->slave_bucket[s];
    if (b >= 0) sorted[start[b]++] = body->slave_pos[s];
  }
  for (size_t b = buckets; b > 0; --b) start[b] = start[b - 1];
  start[0] = 0;
  body->product = body->slave_pos;
  body->slave_pos = sorted;
  body->num_slaves = kept;
}

static void spread_places(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_SLAVE_CHUNK, end = first + PLASTIC_SLAVE_CHUNK;
  if (end > body->num_slaves) end = body->num_slaves;
  float edge = plastic_cell_edge(body->model->spacing);
  for (int32_t s = first; s < end; ++s) {
    yw_vec4 p = body->slave_pos[s];
    body->sorted_x[s] = p.x;
    body->sorted_y[s] = p.y;
    body->sorted_z[s] = p.z;
    body->sorted_line[s] =
        plastic_line(plastic_cell_index(p.y, edge), plastic_cell_index(p.z, edge));
  }
}

// Pairs -------------------------------------------------------------------------------------------

// Packs the rows that `search` found into one list.
static void pack_rows(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_CHUNK, end = first + PLASTIC_CHUNK;
  if (end > body->num_masters) end = body->num_masters;
  size_t count = (size_t)(body->row_start[end] - body->row_start[first]);
  memcpy(body->column + body->row_start[first], body->found + (size_t)first * PLASTIC_MAX_ROW,
         count * sizeof *body->column);
}

static bool list_pairs(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  const plastic_weight_kernels* kernels = YW_KERNEL_PICK(yw_plastic_weight_kernels, ctx->simd);
  // Sleepers see no slaves.
  memset(body->row_start, 0, ((size_t)body->num_masters + 1) * sizeof *body->row_start);
  yw_plastic_run_masters(body, particles, ctx, kernels->search);
  int64_t total = 0;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    total += body->row_start[m + 1];
    if (total > INT32_MAX - 1024) return false;
    body->row_start[m + 1] = (int32_t)total;
  }
  if (!yw_plastic_reserve_pairs(body, total)) return false;
  body->num_pairs = (int32_t)total;
  yw_plastic_run_masters(body, particles, ctx, pack_rows);
  return yw_plastic_list_parts(body, ctx);
}

// A skin that a single step would outrun is useless.
float yw_plastic_choose_skin(const plastic_body* body) {
  float skin = PLASTIC_SKIN * body->model->spacing;
  return body->pace < 0.5f * skin ? skin : 0.0f;
}

bool yw_plastic_find_neighbours(plastic_body* body, yw_particles* particles,
                                const yw_step_ctx* ctx) {
  if (body->model->without_slaves) {
    if (!yw_plastic_reserve_slaves(body, body->num_masters)) return false;
    // While slaves are sorted, w holds the master that a slave stands for.
    for (int32_t m = 0; m < body->num_masters; ++m) {
      body->slave_pos[m] = particles->pos[m];
      memcpy(&body->slave_pos[m].w, &m, sizeof m);
    }
    body->num_slaves = body->num_masters;
    body->num_listed = 0;
    body->lists_are_old = true;
  }
  if (!body->lists_are_old && body->drift <= 0.5f * body->skin) return true;
  body->skin = yw_plastic_choose_skin(body);
  if (!yw_plastic_wake_near(body, particles)) return false;
  if (body->ranks && !yw_plastic_fetch_slaves(body, particles)) return false;
  int32_t chunks = yw_plastic_chunks(body->num_slaves, PLASTIC_SLAVE_CHUNK);
  yw_plastic_run(body, particles, ctx, chunks, find_buckets);
  sort_slaves(body);
  yw_plastic_run(body, particles, ctx, chunks, spread_places);
  if (!body->model->without_slaves && yw_plastic_drop_slaves(body, particles, ctx) > 0) {
    sort_slaves(body);
    yw_plastic_run(body, particles, ctx, chunks, spread_places);
  }
  if (!list_pairs(body, particles, ctx)) return false;
  for (int32_t i = 0; body->twin && i < body->num_slaves; ++i) {
    int32_t m;
    memcpy(&m, &body->slave_pos[i].w, sizeof m);
    body->twin[m] = i;
    body->slave_pos[i].w = 0.0f;
  }
  body->lists_are_old = false;
  body->drift = 0.0f;
  ++body->rebuilt;
  return true;
}

// Weights -----------------------------------------------------------------------------------------

void yw_plastic_weigh(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  if (body->model->paper) {
    yw_plastic_weigh_as_printed(body, particles);
    return;
  }
  const plastic_weight_kernels* kernels = YW_KERNEL_PICK(yw_plastic_weight_kernels, ctx->simd);
  yw_plastic_run_masters(body, particles, ctx, kernels->weights);
}
