// SPDX-License-Identifier: MIT
// Slaves follow the masters around them (22). They are added where matter parts (section 4.2) or
// where a master has too few around it, and removed where they crowd (section 4.3).
#include <math.h>
#include <string.h>

#include "methods/plastic/cells.h"
#include "methods/plastic/phases.h"
#include "methods/plastic/ranks.h"
#include "methods/plastic/slave_steps.h"
#include "methods/plastic/slaves.h"

// A slave is not added if another is closer than PLASTIC_LEAST_DISTANCE, or, at parted masters, if
// the sum of w is already that of the lattice.
#define FULL_WEIGHT 2.0947f

// Motion ------------------------------------------------------------------------------------------

static void move_chunk(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = body->slave_block[chunk], end = body->slave_block[chunk + 1];
  for (int32_t s = first; s < end; ++s) plastic_move_slave(body, s);
}

// Largest speed relative to the first master, or to sleepers: bounds the drift of the lists.
static float largest_speed(const plastic_body* body, const yw_particles* particles) {
  float most = 0.0f;
  yw_vec4 base = {0};
  if (body->sleep.num_asleep == 0 && body->num_masters > 0) base = particles->vel[0];
  if (body->ranks) yw_ranks_broadcast(body->ranks->comm, 0, &base, sizeof base);
  for (int32_t m = 0; m < body->num_masters; ++m) {
    float v2 = plastic_distance2(particles->vel[m], base);
    if (v2 > most) most = v2;
  }
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    float v2 = body->slave_vel[s].w > 0.0f ? plastic_distance2(body->slave_vel[s], base) : 0.0f;
    if (v2 > most) most = v2;
  }
  return sqrtf(yw_plastic_most(body, most));
}

void yw_plastic_move_slaves(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  const plastic_kernels* kernels = YW_KERNEL_PICK(yw_plastic_kernels, ctx->simd);
  yw_plastic_scatter(body, particles, ctx, kernels->spread_motion, 1);
  yw_plastic_run_slaves(body, particles, ctx, kernels->to_slaves);
  yw_plastic_run_slaves(body, particles, ctx, move_chunk);
  body->pace = body->dt * largest_speed(body, particles);
  body->drift += body->pace;
}

// Addition ----------------------------------------------------------------------------------------

static uint32_t fresh_bucket(const plastic_body* body, plastic_cell cell) {
  uint32_t h = plastic_line(cell.y, cell.z) + (uint32_t)cell.x * 0xc2b2ae3du;
  return (h ^ (h >> 15)) & (uint32_t)body->fresh_mask;
}

// True if a slave added in this step is closer than LEAST_DISTANCE.
static bool meets_fresh(const plastic_body* body, yw_vec4 p, float room2) {
  float edge = body->model->spacing;
  plastic_cell c = plastic_cell_of(p, edge);
  for (int k = 0; k < 27; ++k) {
    plastic_cell near = {c.x + k % 3 - 1, c.y + k / 3 % 3 - 1, c.z + k / 9 - 1};
    for (int32_t s = body->fresh_head[fresh_bucket(body, near)]; s >= 0; s = body->fresh_next[s]) {
      if (plastic_distance2(body->slave_pos[s], p) < room2) return true;
    }
  }
  return false;
}

static bool add_slave(plastic_body* body, yw_vec4 p) {
  // Grows only at a time when the other slave arrays hold nothing that is needed.
  if (!yw_plastic_reserve_slaves(body, body->num_slaves + 1)) return false;
  int32_t s = body->num_slaves++;
  p.w = 0.0f;
  body->slave_pos[s] = p;
  uint32_t bucket = fresh_bucket(body, plastic_cell_of(p, body->model->spacing));
  body->fresh_next[s] = body->fresh_head[bucket];
  body->fresh_head[bucket] = s;
  body->lists_are_old = true;
  ++body->added;
  return true;
}

static float kernel(float q) {
  if (q < 1.0f) return (0.5f * q - 1.0f) * q * q + 2.0f / 3.0f;
  float out = q < 2.0f ? 2.0f - q : 0.0f;
  return out * out * out * (1.0f / 6.0f);
}

// Offers are numbered in the order in which they are considered: links by their ends, then repair
// by masters and corners.
static int64_t repair_key(const plastic_body* body, int32_t m, int corner) {
  return 2 * (int64_t)body->model->num_links + 8 * (int64_t)(body->first_master + m) + corner;
}

bool yw_plastic_consider(plastic_body* body, int64_t key, yw_vec4 p, bool* added) {
  float room = PLASTIC_LEAST_DISTANCE * body->model->spacing;
  *added = key < repair_key(body, -body->first_master, 0) || !meets_fresh(body, p, room * room);
  return !*added || add_slave(body, p);
}

// One rank adds at once, several agree first.
static bool offer(plastic_body* body, int64_t key, yw_vec4 p) {
  bool added;
  return body->ranks ? yw_plastic_propose(body, key, p) : yw_plastic_consider(body, key, p, &added);
}

bool yw_plastic_offer_beside(plastic_body* body, const yw_particles* particles, int32_t m,
                             yw_vec4 from, int64_t key) {
  yw_vec4 x = particles->pos[m];
  float near = body->model->scheme.split_master, far = body->model->scheme.split_slave,
        all = near + far;
  yw_vec4 p = {(far * from.x + near * x.x) / all, (far * from.y + near * x.y) / all,
               (far * from.z + near * x.z) / all, 0.0f};
  float inv_h = 1.0f / body->model->spacing, sum = 0.0f;
  for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
    sum += kernel(sqrtf(plastic_distance2(body->slave_pos[body->column[e]], p)) * inv_h);
  }
  return sum > FULL_WEIGHT || offer(body, key, p);
}

bool yw_plastic_have_parted(const plastic_body* body, yw_vec4 a, yw_vec4 b) {
  return plastic_have_parted(body->model->spacing, a, b);
}

yw_vec4 yw_plastic_middle(yw_vec4 a, yw_vec4 b) {
  return (yw_vec4){0.5f * (a.x + b.x), 0.5f * (a.y + b.y), 0.5f * (a.z + b.z), 0.0f};
}

yw_vec4 yw_plastic_nearest(const plastic_body* body, int32_t m, yw_vec4 p) {
  yw_vec4 nearest = {p.x, p.y, p.z, INFINITY};
  for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
    yw_vec4 x = body->slave_pos[body->column[e]];
    float d2 = plastic_distance2(x, p);
    if (d2 < nearest.w) nearest = (yw_vec4){x.x, x.y, x.z, d2};
  }
  return nearest;
}

yw_vec4 yw_plastic_nearer(yw_vec4 at_a, yw_vec4 at_b, yw_vec4 middle) {
  yw_vec4 from = middle;
  float nearest = INFINITY;
  if (at_a.w < nearest) nearest = at_a.w, from = at_a;
  if (at_b.w < nearest) from = at_b;
  from.w = 0.0f;
  return from;
}

bool yw_plastic_is_due(const plastic_body* body, yw_vec4 a, yw_vec4 b, yw_vec4 from, int side) {
  int farther = plastic_distance2(b, from) > plastic_distance2(a, from),
      per_split = body->rules.per_split;
  return per_split == 2 || (per_split == 1 && side == farther);
}

// Link k.
static bool part_link(plastic_body* body, const yw_particles* particles, int32_t k,
                      plastic_link link) {
  const int32_t ends[2] = {link.a - body->first_master, link.b - body->first_master};
  // Links to other ranks are watched elsewhere.
  if (ends[0] < 0) return true;
  yw_vec4 a = particles->pos[ends[0]], b = particles->pos[ends[1]];
  if (!body->is_linked[k] || !yw_plastic_have_parted(body, a, b)) return true;
  if (body->sleep.island[ends[0]] >= 0 || body->sleep.island[ends[1]] >= 0) return true;
  body->is_linked[k] = 0;
  if (body->ranks && !yw_plastic_note_parted(body, k)) return false;
  yw_vec4 middle = yw_plastic_middle(a, b);
  yw_vec4 from = yw_plastic_nearer(yw_plastic_nearest(body, ends[0], middle),
                                   yw_plastic_nearest(body, ends[1], middle), middle);
  for (int side = 0; side < 2; ++side) {
    if (yw_plastic_is_due(body, a, b, from, side) &&
        !yw_plastic_offer_beside(body, particles, ends[side], from, 2 * (int64_t)k + side)) {
      return false;
    }
  }
  return true;
}

static bool add_at_links(plastic_body* body, const yw_particles* particles) {
  const plastic_model* model = body->model;
  int32_t first = body->first_master, end = first + body->num_masters;
  int32_t number = first < end ? yw_plastic_first_link(model, first) : 0;
  const int32_t* way;
  for (int32_t m = first; m < end; ++m) {
    int32_t count = yw_plastic_links_of(model, m, &way);
    for (int32_t k = 0; k < count; ++k, ++number) {
      if (!part_link(body, particles, number, (plastic_link){m + way[k], m})) return false;
    }
  }
  return !body->ranks || yw_plastic_part_cross_links(body, particles);
}

// Moves a crowded slave of master m to p. False: there is none.
static bool relocate(plastic_body* body, int32_t m, yw_vec4 p) {
  float close2 =
      PLASTIC_CROWD_DISTANCE * PLASTIC_CROWD_DISTANCE * body->model->spacing * body->model->spacing;
  for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
    yw_vec4* x = &body->slave_pos[body->column[e]];
    for (int32_t other = e + 1; other < body->row_start[m + 1]; ++other) {
      if (plastic_distance2(*x, body->slave_pos[body->column[other]]) >= close2) continue;
      *x = (yw_vec4){p.x, p.y, p.z, 0.0f};
      body->lists_are_old = true;
      ++body->relocated;
      return true;
    }
  }
  return false;
}

// Fills the eight lattice positions around a master that have no slave nearby.
static bool repair(plastic_body* body, const yw_particles* particles, int32_t m) {
  float half = 0.5f * body->model->spacing, room = PLASTIC_LEAST_DISTANCE * body->model->spacing;
  yw_vec4 x = particles->pos[m];
  for (int corner = 0; corner < 8; ++corner) {
    yw_vec4 p = {x.x + (corner & 1 ? half : -half), x.y + (corner & 2 ? half : -half),
                 x.z + (corner & 4 ? half : -half), 0.0f};
    bool is_free = true;
    for (int32_t e = body->row_start[m]; is_free && e < body->row_start[m + 1]; ++e) {
      is_free = plastic_distance2(body->slave_pos[body->column[e]], p) >= room * room;
    }
    if (!is_free) continue;
    // Moving slaves is for measurements on one rank.
    bool stays =
        body->rules.relocate && (meets_fresh(body, p, room * room) || relocate(body, m, p));
    if (!stays && !offer(body, repair_key(body, m, corner), p)) return false;
  }
  return true;
}

bool yw_plastic_seed_slaves(plastic_body* body, const yw_particles* particles) {
  float d = body->model->spacing, room = PLASTIC_LEAST_DISTANCE * d;
  const float reach2 = body->model->slave_reach * body->model->slave_reach;  // as in placement.c
  body->num_slaves = 0;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    yw_vec4 x = particles->pos[m];
    for (int k = 0; k < 64; ++k) {
      float i = (float)(k % 4) - 1.5f, j = (float)(k / 4 % 4) - 1.5f, l = (float)(k / 16) - 1.5f;
      if (i * i + j * j + l * l >= reach2) continue;
      yw_vec4 p = {x.x + i * d, x.y + j * d, x.z + l * d, 0.0f};
      if (!meets_fresh(body, p, room * room) && !add_slave(body, p)) return false;
    }
  }
  memset(body->fresh_head, 0xff, ((size_t)body->fresh_mask + 1) * sizeof *body->fresh_head);
  body->num_listed = 0;
  return true;
}

bool yw_plastic_add_slaves(plastic_body* body, const yw_particles* particles) {
  int64_t before = body->added;
  bool good = add_at_links(body, particles);
  for (int32_t m = 0; good && m < body->num_masters; ++m) {
    if (body->needs[m] && body->sleep.island[m] < 0 && body->rules.repair)
      good = repair(body, particles, m);
  }
  if (good && body->ranks) good = yw_plastic_accept(body);
  if (body->added > before) {
    memset(body->fresh_head, 0xff, ((size_t)body->fresh_mask + 1) * sizeof *body->fresh_head);
  }
  return good;
}

// Deletion ----------------------------------------------------------------------------------------

static void drop_chunk(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_SLAVE_CHUNK, end = first + PLASTIC_SLAVE_CHUNK, dropped = 0;
  if (end > body->num_slaves) end = body->num_slaves;
  float edge = plastic_cell_edge(body->model->spacing);
  const plastic_bins bins = {body->slave_pos, body->bucket_start, body->bucket_mask,
                             body->model->spacing};
  for (int32_t s = first; s < end; ++s) {
    plastic_cell cell = plastic_cell_of(body->slave_pos[s], edge);
    uint32_t line = plastic_line(cell.y, cell.z);
    bool is_kept = !plastic_is_crowded(&bins, s);
    body->slave_bucket[s] = is_kept ? (int32_t)((line + (uint32_t)cell.x) & body->bucket_mask) : -1;
    dropped += !is_kept;
  }
  body->sums[chunk].count = dropped;
}

int32_t yw_plastic_drop_slaves(plastic_body* body, yw_particles* particles,
                               const yw_step_ctx* ctx) {
  int32_t chunks = yw_plastic_chunks(body->num_slaves, PLASTIC_SLAVE_CHUNK), dropped = 0;
  if (body->rules.keep) return 0;
  yw_plastic_run(body, particles, ctx, chunks, drop_chunk);
  for (int32_t c = 0; c < chunks; ++c) dropped += body->sums[c].count;
  if (!body->ranks) body->removed += dropped;
  return dropped;
}
