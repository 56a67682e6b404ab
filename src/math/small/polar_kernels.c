// SPDX-License-Identifier: MIT
// Batches of polar and singular value decompositions: loops over polar_lanes.h, and a symmetric
// Jacobi iteration that turns a polar decomposition into an SVD: A = R S, S = V D V^T, U = R V.
#include "math/small/polar_lanes.h"

// Blocks that complete one phase before any of them enters the next. Each phase is short enough for
// the processor to overlap two of them; the whole sequence is not.
#define TILE_BLOCKS 4

// Sweeps after which the off-diagonal entries of any symmetric 3x3 float matrix are below rounding.
#define JACOBI_SWEEPS 4

// R and S / largest of one register. Returns the lanes that need the scalar functions.
YW_LANE_FN uint32_t cold(const yw_mat3x16* a, int32_t lane, yw_lanes_mat3* r, yw_lanes_sym3* s,
                         yw_vf* largest) {
  yw_lanes_mat3 m = yw_lanes_mat3_load(a, lane), unit;
  yw_lanes_quat q = yw_lanes_polar_start(&m, &unit, largest);
  return yw_vi_bits(yw_lanes_polar_finish(&unit, &q, r, s)) << lane;
}

static void polar(int32_t count, const yw_mat3x16* a, yw_mat3x16* rotation, yw_sym3x16* stretch) {
  for (int32_t block = 0; block < count; ++block) {
    uint32_t degenerate = 0;
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_lanes_mat3 r;
      yw_lanes_sym3 s;
      yw_vf largest;
      degenerate |= cold(&a[block], lane, &r, &s, &largest);
      s = yw_lanes_sym3_scale(&s, largest);
      yw_lanes_mat3_store(&rotation[block], lane, &r);
      yw_lanes_sym3_store(&stretch[block], lane, &s);
    }
    if (degenerate != 0) {
      yw_polar_strided(degenerate, YW_LANES, a[block].m[0], NULL, rotation[block].m[0],
                       stretch[block].m[0]);
    }
  }
}

static int32_t polar_warm(int32_t count, const yw_mat3x16* a, yw_quatx16* guess,
                          yw_mat3x16* rotation, yw_sym3x16* stretch) {
  int32_t rescued = 0;
  for (int32_t first = 0; first < count; first += TILE_BLOCKS) {
    int32_t end = first + TILE_BLOCKS < count ? first + TILE_BLOCKS : count;
    for (int32_t block = first; block < end; ++block) {
      for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
        yw_lanes_mat3 m = yw_lanes_mat3_load(&a[block], lane);
        yw_lanes_quat q = yw_lanes_quat_load(&guess[block], lane);
        q = yw_lanes_polar_step(&m, q);
        yw_lanes_quat_store(&guess[block], lane, &q);
      }
    }
    for (int32_t block = first; block < end; ++block) {
      for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
        yw_lanes_mat3 m = yw_lanes_mat3_load(&a[block], lane), r;
        yw_lanes_quat q = yw_lanes_quat_load(&guess[block], lane);
        yw_lanes_sym3 s;
        rescued += __builtin_popcount(yw_lanes_polar_finish_all(&m, &q, &r, &s));
        yw_lanes_quat_store(&guess[block], lane, &q);
        yw_lanes_mat3_store(&rotation[block], lane, &r);
        yw_lanes_sym3_store(&stretch[block], lane, &s);
      }
    }
  }
  return rescued;
}

typedef struct column {
  yw_vf x, y, z;
} column;

// A symmetric matrix being diagonalised, and the rotation V so far, by columns.
typedef struct jacobi {
  yw_lanes_sym3 s;
  column vx, vy, vz;
} jacobi;

// Zeroes the off-diagonal entry pq by a rotation of columns p and q; rp and rq are the off-diagonal
// entries that share an index with it.
YW_LANE_FN void zero_entry(yw_vf* pp, yw_vf* qq, yw_vf* pq, yw_vf* rp, yw_vf* rq, column* vp,
                           column* vq) {
  // The tangent of the angle is off / (difference + hypot) for difference >= 0. If both are
  // negligible, the entry is zero to float precision.
  yw_vf mean = 0.5f * (*pp + *qq), difference = 0.5f * (*qq - *pp), off = *pq;
  yw_vf hypot = yw_vf_sqrt(difference * difference + off * off);
  yw_vf base = yw_vf_abs(difference) + hypot;
  yw_vf length2 = base * base + off * off;
  yw_vi usable = length2 > 1e-30f, negative = difference < 0.0f;
  yw_vf inv = 1.0f / yw_vf_sqrt(length2);
  yw_vf c = yw_vf_select(usable, base * inv, yw_vf_splat(1.0f));
  yw_vf s = yw_vf_select(usable, off * inv, yw_vf_splat(0.0f));
  s = yw_vf_select(negative, -s, s);
  hypot = yw_vf_select(negative, -hypot, hypot);

  *pp = mean - hypot;
  *qq = mean + hypot;
  *pq = yw_vf_splat(0.0f);
  yw_vf old_rp = *rp, old_rq = *rq;
  *rp = c * old_rp - s * old_rq;
  *rq = s * old_rp + c * old_rq;
  column p = *vp, q = *vq;
  *vp = (column){c * p.x - s * q.x, c * p.y - s * q.y, c * p.z - s * q.z};
  *vq = (column){s * p.x + c * q.x, s * p.y + c * q.y, s * p.z + c * q.z};
}

YW_LANE_FN void zero_xy(jacobi* j) {
  zero_entry(&j->s.xx, &j->s.yy, &j->s.xy, &j->s.xz, &j->s.yz, &j->vx, &j->vy);
}

YW_LANE_FN void zero_xz(jacobi* j) {
  zero_entry(&j->s.xx, &j->s.zz, &j->s.xz, &j->s.xy, &j->s.yz, &j->vx, &j->vz);
}

YW_LANE_FN void zero_yz(jacobi* j) {
  zero_entry(&j->s.yy, &j->s.zz, &j->s.yz, &j->s.xy, &j->s.xz, &j->vy, &j->vz);
}

// Sorts the larger value first; one column changes sign so that V stays a proper rotation.
YW_LANE_FN void order(yw_vf* first, yw_vf* second, column* v1, column* v2) {
  yw_vi swap = *first < *second;
  yw_vf value = *first;
  *first = yw_vf_select(swap, *second, value);
  *second = yw_vf_select(swap, value, *second);
  column v = *v1;
  *v1 = (column){yw_vf_select(swap, v2->x, v.x), yw_vf_select(swap, v2->y, v.y),
                 yw_vf_select(swap, v2->z, v.z)};
  *v2 = (column){yw_vf_select(swap, -v.x, v2->x), yw_vf_select(swap, -v.y, v2->y),
                 yw_vf_select(swap, -v.z, v2->z)};
}

YW_LANE_FN jacobi jacobi_begin(const yw_sym3x16* s, int32_t lane) {
  yw_vf zero = yw_vf_splat(0.0f), one = yw_vf_splat(1.0f);
  return (jacobi){
      yw_lanes_sym3_load(s, lane), {one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
}

// Singular values and U = R V of one register; takes R from u and its scale from sigma.
YW_LANE_FN void jacobi_end(jacobi* j, int32_t lane, yw_mat3x16* u, float sigma[3][YW_LANES],
                           yw_mat3x16* v) {
  order(&j->s.xx, &j->s.yy, &j->vx, &j->vy);
  order(&j->s.yy, &j->s.zz, &j->vy, &j->vz);
  order(&j->s.xx, &j->s.yy, &j->vx, &j->vy);
  yw_vf largest = yw_vf_load(sigma[0] + lane);
  yw_vf_store(sigma[0] + lane, j->s.xx * largest);
  yw_vf_store(sigma[1] + lane, j->s.yy * largest);
  yw_vf_store(sigma[2] + lane, j->s.zz * largest);
  yw_lanes_mat3 right = {j->vx.x, j->vy.x, j->vz.x, j->vx.y, j->vy.y,
                         j->vz.y, j->vx.z, j->vy.z, j->vz.z};
  yw_lanes_mat3 r = yw_lanes_mat3_load(u, lane), left = yw_lanes_mat3_mul(&r, &right);
  yw_lanes_mat3_store(u, lane, &left);
  yw_lanes_mat3_store(v, lane, &right);
}

static yw_mat3 mat3_of_lane(const yw_mat3x16* m, int32_t lane) {
  return (yw_mat3){{m->m[0][lane], m->m[3][lane], m->m[6][lane]},
                   {m->m[1][lane], m->m[4][lane], m->m[7][lane]},
                   {m->m[2][lane], m->m[5][lane], m->m[8][lane]}};
}

static void mat3_to_lane(yw_mat3x16* to, int32_t lane, const yw_mat3* m) {
  const yw_vec3 columns[3] = {m->cx, m->cy, m->cz};
  for (int c = 0; c < 3; ++c) {
    to->m[c][lane] = columns[c].x;
    to->m[3 + c][lane] = columns[c].y;
    to->m[6 + c][lane] = columns[c].z;
  }
}

// Completes the decomposition of one tile from u = R, sigma[0] = scale and s = S. Two registers at
// a time, because a rotation is one long dependency chain of roots and quotients.
static void diagonalise_tile(int32_t count, const yw_sym3x16* s, yw_mat3x16* u,
                             float (*sigma)[3][YW_LANES], yw_mat3x16* v) {
  const int32_t per_block = YW_LANES / YW_VF_LANES, total = count * per_block;
  for (int32_t i = 0; i < total; i += 2) {
    // The last odd register is paired with the unused one after it.
    int32_t block0 = i / per_block, lane0 = i % per_block * YW_VF_LANES;
    int32_t block1 = (i + 1) / per_block, lane1 = (i + 1) % per_block * YW_VF_LANES;
    jacobi j0 = jacobi_begin(&s[block0], lane0), j1 = jacobi_begin(&s[block1], lane1);
    for (int sweep = 0; sweep < JACOBI_SWEEPS; ++sweep) {
      zero_xy(&j0);
      zero_xy(&j1);
      zero_xz(&j0);
      zero_xz(&j1);
      zero_yz(&j0);
      zero_yz(&j1);
    }
    jacobi_end(&j0, lane0, &u[block0], sigma[block0], &v[block0]);
    if (i + 1 < total) jacobi_end(&j1, lane1, &u[block1], sigma[block1], &v[block1]);
  }
}

static void svd_lanes(uint32_t lanes, const yw_mat3x16* a, yw_mat3x16* u, float sigma[3][YW_LANES],
                      yw_mat3x16* v) {
  for (; lanes != 0; lanes &= lanes - 1) {
    int32_t lane = __builtin_ctz(lanes);
    yw_mat3 m = mat3_of_lane(a, lane), left, right;
    yw_vec3 values;
    yw_svd(&m, &left, &values, &right);
    mat3_to_lane(u, lane, &left);
    mat3_to_lane(v, lane, &right);
    sigma[0][lane] = values.x;
    sigma[1][lane] = values.y;
    sigma[2][lane] = values.z;
  }
}

static void svd(int32_t count, const yw_mat3x16* a, yw_mat3x16* u, float (*sigma)[3][YW_LANES],
                yw_mat3x16* v) {
  yw_sym3x16 s[TILE_BLOCKS + 1] = {0};
  uint32_t degenerate[TILE_BLOCKS];
  for (int32_t first = 0; first < count; first += TILE_BLOCKS) {
    int32_t size = count - first < TILE_BLOCKS ? count - first : TILE_BLOCKS;
    for (int32_t k = 0; k < size; ++k) {
      degenerate[k] = 0;
      for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
        yw_lanes_mat3 r;
        yw_lanes_sym3 stretch;
        yw_vf largest;
        degenerate[k] |= cold(&a[first + k], lane, &r, &stretch, &largest);
        yw_lanes_mat3_store(&u[first + k], lane, &r);
        yw_lanes_sym3_store(&s[k], lane, &stretch);
        yw_vf_store(sigma[first + k][0] + lane, largest);
      }
    }
    diagonalise_tile(size, s, u + first, sigma + first, v + first);
    for (int32_t k = 0; k < size; ++k) {
      svd_lanes(degenerate[k], &a[first + k], &u[first + k], sigma[first + k], &v[first + k]);
    }
  }
}

extern const yw_polar_batch_fns YW_KERNEL(yw_polar_table);
const yw_polar_batch_fns YW_KERNEL(yw_polar_table) = {polar, polar_warm, svd};
