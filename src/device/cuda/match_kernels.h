// SPDX-License-Identifier: MIT
// The phases of a step of a match body, one thread per region or particle, and one block of threads
// per chunk of the model: regions and bend here, then pull (match_pull.h) and meet (match_meet.h).
// What a step does for the whole body between them is done by the block that ends last. Formulas
// are those of methods/match/region_lanes.h and between.h; sums are made in the order of
// match_kernels.c: lanes of a chunk block by block, then lanes in pairs, then chunks one after
// another.
#ifndef YW_DEVICE_CUDA_MATCH_KERNELS_H
#define YW_DEVICE_CUDA_MATCH_KERNELS_H

#include "device/cuda/thread.h"

/// What steps change besides arrays.
struct match_scalars {
  match_axes axes;
  yw_vec3 torque;
  yw_vec3 origin;   // that positions are relative to (kit/near.h)
  yw_aabb placed;   // box of the particles in the world
  match_step step;  // from regions to meet
  match_rigid_motion motion;
  int has_cut, is_near;
  int diverged;  // steps do nothing from then on
  int bad;       // particles that are too fast or too far away
  int recovered, contacts, most_contacts;
  unsigned ended[3];  // blocks of regions, pull, meet
};

/// Arrays of a body on the device, and one inner step.
struct match_args {
  match_model model;  // pointers to device memory
  match_body body;    // likewise
  match_scalars* scalars;
  const yw_vec4* pos;
  yw_vec4 *new_pos, *vel, *cut;
  const float* inv_mass;
  float* fits;
  double* share_products;       // products of each share, lanes added
  const int32_t* group_shares;  // shares of each group, ascending, group after group
  const int32_t* piece_start;   // in group_shares: pieces of at most MATCH_SUM_PIECE of a group
  const int32_t* group_start;   // pieces of each group, num_groups + 1
  double* piece_products;       // their sums
  double* piece_sums;           // of chunks: NUM_SUMS each
  int32_t num_pieces;           // of shares
  yw_aabb* boxes;               // per chunk of meet
  match_response response;
  yw_vec3 gravity;
  float h;              // s, of the substep
  float inner_end;      // share of the substep that has passed at the end
  bool enters, leaves;  // first, last inner step of the substep
  const yw_hold* holds;
  const yw_spring* springs;
  const yw_obstacle* obstacles;
  int32_t num_holds, num_springs, num_obstacles;
  bool springs_differ;  // no two pull the same particle
  yw_collide_terms terms;
};

// Setting up --------------------------------------------------------------------------------------

// Coordinates of the first particle where all others are within half of them; see near.c.
KERNEL_FN yw_vec3 choose_origin(yw_vec4 first, yw_aabb box) {
  const float from[3] = {first.x, first.y, first.z};
  const float low[3] = {box.lower.x, box.lower.y, box.lower.z};
  const float high[3] = {box.upper.x, box.upper.y, box.upper.z};
  float origin[3];
  for (int k = 0; k < 3; ++k) {
    float below = fabsf(low[k] - from[k]), above = fabsf(high[k] - from[k]);
    float most = below > above ? below : above;
    origin[k] = most <= 0.5f * fabsf(from[k]) ? from[k] : 0.0f;
  }
  return yw_v3(origin[0], origin[1], origin[2]);
}

// Everything of a step that the first thread of a block has to find out.
KERNEL_FN void begin_step(const match_args& a, match_step* step) {
  match_axes axes = a.scalars->axes;
  step->origin = a.scalars->origin;
  step->has_cut = a.scalars->has_cut != 0;
  step->enters = a.enters;
  if (a.enters) {
    step->origin = choose_origin(a.pos[0], a.scalars->placed);
    axes.center = yw_sub(axes.center, step->origin);
  }
  step->paper = a.body.params.target == YW_TARGET_PAPER;
  match_begin_step(&axes, a.gravity, &a.response, step);
  step->drift = step->spin = yw_v3(0, 0, 0);
}

// A thread's own step, with pointers that are the same for all: the compiler knows these, and reads
// only the numbers that are used.
KERNEL_FN match_step own_step(const match_args& a, const match_step& from) {
  match_step step = from;
  step.body = const_cast<match_body*>(&a.body);
  step.model = &a.model;
  step.pos = a.pos;
  step.new_pos = a.new_pos;
  step.vel = a.vel;
  step.cut = a.cut;
  step.fits = a.fits;
  return step;
}

// Copies the step of the whole body, a word per thread.
KERNEL_FN void copy_step(const match_args& a, match_step* to, int t) {
  const uint32_t* from = (const uint32_t*)&a.scalars->step;
  if (t < (int)(sizeof(match_step) / sizeof(uint32_t))) ((uint32_t*)to)[t] = from[t];
}

// Threads are in the order of particles, not of lanes: neighbours then read neighbouring rows.
KERNEL_FN lane_set lane_of_thread(const match_chunk* chunk, int32_t first_block, int t) {
  return (lane_set){chunk->first_block + first_block + t / YW_LANES, match_lane(t % YW_LANES)};
}

// The rows of a ring, a few at a time: the next ones are on their way from memory while those at
// hand are added.
struct ring_reader {
  static constexpr int AT_ONCE = 4;
  const uint16_t* offsets;  // one every 16
  int32_t length;
  uint16_t next[AT_ONCE];

  YW_LANE_METHOD ring_reader(const match_model* model, int32_t block, int32_t lane) {
    const match_block b = model->blocks[block];
    offsets = model->rings + b.ring_start + match_lane(lane);
    length = b.ring_length;
    fetch(0);
  }
  YW_LANE_METHOD void fetch(int32_t first) {
#pragma unroll
    for (int j = 0; j < AT_ONCE; ++j) {
      next[j] = first + j < length ? offsets[(first + j) * YW_LANES] : 0;
    }
  }
  YW_LANE_METHOD void take(int32_t first, int rows[AT_ONCE]) {
#pragma unroll
    for (int j = 0; j < AT_ONCE; ++j) {
      rows[j] = next[j] / (int)(MATCH_PADDED_ROW * sizeof(float) / MATCH_RING_UNIT);
    }
    fetch(first + AT_ONCE);
  }
};

// Regions -----------------------------------------------------------------------------------------

struct regions_kernel {
  typedef match_args args;
  static constexpr int THREADS = 512, BLOCKS_PER_PROCESSOR = 2;

  // A row m~ d (x0 - origin, 1)^T as its two factors, the one of the last column left out.
  struct alignas(16) first_row {
    float dx, dy, dz, qx;
  };
  struct alignas(8) second_row {
    float qy, qz;
  };
  struct alignas(16) shared {
    match_step step;
    int flag;
    float sums[NUM_SUMS][YW_LANES];
    int32_t shares[THREADS / YW_LANES];  // of the blocks under way
    double totals[NUM_SUMS];
    int recovered;
  };

  static size_t shared_bytes(int num_rows, int num_examples) {
    return sizeof(shared) + (size_t)num_rows * (sizeof(first_row) + sizeof(second_row)) +
           (size_t)(NUM_SUMS + num_examples) * THREADS * sizeof(float);
  }

  KERNEL_FN void make_row(const match_step* step, yw_vec4 origin, int32_t p, first_row* first,
                          second_row* second) {
    const match_model* model = step->model;
    yw_vec4 x = match_relative(step, p), x0 = model->rest[p];
    yw_vec3 y = yw_v3(x.x - step->center.x, x.y - step->center.y, x.z - step->center.z);
    if (step->lag > 0.0f) {
      yw_vec4 v = step->vel[p];
      y.x += step->lag * (v.x - step->velocity.x);
      y.y += step->lag * (v.y - step->velocity.y);
      y.z += step->lag * (v.z - step->velocity.z);
    }
    const float(*r)[3] = step->seen_rotation;
    float m = model->row_mass[p];
    first_row out;
    out.dx = (((r[0][0] * y.x + r[1][0] * y.y) + r[2][0] * y.z) - x0.x) * m;
    out.dy = (((r[0][1] * y.x + r[1][1] * y.y) + r[2][1] * y.z) - x0.y) * m;
    out.dz = (((r[0][2] * y.x + r[1][2] * y.y) + r[2][2] * y.z) - x0.z) * m;
    out.qx = x0.x - origin.x;
    *first = out;
    *second = (second_row){x0.y - origin.y, x0.z - origin.z};
  }

  KERNEL_FN ring_sums sum_ring(const match_step* step, int32_t block, int32_t lane,
                               const first_row* firsts, const second_row* seconds) {
    ring_reader ring(step->model, block, lane);
    ring_sums out;
    for (int32_t first = 0; first < ring.length; first += ring_reader::AT_ONCE) {
      int rows[ring_reader::AT_ONCE];
      ring.take(first, rows);
#pragma unroll
      for (int n = 0; n < ring_reader::AT_ONCE; ++n) {
        if (first + n >= ring.length) break;
        first_row d = firsts[rows[n]];
        second_row q = seconds[rows[n]];
        const float left[3] = {d.dx, d.dy, d.dz}, right[3] = {d.qx, q.qy, q.qz};
        bool is_first = first + n == 0;
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 3; ++j) {
            float product = left[i] * right[j];
            out.sums[i][j] = is_first ? product : out.sums[i][j] + product;
          }
          out.sums[i][3] = is_first ? left[i] : out.sums[i][3] + left[i];
        }
      }
    }
    return out;
  }

  // Decomposes a region and uses it, as match_registers does; products of its examples go to
  // `products`, one every THREADS.
  KERNEL_FN uint32_t fit_region(const match_step* step, const match_chunk* chunk, lane_set at,
                                const first_row* firsts, const second_row* seconds,
                                float* products) {
    const match_model* model = step->model;
    yw_quatx16* rotations = &step->body->rotations[at.block];
    region_fit fit;
    ring_sums rings = sum_ring(step, at.block, at.lane, firsts, seconds);
    yw_lanes_mat3 m = fit_moment(step, at, &rings, &fit.shift);
    fit.q = yw_lanes_quat_load(rotations, at.lane);
    yw_lanes_mat3 r = yw_lanes_rotation(fit.q);
    yw_lanes_newton newton = yw_lanes_newton_at(&m, &r);
    fit.q = yw_lanes_newton_turn(&newton, fit.q);
    uint32_t rescued = yw_lanes_polar_finish_all(&m, &fit.q, &r, &fit.p);
    yw_lanes_quat_store(rotations, at.lane, &fit.q);
    int32_t n = model->num_examples;
    if (n == 0) {
      write_targets(step, chunk, at.block, at.lane, &r, &fit.shift);
      return rescued;
    }
    yw_lanes_sym3 change = moment_change(model, at.block, at.lane, &fit.p);
    if (model->num_shares > 0) {
      const yw_sym3x16* duals = model->duals + (size_t)at.block * (size_t)n;
      store_fit(step, at, &fit);
      for (int32_t k = 0; k < n; ++k) {
        products[k * THREADS] = dual_product(&duals[k], at.lane, &change);
      }
      return rescued;
    }
    float own[2] = {0.0f, 0.0f};
    weigh_together(step, at, &change, own);
    pull_set pulls = {own, own[0] != 0.0f || own[1] != 0.0f};
    bend(step, chunk, at, &fit, &pulls);
    return rescued;
  }

  // Adds a lane of so many blocks.
  KERNEL_FN float add_column(float sum, const float* from, int32_t blocks) {
#pragma unroll 8
    for (int32_t b = 0; b < blocks; ++b) sum += from[b * YW_LANES];
    return sum;
  }

  // Adds what the regions of `num_blocks` blocks from `first` on gave to the products of their
  // shares: thread t the lane t % 16 of example t / 16.
  KERNEL_FN void add_products(const args& a, const shared* s, int32_t first, int32_t num_blocks,
                              int t, const float* tile) {
    const match_model* model = &a.model;
    int32_t n = model->num_examples, lane = t % YW_LANES;
    // Shares ascend within a chunk, -1 where a block has several.
    bool is_one = s->shares[0] >= 0 && s->shares[0] == s->shares[num_blocks - 1];
    for (int32_t k = t / YW_LANES; k < n; k += THREADS / YW_LANES) {
      if (is_one) {
        size_t at = ((size_t)s->shares[0] * (size_t)n + (size_t)k) * YW_LANES + (size_t)lane;
        float* whole = a.body.products + at;
        *whole = add_column(*whole, tile + k * THREADS + lane, num_blocks);
        continue;
      }
      int32_t share = -1;
      float sum = 0.0f, *to = NULL;
      for (int32_t b = 0; b < num_blocks; ++b) {
        int32_t own = s->shares[b];
        if (own < 0) own = model->lane_share[(first + b) * YW_LANES + lane];
        if (own != share) {
          if (to) *to = sum;
          share = own;
          to = a.body.products + ((size_t)share * (size_t)n + (size_t)k) * YW_LANES + (size_t)lane;
          sum = *to;
        }
        sum += tile[k * THREADS + b * YW_LANES + lane];
      }
      if (to) *to = sum;
    }
  }

  KERNEL_FN void finish_sums(const args& a, shared* s, const match_chunk* chunk, int32_t c, int t) {
    const match_model* model = &a.model;
    if (t < NUM_SUMS) {
      float* lanes = s->sums[t];
      for (int half = YW_LANES / 2; half > 0; half /= 2) {
        for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
      }
      a.body.sums[c].mx[t] = lanes[0];  // the sums follow each other
    }
    if (t == NUM_SUMS && s->recovered > 0) ADD_TO(&a.scalars->recovered, s->recovered);
    int32_t n = model->num_examples, count = model->num_shares > 0 ? chunk->num_shares * n : 0;
    for (int32_t i = t; i < count; i += THREADS) {
      size_t at = (size_t)chunk->first_share * (size_t)n + (size_t)i;
      a.share_products[at] = match_add_lanes(a.body.products + at * YW_LANES);
    }
  }

  // Totals of the body, in two steps: pieces of chunks and of shares, then the pieces.
  KERNEL_FN void add_pieces(const args& a, int t) {
    const match_model* model = &a.model;
    int32_t n = model->num_examples, pieces = match_num_pieces(model->num_chunks);
    for (int32_t i = t; i < pieces * NUM_SUMS; i += THREADS) {
      int32_t first = i / NUM_SUMS * MATCH_SUM_PIECE, left = model->num_chunks - first;
      int32_t count = left < MATCH_SUM_PIECE ? left : MATCH_SUM_PIECE;
      const match_sums* from = a.body.sums + first;
      double sum = 0.0;
#pragma unroll 16
      for (int32_t c = 0; c < count; ++c) sum += (double)from[c].mx[i % NUM_SUMS];
      a.piece_sums[i] = sum;
    }
    for (int32_t i = t; i < a.num_pieces * n; i += THREADS) {
      double sum = 0.0;
#pragma unroll 16
      for (int32_t j = a.piece_start[i / n]; j < a.piece_start[i / n + 1]; ++j) {
        sum += a.share_products[(size_t)a.group_shares[j] * (size_t)n + (size_t)(i % n)];
      }
      a.piece_products[i] = sum;
    }
  }

  KERNEL_FN void add_totals(const args& a, shared* s, int t) {
    const match_model* model = &a.model;
    if (t < NUM_SUMS) {
      double total = 0.0;
#pragma unroll 16
      for (int32_t i = 0; i < match_num_pieces(model->num_chunks); ++i) {
        total += a.piece_sums[i * NUM_SUMS + t];
      }
      s->totals[t] = total;
    }
    int32_t n = model->num_examples, count = model->num_shares > 0 ? model->num_groups * n : 0;
    for (int32_t i = t - 64; i < count; i += THREADS - 64) {
      if (i < 0) continue;
      double sum = 0.0;
#pragma unroll 16
      for (int32_t j = a.group_start[i / n]; j < a.group_start[i / n + 1]; ++j) {
        sum += a.piece_products[j * n + i % n];
      }
      a.body.group_products[i] = sum;
    }
  }

  KERNEL_FN void find_motion(const args& a, shared* s) {
    match_totals totals;
    match_scalars* out = a.scalars;
    const double* t = s->totals;
    totals.mass = (double)a.model.num_particles;
    for (int k = 0; k < 3; ++k) {
      totals.mx[k] = t[SUM_MX + k];
      totals.mv[k] = t[SUM_MV + k];
      totals.myv[k] = t[SUM_MYV + k];
    }
    for (int k = 0; k < 6; ++k) totals.myy[k] = t[SUM_MYY + k];
    for (int k = 0; k < 4; ++k) totals.rotation[k] = t[SUM_ROTATION + k];
    if (!match_totals_finite(&totals)) {
      out->diverged = 1;
      return;
    }
    out->motion = match_find_rigid_motion(out->axes.rotation, out->torque, &totals);
    if (a.enters) out->axes.center = yw_sub(out->axes.center, s->step.origin);
    match_set_rigid_motion(&s->step, &out->motion);
    out->origin = s->step.origin;
    out->step = s->step;
  }

  KERNEL_FN void weigh_groups(const args& a, int t) {
    int32_t n = a.model.num_examples, count = a.model.num_shares > 0 ? a.model.num_groups : 0;
    for (int32_t g = t - 64; g < count; g += THREADS - 64) {
      if (g < 0) continue;
      size_t at = (size_t)g * (size_t)n;
      const double* b = a.body.group_products + at;
      bool is_finite = true;
      for (int32_t k = 0; k < n; ++k) is_finite = is_finite && isfinite(b[k]);
      if (is_finite) {
        match_weigh(&a.body.params, &a.model, a.model.gram + at * (size_t)n, b,
                    a.body.aims + at + g, a.body.weights + at + g, a.body.pulls + at);
      } else {
        a.scalars->diverged = 1;
      }
    }
  }

  // Where the rows and columns of a block of threads are in shared memory.
  struct places {
    first_row* firsts;
    second_row* seconds;
    float *tile, *products;
  };
  KERNEL_FN places find_places(char* memory, int32_t num_rows) {
    first_row* firsts = (first_row*)(memory + sizeof(shared));
    second_row* seconds = (second_row*)(firsts + num_rows + 1);
    float* tile = (float*)(seconds + num_rows + 1);
    return (places){firsts, seconds, tile, tile + NUM_SUMS * THREADS};
  }

  KERNEL_FN void begin(const args& a, shared* s, const match_chunk* chunk, int t) {
    if (t == 0) begin_step(a, &s->step), s->recovered = 0;
    for (int i = t; i < NUM_SUMS * YW_LANES; i += THREADS) {
      s->sums[i / YW_LANES][i % YW_LANES] = 0.0f;
    }
    int32_t n = a.model.num_examples * YW_LANES;
    for (int32_t i = t; a.model.num_shares > 0 && i < chunk->num_shares * n; i += THREADS) {
      a.body.products[(size_t)chunk->first_share * (size_t)n + (size_t)i] = 0.0f;
    }
  }

  KERNEL_FN void fill_rows(const args& a, const shared* s, const match_chunk* chunk, places at,
                           int t) {
    const match_step step = own_step(a, s->step);
    const int32_t* halo = a.model.halo + chunk->halo_start;
    int32_t num_rows = chunk->count + chunk->num_halo;
#pragma unroll 2
    for (int32_t i = t; i < num_rows; i += THREADS) {
      int32_t p = i < chunk->count ? chunk->begin + i : halo[i - chunk->count];
      make_row(&step, chunk->origin, p, &at.firsts[i], &at.seconds[i]);
    }
    if (t > 0) return;
    at.firsts[num_rows] = (first_row){0.0f, 0.0f, 0.0f, 0.0f};
    at.seconds[num_rows] = (second_row){0.0f, 0.0f};
  }

  // Region of thread t, from block `first` of the chunk on, and what it adds to the sums.
  KERNEL_FN void fit_one(const args& a, shared* s, const match_chunk* chunk, int32_t first,
                         places to, int t) {
    const match_step step = own_step(a, s->step);
    lane_set at = lane_of_thread(chunk, first, t);
    if (at.lane == 0) s->shares[t / YW_LANES] = a.model.blocks[at.block].share;
    int column = t / YW_LANES * YW_LANES + at.lane;
    if (fit_region(&step, chunk, at, to.firsts, to.seconds, to.products + column) != 0) {
      ADD_TO(&s->recovered, 1);
    }
    float terms[NUM_SUMS];
    body_terms(&step, at.block, at.lane, terms);
    for (int k = 0; k < NUM_SUMS; ++k) to.tile[k * THREADS + column] = terms[k];
  }

  KERNEL_FN void add_tile(const args& a, shared* s, const match_chunk* chunk, int32_t first,
                          int32_t blocks, places from, int t) {
    for (int i = t; i < NUM_SUMS * YW_LANES; i += THREADS) {
      float* sum = &s->sums[i / YW_LANES][i % YW_LANES];
      *sum = add_column(*sum, from.tile + (i / YW_LANES) * THREADS + i % YW_LANES, blocks);
    }
    if (a.model.num_shares == 0) return;
    add_products(a, s, chunk->first_block + first, blocks, t, from.products);
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    shared* s = (shared*)memory;
    const match_chunk chunk = a.model.chunks[block];
    const places at = find_places(memory, chunk.count + chunk.num_halo);
    if (a.scalars->diverged) return;
    EACH_THREAD(t) { begin(a, s, &chunk, t); }
    SYNC();
    EACH_THREAD(t) { fill_rows(a, s, &chunk, at, t); }
    SYNC();
    for (int32_t first = 0; first < chunk.num_blocks; first += THREADS / YW_LANES) {
      int32_t left = chunk.num_blocks - first;
      int32_t blocks = left < THREADS / YW_LANES ? left : THREADS / YW_LANES;
      EACH_THREAD(t) {
        if (t < blocks * YW_LANES) fit_one(a, s, &chunk, first, at, t);
      }
      SYNC();
      EACH_THREAD(t) { add_tile(a, s, &chunk, first, blocks, at, t); }
      SYNC();
    }
    EACH_THREAD(t) { finish_sums(a, s, &chunk, block, t); }
    const int32_t last_writer = chunk.num_shares * a.model.num_examples + NUM_SUMS;
    if (!IS_LAST_BLOCK(&a.scalars->ended[0], &s->flag, last_writer)) return;
    EACH_THREAD(t) { add_pieces(a, t); }
    SYNC();
    EACH_THREAD(t) { add_totals(a, s, t); }
    SYNC();
    EACH_THREAD(t) {
      if (t == 0) find_motion(a, s);
      weigh_groups(a, t);
    }
  }
};

// Targets of examples -----------------------------------------------------------------------------

struct bend_kernel {
  typedef match_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  // Blocks of threads per chunk.
  static constexpr int PARTS = 4;

  static size_t shared_bytes() { return sizeof(match_step); }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks;
    match_step* shared = (match_step*)memory;
    const match_chunk chunk = a.model.chunks[block / PARTS];
    if (a.scalars->diverged) return;
    EACH_THREAD(t) { copy_step(a, shared, t); }
    SYNC();
    const match_model* model = &a.model;
    EACH_THREAD(t) {
      const match_step step = own_step(a, *shared);
      int32_t n = model->num_examples;
      int32_t first = block % PARTS * THREADS + t;
      for (int32_t i = first; i < chunk.num_blocks * YW_LANES; i += PARTS * THREADS) {
        lane_set at = lane_of_thread(&chunk, 0, i);
        int32_t share = model->blocks[at.block].share;
        if (share < 0) share = model->lane_share[at.block * YW_LANES + at.lane];
        const float* weights = a.body.pulls + (size_t)model->share_group[share] * (size_t)n;
        int32_t active = 0;
        for (int32_t k = 0; k < n; ++k) active += weights[k] != 0.0f;
        pull_set pulls = {weights, active};
        region_fit fit = load_fit(&step, at, block_fits(&step, at.block));
        bend(&step, &chunk, at, &fit, &pulls);
      }
    }
  }
};

#endif
