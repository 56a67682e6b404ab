// SPDX-License-Identifier: MIT
// Nanoseconds per matrix of the polar and SVD batches at each instruction set.
//   cc -std=c17 -D_POSIX_C_SOURCE=200809L -O2 -Isrc -Iinclude bench/polar_bench.c build/libyawara.a
//   -lm -o polar_bench
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "math/polar.h"
#include "math/trig.h"

#define BLOCKS 12
#define ROUNDS 200
#define REPEATS 20

static yw_mat3x16 a[BLOCKS], r[BLOCKS], v[BLOCKS];
static yw_sym3x16 s[BLOCKS];
static yw_quatx16 guess[BLOCKS], q[BLOCKS];
static float sigma[BLOCKS][3][YW_LANES];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static float uniform(float low, float high) {
  static uint32_t seed = 1;
  seed = seed * 1664525u + 1013904223u;
  return low + (high - low) * (float)(seed >> 8) / 16777216.0f;
}

// Stretches of 0.8 to 1.25 under any rotation; guesses off by `angle`.
static void fill(float angle) {
  for (int i = 0; i < BLOCKS * YW_LANES; ++i) {
    yw_quat turn = yw_quat_normalize(
        (yw_quat){uniform(-1, 1), uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)});
    yw_mat3 rotation = yw_mat3_from_quat(turn);
    float xy = uniform(-0.1f, 0.1f), xz = uniform(-0.1f, 0.1f), yz = uniform(-0.1f, 0.1f);
    yw_mat3 stretch = {{uniform(0.8f, 1.25f), xy, xz},
                       {xy, uniform(0.8f, 1.25f), yz},
                       {xz, yz, uniform(0.8f, 1.25f)}};
    yw_mat3 m = yw_mat3_mul(rotation, stretch);
    const yw_vec3 c[3] = {m.cx, m.cy, m.cz};
    for (int k = 0; k < 3; ++k) {
      a[i / YW_LANES].m[k][i % YW_LANES] = c[k].x;
      a[i / YW_LANES].m[3 + k][i % YW_LANES] = c[k].y;
      a[i / YW_LANES].m[6 + k][i % YW_LANES] = c[k].z;
    }
    yw_vec3 axis = yw_v3(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1));
    yw_quat g = yw_quat_mul(turn, yw_quat_axis_angle(axis, angle));
    const float e[4] = {g.x, g.y, g.z, g.w};
    for (int k = 0; k < 4; ++k) guess[i / YW_LANES].m[k][i % YW_LANES] = e[k];
  }
}

static double measure(const yw_polar_batch_fns* fns, int what) {
  double best = 1e30;
  for (int repeat = 0; repeat < REPEATS; ++repeat) {
    double start = now();
    for (int round = 0; round < ROUNDS; ++round) {
      if (what == 0) {
        memcpy(q, guess, sizeof q);
        fns->polar_warm(BLOCKS, a, q, r, s);
      } else if (what == 1) {
        fns->polar(BLOCKS, a, r, s);
      } else {
        fns->svd(BLOCKS, a, r, sigma, v);
      }
    }
    double each = (now() - start) / (ROUNDS * BLOCKS * YW_LANES);
    if (each < best) best = each;
  }
  return best;
}

int main(void) {
  const float angles[] = {0.001f, 0.02f, 0.1f, 0.5f};
  printf("ns per matrix   warm 0.001  0.02   0.1   0.5 rad    cold    svd\n");
  for (int level = YW_SIMD_PLAIN; level <= YW_SIMD_AVX512; ++level) {
    if ((int)yw_simd_resolve((yw_simd)level) != level) continue;
    const yw_polar_batch_fns* fns = yw_polar_batch((yw_simd)level);
    printf("%-14s", yw_simd_name((yw_simd)level));
    for (int k = 0; k < 4; ++k) {
      fill(angles[k]);
      printf("  %6.2f", measure(fns, 0));
    }
    printf("      %6.2f %6.2f\n", measure(fns, 1), measure(fns, 2));
  }
  double best = 1e30;
  for (int repeat = 0; repeat < REPEATS; ++repeat) {
    double start = now();
    for (int i = 0; i < 2000; ++i) {
      yw_mat3 m = {{1, uniform(0, 1), 0.2f}, {uniform(0, 1), 1, 0.3f}, {0, 0.1f, uniform(0, 1)}};
      yw_mat3 rotation, stretch;
      yw_polar(&m, &rotation, &stretch);
      r[0].m[0][0] = rotation.cx.x + stretch.cx.x;
    }
    double each = (now() - start) / 2000;
    if (each < best) best = each;
  }
  printf("yw_polar        %6.0f\n", best);
  return 0;
}
