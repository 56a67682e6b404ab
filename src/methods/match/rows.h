// SPDX-License-Identifier: MIT
// Moving rows of 3x4 numbers into and out of lanes, for match_kernels.c.
//
// A row is three quads of floats. Sums over rings are computed row by row; everything else works on
// 16 rows at once, one quantity per register. Between the two are transposes of 4x4 blocks within
// 128-bit lanes, which leave particle 4 j + l of a block in lane 4 l + j (match_lane).
#ifndef YW_METHODS_MATCH_ROWS_H
#define YW_METHODS_MATCH_ROWS_H

#include "math/small/lanes_mat3.h"
#include "methods/match/model.h"

/// One register's worth of lanes of a block.
typedef struct lane_set {
  int32_t block, lane;
} lane_set;

#if YW_VF_LANES == 1

/// Sums of a ring, three quads.
typedef struct ring_sums {
  float sums[3][4];
} ring_sums;

YW_LANE_FN void load_sums(const ring_sums* sums, int q, int32_t lane, yw_vf v[4]) {
  (void)lane;
  for (int j = 0; j < 4; ++j) v[j] = sums->sums[q][j];
}

/// x, y, z, w of the particle in a lane of a block of 16.
YW_LANE_FN void load_vec4(const yw_vec4* block, int32_t lane, yw_vf v[4]) {
  yw_vec4 x = block[match_lane(lane)];
  v[0] = x.x, v[1] = x.y, v[2] = x.z, v[3] = x.w;
}

YW_LANE_FN void store_vec4(yw_vec4* block, int32_t lane, yw_vf v[4]) {
  block[match_lane(lane)] = (yw_vec4){v[0], v[1], v[2], v[3]};
}

/// Quads of the rows of a block are apart: threads write neighbouring ones at once.
YW_LANE_FN void store_rows(float* rows, int32_t lane, yw_vf x[4], yw_vf y[4], yw_vf z[4]) {
  yw_vec4* to = (yw_vec4*)rows + match_lane(lane);
  to[0] = (yw_vec4){x[0], x[1], x[2], x[3]};
  to[YW_LANES] = (yw_vec4){y[0], y[1], y[2], y[3]};
  to[2 * YW_LANES] = (yw_vec4){z[0], z[1], z[2], z[3]};
}

#else

#include "math/small/transpose_lanes.h"

/// x, y, z, w of the particles in lanes lane .. lane + YW_VF_LANES - 1 of a block of 16.
YW_LANE_FN void load_vec4(const yw_vec4* block, int32_t lane, yw_vf v[4]) {
  for (int j = 0; j < 4; ++j) v[j] = yw_vf_load(&block[4 * j + lane / 4].x);
  yw_lanes_transpose(v);
}

/// The reverse; overwrites v.
YW_LANE_FN void store_vec4(yw_vec4* block, int32_t lane, yw_vf v[4]) {
  yw_lanes_transpose(v);
  for (int j = 0; j < 4; ++j) yw_vf_store(&block[4 * j + lane / 4].x, v[j]);
}

#define ROW_AT(rows, ring, i) ((const float*)((rows) + (size_t)(ring)[i] * MATCH_RING_UNIT))

#if YW_VF_LANES == 16
#define LANES128(a, b, i, j, k, l)                                                          \
  __builtin_shufflevector(a, b, 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3, 4 * j, 4 * j + 1,   \
                          4 * j + 2, 4 * j + 3, 16 + 4 * k, 16 + 4 * k + 1, 16 + 4 * k + 2, \
                          16 + 4 * k + 3, 16 + 4 * l, 16 + 4 * l + 1, 16 + 4 * l + 2,       \
                          16 + 4 * l + 3)

/// Sums of 16 rings: yw_float4 q of row 4 j + l is yw_float4 l of sums[q][j].
typedef struct ring_sums {
  yw_vf sums[3][4];
} ring_sums;

/// Sums rows over the rings of regions 4 j .. 4 j + 3, each ring in its own order.
YW_LANE_FN void sum_four_rings(const char* rows, const uint16_t* rings, int32_t length, int j,
                               ring_sums* out) {
  const uint16_t *ring = rings + 4 * j, *end = ring + length * YW_LANES;
  yw_vf a = yw_vf_load(ROW_AT(rows, ring, 0)), b = yw_vf_load(ROW_AT(rows, ring, 1));
  yw_vf c = yw_vf_load(ROW_AT(rows, ring, 2)), d = yw_vf_load(ROW_AT(rows, ring, 3));
  for (ring += YW_LANES; ring < end; ring += YW_LANES) {
    a += yw_vf_load(ROW_AT(rows, ring, 0));
    b += yw_vf_load(ROW_AT(rows, ring, 1));
    c += yw_vf_load(ROW_AT(rows, ring, 2));
    d += yw_vf_load(ROW_AT(rows, ring, 3));
  }
  yw_vf ab = LANES128(a, b, 0, 1, 0, 1), cd = LANES128(c, d, 0, 1, 0, 1);
  yw_vf ab2 = LANES128(a, b, 2, 3, 2, 3), cd2 = LANES128(c, d, 2, 3, 2, 3);
  out->sums[0][j] = LANES128(ab, cd, 0, 2, 0, 2);
  out->sums[1][j] = LANES128(ab, cd, 1, 3, 1, 3);
  out->sums[2][j] = LANES128(ab2, cd2, 0, 2, 0, 2);
}

#else

typedef struct ring_sums {
  _Alignas(64) float sums[3][4][YW_LANES];
} ring_sums;

YW_LANE_FN void sum_four_rings(const char* rows, const uint16_t* rings, int32_t length, int j,
                               ring_sums* out) {
  for (int l = 0; l < 4; ++l) {
    const uint16_t* ring = rings + 4 * j + l;
    const float* row = ROW_AT(rows, ring, 0);
#if YW_VF_LANES == 8
    yw_vf q01 = yw_vf_load(row);
    yw_float4 q2 = yw_float4_load(row + 8);
    for (int32_t k = 1; k < length; ++k) {
      row = ROW_AT(rows, ring, k * YW_LANES);
      q01 += yw_vf_load(row);
      q2 += yw_float4_load(row + 8);
    }
    yw_float4 q0 = YW_ROW_OF(q01, 0), q1 = YW_ROW_OF(q01, 1);
#else
    yw_float4 q0 = yw_float4_load(row), q1 = yw_float4_load(row + 4), q2 = yw_float4_load(row + 8);
    for (int32_t k = 1; k < length; ++k) {
      row = ROW_AT(rows, ring, k * YW_LANES);
      q0 += yw_float4_load(row);
      q1 += yw_float4_load(row + 4);
      q2 += yw_float4_load(row + 8);
    }
#endif
    yw_float4_store(out->sums[0][j] + 4 * l, q0);
    yw_float4_store(out->sums[1][j] + 4 * l, q1);
    yw_float4_store(out->sums[2][j] + 4 * l, q2);
  }
}
#endif

/// Sums rows over the rings of 16 regions.
YW_LANE_FN void sum_rings(const char* rows, const uint16_t* rings, int32_t length, ring_sums* out) {
  sum_four_rings(rows, rings, length, 0, out);
  sum_four_rings(rows, rings, length, 1, out);
  sum_four_rings(rows, rings, length, 2, out);
  sum_four_rings(rows, rings, length, 3, out);
}

/// Four quantities of yw_float4 q of the sums, by lane.
YW_LANE_FN void load_sums(const ring_sums* sums, int q, int32_t lane, yw_vf v[4]) {
  for (int j = 0; j < 4; ++j) {
#if YW_VF_LANES == 16
    (void)lane;
    v[j] = sums->sums[q][j];
#else
    v[j] = yw_vf_load(sums->sums[q][j] + lane);
#endif
  }
  yw_lanes_transpose(v);
}

/// Writes the rows of a block whose quads are x, y, z; overwrites these.
YW_LANE_FN void store_rows(float* rows, int32_t lane, yw_vf x[4], yw_vf y[4], yw_vf z[4]) {
  yw_lanes_transpose(x);
  yw_lanes_transpose(y);
  yw_lanes_transpose(z);
  for (int j = 0; j < 4; ++j) {
    float* to = rows + (4 * j + lane / 4) * MATCH_ROW;
#if YW_VF_LANES == 16
    // Writes whole rows: the fourth yw_float4 is padding.
    yw_vf xy = LANES128(x[j], y[j], 0, 1, 0, 1), xy2 = LANES128(x[j], y[j], 2, 3, 2, 3);
    yw_vf zz = LANES128(z[j], z[j], 0, 1, 0, 1), zz2 = LANES128(z[j], z[j], 2, 3, 2, 3);
    yw_vf_store(to, LANES128(xy, zz, 0, 2, 0, 2));
    yw_vf_store(to + MATCH_ROW, LANES128(xy, zz, 1, 3, 1, 3));
    yw_vf_store(to + 2 * MATCH_ROW, LANES128(xy2, zz2, 0, 2, 0, 2));
    yw_vf_store(to + 3 * MATCH_ROW, LANES128(xy2, zz2, 1, 3, 1, 3));
#else
    yw_float4_store(to, YW_ROW_OF(x[j], 0));
    yw_float4_store(to + 4, YW_ROW_OF(y[j], 0));
    yw_float4_store(to + 8, YW_ROW_OF(z[j], 0));
#if YW_VF_LANES == 8
    yw_float4_store(to + MATCH_ROW, YW_ROW_OF(x[j], 1));
    yw_float4_store(to + MATCH_ROW + 4, YW_ROW_OF(y[j], 1));
    yw_float4_store(to + MATCH_ROW + 8, YW_ROW_OF(z[j], 1));
#endif
#endif
  }
}

#endif  // YW_VF_LANES == 1

#endif
