// SPDX-License-Identifier: MIT
// Contacts as the sweeps see them: what a visit needs and nothing else, in the order of the visits.
#ifndef YW_CONTACT_SURFACES_ROWS_H
#define YW_CONTACT_SURFACES_ROWS_H

#include "contact/surfaces/touch.h"

/// A weighted sum of four vectors that may not fall below a goal along the normal. Of velocities:
/// mass times speed is an impulse. Of positions: the push apart, as a length. Rows are read four
/// floats at a time (row_kernels.c) and fill two lines of the cache.
typedef struct yw_contact_row {
  yw_vec4* values[4];  ///< of the corners; unused ones point to the contact's own drift
  float weights[4];    ///< those of side 1 are negative
  float mobility[4];   ///< 1/kg, weights / masses
  yw_vec4 normal;
  yw_vec4 friction;      ///< N s, so far
  float goal;            ///< m/s or m
  float impulse;         ///< N s or m, so far
  float mass;            ///< kg; 0: nothing can move
  float friction_limit;  ///< coefficient
  int32_t contact;       ///< index of the contact in its batch
} yw_contact_row;

/// The direction of search, see solve.c.
typedef struct yw_contact_search {
  yw_vec4 last;     ///< N s, impulse and friction before the last sweeps
  yw_vec4 heading;  ///< N s
} yw_contact_search;

/// Rows of a contact between particles with the given shares of their mobility in contact.
yw_contact_row yw_contact_velocity_row(yw_contact* c, const yw_particles* a, const yw_particles* b,
                                       const float yields[2]);
yw_contact_row yw_contact_position_row(yw_contact* c, const yw_particles* a, const yw_particles* b);
/// The same from the row of velocities, after positions have followed its impulses for a time. For
/// contacts of two bodies whose particles answer alone and have a shape at rest.
void yw_contact_follow(yw_contact_row* row, const yw_contact* contact, const yw_particles* a,
                       const yw_particles* b, float time);

/// One visit each. Normal and friction impulse of velocities; push of positions.
void yw_contact_visit_velocities(yw_contact_row* rows, int32_t count);
void yw_contact_visit_velocities_back(yw_contact_row* rows, int32_t count);
void yw_contact_visit_positions(yw_contact_row* rows, int32_t count);
void yw_contact_visit_positions_back(yw_contact_row* rows, int32_t count);

/// Squares of the last change of all impulses, friction included, and of these.
void yw_contact_measure(const yw_contact_row* rows, const yw_contact_search* searches,
                        int32_t count, double* change2, double* size2);

/// Follows the last direction further by the factor beta and adds the last change to it. Velocities
/// follow, on the sides that are `pushed`.
void yw_contact_turn(yw_contact_row* row, yw_contact_search* search, float beta,
                     const bool pushed[2]);
void yw_contact_turn_all(yw_contact_row* rows, yw_contact_search* searches, int32_t count,
                         float beta);

/// m/s, how fast the bodies slide along each other here.
float yw_contact_slip(const yw_contact_row* row);

/// Moves the rows where something presses, or did, to the front. Returns their number.
int32_t yw_contact_bring_forward(yw_contact_row* rows, yw_contact_search* searches, int32_t count);

#endif
