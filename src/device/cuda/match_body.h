// SPDX-License-Identifier: MIT
// What follows from the sums of all regions and particles of a match body: weights of groups, then
// the motion of the whole body by one thread, while others compute the targets of examples.
#ifndef YW_DEVICE_CUDA_MATCH_BODY_H
#define YW_DEVICE_CUDA_MATCH_BODY_H

#include "device/cuda/match_regions.h"

// Sums of the body --------------------------------------------------------------------------------

/// Adds parts to chunks and chunks in pieces, by a block of threads per piece; others add shares in
/// pieces, then these, and find the weights of groups. Numbers are read by all threads at once and
/// added up in their order.
struct totals_kernel {
  typedef match_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 3;
  enum {
    PIECE_PARTS = MATCH_SUM_PIECE * MOST_PARTS,
    AT_ONCE = 1024,  // numbers of pieces that are added together
  };

  struct alignas(16) shared {
    float parts[PIECE_PARTS * NUM_COLUMNS];
    float chunks[MATCH_SUM_PIECE * NUM_COLUMNS];
    double numbers[AT_ONCE];
    int flag;
  };
  static size_t shared_bytes() { return sizeof(shared); }
  SHARED_FN int first_of_shares(const args& a) { return match_num_pieces(a.model.num_chunks); }
  // Pieces of shares that a block adds: all, where that is a moment's work.
  SHARED_FN int together(const args& a) {
    bool are_few = a.model.num_groups == 1 && a.model.num_shares * a.model.num_examples <= AT_ONCE;
    return are_few && a.num_pieces > 0 ? a.num_pieces : 1;
  }
  static int blocks(const args& a) { return first_of_shares(a) + a.num_pieces / together(a); }

  KERNEL_FN void add_chunks(const args& a, shared* s, int piece) {
    const int32_t first = piece * MATCH_SUM_PIECE, left = a.model.num_chunks - first;
    const int32_t count = left < MATCH_SUM_PIECE ? left : MATCH_SUM_PIECE;
    EACH_THREAD(t) {
      const float* from = a.part_sums + (size_t)first * MOST_PARTS * NUM_COLUMNS;
      const int32_t numbers = count * MOST_PARTS * NUM_COLUMNS;
      static_assert(PIECE_PARTS == THREADS, "a number of every part for a thread");
#pragma unroll
      for (int k = 0; k < NUM_COLUMNS; ++k) {
        const int i = k * THREADS + t;
        if (i < numbers) s->parts[i] = from[i];
      }
    }
    SYNC();
    EACH_THREAD(t) {
      // Parts that a chunk does not have are 0.
      for (int i = t; i < count * NUM_COLUMNS; i += THREADS) {
        const float* from = s->parts + i / NUM_COLUMNS * MOST_PARTS * NUM_COLUMNS + i % NUM_COLUMNS;
        float sum = 0.0f;
        for (int part = 0; part < MOST_PARTS; ++part) sum += from[part * NUM_COLUMNS];
        s->chunks[i] = sum;
      }
    }
    SYNC();
    EACH_THREAD(t) {
      if (t >= NUM_COLUMNS) continue;
      double sum = 0.0;
#pragma unroll 16
      for (int32_t c = 0; c < count; ++c) sum += (double)s->chunks[c * NUM_COLUMNS + t];
      a.piece_sums[piece * NUM_COLUMNS + t] = sum;
    }
  }

  KERNEL_FN void add_shares(const args& a, shared* s, int piece, int pieces) {
    const int32_t n = a.model.num_examples, first = a.piece_start[piece];
    const int32_t count = a.piece_start[piece + pieces] - first;
    static_assert(MATCH_SUM_PIECE * MATCH_MOST_EXAMPLES <= AT_ONCE);
    EACH_THREAD(t) {
      for (int32_t i = t; i < count * n; i += THREADS) {
        // Shares of the only group are all shares.
        int32_t j = first + i / n, share = a.model.num_groups == 1 ? j : a.group_shares[j];
        s->numbers[i] = a.share_products[(size_t)share * (size_t)n + (size_t)(i % n)];
      }
    }
    SYNC();
    EACH_THREAD(t) {
      if (t >= pieces * n) continue;
      const int32_t own = piece + t / n, end = a.piece_start[own + 1];
      double sum = 0.0;
#pragma unroll 16
      for (int32_t j = a.piece_start[own]; j < end; ++j) sum += s->numbers[(j - first) * n + t % n];
      a.piece_products[piece * n + t] = sum;
    }
  }

  // All pieces, for the only group.
  KERNEL_FN void add_pieces(const args& a, shared* s) {
    const int32_t n = a.model.num_examples, most = AT_ONCE / n;
    EACH_THREAD(t) {
      if (t < n) a.body.group_products[t] = 0.0;
    }
    for (int32_t first = 0; first < a.num_pieces; first += most) {
      const int32_t left = a.num_pieces - first, count = left < most ? left : most;
      EACH_THREAD(t) {
        const double* from = a.piece_products + (size_t)first * (size_t)n;
        for (int32_t i = t; i < count * n; i += THREADS) s->numbers[i] = from[i];
      }
      SYNC();
      EACH_THREAD(t) {
        if (t >= n) continue;
        double sum = a.body.group_products[t];
#pragma unroll 16
        for (int32_t i = 0; i < count; ++i) sum += s->numbers[i * n + t];
        a.body.group_products[t] = sum;
      }
      SYNC();
    }
  }

  KERNEL_FN void add_groups(const args& a) {
    const int32_t n = a.model.num_examples;
    EACH_THREAD(t) {
      for (int32_t i = t; i < a.model.num_groups * n; i += THREADS) {
        double sum = 0.0;
        for (int32_t j = a.group_start[i / n]; j < a.group_start[i / n + 1]; ++j) {
          sum += a.piece_products[j * n + i % n];
        }
        a.body.group_products[i] = sum;
      }
    }
    SYNC();
  }

  APART_FN void weigh_groups(const args& a, int t) {
    int32_t n = a.model.num_examples;
    for (int32_t g = t; g < a.model.num_groups; g += THREADS) {
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

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    shared* s = (shared*)memory;
    const int first = first_of_shares(a);
    if (a.scalars->diverged || (a.scalars->bad > 0 && !a.only_settles)) return;
    if (block < first) {
      add_chunks(a, s, block);
      return;
    }
    const int pieces = together(a), last_writer = pieces * a.model.num_examples - 1;
    add_shares(a, s, (block - first) * pieces, pieces);
    if (num_blocks - first == 1) {
      SYNC();
    } else if (!IS_LAST_OF(num_blocks - first, num_blocks - 1, &a.scalars->ended, &s->flag,
                           last_writer)) {
      return;
    }
    if (a.model.num_groups == 1) {
      add_pieces(a, s);
    } else {
      add_groups(a);
    }
    EACH_THREAD(t) { weigh_groups(a, t); }
  }
};

// Motion and targets ------------------------------------------------------------------------------

/// PAPER: targets as printed, YW_TARGET_PAPER.
template <bool PAPER>
struct bend_kernel {
  typedef match_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  // Blocks of threads per chunk.
  static constexpr int PARTS = 4;

  struct alignas(16) shared {
    match_step step;
    double totals[NUM_COLUMNS];
    int stops;
  };
  static size_t shared_bytes() { return sizeof(shared); }

  /// The first one finds the motion of the body.
  static int blocks(const args& a) {
    return 1 + (a.model.num_shares > 0 && !a.only_settles ? PARTS * a.model.num_chunks : 0);
  }

  KERNEL_FN void add_column_of_pieces(const args& a, shared* s, int t) {
    double total = 0.0;
#pragma unroll 16
    for (int32_t i = 0; i < match_num_pieces(a.model.num_chunks); ++i) {
      total += a.piece_sums[i * NUM_COLUMNS + t];
    }
    s->totals[t] = total;
  }

  // What is known only when all blocks of the last step have ended.
  KERNEL_FN void settle(match_scalars* out, const double* totals) {
    if (!out->is_open) return;
    out->is_open = 0;
    out->torque = yw_v3_of(totals + SUM_TORQUE);
    if (out->opened_first) out->most_contacts = 0;
    if (out->contacts > out->most_contacts) out->most_contacts = out->contacts;
    out->contacts = 0;
    if (out->bad > 0) out->diverged = 1;
  }

  // The next step, as if it had no origin.
  KERNEL_FN void prepare(const args& a, const match_axes& axes, const match_step& step,
                         match_step* next) {
    match_begin_step(&axes, a.gravity, &a.response, next);
    next->enters = a.leaves;
    next->has_cut = false;
    next->origin = a.leaves ? yw_v3(0, 0, 0) : step.origin;
  }

  // The motion of the whole body.
  APART_FN void find_motion(const args& a, shared* s) {
    match_totals totals;
    match_scalars* out = a.scalars;
    match_step* step = &s->step;
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
    settle(out, t);
    match_rigid_motion motion = match_find_rigid_motion(out->axes.rotation, out->torque, &totals);
    match_set_rigid_motion(step, &motion);
    out->step.drift = step->drift;
    out->step.spin = step->spin;
    match_axes axes = out->axes;
    if (a.enters) axes.center = yw_sub(axes.center, step->origin);
    axes = match_predict_axes(&axes, &motion, a.gravity, step->h);
    if (a.leaves) {
      axes.center = yw_add(axes.center, step->origin);
      out->has_cut = step->origin.x != 0.0f || step->origin.y != 0.0f || step->origin.z != 0.0f;
      out->placed = order_box(yw_aabb_empty());
    }
    prepare(a, axes, *step, &out->next);
    out->axes = axes;
    out->origin = step->origin;
    out->is_open = 1;
    out->opened_first = a.enters;
  }

  KERNEL_FN void bend_one(const args& a, const match_step& from, const match_chunk& chunk,
                          int32_t i) {
    const match_model* model = &a.model;
    match_step step = own_step(a, from);
    step.paper = PAPER;
    const int32_t n = model->num_examples;
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

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    shared* s = (shared*)memory;
    EACH_THREAD(t) {
      copy_step(a.scalars->step, &s->step, t);
      // Block 0 may find meanwhile that the body has diverged: all threads of a block stop, or
      // none.
      if (t == 32) s->stops = a.scalars->diverged || (a.scalars->bad > 0 && !a.only_settles);
      if (block == 0 && t < NUM_COLUMNS) add_column_of_pieces(a, s, t);
    }
    SYNC();
    if (s->stops) return;
    if (block == 0) {
      EACH_THREAD(t) {
        if (t == 0 && a.only_settles) settle(a.scalars, s->totals);
        if (t == 0 && !a.only_settles) find_motion(a, s);
      }
      return;
    }
    // Backwards: what the last blocks of regions wrote is still in the cache.
    block = num_blocks - 1 - block;
    const match_chunk chunk = a.model.chunks[block / PARTS];
    EACH_THREAD(t) {
      int32_t i = block % PARTS * THREADS + t;
      for (; i < chunk.num_blocks * YW_LANES; i += PARTS * THREADS) bend_one(a, s->step, chunk, i);
    }
  }
};

#endif
