// SPDX-License-Identifier: MIT
#include "machine.h"

#include <math.h>

#include "base/memory.h"
#include "base/timer.h"

extern const machine_kernels yw_machine_kernels_plain, yw_machine_kernels_avx2,
    yw_machine_kernels_avx512;

// Bytes of all three arrays of the triad together; a third of the smallest cache of common machines
// is left for others.
static const int32_t level_bytes[MACHINE_NUM_LEVELS] = {24 << 10, 384 << 10, 12 << 20, 192 << 20};

struct machine_bench {
  float* data;  // the largest buffer; smaller ones are its beginning
  volatile float sink;
};

const char* machine_level_name(machine_level level) {
  static const char* const names[MACHINE_NUM_LEVELS] = {"L1", "L2", "L3", "memory"};
  return names[level];
}

machine_level machine_level_of(double bytes) {
  machine_level level = MACHINE_L1;
  // The buffers fill 3/4 or less of their cache.
  while (level < MACHINE_MEMORY && bytes > 4.0 / 3.0 * (double)level_bytes[level]) ++level;
  return level;
}

machine_bench* machine_bench_create(void) {
  machine_bench* bench = YW_NEW(NULL, machine_bench);
  if (!bench) return NULL;
  size_t count = (size_t)level_bytes[MACHINE_MEMORY] / sizeof(float);
  bench->data = YW_NEW_ARRAY(NULL, float, count);
  if (!bench->data) {
    machine_bench_destroy(bench);
    return NULL;
  }
  // Written once, so that every page is there.
  for (size_t i = 0; i < count; ++i) bench->data[i] = 1.0f;
  return bench;
}

void machine_bench_destroy(machine_bench* bench) {
  if (!bench) return;
  yw_mem_free(NULL, bench->data);
  yw_mem_free(NULL, bench);
}

static double measure_flops(machine_bench* bench, const machine_kernels* kernels) {
  enum { ROUNDS = 50000 };
  double start = yw_seconds();
  bench->sink = kernels->multiply_add(ROUNDS);
  return ROUNDS * 2.0 * MACHINE_CHAINS * YW_LANES / (yw_seconds() - start);
}

// Passes over the buffer that add up to a few milliseconds.
static int32_t passes_of(machine_level level) {
  return level == MACHINE_MEMORY ? 1 : (32 << 20) / level_bytes[level];
}

static double measure_read(machine_bench* bench, const machine_kernels* kernels,
                           machine_level level) {
  int32_t passes = passes_of(level), count = level_bytes[level] / (int32_t)sizeof(float);
  double start = yw_seconds();
  bench->sink = kernels->read(passes, count, bench->data);
  return (double)passes * (double)level_bytes[level] / (yw_seconds() - start);
}

static double measure_triad(machine_bench* bench, const machine_kernels* kernels,
                            machine_level level) {
  int32_t passes = passes_of(level), count = level_bytes[level] / (3 * (int32_t)sizeof(float));
  float *a = bench->data, *b = a + count, *c = b + count;
  double start = yw_seconds();
  for (int32_t p = 0; p < passes; ++p) kernels->triad(count, a, b, c);
  return (double)passes * (double)level_bytes[level] / (yw_seconds() - start);
}

void machine_bench_round(machine_bench* bench, yw_simd simd, machine* best) {
  const machine_kernels* kernels = YW_KERNEL_PICK(yw_machine_kernels, yw_simd_resolve(simd));
  best->flops = fmax(best->flops, measure_flops(bench, kernels));
  for (machine_level level = MACHINE_L1; level < MACHINE_NUM_LEVELS; ++level) {
    best->read[level] = fmax(best->read[level], measure_read(bench, kernels, level));
    best->triad[level] = fmax(best->triad[level], measure_triad(bench, kernels, level));
  }
}
