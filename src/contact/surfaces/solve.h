// SPDX-License-Identifier: MIT
// Resolves contacts: impulses on velocities first, then positions.
#ifndef YW_CONTACT_SURFACES_SOLVE_H
#define YW_CONTACT_SURFACES_SOLVE_H

#include "contact/surfaces/row_lanes.h"
#include "contact/surfaces/warm.h"

#define YW_CONTACT_MAX_COLORS 64

/// Contacts of one pair of bodies.
typedef struct yw_contact_batch {
  yw_contact* contacts;         ///< with room for the spares
  yw_contact_row* rows;         ///< of the contacts, while they are solved
  yw_contact_search* searches;  ///< likewise
  int32_t count;
  yw_contact_spare* spares;  ///< those that nobody missed so far
  int32_t num_spares;
  int32_t taken_up;  ///< spares, last time
  float slop;        ///< m, an overlap that is left alone
  int32_t busy;      ///< rows that short rounds visit, the first ones
  int32_t a, b;
  int32_t pair;         ///< index of the pair; a pair with many contacts has several batches
  bool leads;           ///< first batch of its pair
  float extent;         ///< m, of the box around both bodies
  double step2, size2;  ///< (N s)^2, squares of the last change of all impulses, and of all
  int32_t island;
  double goal_along;     ///< J, impulses of the last sweeps times the goals
  yw_vec3 lost_angular;  ///< angular momentum, kg m^2/s, see rigid.h
} yw_contact_batch;

/// How a body with stiffness of its own answers impulses. Bodies without such an answer that are
/// in one island with those that have one may be listed too, with `base` alone.
typedef struct yw_contact_answer {
  int32_t body, island;
  yw_vec4 *free, *base;  ///< velocities before contact, and before the last sweeps
  yw_vec4 *impulses, *change;
  yw_vec4* heading;  ///< change of velocities along the direction of search
  /// J, impulses of the last sweeps times the velocities before, and times what they change.
  double along, own;
} yw_contact_answer;

/// Bodies that touch each other.
typedef struct yw_contact_island {
  double along, own;        ///< J, sums over the bodies; goals are subtracted
  float share;              ///< of the impulses of the last sweeps that is left
  bool answers;             ///< some soft body does
  bool thin;                ///< some body is a rod, a sheet or made of balls
  bool driven;              ///< an obstacle that moves touches it
  bool touches;             ///< it has contacts
  bool supported;           ///< by obstacles
  float pace;               ///< of its fastest body, see calm.c
  double pressed, sliding;  ///< N s, normal impulses, and those of contacts that slide
} yw_contact_island;

/// Batches of one color have no body in common, or not the same parts of one, so that their order
/// does not matter and they can be solved in parallel. Color YW_CONTACT_MAX_COLORS holds the rest,
/// solved in order.
typedef struct yw_contact_problem {
  yw_contact_body* bodies;
  float* yields;  ///< per body: share of a particle's own mobility that it shows in contact
  yw_contact_batch* batches;
  int32_t* found_order;  ///< batches as they were found
  int32_t* lane_order;   ///< batches of each color as they are put into lanes, see yw_sweep_sort
  const yw_row_fns* row_fns;
  const yw_warm* warm;    ///< impulses to start from; NULL: none
  yw_vec3* pair_angular;  ///< scratch, one per pair
  int32_t num_pairs;
  int32_t color_start[YW_CONTACT_MAX_COLORS + 2];
  int32_t color_rows[YW_CONTACT_MAX_COLORS + 1];  ///< contacts when the solve begins
  bool divided;  ///< batches of one color may have a body in common
  yw_contact_answer* answers;
  int32_t num_answers;
  yw_contact_island* islands;  ///< as many as there are bodies
  bool first_round;            ///< of sweeps
  bool short_round;            ///< visits only contacts where something presses
  float extrapolate;           ///< by how much the last direction is followed further
  float h;
  yw_vec3 gravity;
  int32_t iterations;
  yw_tasks* tasks;
} yw_contact_problem;

/// Position or velocity of the contact point on body[0] minus that on body[1].
yw_vec3 yw_contact_relative(const yw_contact_problem* problem, const yw_contact* contact,
                            bool velocity);

void yw_contact_solve(yw_contact_problem* problem);

#endif
