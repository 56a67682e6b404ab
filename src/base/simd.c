// SPDX-License-Identifier: MIT
#include "base/simd.h"

static yw_simd best_level(void) {
#ifdef YW_HAVE_X86_KERNELS
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
    return YW_SIMD_AVX512;
  }
  if (__builtin_cpu_supports("avx2")) return YW_SIMD_AVX2;
#endif
  return YW_SIMD_PLAIN;
}

yw_simd yw_simd_resolve(yw_simd wanted) {
  yw_simd best = best_level();
  return wanted == YW_SIMD_AUTO || wanted > best ? best : wanted;
}

const char* yw_simd_name(yw_simd level) {
  switch (level) {
    case YW_SIMD_AUTO:
      return "auto";
    case YW_SIMD_PLAIN:
      return "plain";
    case YW_SIMD_AVX2:
      return "avx2";
    case YW_SIMD_AVX512:
      return "avx512";
  }
  return "unknown";
}
