// SPDX-License-Identifier: MIT
// What a step does with masters, 16 at a time, and with slaves, one after another.
//
// Energy per rest volume: mu sum (sigma_a - 1)^2 + lambda/2 (J - 1)^2, sigma_a the elastic
// stretches and J their product. Force on a slave (11): -sum V0 tau G, the exact adjoint of the
// gradient that changes F_E, so that the tangent is symmetric and momentum is kept.
#include <math.h>

#include "math/lanes_mat3.h"
#include "plastic/phases.h"

typedef float quad __attribute__((vector_size(16)));

#define SPREAD(q, i) __builtin_shufflevector(q, q, i, i, i, i)
// Sweeps of rotations that make the columns of F_E orthogonal, at most; columns that are orthogonal
// already are left alone.
#define MAX_SWEEPS 6
#define ORTHOGONAL 1e-13f
// Bounds of det F_P.
#define LEAST_DET 0.05f
#define MOST_DET 20.0f
// Slaves move along with at most this much deformation per step.
#define MOST_MOTION 0.5f

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

static void scatter(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
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
static void write_rows(plastic_row* rows, int32_t count, const yw_mat3x16* a,
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

// Mass and momentum -------------------------------------------------------------------------------

// Rows of m (N v + C D_N G): since N (r - r̄) = D_N G, this is m N [v + C (r - r̄)].
YW_LANE_FN void spread_affine(plastic_body* body, yw_particles* particles, int32_t chunk,
                              bool motion) {
  block_range range = blocks_of(body, chunk);
  float h = body->model->spacing, h2 = h * h;
  for (int32_t block = range.first; block < range.end; ++block) {
    const plastic_work_block* work = &body->work[block];
    yw_mat3x16 rows;
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_lanes_mat3 c = load_mat3(motion ? work->l[0] : body->state[block].c[0], lane);
      yw_lanes_sym3 d = yw_lanes_sym3_load((const yw_sym3x16*)work->moment, lane);
      yw_lanes_mat3 b = mul_sym(&c, &d);
      yw_vf scale = h2 * yw_vf_load(particles->mass + block * YW_LANES + lane);
      if (motion) {
        yw_vf turn = body->dt * yw_vf_sqrt(yw_lanes_mat3_norm2(&c));
        scale *= yw_vf_min(yw_vf_splat(1.0f), MOST_MOTION / yw_vf_max(turn, yw_vf_splat(1e-20f)));
      }
      b = yw_lanes_mat3_scale(&b, scale);
      yw_lanes_mat3_store(&rows, lane, &b);
    }
    write_rows(body->rows + block * YW_LANES, masters_of(body, block), &rows, NULL);
    for (int32_t k = 0; k < masters_of(body, block); ++k) {
      int32_t m = block * YW_LANES + k;
      yw_vec4 v = particles->vel[m];
      float mass = particles->mass[m];
      body->rows[m].n = (yw_vec4){mass * v.x, mass * v.y, mass * v.z, mass};
    }
  }
}

static void spread(plastic_body* body, yw_particles* particles, int32_t chunk) {
  spread_affine(body, particles, chunk, false);
  scatter(body, particles, chunk);
}

static void spread_motion(plastic_body* body, yw_particles* particles, int32_t chunk) {
  spread_affine(body, particles, chunk, true);
  scatter(body, particles, chunk);
}

// Stress ------------------------------------------------------------------------------------------

typedef struct principal {
  yw_vf s[3], mu, lambda, j, volume;
} principal;

// In the principal frame: the diagonal block, weighted with stretches on both sides. What could
// make it indefinite, lambda (J - 1) sigma_c, is limited by 2 mu.
YW_LANE_FN yw_lanes_sym3 diagonal_tangent(const principal* p, yw_vf scale) {
  yw_vf a = p->s[0], b = p->s[1], c = p->s[2], mu2 = 2.0f * p->mu;
  yw_vf bend = p->lambda * (p->j - 1.0f), least = yw_vf_min(a, yw_vf_min(b, c));
  yw_vf row = yw_vf_abs(bend) * (a + b + c - least);
  bend *= yw_vf_min(yw_vf_splat(1.0f), mu2 / yw_vf_max(row, yw_vf_splat(1e-20f)));
  yw_vf lj = p->lambda * p->j + bend;
  yw_vf bc = b * c, ac = a * c, ab = a * b;
  return (yw_lanes_sym3){scale * a * a * (mu2 + p->lambda * bc * bc),
                         scale * b * b * (mu2 + p->lambda * ac * ac),
                         scale * c * c * (mu2 + p->lambda * ab * ab),
                         scale * a * b * lj * c,
                         scale * a * c * lj * b,
                         scale * b * c * lj * a};
}

// The 2x2 block of the pair (a, b), c the third: (ab,ab), (ab,ba), (ba,ba).
YW_LANE_FN void shear_tangent(const principal* p, yw_vf scale, yw_vf a, yw_vf b, yw_vf c,
                              yw_vf out[3]) {
  yw_vf zero = yw_vf_splat(0.0f), mu2 = 2.0f * p->mu, bend = p->lambda * (p->j - 1.0f) * c;
  yw_vf twist = 2.0f * mu2 / yw_vf_max(a + b, yw_vf_splat(1e-3f));
  yw_vf even = 0.5f * yw_vf_max(mu2 - bend, zero);
  yw_vf odd = 0.5f * yw_vf_max(mu2 - twist + bend, zero);
  out[0] = scale * (even + odd) * b * b;
  out[1] = scale * (even - odd) * a * b;
  out[2] = scale * (even + odd) * a * a;
}

static void stress(plastic_body* body, yw_particles* particles, int32_t chunk) {
  block_range range = blocks_of(body, chunk);
  float dt2 = body->dt * body->dt;
  for (int32_t block = range.first; block < range.end; ++block) {
    const plastic_material_block* material = &body->model->materials[block];
    const plastic_state_block* state = &body->state[block];
    plastic_work_block* work = &body->work[block];
    yw_mat3x16 rows;
    _Alignas(64) float extra[2][YW_LANES];
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_vf harden = yw_vf_load(state->harden + lane);
      principal p = {.mu = harden * yw_vf_load(material->mu + lane),
                     .lambda = harden * yw_vf_load(material->lambda + lane),
                     .volume = yw_vf_load(state->volume + lane)};
      for (int a = 0; a < 3; ++a) p.s[a] = yw_vf_load(state->sigma[a] + lane);
      p.j = p.s[0] * p.s[1] * p.s[2];
      // -V0 tau = U diag(t) U^T
      yw_vf pressure = p.lambda * p.j * (p.j - 1.0f), t[3];
      for (int a = 0; a < 3; ++a) {
        t[a] = -p.volume * (2.0f * p.mu * (p.s[a] - 1.0f) * p.s[a] + pressure);
      }
      yw_lanes_mat3 u = load_mat3(state->u[0], lane);
      yw_lanes_mat3 ut = {u.xx * t[0], u.xy * t[1], u.xz * t[2], u.yx * t[0], u.yy * t[1],
                          u.yz * t[2], u.zx * t[0], u.zy * t[1], u.zz * t[2]};
      yw_lanes_mat3 tau = mul_nt(&ut, &u);
      yw_lanes_mat3_store(&rows, lane, &tau);

      yw_vf scale = dt2 * p.volume, pair[3][3];
      yw_lanes_sym3 diagonal = diagonal_tangent(&p, scale);
      yw_lanes_sym3_store((yw_sym3x16*)work->diagonal, lane, &diagonal);
      shear_tangent(&p, scale, p.s[0], p.s[1], p.s[2], pair[0]);
      shear_tangent(&p, scale, p.s[0], p.s[2], p.s[1], pair[1]);
      shear_tangent(&p, scale, p.s[1], p.s[2], p.s[0], pair[2]);
      for (int k = 0; k < 9; ++k) yw_vf_store(work->shear[k] + lane, pair[k / 3][k % 3]);

      // Mean stiffness against shear and stretch, for the preconditioner.
      yw_vf shear = (pair[0][0] + pair[0][2] + pair[1][0] + pair[1][2] + pair[2][0] + pair[2][2]) *
                    (1.0f / 6.0f);
      yw_vf stretch = (diagonal.xx + diagonal.yy + diagonal.zz) * (1.0f / 3.0f);
      yw_vf_store(extra[0] + lane, shear);
      yw_vf_store(extra[1] + lane, stretch - shear);
    }
    write_rows(body->rows + block * YW_LANES, masters_of(body, block), &rows, extra);
    for (int32_t k = 0; k < masters_of(body, block); ++k) {
      body->rows[block * YW_LANES + k].n = body->pull[block * YW_LANES + k];
    }
  }
  scatter(body, particles, chunk);
}

// The tangent -------------------------------------------------------------------------------------

// U Y U^T of W = U^T L U.
YW_LANE_FN yw_lanes_mat3 tangent_times(const plastic_work_block* work, const yw_lanes_mat3* u,
                                       const yw_lanes_mat3* l, int32_t lane) {
  yw_lanes_mat3 lu = yw_lanes_mat3_mul(l, u), w = yw_lanes_mat3_mul_tn(u, &lu);
  yw_lanes_sym3 d = yw_lanes_sym3_load((const yw_sym3x16*)work->diagonal, lane);
  yw_vf k[9];
  for (int i = 0; i < 9; ++i) k[i] = yw_vf_load(work->shear[i] + lane);
  yw_lanes_mat3 y = {d.xx * w.xx + d.xy * w.yy + d.xz * w.zz,
                     k[0] * w.xy + k[1] * w.yx,
                     k[3] * w.xz + k[4] * w.zx,
                     k[1] * w.xy + k[2] * w.yx,
                     d.xy * w.xx + d.yy * w.yy + d.yz * w.zz,
                     k[6] * w.yz + k[7] * w.zy,
                     k[4] * w.xz + k[5] * w.zx,
                     k[7] * w.yz + k[8] * w.zy,
                     d.xz * w.xx + d.yz * w.yy + d.zz * w.zz};
  yw_lanes_mat3 uy = yw_lanes_mat3_mul(u, &y);
  return mul_nt(&uy, u);
}

// Directions of the slaves of a chunk after the step that is due, as `multiply` has them.
YW_LANE_FN void next_directions(const plastic_body* body, int32_t chunk, quad* out) {
  int32_t first = body->local_start[chunk], end = body->local_start[chunk + 1];
  for (int32_t i = first; i < end; ++i) {
    int32_t s = body->local_slave[i];
    quad z = quad_load(&body->steep[s]) - body->alpha * quad_load(&body->image[s]);
    out[i - first] = z + body->beta * quad_load(&body->direction[s]);
  }
}

// Rows are read once: what 16 masters gathered from them is scattered while they are at hand.
static void stiffen(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  quad locals[PLASTIC_MAX_LOCALS];
  yw_vec4* parts = body->parts + body->local_start[chunk];
  block_range range = blocks_of(body, chunk);
  next_directions(body, chunk, locals);
  clear_parts(parts, body, chunk);
  for (int32_t block = range.first; block < range.end; ++block) {
    yw_mat3x16 l;
    plastic_row rows[YW_LANES];
    gather_block(body, locals, block, &l, NULL);
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_lanes_mat3 gradient = yw_lanes_mat3_load(&l, lane);
      yw_lanes_mat3 u = load_mat3(body->state[block].u[0], lane);
      yw_lanes_mat3 k = tangent_times(&body->work[block], &u, &gradient, lane);
      yw_lanes_mat3_store(&l, lane, &k);
    }
    int32_t count = masters_of(body, block);
    write_rows(rows, count, &l, NULL);
    for (int32_t k = 0; k < count; ++k) {
      scatter_master(body, parts, block * YW_LANES + k, &rows[k], false);
    }
  }
}

// Flow --------------------------------------------------------------------------------------------

typedef struct column {
  yw_vf x, y, z;
} column;

YW_LANE_FN yw_vf dot(const column* a, const column* b) {
  return a->x * b->x + a->y * b->y + a->z * b->z;
}

// Makes two columns orthogonal by a rotation of the pair. Returns lanes where that was due.
YW_LANE_FN uint32_t part_columns(column* p, column* q) {
  yw_vf pp = dot(p, p), qq = dot(q, q), pq = dot(p, q);
  yw_vi due = pq * pq > ORTHOGONAL * pp * qq;
  uint32_t bits = yw_vi_bits(due);
  if (bits == 0) return 0;
  yw_vf one = yw_vf_splat(1.0f), zeta = (qq - pp) / (2.0f * yw_vf_select(due, pq, one));
  yw_vf t = 1.0f / (yw_vf_abs(zeta) + yw_vf_sqrt(1.0f + zeta * zeta));
  t = yw_vf_select(zeta < 0.0f, -t, t);
  yw_vf c = 1.0f / yw_vf_sqrt(1.0f + t * t), s = c * t;
  c = yw_vf_select(due, c, one);
  s = yw_vf_select(due, s, yw_vf_splat(0.0f));
  column a = *p, b = *q;
  *p = (column){c * a.x - s * b.x, c * a.y - s * b.y, c * a.z - s * b.z};
  *q = (column){s * a.x + c * b.x, s * a.y + c * b.y, s * a.z + c * b.z};
  return bits;
}

YW_LANE_FN column cross(const column* a, const column* b) {
  return (column){a->y * b->z - a->z * b->y, a->z * b->x - a->x * b->z, a->x * b->y - a->y * b->x};
}

// U and sigma of F = columns, by rotations from the right (Hestenes). U is a proper rotation: where
// F is inside out, the smallest stretch is negative.
YW_LANE_FN void split_stretch(column f[3], yw_vf sigma[3]) {
  for (int sweep = 0; sweep < MAX_SWEEPS; ++sweep) {
    uint32_t due =
        part_columns(&f[0], &f[1]) | part_columns(&f[0], &f[2]) | part_columns(&f[1], &f[2]);
    if (due == 0) break;
  }
  yw_vf one = yw_vf_splat(1.0f);
  for (int a = 0; a < 3; ++a) {
    sigma[a] = yw_vf_sqrt(dot(&f[a], &f[a]));
    yw_vf inv = 1.0f / yw_vf_max(sigma[a], yw_vf_splat(1e-12f));
    f[a] = (column){f[a].x * inv, f[a].y * inv, f[a].z * inv};
  }
  // A stretch that is nothing has no direction of its own.
  for (int a = 0; a < 3; ++a) {
    yw_vi lost = sigma[a] < 1e-6f;
    if (yw_vi_bits(lost) == 0) continue;
    column other = cross(&f[(a + 1) % 3], &f[(a + 2) % 3]);
    f[a] = (column){yw_vf_select(lost, other.x, f[a].x), yw_vf_select(lost, other.y, f[a].y),
                    yw_vf_select(lost, other.z, f[a].z)};
  }
  column normal = cross(&f[0], &f[1]);
  yw_vi mirrored = dot(&normal, &f[2]) < 0.0f;
  if (yw_vi_bits(mirrored) == 0) return;
  yw_vf least = yw_vf_min(sigma[0], yw_vf_min(sigma[1], sigma[2]));
  yw_vi left = mirrored;
  for (int a = 0; a < 3; ++a) {
    yw_vi here = left & (sigma[a] == least);
    left &= ~here;
    yw_vf sign = yw_vf_select(here, -one, one);
    sigma[a] *= sign;
    f[a] = (column){f[a].x * sign, f[a].y * sign, f[a].z * sign};
  }
}

// Return to the von Mises cylinder in logarithmic strain: what is beyond goes, volume stays.
static void flow_von_mises(const plastic_material_block* material, plastic_state_block* state,
                           int32_t lane) {
  if (!(material->yield[lane] < INFINITY)) return;
  float e[3], mean = 0.0f, norm2 = 0.0f;
  for (int a = 0; a < 3; ++a) {
    float s = state->sigma[a][lane];
    e[a] = logf(s > 0.05f ? s : 0.05f);
    mean += e[a] * (1.0f / 3.0f);
  }
  for (int a = 0; a < 3; ++a) norm2 += (e[a] - mean) * (e[a] - mean);
  float hardened = 1.0f + material->xi[lane] * state->strain[lane];
  float limit = hardened * material->yield[lane] / (2.449489743f * material->mu[lane]);
  float norm = sqrtf(norm2);
  if (!(norm > limit)) return;
  for (int a = 0; a < 3; ++a) {
    state->sigma[a][lane] = expf(mean + (e[a] - mean) * (limit / norm));
  }
  state->strain[lane] += 0.8164965809f * (norm - limit);
}

// Stretches beyond the limits become part of F_P (19), (21).
YW_LANE_FN void flow_box(const plastic_material_block* material, plastic_state_block* state,
                         int32_t lane, yw_vf sigma[3]) {
  yw_vf low = yw_vf_load(material->low + lane), high = yw_vf_load(material->high + lane);
  yw_vf before = yw_vf_splat(1.0f), after = before, gone2 = yw_vf_splat(0.0f);
  for (int a = 0; a < 3; ++a) {
    yw_vf kept = yw_vf_min(yw_vf_max(sigma[a], low), high);
    yw_vf share = (sigma[a] - kept) / yw_vf_max(yw_vf_abs(kept), yw_vf_splat(1e-6f));
    gone2 += share * share;
    before *= sigma[a];
    after *= kept;
    sigma[a] = kept;
  }
  yw_vi flowed = gone2 > 0.0f;
  if (yw_vi_bits(flowed) == 0) return;
  yw_vf det = yw_vf_load(state->det_p + lane);
  yw_vf next = det * before / yw_vf_select(flowed, after, yw_vf_splat(1.0f));
  next = yw_vf_min(yw_vf_max(next, yw_vf_splat(LEAST_DET)), yw_vf_splat(MOST_DET));
  yw_vf_store(state->det_p + lane, yw_vf_select(flowed, next, det));
  yw_vf strain = yw_vf_load(state->strain + lane) + yw_vf_sqrt(gone2 * (2.0f / 3.0f));
  yw_vf_store(state->strain + lane, yw_vf_select(flowed, strain, yw_vf_load(state->strain + lane)));
}

// F_E = (1 + dt L) F_E, then flow.
static void flow_block(plastic_body* body, int32_t block) {
  const plastic_material_block* material = &body->model->materials[block];
  plastic_state_block* state = &body->state[block];
  plastic_work_block* work = &body->work[block];
  for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
    yw_lanes_mat3 l = load_mat3(work->l[0], lane), u = load_mat3(state->u[0], lane);
    yw_lanes_mat3 lu = yw_lanes_mat3_mul(&l, &u);
    yw_vf dt = yw_vf_splat(body->dt), sigma[3];
    for (int a = 0; a < 3; ++a) sigma[a] = yw_vf_load(state->sigma[a] + lane);
    column f[3] = {{sigma[0] * (u.xx + dt * lu.xx), sigma[0] * (u.yx + dt * lu.yx),
                    sigma[0] * (u.zx + dt * lu.zx)},
                   {sigma[1] * (u.xy + dt * lu.xy), sigma[1] * (u.yy + dt * lu.yy),
                    sigma[1] * (u.zy + dt * lu.zy)},
                   {sigma[2] * (u.xz + dt * lu.xz), sigma[2] * (u.yz + dt * lu.yz),
                    sigma[2] * (u.zz + dt * lu.zz)}};
    split_stretch(f, sigma);
    flow_box(material, state, lane, sigma);
    yw_lanes_mat3 next = {f[0].x, f[1].x, f[2].x, f[0].y, f[1].y, f[2].y, f[0].z, f[1].z, f[2].z};
    yw_lanes_mat3_store((yw_mat3x16*)state->u, lane, &next);
    for (int a = 0; a < 3; ++a) yw_vf_store(state->sigma[a] + lane, sigma[a]);
    // C = (1 + eta)/2 L - (1 - eta)/2 L^T
    yw_vf eta = yw_vf_load(material->eta + lane);
    yw_vf p = 0.5f * (1.0f + eta), q = 0.5f * (1.0f - eta);
    yw_lanes_mat3 c = {p * l.xx - q * l.xx, p * l.xy - q * l.yx, p * l.xz - q * l.zx,
                       p * l.yx - q * l.xy, p * l.yy - q * l.yy, p * l.yz - q * l.zy,
                       p * l.zx - q * l.xz, p * l.zy - q * l.yz, p * l.zz - q * l.zz};
    yw_lanes_mat3_store((yw_mat3x16*)state->c, lane, &c);
  }
  for (int32_t k = 0; k < YW_LANES; ++k) flow_von_mises(material, state, k);
  for (int32_t k = 0; k < YW_LANES; ++k) {
    if (material->xi[k] == 0.0f || material->yield[k] < INFINITY) continue;
    float power = material->xi[k] * (1.0f - state->det_p[k]);
    state->harden[k] = expf(power < -20.0f ? -20.0f : power > 4.0f ? 4.0f : power);
  }
}

// As printed: (7) takes velocities from that of the master, (8) keeps a tenth of it.
static void flow_as_printed(const plastic_body* body, const yw_particles* particles, int32_t block,
                            plastic_work_block* work, float moved[4][YW_LANES]) {
  for (int32_t k = 0; k < YW_LANES && block * YW_LANES + k < body->num_masters; ++k) {
    const float* v = &particles->vel[block * YW_LANES + k].x;
    const float* drag = &body->drag[block * YW_LANES + k].x;
    for (int i = 0; i < 9; ++i) work->l[i][k] -= v[i / 3] * drag[i % 3];
    for (int i = 0; i < 3; ++i) moved[i][k] = 0.1f * v[i] + 0.9f * moved[i][k];
  }
}

static void flow(plastic_body* body, yw_particles* particles, int32_t chunk) {
  block_range range = blocks_of(body, chunk);
  float gradient2 = 0.0f;
  quad locals[PLASTIC_MAX_LOCALS];
  load_locals(body, body->solved, chunk, locals);
  for (int32_t block = range.first; block < range.end; ++block) {
    _Alignas(64) float moved[4][YW_LANES];
    plastic_work_block* work = &body->work[block];
    gather_block(body, locals, block, (yw_mat3x16*)work->l, moved);
    if (body->drag) flow_as_printed(body, particles, block, work, moved);
    flow_block(body, block);
    for (int32_t k = 0; k < YW_LANES && block * YW_LANES + k < body->num_masters; ++k) {
      // A master that sees no slave falls freely.
      yw_vec4* v = &particles->vel[block * YW_LANES + k];
      bool is_free = !body->drag && moved[3][k] < 0.5f;
      *v = is_free ? yw_v4(yw_add(yw_xyz(*v), body->fall))
                   : (yw_vec4){moved[0][k], moved[1][k], moved[2][k], 0.0f};
      float sum = 0.0f;
      for (int i = 0; i < 9; ++i) sum += work->l[i][k] * work->l[i][k];
      // NaN must show.
      if (!(sum <= gradient2)) gradient2 = sum;
    }
  }
  body->sums[chunk].gradient2 = gradient2;
}

// Slaves ------------------------------------------------------------------------------------------

static void to_slaves(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_SLAVE_CHUNK, end = first + PLASTIC_SLAVE_CHUNK;
  if (end > body->num_slaves) end = body->num_slaves;
  for (int32_t s = first; s < end; ++s) {
    quad sum = sum_parts(body, body->parts, s);
    float mass = sum[3] > 0.0f ? sum[3] : 0.0f, inv = mass > 0.0f ? 1.0f / mass : 0.0f;
    body->slave_vel[s] = (yw_vec4){sum[0] * inv, sum[1] * inv, sum[2] * inv, mass};
  }
}

static void forces(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_SLAVE_CHUNK, end = first + PLASTIC_SLAVE_CHUNK;
  if (end > body->num_slaves) end = body->num_slaves;
  for (int32_t s = first; s < end; ++s) {
    quad sum = sum_parts(body, body->parts, s);
    body->force[s] = (yw_vec4){sum[0], sum[1], sum[2], 0.0f};
  }
}

// The part of p that contact leaves free.
YW_LANE_FN quad free_part(const yw_vec4* normal, quad p) {
  if (normal->w == 0.0f) return p;
  if (normal->w > 1.0f) return (quad){0};
  quad n = {normal->x, normal->y, normal->z, 0.0f};
  float along = p[0] * n[0] + p[1] * n[1] + p[2] * n[2];
  return p - along * n;
}

YW_LANE_FN quad condition_times(const float b[6], quad r) {
  quad low = quad_load(b), high = quad_load(b + 2);
  quad x = __builtin_shufflevector(low, high, 0, 3, 6, 0);
  quad y = __builtin_shufflevector(low, high, 3, 1, 7, 0);
  quad z = __builtin_shufflevector(low, high, 6, 7, 2, 0);
  quad sum = (x * SPREAD(r, 0) + y * SPREAD(r, 1)) + z * SPREAD(r, 2);
  sum[3] = 0.0f;
  return sum;
}

typedef double wide_sum __attribute__((vector_size(32)));

#define TOTAL(s) (((s)[0] + (s)[1]) + (s)[2])

// What stands in brackets is the step that was due: [x += alpha p, r -= alpha q, z -= alpha u],
// p = z + beta p, q = A p, u = P q, and the sums of p q, r z, z q, q u.
static void multiply(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_SLAVE_CHUNK, end = first + PLASTIC_SLAVE_CHUNK;
  if (end > body->num_slaves) end = body->num_slaves;
  float alpha = body->alpha, beta = body->beta;
  wide_sum pq = {0}, rz = {0}, zq = {0}, qu = {0};
  for (int32_t s = first; s < end; ++s) {
    quad p = quad_load(&body->direction[s]);
    quad x = quad_load(&body->solved[s]) + alpha * p;
    quad r = quad_load(&body->residual[s]) - alpha * quad_load(&body->product[s]);
    quad z = quad_load(&body->steep[s]) - alpha * quad_load(&body->image[s]);
    p = z + beta * p;
    quad q = body->slave_vel[s].w * p + sum_parts(body, body->parts, s);
    q[3] = 0.0f;
    q = free_part(&body->normal[s], q);
    quad u = free_part(&body->normal[s], condition_times(body->inverse[s], q));
    quad_store(&body->solved[s], x);
    quad_store(&body->residual[s], r);
    quad_store(&body->steep[s], z);
    quad_store(&body->direction[s], p);
    quad_store(&body->product[s], q);
    quad_store(&body->image[s], u);
    pq += __builtin_convertvector(p * q, wide_sum);
    rz += __builtin_convertvector(r * z, wide_sum);
    zq += __builtin_convertvector(z * q, wide_sum);
    qu += __builtin_convertvector(q * u, wide_sum);
  }
  plastic_sums* sums = &body->sums[chunk];
  sums->a = TOTAL(pq);
  sums->momentum[0] = TOTAL(rz);
  sums->momentum[1] = TOTAL(zq);
  sums->momentum[2] = TOTAL(qu);
}

// shear |G|^2 + (stretch - shear) G G^T of the rows of stress, to both halves of the parts: xx, yy,
// zz and the isotropic part; xy, yz, zx.
static void block_parts(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  const yw_vec4* rows = body->back_row ? body->back_row : body->row;
  yw_vec4 *a = body->parts + body->local_start[chunk], *b = a + body->num_locals;
  int32_t first = chunk * PLASTIC_CHUNK, end = first + PLASTIC_CHUNK;
  if (end > body->num_masters) end = body->num_masters;
  clear_parts(a, body, chunk);
  clear_parts(b, body, chunk);
  for (int32_t m = first; m < end; ++m) {
    float shear = body->rows[m].x.w, rest = body->rows[m].y.w;
    for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
      int32_t at = body->local_column[e];
      quad g = quad_load(&rows[e]), gg = g * g, kg = rest * g;
      quad own = rest * gg, cross = kg * __builtin_shufflevector(g, g, 1, 2, 0, 3);
      own[3] = shear * ((gg[0] + gg[1]) + gg[2]);
      quad_store(&a[at], quad_load(&a[at]) + own);
      quad_store(&b[at], quad_load(&b[at]) + cross);
    }
  }
}

// Inverse of m + sum of blocks: exact where nothing is deformed.
static void condition(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_SLAVE_CHUNK, end = first + PLASTIC_SLAVE_CHUNK;
  if (end > body->num_slaves) end = body->num_slaves;
  for (int32_t s = first; s < end; ++s) {
    quad own = sum_parts(body, body->parts, s);
    quad mixed = sum_parts(body, body->parts + body->num_locals, s);
    float base = body->slave_vel[s].w + own[3];
    // In units of the base, so that no product leaves the range of floats.
    float unit = base > 1e-30f ? 1.0f / base : 0.0f;
    float xx = 1.0f + unit * own[0], yy = 1.0f + unit * own[1], zz = 1.0f + unit * own[2];
    float xy = unit * mixed[0], yz = unit * mixed[1], xz = unit * mixed[2];
    float cxx = yy * zz - yz * yz, cyy = xx * zz - xz * xz, czz = xx * yy - xy * xy;
    float cxy = xz * yz - xy * zz, cxz = xy * yz - xz * yy, cyz = xy * xz - yz * xx;
    float det = xx * cxx + xy * cxy + xz * cxz, inv = det > 0.0f ? unit / det : 0.0f;
    float* out = body->inverse[s];
    out[0] = cxx * inv, out[1] = cyy * inv, out[2] = czz * inv;
    out[3] = cxy * inv, out[4] = cxz * inv, out[5] = cyz * inv;
  }
}

const plastic_kernels YW_KERNEL(yw_plastic_kernels) = {
    .spread = spread,
    .spread_motion = spread_motion,
    .stress = stress,
    .scatter = scatter,
    .stiffen = stiffen,
    .block_parts = block_parts,
    .flow = flow,
    .to_slaves = to_slaves,
    .forces = forces,
    .multiply = multiply,
    .condition = condition,
};
