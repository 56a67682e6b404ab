// SPDX-License-Identifier: MIT
// Example-based shape matching, the phases of a step. Koyama et al. 2013; equation numbers refer to
// it.
//   x, x0   position, rest position          d    displacement x - (R x0 + c) from the body's frame
//   A_r     best linear map of region r (1)  Q_r  its moment at rest, sum m~ q q^T
//   R_r S_r its rotation and stretch         S~_r the stretch to aim for
//   T_r     = R_r S~_r (3)
//
// DIFFERS: the paper turns the target S~_r q by the rotation of A_r. Here it is turned by the
// rotation that fits it best to the region, the polar rotation of A_r Q_r S~_r, which Müller et al.
// 2005 use: then a region exerts no net torque and angular momentum is kept. The two agree wherever
// the region has the stretch it aims for.
#include "base/simd.h"
#include "match/projection.h"
#include "match/rows.h"
#include "match/step.h"
#include "math/polar_lanes.h"

#define SPREAD(q, i) __builtin_shufflevector(q, q, i, i, i, i)

typedef struct vec_lanes {
  yw_vf x, y, z;
} vec_lanes;

// Rows --------------------------------------------------------------------------------------------

// The row of one particle: m~ d (x0 - origin, 1)^T, three quads.
YW_LANE_FN void make_row(const match_step* step, quad origin, int32_t p, float* row) {
  const quad center = {step->center.x, step->center.y, step->center.z, 0.0f};
  const quad rx = {step->rotation[0][0], step->rotation[1][0], step->rotation[2][0], 0.0f};
  const quad ry = {step->rotation[0][1], step->rotation[1][1], step->rotation[2][1], 0.0f};
  const quad rz = {step->rotation[0][2], step->rotation[1][2], step->rotation[2][2], 0.0f};
  quad x = quad_load(&step->pos[p].x), x0 = quad_load(&step->model->rest[p].x);
  quad turned = (rx * SPREAD(x0, 0) + ry * SPREAD(x0, 1)) + rz * SPREAD(x0, 2);
  quad md = ((x - center) - turned) * step->model->row_mass[p];
  quad q = x0 - origin;
  quad_store(row, SPREAD(md, 0) * q);
  quad_store(row + 4, SPREAD(md, 1) * q);
  quad_store(row + 8, SPREAD(md, 2) * q);
}

static void make_rows(const match_step* step, const match_chunk* chunk, float* rows) {
  const int32_t* halo = step->model->halo + chunk->halo_start;
  quad origin = quad_load(&chunk->origin.x);
  for (int32_t i = 0; i < chunk->count; ++i) {
    make_row(step, origin, chunk->begin + i, rows);
    rows += MATCH_ROW;
  }
  for (int32_t i = 0; i < chunk->num_halo; ++i) {
    make_row(step, origin, halo[i], rows);
    rows += MATCH_ROW;
  }
  memset(rows, 0, MATCH_ROW * sizeof *rows);
}

static void copy_rows(const match_step* step, const match_chunk* chunk, float* rows) {
  const float* targets = step->body->targets;
  const int32_t* halo = step->model->halo + chunk->halo_start;
  const size_t bytes = MATCH_ROW * sizeof *rows;
  memcpy(rows, targets + (size_t)chunk->begin * MATCH_ROW, (size_t)chunk->count * bytes);
  rows += (size_t)chunk->count * MATCH_ROW;
  for (int32_t i = 0; i < chunk->num_halo; ++i) {
    memcpy(rows, targets + (size_t)halo[i] * MATCH_ROW, bytes);
    rows += MATCH_ROW;
  }
  memset(rows, 0, bytes);
}

// Sums of the body --------------------------------------------------------------------------------

enum { SUM_MX = 0, SUM_MV = 3, SUM_MYV = 6, SUM_MYY = 9, SUM_ROTATION = 15, NUM_SUMS = 19 };

typedef struct lane_sums {
  _Alignas(64) float sums[NUM_SUMS][YW_LANES];
} lane_sums;

YW_LANE_FN void add_lanes(lane_sums* sums, int which, int32_t lane, yw_vf value) {
  float* to = sums->sums[which] + lane;
  yw_vf_store(to, yw_vf_load(to) + value);
}

YW_LANE_FN void sum_body(const match_step* step, int32_t block, int32_t lane, lane_sums* sums) {
  yw_vf x[4], v[4], m = yw_vf_load(step->model->particles[block].mass + lane);
  load_vec4(step->pos + block * YW_LANES, lane, x);
  load_vec4(step->vel + block * YW_LANES, lane, v);
  vec_lanes y = {x[0] - step->center.x, x[1] - step->center.y, x[2] - step->center.z};
  vec_lanes my = {m * y.x, m * y.y, m * y.z};
  add_lanes(sums, SUM_MX + 0, lane, my.x);
  add_lanes(sums, SUM_MX + 1, lane, my.y);
  add_lanes(sums, SUM_MX + 2, lane, my.z);
  add_lanes(sums, SUM_MV + 0, lane, m * v[0]);
  add_lanes(sums, SUM_MV + 1, lane, m * v[1]);
  add_lanes(sums, SUM_MV + 2, lane, m * v[2]);
  add_lanes(sums, SUM_MYV + 0, lane, my.y * v[2] - my.z * v[1]);
  add_lanes(sums, SUM_MYV + 1, lane, my.z * v[0] - my.x * v[2]);
  add_lanes(sums, SUM_MYV + 2, lane, my.x * v[1] - my.y * v[0]);
  add_lanes(sums, SUM_MYY + 0, lane, my.x * y.x);
  add_lanes(sums, SUM_MYY + 1, lane, my.y * y.y);
  add_lanes(sums, SUM_MYY + 2, lane, my.z * y.z);
  add_lanes(sums, SUM_MYY + 3, lane, my.x * y.y);
  add_lanes(sums, SUM_MYY + 4, lane, my.x * y.z);
  add_lanes(sums, SUM_MYY + 5, lane, my.y * y.z);
}

// Rotations of either sign are the same; they are summed on the side of the frame's.
YW_LANE_FN void sum_rotation(const match_step* step, int32_t lane, const yw_lanes_quat* q,
                             lane_sums* sums) {
  const yw_quat f = step->frame_rotation;
  yw_vi away = q->x * f.x + q->y * f.y + q->z * f.z + q->w * f.w < 0.0f;
  add_lanes(sums, SUM_ROTATION + 0, lane, yw_vf_select(away, -q->x, q->x));
  add_lanes(sums, SUM_ROTATION + 1, lane, yw_vf_select(away, -q->y, q->y));
  add_lanes(sums, SUM_ROTATION + 2, lane, yw_vf_select(away, -q->z, q->z));
  add_lanes(sums, SUM_ROTATION + 3, lane, yw_vf_select(away, -q->w, q->w));
}

static void finish_sums(lane_sums* sums, match_sums* out) {
  for (int k = 0; k < NUM_SUMS; ++k) {
    float* s = sums->sums[k];
    for (int half = YW_LANES / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) s[l] += s[l + half];
    }
  }
  for (int k = 0; k < 3; ++k) {
    out->mx[k] = sums->sums[SUM_MX + k][0];
    out->mv[k] = sums->sums[SUM_MV + k][0];
    out->myv[k] = sums->sums[SUM_MYV + k][0];
  }
  for (int k = 0; k < 6; ++k) out->myy[k] = sums->sums[SUM_MYY + k][0];
  for (int k = 0; k < 4; ++k) out->rotation[k] = sums->sums[SUM_ROTATION + k][0];
}

// Regions -----------------------------------------------------------------------------------------

// B = sum m~ d q^T, and the mean of d.
YW_LANE_FN yw_lanes_mat3 region_moment(const match_region_block* region, const ring_sums* sums,
                                       int32_t lane, vec_lanes* shift) {
  yw_vf x[4], y[4], z[4];
  load_sums(sums, 0, lane, x);
  load_sums(sums, 1, lane, y);
  load_sums(sums, 2, lane, z);
  yw_vf cx = yw_vf_load(region->center[0] + lane), cy = yw_vf_load(region->center[1] + lane);
  yw_vf cz = yw_vf_load(region->center[2] + lane), w = yw_vf_load(region->inv_mass + lane);
  *shift = (vec_lanes){x[3] * w, y[3] * w, z[3] * w};
  return (yw_lanes_mat3){x[0] - x[3] * cx, x[1] - x[3] * cy, x[2] - x[3] * cz,
                         y[0] - y[3] * cx, y[1] - y[3] * cy, y[2] - y[3] * cz,
                         z[0] - z[3] * cx, z[1] - z[3] * cy, z[2] - z[3] * cz};
}

YW_LANE_FN yw_lanes_sym3 load_sym3(const float* m, int32_t lane) {
  m += lane;
  return (yw_lanes_sym3){yw_vf_load(m),
                         yw_vf_load(m + YW_LANES),
                         yw_vf_load(m + 2 * YW_LANES),
                         yw_vf_load(m + 3 * YW_LANES),
                         yw_vf_load(m + 4 * YW_LANES),
                         yw_vf_load(m + 5 * YW_LANES)};
}

YW_LANE_FN yw_lanes_mat3 mul_sym(const yw_lanes_mat3* a, const yw_lanes_sym3* s) {
  return (yw_lanes_mat3){
      a->xx * s->xx + a->xy * s->xy + a->xz * s->xz, a->xx * s->xy + a->xy * s->yy + a->xz * s->yz,
      a->xx * s->xz + a->xy * s->yz + a->xz * s->zz, a->yx * s->xx + a->yy * s->xy + a->yz * s->xz,
      a->yx * s->xy + a->yy * s->yy + a->yz * s->yz, a->yx * s->xz + a->yy * s->yz + a->yz * s->zz,
      a->zx * s->xx + a->zy * s->xy + a->zz * s->xz, a->zx * s->xy + a->zy * s->yy + a->zz * s->yz,
      a->zx * s->xz + a->zy * s->yz + a->zz * s->zz};
}

YW_LANE_FN yw_lanes_mat3 full(const yw_lanes_sym3* s) {
  return (yw_lanes_mat3){s->xx, s->xy, s->xz, s->xy, s->yy, s->yz, s->xz, s->yz, s->zz};
}

YW_LANE_FN yw_lanes_mat3 add_mat3(const yw_lanes_mat3* a, const yw_lanes_mat3* b) {
  return (yw_lanes_mat3){a->xx + b->xx, a->xy + b->xy, a->xz + b->xz, a->yx + b->yx, a->yy + b->yy,
                         a->yz + b->yz, a->zx + b->zx, a->zy + b->zy, a->zz + b->zz};
}

YW_LANE_FN yw_lanes_mat3 frame_lanes(const match_step* step) {
  const float(*r)[3] = step->rotation;
  return (yw_lanes_mat3){yw_vf_splat(r[0][0]), yw_vf_splat(r[0][1]), yw_vf_splat(r[0][2]),
                         yw_vf_splat(r[1][0]), yw_vf_splat(r[1][1]), yw_vf_splat(r[1][2]),
                         yw_vf_splat(r[2][0]), yw_vf_splat(r[2][1]), yw_vf_splat(r[2][2])};
}

// Rows of (T - R, t): a member's goal, less its place in the frame, is (T - R) x0 + t.
YW_LANE_FN void write_targets(const match_step* step, const match_chunk* chunk, int32_t block,
                              int32_t lane, const yw_lanes_mat3* t, const vec_lanes* shift) {
  const match_region_block* region = &step->model->regions[block];
  const float(*r)[3] = step->rotation;
  float* rows = step->body->targets + (size_t)block * (YW_LANES * MATCH_ROW);
  yw_vf cx = yw_vf_load(region->center[0] + lane) + chunk->origin.x;
  yw_vf cy = yw_vf_load(region->center[1] + lane) + chunk->origin.y;
  yw_vf cz = yw_vf_load(region->center[2] + lane) + chunk->origin.z;
  yw_vf x[4] = {t->xx - r[0][0], t->xy - r[0][1], t->xz - r[0][2], shift->x};
  yw_vf y[4] = {t->yx - r[1][0], t->yy - r[1][1], t->yz - r[1][2], shift->y};
  yw_vf z[4] = {t->zx - r[2][0], t->zy - r[2][1], t->zz - r[2][2], shift->z};
  x[3] -= x[0] * cx + x[1] * cy + x[2] * cz;
  y[3] -= y[0] * cx + y[1] * cy + y[2] * cz;
  z[3] -= z[0] * cx + z[1] * cy + z[2] * cz;
  store_rows(rows, 0, lane, x);
  store_rows(rows, 1, lane, y);
  store_rows(rows, 2, lane, z);
}

// Without examples the goal is R_r q + c_r with R_r the rotation of A_r Q_r.
YW_LANE_FN uint32_t match_plain(const match_step* step, const match_chunk* chunk, int32_t block,
                                int32_t lane, const ring_sums* rings, lane_sums* sums) {
  const match_region_block* region = &step->model->regions[block];
  yw_quatx16* rotations = &step->body->rotations[block];
  vec_lanes shift;
  yw_lanes_mat3 moment = region_moment(region, rings, lane, &shift);
  moment = yw_lanes_mat3_scale(&moment, yw_vf_load(region->scale + lane));
  yw_lanes_sym3 q0 = load_sym3(region->moment[0], lane);
  yw_lanes_mat3 frame = frame_lanes(step), rest = mul_sym(&frame, &q0);
  yw_lanes_mat3 a = add_mat3(&rest, &moment), r;
  yw_lanes_quat q = yw_lanes_quat_load(rotations, lane);
  yw_lanes_sym3 s;
  uint32_t rescued = yw_lanes_polar_warm(&a, &q, &r, &s);
  yw_lanes_quat_store(rotations, lane, &q);
  sum_rotation(step, lane, &q, sums);
  write_targets(step, chunk, block, lane, &r, &shift);
  return rescued;
}

// A_r = R_r S_r (1).
YW_LANE_FN uint32_t decompose(const match_step* step, int32_t block, int32_t lane,
                              const ring_sums* rings, lane_sums* sums, yw_lanes_sym3* s,
                              vec_lanes* shift) {
  const match_region_block* region = &step->model->regions[block];
  yw_quatx16* rotations = &step->body->rotations[block];
  yw_lanes_mat3 moment = region_moment(region, rings, lane, shift);
  yw_lanes_sym3 inverse = load_sym3(region->inv_moment[0], lane);
  yw_lanes_mat3 frame = frame_lanes(step), change = mul_sym(&moment, &inverse);
  yw_lanes_mat3 a = add_mat3(&frame, &change), r;
  yw_lanes_quat q = yw_lanes_quat_load(rotations, lane);
  uint32_t rescued = yw_lanes_polar_warm(&a, &q, &r, s);
  yw_lanes_quat_store(rotations, lane, &q);
  sum_rotation(step, lane, &q, sums);
  return rescued;
}

// L_k . (S - 1) of one region, L_k the descriptor of an example less that of the rest pose.
YW_LANE_FN yw_vf example_product(const yw_sym3x16* example, int32_t lane, const yw_lanes_sym3* s) {
  yw_lanes_sym3 l = load_sym3(example->m[0], lane);
  yw_vf off = l.xy * s->xy + l.xz * s->xz + l.yz * s->yz;
  return l.xx * (s->xx - 1.0f) + l.yy * (s->yy - 1.0f) + l.zz * (s->zz - 1.0f) + (off + off);
}

// b = L^T (S - S^0) of the block's groups, by lane.
YW_LANE_FN void add_products(const match_step* step, int32_t block, int32_t lane,
                             const yw_lanes_sym3* s) {
  const match_model* model = step->model;
  int32_t n = model->num_examples, share = model->blocks[block].share;
  const yw_sym3x16* examples = model->examples + (size_t)block * (size_t)n;
  float* products = step->body->products;
  for (int32_t k = 0; k < n; ++k) {
    yw_vf product = example_product(&examples[k], lane, s);
    if (share >= 0) {
      float* to = products + ((size_t)share * (size_t)n + (size_t)k) * YW_LANES + lane;
      yw_vf_store(to, yw_vf_load(to) + product);
    } else {
      for (int l = 0; l < YW_VF_LANES; ++l) {
        int32_t own = model->lane_share[block * YW_LANES + lane + l];
        products[((size_t)own * (size_t)n + (size_t)k) * YW_LANES + (size_t)(lane + l)] +=
            product[l];
      }
    }
  }
}

YW_LANE_FN void match_shared(const match_step* step, int32_t block, int32_t lane,
                             const yw_lanes_sym3* s, const vec_lanes* shift) {
  float* shifts = step->body->shifts + block * (3 * YW_LANES) + lane;
  yw_lanes_sym3_store(&step->body->stretches[block], lane, s);
  yw_vf_store(shifts, shift->x);
  yw_vf_store(shifts + YW_LANES, shift->y);
  yw_vf_store(shifts + 2 * YW_LANES, shift->z);
  add_products(step, block, lane, s);
}

// Targets -----------------------------------------------------------------------------------------

// S~ = 1 + sum w'_k (S^k - 1); pulls holds w'_k for every lane.
YW_LANE_FN yw_lanes_sym3 aim(const match_model* model, int32_t block, int32_t lane,
                             const float* pulls) {
  const yw_sym3x16* examples = model->examples + (size_t)block * (size_t)model->num_examples;
  yw_vf zero = yw_vf_splat(0.0f), one = yw_vf_splat(1.0f);
  yw_lanes_sym3 s = {one, one, one, zero, zero, zero};
  for (int32_t k = 0; k < model->num_examples; ++k) {
    yw_lanes_sym3 l = load_sym3(examples[k].m[0], lane);
    yw_vf w = yw_vf_load(pulls + k * YW_LANES + lane);
    s.xx += w * l.xx;
    s.yy += w * l.yy;
    s.zz += w * l.zz;
    s.xy += w * l.xy;
    s.xz += w * l.xz;
    s.yz += w * l.yz;
  }
  return s;
}

// Turns R_r to the rotation that fits S~ q best: one Newton step, which is enough since the two
// differ by the product of a strain and the unevenness of Q only, and both vanish at the goal.
YW_LANE_FN void bend(const match_step* step, const match_chunk* chunk, int32_t block, int32_t lane,
                     const yw_lanes_sym3* s, const yw_lanes_sym3* wanted, const vec_lanes* shift) {
  yw_lanes_sym3 moment = load_sym3(step->model->regions[block].moment[0], lane);
  yw_lanes_mat3 p = full(s);
  p = mul_sym(&p, &moment);
  p = mul_sym(&p, wanted);
  yw_lanes_newton newton = yw_lanes_newton_of(p);
  yw_lanes_quat q = yw_lanes_quat_load(&step->body->rotations[block], lane);
  yw_vf bound = YW_POLAR_MARGIN * newton.trace * newton.trace * newton.trace;
  yw_vi sound = (newton.hxx > 0.0f) & (newton.czz > 0.0f) & (newton.det > bound) & (bound > 0.0f);
  q = yw_lanes_quat_select(sound, yw_lanes_newton_turn(&newton, q), q);
  yw_lanes_mat3 r = yw_lanes_rotation(q), t = mul_sym(&r, wanted);
  write_targets(step, chunk, block, lane, &t, shift);
}

static void bend_targets(const match_step* step, int32_t c) {
  const match_model* model = step->model;
  const match_chunk* chunk = &model->chunks[c];
  int32_t n = model->num_examples, filled = -1;
  _Alignas(64) float pulls[YW_MAX_EXAMPLES][YW_LANES];
  for (int32_t block = chunk->first_block; block < chunk->first_block + chunk->num_blocks;
       ++block) {
    // Weights by lane; they stay as they are while blocks of one group follow each other.
    int32_t share = model->blocks[block].share;
    if (share < 0 || share != filled) {
      for (int l = 0; l < YW_LANES; ++l) {
        int32_t own = share >= 0 ? share : model->lane_share[block * YW_LANES + l];
        const float* group = step->body->pulls + (size_t)model->share_group[own] * (size_t)n;
        for (int32_t k = 0; k < n; ++k) pulls[k][l] = group[k];
      }
      filled = share;
    }
    const float* shifts = step->body->shifts + block * (3 * YW_LANES);
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      vec_lanes shift = {yw_vf_load(shifts + lane), yw_vf_load(shifts + YW_LANES + lane),
                         yw_vf_load(shifts + 2 * YW_LANES + lane)};
      yw_lanes_sym3 s = load_sym3(step->body->stretches[block].m[0], lane);
      yw_lanes_sym3 wanted = aim(model, block, lane, pulls[0]);
      bend(step, chunk, block, lane, &s, &wanted, &shift);
    }
  }
}

// Examples per region -----------------------------------------------------------------------------

// Stretches and shifts of one block.
typedef struct block_fit {
  yw_sym3x16 s;
  _Alignas(64) float shift[3][YW_LANES];
} block_fit;

// Weights of 16 regions that each choose for themselves; pulls by lane.
static void weigh_regions(const match_step* step, int32_t block, const block_fit* fit,
                          float (*pulls)[YW_LANES]) {
  const match_model* model = step->model;
  int32_t n = model->num_examples;
  const yw_sym3x16* examples = model->examples + (size_t)block * (size_t)n;
  for (int32_t i = 0; i < YW_LANES && block * YW_LANES + i < model->num_particles; ++i) {
    double gram[YW_MAX_EXAMPLES * YW_MAX_EXAMPLES], b[YW_MAX_EXAMPLES];
    float own[YW_MAX_EXAMPLES];
    int32_t lane = match_lane(i);
    for (int32_t k = 0; k < n; ++k) {
      b[k] = 0.0;
      for (int32_t j = 0; j <= k; ++j) gram[k * n + j] = 0.0;
      for (int c = 0; c < 6; ++c) {
        double l = (double)examples[k].m[c][lane] * (c < 3 ? 1.0 : 2.0);
        b[k] += l * ((double)fit->s.m[c][lane] - (c < 3 ? 1.0 : 0.0));
        for (int32_t j = 0; j <= k; ++j) gram[k * n + j] += l * (double)examples[j].m[c][lane];
      }
      for (int32_t j = 0; j < k; ++j) gram[j * n + k] = gram[k * n + j];
    }
    float* weights = step->body->weights + (size_t)(block * YW_LANES + i) * (size_t)(n + 1);
    yw_match_weigh(&step->body->params, n, gram, b, weights, own);
    for (int32_t k = 0; k < n; ++k) pulls[k][lane] = own[k];
  }
}

static int32_t match_single(const match_step* step, const match_chunk* chunk, int32_t block,
                            const ring_sums* rings, lane_sums* sums) {
  block_fit fit;
  _Alignas(64) float pulls[YW_MAX_EXAMPLES][YW_LANES] = {{0}};
  uint32_t rescued = 0;
  for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
    yw_lanes_sym3 s;
    vec_lanes shift;
    rescued |= decompose(step, block, lane, rings, sums, &s, &shift) << lane;
    yw_lanes_sym3_store(&fit.s, lane, &s);
    yw_vf_store(fit.shift[0] + lane, shift.x);
    yw_vf_store(fit.shift[1] + lane, shift.y);
    yw_vf_store(fit.shift[2] + lane, shift.z);
  }
  weigh_regions(step, block, &fit, pulls);
  for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
    vec_lanes shift = {yw_vf_load(fit.shift[0] + lane), yw_vf_load(fit.shift[1] + lane),
                       yw_vf_load(fit.shift[2] + lane)};
    yw_lanes_sym3 s = load_sym3(fit.s.m[0], lane), wanted = aim(step->model, block, lane, pulls[0]);
    bend(step, chunk, block, lane, &s, &wanted, &shift);
  }
  return __builtin_popcount(rescued);
}

// Phases ------------------------------------------------------------------------------------------

static void match_regions(const match_step* step, int32_t c) {
  _Alignas(64) float rows[MATCH_MAX_ROWS * MATCH_ROW];
  const match_model* model = step->model;
  const match_chunk* chunk = &model->chunks[c];
  match_sums* out = &step->body->sums[c];
  lane_sums sums = {{{0}}};
  ring_sums rings;
  bool shared = model->num_shares > 0;
  int32_t recovered = 0;
  make_rows(step, chunk, rows);
  if (shared) {
    size_t row = (size_t)model->num_examples * YW_LANES;
    memset(step->body->products + (size_t)chunk->first_share * row, 0,
           (size_t)chunk->num_shares * row * sizeof(float));
  }
  for (int32_t b = chunk->first_block; b < chunk->first_block + chunk->num_blocks; ++b) {
    const match_block* block = &model->blocks[b];
    sum_rings((const char*)rows, model->rings + block->ring_start, block->ring_length, &rings);
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) sum_body(step, b, lane, &sums);
    if (shared) {
      for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
        yw_lanes_sym3 s;
        vec_lanes shift;
        recovered += __builtin_popcount(decompose(step, b, lane, &rings, &sums, &s, &shift));
        match_shared(step, b, lane, &s, &shift);
      }
    } else if (model->num_examples > 0) {
      recovered += match_single(step, chunk, b, &rings, &sums);
    } else {
      for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
        recovered += __builtin_popcount(match_plain(step, chunk, b, lane, &rings, &sums));
      }
    }
  }
  finish_sums(&sums, out);
  out->recovered = recovered;
}

typedef struct box_lanes {
  vec_lanes lower, upper;
} box_lanes;

YW_LANE_FN void grow(yw_vf* lower, yw_vf* upper, yw_vi live, yw_vf x) {
  *lower = yw_vf_select(live & (x < *lower), x, *lower);
  *upper = yw_vf_select(live & (x > *upper), x, *upper);
}

YW_LANE_FN yw_vf keep(yw_vi live, yw_vf x) { return (yw_vf)((yw_vi)x & live); }

// Goals (3), then velocities and positions (4), (5), of the particles of one register.
YW_LANE_FN void pull(const match_step* step, int32_t block, int32_t lane, const ring_sums* rings,
                     box_lanes* box) {
  const match_particle_block* particle = &step->model->particles[block];
  const float(*r)[3] = step->rotation;
  yw_vf gx[4], gy[4], gz[4], x[4], v[4];
  load_sums(rings, 0, lane, gx);
  load_sums(rings, 1, lane, gy);
  load_sums(rings, 2, lane, gz);
  load_vec4(step->pos + block * YW_LANES, lane, x);
  load_vec4(step->vel + block * YW_LANES, lane, v);
  yw_vf ax = yw_vf_load(particle->rest[0] + lane), ay = yw_vf_load(particle->rest[1] + lane);
  yw_vf az = yw_vf_load(particle->rest[2] + lane), n = yw_vf_load(particle->inv_count + lane);

  // Displacements with the very roundings of make_row: what they say of a region's members sums to
  // zero.
  vec_lanes y = {x[0] - step->center.x, x[1] - step->center.y, x[2] - step->center.z};
  vec_lanes d = {y.x - ((r[0][0] * ax + r[0][1] * ay) + r[0][2] * az),
                 y.y - ((r[1][0] * ax + r[1][1] * ay) + r[1][2] * az),
                 y.z - ((r[2][0] * ax + r[2][1] * ay) + r[2][2] * az)};
  vec_lanes away = {n * (gx[0] * ax + gx[1] * ay + gx[2] * az + gx[3]) - d.x,
                    n * (gy[0] * ax + gy[1] * ay + gy[2] * az + gy[3]) - d.y,
                    n * (gz[0] * ax + gz[1] * ay + gz[2] * az + gz[3]) - d.z};
  vec_lanes rigid = {step->drift.x + (step->spin.y * y.z - step->spin.z * y.y),
                     step->drift.y + (step->spin.z * y.x - step->spin.x * y.z),
                     step->drift.z + (step->spin.x * y.y - step->spin.y * y.x)};
  yw_vi live = yw_vf_load(particle->mass + lane) > 0.0f;
  v[0] += step->damp * (rigid.x - v[0]) + (step->pull * away.x + step->gravity.x);
  v[1] += step->damp * (rigid.y - v[1]) + (step->pull * away.y + step->gravity.y);
  v[2] += step->damp * (rigid.z - v[2]) + (step->pull * away.z + step->gravity.z);
  grow(&box->lower.x, &box->upper.x, live, x[0]);
  grow(&box->lower.y, &box->upper.y, live, x[1]);
  grow(&box->lower.z, &box->upper.z, live, x[2]);
  for (int k = 0; k < 3; ++k) {
    v[k] = keep(live, v[k]);
    x[k] = keep(live, x[k] + step->h * v[k]);
  }
  v[3] = x[3] = yw_vf_splat(0.0f);
  grow(&box->lower.x, &box->upper.x, live, x[0]);
  grow(&box->lower.y, &box->upper.y, live, x[1]);
  grow(&box->lower.z, &box->upper.z, live, x[2]);
  store_vec4(step->new_pos + block * YW_LANES, lane, x);
  store_vec4(step->vel + block * YW_LANES, lane, v);
}

static yw_aabb finish_box(const box_lanes boxes[YW_LANES / YW_VF_LANES]) {
  yw_aabb box = yw_aabb_empty();
  for (int i = 0; i < YW_LANES / YW_VF_LANES; ++i) {
    for (int l = 0; l < YW_VF_LANES; ++l) {
      const box_lanes* b = &boxes[i];
      box = yw_aabb_join(box, (yw_aabb){{b->lower.x[l], b->lower.y[l], b->lower.z[l]},
                                        {b->upper.x[l], b->upper.y[l], b->upper.z[l]}});
    }
  }
  return box;
}

static void pull_particles(const match_step* step, int32_t c) {
  _Alignas(64) float rows[MATCH_MAX_ROWS * MATCH_ROW];
  const match_model* model = step->model;
  const match_chunk* chunk = &model->chunks[c];
  yw_vf high = yw_vf_splat(INFINITY), low = yw_vf_splat(-INFINITY);
  box_lanes boxes[YW_LANES / YW_VF_LANES];
  for (int i = 0; i < YW_LANES / YW_VF_LANES; ++i) {
    boxes[i] = (box_lanes){{high, high, high}, {low, low, low}};
  }
  copy_rows(step, chunk, rows);
  for (int32_t b = chunk->first_block; b < chunk->first_block + chunk->num_blocks; ++b) {
    const match_block* block = &model->blocks[b];
    ring_sums rings;
    sum_rings((const char*)rows, model->rings + block->ring_start, block->ring_length, &rings);
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      pull(step, b, lane, &rings, &boxes[lane / YW_VF_LANES]);
    }
  }
  step->body->sums[c].box = finish_box(boxes);
}

extern const match_kernels YW_KERNEL(yw_match_kernels);
const match_kernels YW_KERNEL(yw_match_kernels) = {match_regions, bend_targets, pull_particles};
