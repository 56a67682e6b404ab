// SPDX-License-Identifier: MIT
// Batches of polar and singular value decompositions: loops over polar_lanes.h, and a symmetric
// Jacobi iteration that makes an SVD of a polar decomposition: A = R S, S = V D V^T, U = R V.
#include "math/polar_lanes.h"

// Sweeps after which the off-diagonals of any symmetric 3x3 float matrix are below rounding.
#define JACOBI_SWEEPS 4

static void polar(int32_t count, const yw_mat3x16* a, yw_mat3x16* rotation, yw_sym3x16* stretch) {
  for (int32_t block = 0; block < count; ++block) {
    uint32_t degenerate = 0;
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_lanes_mat3 m = yw_lanes_mat3_load(&a[block], lane), r;
      yw_lanes_quat q;
      yw_lanes_sym3 s;
      degenerate |= yw_vi_bits(yw_lanes_polar_cold(&m, &q, &r, &s)) << lane;
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
  for (int32_t block = 0; block < count; ++block) {
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_lanes_mat3 m = yw_lanes_mat3_load(&a[block], lane), r;
      yw_lanes_quat q = yw_lanes_quat_load(&guess[block], lane);
      yw_lanes_sym3 s;
      rescued += __builtin_popcount(yw_lanes_polar_warm(&m, &q, &r, &s));
      yw_lanes_quat_store(&guess[block], lane, &q);
      yw_lanes_mat3_store(&rotation[block], lane, &r);
      yw_lanes_sym3_store(&stretch[block], lane, &s);
    }
  }
  return rescued;
}

typedef struct column {
  yw_vf x, y, z;
} column;

// Zeroes the off-diagonal pq of a symmetric matrix by a rotation of columns p and q; rp and rq are
// the off-diagonals that share one index with it.
YW_LANE_FN void jacobi(yw_vf* pp, yw_vf* qq, yw_vf* pq, yw_vf* rp, yw_vf* rq, column* vp,
                       column* vq) {
  // t, the tangent, is the smaller root of t^2 + 2 theta t = 1 with theta = (qq - pp) / (2 pq),
  // written so that pq = 0 gives 0, and squares of tiny numbers only ever vanish beside large ones.
  yw_vf difference = 0.5f * (*qq - *pp), off = *pq;
  yw_vf hypot = yw_vf_sqrt(difference * difference + off * off);
  yw_vf below = yw_vf_abs(difference) + hypot;
  yw_vi usable = below > 1e-30f;
  yw_vf signed_off = yw_vf_select(difference < 0.0f, -off, off);
  yw_vf t = yw_vf_select(usable, signed_off / yw_vf_select(usable, below, yw_vf_splat(1.0f)),
                         yw_vf_splat(0.0f));
  yw_vf c = 1.0f / yw_vf_sqrt(1.0f + t * t), s = t * c;

  *pp -= t * off;
  *qq += t * off;
  *pq = yw_vf_splat(0.0f);
  yw_vf old_rp = *rp, old_rq = *rq;
  *rp = c * old_rp - s * old_rq;
  *rq = s * old_rp + c * old_rq;
  column p = *vp, q = *vq;
  *vp = (column){c * p.x - s * q.x, c * p.y - s * q.y, c * p.z - s * q.z};
  *vq = (column){s * p.x + c * q.x, s * p.y + c * q.y, s * p.z + c * q.z};
}

// Puts the larger value first; one column changes sign so that V stays a proper rotation.
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

YW_LANE_FN yw_lanes_mat3 eigen(const yw_lanes_sym3* a, yw_vf values[3]) {
  yw_lanes_sym3 s = *a;
  yw_vf zero = yw_vf_splat(0.0f), one = yw_vf_splat(1.0f);
  column vx = {one, zero, zero}, vy = {zero, one, zero}, vz = {zero, zero, one};
  for (int sweep = 0; sweep < JACOBI_SWEEPS; ++sweep) {
    jacobi(&s.xx, &s.yy, &s.xy, &s.xz, &s.yz, &vx, &vy);
    jacobi(&s.xx, &s.zz, &s.xz, &s.xy, &s.yz, &vx, &vz);
    jacobi(&s.yy, &s.zz, &s.yz, &s.xy, &s.xz, &vy, &vz);
  }
  order(&s.xx, &s.yy, &vx, &vy);
  order(&s.yy, &s.zz, &vy, &vz);
  order(&s.xx, &s.yy, &vx, &vy);
  values[0] = s.xx;
  values[1] = s.yy;
  values[2] = s.zz;
  return (yw_lanes_mat3){vx.x, vy.x, vz.x, vx.y, vy.y, vz.y, vx.z, vy.z, vz.z};
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

static void svd(int32_t count, const yw_mat3x16* a, yw_mat3x16* u, float (*sigma)[3][YW_LANES],
                yw_mat3x16* v) {
  for (int32_t block = 0; block < count; ++block) {
    uint32_t degenerate = 0;
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      yw_lanes_mat3 m = yw_lanes_mat3_load(&a[block], lane), r;
      yw_vf largest = yw_lanes_mat3_max_abs(&m);
      m = yw_lanes_mat3_scale(&m, 1.0f / largest);
      yw_lanes_quat q = yw_lanes_polar_guess(&m);
      yw_lanes_sym3 s;
      degenerate |= yw_vi_bits(yw_lanes_polar_settle(&m, &q, &r, &s)) << lane;
      yw_vf values[3];
      yw_lanes_mat3 vectors = eigen(&s, values);
      yw_lanes_mat3 left = yw_lanes_mat3_mul(&r, &vectors);
      for (int i = 0; i < 3; ++i) yw_vf_store(sigma[block][i] + lane, values[i] * largest);
      yw_lanes_mat3_store(&u[block], lane, &left);
      yw_lanes_mat3_store(&v[block], lane, &vectors);
    }
    for (; degenerate != 0; degenerate &= degenerate - 1) {
      int32_t lane = __builtin_ctz(degenerate);
      yw_mat3 m = mat3_of_lane(&a[block], lane), left, right;
      yw_vec3 values;
      yw_svd(&m, &left, &values, &right);
      mat3_to_lane(&u[block], lane, &left);
      mat3_to_lane(&v[block], lane, &right);
      sigma[block][0][lane] = values.x;
      sigma[block][1][lane] = values.y;
      sigma[block][2][lane] = values.z;
    }
  }
}

extern const yw_polar_batch_fns YW_KERNEL(yw_polar_table);
const yw_polar_batch_fns YW_KERNEL(yw_polar_table) = {polar, polar_warm, svd};
