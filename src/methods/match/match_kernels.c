// SPDX-License-Identifier: MIT
// The phases of a step of example-based shape matching. Koyama et al. 2013; equation numbers refer
// to it.
//   x, x0   position, rest position          d    displacement R^T (x - c) - x0 in the body's axes
//   A_r     best linear map of region r (1)  Q_r  its moment at rest, sum m~ q q^T
//   R_r P_r rotation and the rest of A_r Q_r S_r  stretch, the symmetric part of R_r^T A_r
//   S~_r    target stretch                   T_r  = R_r (S~_r + [d_r]) (3)
//
// DIFFERS: the paper takes R_r and S_r from A_r and aims for R_r S~_r. A region then exerts a
// torque on itself, and angular momentum is not conserved. Here R_r is the best-fitting rotation of
// the region, the polar rotation of A_r Q_r as in Müller et al. 2005, and the target has a skew
// part [d_r] that cancels the torque. The two agree wherever Q_r is isotropic; a body in the pose
// of an example aims for exactly that pose (docs/methods/match.md).
#include "base/simd.h"
#include "math/small/polar_lanes.h"
#include "methods/match/region_weights.h"
#include "methods/match/rows.h"
#include "methods/match/step.h"

// Particles of a halo are scattered in memory; they are prefetched this many rows ahead.
#define PREFETCH_AHEAD MATCH_HALO_PADDING

// Larger rotations d of targets, rad, are dropped: only badly deformed regions have them.
#define MAX_TURN 0.5f

// Prefetches data that the next block will read. The per-block arrays are too many and too short
// for the hardware prefetcher.
YW_LANE_FN void ask_for(const void* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch((const char*)from + i);
}

// Rows --------------------------------------------------------------------------------------------

// The row of one particle: m~ d (x0 - origin, 1)^T, three quads; d as viscosity sees it.
// Without viscosity the velocities are not read.
YW_LANE_FN void make_row(const match_step* step, const bool viscous, yw_float4 origin, int32_t p,
                         float* row) {
  const yw_float4 center = {step->center.x, step->center.y, step->center.z, 0.0f};
  const yw_float4 drift = {step->velocity.x, step->velocity.y, step->velocity.z, 0.0f};
  const float(*r)[3] = step->seen_rotation;
  const yw_float4 rx = {r[0][0], r[0][1], r[0][2], 0.0f}, ry = {r[1][0], r[1][1], r[1][2], 0.0f};
  const yw_float4 rz = {r[2][0], r[2][1], r[2][2], 0.0f};
  yw_float4 y = yw_float4_load(&step->pos[p].x) - center;
  if (viscous) y += step->lag * (yw_float4_load(&step->vel[p].x) - drift);
  yw_float4 x0 = yw_float4_load(&step->model->rest[p].x);
  yw_float4 turned =
      (rx * YW_FLOAT4_SPREAD(y, 0) + ry * YW_FLOAT4_SPREAD(y, 1)) + rz * YW_FLOAT4_SPREAD(y, 2);
  yw_float4 md = (turned - x0) * step->model->row_mass[p];
  yw_float4 q = x0 - origin;
#if YW_VF_LANES == 16
  const __m512i each = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
  yw_vf four = (yw_vf)_mm512_permutexvar_ps(each, _mm512_castps128_ps512((__m128)md));
  yw_vf_store(row, four * (yw_vf)_mm512_broadcast_f32x4((__m128)q));
#else
  yw_float4_store(row, YW_FLOAT4_SPREAD(md, 0) * q);
  yw_float4_store(row + 4, YW_FLOAT4_SPREAD(md, 1) * q);
  yw_float4_store(row + 8, YW_FLOAT4_SPREAD(md, 2) * q);
#endif
}

YW_LANE_FN void fill_rows(const match_step* step, const bool viscous, const match_chunk* chunk,
                          float* rows) {
  const int32_t* halo = step->model->halo + chunk->halo_start;
  yw_float4 origin = yw_float4_load(&chunk->origin.x);
  for (int32_t i = 0; i < chunk->count; ++i) {
    make_row(step, viscous, origin, chunk->begin + i, rows);
    rows += MATCH_ROW;
  }
  for (int32_t i = 0; i < chunk->num_halo; ++i) {
    int32_t soon = halo[i + PREFETCH_AHEAD];
    __builtin_prefetch(&step->pos[soon]);
    if (viscous) __builtin_prefetch(&step->vel[soon]);
    __builtin_prefetch(&step->model->rest[soon]);
    make_row(step, viscous, origin, halo[i], rows);
    rows += MATCH_ROW;
  }
  memset(rows, 0, MATCH_ROW * sizeof *rows);
}

static void make_rows(const match_step* step, const match_chunk* chunk, float* rows) {
  if (step->lag > 0.0f) {
    fill_rows(step, true, chunk, rows);
  } else {
    fill_rows(step, false, chunk, rows);
  }
}

// Target rows of the particles and the halo of a chunk. A body of one chunk uses them in place:
// lanes beyond its last particle are zero, as the row after the last one must be.
static const float* gather_targets(const match_step* step, const match_chunk* chunk, float* rows) {
  const float* targets = step->body->targets;
  if (step->model->num_chunks == 1) return targets;
  const int32_t* halo = step->model->halo + chunk->halo_start;
  const size_t bytes = MATCH_ROW * sizeof *rows;
  float* to = rows + (size_t)chunk->count * MATCH_ROW;
  memcpy(rows, targets + (size_t)chunk->begin * MATCH_ROW, (size_t)chunk->count * bytes);
  for (int32_t i = 0; i < chunk->num_halo; ++i) {
    __builtin_prefetch(targets + (size_t)halo[i + PREFETCH_AHEAD] * MATCH_ROW);
    memcpy(to, targets + (size_t)halo[i] * MATCH_ROW, bytes);
    to += MATCH_ROW;
  }
  memset(to, 0, bytes);
  return rows;
}

// Sums of the body --------------------------------------------------------------------------------

enum { SUM_MX = 0, SUM_MV = 3, SUM_MYV = 6, SUM_MYY = 9, SUM_ROTATION = 15, NUM_SUMS = 19 };

// Adds the particles and rotations of lanes lane .. lane + YW_VF_LANES - 1 of all blocks.
YW_LANE_FN void sum_lanes(const match_step* step, const match_chunk* chunk, int32_t lane,
                          float (*out)[YW_LANES]) {
  yw_vf sums[NUM_SUMS] = {{0}};
  for (int32_t b = chunk->first_block; b < chunk->first_block + chunk->num_blocks; ++b) {
    yw_vf x[4], v[4], m = yw_vf_load(step->model->particles[b].mass + lane);
    load_vec4(step->pos + b * YW_LANES, lane, x);
    load_vec4(step->vel + b * YW_LANES, lane, v);
    yw_lanes_vec3 y = {x[0] - step->center.x, x[1] - step->center.y, x[2] - step->center.z};
    yw_lanes_vec3 my = {m * y.x, m * y.y, m * y.z};
    sums[SUM_MX + 0] += my.x;
    sums[SUM_MX + 1] += my.y;
    sums[SUM_MX + 2] += my.z;
    sums[SUM_MV + 0] += m * v[0];
    sums[SUM_MV + 1] += m * v[1];
    sums[SUM_MV + 2] += m * v[2];
    sums[SUM_MYV + 0] += my.y * v[2] - my.z * v[1];
    sums[SUM_MYV + 1] += my.z * v[0] - my.x * v[2];
    sums[SUM_MYV + 2] += my.x * v[1] - my.y * v[0];
    sums[SUM_MYY + 0] += my.x * y.x;
    sums[SUM_MYY + 1] += my.y * y.y;
    sums[SUM_MYY + 2] += my.z * y.z;
    sums[SUM_MYY + 3] += my.x * y.y;
    sums[SUM_MYY + 4] += my.x * y.z;
    sums[SUM_MYY + 5] += my.y * y.z;

    // q and -q are the same rotation; sums use the sign with w >= 0.
    yw_lanes_quat q = yw_lanes_quat_load(&step->body->rotations[b], lane);
    yw_vi sign = (yw_vi)q.w & INT32_MIN;
    sums[SUM_ROTATION + 0] += (yw_vf)((yw_vi)q.x ^ sign);
    sums[SUM_ROTATION + 1] += (yw_vf)((yw_vi)q.y ^ sign);
    sums[SUM_ROTATION + 2] += (yw_vf)((yw_vi)q.z ^ sign);
    sums[SUM_ROTATION + 3] += (yw_vf)((yw_vi)q.w ^ sign);
  }
  for (int k = 0; k < NUM_SUMS; ++k) yw_vf_store(out[k] + lane, sums[k]);
}

static void sum_body(const match_step* step, const match_chunk* chunk, match_sums* out) {
  _Alignas(64) float sums[NUM_SUMS][YW_LANES];
  for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
    sum_lanes(step, chunk, lane, sums);
  }
  for (int k = 0; k < NUM_SUMS; ++k) {
    float* s = sums[k];
    for (int half = YW_LANES / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) s[l] += s[l + half];
    }
  }
  for (int k = 0; k < 3; ++k) {
    out->mx[k] = sums[SUM_MX + k][0];
    out->mv[k] = sums[SUM_MV + k][0];
    out->myv[k] = sums[SUM_MYV + k][0];
  }
  for (int k = 0; k < 6; ++k) out->myy[k] = sums[SUM_MYY + k][0];
  for (int k = 0; k < 4; ++k) out->rotation[k] = sums[SUM_ROTATION + k][0];
}

// Regions -----------------------------------------------------------------------------------------

// B = sum m~ d q^T, and the mean of d.
YW_LANE_FN yw_lanes_mat3 region_moment(const match_region_block* region, const ring_sums* sums,
                                       int32_t lane, yw_lanes_vec3* shift) {
  yw_vf x[4], y[4], z[4];
  load_sums(sums, 0, lane, x);
  load_sums(sums, 1, lane, y);
  load_sums(sums, 2, lane, z);
  yw_vf cx = yw_vf_load(region->center[0] + lane), cy = yw_vf_load(region->center[1] + lane);
  yw_vf cz = yw_vf_load(region->center[2] + lane), w = yw_vf_load(region->inv_mass + lane);
  *shift = (yw_lanes_vec3){x[3] * w, y[3] * w, z[3] * w};
  return (yw_lanes_mat3){x[0] - x[3] * cx, x[1] - x[3] * cy, x[2] - x[3] * cz,
                         y[0] - y[3] * cx, y[1] - y[3] * cy, y[2] - y[3] * cz,
                         z[0] - z[3] * cx, z[1] - z[3] * cy, z[2] - z[3] * cz};
}

YW_LANE_FN float* block_targets(const match_step* step, int32_t block) {
  return step->body->targets + (size_t)block * (YW_LANES * MATCH_ROW);
}

// Rows of (T - 1, t): a member's goal minus its rest position is (T - 1) x0 + t in these axes.
YW_LANE_FN void write_targets(const match_step* step, const match_chunk* chunk, int32_t block,
                              int32_t lane, const yw_lanes_mat3* t, const yw_lanes_vec3* shift) {
  const match_region_block* region = &step->model->regions[block];
  float* rows = block_targets(step, block);
  yw_vf cx = yw_vf_load(region->center[0] + lane) + chunk->origin.x;
  yw_vf cy = yw_vf_load(region->center[1] + lane) + chunk->origin.y;
  yw_vf cz = yw_vf_load(region->center[2] + lane) + chunk->origin.z;
  yw_vf x[4] = {t->xx - 1.0f, t->xy, t->xz, shift->x};
  yw_vf y[4] = {t->yx, t->yy - 1.0f, t->yz, shift->y};
  yw_vf z[4] = {t->zx, t->zy, t->zz - 1.0f, shift->z};
  x[3] -= x[0] * cx + x[1] * cy + x[2] * cz;
  y[3] -= y[0] * cx + y[1] * cy + y[2] * cz;
  z[3] -= z[0] * cx + z[1] * cy + z[2] * cz;
  if (step->uneven) {
    yw_vf grip = yw_vf_load(region->grip + lane);
    for (int k = 0; k < 4; ++k) x[k] *= grip, y[k] *= grip, z[k] *= grip;
  }
  store_rows(rows, lane, x, y, z);
}

// A_r Q_r, scaled, computed from the displacements.
YW_LANE_FN yw_lanes_mat3 fit_moment(const match_step* step, lane_set at, const ring_sums* rings,
                                    yw_lanes_vec3* shift) {
  yw_lanes_mat3 moment = region_moment(&step->model->regions[at.block], rings, at.lane, shift);
  const match_moment_block* rest_moment = &step->model->moments[at.block];
  yw_lanes_sym3 rest = yw_lanes_sym3_load((const yw_sym3x16*)rest_moment->moment, at.lane);
  yw_lanes_mat3 q = yw_lanes_mat3_of_sym(&rest);
  moment = yw_lanes_mat3_scale(&moment, yw_vf_load(rest_moment->scale + at.lane));
  return yw_lanes_mat3_add(&q, &moment);
}

// b = L^T (S - S^0) of the block's groups, by lane.
YW_LANE_FN void add_products(const match_step* step, int32_t block, int32_t lane,
                             const yw_lanes_sym3* p) {
  const match_model* model = step->model;
  int32_t n = model->num_examples, share = model->blocks[block].share;
  const yw_sym3x16* duals = model->duals + (size_t)block * (size_t)n;
  yw_lanes_sym3 change = moment_change(model, block, lane, p);
  float* products = step->body->products;
  for (int32_t k = 0; k < n; ++k) {
    yw_vf product = dual_product(&duals[k], lane, &change);
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

// Targets -----------------------------------------------------------------------------------------

// Weights w'_k after beta for every lane, and the examples whose weight is not zero everywhere:
// others cost nothing.
typedef struct pull_set {
  _Alignas(64) float weights[YW_MAX_EXAMPLES * YW_LANES];
  int32_t active[YW_MAX_EXAMPLES];
  int32_t num_active;
} pull_set;

static void find_active(int32_t num_examples, pull_set* pulls) {
  pulls->num_active = 0;
  for (int32_t k = 0; k < num_examples; ++k) {
    int32_t used = 0;
    for (int l = 0; l < YW_LANES; ++l) used |= pulls->weights[k * YW_LANES + l] != 0.0f;
    if (used) pulls->active[pulls->num_active++] = k;
  }
}

// S~ = 1 + sum w'_k (S^k - 1).
YW_LANE_FN yw_lanes_sym3 aim(const match_model* model, int32_t block, int32_t lane,
                             const pull_set* pulls) {
  const yw_sym3x16* examples = model->examples + (size_t)block * (size_t)model->num_examples;
  yw_vf zero = yw_vf_splat(0.0f), one = yw_vf_splat(1.0f);
  yw_lanes_sym3 s = {one, one, one, zero, zero, zero};
  for (int32_t i = 0; i < pulls->num_active; ++i) {
    int32_t k = pulls->active[i];
    yw_lanes_sym3 l = yw_lanes_sym3_load(&examples[k], lane);
    yw_vf w = yw_vf_load(pulls->weights + k * YW_LANES + lane);
    s.xx += w * l.xx;
    s.yy += w * l.yy;
    s.zz += w * l.zz;
    s.xy += w * l.xy;
    s.xz += w * l.xz;
    s.yz += w * l.yz;
  }
  return s;
}

// Fit of the regions in one register.
typedef struct region_fit {
  yw_lanes_quat q;      // R_r
  yw_lanes_sym3 p;      // P_r, scaled
  yw_lanes_vec3 shift;  // mean of d
} region_fit;

// S~ + [d]. The torque of a target R (S~ + [d]) about the region's centre is the skew part of
// P (S~ - [d]); it vanishes where (tr P - P) d = axial(P S~). d is 0 where a region is too flat to
// determine it, or too badly deformed.
YW_LANE_FN yw_lanes_mat3 turn_free(const yw_lanes_sym3* p, const yw_lanes_sym3* s) {
  yw_vf gx = (p->xz * s->xy + p->yz * s->yy + p->zz * s->yz) -
             (p->xy * s->xz + p->yy * s->yz + p->yz * s->zz);
  yw_vf gy = (p->xx * s->xz + p->xy * s->yz + p->xz * s->zz) -
             (p->xz * s->xx + p->yz * s->xy + p->zz * s->xz);
  yw_vf gz = (p->xy * s->xx + p->yy * s->xy + p->yz * s->xz) -
             (p->xx * s->xy + p->xy * s->yy + p->xz * s->yz);
  // H = tr P - P, its cofactors C and determinant. H has no negative eigenvalue, since R is the
  // nearest rotation.
  yw_vf hxx = p->yy + p->zz, hyy = p->xx + p->zz, hzz = p->xx + p->yy;
  yw_vf cxx = hyy * hzz - p->yz * p->yz, cxy = p->xz * p->yz + p->xy * hzz;
  yw_vf cyy = hxx * hzz - p->xz * p->xz, cxz = p->xy * p->yz + p->xz * hyy;
  yw_vf czz = hxx * hyy - p->xy * p->xy, cyz = p->xy * p->xz + p->yz * hxx;
  yw_vf det = hxx * cxx - p->xy * cxy - p->xz * cxz;
  yw_vf dx = cxx * gx + cxy * gy + cxz * gz, dy = cxy * gx + cyy * gy + cyz * gz;
  yw_vf dz = cxz * gx + cyz * gy + czz * gz;
  yw_vi sound = dx * dx + dy * dy + dz * dz < (MAX_TURN * MAX_TURN) * (det * det);
  yw_vf inv = yw_vf_select(sound, 1.0f / det, yw_vf_splat(0.0f));
  dx *= inv;
  dy *= inv;
  dz *= inv;
  return (yw_lanes_mat3){s->xx,      s->xy - dz, s->xz + dy, s->xy + dz, s->yy,
                         s->yz - dx, s->xz - dy, s->yz + dx, s->zz};
}

// The rotation of A in the axes of R_r: A Q = R_r P, so that A is R_r P Q^-1 up to a factor.
YW_LANE_FN yw_lanes_mat3 turn_of_map(const match_model* model, int32_t block, int32_t lane,
                                     const yw_lanes_sym3* p) {
  yw_lanes_sym3 q = yw_lanes_sym3_load((const yw_sym3x16*)model->moments[block].moment, lane);
  // Cofactors: the inverse up to the determinant, which is positive.
  yw_lanes_sym3 c = {q.yy * q.zz - q.yz * q.yz, q.xx * q.zz - q.xz * q.xz,
                     q.xx * q.yy - q.xy * q.xy, q.xz * q.yz - q.xy * q.zz,
                     q.xy * q.yz - q.xz * q.yy, q.xy * q.xz - q.yz * q.xx};
  yw_vf det = q.xx * c.xx + q.xy * c.xy + q.xz * c.xz;
  yw_vf inv = yw_vf_select(det > 0.0f, 1.0f / det, yw_vf_splat(0.0f));
  yw_lanes_mat3 full = {p->xx, p->xy, p->xz, p->xy, p->yy, p->yz, p->xz, p->yz, p->zz}, r;
  c = (yw_lanes_sym3){inv * c.xx, inv * c.yy, inv * c.zz, inv * c.xy, inv * c.xz, inv * c.yz};
  yw_lanes_mat3 map = yw_lanes_mat3_mul_sym(&full, &c);
  yw_vf zero = yw_vf_splat(0.0f), one = yw_vf_splat(1.0f);
  yw_lanes_quat turn = {zero, zero, zero, one};
  yw_lanes_sym3 unused;
  yw_lanes_polar_warm(&map, &turn, &r, &unused);
  return r;
}

// Targets T = R (S~ + [d]) of the regions of one register, or R S~ as printed.
YW_LANE_FN void bend(const match_step* step, const match_chunk* chunk, lane_set at,
                     const region_fit* fit, const pull_set* pulls) {
  yw_lanes_mat3 t = yw_lanes_rotation(fit->q);
  if (step->paper) {
    yw_lanes_mat3 further = turn_of_map(step->model, at.block, at.lane, &fit->p);
    yw_lanes_sym3 wanted = aim(step->model, at.block, at.lane, pulls);
    t = yw_lanes_mat3_mul(&t, &further);
    t = yw_lanes_mat3_mul_sym(&t, &wanted);
  } else if (pulls->num_active > 0) {
    yw_lanes_sym3 wanted = aim(step->model, at.block, at.lane, pulls);
    yw_lanes_mat3 turned = turn_free(&fit->p, &wanted);
    t = yw_lanes_mat3_mul(&t, &turned);
  }
  write_targets(step, chunk, at.block, at.lane, &t, &fit->shift);
}

// Phases ------------------------------------------------------------------------------------------

// Registers of a block, and how many of them are handled at once.
#define REGISTERS (YW_LANES / YW_VF_LANES)
#define AT_ONCE (REGISTERS == 1 ? 1 : 2)

// Sums over the rings of the next block. They do not depend on the current block and are computed
// in two or four parts between its steps, to hide latency.
typedef struct ring_job {
  const char* rows;
  const uint16_t* rings;
  int32_t length;
  ring_sums* out;
} ring_job;

YW_LANE_FN void do_rings(const ring_job* job, int32_t lane, int part) {
  if (REGISTERS == 4) {
    sum_four_rings(job->rows, job->rings, job->length, (lane == 0 ? 0 : 2) + part, job->out);
  } else {
    sum_four_rings(job->rows, job->rings, job->length, 2 * part, job->out);
    sum_four_rings(job->rows, job->rings, job->length, 2 * part + 1, job->out);
  }
}

// Until the weights are known, a block's fit is stored in place of its targets: 9 x 16 numbers.
#define FIT_NUMBERS (9 * YW_LANES)

YW_LANE_FN void store_fit(const match_step* step, lane_set at, const region_fit* fit) {
  float* to = block_targets(step, at.block) + at.lane;
  yw_vf_store(to, fit->p.xx);
  yw_vf_store(to + YW_LANES, fit->p.yy);
  yw_vf_store(to + 2 * YW_LANES, fit->p.zz);
  yw_vf_store(to + 3 * YW_LANES, fit->p.xy);
  yw_vf_store(to + 4 * YW_LANES, fit->p.xz);
  yw_vf_store(to + 5 * YW_LANES, fit->p.yz);
  yw_vf_store(to + 6 * YW_LANES, fit->shift.x);
  yw_vf_store(to + 7 * YW_LANES, fit->shift.y);
  yw_vf_store(to + 8 * YW_LANES, fit->shift.z);
}

YW_LANE_FN region_fit load_fit(const match_step* step, lane_set at, const float* fits) {
  const float* shifts = fits + 6 * YW_LANES + at.lane;
  return (region_fit){
      .q = yw_lanes_quat_load(&step->body->rotations[at.block], at.lane),
      .p = yw_lanes_sym3_load((const yw_sym3x16*)fits, at.lane),
      .shift = {yw_vf_load(shifts), yw_vf_load(shifts + YW_LANES),
                yw_vf_load(shifts + 2 * YW_LANES)},
  };
}

// Uses a decomposition: computes the targets, or stores the data for them.
YW_LANE_FN void use_fit(const match_step* step, const match_chunk* chunk, lane_set at,
                        const region_fit* fit, const yw_lanes_mat3* r) {
  if (step->model->num_examples == 0) {
    write_targets(step, chunk, at.block, at.lane, r, &fit->shift);
  } else if (step->model->num_shares > 0) {
    store_fit(step, at, fit);
    add_products(step, at.block, at.lane, &fit->p);
  } else {
    pull_set pulls;
    memset(pulls.weights, 0, (size_t)step->model->num_examples * YW_LANES * sizeof(float));
    weigh_regions(step, at, &fit->p, pulls.weights);
    find_active(step->model->num_examples, &pulls);
    bend(step, chunk, at, fit, &pulls);
  }
}

// Decomposes the regions of one or two registers: A_r Q_r = R_r P_r.
YW_LANE_FN int32_t match_registers(const match_step* step, const match_chunk* chunk,
                                   const lane_set* at, const ring_sums* rings,
                                   const ring_job* next) {
  yw_quatx16* rotations = &step->body->rotations[at[0].block];
  region_fit fit[AT_ONCE];
  yw_lanes_mat3 a[AT_ONCE], r[AT_ONCE];
  yw_lanes_newton newton[AT_ONCE];
  int32_t recovered = 0;
  for (int u = 0; u < AT_ONCE; ++u) {
    a[u] = fit_moment(step, at[u], rings, &fit[u].shift);
    fit[u].q = yw_lanes_quat_load(rotations, at[u].lane);
    r[u] = yw_lanes_rotation(fit[u].q);
    newton[u] = yw_lanes_newton_at(&a[u], &r[u]);
  }
  do_rings(next, at[0].lane, 0);
  for (int u = 0; u < AT_ONCE; ++u) fit[u].q = yw_lanes_newton_turn(&newton[u], fit[u].q);
  do_rings(next, at[0].lane, 1);
  for (int u = 0; u < AT_ONCE; ++u) {
    uint32_t rescued = yw_lanes_polar_finish_all(&a[u], &fit[u].q, &r[u], &fit[u].p);
    recovered += __builtin_popcount(rescued);
    yw_lanes_quat_store(rotations, at[u].lane, &fit[u].q);
    use_fit(step, chunk, at[u], &fit[u], &r[u]);
  }
  return recovered;
}

// Larger bodies do not fit the cache: the arrays that the next block reads are prefetched.
#define BLOCKS_IN_CACHE 2048

static void ask_for_block(const match_step* step, int32_t block) {
  const match_model* model = step->model;
  size_t n = (size_t)model->num_examples;
  if (model->num_blocks < BLOCKS_IN_CACHE || block >= model->num_blocks) return;
  ask_for(&step->body->rotations[block], sizeof(yw_quatx16));
  ask_for(&model->regions[block], sizeof(match_region_block));
  ask_for(&model->moments[block], sizeof(match_moment_block));
  if (n > 0) ask_for(model->duals + (size_t)block * n, n * sizeof(yw_sym3x16));
}

YW_LANE_FN ring_job rings_of(const match_model* model, int32_t block, const float* rows,
                             ring_sums* out) {
  const match_block* b = &model->blocks[block];
  return (ring_job){(const char*)rows, model->rings + b->ring_start, b->ring_length, out};
}

static void match_regions(const match_step* step, int32_t c) {
  _Alignas(64) float rows[MATCH_MAX_ROWS * MATCH_ROW];
  const match_model* model = step->model;
  const match_chunk* chunk = &model->chunks[c];
  match_sums* out = &step->body->sums[c];
  int32_t recovered = 0, block = chunk->first_block, end = block + chunk->num_blocks;
  make_rows(step, chunk, rows);
  if (model->num_shares > 0) {
    size_t row = (size_t)model->num_examples * YW_LANES;
    memset(step->body->products + (size_t)chunk->first_share * row, 0,
           (size_t)chunk->num_shares * row * sizeof(float));
  }
  ring_sums rings[2];
  ring_job job = rings_of(model, block, rows, &rings[0]);
  sum_rings(job.rows, job.rings, job.length, job.out);
  for (int turn = 0; block < end; ++block, turn ^= 1) {
    job = rings_of(model, block + 1 < end ? block + 1 : block, rows, &rings[turn ^ 1]);
    if (block + 1 == end) job.length = 1;
    ask_for_block(step, block + 1);
    for (int n = 0; n < REGISTERS; n += AT_ONCE) {
      const lane_set at[2] = {{block, n * YW_VF_LANES}, {block, (n + 1) * YW_VF_LANES}};
      recovered += match_registers(step, chunk, at, &rings[turn], &job);
    }
  }
  sum_body(step, chunk, out);
  out->recovered = recovered;
}

// Weights after beta of a block with a single group.
static void fill_alike(const float* group, int32_t num_examples, pull_set* pulls) {
  pulls->num_active = 0;
  for (int32_t k = 0; k < num_examples; ++k) {
    if (group[k] == 0.0f) continue;
    for (int l = 0; l < YW_LANES; ++l) pulls->weights[k * YW_LANES + l] = group[k];
    pulls->active[pulls->num_active++] = k;
  }
}

// Weights after beta of the groups of a block, by lane. filled is the share now in pulls.
static void fill_pulls(const match_step* step, int32_t block, pull_set* pulls, int32_t* filled) {
  const match_model* model = step->model;
  int32_t n = model->num_examples, share = model->blocks[block].share;
  if (share >= 0 && share == *filled) return;
  *filled = share;
  if (share >= 0) {
    fill_alike(step->body->pulls + (size_t)model->share_group[share] * (size_t)n, n, pulls);
    return;
  }
  for (int l = 0; l < YW_LANES; ++l) {
    int32_t own = model->lane_share[block * YW_LANES + l];
    const float* group = step->body->pulls + (size_t)model->share_group[own] * (size_t)n;
    for (int32_t k = 0; k < n; ++k) pulls->weights[k * YW_LANES + l] = group[k];
  }
  find_active(n, pulls);
}

static void bend_targets(const match_step* step, int32_t c) {
  const match_chunk* chunk = &step->model->chunks[c];
  pull_set pulls;
  int32_t filled = -1;
  for (int32_t b = chunk->first_block; b < chunk->first_block + chunk->num_blocks; ++b) {
    fill_pulls(step, b, &pulls, &filled);
    // Targets overwrite the fit, so a block of several registers is copied first.
    _Alignas(64) float copy[FIT_NUMBERS];
    const float* fits = block_targets(step, b);
    if (REGISTERS > 1) fits = memcpy(copy, fits, sizeof copy);
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      region_fit fit = load_fit(step, (lane_set){b, lane}, fits);
      bend(step, chunk, (lane_set){b, lane}, &fit, &pulls);
    }
  }
}

// What the particles of one register add to the sums of a chunk.
typedef struct pull_sums {
  yw_lanes_vec3 lower, upper;  // box
  yw_lanes_vec3 torque;        // m y x away
} pull_sums;

YW_LANE_FN void grow(pull_sums* sums, yw_vf x, yw_vf y, yw_vf z) {
  sums->lower = (yw_lanes_vec3){yw_vf_min(x, sums->lower.x), yw_vf_min(y, sums->lower.y),
                                yw_vf_min(z, sums->lower.z)};
  sums->upper = (yw_lanes_vec3){yw_vf_max(x, sums->upper.x), yw_vf_max(y, sums->upper.y),
                                yw_vf_max(z, sums->upper.z)};
}

YW_LANE_FN void add_torque(pull_sums* sums, yw_vf m, const yw_lanes_vec3* y,
                           const yw_lanes_vec3* away) {
  sums->torque.x += m * (y->y * away->z - y->z * away->y);
  sums->torque.y += m * (y->z * away->x - y->x * away->z);
  sums->torque.z += m * (y->x * away->y - y->y * away->x);
}

// Goals (3), then velocities and positions (4), (5), of the particles of one register.
// full: all lanes hold particles.
YW_LANE_FN void pull(const match_step* step, const bool full, int32_t block, int32_t lane,
                     const ring_sums* rings, pull_sums* sums) {
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

  // Same rounding as in make_row, so that displacements sum to zero over a region's members.
  yw_lanes_vec3 y = {x[0] - step->center.x, x[1] - step->center.y, x[2] - step->center.z};
  const float(*q)[3] = step->seen_rotation;
  const yw_vec3* c = &step->velocity;
  yw_lanes_vec3 z = {y.x + step->lag * (v[0] - c->x), y.y + step->lag * (v[1] - c->y),
                     y.z + step->lag * (v[2] - c->z)};
  yw_lanes_vec3 d = {((q[0][0] * z.x + q[1][0] * z.y) + q[2][0] * z.z) - ax,
                     ((q[0][1] * z.x + q[1][1] * z.y) + q[2][1] * z.z) - ay,
                     ((q[0][2] * z.x + q[1][2] * z.y) + q[2][2] * z.z) - az};
  if (step->uneven) {
    yw_vf grip = yw_vf_load(particle->grip + lane);
    d = (yw_lanes_vec3){d.x * grip, d.y * grip, d.z * grip};
  }
  yw_lanes_vec3 f = {n * (gx[0] * ax + gx[1] * ay + gx[2] * az + gx[3]) - d.x,
                     n * (gy[0] * ax + gy[1] * ay + gy[2] * az + gy[3]) - d.y,
                     n * (gz[0] * ax + gz[1] * ay + gz[2] * az + gz[3]) - d.z};
  yw_lanes_vec3 away = {r[0][0] * f.x + r[0][1] * f.y + r[0][2] * f.z,
                        r[1][0] * f.x + r[1][1] * f.y + r[1][2] * f.z,
                        r[2][0] * f.x + r[2][1] * f.y + r[2][2] * f.z};
  yw_lanes_vec3 rigid = {step->drift.x + (step->spin.y * y.z - step->spin.z * y.y),
                         step->drift.y + (step->spin.z * y.x - step->spin.x * y.z),
                         step->drift.z + (step->spin.x * y.y - step->spin.y * y.x)};
  v[0] += (rigid.x - step->damp * v[0]) + (step->pull * away.x + step->gravity.x);
  v[1] += (rigid.y - step->damp * v[1]) + (step->pull * away.y + step->gravity.y);
  v[2] += (rigid.z - step->damp * v[2]) + (step->pull * away.z + step->gravity.z);
  add_torque(sums, yw_vf_load(particle->mass + lane), &y, &away);
  grow(sums, x[0], x[1], x[2]);
  for (int k = 0; k < 3; ++k) x[k] += step->h * v[k];
  grow(sums, x[0], x[1], x[2]);
  v[3] = x[3] = yw_vf_splat(0.0f);
  if (!full) {
    yw_vi live = yw_vf_load(particle->mass + lane) > 0.0f;
    for (int k = 0; k < 3; ++k) {
      v[k] = (yw_vf)((yw_vi)v[k] & live);
      x[k] = (yw_vf)((yw_vi)x[k] & live);
    }
  }
  store_vec4(step->new_pos + block * YW_LANES, lane, x);
  store_vec4(step->vel + block * YW_LANES, lane, v);
}

static yw_aabb finish_box(const pull_sums* sums) {
  yw_aabb box = yw_aabb_empty();
  for (int i = 0; i < REGISTERS; ++i) {
    for (int l = 0; l < YW_VF_LANES; ++l) {
      const pull_sums* s = &sums[i];
      box = yw_aabb_join(box, (yw_aabb){{s->lower.x[l], s->lower.y[l], s->lower.z[l]},
                                        {s->upper.x[l], s->upper.y[l], s->upper.z[l]}});
    }
  }
  return box;
}

// Adds lanes in an order that does not depend on the width of a register.
static void finish_torque(const pull_sums* sums, float scale, float out[3]) {
  float lanes[3][YW_LANES];
  for (int i = 0; i < REGISTERS; ++i) {
    yw_vf_store(lanes[0] + i * YW_VF_LANES, sums[i].torque.x);
    yw_vf_store(lanes[1] + i * YW_VF_LANES, sums[i].torque.y);
    yw_vf_store(lanes[2] + i * YW_VF_LANES, sums[i].torque.z);
  }
  for (int k = 0; k < 3; ++k) {
    for (int half = YW_LANES / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) lanes[k][l] += lanes[k][l + half];
    }
    out[k] = scale * lanes[k][0];
  }
}

// The last block of a body may have unused lanes, which must not enlarge the box.
static void pull_last_block(const match_step* step, int32_t block, const ring_sums* rings,
                            pull_sums* sums, yw_aabb* box) {
  for (int n = 0; n < REGISTERS; ++n) {
    pull(step, false, block, n * YW_VF_LANES, rings, &sums[n]);
  }
  for (int32_t p = block * YW_LANES; p < step->model->num_particles; ++p) {
    *box = yw_aabb_grow(*box, yw_xyz(step->pos[p]));
    *box = yw_aabb_grow(*box, yw_xyz(step->new_pos[p]));
  }
}

static void pull_particles(const match_step* step, int32_t c) {
  _Alignas(64) float scratch[MATCH_MAX_ROWS * MATCH_ROW];
  const match_model* model = step->model;
  const match_chunk* chunk = &model->chunks[c];
  const float* rows = gather_targets(step, chunk, scratch);
  yw_vf high = yw_vf_splat(INFINITY), low = yw_vf_splat(-INFINITY), zero = yw_vf_splat(0.0f);
  pull_sums sums[REGISTERS];
  for (int i = 0; i < REGISTERS; ++i) {
    sums[i] = (pull_sums){{high, high, high}, {low, low, low}, {zero, zero, zero}};
  }
  int32_t b = chunk->first_block, full_end = b + chunk->count / YW_LANES;
  ring_sums rings;
  for (; b < full_end; ++b) {
    ring_job job = rings_of(model, b, rows, &rings);
    sum_rings(job.rows, job.rings, job.length, job.out);
    for (int n = 0; n < REGISTERS; ++n) pull(step, true, b, n * YW_VF_LANES, &rings, &sums[n]);
  }
  yw_aabb box = finish_box(sums);
  if (b < chunk->first_block + chunk->num_blocks) {
    ring_job job = rings_of(model, b, rows, &rings);
    sum_rings(job.rows, job.rings, job.length, job.out);
    pull_last_block(step, b, &rings, sums, &box);
  }
  finish_torque(sums, step->pull, step->body->sums[c].torque);
  step->body->sums[c].box = box;
}

extern const match_kernels YW_KERNEL(yw_match_kernels);
const match_kernels YW_KERNEL(yw_match_kernels) = {match_regions, bend_targets, pull_particles};
