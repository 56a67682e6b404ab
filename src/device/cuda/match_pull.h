// SPDX-License-Identifier: MIT
// Goals, velocities and positions of the particles of a match body, one thread each, and what a
// step does for the whole body after that.
#ifndef YW_DEVICE_CUDA_MATCH_PULL_H
#define YW_DEVICE_CUDA_MATCH_PULL_H

#include "device/cuda/match_kernels.h"

struct pull_kernel {
  typedef match_args args;
  static constexpr int THREADS = 512, BLOCKS_PER_PROCESSOR = 2;
  // Torque, lower and upper corner of the box.
  enum { NUM_TERMS = 9 };

  struct row {
    yw_vec4 x, y, z;
  };
  struct alignas(16) shared {
    match_step step;
    int flag;
    float terms[NUM_TERMS][YW_LANES];
    double torque[3];
  };

  static size_t shared_bytes(int num_rows) {
    if (num_rows < THREADS / 2) num_rows = THREADS / 2;  // room for a box per thread
    return sizeof(shared) + (size_t)num_rows * sizeof(row) + NUM_TERMS * THREADS * sizeof(float);
  }

  KERNEL_FN float join(int term, float a, float b) {
    return term < 3 ? a + b : term < 6 ? (a < b ? a : b) : (a > b ? a : b);
  }
  KERNEL_FN float none(int term) { return term < 3 ? 0.0f : term < 6 ? INFINITY : -INFINITY; }

  KERNEL_FN ring_sums sum_ring(const match_step* step, int32_t block, int32_t lane,
                               const row* rows) {
    ring_reader ring(step->model, block, lane);
    ring_sums out;
    for (int32_t first = 0; first < ring.length; first += ring_reader::AT_ONCE) {
      int taken[ring_reader::AT_ONCE];
      ring.take(first, taken);
#pragma unroll
      for (int n = 0; n < ring_reader::AT_ONCE; ++n) {
        if (first + n >= ring.length) break;
        const row from = rows[taken[n]];
        const float entries[3][4] = {{from.x.x, from.x.y, from.x.z, from.x.w},
                                     {from.y.x, from.y.y, from.y.z, from.y.w},
                                     {from.z.x, from.z.y, from.z.z, from.z.w}};
        bool is_first = first + n == 0;
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 4; ++j) {
            out.sums[i][j] = is_first ? entries[i][j] : out.sums[i][j] + entries[i][j];
          }
        }
      }
    }
    return out;
  }

  KERNEL_FN void pull_one(const match_step* step, lane_set at, const row* rows, float* terms) {
    const float zero = 0.0f;
    ring_sums rings = sum_ring(step, at.block, at.lane, rows);
    pull_sums sums = {
        {INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, {zero, zero, zero}};
    bool live = at.block * YW_LANES + match_lane(at.lane) < step->model->num_particles;
    pull(step, live, at.block, at.lane, &rings, &sums);
    const float own[NUM_TERMS] = {sums.torque.x, sums.torque.y, sums.torque.z,
                                  sums.lower.x,  sums.lower.y,  sums.lower.z,
                                  sums.upper.x,  sums.upper.y,  sums.upper.z};
    for (int k = 0; k < NUM_TERMS; ++k) {
      terms[k * THREADS] = live || k < 3 ? own[k] : none(k);
    }
  }

  // Pairs of lanes, in the order of finish_torque.
  KERNEL_FN void finish_terms(const args& a, shared* s, int32_t c, int t) {
    if (t >= NUM_TERMS) return;
    float* lanes = s->terms[t];
    for (int half = YW_LANES / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) lanes[l] = join(t, lanes[l], lanes[l + half]);
    }
    match_sums* out = &a.body.sums[c];
    if (t < 3) out->torque[t] = s->step.pull * lanes[0];
    if (t >= 3) (&out->box.lower.x)[t - 3] = lanes[0];  // lower and upper follow each other
  }

  // Springs and holds, as in match.c.
  KERNEL_FN void pull_spring(const args& a, const yw_spring* spring, yw_aabb* box) {
    int32_t n = spring->particle;
    if (a.inv_mass[n] == 0.0f) return;
    const match_step old = own_step(a, a.scalars->step);
    yw_spring s = *spring;
    s.begin = yw_sub(s.begin, a.scalars->origin);
    s.end = yw_sub(s.end, a.scalars->origin);
    yw_vec3 x = yw_xyz(match_relative(&old, n)), u = yw_spring_velocity(&s, a.h);
    yw_vec3 goal = yw_spring_at(&s, a.inner_end);
    float h = a.response.h;
    yw_vec3 v = yw_spring_pull(&s, goal, u, x, yw_xyz(a.vel[n]), a.inv_mass[n], h);
    x = yw_mad(x, h, v);
    a.vel[n] = yw_v4(v);
    a.new_pos[n] = yw_v4(x);
    *box = yw_aabb_grow(*box, x);
  }

  // A negative particle is held by another one too, later in the list: its place only counts for
  // the box.
  KERNEL_FN void set_hold(const args& a, const yw_hold* held, yw_aabb* box) {
    yw_hold hold = *held;
    hold.begin = yw_sub(hold.begin, a.scalars->origin);
    hold.end = yw_sub(hold.end, a.scalars->origin);
    yw_vec3 place = yw_hold_at(&hold, a.inner_end);
    if (hold.particle >= 0) {
      a.new_pos[hold.particle] = yw_v4(place);
      a.vel[hold.particle] = yw_v4(yw_hold_velocity(&hold, a.h));
    }
    *box = yw_aabb_grow(*box, place);
  }

  KERNEL_FN bool is_clear(const args& a, yw_aabb box) {
    yw_vec3 origin = a.scalars->origin;
    box.lower = yw_add(box.lower, origin);
    box.upper = yw_add(box.upper, origin);
    float low = yw_length(box.lower), high = yw_length(box.upper), most = fmaxf(low, high);
    if (isfinite(most)) box = yw_aabb_pad(box, YW_NEAR_ROUNDING * most);
    for (int32_t i = 0; i < a.num_obstacles; ++i) {
      const yw_obstacle* o = &a.obstacles[i];
      bool moves = !yw_same_pose(o->begin, o->end);
      if (!yw_obstacle_box_is_clear(o, o->begin, o->end, moves, box)) return false;
    }
    return true;
  }

  // Boxes of all chunks, springs and holds: one box per thread, kept in `boxes`.
  KERNEL_FN void join_chunks(const args& a, yw_aabb* boxes, int t) {
    yw_aabb box = yw_aabb_empty();
    for (int32_t c = t; c < a.model.num_chunks; c += THREADS) {
      box = yw_aabb_join(box, a.body.sums[c].box);
    }
    for (int32_t i = t; i < 3 * match_num_pieces(a.model.num_chunks); i += THREADS) {
      int32_t first = i / 3 * MATCH_SUM_PIECE, left = a.model.num_chunks - first;
      int32_t count = left < MATCH_SUM_PIECE ? left : MATCH_SUM_PIECE;
      double sum = 0.0;
#pragma unroll 16
      for (int32_t c = 0; c < count; ++c) sum += (double)a.body.sums[first + c].torque[i % 3];
      a.piece_sums[i] = sum;
    }
    int first = a.springs_differ ? t : 0, stride = a.springs_differ ? THREADS : 1;
    for (int32_t i = first; (a.springs_differ || t == 0) && i < a.num_springs; i += stride) {
      pull_spring(a, &a.springs[i], &box);
    }
    boxes[t] = box;
  }

  KERNEL_FN void end_pull(const args& a, shared* s, yw_aabb box) {
    match_scalars* out = a.scalars;
    out->axes = match_predict_axes(&out->axes, &out->motion, a.gravity, s->step.h);
    if (a.leaves) out->axes.center = yw_add(out->axes.center, out->origin);
    out->torque = yw_v3_of(s->torque);
    out->is_near = !is_clear(a, box);
  }

  KERNEL_FN void fill_rows(const args& a, shared* s, const match_chunk* chunk, row* rows, int t) {
    copy_step(a, &s->step, t);
    if (t < NUM_TERMS * YW_LANES) s->terms[t / YW_LANES][t % YW_LANES] = none(t / YW_LANES);
    const int32_t* halo = a.model.halo + chunk->halo_start;
    const row* targets = (const row*)a.body.targets;
    int32_t num_rows = chunk->count + chunk->num_halo;
#pragma unroll 4
    for (int32_t i = t; i < num_rows; i += THREADS) {
      rows[i] = targets[i < chunk->count ? chunk->begin + i : halo[i - chunk->count]];
    }
    yw_vec4 zero = {0.0f, 0.0f, 0.0f, 0.0f};
    if (t == 0) rows[num_rows].x = rows[num_rows].y = rows[num_rows].z = zero;
  }

  KERNEL_FN void add_tile(shared* s, const float* tile, int32_t blocks, int t) {
    if (t >= NUM_TERMS * YW_LANES) return;
    int term = t / YW_LANES;
    float sum = s->terms[term][t % YW_LANES];
    const float* from = tile + term * THREADS + t % YW_LANES;
#pragma unroll 8
    for (int32_t b = 0; b < blocks; ++b) sum = join(term, sum, from[b * YW_LANES]);
    s->terms[term][t % YW_LANES] = sum;
  }

  // The last block: boxes and torques of all chunks, pins, axes, whether obstacles are near.
  KERNEL_FN void finish_body(const args& a, shared* s, yw_aabb* boxes) {
    EACH_THREAD(t) { join_chunks(a, boxes, t); }
    SYNC();
    EACH_THREAD(t) {
      if (t < 3) {
        double sum = 0.0;
        for (int32_t i = 0; i < match_num_pieces(a.model.num_chunks); ++i) {
          sum += a.piece_sums[3 * i + t];
        }
        s->torque[t] = sum;
      }
      for (int32_t i = t; i < a.num_holds; i += THREADS) set_hold(a, &a.holds[i], &boxes[t]);
    }
    for (int half = THREADS / 2; half > 0; half /= 2) {
      SYNC();
      EACH_THREAD(t) {
        if (t < half) boxes[t] = yw_aabb_join(boxes[t], boxes[t + half]);
      }
    }
    SYNC();
    EACH_THREAD(t) {
      if (t == 0) end_pull(a, s, boxes[0]);
    }
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    shared* s = (shared*)memory;
    row* rows = (row*)(memory + sizeof(shared));
    const match_chunk chunk = a.model.chunks[block];
    float* tile = (float*)(rows + chunk.count + chunk.num_halo + 1);
    if (a.scalars->diverged) return;
    EACH_THREAD(t) { fill_rows(a, s, &chunk, rows, t); }
    SYNC();
    for (int32_t first = 0; first < chunk.num_blocks; first += THREADS / YW_LANES) {
      int32_t left = chunk.num_blocks - first;
      int32_t blocks = left < THREADS / YW_LANES ? left : THREADS / YW_LANES;
      EACH_THREAD(t) {
        if (t >= blocks * YW_LANES) continue;
        lane_set at = lane_of_thread(&chunk, first, t);
        const match_step step = own_step(a, s->step);
        pull_one(&step, at, rows, tile + t / YW_LANES * YW_LANES + at.lane);
      }
      SYNC();
      EACH_THREAD(t) { add_tile(s, tile, blocks, t); }
      SYNC();
    }
    EACH_THREAD(t) { finish_terms(a, s, block, t); }
    // Pins change particles, which any thread may have written.
    const int32_t last_writer = a.num_holds + a.num_springs > 0 ? THREADS : NUM_TERMS;
    if (!IS_LAST_BLOCK(&a.scalars->ended[1], &s->flag, last_writer)) return;
    finish_body(a, s, (yw_aabb*)rows);
  }
};

#endif
