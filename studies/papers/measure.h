// SPDX-License-Identifier: MIT
// Measures of how a body is deformed: twist and bend along its axis, weights of its examples.
#ifndef YW_STUDIES_PAPERS_MEASURE_H
#define YW_STUDIES_PAPERS_MEASURE_H

#include "yawara/yawara.h"

#define PAPER_MAX_SLICES 16

/// A body divided into slices across the longest axis of its rest pose, from one end to the other.
typedef struct paper_slices {
  int32_t count;
  yw_vec3 centers[PAPER_MAX_SLICES];
  double twist[PAPER_MAX_SLICES - 1];  ///< degrees between a slice and the next
  double total_twist;                  ///< degrees between the ends
  double bend;                         ///< degrees between the first and the last piece of the axis
  double sway;    ///< largest distance of the axis from the line through its ends, over the length
  double length;  ///< of the line between the ends, fraction of that at rest
  double width;   ///< mean distance from the axis, fraction of that at rest
} paper_slices;

/// Cuts into `count` slices (at most PAPER_MAX_SLICES).
void paper_slice(const yw_world* world, yw_body_id body, int32_t count, paper_slices* out);
/// The same for points that belong to no world.
void paper_slice_points(int32_t num_points, const yw_vec3* rest, const yw_vec3* now, int32_t count,
                        paper_slices* out);

/// Weight of a pose (0: rest, 1: the first example) in a group, before beta.
double paper_weight(const yw_world* world, yw_body_id body, int32_t num_examples, int32_t group,
                    int32_t pose);
/// Mean and standard deviation of that weight over the groups of a body.
void paper_weight_spread(const yw_world* world, yw_body_id body, int32_t num_examples, int32_t pose,
                         double* mean, double* deviation);

/// Mean current position of the vertices within `radius` of a point of the rest pose.
yw_vec3 paper_place(const yw_world* world, yw_body_id body, yw_vec3 rest_point, double radius);
/// The vertex of the rest pose nearest to a point, and the highest.
yw_vec3 paper_nearest(const yw_world* world, yw_body_id body, yw_vec3 rest_point);
yw_vec3 paper_highest(const yw_world* world, yw_body_id body);
/// Mean displacement of the vertices beyond `reach` m from the middle on one side of the rest pose
/// (side -1: x < -reach, +1: x > reach), relative to the vertex in the middle, m.
double paper_side_way(const yw_world* world, yw_body_id body, double side, double reach);
/// Root mean square distance from the best rigid fit of the rest pose, fraction of the body's
/// radius of gyration.
double paper_distortion(const yw_world* world, yw_body_id body);

#endif
