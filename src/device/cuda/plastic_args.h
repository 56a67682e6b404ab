// SPDX-License-Identifier: MIT
// What kernels of plastic bodies share: arguments, sums over a body, pairs by masters and by
// slaves.
//
// A block of threads has a chunk of 256 masters, one thread each. What masters hand to the slaves
// that they see is gathered by these: a slot (body.h, parts) sums the pairs of its slave in the
// order in which the processor adds them. Sums over slaves run in their order within a block of
// slaves, and those of blocks are exact (math/small/exact_sum.h).
#ifndef YW_DEVICE_CUDA_PLASTIC_ARGS_H
#define YW_DEVICE_CUDA_PLASTIC_ARGS_H

#include "device/cuda/buffers.h"
#include "device/cuda/meet.h"

/// What kernels tell each other and the host.
struct plastic_scalars {
  yw_exact_sum sums[PLASTIC_MAX_SUMS];
  unsigned ended;  ///< blocks, see IS_LAST_BLOCK
  plastic_grip grip;
  // The solve.
  float alpha, beta;
  double mass, rz, before, goal;
  yw_vec3 mean;
  int32_t iterations;
  int done, advances, failed;
  // The step.
  int shifts, lost, bad, contacts, due;
  int touching;  // slaves
  int32_t num_due_rows;
  int speed2, fastest2, spread2;  ///< ~order_of
  int rests;
  yw_vec3 mean_vel;  ///< of masters
  ordered_box box;
};

/// Where more rows are needed, all are.
enum { MOST_DUE_ROWS = 1 << 16 };

struct plastic_args {
  plastic_body body;  ///< pointers of the device
  yw_particles particles;
  plastic_layout layout;
  float* turned_share;  ///< N of pairs by slaves
  plastic_scalars* scalars;
  const plastic_link* links;
  int32_t num_links;
  float* still;
  int32_t* due_rows;  ///< masters whose rows are needed for new slaves, the first MOST_DUE_ROWS
  int32_t num_chunks;
  int32_t room;  ///< slots of a chunk that fit shared memory
  // Of the step.
  yw_vec3 gravity;
  float begin;
  const yw_obstacle* obstacles;
  int32_t num_obstacles;
  yw_collide_terms terms;
  float obstacle_h;
  // Of the solve.
  int32_t most;
  float tolerance;
  bool fixed;
  // Of this launch.
  bool is_first, is_clear;
  float h, limit, enough;
};

KERNEL_FN int32_t masters_in(const plastic_args& a, int32_t chunk) {
  int32_t left = a.body.num_masters - chunk * PLASTIC_CHUNK;
  return left < PLASTIC_CHUNK ? left : PLASTIC_CHUNK;
}

/// The iterations of the solve have ended, or wait for `advance`.
KERNEL_FN bool is_solved(const plastic_args& a) { return a.scalars->done || a.scalars->advances; }

// Sums --------------------------------------------------------------------------------------------

KERNEL_FN void add_digit(int64_t* to, int64_t value) {
#ifdef __CUDACC__
  if (value != 0) atomicAdd((unsigned long long*)to, (unsigned long long)value);
#else
  *to += value;
#endif
}

KERNEL_FN void add_exactly(yw_exact_sum* sum, double term) {
  int64_t parts[YW_EXACT_PARTS];
  int digit = yw_exact_split(term, parts);
  if (digit < 0) {
    add_digit(&sum->strange, 1);
    return;
  }
  for (int i = 0; i < YW_EXACT_PARTS; ++i) add_digit(&sum->digit[digit + i], parts[i]);
}

/// The value of a sum, which starts anew.
KERNEL_FN double take_sum(yw_exact_sum* sum) {
  double value = yw_exact_value(sum);
  memset(sum, 0, sizeof *sum);
  return value;
}

/// Columns of values of up to THREADS items; each is added up in the order of the items.
template <class Value, int COLUMNS, int THREADS>
struct column_sums {
  Value value[COLUMNS][THREADS + 1];
  double sum[COLUMNS];

  KERNEL_FN void clear(column_sums* s, int t) {
    if (t < COLUMNS) s->sum[t] = 0.0;
  }
  KERNEL_FN void add(column_sums* s, int t, int32_t count) {
    if (t >= COLUMNS) return;
    double sum = s->sum[t];
    for (int32_t i = 0; i < count; ++i) sum += (double)s->value[t][i];
    s->sum[t] = sum;
  }
};

// Slaves of chunks --------------------------------------------------------------------------------

struct alignas(8) float_pair {
  float x, y;
};
struct alignas(8) column_four {
  uint16_t at[4];
};
struct alignas(16) share_four {
  float n[4];
};

/// A slave of a chunk: a vector, and its position relative to the chunk's origin.
struct local_values {
  float vx, vy, vz, px, py, pz;
};

struct local_range {
  int32_t first, count;
  yw_vec4 origin;
};
KERNEL_FN local_range locals_of(const plastic_args& a, int32_t chunk) {
  int32_t first = a.body.local_start[chunk];
  return (local_range){first, a.body.local_start[chunk + 1] - first, a.body.origin[chunk]};
}

KERNEL_FN local_values place_of(const local_range& range, const yw_vec4& place) {
  local_values v;
  v.vx = v.vy = v.vz = 0.0f;
  v.px = place.x - range.origin.x;
  v.py = place.y - range.origin.y;
  v.pz = place.z - range.origin.z;
  return v;
}

/// Vectors that chunks gather from their slaves.
struct no_vector {
  KERNEL_FN local_values of(const plastic_args& a, const local_range& range, int32_t i) {
    return place_of(range, a.body.slave_pos[a.body.local_slave[range.first + i]]);
  }
};
struct solved_vector {
  KERNEL_FN local_values of(const plastic_args& a, const local_range& range, int32_t i) {
    int32_t s = a.body.local_slave[range.first + i];
    local_values v = place_of(range, a.body.slave_pos[s]);
    yw_vec4 solved = a.body.solved[s];
    v.vx = solved.x, v.vy = solved.y, v.vz = solved.z;
    return v;
  }
};
/// The next direction of the solve, as `multiply` computes it.
struct direction_vector {
  KERNEL_FN local_values of(const plastic_args& a, const local_range& range, int32_t i) {
    const int32_t s = a.body.local_slave[range.first + i];
    const float alpha = a.scalars->alpha, beta = a.scalars->beta;
    const yw_float4 steep = yw_float4_load(plastic_steep(&a.body, s));
    yw_float4 z = steep - alpha * yw_float4_load(plastic_image(&a.body, s));
    yw_float4 p = z + beta * yw_float4_load(plastic_direction(&a.body, s));
    local_values v = place_of(range, *plastic_place(&a.body, s));
    v.vx = p.x, v.vy = p.y, v.vz = p.z;
    return v;
  }
};

/// Slaves of a chunk in shared memory, or, where they are too many, as they are.
template <class Vector, bool SHARED>
struct local_slaves {
  float_pair* at[3];

  KERNEL_FN local_slaves in(const plastic_args& a, char* memory) {
    local_slaves s;
    for (int k = 0; k < 3; ++k) s.at[k] = (float_pair*)memory + k * a.room;
    return s;
  }
  KERNEL_FN void load(const plastic_args& a, const local_slaves& s, const local_range& range, int t,
                      int threads) {
    for (int32_t i = t; SHARED && i < range.count; i += threads) {
      const local_values v = Vector::of(a, range, i);
      const int32_t k = shared_place(i);
      s.at[0][k] = (float_pair){v.vx, v.vy};
      s.at[1][k] = (float_pair){v.vz, v.px};
      s.at[2][k] = (float_pair){v.py, v.pz};
    }
  }
  KERNEL_FN local_values get(const plastic_args& a, const local_slaves& s, const local_range& range,
                             int32_t i) {
    if (!SHARED) return Vector::of(a, range, i);
    const int32_t k = shared_place(i);
    float_pair p = s.at[0][k], q = s.at[1][k], r = s.at[2][k];
    return (local_values){p.x, p.y, q.x, q.y, r.x, r.y};
  }
};

SHARED_FN size_t bytes_of_locals(int32_t room) { return 3 * (size_t)room * sizeof(float_pair); }

// Pairs by masters --------------------------------------------------------------------------------

KERNEL_FN yw_vec3 center_of_master(const plastic_args& a, int32_t m) {
  const plastic_work_block* work = &a.body.work[m / YW_LANES];
  int32_t k = m % YW_LANES;
  return yw_v3(work->center[0][k], work->center[1][k], work->center[2][k]);
}

/// Fours of pairs of a master.
struct four_range {
  size_t first;
  int32_t count;
};
KERNEL_FN four_range fours_of(const plastic_args& a, int32_t m) {
  size_t row = (size_t)a.layout.row_start[m / PLASTIC_GROUP];
  return (four_range){row * PLASTIC_GROUP + (size_t)(m % PLASTIC_GROUP),
                      a.body.four_start[m + 1] - a.body.four_start[m]};
}

/// sum N v (x_s - c)^T of a master. Sums run over every fourth pair, then over the four.
template <class Locals>
KERNEL_FN yw_lanes_mat3 gather_gradient(const plastic_args& a, const Locals& locals,
                                        const local_range& range, int32_t m) {
  const yw_vec3 c = center_of_master(a, m);
  const four_range fours = fours_of(a, m);
  float sum[4][9];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
#pragma unroll
    for (int i = 0; i < 9; ++i) sum[k][i] = 0.0f;
  }
  for (int32_t e = 0; e < fours.count; ++e) {
    const size_t i = fours.first + (size_t)(e * PLASTIC_GROUP);
    const column_four at = ((const column_four*)a.layout.column)[i];
    const share_four share = ((const share_four*)a.body.share)[i];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      local_values v = Locals::get(a, locals, range, at.at[k]);
      float rx = (v.px - c.x) * share.n[k], ry = (v.py - c.y) * share.n[k],
            rz = (v.pz - c.z) * share.n[k];
      sum[k][0] += v.vx * rx, sum[k][1] += v.vx * ry, sum[k][2] += v.vx * rz;
      sum[k][3] += v.vy * rx, sum[k][4] += v.vy * ry, sum[k][5] += v.vy * rz;
      sum[k][6] += v.vz * rx, sum[k][7] += v.vz * ry, sum[k][8] += v.vz * rz;
    }
  }
  float g[9];
#pragma unroll
  for (int i = 0; i < 9; ++i) g[i] = (sum[0][i] + sum[2][i]) + (sum[1][i] + sum[3][i]);
  return (yw_lanes_mat3){g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7], g[8]};
}

/// sum N v, w: sum N.
template <class Locals>
KERNEL_FN yw_vec4 gather_mean(const plastic_args& a, const Locals& locals, const local_range& range,
                              int32_t m) {
  const four_range fours = fours_of(a, m);
  yw_float4 sum[4] = {};
  for (int32_t e = 0; e < fours.count; ++e) {
    const size_t i = fours.first + (size_t)(e * PLASTIC_GROUP);
    const column_four at = ((const column_four*)a.layout.column)[i];
    const share_four share = ((const share_four*)a.body.share)[i];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      local_values v = Locals::get(a, locals, range, at.at[k]);
      sum[k] += share.n[k] * (yw_float4){v.vx, v.vy, v.vz, 1.0f};
    }
  }
  yw_float4 all = (sum[0] + sum[2]) + (sum[1] + sum[3]);
  return (yw_vec4){all.x, all.y, all.z, all.w};
}

// Pairs by slaves ---------------------------------------------------------------------------------

/// What the masters of a chunk hand to slaves, in shared memory: columns of a matrix for
/// N (x_s - c), with c, and n for N.
struct handed {
  yw_float4 x[PLASTIC_CHUNK], y[PLASTIC_CHUNK], z[PLASTIC_CHUNK];  // w: c
};
struct handed_more {
  handed columns;
  yw_float4 n[PLASTIC_CHUNK];
};

/// t: shared_place of the master.
KERNEL_FN void hand_matrix(handed* to, int t, const yw_lanes_mat3& k, const yw_vec3& c) {
  to->x[t] = (yw_float4){k.xx, k.yx, k.zx, c.x};
  to->y[t] = (yw_float4){k.xy, k.yy, k.zy, c.y};
  to->z[t] = (yw_float4){k.xz, k.yz, k.zz, c.z};
}

/// The pairs of a slot: the next of `stride` after `first`.
struct slot_pairs {
  int32_t slot, count;  // within the chunk; below 0: none
  size_t first;
};
KERNEL_FN slot_pairs pairs_of_slot(const plastic_args& a, int32_t group, int lane) {
  const size_t i = (size_t)(group * PLASTIC_GROUP + lane);
  const uint16_t slot = a.layout.slot[i];
  const size_t first = (size_t)a.layout.slot_start[group] * PLASTIC_GROUP + (size_t)lane;
  return (slot_pairs){slot == UINT16_MAX ? -1 : slot, a.layout.count[i], first};
}

/// Sums the pairs of the slots of a chunk into parts.
template <class Locals, bool WITH_N>
KERNEL_FN void gather_slots(const plastic_args& a, const Locals& locals, const local_range& range,
                            int32_t chunk, const handed* from, const yw_float4* n, int t,
                            int threads) {
  const int32_t end = a.layout.first_group[chunk + 1];
  int32_t group = a.layout.first_group[chunk] + t / PLASTIC_GROUP;
  for (; group < end; group += threads / PLASTIC_GROUP) {
    const slot_pairs pairs = pairs_of_slot(a, group, t % PLASTIC_GROUP);
    if (pairs.slot < 0) continue;
    const local_values p = Locals::get(a, locals, range, pairs.slot);
    const uint8_t* master = a.layout.master + pairs.first;
    const float* shares = a.turned_share + pairs.first;
    yw_float4 part = {};
#pragma unroll 4
    for (int32_t k = 0; k < pairs.count; ++k) {
      const int m = shared_place(master[k * PLASTIC_GROUP]);
      const float share = shares[k * PLASTIC_GROUP];
      const yw_float4 x = from->x[m], y = from->y[m], z = from->z[m];
      float rx = (p.px - x.w) * share, ry = (p.py - y.w) * share, rz = (p.pz - z.w) * share;
      yw_float4 sum = (rx * x + ry * y) + rz * z;
      sum.w = 0.0f;
      if (WITH_N) sum += share * n[m];
      part += sum;
    }
    yw_float4_store(&a.body.parts[range.first + pairs.slot], part);
  }
}

/// Sum of the parts of a slave, in ascending order of chunks.
KERNEL_FN yw_float4 sum_of_parts(const plastic_args& a, const yw_vec4* parts, int32_t s) {
  yw_float4 sum = {};
  for (int32_t e = a.body.part_start[s]; e < a.body.part_start[s + 1]; ++e) {
    sum += yw_float4_load(&parts[a.body.part_at[e]]);
  }
  return sum;
}

#endif
