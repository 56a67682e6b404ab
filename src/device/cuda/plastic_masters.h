// SPDX-License-Identifier: MIT
// Kernels over the masters of a plastic body: one thread per master, then one per slot of the chunk
// where masters hand something to slaves. Formulas are those of the processor:
// methods/plastic/weight_lanes.h, stress_lanes.h, flow_lanes.h.
#ifndef YW_DEVICE_CUDA_PLASTIC_MASTERS_H
#define YW_DEVICE_CUDA_PLASTIC_MASTERS_H

#include "device/cuda/plastic_args.h"

/// Maximum deformation per step when slaves move along (transfer_kernels.c).
#define PLASTIC_MOST_MOTION 0.5f

// Weights -----------------------------------------------------------------------------------------

struct weights_kernel {
  typedef plastic_args args;
  static constexpr int THREADS = PLASTIC_CHUNK, BLOCKS_PER_PROCESSOR = 4;

  static size_t shared_bytes(int32_t room) { return (size_t)room * sizeof(yw_vec4); }

  KERNEL_FN void weigh(const args& a, int32_t chunk, int32_t m, const yw_vec4* places) {
    const plastic_body& body = a.body;
    const four_range fours = fours_of(a, m);
    const yw_vec4 x = a.particles.pos[m], origin = a.particles.pos[chunk * PLASTIC_CHUNK];
    const size_t slots = (size_t)a.layout.slot_start[a.layout.first_group[chunk]] * PLASTIC_GROUP;
    weight_block b;
    b.column = a.layout.column + 4 * fours.first;
    b.at = a.layout.at + 4 * fours.first;
    b.share = body.share + 4 * fours.first;
    b.turned_share = a.turned_share + slots;
    b.length = body.row_start[m + 1] - body.row_start[m];
    b.stride = 4 * PLASTIC_GROUP;
    b.place = places;
    b.slave_pos = body.slave_pos;
    b.slaves = body.local_slave + body.local_start[chunk];
    b.x = x;
    b.inv_h = 1.0f / body.model->spacing;
    moments sums;
    uint32_t needs = share_out(&b, 0, &sums);
    const yw_vf from_origin[3] = {x.x - origin.x, x.y - origin.y, x.z - origin.z};
    plastic_work_block* work = &body.work[m / YW_LANES];
    store_gradient(work, m % YW_LANES, &sums, body.model->spacing, from_origin);
    body.needs[m] = (uint8_t)(needs & 1u);
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks;
    yw_vec4* places = (yw_vec4*)memory;
    const int32_t first = a.body.local_start[block];
    const int32_t count = a.body.local_start[block + 1] - first;
    const bool fits = count <= a.room;
    EACH_THREAD(t) {
      for (int32_t i = t; fits && i < count; i += THREADS) {
        places[shared_place(i)] = a.body.slave_pos[a.body.local_slave[first + i]];
      }
    }
    SYNC();
    EACH_THREAD(t) {
      if (t == 0) {
        yw_vec4 x = a.particles.pos[block * PLASTIC_CHUNK];
        a.body.origin[block] = (yw_vec4){x.x, x.y, x.z, 0.0f};
      }
      if (t < masters_in(a, block)) {
        weigh(a, block, block * PLASTIC_CHUNK + t, fits ? places : NULL);
      }
    }
  }
};

// Masters to slaves -------------------------------------------------------------------------------

/// A kernel in which every master hands a matrix to the slaves that it sees, and, WITH_N, a vector.
template <class Work, bool WITH_N>
struct handing_kernel {
  typedef plastic_args args;
  static constexpr int THREADS = PLASTIC_CHUNK, BLOCKS_PER_PROCESSOR = 4;

  static constexpr size_t HANDED = WITH_N ? sizeof(handed_more) : sizeof(handed);

  static size_t shared_bytes(int32_t room) { return HANDED + bytes_of_locals(room); }

  template <bool SHARED>
  KERNEL_FN void hand(const args& a, int32_t chunk, const local_range& range, char* memory) {
    typedef local_slaves<typename Work::vector, SHARED> locals;
    handed_more* to = (handed_more*)memory;
    const locals slaves = locals::in(a, memory + HANDED);
    EACH_THREAD(t) { locals::load(a, slaves, range, t, THREADS); }
    SYNC();
    EACH_THREAD(t) {
      int32_t m = chunk * PLASTIC_CHUNK + t;
      if (t < masters_in(a, chunk)) {
        yw_vec4 n = {};
        yw_lanes_mat3 k = Work::matrix(a, slaves, range, m, &n);
        const int place = shared_place(t);
        hand_matrix(&to->columns, place, k, center_of_master(a, m));
        if (WITH_N) to->n[place] = (yw_float4){n.x, n.y, n.z, n.w};
      }
    }
    SYNC();
    EACH_THREAD(t) {
      gather_slots<locals, WITH_N>(a, slaves, range, chunk, &to->columns, to->n, t, THREADS);
    }
  }

  // Seldom: no registers are kept for it.
  APART_FN void hand_apart(const args& a, int32_t chunk, local_range range, char* memory) {
    hand<false>(a, chunk, range, memory);
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks;
    if (Work::is_over(a)) return;
    const local_range range = locals_of(a, block);
    if (range.count <= a.room) {
      hand<true>(a, block, range, memory);
    } else {
      hand_apart(a, block, range, memory);
    }
  }
};

/// Mass and affine momentum: from C, or, to move slaves, from L.
template <bool MOTION>
struct spread_work {
  typedef no_vector vector;
  KERNEL_FN bool is_over(const plastic_args& a) { return MOTION && a.scalars->lost; }
  template <class Locals>
  KERNEL_FN yw_lanes_mat3 matrix(const plastic_args& a, const Locals& locals,
                                 const local_range& range, int32_t m, yw_vec4* n) {
    (void)locals, (void)range;
    const int32_t block = m / YW_LANES, lane = m % YW_LANES;
    const float* from = MOTION ? a.body.work[block].l[0] : a.body.state[block].c[0];
    yw_lanes_mat3 c = yw_lanes_mat3_load((const yw_mat3x16*)from, lane);
    const float mass = a.particles.mass[m];
    yw_vf scale = 1.0f * mass;
    if (MOTION) {
      yw_vf turn = a.body.dt * yw_vf_sqrt(yw_lanes_mat3_norm2(&c));
      scale *= yw_vf_min(1.0f, PLASTIC_MOST_MOTION / yw_vf_max(turn, 1e-20f));
    }
    const yw_vec4 v = a.particles.vel[m];
    *n = (yw_vec4){mass * (v.x - 0.0f), mass * (v.y - 0.0f), mass * (v.z - 0.0f), mass};
    return yw_lanes_mat3_scale(&c, scale);
  }
};

struct stress_work {
  typedef no_vector vector;
  KERNEL_FN bool is_over(const plastic_args& a) { return (void)a, false; }
  template <class Locals>
  KERNEL_FN yw_lanes_mat3 matrix(const plastic_args& a, const Locals& locals,
                                 const local_range& range, int32_t m, yw_vec4* n) {
    (void)locals, (void)range;
    if (a.body.is_pulled) *n = a.body.pull[m];
    return stress_lanes(&a.body, m / YW_LANES, m % YW_LANES);
  }
};

/// The tangent times the next direction of the solve.
struct stiffen_work {
  typedef direction_vector vector;
  KERNEL_FN bool is_over(const plastic_args& a) { return is_solved(a); }
  template <class Locals>
  KERNEL_FN yw_lanes_mat3 matrix(const plastic_args& a, const Locals& locals,
                                 const local_range& range, int32_t m, yw_vec4* n) {
    (void)n;
    const plastic_work_block* work = &a.body.work[m / YW_LANES];
    yw_lanes_mat3 gradient = gather_gradient(a, locals, range, m);
    yw_lanes_mat3 u = yw_lanes_mat3_load((const yw_mat3x16*)work->u, m % YW_LANES);
    return tangent_times(work, &u, &gradient, m % YW_LANES);
  }
};

typedef handing_kernel<spread_work<false>, true> spread_kernel;
typedef handing_kernel<spread_work<true>, true> spread_motion_kernel;
typedef handing_kernel<stress_work, false> stress_kernel;
typedef handing_kernel<stress_work, true> pulled_stress_kernel;
typedef handing_kernel<stiffen_work, false> stiffen_kernel;

/// Diagonal blocks of the matrix, to both halves of the parts (solve_kernels.c, scatter_blocks).
struct block_parts_kernel {
  typedef plastic_args args;
  static constexpr int THREADS = PLASTIC_CHUNK, BLOCKS_PER_PROCESSOR = 3;

  struct shared {
    yw_float4 x[THREADS], y[THREADS], z[THREADS];  // columns of D_N^-1, w: c
    float_pair stiffness[THREADS];
  };

  KERNEL_FN void hand(const args& a, shared* s, int t, int32_t m) {
    const plastic_work_block* work = &a.body.work[m / YW_LANES];
    const yw_vec3 c = center_of_master(a, m);
    const int32_t lane = m % YW_LANES;
    float d[6];
    for (int k = 0; k < 6; ++k) d[k] = work->inverse[k][lane];
    s->x[t] = (yw_float4){d[0], d[3], d[4], c.x};
    s->y[t] = (yw_float4){d[3], d[1], d[5], c.y};
    s->z[t] = (yw_float4){d[4], d[5], d[2], c.z};
    s->stiffness[t] = (float_pair){work->stiffness[0][lane], work->stiffness[1][lane]};
  }

  KERNEL_FN void gather(const args& a, const shared* s, const local_range& range, int32_t group,
                        int lane) {
    const slot_pairs pairs = pairs_of_slot(a, group, lane);
    if (pairs.slot < 0) return;
    const local_values p = no_vector::of(a, range, pairs.slot);
    const int32_t slot = range.first + pairs.slot;
    yw_float4 own = {}, mixed = {};
    for (int32_t k = 0; k < pairs.count; ++k) {
      const int m = shared_place(a.layout.master[pairs.first + (size_t)(k * PLASTIC_GROUP)]);
      const float share = a.turned_share[pairs.first + (size_t)(k * PLASTIC_GROUP)];
      const yw_float4 x = s->x[m], y = s->y[m], z = s->z[m];
      const float shear = s->stiffness[m].x, rest = s->stiffness[m].y;
      float rx = (p.px - x.w) * share, ry = (p.py - y.w) * share, rz = (p.pz - z.w) * share;
      yw_float4 g = (rx * x + ry * y) + rz * z, kg = rest * g;
      float xx = g.x * g.x, yy = g.y * g.y, zz = g.z * g.z;
      own += (yw_float4){rest * xx, rest * yy, rest * zz, shear * ((xx + yy) + zz)};
      mixed += (yw_float4){kg.x * g.y, kg.y * g.z, kg.z * g.x, 0.0f};
    }
    yw_float4_store(&a.body.parts[slot], own);
    yw_float4_store(&a.body.parts[(size_t)a.body.num_slots + (size_t)slot], mixed);
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks;
    shared* s = (shared*)memory;
    const local_range range = locals_of(a, block);
    EACH_THREAD(t) {
      if (t < masters_in(a, block)) hand(a, s, shared_place(t), block * PLASTIC_CHUNK + t);
    }
    SYNC();
    EACH_THREAD(t) {
      int32_t group = a.layout.first_group[block] + t / PLASTIC_GROUP;
      for (; group < a.layout.first_group[block + 1]; group += THREADS / PLASTIC_GROUP) {
        gather(a, s, range, group, t % PLASTIC_GROUP);
      }
    }
  }
};

// Flow --------------------------------------------------------------------------------------------

/// The largest of values in their order, as the processor finds it: what is not a number replaces
/// all before it, and is replaced by what follows.
struct ordered_most {
  float value;
  bool is_empty, has_strange;

  KERNEL_FN ordered_most none() { return (ordered_most){0.0f, true, false}; }
  KERNEL_FN void add(ordered_most* to, float value) {
    if (!(value <= to->value)) to->value = value;
    to->has_strange = to->has_strange || isnan(value);
    to->is_empty = false;
  }
  KERNEL_FN void join(ordered_most* to, const ordered_most& next) {
    if (next.is_empty) return;
    if (next.has_strange || !(next.value <= to->value)) to->value = next.value;
    to->has_strange = to->has_strange || next.has_strange;
    to->is_empty = false;
  }
};

struct flow_kernel {
  typedef plastic_args args;
  static constexpr int THREADS = PLASTIC_CHUNK, BLOCKS_PER_PROCESSOR = 2;

  struct alignas(16) shared {
    float gradient2[THREADS];
    ordered_most most[THREADS];
    int is_last;
  };
  static size_t shared_bytes(int32_t room) { return sizeof(shared) + bytes_of_locals(room); }

  // Of `count` values: threads have ranges of them, and one joins the threads in order.
  template <class Values>
  KERNEL_FN float find_most(shared* s, int32_t count, const Values& values) {
    EACH_THREAD(t) {
      const int32_t each = (count + THREADS - 1) / THREADS, end = (t + 1) * each;
      ordered_most own = ordered_most::none();
      for (int32_t i = t * each; i < end && i < count; ++i) ordered_most::add(&own, values.at(i));
      s->most[t] = own;
    }
    SYNC();
    ordered_most all = ordered_most::none();
    EACH_THREAD(t) {
      for (int k = 0; t == 0 && k < THREADS; ++k) ordered_most::join(&all, s->most[k]);
    }
    SYNC();
    return all.value;  // in the first thread
  }
  struct of_masters {
    const float* gradient2;
    SHARED_METHOD float at(int32_t i) const { return gradient2[i]; }
  };
  struct of_chunks {
    const plastic_sums* sums;
    SHARED_METHOD float at(int32_t i) const { return sums[i].gradient2; }
  };

  template <class Locals>
  KERNEL_FN void flow(const args& a, const Locals& locals, const local_range& range, int32_t m,
                      float* gradient2) {
    const int32_t block = m / YW_LANES, lane = m % YW_LANES;
    plastic_work_block* work = &a.body.work[block];
    yw_lanes_mat3 sum = gather_gradient(a, locals, range, m);
    yw_vec4 moved = gather_mean(a, locals, range, m), v = a.particles.vel[m];
    yw_lanes_sym3 inverse = yw_lanes_sym3_load((const yw_sym3x16*)work->inverse, lane);
    yw_lanes_mat3 l = yw_lanes_mat3_mul_sym(&sum, &inverse);
    yw_lanes_mat3_store((yw_mat3x16*)work->l, lane, &l);
    const float blend = a.body.model->scheme.velocity_blend, rest = 1.0f - blend;
    if (blend < 1.0f) {
      moved.x = rest * v.x + blend * moved.x;
      moved.y = rest * v.y + blend * moved.y;
      moved.z = rest * v.z + blend * moved.z;
    }
    flow_lanes(&a.body, block, lane);
    flow_one(&a.body, block, lane);
    a.particles.vel[m] = moved.w < 0.5f ? yw_v4(yw_add(yw_xyz(v), a.body.fall))
                                        : (yw_vec4){moved.x, moved.y, moved.z, 0.0f};
    float square = 0.0f;
    for (int i = 0; i < 9; ++i) square += work->l[i][lane] * work->l[i][lane];
    *gradient2 = square;
  }

  // Lanes beyond the last master are in snapshots too.
  KERNEL_FN void flow_nobody(const args& a, int32_t m) {
    const int32_t block = m / YW_LANES, lane = m % YW_LANES;
    for (int k = 0; k < 9; ++k) a.body.work[block].l[k][lane] = 0.0f;
    flow_lanes(&a.body, block, lane);
    flow_one(&a.body, block, lane);
  }

  template <bool SHARED>
  KERNEL_FN void flow_chunk(const args& a, int32_t chunk, const local_range& range, char* memory) {
    typedef local_slaves<solved_vector, SHARED> locals;
    shared* s = (shared*)memory;
    const locals slaves = locals::in(a, memory + sizeof *s);
    EACH_THREAD(t) { locals::load(a, slaves, range, t, THREADS); }
    SYNC();
    EACH_THREAD(t) {
      if (t < masters_in(a, chunk)) {
        flow(a, slaves, range, chunk * PLASTIC_CHUNK + t, &s->gradient2[t]);
      } else if (t < (masters_in(a, chunk) + YW_LANES - 1) / YW_LANES * YW_LANES) {
        flow_nobody(a, chunk * PLASTIC_CHUNK + t);
      }
    }
    SYNC();
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    shared* s = (shared*)memory;
    const local_range range = locals_of(a, block);
    if (range.count <= a.room) {
      flow_chunk<true>(a, block, range, memory);
    } else {
      flow_chunk<false>(a, block, range, memory);
    }
    float most = find_most(s, masters_in(a, block), (of_masters){s->gradient2});
    EACH_THREAD(t) {
      if (t == 0) a.body.sums[block].gradient2 = most;
    }
    if (!IS_LAST_BLOCK(&a.scalars->ended, &s->is_last, 0)) return;
    most = find_most(s, num_blocks, (of_chunks){a.body.sums});
    EACH_THREAD(t) {
      if (t == 0) a.scalars->lost = !isfinite(most);
    }
  }
};

// Motion ------------------------------------------------------------------------------------------

/// Masters move and meet obstacles (contact/obstacles.c).
struct move_kernel {
  typedef plastic_args args;
  static constexpr int THREADS = PLASTIC_CHUNK, BLOCKS_PER_PROCESSOR = 4;

  struct shared {
    uint8_t touched[THREADS];
    ordered_box path;
    yw_obstacle_motion motion;
    bool is_met;
    int contacts, corners, bad;
  };

  KERNEL_FN bool is_sane(yw_vec4 x) {
    const float most = 1e9f;  // as in world/step.c
    return fabsf(x.x) < most && fabsf(x.y) < most && fabsf(x.z) < most;
  }

  KERNEL_FN void move(const args& a, shared* s, int32_t chunk, int t) {
    int32_t count = masters_in(a, chunk), m = chunk * PLASTIC_CHUNK + (t < count ? t : 0);
    yw_vec4 v = a.particles.vel[m], x = a.particles.pos[m];
    const float dt = a.body.dt;
    yw_vec4 next = {x.x + dt * v.x, x.y + dt * v.y, x.z + dt * v.z, 0.0f};
    yw_aabb box = yw_aabb_grow(yw_aabb_grow(yw_aabb_empty(), yw_xyz(x)), yw_xyz(next));
    lower_all(s->path.least, order_box(yw_aabb_pad(box, a.body.reach[m])).least);
    s->touched[t] = 0;
    if (t >= count) return;
    a.body.last_pos[m] = x;
    a.particles.pos[m] = next;
  }

  KERNEL_FN void aim_at(const args& a, shared* s, int32_t k, bool settles) {
    const yw_obstacle* o = &a.obstacles[k];
    const yw_aabb box = box_of_ordered(&s->path);
    s->is_met = yw_aabb_overlap(o->bounds, box);
    if (!s->is_met) return;
    s->motion = yw_obstacle_motion_of(&a.terms, o);
    const yw_obstacle_motion* m = &s->motion;
    s->is_met = settles || !yw_obstacle_box_is_clear(o, m->first, m->last, m->moves, box);
  }

  // All obstacles, one after another; again for masters that met two.
  KERNEL_FN void meet_all(const args& a, shared* s, int32_t chunk, bool settles) {
    for (int32_t k = 0; k < a.num_obstacles; ++k) {
      EACH_THREAD(t) {
        if (t == 0) aim_at(a, s, k, settles);
      }
      SYNC();
      if (s->is_met) {
        EACH_THREAD(t) {
          int32_t m = chunk * PLASTIC_CHUNK + t;
          if (t >= masters_in(a, chunk) || a.particles.inv_mass[m] == 0.0f) continue;
          if (settles && s->touched[t] < 2) continue;
          bool hit = meet_obstacle(&s->motion, a.body.reach[m], a.body.last_pos[m],
                                   &a.particles.pos[m], &a.particles.vel[m]);
          if (settles || !hit) continue;
          if (s->touched[t] < UINT8_MAX) ++s->touched[t];
          if (s->touched[t] == 2) ADD_TO(&s->corners, 1);
        }
      }
      SYNC();
    }
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks;
    shared* s = (shared*)memory;
    if (a.scalars->lost) return;
    EACH_THREAD(t) {
      if (t < 6) s->path.least[t] = INT32_MAX;
      if (t == 6) s->contacts = s->corners = s->bad = 0;
    }
    SYNC();
    EACH_THREAD(t) { move(a, s, block, t); }
    SYNC();
    if (a.num_obstacles > 0) meet_all(a, s, block, false);
    if (s->corners > 0) meet_all(a, s, block, true);
    EACH_THREAD(t) {
      int32_t m = block * PLASTIC_CHUNK + t;
      if (s->touched[t]) ADD_TO(&s->contacts, 1);
      bool is_good =
          t >= masters_in(a, block) || (is_sane(a.particles.pos[m]) && is_sane(a.particles.vel[m]));
      if (!is_good) ADD_TO(&s->bad, 1);
    }
    SYNC();
    EACH_THREAD(t) {
      if (t == 0 && s->contacts) ADD_TO(&a.scalars->contacts, s->contacts);
      if (t == 0 && s->bad) ADD_TO(&a.scalars->bad, s->bad);
    }
  }
};

// Time and rest -----------------------------------------------------------------------------------

/// Mean velocity of masters.
struct mean_kernel {
  typedef plastic_args args;
  static constexpr int THREADS = PLASTIC_CHUNK, BLOCKS_PER_PROCESSOR = 4;
  typedef column_sums<double, 4, THREADS> columns;

  struct shared {
    columns sums;
    int is_last;
  };

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks;
    shared* s = (shared*)memory;
    EACH_THREAD(t) {
      columns::clear(&s->sums, t);
      if (t < masters_in(a, block)) {
        int32_t m = block * PLASTIC_CHUNK + t;
        double w = (double)a.particles.mass[m];
        yw_vec4 v = a.particles.vel[m];
        s->sums.value[0][t] = w * (double)v.x;
        s->sums.value[1][t] = w * (double)v.y;
        s->sums.value[2][t] = w * (double)v.z;
        s->sums.value[3][t] = w;
      }
    }
    SYNC();
    EACH_THREAD(t) {
      columns::add(&s->sums, t, masters_in(a, block));
      if (t < 4) add_exactly(&a.scalars->sums[t], s->sums.sum[t]);
    }
    if (!IS_LAST_BLOCK(&a.scalars->ended, &s->is_last, 3)) return;
    EACH_THREAD(t) {
      if (t != 0) continue;
      double p[4];
      for (int k = 0; k < 4; ++k) p[k] = take_sum(&a.scalars->sums[k]);
      a.scalars->mean_vel = yw_v3((float)(p[0] / p[3]), (float)(p[1] / p[3]), (float)(p[2] / p[3]));
      a.scalars->fastest2 = a.scalars->spread2 = ~order_of(0.0f);
    }
  }
};

/// Largest speeds, absolute and relative to the mean.
struct fastest_kernel {
  typedef plastic_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      int32_t i = block * THREADS + t, m = i < a.body.num_masters ? i : 0;
      yw_vec3 v = yw_xyz(a.particles.vel[m]);
      float fast2 = yw_length2(v), off2 = yw_length2(yw_sub(v, a.scalars->mean_vel));
      const int least[2] = {~order_of(fast2 > 0.0f ? fast2 : 0.0f),
                            ~order_of(off2 > 0.0f ? off2 : 0.0f)};
      lower_all(&a.scalars->fastest2, least);
    }
  }
};
static_assert(offsetof(plastic_scalars, spread2) == offsetof(plastic_scalars, fastest2) + 4);

#endif
