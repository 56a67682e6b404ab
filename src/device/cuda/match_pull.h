// SPDX-License-Identifier: MIT
// Goals, velocities and positions of the particles of a match body, one thread each; then they meet
// obstacles. Pins, where there are any, come in between, in kernels of their own.
#ifndef YW_DEVICE_CUDA_MATCH_PULL_H
#define YW_DEVICE_CUDA_MATCH_PULL_H

#include "device/cuda/match_meet.h"

struct pull_kernel {
  typedef match_args args;
  static constexpr int THREADS = PART_THREADS, BLOCKS_PER_PROCESSOR = 4;
  typedef meeting<THREADS> meets;
  enum { NUM_TERMS = 3 };  // of the torque

  struct row {
    yw_vec4 x, y, z;
  };
  struct alignas(16) shared {
    match_step step, ahead;
    part_tile<NUM_TERMS> tile;
    int least[12];  // ordered boxes of the paths and of their ends, relative to the origin
    int is_near;    // an obstacle may be near the paths
    int has_zero;   // some coordinate is -0, which the world does not keep
    meets::shared meeting;
  };

  // Places of particles near an obstacle, then rows of the next step.
  static size_t shared_bytes() {
    const size_t places = meets::bytes_of_places(THREADS), rows = sizeof(rows_kernel::terms_tile);
    return sizeof(shared) + (places > rows ? places : rows);
  }

  KERNEL_FN void add_row(ring_sums* out, const row& from) {
    const float entries[3][4] = {{from.x.x, from.x.y, from.x.z, from.x.w},
                                 {from.y.x, from.y.y, from.y.z, from.y.w},
                                 {from.z.x, from.z.y, from.z.z, from.z.w}};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 4; ++j) out->sums[i][j] += entries[i][j];
    }
  }

  KERNEL_FN row load_row(const args& a, int32_t member) {
    const yw_vec4* from =
        (const yw_vec4*)a.body.targets + (member / YW_LANES * 3 * YW_LANES + member % YW_LANES);
    return (row){from[0], from[YW_LANES], from[2 * YW_LANES]};
  }

  KERNEL_FN ring_sums sum_ring(const args& a, lane_set at) {
    ring_reader ring(&a.model, a.model.blocks[at.block], match_lane(at.lane));
    ring_sums out = no_sums();
    for (int32_t first = 0; first < ring.length; first += ring_reader::AT_ONCE) {
      const ring_quad taken = ring.take(first);
      // Two rows are read before the first is added.
#pragma unroll
      for (int n = 0; n < ring_reader::AT_ONCE; n += 2) {
        const row from[2] = {load_row(a, taken.members[n]), load_row(a, taken.members[n + 1])};
        if (first + n < ring.length) add_row(&out, from[0]);
        if (first + n + 1 < ring.length) add_row(&out, from[1]);
      }
    }
    return out;
  }

  // True for -0.
  KERNEL_FN bool is_low_zero(float x) { return x == 0.0f && signbit(x); }

  // Notes where a particle was and is. Lanes without one take part: `threads` note together.
  KERNEL_FN void note(shared* s, const pull_sums& sums, bool live, int threads) {
    const yw_lanes_vec3 &x = sums.pos, &v = sums.vel, &low = sums.lower, &high = sums.upper;
    int least[12] = {order_of(low.x),   order_of(low.y),   order_of(low.z), ~order_of(high.x),
                     ~order_of(high.y), ~order_of(high.z), order_of(x.x),   order_of(x.y),
                     order_of(x.z),     ~order_of(x.x),    ~order_of(x.y),  ~order_of(x.z)};
    for (int k = 0; k < 12; ++k) least[k] = live ? least[k] : INT32_MAX;
    lower_all(s->least, least, threads);
    if (!live) return;
    if (is_low_zero(x.x) || is_low_zero(x.y) || is_low_zero(x.z)) s->has_zero = 1;
    if (!meets::is_sane(x.x, x.y, x.z) || !meets::is_sane(v.x, v.y, v.z)) s->meeting.bad = 1;
  }

  KERNEL_FN void pull_one(const args& a, shared* s, lane_set at, int column, int threads) {
    ring_sums rings = sum_ring(a, at);
    READ_FROM_HERE();
    const match_step step = own_step(a, s->step);
    pull_sums sums;
    sums.lower = (yw_lanes_vec3){INFINITY, INFINITY, INFINITY};
    sums.upper = (yw_lanes_vec3){-INFINITY, -INFINITY, -INFINITY};
    sums.torque = (yw_lanes_vec3){0.0f, 0.0f, 0.0f};
    bool live = at.block * YW_LANES + match_lane(at.lane) < a.model.num_particles;
    pull(&step, live, at.block, at.lane, &rings, &sums);
    s->tile.terms[0][column] = sums.torque.x;
    s->tile.terms[1][column] = sums.torque.y;
    s->tile.terms[2][column] = sums.torque.z;
    if (!a.has_pins) note(s, sums, live, threads);
  }

  // Torque ----------------------------------------------------------------------------------------

  KERNEL_FN void finish_torque(const args& a, const shared* s, match_span span, int t) {
    if (t >= NUM_TERMS) return;
    sums_of_part(a, span)[SUM_TORQUE + t] = 0.0f + s->step.pull * add_pairs(s->tile.lanes[t]);
  }

  // Obstacles -------------------------------------------------------------------------------------

  KERNEL_FN bool is_clear(const match_step& step, const yw_obstacle* o, yw_aabb box) {
    box.lower = yw_add(box.lower, step.origin);
    box.upper = yw_add(box.upper, step.origin);
    float low = yw_length(box.lower), high = yw_length(box.upper), most = fmaxf(low, high);
    if (isfinite(most)) box = yw_aabb_pad(box, YW_NEAR_ROUNDING * most);
    bool moves = !yw_same_pose(o->begin, o->end);
    return yw_obstacle_box_is_clear(o, o->begin, o->end, moves, box);
  }

  // Some threads find out whether an obstacle is near, while others add.
  static constexpr int FIRST_SCOUT = THREADS / 2;
  APART_FN void scout(const args& a, shared* s, int t) {
    yw_aabb box = box_of_ordered((const ordered_box*)s->least);
    for (int32_t k = t; k < a.num_obstacles; k += THREADS - FIRST_SCOUT) {
      bool is_near = !is_clear(s->step, &a.obstacles[k], box);
      if (is_near) s->is_near = 1;
      if (k < meets::MOST_AIMED) meets::aim(a, &s->meeting, k, is_near);
    }
  }

  // The particles of the span meet obstacles, and return to the world.
  APART_FN void meet(const args& a, shared* s, int32_t first, int32_t count, void* memory) {
    if (s->is_near) {
      meets::collide(a, s->step, &s->meeting, meets::places_in(memory, count), first, count,
                     meets::MOST_AIMED);
    }
    if (!a.leaves) return;
    bool keeps = s->step.has_cut || !meets::is_zero(s->step.origin);
    bool again = s->is_near || keeps || s->has_zero;
    if (again) meets::leave(a, s->step, &s->meeting, first, count);
    EACH_THREAD(t) {
      meets::finish_leaving(a, again ? s->meeting.after.least : s->least + 6, s->meeting.bad, t);
    }
  }

  // All -------------------------------------------------------------------------------------------

  KERNEL_FN void begin(const args& a, shared* s, int t) {
    copy_step(a.scalars->step, &s->step, t);
    copy_step(a.scalars->next, &s->ahead, t);
    // Obstacles, a sector of memory each, for the scouts.
    if (t >= FIRST_SCOUT && (t - FIRST_SCOUT) * 32 < a.obstacle_bytes) {
      touch((const char*)a.obstacles + (t - FIRST_SCOUT) * 32);
    }
    if (t < 12) s->least[t] = INT32_MAX;
    if (t == 32) s->is_near = s->has_zero = s->meeting.bad = 0;
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks;
    shared* s = (shared*)memory;
    const match_chunk chunk = a.model.chunks[block / MOST_PARTS];
    const match_span span = span_of(chunk, block);
    if (a.scalars->diverged || span.count == 0) return;
    EACH_THREAD(t) { begin(a, s, t); }
    SYNC();
    EACH_THREAD(t) {
      if (t >= span.count * YW_LANES) continue;
      lane_set at = lane_of_thread(&chunk, span.first, t);
      pull_one(a, s, at, t / YW_LANES * YW_LANES + at.lane, span.count * YW_LANES);
    }
    SYNC();
    EACH_THREAD(t) {
      s->tile.add_columns(span.count, t);
      if (!a.has_pins && t >= FIRST_SCOUT) scout(a, s, t - FIRST_SCOUT);
    }
    SYNC();
    EACH_THREAD(t) { finish_torque(a, s, span, t); }
    if (a.has_pins) return;
    int32_t first = (chunk.first_block + span.first) * YW_LANES;
    int32_t left = a.model.num_particles - first, count = span.count * YW_LANES;
    meet(a, s, first, left < count ? left : count, memory + sizeof(shared));
    SYNC();
    // Rows of the next step, while the particles are at hand.
    rows_kernel::terms_tile* tile = (rows_kernel::terms_tile*)(memory + sizeof(shared));
    rows_kernel::take_particles(a, s->ahead, tile, chunk, span, a.new_pos);
  }
};

/// Springs and holds, as in match.c, by one block of threads.
struct pins_kernel {
  typedef match_args args;
  static constexpr int THREADS = 512, BLOCKS_PER_PROCESSOR = 1;
  static size_t shared_bytes() { return 16; }

  KERNEL_FN void pull_spring(const args& a, const yw_spring* spring) {
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
    a.vel[n] = yw_v4(v);
    a.new_pos[n] = yw_v4(yw_mad(x, h, v));
  }

  // A negative particle is held by another one too, later in the list.
  KERNEL_FN void set_hold(const args& a, const yw_hold* held) {
    yw_hold hold = *held;
    if (hold.particle < 0) return;
    hold.begin = yw_sub(hold.begin, a.scalars->origin);
    hold.end = yw_sub(hold.end, a.scalars->origin);
    a.new_pos[hold.particle] = yw_v4(yw_hold_at(&hold, a.inner_end));
    a.vel[hold.particle] = yw_v4(yw_hold_velocity(&hold, a.h));
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)block, (void)num_blocks, (void)memory;
    if (a.scalars->diverged) return;
    EACH_THREAD(t) {
      int first = a.springs_differ ? t : 0, stride = a.springs_differ ? THREADS : 1;
      for (int32_t i = first; (a.springs_differ || t == 0) && i < a.num_springs; i += stride) {
        pull_spring(a, &a.springs[i]);
      }
    }
    SYNC();
    EACH_THREAD(t) {
      for (int32_t i = t; i < a.num_holds; i += THREADS) set_hold(a, &a.holds[i]);
    }
  }
};

#endif
