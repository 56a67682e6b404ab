// SPDX-License-Identifier: MIT
// Sums over pairs of masters and slaves, and blocks of 16 masters: shared by the *_kernels.c files.
//
// A pair in memory is N and the index of its slave within the chunk. Since G = N D_N^-1 (x_s - c),
// with c the center of the master's slaves, everything is a sum over rows {N (x_s - c), N}. Rows
// are built on demand from the positions of the chunk's slaves, which stay in the L1 cache, and
// D_N^-1 is applied to the sum. An iteration of the solve thus reads 6 bytes per pair.
#ifndef YW_METHODS_PLASTIC_PAIRS_H
#define YW_METHODS_PLASTIC_PAIRS_H

#include "math/small/float4.h"
#include "math/small/lanes_mat3.h"
#include "methods/plastic/phases.h"

// Kernels of other files for the table in transfer_kernels.c, yw_plastic_kernels.
void YW_KERNEL(yw_plastic_stress)(plastic_body* body, yw_particles* particles, int32_t chunk);
void YW_KERNEL(yw_plastic_stiffen)(plastic_body* body, yw_particles* particles, int32_t chunk);
void YW_KERNEL(yw_plastic_multiply)(plastic_body* body, yw_particles* particles, int32_t chunk);
void YW_KERNEL(yw_plastic_block_parts)(plastic_body* body, yw_particles* particles, int32_t chunk);
void YW_KERNEL(yw_plastic_condition)(plastic_body* body, yw_particles* particles, int32_t chunk);
void YW_KERNEL(yw_plastic_flow)(plastic_body* body, yw_particles* particles, int32_t chunk);

// Prefetch distance, in slaves.
#define SLAVES_AHEAD 32

// Blocks ------------------------------------------------------------------------------------------

typedef struct block_range {
  int32_t first, end;
} block_range;

YW_LANE_FN block_range blocks_of(const plastic_body* body, int32_t chunk) {
  int32_t first = chunk * (PLASTIC_CHUNK / YW_LANES), end = first + PLASTIC_CHUNK / YW_LANES;
  int32_t blocks = yw_plastic_chunks(body->num_masters, YW_LANES);
  return (block_range){first, end < blocks ? end : blocks};
}

YW_LANE_FN int32_t masters_of(const plastic_body* body, int32_t block) {
  int32_t count = body->num_masters - block * YW_LANES;
  return count < YW_LANES ? count : YW_LANES;
}

// A slave of a chunk: a vector, and its position relative to the chunk's origin, with w = 1.
typedef struct local_slave {
  _Alignas(32) yw_float4 v;
  yw_float4 place;
} local_slave;

YW_LANE_FN yw_float4 place_from(yw_float4 origin, const yw_vec4* place) {
  yw_float4 from = yw_float4_load(place) - origin;
  return __builtin_shufflevector(from, (yw_float4){1.0f}, 0, 1, 2, 4);
}

YW_LANE_FN void load_locals(const plastic_body* body, const yw_vec4* v, int32_t chunk,
                            local_slave* out) {
  yw_float4 origin = yw_float4_load(&body->origin[chunk]);
  int32_t first = body->local_start[chunk], count = body->local_start[chunk + 1] - first;
  for (int32_t i = 0; i < count; ++i) {
    int32_t s = body->local_slave[first + i];
    if (i + SLAVES_AHEAD < count) {
      int32_t next = body->local_slave[first + i + SLAVES_AHEAD];
      __builtin_prefetch(&body->slave_pos[next]);
      if (v) __builtin_prefetch(&v[next]);
    }
    out[i] = (local_slave){v ? yw_float4_load(&v[s]) : (yw_float4){0},
                           place_from(origin, &body->slave_pos[s])};
  }
}

YW_LANE_FN void clear_parts(yw_vec4* parts, const plastic_body* body, int32_t chunk) {
  int32_t first = body->local_start[chunk], end = body->local_start[chunk + 1];
  memset(parts, 0, (size_t)(end - first) * sizeof *parts);
}

// Prefetches the parts of a slave.
YW_LANE_FN void ask_parts(const plastic_body* body, const yw_vec4* parts, int32_t s) {
  if (s >= body->num_slaves) return;
  for (int32_t e = body->part_start[s]; e < body->part_start[s + 1]; ++e) {
    __builtin_prefetch(&parts[body->part_at[e]], 0, 2);
  }
}

YW_LANE_FN yw_float4 sum_parts(const plastic_body* body, const yw_vec4* parts, int32_t s) {
  yw_float4 sum = {0};
  for (int32_t e = body->part_start[s]; e < body->part_start[s + 1]; ++e) {
    sum += yw_float4_load(&parts[body->part_at[e]]);
  }
  return sum;
}

// Rows --------------------------------------------------------------------------------------------
//
// Four pairs at a time: in one register if it is wide enough, in four otherwise. At any width, sums
// run over every fourth pair, then over the four.

// Rows of 16 masters, one after another.
typedef struct pair_rows {
  _Alignas(64) yw_vec4 row[YW_LANES * PLASTIC_MAX_ROW];
} pair_rows;

typedef struct gathered {
  yw_float4 x, y, z, n;  // columns of sum N v (x_s - c)^T, and sum N v
} gathered;

typedef enum gather_what {
  ROWS_ALONE,
  ROWS_AND_GRADIENT,
  ROWS_GRADIENT_AND_MEAN,
} gather_what;

// The pairs of a master.
typedef struct pair_range {
  const uint16_t* column;
  const float* share;
  yw_vec4* row;
  int32_t count;  // a multiple of four
} pair_range;

YW_LANE_FN pair_range pairs_of(const plastic_body* body, int32_t m, pair_rows* rows) {
  size_t first = 4 * (size_t)body->four_start[m];
  size_t base = 4 * (size_t)body->four_start[m / YW_LANES * YW_LANES];
  return (pair_range){body->local_column + first, body->share + first, rows->row + (first - base),
                      4 * body->four_start[m + 1] - (int32_t)first};
}

#if YW_VF_LANES == 16
typedef __m512 four;
YW_LANE_FN four four_load(const void* from) { return _mm512_load_ps(from); }
YW_LANE_FN four two_locals(const local_slave* a, const local_slave* b) {
  __m256 low = _mm256_load_ps((const float*)a), high = _mm256_load_ps((const float*)b);
  return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}
YW_LANE_FN yw_float4 four_sum(four f) {
  __m256 half = _mm256_add_ps(_mm512_castps512_ps256(f), _mm512_extractf32x8_ps(f, 1));
  return (yw_float4)_mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}
#define FOUR_SPREAD(f, i) _mm512_permute_ps(f, (i)*0x55)
#define FOUR_MAD(a, b, c) _mm512_add_ps(a, _mm512_mul_ps(b, c))

// Builds the rows of a master, and sums over them.
YW_LANE_FN gathered make_row(const pair_range* pairs, const local_slave* locals, yw_float4 center,
                             gather_what what) {
  const __m512i each = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  four c = _mm512_broadcast_f32x4((__m128)center);
  four x = _mm512_setzero_ps(), y = x, z = x, n = x;
  for (int32_t e = 0; e < pairs->count; e += 4) {
    const uint16_t* at = pairs->column + e;
    four low = two_locals(&locals[at[0]], &locals[at[1]]);
    four high = two_locals(&locals[at[2]], &locals[at[3]]);
    four place = _mm512_shuffle_f32x4(low, high, 0xdd);
    four share = _mm512_broadcast_f32x4(_mm_loadu_ps(pairs->share + e));
    four row = _mm512_mul_ps(_mm512_sub_ps(place, c), _mm512_permutevar_ps(share, each));
    _mm512_store_ps(pairs->row + e, row);
    if (what == ROWS_ALONE) continue;
    four value = _mm512_shuffle_f32x4(low, high, 0x88);
    x = FOUR_MAD(x, value, FOUR_SPREAD(row, 0));
    y = FOUR_MAD(y, value, FOUR_SPREAD(row, 1));
    z = FOUR_MAD(z, value, FOUR_SPREAD(row, 2));
    if (what == ROWS_GRADIENT_AND_MEAN) n = FOUR_MAD(n, value, FOUR_SPREAD(row, 3));
  }
  if (what == ROWS_ALONE) return (gathered){0};
  return (gathered){four_sum(x), four_sum(y), four_sum(z), four_sum(n)};
}

// Adds the rows of pairs times the columns of a matrix to the parts of their slaves.
YW_LANE_FN void scatter_row(const pair_range* pairs, const plastic_row* a, yw_vec4* parts,
                            bool with_n) {
  four x = _mm512_broadcast_f32x4((__m128)yw_float4_load(&a->x));
  four y = _mm512_broadcast_f32x4((__m128)yw_float4_load(&a->y));
  four z = _mm512_broadcast_f32x4((__m128)yw_float4_load(&a->z));
  four n = _mm512_broadcast_f32x4((__m128)yw_float4_load(&a->n));
  for (int32_t e = 0; e < pairs->count; e += 4) {
    four row = four_load(pairs->row + e);
    four sum = _mm512_mul_ps(x, FOUR_SPREAD(row, 0));
    sum = FOUR_MAD(sum, y, FOUR_SPREAD(row, 1));
    sum = FOUR_MAD(sum, z, FOUR_SPREAD(row, 2));
    if (with_n) sum = FOUR_MAD(sum, n, FOUR_SPREAD(row, 3));
    yw_float4 q[4] = {
        (yw_float4)_mm512_castps512_ps128(sum), (yw_float4)_mm512_extractf32x4_ps(sum, 1),
        (yw_float4)_mm512_extractf32x4_ps(sum, 2), (yw_float4)_mm512_extractf32x4_ps(sum, 3)};
    for (int k = 0; k < 4; ++k) {
      yw_vec4* part = &parts[pairs->column[e + k]];
      yw_float4_store(part, yw_float4_load(part) + q[k]);
    }
  }
}
#else
YW_LANE_FN gathered make_row(const pair_range* pairs, const local_slave* locals, yw_float4 center,
                             gather_what what) {
  gathered sum[4];
  for (int k = 0; k < 4; ++k) {
    yw_float4 x = {0}, y = {0}, z = {0}, n = {0};
    for (int32_t e = k; e < pairs->count; e += 4) {
      const local_slave* local = &locals[pairs->column[e]];
      yw_float4 row = (local->place - center) * pairs->share[e];
      yw_float4_store(pairs->row + e, row);
      if (what == ROWS_ALONE) continue;
      x += local->v * YW_FLOAT4_SPREAD(row, 0);
      y += local->v * YW_FLOAT4_SPREAD(row, 1);
      z += local->v * YW_FLOAT4_SPREAD(row, 2);
      if (what == ROWS_GRADIENT_AND_MEAN) n += local->v * YW_FLOAT4_SPREAD(row, 3);
    }
    sum[k] = (gathered){x, y, z, n};
  }
  return (gathered){
      (sum[0].x + sum[2].x) + (sum[1].x + sum[3].x), (sum[0].y + sum[2].y) + (sum[1].y + sum[3].y),
      (sum[0].z + sum[2].z) + (sum[1].z + sum[3].z), (sum[0].n + sum[2].n) + (sum[1].n + sum[3].n)};
}

YW_LANE_FN void scatter_row(const pair_range* pairs, const plastic_row* a, yw_vec4* parts,
                            bool with_n) {
  yw_float4 x = yw_float4_load(&a->x), y = yw_float4_load(&a->y), z = yw_float4_load(&a->z),
            n = yw_float4_load(&a->n);
  for (int32_t e = 0; e < pairs->count; ++e) {
    yw_float4 row = yw_float4_load(pairs->row + e);
    yw_vec4* part = &parts[pairs->column[e]];
    yw_float4 sum = (x * YW_FLOAT4_SPREAD(row, 0) + y * YW_FLOAT4_SPREAD(row, 1)) +
                    z * YW_FLOAT4_SPREAD(row, 2);
    if (with_n) sum += n * YW_FLOAT4_SPREAD(row, 3);
    yw_float4_store(part, yw_float4_load(part) + sum);
  }
}
#endif

// Blocks of rows ----------------------------------------------------------------------------------

YW_LANE_FN yw_float4 center_of(const plastic_work_block* work, int32_t lane) {
  return (yw_float4){work->center[0][lane], work->center[1][lane], work->center[2][lane], 0.0f};
}

// Transposes the sums of 16 masters into lanes.
YW_LANE_FN void sums_to_lanes(const gathered sums[YW_LANES], yw_mat3x16* l,
                              float moved[4][YW_LANES]) {
  for (int32_t k = 0; k < YW_LANES; k += 4) {
    const gathered* s = &sums[k];
    yw_float4 x[4] = {s[0].x, s[1].x, s[2].x, s[3].x}, y[4] = {s[0].y, s[1].y, s[2].y, s[3].y};
    yw_float4 z[4] = {s[0].z, s[1].z, s[2].z, s[3].z}, n[4] = {s[0].n, s[1].n, s[2].n, s[3].n};
    yw_float4_transpose(x);
    yw_float4_transpose(y);
    yw_float4_transpose(z);
    for (int i = 0; i < 3; ++i) {
      yw_float4_store(l->m[3 * i] + k, x[i]);
      yw_float4_store(l->m[3 * i + 1] + k, y[i]);
      yw_float4_store(l->m[3 * i + 2] + k, z[i]);
    }
    if (!moved) continue;
    yw_float4_transpose(n);
    for (int i = 0; i < 4; ++i) yw_float4_store(moved[i] + k, n[i]);
  }
}

// Transposes matrices in lanes into columns.
YW_LANE_FN void lanes_to_columns(const yw_mat3x16* a, plastic_row out[YW_LANES]) {
  for (int32_t k = 0; k < YW_LANES; k += 4) {
    yw_float4 x[4] = {yw_float4_load(a->m[0] + k), yw_float4_load(a->m[3] + k),
                      yw_float4_load(a->m[6] + k)};
    yw_float4 y[4] = {yw_float4_load(a->m[1] + k), yw_float4_load(a->m[4] + k),
                      yw_float4_load(a->m[7] + k)};
    yw_float4 z[4] = {yw_float4_load(a->m[2] + k), yw_float4_load(a->m[5] + k),
                      yw_float4_load(a->m[8] + k)};
    yw_float4_transpose(x);
    yw_float4_transpose(y);
    yw_float4_transpose(z);
    for (int i = 0; i < 4; ++i) {
      yw_float4_store(&out[k + i].x, x[i]);
      yw_float4_store(&out[k + i].y, y[i]);
      yw_float4_store(&out[k + i].z, z[i]);
    }
  }
}

// Prefetches what lane k of a block will read: pairs of 32 slaves.
YW_LANE_FN void ask_pairs(const plastic_body* body, int32_t block, int32_t k) {
  if (block * YW_LANES >= body->num_masters) return;
  size_t first = 4 * (size_t)body->four_start[block * YW_LANES] + 32 * (size_t)k;
  __builtin_prefetch(body->share + first);
  __builtin_prefetch(body->share + first + 16);
  __builtin_prefetch(body->local_column + first);
}

// Builds the rows of 16 masters. Writes sum N v (x_s - c)^T to l and sum N v to `moved`, the latter
// ending with sum N if v.w is 1. Without l, writes neither.
YW_LANE_FN void make_rows(const plastic_body* body, const local_slave* locals, int32_t block,
                          pair_rows* rows, yw_mat3x16* l, float moved[4][YW_LANES]) {
  gathered sums[YW_LANES] = {0};
  for (int32_t k = 0; k < masters_of(body, block); ++k) {
    pair_range pairs = pairs_of(body, block * YW_LANES + k, rows);
    ask_pairs(body, block + 1, k);
    sums[k] = make_row(&pairs, locals, center_of(&body->work[block], k),
                       l ? ROWS_GRADIENT_AND_MEAN : ROWS_ALONE);
  }
  if (l) sums_to_lanes(sums, l, moved);
}

// Rows for contributions to slaves. As printed, forces have their own weight and mass goes by w.
YW_LANE_FN void make_back_rows(const plastic_body* body, const local_slave* locals, int32_t block,
                               pair_rows* rows) {
  if (!body->back_share) {
    make_rows(body, locals, block, rows, NULL, NULL);
    return;
  }
  for (int32_t k = 0; k < masters_of(body, block); ++k) {
    pair_range pairs = pairs_of(body, block * YW_LANES + k, rows);
    const float* back = body->back_share + (pairs.share - body->share);
    float total = body->work[block].inverse[0][k];
    for (int32_t e = 0; e < pairs.count; ++e) {
      yw_float4 arm = locals[pairs.column[e]].place - center_of(&body->work[block], k);
      yw_float4_store(pairs.row + e, arm * back[e]);
      pairs.row[e].w = total * pairs.share[e];
    }
  }
}

// Adds the matrices of 16 masters times their rows to the parts of slaves; n multiplies N.
YW_LANE_FN void scatter_block(const plastic_body* body, pair_rows* rows, int32_t block,
                              const yw_mat3x16* a, const yw_vec4* n, yw_vec4* parts) {
  plastic_row columns[YW_LANES];
  lanes_to_columns(a, columns);
  for (int32_t k = 0; n && k < YW_LANES; ++k) columns[k].n = n[k];
  for (int32_t k = 0; k < masters_of(body, block); ++k) {
    pair_range pairs = pairs_of(body, block * YW_LANES + k, rows);
    scatter_row(&pairs, &columns[k], parts, n != NULL);
  }
}

#endif
