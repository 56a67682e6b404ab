// SPDX-License-Identifier: MIT
// The first half of a step of a match body: decompositions of its regions, what follows for the
// whole body, and the targets of examples.
#ifndef YW_DEVICE_CUDA_MATCH_REGIONS_H
#define YW_DEVICE_CUDA_MATCH_REGIONS_H

#include "device/cuda/match_kernels.h"

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
    float sums[THREADS / PART_THREADS][NUM_SUMS][YW_LANES];  // of the parts under way
    float chunk_sums[NUM_SUMS];
    int32_t shares[THREADS / YW_LANES];  // of the blocks under way
    double totals[NUM_COLUMNS];
    int recovered, stops;
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

  KERNEL_FN void add_row(ring_sums* out, first_row d, second_row q, bool is_first) {
    const float left[3] = {d.dx, d.dy, d.dz}, right[3] = {d.qx, q.qy, q.qz};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        float product = left[i] * right[j];
        out->sums[i][j] = is_first ? product : out->sums[i][j] + product;
      }
      out->sums[i][3] = is_first ? left[i] : out->sums[i][3] + left[i];
    }
  }

  KERNEL_FN ring_sums sum_ring(const match_step* step, int32_t block, int32_t lane,
                               const first_row* firsts, const second_row* seconds) {
    ring_reader ring(step->model, block, lane);
    ring_sums out;
    for (int32_t first = 0; first < ring.length; first += ring_reader::AT_ONCE) {
      int rows[ring_reader::AT_ONCE];
      ring.take(first, rows);
      // Two rows are read before the first is added.
#pragma unroll
      for (int n = 0; n < ring_reader::AT_ONCE; n += 2) {
        const first_row d[2] = {firsts[rows[n]], firsts[rows[n + 1]]};
        const second_row q[2] = {seconds[rows[n]], seconds[rows[n + 1]]};
        if (first + n < ring.length) add_row(&out, d[0], q[0], first + n == 0);
        if (first + n + 1 < ring.length) add_row(&out, d[1], q[1], false);
      }
    }
    return out;
  }

  // Decomposes a region and uses it, as match_registers does; products of its examples go to
  // `products`, one every THREADS. Writes come last, so that no read has to wait for them.
  KERNEL_FN uint32_t fit_region(const match_step* step, const match_chunk* chunk, lane_set at,
                                const first_row* firsts, const second_row* seconds, float* products,
                                yw_lanes_quat* q) {
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
    *q = fit.q;
    int32_t n = model->num_examples;
    if (n == 0) {
      yw_lanes_quat_store(rotations, at.lane, &fit.q);
      write_targets(step, chunk, at.block, at.lane, &r, &fit.shift);
      return rescued;
    }
    yw_lanes_sym3 change = moment_change(model, at.block, at.lane, &fit.p);
    if (model->num_shares > 0) {
      const yw_sym3x16* duals = model->duals + (size_t)at.block * (size_t)n;
      for (int32_t k = 0; k < n; ++k) {
        products[k * THREADS] = dual_product(&duals[k], at.lane, &change);
      }
      yw_lanes_quat_store(rotations, at.lane, &fit.q);
      store_fit(step, at, &fit);
      return rescued;
    }
    yw_lanes_quat_store(rotations, at.lane, &fit.q);
    float own[2] = {0.0f, 0.0f};
    weigh_together(step, at, &change, own);
    pull_set pulls = {own, own[0] != 0.0f || own[1] != 0.0f};
    bend(step, chunk, at, &fit, &pulls);
    return rescued;
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

  // Sums of parts ---------------------------------------------------------------------------------

  // Adds a lane of so many blocks.
  KERNEL_FN float add_column(const float* from, int32_t blocks) {
    float sum = 0.0f;
#pragma unroll 8
    for (int32_t b = 0; b < blocks; ++b) sum += from[b * YW_LANES];
    return sum;
  }

  // Lanes in pairs.
  KERNEL_FN float add_pairs(const float* from) {
    float lanes[YW_LANES];
#pragma unroll
    for (int l = 0; l < YW_LANES; ++l) lanes[l] = from[l];
#pragma unroll
    for (int half = YW_LANES / 2; half > 0; half /= 2) {
#pragma unroll
      for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    }
    return lanes[0];
  }

  // Shares of a span, one after another.
  KERNEL_FN void find_shares(const args& a, const match_chunk* chunk, match_span span,
                             int32_t* first, int32_t* end) {
    *first = chunk->first_share;
    *end = *first + chunk->num_shares;
    if (a.split == 1) return;
    if (a.model.num_groups == 1 && span.count > 0) {
      *first += span.part;
      *end = *first + 1;
      return;
    }
    *first = *end = 0;
    if (a.model.num_shares == 0 || span.count == 0) return;
    const int32_t* lanes =
        a.model.lane_share + (size_t)(chunk->first_block + span.first) * YW_LANES;
    *first = lanes[0];
    *end = lanes[span.count * YW_LANES - 1] + 1;
  }

  // Adds what the regions of a part gave to the products of its shares: `t` is a lane of an
  // example. first: block of the model; tile: of this part.
  APART_FN void add_products(const args& a, const int32_t* shares, int32_t first,
                             int32_t num_blocks, int t, const float* tile) {
    const match_model* model = &a.model;
    int32_t n = model->num_examples, lane = t % YW_LANES, k = t / YW_LANES;
    // Shares ascend within a part, -1 where a block has several.
    if (shares[0] >= 0 && shares[0] == shares[num_blocks - 1]) {
      size_t at = ((size_t)shares[0] * (size_t)n + (size_t)k) * YW_LANES + (size_t)lane;
      a.body.products[at] = add_column(tile + k * THREADS + lane, num_blocks);
      return;
    }
    int32_t share = -1;
    float sum = 0.0f, *to = NULL;
    for (int32_t b = 0; b < num_blocks; ++b) {
      int32_t own = shares[b];
      if (own < 0) own = model->lane_share[(first + b) * YW_LANES + lane];
      if (own != share) {
        if (to) *to = sum;
        share = own;
        to = a.body.products + ((size_t)share * (size_t)n + (size_t)k) * YW_LANES + (size_t)lane;
        sum = 0.0f;
      }
      sum += tile[k * THREADS + b * YW_LANES + lane];
    }
    if (to) *to = sum;
  }

  // Lanes of the parts under way, `blocks` from block `first` of the chunk on.
  KERNEL_FN void add_tile(const args& a, shared* s, const match_chunk* chunk, int32_t first,
                          int32_t blocks, places from, int t) {
    int32_t parts = (blocks + MATCH_PART_BLOCKS - 1) / MATCH_PART_BLOCKS;
    int32_t columns = NUM_SUMS * YW_LANES;
    for (int i = t; i < parts * columns; i += THREADS) {
      int32_t part = i / columns, term = i % columns / YW_LANES, lane = i % YW_LANES;
      int32_t left = blocks - part * MATCH_PART_BLOCKS;
      const float* column = from.tile + term * THREADS + part * PART_THREADS + lane;
      s->sums[part][term][lane] =
          add_column(column, left < MATCH_PART_BLOCKS ? left : MATCH_PART_BLOCKS);
    }
    if (a.model.num_shares == 0) return;
    columns = a.model.num_examples * YW_LANES;
    for (int i = t; i < parts * columns; i += THREADS) {
      int32_t part = i / columns, skipped = part * MATCH_PART_BLOCKS, left = blocks - skipped;
      const float* tile = from.products + part * PART_THREADS;
      if (left > MATCH_PART_BLOCKS) left = MATCH_PART_BLOCKS;
      if (a.model.num_groups > 1) {
        add_products(a, s->shares + skipped, chunk->first_block + first + skipped, left,
                     i % columns, tile);
        continue;
      }
      // Every part is a share.
      int32_t share = chunk->first_share + first / MATCH_PART_BLOCKS + part;
      a.body.products[share * columns + i % columns] =
          add_column(tile + i % columns / YW_LANES * THREADS + i % YW_LANES, left);
    }
  }

  KERNEL_FN void add_parts(shared* s, int32_t blocks, int t) {
    if (t >= NUM_SUMS) return;
    for (int32_t part = 0; part * MATCH_PART_BLOCKS < blocks; ++part) {
      s->chunk_sums[t] += add_pairs(s->sums[part][t]);
    }
  }

  // The sums of a chunk as NUM_COLUMNS numbers: they follow each other in match_sums.
  KERNEL_FN float* columns_of(const args& a, int32_t chunk) {
    static_assert(offsetof(match_sums, torque) == SUM_TORQUE * sizeof(float), "no gaps");
    return (float*)&a.body.sums[chunk];
  }

  KERNEL_FN void finish_sums(const args& a, shared* s, const match_chunk* chunk, match_span span,
                             int t) {
    if (t < NUM_SUMS) {
      float* to = a.split == 1
                      ? columns_of(a, span.chunk)
                      : a.part_sums + (size_t)(span.chunk * a.split + span.part) * NUM_COLUMNS;
      to[t] = s->chunk_sums[t];
    }
    if (t == NUM_SUMS && s->recovered > 0) ADD_TO(&a.scalars->recovered, s->recovered);
    int32_t n = a.model.num_examples, first, end;
    find_shares(a, chunk, span, &first, &end);
    for (int32_t i = t; i < (end - first) * n; i += THREADS) {
      size_t at = (size_t)first * (size_t)n + (size_t)i;
      a.share_products[at] = match_add_lanes(a.body.products + at * YW_LANES);
    }
  }

  // Sums of the body ------------------------------------------------------------------------------

  // Sums of chunks from those of their parts. Parts that a chunk does not have are 0.
  KERNEL_FN void add_chunks(const args& a, int t) {
    if (a.split == 1) return;
    for (int32_t i = t; i < a.model.num_chunks * NUM_COLUMNS; i += THREADS) {
      int32_t c = i / NUM_COLUMNS, column = i % NUM_COLUMNS;
      const float* from = a.part_sums + (size_t)c * MOST_PARTS * NUM_COLUMNS + column;
      float sum = 0.0f;
#pragma unroll
      for (int part = 0; part < MOST_PARTS; ++part) sum += from[part * NUM_COLUMNS];
      columns_of(a, c)[column] = sum;
    }
  }

  // Columns from `column` on, in two steps: pieces of chunks and of shares, then the pieces.
  KERNEL_FN void add_pieces(const args& a, int32_t column, int t) {
    int32_t pieces = match_num_pieces(a.model.num_chunks), width = NUM_COLUMNS - column;
    for (int32_t i = t; i < pieces * width; i += THREADS) {
      int32_t first = i / width * MATCH_SUM_PIECE, left = a.model.num_chunks - first;
      int32_t count = left < MATCH_SUM_PIECE ? left : MATCH_SUM_PIECE;
      double sum = 0.0;
#pragma unroll 16
      for (int32_t c = 0; c < count; ++c) {
        sum += (double)columns_of(a, first + c)[column + i % width];
      }
      a.piece_sums[i / width * NUM_COLUMNS + column + i % width] = sum;
    }
  }

  KERNEL_FN void add_share_pieces(const args& a, int t) {
    int32_t n = a.model.num_examples;
    for (int32_t i = t; i < a.num_pieces * n; i += THREADS) {
      double sum = 0.0;
#pragma unroll 16
      for (int32_t j = a.piece_start[i / n]; j < a.piece_start[i / n + 1]; ++j) {
        // Shares of the only group are all shares.
        int32_t share = a.model.num_groups == 1 ? j : a.group_shares[j];
        sum += a.share_products[(size_t)share * (size_t)n + (size_t)(i % n)];
      }
      a.piece_products[i] = sum;
    }
  }

  KERNEL_FN void add_totals(const args& a, double totals[NUM_COLUMNS], int32_t column, int t) {
    if (t < column || t >= NUM_COLUMNS) return;
    double total = 0.0;
#pragma unroll 16
    for (int32_t i = 0; i < match_num_pieces(a.model.num_chunks); ++i) {
      total += a.piece_sums[i * NUM_COLUMNS + t];
    }
    totals[t] = total;
  }

  // The first of `count` items of a thread; its others are THREADS - BUSY apart. The first threads
  // do something else at the same time.
  static constexpr int BUSY = 64;
  KERNEL_FN int32_t first_of(int t, int32_t count) { return t < BUSY ? count : t - BUSY; }

  KERNEL_FN void add_groups(const args& a, int t) {
    const match_model* model = &a.model;
    int32_t n = model->num_examples, count = model->num_shares > 0 ? model->num_groups * n : 0;
    for (int32_t i = first_of(t, count); i < count; i += THREADS - BUSY) {
      double sum = 0.0;
#pragma unroll 16
      for (int32_t j = a.group_start[i / n]; j < a.group_start[i / n + 1]; ++j) {
        sum += a.piece_products[j * n + i % n];
      }
      a.body.group_products[i] = sum;
    }
  }

  // What is known only when all blocks of the last step have ended.
  KERNEL_FN void settle(const args& a, const double totals[NUM_COLUMNS]) {
    match_scalars* out = a.scalars;
    if (!out->is_open) return;
    out->is_open = 0;
    out->torque = yw_v3_of(totals + SUM_TORQUE);
    if (out->opened_first) out->most_contacts = 0;
    if (out->contacts > out->most_contacts) out->most_contacts = out->contacts;
    out->contacts = 0;
    if (out->bad > 0) out->diverged = 1;
  }

  APART_FN void find_motion(const args& a, shared* s) {
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
    settle(a, t);
    match_rigid_motion motion = match_find_rigid_motion(out->axes.rotation, out->torque, &totals);
    if (a.enters) out->axes.center = yw_sub(out->axes.center, s->step.origin);
    match_set_rigid_motion(&s->step, &motion);
    out->origin = s->step.origin;
    out->step = s->step;
    out->axes = match_predict_axes(&out->axes, &motion, a.gravity, s->step.h);
    out->is_open = 1;
    out->opened_first = a.enters;
    if (!a.leaves) return;
    out->axes.center = yw_add(out->axes.center, out->origin);
    out->has_cut = out->origin.x != 0.0f || out->origin.y != 0.0f || out->origin.z != 0.0f;
    out->placed = order_box(yw_aabb_empty());
  }

  APART_FN void weigh_groups(const args& a, int t) {
    int32_t n = a.model.num_examples, count = a.model.num_shares > 0 ? a.model.num_groups : 0;
    for (int32_t g = first_of(t, count); g < count; g += THREADS - BUSY) {
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

  KERNEL_FN void begin(const args& a, shared* s, const match_chunk* chunk, match_span span, int t) {
    if (t == 0) begin_step(a, &s->step), s->recovered = 0;
    if (t == 32) s->stops = a.scalars->diverged || a.scalars->bad > 0;
    if (t < NUM_SUMS) s->chunk_sums[t] = 0.0f;
    if (a.model.num_groups == 1) return;
    int32_t n = a.model.num_examples * YW_LANES, first, end;
    find_shares(a, chunk, span, &first, &end);
    for (int32_t i = t; i < (end - first) * n; i += THREADS) {
      a.body.products[(size_t)first * (size_t)n + (size_t)i] = 0.0f;
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
    int column = t / YW_LANES * YW_LANES + at.lane;
    float terms[NUM_SUMS];
    yw_lanes_quat q;
    particle_terms(&step, at.block, at.lane, terms);
    for (int k = 0; k < SUM_ROTATION; ++k) to.tile[k * THREADS + column] = terms[k];
    if (fit_region(&step, chunk, at, to.firsts, to.seconds, to.products + column, &q) != 0) {
      ADD_TO(&s->recovered, 1);
    }
    rotation_terms(q, terms);
    for (int k = SUM_ROTATION; k < NUM_SUMS; ++k) to.tile[k * THREADS + column] = terms[k];
  }

  // Regions of the span, as many at a time as there are threads.
  KERNEL_FN void fit_span(const args& a, shared* s, const match_chunk& chunk, match_span span,
                          places at) {
    for (int32_t done = 0; done < span.count; done += THREADS / YW_LANES) {
      int32_t left = span.count - done, first = span.first + done;
      int32_t blocks = left < THREADS / YW_LANES ? left : THREADS / YW_LANES;
      EACH_THREAD(t) {
        if (a.model.num_groups > 1 && t < blocks) {
          s->shares[t] = a.model.blocks[chunk.first_block + first + t].share;
        }
        if (t < blocks * YW_LANES) fit_one(a, s, &chunk, first, at, t);
      }
      SYNC();
      EACH_THREAD(t) { add_tile(a, s, &chunk, first, blocks, at, t); }
      SYNC();
      EACH_THREAD(t) { add_parts(s, blocks, t); }
    }
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    shared* s = (shared*)memory;
    const match_span span = span_of(a, block);
    const match_chunk chunk = a.model.chunks[span.chunk];
    const places at = find_places(memory, chunk.count + chunk.num_halo);
    EACH_THREAD(t) { begin(a, s, &chunk, span, t); }
    SYNC();
    if (s->stops) return;
    if (span.count > 0) {
      EACH_THREAD(t) { fill_rows(a, s, &chunk, at, t); }
      SYNC();
      fit_span(a, s, chunk, span, at);
    }
    EACH_THREAD(t) { finish_sums(a, s, &chunk, span, t); }
    const int32_t last_writer = chunk.num_shares * a.model.num_examples + NUM_SUMS;
    if (!IS_LAST_BLOCK(&a.scalars->ended, &s->flag, last_writer)) return;
    EACH_THREAD(t) {
      add_share_pieces(a, t);
      add_chunks(a, t);
    }
    SYNC();
    EACH_THREAD(t) { add_pieces(a, 0, t); }
    SYNC();
    EACH_THREAD(t) {
      add_totals(a, s->totals, 0, t);
      add_groups(a, t);
    }
    SYNC();
    EACH_THREAD(t) {
      if (t == 0) find_motion(a, s);
      weigh_groups(a, t);
    }
  }
};

/// Settles the last step, for whoever looks at the body after it.
struct settle_kernel {
  typedef match_args args;
  static constexpr int THREADS = regions_kernel::THREADS, BLOCKS_PER_PROCESSOR = 1;
  static size_t shared_bytes() { return NUM_COLUMNS * sizeof(double); }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)block, (void)num_blocks;
    double* totals = (double*)memory;
    EACH_THREAD(t) { regions_kernel::add_chunks(a, t); }
    SYNC();
    EACH_THREAD(t) { regions_kernel::add_pieces(a, SUM_TORQUE, t); }
    SYNC();
    EACH_THREAD(t) { regions_kernel::add_totals(a, totals, SUM_TORQUE, t); }
    SYNC();
    EACH_THREAD(t) {
      if (t == 0) regions_kernel::settle(a, totals);
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
    match_step* shared = (match_step*)memory;
    // Backwards: what the last blocks of regions wrote is still in the cache.
    block = num_blocks - 1 - block;
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
