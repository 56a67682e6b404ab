// SPDX-License-Identifier: MIT
// Contacts as the sweeps see them: what a visit needs and nothing else, in lanes. Contacts of one
// color have no particle in common, so that they can be visited at the same time, in any order.
#ifndef YW_CONTACT_SURFACES_ROWS_H
#define YW_CONTACT_SURFACES_ROWS_H

#include "base/simd.h"
#include "contact/surfaces/touch.h"
#include "yawara/extend/memory.h"

/// Up to YW_LANES contacts of one color. Each is a weighted sum of four vectors that may not fall
/// below a goal along the normal. Of velocities: mass times speed is an impulse. Of positions: the
/// push apart, as a length.
typedef struct yw_contact_rows {
  /// Of the corners that can move. Where fewer than four do, the next is the contact's own `drift`:
  /// what the others add, or the velocity of an obstacle.
  yw_vec4* values[4][YW_LANES];
  float weights[4][YW_LANES];   ///< those of side 1 are negative
  float mobility[4][YW_LANES];  ///< 1/kg, weights / masses
  float normal[3][YW_LANES];
  float friction[3][YW_LANES];  ///< N s, so far
  float goal[YW_LANES];         ///< m/s or m
  float impulse[YW_LANES];      ///< N s or m, so far
  float mass[YW_LANES];         ///< kg; 0: nothing can move
  float friction_limit[YW_LANES];
  // The direction of search, see solve.c.
  float last[3][YW_LANES];     ///< N s, impulse and friction before the last sweeps
  float heading[3][YW_LANES];  ///< N s
  yw_contact* contacts[YW_LANES];
  // One bit per lane.
  uint16_t back[4];       ///< the corner is of side 1
  uint16_t answering[4];  ///< its body answers impulses itself
  uint16_t fewer;         ///< fewer than four corners move
  uint16_t busy;          ///< something presses, or did
  int32_t count;          ///< lanes in use, the first ones
  double step2, size2;    ///< (N s)^2, squares of the last change of all impulses, and of these
} yw_contact_rows;

typedef struct yw_row_table {
  YW_LIST(yw_contact_rows) groups;
  YW_LIST(int32_t) starts;  ///< first group of each color, and the end
  int32_t limit;            ///< most groups of this solve
} yw_row_table;

typedef struct yw_row_fns {
  /// One visit each: normal and friction impulse.
  void (*visit_velocities)(yw_contact_rows* rows);
  /// Measures the last change of impulses.
  void (*measure)(yw_contact_rows* rows);
  /// Follows the last direction further by the factor beta and adds the last change to it.
  /// Velocities follow, except those of bodies that answer. Finds out which rows are busy.
  void (*turn)(yw_contact_rows* rows, float beta);
  /// One visit each: pushes. True if any changed.
  bool (*visit_positions)(yw_contact_rows* rows);
} yw_row_fns;

/// level as from yw_simd_resolve.
const yw_row_fns* yw_row_fns_of(yw_simd level);

struct yw_contact_problem;

/// Colors all contacts and makes rows of them; `extra` more groups can be added later. False when
/// out of memory.
bool yw_rows_begin(struct yw_contact_problem* problem, int32_t extra);
/// Makes rows of contacts that were added to batches since, as far as there is room. Returns the
/// first group of these.
int32_t yw_rows_add(struct yw_contact_problem* problem);

/// Brings the busy rows of each color together, where no body answers.
void yw_rows_sort(const struct yw_contact_problem* problem);

/// Sets the rows of velocities; impulses so far stay as they are.
void yw_rows_weigh(const struct yw_contact_problem* problem, yw_contact_rows* rows);
/// Turns rows into those of positions.
void yw_rows_place(const struct yw_contact_problem* problem, yw_contact_rows* rows);

#endif
