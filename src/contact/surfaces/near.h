// SPDX-License-Identifier: MIT
// Pairs of primitives in lanes: boxes that meet, distances at the start of a substep, and whether
// these can shrink too far. What is left after that is looked at one by one (candidate.c).
#ifndef YW_CONTACT_SURFACES_NEAR_H
#define YW_CONTACT_SURFACES_NEAR_H

#include "base/simd.h"
#include "contact/surfaces/approach.h"

/// Boxes of this many primitives lie together in memory, in three lines of the cache.
#define YW_BOX_BLOCK 8
typedef struct yw_box_block {
  float sides[6][YW_BOX_BLOCK];  ///< lower x, y, z, then upper x, y, z
} yw_box_block;

/// Most vertices or edges in a leaf: of YW_CONTACT_LEAF separate triangles.
#define YW_NEAR_LEAF_MAX 48

/// The vertices, edges or triangles of a leaf.
typedef struct yw_near_boxes {
  const yw_box_block* blocks;
  int32_t first, count;  ///< primitives
  uint64_t asked;        ///< one bit per primitive that has to be looked at
} yw_near_boxes;

/// What is asked about a pair.
typedef enum yw_near_question {
  YW_NEAR_MOVING,  ///< may the distance fall below `needed` while all corners move along?
  YW_NEAR_STOPPED  ///< the same, when each corner may stop anywhere on its path
} yw_near_question;

/// Up to YW_LANES pairs of one kind.
typedef struct yw_near_lanes {
  yw_pair_kind kind;
  yw_near_question question;
  bool prove;                        ///< try harder: planes and volumes between the sides
  float needed;                      ///< m
  float kept;                        ///< m, see the result of this name; negative: not asked
  int32_t count;                     ///< lanes in use
  const yw_vec4 *begin[2], *end[2];  ///< of the particles of both sides
  int32_t corners[4][YW_LANES];      ///< valid in the first yw_near_width(count) lanes
  // Results: the nearest points at the start.
  float weights[4][YW_LANES], apart[3][YW_LANES], distance[YW_LANES];
  /// One bit per lane whose distance may fall below `kept` when each corner may stop anywhere.
  uint32_t kept_lanes;
} yw_near_lanes;

/// Edges between two triangles.
typedef struct yw_ridge_lanes {
  int32_t count;                 ///< lanes in use
  int32_t corners[4][YW_LANES];  ///< of the edge, then those opposite to it; valid in all lanes
  float limits[YW_LANES];        ///< m, from the edge to the line between the opposite corners
} yw_ridge_lanes;

typedef struct yw_near_fns {
  /// One bit per primitive within `pad` of a box.
  uint64_t (*select)(const yw_near_boxes* boxes, yw_aabb box, float pad);
  /// Lists the pairs of primitives whose boxes are within `pad` of each other; at most
  /// YW_NEAR_LEAF_MAX^2. same: of one leaf, each pair once. Returns their number.
  int32_t (*meet)(const yw_near_boxes* a, const yw_near_boxes* b, float pad, bool same,
                  int32_t (*pairs)[2]);
  /// One bit per lane whose distance may fall below `needed`.
  uint32_t (*test)(yw_near_lanes* lanes);
  /// One bit per edge whose triangles lie in one plane, to within less than `limits`.
  uint32_t (*flat)(const yw_ridge_lanes* lanes, const yw_vec4* x);
} yw_near_fns;

/// level as from yw_simd_resolve.
const yw_near_fns* yw_near_fns_of(yw_simd level);
/// The same with registers that are no wider than so many lanes need.
const yw_near_fns* yw_near_narrow(const yw_near_fns* fns, int32_t count);
/// Lanes that must be valid where so many are in use: those of such a register.
static inline int32_t yw_near_width(int32_t count) {
  return count <= 4 ? 4 : count <= 8 ? 8 : YW_LANES;
}

#endif
