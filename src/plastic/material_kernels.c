// SPDX-License-Identifier: MIT
// What a step does with masters, 16 at a time, and with slaves, one after another.
//
// Energy per rest volume: mu sum (sigma_a - 1)^2 + lambda/2 (J - 1)^2, sigma_a the elastic
// stretches and J their product. Force on a slave (11): -sum V0 tau G, the exact adjoint of the
// gradient that changes F_E, so that the tangent is symmetric and momentum is kept.
#include <math.h>

#include "math/lanes_mat3.h"
#include "plastic/body.h"

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
// A row {gx, gy, gz, N} times a vector, or times four of them: one register where there is a
// register that wide, four otherwise.

#if YW_VF_LANES == 16
typedef __m512 four;
YW_LANE_FN four four_of_row(const void* row) {
  const __m512i spread = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  return _mm512_permutexvar_ps(spread, _mm512_castps128_ps512(_mm_load_ps(row)));
}
YW_LANE_FN four four_of_vector(const void* v) { return _mm512_broadcast_f32x4(_mm_load_ps(v)); }
YW_LANE_FN four four_load(const void* from) {
  four f;
  memcpy(&f, from, sizeof f);
  return f;
}
YW_LANE_FN four four_mad(four a, four b, four c) { return _mm512_add_ps(a, _mm512_mul_ps(b, c)); }
YW_LANE_FN four four_add(four a, four b) { return _mm512_add_ps(a, b); }
YW_LANE_FN void four_store(void* to, four f) { memcpy(to, &f, sizeof f); }
#else
typedef struct four {
  quad x, y, z, n;
} four;
YW_LANE_FN four four_of_row(const void* row) {
  quad g = quad_load(row);
  return (four){SPREAD(g, 0), SPREAD(g, 1), SPREAD(g, 2), SPREAD(g, 3)};
}
YW_LANE_FN four four_of_vector(const void* v) {
  quad q = quad_load(v);
  return (four){q, q, q, q};
}
YW_LANE_FN four four_load(const void* from) {
  const float* f = from;
  return (four){quad_load(f), quad_load(f + 4), quad_load(f + 8), quad_load(f + 12)};
}
YW_LANE_FN four four_mad(four a, four b, four c) {
  return (four){a.x + b.x * c.x, a.y + b.y * c.y, a.z + b.z * c.z, a.n + b.n * c.n};
}
YW_LANE_FN four four_add(four a, four b) {
  return (four){a.x + b.x, a.y + b.y, a.z + b.z, a.n + b.n};
}
YW_LANE_FN void four_store(void* to, four f) { memcpy(to, &f, sizeof f); }
#endif

// sum v G^T and sum N v over the row of a master: columns of L, then v.
YW_LANE_FN void gather_master(const plastic_body* body, const yw_vec4* v, int32_t m, float* out) {
  four even = {0}, odd = {0};
  int32_t e = body->row_start[m], end = body->row_start[m + 1];
  for (; e + 1 < end; e += 2) {
    even = four_mad(even, four_of_vector(&v[body->column[e]]), four_of_row(&body->row[e]));
    odd = four_mad(odd, four_of_vector(&v[body->column[e + 1]]), four_of_row(&body->row[e + 1]));
  }
  if (e < end) {
    even = four_mad(even, four_of_vector(&v[body->column[e]]), four_of_row(&body->row[e]));
  }
  four_store(out, four_add(even, odd));
}

// sum over the holders of a slave of their rows times {G, N}.
YW_LANE_FN quad gather_slave(const plastic_body* body, int32_t s) {
  four even = {0}, odd = {0};
  int32_t e = body->holder_start[s], end = body->holder_start[s + 1];
  for (; e + 1 < end; e += 2) {
    even =
        four_mad(even, four_load(&body->rows[body->holder[e]]), four_of_row(&body->holder_row[e]));
    odd = four_mad(odd, four_load(&body->rows[body->holder[e + 1]]),
                   four_of_row(&body->holder_row[e + 1]));
  }
  if (e < end) {
    even =
        four_mad(even, four_load(&body->rows[body->holder[e]]), four_of_row(&body->holder_row[e]));
  }
  _Alignas(64) float sums[16];
  four_store(sums, four_add(even, odd));
  return (quad_load(sums) + quad_load(sums + 4)) + (quad_load(sums + 8) + quad_load(sums + 12));
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

// L of 16 masters, and sum N v in `moved`, with sum N last where v.w is 1.
static void gather_block(const plastic_body* body, const yw_vec4* v, int32_t block, yw_mat3x16* l,
                         float moved[4][YW_LANES]) {
  _Alignas(64) float columns[YW_LANES][16];
  for (int32_t lane = 0; lane < YW_LANES; ++lane) {
    int32_t m = block * YW_LANES + lane;
    if (m < body->num_masters) {
      gather_master(body, v, m, columns[lane]);
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
static void write_rows(plastic_body* body, int32_t block, const yw_mat3x16* a,
                       float extra[2][YW_LANES]) {
  int32_t count = body->num_masters - block * YW_LANES;
  if (count > YW_LANES) count = YW_LANES;
  plastic_row* rows = body->rows + (size_t)block * YW_LANES;
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
    write_rows(body, block, &rows, NULL);
    for (int32_t k = 0; k < YW_LANES && block * YW_LANES + k < body->num_masters; ++k) {
      int32_t m = block * YW_LANES + k;
      yw_vec4 v = particles->vel[m];
      float mass = particles->mass[m];
      body->rows[m].n = (yw_vec4){mass * v.x, mass * v.y, mass * v.z, mass};
    }
  }
}

static void spread(plastic_body* body, yw_particles* particles, int32_t chunk) {
  spread_affine(body, particles, chunk, false);
}

static void spread_motion(plastic_body* body, yw_particles* particles, int32_t chunk) {
  spread_affine(body, particles, chunk, true);
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
  (void)particles;
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
    write_rows(body, block, &rows, extra);
    for (int32_t k = 0; k < YW_LANES && block * YW_LANES + k < body->num_masters; ++k) {
      body->rows[block * YW_LANES + k].n = body->pull[block * YW_LANES + k];
    }
  }
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

static void stiffen(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  block_range range = blocks_of(body, chunk);
  for (int32_t block = range.first; block < range.end; ++block) {
    yw_mat3x16 l;
    gather_block(body, body->direction, block, &l, NULL);
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_lanes_mat3 gradient = yw_lanes_mat3_load(&l, lane);
      yw_lanes_mat3 u = load_mat3(body->state[block].u[0], lane);
      yw_lanes_mat3 k = tangent_times(&body->work[block], &u, &gradient, lane);
      yw_lanes_mat3_store(&l, lane, &k);
    }
    write_rows(body, block, &l, NULL);
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
  for (int32_t block = range.first; block < range.end; ++block) {
    _Alignas(64) float moved[4][YW_LANES];
    plastic_work_block* work = &body->work[block];
    gather_block(body, body->solved, block, (yw_mat3x16*)work->l, moved);
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
    quad sum = gather_slave(body, s);
    float mass = sum[3] > 0.0f ? sum[3] : 0.0f, inv = mass > 0.0f ? 1.0f / mass : 0.0f;
    body->slave_vel[s] = (yw_vec4){sum[0] * inv, sum[1] * inv, sum[2] * inv, mass};
  }
}

static void forces(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_SLAVE_CHUNK, end = first + PLASTIC_SLAVE_CHUNK;
  if (end > body->num_slaves) end = body->num_slaves;
  for (int32_t s = first; s < end; ++s) {
    quad sum = gather_slave(body, s);
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

static void multiply(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_SLAVE_CHUNK, end = first + PLASTIC_SLAVE_CHUNK;
  if (end > body->num_slaves) end = body->num_slaves;
  double sum = 0.0;
  for (int32_t s = first; s < end; ++s) {
    quad p = quad_load(&body->direction[s]);
    quad q = body->slave_vel[s].w * p + gather_slave(body, s);
    q[3] = 0.0f;
    q = free_part(&body->normal[s], q);
    quad_store(&body->product[s], q);
    quad pq = p * q;
    sum += ((double)pq[0] + (double)pq[1]) + (double)pq[2];
  }
  body->sums[chunk].a = sum;
}

// Inverse of m + sum (shear |G|^2 + (stretch - shear) G G^T): exact where nothing is deformed.
static void condition(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_SLAVE_CHUNK, end = first + PLASTIC_SLAVE_CHUNK;
  if (end > body->num_slaves) end = body->num_slaves;
  for (int32_t s = first; s < end; ++s) {
    quad x = {0}, y = {0}, z = {0}, sum = {0};
    for (int32_t e = body->holder_start[s]; e < body->holder_start[s + 1]; ++e) {
      const plastic_row* row = &body->rows[body->holder[e]];
      quad g = quad_load(&body->holder_row[e]), kg = row->y.w * g;
      x += kg * SPREAD(g, 0);
      y += kg * SPREAD(g, 1);
      z += kg * SPREAD(g, 2);
      sum += row->x.w * (g * g);
    }
    float base = body->slave_vel[s].w + (sum[0] + sum[1]) + sum[2];
    // In units of the base, so that no product leaves the range of floats.
    float unit = base > 1e-30f ? 1.0f / base : 0.0f;
    float xx = 1.0f + unit * x[0], yy = 1.0f + unit * y[1], zz = 1.0f + unit * z[2];
    float xy = unit * x[1], xz = unit * x[2], yz = unit * y[2];
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
    .stiffen = stiffen,
    .flow = flow,
    .to_slaves = to_slaves,
    .forces = forces,
    .multiply = multiply,
    .condition = condition,
};
