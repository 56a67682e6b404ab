// SPDX-License-Identifier: MIT
// Kernels: files named *_kernels.c are compiled once per instruction set (see CMakeLists.txt) and
// selected at run time. In such a file every function with external linkage is named
// YW_KERNEL(name). Loops run over 16 lanes; the compiler maps them to the available registers. With
// -ffp-contract=off, results are bitwise identical at every level.
#ifndef YW_BASE_SIMD_H
#define YW_BASE_SIMD_H

#include "yawara/base.h"

#define YW_LANES 16

#define YW_KERNEL_JOIN2(name, suffix) name##_##suffix
#define YW_KERNEL_JOIN(name, suffix) YW_KERNEL_JOIN2(name, suffix)
#ifdef YW_SIMD_SUFFIX
#define YW_KERNEL(name) YW_KERNEL_JOIN(name, YW_SIMD_SUFFIX)
#endif

// Selects the compiled variant of a kernel table: YW_KERNEL_PICK(polar_table, level).
#ifdef YW_HAVE_X86_KERNELS
#define YW_KERNEL_PICK(name, level)           \
  ((level) == YW_SIMD_AVX512 ? &name##_avx512 \
   : (level) == YW_SIMD_AVX2 ? &name##_avx2   \
                             : &name##_plain)
#else
#define YW_KERNEL_PICK(name, level) ((void)(level), &name##_plain)
#endif

#endif
