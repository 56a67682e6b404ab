// SPDX-License-Identifier: MIT
// The beginning of a step of a match body, one thread per particle: the rows that regions add up,
// and sums over the particles. The end of the step before has mostly done it already.
#ifndef YW_DEVICE_CUDA_MATCH_ROWS_H
#define YW_DEVICE_CUDA_MATCH_ROWS_H

#include "device/cuda/match_kernels.h"

struct rows_kernel {
  typedef match_args args;
  static constexpr int THREADS = PART_THREADS, BLOCKS_PER_PROCESSOR = 6;
  enum { NUM_TERMS = SUM_ROTATION };  // those of particles come first
  typedef part_tile<NUM_TERMS> terms_tile;

  struct alignas(16) shared {
    match_step step;
    int stops;
    terms_tile tile;
  };
  static size_t shared_bytes() { return sizeof(shared); }

  KERNEL_FN moving_row make_row(const match_step* step, int32_t p) {
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
    return (moving_row){(((r[0][0] * y.x + r[1][0] * y.y) + r[2][0] * y.z) - x0.x) * m,
                        (((r[0][1] * y.x + r[1][1] * y.y) + r[2][1] * y.z) - x0.y) * m,
                        (((r[0][2] * y.x + r[1][2] * y.y) + r[2][2] * y.z) - x0.z) * m, x0.x};
  }

  KERNEL_FN void take_particle(const args& a, const match_step& from, terms_tile* tile,
                               const match_chunk& chunk, match_span span, const yw_vec4* pos,
                               int t) {
    match_step step = own_step(a, from);
    step.pos = pos;
    lane_set at = lane_of_thread(&chunk, span.first, t);
    int32_t p = at.block * YW_LANES + match_lane(at.lane);
    float terms[NUM_SUMS];
    particle_terms(&step, at.block, at.lane, terms);
    if (p < a.model.num_particles) a.moving_rows[p] = make_row(&step, p);
    for (int k = 0; k < NUM_TERMS; ++k) {
      tile->terms[k][t / YW_LANES * YW_LANES + at.lane] = terms[k];
    }
  }

  /// Those of a part, at `pos`, as `step` sees them.
  KERNEL_FN void take_particles(const args& a, const match_step& step, terms_tile* tile,
                                const match_chunk& chunk, match_span span, const yw_vec4* pos) {
    EACH_THREAD(t) {
      if (t < span.count * YW_LANES) take_particle(a, step, tile, chunk, span, pos, t);
    }
    SYNC();
    EACH_THREAD(t) { tile->add_columns(span.count, t); }
    SYNC();
    EACH_THREAD(t) {
      if (t < NUM_TERMS) sums_of_part(a, span)[t] = 0.0f + add_pairs(tile->lanes[t]);
    }
  }

  // Block 0 keeps the step; nothing else reads it before this kernel has ended.
  KERNEL_FN void begin(const args& a, shared* s, int block) {
    if (a.is_prepared) {
      EACH_THREAD(t) { copy_step(a.scalars->next, &s->step, t); }
      SYNC();
    }
    EACH_THREAD(t) {
      if (t == 0) begin_step(a, &s->step);
      if (t == 32) s->stops = a.scalars->diverged || a.scalars->bad > 0;
    }
    SYNC();
    EACH_THREAD(t) {
      if (block == 0 && !s->stops) copy_step(s->step, &a.scalars->step, t);
    }
  }

  KERNEL_FN bool has_rows(const args& a, const match_step& step) {
    const yw_vec3 o = step.origin;
    if (!a.has_rows || !step.enters) return a.has_rows;
    return !step.has_cut && o.x == 0.0f && o.y == 0.0f && o.z == 0.0f;
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    shared* s = (shared*)memory;
    begin(a, s, block);
    if (s->stops || has_rows(a, s->step)) return;
    for (int part = block; part < a.model.num_chunks * MOST_PARTS; part += num_blocks) {
      const match_chunk chunk = a.model.chunks[part / MOST_PARTS];
      const match_span span = span_of(chunk, part);
      if (span.count > 0) take_particles(a, s->step, &s->tile, chunk, span, a.pos);
      SYNC();
    }
  }
};

#endif
