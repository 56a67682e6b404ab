// SPDX-License-Identifier: MIT
// The phases of a step of example-based shape matching. Koyama et al. 2013; equation numbers refer
// to it. Symbols and formulas are those of region_lanes.h.
#include "base/simd.h"
#include "methods/match/region_lanes.h"

// Particles of a halo are scattered in memory; they are prefetched this many rows ahead.
#define PREFETCH_AHEAD MATCH_HALO_PADDING

// Prefetches data that the next block will read. The per-block arrays are too many and too short
// for the hardware prefetcher.
YW_LANE_FN void ask_for(const void* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch((const char*)from + i);
}

// Rows --------------------------------------------------------------------------------------------

// The row of one particle: m~ d (x0 - origin, 1)^T, three quads; d as viscosity sees it.
// Without viscosity the velocities are not read.
YW_LANE_FN void make_row(const match_step* step, const bool viscous, yw_float4 origin, int32_t p,
                         float* row) {
  const yw_float4 center = {step->center.x, step->center.y, step->center.z, 0.0f};
  const yw_float4 drift = {step->velocity.x, step->velocity.y, step->velocity.z, 0.0f};
  const float(*r)[3] = step->seen_rotation;
  const yw_float4 rx = {r[0][0], r[0][1], r[0][2], 0.0f}, ry = {r[1][0], r[1][1], r[1][2], 0.0f};
  const yw_float4 rz = {r[2][0], r[2][1], r[2][2], 0.0f};
  yw_float4 y = yw_float4_load(&step->pos[p].x) - center;
  if (viscous) y += step->lag * (yw_float4_load(&step->vel[p].x) - drift);
  yw_float4 x0 = yw_float4_load(&step->model->rest[p].x);
  yw_float4 turned =
      (rx * YW_FLOAT4_SPREAD(y, 0) + ry * YW_FLOAT4_SPREAD(y, 1)) + rz * YW_FLOAT4_SPREAD(y, 2);
  yw_float4 md = (turned - x0) * step->model->row_mass[p];
  yw_float4 q = x0 - origin;
#if YW_VF_LANES == 16
  const __m512i each = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
  yw_vf four = (yw_vf)_mm512_permutexvar_ps(each, _mm512_castps128_ps512((__m128)md));
  yw_vf_store(row, four * (yw_vf)_mm512_broadcast_f32x4((__m128)q));
#else
  yw_float4_store(row, YW_FLOAT4_SPREAD(md, 0) * q);
  yw_float4_store(row + 4, YW_FLOAT4_SPREAD(md, 1) * q);
  yw_float4_store(row + 8, YW_FLOAT4_SPREAD(md, 2) * q);
#endif
}

YW_LANE_FN void fill_rows(const match_step* step, const bool viscous, const match_chunk* chunk,
                          float* rows) {
  const int32_t* halo = step->model->halo + chunk->halo_start;
  yw_float4 origin = yw_float4_load(&chunk->origin.x);
  for (int32_t i = 0; i < chunk->count; ++i) {
    make_row(step, viscous, origin, chunk->begin + i, rows);
    rows += MATCH_ROW;
  }
  for (int32_t i = 0; i < chunk->num_halo; ++i) {
    int32_t soon = halo[i + PREFETCH_AHEAD];
    __builtin_prefetch(&step->pos[soon]);
    if (viscous) __builtin_prefetch(&step->vel[soon]);
    __builtin_prefetch(&step->model->rest[soon]);
    make_row(step, viscous, origin, halo[i], rows);
    rows += MATCH_ROW;
  }
  memset(rows, 0, MATCH_ROW * sizeof *rows);
}

static void make_rows(const match_step* step, const match_chunk* chunk, float* rows) {
  if (step->lag > 0.0f) {
    fill_rows(step, true, chunk, rows);
  } else {
    fill_rows(step, false, chunk, rows);
  }
}

// Target rows of the particles and the halo of a chunk. A body of one chunk uses them in place:
// lanes beyond its last particle are zero, as the row after the last one must be.
static const float* gather_targets(const match_step* step, const match_chunk* chunk, float* rows) {
  const float* targets = step->body->targets;
  if (step->model->num_chunks == 1) return targets;
  const int32_t* halo = step->model->halo + chunk->halo_start;
  const size_t bytes = MATCH_ROW * sizeof *rows;
  float* to = rows + (size_t)chunk->count * MATCH_ROW;
  memcpy(rows, targets + (size_t)chunk->begin * MATCH_ROW, (size_t)chunk->count * bytes);
  for (int32_t i = 0; i < chunk->num_halo; ++i) {
    __builtin_prefetch(targets + (size_t)halo[i + PREFETCH_AHEAD] * MATCH_ROW);
    memcpy(to, targets + (size_t)halo[i] * MATCH_ROW, bytes);
    to += MATCH_ROW;
  }
  memset(to, 0, bytes);
  return rows;
}

// Sums of the body --------------------------------------------------------------------------------

// Adds the particles and rotations of lanes lane .. lane + YW_VF_LANES - 1 of blocks.
YW_LANE_FN void sum_lanes(const match_step* step, int32_t first, int32_t end, int32_t lane,
                          float (*out)[YW_LANES]) {
  yw_vf sums[NUM_SUMS] = {{0}}, terms[NUM_SUMS];
  for (int32_t b = first; b < end; ++b) {
    particle_terms(step, b, lane, terms);
    rotation_terms(yw_lanes_quat_load(&step->body->rotations[b], lane), terms);
    for (int k = 0; k < NUM_SUMS; ++k) sums[k] += terms[k];
  }
  for (int k = 0; k < NUM_SUMS; ++k) yw_vf_store(out[k] + lane, sums[k]);
}

// Adds a part of a chunk to its sums.
static void sum_part(const match_step* step, int32_t first, int32_t end, float totals[NUM_SUMS]) {
  _Alignas(64) float sums[NUM_SUMS][YW_LANES];
  for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
    sum_lanes(step, first, end, lane, sums);
  }
  for (int k = 0; k < NUM_SUMS; ++k) {
    float* s = sums[k];
    for (int half = YW_LANES / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) s[l] += s[l + half];
    }
    totals[k] += s[0];
  }
}

static void sum_body(const match_step* step, const match_chunk* chunk, match_sums* out) {
  float totals[NUM_SUMS] = {0};
  int32_t first = chunk->first_block, end = first + chunk->num_blocks;
  for (; first < end; first += MATCH_PART_BLOCKS) {
    int32_t part_end = first + MATCH_PART_BLOCKS;
    sum_part(step, first, part_end < end ? part_end : end, totals);
  }
  for (int k = 0; k < 3; ++k) {
    out->mx[k] = totals[SUM_MX + k];
    out->mv[k] = totals[SUM_MV + k];
    out->myv[k] = totals[SUM_MYV + k];
  }
  for (int k = 0; k < 6; ++k) out->myy[k] = totals[SUM_MYY + k];
  for (int k = 0; k < 4; ++k) out->rotation[k] = totals[SUM_ROTATION + k];
}

// Targets -----------------------------------------------------------------------------------------

// b = L^T (S - S^0) of the block's groups, by lane.
YW_LANE_FN void add_products(const match_step* step, int32_t block, int32_t lane,
                             const yw_lanes_sym3* p) {
  const match_model* model = step->model;
  int32_t n = model->num_examples, share = model->blocks[block].share;
  const yw_sym3x16* duals = model->duals + (size_t)block * (size_t)n;
  yw_lanes_sym3 change = moment_change(model, block, lane, p);
  float* products = step->body->products;
  for (int32_t k = 0; k < n; ++k) {
    yw_vf product = dual_product(&duals[k], lane, &change);
    if (share >= 0) {
      float* to = products + ((size_t)share * (size_t)n + (size_t)k) * YW_LANES + lane;
      yw_vf_store(to, yw_vf_load(to) + product);
    } else {
      for (int l = 0; l < YW_VF_LANES; ++l) {
        int32_t own = model->lane_share[block * YW_LANES + lane + l];
        products[((size_t)own * (size_t)n + (size_t)k) * YW_LANES + (size_t)(lane + l)] +=
            product[l];
      }
    }
  }
}

static void find_active(int32_t num_examples, pull_set* pulls) {
  pulls->num_active = 0;
  for (int32_t k = 0; k < num_examples; ++k) {
    int32_t used = 0;
    for (int l = 0; l < YW_LANES; ++l) used |= pulls->weights[k * YW_LANES + l] != 0.0f;
    if (used) pulls->active[pulls->num_active++] = k;
  }
}

// Phases ------------------------------------------------------------------------------------------

// Registers of a block, and how many of them are handled at once.
#define REGISTERS (YW_LANES / YW_VF_LANES)
#define AT_ONCE (REGISTERS == 1 ? 1 : 2)

// Sums over the rings of the next block. They do not depend on the current block and are computed
// in two or four parts between its steps, to hide latency.
typedef struct ring_job {
  const char* rows;
  const uint16_t* rings;
  int32_t length;
  ring_sums* out;
} ring_job;

YW_LANE_FN void do_rings(const ring_job* job, int32_t lane, int part) {
  if (REGISTERS == 4) {
    sum_four_rings(job->rows, job->rings, job->length, (lane == 0 ? 0 : 2) + part, job->out);
  } else {
    sum_four_rings(job->rows, job->rings, job->length, 2 * part, job->out);
    sum_four_rings(job->rows, job->rings, job->length, 2 * part + 1, job->out);
  }
}

// Uses a decomposition: computes the targets, or stores the data for them.
YW_LANE_FN void use_fit(const match_step* step, const match_chunk* chunk, lane_set at,
                        const region_fit* fit, const yw_lanes_mat3* r) {
  if (step->model->num_examples == 0) {
    write_targets(step, chunk, at.block, at.lane, r, &fit->shift);
  } else if (step->model->num_shares > 0) {
    store_fit(step, at, fit);
    add_products(step, at.block, at.lane, &fit->p);
  } else {
    pull_set pulls;
    memset(pulls.weights, 0, (size_t)step->model->num_examples * YW_LANES * sizeof(float));
    weigh_regions(step, at, &fit->p, pulls.weights);
    find_active(step->model->num_examples, &pulls);
    bend(step, chunk, at, fit, &pulls);
  }
}

// Decomposes the regions of one or two registers: A_r Q_r = R_r P_r.
YW_LANE_FN int32_t match_registers(const match_step* step, const match_chunk* chunk,
                                   const lane_set* at, const ring_sums* rings,
                                   const ring_job* next) {
  yw_quatx16* rotations = &step->body->rotations[at[0].block];
  region_fit fit[AT_ONCE];
  yw_lanes_mat3 a[AT_ONCE], r[AT_ONCE];
  yw_lanes_newton newton[AT_ONCE];
  int32_t recovered = 0;
  for (int u = 0; u < AT_ONCE; ++u) {
    a[u] = fit_moment(step, at[u], rings, &fit[u].shift);
    fit[u].q = yw_lanes_quat_load(rotations, at[u].lane);
    r[u] = yw_lanes_rotation(fit[u].q);
    newton[u] = yw_lanes_newton_at(&a[u], &r[u]);
  }
  do_rings(next, at[0].lane, 0);
  for (int u = 0; u < AT_ONCE; ++u) fit[u].q = yw_lanes_newton_turn(&newton[u], fit[u].q);
  do_rings(next, at[0].lane, 1);
  for (int u = 0; u < AT_ONCE; ++u) {
    uint32_t rescued = yw_lanes_polar_finish_all(&a[u], &fit[u].q, &r[u], &fit[u].p);
    recovered += __builtin_popcount(rescued);
    yw_lanes_quat_store(rotations, at[u].lane, &fit[u].q);
    use_fit(step, chunk, at[u], &fit[u], &r[u]);
  }
  return recovered;
}

// Larger bodies do not fit the cache: the arrays that the next block reads are prefetched.
#define BLOCKS_IN_CACHE 2048

static void ask_for_block(const match_step* step, int32_t block) {
  const match_model* model = step->model;
  size_t n = (size_t)model->num_examples;
  if (model->num_blocks < BLOCKS_IN_CACHE || block >= model->num_blocks) return;
  ask_for(&step->body->rotations[block], sizeof(yw_quatx16));
  ask_for(&model->regions[block], sizeof(match_region_block));
  ask_for(&model->moments[block], sizeof(match_moment_block));
  if (n > 0) ask_for(model->duals + (size_t)block * n, n * sizeof(yw_sym3x16));
}

YW_LANE_FN ring_job rings_of(const match_model* model, int32_t block, const float* rows,
                             ring_sums* out) {
  const match_block* b = &model->blocks[block];
  return (ring_job){(const char*)rows, model->rings + b->ring_start, b->ring_length, out};
}

static void match_regions(const match_step* step, int32_t c) {
  _Alignas(64) float rows[MATCH_MAX_ROWS * MATCH_ROW];
  const match_model* model = step->model;
  const match_chunk* chunk = &model->chunks[c];
  match_sums* out = &step->body->sums[c];
  int32_t recovered = 0, block = chunk->first_block, end = block + chunk->num_blocks;
  make_rows(step, chunk, rows);
  if (model->num_shares > 0) {
    size_t row = (size_t)model->num_examples * YW_LANES;
    memset(step->body->products + (size_t)chunk->first_share * row, 0,
           (size_t)chunk->num_shares * row * sizeof(float));
  }
  ring_sums rings[2];
  ring_job job = rings_of(model, block, rows, &rings[0]);
  sum_rings(job.rows, job.rings, job.length, job.out);
  for (int turn = 0; block < end; ++block, turn ^= 1) {
    job = rings_of(model, block + 1 < end ? block + 1 : block, rows, &rings[turn ^ 1]);
    if (block + 1 == end) job.length = 1;
    ask_for_block(step, block + 1);
    for (int n = 0; n < REGISTERS; n += AT_ONCE) {
      const lane_set at[2] = {{block, n * YW_VF_LANES}, {block, (n + 1) * YW_VF_LANES}};
      recovered += match_registers(step, chunk, at, &rings[turn], &job);
    }
  }
  sum_body(step, chunk, out);
  out->recovered = recovered;
}

// Weights after beta of a block with a single group.
static void fill_alike(const float* group, int32_t num_examples, pull_set* pulls) {
  pulls->num_active = 0;
  for (int32_t k = 0; k < num_examples; ++k) {
    if (group[k] == 0.0f) continue;
    for (int l = 0; l < YW_LANES; ++l) pulls->weights[k * YW_LANES + l] = group[k];
    pulls->active[pulls->num_active++] = k;
  }
}

// Weights after beta of the groups of a block, by lane. filled is the share now in pulls.
static void fill_pulls(const match_step* step, int32_t block, pull_set* pulls, int32_t* filled) {
  const match_model* model = step->model;
  int32_t n = model->num_examples, share = model->blocks[block].share;
  if (share >= 0 && share == *filled) return;
  *filled = share;
  if (share >= 0) {
    fill_alike(step->body->pulls + (size_t)model->share_group[share] * (size_t)n, n, pulls);
    return;
  }
  for (int l = 0; l < YW_LANES; ++l) {
    int32_t own = model->lane_share[block * YW_LANES + l];
    const float* group = step->body->pulls + (size_t)model->share_group[own] * (size_t)n;
    for (int32_t k = 0; k < n; ++k) pulls->weights[k * YW_LANES + l] = group[k];
  }
  find_active(n, pulls);
}

static void bend_targets(const match_step* step, int32_t c) {
  const match_chunk* chunk = &step->model->chunks[c];
  pull_set pulls;
  int32_t filled = -1;
  for (int32_t b = chunk->first_block; b < chunk->first_block + chunk->num_blocks; ++b) {
    fill_pulls(step, b, &pulls, &filled);
    // Targets overwrite the fit, so a block of several registers is copied first.
    _Alignas(64) float copy[FIT_NUMBERS];
    const float* fits = block_targets(step, b);
    if (REGISTERS > 1) fits = memcpy(copy, fits, sizeof copy);
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      region_fit fit = load_fit(step, (lane_set){b, lane}, fits);
      bend(step, chunk, (lane_set){b, lane}, &fit, &pulls);
    }
  }
}

static yw_aabb finish_box(const pull_sums* sums) {
  yw_aabb box = yw_aabb_empty();
  for (int i = 0; i < REGISTERS; ++i) {
    for (int l = 0; l < YW_VF_LANES; ++l) {
      const pull_sums* s = &sums[i];
      box = yw_aabb_join(box, (yw_aabb){{s->lower.x[l], s->lower.y[l], s->lower.z[l]},
                                        {s->upper.x[l], s->upper.y[l], s->upper.z[l]}});
    }
  }
  return box;
}

// Adds the torque of a part of a chunk, and starts the next one. Lanes are added in an order that
// does not depend on the width of a register.
static void finish_torque(pull_sums* sums, float scale, float out[3]) {
  float lanes[3][YW_LANES];
  for (int i = 0; i < REGISTERS; ++i) {
    yw_vf_store(lanes[0] + i * YW_VF_LANES, sums[i].torque.x);
    yw_vf_store(lanes[1] + i * YW_VF_LANES, sums[i].torque.y);
    yw_vf_store(lanes[2] + i * YW_VF_LANES, sums[i].torque.z);
    sums[i].torque.x = sums[i].torque.y = sums[i].torque.z = yw_vf_splat(0.0f);
  }
  for (int k = 0; k < 3; ++k) {
    for (int half = YW_LANES / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) lanes[k][l] += lanes[k][l + half];
    }
    out[k] += scale * lanes[k][0];
  }
}

// The last block of a body may have unused lanes, which must not enlarge the box.
static void pull_last_block(const match_step* step, int32_t block, const ring_sums* rings,
                            pull_sums* sums, yw_aabb* box) {
  for (int n = 0; n < REGISTERS; ++n) {
    pull(step, false, block, n * YW_VF_LANES, rings, &sums[n]);
  }
  for (int32_t p = block * YW_LANES; p < step->model->num_particles; ++p) {
    *box = yw_aabb_grow(*box, yw_xyz(step->pos[p]));
    *box = yw_aabb_grow(*box, yw_xyz(step->new_pos[p]));
  }
}

static void pull_particles(const match_step* step, int32_t c) {
  _Alignas(64) float scratch[MATCH_MAX_ROWS * MATCH_ROW];
  const match_model* model = step->model;
  const match_chunk* chunk = &model->chunks[c];
  const float* rows = gather_targets(step, chunk, scratch);
  yw_vf high = yw_vf_splat(INFINITY), low = yw_vf_splat(-INFINITY), zero = yw_vf_splat(0.0f);
  pull_sums sums[REGISTERS];
  for (int i = 0; i < REGISTERS; ++i) {
    sums[i] = (pull_sums){{high, high, high}, {low, low, low}, {zero, zero, zero}};
  }
  float torque[3] = {0.0f, 0.0f, 0.0f};
  int32_t b = chunk->first_block, full_end = b + chunk->count / YW_LANES;
  ring_sums rings;
  for (; b < full_end; ++b) {
    ring_job job = rings_of(model, b, rows, &rings);
    sum_rings(job.rows, job.rings, job.length, job.out);
    for (int n = 0; n < REGISTERS; ++n) pull(step, true, b, n * YW_VF_LANES, &rings, &sums[n]);
    bool ends_part = (b + 1 - chunk->first_block) % MATCH_PART_BLOCKS == 0;
    if (ends_part) finish_torque(sums, step->pull, torque);
  }
  yw_aabb box = finish_box(sums);
  if (b < chunk->first_block + chunk->num_blocks) {
    ring_job job = rings_of(model, b, rows, &rings);
    sum_rings(job.rows, job.rings, job.length, job.out);
    pull_last_block(step, b, &rings, sums, &box);
  }
  if (chunk->num_blocks % MATCH_PART_BLOCKS > 0 || b < chunk->first_block + chunk->num_blocks) {
    finish_torque(sums, step->pull, torque);
  }
  memcpy(step->body->sums[c].torque, torque, sizeof torque);
  step->body->sums[c].box = box;
}

extern const match_kernels YW_KERNEL(yw_match_kernels);
const match_kernels YW_KERNEL(yw_match_kernels) = {match_regions, bend_targets, pull_particles};
