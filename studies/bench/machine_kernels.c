// SPDX-License-Identifier: MIT
// Loops that show the peak of an instruction set. Multiplications and additions stay separate, as
// -ffp-contract=off requires throughout the library.
#include "bench/machine.h"
#include "math/small/lanes.h"

#define REGISTERS (YW_LANES / YW_VF_LANES)

// Accumulators of the reading loop.
#define SUMS 8

static float sum_lanes(const yw_vf* values, int count) {
  float sum = 0.0f;
  for (int c = 0; c < count; ++c) {
    for (int l = 0; l < YW_VF_LANES; ++l) sum += values[c][l];
  }
  return sum;
}

// Additions and multiplications in separate chains: neither waits for the other.
static float multiply_add(int32_t rounds) {
  yw_vf a[MACHINE_CHAINS], m[MACHINE_CHAINS];
  yw_vf scale = yw_vf_splat(0.9999999f), shift = yw_vf_splat(1e-7f);
  for (int c = 0; c < MACHINE_CHAINS; ++c) {
    a[c] = yw_vf_splat((float)c);
    m[c] = yw_vf_splat((float)(c + 1));
  }
  for (int32_t r = 0; r < rounds * REGISTERS; ++r) {
    for (int c = 0; c < MACHINE_CHAINS; ++c) {
      a[c] = a[c] + shift;
      m[c] = m[c] * scale;
    }
  }
  return sum_lanes(a, MACHINE_CHAINS) + sum_lanes(m, MACHINE_CHAINS);
}

static float read_array(int32_t passes, int32_t count, const float* from) {
  yw_vf sums[SUMS];
  for (int c = 0; c < SUMS; ++c) sums[c] = yw_vf_splat(0.0f);
  for (int32_t p = 0; p < passes; ++p) {
    for (int32_t i = 0; i < count; i += SUMS * YW_VF_LANES) {
      for (int c = 0; c < SUMS; ++c) sums[c] += yw_vf_load(from + i + c * YW_VF_LANES);
    }
  }
  return sum_lanes(sums, SUMS);
}

static void triad(int32_t count, float* a, const float* b, const float* c) {
  for (int32_t i = 0; i < count; i += YW_LANES) {
    for (int32_t l = 0; l < YW_LANES; l += YW_VF_LANES) {
      yw_vf_store(a + i + l, yw_vf_load(b + i + l) + 0.5f * yw_vf_load(c + i + l));
    }
  }
}

extern const machine_kernels YW_KERNEL(yw_machine_kernels);
const machine_kernels YW_KERNEL(yw_machine_kernels) = {multiply_add, read_array, triad};
