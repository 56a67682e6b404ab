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
#define EACH_THREAD(t) for (int t = (int)threadIdx.x, once = 1; once; once = 0)
#define SYNC() __syncthreads()
#define ADD_TO(where, value) atomicAdd(where, value)
#else
#define KERNEL_FN static
#define EACH_THREAD(t) for (int t = 0; t < THREADS; ++t)
#define SYNC() (void)0
#define ADD_TO(where, value) (*(where) += (value))
#endif

// C headers of the library, as C++ with one lane per thread; inline functions run on both sides.
#define YW_ONE_LANE
#define _Alignas(bytes) alignas(bytes)
#define _Static_assert static_assert
#ifdef __CUDACC__
#define inline inline __host__ __device__
#endif
#include "contact/obstacle_particle.h"
#include "methods/kit/pins.h"
#include "methods/match/between.h"
#include "methods/match/offload.h"
#include "methods/match/region_lanes.h"
#undef inline

/// True in the block that ends last: what the threads of all others up to
/// number last_writer have written is then there for it to read. `ended` counts the blocks and
/// returns to 0.
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
#define IS_LAST_BLOCK(ended, flag, last_writer) \
  is_last_block(ended, num_blocks, flag, (int)threadIdx.x <= (last_writer))
#else
#define IS_LAST_BLOCK(ended, flag, last_writer) ((void)(last_writer), block == num_blocks - 1)
#endif

#endif
