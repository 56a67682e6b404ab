// SPDX-License-Identifier: MIT
// Resolves contacts: impulses on velocities first, then positions.
#ifndef YW_CONTACT_SURFACES_SOLVE_H
#define YW_CONTACT_SURFACES_SOLVE_H

#include "contact/surfaces/rows.h"

#define YW_CONTACT_MAX_COLORS 64

/// Contacts of one pair of bodies.
typedef struct yw_contact_batch {
  yw_contact* contacts;  ///< with room for the spares
  int32_t count;
  int32_t num_rows;          ///< the first so many have a row
  yw_contact_spare* spares;  ///< those that nobody missed so far
  int32_t num_spares;
  int32_t taken_up;  ///< spares, last time
  float slop;        ///< m, an overlap that is left alone
  float spare_slop;  ///< m, the same of spares
  int32_t a, b;
  int32_t pair;          ///< index of the pair; a pair with many contacts has several batches
  bool leads;            ///< first batch of its pair
  float extent;          ///< m, of the box around both bodies
  yw_vec3 lost_angular;  ///< angular momentum, kg m^2/s, see rigid.h
} yw_contact_batch;

/// How a body with stiffness of its own answers impulses.
typedef struct yw_contact_answer {
  int32_t body;
  yw_vec4 *free, *base;  ///< velocities before contact, and before the last sweeps
  yw_vec4 *impulses, *change;
  yw_vec4* heading;  ///< change of velocities along the direction of search
} yw_contact_answer;

/// Where the mass of a body is, see rigid.c.
typedef struct yw_contact_moments {
  bool known;  ///< otherwise nothing here means anything
  bool held;   ///< some particle is held, so that momentum is not conserved
  double mass, center[3];
  double inertia[6];  ///< xx, yy, zz, xy, xz, yz about the centre
} yw_contact_moments;

/// Batches of one color have no body in common, so that bodies can be moved as wholes in parallel.
/// Color YW_CONTACT_MAX_COLORS holds the rest, visited in order. Rows have colors of their own.
typedef struct yw_contact_problem {
  yw_contact_body* bodies;
  float* yields;  ///< per body: share of a particle's own mobility that it shows in contact
  yw_contact_batch* batches;
  int32_t num_batches;
  yw_row_table* rows;
  const yw_row_fns* visits;
  uint64_t** colors;            ///< scratch, per body and particle: colors of the rows
  yw_contact_moments* moments;  ///< per body, unknown at first
  yw_vec3* pair_angular;        ///< scratch, one per pair
  int32_t num_pairs;
  int32_t color_start[YW_CONTACT_MAX_COLORS + 2];
  yw_contact_answer* answers;
  int32_t num_answers;
  bool short_round;   ///< visits only contacts where something presses
  float extrapolate;  ///< by how much the last direction is followed further
  float h;
  yw_vec3 gravity;
  int32_t iterations;
  yw_tasks* tasks;
  const yw_allocator* mem;
} yw_contact_problem;

/// Position or velocity of the contact point on body[0] minus that on body[1].
yw_vec3 yw_contact_relative(const yw_contact_problem* problem, const yw_contact* contact,
                            bool velocity);

/// False when out of memory, with nothing moved.
bool yw_contact_solve(yw_contact_problem* problem);

#endif
