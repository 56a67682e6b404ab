// SPDX-License-Identifier: MIT
// Pairs of primitives in lanes: boxes that meet, distances at the start of a substep, and whether
// these can shrink too far. What is left after that is looked at one by one (candidate.c).
#ifndef YW_CONTACT_SURFACES_NEAR_H
#define YW_CONTACT_SURFACES_NEAR_H

#include "base/simd.h"
#include "contact/surfaces/approach.h"

/// Boxes of primitives: lower x, y, z, then upper x, y, z. Readable for YW_LANES beyond the last.
typedef struct yw_lane_boxes {
  float* sides[6];
} yw_lane_boxes;

/// Most vertices or edges in a leaf: of YW_CONTACT_LEAF separate triangles.
#define YW_NEAR_LEAF_MAX 48

/// The primitives of two leaves.
typedef struct yw_near_leaves {
  const yw_lane_boxes *a, *b;
  int32_t first_a, end_a, first_b, end_b;
  yw_aabb box_a, box_b;  ///< of the leaves
  float pad;             ///< m, distance that still counts as meeting
  bool same;             ///< a leaf with itself: each pair once
} yw_near_leaves;

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

typedef struct yw_near_fns {
  /// Lists the pairs of primitives whose boxes meet; at most YW_NEAR_LEAF_MAX^2. Returns their
  /// number.
  int32_t (*meet)(const yw_near_leaves* leaves, int32_t (*pairs)[2]);
  /// True when some primitive of each leaf meets the box of the other leaf.
  bool (*reach)(const yw_near_leaves* leaves);
  /// One bit per lane whose distance may fall below `needed`.
  uint32_t (*test)(yw_near_lanes* lanes);
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
