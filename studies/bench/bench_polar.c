// SPDX-License-Identifier: MIT
// yawara bench polar: nanoseconds per 3x3 matrix of the batched decompositions at each instruction
// set, compared with those for a single matrix.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "console/options.h"
#include "math/small/polar.h"
#include "math/small/trig.h"
#include "reference/clock.h"

// Few enough to stay in the L1 cache.
#define BLOCKS 12
#define MATRICES (BLOCKS * YW_LANES)
#define ROUNDS 10
enum { NUM_SIMD = YW_SIMD_AVX512 + 1 };

// What is measured: warm starts off by some angle, cold starts, singular values.
typedef enum polar_kind { POLAR_WARM, POLAR_COLD, POLAR_SVD } polar_kind;
typedef struct polar_case {
  const char* name;
  polar_kind kind;
  float angle;  // rad, of the guess
} polar_case;

static const polar_case cases[] = {
    {"polar, warm, 0.001 rad off", POLAR_WARM, 0.001f},
    {"polar, warm, 0.1 rad off", POLAR_WARM, 0.1f},
    {"polar, warm, 0.5 rad off", POLAR_WARM, 0.5f},
    {"polar, cold", POLAR_COLD, 0.0f},
    {"svd", POLAR_SVD, 0.0f},
};
enum { NUM_CASES = sizeof cases / sizeof cases[0] };

typedef struct polar_data {
  yw_mat3x16 a[BLOCKS], r[BLOCKS], v[BLOCKS];
  yw_sym3x16 s[BLOCKS];
  yw_quatx16 guess[BLOCKS], q[BLOCKS];
  float sigma[BLOCKS][3][YW_LANES];
  yw_mat3 single[MATRICES];
} polar_data;

static float uniform(uint32_t* seed, float low, float high) {
  *seed = *seed * 1664525u + 1013904223u;
  return low + (high - low) * (float)(*seed >> 8) / 16777216.0f;
}

// Stretches of about 0.8 to 1.25 under any rotation.
static void fill(polar_data* d, float angle) {
  uint32_t seed = 1;
  for (int i = 0; i < MATRICES; ++i) {
    int block = i / YW_LANES, lane = i % YW_LANES;
    yw_quat turn = yw_quat_normalize((yw_quat){uniform(&seed, -1, 1), uniform(&seed, -1, 1),
                                               uniform(&seed, -1, 1), uniform(&seed, -1, 1)});
    float xy = uniform(&seed, -0.1f, 0.1f), xz = uniform(&seed, -0.1f, 0.1f);
    float yz = uniform(&seed, -0.1f, 0.1f);
    yw_mat3 stretch = {{uniform(&seed, 0.8f, 1.25f), xy, xz},
                       {xy, uniform(&seed, 0.8f, 1.25f), yz},
                       {xz, yz, uniform(&seed, 0.8f, 1.25f)}};
    yw_mat3 m = d->single[i] = yw_mat3_mul(yw_mat3_from_quat(turn), stretch);
    const yw_vec3 c[3] = {m.cx, m.cy, m.cz};
    for (int k = 0; k < 3; ++k) {
      d->a[block].m[k][lane] = c[k].x;
      d->a[block].m[3 + k][lane] = c[k].y;
      d->a[block].m[6 + k][lane] = c[k].z;
    }
    yw_vec3 axis = {uniform(&seed, -1, 1), uniform(&seed, -1, 1), uniform(&seed, -1, 1)};
    yw_quat g = yw_quat_mul(turn, yw_quat_axis_angle(axis, angle));
    const float e[4] = {g.x, g.y, g.z, g.w};
    for (int k = 0; k < 4; ++k) d->guess[block].m[k][lane] = e[k];
  }
}

static double time_batch(polar_data* d, polar_kind kind, yw_simd level) {
  const yw_polar_batch_fns* fns = yw_polar_batch(level);
  double start = bench_seconds(true);
  for (int round = 0; round < ROUNDS; ++round) {
    if (kind == POLAR_WARM) {
      memcpy(d->q, d->guess, sizeof d->q);
      fns->polar_warm(BLOCKS, d->a, d->q, d->r, d->s);
    } else if (kind == POLAR_COLD) {
      fns->polar(BLOCKS, d->a, d->r, d->s);
    } else {
      fns->svd(BLOCKS, d->a, d->r, d->sigma, d->v);
    }
  }
  return 1e9 * (bench_seconds(true) - start) / (ROUNDS * MATRICES);
}

static double time_single(polar_data* d, polar_kind kind) {
  float sum = 0.0f;
  double start = bench_seconds(true);
  for (int i = 0; i < MATRICES; ++i) {
    yw_mat3 u, v;
    yw_vec3 sigma;
    if (kind == POLAR_SVD) {
      yw_svd(&d->single[i], &u, &sigma, &v);
    } else {
      yw_polar(&d->single[i], &u, &v);
    }
    sum += u.cx.x;
  }
  double each = 1e9 * (bench_seconds(true) - start) / MATRICES;
  d->r[0].m[0][0] = sum;  // prevents the calls from being optimised away
  return each;
}

static void measure(const bench_run* run, const polar_case* c, polar_data* d) {
  double best[NUM_SIMD], single = INFINITY;
  for (int level = 0; level < NUM_SIMD; ++level) best[level] = INFINITY;
  fill(d, c->angle);
  for (int32_t r = 0; r < bench_repetitions(run, 400, 40); ++r) {
    for (yw_simd level = YW_SIMD_PLAIN; level <= run->simd; ++level) {
      if (yw_simd_resolve(level) != level) continue;
      best[level] = fmin(best[level], time_batch(d, c->kind, level));
    }
    single = fmin(single, time_single(d, c->kind));
  }
  for (yw_simd level = YW_SIMD_PLAIN; level <= run->simd; ++level) {
    if (!isfinite(best[level])) continue;
    char name[64];
    snprintf(name, sizeof name, "%s, %s", c->name, yw_simd_name(level));
    bench_row row = {.name = name,
                     .threads = 1,
                     .value = best[level],
                     .unit = "ns",
                     .against = "one at a time",
                     .ratio = single / best[level]};
    bench_print(run, &row);
  }
}

int bench_polar(const bench_run* run) {
  static polar_data data;
  for (int i = 0; i < NUM_CASES; ++i) measure(run, &cases[i], &data);
  return EXIT_DONE;
}
