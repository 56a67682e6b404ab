// SPDX-License-Identifier: MIT
// Blue noise by the void-and-cluster method (Ulichney, Proc. SPIE 1913, 1993): points are ranked so
// that the first n of them are evenly spread for every n. Point sets are Hammersley's.
#include "render/trace/sampling.h"

#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define SIDE YW_NOISE_SIDE
#define CELLS (SIDE * SIDE)
#define REACH 7  // of the Gaussian with sigma 1.5; below 1e-4 beyond

static const double PI = 3.14159265358979323846;

typedef struct noise_maker {
  float kernel[2 * REACH + 1][2 * REACH + 1];
  float crowd[CELLS];  // density of set cells around
  bool set[CELLS];
} noise_maker;

static uint32_t next_random(uint64_t* state) {
  *state = *state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(*state >> 33);
}

static void toggle(noise_maker* maker, int32_t cell, bool set) {
  maker->set[cell] = set;
  float sign = set ? 1.0f : -1.0f;
  for (int32_t dy = -REACH; dy <= REACH; ++dy) {
    int32_t row = (cell / SIDE + dy) & (SIDE - 1);
    for (int32_t dx = -REACH; dx <= REACH; ++dx) {
      int32_t column = (cell % SIDE + dx) & (SIDE - 1);
      maker->crowd[row * SIDE + column] += sign * maker->kernel[dy + REACH][dx + REACH];
    }
  }
}

static int32_t largest_void(const noise_maker* maker) {
  int32_t best = -1;
  for (int32_t i = 0; i < CELLS; ++i) {
    if (!maker->set[i] && (best < 0 || maker->crowd[i] < maker->crowd[best])) best = i;
  }
  return best;
}

static int32_t tightest_cluster(const noise_maker* maker) {
  int32_t best = -1;
  for (int32_t i = 0; i < CELLS; ++i) {
    if (maker->set[i] && (best < 0 || maker->crowd[i] > maker->crowd[best])) best = i;
  }
  return best;
}

static void make_noise(noise_maker* maker, float* noise) {
  memset(maker, 0, sizeof *maker);
  for (int32_t dy = -REACH; dy <= REACH; ++dy) {
    for (int32_t dx = -REACH; dx <= REACH; ++dx) {
      maker->kernel[dy + REACH][dx + REACH] = expf(-(float)(dx * dx + dy * dy) / (2 * 1.5f * 1.5f));
    }
  }

  // A tenth of the cells, scattered at random, then moved from clusters to voids until even.
  const int32_t first = CELLS / 10;
  uint64_t random = 42;
  for (int32_t placed = 0; placed < first;) {
    int32_t cell = (int32_t)(next_random(&random) % CELLS);
    if (maker->set[cell]) continue;
    toggle(maker, cell, true);
    ++placed;
  }
  for (int32_t round = 0; round < CELLS; ++round) {
    int32_t from = tightest_cluster(maker);
    toggle(maker, from, false);
    int32_t to = largest_void(maker);
    toggle(maker, to, true);
    if (from == to) break;
  }

  // Ranks below the first pattern by removing points, above it by adding them.
  static const float scale = 1.0f / CELLS;
  bool pattern[CELLS];
  memcpy(pattern, maker->set, sizeof pattern);
  for (int32_t rank = first - 1; rank >= 0; --rank) {
    int32_t cell = tightest_cluster(maker);
    noise[cell] = (float)rank * scale;
    toggle(maker, cell, false);
  }
  for (int32_t i = 0; i < CELLS; ++i) {
    if (pattern[i]) toggle(maker, i, true);
  }
  for (int32_t rank = first; rank < CELLS; ++rank) {
    int32_t cell = largest_void(maker);
    noise[cell] = (float)rank * scale;
    toggle(maker, cell, true);
  }
}

yw_status yw_sampler_init(const yw_allocator* mem, yw_sampler* out, yw_error* error) {
  memset(out, 0, sizeof *out);
  out->mem = yw_mem_or_default(mem);
  noise_maker* maker = YW_NEW(mem, noise_maker);
  if (!maker) return yw_fail_memory(error, "the noise of the renderer");
  make_noise(maker, out->noise);
  yw_mem_free(mem, maker);
  for (int32_t i = 0; i < YW_CIRCLE_STEPS; ++i) {
    double angle = 2.0 * PI * (i + 0.5) / YW_CIRCLE_STEPS;
    out->circle[i][0] = (float)cos(angle);
    out->circle[i][1] = (float)sin(angle);
  }
  return YW_OK;
}

// The binary digits of i, mirrored at the point.
static float radical_inverse(uint32_t i) {
  i = (i << 16) | (i >> 16);
  i = ((i & 0x00ff00ffu) << 8) | ((i & 0xff00ff00u) >> 8);
  i = ((i & 0x0f0f0f0fu) << 4) | ((i & 0xf0f0f0f0u) >> 4);
  i = ((i & 0x33333333u) << 2) | ((i & 0xccccccccu) >> 2);
  i = ((i & 0x55555555u) << 1) | ((i & 0xaaaaaaaau) >> 1);
  return (float)(i >> 8) * (1.0f / 16777216.0f);
}

yw_status yw_sampler_resize(yw_sampler* sampler, int32_t count, yw_error* error) {
  if (sampler->count == count) return YW_OK;
  for (int32_t use = 0; use < YW_NUM_SAMPLE_USES; ++use) {
    float* points = YW_NEW_ARRAY(&sampler->mem, float, 2 * (size_t)count);
    if (!points) {
      sampler->count = 0;
      return yw_fail_memory(error, "the sample points of the renderer");
    }
    yw_mem_free(&sampler->mem, sampler->points[use]);
    sampler->points[use] = points;
    for (int32_t i = 0; i < count; ++i) {
      points[2 * i] = ((float)i + 0.5f) / (float)count;
      points[2 * i + 1] = radical_inverse((uint32_t)i) + 0.5f / (float)count;
    }
    // A different order for every use: a corner of the pixel must not always see the same part of
    // the sun.
    uint64_t random = (uint64_t)use;
    for (int32_t i = count - 1; i > 0 && use != YW_SAMPLE_PIXEL; --i) {
      int32_t j = (int32_t)(next_random(&random) % (uint32_t)(i + 1));
      for (int32_t k = 0; k < 2; ++k) {
        float kept = points[2 * i + k];
        points[2 * i + k] = points[2 * j + k];
        points[2 * j + k] = kept;
      }
    }
  }
  sampler->count = count;
  return YW_OK;
}

void yw_sampler_free(yw_sampler* sampler) {
  for (int32_t use = 0; use < YW_NUM_SAMPLE_USES; ++use) {
    yw_mem_free(&sampler->mem, sampler->points[use]);
  }
  memset(sampler, 0, sizeof *sampler);
}
