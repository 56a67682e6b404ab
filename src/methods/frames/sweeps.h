// SPDX-License-Identifier: MIT
// Regions as position-based solvers visit them: sorted by colour, so that no two of one colour
// share a particle, and side by side in blocks of 16.
#ifndef YW_METHODS_FRAMES_SWEEPS_H
#define YW_METHODS_FRAMES_SWEEPS_H

#include "base/simd.h"
#include "math/small/polar.h"
#include "methods/frames/regions.h"
#include "yawara/extend/vec.h"

/// Blocks of one colour that one task works on.
#define FRAMES_SWEEP_CHUNK 8

/// The k-th member of 16 regions. Where a region has fewer, its origin with g = q = 0.
typedef struct frames_sweep_entry {
  _Alignas(64) int32_t particle[YW_LANES];
  float g[3][YW_LANES];  ///< 1/m
  float q[3][YW_LANES];  ///< m, rest place from the origin's
} frames_sweep_entry;

typedef struct frames_sweep_block {
  _Alignas(64) float mu2[YW_LANES];  ///< 2 mu V, J
  float lambda[YW_LANES];            ///< lambda V, J
  float give[YW_LANES];              ///< how far A gives way to a stress, per h^2: 1/(kg m^2)
  float spring[YW_LANES];            ///< of members against the affine fit, N/m
  float lightest[YW_LANES];          ///< largest 1 / mass of a member
  float inv_moment[6][YW_LANES];     ///< of sum q q^T about the mean, 1/m^2
  float center[3][YW_LANES];         ///< mean of q, m
  float inv_count[YW_LANES];         ///< 1 / members
  int32_t count[YW_LANES];           ///< members; 0 in lanes without a region
  int32_t first_entry, length;       ///< length: of the longest
} frames_sweep_block;

typedef struct frames_sweeps {
  yw_allocator mem;
  int32_t num_blocks, num_colors;
  int32_t* color_start;  ///< num_colors + 1, in blocks
  frames_sweep_block* blocks;
  frames_sweep_entry* entries;
  int32_t* place;        ///< of every region: 16 times its block, and its lane
  int32_t num_examples;  ///< per block
  yw_sym3x16* examples;  ///< their stretches minus 1
} frames_sweeps;

/// regions, masses and rest are by vertex; particle_of_vertex renumbers. region_order gives the
/// order in which colours are handed out.
yw_status yw_frames_sweeps_create(const yw_allocator* mem, const frames_regions* regions,
                                  const yw_vec3* rest, const int32_t* particle_of_vertex,
                                  const int32_t* region_order, frames_sweeps* out, yw_error* error);
void yw_frames_sweeps_free(frames_sweeps* sweeps);

/// State of a body that is moved by sweeps.
typedef struct frames_dual_block {
  _Alignas(64) float stress[9][YW_LANES];  ///< P applied so far in this step, J
  float pull[YW_LANES];                    ///< force against the affine fit so far, N
} frames_dual_block;

/// What the kernels of a sweep read.
typedef struct frames_sweep {
  const frames_sweeps* sweeps;
  frames_dual_block* duals;
  yw_vec4* work;         ///< places; w: 1 / mass, 0 where held
  const float* mass;     ///< kg
  float h2;              ///< s^2, square of the step
  float stiffness;       ///< classic: share of the way
  float beta;            ///< share of the energy that examples rule
  const float* weights;  ///< of the examples
  bool again;            ///< not the first sweep of the step: duals count
  bool keep;             ///< another sweep follows: duals are stored
  int32_t first, last;   ///< blocks of the colour
  int32_t* recovered;    ///< per chunk of the colour
} frames_sweep;

typedef struct frames_sweep_kernels {
  void (*extended)(const frames_sweep* sweep, int32_t chunk);
  void (*extended_bent)(const frames_sweep* sweep, int32_t chunk);  ///< with examples
  void (*classic)(const frames_sweep* sweep, int32_t chunk);
} frames_sweep_kernels;

extern const frames_sweep_kernels yw_frames_sweep_kernels_plain, yw_frames_sweep_kernels_avx2,
    yw_frames_sweep_kernels_avx512;

#endif
