// SPDX-License-Identifier: MIT
// Rest data of example-based shape matching, laid out for the kernels.
//
// Particles are sorted along a space-filling curve and cut into chunks. A chunk gathers the data of
// its own particles and of their neighbours (the halo) into rows of a scratch buffer that fits the
// first-level cache, and then sums rows over rings with 16-bit offsets. Inside a chunk, particles
// are sorted by group and ring size, so that the 16 regions of a block have rings of similar
// length.
#ifndef YW_METHODS_MATCH_MODEL_H
#define YW_METHODS_MATCH_MODEL_H

#include "base/simd.h"
#include "geometry/order.h"
#include "math/small/polar.h"
#include "methods/kit/solid.h"
#include "yawara/extend/method.h"
#include "yawara/extend/vec.h"
#include "yawara/match.h"

/// Floats in a row: a 3x4 matrix and padding up to a cache line, which devices do without.
#ifdef YW_ONE_LANE
#define MATCH_ROW 12
#else
#define MATCH_ROW 16
#endif
/// Rings hold offsets of rows with padding.
#define MATCH_PADDED_ROW 16
/// Rows in a chunk's scratch buffer, including the row of zeros.
#define MATCH_MAX_ROWS 2048
/// Unit of the ring offsets, in bytes.
#define MATCH_RING_UNIT 8

/// Blocks of a chunk whose sums are added first, then parts of a chunk: a device can give every
/// part to other threads.
#define MATCH_PART_BLOCKS 16

/// Extra entries at the end of model->halo, for kernels that read ahead.
#define MATCH_HALO_PADDING 16

/// Lane of particle i of a block, and also particle of lane i: the effect of 4x4 transposes.
static inline int32_t match_lane(int32_t i) { return 4 * (i & 3) + (i >> 2); }

/// Data to fit a linear map to 16 regions, lanes as in match_lane. Masses are divided by the mean
/// mass.
typedef struct match_region_block {
  _Alignas(64) float center[3][YW_LANES];  ///< c0 - origin of the chunk
  float inv_mass[YW_LANES];                ///< 1 / sum m~
  float grip[YW_LANES];                    ///< factor of its pull; see grips.c
} match_region_block;

/// Moments of the 16 regions at rest, Q = sum m~ q q^T.
typedef struct match_moment_block {
  _Alignas(64) float moment[6][YW_LANES];  ///< Q scale: xx, yy, zz, xy, xz, yz
  float scale[YW_LANES];                   ///< 3 / tr Q
} match_moment_block;

/// The 16 particles at the origins of these regions.
typedef struct match_particle_block {
  _Alignas(64) float rest[3][YW_LANES];  ///< x0 - centre of the body
  float mass[YW_LANES];                  ///< m / mean m; 0 in lanes beyond the last particle
  float inv_count[YW_LANES];             ///< 1 / number of regions that contain the particle
  float grip[YW_LANES];                  ///< mean over these regions
} match_particle_block;

typedef struct match_block {
  int32_t ring_start;   ///< in model->rings: ring_length x 16 offsets, in particle order
  int32_t ring_length;  ///< of the longest ring; shorter ones end in the row of zeros
  int32_t share;        ///< share of the part that its regions belong to; -1: several
} match_block;

typedef struct match_chunk {
  int32_t begin, count;  ///< particles; begin is a multiple of 16
  int32_t first_block, num_blocks;
  int32_t num_halo, halo_start;     ///< particles of other chunks, ascending, in model->halo
  int32_t first_share, num_shares;  ///< groups of each part of this chunk, in model->share_group
  yw_vec4 origin;                   ///< subtracted from rest positions before moments are summed
} match_chunk;

typedef struct match_model {
  yw_allocator mem;
  int32_t num_particles;
  int32_t num_blocks;
  int32_t num_chunks;
  int32_t num_examples;
  yw_grouping grouping;
  yw_match_params params;
  bool own_regions;  ///< regions are not the one-rings of the tets

  match_chunk* chunks;
  match_block* blocks;
  match_region_block* regions;
  match_moment_block* moments;
  match_particle_block* particles;
  yw_vec4* rest;    ///< x0 - centre of the body, 1; num_blocks * 16
  float* row_mass;  ///< m~ / mean m, in particle order
  int32_t* halo;
  uint16_t* rings;

  /// L_k, stretches of the examples minus 1: num_examples per block.
  yw_sym3x16* examples;
  /// Symmetric parts of L_k (Q scale)^-1, off-diagonals doubled. Their products with scaled
  /// P_r - Q_r equal those of L_k with S_r - 1.
  yw_sym3x16* duals;
  float strengths[YW_MAX_EXAMPLES];  ///< of the examples, 0 to 1

  int32_t num_groups;    ///< 1 with no examples; num_particles with YW_GROUPS_PER_REGION
  int32_t num_shares;    ///< 0 with YW_GROUPS_PER_REGION
  int32_t* share_group;  ///< group of each share
  int32_t* lane_share;   ///< share of each region by lane, num_blocks * 16; with labels only
  double* gram;          ///< num_groups matrices G; NULL with YW_GROUPS_PER_REGION

  double rest_center[3];
  float mean_mass;    ///< kg
  double total_mass;  ///< kg
  double size;        ///< L, m: diagonal of the box with the same mass and moments of inertia
  double spread;      ///< sum of tr Q_r over the mass, m^2
  bool uneven;        ///< grips differ from 1
  double firmest;     ///< largest grip of a particle
  yw_solid solid;
  uint64_t hash;
} match_model;

void yw_match_model_destroy(void* model);

// Steps of the build, in order --------------------------------------------------------------------

/// A region at rest in double precision. Masses are divided by the mean mass; positions are
/// relative to the body's centre.
typedef struct match_rest_region {
  double center[3];
  double mass;
  double moment[6], inv_moment[6];  ///< xx, yy, zz, xy, xz, yz
} match_rest_region;

/// Scale of the moments: their trace becomes 3 at rest.
static inline double match_moment_scale(const match_rest_region* region) {
  return 3.0 / (region->moment[0] + region->moment[1] + region->moment[2]);
}

/// Data that only the build needs, indexed by mesh vertex unless stated otherwise.
typedef struct match_build {
  const yw_match_def* def;
  double youngs_modulus;        ///< Pa; 0: params.stiffness says it
  yw_adjacency rings;           ///< members of the regions, not including the vertex itself
  int32_t* group;               ///< NULL: one group
  int32_t* vertex_of_particle;  ///< by particle
  double* mass;                 ///< kg
  match_rest_region* regions;   ///< by particle
} match_build;

/// chunks.c: order of the particles, chunks, halos, ring offsets.
yw_status yw_match_build_chunks(match_model* model, match_build* build, yw_error* error);
/// moments.c: masses, centres and moments at rest.
yw_status yw_match_build_moments(match_model* model, match_build* build, yw_error* error);
/// grips.c: how hard regions pull.
yw_status yw_match_build_grips(match_model* model, const match_build* build, yw_error* error);
/// examples.c: stretches of the examples, G of every group, redundant examples.
yw_status yw_match_build_examples(match_model* model, match_build* build, yw_error* error);

#endif
