// SPDX-License-Identifier: MIT
#include "bench/machine.h"

#include <math.h>
#include <unistd.h>

#include "reference/clock.h"
#include "yawara/extend/memory.h"

extern const machine_kernels yw_machine_kernels_plain, yw_machine_kernels_avx2,
    yw_machine_kernels_avx512;

// Common sizes, for systems that do not report them. Reported sizes of L3, which cores and virtual
// machines share, are unreliable.
static const long usual_size[MACHINE_MEMORY] = {32 << 10, 512 << 10, 16 << 20};
#define MEMORY_BYTES (192 << 20)
// Buffers consist of three arrays of whole vectors.
#define GRAIN (3 * 128 * (int32_t)sizeof(float))

struct machine_bench {
  float* data;  // the largest buffer; smaller ones use its start
  volatile float sink;
};

const char* machine_level_name(machine_level level) {
  static const char* const names[MACHINE_NUM_LEVELS] = {"L1", "L2", "L3", "memory"};
  return names[level];
}

static long cache_size(machine_level level) {
  long size = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
  if (level == MACHINE_L1) size = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  if (level == MACHINE_L2) size = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
  return size > 0 ? size : usual_size[level];
}

// Most of a cache; a buffer in memory is much larger than any cache.
static int32_t buffer_bytes(machine_level level) {
  if (level == MACHINE_MEMORY) return MEMORY_BYTES;
  long bytes = cache_size(level) / 4 * 3;
  if (bytes > MEMORY_BYTES / 4) bytes = MEMORY_BYTES / 4;
  return (int32_t)bytes / GRAIN * GRAIN;
}

machine_level machine_level_of(double bytes) {
  machine_level level = MACHINE_L1;
  while (level < MACHINE_MEMORY && bytes > (double)cache_size(level)) ++level;
  return level;
}

machine_bench* machine_bench_create(void) {
  machine_bench* bench = YW_NEW(NULL, machine_bench);
  if (!bench) return NULL;
  size_t count = MEMORY_BYTES / sizeof(float);
  bench->data = YW_NEW_ARRAY(NULL, float, count);
  if (!bench->data) {
    machine_bench_destroy(bench);
    return NULL;
  }
  // Written once, so that every page is mapped.
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
  double start = bench_seconds(true);
  bench->sink = kernels->multiply_add(ROUNDS);
  return ROUNDS * 2.0 * MACHINE_CHAINS * YW_LANES / (bench_seconds(true) - start);
}

// Enough passes over the buffer to take a few milliseconds.
static int32_t passes_of(machine_level level) {
  int32_t passes = (32 << 20) / buffer_bytes(level);
  return passes > 1 ? passes : 1;
}

static double measure_read(machine_bench* bench, const machine_kernels* kernels,
                           machine_level level) {
  int32_t passes = passes_of(level), bytes = buffer_bytes(level);
  double start = bench_seconds(true);
  bench->sink = kernels->read(passes, bytes / (int32_t)sizeof(float), bench->data);
  return (double)passes * (double)bytes / (bench_seconds(true) - start);
}

static double measure_triad(machine_bench* bench, const machine_kernels* kernels,
                            machine_level level) {
  int32_t passes = passes_of(level), bytes = buffer_bytes(level);
  int32_t count = bytes / (3 * (int32_t)sizeof(float));
  float *a = bench->data, *b = a + count, *c = b + count;
  double start = bench_seconds(true);
  for (int32_t p = 0; p < passes; ++p) kernels->triad(count, a, b, c);
  return (double)passes * (double)bytes / (bench_seconds(true) - start);
}

const machine_kernels* machine_kernels_of(yw_simd simd) {
  return YW_KERNEL_PICK(yw_machine_kernels, yw_simd_resolve(simd));
}

void machine_bench_round(machine_bench* bench, yw_simd simd, machine* best) {
  const machine_kernels* kernels = machine_kernels_of(simd);
  best->flops = fmax(best->flops, measure_flops(bench, kernels));
  for (machine_level level = MACHINE_L1; level < MACHINE_NUM_LEVELS; ++level) {
    best->read[level] = fmax(best->read[level], measure_read(bench, kernels, level));
    best->triad[level] = fmax(best->triad[level], measure_triad(bench, kernels, level));
  }
}
