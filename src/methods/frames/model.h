// SPDX-License-Identifier: MIT
// Rest data of a frames volume, laid out for the kernels: regions.h in float, sorted along a
// space-filling curve.
//
// A product with the stiffness visits the regions twice. First each region gathers its members into
// A and t and writes a row (P, t); then each particle gathers the rows of the regions that contain
// it. Both lists are compressed rows; constants of 16 regions are stored side by side.
#ifndef YW_METHODS_FRAMES_MODEL_H
#define YW_METHODS_FRAMES_MODEL_H

#include "base/simd.h"
#include "math/small/polar.h"
#include "methods/frames/coarse.h"
#include "methods/frames/regions.h"
#include "methods/frames/sweeps.h"
#include "methods/kit/solid.h"
#include "yawara/extend/vec.h"
#include "yawara/frames.h"

/// Floats in a row: the columns of P and t, four each.
#define FRAMES_ROW 16
/// Regions or particles per task: a multiple of YW_LANES.
#define FRAMES_CHUNK 256

/// A member as its region sees it.
typedef struct frames_member {
  _Alignas(16) float g[3];
  int32_t particle;
} frames_member;

/// A region as one of its members sees it.
typedef struct frames_holder {
  _Alignas(16) float g[3];
  float k;
} frames_holder;

/// Constants of 16 regions. Lanes beyond the last region hold zeros.
typedef struct frames_region_block {
  _Alignas(64) float mu2[YW_LANES];  ///< 2 mu V, J
  float lambda[YW_LANES];            ///< lambda V, J
  float n[6][YW_LANES];              ///< N, J
} frames_region_block;

typedef struct frames_model {
  yw_allocator mem;
  yw_frames_kind kind;
  int32_t num_particles, num_regions;
  int32_t num_blocks;  ///< of 16 regions
  int32_t particle_chunks, region_chunks;
  yw_frames_params params;
  int32_t num_examples;

  frames_region_block* blocks;
  int32_t* member_start;  ///< num_regions + 1; the first member of a region is its origin
  frames_member* members;
  int32_t* holder_start;  ///< num_particles + 1
  frames_holder* holders;
  float* volume;  ///< m^3, of the regions
  int32_t* holder_region;

  yw_sym3x16* examples;  ///< stretches of the examples minus 1: num_examples per block
  double* gram;          ///< their products in the metric of the energy, J, per group
  yw_grouping grouping;
  int32_t num_groups;                ///< 1 without examples
  int32_t* group;                    ///< of each region; with examples
  int32_t* sweep_place;              ///< of each region in the sweeps; with examples
  float strengths[YW_MAX_EXAMPLES];  ///< of the examples, 0 to 1
  frames_coarse coarse;
  frames_sweeps sweeps;  ///< regions by colour, for position-based solvers
  double spring_share;   ///< of the spring terms, see regions.h
  float* jacobi;         ///< diagonal of the stiffness, N/m, approximate
  double total_mass;     ///< kg
  double size;           ///< m, half the diagonal of the box around the rest pose

  yw_solid solid;
  uint64_t hash;
} frames_model;

/// examples.c: stretches of the poses and their products. region_of: new index -> region.
yw_status yw_frames_build_examples(frames_model* model, const yw_frames_def* def,
                                   const frames_regions* regions, const int32_t* region_of,
                                   yw_error* error);

static inline int32_t frames_num_chunks(int32_t count) {
  return (count + FRAMES_CHUNK - 1) / FRAMES_CHUNK;
}

void yw_frames_model_destroy(void* model);
/// YW_ERR_INVALID, with a message, when a value is out of range.
yw_status yw_frames_params_check(const yw_frames_params* params, int32_t num_examples,
                                 yw_error* error);

#endif
