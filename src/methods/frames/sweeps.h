// SPDX-License-Identifier: MIT
// Regions in the order that position-based solvers visit them: sorted by colour (regions of one
// colour share no particle) and stored in blocks of 16.
#ifndef YW_METHODS_FRAMES_SWEEPS_H
#define YW_METHODS_FRAMES_SWEEPS_H

#include "base/simd.h"
#include "math/small/polar.h"
#include "methods/frames/regions.h"
#include "yawara/extend/vec.h"

/// Blocks of one colour per task.
#define FRAMES_SWEEP_CHUNK 8

/// The k-th member of 16 regions. A region with fewer members has its origin here, with g = q = 0.
typedef struct frames_sweep_entry {
  _Alignas(64) int32_t particle[YW_LANES];
  float g[3][YW_LANES];  ///< 1/m
  float q[3][YW_LANES];  ///< m, rest position relative to the origin's
} frames_sweep_entry;

typedef struct frames_sweep_block {
  _Alignas(64) float mu2[YW_LANES];  ///< 2 mu V, J
  float lambda[YW_LANES];            ///< lambda V, J
  float give[YW_LANES];              ///< compliance of A to a stress, per h^2: 1/(kg m^2)
  float spring[YW_LANES];            ///< pulls members to the affine fit, N/m
  float lightest[YW_LANES];          ///< largest 1 / mass among the members
  float inv_moment[6][YW_LANES];     ///< of sum q q^T about the mean, 1/m^2
  float center[3][YW_LANES];         ///< mean of q, m
  float inv_count[YW_LANES];         ///< 1 / number of members
  int32_t count[YW_LANES];           ///< number of members; 0 in lanes without a region
  int32_t first_entry, length;       ///< length: of the longest region
} frames_sweep_block;

typedef struct frames_sweeps {
  yw_allocator mem;
  int32_t num_blocks, num_colors;
  int32_t* color_start;  ///< num_colors + 1, in blocks
  frames_sweep_block* blocks;
  frames_sweep_entry* entries;
  int32_t* place;        ///< of each region: 16 times its block plus its lane
  int32_t num_examples;  ///< per block
  yw_sym3x16* examples;  ///< their stretches minus 1
} frames_sweeps;

/// regions, masses and rest are by vertex; particle_of_vertex renumbers them. Colours are assigned
/// in the order of region_order.
yw_status yw_frames_sweeps_create(const yw_allocator* mem, const frames_regions* regions,
                                  const yw_vec3* rest, const int32_t* particle_of_vertex,
                                  const int32_t* region_order, frames_sweeps* out, yw_error* error);
void yw_frames_sweeps_free(frames_sweeps* sweeps);

/// State of a body moved by sweeps.
typedef struct frames_dual_block {
  _Alignas(64) float stress[9][YW_LANES];  ///< P applied so far in this step, J
  float pull[YW_LANES];                    ///< force towards the affine fit so far, N
} frames_dual_block;

/// Input of the kernels of a sweep.
typedef struct frames_sweep {
  const frames_sweeps* sweeps;
  frames_dual_block* duals;
  yw_vec4* work;        ///< positions; w: 1 / mass, 0 where held
  const float* mass;    ///< kg
  float h2;             ///< s^2, square of the step times the scale of the stiffness
  float stiffness;      ///< classic: fraction of the way to the goal
  float beta;           ///< share of the energy that examples control
  const float* pulls;   ///< weights times strengths of the examples, by lanes
  bool again;           ///< not the first sweep of the step: duals are read
  bool keep;            ///< another sweep follows: duals are stored
  int32_t first, last;  ///< blocks of the colour
  int32_t* recovered;   ///< per chunk of the colour
} frames_sweep;

typedef struct frames_sweep_kernels {
  void (*extended)(const frames_sweep* sweep, int32_t chunk);
  void (*extended_bent)(const frames_sweep* sweep, int32_t chunk);  ///< with examples
  void (*classic)(const frames_sweep* sweep, int32_t chunk);
} frames_sweep_kernels;

extern const frames_sweep_kernels yw_frames_sweep_kernels_plain, yw_frames_sweep_kernels_avx2,
    yw_frames_sweep_kernels_avx512;

#endif
