// SPDX-License-Identifier: MIT
// Resolves contacts: impulses on velocities first, then positions.
#ifndef YW_CONTACT_POINTS_SOLVE_H
#define YW_CONTACT_POINTS_SOLVE_H

#include "contact/points/detect.h"

#define YW_POINT_MAX_COLORS 64

/// Contacts of one pair of bodies.
typedef struct yw_point_batch {
  yw_point* contacts;
  int32_t count;
  int32_t a, b;
  int32_t pair;          ///< index of the pair; a pair with many contacts has several batches
  bool leads;            ///< first batch of its pair
  float extent;          ///< m, of the box around both bodies
  yw_vec3 lost_angular;  ///< angular momentum, kg m^2/s, see rigid.h
} yw_point_batch;

/// Batches of one color have no body in common, so that their order does not matter and they can be
/// solved in parallel. Color YW_POINT_MAX_COLORS holds the rest, solved in order.
typedef struct yw_point_problem {
  yw_contact_body* bodies;
  yw_point_batch* batches;
  yw_vec3* pair_angular;  ///< scratch, one per pair
  int32_t num_pairs;
  int32_t color_start[YW_POINT_MAX_COLORS + 2];
  float h;
  yw_vec3 gravity;
  int32_t iterations;
  yw_tasks* tasks;
} yw_point_problem;

/// Position or velocity of the contact point on body[0] minus that on body[1].
yw_vec3 yw_point_relative(const yw_point_problem* problem, const yw_point* contact, bool velocity);

void yw_point_solve(const yw_point_problem* problem);

#endif
