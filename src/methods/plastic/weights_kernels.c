// SPDX-License-Identifier: MIT
// Slaves near a master, and their weights. One lane per master, so that sums run in the order of
// the rows at any register width. Lengths are in units of h, positions relative to the master.
//
//   w  kernel (3)     N  share of a slave in a master     G  gradient:  v(x_m) = sum N v_s,
//   grad v = sum v_s G^T, exact for affine velocities
#include <math.h>

#include "math/small/lanes_mat3.h"
#include "methods/plastic/cells.h"
#include "methods/plastic/phases.h"

// Where slaves hardly spread in a direction (variance below this, in units of d^2), the inverse is
// bounded by 1 / LEAST_VARIANCE and goes to 0 with the variance: the gradient across a line or a
// sheet of slaves is 0.
#define LEAST_VARIANCE 0.06f
// A master needs more slaves if it sees fewer than this, ...
#define FEW_SLAVES 16
// ... if their variance is below 0.4 of that on the lattice (in units of d^2), or if their mean is
// off by more than this fraction of d.
#define NARROW_VARIANCE (0.4f * 0.3f)
#define ASIDE_SHARE 0.25f
// Minimum share of w that stays in N.
#define KEPT_SHARE 0.1f
#define ROOT_STEPS 4
// Prefetch distance, in pairs.
#define PAIRS_AHEAD 128

// Search ------------------------------------------------------------------------------------------

typedef struct search_ball {
  float x, y, z, radius2;
} search_ball;

// Appends j + k for every set bit k, up to one more than a row may have.
YW_LANE_FN int32_t append_hits(int32_t* out, int32_t count, int32_t j, uint32_t hits) {
#if YW_VF_LANES == 16
  const __m512i each = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i numbers = _mm512_add_epi32(_mm512_set1_epi32(j), each);
  _mm512_storeu_si512(out + count, _mm512_maskz_compress_epi32((__mmask16)hits, numbers));
  count += __builtin_popcount(hits);
  return count < PLASTIC_MAX_ROW + 1 ? count : PLASTIC_MAX_ROW + 1;
#else
  for (; hits != 0 && count < PLASTIC_MAX_ROW + 1; hits &= hits - 1) {
    out[count++] = j + __builtin_ctz(hits);
  }
  return count;
#endif
}

// Appends the slaves of [begin, end) on a line of cells inside the ball. Returns the new count.
YW_LANE_FN int32_t list_range(const plastic_body* body, const search_ball* ball, uint32_t line,
                              int32_t begin, int32_t end, int32_t* out, int32_t count) {
  for (int32_t j = begin; j < end; j += YW_VF_LANES) {
    yw_vf dx = yw_vf_load(body->sorted_x + j) - ball->x;
    yw_vf dy = yw_vf_load(body->sorted_y + j) - ball->y;
    yw_vf dz = yw_vf_load(body->sorted_z + j) - ball->z;
    yw_vi lines;
    memcpy(&lines, body->sorted_line + j, sizeof lines);
    yw_vf d2 = dx * dx + dy * dy + dz * dz;
    uint32_t hits = yw_vi_bits((d2 < ball->radius2) & (lines == (int32_t)line));
    if (end - j < YW_VF_LANES) hits &= (1u << (end - j)) - 1u;
    count = append_hits(out, count, j, hits);
  }
  return count;
}

static int32_t list_ball(const plastic_body* body, const plastic_cell* cell,
                         const search_ball* ball, int32_t* out) {
  int32_t count = 0;
  for (int dz = -1; dz <= 1; ++dz) {
    for (int dy = -1; dy <= 1; ++dy) {
      uint32_t line = plastic_line(cell->y + dy, cell->z + dz);
      uint32_t first = (line + (uint32_t)cell->x - 1u) & body->bucket_mask;
      const int32_t* start = body->bucket_start;
      if (first + 3u <= body->bucket_mask + 1u) {
        count = list_range(body, ball, line, start[first], start[first + 3], out, count);
        continue;
      }
      for (uint32_t k = 0; k < 3; ++k) {
        uint32_t b = (first + k) & body->bucket_mask;
        count = list_range(body, ball, line, start[b], start[b + 1], out, count);
      }
    }
  }
  return count;
}

// Writes the rows of a chunk one after another from found[chunk * CHUNK * MAX_ROW] on;
// row_start[m + 1] gets the number of slaves of m.
static void search(plastic_body* body, yw_particles* particles, int32_t chunk) {
  int32_t first = chunk * PLASTIC_CHUNK, end = first + PLASTIC_CHUNK;
  if (end > body->num_masters) end = body->num_masters;
  float edge = plastic_cell_edge(body->model->spacing);
  float reach = 2.0f * body->model->spacing + body->skin;
  int32_t* out = body->found + (size_t)first * PLASTIC_MAX_ROW;
  int32_t row[PLASTIC_MAX_ROW + 1 + YW_LANES];
  for (int32_t m = first; m < end; ++m) {
    yw_vec4 x = particles->pos[m];
    plastic_cell cell = plastic_cell_of(x, edge);
    search_ball ball = {x.x, x.y, x.z, reach * reach};
    int32_t count = list_ball(body, &cell, &ball, row);
    // Too many: the nearest are enough, and any choice conserves mass and momentum.
    while (count > PLASTIC_MAX_ROW) {
      ball.radius2 *= 0.9f;
      count = list_ball(body, &cell, &ball, row);
    }
    memcpy(out, row, (size_t)count * sizeof *row);
    out += count;
    body->row_start[m + 1] = count;
  }
}

// Weights -----------------------------------------------------------------------------------------

typedef struct weight_block {
  _Alignas(64) float x[PLASTIC_MAX_ROW][YW_LANES];
  float y[PLASTIC_MAX_ROW][YW_LANES];
  float z[PLASTIC_MAX_ROW][YW_LANES];
  float w[PLASTIC_MAX_ROW][YW_LANES];  // then N
  int32_t length;                      // of the longest row
} weight_block;

typedef struct moments {
  yw_vf sum, x, y, z;  // of w, and mean
  yw_lanes_sym3 d;     // variance
} moments;

// Positions of the slaves of 16 masters, in units of h. Lanes without a slave get a far position.
static void gather_places(const plastic_body* body, const yw_particles* particles, int32_t block,
                          weight_block* b) {
  float inv_h = 1.0f / body->model->spacing;
  int32_t first = block * YW_LANES;
  b->length = 0;
  for (int32_t lane = 0; lane < YW_LANES && first + lane < body->num_masters; ++lane) {
    int32_t count = body->row_start[first + lane + 1] - body->row_start[first + lane];
    if (count > b->length) b->length = count;
  }
  for (int32_t lane = 0; lane < YW_LANES; ++lane) {
    int32_t m = first + lane, count = 0;
    if (m < body->num_masters) {
      const int32_t* column = body->column + body->row_start[m];
      count = body->row_start[m + 1] - body->row_start[m];
      yw_vec4 x = particles->pos[m];
      bool is_last = body->row_start[m] + PAIRS_AHEAD + count > body->num_pairs;
      for (int32_t k = 0; k < count; ++k) {
        const yw_vec4* s = &body->slave_pos[column[k]];
        if (!is_last) __builtin_prefetch(&body->slave_pos[column[k + PAIRS_AHEAD]]);
        b->x[k][lane] = (s->x - x.x) * inv_h;
        b->y[k][lane] = (s->y - x.y) * inv_h;
        b->z[k][lane] = (s->z - x.z) * inv_h;
      }
    }
    for (int32_t k = count; k < b->length; ++k) {
      b->x[k][lane] = 2.0f;
      b->y[k][lane] = b->z[k][lane] = 0.0f;
    }
  }
}

// Mean and variance from sums of w, w r and w r r^T.
YW_LANE_FN void finish_moments(moments* m) {
  yw_vf inv = 1.0f / yw_vf_max(m->sum, yw_vf_splat(1e-20f));
  m->x *= inv, m->y *= inv, m->z *= inv;
  m->d.xx = m->d.xx * inv - m->x * m->x;
  m->d.yy = m->d.yy * inv - m->y * m->y;
  m->d.zz = m->d.zz * inv - m->z * m->z;
  m->d.xy = m->d.xy * inv - m->x * m->y;
  m->d.xz = m->d.xz * inv - m->x * m->z;
  m->d.yz = m->d.yz * inv - m->y * m->z;
}

YW_LANE_FN void add_moment(moments* m, yw_vf w, yw_vf x, yw_vf y, yw_vf z) {
  yw_vf wx = w * x, wy = w * y, wz = w * z;
  m->sum += w;
  m->x += wx, m->y += wy, m->z += wz;
  m->d.xx += wx * x, m->d.yy += wy * y, m->d.zz += wz * z;
  m->d.xy += wx * y, m->d.xz += wx * z, m->d.yz += wy * z;
}

// A lower bound of the smallest eigenvalue, by Newton steps from outside.
YW_LANE_FN yw_vf smallest_eigenvalue(const yw_lanes_sym3* d) {
  yw_vf third = (d->xx + d->yy + d->zz) * (1.0f / 3.0f);
  yw_vf x = third - d->xx, y = third - d->yy, z = third - d->zz;
  yw_vf q = 0.5f * (x * x + y * y + z * z) + d->xy * d->xy + d->xz * d->xz + d->yz * d->yz;
  yw_vf r = x * (y * z - d->yz * d->yz) + d->xy * (-d->xy * z - d->yz * d->xz) -
            d->xz * (d->xy * d->yz + y * d->xz);
  yw_vf root = 2.0f * yw_vf_sqrt(q * (1.0f / 3.0f));
  for (int i = 0; i < ROOT_STEPS; ++i) {
    yw_vf root2 = root * root;
    root -= (root * (root2 - q) - r) / (3.0f * root2 - q + 1e-20f);
  }
  return third - root;
}

// One lane whose slaves are nearly in a plane, on a line or at a point.
static void invert_flat(float* d, const int32_t stride) {
  yw_mat3 m = {{d[0], d[3 * stride], d[4 * stride]},
               {d[3 * stride], d[stride], d[5 * stride]},
               {d[4 * stride], d[5 * stride], d[2 * stride]}};
  yw_mat3 v;
  yw_vec3 values;
  yw_eigen_symmetric(&m, &values, &v);
  const float l[3] = {values.x, values.y, values.z};
  const yw_vec3 axis[3] = {v.cx, v.cy, v.cz};
  float sum[6] = {0};
  for (int k = 0; k < 3; ++k) {
    float f = l[k] >= LEAST_VARIANCE
                  ? 1.0f / l[k]
                  : (l[k] > 0.0f ? l[k] : 0.0f) / (LEAST_VARIANCE * LEAST_VARIANCE);
    sum[0] += f * axis[k].x * axis[k].x;
    sum[1] += f * axis[k].y * axis[k].y;
    sum[2] += f * axis[k].z * axis[k].z;
    sum[3] += f * axis[k].x * axis[k].y;
    sum[4] += f * axis[k].x * axis[k].z;
    sum[5] += f * axis[k].y * axis[k].z;
  }
  for (int k = 0; k < 6; ++k) d[k * stride] = sum[k];
}

// D^-1, bounded where D is nearly singular.
YW_LANE_FN yw_lanes_sym3 invert(const yw_lanes_sym3* d, yw_vf smallest) {
  yw_vf cxx = d->yy * d->zz - d->yz * d->yz, cyy = d->xx * d->zz - d->xz * d->xz;
  yw_vf czz = d->xx * d->yy - d->xy * d->xy, cxy = d->xz * d->yz - d->xy * d->zz;
  yw_vf cxz = d->xy * d->yz - d->xz * d->yy, cyz = d->xy * d->xz - d->yz * d->xx;
  yw_vf inv = 1.0f / (d->xx * cxx + d->xy * cxy + d->xz * cxz);
  yw_lanes_sym3 result = {cxx * inv, cyy * inv, czz * inv, cxy * inv, cxz * inv, cyz * inv};
  uint32_t flat = yw_vi_bits(~(smallest >= LEAST_VARIANCE));
  if (__builtin_expect(flat == 0, 1)) return result;
  _Alignas(64) float own[6][YW_VF_LANES], out[6][YW_VF_LANES];
  memcpy(own, d, sizeof own);
  memcpy(out, &result, sizeof out);
  for (; flat != 0; flat &= flat - 1) {
    int lane = __builtin_ctz(flat);
    invert_flat(&own[0][lane], YW_VF_LANES);
    for (int k = 0; k < 6; ++k) out[k][lane] = own[k][lane];
  }
  memcpy(&result, out, sizeof result);
  return result;
}

YW_LANE_FN void multiply(const yw_lanes_sym3* m, yw_vf x, yw_vf y, yw_vf z, yw_vf out[3]) {
  out[0] = m->xx * x + m->xy * y + m->xz * z;
  out[1] = m->xy * x + m->yy * y + m->yz * z;
  out[2] = m->xz * x + m->yz * y + m->zz * z;
}

// w of (3) without its constant factor.
YW_LANE_FN yw_vf kernel(yw_vf x, yw_vf y, yw_vf z) {
  yw_vf q = yw_vf_sqrt(x * x + y * y + z * z);
  yw_vf out = yw_vf_max(2.0f - q, yw_vf_splat(0.0f));
  yw_vf inner = (0.5f * q - 1.0f) * q * q + 2.0f / 3.0f;
  return yw_vf_select(q < 1.0f, inner, out * out * out * (1.0f / 6.0f));
}

// Replaces w by N; m gets the moments of N. Returns the lanes that need more slaves.
YW_LANE_FN uint32_t share_out(weight_block* b, int32_t lane, moments* m) {
  yw_vf zero = yw_vf_splat(0.0f), count = zero;
  *m = (moments){0};
  for (int32_t k = 0; k < b->length; ++k) {
    yw_vf x = yw_vf_load(b->x[k] + lane), y = yw_vf_load(b->y[k] + lane);
    yw_vf z = yw_vf_load(b->z[k] + lane), w = kernel(x, y, z);
    yw_vf_store(b->w[k] + lane, w);
    add_moment(m, w, x, y, z);
    count += yw_vf_select(w > zero, yw_vf_splat(1.0f), zero);
  }
  yw_vf total = m->sum;
  finish_moments(m);
  yw_vf smallest = smallest_eigenvalue(&m->d);
  yw_vf aside2 = m->x * m->x + m->y * m->y + m->z * m->z;
  uint32_t needs = yw_vi_bits((count < (float)FEW_SLAVES) | (smallest < NARROW_VARIANCE) |
                              (aside2 > ASIDE_SHARE * ASIDE_SHARE));

  // N = w/W (1 - s a.(r - r̄)) with a = D^-1 r̄ moves the mean to the master; s = 1 if no N gets
  // smaller than KEPT_SHARE w/W.
  yw_lanes_sym3 inverse = invert(&m->d, smallest);
  yw_vf a[3], most = zero;
  multiply(&inverse, m->x, m->y, m->z, a);
  yw_vf offset = a[0] * m->x + a[1] * m->y + a[2] * m->z;
  for (int32_t k = 0; k < b->length; ++k) {
    yw_vf t = a[0] * yw_vf_load(b->x[k] + lane) + a[1] * yw_vf_load(b->y[k] + lane) +
              a[2] * yw_vf_load(b->z[k] + lane) - offset;
    most = yw_vf_max(most, yw_vf_select(yw_vf_load(b->w[k] + lane) > zero, t, zero));
  }
  yw_vf s = yw_vf_min(yw_vf_splat(1.0f), (1.0f - KEPT_SHARE) / yw_vf_max(most, yw_vf_splat(1e-6f)));
  yw_vf inv = 1.0f / yw_vf_max(total, yw_vf_splat(1e-20f));
  *m = (moments){0};
  for (int32_t k = 0; k < b->length; ++k) {
    yw_vf x = yw_vf_load(b->x[k] + lane), y = yw_vf_load(b->y[k] + lane);
    yw_vf z = yw_vf_load(b->z[k] + lane);
    yw_vf t = a[0] * x + a[1] * y + a[2] * z - offset;
    yw_vf n = yw_vf_load(b->w[k] + lane) * inv * (1.0f - s * t);
    yw_vf_store(b->w[k] + lane, n);
    add_moment(m, n, x, y, z);
  }
  finish_moments(m);
  return needs << lane;
}

// Stores what turns N into G: G = N D_N^-1 (x_s - c), with c relative to the chunk's origin.
YW_LANE_FN void store_gradient(plastic_work_block* work, int32_t lane, const moments* m, float h,
                               const yw_vf from_origin[3]) {
  yw_lanes_sym3 inverse = invert(&m->d, smallest_eigenvalue(&m->d));
  inverse = yw_lanes_sym3_scale(&inverse, yw_vf_splat(1.0f / (h * h)));
  yw_lanes_sym3_store((yw_sym3x16*)work->inverse, lane, &inverse);
  yw_vf_store(work->center[0] + lane, from_origin[0] + h * m->x);
  yw_vf_store(work->center[1] + lane, from_origin[1] + h * m->y);
  yw_vf_store(work->center[2] + lane, from_origin[2] + h * m->z);
}

static void write_shares(plastic_body* body, int32_t block, const weight_block* b) {
  int32_t first = block * YW_LANES;
  for (int32_t lane = 0; lane < YW_LANES && first + lane < body->num_masters; ++lane) {
    int32_t m = first + lane, count = body->row_start[m + 1] - body->row_start[m];
    float* share = body->share + 4 * (size_t)body->four_start[m];
    for (int32_t k = 0; k < count; ++k) share[k] = b->w[k][lane];
  }
}

static void weights(plastic_body* body, yw_particles* particles, int32_t chunk) {
  int32_t first = chunk * (PLASTIC_CHUNK / YW_LANES), end = first + PLASTIC_CHUNK / YW_LANES;
  int32_t blocks = yw_plastic_chunks(body->num_masters, YW_LANES), wanting = 0;
  if (end > blocks) end = blocks;
  weight_block b;
  yw_vec4 origin = particles->pos[chunk * PLASTIC_CHUNK];
  body->origin[chunk] = (yw_vec4){origin.x, origin.y, origin.z, 0.0f};
  for (int32_t block = first; block < end; ++block) {
    gather_places(body, particles, block, &b);
    uint32_t needs = 0;
    _Alignas(64) float arms[3][YW_LANES] = {0};
    for (int32_t k = 0; k < YW_LANES && block * YW_LANES + k < body->num_masters; ++k) {
      yw_vec4 x = particles->pos[block * YW_LANES + k];
      arms[0][k] = x.x - origin.x, arms[1][k] = x.y - origin.y, arms[2][k] = x.z - origin.z;
    }
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      moments m;
      needs |= share_out(&b, lane, &m);
      const yw_vf from_origin[3] = {yw_vf_load(arms[0] + lane), yw_vf_load(arms[1] + lane),
                                    yw_vf_load(arms[2] + lane)};
      store_gradient(&body->work[block], lane, &m, body->model->spacing, from_origin);
    }
    write_shares(body, block, &b);
    for (int32_t lane = 0; lane < YW_LANES && block * YW_LANES + lane < body->num_masters; ++lane) {
      uint8_t need = (uint8_t)((needs >> lane) & 1u);
      body->needs[block * YW_LANES + lane] = need;
      wanting += need;
    }
  }
  body->sums[chunk].count = wanting;
}

const plastic_weight_kernels YW_KERNEL(yw_plastic_weight_kernels) = {.search = search,
                                                                     .weights = weights};
