// SPDX-License-Identifier: MIT
// The first half of a step of a match body: decompositions of its regions, one thread each, and
// what they add to the sums of the body.
#ifndef YW_DEVICE_CUDA_MATCH_REGIONS_H
#define YW_DEVICE_CUDA_MATCH_REGIONS_H

#include "device/cuda/match_rows.h"

/// WITH_SHARES: targets have to wait for the weights of groups.
template <bool WITH_SHARES>
struct regions_kernel {
  typedef match_args args;
  static constexpr int THREADS = PART_THREADS, BLOCKS_PER_PROCESSOR = 4;
  enum { NUM_TERMS = NUM_SUMS - SUM_ROTATION };  // those of regions come last

  struct alignas(16) shared {
    match_step step;
    part_tile<NUM_TERMS> tile;
    int32_t shares[MATCH_PART_BLOCKS];
    int recovered, stops;
  };

  // Products of examples follow, THREADS each.
  static size_t shared_bytes(int num_examples) {
    return sizeof(shared) + (size_t)num_examples * THREADS * sizeof(float);
  }
  KERNEL_FN float* products_in(char* memory) { return (float*)(memory + sizeof(shared)); }

  // Rows of a ring --------------------------------------------------------------------------------

  struct row {
    moving_row moving;
    resting_row resting;
  };
  KERNEL_FN row load_row(const args& a, int32_t member) {
    return (row){a.moving_rows[member], a.resting_rows[member]};
  }

  // `is_row`: not the row of zeros, which has no place relative to the origin.
  KERNEL_FN void add_row(ring_sums* out, const row& from, yw_vec4 origin, bool is_row) {
    const moving_row& d = from.moving;
    const resting_row& q = from.resting;
    const float left[3] = {d.dx, d.dy, d.dz};
    const float right[3] = {is_row ? d.x0 - origin.x : 0.0f, is_row ? q.y0 - origin.y : 0.0f,
                            is_row ? q.z0 - origin.z : 0.0f};
#pragma unroll
    for (int i = 0; i < 3; ++i) {
#pragma unroll
      for (int j = 0; j < 3; ++j) out->sums[i][j] += left[i] * right[j];
      out->sums[i][3] += left[i];
    }
  }

  KERNEL_FN ring_sums sum_ring(const args& a, yw_vec4 origin, lane_set at) {
    ring_reader ring(&a.model, a.model.blocks[at.block], match_lane(at.lane));
    ring_sums out = no_sums();
    for (int32_t first = 0; first < ring.length; first += ring_reader::AT_ONCE) {
      const ring_quad taken = ring.take(first);
      // All are read before the first is added.
      row rows[ring_reader::AT_ONCE];
#pragma unroll
      for (int n = 0; n < ring_reader::AT_ONCE; ++n) rows[n] = load_row(a, taken.members[n]);
#pragma unroll
      for (int n = 0; n < ring_reader::AT_ONCE; ++n) {
        bool is_row = taken.members[n] != a.zero_row;
        if (first + n < ring.length) add_row(&out, rows[n], origin, is_row);
      }
    }
    return out;
  }

  // Decomposes a region and uses it, as match_registers does; products of its examples go to
  // `products`, one every THREADS. Writes come last, so that no read has to wait for them.
  KERNEL_FN uint32_t fit_region(const args& a, const match_step& from, const match_chunk* chunk,
                                lane_set at, float* products, yw_lanes_quat* q) {
    const match_model* model = &a.model;
    yw_quatx16* rotations = &a.body.rotations[at.block];
    region_fit fit;
    ring_sums rings = sum_ring(a, chunk->origin, at);
    READ_FROM_HERE();
    const match_step own = own_step(a, from), *step = &own;
    yw_lanes_mat3 m = fit_moment(step, at, &rings, &fit.shift);
    fit.q = yw_lanes_quat_load(rotations, at.lane);
    yw_lanes_mat3 r = yw_lanes_rotation(fit.q);
    yw_lanes_newton newton = yw_lanes_newton_at(&m, &r);
    fit.q = yw_lanes_newton_turn(&newton, fit.q);
    uint32_t rescued = yw_lanes_polar_finish_all(&m, &fit.q, &r, &fit.p);
    *q = fit.q;
    int32_t n = model->num_examples;
    if (!WITH_SHARES && n == 0) {
      yw_lanes_quat_store(rotations, at.lane, &fit.q);
      write_targets(step, chunk, at.block, at.lane, &r, &fit.shift);
      return rescued;
    }
    yw_lanes_sym3 change = moment_change(model, at.block, at.lane, &fit.p);
    if (WITH_SHARES) {
      const yw_sym3x16* duals = model->duals + (size_t)at.block * (size_t)n;
      for (int32_t k = 0; k < n; ++k) {
        products[k * THREADS] = dual_product(&duals[k], at.lane, &change);
      }
      yw_lanes_quat_store(rotations, at.lane, &fit.q);
      store_fit(step, at, &fit);
      return rescued;
    }
    yw_lanes_quat_store(rotations, at.lane, &fit.q);
    float weights[2] = {0.0f, 0.0f};
    weigh_together(step, at, &change, weights);
    pull_set pulls = {weights, weights[0] != 0.0f || weights[1] != 0.0f};
    bend(step, chunk, at, &fit, &pulls);
    return rescued;
  }

  // Sums of parts ---------------------------------------------------------------------------------

  // Shares of a span, one after another.
  KERNEL_FN void find_shares(const args& a, const match_chunk* chunk, match_span span,
                             int32_t* first, int32_t* end) {
    *first = *end = 0;
    if (a.model.num_shares == 0 || span.count == 0) return;
    if (a.model.num_groups == 1) {
      *first = chunk->first_share + span.part;
      *end = *first + 1;
      return;
    }
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

  KERNEL_FN void add_tile(const args& a, shared* s, const match_chunk* chunk, match_span span,
                          const float* products, int t) {
    s->tile.add_columns(span.count, t);
    if (a.model.num_shares == 0) return;
    int32_t columns = a.model.num_examples * YW_LANES;
    for (int i = t; i < columns; i += THREADS) {
      if (a.model.num_groups > 1) {
        add_products(a, s->shares, chunk->first_block + span.first, span.count, i, products);
        continue;
      }
      // Every part is a share.
      int32_t share = chunk->first_share + span.part;
      a.body.products[share * columns + i] =
          add_column(products + i / YW_LANES * THREADS + i % YW_LANES, span.count);
    }
  }

  KERNEL_FN void finish_sums(const args& a, shared* s, const match_chunk* chunk, match_span span,
                             int t) {
    if (t < NUM_TERMS) {
      sums_of_part(a, span)[SUM_ROTATION + t] = 0.0f + add_pairs(s->tile.lanes[t]);
    }
    if (t == NUM_TERMS && s->recovered > 0) ADD_TO(&a.scalars->recovered, s->recovered);
    int32_t n = a.model.num_examples, first, end;
    find_shares(a, chunk, span, &first, &end);
    for (int32_t i = t; i < (end - first) * n; i += THREADS) {
      size_t at = (size_t)first * (size_t)n + (size_t)i;
      a.share_products[at] = match_add_lanes(a.body.products + at * YW_LANES);
    }
  }

  KERNEL_FN void begin(const args& a, shared* s, const match_chunk* chunk, match_span span, int t) {
    copy_step(a.scalars->step, &s->step, t);
    if (t == 32) s->stops = a.scalars->diverged || a.scalars->bad > 0;
    if (t == 64) s->recovered = 0;
    if (a.model.num_groups == 1) return;
    if (t < span.count) s->shares[t] = a.model.blocks[chunk->first_block + span.first + t].share;
    int32_t n = a.model.num_examples * YW_LANES, first, end;
    find_shares(a, chunk, span, &first, &end);
    for (int32_t i = t; i < (end - first) * n; i += THREADS) {
      a.body.products[(size_t)first * (size_t)n + (size_t)i] = 0.0f;
    }
  }

  // Region of thread t of the span, and what it adds to the sums.
  KERNEL_FN void fit_one(const args& a, shared* s, const match_chunk* chunk, match_span span,
                         float* products, int t) {
    lane_set at = lane_of_thread(chunk, span.first, t);
    int column = t / YW_LANES * YW_LANES + at.lane;
    float terms[NUM_SUMS];
    yw_lanes_quat q;
    if (fit_region(a, s->step, chunk, at, products + column, &q) != 0) ADD_TO(&s->recovered, 1);
    rotation_terms(q, terms);
    for (int k = 0; k < NUM_TERMS; ++k) s->tile.terms[k][column] = terms[SUM_ROTATION + k];
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks;
    shared* s = (shared*)memory;
    float* products = products_in(memory);
    const match_chunk chunk = a.model.chunks[block / MOST_PARTS];
    const match_span span = span_of(chunk, block);
    EACH_THREAD(t) { begin(a, s, &chunk, span, t); }
    SYNC();
    if (s->stops || span.count == 0) return;
    EACH_THREAD(t) {
      if (t < span.count * YW_LANES) fit_one(a, s, &chunk, span, products, t);
    }
    SYNC();
    EACH_THREAD(t) { add_tile(a, s, &chunk, span, products, t); }
    SYNC();
    EACH_THREAD(t) { finish_sums(a, s, &chunk, span, t); }
  }
};

#endif
