// SPDX-License-Identifier: MIT
// Sums over pairs of masters and slaves, and blocks of 16 masters: what *_kernels.c files share.
#ifndef YW_PLASTIC_PAIRS_H
#define YW_PLASTIC_PAIRS_H

#include "math/lanes_mat3.h"
#include "plastic/phases.h"

// What other files than transfer_kernels.c put into its table, yw_plastic_kernels.
void YW_KERNEL(yw_plastic_stress)(plastic_body* body, yw_particles* particles, int32_t chunk);
void YW_KERNEL(yw_plastic_stiffen)(plastic_body* body, yw_particles* particles, int32_t chunk);
void YW_KERNEL(yw_plastic_multiply)(plastic_body* body, yw_particles* particles, int32_t chunk);
void YW_KERNEL(yw_plastic_block_parts)(plastic_body* body, yw_particles* particles, int32_t chunk);
void YW_KERNEL(yw_plastic_condition)(plastic_body* body, yw_particles* particles, int32_t chunk);
void YW_KERNEL(yw_plastic_flow)(plastic_body* body, yw_particles* particles, int32_t chunk);

typedef float quad __attribute__((vector_size(16)));

#define SPREAD(q, i) __builtin_shufflevector(q, q, i, i, i, i)

YW_LANE_FN quad quad_load(const void* from) {
  quad q;
  memcpy(&q, from, sizeof q);
  return q;
}

YW_LANE_FN void quad_store(void* to, quad q) { memcpy(to, &q, sizeof q); }

// Pairs -------------------------------------------------------------------------------------------
//
// Four rows {gx, gy, gz, N} at a time: one register where there is one that wide, four otherwise.
// Sums run over every fourth pair, then over the four, at any width.

typedef struct gathered {
  quad x, y, z, n;  // columns of sum v G^T, and sum N v
} gathered;

// What is left of a row after full fours: zeros follow.
typedef struct row_tail {
  _Alignas(64) yw_vec4 row[4];
  uint16_t column[4];
} row_tail;

YW_LANE_FN row_tail tail_of(const yw_vec4* rows, const uint16_t* column, int32_t count) {
  row_tail tail = {0};
  for (int32_t k = 0; k < count; ++k) tail.row[k] = rows[k], tail.column[k] = column[k];
  return tail;
}

#if YW_VF_LANES == 16
typedef __m512 four;
YW_LANE_FN four four_load(const void* from) { return _mm512_loadu_ps(from); }
YW_LANE_FN four four_of(const quad* v, const uint16_t* at) {
  __m512 f = _mm512_castps128_ps512((__m128)v[at[0]]);
  f = _mm512_insertf32x4(f, (__m128)v[at[1]], 1);
  f = _mm512_insertf32x4(f, (__m128)v[at[2]], 2);
  return _mm512_insertf32x4(f, (__m128)v[at[3]], 3);
}
YW_LANE_FN quad four_sum(four f) {
  __m256 half = _mm256_add_ps(_mm512_castps512_ps256(f), _mm512_extractf32x8_ps(f, 1));
  return (quad)_mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}
#define FOUR_SPREAD(f, i) _mm512_permute_ps(f, (i)*0x55)
#define FOUR_MAD(a, b, c) _mm512_add_ps(a, _mm512_mul_ps(b, c))

YW_LANE_FN void gather_four(four sum[4], const yw_vec4* rows, const quad* v, const uint16_t* at,
                            bool with_n) {
  four row = four_load(rows), value = four_of(v, at);
  sum[0] = FOUR_MAD(sum[0], value, FOUR_SPREAD(row, 0));
  sum[1] = FOUR_MAD(sum[1], value, FOUR_SPREAD(row, 1));
  sum[2] = FOUR_MAD(sum[2], value, FOUR_SPREAD(row, 2));
  if (with_n) sum[3] = FOUR_MAD(sum[3], value, FOUR_SPREAD(row, 3));
}

YW_LANE_FN gathered gather_pairs(const yw_vec4* rows, const uint16_t* column, int32_t count,
                                 const quad* v, bool with_n) {
  four sum[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(),
                 _mm512_setzero_ps()};
  int32_t e = 0;
  for (; e + 4 <= count; e += 4) gather_four(sum, rows + e, v, column + e, with_n);
  if (e < count) {
    row_tail tail = tail_of(rows + e, column + e, count - e);
    gather_four(sum, tail.row, v, tail.column, with_n);
  }
  return (gathered){four_sum(sum[0]), four_sum(sum[1]), four_sum(sum[2]), four_sum(sum[3])};
}

// Rows of four pairs times the columns of a matrix, to the parts of four slaves.
YW_LANE_FN void scatter_pairs(const yw_vec4* rows, const uint16_t* column, int32_t count,
                              const gathered* a, yw_vec4* parts, bool with_n) {
  four x = _mm512_broadcast_f32x4((__m128)a->x), y = _mm512_broadcast_f32x4((__m128)a->y);
  four z = _mm512_broadcast_f32x4((__m128)a->z), n = _mm512_broadcast_f32x4((__m128)a->n);
  for (int32_t e = 0; e < count; e += 4) {
    row_tail tail;
    if (e + 4 > count) tail = tail_of(rows + e, column + e, count - e);
    four row = four_load(e + 4 > count ? tail.row : rows + e);
    four sum = _mm512_mul_ps(x, FOUR_SPREAD(row, 0));
    sum = FOUR_MAD(sum, y, FOUR_SPREAD(row, 1));
    sum = FOUR_MAD(sum, z, FOUR_SPREAD(row, 2));
    if (with_n) sum = FOUR_MAD(sum, n, FOUR_SPREAD(row, 3));
    quad q[4] = {(quad)_mm512_castps512_ps128(sum), (quad)_mm512_extractf32x4_ps(sum, 1),
                 (quad)_mm512_extractf32x4_ps(sum, 2), (quad)_mm512_extractf32x4_ps(sum, 3)};
    int32_t left = count - e < 4 ? count - e : 4;
    if (left == 4) {
      for (int k = 0; k < 4; ++k) {
        yw_vec4* part = &parts[column[e + k]];
        quad_store(part, quad_load(part) + q[k]);
      }
    } else {
      for (int k = 0; k < left; ++k) {
        yw_vec4* part = &parts[column[e + k]];
        quad_store(part, quad_load(part) + q[k]);
      }
    }
  }
}
#else
YW_LANE_FN gathered gather_pairs(const yw_vec4* rows, const uint16_t* column, int32_t count,
                                 const quad* v, bool with_n) {
  gathered sum[4];
  int32_t full = count / 4 * 4;
  row_tail tail = tail_of(rows + full, column + full, count - full);
  for (int k = 0; k < 4; ++k) {
    quad x = {0}, y = {0}, z = {0}, n = {0};
    for (int32_t e = k; e < full; e += 4) {
      quad g = quad_load(&rows[e]), value = v[column[e]];
      x += value * SPREAD(g, 0);
      y += value * SPREAD(g, 1);
      z += value * SPREAD(g, 2);
      if (with_n) n += value * SPREAD(g, 3);
    }
    if (full < count) {
      quad g = quad_load(&tail.row[k]), value = v[tail.column[k]];
      x += value * SPREAD(g, 0);
      y += value * SPREAD(g, 1);
      z += value * SPREAD(g, 2);
      if (with_n) n += value * SPREAD(g, 3);
    }
    sum[k] = (gathered){x, y, z, n};
  }
  return (gathered){
      (sum[0].x + sum[2].x) + (sum[1].x + sum[3].x), (sum[0].y + sum[2].y) + (sum[1].y + sum[3].y),
      (sum[0].z + sum[2].z) + (sum[1].z + sum[3].z), (sum[0].n + sum[2].n) + (sum[1].n + sum[3].n)};
}

YW_LANE_FN void scatter_pairs(const yw_vec4* rows, const uint16_t* column, int32_t count,
                              const gathered* a, yw_vec4* parts, bool with_n) {
  for (int32_t e = 0; e < count; ++e) {
    quad g = quad_load(&rows[e]);
    yw_vec4* part = &parts[column[e]];
    quad sum = (a->x * SPREAD(g, 0) + a->y * SPREAD(g, 1)) + a->z * SPREAD(g, 2);
    if (with_n) sum += a->n * SPREAD(g, 3);
    quad_store(part, quad_load(part) + sum);
  }
}
#endif

// Vectors of the slaves of a chunk, side by side.
YW_LANE_FN void load_locals(const plastic_body* body, const yw_vec4* v, int32_t chunk, quad* out) {
  int32_t first = body->local_start[chunk], end = body->local_start[chunk + 1];
  for (int32_t i = first; i < end; ++i) out[i - first] = quad_load(&v[body->local_slave[i]]);
}

YW_LANE_FN void clear_parts(yw_vec4* parts, const plastic_body* body, int32_t chunk) {
  int32_t first = body->local_start[chunk], end = body->local_start[chunk + 1];
  memset(parts, 0, (size_t)(end - first) * sizeof *parts);
}

// Matrix of a master times {G, N} to the parts of its slaves.
YW_LANE_FN void scatter_master(const plastic_body* body, yw_vec4* parts, int32_t m,
                               const plastic_row* matrix, bool with_n) {
  const yw_vec4* rows = body->back_row ? body->back_row : body->row;
  gathered a = {quad_load(&matrix->x), quad_load(&matrix->y), quad_load(&matrix->z),
                quad_load(&matrix->n)};
  int32_t first = body->row_start[m];
  scatter_pairs(rows + first, body->local_column + first, body->row_start[m + 1] - first, &a, parts,
                with_n);
}

// Rows of the masters of a chunk to its parts.
YW_LANE_FN void scatter_rows(const plastic_body* body, int32_t chunk) {
  yw_vec4* parts = body->parts + body->local_start[chunk];
  int32_t first = chunk * PLASTIC_CHUNK, end = first + PLASTIC_CHUNK;
  if (end > body->num_masters) end = body->num_masters;
  clear_parts(parts, body, chunk);
  for (int32_t m = first; m < end; ++m) scatter_master(body, parts, m, &body->rows[m], true);
}

YW_LANE_FN quad sum_parts(const plastic_body* body, const yw_vec4* parts, int32_t s) {
  quad sum = {0};
  for (int32_t e = body->part_start[s]; e < body->part_start[s + 1]; ++e) {
    sum += quad_load(&parts[body->part_at[e]]);
  }
  return sum;
}

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

// L of 16 masters, and sum N v in `moved`, with sum N last where v.w is 1.
YW_LANE_FN void gather_block(const plastic_body* body, const quad* v, int32_t block, yw_mat3x16* l,
                             float moved[4][YW_LANES]) {
  _Alignas(64) float columns[YW_LANES][16];
  for (int32_t lane = 0; lane < YW_LANES; ++lane) {
    int32_t m = block * YW_LANES + lane;
    if (m < body->num_masters) {
      int32_t first = body->row_start[m], count = body->row_start[m + 1] - first;
      gathered sum = gather_pairs(body->row + first, body->local_column + first, count, v, moved);
      memcpy(columns[lane], &sum, sizeof sum);
    } else {
      memset(columns[lane], 0, sizeof columns[lane]);
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < YW_LANES; ++k) l->m[3 * i + j][k] = columns[k][4 * j + i];
    }
  }
  for (int i = 0; moved && i < 4; ++i) {
    for (int k = 0; k < YW_LANES; ++k) moved[i][k] = columns[k][12 + i];
  }
}

// Matrices of 16 masters to their rows, and numbers in the fourth places of the columns.
YW_LANE_FN void write_rows(plastic_row* rows, int32_t count, const yw_mat3x16* a,
                           float extra[2][YW_LANES]) {
  for (int32_t k = 0; k < count; ++k) {
    float x = extra ? extra[0][k] : 0.0f, y = extra ? extra[1][k] : 0.0f;
    rows[k].x = (yw_vec4){a->m[0][k], a->m[3][k], a->m[6][k], x};
    rows[k].y = (yw_vec4){a->m[1][k], a->m[4][k], a->m[7][k], y};
    rows[k].z = (yw_vec4){a->m[2][k], a->m[5][k], a->m[8][k], 0.0f};
    rows[k].n = (yw_vec4){0};
  }
}

YW_LANE_FN yw_lanes_mat3 load_mat3(const float* m, int32_t lane) {
  return yw_lanes_mat3_load((const yw_mat3x16*)m, lane);
}

// a b^T
YW_LANE_FN yw_lanes_mat3 mul_nt(const yw_lanes_mat3* a, const yw_lanes_mat3* b) {
  return (yw_lanes_mat3){
      a->xx * b->xx + a->xy * b->xy + a->xz * b->xz, a->xx * b->yx + a->xy * b->yy + a->xz * b->yz,
      a->xx * b->zx + a->xy * b->zy + a->xz * b->zz, a->yx * b->xx + a->yy * b->xy + a->yz * b->xz,
      a->yx * b->yx + a->yy * b->yy + a->yz * b->yz, a->yx * b->zx + a->yy * b->zy + a->yz * b->zz,
      a->zx * b->xx + a->zy * b->xy + a->zz * b->xz, a->zx * b->yx + a->zy * b->yy + a->zz * b->yz,
      a->zx * b->zx + a->zy * b->zy + a->zz * b->zz};
}

YW_LANE_FN yw_lanes_mat3 mul_sym(const yw_lanes_mat3* a, const yw_lanes_sym3* s) {
  return (yw_lanes_mat3){
      a->xx * s->xx + a->xy * s->xy + a->xz * s->xz, a->xx * s->xy + a->xy * s->yy + a->xz * s->yz,
      a->xx * s->xz + a->xy * s->yz + a->xz * s->zz, a->yx * s->xx + a->yy * s->xy + a->yz * s->xz,
      a->yx * s->xy + a->yy * s->yy + a->yz * s->yz, a->yx * s->xz + a->yy * s->yz + a->yz * s->zz,
      a->zx * s->xx + a->zy * s->xy + a->zz * s->xz, a->zx * s->xy + a->zy * s->yy + a->zz * s->yz,
      a->zx * s->xz + a->zy * s->yz + a->zz * s->zz};
}

#endif
