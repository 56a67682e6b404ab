// SPDX-License-Identifier: MIT
// How kernels are written: once, for CUDA and as loops for the processor.
//
// A kernel is a struct with THREADS, a type `args` and a function run(args, block, num_blocks,
// shared). Its phases are EACH_THREAD(t) { ... } with SYNC between them: threads of a block on a
// device, a loop over t on the processor. So nothing but shared memory lives from one phase to the
// next. As loops, a kernel gives the bits that it gives on a device, and tests need none.
#ifndef YW_DEVICE_CUDA_THREAD_H
#define YW_DEVICE_CUDA_THREAD_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __CUDACC__
#include <cuda_runtime.h>
#define KERNEL_FN static __device__
#define SHARED_FN static __host__ __device__
#define SHARED_METHOD __host__ __device__
#define KERNEL_METHOD __device__
#define APART_FN static __device__ __noinline__
#define EACH_THREAD(t) for (int t = (int)threadIdx.x, once = 1; once; once = 0)
#define SYNC() __syncthreads()
#define ADD_TO(where, value) atomicAdd(where, value)
/// What follows is not read before this point: it would only wait in registers, or beside them.
#define READ_FROM_HERE() asm volatile("" ::: "memory")
/// Brings a word into the first cache; nobody waits for it.
static __device__ __forceinline__ void touch(const void* address) {
  int unused;
  asm volatile("ld.global.b32 %0, [%1];" : "=r"(unused) : "l"(address));
}
#else
static inline void touch(const void* address) { (void)address; }
#define KERNEL_FN static
#define SHARED_FN static
#define SHARED_METHOD
#define KERNEL_METHOD
#define APART_FN static
#define EACH_THREAD(t) for (int t = 0; t < THREADS; ++t)
#define SYNC() (void)0
#define ADD_TO(where, value) (*(where) += (value))
#define READ_FROM_HERE() (void)0
#endif

// Memory ------------------------------------------------------------------------------------------

// A float as an integer of the same order, so that atomics find least and largest ones, and back.
SHARED_FN int order_of(float value) {
  int bits;
  memcpy(&bits, &value, sizeof bits);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}
SHARED_FN float float_of(int order) {
  float value;
  order ^= (order >> 31) & 0x7fffffff;
  memcpy(&value, &order, sizeof value);
  return value;
}

/// Lowers to[k] to the least value k of the first `count` threads of a block, all of which call it;
/// a multiple of 16. Who takes part must be said: threads that have gone different ways before need
/// not be together again.
#ifdef __CUDACC__
template <int N>
static __device__ void lower_all(int* to, const int (&values)[N], int count = 1024) {
  static_assert(N <= 16);
  const unsigned here = count - (int)(threadIdx.x & ~31u) >= 32 ? 0xffffffffu : 0xffffu;
  const int lane = (int)(threadIdx.x & 31);
  int own = 0;
#pragma unroll
  for (int k = 0; k < N; ++k) {
    int least = __reduce_min_sync(here, values[k]);
    if (lane == k) own = least;
  }
  if (lane < N) atomicMin(to + lane, own);
}
static __device__ void lower_one(int* to, int value) { atomicMin(to, value); }
#else
static void lower_one(int* to, int value) { *to = value < *to ? value : *to; }
template <int N>
static void lower_all(int* to, const int (&values)[N], int count = 0) {
  (void)count;
  for (int k = 0; k < N; ++k) lower_one(to + k, values[k]);
}
#endif

/// The number that was there, which becomes one more.
KERNEL_FN int32_t take_next(int32_t* from) {
#ifdef __CUDACC__
  return atomicAdd(from, 1);
#else
  return (*from)++;
#endif
}

// C headers of the library, as C++ with one lane per thread; inline functions run on both sides.
#define YW_ONE_LANE
#define _Alignas(bytes) alignas(bytes)
#define _Static_assert static_assert
#ifdef __CUDACC__
#define inline inline __host__ __device__
#endif
#include "contact/obstacle_particle.h"
#include "math/small/exact_sum.h"
#include "methods/fem/family_lanes.h"
#include "methods/fem/offload.h"
#include "methods/kit/pins.h"
#include "methods/match/between.h"
#include "methods/match/offload.h"
#include "methods/match/region_lanes.h"
#include "methods/plastic/cells.h"
#include "methods/plastic/flow_lanes.h"
#include "methods/plastic/offload.h"
#include "methods/plastic/slave_steps.h"
#include "methods/plastic/stress_lanes.h"
#include "methods/plastic/weight_lanes.h"
#undef inline

/// A box that many threads grow: lower corner, and bitwise complement of the upper one, so that all
/// six only ever become lower.
struct ordered_box {
  int least[6];
};
SHARED_FN ordered_box order_box(yw_aabb box) {
  return (ordered_box){{order_of(box.lower.x), order_of(box.lower.y), order_of(box.lower.z),
                        ~order_of(box.upper.x), ~order_of(box.upper.y), ~order_of(box.upper.z)}};
}
SHARED_FN yw_aabb box_of_ordered(const ordered_box* box) {
  const int* l = box->least;
  return (yw_aabb){{float_of(l[0]), float_of(l[1]), float_of(l[2])},
                   {float_of(~l[3]), float_of(~l[4]), float_of(~l[5])}};
}

/// True in the block that ends last of `count` blocks that ask: what the threads of all others up
/// to number last_writer have written is then there for it to read. `ended` counts the blocks and
/// returns to 0. As loops, blocks take turns, and it is the one with number `last`.
#ifdef __CUDACC__
static __device__ bool is_last_block(unsigned* ended, int num_blocks, int* shared_flag,
                                     bool wrote) {
  if (wrote) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    *shared_flag = atomicAdd(ended, 1u) == (unsigned)num_blocks - 1;
    if (*shared_flag) *ended = 0;
  }
  __syncthreads();
  if (*shared_flag) __threadfence();
  return *shared_flag != 0;
}
#define IS_LAST_OF(count, last, ended, flag, last_writer) \
  is_last_block(ended, count, flag, (int)threadIdx.x <= (last_writer))
#else
#define IS_LAST_OF(count, last, ended, flag, last_writer) \
  ((void)(count), (void)(last_writer), block == (last))
#endif
#define IS_LAST_BLOCK(ended, flag, last_writer) \
  IS_LAST_OF(num_blocks, num_blocks - 1, ended, flag, last_writer)

#endif
