// SPDX-License-Identifier: MIT
// Two primitives that may touch: a vertex and a triangle, or two edges (of which loose points are
// the degenerate case). Distances, and how they shrink along straight paths.
#ifndef YW_CONTACT_SURFACES_APPROACH_H
#define YW_CONTACT_SURFACES_APPROACH_H

#include "yawara/extend/vec.h"

/// Side 0 has the first corners, side 1 the others.
typedef enum yw_pair_kind {
  YW_VERTEX_TRIANGLE,  ///< 1 + 3 corners
  YW_EDGE_EDGE         ///< 2 + 2
} yw_pair_kind;

static inline int yw_pair_split(yw_pair_kind kind) { return kind == YW_VERTEX_TRIANGLE ? 1 : 2; }

/// The nearest points of the two sides.
typedef struct yw_nearest {
  float weights[4];  ///< of the corners; those of each side sum to 1
  yw_vec3 apart;     ///< m, from the point on side 1 to that on side 0
  float distance;    ///< m
} yw_nearest;

yw_nearest yw_nearest_points(yw_pair_kind kind, const yw_vec3 x[4]);

/// Corners at the start and at the end of a step, moving along straight lines.
typedef struct yw_path4 {
  yw_vec3 begin[4], end[4];
} yw_path4;

static inline void yw_path_corners(const yw_path4* path, float t, yw_vec3 x[4]) {
  for (int k = 0; k < 4; ++k) x[k] = yw_lerp(path->begin[k], path->end[k], t);
}

/// Largest change of the distance between the sides over the whole path, m.
float yw_path_reach(yw_pair_kind kind, const yw_path4* path);

/// True when the four corners span a volume of one sign all the way, so large that the sides are
/// never within `distance` of each other. False says nothing.
bool yw_path_keeps_side(yw_pair_kind kind, const yw_path4* path, float distance);

/// First time (0 to 1) at which the sides are within `distance` + slack of each other, by
/// conservative advancement: never later than they are within `distance`, and at most slack early.
/// 2 when they stay apart. `near` has the nearest points at the start and receives those at the
/// last time that was looked at.
float yw_time_of_touch(yw_pair_kind kind, const yw_path4* path, float distance, float slack,
                       yw_nearest* near);

/// True when two sides that are apart along the normal at the start are known to stay at least
/// `least` apart.
bool yw_path_stays_apart(yw_pair_kind kind, const yw_path4* path, yw_vec3 normal, float least);

#endif
