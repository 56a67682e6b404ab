// SPDX-License-Identifier: MIT
// Small matrices by lane that match_kernels.c needs besides math/lanes_mat3.h.
#ifndef YW_METHODS_MATCH_LANES_H
#define YW_METHODS_MATCH_LANES_H

#include "math/small/lanes_mat3.h"
#include "methods/match/model.h"

typedef struct vec_lanes {
  yw_vf x, y, z;
} vec_lanes;

/// One register of lanes of a block.
typedef struct lane_set {
  int32_t block, lane;
} lane_set;

/// xx, yy, zz, xy, xz, yz, 16 floats each, as in yw_sym3x16.
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

#endif
